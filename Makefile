# Needs Python 3.11 or newer and make; everything else goes into .venv.
PYTHON ?= python3
BIN = .venv/bin
# Byte code is kept, whatever the shell says: hundreds of tests start an interpreter, and compiling is half its start.
export PYTHONDONTWRITEBYTECODE =

.PHONY: browser core demo test test-all tests tests-all durations cases check prose bench bench-check measure coverage proofs coq bridge theorems mutants auditors fuzz storm docs site-versions search-check playground figures verbs pictures release-check stranger constraints clean

demo: .venv/ready
	@$(BIN)/python examples/demo.py

test: .venv/test-ready ## lint, types, import contract, and the tests that take little; says how many it leaves out
	@$(MAKE) --no-print-directory -j 2 check tests # side by side: a checker of types keeps one core busy

test-all: .venv/test-ready ## the same with all tests but the long proofs, and every example in README and docs
	@$(MAKE) --no-print-directory -j 2 check tests-all

tests: .venv/test-ready
	$(BIN)/pytest -q -n auto --dist loadscope -m default -o faulthandler_timeout=120

tests-all: .venv/test-ready
	$(BIN)/pytest -q -n auto --dist loadscope

durations: .venv/test-ready ## measures all tests but proofs; stores which are slow, and how many there are of each kind
	$(BIN)/pytest -q -n auto --dist loadscope --store-budgets

cases: .venv/test-ready ## stores how many tests there are of each kind, after some were moved or deleted on purpose
	$(BIN)/pytest -q --collect-only --store-budgets > /dev/null
	@git diff --stat -- tests/markers.toml

check: .venv/test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/test_docstring_names.py
	$(BIN)/python -m bench.measure --check
	$(BIN)/python -m tools.prose

prose: .venv/ready ## the English of the pages: sentences per construction, against tools/prose.toml
	@$(BIN)/python -m tools.prose

core: .venv-core/ready .venv/ready ## the core's own tests, where nothing is installed but numpy, python-flint, pytest and hypothesis
	PYTHONPATH=src .venv-core/bin/python -m pytest -q --core tests/base tests/sampling tests/privacy tests/mechanisms tests/selection

.venv-core/ready: pyproject.toml
	$(PYTHON) -m venv .venv-core
	.venv-core/bin/python -m pip install -q --upgrade pip
	.venv-core/bin/python -m pip install -q --group core
	@touch $@

coverage: .venv/test-ready ## which lines and branches the tests reach
	$(BIN)/pytest -q -n auto --dist loadscope --cov --cov-report=term

proofs: .venv/test-ready ## the long enumerations, twenty times as many random examples as in `make test-all`, Coq's proofs, and the packages
	$(BIN)/pytest -q -n auto --dist loadscope -m "proof or hypothesis" --hypothesis-profile=thorough
	@$(MAKE) --no-print-directory coq
	@$(MAKE) --no-print-directory bridge
	@$(MAKE) --no-print-directory release-check

coq: ## the theories in proofs/, checked by Coq; says why where Coq or a library is not installed
	@$(PYTHON) tools/coq.py

theorems: ## checks all theories as `make coq` does, and stores the list of theorems with lines and seconds
	@$(PYTHON) tools/coq.py --write

bridge: .venv/ready ## a million words looked up by the search that Coq proves, and by every path of the library
	@$(BIN)/python -m tools.bridge

mutants: .venv/test-ready ## breaks the source in some 340 places, and counts how many its own tests see; takes most of an hour
	@$(BIN)/python tools/mutation_score.py

auditors: .venv-auditors/ready ## programs of others that try to refute privacy, against every mechanism and faults put in; hours
	@.venv-auditors/bin/python -W ignore -m tools.auditors

.venv-auditors/ready: tools/auditors/requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv-auditors
	.venv-auditors/bin/python -m pip install -q -e . -r tools/auditors/requirements.txt
	@touch $@

storm: .venv/test-ready ## a thousand kills and interrupts over one ledger, and over the service, and 10,000 calls of assistants, minutes each
	$(BIN)/python -m tests.storm
	$(BIN)/python -m tests.service.storm
	$(BIN)/python -m tests.service.assistant_storm

browser: .venv/test-ready .venv/browser-ready ## the pages of the service in Chromium, all of them, wide and narrow, light and dark
	$(BIN)/pytest -q -m "proof or not proof" tests/service/pages/test_browser.py

fuzz: .venv/test-ready ## 20,000 bad calls of everything public: none unclean, none slow, nothing private told
	$(BIN)/python -m tests.fuzz --calls 20000

docs: .venv/docs-ready ## the documentation as a site, in site/index.html
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@$(BIN)/python tools/site_anchors.py

site-versions: .venv/docs-ready ## this version of the documentation beside older ones, with a chooser, in site-versions/
	@$(BIN)/python tools/site_versions.py

playground: docs tools/node/node_modules ## what the playground of the site loads: Pyodide and the library, into site/playground
	$(BIN)/python tools/playground.py

tools/node/node_modules: tools/node/package-lock.json ## for tests of the workflows and of the playground
	npm ci --silent --prefix tools/node

search-check: docs ## the site's search finds the right page first
	@$(BIN)/python tools/search_check.py

pictures: .venv/test-ready ## the pictures in the docs, by the examples that make them
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/first_attack.py
	$(BIN)/python docs/badges.py

figures: .venv/ready ## the measured and computed figures in the prose, from docs/figures.toml
	@$(BIN)/python -m tools.figures

verbs: .venv/ready ## the pages of docs/reference/verbs, from verbs.toml there and the source
	@$(BIN)/python -m tools.verb_pages

bench: .venv/bench-ready
	@$(BIN)/python -m bench

bench-check: .venv/bench-ready ## measures again; fails where a ratio is much worse than the one that is kept
	@$(BIN)/python -m bench --check

measure: .venv/ready ## the shape of the source: lines, functions, circles, names
	@$(BIN)/python -m bench.measure

release-check: .venv/release-ready ## two clones give the same bytes, twine check, each package in an empty environment; into dist/
	@$(BIN)/python tools/release_check.py

stranger: ## a clone in an empty folder, installed, and what the docs say tried there; prints a Markdown table
	@$(PYTHON) tools/stranger.py

.venv/ready: pyproject.toml hatch_build.py $(wildcard src/discreet/sampling/*.c src/discreet/tables/formats/*.c)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e .
	@touch $@

.venv/%-ready: .venv/ready
	$(BIN)/python -m pip install -q --group $*
	@touch $@

constraints: .venv/ready ## what the container installs, with the hashes of the wheels, in examples/service/constraints.txt
	$(BIN)/python tools/container_constraints.py

clean:
	rm -rf .venv .venv-core build site site-versions dist src/discreet/sampling/_kernel.* src/discreet/sampling/_settle.* src/discreet/tables/formats/_reader.* src/discreet/base/locale/*.mo .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
