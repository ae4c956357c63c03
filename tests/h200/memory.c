/* In: a spec, a preset (or -), dims; or nothing, for what is free. Out: what a GPU's driver says was taken by each kind of memory that
 * `tfgen fit` counts, as JSON, and whether a run in it is right: weights are zeros and an identity, values of a cache are other numbers in
 * every sequence, head and half, and outputs have to be their means. Exit code 6 where memory is short, as tfgen's; 1 where a number is
 * wrong. Run by memory.py. */
#define _GNU_SOURCE
#include "runtime/module/module.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_tensors_here = 64, most_dims = 8, granule = 2 << 20 };

static tfgen_error error;
static tfgen_device *device;
static tfgen_plan *planned;
static void *tensors[most_tensors_here];
static tfgen_tensor of[most_tensors_here];
static size_t count;
static long long allocations;

static void must(tfgen_status status, const char *what)
{
    if (status == TFGEN_OK) return;
    printf("\"failed\": \"%s\", \"status\": %d}\n", what, status);
    fprintf(stderr, "%s: %s\n", what, error.text);
    exit((int)status);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Calls of the driver itself, which need a current context; tfgen then uses the same one. */
static void *driver_call(const char *name)
{
    void *found = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
    if (!found) must(TFGEN_DEVICE_ERROR, name);
    return found;
}

static void make_current(void)
{
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *);
    void *found[] = {driver_call("cuInit"), driver_call("cuDevicePrimaryCtxRetain"), driver_call("cuCtxSetCurrent")}, *context;
    memcpy(&init, &found[0], sizeof init), memcpy(&retain, &found[1], sizeof retain), memcpy(&set, &found[2], sizeof set);
    if (init(0) || retain(&context, 0) || set(context)) must(TFGEN_DEVICE_ERROR, "the primary context");
}

static long long free_bytes(void)
{
    int (*info)(size_t *, size_t *);
    void *found = driver_call("cuMemGetInfo_v2");
    size_t left = 0, all;
    memcpy(&info, &found, sizeof info);
    must(tfgen_device_synchronize(device, NULL, &error), "synchronize");
    if (info(&left, &all)) must(TFGEN_DEVICE_ERROR, "cuMemGetInfo");
    return (long long)left;
}

/* Prints the memory that the step before took, as JSON. */
static void took(const char *what)
{
    static long long last;
    const long long left = free_bytes();
    if (last) printf("\"%s\": %lld, ", what, last - left);
    last = left;
}

static void allocate(int i)
{
    must(tfgen_device_alloc(device, (size_t)of[i].bytes, &tensors[i], &error), of[i].name);
    allocations++;
}

static void allocate_kind(tfgen_tensor_kind kind)
{
    for (size_t i = 0; i < count; i++)
        if (of[i].kind == kind) allocate((int)i);
}

static void fill(void *to, unsigned byte, long long bytes)
{
    must(device->api->fill(device, to, (unsigned char)byte, (size_t)bytes, NULL, &error), "fill");
}

static int find(const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(of[i].name, name) == 0) return (int)i;
    return -1;
}

static char *at(int i, long long bytes) { return (char *)tensors[i] + bytes; }

/* ---- numbers: every bfloat16 consists of two equal bytes */
static float from_bf16(unsigned bits)
{
    const unsigned whole = bits << 16;
    float x;
    memcpy(&x, &whole, 4);
    return x;
}

static double of_byte(unsigned byte) { return (double)from_bf16(byte << 8 | byte); }
static unsigned value_byte(long long batch, long long head, int half) { return 0x38 + (unsigned)((3 * batch + head + 2 * half) % 7); }
static unsigned input_byte(long long batch, long long token) /* its sign depends on the sequence */
{
    return 0x3e + (unsigned)(token / 64 % 3) + (0x35u >> (batch % 7) & 1 ? 0x80 : 0);
}

static void set_identity(const char *name)
{
    const int i = find(name);
    const long long rows = of[i].shape[0], columns = of[i].shape[1];
    unsigned short *data = calloc((size_t)(rows * columns), 2);
    if (!data) must(TFGEN_DEVICE_ERROR, "host memory");
    for (long long k = 0; k < rows && k < columns; k++) data[k * columns + k] = 0x3f80;
    must(tfgen_device_copy(device, tensors[i], data, (size_t)of[i].bytes, TFGEN_TO_DEVICE, NULL, &error), "copy");
    must(tfgen_device_synchronize(device, NULL, &error), "synchronize");
    free(data);
}

