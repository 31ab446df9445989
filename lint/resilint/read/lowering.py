"""What the readers of Go and Java share: both walk a tree of tree-sitter once and make structs of its nodes.

A `Grammar` has the ids of a language and its tables of handlers, a `Reading` what these share while one file is read. Handlers
are functions found by the kind of the node; they take the depth of nesting, and cut what lies deeper than `MAX_DEPTH`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from msgspec import Raw
from tree_sitter import Language, Node, Parser

from resilint.facts import (
    Bin,
    Class,
    Do,
    Expr,
    FileFacts,
    Function,
    Import,
    Jump,
    Lit,
    Opaque,
    Param,
    ReadError,
    Ref,
    Stmt,
    Type,
    encode_block,
)
from resilint.read.comments import suppressions
from resilint.read.treesitter import ERROR_KIND, MAX_ERRORS, broken_places, comment_finder, field_id, kind_ids, text_of
from resilint.text import says_generated

MAX_DEPTH = 120
"""Nesting below this is kept; deeper parts become an `Opaque` and a `ReadError`. An expression or block level costs up to four
levels of the body's decoder, which has about a thousand."""

MAX_ITEMS = 64
"""Items kept of a collection."""

MAX_CHAIN = 32
"""Operators in a row that stay nested as written; longer chains are built in a shallow form."""

_MAX_KNOWN = 20_000
_NO_BODY = encode_block(())
_NO_FUNCTION = Function("", "", "free", 0, 0, 0)
_ASSOCIATIVE = frozenset(("+", "*", "&", "|", "^", "and", "or"))
_OPERATORS = {op: op for op in ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=")} | {
    "&&": "and",
    "||": "or",
}

# Annotated with `Any`: each language's handlers take their own kind of `Reading`.
ExprHandler = Callable[[Any, Node, int], Expr]
StmtHandler = Callable[[Any, Node, int, list[Stmt]], None]
TypeHandler = Callable[[Any, Node, int], Type]

# ---------------------------------------------------------------- a language


class Grammar:
    """The ids of a language's grammar, and what to do with the nodes of each kind.

    `expr` and `stmt` are as long as the largest id of a kind, so that no look-up needs a test; what has no handler there is no
    expression or statement. `quoted` are the kinds of comments and literals of text (see `text_of`),
    `operators` the name in `Bin` of each operator as written.
    """

    def __init__(self, language: Language, comments: Iterable[str], quoted: Iterable[str], operator: str) -> None:
        """`operator` is the one that the language has besides the usual ones. Raises `ValueError` for unknown kinds."""
        self.language = language
        self.parser = Parser(language)
        self.comments = frozenset(self.id(kind) for kind in comments)
        self.quoted = self.comments.union(*(self.ids(kind) for kind in quoted))
        self.binary = self.id("binary_expression")
        self.left = self.field("left")
        self.right = self.field("right")
        self.operator = self.field("operator")
        self.operators = {**_OPERATORS, operator: operator}
        self.expr: list[ExprHandler] = [opaque] * (ERROR_KIND + 1)
        self.stmt: list[StmtHandler] = [stray] * (ERROR_KIND + 1)
        self.statements: set[int] = set()
        self.types: dict[int, TypeHandler] = {}
        self.known_types: dict[str, Type] = {}
        self.known_parameters: dict[str, tuple[Param, ...]] = {"()": ()}

    def ids(self, kind: str) -> tuple[int, ...]:
        """All ids of the named kind of that name."""
        return kind_ids(self.language, kind)

    def id(self, kind: str) -> int:
        """The id of a named kind that has only one."""
        (only,) = self.ids(kind)
        return only

    def field(self, name: str) -> int:
        """The id of a field. Raises `KeyError` if there is none."""
        return field_id(self.language, name)

    def handle_expressions(self, *handlers: tuple[str, ExprHandler]) -> None:
        """Gives kinds their handlers as values."""
        for kind, handler in handlers:
            for id in self.ids(kind):
                self.expr[id] = handler

    def handle_statements(self, *handlers: tuple[str, StmtHandler]) -> None:
        """Gives kinds their handlers as statements."""
        for kind, handler in handlers:
            for id in self.ids(kind):
                self.stmt[id] = handler
                self.statements.add(id)


