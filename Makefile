# What a developer, the workflow file and .ci/run call. Each line works in a shell as well, where make is missing.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
PYTHON ?= python3
BIN := .venv/bin
SMALL_BENCHMARKS := slots hang orchestration budget growth search

.PHONY: help install check test test-unit test-slow test-all run

help:  ## these lines
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

install:  ## the environment, with everything that developers need
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -e '.[dev]'

check:  ## style, types, import contracts, names: a minute
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/checks/names.py

test:  ## the default suite, as the README starts it
	$(BIN)/python -m pytest

test-unit:  ## without database, PDF and child processes: under a minute
	$(BIN)/python -m pytest tests/unit

test-slow:  ## the slow tests, and the benchmarks in small: that they run, and that nothing is lost
	$(BIN)/python -m pytest -m slow
	for name in $(SMALL_BENCHMARKS); do $(BIN)/python tests/benchmarks/$$name.py --small; done

test-all: test test-slow  ## both

run:  ## the sample data room, up to its review
	$(BIN)/python run.py start samples/data-room --thread demo
