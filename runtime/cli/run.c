/* In: a spec and options. Out: the plan run on this machine: kernels, what was fused into each, times, errors and their computed bounds; as
 * a table or as JSON. Exit code 1 if a bound is exceeded, 8 if a value has no element that can be judged. */
#include "runtime/cli/source_edits.h"
#include "runtime/cli/trial.h"
#include "runtime/cli/spread.h"
#include "runtime/cli/run_model.h"
#include "runtime/device/device.h"
#include "runtime/model/model.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

typedef struct run_job {
    arena *a;
    const cli_options *o;
    const char *path;
    trial_verdict verdict;
} run_job;

static reference_when when_of(const char *given)
{
    return !given || strcmp(given, "auto") == 0 ? reference_auto : strcmp(given, "always") == 0 ? reference_always : reference_never;
}

static const char *time_text(arena *a, double seconds) { return spread_time_text(a, seconds, false); }

/* " simt wgmma" */
static const char *layers_of(arena *a, const plan *p)
{
    text t = {.a = a};
    size_t count;
    const char *const *names = layer_names(&count);
    for (size_t i = 0; i < count; i++) {
        bool used = false;
        for (int k = 0; k < p->launch_count; k++)
            for (int n = 0; n < p->launches[k].kernel->phase_count; n++)
                used |= phase_layer(p->launches[k].kernel->phases[n]) == (layer_kind)i;
        if (used) text_printf(&t, " %s", names[i]);
    }
    return t.data ? t.data : "";
}

static void print_kernels(arena *a, const ir_graph *graph, const plan *p, const trial_result *r)
{
    printf("%s  %s  level %s  ", p->ir->name, dtype_name(p->ir->type), fusion_level_name(p->ir->level));
    if (strcmp(r->device, "host") == 0)
        printf("geometry of %s (wave %d)  ISA layers%s\n", p->target->name, p->target->wave, layers_of(a, p));
    else printf("on %s  target %s\n", r->device, p->target->name);
    for (int i = 0; i < p->launch_count; i++)
        printf("  %-28s %10s  %s%s%s\n", p->launches[i].name, time_text(a, r->kernel_seconds[i]), colour_code(stdout, colour_dim),
               kernel_ops(a, graph, p->launches[i].kernel), colour_code(stdout, colour_none));
    printf("  %s, %s a run; compiled in %s\n", text_counted(a, r->launches, "launch"), time_text(a, r->total_seconds),
           time_text(a, r->compile_seconds));
}

static void print_checks(arena *a, const trial_result *r, bool has_graph)
{
    if (!has_graph) {
        puts("not checked: this text has no graph to compare with; --spec=SPEC names the spec that it was made of");
        return;
    }
    if (!r->referenced) {
        printf("not checked: the float64 reference would take %.2g operations (--reference=always computes it)\n", r->operations);
        return;
    }
    printf("%-24s %12s %12s %8s\n", "stored value", "error", "bound", "ratio");
    for (int i = 0; i < r->check_count; i++) {
        const trial_check *c = &r->checks[i];
        printf("%-24s %12.3g %12.3g %s%8.3f%s%s\n", c->name, c->difference, c->bound,
               colour_code(stdout, c->verdict == trial_good ? colour_good : colour_bad), c->ratio, colour_code(stdout, colour_none),
               c->end_to_end ? "  end to end" : "");
        if (c->verdict != trial_good) printf("%-24s %s", "", trial_complaint(a, c));
        if (c->unjudged && c->verdict != trial_unjudged)
            printf("%-24s %lld of %lld elements are not judged: rounding decides whether they are numbers\n", "", c->unjudged, c->count);
        if (c->end_to_end && c->rms_rounded > 0)
            printf("%-24s relative RMS error %.3g, %.2f times that of rounding alone (at most 1.5)\n", "", c->rms,
                   c->rms / c->rms_rounded);
        else if (c->end_to_end) printf("%-24s relative RMS error %.3g\n", "", c->rms);
    }
    printf("%s%s%s", colour_code(stdout, r->verdict == trial_good ? colour_good : colour_bad),
           r->verdict == trial_bad        ? "BAD: a bound is exceeded"
           : r->verdict == trial_unjudged ? "UNJUDGED: some values could not be judged"
           : r->unjudged                  ? "good: every judged value is within its bound"
                                          : "good: every value is within its bound",
           colour_code(stdout, colour_none));
    if (r->unjudged) printf(" (%lld elements are not)", r->unjudged);
    putchar('\n');
}

