#!/bin/sh
# usage: faults.sh TFGEN TARGET [DEVICE]   Run from the repository's root. Plants one fault at a time in kernels that are emitted for
# TARGET, and has `tfgen bisect` find it: on DEVICE (cuda, hip), else on the host engine in that target's geometry. On cuda it also plants a
# slow launch. bisect must name the fault's value (or launch) and its line of the spec. FAULTS: names of the faults to plant, default all.
# Exit code 1 when one is not found.
set -u
[ $# -ge 2 ] || { sed -n '2s/^# usage: //p' "$0" >&2; exit 2; }
tfgen=$1 target=$2 device=${3:-}
where=--target=$target repeat=1 bad=0
[ -z "$device" ] || where=--device=$device
late= # sed command. On a GPU, warps may happen to run in step, which would hide a missing barrier: this delays all warps but the first
if [ "$device" = cuda ]; then
    repeat=50
    wait='for (const long long from = clock64(); clock64() - from < 100000;) {}'
    late="/DEV static void finish(const args &p, const tile &t, results &r, float \\*memory)/{n;s/{/{ if (wave() > 0) $wait/};"
fi
edited=$(mktemp -d) log=$(mktemp)
trap 'rm -rf "$edited" "$log"' EXIT

# planted NAME SPEC DIMS OPTIONS KERNEL VALUE LINE SED: edits KERNEL by SED; bisect must print VALUE, and LINE of the spec
planted() {
    case " ${FAULTS:-$1} " in *" $1 "*) ;; *) return ;; esac
    name=$1 spec=specs/$2.yaml dims=$3 options=$4 kernel=$5 value=$6 place=$7 edit=$8
    rm -rf "$edited"
    "$tfgen" emit "$spec" --target="$target" --dim="$dims" -q -o "$edited" \
        $(echo "$options" | sed "s/--what=[a-z]*//;s/--seconds=[0-9.]*//") || bad=1
    cp "$edited/$kernel.hip" "$log" && sed -i "$edit" "$edited/$kernel.hip"
    cmp -s "$log" "$edited/$kernel.hip" && { echo "FAIL  $name: $kernel of $target has no such line"; bad=1; return; }
    "$tfgen" bisect "$spec" "$where" --dim="$dims" $options --repeat=$repeat --replace-source="$edited" --no-cache >"$log" 2>&1
    code=$?
    if [ $code = 1 ] && grep -A1 "$value$" "$log" | grep -q "^ *op .* at $spec:$place:" &&
        { [ -z "${TFGEN_DOUBLE_EMULATOR:-}" ] || grep -q ' wave instructions' "$log"; }; then
        echo "ok    $name in $kernel of $target${device:+ on $device}: $(grep "$value" "$log" | head -1 | sed 's/^ *//')"
    else
        echo "FAIL  $name in $kernel of $target: exit code $code, wanted: $value at $spec:$place"
        cat "$log"
        bad=1
    fi
}
found='the first wrong value: '
heads=B=1,S=69,H=2,KV=1,hd=16 few=B=1,S=7,D=53,F=37 block=B=1,S=5,D=48,H=3,KV=1,hd=16,F=53
planted barrier linear $few '' linear_l "$found%l" 18 "$late"'/^        barrier();$/{N;/\n *const int rows = S::rows/s/^.*\n//}'
planted stride rmsnorm B=1,S=3,D=53 '' rmsnorm_n "$found%n" 17 's/p.x_ + row \* 53ll/p.x_ + row * 52ll/'
planted future attention $heads '' attention_attention "$found%a" 19 \
    's/key <= position :/key <= position + 1 :/;s/S::position(p, batch, token) + 1 : keys/S::position(p, batch, token) + 2 : keys/'
planted tail attention $heads '' attention_attention "$found%a" 19 \
    's/ceil_div(t.to - t.from, block_k)/(t.to - t.from) \/ block_k/;s/ceil_div(visible(\([^)]*\)), block_k)/visible(\1) \/ block_k/'
planted overflow swiglu $few '--dtype=f16 --what=nan' swiglu_gate_up "$found%prod" 22 \
    's/op_mul(act_, hi)/op_mul(op_cast<f16>(act_ * 1e6f) * 1e-6f, hi)/'
planted unwritten rmsnorm B=1,S=3,D=53 '' rmsnorm_n "$found%n" 17 's/return p.B_ \* p.S_; }/return p.B_ * p.S_ - 1; }/'
planted swapped swiglu $few '' swiglu_gate_up "$found%act" 21 's/op_silu(lo)/op_silu(hi)/'
planted factor llama-block $block '' llama_gate_up "$found%gate" 37 's/op_mul(lo, c.gate_r_)/op_mul(lo, c.gate_r_ * 2.0f)/'
planted scale attention $heads '' attention_attention "$found%a" 19 's/scale = 0[.0-9]*f/scale = 0.5f/'
planted packing linear $few '' linear_l_pack "$found%l" 18 's/col \* 53ll + k)/col * 53ll + (k ^ (k < 52)))/'
planted rounding swiglu $few --dtype=f32 swiglu_gate_up "$found%prod" 22 's/op_mul(act_, hi)/op_mul(op_cast<bf16>(act_), hi)/'
planted copy swiglu $few '' swiglu_x_rows "$found%x.rows" 19 's/p.x_ + row \* 53ll/p.x_ + row * 52ll/'
[ "$device" = cuda ] && planted slow rmsnorm B=1,S=3,D=53 '--what=slow --seconds=0.1' rmsnorm_n \
    'the furthest above the model: rmsnorm_n' 17 "/DEV static void begin/{n;s/{/{ $wait/}"
exit $bad
