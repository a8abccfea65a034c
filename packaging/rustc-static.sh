#!/bin/sh
# For RUSTC_WORKSPACE_WRAPPER. Hook and runner work in any container image, so they are linked statically, and at a fixed
# place, which spares them the relocation of their tables at every start. Only these two programs are: everything that they
# share with the host is built once.
case " $* " in
*" --crate-name bashgate_hook "*" --crate-type bin "* | *" --crate-name bashgate_run "*" --crate-type bin "*)
    set -- "$@" -C target-feature=+crt-static -C relocation-model=static
    ;;
esac
exec "$@"
