/* In: a plan. Out: parts of spec structs. Private to gen/: what the emitters of the families share. An `emission` is
 * the state of one kernel's spec struct: its arguments in order of first use, and the phase at hand. */
#ifndef TFGEN_GEN_EMIT_H
#define TFGEN_GEN_EMIT_H
#include "gen/gen.h"
#include "gen/base/names.h"
#include "gen/emit/expression.h"
#include "gen/emit/writer.h"
#include "ir/program/segments.h"

enum { max_tables = 16 };

typedef struct value_facts value_facts;

typedef struct emission {
    arena *a;
    expression_pool *pool;
    const plan *plan;
    const naming *names;
    const ir_phase *phase;
    int pack, scratch, trace; /* the phase's among the plan's; trace: among scratches; -1: it has none */
    value_facts *facts;      /* by value id; the same for all phases, each of which finds its own */
    bool short_results;      /* of the whole program */
    const char *name;        /* the launch's, or that of what packs its weights: llama_qkv */
    const char *struct_name; /* llama_qkv_spec */
    phase_extent space;
    const ir_value *shape;   /* a value whose rows are the rows of the space */
    segment_list segments;   /* gemm */
    long long packed_length; /* gemm: elements of a row of its packed weight */
    argument *arguments;
    int argument_count, argument_capacity;
    bool loaded_arguments; /* they are variables x_, not fields p.x_ */
    writer tables;         /* constant tables that stand before the struct */
    int tables_made;
    bool rope_sized; /* some rotation has an attention factor */
    const ir_op *table_ops[max_tables];
    bool is_long;     /* chains of ops are functions (chain.c) */
    writer functions; /* these; members of the struct */
    struct called_function *called;
    int called_count, called_room;
} emission;

/* ---- access.c: arguments and addresses */
const expression *use_value(emission *e, const ir_value *v, bool written); /* p.x_, of v's root; registers the argument */
const expression *use_scratch(emission *e, int index, bool written);
void use_trace_of(emission *e); /* the argument in which the launch's trace is, where it has one */
const expression *use_packed(emission *e, int index, bool written);
const expression *use_next_packed(emission *e, int index); /* of the launch behind this one */
const expression *use_map(emission *e, const char *name, const tensor_box *box);
const expression *extent_c(emission *e, const extent *x); /* over p.; registers its dims */
void finish_arguments(emission *e);                       /* pointers, then dims; offsets and sizes */
unsigned argument_bytes(const argument *list, int count);
void write_arguments(emission *e, writer *w);           /* struct args { ... }; */
void write_offset_checks(const emission *e, writer *w); /* TF_LAYOUT(...); */

typedef struct view { /* where a value's rows lie in its root */
    const ir_value *root;
    long long offset, stride;
} view;
view view_of(arena *a, const ir_value *v);
/* Bytes that every row of v begins at a multiple of, 16 at most, where its storage does. */
long long value_alignment(arena *a, const ir_value *v);
/* Row of `operand` that goes with row `row` of a value of the shape of `of`. */
const expression *row_of(emission *e, const ir_value *operand, const ir_value *of, const expression *row);
/* Condition under which row `row` of `of` is the first that maps to its row of `operand`; NULL: always. */
const expression *first_row_condition(emission *e, const ir_value *operand, const ir_value *of, const expression *row);
const expression *address(emission *e, const ir_value *v, const expression *row, const expression *column, bool written);
int value_parts(const plan *p, const ir_value *v);               /* partial sums a row; 1 for plain values */
const expression *scaled(emission *e, const expression *row, long long stride); /* row * 64ll */

