#!/usr/bin/env python3
"""usage: tour.py [TFGEN]

In: docs/architecture.md and the command; ROOT in the environment names another tree. Out: each line in a block of that tour that is not in
the spec (YAML blocks) or not in the dumps of the tour's command line (other blocks; JSON is not checked). `...` in the tour stands for
omitted text; white space and places in the spec are ignored. Exit code 1: such lines, or a tour without a command line.
"""
import os, pathlib, re, subprocess, sys

ROOT = pathlib.Path(os.environ.get("ROOT", pathlib.Path(__file__).resolve().parent.parent))


def squeezed(text):
    text = re.sub(r"^#line [^\n]*$", "", text, flags=re.M)
    return re.sub(r"\s+", " ", re.sub(r"//|!\d+:\d+|#\d+\b", "", text)).strip()


def main(tfgen):
    text = (ROOT / "docs" / "architecture.md").read_text()
    command = re.search(r"`\./tfgen (\S+\.yaml) ([^`]*)--dump=STAGE`", text)
    if not command:
        sys.exit("tour: docs/architecture.md has no command line with --dump=STAGE")
    spec, options = command[1], command[2].split()
    printed = squeezed(subprocess.run([tfgen, spec, *options, "--dump=graph,ir,fuse,plan,source"], cwd=ROOT, capture_output=True, text=True,
                                      check=True).stdout)
    given, code = squeezed((ROOT / spec).read_text()), 0
    before = text[:command.start()].count("```") // 2  # blocks to skip: those ahead of the command line (the diagram of the stages)
    for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)[before:]:
        for line in block.split("\n") if kind != "json" else []:
            for part in map(squeezed, line.split("...")):
                if part not in (given if kind == "yaml" else printed):
                    print(f"docs/architecture.md has this, but {spec if kind == 'yaml' else 'tfgen'} has not: {part}")
                    code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "tfgen")))
