#!/bin/sh
# Proves that `make demo` and `make test` succeed on a minimal Debian 12 plus git and make. Needs root and debootstrap.
# BARE_DIR: where the system is unpacked (default: a temporary folder, removed at the end).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
dir=${BARE_DIR:-$(mktemp -d)}
[ "$(id -u)" = 0 ] || { echo "test-bare: needs root for debootstrap and chroot" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "test-bare: apt-get install debootstrap" >&2; exit 2; }
cleanup() { umount "$dir/proc" 2>/dev/null || true; umount -R "$dir/dev" 2>/dev/null || true; [ -n "${BARE_DIR:-}" ] || rm -rf "$dir"; }
trap cleanup EXIT
chmod 755 "$dir" # it becomes /, which tests that switch to other users must be able to enter
[ -x "$dir/bin/sh" ] || debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$dir" >"$dir.log" 2>&1
# Inside, apt uses the machine's sources and settings; nothing else of the machine is visible.
for f in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/apt/auth.conf.d /etc/resolv.conf \
    /etc/hosts /usr/local/share/ca-certificates /etc/ssl/certs; do
    [ -e $f ] && { mkdir -p "$dir$(dirname $f)"; cp -aL $f "$dir$(dirname $f)/" 2>/dev/null || true; }
done
mount -t proc proc "$dir/proc" 2>/dev/null || true
# Mounted recursively, which includes pseudo-terminals, and as a slave, so that unmounting inside leaves this machine's mounts alone.
mount --rbind /dev "$dir/dev" 2>/dev/null && mount --make-rslave "$dir/dev" || true
rm -rf "$dir/src"
git clone -q "$root" "$dir/src"
run() { chroot "$dir" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    $(env | grep -iE '^(http|https|no)_proxy=' || true) sh -c "cd /src && $1"; }
echo "== make demo in a bare Debian 12"
run "make demo"
echo "== make test in a bare Debian 12"
run "make test"
