/* Launches of a block with a loading warp (templates/frame/frame_fed.h): which blocks get one, which tiles their products and attention may
 * have, and that results are right, also where workgroups start late. */
#include "gen/program/program.h"
#include "tests/support.h"
#include <stdio.h>
#include <string.h>

#define LLAMA "specs/llama-block.yaml"
#define GPT2 "specs/gpt2-block.yaml"
#define BERT "specs/bert-block.yaml"

static bool on_wgmma(const launch *l)
{
    for (int i = 0; i < l->work_count; i++)
        if (program_table[l->work[i].program->kind].layer == layer_wgmma) return true;
    return false;
}

/* ---- plans: prompts have a loading warp, decode steps none; nor do devices that were never measured */
static const struct {
    const char *path, *target;
    dim_override dims[2];
    bool feeds;
} choices[] = {{LLAMA, "sm_90a", {{"B", 8}, {"S", 128}}, true},
               {BERT, "sm_90a", {{"B", 4}, {"S", 256}}, true},
               {"specs/llama-decode.yaml", "sm_90a", {{"B", 1}, {"L", 128}}, false},
               {LLAMA, "sm_80", {{"B", 8}, {"S", 128}}, false}};

START_TEST(prompts_have_a_loading_warp)
{
    rig *r = rig_plan(&(rig_request){.path = choices[_i].path, .level = fusion_block, .target = choices[_i].target,
                                     .dims = choices[_i].dims, .dim_count = 2});
    const launch *l = r->c.plan->launches;
    ck_assert_int_eq(r->c.plan->launch_count, 1);
    ck_assert(l->feeds == choices[_i].feeds && on_wgmma(l) == choices[_i].feeds);
    ck_assert(!l->feeds || (l->threads == 256 + 128 && tile_threads(l->work->tile) == 256));
    ck_assert((strstr(l->source.head, "#define TF_FED 1\n") != NULL) == l->feeds);
    const char *text = ir_print(r->a, r->c.plan->ir);
    ck_assert_str_eq(ir_print(r->a, ir_read(r->a, text, strlen(text), "again")), text);
    rig_close(r);
}
END_TEST

/* Norms ahead of products cost no phase: the products sum the squares of their rows, also of many. */
START_TEST(products_sum_the_squares_of_their_rows)
{
    const dim_override dims[] = {{"B", 8}, {"S", 128}, {"D", 512}, {"H", 8}, {"KV", 8}, {"F", 2048}};
    rig *r = rig_plan(&(rig_request){.path = LLAMA, .level = fusion_block, .target = "sm_90a", .dims = dims, .dim_count = 6});
    const launch *l = r->c.plan->launches;
    ck_assert_int_eq(l->work_count, 5);
    ck_assert_str_eq(l->work->phase->name, "qkv");
    ck_assert_ptr_nonnull(strstr(l->source.body, "input_sums = true"));
    ck_assert_ptr_nonnull(strstr(l->source.body, "begins_alone = true"));
    rig_close(r);
}
END_TEST

/* While threads wait for a product's operands, they load residuals. */
START_TEST(residuals_are_loaded_before_the_products)
{
    const dim_override dims[] = {{"B", 8}, {"S", 128}, {"D", 512}, {"H", 8}, {"KV", 8}, {"F", 2048}};
    rig *r = rig_plan(&(rig_request){.path = LLAMA, .level = fusion_block, .target = "sm_90a", .dims = dims, .dim_count = 6});
    const char *body = r->c.plan->launches->source.body, *const parts[] = {
        "c.early[Half] = x_;", "op_add(c.early[Half], product)", /* o */
        "c.early[Half] = x1_;"};                                 /* down */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) ck_assert_msg(strstr(body, parts[i]) != NULL, "%s", parts[i]);
    rig_close(r);
}
END_TEST

/* Tiles of few rows are as small as one tile per unit allows. */
START_TEST(short_phases_have_small_tiles)
{
    const dim_override dims[] = {{"B", 1}, {"S", 69}, {"D", 512}, {"H", 1}, {"KV", 1}, {"hd", 64}, {"F", 1360}};
    const char *const tiles[] = {"layer=register_fed m=8 n=32 threads=256 ahead=2",
                                 "layer=register_fed m=24 n=16 threads=256 ahead=6"};
    rig *r = rig_plan(&(rig_request){.path = LLAMA, .level = fusion_block, .target = "sm_90a", .dims = dims, .dim_count = 7});
    const char *text = ir_print(r->a, r->c.plan->ir);
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) ck_assert_msg(strstr(text, tiles[i]) != NULL, "%s", tiles[i]);
    rig_close(r);
}
END_TEST

