/* In: dimension expressions such as "(H+2*KV)*hd". Out: canonical polynomials over the dynamic dims, with the static dims put
 * in as numbers. Refuses: unknown names, inexact division, overflow, more than max_terms terms. */
#ifndef TFGEN_EXTENT_H
#define TFGEN_EXTENT_H
#include "ir/base/arena.h"

enum { max_dims = 32, max_dynamic = 4, max_terms = 8, max_rank = 6 };

typedef struct dim {
    const char *name;
    long long value;     /* the value of this plan (static) or of this call (dynamic) */
    bool dynamic;
    bool used; /* named by an expression: extent_parse() sets it, and the reader reports dims that nothing names */
    long long low, high; /* allowed range; for a static dim both are value */
    int slot;            /* dynamic: index into term.power */
    int step;            /* of a dim that is a call's row stride: its values are multiples of step; 0: no such dim */
    position at;
} dim;

typedef struct dim_table {
    dim dims[max_dims];
    int count, dynamic_count;
} dim_table;

typedef struct term {
    long long factor;
    unsigned char power[max_dynamic];
} term;

/* Sum of terms; sorted, no zero factors, equal powers merged: equal extents are equal bytes. count 0 is the number 0. */
typedef struct extent {
    int count;
    term terms[max_terms];
} extent;

extent extent_number(long long value);
extent extent_dim(const dim *d); /* a dynamic dim alone */
dim *extent_lone_dim(const extent *e, dim_table *dims); /* the dim, if the extent is one dynamic dim alone; else NULL */
bool extent_is_number(const extent *e, long long *value);
bool extent_equal(const extent *x, const extent *y);
extent extent_add(arena *a, position at, extent x, extent y); /* these three bail on overflow or too many terms */
extent extent_subtract(arena *a, position at, extent x, extent y);
extent extent_multiply(arena *a, position at, extent x, extent y);
long long extent_value(const extent *e, const dim_table *dims); /* with the dims' present values; saturates at LLONG_MAX */
/* Value when every dynamic dim is at its upper bound. */
long long extent_high(const extent *e, const dim_table *dims);
dim *dim_find(dim_table *dims, const char *name);
/* Grammar: sum of products of factors; factor = number | name | ( sum ); operators + - * / ; / must divide exactly. After an error it
 * complains and returns extent_number(1). */
extent extent_parse(arena *a, dim_table *dims, const char *expression, position at);
void extent_print(text *t, const extent *e, const dim_table *dims); /* as spec and IR text: 2*B*S+1 */
#endif
