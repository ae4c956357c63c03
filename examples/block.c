/* Computes one fused SwiGLU layer on buffers that this program allocates; the spec is a string.
 *
 *   cc block.c -ltfgen -lm && ./a.out [device]        device: hip:0, cuda:0, host; default: the first GPU, else the host
 *
 * Everything a program needs is here: plan, module, weights, workspace, execute. If a framework
 * already manages device memory and streams, pass its pointers; the tfgen_device_ functions are for programs without one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfgen.h>

static const char spec[] = "block: swiglu\n"
                           "dtype: f32\n"
                           "dims: {M: 5, D: 48, F: 131}\n"
                           "dynamic: {M: [1, 4096]}\n"
                           "inputs: {x: [M, D]}\n"
                           "params: {w_gate: [F, D], w_up: [F, D], w_down: [D, F]}\n"
                           "ops:\n"
                           "  - {out: gate, op: linear, in: [x, w_gate]}\n"
                           "  - {out: up,   op: linear, in: [x, w_up]}\n"
                           "  - {out: act,  op: silu,   in: [gate]}\n"
                           "  - {out: prod, op: mul,    in: [act, up]}\n"
                           "  - {out: down, op: linear, in: [prod, w_down]}\n"
                           "outputs: {y: down}\n";
enum { M = 5, D = 48, F = 131, most_tensors = 16 };

static tfgen_error error;

static void must(tfgen_status status)
{
    if (status == TFGEN_OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(status);
}

static float uniform(unsigned *state) /* in [-1, 1) */
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(int)*state / 2147483648.0f;
}

/* One element of the output, computed in double by plain loops. */
static double expected(const float *x, const float *gate, const float *up, const float *down, int row, int column)
{
    double sum = 0;
    for (int f = 0; f < F; f++) {
        double g = 0, u = 0;
        for (int d = 0; d < D; d++) {
            g += (double)x[row * D + d] * gate[f * D + d];
            u += (double)x[row * D + d] * up[f * D + d];
        }
        sum += g / (1 + exp(-g)) * u * down[column * F + f];
    }
    return sum;
}

static float *filled(size_t count, unsigned seed)
{
    float *data = malloc(count * sizeof *data);
    if (!data) exit(1);
    for (size_t i = 0; i < count; i++) data[i] = uniform(&seed);
    return data;
}

int main(int argc, char **argv)
{
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    must(tfgen_device_open(argc > 1 ? argv[1] : NULL, &device, &error));

    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    options.target = tfgen_device_target(device);
    must(tfgen_plan_create(spec, strlen(spec), "swiglu.yaml", &options, &plan, &error));
    must(tfgen_module_create(plan, device, NULL, &module, &error)); /* compiles the kernels, or finds them in the kernel cache */

    float *host[] = {filled(M * D, 1), filled(F * D, 2), filled(F * D, 3), filled(D * F, 4), filled(M * D, 5)};
    const char *const names[] = {"x", "w_gate", "w_up", "w_down", "y"};
    const tfgen_tensor_kind kinds[] = {TFGEN_INPUT, TFGEN_PARAM, TFGEN_PARAM, TFGEN_PARAM, TFGEN_OUTPUT};
    void *tensors[most_tensors] = {NULL};
    for (int i = 0; i < 5; i++) {
        tfgen_tensor t = {.size = sizeof t};
        const size_t index = tfgen_plan_tensor_index(plan, names[i], kinds[i]);
        must(tfgen_plan_tensor(plan, index, &t));
        must(tfgen_device_alloc(device, (size_t)t.bytes, &tensors[index], &error));
        must(tfgen_device_copy(device, tensors[index], host[i], (size_t)t.bytes, TFGEN_TO_DEVICE, NULL, &error));
    }
    must(tfgen_weights_create(module, tensors, NULL, &weights, &error));

    void *workspace;
    must(tfgen_device_alloc(device, (size_t)tfgen_plan_workspace_bytes(plan), &workspace, &error));
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = tensors;
    must(tfgen_execute(module, weights, &args, workspace, NULL, &error));

    void *y = tensors[tfgen_plan_tensor_index(plan, "y", TFGEN_OUTPUT)];
    must(tfgen_device_copy(device, host[4], y, M * D * sizeof(float), TFGEN_FROM_DEVICE, NULL, &error));
    double worst = 0;
    for (int i = 0; i < M * D; i++) worst = fmax(worst, fabs(host[4][i] - expected(host[0], host[1], host[2], host[3], i / D, i % D)));
    printf("%zu kernels on %s; largest difference from double precision %.2g\n", tfgen_plan_kernel_count(plan), tfgen_device_target(device),
           worst);

    tfgen_device_free(device, workspace);
    for (int i = 0; i < most_tensors; i++) tfgen_device_free(device, tensors[i]);
    for (int i = 0; i < 5; i++) free(host[i]);
    tfgen_weights_free(weights);
    tfgen_module_free(module);
    tfgen_plan_free(plan);
    tfgen_device_close(device);
    return worst < 1e-4 ? 0 : 1;
}
