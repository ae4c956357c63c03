/* The CUDA device on a double of NVIDIA's driver: every launch's geometry and arguments against the plan, contexts, captures, failures, and
 * that a call allocates nothing and takes no lock. The kernels themselves run on a real GPU (tests/h200/runtime.sh). */
#define _GNU_SOURCE
#include "runtime/module/bundle.h"
#include "runtime/device/cuda_abi.h"
#include "runtime/module/weights.h"
#include "tests/doubles/libcuda_double.h"
#include "tests/support.h"
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAVE_CUDA_H 1
#endif
#endif

/* ---- counts allocations and locks of this thread */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS 1
static _Thread_local volatile int counting, allocations, kept, locks;
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
#pragma GCC visibility push(default) /* for the C library, too */
void *malloc(size_t n)
{
    allocations += counting, kept += counting;
    return __libc_malloc(n);
}
void *calloc(size_t n, size_t size)
{
    allocations += counting, kept += counting;
    return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n)
{
    allocations += counting, kept += counting && !p;
    return __libc_realloc(p, n);
}
void free(void *p)
{
    kept -= counting && p;
    __libc_free(p);
}
int pthread_mutex_lock(pthread_mutex_t *m)
{
    static int (*real)(pthread_mutex_t *);
    if (!real) {
        void *found = dlsym(RTLD_NEXT, "pthread_mutex_lock");
        memcpy(&real, &found, sizeof found);
    }
    locks += counting;
    return real(m);
}
#pragma GCC visibility pop
#endif

static double_state *driver;
static void *(*driver_context)(int);

