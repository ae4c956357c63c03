/* In: a spec that fails in a known way. Out: a smaller one that fails in the same way: fewer outputs, ops, attributes, smaller dims.
 * What cannot be made smaller comes back as it is. */
#ifndef TFGEN_CLI_RANDOM_REDUCE_H
#define TFGEN_CLI_RANDOM_REDUCE_H
#include "runtime/cli/random/random_child.h"

typedef struct random_report_text { const char *outcome, *message, *level, *target; } random_report_text;

const random_spec *random_reduce(arena *a, const random_spec *s, const random_case *c, int level, const char *cause, random_child *child,
                                 const random_limits *limits);
/* What stands above a reduced spec. */
char *random_failure_comment(arena *a, const random_report_text *t, const char *from);
#endif
