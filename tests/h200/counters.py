#!/usr/bin/env python3
"""usage: counters.py TFGEN SPECS OUT [NCU]

Compares hardware counters (ncu, clocks not locked, caches emptied before each launch) with `tfgen explain --json`, launch by launch:
operations of tensor cores, or for f32 on vector units their multiply-adds, with those of whole tiles; bytes that DRAM moved with the
predicted ones. Exit code 1 if operations differ by more than 5 %, or the bytes of a launch that moves more than 200 MB do. Results
that a launch has written, but that the L2 has not yet passed on to DRAM, count as moved: they are the bytes written that explain predicts
less those that reached DRAM. Counts are the mean of two launches."""
import collections, csv, io, json, pathlib, re, subprocess, sys

MOST = 0.05
LEAST_BYTES = 200e6
CACHE = 50e6  # an H200's L2
TENSOR = re.compile(r"sm__ops_path_tensor_src_(bf16|fp16|tf32)_dst_fp32(_sparsity_off)?$")
VECTOR = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 2, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": 1,
          "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 1}
DRAM = ("dram__bytes_read.sum", "dram__bytes_write.sum")
CASES = [
    ("decode-8b", "llama-decode.yaml", ["--preset=llama-8b"]),
    ("one-row", "linear.yaml", ["--dim=B=1,S=1,D=8192,F=28672"]),
    ("softmax-1GB", "softmax.yaml", ["--dim=B=64,S=2048,D=4096"]),
    ("block-8b", "llama-block.yaml", ["--preset=llama-8b"]),
    ("linear-8192", "linear.yaml", ["--dim=B=1,S=8192,D=8192,F=8192"]),
    ("simt-f32", "linear.yaml", ["--dim=B=1,S=512,D=2048,F=2048", "--dtype=f32", "--tile=gemm: layer=simt"]),
]


def said(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"counters: {' '.join(command)}: exit {done.returncode}: {(done.stderr or done.stdout)[-2000:]}")
    return done.stdout


def tensor_metrics(ncu, out):
    known = [line.split()[0] for line in said(ncu, "--query-metrics").splitlines() if line.startswith("sm__ops_path_tensor")]
    (out / "tensor-metrics.txt").write_text("\n".join(known) + "\n")
    return [name + ".sum" for name in known if TENSOR.match(name)]


def explained(tfgen, spec, options):
    text = said(tfgen, "explain", spec, *options, "--target=sm_90a", "--device-model=h200", "--fusion=tile", "--no-code", "--json")
    return json.loads(text)["levels"][0]["kernels"]


def counted(ncu, tfgen, spec, options, kernels, metrics, log):
    names = "|".join(k["name"] for k in kernels)
    command = [ncu, "--clock-control", "none", "--cache-control", "all", "--target-processes", "application-only", "--csv", "--page", "raw",
               "--print-units", "base", "--metrics", ",".join(metrics), "--kernel-name", f"regex:^({names})_$", "--launch-count",
               str(2 * len(kernels)), "--kill", "yes", "--log-file", str(log),
               tfgen, "bench", spec, *options, "--device=cuda", "--seconds=0"]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = log.read_text().splitlines() if log.exists() else []
    rows = [line for line in lines if line.startswith('"')]
    if len(rows) < 2:
        sys.exit(f"counters: ncu counted nothing: exit {done.returncode}\n" + "\n".join(lines[-10:]) + done.stderr[-1000:])
    table = list(csv.DictReader(io.StringIO("\n".join(rows))))[1:]  # the first row has units
    of = collections.defaultdict(list)
    for row in table:
        of[row["Kernel Name"].split("(")[0].removesuffix("_")].append({m: float((row.get(m) or "0").replace(",", "")) for m in metrics})
    return {name: {m: sum(run[m] for run in runs) / len(runs) for m in metrics} for name, runs in of.items()}


def apart(got, wanted):
    return abs(got / wanted - 1) if wanted else 0.0 if not got else float("inf")


def compare(name, kernel, got, tensor):
    """(line of the table, whether the launch's counts are within MOST of the predictions)"""
    vector = name.startswith("simt")
    operations = sum(got[m] * VECTOR[m] for m in VECTOR) if vector else sum(got[m] for m in tensor)
    wanted = kernel["predicted"]["padded_products"]
    moved, read, written = kernel["predicted"]["bytes_moved"], *(got[m] for m in DRAM)
    compulsory = kernel["work"]["bytes_read"] + kernel["work"]["bytes_written"]
    good = not wanted or apart(operations, wanted) <= MOST
    asked = moved > LEAST_BYTES
    kept = max(0, min(CACHE, kernel["work"]["bytes_written"] - written))  # bytes of its results that are still in the L2
    good = good and (not asked or apart(read + written + kept, moved) <= MOST)
    text = (f"{name:12} {kernel['name']:24} {operations:11.4g} {wanted:11.4g} {100 * (operations / wanted - 1) if wanted else 0:+7.2f} %  "
            f"{read / 1e6:9.1f} {written / 1e6:9.1f} {kept / 1e6:9.1f} {moved / 1e6:9.1f} {compulsory / 1e6:9.1f} "
            f"{100 * ((read + written + kept) / moved - 1):+7.2f} %{'' if asked else '  (small)'}{'' if good else '  BAD'}")
    return text, good


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.splitlines()[0])
    tfgen, specs, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    ncu = sys.argv[4] if len(sys.argv) > 4 else "ncu"
    out.mkdir(parents=True, exist_ok=True)
    tensor = tensor_metrics(ncu, out)
    if not tensor:
        sys.exit("counters: ncu knows no counter of the tensor cores' operations here")
    print(f"{'case':12} {'launch':24} {'operations':>11} {'explain':>11} {'':9}  {'MB read':>9} {'written':>9} {'in L2':>9} "
          f"{'explain':>9} {'least':>9}")
    bad = 0
    for name, spec, options in CASES:
        kernels = explained(tfgen, str(specs / spec), options)
        metrics = [*DRAM, *(VECTOR if name.startswith("simt") else tensor)]
        rows = counted(ncu, tfgen, str(specs / spec), options, kernels, metrics, out / f"{name}.csv")
        for kernel in kernels:
            if kernel["name"] not in rows:
                print(f"{name:12} {kernel['name']:24} was not counted; there are {', '.join(rows)}")
                bad += 1
                continue
            text, good = compare(name, kernel, rows[kernel["name"]], tensor)
            print(text, flush=True)
            bad += not good
    print("all within 5 %" if not bad else f"{bad} launches are not")
    sys.exit(bad > 0)


main()
