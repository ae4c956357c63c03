/* A unit is a spec that is planned and loaded on a device, with the launches of its kernels. Contract: runtime/generate/unit.h. */
#define _GNU_SOURCE
#include "runtime/generate/unit.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

double unit_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tfgen_status unit_open(unit *u, tfgen_device *d, const char *spec, const char *name, const unit_options *o, const tfgen_dim *dims,
                       size_t dim_count, tfgen_error *error)
{
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    options.target = tfgen_device_target(d);
    options.dtype = o->dtype, options.device_model = o->device_model, options.wisdom = o->wisdom;
    options.tiles = o->tiles, options.tile_count = o->tile_count;
    options.dims = dims, options.dim_count = dim_count;
    if (o->stack) options.fusion = TFGEN_FUSION_BLOCK, options.stack = 1, options.kinds = o->kinds, options.kind_count = o->kind_count;
    options.followed = o->followed;
    *u = (unit){0};
    tfgen_status status = tfgen_plan_create(spec, strlen(spec), name, &options, &u->plan, error);
    if (status == TFGEN_OK) status = tfgen_module_create(u->plan, d, o->module, &u->module, error);
    if (status != TFGEN_OK) return unit_close(u), status;
    u->count = tfgen_plan_tensor_count(u->plan);
    u->workspace_bytes = (size_t)tfgen_module_workspace_bytes(u->module, NULL, 0);
    if (u->count > most_unit_tensors) {
        unit_close(u);
        return device_report(error, TFGEN_UNSUPPORTED, "%s has more than %d tensors", name, most_unit_tensors);
    }
    return TFGEN_OK;
}

void unit_close(unit *u)
{
    tfgen_module_free(u->module);
    tfgen_plan_free(u->plan);
    *u = (unit){0};
}

void unit_put_tensors(const unit *u, const unit_tensor *tensors, size_t tensor_count, void **all)
{
    memset(all, 0, most_unit_tensors * sizeof *all);
    for (size_t i = 0; i < tensor_count; i++) {
        const size_t index = tfgen_plan_tensor_index(u->plan, tensors[i].name, tensors[i].kind);
        if (index < u->count) all[index] = tensors[i].memory; /* else the spec has no such tensor: without RoPE there is no pos */
    }
}

/* all: the caller's array for the addresses of the call's tensors. */
static tfgen_args args_of(const unit *u, const unit_call *c, void **all)
{
    tfgen_args args = TFGEN_ARGS_INIT;
    unit_put_tensors(u, c->tensors, c->tensor_count, all);
    args.tensors = all, args.dims = c->dims, args.dim_count = c->dim_count, args.workspace_bytes = u->workspace_bytes;
    if (c->next) args.next = c->next->module, args.next_weights = c->next_weights, args.next_bytes = c->next_bytes;
    return args;
}

tfgen_status unit_run(const unit *u, const tfgen_weights *weights, const unit_call *call, tfgen_error *error)
{
    void *all[most_unit_tensors];
    const tfgen_args args = args_of(u, call, all);
    return tfgen_execute(u->module, weights, &args, call->workspace, call->stream, error);
}

tfgen_status unit_run_stack(const unit *u, const tfgen_stack *stack, size_t first, size_t count, const unit_call *call, tfgen_error *error)
{
    void *all[most_unit_tensors];
    const tfgen_args args = args_of(u, call, all);
    return tfgen_stack_execute(stack, first, count, &args, call->workspace, call->stream, error);
}

void unit_need(arena *a, tfgen_status status, const tfgen_error *error)
{
    const size_t first = strcspn(error->text, "\n");
    if (status == TFGEN_OK) return;
    bail_with_log(a, (tfgen_code)status, (position){0}, error->text + first + (error->text[first] != 0), "%.*s", (int)first, error->text);
}

/* ---- weights */
typedef struct params {
    arena *a;
    tfgen_device *device;
    void *memory[most_unit_tensors];
    char *staging;
    size_t room;
    tfgen_weights *weights;
} params;

/* Called when the params have been packed, and again (then without effect) when the arena is freed. */
static void free_params(void *argument)
{
    params *p = argument;
    for (int i = 0; i < most_unit_tensors; i++)
        if (p->memory[i]) p->device->api->free(p->device, p->memory[i]);
    memset(p->memory, 0, sizeof p->memory);
    free(p->staging);
    p->staging = NULL;
}

static void need(const params *p, tfgen_status status, const tfgen_error *error) { unit_need(p->a, status, error); }

static void load_param(params *p, const unit *u, size_t i, checkpoint *tensors, layer_place place)
{
    static const char *const prefixes[] = {""};
    const ir_value *v = u->plan->tensors.values[i];
    const dim_table *dims = &u->plan->compiled.plan->ir->dims;
    const size_t bytes = (size_t)value_count(v, dims) * (size_t)dtype_size(v->type);
    tfgen_error error;
    if (bytes > p->room) {
        free(p->staging);
        p->staging = malloc(p->room = bytes);
        if (!p->staging) bail(p->a, code_device, (position){0}, "not enough memory for %zu bytes of %s", bytes, v->name);
    }
    checkpoint_put_value(tensors, v, dims, place, prefixes, 1, p->staging);
    need(p, tfgen_device_alloc(p->device, bytes, &p->memory[i], &error), &error);
    need(p, tfgen_device_copy(p->device, p->memory[i], p->staging, bytes, TFGEN_TO_DEVICE, NULL, &error), &error);
    need(p, tfgen_device_synchronize(p->device, NULL, &error), &error);
}

/* Packs the weights that `u` reads into p->weights. p->memory[i] holds tensor i of `from`; u's tensor of the same name gets it. */
static void add_weights(params *p, const unit *from, const unit *u)
{
    void *memory[most_unit_tensors] = {NULL};
    tfgen_error error;
    for (size_t i = 0; i < from->count; i++) {
        if (!p->memory[i]) continue;
        const size_t index = tfgen_plan_tensor_index(u->plan, from->plan->tensors.values[i]->name, TFGEN_PARAM);
        if (index < u->count) memory[index] = p->memory[i];
    }
    const tfgen_status status = p->weights ? tfgen_weights_add(p->weights, u->module, memory, NULL, &error)
                                           : tfgen_weights_create(u->module, memory, NULL, &p->weights, &error);
    if (status != TFGEN_OK && p->weights) tfgen_weights_free(p->weights);
    need(p, status, &error);
}

tfgen_weights *unit_weights(arena *a, const unit *const *units, size_t count, checkpoint *tensors, layer_place place)
{
    params *p = arena_alloc(a, sizeof *p);
    *p = (params){.a = a, .device = units[0]->module->device};
    arena_defer(a, free_params, p);
    for (size_t i = 0; i < units[0]->count; i++)
        if (units[0]->plan->tensors.values[i]->kind == value_param) load_param(p, units[0], i, tensors, place);
    for (size_t i = 0; i < count; i++) add_weights(p, units[0], units[i]);
    free_params(p);
    return p->weights;
}
