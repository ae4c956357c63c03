/* In: names from specs. Out: C++ identifiers that clash with no keyword, macro, template member or each other; the same
 * for every kernel of a plan. Refuses: nothing. A name that needs no change keeps its spelling; others get underscores.
 */
#ifndef TFGEN_GEN_NAMES_H
#define TFGEN_GEN_NAMES_H
#include "ir/ir.h"

typedef struct naming {
    const char **values; /* by value id */
    dim_table dims;      /* the program's, with names that are identifiers */
} naming;

naming names_choose(arena *a, const ir_program *p);
/* llama-block -> llama_block; a leading digit gets an underscore. */
const char *name_identifier(arena *a, const char *name);
#endif
