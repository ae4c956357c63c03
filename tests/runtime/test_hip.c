/* The HIP device as a host program uses it, on doubles of HIPRTC and of the HIP runtime (tests/doubles): how devices are described, every
 * shipped spec against the float64 reference, two devices, many threads, captures. */
#define _GNU_SOURCE
#include "gen/gen.h"
#include "tests/runtime/hip_program.h"
#include "tests/runtime/spilling_clang.h"
#include <glob.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- devices */
static void devices_are_described(void)
{
    tfgen_device_info list[4] = {{.size = sizeof *list}};
    setenv("TFGEN_DOUBLE_DEVICES", "gfx90a,gfx1101,gfx906", 1);
    ck_assert_uint_eq(tfgen_device_list(list, 4), 4);
    ck_assert_str_eq(list[0].name, "hip:0");
    ck_assert_str_eq(list[0].label, "AMD Instinct MI210");
    ck_assert_str_eq(list[0].arch, "gfx90a:sramecc+:xnack-");
    ck_assert_str_eq(list[0].target, "gfx90a");
    ck_assert_int_eq(list[0].multiprocessors, 104);
    ck_assert_int_eq(list[0].memory_bytes, (int64_t)4 << 30);
    ck_assert_str_eq(list[1].arch, "gfx1101");
    ck_assert_str_eq(list[1].target, "gfx1100");
    ck_assert_str_eq(list[2].name, "hip:2");
    ck_assert_str_eq(list[2].target, "");
    ck_assert_str_eq(list[3].name, "host");
    nothing_wrong();
}

