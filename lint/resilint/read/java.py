"""Java source to facts, on tree-sitter.

One walk over the tree gives the header and the bodies, with plain functions found by the node's kind id, as in the other readers
on tree-sitter. Besides, a bare name that means a member of a class around it is written out (see `Ref`), because only here are
the locals in scope at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

import tree_sitter_java
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
    Cond,
    Def,
    Do,
    Expr,
    Field,
    FileFacts,
    Fmt,
    Fn,
    Function,
    Handler,
    If,
    Import,
    Index,
    Is,
    Item,
    Jump,
    Let,
    Lit,
    Loop,
    New,
    Opaque,
    Pair,
    Param,
    Raise,
    Ref,
    Return,
    Stmt,
    Switch,
    Try,
    Type,
    Un,
    With,
    encode_block,
)
from resilint.read.lowering import (
    MAX_CHAIN,
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
    long_chain,
    named_type,
    new_type,
    nothing,
    null,
    opaque,
    operand_of,
    parameters_of,
    paren,
    reserve,
    solid,
    too_deep,
    true,
    type_of,
)
from resilint.read.treesitter import ERROR_KIND, parsed

_GRAMMAR = Grammar(
    Language(tree_sitter_java.language()),
    comments=("line_comment", "block_comment"),
    quoted=("string_literal", "string_fragment", "multiline_string_fragment", "character_literal", "escape_sequence"),
    operator=">>>",
)
_PARSER = _GRAMMAR.parser
_EXPR = _GRAMMAR.expr
_STMT = _GRAMMAR.stmt
_TYPES = _GRAMMAR.types
_BINARY_OPS = _GRAMMAR.operators

# ---------------------------------------------------------------- ids of the grammar

_id = _GRAMMAR.id
_field = _GRAMMAR.field

_COMMENTS = _GRAMMAR.comments
_IDENTIFIER = _id("identifier")
_FIELD_ACCESS = _id("field_access")
_THIS = _id("this")
_SUPER = _id("super")
_MODIFIERS = _id("modifiers")
_MARKER = _id("marker_annotation")
_ANNOTATION = _id("annotation")
_ELEMENT_PAIR = _id("element_value_pair")
_ELEMENT_ARRAY = _id("element_value_array_initializer")
_BLOCK = _id("block")
_CLASS_BODY = _id("class_body")
_INTERFACE_BODY = _id("interface_body")
_ENUM_BODY = _id("enum_body")
_ENUM_DECLARATIONS = _id("enum_body_declarations")
_ENUM_CONSTANT = _id("enum_constant")
_ANNOTATION_BODY = _id("annotation_type_body")
_BODIES = frozenset((_CLASS_BODY, _INTERFACE_BODY, _ENUM_BODY, _ANNOTATION_BODY))
_CLASS = _id("class_declaration")
_INTERFACE = _id("interface_declaration")
_ENUM = _id("enum_declaration")
_RECORD = _id("record_declaration")
_ANNOTATION_TYPE = _id("annotation_type_declaration")
_FIELD_DECLARATION = _id("field_declaration")
_CONSTANT = _id("constant_declaration")
_METHOD = _id("method_declaration")
_ELEMENT = _id("annotation_type_element_declaration")
_CONSTRUCTOR = _id("constructor_declaration")
_COMPACT = _id("compact_constructor_declaration")
_STATIC = _id("static_initializer")
_DECLARATOR = _id("variable_declarator")
_DIMENSIONS = _id("dimensions")
_DIMENSIONS_EXPR = _id("dimensions_expr")
_ARRAY_INITIALIZER = _id("array_initializer")
_PARAMETERS = _id("formal_parameters")
_PARAMETER = _id("formal_parameter")
_SPREAD = _id("spread_parameter")
_INFERRED = _id("inferred_parameters")
_TYPE_ARGUMENTS = _id("type_arguments")
_TYPE_NAME = _id("type_identifier")
_SCOPED_TYPE = _id("scoped_type_identifier")
_GENERIC = _id("generic_type")
_ARRAY_TYPE = _id("array_type")
_VOID = _id("void_type")
_ASTERISK = _id("asterisk")
_ARGUMENTS = _id("argument_list")
_PAREN = _id("parenthesized_expression")
_BINARY = _id("binary_expression")
_INVOCATION = _id("method_invocation")
_ASSIGNMENT = _id("assignment_expression")
_UPDATE = _id("update_expression")
_STRING = _id("string_literal")
_LOCAL = _id("local_variable_declaration")
_SWITCH = _id("switch_expression")
_SWITCH_LABEL = _id("switch_label")
_SWITCH_RULE = _id("switch_rule")
_SWITCH_GROUP = _id("switch_block_statement_group")
_EXPRESSION = _id("expression_statement")
_PATTERN = _id("pattern")
_TYPE_PATTERN = _id("type_pattern")
_RECORD_PATTERN = _id("record_pattern")
_GUARD = _id("guard")
_CATCH = _id("catch_clause")
_FINALLY = _id("finally_clause")
_RESOURCES = _id("resource_specification")
_RESOURCE = _id("resource")
_LOOPS = frozenset((_id("while_statement"), _id("do_statement"), _id("for_statement"), _id("enhanced_for_statement")))

_F_ALTERNATIVE = _field("alternative")
_F_ARGUMENTS = _field("arguments")
_F_ARRAY = _field("array")
_F_BODY = _field("body")
_F_CONDITION = _field("condition")
_F_CONSEQUENCE = _field("consequence")
_F_CONSTRUCTOR = _field("constructor")
_F_DIMENSIONS = _field("dimensions")
_F_ELEMENT = _field("element")
_F_FIELD = _field("field")
_F_INDEX = _field("index")
_F_INIT = _field("init")
_F_KEY = _field("key")
_F_LEFT = _field("left")
_F_NAME = _field("name")
_F_OBJECT = _field("object")
_F_OPERAND = _field("operand")
_F_OPERATOR = _field("operator")
_F_PARAMETERS = _field("parameters")
_F_PATTERN = _field("pattern")
_F_RIGHT = _field("right")
_F_TYPE = _field("type")
_F_UPDATE = _field("update")
_F_VALUE = _field("value")

# ---------------------------------------------------------------- state of one reading

_Sink = Callable[[int, int, Expr], Stmt]


class _Reader(Reading):
    """What Java's handlers share besides: the class and the scope they are in.

    `fields` and `called` give what a bare name of the classes around means, unless it is one of `locals`.
    """

    __slots__ = (
        "anonymous",
        "called",
        "class_name",
        "class_path",
        "declared",
        "fields",
        "hoisted",
        "in_class",
        "links",
        "locals",
        "sink",
    )

    def __init__(self, data: bytes, root: Node) -> None:
        super().__init__(_GRAMMAR, data, root)
        self.anonymous = 0
        self.called: dict[str, str] = {}
        self.class_name = ""
        self.class_path = ""
        self.declared: list[str] = []
        self.fields: dict[str, str] = {}
        self.hoisted: list[Stmt] = []
        self.in_class = -1
        self.links = 0
        """Calls of a chain at hand whose holders are being read."""
        self.locals: set[str] = set()
        self.sink: _Sink | None = None


_NO_CLASS = Class("", "", "class", 0, 0, 0)
_SELF = (Param("this", "self"),)


def read(data: bytes) -> FileFacts:
    """The facts of a Java file. Never raises; broken parts stand in `errors`, sound ones are kept."""
    root, hard = parsed(_PARSER, data, _ENDS)
    if root.has_error and hard is None:
        root = _parse_again(data, root)
    r = _Reader(data, root)
    for kid in root.named_children:
        _top(r, kid, 0)
    return facts_of(r, root, "java", hard)


_ENDS = (b";", b"}", b"*/")
_ON_DOTS = re.compile(rb"@\s*[\w.]*\w(?:\s*\([^()]*\))?(?=\s*\.\.\.)")


def _parse_again(data: bytes, root: Node) -> Node:
    """The grammar knows no annotation in front of the dots of `String @Nullable ... names`: such a file is read as if there were
    none."""
    changed = _ON_DOTS.sub(lambda found: b" " * len(found[0]), data)
    if changed == data:
        return root
    again, hard = parsed(_PARSER, changed, _ENDS)
    return root if again.has_error or hard is not None else again


# ---------------------------------------------------------------- top level


def _top(r: _Reader, n: Node, d: int) -> None:
    kind = n.kind_id
    handler = _TOP.get(kind)
    if handler is not None:
        handler(r, n)
        return
    if kind not in _COMMENTS:
        r.head_end = min(r.head_end, n.start_byte)
    if kind in _DECLARED_KINDS:
        _class(r, n, d, r.module)
    elif kind == ERROR_KIND:
        if d < MAX_DEPTH:
            for kid in n.named_children:
                _top(r, kid, d + 1)
    elif kind in _MEMBERS:
        # Only in broken files, or in a file without the class that Java 25 leaves away.
        _MEMBERS[kind](r, n, d, -1, [])
    elif kind in _GRAMMAR.statements:
        _STMT[kind](r, n, d, r.module)


def _dotted(r: _Reader, n: Node) -> str:
    """A qualified name without white space and comments."""
    text = r.text[n.start_byte : n.end_byte]
    if text.replace(".", "").isidentifier():
        return text
    return "".join(re.sub(r"/\*.*?\*/|//[^\n]*|@\w+(?:\([^)]*\))?", "", text, flags=re.DOTALL).split())


def _package(r: _Reader, n: Node) -> None:
    for name in n.named_children:
        if name.kind_id not in _COMMENTS and name.kind_id not in (_MARKER, _ANNOTATION):
            r.package = _dotted(r, name)


def _import(r: _Reader, n: Node) -> None:
    at = n.start_byte
    end = n.end_byte
    words = r.text[at : end - 1].split()
    target = ""
    is_static = False
    if len(words) > 1 and words[-1].replace(".", "").replace("*", "").isidentifier():
        target = words[-1]
        is_static = len(words) == 3 and words[1] == "static"
    if not target or len(words) != 2 + is_static or r.data[end - 1 : end] != b";":
        # White space or comments inside, or a broken place.
        is_static = any(kid.type == "static" for kid in n.children[1:3])
        target = ""
        for part in n.named_children:
            kind = part.kind_id
            if kind == _ASTERISK:
                target += ".*"
            elif kind not in _COMMENTS and kind != ERROR_KIND:
                target = _dotted(r, part)
        if not target:
            return
    holder, _, name = target.rpartition(".")
    r.imports.append(Import(at, end, holder, name, name, is_static=is_static))


# ---------------------------------------------------------------- types


def _scoped_type(r: _Reader, n: Node, d: int) -> Type:
    """`a.b.C`, also with arguments inside (`Outer<T>.Inner`), which are left out."""
    if d > MAX_DEPTH:
        return Type("")
    parts = []
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _TYPE_NAME:
            parts.append(r.text[kid.start_byte : kid.end_byte])
        elif kind in (_SCOPED_TYPE, _GENERIC):
            parts.append(new_type(r, kid, d + 1).name)
    return Type(".".join(parts))


def _generic_type(r: _Reader, n: Node, d: int) -> Type:
    name = ""
    args: tuple[Type, ...] = ()
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _TYPE_ARGUMENTS:
            args = tuple(type_of(r, arg, d + 1) for arg in kid.named_children if arg.kind_id in _TYPES)
        elif kind in _TYPES:
            name = type_of(r, kid, d + 1).name
    return Type(name, args)


def _array_of(element: Type, dimensions: int) -> Type:
    for _ in range(min(dimensions, 16)):
        element = Type("[]", (element,), "array")
    return element


def _dimension_count(r: _Reader, n: Node | None) -> int:
    return 0 if n is None else r.data.count(b"[", n.start_byte, n.end_byte)


def _array_type(r: _Reader, n: Node, d: int) -> Type:
    element = n.child_by_field_id(_F_ELEMENT)
    made = Type("") if element is None else type_of(r, element, d + 1)
    return _array_of(made, _dimension_count(r, n.child_by_field_id(_F_DIMENSIONS)))


def _last_type(r: _Reader, n: Node, d: int) -> Type:
    """The type inside annotations and behind `? extends`."""
    found = Type("?")
    for kid in n.named_children:
        if kid.kind_id in _TYPES:
            found = type_of(r, kid, d + 1)
    return found


_TYPES.update(
    {
        _TYPE_NAME: named_type,
        _SCOPED_TYPE: _scoped_type,
        _GENERIC: _generic_type,
        _ARRAY_TYPE: _array_type,
        _id("integral_type"): named_type,
        _id("floating_point_type"): named_type,
        _id("boolean_type"): named_type,
        _VOID: named_type,
        _id("annotated_type"): _last_type,
        _id("wildcard"): _last_type,
    }
)
_TYPE_KINDS = frozenset(_TYPES)


def _type_expr(r: _Reader, made: Type, at: int, end: int) -> Expr:
    """A type as an expression, as Python writes it: `A<B, C>` is A indexed by B and C."""
    name = made.name
    head, dot, rest = name.partition(".")
    base = Ref(at, end, r.fields.get(head, head) + dot + rest)
    if not made.args:
        return base
    args = tuple(Pair(_type_expr(r, arg, at, end)) for arg in made.args)
    return Index(at, end, base, args[0].value if len(args) == 1 else Coll(at, end, "tuple", args, len(args)))


# ---------------------------------------------------------------- annotations and modifiers


def _annotation(r: _Reader, n: Node, d: int) -> Expr:
    """`@A` is a name, `@A(x = 1)` a call."""
    at = n.start_byte
    end = n.end_byte
    text = r.text[at + 1 : end]
    if text.isidentifier():
        r.values.add(text)
        return Ref(at + 1, end, text)
    name = n.child_by_field_id(_F_NAME)
    if name is None or d > MAX_DEPTH:
        return Opaque(at, end, ())
    text = _dotted(r, name)
    r.values.add(text)
    ref = Ref(name.start_byte, name.end_byte, text)
    arguments = n.child_by_field_id(_F_ARGUMENTS)
    if arguments is None:
        return ref
    return Call(at, end, ref, tuple(Arg(value, key) for key, _, value in _elements(r, arguments, d)))


def _elements(r: _Reader, n: Node, d: int) -> Iterable[tuple[str | None, Node | None, Expr]]:
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _ELEMENT_PAIR:
            key = kid.child_by_field_id(_F_KEY)
            value = kid.child_by_field_id(_F_VALUE)
            if key is not None and value is not None:
                yield r.text[key.start_byte : key.end_byte], key, _element_value(r, value, d + 1)
        elif kind not in _COMMENTS and kind != ERROR_KIND:
            yield None, None, _element_value(r, kid, d + 1)


def _element_value(r: _Reader, n: Node, d: int) -> Expr:
    kind = n.kind_id
    at = n.start_byte
    end = n.end_byte
    if d > MAX_DEPTH:
        return too_deep(r, n)
    if kind in (_MARKER, _ANNOTATION):
        name = n.child_by_field_id(_F_NAME)
        arguments = n.child_by_field_id(_F_ARGUMENTS)
        fields = []
        if arguments is not None:
            for text, key, value in _elements(r, arguments, d):
                fields.append(Pair(value, None if key is None or text is None else Ref(key.start_byte, key.end_byte, text)))
        return New(at, end, Type("" if name is None else _dotted(r, name)), tuple(fields))
    if kind == _ELEMENT_ARRAY:
        items = [_element_value(r, kid, d + 1) for kid in n.named_children if kid.kind_id not in _COMMENTS]
        return Coll(at, end, "list", tuple(Pair(item) for item in items[:MAX_ITEMS]), len(items))
    return _value(r, n, d)


_NO_MODIFIERS: tuple[frozenset[str], tuple[Expr, ...]] = (frozenset(), ())
_KNOWN_WORDS: dict[str, frozenset[str]] = {}


def _modifiers(r: _Reader, n: Node | None) -> tuple[frozenset[str], tuple[Expr, ...]]:
    """Modifiers as words, and annotations."""
    if n is None or n.kind_id != _MODIFIERS:
        return _NO_MODIFIERS
    if not n.named_child_count:
        text = r.text[n.start_byte : n.end_byte]
        known = _KNOWN_WORDS.get(text)
        if known is None:
            known = frozenset(text.split())
            if len(_KNOWN_WORDS) < 1000:
                _KNOWN_WORDS[text] = known
        return known, ()
    words = []
    annotations = []
    for kid in n.children:
        kind = kid.kind_id
        if kind in (_MARKER, _ANNOTATION):
            annotations.append(_annotation(r, kid, 1))
        elif not kid.is_named:
            words.append(kid.type)
    return frozenset(words), tuple(annotations)


def _modifiers_of(n: Node) -> Node | None:
    """They come first, where they are."""
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _MODIFIERS:
            return kid
        if kind not in _COMMENTS:
            return None
    return None


# ---------------------------------------------------------------- classes

_ClassKind = Literal["class", "interface", "enum", "record", "annotation"]
_DECLARED_KINDS: dict[int, _ClassKind] = {
    _CLASS: "class",
    _INTERFACE: "interface",
    _ENUM: "enum",
    _RECORD: "record",
    _ANNOTATION_TYPE: "annotation",
}


def _class(r: _Reader, n: Node, d: int, out: list[Stmt] | None) -> int:
    """A declared class; its index, or -1. Bound by a `Def` in `out`, where it is not nested in a class."""
    if d > MAX_DEPTH:
        too_deep(r, n)
        return -1
    name: Node | None = None
    body: Node | None = None
    parameters: Node | None = None
    bases: list[Expr] = []
    annotations: tuple[Expr, ...] = ()
    for part in n.named_children:
        kind = part.kind_id
        if kind == _IDENTIFIER:
            name = part
        elif kind in _BODIES:
            body = part
        elif kind == _MODIFIERS:
            _, annotations = _modifiers(r, part)
        elif kind == _PARAMETERS:
            parameters = part
        elif kind in _BASE_KINDS:
            _bases(r, part, d, bases)
    if name is None:
        return -1
    name_at = name.start_byte
    text = r.text[name_at : name.end_byte]
    nested = r.in_class >= 0
    path = f"{r.class_path}.{text}" if nested else text
    kind_name = _DECLARED_KINDS[n.kind_id]
    index = _class_body(r, n, d, kind_name, text, path, name_at, tuple(bases), annotations, body, parameters)
    if not nested and out is not None:
        out.append(Def(n.start_byte, n.end_byte, "class", index, text))
    return index


_BASE_KINDS = frozenset((_id("superclass"), _id("super_interfaces"), _id("extends_interfaces")))
_TYPE_LIST = _id("type_list")


def _bases(r: _Reader, n: Node, d: int, out: list[Expr]) -> None:
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _TYPE_LIST:
            _bases(r, kid, d, out)
        elif kind in _TYPES:
            out.append(_type_expr(r, type_of(r, kid, 0), kid.start_byte, kid.end_byte))


def _class_body(
    r: _Reader,
    n: Node,
    d: int,
    kind: _ClassKind,
    name: str,
    path: str,
    name_at: int,
    bases: tuple[Expr, ...],
    annotations: tuple[Expr, ...],
    body: Node | None,
    parameters: Node | None = None,
) -> int:
    index = len(r.classes)
    r.classes.append(_NO_CLASS)
    qual = f"{r.qual}.{name}" if r.qual else name
    components = () if parameters is None else _parameters(r, parameters)
    outer = r.in_class
    outer_name = r.class_name
    saved = (r.fields, r.called, r.locals, r.in_class, r.class_name, r.class_path, r.qual, r.lambdas, r.anonymous, r.declared)
    kids = [] if body is None else _members_of(body)
    if outer_name:
        r.fields = {key: f"{outer_name}.{text}" if text.startswith("this.") else text for key, text in r.fields.items()}
        r.called = {key: f"{outer_name}.{text}" if text.startswith("this.") else text for key, text in r.called.items()}
    else:
        r.fields = {}
        r.called = {}
    for component in components:
        r.fields[component.name] = "this." + component.name
        r.called[component.name] = "this." + component.name
    _name_members(r, kids, path, kind == "interface" or kind == "annotation")
    if r.locals:
        # Members hide the locals of the function around.
        r.locals = {local for local in r.locals if local not in r.fields or outer_name + "." in r.fields[local]}
    r.in_class = index
    r.class_name = name
    r.class_path = path
    r.qual = qual
    r.lambdas = 0
    r.anonymous = 0
    r.declared = []
    fields: list[ClassField] = [] if parameters is None else _component_fields(r, parameters, components)
    methods: list[int] = []
    blocks = [0, 0]
    for kid in kids:
        kid_kind = kid.kind_id
        if kid_kind in (_FIELD_DECLARATION, _CONSTANT):
            _fields(r, kid, d, kind == "interface" or kind == "annotation", fields)
        elif kid_kind == _ENUM_CONSTANT:
            fields.append(_enum_constant(r, kid, d, name, path))
        elif kid_kind == _COMPACT:
            methods.append(_compact(r, kid, d, index, components))
        elif kid_kind in (_BLOCK, _STATIC):
            blocks[kid_kind == _STATIC] += 1
            methods.append(_initialiser(r, kid, d, index, blocks[kid_kind == _STATIC]))
        elif kid_kind in _DECLARED_KINDS:
            _class(r, kid, d + 1, None)
        elif kid_kind in _MEMBERS:
            _MEMBERS[kid_kind](r, kid, d, index, methods)
    r.fields, r.called, r.locals, r.in_class, r.class_name, r.class_path, r.qual, r.lambdas, r.anonymous, r.declared = saved
    at = n.start_byte
    r.classes[index] = Class(
        name,
        qual,
        kind,
        at,
        n.end_byte,
        name_at,
        bases,
        annotations,
        tuple(fields),
        tuple(methods),
        r.function,
        outer,
    )
    return index


def _members_of(body: Node) -> list[Node]:
    """Members of a class body, also those of an enum behind its constants and those that an ERROR holds."""
    found: list[Node] = []
    pending = [(body, 0)]
    while pending:
        node, depth = pending.pop(0)
        for kid in node.named_children:
            kind = kid.kind_id
            if (kind in (_ENUM_DECLARATIONS, ERROR_KIND)) and depth < MAX_DEPTH:
                pending.append((kid, depth + 1))
            elif kind not in _COMMENTS:
                found.append(kid)
    return found


def _is_static(r: _Reader, n: Node) -> bool:
    modifiers = _modifiers_of(n)
    return modifiers is not None and b"static" in r.data[modifiers.start_byte : modifiers.end_byte].split()


def _name_members(r: _Reader, kids: list[Node], path: str, static: bool) -> None:
    """What the members of a class are called in it, before any of their bodies is read."""
    instance: set[str] = set()
    for kid in kids:
        kind = kid.kind_id
        if kind in (_FIELD_DECLARATION, _CONSTANT):
            parts = kid.named_children
            owner = "this."
            if static or (parts[0].kind_id == _MODIFIERS and b"static" in r.data[parts[0].start_byte : parts[0].end_byte].split()):
                owner = path + "."
            for part in parts:
                if part.kind_id == _DECLARATOR:
                    name = part.child_by_field_id(_F_NAME)
                    if name is not None:
                        text = r.text[name.start_byte : name.end_byte]
                        r.fields[text] = owner + text
        elif kind in (_METHOD, _ELEMENT):
            name = kid.child_by_field_id(_F_NAME)
            if name is not None:
                at = name.start_byte
                text = r.text[at : name.end_byte]
                if b"static" not in r.data[kid.start_byte : at] or not _is_static(r, kid):
                    instance.add(text)
                    r.called[text] = "this." + text
                elif text not in instance:
                    r.called[text] = f"{path}.{text}"
        elif kind == _ENUM_CONSTANT or kind in _DECLARED_KINDS:
            name = kid.child_by_field_id(_F_NAME)
            if name is not None:
                text = r.text[name.start_byte : name.end_byte]
                r.fields[text] = f"{path}.{text}"


def _component_fields(r: _Reader, n: Node, components: tuple[Param, ...]) -> list[ClassField]:
    """The fields of a record."""
    nodes = [part for part in n.named_children if part.kind_id == _PARAMETER or part.kind_id == _SPREAD]
    found = []
    for component, node in zip(components, nodes, strict=True):
        made = component.type
        if component.kind == "*" and made is not None:
            made = Type("...", (made,), "variadic")
        end = node.end_byte
        at = end - len(component.name.encode("utf-8", "replace"))
        found.append(ClassField(component.name, at, end, made, decorators=component.decorators, is_final=True))
    return found


def _fields(r: _Reader, n: Node, d: int, static: bool, out: list[ClassField]) -> None:
    words, annotations = frozenset(), ()  # type: frozenset[str], tuple[Expr, ...]
    made: Type | None = None
    for part in n.named_children:
        kind = part.kind_id
        if kind == _DECLARATOR:
            name, kind_of, value = _declarator(r, part, part.named_children, made, d)
            if name is not None:
                text = r.text[name.start_byte : name.end_byte]
                is_static = static or "static" in words
                final = static or "final" in words
                at = name.start_byte
                out.append(ClassField(text, at, part.end_byte, kind_of, value, "", False, annotations, is_static, final))
        elif kind == _MODIFIERS:
            words, annotations = _modifiers(r, part)
        elif kind in _TYPE_KINDS:
            made = type_of(r, part, 0)


def _declarator(r: _Reader, n: Node, kids: list[Node], made: Type | None, d: int) -> tuple[Node | None, Type | None, Expr | None]:
    """Name, type and value of `x[] = v`, of which `kids` are the named children."""
    name: Node | None
    value: Node | None
    if len(kids) == 2 and kids[1].kind_id != _DIMENSIONS and kids[1].kind_id not in _COMMENTS:
        name, value = kids
    elif len(kids) == 1:
        name, value = kids[0], None
    else:
        name = n.child_by_field_id(_F_NAME)
        value = n.child_by_field_id(_F_VALUE)
        if made is not None:
            made = _array_of(made, _dimension_count(r, n.child_by_field_id(_F_DIMENSIONS)))
    if name is None:
        return None, made, None
    if value is None:
        return name, made, None
    if value.kind_id == _ARRAY_INITIALIZER:
        return name, made, _array_items(r, value, d, made)
    return name, made, _value(r, value, d)


def _enum_constant(r: _Reader, n: Node, d: int, owner: str, path: str) -> ClassField:
    name: Node | None = None
    args: tuple[Arg, ...] = ()
    annotations: tuple[Expr, ...] = ()
    made = path
    at = n.start_byte
    for part in n.named_children:
        kind = part.kind_id
        if kind == _IDENTIFIER:
            name = part
        elif kind == _ARGUMENTS:
            args = _args(r, part.named_children, d)
        elif kind == _CLASS_BODY:
            made = _anonymous_class(r, part, d, Ref(at, at, path), at)
        elif kind == _MODIFIERS:
            _, annotations = _modifiers(r, part)
    r.calls.add(made)
    init = Call(at, n.end_byte, Ref(at, at if name is None else name.end_byte, made), args)
    text = "" if name is None else r.text[name.start_byte : name.end_byte]
    return ClassField(text, at, n.end_byte, Type(owner), init, "", False, annotations, True, True)


def _anonymous_class(r: _Reader, body: Node, d: int, base: Expr, at: int) -> str:
    """Reads the body of an anonymous class; the name by which it is found."""
    r.anonymous += 1
    name = f"<anonymous{r.anonymous}>"
    nested = r.in_class >= 0
    path = f"{r.class_path}.{name}" if nested else name
    index = _class_body(r, body, d + 1, "class", name, path, at, (base,), (), body)
    if not nested:
        r.hoisted.append(Def(at, body.end_byte, "class", index, name))
    return path


# ---------------------------------------------------------------- functions

_FunctionKind = Literal["method", "lambda"]


def _function(
    r: _Reader,
    n: Node,
    d: int,
    index: int,
    name: str,
    kind: _FunctionKind,
    name_at: int,
    owner: int,
    params: tuple[Param, ...],
    body: Node | None,
    write: Callable[[list[Stmt]], None] | None = None,
    returns: tuple[Type, ...] = (),
    decorators: tuple[Expr, ...] = (),
    words: frozenset[str] = frozenset(),
    is_abstract: bool = False,
) -> None:
    """Reads a function's body, with `write` where it is no block; the enclosing function's collections are kept aside meanwhile."""
    parent = r.function
    calls: set[str] = set()
    values: set[str] = set()
    writes: set[str] = set()
    qual = f"{r.qual}.{name}" if r.qual else name
    if body is not None or write is not None:
        outer = (r.calls, r.values, r.writes, r.function, r.qual, r.lambdas, r.anonymous, r.in_class, r.hoisted, r.sink, r.label)
        r.calls = calls
        r.values = values
        r.writes = writes
        r.function = index
        r.qual = qual
        r.lambdas = 0
        r.anonymous = 0
        r.in_class = -1
        r.hoisted = []
        r.sink = None
        r.label = None
        mark = len(r.declared)
        for param in params:
            _declare(r, param.name)
        block: list[Stmt] = []
        if write is not None:
            write(block)
        elif body is not None:
            _into(r, body, d, block)
        _undeclare(r, mark)
        if r.hoisted:
            block[:0] = r.hoisted
        r.calls, r.values, r.writes, r.function, r.qual, r.lambdas, r.anonymous, r.in_class, r.hoisted, r.sink, r.label = outer
        if block:
            r.bodies[index] = encode_block(tuple(block))
    r.functions[index] = Function(
        name,
        qual,
        kind,
        n.start_byte,
        n.end_byte,
        name_at,
        params,
        returns,
        (),
        decorators,
        owner,
        parent,
        is_static="static" in words,
        is_abstract=is_abstract,
        calls=tuple(sorted(calls)) if calls else (),
        values=tuple(sorted(values)) if values else (),
        writes=tuple(sorted(writes)) if writes else (),
        is_locked="synchronized" in words,
        is_private="private" in words,
    )


def _declare(r: _Reader, name: str) -> None:
    if name not in r.locals:
        r.locals.add(name)
        r.declared.append(name)


def _undeclare(r: _Reader, mark: int) -> None:
    declared = r.declared
    while len(declared) > mark:
        r.locals.discard(declared.pop())


def _parameters(r: _Reader, n: Node) -> tuple[Param, ...]:
    """Parameters, or components of a record."""
    return parameters_of(r, n, _new_parameters)


def _new_parameters(r: _Reader, n: Node) -> tuple[Param, ...]:
    found = []
    for part in n.named_children:
        kind = part.kind_id
        if kind == _PARAMETER:
            found.append(_parameter(r, part, "pos"))
        elif kind == _SPREAD:
            found.append(_parameter(r, part, "*"))
    return tuple(found)


def _parameter(r: _Reader, n: Node, form: Literal["pos", "*"]) -> Param:
    made: Type | None = None
    name = ""
    annotations: tuple[Expr, ...] = ()
    dimensions = 0
    at = n.start_byte
    for part in n.named_children:
        kind = part.kind_id
        if kind == _IDENTIFIER:
            at = part.start_byte
            name = r.text[at : part.end_byte]
        elif kind in _TYPE_KINDS:
            made = type_of(r, part, 0)
        elif kind == _MODIFIERS:
            _, annotations = _modifiers(r, part)
        elif kind == _DECLARATOR:
            inner = part.child_by_field_id(_F_NAME)
            if inner is not None:
                at = inner.start_byte
                name = r.text[at : inner.end_byte]
        elif kind == _DIMENSIONS:
            dimensions = _dimension_count(r, part)
    if dimensions and made is not None:
        made = _array_of(made, dimensions)
    return Param(name, form, made, None, annotations)


def _method(r: _Reader, n: Node, d: int, owner: int, out: list[int]) -> None:
    """A method, or an element of an annotation type, whose default it returns."""
    name: Node | None = None
    body: Node | None = None
    default: Node | None = None
    made: Type | None = None
    words: frozenset[str] = frozenset()
    annotations: tuple[Expr, ...] = ()
    params: tuple[Param, ...] = ()
    dimensions = 0
    is_element = n.kind_id == _ELEMENT
    for part in n.named_children:
        kind = part.kind_id
        if kind == _MODIFIERS:
            words, annotations = _modifiers(r, part)
        elif kind == _IDENTIFIER and name is None:
            name = part
        elif kind == _PARAMETERS:
            params = _parameters(r, part)
        elif kind == _BLOCK:
            body = part
        elif kind in _TYPE_KINDS and name is None:
            made = type_of(r, part, 0)
        elif kind == _DIMENSIONS:
            dimensions = _dimension_count(r, part)
        elif is_element and kind not in _COMMENTS:
            default = part
    if name is None:
        return
    index = reserve(r)
    out.append(index)
    if "static" not in words:
        params = _SELF + params
    if made is not None and dimensions:
        made = _array_of(made, dimensions)
    returns = () if made is None or made.name == "void" else (made,)
    at = name.start_byte
    write: Callable[[list[Stmt]], None] | None = None
    if default is not None and body is None:
        write = lambda block: block.append(Return(default.start_byte, default.end_byte, _element_value(r, default, d + 1)))
    is_abstract = body is None and write is None and "native" not in words
    text = r.text[at : name.end_byte]
    _function(r, n, d, index, text, "method", at, owner, params, body, write, returns, annotations, words, is_abstract)


def _constructor(r: _Reader, n: Node, d: int, owner: int, out: list[int]) -> None:
    words, annotations = _modifiers(r, _modifiers_of(n))
    name = n.child_by_field_id(_F_NAME)
    parameters = n.child_by_field_id(_F_PARAMETERS)
    body = n.child_by_field_id(_F_BODY)
    params = _SELF if parameters is None else _SELF + _parameters(r, parameters)
    index = reserve(r)
    out.append(index)
    at = n.start_byte if name is None else name.start_byte
    _function(r, n, d, index, "__init__", "method", at, owner, params, body, None, (), annotations, words)


def _compact(r: _Reader, n: Node, d: int, owner: int, components: tuple[Param, ...]) -> int:
    """The constructor of a record without its parameters: what it leaves in them goes into the fields at its end."""
    words, annotations = _modifiers(r, _modifiers_of(n))
    name = n.child_by_field_id(_F_NAME)
    body = n.child_by_field_id(_F_BODY)
    index = reserve(r)
    at = n.start_byte if name is None else name.start_byte
    end = n.end_byte

    def write(out: list[Stmt]) -> None:
        if body is not None:
            _into(r, body, d, out)
        for component in components:
            r.writes.add(component.name)
            r.values.add(component.name)
            field = Ref(end, end, "this." + component.name)
            out.append(Assign(end, end, (field,), "", Ref(end, end, component.name)))

    _function(r, n, d, index, "__init__", "method", at, owner, _SELF + components, None, write, (), annotations, words)
    return index


def _initialiser(r: _Reader, n: Node, d: int, owner: int, number: int) -> int:
    static = n.kind_id == _STATIC
    body = _child(n, _BLOCK) if static else n
    index = reserve(r)
    name = f"<static{number}>" if static else f"<init{number}>"
    words = frozenset(("static",)) if static else frozenset()
    _function(r, n, d, index, name, "method", n.start_byte, owner, () if static else _SELF, body, words=words)
    return index


def _child(n: Node, kind: int) -> Node | None:
    for kid in n.named_children:
        if kid.kind_id == kind:
            return kid
    return None


_MEMBERS: dict[int, Callable[[_Reader, Node, int, int, list[int]], None]] = {
    _METHOD: _method,
    _ELEMENT: _method,
    _CONSTRUCTOR: _constructor,
}

# ---------------------------------------------------------------- literals

_ESCAPE = re.compile(r"\\(?:u+([0-9a-fA-F]{4})|([0-3][0-7]{0,2}|[4-7][0-7]?)|\r?\n|(.))", re.DOTALL)
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "s": " "}


def _resolve(match: re.Match[str]) -> str:
    """The text of one escape."""
    if match[1]:
        return chr(int(match[1], 16))
    if match[2]:
        return chr(int(match[2], 8))
    return _SIMPLE.get(match[3], match[3]) if match[3] else ""


def _unescaped(text: str) -> str:
    text = _ESCAPE.sub(_resolve, text)
    # Two halves of a character beyond the first 65,536, and halves without the other.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _string(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    text = r.text[at + 1 : end - 1]
    if text.startswith('""'):
        return Lit(at, end, _text_block(r.data[at + 3 : max(at + 3, end - 3)].decode("utf-8", "replace")))
    if not text.isascii():
        text = r.data[at + 1 : end - 1].decode("utf-8", "replace")
    if "\\" in text:
        text = _unescaped(text)
    return Lit(at, end, text)


def _text_block(raw: str) -> str:
    """The text between three quotes: without its first line's end, common indentation and trailing white space."""
    lines = raw.replace("\r\n", "\n").replace("\r", "\n").split("\n")[1:]
    if not lines:
        return ""
    counted = [line for line in lines[:-1] if line.strip()] + [lines[-1]]
    indent = min(len(line) - len(line.lstrip()) for line in counted)
    if not lines[-1].strip():
        indent = min(indent, len(lines[-1]))
    text = "\n".join(line[indent:].rstrip(" \t\f") for line in lines)
    return _unescaped(text) if "\\" in text else text


