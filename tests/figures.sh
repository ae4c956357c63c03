#!/bin/sh
# usage: figures.sh   Makes the sentence of README.md on tfgen's speed from the table in docs/performance.md, the only place that holds the
# figures. Prints it with exit code 1 if README.md has another one.
set -eu
cd "$(dirname "$0")/.."
sentence=$(awk -F ' *[|] *' '
    function span(low, high) { return low == high ? low : low " to " high }
    /^## / { here = $0 ~ /beside PyTorch/ }
    here && $1 == "" && NF >= 6 {
        split($2, word, " ")
        if ($2 == "product 8192x8192x8192" && !cube) cube = $5
        if ($2 == "product 2048x5468x2048" && !odd) odd = $5
        if (word[1] == "attention") { if (!a++ || $5 < alow) alow = $5; if ($5 > ahigh) ahigh = $5 }
        if ($2 ~ /^(rmsnorm|layernorm|l2norm) 16384x4096$/) {
            share = $6 + 0; if (!n++ || share < nlow) nlow = share; if (share > nhigh) nhigh = share
        }
        if (word[1] == "block") { if (!b++ || $5 < blow) blow = $5; if ($5 > bhigh) bhigh = $5 }
    }
    /^f32, same run: block exercise/ { match($0, /[0-9.]+ times/); f32 = substr($0, RSTART, RLENGTH - 6) }
    END {
        if (!cube || !odd || !a || !n || b != 5 || !f32) {
            print "docs/performance.md lacks rows that README.md cites" > "/dev/stderr"; exit 2
        }
        printf "On an H200, bf16, in one run: a product of 8192x8192x8192 %s times as fast as cuBLAS, one of 2048x5468x2048, ", cube
        printf "whose result rows are not a multiple of 16 bytes, %s times, attention %s times as fast as cuDNN, ", odd, span(alow, ahigh)
        printf "norms of 16384x4096 "
        printf "at %s %% of the bandwidth floor, a Llama block ", span(nlow, nhigh)
        printf "%s times as fast as torch.compile at the five presets, ", span(blow, bhigh)
        printf "and %s times in f32 at `exercise`.", f32
    }' docs/performance.md)
tr -s '\n ' '  ' <README.md | grep -qF "$sentence" && exit 0
echo "README.md should say, as docs/performance.md does:"
echo "$sentence" | fold -s -w 150
exit 1
