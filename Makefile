# Every target sets up what it needs. `make` alone explains the targets.
.DEFAULT_GOAL := help
SHELL := /bin/sh

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
export DAGSTER_HOME ?= $(CURDIR)/dagster_home
export DAGSTER_DISABLE_TELEMETRY := 1

# What `make crawl` passes on; each is a flag of `isobath crawl` too.
CRAWL_FLAGS = $(if $(MAX_DEPTH),--max-depth $(MAX_DEPTH)) $(if $(MAX_PAGES),--max-pages $(MAX_PAGES)) \
	$(if $(MIN_DELAY),--min-delay $(MIN_DELAY)) $(if $(ALLOW_PRIVATE_NETWORKS),--allow-private-networks) \
	$(if $(NEW_CRAWL),--new-crawl) $(if $(STORE),--store $(STORE))

.PHONY: help setup setup-dev peers crawl demo ui search sites test check conformance gate bench format lock clean

help: ## Explain the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  make crawl URL=https://docs.example.org/ [MAX_DEPTH=2] [MAX_PAGES=500] [MIN_DELAY=1]"
	@echo "             [ALLOW_PRIVATE_NETWORKS=1] [NEW_CRAWL=1] [STORE=s3://bucket/prefix]"

setup: $(VENV)/.ready ## Create .venv with the locked packages
setup-dev: $(VENV)/.ready-dev

$(VENV)/bin/pip $(PEERS)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Isobath needs Python 3.11 or newer; try: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
		|| { echo "Python has no venv module here. On Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(@D:/bin=)

$(VENV)/.ready: requirements.lock pyproject.toml | $(VENV)/bin/pip
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/.ready-dev: requirements-dev.lock $(VENV)/.ready
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	@touch $@

peers: $(PEERS)/.ready ## Create .venv-peers with pywb and Scrapy, which tests and benchmarks then use

$(PEERS)/.ready: requirements-peers.lock | $(PEERS)/bin/pip
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check -r requirements-peers.lock
	@touch $@

crawl: setup ## Crawl a site: make crawl URL=https://docs.example.org/
	@test -n "$(URL)" || { echo "Say which site: make crawl URL=https://docs.example.org/"; exit 2; }
	@$(BIN)/isobath crawl "$(URL)" $(CRAWL_FLAGS)

demo: setup ## Crawl a small site that the project ships and serves by itself
	@$(BIN)/isobath demo $(if $(STORE),--store $(STORE))

ui: setup ## Open the Dagster UI on http://127.0.0.1:3000
	@$(BIN)/isobath ui --port $(or $(PORT),3000)

search: setup ## Search what was crawled: make search WORDS="dead links"
	@$(BIN)/isobath search "$(WORDS)"

sites: setup ## List the sites with their last crawl
	@$(BIN)/isobath sites

test: setup-dev ## Run all tests
	$(BIN)/pytest -n auto --maxprocesses 4 --dist worksteal -m "not acceptance"

check: setup-dev ## Lint, types, import contracts and the fast tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -m "not slow"

conformance: setup-dev ## Compare addresses, robots.txt, sitemaps and archives with the field's own data
	@$(BIN)/python -m tests.conformance

gate: setup-dev ## Hold extraction against its floors, and recrawls against the simulator's bounds: make gate [FLAGS=--raise]
	@$(BIN)/python -m tests.conformance.gate $(FLAGS)
	@$(BIN)/pytest -q -m acceptance

bench: setup-dev ## Measure the keys of links: make bench FOLDER=a/folder/of/html
	@test -n "$(FOLDER)" || { echo "Say which pages: make bench FOLDER=a/folder/of/html"; exit 2; }
	@$(BIN)/python -m bench.url_speed "$(FOLDER)"

format: setup-dev ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## Lock the newest versions that pyproject.toml allows
	rm -rf .lock-venv && $(PYTHON) -m venv .lock-venv
	.lock-venv/bin/pip install --quiet . && .lock-venv/bin/pip freeze --exclude isobath > requirements.lock
	.lock-venv/bin/pip install --quiet '.[cluster]' && .lock-venv/bin/pip freeze --exclude isobath > requirements-cluster.lock
	.lock-venv/bin/pip install --quiet '.[dev]' && .lock-venv/bin/pip freeze --exclude isobath > requirements-dev.lock
	rm -rf .lock-venv && $(PYTHON) -m venv .lock-venv
	.lock-venv/bin/pip install --quiet -r requirements-peers.in && .lock-venv/bin/pip freeze > requirements-peers.lock
	rm -rf .lock-venv build

clean: ## Remove what the tools left (not the store, not .venv*)
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build *.egg-info
