#!/bin/sh
# Installs what the tests need, once: system packages and one pinned agent. Usage: tools.sh CLAUDE_HOME CLAUDE_VERSION
set -eu
claude_home=$1
claude_version=$2

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
need shellcheck shellcheck
need make make
need pytest python3-pytest
if [ -n "$missing" ]; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    # shellcheck disable=SC2086 # a list of packages
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
fi

command -v cargo-deny >/dev/null 2>&1 || cargo install --locked cargo-deny

if [ ! -x "$claude_home/node_modules/@anthropic-ai/claude-code-linux-x64/claude" ]; then
    mkdir -p "$claude_home"
    npm install --prefix "$claude_home" --no-save --ignore-scripts --no-audit --no-fund \
        "@anthropic-ai/claude-code@$claude_version" "@anthropic-ai/claude-code-linux-x64@$claude_version"
fi
