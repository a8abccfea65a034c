#!/bin/sh
# Runs a coding agent against the scripted model server, in a network namespace of its own that has only a loopback.
# Usage: agent.sh claude|codex|gemini|copilot|opencode PROGRAM SERVER SCRIPT LOG HOME PROJECT UID
#        agent.sh sdk PYTHON SERVER SCRIPT LOG HOME PROJECT UID PROGRAM_IN_PYTHON ITS_ARGUMENTS...
# As root; the agent runs as UID, with AGENT_PATH as its PATH, and is told AGENT_PROMPT. Its settings are below HOME; with AGENT_MANAGED it
# trusts no hooks but those of the machine. With AGENT_EGRESS, the socket of the host's way out, through which AGENT_RUNNER leads it, its
# model is at AGENT_MODEL outside and is not started here.
set -eu
kind=$1 program=$2 server=$3 script=$4 log=$5 home=$6 project=$7 uid=$8
model=${AGENT_MODEL:-127.0.0.1:8080}
ip link set lo up
if [ -z "${AGENT_EGRESS:-}" ]; then
    python3 "$server" 8080 "$script" "$log" &
    server_pid=$!
    trap 'kill "$server_pid" 2>/dev/null || true' EXIT
    tries=0
    until python3 -c 'import socket; socket.create_connection(("127.0.0.1", 8080), 1)' 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || { echo "the model server did not start" >&2; exit 1; }
    done
fi
cd "$project"
prompt=${AGENT_PROMPT:-do what the model says}
if [ "$kind" = sdk ]; then
    shift 8
    set -- "$program" "$@"
elif [ "$kind" = claude ]; then
    set -- "$program" -p "$prompt" --output-format stream-json --verbose --dangerously-skip-permissions
    # Servers that a test lets the agent use.
    [ ! -f "$home/mcp.json" ] || set -- "$@" --mcp-config "$home/mcp.json"
elif [ "$kind" = gemini ]; then
    set -- node "$program" -p "$prompt" --approval-mode yolo --skip-trust -m gemini-2.5-flash --output-format json
elif [ "$kind" = copilot ]; then
    set -- "$program" -p "$prompt" --allow-all-tools --no-auto-update
elif [ "$kind" = opencode ]; then
    set -- "$program" run --print-logs --log-level WARN "$prompt"
else
    set -- "$program" exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox "$prompt"
    [ -n "${AGENT_MANAGED:-}" ] || set -- "$@" --dangerously-bypass-hook-trust
fi
# The host's way out, and nothing besides.
[ -z "${AGENT_EGRESS:-}" ] || set -- "$AGENT_RUNNER" egress --socket "$AGENT_EGRESS" -- "$@"
env -i PATH="${AGENT_PATH:-/usr/local/bin:/usr/bin:/bin}" HOME="$home" USER=agent SHELL=/bin/bash LANG=C.UTF-8 TMPDIR="$home/tmp" \
    CLAUDE_CONFIG_DIR="$home/.claude" ANTHROPIC_BASE_URL="http://$model" ANTHROPIC_API_KEY=dummy \
    DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 DISABLE_ERROR_REPORTING=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
    CODEX_HOME="$home/.codex" FAKE_KEY=dummy RUST_LOG=warn \
    GEMINI_API_KEY=dummy GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8080 GEMINI_TELEMETRY_ENABLED=false NO_COLOR=1 \
    COPILOT_HOME="$home/.copilot" COPILOT_OFFLINE=true COPILOT_AUTO_UPDATE=false COPILOT_ALLOW_ALL=true COPILOT_MODEL=fake \
    COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:8080/v1 COPILOT_PROVIDER_API_KEY=dummy \
    OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 \
    timeout -k 5 90 setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@" </dev/null
