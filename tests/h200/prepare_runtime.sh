#!/bin/sh
# usage: prepare_runtime.sh FOLDER   Builds what runtime.sh, verify.sh, untuned.py, counters.py, memory.py, commands.py and faults.sh need
# where no library but glibc's is wanted: tfgen, tfgen-worker and the measuring programs, with libyaml, jansson, xxhash and SQLite inside.
# There: python3 FOLDER/tests/h200/untuned.py FOLDER/tfgen OUT.
set -eu
out=$1
libs=''
for l in yaml jansson xxhash sqlite3; do
    [ -e /usr/lib/x86_64-linux-gnu/lib$l.a ] && libs="$libs -l:lib$l.a"
done
make -j2 B=build/h200 LIBS="$libs -ldl -lm" build/h200/tfgen build/h200/tfgen-worker build/h200/libtfgen.a
cc=${CC:-gcc}
$cc -std=c11 -O2 -g -Wall -Wextra -pthread -I. -o build/h200/measure tests/h200/runtime.c build/h200/libtfgen.a $libs -ldl -lm -rdynamic
$cc -std=c11 -O2 -g -Wall -Wextra -pthread -I. -o build/h200/variants tests/h200/variants.c build/h200/libtfgen.a $libs -ldl -lm -rdynamic
$cc -std=c11 -O2 -g -Wall -Wextra -pthread -I. -o build/h200/memory tests/h200/memory.c build/h200/libtfgen.a $libs -ldl -lm -rdynamic
$cc -std=c11 -O2 -g -Wall -Wextra -pthread -I. -o build/h200/large tests/h200/large.c build/h200/libtfgen.a $libs -ldl -lm -rdynamic
mkdir -p "$out/tests/h200" "$out/bench"
for f in untuned.py counters.py memory.py product.yaml residual.yaml; do cp "tests/h200/$f" "$out/tests/h200"; done
cp build/h200/tfgen build/h200/tfgen-worker build/h200/measure build/h200/variants build/h200/memory build/h200/large "$out"
for p in tfgen tfgen-worker measure variants memory large; do strip --strip-unneeded "$out/$p"; done # 13 MB, not 40
cp tests/faults.sh tests/commands.py tests/h200/runtime.sh tests/h200/presets.py tests/h200/verify.sh "$out"
cp bench/evaluate.py bench/drawn.py "$out/bench"
cp -r specs "$out"
cp -r tests/specs "$out/tests"
