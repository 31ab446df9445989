# Everything runs in .venv; a stamp says that it holds what pyproject.toml asks for.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUTAGES := $(sort $(wildcard examples/outages/*/broken))

.PHONY: demo test lint wheel test-compiled soak bench docs clean

demo: $(VENV)/.installed
	@set -e; for outage in $(OUTAGES); do \
	  printf '\n== %s\n\n' "$$outage"; \
	  $(BIN)/resilint check --show-trace --exit-zero "$$outage"; \
	done

test: lint
	$(BIN)/python -m pytest -n auto --dist loadfile
	$(BIN)/resilint check --root . lint checks

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

# Half of a run's time is spent in a few modules (hatch_build.py): compiled, they take half of theirs. Needs a C compiler.
wheel: | $(BIN)/python
	HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

# That compiled code finds the same: the cases of all rules, and the tests of the engine, once more.
COMPILED := build/compiled
test-compiled: $(VENV)/.installed-dev wheel
	rm -rf $(COMPILED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(COMPILED) dist/*.whl
	PYTHONPATH=$(COMPILED) $(BIN)/python -c "from resilint.flow import resolve; assert not resolve.__file__.endswith('.py'), resolve"
	PYTHONPATH=$(COMPILED) $(BIN)/python -m pytest -n auto --dist loadfile tests/test_rules.py tests/flow tests/link

# Damaged files by the thousand: no crash, no hang, bounded memory. About twenty minutes.
SOAK ?= --files 20000
soak: $(VENV)/.installed-dev
	$(BIN)/python -m tests.fuzz.soak $(SOAK)

# Beside other linters, on a million lines of Python and half a million each of Go and Java: half an hour or more.
# BENCH="--only salt --peers none --runs 1" does a part of it.
BENCH ?=
bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.speed $(BENCH)

docs: $(VENV)/.installed-docs
	$(BIN)/python docs/site/build.py build/site

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@
