#!/bin/sh
# usage: fuzz.sh PROGRAM...   Runs each libFuzzer program for FUZZ_SECONDS (60) from its samples and from what it found before; ends with
# one count.
set -u
folder=build/fuzz
total=0; findings=0
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
for program in "$@"; do
    name=$(basename "$program"); kind=${name#fuzz_}
    mkdir -p "$folder/$name.corpus"
    case $kind in
    spec) samples="specs specs/bad tests/specs" ;;
    text) samples="tests/golden/ir tests/corpus/text" ;;
    *) samples="tests/corpus/$kind" ;;
    esac
    # shellcheck disable=SC2086
    "$program" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=60 -rss_limit_mb=3000 -max_len=65536 \
        -print_final_stats=1 -artifact_prefix="$folder/finding-$name-" \
        "$folder/$name.corpus" $samples >"$folder/$name.log" 2>&1
    code=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$name.log")
    total=$((total + ${runs:-0}))
    [ $code -eq 0 ] || { findings=$((findings + 1)); tail -n 60 "$folder/$name.log"; }
    echo "$name: ${runs:-0} executions, exit code $code"
done
echo "fuzz: $total executions, $findings targets with findings"
[ "$findings" -eq 0 ]
