/* Rewrites the fused graph of a plan, in which each phase has a program, so that rows of operands are aligned to 16 bytes where programs
 * need that. Such an operand is stored with padded rows, or copied. Also copies A of a matmul from [K, M] to [M, K] if the program reads
 * only [M, K]. */
#ifndef TFGEN_GEN_ALIGN_H
#define TFGEN_GEN_ALIGN_H
#include "gen/program/program.h"
#include "ir/graph/edit.h"

void align_operands(editor *e);
/* True if program `of` needs rows of operands to begin at multiples of 16 bytes (or of its row_bytes), and some do not. */
bool alignment_is_wanted(const problem *p, const program *of);
bool rows_lie_as_needed(arena *a, const program *of, const ir_value *v); /* rows of v begin at multiples of what `of` needs */
bool rows_of_a_are_wanted(const problem *p, const program *of); /* true if A is [K, M] and `of` reads only [M, K] */
#endif
