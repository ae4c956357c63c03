/* State and helpers shared by the files of one reference run. Private to ir/reference. */
#ifndef TFGEN_REF_PARTS_H
#define TFGEN_REF_PARTS_H
#include "ir/reference/ref.h"
#include <stdint.h>

/* Shape and dtype of a value, derived independently of ir/read. */
typedef struct ref_shape {
    int rank;
    long long size[max_rank];
    dtype type;
} ref_shape;

typedef struct ref_state {
    const ir_graph *p;
    ref_shape *shapes;         /* by value id */
    ir_attributes *attributes; /* by the id of an op's first output; defaults filled in */
    const ref_rules *rules;
    bool round_stored;
    ref_tensor *tensors; /* by value id; count 0: not computed, or freed */
    bool *on_grid;       /* by value id: its numbers are exact in its dtype, so storing does not round */
    bool *unknown;       /* by value id: some of its errors are infinite */
    bool *borrowed;      /* by value id: the numbers belong to the caller */
    bool *needed;        /* by value id: wanted, or a wanted value depends on it */
    /* Sources of errors (ref_sources.c), by value id. */
    int *first;                  /* id of the first of a value's twins (results of equal ops of the same operands), or its own id */
    int *uses;                   /* of a first twin: how many operands of ops that pass shares on are it or its twins */
    bool *has_twin;              /* of a first twin: there are others */
    bool *is_source;             /* the value's own errors are tracked as a share */
    struct ref_source **sources; /* of a first twin: the source that all its twins are; NULL: none */
    /* Hash chains of ops by kind and operands, to find duplicates. alike: by bucket, 1 + index of its last op; alike_before: by op,
     * 1 + index of the previous op in the bucket; 0: none. */
    int *alike, *alike_before;
    double **inherited;          /* by value id: part of its errors inherited from operands; NULL: unknown, taken as none */
    bool *may_cross;          /* by value id: a divisor, or the argument of a root or logarithm, may be computed from it elementwise */
    struct ref_weights **of_weights; /* by value id (ref_weights.c); NULL: not the result of a product whose weight has errors */
    struct ref_sides **sides; /* by value id (ref_sides.c); NULL: no element has any */
    char *message;
    size_t message_size;
} ref_state;

#define REF_UNIT 0x1p-24   /* unit roundoff of float32 */
#define REF_LEAST 0x1p-126 /* smaller magnitudes may be flushed to 0 on a device */

ref_form ref_form_of(const ref_state *r, const ir_op *op);
/* Relative error of a template's form of a function, by its row of FORM (ir/op.def): an ulp is at most 2u of the result. */
double ref_form_error(op_kind kind, ref_form form);

double ref_least(dtype t); /* absolute error near 0: half the smallest subnormal step, or the flush threshold */

/* Each returns false after ref_fail(), and allocates its outputs zeroed, with errors. */
bool ref_element(ref_state *r, const ir_op *op);
bool ref_reduce(ref_state *r, const ir_op *op);
bool ref_norm(ref_state *r, const ir_op *op);
bool ref_softmax(ref_state *r, const ir_op *op);
bool ref_linear(ref_state *r, const ir_op *op);
bool ref_matmul(ref_state *r, const ir_op *op);
bool ref_rope(ref_state *r, const ir_op *op);
bool ref_attention(ref_state *r, const ir_op *op);
bool ref_append(ref_state *r, const ir_op *op);
bool ref_move(ref_state *r, const ir_op *op);
bool ref_permute(ref_state *r, const ir_op *op);
void ref_move_element(const ref_tensor *x, size_t from, ref_tensor *y, size_t to); /* value, error and shares */

/* ref_shape.c: fills shapes and attributes. */
bool ref_derive(ref_state *r);
static inline const ref_shape *ref_shape_of(const ref_state *r, const ir_value *v) { return &r->shapes[v->id]; }
static inline int ref_rank(const ref_state *r, const ir_value *v) { return r->shapes[v->id].rank; }
static inline dtype ref_type(const ref_state *r, const ir_value *v) { return r->shapes[v->id].type; }
static inline const ir_attributes *ref_attributes(const ref_state *r, const ir_op *op) { return &r->attributes[op->outputs[0]->id]; }

