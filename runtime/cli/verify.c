/* In: specs and lists of levels, dtypes, targets and sizes. Out: every combination, run on the host engine and compared with float64. Sizes
 * that a spec cannot have (such as heads that do not divide) are skipped and counted in the summary. */
#include "runtime/cli/random/random_run.h"
#include "runtime/cli/trial.h"
#include "runtime/device/device.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

/* Odd sizes: 1, primes, one more than a tile (GPU tiles are 128, 64, 32 and 16; the host's are 128 and 64). Only the dims that a
 * spec has are overridden; one that it writes as an expression (hd: D/H) keeps following the others. */
typedef struct size_set {
    const char *name, *dims;
    bool sample; /* part of --sizes=sample */
} size_set;
static const size_set size_sets[] = {
    {"spec", "", true},
    {"ones", "B=1,S=1,D=2,H=1,KV=1,F=1,L=1,M=1,N=1,K=1", true},
    {"one", "B=1,S=1,D=1,H=1,KV=1,F=1,L=1,M=1,N=1,K=1", false},
    {"primes", "B=3,S=7,D=26,H=1,KV=1,F=31,L=11,M=7,N=13,K=17", false},
    {"primes2", "B=2,S=37,D=66,H=3,KV=3,F=89,L=41,M=61,N=127,K=131", true},
    {"primes3", "B=5,S=13,D=60,H=6,KV=2,F=53,L=17,M=67,N=71,K=73", false},
    {"prime-d", "B=1,S=19,D=127,H=1,KV=1,F=131,L=23,M=5,N=3,K=7", false},
    {"tile+1", "B=1,S=129,D=130,H=5,KV=1,F=257,L=131,M=129,N=129,K=65", true},
    {"tile+1b", "B=1,S=65,D=132,H=2,KV=2,F=129,L=67,M=257,N=33,K=17", false},
    {"head-33", "B=2,S=17,D=132,H=4,KV=2,F=17,L=33,M=33,N=65,K=129", false}};
enum { size_count = sizeof size_sets / sizeof *size_sets };

typedef struct tally {
    int passed, failed, unknown, left_out; /* unknown: a value has no element that can be judged */
    long long unjudged; /* elements */
    double worst; /* largest ratio of error to bound, failed cases included */
    const char *worst_case;
} tally;

typedef struct verify_job {
    arena *a; /* for the whole command; each case has its own */
    const cli_options *o;
    name_list levels, dtypes, targets;
    const char *sizes;
    tfgen_device *device; /* NULL: the host engine */
    cache *cache;         /* shared, so that it warns once */
    tally total, *specs;
    json_t *cases;
    text failures;
    progress bar;
} verify_job;

typedef struct verify_case {
    const cli_options *o; /* for this case */
    tfgen_device *device;
    arena *a;
    const char *path, *name;
    trial_result result;
    cache *cache;
} verify_case;

static name_list expand(arena *a, const char *given, const char *all, const char *otherwise)
{
    return options_list(a, !given ? otherwise : strcmp(given, "all") == 0 ? all : given);
}

static bool wanted(const verify_job *j, const size_set *s)
{
    return strcmp(j->sizes, "all") == 0 || (strcmp(j->sizes, "sample") == 0 ? s->sample : strcmp(s->name, "spec") == 0);
}

static void read_spec(void *argument)
{
    verify_case *c = argument;
    cli_options o = *c->o;
    o.fusion = NULL;
    const compile_request r = cli_request(c->a, &o, c->path);
    (void)graph_read(c->a, r.text, r.size, c->path, &r.graph);
}

static void run_case(void *argument)
{
    verify_case *c = argument;
    compile_request r = cli_request(c->a, c->o, c->path);
    compiled done;
    r.device_label = c->device ? c->device->info.label : NULL;
    r.check_passes = true;
    compile_inside(c->a, &r, &done);
    const trial_options options = {.device = c->device, .seed = (unsigned long long)c->o->number.seed,
                                   .jobs = (int)c->o->number.jobs, .reference = reference_always,
                                   .cache = c->cache};
    c->result = trial_run(c->a, done.graph, done.plan, &options);
}

