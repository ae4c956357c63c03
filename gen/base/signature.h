/* Makes the signature of a phase: one word that says what it computes, independent of the spec, of names and of the number of rows.
 *
 *   gemm(linear(bf16[2048],bf16[8192,2048])/fold->f32[8192]+...+silu+mul!)
 *
 * It lists the ops in order, each with its operands from outside the phase, its attributes (heads, a window, a folded weight), its result's
 * type if that differs from the previous op's, and `!` if the result is stored. A type has all axes of a weight, heads and head size of a
 * cache, and the last axis of any other value. The numbers of rows and keys are kept apart (phase_size), so that a tile tuned at one size
 * serves nearby sizes. */
#ifndef TFGEN_GEN_SIGNATURE_H
#define TFGEN_GEN_SIGNATURE_H
#include "ir/ir.h"

/* A signature that an older tfgen may have written, with the name that its family has today (ir/former.def). */
const char *signature_today(arena *a, const char *signature);
const char *phase_signature(arena *a, const ir_graph *p, const ir_phase *phase);

/* Rows and keys at the graph's own dims. keys: tokens that the phase's attention may see; 0: it has no attention. */
typedef struct phase_size {
    long long rows, keys;
} phase_size;
phase_size phase_size_of(arena *a, const ir_graph *p, const ir_phase *phase);
#endif
