/* In: `verify --random=N` and a seed. Out: N specs drawn and run, each at every level on one target and dtype; failures, reduced; counts.
 * Stopped by a signal, it reports the cases that ended, and the signal then ends the process. Refuses options that are about a given spec.
 * A range of indices (--first) always gives the same cases, so that a long run can be cut into slices that run in parallel. */
#include "runtime/cli/random/random_run.h"
#include "ir/base/processors.h"
#include "runtime/cli/random/random_child.h"
#include "runtime/cli/random/random_reduce.h"
#include "runtime/cli/trial.h"
#include "runtime/data/random.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_targets = 16, most_causes = 400 };

typedef struct cause {
    const char *key, *first, *message; /* first, message: name and message of the first case */
    random_outcome outcome;
    int count;
} cause;

typedef struct drawn {
    random_case c;
    arena *a;
    random_spec *spec;
    long long index;
    int target, type;
} drawn;

typedef struct random_run {
    arena *a;
    const cli_options *o;
    name_list levels, types, targets;
    const char *device; /* NULL: the host engine */
    long long seed, first, count, ended;
    random_limits limits;
    int counts[most_targets][3][random_outcome_count], specs[most_targets][3];
    long long kernels, unjudged, unjudged_specs;
    cause causes[most_causes];
    int cause_count, failed;
    random_ratio ratios[op_count];
    random_child *children[random_most_children], *reducer;
    drawn under_way[random_most_children];
    int jobs;
    progress bar;
} random_run;

/* ---- a case from its index */
/* Pairs of target and dtype take turns, so that every slice has them evenly, and short slices have all targets and all dtypes. */
static int target_of(const random_run *r, long long index) { return (int)((unsigned long long)index % r->targets.count); }

static int type_of(const random_run *r, long long index)
{
    const unsigned long long i = (unsigned long long)index, n = r->targets.count;
    dtype type = dtype_f32;
    (void)dtype_parse(r->types.names[(i % n + i / n) % r->types.count], &type);
    return type;
}

/* Cheap oracles run always; each one that compiles again runs in at most one of eight cases. */
static unsigned oracles_of(const random_run *r, long long index)
{
    static const unsigned dear[16] = {oracle_order, oracle_order, oracle_batch, oracle_batch, oracle_check, oracle_target};
    return oracle_text | oracle_dead | oracle_names | oracle_levels |
           dear[random_bits((uint64_t)r->seed, random_stream("oracle"), (uint64_t)index) % 16];
}

static const char *other_target(const random_run *r, long long index)
{
    size_t count;
    const target_info *list = target_list(&count);
    return list[random_bits((uint64_t)r->seed, random_stream("other"), (uint64_t)index) % count].name;
}

static drawn draw_case(const random_run *r, long long index)
{
    drawn w = {.a = arena_new(), .index = index, .type = type_of(r, index)};
    w.target = target_of(r, index);
    w.spec = random_spec_draw(w.a, (uint64_t)r->seed, (uint64_t)index, w.type);
    w.c = (random_case){.name = arena_printf(w.a, "random-%lld-%lld.yaml", r->seed, index), .target = r->targets.names[w.target],
                        .levels = r->levels.names, .level_count = (int)r->levels.count, .data_seed = (unsigned long long)index + 1,
                        .oracles = oracles_of(r, index), .other_target = other_target(r, index), .plan_only = r->o->plan != NULL,
                        .device = r->device, .spec = w.spec};
    w.c.comment = arena_printf(w.a, "drawn by `tfgen verify --random=1 --seed=%lld --first=%lld`, for %s", r->seed, index, w.c.target);
    w.c.yaml = random_spec_text(w.a, w.spec, w.c.comment);
    return w;
}

/* ---- adding up */
static cause *cause_of(random_run *r, const char *key)
{
    for (int i = 0; i < r->cause_count; i++)
        if (strcmp(r->causes[i].key, key) == 0) return &r->causes[i];
    if (r->cause_count == most_causes) return &r->causes[most_causes - 1];
    cause *c = &r->causes[r->cause_count++];
    *c = (cause){.key = arena_printf(r->a, "%s", key)};
    return c;
}

