#!/bin/sh
# usage: prepare_soak.sh FOLDER   Makes what soak.py needs on a machine with PyTorch and CUDA: FOLDER/new, by prepare_compare.sh, and
# FOLDER/delayed.so, the same library with delays in its kernels (delays.py). There: sh FOLDER/soak.sh ARGUMENTS
set -eu
out=$1
mkdir -p "$out"
sh tests/h200/prepare_compare.sh "$out/new"
cp tests/h200/soak.py "$out/new/tests/h200"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git ls-files -z | xargs -0 cp --parents -t "$tree"
python3 tests/h200/delays.py "$tree"
make -C "$tree" -j2 libtfgen.so
strip --strip-unneeded -o "$out/delayed.so" "$tree/libtfgen.so"
cat >"$out/soak.sh" <<'RUN'
#!/bin/sh
# Without delays and then with them: the same bits.
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$here/new/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PYTHONUNBUFFERED=1 TFGEN_WISDOM=none TFGEN=$here/new/tfgen
export TFGEN_WORKER=$here/new/tfgen-worker TFGEN_CACHE_DIR=${TFGEN_CACHE_DIR:-$here/cache}
bits=$(mktemp)
TFGEN_LIBRARY=$here/delayed.so python3 "$here/new/tests/h200/soak.py" --compile >/dev/null &
TFGEN_LIBRARY=$here/new/lib/libtfgen.so python3 "$here/new/tests/h200/soak.py" --bits="$bits" --judge "$@"
plain=$?
wait
echo "with delays:"
TFGEN_LIBRARY=$here/delayed.so python3 "$here/new/tests/h200/soak.py" --bits="$bits" "$@" && [ $plain = 0 ]
RUN
du -sh "$out"
