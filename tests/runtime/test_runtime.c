/* Devices, modules, weights and tfgen_execute() as an application uses them, on the host engine: results against the spec's formulas in
 * double, many threads, other dims, wrong calls. */
#define _GNU_SOURCE
#include "runtime/api/tfgen.h"
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts signal handlers that any code of this process installs */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS 1
static atomic_int handlers;
int sigaction(int number, const struct sigaction *wanted, struct sigaction *old)
{
    int (*real)(int, const struct sigaction *, struct sigaction *);
    void *found = dlsym(RTLD_NEXT, "sigaction");
    memcpy(&real, &found, sizeof found);
    if (wanted) atomic_fetch_add(&handlers, 1);
    return real(number, wanted, old);
}
#endif

static const char ffn[] = "block: ffn\n"
                          "dtype: f32\n"
                          "dims: {M: 5, D: 24, F: 40}\n"
                          "dynamic: {M: [1, 9]}\n"
                          "inputs: {x: [M, D]}\n"
                          "params: {norm: [D], w: [F, D], b: [F], v: [D, F]}\n"
                          "ops:\n"
                          "  - {out: n, op: rmsnorm, in: [x, norm], eps: 1.0e-5}\n"
                          "  - {out: h, op: linear, in: [n, w, b]}\n"
                          "  - {out: g, op: gelu_tanh, in: [h]}\n"
                          "  - {out: u, op: linear, in: [g, v]}\n"
                          "  - {out: y, op: add, in: [u, x]}\n"
                          "outputs: {result: y}\n";
enum { most_tensors = 16, rows = 5, most_rows = 9, width = 24 };

typedef struct host_program {
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    void *tensors[most_tensors];
    size_t count, x, y;
    void *workspace;
} host_program;

static void must(tfgen_status status, const tfgen_error *error) { ck_assert_msg(status == TFGEN_OK, "%d: %s", status, error->text); }

static float number(size_t i) { return (float)((int)(i * 2654435761u >> 8 & 0xffff) - 32768) / 32768.0f; }

/* Allocates for most_rows, whatever the plan's own dims are. */
static void make_tensors(host_program *p, unsigned seed)
{
    tfgen_error error;
    p->count = tfgen_plan_tensor_count(p->plan);
    ck_assert_uint_le(p->count, most_tensors);
    for (size_t i = 0; i < p->count; i++) {
        tfgen_tensor t = {.size = sizeof t};
        ck_assert_int_eq(tfgen_plan_tensor(p->plan, i, &t), TFGEN_OK);
        const size_t numbers = (size_t)t.bytes / 4 + (t.kind == TFGEN_PARAM ? 0 : (most_rows - rows) * width);
        must(tfgen_device_alloc(p->device, numbers * 4, &p->tensors[i], &error), &error);
        for (size_t k = 0; k < numbers; k++) ((float *)p->tensors[i])[k] = number(k + 1000 * i + seed);
    }
    p->x = tfgen_plan_tensor_index(p->plan, "x", TFGEN_INPUT);
    p->y = tfgen_plan_tensor_index(p->plan, "result", TFGEN_OUTPUT);
}

