/* Products of few rows on wgmma with swapped operands (layer swap_ab, templates/gemm/gemm_swap_ab.h): which phases get it, what it refuses,
 * results on the host engine at every number of rows, alignment, tail and split of K, and that NVRTC compiles decode steps unspilled. */
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRODUCT(type, M, N, K)                                                                                        \
    "block: t\ndtype: " type "\ndims: {M: " M ", K: " K ", N: " N "}\ndynamic: {M: [1, 4096]}\ninputs: {x: [M, K]}\n" \
    "params: {w: [N, K]}\nops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n"

/* ---- plans */
static const struct {
    const char *yaml, *target, *tile;
} plans[] = {{PRODUCT("bf16", "17", "70", "64"), "sm_90a", "layer=register_fed m=24"},
             {PRODUCT("f16", "64", "4096", "4096"), "sm_90a",
              "layer=swap_ab m=64 n=64 k=128 threads=160 stages=7 row_stages=7 cluster=1 cluster_m=1 split_k=2"},
             {PRODUCT("bf16", "64", "28672", "4096"), "sm_90a",
              "layer=swap_ab m=64 n=224 k=64 threads=544 stages=6 row_stages=6 cluster=1 cluster_m=1 split_k=1"},
             {PRODUCT("bf16", "33", "2048", "8192"), "sm_90a",
              "layer=swap_ab m=48 n=64 k=128 threads=160 stages=8 row_stages=8 cluster=1 cluster_m=1 split_k=2"},
             {PRODUCT("bf16", "32", "2048", "8192"), "sm_90a",
              "layer=swap_ab m=32 n=64 k=256 threads=160 stages=5 row_stages=4 cluster=1 cluster_m=1 split_k=2"},
             {PRODUCT("bf16", "64", "16384", "3072"), "sm_90a",
              "layer=swap_ab m=64 n=128 k=64 threads=288 stages=9 row_stages=9 cluster=1 cluster_m=1 split_k=1"},
             {PRODUCT("bf16", "128", "4096", "100000"), "sm_90a", "layer=wgmma"},
             {PRODUCT("bf16", "128", "1024", "4096"), "sm_90a", "layer=swap_ab m=128"},
             {PRODUCT("bf16", "16", "4096", "4096"), "sm_90a", "layer=register_fed"},
             {PRODUCT("bf16", "129", "4096", "4096"), "sm_90a", "layer=swap_ab m=72 n=128"},
             {PRODUCT("bf16", "592", "7672", "5064"), "sm_90a",
              "layer=swap_ab m=200 n=192 k=64 threads=512 stages=4 row_stages=4 cluster=2 cluster_m=1"},
             {PRODUCT("bf16", "3088", "1480", "29888"), "sm_90a", "layer=swap_ab"},
             {PRODUCT("f16", "527", "23440", "1024"), "sm_90a",
              "layer=swap_ab m=176 n=192 k=64 threads=512 stages=4 row_stages=4 cluster=1 cluster_m=1 split_k=1 tail=1 smem_epilogue=1 "
              "in_turn=0 persistent=1"},
             {PRODUCT("bf16", "4096", "4096", "1024"), "sm_90a", "layer=wgmma m=128 n=128 k=64 threads=384 stages=6 group_m=16 cluster=2 "
                                                                 "split_k=1 smem_epilogue=1 own_tiles=1"},
             {PRODUCT("bf16", "4096", "4096", "1000"), "sm_90a", "layer=swap_ab m=256 n=128"},
             {PRODUCT("f32", "64", "70", "128"), "sm_90a", "layer=wgmma_3xtf32"},
             {PRODUCT("bf16", "64", "70", "64"), "sm_80", "layer=mma"}};

