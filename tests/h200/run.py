#!/usr/bin/env python3
"""In: folders that tests/h200/prepare.sh made (manifest.json, cubins, data.safetensors with reference and bounds). Out: every plan run on
this machine's NVIDIA GPU through the driver, compared with the float64 reference under its bounds; times with CUDA events over rotating
buffers. Refuses (exit 1) an element beyond its bound. Needs cupy and numpy; no compiler.

usage: run.py FOLDER [--time]"""
import ctypes
import json
import os
import struct
import sys

import cupy as cp
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import judging  # noqa: E402

NUMPY = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16, "I32": np.int32}
TYPES = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i32": np.int32}


def read_safetensors(path):
    with open(path, "rb") as f:
        data = f.read()
    size, = struct.unpack_from("<Q", data)
    out = {}
    for name, item in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            low, high = item["data_offsets"]
            out[name] = np.frombuffer(data[8 + size + low:8 + size + high], NUMPY[item["dtype"]])
    return out


def poisoned(size):
    return cp.asarray(np.frombuffer(judging.poison(size), np.uint8))


driver = ctypes.CDLL("libcuda.so.1")


def must(code, what):
    if code:
        raise RuntimeError(f"{what}: CUDA error {code}")


def load(path, name, dynamic_bytes=0):
    with open(path, "rb") as f:
        image = f.read()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    must(driver.cuModuleLoadData(ctypes.byref(module), image), path)
    must(driver.cuModuleGetFunction(ctypes.byref(function), module, name.encode()), name)
    if dynamic_bytes:
        must(driver.cuFuncSetAttribute(function, 8, dynamic_bytes), "cuFuncSetAttribute MAX_DYNAMIC_SHARED_SIZE_BYTES")
    return function


MAP_TYPES = {"f16": 6, "f32": 7, "bf16": 9}  # CU_TENSOR_MAP_DATA_TYPE_...


def encode_map(a, address):
    """The 128 bytes of a tensor map as the manifest describes it: 128-byte swizzle (pieces: none), zeros outside."""
    room = ctypes.create_string_buffer(256)
    at = (ctypes.addressof(room) + 127) & ~127
    box = a["box"]
    if "pieces" in a:
        must(driver.cuTensorMapEncodeTiled(
            ctypes.c_void_p(at), 2, 3, ctypes.c_void_p(address + a["start"]),
            (ctypes.c_uint64 * 3)(256, a["rows"]["now"], a["columns"]), (ctypes.c_uint64 * 2)(a["stride"], 1024),
            (ctypes.c_uint32 * 3)(256, box[0], box[1]), (ctypes.c_uint32 * 3)(1, 1, 1), 0, 0, 2, 0),
            f"cuTensorMapEncodeTiled {a['name']}")
        return ctypes.string_at(at, 128)
    if "heads" in a:
        must(driver.cuTensorMapEncodeTiled(
            ctypes.c_void_p(at), MAP_TYPES[a["dtype"]], 4, ctypes.c_void_p(address + a["start"]),
            (ctypes.c_uint64 * 4)(a["columns"], a["heads"], a["rows"]["now"], a["batches"]["now"]),
            (ctypes.c_uint64 * 3)(a["head_stride"]["now"], a["stride"], a["batch_stride"]["now"]),
            (ctypes.c_uint32 * 4)(box[1], a["box_heads"], box[0], 1), (ctypes.c_uint32 * 4)(1, 1, 1, 1), 0, 3, 2, 0),
            f"cuTensorMapEncodeTiled {a['name']}")
        return ctypes.string_at(at, 128)
    must(driver.cuTensorMapEncodeTiled(
        ctypes.c_void_p(at), MAP_TYPES[a["dtype"]], 2, ctypes.c_void_p(address + a["start"]),
        (ctypes.c_uint64 * 2)(a["columns"], a["rows"]["now"]), (ctypes.c_uint64 * 1)(a["stride"]),
        (ctypes.c_uint32 * 2)(box[1], box[0]), (ctypes.c_uint32 * 2)(1, 1), 0, 3, 2, 0), f"cuTensorMapEncodeTiled {a['name']}")
    return ctypes.string_at(at, 128)


def encode_arguments(k, dims, packed, values):
    """The argument struct of a launch; packed(index) and values(name) give addresses."""
    args = bytearray(k["argument_bytes"])
    for a in k["arguments"]:
        at = a["offset"]
        if a["kind"] == "dim":
            struct.pack_into("<i", args, at, dims[a["index"]])
        elif a["kind"] == "map":
            args[at:at + 128] = encode_map(a, values(a["value"]) if "value" in a else packed(a["index"]))
        elif a["kind"] == "packed":
            struct.pack_into("<Q", args, at, packed(a["index"]))
        elif a["kind"] == "value":
            struct.pack_into("<Q", args, at, values(a["value"]))
        elif a["kind"] == "scratch":
            struct.pack_into("<Q", args, at, values(("scratch", a["index"])))
        else:
            raise ValueError(f"argument kind {a['kind']}")
    return bytes(args)


class Attribute(ctypes.Structure):  # CUlaunchAttribute
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("number", ctypes.c_int), ("bytes", ctypes.c_char * 60)]


class Config(ctypes.Structure):  # CUlaunchConfig
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


OVERLAP = Attribute(6, 0, 1)  # CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION


