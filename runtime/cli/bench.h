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

/* ---- the parts, for who times several plans in turn (runtime/cli/tune/) */
typedef struct bench bench;
enum { bench_most_runs = 32 }; /* of a batch */
/* Compiled, loaded, with data and sets of buffers; closed with the arena. like: NULL, or a bench of another plan of the same graph, whose
 * inputs, outputs, states and weights this one shares; it must outlive this one. options, graph and plan likewise. Bails. */
bench *bench_open(arena *a, const ir_program *graph, const plan *p, const bench_options *o, const bench *like);
const plan *bench_plan_of(const bench *b); /* what runs */
/* Seconds of up to bench_most_runs whole runs, one after the other, each on the next set of buffers. Bails. */
void bench_runs(bench *b, int count, double *seconds);
/* The same of as many runs as last some milliseconds, at most `most`; how many. Two ahead of the first say how many that are, and are not
 * counted: caches of code are cold. Bails. */
int bench_batch(bench *b, int most, double seconds[bench_most_runs]);
/* Seconds of each launch, the median of up to bench_most_runs runs with an event between two. Bails. */
void bench_launches(bench *b, int count, double *seconds);
/* What a run takes in a queue of `count` runs, each on the next set of buffers: of all launches but `without`, or of `only` alone (-1: no
 * such launch). On a GPU the queue is a captured graph, so that no launch waits for the caller. Bails. */
double bench_queue(bench *b, int without, int only, int count);
work bench_work(bench *b, int launch);

/* ---- a run that is looked into (runtime/cli/trace/) */
/* The next run is half of all sets further on: not on what a bench that takes them in turn with this one has just used. */
void bench_pass_half(bench *b);
/* Workgroups of a launch. */
long long bench_workgroups(const bench *b, int launch);
/* `before` runs on other sets of buffers, as far as there are others, then one on the first set, and waits. Bails. */
void bench_run_last(bench *b, int before);
/* Of the first set: all outputs and states, one after the other; with data NULL, how many bytes they have. Bails. */
size_t bench_results(bench *b, void *data);
void bench_forget_results(bench *b); /* outputs become 0xff... */
/* Of the first set: a scratch of the plan, read or cleared. Bails. */
void bench_read_scratch(bench *b, int scratch, void *data, size_t bytes);
void bench_clear_scratch(bench *b, int scratch, size_t bytes);

bench_result bench_plan(arena *a, const ir_program *graph, const plan *p, const bench_options *o);
#endif
