/* Makes C++ identifiers from the names in a spec, the same in every kernel of a plan.
 *
 * Such an identifier consists of a stem and a suffix, its mark, which depends on its kind. No other identifier in a kernel source ends in a
 * mark: none that templates or emitter use (tests/gen/test_names.c reads them all), no keyword, no macro or function of a compiler or its
 * headers. So names of a spec never hide or redefine anything. A stem has letters, digits and single underscores, begins with a letter and
 * does not end in an underscore. No mark is a suffix of another, so identifiers of different kinds differ. */
#ifndef TFGEN_GEN_NAMES_H
#define TFGEN_GEN_NAMES_H
#include "gen/gen.h"

typedef enum name_kind {
    name_value,    /* gate_: a value as a local, an argument or a field; a dim; a kernel, whose stem is the launch's name */
    name_struct,   /* llama_gate_up_spec: the spec struct of a phase */
    name_table,    /* llama_qkv_q_table: the frequencies of a rope */
    name_epilogue, /* gate_raw_epilogue: the epilogue of one segment of a product's columns */
    name_fetch,    /* gate_raw_fetch: loads what that epilogue reads, ahead of the products */
    name_function, /* act_1_called: a function for a chain of ops (gen/emit/chain.c) */
    name_words,    /* gate_words_at: where a value's words begin (gen/plan/words.h) */
    name_kind_count
} name_kind;
extern const char *const name_marks[name_kind_count];

typedef struct naming {
    const char **values; /* stems by value id, all different and different from those of dims */
    dim_table dims;      /* the graph's, with names that are identifiers */
} naming;

naming names_choose(arena *a, const ir_graph *p);
const char *name_marked(arena *a, const char *stem, name_kind kind);
/* The stem of a name: h2.ss -> h2_ss, __x_ -> x_x. Each run of characters other than letters and digits becomes one underscore, which is
 * dropped at the end. A name that does not begin with a letter gets an x in front. Different names may have the same stem. */
const char *name_stem(arena *a, const char *name);
/* The stem of a phase's struct: the launch's name, llama_qkv. In a launch of several phases the phase's number and name follow: llama_q_2_k
 * for phase k, the second of llama_q. */
const char *name_phase_stem(arena *a, const launch *l, const launch_phase *work);
#endif
