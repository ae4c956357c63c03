#!/bin/sh
# usage: deps.sh [amd]   Lists which Debian 12 packages of the build and the tests are missing (with amd also those of `make test-amd`),
# then installs them.
set -eu
missing=
has() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }
want() { has "$1" || missing="$missing $1"; }
command -v dpkg-query >/dev/null 2>&1 ||
    { echo "deps: no dpkg here; needs gcc, clang-22 with lld, libyaml, jansson, xxhash, sqlite3, check, python3" >&2; exit 0; }
for p in gcc libc6-dev make libyaml-dev libjansson-dev libxxhash-dev libsqlite3-dev check libsubunit-dev g++ pkg-config python3 \
    nodejs; do
    want $p
done
# HIPRTC lives in the HIP runtime library; the compile worker opens it at run time.
want libamdhip64-5
# One clang for the host engine, the AMD targets and libclang. Debian's security suite has 22.
for p in clang-22 lld-22 libclang1-22; do want $p; done
# llvm-22 has llvm-mc, llvm-mca and llvm-objdump; scripts that judge what the emulator computed need numpy.
[ "${1:-}" = amd ] && for p in llvm-22 python3-numpy python3-msgpack; do want $p; done
[ -n "$missing" ] || exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
echo "deps: installing with apt:$missing"
$sudo apt-get update -q >/dev/null
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -q -y --no-install-recommends $missing >/dev/null