static void load_double(void)
{
    void *library = dlopen(getenv("TFGEN_LIBCUDA"), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    double_state *(*get)(void);
    ck_assert_msg(library != NULL, "%s", dlerror());
    void *found = dlsym(library, "tfgen_double_state");
    memcpy(&get, &found, sizeof found);
    found = dlsym(library, "tfgen_double_context");
    memcpy(&driver_context, &found, sizeof found);
    driver = get();
}

static void *driver_call(const char *symbol) { return dlsym(dlopen(getenv("TFGEN_LIBCUDA"), RTLD_NOW | RTLD_LOCAL), symbol); }

static void push_context(void *context)
{
    int (*push)(void *);
    void *found = driver_call("cuCtxPushCurrent_v2");
    memcpy(&push, &found, sizeof found);
    ck_assert_int_eq(push(context), 0);
}

static void *current_context(void)
{
    int (*get)(void **);
    void *found = driver_call("cuCtxGetCurrent"), *context = NULL;
    memcpy(&get, &found, sizeof found);
    get(&context);
    return context;
}

/* ---- a program over the double */
enum { M = 200, D = 256, F = 512, most_given = 16 };
static const char ffn[] = "block: ffn\n"
                          "dtype: bf16\n"
                          "dims: {M: 200, D: 256, F: 512}\n"
                          "dynamic: {M: [1, 2000]}\n"
                          "inputs: {x: [M, D]}\n"
                          "params: {norm: [D], w: [F, D], b: [F], v: [D, F]}\n"
                          "ops:\n"
                          "  - {out: n, op: rmsnorm, in: [x, norm], eps: 1.0e-5}\n"
                          "  - {out: h, op: linear, in: [n, w, b]}\n"
                          "  - {out: g, op: gelu_tanh, in: [h]}\n"
                          "  - {out: u, op: linear, in: [g, v]}\n"
                          "  - {out: y, op: add, in: [u, x]}\n"
                          "outputs: {y: y}\n";

typedef struct gpu_program {
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    void *tensors[most_given];
    void *workspace;
    unsigned char *bundle;
    size_t bundle_size;
} gpu_program;

static void must(tfgen_status status, const tfgen_error *error) { ck_assert_msg(status == TFGEN_OK, "%d: %s", status, error->text); }

static bool is_kernel(const char *symbol, const char *name)
{
    char own[symbol_room];
    return strcmp(symbol, kernel_symbol(name, own)) == 0;
}

static double_image image_of(const plan *of, int kernel, bundle_code *code)
{
    const bool pack = kernel < of->pack_count;
    const packed_weight *w = &of->packs[pack ? kernel : 0];
    const launch *l = &of->launches[pack ? 0 : kernel - of->pack_count];
    const source_text *source = pack ? &w->source : &l->source;
    char symbol[symbol_room];
    const double_image image =
        double_image_of(kernel_symbol(pack ? w->name : l->name, symbol), pack ? w->argument_bytes : l->argument_bytes,
                        (unsigned)(pack ? w->threads : l->threads), (unsigned)(pack ? 16 : l->shared_bytes - l->dynamic_bytes));
    *code = (bundle_code){.arch = of->target->name, .kernel = pack ? w->name : l->name, .source = source_whole(source),
                          .source_size = source_size(source), .size = sizeof image};
    return image;
}

/* A bundle with code for the double, for every kernel of these plans. */
static void make_bundle(gpu_program *p, const plan *const *plans, int plan_count)
{
    enum { most_units = 64 };
    double_image images[most_units];
    bundle_code codes[most_units];
    unsigned char *bytes;
    int count = 0;
    for (int n = 0; n < plan_count; n++)
        for (int i = 0; i < plans[n]->pack_count + plans[n]->launch_count; i++, count++) {
            ck_assert_int_lt(count, most_units);
            images[count] = image_of(plans[n], i, &codes[count]);
            codes[count].code = &images[count];
        }
    ck_assert(bundle_write(codes, (size_t)count, &bytes, &p->bundle_size));
    p->bundle = aligned_alloc(64, (p->bundle_size + 63) / 64 * 64);
    memcpy(p->bundle, bytes, p->bundle_size);
    free(bytes);
    for (int i = 0; i < count; i++) free((char *)codes[i].source);
}

static gpu_program start_planned(tfgen_device *device, const char *spec, tfgen_plan_options options)
{
    gpu_program p = {.device = device};
    tfgen_error error;
    tfgen_module_options module = TFGEN_MODULE_OPTIONS_INIT;
    options.target = tfgen_device_target(p.device);
    must(tfgen_plan_create(spec, strlen(spec), "ffn.yaml", &options, &p.plan, &error), &error);
    const plan *const own = p.plan->compiled.plan;
    make_bundle(&p, &own, 1);
    module.bundle = p.bundle, module.bundle_size = p.bundle_size, module.bundle_only = 1;
    must(tfgen_module_create(p.plan, p.device, &module, &p.module, &error), &error);
    return p;
}

static gpu_program start_module_on(tfgen_device *device, const char *spec, tfgen_fusion fusion)
{
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    options.fusion = fusion;
    return start_planned(device, spec, options);
}

static gpu_program start_module(const char *spec, tfgen_fusion fusion)
{
    tfgen_device *device;
    tfgen_error error;
    must(tfgen_device_open("cuda", &device, &error), &error);
    return start_module_on(device, spec, fusion);
}

/* Allocates tensors, weights and a workspace. */
static gpu_program filled(gpu_program p)
{
    tfgen_error error;
    for (size_t i = 0; i < tfgen_plan_tensor_count(p.plan); i++) {
        tfgen_tensor t = {.size = sizeof t};
        tfgen_plan_tensor(p.plan, i, &t);
        must(tfgen_device_alloc(p.device, (size_t)t.bytes * 10, &p.tensors[i], &error), &error);
    }
    must(tfgen_weights_create(p.module, p.tensors, NULL, &p.weights, &error), &error);
    const tfgen_dim most = {"M", 2000};
    const bool has_rows = tfgen_workspace_bytes(p.plan, &most, 1) >= 0;
    must(tfgen_device_alloc(p.device, (size_t)tfgen_workspace_bytes(p.plan, &most, has_rows), &p.workspace, &error), &error);
    return p;
}

static gpu_program start_spec(const char *spec, tfgen_fusion fusion) { return filled(start_module(spec, fusion)); }
static gpu_program start(tfgen_fusion fusion) { return start_spec(ffn, fusion); }

static void stop_module(gpu_program *p)
{
    tfgen_module_free(p->module);
    tfgen_plan_free(p->plan);
    tfgen_device_close(p->device);
    free(p->bundle);
}

static void release(gpu_program *p)
{
    for (size_t i = 0; i < tfgen_plan_tensor_count(p->plan); i++) tfgen_device_free(p->device, p->tensors[i]);
    tfgen_device_free(p->device, p->workspace);
    tfgen_weights_free(p->weights);
    stop_module(p);
}

static void nothing_is_left(void)
{
    ck_assert_msg(atomic_load(&driver->wrong) == 0, "%s", driver->wrong_text);
    ck_assert_int_eq(atomic_load(&driver->allocations), 0);
    ck_assert_int_eq(atomic_load(&driver->modules), 0);
    ck_assert_int_eq(atomic_load(&driver->primaries), 0);
}

static void stop(gpu_program *p)
{
    release(p);
    nothing_is_left();
}

static tfgen_status execute(const gpu_program *p, const tfgen_dim *dims, void *stream, tfgen_error *error)
{
    const tfgen_args args = {.size = sizeof args, .tensors = p->tensors, .dims = dims, .dim_count = dims != NULL};
    return tfgen_execute(p->module, p->weights, &args, p->workspace, stream, error);
}

/* ---- the launches that the plan describes */

static const void *expected_pointer(const gpu_program *p, const ir_value *v, int packed, int scratch, const dim_table *dims)
{
    const plan *of = p->plan->compiled.plan;
    long long offsets[64];
    workspace_layout(of, dims, offsets);
    if (scratch >= 0) return (char *)p->workspace + offsets[of->stored_count + scratch];
    void *weights[64];
    tfgen_error error;
    must(weights_locate(p->weights, p->module, weights, &error), &error);
    if (!v) return weights[packed];
    for (size_t i = 0; i < tfgen_plan_tensor_count(p->plan); i++)
        if (p->plan->tensors.values[i] == value_root(v)) {
            if (v->kind != value_param) return p->tensors[i];
            for (int k = of->pack_count; k < p->module->weight_count; k++)
                if (p->module->weights[k].tensor == (int)i) return weights[k];
        }
    for (int i = 0; i < of->stored_count; i++)
        if (of->stored[i].value == value_root(v)) return (char *)p->workspace + offsets[i];
    ck_abort_msg("%s is nowhere", v->name);
}

/* Axes of the map: words of a piece, pieces along columns, pieces along k. */
static void check_piece_map(const double_map *m, const tensor_box *box, const dim_table *dims)
{
    ck_assert_int_eq(m->type, cuda_map_u32);
    ck_assert_int_eq(m->swizzle, 0);
    ck_assert_int_eq(m->promotion, cuda_map_promotion_256);
    ck_assert_int_eq(m->rank, 3);
    ck_assert_uint_eq(m->sizes[0], 256);
    ck_assert_uint_eq(m->sizes[1], (unsigned long long)extent_value(&box->rows, dims));
    ck_assert_uint_eq(m->sizes[2], (unsigned long long)box->columns);
    ck_assert_uint_eq(m->strides[0], (unsigned long long)extent_value(&box->stride, dims));
    ck_assert_uint_eq(m->strides[1], 1024);
    ck_assert_uint_eq(m->box[0], 256);
    ck_assert_uint_eq(m->box[1], (unsigned)box->box_rows);
    ck_assert_uint_eq(m->box[2], (unsigned)box->box_columns);
}

static void check_map(const gpu_program *p, const tensor_box *box, const unsigned char *bytes, const dim_table *dims)
{
    double_map m;
    memcpy(&m, bytes, sizeof m);
    const char *at = expected_pointer(p, box->value, box->packed, -1, dims);
    ck_assert_str_eq(m.magic, "map");
    ck_assert_uint_eq(m.address, (unsigned long long)(uintptr_t)(at + box->start));
    ck_assert_int_eq(box->pieces, !box->value);
    if (box->pieces) {
        check_piece_map(&m, box, dims);
        return;
    }
    ck_assert_int_eq(m.type, cuda_map_bf16);
    ck_assert_int_eq(m.swizzle, cuda_map_swizzle_128);
    ck_assert_int_eq(m.promotion, m.type == cuda_map_f32 ? cuda_map_promotion_256 : cuda_map_promotion_128);
    ck_assert_int_eq(m.rank, 2);
    ck_assert_uint_eq(m.sizes[1], (unsigned long long)extent_value(&box->rows, dims));
    ck_assert_uint_eq(m.sizes[0], (unsigned long long)box->columns);
    ck_assert_uint_eq(m.strides[0], (unsigned long long)extent_value(&box->stride, dims));
    ck_assert_uint_eq(m.box[1], (unsigned)box->box_rows);
    ck_assert_uint_eq(m.box[0], (unsigned)box->box_columns);
}

/* Padding between arguments must be zero: drivers may copy it, and launches are compared by bytes. */
static int check_padding(const launch *l, const unsigned char *bytes)
{
    unsigned char used[double_most_arguments] = {0};
    int padding = 0;
    for (int i = 0; i < l->argument_count; i++) {
        const argument *g = &l->arguments[i];
        memset(used + g->offset, 1, g->kind == argument_map ? map_bytes : g->kind == argument_dim ? sizeof(int) : sizeof(void *));
    }
    for (unsigned i = 0; i < l->argument_bytes; i++) {
        padding += !used[i];
        ck_assert_msg(used[i] || !bytes[i], "%s: byte %u of %u is no argument's, and not 0", l->name, i, l->argument_bytes);
    }
    return padding;
}

static void check_arguments(const gpu_program *p, const launch *l, const unsigned char *bytes, const dim_table *dims)
{
    check_padding(l, bytes);
    for (int i = 0; i < l->argument_count; i++) {
        const argument *g = &l->arguments[i];
        if (g->kind == argument_map) {
            check_map(p, g->box, bytes + g->offset, dims);
        } else if (g->kind == argument_dim) {
            int number;
            memcpy(&number, bytes + g->offset, sizeof number);
            ck_assert_int_eq(number, dims->dims[g->index].value);
        } else {
            const void *pointer;
            memcpy(&pointer, bytes + g->offset, sizeof pointer);
            ck_assert_msg(pointer == expected_pointer(p, g->kind == argument_value ? g->value : NULL, g->index,
                                                      g->kind == argument_scratch ? g->index : -1, dims),
                          "%s of %s", g->name, l->name);
        }
    }
}

/* Checks that the launches from `first` on are one execute of the plan with this M. */
static void check_launches(const gpu_program *p, int first, long long m, const void *stream)
{
    const plan *of = p->plan->compiled.plan;
    dim_table dims = of->ir->dims;
    dim_find(&dims, "M")->value = m;
    ck_assert_int_ge(atomic_load(&driver->launched), first + of->launch_count);
    for (int i = 0; i < of->launch_count; i++) {
        const double_launch *got = &driver->launches[first + i];
        const launch *l = &of->launches[i];
        const long long tiles = launch_grid(l, &dims), most = l->resident * 4;
        ck_assert(is_kernel(got->kernel, l->name));
        ck_assert_uint_eq(got->grid, (unsigned)(most && tiles > most ? most : tiles));
        ck_assert_uint_eq(got->block, (unsigned)l->threads);
        ck_assert_uint_eq(got->dynamic_bytes, (unsigned)l->dynamic_bytes);
        ck_assert_int_eq(got->cooperative, l->together && !l->overlap);
        ck_assert_ptr_eq(got->stream, stream);
        check_arguments(p, l, got->arguments, &dims);
    }
}

/* ---- tests */
START_TEST(a_device_is_described)
{
    tfgen_device_info list[4] = {{.size = sizeof *list}};
    driver->devices = 2;
    driver->fail_call = "DevicePrimaryCtxRetain", driver->fail_code = 2; /* listing makes no context */
    ck_assert_uint_eq(tfgen_device_list(list, 4), 3);
    driver->fail_call = NULL;
    ck_assert_str_eq(list[0].name, "cuda:0");
    ck_assert_str_eq(list[1].name, "cuda:1");
    ck_assert_str_eq(list[1].label, "Double 1");
    ck_assert_str_eq(list[1].arch, "sm_90a");
    ck_assert_str_eq(list[1].target, "sm_90a");
    ck_assert_int_eq(list[1].multiprocessors, 4);
    ck_assert_int_eq(list[1].memory_bytes, 1ll << 37);
    ck_assert_str_eq(list[2].name, "host");
    ck_assert_int_eq(atomic_load(&driver->primaries), 0);
}
END_TEST

START_TEST(a_device_whose_query_fails_is_listed_without_a_target)
{
    tfgen_device_info list[2] = {{.size = sizeof *list}};
    tfgen_device *device;
    tfgen_error error;
    driver->fail_call = "DeviceGetAttribute", driver->fail_code = 999;
    ck_assert_uint_eq(tfgen_device_list(list, 2), 2);
    ck_assert_str_eq(list[0].name, "cuda:0");
    ck_assert_str_eq(list[0].target, "");
    must(tfgen_device_open(NULL, &device, &error), &error);
    ck_assert_str_eq(tfgen_device_target(device), "host");
    tfgen_device_close(device);
    ck_assert_int_eq(tfgen_device_open("cuda", &device, &error), TFGEN_DEVICE_ERROR);
    ck_assert_msg(strstr(error.text, "cuDeviceGetAttribute") && strstr(error.text, "999"), "%s", error.text);
}
END_TEST

START_TEST(a_list_of_an_older_caller_keeps_its_stride)
{
    struct { size_t size; char name[16]; } old[3] = {{.size = sizeof *old}};
    ck_assert_uint_eq(tfgen_device_list((tfgen_device_info *)old, 3), 2);
    ck_assert_str_eq(old[0].name, "cuda:0");
    ck_assert_str_eq(old[1].name, "host");
    ck_assert_uint_eq(old[1].size, sizeof *old);
    ck_assert_uint_eq(old[2].size, 0);
}
END_TEST

START_TEST(the_best_device_is_the_first_gpu_with_a_target)
{
    tfgen_device *device;
    tfgen_error error;
    must(tfgen_device_open(NULL, &device, &error), &error);
    ck_assert_str_eq(tfgen_device_target(device), "sm_90a");
    tfgen_device_close(device);
    driver->major = 8, driver->minor = 9;
    must(tfgen_device_open(NULL, &device, &error), &error);
    ck_assert_str_eq(tfgen_device_target(device), "sm_80"); /* its code is compiled for sm_89 */
    tfgen_device_close(device);
    driver->major = 7, driver->minor = 5;
    must(tfgen_device_open(NULL, &device, &error), &error);
    ck_assert_str_eq(tfgen_device_target(device), "host");
    tfgen_device_close(device);
    must(tfgen_device_open("cuda:0", &device, &error), &error);
    ck_assert_str_eq(tfgen_device_target(device), "");
    tfgen_plan *plan;
    tfgen_module *module;
    must(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", NULL, &plan, &error), &error);
    ck_assert_int_eq(tfgen_module_create(plan, device, NULL, &module, &error), TFGEN_UNSUPPORTED);
    tfgen_plan_free(plan);
    tfgen_device_close(device);
}
END_TEST

START_TEST(no_driver_and_no_gpu_are_explained)
{
    tfgen_device *device;
    tfgen_error error;
    driver->init_code = cuda_no_device;
    ck_assert_int_eq(tfgen_device_open("cuda", &device, &error), TFGEN_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "CUDA_VISIBLE_DEVICES"), "%s", error.text);
    driver->init_code = 999;
    ck_assert_int_eq(tfgen_device_open("cuda", &device, &error), TFGEN_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "cuInit") && strstr(error.text, "999"), "%s", error.text);
    driver->init_code = 0, driver->devices = 0;
    ck_assert_int_eq(tfgen_device_open("cuda", &device, &error), TFGEN_UNSUPPORTED);
    driver->devices = 1;
    ck_assert_int_eq(tfgen_device_open("cuda:1", &device, &error), TFGEN_USAGE);
    setenv("TFGEN_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    ck_assert_int_eq(tfgen_device_open("cuda", &device, &error), TFGEN_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "/nowhere/libcuda.so.1"), "%s", error.text);
    ck_assert_uint_eq(tfgen_device_list(NULL, 0), 1);
}
END_TEST

START_TEST(every_launch_gets_what_the_plan_says)
{
    for (int level = TFGEN_FUSION_NONE; level <= TFGEN_FUSION_BLOCK; level++) {
        gpu_program p = start((tfgen_fusion)level);
        tfgen_error error;
        void *stream;
        const tfgen_dim dims[] = {{"M", 1}, {"M", 200}, {"M", 2000}};
        must(p.device->api->stream_create(p.device, &stream, &error), &error);
        int at = atomic_load(&driver->launched);
        must(execute(&p, NULL, stream, &error), &error);
        ck_assert_int_eq(atomic_load(&driver->launched) - at, p.plan->compiled.plan->launch_count);
        check_launches(&p, at, M, stream);
        for (int i = 0; i < 3; i++) {
            at = atomic_load(&driver->launched);
            must(execute(&p, &dims[i], NULL, &error), &error);
            check_launches(&p, at, dims[i].value, NULL);
        }
        p.device->api->stream_destroy(p.device, stream);
        stop(&p);
    }
}
END_TEST

/* The bundle is searched for code of sm_89, which it has not, then of sm_80. */
START_TEST(a_gpu_of_another_capability_runs_a_plan_for_sm_80)
{
    driver->major = 8, driver->minor = 9;
    gpu_program p = start(TFGEN_FUSION_TILE);
    const launch *product = &p.plan->compiled.plan->launches[1];
    tfgen_error error;
    const tfgen_dim dims[] = {{"M", 2000}, {"M", 1}};
    ck_assert_ptr_nonnull(strstr(product->source.body, "TF_KERNEL_MULTISTAGE("));
    ck_assert_int_gt(product->dynamic_bytes, 0);
    for (size_t i = 0; i < 2; i++) {
        const int at = atomic_load(&driver->launched);
        must(execute(&p, &dims[i], NULL, &error), &error);
        check_launches(&p, at, dims[i].value, NULL);
        ck_assert(!driver->launches[at].overlap);
    }
    stop(&p);
}
END_TEST

START_TEST(products_take_tensor_maps_and_each_call_makes_its_own)
{
    gpu_program p = start(TFGEN_FUSION_TILE);
    tfgen_error error;
    int of_weights = 0;
    for (int i = 0; i < p.module->map_count; i++) of_weights += p.module->maps[i].memory.kind == binding_weights;
    ck_assert_int_gt(of_weights, 0);
    ck_assert_int_eq(atomic_load(&driver->encodes), 0);
    must(execute(&p, NULL, NULL, &error), &error);
    ck_assert_int_eq(atomic_load(&driver->encodes), p.module->map_count);
    stop(&p);
}
END_TEST

/* So that memory that a call leaves uninitialised on its stack is not 0 by chance. */
static __attribute__((noinline)) void dirty_stack(void)
{
    volatile unsigned char junk[32768];
    for (size_t i = 0; i < sizeof junk; i++) junk[i] = 0xa5;
}

START_TEST(padding_between_arguments_is_cleared)
{
    gpu_program p = start(TFGEN_FUSION_TILE);
    tfgen_error error;
    int padding = 0;
    const int first = atomic_load(&driver->launched);
    dirty_stack();
    must(execute(&p, NULL, NULL, &error), &error);
    for (int i = 0; i < p.plan->compiled.plan->launch_count; i++)
        padding += check_padding(&p.plan->compiled.plan->launches[i], driver->launches[first + i].arguments);
    ck_assert_int_gt(padding, 0);
    stop(&p);
}
END_TEST

/* A map of attention, innermost axis first: columns of a head, heads, tokens, batches; expected numbers were computed by hand. */
static void check_attention_map(const gpu_program *p, const unsigned char *bytes, const char *name, const unsigned long long *expected)
{
    double_map m;
    memcpy(&m, bytes, sizeof m);
    ck_assert_str_eq(m.magic, "map");
    ck_assert_int_eq(m.rank, 4);
    ck_assert_int_eq(m.type, cuda_map_f16);
    ck_assert_int_eq(m.swizzle, cuda_map_swizzle_128);
    ck_assert_int_eq(m.promotion, m.type == cuda_map_f32 ? cuda_map_promotion_256 : cuda_map_promotion_128);
    for (size_t i = 0; i < tfgen_plan_tensor_count(p->plan); i++)
        if (strcmp(p->plan->tensors.values[i]->name, name) == 0) ck_assert_uint_eq(m.address, (unsigned long long)(uintptr_t)p->tensors[i]);
    for (int i = 0; i < 4; i++) ck_assert_msg(m.sizes[i] == expected[i], "%s: axis %d has %llu", name, i, m.sizes[i]);
    for (int i = 0; i < 3; i++) ck_assert_msg(m.strides[i] == expected[4 + i], "%s: stride %d is %llu", name, i, m.strides[i]);
    for (int i = 0; i < 4; i++) ck_assert_msg(m.box[i] == expected[7 + i], "%s: box %d is %u", name, i, m.box[i]);
}

START_TEST(attention_takes_maps_of_four_axes)
{
    /* 6 heads of 64 columns in two groups, 300 queries, a cache of 2200 rows a head; boxes of 64 columns x 64 rows of queries */
    static const char spec[] =
        "block: t\ndtype: f16\ndims: {M: 300, B: 3}\ndynamic: {M: [1, 2000]}\n"
        "inputs: {q: [B, M, 6*64], k: [B, 700, 2*64], v: [B, 700, 2*64], x: [B, 1, 2*64], pos: {shape: [B], dtype: i32, range: [0, 100]}}\n"
        "state: {cache: [B, 2, 2200, 64]}\nops:\n  - {out: c, op: kv_append, in: [x], state: cache, at: pos}\n"
        "  - {out: a, op: attention, in: [q, c, c], heads: 6, kv_heads: 2, at: pos}\n"
        "  - {out: b, op: attention, in: [q, k, v], heads: 6, kv_heads: 2}\noutputs: {a: a, b: b}\n";
    gpu_program p = start_spec(spec, TFGEN_FUSION_TILE);
    tfgen_error error;
    const int first = atomic_load(&driver->launched);
    must(execute(&p, NULL, NULL, &error), &error);
    const plan *of = p.plan->compiled.plan;
    int seen = 0;
    for (int i = 0; i < of->launch_count; i++) {
        const launch *l = &of->launches[i];
        const ir_phase *phase = l->work->phase;
        if (phase->family != family_attention) continue;
        const unsigned long long pack = (unsigned long long)tile_setting(phase, "pack"),
                                 block_k = (unsigned long long)tile_setting(phase, "block_k");
        const unsigned char *maps = driver->launches[first + i].arguments;
        check_attention_map(&p, maps, "q", (unsigned long long[]){64, 6, 300, 3, 128, 768, 300 * 768, 64, pack, 64 / pack, 1});
        const bool cached = phase->ops[0]->inputs[1]->root && phase->ops[0]->inputs[1]->rank == 4;
        if (cached) {
            check_attention_map(&p, maps + map_bytes, "cache",
                                (unsigned long long[]){64, 2, 2200, 3, 2200 * 128, 128, 2 * 2200 * 128, 64, 1, block_k, 1});
        } else {
            check_attention_map(&p, maps + map_bytes, "k", (unsigned long long[]){64, 2, 700, 3, 128, 256, 700 * 256, 64, 1, block_k, 1});
            check_attention_map(&p, maps + 2 * map_bytes, "v",
                                (unsigned long long[]){64, 2, 700, 3, 128, 256, 700 * 256, 64, 1, block_k, 1});
        }
        seen |= cached ? 1 : 2;
    }
    ck_assert_int_eq(seen, 3);
    stop(&p);
}
END_TEST

START_TEST(a_call_allocates_nothing_and_takes_no_lock)
{
#ifdef COUNTS
    gpu_program p = start(TFGEN_FUSION_TILE);
    tfgen_error error;
    const tfgen_dim dims = {"M", 777};
    counting = 1;
    const tfgen_status status = execute(&p, NULL, NULL, &error), other = execute(&p, &dims, NULL, &error);
    counting = 0;
    must(status, &error);
    must(other, &error);
    ck_assert_int_eq(allocations, 0);
    ck_assert_int_eq(locks, 0);
    /* tests the counters themselves */
    void *volatile some;
    counting = 1;
    some = malloc(3);
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    counting = 0;
    free(some);
    ck_assert_int_eq(allocations, 1);
    ck_assert_int_eq(locks, 1);
    stop(&p);
#endif
}
END_TEST

START_TEST(a_current_context_is_used_and_none_is_left_behind)
{
    void *mine = driver_context(0), *other = driver_context(1);
    driver->devices = 2;
    push_context(mine);
    gpu_program p = start(TFGEN_FUSION_TILE);
    tfgen_error error;
    ck_assert_int_eq(atomic_load(&driver->primaries), 0);
    int at = atomic_load(&driver->launched);
    must(execute(&p, NULL, NULL, &error), &error);
    ck_assert_ptr_eq(driver->launches[at].context, mine);
    push_context(other);
    at = atomic_load(&driver->launched);
    must(execute(&p, NULL, NULL, &error), &error);
    ck_assert_ptr_eq(driver->launches[at].context, mine);
    ck_assert_ptr_eq(current_context(), other);
    /* the other device is current, and opening a device makes its own primary context current */
    tfgen_device *device;
    must(tfgen_device_open("cuda:0", &device, &error), &error);
    ck_assert_int_eq(atomic_load(&driver->primaries), 1);
    tfgen_device_close(device);
    ck_assert_ptr_eq(current_context(), other);
    stop(&p);
}
END_TEST

START_TEST(a_captured_call_is_replayed_with_the_same_arguments)
{
    gpu_program p = start(TFGEN_FUSION_TILE);
    const device_api *api = p.device->api;
    tfgen_error error;
    void *stream, *graph;
    must(api->stream_create(p.device, &stream, &error), &error);
    const int at = atomic_load(&driver->launched);
    must(api->graph_begin(p.device, stream, &error), &error);
    must(execute(&p, NULL, stream, &error), &error);
    must(api->graph_end(p.device, stream, &graph, &error), &error);
    ck_assert_int_eq(atomic_load(&driver->launched), at);
    ck_assert_int_eq(atomic_load(&driver->captured), p.plan->compiled.plan->launch_count);
    must(api->graph_launch(p.device, graph, stream, &error), &error);
    check_launches(&p, at, M, stream);
    must(api->graph_launch(p.device, graph, stream, &error), &error);
    check_launches(&p, at + p.plan->compiled.plan->launch_count, M, stream);
    ck_assert_int_eq(api->graph_begin(p.device, NULL, &error), TFGEN_DEVICE_ERROR);
    api->graph_destroy(p.device, graph);
    api->stream_destroy(p.device, stream);
    ck_assert_int_eq(atomic_load(&driver->graphs), 0);
    ck_assert_int_eq(atomic_load(&driver->streams), 0);
    stop(&p);
}
END_TEST

/* Creating a module and weights and executing, again and again, while the double lets one of `calls` fail at its first, second, ... use:
 * each failure gives a status and a message that names the call, and leaves nothing in the driver. */
START_TEST(failures_of_the_driver_leak_nothing)
{
    static const char *const calls[] = {"ModuleLoadData", "ModuleGetFunction", "FuncSetAttribute", "MemAlloc", "Memcpy", "LaunchKernel",
                                        "TensorMapEncodeTiled", "StreamSynchronize"};
    gpu_program p = start(TFGEN_FUSION_TILE);
    tfgen_module_options options = TFGEN_MODULE_OPTIONS_INIT;
    options.bundle = p.bundle, options.bundle_size = p.bundle_size, options.bundle_only = 1;
    const int kept = atomic_load(&driver->allocations), modules = atomic_load(&driver->modules);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        int failures = 0;
        for (int after = 0; after < 12; after++) {
            tfgen_module *module = NULL;
            tfgen_weights *weights = NULL;
            tfgen_error error = {""};
            tfgen_args args = {.size = sizeof args, .tensors = p.tensors};
            driver->fail_call = calls[c], driver->fail_code = strcmp(calls[c], "MemAlloc") ? 700 : 2;
            atomic_store(&driver->fail_after, after);
            tfgen_status status = tfgen_module_create(p.plan, p.device, &options, &module, &error);
            if (status == TFGEN_OK) status = tfgen_weights_create(module, p.tensors, NULL, &weights, &error);
            if (status == TFGEN_OK) status = tfgen_execute(module, weights, &args, p.workspace, NULL, &error);
            driver->fail_call = NULL;
            failures += status != TFGEN_OK;
            if (status != TFGEN_OK) {
                ck_assert_int_eq(status, TFGEN_DEVICE_ERROR);
                ck_assert_msg(strstr(error.text, "cu") || strstr(error.text, "memory"), "%s: %s", calls[c], error.text);
            }
            tfgen_weights_free(weights);
            tfgen_module_free(module);
            ck_assert_int_eq(atomic_load(&driver->allocations), kept);
            ck_assert_int_eq(atomic_load(&driver->modules), modules);
        }
        ck_assert_msg(failures > 0, "%s is never called", calls[c]);
    }
    stop(&p);
}
END_TEST

