/* Products of few rows whose weights pass through a ring in shared memory (layer ring, templates/gemm/gemm_ring.h): when it is
 * chosen, what it refuses, how large the ring of a launch is, and results on the host engine, of one phase and of a block. */
#include "gen/program/gemm_ring.h"
#include "tests/support.h"
#include <string.h>

#define PRODUCT(type, M, N, K)                                                                                        \
    "block: t\ndtype: " type "\ndims: {M: " M ", K: " K ", N: " N "}\ndynamic: {M: [1, 4096]}\ninputs: {x: [M, K]}\n" \
    "params: {w: [N, K]}\nops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n"
#define DECODE "specs/llama-decode.yaml"

/* ---- plans */
static rig *plan_ringed(fusion_level level, const char *line)
{
    const tuning asked = {.lines = &line, .count = 1};
    return rig_plan(&(rig_request){.path = DECODE, .level = level, .target = "sm_90a", .tuning = &asked});
}

START_TEST(a_launch_has_one_ring_as_large_as_its_phases_leave_room_for)
{
    rig *r = plan_ringed(_i ? fusion_block : fusion_tile, "gemm: layer=ring threads=256 in_flight=40");
    const plan *p = r->c.plan;
    for (int i = 0; i < p->launch_count; i++) {
        const launch *l = &p->launches[i];
        if (!l->ring_pages) continue;
        ck_assert_int_eq(l->threads, 256 + 32);
        ck_assert_int_eq(l->pages_in_flight, 2);
        ck_assert_int_eq(l->dynamic_bytes, l->shared_bytes);
        ck_assert_int_le(l->shared_bytes, p->target->lds_bytes);
        ck_assert_int_gt(l->shared_bytes + ring_bytes(1), p->target->lds_bytes);
        ck_assert_ptr_nonnull(strstr(l->source.head, "#define TF_TEAM 256\n"));
        ck_assert(l->overlap);
    }
    ck_assert_int_gt(p->launches[0].ring_pages, 8);
    rig_close(r);
}
END_TEST

/* Level tile never takes a ring by itself. Level block does for up to 4 rows, unless a product's K is above 28672 with one row, 14336 with
 * two, 10000 with more, or the caches have more than 48 MB. */
static const struct {
    fusion_level level;
    long long B, L, F;
    bool ringed;
} choices[] = {{fusion_tile, 1, 64, 688, false}, {fusion_block, 1, 64, 688, true}, {fusion_block, 5, 64, 688, false},
               {fusion_block, 1, 64, 28672, true}, {fusion_block, 1, 64, 28736, false}, {fusion_block, 2, 64, 14336, true},
               {fusion_block, 2, 64, 14400, false}, {fusion_block, 3, 64, 10000, true}, {fusion_block, 3, 64, 10240, false},
               {fusion_block, 4, 46000, 688, true}, {fusion_block, 4, 50000, 688, false}};

START_TEST(a_block_of_few_rows_and_short_products_takes_a_ring)
{
    const dim_override dims[] = {{"B", choices[_i].B}, {"L", choices[_i].L}, {"F", choices[_i].F}};
    rig *r = rig_plan(&(rig_request){.path = DECODE, .level = choices[_i].level, .target = "sm_90a", .dims = dims, .dim_count = 3});
    ck_assert_int_eq(r->c.plan->launches[0].ring_pages > 0, choices[_i].ringed);
    rig_close(r);
}
END_TEST

/* Attention beside a ring takes 32 keys at a time if with 16 some workgroup has two iterations, and heads have at most 64 columns. */
static const struct {
    long long B, L, hd;
    int keys;
} iterations[] = {{1, 1024, 64, 16}, {4, 512, 64, 16}, {4, 1024, 64, 32}, {3, 1300, 64, 32}, {4, 1024, 80, 16}};

START_TEST(attention_beside_a_ring_takes_more_keys_at_a_time_where_that_saves_iterations)
{
    const dim_override dims[] = {{"B", iterations[_i].B}, {"L", iterations[_i].L}, {"D", 512}, {"H", 8}, {"KV", 8},
                                 {"hd", iterations[_i].hd}, {"F", 688}};
    rig *r = rig_plan(&(rig_request){.path = DECODE, .level = fusion_block, .target = "sm_90a", .dims = dims,
                                     .dim_count = sizeof dims / sizeof *dims});
    const launch *l = r->c.plan->launches;
    ck_assert_int_gt(l->ring_pages, 0);
    int keys = 0;
    for (int i = 0; i < l->work_count; i++)
        if (phase_first(l->work[i].phase, class_ATTENTION)) keys = l->work[i].tile->decode_whole.keys;
    ck_assert_int_eq(keys, iterations[_i].keys);
    rig_close(r);
}
END_TEST

