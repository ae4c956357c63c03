/* In: a phase. Out: its signature, one word that says what it computes: independent of the spec, of names and of the number of rows.
 *
 *   gemm(linear(bf16[2048],bf16[8192,2048])/fold->f32[8192]+...+silu+mul!)
 *
 * Ops in order, each with its operands from outside the phase, its attributes (heads, a window, a folded weight), its result's type where
 * that differs from the op before, and `!` if the result is stored. Types have all axes of weights, heads and head size of caches, else the
 * last axis. Rows and keys are kept apart (phase_size), so that a tile tuned at one size serves nearby sizes. */
#ifndef TFGEN_GEN_SIGNATURE_H
#define TFGEN_GEN_SIGNATURE_H
#include "ir/ir.h"

/* A signature that an older tfgen may have written, with today's name of its family (ir/former.def). */
const char *signature_today(arena *a, const char *signature);
const char *phase_signature(arena *a, const ir_graph *p, const ir_phase *phase);

/* At the graph's own dims. keys: tokens that its attention may see; 0: no attention. */
typedef struct phase_size {
    long long rows, keys;
} phase_size;
phase_size phase_size_of(arena *a, const ir_graph *p, const ir_phase *phase);
#endif
