/* In: a plan. Out: parts of spec structs. Private to gen/: shared by the emitters of the families. An `emission` is the state of one
 * kernel's spec struct while it is written: its phase, and its arguments in order of first use. */
#ifndef TFGEN_GEN_EMIT_H
#define TFGEN_GEN_EMIT_H
#include "gen/gen.h"
#include "gen/base/names.h"
#include "gen/emit/expression.h"
#include "gen/emit/writer.h"
#include "ir/graph/segments.h"

enum { max_tables = 16 };

typedef struct value_facts value_facts;

typedef struct emission {
    arena *a;
    expression_pool *pool;
    const plan *plan;
    const naming *names;
    const ir_phase *phase;
    int pack, scratch, trace; /* indices of the phase's pack and scratch and of the launch's trace scratch in the plan; -1: none */
    value_facts *facts;      /* by value id; one array for all phases, refilled by facts_find() */
    const char *name;        /* of the launch or pack: llama_qkv */
    const char *struct_name; /* llama_qkv_spec */
    phase_extent space;
    const ir_value *shape;   /* a value whose rows are the rows of the space */
    segment_list segments;   /* gemm */
    long long packed_length; /* gemm: packed_k, numbers per packed column */
    argument *arguments;
    int argument_count, argument_capacity;
    bool loaded_arguments; /* arguments are local variables x_, not fields p.x_ */
    writer tables;         /* constant tables, written before the struct */
    int tables_made;
    bool rope_scaled; /* a rope of the phase scales its result (YaRN's attention factor) */
    const ir_op *table_ops[max_tables];
    bool is_quick;    /* phase_is_quick() */
    bool is_long;     /* chains of ops become functions (chain.c) */
    int rolled;       /* not 0: the epilogue is the body of a loop over 32 / rolled columns (gemm_ws.h) */
    writer functions; /* the functions of chains, as members of the struct */
    struct called_function *called;
    int called_count, called_room;
} emission;

/* ---- access.c: arguments and addresses */
const expression *use_value(emission *e, const ir_value *v, bool written); /* p.x_ for v's root; registers the argument */
const expression *use_scratch(emission *e, int index, bool written);
void use_trace_of(emission *e); /* registers the argument for the launch's trace, if it has one */
const expression *use_packed(emission *e, int index, bool written);
const expression *use_next_packed(emission *e, const char *name, int index); /* the packed weight of a later launch */
const expression *use_next_call(emission *e); /* the launch's argument with the first weights of the next call (weight_runs) */
const expression *use_map(emission *e, const char *name, const tensor_box *box);
const expression *extent_c(emission *e, const extent *x); /* 2 * p.B_; registers its dims */
void finish_arguments(emission *e);                       /* pointers, then dims; offsets and sizes */
unsigned argument_bytes(const argument *list, int count);
void write_arguments(emission *e, writer *w);           /* struct args { ... }; */
void write_offset_checks(const emission *e, writer *w); /* TF_LAYOUT(...); */

typedef struct view { /* where a value's rows lie in its root */
    const ir_value *root;
    long long offset, stride; /* elements */
    const dim *step;          /* each call gives the stride, by this dim; `stride` is then a stand-in. NULL: it is fixed */
} view;
view view_of(arena *a, const ir_value *v);
long long view_most_stride(const view *w);                 /* greatest stride of a call, in elements */
extent view_apart(const view *w, long long factor); /* the stride, times a factor such as the size of an element */
/* The alignment of v's rows in bytes, at most 16, if its storage is 16-byte aligned. For a caller's tensor the length of a row counts, too:
 * its memory may end with the last row, beyond which no 16-byte load may reach. */
long long value_alignment(arena *a, const ir_value *v);
/* The row of `operand` that broadcasts to row `row` of a value with the shape of `of`. */
const expression *row_of(emission *e, const ir_value *operand, const ir_value *of, const expression *row);
/* Condition under which row `row` of `of` is the first that maps to its row of `operand`; NULL: always. */
const expression *first_row_condition(emission *e, const ir_value *operand, const ir_value *of, const expression *row);
const expression *address(emission *e, const ir_value *v, const expression *row, const expression *column, bool written);
/* The member `name`(p, row): a pointer to the first element of a row of v. */
void write_row_function(emission *e, writer *w, position at, const char *type, const char *name, const ir_value *v, bool written);
int value_partials(const plan *p, const ir_value *v);               /* partial sums a row; 1 for plain values */
const expression *scaled(emission *e, const expression *row, long long stride); /* row * 64ll */
/* `static constexpr long long NAME = 64;`; where a call gives the stride it is 0, and `NAME_of(p)` says it: templates/gemm/row_stride.h */
void write_stride(emission *e, writer *w, const char *name, const ir_value *v);

