"""Edits of source text that keep its form: indentation, comments, trailing commas, line ends. Offsets are bytes."""

from __future__ import annotations

import re
from typing import NamedTuple

from resilint import facts as f

_COMMENTS = {"python": re.compile(rb"#[^\n]*"), "go": re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)}
_COMMENTS["java"] = _COMMENTS["go"]
_SPACE = re.compile(rb"(?:\s|\\\r?\n)+")


class Cut(NamedTuple):
    """The bytes from `at` to `end` give way to a text."""

    at: int
    end: int
    text: str


def line_end(source: bytes) -> str:
    """How the lines of a file end."""
    first = source.find(b"\n")
    return "\r\n" if first > 0 and source[first - 1] == 0x0D else "\n"


def indentation(source: bytes, at: int) -> str:
    """The white space that the line of an offset begins with."""
    start = source.rfind(b"\n", 0, at) + 1
    found = re.compile(rb"[ \t]*").match(source, start)
    return found[0].decode() if found is not None else ""


def end_of_line(source: bytes, at: int) -> int:
    """Where the line of an offset ends, its line end not included."""
    end = source.find(b"\n", at)
    end = len(source) if end < 0 else end
    return end - 1 if end > at and source[end - 1] == 0x0D else end


def appended(
    source: bytes, language: str, opening: int, last: int | None, closing: int, texts: tuple[str, ...], *, in_row: bool = False
) -> tuple[Cut, ...] | None:
    """More elements in a list between brackets. `opening` and `closing` are the brackets' offsets, `last` is where the last
    element ends, as facts have it (parentheses around it may follow). `in_row`: several stand on a line, and so do the new ones."""
    comment = _COMMENTS[language]
    at, code, comma = (opening + 1 if last is None else last), (opening + 1 if last is None else last), None
    while at < closing:
        if (found := _SPACE.match(source, at, closing)) or (found := comment.match(source, at, closing)):
            at = found.end()
        elif source[at] == 0x2C and comma is None and last is not None:
            at = code = comma = at + 1
        elif source[at] == 0x29 and comma is None and last is not None:
            at = code = at + 1
        else:
            return None
    text = ", ".join(texts)
    if last is None:
        return (Cut(opening + 1, opening + 1, text),)
    if b"\n" not in source[code:closing]:
        # The closing bracket stands on the line of the last element.
        return (Cut(code, code, f" {text}" if comma is not None else f", {text}"),)
    if in_row:
        return (Cut(code, code, f" {text}," if comma is not None else f", {text}"),)
    row = end_of_line(source, code)
    if row >= closing:
        return None
    gap = f"{line_end(source)}{_row_indent(source, opening, code)}"
    below = gap + f",{gap}".join(texts)
    if comma is not None:
        return (Cut(row, row, f"{below},"),)
    if row == code:
        return (Cut(code, code, f",{below}"),)
    return (Cut(code, code, ","), Cut(row, row, below))


def _row_indent(source: bytes, opening: int, last: int) -> str:
    """How the elements of a list are indented that has lines of its own."""
    start = source.find(b"\n", opening, last)
    if start < 0:
        return indentation(source, opening) + ("\t" if indentation(source, opening).startswith("\t") else "    ")
    while (found := _SPACE.match(source, start, last)) is None:
        start += 1
    return indentation(source, found.end())


def argument(source: bytes, language: str, call: f.Call, text: str) -> tuple[Cut, ...] | None:
    """One more argument at the end of a call."""
    closing = call.end - 1
    opening = opening_of(source, call)
    if opening is None:
        return None
    if not call.args:
        return appended(source, language, opening, None, closing, (text,))
    *others, last = sorted((arg.value for arg in call.args), key=lambda value: value.end)
    if last.end > closing:
        # A generator that is the only argument has no parentheses of its own.
        return None
    row = source.rfind(b"\n", 0, last.at)
    in_row = any(other.end > row for other in others)
    return appended(source, language, opening, last.end, closing, (text,), in_row=in_row)


def opening_of(source: bytes, call: f.Call) -> int | None:
    """The parenthesis that opens the arguments, behind type arguments if there are any; none where no parenthesis ends the call."""
    at, closing, depth = call.fn.end, call.end - 1, 0
    if source[closing : closing + 1] != b")":
        return None
    for place in range(at, closing):
        char = source[place]
        if char == 0x28 and depth == 0:
            return place
        depth += (char in b"[<") - (char in b"]>")
    return None


