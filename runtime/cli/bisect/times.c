/* In: a plan on a device with a model. Out: each launch's time in the chain, alone, and predicted; the launch furthest above its
 * prediction. Refuses models without a bandwidth, which predict nothing. */
#include "gen/plan/predict.h"
#include "runtime/cli/bench.h"
#include "runtime/cli/bisect/bisect.h"
#include "runtime/cli/spread.h"
#include <string.h>

enum { batch = 8, least_rounds = 3, most_rounds = 100 };

typedef struct timing {
    bisection *b;
    bench *bench;
    const plan *plan;
    double *chained, *alone; /* seconds, most_rounds per launch */
    int rounds;
} timing;

/* A launch's time in the chain is the time that a run gets shorter without it, so overlap and waits that it causes count. */
static void time_round(timing *t)
{
    const double whole = bench_queue(t->bench, -1, -1, batch);
    for (int i = 0; i < t->plan->launch_count; i++) {
        const bool only = t->plan->launch_count == 1;
        const double shorter = only ? whole : whole - bench_queue(t->bench, i, -1, batch);
        t->chained[i * most_rounds + t->rounds] = shorter > 0 ? shorter : 0;
        t->alone[i * most_rounds + t->rounds] = bench_queue(t->bench, -1, i, batch);
    }
    t->rounds++;
}

static void time_all(timing *t, double seconds)
{
    const size_t room = ((size_t)t->plan->launch_count + 1) * most_rounds * sizeof(double);
    double unused[batch];
    t->chained = arena_alloc(t->b->a, room), t->alone = arena_alloc(t->b->a, room);
    bench_runs(t->bench, batch, unused); /* warm up clocks and pages */
    progress bar = progress_start("timing, rounds", least_rounds);
    const double start = seconds_now();
    while (t->rounds < least_rounds || (seconds_now() - start < seconds && t->rounds < most_rounds)) {
        time_round(t);
        if (t->rounds > bar.total) bar.total = t->rounds;
        progress_step(&bar, "");
    }
    progress_end(&bar);
}

static slow_launch judged(timing *t, int i)
{
    const launch *l = &t->plan->launches[i];
    const work w = bench_work(t->bench, i);
    prediction p;
    if (!launch_predict(t->b->a, t->plan, l, &w, &p))
        bail(t->b->a, code_usage, (position){0},
             "--what=slow: the device model %s does not say what its bandwidth is; --device-model names "
             "another model or a file (docs/devices.md)",
             t->plan->device->name);
    return (slow_launch){l, spread_of(t->chained + i * most_rounds, t->rounds).median,
                         spread_of(t->alone + i * most_rounds, t->rounds).median, p.seconds, predicted_limit_names[p.limit]};
}

static void need_model(const bisection *b)
{
    const device_model *d = b->plan->device;
    if (d->numbers[number_bandwidth].value <= 0)
        bail(b->a, code_usage, (position){0},
             "--what=slow: the device model %s has no bandwidth, so nothing can be predicted; "
             "--device-model names another model or a file (docs/devices.md)",
             d->name);
    if (d->match && !strstr(b->device->info.label, d->match))
        bail(b->a, code_usage, (position){0},
             "--what=slow: the device model %s is of a device that is called '%s', this one is '%s'; "
             "--device-model names another model or a file (docs/devices.md)",
             d->name, d->match, b->device->info.label);
}

void bisect_times(bisection *b)
{
    need_model(b);
    const bench_options options = {.device = b->device,
                                   .seed = b->trial.seed,
                                   .jobs = b->trial.jobs,
                                   .last_level = device_last_level(b->plan->device),
                                   .cache = b->trial.cache};
    timing t = {.b = b, .bench = bench_open(b->a, b->graph ? b->graph : b->plan->ir, b->plan, &options, NULL)};
    t.plan = bench_plan_of(t.bench);
    source_edits_check(b->a, &b->edits, b->plan, t.plan);
    time_all(&t, b->o->real.seconds);
    b->launches = arena_alloc(b->a, ((size_t)t.plan->launch_count + 1) * sizeof *b->launches);
    for (int i = 0; i < t.plan->launch_count; i++) {
        slow_launch *l = &b->launches[i];
        *l = judged(&t, i);
        if (!b->slowest || l->chained - l->predicted > b->slowest->chained - b->slowest->predicted) b->slowest = l;
    }
    b->found = b->slowest && b->slowest->chained > (1 + b->tolerance) * b->slowest->predicted;
    b->timed = t.plan;
    if (!b->slowest) return;
    const launch *slowest = b->slowest->launch;
    const ir_phase *phase = slowest->work[slowest->work_count - 1].phase;
    const ir_value *last = phase->op_count ? phase->ops[phase->op_count - 1]->outputs[0] : NULL;
    if (last) b->first = (finding){.made = locate(b, t.plan, &(mismatch){.value = last})};
}
