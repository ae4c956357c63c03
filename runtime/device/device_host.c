/* The device table for the host engine: compiles and runs kernels on this machine's processors. Memory is the process's own, launches are
 * synchronous, events are clock readings. Refuses graphs. */
#define _GNU_SOURCE
#include "runtime/device/device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct host_kernel {
    struct host_image *image;
    char *name;
    struct host_kernel *next;
} host_kernel;

typedef struct host_image {
    host_module *module;
    host_kernel *kernels;
} host_image;

typedef struct host_machine {
    tfgen_device device;
    host_engine *engine;
    host_device_options options;
} host_machine;

static host_machine *machine_of(tfgen_device *d) { return (host_machine *)d; }

/* ---- the device */
static int host_count(char *why, size_t why_size)
{
    if (why_size) *why = '\0';
    return 1;
}

static void describe(tfgen_device_info *info, const target_info *target)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    *info = (tfgen_device_info){.size = sizeof *info, .name = "host",
                                .memory_bytes = pages > 0 && page > 0 ? (int64_t)pages * page : 0};
    snprintf(info->label, sizeof info->label, "%s", target ? "this machine's processors, as a GPU" : "this machine's processors");
    snprintf(info->arch, sizeof info->arch, "host");
    snprintf(info->target, sizeof info->target, "%s", target ? target->name : "host");
}

tfgen_status host_device_open(const host_device_options *options, tfgen_device **out, tfgen_error *error)
{
    host_machine *m = calloc(1, sizeof *m);
    const host_engine_options engine = {.workers = options->workers, .poison = options->poison, .no_signals = !options->guard,
                                        .touched = options->touched, .context = options->context,
                                        .watch = options->watch};
    if (m) m->engine = host_engine_open(&engine);
    if (!m || !m->engine) {
        free(m);
        return device_report(error, TFGEN_NO_MEMORY, "not enough memory for the host engine");
    }
    m->device.api = &host_device;
    m->options = *options;
    describe(&m->device.info, options->target);
    m->device.info.multiprocessors = options->multiprocessors > 0 ? options->multiprocessors
                                     : options->check             ? 1 /* checked launches run on one worker */
                                                                  : (int)host_engine_workers(m->engine);
    *out = &m->device;
    return TFGEN_OK;
}

static tfgen_status open_plain(int ordinal, tfgen_device **out, tfgen_error *error)
{
    (void)ordinal;
    return host_device_open(&(host_device_options){0}, out, error);
}

static void host_close(tfgen_device *d)
{
    host_engine_close(machine_of(d)->engine);
    free(d);
}

/* ---- code */
static tfgen_status status_of(host_status status)
{
    switch (status) {
    case HOST_OK: return TFGEN_OK;
    case HOST_NO_COMPILER: return TFGEN_UNSUPPORTED;
    case HOST_COMPILE_FAILED:
    case HOST_COMPILE_TIMEOUT: return TFGEN_COMPILE_FAILED;
    case HOST_IO: return TFGEN_IO;
    case HOST_CHECKED: return (tfgen_status)code_check_failed;
    default: return TFGEN_DEVICE_ERROR;
    }
}

static host_compile_options compile_options(tfgen_device *d, const device_source *source)
{
    const host_machine *m = machine_of(d);
    return (host_compile_options){.name = source->file,
                                  .cache = source->cache,
                                  .optimise = -1,
                                  .check = m->options.check,
                                  .explain = m->options.guard,
                                  .time_limit_ms = (unsigned)(source->seconds * 1000)};
}

static tfgen_status host_build(tfgen_device *d, device_source *source, void **image, tfgen_error *error)
{
    host_image *made = calloc(1, sizeof *made);
    host_log log = {0}, *said = source->log ? source->log : &log;
    const host_compile_options options = compile_options(d, source);
    if (!made) return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    const host_status status = host_compile(source->text, strlen(source->text), &options, &made->module, said);
    if (status == HOST_OK) source->cached = host_module_cached(made->module);
    else device_report(error, TFGEN_OK, status == HOST_NO_COMPILER ? "%s: %s: %s" : "%s: %s\n%s", source->name, host_status_name(status),
                       said->text ? said->text : "");
    host_log_free(&log);
    if (status != HOST_OK) free(made);
    else *image = made;
    return status_of(status);
}

