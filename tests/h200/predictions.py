#!/usr/bin/env python3
"""usage: predictions.py FILE...

In: what `bench/compare.py few decode sweep --json=FILE` wrote on an H200. Out: of each kind of case how far `tfgen predict` is from the
times: median of the absolute errors, and the worst case. TFGEN names the command (default: ./tfgen). Refuses cases that are neither
products nor decode blocks: they are counted and named."""
import json
import os
import re
import statistics
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRODUCT = re.compile(r"product (?P<M>\d+)x(?P<N>\d+)x(?P<K>\d+)$")
DECODE = re.compile(r"decode .*B(?P<B>\d+) L(?P<L>\d+) D(?P<D>\d+) H(?P<H>\d+)/(?P<KV>\d+)x(?P<hd>\d+) F(?P<F>\d+)$")


def predicted_us(spec, dims):
    command = [os.environ.get("TFGEN", "./tfgen"), "predict", spec, "--dtype=bf16", "--device-model=h200", "--json",
               "--dim=" + ",".join(f"{n}={v}" for n, v in dims.items())]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)[0]["predicted_seconds"] * 1e6


def main(paths):
    if not paths:
        sys.exit(__doc__)
    kinds, left = {}, []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            cases = json.load(file)
        for case in cases:
            name, us = case["case"], case["tfgen_us"][0]
            product, decode = PRODUCT.match(name), DECODE.match(name)
            if not product and not decode:
                left.append(name)
                continue
            guess = predicted_us("tests/h200/product.yaml" if product else "specs/llama-decode.yaml", (product or decode).groupdict())
            kind = "products" if product else "drawn decode blocks" if "drawn" in name else "decode blocks"
            kinds.setdefault(kind, []).append((guess / us - 1, name, guess, us))
    for kind, errors in [*kinds.items(), ("all", [e for own in kinds.values() for e in own])]:
        error, name, guess, us = max(errors, key=lambda e: abs(e[0]))
        print(f"{kind}: {len(errors)}, median error {100 * statistics.median(abs(e[0]) for e in errors):.1f} %, worst {100 * error:+.0f} % "
              f"({name}: {guess:.1f} us, measured {us:.1f})")
    if left:
        print(f"{len(left)} cases of other kinds: {', '.join(left)}")


if __name__ == "__main__":
    main(sys.argv[1:])
