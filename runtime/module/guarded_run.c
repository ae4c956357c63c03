/* Contract: runtime/module/guarded_run.h. On the host each allocation ends at a guard page, so that an access past its end is caught. Every
 * error becomes an exit code; its text goes to the log. */
#include "runtime/module/guarded_run.h"
#include "runtime/module/counters.h"
#include "runtime/module/stack.h"
#include "runtime/module/weights.h"
#include "runtime/cache/cache.h"
#include <stdlib.h>
#include <string.h>

typedef struct memory {
    void *data;
    size_t bytes;
} memory;

typedef struct layer { /* one layer of a stack; a run of any other plan has a single layer */
    tfgen_weights *weights;
    memory *tensors; /* by tensor; only the first layer allocates inputs and outputs, which all layers share */
    void **tensor_pointers; /* the same addresses, as an array for `call` */
    void **weight_pointers; /* by slot */
} layer;

struct guarded_run {
    const plan *plan;
    tfgen_device *device, *own; /* own: opened here */
    tfgen_module *module;
    layer *layers;
    int layer_count, selected;
    void *table; /* a stack's table of layers (runtime/module/stack.h) */
    memory *workspace;
    void **workspace_pointers;
    void **events;                                /* one before each launch and one after the last */
    host_log engine;                              /* the host engine's full report */
    int launches;
};

/* Logs the error, or, if the host engine has written a full report, that report instead: for a failed launch after the first line of the
 * error, which names the kernel. */
static tfgen_code noted(guarded_run *s, tfgen_status status, const tfgen_error *error, host_log *log)
{
    if (status == TFGEN_OK) return code_ok;
    const bool report = s && s->engine.size;
    const size_t size = !report ? strlen(error->text) : status == TFGEN_DEVICE_ERROR ? strcspn(error->text, "\n") : 0;
    if (size) {
        host_log_add(log, error->text, size);
        host_log_add(log, "\n", 1);
    }
    if (report) {
        host_log_add(log, s->engine.text, s->engine.size);
        host_log_free(&s->engine);
        s->engine = (host_log){0};
    }
    return (tfgen_code)status;
}

/* ---- opening */
static tfgen_status open_device(guarded_run *s, const guarded_options *o, tfgen_error *error)
{
    const target_info *target = s->plan->target;
    const host_device_options host = {.target = strcmp(target->family, "host") == 0 ? NULL : target,
                                      .guard = true,
                                      .poison = true,
                                      .check = o->check,
                                      .touched = o->touched,
                                      .context = o->touched_context,
                                      .watch = o->watch,
                                      .multiprocessors = o->multiprocessors ? o->multiprocessors : o->watch ? s->plan->device->units : 0,
                                      .workers = o->jobs > 0 ? (unsigned)o->jobs : 0,
                                      .log = &s->engine};
    s->device = o->device;
    if (s->device) return TFGEN_OK;
    const tfgen_status status = host_device_open(&host, &s->own, error);
    s->device = s->own;
    return status;
}

static tfgen_status allocate(guarded_run *s, memory *m, long long bytes, const char *name, tfgen_error *error)
{
    m->bytes = bytes > 0 ? (size_t)bytes : 1; /* an empty tensor still needs an address */
    return s->device->api->alloc(s->device, m->bytes, name, &m->data, error);
}

static layer *selected(const guarded_run *s) { return &s->layers[s->selected]; }

static bool is_of_layer(const ir_value *v) { return v->kind == value_param || v->kind == value_state; }

static tfgen_status allocate_tensors(guarded_run *s, layer *l, tfgen_error *error)
{
    const tfgen_module *m = s->module;
    tfgen_status status = TFGEN_OK;
    for (int i = 0; i < m->tensors.count && status == TFGEN_OK; i++) {
        const ir_value *v = m->tensors.values[i];
        const bool own = l == s->layers || is_of_layer(v);
        if (own) status = allocate(s, &l->tensors[i], value_span(v, &s->plan->ir->dims) * dtype_size(v->type), v->name, error);
        l->tensor_pointers[i] = (own ? l : s->layers)->tensors[i].data;
    }
    return status;
}