/* A row of zeros, so queries and keys are zeros: attention is the mean of the values that are in the cache. */
static void set_cache(void)
{
    const int values = find("v_cache"), pos = find("pos");
    const long long batches = of[values].shape[0], heads = of[values].shape[1], rows = of[values].shape[2], row = of[values].shape[3] * 2;
    fill(tensors[find("k_cache")], 0, of[find("k_cache")].bytes);
    for (long long n = 0; n < batches * heads; n++) {
        const long long near = rows / 2;
        fill(at(values, n * rows * row), value_byte(n / heads, n % heads, 0), near * row);
        fill(at(values, (n * rows + near) * row), value_byte(n / heads, n % heads, 1), (rows - near) * row);
    }
    int *last = malloc((size_t)batches * sizeof *last);
    for (long long b = 0; b < batches; b++) last[b] = (int)(rows - 1);
    must(tfgen_device_copy(device, tensors[pos], last, (size_t)of[pos].bytes, TFGEN_TO_DEVICE, NULL, &error), "copy");
    must(tfgen_device_synchronize(device, NULL, &error), "synchronize");
    free(last);
    fill(tensors[find("x")], 0, of[find("x")].bytes);
}

static void set_inputs(void)
{
    const int x = find("x");
    const long long batches = of[x].shape[0], tokens = of[x].shape[1], row = of[x].shape[2] * 2;
    for (long long b = 0; b < batches; b++)
        for (long long t = 0; t < tokens; t += 64)
            fill(at(x, (b * tokens + t) * row), input_byte(b, t), row * (tokens - t < 64 ? tokens - t : 64));
}

/* ---- expected results */
/* Products of 16 keys at a time are added in float32, where matrix units truncate the sums. */
static double tolerance(void)
{
    const int values = find("v_cache");
    return 0x1p-7 + (values < 0 ? 0 : (double)of[values].shape[2] / 16 * 0x1p-23); /* two roundings are one unit of bfloat16 */
}

static double mean_of_cache(const tfgen_tensor *v, long long batch, long long head)
{
    const long long rows = v->shape[2], near = rows / 2;
    return ((double)near * of_byte(value_byte(batch, head, 0)) + (double)(rows - 1 - near) * of_byte(value_byte(batch, head, 1))) /
           (double)rows;
}

/* The expected element of y in this row and head. A block: computed from the sign of x, since a norm of equal numbers keeps only their
 * sign. Else: softmax. */
static double wanted(const tfgen_tensor *y, long long row, long long place, int values, bool block)
{
    const long long batch = row / y->shape[1];
    if (values >= 0) return mean_of_cache(&of[values], batch, place / (y->shape[2] / of[values].shape[1]));
    const double x = of_byte(input_byte(batch, row % y->shape[1]));
    return block ? x + (x < 0 ? -1 : 1) : 1.0 / (double)y->shape[2];
}

/* At most 256 rows, from the first to the last. */
static long long wrong_numbers(void)
{
    const tfgen_tensor *y = &of[count - 1];
    const long long rows = y->shape[0] * y->shape[1], width = y->shape[2], looks = rows < 256 ? rows : 256;
    const int values = find("v_cache");
    const bool block = find("wo") >= 0;
    const double most = tolerance();
    unsigned short *part = malloc((size_t)width * 2);
    long long wrong = 0;
    for (long long i = 0; i < looks; i++) {
        const long long row = looks > 1 ? (rows - 1) * i / (looks - 1) : 0;
        const char *from = at((int)count - 1, row * width * 2);
        must(tfgen_device_copy(device, part, from, (size_t)(width * 2), TFGEN_FROM_DEVICE, NULL, &error), "copy");
        for (long long k = 0; k < width; k++) {
            const double want = wanted(y, row, k, values, block), got = (double)from_bf16(part[k]);
            if (fabs(got - want) <= fabs(want) * most) continue;
            if (!wrong++) fprintf(stderr, "row %lld, element %lld is %g, should be %g\n", row, k, got, want);
        }
    }
    free(part);
    return wrong;
}

