"""`python -m resilint.new RS206 blocking-while-holding` writes a rule, its page and its folder of cases in a checkout."""

from __future__ import annotations

import re
import sys
from pathlib import Path

_MODULE = '''"""{code} {name}. Page: rule_docs/{code}.md."""

from __future__ import annotations

from collections.abc import Iterator

from resilint import Finding, Program, Rule, Severity


def check(program: Program) -> Iterator[Finding]:
    yield from ()


RULE = Rule(
    code="{code}",
    name="{name}",
    severity=Severity.WARNING,
    summary="To be written: what it flags, in one sentence.",
    languages=frozenset({{"py", "go"}}),
    check=check,
    preview=True,
)
'''

_PAGE = """# {code} {name}

To be written: what it flags, in one sentence.

## Why

Which outage this is, in three sentences.

## Flagged

### Python

```py
limit = 4  # want {code} "regex of the message"
```

### Go

```go
package main

var limit = 4 // want {code} "regex of the message"
```

## Quiet

### Python

```py
limit = 5
```

### Go

```go
package main

var limit = 5
```

## Fix

What to write instead, for each language.

## How it decides

Which facts it uses, what it does not see, which settings change it.
"""

_CASES = """# {code} across files

## The cause lies in another file

```py settings.py
LIMIT = 4
```

```py app.py
import settings

limit = settings.LIMIT  # want {code} "regex of the message"
```

## The other file sets a bound

```py settings.py
LIMIT = 5
```

```py app.py
import settings

limit = settings.LIMIT
```
"""


def write(root: Path, code: str, name: str) -> list[Path]:
    """Writes the three files of a rule below the root of a checkout, and says which.

    Raises `ValueError` where one of them exists or code or name have the wrong form.
    """
    if not re.fullmatch(r"[A-Z]+[0-9]+", code) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError(f"a code is like RS206, a name like blocking-while-holding: {code} {name}")
    if not (root / "checks" / "resilint_checks").is_dir():
        raise ValueError(f"not the root of a checkout: {root}")
    texts = {
        root / "checks" / "resilint_checks" / f"{code.lower()}_{name.replace('-', '_')}.py": _MODULE,
        root / "rule_docs" / f"{code}.md": _PAGE,
        root / "tests" / "cases" / code / "across_files.md": _CASES,
    }
    for file in texts:
        if file.exists():
            raise ValueError(f"exists already: {file}")
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(code=code, name=name), "utf-8")
    return list(texts)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: python -m resilint.new RS206 blocking-while-holding")
    try:
        for file in write(Path.cwd(), sys.argv[1], sys.argv[2]):
            print(file.relative_to(Path.cwd()))
    except ValueError as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
