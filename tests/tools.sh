#!/bin/sh
# Installs what the tests need, once: system packages, pinned agents, a Matrix server, what drives a browser.
# Usage: tools.sh FOLDER CLAUDE_VERSION CODEX_VERSION SYNAPSE_VERSION PUPPETEER_VERSION AXE_VERSION MCP_VERSION INSPECTOR_VERSION
set -eu
folder=$1
claude_version=$2
codex_version=$3
synapse_version=$4
puppeteer_version=$5
axe_version=$6
mcp_version=$7
inspector_version=$8

need() { # program, package
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
missing=""
need bash bash
need gcc gcc
need python3 python3
need setpriv util-linux
need unshare util-linux
need ip iproute2
need mount mount
need npm npm
need git git
need bwrap bubblewrap
need dash dash
need zsh zsh
need faketime faketime
need firejail firejail
need podman podman
command -v pg_ctlcluster >/dev/null 2>&1 || missing="$missing postgresql"
need /usr/sbin/sshd openssh-server
need gh gh
need chromium chromium
need runc runc
need socat socat
need shellcheck shellcheck
need rg ripgrep
need fdfind fd-find
need tree tree
need jq jq
need unzip unzip
need xxd xxd
need file file
need mawk mawk
need gawk gawk
need original-awk original-awk
need busybox busybox
need make make
need systemd-analyze systemd
need dpkg-deb dpkg
need pytest python3-pytest
python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
if [ -n "$missing" ]; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    # shellcheck disable=SC2086 # a list of packages
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
fi

# Prebuilt ones are not asked for: everything comes from the registry that Rust uses anyway.
command -v cargo-nextest >/dev/null 2>&1 || cargo install --locked --debug cargo-nextest
command -v cargo-deny >/dev/null 2>&1 || cargo install --locked --debug cargo-deny

agent() { # folder, its program, packages
    [ ! -x "$folder/$1/node_modules/$2" ] || return 0
    home=$folder/$1
    shift 2
    mkdir -p "$home"
    npm install --prefix "$home" --no-save --ignore-scripts --no-audit --no-fund "$@"
}
agent claude @anthropic-ai/claude-code-linux-x64/claude \
    "@anthropic-ai/claude-code@$claude_version" "@anthropic-ai/claude-code-linux-x64@$claude_version"
agent codex @openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex "@openai/codex@$codex_version"
# Drives the browser that is installed already, and checks what it shows.
[ -d "$folder/browser/node_modules/axe-core" ] || npm install --prefix "$folder/browser" --no-save --ignore-scripts --no-audit --no-fund \
    "puppeteer-core@$puppeteer_version" "axe-core@$axe_version"

# Official clients of MCP: the command line of the inspector, and the SDK for Python.
[ -d "$folder/inspector/node_modules/@modelcontextprotocol/inspector" ] || npm install --prefix "$folder/inspector" --no-save \
    --ignore-scripts --no-audit --no-fund "@modelcontextprotocol/inspector@$inspector_version"
mcp=$folder/mcp
if ! "$mcp/bin/python" -c "from importlib.metadata import version; assert version('mcp') == '$mcp_version'" 2>/dev/null; then
    python3 -m venv --clear "$mcp"
    "$mcp/bin/pip" install --quiet --disable-pip-version-check "mcp==$mcp_version"
fi

synapse=$folder/synapse
if ! "$synapse/bin/python" -c "from importlib.metadata import version; assert version('matrix-synapse') == '$synapse_version'" 2>/dev/null; then
    python3 -m venv --clear "$synapse"
    "$synapse/bin/pip" install --quiet --disable-pip-version-check "matrix-synapse==$synapse_version"
fi
