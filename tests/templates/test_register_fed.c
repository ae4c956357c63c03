/* Products of few rows whose weights are loaded straight to registers (layer register_fed, templates/gemm/gemm_register_fed.h): which
 * phases get it, what it refuses, results on the host engine at every number of rows, alignment and tail, and that NVRTC compiles decode
 * steps without spills. */
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRODUCT(type, M, N, K)                                                                                        \
    "block: t\ndtype: " type "\ndims: {M: " M ", K: " K ", N: " N "}\ndynamic: {M: [1, 4096]}\ninputs: {x: [M, K]}\n" \
    "params: {w: [N, K]}\nops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n"
#define JOINED                                                                                                       \
    "block: t\ndtype: bf16\ndims: {M: 4, N: 64, K: 64}\ninputs: {x: [M, K]}\nparams: {w: [N, K], v: [N, K]}\nops:\n" \
    "  - {out: g, op: linear, in: [x, w]}\n  - {out: u, op: linear, in: [x, v]}\n  - {out: y, op: mul, in: [g, u]}\noutputs: {y: y}\n"

/* ---- plans */
static const struct {
    const char *yaml, *tile;
} plans[] = {{PRODUCT("bf16", "1", "70", "64"), "layer=register_fed m=8"},
             {PRODUCT("f16", "1", "4096", "4096"), "layer=register_fed m=8"},
             {PRODUCT("bf16", "16", "4096", "4096"), "layer=register_fed m=16"},
             {PRODUCT("bf16", "17", "4096", "4096"), "layer=register_fed m=24"},
             {PRODUCT("f32", "8", "70", "128"), "layer=skinny"},
             {PRODUCT("bf16", "128", "4096", "4096"), "layer=mma"},
             {"block: t\ndtype: bf16\ndims: {M: 4, K: 64, N: 64}\ninputs: {x: [M, K], w: [K, N]}\n"
              "ops:\n  - {out: y, op: matmul, in: [x, w]}\noutputs: {y: y}\n",
              "layer=skinny"}};

START_TEST(a_product_of_few_rows_in_16_bits_loads_its_weights_to_registers)
{
    rig *r = rig_plan(&(rig_request){.yaml = plans[_i].yaml, .level = fusion_tile, .target = "sm_80"});
    const launch *l = &r->c.plan->launches[0];
    const bool register_fed = strstr(plans[_i].tile, "register_fed") != NULL;
    const char *text = ir_print(r->a, r->c.plan->ir);
    ck_assert_msg(strstr(text, plans[_i].tile) != NULL, "%s", text);
    ck_assert_int_eq(strstr(l->source.body, "TF_KERNEL_SLICED_K(t_y_, gemm_register_fed<t_y_spec>)") != NULL, register_fed);
    ck_assert_int_eq(strstr(text, "frame=sliced_k") != NULL, register_fed);
    if (register_fed) ck_assert_int_eq(l->dynamic_bytes, l->shared_bytes);
    rig_close(r);
}
END_TEST