START_TEST(a_product_of_few_rows_in_16_bits_swaps_its_operands)
{
    rig *r = rig_plan(&(rig_request){.yaml = plans[_i].yaml, .level = fusion_tile, .target = plans[_i].target});
    const launch *l = &r->c.plan->launches[0];
    const bool swap_ab = strstr(plans[_i].tile, "swap_ab") != NULL;
    const char *text = ir_print(r->a, r->c.plan->ir);
    ck_assert_msg(strstr(text, plans[_i].tile) != NULL, "%s", text);
    ck_assert_int_eq(strstr(l->source.body, "TF_KERNEL_WS_TILE(t_y_, gemm_swap_ab<t_y_spec>)") != NULL, swap_ab);
    if (swap_ab) {
        ck_assert_int_eq(l->dynamic_bytes, l->shared_bytes);
        /* 0: one tile per workgroup: the grid has all tiles */
        ck_assert_int_eq(l->resident, tile_setting(l->work->phase, "persistent"));
        ck_assert_int_eq(launch_grid(l, &r->c.plan->ir->dims) % l->cluster, 0);
        /* clusters of more than two workgroups do not fit on every multiprocessor, unless two workgroups share one or some stay free */
        if (l->cluster > 2 && 2 * (l->shared_bytes + 1024) > 228 * 1024)
            ck_assert_int_le(launch_grid(l, &r->c.plan->ir->dims) * 11, 132 * 10);
        const long long row_groups = tile_setting(l->work->phase, "m") / 8, in_turn = tile_setting(l->work->phase, "in_turn");
        const long long sharers = in_turn ? 1 : tile_setting(l->work->phase, "cluster");
        ck_assert_int_eq(l->arguments[0].box->box_rows, (row_groups + sharers - 1) / sharers * 8);
        const long long members = tile_setting(l->work->phase, "cluster_m"); /* each loads an equal share of a k tile's pieces */
        ck_assert_int_eq(l->arguments[1].box->box_rows * l->arguments[1].box->box_columns * members,
                         tile_setting(l->work->phase, "n") / 16 * tile_setting(l->work->phase, "k") / 32);
    }
    rig_close(r);
}
END_TEST