static const struct {
    const char *line, *message;
} refusals[] = {{"gemm: layer=wgmma m=64 n=96", "m=64 needs a linear, n in steps of 64 and split_k=1"},
                {"gemm: layer=wgmma cluster=2 group_m=16", "cluster must be 1 and own_tiles 0"},
                {"gemm: layer=wgmma threads=384", "threads"},
                {"down: layer=wgmma n=256 m=128 stages=8", "bytes of shared memory"},
                {"attention: stages=29 block_k=16", "stages must be at most 28 in a launch of several phases"},
                {"down: layer=mma",
                 "its frame, multistage, cannot run beside the loading warp of this launch; sm_90a has simt, skinny, register_fed, wgmma "
                 "here"}};

START_TEST(an_impossible_tile_is_an_error_with_its_reason)
{
    const char *const lines[] = {"attention: layer=wgmma", refusals[_i].line};
    const tuning t = {.lines = lines, .count = 2};
    FILE *f = fopen(LLAMA, "r");
    static char text[1 << 16];
    const size_t size = f ? fread(text, 1, sizeof text, f) : 0;
    ck_assert(f && size > 0 && size < sizeof text);
    fclose(f);
    const compile_request q = {.name = "t.yaml", .text = text, .size = size, .level = fusion_block, .target = "sm_90a", .tuning = &t};
    arena *a = arena_new();
    compiled c;
    ck_assert_int_ne(compile(a, &q, &c), code_ok);
    ck_assert_msg(strstr(arena_diagnostics(a), refusals[_i].message) != NULL, "%s: %s", refusals[_i].line, arena_diagnostics(a));
    arena_free(a);
}
END_TEST

/* Fields that a line leaves out are chosen to fit those that it gives, and the sums of squares that products of a block take. */
static const struct {
    const char *line, *tile;
} partial[] = {{"gemm: layer=wgmma", "layer=wgmma m=64 n=64 k=64 threads=256 stages=8 group_m=16 cluster=1 split_k=1"},
               {"down: layer=wgmma split_k=2", "layer=wgmma m=128 n=64 k=64 threads=256 stages=8 group_m=16 cluster=1 split_k=2"},
               {"o: layer=wgmma m=64", "layer=wgmma m=64 n=64 k=64 threads=256 stages=8 group_m=16 cluster=1 split_k=1"}};

START_TEST(fields_left_out_of_a_tile_fit_the_others)
{
    const char *const lines[] = {"attention: layer=wgmma", partial[_i].line};
    const tuning asked = {.lines = lines, .count = 2};
    const dim_override dims[] = {{"B", 1}, {"S", 64}, {"D", 2048}};
    rig *r = rig_plan(&(rig_request){.path = LLAMA, .level = fusion_block, .target = "sm_90a", .dims = dims, .dim_count = 3,
                                     .tuning = &asked});
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), partial[_i].tile));
    rig_close(r);
}
END_TEST

/* ---- results: several tiles of each phase per workgroup, partial tiles of rows and columns, tiles of 64 rows, slices of K, grouped heads,
 * keys in several blocks, a window, biases, layernorms. Workgroups: a few, or some that start late, so that others give up, and the results
 * of first tiles are dropped; more of them than the first phase has tiles. Waves that come late to each wait: several tiles of attention
 * per workgroup, of which one warpgroup has no rows, or no keys of some blocks. */