START_TEST(an_impossible_tile_of_register_fed_is_an_error_with_its_reason)
{
    static const struct {
        const char *target, *yaml, *line, *message;
    } cases[] = {{"gfx942", PRODUCT("f32", "4", "70", "64"), "gemm layer=register_fed", "operands are not both bf16 or both f16"},
                 {"gfx942", PRODUCT("bf16", "4", "70", "64"), "gemm m=24", "m must be a multiple of 16"},
                 {"gfx1100", PRODUCT("bf16", "4", "70", "64"), "gemm threads=80", "threads must be whole waves"},
                 {"gfx90a", PRODUCT("bf16", "64", "70", "64"), "gemm n=64 threads=512",
                  "131072 bytes of shared memory; a workgroup has 65536"},
                 {"host", PRODUCT("bf16", "4", "70", "64"), "gemm layer=register_fed", "the target lacks these instructions"},
                 {"sm_80", PRODUCT("f32", "4", "70", "64"), "gemm layer=register_fed", "operands are not both bf16 or both f16"},
                 {"sm_80", PRODUCT("bf16", "4", "70", "64"), "gemm m=12", "m must be a multiple of 8"},
                 {"sm_80", PRODUCT("bf16", "4", "70", "64"), "gemm n=40", "n must be a multiple of 16"},
                 {"sm_80", PRODUCT("bf16", "4", "70", "64"), "gemm threads=80", "threads must be whole waves"},
                 {"sm_80", PRODUCT("bf16", "4", "70", "64"), "gemm ahead=9", "ahead=9; it is 1 to 8"},
                 {"sm_80", PRODUCT("bf16", "4", "70", "64"), "gemm n=256 ahead=8 threads=512", "more registers than a thread has"},
                 {"sm_80", PRODUCT("bf16", "64", "70", "64"), "gemm layer=register_fed m=64 n=64 ahead=1 threads=256",
                  "bytes of shared memory; a workgroup has 101376"},
                 {"sm_90a", JOINED, "gemm layer=register_fed n=48", "n must be a multiple of 32 where the epilogue joins columns"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tuning t = {.lines = &cases[i].line, .count = 1};
        const compile_request q = {.name = "t.yaml",
                                   .text = cases[i].yaml,
                                   .size = strlen(cases[i].yaml),
                                   .level = fusion_tile,
                                   .target = cases[i].target,
                                   .tuning = &t};
        arena *a = arena_new();
        compiled c;
        const tfgen_code code = compile(a, &q, &c);
        ck_assert_msg(code == code_unsupported, "%s %s: %d", cases[i].target, cases[i].line, code);
        ck_assert_msg(strstr(arena_diagnostics(a), cases[i].message) != NULL, "%s: %s", cases[i].line, arena_diagnostics(a));
        arena_free(a);
    }
}
END_TEST

/* ---- the host engine runs the very source: every number of rows about a tile's end, tails of K in and beyond a chunk, of N in and beyond
 * a piece, halves of blocks, rows that are copied to aligned ones first, several row tiles, waves without columns, sums of rows */
typedef struct trial {
    const char *path, *target, *dtype, *line;
    long long M, N, K;
} trial;

#define PLAIN "tests/h200/product.yaml"
#define RESIDUAL "tests/h200/residual.yaml"
static const trial trials[] = {{PLAIN, "sm_90a", "bf16", NULL, 1, 1, 1},
                               {PLAIN, "sm_80", "f16", NULL, 1, 131, 263},
                               {RESIDUAL, "sm_90a", "f16", NULL, 2, 33, 31},
                               {PLAIN, "sm_80", "bf16", NULL, 7, 97, 67},
                               {RESIDUAL, "sm_80", "bf16", NULL, 8, 64, 64},
                               {PLAIN, "sm_90a", "bf16", NULL, 9, 31, 257},
                               {RESIDUAL, "sm_90a", "bf16", NULL, 16, 48, 1008}, /* the last piece is half full */
                               {PLAIN, "sm_90a", "f16", "gemm layer=register_fed", 17, 130, 40},
                               {RESIDUAL, "sm_80", "f16", "gemm layer=register_fed", 33, 99, 511},
                               {PLAIN, "sm_90a", "bf16", "gemm layer=register_fed", 64, 67, 96},
                               {RESIDUAL, "sm_90a", "bf16", "gemm layer=register_fed", 65, 96, 129},
                               {PLAIN, "sm_90a", "bf16", "gemm layer=register_fed n=16 ahead=3 threads=96", 3, 70, 1030},
                               {RESIDUAL, "sm_90a", "f16", "gemm layer=register_fed n=48 ahead=1 threads=512", 5, 200, 777},
                               {RESIDUAL, "sm_80", "bf16", "gemm layer=register_fed n=112 ahead=2 threads=64 m=16", 50, 230, 300},
                               {PLAIN, "sm_90a", "f16", "gemm layer=register_fed n=64 ahead=8 threads=64", 2, 130, 2000},
                               /* 11 pieces a wave: the last iteration has 3 of 8, or of 4 */
                               {PLAIN, "sm_90a", "bf16", "gemm layer=register_fed n=16 ahead=8 threads=64", 3, 70, 704},
                               {RESIDUAL, "sm_80", "bf16", "gemm layer=register_fed n=32 ahead=4 threads=64", 9, 96, 700},
                               {PLAIN, "gfx942", "bf16", NULL, 1, 131, 263},
                               {RESIDUAL, "gfx950", "f16", NULL, 2, 33, 31},
                               {PLAIN, "gfx908", "bf16", NULL, 7, 97, 67},
                               {RESIDUAL, "gfx1100", "bf16", NULL, 16, 48, 1000},
                               {PLAIN, "gfx1201", "f16", NULL, 17, 130, 40},
                               {RESIDUAL, "gfx90a", "f16", NULL, 33, 99, 511},
                               {RESIDUAL, "gfx1151", "f16", NULL, 33, 64, 96},
                               {PLAIN, "gfx942", "f16", NULL, 64, 67, 96},
                               {PLAIN, "gfx1201", "bf16", NULL, 64, 70, 272},
                               {RESIDUAL, "gfx950", "bf16", "gemm layer=register_fed", 65, 96, 129},
                               {PLAIN, "gfx1100", "bf16", "gemm layer=register_fed n=16 ahead=3 threads=96", 3, 70, 1030},
                               {RESIDUAL, "gfx942", "f16", "gemm layer=register_fed n=48 ahead=1 threads=256", 5, 200, 777},
                               {RESIDUAL, "gfx908", "bf16", "gemm layer=register_fed n=96 ahead=2 threads=128 m=32", 50, 230, 300},
                               {PLAIN, "sm_80", "f16", "gemm layer=register_fed n=32 ahead=4 threads=64", 1, 16, 70257}};

START_TEST(every_number_of_rows_alignment_tail_and_tile_is_within_its_bound)
{
    const trial *t = &trials[_i];
    const dim_override dims[] = {{"M", t->M}, {"N", t->N}, {"K", t->K}};
    const tuning tuning = {.lines = &t->line, .count = t->line != NULL};
    rig *r = rig_open(&(rig_request){.path = t->path,
                                     .level = fusion_tile,
                                     .target = t->target,
                                     .dtype = t->dtype,
                                     .dims = dims,
                                     .dim_count = 3,
                                     .tuning = &tuning,
                                     .check = true});
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), "layer=register_fed"));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* Memory beyond a row's end, and rows that do not exist, are NaN and must not reach a result. */
START_TEST(rows_and_columns_that_do_not_exist_reach_no_result)
{
    const dim_override dims[] = {{"M", 8}, {"N", 40}, {"K", 61}};
    rig *r = rig_open(
        &(rig_request){.yaml = PRODUCT("bf16", "8", "40", "61"), .level = fusion_tile, .target = "sm_90a", .dims = dims, .dim_count = 3});
    rig_set_dim(r, "M", 3);
    rig_run(r);
    rig_judge(r);
    ck_assert(rig_tail_untouched(r, "y"));
    rig_close(r);
}
END_TEST

