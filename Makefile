# Two commands are all there is to know: `make run` shows it, `make test` installs what the tests need and runs them.

# Links hook and runner statically; what they share with the host is built once.
STATIC := RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/packaging/rustc-static.sh
BIN := target/bin

# What makes a second build quick takes as much room again as the build: a checkout that is built once does without.
ifdef CI
export CARGO_INCREMENTAL := 0
endif

CLAUDE_VERSION := 2.1.330
CODEX_VERSION := 0.169.0
GEMINI_VERSION := 0.61.0
COPILOT_VERSION := 1.0.102
OPENCODE_VERSION := 1.18.33
AGENTS := target/tools
OPENAI_AGENTS_VERSION := 0.24.0
CLAUDE_SDK_VERSION := 0.2.187
SYNAPSE_VERSION := 1.163.2
PUPPETEER_VERSION := 24.43.1
AXE_VERSION := 4.14.1
MCP_VERSION := 2.3.0
INSPECTOR_VERSION := 2.12.0
ZIG_VERSION := 0.17.1
ZIGBUILD_VERSION := 0.24.1
SBOM_VERSION := 0.10.0

TARGET := $(shell rustc -vV | sed -n 's/^host: //p')
FUZZ := target/fuzz
FUZZ_LIMIT := -runs=40000 -seed=20000
# What `cargo fuzz` sets, without its sanitizers, which stable Rust does not have: coverage for libFuzzer.
COVERAGE := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Ccodegen-units=1

.PHONY: run build install deb dist quick check test clients soak lint unit flow system ordinary bench compare fuzz tools clean

PREFIX := /usr/local
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
DEB := target/bashgate_$(VERSION)_$(shell dpkg --print-architecture 2>/dev/null).deb

