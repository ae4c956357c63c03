/* In: a plan, a device, options. Out: a module: the code of every kernel, from a bundle, the kernel cache or the compilers, loaded, and the
 * argument bindings. Refuses a plan for another target, what compilers refuse, and plans with more arguments than a launch takes. */
#include "runtime/module/module.h"
#include "runtime/module/bundle.h"
#include "runtime/module/plan_code.h"
#include "runtime/cache/cache.h"
#include "runtime/system/parallel.h"
#include "runtime/system/ranges.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tensors */
tfgen_tensor_kind tensor_kind_of(const ir_value *v)
{
    return v->kind == value_input   ? TFGEN_INPUT
           : v->kind == value_param ? TFGEN_PARAM
           : v->kind == value_state ? TFGEN_STATE
                                    : TFGEN_OUTPUT;
}

tensor_list tensors_of(arena *a, const plan *p)
{
    const ir_graph *ir = p->ir;
    tensor_list list = {arena_alloc(a, ((size_t)ir->value_count + 1) * sizeof *list.values), 0};
    for (int kind = TFGEN_INPUT; kind <= TFGEN_OUTPUT; kind++)
        for (int i = 0; i < ir->value_count; i++) {
            const ir_value *v = ir->values[i];
            const bool callers = v->kind == value_input || v->kind == value_param || v->kind == value_state || v->output;
            if (callers && v->kind != value_constant && (int)tensor_kind_of(v) == kind) list.values[list.count++] = v;
        }
    return list;
}

bool param_is_kept(const ir_value *v)
{
    long long number;
    bool fixed = v->kind == value_param;
    for (int i = 0; i < v->rank; i++) fixed = fixed && extent_is_number(&v->shape[i], &number);
    return fixed;
}

static int tensor_of(const tfgen_module *m, const ir_value *v)
{
    for (int i = 0; i < m->tensors.count; i++)
        if (m->tensors.values[i] == v) return i;
    return -1;
}

/* ---- keys of weights */
static const char *param_key(const tfgen_module *m, const ir_value *v)
{
    text key = {.a = m->arena};
    text_printf(&key, "%s %s[", v->name, dtype_name(v->type));
    for (int i = 0; i < v->rank; i++) text_printf(&key, "%s%lld", i ? "," : "", extent_value(&v->shape[i], &m->plan->ir->dims));
    text_printf(&key, "]");
    return key.data;
}

/* ---- bindings */
static int weight_copy(tfgen_module *m, int tensor)
{
    for (int i = m->pack_count; i < m->weight_count; i++)
        if (m->weights[i].tensor == tensor) return i;
    const ir_value *v = m->tensors.values[tensor];
    m->weights[m->weight_count] =
        (weight_slot){v->name, param_key(m, v), value_count(v, &m->plan->ir->dims) * dtype_size(v->type), tensor};
    return m->weight_count++;
}

static binding binding_of_value(tfgen_module *m, const argument *g, bool packing)
{
    const ir_value *root = value_root(g->value);
    const int tensor = tensor_of(m, root);
    if (tensor >= 0 && param_is_kept(root) && !packing)
        return (binding){binding_weights, (unsigned short)g->offset, weight_copy(m, tensor)};
    if (tensor >= 0) return (binding){binding_tensor, (unsigned short)g->offset, tensor};
    for (int i = 0; i < m->plan->stored_count; i++)
        if (m->plan->stored[i].value == root) return (binding){binding_workspace, (unsigned short)g->offset, i};
    bail(m->arena, code_device, (position){0}, "internal: %%%s has no memory", root->name);
}

static binding binding_of_map(tfgen_module *m, const argument *g)
{
    const argument matrix = {.kind = argument_value, .value = g->box->value};
    const binding packed = {binding_weights, 0, g->box->packed};
    m->maps[m->map_count] = (map_binding){g->box, g->box->value ? binding_of_value(m, &matrix, false) : packed};
    return (binding){binding_map, (unsigned short)g->offset, m->map_count++};
}

