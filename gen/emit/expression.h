/* C++ expressions as the emitter builds them: rows, columns, addresses, conditions, calls. It asks questions of nodes, never of text; text
 * is made when a statement is written.
 *
 * A node is a kind (gen/emit/expression.def), its operands, and for leaves a number or a name. Nodes are interned: a pool has one node for
 * equal expressions, so `x == y` says that two places have the same row. Nodes never change. A pool serves one spec struct and lives in its
 * arena.
 *
 * Building (expression.c) keeps the order in which operands are given, since C++ would overflow elsewhere in another one: only a sum or a
 * condition behind another is written in one chain, x + (y - z) as x + y - z. A type goes with each node, since `batch * 8ll` has 64 bits
 * and `batch * 8` has not: int, long long, or other (pointers, floats, vectors), which is that of the wider operand. Numbers are folded
 * (x + 0, x * 1, 0 / x, x - 256 + 16, x - 4 < 13), unless the type would change: 1ll stays in `batch * 1ll`.
 *
 * Printing (expression_text.c) puts parentheses where C needs them.
 *
 * Names and functions are text (`p.x_`, `load_aligned<V>`) that is not taken apart again. Statements are lines of a writer
 * (gen/emit/writer.h). */
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
    const char *name; /* of a call: the function, with its template arguments */
    int count;
    const struct expression *const *operands;
} expression;

typedef struct expression_pool expression_pool;
expression_pool *expression_pool_new(arena *a);

/* ---- leaves */
const expression *c_number(expression_pool *p, long long number); /* an int: 64 */
const expression *c_long(expression_pool *p, long long number);   /* 64ll */
const expression *c_int(expression_pool *p, const char *name);    /* a variable of type int */
const expression *c_name(expression_pool *p, const char *name);   /* of any other type; also a literal of a float */

/* ---- operators */
const expression *c_sum(expression_pool *p, const expression *x, const expression *y);
const expression *c_difference(expression_pool *p, const expression *x, const expression *y);
const expression *c_product(expression_pool *p, const expression *x, const expression *y);
const expression *c_quotient(expression_pool *p, const expression *x, const expression *y);
const expression *c_remainder(expression_pool *p, const expression *x, const expression *y);
const expression *c_less(expression_pool *p, const expression *x, const expression *y);
const expression *c_at_least(expression_pool *p, const expression *x, const expression *y);
const expression *c_equal(expression_pool *p, const expression *x, const expression *y);
const expression *c_both(expression_pool *p, const expression *x, const expression *y); /* x && y; the other, where one is NULL */
const expression *c_choice(expression_pool *p, const expression *test, const expression *x, const expression *otherwise);
const expression *c_element(expression_pool *p, const expression *list, const expression *index); /* list[index] */
/* function(operands...): an int where it says so, else of another type. */
const expression *c_call_of(expression_pool *p, const char *function, expression_type type, int count, const expression *const *operands);
#define C_OPERANDS(...) \
    (int)(sizeof((const expression *[]){__VA_ARGS__}) / sizeof(const expression *)), (const expression *[]) { __VA_ARGS__ }
#define c_call(p, function, ...) c_call_of(p, function, type_other, C_OPERANDS(__VA_ARGS__))
/* column + shift */
const expression *c_shifted(expression_pool *p, const expression *column, long long shift);

/* ---- expression_text.c */
const char *c_text(arena *a, const expression *x);
#endif
