#!/bin/bash
# usage: verify.sh OUT   In a folder that prepare_runtime.sh made, on a machine with an NVIDIA GPU, about two minutes: every shipped spec at
# every level and dtype; decode steps and products of 1 to 128 rows at odd sizes; memcheck and racecheck of decode steps, whose kernels a
# run ahead of it leaves in the cache, since nothing is compiled under compute-sanitizer. OUT has the logs; the exit code says whether all
# was good.
set -u
[ $# = 1 ] || { sed -n '2s/^# usage: //p' "$0" >&2; exit 2; }
mkdir -p "$1" && out=$(cd "$1" && pwd) && cd "$(dirname "$0")" || exit 2
cache=$(mktemp -d) && export TFGEN_WORKER="$PWD/tfgen-worker" TFGEN_CACHE_DIR="$cache" || exit 2
trap 'rm -rf "$cache"' EXIT
all() { ./tfgen verify specs/*.yaml --target=sm_90a --device=cuda --fusion=all --dtype=all --jobs=8; }
one() { # specs dims: at the level tile, all dtypes
    local dims=$1; shift
    ./tfgen verify "$@" --target=sm_90a --device=cuda --dtype=all --dim="$dims" --jobs=2 || { echo "FAILED: $* $dims"; return 1; }
}
few() {
    local bad=0
    for dims in B=1,L=3001 B=2,L=777 B=7,L=100 B=8,L=1500 B=16 B=17,L=65 B=33,L=999 B=40,L=300 B=64; do
        one $dims specs/llama-decode.yaml specs/gpt2-decode.yaml || bad=1
    done
    for rows in 1 2 7 16 17 33 64 100 128; do
        one B=1,S=$rows specs/linear.yaml specs/swiglu.yaml specs/gelu-layernorm-linear.yaml specs/llama-block.yaml || bad=1
    done
    return $bad
}
sanitizers() {
    local bad=0
    while read -r spec dims; do
        local run="./tfgen run specs/$spec.yaml --target=sm_90a --device=cuda --dim=$dims --dtype=bf16 --repeat=1 --reference=always"
        $run || { bad=1; continue; }
        for tool in memcheck racecheck; do
            compute-sanitizer --tool $tool --error-exitcode 99 $run </dev/null || { echo "FAILED: $tool $spec $dims"; bad=1; }
        done
    done <<'CASES'
llama-decode B=8,L=1500
llama-decode B=40,L=300
llama-decode B=1,L=5000
llama-decode B=64,KV=1,H=8,L=200
gpt2-decode B=17,L=900
CASES
    return $bad
}
parts=
for part in all few sanitizers; do
    $part </dev/null >"$out/$part.log" 2>&1 &
    parts="$parts $!"
done
bad=0
for one in $parts; do wait "$one" || bad=1; done
grep -h -E '^verify:|SUMMARY|FAILED' "$out"/*.log
[ $bad = 0 ] && echo "all good" || echo "SOMETHING FAILED"
exit $bad
