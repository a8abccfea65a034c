#!/bin/sh
# Runs Codex against the scripted model server, in a network namespace of its own that has only a loopback.
# Usage: codex.sh CODEX SERVER SCRIPT LOG HOME PROJECT UID   (as root; the agent runs as UID; HOME/.codex is its home)
set -eu
codex=$1 server=$2 script=$3 log=$4 home=$5 project=$6 uid=$7
ip link set lo up
python3 "$server" 8080 "$script" "$log" &
server_pid=$!
trap 'kill "$server_pid" 2>/dev/null || true' EXIT
tries=0
until python3 -c 'import socket; socket.create_connection(("127.0.0.1", 8080), 1)' 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo "the model server did not start" >&2; exit 1; }
done
cd "$project"
env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$home" USER=agent SHELL=/bin/bash LANG=C.UTF-8 TMPDIR="$home/tmp" \
    CODEX_HOME="$home/.codex" FAKE_KEY=dummy RUST_LOG=warn \
    timeout -k 5 90 setpriv --reuid="$uid" --regid="$uid" --clear-groups \
    "$codex" exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust \
    "do what the model says" </dev/null
