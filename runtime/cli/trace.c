/* In: a spec and options. Out: a timeline of its tiles on this machine's device or host engine: as text, JSON, a picture, or for Perfetto.
 * Refuses what planning and the device refuse; exit code 1 when tracing changed a result. */
#define _GNU_SOURCE
#include "runtime/cli/trace/timeline.h"
#include "runtime/cli/bench.h"
#include "runtime/cli/spread.h"
#include "runtime/cli/trial.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct trace_job {
    arena *a;
    const cli_options *o;
    const char *path;
} trace_job;

enum { runs_before = 2 /* keep the device busy before the traced run */, least_rounds = 3, most_rounds = 200 };

/* ---- the clock of the host engine (templates/frame/trace.h) */
typedef struct instant {
    unsigned long long ticks;
    double nanoseconds;
} instant;

static instant now(void)
{
    struct timespec t;
    instant i;
    clock_gettime(CLOCK_MONOTONIC, &t);
#if defined(__x86_64__)
    i.ticks = __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(i.ticks));
#else
    i.ticks = (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
#endif
    i.nanoseconds = 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
    return i;
}

typedef struct clock_kind {
    const char *name;
    double nanoseconds; /* per tick */
} clock_kind;

static clock_kind clock_of(const tfgen_device *d, const target_info *target, instant from, instant to)
{
    if (d->api == &host_device)
        return (clock_kind){"this machine's", (to.nanoseconds - from.nanoseconds) / (double)(to.ticks - from.ticks)};
    return target->vendor == vendor_amd ? (clock_kind){"the device's, 100 MHz", 10} : (clock_kind){"the device's", 1};
}

/* ---- two plans of one program */
typedef struct pair {
    arena *a;
    const ir_graph *graph;
    bench *plain, *traced;
    bench_options options;
    bool whole_tiles; /* one thread's times hold for the whole tile; false on the host engine, where other threads may run later */
} pair;

static const plan *plan_of(arena *a, compile_request request, const ir_graph **graph, const cli_options *o, bool trace)
{
    compiled c;
    tuning t = *request.tuning;
    t.trace = trace;
    request.tuning = &t;
    compile_inside(a, &request, &c);
    if (!trace) *graph = cli_graph(a, o, &c);
    if (!trace && !*graph) *graph = c.plan->ir;
    return c.plan;
}

/* Bails if tracing changed the plan: a kernel that spills with the trace gets another tile. */
static void check_same_tiles(const pair *p)
{
    arena *a = p->a;
    if (strcmp(ir_print(a, bench_plan_of(p->plain)->ir), ir_print(a, bench_plan_of(p->traced)->ir)) != 0)
        bail(a, code_unsupported, (position){0},
             "a kernel that records a trace needs more registers than there are, so it would get another tile; "
             "--tile fixes one that has room");
}

/* Runs both plans on the same inputs and compares their results bit by bit. */
static bool same_results(const pair *p)
{
    const size_t bytes = bench_results(p->plain, NULL);
    char *one = calloc(2, bytes ? bytes : 1);
    if (!one) bail(p->a, code_device, (position){0}, "not enough memory for %zu bytes of results", 2 * bytes);
    arena_defer(p->a, free, one);
    bench_forget_results(p->plain);
    bench_run_last(p->plain, 0);
    (void)bench_results(p->plain, one);
    bench_forget_results(p->plain);
    bench_run_last(p->traced, 0);
    (void)bench_results(p->plain, one + bytes);
    return memcmp(one, one + bytes, bytes) == 0;
}

/* Times both plans alternately, so that other load on the machine affects both. */
static void time_both(const pair *p, trace_facts *f)
{
    double plain[most_rounds], traced[most_rounds], one;
    const double start = seconds_now();
    bench_pass_half(p->traced);
    bench_runs(p->plain, 1, &one);
    bench_runs(p->traced, 1, &one);
    int n = 0;
    for (; n < most_rounds && (n < least_rounds || seconds_now() - start < p->options.seconds); n++) {
        bench_runs(p->plain, 1, &plain[n]);
        bench_runs(p->traced, 1, &traced[n]);
    }
    f->runs = n;
    f->plain = spread_of(plain, n).median;
    f->traced = spread_of(traced, n).median;
}

/* ---- records */
static size_t trace_bytes(const plan *p, const launch *l) { return (size_t)scratch_bytes(&p->scratches[l->trace], &p->ir->dims); }

static void clear_records(const pair *p, const plan *with)
{
    for (int i = 0; i < with->launch_count; i++) {
        const launch *l = &with->launches[i];
        bench_clear_scratch(p->traced, l->trace, trace_bytes(with, l));
    }
}

