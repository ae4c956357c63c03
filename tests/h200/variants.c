/* In: a folder of specs, a folder for the kernel cache, a preset. Out, from this machine's GPU: whether prefill and decode run on one copy
 * of a layer's weights; whether a variant for a smaller batch gives the same bits as a module made for that batch, launched and replayed
 * from a graph; how long a call takes on the module for 64 sequences, on the variant and on that other module. Exit code 1 when bytes
 * differ or a call fails. Built and run by tests/h200/runtime.sh. */
#define _GNU_SOURCE
#include "runtime/module/variants.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_given = 32, replays = 200, most_batch = 64 };

static tfgen_error error;
static tfgen_device *device;
static int failed;

static void must(tfgen_status status, const char *what)
{
    if (status == TFGEN_OK) return;
    printf("FAILED %s: %d: %s\n", what, status, error.text);
    exit(1);
}

static void expect(bool good, const char *what, long long number)
{
    printf("%-60s %lld %s\n", what, number, good ? "good" : "FAILED");
    failed += !good;
}

typedef struct layer {
    tfgen_plan *plan;
    tfgen_module *module;
    void *tensors[most_given], *workspace;
    size_t bytes[most_given], count, room;
} layer;

static layer open_layer(const char *folder, const char *spec, const char *preset, const char *cache, const char *dim, int64_t value)
{
    static char text[1 << 16];
    char path[4096];
    layer l = {0};
    snprintf(path, sizeof path, "%s/%s", folder, spec);
    FILE *f = fopen(path, "r");
    if (!f) exit(2);
    const size_t size = fread(text, 1, sizeof text, f);
    fclose(f);
    const tfgen_dim dims = {dim, value};
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    tfgen_module_options how = TFGEN_MODULE_OPTIONS_INIT;
    options.target = tfgen_device_target(device), options.preset = preset, options.dims = &dims, options.dim_count = 1;
    how.cache_dir = cache;
    must(tfgen_plan_create(text, size, spec, &options, &l.plan, &error), "plan");
    must(tfgen_module_create(l.plan, device, &how, &l.module, &error), "module");
    l.count = tfgen_plan_tensor_count(l.plan);
    return l;
}

static tfgen_tensor tensor_at(const layer *l, size_t i)
{
    tfgen_tensor t = {.size = sizeof t};
    must(tfgen_plan_tensor(l->plan, i, &t), "tensor");
    return t;
}

/* bf16 in [-0.03, 0.03), from the tensor's name, so that all modules get the same params; positions: a nearly full cache. */
static void fill(const tfgen_tensor *t, void *memory)
{
    unsigned short *data = calloc(1, (size_t)t->bytes + 4);
    unsigned long long seed = 7;
    for (const char *c = t->name; *c; c++) seed = 31 * seed + (unsigned char)*c;
    for (int64_t i = 0; i < t->bytes / 2; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        const float x = ((float)(seed >> 40 & 0xffff) / 65536.0f - 0.5f) / 16.0f;
        unsigned bits;
        memcpy(&bits, &x, 4);
        data[i] = (unsigned short)(bits >> 16);
    }
    for (int64_t i = 0; i < t->bytes / 4 && strcmp(t->dtype, "i32") == 0; i++) ((int *)(void *)data)[i] = 100;
    must(tfgen_device_copy(device, memory, data, (size_t)t->bytes, TFGEN_TO_DEVICE, NULL, &error), "copy");
    must(tfgen_device_synchronize(device, NULL, &error), "synchronize");
    free(data);
}

/* Allocates tensors, except those that `from` (if not NULL) has under the same name and kind. */
static void make_tensors(layer *l, const layer *from, size_t room)
{
    for (size_t i = 0; i < l->count; i++) {
        const tfgen_tensor t = tensor_at(l, i);
        const size_t at = from ? tfgen_plan_tensor_index(from->plan, t.name, t.kind) : (size_t)-1;
        l->bytes[i] = (size_t)t.bytes;
        if (at != (size_t)-1 && from->bytes[at] >= l->bytes[i]) {
            l->tensors[i] = from->tensors[at];
            continue;
        }
        must(tfgen_device_alloc(device, l->bytes[i], &l->tensors[i], &error), "alloc");
        fill(&t, l->tensors[i]);
    }
    l->room = room;
    must(tfgen_device_alloc(device, room + 1, &l->workspace, &error), "alloc");
}