static void print_json(arena *a, const ir_graph *graph, const plan *p, const trial_result *r)
{
    json_t *kernels = json_array(), *checks = json_array();
    for (int i = 0; i < p->launch_count; i++)
        json_array_append_new(kernels, json_pack("{s:s, s:f, s:s}", "name", p->launches[i].name, "seconds", r->kernel_seconds[i], "ops",
                                                 kernel_ops(a, graph, p->launches[i].kernel)));
    for (int i = 0; i < r->check_count; i++) {
        const trial_check *c = &r->checks[i];
        json_array_append_new(checks, json_pack("{s:s, s:b, s:s, s:o, s:o, s:b, s:I, s:I, s:o, s:f}", "value", c->name, "good",
                                                c->verdict == trial_good, "verdict", trial_verdict_names[c->verdict], "ratio",
                                                cli_json_number(c->ratio), "rms_ratio",
                                                cli_json_number(c->spread), "end_to_end", c->end_to_end,
                                                "elements", (json_int_t)c->count, "unjudged", (json_int_t)c->unjudged, "rms",
                                                cli_json_number(c->rms), "rms_rounded", c->rms_rounded));
    }
    json_t *all =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:b, s:o, s:s, s:o, s:o}", "block", p->ir->name, "dtype",
                  dtype_name(p->ir->type), "fusion", fusion_level_name(p->ir->level), "target", p->target->name, "device",
                  r->device, "launches", r->launches, "seconds", r->total_seconds, "compile_seconds", r->compile_seconds, "referenced",
                  r->referenced, "good", r->referenced ? json_boolean(r->verdict == trial_good) : json_null(), "verdict",
                  trial_verdict_names[r->verdict], "kernels", kernels, "checks", checks);
    cli_print_json(cli_keep_json(a, all));
}

/* Of a stack, layers 0 to n are launched for each n. */
typedef struct run_progress {
    progress compiling, layers;
    int layer_count;
} run_progress;

static void step(void *context, const char *kernel) { progress_step(&((run_progress *)context)->compiling, kernel); }

static void step_layer(void *context, int layer)
{
    run_progress *p = context;
    progress_end(&p->compiling);
    p->compiling.shown = 0;
    if (!p->layers.total) p->layers = progress_start("layers run", (long long)p->layer_count * (p->layer_count + 1) / 2);
    p->layers.done += layer;
    char item[64];
    snprintf(item, sizeof item, "judged layer %d of %d", layer + 1, p->layer_count);
    progress_step(&p->layers, item);
}

enum { most_layers = 10000, checked_groups = 3 /* workgroups of a launch with --check at level block, where they wait for each other, so
                                                * that the checker sees the waits */ };

/* Refuses options that are for a single layer, and levels other than block. */
static void refuse_for_stacks(arena *a, const cli_options *o)
{
    const struct {
        const char *name, *given;
    } others[] = {{"state", o->state}, {"output", o->output}, {"dump-data", o->dump_data}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given) bail(a, code_usage, (position){0}, "--%s is for one layer, without --layers", others[i].name);
    if (o->fusion && strcmp(o->fusion, "block") != 0)
        bail(a, code_usage, (position){0}, "--fusion=%s: the layers of --layers run in one launch: --fusion=block", o->fusion);
}

/* Puts the specs of --then into the request. Returns each layer's kind. */
static const int *kinds_of_layers(arena *a, const cli_options *o, const char *path, int layers, compile_request *r)
{
    if (o->then && !layers) bail(a, code_usage, (position){0}, "--then: it says which layers follow SPEC's; it needs --layers");
    const layer_order order = cli_layer_order(a, o, path, r);
    int *kinds = arena_alloc(a, ((size_t)layers + 1) * sizeof *kinds);
    for (int i = 0; i < layers; i++) kinds[i] = order.kind_of[i % order.length];
    return kinds;
}