START_TEST(an_impossible_tile_of_a_ring_is_an_error_with_its_reason)
{
    static const struct {
        const char *target, *yaml, *line, *message;
    } cases[] = {{"sm_80", PRODUCT("bf16", "4", "70", "64"), "gemm layer=ring", "the target lacks these instructions"},
                 {"sm_90a", PRODUCT("f32", "4", "70", "64"), "gemm layer=ring", "operands are not both bf16 or both f16"},
                 {"sm_90a", PRODUCT("bf16", "4", "70", "64"), "gemm layer=ring m=12", "m must be a multiple of 8"},
                 {"sm_90a", PRODUCT("bf16", "4", "70", "64"), "gemm layer=ring n=40", "n must be a multiple of 16"},
                 {"sm_90a", PRODUCT("bf16", "4", "70", "64"), "gemm layer=ring threads=192", "threads must be 128 or 256"},
                 {"sm_90a", PRODUCT("bf16", "4", "70", "64"), "gemm layer=ring in_flight=200", "in_flight=200; it is 16 to 192"},
                 {"sm_90a", PRODUCT("bf16", "64", "70", "64"), "gemm layer=ring m=64 n=64 threads=256", "do not fit a thread's registers"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tuning t = {.lines = &cases[i].line, .count = 1};
        const compile_request q = {.name = "t.yaml", .text = cases[i].yaml, .size = strlen(cases[i].yaml), .level = fusion_tile,
                                   .target = cases[i].target, .tuning = &t};
        arena *a = arena_new();
        compiled c;
        ck_assert_int_eq(compile(a, &q, &c), code_unsupported);
        ck_assert_msg(strstr(arena_diagnostics(a), cases[i].message) != NULL, "%s: %s", cases[i].line, arena_diagnostics(a));
        arena_free(a);
    }
}
END_TEST

/* ---- results: tails of K in a chunk, a piece and a page, of N in a piece and a tile, several row tiles, more warps than pieces; one
 * workgroup, whose pages are used several times */
#define PLAIN "tests/h200/product.yaml"
#define RESIDUAL "tests/h200/residual.yaml"
static const struct {
    const char *path, *dtype, *line;
    long long M, N, K;
    bool one_workgroup;
} trials[] = {{PLAIN, "bf16", "gemm layer=ring threads=128 in_flight=16", 1, 1, 1, false},
              {RESIDUAL, "f16", "gemm layer=ring threads=128 in_flight=192", 2, 33, 31, false},
              {RESIDUAL, "bf16", "gemm layer=ring n=48 threads=256 m=16", 20, 200, 777, false},
              {PLAIN, "bf16", "gemm layer=ring n=32 threads=256", 8, 70, 1030, false},
              {RESIDUAL, "bf16", "gemm layer=ring n=16 threads=128 in_flight=32", 5, 500, 1100, true}};

START_TEST(results_are_within_their_bounds)
{
    const dim_override dims[] = {{"M", trials[_i].M}, {"N", trials[_i].N}, {"K", trials[_i].K}};
    const tuning tuning = {.lines = &trials[_i].line, .count = 1};
    rig *r = rig_open(&(rig_request){.path = trials[_i].path, .level = fusion_tile, .target = "sm_90a", .dtype = trials[_i].dtype,
                                     .dims = dims, .dim_count = 3, .tuning = &tuning, .check = true,
                                     .one_workgroup = trials[_i].one_workgroup});
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), "layer=ring"));
    ck_assert_ptr_nonnull(strstr(r->c.plan->launches[r->c.plan->launch_count - 1].source.body, "TF_KERNEL_RING("));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* All products of the block read the same ring, which the phases between them do not touch. Once all workgroups start together; once some
 * start late, so that others give up, and the loading warps of both kinds begin again or end. */
START_TEST(the_phases_of_a_block_share_a_ring)
{
    static const char *line = "gemm: layer=ring threads=128 in_flight=16";
    const dim_override dims[] = {{"B", 3}, {"L", 37}, {"D", 192}, {"H", 4}, {"KV", 2}, {"hd", 24}, {"F", 640}};
    const tuning asked = {.lines = &line, .count = 1};
    rig *r = rig_open(&(rig_request){.path = DECODE, .level = fusion_block, .target = "sm_90a", .dtype = "bf16", .dims = dims,
                                     .dim_count = sizeof dims / sizeof *dims, .tuning = &asked, .check = true,
                                     .multiprocessors = _i ? 5 : 2, .late_workgroups = _i});
    ck_assert_int_eq(r->c.plan->launch_count, 1);
    rig_judge_twice(r);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ring");
    TCase *plans = tcase_create("plans"), *results = tcase_create("results");
    tcase_add_loop_test(plans, a_launch_has_one_ring_as_large_as_its_phases_leave_room_for, 0, 2);
    tcase_add_loop_test(plans, a_block_of_few_rows_and_short_products_takes_a_ring, 0, sizeof choices / sizeof *choices);
    tcase_add_loop_test(plans, attention_beside_a_ring_takes_more_keys_at_a_time_where_that_saves_iterations, 0,
                        sizeof iterations / sizeof *iterations);
    tcase_add_test(plans, an_impossible_tile_of_a_ring_is_an_error_with_its_reason);
    tcase_set_timeout(results, 120);
    tcase_add_loop_test(results, results_are_within_their_bounds, 0, sizeof trials / sizeof *trials);
    tcase_add_loop_test(results, the_phases_of_a_block_share_a_ring, 0, 2);
    suite_add_tcase(s, plans);
    suite_add_tcase(s, results);
    return run_suite(s);
}