/* If memory is short, leaves the sources to be compiled one by one. */
static void host_build_together(tfgen_device *d, device_source *sources, size_t count, void **images)
{
    host_page *pages = count ? calloc(count, sizeof *pages) : NULL;
    host_module **modules = pages ? calloc(count, sizeof *modules) : NULL;
    for (size_t i = 0; modules && i < count; i++)
        pages[i] = (host_page){sources[i].file, sources[i].text, strlen(sources[i].text)};
    const host_compile_options options = compile_options(d, sources); /* the same for each but the name */
    if (modules) host_compile_together(pages, count, &options, modules);
    for (size_t i = 0; modules && i < count; i++) {
        host_image *made = modules[i] ? calloc(1, sizeof *made) : NULL;
        if (made) made->module = modules[i], images[i] = made, sources[i].cached = host_module_cached(modules[i]);
        else host_module_free(modules[i]);
    }
    free(modules);
    free(pages);
}

static tfgen_status host_load(tfgen_device *d, const void *code, size_t size, void **image, tfgen_error *error)
{
    host_image *made = calloc(1, sizeof *made);
    host_log log = {0};
    (void)d;
    if (!made) return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    const host_status status = host_module_open(code, size, &made->module, &log);
    if (status != HOST_OK) device_report(error, TFGEN_OK, "%s", log.text ? log.text : host_status_name(status));
    host_log_free(&log);
    if (status != HOST_OK) free(made);
    else *image = made;
    return status_of(status);
}

static void host_unload(tfgen_device *d, void *image)
{
    host_image *i = image;
    (void)d;
    if (!i) return;
    for (host_kernel *k = i->kernels, *next; k; k = next) {
        next = k->next;
        free(k->name);
        free(k);
    }
    host_module_free(i->module);
    free(i);
}

static tfgen_status host_kernel_of(tfgen_device *d, void *image, const char *name, unsigned dynamic_bytes, void **kernel,
                                   tfgen_error *error)
{
    host_image *i = image;
    (void)d, (void)dynamic_bytes;
    char symbol[symbol_room];
    if (!host_module_has(i->module, kernel_symbol(name, symbol)))
        return device_report(error, TFGEN_DEVICE_ERROR, "the code has no kernel %s", name);
    host_kernel *k = calloc(1, sizeof *k);
    if (k) k->name = strdup(name);
    if (!k || !k->name) {
        free(k);
        return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    }
    *k = (host_kernel){i, k->name, i->kernels};
    i->kernels = k;
    *kernel = k;
    return TFGEN_OK;
}

static tfgen_status host_resident(tfgen_device *d, void *kernel, const launch_shape *shape, unsigned *workgroups, tfgen_error *error)
{
    const host_kernel *k = kernel;
    *workgroups = host_most_resident(machine_of(d)->engine, k->image->module, shape->threads, shape->wave);
    if (*workgroups) return TFGEN_OK;
    return device_report(error, TFGEN_UNSUPPORTED, "the host engine has no workgroups of %u threads", shape->threads);
}

static tfgen_status host_start(tfgen_device *d, void *kernel, const launch_shape *shape, void *arguments, size_t bytes, void *stream,
                               tfgen_error *error)
{
    const host_machine *m = machine_of(d);
    const host_kernel *k = kernel;
    const host_launch_dims dims = {.grid = {shape->grid, 1, 1}, .block = {shape->threads, 1, 1}, .shared_bytes = shape->shared_bytes,
                                   .wave = shape->wave, .cooperative = shape->cooperative, .name = k->name};
    char symbol[symbol_room];
    void *params[] = {arguments};
    host_log log = {0}, *said = m->options.log ? m->options.log : &log;
    (void)bytes, (void)stream;
    const size_t before = said->size;
    const host_status status = host_launch(m->engine, k->image->module, kernel_symbol(k->name, symbol), &dims, params, said);
    if (status != HOST_OK)
        device_report(error, TFGEN_OK, "%s: %s\n%s", k->name, host_status_name(status), said->text ? said->text + before : "");
    host_log_free(&log);
    return status_of(status);
}

/* The tensor map layout that templates/isa/wgmma_host.h reads. */
typedef struct host_map {
    const void *data;
    long long rows, row_bytes, stride;
    int box_rows, element;
    long long heads, head_stride, batches, batch_stride;
    int box_heads, box_pieces;
    unsigned long long unused[6];
} host_map;
_Static_assert(sizeof(host_map) == 128, "as large as a tensor map of cuda.h");

static tfgen_status host_encode(tfgen_device *d, void *map, const map_shape *shape, tfgen_error *error)
{
    (void)d;
    const int element = dtype_size(shape->type);
    if (!shape->pieces && shape->box_columns * element != 128)
        return device_report(error, TFGEN_UNSUPPORTED, "tensor map: boxes of %d bytes; the host has 128", shape->box_columns * element);
    const host_map m = {.data = shape->data, .rows = shape->rows, .row_bytes = shape->columns * (shape->pieces ? piece_bytes : element),
                        .stride = shape->stride, .box_rows = shape->box_rows, .element = element, .heads = shape->heads,
                        .head_stride = shape->head_stride, .batches = shape->batches, .batch_stride = shape->batch_stride,
                        .box_heads = shape->box_heads, .box_pieces = shape->pieces ? shape->box_columns : 0};
    memcpy(map, &m, sizeof m);
    return TFGEN_OK;
}

