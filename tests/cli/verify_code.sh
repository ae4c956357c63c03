#!/bin/sh
# usage: verify_code.sh OUTDIR JOBS [targets=LIST] [specs=LIST] [presets=LIST] [levels=LIST] [dtypes=LIST]
# Compiles every kernel that the plans choose for the shipped specs and presets, for every GPU target whose compiler is here, and judges
# it against its plan. Needs no make: a built tree may be copied. TFGEN_CLANG, TFGEN_HIPRTC, TFGEN_NVRTC, TFGEN_LIBCLANG name
# compilers; SUMMARY names a document whose section "Code objects" is replaced by the result. Run again, it goes on where it was.
set -eu
[ $# -ge 2 ] || { sed -n '2,5s/^# *//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd); jobs=$2; shift 2
cd "$(dirname "$0")/../.."
[ -n "${SUMMARY:-}" ] && case $SUMMARY in /*) ;; *) SUMMARY=$PWD/$SUMMARY ;; esac
export TFGEN_WORKER="${TFGEN_WORKER:-$PWD/tfgen-worker}"
code=0
"${VERIFY_CODE:-build/default/tests/verify_code}" "$out" "$jobs" "$@" | tee "$out/summary.txt" || code=$?
grep -q '^verify-code: .*, 0 failed' "$out/summary.txt" || code=1
[ -n "${SUMMARY:-}" ] || exit $code
{
    echo "## Code objects"
    echo
    echo "\`make verify-code\` compiles every kernel that the plans choose for the shipped specs, at their own sizes and at each preset, at"
    echo "the levels none, ops and tile, in f32, f16 and bf16, with the options that users get. A kernel fails if its compiler fails or"
    echo "prints a message, if it has scratch or moves vector registers elsewhere, if it needs so many registers that a whole workgroup"
    echo "does not fit, or if its arguments or shared memory, as the code object or libclang has them, differ from the plan's."
    echo "*distinct*: sources that differ in more than names; only these were compiled."
    [ $# -eq 0 ] || echo "This run covers a part: $*."
    echo
    cat "$out/summary.md"
    echo
    echo "$(tail -n 1 "$out/summary.txt" | sed 's/^verify-code: //'), $jobs at a time."
    echo
} >"$out/section.md"
awk -v section="$out/section.md" '
    function put() { while ((getline line < section) > 0) print line; done = 1 }
    /^## / { skip = 0 }
    /^## Code objects$/ { put(); skip = 1 }
    /^## Elsewhere$/ && !done { put() }
    !skip { print }
    END { if (!done) { print ""; put() } }' "$SUMMARY" >"$out/document.md"
cp "$out/document.md" "$SUMMARY"
exit $code
