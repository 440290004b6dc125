# Everything that a checkout needs: each target makes its own environment from python3.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Tests at once.
JOBS ?= 2
# How long to fuzz, and with which cases.
MINUTES ?= 5
SEED ?= 0
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# An environment with the libraries whose agents are audited.
AUDIT ?= .venv-audit

# An environment with the engines of clusters, and how often each thing is killed there.
CLUSTER ?= .venv-cluster
KILLS ?= 10

# Where finished reports lie, for the gallery: folders of reports, or reports, with spaces between them.
REPORTS ?= reports

# Tests that need more than this environment: a target of their own sets it up, and fails where it cannot.
ELSEWHERE := browser or audit or cluster

# Tests start hundreds of processes: compiled once, our modules are read from then on, whatever a container says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: quickstart test quick-tests test-slow test-audit test-cluster test-browser fuzz lint schemas gallery clean

quickstart: $(VENV)/.installed  ## the first experiment, from a spec to a report
	$(BIN)/wmlab run specs/quickstart.yaml --check

test: $(VENV)/.tested  ## lint, types and tests
	$(MAKE) --no-print-directory -j 2 lint quick-tests

quick-tests: $(VENV)/.tested
	$(BIN)/python -m pytest -n $(JOBS) -m "not (slow or $(ELSEWHERE))"

test-slow: lint  ## the tests that take long, too, and more random examples of each property
	$(BIN)/python -m pytest -n $(JOBS) -m "not ($(ELSEWHERE))" --hypothesis-profile thorough

test-audit: $(AUDIT)/.installed  ## agents of the real Stable-Baselines3 and PyTorch, trained for a minute or two
	$(AUDIT)/bin/python -m pytest tests/audit -m audit

test-cluster: $(CLUSTER)/.installed  ## runs on a real Slurm and a real Ray of two machines each, on this machine, as root
	command -v sbatch >/dev/null && command -v munged >/dev/null || (apt-get update -qq && apt-get install -qq -y slurm-wlm munge >/dev/null)
	WMLAB_KILLS=$(KILLS) $(CLUSTER)/bin/python -m pytest tests/engines -m cluster

test-browser: $(VENV)/.tested  ## pages in Debian's Chromium without a window; fails where there is none and none can be had
	(command -v chromium && command -v chromedriver) >/dev/null || (apt-get update -qq && apt-get install -qq -y chromium chromium-driver >/dev/null) \
	    || echo "test-browser: there is no Chromium here, and it cannot be installed: pages are NOT tested" >&2
	$(PIP) -e '.[test,browser]'
	test -s $(VENV)/axe.min.js \
	    || (cd $(VENV) && npm pack --silent axe-core@4 >/dev/null && tar -xzOf axe-core-4*.tgz package/axe.min.js > axe.min.js) \
	    || echo "test-browser: axe-core cannot be had from npm: whether pages are accessible is NOT tested" >&2
	WMLAB_AXE=$(VENV)/axe.min.js $(BIN)/python -m pytest tests/browser -m browser -rs

fuzz: $(VENV)/.tested  ## random specs, expressions and files: make fuzz MINUTES=30 SEED=1
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED) --guided

lint: $(VENV)/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

schemas: $(VENV)/.tested  ## write schemas/, docs/reference.md and docs/architecture.svg from what the code declares
	$(BIN)/wmlab schema --write
	$(BIN)/wmlab reference --write
	$(BIN)/python -m tests.architecture.picture

gallery: $(VENV)/.tested  ## reports/gallery from finished reports, and the numbers of README.md and docs/results.md from it
	command -v chromium >/dev/null || (apt-get update -qq && apt-get install -qq -y chromium >/dev/null)
	$(BIN)/python -m tests.gallery $(REPORTS)

clean:
	rm -rf $(VENV) $(AUDIT) $(CLUSTER) .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

$(VENV)/.tested: $(VENV)/.installed
	$(PIP) -e '.[test]'
	touch $@

$(AUDIT)/.installed: pyproject.toml
	test -x $(AUDIT)/bin/python || $(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check \
	    "stable-baselines3==2.9.*" "sb3-contrib==2.9.*" "minari[hdf5]==0.5.*"
	$(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

$(CLUSTER)/.installed: pyproject.toml constraints.txt
	test -x $(CLUSTER)/bin/python || $(PYTHON) -m venv $(CLUSTER)
	$(CLUSTER)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	    -e '.[test,slurm,ray]'
	touch $@
