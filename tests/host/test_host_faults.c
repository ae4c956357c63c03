/* A failing kernel ends its launch with a status and a report; the process, its signal handlers and later launches are unaffected. */
#define _GNU_SOURCE
#include "runtime/host/engine.h"
#include "tests/host/test_host_common.h"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

typedef struct wrong_args { int *x; int n; } wrong_args;
static host_launch_dims dims(unsigned blocks, unsigned threads)
{
    return (host_launch_dims){.grid = {blocks}, .block = {threads}, .wave = 64, .shared_bytes = 512};
}

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGURG};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS];
static void remember_handlers(void)
{
    for (unsigned i = 0; i < SIGNALS; i++) sigaction(signals[i], NULL, &before[i]);
}

/* After any failure the engine still runs kernels, and the process has its old signal handlers. */
static void all_is_well(host_module *wrong)
{
    for (unsigned i = 0; i < SIGNALS; i++) {
        struct sigaction now;
        ck_assert(!sigaction(signals[i], NULL, &now));
        ck_assert(now.sa_sigaction == before[i].sa_sigaction);
    }
    host_module *m = load("basics.hip");
    struct { int *out; int turns; } args = {memory(8 * 128 * 4, "out"), 3};
    launch_ok(m, "relay", (host_launch_dims){.grid = {8}, .block = {128}, .wave = 64, .shared_bytes = 8192}, &args);
    host_module_free(m);
    host_module_free(wrong);
}

START_TEST(a_trap_names_block_thread_wave_and_lane)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(128 * 4, "x"), 0};
    const host_log *log = launch_bad(m, "trapping", dims(5, 128), &a, HOST_TRAP);
    says_line(log, "wrong.hip", "trap");
    says(log, "trap\n");
    says(log, "kernel trapping block (2,0,0) thread (70,0,0) wave 1 lane 6");
    all_is_well(m);
}
END_TEST

/* A block (its stack and memory) that ended normally is reused; one that failed may have broken frames and is not. */
START_TEST(a_block_that_failed_is_not_kept)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 7};
    ck_assert_uint_eq(engine->free_count, 0);
    launch_bad(m, "asserting", dims(1, 64), &a, HOST_TRAP);
    ck_assert_uint_eq(engine->free_count, 0);
    a.n = 0;
    launch_ok(m, "asserting", dims(1, 64), &a);
    ck_assert_uint_eq(engine->free_count, 1);
    host_module_free(m);
}
END_TEST

START_TEST(a_failed_assertion_shows_its_condition)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(4, "x"), 7};
    const host_log *log = launch_bad(m, "asserting", dims(1, 64), &a, HOST_TRAP);
    says_line(log, "wrong.hip", "assert");
    says(log, "assertion failed: p.n != 7 || threadIdx.x != 3");
    says(log, "thread (3,0,0)");
    all_is_well(m);
}
END_TEST

/* 64 * 256 bytes fill whole pages, so the write hits the page behind. With line tables the message has the line, too. */
START_TEST(a_write_past_the_end_names_the_allocation)
{
    host_module *m = load_with("wrong.hip", (host_compile_options){.optimise = 1, .lines = true});
    wrong_args a = {memory(64 * 256, "activations"), 0};
    const host_log *log = launch_bad(m, "outside", dims(64, 64), &a, HOST_FAULT);
    says(log, "memory fault");
    says(log, "at activations, 0 bytes past its end");
    says(log, "block (63,0,0) thread (");
    says_line(log, "wrong.hip", "outside");
    all_is_well(m);
}
END_TEST

/* Two unreadable regions: an address between them is reported relative to the nearer one. */
START_TEST(an_address_is_reported_relative_to_the_nearest_region)
{
    static const struct {
        uintptr_t address;
        const char *told;
    } cases[] = {{0x10000, "left+0"},
                 {0x10fff, "left+4095"},
                 {0x11000, "left, 0 bytes past its end"},
                 {0x14fff, "left, 16383 bytes past its end"},
                 {0x15001, "right, 16383 bytes before its start"},
                 {0x18fff, "right, 1 bytes before its start"},
                 {0xfff0, "left, 16 bytes before its start"},
                 {0x19000 + (3 << 20), "which belongs to no allocation"}};
    ck_assert(host_register(engine, (void *)0x10000, 0x1000, "left") && host_register(engine, (void *)0x19000, 0x1000, "right"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        host_log log = {0};
        memory_describe(engine, cases[i].address, &log);
        ck_assert_msg(strstr(log.text, cases[i].told), "%#lx: %s, not %s", (unsigned long)cases[i].address, log.text, cases[i].told);
        host_log_free(&log);
    }
    host_unregister(engine, (void *)0x10000);
    host_unregister(engine, (void *)0x19000);
}
END_TEST

/* Slack: up to 255 bytes from the end of an allocation to its guard page. A write there causes no fault. */
START_TEST(a_write_into_the_slack_is_found_after_the_launch)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(64 * 4 - 4, "short one"), 0};
    const host_log *log = launch_bad(m, "outside", dims(1, 63), &a, HOST_FAULT);
    says(log, "after kernel outside: short one was written 0 bytes past its end");
    all_is_well(m);
}
END_TEST

