#!/bin/sh
# In: a build folder, TINYGRAD_DIR. Out: specs run by the command on the HIP device without the host engine: source, HIPRTC (or
# clang), hipModuleLoadData, hipModuleLaunchKernel, and the code object's own instructions in the emulator; each against the float64
# reference; and faults that are planted in emitted kernels, each of which tfgen bisect has to find there. Exit 1 when one is wrong. If
# HIPRTC is not installed, its runs are reported as left out.
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
export TFGEN_LIBHIP="$build/tests/doubles/libamdhip64_double.so" TFGEN_DOUBLE_EMULATOR="$here/emulator.py"
unset HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES HSA_OVERRIDE_GFX_VERSION TFGEN_DOUBLE_FAULT
bad=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# run ARCH COMPILER SPEC DIMS
run() {
    [ "$2" = hiprtc ] && clang=none || clang=
    if TFGEN_CLANG=$clang TFGEN_DOUBLE_DEVICES=$1 "$build/tfgen" run "specs/$3.yaml" --device=hip --dim="$4" --repeat=1 \
        --no-cache >"$log" 2>&1 &&
        grep -q ' wave instructions' "$log" && ! grep -q 'double of HIP' "$log"; then
        echo "ok    $3 $4 on $1 by $2: $(grep -E ' launch(es)?, ' "$log" | sed 's/^ *//; s/,.*//')," \
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

# faults ARCH NAMES: of tests/faults.sh, found in the emulator
faults() {
    FAULTS=$2 TFGEN_DOUBLE_DEVICES=$1 sh "$here/../faults.sh" "$build/tfgen" "$1" hip || bad=1
}
faults gfx90a 'barrier future tail packing'
faults gfx942 'stride overflow unwritten factor'
faults gfx1100 'swapped scale rounding copy'
exit $bad
