# Every target sets up .venv by itself. Needs Python 3.11 or newer with venv, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
BENCH := benchmarks/.venv

.DEFAULT_GOAL := help
.PHONY: help install demo test check bench serve format lock

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

install: $(INSTALLED)  ## set up .venv with every extra, from requirements.lock

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Python 3.11 or newer is needed, {sys.executable} is {sys.version.split()[0]}: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m pip check --disable-pip-version-check
	@touch $(INSTALLED)

demo: $(INSTALLED)  ## compress a long session; no key, no service
	$(BIN)/langgraph-compression compress examples/long-session.jsonl --replay --threshold 8 --out out/demo --plot out/demo/pressure.svg

test: $(INSTALLED)  ## all tests; ARGS="-m 'not server'" to choose
	$(BIN)/python -m pytest $(ARGS)

check: $(INSTALLED)  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(BENCH)/installed  ## measure against other packages, half an hour; ARGS="overhead memory" to choose
	$(BENCH)/bin/python -m benchmarks.run $(ARGS)
	$(BENCH)/bin/python -m benchmarks.report

# An environment of its own: the other packages are no concern of the tests.
$(BENCH)/installed: benchmarks/requirements.lock
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r benchmarks/requirements.lock
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BENCH)/bin/python -m pip check --disable-pip-version-check
	@touch $(BENCH)/installed

serve: $(INSTALLED)  ## LangGraph Server and Studio's API on 127.0.0.1:2024, offline
	LANGGRAPH_NO_VERSION_CHECK=true LANGSMITH_TRACING=false $(BIN)/langgraph dev --no-browser $(ARGS)

format: $(INSTALLED)  ## let ruff format and sort
	$(BIN)/ruff check --fix-only --exit-zero
	$(BIN)/ruff format

lock: $(INSTALLED)  ## choose the newest versions again
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --upgrade --quiet --output-file requirements.lock
	$(BIN)/uv pip compile pyproject.toml --all-extras --group bench --group build --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --upgrade --quiet --constraints requirements.lock \
	  --output-file benchmarks/requirements.lock
