/* In: specs and options. Out: for each fusion level the launch list with times, work and the share of the device's floor, as tables or as
 * one JSON array. Refuses levels, files and devices that do not exist; exit code 1 when --check finds a value outside its bound. */
#include "runtime/cli/bench.h"
#include "gen/base/peaks.h"
#include "runtime/cli/plan_words.h"
#include "runtime/cli/record.h"
#include "runtime/cli/trial.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_job {
    arena *a;
    const cli_options *o;
    const char *path, *level; /* level NULL: the level that the IR text names */
    json_t *all; /* list of all runs as JSON; NULL: neither --json nor --record asks for it */
    trial_verdict verdict; /* of --check */
} bench_job;

typedef struct report {
    arena *a;
    const ir_graph *graph; /* or NULL */
    const plan *plan;
    const tfgen_device_info *device;
    const device_model *peaks; /* NULL: no model of this device, or one without peaks */
    const bench_result *r;
    bool graphs, samples; /* graphs: runs are replays of a graph; samples: put all samples into the JSON */
    const char *check;    /* the result of --check as a sentence, or NULL */
} report;

/* ---- words */
static bool on_host(const report *p) { return strcmp(p->device->name, "host") == 0; }

static const char *time_text(arena *a, double seconds) { return spread_time_text(a, seconds, true); }

static double bytes_of(const work *w) { return w->read + w->written; }

static double floor_of(const report *p, const work *w, const char **limit)
{
    const char *unused;
    return p->peaks ? peaks_floor(p->peaks, p->plan->ir->type, w, limit ? limit : &unused) : 0;
}

/* The sum of the launches' floors: the least time of this launch list. */
static double floor_of_all(const report *p)
{
    double sum = 0;
    for (int i = 0; i < p->plan->launch_count; i++) sum += floor_of(p, &p->r->works[i], NULL);
    return sum;
}

static work work_of_all(const report *p)
{
    work sum = {0};
    for (int i = 0; i < p->plan->launch_count; i++) sum = work_add(&sum, &p->r->works[i]);
    return sum;
}

/* ---- the table */
static void print_row(const report *p, const char *name, const spread *s, const work *w, double least, const char *note)
{
    printf("  %-26s %12s %12s %12s %10.3f %9.3f %8.1f %8.0f", name, time_text(p->a, s->median), time_text(p->a, s->low),
           time_text(p->a, s->high), (w->products + w->others) * 1e-9, bytes_of(w) * 1e-6, (w->products + w->others) / s->median * 1e-9,
           bytes_of(w) / s->median * 1e-9);
    if (p->peaks) printf(" %8.3f", least / s->median);
    printf("  %s%s%s\n", colour_code(stdout, colour_dim), note, colour_code(stdout, colour_none));
}

static void print_head(const report *p)
{
    const ir_graph *ir = p->plan->ir;
    printf("%s%s  %s  level %s%s  on %s: %s (target %s)\n  %s\n", colour_code(stdout, colour_bold), ir->name,
           dtype_name(ir->type), fusion_level_name(ir->level), colour_code(stdout, colour_none), p->device->name,
           p->device->label, p->plan->target->name, dims_text(p->a, &ir->dims, " "));
    if (on_host(p)) printf("  these times are the CPU's: the host engine runs the kernels; they say nothing about a GPU\n");
    printf("  %-26s %12s %12s %12s %10s %9s %8s %8s%s\n", "launch", "median", "10 %", "90 %", "GFLOP", "MB", "GFLOP/s", "GB/s",
           p->peaks ? " of floor" : "");
}

static void print_table(const report *p)
{
    const bench_result *r = p->r;
    const work all = work_of_all(p);
    print_head(p);
    for (int i = 0; i < p->plan->launch_count; i++) {
        const char *limit = "", *ops = kernel_ops(p->a, p->graph, p->plan->launches[i].kernel);
        const double least = floor_of(p, &r->works[i], &limit);
        print_row(p, p->plan->launches[i].name, &r->launches[i], &r->works[i], least,
                  p->peaks ? arena_printf(p->a, "%s; %s", limit, ops) : ops);
    }
    print_row(p, p->graphs ? "whole run, graph replay" : "whole run", &r->whole, &all, floor_of_all(p),
              text_counted(p->a, p->plan->launch_count, "launch"));
    printf("  %d repeats over %d sets of buffers of %.1f MB each; compiled in %s\n", r->repeats, r->sets, r->set_bytes * 1e-6,
           time_text(p->a, r->compile_seconds));
    if (p->peaks && device_last_level(p->peaks) > r->sets * r->set_bytes)
        printf("  all sets together fit the last-level cache (%.0f MB): these times are those of cached data\n",
               device_last_level(p->peaks) * 1e-6);
    if (p->check) printf("  %s\n", p->check);
    putchar('\n');
}

/* ---- JSON */
static json_t *spread_json(const spread *s) { return json_pack("{s:f, s:f, s:f}", "median", s->median, "p10", s->low, "p90", s->high); }

static json_t *launch_json(const report *p, const char *name, const char *ops, const spread *s, const work *w, double least,
                           const char *limit)
{
    json_t *o = json_pack("{s:s, s:s, s:o, s:f, s:f, s:f, s:f}", "name", name, "ops", ops, "seconds", spread_json(s), "products",
                          w->products, "others", w->others, "bytes_read", w->read, "bytes_written", w->written);
    if (!p->peaks) return o;
    json_object_set_new(o, "floor_seconds", json_real(least));
    json_object_set_new(o, "of_floor", json_real(least / s->median));
    if (limit) json_object_set_new(o, "limit", json_string(limit));
    return o;
}

/* Times of whole runs, in order. */
static json_t *samples_json(const bench_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->sample_count; i++) json_array_append_new(list, json_real(r->samples[i]));
    return list;
}

