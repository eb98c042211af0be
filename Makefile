# `make demo` and `make test` are all that a newcomer needs; both make their own environment.
# `.ci/run` is what must pass before a change is taken in.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DIST ?= dist

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
	$(BIN)/python -m tests.generate --check
	$(BIN)/memsync lint sample-repo

bench: $(READY)
	$(BIN)/python -m benchmarks.bench --commits 20000

# The pages that are made from the code.
docs: $(READY)
	$(BIN)/python -m tests.generate

# The message catalogues: new texts of the code go into the .po, the .po is compiled.
catalogues: $(READY)
	$(BIN)/python -m tests.catalogues

wheel: $(READY)
	$(BIN)/python -m build --wheel --outdir $(DIST) .

clean:
	rm -rf $(VENV) $(DIST) build benchmarks/.corpus
