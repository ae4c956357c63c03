#!/bin/sh
# usage: prepare.sh FOLDER   Makes what run.py needs, on a machine without a GPU: for every shipped spec cubins and data with reference
# outputs and bounds, at the spec's sizes (every level in bf16, f16 and f32 at tile) and at odd ones (products in bf16, f16 at tile).
# LAYER=mma moves products that were planned on wgmma to layer mma; then also set DTYPES="bf16 f16" and ODD="bf16 f16".
set -u
out=$1 tfgen=${TFGEN:-./tfgen}
mkdir -p "$out"
compile() { # spec level dtype options...
    spec=$1 level=$2 dtype=$3; shift 3
    [ -z "${LAYER:-}" ] && { "$tfgen" "$spec" --target=sm_90a --code -q --fusion="$level" --dtype="$dtype" "$@" -o "$folder"; return; }
    "$tfgen" "$spec" --target=sm_90a --dump=plan -q --fusion="$level" --dtype="$dtype" "$@" -o "$folder.text" >"$folder.ir" &&
        sed -i "s/tile layer=wgmma m=.*/tile layer=$LAYER/" "$folder.ir" && grep -q "layer=$LAYER" "$folder.ir" &&
        "$tfgen" "$folder.ir" --from=plan --target=sm_90a --code -q -o "$folder"
    status=$?; rm -rf "$folder.ir" "$folder.text"; return $status
}
make_one() { # spec level dtype tag options...
    spec=$1 level=$2 dtype=$3 tag=$4; shift 4
    folder=$out/$(basename "$spec" .yaml)-$tag-$level-$dtype
    compile "$spec" "$level" "$dtype" "$@" 2>"$folder.log" &&
        { [ -e "$folder/data.safetensors" ] || "$tfgen" run "$spec" --target=host -q --fusion="$level" --dtype="$dtype" "$@" --repeat=1 \
            --reference=always --dump-data="$folder/data.safetensors"; } &&
        rm -f "$folder"/*.hip "$folder"/*.spec.h "$folder"/plan.ir "$folder.log" ||
            { echo "prepare: $spec $level $dtype $tag failed" >&2; cat "$folder.log" >&2; rm -rf "$folder"; }
}
for spec in ${SPECS:-specs/*.yaml}; do
    for dtype in ${DTYPES:-bf16 f16 f32}; do make_one "$spec" tile $dtype spec; done
    for level in ${LEVELS-none ops}; do make_one "$spec" $level bf16 spec; done
done
# Odd sizes: 1, primes, one more than a tile. A spec gets only the dims that it has
for dtype in ${ODD:-bf16 f16 f32}; do
    for tag in 1x1x1 37x13x5 127x257x67 33x2100x1030 64x300x4100 129x257x64 131x263x1031 333x500x1366 300x1004x252 257x129x8 \
        $([ $dtype = f32 ] && echo 17x1x128 129x257x129 191x70x4096); do
        dims=M=${tag%%x*},N=$(echo $tag | cut -dx -f2),K=${tag##*x}
        make_one tests/h200/product.yaml tile $dtype $tag --dim=$dims
        make_one tests/h200/residual.yaml tile $dtype $tag --dim=$dims
    done
    for name in linear swiglu gelu-layernorm-linear layernorm-gelu-linear; do
        make_one specs/$name.yaml tile $dtype primes --dim=B=3,S=37,D=67,F=131
        make_one specs/$name.yaml tile $dtype tile+1 --dim=B=1,S=129,D=130,F=257
    done
    for name in llama-block gpt2-block bert-block; do
        kv=$([ $name = llama-block ] && echo ,KV=3)
        make_one specs/$name.yaml tile $dtype primes --dim=B=2,S=37,D=66,H=3$kv,F=89
        make_one specs/$name.yaml tile $dtype tile+1 --dim=B=1,S=129,D=130,H=5$([ $name = llama-block ] && echo ,KV=1),F=257
    done
done
