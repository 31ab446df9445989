"""Statements of SQL, and of languages near it, as far as rules ask: what is picked by which conditions, and is it limited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

HOLE = "\0"
"""Stands in a text for a part that is not known."""

_LONGEST = 20_000
"""Characters of a statement that are looked at."""
_TOKEN = re.compile(
    r"""--[^\n]*|\#(?![{>-])[^\n]*(?=\n)|/\*.*?\*/          # comments
    |'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\[\w+\]                  # texts and quoted names
    |(?:[$]\w+|[:@]\w+|\#\{[^}]*\}|[$]\{[^}]*\}|%\(\w+\)s|%s|\?\d*)   # places for values
    |[\w$\0]+(?:\s*\.\s*(?:[\w$\0*]+|"[^"]*"|`[^`]*`|\[\w+\]))*
    |<=|>=|<>|!=|==|::|\|\||[^\s]""",
    re.VERBOSE | re.DOTALL,
)
_STARTS = re.compile(r"[\s(]*(select|with|from|update|delete|insert|replace|merge|upsert)\b", re.IGNORECASE)
_NEEDS = {
    verb: re.compile(rf"\b{word}\b", re.IGNORECASE)
    for verb, word in {
        "select": "from",
        "with": "from",
        "from": r"from\s+\w+",
        "update": "set",
        "delete": "from",
        "insert": "into",
        "replace": "into",
        "merge": "into",
        "upsert": "into",
    }.items()
}
"""What a statement of each verb cannot do without."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AGGREGATES = frozenset(
    {"count", "sum", "min", "max", "avg", "exists", "bool_or", "bool_and", "coalesce", "stddev", "percentile_cont"}
)
_COMPARES = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">=", "in", "not", "is", "between", "like", "ilike"})
_CLAUSES = frozenset(
    {"group", "order", "having", "limit", "fetch", "for", "union", "intersect", "except", "window", "offset", "returning"}
)
_FILLS = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">=", "(", ",", "||", "+", "-", "*", "/", "::"}) | frozenset(
    {
        "in",
        "like",
        "ilike",
        "between",
        "from",
        "join",
        "select",
        "distinct",
        "into",
        "update",
        "by",
        "interval",
        "limit",
        "offset",
        "top",
        "as",
        "and_",
    }
)
"""Behind these a value or a name stands, no condition and no clause."""
_LIMITS = frozenset({"limit", "top", "rownum", "row_number", "rank", "dense_rank", "tablesample"})


class Condition(NamedTuple):
    """A column compared with something: its bare name, how, and the literals or names it is compared with in small letters; `?` for
    a value that is handed in."""

    column: str
    op: str
    values: tuple[str, ...]


class Statement(NamedTuple):
    """One statement. `verb` is in small letters; a query that begins with `from` (as JPQL allows) is a select."""

    verb: str
    tables: tuple[str, ...]
    conditions: tuple[Condition, ...]
    is_limited: bool
    """Something limits the number of rows, whatever the number is."""
    is_aggregate: bool
    """It gives numbers or groups, or asks only whether there is a row."""
    is_open: bool
    """A part that is not known may hold a condition or a limit."""


def begins_like_sql(text: str) -> bool:
    """Whether a text begins as statements do, whatever follows."""
    return _STARTS.match(text[:200]) is not None


def reads_like_sql(text: str) -> bool:
    """Whether a text is a statement."""
    begin = _STARTS.match(text) if len(text) >= 12 else None
    return begin is not None and _NEEDS[begin[1].lower()].search(text[:_LONGEST]) is not None


@lru_cache(maxsize=512)
def read_statement(text: str) -> Statement | None:
    """The statement of a text with holes; `None` where it is none. Of several statements the first is meant."""
    if not reads_like_sql(text):
        return None
    tokens = [
        t
        for t in _TOKEN.findall(text[:_LONGEST])
        if not t.startswith(("--", "/*")) and not (t[0] == "#" and not t.startswith("#{"))
    ]
    return _read([plain for token in tokens if (plain := _plain(token))])


def read_conditions(text: str) -> tuple[Condition, ...]:
    """The conditions of a fragment: `status = ? AND created_at < ?`."""
    return tuple(_conditions([plain for token in _TOKEN.findall(text[:_LONGEST]) if (plain := _plain(token))]))


def _plain(token: str) -> str:
    """A token as it is compared: words in small letters, names without quotes; texts keep theirs."""
    if token[0] == "'":
        return token.lower()
    if token[0] in '"`[':
        return token[1:-1].lower() if len(token) > 2 else token
    if token[0] in "?%:@" or token.startswith(("$", "#{")):
        return "?" if len(token) > 1 or token == "?" else token
    # JPQL writes the column `updated_at` as `updatedAt`.
    name = "".join(part.strip('"`[]') for part in re.split(r"(\s*\.\s*)", token)).replace(" ", "")
    return _CAMEL.sub("_", name).lower()


