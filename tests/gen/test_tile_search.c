/* The search for tiles with swapped operands: the shapes that it tries, with how many stages, and how much less time a tile must take.
 * Times are not those of the cost model but of a program of this file. In: products. Out: Check's count. */
#include "gen/program/bits16.h"
#include "gen/program/swap_ab.h"
#include "tests/support.h"
#include <stdio.h>
#include <string.h>

static const char linear[] = "block: t\ndtype: bf16\ndims: {M: %d, N: %d, K: %d}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\nops:\n"
                             "  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
static const char matmul[] = "block: t\ndtype: bf16\ndims: {M: %d, N: %d, K: %d}\ninputs: {x: [M, K], z: [K, N]}\nops:\n"
                             "  - {out: y, op: matmul, in: [x, z]}\noutputs: {y: y}\n";
static const char columns_of_a[] = "block: t\ndtype: bf16\ndims: {M: %d, N: %d, K: %d}\ninputs: {x: [K, M], z: [K, N]}\nops:\n"
                                   "  - {out: y, op: matmul, in: [x, z], transpose_a: true}\noutputs: {y: y}\n";
static const char turned[] = "block: t\ndtype: bf16\ndims: {M: %d, N: %d, K: %d}\ninputs: {x: [M, K], z: [N, K]}\nops:\n"
                             "  - {out: y, op: matmul, in: [x, z], transpose: true}\noutputs: {y: y}\n";
static const char computing[] = "block: t\ndtype: bf16\ndims: {M: %d, N: %d, K: %d}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\nops:\n"
                                "  - {out: l, op: linear, in: [x, w]}\n  - {out: y, op: gelu_erf, in: [l]}\noutputs: {y: y}\n";

