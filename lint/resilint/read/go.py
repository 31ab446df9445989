"""Go source to facts, on tree-sitter.

One walk over the tree gives the header and the bodies. The walk is the hot path of a run, so its handlers are plain functions
found by the node's kind id, children are taken in one call where their order is fixed, and names are cut from one text whose
offsets are those of the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

import tree_sitter_go
from tree_sitter import Language, Node

from resilint.facts import (
    Arg,
    Assign,
    Bin,
    Block,
    Call,
    Case,
    Cast,
    Class,
    ClassField,
    Coll,
    Comm,
    Def,
    Defer,
    Do,
    Expr,
    Field,
    FileFacts,
    Fn,
    Function,
    Go,
    If,
    Import,
    Index,
    Is,
    Lit,
    Loop,
    New,
    Opaque,
    Pair,
    Param,
    Recv,
    Ref,
    Return,
    Select,
    Send,
    Slice,
    Stmt,
    Switch,
    Type,
    Un,
    encode_block,
)
from resilint.read.lowering import (
    MAX_DEPTH,
    MAX_ITEMS,
    Grammar,
    Reading,
    chain_of,
    chained,
    cut,
    facts_of,
    false,
    first_child,
    jump,
    leaf,
    named_type,
    nothing,
    null,
    opaque,
    parameters_of,
    paren,
    reserve,
    solid,
    stray,
    too_deep,
    true,
    type_of,
)
from resilint.read.treesitter import ERROR_KIND, parsed

_GRAMMAR = Grammar(
    Language(tree_sitter_go.language()),
    comments=("comment",),
    quoted=(
        "interpreted_string_literal_content",
        "raw_string_literal_content",
        "interpreted_string_literal",
        "raw_string_literal",
        "rune_literal",
        "escape_sequence",
    ),
    operator="&^",
)
_PARSER = _GRAMMAR.parser
_EXPR = _GRAMMAR.expr
_STMT = _GRAMMAR.stmt
_TYPES = _GRAMMAR.types
_BINARY_OPS = _GRAMMAR.operators

# ---------------------------------------------------------------- ids of the grammar

_id = _GRAMMAR.id
_field = _GRAMMAR.field
_ids = _GRAMMAR.ids

_COMMENT = _id("comment")
_STATEMENTS = _id("statement_list")
_BLOCK = _id("block")
_SELECTOR = _id("selector_expression")
_LITERAL_VALUE = _id("literal_value")
_KEYED = _id("keyed_element")
_PAREN = _id("parenthesized_expression")
_UNARY = _id("unary_expression")
_BINARY = _id("binary_expression")
_INDEX = _id("index_expression")
_SPREAD = _id("variadic_argument")
_TYPE_ARGUMENTS = _id("type_arguments")
_TYPE_ELEM = _id("type_elem")
_TYPE_NAME = _id("type_identifier")
_QUALIFIED = _id("qualified_type")
_GENERIC = _id("generic_type")
_POINTER = _id("pointer_type")
_STRUCT = _id("struct_type")
_INTERFACE = _id("interface_type")
_METHOD_ELEM = _id("method_elem")
_FIELD_LIST = _id("field_declaration_list")
_FIELD_DECL = _id("field_declaration")
_FIELD_NAME = _id("field_identifier")
_TYPE_ALIAS = _id("type_alias")
_TYPE_SPEC = _id("type_spec")
_TYPE_DECLARATION = _id("type_declaration")
_VAR_SPEC = _id("var_spec")
_CONST_SPEC = _id("const_spec")
_VAR_LIST = _id("var_spec_list")
_IMPORT_SPEC = _id("import_spec")
_IMPORT_LIST = _id("import_spec_list")
_PARAMETERS = _id("parameter_list")
_PARAMETER = _id("parameter_declaration")
_VARIADIC = _id("variadic_parameter_declaration")
_FOR = _id("for_statement")
_FOR_CLAUSE = _id("for_clause")
_RANGE = _id("range_clause")
_IF = _id("if_statement")
_EXPRESSION_CASE = _id("expression_case")
_TYPE_CASE = _id("type_case")
_DEFAULT_CASE = _id("default_case")
_COMM_CASE = _id("communication_case")
_RAW_STRING = _id("raw_string_literal")
_TRUE = _id("true")
_EXPRESSIONS = _id("expression_list")
_NAMES = frozenset(_ids("identifier") + _ids("blank_identifier"))

_F_ALIAS = _field("alias")
_F_ALTERNATIVE = _field("alternative")
_F_CAPACITY = _field("capacity")
_F_COMMUNICATION = _field("communication")
_F_CONDITION = _field("condition")
_F_CONSEQUENCE = _field("consequence")
_F_END = _field("end")
_F_FIELD = _field("field")
_F_INITIALIZER = _field("initializer")
_F_LABEL = _field("label")
_F_LEFT = _field("left")
_F_NAME = _field("name")
_F_OPERAND = _field("operand")
_F_OPERATOR = _field("operator")
_F_PARAMETERS = _field("parameters")
_F_PATH = _field("path")
_F_RECEIVER = _field("receiver")
_F_RESULT = _field("result")
_F_RIGHT = _field("right")
_F_START = _field("start")
_F_TAG = _field("tag")
_F_TYPE = _field("type")
_F_TYPE_ARGUMENTS = _field("type_arguments")
_F_UPDATE = _field("update")
_F_VALUE = _field("value")

_BASIC = frozenset(
    {"bool", "string", "byte", "rune", "uintptr", "error", "any", "float32", "float64", "complex64", "complex128"}
) | {f"{sign}{bits}" for sign in ("int", "uint") for bits in ("", "8", "16", "32", "64")}
_CONVERSIONS = _BASIC | {"time.Duration"}
# ---------------------------------------------------------------- state of one reading


class _Reader(Reading):
    """What Go's handlers share besides: names of imports, of types of the package, and of what `_is_declared` has looked up."""

    __slots__ = (
        "aliases",
        "class_index",
        "declared",
    )

    def __init__(self, data: bytes, root: Node) -> None:
        super().__init__(_GRAMMAR, data, root)
        self.aliases: set[str] = set()
        self.class_index: dict[str, int] = {}
        self.declared: dict[str, bool] = {}


_NO_CLASS = Class("", "", "alias", 0, 0, 0)


def read(data: bytes) -> FileFacts:
    """The facts of a Go file. Never raises; broken parts stand in `errors`, sound ones are kept."""
    root, hard = parsed(_PARSER, data)
    if root.has_error and hard is None:
        root = _parse_again(data, root)
    r = _Reader(data, root)
    kids = root.named_children
    _name_classes(r, kids)
    for kid in kids:
        _top(r, kid, 0)
    return facts_of(r, root, "go", hard)


_NEW_OF_VALUE = re.compile(
    rb"\bnew\((?=\s*(?:(?!func\b|struct\b|interface\b)[\w.]+\s*(?:[({+\-*/%=!<>&|^]|\[\s*(?:[\d\"'`]|[\w.]*[(:+\-]))|[\d\"'`\-+!^&<]))"
)


