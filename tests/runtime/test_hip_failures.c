/* What goes wrong on the HIP device: each failure of the driver has the documented status and text and leaves nothing behind, code that
 * does not fit is refused, and the double of the HIP runtime (tests/doubles) sees what no GPU would forgive. */
#define _GNU_SOURCE
#include "tests/runtime/hip_program.h"
#include "tests/runtime/tiny_kernel.h"
#include <pthread.h>
#include <sys/mman.h>

/* ---- allocations of this thread that are not freed; a sanitizer reports leaks itself */
static _Thread_local volatile int counting, kept;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
#pragma GCC visibility push(default) /* for the C library, too */
void *malloc(size_t n)
{
    kept += counting;
    return __libc_malloc(n);
}
void *calloc(size_t n, size_t size)
{
    kept += counting;
    return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n)
{
    kept += counting && !p;
    return __libc_realloc(p, n);
}
void free(void *p)
{
    kept -= counting && p;
    __libc_free(p);
}
#pragma GCC visibility pop
#endif

/* ---- failures */
typedef struct failure {
    const char *call, *name; /* of the error */
    int code;
    tfgen_status status;
} failure;
static const failure failures[] = {
    {"hipDeviceGetName", "hipErrorInvalidDevice", hip_invalid_device, TFGEN_DEVICE_ERROR},
    {"hipDeviceTotalMem", "hipErrorInvalidDevice", hip_invalid_device, TFGEN_DEVICE_ERROR},
    {"hipDeviceGetAttribute", "hipErrorInvalidValue", hip_invalid_value, TFGEN_DEVICE_ERROR},
    {"hipGetDeviceProperties", "", hip_invalid_device, TFGEN_DEVICE_ERROR},
    {"hipModuleLoadData", "hipErrorNoBinaryForGpu", hip_no_binary_for_gpu, TFGEN_UNSUPPORTED},
    {"hipModuleLoadData", "hipErrorOutOfMemory", hip_out_of_memory, TFGEN_NO_MEMORY},
    {"hipModuleGetFunction", "hipErrorNotFound", hip_not_found, TFGEN_DEVICE_ERROR},
    {"hipMalloc", "hipErrorOutOfMemory", hip_out_of_memory, TFGEN_NO_MEMORY},
    {"hipMemcpyAsync", "hipErrorInvalidValue", hip_invalid_value, TFGEN_DEVICE_ERROR},
    {"hipModuleLaunchKernel", "hipErrorLaunchFailure", hip_launch_failure, TFGEN_DEVICE_ERROR},
    {"hipModuleLaunchKernel", "hipErrorLaunchOutOfResources", hip_launch_out_of_resources, TFGEN_DEVICE_ERROR},
    {"hipStreamSynchronize", "hipErrorIllegalAddress", hip_illegal_address, TFGEN_DEVICE_ERROR}};

/* Each call of the driver fails in turn: the documented status and text, nothing is left, and the same program works afterwards. */
START_TEST(a_call_that_fails_is_named_and_leaves_nothing_behind)
{
    const failure *f = &failures[_i];
    tfgen_error error;
    char plan[100];
    int n = 1;
    for (;; n++) {
        snprintf(plan, sizeof plan, "%s:%d:%d", f->call, n, f->code);
        plan_fault(plan);
        error.text[0] = '\0';
        const tfgen_status status = whole("hip", &error);
        plan_fault(NULL);
        nothing_wrong();
        if (status == TFGEN_OK) break;
        ck_assert_int_eq(status, f->status);
        ck_assert_msg(strstr(error.text, f->call) && strstr(error.text, f->name), "%s: %s", plan, error.text);
    }
    ck_assert_int_gt(n, 1);
    ck_assert_int_le(n, 64);
    must(whole("hip", &error), &error);
}
END_TEST

