/* --check reports errors with their line and threads, and nothing in correct kernels. */
#include "tests/host/test_host_common.h"
#include "runtime/host/happens.h"

typedef struct wrong_args { int *x; int n; } wrong_args;
static host_launch_dims dims(unsigned blocks, unsigned threads)
{
    return (host_launch_dims){.grid = {blocks}, .block = {threads}, .wave = 64, .shared_bytes = 512};
}

START_TEST(a_missing_barrier_is_a_race)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 3};
    host_launch_dims d = dims(1, 64);
    d.wave = 16; /* in one wave of 64 there is a race, too, but between lanes */
    const host_log *log = launch_bad(m, "racy", d, &a, HOST_CHECKED);
    /* threads run in order, so thread 32 is the first to read what thread 31 has overwritten already */
    says(log, "data race: read of 4 bytes at shared+124\n");
    says(log, "kernel racy block (0,0,0) thread (32,0,0) wave 2 lane 0");
    says(log, "against a write by block (0,0,0) wave 1 lane 15 thread (31,0,0)");
    says_line(log, "wrong.hip", "race_read");
    says_line(log, "wrong.hip", "race_write");
    a.n = 1;
    launch_ok(m, "racy", d, &a);
    host_module_free(m);
}
END_TEST

START_TEST(a_barrier_does_not_order_accesses_of_a_wave_that_has_ended)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 1};
    host_launch_dims d = dims(1, 64);
    d.wave = 16;
    says_line(launch_bad(m, "apart_race", d, &a, HOST_CHECKED), "wrong.hip", "apart_race");
    a.n = 0;
    launch_ok(m, "apart_race", d, &a);
    host_module_free(m);
}
END_TEST

START_TEST(relying_on_lockstep_is_a_race)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 0};
    const host_log *log = launch_bad(m, "racy_wave", dims(1, 64), &a, HOST_CHECKED);
    says_line(log, "wrong.hip", "lockstep");
    a.n = 1;
    launch_ok(m, "racy_wave", dims(1, 64), &a);
    host_module_free(m);
}
END_TEST

/* Lanes of NVIDIA's warps may run apart: a shuffle exchanges a number but orders no memory accesses. */
START_TEST(a_shuffle_orders_accesses_on_amd_only)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 0};
    launch_ok(m, "shuffled_amd", dims(1, 64), &a);
    const host_log *log = launch_bad(m, "shuffled_nvidia", dims(1, 64), &a, HOST_CHECKED);
    says(log, "data race: read of 4 bytes at shared");
    says_line(log, "wrong.hip", "shuffled");
    a.n = 1;
    launch_ok(m, "shuffled_nvidia", dims(1, 64), &a);
    host_module_free(m);
}
END_TEST

START_TEST(a_released_value_must_be_acquired_by_its_reader)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 0};
    const host_log *log = launch_bad(m, "told_by_one", dims(1, 64), &a, HOST_CHECKED);
    says_line(log, "wrong.hip", "told_by_one");
    says(log, "against a write by block (0,0,0) wave 0 lane 0");
    a.n = 1;
    launch_ok(m, "told_by_one", dims(1, 64), &a);
    host_module_free(m);
}
END_TEST

START_TEST(blocks_that_write_one_word_race)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(64 * 4, "word"), 0};
    const host_log *log = launch_bad(m, "racy_blocks", dims(3, 64), &a, HOST_CHECKED);
    says(log, "data race: write of 4 bytes at word+0");
    says(log, "block (1,0,0) thread (0,0,0)");
    says(log, "against a write by block (0,0,0)");
    says_line(log, "wrong.hip", "blocks");
    a.n = 1;
    launch_ok(m, "racy_blocks", dims(3, 64), &a);
    host_module_free(m);
}
END_TEST

START_TEST(atomics_race_only_with_plain_accesses)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(64, "x"), 0};
    const host_log *log = launch_bad(m, "half_atomic", dims(1, 64), &a, HOST_CHECKED);
    says(log, "atomic write of 4 bytes at x+0");
    a.n = 1;
    launch_ok(m, "half_atomic", dims(2, 64), &a);
    host_module_free(m);
}
END_TEST

START_TEST(accesses_out_of_bounds_are_exact)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(63 * 4, "odd"), 0};
    const host_log *log = launch_bad(m, "outside", dims(1, 63), &a, HOST_CHECKED);
    says(log, "out of bounds: write of 4 bytes at odd, 0 bytes past its end");
    says(log, "thread (62,0,0)");
    says_line(log, "wrong.hip", "outside");
    a.n = 65;
    log = launch_bad(m, "outside_shared", dims(1, 64), &a, HOST_CHECKED);
    says(log, "out of bounds: write of 4 bytes at shared+512 (the block has 512 bytes)");
    says(log, "thread (63,0,0)");
    a.x = NULL;
    log = launch_bad(m, "outside", dims(1, 1), &a, HOST_CHECKED);
    says(log, "which belongs to no allocation");
    host_module_free(m);
}
END_TEST