static binding binding_of(tfgen_module *m, const argument *g, bool packing)
{
    const unsigned short offset = (unsigned short)g->offset;
    switch (g->kind) {
    case argument_value: return binding_of_value(m, g, packing);
    case argument_packed: return (binding){binding_weights, offset, g->index};
    case argument_scratch: return (binding){binding_workspace, offset, m->plan->stored_count + g->index};
    case argument_map: return binding_of_map(m, g);
    case argument_table: return (binding){binding_table, offset, 0};
    case argument_layers: return (binding){binding_layers, offset, 0};
    case argument_kind_of_layer: return (binding){binding_kind_of_layer, offset, 0};
    case argument_next: return (binding){binding_next, offset, 0};
    case argument_dim: break;
    }
    return (binding){binding_dim, offset, g->index};
}

static void write_bindings(tfgen_module *m, module_kernel *u, const argument *arguments, int count)
{
    if (u->argument_bytes > argument_room)
        bail(m->arena, code_unsupported, (position){0}, "kernel %s has %u bytes of arguments; a launch takes %d", u->name,
             u->argument_bytes, argument_room);
    u->source_size = source_size(u->source);
    u->bindings = arena_alloc(m->arena, ((size_t)count + 1) * sizeof *u->bindings);
    u->row_length = u->launch ? u->launch->row_length : 0;
    u->row = arena_alloc(m->arena, ((size_t)u->row_length + 1) * sizeof *u->row);
    for (int i = 0; i < count; i++) {
        const binding one = binding_of(m, &arguments[i], !u->launch);
        if (arguments[i].by_layer) u->row[arguments[i].place] = one;
        else u->bindings[u->binding_count++] = one;
    }
}

static void lay_out_pack(tfgen_module *m, int index)
{
    const packed_weight *w = &m->plan->packs[index];
    module_kernel *u = &m->kernels[index];
    m->weights[index] = (weight_slot){w->name, w->signature, pack_bytes(w), -1};
    *u = (module_kernel){.name = w->name,
                .source = &w->source,
                .argument_bytes = w->argument_bytes,
                .file = arena_printf(m->arena, "%s.hip", w->name),
                .shape = {.grid = (unsigned)pack_grid(w),
                          .threads = (unsigned)w->threads,
                          .shared_bytes = 16,
                          .wave = (unsigned)m->plan->target->wave}};
    write_bindings(m, u, w->arguments, w->argument_count);
}

/* Persistent kernels, which distribute tiles themselves, launch only as many workgroups as can be resident. */
unsigned module_grid(const tfgen_module *m, const module_kernel *u, const dim_table *dims)
{
    const launch *l = u->launch;
    const long long tiles = launch_grid(l, dims), planned = (long long)l->resident * m->device->info.multiprocessors;
    const long long most = (u->most_resident && u->most_resident < planned ? u->most_resident : planned) / l->cluster * l->cluster;
    return (unsigned)(most > 0 && tiles > most ? most : tiles);
}

static void lay_out_launch(tfgen_module *m, int index)
{
    const launch *l = &m->plan->launches[index];
    module_kernel *u = &m->kernels[m->pack_count + index];
    *u = (module_kernel){.name = l->name, .source = &l->source, .file = l->file, .launch = l, .argument_bytes = l->argument_bytes,
                .shape = {.threads = (unsigned)l->threads,
                          .shared_bytes = (unsigned)l->shared_bytes, .dynamic_bytes = (unsigned)l->dynamic_bytes,
                          .wave = (unsigned)m->plan->target->wave, .cooperative = l->together, .overlap = l->overlap}};
    u->shape.grid = module_grid(m, u, &m->plan->ir->dims);
    write_bindings(m, u, l->arguments, l->argument_count);
}

static void list_needed(tfgen_module *m)
{
    bool *seen = arena_alloc(m->arena, (size_t)m->tensors.count + 1);
    m->needed = arena_alloc(m->arena, ((size_t)m->tensors.count + 1) * sizeof *m->needed);
    for (int i = m->pack_count; i < m->pack_count + m->launch_count; i++)
        for (int k = 0; k < m->kernels[i].binding_count; k++) {
            const binding *s = &m->kernels[i].bindings[k];
            if (s->kind != binding_tensor || seen[s->index]) continue;
            seen[s->index] = true;
            m->needed[m->needed_count++] = s->index;
        }
}

