#!/bin/bash
# usage: runtime.sh FOLDER STEP...   On a machine with an H200 and CUDA 13, in a folder that prepare_runtime.sh made. Steps: info, verify
# (spec sizes, every level and dtype), odd (small odd sizes), presets, sanitize, measure, variants, large (results of more than 2^31
# elements). Every step has a limit; the exit code says whether all passed.
cd "$1" || exit 2
shift
export TFGEN_WORKER=$PWD/tfgen-worker TFGEN_CACHE_DIR=${TFGEN_CACHE_DIR:-/tmp/tfgen-cache}
out=${OUT:-/tmp}
bad=0
t() { timeout "$@"; }
# Specs side by side: most of the time is NVRTC's and the reference's, on one processor each.
verify_all() { # limit, name, options
    limit=$1 name=$2; shift 2
    began=$(date +%s)
    ls specs/*.yaml | xargs -P 14 -I{} sh -c '
        t=$1; shift; timeout "$t" ./tfgen verify {} --device=cuda -j 2 "$@" >"/tmp/v.$(basename {})" 2>&1
        echo "exit code $?" >>"/tmp/v.$(basename {})"' sh "$limit" "$@"
    for f in specs/*.yaml; do
        b=$(basename "$f")
        { echo "== $f"; cat "/tmp/v.$b"; } >>"$out/$name.log"
        grep "^specs/" "/tmp/v.$b" | head -1
        grep -q "exit code 0" "/tmp/v.$b" || { bad=1; echo "FAILED $f"; grep "FAILED\|error" "/tmp/v.$b" | head -8; tail -3 "/tmp/v.$b"; }
    done
    sums=$(grep -h "^specs/" "$out/$name.log" |
        awk '{p += $2; f += $3; if ($5 > w) w = $5} END {print p, "passed,", f, "failed, worst error/bound", w}')
    echo "$name: $sums, $(($(date +%s) - began)) s"
}
for step in "$@"; do
    case $step in
    info) nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; ldd ./tfgen | grep -v "libc.so\|libm\|vdso\|ld-linux" ;;
    verify) verify_all 230 verify --fusion=all --dtype=all ;;
    odd) verify_all 230 odd --fusion=tile --dtype=all --sizes=sample ;;
    sanitize)
        for s in llama-block llama-decode gpt2-block bert-block softmax; do
            t 60 compute-sanitizer --tool memcheck --error-exitcode 9 \
                ./tfgen run specs/$s.yaml --device=cuda --repeat=1 --reference=never -q >"$out/memcheck.$s" 2>&1
            code=$?; echo "memcheck $s: exit code $code; $(grep "ERROR SUMMARY" "$out/memcheck.$s")"; [ $code = 0 ] || bad=1
        done
        for s in linear rmsnorm attention softmax llama-decode llama-block; do
            t 60 compute-sanitizer --tool racecheck --error-exitcode 9 \
                ./tfgen run specs/$s.yaml --device=cuda --repeat=1 --reference=never -q >"$out/racecheck.$s" 2>&1
            code=$?
            echo "racecheck $s: exit code $code; $(grep "RACECHECK SUMMARY\|ERROR SUMMARY" "$out/racecheck.$s")"
            [ $code = 0 ] || bad=1
        done ;;
    presets) # against PyTorch in float64
        t 280 python3 presets.py ./tfgen /tmp/presets specs/*.yaml >"$out/presets.log" 2>&1 || bad=1
        t 280 python3 presets.py ./tfgen /tmp/presets specs/*.yaml --presets=tiny-small,exercise --dtypes=f32,f16,bf16 \
            --fusion=none,ops,tile >"$out/presets2.log" 2>&1 || bad=1
        for f in "$out/presets.log" "$out/presets2.log"; do
            sort -k6,6n "$f" | grep "times that" | tail -2
            grep -v " ok$" "$f" | head -20
        done ;;
    measure)
        for s in "llama-block" "llama-block tiny-small" "llama-block llama-8b" "llama-decode llama-8b" "softmax"; do
            set -- $s
            t 90 ./measure specs/$1.yaml /tmp/measure-cache $2 || bad=1
        done ;;
    variants) for p in llama-1b llama-8b; do t 90 ./variants specs /tmp/variants-cache $p || bad=1; done ;;
    large) t 280 ./large cuda 66049 33024 || bad=1 ;; # results of 2.18e9 elements
    *) echo "no step $step"; bad=1 ;;
    esac
done
[ $bad = 0 ] && echo "all good" || echo "SOMETHING FAILED"
exit $bad
