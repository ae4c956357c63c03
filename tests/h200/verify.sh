#!/bin/bash
# usage: verify.sh OUT [SECONDS]   In a folder that prepare_runtime.sh made, on a machine with an NVIDIA GPU, on all cores, about a minute
# on 16: memcheck and racecheck of decode steps, two of them in one launch (plain runs put their kernels into the cache first: nothing is
# compiled under compute-sanitizer); decode steps and products of 1 to 128 rows at odd sizes; every shipped spec at every level and dtype,
# those of tests/specs at level tile; weights of several dtypes, in stacks too. OUT has a log per job. After SECONDS (default 600) running
# jobs are killed; these, and jobs that never began, are named and count as failures.
set -u
[ $# = 1 ] || [ $# = 2 ] || { sed -n '2s/^# usage: //p' "$0" >&2; exit 2; }
mkdir -p "$1" && out=$(cd "$1" && pwd) && cd "$(dirname "$0")" || exit 2
cache=$(mktemp -d) && export TFGEN_WORKER="$PWD/tfgen-worker" TFGEN_CACHE_DIR="$cache" out || exit 2
trap 'rm -rf "$cache"' EXIT

# Each line is a job: its name, then the arguments of verify; if the name begins with sanitize, a spec, dims and a level.
jobs() {
    sed 's/^/sanitize-/' <<'CASES'
1 llama-decode B=8,L=1500 tile
2 llama-decode B=40,L=300 tile
3 llama-decode B=1,L=5000 tile
4 llama-decode B=64,KV=1,H=8,L=200 tile
5 gpt2-decode B=17,L=900 tile
6 llama-decode B=3,L=700 block
7 gpt2-decode B=5,L=300 block
CASES
    local spec dims level
    for level in block tile ops none; do
        for spec in specs/*.yaml; do echo "all-$(basename "$spec" .yaml)-$level $spec --fusion=$level"; done
    done
    for spec in tests/specs/*.yaml tests/specs/{language,reuse,views}/*.yaml; do
        echo "tests-$(basename "$spec" .yaml) $spec --fusion=tile"
    done
    for dims in B=1,L=3001 B=2,L=777 B=7,L=100 B=8,L=1500 B=16 B=17,L=65 B=33,L=999 B=40,L=300 B=64; do
        for spec in llama-decode gpt2-decode; do echo "few-$spec-$dims specs/$spec.yaml --dim=$dims"; done
    done
    for dims in B=1,L=999 B=4,L=300 B=19,L=65; do # weights of other dtypes than the rows
        dims=$dims,D=1032,H=16,KV=4,hd=64,F=2731
        for level in block tile; do echo "mixed-$dims-$level tests/specs/mixed/decode.yaml --fusion=$level --dim=$dims"; done
        echo "run-mixed-$dims tests/specs/mixed/decode.yaml --fusion=block --layers=4 --dim=$dims"
    done
    for dims in 1 2 7 16 17 33 64 100 128; do
        for spec in linear swiglu gelu-layernorm-linear llama-block; do echo "few-$spec-$dims specs/$spec.yaml --dim=B=1,S=$dims"; done
    done
}
sanitize() { # spec dims level
    local run="./tfgen run specs/$1.yaml --target=sm_90a --device=cuda --dim=$2 --fusion=$3 --dtype=bf16 --repeat=1 --reference=always" tool
    $run || return 1
    for tool in memcheck racecheck; do
        compute-sanitizer --tool $tool --error-exitcode 99 $run || { echo "FAILED: $tool $*"; return 1; }
    done
}
job() { # name arguments...
    local name=$1 code; shift
    case $name in
    sanitize-*) sanitize "$@" ;;
    run-*) ./tfgen run "$@" --target=sm_90a --device=cuda --dtype=bf16 --repeat=1 --reference=always ;;
    *) ./tfgen verify "$@" --target=sm_90a --device=cuda --dtype=all --jobs=1 ;;
    esac >"$out/$name.log" 2>&1 </dev/null
    code=$?
    echo $code >"$out/$name.code"
}
export -f job sanitize
rm -f "$out"/*.log "$out"/*.code
jobs >"$out/jobs"
timeout -k 1 "${2:-600}" xargs -P "$(nproc)" -L 1 bash -c 'job "$@"' job <"$out/jobs"
passed=0 bad=0
while read -r name rest; do
    if [ ! -e "$out/$name.log" ]; then echo "did not begin: $name $rest"; bad=1
    elif [ ! -e "$out/$name.code" ]; then echo "did not end: $name $rest"; bad=1
    elif [ "$(cat "$out/$name.code")" != 0 ]; then echo "FAILED: $name $rest"; tail -4 "$out/$name.log"; bad=1
    else passed=$((passed + 1)); fi
done <"$out/jobs"
grep -h '^verify:' "$out"/*.log | awk '{p += $2; f += $4} END {print "verify: " p " passed, " f " failed"}'
grep -h SUMMARY "$out"/*.log | sort | uniq -c
echo "$passed of $(wc -l <"$out/jobs") jobs good"
[ $bad = 0 ] && echo "all good" || echo "SOMETHING FAILED"
exit $bad
