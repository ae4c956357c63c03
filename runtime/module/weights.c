/* In: a module and the device pointers of one layer's params. Out: that layer's weights in memory of their own: packed by the plan's pack
 * kernels, and copies of what kernels read as it is. Refuses missing and misaligned pointers, and what the device refuses. */
#include "runtime/module/module.h"
#include <stdlib.h>
#include <string.h>

static tfgen_status allocate_slots(tfgen_weights *w, tfgen_error *error)
{
    const tfgen_module *m = w->module;
    tfgen_status status = TFGEN_OK;
    for (int i = 0; i < m->weight_count && status == TFGEN_OK; i++) {
        const weight_slot *s = &m->weights[i];
        const size_t bytes = s->bytes > 0 ? (size_t)s->bytes : 1; /* an empty tensor still needs an address */
        status = m->device->api->alloc(m->device, bytes, s->name, &w->memory[i], error);
        if (status == TFGEN_OK) w->bytes += (int64_t)bytes;
        else w->memory[i] = NULL;
    }
    return status;
}

static tfgen_status encode_maps(tfgen_weights *w, tfgen_error *error)
{
    const tfgen_module *m = w->module;
    const call c = {.weights = w};
    tfgen_status status = TFGEN_OK;
    for (int i = 0; i < m->map_count && status == TFGEN_OK; i++)
        if (m->maps[i].memory.kind == step_weights) status = map_encode(m, i, &c, w->maps + (size_t)i * map_bytes, error);
    return status;
}

tfgen_status weights_allocate(tfgen_module *m, tfgen_weights **out, tfgen_error *error)
{
    tfgen_weights *w = calloc(1, sizeof *w);
    if (w) {
        w->module = m;
        w->memory = calloc((size_t)m->weight_count + 1, sizeof *w->memory);
        w->maps = aligned_alloc(map_bytes, ((size_t)m->map_count + 1) * map_bytes);
    }
    tfgen_status status = TFGEN_OK;
    if (!w || !w->memory || !w->maps) status = device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    if (status == TFGEN_OK) status = allocate_slots(w, error);
    if (status == TFGEN_OK) status = encode_maps(w, error);
    if (status == TFGEN_OK) *out = w;
    else tfgen_weights_free(w);
    return status;
}

tfgen_status weights_fill(tfgen_weights *w, void *const *tensors, void *stream, int *launches, tfgen_error *error)
{
    const tfgen_module *m = w->module;
    tfgen_device *d = m->device;
    const call c = {.tensors = tensors, .weights = w, .stream = stream};
    tfgen_status status = TFGEN_OK;
    for (int i = m->pack_count; i < m->weight_count && status == TFGEN_OK; i++)
        if (m->weights[i].bytes > 0)
            status =
                d->api->copy(d, w->memory[i], tensors[m->weights[i].tensor], (size_t)m->weights[i].bytes, TFGEN_ON_DEVICE, stream, error);
    for (int i = 0; i < m->pack_count && status == TFGEN_OK; i++) {
        if (launches) ++*launches;
        status = unit_launch(m, &m->units[i], &c, error);
    }
    return status;
}

/* Every param that a pack kernel or a copy reads. */
static tfgen_status check_params(const tfgen_module *m, void *const *tensors, tfgen_error *error)
{
    for (int i = 0; i < m->tensors.count; i++) {
        if (!param_is_kept(m->tensors.values[i])) continue;
        if (!tensors[i]) return device_report(error, TFGEN_USAGE, "tfgen_weights_create: param %s is NULL", m->tensors.values[i]->name);
        if ((uintptr_t)tensors[i] % 16)
            return device_report(error, TFGEN_USAGE, "tfgen_weights_create: param %s is not aligned to 16 bytes",
                                 m->tensors.values[i]->name);
    }
    return TFGEN_OK;
}

tfgen_status tfgen_weights_create(tfgen_module *m, void *const *tensors, void *stream, tfgen_weights **weights, tfgen_error *error)
{
    if (!m || !weights || (!tensors && m->tensors.count))
        return device_report(error, TFGEN_USAGE, "tfgen_weights_create: module, tensors and weights must be given");
    *weights = NULL;
    tfgen_weights *w = NULL;
    tfgen_status status = check_params(m, tensors, error);
    if (status == TFGEN_OK) status = weights_allocate(m, &w, error);
    if (status == TFGEN_OK) status = weights_fill(w, tensors, stream, NULL, error);
    /* also after a failure: what was started reads the caller's memory and writes ours */
    if (w) {
        const tfgen_status waited = m->device->api->synchronize(m->device, stream, status == TFGEN_OK ? error : NULL);
        if (status == TFGEN_OK) status = waited;
    }
    if (status == TFGEN_OK) *weights = w;
    else tfgen_weights_free(w);
    return status;
}

int64_t tfgen_weights_bytes(const tfgen_weights *w) { return w ? w->bytes : 0; }

void tfgen_weights_free(tfgen_weights *w)
{
    if (!w) return;
    for (int i = 0; w->memory && i < w->module->weight_count; i++)
        if (w->memory[i]) w->module->device->api->free(w->module->device, w->memory[i]);
    free(w->memory);
    free(w->maps);
    free(w);
}