static gpu_program start_file(tfgen_device *device, const char *path)
{
    char text[8192] = "";
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return filled(start_module_on(device, text, TFGEN_FUSION_TILE));
}

/* One program for 37 rows (wgmma), another for one row. */
START_TEST(prefill_and_decode_share_the_weights_of_one_model)
{
    tfgen_device *device;
    tfgen_error error;
    must(tfgen_device_open("cuda", &device, &error), &error);
    gpu_program many = start_file(device, "specs/llama-block.yaml"), one = start_file(device, "specs/llama-decode.yaml");
    const ir_tile *const tiles[] = {many.module->plan->launches[1].work->tile,
                                    one.module->plan->launches[1].work->tile};
    ck_assert_int_ne(tiles[0]->program, tiles[1]->program);
    const int64_t bytes = tfgen_weights_bytes(many.weights);
    ck_assert_int_eq(tfgen_weights_bytes(one.weights), bytes);
    const int launched = atomic_load(&driver->launched);
    must(tfgen_weights_add(many.weights, one.module, NULL, NULL, &error), &error);
    ck_assert_int_eq(tfgen_weights_bytes(many.weights), bytes);
    ck_assert_int_eq(atomic_load(&driver->launched), launched);
    tfgen_weights_free(one.weights);
    one.weights = many.weights;
    must(execute(&one, NULL, NULL, &error), &error);
    for (int i = 0; i < one.module->launch_count; i++)
        check_arguments(&one, &one.module->plan->launches[i], driver->launches[launched + i].arguments, &one.module->plan->ir->dims);
    one.weights = NULL;
    for (size_t i = 0; i < tfgen_plan_tensor_count(one.plan); i++) tfgen_device_free(device, one.tensors[i]);
    tfgen_device_free(device, one.workspace);
    tfgen_module_free(one.module);
    tfgen_plan_free(one.plan);
    free(one.bundle);
    stop(&many);
}
END_TEST

