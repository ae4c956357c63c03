/* Contract: plan_words.h. */
#include "runtime/cli/plan_words.h"
#include "gen/base/signature.h"
#include <string.h>

const char *dims_text(arena *a, const dim_table *dims, const char *between)
{
    text t = {.a = a};
    for (int i = 0; i < dims->count; i++) text_printf(&t, "%s%s=%lld", i ? between : "", dims->dims[i].name, dims->dims[i].value);
    return t.data ? t.data : "";
}

const char *tile_text(arena *a, const ir_tile *tile)
{
    const program_info *p = &program_table[tile->program];
    text t = {.a = a};
    for (int i = 0; i < p->field_count; i++)
        if (p->fields[i].help) text_printf(&t, "%s%s=%d", i ? " " : "", p->fields[i].name, tile->at[i]);
    return t.data ? t.data : "";
}

const launch *launch_named(const plan *p, const char *name)
{
    for (int i = 0; i < p->launch_count; i++)
        if (strcmp(p->launches[i].name, name) == 0) return &p->launches[i];
    return NULL;
}

const launch_phase *phase_of_signature(arena *a, const plan *p, const char *signature, int *launch)
{
    for (*launch = 0; *launch < p->launch_count; ++*launch)
        for (int i = 0; i < p->launches[*launch].work_count; i++) {
            const launch_phase *w = &p->launches[*launch].work[i];
            if (strcmp(phase_signature(a, p->ir, w->phase), signature) == 0) return w;
        }
    *launch = -1;
    return NULL;
}