/* An instruction for global memory at an address of shared memory: a GPU would fault. */
START_TEST(constants_loaded_from_shared_memory_are_reported)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(32 * 4, "x"), 3};
    const host_log *log = launch_bad(m, "not_global", dims(1, 1), &a, HOST_CHECKED);
    says(log, "not global memory: __shared__ variables+");
    says_line(log, "wrong.hip", "loaded_as_global");
    host_module_free(m);
}
END_TEST

/* Types of 8 and 16 bytes at a multiple of 4 only: a GPU would fault. */
START_TEST(accesses_not_aligned_to_their_type_are_reported)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(32 * 4, "x"), 3};
    const host_log *log = launch_bad(m, "misaligned", dims(1, 1), &a, HOST_CHECKED);
    says(log, "misaligned access: x+12 is not a multiple of 8\n");
    says_line(log, "wrong.hip", "misaligned_read");
    says(log, "misaligned access: x+24 is not a multiple of 16\n");
    says_line(log, "wrong.hip", "misaligned_write");
    a.n = 4;
    launch_ok(m, "misaligned", dims(1, 1), &a);
    host_module_free(m);
}
END_TEST

START_TEST(an_access_in_an_emitted_page_is_reported_with_its_place_in_the_spec)
{
    struct access_args { const int *a; int *b; int n, stride; } a = {memory(8 * 4, "few"), memory(32 * 4, "b"), 0, 0};
    host_module *m = load_checked("access.hip");
    host_launch_dims d = dims(1, 32);
    d.shared_bytes = 1024;
    const host_log *log = launch_bad(m, "planted_kernel", d, &a, HOST_CHECKED);
    says(log, "out of bounds: read of 4 bytes at few");
    const char *at = strstr(log->text, "access.hip:89"), *place = at ? strstr(at, " [planted.yaml:7:5] (") : NULL;
    ck_assert_msg(place && place < at + 20, "%s", log->text);
    host_module_free(m);
}
END_TEST

START_TEST(copies_of_structs_are_checked_whole)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(80 * 4, "x"), 40};
    launch_ok(m, "copying", dims(1, 1), &a);
    a.n = 41;
    const host_log *log = launch_bad(m, "copying", dims(1, 1), &a, HOST_CHECKED);
    says(log, "out of bounds: read");
    says_line(log, "wrong.hip", "copying");
    host_module_free(m);
}
END_TEST

START_TEST(reads_of_unwritten_shared_memory_are_reported)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 60};
    const host_log *log = launch_bad(m, "unwritten", dims(1, 64), &a, HOST_CHECKED);
    says(log, "read of 4 bytes at shared+496, which nobody wrote");
    says(log, "thread (60,0,0)");
    says_line(log, "wrong.hip", "unwritten");
    a.n = 64;
    launch_ok(m, "unwritten", dims(1, 64), &a);
    host_module_free(m);
}
END_TEST

/* ---- what is right ---- */

START_TEST(correct_kernels_are_not_reported)
{
    host_module *m = load_checked("basics.hip");
    struct { float *a, *b, *c; int n; } v = {floats(100, "a"), floats(100, "b"), floats(100, "c"), 100};
    launch_ok(m, "vadd", dims(3, 64), &v);
    struct { float *x, *w, *y; int n; float eps; } n = {floats(528, "x"), floats(132, "w"), floats(528, "y"), 132, 1e-5f};
    launch_ok(m, "rmsnorm", (host_launch_dims){.grid = {4}, .block = {96}, .wave = 32, .shared_bytes = 4096}, &n);
    struct { int *out; int turns; } r = {memory(2 * 100 * 4, "out"), 5};
    launch_ok(m, "relay", (host_launch_dims){.grid = {2}, .block = {100}, .wave = 64, .shared_bytes = 8192}, &r);
    float *out = floats(5, "out");
    launch_ok(m, "atomics", dims(1, 128), &out);
    host_module_free(m);
    m = load_checked("gemm.hip");
    struct { void *a, *b; float *c; int m, n, k; } g = {memory(65536, "a"), memory(65536, "b"), floats(16384, "c"), 128, 128, 64};
    launch_ok(m, "gemm_gpu", (host_launch_dims){.grid = {1, 1}, .block = {256}, .wave = 64, .shared_bytes = 16384}, &g);
    struct { void *a, *b; float *c; int n, k; } f = {g.a, g.b, g.c, 128, 64};
    launch_ok(m, "gemm_mfma", (host_launch_dims){.grid = {2, 2}, .block = {256}, .wave = 64, .shared_bytes = 9216}, &f);
    host_module_free(m);
}
END_TEST