PART := ./tests/part.sh
BEFORE :=
CORPORA := tests/corpus/*.jsonl $(if $(BASHGATE_CORPORA),$(BASHGATE_CORPORA)/*.jsonl)

# Built without optimisation, so that it is there in two minutes.
run: quick
	$(BIN)/bashgate demo

# The release binaries in target/bin.
build:
	$(STATIC) cargo build --locked --release -p bashgate -p bashgate-fleet -p bashgate-run
	target=$$(packaging/hook-target.sh) && mkdir -p $(BIN) && \
		$(STATIC) cargo build --locked --profile hook -p bashgate-hook --target $$target && \
		install -m 755 target/$$target/hook/bashgate-hook $(BIN)/
	install -m 755 target/release/bashgate target/release/bashgate-fleet target/release/bashgate-run $(BIN)/

# What `make build` has built, with manual pages, completions and a unit of systemd: sudo make install [PREFIX=/usr/local]
install:
	@test -x $(BIN)/bashgate -a -x $(BIN)/bashgate-hook -a -x $(BIN)/bashgate-run -a -x $(BIN)/bashgate-fleet || { echo "run 'make build' first" >&2; exit 1; }
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/lib/systemd/user \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 $(BIN)/bashgate $(BIN)/bashgate-fleet $(BIN)/bashgate-hook $(BIN)/bashgate-run $(DESTDIR)$(PREFIX)/bin/
	install -m 644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 packaging/completions/bash/bashgate.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/bashgate
	install -m 644 packaging/completions/bash/bashgate-run.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/bashgate-run
	install -m 644 packaging/completions/bash/bashgate-fleet.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/bashgate-fleet
	install -m 644 packaging/completions/zsh/_* $(DESTDIR)$(PREFIX)/share/zsh/site-functions/
	install -m 644 packaging/completions/fish/*.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/
	sed 's#@PREFIX@#$(PREFIX)#' packaging/systemd/bashgate.service > $(DESTDIR)$(PREFIX)/lib/systemd/user/bashgate.service
	chmod 644 $(DESTDIR)$(PREFIX)/lib/systemd/user/bashgate.service

# A Debian package of what `make build` has built.
deb:
	rm -rf target/deb
	$(MAKE) --no-print-directory install DESTDIR=$(CURDIR)/target/deb PREFIX=/usr
	install -d target/deb/DEBIAN target/deb/usr/share/doc/bashgate
	install -m 644 README.md LICENSE-APACHE LICENSE-MIT docs/*.md target/deb/usr/share/doc/bashgate/
	gzip -9n target/deb/usr/share/man/man1/*.1
	sed -e 's/@VERSION@/$(VERSION)/' -e "s/@ARCHITECTURE@/$$(dpkg --print-architecture)/" packaging/debian/control > target/deb/DEBIAN/control
	dpkg-deb --build --root-owner-group -Zgzip -z5 target/deb $(DEB)

# What a release hands out: static programs for two architectures, what was built in, digests. See docs/operating.md.
dist:
	python3 -m venv $(AGENTS)/dist
	$(AGENTS)/dist/bin/pip install --quiet ziglang==$(ZIG_VERSION) cargo-zigbuild==$(ZIGBUILD_VERSION)
	cargo install --quiet --locked --root $(AGENTS)/dist cargo-sbom@$(SBOM_VERSION)
	ARCHITECTURES="$(ARCHITECTURES)" SIGN_KEY="$(SIGN_KEY)" packaging/dist.sh

# The same without optimisation, for the tests of a change: seconds instead of minutes.
quick:
	$(STATIC) cargo build --locked -p bashgate -p bashgate-fleet -p bashgate-hook -p bashgate-run
	mkdir -p $(BIN)
	install -m 755 target/debug/bashgate target/debug/bashgate-fleet target/debug/bashgate-hook target/debug/bashgate-run $(BIN)/

# What every change needs: lints, the tests of the libraries, and a scripted agent through the real hook and host.
check:
	@$(PART) --start
	@$(PART) lint $(MAKE) --no-print-directory code
	@$(PART) quick $(MAKE) --no-print-directory quick
	@$(PART) unit $(MAKE) --no-print-directory unit
	@$(PART) flow $(MAKE) --no-print-directory flow
	@$(PART) --sum

# Everything, from nothing.
test:
	@$(PART) --start
	@$(PART) tools $(MAKE) --no-print-directory tools
	@$(PART) build $(MAKE) --no-print-directory build
	@$(PART) lint $(MAKE) --no-print-directory lint
	@$(PART) compile cargo nextest run --locked --workspace --no-run
	@$(PART) ordinary $(MAKE) --no-print-directory ordinary
	@$(PART) tests $(MAKE) --no-print-directory system
	@$(PART) fuzz $(MAKE) --no-print-directory fuzz
	@$(PART) --sum

# Real clients that `make test` leaves out: other agents, and the SDKs with the examples of docs/examples. The table in
# docs/agents.md is made from it: UPDATE_DOCS=1 make clients.
clients: tools build
	npm install --prefix $(AGENTS)/gemini --no-save --ignore-scripts --no-audit --no-fund @google/gemini-cli@$(GEMINI_VERSION)
	npm install --prefix $(AGENTS)/copilot --no-save --ignore-scripts --no-audit --no-fund @github/copilot@$(COPILOT_VERSION)
	npm install --prefix $(AGENTS)/opencode --no-save --ignore-scripts --no-audit --no-fund opencode-ai@$(OPENCODE_VERSION)
	python3 -m venv $(AGENTS)/sdks
	$(AGENTS)/sdks/bin/pip install --quiet "openai-agents==$(OPENAI_AGENTS_VERSION)" "claude-agent-sdk==$(CLAUDE_SDK_VERSION)"
	cargo nextest run --locked -p bashgate-tests --features clients --test clients

# What is random and long: a million generated commands under real shells, a thousand deaths of the host, an hour of
# fuzzing. Each says its seed; BASHGATE_SEED repeats it.
soak: tools build
	@$(PART) --start
	@$(PART) differential env BASHGATE_CASES=1000000 cargo nextest run --profile soak --locked -p bashgate-tests --no-capture -E 'binary(differential)'
	@$(PART) worlds env BASHGATE_SOAK=1 BASHGATE_SEED=$$(date +%s) cargo nextest run --profile soak --locked -p bashgate-tests --no-capture -E 'test(hostile::)'
	@$(PART) kills env BASHGATE_SOAK=1 cargo nextest run --profile soak --locked -p bashgate-tests --no-capture -E 'test(kills::)'
	@$(PART) fleet env BASHGATE_SOAK=1 cargo nextest run --profile soak --locked -p bashgate-tests --no-capture -E 'test(whoever_dies)'
	@$(PART) histories env BASHGATE_SOAK=1 cargo nextest run --profile soak --locked -p bashgate-hook --no-capture -E 'test(in_any_history)'
	@$(PART) values env BASHGATE_SOAK=1 cargo nextest run --profile soak --locked -p bashgate-tests --no-capture -E 'test(any_value_arrives)'
	@$(PART) cards env BASHGATE_SOAK=1 cargo nextest run --profile soak --locked -p bashgate-tests --no-capture -E 'test(a_thousand_cards)'
	@$(PART) fuzz $(MAKE) --no-print-directory fuzz FUZZ_LIMIT=-max_total_time=1800
	@$(PART) dist sh -c 'apt-get install -y -q qemu-user-static file openssh-client && tests/dist.sh'
	@$(PART) --sum

code:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

# Formatting, lints, documentation, licences. `cargo deny check` without arguments adds the advisory database.
lint: code
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --document-private-items
	cargo deny --locked check bans licenses sources

unit:
	cargo nextest run --locked --workspace --lib

flow:
	cargo nextest run --locked -p bashgate-tests -E 'test(demo::) | test(one_place::)'

system:
	cargo nextest run --locked --workspace

# What is asked, held, bound, told and recorded, once more with everything an ordinary user's. Left out is what mounts.
ORDINARY := approvals|bound|aftermath|cage|keys|inspectors|flow|computed|tools|told_elsewhere|faults_of_host|faults_of_hook
ordinary:
	CARGO_TARGET_$(shell echo $(TARGET) | tr a-z- A-Z_)_RUNNER=$(CURDIR)/tests/ordinary.sh cargo nextest run --locked -p bashgate-tests \
		-E 'binary(system) and test(/^($(ORDINARY))::/) and not test(/full_disk_under|mailboxes_that_do_not|empty_root/)'

# What the tests need besides Rust.
tools:
	./tests/tools.sh $(AGENTS) $(CLAUDE_VERSION) $(CODEX_VERSION) $(SYNAPSE_VERSION) $(PUPPETEER_VERSION) $(AXE_VERSION) \
		$(MCP_VERSION) $(INSPECTOR_VERSION)

# How many of the corpora's commands are decided in the container, asked, inspected, caged; with BEFORE=/path/to/bashgate beside what
# another build says, and of which commands it says something else.
compare: build
	cargo run --locked --quiet -p bashgate-tests --bin compare -- $(BEFORE) $(BIN)/bashgate $(CORPORA)

# The reader and the classifier under libFuzzer: the same short run everywhere, unless FUZZ_LIMIT says otherwise. What it
# finds stays in target/fuzz/*-crash-*.
fuzz:
	RUSTFLAGS="$(COVERAGE)" cargo build --locked --release -p bashgate-fuzz --bin fuzz-reader --bin fuzz-classifier \
		--target $(TARGET)
	cargo run --locked --quiet -p bashgate-fuzz --bin fuzz-seeds -- $(FUZZ)/seeds
	for target in reader classifier; do \
		mkdir -p $(FUZZ)/$$target && target/$(TARGET)/release/fuzz-$$target $(FUZZ_LIMIT) \
			-max_len=4096 -timeout=2 -rss_limit_mb=1024 -artifact_prefix=$(FUZZ)/$$target- -verbosity=0 -print_final_stats=1 \
			-dict=tests/fuzz/shell.dict $(FUZZ)/$$target $(FUZZ)/seeds || exit 1; \
	done

# Ratios, never absolute times: what we do beside the least that could do it, in one run.
bench: build
	cargo bench --locked -p bashgate-tests

clean:
	cargo clean