/* "B=1,S=3" cut down to the dims that the spec has, with the user's own --dim after it. */
static const char *dims_for(arena *a, const ir_graph *graph, const char *dims, const char *given)
{
    text kept = {.a = a};
    name_list pairs = options_list(a, dims);
    for (size_t i = 0; i < pairs.count; i++)
        for (int d = 0; d < graph->dims.count; d++) {
            const char *name = graph->dims.dims[d].name;
            const size_t n = strlen(name);
            if (strncmp(name, pairs.names[i], n) == 0 && pairs.names[i][n] == '=')
                text_printf(&kept, "%s%s", kept.size ? "," : "", pairs.names[i]);
        }
    if (given && *given) text_printf(&kept, "%s%s", kept.size ? "," : "", given);
    return kept.data;
}

/* The check with the largest error relative to its bound; one that fails by its RMS error comes before all that pass. */
static const trial_check *worst_check(const trial_result *r)
{
    static const trial_check none = {.name = "", .verdict = trial_good};
    const trial_check *worst = &none;
    for (int i = 0; i < r->check_count; i++) {
        const trial_check *c = &r->checks[i];
        const bool further = !(c->ratio <= worst->ratio);
        if (c->verdict == worst->verdict ? further : c->verdict > worst->verdict) worst = c;
    }
    return worst;
}

static double largest_spread(const trial_result *r)
{
    double largest = 0;
    for (int i = 0; i < r->check_count; i++)
        if (!(r->checks[i].spread <= largest)) largest = r->checks[i].spread;
    return largest;
}

static const char *failure(arena *a, const verify_case *c, const trial_check *worst, tfgen_code code, const char *diagnostics)
{
    if (code != code_ok) return diagnostics;
    if (!c->result.referenced) return "nothing was compared\n";
    return trial_complaint(a, worst);
}

static void record(verify_job *j, tally *spec, const verify_case *c, tfgen_code code, const char *diagnostics)
{
    const trial_check *worst = worst_check(&c->result);
    const trial_verdict verdict = code != code_ok || !c->result.referenced ? trial_bad : c->result.verdict;
    const bool good = verdict == trial_good;
    const double spread = largest_spread(&c->result);
    tally *const both[] = {spec, &j->total};
    for (int i = 0; i < 2; i++) {
        both[i]->passed += good;
        both[i]->failed += verdict == trial_bad;
        both[i]->unknown += verdict == trial_unjudged;
        both[i]->unjudged += c->result.unjudged;
        if (worst->ratio > both[i]->worst)
            both[i]->worst = worst->ratio, both[i]->worst_case = arena_printf(j->a, "%s, value %s", c->name, worst->name);
    }
    json_array_append_new(j->cases, json_pack("{s:s, s:b, s:s, s:o, s:o, s:s, s:I, s:s}", "case", text_harmless(j->a, c->name), "good",
                                              good, "verdict", trial_verdict_names[verdict], "ratio",
                                              cli_json_number(worst->ratio), "rms_ratio", cli_json_number(spread), "value", worst->name,
                                              "unjudged",
                                              (json_int_t)c->result.unjudged, "message", diagnostics));
    if (good) return;
    const char *word = verdict == trial_bad ? "FAILED" : "UNJUDGED";
    text_printf(&j->failures, "%s %s: %s", word, c->name, failure(j->a, c, worst, code, diagnostics));
}

static void verify_one(verify_job *j, tally *spec, const cli_options *o, const char *path, const char *size_name)
{
    verify_case c = {o,
                     j->device,
                     arena_new(),
                     path,
                     arena_printf(j->a, "%s %s %s %s %s", path, size_name, o->fusion, o->dtype ? o->dtype : "spec-dtype", o->target),
                     {0},
                     j->cache};
    const tfgen_code code = arena_run(c.a, run_case, &c);
    record(j, spec, &c, code, arena_diagnostics(c.a));
    arena_free(c.a);
    progress_step(&j->bar, c.name);
}

