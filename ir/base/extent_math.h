/* In: extents. Out: results, or an extent_problem as a value: the expression reader reports it and goes on, whereas the functions of
 * ir/base/extent.h bail. Private to extent.c and extent_parse.c. */
#ifndef TFGEN_EXTENT_MATH_H
#define TFGEN_EXTENT_MATH_H
#include "ir/base/extent.h"

typedef enum extent_problem {
    extent_fine,
    extent_overflows,
    extent_too_many_terms,
    extent_divides_by_zero,
    extent_inexact
} extent_problem;

extent_problem extent_try_add(extent *out, const extent *x, const extent *y, int sign);
extent_problem extent_try_multiply(extent *out, const extent *x, const extent *y);
extent_problem extent_try_divide(extent *out, const extent *x, const extent *y);
const char *extent_problem_text(extent_problem problem); /* "is too large", ... : follows the expression's text */
#endif
