#!/bin/sh
# usage: rows_prepare.sh FOLDER   Makes what rows.py needs, on a machine without a GPU: row operations at two sizes as cubins for sm_90a,
# with the planner's tile and with others (VARIANTS, "threads:team"; 0 is the planner's own).
set -u
out=$1
mkdir -p "$out"
cat >"$out/add-rmsnorm.yaml" <<'SPEC'
block: add-rmsnorm
dtype: bf16
dims: {B: 8, S: 8, D: 64}
inputs: {x: [B, S, D], r: [B, S, D]}
params: {w: [D]}
ops:
  - {out: h, op: add, in: [x, r]}
  - {out: n, op: rmsnorm, in: [h, w], eps: 1.0e-5}
outputs: {s: h, y: n}
SPEC
for spec in specs/rmsnorm.yaml specs/layernorm.yaml specs/l2norm.yaml specs/softmax.yaml "$out/add-rmsnorm.yaml"; do
    for size in ${SIZES:-2048x2048 16384x4096}; do
        rows=${size%x*} columns=${size#*x}
        for variant in ${VARIANTS:-0 128:32 128:64 128:128 256:32 256:64 256:128 256:256 512:512}; do
            folder=$out/$(basename "$spec" .yaml)@$size@$(echo "$variant" | tr : -)
            ./tfgen "$spec" --target=sm_90a --dim="B=8,S=$((rows / 8)),D=$columns" --dump=plan -q -o "$out/plan" >"$out/plan.ir" || exit 1
            [ "$variant" = 0 ] || sed -i "s/threads=[0-9]* team=[0-9]*/threads=${variant%:*} team=${variant#*:}/" "$out/plan.ir"
            ./tfgen "$out/plan.ir" --from=plan --target=sm_90a --code -q -o "$folder" && cp "$out/plan.ir" "$folder/plan.ir" &&
                rm -f "$folder"/*.hip "$folder"/*.spec.h || { echo "rows_prepare: $folder: not compiled" >&2; rm -rf "$folder"; }
        done
    done
done
rm -rf "$out/plan" "$out/plan.ir"
