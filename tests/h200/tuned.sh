#!/bin/sh
# usage: tuned.sh FOLDER STATE SECONDS [ARGUMENTS]   FOLDER: as prepare_compare.sh makes it. `compare.py tuned` of all its cases, dealt to
# the GPUs of this machine, a process each with processors of its own: CPUS of them in all (default: all there are), the first is FIRST_CPU.
# Results are in STATE as they come, with a log per GPU; called again it goes on. Ends SECONDS after it began.
set -eu
folder=$1 state=$2 seconds=$3
shift 3
mkdir -p "$state"
gpus=$(nvidia-smi -L | grep -c '^GPU ')
each=$((${CPUS:-$(nproc)} / gpus))
first=${FIRST_CPU:-0}
gpu=0
while [ $gpu -lt "$gpus" ]; do
    CUDA_VISIBLE_DEVICES=$gpu TORCHINDUCTOR_COMPILE_THREADS=$each TORCHINDUCTOR_CACHE_DIR=$folder/inductor-$gpu OMP_NUM_THREADS=$each \
        timeout -k 5 $((seconds + 10)) taskset -c "$first-$((first + each - 1))" sh "$folder/compare.sh" tuned --state="$state" \
        --within=$((seconds - 15)) "$@" >"$state/gpu-$gpu.log" 2>&1 &
    gpu=$((gpu + 1)) first=$((first + each))
done
wait
for log in "$state"/gpu-*.log; do
    grep -H -E 'WRONG|FAILED|^Traceback|^  .* failed: ' "$log" | cut -c1-300 || true
done
python3 "$folder/bench/tuned.py" "$state"