static tfgen_status allocate_workspace(guarded_run *s, tfgen_error *error)
{
    const plan *p = s->plan;
    const dim_table *dims = &p->ir->dims;
    tfgen_status status = TFGEN_OK;
    for (int i = 0; i < s->module->workspace_count && status == TFGEN_OK; i++) {
        const bool stored = i < p->stored_count;
        const scratch *c = &p->scratches[stored ? 0 : i - p->stored_count];
        status = allocate(s, &s->workspace[i], stored ? storage_bytes(&p->stored[i], dims) : scratch_bytes(c, dims),
                          stored ? p->stored[i].value->name : c->name, error);
        s->workspace_pointers[i] = s->workspace[i].data;
    }
    return status;
}

static tfgen_status make_events(guarded_run *s, tfgen_error *error)
{
    tfgen_status status = TFGEN_OK;
    for (int i = 0; i <= s->module->launch_count && status == TFGEN_OK; i++)
        status = s->device->api->event_create(s->device, &s->events[i], error);
    return status;
}

static bool make_layer(const guarded_run *s, layer *l)
{
    const size_t tensors = (size_t)s->module->tensors.count + 1;
    l->tensors = calloc(tensors, sizeof *l->tensors);
    l->tensor_pointers = calloc(tensors, sizeof *l->tensor_pointers);
    l->weight_pointers = calloc((size_t)s->module->weight_count + 1, sizeof *l->weight_pointers);
    return l->tensors && l->tensor_pointers && l->weight_pointers;
}

static bool make_tables(guarded_run *s, int layers)
{
    const size_t items = (size_t)s->module->workspace_count + 1;
    s->workspace = calloc(items, sizeof *s->workspace);
    s->workspace_pointers = calloc(items, sizeof *s->workspace_pointers);
    s->events = calloc((size_t)s->module->launch_count + 1, sizeof *s->events);
    s->layers = calloc((size_t)layers, sizeof *s->layers);
    bool made = s->workspace && s->workspace_pointers && s->events && s->layers;
    for (int i = 0; i < layers && made; i++, s->layer_count++) made = make_layer(s, &s->layers[i]);
    return made;
}

static tfgen_status allocate_layer(guarded_run *s, layer *l, tfgen_error *error)
{
    tfgen_status status = weights_allocate(s->module, &l->weights, error);
    if (status == TFGEN_OK) status = weights_locate(l->weights, s->module, l->weight_pointers, error);
    return status == TFGEN_OK ? allocate_tensors(s, l, error) : status;
}

static tfgen_status make_stack(guarded_run *s, const int *kinds, tfgen_error *error)
{
    stack_layer *list = calloc((size_t)s->layer_count, sizeof *list);
    if (!list) return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    for (int i = 0; i < s->layer_count; i++)
        list[i] = (stack_layer){s->layers[i].tensor_pointers, s->layers[i].weight_pointers, kinds ? kinds[i] : 0};
    const tfgen_status status = stack_make_table(s->module, list, (size_t)s->layer_count, &s->table, error);
    free(list);
    return status;
}

static tfgen_status build_module(guarded_run *s, const guarded_options *o, tfgen_error *error)
{
    const tfgen_module_options options = {.size = sizeof options, .jobs = o->jobs, .progress = o->progress, .context = o->context};
    cache *own = o->cache || !o->cache_dir ? NULL : cache_open(&(cache_options){.directory = o->cache_dir});
    const module_settings settings = {.options = &options, .cache = o->cache ? o->cache : own, .log = &s->engine};
    const tfgen_status status = module_build(s->plan, s->device, &settings, &s->module, error);
    cache_close(own);
    if (status == TFGEN_OK) s->plan = s->module->plan;
    return status;
}

static tfgen_status open_all(guarded_run *s, const guarded_options *o, tfgen_error *error)
{
    tfgen_status status = open_device(s, o, error);
    if (status == TFGEN_OK) status = build_module(s, o, error);
    if (status == TFGEN_OK && s->plan->stack.in) status = stack_check_layers(s->module, (size_t)(o->layers > 0 ? o->layers : 1), error);
    if (status == TFGEN_OK && !make_tables(s, o->layers > 0 ? o->layers : 1))
        status = device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    for (int i = 0; i < s->layer_count && status == TFGEN_OK; i++) status = allocate_layer(s, &s->layers[i], error);
    if (status == TFGEN_OK && s->plan->stack.in) status = make_stack(s, o->kinds, error);
    if (status == TFGEN_OK) status = allocate_workspace(s, error);
    return status == TFGEN_OK ? make_events(s, error) : status;
}