static host_program start(tfgen_fusion fusion)
{
    host_program p = {0};
    tfgen_error error;
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    must(tfgen_device_open("host", &p.device, &error), &error);
    options.target = tfgen_device_target(p.device);
    options.fusion = fusion;
    must(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", &options, &p.plan, &error), &error);
    must(tfgen_module_create(p.plan, p.device, NULL, &p.module, &error), &error);
    make_tensors(&p, 1);
    must(tfgen_weights_create(p.module, p.tensors, NULL, &p.weights, &error), &error);
    const tfgen_dim most = {"M", most_rows};
    must(tfgen_device_alloc(p.device, (size_t)tfgen_workspace_bytes(p.plan, &most, 1), &p.workspace, &error), &error);
    return p;
}

static void stop(host_program *p)
{
    for (size_t i = 0; i < p->count; i++) tfgen_device_free(p->device, p->tensors[i]);
    tfgen_device_free(p->device, p->workspace);
    tfgen_weights_free(p->weights);
    tfgen_module_free(p->module);
    tfgen_plan_free(p->plan);
    tfgen_device_close(p->device);
}

static tfgen_status execute(const host_program *p, const tfgen_dim *dims, size_t count, tfgen_error *error)
{
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = p->tensors, args.dims = dims, args.dim_count = count;
    return tfgen_execute(p->module, p->weights, &args, p->workspace, NULL, error);
}

/* An element of the result, computed in double by the formulas of the spec. *bound: how far float32 may be off; a sum of K terms t by
 * 2 sqrt(K) u sum |t|, with u = 2^-24 (ir/reference/ref.h). */
static double expected(const host_program *p, const float *x, size_t row, size_t column, double *bound)
{
    const double unit = 0x1p-24;
    const float *norm = p->tensors[tfgen_plan_tensor_index(p->plan, "norm", TFGEN_PARAM)];
    const float *w = p->tensors[tfgen_plan_tensor_index(p->plan, "w", TFGEN_PARAM)],
                *b = p->tensors[tfgen_plan_tensor_index(p->plan, "b", TFGEN_PARAM)];
    const float *v = p->tensors[tfgen_plan_tensor_index(p->plan, "v", TFGEN_PARAM)];
    double squares = 1e-5, sum = x[row * width + column], size = __builtin_fabs(sum);
    *bound = 0;
    for (size_t k = 0; k < width; k++) squares += (double)x[row * width + k] * x[row * width + k] / width;
    for (size_t f = 0; f < 40; f++) {
        double h = b[f], terms = __builtin_fabs(h);
        for (size_t k = 0; k < width; k++) {
            const double term = x[row * width + k] / __builtin_sqrt(squares) * norm[k] * w[f * width + k];
            h += term, terms += __builtin_fabs(term);
        }
        const double g = 0.5 * h * (1 + __builtin_tanh(0.7978845608028654 * (h + 0.044715 * h * h * h))) * v[column * 40 + f];
        /* The error of h is that of its own sum, half that of the sum of squares (a root halves it), and 6 u for the root and the products.
         * gelu multiplies it by at most 1.13, its largest slope, and adds 2 u h. */
        const double off = (2 * __builtin_sqrt(width + 1) + __builtin_sqrt(width) + 6) * unit * terms;
        *bound += (1.13 * off + 2 * unit * __builtin_fabs(h)) * __builtin_fabs(v[column * 40 + f]);
        sum += g, size += __builtin_fabs(g);
    }
    *bound += 2 * __builtin_sqrt(41) * unit * size;
    return sum;
}

static void judge(const host_program *p, size_t count)
{
    const float *x = p->tensors[p->x], *y = p->tensors[p->y];
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < width; k++) {
            double bound;
            const double wanted = expected(p, x, i, k, &bound);
            ck_assert_msg(__builtin_fabs(y[i * width + k] - wanted) <= bound, "[%zu][%zu] is %g, not %g", i, k, y[i * width + k],
                          wanted);
        }
}

START_TEST(a_plan_runs_on_the_host_at_every_level)
{
    for (int level = TFGEN_FUSION_NONE; level <= TFGEN_FUSION_TILE; level++) {
        host_program p = start((tfgen_fusion)level);
        tfgen_error error;
        must(execute(&p, NULL, 0, &error), &error);
        judge(&p, rows);
        stop(&p);
    }
}
END_TEST

START_TEST(dynamic_dims_differ_from_call_to_call)
{
    host_program p = start(TFGEN_FUSION_TILE);
    tfgen_error error;
    for (int64_t m = 1; m <= most_rows; m += 4) {
        memset(p.tensors[p.y], 0xff, most_rows * width * 4);
        const tfgen_dim dims = {"M", m};
        must(execute(&p, &dims, 1, &error), &error);
        judge(&p, (size_t)m);
        for (size_t i = (size_t)m * width; i < most_rows * width; i++)
            ck_assert(((float *)p.tensors[p.y])[i] != ((float *)p.tensors[p.y])[i]);
    }
    stop(&p);
}
END_TEST

