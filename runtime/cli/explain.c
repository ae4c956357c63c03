/* In: a spec and options. Out: what its kernels are at each fusion level: what was fused and what was not, and why; operations, bytes and
 * predicted times on every device model; the registers, spills and matrix instructions of the compiled kernels. As text, as JSON, or as one
 * page. Refuses what planning refuses. */
#include "runtime/cli/explain/explanation.h"
#include <stdlib.h>
#include <string.h>

typedef struct explain_job {
    arena *a;
    const cli_options *o;
    const char *path;
} explain_job;

/* The plan's device model comes first; it may be from a user's file and thus missing among tfgen's own models, which follow. */
static void find_devices(arena *a, const compile_request *r, explained_level *l)
{
    const device_model *own = l->plan->device;
    l->devices = arena_alloc(a, (device_model_total() + 2) * sizeof *l->devices);
    l->devices[l->device_count] = (explained_device){.model = own, .count = l->count, .kernels = l->kernels};
    explain_add_up(&l->devices[l->device_count++]);
    for (size_t i = 0; i < device_model_total() && (!r->from_ir || r->from < stage_plan); i++) {
        const device_model *d = device_model_at(a, i);
        if (d->numbers[number_bandwidth].value > 0 && strcmp(d->name, own->name) != 0)
            l->devices[l->device_count++] = explain_device(a, *r, d);
    }
}

static double packed_bytes(const plan *p)
{
    double sum = 0;
    for (int i = 0; i < p->pack_count; i++) sum += (double)pack_bytes(&p->packs[i]);
    return sum;
}

static void explain_level(explanation *e, const cli_options *o, compile_request r, explained_level *l)
{
    arena *a = e->a;
    compiled c;
    const char *missing = NULL;
    compile_inside(a, &r, &c);
    e->graph = c.graph, e->device = c.plan->device;
    l->level = c.plan->ir->level;
    l->plan = c.plan;
    const plan_code *code = explain_compile(a, o, &l->plan, &missing);
    l->kernels = explain_kernels(a, c.graph, l->plan);
    l->count = l->plan->launch_count;
    explain_code(a, code, missing, l);
    l->edges = explain_edges(a, l, &l->edge_count);
    for (int i = 0; i < l->count; i++) l->all = work_add(&l->all, &l->kernels[i].work);
    l->floor = launches_seconds(l->kernels, l->count, true);
    l->seconds = launches_seconds(l->kernels, l->count, false);
    l->workspace = (double)workspace_layout(l->plan, &l->plan->ir->dims, NULL);
    l->packed = packed_bytes(l->plan);
    find_devices(a, &r, l);
}

static explanation *explained(arena *a, const cli_options *o, const char *path)
{
    explanation *e = arena_alloc(a, sizeof *e);
    cli_options one = *o;
    const char *given = o->fusion ? o->fusion : o->tile ? "tile" : "all"; /* tiles name phases, which differ between levels */
    const name_list levels = options_list(a, strcmp(given, "all") == 0 ? fusion_levels : given);
    for (size_t i = 0; i < levels.count; i++) options_level(a, levels.names[i]);
    one.fusion = NULL;
    compile_request r = cli_request(a, &one, path);
    r.target = cli_target(a, o, &r);
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

static void explain_spec(void *argument)
{
    const explain_job *j = argument;
    const explanation *e = explained(j->a, j->o, j->path);
    if (!j->o->json && !j->o->html) {
        explain_print(e);
        return;
    }
    const json_t *all = cli_keep_json(j->a, explain_json(e));
    if (j->o->html) explain_page(j->a, j->o->html, all);
    if (!j->o->json) return;
    cli_print_json(all);
}

int command_explain_main(const cli_options *o)
{
    if (!cli_is_one_spec(o)) return code_usage;
    explain_job j = {arena_new(), o, o->files[0]};
    return cli_run(explain_spec, &j, j.a);
}