static void add_ratios(random_run *r, const random_report *report)
{
    for (int k = 0; k < op_count; k++) {
        const random_ratio *from = &report->ratios[k];
        random_ratio *to = &r->ratios[k];
        if (from->largest > to->largest) to->largest = from->largest;
        if (from->smallest > 0 && (to->smallest == 0 || from->smallest < to->smallest)) to->smallest = from->smallest;
        if (from->spread > to->spread) to->spread = from->spread;
        if (from->spread_f32 > to->spread_f32) to->spread_f32 = from->spread_f32;
        to->count += from->count;
    }
}

/* The first failure of a cause is reduced; the others are counted. */
static void show_failure(random_run *r, drawn *w, const random_report *report, int level, cause *c)
{
    const random_level_report *l = &report->levels[level];
    random_report_text t = {random_outcome_names[l->outcome], l->message, w->c.levels[level], w->c.target};
    fprintf(stderr, "%s%s%s: %s at %s on %s, %s: %s\n", colour_code(stderr, colour_bad), random_outcome_names[l->outcome],
            colour_code(stderr, colour_none), w->c.name, w->c.levels[level], w->c.target, dtype_name((dtype)w->type), l->message);
    const random_spec *small = random_reduce(w->a, w->spec, &w->c, level, c->key, r->reducer, &r->limits);
    const char *yaml = random_spec_text(w->a, small, random_failure_comment(w->a, &t, w->c.yaml));
    fprintf(stderr, "%s\n", yaml);
    if (r->o->output) cli_write_file(w->a, arena_printf(w->a, "%s/%s", r->o->output, w->c.name), yaml, strlen(yaml));
}

static void add_report(random_run *r, drawn *w, const random_report *shared)
{
    const random_report report = *shared; /* a copy: reducing runs other cases */
    const int bad = random_report_failure(&report, w->c.level_count);
    for (int i = 0; i < w->c.level_count; i++) {
        const random_level_report *l = &report.levels[i];
        r->counts[w->target][w->type][l->outcome]++;
        if (l->outcome == random_refused) {
            cause *c = cause_of(r, random_report_cause(w->a, &report, i));
            if (!c->count++)
                c->outcome = random_refused, c->first = arena_printf(r->a, "%s", w->c.name),
                c->message = arena_printf(r->a, "%.200s", l->message);
        }
    }
    r->specs[w->target][w->type]++;
    r->kernels += report.kernels;
    r->unjudged += report.unjudged, r->unjudged_specs += report.unjudged > 0;
    add_ratios(r, &report);
    if (bad < 0) return;
    r->failed++;
    cause *c = cause_of(r, random_report_cause(w->a, &report, bad));
    if (c->count++) return;
    c->outcome = report.levels[bad].outcome;
    c->first = arena_printf(r->a, "%s", w->c.name);
    c->message = arena_printf(r->a, "%.200s", report.levels[bad].message);
    show_failure(r, w, &report, bad, c);
}

/* ---- many at once */
static void finish(random_run *r, int slot)
{
    drawn *w = &r->under_way[slot];
    add_report(r, w, random_child_report(r->children[slot]));
    progress_step(&r->bar, w->c.name);
    arena_free(w->a);
    w->a = NULL;
}

static void run_all(random_run *r)
{
    long long next = 0;
    while (r->ended < r->count && !random_stop) {
        for (int i = 0; i < r->jobs && !random_stop; i++) {
            drawn *w = &r->under_way[i];
            if (w->a && random_child_ended(r->children[i], r->jobs == 1 ? 1000 : 20 / r->jobs + 1)) finish(r, i), r->ended++;
            if (w->a || next == r->count) continue;
            *w = draw_case(r, r->first + next++);
            if (!random_child_start(r->children[i], &w->c, &r->limits))
                bail(r->a, code_device, (position){0}, "could not start a process for a case");
        }
    }
    for (int i = 0; i < r->jobs; i++)
        if (r->under_way[i].a) arena_free(r->under_way[i].a);
}