START_TEST(gpus_are_mapped_to_their_targets)
{
    ck_assert_str_eq(target_of_machine("gfx1102")->name, "gfx1100");
    ck_assert_str_eq(target_of_machine("gfx942")->name, "gfx942");
    ck_assert_ptr_null(target_of_machine("gfx906"));
#define MACHINE(arch, target)                                      \
    ck_assert_str_eq(target_of_machine(#arch)->name, #target);     \
    ck_assert_ptr_null(target_find(#arch));
#include "ir/target.def"
}
END_TEST

START_TEST(devices_are_described_by_rocm_6) { devices_are_described(); }
END_TEST

START_TEST(devices_are_described_by_rocm_5)
{
    use_library("libamdhip64_rocm5_double.so");
    devices_are_described();
}
END_TEST

START_TEST(the_first_gpu_with_a_target_is_opened)
{
    tfgen_device *device;
    tfgen_device_info info = {.size = sizeof info};
    tfgen_error error;
    setenv("TFGEN_DOUBLE_DEVICES", "gfx906,gfx942", 1);
    must(tfgen_device_open(NULL, &device, &error), &error);
    ck_assert_int_eq(tfgen_device_query(device, &info), TFGEN_OK);
    ck_assert_str_eq(info.name, "hip:1");
    tfgen_device_close(device);
    ck_assert_int_eq(tfgen_device_open("hip:2", &device, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "hip:1"), "%s", error.text);
}
END_TEST

START_TEST(visible_device_variables_are_obeyed)
{
    tfgen_device_info list[4] = {{.size = sizeof *list}};
    setenv("TFGEN_DOUBLE_DEVICES", "gfx90a,gfx942,gfx1100", 1);
    setenv("ROCR_VISIBLE_DEVICES", "0,2", 1);
    setenv("HIP_VISIBLE_DEVICES", "1", 1);
    ck_assert_uint_eq(tfgen_device_list(list, 4), 2);
    ck_assert_str_eq(list[0].arch, "gfx1100");
    ck_assert_str_eq(list[0].name, "hip:0");
}
END_TEST

START_TEST(a_variable_that_hides_everything_is_named)
{
    tfgen_device *device;
    tfgen_error error;
    setenv("HIP_VISIBLE_DEVICES", "-1", 1);
    ck_assert_int_eq(tfgen_device_open("hip", &device, &error), TFGEN_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "HIP_VISIBLE_DEVICES=-1") && strstr(error.text, "hipErrorNoDevice"), "%s", error.text);
    must(tfgen_device_open(NULL, &device, &error), &error);
    ck_assert_str_eq(tfgen_device_target(device), "host");
    tfgen_device_close(device);
}
END_TEST

START_TEST(an_overridden_architecture_is_used)
{
    tfgen_device_info info = {.size = sizeof info};
    tfgen_device *device;
    tfgen_error error;
    setenv("TFGEN_DOUBLE_DEVICES", "gfx1101", 1);
    setenv("HSA_OVERRIDE_GFX_VERSION", "11.0.0", 1);
    must(tfgen_device_open("hip", &device, &error), &error);
    ck_assert_int_eq(tfgen_device_query(device, &info), TFGEN_OK);
    ck_assert_str_eq(info.arch, "gfx1100");
    ck_assert_msg(strstr(info.label, "HSA_OVERRIDE_GFX_VERSION=11.0.0"), "%s", info.label);
    tfgen_device_close(device);
}
END_TEST

START_TEST(libraries_that_are_missing_or_too_old_are_explained)
{
    tfgen_device *device;
    tfgen_error error;
    setenv("TFGEN_LIBHIP", "/nowhere/libamdhip64.so", 1);
    ck_assert_int_eq(tfgen_device_open("hip", &device, &error), TFGEN_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "TFGEN_LIBHIP") && strstr(error.text, "/nowhere"), "%s", error.text);
    setenv("TFGEN_LIBHIP", "libm.so.6", 1);
    ck_assert_int_eq(tfgen_device_open("hip", &device, &error), TFGEN_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "too old"), "%s", error.text);
}
END_TEST

/* ---- right results */
static glob_t specs;

/* The test run sets TFGEN_CACHE_DIR. */
static void run_spec(const char *path, const char *device)
{
    static char yaml[65536];
    program p;
    tfgen_error error;
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    const size_t size = fread(yaml, 1, sizeof yaml, f);
    fclose(f);
    must(start(&p, device, yaml, size, &error), &error);
    must(execute(&p, &error), &error);
    must(judge(&p, &error), &error);
    stop(&p);
    nothing_wrong();
}

START_TEST(a_shipped_spec_is_within_its_bounds_on_gfx90a) { run_spec(specs.gl_pathv[_i], "hip:0"); }
END_TEST

START_TEST(other_architectures_are_within_their_bounds)
{
    static const char *const parts[] = {"gfx942", "gfx950", "gfx1100", "gfx1201"};
    setenv("TFGEN_DOUBLE_DEVICES", parts[_i], 1);
    run_spec("specs/swiglu.yaml", "hip");
}
END_TEST

START_TEST(the_real_hiprtc_makes_the_code_object)
{
    if (access("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5", R_OK)) return (void)printf("skipped: no HIPRTC of Debian\n");
    setenv("TFGEN_DOUBLE_HIPRTC", "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5", 1);
    setenv("TFGEN_CACHE_DIR", "", 1);
    run_spec("specs/rmsnorm.yaml", "hip");
}
END_TEST

/* ---- kernels that spill */
static int command(const char *arguments, char *output, size_t size)
{
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char line[512];
    snprintf(line, sizeof line, "%s %s 2>&1", program, arguments);
    FILE *pipe = popen(line, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, size - 1, pipe)] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

static const char product_spec[] = "block: t\ndtype: bf16\ndims: {M: 70, K: 160, N: 144}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                                   "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
static char spill_folder[64];

static bool spill_on_matrix_units(void)
{
    strcpy(spill_folder, "/tmp/tfgen-spill-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(spill_folder));
    setenv("TFGEN_DOUBLE_DEVICES", "gfx942", 1);
    setenv("TFGEN_CACHE_DIR", "", 1);
    const bool there = use_spilling_clang(spill_folder, "TFGEN_DOUBLE_CLANG", "tile_m = 64, tile_n = 64, tile_k = 64");
    setenv("TFGEN_CLANG", "none", 1);
    return there;
}

static void ran_on_the_next_cheapest(program *p)
{
    tfgen_error error;
    const ir_phase *phase = p->module->plan->launches[0].work->phase;
    ck_assert_ptr_ne(p->module->plan, p->plan->compiled.plan);
    ck_assert_int_eq(phase_layer(phase), layer_register_fed);
    ck_assert_int_eq(phase->spilled[0].scratch, 1040);
    ck_assert_ptr_null(strstr(tfgen_plan_manifest(p->plan), "\"spilled\""));
    ck_assert_ptr_nonnull(strstr(tfgen_module_manifest(p->module), "\"spilled\""));
    must(execute(p, &error), &error);
    must(judge(p, &error), &error);
}

START_TEST(a_kernel_that_spills_runs_from_a_plan_made_again)
{
    program p;
    tfgen_error error;
    if (!spill_on_matrix_units()) return;
    must(start(&p, "hip", product_spec, sizeof product_spec - 1, &error), &error);
    ran_on_the_next_cheapest(&p);
    stop(&p);
    directory_remove(spill_folder);
    nothing_wrong();
}
END_TEST

/* Numbers -1, 0 and 1: bf16 holds their sums of 160 products exactly. */
static int small(size_t i) { return (int)((unsigned)i * 2654435761u >> 9) % 3 - 1; }

static void put_small(const program *p, const char *name, tfgen_tensor_kind kind, size_t count)
{
    static const uint16_t bits[] = {0xbf80, 0, 0x3f80};
    uint16_t data[144 * 160];
    tfgen_error error;
    for (size_t i = 0; i < count; i++) data[i] = bits[small(i + (size_t)kind * 7777) + 1];
    must(tfgen_device_copy(p->device, p->tensors[tfgen_plan_tensor_index(p->plan, name, kind)], data, count * 2, TFGEN_TO_DEVICE, NULL,
                           &error), &error);
}

/* The plan for seven rows does not have this tile, that for seventy has. */
START_TEST(a_variant_that_spills_is_planned_again)
{
    static const char rows[] = "block: t\ndtype: bf16\ndims: {M: 7, K: 160, N: 144}\ndynamic: {M: [1, 70]}\ninputs: {x: [M, K]}\n"
                               "params: {w: [N, K]}\nops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    const tfgen_dim dim = {"M", 70};
    uint16_t y[70 * 144];
    program p;
    tfgen_error error;
    if (!spill_on_matrix_units()) return;
    must(start(&p, "hip", rows, sizeof rows - 1, &error), &error);
    ck_assert_ptr_eq(p.module->plan, p.plan->compiled.plan);
    must(tfgen_module_prepare(p.module, &dim, 1, NULL, &error), &error);
    const ir_phase *phase = p.module->variants->plan->launches[0].work->phase;
    ck_assert_int_eq(phase_layer(phase), layer_register_fed);
    ck_assert_int_eq(phase->spilled_count, 1);
    ck_assert_ptr_nonnull(strstr(tfgen_module_manifest(p.module), "\"spilled\""));
    for (size_t i = 0; i < p.count; i++) {
        tfgen_device_free(p.device, p.tensors[i]);
        must(tfgen_device_alloc(p.device, sizeof(uint16_t) * 144 * 160, &p.tensors[i], &error), &error);
    }
    put_small(&p, "x", TFGEN_INPUT, 70 * 160);
    put_small(&p, "w", TFGEN_PARAM, 144 * 160);
    tfgen_weights_free(p.weights);
    must(tfgen_weights_create(p.module, p.tensors, NULL, &p.weights, &error), &error);
    const tfgen_args args = {.size = sizeof args, .tensors = p.tensors, .dims = &dim, .dim_count = 1};
    must(tfgen_execute(p.module, p.weights, &args, p.workspace, NULL, &error), &error);
    must(tfgen_device_copy(p.device, y, p.tensors[tfgen_plan_tensor_index(p.plan, "y", TFGEN_OUTPUT)], sizeof y, TFGEN_FROM_DEVICE, NULL,
                           &error), &error);
    for (size_t i = 0; i < 70 * 144; i++) {
        int wanted = 0;
        for (size_t k = 0; k < 160; k++)
            wanted += small(i / 144 * 160 + k) * small(i % 144 * 160 + k + (size_t)TFGEN_PARAM * 7777);
        ck_assert_msg(dtype_get(dtype_bf16, y, i) == wanted, "[%zu] is %g, not %d", i, dtype_get(dtype_bf16, y, i), wanted);
    }
    stop(&p);
    directory_remove(spill_folder);
    nothing_wrong();
}
END_TEST

/* Finds the bundle in the library that `tfgen build` writes: it begins with its magic and has its size. */
static void *bundle_of(const char *path, size_t *size)
{
    static unsigned char file[8 << 20];
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    const size_t n = fread(file, 1, sizeof file, f);
    fclose(f);
    const unsigned char *at = memmem(file, n, "tfbundle", 8);
    ck_assert_ptr_nonnull(at);
    uint64_t bytes;
    memcpy(&bytes, at + 16, sizeof bytes);
    void *copy = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memcpy(copy, at, *size = bytes);
    return copy;
}

START_TEST(a_bundle_has_the_kernels_of_the_plan_made_again)
{
    static char output[1 << 16], path[256];
    program p = {.b = bench_open(product_spec, sizeof product_spec - 1, NULL)};
    tfgen_plan_options planned = TFGEN_PLAN_OPTIONS_INIT;
    tfgen_module_options options = TFGEN_MODULE_OPTIONS_INIT;
    tfgen_error error;
    if (!spill_on_matrix_units()) return;
    bench_fill(p.b, 1);
    snprintf(path, sizeof path, "%s/test.yaml", spill_folder);
    FILE *f = fopen(path, "w");
    fputs(product_spec, f);
    fclose(f);
    snprintf(path, sizeof path, "build %s/test.yaml --target=gfx942 --quiet -o %s", spill_folder, spill_folder);
    ck_assert_msg(command(path, output, sizeof output) == 0, "%s", output);
    snprintf(path, sizeof path, "%s/libt.a", spill_folder);
    void *bundle = bundle_of(path, &options.bundle_size);
    options.bundle = bundle, options.bundle_only = 1;
    planned.target = "gfx942";
    setenv("TFGEN_HIPRTC", "/nowhere", 1);
    must(tfgen_device_open("hip", &p.device, &error), &error);
    must(tfgen_plan_create(product_spec, sizeof product_spec - 1, "test.yaml", &planned, &p.plan, &error), &error);
    must(tfgen_module_create(p.plan, p.device, &options, &p.module, &error), &error);
    must(make_memory(&p, &error), &error);
    must(tfgen_weights_create(p.module, p.tensors, p.stream, &p.weights, &error), &error);
    ran_on_the_next_cheapest(&p);
    stop(&p);
    free(bundle);
    directory_remove(spill_folder);
    nothing_wrong();
}
END_TEST

typedef struct caller {
    program p;
    tfgen_status status;
    tfgen_error error;
    int device_after;
} caller;

static void *call_often(void *argument)
{
    caller *c = argument;
    for (int i = 0; i < 10 && c->status == TFGEN_OK; i++) {
        c->status = execute(&c->p, &c->error);
        if (c->status == TFGEN_OK) c->status = tfgen_device_synchronize(c->p.device, c->p.stream, &c->error);
    }
    c->device_after = current_device();
    return NULL;
}

START_TEST(two_devices_work_at_once_and_the_current_one_stays)
{
    caller c[2] = {0};
    pthread_t thread[2];
    tfgen_error error;
    setenv("TFGEN_DOUBLE_DEVICES", "gfx90a,gfx1100", 1);
    must(start(&c[0].p, "hip:0", hip_ffn, sizeof hip_ffn - 1, &error), &error);
    must(start(&c[1].p, "hip:1", hip_ffn, sizeof hip_ffn - 1, &error), &error);
    ck_assert_int_eq(current_device(), 0);
    for (int i = 0; i < 2; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, call_often, &c[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        must(c[i].status, &c[i].error);
        ck_assert_int_eq(c[i].device_after, 0);
        must(judge(&c[i].p, &error), &error);
    }
    ck_assert_int_eq(DOUBLE(int (*)(int), "hipSetDevice")(1), 0);
    must(execute(&c[0].p, &error), &error);
    must(judge(&c[0].p, &error), &error);
    ck_assert_int_eq(current_device(), 1);
    for (int i = 0; i < 2; i++) stop(&c[i].p);
    ck_assert_int_eq(current_device(), 1);
    nothing_wrong();
}
END_TEST

START_TEST(eight_threads_execute_one_plan)
{
    enum { threads = 8 };
    caller c[threads] = {0};
    pthread_t thread[threads];
    program p;
    tfgen_error error;
    must(start(&p, "hip", hip_ffn, sizeof hip_ffn - 1, &error), &error);
    const size_t y = tfgen_plan_tensor_index(p.plan, "result", TFGEN_OUTPUT);
    for (int i = 0; i < threads; i++) {
        c[i].p = p;
        must(p.device->api->stream_create(p.device, &c[i].p.stream, &error), &error);
        must(tfgen_device_alloc(p.device, (size_t)tfgen_plan_workspace_bytes(p.plan), &c[i].p.workspace, &error), &error);
        must(tfgen_device_alloc(p.device, (size_t)tensor_of(&p, y).bytes, &c[i].p.tensors[y], &error), &error);
    }
    for (int i = 0; i < threads; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, call_often, &c[i]), 0);
    for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < threads; i++) {
        must(c[i].status, &c[i].error);
        must(judge(&c[i].p, &error), &error);
        tfgen_device_free(p.device, c[i].p.workspace);
        tfgen_device_free(p.device, c[i].p.tensors[y]);
        p.device->api->stream_destroy(p.device, c[i].p.stream);
    }
    stop(&p);
    nothing_wrong();
}
END_TEST

/* Whole numbers, so that every program gets the same bits. */
static float number(size_t i) { return (float)((int)((unsigned)i * 2654435761u >> 9) % 9 - 4); }

static void put(const program *p, const char *name, tfgen_tensor_kind kind, float *data, size_t count)
{
    tfgen_error error;
    for (size_t i = 0; i < count; i++) data[i] = kind == TFGEN_OUTPUT ? -1.0f : number(i + 100 * (size_t)name[0]);
    must(tfgen_device_copy(p->device, p->tensors[tfgen_plan_tensor_index(p->plan, name, kind)], data, count * 4, TFGEN_TO_DEVICE, NULL,
                           &error), &error);
}

/* Many rows run on matrix units or register tiles, two rows on another program. */
START_TEST(a_variant_runs_the_calls_that_it_covers)
{
    static const char products[] = "block: products\ndtype: f32\ndims: {M: 40, D: 64, F: 96}\ndynamic: {M: [1, 40]}\n"
                                   "inputs: {x: [M, D]}\nparams: {w: [F, D]}\nops:\n  - {out: y, op: linear, in: [x, w]}\n"
                                   "outputs: {result: y}\n";
    static const int calls[] = {1, 2, 3, 40};
    static float x[40 * 64], w[96 * 64], y[40 * 96];
    program p;
    tfgen_error error;
    setenv("TFGEN_DOUBLE_DEVICES", _i ? "gfx1100" : "gfx942", 1);
    must(start(&p, "hip", products, sizeof products - 1, &error), &error);
    put(&p, "x", TFGEN_INPUT, x, 40 * 64);
    put(&p, "w", TFGEN_PARAM, w, 96 * 64);
    tfgen_weights_free(p.weights);
    must(tfgen_weights_create(p.module, p.tensors, NULL, &p.weights, &error), &error);
    const long before = launches();
    const tfgen_dim few = {"M", 2};
    must(tfgen_module_prepare(p.module, &few, 1, NULL, &error), &error);
    ck_assert_int_eq(launches(), before);
    ck_assert_int_ne(p.module->variants->plan->launches[0].work->extents.tile_rows,
                     p.module->plan->launches[0].work->extents.tile_rows);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        const tfgen_dim dim = {"M", calls[c]};
        const tfgen_args args = {.size = sizeof args, .tensors = p.tensors, .dims = &dim, .dim_count = 1};
        put(&p, "result", TFGEN_OUTPUT, y, 40 * 96);
        must(tfgen_execute(p.module, p.weights, &args, p.workspace, NULL, &error), &error);
        must(tfgen_device_copy(p.device, y, p.tensors[tfgen_plan_tensor_index(p.plan, "result", TFGEN_OUTPUT)], sizeof y,
                               TFGEN_FROM_DEVICE, NULL, &error), &error);
        for (int i = 0; i < 40 * 96; i++) {
            float wanted = i < calls[c] * 96 ? 0 : -1;
            for (int k = 0; k < 64 && i < calls[c] * 96; k++) wanted += x[i / 96 * 64 + k] * w[i % 96 * 64 + k];
            ck_assert_msg(y[i] == wanted, "%d rows: [%d] is %g, not %g", calls[c], i, y[i], wanted);
        }
    }
    stop(&p);
    nothing_wrong();
}
END_TEST

