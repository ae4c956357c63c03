/* Contract: report.h. Shared by text, JSON and picture. */
#include "runtime/cli/access/report.h"
#include "runtime/cli/plan_words.h"
#include "runtime/cli/trial.h"
#include <string.h>

/* The kernel whose phases a launch computes; for a pack kernel, the kernel of the product that reads the weights. */
static const ir_kernel *kernel_of(const access_report *r, const access_launch *l)
{
    const launch *of = launch_named(r->plan, l->kernel);
    for (int i = 0; !of && i < r->plan->pack_count; i++)
        if (strcmp(r->plan->packs[i].name, l->kernel) == 0) return r->plan->packs[i].kernel;
    return of ? of->kernel : NULL;
}

const char *access_ops(const access_report *r, const access_launch *l)
{
    const launch *of = launch_named(r->plan, l->kernel);
    return of ? kernel_ops(r->a, r->graph, of->kernel) : "packs weights";
}

const char *access_spec(const access_report *r, const access_launch *l, const access_row *row)
{
    const ir_kernel *k = kernel_of(r, l);
    if (row->place.spec) return row->place.spec;
    for (int p = 0; k && p < k->phase_count; p++)
        for (int i = 0; i < k->phases[p]->op_count; i++)
            if (k->phases[p]->ops[i]->at.line > 0)
                return arena_printf(r->a, "%s:%d:%d", r->path, k->phases[p]->ops[i]->at.line, k->phases[p]->ops[i]->at.column);
    return NULL;
}

const char *access_name(const access_row *row)
{
    static const char *const plain[HOST_ACCESS_KINDS] = {"read", "write", "atomic read", "atomic"};
    if (row->bulk) return row->kind == HOST_READ ? "tensor load" : "tensor write";
    return row->matrix ? "operand" : plain[row->kind];
}

const char *const access_faults[access_fault_count] = {"", "conflicts", "waste", "again"};

double access_kept(const access_report *r, const access_row *row)
{
    return row->brought > 0 ? row->kept / (row->brought * r->plan->target->sector_bytes) : 1;
}

double access_share(const access_report *r, const access_row *row)
{
    return row->sectors > 0 ? row->used / (row->sectors * r->plan->target->sector_bytes) : 1;
}
