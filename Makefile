# Every target sets up what it needs. A stamp file in .venv records that a step of the set-up is done; it is older than
# the files it depends on if the step must be repeated. The stamps form one chain, so that two pips never write to the
# environment at the same time, even under `make -j`.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && \
	{ command -v "$$python"; break; }; done)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
# A stamp has the time when its step began: a file that was edited meanwhile is newer.
START = @touch $@.new
FINISH = @mv $@.new $@
SANITIZED = $(CURDIR)/build/sanitize-$(SANITIZER)/site

BUILD_FILES := CMakeLists.txt pyproject.toml $(shell find src/core -name '*.cpp' -o -name '*.hpp')
PACKAGE_FILES := $(shell find src/hedgerow -type f -not -path '*/__pycache__/*')
CXX_FILES := $(filter %.cpp %.hpp,$(BUILD_FILES))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-slow test-all coverage lint format stub sanitize sanitize-threads wheel hooks results benchmarks benchmarks-quick docs clean FORCE

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/installed  ## Train a small real model and predict
	$(BIN)/hedgerow demo

# One worker process a core. Workers steal tests from each other, so that none is idle at the end.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

test: $(VENV)/test-tools  ## Run the tests, without the slow ones
	$(PYTEST) -m 'not slow'

# Slow tests also run mypy and the benchmark scripts.
test-slow: $(VENV)/lint-tools $(VENV)/bench-tools  ## Run the slow tests
	$(PYTEST) -m slow

test-all: $(VENV)/lint-tools $(VENV)/bench-tools  ## Run all tests
	$(PYTEST)

coverage: $(VENV)/lint-tools $(VENV)/bench-tools  ## Run all tests and report the covered lines and branches of Python
	$(PYTEST) --cov --cov-report=term-missing:skip-covered

# mypy checks benchmarks apart, because some of its scripts have the names of experiments.
lint: $(VENV)/lint-tools  ## Check style, types, the direction of imports and the C++ format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	MYPYPATH=benchmarks $(BIN)/mypy benchmarks
	$(BIN)/mypy --config-file tests/mypy.ini
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $(CXX_FILES)

format: $(VENV)/lint-tools  ## Apply the style to Python and C++
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

hooks: $(VENV)/lint-tools  ## Check what changed before each commit (installs pre-commit into .git/hooks)
	$(BIN)/pre-commit install

stub: $(VENV)/installed  ## Write src/hedgerow/_core.pyi from the compiled module
	$(BIN)/python -m nanobind.stubgen --quiet --module hedgerow._core --output-file src/hedgerow/_core.pyi

# -S ignores the editable install of .venv, so that the sanitized build is imported, also in the worker processes. The
# sanitizers and libstdc++ must be loaded before Python, or C++ exceptions are not caught.
define under_sanitizer
	@export PYTHONPATH=$(SANITIZED):$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))'); \
	export LD_PRELOAD="$$(ldd $(SANITIZED)/hedgerow/_core*.so | awk '/libasan|libubsan|libtsan|libstdc/ {print $$3}' | xargs)"; \
	export ASAN_OPTIONS=abort_on_error=1:detect_leaks=0:strict_string_checks=1; \
	export UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc; \
	export TSAN_OPTIONS=halt_on_error=1:die_after_fork=0; \
	$(BIN)/python -S -c 'import hedgerow._core as core; assert "$(SANITIZED)" in core.__file__, core.__file__' && \
	$(BIN)/python -S -m pytest -p no:cacheprovider --capture=sys --dist worksteal \
		--tx "$$(nproc)*popen//python=$(CURDIR)/$(BIN)/python -S"
endef

sanitize: SANITIZER = address
sanitize: build/sanitize-address/installed  ## Run the kernel tests under the address and undefined-behaviour sanitizers
	$(under_sanitizer) -m kernel $(shell grep -rl --include='test_*.py' 'mark\.kernel' tests)

