#!/bin/sh
# usage: wheel.sh PYTHON [CC]     Makes python/dist/tfgen-*.whl: the package with libtfgen, the command, the worker, and the libraries that
# they need beside them (they find each other by $ORIGIN), with licences. PYTHON has pip and setuptools 70.1 or newer; nothing is
# downloaded. CC: default $CC, else gcc, whose wheel is for this machine's glibc and newer; "zig cc -target x86_64-linux-gnu.2.28", say,
# makes a wheel for glibc 2.28 and newer on any machine.
set -eu
cd "$(dirname "$0")/.."
python=$1 cc=${2:-${CC:-gcc}}
built=build/wheel-$(printf %s "$cc" | cksum | cut -d' ' -f1) # one per compiler: make does not see that its command changed
stage=$built/python
"$python" -c 'import setuptools, pip; assert tuple(map(int, setuptools.__version__.split(".")[:2])) >= (70, 1)' 2>/dev/null ||
    { echo "wheel: $python has no pip or no setuptools 70.1: $python -m pip install 'setuptools>=70.1'" >&2; exit 2; }
find_library() { for d in $(gcc -print-multi-os-directory | sed 's|^|/usr/lib/|') "/usr/lib/$(gcc -print-multiarch)" /usr/lib; do
    [ -e "$d/$1" ] && echo "$d/$1" && return; done; echo "wheel: no $1 here" >&2; exit 2; }
yaml=$(find_library libyaml-0.so.2) jansson=$(find_library libjansson.so.4) sqlite=$(find_library libsqlite3.a)
libgcc=$(gcc -print-libgcc-file-name) # has __cpu_model, which __builtin_cpu_supports() reads and zig does not provide
# Links to the headers of these libraries alone: a compiler for another glibc must not see this machine's other headers.
mkdir -p "$built/include"
for h in yaml.h jansson.h jansson_config.h xxhash.h xxh3.h sqlite3.h; do
    file=$(find /usr/include -maxdepth 2 -name "$h" | head -n 1)
    [ -z "$file" ] || ln -sf "$file" "$built/include/$h"
done
version=$(sed -n 's/^#define TFGEN_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' runtime/api/tfgen.h | paste -sd.)
make -j"$(nproc)" --no-print-directory B="$built" CC="$cc" CFLAGS="-O2 -isystem $built/include" LDFLAGS="-Wl,-rpath,'\$\$ORIGIN'" \
    LIBS="$yaml $jansson -ldl -lm $libgcc" CLI_LIBS="$sqlite $yaml $jansson -ldl -lm $libgcc" \
    "$built/tfgen" "$built/tfgen-worker" "$built/libtfgen.so.$version"
rm -rf "$stage"
mkdir -p "$stage"
cp -r python/pyproject.toml python/setup.py python/tfgen runtime/api/tfgen.h "$stage"
rm -rf "$stage/tfgen/__pycache__" "$stage/tfgen/lib"
mkdir "$stage/tfgen/lib"
cp LICENSE "$stage"
for p in libyaml-0-2 libjansson4 libxxhash-dev libsqlite3-dev; do cp "/usr/share/doc/$p/copyright" "$stage/$p.copyright"; done
strip -o "$stage/tfgen/lib/tfgen" "$built/tfgen"
strip -o "$stage/tfgen/lib/tfgen-worker" "$built/tfgen-worker"
strip --strip-unneeded -o "$stage/tfgen/lib/libtfgen.so" "$built/libtfgen.so.$version"
cp -L "$yaml" "$jansson" "$stage/tfgen/lib"
"$python" -m pip wheel -q --no-index --no-deps --no-build-isolation -w python/dist "$stage"
ls python/dist/tfgen-"$version"-*.whl