START_TEST(a_captured_call_is_replayed)
{
    program p;
    tfgen_error error;
    void *graph, *start_event, *end_event;
    double seconds = -1;
    must(start(&p, "hip", hip_ffn, sizeof hip_ffn - 1, &error), &error);
    const device_api *api = p.device->api;
    must(api->stream_create(p.device, &p.stream, &error), &error);
    must(api->event_create(p.device, &start_event, &error), &error);
    must(api->event_create(p.device, &end_event, &error), &error);
    must(api->graph_begin(p.device, p.stream, &error), &error);
    must(execute(&p, &error), &error);
    ck_assert_int_eq(tfgen_device_copy(p.device, p.tensors[0], &seconds, 8, TFGEN_TO_DEVICE, p.stream, &error), TFGEN_USAGE);
    must(api->graph_end(p.device, p.stream, &graph, &error), &error);
    const long before = launches(), each = p.plan->compiled.plan->launch_count;
    must(api->event_record(p.device, start_event, p.stream, &error), &error);
    for (int i = 0; i < 3; i++) must(api->graph_launch(p.device, graph, p.stream, &error), &error);
    must(api->event_record(p.device, end_event, p.stream, &error), &error);
    must(api->event_elapsed(p.device, start_event, end_event, &seconds, &error), &error);
    ck_assert_int_eq(launches(), before + 3 * each);
    ck_assert(seconds > 0);
    must(judge(&p, &error), &error);
    api->graph_destroy(p.device, graph);
    api->event_destroy(p.device, start_event);
    api->event_destroy(p.device, end_event);
    api->stream_destroy(p.device, p.stream);
    p.stream = NULL;
    stop(&p);
    nothing_wrong();
}
END_TEST

