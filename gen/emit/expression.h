/* C++ expressions that the emitter builds: rows, columns, addresses, conditions, calls. The emitter inspects nodes, never text; text is
 * made when a statement is written.
 *
 * A node has a kind (gen/emit/expression.def) and operands; a leaf has a number or a name. Nodes are immutable and interned: a pool has
 * one node for equal expressions, so comparing pointers compares expressions. A pool serves one spec struct.
 *
 * Building (expression.c) keeps the order of operands, since another order may overflow. It only flattens nested sums and conditions:
 * x + (y - z) becomes x + y - z. Each node has a type, that of its wider operand: int, long long, or other (pointers, floats, vectors).
 * Types matter because `batch * 8ll` has 64 bits and `batch * 8` has 32. Constants are folded (x + 0, x * 1, 0 / x, x - 256 + 16,
 * x - 4 < 13) unless that changes the type: 1ll stays in `batch * 1ll`.
 *
 * Printing (expression_text.c) adds the parentheses that C needs.
 *
 * Names and functions are opaque text (`p.x_`, `load_aligned<V>`). Statements are lines of a writer (gen/emit/writer.h). */
#ifndef TFGEN_GEN_EXPRESSION_H
#define TFGEN_GEN_EXPRESSION_H
#include "ir/base/extent.h"

typedef enum expression_kind {
#define EXPRESSION(kind, token, binds) expression_##kind,
#include "gen/emit/expression.def"
} expression_kind;

typedef enum expression_type { type_int, type_long, type_other } expression_type;

typedef struct expression {
    expression_kind kind;
    expression_type type;
    long long number;
    const char *name; /* of a leaf; for a call, the function with its template arguments */
    int count;
    const struct expression *const *operands;
} expression;

typedef struct expression_pool expression_pool;
expression_pool *expression_pool_new(arena *a);

/* ---- leaves */
const expression *c_number(expression_pool *p, long long number); /* an int: 64 */
const expression *c_long(expression_pool *p, long long number);   /* 64ll */
const expression *c_int(expression_pool *p, const char *name);    /* a variable of type int */
const expression *c_name(expression_pool *p, const char *name);   /* a variable of another type, or a float literal */

/* ---- operators */
const expression *c_sum(expression_pool *p, const expression *x, const expression *y);
const expression *c_difference(expression_pool *p, const expression *x, const expression *y);
const expression *c_product(expression_pool *p, const expression *x, const expression *y);
const expression *c_quotient(expression_pool *p, const expression *x, const expression *y);
const expression *c_remainder(expression_pool *p, const expression *x, const expression *y);
const expression *c_less(expression_pool *p, const expression *x, const expression *y);
const expression *c_at_least(expression_pool *p, const expression *x, const expression *y);
const expression *c_equal(expression_pool *p, const expression *x, const expression *y);
const expression *c_both(expression_pool *p, const expression *x, const expression *y); /* x && y; NULL stands for true */
const expression *c_choice(expression_pool *p, const expression *test, const expression *x, const expression *otherwise);
const expression *c_element(expression_pool *p, const expression *list, const expression *index); /* list[index] */
/* function(operands...), whose result has this type. c_call() is for results of type_other. */
const expression *c_call_of(expression_pool *p, const char *function, expression_type type, int count, const expression *const *operands);
#define C_OPERANDS(...) \
    (int)(sizeof((const expression *[]){__VA_ARGS__}) / sizeof(const expression *)), (const expression *[]) { __VA_ARGS__ }
#define c_call(p, function, ...) c_call_of(p, function, type_other, C_OPERANDS(__VA_ARGS__))
/* column + shift */
const expression *c_shifted(expression_pool *p, const expression *column, long long shift);

/* ---- expression_text.c */
const char *c_text(arena *a, const expression *x);
#endif
