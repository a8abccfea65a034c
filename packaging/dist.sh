#!/bin/sh
# What is handed out, in target/dist: static programs for x86_64 and aarch64 with manuals and completions, what they are made of
# (SPDX), and checksums, signed where BASHGATE_SIGNING_KEY names a key of ssh-keygen. The same commit gives the same bytes in any
# folder. `packaging/dist.sh --check` builds once more elsewhere and compares.
set -eu
cd "$(dirname "$0")/.."
tools=target/tools/dist
out=target/dist
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

if [ "${1-}" = --check ]; then
    again=$(mktemp -d)
    trap 'rm -rf "$again"' EXIT
    git clone -q . "$again/elsewhere"
    (cd "$again/elsewhere" && BASHGATE_DIST_TOOLS=$OLDPWD/$tools packaging/dist.sh)
    cmp "$out/SHA256SUMS" "$again/elsewhere/$out/SHA256SUMS"
    echo "the same bytes in another folder"
    exit
fi

# A C compiler and linker for every target, and what writes the list of parts.
tools=${BASHGATE_DIST_TOOLS-$PWD/$tools}
if [ ! -x "$tools/bin/cargo-zigbuild" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet ziglang==0.17.1 cargo-zigbuild==0.24.1
fi
if [ ! -x "$tools/bin/cargo-sbom" ]; then
    cargo install --quiet --locked --root "$tools" cargo-sbom@0.10.0
fi
PATH=$tools/bin:$PATH
export PATH

registry=${CARGO_HOME-$HOME/.cargo}
# Paths of this machine do not belong into what is handed out.
RUSTFLAGS="--remap-path-prefix=$PWD=/bashgate --remap-path-prefix=$registry=/cargo --remap-path-prefix=$(rustc --print sysroot)=/rust"
RUSTC_WORKSPACE_WRAPPER=$PWD/packaging/rustc-static.sh
export RUSTFLAGS RUSTC_WORKSPACE_WRAPPER
rm -rf "$out"
mkdir -p "$out"
for machine in x86_64 aarch64; do
    target=$machine-unknown-linux-musl
    rustup target add "$target"
    cargo zigbuild --locked --release --target "$target" -p bashgate -p bashgate-run
    cargo zigbuild --locked --profile hook --target "$target" -p bashgate-hook
    name=bashgate-$version-$machine-linux
    mkdir -p "$out/$name/bin" "$out/$name/share/man"
    install -m 755 "target/$target/release/bashgate" "target/$target/release/bashgate-run" \
        "target/$target/hook/bashgate-hook" "$out/$name/bin/"
    install -m 644 README.md LICENSE-APACHE LICENSE-MIT "$out/$name/"
    cp -R docs/man/. "$out/$name/share/man/"
    cp -R packaging/completions packaging/systemd "$out/$name/share/"
    chmod -R u=rwX,go=rX "$out/$name"
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$out" -c "$name" |
        gzip -9n > "$out/$name.tar.gz"
    rm -rf "${out:?}/$name"
done
# Without what changes from run to run: when it was made, and its own number.
cargo sbom --output-format spdx_json_2_3 |
    sed -E -e "s/\"created\": ?\"[^\"]*\"/\"created\":\"$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)\"/" \
        -e 's#("documentNamespace": ?")[^"]*"#\1https://bashgate.invalid/spdx/'"$version"'"#' \
        > "$out/bashgate-$version.spdx.json"
(cd "$out" && sha256sum -- *.tar.gz *.spdx.json > SHA256SUMS)
if [ -n "${BASHGATE_SIGNING_KEY-}" ]; then
    ssh-keygen -q -Y sign -n bashgate -f "$BASHGATE_SIGNING_KEY" "$out/SHA256SUMS"
fi
cat "$out/SHA256SUMS"