/* Weights that another module adds are all there or not at all, and are packed once. */
START_TEST(weights_are_unchanged_if_adding_to_them_failed)
{
    static const char gated[] = "block: gated\ndtype: bf16\ndims: {M: 300, D: 256, F: 512}\ndynamic: {M: [1, 2000]}\n"
                                "inputs: {x: [M, D]}\nparams: {v: [D, F], b: [F], norm: [D], w: [F, D], more: [D], u: [D, D]}\nops:\n"
                                "  - {out: n, op: rmsnorm, in: [x, norm], eps: 1.0e-5}\n"
                                "  - {out: h, op: linear, in: [n, w, b]}\n"
                                "  - {out: g, op: gelu_tanh, in: [h]}\n"
                                "  - {out: t, op: linear, in: [g, v]}\n"
                                "  - {out: s, op: linear, in: [t, u, more]}\noutputs: {y: s}\n";
    static const char *const calls[] = {"MemAlloc", "Memcpy", "LaunchKernel", "StreamSynchronize"};
    gpu_program p = start(TFGEN_FUSION_TILE), q = filled(start_module_on(p.device, gated, TFGEN_FUSION_TILE));
    tfgen_error error;
    const int64_t before = tfgen_weights_bytes(p.weights), allocated = atomic_load(&driver->allocations);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        driver->fail_call = calls[i], driver->fail_code = 700;
        atomic_store(&driver->fail_after, 0);
        const tfgen_status status = tfgen_weights_add(p.weights, q.module, q.tensors, NULL, &error);
        driver->fail_call = NULL;
        ck_assert_msg(status == TFGEN_DEVICE_ERROR, "%s", calls[i]);
        ck_assert_int_eq(tfgen_weights_bytes(p.weights), before);
        ck_assert_int_eq(atomic_load(&driver->allocations), allocated);
    }
    int at = atomic_load(&driver->launched);
    must(tfgen_weights_add(p.weights, q.module, q.tensors, NULL, &error), &error);
    ck_assert_int_eq(atomic_load(&driver->launched) - at, 1); /* only u is packed; the others were there */
    ck_assert_int_eq(tfgen_weights_bytes(p.weights), before + 256 * 256 * 2 + 256 * 2);
    ck_assert_int_eq(tfgen_weights_bytes(p.weights), tfgen_weights_bytes(q.weights));
    tfgen_weights_free(q.weights);
    q.weights = p.weights, p.weights = NULL;
    at = atomic_load(&driver->launched);
    must(execute(&q, NULL, NULL, &error), &error);
    const dim_table *dims = &q.plan->compiled.plan->ir->dims;
    for (int i = 0; i < q.plan->compiled.plan->launch_count; i++)
        check_arguments(&q, &q.plan->compiled.plan->launches[i], driver->launches[at + i].arguments, dims);
    for (size_t i = 0; i < tfgen_plan_tensor_count(p.plan); i++) tfgen_device_free(p.device, p.tensors[i]);
    tfgen_device_free(p.device, p.workspace);
    tfgen_module_free(p.module);
    tfgen_plan_free(p.plan);
    free(p.bundle);
    stop(&q);
}
END_TEST