START_TEST(dims_out_of_range_launch_nothing)
{
    host_program p = start(TFGEN_FUSION_TILE);
    const tfgen_dim wrong[] = {{"M", 0}, {"M", 10}, {"M", -1}, {"M", INT64_MAX}, {"M", INT64_MIN}, {"D", 25}, {"Q", 1}, {NULL, 1}, {"", 1}};
    tfgen_error error;
    memset(p.tensors[p.y], 0xff, rows * width * 4);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        error.text[0] = '\0';
        ck_assert_int_eq(execute(&p, &wrong[i], 1, &error), TFGEN_USAGE);
        ck_assert_msg(strstr(error.text, "dim"), "%s", error.text);
        ck_assert_int_eq(tfgen_workspace_bytes(p.plan, &wrong[i], 1), -1);
    }
    for (size_t i = 0; i < rows * width; i++) ck_assert(((float *)p.tensors[p.y])[i] != ((float *)p.tensors[p.y])[i]);
    const tfgen_dim same[] = {{"D", 24}, {"M", 9}};
    must(execute(&p, same, 2, &error), &error);
    ck_assert_int_ge(tfgen_workspace_bytes(p.plan, same, 2), tfgen_plan_workspace_bytes(p.plan));
    stop(&p);
}
END_TEST

/* The original weights are freed after tfgen_weights_create(), and each layer has its own weights. */
START_TEST(layers_share_a_module_and_original_weights_may_be_freed)
{
    enum { layers = 3 };
    host_program p = start(TFGEN_FUSION_TILE);
    tfgen_weights *weights[layers];
    double *wanted[layers], *bounds[layers];
    tfgen_error error;
    const size_t bytes = rows * width * 4;
    for (unsigned layer = 0; layer < layers; layer++) {
        for (size_t i = 0; i < p.count; i++) tfgen_device_free(p.device, p.tensors[i]);
        make_tensors(&p, 77 * layer);
        memset(p.tensors[p.x], 0, bytes);
        for (size_t k = 0; k < rows * width; k++) ((float *)p.tensors[p.x])[k] = number(k);
        must(tfgen_weights_create(p.module, p.tensors, NULL, &weights[layer], &error), &error);
        wanted[layer] = malloc(rows * width * sizeof(double));
        bounds[layer] = malloc(rows * width * sizeof(double));
        for (size_t k = 0; k < rows * width; k++) wanted[layer][k] = expected(&p, p.tensors[p.x], k / width, k % width, &bounds[layer][k]);
    }
    for (size_t i = 0; i < p.count; i++) {
        tfgen_tensor t = {.size = sizeof t};
        tfgen_plan_tensor(p.plan, i, &t);
        if (t.kind != TFGEN_PARAM) continue;
        memset(p.tensors[i], 0xff, (size_t)t.bytes);
        tfgen_device_free(p.device, p.tensors[i]);
        p.tensors[i] = NULL;
    }
    ck_assert_int_gt(tfgen_weights_bytes(weights[0]), 0);
    for (unsigned layer = 0; layer < layers; layer++) {
        tfgen_weights *one = p.weights;
        p.weights = weights[layer];
        must(execute(&p, NULL, 0, &error), &error);
        for (size_t k = 0; k < rows * width; k++)
            ck_assert(__builtin_fabs(((float *)p.tensors[p.y])[k] - wanted[layer][k]) <= bounds[layer][k]);
        p.weights = one;
        tfgen_weights_free(weights[layer]);
        free(wanted[layer]);
        free(bounds[layer]);
    }
    stop(&p);
}
END_TEST

