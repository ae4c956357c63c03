/* In: a spec, fusions. Out: variants of it, each with some fusions turned off: launches, bytes, workspace, predicted and, on a device,
 * measured time; and what each fusion is worth. Each number is printed as soon as it is known. Each variant is run on random data and
 * compared with the float64 reference first: a ratio of two variants is printed only if both agree with it. Variants with equal plans are
 * run once, and none is started after the budget is spent. Refuses what planning refuses of the whole plan. */
#include "gen/plan/predict.h"
#include "runtime/cli/bench.h"
#include "runtime/cli/trial.h"
#include "runtime/cli/trial_data.h"
#include "runtime/device/device.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { most_combined = 6 };
/* Operations above which only some rows of products and attention are compared on a device. */
static const double sample_above = 2e9;

typedef struct variant {
    const char *name; /* "tile", "tile without rope" */
    fusion_level level;
    const char *const *off;
    size_t off_count;
    bool single; /* exactly one fusion is turned off */
    /* ---- results */
    const char *refused, *text; /* text: the plan's text without its level and notes, by which equal plans are found */
    bool checked, agrees, foreseen, measured;
    bool late;       /* neither run nor measured: the budget was spent */
    const char *why; /* why it does not agree or was not checked */
    int launches;
    work work;
    double moved, workspace, predicted;
    spread seconds;
} variant;

typedef struct ablate_job {
    arena *a;
    const cli_options *o;
    const char *path;
    compile_request request; /* at the dims asked for */
    variant *list;
    int count;
    tfgen_device *device;     /* NULL: nothing is measured */
    const ref_tensor *inputs; /* data of the runs on the device */
    double until;             /* no variant is started later */
    text without_effect;      /* names of fusions without which the plan is the same */
    bool failed;
} ablate_job;

/* ---- variants */
static variant *add_variant(ablate_job *j, const char *name, fusion_level level, const char *const *off, size_t count)
{
    variant *v = &j->list[j->count++];
    *v = (variant){.name = name, .level = level, .off = off, .off_count = count};
    return v;
}

static const char *const *one_name(arena *a, const char *name)
{
    const char **list = arena_alloc(a, sizeof *list);
    *list = name;
    return list;
}

/* A variant for each non-empty set of the named fusions, with the set turned off; bit i of a number stands for name i. */
static void add_combinations(ablate_job *j, name_list names)
{
    for (unsigned bits = 1; bits < 1u << names.count; bits++) {
        const char **off = arena_alloc(j->a, (names.count + 1) * sizeof *off);
        text name = {.a = j->a};
        size_t count = 0;
        for (size_t i = 0; i < names.count; i++)
            if (bits >> i & 1) text_printf(&name, "%s%s", count ? "," : "", off[count] = names.names[i]), count++;
        add_variant(j, arena_printf(j->a, "tile without %s", name.data), fusion_tile, off, count)->single = count == 1;
    }
}

static name_list named_fusions(ablate_job *j)
{
    const name_list given = options_list(j->a, j->o->combine);
    if (given.count > most_combined)
        bail(j->a, code_usage, (position){0}, "--combine: at most %d fusions, which are %d variants", most_combined, 1 << most_combined);
    cli_check_fusions(j->a, "combine", given);
    return given;
}

static void list_variants(ablate_job *j)
{
    size_t count;
    const char *const *known = fusion_names(&count);
    const name_list combined = named_fusions(j);
    j->list = arena_alloc(j->a, (count + 8 + (1u << combined.count)) * sizeof *j->list);
    add_variant(j, "tile", fusion_tile, NULL, 0);
    add_variant(j, "block", fusion_block, NULL, 0);
    add_variant(j, "ops", fusion_ops, NULL, 0);
    add_variant(j, "none", fusion_none, NULL, 0);
    if (combined.count) {
        add_combinations(j, combined);
        return;
    }
    for (size_t i = 0; i < count; i++)
        add_variant(j, arena_printf(j->a, "tile without %s", known[i]), fusion_tile, one_name(j->a, known[i]), 1)->single = true;
    add_variant(j, "tile without any", fusion_tile, known, count);
}

/* ---- one variant, in an arena of its own */
typedef struct variant_job {
    arena *a;
    ablate_job *whole;
    variant *v;
} variant_job;

