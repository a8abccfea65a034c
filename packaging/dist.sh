#!/bin/sh
# Builds what a release hands out, into target/dist: for each architecture an archive with static binaries, manual pages,
# completions and the unit of systemd; the list of everything that was built in (SPDX); and the digests of it all. The archives are
# the same, byte for byte, wherever they are built from the same source in a folder of the same name with the same tools.
#
#   make dist [ARCHITECTURES="x86_64 aarch64"] [SIGN_KEY=FILE]
#
# With SIGN_KEY, a private key of ssh-keygen, the digests are signed; docs/operating.md says how whoever downloads them verifies that.
set -eu
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
out=target/dist
tools=target/tools/dist/bin
epoch=$(git log -1 --format=%ct 2>/dev/null || echo 0)
PATH=$PWD/$tools:$PATH
export PATH SOURCE_DATE_EPOCH="$epoch"
# Where it was built says nothing about what it is.
separator=$(printf '\037')
everywhere="--remap-path-prefix=$PWD=/bashgate${separator}--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
# As packaging/rustc-static.sh does it. A wrapper is no way to it here: cargo has the names of all symbols depend on where that lies.
at_a_fixed_place="$everywhere${separator}-Crelocation-model=static"
unset RUSTC_WORKSPACE_WRAPPER
rm -rf "$out"
mkdir -p "$out"
for architecture in ${ARCHITECTURES:-x86_64 aarch64}; do
    target=$architecture-unknown-linux-musl
    rustup target add "$target"
    CARGO_ENCODED_RUSTFLAGS=$everywhere cargo zigbuild --locked --release --target "$target" -p bashgate -p bashgate-fleet
    CARGO_ENCODED_RUSTFLAGS=$at_a_fixed_place cargo zigbuild --locked --release --target "$target" -p bashgate-run
    CARGO_ENCODED_RUSTFLAGS=$at_a_fixed_place cargo zigbuild --locked --profile hook --target "$target" -p bashgate-hook
    name=bashgate-$version-linux-$architecture
    bin=$out/$architecture
    mkdir -p "$bin"
    install -m 755 "target/$target/release/bashgate" "target/$target/release/bashgate-fleet" "target/$target/release/bashgate-run" "target/$target/hook/bashgate-hook" "$bin/"
    make --no-print-directory install BIN="$bin" DESTDIR="$PWD/$out/$name" PREFIX=
    install -m 644 README.md LICENSE-APACHE LICENSE-MIT "$out/$name/"
    tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=ustar -C "$out" -cf - "$name" |
        gzip -9n > "$out/$name.tar.gz"
    rm -rf "${out:?}/$name" "$bin"
done
cargo sbom --output-format spdx_json_2_3 > "$out/bashgate-$version.spdx.json"
(cd "$out" && sha256sum -- *.tar.gz *.spdx.json > SHA256SUMS)
if [ -n "${SIGN_KEY:-}" ]; then
    ssh-keygen -q -Y sign -n bashgate -f "$SIGN_KEY" "$out/SHA256SUMS"
fi
ls -l "$out"