guarded_run *guarded_open(const plan *p, const guarded_options *options, tfgen_code *code, host_log *log)
{
    guarded_run *s = calloc(1, sizeof *s);
    tfgen_error error = {""};
    *code = code_device;
    if (!s) return NULL;
    s->plan = p;
    *code = noted(s, open_all(s, options, &error), &error, log);
    if (*code == code_ok) return s;
    guarded_close(s);
    return NULL;
}

static void free_memories(guarded_run *s, memory *m, int count)
{
    for (int i = 0; m && i < count; i++)
        if (m[i].data) s->device->api->free(s->device, m[i].data);
    free(m);
}

static void close_module(guarded_run *s)
{
    for (int i = 0; s->events && i <= s->module->launch_count; i++)
        if (s->events[i]) s->device->api->event_destroy(s->device, s->events[i]);
    for (int i = 0; i < s->layer_count; i++) {
        layer *l = &s->layers[i];
        free_memories(s, l->tensors, s->module->tensors.count);
        tfgen_weights_free(l->weights);
        free(l->tensor_pointers);
        free(l->weight_pointers);
    }
    if (s->table) s->device->api->free(s->device, s->table);
    free_memories(s, s->workspace, s->module->workspace_count);
    tfgen_module_free(s->module);
}

void guarded_close(guarded_run *s)
{
    if (!s) return;
    if (s->module) close_module(s);
    tfgen_device_close(s->own);
    free(s->events);
    free(s->layers);
    free(s->workspace_pointers);
    host_log_free(&s->engine);
    free(s);
}

const plan *guarded_plan(const guarded_run *s) { return s->plan; }
const tfgen_device_info *guarded_device(const guarded_run *s) { return &s->device->info; }

/* ---- data */
static const memory *memory_of(const guarded_run *s, const ir_value *v)
{
    const ir_value *root = value_root(v);
    for (int i = 0; i < s->module->tensors.count; i++)
        if (s->module->tensors.values[i] == root) return &(is_of_layer(root) ? selected(s) : s->layers)->tensors[i];
    for (int i = 0; i < s->plan->stored_count; i++)
        if (s->plan->stored[i].value == root) return &s->workspace[i];
    return NULL;
}

size_t guarded_bytes(const guarded_run *s, const ir_value *v)
{
    const memory *m = memory_of(s, v);
    return m ? m->bytes : 0;
}

static tfgen_code move(guarded_run *s, const ir_value *v, void *data, size_t bytes, tfgen_copy_kind kind, host_log *log)
{
    const memory *m = memory_of(s, v);
    tfgen_error error = {""};
    if (!m || !bytes) return code_ok;
    if (bytes > m->bytes) bytes = m->bytes;
    const bool up = kind == TFGEN_TO_DEVICE;
    return noted(s, s->device->api->copy(s->device, up ? m->data : data, up ? data : m->data, bytes, kind, NULL, &error), &error, log);
}

tfgen_code guarded_put(guarded_run *s, const ir_value *v, const void *data, size_t bytes, host_log *log)
{
    return move(s, v, (void *)data, bytes, TFGEN_TO_DEVICE, log);
}

tfgen_code guarded_get(guarded_run *s, const ir_value *v, void *data, size_t bytes, host_log *log)
{
    return move(s, v, data, bytes, TFGEN_FROM_DEVICE, log);
}

tfgen_code guarded_get_scratch(guarded_run *s, int i, void *data, size_t bytes, host_log *log)
{
    const memory *m = &s->workspace[s->plan->stored_count + i];
    tfgen_error error = {""};
    tfgen_status status = i < s->plan->scratch_count && bytes <= m->bytes ? TFGEN_OK : TFGEN_USAGE;
    if (status == TFGEN_OK) status = s->device->api->copy(s->device, data, m->data, bytes, TFGEN_FROM_DEVICE, NULL, &error);
    return noted(s, status, &error, log);
}

tfgen_code guarded_get_packed(guarded_run *s, int i, void *data, size_t bytes, host_log *log)
{
    tfgen_error error = {""};
    tfgen_status status = i < s->plan->pack_count && bytes <= (size_t)s->module->weights[i].bytes ? TFGEN_OK : TFGEN_USAGE;
    void *const from = status == TFGEN_OK ? selected(s)->weight_pointers[i] : NULL;
    if (from) status = s->device->api->copy(s->device, data, from, bytes, TFGEN_FROM_DEVICE, NULL, &error);
    return noted(s, status, &error, log);
}