START_TEST(an_impossible_tile_of_swap_ab_is_an_error_with_its_reason)
{
    static const struct {
        const char *target, *type, *line, *message;
    } cases[] = {{"gfx942", "bf16", "gemm layer=swap_ab", "the target lacks these instructions"},
                 {"sm_80", "bf16", "gemm layer=swap_ab", "the target lacks these instructions"},
                 {"sm_90a", "f32", "gemm layer=swap_ab", "operands are not both bf16 or both f16"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab m=44", "m must be a multiple of 8"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab m=24 cluster=4", "m must be at least 8 times cluster"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab cluster=1 in_turn=1", "in_turn=1 needs a cluster, and A as [M, K]"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab persistent=1 smem_epilogue=0", "persistent=1 needs smem_epilogue=1"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab persistent=1 smem_epilogue=1 n=96 k=64 threads=288",
                  "persistent=1 needs n to be a multiple of 64"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab persistent=1 smem_epilogue=1 n=64 k=64 threads=160 stages=3 row_stages=2",
                  "persistent=1 needs as many stages for rows as for weights"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab cluster_m=3", "cluster and cluster_m must be 1, 2 or 4"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab cluster=4 cluster_m=4", "cluster * cluster_m * split_k must be at most 8"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab m=264", "m=264; it is 16 to 256"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab n=80", "n must be a multiple of 32"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab n=160", "threads must be 128 for each 64 columns, plus 32 (m above 128: plus 128)"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab split_k=3", "split_k must be 1, 2, 4 or 8"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab k=64 tail=2", "each slice of split-K must have at least one k tile"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab stages=3 row_stages=4", "row_stages must be at most stages"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab split_k=2", "each slice of split-K must have at least one k tile"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab m=128 n=256 k=64 threads=544 stages=2 row_stages=2",
                  "the stages are too small to reduce the tile's partial sums in"},
                 {"sm_90a", "bf16", "gemm layer=swap_ab stages=12 m=128", "bytes of shared memory; a workgroup has 232448"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tuning t = {.lines = &cases[i].line, .count = 1};
        const char *yaml = *cases[i].type == 'f' ? PRODUCT("f32", "64", "70", "128") : PRODUCT("bf16", "64", "70", "64");
        const compile_request q =
            {.name = "t.yaml", .text = yaml, .size = strlen(yaml), .level = fusion_tile, .target = cases[i].target, .tuning = &t};
        arena *a = arena_new();
        compiled c;
        const tfgen_code code = compile(a, &q, &c);
        ck_assert_msg(code == code_unsupported, "%s %s: %d", cases[i].target, cases[i].line, code);
        ck_assert_msg(strstr(arena_diagnostics(a), cases[i].message) != NULL, "%s: %s", cases[i].line, arena_diagnostics(a));
        arena_free(a);
    }
}
END_TEST

/* Two workgroups share a multiprocessor only if the results of one wgmma fit in the registers of a thread at launch, here 80. Columns of A
 * are loaded in panels of 64, so that the first of two wgmmas has 128 rows: NVRTC refused it. */
START_TEST(workgroups_share_a_multiprocessor_if_a_wgmma_fits_in_their_registers)
{
    static const struct {
        const char *operands, *stages, *resident;
    } cases[] = {{"inputs: {x: [K, M], z: [K, N]}\nops:\n  - {out: y, op: matmul, in: [x, z], transpose_a: true}", "2", "resident = 1,"},
                 {"inputs: {x: [M, K], z: [K, N]}\nops:\n  - {out: y, op: matmul, in: [x, z]}", "3", "resident = 2,"}};
    char yaml[512], line[128];
    snprintf(yaml, sizeof yaml, "block: t\ndtype: bf16\ndims: {M: 152, N: 7424, K: 192}\n%s\noutputs: {y: y}\n", cases[_i].operands);
    snprintf(line, sizeof line, "gemm layer=swap_ab m=152 n=128 k=64 threads=384 stages=%s row_stages=2", cases[_i].stages);
    const char *lines = line;
    rig *r = rig_plan(&(rig_request){
        .yaml = yaml, .level = fusion_tile, .target = "sm_90a", .tuning = &(tuning){.lines = &lines, .count = 1}});
    const char *body = r->c.plan->launches[r->c.plan->launch_count - 1].source.body;
    ck_assert_msg(strstr(body, cases[_i].resident) != NULL, "%s", body);
    rig_close(r);
}
END_TEST

/* ---- on the host engine, which checks races and bounds: numbers of rows near a tile's, tails of K within and beyond a piece, tails of N,
 * rows that are copied to aligned ones first, several row tiles, split-K with parts of unequal length, reused stages, widths, column tiles
 * of a cluster of which the last has no columns, sums of rows */
typedef struct trial {
    const char *path, *dtype, *line;
    long long M, N, K;
    int units; /* number of multiprocessors; 0: one */
} trial;

#define PLAIN "tests/h200/product.yaml"
#define RESIDUAL "tests/h200/residual.yaml"
static const trial trials[] =
    {{PLAIN, "bf16", "gemm layer=swap_ab", 1, 1, 1, 0},
     {RESIDUAL, "f16", "gemm layer=swap_ab", 7, 33, 31, 0},
     {RESIDUAL, "bf16", "gemm layer=swap_ab", 16, 48, 100, 0},
     {PLAIN, "bf16", "gemm layer=swap_ab", 33, 97, 67, 0},
     {RESIDUAL, "f16", "gemm layer=swap_ab", 63, 70, 193, 0},
     {PLAIN, "f16", "gemm layer=swap_ab", 64, 131, 520, 0},
     {RESIDUAL, "bf16", "gemm layer=swap_ab", 65, 64, 129, 0},
     {RESIDUAL, "bf16", "gemm layer=swap_ab m=16 split_k=2", 50, 130, 300, 0},
     {PLAIN, "f16", "gemm layer=swap_ab m=32 split_k=4 stages=2 row_stages=2", 40, 263, 700, 0},
     {PLAIN, "bf16", "gemm layer=swap_ab m=32 row_stages=2", 33, 300, 200, 0},
     {RESIDUAL, "f16", "gemm layer=swap_ab m=48 split_k=4 row_stages=2", 49, 200, 555, 0},
     {RESIDUAL, "bf16", "gemm layer=swap_ab n=64 k=64 threads=160 split_k=8", 20, 130, 513, 0},
     {RESIDUAL, "bf16", "gemm layer=swap_ab m=16 n=96 k=128 threads=288 stages=3 row_stages=2", 21, 200, 500, 0},
     {PLAIN, "f16", "gemm layer=swap_ab m=32 n=224 threads=544 k=128 stages=2 row_stages=2 split_k=2", 33, 450, 900, 0},
     {RESIDUAL, "f16", "gemm layer=swap_ab m=48 n=160 k=64 threads=416 stages=3 row_stages=3", 33, 290, 96, 0},
     {PLAIN, "bf16", "gemm layer=swap_ab m=32 n=256 k=64 threads=544 stages=3", 18, 390, 96, 0},
     {PLAIN, "bf16", "gemm layer=swap_ab m=16 n=64 k=256 threads=160 split_k=2", 1, 16, 70001, 0}, /* partial sums in two levels */
     /* many rows: a warpgroup that loads; products in flight from k tile to k tile, in halves of the rows */
     {PLAIN, "bf16", "gemm layer=swap_ab m=136 n=64 k=64 threads=256 stages=3 row_stages=3", 270, 70, 328, 0},
     {RESIDUAL, "f16", "gemm layer=swap_ab m=168 n=256 k=64 threads=640 stages=4 row_stages=4", 167, 300, 72, 0},
     {RESIDUAL, "bf16", "gemm layer=swap_ab m=152 n=128 k=64 threads=384 stages=3 row_stages=2 split_k=2", 153, 131, 520, 0},
     /* tails (a last round whose tiles are split along K): after full rounds, as the only round, with rows that do not exist, with columns
      * stored two at a time */
     {PLAIN, "bf16", "gemm layer=swap_ab m=32 n=64 k=64 threads=160 stages=4 row_stages=3 tail=2", 90, 328, 328, 8},
     {RESIDUAL, "f16", "gemm layer=swap_ab m=136 n=128 k=64 threads=384 stages=4 row_stages=4 tail=3", 150, 70, 520, 7},
     {PLAIN, "bf16", "gemm layer=swap_ab m=16 n=64 k=64 threads=160 stages=3 row_stages=3 tail=3", 37, 131, 456, 8},
     /* rows shared by a cluster: an odd number of column tiles, parts of one length in the same cluster, a tail */
     {RESIDUAL, "bf16", "gemm layer=swap_ab m=48 n=64 k=64 threads=160 stages=4 row_stages=3 cluster=2", 60, 170, 328, 0},
     {PLAIN, "f16", "gemm layer=swap_ab m=144 n=64 k=64 threads=256 stages=3 row_stages=3 cluster=2 split_k=2", 150, 100, 520, 0},
     {RESIDUAL, "bf16", "gemm layer=swap_ab m=32 n=64 k=64 threads=160 stages=3 row_stages=3 cluster=2 tail=2", 70, 328, 328, 8},
     /* columns shared by a cluster: an odd number of row tiles, rows and columns, shares along K and of columns, a tail, parts; rows in
      * more boxes than workgroups */
     {PLAIN, "f16", "gemm layer=swap_ab m=40 n=96 k=64 threads=288 stages=4 row_stages=3 cluster_m=4", 260, 100, 200, 0},
     {RESIDUAL, "bf16", "gemm layer=swap_ab m=104 n=64 k=64 threads=160 stages=4 row_stages=3 cluster=4 cluster_m=2", 60, 170, 328, 0},
     {RESIDUAL, "f16", "gemm layer=swap_ab m=136 n=64 k=64 threads=256 stages=3 row_stages=3 cluster=2 cluster_m=2 split_k=2", 150, 170,
      328, 0},
     {PLAIN, "bf16", "gemm layer=swap_ab m=32 n=64 k=64 threads=160 stages=3 row_stages=3 cluster_m=2 tail=2", 70, 328, 328, 8},
     /* a workgroup loads all rows of a k tile for its cluster, in turn: an odd number of column tiles and of k tiles, two boxes for each,
      * rows and columns shared, parts, a tail */
     {PLAIN, "bf16", "gemm layer=swap_ab m=40 n=64 k=64 threads=160 stages=4 row_stages=3 cluster=2 in_turn=1", 60, 170, 331, 0},
     {RESIDUAL, "f16", "gemm layer=swap_ab m=40 n=64 k=128 threads=160 stages=3 row_stages=2 cluster=4 in_turn=1", 50, 300, 700, 0},
     {RESIDUAL, "bf16", "gemm layer=swap_ab m=136 n=64 k=64 threads=256 stages=3 row_stages=3 cluster=2 cluster_m=2 split_k=2 in_turn=1",
      150, 170, 328, 0},
     {PLAIN, "bf16", "gemm layer=swap_ab m=32 n=64 k=64 threads=160 stages=3 row_stages=3 cluster=2 tail=2 in_turn=1", 70, 328, 328, 8},
     /* boxes of rows that overlap; results that are stored through shared memory: rounded before, in rows of a slice, of a warpgroup, of a
      * tail */
     {PLAIN, "bf16", "gemm layer=swap_ab m=40 n=96 k=64 threads=288 stages=4 row_stages=3 cluster=2 smem_epilogue=1", 60, 131, 328, 0},
     {PLAIN, "f16", "gemm layer=swap_ab m=152 n=64 k=64 threads=256 stages=3 row_stages=3 cluster=4 smem_epilogue=1", 150, 200, 72, 0},
     {RESIDUAL, "bf16", "gemm layer=swap_ab m=40 n=128 k=64 threads=288 stages=4 row_stages=4 smem_epilogue=1", 70, 203, 72, 0},
     {PLAIN, "bf16", "gemm layer=swap_ab m=152 n=256 k=64 threads=640 stages=4 row_stages=4 split_k=2 smem_epilogue=1", 151, 263, 200, 0},
     {RESIDUAL, "f16", "gemm layer=swap_ab m=32 n=64 k=64 threads=160 stages=4 row_stages=3 tail=2 smem_epilogue=1", 90, 328, 328, 8},
     /* persistent workgroups: K shorter than the stages, rows of several chunks and beyond the last, two products of halves, rows and
      * columns shared by a cluster, in shares and in turn, results at odd elements, two workgroups per multiprocessor */
     {PLAIN, "bf16", "gemm layer=swap_ab m=40 n=64 k=64 threads=160 stages=3 row_stages=3 smem_epilogue=1 persistent=1", 150, 200, 72, 2},
     {PLAIN, "f16", "gemm layer=swap_ab m=168 n=256 k=64 threads=640 stages=3 row_stages=3 smem_epilogue=1 persistent=1", 400, 300, 200, 2},
     {PLAIN, "bf16", "gemm layer=swap_ab m=72 n=128 k=64 threads=288 stages=3 row_stages=3 cluster=2 smem_epilogue=1 persistent=1", 200,
      331, 328, 4},
     {PLAIN, "f16", "gemm layer=swap_ab m=40 n=64 k=128 threads=160 stages=2 row_stages=2 cluster_m=2 smem_epilogue=1 persistent=1", 190,
      130, 520, 2},
     {PLAIN, "bf16", "gemm layer=swap_ab m=48 n=64 k=64 threads=160 stages=4 row_stages=4 cluster=2 in_turn=1 smem_epilogue=1 persistent=1",
      130, 263, 331, 2}};

START_TEST(every_number_of_rows_alignment_tail_and_tile_is_within_its_bound)
{
    const trial *t = &trials[_i];
    const dim_override dims[] = {{"M", t->M}, {"N", t->N}, {"K", t->K}};
    const tuning tuning = {.lines = &t->line, .count = t->line != NULL};
    rig *r = rig_open(&(rig_request){.path = t->path,
                                     .level = fusion_tile,
                                     .target = "sm_90a",
                                     .dtype = t->dtype,
                                     .dims = dims,
                                     .dim_count = 3,
                                     .tuning = &tuning,
                                     .multiprocessors = t->units,
                                     .check = true});
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), "layer=swap_ab"));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* Memory beyond a row's end, and rows that do not exist, are NaN and must not reach a result. */
START_TEST(rows_and_columns_that_do_not_exist_reach_no_result)
{
    rig *r = rig_open(&(rig_request){.yaml = PRODUCT("bf16", "40", "40", "61"), .level = fusion_tile, .target = "sm_90a"});
    rig_set_dim(r, "M", 19);
    rig_run(r);
    rig_judge(r);
    ck_assert(rig_tail_untouched(r, "y"));
    rig_close(r);
}
END_TEST

