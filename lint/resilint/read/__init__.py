"""Bytes to facts, one module per language or format; the only stage that parses.

A reader module has one function `read(data: bytes) -> FileFacts`; where `kinds` lists dialects, the suffix follows. It never
raises on any input, never runs or imports what it reads, and gives the facts of the sound parts of a broken file, with the
broken places in `FileFacts.errors`.
"""

from __future__ import annotations

from importlib import import_module

from resilint.facts import FileFacts, ReadError, encode

READERS = {
    "python": "resilint.read.python",
    "go": "resilint.read.go",
    "java": "resilint.read.java",
    "yaml": "resilint.read.yaml",
    "json": "resilint.read.json",
    "toml": "resilint.read.toml",
    "properties": "resilint.read.properties",
    "ini": "resilint.read.ini",
    "xml": "resilint.read.xml",
    "env": "resilint.read.env",
    "nginx": "resilint.read.nginx",
    "haproxy": "resilint.read.haproxy",
    "hcl": "resilint.read.hcl",
    "dockerfile": "resilint.read.dockerfile",
}
"""The reader of each kind of file, imported when the first such file is read. `discover` says which file is of which kind,
`kinds` what else there is to know of each."""


class TooMuchWork(Exception):
    """A file that takes its parser too long. What could be said of it would depend on the machine: nothing is said or kept."""


def read(data: bytes, kind: str, dialect: str = "") -> bytes:
    """The encoded facts of a file's bytes. `dialect` is what `kinds.dialect` gives.

    Pure, so that its result can be cached by the hash of the arguments and the reader's version.
    Raises `KeyError` for a kind without reader, and `TooMuchWork`.
    """
    module = import_module(READERS[kind])
    try:
        facts: FileFacts = module.read(data, dialect) if dialect else module.read(data)
    except (RecursionError, MemoryError) as problem:
        facts = FileFacts(kind, errors=(ReadError(0, f"too deeply nested to read ({type(problem).__name__})"),))
    return encode(facts)
