/* A host program of the kind that `tfgen build` is for; tests/runtime/test_bundle.c compiles it as C99 and as C++17. It computes
 * relu(rmsnorm(x) w^T) on a device by a shape's code from the bundle, then in double, and prints the largest error.
 * usage: program DEVICE SHAPE [FLIP]: FLIP changes one bit of a copy of the bundle first. Exit code: the first status that is not ok. */
#include "built.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { tensor_room = 8 };

typedef struct tensors {
    void *memory[tensor_room];
    tfgen_tensor about[tensor_room];
    size_t count;
} tensors;

static tfgen_error error;

static void must(tfgen_status status)
{
    if (status == TFGEN_OK) return;
    printf("%s\n", error.text);
    exit((int)status);
}

static float number(size_t i) { return (float)((int)((uint32_t)i * 2654435761u >> 16) - 32768) / 32768.0f; }

static void make_tensors(const tfgen_plan *plan, tfgen_device *device, tensors *t)
{
    t->count = tfgen_plan_tensor_count(plan);
    for (size_t i = 0; i < t->count && i < tensor_room; i++) {
        t->about[i].size = sizeof t->about[i];
        must(tfgen_plan_tensor(plan, i, &t->about[i]));
        must(tfgen_device_alloc(device, (size_t)t->about[i].bytes, &t->memory[i], &error));
        float *host = (float *)malloc((size_t)t->about[i].bytes);
        for (size_t k = 0; k < (size_t)t->about[i].bytes / 4; k++) host[k] = number(k + 1000 * i);
        must(tfgen_device_copy(device, t->memory[i], host, (size_t)t->about[i].bytes, TFGEN_TO_DEVICE, NULL, &error));
        free(host);
    }
}

static double largest_error(const tfgen_plan *plan, const tensors *t, const float *y)
{
    const size_t x = tfgen_plan_tensor_index(plan, "x", TFGEN_INPUT), norm = tfgen_plan_tensor_index(plan, "norm", TFGEN_PARAM);
    const size_t w = tfgen_plan_tensor_index(plan, "w", TFGEN_PARAM);
    const size_t M = (size_t)t->about[x].shape[0], D = (size_t)t->about[x].shape[1], F = (size_t)t->about[w].shape[0];
    double worst = 0;
    for (size_t m = 0; m < M; m++) {
        double squares = 0;
        for (size_t d = 0; d < D; d++) squares += (double)number(m * D + d + 1000 * x) * number(m * D + d + 1000 * x);
        const double r = 1 / sqrt(squares / (double)D + 1e-5);
        for (size_t f = 0; f < F; f++) {
            double sum = 0;
            for (size_t d = 0; d < D; d++) sum += r * number(m * D + d + 1000 * x) * number(d + 1000 * norm) * number(f * D + d + 1000 * w);
            const double wrong = fabs(y[m * F + f] - (sum > 0 ? sum : 0));
            if (!(wrong <= worst)) worst = wrong;
        }
    }
    return worst;
}

static void flip(long bit, tfgen_module_options *options)
{
    unsigned char *copy = (unsigned char *)malloc((size_t)built_bundle_size);
    memcpy(copy, built_bundle, (size_t)built_bundle_size);
    copy[((uint64_t)bit / 8) % built_bundle_size] ^= (unsigned char)(1 << bit % 8);
    options->bundle = copy;
    options->bundle_size = (size_t)built_bundle_size;
    options->bundle_only = 1;
}

int main(int argc, char **argv)
{
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    tensors t;
    void *workspace = NULL;
    memset(&t, 0, sizeof t);
    must(tfgen_device_open(argc > 1 ? argv[1] : NULL, &device, &error));
    must(built_plan(device, argc > 2 ? (size_t)atoi(argv[2]) : 0, &plan, &error));
    tfgen_module_options options = TFGEN_MODULE_OPTIONS_INIT;
    if (argc > 3) flip(atol(argv[3]), &options);
    must(argc > 3 ? tfgen_module_create(plan, device, &options, &module, &error) : built_module(plan, device, &module, &error));
    make_tensors(plan, device, &t);
    must(tfgen_weights_create(module, t.memory, NULL, &weights, &error));
    if (tfgen_plan_workspace_bytes(plan)) must(tfgen_device_alloc(device, (size_t)tfgen_plan_workspace_bytes(plan), &workspace, &error));
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = t.memory;
    must(tfgen_execute(module, weights, &args, workspace, NULL, &error));
    const size_t out = tfgen_plan_tensor_index(plan, "y", TFGEN_OUTPUT);
    float *y = (float *)malloc((size_t)t.about[out].bytes);
    must(tfgen_device_copy(device, y, t.memory[out], (size_t)t.about[out].bytes, TFGEN_FROM_DEVICE, NULL, &error));
    const double worst = largest_error(plan, &t, y);
    int plans = 0;
    for (const char *at = tfgen_module_manifest(module); (at = strstr(at, "\"kernels\"")) != NULL; at++) plans++;
    printf("%s: %lld numbers, largest error %g, %d variants\n", tfgen_device_target(device), (long long)(t.about[out].bytes / 4), worst,
           plans - 1);
    return worst < 1e-4 ? 0 : 100;
}