/* A spec at level tile whose products have the tile of `line`; the host engine checks races and bounds. */
static rig *rig_of_tile(const char *yaml, const char *const *line)
{
    const tuning t = {.lines = line, .count = 1};
    return rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a", .tuning = &t, .check = true});
}

static void run_and_judge(rig *r)
{
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}

/* Operands are rows within longer rows: both halves of an input are multiplied, each from its own first column. */
START_TEST(halves_of_rows_are_read_from_their_own_first_column)
{
    static const char *const lines[] = {"gemm layer=swap_ab", "gemm layer=wgmma"};
    rig *r = rig_of_tile("block: t\ndtype: bf16\ndims: {M: 19, K: 72, N: 40}\ninputs: {x: [M, 2*K]}\nparams: {v: [N, K], w: [N, K]}\n"
                         "ops:\n  - {out: [a, b], op: split, in: [x], sizes: [K, K]}\n  - {out: y, op: linear, in: [a, v]}\n"
                         "  - {out: z, op: linear, in: [b, w]}\noutputs: {y: y, z: z}\n",
                         &lines[_i]);
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), _i ? "layer=wgmma" : "layer=swap_ab"));
    run_and_judge(r);
}
END_TEST

/* Clusters and sizes of tiles must not change any bit; a row's result must not depend on the other rows. */
START_TEST(clusters_and_tiles_change_no_bit)
{
    static const char *const lines[] = {"gemm layer=swap_ab m=32 split_k=2", "gemm layer=swap_ab m=32 split_k=2 row_stages=2",
                                        "gemm layer=swap_ab m=64 split_k=2 stages=2 row_stages=2",
                                        "gemm layer=swap_ab m=16 n=64 threads=160 split_k=2"};
    static const dim_override dims[] = {{"M", 37}, {"N", 136}, {"K", 300}};
    double *first = NULL;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const tuning t = {.lines = &lines[i], .count = 1};
        rig *r = rig_open(&(rig_request){
            .path = PLAIN, .level = fusion_tile, .target = "sm_90a", .dtype = "bf16", .dims = dims, .dim_count = 3, .tuning = &t});
        rig_run(r);
        const size_t count = rig_count(r, "y");
        const double *now = rig_read(r, "y");
        if (!first) first = copy_numbers(now, count);
        ck_assert_msg(same_numbers(first, now, count), "%s", lines[i]);
        rig_close(r);
    }
    free(first);
}
END_TEST