/* ---- order of work, and objects that may be freed while kernels run */
static const char plain[] = "block: plain\ndtype: f32\ndims: {M: 5, D: 24}\ninputs: {x: [M, D]}\nops:\n  - {out: y, op: softmax, in: [x]}\n"
                            "outputs: {result: y}\n";

START_TEST(a_call_only_queues_its_launches)
{
    program p;
    tfgen_error error;
    must(start(&p, "hip", hip_ffn, sizeof hip_ffn - 1, &error), &error);
    must(tfgen_device_synchronize(p.device, NULL, &error), &error);
    const long before = launches();
    must(execute(&p, &error), &error);
    ck_assert_int_eq(launches(), before);
    must(tfgen_device_synchronize(p.device, NULL, &error), &error);
    ck_assert_int_eq(launches(), before + p.plan->compiled.plan->launch_count);
    stop(&p);
    nothing_wrong();
}
END_TEST

START_TEST(modules_and_memory_may_be_freed_while_kernels_run)
{
    program p;
    tfgen_error error;
    must(start(&p, "hip", plain, sizeof plain - 1, &error), &error);
    must(execute(&p, &error), &error);
    tfgen_weights_free(p.weights);
    tfgen_module_free(p.module);
    p.weights = NULL, p.module = NULL;
    ck_assert_int_eq(launches(), 1);
    must(judge(&p, &error), &error);
    stop(&p);
    must(start(&p, "hip", hip_ffn, sizeof hip_ffn - 1, &error), &error);
    must(execute(&p, &error), &error);
    stop(&p);
    nothing_wrong();
}
END_TEST