/* The plan that tfgen_module_prepare() makes. */
static const plan *plan_at_most(arena *a, const tfgen_plan *plan, long long m)
{
    compile_request r = plan->request;
    compiled out = {0};
    r.graph.overrides = &(dim_override){"M", m}, r.graph.override_count = 1, r.at_most = true;
    ck_assert_msg(compile(a, &r, &out) == code_ok, "%s", arena_diagnostics(a));
    return out.plan;
}

/* Preparing a variant launches and allocates nothing; calls that do not fit the variant use the module's own plan. */
START_TEST(a_call_launches_what_the_variant_for_it_says)
{
    static const char wide[] = "block: ffn\ndtype: bf16\ndims: {M: 200, D: 256, F: 512}\ndynamic: {M: [1, 30000]}\ninputs: {x: [M, D]}\n"
                               "params: {w: [F, D], v: [D, F]}\nops:\n  - {out: h, op: linear, in: [x, w]}\n"
                               "  - {out: g, op: gelu_tanh, in: [h]}\n  - {out: u, op: linear, in: [g, v]}\n"
                               "  - {out: y, op: add, in: [u, x]}\noutputs: {y: y}\n";
    static const long long made[] = {200, 8, 20000};
    static const int calls[][2] = {{1, 1}, {8, 1}, {9, 0}, {199, 0}, {200, 0}, {201, 2}, {20000, 2}, {20001, 0}, {30000, 0}};
    gpu_program p = start_spec(wide, TFGEN_FUSION_TILE);
    arena *a = arena_new();
    const plan *plans[3];
    gpu_program of[3] = {p, p, p};
    tfgen_module_options options = TFGEN_MODULE_OPTIONS_INIT;
    tfgen_error error;
    for (int i = 0; i < 3; i++) plans[i] = plan_at_most(a, p.plan, made[i]);
    free(p.bundle);
    make_bundle(&p, plans, 3);
    options.bundle = p.bundle, options.bundle_size = p.bundle_size, options.bundle_only = 1;
    const int launched = atomic_load(&driver->launched), allocated = (int)atomic_load(&driver->allocations);
    for (int i = 1; i < 3; i++) {
        const tfgen_dim dim = {"M", made[i]};
        must(tfgen_module_prepare(p.module, &dim, 1, &options, &error), &error);
    }
    ck_assert_int_eq(atomic_load(&driver->launched), launched);
    ck_assert_int_eq(atomic_load(&driver->allocations), allocated);
    tfgen_plan made_of[3] = {*p.plan, *p.plan, *p.plan};
    of[1].module = p.module->variants->earlier, of[2].module = p.module->variants;
    for (int i = 1; i < 3; i++) made_of[i].compiled.plan = (plan *)of[i].module->plan, made_of[i].tensors = of[i].module->tensors;
    for (int i = 0; i < 3; i++) of[i].plan = &made_of[i];
    for (int i = 0; i < 2; i++) /* so that the two differ */
        ck_assert(launch_grid(&of[i].module->plan->launches[0], &plans[2]->ir->dims) !=
                  launch_grid(&of[i + 1].module->plan->launches[0], &plans[2]->ir->dims));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const tfgen_dim dim = {"M", calls[i][0]};
        const int at = atomic_load(&driver->launched);
        tfgen_args args = {.size = sizeof args, .tensors = p.tensors, .dims = &dim, .dim_count = 1, .workspace_bytes = 1 << 30};
#ifdef COUNTS
        counting = 1;
#endif
        const tfgen_status status = tfgen_execute(p.module, p.weights, &args, p.workspace, NULL, &error);
#ifdef COUNTS
        counting = 0;
        ck_assert_int_eq(allocations + locks, 0);
#endif
        must(status, &error);
        ck_assert_int_eq(atomic_load(&driver->launched) - at, of[calls[i][1]].module->launch_count);
        check_launches(&of[calls[i][1]], at, calls[i][0], NULL);
    }
    arena_free(a);
    stop(&p);
}
END_TEST