static void write_specs(random_run *r)
{
    for (long long i = 0; i < r->count; i++) {
        drawn w = draw_case(r, r->first + i);
        cli_write_file(w.a, arena_printf(w.a, "%s/%s", r->o->draw, w.c.name), w.c.yaml, strlen(w.c.yaml));
        arena_free(w.a);
    }
    if (!r->o->quiet) printf("verify: %lld drawn specs written to %s\n", r->count, r->o->draw);
}

/* ---- reports */
static void print_counts(const random_run *r)
{
    printf("%-9s %-5s %7s %7s %7s %7s %9s %7s %7s\n", "target", "dtype", "specs", "good", "refused", "wrong", "internal", "crashed",
           "other");
    for (size_t t = 0; t < r->targets.count; t++)
        for (int k = 0; k < 3; k++) {
            const int *n = r->counts[t][k];
            if (!r->specs[t][k]) continue;
            printf("%-9s %-5s %7d %7d %7d %7d %9d %7d %7d\n", r->targets.names[t], dtype_name((dtype)k), r->specs[t][k], n[random_good],
                   n[random_refused], n[random_wrong], n[random_internal], n[random_crashed] + n[random_hung],
                   n[random_bad_spec] + n[random_not_compiled] + n[random_device_error] + n[random_unrun]);
        }
}

static void print_ratios(const random_run *r)
{
    printf("\n%-18s %8s %10s %10s %10s %10s   error/bound: largest and smallest maximum of a value, largest RMS of a value\n", "op",
           "values", "largest", "smallest", "RMS", "RMS in f32");
    for (int k = 0; k < op_count; k++)
        if (r->ratios[k].count)
            printf("%-18s %8d %10.3g %10.3g %10.3g %10.3g\n", op_table[k].name, r->ratios[k].count, r->ratios[k].largest,
                   r->ratios[k].smallest, r->ratios[k].spread, r->ratios[k].spread_f32);
}

static void print_causes(const random_run *r)
{
    for (int i = 0; i < r->cause_count; i++)
        printf("%s%6d times, first %s: %s\n", i ? "" : "\n", r->causes[i].count, r->causes[i].first, r->causes[i].key);
}

static json_t *report_json(const random_run *r)
{
    json_t *all = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "seed", (json_int_t)r->seed, "first", (json_int_t)r->first, "asked",
                            (json_int_t)r->count, "specs", (json_int_t)r->ended, "kernels", (json_int_t)r->kernels, "unjudged",
                            (json_int_t)r->unjudged);
    json_t *counts = json_array(), *causes = json_array(), *ratios = json_object();
    for (size_t t = 0; t < r->targets.count; t++)
        for (int k = 0; k < 3; k++) {
            if (!r->specs[t][k]) continue;
            json_t *row =
                json_pack("{s:s, s:s, s:i}", "target", r->targets.names[t], "dtype", dtype_name((dtype)k), "specs", r->specs[t][k]);
            for (int i = 1; i < random_outcome_count; i++)
                json_object_set_new(row, random_outcome_names[i], json_integer(r->counts[t][k][i]));
            json_array_append_new(counts, row);
        }
    for (int i = 0; i < r->cause_count; i++)
        json_array_append_new(causes, json_pack("{s:s, s:s, s:s, s:i, s:s}", "cause", r->causes[i].key, "outcome",
                                                random_outcome_names[r->causes[i].outcome], "first", r->causes[i].first, "count",
                                                r->causes[i].count, "message", r->causes[i].message));
    for (int k = 0; k < op_count; k++)
        if (r->ratios[k].count)
            json_object_set_new(ratios, op_table[k].name,
                                json_pack("{s:i, s:f, s:f, s:f, s:f}", "values", r->ratios[k].count, "largest", r->ratios[k].largest,
                                          "smallest", r->ratios[k].smallest, "rms", r->ratios[k].spread, "rms_f32",
                                          r->ratios[k].spread_f32));
    json_object_set_new(all, "cases", counts);
    json_object_set_new(all, "causes", causes);
    json_object_set_new(all, "ratios", ratios);
    return all;
}

