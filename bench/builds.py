"""Compares this build of tfgen with another one, named `before`, in one process: `compare.py --other=FOLDER`. Needs no PyTorch.

Both libraries are loaded into the process (by ctypes with RTLD_LOCAL; libtfgen.so exports only its own API, whose structs carry their
size), each with the templates, devices and wisdom that were built into it. They share the kernel cache, whose keys include the source."""
import os
from statistics import geometric_mean

TOLERANCE = 0.03  # two copies of one build differ by up to this, as their workspaces and weights have different addresses


def build_of(folder):
    """Environment variables that select the build in a folder: a built checkout, or what prepare_compare.sh makes."""
    worker = os.path.abspath(os.path.join(folder, "tfgen-worker"))
    for part in ("", "lib"):
        library = os.path.abspath(os.path.join(folder, part, "libtfgen.so"))
        if os.path.exists(library) and os.path.exists(worker):
            return {"TFGEN_LIBRARY": library, "TFGEN_WORKER": worker}
    raise FileNotFoundError(f"{folder}: has no tfgen-worker and libtfgen.so or lib/libtfgen.so")


def is_slower(row):
    """Slower by more than three standard errors and by more than TOLERANCE."""
    ratio, noise = row["over_before"]
    return ratio + 3 * noise < 1 - TOLERANCE


def before_line(row):
    mine, other = row["tfgen_us"], row["before_us"]
    return (f"{'SLOWER' if is_slower(row) else 'good  '} {row['case']:56s} {row['dtype']:5s} now {mine[0]:9.2f} us ({mine[1]:.2f}, "
            f"{mine[2]:.2f})  before {other[0]:9.2f} us ({other[1]:.2f}, {other[2]:.2f})  {row['over_before'][0]:6.3f}x "
            f"(+-{row['over_before'][1]:.3f})")


def before_table(rows):
    """A summary of all cases, in a few lines."""
    timed = sorted((r for r in rows if r.get("over_before")), key=lambda r: r["over_before"][0])
    if not timed:
        return "no case was timed beside the other build"
    ratios = [r["over_before"][0] for r in timed]
    slower = [r for r in timed if is_slower(r)]
    faster = sum(ratio - 3 * noise > 1 + TOLERANCE for ratio, noise in (r["over_before"] for r in timed))
    head = (f"{len(timed)} cases beside the other build: geometric mean {geometric_mean(ratios):.3f} times as fast, {faster} faster and "
            f"{len(slower)} slower by more than {100 * TOLERANCE:.0f} % and three standard errors; the lowest ten:")
    return "\n".join([head, *(f"  {before_line(r)}" for r in timed[:10]), *(f"  {before_line(r)}" for r in slower[10:])])