START_TEST(too_little_memory_says_how_much_was_asked_for)
{
    program p;
    tfgen_error error;
    void *memory;
    setenv("TFGEN_DOUBLE_MEMORY", "1000000", 1);
    must(start(&p, "hip", hip_ffn, sizeof hip_ffn - 1, &error), &error);
    ck_assert_int_eq(tfgen_device_alloc(p.device, 2000000, &memory, &error), TFGEN_NO_MEMORY);
    ck_assert(memory == NULL);
    ck_assert_msg(strstr(error.text, "2000000 bytes") && strstr(error.text, "hipErrorOutOfMemory"), "%s", error.text);
    must(execute(&p, &error), &error);
    must(judge(&p, &error), &error);
    stop(&p);
    nothing_wrong();
}
END_TEST

START_TEST(an_error_of_a_running_kernel_is_reported_by_the_next_wait)
{
    program p;
    tfgen_error error;
    must(start(&p, "hip", hip_ffn, sizeof hip_ffn - 1, &error), &error);
    must(tfgen_device_synchronize(p.device, NULL, &error), &error);
    plan_fault("async:2");
    must(execute(&p, &error), &error);
    ck_assert_int_eq(tfgen_device_synchronize(p.device, NULL, &error), TFGEN_DEVICE_ERROR);
    ck_assert_msg(strstr(error.text, "hipStreamSynchronize: hipErrorLaunchFailure (719)"), "%s", error.text);
    must(execute(&p, &error), &error);
    must(judge(&p, &error), &error);
    stop(&p);
    nothing_wrong();
}
END_TEST

START_TEST(a_lost_device_fails_every_call_and_the_other_one_works)
{
    program p;
    tfgen_error error;
    void *memory;
    setenv("TFGEN_DOUBLE_DEVICES", "gfx90a,gfx90a", 1);
    must(start(&p, "hip:0", hip_ffn, sizeof hip_ffn - 1, &error), &error);
    plan_fault("lost:2");
    ck_assert_int_eq(execute(&p, &error), TFGEN_DEVICE_ERROR);
    ck_assert_msg(strstr(error.text, "hipModuleLaunchKernel") && strstr(error.text, "hipErrorNoDevice"), "%s", error.text);
    for (int i = 0; i < 3; i++) ck_assert_int_eq(execute(&p, &error), TFGEN_DEVICE_ERROR);
    ck_assert_int_eq(tfgen_device_synchronize(p.device, NULL, &error), TFGEN_DEVICE_ERROR);
    ck_assert_int_eq(tfgen_device_alloc(p.device, 64, &memory, &error), TFGEN_DEVICE_ERROR);
    must(whole("hip:1", &error), &error);
    stop(&p);
    nothing_wrong();
}
END_TEST

/* ---- code that does not fit */
START_TEST(code_for_another_architecture_is_refused)
{
    tfgen_device *device;
    tfgen_error error;
    code_result code;
    void *image = NULL;
    int (*load)(void **, const void *) = DOUBLE(int (*)(void **, const void *), "hipModuleLoadData");
    const char source[] = TINY_PREFIX TINY_KERNEL;
    unsetenv("TFGEN_CLANG");
    ck_assert_int_eq(code_compile(&(code_request){.source = source, .size = sizeof source - 1, .name = "tiny.hip", .arch = "gfx1100",
                                                  .compiler = compiler_clang}, &code), build_ok);
    must(tfgen_device_open("hip", &device, &error), &error);
    ck_assert_int_eq(device->api->load(device, code.code, code.code_size, &image, &error), TFGEN_UNSUPPORTED);
    ck_assert_str_eq(error.text, "the code is for gfx1100, hip:0 is gfx90a:sramecc+:xnack-");
    ck_assert_int_eq(load(&image, code.code), hip_no_binary_for_gpu);
    ck_assert_int_eq(device->api->load(device, "no ELF", 6, &image, &error), TFGEN_IO);
    tfgen_device_close(device);
    code_result_free(&code);
    nothing_wrong();
}
END_TEST

