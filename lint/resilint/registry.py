"""Finds the rules: every module of an entry point's package whose name starts with a code holds one RULE."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

from resilint import docs
from resilint.docs import GROUP
from resilint.engine_rules import ENGINE_RULES, UNKNOWN_RULE, UNREADABLE_FILE
from resilint.model import Rule
from resilint.spelling import get_close_matches

OWN_PREFIX = "RS"
_MODULE = re.compile(r"[a-z]+[0-9]+_\w+")
_CODE = re.compile(r"([A-Z]+)[0-9]+")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class RegistryError(Exception):
    """A package of rules that cannot be used."""


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule that is installed, the engine's own first, in order of codes. Raises `RegistryError`."""
    found: dict[str, Rule] = {rule.code: rule for rule in ENGINE_RULES}
    names = {rule.name: rule.code for rule in ENGINE_RULES}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        for rule in rules_of(point):
            if rule.code in found:
                raise RegistryError(f"rule {rule.code} of {point.value} exists already")
            if rule.name in names:
                raise RegistryError(f"rule {rule.code} of {point.value} has the name of {names[rule.name]}: {rule.name}")
            found[rule.code] = rule
            names[rule.name] = rule.code
    return tuple(found[code] for code in sorted(found, key=_order))


def rules_of(point: EntryPoint) -> list[Rule]:
    """The rules of one package. The prefix RS is left to the package that comes with resilint. Raises `RegistryError`."""
    own = point.dist is not None and point.dist.name.lower() == "resilint"
    try:
        package = point.load()
        modules = [
            importlib.import_module(f"{package.__name__}.{module.name}")
            for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name)
            if _MODULE.fullmatch(module.name)
        ]
    except (Exception, SystemExit) as problem:
        # A module that ends the program would end it with an exit status that means something else.
        said = " ".join(f"{type(problem).__name__}: {problem}".split())
        raise RegistryError(f"the rules of {point.value} cannot be loaded: {said}") from problem
    return [_checked(module, own) for module in modules]


def _checked(module: ModuleType, own: bool) -> Rule:
    rule = getattr(module, "RULE", None)
    if not isinstance(rule, Rule):
        raise RegistryError(f"{module.__name__} holds no RULE")
    code = _CODE.fullmatch(rule.code)
    if code is None or not _NAME.fullmatch(rule.name):
        raise RegistryError(
            f"{module.__name__}: a code is capitals and a number, a name small words with hyphens: {rule.code} {rule.name}"
        )
    if module.__name__.rpartition(".")[2] != f"{rule.code}_{rule.name}".lower().replace("-", "_"):
        raise RegistryError(f"{module.__name__} holds {rule.code} {rule.name}: the module's name must be code and name")
    if (code[1] == OWN_PREFIX) != own:
        raise RegistryError(f"{module.__name__}: the prefix {OWN_PREFIX} is {'missing' if own else 'reserved'}: {rule.code}")
    if not own and docs.page(rule) is None:
        raise RegistryError(f"{module.__name__}: {rule.code} has no page: write {docs.FOLDER}/{rule.code}.md in the package")
    return rule


def _order(code: str) -> tuple[str, int]:
    prefix = code.rstrip("0123456789")
    return prefix, int(code[len(prefix) :])


# ---------------------------------------------------------------- selectors


def matches(selector: str, rule: Rule) -> bool:
    """Whether a selector (`RS1`, `RS101`, a name, `all`) means this rule."""
    return selector == rule.name or selector == "all" or (selector[:1].isupper() and rule.code.startswith(selector))


def is_known(selector: str, known: Iterable[Rule]) -> bool:
    """Whether a selector means any rule."""
    return any(matches(selector, rule) for rule in known)


def suggestion(selector: str, known: Iterable[Rule]) -> str:
    """`: did you mean ...?` for a selector that means no rule, or nothing."""
    rules = tuple(known)
    for spelling in (selector.upper(), selector.lower()):
        # Codes are capitals, names are small: one spelling of each, so that one search finds every mention.
        if is_known(spelling, rules):
            return f": did you mean {spelling!r}?"
    words = [word for rule in rules for word in (rule.code, rule.name)]
    near = get_close_matches(selector, words, 1) or get_close_matches(selector.upper(), words, 1)
    return f": did you mean {near[0]!r}?" if near else ""


def selected(known: Iterable[Rule], select: Iterable[str], ignore: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that run. Without `select` all but those in preview; `ignore` wins over `select`.

    That a file could not be read, or that a selector is misspelled, is said whatever is selected, unless it is ignored.
    """
    wanted, unwanted = tuple(select), tuple(ignore)

    def runs(rule: Rule) -> bool:
        if any(matches(selector, rule) for selector in unwanted):
            return False
        if rule in (UNREADABLE_FILE, UNKNOWN_RULE):
            return True
        if not wanted:
            return not rule.preview
        return any(matches(selector, rule) and not (rule.preview and selector == "all") for selector in wanted)

    return tuple(rule for rule in known if runs(rule))