def _parse_again(data: bytes, root: Node) -> Node:
    """Go 1.26 allows `new(value)`, which the grammar does not know: read those as calls of another name of the same length."""
    changed = _NEW_OF_VALUE.sub(b"neu(", data)
    if changed == data:
        return root
    again, hard = parsed(_PARSER, changed)
    return root if again.has_error or hard is not None else again


# ---------------------------------------------------------------- top level


def _name_classes(r: _Reader, kids: list[Node]) -> None:
    """Gives every package-level type its index before the walk, since methods may stand before their type."""
    for kid in kids:
        if kid.kind_id == _TYPE_DECLARATION:
            for spec in kid.named_children:
                if spec.kind_id in (_TYPE_SPEC, _TYPE_ALIAS):
                    name = spec.child_by_field_id(_F_NAME)
                    if name is not None:
                        r.class_index.setdefault(r.text[name.start_byte : name.end_byte], len(r.classes))
                        r.classes.append(_NO_CLASS)


def _top(r: _Reader, n: Node, d: int) -> None:
    kind = n.kind_id
    handler = _TOP.get(kind)
    if handler is not None:
        handler(r, n)
    elif kind == ERROR_KIND:
        if d < MAX_DEPTH:
            for kid in n.named_children:
                _top(r, kid, d + 1)
    elif kind in _GRAMMAR.statements:
        # Only in broken files: a function whose head could not be read leaves its statements here.
        _STMT[kind](r, n, d, r.module)


def _package(r: _Reader, n: Node) -> None:
    r.head_end = n.start_byte
    for name in n.named_children:
        if name.kind_id != _COMMENT:
            r.package = r.text[name.start_byte : name.end_byte]


def _import(r: _Reader, n: Node) -> None:
    for spec in n.named_children:
        kind = spec.kind_id
        if kind == _IMPORT_LIST:
            _import(r, spec)
        elif kind == _IMPORT_SPEC:
            path = spec.child_by_field_id(_F_PATH)
            if path is None:
                continue
            target = _string_value(r, path)
            name = spec.child_by_field_id(_F_NAME)
            alias = _import_alias(r, target) if name is None else r.text[name.start_byte : name.end_byte]
            r.aliases.add(alias)
            r.imports.append(Import(spec.start_byte, spec.end_byte, target, alias, explicit=name is not None))


_VERSION = re.compile(r"v\d+")
_VERSION_SUFFIX = re.compile(r"\.v\d+(-unstable)?$")
_NAME_PARTS = re.compile(r"\w+")


def _import_alias(r: _Reader, target: str) -> str:
    """The package name an import path suggests: its last element without version and language marks.

    Where that is still no name (`aws-sdk-go`), the file's own use of one of the candidates decides.
    """
    parts = target.split("/")
    last = parts[-1]
    if len(parts) > 1 and _VERSION.fullmatch(last):
        last = parts[-2]
    last = _VERSION_SUFFIX.sub("", last)
    if last.isidentifier():
        return last
    for mark in ("go-", "go."):
        last = last.removeprefix(mark)
    for mark in ("-go", ".go"):
        last = last.removesuffix(mark)
    if last.isidentifier():
        return last
    pieces = _NAME_PARTS.findall(last)
    if not pieces:
        return last
    for candidate in (pieces[0], pieces[-1], "".join(pieces), "_".join(pieces)):
        if re.search(rb"(?<![\w.])" + re.escape(candidate.encode()) + rb"\.[A-Z]", r.data):
            return str(candidate)
    return str(pieces[0])


def _function_declaration(r: _Reader, n: Node) -> None:
    name = n.child_by_field_id(_F_NAME)
    if name is None:
        return
    at = name.start_byte
    text = r.text[at : name.end_byte]
    _function(r, n, 0, reserve(r), text, text, "free", at, 0, (), "", -1)


def _method_declaration(r: _Reader, n: Node) -> None:
    name = n.child_by_field_id(_F_NAME)
    if name is None:
        return
    at = name.start_byte
    text = r.text[at : name.end_byte]
    receiver = n.child_by_field_id(_F_RECEIVER)
    params: tuple[Param, ...] = ()
    owner = ""
    if receiver is not None:
        params = tuple(Param(p.name, "self", p.type) for p in _params(r, receiver)[:1])
        if params and params[0].type is not None:
            owner = params[0].type.name
    qual = f"{owner}.{text}" if owner else text
    _function(r, n, 0, reserve(r), text, qual, "method", at, 0, params, owner, r.class_index.get(owner, -1))


def _function(
    r: _Reader,
    n: Node,
    d: int,
    index: int,
    name: str,
    qual: str,
    kind: Literal["free", "method", "lambda"],
    name_at: int,
    parent: int,
    params: tuple[Param, ...],
    receiver: str,
    owner: int,
) -> None:
    """Reads a declaration or literal with its body; the enclosing function's collections are kept aside meanwhile."""
    outer = (r.calls, r.values, r.writes, r.function, r.qual, r.lambdas)
    calls: set[str] = set()
    r.calls = calls
    values: set[str] = set()
    r.values = values
    writes: set[str] = set()
    r.writes = writes
    r.function = index
    r.qual = qual
    r.lambdas = 0
    returns: tuple[Type, ...] = ()
    named: tuple[str, ...] = ()
    seen = -1 if kind == "method" else 0
    body: Node | None = None
    for part in n.named_children:
        part_kind = part.kind_id
        if part_kind == _PARAMETERS:
            # In this order: the receiver of a method, parameters, named or several results.
            if seen == 0:
                params += _params(r, part)
            elif seen > 0:
                returns, named = _results(r, part)
            seen += 1
        elif part_kind == _BLOCK:
            body = part
        elif seen > 0 and part_kind in _TYPES:
            returns = (type_of(r, part, 0),)
    if body is not None:
        block = _block(r, body, d)
        if block:
            r.bodies[index] = encode_block(block)
    r.functions[index] = Function(
        name,
        qual,
        kind,
        n.start_byte,
        n.end_byte,
        name_at,
        params,
        returns,
        named,
        (),
        owner,
        parent,
        receiver,
        calls=tuple(sorted(calls)),
        values=tuple(sorted(values)),
        writes=tuple(sorted(writes)),
    )
    r.calls, r.values, r.writes, r.function, r.qual, r.lambdas = outer


def _params(r: _Reader, n: Node) -> tuple[Param, ...]:
    return parameters_of(r, n, _new_params)


def _new_params(r: _Reader, n: Node) -> tuple[Param, ...]:
    found = []
    for declaration in n.named_children:
        kind = declaration.kind_id
        if kind in (_PARAMETER, _VARIADIC):
            kids = declaration.named_children
            type_node = declaration.child_by_field_id(_F_TYPE) if len(kids) != 2 else kids[1]
            if type_node is None or type_node.kind_id == _COMMENT:
                type_node = declaration.child_by_field_id(_F_TYPE)
                if type_node is None:
                    continue
            type_ = type_of(r, type_node, 0)
            form: Literal["*", "pos"] = "*" if kind == _VARIADIC else "pos"
            names = [r.text[kid.start_byte : kid.end_byte] for kid in kids if kid.kind_id in _NAMES]
            for name in names or ("",):
                found.append(Param(name, form, type_))
    return tuple(found)


