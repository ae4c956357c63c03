#!/bin/sh
# In: a machine with a Hopper GPU and CUDA 13 (gcc, NVRTC, cuBLAS), run from the repository's root; arguments as of probe_h200.c.
# Out: the checks and the table of times. Refuses to hide a failure: exit status 1.
set -eu
cuda=${CUDA_HOME:-/usr/local/cuda}
out=${BUILD:-build}/probes
mkdir -p "$out"
gcc -std=gnu11 -O2 -Wall -Wextra -I"$cuda/include" -o "$out/probe_h200" tests/probes/probe_h200.c \
    -L"$cuda/lib64" -Wl,-rpath,"$cuda/lib64" -lnvrtc -lcublas -ldl -lm
exec "$out/probe_h200" "$@"
