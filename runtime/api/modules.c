/* In: a plan, a device, options; for variants, dims. Out: a module, and variants of it: its spec planned for calls up to those dims,
 * compiled and loaded like the module itself. Refuses a plan for another target, inconsistent options, dims that the spec does not allow,
 * and what the compilers refuse; the module is then unchanged. */
#include "runtime/cache/cache.h"
#include "runtime/module/variants.h"
#include <string.h>

static tfgen_status check_options(const char *call, const tfgen_module_options *o, tfgen_error *error)
{
    if (o->jobs < 0 || !(o->compile_seconds >= 0) || o->compile_seconds > 86400 || (o->bundle_only && !o->bundle))
        return device_report(error, TFGEN_USAGE, "%s: options.jobs or compile_seconds is out of range, or bundle_only is "
                                                 "set without a bundle", call);
    bool missing = o->variant_count && !o->variants;
    for (size_t i = 0; i < o->variant_count && !missing; i++) missing = o->variants[i].count && !o->variants[i].dims;
    if (!missing) return TFGEN_OK;
    return device_report(error, TFGEN_USAGE, "%s: options.variants, or the dims of one, is NULL, but its count is not 0", call);
}

/* ---- variants */
typedef struct variant_job {
    arena *a;
    const tfgen_module *m;
    const dim_table *dims; /* upper bounds of the calls' dims */
    compiled out;
} variant_job;

static void plan_variant(void *argument)
{
    variant_job *j = argument;
    compile_request r = j->m->made_of->request;
    const size_t before = r.graph.override_count, count = (size_t)j->dims->count;
    dim_override *overrides = arena_alloc(j->a, (before + count + 1) * sizeof *overrides);
    for (size_t i = 0; i < before; i++) overrides[i] = r.graph.overrides[i];
    r.graph.override_count = before;
    for (size_t i = 0; i < count; i++) /* appended to the plan's own overrides, since a later override of a dim wins */
        if (j->dims->dims[i].dynamic) overrides[r.graph.override_count++] = (dim_override){j->dims->dims[i].name, j->dims->dims[i].value};
    r.graph.overrides = overrides;
    r.at_most = true;
    compile_inside(j->a, &r, &j->out);
}

static tfgen_status build_variant(tfgen_module *m, const dim_table *dims, const module_settings *settings, tfgen_error *error)
{
    variant_job job = {.a = arena_new(), .m = m, .dims = dims};
    tfgen_module *v = NULL;
    if (!job.a) return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    const tfgen_code code = arena_run(job.a, plan_variant, &job);
    tfgen_status status = code == code_ok ? TFGEN_OK : device_report_arena(error, code, job.a);
    if (status == TFGEN_OK) status = module_build(job.out.plan, m->device, settings, &v, error);
    if (!v) {
        arena_free(job.a);
        return status;
    }
    v->plan_arena = job.a;
    pthread_mutex_lock(&m->preparing);
    const bool known = variant_find(m, dims) != NULL; /* another thread has added this variant meanwhile */
    if (!known) status = variant_join(m, v, error);
    pthread_mutex_unlock(&m->preparing);
    if (known || status != TFGEN_OK) tfgen_module_free(v);
    return status;
}

static tfgen_status prepare(tfgen_module *m, const tfgen_dim *dims, size_t count, const tfgen_module_options *o, cache *kept,
                            tfgen_error *error)
{
    dim_table wanted;
    if (m->plan->stack.in)
        return device_report(error, TFGEN_UNSUPPORTED, "tfgen_module_prepare: a module for stacks has no variants");
    const tfgen_status status = dims_take(m->plan, dims, count, &wanted, error);
    if (status != TFGEN_OK || variant_find(m, &wanted)) return status;
    return build_variant(m, &wanted, &(module_settings){o, kept, NULL, false, m}, error);
}

tfgen_status tfgen_module_prepare(tfgen_module *m, const tfgen_dim *dims, size_t dim_count, const tfgen_module_options *options,
                                  tfgen_error *error)
{
    tfgen_module_options known = TFGEN_MODULE_OPTIONS_INIT;
    if (!m || (dim_count && !dims) || !take_options(&known, sizeof known, options))
        return device_report(error, TFGEN_USAGE, "tfgen_module_prepare: module and dims must be given, and options.size set");
    if (known.variant_count)
        return device_report(error, TFGEN_USAGE, "tfgen_module_prepare: options.variants is for tfgen_module_create; give dims");
    tfgen_status status = check_options("tfgen_module_prepare", &known, error);
    if (status != TFGEN_OK) return status;
    cache *kept = cache_open(&(cache_options){.directory = known.cache_dir});
    status = prepare(m, dims, dim_count, &known, kept, error);
    cache_close(kept);
    return status;
}

/* ---- modules */
static tfgen_status create(const tfgen_plan *plan, tfgen_device *device, const tfgen_module_options *o, cache *kept, tfgen_module **out,
                           tfgen_error *error)
{
    tfgen_module *m = NULL;
    tfgen_status status = module_build(plan->compiled.plan, device, &(module_settings){o, kept, NULL, true, NULL}, &m, error);
    if (status != TFGEN_OK) return status;
    m->made_of = plan;
    if (!m->manifest) m->manifest = plan->manifest;
    for (size_t i = 0; i < o->variant_count && status == TFGEN_OK; i++)
        status = prepare(m, o->variants[i].dims, o->variants[i].count, o, kept, error);
    if (status == TFGEN_OK) *out = m;
    else tfgen_module_free(m);
    return status;
}

tfgen_status tfgen_module_create(const tfgen_plan *plan, tfgen_device *device, const tfgen_module_options *options, tfgen_module **module,
                                 tfgen_error *error)
{
    tfgen_module_options known = TFGEN_MODULE_OPTIONS_INIT;
    if (!plan || !device || !module || !take_options(&known, sizeof known, options))
        return device_report(error, TFGEN_USAGE, "tfgen_module_create: plan, device and module must be given, and options.size set");
    *module = NULL;
    tfgen_status status = check_options("tfgen_module_create", &known, error);
    if (status != TFGEN_OK) return status;
    const char *target = plan->compiled.plan->target->name;
    if (strcmp(target, device->info.target) != 0)
        return device_report(error, TFGEN_UNSUPPORTED, "the plan is for %s, the device %s (%s) needs %s", target, device->info.name,
                             device->info.label, *device->info.target ? device->info.target : "a target that tfgen does not have");
    cache *kept = cache_open(&(cache_options){.directory = known.cache_dir});
    status = create(plan, device, &known, kept, module, error);
    cache_close(kept);
    return status;
}