# ---------------------------------------------------------------- a file


class Reading:
    """What the handlers share while one file is read. `calls`, `values` and `writes` belong to the function being read.

    Tables of the grammar stand here again, because each look-up less counts in a walk.
    """

    __slots__ = (
        "bodies",
        "calls",
        "classes",
        "comments",
        "data",
        "errors",
        "expr",
        "function",
        "functions",
        "grammar",
        "head_end",
        "imports",
        "known_types",
        "label",
        "lambdas",
        "module",
        "package",
        "qual",
        "sound",
        "stmt",
        "text",
        "types",
        "values",
        "writes",
    )

    def __init__(self, grammar: Grammar, data: bytes, root: Node) -> None:
        self.grammar = grammar
        self.comments = grammar.comments
        self.expr = grammar.expr
        self.stmt = grammar.stmt
        self.types = grammar.types
        self.known_types = grammar.known_types
        self.data = data
        self.text = text_of(data, root, grammar.quoted)
        self.sound = not root.has_error
        self.errors: list[ReadError] = broken_places(root, data)
        self.head_end = len(data)
        """Where the first thing stands that is no comment."""
        self.bodies: list[Raw] = [_NO_BODY]
        self.calls: set[str] = set()
        self.classes: list[Class] = []
        self.function = 0
        self.functions: list[Function] = [_NO_FUNCTION]
        self.imports: list[Import] = []
        self.label: str | None = None
        self.lambdas = 0
        self.module: list[Stmt] = []
        self.package = ""
        self.qual = ""
        self.values: set[str] = set()
        self.writes: set[str] = set()


def facts_of(r: Reading, root: Node, language: Literal["go", "java"], hard: ReadError | None) -> FileFacts:
    """The facts of a file whose tree has been walked; `hard` is where the tree ends before the file does."""
    if hard is not None:
        r.errors = [hard]
    r.functions[0] = Function(
        "<module>",
        "<module>",
        "module",
        0,
        len(r.data),
        0,
        calls=tuple(sorted(r.calls)),
        values=tuple(sorted(r.values)),
        writes=tuple(sorted(r.writes)),
    )
    if r.module:
        r.bodies[0] = encode_block(tuple(r.module))
    return FileFacts(
        language,
        r.package,
        tuple(r.imports),
        tuple(r.functions),
        tuple(r.classes),
        None,
        tuple(r.bodies),
        (),
        suppressions(r.data, comment_finder(root, tuple(r.comments))),
        tuple(sorted(r.errors, key=_error_key)[:MAX_ERRORS]),
        says_generated(r.data[: r.head_end], language),
    )


def _error_key(error: ReadError) -> tuple[int, str]:
    return error.at, error.message


def too_deep(r: Reading, n: Node) -> Opaque:
    """What stands for a node below `MAX_DEPTH`."""
    at = n.start_byte
    if len(r.errors) < 2 * MAX_ERRORS:
        r.errors.append(ReadError(at, "nested too deeply to read"))
    return Opaque(at, n.end_byte, ())


def reserve(r: Reading) -> int:
    """The index of the next function, so that functions inside it come after it."""
    index = len(r.functions)
    r.functions.append(_NO_FUNCTION)
    r.bodies.append(_NO_BODY)
    return index


def first_child(r: Reading, n: Node) -> Node | None:
    """The first named child that is no comment."""
    comments = r.comments
    for kid in n.named_children:
        if kid.kind_id not in comments:
            return kid
    return None


def solid(r: Reading, n: Node) -> list[Node]:
    """The named children that are no comments."""
    comments = r.comments
    return [kid for kid in n.named_children if kid.kind_id not in comments]