START_TEST(a_module_that_is_refused_keeps_no_memory)
{
#ifdef COUNTS
    gpu_program p = start(TFGEN_FUSION_TILE);
    tfgen_error error;
    tfgen_module_options options = TFGEN_MODULE_OPTIONS_INIT;
    options.bundle = p.bundle, options.bundle_size = p.bundle_size, options.bundle_only = 1;
    for (int after = 0; after < 3; after++) {
        tfgen_module *module = NULL;
        driver->fail_call = "ModuleGetFunction", driver->fail_code = 700;
        atomic_store(&driver->fail_after, after);
        counting = 1;
        const tfgen_status status = tfgen_module_create(p.plan, p.device, &options, &module, &error);
        counting = 0;
        driver->fail_call = NULL;
        ck_assert_int_eq(status, TFGEN_DEVICE_ERROR);
        ck_assert_ptr_null(module);
        ck_assert_int_eq(kept, 0);
    }
    stop(&p);
#endif
}
END_TEST

START_TEST(a_lost_device_is_an_error_of_every_call)
{
    gpu_program p = start(TFGEN_FUSION_TILE);
    tfgen_error error;
    void *memory;
    char byte;
    atomic_store(&driver->lost, 700);
    ck_assert_int_eq(execute(&p, NULL, NULL, &error), TFGEN_DEVICE_ERROR);
    ck_assert_msg(strstr(error.text, "CUDA_ERROR_ILLEGAL_ADDRESS (700)"), "%s", error.text);
    ck_assert_int_eq(tfgen_device_alloc(p.device, 16, &memory, &error), TFGEN_DEVICE_ERROR);
    ck_assert_int_eq(tfgen_device_copy(p.device, &byte, p.tensors[0], 1, TFGEN_FROM_DEVICE, NULL, &error), TFGEN_DEVICE_ERROR);
    ck_assert_int_eq(tfgen_device_synchronize(p.device, NULL, &error), TFGEN_DEVICE_ERROR);
    tfgen_weights_free(p.weights); /* must not crash */
    tfgen_module_free(p.module);
    tfgen_plan_free(p.plan);
    tfgen_device_close(p.device);
    free(p.bundle);
}
END_TEST

START_TEST(a_bundle_that_lacks_a_kernel_is_no_module)
{
    gpu_program p = start_module(ffn, TFGEN_FUSION_TILE);
    tfgen_module *module = NULL;
    tfgen_plan *plan;
    tfgen_error error;
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    tfgen_module_options from = TFGEN_MODULE_OPTIONS_INIT;
    options.target = "sm_90a", options.fusion = TFGEN_FUSION_NONE;
    from.bundle = p.bundle, from.bundle_size = p.bundle_size, from.bundle_only = 1;
    must(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", &options, &plan, &error), &error);
    ck_assert_int_eq(tfgen_module_create(plan, p.device, &from, &module, &error), TFGEN_UNSUPPORTED);
    ck_assert_ptr_null(module);
    from.bundle_size--;
    ck_assert_int_ne(tfgen_module_create(p.plan, p.device, &from, &module, &error), TFGEN_OK);
    from.bundle = NULL;
    ck_assert_int_eq(tfgen_module_create(p.plan, p.device, &from, &module, &error), TFGEN_USAGE);
    tfgen_plan_free(plan);
    stop_module(&p);
    ck_assert_int_eq(atomic_load(&driver->modules), 0);
}
END_TEST

typedef struct caller {
    gpu_program p;
    tfgen_dim dim;
    void *stream;
    tfgen_status status;
} caller;

enum { threads = 8, rounds = 40 };

static void *call_often(void *argument)
{
    caller *c = argument;
    tfgen_error error;
    for (int i = 0; i < rounds && c->status == TFGEN_OK; i++) c->status = execute(&c->p, &c->dim, c->stream, &error);
    return NULL;
}

START_TEST(eight_threads_execute_one_plan)
{
    gpu_program p = start(TFGEN_FUSION_TILE);
    const device_api *api = p.device->api;
    tfgen_error error;
    pthread_t thread[threads];
    caller callers[threads];
    const int before = atomic_load(&driver->launched), each = p.plan->compiled.plan->launch_count;
    for (int i = 0; i < threads; i++) {
        callers[i] = (caller){.p = p, .dim = {"M", 100 + i}};
        must(tfgen_device_alloc(p.device, (size_t)tfgen_workspace_bytes(p.plan, &callers[i].dim, 1), &callers[i].p.workspace, &error),
             &error);
        must(api->stream_create(p.device, &callers[i].stream, &error), &error);
    }
    for (int i = 0; i < threads; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, call_often, &callers[i]), 0);
    for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    ck_assert_int_eq(atomic_load(&driver->launched), before + threads * rounds * each);
    for (int i = 0; i < threads; i++) {
        int seen = 0;
        ck_assert_int_eq(callers[i].status, TFGEN_OK);
        dim_table dims = p.plan->compiled.plan->ir->dims;
        dim_find(&dims, "M")->value = 100 + i;
        for (int k = before; k < atomic_load(&driver->launched); k++) {
            const double_launch *l = &driver->launches[k];
            if (l->stream != callers[i].stream) continue;
            const launch *wanted = &p.plan->compiled.plan->launches[seen++ % each];
            ck_assert(is_kernel(l->kernel, wanted->name));
            check_arguments(&callers[i].p, wanted, l->arguments, &dims);
        }
        ck_assert_int_eq(seen, rounds * each);
        tfgen_device_free(p.device, callers[i].p.workspace);
        api->stream_destroy(p.device, callers[i].stream);
    }
    stop(&p);
}
END_TEST

START_TEST(cooperative_launches_have_the_attribute)
{
    gpu_program p = start(TFGEN_FUSION_TILE);
    tfgen_error error;
    const module_kernel *u = &p.module->kernels[p.module->pack_count];
    _Alignas(128) unsigned char bytes[argument_room] = {0};
    launch_shape shape = u->shape;
    const int at = atomic_load(&driver->launched);
    for (int overlap = 0; overlap < 2; overlap++) { /* those that overlap count their workgroups themselves */
        shape.cooperative = true, shape.overlap = overlap, shape.grid = 4;
        must(p.device->api->launch(p.device, u->kernel, &shape, bytes, u->argument_bytes, NULL, &error), &error);
        ck_assert_int_eq(driver->launches[at + overlap].cooperative, !overlap);
        ck_assert_int_eq(driver->launches[at + overlap].overlap, overlap);
    }
    shape.overlap = false;
    shape.grid = 1000;
    ck_assert_int_eq(p.device->api->launch(p.device, u->kernel, &shape, bytes, u->argument_bytes, NULL, &error), TFGEN_DEVICE_ERROR);
    stop(&p);
}
END_TEST

static tfgen_status cooperative_launch(const gpu_program *p, void *stream, tfgen_error *error)
{
    const module_kernel *u = &p->module->kernels[p->module->pack_count];
    _Alignas(128) unsigned char bytes[argument_room] = {0};
    launch_shape shape = u->shape;
    shape.cooperative = true, shape.overlap = false, shape.grid = 4;
    return p->device->api->launch(p->device, u->kernel, &shape, bytes, u->argument_bytes, stream, error);
}

static void cooperate(const gpu_program *p, void *stream)
{
    tfgen_error error;
    must(cooperative_launch(p, stream, &error), &error);
}