def _results(r: _Reader, n: Node | None) -> tuple[tuple[Type, ...], tuple[str, ...]]:
    if n is None:
        return (), ()
    if n.kind_id != _PARAMETERS:
        return (type_of(r, n, 0),), ()
    params = _params(r, n)
    return tuple(p.type for p in params if p.type is not None), tuple(p.name for p in params if p.name)


def _package_values(r: _Reader, n: Node) -> None:
    _declaration(r, n, 0, r.module)


# ---------------------------------------------------------------- types


def _inner_types(r: _Reader, n: Node, d: int) -> tuple[Type, ...]:
    return tuple(type_of(r, kid, d + 1) for kid in n.named_children if kid.kind_id != _COMMENT)


def _qualified_name(r: _Reader, n: Node) -> str:
    return ".".join(r.text[kid.start_byte : kid.end_byte] for kid in n.named_children if kid.kind_id != _COMMENT)


def _qualified_type(r: _Reader, n: Node, d: int) -> Type:
    return Type(_qualified_name(r, n))


def _pointer_type(r: _Reader, n: Node, d: int) -> Type:
    inner = _inner_types(r, n, d)
    return _pointer_to(inner[0]) if inner else Type("*")


def _pointer_to(inner: Type) -> Type:
    return Type(inner.name, inner.args, "ptr") if inner.shape == "plain" else Type("*", (inner,), "ptr")


def _generic_type(r: _Reader, n: Node, d: int) -> Type:
    name = ""
    args: tuple[Type, ...] = ()
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _TYPE_ARGUMENTS:
            args = _inner_types(r, kid, d)
        elif kind != _COMMENT:
            name = type_of(r, kid, d + 1).name
    return Type(name, args)


def _first_type(r: _Reader, n: Node, d: int) -> Type:
    inner = _inner_types(r, n, d)
    return inner[0] if inner else Type("")


def _list_type(r: _Reader, n: Node, d: int) -> Type:
    return Type("[]", _inner_types(r, n, d), "list")


def _array_type(r: _Reader, n: Node, d: int) -> Type:
    # The length comes before the element.
    return Type("[]", tuple(type_of(r, kid, d + 1) for kid in n.named_children[-1:]), "array")


def _map_type(r: _Reader, n: Node, d: int) -> Type:
    return Type("map", _inner_types(r, n, d), "map")


def _chan_type(r: _Reader, n: Node, d: int) -> Type:
    return Type("chan", _inner_types(r, n, d), "chan")


def _function_type(r: _Reader, n: Node, d: int) -> Type:
    args: list[Type] = []
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _PARAMETERS:
            for declaration in kid.named_children:
                kind = declaration.kind_id
                if kind != _PARAMETER and kind != _VARIADIC:
                    continue
                type_node = declaration.child_by_field_id(_F_TYPE)
                if type_node is None:
                    continue
                made = type_of(r, type_node, d + 1)
                if kind == _VARIADIC:
                    made = Type("...", (made,), "variadic")
                names = sum(1 for name in declaration.named_children if name.kind_id in _NAMES)
                args.extend([made] * (names or 1))
        elif kind != _COMMENT:
            args.append(type_of(r, kid, d + 1))
    return Type("", tuple(args), "fn")


def _struct_type(r: _Reader, n: Node, d: int) -> Type:
    return Type("struct")


def _interface_type(r: _Reader, n: Node, d: int) -> Type:
    return Type("interface" if n.named_child_count else "interface{}")


_TYPES.update(
    {
        _TYPE_NAME: named_type,
        _QUALIFIED: _qualified_type,
        _POINTER: _pointer_type,
        _GENERIC: _generic_type,
        _TYPE_ELEM: _first_type,
        _id("parenthesized_type"): _first_type,
        _id("negated_type"): _first_type,
        _id("slice_type"): _list_type,
        _id("array_type"): _array_type,
        _id("implicit_length_array_type"): _array_type,
        _id("map_type"): _map_type,
        _id("channel_type"): _chan_type,
        _id("function_type"): _function_type,
        _STRUCT: _struct_type,
        _INTERFACE: _interface_type,
    }
)
_TYPES.update(dict.fromkeys(_NAMES, named_type))


# ---------------------------------------------------------------- classes


def _package_types(r: _Reader, n: Node) -> None:
    for spec in n.named_children:
        if spec.kind_id in (_TYPE_SPEC, _TYPE_ALIAS):
            name = spec.child_by_field_id(_F_NAME)
            if name is None:
                continue
            text = r.text[name.start_byte : name.end_byte]
            index = r.class_index.get(text, -1)
            if index < 0 or r.classes[index] is not _NO_CLASS:
                # A type written twice, or one inside an ERROR that the naming pass did not see.
                index = next((i for i, made in enumerate(r.classes) if made is _NO_CLASS), len(r.classes))
                if index == len(r.classes):
                    r.classes.append(_NO_CLASS)
            r.classes[index] = _class(r, spec, name, text, text, index)


def _class(r: _Reader, spec: Node, name: Node, text: str, qual: str, index: int) -> Class:
    type_node = spec.child_by_field_id(_F_TYPE)
    at, end, name_at = spec.start_byte, spec.end_byte, name.start_byte
    kind = 0 if type_node is None else type_node.kind_id
    if type_node is not None and kind == _STRUCT:
        return Class(text, qual, "struct", at, end, name_at, fields=_fields(r, type_node), parent=r.function)
    if type_node is not None and kind == _INTERFACE:
        bases: list[Expr] = []
        methods: list[int] = []
        for elem in type_node.named_children:
            kind = elem.kind_id
            if kind == _METHOD_ELEM:
                methods.append(_interface_method(r, elem, text, qual, index))
            elif kind == _TYPE_ELEM:
                types = solid(r, elem)
                # A union is a constraint and has no methods to inherit.
                if len(types) == 1 and types[0].kind_id in (_TYPE_NAME, _QUALIFIED, _GENERIC):
                    bases.append(Ref(elem.start_byte, elem.end_byte, type_of(r, types[0], 0).name))
        return Class(text, qual, "interface", at, end, name_at, tuple(bases), methods=tuple(methods), parent=r.function)
    alias_of = None if type_node is None else type_of(r, type_node, 0)
    return Class(text, qual, "alias", at, end, name_at, parent=r.function, alias_of=alias_of)


def _interface_method(r: _Reader, n: Node, owner: str, qual: str, index: int) -> int:
    made = reserve(r)
    name = n.child_by_field_id(_F_NAME)
    at = n.start_byte if name is None else name.start_byte
    text = "" if name is None else r.text[at : name.end_byte]
    parameters = n.child_by_field_id(_F_PARAMETERS)
    returns, named = _results(r, n.child_by_field_id(_F_RESULT))
    r.functions[made] = Function(
        text,
        f"{qual}.{text}",
        "method",
        n.start_byte,
        n.end_byte,
        at,
        () if parameters is None else _params(r, parameters),
        returns,
        named,
        (),
        index,
        r.function,
        owner,
        is_abstract=True,
    )
    return made