START_TEST(a_param_of_dynamic_shape_is_read_by_every_call)
{
    static const char spec[] = "block: shifted\ndtype: f32\ndims: {M: 2, D: 16}\ndynamic: {M: [1, 300]}\ninputs: {x: [M, D]}\n"
                               "params: {shift: [M, D], scale: [D]}\nops:\n  - {out: t, op: mul, in: [x, scale]}\n"
                               "  - {out: y, op: add, in: [t, shift]}\noutputs: {y: y}\n";
    enum { columns = 16, most = 300 };
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    tfgen_error error;
    void *tensors[4];
    must(tfgen_device_open("host", &device, &error), &error);
    must(tfgen_plan_create(spec, sizeof spec - 1, "shifted.yaml", NULL, &plan, &error), &error);
    must(tfgen_module_create(plan, device, NULL, &module, &error), &error);
    ck_assert_uint_eq(tfgen_plan_tensor_count(plan), 4);
    for (int i = 0; i < 4; i++) {
        must(tfgen_device_alloc(device, most * columns * 4, &tensors[i], &error), &error);
        for (size_t k = 0; k < most * columns; k++) ((float *)tensors[i])[k] = number(k + 5000u * (unsigned)i);
    }
    const size_t shift = tfgen_plan_tensor_index(plan, "shift", TFGEN_PARAM), scale = tfgen_plan_tensor_index(plan, "scale", TFGEN_PARAM);
    must(tfgen_weights_create(module, tensors, NULL, &weights, &error), &error);
    ck_assert_int_eq(tfgen_weights_bytes(weights), columns * 4);
    const tfgen_dim dims = {"M", most};
    tfgen_args args = {.size = sizeof args, .tensors = tensors, .dims = &dims, .dim_count = 1};
    void *kept = tensors[scale];
    tensors[scale] = NULL;
    must(tfgen_execute(module, weights, &args, NULL, NULL, &error), &error);
    const float *x = tensors[tfgen_plan_tensor_index(plan, "x", TFGEN_INPUT)],
                *y = tensors[tfgen_plan_tensor_index(plan, "y", TFGEN_OUTPUT)];
    for (size_t k = 0; k < most * columns; k++)
        ck_assert(__builtin_fabsf(y[k] - (x[k] * ((float *)kept)[k % columns] + ((float *)tensors[shift])[k])) < 1e-6f);
    tensors[scale] = kept;
    for (int i = 0; i < 4; i++) tfgen_device_free(device, tensors[i]);
    tfgen_weights_free(weights);
    tfgen_module_free(module);
    tfgen_plan_free(plan);
    tfgen_device_close(device);
}
END_TEST

typedef struct caller {
    host_program p;
    int rounds;
    bool same;
    const float *wanted;
} caller;

static void *call_often(void *argument)
{
    caller *c = argument;
    tfgen_error error;
    c->same = true;
    for (int i = 0; i < c->rounds; i++) {
        memset(c->p.tensors[c->p.y], 0xff, rows * width * 4);
        c->same = c->same && execute(&c->p, NULL, 0, &error) == TFGEN_OK && memcmp(c->p.tensors[c->p.y], c->wanted, rows * width * 4) == 0;
    }
    return NULL;
}

START_TEST(eight_threads_execute_one_plan)
{
    enum { threads = 8 };
    host_program p = start(TFGEN_FUSION_TILE);
    pthread_t thread[threads];
    caller callers[threads];
    tfgen_error error;
    must(execute(&p, NULL, 0, &error), &error);
    for (int i = 0; i < threads; i++) {
        callers[i] = (caller){.p = p, .rounds = 20, .wanted = p.tensors[p.y]};
        must(tfgen_device_alloc(p.device, (size_t)tfgen_plan_workspace_bytes(p.plan) + 1, &callers[i].p.workspace, &error), &error);
        must(tfgen_device_alloc(p.device, rows * width * 4, &callers[i].p.tensors[p.y], &error), &error);
    }
    for (int i = 0; i < threads; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, call_often, &callers[i]), 0);
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        ck_assert_msg(callers[i].same, "thread %d", i);
        tfgen_device_free(p.device, callers[i].p.workspace);
        tfgen_device_free(p.device, callers[i].p.tensors[p.y]);
    }
    stop(&p);
}
END_TEST

