#!/bin/sh
# usage: run.sh BUILD_FOLDER PROGRAM...   Runs each test program and fuzzer, shows what failed, ends with one count of all checks.
set -u
build=$1; shift
passed=0; failed=0; skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export TFGEN_CACHE_DIR="${TFGEN_CACHE_DIR:-$PWD/build/cache}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
start=$(date +%s)
for program in "$@"; do
    name=$(basename "$program")
    began=$(date +%s)
    case $name in
    fuzz_*) "$program" "${FUZZ_SECONDS:-3}" >"$log" 2>&1 ;;
    *) "$program" >"$log" 2>&1 ;;
    esac
    code=$?
    grep -h '^skipped:' "$log"
    skipped=$((skipped + $(grep -c '^skipped:' "$log")))
    # Check's closing line: "100%: Checks: 12, Failures: 0, Errors: 0"
    counts=$(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\)$/\1 \2 \3/p' "$log" | tail -n 1)
    if [ -n "$counts" ]; then
        set_=$(echo "$counts" | awk '{print $1 - $2 - $3, $2 + $3}')
        good=${set_% *}; bad=${set_#* }
    elif [ $code -eq 0 ]; then good=1; bad=0
    else good=0; bad=1; fi
    [ $code -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
    passed=$((passed + good)); failed=$((failed + bad))
    [ "$bad" -gt 0 ] && { echo "---- $name (exit code $code)"; cat "$log"; }
    printf '%-28s %4d passed, %d failed  %3d s\n' "$name" "$good" "$bad" $(($(date +%s) - began))
done
echo "all in $(($(date +%s) - start)) s"
echo "tests: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
