# Everything here sets itself up: Python 3.11 or newer and make are enough. `make help` lists it.

VENV ?= .venv
ARGS ?=

# The first Python that is new enough and can make an environment; `make PYTHON=…` overrules it.
ifeq ($(origin PYTHON), undefined)
PYTHON := $(shell for python in python3.14 python3.13 python3.12 python3.11 python3; do \
	$$python -c 'import ensurepip, sys, venv; \
	sys.exit(sys.version_info < (3, 11) or print(sys.executable))' 2>/dev/null && exit; done)
endif

PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet install

# Stamps tell what stands in $(VENV). Their names hold the interpreter and the folder that it was
# made with: another Python, or a checkout that was moved, makes the environment anew.
TAG := $(shell $(or $(PYTHON),false) -c 'import os, sys, zlib; \
	print(zlib.crc32(repr((sys.version, sys.base_prefix, os.getcwd())).encode()))' 2>/dev/null)
MADE := $(VENV)/.made-$(TAG)
DEMO := $(VENV)/.demo-$(TAG)
DEV := $(VENV)/.dev-$(TAG)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-pure bench docs check lint types layers format lock clean python

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  ARGS='…' goes to the command, PYTHON=… is the interpreter, VENV=… the environment"

# ------------------------------------------------------------------------------------ running

demo: $(DEMO) ## Run the main job on a Postgres that needs no installation; see every outcome
	@$(PY) examples/demo.py $(ARGS)

test: $(DEV) ## Run the tests: SQLite, Postgres 18, the postgres images that a Docker daemon has
	@$(PY) -m pytest $(ARGS)

test-pure: $(DEV) ## Run the tests that need no server, SQLite's too
	@$(PY) -m pytest --no-server $(ARGS)

bench: $(DEV) ## Measure what a claim costs: minutes, and nothing else should run meanwhile
	@$(PY) -m benchmarks $(ARGS)

docs: $(DEV) ## Write help texts, metrics and the charts' values into the documents
	@$(PY) -m tests.docs.write_help
	@$(PY) -m tests.docs.write_metrics
	@$(PY) -m tests.docs.write_charts

# ----------------------------------------------------------------------------------- checking

check: lint types layers ## Run lint, types and layers

lint: $(DEV) ## Check style and spelling
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(VENV)/bin/codespell

types: $(DEV) ## Check types: mypy, strict, tests too
	@$(PY) -m mypy

layers: $(DEV) ## Check which layer imports which
	@$(VENV)/bin/lint-imports

format: $(DEV) ## Bring the code into its form, and mend what can be mended
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

# -------------------------------------------------------------------------------- environment

# Asked before anything is made, so that a wrong Python gets a sentence and not a traceback.
python:
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	echo "make: k8sjob needs Python 3.11 or newer; $(if $(PYTHON),$(PYTHON) is not,none was found)." >&2; \
	echo "      Nothing was changed. Name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; }

$(MADE): | python
	@echo "making $(VENV) with $$($(PYTHON) --version) at $(PYTHON)"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "make: this Python cannot make an" \
	"environment. On Debian: apt-get install python3-venv" >&2; exit 1; }
	@touch $@

# Each file is known by its hash, the build's own tool too: nothing is resolved, nothing compiled.
LOCKED := $(PIP) --require-hashes --only-binary :all:
EDITABLE := $(PIP) --no-build-isolation --no-deps --editable .

$(DEMO): requirements/core.txt requirements/demo.txt pyproject.toml | $(MADE)
	@$(LOCKED) -r requirements/core.txt -r requirements/demo.txt
	@$(EDITABLE)
	@touch $@

$(DEV): requirements/dev.txt pyproject.toml | $(MADE)
	@$(LOCKED) -r requirements/dev.txt
	@$(EDITABLE)
	@touch $(DEMO) $@

COMPILE := $(PY) -m uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--generate-hashes --annotation-style line --no-header --no-emit-index-url \
	--no-emit-find-links
UPGRADE ?= --upgrade

lock: $(MADE) ## Choose the locked versions anew; UPGRADE= keeps those that still fit
	@$(PIP) 'uv>=0.8'
	@$(COMPILE) $(UPGRADE) --group dev --output-file requirements/dev.txt
	@$(COMPILE) --constraint requirements/dev.txt --group demo --output-file requirements/demo.txt
	@$(COMPILE) --constraint requirements/dev.txt --output-file requirements/core.txt
	@$(COMPILE) --constraint requirements/dev.txt --extra kube --extra serve --extra manifest \
		--output-file requirements/control.txt
	@$(COMPILE) --constraint requirements/dev.txt --group build --output-file requirements/build.txt

clean: ## Remove environments, caches and what runs left
	@rm -rf .venv .venv-* .ci/out dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache \
	.ruff_cache
	@find . -name __pycache__ -prune -exec rm -rf {} +
