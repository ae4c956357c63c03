#!/bin/sh
# In: a build folder, TINYGRAD_DIR. Out: specs run by the command on the HIP device, with nothing of the host engine: source, HIPRTC (or
# clang), hipModuleLoadData, hipModuleLaunchKernel, and the code object's own instructions in the emulator; each against the float64
# reference; and faults that are planted in emitted kernels, each of which tfgen bisect has to find there. Exit 1 when one is wrong. HIPRTC
# that is not installed is said and left out.
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
export TFGEN_LIBHIP="$build/tests/doubles/libamdhip64_double.so" TFGEN_DOUBLE_EMULATOR="$here/emulator.py"
unset HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES HSA_OVERRIDE_GFX_VERSION TFGEN_DOUBLE_FAULT
bad=0
log=$(mktemp)
edited=$(mktemp -d)
trap 'rm -rf "$log" "$edited"' EXIT

# run ARCH COMPILER SPEC DIMS
run() {
    [ "$2" = hiprtc ] && clang=none || clang=
    if TFGEN_CLANG=$clang TFGEN_DOUBLE_DEVICES=$1 "$build/tfgen" run "specs/$3.yaml" --device=hip --dim="$4" --repeat=1 \
        --no-cache >"$log" 2>&1 &&
        grep -q ' wave instructions' "$log" && ! grep -q 'double of HIP' "$log"; then
        echo "ok    $3 $4 on $1 by $2: $(grep ' launches' "$log" | sed 's/^ *//; s/,.*//')," \
            "$(awk '/wave instructions/ {n += $4} END {print n}' "$log") wave instructions"
    else
        echo "FAIL  $3 $4 on $1 by $2"
        cat "$log"
        bad=1
    fi
}

both() {
    run gfx90a "$1" rmsnorm B=1,S=3,D=53
    run gfx90a "$1" linear B=1,S=7,D=53,F=37
    run gfx90a "$1" llama-block B=2,S=5,D=48,H=3,KV=1,hd=16,F=53
}
if [ -e /usr/lib/x86_64-linux-gnu/libamdhip64.so.5 ] || [ -n "${TFGEN_HIPRTC:-}" ] || [ -d /opt/rocm ]; then both hiprtc
else echo "left out: no HIPRTC"; fi
both clang
run gfx942 clang llama-block B=2,S=5,D=48,H=3,KV=1,hd=16,F=53
run gfx1100 clang llama-block B=2,S=5,D=48,H=3,KV=1,hd=16,F=53

# planted ARCH SPEC DIMS FILE SED VALUE PLACE: with that edit of the kernel, VALUE is the first that is wrong, and the spec has it at PLACE
planted() {
    rm -rf "$edited"
    "$build/tfgen" emit "specs/$2.yaml" --target="$1" --dim="$3" -q -o "$edited" || bad=1
    sed -i "$5" "$edited/$4"
    TFGEN_DOUBLE_DEVICES=$1 "$build/tfgen" bisect "specs/$2.yaml" --device=hip --dim="$3" --replace-source="$edited" --no-cache \
        >"$log" 2>&1
    code=$?
    if [ $code = 1 ] && grep -q "the first wrong value: %$6\$" "$log" && grep -q " at specs/$2.yaml:$7:" "$log" &&
        grep -q ' wave instructions' "$log"; then
        echo "ok    $2 $3 on $1: $5 is found at %$6"
    else
        echo "FAIL  $2 $3 on $1: $5: exit code $code"
        cat "$log"
        bad=1
    fi
}
planted gfx90a swiglu B=1,S=7,D=53,F=37 swiglu_gate_up.hip 's/op_silu(lo)/op_silu(hi)/' act 21
planted gfx1100 attention B=1,S=7,H=2,KV=1,hd=16 attention_attention.hip 's/scale = 0[.0-9]*f/scale = 0.5f/' a 19
planted gfx942 rmsnorm B=1,S=3,D=53 rmsnorm_n.hip 's/return p.B \* p.S; }/return p.B * p.S - 1; }/' n 17
exit $bad
