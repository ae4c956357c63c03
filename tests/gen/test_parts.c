/* Split-K through memory, for products of few tiles on sm_90a: which products are split, and that sums are right and reproducible. */
#define _GNU_SOURCE
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Forces wgmma, whatever the model predicts. */
static tuning on_wgmma(const char *dtype)
{
    static const char *const lines[] = {"gemm layer=wgmma", "gemm layer=wgmma_3xtf32"};
    return (tuning){.lines = &lines[strcmp(dtype, "f32") == 0], .count = 1};
}

static rig *product(bool run, const char *dtype, const char *M, const char *N, const char *K)
{
    static char yaml[1024];
    const tuning line = on_wgmma(dtype);
    snprintf(yaml, sizeof yaml,
             "block: t\ndtype: %s\ndims: {M: %s, K: %s, N: %s}\ndynamic: {M: [1, 8192]}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
             "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n", dtype, M, K, N);
    const rig_request request = {.yaml = yaml, .level = fusion_tile, .target = "sm_90a", .tuning = &line};
    return run ? rig_open(&request) : rig_plan(&request);
}

static int setting(const plan *p, const char *key)
{
    return tile_setting(p->launches[p->launch_count - 1].work->phase, key);
}

START_TEST(few_tiles_are_split_along_k_and_many_are_not)
{
    static const struct {
        const char *dtype, *M, *N, *K;
        bool parts;
    } cases[] = {{"bf16", "256", "2048", "14336", true}, {"bf16", "1024", "768", "3072", false}, {"f16", "300", "128", "5472", true},
                 {"f32", "333", "500", "1368", true},    {"bf16", "2048", "5468", "2048", false}, {"bf16", "4096", "4096", "4096", false},
                 {"bf16", "256", "2048", "256", false},  {"bf16", "256", "4096", "4096", false}, {"f16", "129", "128", "5472", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rig *r = product(false, cases[i].dtype, cases[i].M, cases[i].N, cases[i].K);
        const plan *p = r->c.plan;
        const int split = setting(p, "split_k"), n = setting(p, "n");
        const int cluster = strcmp(cases[i].dtype, "f32") ? setting(p, "cluster") : 1, m = setting(p, "m") * cluster;
        ck_assert_msg((split > 1) == cases[i].parts, "%s x %s x %s: split_k=%d", cases[i].M, cases[i].N, cases[i].K, split);
        ck_assert_int_eq(p->scratch_count, split > 1);
        const long long row_tiles = (atoi(cases[i].M) + m - 1) / m * cluster;
        const long long tiles = row_tiles * ((p->packs[0].columns + n - 1) / n);
        ck_assert_int_eq(launch_grid(&p->launches[p->launch_count - 1], &p->ir->dims), tiles * split);
        if (split > 1) {
            ck_assert_int_le(tiles * split, 132);
            ck_assert_int_ge(extent_value(&p->scratches[0].floats, &p->ir->dims), tiles * split * (128 * n + 8));
        }
        rig_close(r);
    }
}
END_TEST

START_TEST(a_slice_of_split_k_sums_32768_products_at_most)
{
    static const struct {
        const char *dtype, *K;
        int split;
    } cases[] = {{"bf16", "32768", 1}, {"bf16", "262144", 8}, {"f32", "32768", 1}, {"f32", "65537", 3}, {"f16", "1048576", 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[512];
        snprintf(yaml, sizeof yaml, "block: t\ndtype: %s\ndims: {M: 4096, K: %s, N: 4096}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                                    "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n", cases[i].dtype, cases[i].K);
        const tuning line = on_wgmma(cases[i].dtype);
        const compile_request q = {.name = "t.yaml", .text = yaml, .size = strlen(yaml), .level = fusion_tile, .target = "sm_90a",
                                   .tuning = &line};
        arena *a = arena_new();
        compiled c;
        ck_assert_msg(compile(a, &q, &c) == code_ok, "%s", arena_diagnostics(a));
        ck_assert_msg(setting(c.plan, "split_k") == cases[i].split, "%s, %s: split_k=%d", cases[i].dtype, cases[i].K,
                      setting(c.plan, "split_k"));
        arena_free(a);
    }
}
END_TEST

/* Runs again: the second launch starts with the flags that the first one left. */
static void same_again(rig *r, const char *name)
{
    rig_run(r);
    rig_judge(r);
    double *first = copy_numbers(rig_read(r, name), rig_count(r, name));
    for (int i = 0; i < 3; i++) {
        rig_execute(r);
        ck_assert(same_numbers(first, rig_read(r, name), rig_count(r, name)));
    }
    free(first);
}

START_TEST(partial_sums_are_added_once_and_in_a_fixed_order)
{
    static const char *const dtypes[] = {"bf16", "f16", "f32"};
    rig *r = product(true, dtypes[_i], "130", "70", "3080");
    ck_assert_int_gt(setting(r->c.plan, "split_k"), 1);
    same_again(r, "y");
    rig_set_dim(r, "M", 3);
    same_again(r, "y");
    rig_close(r);
}
END_TEST

/* A partial tile is ready once its flag holds the first of these numbers (templates/frame/workspace.h); a second flag holds the other
 * number once its share of the reduction is done or left to the last workgroup (templates/gemm/k_shares.h). The reader of a partial tile
 * clears its flag. */
static bool is_flag(unsigned long long x)
{
    return x == 0x9d2be3167f4a91c5ull || x == 0x6a09e667f3bcc908ull || x == 0xbb67ae8584caa73bull || x == 0x3c6ef372fe94f82bull;
}

static void no_part_is_left(rig *r)
{
    const size_t words = (size_t)extent_value(&r->c.plan->scratches[0].floats, &r->graph->dims) / 2;
    unsigned long long *data = calloc(words, sizeof *data);
    ck_assert_int_eq(guarded_get_scratch(r->s, 0, data, words * sizeof *data, &r->log), code_ok);
    for (size_t i = 0; i < words; i++)
        ck_assert_msg(!is_flag(data[i]), "what lies at byte %zu of the parts is taken by the next launch", 8 * i);
    free(data);
}

/* A launch uses only partial tiles that it wrote itself, though memory still holds those of an earlier launch. */
START_TEST(partial_sums_of_an_earlier_launch_are_not_used)
{
    static const char *const dtypes[] = {"bf16", "f32"};
    rig *r = product(true, dtypes[_i], "130", "70", "3080");
    ck_assert_int_gt(setting(r->c.plan, "split_k"), 1);
    rig_run(r);
    rig_judge(r);
    no_part_is_left(r);
    for (size_t i = 0; i < rig_count(r, "x"); i++) rig_data(r, "x")[i] *= -2; /* the packed weight does not change */
    rig_upload(r, "x");
    rig_execute(r);
    rig_judge(r);
    no_part_is_left(r);
    rig_close(r);
}
END_TEST

/* Ten and more k tiles pass through three stages, so each stage is filled again and again, for both warpgroups. */
START_TEST(a_stage_is_refilled_when_its_products_are_done)
{
    static const char *const dtypes[] = {"bf16", "f32"};
    static const char *const lines[] = {"gemm layer=wgmma split_k=1 stages=3 n=64", "gemm layer=wgmma_3xtf32 split_k=1 stages=3 n=64"};
    const tuning t = {.lines = &lines[_i], .count = 1};
    char yaml[512];
    snprintf(yaml, sizeof yaml, "block: t\ndtype: %s\ndims: {M: 130, K: 715, N: 70}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                                "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n", dtypes[_i]);
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a", .tuning = &t});
    ck_assert_int_eq(setting(r->c.plan, "stages"), 3);
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* Epilogues with pairs, row sums and operands see whole sums. */
static const char *const epilogues[] = {
    "block: t\ndtype: bf16\ndims: {M: 130, D: 3080, F: 40}\ninputs: {x: [M, D]}\nparams: {wg: [F, D], wu: [F, D]}\nops:\n"
    "  - {out: g, op: linear, in: [x, wg]}\n  - {out: u, op: linear, in: [x, wu]}\n  - {out: s, op: silu, in: [g]}\n"
    "  - {out: y, op: mul, in: [s, u]}\noutputs: {y: y}\n",
    "block: t\ndtype: bf16\ndims: {M: 130, D: 3080, F: 40}\ninputs: {x: [M, D], r: [M, F]}\nparams: {w: [F, D], n: [F], v: [8, F]}\nops:\n"
    "  - {out: t, op: linear, in: [x, w]}\n  - {out: h, op: add, in: [r, t]}\n  - {out: s, op: rmsnorm, in: [h, n]}\n"
    "  - {out: y, op: linear, in: [s, v]}\noutputs: {h: h, y: y}\n"};

START_TEST(epilogues_see_whole_sums)
{
    const tuning line = on_wgmma("bf16");
    rig *r = rig_open(&(rig_request){.yaml = epilogues[_i], .level = fusion_tile, .target = "sm_90a", .tuning = &line});
    ck_assert_int_gt(r->c.plan->scratch_count, 0);
    same_again(r, "y");
    rig_close(r);
}
END_TEST

/* Many slices reduce a tile together (templates/gemm/k_shares.h): all at once; only the last one, if none waits for it; and not if a
 * workgroup has several slices. */
START_TEST(slices_share_out_a_tile)
{
    static const char yaml[] = "block: t\ndtype: bf16\ndims: {M: 70, K: 640, N: 40}\ninputs: {x: [M, K], r: [M, N]}\nparams: {w: [N, K]}\n"
                               "ops:\n  - {out: p, op: linear, in: [x, w]}\n  - {out: y, op: add, in: [p, r]}\noutputs: {y: y}\n";
    static const char *const lines[] = {"gemm layer=wgmma m=128 own_tiles=0 n=64 stages=3 split_k=10"};
    static const struct {
        const char *define;
        int multiprocessors;
    } runs[] = {{"", 10}, {"#define TF_MOST_POLLS 0\n", 10}, {"", 3}};
    const tuning t = {.lines = lines, .count = 1};
    double *first = NULL;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        rig *r = rig_plan(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a", .tuning = &t});
        launch *l = &r->c.plan->launches[r->c.plan->launch_count - 1];
        tfgen_code code;
        ck_assert_ptr_nonnull(strstr(l->source.body, "shares = true"));
        l->source.head = arena_printf(r->a, "%s%s", runs[i].define, l->source.head);
        const guarded_options options = {.cache_dir = getenv("TFGEN_CACHE_DIR"), .multiprocessors = runs[i].multiprocessors};
        r->s = guarded_open(r->c.plan, &options, &code, &r->log);
        ck_assert_msg(r->s != NULL, "%s", r->log.text ? r->log.text : "no run");
        rig_fill(r, 1);
        same_again(r, "y");
        no_part_is_left(r);
        if (!first) first = copy_numbers(rig_read(r, "y"), rig_count(r, "y"));
        ck_assert_msg(runs[i].multiprocessors < 10 || same_numbers(first, rig_read(r, "y"), rig_count(r, "y")), "other bits");
        rig_close(r);
    }
    free(first);
}
END_TEST

typedef struct build {
    arena *a;
    const char *line;
} build;

static void build_body(void *argument)
{
    static const char text[] = "block: t\ndtype: bf16\ndims: {M: 129, K: 200, N: 70}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                               "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";
    const build *b = argument;
    const target_info *target = target_find("sm_90a");
    const fuse_options fusion = {.level = fusion_tile};
    const graph_options options = {0};
    const tuning t = {.lines = &b->line, .count = 1};
    emit(b->a, plan_choose(b->a, fuse(b->a, lower(b->a, graph_read(b->a, text, sizeof text - 1, "t.yaml", &options)), &fusion),
                           device_model_default(b->a, target), &t));
}

START_TEST(a_slice_of_split_k_has_at_least_one_stage)
{
    static const struct {
        const char *line, *message;
        tfgen_code code;
    } cases[] = {{"gemm layer=wgmma split_k=4", NULL, code_ok},
                 {"gemm layer=wgmma split_k=5", "each slice of split-K must have at least one k tile", code_unsupported},
                 {"gemm layer=wgmma split_k=0", "split_k=0; it is 1 to ", code_unsupported},
                 {"gemm layer=wgmma split_k=1", NULL, code_ok}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build b = {arena_new(), cases[i].line};
        ck_assert_msg(arena_run(b.a, build_body, &b) == cases[i].code, "%s: %s", cases[i].line, arena_diagnostics(b.a));
        if (cases[i].code) ck_assert_ptr_nonnull(strstr(arena_diagnostics(b.a), cases[i].message));
        arena_free(b.a);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("parts");
    TCase *t = tcase_create("parts");
    use_kernels(kernels_long);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, few_tiles_are_split_along_k_and_many_are_not);
    tcase_add_test(t, a_slice_of_split_k_sums_32768_products_at_most);
    tcase_add_loop_test(t, partial_sums_are_added_once_and_in_a_fixed_order, 0, 3);
    tcase_add_loop_test(t, partial_sums_of_an_earlier_launch_are_not_used, 0, 2);
    tcase_add_loop_test(t, a_stage_is_refilled_when_its_products_are_done, 0, 2);
    tcase_add_loop_test(t, epilogues_see_whole_sums, 0, 2);
    tcase_add_test(t, slices_share_out_a_tile);
    tcase_add_test(t, a_slice_of_split_k_has_at_least_one_stage);
    suite_add_tcase(s, t);
    return run_suite(s);
}
