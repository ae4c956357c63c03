/* In: a graph, with or without kernels. Out: returns if every rule holds. Refuses: the first broken rule, by name. Others call ir_check()
 * (ir/ir.h); this header is private to ir/. */
#ifndef TFGEN_CHECK_H
#define TFGEN_CHECK_H
#include "ir/ir.h"

typedef struct checker {
    arena *a;
    const ir_graph *p;
    const char *pass; /* NULL: the graph was read from text, so a broken rule is a user error */
    const char *rule;
    ir_phase **phase_of_value; /* by value id: the producing phase, or NULL */
    int *order_of_value;       /* by value id: index in graph.ops, -1 for declared values */
} checker;

_Noreturn void rule_broken(const checker *c, position at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void ir_check_read(arena *a, const ir_graph *p); /* ir_check() for a graph read from text: bails code_bad_input at the op's place */
const char *const *check_rule_names(size_t *count);

void check_shapes(const checker *c);     /* check_shape.c: types and shapes of each op */
void check_attributes(const checker *c); /* check_shape.c: each op has exactly the attributes it takes */
void check_family(const checker *c);     /* check_phase.c and below */
void check_space(const checker *c);
void check_segments(const checker *c);
void check_memory(const checker *c);
void check_partial_sums(const checker *c);
void check_fold(const checker *c);
#endif
