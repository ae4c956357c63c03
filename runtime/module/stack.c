/* Contract: runtime/module/stack.h. */
#include "runtime/module/stack.h"
#include "runtime/module/weights.h"
#include "ir/graph/layer_kinds.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const module_kernel *kernel_of(const tfgen_module *m) { return &m->kernels[m->pack_count]; }

size_t stack_row_bytes(const tfgen_module *m) { return (size_t)kernel_of(m)->row_length * sizeof(uint64_t); }

size_t stack_most_layers(const tfgen_module *m)
{
    enum { most_counted = 65535 };
    const module_kernel *u = kernel_of(m);
    long long groups = (long long)u->launch->resident * m->device->info.multiprocessors;
    if (u->most_resident && u->most_resident < groups) groups = u->most_resident;
    if (groups > most_marked) groups = most_marked;
    return (size_t)(most_counted / (groups > 0 ? groups : 1));
}

tfgen_status stack_check_layers(const tfgen_module *m, size_t layers, tfgen_error *error)
{
    const size_t most = stack_most_layers(m);
    if (layers <= most) return TFGEN_OK;
    return device_report(error, TFGEN_UNSUPPORTED, "a stack of %zu layers; a launch on this device has at most %zu", layers, most);
}

static tfgen_status write_row(const tfgen_module *m, const stack_layer *layer, size_t number, uint64_t *row, tfgen_error *error)
{
    const module_kernel *u = kernel_of(m);
    const int kinds = kinds_count(m->plan->ir);
    if (layer->kind < 0 || layer->kind >= kinds)
        return device_report(error, TFGEN_USAGE, "tfgen_stack_create: layer %zu is of kind %d; the plan has kinds 0 to %d", number,
                             layer->kind, kinds - 1);
    for (int i = 0; i < u->row_length; i++) {
        row[i] = (uint64_t)layer->kind;
        if (u->row[i].kind == binding_kind_of_layer) continue;
        const bool weight = u->row[i].kind == binding_weights;
        void *const *list = weight ? layer->weights : layer->tensors;
        const uintptr_t at = list ? (uintptr_t)list[u->row[i].index] : 0;
        if (!at || at % 16) {
            const char *name = weight ? m->weights[u->row[i].index].name : m->tensors.values[u->row[i].index]->name;
            return device_report(error, TFGEN_USAGE, "tfgen_stack_create: %s of layer %zu is %s", name, number,
                                 at ? "not aligned to 16 bytes" : "NULL");
        }
        row[i] = at;
    }
    return TFGEN_OK;
}

static tfgen_status upload(const tfgen_module *m, const uint64_t *rows, size_t bytes, void **table, tfgen_error *error)
{
    const device_api *api = m->device->api;
    tfgen_status status = api->alloc(m->device, bytes ? bytes : 1, "the stack's table", table, error);
    if (status == TFGEN_OK && bytes) status = api->copy(m->device, *table, rows, bytes, TFGEN_TO_DEVICE, NULL, error);
    if (status == TFGEN_OK) status = api->synchronize(m->device, NULL, error);
    if (status != TFGEN_OK && *table) api->free(m->device, *table), *table = NULL;
    return status;
}

tfgen_status stack_make_table(const tfgen_module *m, const stack_layer *layers, size_t count, void **table, tfgen_error *error)
{
    const size_t length = (size_t)kernel_of(m)->row_length;
    uint64_t *rows = calloc(count * length + 1, sizeof *rows);
    tfgen_status status = rows ? TFGEN_OK : device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    *table = NULL;
    for (size_t i = 0; i < count && status == TFGEN_OK; i++) status = write_row(m, &layers[i], i, rows + i * length, error);
    if (status == TFGEN_OK) status = upload(m, rows, count * stack_row_bytes(m), table, error);
    free(rows);
    return status;
}

/* ---- the public functions */
typedef struct given { /* the caller's arrays, with an element for each layer */
    const tfgen_weights *const *weights;
    void *const *const *tensors;
    const int *kinds;
} given;

static tfgen_status locate_all(const tfgen_module *m, const given *g, size_t count, void **slots, stack_layer *layers, tfgen_error *error)
{
    const size_t slot_count = (size_t)m->weight_count;
    tfgen_status status = TFGEN_OK;
    for (size_t i = 0; i < count && status == TFGEN_OK; i++) {
        layers[i] = (stack_layer){g->tensors ? g->tensors[i] : NULL, slots + i * slot_count, g->kinds ? g->kinds[i] : 0};
        if (slot_count && (!g->weights || !g->weights[i]))
            return device_report(error, TFGEN_USAGE, "tfgen_stack_create: the weights of layer %zu are NULL, and the plan has params", i);
        status = weights_locate(g->weights ? g->weights[i] : NULL, m, slots + i * slot_count, error);
    }
    return status;
}

static tfgen_status make(tfgen_stack *s, const given *g, tfgen_error *error)
{
    void **slots = calloc(s->layers * (size_t)s->module->weight_count + 1, sizeof *slots);
    stack_layer *layers = calloc(s->layers, sizeof *layers);
    tfgen_status status = slots && layers ? TFGEN_OK : device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    if (status == TFGEN_OK) status = locate_all(s->module, g, s->layers, slots, layers, error);
    if (status == TFGEN_OK) status = stack_make_table(s->module, layers, s->layers, &s->table, error);
    free(slots);
    free(layers);
    return status;
}

tfgen_status tfgen_stack_create_of_kinds(const tfgen_module *m, const int *kinds, const tfgen_weights *const *weights,
                                         void *const *const *tensors, size_t layers, tfgen_stack **out, tfgen_error *error)
{
    if (!m || !out || !layers)
        return device_report(error, TFGEN_USAGE, "tfgen_stack_create: module and stack must be given, and at least one layer");
    *out = NULL;
    if (!m->plan->stack.in)
        return device_report(error, TFGEN_USAGE, "tfgen_stack_create: the module's plan is not for stacks (tfgen_plan_options.stack)");
    tfgen_status status = stack_check_layers(m, layers, error);
    if (status != TFGEN_OK) return status;
    tfgen_stack *s = calloc(1, sizeof *s);
    if (!s) return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    *s = (tfgen_stack){.module = m, .layers = layers};
    status = make(s, &(given){weights, tensors, kinds}, error);
    if (status == TFGEN_OK) *out = s;
    else tfgen_stack_free(s);
    return status;
}

tfgen_status tfgen_stack_create(const tfgen_module *m, const tfgen_weights *const *weights, void *const *const *tensors, size_t layers,
                                tfgen_stack **out, tfgen_error *error)
{
    return tfgen_stack_create_of_kinds(m, NULL, weights, tensors, layers, out, error);
}

void tfgen_stack_free(tfgen_stack *s)
{
    if (s && s->table) s->module->device->api->free(s->module->device, s->table);
    free(s);
}