START_TEST(a_load_that_is_refused_keeps_no_memory)
{
    tfgen_device *device;
    tfgen_error error;
    code_result code;
    void *image = NULL;
    const char source[] = TINY_PREFIX TINY_KERNEL;
    unsetenv("TFGEN_CLANG");
    ck_assert_int_eq(code_compile(&(code_request){.source = source, .size = sizeof source - 1, .name = "tiny.hip", .arch = "gfx90a",
                                                  .compiler = compiler_clang}, &code), build_ok);
    must(tfgen_device_open("hip", &device, &error), &error);
    for (int i = 0; i < 8; i++) {
        plan_fault("hipModuleLoadData:1:2");
        counting = 1;
        const tfgen_status status = device->api->load(device, code.code, code.code_size, &image, &error);
        counting = 0;
        ck_assert_int_eq(status, TFGEN_NO_MEMORY);
    }
    plan_fault(NULL);
    ck_assert_int_eq(kept, 0);
    tfgen_device_close(device);
    code_result_free(&code);
    nothing_wrong();
}
END_TEST

START_TEST(a_runtime_older_than_the_compiler_is_reported)
{
    tfgen_error error;
    setenv("TFGEN_DOUBLE_VERSION", "50221153", 1);
    plan_fault("hipModuleLoadData:1:209");
    ck_assert_int_eq(whole("hip", &error), TFGEN_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "HIP 5.2 does not load this code for gfx90a") && strstr(error.text, "TFGEN_CLANG=none"), "%s",
                  error.text);
    nothing_wrong();
}
END_TEST

START_TEST(a_missing_kernel_is_named)
{
    program p;
    tfgen_error error;
    void *kernel;
    must(start(&p, "hip", hip_ffn, sizeof hip_ffn - 1, &error), &error);
    ck_assert_int_eq(p.device->api->kernel(p.device, p.module->kernels[0].image, "no_such_kernel", 0, &kernel, &error), TFGEN_DEVICE_ERROR);
    ck_assert_msg(strstr(error.text, "hipModuleGetFunction no_such_kernel: hipErrorNotFound"), "%s", error.text);
    ck_assert_int_eq(p.device->api->kernel(p.device, p.module->kernels[0].image, p.module->kernels[0].name, 1 << 20, &kernel, &error),
                     TFGEN_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "1048576 bytes of LDS"), "%s", error.text);
    stop(&p);
    nothing_wrong();
}
END_TEST

/* ---- what the double notices: errors that no GPU forgives are reported, and nothing runs */
typedef struct shot {
    program p;
    const module_kernel *kernel;
    launch_shape shape;
    _Alignas(128) unsigned char bytes[argument_room];
} shot;

static void load_shot(shot *s, const char *device)
{
    tfgen_error error;
    must(start(&s->p, device, hip_ffn, sizeof hip_ffn - 1, &error), &error);
    must(tfgen_device_synchronize(s->p.device, NULL, &error), &error);
    s->kernel = &s->p.module->kernels[s->p.module->pack_count];
    s->shape = s->kernel->shape;
    memset(s->bytes, 0, sizeof s->bytes);
    for (int i = 0; i < s->kernel->binding_count; i++)
        if (s->kernel->bindings[i].kind != binding_dim) memcpy(s->bytes + s->kernel->bindings[i].offset, &s->p.workspace, sizeof(void *));
    ck_assert_ptr_null(violations());
}

static tfgen_status fire(shot *s, size_t bytes, tfgen_error *error)
{
    return s->p.device->api->launch(s->p.device, s->kernel->kernel, &s->shape, s->bytes, bytes, NULL, error);
}

/* Checks that the launch fails and that the double reports why. */
static void expect(shot *s, size_t bytes, const char *why)
{
    tfgen_error error = {""};
    const long before = launches();
    ck_assert_int_eq(fire(s, bytes, &error), TFGEN_DEVICE_ERROR);
    ck_assert_msg(strstr(error.text, s->kernel->name), "%s", error.text);
    const char *text = violations();
    ck_assert_msg(text && strstr(text, why), "expected '%s', the double saw: %s", why, text ? text : "nothing");
    ck_assert_int_eq(launches(), before);
}

