/* In: the SCALING rows of ir/op.def. Out: a rope's scaling as data, for readers, printer, verifier and schema. */
#ifndef TFGEN_SCALING_H
#define TFGEN_SCALING_H
#include "ir/ir.h"

typedef struct scaling_number {
    rope_scaling_kind kind;
    const char *key;
    size_t offset; /* of a double in rope_scaling */
    double otherwise;
    bool is_flag;
} scaling_number;
extern const scaling_number scaling_numbers[];
extern const int scaling_number_count;
extern const char *const scaling_names[scaling_count]; /* "none" first */

enum { most_listed_numbers = 4096 };
static inline double *scaling_at(rope_scaling *s, const scaling_number *n) { return (double *)((char *)s + n->offset); }
static inline double scaling_value(const rope_scaling *s, const scaling_number *n)
{
    return *(const double *)((const char *)s + n->offset);
}
bool numbers_same(const number_list *x, const number_list *y);
bool scaling_same(const rope_scaling *x, const rope_scaling *y);
/* NULL: valid for a rope of `rotary` elements (0: not known yet) with base theta; else a message with what is invalid. */
const char *scaling_fault(const rope_scaling *s, double theta, long long rotary);
#endif
