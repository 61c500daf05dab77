# Every target sets up .venv by itself. Needs Python 3.11 or newer with venv, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
BENCH := benchmarks/.venv
PIP := python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help install demo test latest lowest check bench serve format lock

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

install: $(INSTALLED)  ## set up .venv with every extra, from requirements.lock

$(INSTALLED): $(BIN)/python requirements.lock pyproject.toml
	$(BIN)/$(PIP) install --quiet --no-deps --require-hashes -r requirements.lock
	$(BIN)/$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/$(PIP) check
	@touch $(INSTALLED)

# If a Python is asked for by name, an environment of another one is made anew.
.PHONY: by-name
$(BIN)/python $(BENCH)/bin/python: $(if $(filter-out file,$(origin PYTHON)),by-name)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Python 3.11 or newer is needed, {sys.executable} is {sys.version.split()[0]}: make PYTHON=python3.12 …")'
	@test "$$($@ -V 2>&1)" = "$$($(PYTHON) -V)" || $(PYTHON) -m venv --clear $(@:/bin/python=)

demo: $(INSTALLED)  ## compress a long session; no key, no service
	$(BIN)/langgraph-compression compress examples/long-session.jsonl --replay --threshold 8 --out out/demo --plot out/demo/pressure.svg

test: $(INSTALLED)  ## all tests; ARGS="-m 'not server'" to choose
	$(BIN)/python -m pytest $(ARGS)

latest:  ## the tests with the newest versions that pyproject.toml allows
	$(call test-with,highest)

lowest:  ## the tests with the lowest versions that pyproject.toml allows; best with PYTHON=python3.11
	$(call test-with,lowest-direct)

# Chosen at this moment, so that the lock file and what it pins are no matter here.
define test-with
	$(PYTHON) -m venv --clear $(VENV)-$@
	$(VENV)-$@/bin/$(PIP) install --quiet uv
	$(VENV)-$@/bin/uv pip install --quiet --python $(VENV)-$@ --resolution $(1) --all-extras --group dev --requirements pyproject.toml
	$(VENV)-$@/bin/$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	$(VENV)-$@/bin/$(PIP) check
	$(VENV)-$@/bin/python -m pytest --ignore tests/test_lock.py $(ARGS)
endef

check: $(INSTALLED)  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(BENCH)/installed  ## measure against other packages, half an hour; ARGS="overhead memory" to choose
	$(BENCH)/bin/python -m benchmarks.run $(ARGS)
	$(BENCH)/bin/python -m benchmarks.report

# An environment of its own: the other packages are no concern of the tests.
$(BENCH)/installed: $(BENCH)/bin/python benchmarks/requirements.lock
	$(BENCH)/bin/$(PIP) install --quiet --no-deps --require-hashes -r benchmarks/requirements.lock
	$(BENCH)/bin/$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	$(BENCH)/bin/$(PIP) check
	@touch $(BENCH)/installed

serve: $(INSTALLED)  ## LangGraph Server and Studio's API on 127.0.0.1:2024, offline
	LANGGRAPH_NO_VERSION_CHECK=true LANGSMITH_TRACING=false $(BIN)/langgraph dev --no-browser $(ARGS)

format: $(INSTALLED)  ## let ruff format and sort
	$(BIN)/ruff check --fix-only --exit-zero
	$(BIN)/ruff format

lock: $(INSTALLED)  ## choose the newest versions again
	$(BIN)/$(PIP) install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --upgrade --quiet --output-file requirements.lock
	$(BIN)/uv pip compile pyproject.toml --all-extras --group bench --group build --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --upgrade --quiet --constraints requirements.lock \
	  --output-file benchmarks/requirements.lock
