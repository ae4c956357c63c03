/* In: a phase. Out: what it computes, as one word: the same for the same work in any spec, under any names, at any number of rows.
 *
 *   gemm(linear(bf16[2048],bf16[8192,2048])/fold->f32[8192]+...+silu+mul!)
 *
 * Ops in their order, each with the operands that come from outside the phase, what makes it another one (heads, a window, a folded
 * weight), and its result's type where that is another one than before; `!` where it is stored. Weights have all axes, caches heads and
 * head size, everything else its last axis: what is left out are rows and keys, which are numbers apart, so that what was learned at one
 * length serves its neighbours. */
#ifndef TFGEN_GEN_SIGNATURE_H
#define TFGEN_GEN_SIGNATURE_H
#include "ir/ir.h"

/* One that an older tfgen wrote, with the name that its family has now (ir/former.def). */
const char *signature_today(arena *a, const char *signature);
const char *phase_signature(arena *a, const ir_program *p, const ir_phase *phase);

/* At the program's own dims. keys: of its attention; 0: it has none. */
typedef struct phase_size {
    long long rows, keys;
} phase_size;
phase_size phase_size_of(arena *a, const ir_program *p, const ir_phase *phase);
#endif
