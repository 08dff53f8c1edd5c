# The commands of the project. Longer logic is in deploy/test and deploy/bench.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help up console test test-deps test-deep chaos bench fuzz lint fmt clean

TARGET := $(or $(CARGO_TARGET_DIR),target)
CONSOLE_SOURCES := $(shell find console -path console/node_modules -prune -o -path console/dist -prune -o -type f -print)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: console ## Build the mesh and start it (ARGS="--http ADDR --data DIR …")
	@command -v cc >/dev/null || { echo "a C compiler is missing: install gcc or clang" >&2; exit 1; }
	cargo build --release --locked --package weft
	exec $(TARGET)/release/weft up $(ARGS)

console: console/dist/index.html ## Build the console where its sources have changed

test-deps: ## Install what the tests need and this machine lacks
	deploy/test/deps.sh

test: ## Run every test, fast ones first (SKIP=chromium,python goes without a tool)
	deploy/test/run.sh

test-deep: test console ## Run what takes longer too: the Rust SDK, the ignored tests, the kill sweep among them
	deploy/test/run.sh deep drain
	cargo test --release --locked --workspace -- --ignored --nocapture

chaos: console ## Kill mesh processes under load, over and over, and look for anything lost
	cargo test --release --locked --package weft --test it -- --ignored --nocapture chaos

fuzz: ## Fuzz what reads foreign bytes, each target for a time (SECONDS=600)
	deploy/fuzz/run.sh $(or $(SECONDS),60)

bench: console ## Measure against the official SDKs on this machine
	deploy/bench/run.sh

lint: console/node_modules/.package-lock.json ## Check format, lints and dependencies without running a test
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked --manifest-path deploy/bench/Cargo.toml --target-dir $(TARGET)/bench --all-targets -- -D warnings
	deploy/test/deny.py
	npm --prefix console run --silent check

fmt: console/node_modules/.package-lock.json ## Format everything
	cargo fmt --all
	cargo fmt --all --manifest-path deploy/bench/Cargo.toml
	cargo fmt --all --manifest-path services/weft/tests/clients/rust/Cargo.toml
	cargo fmt --manifest-path deploy/fuzz/Cargo.toml
	npm --prefix console run --silent format

clean: ## Remove what was built (not .weft, where tasks are kept)
	rm -rf $(TARGET) console/dist console/node_modules services/weft/tests/clients/js/node_modules

console/node_modules/.package-lock.json: console/package-lock.json
	npm ci --prefix console --no-fund --no-audit
	@touch $@

console/dist/index.html: console/node_modules/.package-lock.json $(CONSOLE_SOURCES)
	npm --prefix console run --silent build
	@touch $@
