/* Clusters on the host engine: blocks that run together, wait for each other and access each other's shared memory; the checker's reports
 * of missing waits and accesses out of bounds. */
#include "tests/host/test_host_common.h"

enum { members = 4, clusters = 5 };

static int gathered(unsigned block, unsigned thread, unsigned threads, int turns)
{
    unsigned sum = 0; /* wraps around */
    for (unsigned turn = 0; turn < (unsigned)turns; turn++) {
        for (unsigned i = 0; i < members; i++)
            sum = sum * 3 + (block / members * members + (block + i) % members) * 10000 + (thread + 1) % threads * 10 + turn;
        sum ^= turn;
    }
    return (int)sum;
}

static void gather(host_module *m, unsigned threads, unsigned wave)
{
    struct { int *out; int turns; } a = {memory(sizeof(int) * clusters * members * threads, "out"), 3};
    launch_ok(m, "gather", (host_launch_dims){.grid = {clusters * members}, .block = {threads}, .wave = wave, .shared_bytes = 1024}, &a);
    for (unsigned i = 0; i < clusters * members * threads; i++)
        ck_assert_int_eq(a.out[i], gathered(i / threads, i % threads, threads, a.turns));
    host_free(engine, a.out);
}

START_TEST(blocks_of_a_cluster_reach_each_others_memory)
{
    static const unsigned geometries[][2] = {{128, 32}, {100, 32}, {64, 1}, {1, 1}, {96, 64}};
    host_module *m = load("clusters.hip");
    for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++) gather(m, geometries[i][0], geometries[i][1]);
    host_module_free(m);
}
END_TEST

START_TEST(the_checker_follows_clusters)
{
    host_module *m = load_checked("clusters.hip");
    host_launch_dims d = {.grid = {clusters * members}, .block = {64}, .wave = 32, .shared_bytes = 256};
    struct { int *out; int at; } a = {memory(sizeof(int) * clusters * members * 64, "out"), 1};
    gather(m, 64, 32);
    launch_ok(m, "hasty", d, &a);
    a.at = 0; /* no block waits for the others: the first one reads what is not written yet */
    const host_log *log = launch_bad(m, "hasty", d, &a, HOST_CHECKED);
    says(log, "shared+0, which nobody wrote");
    says_line(log, "clusters.hip", "other");
    a.at = 2 * 64;
    log = launch_bad(m, "hasty", d, &a, HOST_CHECKED);
    says(log, "out of bounds: read of 4 bytes at shared+256 (the block has 256 bytes)");
    host_module_free(m);
}
END_TEST

START_TEST(a_grid_is_made_of_whole_clusters)
{
    host_module *m = load("clusters.hip");
    struct { int *out; int turns; } a = {memory(sizeof(int) * 64, "out"), 1};
    const host_launch_dims d = {.grid = {members + 2}, .block = {8}, .wave = 8, .shared_bytes = 64};
    says(launch_bad(m, "gather", d, &a, HOST_BAD_CALL), "a grid that is not made of whole clusters");
    host_module_free(m);
}
END_TEST

/* Detected at once, not only after the time limit of a hang. */
START_TEST(a_barrier_does_not_wait_for_an_ended_block)
{
    host_module *m = load_with("clusters.hip", (host_compile_options){.optimise = 0, .lines = true});
    const host_launch_dims d = {.grid = {2 * members}, .block = {40}, .wave = 32, .shared_bytes = 64};
    struct { int *out; int n; } a = {memory(sizeof(int), "out"), 2};
    const host_log *log = launch_bad(m, "gone", d, &a, HOST_DEADLOCK);
    says(log, "a thread waits for its cluster, of which a block has ended");
    a.n = members; /* all members wait */
    launch_ok(m, "gone", d, &a);
    host_module_free(m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host clusters");
    TCase *t = tcase_create("clusters");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, open_engine, close_engine);
    tcase_add_test(t, blocks_of_a_cluster_reach_each_others_memory);
    tcase_add_test(t, the_checker_follows_clusters);
    tcase_add_test(t, a_grid_is_made_of_whole_clusters);
    tcase_add_test(t, a_barrier_does_not_wait_for_an_ended_block);
    suite_add_tcase(s, t);
    return run_suite(s);
}