START_TEST(the_host_cannot_touch_device_memory)
{
    program p;
    tfgen_error error;
    int status;
    must(start(&p, "hip", plain, sizeof plain - 1, &error), &error);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*(volatile char *)p.tensors[0] * 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    stop(&p);
}
END_TEST

static void count_cached(void *context, const tfgen_progress *progress) { *(int *)context += progress->cached; }

static int cached_kernels(const program *p)
{
    tfgen_module_options options = TFGEN_MODULE_OPTIONS_INIT;
    tfgen_module *module;
    tfgen_error error;
    int cached = 0;
    options.progress = count_cached, options.context = &cached;
    must(tfgen_module_create(p->plan, p->device, &options, &module, &error), &error);
    tfgen_module_free(module);
    return cached;
}

START_TEST(an_overridden_architecture_has_entries_of_its_own_in_the_cache)
{
    char folder[] = "/tmp/tfgen-hip-XXXXXX", command[100];
    program p;
    tfgen_error error;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("TFGEN_CACHE_DIR", folder, 1);
    setenv("TFGEN_DOUBLE_DEVICES", "gfx1100", 1);
    must(start(&p, "hip", plain, sizeof plain - 1, &error), &error);
    ck_assert_int_eq(cached_kernels(&p), 1);
    setenv("HSA_OVERRIDE_GFX_VERSION", "11.0.0", 1);
    ck_assert_int_eq(cached_kernels(&p), 0);
    ck_assert_int_eq(cached_kernels(&p), 1);
    stop(&p);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
    nothing_wrong();
}
END_TEST