bool ref_fail(ref_state *r, const ir_op *op, const char *why);
const ref_tensor *ref_of(const ref_state *r, const ir_value *v);
ref_tensor *ref_out(ref_state *r, const ir_op *op);
/* Rows are computed in groups of four; a sampled run computes only some groups. */
enum { ref_row_group = 4 };
bool ref_takes_group(const ref_state *r, size_t index, size_t rows);
double ref_error(const ref_tensor *t, size_t i);                     /* 0 where errors are NULL */
bool ref_exact(const ref_tensor *t);                                 /* no error at all */
long long ref_axis(const ref_state *r, const ir_value *v, int axis); /* negative axes count from the back */
bool ref_is_stored(const ref_state *r, const ir_value *v);
/* Layout of keys and values: a cache is [B, heads, tokens, columns], an activation [B, tokens, heads, columns]. Used by append and
 * attention. */
typedef struct ref_rows {
    size_t tokens, heads;
    bool cache;
} ref_rows;
ref_rows ref_rows_of(const ref_state *r, const ir_value *v, size_t heads);
static inline size_t ref_row(const ref_rows *x, size_t batch, size_t head, size_t token)
{
    return x->cache ? (batch * x->heads + head) * x->tokens + token : (batch * x->tokens + token) * x->heads + head;
}

/* ---- ref_sources.c: where errors come from */
typedef struct ref_source {
    int holders; /* reference count: shares that point here */
    double *common; /* per element: fraction of its squared error that all readers see alike; NULL: 0 */
} ref_source;

/* The effect of one source on the errors of a tensor. */
typedef struct ref_share {
    struct ref_share *next;
    ref_source *source;
    bool stretched; /* several elements may depend on one element of the source */
    double *size;   /* per element: signed change when the source moves by its error */
    uint32_t *at;   /* per element: index of the source's element; arbitrary if size is 0 */
} ref_share;
enum { ref_most_shares = 16 }; /* most shares of a tensor once its op is done; two more while the op runs */

ref_share *ref_share_of(const ref_tensor *t, const ref_source *source); /* NULL: none */
/* A zeroed share, or the existing one; source NULL: creates a new source. NULL after ref_fail(). */
ref_share *ref_add_share(ref_state *r, const ir_op *op, ref_tensor *t, ref_source *source);
bool ref_copy_shares(ref_state *r, const ir_op *op, const ref_tensor *x, ref_tensor *y); /* allocates in y a share for each of x's */
void ref_put_share(ref_share *s, size_t i, double size, uint32_t at); /* same source element: adds; another: the larger stays */
void ref_drop_share(ref_tensor *t, ref_share *s);
void ref_forget_shares(ref_tensor *t);
double ref_own_square(const ref_tensor *t, size_t i); /* squared error minus the shares */
void ref_note_common(ref_tensor *to, const ref_tensor *from); /* sets to->common by the shares of `from`, which has as many elements */
void ref_cover_shares(ref_tensor *t);                 /* raises errors that are smaller than their shares */
double ref_common_part(const ref_share *s, size_t i); /* `common` of the source's element that element i depends on: 0 to 1 */
double *ref_keep_inherited(ref_state *r, const ir_op *op); /* for op's first output; the caller fills it; NULL after ref_fail() */
bool ref_make_source(ref_state *r, const ir_op *op, const ir_value *v);
void ref_note_op(ref_state *r, int index); /* to be called for all ops that will be evaluated, in order, before the first runs */
void ref_release_sources(ref_state *r);
bool ref_settle_sources(ref_state *r, const ir_op *op); /* to be called after op, when the operands that nothing reads any more are freed */
/* End of the run of elements from `first` on that all depend on the same element of the source, or on none. ref_run_at(): that element. */
size_t ref_share_run(const ref_share *s, size_t first, size_t end);
uint32_t ref_run_at(const ref_share *s, size_t first, size_t end);
double ref_joined(double x, double y); /* combines two independent signed errors */