/* Sums of squares of the rows, computed from the stages. Rows have very different sizes, so that no two sums are alike; partial k tiles,
 * more and fewer rows than a tile has, rows that do not exist, parts, reused stages, partial sums in two levels, rows that are copied to
 * aligned ones first. */
#define NORMED(M, K, N)                                                                                                                \
    "block: t\ndtype: bf16\ndims: {M: " M ", K: " K ", N: " N "}\ninputs: {x: [M, K], r: [M, K]}\nparams: {n: [K], w: [N, K]}\nops:\n" \
    "  - {out: h, op: add, in: [x, r]}\n  - {out: g, op: rmsnorm, in: [h, n]}\n  - {out: y, op: linear, in: [g, w]}\noutputs: {y: y}\n"
static const struct {
    const char *yaml, *line;
} normed[] = {{NORMED("33", "72", "40"), "gemm layer=swap_ab"},
              {NORMED("64", "328", "72"), "gemm layer=swap_ab m=64 split_k=2 stages=3 row_stages=2"},
              {NORMED("100", "200", "70"), "gemm layer=swap_ab m=112 k=64 split_k=2 stages=3 row_stages=3"},
              {NORMED("21", "520", "200"), "gemm layer=swap_ab m=16 n=96 k=128 threads=288 stages=3 row_stages=2"},
              {NORMED("40", "264", "260"), "gemm layer=swap_ab m=48 n=256 k=64 threads=544 stages=3 row_stages=3 split_k=4"},
              {NORMED("17", "16520", "33"), "gemm layer=swap_ab m=32 k=64 stages=8 row_stages=8"},
              {NORMED("120", "200", "70"), "gemm layer=swap_ab m=136 n=64 k=64 threads=256 stages=4 row_stages=4 cluster=2"},
              {"block: t\ndtype: f16\ndims: {M: 19, K: 131, N: 40}\ninputs: {x: [M, K]}\nparams: {n: [K], w: [N, K]}\nops:\n"
               "  - {out: g, op: rmsnorm, in: [x, n]}\n  - {out: y, op: linear, in: [g, w]}\noutputs: {y: y}\n",
               "gemm layer=swap_ab"}};

