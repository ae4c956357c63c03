/* In: a spec and its options (preset, jobs). Out: what the runtime costs and keeps, measured on the GPU of this machine: cold compile,
 * warm start, launch overhead beside the driver's own, graph replay and eight threads, both with the bytes of a plain call. Exit code 1
 * when bytes differ or a call fails. Built and run by tests/h200/runtime.sh. */
#define _GNU_SOURCE
#include "runtime/device/cuda_abi.h"
#include "runtime/device/cuda_abi.h"
#include "runtime/module/module.h"
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_tensors_here = 64, most_recorded = 64, threads = 8, repeat = 50 };

static tfgen_error error;

static void must(tfgen_status status, const char *what)
{
    if (status == TFGEN_OK) return;
    printf("FAILED %s: %d: %s\n", what, status, error.text);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    if (!f || !text) exit(2);
    *size = fread(text, 1, (1 << 16) - 1, f);
    fclose(f);
    return text;
}

typedef struct layer {
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    void *tensors[most_tensors_here], *workspace;
    size_t bytes[most_tensors_here], count;
} layer;

/* Numbers in [-0.5, 0.5) of the tensor's dtype; int32 are zeros (positions). */
static void *random_bytes(const tfgen_tensor *t, unsigned long long seed)
{
    const size_t size = strcmp(t->dtype, "f32") == 0 ? 4 : 2, count = (size_t)t->bytes / size;
    unsigned char *out = calloc(1, (size_t)t->bytes + 4);
    for (size_t i = 0; out && i < count && strcmp(t->dtype, "i32") != 0; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        const float x = (float)(int)(seed >> 40 & 0xffff) / 65536.0f - 0.5f;
        unsigned bits;
        memcpy(&bits, &x, 4);
        unsigned short half = (unsigned short)(bits >> 16);
        if (strcmp(t->dtype, "f16") == 0) {
            const _Float16 h = (_Float16)x;
            memcpy(&half, &h, 2);
        }
        memcpy(out + i * size, size == 4 ? (void *)&bits : (void *)&half, size);
    }
    return out;
}

static void make_tensors(layer *l)
{
    l->count = tfgen_plan_tensor_count(l->plan);
    for (size_t i = 0; i < l->count; i++) {
        tfgen_tensor t = {.size = sizeof t};
        tfgen_plan_tensor(l->plan, i, &t);
        void *data = random_bytes(&t, i + 1);
        l->bytes[i] = (size_t)t.bytes;
        must(tfgen_device_alloc(l->device, l->bytes[i], &l->tensors[i], &error), "alloc");
        must(tfgen_device_copy(l->device, l->tensors[i], data, l->bytes[i], TFGEN_TO_DEVICE, NULL, &error), "copy");
        must(tfgen_device_synchronize(l->device, NULL, &error), "synchronize");
        free(data);
    }
    must(tfgen_device_alloc(l->device, (size_t)tfgen_plan_workspace_bytes(l->plan), &l->workspace, &error), "alloc");
}

static tfgen_status execute(const layer *l, void *stream, tfgen_error *e)
{
    const tfgen_args args = {.size = sizeof args, .tensors = l->tensors};
    return tfgen_execute(l->module, l->weights, &args, l->workspace, stream, e);
}

static bool is_output(const layer *l, size_t i)
{
    tfgen_tensor t = {.size = sizeof t};
    tfgen_plan_tensor(l->plan, i, &t);
    return t.kind == TFGEN_OUTPUT;
}

/* Copies all outputs into one buffer and fills their memory with NaN for the next run. */
static unsigned char *take_outputs(const layer *l, size_t *bytes)
{
    unsigned char *out = NULL;
    *bytes = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (!is_output(l, i)) continue;
        out = realloc(out, *bytes + l->bytes[i]);
        must(tfgen_device_copy(l->device, out + *bytes, l->tensors[i], l->bytes[i], TFGEN_FROM_DEVICE, NULL, &error), "copy");
        must(l->device->api->fill(l->device, l->tensors[i], 0xff, l->bytes[i], NULL, &error), "fill");
        *bytes += l->bytes[i];
    }
    must(tfgen_device_synchronize(l->device, NULL, &error), "synchronize");
    return out;
}