/* ---- value_facts.c: facts of a value inside the emission's phase */
value_facts *facts_new(arena *a, const ir_graph *p);
void facts_find(const emission *e);
bool value_is_row_scalar(const emission *e, const ir_value *v); /* one number a row */
/* If v is a view of one value that the phase computes, that value, whose elements the same thread has; else v, which is loaded. */
const ir_value *value_behind(const emission *e, const ir_value *v);
bool value_made_here(const emission *e, const ir_value *v);
int value_index_here(const emission *e, const ir_value *v); /* index of its op in the phase; -1: not made here */
bool value_needs_row(const emission *e, const ir_value *v); /* depends on row scalars or a position */
static inline bool op_is_wave(const ir_op *op) { return op->kind == op_sin || op->kind == op_cos; }
bool op_has_position(const ir_op *op);
enum { function_cost = 10 }; /* op_cost() of an exponential or the like */
/* True on GPUs if all values that the phase stores have 16 bits, or all inputs and outputs of the graph: then its ops use their short forms
 * (FORM, ir/op.def). */
bool phase_is_quick(const ir_graph *p, const ir_phase *phase, const target_info *target);
int op_cost(const ir_op *op, const ir_phase *phase, const target_info *target, bool quick); /* per element; an addition is 1 */
/* Whether the arithmetic is too long to be inlined once per column of a thread. rolls: its program loops instead of calling functions. */
bool phase_is_long(const ir_graph *p, const ir_phase *phase, const target_info *target, bool rolls);
/* If the program rolls: iterations of its loop per 32 columns, 1 or 4. */
int loop_steps(const ir_graph *p, const ir_phase *phase, const target_info *target);

/* ---- evaluate.c: the value of IR values at a place, as C++ statements */
/* Where a value is evaluated, in its own rows and columns; the column is base - shift. */
typedef struct place {
    const expression *row, *base;
    long long shift;
    const expression *guard; /* condition under which the columns exist; NULL: always */
    const expression *left;  /* how many of the columns exist; NULL: all */
    const char *tag;         /* suffix for names of locals */
} place;