static json_t *report_json(const report *p)
{
    const ir_graph *ir = p->plan->ir;
    const bench_result *r = p->r;
    const work all = work_of_all(p);
    json_t *launches = json_array();
    for (int i = 0; i < p->plan->launch_count; i++) {
        const char *limit = NULL;
        const double least = floor_of(p, &r->works[i], &limit);
        json_array_append_new(launches, launch_json(p, p->plan->launches[i].name, kernel_ops(p->a, p->graph, p->plan->launches[i].kernel),
                                                    &r->launches[i], &r->works[i], least, limit));
    }
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:b, s:i, s:i, s:f, s:f, s:s?, s:o, s:o}",
                          "block", ir->name, "dtype", dtype_name(ir->type), "fusion", fusion_level_name(ir->level),
                          "device", p->device->name, "label", p->device->label, "target", p->plan->target->name, "clock", on_host(p) ?
                          "CPU" : "device events", "dims", cli_json_dims(&ir->dims), "graph", p->graphs, "repeats", r->repeats,
                          "sets", r->sets, "set_bytes", r->set_bytes, "compile_seconds", r->compile_seconds, "check", p->check,
                          "whole", launch_json(p, "whole", "", &r->whole, &all, floor_of_all(p), NULL), "launches", launches);
    if (p->samples) json_object_set_new(o, "samples", samples_json(r));
    return o;
}

/* ---- one spec at one level */
static const char *check_result(bench_job *j, const ir_graph *graph, const compiled *c, tfgen_device *device)
{
    if (!graph) bail(j->a, code_usage, (position){0}, "--check: the reference needs a graph, which --spec=SPEC names");
    const trial_options options = {.device = device,
                                   .seed = (unsigned long long)j->o->number.seed,
                                   .jobs = (int)j->o->number.jobs,
                                   .cache = cli_cache(j->a, j->o),
                                   .reference = reference_always};
    const trial_result r = trial_run(j->a, graph, c->plan, &options);
    static const char *const says[] = {[trial_unchecked] = "not checked",
                                       [trial_good] = "checked: every value is within its bound",
                                       [trial_unjudged] = "UNJUDGED: no element of some value was judged (tfgen run shows which)",
                                       [trial_bad] = "BAD: a bound is exceeded (tfgen run shows which)"};
    j->verdict = r.verdict;
    return says[r.verdict];
}

static void bench_level(void *argument)
{
    bench_job *j = argument;
    arena *a = j->a;
    cli_options o = *j->o;
    o.fusion = j->level;
    tfgen_device *device = cli_open_device(a, o.device);
    compile_request request = cli_request(a, &o, j->path);
    compiled c;
    request.target = device->info.target, request.device_label = device->info.label;
    compile_inside(a, &request, &c);
    const device_model *limits = cli_peaks(a, &o, c.plan->device, device);
    const bench_options options = {.device = device,
                                   .seed = (unsigned long long)o.number.seed,
                                   .jobs = (int)o.number.jobs,
                                   .seconds = o.real.seconds,
                                   .last_level = limits ? device_last_level(limits) : 0,
                                   .graph = o.graph != NULL,
                                   .cache = cli_cache(a, &o)};
    const ir_graph *graph = cli_graph(a, &o, &c);
    const char *check = o.check ? check_result(j, graph, &c, device) : NULL;
    const bench_result result = bench_plan(a, graph ? graph : c.plan->ir, c.plan, &options);
    if (result.plan != c.plan) compile_dump(a, &request, result.plan);
    const report p = {a, graph, result.plan, &device->info, limits, &result, options.graph, o.record != NULL, check};
    if (j->all) json_array_append_new(j->all, report_json(&p));
    if (!o.json) print_table(&p);
}

typedef struct level_job {
    arena *a;
    const cli_options *o;
    name_list levels;
} level_job;

static void find_levels(void *argument)
{
    level_job *j = argument;
    const char *given = j->o->fusion ? j->o->fusion : "tile";
    j->levels = options_list(j->a, strcmp(given, "all") == 0 ? fusion_levels : given);
    for (size_t i = 0; i < j->levels.count; i++) options_level(j->a, j->levels.names[i]);
    if (!j->o->fusion && j->o->from) j->levels.names[0] = NULL; /* IR text has its level */
}

typedef struct record_job {
    arena *a;
    const char *path;
    json_t *runs;
} record_job;

static void record_runs(void *argument)
{
    record_job *j = argument;
    record_write(j->a, j->path, j->runs);
}

/* Writes the record; returns its error code, or `before` if it has none. */
static int write_record(const char *path, json_t *runs, int before)
{
    record_job j = {arena_new(), path, runs};
    const int code = cli_run(record_runs, &j, j.a);
    return code ? code : before;
}

int command_bench_main(const cli_options *o)
{
    level_job levels = {arena_new(), o, {0}};
    int worst = arena_run(levels.a, find_levels, &levels);
    fputs(arena_diagnostics(levels.a), stderr);
    json_t *all = o->json || o->record ? json_array() : NULL;
    for (int i = 0; i < o->file_count && worst != code_usage; i++)
        for (size_t k = 0; k < levels.levels.count; k++) {
            bench_job j = {.a = arena_new(), .o = o, .path = o->files[i], .level = levels.levels.names[k], .all = all};
            int code = cli_run(bench_level, &j, j.a);
            if (code == code_ok) code = (int)trial_verdict_codes[j.verdict];
            worst = cli_worse(worst, code);
        }
    if (o->json && worst != code_usage) cli_print_json(all);
    if (o->record && worst != code_usage && json_array_size(all)) worst = write_record(o->record, all, worst);
    json_decref(all);
    arena_free(levels.a);
    return worst;
}
