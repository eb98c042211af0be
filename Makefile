# `make demo` and `make test` are all that a newcomer needs; both make their own environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check soak bench docs catalogues wheel clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

demo: $(READY)
	$(BIN)/memsync demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not soak'

soak: $(READY)
	$(BIN)/python -m pytest -m soak

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pylint memsync
	$(BIN)/memsync lint sample-repo

bench: $(READY)
	$(BIN)/python -m benchmarks.bench

# The pages and catalogues that are made from the code.
docs: $(READY)
	$(BIN)/python -m tests.generate

wheel: $(READY)
	$(BIN)/python -m build --wheel --outdir dist .

clean:
	rm -rf $(VENV) dist build benchmarks/.corpus
