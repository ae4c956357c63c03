/* In: one run of the reference. Out: what its files share. Refuses: nothing itself. Private to ir/reference. */
#ifndef TFGEN_REF_PARTS_H
#define TFGEN_REF_PARTS_H
#include "ir/reference/ref.h"
#include <stdint.h>

/* A value as the spec's rules make it. */
typedef struct ref_shape {
    int rank;
    long long size[max_rank];
    dtype type;
} ref_shape;

typedef struct ref_state {
    const ir_program *p;
    ref_shape *shapes;         /* by value id */
    ir_attributes *attributes; /* by the id of an op's first out; defaults filled in */
    const ref_rules *rules;
    bool round_stored;
    ref_tensor *tensors; /* by value id; count 0: not there */
    bool *on_grid;       /* by value id: its numbers are numbers of its dtype, so storing them rounds nothing */
    bool *unknown;       /* by value id: some of its errors are infinite */
    bool *borrowed;      /* by value id: its numbers are the caller's */
    bool *needed;        /* by value id: what is wanted is made of it, or it is wanted itself */
    /* Of sources of errors (ref_sources.c), by value id. */
    int *first;                  /* the first value that the same op makes of the same values; its own */
    int *uses;                   /* of a first value: how often ops that hand shares on read it or one of the others */
    bool *has_twin;              /* a first value that has others */
    bool *is_source;             /* its own errors are a share of it */
    struct ref_source **sources; /* of first values that have others */
    /* Ops in buckets by their kind and operands, to find those that do the same: by bucket one more than the index of its last op, by op
     * one more than that of the one before it; 0: none. */
    int *alike, *alike_before;
    double **inherited;          /* by value id: of its errors, what its operands' errors make; NULL: unknown, so nothing */
    bool *may_cross;          /* by value id: what elementwise ops make of it may be a divisor, or an argument of a root or logarithm */
    struct ref_sides **sides; /* by value id (ref_sides.c); NULL: of no element */
    char *message;
    size_t message_size;
} ref_state;

#define REF_UNIT 0x1p-24   /* unit roundoff of float32 */
#define REF_LEAST 0x1p-126 /* below it a device may flush to 0 */

ref_form ref_form_of(const ref_state *r, const ir_op *op);
/* Relative error of a template's form of a function, by its row of FORM (ir/op.def): an ulp is at most 2u of the result. */
double ref_form_error(op_kind kind, ref_form form);

double ref_least(dtype t); /* half the smallest step, or what is flushed */

/* Each returns false after ref_fail(). Outputs are allocated and zeroed, with errors. */
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

/* ref_shape.c: fills shapes and attributes. */
bool ref_derive(ref_state *r);
static inline const ref_shape *ref_shape_of(const ref_state *r, const ir_value *v) { return &r->shapes[v->id]; }
static inline int ref_rank(const ref_state *r, const ir_value *v) { return r->shapes[v->id].rank; }
static inline dtype ref_type(const ref_state *r, const ir_value *v) { return r->shapes[v->id].type; }
static inline const ir_attributes *ref_attributes(const ref_state *r, const ir_op *op) { return &r->attributes[op->outputs[0]->id]; }

bool ref_fail(ref_state *r, const ir_op *op, const char *why);
const ref_tensor *ref_of(const ref_state *r, const ir_value *v);
ref_tensor *ref_out(ref_state *r, const ir_op *op);
/* Rows are computed in groups of four; of a sampled run only some groups are. */
enum { ref_row_group = 4 };
bool ref_takes_group(const ref_state *r, size_t index, size_t rows);
double ref_error(const ref_tensor *t, size_t i);                     /* 0 where errors are NULL */
bool ref_exact(const ref_tensor *t);                                 /* no error at all */
long long ref_axis(const ref_state *r, const ir_value *v, int axis); /* negative axes count from the back */
bool ref_is_stored(const ref_state *r, const ir_value *v);
/* How keys and values lie: a cache is [B, heads, tokens, columns], a value of tokens [B, tokens, heads, columns]. Appends and attention
 * alike find rows by this. */
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
    int holders; /* shares of it; the last one frees it */
    double *common; /* of each element, what part of its squared error all who read it see alike; NULL: nothing */
} ref_source;

/* What one source does to the errors of a tensor. */
typedef struct ref_share {
    struct ref_share *next;
    ref_source *source;
    bool stretched; /* several elements may have one element of the source */
    double *size;   /* of each element: how far it moves where the source moves by its error, with the sign */
    uint32_t *at;   /* of each element: which element of the source that is; of size 0: any */
} ref_share;
enum { ref_most_shares = 16 }; /* of a tensor, after each op; two more while one runs */