static void verify_size(verify_job *j, tally *spec, const ir_graph *graph, const char *path, const size_set *size)
{
    cli_options o = *j->o;
    const int cases = (int)(j->levels.count * j->dtypes.count * j->targets.count);
    o.dim = dims_for(j->a, graph, size->dims, j->o->dim);
    o.dtype = NULL, o.target = "host";
    verify_case probe = {&o, NULL, arena_new(), path, "", {0}, NULL};
    const bool possible = arena_run(probe.a, read_spec, &probe) == code_ok;
    arena_free(probe.a);
    if (!possible) {
        spec->left_out += cases, j->total.left_out += cases;
        j->bar.done += cases;
        return;
    }
    for (size_t t = 0; t < j->targets.count; t++)
        for (size_t d = 0; d < j->dtypes.count; d++)
            for (size_t l = 0; l < j->levels.count; l++) {
                o.target = j->targets.names[t], o.fusion = j->levels.names[l];
                o.dtype = strcmp(j->dtypes.names[d], "spec") == 0 ? NULL : j->dtypes.names[d];
                verify_one(j, spec, &o, path, size->name);
            }
}

static void check_lists(verify_job *j)
{
    dtype type;
    for (size_t i = 0; i < j->levels.count; i++) (void)options_level(j->a, j->levels.names[i]);
    compile_request asked = {0};
    cli_device_model(j->a, j->o->device_model, &asked);
    for (size_t i = 0; i < j->targets.count; i++) (void)compile_device(j->a, &asked, compile_target(j->a, j->targets.names[i]));
    for (size_t i = 0; i < j->dtypes.count; i++)
        if (strcmp(j->dtypes.names[i], "spec") != 0 && !dtype_parse_real(j->dtypes.names[i], &type)) {
            const char *near = dtype_parse(j->dtypes.names[i], &type) ? NULL : dtype_hint(j->dtypes.names[i]); /* integers: no hint */
            bail(j->a, code_usage, (position){0}, "--dtype: '%s' is not %s%s", j->dtypes.names[i],
                 dtype_names(j->a, true, ", ", " or "), nearest_hint(j->a, near));
        }
}

static void verify_all(void *argument)
{
    verify_job *j = argument;
    const cli_options *o = j->o;
    arena *a = j->a;
    int sizes = 0;
    j->levels = expand(a, o->fusion, fusion_levels, "tile");
    j->dtypes = expand(a, o->dtype, dtype_names(a, true, ",", ","), "spec");
    const char *target = o->target;
    j->device = trial_device(a, o->device, false, &target);
    j->cache = cli_cache(a, o);
    j->targets = expand(a, target, target_names, "host");
    j->sizes = o->sizes ? o->sizes : "spec";
    check_lists(j);
    for (int i = 0; i < size_count; i++) sizes += wanted(j, &size_sets[i]);
    j->specs = arena_alloc(a, (size_t)o->file_count * sizeof *j->specs);
    j->bar = progress_start("verify", (long long)o->file_count * sizes * (long long)(j->levels.count * j->dtypes.count * j->targets.count));
    for (int f = 0; f < o->file_count; f++) {
        size_t size;
        const char *yaml = cli_read_file(a, o->files[f], &size);
        graph_options asked = {.preset = o->preset};
        asked.overrides = options_dims(a, "dim", o->dim, &asked.override_count);
        const ir_graph *graph = graph_read(a, yaml, size, o->files[f], &asked);
        for (int i = 0; i < size_count; i++)
            if (wanted(j, &size_sets[i])) verify_size(j, &j->specs[f], graph, o->files[f], &size_sets[i]);
    }
    progress_end(&j->bar);
}

