/* Products on mma.sync (layer mma, templates/gemm/gemm_mma.h): which phases get it, what it refuses, results on the host engine at every
 * alignment and tail, and that NVRTC compiles the largest without spills. */
#include "gen/plan/predict.h"
#include "tests/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRODUCT(type, M, N, K)                                                                                                      \
    "block: t\ndtype: " type "\ndims: {M: " M ", K: " K ", N: " N "}\ndynamic: {M: [1, 4096]}\ninputs: {x: [M, K]}\n"               \
    "params: {w: [N, K]}\nops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n"

/* ---- plans */
static const struct {
    const char *yaml, *tile;
} plans[] = {{PRODUCT("bf16", "65", "70", "64"), "layer=mma m=32 n=128 k=64 threads=128 stages=4"},
             {PRODUCT("f16", "4096", "4096", "4096"), "layer=mma m=128 n=256 k=32 threads=256 stages=4"},
             {PRODUCT("bf16", "4096", "70", "4096"), "layer=mma m=64 n=128 k=64 threads=128 stages=4"},
             {PRODUCT("f16", "256", "4096", "4096"), "layer=mma m=128 n=128 k=64 threads=256 stages=3"},
             {PRODUCT("bf16", "32", "70", "64"), "layer=register_fed"},
             {PRODUCT("f32", "64", "70", "128"), "layer=simt"},
             {"block: t\ndtype: bf16\ndims: {M: 64, K: 64, N: 64}\ninputs: {x: [M, K], w: [K, N]}\n"
              "ops:\n  - {out: y, op: matmul, in: [x, w]}\noutputs: {y: y}\n", "layer=mma m=32 n=128 k=64 threads=128 stages=4"}};

START_TEST(a_product_of_many_rows_in_16_bits_is_on_mma)
{
    rig *r = rig_plan(&(rig_request){.yaml = plans[_i].yaml, .level = fusion_tile, .target = "sm_80"});
    const launch *l = &r->c.plan->launches[0];
    const bool mma = strstr(plans[_i].tile, "mma") != NULL;
    const char *text = ir_print(r->a, r->c.plan->ir);
    ck_assert_msg(strstr(text, plans[_i].tile) != NULL, "%s", text);
    ck_assert_int_eq(strstr(l->source.body, "TF_KERNEL_MULTISTAGE(t_y_, gemm_mma<t_y_spec>)") != NULL, mma);
    if (mma) ck_assert_int_eq(l->dynamic_bytes, l->shared_bytes);
    if (mma) ck_assert_int_gt(l->resident, 0);
    if (mma) ck_assert_int_le(l->resident * (l->shared_bytes + 1024), 100 * 1024); /* what a multiprocessor of sm_86 has */
    rig_close(r);
}
END_TEST

static tfgen_code plan_with(arena *a, const char *yaml, const char *target, const char *line, compiled *c)
{
    const tuning t = {.lines = &line, .count = 1};
    const compile_request q = {.name = "t.yaml", .text = yaml, .size = strlen(yaml), .level = fusion_tile, .target = target, .tuning = &t};
    return compile(a, &q, c);
}

START_TEST(sm_90a_uses_mma_on_request)
{
    const char *line = "gemm layer=mma m=128 n=256 k=64 threads=256 stages=4", *yaml = PRODUCT("bf16", "4096", "4096", "4096");
    arena *a = arena_new();
    compiled c;
    ck_assert_msg(plan_with(a, yaml, "sm_90a", line, &c) == code_ok, "%s", arena_diagnostics(a));
    ck_assert_ptr_nonnull(strstr(ir_print(a, c.plan->ir), "layer=mma m=128 n=256 k=64"));
    ck_assert_int_eq(c.plan->launches[0].shared_bytes, 4 * (128 + 256) * 128);
    ck_assert_int_eq(plan_with(a, yaml, "sm_80", line, &c), code_unsupported);
    ck_assert_ptr_nonnull(strstr(arena_diagnostics(a), "196608 bytes of shared memory; a workgroup has 101376"));
    arena_free(a);
}
END_TEST

