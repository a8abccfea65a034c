#!/bin/sh
# Runs one part of the tests, and says how long it took: part.sh NAME COMMAND…. `part.sh --sum` says it of all since
# `part.sh --start`.
set -eu
times=target/times
case $1 in
--start)
    mkdir -p target
    : >"$times"
    ;;
--sum)
    awk '{ sum += $1; printf "%6d s  %s\n", $1, $2 } END { printf "%6d s  in all\n", sum }' "$times"
    ;;
*)
    name=$1
    shift
    start=$(date +%s)
    "$@"
    echo "$(($(date +%s) - start)) $name" >>"$times"
    ;;
esac