START_TEST(a_write_past_shared_memory_is_caught)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 128};
    const host_log *log = launch_bad(m, "outside_shared", dims(1, 64), &a, HOST_FAULT);
    says(log, "at shared+512 (the block has 512 bytes)");
    all_is_well(m);
}
END_TEST

/* True if the process has no other accessible memory within `reach` of these bytes. */
static bool is_alone(const void *memory, size_t bytes, uintptr_t reach)
{
    const uintptr_t at = (uintptr_t)memory;
    uintptr_t low, high;
    char mode[5], line[512];
    bool alone = true, seen = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps)) {
        ck_assert_int_eq(sscanf(line, "%lx-%lx %4s", &low, &high, mode), 3);
        if (!strncmp(mode, "---", 3)) continue;
        if (low <= at && at + bytes <= high) seen = true, alone &= high - low <= bytes + 4096;
        else if (high + reach > at && low < at + bytes + reach) alone = false;
    }
    fclose(maps);
    ck_assert(seen);
    return alone;
}

/* A wrong 32-bit index never reaches other memory of the process. */
START_TEST(a_wild_access_hits_no_memory_of_the_process)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(8192, "x"), 0};
    ck_assert(is_alone(a.x, 8192, (uintptr_t)1 << 36));
    launch_ok(m, "telling_where_shared_memory_is", dims(1, 64), &a);
    ck_assert(is_alone(*(void **)(void *)a.x, 512, 64 << 20));
    for (a.n = 1; a.n <= 1 << 16; a.n *= 16) {
        launch_bad(m, "far_outside", dims(1, 1), &a, HOST_FAULT);
        a.n = -a.n;
        launch_bad(m, "far_outside", dims(1, 1), &a, HOST_FAULT);
        a.n = -a.n;
    }
    host_free(engine, a.x);
    unsigned char present = 1;
    ck_assert(!mincore((void *)((uintptr_t)a.x & ~(uintptr_t)4095), 4096, &present) && !(present & 1));
    a.n = 0;
    launch_bad(m, "far_outside", dims(1, 1), &a, HOST_FAULT);
    all_is_well(m);
}
END_TEST

/* With limited address space (ulimit -v) kernels still run; allocations then lie close together. */
START_TEST(kernels_run_with_a_limited_address_space)
{
#ifdef __SANITIZE_ADDRESS__
    return; /* the process uses more already */
#endif
    const struct rlimit some = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    host_engine_close(engine);
    ck_assert(!setrlimit(RLIMIT_AS, &some));
    engine = host_engine_open(&(host_engine_options){.workers = 2});
    ck_assert(!is_alone(memory(8192, "x"), 8192, (uintptr_t)1 << 36));
    all_is_well(NULL);
}
END_TEST

START_TEST(too_little_shared_memory_is_a_trap)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 0};
    host_launch_dims d = dims(1, 64);
    d.shared_bytes = 500;
    const host_log *log = launch_bad(m, "outside_shared", d, &a, HOST_TRAP);
    says(log, "less shared memory than the kernel's struct needs");
    all_is_well(m);
}
END_TEST

START_TEST(a_division_by_zero_is_named)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 33};
    const host_log *log = launch_bad(m, "dividing", dims(1, 64), &a, HOST_FAULT);
    says(log, "integer division by zero");
    all_is_well(m);
}
END_TEST

START_TEST(a_stack_overflow_is_reported_as_one)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 1 << 30};
    const host_log *log = launch_bad(m, "overflowing", dims(2, 64), &a, HOST_FAULT);
    says(log, "stack overflow of thread ");
    a.n = 10; /* a stack that is just large enough works */
    host_launch_dims d = dims(2, 64);
    d.stack_bytes = 128 << 10;
    launch_ok(m, "overflowing", d, &a);
    all_is_well(m);
}
END_TEST

static host_engine *impatient(unsigned stall_ms, unsigned time_ms)
{
    host_engine_close(engine);
    engine = host_engine_open(&(host_engine_options){.workers = 2, .stall_limit_ms = stall_ms, .time_limit_ms = time_ms});
    return engine;
}