START_TEST(sums_of_rows_equal_sums_of_their_elements)
{
    rig *r = rig_of_tile(normed[_i].yaml, &normed[_i].line);
    const char *text = ir_print(r->a, r->c.plan->ir);
    ck_assert_msg(strstr(text, "layer=swap_ab") && strstr(text, "body %y.ss"), "%s", text);
    ck_assert_int_eq(r->c.plan->launch_count, 2);
    const size_t count = rig_count(r, "x");
    const long long K = value_columns(rig_value(r, "x"));
    for (size_t i = 0; i < count; i++) rig_data(r, "x")[i] *= 1 << (i / (size_t)K % 7);
    rig_round(r);
    run_and_judge(r);
}
END_TEST

/* Sums of results' squares, for a norm behind the product: a warp has several rows, of which the last tile's do not all exist. With split-K
 * and with staged results. */
START_TEST(warps_sum_the_squares_of_those_rows_that_exist)
{
    static const char *const lines[] = {"gemm layer=swap_ab m=160 n=128 threads=384 split_k=2 stages=4 row_stages=3",
                                        "gemm layer=swap_ab m=160 n=128 threads=384 split_k=2 stages=4 row_stages=3 smem_epilogue=1"};
    rig *r = rig_of_tile("block: t\ndtype: bf16\ndims: {M: 129, K: 200, N: 128}\ninputs: {x: [M, K], r: [M, N]}\n"
                         "params: {n: [N], w: [N, K], v: [40, N]}\nops:\n  - {out: p, op: linear, in: [x, w]}\n"
                         "  - {out: h, op: add, in: [p, r]}\n  - {out: g, op: rmsnorm, in: [h, n]}\n  - {out: y, op: linear, in: [g, v]}\n"
                         "outputs: {h: h, y: y}\n",
                         &lines[_i]);
    const char *text = ir_print(r->a, r->c.plan->ir);
    ck_assert_msg(strstr(text, "epi  %g.ss"), "%s", text);
    run_and_judge(r);
}
END_TEST