/* Small products whose rows begin at multiples of 4 bytes need no copies; for larger ones copies pay, as 16 bytes are then copied at a
 * time. */
START_TEST(small_products_read_rows_as_they_are_stored)
{
    static const struct {
        const char *target, *M, *K, *N, *layer;
        int launches;
    } cases[] = {{"sm_90a", "4000", "82", "384", "layer=mma_direct", 1}, {"sm_90a", "4000", "83", "384", "layer=", 2},
                 {"sm_90a", "4000", "5002", "4096", "layer=swap_ab", 2}, {"sm_80", "4000", "82", "384", "layer=mma_direct", 1},
                 {"sm_80", "33", "82", "384", "layer=mma_direct", 1}, /* register_fed precedes where times are guesses */
                 {"sm_80", "32", "82", "384", "layer=register_fed", 2}, {"sm_90a", "32", "82", "384", "layer=mma_direct", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char yaml[512];
        snprintf(yaml, sizeof yaml,
                 "block: t\ndtype: bf16\ndims: {M: %s, K: %s, N: %s}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\nops:\n"
                 "  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n", cases[i].M, cases[i].K, cases[i].N);
        rig *r = rig_plan(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = cases[i].target});
        const char *text = ir_print(r->a, r->c.plan->ir);
        ck_assert_msg(strstr(text, cases[i].layer) != NULL, "%s", text);
        ck_assert_int_eq(r->c.plan->launch_count, cases[i].launches);
        rig_close(r);
    }
}
END_TEST