static compile_request request_of(const variant_job *j)
{
    compile_request r = j->whole->request;
    r.level = j->v->level, r.disabled = j->v->off, r.disabled_count = j->v->off_count;
    return r;
}

/* The part of a plan's text that decides what runs: without the level (before the device line) and the notes. */
static const char *what_runs(arena *a, const char *text)
{
    const char *from = strstr(text, "\ndevice "), *notes = strstr(text, "\nnote ");
    if (!from) from = text;
    return notes ? arena_strndup(a, from, (size_t)(notes - from)) : from;
}

static void plan_variant(void *argument)
{
    variant_job *j = argument;
    variant *v = j->v;
    const compile_request r = request_of(j);
    compiled c;
    compile_inside(j->a, &r, &c);
    v->text = arena_strdup(j->whole->a, what_runs(j->a, ir_print(j->a, c.plan->ir)));
    v->launches = c.plan->launch_count, v->foreseen = true;
    v->workspace = (double)workspace_layout(c.plan, &c.plan->ir->dims, NULL);
    for (int i = 0; i < c.plan->launch_count; i++) {
        const work one = launch_work(j->a, c.plan, &c.plan->launches[i], NULL, NULL);
        prediction p;
        v->foreseen = launch_predict(j->a, c.plan, &c.plan->launches[i], &one, &p) && v->foreseen;
        v->work = work_add(&v->work, &one);
        v->moved += p.moved, v->predicted += p.seconds;
    }
}

static void measure_variant(void *argument)
{
    variant_job *j = argument;
    const cli_options *o = j->whole->o;
    const compile_request r = request_of(j);
    compiled c;
    compile_inside(j->a, &r, &c);
    const bench_options options = {.device = j->whole->device,
                                   .seed = (unsigned long long)o->number.seed,
                                   .jobs = (int)o->number.jobs,
                                   .seconds = o->real.seconds,
                                   .last_level = device_last_level(c.plan->device),
                                   .graph = o->graph != NULL,
                                   .cache = cli_cache(j->a, o)};
    j->v->seconds = bench_plan(j->a, c.graph, c.plan, &options).whole;
    j->v->measured = true;
}

/* Checks the variant on the device if it is measured there; else on the host engine at the spec's own sizes, which the reference computes
 * quickly (fusion does not depend on sizes). */
static void check_variant(void *argument)
{
    variant_job *j = argument;
    const ablate_job *whole = j->whole;
    compile_request r = request_of(j);
    compiled c;
    if (!whole->device)
        r.target = "host", r.device_model = NULL, r.device_label = NULL, r.tuning = NULL, r.graph = (graph_options){.dtype = r.graph.dtype};
    compile_inside(j->a, &r, &c);
    const trial_options options = {.device = whole->device,
                                   .seed = (unsigned long long)whole->o->number.seed,
                                   .jobs = (int)whole->o->number.jobs,
                                   .cache = cli_cache(j->a, whole->o),
                                   .inputs = whole->inputs,
                                   .sample_above = whole->device ? sample_above : 0,
                                   .reference = reference_always};
    const trial_result t = trial_run(j->a, c.graph, c.plan, &options);
    j->v->agrees = t.verdict == trial_good;
    if (t.verdict != trial_good) j->v->why = arena_strdup(whole->a, trial_fault(j->a, &t));
}

/* Returns what went wrong, or NULL. */
static const char *try_variant(ablate_job *whole, variant *v, void (*body)(void *), tfgen_code *code)
{
    variant_job j = {arena_new(), whole, v};
    if (!j.a) bail(whole->a, code_device, (position){0}, "not enough memory");
    *code = arena_run(j.a, body, &j);
    const char *why = *code == code_ok ? NULL : arena_first_error(whole->a, j.a);
    arena_free(j.a);
    return why;
}

/* ---- output */
static double time_of(const variant *v) { return v->measured ? v->seconds.median : v->predicted; }

static bool comparable(const ablate_job *j, const variant *v)
{
    if (v->refused || !v->agrees || !j->list[0].agrees || v->measured != j->list[0].measured) return false;
    return time_of(v) > 0 && time_of(&j->list[0]) > 0;
}