static void lay_out(tfgen_module *m)
{
    const plan *p = m->plan;
    m->map_count = m->needed_count = 0;
    m->tensors = tensors_of(m->arena, p);
    m->pack_count = m->weight_count = p->pack_count;
    m->launch_count = p->launch_count;
    m->workspace_count = p->stored_count + p->scratch_count;
    if (m->workspace_count > most_workspace || m->tensors.count > most_tensors)
        bail(m->arena, code_unsupported, (position){0}, "the plan keeps %d values in the workspace and has %d tensors; at most %d and %d",
             m->workspace_count, m->tensors.count, most_workspace, most_tensors);
    m->kernels = arena_alloc(m->arena, ((size_t)p->pack_count + (size_t)p->launch_count + 1) * sizeof *m->kernels);
    m->weights = arena_alloc(m->arena, ((size_t)p->pack_count + (size_t)m->tensors.count + 1) * sizeof *m->weights);
    int maps = 0;
    for (int i = 0; i < p->launch_count; i++) maps += p->launches[i].argument_count;
    m->maps = arena_alloc(m->arena, ((size_t)maps + 1) * sizeof *m->maps);
    m->offsets = arena_alloc(m->arena, ((size_t)m->workspace_count + 1) * sizeof *m->offsets);
    m->workspace_bytes = workspace_layout(p, &p->ir->dims, m->offsets);
    for (int i = 0; i < m->pack_count; i++) lay_out_pack(m, i);
    for (int i = 0; i < m->launch_count; i++) lay_out_launch(m, i);
    if (m->weight_count > most_weights)
        bail(m->arena, code_unsupported, (position){0}, "the plan has %d packed weights and params that are read as they are; at most %d",
             m->weight_count, most_weights);
    list_needed(m);
}

/* ---- code */
typedef struct build {
    tfgen_module *m;
    const module_settings *settings;
    tfgen_error *error;
    bundle made;  /* the caller's bundle, if any */
    int *missing; /* host only: kernels that the bundle lacks */
    int missing_count;
    pthread_mutex_t lock; /* guards the fields below and calls of progress */
    int done, total;
    tfgen_status status;
} build;

static int kernel_count(const tfgen_module *m) { return m->pack_count + m->launch_count; }

static void tell(build *b, const char *kernel, bool cached)
{
    const tfgen_module_options *o = b->settings->options;
    const tfgen_progress p = {sizeof p, (size_t)++b->done, (size_t)b->total, kernel, cached};
    if (o->progress) o->progress(o->context, &p);
}

static void tell_log(build *b, const char *kernel, const char *text, bool failed)
{
    const tfgen_module_options *o = b->settings->options;
    const tfgen_log log = {sizeof log, kernel, text, failed};
    if (o->log && text && *text) o->log(o->context, &log);
}

static void say(build *b, const char *log)
{
    if (b->settings->log && log) host_log_add(b->settings->log, log, strlen(log));
}

/* Looks for code compiled ahead of time for exactly this source and device. A broken bundle, or with bundle_only a missing entry, sets the
 * status. */
static bundle_found look_up(build *b, const char *kernel, const char *source, size_t bytes, const void **code, size_t *size)
{
    char why[bundle_error_size];
    const tfgen_module_options *o = b->settings->options;
    const bundle_found found =
        o->bundle ? bundle_find(&b->made, b->m->device->info.arch, kernel, source, bytes, code, size, why) : bundle_missing;
    if (found == bundle_broken || (found == bundle_missing && o->bundle_only))
        b->status =
            device_report(b->error, found == bundle_broken ? TFGEN_IO : TFGEN_UNSUPPORTED, "the bundle: kernel %s: %s", kernel, why);
    return found;
}

static tfgen_status open_bundle(build *b)
{
    const tfgen_module_options *o = b->settings->options;
    char why[bundle_error_size];
    if (!o->bundle || bundle_open(o->bundle, o->bundle_size, &b->made, why)) return TFGEN_OK;
    return device_report(b->error, TFGEN_USAGE, "the bundle: %s", why);
}

