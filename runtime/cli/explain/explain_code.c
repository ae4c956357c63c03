/* In: a plan. Out: what the compilers make of its launches; without a compiler, or if one refuses, a sentence instead of the facts. */
#include "runtime/cli/explain/explanation.h"
#include "runtime/compile/matrix_count.h"
#include <string.h>

static void count_more(void *context, int more) { ((progress *)context)->total += more; }

static void count_compiled(void *context, const char *kernel, bool cached, bool good)
{
    progress *bar = context;
    (void)good;
    if (cached)
        bar->total--;
    else
        progress_step(bar, kernel);
}

static const char *first_line(arena *a, const char *log)
{
    const char *line = cli_first_line(a, log);
    return *line ? line : "the compiler said nothing";
}

const plan_code *explain_compile(arena *a, const cli_options *o, const plan **p, const char **missing)
{
    if (o->no_code || (*p)->target->vendor == vendor_host) {
        *missing = o->no_code ? "not compiled: --no-code" : "the host engine's kernels are code of the CPU, which has no such registers";
        return NULL;
    }
    progress bar = progress_start("compiling", 0);
    const plan_code_options options = {.arch = (*p)->target->name,
                                       .jobs = (int)o->number.jobs,
                                       .cache = cli_cache(a, o),
                                       .begin = count_more,
                                       .done = count_compiled,
                                       .context = &bar};
    const plan_code *code = plan_code_make(a, *p, &options);
    progress_end(&bar);
    *p = code->plan;
    return code;
}

static kernel_need need_of(const device_model *d, const launch *l, const kernel_facts *f)
{
    /* with a unified register file vgprs includes the AGPRs; gfx908 allocates them separately */
    return (kernel_need){.threads = l->threads,
                         .registers = (int)f->vgprs,
                         .sums = (int)f->agprs,
                         .scalars = d->target->vendor == vendor_amd ? (int)f->sgprs : 0,
                         .shared = (long long)f->lds_bytes + l->dynamic_bytes};
}

static void read_code(arena *a, const plan_code *code, int page, const plan *p, explained_kernel *k)
{
    const code_result *r = &code->results[page];
    explained_code *c = &k->code;
    c->matrix = -1;
    c->compiler = r->compiler ? arena_strdup(a, r->compiler) : NULL;
    if (!r->n_kernels) {
        c->missing = r->status == build_unsupported ? first_line(a, r->log) : arena_printf(a, "not compiled: %s", first_line(a, r->log));
        return;
    }
    c->facts = r->kernels[0];
    c->facts.name = NULL;
    c->need = need_of(p->device, k->launch, &c->facts);
    c->holds = occupancy_of(p->device, &c->need, &c->held);
    if (r->code) c->matrix = matrix_instructions(r->code, r->code_size);
}

void explain_code(arena *a, const plan_code *code, const char *missing, explained_level *l)
{
    for (int i = 0; i < l->count; i++) {
        if (code)
            read_code(a, code, l->plan->pack_count + i, l->plan, &l->kernels[i]);
        else
            l->kernels[i].code = (explained_code){.missing = missing, .matrix = -1};
    }
}
