# SPDX-License-Identifier: MIT
# Everything from nothing on a Debian machine: `make demo`, `make test`. `make bench` measures.
PRESET ?= release

.PHONY: all demo test deep python wheel test-pip test-loaders loaders-ready test-web web-ready screens fuzz campaign bench asan tsan sanitize tidy asan-readers format check-format install docs clean packages pages debs release

all: build/$(PRESET)/bin/udv

packages:
	@scripts/install-packages build test web

build/$(PRESET)/bin/udv: packages
	@cmake --preset $(PRESET) --log-level=WARNING >/dev/null
	@scripts/progress build build/$(PRESET)

# Compiles only what `udv demo` runs.
demo:
	@scripts/install-packages build web
	@cmake --preset $(PRESET) --log-level=WARNING -DUDV_BUILD_TESTS=OFF -DUDV_BUILD_BENCH=OFF >/dev/null
	@scripts/progress build build/$(PRESET) udv_demo
	@build/$(PRESET)/bin/udv-demo demo
	@echo "All commands: make, then build/$(PRESET)/bin/udv --help"

test: packages
	@scripts/install-packages python
	@cmake --preset $(PRESET) --log-level=WARNING -DUDV_BUILD_TESTS=ON -DUDV_BUILD_BENCH=OFF -DUDV_BUILD_PYTHON=ON >/dev/null
	@scripts/progress build build/$(PRESET)
	@scripts/progress test $(PRESET)

# The same with the LibTorch component (udv finetune), whose libraries are large: installs them first.
deep:
	@scripts/install-packages deep
	@$(MAKE) --no-print-directory test

# The Python package, where Debian's /usr/bin/python3 finds it.
python:
	@scripts/install-packages build web python
	@cmake --preset $(PRESET) --log-level=WARNING -DUDV_BUILD_TESTS=OFF -DUDV_BUILD_BENCH=OFF -DUDV_BUILD_PYTHON=ON >/dev/null
	@scripts/progress build build/$(PRESET) udv_python
	@scripts/install-python build/$(PRESET)

# A wheel and a source distribution for any processor of its kind: build/wheels.
wheel:
	@scripts/install-packages build web wheel
	@scripts/make-wheel build/wheels

# The package in a virtual environment with current NumPy, scikit-learn, PyTorch, peft and transformers.
test-pip:
	@scripts/install-packages build web wheel
	@scripts/test-pip build/wheels

# What udv export writes, in the programs that load it: ONNX Runtime (npm), PyTorch, the checker of ONNX.
loaders-ready:
	@scripts/install-packages loaders
	@mkdir -p build/loaders && cp tests/loaders/package.json tests/loaders/package-lock.json build/loaders/
	@npm ci --prefix build/loaders --silent --no-audit --no-fund

test-loaders: build/$(PRESET)/bin/udv loaders-ready
	@/usr/bin/python3 tests/loaders/check.py build/$(PRESET)/bin/udv build/loaders

# The page of reports in a real browser: samples, pages made by udv reproduce and by runs of every kind, a job that is watched.
web-ready:
	@scripts/install-packages web browser
	@mkdir -p build/web && cp -r web/package.json web/package-lock.json web/.npmrc web/tsconfig.json web/build.mjs web/src web/tests build/web/
	@npm ci --prefix build/web --silent --no-audit --no-fund
	@npm run --silent --prefix build/web build

# Runs of every kind and one that is watched: their pages are looked at, and pictured for `make docs`.
screens_of = UDV=$(CURDIR)/build/$(PRESET)/bin/udv UDV_RUNS=$(CURDIR)/build/web/runs UDV_SCREENS=$(CURDIR)/build/docs/screens

screens: build/$(PRESET)/bin/udv web-ready
	@/usr/bin/python3 web/tests/make_runs.py build/$(PRESET)/bin/udv build/web/runs
	@$(screens_of) npm run --silent --prefix build/web screens

test-web: build/$(PRESET)/bin/udv web-ready
	@build/$(PRESET)/bin/udv reproduce all --quick --data none --out build/web/reproduced
	@/usr/bin/python3 web/tests/make_runs.py build/$(PRESET)/bin/udv build/web/runs
	@npm run --silent --prefix build/web check
	@$(screens_of) UDV_REPORT=$(CURDIR)/build/web/reproduced/report.html UDV_RUN_FOLDER=$(CURDIR)/build/web/reproduced/sm-evolution/udu \
	  npm test --silent --prefix build/web

# Readers of other people's bytes, with libFuzzer.
fuzz:
	@tests/fuzz/run 60

# Kills, failing disks, damaged files and rude clients, in a temporary folder and on 127.0.0.1; half an hour. See docs/reliability.md.
campaign: build/$(PRESET)/bin/udv
	@tests/campaign/run build/$(PRESET)

bench:
	@scripts/install-packages build test bench
	@cmake --preset $(PRESET) --log-level=WARNING -DUDV_BUILD_TESTS=ON -DUDV_BUILD_BENCH=ON >/dev/null
	@scripts/progress build build/$(PRESET)
	@bench/run build/$(PRESET)

asan: packages
	@cmake --preset asan --log-level=WARNING >/dev/null
	@scripts/progress build build/asan
	@scripts/progress test asan

# Threads: the pool, operators, sweeps, the server of udv watch.
tsan: packages
	@cmake --preset tsan --log-level=WARNING >/dev/null
	@scripts/progress build build/tsan test_core test_recover test_net test_cli
	@OPENBLAS_NUM_THREADS=1 TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 scripts/progress test tsan -R 'Thread|Parallel|Law|Team|Sweep|Watch|Server|Http'

sanitize: asan tsan

# A reasoned list of checks (.clang-tidy) over all sources, or over FILES.
tidy:
	@scripts/install-packages build test web tidy
	@cmake --preset tidy --log-level=WARNING >/dev/null
	@scripts/tidy build/tidy $(FILES)

# What reads other people's bytes, in a third of the time.
asan-readers: packages
	@cmake --preset asan --log-level=WARNING >/dev/null
	@scripts/progress build build/asan test_core test_io
	@scripts/progress test asan -R '^(core|io)\.'

format:
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

check-format:
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror

# docs/commands.md from the option tables; with `make deep` built before, for all commands.
pages: all
	@build/$(PRESET)/bin/udv pages build/$(PRESET)/manual
	@cp build/$(PRESET)/manual/commands.md docs/commands.md

# One site: guide, commands, C++, Python: build/docs/html/index.html. Its links are checked. It shows pictures of pages where `make screens` or `make test-web` has taken them.
docs:
	@scripts/install-packages docs
	@scripts/make-docs build/docs

# Debian packages alone: build/release-files. Everything that a release has, checked: docs/install.md.
debs: docs
	@scripts/install-packages build web python package
	@scripts/make-packages build/release-files

release:
	@scripts/install-packages build test web browser python wheel docs package
	@scripts/make-release build/release-files

# For any processor of its kind, as packages are. `cmake --install build/release` installs the build for this machine alone.
install:
	@scripts/install-packages build web
	@cmake --preset portable --log-level=WARNING >/dev/null
	@scripts/progress build build/portable
	@cmake --install build/portable

clean:
	rm -rf build