/* The double refuses cooperative launches of two streams that may run at once. */
START_TEST(a_cooperative_launch_waits_for_that_of_another_stream)
{
    gpu_program p = start(TFGEN_FUSION_TILE);
    const device_api *api = p.device->api;
    tfgen_error error;
    void *stream[2], *graph;
    for (int i = 0; i < 2; i++) must(api->stream_create(p.device, &stream[i], &error), &error);
    for (int i = 0; i < 3; i++) cooperate(&p, stream[0]);
    ck_assert_int_eq(atomic_load(&driver->event_waits), 0);
    for (int i = 0; i < 4; i++) cooperate(&p, stream[(i + 1) % 2]);
    ck_assert_int_eq(atomic_load(&driver->event_waits), 4);
    must(api->graph_begin(p.device, stream[1], &error), &error);
    cooperate(&p, stream[1]);
    must(api->graph_end(p.device, stream[1], &graph, &error), &error);
    ck_assert_int_eq(atomic_load(&driver->event_waits), 4);
    cooperate(&p, stream[0]);
    api->stream_destroy(p.device, stream[0]); /* the next one has its handle */
    must(api->stream_create(p.device, &stream[0], &error), &error);
    cooperate(&p, stream[0]);
    cooperate(&p, NULL);
    ck_assert_int_eq(atomic_load(&driver->event_waits), 6);
    driver->fail_call = "StreamWaitEvent", driver->fail_code = 700;
    ck_assert_int_eq(cooperative_launch(&p, stream[1], &error), TFGEN_DEVICE_ERROR);
    ck_assert_msg(strstr(error.text, "cuStreamWaitEvent: CUDA_ERROR_ILLEGAL_ADDRESS"), "%s", error.text);
    driver->fail_call = NULL;
    cooperate(&p, stream[1]);
    api->graph_destroy(p.device, graph);
    for (int i = 0; i < 2; i++) api->stream_destroy(p.device, stream[i]);
    stop(&p);
}
END_TEST

static gpu_program start_on(const char *name)
{
    tfgen_device *device;
    tfgen_error error;
    must(tfgen_device_open(name, &device, &error), &error);
    return filled(start_module_on(device, ffn, TFGEN_FUSION_TILE));
}

typedef struct cooperator {
    const gpu_program *p;
    void *stream[3]; /* the last one is captured */
    tfgen_status status;
    tfgen_error error;
} cooperator;

static void *cooperate_often(void *argument)
{
    cooperator *c = argument;
    tfgen_device *d = c->p->device;
    for (int i = 0; i < rounds && c->status == TFGEN_OK; i++) {
        void *graph = NULL;
        if (i % 8 == 0) c->status = d->api->graph_begin(d, c->stream[2], &c->error);
        for (int n = 0; n < 3 && c->status == TFGEN_OK; n++)
            if (n < 2 || i % 8 == 0) c->status = cooperative_launch(c->p, c->stream[n], &c->error);
        if (i % 8 == 0 && c->status == TFGEN_OK) c->status = d->api->graph_end(d, c->stream[2], &graph, &c->error);
        if (graph) d->api->graph_destroy(d, graph);
    }
    return NULL;
}

/* Threads and streams of two contexts; one of them is opened twice, as two libraries of a program would. */
START_TEST(threads_order_the_cooperative_launches_of_each_context)
{
    static const char *const names[] = {"cuda:0", "cuda:0", "cuda:1"};
    enum { programs = 3, callers = 2 * programs };
    gpu_program p[programs];
    cooperator c[callers] = {{0}};
    pthread_t thread[callers];
    tfgen_error error;
    driver->devices = 2;
    for (int i = 0; i < programs; i++) p[i] = start_on(names[i]);
    const int before = atomic_load(&driver->launched);
    for (int i = 0; i < callers; i++) {
        c[i].p = &p[i % programs];
        for (int n = 0; n < 3; n++) must(c[i].p->device->api->stream_create(c[i].p->device, &c[i].stream[n], &error), &error);
    }
    for (int i = 0; i < callers; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, cooperate_often, &c[i]), 0);
    for (int i = 0; i < callers; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < callers; i++) {
        must(c[i].status, &c[i].error);
        for (int n = 0; n < 3; n++) c[i].p->device->api->stream_destroy(c[i].p->device, c[i].stream[n]);
    }
    ck_assert_int_eq(atomic_load(&driver->launched), before + callers * rounds * 2);
    for (int i = 0; i < programs; i++) release(&p[i]);
    nothing_is_left();
}
END_TEST

START_TEST(two_devices_keep_to_their_own_contexts)
{
    gpu_program p[2];
    void *stream[2];
    tfgen_error error;
    driver->devices = 2;
    p[0] = start_on("cuda:0"), p[1] = start_on("cuda:1");
    for (int i = 0; i < 2; i++) must(p[i].device->api->stream_create(p[i].device, &stream[i], &error), &error);
    for (int i = 0; i < 4; i++) must(execute(&p[i % 2], NULL, stream[i % 2], &error), &error);
    for (int k = 0; k < atomic_load(&driver->launched); k++) {
        const double_launch *l = &driver->launches[k];
        if (l->stream) ck_assert_int_eq(l->stream == stream[1], l->context != driver->launches[0].context);
    }
    ck_assert_ptr_null(current_context());
    gpu_program mixed = p[0];
    mixed.weights = p[1].weights;
    ck_assert_int_eq(execute(&mixed, NULL, stream[0], &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "the weights are on another device"), "%s", error.text);
    ck_assert_int_eq(tfgen_weights_add(p[1].weights, p[0].module, p[0].tensors, NULL, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "the module is on another device"), "%s", error.text);
    ck_assert_int_eq(execute(&p[0], NULL, stream[1], &error), TFGEN_DEVICE_ERROR);
    must(execute(&p[0], NULL, stream[0], &error), &error);
    for (int i = 0; i < 2; i++) p[i].device->api->stream_destroy(p[i].device, stream[i]), release(&p[i]);
    nothing_is_left();
}
END_TEST

/* At level block, where its workgroups wait for each other. */
START_TEST(a_kernel_of_which_no_workgroup_fits_is_refused_when_it_is_loaded)
{
    gpu_program p = start(TFGEN_FUSION_BLOCK);
    tfgen_error error;
    tfgen_module *module = NULL;
    tfgen_module_options options = TFGEN_MODULE_OPTIONS_INIT;
    options.bundle = p.bundle, options.bundle_size = p.bundle_size, options.bundle_only = 1;
    driver->resident = 0;
    ck_assert_int_eq(tfgen_module_create(p.plan, p.device, &options, &module, &error), TFGEN_UNSUPPORTED);
    ck_assert_ptr_null(module);
    ck_assert_msg(strncmp(error.text, "kernel ", 7) == 0 && strstr(error.text, "holds a workgroup of it"), "%s", error.text);
    stop(&p);
}
END_TEST

static bool packs(const gpu_program *p, const double_launch *l)
{
    const plan *made = p->plan->compiled.plan;
    for (int i = 0; i < made->pack_count; i++)
        if (is_kernel(l->kernel, made->packs[i].name)) return true;
    return false;
}

/* Kernels may read weights before the previous launch has ended. So pack kernels are plain launches, which have ended once the weights are
 * ready. */
START_TEST(launches_of_a_plan_overlap_and_packs_do_not)
{
    gpu_program p = start(TFGEN_FUSION_TILE);
    tfgen_error error;
    const int packed = atomic_load(&driver->launched);
    must(execute(&p, NULL, NULL, &error), &error);
    must(execute(&p, NULL, NULL, &error), &error);
    ck_assert_int_gt(packed, 0);
    ck_assert_int_eq(atomic_load(&driver->launched), packed + 2 * p.plan->compiled.plan->launch_count);
    for (int i = 0; i < atomic_load(&driver->launched); i++) {
        ck_assert_int_eq(packs(&p, &driver->launches[i]), i < packed);
        ck_assert_int_eq(driver->launches[i].overlap, i >= packed);
    }
    ck_assert_int_gt(driver->launches[packed].waits, driver->launches[packed - 1].waits);
    stop(&p);
}
END_TEST

/* The argument of the last launch that says what the next call reads first. */
static next_call told(const gpu_program *p)
{
    const launch *l = &p->plan->compiled.plan->launches[0];
    const unsigned char *bytes = driver->launches[atomic_load(&driver->launched) - 1].arguments;
    next_call found = {.count = -1};
    for (int i = 0; i < l->argument_count; i++)
        if (l->arguments[i].kind == argument_next) memcpy(&found, bytes + l->arguments[i].offset, sizeof found);
    return found;
}

