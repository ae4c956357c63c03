/* In: a module, weights, the caller's tensors, workspace and stream. Out: launches of the kernels of the plan, or of the variant for these
 * dims. Refuses, before the first launch, missing and misaligned pointers and dims outside their range. Never allocates, locks or waits. */
#include "runtime/module/counters.h"
#include "runtime/module/stack.h"
#include "runtime/module/variants.h"
#include "runtime/module/weights.h"
#include "runtime/system/ranges.h"
#include "gen/source/next.h"
#include <limits.h>
#include <stdint.h>
#include <string.h>

static void *memory_at(const call *c, const binding *s)
{
    switch ((binding_kind)s->kind) {
    case binding_tensor: return c->tensors[s->index];
    case binding_workspace: return c->workspace[s->index];
    case binding_weights: return c->weights[s->index];
    case binding_table: return (void *)c->table;
    default: return NULL;
    }
}

static const dim_table *dims_of(const tfgen_module *m, const call *c) { return c->dims ? c->dims : &m->plan->ir->dims; }

/* Encodes tensor map `index` for the call's addresses and dims. */
static tfgen_status encode_map(const tfgen_module *m, int index, const call *c, void *map, tfgen_error *error)
{
    const map_binding *r = &m->maps[index];
    const map_shape shape = {.data = (const char *)memory_at(c, &r->memory) + r->box->start, .type = r->box->type,
                             .rows = extent_value(&r->box->rows, dims_of(m, c)), .columns = r->box->columns,
                             .stride = extent_value(&r->box->stride, dims_of(m, c)),
                             .box_rows = r->box->box_rows, .box_columns = r->box->box_columns, .pieces = r->box->pieces,
                             .box_heads = r->box->box_heads, .heads = r->box->heads,
                             .head_stride = extent_value(&r->box->head_stride, dims_of(m, c)),
                             .batches = extent_value(&r->box->batches, dims_of(m, c)),
                             .batch_stride = extent_value(&r->box->batch_stride, dims_of(m, c))};
    return m->device->api->encode_map(m->device, map, &shape, error);
}

static tfgen_status put_arguments(const tfgen_module *m, const module_kernel *u, const call *c, unsigned char *bytes, tfgen_error *error)
{
    for (const binding *s = u->bindings, *end = s + u->binding_count; s < end; s++) {
        if (s->kind == binding_map) {
            const tfgen_status status = encode_map(m, s->index, c, bytes + s->offset, error);
            if (status != TFGEN_OK) return status;
        } else if (s->kind == binding_dim) {
            const int number = (int)dims_of(m, c)->dims[s->index].value;
            memcpy(bytes + s->offset, &number, sizeof number);
        } else if (s->kind == binding_layers) {
            memcpy(bytes + s->offset, &c->layers, sizeof c->layers);
        } else if (s->kind == binding_next) {
            memcpy(bytes + s->offset, &c->next, sizeof c->next);
        } else {
            const void *pointer = memory_at(c, s);
            memcpy(bytes + s->offset, &pointer, sizeof pointer);
        }
    }
    return TFGEN_OK;
}

tfgen_status module_kernel_launch(const tfgen_module *m, const module_kernel *u, const call *c, tfgen_error *error)
{
    _Alignas(map_bytes) unsigned char bytes[argument_room];
    if (u->launch && m->plan->stack.in && !c->layers)
        return device_report(error, TFGEN_USAGE, "kernel %s is for a stack of layers, and launched without one", u->name);
    launch_shape shape = u->shape;
    if (c->dims && u->launch) shape.grid = module_grid(m, u, c->dims);
    memset(bytes, 0, u->argument_bytes); /* padding too: no stack garbage reaches the device */
    tfgen_status status = put_arguments(m, u, c, bytes, error);
    if (status != TFGEN_OK) return status;
    range_begin(u->name, NULL);
    status = m->device->api->launch(m->device, u->kernel, &shape, bytes, u->argument_bytes, c->stream, error);
    range_end();
    return status;
}

static tfgen_status check_tensors(const tfgen_module *m, void *const *tensors, tfgen_error *error)
{
    for (int i = 0; i < m->needed_count; i++) {
        const uintptr_t address = (uintptr_t)tensors[m->needed[i]];
        if (address && address % 16 == 0) continue;
        const ir_value *v = m->tensors.values[m->needed[i]];
        return device_report(error, TFGEN_USAGE, "tfgen_execute: tensor %s is %s", v->output ? v->output : v->name,
                             address ? "not aligned to 16 bytes" : "NULL");
    }
    return TFGEN_OK;
}

/* A call resolved to a module (or variant), dims and addresses. */
typedef struct taken {
    tfgen_args args;
    dim_table dims;
    const tfgen_module *runs; /* the module or its variant */
    void *items[most_workspace], *weights[most_weights];
    call call;
} taken;

static tfgen_status check_workspace(const tfgen_module *m, const dim_table *dims, const void *workspace, size_t bytes, tfgen_error *error)
{
    if (m->workspace_count && (!workspace || (uintptr_t)workspace % 256))
        return device_report(error, TFGEN_USAGE, "tfgen_execute: workspace is %s", workspace ? "not aligned to 256 bytes" : "NULL");
    const long long need = bytes ? workspace_layout(m->plan, dims, NULL) : 0;
    if (need > 0 && (unsigned long long)need > bytes)
        return device_report(error, TFGEN_USAGE, "tfgen_execute: workspace has %zu bytes, the call needs %lld", bytes, need);
    return TFGEN_OK;
}