def _read(tokens: list[str]) -> Statement | None:
    depth = 0
    verb, start = "", 0
    for i, token in enumerate(tokens):
        depth += (token == "(") - (token == ")")
        if token in ("select", "from", "update", "delete", "insert", "replace", "merge", "upsert") and (
            depth == 0 or not i or set(tokens[:i]) == {"("}
        ):
            verb, start = token, i
            break
    if not verb:
        return None
    is_select = verb in ("select", "from")
    limited = any(_limits(tokens, i) for i in _outside_of_columns(tokens, start))
    return Statement(
        verb="select" if is_select else verb,
        tables=tuple(dict.fromkeys(_tables(tokens))),
        conditions=tuple(_conditions(tokens)),
        is_limited=limited,
        is_aggregate=is_select and _is_aggregate(tokens[start:]),
        is_open=any(HOLE in token and not _is_value(tokens, i) for i, token in enumerate(tokens)),
    )


def _outside_of_columns(tokens: list[str], start: int) -> Iterator[int]:
    """Positions of all tokens but those of queries inside the list of columns, which limit only themselves."""
    depth, columns = 0, True
    for i, token in enumerate(tokens):
        depth += (token == "(") - (token == ")")
        if i > start and token == "from" and depth <= 0:
            columns = False
        if not (columns and i > start and depth > 0):
            yield i


def _limits(tokens: list[str], i: int) -> bool:
    token = tokens[i].rpartition(".")[2]
    following = tokens[i + 1] if i + 1 < len(tokens) else ""
    if token == "fetch":
        return following in ("first", "next")
    return token in _LIMITS and following not in ("all", "")


def _is_value(tokens: list[str], i: int) -> bool:
    """Whether a hole stands where only a value or a name can."""
    token = tokens[i]
    if token != HOLE:
        return token[0] == "'" or "." in token or token.replace(HOLE, "") != ""
    before = tokens[i - 1] if i else ""
    if before in _FILLS:
        # `from {table}` and `select {columns}`; but in `(…)` behind `where` a hole may be a condition.
        return True
    return before == "and" and "between" in tokens[max(i - 4, 0) : i]


def _tables(tokens: list[str]) -> Iterator[str]:
    for i, (before, token) in enumerate(pairwise(tokens)):
        locks = before == "update" and i > 0 and tokens[i - 1] == "for"
        if before in ("from", "join", "into", "update") and not locks and token[0] not in "(?'":
            yield token.rpartition(".")[2]


def _is_aggregate(tokens: list[str]) -> bool:
    """Whether what is selected is a number, a group, or a constant."""
    if tokens[:1] != ["select"]:
        return False
    depth = 0
    items: list[list[str]] = [[]]
    for token in tokens[1:]:
        if token == "from" and depth == 0:
            break
        depth += (token == "(") - (token == ")")
        if token == "," and depth == 0:
            items.append([])
        else:
            items[-1].append(token)
    firsts = [item[0] if item[:1] != ["distinct"] else item[1] for item in items if len(item) > (item[:1] == ["distinct"])]
    if "group" in tokens and "by" in tokens:
        return True
    return bool(firsts) and all(first in _AGGREGATES or first.isdigit() or first == "'x'" for first in firsts)


def _conditions(tokens: list[str]) -> Iterator[Condition]:
    for i, token in enumerate(tokens):
        following = tokens[i + 1] if i + 1 < len(tokens) else ""
        if not _is_name(token):
            continue
        if following in _COMPARES:
            yield _condition(tokens, i)
        elif following in ("and", "or", ")", "", "order", "limit", "for", "group"):
            before = tokens[i - 1] if i else ""
            if before == "not":
                yield Condition(token.rpartition(".")[2], "not", ())
        elif _mirrored(tokens, i):
            yield Condition(token.rpartition(".")[2], tokens[i - 1], (tokens[i - 2],))


def _mirrored(tokens: list[str], i: int) -> bool:
    """Whether a column stands on the right: `now() >= due_at`."""
    return i >= 2 and tokens[i - 1] in ("<", "<=", ">", ">=")


def _is_name(token: str) -> bool:
    return (
        (token[0].isalpha() or token[0] == "_")
        and token not in _COMPARES
        and token not in _CLAUSES
        and token not in ("and", "or", "where", "on", "set")
    )


def _condition(tokens: list[str], i: int) -> Condition:
    column = tokens[i].rpartition(".")[2]
    op, at = tokens[i + 1], i + 2
    if op == "not" and at < len(tokens):
        op, at = f"not {tokens[at]}", at + 1
    if op == "is":
        if at < len(tokens) and tokens[at] == "not":
            return Condition(column, "is not", tuple(tokens[at + 1 : at + 2]))
        return Condition(column, "is", tuple(tokens[at : at + 1]))
    values: list[str] = []
    depth = 0
    for token in tokens[at : at + 40]:
        depth += (token == "(") - (token == ")")
        if depth < 0 or token in _CLAUSES or (token in ("and", "or", "where") and depth == 0) or token == ";":
            break
        if token not in "(),":
            values.append(token.strip("'").rpartition(".")[2] if token[0] != "?" else token)
        if depth == 0 and token != "(" and op in ("=", "==", "<>", "!="):
            break
    return Condition(column, op, tuple(values))