static void write_summary(verify_job *j)
{
    text t = {.a = j->a};
    text_printf(
        &t,
        "# Verification\n\nWritten by `tfgen verify --sizes=%s%s%s`: each case runs the emitted source\n"
        "on %s, with poisoned outputs, and compares\n"
        "every stored value with the float64 reference. *worst* is the largest ratio of error to computed bound; 1 is the limit.\n\n"
        "Levels:",
        j->sizes, j->device ? " --device=" : "", j->device ? j->o->device : "",
        j->device ? "that device" : "the host engine, GPU targets in their own geometry and ISA layers");
    for (size_t i = 0; i < j->levels.count; i++) text_printf(&t, " %s", j->levels.names[i]);
    text_printf(&t, ". Dtypes:");
    for (size_t i = 0; i < j->dtypes.count; i++) text_printf(&t, " %s", j->dtypes.names[i]);
    text_printf(&t, ". Targets:");
    for (size_t i = 0; i < j->targets.count; i++) text_printf(&t, " %s", j->targets.names[i]);
    text_printf(&t, ".\n\n| spec | passed | failed | sizes it cannot have | worst | where |\n|---|---|---|---|---|---|\n");
    for (int f = 0; f < j->o->file_count; f++)
        text_printf(&t, "| %s | %d | %d | %d | %.3f | %s |\n", j->o->files[f], j->specs[f].passed, j->specs[f].failed, j->specs[f].left_out,
                    j->specs[f].worst, j->specs[f].worst_case ? j->specs[f].worst_case : "");
    text_printf(&t, "| all | %d | %d | %d | %.3f | |\n", j->total.passed, j->total.failed, j->total.left_out, j->total.worst);
    text_printf(&t, "\n%lld elements were not judged, because rounding decides whether they are numbers.\n", j->total.unjudged);
    if (j->total.unknown) text_printf(&t, "Of %d cases, neither passed nor failed, no element of a value was judged.\n", j->total.unknown);
    cli_write_file(j->a, j->o->summary, t.data, t.size);
}

static void print_table(const verify_job *j)
{
    printf("%-34s %8s %8s %9s %7s\n", "spec", "passed", "failed", "left out", "worst");
    for (int f = 0; f < j->o->file_count; f++)
        printf("%-34s %8d %s%8d%s %9d %7.3f\n", j->o->files[f], j->specs[f].passed,
               colour_code(stdout, j->specs[f].failed ? colour_bad : colour_none), j->specs[f].failed, colour_code(stdout, colour_none),
               j->specs[f].left_out, j->specs[f].worst);
    printf("verify: %d passed, %d failed; %d combinations left out because the spec cannot have the size; worst error/bound %.3f (%s)\n",
           j->total.passed, j->total.failed, j->total.left_out, j->total.worst, j->total.worst_case ? j->total.worst_case : "-");
    if (j->total.unknown) printf("unjudged: %d cases, neither passed nor failed: no element of a value was judged\n", j->total.unknown);
    if (j->total.unjudged)
        printf("%lld elements were not judged: rounding decides whether they are numbers (tfgen run says which)\n", j->total.unjudged);
}

static void verify_and_report(void *argument)
{
    verify_job *j = argument;
    verify_all(j);
    if (j->o->json) cli_print_json(j->cases);
    else if (!j->o->quiet) print_table(j);
    if (j->failures.data) fputs(j->failures.data, stderr);
    if (j->o->summary) write_summary(j);
}

int command_verify_main(const cli_options *o)
{
    if (o->random || o->first || o->plan || o->draw || o->output) return random_verify_main(o);
    verify_job j = {.a = arena_new(), .o = o, .cases = json_array()};
    j.failures.a = j.a;
    int code = cli_run(verify_and_report, &j, j.a);
    json_decref(j.cases);
    return code != code_ok ? code : j.total.failed ? code_check_failed : j.total.unknown ? code_unjudged : code_ok;
}