START_TEST(an_impossible_tile_of_mma_is_an_error_with_its_reason)
{
    static const struct {
        const char *target, *type, *line, *message;
    } cases[] = {{"gfx942", "bf16", "gemm layer=mma", "the target lacks these instructions"},
                 {"host", "bf16", "gemm layer=mma", "the target lacks these instructions"},
                 {"sm_80", "bf16", "gemm layer=wgmma", "the target lacks these instructions"},
                 {"sm_80", "f32", "gemm layer=mma", "operands are not both bf16 or both f16"},
                 {"sm_80", "bf16", "gemm k=48", "k must be 32 or 64"},
                 {"sm_80", "bf16", "gemm threads=160", "threads must be 128 or 256"},
                 {"sm_80", "bf16", "gemm k=16", "k=16; it is 32 to 64"},
                 {"sm_80", "bf16", "gemm threads=512", "threads=512; it is 128 to 256"},
                 {"sm_80", "bf16", "gemm m=512", "m=512; it is 16 to 256"},
                 {"sm_80", "bf16", "gemm n=32", "warps must divide m into rows of 16"},
                 {"sm_80", "bf16", "gemm m=16 n=128 k=32", "m and n must be multiples of the rows that all threads copy at once"},
                 {"sm_80", "bf16", "gemm m=256 n=128", "a thread keeps at most 128 results"},
                 {"sm_80", "bf16", "gemm stages=2", "stages=2; it is 3 to 8"},
                 {"sm_80", "bf16", "gemm layer=mma_direct", "rows of %x begin at multiples of 16 bytes, so no program copies them"},
                 {"sm_80", "f32", "gemm layer=mma_direct", "operands are not both bf16 or both f16"},
                 {"sm_80", "bf16", "gemm group_m=0", "group_m=0; it is 1 to 1024"},
                 {"sm_80", "bf16", "gemm m=128 n=256 threads=256 stages=5", "bytes of shared memory; a workgroup has 101376"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        arena *a = arena_new();
        compiled c;
        const char *yaml = *cases[i].type == 'f' ? PRODUCT("f32", "64", "70", "64") : PRODUCT("bf16", "64", "70", "64");
        const tfgen_code code = plan_with(a, yaml, cases[i].target, cases[i].line, &c);
        ck_assert_msg(code == code_unsupported, "%s %s: %d", cases[i].target, cases[i].line, code);
        ck_assert_msg(strstr(arena_diagnostics(a), cases[i].message) != NULL, "%s: %s", cases[i].line, arena_diagnostics(a));
        arena_free(a);
    }
}
END_TEST

START_TEST(a_request_for_mma_direct_says_why_it_has_nothing_to_do)
{
    static const char head[] = "block: t\ndtype: bf16\ndims: {M: 70, K: 67, N: 72}\ninputs: {x: [M, K]";
    static const char *const cases[][2] = {
        {"}\nparams: {w: [N, K]}\nops: [{out: y, op: linear, in: [x, w]}]\n",
         "layer=mma_direct: rows of %x begin at odd multiples of 2 bytes;"},
        {", z: [K, N]}\nops: [{out: y, op: matmul, in: [x, z]}]\n",
         "rows of %x begin at odd multiples of 2 bytes; rows of %z begin at multiples of 16"},
        {"}\nparams: {v: [K, K], w: [N, K]}\nops: [{out: u, op: linear, in: [x, v]}, {out: y, op: linear, in: [u, w]}]\n",
         "rows of %u are stored by another phase, where every program can read them"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        arena *a = arena_new();
        compiled c;
        const char *yaml = arena_printf(a, "%s%soutputs: {y: y}\n", head, cases[i][0]);
        ck_assert_int_eq(plan_with(a, yaml, "sm_80", "y: layer=mma_direct", &c), code_unsupported);
        ck_assert_msg(strstr(arena_diagnostics(a), cases[i][1]) != NULL, "%s", arena_diagnostics(a));
        arena_free(a);
    }
}
END_TEST

/* A as [K, M] is no reason to read operands as they are stored where wgmma reads it; where it is, its columns are copied in powers of 2. */
START_TEST(rows_of_a_across_k_are_read_as_stored_without_wgmma)
{
    const char *yaml = "block: t\ndtype: bf16\ndims: {M: 192, K: 64, N: 64}\ninputs: {x: [K, M], z: [K, N]}\n"
                       "ops: [{out: y, op: matmul, in: [x, z], transpose_a: true}]\noutputs: {y: y}\n";
    static const struct {
        const char *target, *line, *message;
    } cases[] = {{"sm_90a", "y: layer=mma_direct", "rows of %x begin at multiples of 16 bytes, so no program copies them"},
                 {"sm_80", "y: layer=mma_direct m=128 n=64 k=64 threads=128", NULL},
                 {"sm_80", "y: layer=mma_direct m=96 n=64 k=64 threads=128", "m must be 64, 128 or 256 for A as [K, M]"},
                 {"sm_80", "y: layer=mma_direct m=64 n=192 k=64 threads=128", "n must be 64, 128 or 256 for B as [K, N]"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        arena *a = arena_new();
        compiled c;
        const tfgen_code code = plan_with(a, yaml, cases[i].target, cases[i].line, &c);
        ck_assert_msg(code == (cases[i].message ? code_unsupported : code_ok), "%s: %s", cases[i].line, arena_diagnostics(a));
        if (cases[i].message) ck_assert_msg(strstr(arena_diagnostics(a), cases[i].message) != NULL, "%s", arena_diagnostics(a));
        arena_free(a);
    }
}
END_TEST

/* Of a product on a tile of 64 x 128 with k = 32, on an H200. */
static prediction foreseen(const char *inputs, const char *op, const char *K, const char *N, const char *layer, int *resident)
{
    arena *a = arena_new();
    compiled c;
    prediction p;
    const char *yaml =
        arena_printf(a, "block: t\ndtype: bf16\ndims: {M: 4096, K: %s, N: %s}\n%s\nops: [{out: y, op: %s}]\noutputs: {y: y}\n", K, N,
                     inputs, op);
    const char *line = arena_printf(a, "y: layer=%s m=64 n=128 k=32 threads=128 stages=4", layer);
    ck_assert_msg(plan_with(a, yaml, "sm_90a", line, &c) == code_ok, "%s", arena_diagnostics(a));
    const launch *l = &c.plan->launches[c.plan->launch_count - 1];
    const work w = launch_work(a, c.plan, l, NULL, NULL);
    ck_assert(launch_predict(a, c.plan, l, &w, &p));
    *resident = l->resident;
    arena_free(a);
    return p;
}

/* The share of a k tile in shared memory has 36864 bytes of reads; a warp's copy takes 8 cycles, as long as 1024 bytes. */
START_TEST(copies_and_stores_of_few_bytes_take_longer)
{
    const char *linear = "inputs: {x: [M, K]}\nparams: {w: [N, K]}", *two = "inputs: {x: [M, K], z: [N, K]}",
               *of_weight = "linear, in: [x, w]", *of_two = "matmul, in: [x, z], transpose: true";
    int direct, usual;
    const prediction of_4 = foreseen(linear, of_weight, "82", "128", "mma_direct", &direct),
                     of_8 = foreseen(linear, of_weight, "84", "128", "mma_direct", &direct),
                     both = foreseen(two, of_two, "82", "128", "mma_direct", &direct),
                     of_16 = foreseen(linear, of_weight, "88", "128", "mma", &usual);
    const double reads = 36864, rows = 64 * 32 * 2, columns = 128 * 32 * 2, copies_of_4 = 1024 / 128.0, copies_of_8 = copies_of_4 / 2;
    ck_assert_double_eq_tol(of_4.shared / of_16.shared, (reads + rows * copies_of_4) / reads, 1e-3);
    ck_assert_double_eq_tol(of_8.shared / of_16.shared, (reads + rows * copies_of_8) / reads, 1e-3);
    ck_assert_double_eq_tol(both.shared / of_16.shared, (reads + (rows + columns) * copies_of_4) / reads, 1e-3);
    ck_assert_int_eq(direct, 2); /* addresses of small copies take registers */
    ck_assert_int_eq(usual, 3);
    ck_assert_double_ge(of_4.fixed, of_16.fixed + 0.3e-6);
    /* rows of results at multiples of 4 and 8 bytes; at odd multiples of 2, through shared memory */
    ck_assert_double_eq_tol(foreseen(linear, of_weight, "82", "126", "mma_direct", &direct).epilogues / of_4.epilogues, 8 / 1.7, 1e-2);
    ck_assert_double_eq_tol(foreseen(linear, of_weight, "82", "124", "mma_direct", &direct).epilogues / of_4.epilogues, 8 / 4.0, 1e-2);
    ck_assert_double_eq_tol(foreseen(linear, of_weight, "82", "127", "mma_direct", &direct).epilogues / of_4.epilogues, 8 / 2.0, 1e-2);
}
END_TEST

/* ---- the host engine runs the very source: tails of every kind, rows that are aligned first, sums of rows, more tiles than workgroups */
typedef struct trial {
    const char *path, *dtype, *line;
    long long M, N, K;
} trial;

static const trial trials[] = {
    {"tests/h200/product.yaml", "bf16", NULL, 131, 263, 200},
    {"tests/h200/residual.yaml", "f16", NULL, 37, 70, 66},
    {"tests/h200/product.yaml", "bf16", NULL, 129, 67, 67},
    {"tests/h200/product.yaml", "f16", NULL, 34, 1, 4},
    {"tests/h200/product.yaml", "bf16", "gemm m=128 n=128 k=64 threads=256 stages=3 group_m=2", 129, 130, 72},
    {"tests/h200/residual.yaml", "bf16", "gemm m=128 n=256 k=32 threads=256 stages=4 group_m=1", 300, 300, 132},
    {"tests/h200/residual.yaml", "f16", "gemm m=256 n=128 k=32 threads=256 stages=3 group_m=8", 257, 130, 97},
    {"tests/h200/product.yaml", "bf16", "gemm m=64 n=128 k=64 threads=256 stages=4 group_m=3", 500, 500, 33},
    {"tests/h200/residual.yaml", "bf16", "gemm layer=mma_direct m=64 n=64 k=64 threads=128 stages=3 group_m=2", 140, 131, 134}};

START_TEST(every_alignment_tail_and_tile_is_within_its_bound)
{
    const trial *t = &trials[_i];
    const dim_override dims[] = {{"M", t->M}, {"N", t->N}, {"K", t->K}};
    const tuning tuning = {.lines = &t->line, .count = t->line != NULL};
    rig *r = rig_open(&(rig_request){
        .path = t->path, .level = fusion_tile, .target = "sm_80", .dtype = t->dtype, .dims = dims, .dim_count = 3, .tuning = &tuning});
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), "layer=mma"));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* Runs the race and bounds checker on whole and partial tiles, and on row sums with rotations. */
START_TEST(no_thread_reads_what_another_is_writing)
{
    static const char *const options[] = {"tests/h200/product.yaml --dim=M=129,N=33,K=72", "tests/h200/product.yaml --dim=M=70,N=67,K=131",
                                          "tests/h200/product.yaml --dim=M=70,N=67,K=138 --tile='gemm: layer=mma_direct'",
                                          "specs/llama-block.yaml --dim=B=1,S=33,D=64,H=2,KV=1,F=70"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command, "o=$(%s run %s --target=sm_80 --check --repeat=0) && echo \"$o\" | grep -q 'layers.* mma'", program,
             options[_i]);
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

/* `tfgen --code` refuses spills (runtime/compile/nvrtc.c). Cases: the largest tiles with the most row scalars and reads, rows of every
 * alignment, beside phases of other programs in one launch. */
START_TEST(nvrtc_compiles_every_form_of_a_product)
{
    static const char *const options[] = {"specs/gpt2-block.yaml --target=sm_80 --dim=B=4,S=1024,D=1625,H=25,F=6403",
                                          "specs/llama-block.yaml --target=sm_80 --preset=llama-8b",
                                          "specs/bert-block.yaml --target=sm_80 --dim=B=4,S=1024,D=1700,H=25,F=6404 --dtype=f16",
                                          "specs/llama-block.yaml --target=sm_80 --dim=B=4,S=1024,D=2046,H=33,KV=3,F=5467 --fusion=ops",
                                          "tests/h200/product.yaml --target=sm_90a --dim=M=4000,N=384,K=82 --tile='gemm: m=128 n=128 k=64 "
                                          "threads=256 stages=3'",
                                          "specs/llama-decode.yaml --target=sm_90a --dim=B=21,L=806,D=7168,H=56,KV=8,hd=128,F=35196 "
                                          "--fusion=block"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command, "d=$(mktemp -d) && %s %s --code -q -o $d; s=$?; rm -rf $d; exit $s", program, options[_i]);
    const int status = system(command);
    if (status == code_unsupported << 8) printf("skipped: no NVRTC\n");
    else ck_assert_msg(status == 0, "%s: status %d", command, status >> 8);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mma");
    TCase *t = tcase_create("mma");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_product_of_many_rows_in_16_bits_is_on_mma, 0, sizeof plans / sizeof *plans);
    tcase_add_test(t, sm_90a_uses_mma_on_request);
    tcase_add_test(t, small_products_read_rows_as_they_are_stored);
    tcase_add_test(t, an_impossible_tile_of_mma_is_an_error_with_its_reason);
    tcase_add_test(t, a_request_for_mma_direct_says_why_it_has_nothing_to_do);
    tcase_add_test(t, rows_of_a_across_k_are_read_as_stored_without_wgmma);
    tcase_add_test(t, copies_and_stores_of_few_bytes_take_longer);
    TCase *more = suite_long(s, "more of mma", 120);
    add_some_now(t, more, every_alignment_tail_and_tile_is_within_its_bound, sizeof trials / sizeof *trials,
                 (const int[]){1, 3, 4, 6, 8, -1});
    tcase_add_loop_test(t, no_thread_reads_what_another_is_writing, 0, 4);
    add_some_now(t, more, nvrtc_compiles_every_form_of_a_product, 6, (const int[]){1, 4, -1});
    suite_add_tcase(s, t);
    return run_suite(s);
}
