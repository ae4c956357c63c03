#!/bin/sh
# Plans and emits a Llama block, then runs it on this machine and compares the results with float64.
set -eu
cd "$(dirname "$0")/.."
echo "== tfgen specs/llama-block.yaml   (plan, HIP sources, manifest)"
./tfgen specs/llama-block.yaml -o build/demo/llama-block.tfgen
echo
echo "== the same for an AMD MI200, with code objects"
./tfgen specs/llama-block.yaml --target=gfx90a --code -o build/demo/llama-block.gfx90a
echo
echo "== tfgen run specs/llama-block.yaml --preset=tiny-small --dim B=1   (on this machine, checked against float64)"
./tfgen run specs/llama-block.yaml --preset=tiny-small --dim B=1