START_TEST(the_last_launch_is_told_what_the_next_call_reads_first)
{
    static const char step[] = "block: step\ndtype: bf16\ndims: {M: 1, D: 4096}\ninputs: {x: [M, D]}\nparams: {w: [D, D]}\n"
                               "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    tfgen_device *device;
    tfgen_error error;
    tfgen_weights *other;
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    options.followed = 1;
    must(tfgen_device_open("cuda", &device, &error), &error);
    gpu_program p = filled(start_planned(device, step, options));
    ck_assert_ptr_nonnull(strstr(p.plan->compiled.plan->launches[0].source.body, "return p.next_call;"));
    must(tfgen_weights_create(p.module, p.tensors, NULL, &other, &error), &error);
    tfgen_args args = {.size = sizeof args, .tensors = p.tensors, .next = p.module, .next_weights = other, .next_bytes = 1 << 20};
    must(tfgen_execute(p.module, p.weights, &args, p.workspace, NULL, &error), &error);
    void *first;
    must(weights_locate(other, p.module, &first, &error), &error);
    ck_assert_ptr_eq(told(&p).first, first);
    ck_assert_int_gt(told(&p).bytes, 0);
    ck_assert_int_le((long long)told(&p).count * told(&p).bytes, 1 << 20);
    ck_assert_int_le(told(&p).bytes, told(&p).step);
    args.next_bytes = SIZE_MAX;
    must(tfgen_execute(p.module, p.weights, &args, p.workspace, NULL, &error), &error);
    ck_assert_int_eq(told(&p).bytes, told(&p).step);
    args.next_bytes = 1; /* a prefetch of 0 bytes is none */
    must(tfgen_execute(p.module, p.weights, &args, p.workspace, NULL, &error), &error);
    ck_assert(told(&p).count == 0 && !told(&p).first);
    must(execute(&p, NULL, NULL, &error), &error);
    ck_assert(told(&p).count == 0 && !told(&p).first);
    args.next_weights = NULL;
    ck_assert_int_eq(tfgen_execute(p.module, p.weights, &args, p.workspace, NULL, &error), TFGEN_USAGE);
    tfgen_weights_free(other);
    stop(&p);
}
END_TEST

START_TEST(launches_are_plain_where_a_driver_cannot_capture_overlap)
{
    driver->version = 12020;
    gpu_program p = start(TFGEN_FUSION_TILE);
    const device_api *api = p.device->api;
    tfgen_error error;
    void *stream, *graph;
    must(api->stream_create(p.device, &stream, &error), &error);
    must(api->graph_begin(p.device, stream, &error), &error);
    must(execute(&p, NULL, stream, &error), &error);
    must(api->graph_end(p.device, stream, &graph, &error), &error);
    must(api->graph_launch(p.device, graph, stream, &error), &error);
    ck_assert_int_gt(atomic_load(&driver->launched), 0);
    for (int i = 0; i < atomic_load(&driver->launched); i++) ck_assert_int_eq(driver->launches[i].overlap, 0);
    api->graph_destroy(p.device, graph);
    api->stream_destroy(p.device, stream);
    stop(&p);
}
END_TEST

START_TEST(the_types_of_the_driver_are_those_of_cuda_h)
{
#ifdef HAVE_CUDA_H
    ck_assert_uint_eq(sizeof(cuda_pointer), sizeof(CUdeviceptr));
    ck_assert_uint_eq(sizeof(cuda_launch_config), sizeof(CUlaunchConfig));
    ck_assert_uint_eq(offsetof(cuda_launch_config, attributes), offsetof(CUlaunchConfig, attrs));
    ck_assert_uint_eq(offsetof(cuda_launch_config, stream), offsetof(CUlaunchConfig, hStream));
    ck_assert_uint_eq(sizeof(cuda_launch_attribute), sizeof(CUlaunchAttribute));
    ck_assert_uint_eq(offsetof(cuda_launch_attribute, value), offsetof(CUlaunchAttribute, value));
    ck_assert_int_eq(cuda_attribute_cooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
    ck_assert_int_eq(cuda_attribute_programmatic_serialization, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
    ck_assert_int_eq(cuda_out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(cuda_no_device, CUDA_ERROR_NO_DEVICE);
    ck_assert_int_eq(cuda_device_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    ck_assert_int_eq(cuda_device_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    ck_assert_int_eq(cuda_device_multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    ck_assert_int_eq(cuda_device_most_shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    ck_assert_int_eq(cuda_function_dynamic_shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    ck_assert_int_eq(cuda_capture_thread_local, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    ck_assert_int_eq(cuda_stream_non_blocking, CU_STREAM_NON_BLOCKING);
    ck_assert_int_eq(cuda_map_f16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
    ck_assert_int_eq(cuda_map_f32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
    ck_assert_int_eq(cuda_map_bf16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
    ck_assert_int_eq(cuda_map_swizzle_128, CU_TENSOR_MAP_SWIZZLE_128B);
    ck_assert_int_eq(cuda_map_promotion_128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
    ck_assert_int_eq(cuda_map_promotion_256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    ck_assert_uint_eq(map_bytes, sizeof(CUtensorMap));
    ck_assert_uint_le(_Alignof(CUtensorMap), map_bytes);
#endif
}
END_TEST

int main(int argc, char **argv)
{
    char path[4096];
    (void)argc;
    snprintf(path, sizeof path, "%.*s/doubles/libcuda_double.so", (int)(strrchr(argv[0], '/') ? strrchr(argv[0], '/') - argv[0] : 0),
             argv[0]);
    setenv("TFGEN_LIBCUDA", path, 1);
    Suite *suite = suite_create("cuda");
    TCase *c = tcase_create("double");
    tcase_add_checked_fixture(c, load_double, NULL);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_device_is_described);
    tcase_add_test(c, a_device_whose_query_fails_is_listed_without_a_target);
    tcase_add_test(c, a_list_of_an_older_caller_keeps_its_stride);
    tcase_add_test(c, the_best_device_is_the_first_gpu_with_a_target);
    tcase_add_test(c, no_driver_and_no_gpu_are_explained);
    tcase_add_test(c, every_launch_gets_what_the_plan_says);
    tcase_add_test(c, a_gpu_of_another_capability_runs_a_plan_for_sm_80);
    tcase_add_test(c, products_take_tensor_maps_and_each_call_makes_its_own);
    tcase_add_test(c, padding_between_arguments_is_cleared);
    tcase_add_test(c, attention_takes_maps_of_four_axes);
    tcase_add_test(c, a_call_allocates_nothing_and_takes_no_lock);
    tcase_add_test(c, a_current_context_is_used_and_none_is_left_behind);
    tcase_add_test(c, a_captured_call_is_replayed_with_the_same_arguments);
    tcase_add_test(c, failures_of_the_driver_leak_nothing);
    tcase_add_test(c, prefill_and_decode_share_the_weights_of_one_model);
    tcase_add_test(c, weights_are_unchanged_if_adding_to_them_failed);
    tcase_add_test(c, a_call_launches_what_the_variant_for_it_says);
    tcase_add_test(c, a_module_that_is_refused_keeps_no_memory);
    tcase_add_test(c, a_lost_device_is_an_error_of_every_call);
    tcase_add_test(c, a_bundle_that_lacks_a_kernel_is_no_module);
    tcase_add_test(c, eight_threads_execute_one_plan);
    tcase_add_test(c, cooperative_launches_have_the_attribute);
    tcase_add_test(c, a_cooperative_launch_waits_for_that_of_another_stream);
    tcase_add_test(c, threads_order_the_cooperative_launches_of_each_context);
    tcase_add_test(c, two_devices_keep_to_their_own_contexts);
    tcase_add_test(c, a_kernel_of_which_no_workgroup_fits_is_refused_when_it_is_loaded);
    tcase_add_test(c, launches_of_a_plan_overlap_and_packs_do_not);
    tcase_add_test(c, the_last_launch_is_told_what_the_next_call_reads_first);
    tcase_add_test(c, launches_are_plain_where_a_driver_cannot_capture_overlap);
    tcase_add_test(c, the_types_of_the_driver_are_those_of_cuda_h);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
