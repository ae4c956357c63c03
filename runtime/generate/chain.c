/* In, out and refusals: runtime/generate/chain.h. */
#include "runtime/generate/chain.h"
#include <string.h>

typedef struct chain_memory {
    tfgen_device *device;
    unit *units; /* by kind of layer; opened at the kind's first layer */
    int count;
    void *x[2], *lengths, *workspace;
    size_t workspace_bytes;
} chain_memory;

static void release(void *argument)
{
    chain_memory *m = argument;
    void *const all[] = {m->x[0], m->x[1], m->lengths, m->workspace};
    for (int i = 0; i < m->count; i++) unit_close(&m->units[i]);
    for (int i = 0; i < 4; i++) tfgen_device_free(m->device, all[i]);
}

chain chain_open(arena *a, const chain_request *r)
{
    model *m = r->model;
    chain c = {.hidden = m->kinds[0].layer.hidden};
    const char *type = r->options.dtype ? r->options.dtype : m->config->dtype;
    if (r->first > r->last || r->last >= m->layers)
        bail(a, code_usage, (position){0}, "layers %lld-%lld: the model has layers 0 to %lld", r->first, r->last, m->layers - 1);
    model_need_tensors(m);
    if (!dtype_parse_real(type, &c.type)) bail(a, code_usage, (position){0}, "%s is not f32, f16 or bf16", type);
    c.seconds = arena_alloc(a, (size_t)(r->last + 1) * sizeof *c.seconds);
    return c;
}

static void *allocate(arena *a, tfgen_device *d, size_t bytes)
{
    void *memory;
    tfgen_error error;
    unit_need(a, tfgen_device_alloc(d, bytes, &memory, &error), &error);
    return memory;
}

/* The unit of a kind, opened for the request's dims on first use; the workspace grows with it. */
static unit *unit_of(arena *a, const chain_request *r, chain_memory *m, int kind)
{
    unit *u = &m->units[kind];
    const tfgen_dim dims[] = {{"B", r->batch}, {"S", r->tokens}};
    tfgen_error error;
    if (u->plan) return u;
    const char *spec = model_spec(r->model, &r->model->kinds[kind], spec_prompt, r->lengths ? padding_right : padding_none);
    unit_need(a, unit_open(u, r->device, spec, r->model->kinds[kind].name, &r->options, dims, 2, &error), &error);
    if (u->workspace_bytes > m->workspace_bytes) {
        tfgen_device_free(r->device, m->workspace);
        m->workspace = NULL;
        m->workspace = allocate(a, r->device, m->workspace_bytes = u->workspace_bytes);
    }
    return u;
}

typedef struct held {
    tfgen_weights *weights;
} held;
static void free_weights(void *argument)
{
    held *h = argument;
    tfgen_weights_free(h->weights);
    h->weights = NULL;
}

static void run_layer(arena *a, const chain_request *r, chain *c, chain_memory *m, long long layer, int at)
{
    const unit *u = unit_of(a, r, m, r->model->kind_of[layer]);
    const unit_tensor tensors[] = {
        {"x", TFGEN_INPUT, m->x[at]}, {"y", TFGEN_OUTPUT, m->x[!at]}, {"n", TFGEN_INPUT, m->lengths}};
    held *h = arena_alloc(a, sizeof *h);
    tfgen_error error;
    *h = (held){0};
    arena_defer(a, free_weights, h);
    h->weights = unit_weights(a, &u, 1, r->model->tensors, (layer_place){r->model->prefix, layer});
    const double start = unit_seconds();
    const unit_call call = {.tensors = tensors, .tensor_count = 3, .workspace = m->workspace};
    unit_need(a, unit_run(u, h->weights, &call, &error), &error);
    unit_need(a, tfgen_device_synchronize(r->device, NULL, &error), &error);
    c->seconds[layer] = unit_seconds() - start;
    free_weights(h);
}

void chain_run(arena *a, const chain_request *r, chain *c, void *x)
{
    chain_memory *m = arena_alloc(a, sizeof *m);
    const size_t bytes = (size_t)(r->batch * r->tokens * c->hidden) * (size_t)dtype_size(c->type);
    const size_t length_bytes = (size_t)r->batch * sizeof *r->lengths;
    int at = 0;
    tfgen_error error;
    *m = (chain_memory){.device = r->device, .count = r->model->kind_count};
    m->units = arena_alloc(a, (size_t)m->count * sizeof *m->units);
    memset(m->units, 0, (size_t)m->count * sizeof *m->units);
    arena_defer(a, release, m);
    for (int i = 0; i < 2; i++) m->x[i] = allocate(a, r->device, bytes);
    m->lengths = allocate(a, r->device, length_bytes);
    unit_need(a, tfgen_device_copy(r->device, m->x[0], x, bytes, TFGEN_TO_DEVICE, NULL, &error), &error);
    if (r->lengths)
        unit_need(a, tfgen_device_copy(r->device, m->lengths, r->lengths, length_bytes, TFGEN_TO_DEVICE, NULL, &error), &error);
    for (long long layer = r->first; layer <= r->last; layer++, at = !at) run_layer(a, r, c, m, layer, at);
    unit_need(a, tfgen_device_copy(r->device, x, m->x[at], bytes, TFGEN_FROM_DEVICE, NULL, &error), &error);
}