# ---------------------------------------------------------------- types and parameters


def type_of(r: Reading, n: Node, d: int) -> Type:
    """A type, remembered by its text: a type has no position, and the same few are written again and again.

    What is remembered must not change any result: a broken file may read the same text otherwise, and deep in another type the
    bound of depth may cut it, so neither takes part.
    """
    at = n.start_byte
    end = n.end_byte
    if end - at > 80 or d > MAX_DEPTH - 80 or not r.sound:
        return new_type(r, n, d)
    text = r.text[at:end]
    known = r.known_types.get(text)
    if known is not None:
        return known
    made = new_type(r, n, d)
    if len(r.known_types) >= _MAX_KNOWN:
        r.known_types.clear()
    r.known_types[text] = made
    return made


def new_type(r: Reading, n: Node, d: int) -> Type:
    """A type that is not looked up by its text."""
    if d > MAX_DEPTH:
        too_deep(r, n)
        return Type("")
    handler = r.types.get(n.kind_id)
    return Type("") if handler is None else handler(r, n, d)


def named_type(r: Reading, n: Node, d: int) -> Type:
    """A type that is its name."""
    return Type(r.text[n.start_byte : n.end_byte])


def parameters_of(r: Reading, n: Node, new: Callable[[Any, Node], tuple[Param, ...]]) -> tuple[Param, ...]:
    """A list of parameters, read by `new` and remembered by its text as types are.

    One with annotations is not remembered, for these have positions.
    """
    at = n.start_byte
    end = n.end_byte
    if end - at > 160 or not r.sound:
        return new(r, n)
    text = r.text[at:end]
    found = r.grammar.known_parameters
    known = found.get(text)
    if known is not None:
        return known
    made = new(r, n)
    if "@" not in text:
        if len(found) >= _MAX_KNOWN:
            found.clear()
        found[text] = made
    return made


# ---------------------------------------------------------------- expressions


def null(r: Reading, n: Node, d: int) -> Expr:
    """The literal that is no value."""
    return Lit(n.start_byte, n.end_byte, None)


def true(r: Reading, n: Node, d: int) -> Expr:
    """The literal `true`."""
    return Lit(n.start_byte, n.end_byte, True)


def false(r: Reading, n: Node, d: int) -> Expr:
    """The literal `false`."""
    return Lit(n.start_byte, n.end_byte, False)


def leaf(r: Reading, n: Node, d: int) -> Expr:
    """Something without a form of its own, of which no part is kept."""
    return Opaque(n.start_byte, n.end_byte, ())


def opaque(r: Reading, n: Node, d: int) -> Expr:
    """Anything without a form of its own; also ERROR, whose readable parts are kept."""
    if d > MAX_DEPTH:
        return too_deep(r, n)
    expr = r.expr
    kids = []
    for kid in n.named_children:
        kind = kid.kind_id
        if kind == ERROR_KIND or expr[kind] is not opaque:
            value = expr[kind](r, kid, d + 1)
            if value.__class__ is not Lit:
                kids.append(value)
    return Opaque(n.start_byte, n.end_byte, tuple(kids))


def paren(r: Reading, n: Node, d: int) -> Expr:
    """What stands in parentheses."""
    if d > MAX_DEPTH:
        return too_deep(r, n)
    inner = first_child(r, n)
    return leaf(r, n, d) if inner is None else r.expr[inner.kind_id](r, inner, d + 1)


