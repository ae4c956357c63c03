#!/bin/sh
# usage: prepare_soak.sh FOLDER   Makes what soak.py needs on a machine with PyTorch and CUDA: FOLDER/new, by prepare_compare.sh, and
# FOLDER/delayed.so, the same library with delays in its kernels (delays.py), and FOLDER/impatient.so, whose workgroups do not wait for each
# other to start, either. There: sh FOLDER/soak.sh ARGUMENTS
set -eu
out=$1
mkdir -p "$out"
sh tests/h200/prepare_compare.sh "$out/new"
cp tests/h200/soak.py "$out/new/tests/h200"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
# With times and objects kept, make compiles only what the delays change.
git ls-files -z | xargs -0 cp -p --parents -t "$tree"
cp -a --parents build/default/*/ "$tree"
for name in delayed impatient; do
    cp -p templates/frame/*.h "$tree/templates/frame" && cp -p templates/isa/*.h "$tree/templates/isa"
    python3 tests/h200/delays.py "$tree" $([ $name = delayed ] || echo --impatient)
    make -C "$tree" -j2 libtfgen.so
    strip --strip-unneeded -o "$out/$name.so" "$tree/libtfgen.so"
done
cat >"$out/soak.sh" <<'RUN'
#!/bin/sh
# Without delays and then with them: the same bits. Then with workgroups that do not wait for late ones: near results.
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$here/new/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PYTHONUNBUFFERED=1 TFGEN_WISDOM=none TFGEN=$here/new/tfgen
export TFGEN_WORKER=$here/new/tfgen-worker TFGEN_CACHE_DIR=${TFGEN_CACHE_DIR:-$here/cache}
bits=$(mktemp)
for name in delayed impatient; do TFGEN_LIBRARY=$here/$name.so python3 "$here/new/tests/h200/soak.py" --compile >/dev/null & done
TFGEN_LIBRARY=$here/new/lib/libtfgen.so python3 "$here/new/tests/h200/soak.py" --bits="$bits" --judge "$@"
plain=$?
wait
echo "with delays:"
TFGEN_LIBRARY=$here/delayed.so python3 "$here/new/tests/h200/soak.py" --bits="$bits" "$@"
delayed=$?
echo "with delays, and late workgroups left out:"
TFGEN_LIBRARY=$here/impatient.so python3 "$here/new/tests/h200/soak.py" --near "$@" && [ $plain = 0 ] && [ $delayed = 0 ]
RUN
du -sh "$out"