static int same(const layer *l, const unsigned char *wanted, size_t bytes, const char *what)
{
    size_t got;
    unsigned char *out = take_outputs(l, &got);
    const bool equal = got == bytes && memcmp(out, wanted, bytes) == 0;
    printf("%-44s %s\n", what, equal ? "the same bytes" : "DIFFERENT BYTES");
    free(out);
    return !equal;
}

/* ---- start-up */
static void build_module(layer *l, const char *cache_dir, int jobs, const char *what)
{
    tfgen_module_options o = TFGEN_MODULE_OPTIONS_INIT;
    o.cache_dir = cache_dir, o.jobs = jobs;
    const double start = now();
    must(tfgen_module_create(l->plan, l->device, &o, &l->module, &error), "module");
    printf("%-44s %8.1f ms\n", what, 1e3 * (now() - start));
}

static void warm_start(const layer *of, const char *spec, size_t size, const tfgen_plan_options *options, const char *cache_dir)
{
    layer l = *of;
    tfgen_module_options o = TFGEN_MODULE_OPTIONS_INIT;
    o.cache_dir = cache_dir;
    const double start = now();
    must(tfgen_plan_create(spec, size, "spec.yaml", options, &l.plan, &error), "plan");
    const double planned = now();
    must(tfgen_module_create(l.plan, l.device, &o, &l.module, &error), "module");
    const double loaded = now();
    must(tfgen_weights_create(l.module, l.tensors, NULL, &l.weights, &error), "weights");
    const double packed = now();
    must(execute(&l, NULL, &error), "execute");
    const double launched = now();
    must(tfgen_device_synchronize(l.device, NULL, &error), "synchronize");
    printf("%-44s %8.2f ms: plan %.2f, module %.2f, weights %.2f, first execute %.2f; its result after %.2f more\n",
           "warm start to the first launch", 1e3 * (launched - start), 1e3 * (planned - start), 1e3 * (loaded - planned),
           1e3 * (packed - loaded), 1e3 * (launched - packed), 1e3 * (now() - launched));
    tfgen_weights_free(l.weights);
    tfgen_module_free(l.module);
    tfgen_plan_free(l.plan);
}

/* ---- overhead: the driver's own launches of the very same kernels and arguments */
typedef struct recorded {
    void *kernel;
    launch_shape shape;
    _Alignas(128) unsigned char arguments[argument_room];
} recorded;
static recorded records[most_recorded];
static int record_count;

static tfgen_status record(tfgen_device *d, void *kernel, const launch_shape *shape, void *arguments, size_t bytes, void *stream,
                           tfgen_error *e)
{
    (void)d, (void)stream, (void)e;
    records[record_count].kernel = kernel;
    records[record_count].shape = *shape;
    memcpy(records[record_count++].arguments, arguments, bytes);
    return TFGEN_OK;
}

static void record_launches(const layer *l)
{
    const device_api *real = l->device->api;
    device_api spy = *real;
    spy.launch = record;
    l->device->api = &spy;
    must(execute(l, NULL, &error), "execute");
    l->device->api = real;
}

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

typedef int launch_kernel(const cuda_launch_config *, void *, void **, void **);