/* ---- ref_weights.c: errors of a weight, which reach all rows of a product */
enum { ref_weight_parts = 8 };
struct ref_weights {
    size_t rows;
    double parts[]; /* [rows][ref_weight_parts]: in units of the root mean square error of the row's elements */
};
/* Notes the parts of op's result. x: its rows, [M, K]; of_k: for each k the root mean square error of the weight's elements. */
bool ref_note_weights(ref_state *r, const ir_op *op, const double *x, const double *of_k, size_t M, size_t K);
/* The parts of a value that is such a result, or was made from one row by row; NULL: it has none, or other rows. */
const double *ref_weights_of(const ref_state *r, const ir_value *v, size_t rows);

/* ---- ref_sides.c: numbers whose sign depends on rounding */
enum { ref_samples = 13 };

/* An element y as a function of an element x whose sign depends on rounding: the results y for x = 0, x at either end of its bound, and x
 * between. origin: which element x is (the id of its value, and its index there). */
typedef struct ref_side {
    uint64_t origin;
    double at[ref_samples]; /* NaN: unknown */
} ref_side;

typedef struct ref_sides {
    uint32_t *slot; /* per element: 1 + index in list; 0: none */
    ref_side *list;
    size_t count, room;
} ref_sides;

void ref_note_choices(ref_state *r); /* before the first op */
bool ref_begin_sides(ref_state *r, const ir_op *op, const ir_value *v); /* false after ref_fail() */
bool ref_let_choose(ref_state *r, const ir_op *op, const ir_value *v);  /* asks the rules; false after ref_fail() */
ref_side *ref_add_side(ref_state *r, const ir_op *op, const ir_value *v, size_t i); /* the caller fills it; NULL after ref_fail() */
const ref_side *ref_side_of(const ref_state *r, const ir_value *v, size_t i);       /* NULL: none */
double ref_farthest_side(const ref_side *s, double from);                           /* infinite if unknown */
void ref_forget_sides(ref_state *r, const ir_value *v);

/* ref_fold.c: whether the graph multiplies the linear's operand by this factor; and the values, NULL-terminated, that a folded linear needs
 * besides its own operands. */
bool ref_fold_is_factor(const ref_state *r, const ir_op *linear, const ref_fold *f);
enum { ref_fold_most_needs = 6 };
void ref_fold_needs(const ir_op *linear, const ir_value *needs[ref_fold_most_needs]);

/* Overflow on conversion to a dtype: a value that is certainly too large becomes infinite. If rounding decides whether it is too large, its
 * error becomes infinite. */
void ref_overflow(dtype t, double *value, double *error);

/* A sum as a device may compute it, in any order. Above REF_CHAIN terms it is blocked: partial sums of at most REF_CHAIN terms are added
 * (templates/base/sums.h), unless `whole`: one chain may hold all terms (attention's weights). */
typedef struct ref_sum {
    double value, block, partial_squares, term_squares, input_squares; /* block: sum since the last full block */
    double last;
    size_t count, repeats; /* repeats: nonzero terms equal to the preceding one */
    bool whole;
} ref_sum;
#define REF_CHAIN 4096
void ref_sum_add(ref_sum *s, double term, double error);
/* Squared rounding error from equal terms, in units of (u * sum)^2. A partial sum is a multiple of its last place, so the rounding error of
 * adding a term depends only on the term's digits below that place. As long as the partial sum stays within a binade, equal terms have
 * equal errors, at most u times the partial sum each, which add up instead of cancelling. In random order, a number that n of `count` terms
 * equal follows itself about n^2 / count times, so n is estimated from `repeats`. A few repeats are taken for chance, since 16 bits
 * represent few numbers. */
double ref_repeated(size_t count, size_t repeats);
double ref_sum_rounding(const ref_sum *s); /* squared error from rounding alone */
/* Squared rounding error of n additions in random order, in units of u^2: coefficients of y^2 and of the sum of squared terms. */
typedef struct ref_chains {
    double of_value, of_terms;
} ref_chains;
ref_chains ref_chains_of(double n, bool whole);
double ref_sum_error(const ref_sum *s);    /* squared; includes the terms' errors */

/* Calls work(context, i) for i < count on all cores. */
void ref_parallel(size_t count, void (*work)(void *context, size_t i), void *context);
#endif
