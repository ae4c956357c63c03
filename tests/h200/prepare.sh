#!/bin/sh
# usage: prepare.sh FOLDER   Makes what run.py needs, on a machine without a GPU: for every shipped spec, level and dtype, cubins and
# data with reference outputs and bounds, at the spec's sizes and at small odd ones.
set -u
out=$1
make_one() { # spec level dtype tag options...
    spec=$1 level=$2 dtype=$3 tag=$4; shift 4
    folder=$out/$(basename "$spec" .yaml)-$tag-$level-$dtype
    ./tfgen "$spec" --target=sm_90a --code -q --fusion="$level" --dtype="$dtype" "$@" -o "$folder" &&
        ./tfgen run "$spec" --target=host -q --fusion="$level" --dtype="$dtype" "$@" --repeat=1 --reference=always --dump-data="$folder/data.safetensors" &&
        rm -f "$folder"/*.hip "$folder"/*.spec.h "$folder"/plan.ir || { echo "prepare: $spec $level $dtype $tag failed" >&2; rm -rf "$folder"; }
}
for spec in ${SPECS:-specs/*.yaml}; do
    for level in ${LEVELS:-none ops tile}; do
        for dtype in ${DTYPES:-f32 f16 bf16}; do make_one "$spec" $level $dtype spec; done
    done
done
