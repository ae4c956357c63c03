/* In: a module and the device pointers of one layer's params. Out: the weights that the module reads and that are still missing: packed by
 * the plan's pack kernels, or copied where kernels read a param unpacked. Refuses missing and misaligned pointers, and what the device
 * refuses; the weights are then unchanged. */
#include "runtime/module/weights.h"
#include "runtime/system/ranges.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct addition {
    const tfgen_weights *to;
    const tfgen_module *m;
    const char *call; /* public function, for messages; NULL: params are not checked */
    weight_list made;
    void **memory; /* by slot; NULL: nothing to fill */
} addition;

static tfgen_status make_weight(addition *a, int slot, tfgen_error *error)
{
    const weight_slot *s = &a->m->weights[slot];
    weight *w = calloc(1, sizeof *w + strlen(s->key) + 1);
    if (!w) return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    strcpy(w->key, s->key);
    w->bytes = s->bytes > 0 ? s->bytes : 1; /* an empty tensor still needs an address */
    weights_append(&a->made, w);
    const tfgen_status status = a->m->device->api->alloc(a->m->device, (size_t)w->bytes, s->name, &w->memory, error);
    if (status != TFGEN_OK) w->memory = NULL;
    a->memory[slot] = w->memory;
    return status;
}

/* Checks one param that a slot is made from. */
static tfgen_status check_param(const addition *a, void *const *tensors, int tensor, int slot, tfgen_error *error)
{
    const uintptr_t address = tensors ? (uintptr_t)tensors[tensor] : 0;
    const char *name = a->m->tensors.values[tensor]->name;
    if (address && address % 16 == 0) return TFGEN_OK;
    if (address) return device_report(error, TFGEN_USAGE, "%s: param %s is not aligned to 16 bytes", a->call, name);
    return device_report(error, TFGEN_USAGE,
                         "%s: param %s is NULL; the weights have no buffer of the signature '%s', which is made from it", a->call, name,
                         a->m->weights[slot].key);
}

static tfgen_status check_slot(const addition *a, void *const *tensors, int slot, tfgen_error *error)
{
    tfgen_status status = TFGEN_OK;
    if (slot >= a->m->pack_count) return check_param(a, tensors, a->m->weights[slot].tensor, slot, error);
    const module_kernel *u = &a->m->kernels[slot];
    for (int i = 0; i < u->binding_count && status == TFGEN_OK; i++)
        if (u->bindings[i].kind == binding_tensor) status = check_param(a, tensors, u->bindings[i].index, slot, error);
    return status;
}

/* Allocates the missing weights. Of several slots with the same key only the first gets memory. */
static tfgen_status make_missing(addition *a, void *const *tensors, tfgen_error *error)
{
    const weight *last = NULL;
    tfgen_status status = TFGEN_OK;
    if (!(a->memory = calloc((size_t)a->m->weight_count + 1, sizeof *a->memory)))
        return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    for (int i = 0; i < a->m->weight_count && status == TFGEN_OK; i++) {
        const char *key = a->m->weights[i].key;
        const weight *known = weight_find(&a->to->first, last, key);
        if (known) last = known;
        if (known || weight_find(&a->made, NULL, key)) continue;
        if (a->call) status = check_slot(a, tensors, i, error);
        if (status == TFGEN_OK) status = make_weight(a, i, error);
    }
    return status;
}

tfgen_status weights_fill(const tfgen_module *m, void *const *memory, void *const *tensors, void *stream, int *launches, tfgen_error *error)
{
    tfgen_device *d = m->device;
    const call c = {.tensors = tensors, .weights = memory, .stream = stream};
    tfgen_status status = TFGEN_OK;
    for (int i = m->pack_count; i < m->weight_count && status == TFGEN_OK; i++)
        if (memory[i] && m->weights[i].bytes > 0)
            status = d->api->copy(d, memory[i], tensors[m->weights[i].tensor], (size_t)m->weights[i].bytes, TFGEN_ON_DEVICE, stream, error);
    for (int i = 0; i < m->pack_count && status == TFGEN_OK; i++) {
        if (!memory[i]) continue;
        if (launches) ++*launches;
        status = module_kernel_launch(m, &m->kernels[i], &c, error);
    }
    return status;
}

tfgen_status weights_allocate(const tfgen_module *m, tfgen_weights **out, tfgen_error *error)
{
    tfgen_weights *w = weights_new(m->device, error);
    if (!w) return TFGEN_NO_MEMORY;
    addition a = {.to = w, .m = m};
    const tfgen_status status = make_missing(&a, NULL, error);
    free(a.memory);
    if (status == TFGEN_OK) weights_append(&w->first, atomic_load(&a.made));
    else weights_free_list(m->device, &a.made);
    if (status == TFGEN_OK) *out = w;
    else tfgen_weights_free(w);
    return status;
}

/* Synchronises the stream, after a failure too: on return the caller's memory is no longer read and new weights are complete. */
static tfgen_status weights_add(tfgen_weights *w, const tfgen_module *m, void *const *tensors, void *stream, const char *name,
                                tfgen_error *error)
{
    addition a = {.to = w, .m = m, .call = name};
    range_begin("tfgen pack", m->plan->ir->name);
    tfgen_status status = make_missing(&a, tensors, error);
    if (status == TFGEN_OK && weight_next(&a.made)) {
        status = weights_fill(m, a.memory, tensors, stream, NULL, error);
        const tfgen_status waited = m->device->api->synchronize(m->device, stream, status == TFGEN_OK ? error : NULL);
        if (status == TFGEN_OK) status = waited;
    }
    range_end();
    free(a.memory);
    if (status == TFGEN_OK) weights_append(&w->first, atomic_load(&a.made));
    else weights_free_list(m->device, &a.made);
    return status;
}

tfgen_status tfgen_weights_create(tfgen_module *m, void *const *tensors, void *stream, tfgen_weights **weights, tfgen_error *error)
{
    if (!m || !weights || (!tensors && m->tensors.count))
        return device_report(error, TFGEN_USAGE, "tfgen_weights_create: module, tensors and weights must be given");
    *weights = NULL;
    tfgen_weights *w = weights_new(m->device, error);
    if (!w) return TFGEN_NO_MEMORY;
    const tfgen_status status = weights_add(w, m, tensors, stream, "tfgen_weights_create", error);
    if (status == TFGEN_OK) *weights = w;
    else tfgen_weights_free(w);
    return status;
}

tfgen_status tfgen_weights_add(tfgen_weights *w, tfgen_module *m, void *const *tensors, void *stream, tfgen_error *error)
{
    if (!w || !m) return device_report(error, TFGEN_USAGE, "tfgen_weights_add: weights and module must be given");
    if (w->device != m->device) return device_report(error, TFGEN_USAGE, "tfgen_weights_add: the module is on another device");
    pthread_mutex_lock(&w->lock);
    const tfgen_status status = weights_add(w, m, tensors, stream, "tfgen_weights_add", error);
    pthread_mutex_unlock(&w->lock);
    return status;
}
