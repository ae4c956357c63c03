/* In: a spec and options. Out: a folder with the plan, one source and spec header a kernel, the manifest, and with --code a code
 * object a kernel. Exit code 4 when a target has no compiler here, 5 when a kernel does not compile. */
#include "gen/tile.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/emit_check.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct emit_job {
    arena *a;
    const cli_options *o;
    const char *path;
    bool *noted; /* see emit_check */
    cache *cache; /* one for all targets, so that it warns once */
} emit_job;

/* Everything that is compiled: pack kernels, then launches. */
typedef struct unit {
    const char *file;
    const source_text *source;
    libclang_expected plan; /* what the plan says of its kernel */
    position at;            /* of its first op in the spec */
} unit;

typedef struct result_list {
    code_result *items;
    int count;
} result_list;

static position place_of(const ir_phase *phase) { return phase->op_count ? phase->ops[0]->at : (position){0}; }

static int list_units(arena *a, const plan *p, unit **out)
{
    const int count = p->pack_count + p->launch_count;
    unit *units = arena_alloc(a, (size_t)(count + 1) * sizeof *units);
    int n = 0;
    for (int i = 0; i < p->pack_count; i++, n++) {
        const packed_weight *k = &p->packs[i];
        units[n] = (unit){arena_printf(a, "%s.hip", k->name), &k->source,
                          {k->name, k->arguments, k->argument_count, k->argument_bytes, pack_shared_bytes}, place_of(k->phase)};
    }
    for (int i = 0; i < p->launch_count; i++, n++) {
        const launch *l = &p->launches[i];
        units[n] = (unit){l->file, &l->source, {l->name, l->arguments, l->argument_count, l->argument_bytes, l->shared_bytes},
                          place_of(l->kernel->phases[0])};
    }
    *out = units;
    return count;
}

static void write_sources(arena *a, const plan *p, const char *folder)
{
    unit *units;
    const int count = list_units(a, p, &units);
    cli_make_folder(a, folder);
    for (int i = 0; i < count; i++) cli_write_source(a, arena_printf(a, "%s/%s", folder, units[i].file), units[i].source);
    for (int i = 0; i < p->launch_count; i++)
        cli_write_file(a, arena_printf(a, "%s/%s.spec.h", folder, p->launches[i].name), p->launches[i].spec_header,
                       strlen(p->launches[i].spec_header));
    const char *text = ir_print(a, p->program);
    cli_write_file(a, arena_printf(a, "%s/plan.ir", folder), text, strlen(text));
}

typedef struct compile_progress {
    progress bar;
    const code_request *requests;
    bool *hit;
} compile_progress;

/* What was cached took no time, so it is no part of the estimate. */
static void count_compiled(void *context, size_t index, const code_result *result)
{
    compile_progress *p = context;
    (void)result;
    if (p->hit[index]) p->bar.total--;
    else progress_step(&p->bar, p->requests[index].name);
}

/* What the code object says must agree with what the plan promised, whichever compiler made it. */
static void check_facts(const emit_job *j, const unit *u, const code_result *r, bool hit)
{
    const libclang_expected *plan = &u->plan;
    for (size_t k = 0; k < r->n_kernels; k++) {
        const kernel_facts *f = &r->kernels[k];
        if (f->scratch_bytes || f->vgpr_spills || f->sgpr_spills)
            bail(j->a, code_compile_failed, (position){0}, "%s: %s spilled: %u bytes of scratch a thread, %u vector and %u scalar spills",
                 plan->kernel, r->compiler, f->scratch_bytes, f->vgpr_spills, f->sgpr_spills);
        if (f->kernarg_bytes < plan->argument_bytes || f->kernarg_bytes > plan->argument_bytes + 256)
            bail(j->a, code_compile_failed, (position){0}, "%s: %s lays out %u bytes of arguments, the plan %u", plan->kernel, r->compiler,
                 f->kernarg_bytes, plan->argument_bytes);
        if (f->lds_bytes > (unsigned)plan->shared_bytes)
            bail(j->a, code_compile_failed, (position){0}, "%s: %s uses %u bytes of shared memory, the plan %d", plan->kernel, r->compiler,
                 f->lds_bytes, plan->shared_bytes);
        if (!j->o->quiet)
            printf("  %-28s %s: %u vgprs, %u sgprs, %u scratch, %u LDS bytes%s\n", plan->kernel, r->compiler, f->vgprs, f->sgprs,
                   f->scratch_bytes, f->lds_bytes, hit ? ", cached" : "");
    }
}

