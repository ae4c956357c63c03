/* Contract: runtime/module/variants.h. Also the workspace that calls need with any variant, and the manifest with all of them. */
#include "runtime/module/variants.h"
#include <stdatomic.h>
#include <string.h>

tfgen_status dims_take(const plan *p, const tfgen_dim *dims, size_t count, dim_table *out, tfgen_error *error)
{
    *out = p->ir->dims;
    for (size_t i = 0; i < count; i++) {
        dim *d = dims[i].name ? dim_find(out, dims[i].name) : NULL;
        if (!d) return device_report(error, TFGEN_USAGE, "the spec has no dim '%.60s'", dims[i].name ? dims[i].name : "(null)");
        if (!d->dynamic && dims[i].value != d->value)
            return device_report(error, TFGEN_USAGE, "dim %s is %lld in this plan and not dynamic; %lld needs another plan", d->name,
                                 d->value, (long long)dims[i].value);
        if (d->dynamic && (dims[i].value < d->low || dims[i].value > d->high))
            return device_report(error, TFGEN_USAGE, "dim %s is %lld; the spec allows %lld to %lld", d->name, (long long)dims[i].value,
                                 d->low, d->high);
        if (d->step && dims[i].value % d->step)
            return device_report(error, TFGEN_USAGE, "dim %s is %lld; as the stride of rows it is a multiple of %d, so that they begin at "
                                 "multiples of 16 bytes", d->name, (long long)dims[i].value, d->step);
        d->value = dims[i].value;
    }
    return TFGEN_OK;
}

/* ---- selection for a call */
/* Whether a dim measures a call's size: a dynamic one does, unless it is the stride of rows (only those have a step). */
static bool counts(const dim *d) { return d->dynamic && !d->step; }

static bool covers(const tfgen_module *m, const dim_table *dims)
{
    const dim_table *own = &m->plan->ir->dims;
    bool all = true;
    for (int i = 0; i < own->count; i++) all = all && (!counts(&own->dims[i]) || own->dims[i].value >= dims->dims[i].value);
    return all;
}

static double size_of(const tfgen_module *m)
{
    const dim_table *own = &m->plan->ir->dims;
    double size = 1;
    for (int i = 0; i < own->count; i++)
        if (counts(&own->dims[i])) size *= (double)own->dims[i].value;
    return size;
}

static tfgen_module *newest(const tfgen_module *m) { return atomic_load_explicit(&m->variants, memory_order_acquire); }

static bool fits(const tfgen_module *m, const dim_table *dims, unsigned long long room)
{
    return (unsigned long long)workspace_layout(m->plan, dims, NULL) <= room;
}

const tfgen_module *variant_pick(const tfgen_module *m, const dim_table *dims, size_t given)
{
    const tfgen_module *last = newest(m), *best = NULL;
    if (!last) return m;
    const unsigned long long room = given ? given : (unsigned long long)workspace_layout(m->plan, dims, NULL);
    for (const tfgen_module *v = last; v; v = v->earlier)
        if (covers(v, dims) && (!best || size_of(v) <= size_of(best)) && fits(v, dims, room)) best = v;
    if (best && covers(m, dims) && size_of(m) < size_of(best) && fits(m, dims, room)) return m;
    return best ? best : m;
}

const tfgen_module *variant_find(const tfgen_module *m, const dim_table *dims)
{
    for (const tfgen_module *v = newest(m); v; v = v->earlier) {
        const dim_table *own = &v->plan->ir->dims;
        bool same = true;
        for (int i = 0; i < own->count; i++) same = same && (!counts(&own->dims[i]) || own->dims[i].value == dims->dims[i].value);
        if (same) return v;
    }
    return NULL;
}

/* The variant's largest workspace for calls up to `dims`; larger calls than its own dims never run on it. */
static long long most_workspace_of(const tfgen_module *v, const dim_table *dims)
{
    const dim_table *own = &v->plan->ir->dims;
    dim_table at = *dims;
    for (int i = 0; i < own->count; i++)
        if (own->dims[i].value < at.dims[i].value) at.dims[i].value = own->dims[i].value;
    return workspace_layout(v->plan, &at, NULL);
}

int64_t tfgen_module_workspace_bytes(const tfgen_module *m, const tfgen_dim *dims, size_t dim_count)
{
    dim_table taken;
    if (!m || (dim_count && !dims) || dims_take(m->plan, dims, dim_count, &taken, NULL) != TFGEN_OK) return -1;
    long long most = workspace_layout(m->plan, &taken, NULL);
    for (const tfgen_module *v = newest(m); v; v = v->earlier) {
        const long long bytes = most_workspace_of(v, &taken);
        if (bytes > most) most = bytes;
    }
    return most;
}

/* ---- adding a variant */
static const weight_slot *slot_that_lacks(const tfgen_module *m, const tfgen_module *v)
{
    for (int i = 0; i < v->weight_count; i++) {
        bool found = false;
        for (int k = 0; k < m->weight_count && !found; k++) found = strcmp(m->weights[k].key, v->weights[i].key) == 0;
        if (!found) return &v->weights[i];
    }
    return NULL;
}

static bool same_tensors(const tfgen_module *m, const tfgen_module *v)
{
    bool same = m->tensors.count == v->tensors.count;
    for (int i = 0; same && i < m->tensors.count; i++) same = strcmp(m->tensors.values[i]->name, v->tensors.values[i]->name) == 0;
    return same;
}

static void write_manifest(void *variant)
{
    tfgen_module *v = variant;
    const tfgen_module *m = v->beside;
    int count = 1, at = 0;
    for (const tfgen_module *e = v->earlier; e; e = e->earlier) count++;
    const plan **plans = arena_alloc(v->plan_arena, (size_t)count * sizeof *plans);
    for (const tfgen_module *e = v; e; e = e->earlier) plans[count - ++at] = e->plan;
    v->manifest = manifest_with(v->plan_arena, m->plan, plans, count);
}

tfgen_status variant_join(tfgen_module *m, tfgen_module *v, tfgen_error *error)
{
    const weight_slot *other = slot_that_lacks(m, v);
    if (other)
        return device_report(error, TFGEN_UNSUPPORTED,
                             "tfgen_module_prepare: at these dims %s is read as '%s', which is not among the module's weights; make "
                             "another plan and module for these dims",
                             other->name, other->key);
    if (!same_tensors(m, v)) return device_report(error, TFGEN_DEVICE_ERROR, "internal: a variant has other tensors");
    v->earlier = newest(m);
    const tfgen_code code = arena_run(v->plan_arena, write_manifest, v);
    if (code != code_ok) return device_report_arena(error, code, v->plan_arena);
    atomic_store_explicit(&m->variants, v, memory_order_release);
    return TFGEN_OK;
}

const char *tfgen_module_manifest(const tfgen_module *m)
{
    const tfgen_module *last = m ? newest(m) : NULL;
    return last ? last->manifest : m ? m->manifest : NULL;
}
