#!/bin/sh
# usage: prepare_bench.sh FOLDER [SET...]   Compiles the kernels that bench.py times; needs no GPU itself. Sets: goals (seven cases:
# products, SwiGLU, a product with residual), llm (24 GEMM shapes, some with prime dimensions), split (f32 split into tf32 terms: products,
# SwiGLU and a block; run with DTYPE=f32), blocks (the Llama block's presets).
# TILES="n=256 n=192,group_m=8 ..." adds variants of kernels on layer wgmma; other kernels stay as they are.
set -u
out=$1 tfgen=${TFGEN:-./tfgen}
shift
mkdir -p "$out"
fail() { echo "prepare_bench: $1 failed" >&2; tail -3 "$out/log" >&2; }
make_one() { # name spec options...
    name=$1 spec=$2; shift 2
    "$tfgen" "$spec" --target=sm_90a --code -q --dtype=${DTYPE:-bf16} "$@" -o "$out/$name" 2>"$out/log" || fail "$name"
    for tile in ${TILES:-}; do # the plan's own text with other settings, read back
        "$tfgen" "$spec" --target=sm_90a --dump=plan -q --dtype=${DTYPE:-bf16} "$@" -o "$out/text" >"$out/plan.ir"
        for one in $(echo "$tile" | tr , ' '); do sed -i "/tile layer=wgmma/s/ ${one%%=*}=[0-9]*/ $one/" "$out/plan.ir"; done
        "$tfgen" "$out/plan.ir" --from=plan --target=sm_90a --code -q -o "$out/$name@$tile" 2>"$out/log" || fail "$name@$tile"
        rm -rf "$out/text"
    done
    rm -f "$out"/*/*.hip "$out"/*/*.spec.h "$out"/*/plan.ir "$out/log" "$out/plan.ir"
}
product() { make_one "product-$1x$2x$3" tests/h200/product.yaml --dim=M=$1,N=$2,K=$3; }
swiglu() { make_one "swiglu-$1x$2x$3" specs/swiglu.yaml --dim=B=1,S=$1,D=$3,F=$2; }
for set in ${*:-goals llm blocks}; do
    case $set in
    goals)
        product 8192 8192 8192; product 4096 14336 4096; product 2048 5468 2048; product 2048 8192 2048
        swiglu 2048 8192 2048; swiglu 2048 5468 2048
        make_one residual-2048x2048x8192 tests/h200/residual.yaml --dim=M=2048,N=2048,K=8192 ;;
    llm)
        for m in 512 2048 4096; do product $m 6144 4096; product $m 4096 4096; product $m 28672 4096; product $m 4096 14336; done
        product 2048 3072 2048; product 2048 2048 2048; product 2048 16384 2048; product 2048 2048 8192
        product 2048 5468 2048; product 2048 2048 5468
        product 1024 2304 768; product 1024 3072 768; product 1024 768 3072
        product 2048 5003 2048; product 1021 4096 4093; product 1999 1999 1999 ;;
    split)
        product 8192 8192 8192; product 4096 14336 4096; product 2048 6144 2048; product 2048 2048 2048; product 2048 2048 5468
        product 2048 5468 2048; product 1021 4096 4093; product 333 500 1366; product 512 640 128
        swiglu 2048 5468 2048; make_one block-exercise specs/llama-block.yaml --preset=exercise ;;
    blocks)
        for p in tiny-small tiny-medium exercise llama-1b llama-8b; do make_one "block-$p" specs/llama-block.yaml --preset=$p; done ;;
    *) echo "prepare_bench: no set $set" >&2; exit 2 ;;
    esac
done