def entry(source: bytes, language: str, new: f.New, values: dict[str, str]) -> tuple[Cut, ...] | None:
    """More fields in a composite literal whose fields are named."""
    closing = new.end - 1
    opening = source.find(b"{", new.at, new.end)
    if opening < 0 or source[closing : closing + 1] != b"}" or any(pair.key is None for pair in new.fields):
        return None
    last = max((pair.value.end for pair in new.fields), default=None)
    if last is None or b"\n" not in source[last:closing]:
        return appended(source, language, opening, last, closing, tuple(f"{name}: {text}" for name, text in values.items()))
    rows = _rows_above(source, new)
    width = max(len(name) for name in (*values, *(name for name, _ in rows)))
    padded = tuple(f"{name + ':':<{width + 2}}{text}" for name, text in values.items())
    cuts = appended(source, language, opening, last, closing, padded)
    if cuts is None:
        return None
    return (*_into_column(source, rows, width), *cuts)


def _rows_above(source: bytes, new: f.New) -> list[tuple[str, f.Expr]]:
    """The last fields of a literal that stand below each other, a line each: gofmt puts their values into one column."""
    rows: list[tuple[str, f.Expr]] = []
    below = source.find(b"\n", max(pair.value.end for pair in new.fields))
    for pair in reversed(new.fields):
        key = pair.key
        end = source.find(b"\n", pair.value.end)
        if not isinstance(key, f.Ref) or end != below or b"\n" in source[key.at : pair.value.end]:
            break
        start = source.rfind(b"\n", 0, key.at)
        if source[start + 1 : key.at].strip() or source[key.end : key.end + 1] != b":":
            break
        rows.append((key.name, pair.value))
        below = start
    return rows


def _into_column(source: bytes, rows: list[tuple[str, f.Expr]], width: int) -> list[Cut]:
    """Moves the values of fields so far to the right that the longest name fits."""
    cuts = []
    for name, value in rows:
        colon = source.rfind(b":", 0, value.at)
        gap = " " * (width - len(name) + 1)
        if not source[colon + 1 : value.at].strip() and source[colon + 1 : value.at] != gap.encode():
            cuts.append(Cut(colon + 1, value.at, gap))
    return cuts


# ---------------------------------------------------------------- imports

_GO_PACKAGE = re.compile(rb"^package[ \t]+\w+", re.MULTILINE)
_JAVA_PACKAGE = re.compile(rb"^package[ \t]+[\w.]+[ \t]*;", re.MULTILINE)


def imported(source: bytes, language: str, imports: tuple[f.Import, ...], target: str) -> Cut | None:
    """The import of a Go package or a Java class, where its like are sorted in."""
    end = line_end(source)
    if language == "go":
        return _go_import(source, imports, target, end)
    if language == "java":
        return _java_import(source, imports, target, end)
    return None


def _go_import(source: bytes, imports: tuple[f.Import, ...], target: str, end: str) -> Cut | None:
    plain = [imp for imp in imports if imp.target != "C"]
    if not plain:
        found = _GO_PACKAGE.search(source)
        at = end_of_line(source, found.end()) if found is not None else None
        return Cut(at, at, f'{end}{end}import "{target}"') if at is not None else None
    first = plain[0]
    start = source.rfind(b"\n", 0, first.at) + 1
    if source[start : first.at].lstrip().startswith(b"import"):
        opened = b"(" in source[start : first.at]
        if opened:
            return Cut(first.at, first.at, f'"{target}"; ')
        spec = source[first.at : first.end].decode("utf-8", "replace")
        rows = sorted((spec, f'"{target}"'), key=lambda row: row.partition('"')[2])
        return Cut(source.find(b"import", start), first.end, f"import ({end}\t{rows[0]}{end}\t{rows[1]}{end})")
    standard = [imp for imp in plain if "." not in imp.target.partition("/")[0] and _own_row(source, imp)]
    before = [imp for imp in standard if imp.target < target]
    if before:
        at = end_of_line(source, before[-1].end)
        return Cut(at, at, f'{end}{indentation(source, before[-1].at)}"{target}"')
    at = (standard or plain)[0].at
    at = source.rfind(b"\n", 0, at) + 1
    gap = "" if standard else end
    return Cut(at, at, f'{indentation(source, first.at)}"{target}"{end}{gap}')


def _own_row(source: bytes, imp: f.Import) -> bool:
    start = source.rfind(b"\n", 0, imp.at) + 1
    return not source[start : imp.at].strip() and b"\n" not in source[imp.at : imp.end]


def _java_import(source: bytes, imports: tuple[f.Import, ...], target: str, end: str) -> Cut | None:
    plain = [imp for imp in imports if not imp.is_static]
    line = f"import {target};"
    before = [imp for imp in plain if f"{imp.target}.{imp.name}" < target]
    if before:
        at = end_of_line(source, before[-1].end)
        return Cut(at, at, end + line)
    if imports:
        at = source.rfind(b"\n", 0, imports[0].at) + 1
        return Cut(at, at, line + end)
    found = _JAVA_PACKAGE.search(source)
    if found is not None:
        at = end_of_line(source, found.end())
        return Cut(at, at, f"{end}{end}{line}")
    return Cut(0, 0, line + end + end)
