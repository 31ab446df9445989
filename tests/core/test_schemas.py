"""What an editor accepts by the JSON Schema, resilint accepts, and what one refuses, the other does."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from resilint.knowledge import KnowledgeError
from resilint.knowledge import load as load_knowledge
from resilint.knowledge.loader import _yaml_loader
from resilint.schemas import SAID, knowledge_schema, settings_schema
from resilint.settings import Checker, SettingsError, load

SETTINGS = jsonschema.Draft202012Validator(settings_schema())
KNOWLEDGE = jsonschema.Draft202012Validator(knowledge_schema())
ROOT = Path(__file__).parents[2]

SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    # A whole number with a point is whole to JSON Schema, and none to resilint.
    st.floats(-2, 3).filter(lambda number: number != int(number)),
    st.sampled_from(["", "error", "warning", "info", "low", "medium", "high", "RS1", "RS101", "src/**", "*.py", "gateway"]),
    st.sampled_from(
        ["16ms", "1.5s", "2m", "1m30s", "1 h", "5", "s", "1.s", ".5s", "1s\n", "١s", "5S", "-1s", "1e3s", "2d4ns", "3 µs"]
    ),
    st.sampled_from(["50/s", "3000/m", "1.5 / hour", "5/", "/s", "5/day", "50/s\n", "5/ms"]),
)
NAMES = st.sampled_from(["a", "hotkey", "RS1", "src/**"])
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2), max_leaves=4
)


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Mostly what the schema asks for, sometimes anything."""
    return st.one_of(_asked(schema), _asked(schema), _asked(schema), ANYTHING)


def _asked(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "properties" in schema:
        known = {key: values(value) for key, value in schema["properties"].items()}
        misspelt = st.dictionaries(st.sampled_from(["selct", "timeout_", ""]), SCALARS, max_size=1)
        some = st.lists(st.sampled_from(sorted(known)), max_size=3, unique=True)
        fixed = some.flatmap(lambda keys: st.fixed_dictionaries({key: known[key] for key in keys}))
        return st.one_of(fixed, fixed, fixed, st.builds(lambda one, two: {**one, **two}, fixed, misspelt))
    if "additionalProperties" in schema:
        return st.dictionaries(NAMES, values(schema["additionalProperties"]), max_size=2)
    if "items" in schema:
        return st.lists(SCALARS, max_size=3)
    return SCALARS


def accepts(tree: Any) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "resilint.yaml").write_text(yaml.safe_dump(tree, allow_unicode=True), "utf-8")
        for name in _paths(tree):
            # That a knowledge file is there is no matter of shape.
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("[]")
        try:
            load(root)
        except SettingsError:
            return False
    return True


def _paths(tree: Any) -> Iterator[str]:
    written = tree.get("knowledge") if isinstance(tree, dict) else None
    for item in written if isinstance(written, list) else []:
        if isinstance(item, str) and item:
            yield item.strip()


@hypothesis_settings(max_examples=600, deadline=None)
@given(values({key: value for key, value in settings_schema().items() if key != "$defs"}))
def test_the_schema_of_the_settings_and_their_check_agree(tree: Any) -> None:
    if isinstance(tree, dict) and isinstance(tree.get("knowledge"), list):
        tree["knowledge"] = [
            item for item in tree["knowledge"] if not isinstance(item, dict | str) or item in ("", "gateway", "RS1")
        ]
    assert accepts(tree) == SETTINGS.is_valid(tree), [error.message for error in SETTINGS.iter_errors(tree)]


