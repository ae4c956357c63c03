#!/bin/sh
# usage: portable_clang.sh FOLDER.tar.xz   Packs this machine's LLVM 22 for machines that have none: clang, lld and llvm-mc with their
# libraries and headers, and wrappers clang, clang-22 and llvm-mc-22 in bin. It may be unpacked in any folder. Z3 and ICU, which compiling
# kernels never calls, become stubs, so that the archive has 45 MB. Does nothing if the archive is newer than clang and this script.
set -eu
archive=$1 llvm=${LLVM:-/usr/lib/llvm-22}
[ -e "$llvm/bin/llvm-mc" ] || { echo "portable_clang: no $llvm/bin/llvm-mc: apt install clang-22 lld-22 llvm-22" >&2; exit 1; }
[ "$archive" -nt "$llvm/bin/clang" ] && [ "$archive" -nt "$0" ] && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
real=$work/llvm
mkdir -p "$work/bin" "$real/bin" "$real/lib"
# Programs that look for files next to themselves must keep their name.
cp -L "$llvm/bin/clang" "$real/bin/clang-22"
cp -L "$llvm/bin/lld" "$llvm/bin/llvm-mc" "$real/bin"
ln -s lld "$real/bin/ld.lld"
mkdir -p "$real/lib/clang/22"
cp -rL "$llvm/lib/clang/22/include" "$real/lib/clang/22"

ldd "$llvm/bin/clang" "$llvm/bin/lld" "$llvm/bin/llvm-mc" | awk '$2 == "=>" {print $3}' | sort -u |
    grep -v '/lib\(c\|m\|gcc_s\|dl\|pthread\|rt\)\.so' | while read -r library; do cp -L "$library" "$real/lib"; done

# stub LIBRARY USER...: makes an empty library with that name, which only defines the symbols that its users need.
stub() {
    library=$1; shift
    nm -D --defined-only "$library" | awk '{sub("@.*", "", $3); print $3}' | sort -u >"$work/has"
    nm -D --undefined-only "$@" | awk 'NF == 2 {sub("@.*", "", $2); print $2}' | sort -u >"$work/wants"
    comm -12 "$work/has" "$work/wants" | awk '{print "const char " $1 "[64];"}' >"$work/stub.c"
    [ -s "$work/stub.c" ] || { echo "portable_clang: nobody uses $library" >&2; exit 1; }
    ${CC:-gcc} -shared -fPIC -Wl,-soname,"$(basename "$library")" -o "$library" "$work/stub.c"
}
stub "$real"/lib/libz3.so.4 "$real"/lib/libLLVM.so.* "$real"/lib/libclang-cpp.so.*
stub "$real"/lib/libicudata.so.* "$real"/lib/libicuuc.so.*

for name in clang clang-22 llvm-mc-22; do
    case $name in clang*) program=clang-22 ;; *) program=llvm-mc ;; esac
    cat >"$work/bin/$name" <<'WRAPPER'
#!/bin/sh
here=${0%/*}/../llvm
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/bin/PROGRAM" "$@"
WRAPPER
    sed -i "s/PROGRAM/$program/" "$work/bin/$name"
    chmod +x "$work/bin/$name"
done
mkdir -p "$(dirname "$archive")"
# In blocks, which are unpacked by all cores; the filter is for x86 code.
tar -C "$work" --owner=0 --group=0 -c bin llvm | xz --x86 --lzma2=preset=7,dict=32MiB --block-size=64MiB -T2 >"$archive.part"
mv "$archive.part" "$archive"
