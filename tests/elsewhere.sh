#!/bin/sh
# usage: elsewhere.sh BUILD_FOLDER SUITE...   Runs suites in a copy of this tree and of what is built, from a path with a space that lies
# below the folder of temporary files. This catches unquoted paths, and code that takes anything below $TMPDIR for a temporary file.
set -eu
build=$1; shift
copy=$(mktemp -d "${TMPDIR:-/tmp}/tfgen elsewhere-XXXXXX")
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM
export TFGEN_CACHE_DIR="${TFGEN_CACHE_DIR:-$PWD/build/cache}"
programs=
for suite in "$@"; do programs="$programs $build/tests/$suite"; done
# Modification times are kept, so that make finds nothing to do; of the test programs only those that run are copied.
find . -path ./.git -prune -o -path ./build -prune -o ! -type d -print >"$copy/files"
find "$build" -path "$build/tests/test_*" ! -name '*.[od]' -prune -o ! -type d -print >>"$copy/files"
mkdir "$copy/a tree"
# shellcheck disable=SC2086
ls -d $programs >>"$copy/files"
tar -cf - -T "$copy/files" | tar -xf - -C "$copy/a tree"
cd "$copy/a tree"
# shellcheck disable=SC2086
TFGEN=$build/tfgen TFGEN_WORKER="$PWD/$build/tfgen-worker" sh tests/run.sh "$build" $programs
