/* What the emitters of all families share to write spec structs (docs/spec-structs.md) from a plan; private to gen/. An `emission` is the
 * state of one spec struct while it is written: its phase, and its arguments in order of first use. */
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
    int pack, scratch, trace; /* indices in the plan: of the phase's packed weight and scratch, of the launch's timing records; -1: none */
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
    struct rope_table { /* the tables made */
        const ir_attributes *of;
        const expression *name;
    } tables_of[max_tables];
    bool is_quick;    /* phase_is_quick() */
    bool is_long;     /* chains of ops become functions (chain.c) */
    int rolled;       /* not 0: the epilogue is the body of a loop that takes 32 / rolled columns per iteration (gemm_ws.h) */
    writer functions; /* the functions of chains (chain.c), as members of the struct */
    struct called_function *called;
    int called_count, called_room;
} emission;

/* ---- access.c: arguments and addresses */
const expression *use_value(emission *e, const ir_value *v, bool written); /* p.x_ for v's root; registers the argument */
const expression *use_scratch(emission *e, int index, bool written);
/* ---- rows in words (templates/frame/words.h). The words of a stack's input are those of its output, or null in the first layer. */
extern const char launch_words[]; /* "tf_words" */
enum { launch_words_bytes = 24 }; /* size of launch_words; its first field points to the launch's marks */
const launch *emission_launch(const emission *e);    /* the launch of its phase */
int value_words(const plan *p, const ir_value *v);   /* the scratch with v's words; -1: it has none */
const expression *use_launch_words(emission *e);     /* p.tf_words */
const expression *use_words(emission *e, const ir_value *v, bool written); /* p.x_words */
const expression *words_address(emission *e, const ir_value *v, const expression *row, const expression *column, bool written);
const char *words_function(emission *e, const char *name, const ir_value *v, const char *lanes); /* p.tf_words.load<bf16, W> */
void use_trace_of(emission *e); /* registers the argument for the launch's trace, if it has one */
const expression *use_packed(emission *e, int index, bool written);
const expression *use_next_packed(emission *e, const char *name, int index); /* the packed weight of a later launch */
const expression *use_next_call(emission *e); /* weight_runs: the weights that the next call reads first, to prefetch them */
const expression *use_map(emission *e, const char *name, const tensor_box *box);
/* Of expressions, one for each kind of layers (ir/graph/layer_kinds.h), that of the layer's kind. Registers the kind as an argument, unless
 * all are the same pointer. */
const expression *use_by_kind(emission *e, const expression *const *of_kinds);
const expression *extent_c(emission *e, const extent *x); /* 2 * p.B_; registers its dims as arguments */
void finish_arguments(emission *e);                       /* sorts the arguments and sets their offsets */
unsigned argument_bytes(const argument *list, int count);
void write_arguments(emission *e, writer *w);           /* struct args { ... }; */
void write_offset_checks(const emission *e, writer *w); /* TF_LAYOUT(...); */

typedef struct view { /* where a value's rows lie in its root */
    const ir_value *root;
    long long offset, stride; /* elements */
    const dim *step;          /* the caller passes the stride as this dim, and `stride` is a placeholder. NULL: the stride is fixed */
} view;
view view_of(arena *a, const ir_value *v);
long long view_most_stride(const view *w);          /* the stride, or the greatest that a caller may pass; in elements */
extent view_apart(const view *w, long long factor); /* the stride, times a factor such as the size of an element */
/* The alignment of v's rows in bytes, at most 16, if its storage is 16-byte aligned. In a caller's tensor a row's length limits it, too:
 * the memory may end with the last row, and no 16-byte load may reach beyond. */
long long value_alignment(arena *a, const ir_value *v);
/* The row of `operand` that broadcasts to row `row` of a value with the shape of `of`. */
const expression *row_of(emission *e, const ir_value *operand, const ir_value *of, const expression *row);
/* Condition under which row `row` of `of` is the first that maps to its row of `operand`; NULL: always. */
const expression *first_row_condition(emission *e, const ir_value *operand, const ir_value *of, const expression *row);
const expression *address(emission *e, const ir_value *v, const expression *row, const expression *column, bool written);
/* The member `name`(p, row): a pointer to the first element of a row of v. */
void write_row_function(emission *e, writer *w, position at, const char *type, const char *name, const ir_value *v, bool written);
int value_partials(const plan *p, const ir_value *v);               /* partial sums per row; 1 for other values */
const expression *scaled(emission *e, const expression *row, long long stride); /* row * 64ll */
/* `static constexpr long long NAME = 64;`. If the caller passes the stride, NAME is 0 and the function NAME_of(p) returns it
 * (templates/gemm/row_stride.h). */
