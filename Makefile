# Everything runs in .venv; a stamp says that it holds what pyproject.toml asks for.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUTAGES := $(sort $(wildcard examples/outages/*/broken))

.PHONY: demo test lint soak bench docs clean

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
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache

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
