/* In: a spec and options. Out: the memory requests and shared-memory bank conflicts of each wave, recorded by the host engine while it runs
 * the emitted kernels in the geometry of a GPU; as text, as JSON, as a picture. Refuses the host as a target: it has no waves. */
#include "runtime/cli/access/report.h"
#include "runtime/cli/source_edits.h"
#include "runtime/cli/trial.h"
#include <string.h>

typedef struct access_job {
    arena *a;
    const cli_options *o;
    const char *path;
} access_job;

static void free_recorder(void *r) { access_recorder_free(r); }

/* Bails if the plan has no kernel of this name. */
static void check_kernel(arena *a, const plan *p, const char *kernel)
{
    const char **names = arena_alloc(a, (size_t)(p->launch_count + p->pack_count + 1) * sizeof *names);
    size_t count = 0;
    for (int i = 0; i < p->launch_count; i++) names[count++] = p->launches[i].name;
    for (int i = 0; i < p->pack_count; i++) names[count++] = p->packs[i].name;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], kernel) == 0) return;
    const char *near = nearest_name(kernel, names, count);
    text all = {.a = a};
    for (size_t i = 0; i < count; i++) text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    bail(a, code_usage, (position){0}, "--kernel: no kernel is called '%.80s'%s; there are %s", kernel, nearest_hint(a, near), all.data);
}

static access_recorder *new_recorder(const access_job *j, const plan *p)
{
    const access_options options = {.device = p->device,
                                    .limit = (size_t)j->o->number.limit,
                                    .seed = (unsigned long long)j->o->number.seed,
                                    .only = j->o->kernel};
    access_recorder *r = access_recorder_new(&options);
    if (!r) bail(j->a, code_device, (position){0}, "not enough memory");
    arena_defer(j->a, free_recorder, r);
    return r;
}

static void tell(access_report *report, const cli_options *o)
{
    if (o->svg) access_picture(report, o->svg);
    if (o->json) cli_print_json(cli_keep_json(report->a, access_json(report)));
    else if (!o->svg) access_print(report);
}

static void step(void *context, const char *kernel) { progress_step(context, kernel); }

static void access_spec_file(void *argument)
{
    const access_job *j = argument;
    arena *a = j->a;
    const cli_options *o = j->o;
    compile_request request = cli_request(a, o, j->path);
    compiled c;
    request.target = cli_target(a, o, &request);
    compile_inside(a, &request, &c);
    if (c.plan->target->vendor == vendor_host)
        bail(a, code_unsupported, (position){0}, "--target=host: a CPU has no waves, so it has no accesses of waves; name a GPU");
    const source_edits edits = source_edits_apply(a, o->replace_source, c.plan);
    if (o->kernel) check_kernel(a, c.plan, o->kernel);
    const ir_graph *graph = cli_graph(a, o, &c);
    access_recorder *r = new_recorder(j, c.plan);
    progress bar = progress_start("compiling", c.plan->launch_count + c.plan->pack_count);
    const trial_options options = {.seed = (unsigned long long)o->number.seed,
                                   .jobs = (int)o->number.jobs,
                                   .check = true,
                                   .watch = access_recorder_watch(r),
                                   .cache = cli_cache(a, o),
                                   .reference = reference_never,
                                   .compiled = step,
                                   .context = &bar};
    const trial_result t = trial_run(a, graph ? graph : c.plan->ir, c.plan, &options);
    progress_end(&bar);
    source_edits_check(a, &edits, c.plan, t.plan);
    access_report report = {.a = a, .path = arena_source_name(a), .graph = graph, .plan = t.plan, .limit = (size_t)o->number.limit,
                            .seed = (unsigned long long)o->number.seed};
    bool lost;
    report.launches = access_recorder_launches(r, &report.count, &lost);
    if (lost) bail(a, code_device, (position){0}, "not enough memory to record all accesses; --limit or --kernel records fewer");
    tell(&report, o);
}

int command_access_main(const cli_options *o)
{
    if (!cli_is_one_spec(o)) return code_usage;
    access_job j = {arena_new(), o, o->files[0]};
    return cli_run(access_spec_file, &j, j.a);
}