START_TEST(a_call_installs_no_signal_handler)
{
#ifdef COUNTS
    host_program p = start(TFGEN_FUSION_TILE);
    tfgen_error error;
    const int before = atomic_load(&handlers);
    must(execute(&p, NULL, 0, &error), &error);
    ck_assert_int_eq(atomic_load(&handlers), before);
    struct sigaction now;
    sigaction(SIGUSR2, NULL, &now);
    sigaction(SIGUSR2, &now, NULL);
    ck_assert_int_eq(atomic_load(&handlers), before + 1); /* tests the counter itself */
    stop(&p);
#endif
}
END_TEST

START_TEST(missing_and_misaligned_pointers_are_refused)
{
    host_program p = start(TFGEN_FUSION_TILE);
    tfgen_error error;
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = p.tensors;
    void *kept = p.tensors[p.x];
    ck_assert_int_eq(tfgen_execute(NULL, p.weights, &args, p.workspace, NULL, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_execute(p.module, NULL, &args, p.workspace, NULL, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_execute(p.module, p.weights, NULL, p.workspace, NULL, NULL), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_execute(p.module, p.weights, &args, NULL, NULL, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_execute(p.module, p.weights, &args, (char *)p.workspace + 16, NULL, &error), TFGEN_USAGE);
    p.tensors[p.x] = (char *)kept + 4;
    ck_assert_int_eq(execute(&p, NULL, 0, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "tensor x "), "%s", error.text);
    p.tensors[p.x] = NULL;
    ck_assert_int_eq(execute(&p, NULL, 0, &error), TFGEN_USAGE);
    p.tensors[p.x] = kept;
    kept = p.tensors[p.y];
    p.tensors[p.y] = NULL;
    ck_assert_int_eq(execute(&p, NULL, 0, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "tensor result "), "%s", error.text);
    p.tensors[p.y] = kept;
    args.size = 1;
    ck_assert_int_eq(tfgen_execute(p.module, p.weights, &args, p.workspace, NULL, &error), TFGEN_USAGE);
    must(execute(&p, NULL, 0, &error), &error);
    stop(&p);
}
END_TEST

START_TEST(weights_need_every_param)
{
    host_program p = start(TFGEN_FUSION_OPS);
    tfgen_error error;
    for (size_t i = 0; i < p.count; i++) {
        tfgen_tensor t = {.size = sizeof t};
        tfgen_weights *w = (tfgen_weights *)1;
        tfgen_plan_tensor(p.plan, i, &t);
        void *kept = p.tensors[i];
        p.tensors[i] = NULL;
        const tfgen_status status = tfgen_weights_create(p.module, p.tensors, NULL, &w, &error);
        ck_assert_int_eq(status, t.kind == TFGEN_PARAM ? TFGEN_USAGE : TFGEN_OK);
        ck_assert((w == NULL) == (t.kind == TFGEN_PARAM));
        tfgen_weights_free(w);
        p.tensors[i] = kept;
    }
    ck_assert_int_eq(tfgen_weights_create(NULL, p.tensors, NULL, &p.weights, &error), TFGEN_USAGE);
    stop(&p);
}
END_TEST

START_TEST(weights_of_another_module_are_refused)
{
    host_program p = start(TFGEN_FUSION_TILE), q = start(TFGEN_FUSION_NONE);
    tfgen_weights *own = p.weights;
    tfgen_error error;
    p.weights = q.weights;
    ck_assert_int_eq(execute(&p, NULL, 0, &error), TFGEN_USAGE);
    p.weights = own;
    stop(&p);
    stop(&q);
}
END_TEST

START_TEST(a_module_refuses_a_plan_for_another_target)
{
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module = (tfgen_module *)1;
    tfgen_error error;
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    options.target = "gfx942";
    must(tfgen_device_open("host", &device, &error), &error);
    must(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", &options, &plan, &error), &error);
    ck_assert_int_eq(tfgen_module_create(plan, device, NULL, &module, &error), TFGEN_UNSUPPORTED);
    ck_assert_ptr_null(module);
    ck_assert_msg(strstr(error.text, "gfx942") && strstr(error.text, "host"), "%s", error.text);
    ck_assert_int_eq(tfgen_module_create(NULL, device, NULL, &module, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_module_create(plan, NULL, NULL, &module, &error), TFGEN_USAGE);
    tfgen_plan_free(plan);
    tfgen_device_close(device);
}
END_TEST

START_TEST(a_wrong_spec_of_a_device_is_refused)
{
    const char *const wrong[] = {"", "gpu", "host:", "host:x", "host:1", "host:-1", "host:99999999999999999999", "host:0x", ":0"};
    tfgen_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tfgen_device *device = (tfgen_device *)1;
        ck_assert_msg(tfgen_device_open(wrong[i], &device, &error) == TFGEN_USAGE, "%s", wrong[i]);
        ck_assert_ptr_null(device);
    }
    ck_assert_int_eq(tfgen_device_open("host", NULL, &error), TFGEN_USAGE);
    tfgen_device_close(NULL);
}
END_TEST

START_TEST(the_host_is_the_last_of_the_list)
{
    tfgen_device_info list[8] = {{.size = sizeof *list}};
    const size_t count = tfgen_device_list(list, 8);
    ck_assert_uint_ge(count, 1);
    ck_assert_str_eq(list[count - 1].name, "host");
    ck_assert_str_eq(list[count - 1].target, "host");
    ck_assert_int_ge(list[count - 1].multiprocessors, 1);
    ck_assert_uint_eq(tfgen_device_list(NULL, 0), count);
}
END_TEST

typedef struct seen {
    size_t calls, last, total;
} seen;

static void count_progress(void *context, const tfgen_progress *p)
{
    seen *s = context;
    s->calls++;
    s->last = p->done, s->total = p->total;
    ck_assert_ptr_nonnull(p->kernel);
}

START_TEST(progress_reports_every_kernel)
{
    host_program p = start(TFGEN_FUSION_TILE);
    tfgen_module *module;
    tfgen_error error;
    seen s = {0};
    tfgen_module_options options = TFGEN_MODULE_OPTIONS_INIT;
    options.progress = count_progress, options.context = &s, options.jobs = 3;
    must(tfgen_module_create(p.plan, p.device, &options, &module, &error), &error);
    ck_assert_uint_eq(s.calls, s.total);
    ck_assert_uint_eq(s.last, s.total);
    ck_assert_uint_gt(s.total, tfgen_plan_kernel_count(p.plan)); /* and the pack kernels */
    tfgen_module_free(module);
    stop(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runtime");
    TCase *c = tcase_create("host");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, a_plan_runs_on_the_host_at_every_level);
    tcase_add_test(c, dynamic_dims_differ_from_call_to_call);
    tcase_add_test(c, dims_out_of_range_launch_nothing);
    tcase_add_test(c, layers_share_a_module_and_original_weights_may_be_freed);
    tcase_add_test(c, a_param_of_dynamic_shape_is_read_by_every_call);
    tcase_add_test(c, eight_threads_execute_one_plan);
    tcase_add_test(c, a_call_installs_no_signal_handler);
    tcase_add_test(c, missing_and_misaligned_pointers_are_refused);
    tcase_add_test(c, weights_need_every_param);
    tcase_add_test(c, weights_of_another_module_are_refused);
    tcase_add_test(c, a_module_refuses_a_plan_for_another_target);
    tcase_add_test(c, a_wrong_spec_of_a_device_is_refused);
    tcase_add_test(c, the_host_is_the_last_of_the_list);
    tcase_add_test(c, progress_reports_every_kernel);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