/* ---- value_facts.c: what the phase at hand makes of a value */
value_facts *facts_new(arena *a, const ir_program *p);
void facts_find(const emission *e);
bool results_have_16_bits(const plan *p); /* nothing that the caller gives or gets has more than 16 bits; nor what depends on it */
bool value_is_row_scalar(const emission *e, const ir_value *v); /* one number a row */
/* What v shows, where the phase makes that: an element of v is then the same thread's. Else v, which is read like any stored value. */
const ir_value *value_behind(const emission *e, const ir_value *v);
bool value_made_here(const emission *e, const ir_value *v);
int value_index_here(const emission *e, const ir_value *v); /* of its op in the phase; -1: not made here */
bool value_needs_row(const emission *e, const ir_value *v); /* depends on row scalars or a position */
bool op_has_position(const ir_op *op);
enum { function_cost = 10 }; /* of an op that computes an exponential or the like */
int op_cost(const ir_op *op, const ir_phase *phase, const target_info *target);
bool phase_is_long(const ir_phase *phase, const target_info *target); /* chains of its ops are functions that are called */

/* ---- evaluate.c: the value of IR values at a place, as C++ statements */
/* Where a value is evaluated: its own row and column. The column is base - shift. */
typedef struct place {
    const expression *row, *base;
    long long shift;
    const expression *guard; /* condition under which the columns exist; NULL: they do */
    const expression *left;  /* how many of the columns exist; NULL: all of them */
    const char *tag;         /* suffix of locals */
} place;

/* What a function may know of a row of a value, by a name. */
typedef struct knowledge {
    const ir_value *value;
    enum { known_scalar, known_columns, known_position, known_sequence, known_turn } what;
    const expression *row;
    const expression *column, *guard; /* of columns: those loaded under a condition serve no other */
    const ir_value *start;            /* of a position: what it counts from, or NULL */
} knowledge;

typedef struct known {
    knowledge key;
    const expression *name;
} known;

typedef struct kept_scalar { /* a field of context */
    const ir_value *value;
    const expression *row;
    const char *field;
} kept_scalar;

typedef struct kept { /* collected instead of evaluated: a wide value that does not depend on row scalars */
    const ir_value *value;
    place at;
    const char *field;
} kept;

typedef struct scope scope;
typedef struct kept_list {
    kept *items; /* wide: fields of element */
    int count, capacity;
    kept_scalar *scalars; /* row scalars that the dry run asked for */
    int scalar_count, scalar_capacity;
    scope *fields;     /* names of the scalars' fields */
    bool scalars_only; /* wide values are computed where they are used (epilogues) */
    bool loads_only;   /* of wide values only what is read from memory is kept: no step uses what is computed from it */
} kept_list;

/* What an epilogue's functions store wide, counted by a dry run. */
typedef struct put_count {
    int most;   /* by one function, of one half of its columns */
    bool loose; /* some store is not a piece of 16-bit neighbours */
} put_count;

struct scope {
    emission *e;
    writer *w;
    const char *lanes; /* V or W */
    long long whole;   /* loads at multiples of this many columns are aligned; 0: never */
    known *knowns;
    int known_count, known_capacity;
    const char **locals;
    int local_count, local_capacity;
    const expression *low, *high; /* columns of the two halves of a rotated pair, when the function has both */
    kept_list *collect;     /* a dry run that finds out what to keep */
    const char *slot;       /* epilogues: half of a block's columns that results are of; they go to `out` */
    put_count *puts;
    bool near; /* results have 16 bits: near_exp() and its like will do (templates/rows/rows.h) */
};

knowledge scalar_of(const ir_value *v, const expression *row);
knowledge columns_of(scope *s, const ir_value *v, const place *at);
knowledge position_of(const ir_op *op, const expression *row); /* of a rope's or kv_append's row */
knowledge sequence_of(const ir_op *op, const expression *row);
const expression *find_known(const scope *s, knowledge key); /* its name there; NULL: it has none */
void scope_know(scope *s, knowledge key, const expression *name);
const expression *constant_c(scope *s, const ir_value *v);
const char *new_local(scope *s, const ir_value *v, const char *tag); /* a name that the function does not have yet */
const expression *keep_scalar(kept_list *list, const ir_value *v, const expression *row);
const expression *keep_value(scope *s, const ir_value *v, const place *at);
bool rounded_here(const emission *e, const ir_value *v);   /* ops of the phase see what is stored, rounded */
bool wide_reduction(const emission *e, const ir_value *v); /* reduces columns of the phase's space */
scope scope_new(emission *e, writer *w, const char *lanes);
const expression *place_column(const scope *s, const place *at);
const expression *evaluate(scope *s, const ir_value *v, const place *at);              /* a vec */
const expression *evaluate_row_scalar(scope *s, const ir_value *v, const expression *row); /* a float */
position value_in_spec(const ir_value *v); /* in the spec, of what computes it */
const expression *evaluate_position(scope *s, const ir_op *op, const expression *row); /* int: position of a rope's or kv_append's row */
const expression *evaluate_sequence(scope *s, const ir_op *op, const expression *row); /* int: index of its sequence */