def _fields(r: _Reader, struct: Node) -> tuple[ClassField, ...]:
    found = []
    for part in struct.named_children:
        if part.kind_id != _FIELD_LIST:
            continue
        for n in part.named_children:
            if n.kind_id != _FIELD_DECL:
                continue
            type_node = n.child_by_field_id(_F_TYPE)
            if type_node is None:
                continue
            made = type_of(r, type_node, 0)
            end = type_node.end_byte
            tag_node = n.child_by_field_id(_F_TAG)
            tag = "" if tag_node is None else _string_value(r, tag_node)
            names = [kid for kid in n.named_children if kid.kind_id == _FIELD_NAME]
            for name in names:
                at = name.start_byte
                found.append(ClassField(r.text[at : name.end_byte], at, end, made, None, tag))
            if not names:
                at = n.start_byte
                if r.data[at : at + 1] == b"*":
                    made = _pointer_to(made)
                found.append(ClassField(made.name.rsplit(".", 1)[-1], at, end, made, None, tag, True))
    return tuple(found)


def _local_types(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    for spec in n.named_children:
        if spec.kind_id in (_TYPE_SPEC, _TYPE_ALIAS):
            name = spec.child_by_field_id(_F_NAME)
            if name is None:
                continue
            text = r.text[name.start_byte : name.end_byte]
            index = len(r.classes)
            r.classes.append(_NO_CLASS)
            r.classes[index] = _class(r, spec, name, text, f"{r.qual}.{text}" if r.qual else text, index)
            out.append(Def(spec.start_byte, spec.end_byte, "class", index, text))


# ---------------------------------------------------------------- literals

_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)
_SIMPLE = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def _unicode(code: int) -> bytes:
    return b"\xef\xbf\xbd" if code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code).encode()


def _resolve(match: re.Match[bytes]) -> bytes:
    """The bytes of one escape in a string."""
    if match[1]:
        return bytes((int(match[1], 16),))
    if match[2] or match[3]:
        return _unicode(int(match[2] or match[3], 16))
    if match[4]:
        return bytes((int(match[4], 8) & 255,))
    return _SIMPLE.get(match[5], match[5])


def _string_value(r: _Reader, n: Node) -> str:
    at = n.start_byte + 1
    end = max(at, n.end_byte - 1)
    raw = r.data[at:end]
    if n.kind_id == _RAW_STRING:
        raw = raw.replace(b"\r", b"")
    elif b"\\" in raw:
        raw = _ESCAPE.sub(_resolve, raw)
    return raw.decode("utf-8", "replace")