static json_t *facts_json(const char *file, const code_result *r)
{
    const kernel_facts *f = r->n_kernels ? &r->kernels[0] : &(kernel_facts){0};
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i}", "file", file, "compiler", r->compiler, "vgprs", f->vgprs, "agprs", f->agprs, "sgprs",
                     f->sgprs, "scratch_bytes", f->scratch_bytes, "lds_bytes", f->lds_bytes);
}

/* The manifest of a folder with code objects has one more key, "code": what compiler made each, and what it needs. */
static void write_manifest(arena *a, const plan *p, const char *folder, json_t *code)
{
    json_t *manifest = json_loads(manifest_json(a, p), 0, NULL);
    if (code) json_object_set(manifest, "code", code);
    char *text = json_dumps(manifest, JSON_INDENT(2));
    cli_write_file(a, arena_printf(a, "%s/manifest.json", folder), text, strlen(text));
    free(text);
    json_decref(manifest);
}

static void release_json(void *json) { json_decref(json); }

static void free_results(void *argument)
{
    const result_list *list = argument;
    for (int i = 0; i < list->count; i++) code_result_free(&list->items[i]);
}

static code_request *requests_of(const emit_job *j, const plan *p, const unit *units, int count)
{
    code_request *requests = arena_alloc(j->a, (size_t)(count + 1) * sizeof *requests);
    compiler_kind kind = compiler_auto;
    if (j->o->compiler) (void)compiler_by_name(j->o->compiler, &kind); /* options_parse() refused other names */
    const double limit = (double)j->o->number.time_limit;
    for (int i = 0; i < count; i++)
        requests[i] = (code_request){.source = cli_whole_source(j->a, units[i].source), .size = source_size(units[i].source), .name = units[i].file,
                                     .arch = p->target->name, .compiler = kind, .time_limit = limit};
    return requests;
}

/* What is cached was checked when it was made. slot[i]: where unit i is among those that are checked; -1: it is not. */
static emit_check check_units(const emit_job *j, cache *c, const code_request *requests, const unit *units, int count, int jobs, int *slot)
{
    libclang_expected *expected = arena_alloc(j->a, (size_t)(count + 1) * sizeof *expected);
    code_request *missing = arena_alloc(j->a, (size_t)(count + 1) * sizeof *missing);
    int n = 0;
    for (int i = 0; i < count; i++) {
        code_result cached = {0};
        slot[i] = cache_lookup(c, &requests[i], &cached) ? -1 : n;
        code_result_free(&cached);
        if (slot[i] < 0) continue;
        expected[n] = units[i].plan;
        missing[n++] = requests[i];
    }
    return emit_check_start(j->a, missing, expected, n, jobs, j->noted);
}

/* The kernel, the place in the spec, the log. */
static void not_compiled(const emit_job *j, const unit *u, const code_result *r, const char *said, const char *target)
{
    complain(j->a, u->at, "%s is not compiled for %s; it begins with this op", u->file, target);
    bail_with_log(j->a, code_exit(r->status), arena_printf(j->a, "%s%s", said, r->log ? r->log : ""), "%s: the compiler%s%s said:", u->file,
                  r->compiler ? ", " : "", r->compiler ? r->compiler : "");
}