@pytest.mark.parametrize(
    ("tree", "good"),
    [
        ({"select": ["RS1"], "confidence": "medium", "retry_budget": 4, "safety_factor": 0.7}, True),
        ({"services": {"a": {"queues": {"q": {"batch": 20, "arrival_rate": "50/s"}}, "callers": {"g": {"retries": 0}}}}}, True),
        ({"services": None, "select": None}, True),
        ({"services": {"a": None}}, True),
        ({"services": {"a": {"queues": {"q": {"batch": 0}}}}}, False),
        ({"fix": {"client_timeout": 2}}, False),
        ({"fix": {"client_timeout": "2s"}}, True),
        ({"per_path": {"scripts/**": {"ignore": ["RS1"]}}}, True),
        ({"per_path": {"scripts/**": ["RS1"]}}, False),
        ({"severity": {"RS1": "fatal"}}, False),
        ({"profile": None}, False),
        ({"selct": []}, False),
        ([], False),
        (None, True),
        ("text", False),
    ],
)
def test_both_say(tree: Any, good: bool) -> None:
    assert (accepts(tree), SETTINGS.is_valid(tree)) == (good, good)


def test_every_key_is_described_and_nothing_else_is() -> None:
    def keys(schema: dict[str, Any], path: str) -> Iterator[str]:
        for key, value in schema.get("properties", {}).items():
            yield f"{path}{key}"
            yield from keys(value, f"{path}{key}.")
        if isinstance(schema.get("additionalProperties"), dict):
            if "enum" in schema["additionalProperties"]:
                yield f"{path}*"
            yield from keys(schema["additionalProperties"], f"{path}*.")

    found = set(keys(settings_schema(), ""))
    assert (found - set(SAID), set(SAID) - found) == (set(), set()), "keys without a description; descriptions without a key"
    assert {key for key in found if "." not in key} == set(Checker("").top)


@pytest.mark.parametrize("schema", [settings_schema(), knowledge_schema()], ids=["settings", "knowledge"])
def test_a_schema_is_one(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator.check_schema(json.loads(json.dumps(schema)))


LIBRARY = {
    "library": "our_rpc",
    "language": "python",
    "types": [{"name": "our_rpc.Client", "role": "client"}],
    "calls": [
        {"names": ["our_rpc.Client.invoke"], "does": "network", "bounds": [{"slot": "total", "arg": "ms", "pos": 1, "unit": "ms"}]}
    ],
}


@pytest.mark.parametrize(
    ("value", "good"),
    [
        (LIBRARY, True),
        ([LIBRARY], True),
        ({**LIBRARY, "source": "here", "verified": False}, True),
        ({**LIBRARY, "callz": []}, False),
        ({**LIBRARY, "types": [{"name": "our_rpc.Client", "role": "klient"}]}, False),
        ({key: value for key, value in LIBRARY.items() if key != "library"}, False),
        ([[LIBRARY]], False),
        ("our_rpc", False),
    ],
)
def test_knowledge_of_a_user_is_judged_alike(value: Any, good: bool, tmp_path: Path) -> None:
    (tmp_path / "k.yaml").write_text(yaml.safe_dump(value))
    try:
        load_knowledge(["k.yaml"], tmp_path)
        loaded = True
    except KnowledgeError:
        loaded = False
    assert (loaded, KNOWLEDGE.is_valid(value)) == (good, good)
    if isinstance(value, dict):
        assert SETTINGS.is_valid({"knowledge": [value]}) is good, "as an entry of the settings too"


def test_shipped_knowledge_fits_its_schema() -> None:
    for file in sorted((ROOT / "lint" / "resilint" / "knowledge").glob("*/*.yaml")):
        # `on` and `off` are words to an editor, as they are to resilint; text for keys is what JSON has.
        text = json.loads(json.dumps(yaml.load(file.read_text("utf-8"), _yaml_loader()), default=str))
        assert KNOWLEDGE.is_valid(text), file


def test_settings_of_the_readme_and_of_its_pages_fit_their_schema() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    # What stands further down is wrong on purpose.
    text += (ROOT / "docs" / "knowledge.md").read_text("utf-8").partition("## When an entry is wrong")[0]
    fences = [part.partition("\n")[2].partition("```")[0] for part in text.split("```yaml")[1:]]
    settings = [yaml.safe_load(fence) for fence in fences if fence.startswith(("select:", "knowledge:"))]
    assert len(settings) >= 10
    for tree in settings:
        SETTINGS.validate(tree)