static void print_variant(const ablate_job *j, const variant *v)
{
    const double bytes = v->work.read + v->work.written;
    printf("  %-28s", v->name);
    if (v->refused) {
        printf(" no plan: %s\n", v->refused);
        return;
    }
    printf(" %8d %10.3f %10.3f %12.3f %12s", v->launches, bytes * 1e-6, v->moved * 1e-6, v->workspace * 1e-6,
           v->foreseen ? spread_time_text(j->a, v->predicted, true) : "-");
    if (j->device) printf(" %12s", v->measured ? spread_time_text(j->a, v->seconds.median, true) : "-");
    if (comparable(j, v))
        printf(" %8.3f", time_of(v) / time_of(&j->list[0]));
    else
        printf(" %8s", "-");
    printf("  %s%s\n",
           v->late      ? "not run: the time budget is used up"
           : v->agrees  ? v->why ? "agrees, NOT MEASURED: " : "agrees"
           : v->checked ? "DISAGREES: "
           : v->why     ? "NOT RUN: "
                        : "not checked",
           v->why ? v->why : "");
    fflush(stdout);
}

/* For each fusion the extra time of a plan without it, as a bar of up to 40 marks. */
static void print_chart(const ablate_job *j)
{
    double largest = 0;
    for (int i = 1; i < j->count; i++)
        if (j->list[i].single && comparable(j, &j->list[i]))
            largest = largest > time_of(&j->list[i]) - time_of(j->list) ? largest : time_of(&j->list[i]) - time_of(j->list);
    printf("\n%swhat each fusion is worth%s, by %s time\n", colour_code(stdout, colour_bold), colour_code(stdout, colour_none),
           j->list[0].measured ? "measured" : "predicted");
    for (int i = 1; i < j->count; i++) {
        const variant *v = &j->list[i];
        if (!v->single || !comparable(j, v)) continue;
        const double worth = time_of(v) - time_of(j->list);
        const int marks = largest > 0 && worth > 0 ? (int)(40 * worth / largest + 0.5) : 0;
        printf("  %-16s %s%12s  %.*s\n", v->off[0], worth < 0 ? "-" : " ", spread_time_text(j->a, worth < 0 ? -worth : worth, true), marks,
               "########################################");
    }
    if (j->without_effect.size) printf("  of no use here: %s\n", j->without_effect.data);
}

static void print_head(const ablate_job *j)
{
    printf("%s  for %s, %s\n", j->path, j->request.target, j->device ? "measured" : "predicted");
    printf("  %-28s %8s %10s %10s %12s %12s%s %8s\n", "variant", "launches", "MB", "MB DRAM", "workspace MB", "predicted",
           j->device ? "     measured" : "", "times");
    fflush(stdout);
}

static void print_end(const ablate_job *j)
{
    const variant *first = &j->list[0];
    if (!j->o->no_check)
        printf("  checked %s against float64; 'times' is the time divided by that of %s\n",
               j->device ? "on the device at these sizes" : "at the spec's own sizes on the host engine", first->name);
    if (first->agrees)
        print_chart(j);
    else
        printf("  no ratio is printed: %s\n",
               j->o->no_check ? "nothing was checked" : "the whole plan was not shown to agree with the reference");
}

/* ---- all variants */
/* An earlier variant with the same plan, whose results hold for this one too; NULL: none. */
static const variant *twin_of(const ablate_job *j, int kept, const variant *v)
{
    for (int i = 0; i < kept && !v->refused; i++)
        if (!j->list[i].refused && strcmp(j->list[i].text, v->text) == 0) return &j->list[i];
    return NULL;
}

static void take_results(variant *v, const variant *from)
{
    v->checked = from->checked, v->agrees = from->agrees, v->late = from->late, v->why = from->why;
    v->measured = from->measured, v->seconds = from->seconds;
}

static void run_variant(ablate_job *j, variant *v)
{
    tfgen_code code;
    v->late = seconds_now() > j->until;
    if (v->late) return;
    if (!j->o->no_check) {
        const char *why = try_variant(j, v, check_variant, &code);
        v->checked = !why;
        if (why) v->why = why;
        j->failed |= !v->agrees;
    }
    if (!j->device || (v->checked && !v->agrees)) return;
    const char *why = try_variant(j, v, measure_variant, &code);
    if (!why) return;
    v->why = why;
    j->failed = true;
}