static void read_plan(int argc, char **argv)
{
    static char text[1 << 16];
    tfgen_dim dims[most_dims];
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    FILE *f = fopen(argv[1], "rb");
    if (!f) exit(2);
    const size_t size = fread(text, 1, sizeof text, f);
    fclose(f);
    options.target = tfgen_device_target(device);
    if (strcmp(argv[2], "-") != 0) options.preset = argv[2];
    for (int i = 3; i < argc && i - 3 < most_dims; i++) {
        char *value = strchr(argv[i], '=');
        if (!value) exit(2);
        *value++ = 0;
        dims[options.dim_count++] = (tfgen_dim){argv[i], atoll(value)};
    }
    options.dims = dims;
    must(tfgen_plan_create(text, size, argv[1], &options, &planned, &error), "plan");
    count = tfgen_plan_tensor_count(planned);
    if (count > most_tensors_here) exit(2);
    for (size_t i = 0; i < count; i++) {
        of[i].size = sizeof of[i];
        must(tfgen_plan_tensor(planned, i, &of[i]), "tensor");
    }
}

static void pack(tfgen_module *module, tfgen_weights **weights)
{
    allocate_kind(TFGEN_PARAM);
    for (size_t i = 0; i < count; i++)
        if (of[i].kind == TFGEN_PARAM) fill(tensors[i], 0, of[i].bytes);
    if (find("attn_norm") >= 0) {
        const int norm = find("attn_norm");
        unsigned short *ones = malloc((size_t)of[norm].bytes);
        for (long long i = 0; i < of[norm].bytes / 2; i++) ones[i] = 0x3f80;
        must(tfgen_device_copy(device, tensors[norm], ones, (size_t)of[norm].bytes, TFGEN_TO_DEVICE, NULL, &error), "copy");
        must(tfgen_device_synchronize(device, NULL, &error), "synchronize");
        free(ones);
    }
    if (find("wo") >= 0) set_identity("wo"), set_identity("wv");
    if (find("w_proj") >= 0) set_identity("w_proj");
    took("originals");
    must(tfgen_weights_create(module, tensors, NULL, weights, &error), "weights");
    took("weights");
    for (size_t i = 0; i < count; i++)
        if (of[i].kind == TFGEN_PARAM) tfgen_device_free(device, tensors[i]), tensors[i] = NULL, allocations--;
    took("originals_freed");
}

int main(int argc, char **argv)
{
    tfgen_module *module;
    tfgen_weights *weights;
    void *workspace = NULL;
    printf("{");
    make_current();
    must(tfgen_device_open("cuda", &device, &error), "device");
    tfgen_device_info info = {.size = sizeof info};
    tfgen_device_query(device, &info);
    const long long opened = free_bytes();
    if (argc < 3) {
        printf("\"free\": %lld}\n", opened);
        return 0;
    }
    read_plan(argc, argv);
    took("");
    printf("\"device_bytes\": %lld, \"free\": %lld, ", (long long)info.memory_bytes, opened);
    must(tfgen_module_create(planned, device, NULL, &module, &error), "module");
    took("code");
    pack(module, &weights);
    allocate_kind(TFGEN_STATE);
    took("states");
    const size_t workspace_bytes = (size_t)tfgen_plan_workspace_bytes(planned);
    if (workspace_bytes) must(tfgen_device_alloc(device, workspace_bytes, &workspace, &error), "workspace"), allocations++;
    took("workspace");
    allocate_kind(TFGEN_INPUT), allocate_kind(TFGEN_OUTPUT);
    took("activations");
    if (find("v_cache") >= 0)
        set_cache();
    else
        set_inputs();
    fill(tensors[count - 1], 0xff, of[count - 1].bytes);
    const tfgen_args args = {.size = sizeof args, .tensors = tensors};
    const double began = free_bytes() ? now() : 0;
    must(tfgen_execute(module, weights, &args, workspace, NULL, &error), "execute");
    must(tfgen_device_synchronize(device, NULL, &error), "synchronize");
    const double seconds = now() - began;
    took("the_run");
    const long long wrong = wrong_numbers();
    printf("\"taken\": %lld, \"allocations\": %lld, \"granule\": %d, \"seconds\": %.4f, \"wrong\": %lld}\n", opened - free_bytes(),
           allocations, granule, seconds, wrong);
    return wrong ? 1 : 0;
}
