# Everything there is to run. `make demo` and `make test` need rustup or cargo, python3 and make; the rest sets itself up.

SHELL := /bin/bash
# Rustup installs here; a shell that was open before does not know it yet.
export PATH := $(PATH):$(HOME)/.cargo/bin
# Cargo with all that the build of RocksDB needs; the demo does without.
CARGO := tools/with-libclang.sh cargo
export CARGO_TARGET_DIR ?= $(HOME)/.cache/cozo/target

.PHONY: help demo test test-shared-log test-spark fmt lint unit python header soak bench bench-check bench-report docs fuzz cargo

help:                ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST)

demo: cargo          ## build the binary and query the dependency graph of this workspace
	@cargo build --package cozo-bin --no-default-features
	@"$$CARGO_TARGET_DIR/debug/cozo" demo Cargo.lock

# With a seed, so that what passed passes again; without, `make fuzz` goes on where it ended.
test: SEED ?= 1
test: lint unit python fuzz ## everything that CI runs
	@echo "--- make demo"
	@$(MAKE) --no-print-directory demo > /dev/null
	@echo "all checks passed"

lint: cargo          ## check the formatting and the lints
	@cargo fmt --version > /dev/null 2>&1 || rustup component add rustfmt clippy
	cargo fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

unit: cargo          ## run the tests of all crates
	tools/with-go.sh $(CARGO) test --workspace
	$(CARGO) test --package cozo --lib --features shuttle txn::tests

python: cargo        ## build the Python module and run its tests
	@if [ -x cozo-lib-python/test.sh ]; then cozo-lib-python/test.sh; fi

.PHONY: wheel
# RocksDB takes half an hour to compile, and is a large part of the wheel: SMALL=1 leaves it out.
wheel: cargo         ## build the wheel of the Python packages (SMALL=1: without RocksDB)
	maturin=$$(tools/venv.sh maturin 'maturin>=1.9.4,<2')/bin/maturin && cd cozo-lib-python && \
	    $(if $(SMALL),,../tools/with-libclang.sh) "$$maturin" build --release --strip --out "$$CARGO_TARGET_DIR/wheels" $(if $(SMALL),--no-default-features)
	@ls -l "$$CARGO_TARGET_DIR/wheels"

test-spark: cargo    ## test scripts on Spark, for which Java 17 must be there (COZO_PROGRAMS=1000: more random programs)
	cozo-lib-python/test-spark.sh

header: cargo        ## write the header of the C library anew
	cargo run --quiet --manifest-path cozo-lib-c/header/Cargo.toml --target-dir "$$CARGO_TARGET_DIR/tmp/header" > "$$CARGO_TARGET_DIR/cozo_c.h"
	mv "$$CARGO_TARGET_DIR/cozo_c.h" cozo-lib-c/cozo_c.h

soak: cargo          ## the long versions of the crash, fault, isolation and load tests: some half an hour
	# Of the whole workspace, as for the other tests, so that RocksDB is not compiled with other features again.
	COZO_CRASHES=200 COZO_SOAK_SECONDS=60 $(CARGO) test --workspace --test crash --test isolation
	COZO_IO_ERRORS=1000 COZO_POWER_LOSSES=1000 COZO_DAMAGES=1000 $(CARGO) test --workspace --test faults
	COZO_CRASHES=50 COZO_SOAK_SECONDS=60 $(CARGO) test --workspace --test server_soak
	COZO_SHARED_SECONDS=600 $(CARGO) test --workspace --test shared -- killed histories
	COZO_REQUESTS=1000 $(CARGO) test --workspace --test server_random
	COZO_EXPRESSIONS=10000 $(CARGO) test --workspace --test bounds

test-shared-log: cargo ## test the shared log over an object store, S3 and etcd, too
	$(CARGO) test --package cozo-shared-log --all-features

fmt: cargo           ## format the code
	cargo fmt --all

bench: cargo         ## run the benches
	$(CARGO) bench --workspace

bench-report: cargo  ## measure beside other databases, and draw docs/performance.md (ARGS=--draw only draws)
	benches/report/run.sh $(ARGS)

bench-check: cargo   ## compare instructions with those of BASE=COMMIT, by default where this branch left main
	@tools/with-debian.sh valgrind valgrind -- python3 tools/bench-check.py $(if $(BASE),--base $(BASE))

docs: cargo          ## write the reference pages of docs/ anew, and build the documentation of the crate
	COZO_BLESS_DOCS=1 $(CARGO) test --quiet --package cozo --test reference
	COZO_BLESS_DOCS=1 $(CARGO) test --quiet --package cozo-bin --test book
	COZO_BLESS_DOCS=1 $(CARGO) test --quiet --package cozo-lib-c --test library book
	COZO_BLESS_DOCS=1 cozo-lib-python/test.sh -k book
	cargo doc --no-deps --package cozo
	@echo "$$CARGO_TARGET_DIR/doc/cozo/index.html"

.PHONY: picture
picture: cargo       ## take the picture of the server's page for README.md anew
	COZO_BLESS_PICTURE=1 cozo-lib-python/test.sh -k picture

.PHONY: book
book: cargo          ## build the user's book of docs/ as a web site
	@tools/with-mdbook.sh mdbook build --dest-dir "$$CARGO_TARGET_DIR/book" docs
	@echo "$$CARGO_TARGET_DIR/book/index.html"

fuzz: cargo          ## fuzz the parser and the evaluator (or TARGET=parse) for SECONDS=60 each (the same inputs with SEED=1)
	python3 tools/fuzz.py --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED)) $(TARGET)

cargo:
	@command -v cargo > /dev/null || { echo "cargo is not here: install Rust with rustup, then try again" >&2; exit 1; }