static bool has_sums(const launch *l)
{
    for (int i = 0; i < l->work_count; i++) {
        const phase_family f = l->work[i].phase->family;
        if (f == family_gemm || f == family_attention) return true;
    }
    return false;
}

static void list_phases(arena *a, const plan *p, const launch *l, trace_records *r)
{
    if (!l->together) return;
    trace_phase *list = arena_alloc(a, ((size_t)l->work_count + 1) * sizeof *list);
    for (int i = 0; i < l->work_count; i++)
        list[i] = (trace_phase){l->work[i].phase->name, extents_tiles(&l->work[i].extents, &p->ir->dims)};
    r->phases = list, r->phase_count = l->work_count;
}

static trace_records *read_records(const pair *p, const plan *with)
{
    arena *a = p->a;
    trace_records *list = arena_alloc(a, ((size_t)with->launch_count + 1) * sizeof *list);
    for (int i = 0; i < with->launch_count; i++) {
        const launch *l = &with->launches[i];
        const size_t bytes = trace_bytes(with, l);
        unsigned long long *words = calloc(1, bytes);
        if (!words) bail(a, code_device, (position){0}, "not enough memory for a trace of %zu bytes", bytes);
        arena_defer(a, free, words);
        bench_read_scratch(p->traced, l->trace, words, bytes);
        const long long own = bench_workgroups(p->traced, i);
        list[i] = (trace_records){.name = l->name,
                                  .ops = kernel_ops(a, p->graph, l->kernel),
                                  .words = words,
                                  .workgroups = own,
                                  .places = (long long)bytes / trace_record_bytes - own,
                                  .sums = p->whole_tiles && has_sums(l)};
        list_phases(a, with, l, &list[i]);
    }
    return list;
}

static void report(const trace_job *j, const trace_facts *f, const timeline *t)
{
    arena *a = j->a;
    const char *events = j->o->output ? trace_events(a, f, t) : NULL, *picture = j->o->svg ? trace_picture(a, f, t) : NULL;
    if (events) cli_write_file(a, j->o->output, events, strlen(events));
    if (picture) cli_write_file(a, j->o->svg, picture, strlen(picture));
    if (j->o->json) cli_print_json(cli_keep_json(a, trace_summary(f, t)));
    else if (!j->o->quiet && !options_fill_stdout(j->o)) trace_print(a, f, t);
}

static void trace_spec(void *argument)
{
    trace_job *j = argument;
    arena *a = j->a;
    const cli_options *o = j->o;
    cli_one_target(a, o);
    const char *target = o->target;
    tfgen_device *device = trial_open_device(a, o, &target);
    compile_request request = cli_request(a, o, j->path);
    request.target = target, request.device_label = device->api == &host_device ? NULL : device->info.label;
    pair p = {.a = a,
              .options = {.device = device,
                          .seed = (unsigned long long)o->number.seed,
                          .jobs = (int)o->number.jobs,
                          .seconds = o->real.seconds,
                          .graph = o->graph != NULL,
                          .cache = cli_cache(a, o)}};
    const plan *plain = plan_of(a, request, &p.graph, o, false), *traced = plan_of(a, request, &p.graph, o, true);
    p.plain = bench_open(a, p.graph, plain, &p.options, NULL);
    p.traced = bench_open(a, p.graph, traced, &p.options, p.plain);
    p.whole_tiles = device->api != &host_device || traced->target->wave == 1;
    check_same_tiles(&p);
    traced = bench_plan_of(p.traced);
    const instant from = now();
    if (!same_results(&p)) bail(a, code_check_failed, (position){0}, "internal: tracing changed a result");
    trace_facts f = {.block = traced->ir->name,
                     .dtype = dtype_name(traced->ir->type),
                     .level = fusion_level_name(traced->ir->level),
                     .target = traced->target->name,
                     .graph = o->graph != NULL};
    time_both(&p, &f);
    clear_records(&p, traced);
    bench_run_last(p.traced, runs_before);
    const trace_records *records = read_records(&p, traced);
    const clock_kind clock = clock_of(device, traced->target, from, now());
    f.clock = clock.name;
    f.device = device->api == &host_device ? "host" : arena_printf(a, "%s, %s", device->info.name, device->info.label);
    report(j, &f, timeline_make(a, records, traced->launch_count, clock.nanoseconds, device->info.multiprocessors));
}

int command_trace_main(const cli_options *o)
{
    if (!cli_is_one_spec(o)) return code_usage;
    trace_job j = {arena_new(), o, o->files[0]};
    return cli_run(trace_spec, &j, j.a);
}
