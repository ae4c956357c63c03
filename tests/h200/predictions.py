#!/usr/bin/env python3
"""usage: predictions.py [--device-model=h200] FILE...

In: what `bench/compare.py few decode sweep --json=FILE` or `bench/ops.py --state=FILE` wrote on that device. Out: of each kind of case how
far `tfgen predict` is from the times: median of the absolute errors, and the worst case. TFGEN names the command (default: ./tfgen).
Refuses cases of compare.py that are neither products nor decode blocks, and drawn ones without a time: they are counted and named."""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(TOP, "bench"))
import drawn  # noqa: E402

PRODUCT = re.compile(r"product (?P<M>\d+)x(?P<N>\d+)x(?P<K>\d+)$")
DECODE = re.compile(r"decode .*B(?P<B>\d+) L(?P<L>\d+) D(?P<D>\d+) H(?P<H>\d+)/(?P<KV>\d+)x(?P<hd>\d+) F(?P<F>\d+)$")


def predicted_us(spec, options, device):
    command = [os.environ.get("TFGEN", "./tfgen"), "predict", spec, *options, device, "--json"]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)[0]["predicted_seconds"] * 1e6


def drawn_command(row, folder):
    """(kind, spec, options) of a row of ops.py, or None where it has no time."""
    if "tfgen_us" not in row:
        return None
    case = drawn.case_of(row["seed"], row["index"])
    return f"drawn {case.kind}", drawn.write(folder, case), drawn.options_of(case)


def named_command(row):
    """The same for a row of compare.py; None if it is neither a product nor a decode block."""
    product, decode = PRODUCT.match(row["case"]), DECODE.match(row["case"])
    if not product and not decode:
        return None
    options = [f"--dtype={row['dtype']}", "--dim=" + ",".join(f"{n}={v}" for n, v in (product or decode).groupdict().items())]
    return ("products" if product else "drawn decode blocks" if "drawn" in row["case"] else "decode blocks",
            "tests/h200/product.yaml" if product else "specs/llama-decode.yaml", options)


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]


def main(arguments):
    paths = [a for a in arguments if not a.startswith("--device-model=")]
    device = next((a for a in arguments if a.startswith("--device-model=")), "--device-model=h200")
    if not paths:
        sys.exit(__doc__)
    kinds, left = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for row in (row for path in paths for row in rows_of(path)):
            command = drawn_command(row, folder) if "seed" in row else named_command(row)
            if not command:
                left.append(row["case"])
                continue
            kind, us, guess = command[0], row["tfgen_us"][0], predicted_us(*command[1:], device)
            kinds.setdefault(kind, []).append((guess / us - 1, row["case"], guess, us))
    for kind, errors in [*kinds.items(), ("all", [e for own in kinds.values() for e in own])]:
        if not errors:
            continue
        error, name, guess, us = max(errors, key=lambda e: abs(e[0]))
        print(f"{kind}: {len(errors)}, median error {100 * statistics.median(abs(e[0]) for e in errors):.1f} %, worst {100 * error:+.0f} % "
              f"({name}: {guess:.1f} us, measured {us:.1f})")
    if left:
        print(f"{len(left)} cases of other kinds: {', '.join(left)}")


if __name__ == "__main__":
    main(sys.argv[1:])
