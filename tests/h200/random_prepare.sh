#!/bin/sh
# usage: random_prepare.sh FOLDER [cuda]   Makes FOLDER, all that random.sh needs on a machine with gcc's linker, python3 and perhaps CUDA,
# but with no LLVM and none of tfgen's libraries: tfgen with libyaml, jansson, xxhash and SQLite inside, LLVM 22 (portable_clang.sh; 45 MB),
# and with TINYGRAD_DIR, for the emulator, the parts of tinygrad that it uses. Under 50 MB in all; with `cuda`, for that part alone, 2 MB.
set -eu
out=$1 parts=${2:-all} here=$(dirname "$0")
build=build/h200
cd "$here/../.." && case $out in /*) ;; *) out=$OLDPWD/$out ;; esac
libs='-l:libyaml.a -l:libjansson.a -l:libxxhash.a -ldl -lm'
make -j2 B=$build LIBS="$libs" CLI_LIBS="-l:libsqlite3.a $libs" $build/tfgen $build/tfgen-worker
rm -rf "$out"
mkdir -p "$out"
for program in tfgen tfgen-worker; do
    strip -o $build/$program.stripped $build/$program
    xz -3 -c $build/$program.stripped >"$out/$program.xz"
done
# Scripts have the same paths as in the repository, since they find each other by relative paths.
tar -c --exclude=__pycache__ specs/*.yaml tests/judging.py tests/cli/random_add.py tests/amd tests/h200/random_slices.py |
    xz -3 >"$out/tests.tar.xz"
cp tests/h200/random.sh "$out"
[ "$parts" = all ] || exit 0
sh tests/h200/portable_clang.sh $build/clang.tar.xz
cp $build/clang.tar.xz "$out"
${CC:-cc} -O2 -fPIC -shared -o "$out/loaded.so" tests/h200/loaded.c
${CC:-cc} -O2 -o "$out/loaded_run" tests/h200/loaded_run.c
if [ -n "${TINYGRAD_DIR:-}" ]; then
    python3 -c 'import os, sys; sys.exit(not all(os.path.exists(os.path.join(sys.argv[1], f)) for f in
        ("tinygrad/renderer/amd/__init__.py", "test/__init__.py", "test/mockgpu/amd/emu.py")))' "$TINYGRAD_DIR" ||
        { echo "random_prepare: $TINYGRAD_DIR lacks tinygrad/renderer/amd or test/mockgpu/amd" >&2; exit 1; }
    tar -C "$TINYGRAD_DIR" --exclude=__pycache__ -c tinygrad test | xz -6 >"$out/tinygrad.tar.xz"
else
    echo "random_prepare: no TINYGRAD_DIR, so without the emulator" >&2
fi
du -sh "$out"
