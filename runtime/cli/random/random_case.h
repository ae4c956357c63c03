/* In: a spec's text, a target, levels, and the oracles to run. Out: a report with the outcome of each level; errors are outcomes. The
 * report has no pointers, so that a parent can read it from shared memory after its child crashed. */
#ifndef TFGEN_CLI_RANDOM_CASE_H
#define TFGEN_CLI_RANDOM_CASE_H
#include "runtime/cli/random/random_spec.h"
#include "runtime/api/tfgen.h"

typedef enum random_outcome {
    random_unrun, random_good, random_refused, random_wrong, random_internal, random_bad_spec, random_not_compiled, random_device_error,
    random_crashed, random_hung, random_outcome_count
} random_outcome;
extern const char *const random_outcome_names[random_outcome_count];

enum { random_most_levels = 4, random_most_message = 900 };

typedef struct random_ratio {
    double largest, smallest; /* a value's ratio is its largest error / bound; these are the largest ratio of all values that the op
                               * made, and the smallest ratio above 0 */
    double spread, spread_f32; /* largest RMS of error / bound over values with enough elements; the same of f32 values */
    int count;
} random_ratio;

typedef struct random_level_report {
    random_outcome outcome;
    char message[random_most_message]; /* the error message, or the wrong value and its distance */
    op_kind op;                        /* the op that made the wrong value */
    double ratio;
} random_level_report;

typedef struct random_report {
    random_level_report levels[random_most_levels];
    int current; /* the level being run */
    bool done;
    int kernels;
    long long unjudged; /* elements that the reference could not judge: they may or may not be finite */
    random_ratio ratios[op_count];
} random_report;

/* Bits, explained in random_oracle.c and random_oracle_run.c; whatever runs is compared with the float64 reference as well. Oracles from
 * oracle_order on compile kernels of their own. */
typedef enum random_oracle {
    oracle_text = 1, oracle_dead = 2, oracle_names = 4, oracle_levels = 8,
    oracle_order = 16, oracle_batch = 32, oracle_check = 64, oracle_target = 128
} random_oracle;

typedef struct random_case {
    const random_spec *spec; /* the model that yaml was printed from */
    const char *yaml, *comment, *name, *target, *other_target; /* other_target: for oracle_target */
    const char *const *levels;
    int level_count;
    unsigned oracles;
    /* For tests: two strings of equal length. The plan, but not the reference's graph, is made from the text with [0] replaced by [1]. */
    const char *mistake[2];
    bool plan_only; /* stops after emitting source: no compiling, no run */
    unsigned long long data_seed;
    const char *device; /* NULL: the host engine */
    tfgen_device **open; /* caches the open device across cases run by one process */
} random_case;

void random_case_run(const random_case *c, random_report *out);
/* Index of the first level of a report that failed; -1 if each is good, was refused with a message, or did not run. */
int random_report_failure(const random_report *r, int level_count);
/* A key that failures of one cause share: the outcome and the message without names and numbers. */
char *random_report_cause(arena *a, const random_report *r, int level);
#endif
