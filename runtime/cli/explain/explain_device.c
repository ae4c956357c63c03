/* In: a request, a device model. Out: the plan for that device, its work and predicted times; without a plan, a sentence with the
 * reason. */
#include "runtime/cli/explain/explanation.h"

/* A plan for another device; if it is refused, the command goes on. */
typedef struct other_plan {
    arena *a;
    compile_request request;
    explained_device *out;
} other_plan;

void explain_add_up(explained_device *d)
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
    explain_add_up(j->out);
}

static void close_arena(void *a) { arena_free(a); }

explained_device explain_device(arena *a, compile_request r, const device_model *d)
{
    explained_device out = {.model = d};
    other_plan j = {arena_new(), r, &out};
    if (!j.a) bail(a, code_device, (position){0}, "not enough memory");
    arena_defer(a, close_arena, j.a);
    j.request.target = d->target->name, j.request.device_model = d->name, j.request.device_file = NULL, j.request.dump = NULL;
    if (arena_run(j.a, plan_other, &j) != code_ok) out = (explained_device){.model = d, .refused = arena_first_error(a, j.a)};
    return out;
}