START_TEST(the_command_runs_on_the_best_available_device)
{
    static char output[1 << 16];
    setenv("TFGEN_DOUBLE_DEVICES", "gfx906,gfx90a", 1);
    ck_assert_msg(command("run specs/softmax.yaml --repeat=0 --json", output, sizeof output) == 0, "%s", output);
    ck_assert_msg(strstr(output, "\"device\": \"hip:1"), "%s", output);
    ck_assert_msg(command("run specs/softmax.yaml --repeat=0 --json --target=gfx90a", output, sizeof output) == 0, "%s", output);
    ck_assert_msg(strstr(output, "\"device\": \"host\""), "%s", output);
    /* More layers than a launch on gfx90a can count are refused before memory is taken for them. */
    ck_assert_int_eq(command("run specs/bert-block.yaml --dim=D=16,H=1,F=16,S=4 --device=hip:1 --fusion=block --layers=9999", output,
                             sizeof output), 4);
    ck_assert_msg(strstr(output, "a stack of 9999 layers; a launch on this device has at most "), "%s", output);
}
END_TEST

static void add_devices(Suite *suite)
{
    TCase *c = tcase_create("devices");
    tcase_add_test(c, gpus_are_mapped_to_their_targets);
    tcase_add_test(c, devices_are_described_by_rocm_6);
    tcase_add_test(c, devices_are_described_by_rocm_5);
    tcase_add_test(c, the_first_gpu_with_a_target_is_opened);
    tcase_add_test(c, visible_device_variables_are_obeyed);
    tcase_add_test(c, a_variable_that_hides_everything_is_named);
    tcase_add_test(c, an_overridden_architecture_is_used);
    tcase_add_test(c, libraries_that_are_missing_or_too_old_are_explained);
    suite_add_tcase(suite, c);
}