static void overhead(const layer *l, void *stream)
{
    enum { most_rounds = 201 };
    static double ours[most_rounds], driver[most_rounds];
    launch_kernel *launch;
    void *found = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernelEx");
    cuda_launch_attribute overlap = {.id = cuda_attribute_programmatic_serialization, .value.number = 1};
    const char *own = getenv("TFGEN_LIBCUDA");
    if (own) found = dlsym(dlopen(own, RTLD_NOW), "cuLaunchKernelEx");
    memcpy(&launch, &found, sizeof found);
    record_launches(l);
    /* few enough launches that the driver's queue never fills, and a second at most */
    const int calls = 120 / record_count > 0 ? 120 / record_count : 1;
    const double begun = now();
    int rounds = 0;
    for (int r = 0; r < most_rounds && (r < 5 || now() - begun < 1); r++, rounds++) {
        must(tfgen_device_synchronize(l->device, stream, &error), "synchronize");
        double start = now();
        for (int i = 0; i < calls; i++) must(execute(l, stream, &error), "execute");
        ours[r] = (now() - start) / (calls * record_count);
        must(tfgen_device_synchronize(l->device, stream, &error), "synchronize");
        start = now();
        for (int i = 0; i < calls; i++)
            for (int k = 0; k < record_count; k++) {
                void *params[] = {records[k].arguments};
                const launch_shape *s = &records[k].shape;
                const cuda_launch_config config = {s->grid, 1, 1, s->threads, 1, 1, s->dynamic_bytes, stream, &overlap, s->overlap};
                if (launch(&config, records[k].kernel, params, NULL)) exit(1);
            }
        driver[r] = (now() - start) / (calls * record_count);
    }
    qsort(ours, (size_t)rounds, sizeof *ours, by_value);
    qsort(driver, (size_t)rounds, sizeof *driver, by_value);
    printf("%-44s %8.3f us a launch; the driver's own %.3f us; %.3f us over it (10%%: %.3f and %.3f)\n", "tfgen_execute",
           1e6 * ours[rounds / 2], 1e6 * driver[rounds / 2], 1e6 * (ours[rounds / 2] - driver[rounds / 2]), 1e6 * ours[rounds / 10],
           1e6 * driver[rounds / 10]);
}

/* ---- graphs and threads */
static int graph_replay(const layer *l, void *stream, const unsigned char *wanted, size_t bytes)
{
    const device_api *api = l->device->api;
    void *graph;
    must(api->graph_begin(l->device, stream, &error), "capture");
    must(execute(l, stream, &error), "execute in a capture");
    must(api->graph_end(l->device, stream, &graph, &error), "end of capture");
    int failed = 0;
    for (int i = 0; i < 3; i++) {
        must(api->graph_launch(l->device, graph, stream, &error), "graph launch");
        must(tfgen_device_synchronize(l->device, stream, &error), "synchronize");
        failed += same(l, wanted, bytes, i ? "graph, replayed again" : "graph, replayed");
    }
    void *start, *end;
    double seconds;
    must(api->event_create(l->device, &start, &error), "event");
    must(api->event_create(l->device, &end, &error), "event");
    must(api->event_record(l->device, start, stream, &error), "event");
    for (int i = 0; i < repeat; i++) must(api->graph_launch(l->device, graph, stream, &error), "graph launch");
    must(api->event_record(l->device, end, stream, &error), "event");
    must(api->event_elapsed(l->device, start, end, &seconds, &error), "event");
    printf("%-44s %8.2f us a replay (buffers stay in the cache)\n", "graph", 1e6 * seconds / repeat);
    must(api->event_record(l->device, start, stream, &error), "event");
    for (int i = 0; i < repeat; i++) must(execute(l, stream, &error), "execute");
    must(api->event_record(l->device, end, stream, &error), "event");
    must(api->event_elapsed(l->device, start, end, &seconds, &error), "event");
    printf("%-44s %8.2f us a call\n", "execute, back to back", 1e6 * seconds / repeat);
    api->event_destroy(l->device, start);
    api->event_destroy(l->device, end);
    api->graph_destroy(l->device, graph);
    return failed;
}

typedef struct caller {
    layer l;
    void *stream;
    const unsigned char *wanted;
    size_t bytes;
    int different, failed;
} caller;

