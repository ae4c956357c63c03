/* In: a plan, a device, a time budget. Out: median and spread of its runs and launches, on normally distributed random data larger than
 * the device's last-level cache, so that runs find none of their data cached. Refuses (bails) what the device refuses. */
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
    double seconds; /* time budget for whole runs and for runs with events together */
    double last_level; /* bytes of the device's last-level cache; 0: unknown */
    bool graph;     /* time whole runs as replays of a captured graph */
    cache *cache;   /* kernel cache, or NULL */
} bench_options;

typedef struct bench_result {
    spread whole, *launches; /* whole: first launch to end of the last; launches: from separate runs with events between launches */
    work *works;
    double *samples; /* seconds of whole runs in order: all, or every n-th, so that at most record_most_samples are kept */
    int sample_count;
    int repeats, sets;       /* sets: how many sets of buffers (inputs, states, outputs, workspace, weights) runs rotate through */
    double set_bytes, compile_seconds;
    const plan *plan;        /* the plan that ran: the given one, or its replan after register spills (runtime/module/plan_code.h) */
} bench_result;

/* ---- the steps of bench_plan(), for callers that time several plans in turn (runtime/cli/tune/) */
typedef struct bench bench;
enum { bench_most_runs = 32 }; /* per batch */
/* Compiles and loads the plan and fills its sets of buffers; the arena closes it. like: NULL, or a bench of another plan of the same graph,
 * whose inputs, outputs, states and weights this one shares. like, options, graph and plan must outlive the result. Bails. */
bench *bench_open(arena *a, const ir_graph *graph, const plan *p, const bench_options *o, const bench *like);
const plan *bench_plan_of(const bench *b); /* the plan that runs, see bench_result.plan */
/* Seconds of up to bench_most_runs whole runs, one after the other, each on the next set of buffers. Bails. */
void bench_runs(bench *b, int count, double *seconds);
/* Times enough runs to last some milliseconds, at most `most`; returns how many. The first call does two untimed runs first, to warm the
 * instruction caches and to estimate that number. Bails. */
int bench_batch(bench *b, int most, double seconds[bench_most_runs]);
/* Median seconds of each launch over up to bench_most_runs runs with events between launches. Bails. */
void bench_launches(bench *b, int count, double *seconds);
/* Seconds per run when `count` runs are queued back to back, each on the next set of buffers: without launch `without`, or with launch
 * `only` alone (-1: not used). On a GPU the queue is a captured graph, so that no launch waits for the caller. Bails. */
double bench_queue(bench *b, int without, int only, int count);
work bench_work(bench *b, int launch);

/* ---- inspecting a run (runtime/cli/trace/) */
/* Skips half of the sets, so that the next run avoids the buffers that a bench sharing them has just used. */
void bench_pass_half(bench *b);
/* Number of workgroups of a launch. */
long long bench_workgroups(const bench *b, int launch);
/* Runs once on the first set of buffers, after `before` runs on other sets if there are that many, and waits. Bails. */
void bench_run_last(bench *b, int before);
/* Copies all outputs and states of the first set, concatenated, into data; returns their bytes. data NULL: the size alone. Bails. */
size_t bench_results(bench *b, void *data);
void bench_forget_results(bench *b); /* fills outputs with 0xff */
/* Read or clear a scratch buffer of the first set. Bails. */
void bench_read_scratch(bench *b, int scratch, void *data, size_t bytes);
void bench_clear_scratch(bench *b, int scratch, size_t bytes);

bench_result bench_plan(arena *a, const ir_graph *graph, const plan *p, const bench_options *o);
#endif
