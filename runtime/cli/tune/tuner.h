/* In: a plan, a device, a budget. Out: for each of its kernels the tile that is fastest there, in the plan's own chain of launches; what
 * was tried is in the database, what was found in the wisdom. Refuses (bails) what the device and the files refuse. */
#ifndef TFGEN_TUNE_TUNER_H
#define TFGEN_TUNE_TUNER_H
#include "runtime/cli/bench.h"
#include "runtime/cli/tune/database.h"
#include "runtime/cli/tune/share.h"
#include "runtime/cli/tune/space.h"
#include "runtime/wisdom/wisdom_file.h"
#include <signal.h>

typedef struct tuner { /* of one command */
    arena *a;
    const cli_options *o;
    tfgen_device *device;
    cache *cache;
    database *trials;
    long long session;
    const char *wisdom; /* path */
    const char *date;
    const volatile sig_atomic_t *stopped;
    double until;       /* by seconds_now() */
    bool again, resume; /* also what is known; go on with what the database knows */
    ranks ranks;        /* that tune together */
    share *share;       /* what they tell each other; NULL: this one is alone */
} tuner;

typedef struct tuned_kernel {
    const char *name, *signature, *standard, *tile, *how; /* how: what came of it, a word */
    double share, launch_seconds;  /* of the run's time, of the default; between events */
    double seconds, ratio, noise;  /* of the whole run with the default; of it with the tile; standard error of the logarithm */
    int tried, refused, same, dropped, wrong, unjudged;
    bool ended;
} tuned_kernel;

typedef struct tuned_plan {
    const plan *plan; /* the default */
    tuned_kernel *kernels;
    int count;
    double before, ratio; /* seconds of a run; with all that was kept */
} tuned_plan;

/* path: of the spec, for commands that are shown; where: its dims, for people. Bails. */
tuned_plan tuner_run(tuner *t, arena *a, const compile_request *r, const ir_program *graph, const plan *p, const char *path,
                     const char *where);
#endif