static void run_variants(ablate_job *j)
{
    int kept = 0;
    progress bar = progress_start("variants", j->count);
    for (int i = 0; i < j->count; i++) {
        variant v = j->list[i];
        tfgen_code code;
        v.refused = try_variant(j, &v, plan_variant, &code);
        if (v.refused && i == 0) bail(j->a, code, (position){0}, "%s", v.refused);
        if (v.single && !v.refused && strcmp(v.text, j->list[0].text) == 0) {
            text_printf(&j->without_effect, "%s%s", j->without_effect.size ? ", " : "", v.off[0]);
            continue;
        }
        const variant *twin = twin_of(j, kept, &v);
        if (twin)
            take_results(&v, twin);
        else if (!v.refused)
            run_variant(j, &v);
        j->list[kept++] = v;
        progress_end(&bar);
        if (!j->o->json) print_variant(j, &j->list[kept - 1]);
        progress_step(&bar, v.name);
    }
    j->count = kept;
    progress_end(&bar);
}

static json_t *variant_json(const ablate_job *j, const variant *v)
{
    json_t *off = json_array();
    for (size_t i = 0; i < v->off_count; i++) json_array_append_new(off, json_string(v->off[i]));
    json_t *o = json_pack("{s:s, s:o}", "variant", v->name, "without", off);
    if (v->refused) {
        json_object_set_new(o, "refused", json_string(v->refused));
        return o;
    }
    json_object_set_new(o, "launches", json_integer(v->launches));
    json_object_set_new(o, "bytes", json_real(v->work.read + v->work.written));
    json_object_set_new(o, "operations", json_real(v->work.products + v->work.others));
    json_object_set_new(o, "bytes_moved", json_real(v->moved));
    json_object_set_new(o, "workspace_bytes", json_real(v->workspace));
    if (v->foreseen) json_object_set_new(o, "predicted_seconds", json_real(v->predicted));
    if (v->measured) json_object_set_new(o, "measured_seconds", json_real(v->seconds.median));
    if (v->checked) json_object_set_new(o, "agrees", json_boolean(v->agrees));
    if (v->why) json_object_set_new(o, "why", json_string(v->why));
    if (v->late) json_object_set_new(o, "late", json_true());
    if (comparable(j, v)) json_object_set_new(o, "times", json_real(time_of(v) / time_of(&j->list[0])));
    return o;
}

/* Plans once, to report errors of the spec with their places before any variant runs. Makes the data for the timed sizes once, since all
 * variants have the same graph. */
static void look_at_spec(ablate_job *j)
{
    compiled c;
    compile_inside(j->a, &j->request, &c);
    if (j->device && !j->o->no_check) j->inputs = data_make(j->a, c.graph, (unsigned long long)j->o->number.seed, NULL);
}

static void prepare(ablate_job *j)
{
    const char *target = j->o->target;
    j->request = cli_request(j->a, j->o, j->path);
    if (j->request.from_ir) bail(j->a, code_usage, (position){0}, "--from: ablate needs a spec, not IR text");
    if (j->o->device && strcmp(j->o->device, "host") == 0)
        bail(j->a, code_usage, (position){0}, "--device: the host engine's times say nothing about fusions; leave it out, or name a GPU");
    if (!j->o->device && (j->o->seconds || j->o->graph))
        bail(j->a, code_usage, (position){0}, "--seconds and --graph are for --device, without which nothing is timed");
    j->device = trial_device(j->a, j->o->device, false, &target);
    j->request.target = j->device ? target : cli_target(j->a, j->o, &j->request);
    j->request.device_label = j->device ? j->device->info.label : NULL;
    j->until = seconds_now() + options_seconds(j->a, "budget", j->o->budget, 600);
    j->without_effect = (text){.a = j->a};
    list_variants(j);
    look_at_spec(j);
}

static void ablate_spec(void *argument)
{
    ablate_job *j = argument;
    prepare(j);
    if (!j->o->json) print_head(j);
    run_variants(j);
    if (!j->o->json) {
        print_end(j);
        return;
    }
    json_t *all = cli_keep_json(j->a, json_array());
    for (int i = 0; i < j->count; i++) json_array_append_new(all, variant_json(j, &j->list[i]));
    cli_print_json(all);
}

int command_ablate_main(const cli_options *o)
{
    if (!cli_is_one_spec(o)) return code_usage;
    ablate_job j = {.a = arena_new(), .o = o, .path = o->files[0]};
    const int code = cli_run(ablate_spec, &j, j.a);
    return code == code_ok && j.failed ? code_check_failed : code;
}
