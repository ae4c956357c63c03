/* In: a spec's text, a level, a target. Out: the device's numbers and bounds for each output, and the checks of the reference. Bails if a
 * stage does. */
#ifndef TFGEN_CLI_RANDOM_RESULTS_H
#define TFGEN_CLI_RANDOM_RESULTS_H
#include "runtime/cli/random/random_case.h"
#include "runtime/cli/trial.h"

enum { random_most_results = 64 };

typedef struct random_results {
    arena *a; /* owns what follows */
    int count;
    struct random_result { const char *name; size_t count; double *got, *bound; } list[random_most_results];
} random_results;

typedef struct random_trial {
    const random_case *c;
    const char *yaml, *level, *target;
    bool check;               /* under the race and bounds checker */
    const dim_override *dims; /* or NULL */
    size_t dim_count;
    random_results *results;  /* filled by the run, or NULL */
} random_trial;

compile_request random_request(const random_trial *t);
/* The number of multiprocessors (1 to 17) that the host engine reports for a case, so that launches have several workgroups that share
 * tiles and wait for each other. */
int random_multiprocessors(unsigned long long data_seed);
fusion_level random_level(const char *name); /* the name must be valid */
trial_result random_trial_run(arena *a, const random_trial *t, const compiled *done);
/* True if outputs of equal name differ by at most the sum of their bounds over their common length; else `message` says where. */
bool random_results_agree(const random_results *x, const random_results *y, char *message, size_t size);
#endif