def _char(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    text = r.text[at + 1 : end - 1]
    if not text.isascii():
        text = r.data[at + 1 : end - 1].decode("utf-8", "replace")
    return Lit(at, end, _unescaped(text) if "\\" in text else text)


def _int(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    text = r.text[at:end]
    plain = len(text) < 16 and text.isdigit() and (text[0] != "0" or len(text) == 1)
    return Lit(at, end, int(text) if plain else _int_value(text))


def _int_value(text: str) -> int | float:
    """The value of an integer literal; those of other bases wrap to negative ones as in Java."""
    is_long = text[-1:] in ("l", "L")
    digits = text[:-1] if is_long else text
    digits = digits.replace("_", "")
    low = digits[:2].lower()
    try:
        if low == "0x" or low == "0b":
            value = int(digits, 0)
        elif len(digits) > 1 and digits[0] == "0":
            value = int(digits, 8)
        else:
            value = int(digits) if len(digits) < 400 else 1 << 2000
            return value if value < 1 << 63 else float(value) if value < 1 << 1023 else float("inf")
    except ValueError:
        return 0
    bits = 64 if is_long else 32
    if value < 1 << (bits - 1):
        return value
    return value - (1 << bits) if value < 1 << bits else float("inf")


def _float(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    text = r.text[at:end].replace("_", "")
    try:
        if text[:2] in ("0x", "0X"):
            value = float.fromhex(text.rstrip("fFdD") if "p" in text.lower() else text)
        else:
            value = float(text.rstrip("fFdD"))
    except (ValueError, OverflowError):
        value = float("inf")
    return Lit(at, end, value)


# ---------------------------------------------------------------- expressions


def _name(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    text = r.text[at:end]
    if text not in r.locals:
        text = r.fields.get(text, text)
    return Ref(at, end, text) if end > at else Opaque(at, end, ())


def _this(r: _Reader, n: Node, d: int) -> Expr:
    return Ref(n.start_byte, n.end_byte, "this")


def _super(r: _Reader, n: Node, d: int) -> Expr:
    return Ref(n.start_byte, n.end_byte, "super")


def _type_name(r: _Reader, n: Node, d: int) -> Expr:
    return _type_expr(r, type_of(r, n, 0), n.start_byte, n.end_byte)


def _value(r: _Reader, n: Node, d: int) -> Expr:
    """An expression that stands as a value: what it names is recorded."""
    made = _EXPR[n.kind_id](r, n, d)
    if made.__class__ is Ref:
        r.values.add(made.name)
    return made


def _chain(r: _Reader, text: str) -> str:
    """A chain of names, its head written out."""
    head, _, rest = text.partition(".")
    full = r.fields.get(head)
    return text if full is None or head in r.locals else f"{full}.{rest}"


def _field_access(r: _Reader, n: Node, d: int) -> Expr:
    at = n.start_byte
    end = n.end_byte
    text = r.text[at:end]
    # A chain of names is one leaf; digits cannot stand here, so this test is enough.
    if text.replace(".", "").isidentifier():
        return Ref(at, end, _chain(r, text))
    if d > MAX_DEPTH:
        return too_deep(r, n)
    base_node = n.child_by_field_id(_F_OBJECT)
    field = n.child_by_field_id(_F_FIELD)
    if base_node is None or field is None:
        return opaque(r, n, d)
    base = _EXPR[base_node.kind_id](r, base_node, d + 1)
    name = r.text[field.start_byte : field.end_byte]
    if any(kid.kind_id == _SUPER for kid in n.named_children[1:]):
        name = "super." + name
    if base.__class__ is Ref:
        return Ref(at, end, f"{base.name}.{name}")
    return Field(at, end, base, name)


def _call(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    kids = n.named_children
    count = len(kids)
    at = n.start_byte
    end = n.end_byte
    if count == 2 and kids[1].kind_id == _ARGUMENTS:
        name, arguments = kids
        stop = name.end_byte
        text = r.text[at:stop]
        text = r.called.get(text, text)
        r.calls.add(text)
        return Call(at, end, Ref(at, stop, text), _args(r, arguments.named_children, d))
    holder: Node | None
    middle = ""
    if count == 3 and kids[2].kind_id == _ARGUMENTS and kids[1].kind_id == _IDENTIFIER and kids[0].kind_id not in _COMMENTS:
        holder, name, arguments = kids
    else:
        holder = n.child_by_field_id(_F_OBJECT)
        name_node = n.child_by_field_id(_F_NAME)
        arguments_node = n.child_by_field_id(_F_ARGUMENTS)
        if name_node is None or arguments_node is None:
            return opaque(r, n, d)
        name, arguments = name_node, arguments_node
        if holder is not None and any(kid.kind_id == _SUPER and kid.start_byte > at for kid in kids):
            middle = "super."
    stop = name.end_byte
    if holder is None:
        text = r.text[name.start_byte : stop]
        text = r.called.get(text, text)
        r.calls.add(text)
        return Call(at, end, Ref(name.start_byte, stop, text), _args(r, arguments.named_children, d))
    kind = holder.kind_id
    fn: Expr
    if kind in (_IDENTIFIER, _FIELD_ACCESS, _THIS, _SUPER):
        text = r.text[at:stop]
        if text.replace(".", "").isidentifier():
            text = _chain(r, text)
            r.calls.add(text)
            return Call(at, end, Ref(at, stop, text), _args(r, arguments.named_children, d))
    if kind == _INVOCATION:
        # Half a step deeper: a chain of calls nests by two nodes a link, half of what a step may cost; long builders are common.
        r.links += 1
        base = _call(r, holder, d + (r.links & 1))
        r.links -= 1
    else:
        base = _EXPR[kind](r, holder, d + 1)
    text = r.text[name.start_byte : stop]
    if base.__class__ is Ref:
        text = f"{base.name}.{middle}{text}"
        r.calls.add(text)
        fn = Ref(at, stop, text)
    else:
        r.calls.add("." + text)
        fn = Field(at, stop, base, middle + text)
    return Call(at, end, fn, _args(r, arguments.named_children, d))


def _args(r: _Reader, kids: list[Node], d: int) -> tuple[Arg, ...]:
    if not kids:
        return ()
    args = []
    for kid in kids:
        kind = kid.kind_id
        if kind == _IDENTIFIER:
            at = kid.start_byte
            end = kid.end_byte
            text = r.text[at:end]
            if text not in r.locals:
                text = r.fields.get(text, text)
            r.values.add(text)
            args.append(Arg(Ref(at, end, text)))
        elif kind not in _COMMENTS:
            value = _EXPR[kind](r, kid, d + 1)
            if value.__class__ is Ref:
                r.values.add(value.name)
            args.append(Arg(value))
    return tuple(args)


def _new(r: _Reader, n: Node, d: int) -> Expr:
    """`new T(x)`, `new T(x) {…}`, `o.new T(x)`: a call of the class."""
    if d > MAX_DEPTH:
        return too_deep(r, n)
    at = n.start_byte
    type_node: Node | None = None
    arguments: Node | None = None
    body: Node | None = None
    holder: Node | None = None
    for part in n.named_children:
        kind = part.kind_id
        if kind == _ARGUMENTS:
            arguments = part
        elif kind in _TYPE_KINDS:
            type_node = part
        elif kind == _CLASS_BODY:
            body = part
        elif type_node is None and kind not in _COMMENTS and kind not in (_MARKER, _ANNOTATION, _TYPE_ARGUMENTS):
            holder = part
    if type_node is None:
        return opaque(r, n, d)
    made = type_of(r, type_node, 0)
    head, dot, rest = made.name.partition(".")
    name = r.fields.get(head, head) + dot + rest
    args = () if arguments is None else _args(r, arguments.named_children, d)
    fn: Expr = Ref(type_node.start_byte, type_node.end_byte, name)
    if body is not None:
        base = _type_expr(r, made, type_node.start_byte, type_node.end_byte)
        name = _anonymous_class(r, body, d, base, at)
        fn = Ref(type_node.start_byte, type_node.end_byte, name)
    elif holder is not None:
        outer = _EXPR[holder.kind_id](r, holder, d + 1)
        fn = (
            Ref(at, type_node.end_byte, f"{outer.name}.{made.name}")
            if isinstance(outer, Ref)
            else Field(at, type_node.end_byte, outer, made.name)
        )
        name = "." + made.name
    r.calls.add(name)
    return Call(at, n.end_byte, fn, args)


def _new_array(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    at = n.start_byte
    end = n.end_byte
    element = Type("")
    dimensions = 0
    lengths = []
    items: Node | None = None
    for part in n.named_children:
        kind = part.kind_id
        if kind in _TYPE_KINDS:
            element = type_of(r, part, 0)
        elif kind == _DIMENSIONS:
            dimensions += _dimension_count(r, part)
        elif kind == _DIMENSIONS_EXPR:
            dimensions += 1
            inner = solid(r, part)
            if inner:
                lengths.append(Pair(_value(r, inner[-1], d + 1)))
        elif kind == _ARRAY_INITIALIZER:
            items = part
    made = _array_of(element, dimensions)
    if items is not None:
        coll = _array_items(r, items, d + 1, made)
        return Coll(at, end, coll.kind, coll.items, coll.size, made) if isinstance(coll, Coll) else coll
    return New(at, end, made, tuple(lengths))


_INERT = re.compile(
    rb"(?:[\s{},:+\-|^()]++|0[xX][0-9a-fA-F_]++[lL]?|\d[\d._]*+(?:[eE][+-]?\d++)?[lLfFdD]?|\"[^\"\\\n]*+\"|'[^'\\\n]++'"
    rb"|//[^\n]*+|null\b|true\b|false\b)*+"
)
"""Items of an array that name nothing and call nothing: tables of numbers and texts."""


def _array_items(r: _Reader, n: Node, d: int, made: Type | None) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    inner = made.args[0] if made is not None and made.shape == "array" else None
    pairs = []
    size = 0
    kids = n.named_children
    for kid in kids:
        kind = kid.kind_id
        if kind in _COMMENTS:
            continue
        size += 1
        if size == MAX_ITEMS + 1 and _INERT.fullmatch(r.data, kid.start_byte, n.end_byte):
            size = sum(1 for kid in kids if kid.kind_id not in _COMMENTS)
            break
        value = _array_items(r, kid, d + 1, inner) if kind == _ARRAY_INITIALIZER else _value(r, kid, d + 1)
        if size <= MAX_ITEMS:
            pairs.append(Pair(value))
    return Coll(n.start_byte, n.end_byte, "list", tuple(pairs), size, made)


def _array_access(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    base = n.child_by_field_id(_F_ARRAY)
    key = n.child_by_field_id(_F_INDEX)
    if base is None or key is None:
        return opaque(r, n, d)
    made = _EXPR[base.kind_id](r, base, d + 1)
    return Index(n.start_byte, n.end_byte, made, _EXPR[key.kind_id](r, key, d + 1))


def _cast_to(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    kids = solid(r, n)
    if len(kids) < 2 or kids[0].kind_id not in _TYPE_KINDS:
        return opaque(r, n, d)
    return Cast(n.start_byte, n.end_byte, type_of(r, kids[0], 0), _value(r, kids[-1], d + 1))


def _instanceof(r: _Reader, n: Node, d: int) -> Expr:
    """A test of the type; what a pattern binds is assigned in the tested value."""
    if d > MAX_DEPTH:
        return too_deep(r, n)
    left = n.child_by_field_id(_F_LEFT)
    right = n.child_by_field_id(_F_RIGHT)
    pattern = n.child_by_field_id(_F_PATTERN)
    if left is None or (right is None and pattern is None):
        return opaque(r, n, d)
    at = n.start_byte
    end = n.end_byte
    value = _EXPR[left.kind_id](r, left, d + 1)
    if right is None:
        return Opaque(at, end, (value,)) if pattern is None else _matched(r, pattern, value, at, end, d)
    made = type_of(r, right, 0)
    name = n.child_by_field_id(_F_NAME)
    if name is not None:
        value = Let(at, end, _bound(r, name), Cast(at, end, made, value))
    return Is(at, end, value, (made,))


def _bound(r: _Reader, name: Node) -> Expr:
    text = r.text[name.start_byte : name.end_byte]
    _declare(r, text)
    return Ref(name.start_byte, name.end_byte, text)


def _matched(r: _Reader, n: Node, value: Expr, at: int, end: int, d: int) -> Expr:
    """The test that a value matches a pattern of types, with what it binds."""
    if n.kind_id == _PATTERN:
        inner = first_child(r, n)
        return _matched(r, inner, value, at, end, d) if inner is not None else Opaque(at, end, (value,))
    made, target = _pattern(r, n, d)
    if target is not None:
        value = Let(at, end, target, Cast(at, end, made, value))
    return Is(at, end, value, (made,))


def _pattern(r: _Reader, n: Node, d: int) -> tuple[Type, Expr | None]:
    """The type a pattern tests, and the target that its parts are bound to."""
    made = Type("")
    target: Expr | None = None
    if d > MAX_DEPTH:
        too_deep(r, n)
        return made, target
    if n.kind_id == _RECORD_PATTERN:
        parts: list[Pair] = []
        for kid in n.named_children:
            if kid.kind_id == _RECORD_BODY:
                for component in kid.named_children:
                    if component.kind_id not in _COMMENTS:
                        _, part = _pattern(r, component, d + 1)
                        parts.append(Pair(part or Ref(component.start_byte, component.end_byte, "_")))
            elif kid.kind_id == _IDENTIFIER:
                made = Type(r.text[kid.start_byte : kid.end_byte])
            elif kid.kind_id in _TYPES:
                made = type_of(r, kid, 0)
        return made, Coll(n.start_byte, n.end_byte, "tuple", tuple(parts), len(parts)) if parts else None
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == _IDENTIFIER:
            target = _bound(r, kid)
        elif kind in _TYPES:
            made = type_of(r, kid, 0)
        elif kind == _RECORD_PATTERN:
            return _pattern(r, kid, d + 1)
    return made, target


_RECORD_BODY = _id("record_pattern_body")


def _unary(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    operand = n.child_by_field_id(_F_OPERAND)
    if operand is None:
        return opaque(r, n, d)
    at = n.start_byte
    op = r.text[at : at + 1]
    return Un(at, n.end_byte, "not" if op == "!" else op, _EXPR[operand.kind_id](r, operand, d + 1))


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
                second = _EXPR[right.kind_id](r, right, d + 1)
                if op == "+" and (kind == _STRING or right.kind_id == _STRING):
                    return Fmt(n.start_byte, n.end_byte, (first, second))
                return Bin(n.start_byte, n.end_byte, op, first, second)
    node, rights, ops = chain_of(r, n)
    if not ops:
        return opaque(r, n, d)
    if ops[0] == "+":
        text = _concatenation(r, n, node, rights, ops, d)
        if text is not None:
            return text
    return chained(r, n, node, rights, ops, d)


def _concatenation(r: _Reader, n: Node, first: Node, rights: list[Node], ops: list[str], d: int) -> Expr | None:
    """A chain of `+` with a text in it: what stands before the first text is added up, all behind it is a piece."""
    count = 0
    while count < len(ops) and ops[count] == "+":
        count += 1
    if count < len(ops):
        # `a - b + "x"`: a chain of its own below.
        below = rights[count:], ops[count:]
        head = None
    else:
        below = None
        head = first
    nodes = [*reversed(rights[:count])]
    texts = [i for i, node in enumerate(nodes) if node.kind_id == _STRING]
    if head is not None and head.kind_id == _STRING:
        start = -1
    elif texts:
        start = texts[0]
    else:
        return None
    if below is None:
        made = operand_of(r, first, d + 1)
        at = first.start_byte
    else:
        inner_rights, inner_ops = below
        at = first.start_byte
        if len(inner_ops) > MAX_CHAIN:
            made = long_chain(r, n, first, inner_rights, inner_ops, d + 1)
        else:
            made = operand_of(r, first, d + 1)
            for position in range(len(inner_ops) - 1, -1, -1):
                right = inner_rights[position]
                made = Bin(at, right.end_byte, inner_ops[position], made, _EXPR[right.kind_id](r, right, d + 2))
    parts = [made]
    for position, node in enumerate(nodes):
        value = _EXPR[node.kind_id](r, node, d + 1)
        if position < start and len(parts) == 1 and position < MAX_CHAIN:
            parts[0] = Bin(at, node.end_byte, "+", parts[0], value)
        else:
            parts.append(value)
    return Fmt(n.start_byte, n.end_byte, tuple(parts))


def _ternary(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    kids = solid(r, n)
    if len(kids) != 3:
        return opaque(r, n, d)
    test = _EXPR[kids[0].kind_id](r, kids[0], d + 1)
    return Cond(n.start_byte, n.end_byte, test, _value(r, kids[1], d + 1), _value(r, kids[2], d + 1))


def _let(r: _Reader, n: Node, d: int) -> Expr:
    """An assignment as a value."""
    if d > MAX_DEPTH:
        return too_deep(r, n)
    left = n.child_by_field_id(_F_LEFT)
    right = n.child_by_field_id(_F_RIGHT)
    operator = n.child_by_field_id(_F_OPERATOR)
    if left is None or right is None or operator is None:
        return opaque(r, n, d)
    at = n.start_byte
    end = n.end_byte
    value = _value(r, right, d + 1)
    target = _target(r, left, d + 1)
    op = operator.type[:-1]
    return Let(at, end, target, Bin(at, end, op, _again(target), value) if op else value)


def _stepped(r: _Reader, n: Node, d: int) -> Expr:
    """`x++` as a value, which is that before the step; for a bound the difference is none."""
    if d > MAX_DEPTH:
        return too_deep(r, n)
    operand = first_child(r, n)
    if operand is None:
        return leaf(r, n, d)
    at = n.start_byte
    end = n.end_byte
    target = _target(r, operand, d + 1)
    return Let(at, end, target, Bin(at, end, _step_sign(r, n), _again(target), Lit(at, at, 1)))


def _again(target: Expr) -> Expr:
    """The value of a target beside it. Of what is more than names it is not known: each level of `- -- -- x` would double it."""
    inner = target
    while not isinstance(inner, Ref):
        if not (isinstance(inner, Field) or (isinstance(inner, Index) and isinstance(inner.key, Ref | Lit))):
            return Opaque(target.at, target.end, ())
        inner = inner.base
    return target


def _step_sign(r: _Reader, n: Node) -> str:
    start = r.data[n.start_byte : n.start_byte + 2]
    return "+" if start == b"++" else "-" if start == b"--" else r.text[n.end_byte - 1 : n.end_byte]


def _target(r: _Reader, n: Node, d: int) -> Expr:
    made = _EXPR[n.kind_id](r, n, d)
    if made.__class__ is Ref:
        name = made.name
        if name not in r.locals:
            r.writes.add(name.rpartition(".")[2])
    elif made.__class__ is Field:
        r.writes.add(made.name)
    elif made.__class__ is Index:
        # `table[key] = f`: the header has to tell who may store into it
        base: Expr = made
        while isinstance(base, Index):
            base = base.base
        if isinstance(base, Ref):
            r.values.add(base.name)
    return made


def _lambda(r: _Reader, n: Node, d: int) -> Expr:
    if d > MAX_DEPTH:
        return too_deep(r, n)
    parameters = n.child_by_field_id(_F_PARAMETERS)
    body = n.child_by_field_id(_F_BODY)
    params: tuple[Param, ...] = ()
    if parameters is not None:
        kind = parameters.kind_id
        if kind == _PARAMETERS:
            params = _parameters(r, parameters)
        elif kind == _INFERRED:
            params = tuple(Param(r.text[kid.start_byte : kid.end_byte], "pos") for kid in solid(r, parameters))
        else:
            params = (Param(r.text[parameters.start_byte : parameters.end_byte], "pos"),)
    if body is None:
        return opaque(r, n, d)
    if body.kind_id == _BLOCK:
        return _fn(r, n, d, params, body)
    only = body
    return _fn(r, n, d, params, None, lambda out: _return_of(r, only, only, d + 1, out))


def _fn(
    r: _Reader, n: Node, d: int, params: tuple[Param, ...], body: Node | None, write: Callable[[list[Stmt]], None] | None = None
) -> Fn:
    r.lambdas += 1
    name = f"<lambda{r.lambdas}>"
    index = reserve(r)
    at = n.start_byte
    # A lambda of a field has the class's `this`, which no function around it gives.
    owner = r.in_class
    _function(r, n, d + 1, index, name, "lambda", at, owner, params, body, write)
    return Fn(at, n.end_byte, index)


def _method_reference(r: _Reader, n: Node, d: int) -> Expr:
    """`A::b`, `x.y::b`, `A::new`."""
    if d > MAX_DEPTH:
        return too_deep(r, n)
    kids = [kid for kid in solid(r, n) if kid.kind_id != _TYPE_ARGUMENTS]
    at = n.start_byte
    end = n.end_byte
    if not kids:
        return leaf(r, n, d)
    name = "new"
    if len(kids) > 1 and kids[-1].kind_id == _IDENTIFIER:
        last = kids[-1]
        name = r.text[last.start_byte : last.end_byte]
    holder = kids[0]
    base: Expr
    if holder.kind_id in _TYPE_KINDS:
        made = type_of(r, holder, 0)
        if made.shape == "array":
            base = New(holder.start_byte, holder.end_byte, made, ())
        else:
            base = _type_expr(r, Type(made.name), holder.start_byte, holder.end_byte)
    else:
        base = _EXPR[holder.kind_id](r, holder, d + 1)
    if len(kids) == 3 and kids[1].kind_id == _SUPER and base.__class__ is Ref:
        base = Ref(base.at, kids[1].end_byte, base.name + ".super")
    if base.__class__ is Ref:
        r.values.add(base.name if name == "new" else f"{base.name}.{name}")
    else:
        r.values.add("." + name)
    return Field(at, end, base, name)


def _class_literal(r: _Reader, n: Node, d: int) -> Expr:
    kid = first_child(r, n)
    at = n.start_byte
    end = n.end_byte
    if kid is None:
        return Opaque(at, end, ())
    made = type_of(r, kid, 0)
    head, dot, rest = made.name.partition(".")
    return Ref(at, end, r.fields.get(head, head) + dot + rest + ".class")


def _switch_value(r: _Reader, n: Node, d: int) -> Expr:
    """A switch inside an expression: a function called in place."""
    if d > MAX_DEPTH:
        return too_deep(r, n)
    fn = _fn(r, n, d, (), None, lambda out: _switch(r, n, d + 1, out, Return))
    return Call(n.start_byte, n.end_byte, fn, ())


_GRAMMAR.handle_expressions(
    ("identifier", _name),
    ("this", _this),
    ("super", _super),
    ("type_identifier", _type_name),
    ("scoped_type_identifier", _type_name),
    ("generic_type", _type_name),
    ("null_literal", null),
    ("true", true),
    ("false", false),
    ("decimal_integer_literal", _int),
    ("hex_integer_literal", _int),
    ("octal_integer_literal", _int),
    ("binary_integer_literal", _int),
    ("decimal_floating_point_literal", _float),
    ("hex_floating_point_literal", _float),
    ("character_literal", _char),
    ("string_literal", _string),
    ("parenthesized_expression", paren),
    ("field_access", _field_access),
    ("method_invocation", _call),
    ("object_creation_expression", _new),
    ("array_creation_expression", _new_array),
    ("array_access", _array_access),
    ("cast_expression", _cast_to),
    ("instanceof_expression", _instanceof),
    ("unary_expression", _unary),
    ("binary_expression", _binary),
    ("ternary_expression", _ternary),
    ("assignment_expression", _let),
    ("update_expression", _stepped),
    ("lambda_expression", _lambda),
    ("method_reference", _method_reference),
    ("class_literal", _class_literal),
    ("switch_expression", _switch_value),
    ("marker_annotation", _annotation),
    ("annotation", _annotation),
)
_EXPR[_ARRAY_INITIALIZER] = lambda r, n, d: _array_items(r, n, d, None)

# ---------------------------------------------------------------- statements


def _block(r: _Reader, n: Node, d: int) -> Block:
    """The statements of a block, or of a single statement in its place, with a scope of their own."""
    out: list[Stmt] = []
    hoisted = r.hoisted
    keeps = bool(hoisted)
    if keeps:
        r.hoisted = []
    if n.kind_id == _BLOCK:
        _into(r, n, d, out)
    else:
        mark = len(r.declared)
        _statement(r, n, d, out)
        _undeclare(r, mark)
    if keeps:
        r.hoisted = hoisted
    return tuple(out)


def _into(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    """The statements of a block, appended to `out`."""
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    mark = len(r.declared)
    for part in n.named_children:
        before = len(out)
        _STMT[part.kind_id](r, part, d, out)
        if r.hoisted:
            out[before:before] = r.hoisted
            r.hoisted = []
    if len(r.declared) > mark:
        _undeclare(r, mark)


def _statement(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    before = len(out)
    _STMT[n.kind_id](r, n, d, out)
    if r.hoisted:
        out[before:before] = r.hoisted
        r.hoisted = []


def _expression(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    kids = n.named_children
    node = kids[0] if len(kids) == 1 else first_child(r, n)
    if node is None:
        return
    if node.kind_id == _INVOCATION:
        out.append(Do(n.start_byte, n.end_byte, _call(r, node, d)))
    else:
        _effect(r, n, node, d, out)


def _effect(r: _Reader, n: Node, node: Node, d: int, out: list[Stmt]) -> None:
    """An expression for its effect; assignments are statements."""
    kind = node.kind_id
    if kind == _ASSIGNMENT:
        _assignment(r, n, node, d, out)
    elif kind == _UPDATE:
        operand = first_child(r, node)
        if operand is not None:
            one = Lit(node.end_byte - 2, node.end_byte, 1)
            out.append(Assign(n.start_byte, n.end_byte, (_target(r, operand, d),), _step_sign(r, node), one))
    elif kind == _SWITCH:
        _switch(r, node, d, out, None)
    else:
        out.append(Do(n.start_byte, n.end_byte, _EXPR[kind](r, node, d)))


def _assignment(r: _Reader, n: Node, node: Node, d: int, out: list[Stmt]) -> None:
    targets: list[Expr] = []
    op = ""
    at = n.start_byte
    end = n.end_byte
    right: Node | None = node
    lefts: list[Node] = []
    while right is not None and right.kind_id == _ASSIGNMENT and len(lefts) < MAX_DEPTH:
        left = right.child_by_field_id(_F_LEFT)
        operator = right.child_by_field_id(_F_OPERATOR)
        if left is None or operator is None:
            break
        written = operator.type
        if written != "=":
            if lefts:
                break
            op = written[:-1]
        lefts.append(left)
        right = right.child_by_field_id(_F_RIGHT)
        if op:
            break
    if right is None or not lefts:
        out.append(Do(at, end, opaque(r, node, d)))
        return
    if right.kind_id == _SWITCH and not op:
        targets = [_target(r, left, d) for left in lefts]
        _switch(r, right, d, out, lambda at, end, value: Assign(at, end, tuple(targets), "", value))
        return
    value = _value(r, right, d)
    targets = [_target(r, left, d) for left in lefts]
    out.append(Assign(at, end, tuple(targets), op, value))


def _inner_block(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    _into(r, n, d + 1, out)


def _local(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    made: Type | None = None
    at = n.start_byte
    for part in n.named_children:
        kind = part.kind_id
        if kind == _DECLARATOR:
            kids = part.named_children
            if kids[-1].kind_id == _SWITCH:
                target = _bound(r, kids[0])
                if made is not None:
                    out.append(Assign(at, kids[0].end_byte, (target,), "", None, True, made))
                _switch(r, kids[-1], d, out, _assigning(target))
                continue
            name, kind_of, value = _declarator(r, part, kids, made, d)
            if name is not None:
                end = n.end_byte if value is not None else part.end_byte
                out.append(Assign(at, end, (_bound(r, name),), "", value, True, kind_of))
        elif kind in _TYPES:
            made = type_of(r, part, 0)
            if made.name == "var":
                made = None


def _assigning(target: Expr) -> _Sink:
    return lambda at, end, value: Assign(at, end, (target,), "", value)


def _return(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    node = first_child(r, n)
    if node is None:
        out.append(Return(n.start_byte, n.end_byte, None))
    else:
        _return_of(r, n, node, d, out)


def _return_of(r: _Reader, n: Node, node: Node, d: int, out: list[Stmt]) -> None:
    if node.kind_id == _SWITCH:
        _switch(r, node, d, out, Return)
    else:
        out.append(Return(n.start_byte, n.end_byte, _value(r, node, d)))


def _yield(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    node = first_child(r, n)
    if node is not None:
        value = _value(r, node, d)
        out.append(Do(n.start_byte, n.end_byte, value) if r.sink is None else r.sink(n.start_byte, n.end_byte, value))


def _throw(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    node = first_child(r, n)
    out.append(Raise(n.start_byte, n.end_byte, None if node is None else _value(r, node, d), None))


def _labeled(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    kids = solid(r, n)
    if len(kids) != 2:
        return _stray_parts(r, n, d, out)
    label, body = kids
    if body.kind_id in _LOOPS:
        r.label = r.text[label.start_byte : label.end_byte]
    return _statement(r, body, d + 1, out)


def _stray_parts(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    for kid in n.named_children:
        _statement(r, kid, d + 1, out)


def _if(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    kids = n.named_children
    otherwise: Node | None = None
    condition: Node | None
    then: Node | None
    if len(kids) == 2 and kids[0].kind_id == _PAREN and kids[1].kind_id == _BLOCK:
        condition, then = kids
    else:
        condition = n.child_by_field_id(_F_CONDITION)
        then = n.child_by_field_id(_F_CONSEQUENCE)
        otherwise = n.child_by_field_id(_F_ALTERNATIVE)
    test = Opaque(n.start_byte, n.start_byte, ()) if condition is None else paren(r, condition, d + 1)
    block = () if then is None else _block(r, then, d + 1)
    orelse: Block = () if otherwise is None else _block(r, otherwise, d + 1)
    out.append(If(n.start_byte, n.end_byte, test, block, orelse))


def _test_of(r: _Reader, n: Node | None, d: int) -> tuple[Literal["ever", "while"], Expr | None]:
    """What a loop goes on for; none where it is literally true."""
    if n is None:
        return "ever", None
    test = _EXPR[n.kind_id](r, n, d)
    return ("ever", test) if test.__class__ is Lit and test.value is True else ("while", test)


def _while(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    """`while`, and `do`, whose test is written behind its body."""
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    label, r.label = r.label, None
    mark = len(r.declared)
    form, test = _test_of(r, n.child_by_field_id(_F_CONDITION), d + 1)
    body = n.child_by_field_id(_F_BODY)
    block = () if body is None else _block(r, body, d + 1)
    _undeclare(r, mark)
    out.append(Loop(n.start_byte, n.end_byte, form, test, None, None, None, block, (), False, label))


def _for(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    label, r.label = r.label, None
    mark = len(r.declared)
    for init in n.children_by_field_id(_F_INIT) if n.child_by_field_id(_F_INIT) is not None else ():
        if init.kind_id == _LOCAL:
            _local(r, init, d, out)
        else:
            _effect(r, init, init, d, out)
    form: Literal["ever", "while", "count"]
    form, test = _test_of(r, n.child_by_field_id(_F_CONDITION), d + 1)
    body = n.child_by_field_id(_F_BODY)
    block = () if body is None else _block(r, body, d + 1)
    steps: list[Stmt] = []
    for update in n.children_by_field_id(_F_UPDATE) if n.child_by_field_id(_F_UPDATE) is not None else ():
        _effect(r, update, update, d, steps)
    _undeclare(r, mark)
    if form == "while":
        form = "count"
    step = steps[0] if steps else None
    out.append(Loop(n.start_byte, n.end_byte, form, test, None, None, step, (*block, *steps[1:]), (), False, label))


def _for_each(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    label, r.label = r.label, None
    items_node = n.child_by_field_id(_F_VALUE)
    name = n.child_by_field_id(_F_NAME)
    body = n.child_by_field_id(_F_BODY)
    made = n.child_by_field_id(_F_TYPE)
    items = None if items_node is None else _value(r, items_node, d + 1)
    mark = len(r.declared)
    target = None if name is None else _bound(r, name)
    block: Block = () if body is None else _block(r, body, d + 1)
    _undeclare(r, mark)
    if target is not None and made is not None:
        kind = _array_of(type_of(r, made, 0), _dimension_count(r, n.child_by_field_id(_F_DIMENSIONS)))
        if kind.name != "var":
            # The declared type of the variable, for those who ask what its methods are.
            out.append(Assign(made.start_byte, target.end, (target,), "", None, True, kind))
    out.append(Loop(n.start_byte, n.end_byte, "each", None, target, items, None, block, (), False, label))


def _synchronized(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    lock = _child(n, _PAREN)
    body = n.child_by_field_id(_F_BODY)
    items = () if lock is None else (Item(paren(r, lock, d + 1), None),)
    block = () if body is None else _block(r, body, d + 1)
    out.append(With(n.start_byte, n.end_byte, items, block))


def _try(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    body: Block = ()
    handlers = []
    final: Block = ()
    items: list[Item] = []
    with_at = n.start_byte
    has_with = False
    mark = len(r.declared)
    for part in n.named_children:
        kind = part.kind_id
        if kind == _RESOURCES:
            has_with = True
            with_at = part.start_byte
            items = _resources(r, part, d + 1, out)
        elif kind == _BLOCK:
            body = _block(r, part, d + 1)
            if has_with:
                body = (With(with_at, part.end_byte, tuple(items), body),)
            _undeclare(r, mark)
        elif kind == _CATCH:
            handlers.append(_handler(r, part, d + 1))
        elif kind == _FINALLY:
            inner = _child(part, _BLOCK)
            if inner is not None:
                final = _block(r, inner, d + 1)
    if has_with and not handlers and not final:
        out.extend(body)
    else:
        out.append(Try(n.start_byte, n.end_byte, body, tuple(handlers), (), final))


def _resources(r: _Reader, n: Node, d: int, out: list[Stmt]) -> list[Item]:
    """What is closed at the end; the written type of a variable stands before, as a declaration."""
    items = []
    for part in n.named_children:
        if part.kind_id != _RESOURCE:
            continue
        name = part.child_by_field_id(_F_NAME)
        value = part.child_by_field_id(_F_VALUE)
        if name is None or value is None:
            only = first_child(r, part)
            if only is not None:
                items.append(Item(_value(r, only, d), None))
            continue
        made = part.child_by_field_id(_F_TYPE)
        given = _value(r, value, d)
        target = _bound(r, name)
        if made is not None:
            kind = type_of(r, made, 0)
            if kind.name != "var":
                out.append(Assign(part.start_byte, target.end, (target,), "", None, True, kind))
        items.append(Item(given, target))
    return items


def _handler(r: _Reader, n: Node, d: int) -> Handler:
    types: list[Expr] = []
    name: str | None = None
    body: Block = ()
    mark = len(r.declared)
    for part in n.named_children:
        if part.kind_id == _BLOCK:
            body = _block(r, part, d)
        elif part.kind_id not in _COMMENTS:
            for kid in part.named_children:
                if kid.kind_id == _IDENTIFIER:
                    name = r.text[kid.start_byte : kid.end_byte]
                    _declare(r, name)
                elif kid.kind_id == _CATCH_TYPE:
                    types.extend(
                        _type_expr(r, type_of(r, one, 0), one.start_byte, one.end_byte)
                        for one in kid.named_children
                        if one.kind_id in _TYPES
                    )
    _undeclare(r, mark)
    return Handler(n.start_byte, n.end_byte, tuple(types), name, body)


_CATCH_TYPE = _id("catch_type")


def _switch_statement(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    _switch(r, n, d, out, None)


def _switch(r: _Reader, n: Node, d: int, out: list[Stmt], sink: _Sink | None) -> None:
    """A switch; what its arms give goes through `sink`, nowhere for a statement.

    Ways do not fall through unless they end with a jump that says so; the `break` at the end of one is left out.
    """
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    condition = n.child_by_field_id(_F_CONDITION)
    body = n.child_by_field_id(_F_BODY)
    subject: Expr = Opaque(n.start_byte, n.start_byte, ()) if condition is None else paren(r, condition, d + 1)
    # The subject is evaluated once; repeating it in each case would repeat its calls.
    tested = subject if subject.__class__ is Ref else Opaque(subject.at, subject.end, ())
    outer_sink = r.sink
    outer_hoisted = r.hoisted
    if sink is not None:
        r.sink = sink
    r.hoisted = []
    mark = len(r.declared)
    cases: list[Case] = []
    tests: list[Expr] = []
    is_default = False
    for kid in () if body is None else body.named_children:
        kind = kid.kind_id
        if kind == _SWITCH_RULE:
            inner = len(r.declared)
            found, default = _labels(r, kid, tested, d + 1)
            block: list[Stmt] = []
            for part in kid.named_children:
                part_kind = part.kind_id
                if part_kind == _EXPRESSION and sink is not None:
                    value = first_child(r, part)
                    if value is not None:
                        block.append(sink(part.start_byte, part.end_byte, _value(r, value, d + 1)))
                elif part_kind != _SWITCH_LABEL:
                    _statement(r, part, d + 1, block)
            if r.hoisted:
                block[:0] = r.hoisted
                r.hoisted = []
            _undeclare(r, inner)
            cases.append(Case(() if default else tuple(found), tuple(block)))
        elif kind == _SWITCH_GROUP:
            found, default = _labels(r, kid, tested, d + 1)
            tests.extend(found)
            is_default = is_default or default
            statements = [part for part in kid.named_children if part.kind_id != _SWITCH_LABEL and part.kind_id not in _COMMENTS]
            if not statements:
                continue
            block = []
            for part in statements:
                _statement(r, part, d + 1, block)
            cases.append(Case(() if is_default else tuple(tests), _ended(block, kid.end_byte)))
            tests = []
            is_default = False
    if tests or is_default:
        cases.append(Case(() if is_default else tuple(tests), ()))
    if cases:
        # The last way falls through to nothing.
        last = cases[-1].body
        if last and isinstance(last[-1], Jump) and last[-1].kind == "fallthrough":
            cases[-1] = Case(cases[-1].tests, last[:-1])
    _undeclare(r, mark)
    r.sink = outer_sink
    r.hoisted = outer_hoisted
    out.append(Switch(n.start_byte, n.end_byte, subject, tuple(cases)))


def _ended(block: list[Stmt], end: int) -> Block:
    """A way of a switch without the `break` at its end; with a `fallthrough` where it has neither that nor another exit."""
    if block:
        last = block[-1]
        if isinstance(last, Jump):
            if last.kind == "break" and last.label is None:
                block.pop()
            return tuple(block)
        if not _leaves(last):
            block.append(Jump(end, end, "fallthrough"))
    return tuple(block)


def _leaves(stmt: Stmt) -> bool:
    """Whether nothing behind a statement is ever reached."""
    if isinstance(stmt, Return | Raise | Jump):
        return True
    if isinstance(stmt, If):
        return bool(stmt.then) and bool(stmt.orelse) and _leaves(stmt.then[-1]) and _leaves(stmt.orelse[-1])
    if isinstance(stmt, Try):
        if stmt.final and _leaves(stmt.final[-1]):
            return True
        blocks = [stmt.body, *(handler.body for handler in stmt.handlers)]
        return all(block and _leaves(block[-1]) for block in blocks)
    if isinstance(stmt, With):
        return bool(stmt.body) and _leaves(stmt.body[-1])
    return isinstance(stmt, Loop) and stmt.form == "ever"


def _labels(r: _Reader, n: Node, subject: Expr, d: int) -> tuple[list[Expr], bool]:
    """Tests of a way, and whether it is the default."""
    tests: list[Expr] = []
    default = False
    for label in n.named_children:
        if label.kind_id != _SWITCH_LABEL:
            continue
        kids = solid(r, label)
        if not kids:
            default = True
        for kid in kids:
            kind = kid.kind_id
            if kind == _GUARD:
                inner = first_child(r, kid)
                if inner is not None and tests:
                    guard = _EXPR[inner.kind_id](r, inner, d)
                    tests[-1] = Bin(tests[-1].at, kid.end_byte, "and", tests[-1], guard)
            elif kind in (_PATTERN, _TYPE_PATTERN, _RECORD_PATTERN):
                tests.append(_matched(r, kid, subject, kid.start_byte, kid.end_byte, d))
            elif kind == _IDENTIFIER and r.text[kid.start_byte : kid.end_byte] == "default":
                default = True
            else:
                tests.append(_value(r, kid, d))
    return tests, default


def _constructor_call(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    """`this(x)`, `super(x)`, `outer.super(x)`."""
    callee = n.child_by_field_id(_F_CONSTRUCTOR)
    arguments = n.child_by_field_id(_F_ARGUMENTS)
    holder = n.child_by_field_id(_F_OBJECT)
    at = n.start_byte
    if callee is None:
        return _stray_parts(r, n, d, out)
    if holder is not None:
        out.append(Do(holder.start_byte, holder.end_byte, _EXPR[holder.kind_id](r, holder, d)))
    name = "this" if callee.kind_id == _THIS else "super"
    r.calls.add(name)
    args = () if arguments is None else _args(r, arguments.named_children, d)
    out.append(Do(at, n.end_byte, Call(at, n.end_byte, Ref(callee.start_byte, callee.end_byte, name), args)))
    return None


def _local_class(r: _Reader, n: Node, d: int, out: list[Stmt]) -> None:
    _class(r, n, d + 1, out)


_GRAMMAR.handle_statements(
    ("line_comment", nothing),
    ("block_comment", nothing),
    ("assert_statement", nothing),
    ("expression_statement", _expression),
    ("block", _inner_block),
    ("local_variable_declaration", _local),
    ("return_statement", _return),
    ("yield_statement", _yield),
    ("throw_statement", _throw),
    ("break_statement", jump("break")),
    ("continue_statement", jump("continue")),
    ("labeled_statement", _labeled),
    ("if_statement", _if),
    ("while_statement", _while),
    ("do_statement", _while),
    ("for_statement", _for),
    ("enhanced_for_statement", _for_each),
    ("synchronized_statement", _synchronized),
    ("try_statement", _try),
    ("try_with_resources_statement", _try),
    ("switch_expression", _switch_statement),
    ("explicit_constructor_invocation", _constructor_call),
    ("class_declaration", _local_class),
    ("interface_declaration", _local_class),
    ("enum_declaration", _local_class),
    ("record_declaration", _local_class),
    ("annotation_type_declaration", _local_class),
)

_TOP: dict[int, Callable[[_Reader, Node], None]] = {
    _id("package_declaration"): _package,
    _id("import_declaration"): _import,
}