const expression *operation(scope *s, const ir_op *op, const expression *const *operands);    /* op_add(x, y) */
const expression *element_code(scope *s, const ir_op *op, const expression *const *operands); /* the same, or near_div(x, y) */
const expression *rounded_as(scope *s, const ir_value *v, const expression *x);               /* x as v is seen by ops of the phase */
place operand_place(scope *s, const ir_value *operand, const ir_value *of, const place *at);
bool value_known(scope *s, const ir_value *v, const place *at); /* it has a name there */

/* ---- chain.c: long elementwise arithmetic as functions that are called */
typedef struct leaf { /* what a chain's function takes: a value at a place */
    const ir_value *value;
    place at;
    const char *parameter;
} leaf;

typedef struct called_function { /* in emission.functions */
    const expression *meaning;
    const char *name;
} called_function;

typedef struct chain {
    scope *s;
    const place *at;
    bool *inside;       /* by op of the phase: its result is computed within the function */
    const expression **names, **results; /* by op of the phase: its local, and its value in terms of the function's parameters */
    leaf *leaves;
    int leaf_count, ops, cost;
    scope locals;
    writer body;
} chain;
/* The name of a function of one column for all the ops of the phase that lead to v, and its leaves; NULL: v is not worth one. */
const char *chain_find(chain *c, scope *s, const ir_value *v, const place *at);

/* ---- store.c: what a phase leaves in memory */
/* True for results that the phase writes: needed elsewhere, no view, or written in place (kv_append). */
bool value_written(const emission *e, const ir_value *v);
/* Stores v at `at` under condition `when` (or NULL); kv_append goes to its state. */
void write_store(scope *s, const ir_value *v, const place *at, const expression *when);
void write_row_scalar_store(scope *s, const ir_value *v, const expression *row, const expression *when);
/* Where a result of the phase is computed and written, when the function is at `base`, a place in the phase's space. */
place store_place(scope *s, const ir_value *v, const place *base);
/* Condition under which `row` of the space is the one that writes its row of v; NULL: always. */
const expression *store_condition(emission *e, const ir_value *v, const expression *row);
bool partial_here(const emission *e, const ir_value *v); /* row sums that this phase's epilogue makes */
/* The C name of a table of a rope's frequencies in turns, made on first use. */
const char *rope_table(emission *e, const ir_op *op);

/* Numbers of a row that ropes and appends need (ints of context): named, declared, computed. */
typedef struct row_numbers {
    struct row_number {
        const ir_op *op;
        const char *position, *sequence; /* fields; sequence NULL: not asked for */
        bool shared;
    } items[16];
    int count;
} row_numbers;
row_numbers numbers_find(emission *e);
void numbers_know(const row_numbers *n, scope *s);
void numbers_write(const row_numbers *n, scope *s); /* c.position = ...; */
void write_context(emission *e, writer *w, const kept_list *kept, const row_numbers *n);
void context_know(const kept_list *kept, scope *s);
void write_set(scope *s, const kept_scalar *x); /* the statements that compute a row scalar and store it in context */
const expression *context_field(emission *e, const char *field); /* c.field */

/* ---- members of the spec struct, args left out; of products and attention see gemm.h, attention.h */
void emit_rows(emission *e, writer *w);
void emit_pack(emission *e, writer *w, int index); /* the packed weight plan->packs[index] */
#endif
