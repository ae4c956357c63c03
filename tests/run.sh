#!/bin/sh
# usage: run.sh BUILD_FOLDER PROGRAM...   Runs test programs and fuzzers, JOBS at once (default: the number of CPUs), prints a line when one
# ends, with its output if it failed, and at the end one count of all checks. Programs are independent: each makes its own folders; they
# share only the kernel cache.
set -u
build=$1; shift
# The slowest programs, started first: one that started last would run alone at the end.
long='test_random test_views test_course test_decode_mma test_models test_emit test_hip test_tune test_layers test_register_fed test_bisect'
long="$long test_swap_ab test_templates test_trace test_judge test_launches test_calibrate test_attention test_mma test_table test_align"
long="$long test_access test_ranks test_libclang test_examples test_spills test_wild test_scale test_sums test_properties test_matrix"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
export TFGEN_CACHE_DIR="${TFGEN_CACHE_DIR:-$PWD/build/cache}"
export TFGEN_WISDOM="${TFGEN_WISDOM:-none}" # tests must not depend on what a developer has tuned on this machine
# Level 0: most kernels of the tests run for milliseconds, less than it takes to optimise them. `make verify-all` leaves it at 3.
export TFGEN_HOST_OPTIMISE="${TFGEN_HOST_OPTIMISE-0}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
# Time limits are for programs that hang, on any machine under any load; they do not test speed.
export CK_DEFAULT_TIMEOUT="${CK_DEFAULT_TIMEOUT:-60}" CK_TIMEOUT_MULTIPLIER="${CK_TIMEOUT_MULTIPLIER:-20}"
# Cases tagged long are left to `make verify-all`, or `make test CK_EXCLUDE_TAGS=`.
export CK_EXCLUDE_TAGS="${CK_EXCLUDE_TAGS-long}"
start=$(date +%s)
mkfifo "$folder/finished" && exec 3<>"$folder/finished" || exit 1

# In the background: writes log, exit code and seconds, then sends the name through the pipe.
begin() {
    (
        exec >"$folder/$2.log" 2>&1 3>&3
        began=$(date +%s)
        "$1" 3>&-
        echo "$? $(($(date +%s) - began))" >"$folder/$2.ended"
        echo "$2" >&3
    ) &
}

passed=0; failed=0; skipped=0
show() {
    log=$folder/$1.log
    read -r code seconds <"$folder/$1.ended"
    grep -h '^skipped:' "$log"
    skipped=$((skipped + $(grep -c '^skipped:' "$log")))
    # Check's closing line: "100%: Checks: 12, Failures: 0, Errors: 0"
    counts=$(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\)$/\1 \2 \3/p' "$log" | tail -n 1)
    if [ -n "$counts" ]; then
        set_=$(echo "$counts" | awk '{print $1 - $2 - $3, $2 + $3}')
        good=${set_% *}; bad=${set_#* }
    elif [ "$code" -eq 0 ]; then good=1; bad=0
    else good=0; bad=1; fi
    [ "$code" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
    passed=$((passed + good)); failed=$((failed + bad))
    [ "$bad" -gt 0 ] && { echo "---- $1 (exit code $code)"; cat "$log"; }
    printf '%-28s %4d passed, %d failed  %3d s\n' "$1" "$good" "$bad" "$seconds"
}

order=
for name in $long; do
    for program in "$@"; do [ "${program##*/}" = "$name" ] && order="$order $program"; done
done
for program in "$@"; do
    case " $long " in *" ${program##*/} "*) ;; *) order="$order $program" ;; esac
done

running=0
show_next() {
    read -r ended <&3
    running=$((running - 1))
    show "$ended"
}

jobs=${JOBS:-$(nproc)}
for program in $order; do
    [ $running -lt "$jobs" ] || show_next
    begin "$program" "${program##*/}"
    running=$((running + 1))
done
while [ $running -gt 0 ]; do show_next; done
echo "all in $(($(date +%s) - start)) s"
echo "tests: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
