#!/bin/sh
# usage: random.sh OUT PART:SECONDS:SEED:FIRST...
# In a folder that random_prepare.sh made: drawn specs in slices on all cores, from index FIRST of SEED, for at most SECONDS a part.
# Parts: host (host engine, all targets and dtypes), cuda (NVRTC and this machine's GPUs), emulator (AMD code objects, all by clang here,
# gfx90a too: there is no HIPRTC). Writes for each part OUT/PART.txt (sums, slices that did not end, next free index) and OUT/PART.tar.gz
# (each slice's report, reduced specs of failures). The exit code says whether all was good.
# Environment: OPTIMISE=0: clang's level in host runs (default 3, as users have it); JOBS: slices at a time; MOST: most specs per part;
# SLICE: specs per slice; TARGETS: host runs only these; GPUS: only so many are used; LEVELS=block: only this fusion level in host and cuda.
set -u
[ $# -ge 2 ] || { sed -n '2s/^# usage: //p' "$0" >&2; exit 2; }
mkdir -p "$1" && out=$(cd "$1" && pwd) && here=$(cd "$(dirname "$0")" && pwd) || exit 2
shift
jobs=${JOBS:-$(nproc)} bad=0
work=$(mktemp -d) || exit 2
memory=$work servers=
trap '${servers:+kill $servers}; rm -rf "$work" "$memory"' EXIT
began=$(date +%s)
for f in clang tests tinygrad; do
    [ ! -e "$here/$f.tar.xz" ] || xz -T0 -dc "$here/$f.tar.xz" | tar -x -C "$work" || exit 2
done
for f in tfgen tfgen-worker; do xz -dc "$here/$f.xz" >"$work/$f" && chmod +x "$work/$f" || exit 2; done
echo "unpacked in $(($(date +%s) - began)) s; $(nproc) processors, $jobs slices at a time"
# Temporary files of compilers are small and short-lived, so they go into a folder in memory, if there is one.
[ -w /dev/shm ] && memory=$(mktemp -d /dev/shm/tfgen-XXXXXX) && export TMPDIR="$memory"
export PATH="$work/bin:$PATH" TFGEN="$work/tfgen" TFGEN_WORKER="$work/tfgen-worker" TFGEN_CACHE_DIR="$work/cache"
export TFGEN_HOST_CC="$work/loaded/host-clang-22" TINYGRAD_DIR="$work" AMDEMU_CACHE="$work/emulator"
export CC="$work/bin/clang" PYTHONDONTWRITEBYTECODE=1
# Starting clang and ld takes a third of a small compile. So some of each are kept loaded, and their forks do the work (loaded.c). A folder
# made for the part cuda alone has no clang.
export LOADED="$work/loaded" LOADED_COUNT=$(((jobs + 3) / 4)) LOADED_LEVEL=-O${OPTIMISE:-3} LOADED_CLANG="$work/bin/clang-22"
load_compilers() {
    mkdir "$LOADED" && cp "$here/loaded_run" "$TFGEN_HOST_CC" && cp "$here/loaded_run" "$LOADED/ld" || exit 2
    for i in $(seq 0 $((LOADED_COUNT - 1))); do
        for program in clang-22 ld.lld; do
            LOADED_SOCKET="$LOADED/$program.$i" LD_PRELOAD="$here/loaded.so" LD_LIBRARY_PATH="$work/llvm/lib" \
                "$work/llvm/bin/$program" </dev/null >/dev/null 2>&1 &
            servers="$servers $!"
            while [ ! -S "$LOADED/$program.$i" ]; do kill -0 $! 2>/dev/null && sleep 0.02 || exit 2; done
        done
    done
}
[ ! -e "$here/clang.tar.xz" ] || load_compilers
processors() { awk '/^cpu /{printf "%d %d %d", ($2 + $3) / 100, $4 / 100, $5 / 100}' /proc/stat; }
slices() { # part specs-a-slice options... -- command...
    part=$1 count=${SLICE:-$2}; shift 2
    before=$(processors)
    # The command finds tests/ and specs/ where the repository has them.
    (cd "$work" && python3 tests/h200/random_slices.py "$out" "$part" --seconds="$seconds" --first="$first" \
        --count="$count" --jobs="$jobs" ${MOST:+--most=$MOST} "$@") >"$work/said" 2>&1 || bad=1
    echo "$part: $before, then $(processors) s of processors: user, system, idle" >>"$work/said"
    cat "$work/said"
    tar -C "$out" -czf "$out/$part.tar.gz" "$part" && rm -rf "${out:?}/$part"
}
for one in "$@"; do
    IFS=: read -r part seconds seed first <<ONE
$one
ONE
    : "${seconds:?PART:SECONDS:SEED:FIRST}" "${seed:?PART:SECONDS:SEED:FIRST}" "${first:?PART:SECONDS:SEED:FIRST}"
    echo "== $part, seed $seed from index $first, $seconds s"
    case $part in
    host)
        slices host 4 -- env PATH="$LOADED:$PATH" "$TFGEN" verify --random='{count}' --first='{first}' --seed="$seed" --jobs=1 --json \
            ${TARGETS:+--target="$TARGETS"} ${LEVELS:+--fusion="$LEVELS"} -o "$out/host/found" ;;
    cuda)
        gpus=${GPUS:-$(nvidia-smi -L | grep -c '^GPU')}
        # Opening a device takes a driver longer than a spec takes: a slice does it twice, to ask for the target and to run its specs.
        slices cuda 16 --gpus="$gpus" -- "$TFGEN" verify --random='{count}' --first='{first}' --seed="$seed" \
            --device=cuda --jobs=1 --json ${LEVELS:+--fusion="$LEVELS"} -o "$out/cuda/found" ;;
    emulator) slices emulator 3 -- python3 tests/amd/run.py --random='{count}' --first='{first}' --seed="$seed" -j 1 --json ;;
    *) echo "random.sh: no part $part: host, cuda, emulator" >&2; bad=1 ;;
    esac
done
[ $bad = 0 ] && echo "all good" || echo "SOMETHING FAILED"
exit $bad