def chain_of(r: Reading, n: Node) -> tuple[Node, list[Node], list[str]]:
    """A chain of binary operators: its first operand, then the other operands and the operators, the last written first.

    Chains lean to the left: this walks down without recursion. No operators where a part is missing.
    """
    grammar = r.grammar
    operators = grammar.operators
    binary = grammar.binary
    rights: list[Node] = []
    ops: list[str] = []
    node = n
    while node.kind_id == binary:
        kids = node.named_children
        if len(kids) == 2:
            left, right = kids
            op = operators.get(r.text[left.end_byte : right.start_byte].strip())
        else:
            op = None
        if op is None:
            found_left = node.child_by_field_id(grammar.left)
            found_right = node.child_by_field_id(grammar.right)
            operator = node.child_by_field_id(grammar.operator)
            if found_left is None or found_right is None or operator is None:
                break
            left, right = found_left, found_right
            op = operators.get(operator.type, operator.type)
        rights.append(right)
        ops.append(op)
        node = left
    return node, rights, ops


def chained(r: Reading, n: Node, first: Node, rights: list[Node], ops: list[str], d: int) -> Expr:
    """The value of a chain as `chain_of` gives it, built from the inside."""
    count = len(ops)
    if count > MAX_CHAIN:
        return long_chain(r, n, first, rights, ops, d)
    at = first.start_byte
    made = operand_of(r, first, d + count)
    while count:
        count -= 1
        right = rights[count]
        made = Bin(at, right.end_byte, ops[count], made, r.expr[right.kind_id](r, right, d + count + 1))
    return made


def operand_of(r: Reading, n: Node, d: int) -> Expr:
    """The operand at the end of a chain: no chain again, where that is broken."""
    kind = n.kind_id
    return r.expr[kind](r, n, d) if kind != r.grammar.binary else opaque(r, n, d)


def long_chain(r: Reading, n: Node, first: Node, rights: list[Node], ops: list[str], d: int) -> Expr:
    """A chain too long to stay nested: balanced where the operator allows it, else its operands side by side."""
    nodes = [first, *reversed(rights)]
    depth = d + len(nodes).bit_length() + 1
    operands = [operand_of(r, node, depth) for node in nodes]
    if ops[0] not in _ASSOCIATIVE or ops.count(ops[0]) != len(ops):
        return Opaque(n.start_byte, n.end_byte, tuple(operands))
    # Spans come from the syntax nodes: a parenthesised operand is wider than what it lowers to.
    parts = [(node.start_byte, node.end_byte, value) for node, value in zip(nodes, operands, strict=True)]
    while len(parts) > 1:
        joined = [
            (left[0], right[1], Bin(left[0], right[1], ops[0], left[2], right[2]))
            for left, right in zip(parts[::2], parts[1::2], strict=False)
        ]
        parts = [*joined, parts[-1]] if len(parts) % 2 else list(joined)
    return parts[0][2]


# ---------------------------------------------------------------- statements


def nothing(r: Reading, n: Node, d: int, out: list[Stmt]) -> None:
    """Comments, and statements that do nothing."""


def cut(r: Reading, n: Node, out: list[Stmt]) -> None:
    """A statement below `MAX_DEPTH`."""
    out.append(Do(n.start_byte, n.end_byte, too_deep(r, n)))


def stray(r: Reading, n: Node, d: int, out: list[Stmt]) -> None:
    """Something that is no statement, in a broken place: its statements, and its expressions for their calls."""
    if d > MAX_DEPTH:
        cut(r, n, out)
        return
    handler = r.expr[n.kind_id]
    if n.kind_id != ERROR_KIND and handler is not opaque:
        value = handler(r, n, d)
        if value.__class__ is not Lit and value.__class__ is not Ref:
            out.append(Do(n.start_byte, n.end_byte, value))
        return
    for kid in n.named_children:
        r.stmt[kid.kind_id](r, kid, d + 1, out)


def jump(kind: Literal["break", "continue", "goto", "fallthrough"]) -> StmtHandler:
    """The handler of a jump, with its label if it has one."""

    def handler(r: Reading, n: Node, d: int, out: list[Stmt]) -> None:
        label = first_child(r, n)
        out.append(Jump(n.start_byte, n.end_byte, kind, None if label is None else r.text[label.start_byte : label.end_byte]))

    return handler
