#!/bin/sh
# Says for which target the hook is built: Linux with musl, which starts a quarter sooner than a static glibc (that one asks the
# processor a hundred questions before any `main`, and under a hypervisor each of them takes microseconds). Where rustup
# cannot have it, the machine's own target does the same, slower.
set -eu
host=$(rustc -vV | sed -n 's/^host: //p')
musl=$(printf %s "$host" | sed 's/-gnu$/-musl/')
there() { [ -d "$(rustc --print sysroot)/lib/rustlib/$musl/lib" ]; }
if there || { rustup target add "$musl" >&2 && there; }; then
    echo "$musl"
else
    echo "hook-target.sh: no Rust for $musl here, so the hook is built for $host and starts slower" >&2
    echo "$host"
fi