static void print_report(const random_run *r)
{
    if (r->o->json) {
        json_t *all = report_json(r);
        cli_print_json(all);
        json_decref(all);
        return;
    }
    if (r->o->quiet) return;
    print_counts(r);
    print_ratios(r);
    print_causes(r);
    if (r->unjudged)
        printf("%lld elements of %lld specs were not judged: rounding decides whether they are numbers\n", r->unjudged,
               r->unjudged_specs);
    printf("verify: ");
    if (random_stop) printf("stopped by signal %d after %lld of ", (int)random_stop, r->ended);
    printf("%lld drawn specs (seed %lld, from %lld), %lld kernels, %d failed\n", r->count, r->seed, r->first, r->kernels, r->failed);
}

/* ---- options */
static name_list expand(arena *a, const char *given, const char *all)
{
    return options_list(a, !given || strcmp(given, "all") == 0 ? all : given);
}

static void check_lists(random_run *r)
{
    dtype type;
    if (r->levels.count > random_most_levels || !r->levels.count) bail(r->a, code_usage, (position){0}, "--fusion: one to four levels");
    if (r->targets.count > most_targets || !r->targets.count)
        bail(r->a, code_usage, (position){0}, "--target: one to %d targets", most_targets);
    for (size_t i = 0; i < r->levels.count; i++) (void)options_level(r->a, r->levels.names[i]);
    for (size_t i = 0; i < r->targets.count; i++) (void)compile_target(r->a, r->targets.names[i]);
    for (size_t i = 0; i < r->types.count; i++)
        if (!dtype_parse_real(r->types.names[i], &type))
            bail(r->a, code_usage, (position){0}, "--dtype: '%s' is not %s", r->types.names[i], dtype_names(r->a, true, ", ", " or "));
    if (!r->types.count) bail(r->a, code_usage, (position){0}, "--dtype: %s or all", dtype_names(r->a, true, ", ", ", "));
}

static void refuse_others(arena *a, const cli_options *o)
{
    const struct {
        const char *given, *name;
    } others[] = {{o->dim, "dim"},         {o->preset, "preset"},  {o->sizes, "sizes"}, {o->device_model, "device-model"},
                  {o->no_fuse, "no-fuse"}, {o->summary, "summary"}, {o->tile, "tile"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given) bail(a, code_usage, (position){0}, "--%s is for specs; --random draws its own", others[i].name);
    if (o->file_count) bail(a, code_usage, (position){0}, "--random draws its own specs; leave '%s' out", o->files[0]);
}

static void random_verify(void *argument)
{
    random_run *r = argument;
    const cli_options *o = r->o;
    const char *target = o->target;
    if (!o->random)
        bail(r->a, code_usage, (position){0}, "--%s goes with --random=N",
             o->first  ? "first"
             : o->plan ? "plan"
             : o->draw ? "draw"
                       : "output");
    refuse_others(r->a, o);
    r->count = o->number.random, r->seed = o->number.seed, r->first = o->number.first;
    r->jobs = o->number.jobs ? (int)o->number.jobs : processor_count();
    if (r->jobs > random_most_children) r->jobs = random_most_children;
    r->limits = (random_limits){120, 1200};
    r->device = o->device && strcmp(o->device, "host") != 0 ? o->device : NULL;
    target = random_device_target(r->a, r->device, target);
    r->levels = expand(r->a, o->fusion, fusion_levels);
    r->types = expand(r->a, o->dtype, dtype_names(r->a, true, ",", ","));
    r->targets = expand(r->a, target, target_names);
    check_lists(r);
    if (o->draw) {
        write_specs(r);
        return;
    }
    for (int i = 0; i < r->jobs; i++) r->children[i] = random_child_new(r->a);
    r->reducer = random_child_new(r->a);
    r->bar = progress_start("verify", r->count);
    random_stop_listen();
    run_all(r);
    progress_end(&r->bar);
    print_report(r);
}

int random_verify_main(const cli_options *o)
{
    random_run *r = calloc(1, sizeof *r);
    if (!r) return code_device;
    r->a = arena_new(), r->o = o;
    const int code = cli_run(random_verify, r, r->a);
    const int failed = r->failed;
    free(r);
    if (random_stop) fflush(NULL), signal((int)random_stop, SIG_DFL), (void)raise((int)random_stop);
    return code == code_ok && failed ? code_check_failed : code;
}
