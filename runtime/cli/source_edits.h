/* In: a folder of kernels written by `tfgen emit` and edited by hand; plans. Out: plans that run the edited sources; and the edits merged
 * into the sources of a plan that stores other values. Refuses (code_usage) a folder without a kernel of the plan, kernels emitted for
 * another target, and a folder whose plan.ir has other kernels, shapes or tiles. */
#ifndef TFGEN_CLI_SOURCE_EDITS_H
#define TFGEN_CLI_SOURCE_EDITS_H
#include "gen/gen.h"

typedef struct source_edit {
    const char *file; /* llama_qkv.hip */
    const char *before, *after;
} source_edit;

typedef struct source_edits {
    const char *folder;
    source_edit *list;
    int count;
} source_edits;

/* Replaces the plan's kernels by the edited ones; returns those that differ in more than #line. folder NULL: none. */
source_edits source_edits_apply(arena *a, const char *folder, plan *p);
/* Applies the edits to another plan of the same phases. Adds a sentence to `lost` for each change whose context was not found. */
void source_edits_merge(arena *a, const source_edits *edits, plan *p, text *lost);
/* Bails if `ran` is not `given`: its kernels spilled and were replanned, so the edits did not run. */
void source_edits_check(arena *a, const source_edits *edits, const plan *given, const plan *ran);
#endif