START_TEST(grid_barriers_and_release_with_acquire_order_blocks)
{
    static const char *const kernels[] = {"phases_native", "phases_counter", "phases_fenced"};
    host_module *m = load_checked("grid.hip");
    host_launch_dims d = dims(4, 64);
    d.cooperative = true;
    for (unsigned k = 0; k < 3; k++) {
        struct { unsigned *buffers, *counter; int phases; } a = {memory(32, "buffers"), memory(4, "counter"), 5};
        launch_ok(m, kernels[k], d, &a);
    }
    struct { unsigned *buffers, *counter; int phases; } a = {memory(32, "buffers"), memory(4, "counter"), 5};
    const host_log *log = launch_bad(m, "phases_relaxed", d, &a, HOST_CHECKED);
    says(log, "data race: ");
    says(log, "bytes at buffers+");
    host_module_free(m);
}
END_TEST

START_TEST(a_release_by_one_wave_covers_its_workgroups_writes_before_a_barrier)
{
    host_module *m = load_checked("grid.hip");
    host_launch_dims d = dims(4, 128);
    d.cooperative = true;
    struct { unsigned *buffers, *counter; int phases; } a = {memory(32, "buffers"), memory(4, "counter"), 5}, b = a;
    launch_ok(m, "phases_fenced_by_waves", d, &a);
    b.buffers = memory(32, "others"), b.counter = memory(4, "counter");
    says(launch_bad(m, "phases_fenced_by_none", d, &b, HOST_CHECKED), "data race: ");
    host_module_free(m);
}
END_TEST

START_TEST(the_same_launch_gives_the_same_report)
{
    host_module *m = load_checked("wrong.hip");
    wrong_args a = {memory(64 * 4, "x"), 5};
    char *first = strdup(launch_bad(m, "racy", dims(4, 64), &a, HOST_CHECKED)->text);
    for (int i = 0; i < 3; i++) ck_assert_str_eq(first, launch_bad(m, "racy", dims(4, 64), &a, HOST_CHECKED)->text);
    free(first);
    host_module_free(m);
}
END_TEST

/* Three blocks of one wave, run one after the other. Block 0 had a fence, but that does not count for block 1: its relaxed store publishes
 * nothing. */
START_TEST(a_block_begins_with_no_fence_of_the_block_before_it)
{
    enum { flag = 64 };
    for (int fenced = 0; fenced < 2; fenced++) { /* whether block 1 has a fence of its own */
        happens h;
        ck_assert(happens_open(&h, 3, 1, 1));
        happens_block(&h, 0);
        happens_sync(&h, 0, 0, 0, HS_SYNC_FENCE | HS_SYNC_RELEASE);
        happens_sync(&h, 0, 0, flag + 8, 0);
        happens_block(&h, 1);
        if (fenced) {
            happens_sync(&h, 1, 0, flag + 8, HS_SYNC_ACQUIRE | HS_SYNC_LOAD);
            happens_sync(&h, 1, 0, 0, HS_SYNC_FENCE | HS_SYNC_RELEASE);
        }
        happens_sync(&h, 1, 0, flag, 0);
        happens_block(&h, 2);
        happens_sync(&h, 2, 0, flag, HS_SYNC_ACQUIRE | HS_SYNC_LOAD);
        ck_assert_int_eq(happens_before(&h, 0, 1, 2), fenced);
        ck_assert_int_eq(happens_before(&h, 1, 1, 2), fenced);
        happens_close(&h);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host check");
    TCase *t = tcase_create("check");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, open_engine, close_engine);
    tcase_add_test(t, a_missing_barrier_is_a_race);
    tcase_add_test(t, a_barrier_does_not_order_accesses_of_a_wave_that_has_ended);
    tcase_add_test(t, relying_on_lockstep_is_a_race);
    tcase_add_test(t, a_shuffle_orders_accesses_on_amd_only);
    tcase_add_test(t, a_released_value_must_be_acquired_by_its_reader);
    tcase_add_test(t, blocks_that_write_one_word_race);
    tcase_add_test(t, atomics_race_only_with_plain_accesses);
    tcase_add_test(t, accesses_out_of_bounds_are_exact);
    tcase_add_test(t, an_access_in_an_emitted_page_is_reported_with_its_place_in_the_spec);
    tcase_add_test(t, copies_of_structs_are_checked_whole);
    tcase_add_test(t, reads_of_unwritten_shared_memory_are_reported);
    tcase_add_test(t, correct_kernels_are_not_reported);
    tcase_add_test(t, grid_barriers_and_release_with_acquire_order_blocks);
    tcase_add_test(t, a_release_by_one_wave_covers_its_workgroups_writes_before_a_barrier);
    tcase_add_test(t, the_same_launch_gives_the_same_report);
    tcase_add_test(t, accesses_not_aligned_to_their_type_are_reported);
    tcase_add_test(t, constants_loaded_from_shared_memory_are_reported);
    tcase_add_test(t, a_block_begins_with_no_fence_of_the_block_before_it);
    suite_add_tcase(s, t);
    return run_suite(s);
}