/* The kernel of m with the same name and source, whose code u can share; NULL: none. */
static const module_kernel *same_in(const tfgen_module *m, const module_kernel *u)
{
    for (int i = m->pack_count; i < kernel_count(m); i++)
        if (strcmp(m->kernels[i].name, u->name) == 0 && source_same(m->kernels[i].source, u->source)) return &m->kernels[i];
    return NULL;
}

static const module_kernel *same_kernel(const tfgen_module *m, const module_kernel *u)
{
    const module_kernel *same = m->beside ? same_in(m->beside, u) : NULL;
    for (const tfgen_module *v = m->beside ? m->beside->variants : NULL; v && !same; v = v->earlier) same = same_in(v, u);
    return same;
}

static bool is_idle(const tfgen_module *m, const module_kernel *u) { return m->beside && !u->launch; }

/* Kernels to obtain from bundle, cache or compiler, as known before compiling: replanning after spills may add some. */
static int count_units(const tfgen_module *m)
{
    int count = 0;
    for (int i = 0; i < kernel_count(m); i++) count += !is_idle(m, &m->kernels[i]) && !same_kernel(m, &m->kernels[i]);
    return count;
}

static void load_kernel(build *b, module_kernel *u, const void *code, size_t size)
{
    b->status = b->m->device->api->load(b->m->device, code, size, &u->image, b->error);
}

/* ---- code for the host, compiled by the device's own compiler (device_api.compile) */
static void load_from_bundle(build *b)
{
    const void *code;
    size_t size;
    for (int i = 0; i < kernel_count(b->m) && b->status == TFGEN_OK; i++) {
        module_kernel *u = &b->m->kernels[i];
        if (is_idle(b->m, u) || same_kernel(b->m, u)) continue;
        char *source = source_whole(u->source);
        if (!source) b->status = device_report(b->error, TFGEN_NO_MEMORY, "not enough memory");
        const bundle_found found = source ? look_up(b, u->name, source, u->source_size, &code, &size) : bundle_broken;
        free(source);
        if (found == bundle_ok) load_kernel(b, u, code, size);
        if (b->status != TFGEN_OK) return;
        if (found == bundle_ok) tell(b, u->name, true);
        else b->missing[b->missing_count++] = i;
    }
}

/* Longest source first, so that no long compile starts last. */
static void sort_missing(build *b)
{
    const module_kernel *kernels = b->m->kernels;
    for (int i = 1; i < b->missing_count; i++) {
        const int one = b->missing[i];
        const size_t size = kernels[one].source_size;
        int k = i;
        for (; k > 0 && kernels[b->missing[k - 1]].source_size < size; k--) b->missing[k] = b->missing[k - 1];
        b->missing[k] = one;
    }
}

static void compile_unit(void *argument, size_t index)
{
    build *b = argument;
    module_kernel *u = &b->m->kernels[b->missing[index]];
    host_log log = {0};
    tfgen_error error = {""};
    pthread_mutex_lock(&b->lock);
    const bool stopped = b->status != TFGEN_OK;
    pthread_mutex_unlock(&b->lock);
    if (stopped) return;
    char *whole = source_whole(u->source);
    device_source source = {u->name, u->file, whole, b->settings->cache, b->settings->options->compile_seconds, &log, false};
    const tfgen_status status = whole ? b->m->device->api->compile(b->m->device, &source, &u->image, &error)
                                      : device_report(&error, TFGEN_NO_MEMORY, "not enough memory");
    free(whole);
    pthread_mutex_lock(&b->lock);
    if (status != TFGEN_OK && b->status == TFGEN_OK) {
        b->status = device_report(b->error, status, "%s", error.text);
        say(b, log.text);
    }
    tell_log(b, u->name, log.text, status != TFGEN_OK);
    if (status == TFGEN_OK) tell(b, u->name, source.cached);
    pthread_mutex_unlock(&b->lock);
    host_log_free(&log);
}

