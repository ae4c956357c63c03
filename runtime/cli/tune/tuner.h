/* In: a plan, a device, a budget. Out: the fastest tile for each of its kernels, timed within the plan's own chain of launches; trials go
 * to the database, results to the wisdom. Bails on errors of the device and of files. */
#ifndef TFGEN_TUNE_TUNER_H
#define TFGEN_TUNE_TUNER_H
#include "runtime/cli/bench.h"
#include "runtime/cli/tune/database.h"
#include "runtime/cli/tune/share.h"
#include "runtime/cli/tune/space.h"
#include "runtime/wisdom/wisdom_file.h"
#include <signal.h>

typedef struct tuner { /* one per command */
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
    bool again, resume; /* again: tune kernels that the wisdom has, too; resume: continue from the database's trials */
    ranks ranks;        /* the processes that tune together */
    share *share;       /* their communication; NULL: this process is alone */
} tuner;

typedef struct tuned_kernel {
    const char *name, *phase, *label; /* name: of the launch; phase: of the phase; label: for people, the launch's name, with the phase's if
                                       * the launch has several */
    const char *signature, *standard, *tile, *how; /* how: the outcome, a word */
    double share, launch_seconds;  /* of the default tile: its share of the run's time; its time between events */
    double seconds, ratio, noise;  /* seconds: a run of the plan with the default tile; ratio: a run with the new tile, divided by that;
                                    * noise: the standard error of log(ratio) */
    int tried, refused, same, dropped, wrong, unjudged;
    bool ended;
} tuned_kernel;

typedef struct tuned_plan {
    const plan *plan; /* the default */
    tuned_kernel *kernels;
    int count;
    double before, ratio; /* before: seconds of a run of the default plan; ratio: a run with all kept tiles, divided by that */
} tuned_plan;

/* path: the spec's, for commands that are printed; where: its dims, for messages. Bails. */
tuned_plan tuner_run(tuner *t, arena *a, const compile_request *r, const ir_graph *graph, const plan *p, const char *path,
                     const char *where);
#endif
