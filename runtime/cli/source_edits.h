/* In: a folder of kernels that `tfgen emit` wrote and somebody edited; plans. Out: plans that run the edited sources; and the edits made
 * again in the sources of a plan that differs from the first one in what it stores. Refuses (code_usage) a folder without a kernel of the
 * plan, kernels that were emitted for another target, and a folder whose plan.ir has other kernels, shapes or tiles. */
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

/* Puts the edited kernels in place of the plan's; the list is of those that differ in more than #line. No folder (NULL): none. */
source_edits source_edits_apply(arena *a, const char *folder, plan *p);
/* The same edits in another plan of the same phases. Adds a sentence to `lost` for each change whose surroundings are not there. */
void source_edits_merge(arena *a, const source_edits *edits, plan *p, text *lost);
/* Bails when `ran` is another plan: its kernels spilled, and the edited ones are of no use to those that took their place. */
void source_edits_check(arena *a, const source_edits *edits, const plan *given, const plan *ran);
#endif