def _string(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    text = r.text[at + 1 : end - 1]
    if "\\" in text or "\r" in text or not text.isascii():
        text = _string_value(r, n)
    return Lit(at, end, text)


def _rune(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    text = r.text[at + 1 : end - 1]
    if not text.isascii():
        text = r.data[at + 1 : end - 1].decode("utf-8", "replace")
    elif text[:1] == "\\":
        match = _ESCAPE.match(r.data, at + 1)
        if match is None:
            text = ""
        elif match[1] or match[4]:
            # In a rune these are code points, in a string bytes.
            text = _unicode(int(match[1], 16) if match[1] else int(match[4], 8)).decode()
        else:
            text = _resolve(match).decode("utf-8", "replace")
    return Lit(at, end, text)


def _int(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    return Lit(at, end, _int_value(r.text[at:end]))


def _int_value(text: str) -> int | float:
    try:
        value = int(text, 0)
    except ValueError:
        try:
            value = int(text, 8)  # 0755
        except ValueError:
            return _float_value(text)
    if value < 1 << 63:
        return value
    return float(value) if value.bit_length() < 1024 else float("inf")


def _float(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    return Lit(at, end, _float_value(r.text[at:end]))


def _float_value(text: str) -> float:
    text = text.replace("_", "")
    try:
        return float.fromhex(text) if text[:2] in ("0x", "0X") else float(text)
    except (ValueError, OverflowError):
        return float("inf")


# ---------------------------------------------------------------- expressions


def _name(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    return Ref(at, end, r.text[at:end]) if end > at else Opaque(at, end, ())


def _value(r: _Reader, n: Node, d: int) -> Expr:
    """An expression that stands as a value: what it names is recorded."""
    made = _EXPR[n.kind_id](r, n, d)
    if made.__class__ is Ref:
        r.values.add(made.name)
    elif made.__class__ is Field:
        r.values.add("." + made.name)
    return made


def _values(r: _Reader, n: Node, d: int) -> Expr:
    """An expression list as a value: one, or a tuple."""
    kids = n.named_children
    if len(kids) == 1:
        return _value(r, kids[0], d)
    items = tuple(Pair(_value(r, kid, d + 1)) for kid in kids if kid.kind_id != _COMMENT)
    if len(items) == 1:
        return items[0].value
    return Coll(n.start_byte, n.end_byte, "tuple", items[:MAX_ITEMS], len(items))


def _selector(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    text = r.text[at:end]
    # A chain of names is one leaf; keywords and digits cannot stand here, so this test is enough.
    if text.replace(".", "").isidentifier():
        return Ref(at, end, text)
    if d > MAX_DEPTH:
        return too_deep(r, n)
    operand = n.child_by_field_id(_F_OPERAND)
    field = n.child_by_field_id(_F_FIELD)
    if operand is None or field is None:
        return opaque(r, n, d)
    base = _EXPR[operand.kind_id](r, operand, d + 1)
    name = r.text[field.start_byte : field.end_byte]
    if base.__class__ is Ref:
        return Ref(at, end, base.name + "." + name)
    return Field(at, end, base, name)


def _call(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    kids = n.named_children
    if len(kids) != 2:
        kids = [kid for kid in kids if kid.kind_id != _COMMENT and kid.kind_id != _TYPE_ARGUMENTS]
        if len(kids) != 2:
            return opaque(r, n, d)
    callee, arguments = kids
    kind = callee.kind_id
    at = n.start_byte
    if kind == _SELECTOR or kind in _NAMES:
        stop = callee.end_byte
        name = r.text[at:stop]
        if kind != _SELECTOR or name.replace(".", "").isidentifier():
            if name in _SPECIAL_CALLS:
                return _special_call(r, n, name, Ref(at, stop, name), arguments, d)
            r.calls.add(name)
            return Call(at, n.end_byte, Ref(at, stop, name), _args(r, arguments.named_children, d))
        # No step deeper: a chain of calls nests by two nodes a link, and long builders are common.
        fn = _selector(r, callee, d)
    elif kind == _PAREN:
        to = _pointer_conversion(r, callee)
        if to is not None:
            operands = solid(r, arguments)
            if len(operands) == 1:
                return Cast(at, n.end_byte, to, _value(r, operands[0], d + 1))
        fn = paren(r, callee, d + 1)
    elif kind == _INDEX:
        fn = _index(r, callee, d + 1)
        pair = fn.__class__ is Index and fn.base.__class__ is Ref and fn.key.__class__ is Ref
        if pair and not _is_element(r, fn.base.name, fn.key.name):  # type: ignore[union-attr]
            fn = fn.base  # type: ignore[union-attr]
    else:
        fn = _EXPR[kind](r, callee, d + 1)
    if fn.__class__ is Ref:
        if fn.name in _SPECIAL_CALLS:
            return _special_call(r, n, fn.name, fn, arguments, d)
        r.calls.add(fn.name)
    elif fn.__class__ is Field:
        r.calls.add("." + fn.name)
    return Call(at, n.end_byte, fn, _args(r, arguments.named_children, d))


def _special_call(r: _Reader, n: Node, name: str, fn: Expr, arguments: Node, d: int) -> Expr:
    """`new`, `make` and conversions to basic types."""
    at = n.start_byte
    end = n.end_byte
    kids = arguments.named_children
    if name == "new" or name == "make":
        if kids and kids[0].kind_id in _TYPES and kids[0].kind_id not in _NAMES:
            first = kids[0]
            if name == "new":
                return _new_of_type(r, first, at, end)
            made = _new_of_type(r, first, first.start_byte, first.end_byte)
            r.calls.add(name)
            return Call(at, end, fn, (Arg(made), *_args(r, kids[1:], d)))
    elif len(kids) == 1 and kids[0].kind_id not in (_SPREAD, _COMMENT):
        return Cast(at, end, Type(name), _value(r, kids[0], d + 1))
    r.calls.add(name)
    return Call(at, end, fn, _args(r, kids, d))


def _args(r: _Reader, kids: list[Node], d: int) -> tuple[Arg, ...]:
    args = []
    for kid in kids:
        kind = kid.kind_id
        if kind in _NAMES:
            at = kid.start_byte
            end = kid.end_byte
            text = r.text[at:end]
            r.values.add(text)
            args.append(Arg(Ref(at, end, text)))
        elif kind == _SPREAD:
            inner = first_child(r, kid)
            if inner is not None:
                args.append(Arg(_value(r, inner, d + 1), None, 1))
        elif kind != _COMMENT:
            value = _EXPR[kind](r, kid, d + 1)
            if value.__class__ is Ref:
                r.values.add(value.name)
            elif value.__class__ is Field:
                r.values.add("." + value.name)
            args.append(Arg(value))
    return tuple(args)


_SPECIAL_CALLS = _CONVERSIONS | {"new", "make"}


def _new_of_type(r: _Reader, n: Node, at: int, end: int) -> New:
    made = type_of(r, n, 0)
    if made.shape == "plain":
        r.calls.add(made.name + "{")
    return New(at, end, made, ())


def _pointer_conversion(r: _Reader, n: Node) -> Type | None:
    """`*T` of the callee in `(*T)(x)`, unless it is a variable that holds a function."""
    inner = first_child(r, n)
    stars = 0
    while inner is not None and inner.kind_id == _UNARY and r.data[inner.start_byte : inner.start_byte + 1] == b"*":
        inner = inner.child_by_field_id(_F_OPERAND)
        stars += 1
    if not stars or inner is None or (inner.kind_id not in _NAMES and inner.kind_id != _SELECTOR):
        return None
    name = _EXPR[inner.kind_id](r, inner, MAX_DEPTH)
    if name.__class__ is not Ref or _is_declared(r, name.name):
        return None
    made = Type(name.name)
    for _ in range(min(stars, 8)):
        made = _pointer_to(made)
    return made


def _is_element(r: _Reader, base: str, key: str) -> bool:
    """Whether `base[key](x)` calls an element of a collection; else it calls a generic function.

    The grammar cannot tell. A method has no type parameters, a variable is no generic function, a basic type is no key.
    """
    head, _, rest = base.partition(".")
    if rest:
        return head not in r.aliases
    if key in _BASIC or b"func " + base.encode("utf-8", "replace") + b"[" in r.data:
        return False
    if _is_declared(r, base):
        return True
    return "." not in key and key not in r.class_index and _is_declared(r, key)


_BEFORE_DECLARED = re.compile(rb"(?:(var|const)\s+|([(,]\s*))$")
_AFTER_DECLARED = re.compile(rb"(?:\s*,\s*\w+)*(\s*(?::=|=[^=]))?(\s+[\w*\[.])?")
_WORD_BYTE = re.compile(rb"[\w.\x80-\xff]")


def _is_declared(r: _Reader, name: str) -> bool:
    """Whether the file seems to declare a variable, constant or parameter of that name."""
    known = r.declared.get(name)
    if known is None:
        known = r.declared[name] = _find_declared(r.data, name.encode("utf-8", "replace"), name[:1].isupper())
    return known


def _find_declared(data: bytes, word: bytes, is_upper: bool) -> bool:
    at = data.find(word) if word else -1
    while at >= 0:
        end = at + len(word)
        if not (at and _WORD_BYTE.match(data, at - 1)) and not (_WORD_BYTE.match(data, end)):
            after = _AFTER_DECLARED.match(data, end)
            before = _BEFORE_DECLARED.search(data[max(0, at - 12) : at])
            if (after is not None and after[1]) or (before is not None and before[1]):
                return True
            # A capital after a comma with a word behind it is a type parameter as well.
            if before is not None and after is not None and after[2] and not is_upper:
                return True
        at = data.find(word, end)
    return False


def _conversion(r: _Reader, n: Node, d: int) -> Expr:
    """`T(x)` where T can only be a type, and `f[T](x)`, which may be a generic call or a call of an element as well."""
    if d > MAX_DEPTH:
        return too_deep(r, n)
    at = n.start_byte
    end = n.end_byte
    type_node = n.child_by_field_id(_F_TYPE)
    operand = n.child_by_field_id(_F_OPERAND)
    if type_node is None or operand is None:
        return opaque(r, n, d)
    if type_node.kind_id != _GENERIC:
        return Cast(at, end, type_of(r, type_node, 0), _value(r, operand, d + 1))
    named = first_child(r, type_node)
    if named is None:
        return opaque(r, n, d)
    name = type_of(r, named, 0).name
    base = Ref(named.start_byte, named.end_byte, name)
    fn: Expr = base
    arguments = type_node.child_by_field_id(_F_TYPE_ARGUMENTS)
    args = [] if arguments is None else solid(r, arguments)
    if len(args) == 1:
        key = first_child(r, args[0]) if args[0].kind_id == _TYPE_ELEM else args[0]
        if key is not None and key.kind_id in (_TYPE_NAME, _QUALIFIED):
            key_name = type_of(r, key, 0).name
            if _is_element(r, name, key_name):
                fn = Index(at, type_node.end_byte, base, Ref(key.start_byte, key.end_byte, key_name))
    if fn is base:
        r.calls.add(name)
    return Call(at, end, fn, (Arg(_value(r, operand, d + 1)),))


def _instantiation(r: _Reader, n: Node, d: int) -> Expr:
    """`f[int, string]` without a call: the function itself."""
    type_node = n.child_by_field_id(_F_TYPE)
    if type_node is None:
        return opaque(r, n, d)
    if type_node.kind_id not in (_TYPE_NAME, _QUALIFIED):
        return opaque(r, n, d)
    return Ref(n.start_byte, n.end_byte, type_of(r, type_node, 0).name)


def _index(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    kids = n.named_children
    if len(kids) != 2:
        kids = solid(r, n)
        if len(kids) != 2:
            return opaque(r, n, d)
    base = _EXPR[kids[0].kind_id](r, kids[0], d + 1)
    key = _EXPR[kids[1].kind_id](r, kids[1], d + 1)
    if base.__class__ is Ref and key.__class__ is Ref and key.name in _BASIC:
        return base
    return Index(n.start_byte, n.end_byte, base, key)


def _slice(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    operand = n.child_by_field_id(_F_OPERAND)
    if operand is None:
        return opaque(r, n, d)
    base = _EXPR[operand.kind_id](r, operand, d + 1)
    bounds: list[Expr | None] = []
    for id in (_F_START, _F_END, _F_CAPACITY):
        bound = n.child_by_field_id(id)
        bounds.append(None if bound is None else _EXPR[bound.kind_id](r, bound, d + 1))
    return Slice(n.start_byte, n.end_byte, base, bounds[0], bounds[1])


def _assertion(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    operand = n.child_by_field_id(_F_OPERAND)
    type_node = n.child_by_field_id(_F_TYPE)
    if operand is None or type_node is None:
        return opaque(r, n, d)
    return Cast(n.start_byte, n.end_byte, type_of(r, type_node, 0), _EXPR[operand.kind_id](r, operand, d + 1))


def _unary(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    kids = n.named_children
    operand = kids[0] if len(kids) == 1 else n.child_by_field_id(_F_OPERAND)
    if operand is None:
        return opaque(r, n, d)
    at = n.start_byte
    end = n.end_byte
    value = _EXPR[operand.kind_id](r, operand, d + 1)
    op = r.text[at : at + 1]
    if op == "<":
        return Recv(at, end, value)
    if op == "!":
        return Un(at, end, "not", value)
    if op == "&" and value.__class__ is New:
        return New(at, end, value.type, value.fields)
    return Un(at, end, op, value)


def _binary(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    kids = n.named_children
    if len(kids) == 2:
        left, right = kids
        kind = left.kind_id
        if kind != _BINARY:
            op = _BINARY_OPS.get(r.text[left.end_byte : right.start_byte].strip())
            if op is not None:
                first = _EXPR[kind](r, left, d + 1)
                return Bin(n.start_byte, n.end_byte, op, first, _EXPR[right.kind_id](r, right, d + 1))
    node, rights, ops = chain_of(r, n)
    if not ops:
        return opaque(r, n, d)
    return chained(r, n, node, rights, ops, d)


def _func_literal(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    r.lambdas += 1
    name = f"<lambda{r.lambdas}>"
    index = reserve(r)
    at = n.start_byte
    _function(r, n, d + 1, index, name, f"{r.qual}.{name}" if r.qual else name, "lambda", at, r.function, (), "", -1)
    return Fn(at, n.end_byte, index)


def _composite(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    kids = n.named_children
    if len(kids) != 2:
        kids = solid(r, n)
        if len(kids) != 2:
            return opaque(r, n, d)
    return _literal(r, kids[1], d, type_of(r, kids[0], 0), n.start_byte, n.end_byte)


_WORDS = frozenset(("nil", "true", "false"))
_INERT = re.compile(
    rb"(?:[\s{},:+\-|^()]++|0[xX][0-9a-fA-F_]++|\d[\d._]*+(?:[eE][+-]?\d++)?|\"[^\"\\\n]*+\"|'[^'\\\n]++'|`[^`]*+`|//[^\n]*+|nil\b|true\b|false\b)*+"
)
"""Items of a literal that name nothing and call nothing: tables of numbers and texts."""


def _literal(r: _Reader, n: Node, d: int, made: Type | None, at: int, end: int) -> Expr:
    """The braces of a composite literal of a type; no type: elided and unknown."""
    if d > MAX_DEPTH:
        return too_deep(r, n)
    shape = "" if made is None else made.shape
    key_type: Type | None = None
    item_type: Type | None = None
    if made is not None:
        if shape == "ptr":
            # The element type of `[]*T{{...}}`: the literal is one of T.
            made = made.args[0] if made.name == "*" and made.args else Type(made.name, made.args)
            shape = made.shape
        if shape == "list" or shape == "array":
            item_type = made.args[0] if made.args else None
        elif shape == "map":
            key_type, item_type = made.args if len(made.args) == 2 else (None, None)
        elif shape == "plain" and made.name != "struct":
            r.calls.add(made.name + "{")
    is_struct = made is None or shape == "plain"
    values = r.values
    pairs: list[Pair] = []
    size = 0
    keyed = False
    for element in n.named_children:
        kind = element.kind_id
        if kind == _COMMENT:
            continue
        size += 1
        past = size == MAX_ITEMS + 1 and not (is_struct and keyed)
        if past and _INERT.fullmatch(r.data, element.start_byte, n.end_byte):
            size = sum(1 for kid in n.named_children if kid.kind_id != _COMMENT)
            break
        key: Expr | None = None
        if kind == _KEYED:
            parts = element.named_children
            if len(parts) != 2:
                parts = [part for part in parts if part.kind_id != _COMMENT]
            if len(parts) == 2:
                key_node, element = parts
                start = key_node.start_byte
                stop = key_node.end_byte
                text = r.text[start:stop]
                if text.isidentifier() and text not in _WORDS:
                    key = Ref(start, stop, text)
                    if is_struct:
                        r.writes.add(text)
                        keyed = True
                    else:
                        values.add(text)
                else:
                    key_node = first_child(r, key_node) or key_node
                    if key_node.kind_id == _LITERAL_VALUE:
                        key = _literal(r, key_node, d + 1, key_type, start, stop)
                    else:
                        key = _value(r, key_node, d + 1)
        inner = element.named_children if kind != ERROR_KIND else [element]
        node = inner[0] if len(inner) == 1 else first_child(r, element)
        if node is None:
            value: Expr = leaf(r, element, d)
        else:
            kind = node.kind_id
            if kind == _LITERAL_VALUE:
                value = _literal(r, node, d + 1, item_type, node.start_byte, node.end_byte)
            else:
                value = _EXPR[kind](r, node, d + 1)
                if value.__class__ is Ref:
                    values.add(value.name)
                elif value.__class__ is Field:
                    values.add("." + value.name)
        if size <= MAX_ITEMS or (is_struct and keyed):
            pairs.append(Pair(value, key))
    if made is not None and is_struct:
        return New(at, end, made, tuple(pairs))
    form: Literal["list", "map"] = "map" if shape == "map" or (made is None and pairs and pairs[0].key is not None) else "list"
    return Coll(at, end, form, tuple(pairs[:MAX_ITEMS]), size, made)


_GRAMMAR.handle_expressions(
    ("identifier", _name),
    ("blank_identifier", _name),
    ("field_identifier", _name),
    ("package_identifier", _name),
    ("type_identifier", _name),
    ("iota", _name),
    ("dot", leaf),
    ("nil", null),
    ("true", true),
    ("false", false),
    ("int_literal", _int),
    ("float_literal", _float),
    ("imaginary_literal", leaf),
    ("rune_literal", _rune),
    ("raw_string_literal", _string),
    ("interpreted_string_literal", _string),
    ("parenthesized_expression", paren),
    ("selector_expression", _selector),
    ("call_expression", _call),
    ("type_conversion_expression", _conversion),
    ("type_instantiation_expression", _instantiation),
    ("index_expression", _index),
    ("slice_expression", _slice),
    ("type_assertion_expression", _assertion),
    ("unary_expression", _unary),
    ("binary_expression", _binary),
    ("func_literal", _func_literal),
    ("composite_literal", _composite),
)

# ---------------------------------------------------------------- statements


def _block(r: _Reader, n: Node, d: int) -> Block:
    out: list[Stmt] = []
    _into(r, n, d, out)
    return tuple(out)


def _into(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    """The statements of a block or case, appended to `out`."""
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    for part in n.named_children:
        kind = part.kind_id
        if kind == _STATEMENTS:
            for statement in part.named_children:
                _STMT[statement.kind_id](r, statement, d, out)
        elif kind != _COMMENT:
            _STMT[kind](r, part, d, out)


def _expression(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    kids = n.named_children
    node = kids[0] if len(kids) == 1 else first_child(r, n)
    if node is not None:
        out.append(Do(n.start_byte, n.end_byte, _EXPR[node.kind_id](r, node, d)))


def _into_list(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    for statement in n.named_children:
        _STMT[statement.kind_id](r, statement, d, out)


def _inner_block(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    _into(r, n, d + 1, out)


def _target(r: _Reader, n: Node, d: int) -> Expr:
    made = _EXPR[n.kind_id](r, n, d)
    if made.__class__ is Ref:
        _, dot, last = made.name.rpartition(".")
        if dot:
            r.writes.add(last)
    elif made.__class__ is Field:
        r.writes.add(made.name)
    return made


def _targets(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    text = r.text[at:end]
    if text.isidentifier():
        return Ref(at, end, text)
    kids = n.named_children
    if len(kids) == 1:
        return _target(r, kids[0], d)
    items = tuple(Pair(_target(r, kid, d)) for kid in kids if kid.kind_id != _COMMENT)
    if len(items) == 1:
        return items[0].value
    return Coll(n.start_byte, n.end_byte, "tuple", items[:MAX_ITEMS], len(items))


def _short_var(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    kids = n.named_children
    if len(kids) == 2:
        left, right = kids
    else:
        found_left = n.child_by_field_id(_F_LEFT)
        found_right = n.child_by_field_id(_F_RIGHT)
        if found_left is None or found_right is None:
            return _stray_parts(r, n, d, out)
        left, right = found_left, found_right
    # The right side first: its function literals and calls come before what they are bound to.
    value = _values(r, right, d)
    out.append(Assign(n.start_byte, n.end_byte, (_targets(r, left, d),), "", value, True))
    return None


def _assignment(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    kids = n.named_children
    op = ""
    if len(kids) == 2:
        left, right = kids
        op = r.text[left.end_byte : right.start_byte].strip()
    if not op or len(op) > 3:
        found_left = n.child_by_field_id(_F_LEFT)
        found_right = n.child_by_field_id(_F_RIGHT)
        operator = n.child_by_field_id(_F_OPERATOR)
        if found_left is None or found_right is None or operator is None:
            return _stray_parts(r, n, d, out)
        left, right, op = found_left, found_right, operator.type
    value = _values(r, right, d)
    targets = _targets(r, left, d)
    for target in (pair.value for pair in targets.items) if isinstance(targets, Coll) else (targets,):
        if isinstance(target, Index):
            # `table[key] = f`: the header has to tell who may store into a table of the package
            base: Expr = target
            while isinstance(base, Index):
                base = base.base
            if isinstance(base, Ref):
                r.values.add(base.name)
    out.append(Assign(n.start_byte, n.end_byte, (targets,), op[:-1], value))
    return None


def _stray_parts(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    for kid in n.named_children:
        _STMT[kid.kind_id](r, kid, d + 1, out)


def _step(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    """`x++`, `x--`."""
    node = first_child(r, n)
    if node is None:
        return
    end = n.end_byte
    op = r.text[end - 1 : end]
    out.append(Assign(n.start_byte, end, (_target(r, node, d),), op, Lit(end - 2, end, 1)))


def _declaration(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    """`var` and `const`, also in groups."""
    for spec in n.named_children:
        kind = spec.kind_id
        if kind == _VAR_LIST:
            _declaration(r, spec, d, out)
        elif kind in (_VAR_SPEC, _CONST_SPEC):
            type_node: Node | None = None
            value_node: Node | None = None
            names = []
            for kid in spec.named_children:
                kid_kind = kid.kind_id
                if kid_kind in _NAMES:
                    at = kid.start_byte
                    end = kid.end_byte
                    names.append(Ref(at, end, r.text[at:end]))
                elif kid_kind == _EXPRESSIONS:
                    value_node = kid
                elif kid_kind in _TYPES:
                    type_node = kid
            if not names:
                continue
            target: Expr = names[0]
            if len(names) > 1:
                pairs = tuple(Pair(name) for name in names[:MAX_ITEMS])
                target = Coll(names[0].at, names[-1].end, "tuple", pairs, len(names))
            value = None if value_node is None else _values(r, value_node, d)
            made = None if type_node is None else type_of(r, type_node, 0)
            out.append(Assign(spec.start_byte, spec.end_byte, (target,), "", value, True, made))


def _return(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    node = first_child(r, n)
    out.append(Return(n.start_byte, n.end_byte, None if node is None else _values(r, node, d)))


def _go(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    node = first_child(r, n)
    if node is not None:
        out.append(Go(n.start_byte, n.end_byte, _EXPR[node.kind_id](r, node, d)))


def _defer(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    node = first_child(r, n)
    if node is not None:
        out.append(Defer(n.start_byte, n.end_byte, _EXPR[node.kind_id](r, node, d)))


def _send(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    kids = n.named_children
    if len(kids) != 2:
        kids = solid(r, n)
        if len(kids) != 2:
            return _stray_parts(r, n, d, out)
    channel = _EXPR[kids[0].kind_id](r, kids[0], d)
    out.append(Send(n.start_byte, n.end_byte, channel, _value(r, kids[1], d)))
    return None


def _labeled(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    label = n.child_by_field_id(_F_LABEL)
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _COMMENT or (label is not None and kid.id == label.id):
            continue
        if kind == _FOR and label is not None:
            r.label = r.text[label.start_byte : label.end_byte]
        _STMT[kind](r, kid, d + 1, out)


def _if(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    kids = n.named_children
    init: Node | None = None
    condition: Node | None
    then: Node | None
    otherwise: Node | None = None
    if len(kids) == 2 and kids[1].kind_id == _BLOCK:
        condition, then = kids
    elif len(kids) == 3 and kids[2].kind_id == _BLOCK and kids[1].kind_id != _BLOCK and kids[0].kind_id in _GRAMMAR.statements:
        init, condition, then = kids
    else:
        init = n.child_by_field_id(_F_INITIALIZER)
        condition = n.child_by_field_id(_F_CONDITION)
        then = n.child_by_field_id(_F_CONSEQUENCE)
        otherwise = n.child_by_field_id(_F_ALTERNATIVE)
    if init is not None:
        _STMT[init.kind_id](r, init, d, out)
    test = Opaque(n.start_byte, n.start_byte, ()) if condition is None else _EXPR[condition.kind_id](r, condition, d + 1)
    block = () if then is None else _block(r, then, d + 1)
    orelse: Block = ()
    if otherwise is not None:
        if otherwise.kind_id == _IF:
            chained: list[Stmt] = []
            _if(r, otherwise, d + 1, chained)
            orelse = tuple(chained)
        else:
            orelse = _block(r, otherwise, d + 1)
    out.append(If(n.start_byte, n.end_byte, test, block, orelse))


def _for(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    label = r.label
    r.label = None
    form: Literal["ever", "while", "count", "each"] = "ever"
    test: Expr | None = None
    target: Expr | None = None
    items: Expr | None = None
    step: Stmt | None = None
    block: Block = ()
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _BLOCK:
            block = _block(r, kid, d + 1)
        elif kind == _RANGE:
            form = "each"
            left = kid.child_by_field_id(_F_LEFT)
            right = kid.child_by_field_id(_F_RIGHT)
            if right is not None:
                items = _value(r, right, d + 1)
            if left is not None:
                target = _targets(r, left, d + 1)
        elif kind == _FOR_CLAUSE:
            init = kid.child_by_field_id(_F_INITIALIZER)
            if init is not None:
                _STMT[init.kind_id](r, init, d, out)
            condition = kid.child_by_field_id(_F_CONDITION)
            if condition is not None:
                test = _EXPR[condition.kind_id](r, condition, d + 1)
                form = "ever" if condition.kind_id == _TRUE else "count"
            update = kid.child_by_field_id(_F_UPDATE)
            if update is not None:
                steps: list[Stmt] = []
                _STMT[update.kind_id](r, update, d, steps)
                step = steps[0] if steps else None
        elif kind != _COMMENT and kind != ERROR_KIND:
            test = _EXPR[kind](r, kid, d + 1)
            form = "ever" if test.__class__ is Lit and test.value is True else "while"
    out.append(Loop(n.start_byte, n.end_byte, form, test, target, items, step, block, (), False, label))


def _case_body(r: _Reader, n: Node, d: int) -> Block:
    out: list[Stmt] = []
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _STATEMENTS:
            if d > MAX_DEPTH:
                out.append(Do(kid.start_byte, kid.end_byte, too_deep(r, kid)))
            else:
                _into_list(r, kid, d, out)
        elif kind == ERROR_KIND:
            stray(r, kid, d, out)
    return tuple(out)


def _switch(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    init = n.child_by_field_id(_F_INITIALIZER)
    if init is not None:
        _STMT[init.kind_id](r, init, d, out)
    value = n.child_by_field_id(_F_VALUE)
    subject = None if value is None else _EXPR[value.kind_id](r, value, d + 1)
    cases = []
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _EXPRESSION_CASE:
            tests = kid.child_by_field_id(_F_VALUE)
            found: tuple[Expr, ...] = ()
            if tests is not None:
                found = tuple(_value(r, test, d + 1) for test in tests.named_children if test.kind_id != _COMMENT)
            cases.append(Case(found, _case_body(r, kid, d + 1)))
        elif kind == _DEFAULT_CASE:
            cases.append(Case((), _case_body(r, kid, d + 1)))
    out.append(Switch(n.start_byte, n.end_byte, subject, tuple(cases)))


def _type_switch(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    init = n.child_by_field_id(_F_INITIALIZER)
    if init is not None:
        _STMT[init.kind_id](r, init, d, out)
    value = n.child_by_field_id(_F_VALUE)
    alias = n.child_by_field_id(_F_ALIAS)
    subject: Expr = Opaque(n.start_byte, n.start_byte, ())
    if value is not None:
        subject = _EXPR[value.kind_id](r, value, d + 1)
    tested = subject
    if alias is not None and value is not None:
        name = _targets(r, alias, d + 1)
        if subject.__class__ is Ref:
            r.values.add(subject.name)
        out.append(Assign(alias.start_byte, value.end_byte, (name,), "", subject, True))
        subject = tested = name
    elif subject.__class__ is not Ref:
        # The subject is evaluated once; repeating it in each case would repeat its calls.
        tested = Opaque(subject.at, subject.end, ())
    cases = []
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _TYPE_CASE:
            nodes = [part for part in kid.named_children if part.kind_id in _TYPES]
            tests: tuple[Expr, ...] = ()
            if nodes:
                types = tuple(type_of(r, node, 0) for node in nodes)
                tests = (Is(nodes[0].start_byte, nodes[-1].end_byte, tested, types),)
            cases.append(Case(tests, _case_body(r, kid, d + 1)))
        elif kind == _DEFAULT_CASE:
            cases.append(Case((), _case_body(r, kid, d + 1)))
    out.append(Switch(n.start_byte, n.end_byte, subject, tuple(cases)))


def _select(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    cases = []
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _COMM_CASE:
            communication = kid.child_by_field_id(_F_COMMUNICATION)
            ops: list[Stmt] = []
            if communication is not None:
                _STMT[communication.kind_id](r, communication, d + 1, ops)
            cases.append(Comm(ops[0] if ops else None, _case_body(r, kid, d + 1)))
        elif kind == _DEFAULT_CASE:
            cases.append(Comm(None, _case_body(r, kid, d + 1)))
    out.append(Select(n.start_byte, n.end_byte, tuple(cases)))


def _receive(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    left = n.child_by_field_id(_F_LEFT)
    right = n.child_by_field_id(_F_RIGHT)
    if right is None:
        return
    at = n.start_byte
    end = n.end_byte
    value = _EXPR[right.kind_id](r, right, d)
    if left is None:
        out.append(Do(at, end, value))
        return
    declares = b":=" in r.data[left.end_byte : right.start_byte]
    out.append(Assign(at, end, (_targets(r, left, d),), "", value, declares))


_GRAMMAR.handle_statements(
    ("comment", nothing),
    ("empty_statement", nothing),
    ("expression_statement", _expression),
    ("block", _inner_block),
    ("short_var_declaration", _short_var),
    ("assignment_statement", _assignment),
    ("inc_statement", _step),
    ("dec_statement", _step),
    ("var_declaration", _declaration),
    ("const_declaration", _declaration),
    ("type_declaration", _local_types),
    ("return_statement", _return),
    ("go_statement", _go),
    ("defer_statement", _defer),
    ("send_statement", _send),
    ("receive_statement", _receive),
    ("break_statement", jump("break")),
    ("continue_statement", jump("continue")),
    ("goto_statement", jump("goto")),
    ("fallthrough_statement", jump("fallthrough")),
    ("labeled_statement", _labeled),
    ("if_statement", _if),
    ("for_statement", _for),
    ("expression_switch_statement", _switch),
    ("type_switch_statement", _type_switch),
    ("select_statement", _select),
)
_STMT[_STATEMENTS] = _into_list

_TOP: dict[int, Callable[[_Reader, Node], None]] = {
    _id("package_clause"): _package,
    _id("import_declaration"): _import,
    _id("function_declaration"): _function_declaration,
    _id("method_declaration"): _method_declaration,
    _TYPE_DECLARATION: _package_types,
    _id("var_declaration"): _package_values,
    _id("const_declaration"): _package_values,
}
