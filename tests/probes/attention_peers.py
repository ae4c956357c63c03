#!/usr/bin/env python3
"""In: a GPU and PyTorch. Out: times of torch's attention (cuDNN, FlashAttention 2) on the cases of attention_h200.c: medians of CUDA-graph
replays over rotating inputs. A backend that fails is named."""
import statistics
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

CASES = ((4, 32, 32, 512, 64, True), (8, 8, 8, 128, 64, True), (16, 16, 8, 512, 64, True), (1, 32, 8, 2048, 64, True),
         (1, 32, 8, 4096, 128, True), (2, 16, 16, 8192, 128, True), (2, 16, 16, 8192, 128, False), (2, 16, 16, 8192, 64, False))


def timed(call, sets, launches):
    for s in sets:
        call(*s)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(launches):
            call(*sets[i % len(sets)])
    times = []
    for _ in range(12):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop) * 1e3 / launches)
    times = sorted(times[2:])
    return statistics.median(times), times[1], times[-2]


for B, H, KV, S, hd, causal in CASES:
    flop = 4 * B * H * S * S * hd * (0.5 if causal else 1)
    count = min(6, int(200e6 / (4 * B * hd * S * (H + KV))) + 2)
    launches = min(60, int(4e-3 / (flop / 550e12)) + 2)
    sets = [[torch.randn(B, h, S, hd, device="cuda", dtype=torch.bfloat16) for h in (H, KV, KV)] for _ in range(count)]
    for backend, name in ((SDPBackend.CUDNN_ATTENTION, "cuDNN"), (SDPBackend.FLASH_ATTENTION, "flash2")):
        try:
            with sdpa_kernel(backend):
                median, low, high = timed(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=KV != H),
                                          sets, launches)
            print(f"B{B} S{S} H{H}/{KV} d{hd}{' causal' if causal else ''}  {name:8} {median:8.1f} us ({low:.1f} to {high:.1f})  "
                  f"{flop / median * 1e-6:6.1f} TFLOP/s", flush=True)
        except Exception as error:
            print("failed", name, repr(error)[:200], file=sys.stderr)