/* Decode steps and a short prompt: rotated pairs, gates, caches, biases, residuals, sums of rows. */
START_TEST(blocks_are_right_and_free_of_races)
{
    static const char *const options[] = {"specs/llama-decode.yaml --dim=B=33,L=20,D=96,H=4,KV=2,F=104",
                                          "specs/llama-decode.yaml --dim=B=64,L=9,D=66,H=3,KV=1,F=70 --dtype=f16",
                                          "specs/gpt2-decode.yaml --dim=B=40,L=18,D=66,H=3,F=130 --dtype=f16",
                                          "specs/llama-block.yaml --dim=B=1,S=63,D=64,H=2,KV=1,F=70",
                                          "specs/llama-block.yaml --dim=B=1,S=150,D=64,H=2,KV=1,F=70"}; /* the planned tiles: several */
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command,
             "o=$(%s run %s --target=sm_90a --tile='gemm layer=swap_ab' --check --repeat=0) && echo \"$o\" | grep -q 'layers.* swap_ab'",
             program, options[_i]);
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

/* On a GPU, a launch fails if an arrival reaches the mbarrier of a workgroup of its cluster that has ended: on an H200 one did of the first
 * tile here. So loaders wait for the last arrivals; without this wait, which sed removes, the host engine reports them. K is one k tile. */
