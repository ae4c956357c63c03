/* In: a plan, a device, a time budget. Out: how long its launches take there: medians and spreads of many runs, on data that is normal
 * random numbers and that no cache of the device can hold. Refuses (bails) what the device refuses. */
#ifndef TFGEN_CLI_BENCH_H
#define TFGEN_CLI_BENCH_H
#include "runtime/cli/cli.h"
#include "runtime/cli/record.h"
#include "gen/base/work.h"
#include "runtime/module/module.h"

typedef struct bench_options {
    tfgen_device *device;
    unsigned long long seed;
    int jobs;
    double seconds; /* of timing, both kinds of runs together */
    double last_level; /* bytes of the device's last cache, or 0 */
    bool graph;     /* whole runs are replays of a captured graph */
    cache *cache;   /* of compiled kernels, or NULL */
} bench_options;

typedef struct bench_result {
    spread whole, *launches; /* a run from its first launch to the end of its last; each launch in runs with an event between two */
    work *works;
    double *samples; /* seconds of whole runs, in their order: all, or every n-th, at most record_most_samples of them */
    int sample_count;
    int repeats, sets;       /* sets of inputs, states, outputs, workspace and weights that the runs take in turn */
    double set_bytes, compile_seconds;
    const plan *plan;        /* what ran: the plan given, or one made again where its kernels spill (runtime/module/plan_code.h) */
} bench_result;

bench_result bench_plan(arena *a, const ir_program *graph, const plan *p, const bench_options *o);
#endif
