# Two commands are all there is to know: `make run` shows it, `make test` installs what the tests need and runs them.

# Hook and runner work in any container image, so they are linked statically, and at a fixed place, which spares them the
# relocation of their tables at every start. With the flags, an explicit target is needed.
TARGET := $(shell rustc -vV | sed -n 's/^host: //p')
STATIC := --target $(TARGET) \
	--config 'target.$(TARGET).rustflags=["-C","target-feature=+crt-static","-C","relocation-model=static"]'
BIN := target/bin
CLAUDE_VERSION := 2.1.330
CODEX_VERSION := 0.169.0
AGENTS := target/tools

FUZZ := target/fuzz
FUZZ_LIMIT := -max_total_time=1200
# What `cargo fuzz` sets, without its sanitizers, which stable Rust does not have: coverage for libFuzzer.
COVERAGE := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Ccodegen-units=1

.PHONY: run build test lint bench differential fuzz tools clean

run: build
	$(BIN)/bashgate demo

# The release binaries in target/bin.
build:
	cargo build --locked --release -p bashgate
	cargo build --locked --profile hook -p bashgate-hook -p bashgate-run $(STATIC)
	mkdir -p $(BIN)
	install -m 755 target/release/bashgate target/$(TARGET)/hook/bashgate-hook target/$(TARGET)/hook/bashgate-run $(BIN)/

test: tools build lint
	cargo build --locked -p bashgate-hook --example break_guard
	cargo test --locked --workspace -- --show-output
	$(MAKE) fuzz FUZZ_LIMIT='-runs=40000 -seed=20000'

# Formatting, lints, documentation, licences. `cargo deny check` without arguments adds the advisory database.
lint:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --document-private-items
	cargo deny --locked check bans licenses sources

# What the tests need besides Rust.
tools:
	./tests/tools.sh $(AGENTS) $(CLAUDE_VERSION) $(CODEX_VERSION)

# A million generated commands under real shells, traced. About 45 minutes on two cores.
differential: tools
	BASHGATE_CASES=1000000 cargo test --locked -p bashgate-tests --test differential -- --nocapture

# The reader and the classifier under libFuzzer, each up to FUZZ_LIMIT: some minutes, or in `make test` the same short run
# everywhere. What it finds stays in target/fuzz/*-crash-*.
fuzz:
	RUSTFLAGS="$(COVERAGE)" cargo build --locked --release -p bashgate-fuzz --bin fuzz-reader --bin fuzz-classifier \
		--target $(TARGET) --target-dir $(FUZZ)
	cargo run --locked --quiet -p bashgate-fuzz --bin fuzz-seeds -- $(FUZZ)/seeds
	for target in reader classifier; do \
		mkdir -p $(FUZZ)/$$target && $(FUZZ)/$(TARGET)/release/fuzz-$$target $(FUZZ_LIMIT) \
			-max_len=4096 -timeout=2 -rss_limit_mb=1024 -artifact_prefix=$(FUZZ)/$$target- -verbosity=0 -print_final_stats=1 \
			-dict=tests/fuzz/shell.dict $(FUZZ)/$$target $(FUZZ)/seeds || exit 1; \
	done

# Ratios, never absolute times: what we do beside the least that could do it, in one run.
bench: build
	cargo bench --locked -p bashgate-tests

clean:
	cargo clean
