# Two commands are all there is to know: `make run` shows it, `make test` installs what the tests need and runs them.

# The hook runs in any container image, so it is linked statically. With the flag, an explicit target is needed.
TARGET := $(shell rustc -vV | sed -n 's/^host: //p')
STATIC := --target $(TARGET) --config 'target.$(TARGET).rustflags=["-C","target-feature=+crt-static"]'
BIN := target/bin
CLAUDE_VERSION := 2.1.330
CLAUDE_HOME := target/tools/claude

.PHONY: run build test lint bench differential tools clean

run: build
	$(BIN)/bashgate demo

# The release binaries in target/bin.
build:
	cargo build --locked --release -p bashgate
	cargo build --locked --profile hook -p bashgate-hook $(STATIC)
	mkdir -p $(BIN)
	install -m 755 target/release/bashgate target/$(TARGET)/hook/bashgate-hook $(BIN)/

test: tools build lint
	cargo build --locked -p bashgate-hook --example break_guard
	cargo test --locked --workspace

# Formatting, lints, documentation, licences. `cargo deny check` without arguments adds the advisory database.
lint:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --document-private-items
	cargo deny --locked check bans licenses sources

# What the tests need besides Rust.
tools:
	./tests/tools.sh $(CLAUDE_HOME) $(CLAUDE_VERSION)

# A million generated commands under real shells, traced. About 45 minutes on two cores.
differential: tools
	BASHGATE_CASES=1000000 cargo test --locked -p bashgate-tests --test differential -- --nocapture

# Ratios, never absolute times: what we do beside the least that could do it, in one run.
bench: build
	cargo bench --locked -p bashgate-tests

clean:
	cargo clean