/* Copies a 16-bit pattern. A fill with one byte can only make the NaN 0xff..., which arithmetic on some GPUs produces as well (as -NaN). */
static tfgen_status fill(guarded_run *s, char *data, size_t bytes, uint16_t with, tfgen_error *error)
{
    enum { room = 1 << 16 };
    uint16_t pattern[room / 2];
    tfgen_status status = TFGEN_OK;
    for (size_t i = 0; i < room / 2; i++) pattern[i] = with;
    for (size_t at = 0; at < bytes && status == TFGEN_OK; at += room)
        status = s->device->api->copy(s->device, data + at, pattern, bytes - at < room ? bytes - at : room, TFGEN_TO_DEVICE, NULL, error);
    return status;
}

bool guarded_is_poison(dtype type, const void *data, size_t index)
{
    uint16_t bits[2];
    const size_t size = (size_t)dtype_size(type);
    memcpy(bits, (const char *)data + index * size, size);
    return dtype_is_real(type) && bits[0] == guarded_poison_bits && bits[size / 2 - 1] == guarded_poison_bits;
}

tfgen_code guarded_poison(guarded_run *s, host_log *log)
{
    const tfgen_module *m = s->module;
    tfgen_error error = {""};
    tfgen_status status = TFGEN_OK;
    for (int i = 0; i < m->tensors.count && status == TFGEN_OK; i++)
        if (tensor_kind_of(m->tensors.values[i]) == TFGEN_OUTPUT)
            status = fill(s, s->layers->tensors[i].data, s->layers->tensors[i].bytes, guarded_poison_bits, &error);
    for (int i = 0; i < m->workspace_count && status == TFGEN_OK; i++)
        status = fill(s, s->workspace[i].data, s->workspace[i].bytes, guarded_poison_bits, &error);
    for (int i = 0; i < m->weight_count && status == TFGEN_OK; i++)
        if (m->weights[i].bytes > 0)
            status = fill(s, selected(s)->weight_pointers[i], (size_t)m->weights[i].bytes, guarded_poison_bits, &error);
    return noted(s, status, &error, log);
}

/* ---- launching */
tfgen_code guarded_pack(guarded_run *s, host_log *log)
{
    tfgen_error error = {""};
    tfgen_status status = weights_fill(s->module, selected(s)->weight_pointers, selected(s)->tensor_pointers, NULL, &s->launches, &error);
    if (status == TFGEN_OK) status = s->device->api->synchronize(s->device, NULL, &error);
    return noted(s, status, &error, log);
}

static tfgen_status launch_all(guarded_run *s, tfgen_error *error)
{
    const tfgen_module *m = s->module;
    const device_api *api = s->device->api;
    const call c = {.dims = &s->plan->ir->dims, .tensors = s->layers->tensor_pointers, .workspace = s->workspace_pointers,
                    .weights = s->layers->weight_pointers, .table = s->table, .layers = s->selected + 1};
    tfgen_status status = counters_clear(m, &c, error);
    if (status == TFGEN_OK) status = api->event_record(s->device, s->events[0], NULL, error);
    for (int i = 0; i < m->launch_count && status == TFGEN_OK; i++) {
        s->launches++;
        status = module_kernel_launch(m, &m->kernels[m->pack_count + i], &c, error);
        if (status == TFGEN_OK) status = api->event_record(s->device, s->events[i + 1], NULL, error);
    }
    if (status == TFGEN_OK) status = api->synchronize(s->device, NULL, error);
    return status == TFGEN_OK ? counters_check(m, &c, error) : status;
}

void guarded_select(guarded_run *s, int layer) { s->selected = layer; }

tfgen_code guarded_execute(guarded_run *s, double *seconds, host_log *log)
{
    tfgen_error error = {""};
    tfgen_status status = launch_all(s, &error);
    for (int i = 0; seconds && i < s->module->launch_count && status == TFGEN_OK; i++)
        status = s->device->api->event_elapsed(s->device, s->events[i], s->events[i + 1], &seconds[i], &error);
    return noted(s, status, &error, log);
}

int guarded_launches(const guarded_run *s) { return s->launches; }