static void take_images(build *b, const device_source *sources, void **images)
{
    int left = 0;
    for (int i = 0; i < b->missing_count; i++) {
        module_kernel *u = &b->m->kernels[b->missing[i]];
        if ((u->image = images[i])) tell(b, u->name, sources[i].cached);
        else b->missing[left++] = b->missing[i];
    }
    b->missing_count = left;
}

/* Compiles several sources per compiler run. Leaves in `missing` the kernels to compile one by one: all of them if memory is short. */
static void compile_together(build *b)
{
    const size_t room = (size_t)b->missing_count + 1;
    device_source *sources = arena_alloc(b->m->arena, room * sizeof *sources);
    void **images = arena_alloc(b->m->arena, room * sizeof *images);
    int count = 0;
    for (; count < b->missing_count; count++) {
        const module_kernel *u = &b->m->kernels[b->missing[count]];
        char *whole = source_whole(u->source);
        if (!whole) break;
        sources[count] =
            (device_source){u->name, u->file, whole, b->settings->cache, b->settings->options->compile_seconds, NULL, false};
    }
    if (count == b->missing_count) b->m->device->api->compile_together(b->m->device, sources, (size_t)count, images);
    for (int i = 0; i < count; i++) free((char *)sources[i].text);
    take_images(b, sources, images);
}

static void make_on_device(build *b)
{
    b->missing = arena_alloc(b->m->arena, ((size_t)kernel_count(b->m) + 1) * sizeof *b->missing);
    load_from_bundle(b);
    sort_missing(b);
    if (b->status != TFGEN_OK || !b->missing_count) return;
    range_begin("tfgen compile", NULL);
    if (b->missing_count > 1 && b->m->device->api->compile_together) compile_together(b);
    run_parallel((size_t)b->missing_count, b->settings->options->jobs, compile_unit, b);
    range_end();
}

/* ---- code for GPUs, from the cache or from compilers in child processes */
static bool find_made(void *context, const code_request *q, const source_text *source, const char *kernel, code_result *out)
{
    build *b = context;
    const module_kernel asked = {.name = kernel, .source = source};
    const void *code;
    size_t size;
    *out = (code_result){.status = build_ok};
    if (same_kernel(b->m, &asked)) return true;
    *out = (code_result){.status = build_unsupported};
    const bundle_found found = b->status == TFGEN_OK ? look_up(b, kernel, q->source, q->size, &code, &size) : bundle_missing;
    if (b->status != TFGEN_OK) return true;
    if (found != bundle_ok) return false;
    if (!spill_mark_read(code, size, out)) *out = (code_result){.status = build_ok};
    if (out->status == build_ok) tell(b, kernel, true);
    return true;
}

static void count_compiled(void *context, const char *kernel, bool cached, bool good)
{
    if (good) tell(context, kernel, cached);
}

/* For progress: a plan made again may have more kernels to compile than were announced. */
static void count_more(void *context, int more)
{
    build *b = context;
    if (b->total < b->done + more) b->total = b->done + more;
}

static void take_kernel(build *b, module_kernel *u, const code_request *q, const code_result *r)
{
    const void *code = r->code;
    size_t size = r->code_size;
    if (is_idle(b->m, u) || same_kernel(b->m, u)) return;
    if (r->status == build_ok) {
        if (!code) (void)look_up(b, u->name, q->source, q->size, &code, &size);
        load_kernel(b, u, code, size);
        return;
    }
    say(b, r->log);
    b->status = device_report(b->error, (tfgen_status)code_exit(r->status), "%s is not compiled for %s\n%s", u->file,
                              b->m->device->info.arch, r->log ? r->log : "");
}