START_TEST(a_wait_without_end_is_reported_with_the_place_of_every_wave)
{
    host_module *m = load("wrong.hip");
    impatient(_i ? 60000 : 1000, _i ? 1000 : 0);
    wrong_args a = {memory(64 * 4, "x"), 0};
    const host_log *log = launch_bad(m, "waiting_for_nobody", dims(1, 64), &a, HOST_HANG);
    char sleeper[200], waiters[200];
    snprintf(sleeper, sizeof sleeper, "block (0,0,0) wave 0 lanes 0x20: last seen in a waiting loop at wrong.hip:%d",
             line_of("wrong.hip", "sleep"));
    snprintf(waiters, sizeof waiters, "lanes 0xffffffffffffffdf: wait in __syncthreads at wrong.hip:%d",
             line_of("wrong.hip", "hang_barrier"));
    says(log, sleeper);
    says(log, waiters);
    all_is_well(m);
}
END_TEST

START_TEST(a_loop_that_never_waits_is_broken)
{
    host_module *m = load_with("wrong.hip", (host_compile_options){.optimise = 1, .lines = true});
    impatient(1000, 0);
    wrong_args a = {memory(64 * 4, "x"), 0};
    const host_log *log = launch_bad(m, "spinning", dims(3, 64), &a, HOST_HANG);
    says(log, "a thread runs without waiting at ");
    says_line(log, "wrong.hip", "spin");
    all_is_well(m);
}
END_TEST

START_TEST(a_barrier_in_divergent_code_is_a_deadlock)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 0};
    const host_log *log = launch_bad(m, "divergent_barrier", dims(1, 64), &a, HOST_DEADLOCK);
    says(log, "lanes 0xaaaaaaaaaaaaaaaa: wait in __syncthreads");
    says(log, "lanes 0x5555555555555555: wait in __syncthreads");
    says_line(log, "wrong.hip", "barrier_odd");
    says_line(log, "wrong.hip", "barrier_even");
    all_is_well(m);
}
END_TEST

START_TEST(a_grid_barrier_that_a_block_skips_is_a_deadlock)
{
    host_module *m = load("grid.hip");
    const int zero = 0;
    host_launch_dims d = dims(4, 64);
    d.cooperative = true;
    const host_log *log = launch_bad(m, "one_block_leaves", d, (void *)&zero, HOST_DEADLOCK);
    says(log, "blocks wait for the grid");
    log = launch_bad(m, "one_block_leaves_late", d, (void *)&zero, HOST_DEADLOCK);
    says(log, "blocks wait for the grid");
    d.block[0] = 128;
    log = launch_bad(m, "two_kinds_of_barrier", d, (void *)&zero, HOST_DEADLOCK);
    says(log, "some threads wait for the block, others for the grid");
    d.cooperative = false;
    log = launch_bad(m, "phases_native", d, &(struct { unsigned *b, *c; int n; }){memory(64, "b"), memory(4, "c"), 2}, HOST_DEADLOCK);
    says(log, "not cooperative");
    all_is_well(m);
}
END_TEST

START_TEST(a_matrix_instruction_in_half_a_wave_is_caught)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 0};
    const host_log *log = launch_bad(m, "half_a_matrix", dims(1, 64), &a, HOST_TRAP);
    says(log, "not all lanes of the wave execute");
    says_line(log, "wrong.hip", "half_a_matrix");
    all_is_well(m);
}
END_TEST

START_TEST(strict_launches_refuse_partial_wave_operations)
{
    host_module *m = load("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 0};
    host_launch_dims d = dims(1, 64);
    launch_ok(m, "partial_fold", d, &a);
    d.strict = true;
    d.block[0] = 20;
    launch_ok(m, "partial_fold", d, &a); /* the missing lanes of a wave do not count */
    host_module_free(m);
    m = load("waves.hip");
    d.block[0] = 64;
    struct { unsigned *in, *out; } w = {memory(4096, "in"), memory(4096, "out")};
    const host_log *log = launch_bad(m, "divergent", d, &w, HOST_DEADLOCK);
    says(log, "strict");
    says(log, "wait in __shfl");
    all_is_well(m);
}
END_TEST

/* A fault of the program itself still reaches the program's own handler, even while launches run elsewhere. */
static volatile sig_atomic_t own_faults;
static void own_handler(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    own_faults++;
    const long page = sysconf(_SC_PAGESIZE);
    mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)(page - 1)), (size_t)page, 3);
}
static volatile bool stop;
static void *launches(void *m)
{
    const int n = 100;
    while (!stop) launch_ok(m, "barriers", dims(2, 64), (void *)&n);
    return NULL;
}
START_TEST(faults_outside_kernels_reach_the_handler_of_the_program)
{
    struct sigaction own = {.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO}, now;
    ck_assert(!sigaction(SIGSEGV, &own, NULL));
    host_module *m = load("basics.hip");
    pthread_t other;
    ck_assert(!pthread_create(&other, NULL, launches, m));
    char *guarded = memory(4096, "guarded");
    for (int i = 0; i < 200; i++) {
            ck_assert(!mprotect(guarded, 4096, 0));
        *(volatile char *)guarded = 1;
        usleep(100);
    }
    stop = true;
    pthread_join(other, NULL);
    ck_assert_int_eq(own_faults, 200);
    ck_assert(!sigaction(SIGSEGV, NULL, &now));
    ck_assert(now.sa_sigaction == own_handler);
    host_module_free(m);
}
END_TEST