static void execute(const layer *l, const tfgen_weights *w, const tfgen_dim *dim, void *stream)
{
    const tfgen_args args = {.size = sizeof args, .tensors = l->tensors, .dims = dim, .dim_count = dim != NULL, .workspace_bytes = l->room};
    must(tfgen_execute(l->module, w, &args, l->workspace, stream, &error), "execute");
}

/* Copies the first `rows` of `all` rows of the output, and fills its memory with NaN again. */
static unsigned char *take(const layer *l, size_t rows, size_t all, size_t *bytes)
{
    size_t i = 0;
    while (tensor_at(l, i).kind != TFGEN_OUTPUT) i++;
    *bytes = l->bytes[i] / all * rows;
    unsigned char *out = malloc(*bytes);
    must(tfgen_device_copy(device, out, l->tensors[i], *bytes, TFGEN_FROM_DEVICE, NULL, &error), "copy");
    must(device->api->fill(device, l->tensors[i], 0xff, l->bytes[i], NULL, &error), "fill");
    must(tfgen_device_synchronize(device, NULL, &error), "synchronize");
    return out;
}

/* Returns the microseconds of one replay of the captured call. Checks that the outputs of 200 replays equal `wanted`. */
static double replayed(const layer *l, const tfgen_weights *w, const tfgen_dim *dim, const unsigned char *wanted, const char *what)
{
    const device_api *api = device->api;
    void *stream, *graph, *start, *end;
    double seconds;
    int different = 0;
    size_t bytes;
    must(api->stream_create(device, &stream, &error), "stream");
    must(api->graph_begin(device, stream, &error), "capture");
    execute(l, w, dim, stream);
    must(api->graph_end(device, stream, &graph, &error), "capture");
    for (int i = 0; i < replays; i++) {
        must(api->graph_launch(device, graph, stream, &error), "replay");
        must(tfgen_device_synchronize(device, stream, &error), "synchronize");
        unsigned char *got = take(l, (size_t)dim->value, most_batch, &bytes);
        different += memcmp(got, wanted, bytes) != 0;
        free(got);
    }
    expect(!different, what, different);
    must(api->event_create(device, &start, &error), "event");
    must(api->event_create(device, &end, &error), "event");
    must(api->event_record(device, start, stream, &error), "event");
    for (int i = 0; i < replays; i++) must(api->graph_launch(device, graph, stream, &error), "replay");
    must(api->event_record(device, end, stream, &error), "event");
    must(api->event_elapsed(device, start, end, &seconds, &error), "event");
    api->event_destroy(device, start), api->event_destroy(device, end);
    api->graph_destroy(device, graph);
    api->stream_destroy(device, stream);
    return 1e6 * seconds / replays;
}