ref_share *ref_share_of(const ref_tensor *t, const ref_source *source); /* NULL: it has none */
/* Zeros, or the share that is there already; source NULL: of a new source. NULL after ref_fail(). */
ref_share *ref_add_share(ref_state *r, const ir_op *op, ref_tensor *t, ref_source *source);
bool ref_copy_shares(ref_state *r, const ir_op *op, const ref_tensor *x, ref_tensor *y); /* room in y for those of x */
void ref_put_share(ref_share *s, size_t i, double size, uint32_t at); /* adds up with the same element; of two, the larger stays */
void ref_drop_share(ref_tensor *t, ref_share *s);
void ref_forget_shares(ref_tensor *t);
double ref_own_square(const ref_tensor *t, size_t i); /* the error without its shares, squared */
void ref_cover_shares(ref_tensor *t);                 /* no error is smaller than its shares */
double ref_common_part(const ref_share *s, size_t i); /* 0 to 1 */
double *ref_keep_inherited(ref_state *r, const ir_op *op); /* of op's first out, to be filled in; NULL after ref_fail() */
bool ref_make_source(ref_state *r, const ir_op *op, const ir_value *v);
void ref_note_op(ref_state *r, int index); /* of each op that is evaluated, in order, before the first runs */
void ref_release_sources(ref_state *r);
bool ref_settle_sources(ref_state *r, const ir_op *op); /* after op, when what it read last is gone */
/* Elements first <= i < the result that have one element of the source, or nothing of it; which one. */
size_t ref_share_run(const ref_share *s, size_t first, size_t end);
uint32_t ref_run_at(const ref_share *s, size_t first, size_t end);
double ref_joined(double x, double y); /* of two independent numbers with signs */

/* ---- ref_sides.c: numbers whose sign rounding decides */
enum { ref_samples = 13 };

/* What an element is for 0, both ends and numbers between of the range of another: `origin`, a value and an element. */
typedef struct ref_side {
    uint64_t origin;
    double at[ref_samples]; /* NaN: nothing is known */
} ref_side;

typedef struct ref_sides {
    uint32_t *slot; /* of each element: one more than its place in the list; 0: it has none */
    ref_side *list;
    size_t count, room;
} ref_sides;

void ref_note_choices(ref_state *r); /* before the first op */
bool ref_begin_sides(ref_state *r, const ir_op *op, const ir_value *v); /* false after ref_fail() */
bool ref_let_choose(ref_state *r, const ir_op *op, const ir_value *v);  /* asks the rules; false after ref_fail() */
ref_side *ref_add_side(ref_state *r, const ir_op *op, const ir_value *v, size_t i); /* to be filled in; NULL after ref_fail() */
const ref_side *ref_side_of(const ref_state *r, const ir_value *v, size_t i);       /* NULL: none */
double ref_farthest_side(const ref_side *s, double from);                           /* infinite where they do not say */
void ref_forget_sides(ref_state *r, const ir_value *v);

/* ref_fold.c: whether the operand of a linear is a product with this factor, and values that a folded linear needs beyond its own
 * operands, NULL at the end. */
bool ref_fold_is_factor(const ref_state *r, const ir_op *linear, const ref_fold *f);
enum { ref_fold_most_needs = 6 };
void ref_fold_needs(const ir_op *linear, const ir_value *needs[ref_fold_most_needs]);

/* A number on its way into a dtype: what is surely too large becomes infinite, where rounding decides the error does. */
void ref_overflow(dtype t, double *value, double *error);

/* A sum as a device may build it, in any order. Of more than REF_CHAIN terms it is a sum of sums of so many at most
 * (templates/base/sums.h), unless `whole` says that a chain may have all (attention's weights). */
typedef struct ref_sum {
    double value, block, partial_squares, term_squares, input_squares; /* block: of the terms since the last whole one */
    double last;
    size_t count, repeats; /* repeats: terms equal to the one ahead of them, but for zeros */
    bool whole;
} ref_sum;
#define REF_CHAIN 4096
void ref_sum_add(ref_sum *s, double term, double error);
/* What equal terms round by, squared, in squares of u of the sum. A partial sum is a whole number of its own last places, so adding a term
 * rounds by what that term leaves of one, whatever the partial sum: equal terms all round alike within a binade, and their roundings, at
 * most u times the partial sum each, add up instead of cancelling. A term that n terms of a sum of `count` are equal to stands ahead of an
 * equal one about n^2 / count times, so n follows from the repeats. Few repeats are chance: 16 bits hold few numbers. */
double ref_repeated(size_t count, size_t repeats);
double ref_sum_rounding(const ref_sum *s); /* squared error by rounding alone */
/* What n additions round in random order, in squares of u: so many of the sum's square, so many of its terms' squares. */
typedef struct ref_chains {
    double of_value, of_terms;
} ref_chains;
ref_chains ref_chains_of(double n, bool whole);
double ref_sum_error(const ref_sum *s);    /* squared, with that of the terms */

/* Calls work(context, i) for i < count on all cores. */
void ref_parallel(size_t count, void (*work)(void *context, size_t i), void *context);
#endif