void write_stride(emission *e, writer *w, const char *name, const ir_value *v);

/* ---- value_facts.c: facts of a value inside the emission's phase */
value_facts *facts_new(arena *a, const ir_graph *p);
void facts_find(const emission *e);
bool value_is_row_scalar(const emission *e, const ir_value *v); /* one number per row */
/* If v is a view of a value that the phase computes, that value: the thread has its elements. Else v, which is loaded. */
const ir_value *value_behind(const emission *e, const ir_value *v);
bool value_made_here(const emission *e, const ir_value *v);
int value_index_here(const emission *e, const ir_value *v); /* index in the phase of the op that makes v; -1: another phase makes it */
bool value_needs_row(const emission *e, const ir_value *v); /* depends on row scalars or on the row's token position */
static inline bool op_is_wave(const ir_op *op) { return op->kind == op_sin || op->kind == op_cos; }
bool op_has_position(const ir_op *op); /* its result depends on the token's position: a rope or kv_append */
enum { function_cost = 10 }; /* op_cost() of an exponential or the like */
/* Whether the phase's ops use their short forms (FORM, ir/op.def). They do on GPUs if all values that the phase stores have 16 bits, not
 * counting row scalars, or if no tensor of the caller is f32. */
bool phase_is_quick(const ir_graph *p, const ir_phase *phase, const target_info *target);
int op_cost(const ir_op *op, const ir_phase *phase, const target_info *target, bool quick); /* per element; an addition is 1 */
/* Whether the arithmetic is too long to be inlined once per column of a thread. rolls: the phase's program uses a loop instead of functions
 * that are called. */
bool phase_is_long(const ir_graph *p, const ir_phase *phase, const target_info *target, bool rolls);
/* For such a program: iterations of its loop per 32 columns, 1 or 4. */
int loop_steps(const ir_graph *p, const ir_phase *phase, const target_info *target);

/* ---- evaluate.c: C++ statements that compute an IR value at a place */
/* Where a value is evaluated: a row and a first column of that value. The column is base - shift. */
typedef struct place {
    const expression *row, *base;
    long long shift;
    const expression *guard; /* condition under which the columns exist; NULL: always */
    const expression *left;  /* how many columns exist from there on; NULL: all that the function handles */
    const char *tag;         /* suffix for the names of local variables */
} place;

/* What a variable of an emitted function holds; the key by which scope.knowns is searched. */
typedef struct knowledge {
    const ir_value *value;
    enum { known_scalar, known_columns, known_position, known_sequence, known_rotation } what;
    const expression *row;
    const expression *column, *guard; /* known_columns; columns that were loaded under a guard may only be used under the same guard */
    const ir_value *start;            /* known_position: the value with each sequence's first position; NULL: positions begin at 0 */
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

typedef struct kept { /* a field of element: columns of a value that does not depend on row scalars */
    const ir_value *value;
    place at;
    const char *field;
} kept;

typedef struct scope scope;
typedef struct kept_list {
    kept *items;
    int count, capacity;
    kept_scalar *scalars;
    int scalar_count, scalar_capacity;
    scope *fields;     /* names of the scalars' fields */
    bool scalars_only; /* in epilogues: keep no columns, since each value is computed where it is used */
    bool loads_only;   /* keep only columns loaded from memory. In a phase without reductions, computed ones are used only once */
} kept_list;

/* The stores in a segment's epilogue, counted by a dry run. */
typedef struct put_count {
    int most;   /* stores per half of a granule pair */
    bool loose; /* some store is narrower than the function's width, or not of 16-bit elements */
} put_count;

struct scope {
    emission *e;
    writer *w;
    const char *lanes; /* the template parameter that says how many columns the function handles: "V" or "W" */
    long long whole;   /* loads at multiples of this many columns are aligned; 0: none are known to be */
    bool anywhere;     /* stores need no alignment, as results pass through shared memory (templates/gemm/staged.h) */
    known *knowns;
    int known_count, known_capacity;
    const char **locals;
    int local_count, local_capacity;
    const expression *low, *high; /* the two columns of a rotated pair, if the function has both; else NULL */
    kept_list *collect;     /* the fields that a dry run finds necessary; NULL: this is no dry run */
    const char *half;       /* epilogues: the half of a granule pair that `out` stores, "0", "1" or the parameter "Half"; else NULL */
    put_count *puts;
    const char *angles; /* variable in which sines and cosines record that an argument was large, instead of branching; NULL: they branch */
};

knowledge scalar_of(const ir_value *v, const expression *row);
knowledge columns_of(scope *s, const ir_value *v, const place *at);
knowledge position_of(const ir_op *op, const expression *row); /* of a rope's or kv_append's row */
knowledge sequence_of(const ir_op *op, const expression *row);
const expression *find_known(const scope *s, knowledge key); /* NULL: not known */
void scope_know(scope *s, knowledge key, const expression *name);
const expression *constant_c(scope *s, const ir_value *v);
const char *new_local(scope *s, const ir_value *v, const char *tag); /* a name that the function does not use yet */
const expression *keep_scalar(kept_list *list, const ir_value *v, const expression *row);
const expression *keep_value(scope *s, const ir_value *v, const place *at);
bool rounded_here(const emission *e, const ir_value *v);   /* v is stored in 16 bits, and ops of the phase read it: they read it rounded */
bool wide_reduction(const emission *e, const ir_value *v); /* v is a reduction over columns that this phase computes */
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
    const expression *meaning; /* its parameters and result; the same pointer for equal functions */
    const char *name;
} called_function;