def launch(function, k, grid, args, multiprocessors, stream=None, overlap=True):
    """overlap=False: launched plainly, also where the manifest lets a launch begin before the one ahead of it has ended."""
    data = ctypes.create_string_buffer(args, len(args))
    params = (ctypes.c_void_p * 1)(ctypes.addressof(data))
    shape = k["grid"]  # of a pack kernel: a number
    if isinstance(shape, dict) and "resident" in shape:
        cluster = shape.get("cluster", 1)
        grid = min(grid, shape["resident"] * multiprocessors // cluster * cluster)
    if overlap and k.get("overlap"):
        config = Config((grid, 1, 1), (k["block"], 1, 1), k.get("dynamic_bytes", 0), stream, ctypes.pointer(OVERLAP), 1)
        must(driver.cuLaunchKernelEx(ctypes.byref(config), function, params, None), k["name"])
        return
    must(driver.cuLaunchKernel(function, grid, 1, 1, k["block"], 1, 1, k.get("dynamic_bytes", 0), ctypes.c_void_p(stream), params, None),
         k["name"])


def workspace_offsets(manifest):
    """Offsets in the workspace: of values by name, of scratches by ("scratch", index)."""
    out, scratches = {}, 0
    for v in manifest["workspace"]["values"]:
        if "value" in v:
            out[v["value"]] = v["offset"]
        else:
            out["scratch", scratches] = v["offset"]
            scratches += 1
    return out


class Plan:
    def __init__(self, folder):
        self.manifest = m = judging.read_manifest(folder)
        self.data = read_safetensors(os.path.join(folder, "data.safetensors"))
        self.dims = [d["value"] for d in m["dims"]]
        dynamic = {k["name"]: k.get("dynamic_bytes", 0) for k in m["kernels"]}
        symbols = {k["name"]: k["symbol"] for k in m["packs"] + m["kernels"]}
        self.modules = {n: load(os.path.join(folder, c["file"]), symbols[n], dynamic.get(n, 0)) for n, c in m["code"].items()}
        self.multiprocessors = cp.cuda.runtime.getDeviceProperties(0)["multiProcessorCount"]
        self.buffers = {}
        for v in m["values"]:
            if v["name"] in self.data:
                self.buffers[v["name"]] = cp.asarray(self.data[v["name"]])
        for v in m["values"]:
            if v.get("output"):
                count = self.data["ref." + v["output"]].size
                self.buffers.setdefault(v["name"], poisoned(count * np.dtype(TYPES[v["dtype"]]).itemsize))
        w = m["workspace"]
        self.workspace = poisoned(max(w["bytes"], 2))
        for name, offset in workspace_offsets(m).items():
            self.buffers.setdefault(name, self.workspace[offset:])
        self.packed = [poisoned(p["bytes"]) for p in m["packs"]]

    def launch(self, k, grid):
        args = encode_arguments(k, self.dims, lambda i: self.packed[i].data.ptr, lambda n: self.buffers[n].data.ptr)
        launch(self.modules[k["name"]], k, grid, args, self.multiprocessors)

    def pack(self):
        for k in self.manifest["packs"]:
            self.launch(k, k["grid"])
        cp.cuda.Device().synchronize()  # a kernel may read packed weights before the launch ahead of it has ended

    def run(self):
        for k in self.manifest["kernels"]:
            self.launch(k, k["grid"]["now"])

    def check(self):
        """Largest error over bound of every output. An element that is not judged is an error here: the specs have none."""
        outputs = [v for v in self.manifest["values"] if v.get("output")]
        verdicts = [judging.judge(self.data["ref." + v["output"]], self.data["bound." + v["output"]],
                                  cp.asnumpy(self.buffers[v["name"]]).tobytes(), v["dtype"])
                    for v in outputs]
        if not verdicts or any(unjudged for _, unjudged in verdicts):
            return float("inf")
        return max(ratio for ratio, _ in verdicts)


def median_us(plan, repeat=30):
    """Median, 10 % and 90 % of the time of all launches together, in us, with L2 flushed before each run."""
    flush = cp.empty(128 << 20, cp.uint8)
    times = []
    for i in range(repeat + 3):
        flush.fill(i & 1)
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        plan.run()
        end.record()
        end.synchronize()
        if i >= 3:
            times.append(cp.cuda.get_elapsed_time(start, end) * 1e3)
    times.sort()
    return times[len(times) // 2], times[len(times) // 10], times[len(times) * 9 // 10]


def main():
    root, timing = sys.argv[1], "--time" in sys.argv
    failed = passed = 0
    cp.zeros(1)  # makes the context current
    properties = cp.cuda.runtime.getDeviceProperties(0)
    print(properties["name"].decode(), "driver", cp.cuda.runtime.driverGetVersion())
    for name in sorted(os.listdir(root)):
        folder = os.path.join(root, name)
        if not os.path.exists(os.path.join(folder, "manifest.json")):
            continue
        print(name, end=" ", flush=True)  # a launch that hangs is then known by name
        try:
            plan = Plan(folder)
            plan.pack()
            plan.run()
            cp.cuda.Device().synchronize()
            worst = plan.check()
        except Exception as e:  # a launch that fails is a failure of this plan; the context may be lost with it
            worst, plan = float("inf"), None
            print(f"{name}: {type(e).__name__}: {e}", flush=True)
        good = worst <= 1
        passed, failed = passed + good, failed + (not good)
        line = f"{'':{max(1, 44 - len(name))}s}error/bound {worst:7.3f} {'ok' if good else 'WRONG'}"
        if timing and plan and good:
            line += "  median %8.1f us (10%% %.1f, 90%% %.1f), %d launches" % (*median_us(plan), len(plan.manifest["kernels"]))
        print(line, flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
