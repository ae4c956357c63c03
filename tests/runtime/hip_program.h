/* For tests: an application that runs a spec on a device through the public interface (tfgen.h) and compares its outputs with the float64
 * reference. It uses the doubles of HIPRTC and of the HIP runtime in doubles/ beside the test program. Wrong results fail the test; errors
 * are returned. */
#ifndef TFGEN_TESTS_HIP_PROGRAM_H
#define TFGEN_TESTS_HIP_PROGRAM_H
#include "runtime/compile/compiler.h"
#include "runtime/device/hip_abi.h"
#include "runtime/module/module.h"
#include "tests/reference/ref_harness.h"
#include "runtime/cli/ref_plan.h"
#include "tests/support.h"
#include <dlfcn.h>
#include <stdint.h>

enum { room_for_tensors = 64 };

/* ---- calls of the double itself, in the library that tfgen has loaded */
static inline void *double_call(const char *symbol)
{
    void *library = dlopen(getenv("TFGEN_LIBHIP"), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    ck_assert_msg(library != NULL, "%s", dlerror());
    void *found = dlsym(library, symbol);
    ck_assert_msg(found != NULL, "the double has no %s", symbol);
    dlclose(library);
    return found;
}
#define DOUBLE(type, symbol) ((type)(uintptr_t)double_call(symbol))

static inline void plan_fault(const char *text) { DOUBLE(void (*)(const char *), "hip_double_fault")(text); }
static const char *violations(void) { return DOUBLE(const char *(*)(void), "hip_double_violations")(); }
static inline int live(void) { return DOUBLE(int (*)(void), "hip_double_live")(); }
static inline long launches(void) { return DOUBLE(long (*)(void), "hip_double_launches")(); }
static inline int current_device(void)
{
    int device = -1;
    ck_assert_int_eq(DOUBLE(int (*)(int *), "hipGetDevice")(&device), 0);
    return device;
}

static inline void nothing_wrong(void)
{
    const char *text = violations();
    ck_assert_msg(text == NULL, "the double saw: %s", text);
    ck_assert_int_eq(live(), 0);
}

/* ---- the application */
typedef struct program {
    bench *b;
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    void *tensors[room_for_tensors], *workspace, *stream;
    size_t count;
} program;

static const char hip_ffn[] = "block: ffn\n"
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

static const ir_value *value_of(const program *p, const tfgen_tensor *t)
{
    for (int i = 0; i < p->b->graph->value_count; i++) {
        const ir_value *v = p->b->graph->values[i];
        if (t->kind == TFGEN_OUTPUT ? v->output && !strcmp(v->output, t->name) : !strcmp(v->name, t->name)) return v;
    }
    ck_abort_msg("no value is tensor %s", t->name);
}

static inline tfgen_tensor tensor_of(const program *p, size_t i)
{
    tfgen_tensor t = {.size = sizeof t};
    ck_assert_int_eq(tfgen_plan_tensor(p->plan, i, &t), TFGEN_OK);
    return t;
}

/* Copies from pageable memory that is freed when the call returns. Outputs begin as NaN. */
static inline tfgen_status upload(program *p, size_t i, tfgen_error *error)
{
    const tfgen_tensor t = tensor_of(p, i);
    const ir_value *v = value_of(p, &t);
    void *data = malloc((size_t)t.bytes + 16);
    memset(data, 0xff, (size_t)t.bytes);
    for (size_t k = 0; t.kind != TFGEN_OUTPUT && k < p->b->data[v->id].count; k++) dtype_put(v->type, data, k, p->b->data[v->id].value[k]);
    const tfgen_status status = tfgen_device_copy(p->device, p->tensors[i], data, (size_t)t.bytes, TFGEN_TO_DEVICE, p->stream, error);
    memset(data, 0x77, (size_t)t.bytes);
    free(data);
    return status;
}

static inline tfgen_status make_memory(program *p, tfgen_error *error)
{
    tfgen_status status = tfgen_device_alloc(p->device, (size_t)tfgen_plan_workspace_bytes(p->plan), &p->workspace, error);
    p->count = tfgen_plan_tensor_count(p->plan);
    ck_assert_uint_le(p->count, room_for_tensors);
    for (size_t i = 0; i < p->count && status == TFGEN_OK; i++) {
        status = tfgen_device_alloc(p->device, (size_t)tensor_of(p, i).bytes, &p->tensors[i], error);
        if (status == TFGEN_OK) status = upload(p, i, error);
    }
    return status;
}

static inline tfgen_status execute(program *p, tfgen_error *error)
{
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = p->tensors;
    return tfgen_execute(p->module, p->weights, &args, p->workspace, p->stream, error);
}

/* Everything up to the first launch. stop() frees what was made, whatever the status. */
static inline tfgen_status start(program *p, const char *device, const char *yaml, size_t size, tfgen_error *error)
{
    *p = (program){.b = bench_open(yaml, size, NULL)};
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    bench_fill(p->b, 1);
    tfgen_status status = tfgen_device_open(device, &p->device, error);
    if (status == TFGEN_OK) {
        options.target = tfgen_device_target(p->device);
        status = tfgen_plan_create(yaml, size, "test.yaml", &options, &p->plan, error);
    }
    if (status == TFGEN_OK) status = tfgen_module_create(p->plan, p->device, NULL, &p->module, error);
    if (status == TFGEN_OK) status = make_memory(p, error);
    return status == TFGEN_OK ? tfgen_weights_create(p->module, p->tensors, p->stream, &p->weights, error) : status;
}

static inline void stop(program *p)
{
    for (size_t i = 0; i < p->count; i++) tfgen_device_free(p->device, p->tensors[i]);
    tfgen_device_free(p->device, p->workspace);
    tfgen_weights_free(p->weights);
    tfgen_module_free(p->module);
    tfgen_plan_free(p->plan);
    tfgen_device_close(p->device);
    bench_close(p->b);
}

static inline void must(tfgen_status status, const tfgen_error *error) { ck_assert_msg(status == TFGEN_OK, "%d: %s", status, error->text); }

static inline ref_fold folded(void *context, const ir_op *linear)
{
    const program *p = context;
    return ref_plan_folded(p->plan->compiled.plan, p->b->graph, linear);
}

static inline bool rounds_scores(void *context, const ir_op *attention)
{
    return ref_plan_rounds_scores(((const program *)context)->plan->compiled.plan, attention);
}

static inline ref_form form(void *context, const ir_op *op)
{
    return ref_plan_form(((const program *)context)->plan->compiled.plan, op);
}

/* Every output within its bound of the float64 reference. */
static inline tfgen_status judge(program *p, tfgen_error *error)
{
    const ref_rules rules = {.folded = folded, .form = form, .rounds_scores = rounds_scores, .context = p};
    bench_run(p->b, false, &rules);
    for (size_t i = 0; i < p->count; i++) {
        const tfgen_tensor t = tensor_of(p, i);
        const ir_value *v = value_of(p, &t);
        if (t.kind != TFGEN_OUTPUT) continue;
        const ref_tensor *wanted = &p->b->result[v->id];
        void *data = malloc((size_t)t.bytes);
        double *got = malloc((wanted->count + 1) * sizeof *got);
        const tfgen_status status = tfgen_device_copy(p->device, data, p->tensors[i], (size_t)t.bytes, TFGEN_FROM_DEVICE, p->stream, error);
        for (size_t k = 0; status == TFGEN_OK && k < wanted->count; k++) got[k] = dtype_get(v->type, data, k);
        const ref_verdict verdict = status == TFGEN_OK ? ref_compare(wanted, got) : (ref_verdict){0};
        free(data);
        free(got);
        if (status != TFGEN_OK) return status;
        ck_assert_msg(verdict.ratio <= 1 && !verdict.unjudged, "%s: element %zu is %g off, its bound is %g", t.name, verdict.worst,
                      verdict.difference, verdict.bound);
    }
    return TFGEN_OK;
}

/* Start, execute, synchronise, judge, stop. Returns the first status that is not ok; everything is freed. */
static inline tfgen_status whole(const char *device, tfgen_error *error)
{
    program p;
    tfgen_status status = start(&p, device, hip_ffn, sizeof hip_ffn - 1, error);
    if (status == TFGEN_OK) status = execute(&p, error);
    if (status == TFGEN_OK) status = tfgen_device_synchronize(p.device, p.stream, error);
    if (status == TFGEN_OK) status = judge(&p, error);
    stop(&p);
    return status;
}

static inline void use_library(const char *name)
{
    char path[4096];
    const char *old = getenv("TFGEN_LIBHIP");
    snprintf(path, sizeof path, "%.*s/%s", (int)(strrchr(old, '/') - old), old, name);
    setenv("TFGEN_LIBHIP", path, 1);
}

/* Sets the environment; call it before a device is opened. */
static inline bool use_doubles(const char *argv0)
{
    static const char *const hidden[] = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION",
                                         "TFGEN_DOUBLE_DEVICES", "TFGEN_DOUBLE_FAULT", "TFGEN_DOUBLE_EMULATOR"};
    char path[4096], *program = realpath(argv0, NULL);
    if (!program) return false;
    const int folder = (int)(strrchr(program, '/') ? strrchr(program, '/') - program : 0);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) unsetenv(hidden[i]);
    snprintf(path, sizeof path, "%.*s/doubles/libamdhip64_double.so", folder, program);
    setenv("TFGEN_LIBHIP", path, 1);
    snprintf(path, sizeof path, "%.*s/doubles/libhiprtc_double.so", folder, program);
    setenv("TFGEN_HIPRTC", path, 1);
    setenv("TFGEN_CLANG", "none", 1); /* so that HIPRTC compiles */
    free(program);
    return true;
}
#endif
