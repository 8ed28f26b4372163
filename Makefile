# Two commands to know: `make grade` and `make test`. Each installs what it needs into .venv first.
#
#   install    the dependencies of running, testing and linting
#   grade      grades examples/ in the embedded sandbox
#   test       all tests                       test-fast  those under half a second, at the strongest level only
#   test-docker  the image, in containers of many kinds; needs a Docker engine (docs/docker.md)
#   test-vm    the box in virtual machines: cgroup v2, older kernels, aarch64 (docs/sandbox-machines.md)
#   test-frameworks  clients of other frameworks, each in an environment of its own (docs/frameworks.md)
#   test-jitter  all tests with random pauses in every thread: finds tests that depend on timing
#   lint       ruff and mypy                   bench      the figures of benchmarks/suite.py
#   dist       the wheel and the source archive, checked by twine, check-wheel-contents and pyroma;
#              HOMEPAGE=https://… is the repository's address
#   docs       the documentation as a site in site/ (HOMEPAGE: as for dist)
#   clean      removes .venv and the caches of tools; keeps results/

PYTHON ?= python3
JOBS ?= 4
VENV := .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip --disable-pip-version-check -qq install -c constraints.txt
GRADE := eval/eval_with_piston_gentest_checker_stats.py

.PHONY: install grade test test-fast test-jitter test-docker test-vm test-frameworks lint bench dist docs examples clean help

help:
	@sed -n 's/^# \{0,1\}//p' Makefile

# ---- installing: one stamp file a set, made again when the pins or the dependencies change ----

$(VENV)/.python: constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
	  echo "make: $(PYTHON) is missing or older than 3.10; install it with: apt-get install python3" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "make: $(PYTHON) has no venv module; install it with: apt-get install python3-venv" >&2; exit 1; }
	@command -v g++ >/dev/null || { \
	  echo "make: g++ is missing; install it with: apt-get install g++" >&2; exit 1; }
	@test -x $(RUN) || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@$(PIP) setuptools
	@touch $@

$(VENV)/.run: $(VENV)/.python
	@echo "installing the dependencies of grading and of the view into $(VENV)"
	@$(PIP) --no-build-isolation -e '.[view]'
	@touch $@

$(VENV)/.test: $(VENV)/.python
	@echo "installing the dependencies of the tests into $(VENV)"
	@$(PIP) --no-build-isolation -e '.[test]'
	@touch $@ $(VENV)/.run

$(VENV)/.dist: $(VENV)/.python
	@echo "installing what builds and checks the wheel into $(VENV)"
	@$(PIP) --no-build-isolation -e '.[dist]'
	@touch $@

$(VENV)/.docs: $(VENV)/.python
	@echo "installing what makes the site into $(VENV)"
	@$(PIP) --no-build-isolation -e '.[docs]'
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	@echo "installing the linters into $(VENV)"
	@$(PIP) --no-build-isolation -e '.[test,lint]'
	@touch $@

install: $(VENV)/.lint
	@echo "$(VENV) is ready"

# ---- running ----

grade: $(VENV)/.run
	@$(RUN) $(GRADE) --solutions-path examples/solutions.jsonl --dataset examples/problems.jsonl \
	  --generated-tests-dir examples/generated_tests --max-generated-tests -1 \
	  --skip-large-inputs-over 3000000 --sandbox local $(ARGS)

# Tests start Python hundreds of times: its bytecode is kept even where the user's settings forbid it.
test test-fast: export PYTHONDONTWRITEBYTECODE :=

# A fifth of the examples of property tests: `make test` has them all.
test-fast: export HYPOTHESIS_PROFILE ?= few

test: $(VENV)/.test
	$(RUN) -m pytest -q -n $(JOBS) --dist loadgroup $(ARGS)

test-fast: $(VENV)/.test
	$(RUN) -m pytest -q -n $(JOBS) --dist loadgroup -m 'not slow' $(ARGS)

# See tests/jitter.py. JITTER_SEED, JITTER_EVERY and JITTER_MS change it.
test-jitter: $(VENV)/.test
	$(RUN) -m pytest -p tests.jitter -q -n $(JOBS) --dist loadgroup --timeout 900 $(ARGS)

# Prints a table of places and their isolation levels. BUILD_NETWORK=host builds with the host's network.
test-docker: $(VENV)/.test
	@docker version >/dev/null 2>&1 || { echo "no Docker engine answers: the tests are skipped"; exit 0; }; \
	for image in "gradebox" "gradebox-cpp --build-arg LANGUAGES=g++"; do \
	  docker build -q --network "$${BUILD_NETWORK:-default}" -f docker/Dockerfile -t $$image . || exit 1; \
	done
	REQUIRE=docker $(RUN) -m pytest -q -m docker -rs tests/places tests/sandbox/test_container.py $(ARGS)

# Makes the environments first: minutes and gigabytes. NAMES="fusion" makes some, NAMES=--light small ones.
test-frameworks: $(VENV)/.test
	$(RUN) -m tests.frameworks.environments $(NAMES)
	$(RUN) -m pytest -q -m frameworks -rs tests/frameworks $(ARGS)

# Once per change of sandbox/box: minutes with KVM, an hour without. ARGS='"Linux 6.1"' runs one.
test-vm: $(VENV)/.run
	$(RUN) -m tests.vm.run $(ARGS)

lint: $(VENV)/.lint
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# With HOMEPAGE (an argument or a variable of the environment) the README's links are absolute.
dist: export GRADEBOX_HOMEPAGE = $(HOMEPAGE)
dist: $(VENV)/.dist
	@rm -rf dist build
	@$(RUN) -m build --no-isolation
	@$(VENV)/bin/twine check --strict dist/*
	@$(VENV)/bin/check-wheel-contents dist/*.whl
	@$(VENV)/bin/pyroma -n 10 --skip-tests "AuthorEmail$(if $(HOMEPAGE),, Url)" dist/*.tar.gz
	@test -n "$(HOMEPAGE)" || echo "no HOMEPAGE given: no project addresses, and the README's links stay relative"

# Strict: a link that leads nowhere is an error. Nothing in the site comes from other hosts.
docs: export GRADEBOX_HOMEPAGE = $(HOMEPAGE)
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/.docs
	@$(VENV)/bin/mkdocs build -q
	@echo "site/index.html is ready; with search: $(RUN) -m http.server -b 127.0.0.1 -d site"

bench: $(VENV)/.test
	$(RUN) benchmarks/suite.py $(ARGS)

# Writes examples/*.jsonl and examples/generated_tests/ from examples/src/.
examples: $(VENV)/.run
	$(RUN) examples/make_examples.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist site *.egg-info