static void point(shot *s, const void *to) { memcpy(s->bytes + s->kernel->bindings[0].offset, &to, sizeof to); }

/* Also at the addresses where another compiler's sanitizer has its heap. */
START_TEST(host_memory_as_an_argument_is_caught_wherever_it_is)
{
    static int fixed;
    shot s;
    int *host = malloc(64), *low = mmap((char *)(uintptr_t)0x502000000000, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const void *const places[] = {host, &fixed, &s, low};
    load_shot(&s, "hip");
    ck_assert_ptr_ne(low, MAP_FAILED);
    *host = *low = fixed = 1;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        point(&s, places[i]);
        expect(&s, s.kernel->argument_bytes, "of its arguments is the host's");
    }
    munmap(low, 4096);
    free(host);
    stop(&s.p);
    nothing_wrong();
}
END_TEST

START_TEST(wrong_arguments_are_caught)
{
    shot s;
    tfgen_error error;
    void *memory;
    load_shot(&s, "hip");
    const size_t bytes = s.kernel->argument_bytes;
    expect(&s, bytes - 8, "bytes of arguments; its metadata says");
    expect(&s, bytes + 8, "bytes of arguments; its metadata says");
    must(tfgen_device_alloc(s.p.device, 64, &memory, &error), &error);
    point(&s, (char *)memory + 64);
    expect(&s, bytes, "beyond the end");
    point(&s, (char *)memory + 4096);
    expect(&s, bytes, "between allocations");
    tfgen_device_free(s.p.device, memory);
    point(&s, memory);
    expect(&s, bytes, "freed memory");
    point(&s, s.p.workspace);
    s.shape.threads = 2048;
    expect(&s, bytes, "compiled for at most");
    s.shape.threads = s.kernel->shape.threads, s.shape.dynamic_bytes = 1 << 20;
    expect(&s, bytes, "bytes of LDS");
    s.shape.dynamic_bytes = 0, s.shape.grid = 0;
    expect(&s, bytes, "a grid of 0");
    stop(&s.p);
    nothing_wrong();
}
END_TEST

START_TEST(memory_of_another_device_is_caught)
{
    shot s;
    program other;
    tfgen_error error;
    setenv("TFGEN_DOUBLE_DEVICES", "gfx90a,gfx90a", 1);
    must(start(&other, "hip:1", hip_ffn, sizeof hip_ffn - 1, &error), &error);
    load_shot(&s, "hip:0");
    point(&s, other.workspace);
    expect(&s, s.kernel->argument_bytes, "memory of another device");
    stop(&s.p);
    stop(&other);
    nothing_wrong();
}
END_TEST

START_TEST(a_launch_after_its_module_was_unloaded_is_caught)
{
    shot s;
    load_shot(&s, "hip");
    size_t bytes = s.kernel->argument_bytes;
    void *function = *(void **)s.kernel->kernel, *extra[] = {HIP_EXTRA_POINTER, s.bytes, HIP_EXTRA_SIZE, &bytes, HIP_EXTRA_END};
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
        DOUBLE(int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
               "hipModuleLaunchKernel");
    stop(&s.p);
    ck_assert_int_eq(launch(function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra), hip_invalid_handle);
    const char *text = violations();
    ck_assert_msg(text && strstr(text, "after its module was unloaded"), "%s", text ? text : "nothing");
    extra[4] = NULL; /* CUDA ends the list so */
    ck_assert_int_eq(launch(function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra), hip_invalid_value);
    text = violations();
    ck_assert_msg(text && strstr(text, "pointer, size, end"), "%s", text ? text : "nothing");
}
END_TEST

