#!/bin/sh
# Runs Claude Code against the scripted model server, in a network namespace of its own that has only a loopback.
# Usage: claude.sh CLAUDE SERVER SCRIPT LOG HOME PROJECT UID   (as root; the agent runs as UID, with AGENT_PATH as its PATH)
set -eu
claude=$1 server=$2 script=$3 log=$4 home=$5 project=$6 uid=$7
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
env -i PATH="${AGENT_PATH:-/usr/local/bin:/usr/bin:/bin}" HOME="$home" USER=agent SHELL=/bin/bash LANG=C.UTF-8 TMPDIR="$home/tmp" \
    CLAUDE_CONFIG_DIR="$home/.claude" ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ANTHROPIC_API_KEY=dummy \
    DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 DISABLE_ERROR_REPORTING=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
    timeout -k 5 90 setpriv --reuid="$uid" --regid="$uid" --clear-groups \
    "$claude" -p "do what the model says" --output-format stream-json --verbose --dangerously-skip-permissions </dev/null