static void *call_often(void *argument)
{
    caller *c = argument;
    tfgen_error e;
    for (int round = 0; round < repeat; round++) {
        c->failed += execute(&c->l, c->stream, &e) != TFGEN_OK || tfgen_device_synchronize(c->l.device, c->stream, &e) != TFGEN_OK;
        size_t bytes;
        unsigned char *out = take_outputs(&c->l, &bytes);
        c->different += bytes != c->bytes || memcmp(out, c->wanted, bytes) != 0;
        free(out);
    }
    return NULL;
}

static int eight_threads(const layer *l, const unsigned char *wanted, size_t bytes)
{
    static caller callers[threads];
    pthread_t thread[threads];
    int bad = 0;
    for (int i = 0; i < threads; i++) {
        callers[i] = (caller){.l = *l, .wanted = wanted, .bytes = bytes};
        must(l->device->api->stream_create(l->device, &callers[i].stream, &error), "stream");
        must(tfgen_device_alloc(l->device, (size_t)tfgen_plan_workspace_bytes(l->plan), &callers[i].l.workspace, &error), "alloc");
        for (size_t k = 0; k < l->count; k++)
            if (is_output(l, k)) must(tfgen_device_alloc(l->device, l->bytes[k], &callers[i].l.tensors[k], &error), "alloc");
    }
    for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, call_often, &callers[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        bad += callers[i].different + callers[i].failed;
    }
    printf("%-44s %s (%d of %d calls wrong)\n", "eight threads, a workspace each", bad ? "DIFFERENT BYTES" : "the same bytes", bad,
           threads * repeat);
    return bad;
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    layer l = {0};
    size_t size, bytes;
    char *spec = slurp(argv[1], &size);
    const char *cache_dir = argv[2];
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    double start = now();
    must(tfgen_device_open("cuda", &l.device, &error), "device");
    tfgen_device_info info = {.size = sizeof info};
    tfgen_device_query(l.device, &info);
    printf("\n%s%s%s on %s, %s\n", argv[1], argc > 3 ? " " : "", argc > 3 ? argv[3] : "", info.name, info.label);
    printf("%-44s %8.1f ms\n", "device opened, with its context", 1e3 * (now() - start));
    options.target = tfgen_device_target(l.device);
    options.preset = argc > 3 ? argv[3] : NULL;
    start = now();
    must(tfgen_plan_create(spec, size, "spec.yaml", &options, &l.plan, &error), "plan");
    printf("%-44s %8.2f ms, %zu kernels\n", "plan", 1e3 * (now() - start), tfgen_plan_kernel_count(l.plan));
    build_module(&l, "", 2, "cold compile, 2 jobs, no cache");
    tfgen_module_free(l.module);
    build_module(&l, cache_dir, 0, "cold compile, a job a processor, into the cache");
    make_tensors(&l);
    must(tfgen_weights_create(l.module, l.tensors, NULL, &l.weights, &error), "weights");
    warm_start(&l, spec, size, &options, cache_dir);
    warm_start(&l, spec, size, &options, cache_dir);
    void *stream;
    must(l.device->api->stream_create(l.device, &stream, &error), "stream");
    free(take_outputs(&l, &bytes));
    must(execute(&l, stream, &error), "execute");
    must(tfgen_device_synchronize(l.device, stream, &error), "synchronize");
    unsigned char *wanted = take_outputs(&l, &bytes);
    must(execute(&l, stream, &error), "execute");
    must(tfgen_device_synchronize(l.device, stream, &error), "synchronize");
    int failed = same(&l, wanted, bytes, "a second call");
    overhead(&l, stream);
    free(take_outputs(&l, &bytes));
    failed += graph_replay(&l, stream, wanted, bytes);
    failed += eight_threads(&l, wanted, bytes);
    printf("%s\n", failed ? "FAILED" : "good");
    return failed != 0;
}
