#!/bin/sh
# Runs a program of the tests as an ordinary user, for `make ordinary`: the test runner starts each test through it.
# The checkout may lie where only root goes, so it is seen below /mnt here, by this process alone.
set -eu
uid=23011
folder=$(dirname "$CARGO_MANIFEST_DIR")
case $1 in
"$folder"/*) program=/mnt/checkout${1#"$folder"} ;;
*) program=$1 ;;
esac
shift
home=$(mktemp -d)
chown "$uid:$uid" "$home"
trap 'rm -rf "$home"' EXIT
# Whoever runs the tests may have been given a folder for temporary files that is nobody else's.
unset TMPDIR
HOME=$home BASHGATE_CHECKOUT=/mnt/checkout unshare --mount sh -euc '
	mount -t tmpfs -o mode=755 none /mnt
	mkdir /mnt/checkout
	mount --bind "$1" /mnt/checkout
	uid=$2
	shift 2
	cd /mnt/checkout/tests
	exec setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"
' sh "$folder" "$uid" "$program" "$@"