typedef struct chain {
    scope *s;
    const place *at;
    bool *inside; /* by op of the phase: the function computes it */
    /* By op of the phase: its local variable in the function; its result as an expression of the function's parameters. */
    const expression **names, **results;
    leaf *leaves;
    int leaf_count, ops, cost;
    scope locals;
    writer body;
} chain;
/* The name of a function that computes one column of v from c->leaves; NULL: v is computed inline. */
const char *chain_find(chain *c, scope *s, const ir_value *v, const place *at);

/* ---- store.c: stores of a phase's results */
/* Whether the phase stores v: other phases or the caller need it, and it is not a view; or it is a kv_append. */
bool value_written(const emission *e, const ir_value *v);
/* Stores v at `at` if `when` holds (NULL: always); a kv_append stores to its state. */
void write_store(scope *s, const ir_value *v, const place *at, const expression *when);
void write_row_scalar_store(scope *s, const ir_value *v, const expression *row, const expression *when);
/* Which place of v the code for place `base` of the phase's space stores. The two differ, for example, if v is a slice of the space's
 * columns. */
place store_place(scope *s, const ir_value *v, const place *base);
/* The condition under which the code for row `row` of the space stores its row of v; NULL: always. If v has fewer rows than the space,
 * several rows of the space compute the same row of v, and the first of them stores it. */
const expression *store_condition(emission *e, const ir_value *v, const expression *row);
bool partial_here(const emission *e, const ir_value *v); /* a row sum that this phase's epilogue computes */
/* The table with a rope's frequencies, in 2^-64 of a revolution per token; that of the layer's kind, if kinds differ. The first use writes
 * the table. */
const expression *rope_table(emission *e, const ir_op *op);

/* Token positions and sequence indices of a row, for ropes and appends: int fields of context. */
typedef struct row_numbers {
    struct row_number {
        const ir_op *op;
        const char *position, *sequence; /* names of the fields; sequence may be NULL: not needed */
        bool shared; /* the fields are those of an earlier item */
    } items[16];
    int count;
} row_numbers;
row_numbers numbers_find(emission *e);
void numbers_know(const row_numbers *n, scope *s);
void numbers_write(const row_numbers *n, scope *s); /* c.position = ...; */
/* more: a member to write last, or NULL */
void write_context(emission *e, writer *w, const kept_list *kept, const row_numbers *n, const char *more);
void context_know(const kept_list *kept, scope *s);
void write_set(scope *s, const kept_scalar *x); /* computes a row scalar and stores it in context */
const expression *context_field(emission *e, const char *field); /* c.field */

/* ---- members of the spec struct, without args; for products and attention see gemm.h, attention.h */
void emit_rows(emission *e, writer *w);
void emit_columns(emission *e, writer *w);
void emit_pack(emission *e, writer *w, int index); /* the packed weight plan->packs[index] */
#endif