START_TEST(failing_launches_beside_good_ones_disturb_nobody)
{
    host_module *m = load("basics.hip"), *w = load("wrong.hip");
    wrong_args a = {memory(64 * 256, "x"), 0};
    pthread_t other;
    ck_assert(!pthread_create(&other, NULL, launches, m));
    for (int i = 0; i < 50; i++) {
        launch_bad(w, i & 1 ? "outside" : "trapping", dims(64, 128), &a, i & 1 ? HOST_FAULT : HOST_TRAP);
    }
    stop = true;
    pthread_join(other, NULL);
    host_module_free(m);
    all_is_well(w);
}
END_TEST

/* Counts threads that the engine starts and joins. */
static atomic_int begun, joined;
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    int (*const real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    const int r = real(thread, attributes, body, argument);
    if (r == 0) atomic_fetch_add(&begun, 1);
    return r;
}
int pthread_join(pthread_t thread, void **result)
{
    int (*const real)(pthread_t, void **) = dlsym(RTLD_NEXT, "pthread_join");
    const int r = real(thread, result);
    if (r == 0) atomic_fetch_add(&joined, 1);
    return r;
}

START_TEST(an_engine_that_is_closed_has_no_threads_left)
{
    close_engine();
    const int before_it = begun - joined;
    engine = host_engine_open(&(host_engine_options){.workers = 3, .stall_limit_ms = 30000});
    host_module *m = load("wrong.hip");
    all_is_well(m);
    ck_assert_int_ge(begun - joined, before_it + 2); /* a helping worker and the watchdog */
    host_engine_close(engine);
    ck_assert_int_eq(begun - joined, before_it);
    open_engine();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host faults");
    TCase *t = tcase_create("faults");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, remember_handlers, NULL);
    tcase_add_checked_fixture(t, open_engine, close_engine);
    tcase_add_test(t, an_address_is_reported_relative_to_the_nearest_region);
    tcase_add_test(t, a_trap_names_block_thread_wave_and_lane);
    tcase_add_test(t, a_block_that_failed_is_not_kept);
    tcase_add_test(t, a_failed_assertion_shows_its_condition);
    tcase_add_test(t, a_write_past_the_end_names_the_allocation);
    tcase_add_test(t, a_write_into_the_slack_is_found_after_the_launch);
    tcase_add_test(t, a_write_past_shared_memory_is_caught);
    tcase_add_test(t, a_wild_access_hits_no_memory_of_the_process);
    tcase_add_test(t, kernels_run_with_a_limited_address_space);
    tcase_add_test(t, too_little_shared_memory_is_a_trap);
    tcase_add_test(t, a_division_by_zero_is_named);
    tcase_add_test(t, a_stack_overflow_is_reported_as_one);
    tcase_add_loop_test(t, a_wait_without_end_is_reported_with_the_place_of_every_wave, 0, 2);
    tcase_add_test(t, a_loop_that_never_waits_is_broken);
    tcase_add_test(t, a_barrier_in_divergent_code_is_a_deadlock);
    tcase_add_test(t, a_grid_barrier_that_a_block_skips_is_a_deadlock);
    tcase_add_test(t, a_matrix_instruction_in_half_a_wave_is_caught);
    tcase_add_test(t, strict_launches_refuse_partial_wave_operations);
    tcase_add_test(t, faults_outside_kernels_reach_the_handler_of_the_program);
    tcase_add_test(t, an_engine_that_is_closed_has_no_threads_left);
    tcase_add_test(t, failing_launches_beside_good_ones_disturb_nobody);
    suite_add_tcase(s, t);
    return run_suite(s);
}
