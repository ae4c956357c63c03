/* In: a spec's text, a target, levels, and which oracles to ask. Out: a report that says of each level what came of it. Refuses nothing:
 * errors are what is looked for. The report is plain memory that a parent may share with a child that crashes. */
#ifndef TFGEN_CLI_RANDOM_CASE_H
#define TFGEN_CLI_RANDOM_CASE_H
#include "runtime/cli/random/random_spec.h"
#include "runtime/api/tfgen.h"

typedef enum random_outcome {
    random_unrun, random_good, random_refused, random_wrong, random_internal, random_bad_spec, random_not_compiled, random_device_error,
    random_crashed, random_hung, random_outcome_count
} random_outcome;
extern const char *const random_outcome_names[random_outcome_count];

enum { random_most_levels = 3, random_most_message = 900 };

typedef struct random_ratio {
    double largest, smallest; /* of all values that an op made: error over bound; smallest above 0 */
    double spread, spread_f32; /* the largest RMS of a value's errors over bounds, of those with enough elements; of f32 */
    int count;
} random_ratio;

typedef struct random_level_report {
    random_outcome outcome;
    char message[random_most_message]; /* what was said, or which value is how far away */
    op_kind op;                        /* of a wrong value, the op that makes it */
    double ratio;
} random_level_report;

typedef struct random_report {
    random_level_report levels[random_most_levels];
    int current; /* the level under way */
    bool done;
    int kernels;
    long long unjudged; /* elements of which the reference does not know whether they are numbers */
    random_ratio ratios[op_count];
} random_report;

typedef enum random_oracle { /* bits (random_oracle.c says what each asks); the float64 reference is asked of whatever runs */
    oracle_text = 1, oracle_dead = 2, oracle_names = 4, oracle_levels = 8,
    oracle_order = 16, oracle_batch = 32, oracle_check = 64, oracle_target = 128 /* these compile kernels of their own */
} random_oracle;

typedef struct random_case {
    const random_spec *spec; /* what yaml was written from */
    const char *yaml, *comment, *name, *target, *other_target; /* other_target: for oracle_target */
    const char *const *levels;
    int level_count;
    unsigned oracles;
    const char
        *mistake[2]; /* for tests: the plan is made of the text with the second word in place of the first, as long; the graph is not */
    bool plan_only; /* nothing is compiled or run: source is as far as it goes */
    unsigned long long data_seed;
    const char *device; /* NULL: the host engine */
    tfgen_device **open; /* where the process that runs the case keeps its device, for the next ones */
} random_case;

void random_case_run(const random_case *c, random_report *out);
/* The worst level of a report, or -1 when all are good or refused by name. */
int random_report_failure(const random_report *r, int level_count);
/* What two failures of one cause have in common: the outcome and the message without names and numbers. */
char *random_report_cause(arena *a, const random_report *r, int level);
#endif
