#!/bin/sh
# What `make dist` hands out: static, complete, signed, running on both architectures, and the same when it is built again elsewhere.
set -eu
root=$(git rev-parse --show-toplevel)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ssh-keygen -q -t ed25519 -N '' -f "$work/key"
# What comes out depends on the folder's name, so this is no place for the one that it happens to lie in.
git clone -q "$root" "$work/one/bashgate"
cd "$work/one/bashgate"
make --no-print-directory dist SIGN_KEY="$work/key"
cp -r target/dist "$work/first"
cd "$work/first"
echo "release $(cat "$work/key.pub")" > "$work/allowed"
ssh-keygen -Y verify -f "$work/allowed" -I release -n bashgate -s SHA256SUMS.sig < SHA256SUMS
sha256sum -c SHA256SUMS
grep -q '"spdxVersion"' ./*.spdx.json
for architecture in x86_64 aarch64; do
    tar -xzf bashgate-*-linux-$architecture.tar.gz
    cd bashgate-*-linux-$architecture
    test -s README.md -a -s LICENSE-MIT -a -s share/man/man1/bashgate.1 -a -s lib/systemd/user/bashgate.service
    for program in bashgate bashgate-fleet bashgate-hook bashgate-run; do
        file -b "bin/$program" | grep -q 'statically linked\|static-pie linked'
    done
    run=
    test "$(uname -m)" = "$architecture" || run=qemu-$architecture-static
    $run bin/bashgate --version
    $run bin/bashgate-run --version
    $run bin/bashgate fleet --version
    # It reads commands as it does elsewhere.
    $run bin/bashgate classify 'git status && ls | wc -l'
    $run bin/bashgate init "$work/gate-$architecture" > /dev/null
    $run bin/bashgate config check --config "$work/gate-$architecture/bashgate.toml" > /dev/null
    cd ..
done
# Once more, from nothing, in another folder.
git clone -q "$root" "$work/two/bashgate"
cd "$work/two/bashgate"
make --no-print-directory dist ARCHITECTURES=x86_64
cmp target/dist/bashgate-*-linux-x86_64.tar.gz "$work"/first/bashgate-*-linux-x86_64.tar.gz
echo "what is handed out is as it should be"
