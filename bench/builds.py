"""This build of tfgen beside another one, in one process: `compare.py --other=FOLDER`, where the other is called `before`. Needs no
PyTorch.

Both libraries lie in the process with what they link (ctypes loads them with RTLD_LOCAL, and libtfgen.so exports nothing but its own API,
whose structs say how large they are), each with the templates, devices and wisdom that were built into it. They share the kernel cache,
where each finds what it compiled by its own source."""
import os
from statistics import geometric_mean

TOLERANCE = 0.03  # two copies of one build differ by up to this: their workspaces and weights lie at other addresses


def build_of(folder):
    """Variables that name the build of a folder: a checkout that is built, or what prepare_compare.sh makes."""
    worker = os.path.abspath(os.path.join(folder, "tfgen-worker"))
    for part in ("", "lib"):
        library = os.path.abspath(os.path.join(folder, part, "libtfgen.so"))
        if os.path.exists(library) and os.path.exists(worker):
            return {"TFGEN_LIBRARY": library, "TFGEN_WORKER": worker}
    raise FileNotFoundError(f"{folder}: a folder with tfgen-worker and libtfgen.so or lib/libtfgen.so is wanted")


def is_slower(row):
    """Beyond three standard errors and what two copies of one build differ by."""
    ratio, noise = row["over_before"]
    return ratio + 3 * noise < 1 - TOLERANCE


def before_line(row):
    mine, other = row["tfgen_us"], row["before_us"]
    return (f"{'SLOWER' if is_slower(row) else 'good  '} {row['case']:56s} {row['dtype']:5s} now {mine[0]:9.2f} us ({mine[1]:.2f}, "
            f"{mine[2]:.2f})  before {other[0]:9.2f} us ({other[1]:.2f}, {other[2]:.2f})  {row['over_before'][0]:6.3f}x "
            f"(+-{row['over_before'][1]:.3f})")


def before_table(rows):
    """What came of all, in a few lines."""
    raced = sorted((r for r in rows if r.get("over_before")), key=lambda r: r["over_before"][0])
    if not raced:
        return "nothing was raced with the other build"
    ratios = [r["over_before"][0] for r in raced]
    slower = [r for r in raced if is_slower(r)]
    faster = sum(ratio - 3 * noise > 1 + TOLERANCE for ratio, noise in (r["over_before"] for r in raced))
    head = (f"{len(raced)} cases beside the other build: geometric mean {geometric_mean(ratios):.3f} times as fast, {faster} faster and "
            f"{len(slower)} slower by more than {100 * TOLERANCE:.0f} % and three standard errors; the lowest ten:")
    return "\n".join([head, *(f"  {before_line(r)}" for r in raced[:10]), *(f"  {before_line(r)}" for r in slower[10:])])