/* ---- memory */
static tfgen_status host_get(tfgen_device *d, size_t bytes, const char *name, void **memory, tfgen_error *error)
{
    *memory = host_alloc(machine_of(d)->engine, bytes, name);
    return *memory ? TFGEN_OK : device_report(error, TFGEN_NO_MEMORY, "not enough memory: %s needs %zu bytes", name, bytes);
}

static void host_put(tfgen_device *d, void *memory) { host_free(machine_of(d)->engine, memory); }

static tfgen_status host_copy(tfgen_device *d, void *to, const void *from, size_t bytes, tfgen_copy_kind kind, void *stream,
                              tfgen_error *error)
{
    (void)d, (void)kind, (void)stream, (void)error;
    memmove(to, from, bytes);
    return TFGEN_OK;
}

static tfgen_status host_fill(tfgen_device *d, void *memory, unsigned char byte, size_t bytes, void *stream, tfgen_error *error)
{
    (void)d, (void)stream, (void)error;
    memset(memory, byte, bytes);
    return TFGEN_OK;
}

static tfgen_status host_synchronize(tfgen_device *d, void *stream, tfgen_error *error)
{
    (void)d, (void)stream, (void)error;
    return TFGEN_OK;
}

/* ---- time */
static tfgen_status no_stream(tfgen_device *d, void **stream, tfgen_error *error)
{
    (void)d, (void)error;
    *stream = NULL; /* launches are synchronous */
    return TFGEN_OK;
}

static void forget_stream(tfgen_device *d, void *stream) { (void)d, (void)stream; }

static tfgen_status host_event(tfgen_device *d, void **event, tfgen_error *error)
{
    (void)d;
    *event = calloc(1, sizeof(struct timespec));
    return *event ? TFGEN_OK : device_report(error, TFGEN_NO_MEMORY, "not enough memory");
}

static void host_event_destroy(tfgen_device *d, void *event)
{
    (void)d;
    free(event);
}

static tfgen_status host_record(tfgen_device *d, void *event, void *stream, tfgen_error *error)
{
    (void)d, (void)stream, (void)error;
    clock_gettime(CLOCK_MONOTONIC, event);
    return TFGEN_OK;
}

static tfgen_status host_elapsed(tfgen_device *d, void *start, void *end, double *seconds, tfgen_error *error)
{
    const struct timespec *s = start, *e = end;
    (void)d, (void)error;
    *seconds = (double)(e->tv_sec - s->tv_sec) + 1e-9 * (double)(e->tv_nsec - s->tv_nsec);
    return TFGEN_OK;
}

static tfgen_status no_graph(tfgen_error *error) { return device_report(error, TFGEN_UNSUPPORTED, "the host has no graphs"); }

static tfgen_status host_graph_begin(tfgen_device *d, void *stream, tfgen_error *error)
{
    (void)d, (void)stream;
    return no_graph(error);
}

static tfgen_status host_graph_end(tfgen_device *d, void *stream, void **graph, tfgen_error *error)
{
    (void)d, (void)stream, (void)graph;
    return no_graph(error);
}

static tfgen_status host_graph_launch(tfgen_device *d, void *graph, void *stream, tfgen_error *error)
{
    (void)d, (void)graph, (void)stream;
    return no_graph(error);
}

static void host_graph_destroy(tfgen_device *d, void *graph) { (void)d, (void)graph; }

const device_api host_device = {.kind = "host",
                                .count = host_count,
                                .open = open_plain,
                                .close = host_close,
                                .load = host_load,
                                .compile = host_build,
                                .compile_together = host_build_together,
                                .unload = host_unload,
                                .kernel = host_kernel_of,
                                .resident = host_resident,
                                .launch = host_start,
                                .encode_map = host_encode,
                                .alloc = host_get,
                                .free = host_put,
                                .copy = host_copy,
                                .fill = host_fill,
                                .synchronize = host_synchronize,
                                .stream_create = no_stream,
                                .stream_destroy = forget_stream,
                                .event_create = host_event,
                                .event_destroy = host_event_destroy,
                                .event_record = host_record,
                                .event_elapsed = host_elapsed,
                                .graph_begin = host_graph_begin,
                                .graph_end = host_graph_end,
                                .graph_launch = host_graph_launch,
                                .graph_destroy = host_graph_destroy};
