#!/bin/sh
# The wall around ground-truth: no network, private namespaces, nobody, read-only system folders.
# Usage: wall.sh FOLDER WORLDS [THREADS], where FOLDER holds `ground-truth` and `stubs/`. Needs root, bubblewrap and setpriv.
#
# The user is dropped before bwrap, since one that root runs can be left again. CAP_SYS_ADMIN, which counts only inside, makes
# the pid namespaces of the cases; the cases themselves have no capability.
set -eu
folder=$1
worlds=$2
shift 2
exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs \
    bwrap --ro-bind /usr /usr --ro-bind-try /bin /bin --ro-bind-try /lib /lib --ro-bind-try /lib64 /lib64 \
    --ro-bind /etc /etc --dev /dev --proc /proc --tmpfs /tmp --tmpfs /srv --ro-bind "$folder" "$folder" --ro-bind "$worlds" "$worlds" \
    --ro-bind "$folder/stubs" /tmp/stubs \
    --ro-bind "$folder/ground-truth" /tmp/ground-truth --unshare-all --die-with-parent --new-session \
    --cap-add CAP_SYS_ADMIN --clearenv --chdir /tmp /tmp/ground-truth "$@"
