"""In: the float64 reference's values and bounds (ref.NAME, bound.NAME of --dump-data) and a device's results; manifests. Out: the largest
ratio of error to bound, by the rules of ir/reference/ref_verdict.c. Refuses unknown versions of manifests. For harnesses that run kernels
outside of tfgen; needs only numpy."""
import json
import os
import sys

import numpy as np

MANIFEST_VERSION = 1  # as in gen/gen.h

POISON = 0xFFE5  # as in runtime/module/guarded_run.h: a NaN that no arithmetic makes, of 16 bits; an f32 holds it twice
BITS = {"f32": np.uint32, "f16": np.uint16, "bf16": np.uint16}


def read_manifest(folder):
    path = os.path.join(folder, "manifest.json")
    with open(path) as f:
        manifest = json.load(f)
    if manifest.get("manifest") != MANIFEST_VERSION:
        sys.exit(f"{path}: a manifest of version {manifest.get('manifest')}; this harness reads version {MANIFEST_VERSION}")
    return manifest


def poison(size):
    """Initial bytes for memory that kernels write: NaN in every float type."""
    return (np.full((size + 1) // 2, POISON, np.uint16).tobytes())[:size]


def as_double(raw, dtype):
    """Numbers from the bytes of a tensor in memory."""
    if dtype == "bf16":
        return (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return np.frombuffer(raw, {"f32": np.float32, "f16": np.float16, "i32": np.int32}[dtype]).astype(np.float64)


def judge(want, bound, raw, dtype):
    """(largest ratio of error to bound, number of elements not judged because their bound is infinite) of one output; the ratio is infinite
    if elements are missing or unwritten, or are NaN where a number is expected or the reverse."""
    want, bound, got = np.ravel(want), np.ravel(bound), as_double(raw, dtype)
    if got.size != want.size or got.size != bound.size or not got.size:
        return np.inf, 0
    bits = np.frombuffer(raw, BITS[dtype])
    unwritten = bits == (POISON << 16 | POISON if dtype == "f32" else POISON)
    judged = np.isfinite(bound)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        error = np.abs(got - want)
        ratio = np.where(got == want, 0.0, np.where(bound > 0, error / bound, np.inf))
    ratio = np.where(np.isnan(want) & np.isnan(got), 0.0, np.where(np.isnan(ratio), np.inf, ratio))
    ratio = np.where(unwritten, np.inf, np.where(judged, ratio, 0.0))
    return float(ratio.max()), int(np.count_nonzero(~judged))