static const struct {
    const char *path, *dtype, *lines[2];
    dim_override dims[7];
    int dim_count, multiprocessors;
    bool late, late_waves;
} trials[] = {
    {LLAMA, "bf16", {"attention: layer=wgmma", "gemm: layer=wgmma m=128 n=64 stages=2"},
     {{"B", 2}, {"S", 70}, {"D", 128}, {"H", 4}, {"KV", 2}, {"hd", 32}, {"F", 200}}, 7, 3, false, false},
    {LLAMA, "f16", {"attention: layer=wgmma stages=3 block_k=16", "gemm: layer=wgmma m=64 n=128 stages=3"},
     {{"B", 1}, {"S", 150}, {"D", 136}, {"H", 3}, {"KV", 1}, {"hd", 48}, {"F", 330}}, 7, 2, false, false},
    {GPT2, "bf16", {"attention: layer=wgmma", "gemm: layer=wgmma m=64 n=64 stages=2"},
     {{"B", 3}, {"S", 41}, {"D", 128}, {"H", 2}, {"F", 160}}, 5, 3, false, false},
    {BERT, "bf16", {"attention: layer=wgmma", "gemm: layer=wgmma m=128 n=96 stages=4"}, {{"B", 2}, {"S", 33}, {"D", 192}, {"H", 3}}, 4, 4,
     false, false},
    {LLAMA, "bf16", {"gemm: layer=wgmma m=128 n=64 stages=4", "down: split_k=3"},
     {{"B", 1}, {"S", 40}, {"D", 128}, {"H", 2}, {"KV", 2}, {"hd", 64}, {"F", 400}}, 7, 40, false, false},
    {LLAMA, "bf16", {"attention: layer=wgmma", "gemm: layer=wgmma m=128 n=64 stages=4"},
     {{"B", 1}, {"S", 70}, {"D", 192}, {"H", 2}, {"KV", 2}, {"hd", 64}, {"F", 200}}, 7, 5, true, false},
    {GPT2, "bf16", {"attention: layer=wgmma", "gemm: layer=wgmma m=64 n=64 stages=4"},
     {{"B", 2}, {"S", 40}, {"D", 128}, {"H", 2}, {"F", 160}}, 5, 6, true, false},
    {LLAMA, "bf16", {"attention: layer=wgmma", "gemm: layer=register_fed"},
     {{"B", 1}, {"S", 21}, {"D", 128}, {"H", 1}, {"KV", 1}, {"hd", 64}, {"F", 100}}, 7, 5, true, false},
    {LLAMA, "bf16", {"attention: layer=wgmma", "gemm: layer=wgmma m=128 n=64 stages=4"},
     {{"B", 1}, {"S", 40}, {"D", 128}, {"H", 1}, {"KV", 1}, {"hd", 64}, {"F", 200}}, 7, 12, true, false},
    {LLAMA, "bf16", {"attention: layer=wgmma", "gemm: layer=register_fed"},
     {{"B", 4}, {"S", 5}, {"D", 64}, {"H", 4}, {"KV", 2}, {"hd", 32}, {"F", 72}}, 7, 1, false, true},
    {LLAMA, "bf16", {"attention: layer=wgmma block_k=16 stages=3", "gemm: layer=wgmma m=64 n=64 stages=2"},
     {{"B", 2}, {"S", 139}, {"D", 64}, {"H", 2}, {"KV", 2}, {"hd", 32}, {"F", 72}}, 7, 2, false, true}};

START_TEST(results_are_within_their_bounds)
{
    const tuning tuning = {.lines = trials[_i].lines, .count = 2};
    rig *r = rig_open(&(rig_request){.path = trials[_i].path, .level = fusion_block, .target = "sm_90a", .dtype = trials[_i].dtype,
                                     .dims = trials[_i].dims, .dim_count = trials[_i].dim_count, .tuning = &tuning, .check = true,
                                     .multiprocessors = trials[_i].multiprocessors, .late_workgroups = trials[_i].late,
                                     .late_waves = trials[_i].late_waves});
    ck_assert(r->c.plan->launch_count == 1 && r->c.plan->launches->feeds);
    rig_judge_twice(r);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fed");
    TCase *plans = tcase_create("plans"), *results = tcase_create("results");
    tcase_add_loop_test(plans, prompts_have_a_loading_warp, 0, sizeof choices / sizeof *choices);
    tcase_add_test(plans, products_sum_the_squares_of_their_rows);
    tcase_add_test(plans, residuals_are_loaded_before_the_products);
    tcase_add_test(plans, short_phases_have_small_tiles);
    tcase_add_loop_test(plans, an_impossible_tile_is_an_error_with_its_reason, 0, sizeof refusals / sizeof *refusals);
    tcase_add_loop_test(plans, fields_left_out_of_a_tile_fit_the_others, 0, sizeof partial / sizeof *partial);
    tcase_set_timeout(results, 240);
    tcase_add_loop_test(results, results_are_within_their_bounds, 0, sizeof trials / sizeof *trials);
    suite_add_tcase(s, plans);
    suite_add_tcase(s, results);
    return run_suite(s);
}