/* AMD code that spills with every tile is accepted: slow, but correct. NVIDIA code that spills is refused (runtime/compile/nvrtc.c). */
static void make_for_device(build *b)
{
    tfgen_module *m = b->m;
    const tfgen_module_options *o = b->settings->options;
    const plan_code_options options = {.arch = m->device->info.arch,
                                       .time_limit = o->compile_seconds,
                                       .jobs = o->jobs,
                                       .cache = b->settings->cache,
                                       .launches_only = m->beside != NULL,
                                       .same_workspace = b->settings->same_workspace,
                                       .find = find_made,
                                       .begin = count_more,
                                       .done = count_compiled,
                                       .context = b};
    plan_code *code = plan_code_make(m->arena, m->plan, &options);
    if (b->status == TFGEN_OK && code->plan != m->plan) {
        m->plan = code->plan, m->manifest = manifest_json(m->arena, code->plan);
        lay_out(m);
    }
    for (int i = 0; i < code->count; i++)
        if (!code->hit[i]) tell_log(b, code->kernels[i], code->results[i].log, code->results[i].status != build_ok);
    for (int i = 0; i < code->count && b->status == TFGEN_OK; i++) take_kernel(b, &m->kernels[i], &code->requests[i], &code->results[i]);
    plan_code_free(code);
}

/* Cooperative launches: limits the grid to the workgroups that the device can hold at once with this code, as they wait for each other. */
static tfgen_status seat(build *b, module_kernel *u)
{
    const tfgen_module *m = b->m;
    tfgen_error error = {""};
    if (!u->launch || !u->launch->together) return TFGEN_OK;
    const tfgen_status status = m->device->api->resident(m->device, u->kernel, &u->shape, &u->most_resident, &error);
    if (status != TFGEN_OK) return device_report(b->error, status, "kernel %s: %s", u->name, error.text);
    u->shape.grid = module_grid(m, u, &m->plan->ir->dims);
    return TFGEN_OK;
}

static tfgen_status find_kernels(build *b)
{
    tfgen_device *d = b->m->device;
    for (int i = 0; i < kernel_count(b->m); i++) {
        module_kernel *u = &b->m->kernels[i];
        const module_kernel *same = same_kernel(b->m, u);
        if (is_idle(b->m, u)) continue;
        tfgen_status status = TFGEN_OK;
        if (same) u->kernel = same->kernel;
        else status = d->api->kernel(d, u->image, u->name, u->shape.dynamic_bytes, &u->kernel, b->error);
        if (status == TFGEN_OK) status = seat(b, u);
        if (status != TFGEN_OK) return status;
    }
    return TFGEN_OK;
}

/* ---- the module (build_body() bails if the arena runs out of memory) */
static void build_body(void *argument)
{
    build *b = argument;
    lay_out(b->m);
    b->total = count_units(b->m);
    b->status = open_bundle(b);
    if (b->status == TFGEN_OK && b->m->device->api->compile) make_on_device(b);
    else if (b->status == TFGEN_OK) make_for_device(b);
    if (b->status == TFGEN_OK) b->status = find_kernels(b);
}

tfgen_status module_build(const plan *p, tfgen_device *d, const module_settings *settings, tfgen_module **out, tfgen_error *error)
{
    tfgen_module *m = calloc(1, sizeof *m);
    if (m) m->arena = arena_new();
    if (!m || !m->arena) {
        free(m);
        return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    }
    m->plan = p;
    m->device = d;
    m->beside = settings->beside;
    pthread_mutex_init(&m->preparing, NULL);
    build b = {.m = m, .settings = settings, .error = error, .status = TFGEN_OK};
    pthread_mutex_init(&b.lock, NULL);
    range_begin("tfgen load", p->ir->name);
    const tfgen_code code = arena_run(m->arena, build_body, &b);
    range_end();
    pthread_mutex_destroy(&b.lock);
    if (code != code_ok) b.status = device_report_arena(error, code, m->arena);
    if (b.status == TFGEN_OK) *out = m;
    else tfgen_module_free(m);
    return b.status;
}

void tfgen_module_free(tfgen_module *m)
{
    if (!m) return;
    for (tfgen_module *v = m->variants, *earlier; v; v = earlier) {
        earlier = v->earlier;
        tfgen_module_free(v);
    }
    for (int i = 0; m->kernels && i < kernel_count(m); i++)
        if (m->kernels[i].image) m->device->api->unload(m->device, m->kernels[i].image);
    pthread_mutex_destroy(&m->preparing);
    arena_free(m->plan_arena);
    arena_free(m->arena);
    free(m);
}