static void compile_units(const emit_job *j, const plan *p, const char *folder)
{
    arena *a = j->a;
    unit *units;
    const int count = list_units(a, p, &units), jobs = (int)j->o->number.jobs;
    const code_request *requests = requests_of(j, p, units, count);
    result_list *results = arena_alloc(a, sizeof *results);
    *results = (result_list){arena_alloc(a, (size_t)(count + 1) * sizeof *results->items), count};
    cache *c = j->cache;
    int *slot = arena_alloc(a, (size_t)(count + 1) * sizeof *slot);
    bool *hit = arena_alloc(a, (size_t)count + 1);
    const emit_check check = check_units(j, c, requests, units, count, jobs, slot);
    compile_progress report = {progress_start("compiling", count), requests, hit};
    cache_compile_all(c, requests, (size_t)count, jobs, results->items, hit, count_compiled, &report);
    arena_defer(a, free_results, results);
    progress_end(&report.bar);
    const char *extension = strncmp(p->target->name, "sm_", 3) == 0 ? "cubin" : "hsaco";
    json_t *code = json_object();
    arena_defer(a, release_json, code);
    for (int i = 0; i < count; i++) {
        const code_result *r = &results->items[i];
        const char *said = slot[i] < 0 ? "" : emit_check_report(&check, slot[i], r), *name = units[i].plan.kernel;
        if (r->status != build_ok) not_compiled(j, &units[i], r, said, p->target->name);
        const char *file = arena_printf(a, "%s.%s", name, extension);
        check_facts(j, &units[i], r, hit[i]);
        cli_write_file(a, arena_printf(a, "%s/%s", folder, file), r->code, r->code_size);
        json_object_set_new(code, name, facts_json(file, r));
    }
    write_manifest(a, p, folder, code);
}

static void emit_target(const emit_job *j, compile_request r, const char *target, const char *folder)
{
    compiled c;
    r.target = target;
    compile_inside(j->a, &r, &c);
    if (j->o->dump && !j->o->output && !j->o->code) return; /* asked for on standard output alone */
    write_sources(j->a, c.plan, folder);
    if (!j->o->quiet && !j->o->dump)
        printf("%s: %d kernels, %d packed weights for %s at level %s in %s\n", j->path, c.plan->launch_count, c.plan->pack_count, target,
               fusion_level_name(r.level), folder);
    if (j->o->code) compile_units(j, c.plan, folder);
    else write_manifest(j->a, c.plan, folder, NULL);
}

static void emit_spec(void *argument)
{
    emit_job *j = argument;
    arena *a = j->a;
    if (j->o->compiler && !j->o->code) bail(a, code_usage, (position){0}, "--compiler: nothing is compiled without --code");
    j->cache = j->o->code ? cli_cache(a, j->o) : NULL;
    const compile_request r = cli_request(a, j->o, j->path);
    name_list targets = options_list(a, j->o->target ? j->o->target : "host");
    const char *base = strrchr(j->path, '/') ? strrchr(j->path, '/') + 1 : j->path;
    const char *folder = j->o->output ? j->o->output : arena_printf(a, "%.*s.tfgen", (int)strcspn(base, "."), base);
    for (size_t i = 0; i < targets.count; i++) {
        if (j->o->code && strcmp(targets.names[i], "host") == 0)
            bail(a, code_usage, (position){0}, "--code: name a GPU target; the host compiles its kernels when they run");
        emit_target(j, r, targets.names[i], targets.count > 1 ? arena_printf(a, "%s/%s", folder, targets.names[i]) : folder);
    }
}

int command_emit_main(const cli_options *o)
{
    int worst = code_ok;
    bool noted = false;
    if (o->output && o->file_count > 1) {
        fputs("tfgen: -o takes one SPEC; give each its own call\n", stderr);
        return code_usage;
    }
    for (int i = 0; i < o->file_count; i++) {
        emit_job j = {arena_new(), o, o->files[i], &noted, NULL};
        const int code = cli_run(emit_spec, &j, j.a);
        if (code > worst) worst = code;
    }
    return worst;
}
