#!/bin/sh
# A small root file system for a container: a shell, some tools, Python. From what is installed here. Usage: rootfs.sh TAR
set -eu
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64" "$root/etc" "$root/tmp" "$root/var/tmp" "$root/root" "$root/home/agent" \
    "$root/proc" "$root/sys" "$root/dev" "$root/run"
for name in bin lib lib64; do ln -s "usr/$name" "$root/$name"; done
chmod 1777 "$root/tmp" "$root/var/tmp"
chown 1000:1000 "$root/home/agent"
python=$(readlink -f /usr/bin/python3)
for program in bash cat ls touch mkdir rm mv ln chmod seq sleep id env setsid grep; do cp -L "/usr/bin/$program" "$root/usr/bin/"; done
cp -L "$python" "$root/usr/bin/python3"
ln -s bash "$root/usr/bin/sh"
cp -r "/usr/lib/$(basename "$python")" "$root/usr/lib/"
for file in "$root"/usr/bin/* "$root/usr/lib/$(basename "$python")"/lib-dynload/*.so; do ldd "$file" 2>/dev/null || true; done |
    grep -o '/[^ ]*\.so[^ ]*' | sort -u | while read -r library; do
        to=$root/usr/${library#/usr/}
        case $library in /usr/*) ;; *) to=$root/usr$library ;; esac
        mkdir -p "$(dirname "$to")"
        cp -L "$library" "$to"
    done
printf 'root:x:0:0::/root:/bin/bash\nagent:x:1000:1000::/home/agent:/bin/bash\n' >"$root/etc/passwd"
printf 'root:x:0:\nagent:x:1000:\n' >"$root/etc/group"
tar -C "$root" -cf "$1" .