START_TEST(copies_past_an_allocation_and_double_frees_are_caught)
{
    tfgen_device *device;
    tfgen_error error;
    void *memory, *stream, *graph;
    char host[128] = "";
    must(tfgen_device_open("hip", &device, &error), &error);
    must(tfgen_device_alloc(device, 100, &memory, &error), &error);
    ck_assert_int_eq(tfgen_device_copy(device, memory, host, 101, TFGEN_TO_DEVICE, NULL, &error), TFGEN_DEVICE_ERROR);
    ck_assert(strstr(violations(), "beyond the end"));
    ck_assert_int_eq(tfgen_device_copy(device, host, memory, 100, TFGEN_TO_DEVICE, NULL, &error), TFGEN_DEVICE_ERROR);
    ck_assert(strstr(violations(), "no device memory"));
    ck_assert_int_eq(device->api->fill(device, memory, 1, 101, NULL, &error), TFGEN_DEVICE_ERROR);
    ck_assert(strstr(violations(), "beyond the end"));
    must(device->api->fill(device, memory, 7, 100, NULL, &error), &error);
    must(tfgen_device_copy(device, host, memory, 100, TFGEN_FROM_DEVICE, NULL, &error), &error);
    ck_assert(host[0] == 7 && host[99] == 7 && host[100] == 0);
    must(device->api->stream_create(device, &stream, &error), &error);
    must(device->api->graph_begin(device, stream, &error), &error);
    void *more;
    ck_assert_int_eq(tfgen_device_alloc(device, 100, &more, &error), TFGEN_DEVICE_ERROR);
    ck_assert(strstr(violations(), "hipMalloc while the thread captures"));
    must(device->api->graph_end(device, stream, &graph, &error), &error);
    device->api->graph_destroy(device, graph);
    device->api->stream_destroy(device, stream);
    tfgen_device_free(device, memory);
    tfgen_device_free(device, memory);
    ck_assert(strstr(violations(), "freed twice"));
    tfgen_device_close(device);
    nothing_wrong();
}
END_TEST

START_TEST(a_cooperative_launch_has_no_more_workgroups_than_fit)
{
    shot s;
    tfgen_error error;
    load_shot(&s, "hip");
    s.shape.cooperative = true;
    must(fire(&s, s.kernel->argument_bytes, &error), &error);
    s.shape.grid = 1 << 20;
    ck_assert_int_eq(fire(&s, s.kernel->argument_bytes, &error), TFGEN_DEVICE_ERROR);
    ck_assert_msg(strstr(error.text, "hipErrorCooperativeLaunchTooLarge"), "%s", error.text);
    stop(&s.p);
    nothing_wrong();
}
END_TEST

static tfgen_status fire_on(shot *s, void *stream, tfgen_error *error)
{
    return s->p.device->api->launch(s->p.device, s->kernel->kernel, &s->shape, s->bytes, s->kernel->argument_bytes, stream, error);
}

START_TEST(a_cooperative_launch_waits_for_the_one_before_it_but_not_in_a_capture)
{
    shot s;
    tfgen_error error;
    void *stream, *graph;
    load_shot(&s, "hip");
    const device_api *api = s.p.device->api;
    s.shape.cooperative = true;
    must(api->stream_create(s.p.device, &stream, &error), &error);
    must(fire_on(&s, NULL, &error), &error);
    plan_fault("hipStreamWaitEvent:1:700");
    must(api->graph_begin(s.p.device, stream, &error), &error);
    must(fire_on(&s, stream, &error), &error);
    must(api->graph_end(s.p.device, stream, &graph, &error), &error);
    ck_assert_int_eq(fire_on(&s, stream, &error), TFGEN_DEVICE_ERROR);
    ck_assert_msg(strstr(error.text, "hipStreamWaitEvent: hipErrorIllegalAddress"), "%s", error.text);
    must(fire_on(&s, stream, &error), &error);
    api->graph_destroy(s.p.device, graph);
    api->stream_destroy(s.p.device, stream);
    stop(&s.p);
    nothing_wrong();
}
END_TEST

