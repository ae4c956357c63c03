#!/usr/bin/env python3
"""In: a copy of this tree. Out: templates in it with delays: in a launch of several phases each warp of an NVIDIA GPU is delayed at random
before and after a wait, after a tile, before it sets a mark, and when its workgroup leaves. One time in 16 it is delayed by up to 2 us, one
time in 8192 by up to 20 us; on other targets every warp pauses briefly at each place. Results must have the same bits as without delays
(soak.py). Refuses (exit 1) templates that lack a place to delay.

--impatient: also, a workgroup that waits for others to start closes the census at its second look. Then other workgroups take part than in
a launch whose workgroups all start in time, and results may differ from that launch's within rounding (soak.py --near).

usage: delays.py FOLDER [--impatient]"""
import os
import sys

LIST, SCOPE, CENSUS = "templates/frame/frame_list.h", "templates/isa/device_scope.h", "templates/frame/census.h"
PAUSE = 'DEV void pause() { asm volatile("nanosleep.u32 20;"); }\n#endif\n'
DELAY = '''#if defined(TF_TARGET_NVIDIA)
DEV void delay(unsigned place)
{
    unsigned now;
    asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(now)::"memory");
    unsigned x = (now ^ place * 0x9e3779b9u) + (blockIdx.x * 64 + threadIdx.x / 32) * 0x85ebca6bu;
    x = (x ^ x >> 15) * 0x2c1b3c6du, x = (x ^ x >> 12) * 0x297a2d39u, x ^= x >> 15;
    if (x % 16) return;
    const unsigned ns = x / 16 % 512 ? x >> 13 & 1023 : 10000;
    asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory");
}
#else
DEV void delay(unsigned) { pause(); }
#endif
'''
EDITS = [  # file, text, what takes its place
    (SCOPE, PAUSE, PAUSE + DELAY),
    (LIST, "                walk.look(a, index, shared);\n", "                walk.look(a, index, shared);\n                delay(1);\n"),
    (LIST, "                bool posts;\n", "                delay(2);\n                bool posts;\n"),
    (LIST, "                if (posts) device_release();", "                delay(3);\n                if (posts) device_release();"),
    (LIST, "                        if (sync.posts(p, w)) sync.post(p, w);",
     "                        if (sync.posts(p, w)) delay(4), sync.post(p, w);"),
    (LIST, "                if (posts && thread_index() == 0) sync.post(p, w);",
     "                if (posts && thread_index() == 0) delay(4), sync.post(p, w);"),
    (LIST, "    sync.leave(p, next);", "    delay(5);\n    sync.leave(p, next);"),
    (LIST, "        m.clear(F::phases, thread_index(), F::threads);",
     "        delay(6);\n        m.clear(F::phases, thread_index(), F::threads);"),
]
IMPATIENT = [(CENSUS, "patience = most_polls / 4096;", "patience = 1;")]


def main():
    impatient = sys.argv[2:] == ["--impatient"]
    if len(sys.argv) != 2 and not impatient:
        sys.exit(__doc__)
    for name, text, new in EDITS + (IMPATIENT if impatient else []):
        path = os.path.join(sys.argv[1], name)
        with open(path, encoding="utf-8") as file:
            old = file.read()
        if old.count(text) != 1:
            sys.exit(f"delays.py: {path} has this {old.count(text)} times, not once:\n{text}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(old.replace(text, new))


if __name__ == "__main__":
    main()