/* What a named variable of an emitted function holds; the key of scope.knowns. */
typedef struct knowledge {
    const ir_value *value;
    enum { known_scalar, known_columns, known_position, known_sequence, known_rotation } what;
    const expression *row;
    const expression *column, *guard; /* known_columns; columns that were loaded under a guard may only be used under the same guard */
    const ir_value *start;            /* known_position: the value with the first positions of sequences; or NULL */
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

typedef struct kept { /* a field of element: a row vector that does not depend on row scalars */
    const ir_value *value;
    place at;
    const char *field;
} kept;

typedef struct scope scope;
typedef struct kept_list {
    kept *items; /* row vectors */
    int count, capacity;
    kept_scalar *scalars; /* row scalars that the dry run needed */
    int scalar_count, scalar_capacity;
    scope *fields;     /* names of the scalars' fields */
    bool scalars_only; /* row vectors are computed where they are used (epilogues) */
    bool loads_only;   /* keep only row vectors loaded from memory: without reductions, each computed one is used only once */
} kept_list;

/* Row vectors that a segment's epilogue stores, counted by a dry run. */
typedef struct put_count {
    int most;   /* stores to one half of a granule pair */
    bool loose; /* some store is not of full width in 16-bit elements */
} put_count;

struct scope {
    emission *e;
    writer *w;
    const char *lanes; /* V or W */
    long long whole;   /* loads at multiples of this many columns are aligned; 0: never */
    bool anywhere;     /* stores take pieces at any alignment (templates/gemm/staged.h) */
    known *knowns;
    int known_count, known_capacity;
    const char **locals;
    int local_count, local_capacity;
    const expression *low, *high; /* the columns of a rotated pair, if the function has both; else NULL */
    kept_list *collect;     /* in a dry run: where it collects what to keep; else NULL */
    const char *half;       /* epilogues: the half of a granule pair that `out` stores, "0", "1" or the parameter "Half"; else NULL */
    put_count *puts;
    const char *angles; /* variable in which sines and cosines note large arguments instead of branching; NULL: they branch */
};

knowledge scalar_of(const ir_value *v, const expression *row);
knowledge columns_of(scope *s, const ir_value *v, const place *at);
knowledge position_of(const ir_op *op, const expression *row); /* for a row of a rope or kv_append */
knowledge sequence_of(const ir_op *op, const expression *row);
const expression *find_known(const scope *s, knowledge key); /* NULL: not known */
void scope_know(scope *s, knowledge key, const expression *name);
const expression *constant_c(scope *s, const ir_value *v);
const char *new_local(scope *s, const ir_value *v, const char *tag); /* an unused name of the function */
const expression *keep_scalar(kept_list *list, const ir_value *v, const expression *row);
const expression *keep_value(scope *s, const ir_value *v, const place *at);
bool rounded_here(const emission *e, const ir_value *v);   /* v is stored in 16 bits: ops of the phase read the rounded value */
bool wide_reduction(const emission *e, const ir_value *v); /* reduces columns of the phase's space */
scope scope_new(emission *e, writer *w, const char *lanes);
const expression *place_column(const scope *s, const place *at);
const expression *evaluate(scope *s, const ir_value *v, const place *at);              /* a vec<float, lanes> */
const expression *evaluate_row_scalar(scope *s, const ir_value *v, const expression *row); /* a float */
position value_in_spec(const ir_value *v); /* the spec position of its op, else its own */
const expression *evaluate_position(scope *s, const ir_op *op, const expression *row); /* int: position of a rope's or kv_append's row */
const expression *evaluate_sequence(scope *s, const ir_op *op, const expression *row); /* int: index of its sequence */

const expression *operation(scope *s, const ir_op *op, const expression *const *operands);    /* op_add(x, y) */
const expression *rounded_as(scope *s, const ir_value *v, const expression *x);               /* x, cast to v's type if rounded_here() */
place operand_place(scope *s, const ir_value *operand, const ir_value *of, const place *at);
bool value_known(scope *s, const ir_value *v, const place *at);

/* ---- chain.c: long elementwise arithmetic in functions that are not inlined */
typedef struct leaf { /* an argument of a chain's function: a value at a place */
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
    bool *inside;       /* by op of the phase: computed within the function */
    const expression **names, **results; /* by op of the phase: its local variable; its value in terms of the parameters */
    leaf *leaves;
    int leaf_count, ops, cost;
    scope locals;
    writer body;
} chain;
/* The name of a function that computes one column of v from c->leaves; NULL: v's chain is too short for one. */
const char *chain_find(chain *c, scope *s, const ir_value *v, const place *at);

/* ---- store.c: stores of a phase's results */
/* True for results that the phase stores: used by other phases or the caller, and not a view; or kv_append. */
bool value_written(const emission *e, const ir_value *v);
/* Stores v at `at` if `when` holds (NULL: always); a kv_append stores to its state. */
void write_store(scope *s, const ir_value *v, const place *at, const expression *when);
void write_row_scalar_store(scope *s, const ir_value *v, const expression *row, const expression *when);
/* For code that computes the element `base` of the phase's space: the element of v that it stores there, through slices and appends. */
place store_place(scope *s, const ir_value *v, const place *base);
/* Condition under which row `row` of the space stores its row of v: if v has fewer rows than the space, one of several rows stores it;
 * NULL: always. */
const expression *store_condition(emission *e, const ir_value *v, const expression *row);
bool partial_here(const emission *e, const ir_value *v); /* a row sum that this phase's epilogue computes */
/* The C name of the table of a rope's frequencies, in turns per token; written on first use. */
const char *rope_table(emission *e, const ir_op *op);

/* Token positions and sequence indices of a row, for ropes and appends: int fields of context. */
typedef struct row_numbers {
    struct row_number {
        const ir_op *op;
        const char *position, *sequence; /* fields; sequence NULL: not needed */
        bool shared; /* uses the fields of an earlier item */
    } items[16];
    int count;
} row_numbers;
row_numbers numbers_find(emission *e);
void numbers_know(const row_numbers *n, scope *s);
void numbers_write(const row_numbers *n, scope *s); /* c.position = ...; */
void write_context(emission *e, writer *w, const kept_list *kept, const row_numbers *n);
void context_know(const kept_list *kept, scope *s);
void write_set(scope *s, const kept_scalar *x); /* computes a row scalar and stores it in context */
const expression *context_field(emission *e, const char *field); /* c.field */

/* ---- members of the spec struct, without args; for products and attention see gemm.h, attention.h */
void emit_rows(emission *e, writer *w);
void emit_columns(emission *e, writer *w);
void emit_pack(emission *e, writer *w, int index); /* the packed weight plan->packs[index] */
#endif