/* Specs with every family of kernels; the other shipped specs only differ in sizes and epilogues. */
static bool has_all(const char *path)
{
    static const char *const names[] = {"gelu-layernorm-linear", "llama-block", "llama-decode", "softmax"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) found = found || strstr(path, names[i]);
    return found;
}

static void add_results(Suite *suite)
{
    TCase *c = tcase_create("results");
    (void)glob("specs/*.yaml", 0, NULL, &specs); /* none: the loop would be empty, which main refuses */
    tcase_set_timeout(c, 300);
    TCase *more = suite_long(suite, "more results", 300);
    for (int i = 0; i < (int)specs.gl_pathc; i++)
        tcase_add_loop_test(has_all(specs.gl_pathv[i]) ? c : more, a_shipped_spec_is_within_its_bounds_on_gfx90a, i, i + 1);
    tcase_add_loop_test(c, other_architectures_are_within_their_bounds, 0, 4);
    tcase_add_test(c, the_real_hiprtc_makes_the_code_object);
    tcase_add_test(c, two_devices_work_at_once_and_the_current_one_stays);
    tcase_add_test(c, eight_threads_execute_one_plan);
    tcase_add_loop_test(c, a_variant_runs_the_calls_that_it_covers, 0, 2);
    tcase_add_test(c, a_captured_call_is_replayed);
    tcase_add_test(c, a_call_only_queues_its_launches);
    tcase_add_test(c, modules_and_memory_may_be_freed_while_kernels_run);
    tcase_add_test(c, the_host_cannot_touch_device_memory);
    tcase_add_test(c, an_overridden_architecture_has_entries_of_its_own_in_the_cache);
    tcase_add_test(c, a_kernel_that_spills_runs_from_a_plan_made_again);
    tcase_add_test(c, a_variant_that_spills_is_planned_again);
    tcase_add_test(c, a_bundle_has_the_kernels_of_the_plan_made_again);
    tcase_add_test(c, the_command_runs_on_the_best_available_device);
    suite_add_tcase(suite, c);
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!use_doubles(argv[0])) return EXIT_FAILURE;
    Suite *suite = suite_create("hip");
    add_devices(suite);
    add_results(suite);
    return specs.gl_pathc ? run_suite(suite) : EXIT_FAILURE;
}
