"""Reads Python source: one walk over the tree of tree-sitter gives declarations and bodies.

The walk builds bodies as plain tuples in the layout of the structs of `resilint.facts` (tag, `at`, `end`, then the fields in
order): that is what an encoded struct looks like, and it takes a third of the time of making the structs. Only what stands in
the header becomes structs.

Two tables lead from the kind of a node to its handler: `_EXPR` for values (returns a tuple), `_STMT` for statements (appends to the
block under construction). Handlers take the depth of nesting, and cut what lies deeper than `MAX_DEPTH`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol, cast

import msgspec
import tree_sitter_python
from tree_sitter import Language, Parser

from resilint import facts
from resilint.facts import (
    Arg,
    Block,
    Class,
    ClassField,
    Expr,
    FileFacts,
    Function,
    Import,
    Lit,
    Param,
    ReadError,
    Ref,
    Type,
    encode_block,
)
from resilint.read.comments import suppressions
from resilint.read.treesitter import ERROR_KIND, broken_places, comment_finder, field_id, kind_ids, parsed
from resilint.text import says_generated

MAX_DEPTH = 150
"""Levels of nesting read. Decoding takes up to three levels of recursion for one of these, and stays below 500."""

MAX_ELIF = 40
"""Longer chains of `elif` become a `Switch` without subject, which does not nest."""

MAX_ITEMS = 64
"""Items kept of a collection."""

Tree = tuple[Any, ...]
"""A node, or one of its parts, in the layout of its encoded struct."""

_LANGUAGE = Language(tree_sitter_python.language())
_PARSER = Parser(_LANGUAGE)


class _Node(Protocol):
    """A node of tree-sitter as used here: children are asked for by positions that are known to exist.

    Asking for one child takes a third of the time of making the list of all, so the usual forms are recognised by their number
    of children; comments and broken pieces are children too, and then the general way is taken.
    """

    kind_id: int
    start_byte: int
    end_byte: int
    type: str
    is_named: bool
    id: int
    has_error: bool
    child_count: int
    named_child_count: int
    children: list[_Node]
    named_children: list[_Node]

    def child(self, index: int, /) -> _Node: ...

    def named_child(self, index: int, /) -> _Node: ...

    def child_by_field_id(self, field: int, /) -> _Node | None: ...

    def children_by_field_id(self, field: int, /) -> list[_Node]: ...


def _tag(kind: type[facts.Node]) -> int:
    return cast(int, kind.__struct_config__.tag)


_LIT, _REF, _FIELD, _INDEX, _SLICE = _tag(facts.Lit), _tag(facts.Ref), _tag(facts.Field), _tag(facts.Index), _tag(facts.Slice)
_CALL, _COLL, _COMP, _FN, _BIN = _tag(facts.Call), _tag(facts.Coll), _tag(facts.Comp), _tag(facts.Fn), _tag(facts.Bin)
_UN, _COND, _CAST, _FMT, _LET = _tag(facts.Un), _tag(facts.Cond), _tag(facts.Cast), _tag(facts.Fmt), _tag(facts.Let)
_AWAIT, _YIELD, _IS, _OPAQUE = _tag(facts.Await), _tag(facts.Yield), _tag(facts.Is), _tag(facts.Opaque)
_ASSIGN, _DO, _RETURN, _RAISE, _JUMP = _tag(facts.Assign), _tag(facts.Do), _tag(facts.Return), _tag(facts.Raise), _tag(facts.Jump)
_IF, _SWITCH, _LOOP, _TRY, _WITH = _tag(facts.If), _tag(facts.Switch), _tag(facts.Loop), _tag(facts.Try), _tag(facts.With)
_DEF, _SCOPE, _DELETE = _tag(facts.Def), _tag(facts.Scope), _tag(facts.Delete)


def _kind(name: str, *, named: bool = True) -> int:
    (only,) = kind_ids(_LANGUAGE, name, named=named)
    return only


_K_IDENTIFIER, _K_ATTRIBUTE, _K_CALL, _K_STRING = _kind("identifier"), _kind("attribute"), _kind("call"), _kind("string")
_K_CONCATENATED, _K_ARGUMENTS, _K_KEYWORD_ARGUMENT = _kind("concatenated_string"), _kind("argument_list"), _kind("keyword_argument")
_K_LIST_SPLAT, _K_DICT_SPLAT, _K_PAIR = _kind("list_splat"), _kind("dictionary_splat"), _kind("pair")
_K_COMMENT, _K_CONTINUATION, _K_BLOCK_IDS = _kind("comment"), _kind("line_continuation"), frozenset(kind_ids(_LANGUAGE, "block"))
_K_ASSIGNMENT, _K_AUGMENTED, _K_ELLIPSIS = _kind("assignment"), _kind("augmented_assignment"), _kind("ellipsis")
_K_BINARY, _K_BOOLEAN = _kind("binary_operator"), _kind("boolean_operator")
_K_SUBSCRIPT, _K_SLICE = _kind("subscript"), _kind("slice")
_K_PARENTHESIZED, _K_TUPLE, _K_LIST = _kind("parenthesized_expression"), _kind("tuple"), _kind("list")
_K_PATTERN_LIST, _K_EXPRESSION_LIST = _kind("pattern_list"), _kind("expression_list")
_K_SPLAT_PATTERN, _K_DICT_SPLAT_PATTERN = _kind("list_splat_pattern"), _kind("dictionary_splat_pattern")
_K_DEFAULT_PARAMETER, _K_TYPED_PARAMETER = _kind("default_parameter"), _kind("typed_parameter")
_K_TYPED_DEFAULT, _K_POSITIONAL_SEPARATOR = _kind("typed_default_parameter"), _kind("positional_separator")
_K_KEYWORD_SEPARATOR = _kind("keyword_separator")
_K_DECORATOR, _K_CLASS = _kind("decorator"), _kind("class_definition")
_K_ELIF, _K_ELSE, _K_EXCEPT, _K_FINALLY = (
    _kind("elif_clause"),
    _kind("else_clause"),
    _kind("except_clause"),
    _kind("finally_clause"),
)
_K_FOR_IN, _K_IF_CLAUSE, _K_DOTTED = _kind("for_in_clause"), _kind("if_clause"), _kind("dotted_name")
_K_CONTENT, _K_INTERPOLATION, _K_FORMAT_SPECIFIER = _kind("string_content"), _kind("interpolation"), _kind("format_specifier")
_K_CASE, _K_CASE_PATTERN, _K_CLASS_PATTERN = _kind("case_clause"), _kind("case_pattern"), _kind("class_pattern")
_K_UNION_PATTERN = _kind("union_pattern")
_K_ALIASED, _K_WILDCARD = _kind("aliased_import"), _kind("wildcard_import")
_K_AS_PATTERN_IDS = frozenset(kind_ids(_LANGUAGE, "as_pattern"))
_K_AS_TARGET, _K_WITH_ITEM, _K_GENERATOR = _kind("as_pattern_target"), _kind("with_item"), _kind("generator_expression")
_K_COLON, _K_ASYNC, _K_FROM = _kind(":", named=False), _kind("async", named=False), _kind("from", named=False)
_K_EQUALS, _K_MINUS, _K_COMMA = _kind("=", named=False), _kind("-", named=False), _kind(",", named=False)
_K_TYPE_CONVERSION, _K_WITH_CLAUSE = _kind("type_conversion"), _kind("with_clause")
_K_KEYWORD_PATTERN, _K_FUNCTION = _kind("keyword_pattern"), _kind("function_definition")
_K_TUPLE_KINDS = frozenset(
    kind
    for name in ("pattern_list", "tuple_pattern", "list_pattern", "expression_list", "tuple", "list")
    for kind in kind_ids(_LANGUAGE, name)
)
_SPREADABLE = frozenset({_K_CALL, _K_ATTRIBUTE, _K_SUBSCRIPT})
_TRIVIA = frozenset({_K_COMMENT, _K_CONTINUATION})
_EXTRAS = _TRIVIA | {ERROR_KIND}


def _field(name: str) -> int:
    return field_id(_LANGUAGE, name)


_F_BODY, _F_NAME, _F_PARAMETERS, _F_RETURN = _field("body"), _field("name"), _field("parameters"), _field("return_type")
_F_VALUE, _F_TYPE, _F_LEFT, _F_RIGHT = _field("value"), _field("type"), _field("left"), _field("right")
_F_SUPERCLASSES, _F_CONDITION, _F_CONSEQUENCE = _field("superclasses"), _field("condition"), _field("consequence")
_F_GUARD, _F_SUBJECT, _F_CAUSE = _field("guard"), _field("subject"), _field("cause")
_F_ALIAS, _F_MODULE, _F_KEY = _field("alias"), _field("module_name"), _field("key")

_ENCODER = msgspec.msgpack.Encoder()
_EXPR_DECODER: msgspec.msgpack.Decoder[Expr] = msgspec.msgpack.Decoder(Expr)

_CHAIN = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_SPECIAL_CALLS = frozenset({"isinstance", "int", "float", "str", "bool"})
_BUILTIN_TYPES = {name: Type(name) for name in ("int", "float", "str", "bool")}
_MAX_INT = 2**63 - 1


class _Scope:
    """What is gathered about the function under the walk, and about the class if its body is directly in hand."""

    __slots__ = (
        "calls",
        "class_index",
        "fields",
        "function",
        "guard",
        "lambdas",
        "methods",
        "prefix",
        "values",
        "writes",
        "yields",
    )

    def __init__(self, function: int, prefix: str) -> None:
        self.function = function
        self.prefix = prefix
        self.calls: set[str] = set()
        self.values: set[str] = set()
        self.writes: set[str] = set()
        self.yields = False
        self.guard = 0
        self.lambdas = 0
        self.class_index = -1
        self.fields: list[ClassField] = []
        self.methods: list[int] = []


class _Walk:
    """The state of reading one file. `calls`, `values` and `writes` are the scope's, kept here as they are needed at every node."""

    __slots__ = (
        "bodies",
        "calls",
        "chains",
        "classes",
        "cut",
        "data",
        "exports",
        "functions",
        "imports",
        "scope",
        "values",
        "writes",
    )

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.chains = 0
        """Chained comparisons read so far."""
        self.functions: list[Function | None] = []
        self.bodies: list[msgspec.Raw | None] = []
        self.classes: list[Class | None] = []
        self.imports: list[Import] = []
        self.exports: list[str] | None = None
        self.cut: ReadError | None = None
        self.enter(_Scope(0, ""))

    def enter(self, scope: _Scope) -> None:
        self.scope = scope
        self.calls = scope.calls
        self.values = scope.values
        self.writes = scope.writes

    def text(self, node: _Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def new_index(self) -> int:
        self.functions.append(None)
        self.bodies.append(None)
        return len(self.functions) - 1


Handler = Callable[[_Walk, _Node, int], Tree]
StatementHandler = Callable[[_Walk, _Node, int, list[Tree]], None]

_EXPR: dict[int, Handler] = {}
_STMT: dict[int, StatementHandler | None] = {}


def read(data: bytes) -> FileFacts:
    """The facts of a Python file: functions, classes, imports and bodies; never raises on any input."""
    root, hard = parsed(_PARSER, data)
    if hard is None and root.has_error:
        plain = _without_defaults(data)
        if plain is not data:
            root, hard = parsed(_PARSER, data := plain)
    closed = _closed(data) if root.has_error or hard is not None else data
    walk = _Walk(closed)
    walk.new_index()
    block: list[Tree] = []
    _statements(walk, cast(_Node, root if closed is data else parsed(_PARSER, closed)[0]), 0, block)
    walk.bodies[0] = _encoded(block)
    walk.functions[0] = _described(walk, Function("<module>", "<module>", "module", 0, len(data), 0), walk.scope)
    errors = broken_places(root, data) if hard is None else [hard]
    if walk.cut is not None and hard is None:
        errors.append(walk.cut)
    return FileFacts(
        kind="python",
        imports=tuple(walk.imports),
        functions=tuple(cast("list[Function]", walk.functions)),
        classes=tuple(cast("list[Class]", walk.classes)),
        exports=None if walk.exports is None else tuple(walk.exports),
        bodies=tuple(cast("list[msgspec.Raw]", walk.bodies)),
        suppressions=suppressions(data, comment_finder(root, (_K_COMMENT,))),
        errors=tuple(errors),
        generated=says_generated(data, "python"),
    )


_GENERIC = re.compile(rb"^[ \t]*(?:class|(?:async[ \t]+)?def|type)[ \t]+\w+[ \t]*\[", re.MULTILINE)
_MARKS = re.compile(rb"""[\[\](){},\n]|=|\"[^"\n]*\"|'[^'\n]*'|\#[^\n]*""")
_MOST_MARKS = 200


def _without_defaults(data: bytes) -> bytes:
    """The same number of bytes without defaults of type parameters (`class Box[T = int]`, Python 3.13): the grammar has none."""
    kept: bytearray | None = None
    for begin in _GENERIC.finditer(data):
        depth, default = 1, -1
        for count, mark in enumerate(_MARKS.finditer(data, begin.end())):
            sign = mark[0]
            if sign in b"[({":
                depth += 1
            elif sign in b"])}":
                depth -= 1
            elif sign == b"=" and depth == 1 and default < 0:
                default = mark.start()
            if default >= 0 and (depth == 0 or (depth == 1 and sign == b",")) and data[default + 1 : mark.start()].strip():
                kept = kept or bytearray(data)
                kept[default : mark.start()] = bytes(b if b in b"\r\n" else 32 for b in data[default : mark.start()])
                default = -1
            if depth <= 0 or count > _MOST_MARKS:
                break
    return data if kept is None else bytes(kept)


_SCAN = re.compile(
    rb"""(?P<text>\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]++|\\.)*+["\n]?|'(?:[^'\\\n]++|\\.)*+['\n]?|\#[^\n]*)"""
    rb"""|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    rb"""|^(?P<line>[ \t]*)(?:def|class|return|raise|try|except|finally|with|while|import|pass|break|continue|del|global|nonlocal"""
    rb"""|assert|elif|async[ \t]+(?:def|with))\b""",
    re.DOTALL | re.MULTILINE,
)


def _closed(data: bytes) -> bytes:
    """The same number of bytes without the statements that have an unclosed bracket, which would take the rest of the file along.

    A line that begins with one of the words that only begin statements ends such a statement.
    """
    kept: bytearray | None = None
    brackets: list[int] = []
    for match in _SCAN.finditer(data):
        sort = match.lastgroup
        if sort == "open":
            brackets.append(match.start())
        elif sort == "close":
            if brackets:
                brackets.pop()
        elif sort == "line" and brackets:
            start = data.rfind(b"\n", 0, brackets[0]) + 1
            stop = match.start()
            line = data[start:stop]
            indent = line[: len(line) - len(line.lstrip(b" \t"))]
            filler = b"if 1:" if len(match["line"]) > len(indent) else b"pass"
            blank = bytearray(byte if byte in b"\r\n" else 32 for byte in line)
            if b"\n" not in line[: len(indent) + len(filler)]:
                blank[: len(indent) + len(filler)] = indent + filler
            kept = kept or bytearray(data)
            kept[start:stop] = blank
            brackets.clear()
    return data if kept is None else bytes(kept)


def _encoded(block: list[Tree]) -> msgspec.Raw:
    return encode_block(cast(Block, block))


def _described(walk: _Walk, function: Function, scope: _Scope) -> Function:
    """The function with what its scope gathered."""
    return msgspec.structs.replace(
        function,
        is_generator=scope.yields,
        calls=tuple(sorted(scope.calls)),
        values=tuple(sorted(scope.values)),
        writes=tuple(sorted(scope.writes)),
    )


def _struct(tree: Tree) -> Expr:
    """The struct of an expression, for the header."""
    kind = tree[0]
    if kind == _LIT:
        return Lit(tree[1], tree[2], tree[3])
    if kind == _REF:
        return Ref(tree[1], tree[2], tree[3])
    return _EXPR_DECODER.decode(_ENCODER.encode(tree))


def _solid(node: _Node) -> list[_Node]:
    """Children without comments, line continuations and broken pieces."""
    return [child for child in node.children if child.kind_id not in _EXTRAS]


def _solid_named(node: _Node) -> list[_Node]:
    return [child for child in node.named_children if child.kind_id not in _EXTRAS]


def _too_deep(walk: _Walk, node: _Node) -> Tree:
    if walk.cut is None:
        walk.cut = ReadError(node.start_byte, f"nested more than {MAX_DEPTH} levels deep: the rest is not read")
    return (_OPAQUE, node.start_byte, node.end_byte, ())


# ---------------------------------------------------------------- names and literals


_NAMES: dict[bytes, str] = {}
"""Chains of names by their bytes, for all files: most names come again."""
_MAX_NAMES = 50_000


def _new_name(text: bytes) -> str:
    """A chain of names from its bytes, remembered; empty if it is none."""
    if not _CHAIN.fullmatch(text):
        # beyond ASCII; a chain with blanks between its names is put together by parts
        name = "" if text.isascii() else text.decode("utf-8", "replace")
        return name if all(part.isidentifier() for part in name.split(".")) else ""
    if len(_NAMES) > _MAX_NAMES:
        _NAMES.clear()
    name = _NAMES[text] = text.decode()
    return name


def _identifier(walk: _Walk, node: _Node, depth: int) -> Tree:
    at = node.start_byte
    end = node.end_byte
    text = walk.data[at:end]
    name = _NAMES.get(text) or _new_name(text)
    if not name:
        return (_OPAQUE, at, end, ())
    walk.values.add(name)
    return (_REF, at, end, name)


def _attribute(walk: _Walk, node: _Node, depth: int) -> Tree:
    found = _chain(walk, node, depth)
    if found[0] == _REF:
        walk.values.add(found[3])
    return found


def _chain(walk: _Walk, node: _Node, depth: int) -> Tree:
    """An attribute as one Ref where its base is a chain of names, else as a Field; not yet counted as a value."""
    at = node.start_byte
    end = node.end_byte
    if end - at < 100:
        text = walk.data[at:end]
        name = _NAMES.get(text) or _new_name(text)
        if name:
            return (_REF, at, end, name)
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    if node.child_count == 3:
        base_node, last_node = node.child(0), node.child(2)
    else:
        parts = _solid(node)
        if len(parts) != 3:
            return _opaque(walk, node, depth)
        base_node, last_node = parts[0], parts[2]
    kind = base_node.kind_id
    base = _chain(walk, base_node, depth + 1) if kind == _K_ATTRIBUTE else _EXPR[kind](walk, base_node, depth + 1)
    text = walk.data[last_node.start_byte : last_node.end_byte]
    last = _NAMES.get(text) or _new_name(text)
    if base[0] == _REF:
        return (_REF, at, end, f"{base[3]}.{last}")
    return (_FIELD, at, end, base, last)


def _true(walk: _Walk, node: _Node, depth: int) -> Tree:
    return (_LIT, node.start_byte, node.end_byte, True)


def _false(walk: _Walk, node: _Node, depth: int) -> Tree:
    return (_LIT, node.start_byte, node.end_byte, False)


def _none(walk: _Walk, node: _Node, depth: int) -> Tree:
    return (_LIT, node.start_byte, node.end_byte, None)


def _integer(walk: _Walk, node: _Node, depth: int) -> Tree:
    at = node.start_byte
    end = node.end_byte
    if end - at == 1:
        return (_LIT, at, end, walk.data[at] - 48)
    value = _int_value(walk.data[at:end])
    return (_OPAQUE, at, end, ()) if value is None else (_LIT, at, end, value)


def _int_value(text: bytes) -> int | float | None:
    """The value of an integer, also of Python 2 (`10L`, `0777`); a float beyond 63 bits; `None` for imaginary and broken ones."""
    try:
        value = int(text)
        if len(text) > 1 and text[0] == 48 and value:
            value = int(text, 8)
    except ValueError:
        plain = text.rstrip(b"lL").replace(b"_", b"")
        try:
            value = int(plain, 8 if plain.isdigit() and plain.startswith(b"0") else 0)
        except ValueError:
            return None
    if value <= _MAX_INT:
        return value
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _float(walk: _Walk, node: _Node, depth: int) -> Tree:
    at = node.start_byte
    end = node.end_byte
    try:
        return (_LIT, at, end, float(walk.data[at:end]))
    except ValueError:
        return (_OPAQUE, at, end, ())


_QUOTES = frozenset(b"\"'")
_ESCAPE = re.compile(r"\\(\r?\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|.)", re.DOTALL)
_SIMPLE_ESCAPES = {
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\n": "",
    "\r\n": "",
}
_SURROGATE = re.compile("[\ud800-\udfff]")


def _escape_value(match: re.Match[str]) -> str:
    body = match[1]
    simple = _SIMPLE_ESCAPES.get(body)
    if simple is not None:
        return simple
    try:
        if body[0] in "01234567":
            return chr(int(body, 8))
        if len(body) > 1 and body[0] in "xuU":
            return chr(int(body[1:], 16))
        if len(body) > 1:
            return unicodedata.lookup(body[2:-1])
    except (ValueError, KeyError, OverflowError):
        pass
    return match[0]


def _bytes_escape_value(match: re.Match[str]) -> str:
    if match[1][0] in "uUN":
        return match[0]
    value = _escape_value(match)
    return chr(ord(value) & 255) if len(value) == 1 else value


def _unescaped(text: str, prefix: bytes) -> str:
    """The text between quotes as the program sees it. Lone surrogates cannot be stored and become U+FFFD."""
    if "\\" in text and b"r" not in prefix:
        text = _ESCAPE.sub(_bytes_escape_value if b"b" in prefix else _escape_value, text)
        if not text.isascii():
            text = _SURROGATE.sub("�", text)
    return text


def _string(walk: _Walk, node: _Node, depth: int) -> Tree:
    at = node.start_byte
    end = node.end_byte
    text = walk.data[at:end]
    first = text[0] if text else 0
    if (first == 34 or first == 39) and text[1:2] != text[:1] and text[-1] == first and b"\\" not in text:
        return (_LIT, at, end, text[1:-1].decode("utf-8", "replace"))
    prefix = b""
    if first != 34 and first != 39:
        length = 0
        while length < len(text) and text[length] not in _QUOTES:
            length += 1
        prefix = text[:length].lower()
        if prefix[:1] == b"`":
            return _opaque(walk, node, depth)
        text = text[length:]
        if (b"f" in prefix or b"t" in prefix) and (b"{" in text or b"}" in text):
            return _formatted(walk, node, prefix, depth)
    quotes = text[:3]
    if quotes not in (b'"""', b"'''") or len(text) < 6:
        quotes = text[:1]
    inner = (
        text[len(quotes) : -len(quotes)]
        if quotes and text.endswith(quotes) and len(text) >= 2 * len(quotes)
        else text[len(quotes) :]
    )
    value = inner.decode("latin-1" if b"b" in prefix else "utf-8", "replace")
    if b"\r" in inner:
        value = value.replace("\r\n", "\n")
    if b"\\" in inner:
        value = _unescaped(value, prefix)
    return (_LIT, at, end, value)


def _formatted(walk: _Walk, node: _Node, prefix: bytes, depth: int) -> Tree:
    """A string with holes; one without any is a literal."""
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    parts: list[Tree] = []
    for child in node.children:
        kind = child.kind_id
        if kind == _K_CONTENT:
            text = walk.text(child).replace("{{", "{").replace("}}", "}").replace("\r\n", "\n")
            parts.append((_LIT, child.start_byte, child.end_byte, _unescaped(text, prefix)))
        elif kind == _K_INTERPOLATION:
            parts.append(_hole(walk, child, depth + 1))
    at = node.start_byte
    end = node.end_byte
    if all(part[0] == _LIT and isinstance(part[3], str) for part in parts) and not any(
        child.kind_id == _K_INTERPOLATION for child in node.children
    ):
        return (_LIT, at, end, "".join(part[3] for part in parts))
    return (_FMT, at, end, parts)


def _hole(walk: _Walk, node: _Node, depth: int) -> Tree:
    """The expression of `{x!r:>{width}}`; expressions inside its format are kept as an Opaque around it."""
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    values: list[Tree] = []
    for child in node.named_children:
        kind = child.kind_id
        if kind == _K_FORMAT_SPECIFIER:
            values.extend(_hole(walk, inner, depth + 1) for inner in child.named_children if inner.kind_id not in _EXTRAS)
        elif kind != _K_TYPE_CONVERSION and kind not in _EXTRAS:
            values.append(_EXPR[kind](walk, child, depth))
    if len(values) == 1:
        return values[0]
    return (_OPAQUE, node.start_byte, node.end_byte, values)


def _concatenated(walk: _Walk, node: _Node, depth: int) -> Tree:
    """Strings side by side: one literal, or one text with holes whose neighbouring pieces are joined."""
    parts: list[Tree] = []
    for child in node.children:
        if child.kind_id in _EXTRAS:
            continue
        piece = _EXPR[child.kind_id](walk, child, depth + 1)
        for part in piece[3] if piece[0] == _FMT else (piece,):
            last = parts[-1] if parts else None
            if part[0] == _LIT and last is not None and last[0] == _LIT and isinstance(part[3], str) and isinstance(last[3], str):
                parts[-1] = (_LIT, last[1], part[2], last[3] + part[3])
            else:
                parts.append(part)
    at = node.start_byte
    end = node.end_byte
    if len(parts) == 1 and parts[0][0] == _LIT:
        return (_LIT, at, end, parts[0][3])
    return (_FMT, at, end, parts)


# ---------------------------------------------------------------- expressions


def _opaque(walk: _Walk, node: _Node, depth: int) -> Tree:
    """Any node without a form of its own: its children are kept."""
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    children = [
        _EXPR[child.kind_id](walk, child, depth + 1)
        for child in node.named_children
        if child.kind_id != _K_COMMENT and child.kind_id != _K_CONTINUATION
    ]
    return (_OPAQUE, node.start_byte, node.end_byte, children)


def _stray(walk: _Walk, node: _Node, depth: int) -> Tree:
    """A statement where a value should be, in broken code: its declarations and effects are kept."""
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    block: list[Tree] = []
    handler = _STMT[node.kind_id]
    if handler is not None:
        handler(walk, node, depth + 1, block)
    return (_OPAQUE, node.start_byte, node.end_byte, [statement[3] for statement in block if statement[0] == _DO])


def _nothing(walk: _Walk, node: _Node, depth: int) -> Tree:
    return (_OPAQUE, node.start_byte, node.end_byte, ())


def _parenthesized(walk: _Walk, node: _Node, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    if node.child_count == 3:
        inner = node.child(1)
        return _EXPR[inner.kind_id](walk, inner, depth + 1)
    named = _solid_named(node)
    if len(named) != 1:
        return _opaque(walk, node, depth)
    return _EXPR[named[0].kind_id](walk, named[0], depth + 1)


def _call(walk: _Walk, node: _Node, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    if node.child_count == 2:
        callee, arguments = node.child(0), node.child(1)
    else:
        children = _solid(node)
        if len(children) != 2:
            return _opaque(walk, node, depth)
        callee, arguments = children
    kind = callee.kind_id
    if kind == _K_IDENTIFIER:
        start = callee.start_byte
        stop = callee.end_byte
        text = walk.data[start:stop]
        name = _NAMES.get(text) or _new_name(text)
        if name in _SPECIAL_CALLS:
            special = _special_call(walk, node, name, arguments, depth)
            if special is not None:
                return special
        function: Tree = (_REF, start, stop, name)
    else:
        function = _chain(walk, callee, depth + 1) if kind == _K_ATTRIBUTE else _EXPR[kind](walk, callee, depth + 1)
    if function[0] == _REF:
        walk.calls.add(function[3])
    elif function[0] == _FIELD:
        walk.calls.add("." + function[4])
    return (_CALL, node.start_byte, node.end_byte, function, _arguments(walk, arguments, depth + 1))


def _arguments(walk: _Walk, node: _Node, depth: int) -> list[Tree]:
    if node.kind_id == _K_GENERATOR:
        return [(_comprehension_of(walk, node, "gen", depth), None, 0)]
    count = node.named_child_count
    if count == 0:
        return []
    found: list[Tree] = []
    for child in (node.named_child(0),) if count == 1 else node.named_children:
        kind = child.kind_id
        if kind == _K_KEYWORD_ARGUMENT:
            value = child.child_by_field_id(_F_VALUE)
            start = child.start_byte
            if value is None:
                found.append((_opaque(walk, child, depth), None, 0))
                continue
            text = walk.data[start : walk.data.find(b"=", start)].split(None, 1)[0]
            found.append((_EXPR[value.kind_id](walk, value, depth), _NAMES.get(text) or _new_name(text), 0))
        elif kind == _K_LIST_SPLAT:
            found.append((_splatted(walk, child, depth), None, 1))
        elif kind == _K_DICT_SPLAT:
            found.append((_splatted(walk, child, depth), None, 2))
        elif kind not in _TRIVIA:
            found.append((_EXPR[kind](walk, child, depth), None, 0))
    return found


def _splatted(walk: _Walk, node: _Node, depth: int) -> Tree:
    """What is spread. In `{*f()}` the grammar has `*f` as the callee, which is then that of a spread item."""
    named = _solid_named(node)
    if len(named) != 1:
        return _opaque(walk, node, depth)
    return _EXPR[named[0].kind_id](walk, named[0], depth)


def _special_call(walk: _Walk, node: _Node, name: str, arguments: _Node, depth: int) -> Tree | None:
    """`isinstance(x, T)` as a type test, `int(x)` as a conversion; `None` where it is written in another way."""
    if arguments.kind_id != _K_ARGUMENTS:
        return None
    given = _solid_named(arguments)
    if any(child.kind_id in (_K_KEYWORD_ARGUMENT, _K_LIST_SPLAT, _K_DICT_SPLAT) for child in given):
        return None
    if name == "isinstance":
        if len(given) != 2:
            return None
        types = _tested_types(walk, given[1], depth)
        if types is None:
            return None
        _EXPR[given[1].kind_id](walk, given[1], depth + 1)
        return (_IS, node.start_byte, node.end_byte, _EXPR[given[0].kind_id](walk, given[0], depth + 1), types)
    if len(given) != 1:
        return None
    return (_CAST, node.start_byte, node.end_byte, _BUILTIN_TYPES[name], _EXPR[given[0].kind_id](walk, given[0], depth + 1))


def _tested_types(walk: _Walk, node: _Node, depth: int) -> list[Type] | None:
    """The types in the second argument of `isinstance`, or `None` if it is not made of names."""
    kind = node.kind_id
    if kind in (_K_IDENTIFIER, _K_ATTRIBUTE):
        found = parse_type(walk.text(node))
        return [found] if (found.name and found.shape == "plain") or found.shape in ("list", "map") else None
    if kind in (_K_TUPLE, _K_PARENTHESIZED, _K_BINARY) and depth < MAX_DEPTH:
        types: list[Type] = []
        for child in _solid_named(node):
            more = [Type("None")] if child.type == "none" else _tested_types(walk, child, depth + 1)
            if more is None:
                return None
            types.extend(more)
        return types
    return None


def _subscript(walk: _Walk, node: _Node, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    if node.child_count == 4:
        base_node, key_node = node.child(0), node.child(2)
        keys = [key_node]
    else:
        base_node, *keys = _solid_named(node) or [node]
        if not keys:
            return _opaque(walk, node, depth)
        key_node = keys[0]
    at = node.start_byte
    end = node.end_byte
    base = _EXPR[base_node.kind_id](walk, base_node, depth + 1)
    if len(keys) == 1 and (node.child_count == 4 or all(child.kind_id != _K_COMMA for child in node.children)):
        if key_node.kind_id == _K_SLICE:
            low, high, step = _slice_parts(walk, key_node, depth + 1)
            if step is None or step[0] == _LIT:
                return (_SLICE, at, end, base, low, high)
            parts = [part for part in (low, high, step) if part is not None]
            return (_INDEX, at, end, base, (_OPAQUE, key_node.start_byte, key_node.end_byte, parts))
        return (_INDEX, at, end, base, _EXPR[key_node.kind_id](walk, key_node, depth + 1))
    return (_INDEX, at, end, base, _collected(walk, keys, "tuple", keys[0].start_byte, keys[-1].end_byte, depth + 1))


def _slice_parts(walk: _Walk, node: _Node, depth: int) -> list[Tree | None]:
    parts: list[Tree | None] = [None, None, None]
    position = 0
    for child in node.children:
        kind = child.kind_id
        if kind == _K_COLON:
            position = min(position + 1, 2)
        elif kind not in _EXTRAS:
            parts[position] = _EXPR[kind](walk, child, depth)
    return parts


def _slice(walk: _Walk, node: _Node, depth: int) -> Tree:
    """A slice among several subscripts."""
    return (_OPAQUE, node.start_byte, node.end_byte, [part for part in _slice_parts(walk, node, depth + 1) if part is not None])


_OPERATORS = {
    operator.encode(): operator
    for operator in (
        *("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "and", "or"),
        *("<", "<=", "==", "!=", ">=", ">", "in", "is", "not in", "is not"),
    )
} | {b"<>": "!="}
"""Operators by their bytes; `<>` is of Python 2."""


def _binary(walk: _Walk, node: _Node, depth: int) -> Tree:
    """An operator and, without recursion, the chain of operators on its left side."""
    chain: list[tuple[int, str, _Node]] = []
    current = node
    while True:
        if current.child_count == 3:
            left, right = current.child(0), current.child(2)
            text = walk.data[left.end_byte : right.start_byte].strip()
            operator = _OPERATORS.get(text) or text.decode("utf-8", "replace")
        else:
            parts = _solid(current)
            if len(parts) != 3:
                break
            left, right = parts[0], parts[2]
            operator = parts[1].type
        chain.append((current.end_byte, operator, right))
        current = left
        kind = current.kind_id
        if kind != _K_BINARY and kind != _K_BOOLEAN:
            break
    at = node.start_byte
    length = len(chain)
    if depth + length > MAX_DEPTH:
        if depth > MAX_DEPTH:
            return _too_deep(walk, node)
        operands = [current, *(right for _, _, right in reversed(chain))]
        return (_OPAQUE, at, node.end_byte, [_EXPR[operand.kind_id](walk, operand, depth + 1) for operand in operands])
    if current.kind_id == _K_BINARY or current.kind_id == _K_BOOLEAN:
        result = _opaque(walk, current, depth + length)
    else:
        result = _EXPR[current.kind_id](walk, current, depth + length)
    for position in range(length - 1, -1, -1):
        end, operator, right = chain[position]
        result = (_BIN, at, end, operator, result, _EXPR[right.kind_id](walk, right, depth + position + 1))
    return result


def _comparison(walk: _Walk, node: _Node, depth: int) -> Tree:
    """`a < b < c` is `a < b and b < c`."""
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    if node.child_count == 3:
        left_node, right_node = node.child(0), node.child(2)
        text = walk.data[left_node.end_byte : right_node.start_byte].strip()
        operator = _OPERATORS.get(text) or " ".join(text.decode("utf-8", "replace").split())
        left = _EXPR[left_node.kind_id](walk, left_node, depth + 1)
        right = _EXPR[right_node.kind_id](walk, right_node, depth + 1)
        return (_BIN, node.start_byte, node.end_byte, operator, left, right)
    parts = _solid(node)
    if len(parts) < 3 or len(parts) % 2 == 0:
        return _opaque(walk, node, depth)
    inner = depth + len(parts) // 2
    if inner > MAX_DEPTH:
        return _opaque(walk, node, depth)
    at = node.start_byte
    left_node = parts[0]
    left = _EXPR[left_node.kind_id](walk, left_node, inner)
    result: Tree | None = None
    for position in range(1, len(parts), 2):
        operator = parts[position].type
        right_node = parts[position + 1]
        before = walk.chains
        right = _EXPR[right_node.kind_id](walk, right_node, inner)
        start = left_node.start_byte
        test = (_BIN, start, right_node.end_byte, operator if operator != "<>" else "!=", left, right)
        result = test if result is None else (_BIN, at, right_node.end_byte, "and", result, test)
        # Of what is a chain itself it stands once: each level of `a < (b < (c < d < e) < f) < g` would double it.
        left_node, left = right_node, right if walk.chains == before else (_OPAQUE, right_node.start_byte, right_node.end_byte, ())
    walk.chains += 1
    return cast(Tree, result)


def _unary(walk: _Walk, node: _Node, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    if node.child_count == 2:
        operand = node.child(1)
    else:
        parts = _solid(node)
        if len(parts) != 2:
            return _opaque(walk, node, depth)
        operand = parts[1]
    at = node.start_byte
    operator = "not" if walk.data[at] == 110 else chr(walk.data[at])
    return (_UN, at, node.end_byte, operator, _EXPR[operand.kind_id](walk, operand, depth + 1))


def _conditional(walk: _Walk, node: _Node, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    if node.child_count == 5:
        then, test, orelse = node.child(0), node.child(2), node.child(4)
    else:
        parts = _solid_named(node)
        if len(parts) != 3:
            return _opaque(walk, node, depth)
        then, test, orelse = parts
    value = _EXPR[then.kind_id](walk, then, depth + 1)
    return (
        _COND,
        node.start_byte,
        node.end_byte,
        _EXPR[test.kind_id](walk, test, depth + 1),
        value,
        _EXPR[orelse.kind_id](walk, orelse, depth + 1),
    )


def _named(walk: _Walk, node: _Node, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    parts = _solid_named(node)
    if len(parts) != 2:
        return _opaque(walk, node, depth)
    target, value = parts
    return (_LET, node.start_byte, node.end_byte, _target(walk, target, depth + 1), _EXPR[value.kind_id](walk, value, depth + 1))


def _await(walk: _Walk, node: _Node, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    if node.child_count == 2:
        value = node.child(1)
    else:
        parts = _solid_named(node)
        if len(parts) != 1:
            return _opaque(walk, node, depth)
        value = parts[0]
    return (_AWAIT, node.start_byte, node.end_byte, _EXPR[value.kind_id](walk, value, depth + 1))


def _yield(walk: _Walk, node: _Node, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    walk.scope.yields = True
    value: Tree | None = None
    delegate = False
    for child in node.children[1:]:
        kind = child.kind_id
        if kind == _K_FROM:
            delegate = True
        elif kind not in _EXTRAS:
            value = _EXPR[kind](walk, child, depth + 1)
    return (_YIELD, node.start_byte, node.end_byte, value, delegate)


def _lambda(walk: _Walk, node: _Node, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    outer = walk.scope
    at = node.start_byte
    end = node.end_byte
    parameters = node.child_by_field_id(_F_PARAMETERS)
    body = node.child_by_field_id(_F_BODY)
    params = _parameters(walk, parameters, depth + 1) if parameters is not None else ()
    index = walk.new_index()
    outer.lambdas += 1
    name = f"<lambda{outer.lambdas}>"
    inner = _Scope(index, f"{outer.prefix}{name}.")
    walk.enter(inner)
    block: list[Tree] = []
    if body is not None:
        block.append((_RETURN, body.start_byte, body.end_byte, _EXPR[body.kind_id](walk, body, depth + 1)))
    walk.enter(outer)
    walk.bodies[index] = _encoded(block)
    walk.functions[index] = _described(
        walk,
        Function(name, outer.prefix + name, "lambda", at, end, at, params=params, owner=outer.class_index, parent=outer.function),
        inner,
    )
    return (_FN, at, end, index)


# ---------------------------------------------------------------- collections


def _collected(walk: _Walk, nodes: list[_Node], kind: str, at: int, end: int, depth: int) -> Tree:
    """A collection of these items. All are read, so that no call is missing among the header's names; the first 64 are kept."""
    if depth > MAX_DEPTH:
        return _too_deep(walk, nodes[0])
    items: list[Tree] = []
    size = 0
    spread = False
    for child in nodes:
        node_kind = child.kind_id
        if node_kind == _K_PAIR:
            key, value = child.child_by_field_id(_F_KEY), child.child_by_field_id(_F_VALUE)
            if key is not None and value is not None:
                name = _EXPR[key.kind_id](walk, key, depth + 1)
                item: Tree = (_EXPR[value.kind_id](walk, value, depth + 1), name, 0)
            else:
                item = (_opaque(walk, child, depth + 1), None, 0)
        elif node_kind == _K_LIST_SPLAT:
            spread = True
            item = (_splatted(walk, child, depth + 1), None, 1)
        elif node_kind == _K_DICT_SPLAT:
            spread = True
            item = (_splatted(walk, child, depth + 1), None, 2)
        elif node_kind in _TRIVIA:
            continue
        else:
            is_spread = node_kind in _SPREADABLE and walk.data[child.start_byte] == 42
            spread |= is_spread
            item = (_EXPR[node_kind](walk, child, depth + 1), None, int(is_spread))
        if size < MAX_ITEMS:
            items.append(item)
        size += 1
    return (_COLL, at, end, kind, items, -1 if spread else size, None)


def _list(walk: _Walk, node: _Node, depth: int) -> Tree:
    return _collection(walk, node, "list", depth)


def _tuple(walk: _Walk, node: _Node, depth: int) -> Tree:
    return _collection(walk, node, "tuple", depth)


def _set(walk: _Walk, node: _Node, depth: int) -> Tree:
    return _collection(walk, node, "set", depth)


def _dictionary(walk: _Walk, node: _Node, depth: int) -> Tree:
    return _collection(walk, node, "map", depth)


def _collection(walk: _Walk, node: _Node, kind: str, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    return _collected(walk, node.named_children, kind, node.start_byte, node.end_byte, depth)


def _list_comprehension(walk: _Walk, node: _Node, depth: int) -> Tree:
    return _comprehension_of(walk, node, "list", depth)


def _set_comprehension(walk: _Walk, node: _Node, depth: int) -> Tree:
    return _comprehension_of(walk, node, "set", depth)


def _dictionary_comprehension(walk: _Walk, node: _Node, depth: int) -> Tree:
    return _comprehension_of(walk, node, "map", depth)


def _generator(walk: _Walk, node: _Node, depth: int) -> Tree:
    return _comprehension_of(walk, node, "gen", depth)


def _comprehension_of(walk: _Walk, node: _Node, kind: str, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    element: Tree | None = None
    key: Tree | None = None
    clauses: list[tuple[Tree, Tree, list[Tree], bool]] = []
    for child in node.named_children:
        child_kind = child.kind_id
        if child_kind == _K_FOR_IN:
            parts = _solid(child)
            is_async = parts[0].kind_id == _K_ASYNC
            values = [part for part in parts if part.is_named]
            if len(values) < 2:
                continue
            target = _target(walk, values[0], depth + 1)
            over = (
                _EXPR[values[1].kind_id](walk, values[1], depth + 1)
                if len(values) == 2
                else _collected(walk, values[1:], "tuple", values[1].start_byte, values[-1].end_byte, depth + 1)
            )
            clauses.append((target, over, [], is_async))
        elif child_kind == _K_IF_CLAUSE:
            for test in _solid_named(child):
                value = _EXPR[test.kind_id](walk, test, depth + 1)
                if clauses:
                    clauses[-1][2].append(value)
        elif child_kind in _EXTRAS:
            continue
        elif child_kind == _K_PAIR:
            parts = _solid_named(child)
            if len(parts) == 2:
                key = _EXPR[parts[0].kind_id](walk, parts[0], depth + 1)
                element = _EXPR[parts[1].kind_id](walk, parts[1], depth + 1)
        else:
            element = _EXPR[child_kind](walk, child, depth + 1)
    if element is None:
        element = (_OPAQUE, node.start_byte, node.end_byte, ())
    return (_COMP, node.start_byte, node.end_byte, kind, element, clauses, key)


# ---------------------------------------------------------------- targets


def _target(walk: _Walk, node: _Node, depth: int) -> Tree:
    """What is assigned to: names are no values here, and attributes count as written."""
    kind = node.kind_id
    if kind == _K_IDENTIFIER:
        at = node.start_byte
        end = node.end_byte
        text = walk.data[at:end]
        name = _NAMES.get(text) or _new_name(text)
        return (_REF, at, end, name) if name else (_OPAQUE, at, end, ())
    if depth > MAX_DEPTH:
        return _too_deep(walk, node)
    if kind == _K_ATTRIBUTE:
        found = _chain(walk, node, depth)
        if found[0] == _REF:
            walk.writes.add(found[3].rpartition(".")[2])
        elif found[0] == _FIELD:
            walk.writes.add(found[4])
        return found
    if kind in _K_TUPLE_KINDS:
        items: list[Tree] = []
        size = 0
        for child in _solid_named(node):
            if child.kind_id in (_K_SPLAT_PATTERN, _K_LIST_SPLAT):
                inner = _solid_named(child)
                item: Tree = (_target(walk, inner[0], depth + 1) if inner else _nothing(walk, child, depth), None, 1)
                size = -1
            else:
                item = (_target(walk, child, depth + 1), None, 0)
            if len(items) < MAX_ITEMS:
                items.append(item)
            if size >= 0:
                size += 1
        if size == 1 and _is_parenthesis(walk, node):
            return cast(Tree, items[0][0])
        return (_COLL, node.start_byte, node.end_byte, "tuple", items, size, None)
    if kind in (_K_PARENTHESIZED, _K_AS_TARGET):
        inner = _solid_named(node)
        if len(inner) == 1:
            return _target(walk, inner[0], depth + 1)
    return _EXPR[kind](walk, node, depth)


def _is_parenthesis(walk: _Walk, node: _Node) -> bool:
    """Whether a tuple pattern of one part is no tuple, but that part in parentheses."""
    return walk.data[node.start_byte] == 40 and all(child.kind_id != _K_COMMA for child in node.children)


# ---------------------------------------------------------------- statements


def _statements(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    """The statements of a block or module, in order."""
    if depth > MAX_DEPTH:
        out.append((_DO, node.start_byte, node.end_byte, _too_deep(walk, node)))
        return
    for child in node.children:
        handler = _STMT[child.kind_id]
        if handler is not None:
            handler(walk, child, depth, out)


def _block(walk: _Walk, node: _Node | None, depth: int) -> list[Tree]:
    block: list[Tree] = []
    if node is not None:
        _statements(walk, node, depth + 1, block)
    return block


def _suite(walk: _Walk, clause: _Node, depth: int) -> list[Tree]:
    """The block of a clause (`else`, `except`, `finally`)."""
    block: list[Tree] = []
    for child in clause.children:
        if child.kind_id in _K_BLOCK_IDS:
            _statements(walk, child, depth + 1, block)
    return block


def _broken(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    """An ERROR, or a clause outside its statement: what is sound in it is kept.

    `def f(x)` without a readable body stands in it as if it were a call of `f`, which it is not.
    """
    if depth > MAX_DEPTH:
        out.append((_DO, node.start_byte, node.end_byte, _too_deep(walk, node)))
        return
    heading = False
    for child in node.children:
        kind = child.kind_id
        if not heading:
            handler = _STMT[kind]
            if handler is not None:
                handler(walk, child, depth + 1, out)
        heading = walk.data[child.start_byte : child.end_byte] in (b"def", b"class")


def _bare(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    """A value that stands as a statement."""
    out.append((_DO, node.start_byte, node.end_byte, _EXPR[node.kind_id](walk, node, depth + 1)))


def _expression_statement(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    if node.child_count == 1:
        first = node.child(0)
    else:
        children = _solid(node)
        if len(children) != 1:
            nodes = [child for child in children if child.is_named]
            if nodes:
                value = _collected(walk, nodes, "tuple", node.start_byte, node.end_byte, depth + 1)
                out.append((_DO, node.start_byte, node.end_byte, value))
            return
        first = children[0]
    kind = first.kind_id
    if kind == _K_CALL:
        out.append((_DO, first.start_byte, first.end_byte, _call(walk, first, depth + 1)))
    elif kind == _K_ASSIGNMENT:
        _assignment(walk, first, depth, out)
    elif kind == _K_AUGMENTED:
        _augmented(walk, first, depth, out)
    elif kind != _K_ELLIPSIS:
        if kind == _K_STRING and walk.data[first.start_byte] in _QUOTES:
            return
        value = _EXPR[kind](walk, first, depth + 1)
        if value[0] != _LIT or (kind != _K_STRING and kind != _K_CONCATENATED):
            out.append((_DO, first.start_byte, first.end_byte, value))


def _assignment(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    targets: list[_Node] = []
    annotation: Type | None = None
    declares = False
    current = node
    while True:
        left: _Node | None
        value_node: _Node | None
        if current.child_count == 3 and current.child(1).kind_id == _K_EQUALS:
            left, value_node = current.child(0), current.child(2)
        else:
            left = current.child_by_field_id(_F_LEFT)
            value_node = current.child_by_field_id(_F_RIGHT)
            type_node = current.child_by_field_id(_F_TYPE)
            if left is None:
                _broken(walk, current, depth, out)
                return
            if type_node is not None:
                annotation = _type(walk, type_node, depth + 1)
                declares = True
        targets.append(left)
        if value_node is None or value_node.kind_id != _K_ASSIGNMENT:
            break
        current = value_node
    if walk.scope.class_index >= 0 and _class_fields(walk, node, targets, annotation, value_node, depth, out):
        return
    value = None if value_node is None else _EXPR[value_node.kind_id](walk, value_node, depth + 1)
    trees = [_target(walk, target, depth + 1) for target in targets]
    if depth == 0 and value is not None and len(trees) == 1 and trees[0][0] == _REF and trees[0][3] == "__all__":
        walk.exports = _texts(walk, value_node)
    out.append((_ASSIGN, node.start_byte, node.end_byte, trees, "", value, declares, annotation))


def _texts(walk: _Walk, node: _Node | None) -> list[str] | None:
    """The texts of a literal list or tuple of texts."""
    if node is None or node.kind_id not in (_K_LIST, _K_TUPLE, _K_EXPRESSION_LIST):
        return None
    items = [_EXPR[item.kind_id](walk, item, MAX_DEPTH) for item in _solid_named(node)]
    texts = [item[3] for item in items if item[0] == _LIT and isinstance(item[3], str)]
    return texts if len(texts) == len(items) else None


def _class_fields(
    walk: _Walk, node: _Node, targets: list[_Node], annotation: Type | None, value_node: _Node | None, depth: int, out: list[Tree]
) -> bool:
    """Whether an assignment in a class body declares fields; then they are noted.

    Where values cannot be told apart (`a, b = f()`), the fields have no value and the call stands alone in the block.
    """
    names: list[tuple[_Node, _Node | None]] = []
    whole = False
    for target in targets:
        if target.kind_id == _K_IDENTIFIER:
            names.append((target, value_node))
        elif target.kind_id in _K_TUPLE_KINDS:
            parts = _solid_named(target)
            if not all(part.kind_id == _K_IDENTIFIER for part in parts):
                return False
            values: list[_Node] = []
            if value_node is not None and value_node.kind_id in (_K_EXPRESSION_LIST, _K_TUPLE, _K_LIST):
                values = _solid_named(value_node)
            if len(values) == len(parts) and not any(value.kind_id == _K_LIST_SPLAT for value in values):
                names.extend(zip(parts, values, strict=True))
            else:
                whole = True
                names.extend((part, None) for part in parts)
        else:
            return False
    if whole and value_node is not None:
        out.append((_DO, value_node.start_byte, value_node.end_byte, _EXPR[value_node.kind_id](walk, value_node, depth + 1)))
    read_values: dict[int, Expr] = {}
    for name, value in names:
        init: Expr | None = None
        if value is not None:
            known = read_values.get(value.id)
            init = known if known is not None else _struct(_EXPR[value.kind_id](walk, value, depth + 1))
            read_values[value.id] = init
        walk.scope.fields.append(ClassField(walk.text(name), node.start_byte, node.end_byte, annotation, init))
    return True


def _augmented(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    parts = node.children
    if len(parts) != 3:
        parts = _solid(node)
        if len(parts) != 3:
            _broken(walk, node, depth, out)
            return
    left, operator, right = parts
    value = _EXPR[right.kind_id](walk, right, depth + 1)
    if walk.scope.class_index >= 0 and left.kind_id == _K_IDENTIFIER:
        out.append((_DO, right.start_byte, right.end_byte, value))
        return
    target = _target(walk, left, depth + 1)
    if depth == 0 and target[0] == _REF and target[3] == "__all__" and walk.exports is not None:
        more = _texts(walk, right)
        if more is None:
            walk.exports = None
        else:
            walk.exports.extend(more)
    out.append((_ASSIGN, node.start_byte, node.end_byte, [target], operator.type[:-1], value, False, None))


def _return(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    value: Tree | None = None
    if node.child_count == 2:
        child = node.child(1)
        value = _EXPR[child.kind_id](walk, child, depth + 1)
    elif node.child_count > 2:
        children = _solid(node)
        if len(children) >= 2:
            value = _EXPR[children[1].kind_id](walk, children[1], depth + 1)
    out.append((_RETURN, node.start_byte, node.end_byte, value))


def _raise(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    if node.child_count == 2:
        only = node.child(1)
        if only.kind_id != _K_EXPRESSION_LIST:
            out.append((_RAISE, node.start_byte, node.end_byte, _EXPR[only.kind_id](walk, only, depth + 1), None))
            return
    cause_node = node.child_by_field_id(_F_CAUSE)
    value: Tree | None = None
    for child in node.named_children:
        kind = child.kind_id
        if kind in _EXTRAS or (cause_node is not None and child.start_byte >= cause_node.start_byte):
            continue
        if kind == _K_EXPRESSION_LIST:
            # Python 2: `raise Kind, argument, traceback`
            first, *rest = [_EXPR[part.kind_id](walk, part, depth + 2) for part in _solid_named(child)]
            if first[0] == _REF:
                walk.calls.add(first[3])
            value = (_CALL, child.start_byte, child.end_byte, first, [(part, None, 0) for part in rest])
        else:
            value = _EXPR[kind](walk, child, depth + 1)
    cause = None if cause_node is None else _EXPR[cause_node.kind_id](walk, cause_node, depth + 1)
    out.append((_RAISE, node.start_byte, node.end_byte, value, cause))


def _break(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    out.append((_JUMP, node.start_byte, node.end_byte, "break", None))


def _continue(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    out.append((_JUMP, node.start_byte, node.end_byte, "continue", None))


def _assert(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    """Dropped, but for one that calls or waits."""
    text = walk.data[node.start_byte : node.end_byte]
    if b"(" in text or b"await" in text:
        out.append((_DO, node.start_byte, node.end_byte, _opaque(walk, node, depth + 1)))


def _loose_statement(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    """Statements of Python 2 (`print x`, `exec x in y`)."""
    out.append((_DO, node.start_byte, node.end_byte, _opaque(walk, node, depth + 1)))


def _type_alias(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    """Type aliases are dropped; but the grammar also has `type(x).y = z` as one, with `(x).y` as the name."""
    sides = [side for child in _solid_named(node) for side in _solid_named(child)]
    if len(sides) != 2 or sides[0].kind_id not in _SPREADABLE:
        return
    left, right = sides
    at = node.start_byte
    value = _EXPR[right.kind_id](walk, right, depth + 1)
    inner = _EXPR[left.kind_id](walk, left, depth + 1)
    walk.calls.add("type")
    target: Tree = (_OPAQUE, at, left.end_byte, [inner])
    parts = _solid(left)
    if left.kind_id == _K_ATTRIBUTE and len(parts) == 3 and parts[0].kind_id == _K_PARENTHESIZED:
        name = walk.text(parts[2])
        walk.writes.add(name)
        argument = _EXPR[_K_PARENTHESIZED](walk, parts[0], depth + 1)
        call = (_CALL, at, parts[0].end_byte, (_REF, at, at + 4, "type"), [(argument, None, 0)])
        target = (_FIELD, at, left.end_byte, call, name)
    out.append((_ASSIGN, at, node.end_byte, [target], "", value, False, None))


def _delete(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    targets: list[_Node] = []
    for child in _solid_named(node):
        targets.extend(_solid_named(child) if child.kind_id == _K_EXPRESSION_LIST else (child,))
    out.append((_DELETE, node.start_byte, node.end_byte, [_EXPR[target.kind_id](walk, target, depth + 1) for target in targets]))


def _global(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    names = [walk.text(name) for name in _solid_named(node)]
    # who declares a global writes it: that is how its other values are found
    walk.writes.update(names)
    out.append((_SCOPE, node.start_byte, node.end_byte, "global", names))


def _nonlocal(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    out.append((_SCOPE, node.start_byte, node.end_byte, "nonlocal", [walk.text(name) for name in _solid_named(node)]))


def _if(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    """`elif` nests; a very long chain is a switch over conditions, which means the same and does not nest."""
    scope = walk.scope
    scope.guard += 1
    if node.child_count == 4:
        only, consequence = node.child(1), node.child(3)
        condition = _EXPR[only.kind_id](walk, only, depth + 1)
        then: list[Tree] = []
        _statements(walk, consequence, depth + 2, then)
        scope.guard -= 1
        out.append((_IF, node.start_byte, node.end_byte, condition, then, ()))
        return
    arms: list[tuple[int, Tree, list[Tree]]] = []
    orelse: list[Tree] = []
    clauses = [child for child in node.children if child.kind_id == _K_ELIF]
    is_flat = len(clauses) > MAX_ELIF or depth + len(clauses) > MAX_DEPTH
    for position, clause in enumerate((node, *clauses)):
        test_node = clause.child_by_field_id(_F_CONDITION)
        level = depth + 1 + (0 if is_flat else position)
        test = (
            (_OPAQUE, clause.start_byte, clause.start_byte, ())
            if test_node is None
            else _EXPR[test_node.kind_id](walk, test_node, level)
        )
        arms.append((clause.start_byte, test, _block(walk, clause.child_by_field_id(_F_CONSEQUENCE), level)))
    for child in node.children:
        if child.kind_id == _K_ELSE:
            orelse = _suite(walk, child, depth + 1 + (0 if is_flat else len(clauses)))
        elif child.kind_id == ERROR_KIND:
            _broken(walk, child, depth, out)
    scope.guard -= 1
    end = node.end_byte
    if is_flat:
        cases: list[tuple[tuple[Tree, ...], list[Tree]]] = [((test,), body) for _, test, body in arms]
        if orelse:
            cases.append(((), orelse))
        out.append((_SWITCH, node.start_byte, end, None, cases))
        return
    for at, test, body in reversed(arms):
        orelse = [(_IF, at, end, test, body, orelse)]
    out.append(orelse[0])


def _while(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    test_node = node.child_by_field_id(_F_CONDITION)
    test = None if test_node is None else _EXPR[test_node.kind_id](walk, test_node, depth + 1)
    is_endless = test is not None and test[0] == _LIT and test[3] is not None and bool(test[3])
    body = _block(walk, node.child_by_field_id(_F_BODY), depth)
    orelse = _else_of(walk, node, depth) if node.child_count != 4 else []
    form = "ever" if is_endless or test is None else "while"
    out.append(
        (_LOOP, node.start_byte, node.end_byte, form, None if is_endless else test, None, None, None, body, orelse, False, None)
    )


def _else_of(walk: _Walk, node: _Node, depth: int) -> list[Tree]:
    for child in node.children:
        if child.kind_id == _K_ELSE:
            return _suite(walk, child, depth)
    return []


def _for(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    at = node.start_byte
    is_async = walk.data[at] == 97
    left: _Node | None
    right: _Node | None
    body_node: _Node | None
    if node.child_count == 6 and not is_async:
        left, right, body_node = node.child(1), node.child(3), node.child(5)
        is_plain = True
    else:
        left, right = node.child_by_field_id(_F_LEFT), node.child_by_field_id(_F_RIGHT)
        body_node = node.child_by_field_id(_F_BODY)
        is_plain = False
    over = None if right is None else _EXPR[right.kind_id](walk, right, depth + 1)
    target = None if left is None else _target(walk, left, depth + 1)
    body = _block(walk, body_node, depth)
    orelse = [] if is_plain else _else_of(walk, node, depth)
    out.append((_LOOP, at, node.end_byte, "each", None, target, over, None, body, orelse, is_async, None))


def _try(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    scope = walk.scope
    scope.guard += 1
    body: list[Tree] = []
    handlers: list[Tree] = []
    orelse: list[Tree] = []
    final: list[Tree] = []
    for child in node.children:
        kind = child.kind_id
        if kind in _K_BLOCK_IDS:
            _statements(walk, child, depth + 1, body)
        elif kind == _K_EXCEPT:
            handlers.append(_handler(walk, child, depth + 1))
        elif kind == _K_ELSE:
            orelse = _suite(walk, child, depth)
        elif kind == _K_FINALLY:
            final = _suite(walk, child, depth)
        elif kind == ERROR_KIND:
            _broken(walk, child, depth, body)
    scope.guard -= 1
    out.append((_TRY, node.start_byte, node.end_byte, body, handlers, orelse, final))


def _handler(walk: _Walk, node: _Node, depth: int) -> Tree:
    values = [child for child in node.named_children if child.kind_id not in _EXTRAS and child.kind_id not in _K_BLOCK_IDS]
    types: list[Tree] = []
    name: str | None = None
    if values:
        caught = values[0]
        if caught.kind_id in _K_AS_PATTERN_IDS:
            parts = _solid_named(caught)
            caught = parts[0]
            name = walk.text(parts[-1]) if len(parts) > 1 else None
        elif len(values) == 2 and values[1].kind_id == _K_IDENTIFIER and not walk.text(values[1])[:1].isupper():
            # Python 2: `except Kind, name`; since Python 3.14 `except Kind, Other` is two kinds
            name = walk.text(values.pop())
        else:
            types = [_EXPR[more.kind_id](walk, more, depth + 1) for more in values[1:]]
        tree = _EXPR[caught.kind_id](walk, caught, depth + 1)
        types = ([item[0] for item in tree[4]] if tree[0] == _COLL else [tree]) + types
    return (node.start_byte, node.end_byte, types, name, _suite(walk, node, depth))


def _with(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    items: list[Tree] = []
    is_async = False
    body: list[Tree] = []
    for child in node.children:
        kind = child.kind_id
        if kind == _K_ASYNC:
            is_async = True
        elif kind == _K_WITH_CLAUSE:
            for item in child.named_children:
                if item.kind_id == _K_WITH_ITEM:
                    for value in _solid_named(item):
                        items.append(_with_item(walk, value, depth + 1))
        elif kind in _K_BLOCK_IDS:
            _statements(walk, child, depth + 1, body)
    out.append((_WITH, node.start_byte, node.end_byte, items, body, is_async))


def _with_item(walk: _Walk, node: _Node, depth: int) -> Tree:
    if node.kind_id == _K_PARENTHESIZED:
        inner = _solid_named(node)
        if len(inner) == 1 and inner[0].kind_id in _K_AS_PATTERN_IDS:
            node = inner[0]
    if node.kind_id in _K_AS_PATTERN_IDS:
        parts = _solid_named(node)
        value = parts[0]
        tree = _EXPR[value.kind_id](walk, value, depth)
        return (tree, _target(walk, parts[-1], depth) if len(parts) > 1 else None)
    return (_EXPR[node.kind_id](walk, node, depth), None)


def _as_pattern(walk: _Walk, node: _Node, depth: int) -> Tree:
    """`x as y` outside of `with` and `except`, in broken code."""
    return _opaque(walk, node, depth)


# ---------------------------------------------------------------- match


def _match(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    subjects = [child for child in node.children_by_field_id(_F_SUBJECT) if child.is_named]
    subject: Tree | None = None
    if len(subjects) == 1:
        subject = _EXPR[subjects[0].kind_id](walk, subjects[0], depth + 1)
    elif subjects:
        subject = _collected(walk, subjects, "tuple", subjects[0].start_byte, subjects[-1].end_byte, depth + 1)
    body = node.child_by_field_id(_F_BODY)
    cases = [_case(walk, child, subject, depth + 1) for child in body.named_children if child.kind_id == _K_CASE] if body else []
    out.append((_SWITCH, node.start_byte, node.end_byte, subject, cases))


def _case(walk: _Walk, node: _Node, subject: Tree | None, depth: int) -> Tree:
    """A case; names it captures are assigned at the start of its body, from the subject where they stand for all of it."""
    captured: list[Tree] = []
    patterns = [child for child in node.named_children if child.kind_id == _K_CASE_PATTERN]
    tests: list[Tree | None] = []
    if len(patterns) == 1:
        tests = _pattern(walk, patterns[0], subject, captured, depth + 1)
    elif patterns:
        parts = [test for pattern in patterns for test in _pattern(walk, pattern, None, captured, depth + 1) if test is not None]
        tests = [(_OPAQUE, patterns[0].start_byte, patterns[-1].end_byte, parts)]
    guard_node = node.child_by_field_id(_F_GUARD)
    guard = _solid_named(guard_node) if guard_node is not None else []
    found: list[Tree]
    if guard:
        at = patterns[0].start_byte if patterns else node.start_byte
        end = patterns[-1].end_byte if patterns else node.start_byte
        kept = [test for test in tests if test is not None]
        test = kept[0] if len(kept) == 1 else (_OPAQUE, at, end, kept)
        found = [(_BIN, at, guard[0].end_byte, "and", test, _EXPR[guard[0].kind_id](walk, guard[0], depth + 1))]
    elif None in tests:
        found = []
    else:
        found = cast("list[Tree]", tests)
    block = _block(walk, node.child_by_field_id(_F_CONSEQUENCE), depth)
    return (found, captured + block)


def _pattern(walk: _Walk, node: _Node, subject: Tree | None, captured: list[Tree], depth: int) -> list[Tree | None]:
    """The tests of a pattern, one per alternative; `None` matches everything."""
    if depth > MAX_DEPTH:
        return [_too_deep(walk, node)]
    at = node.start_byte
    end = node.end_byte
    kind = node.kind_id
    if kind == _K_CASE_PATTERN:
        children = _solid(node)
        if len(children) == 2 and children[0].kind_id == _K_MINUS:
            return [(_UN, at, end, "-", _EXPR[children[1].kind_id](walk, children[1], depth + 1))]
        named = [child for child in children if child.is_named]
        if not named:
            return [None]
        return _pattern(walk, named[0], subject, captured, depth)
    if kind in (_K_DOTTED, _K_IDENTIFIER):
        name = "".join(walk.text(node).split())
        if "." in name:
            walk.values.add(name)
            return [(_REF, at, end, name)]
        _capture(node, name, subject, captured)
        return [None]
    named = _solid_named(node)
    if kind == _K_UNION_PATTERN:
        return [test for child in named for test in _pattern(walk, child, subject, captured, depth + 1)] + (
            [None] if len(named) < len([child for child in node.children if child.type != "|"]) else []
        )
    if kind in _K_AS_PATTERN_IDS:
        if len(named) == 2:
            _capture(named[1], walk.text(named[1]), subject, captured)
        return _pattern(walk, named[0], subject, captured, depth + 1) if named else [None]
    if kind == _K_CLASS_PATTERN and named:
        for child in named[1:]:
            _pattern(walk, child, None, captured, depth + 1)
        name = "".join(walk.text(named[0]).split())
        walk.values.add(name)
        value = (_REF, at, end, subject[3]) if subject is not None and subject[0] == _REF else (_OPAQUE, at, end, ())
        return [(_IS, at, end, value, (Type(name),))]
    if kind in _K_PATTERNS:
        if len(named) == 1 and _is_parenthesis(walk, node):
            return _pattern(walk, named[0], subject, captured, depth + 1)
        parts = [test for child in named for test in _pattern(walk, child, None, captured, depth + 1) if test is not None]
        return [(_OPAQUE, at, end, parts)]
    if kind == _K_KEYWORD_PATTERN:
        return [test for child in named[1:] for test in _pattern(walk, child, None, captured, depth + 1)]
    return [_EXPR[kind](walk, node, depth + 1)]


_K_PATTERNS = frozenset(
    kind for name in ("list_pattern", "tuple_pattern", "dict_pattern", "splat_pattern") for kind in kind_ids(_LANGUAGE, name)
)


def _capture(node: _Node, name: str, subject: Tree | None, captured: list[Tree]) -> None:
    if name == "_":
        return
    at = node.start_byte
    end = node.end_byte
    value = (_REF, at, end, subject[3]) if subject is not None and subject[0] == _REF else (_OPAQUE, at, end, ())
    captured.append((_ASSIGN, at, end, [(_REF, at, end, name)], "", value, False, None))


# ---------------------------------------------------------------- imports


def _import(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    scope = walk.scope
    for child in node.named_children:
        if child.kind_id == _K_ALIASED:
            name, alias = child.child_by_field_id(_F_NAME), child.child_by_field_id(_F_ALIAS)
            if name is None or alias is None:
                continue
            target = "".join(walk.text(name).split())
            bound, explicit = walk.text(alias), True
        elif child.kind_id == _K_DOTTED:
            target = "".join(walk.text(child).split())
            bound, explicit = target.partition(".")[0], False
        else:
            continue
        walk.imports.append(
            Import(
                child.start_byte,
                child.end_byte,
                target,
                bound,
                function=scope.function,
                guarded=scope.guard > 0,
                explicit=explicit,
            )
        )


def _import_from(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    scope = walk.scope
    module = node.child_by_field_id(_F_MODULE)
    target, level = "__future__", 0
    if module is not None:
        written = "".join(walk.text(module).split())
        target = written.lstrip(".")
        level = len(written) - len(target)
    for child in node.named_children:
        kind = child.kind_id
        if module is not None and child.start_byte == module.start_byte:
            continue
        if kind == _K_WILDCARD:
            name, bound, explicit = "*", "*", False
        elif kind == _K_ALIASED:
            name_node, alias_node = child.child_by_field_id(_F_NAME), child.child_by_field_id(_F_ALIAS)
            if name_node is None or alias_node is None:
                continue
            name, bound, explicit = walk.text(name_node), walk.text(alias_node), True
        elif kind == _K_DOTTED:
            name = bound = walk.text(child)
            explicit = False
        else:
            continue
        walk.imports.append(
            Import(
                child.start_byte,
                child.end_byte,
                target,
                bound,
                name=name,
                level=level,
                function=scope.function,
                guarded=scope.guard > 0,
                explicit=explicit,
            )
        )


# ---------------------------------------------------------------- functions and classes


def _decorated(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    decorators: list[Expr] = []
    for child in node.children:
        kind = child.kind_id
        if kind == _K_DECORATOR:
            for value in _solid_named(child):
                decorators.append(_struct(_EXPR[value.kind_id](walk, value, depth + 1)))
        elif kind == _K_FUNCTION:
            _function(walk, child, depth, out, tuple(decorators), node.start_byte)
        elif kind == _K_CLASS:
            _class(walk, child, depth, out, tuple(decorators), node.start_byte)
        elif kind == ERROR_KIND:
            _broken(walk, child, depth, out)


def _plain_function(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    _function(walk, node, depth, out, (), node.start_byte)


def _plain_class(walk: _Walk, node: _Node, depth: int, out: list[Tree]) -> None:
    _class(walk, node, depth, out, (), node.start_byte)


def _last_names(decorators: tuple[Expr, ...]) -> set[str]:
    """Last names of the decorators, called or not; `x.setter` and its like give none, as they follow a name of the class."""
    names: set[str] = set()
    for decorator in decorators:
        value = decorator.fn if isinstance(decorator, facts.Call) else decorator
        if isinstance(value, Ref):
            names.add(value.name.rpartition(".")[2])
    return names


_STATIC = frozenset({"staticmethod", "abstractstaticmethod"})
_OF_CLASS = frozenset({"classmethod", "abstractclassmethod"})
_PROPERTY = frozenset({"property", "cached_property", "abstractproperty"})
_ABSTRACT = frozenset({"abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"})
_IMPLICIT_CLASS_METHODS = frozenset({"__init_subclass__", "__class_getitem__"})


def _function(walk: _Walk, node: _Node, depth: int, out: list[Tree], decorators: tuple[Expr, ...], at: int) -> None:
    if depth > MAX_DEPTH:
        out.append((_DO, node.start_byte, node.end_byte, _too_deep(walk, node)))
        return
    name_node = node.child_by_field_id(_F_NAME)
    parameters = node.child_by_field_id(_F_PARAMETERS)
    returns = node.child_by_field_id(_F_RETURN)
    body = node.child_by_field_id(_F_BODY)
    if name_node is None:
        _broken(walk, node, depth, out)
        return
    outer = walk.scope
    name = walk.text(name_node)
    marks = _last_names(decorators) if decorators else frozenset()
    is_method = outer.class_index >= 0
    is_static = is_method and not marks.isdisjoint(_STATIC)
    params = _parameters(walk, parameters, depth + 1, has_self=is_method and not is_static) if parameters is not None else ()
    result = (_type(walk, returns, depth + 1),) if returns is not None else ()
    index = walk.new_index()
    inner = _Scope(index, f"{outer.prefix}{name}.")
    walk.enter(inner)
    block: list[Tree] = []
    if body is not None:
        # a body is encoded by itself, but handlers recurse through all levels around it
        _statements(walk, body, depth + 1, block)
    walk.enter(outer)
    walk.bodies[index] = _encoded(block)
    end = node.end_byte
    walk.functions[index] = Function(
        name,
        outer.prefix + name,
        "method" if is_method else "free",
        at,
        end,
        name_node.start_byte,
        params,
        result,
        (),
        decorators,
        outer.class_index,
        outer.function,
        "",
        walk.data[node.start_byte] == 97,
        inner.yields,
        is_static,
        is_method and (not marks.isdisjoint(_OF_CLASS) or name in _IMPLICIT_CLASS_METHODS),
        not marks.isdisjoint(_PROPERTY),
        not marks.isdisjoint(_ABSTRACT) or _is_stub(block),
        tuple(sorted(inner.calls)),
        tuple(sorted(inner.values)),
        tuple(sorted(inner.writes)),
    )
    if is_method:
        outer.methods.append(index)
    else:
        out.append((_DEF, at, end, "function", index, name))


def _is_stub(block: list[Tree]) -> bool:
    """Whether a body does nothing (`...`, `pass`, a docstring) or only raises NotImplementedError."""
    if not block:
        return True
    if len(block) != 1 or block[0][0] != _RAISE or block[0][3] is None:
        return False
    value = block[0][3]
    kind = value[3] if value[0] == _CALL else value
    return bool(kind[0] == _REF and kind[3] == "NotImplementedError")


def _parameters(walk: _Walk, node: _Node, depth: int, *, has_self: bool = False) -> tuple[Param, ...]:
    found: list[Param] = []
    kind: Literal["self", "pos", "kw"] = "self" if has_self else "pos"
    for child in node.named_children:
        node_kind = child.kind_id
        if node_kind == _K_IDENTIFIER:
            text = walk.data[child.start_byte : child.end_byte]
            found.append(Param(_NAMES.get(text) or _new_name(text), kind))
        elif node_kind in (_K_DEFAULT_PARAMETER, _K_TYPED_DEFAULT):
            name, value = child.child_by_field_id(_F_NAME), child.child_by_field_id(_F_VALUE)
            type_node = child.child_by_field_id(_F_TYPE)
            annotation, metadata = (None, ()) if type_node is None else _annotated(walk, type_node, depth)
            default = None if value is None else _struct(_EXPR[value.kind_id](walk, value, depth))
            found.append(Param("" if name is None else walk.text(name), kind, annotation, default, metadata))
        elif node_kind == _K_TYPED_PARAMETER:
            type_node = child.child_by_field_id(_F_TYPE)
            annotation, metadata = (None, ()) if type_node is None else _annotated(walk, type_node, depth)
            named = _solid_named(child)
            if not named:
                continue
            inner = named[0]
            if inner.kind_id == _K_SPLAT_PATTERN:
                found.append(Param(walk.text(inner).lstrip("* "), "*", annotation))
                kind = "kw"
            elif inner.kind_id == _K_DICT_SPLAT_PATTERN:
                found.append(Param(walk.text(inner).lstrip("* "), "**", annotation))
            else:
                found.append(Param(walk.text(inner), kind, annotation, None, metadata))
        elif node_kind == _K_SPLAT_PATTERN:
            found.append(Param(walk.text(child).lstrip("* "), "*"))
            kind = "kw"
        elif node_kind == _K_DICT_SPLAT_PATTERN:
            found.append(Param(walk.text(child).lstrip("* "), "**"))
        elif node_kind == _K_POSITIONAL_SEPARATOR:
            found = [param if param.kind == "self" else msgspec.structs.replace(param, kind="posonly") for param in found]
        elif node_kind == _K_KEYWORD_SEPARATOR:
            kind = "kw"
        elif node_kind not in _EXTRAS:
            # Python 2: `def f(a, (b, c))`
            found.append(Param(walk.text(child), kind))
        if kind == "self" and found:
            kind = "pos"
    return tuple(found)


def _class(walk: _Walk, node: _Node, depth: int, out: list[Tree], decorators: tuple[Expr, ...], at: int) -> None:
    if depth > MAX_DEPTH:
        out.append((_DO, node.start_byte, node.end_byte, _too_deep(walk, node)))
        return
    name_node = node.child_by_field_id(_F_NAME)
    heads = node.child_by_field_id(_F_SUPERCLASSES)
    body = node.child_by_field_id(_F_BODY)
    if name_node is None:
        _broken(walk, node, depth, out)
        return
    scope = walk.scope
    name = walk.text(name_node)
    bases: list[Expr] = []
    keywords: list[Arg] = []
    if heads is not None:
        for value, keyword, spread in _arguments(walk, heads, depth + 1):
            if keyword is None and spread == 0:
                bases.append(_struct(value))
            else:
                keywords.append(Arg(_struct(value), keyword, spread))
    index = len(walk.classes)
    walk.classes.append(None)
    # the body runs in the function around it: its calls are that function's, only names go to the class
    saved = (scope.class_index, scope.fields, scope.methods, scope.prefix, scope.lambdas)
    qual = scope.prefix + name
    scope.class_index, scope.fields, scope.methods, scope.prefix, scope.lambdas = index, [], [], qual + ".", 0
    if body is not None:
        _statements(walk, body, depth + 1, out)
    fields, methods = scope.fields, scope.methods
    scope.class_index, scope.fields, scope.methods, scope.prefix, scope.lambdas = saved
    end = node.end_byte
    walk.classes[index] = Class(
        name,
        qual,
        "class",
        at,
        end,
        name_node.start_byte,
        tuple(bases),
        decorators,
        tuple(fields),
        tuple(methods),
        scope.function,
        scope.class_index,
        keywords=tuple(keywords),
    )
    if scope.class_index < 0:
        out.append((_DEF, at, end, "class", index, name))


# ---------------------------------------------------------------- types


def _annotated(walk: _Walk, node: _Node, depth: int) -> tuple[Type, tuple[Expr, ...]]:
    """A parameter's annotation, and the calls in its metadata: `Annotated[Session, Depends(get_session)]`."""
    text = walk.data[node.start_byte : node.end_byte]
    if b"(" not in text or not text.partition(b"[")[0].rstrip().endswith(b"Annotated"):
        return _type(walk, node, depth), ()
    calls: list[Expr] = []
    inside = [node]
    while inside:
        at = inside.pop()
        if at.kind_id == _K_CALL:
            calls.append(_struct(_EXPR[at.kind_id](walk, at, depth + 1)))
        else:
            inside.extend(reversed(at.named_children))
    return parse_type(text.decode("utf-8", "replace")), tuple(calls)


def _type(walk: _Walk, node: _Node, depth: int) -> Type:
    text = walk.data[node.start_byte : node.end_byte]
    if b"(" in text:
        # calls in metadata, as in `Annotated[Session, Depends(get_session)]`: only their names are kept
        _opaque(walk, node, depth)
    return parse_type(text.decode("utf-8", "replace"))


_types: dict[str, Type] = {}
_MAX_TYPES = 5000
_MAX_TYPE_DEPTH = 30

_TYPE_TOKEN = re.compile(
    r"""(?:\s|\#[^\n]*|\\\r?\n)*(?:([^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*)|(\.\.\.|[][|,()*])|[rRuUbBfF]{0,2}("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\S))"""
)

_LISTS = frozenset({"list", "List", "Sequence", "MutableSequence", "Iterable", "Collection"})
_MAPS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict"})
_WRAPPERS = frozenset({"Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar"})
_UNREAD_ARGUMENTS = frozenset({"Literal"})


class _NotAType(Exception):
    pass


def parse_type(text: str) -> Type:
    """The type of an annotation's text; one that is no type by its form has its text as name."""
    known = _types.get(text)
    if known is None:
        try:
            known = _TypeText(text, 0).whole()
        except _NotAType:
            known = Type(" ".join(text.split())[:200])
        if len(_types) >= _MAX_TYPES:
            _types.clear()
        _types[text] = known
    return known


class _TypeText:
    """Reads a type from its text: names, brackets, `|`, and quoted types."""

    def __init__(self, text: str, depth: int) -> None:
        self.tokens: list[tuple[str, str]] = []
        for name, mark, quoted, other in _TYPE_TOKEN.findall(text):
            if other:
                self.tokens.append(("other", other))
            elif name:
                self.tokens.append(("name", name if name.isidentifier() else "".join(name.split())))
            elif mark:
                self.tokens.append(("mark", mark))
            else:
                self.tokens.append(("quoted", quoted[1:-1]))
        self.position = 0
        self.depth = depth

    def whole(self) -> Type:
        found = self.union(self.depth)
        if self.position != len(self.tokens):
            raise _NotAType
        return found

    def peek(self, mark: str) -> bool:
        return self.position < len(self.tokens) and self.tokens[self.position] == ("mark", mark)

    def union(self, depth: int) -> Type:
        parts = [self.term(depth)]
        while self.peek("|"):
            self.position += 1
            parts.append(self.term(depth))
        return parts[0] if len(parts) == 1 else _union(parts)

    def term(self, depth: int) -> Type:
        if depth > _MAX_TYPE_DEPTH or self.position >= len(self.tokens):
            raise _NotAType
        sort, text = self.tokens[self.position]
        self.position += 1
        if sort == "quoted":
            return _TypeText(text, depth + 1).whole()
        if sort == "name":
            if not self.peek("["):
                return _shaped(text, [])
            if text.rpartition(".")[2] in _UNREAD_ARGUMENTS:
                self.skip()
                return Type(text)
            return _shaped(text, self.arguments(depth + 1, only_first=text.rpartition(".")[2] == "Annotated"))
        if text == "...":
            return Type("...")
        if text == "*":
            return self.term(depth + 1)
        if text == "(":
            inner = self.union(depth + 1)
            if not self.peek(")"):
                raise _NotAType
            self.position += 1
            return inner
        if text == "[":
            self.position -= 1
            return Type("", tuple(self.arguments(depth + 1)), "list")
        raise _NotAType

    def arguments(self, depth: int, *, only_first: bool = False) -> list[Type]:
        """What stands between brackets, the opening one being next."""
        start = self.position
        self.position += 1
        found: list[Type] = []
        while not self.peek("]"):
            found.append(self.union(depth))
            if only_first:
                self.position = start
                self.skip()
                return found
            if self.peek(","):
                self.position += 1
            elif not self.peek("]"):
                raise _NotAType
        self.position += 1
        return found

    def skip(self) -> None:
        """Passes over balanced brackets, the opening one being next."""
        level = 0
        while self.position < len(self.tokens):
            token = self.tokens[self.position]
            self.position += 1
            if token == ("mark", "["):
                level += 1
            elif token == ("mark", "]"):
                level -= 1
                if level == 0:
                    return
        raise _NotAType


def _shaped(name: str, arguments: list[Type]) -> Type:
    last = name.rpartition(".")[2]
    if last == "Optional" and len(arguments) == 1:
        return _union([arguments[0], Type("None")])
    if last == "Union" and arguments:
        return _union(arguments)
    if last in _WRAPPERS and arguments:
        return arguments[0]
    if last in _LISTS:
        return Type(name, tuple(arguments), "list")
    if last in _MAPS:
        return Type(name, tuple(arguments), "map")
    if last == "Callable":
        if arguments and not arguments[0].name and arguments[0].shape == "list":
            arguments = [*arguments[0].args, *arguments[1:]]
        return Type(name, tuple(arguments), "fn")
    if last in ("tuple", "Tuple") and len(arguments) == 2 and arguments[1].name == "...":
        return Type(name, (arguments[0],), "list")
    return Type(name, tuple(arguments))


def _union(parts: Iterable[Type]) -> Type:
    """One type of several: `None` among them makes it optional."""
    kept: list[Type] = []
    is_optional = False
    for part in parts:
        if part.name == "None":
            is_optional = True
        elif part.name == "Union":
            kept.extend(part.args)
            is_optional |= part.shape == "opt"
        elif part not in kept:
            kept.append(part)
    if not kept:
        return Type("None")
    if len(kept) == 1:
        return Type(kept[0].name, kept[0].args, "opt") if is_optional else kept[0]
    return Type("Union", tuple(kept), "opt" if is_optional else "plain")


# ---------------------------------------------------------------- the tables


def _fill_tables() -> None:
    values: dict[str, Handler] = {
        "identifier": _identifier,
        "dotted_name": _attribute_like,
        "attribute": _attribute,
        "true": _true,
        "false": _false,
        "none": _none,
        "integer": _integer,
        "float": _float,
        "string": _string,
        "concatenated_string": _concatenated,
        "ellipsis": _nothing,
        "parenthesized_expression": _parenthesized,
        "call": _call,
        "list_splat": _splatted,
        "subscript": _subscript,
        "slice": _slice,
        "binary_operator": _binary,
        "boolean_operator": _binary,
        "comparison_operator": _comparison,
        "unary_operator": _unary,
        "not_operator": _unary,
        "conditional_expression": _conditional,
        "named_expression": _named,
        "await": _await,
        "yield": _yield,
        "lambda": _lambda,
        "list": _list,
        "tuple": _tuple,
        "expression_list": _tuple,
        "pattern_list": _tuple,
        "tuple_pattern": _tuple,
        "set": _set,
        "dictionary": _dictionary,
        "list_comprehension": _list_comprehension,
        "set_comprehension": _set_comprehension,
        "dictionary_comprehension": _dictionary_comprehension,
        "generator_expression": _generator,
        "as_pattern": _as_pattern,
    }
    statements: dict[str, StatementHandler | None] = {
        "expression_statement": _expression_statement,
        "assignment": _assignment,
        "augmented_assignment": _augmented,
        "return_statement": _return,
        "raise_statement": _raise,
        "break_statement": _break,
        "continue_statement": _continue,
        "pass_statement": None,
        "assert_statement": _assert,
        "print_statement": _loose_statement,
        "exec_statement": _loose_statement,
        "delete_statement": _delete,
        "global_statement": _global,
        "nonlocal_statement": _nonlocal,
        "type_alias_statement": _type_alias,
        "if_statement": _if,
        "while_statement": _while,
        "for_statement": _for,
        "try_statement": _try,
        "with_statement": _with,
        "match_statement": _match,
        "import_statement": _import,
        "import_from_statement": _import_from,
        "future_import_statement": _import_from,
        "function_definition": _plain_function,
        "class_definition": _plain_class,
        "decorated_definition": _decorated,
        "comment": None,
        "line_continuation": None,
        "block": _statements,
    }
    for kind in range(_LANGUAGE.node_kind_count):
        name = _LANGUAGE.node_kind_for_id(kind)
        if name is None or not _LANGUAGE.node_kind_is_named(kind):
            _EXPR[kind] = _nothing
            _STMT[kind] = None
        elif name in values:
            _EXPR[kind] = values[name]
            _STMT[kind] = _bare
        elif name in statements:
            _STMT[kind] = statements[name]
            _EXPR[kind] = _stray
        else:
            _EXPR[kind] = _opaque
            _STMT[kind] = _broken
    _EXPR[ERROR_KIND] = _opaque
    _STMT[ERROR_KIND] = _broken


def _attribute_like(walk: _Walk, node: _Node, depth: int) -> Tree:
    """A dotted name that stands as a value (in patterns and broken code)."""
    name = "".join(walk.text(node).split())
    walk.values.add(name)
    return (_REF, node.start_byte, node.end_byte, name)


_fill_tables()
