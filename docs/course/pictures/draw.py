#!/usr/bin/env python3
"""usage: draw.py

Writes the pictures of the course, SVG files beside this one, from numbers of the lessons: where those of a lesson change, change them here.
`tfgen trace specs/llama-block.yaml --target=sm_90a --seconds=0 -q --svg=FILE` writes 09-trace.svg.
"""

import html
import math
import os
from decimal import ROUND_HALF_UP, Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH = 480
LIGHT = dict(
    paper="#fbfbfa", ink="#1a1d21", dim="#5a626c", line="#d9dce0", band="#eef1f5", a="#2f62a8", b="#b04c14", c="#1f7a48", d="#8a4fbf"
)
DARK = dict(
    paper="#121417", ink="#e6e8ea", dim="#a2abb5", line="#343a41", band="#23282e", a="#7fb0f5", b="#f2935c", c="#69c493", d="#c59af0"
)


def rules(of):
    fills = "".join(f".{n}{{fill:{of[n]}}}.s{n}{{stroke:{of[n]}}}" for n in ("ink", "dim", "line", "band", "a", "b", "c", "d"))
    return f"svg{{background:{of['paper']}}}text{{fill:{of['ink']}}}text.on{{fill:{of['paper']}}}{fills}"


def rounded(value, digits):
    return str(Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


class Picture:
    def __init__(self, name, title):
        self.name, self.title, self.parts, self.low = name, title, [], 0

    def add(self, part, low):
        self.parts.append(part)
        self.low = max(self.low, low)

    def text(self, x, y, words, kind="", anchor="start"):
        self.add(f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{html.escape(words)}</text>', y + 6)

    def box(self, x, y, w, h, kind="band", words="", on=""):
        self.add(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="3"/>', y + h)
        if words:
            self.text(x + w / 2, y + h / 2 + 4.5, words, on, "middle")

    def line(self, x1, y1, x2, y2, kind="sdim", extra=""):
        self.add(f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" {extra}/>', max(y1, y2))

    def arrow(self, x1, y1, x2, y2, kind="dim"):
        a = math.atan2(y2 - y1, x2 - x1)
        at = [(x2 + 7 * math.cos(a + t), y2 + 7 * math.sin(a + t)) for t in (2.7, -2.7)]
        self.line(x1, y1, x2, y2, "s" + kind, 'stroke-width="1.5"')
        self.add(f'<path class="{kind}" d="M{x2:g} {y2:g}L{at[0][0]:.1f} {at[0][1]:.1f}L{at[1][0]:.1f} {at[1][1]:.1f}z"/>', max(y1, y2))

    def bar(self, x, y, room, value, most, name, words, kind):
        self.text(x - 8, y + 14, name, "", "end")
        self.box(x, y, max(1, value / most * room), 19, kind)
        self.text(x + value / most * room + 6, y + 14, words)

    def bars(self, y, unit, rows, digits=1, left=130, most=None):
        """Rows are (name, value, kind, what is written behind the value); below them an axis with its unit."""
        most, room = most or max(r[1] for r in rows), WIDTH - left - 120
        top = y
        for name, value, kind, *words in rows:
            self.bar(left, y, room, value, most, name, rounded(value, digits) + "".join(words), kind)
            y += 27
        step = 10 ** math.floor(math.log10(most))
        step *= 0.25 if most / step < 1.5 else 0.5 if most / step < 3 else 1 if most / step < 6 else 2
        for i in range(int(most / step) + 1):
            x = left + i * step / most * room
            self.line(x, top - 3, x, y, "sline")
            self.text(x, y + 15, f"{i * step:g}", "dim small", "middle")
        self.text(left, y + 31, unit, "dim")
        self.parts.sort(key=lambda p: 'class="sline"' not in p)
        return y + 45

    def write(self):
        style = (
            "text{font:13px system-ui,sans-serif}.head{font-weight:600}.small{font-size:11px}.code{font-family:ui-monospace,monospace}"
            ".none{fill:none}"
        )
        out = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.low + 10:g}" width="{WIDTH}" role="img" '
            f'aria-label="{html.escape(self.title)}">\n<title>{html.escape(self.title)}</title>\n<style>{style}{rules(LIGHT)}'
            f"@media (prefers-color-scheme:dark){{{rules(DARK)}}}</style>\n" + "\n".join(self.parts) + "\n</svg>\n"
        )
        with open(os.path.join(HERE, self.name + ".svg"), "w", encoding="utf-8") as file:
            file.write(out)


def chart(name, title, head, unit, rows, **how):
    p = Picture(name, title)
    p.text(12, 22, head, "head")
    p.bars(38, unit, rows, **how)
    p.write()


def traffic():
    p = Picture("01-traffic", "Two kernels move six tensors; the fused kernel moves four.")
    p.text(12, 22, "one kernel for each operation: six tensors cross memory", "head")
    for i, name in enumerate(("x", "y", "sum", "z", "prod")):
        p.box(12 + i * 94, 36, 80, 28, "band", name)
    p.box(60, 112, 130, 32, "a", "add", "on head"), p.box(290, 112, 130, 32, "a", "mul", "on head")
    p.arrow(52, 64, 92, 112), p.arrow(146, 64, 126, 112), p.arrow(166, 112, 226, 66, "b")
    p.arrow(250, 64, 318, 112), p.arrow(334, 64, 350, 112), p.arrow(390, 112, 426, 66, "b")
    p.text(12, 184, "one kernel: four; the sum stays in a register", "head")
    for i, name in enumerate(("x", "y", "z", "prod")):
        p.box(12 + i * 118, 198, 96, 28, "band", name)
    p.box(110, 274, 220, 32, "c", "add, then mul", "on head")
    p.arrow(60, 226, 140, 274), p.arrow(178, 226, 190, 274), p.arrow(296, 226, 250, 274), p.arrow(300, 274, 404, 228, "b")
    p.text(12, 330, "arrows down read, arrows up write; a tensor is 16.8 MB", "dim")
    p.write()


def fused_time():
    chart(
        "01-time",
        "Predicted times on an H200: 26.7 us for two kernels, 17.3 us for one.",
        "predicted on an H200",
        "us",
        [("two kernels", 26.71, "b", ", 100.7 MB"), ("one kernel", 17.26, "a", ", 67.1 MB"), ("floor of one", 13.98, "c")],
    )


def roof():
    p = Picture("02-roofline", "The roofline of an H200 and a product of 1 to 4096 rows; the ridge is at 206 FLOP per byte.")
    left, top, right, bottom = 56, 40, 420, 250
    X = lambda i: left + math.log10(i) / 4 * (right - left)
    Y = lambda r: bottom - (math.log10(r) - 12) / 3.2 * (bottom - top)
    p.text(12, 22, "TFLOP/s", "dim")
    for e in (0, 1, 2, 3):
        p.line(left, Y(10 ** (12 + e)), right, Y(10 ** (12 + e)), "sline")
        p.text(left - 6, Y(10 ** (12 + e)) + 4, f"{10 ** e}", "dim small", "end")
    for e in range(5):
        p.line(X(10**e), top, X(10**e), bottom, "sline")
        p.text(X(10**e), bottom + 16, f"{10 ** e}", "dim small", "middle")
    p.line(X(1), Y(4.8e12), X(206), Y(989e12), "sa", 'stroke-width="3"')
    p.line(X(206), Y(989e12), X(10**4), Y(989e12), "sa", 'stroke-width="3"')
    p.text(X(2.2), Y(6.5e13), "4.8 TB/s"), p.text(X(300), Y(989e12) - 8, "989 TFLOP/s")
    p.line(X(206), Y(989e12), X(206), bottom, "sdim", 'stroke-dasharray="4 3"')
    p.text(X(206), bottom + 32, "206", "", "middle")
    for rows, intensity, seconds, dx in (
        (1, 1.0, 9.16e-6, 8),
        (16, 15.9, 9.69e-6, 8),
        (64, 62.1, 12.03e-6, 8),
        (256, 227.6, 17.29e-6, 8),
        (1024, 683, 53.27e-6, -16),
        (4096, 1365, 213.29e-6, 8),
    ):
        rate = 2 * rows * 4096**2 / seconds
        p.add(f'<circle class="b" cx="{X(intensity):.1f}" cy="{Y(rate):.1f}" r="5"/>', 0)
        p.text(X(intensity) + dx, Y(rate) + 16, f"{rows}")
    p.text(left, bottom + 50, "FLOP per byte; dots: predicted, with their number of rows", "dim")
    p.write()


def rows_time():
    times = ((1, 9.16, 7.0), (16, 9.69, 7.05), (64, 12.03, 7.21), (256, 17.29, 8.69), (1024, 53.27, 34.74))
    chart(
        "02-rows",
        "Up to 64 rows a product's time hardly changes; from 1024 on it grows with the rows.",
        "one product by its number of rows, predicted on an H200",
        "us",
        [(f"{r} rows" if r > 1 else "1 row", t, "a" if t < 40 else "b", f", floor {f:.1f}") for r, t, f in times],
        left=90,
        most=62,
    )


def team():
    p = Picture(
        "03-team", "A row of 2048 numbers lies in the registers of 64 threads, 32 numbers each; each adds up its squares, then all meet."
    )
    p.text(12, 22, "a row of 2048 numbers, a team of 64 threads", "head")
    for i in range(8):
        p.box(12 + i * 57, 36, 53, 26, "a" if i < 7 else "band", "32" if i != 6 else "...", "on head" if i < 7 else "")
    p.parts.pop(), p.parts.pop()
    p.box(12 + 7 * 57, 36, 53, 26, "a", "32", "on head")
    for i in range(8):
        p.arrow(38 + i * 57, 64, 38 + i * 57, 88)
        p.text(38 + i * 57, 104, "..." if i == 6 else f"{63 if i == 7 else i}", "dim", "middle")
        p.arrow(38 + i * 57, 112, 238 + (i - 3.5) * 12, 148)
    p.text(12, 132, "thread", "dim")
    p.box(140, 150, 200, 28, "b", "sum of 2048 squares", "on head")
    p.text(12, 204, "The row is read from memory once. The second pass, which scales it,")
    p.text(12, 222, "takes its numbers from registers.")
    p.write()


def threads():
    times = {"64 threads": 17.41, "128": 17.73, "256": 18.21, "512": 20.67, "1024": 20.90, "floor": 6.99}
    chart(
        "03-threads",
        "Measured on an H200: 17.4 us with 64 threads per workgroup, 20.9 us with 1024; the floor is 7.0 us.",
        "RMSNorm of 2048 rows of 2048, measured on an H200",
        "us",
        [(name, time, "c" if name == "floor" else "a") for name, time in times.items()],
    )


def register_file():
    p = Picture("04-register-file", "512 registers per lane hold four waves of 104 registers, or eight of 54.")
    for y, registers, waves, words in (
        (36, 104, 4, "one wave per row: 104 registers, 4 waves"),
        (110, 54, 8, "four waves per row: 54 registers (56 are allocated), 8 waves"),
    ):
        p.text(12, y - 12, words, "head")
        p.box(12, y, 456, 30, "band")
        given = -(-registers // 8) * 8
        for i in range(waves):
            p.box(12 + i * given / 512 * 456, y, given / 512 * 456 - 2, 30, "a", f"{given}", "on")
    p.text(12, 164, "the whole bar is what a SIMD has: 512 registers per lane", "dim")
    p.write()


def occupancy():
    p = Picture("04-waves", "Waves per SIMD over registers: eight up to 64 registers, four at 128, one beyond 256.")
    left, top, right, bottom = 50, 40, 456, 190
    X, Y = (lambda r: left + r / 512 * (right - left)), (lambda w: bottom - w / 8 * (bottom - top))
    p.text(12, 16, "waves per SIMD of CDNA 3", "dim")
    for w in (0, 2, 4, 6, 8):
        p.line(left, Y(w), right, Y(w), "sline"), p.text(left - 8, Y(w) + 4, f"{w}", "dim small", "end")
    before = None
    for r in range(8, 513, 8):
        w = min(8, 512 // r)
        if before is not None and w != before:
            p.line(X(r - 8), Y(before), X(r - 8), Y(w), "sa", 'stroke-width="2.5"')
        p.line(X(r - 8), Y(w), X(r), Y(w), "sa", 'stroke-width="2.5"')
        before = w
    for r in (0, 64, 128, 256, 384, 512):
        p.text(X(r), bottom + 17, f"{r}", "dim small", "middle")
    for r, words in ((54, "54: 8 waves"), (104, "104: 4 waves")):
        w = min(8, 512 // (-(-r // 8) * 8))
        p.add(f'<circle class="b" cx="{X(r):.1f}" cy="{Y(w):.1f}" r="5"/>', 0)
        p.text(X(r) + 22, Y(w) - 6, words)
    p.text(left, bottom + 35, "registers per lane", "dim")
    p.write()


def tile():
    p = Picture("05-tile", "A tile of the result needs a band of rows of x and a band of columns of w, both in full length.")
    p.box(12, 150, 130, 130), p.box(12, 190, 130, 34, "a", "128 rows", "on head")
    p.box(190, 12, 200, 110), p.box(256, 12, 66, 110, "b", "256", "on head")
    p.box(190, 150, 200, 130), p.box(256, 190, 66, 34, "c", "tile", "on head")
    p.text(16, 168, "x", "head"), p.text(196, 32, "w", "head"), p.text(196, 168, "result", "head")
    p.arrow(146, 207, 250, 207), p.arrow(289, 126, 289, 184)
    p.text(12, 306, "Each of the 32 x 16 tiles of 4096 x 4096 results reads its two bands in full.", "")
    p.text(12, 324, "Together they request 16 times the bytes of x and w.", "")
    p.write()


def asked():
    chart(
        "05-asked",
        "Bytes that all tiles requested: 3.25 GB with 128 x 64, 1.64 GB with 128 x 256; the tensors have 0.10 GB.",
        "4096 x 4096 x 4096 in bf16: bytes that all tiles request",
        "GB",
        [("128 x 64", 3.2548, "b"), ("128 x 256", 1.6442, "a"), ("the tensors", 0.1007, "c")],
        digits=2,
    )


def interleaved():
    p = Picture("06-interleaved", "Each 16 columns of gate are packed beside 16 of up, so one thread holds both operands of the mul.")
    p.text(12, 22, "two weights, packed as one", "head")
    for i in range(8):
        p.box(12 + i * 57, 36, 55, 30, "b" if i % 2 else "a", ("up " if i % 2 else "gate ") + f"{i // 2}", "on")
    p.text(12, 86, "a block is 16 columns", "dim")
    p.arrow(40, 94, 150, 130), p.arrow(97, 94, 190, 130)
    p.box(110, 132, 250, 32, "c", "one thread: silu(gate) * up", "on head")
    p.arrow(236, 164, 236, 196)
    p.box(170, 198, 130, 28, "band", "product, stored")
    p.text(12, 250, "Neither gate nor up is ever written.")
    p.write()


def bound():
    p = Picture("06-bound", "Fusion saves 6 per cent of the time with 2048 rows and 20 per cent with 4.")
    p.text(12, 22, "predicted on an H200: 2048 rows, bound by products", "head")
    y = p.bars(38, "us", [("four kernels", 906.25, "b"), ("one kernel", 854.80, "a")], digits=0)
    p.text(12, y + 18, "4 rows, bound by memory", "head")
    p.bars(y + 34, "us", [("four kernels", 36.55, "b"), ("one kernel", 29.24, "a")])
    p.write()


def layouts():
    p = Picture(
        "07-layouts", "In row-major order the numbers that a column's product needs lie far apart; in packed order they lie side by side."
    )
    for n, (x, name, order) in enumerate(
        (
            (12, "row-major", lambda r, c: r * 4 + c),
            (172, "column-major", lambda r, c: c * 4 + r),
            (332, "packed", lambda r, c: (r // 2) * 8 + c * 2 + r % 2),
        )
    ):
        p.text(x, 22, name, "head")
        for r in range(4):
            for c in range(4):
                p.box(x + c * 34, 34 + r * 30, 32, 28, "a" if c == 1 else "band", f"{order(r, c)}", "on head" if c == 1 else "")
    p.text(12, 176, "Each number is a place in memory. One lane multiplies the coloured column.")
    p.text(12, 194, "In packed order, here for lanes of two numbers, the next numbers")
    p.text(12, 212, "of a tile follow each other, whichever lane needs them.")
    p.write()


def weights_time():
    times = {"row-major": 2.878, "column-major": 3.282, "transposed": 0.690, "packed": 0.691, "floor": 0.556}
    chart(
        "07-time",
        "Measured on an H200: 2.9 and 3.3 ms with weights that are inputs, 0.69 ms packed.",
        "SwiGLU in f32, measured on an H200",
        "ms",
        [(name, time, "c" if name == "floor" else "b" if time > 1 else "a") for name, time in times.items()],
        digits=2,
    )


def walk():
    p = Picture("08-walk", "A tile of queries goes over the keys; it keeps a running maximum, a running sum and the result so far.")
    p.text(12, 22, "one tile of queries goes over the keys", "head")
    p.box(12, 70, 70, 60, "a", "queries", "on head")
    for i in range(6):
        p.box(110 + i * 60, 70, 56, 60, "b" if i == 2 else "band", f"keys {i}", "on head" if i == 2 else "")
    p.arrow(110, 52, 466, 52)
    p.arrow(258, 130, 258, 162)
    p.box(110, 164, 296, 30, "c", "maximum, sum, result so far", "on head")
    p.text(12, 222, "A larger maximum rescales the sum and the result.")
    p.text(12, 240, "The scores of a tile live in registers and are never stored.")
    p.write()


def scores():
    rows = []
    for keys, stored, tiled in ((128, 33.6, 16.8), (256, 100.7, 33.6), (512, 335.5, 67.1)):
        rows += [(f"S={keys}, stored", stored, "b"), ("tiled", tiled, "a")]
    chart(
        "08-scores",
        "Bytes with and without a stored matrix of scores: at 512 keys 335 MB against 67 MB.",
        "bytes that cross memory, B=4, 32 heads of 64, f32",
        "MB",
        rows,
        digits=0,
    )


def levels():
    p = Picture("09-levels", "Sixteen launches at level none, nine at ops, six at tile.")
    y = 22
    for level, count, size, kind in (
        ("none: one launch per op", 16, 1046.4, "b"),
        ("ops: elementwise ops join products", 9, 660.2, "d"),
        ("tile: norms, ropes and caches, too", 6, 543.0, "a"),
    ):
        p.text(12, y, level, "head"), p.text(468, y, f"{count} launches, {size:g} MB", "", "end")
        for i in range(count):
            p.box(12 + i * 28.5, y + 10, 26, 24, kind)
        y += 64
    p.write()


def versions():
    p = Picture("11-versions", "Four versions of a block: 16 launches move 72 MB, 9 move 40, 6 and 1 move 33.")
    y = 22
    for level, count, size, kind in (("none", 16, 72.4, "b"), ("ops", 9, 39.8, "d"), ("tile", 6, 32.6, "a"), ("block", 1, 32.5, "c")):
        p.text(12, y, level, "head"), p.text(468, y, f"{count} launch{'es' if count > 1 else ''}, {size:g} MB", "", "end")
        for i in range(count):
            p.box(12 + i * 28.5, y + 10, 26 if count > 1 else 168.5, 24, kind)
        y += 60
    p.write()


PHASES = ("qkv", "attention", "join", "o", "gate, up", "down")


def phases():
    """Ends of phases in us; the last number is that of a call in a graph."""
    p = Picture("11-phases", "A decode step takes 37.9 us in five launches and 48.6 in one.")
    left, room, most = 12, 456, 50
    y = 22
    for head, kinds, ends, call in (
        ("five launches (tile)", "abcab", (5.5, 11.0, 13.5, 29.3, 37.4), 37.9),
        ("one launch (block)", "abdcab", (5.6, 9.9, 14.1, 17.2, 36.2, 44.7), 48.6),
    ):
        p.text(left, y, head, "head"), p.text(468, y, f"{call} us a call", "", "end")
        names, at = [n for n in PHASES if n != "join" or len(ends) == 6], 0
        for i, (name, kind, end) in enumerate(zip(names, kinds, ends)):
            p.box(left + at / most * room, y + 10, (end - at) / most * room - 1.5, 24, kind)
            p.text(left + (at + end) / 2 / most * room, y + 50 + i % 2 * 14, name, "small", "middle")
            at = end
        p.box(left + at / most * room, y + 10, max(2, (call - at) / most * room), 24, "dim")
        y += 92
    for t in range(0, most + 1, 10):
        x = left + t / most * room
        p.line(x, y - 12, x, y - 6, "sline"), p.text(x, y + 8, f"{t}", "dim small", "middle")
    p.text(left, y + 26, "us; grey: the rest of the call, before the first workgroup", "dim")
    p.text(left, y + 43, "and after the last, drawn together at the end", "dim")
    p.write()


def decode_bytes():
    chart(
        "10-bytes",
        "Bytes of a decode step by launch: gate_up has half of them; keys and values are 2 per cent.",
        "Llama-8B, one layer, one token: 445 MB",
        "MB",
        [
            ("qkv", 50.4, "a"),
            ("attention", 8.4, "b", ": keys and values"),
            ("o", 33.6, "a"),
            ("gate_up", 234.9, "a"),
            ("down", 117.5, "a"),
        ],
        digits=0,
    )


def batch():
    times = ((1, 111.89), (4, 120.17), (16, 148.29), (64, 249.56))
    chart(
        "10-batch",
        "A step of 64 sequences takes 2.2 times as long as one of 1: per token 3.9 us in place of 112.",
        "predicted time of a step, by sequences",
        "us",
        [(f"{b} sequence{'s' if b > 1 else ''}", t, "a", f": {t / b:.3g} a token") for b, t in times],
        digits=0,
    )


if __name__ == "__main__":
    for draw in (
        traffic,
        fused_time,
        roof,
        rows_time,
        team,
        threads,
        register_file,
        occupancy,
        tile,
        asked,
        interleaved,
        bound,
        layouts,
        weights_time,
        walk,
        scores,
        levels,
        decode_bytes,
        batch,
        versions,
        phases,
    ):
        draw()