START_TEST(workgroups_of_a_cluster_end_after_the_last_arrival)
{
    static const struct {
        const char *tile, *wait;
    } cases[] = {{"layer=swap_ab m=80 n=64 k=64 threads=160 stages=2 row_stages=2 cluster_m=2", "ws_await_arrivals<P>(r, .*);"},
                 {"layer=wgmma m=64 n=64 k=64 stages=4 cluster=2 own_tiles=1", "for (.* i < F::stages; i++, r.step()) r.to_fill();"}};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[1024];
    snprintf(command, sizeof command,
             "d=$(mktemp -d) && o=\"tests/h200/product.yaml --dim=M=152,N=130,K=64 --dtype=bf16 --target=sm_90a\" t='gemm: %s'\n"
             "%s run $o \"--tile=$t\" -q --repeat=0 && %s emit $o \"--tile=$t\" -q -o $d && sed -i 's/%s/;/' $d/*.hip && "
             "%s run $o \"--tile=$t\" -q --repeat=0 --replace-source=$d 2>&1 | grep -q 'this one.s mbarrier after this one has ended'\n"
             "s=$?; rm -rf $d; exit $s",
             cases[_i].tile, program, program, cases[_i].wait, program);
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

/* No spills, no serialised products: `tfgen --code` refuses those (runtime/compile/nvrtc.c). */
START_TEST(nvrtc_compiles_decode_steps)
{
    static const char *const options[] = {"specs/llama-decode.yaml --preset=llama-8b --dim=B=64",
                                          "specs/llama-decode.yaml --preset=llama-1b --dim=B=33 --dtype=f16",
                                          "specs/gpt2-decode.yaml --dim=B=64,D=1625,H=25,F=6403 --dtype=f16",
                                          "tests/h200/product.yaml --dim=M=100,N=100,K=100000"};
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    char command[512];
    snprintf(command, sizeof command, "d=$(mktemp -d) && %s %s --target=sm_90a --code -q -o $d; s=$?; rm -rf $d; exit $s", program,
             options[_i]);
    const int status = system(command);
    if (status == code_unsupported << 8)
        printf("skipped: no NVRTC\n");
    else
        ck_assert_msg(status == 0, "%s: status %d", command, status >> 8);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("swap_ab");
    TCase *t = tcase_create("swap_ab");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_product_of_few_rows_in_16_bits_swaps_its_operands, 0, sizeof plans / sizeof *plans);
    tcase_add_test(t, an_impossible_tile_of_swap_ab_is_an_error_with_its_reason);
    tcase_add_loop_test(t, workgroups_share_a_multiprocessor_if_a_wgmma_fits_in_their_registers, 0, 2);
    TCase *more = suite_long(s, "more of swap_ab", 120);
    add_some_now(t, more, every_number_of_rows_alignment_tail_and_tile_is_within_its_bound, sizeof trials / sizeof *trials,
                 (const int[]){1, 4, 7, 8, 11, 12, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30, -1});
    tcase_add_test(t, rows_and_columns_that_do_not_exist_reach_no_result);
    tcase_add_loop_test(t, halves_of_rows_are_read_from_their_own_first_column, 0, 2);
    tcase_add_test(t, clusters_and_tiles_change_no_bit);
    tcase_add_loop_test(t, workgroups_of_a_cluster_end_after_the_last_arrival, 0, 2);
    add_some_now(t, more, sums_of_rows_equal_sums_of_their_elements, sizeof normed / sizeof *normed, (const int[]){1, 4, 6, 7, -1});
    tcase_add_loop_test(t, warps_sum_the_squares_of_those_rows_that_exist, 0, 2);
    add_some_now(t, more, blocks_are_right_and_free_of_races, 5, (const int[]){1, 2, 4, -1});
    add_some_now(t, more, nvrtc_compiles_decode_steps, 4, (const int[]){1, -1});
    suite_add_tcase(s, t);
    return run_suite(s);
}
