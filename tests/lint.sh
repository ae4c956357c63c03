#!/bin/sh
# House rules that a script can see: directions of includes and calls, lengths of files and functions, width of lines, names in comments and
# documents that are not there, no prints in the library.
set -u
generator=$(find gen -name '*.c')
library=$(find runtime -name '*.c' ! -path 'runtime/host/*' ! -path 'runtime/cli/*' ! -name worker_main.c)
bad=0
complain() { echo "lint: $*"; bad=1; }
grep -nE '^#include "(gen|runtime)/' ir/*.[ch] ir/*/*.[ch] && complain "ir includes upward"
grep -nE '^#include "runtime/' $(find gen -name '*.[ch]') && complain "gen includes upward"
grep -nE '\b(printf|puts|exit|abort)\(' ir/*/*.c $generator $library |
    grep -vE 'text_printf|arena_printf|snprintf|vsnprintf|fprintf\(f|_exit\(12|^[^:]*:[0-9]*: *\*|//|json' &&
    complain "prints or exits in the library"
grep -nE '(^|[^_a-z])getenv\(' ir/*/*.c $generator runtime/*/*.c runtime/cli/*/*.c &&
    complain "getenv() listens to whoever starts a program with more rights: secure_getenv()"
grep -nE 'phases\[0\]' ir/*/*.c $generator $library $(find runtime/cli -name '*.c') &&
    complain "a kernel's phases are walked, or asked of its launch (launch.work, gen/gen.h)"
grep -nE '\bvendor' $(find gen ir -name '*.[ch]') | grep -vE '^ir/(ir\.h|graph/target\.c):|vendor_words' &&
    complain "a stage asks for a vendor: what it needs is a column of ir/target.def"
for f in ir/*/*.c $generator runtime/*/*.c runtime/cli/*/*.c; do
    lines=$(wc -l <"$f")
    [ "$lines" -le 650 ] || complain "$f has $lines lines"
    awk -v f="$f" '
        /^[a-zA-Z_].*\)$/ { name = $0 }
        /^\{$/ { start = NR }
        /^\}$/ {
            if (start && NR - start - 1 > 60) { printf "lint: %s:%d: %d lines: %s\n", f, start, NR - start - 1, name; bad = 1 }
            start = 0
        }
        END { exit bad }' "$f" || bad=1
done
for f in $(grep -lE '^START_TEST' tests/*/*.c); do
    for name in $(sed -n 's/^START_TEST(\([A-Za-z0-9_]*\)).*/\1/p' "$f"); do
        [ "$(grep -cw "$name" "$f")" -ge 2 ] || complain "$f: no test case has $name"
    done
done
# At level block, templates of all families may be in one source, so no two of them may define the same name.
same=$(for f in $(find templates/attention templates/base templates/frame templates/gemm templates/rows -name '*.h' ! -name '*.spec.h'); do
    sed -nE '/^struct [A-Za-z0-9_]+;/d; s/^(template <.*> )?(struct|using) (alignas\([0-9]+\) )?([A-Za-z0-9_]+).*/\4/p' "$f" | sort -u
done | sort | uniq -d)
[ -z "$same" ] || complain "two templates declare" $same
sh tests/figures.sh || bad=1
python3 tests/circles.py build/default || bad=1
python3 tests/width.py || bad=1
python3 tests/amd/targets.py >/dev/null || bad=1
python3 tests/paths.py || bad=1
# Runs clang-tidy on the shipped code.
tidy=$(command -v clang-tidy-22 || command -v clang-tidy)
[ -z "$tidy" ] || find ir gen runtime examples -name '*.c' | xargs -P "$(nproc)" -I{} "$tidy" --quiet {} -- -std=c11 -I. -Iruntime/api \
    -DTFGEN_VERSION='"lint"' 2>/dev/null || complain "clang-tidy finds fault"
exit $bad