static tfgen_status take_call(const tfgen_module *m, const tfgen_args *args, char *workspace, void *stream, taken *t, tfgen_error *error)
{
    long long other[most_workspace];
    t->args = (tfgen_args)TFGEN_ARGS_INIT;
    if (!m || !args || !take_options(&t->args, sizeof t->args, args) || (m->needed_count && !t->args.tensors) ||
        (t->args.dim_count && !t->args.dims))
        return device_report(error, TFGEN_USAGE, "tfgen_execute: module, args and args->tensors must be given, and args->size set");
    tfgen_status status = dims_take(m->plan, t->args.dims, t->args.dim_count, &t->dims, error);
    if (status != TFGEN_OK) return status;
    t->runs = variant_pick(m, &t->dims, t->args.workspace_bytes);
    status = check_workspace(t->runs, &t->dims, workspace, t->args.workspace_bytes, error);
    if (status != TFGEN_OK) return status;
    const bool own_dims = !t->args.dim_count && t->runs == m;
    if (!own_dims) workspace_layout(t->runs->plan, &t->dims, other);
    for (int i = 0; i < t->runs->workspace_count; i++) t->items[i] = workspace + (own_dims ? m->offsets : other)[i];
    t->call = (call){.dims = own_dims ? NULL : &t->dims, .tensors = t->args.tensors, .workspace = t->items, .weights = t->weights,
                     .stream = stream};
    return TFGEN_OK;
}

/* args->next is the module that the caller runs next: tells the last launch of this call which of that module's weights to prefetch. */
static tfgen_status take_next(const tfgen_module *m, taken *t, tfgen_error *error)
{
    const tfgen_args *a = &t->args;
    if (!a->next) return TFGEN_OK;
    if (!a->next_weights || a->next->device != m->device || a->next_weights->device != m->device)
        return device_report(error, TFGEN_USAGE, "tfgen_execute: next needs next_weights, both on the module's device");
    const size_t asked = a->next_bytes ? a->next_bytes : next_usual_bytes;
    const first_weights first = next_first(a->next->plan, asked < INT_MAX ? (long long)asked : INT_MAX);
    if (first.pack < 0) return TFGEN_OK;
    const weight *w = weight_find(&a->next_weights->first, NULL, a->next->weights[first.pack].key);
    if (w) t->call.next = (next_call){w->memory, first.step, first.count, (int)first.bytes};
    return TFGEN_OK;
}

static tfgen_status launch_all(const taken *t, tfgen_error *error)
{
    const tfgen_module *m = t->runs;
    tfgen_status status = counters_clear(m, &t->call, error);
    for (int i = 0; i < m->launch_count && status == TFGEN_OK; i++)
        status = module_kernel_launch(m, &m->kernels[m->pack_count + i], &t->call, error);
    const bool done = m->plan->target->vendor == vendor_host; /* launches on the host are synchronous */
    return status == TFGEN_OK && done ? counters_check(m, &t->call, error) : status;
}

tfgen_status tfgen_execute(const tfgen_module *m, const tfgen_weights *weights, const tfgen_args *args, void *workspace, void *stream,
                           tfgen_error *error)
{
    taken t;
    if (m && m->plan->stack.in)
        return device_report(error, TFGEN_USAGE, "tfgen_execute: the module's plan is for stacks; tfgen_stack_execute() runs it");
    if (m && m->weight_count && !weights && args)
        return device_report(error, TFGEN_USAGE, "tfgen_execute: weights are NULL, and the plan has params");
    tfgen_status status = take_call(m, args, workspace, stream, &t, error);
    if (status == TFGEN_OK) status = check_tensors(t.runs, t.args.tensors, error);
    if (status == TFGEN_OK) status = take_next(m, &t, error);
    if (status != TFGEN_OK) return status;
    range_begin("tfgen execute", m->plan->ir->name);
    status = weights_locate(weights, t.runs, t.weights, error);
    if (status == TFGEN_OK) status = launch_all(&t, error);
    range_end();
    return status;
}

tfgen_status tfgen_stack_execute(const tfgen_stack *s, size_t first, size_t count, const tfgen_args *args, void *workspace, void *stream,
                                 tfgen_error *error)
{
    taken t;
    if (!s || !count || first >= s->layers || count > s->layers - first)
        return device_report(error, TFGEN_USAGE, "tfgen_stack_execute: %zu layers from layer %zu; the stack has %zu", count, first,
                             s ? s->layers : (size_t)0);
    tfgen_status status = take_call(s->module, args, workspace, stream, &t, error);
    if (status == TFGEN_OK) status = check_tensors(t.runs, t.args.tensors, error);
    if (status != TFGEN_OK) return status;
    t.call.table = (const char *)s->table + first * stack_row_bytes(s->module), t.call.layers = (int)count;
    range_begin("tfgen stack", s->module->plan->ir->name);
    status = launch_all(&t, error);
    range_end();
    return status;
}

tfgen_status tfgen_execute_check(const tfgen_module *m, const tfgen_args *args, void *workspace, void *stream, tfgen_error *error)
{
    taken t;
    const tfgen_status status = take_call(m, args, workspace, stream, &t, error);
    return status == TFGEN_OK ? counters_check(t.runs, &t.call, error) : status;
}
