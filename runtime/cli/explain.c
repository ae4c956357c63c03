/* In: a spec and options. Out: what its kernels are at each fusion level: what was fused and what was not, and why; operations, bytes and
 * predicted times on every device model; what the compilers made of them. As text, as JSON, or as one page. Refuses what planning refuses.
 */
#include "runtime/cli/explain/explanation.h"
#include <stdlib.h>
#include <string.h>

typedef struct explain_job {
    arena *a;
    const cli_options *o;
    const char *path;
} explain_job;

/* A plan for another device, whose refusal does not end the command. */
typedef struct other_plan {
    arena *a;
    compile_request request;
    explained_device *out;
} other_plan;

static void add_up(explained_device *d)
{
    d->foreseen = d->count > 0 && d->kernels[0].foreseen;
    d->floor = launches_seconds(d->kernels, d->count, true);
    d->seconds = launches_seconds(d->kernels, d->count, false);
    for (int i = 0; i < d->count; i++) d->assumed |= d->kernels[i].predicted.assumed;
}

static void plan_other(void *argument)
{
    other_plan *j = argument;
    compiled c;
    compile_inside(j->a, &j->request, &c);
    j->out->count = c.plan->launch_count;
    j->out->kernels = explain_kernels(j->a, c.graph, c.plan);
    add_up(j->out);
}

static void close_arena(void *a) { arena_free(a); }

static const char *refusal_of(arena *a, const arena *other)
{
    const char *said = arena_diagnostics(other), *mark = strstr(said, "error: ");
    const char *from = mark ? mark + strlen("error: ") : said;
    return arena_strndup(a, from, strcspn(from, "\n"));
}

static explained_device on_device(arena *a, compile_request r, const device_model *d)
{
    explained_device out = {.model = d};
    other_plan j = {arena_new(), r, &out};
    if (!j.a) bail(a, code_bad_input, (position){0}, "out of memory");
    arena_defer(a, close_arena, j.a);
    j.request.target = d->target->name, j.request.device_model = d->name, j.request.device_file = NULL, j.request.dump = NULL;
    if (arena_run(j.a, plan_other, &j) != code_ok) out = (explained_device){.model = d, .refused = refusal_of(a, j.a)};
    return out;
}

/* The level's own device first, which may be a file of the caller's. */
static void find_devices(arena *a, const compile_request *r, explained_level *l)
{
    const device_model *own = l->plan->device;
    l->devices = arena_alloc(a, (device_model_total() + 2) * sizeof *l->devices);
    l->devices[l->device_count] = (explained_device){.model = own, .count = l->count, .kernels = l->kernels};
    add_up(&l->devices[l->device_count++]);
    for (size_t i = 0; i < device_model_total() && (!r->from_ir || r->from < stage_plan); i++) {
        const device_model *d = device_model_at(a, i);
        if (d->numbers[number_bandwidth].value > 0 && strcmp(d->name, own->name) != 0) l->devices[l->device_count++] = on_device(a, *r, d);
    }
}

static double packed_bytes(const plan *p)
{
    double sum = 0;
    for (int i = 0; i < p->pack_count; i++) sum += (double)p->packs[i].columns * (double)p->packs[i].length * dtype_size(p->packs[i].type);
    return sum;
}

static void explain_level(explanation *e, const cli_options *o, compile_request r, explained_level *l)
{
    arena *a = e->a;
    compiled c;
    const char *missing = NULL;
    compile_inside(a, &r, &c);
    e->graph = c.graph, e->device = c.plan->device;
    l->level = c.plan->program->level;
    l->plan = c.plan;
    const plan_code *code = explain_compile(a, o, &l->plan, &missing);
    l->kernels = explain_kernels(a, c.graph, l->plan);
    l->count = l->plan->launch_count;
    explain_code(a, code, missing, l);
    l->edges = explain_edges(a, l, &l->edge_count);
    for (int i = 0; i < l->count; i++) l->all = work_add(&l->all, &l->kernels[i].work);
    l->floor = launches_seconds(l->kernels, l->count, true);
    l->seconds = launches_seconds(l->kernels, l->count, false);
    l->workspace = (double)workspace_layout(l->plan, &l->plan->program->dims, NULL);
    l->packed = packed_bytes(l->plan);
    find_devices(a, &r, l);
}

/* --target, else that of --device-model, else the one that most is known of. */
static const char *target_of(arena *a, const cli_options *o, const compile_request *r)
{
    static const char usual[] = "sm_90a";
    if (o->target) return o->target;
    if (!r->device_model) return usual;
    if (!strchr(r->device_model, '\n')) return device_model_named(a, r->device_model)->target->name;
    return device_model_read(a, r->device_model, strlen(r->device_model), r->device_file)->target->name;
}

static explanation *explained(arena *a, const cli_options *o, const char *path)
{
    explanation *e = arena_alloc(a, sizeof *e);
    cli_options one = *o;
    const name_list levels = options_list(a, !o->fusion || strcmp(o->fusion, "all") == 0 ? "none,ops,tile" : o->fusion);
    for (size_t i = 0; i < levels.count; i++) options_level(a, levels.names[i]);
    one.fusion = NULL;
    compile_request r = cli_request(a, &one, path);
    r.target = target_of(a, o, &r);
    *e = (explanation){.a = a, .path = path, .text = r.text, .levels = arena_alloc(a, (levels.count + 1) * sizeof *e->levels)};
    const bool fused = r.from_ir && r.from >= stage_fuse;
    if (fused && o->fusion)
        bail(a, code_usage, (position){0}, "--from=%s: the IR text is fused already; --fusion needs graph or ir", o->from);
    for (size_t i = 0; i < (fused ? 1 : levels.count); i++) {
        if (!fused) r.level = options_level(a, levels.names[i]);
        explain_level(e, o, r, &e->levels[e->level_count++]);
    }
    return e;
}

static void release_json(void *json) { json_decref(json); }

static void explain_spec(void *argument)
{
    const explain_job *j = argument;
    if (j->o->target && strchr(j->o->target, ','))
        bail(j->a, code_usage, (position){0}, "--target: explain takes one; its tables have all devices");
    const explanation *e = explained(j->a, j->o, j->path);
    if (!j->o->json && !j->o->html) {
        explain_print(e);
        return;
    }
    json_t *all = explain_json(e);
    arena_defer(j->a, release_json, all);
    if (j->o->html) explain_page(j->a, j->o->html, all);
    if (!j->o->json) return;
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
}

int command_explain_main(const cli_options *o)
{
    if (o->file_count > 1) {
        fputs("tfgen: explain takes one SPEC; give each its own call\n", stderr);
        return code_usage;
    }
    explain_job j = {arena_new(), o, o->files[0]};
    return cli_run(explain_spec, &j, j.a);
}
