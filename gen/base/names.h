/* In: names from specs. Out: C++ identifiers, the same for every kernel of a plan.
 *
 * An identifier that a name of a spec is part of ends in a mark, by its kind. Nothing else that a page may say ends in one: no identifier
 * of the templates or of the emitter (tests/gen/test_names.c reads them all), no keyword, macro or function of a compiler or its headers.
 * So whatever a spec calls its values, they hide and redefine nothing. What is ahead of the mark is a stem: letters, digits and single
 * underscores, a letter first, no underscore last. No mark ends in another, so identifiers of two kinds differ, and stems of one kind do.
 */
#ifndef TFGEN_GEN_NAMES_H
#define TFGEN_GEN_NAMES_H
#include "ir/ir.h"

typedef enum name_kind {
    name_value,    /* gate_: values where they are locals, arguments and fields; dims; kernels, whose stem is the launch's name */
    name_struct,   /* llama_gate_up_spec */
    name_table,    /* llama_qkv_q_table: frequencies of a rope */
    name_epilogue, /* gate_raw_epilogue: of the columns of a product */
    name_function, /* act_1_called: a chain of ops (gen/emit/chain.c) */
    name_kind_count
} name_kind;
extern const char *const name_marks[name_kind_count];

typedef struct naming {
    const char **values; /* stems, by value id, no two the same; nor the same as a dim's */
    dim_table dims;      /* the program's, with names that are identifiers */
} naming;

naming names_choose(arena *a, const ir_program *p);
const char *name_marked(arena *a, const char *stem, name_kind kind);
/* h2.ss -> h2_ss, __x_ -> x_x: what is no letter or digit becomes an underscore, two of which become one; x is put ahead of a digit or an
 * underscore. Different names may have one stem. */
const char *name_stem(arena *a, const char *name);
#endif