static rig *planned(const char *format, int m, int n, int k)
{
    static char yaml[1024];
    snprintf(yaml, sizeof yaml, format, m, n, k);
    return rig_plan(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a"});
}

static problem problem_for(const rig *r)
{
    const plan *p = r->c.plan;
    return plan_problem(r->a, p, p->launches[p->launch_count - 1].work->phase);
}

/* ---- a program whose times the test chooses */
enum { most_seen = 20000, long_enough = 1000000 /* cycles, beside which the cost of a launch does not count */ };
static struct {
    gemm_swap_ab_tile tiles[most_seen]; /* whose time was asked for */
    int count;
    double persistent, others; /* the times of tiles with persistent workgroups and of others; that of `first` is 1 */
    gemm_swap_ab_tile first;
} seen;

static bool same(const gemm_swap_ab_tile *x, const gemm_swap_ab_tile *y) { return memcmp(x, y, sizeof *x) == 0; }

static void describe(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    (void)p;
    const gemm_swap_ab_tile *x = &t->gemm_swap_ab;
    ck_assert_int_lt(seen.count, most_seen);
    seen.tiles[seen.count++] = *x;
    d->chain_cycles = long_enough * (same(x, &seen.first) ? 1 : x->persistent ? seen.persistent : seen.others);
}
static const program stub = {.describe_cost = describe};

static void forget(double persistent, double others)
{
    seen.count = 0, seen.persistent = persistent, seen.others = others;
    seen.first = (gemm_swap_ab_tile){.m = 128, .n = 128, .k = 64, .stages = 3, .row_stages = 3, .cluster = 1, .cluster_m = 1, .split_k = 1,
                                     .tail = 1};
}

/* ---- shapes */
static struct {
    int m[64], count;      /* of the widest tiles */
    int widths[8], of_one; /* of the first m */
} shapes;

static void keep_shape(swap_ab_search *s, gemm_swap_ab_tile x)
{
    (void)s;
    ck_assert_int_eq(x.threads, swap_ab_threads(x.m, x.n));
    ck_assert_int_eq(x.tail, 1);
    if (!shapes.count || x.m != shapes.m[shapes.count - 1]) shapes.m[shapes.count++] = x.m;
    if (shapes.count == 1) shapes.widths[shapes.of_one++] = x.n;
}

START_TEST(each_number_of_row_tiles_and_of_column_tiles_is_tried_once)
{
    static const int rows[] = {256, 200, 168, 144, 128, 112, 104, 96, 88, 80, 72, 64}, widths[] = {256, 192, 128, 96, 64};
    rig *r = planned(linear, 1000, 500, 1024);
    const problem p = problem_for(r);
    swap_ab_search s = {.p = &p};
    memset(&shapes, 0, sizeof shapes);
    swap_ab_try_shapes(&s, &(swap_ab_shapes){.k = 64, .least_m = 64, .most_n = 256, .step = 32}, keep_shape);
    ck_assert_int_eq(shapes.of_one, sizeof widths / sizeof *widths); /* 224 columns make as many tiles as 192 */
    for (int i = 0; i < shapes.of_one; i++) ck_assert_int_eq(shapes.widths[i], widths[i]);
    ck_assert_int_eq(shapes.count, sizeof rows / sizeof *rows);
    for (int i = 0; i < shapes.count; i++) ck_assert_int_eq(shapes.m[i], rows[i]);
    rig_close(r);
}
END_TEST

/* ---- one tile */
START_TEST(a_tile_replaces_the_best_only_if_it_takes_less)
{
    rig *r = planned(linear, 1000, 512, 1024);
    const problem p = problem_for(r);
    gemm_swap_ab_tile best = {.m = 8}, x = {.m = 16};
    forget(1, 1);
    swap_ab_search s = {&p, &stub, &best, swap_ab_seconds(&p, &stub, &x)};
    swap_ab_compare(&s, &x);
    ck_assert_int_eq(best.m, 8);
    seen.others = 0.999;
    swap_ab_compare(&s, &x);
    ck_assert_int_eq(best.m, 16);
    ck_assert(s.least == swap_ab_seconds(&p, &stub, &x));
    rig_close(r);
}
END_TEST

START_TEST(stages_are_as_many_as_fit_up_to_a_limit)
{
    rig *r = planned(linear, 1000, 512, 1024);
    const problem p = problem_for(r);
    static const struct {
        int m, n, together, most, stages; /* stages 0: the tile is not tried */
    } cases[] = {{64, 64, 1, 8, 8},   {64, 64, 1, 12, 12}, {128, 128, 1, 8, 7},
                 {128, 128, 2, 8, 3}, {128, 128, 1, 4, 4}, {256, 256, 2, 8, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gemm_swap_ab_tile best = {0}, x = {.m = cases[i].m, .n = cases[i].n, .k = 64, .cluster = 1, .cluster_m = 1};
        x.split_k = x.tail = 1;
        x.threads = swap_ab_threads(x.m, x.n);
        forget(1, 1);
        swap_ab_search s = {&p, &stub, &best, 1};
        swap_ab_try(&s, &x, cases[i].together, cases[i].most);
        ck_assert_msg(best.stages == cases[i].stages && best.row_stages == best.stages, "case %zu: %d stages", i, best.stages);
    }
    rig_close(r);
}
END_TEST

/* ---- how much less */
typedef struct choice_case {
    const char *text;
    int m, n, k;
    double persistent, others;
    int chosen; /* 0: the first, 1: another one, 2: one with persistent workgroups */
} choice_case;

static const choice_case choices[] = {
    {linear, 2048, 4096, 1024, 1, 0.93, 0},         {linear, 2048, 4096, 1024, 1, 0.91, 1},
    {matmul, 2048, 4096, 1024, 1, 0.96, 0},         {matmul, 2048, 4096, 1024, 1, 0.94, 1},
    {matmul, 4096, 4096, 4096, 1, 0.93, 0}, /* not short */
    {linear, 1024, 2048, 16384, 1, 0.96, 1},        {linear, 1024, 2048, 16384, 1, 0.98, 0}, /* one round, long K */
    {linear, 1024, 2048, 4096, 1, 0.96, 0},         {computing, 1024, 2048, 16384, 1, 0.96, 0},
    {linear, 2048, 4096, 1024, 0.995, 1, 0},        {linear, 2048, 4096, 1024, 0.985, 1, 2},
    {linear, 2048, 4096, 1024, 0.905, 0.91, 1},     {linear, 2048, 4096, 1024, 0.89, 0.91, 2},
    {linear, 512, 512, 1024, 0.5, 1, 0}, /* one round */
    {linear, 2048, 4100, 1024, 0.5, 1, 0}, /* results are not aligned */
    {computing, 2048, 4096, 1024, 0.5, 1, 0},
    {columns_of_a, 2048, 4096, 512, 0.5, 1, 2},     {columns_of_a, 2048, 4096, 576, 0.5, 1, 0}};

START_TEST(another_tile_is_chosen_if_it_takes_clearly_less)
{
    const choice_case *c = &choices[_i];
    rig *r = planned(c->text, c->m, c->n, c->k);
    const problem p = problem_for(r);
    forget(c->persistent, c->others);
    gemm_swap_ab_tile best = seen.first;
    swap_ab_16_bit_choose(&p, &stub, &best);
    ck_assert_int_eq(same(&best, &seen.first) ? 0 : best.persistent ? 2 : 1, c->chosen);
    rig_close(r);
}
END_TEST

/* What the search leaves out, since it was slower than predicted. */
START_TEST(tiles_that_were_slower_than_predicted_are_not_tried)
{
    rig *r = planned(linear, 2000, 4096, 4096);
    const problem p = problem_for(r);
    forget(1, 1);
    gemm_swap_ab_tile best = seen.first;
    const long long units = p.device->units;
    int clusters = 0, persistent = 0;
    swap_ab_16_bit_choose(&p, &stub, &best);
    for (int i = 0; i < seen.count; i++) {
        const gemm_swap_ab_tile *x = &seen.tiles[i];
        const long long workgroups = swap_ab_workgroups(&p, x);
        const int size = swap_ab_members(x) * x->split_k;
        if (same(x, &seen.first)) continue;
        clusters += size > 1, persistent += x->persistent;
        ck_assert(x->cluster == 1 || x->cluster_m == 1);
        ck_assert(size <= 8 && (size < 4 || workgroups * 100 <= units * swap_ab_seats));
        ck_assert(workgroups <= 2 * units || (x->m >= 64 && x->split_k == 1));
        ck_assert(x->cluster == 1 || x->in_turn || x->n > 64);
        ck_assert(!x->in_turn || (x->cluster > 1 && x->split_k == 1));
        ck_assert(!x->persistent || (workgroups > units && x->row_stages >= 3 && x->n > 64));
        ck_assert_int_le(x->stages, x->in_turn ? 12 : 8);
        ck_assert_int_eq(x->stages, x->row_stages);
    }
    ck_assert(clusters > 0 && persistent > 0);
    rig_close(r);
}
END_TEST

/* ---- the cost model's choice */
typedef struct chosen_case {
    const char *text;
    int m, n, k;
    program_kind program;
    bool persistent;
} chosen_case;

/* Above 8192 rows: products that only round take the program of less time, and persistent workgroups unless results or weights are
 * large. */
static const chosen_case chosen_cases[] = {{matmul, 19456, 128, 2304, program_gemm_swap_ab, false},
                                           {linear, 11808, 1152, 3392, program_gemm_swap_ab, true},
                                           {computing, 19456, 128, 2304, program_gemm_wgmma, false},
                                           {linear, 27616, 22976, 128, program_gemm_wgmma, false},
                                           {linear, 16384, 10240, 8192, program_gemm_wgmma, false}};

START_TEST(products_of_very_many_rows)
{
    const chosen_case *c = &chosen_cases[_i];
    rig *r = planned(c->text, c->m, c->n, c->k);
    const ir_tile *t = &problem_for(r).phase->tile;
    ck_assert_int_eq(t->program, c->program);
    ck_assert(c->program != program_gemm_swap_ab || t->gemm_swap_ab.persistent == c->persistent);
    rig_close(r);
}
END_TEST

/* Predicted seconds of a tile that multicasts nothing but B, to cluster_m workgroups. */
static double seconds_by(const char *text, int m, int n, int k, int tile_m, int tile_n, int cluster_m, int split)
{
    rig *r = planned(text, m, n, k);
    const problem p = problem_for(r);
    gemm_swap_ab_tile x = {.m = tile_m, .n = tile_n, .k = 64, .cluster = 1, .cluster_m = cluster_m, .split_k = split, .tail = 1};
    x.threads = swap_ab_threads(tile_m, tile_n), x.stages = x.row_stages = 4, x.smem_epilogue = split == 1;
    const double seconds = swap_ab_seconds(&p, program_at(program_gemm_swap_ab), &x);
    rig_close(r);
    return seconds;
}

/* Tiles of 208 rows need two wgmmas, which read weights twice: they take longer although fewer rows are padding. */
START_TEST(reading_weights_twice_costs_time)
{
    ck_assert(seconds_by(linear, 2048, 2264, 26240, 192, 192, 1, 1) < seconds_by(linear, 2048, 2264, 26240, 208, 192, 1, 1));
}
END_TEST

/* If L2 does not hold B, workgroups of different rows that do not multicast it read parts of it twice from DRAM. */
START_TEST(multicast_saves_reads_of_a_large_b)
{
    const double large = seconds_by(matmul, 80, 2304, 23296, 40, 192, 1, 4) / seconds_by(matmul, 80, 2304, 23296, 40, 192, 2, 4),
                 small = seconds_by(matmul, 80, 2304, 1024, 40, 192, 1, 4) / seconds_by(matmul, 80, 2304, 1024, 40, 192, 2, 4);
    ck_assert_msg(large > 1.08 && small < 1.03, "%.3f %.3f", large, small);
}
END_TEST

/* Rows of both operands that begin within sectors cost less where a cluster loads them together. */
START_TEST(clusters_share_requests_of_rows_within_sectors)
{
    const double within = seconds_by(turned, 2560, 328, 1816, 64, 128, 4, 1) / seconds_by(turned, 2560, 328, 1816, 64, 128, 1, 1),
                 at_lines = seconds_by(turned, 2560, 328, 1792, 64, 128, 4, 1) / seconds_by(turned, 2560, 328, 1792, 64, 128, 1, 1);
    ck_assert_msg(within < 0.9 * at_lines, "%.3f %.3f", within, at_lines);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tile_search");
    TCase *c = tcase_create("search");
    tcase_add_test(c, each_number_of_row_tiles_and_of_column_tiles_is_tried_once);
    tcase_add_test(c, a_tile_replaces_the_best_only_if_it_takes_less);
    tcase_add_test(c, stages_are_as_many_as_fit_up_to_a_limit);
    tcase_add_loop_test(c, another_tile_is_chosen_if_it_takes_clearly_less, 0, sizeof choices / sizeof *choices);
    tcase_add_test(c, tiles_that_were_slower_than_predicted_are_not_tried);
    tcase_add_loop_test(c, products_of_very_many_rows, 0, sizeof chosen_cases / sizeof *chosen_cases);
    tcase_add_test(c, reading_weights_twice_costs_time);
    tcase_add_test(c, multicast_saves_reads_of_a_large_b);
    tcase_add_test(c, clusters_share_requests_of_rows_within_sectors);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