static void batch(const char *folder, const char *preset, const char *cache, layer *general, tfgen_weights *w, int64_t b)
{
    const tfgen_dim dim = {"B", b};
    tfgen_module_options how = TFGEN_MODULE_OPTIONS_INIT;
    const int64_t before = tfgen_weights_bytes(w);
    size_t bytes;
    how.cache_dir = cache;
    printf("---- batch %lld\n", (long long)b);
    layer own = open_layer(folder, "llama-decode.yaml", preset, cache, "B", b);
    make_tensors(&own, general, (size_t)tfgen_plan_workspace_bytes(own.plan));
    memcpy(own.bytes, general->bytes, sizeof own.bytes); /* the tensors are the general plan's, whose batch is larger */
    must(tfgen_weights_add(w, own.module, own.tensors, NULL, &error), "weights of its module");
    expect(tfgen_weights_bytes(w) == before, "bytes of weights that a module of its own adds", tfgen_weights_bytes(w) - before);
    execute(general, w, &dim, NULL);
    unsigned char *slow = take(general, (size_t)b, most_batch, &bytes);
    const double general_us = replayed(general, w, &dim, slow, "replays of the general plan that differ");
    execute(&own, w, NULL, NULL);
    unsigned char *wanted = take(&own, (size_t)b, most_batch, &bytes);
    must(tfgen_module_prepare(general->module, &dim, 1, &how, &error), "prepare");
    general->room = (size_t)tfgen_module_workspace_bytes(general->module, NULL, 0);
    tfgen_device_free(device, general->workspace);
    must(tfgen_device_alloc(device, general->room + 1, &general->workspace, &error), "alloc");
    dim_table dims = general->module->plan->ir->dims;
    dim_find(&dims, "B")->value = b;
    expect(variant_pick(general->module, &dims, general->room) != general->module, "the variant runs", b);
    execute(general, w, &dim, NULL);
    unsigned char *got = take(general, (size_t)b, most_batch, &bytes);
    expect(memcmp(got, wanted, bytes) == 0, "bytes of the variant's call, equal to a module's of its own", (long long)bytes);
    const double variant_us = replayed(general, w, &dim, wanted, "replays of the variant that differ");
    const double own_us = replayed(&own, w, &dim, wanted, "replays of the module of its own that differ");
    printf("us a call (buffers stay in the cache): general plan %.1f, variant %.1f, module of its own %.1f\n", general_us, variant_us,
           own_us);
    free(slow), free(wanted), free(got);
    tfgen_device_free(device, own.workspace);
    tfgen_module_free(own.module);
    tfgen_plan_free(own.plan);
}

static void prefill(const char *folder, const char *preset, const char *cache, const layer *decode, tfgen_weights *w)
{
    layer l = open_layer(folder, "llama-block.yaml", preset, cache, "S", 512);
    tfgen_weights *alone;
    const int64_t before = tfgen_weights_bytes(w);
    size_t bytes;
    printf("---- prefill of 512 tokens\n");
    make_tensors(&l, decode, (size_t)tfgen_plan_workspace_bytes(l.plan));
    must(tfgen_weights_create(l.module, l.tensors, NULL, &alone, &error), "weights");
    must(tfgen_weights_add(w, l.module, l.tensors, NULL, &error), "weights of prefill");
    expect(tfgen_weights_bytes(w) == before, "bytes of weights that prefill adds", tfgen_weights_bytes(w) - before);
    expect(tfgen_weights_bytes(alone) == before, "bytes of the whole layer", before);
    execute(&l, alone, NULL, NULL);
    unsigned char *wanted = take(&l, 1, 1, &bytes);
    execute(&l, w, NULL, NULL);
    unsigned char *got = take(&l, 1, 1, &bytes);
    expect(memcmp(got, wanted, bytes) == 0, "bytes of prefill on decode's weights, equal to those on its own", (long long)bytes);
    free(wanted), free(got);
    tfgen_weights_free(alone);
    tfgen_module_free(l.module);
    tfgen_plan_free(l.plan);
}

int main(int argc, char **argv)
{
    static const int64_t batches[] = {1, 8, 24};
    tfgen_weights *w;
    if (argc < 4) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    must(tfgen_device_open("cuda", &device, &error), "device");
    layer general = open_layer(argv[1], "llama-decode.yaml", argv[3], argv[2], "B", most_batch);
    printf("%s on %s\n", argv[3], device->info.label);
    make_tensors(&general, NULL, (size_t)tfgen_plan_workspace_bytes(general.plan));
    must(tfgen_weights_create(general.module, general.tensors, NULL, &w, &error), "weights");
    prefill(argv[1], argv[3], argv[2], &general, w);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) batch(argv[1], argv[3], argv[2], &general, w, batches[i]);
    printf("%s\n", failed ? "FAILED" : "good");
    return failed != 0;
}