static void run_spec(void *argument)
{
    run_job *j = argument;
    arena *a = j->a;
    const cli_options *o = j->o;
    const char *target = o->target;
    cli_one_target(a, o);
    if (model_is_folder(j->path)) {
        run_model(a, o, j->path);
        return;
    }
    if (o->part) bail(a, code_usage, (position){0}, "--part is for a model's folder, not for a SPEC");
    const int layers = (int)options_whole(a, "layers", o->layers, 1, most_layers, 0);
    if (layers) refuse_for_stacks(a, o);
    cli_layer_of_weights(a, o);
    tfgen_device *device = trial_device(a, trial_best_device(a, o), o->check != NULL, &target);
    compile_request request = cli_request(a, o, j->path);
    compiled c;
    if (target) request.target = target;
    if (layers) request.level = fusion_block, request.stacked = true;
    const int *kinds = kinds_of_layers(a, o, j->path, layers, &request);
    request.device_label = device ? device->info.label : NULL;
    compile_inside(a, &request, &c);
    if (c.plan->ir->kinds && !c.kinds)
        bail(a, code_usage, (position){0}, "--from=%s: this text is of several kinds of layers; run takes these from specs", o->from);
    if (layers && !c.plan->ir->stacked) bail(a, code_usage, (position){0}, "--layers: this text is of a single block, not of a stack");
    const source_edits edits = source_edits_apply(a, o->replace_source, c.plan);
    const ir_graph *graph = cli_graph(a, o, &c);
    if (!graph && (o->dump_data || (o->reference && strcmp(o->reference, "always") == 0)))
        bail(a, code_usage, (position){0}, "--from=%s: the reference needs a graph, which --spec=SPEC names", o->from);
    run_progress bar = {.compiling = progress_start("compiling", c.plan->launch_count + c.plan->pack_count), .layer_count = layers};
    const trial_options options = {.device = device,
                                   .seed = (unsigned long long)o->number.seed,
                                   .repeat = (int)o->number.repeat,
                                   .jobs = (int)o->number.jobs,
                                   .check = o->check != NULL,
                                   .multiprocessors = o->check && c.plan->ir->level == fusion_block ? checked_groups : 0,
                                   .cache = cli_cache(a, o),
                                   .reference = graph ? when_of(o->reference) : reference_never,
                                   .layer = o->number.layer,
                                   .layers = layers,
                                   .kinds = c.kinds ? kinds : NULL,
                                   .kind_graphs = c.kinds,
                                   .weights = o->weights,
                                   .input = o->input,
                                   .state = o->state,
                                   .output = o->output,
                                   .dump_data = o->dump_data,
                                   .compiled = step,
                                   .layer_ran = step_layer,
                                   .context = &bar};
    const trial_result r = trial_run(a, graph ? graph : c.plan->ir, c.plan, &options);
    progress_end(&bar.compiling);
    progress_end(&bar.layers);
    source_edits_check(a, &edits, c.plan, r.plan);
    j->verdict = r.verdict;
    if (r.plan != c.plan) compile_dump(a, &request, r.plan);
    if (o->json) print_json(a, graph, r.plan, &r);
    else if (!o->quiet) {
        print_kernels(a, graph, r.plan, &r);
        print_checks(a, &r, graph != NULL);
    }
}

int command_run_main(const cli_options *o)
{
    int worst = code_ok;
    if (o->file_count > 1 && (o->output || o->dump_data)) {
        fputs("tfgen: -o and --dump-data take one SPEC\n", stderr);
        return code_usage;
    }
    for (int i = 0; i < o->file_count; i++) {
        run_job j = {arena_new(), o, o->files[i], trial_unchecked};
        int code = cli_run(run_spec, &j, j.a);
        if (code == code_ok) code = (int)trial_verdict_codes[j.verdict];
        worst = cli_worse(worst, code);
    }
    return worst;
}