/* One workgroup computes all tiles, so each starts with the sums of another in its registers and shared memory. */
START_TEST(a_workgroup_takes_one_tile_after_the_other)
{
    const dim_override dims[] = {{"M", 20}, {"N", 200}, {"K", 100}};
    const char *line = "gemm layer=register_fed m=8 n=32 threads=128 ahead=2";
    const tuning tuning = {.lines = &line, .count = 1};
    rig *r = rig_open(&(rig_request){.path = RESIDUAL,
                                     .level = fusion_tile,
                                     .target = "sm_90a",
                                     .dims = dims,
                                     .dim_count = 3,
                                     .tuning = &tuning,
                                     .check = true,
                                     .one_workgroup = true});
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* ---- sums of squares of rows, taken while the product reads them */
#define NORMED(M, K, N)                                                                                                                \
    "block: t\ndtype: bf16\ndims: {M: " M ", K: " K ", N: " N "}\ninputs: {x: [M, K], r: [M, K]}\nparams: {n: [K], w: [N, K]}\nops:\n" \
    "  - {out: h, op: add, in: [x, r]}\n  - {out: g, op: rmsnorm, in: [h, n]}\n  - {out: y, op: linear, in: [g, w]}\n"

START_TEST(a_norm_before_a_product_of_few_rows_is_no_launch)
{
    static const struct {
        const char *target, *disabled;
        long long B;
        int launches;
        bool taken;
    } cases[] = {{"sm_90a", NULL, 1, 5, true},  {"sm_80", NULL, 17, 5, true}, {"sm_90a", "input_sums", 1, 6, false},
                 {"sm_90a", NULL, 48, 5, true}, {"gfx942", NULL, 1, 5, true}, {"sm_90a", "statistics", 1, 5, true},
                 {"sm_80", NULL, 48, 6, false}, {"sm_90a", NULL, 160, 6, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const dim_override dims[] = {{"B", cases[i].B}};
        rig *r = rig_plan(&(rig_request){.path = "specs/llama-decode.yaml",
                                         .level = fusion_tile,
                                         .target = cases[i].target,
                                         .disabled = cases[i].disabled,
                                         .dims = dims,
                                         .dim_count = 1});
        const char *text = ir_print(r->a, r->c.plan->ir);
        ck_assert_msg(r->c.plan->launch_count == cases[i].launches, "%s: %d launches", cases[i].target, r->c.plan->launch_count);
        ck_assert_int_eq(strstr(text, "body %gate_up.ss") != NULL, cases[i].taken);
        ck_assert_int_eq(strstr(text, "note fusion-disabled") != NULL, cases[i].disabled && !cases[i].taken);
        ck_assert_int_eq(strstr(text, "without input_sums") != NULL, cases[i].disabled && !cases[i].taken);
        rig_close(r);
    }
}
END_TEST

START_TEST(a_plan_with_sums_of_rows_reads_back)
{
    static const char *const disabled[] = {NULL, "input_sums"};
    rig *r =
        rig_plan(&(rig_request){.path = "specs/llama-decode.yaml", .level = fusion_tile, .target = "sm_90a", .disabled = disabled[_i]});
    const char *text = ir_print(r->a, r->c.plan->ir);
    arena *a = arena_new();
    const compile_request q =
        {.name = "specs/llama-decode.yaml", .text = text, .size = strlen(text), .from_ir = true, .from = stage_plan, .target = "sm_90a"};
    compiled c;
    ck_assert_msg(compile(a, &q, &c) == code_ok, "%s", arena_diagnostics(a));
    ck_assert_str_eq(ir_print(a, c.plan->ir), text);
    for (int i = 0; i < c.plan->launch_count; i++) ck_assert_str_eq(c.plan->launches[i].source.body, r->c.plan->launches[i].source.body);
    arena_free(a);
    rig_close(r);
}
END_TEST

/* Rows of very different size, so that no two sums are alike; partial tiles, several row tiles, more waves than pieces; a phase that
 * computes the sum for others, too. */
static const struct {
    const char *yaml, *line;
    int launches;
    const char *target; /* NULL: sm_90a */
} normed[] = {{NORMED("3", "61", "40") "outputs: {y: y}\n", NULL, 2, NULL},
              {NORMED("1", "1000", "33") "outputs: {y: y, h: h}\n", "gemm layer=register_fed threads=96 ahead=1", 2, NULL},
              {NORMED("33", "520", "70") "outputs: {y: y}\n", "gemm layer=register_fed m=16", 2, NULL},
              {NORMED("20", "4100", "36") "outputs: {y: y}\n", "gemm layer=register_fed n=16 threads=64 ahead=8", 2, NULL},
              {NORMED("2", "8330", "20") "outputs: {y: y}\n", "gemm layer=register_fed n=16 threads=64 ahead=2", 2, NULL},
              {NORMED("5", "90", "40") "  - {out: z, op: rmsnorm, in: [h, n]}\noutputs: {y: y, z: z}\n", NULL, 2, NULL},
              {"block: t\ndtype: f16\ndims: {M: 9, K: 131, N: 40}\ninputs: {x: [M, K]}\nparams: {n: [K], w: [N, K]}\nops:\n"
               "  - {out: g, op: rmsnorm, in: [x, n]}\n  - {out: y, op: linear, in: [g, w]}\noutputs: {y: y}\n",
               NULL, 2, NULL}, /* rows are copied to aligned ones first */
              {NORMED("17", "520", "70") "outputs: {y: y}\n", NULL, 2, "gfx942"},
              {NORMED("3", "1000", "40") "outputs: {y: y}\n", NULL, 2, "gfx1100"},
              {NORMED("33", "90", "33") "outputs: {y: y}\n", NULL, 2, "gfx1201"}};

START_TEST(sums_of_rows_equal_sums_of_their_elements)
{
    const tuning tuning = {.lines = &normed[_i].line, .count = normed[_i].line != NULL};
    rig *r = rig_open(&(rig_request){.yaml = normed[_i].yaml,
                                     .level = fusion_tile,
                                     .target = normed[_i].target ? normed[_i].target : "sm_90a",
                                     .tuning = &tuning,
                                     .check = true});
    ck_assert_int_eq(r->c.plan->launch_count, normed[_i].launches);
    const size_t count = rig_count(r, "x");
    const long long K = value_columns(rig_value(r, "x"));
    for (size_t i = 0; i < count; i++) rig_data(r, "x")[i] *= 1 << (i / (size_t)K % 7);
    rig_round(r);
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* Decode steps: rotated pairs, gates, caches, biases, residuals, sums of rows; the race and bounds checker looks on. */
START_TEST(decode_blocks_are_right_and_free_of_races)
{
    static const char *const options[] = {"specs/llama-decode.yaml --dim=B=3,L=33,D=96,H=4,KV=2,F=104",
                                          "specs/llama-decode.yaml --dim=B=17,L=20,D=66,H=3,KV=1,F=70 --dtype=f16",
                                          "specs/gpt2-decode.yaml --dim=B=1,L=40,D=100,H=4,F=202",
                                          "specs/gpt2-decode.yaml --dim=B=9,L=18,D=66,H=3,F=130 --dtype=f16"};
    static const char *const targets[] = {"sm_90a", "sm_80", "gfx942", "gfx1100", "gfx950", "gfx1201"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command, "o=$(%s run %s --target=%s --check --repeat=0) && echo \"$o\" | grep -q 'layers.* register_fed'",
             program, options[_i % 4], targets[_i < 8 ? _i % 2 + _i / 4 * 2 : 4 + _i % 2]);
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

/* No spills: `tfgen --code` refuses those (runtime/compile/nvrtc.c). */
START_TEST(nvrtc_compiles_decode_steps)
{
    static const char *const options[] = {"specs/llama-decode.yaml --preset=llama-8b --target=sm_90a",
                                          "specs/llama-decode.yaml --preset=llama-1b --dim=B=8 --target=sm_80",
                                          "specs/llama-decode.yaml --preset=llama-8b --dim=B=16 --target=sm_90a",
                                          "specs/llama-decode.yaml --preset=exercise --dim=B=32 --target=sm_90a",
                                          "specs/gpt2-decode.yaml --dim=B=64,D=1625,H=25,F=6403 --target=sm_90a --dtype=f16"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command, "d=$(mktemp -d) && %s %s --code -q -o $d; s=$?; rm -rf $d; exit $s", program, options[_i]);
    const int status = system(command);
    if (status == code_unsupported << 8)
        printf("skipped: no NVRTC\n");
    else
        ck_assert_msg(status == 0, "%s: status %d", command, status >> 8);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("register_fed");
    TCase *t = tcase_create("register_fed");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_product_of_few_rows_in_16_bits_loads_its_weights_to_registers, 0, sizeof plans / sizeof *plans);
    tcase_add_test(t, an_impossible_tile_of_register_fed_is_an_error_with_its_reason);
    TCase *more = suite_long(s, "more of register_fed", 120);
    add_some_now(t, more, every_number_of_rows_alignment_tail_and_tile_is_within_its_bound, sizeof trials / sizeof *trials,
                 (const int[]){1, 3, 6, 8, 12, 13, 16, 18, 20, 23, 26, 28, -1});
    tcase_add_test(t, rows_and_columns_that_do_not_exist_reach_no_result);
    tcase_add_test(t, a_workgroup_takes_one_tile_after_the_other);
    tcase_add_test(t, a_norm_before_a_product_of_few_rows_is_no_launch);
    tcase_add_loop_test(t, a_plan_with_sums_of_rows_reads_back, 0, 2);
    add_some_now(t, more, sums_of_rows_equal_sums_of_their_elements, sizeof normed / sizeof *normed, (const int[]){1, 4, 5, 6, 8, -1});
    add_some_now(t, more, decode_blocks_are_right_and_free_of_races, 10, (const int[]){1, 2, -1});
    add_some_now(t, more, nvrtc_compiles_decode_steps, 5, (const int[]){1, -1});
    suite_add_tcase(s, t);
    return run_suite(s);
}