typedef struct cooperator {
    shot *s;
    void *stream[2];
    tfgen_status status;
    tfgen_error error;
} cooperator;

static void *cooperate_often(void *argument)
{
    cooperator *c = argument;
    for (int i = 0; i < 24 && c->status == TFGEN_OK; i++) c->status = fire_on(c->s, c->stream[i % 2], &c->error);
    return NULL;
}

START_TEST(threads_order_the_cooperative_launches_of_each_device)
{
    enum { devices = 2, callers = 3 * devices };
    shot s[devices];
    cooperator c[callers] = {{0}};
    pthread_t thread[callers];
    tfgen_error error;
    setenv("TFGEN_DOUBLE_DEVICES", "gfx90a,gfx90a", 1);
    load_shot(&s[0], "hip:0"), load_shot(&s[1], "hip:1");
    for (int i = 0; i < callers; i++) {
        c[i].s = &s[i % devices], c[i].s->shape.cooperative = true;
        for (int n = 0; n < 2; n++) must(c[i].s->p.device->api->stream_create(c[i].s->p.device, &c[i].stream[n], &error), &error);
    }
    for (int i = 0; i < callers; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, cooperate_often, &c[i]), 0);
    for (int i = 0; i < callers; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < callers; i++) {
        must(c[i].status, &c[i].error);
        for (int n = 0; n < 2; n++) c[i].s->p.device->api->stream_destroy(c[i].s->p.device, c[i].stream[n]);
    }
    stop(&s[0].p), stop(&s[1].p);
    nothing_wrong();
}
END_TEST

START_TEST(an_old_runtime_has_no_cooperative_launches_of_modules)
{
    shot s;
    tfgen_error error;
    use_library("libamdhip64_rocm5_double.so");
    load_shot(&s, "hip");
    s.shape.cooperative = true;
    ck_assert_int_eq(fire(&s, s.kernel->argument_bytes, &error), TFGEN_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "hipModuleLaunchCooperativeKernel"), "%s", error.text);
    stop(&s.p);
    nothing_wrong();
}
END_TEST

static void add_failures(Suite *suite)
{
    TCase *c = tcase_create("failures");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, a_call_that_fails_is_named_and_leaves_nothing_behind, 0, sizeof failures / sizeof *failures);
    tcase_add_test(c, too_little_memory_says_how_much_was_asked_for);
    tcase_add_test(c, an_error_of_a_running_kernel_is_reported_by_the_next_wait);
    tcase_add_test(c, a_lost_device_fails_every_call_and_the_other_one_works);
    tcase_add_test(c, code_for_another_architecture_is_refused);
    tcase_add_test(c, a_load_that_is_refused_keeps_no_memory);
    tcase_add_test(c, a_runtime_older_than_the_compiler_is_reported);
    tcase_add_test(c, a_missing_kernel_is_named);
    tcase_add_test(c, host_memory_as_an_argument_is_caught_wherever_it_is);
    tcase_add_test(c, wrong_arguments_are_caught);
    tcase_add_test(c, memory_of_another_device_is_caught);
    tcase_add_test(c, a_launch_after_its_module_was_unloaded_is_caught);
    tcase_add_test(c, copies_past_an_allocation_and_double_frees_are_caught);
    tcase_add_test(c, a_cooperative_launch_has_no_more_workgroups_than_fit);
    tcase_add_test(c, a_cooperative_launch_waits_for_the_one_before_it_but_not_in_a_capture);
    tcase_add_test(c, threads_order_the_cooperative_launches_of_each_device);
    tcase_add_test(c, an_old_runtime_has_no_cooperative_launches_of_modules);
    suite_add_tcase(suite, c);
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!use_doubles(argv[0])) return EXIT_FAILURE;
    Suite *suite = suite_create("hip failures");
    add_failures(suite);
    return run_suite(suite);
}
