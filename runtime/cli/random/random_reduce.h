/* In: a failing spec and its failure's cause. Out: a smaller spec with the same failure (fewer outputs, ops, attributes, smaller dims), or
 * the same spec if none is found; the smallest so far once random_stop is set. */
#ifndef TFGEN_CLI_RANDOM_REDUCE_H
#define TFGEN_CLI_RANDOM_REDUCE_H
#include "runtime/cli/random/random_child.h"

typedef struct random_report_text { const char *outcome, *message, *level, *target; } random_report_text;

const random_spec *random_reduce(arena *a, const random_spec *s, const random_case *c, int level, const char *cause, random_child *child,
                                 const random_limits *limits);
/* The comment written above a reduced spec. */
char *random_failure_comment(arena *a, const random_report_text *t, const char *from);
#endif