# Tests that use several threads have "thread" in their name.
sanitize-threads: SANITIZER = thread
sanitize-threads: build/sanitize-thread/installed  ## Run the tests of parallel code under the thread sanitizer
	$(under_sanitizer) -k thread tests/encoding tests/estimators/test_threads.py tests/inference tests/learning \
		tests/project/test_limits.py

wheel: $(VENV)/build-tools  ## Build an sdist and a wheel from it, and try the wheel in an empty environment
	@rm -rf dist && mkdir -p build
	$(BIN)/python -m build --outdir dist >build/wheel.log 2>&1 || { cat build/wheel.log; exit 1; }
	@away=$$(mktemp -d) && trap 'rm -rf "$$away"' EXIT && cd "$$away" && \
	$(CURDIR)/$(BIN)/python -m venv venv && \
	venv/bin/python -m pip install -qq --disable-pip-version-check $(CURDIR)/dist/*.whl && \
	venv/bin/python -I $(CURDIR)/.ci/smoke.py

results: $(VENV)/bench-tools  ## Run the experiments and fill the tables of docs/results; ONLY=text chooses commands
	$(BIN)/python tools/fill_docs.py docs/results/*.md --only "$(ONLY)"

benchmarks: $(VENV)/bench-tools  ## Run the benchmarks and fill the tables of docs/benchmarks.md; ONLY=text chooses
	$(BIN)/python tools/fill_docs.py docs/benchmarks.md --only "$(ONLY)" --history benchmarks/history.jsonl
	$(BIN)/python tools/fill_docs.py docs/*.md docs/tasks/*.md --only quote_table

benchmarks-quick: $(VENV)/installed  ## Count the instructions of small fits; fail if a count rose by a tenth
	$(BIN)/python benchmarks/counts.py --check

docs: $(VENV)/docs-tools  ## Build the documentation site in build/docs; a warning is an error
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going --nitpicky --jobs auto docs build/docs
	@echo 'open build/docs/index.html'

clean:  ## Remove everything that other targets made
	rm -rf $(VENV) build dist docs/generated .coverage .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/created:
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo 'hedgerow needs Python 3.11 or newer, but found "$(PYTHON)"; try make PYTHON=/path/to/python3' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/build-tools: pyproject.toml | $(VENV)/created
	$(START)
	$(PIP) install --group build
	$(FINISH)

# The editable install has a list of modules: install again when a file is added or removed.
$(VENV)/source-names: FORCE | $(VENV)/created
	@printf '%s\n' $(sort $(PACKAGE_FILES) $(CXX_FILES)) >$@.new
	@if cmp -s $@ $@.new; then rm $@.new; else mv $@.new $@; fi

$(VENV)/installed: $(BUILD_FILES) $(VENV)/build-tools $(VENV)/source-names
	$(START)
	$(PIP) install --no-build-isolation --editable .
	$(FINISH)

$(VENV)/test-tools: pyproject.toml | $(VENV)/installed
	$(START)
	$(PIP) install --group test
	$(FINISH)

# After the test tools, because mypy reads the types of optional libraries.
$(VENV)/lint-tools: pyproject.toml | $(VENV)/test-tools
	$(START)
	$(PIP) install --group lint
	$(FINISH)

$(VENV)/bench-tools: pyproject.toml | $(VENV)/lint-tools
	$(START)
	$(PIP) install --group bench
	$(FINISH)

$(VENV)/docs-tools: pyproject.toml | $(VENV)/bench-tools
	$(START)
	$(PIP) install --group docs
	$(FINISH)

build/sanitize-%/installed: $(BUILD_FILES) $(PACKAGE_FILES) | $(VENV)/test-tools
	rm -rf $(@D)/site && mkdir -p $(@D)
	$(START)
	$(PIP) install --no-build-isolation --no-deps --target $(@D)/site --config-settings build-dir=$(@D)/cmake \
		--config-settings cmake.build-type=RelWithDebInfo --config-settings cmake.define.HEDGEROW_SANITIZE=$* .
	$(FINISH)
