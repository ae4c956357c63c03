#!/bin/sh
# usage: prepare_compare.sh FOLDER   Makes what bench/compare.py needs on a machine with PyTorch and CUDA, but with none of tfgen's
# libraries: libtfgen.so, tfgen, tfgen-worker and the libraries beside them. There: sh FOLDER/compare.sh ARGUMENTS, or sh FOLDER/compare.sh
# ops ARGUMENTS (bench/ops.py) or models ARGUMENTS (bench/models.py), or sh FOLDER/compare.sh same_bits (tests/h200/same_bits.py), or
# sh FOLDER/compare.sh kinds ARGUMENTS (tests/h200/kinds.py), or one_launch ARGUMENTS (tests/h200/one_launch.py), or
# sh FOLDER/compare.sh two_devices (tests/h200/two_devices.py, which needs two GPUs), or untuned OUT ARGUMENTS (tests/h200/untuned.py), or
# sh FOLDER/tests/h200/tuned.sh; the cache is kept in FOLDER.
set -eu
out=$1
make -j2
rm -rf "$out"
mkdir -p "$out/bench" "$out/python" "$out/lib" "$out/tests/h200"
strip --strip-unneeded -o "$out/lib/libtfgen.so" libtfgen.so
strip -o "$out/tfgen-worker" tfgen-worker
strip -o "$out/tfgen" tfgen
ldd libtfgen.so tfgen-worker tfgen | awk '$2 == "=>" {print $3}' | sort -u |
    grep -v '/lib\(c\|m\|gcc_s\|dl\|pthread\|rt\)\.so' | while read -r library; do cp -L "$library" "$out/lib"; done
cp bench/*.py "$out/bench"
for f in same_bits.py kinds.py one_launch.py two_devices.py tuned.sh untuned.py product.yaml residual.yaml; do
    cp "tests/h200/$f" "$out/tests/h200"
done
cp -r python/tfgen "$out/python"
cp -r specs "$out"
cat >"$out/compare.sh" <<'RUN'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
export TFGEN_LIBRARY=$here/lib/libtfgen.so TFGEN_WORKER=$here/tfgen-worker TFGEN_CACHE_DIR=${TFGEN_CACHE_DIR:-$here/cache}
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PYTHONUNBUFFERED=1
[ "${1:-}" = same_bits ] && exec python3 "$here/tests/h200/same_bits.py"
export TFGEN=$here/tfgen
[ "${1:-}" = untuned ] && shift && exec python3 "$here/tests/h200/untuned.py" "$TFGEN" "$@"
[ "${1:-}" = kinds ] && shift && exec python3 "$here/tests/h200/kinds.py" "$@"
[ "${1:-}" = one_launch ] && shift && exec python3 "$here/tests/h200/one_launch.py" "$@"
[ "${1:-}" = two_devices ] && shift && exec python3 "$here/tests/h200/two_devices.py" "$@"
case ${1:-} in
ops | models) command=$1 && shift ;;
*) command=compare ;;
esac
exec python3 "$here/bench/$command.py" "$@"
RUN
du -sh "$out"
