/* Matmuls on matrix units: either layout of B, single or batched, rows that TMA cannot load, operands that are columns of wider values,
 * split-K, clusters and row sums, against the float64 reference. */
#include "tests/support.h"
#include <stdio.h>
#include <string.h>

#define MATMUL(dims, x, z, more) \
    "dims: {" dims "}\ninputs: {x: [" x "], z: [" z "]}\nops:\n  - {out: y, op: matmul, in: [x, z]" more "}\noutputs: {y: y}\n"

typedef struct matmul_case {
    const char *target, *dtype, *tile, *body;
    int copies;          /* copies of operands whose rows are no multiple of 16 bytes */
    const char *b_form; /* b_form in its spec struct */
} matmul_case;
static const matmul_case cases[] = {
    {"sm_90a", "bf16", "layer=wgmma", MATMUL("M: 77, K: 137, N: 75", "M, K", "K, N", ""), 2, "in_columns"},
    {"sm_90a", "f16", "layer=wgmma n=96 stages=4", MATMUL("M: 77, K: 137, N: 75", "M, K", "N, K", ", transpose: true"), 2, "in_rows"},
    {"sm_90a", "f16", "layer=wgmma n=96 stages=4", MATMUL("B: 2, H: 2, M: 130, K: 72, N: 104", "B, H, M, K", "B, H, K, N", ""), 0,
     "in_columns"},
    {"sm_90a", "bf16", "layer=wgmma m=128 own_tiles=0 n=64 stages=3 split_k=2 cluster=2 smem_epilogue=0",
     MATMUL("B: 2, M: 130, K: 136, N: 72", "B, M, K", "B, K, N", ""), 0, "in_columns"},
    {"sm_90a", "bf16", "layer=wgmma m=128 own_tiles=0 n=64 stages=3 split_k=2 cluster=2",
     MATMUL("B: 2, M: 130, K: 136, N: 72", "B, M, K", "B, N, K", ", transpose: true"), 0, "in_rows"},
    {"sm_90a", "f32", "layer=wgmma_3xtf32 n=64", MATMUL("M: 77, K: 137, N: 75", "M, K", "K, N", ""), 1, "in_rows"},
    {"sm_90a", "f32", "layer=wgmma_3xtf32 n=96 stages=5 split_k=2",
     MATMUL("B: 2, M: 130, K: 148, N: 104", "B, M, K", "B, N, K", ", transpose: true"), 0, "in_rows"},
    /* swap_ab: two clusters of four workgroups that multicast rows and columns and reduce split K together; a tail; a row tile in two
     * halves */
    {"sm_90a", "bf16", "layer=swap_ab m=48 n=64 k=64 threads=160 stages=2 row_stages=2 cluster=2 cluster_m=2 split_k=2",
     MATMUL("B: 2, M: 70, K: 200, N: 136", "B, M, K", "B, N, K", ", transpose: true"), 0, "in_rows"},
    {"sm_90a", "f16", "layer=swap_ab m=16 n=128 k=128 threads=288 stages=3 row_stages=2 tail=2",
     MATMUL("B: 3, M: 104, K: 328, N: 136", "B, M, K", "B, K, N", ""), 0, "in_columns"},
    {"sm_90a", "bf16", "layer=swap_ab m=176 n=256 k=64 threads=640 stages=4 row_stages=3",
     MATMUL("M: 170, K: 137, N: 75", "M, K", "K, N", ""), 2, "in_columns"},
    /* A as [K, M]: wgmma and simt read it so, others get a copy as [M, K] */
    {"sm_90a", "bf16", "layer=wgmma n=64 stages=3 cluster=2",
     MATMUL("B: 2, M: 136, K: 137, N: 75", "B, K, M", "B, K, N", ", transpose_a: true"), 1, "a_form = in_columns"},
    {"sm_90a", "f16", "layer=swap_ab m=176 n=256 k=64 threads=640 stages=4 row_stages=3",
     MATMUL("M: 168, K: 137, N: 72", "K, M", "N, K", ", transpose_a: true, transpose: true"), 1, "a_form = in_columns"},
    {"sm_90a", "bf16", "layer=swap_ab m=40 n=64 k=128 threads=160 stages=2 row_stages=2 cluster=2 cluster_m=2",
     MATMUL("B: 2, M: 77, K: 136, N: 136", "B, K, M", "B, K, N", ", transpose_a: true"), 1, "a_form = in_columns"},
    {"sm_90a", "f32", "layer=wgmma_3xtf32 n=64", MATMUL("B: 2, M: 77, K: 70, N: 75", "B, K, M", "B, K, N", ", transpose_a: true"), 1,
     "a_form = in_columns"},
    /* A is the smaller operand and stored as terms: B is split in registers, from columns and from rows */
    {"sm_90a", "f32", "layer=wgmma_3xtf32 n=64 split_k=2", MATMUL("M: 70, K: 137, N: 140", "K, M", "K, N", ", transpose_a: true"), 0,
     "swap_ab = true"},
    {"sm_90a", "f32", "layer=wgmma_3xtf32 n=96 stages=5",
     "dims: {B: 2, M: 21, K: 136, N: 130}\ndynamic: {B: [1, 4]}\ninputs: {x: [M, K], z: [B, N, K], r: [B, M, N]}\nparams: {c: [N]}\nops:\n"
     "  - {out: p, op: matmul, in: [x, z], transpose: true}\n  - {out: q, op: mul, in: [p, c]}\n  - {out: y, op: add, in: [q, r]}\n"
     "outputs: {y: y}\n", 0, "swap_ab = true"},
    /* the number of A's rows is not known: B is stored as terms, though it is larger */
    {"sm_90a", "f32", "layer=wgmma_3xtf32 n=64",
     "dims: {M: 21, K: 72, N: 96}\ndynamic: {M: [1, 64]}\ninputs: {x: [M, K], z: [K, N]}\nops:\n  - {out: y, op: matmul, in: [x, z]}\n"
     "outputs: {y: y}\n", 0, "in_rows"},
    /* sums along rows of the result, which are rows of the tile */
    {"sm_90a", "f32", "layer=wgmma_3xtf32 n=64",
     "dims: {M: 20, K: 72, N: 96}\ninputs: {x: [M, K], z: [K, N]}\nparams: {g: [N], w: [64, N]}\nops:\n"
     "  - {out: p, op: matmul, in: [x, z]}\n  - {out: h, op: rmsnorm, in: [p, g]}\n  - {out: y, op: linear, in: [h, w]}\n"
     "outputs: {y: y, p: p}\n", 0, "row_sums = true, reads = false;"},
    {"sm_80", "bf16", "layer=mma", MATMUL("B: 2, M: 77, K: 70, N: 72", "B, K, M", "B, K, N", ", transpose_a: true"), 1, "across = true"},
    /* operands as stored: rows at multiples of 8 and of 4 bytes, A as [K, M]; rows at multiples of 2 bytes are copied */
    {"sm_90a", "bf16", "layer=mma_direct m=64 n=128 k=64 threads=128 stages=3",
     MATMUL("B: 2, M: 100, K: 70, N: 78", "B, K, M", "B, K, N", ", transpose_a: true"), 0, "a_unit = 8, b_unit = 4;"},
    {"sm_80", "f16", "layer=mma_direct m=128 n=64 k=32 threads=256 stages=4",
     MATMUL("M: 131, K: 138, N: 75", "M, K", "N, K", ", transpose: true"), 0, "a_unit = 4, b_unit = 4;"},
    {"sm_80", "bf16", "layer=mma_direct m=64 n=64 k=64 threads=128",
     MATMUL("B: 2, M: 77, K: 68, N: 67", "B, M, K", "B, N, K", ", transpose: true"), 0, "a_unit = 8, b_unit = 8;"},
    /* results whose rows begin at odd elements pass through shared memory, others do not: two row tiles and two column tiles; a linear */
    {"sm_90a", "bf16", "layer=mma_direct m=64 n=64 k=32 threads=128 stages=4",
     MATMUL("B: 3, M: 100, K: 36, N: 107", "B, K, M", "B, N, K", ", transpose_a: true, transpose: true"), 0,
     "epilogue_smem = true;\n    static constexpr int results = 2, results_unit = 1;"},
    {"sm_80", "f16", "layer=mma_direct m=128 n=64 k=32 threads=128 stages=4", MATMUL("M: 130, K: 68, N: 90", "M, K", "K, N", ""), 0,
     "epilogue_smem = false;"},
    {"sm_90a", "bf16", "layer=mma_direct m=128 n=128 k=64 threads=256 stages=3",
     "dims: {M: 77, K: 70, N: 171}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\nops:\n"
     "  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n", 0, "results_unit = 1;"},
    {"sm_80", "f16", "layer=mma_direct m=128 n=256 k=32 threads=256 stages=3",
     MATMUL("M: 136, K: 34, N: 77", "K, M", "K, N", ", transpose_a: true"), 1, "a_unit = 16, b_unit = 16;"},
    {"sm_90a", "bf16", "layer=mma_direct m=256 n=64 k=32 threads=256",
     MATMUL("B: 2, M: 75, K: 68, N: 70", "B, K, M", "B, N, K", ", transpose_a: true, transpose: true"), 1, "a_unit = 16, b_unit = 8;"},
    {"sm_90a", "bf16", "layer=mma_direct", MATMUL("B: 3, H: 2, M: 20, K: 70, N: 40", "B, 1, M, K", "H, K, N", ""), 0, "a_unit = 4"},
    {"sm_80", "f16", "layer=mma_direct", MATMUL("B: 3, H: 2, M: 22, K: 74, N: 84", "K, M", "B, H, K, N", ", transpose_a: true"), 0,
     "a_unit = 4, b_unit = 8;"},
    {"sm_90a", "f16", "layer=mma_direct",
     "dims: {K: 71, M: 42}\ninputs: {x: [K, M]}\nops:\n  - {out: y, op: matmul, in: [x, x], transpose_a: true}\noutputs: {y: y}\n", 0,
     "a_unit = 4, b_unit = 4;"},
    {"sm_90a", "bf16", "layer=mma_direct",
     "dims: {M: 77, K: 70, N: 75}\ninputs: {x: [M, K], r: [M, N]}\nparams: {w: [N, K]}\nops:\n"
     "  - {out: p, op: linear, in: [x, w]}\n  - {out: y, op: add, in: [p, r]}\noutputs: {y: y}\n", 0, "a_unit = 4, b_unit = 16;"},
    {"gfx942", "f16", "layer=mfma", MATMUL("M: 40, K: 24, N: 7", "K, M", "K, N", ", transpose_a: true"), 1, "across = true"},
    /* simt reads A as [K, M] too: rows in whole pieces and not, tiles of fewer rows than a piece, slices of K */
    {"gfx1100", "f32", "layer=simt", MATMUL("M: 7, K: 9, N: 5", "K, M", "K, N", ", transpose_a: true"), 0, "a_across = true"},
    {"sm_90a", "f32", "layer=simt m=4 n=32 k=16 thread_m=2 thread_n=8 threads=8 split_k=2",
     MATMUL("B: 2, M: 9, K: 37, N: 45", "B, K, M", "B, N, K", ", transpose_a: true, transpose: true"), 0, "a_across = true"},
    {"sm_80", "f32", "layer=simt", MATMUL("B: 3, H: 2, M: 72, K: 70, N: 75", "K, M", "B, H, K, N", ", transpose_a: true"), 0,
     "a_across = true"},
    /* one matrix B for all batches: their rows are joined to one product */
    {"sm_90a", "bf16", "layer=swap_ab m=40 n=64 k=64 threads=160 stages=2 row_stages=2",
     "dims: {B: 3, S: 2, M: 17, K: 72, N: 24}\ndynamic: {B: [1, 8]}\ninputs: {x: [B, S, M, K], z: [N, K], r: [B, S, M, N]}\nops:\n"
     "  - {out: p, op: matmul, in: [x, z], transpose: true}\n  - {out: y, op: add, in: [p, r]}\noutputs: {y: y}\n", 0, "batched = false"},
    {"gfx942", "f32", "layer=simt", MATMUL("B: 3, M: 5, K: 9, N: 7", "B, M, K", "K, N", ""), 0, "b_plain = false"},
    /* batch axes that one operand, or each in turn, does not have */
    {"sm_90a", "bf16", "layer=wgmma n=64 stages=3 cluster=2",
     MATMUL("B: 3, H: 2, M: 20, K: 72, N: 40", "B, 1, M, K", "H, N, K", ", transpose: true"), 0, "in_rows"},
    {"sm_90a", "f16", "layer=swap_ab m=32 n=64 k=64 threads=160 stages=2 row_stages=2 cluster=2",
     MATMUL("B: 3, H: 2, M: 24, K: 72, N: 80", "K, M", "B, H, K, N", ", transpose_a: true"), 0, "a_form = in_columns"},
    {"sm_90a", "f32", "layer=wgmma_3xtf32 n=64", MATMUL("B: 3, H: 2, M: 20, K: 72, N: 40", "B, 1, M, K", "1, H, K, N", ""), 0, "in_rows"},
    {"sm_80", "bf16", "layer=mma", MATMUL("B: 3, H: 2, M: 36, K: 72, N: 40", "B, 1, M, K", "H, K, N", ""), 0, "in_columns"},
    {"gfx942", "f32", "layer=mfma", MATMUL("B: 3, M: 20, K: 72, N: 40", "M, K", "B, K, N", ""), 0, "b_plain = false"},
    /* one value as both operands */
    {"sm_80", "f16", "layer=mma",
     "dims: {K: 70, M: 40}\ninputs: {x: [K, M]}\nops:\n"
     "  - {out: y, op: matmul, in: [x, x], transpose_a: true}\noutputs: {y: y}\n",
     1, "across = true"},
    {"sm_80", "bf16", "layer=mma", MATMUL("M: 77, K: 137, N: 75", "M, K", "K, N", ""), 2, "in_columns"},
    {"sm_80", "f16", "layer=mma", MATMUL("B: 2, H: 2, M: 70, K: 72, N: 104", "B, H, M, K", "B, H, N, K", ", transpose: true"), 0,
     "in_rows"},
    {"sm_80", "bf16", "layer=mma m=64 n=64 k=32 threads=128",
     "dims: {B: 3, M: 20, K: 64, N: 80}\ninputs: {x: [B, M, K], z: [B, K, N]}\nparams: {g: [N]}\nops:\n"
     "  - {out: p, op: matmul, in: [x, z]}\n  - {out: y, op: rmsnorm, in: [p, g]}\noutputs: {y: y}\n",
     0, "in_columns"},
    {"gfx942", "f16", "layer=mfma", MATMUL("M: 48, K: 8, N: 7", "M, K", "K, N", ""), 0, "b_plain = false"}, /* a k tile is longer than K */
    /* the sum of squares of a row is read by another matrix of the batch */
    {"sm_90a", "bf16", "layer=wgmma n=64",
     "dims: {B: 3, M: 20, K: 64, N: 80}\ninputs: {x: [B, M, K], z: [B, K, N]}\nparams: {g: [N]}\nops:\n"
     "  - {out: p, op: matmul, in: [x, z]}\n  - {out: y, op: rmsnorm, in: [p, g]}\noutputs: {y: y}\n",
     0, "in_columns"},
    /* columns of wider rows */
    {"sm_90a", "bf16", "layer=wgmma n=64",
     "dims: {B: 2, M: 40, D: 72}\ninputs: {x: [B, M, 3*D]}\nops:\n  - {out: [q, k, v], op: split, in: [x], sizes: [D, D, D]}\n"
     "  - {out: s, op: matmul, in: [q, k], transpose: true}\n  - {out: y, op: matmul, in: [s, v]}\noutputs: {y: y}\n",
     0, "in_columns"},
};

START_TEST(matmuls_on_matrix_units_are_within_their_bounds)
{
    const matmul_case *c = &cases[_i];
    char yaml[512], line[128];
    snprintf(yaml, sizeof yaml, "block: t\ndtype: %s\n%s", c->dtype, c->body);
    snprintf(line, sizeof line, "gemm %s", c->tile);
    const char *lines = line;
    const tuning tuning = {.lines = &lines, .count = 1};
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = c->target, .tuning = &tuning});
    const plan *p = r->c.plan;
    int copies = 0, forms = 0;
    for (int i = 0; i < p->ir->op_count; i++) copies += p->ir->ops[i]->kind == op_align;
    for (int i = 0; i < p->launch_count; i++) forms += strstr(p->launches[i].source.body, c->b_form) != NULL;
    ck_assert_int_eq(copies, c->copies);
    ck_assert_int_gt(forms, 0);
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* Rows at odd multiples of 16 bytes take longer to load, so workgroups share B; columns of B are loaded in whole boxes of 64. */
START_TEST(tiles_follow_from_operand_layouts)
{
    static const struct {
        const char *body, *tile;
    } plans[] = {{MATMUL("M: 4176, K: 3064, N: 3080", "M, K", "N, K", ", transpose: true"), "cluster=2"},
                 {MATMUL("M: 4176, K: 3072, N: 3080", "M, K", "N, K", ", transpose: true"), "cluster=1"},
                 {MATMUL("M: 8192, K: 8192, N: 8192", "M, K", "K, N", ""), "n=256"},
                 /* few rows in the last tile of 128; a short K, so that storing results overlaps with nothing; no tail, though 276 matrices
                  * leave a partial round */
                 {MATMUL("M: 286, K: 10880, N: 15424", "M, K", "K, N", ""), "layer=swap_ab"},
                 {MATMUL("M: 896, K: 256, N: 3376", "M, K", "K, N", ""), "layer=wgmma"},
                 {MATMUL("B: 276, M: 256, K: 5376, N: 304", "B, M, K", "B, K, N", ""), "tail=1"},
                 /* a long K and few results, cut into eight; A as [K, M] is loaded in panels of 64 rows, so 88 rows would load 128 */
                 {MATMUL("M: 576, K: 7360, N: 256", "K, M", "K, N", ", transpose_a: true"), "layer=swap_ab m=192 n=64 k=64 threads=256 "
                  "stages=7 row_stages=7 cluster=1 cluster_m=1 split_k=8"},
                 /* long sums: clusters of two load B once, and 66 slices reduce each of two tiles together */
                 {MATMUL("M: 256, K: 524288, N: 256", "M, K", "K, N", ""),
                  "n=256 k=64 threads=384 stages=4 group_m=16 cluster=2 split_k=66"},
                 /* one column, read as a row times rows: many loads in flight, of 128 bytes of each row */
                 {MATMUL("M: 4096, K: 8192, N: 1", "M, K", "K, N", ""), "thread_n=8 threads=512"}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        char yaml[512];
        snprintf(yaml, sizeof yaml, "block: t\ndtype: bf16\n%s", plans[i].body);
        rig *r = rig_plan(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a"});
        const char *text = ir_print(r->a, r->c.plan->ir);
        ck_assert_msg(strstr(text, plans[i].tile) != NULL, "%zu: no %s in %s", i, plans[i].tile, text);
        rig_close(r);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("matmul");
    TCase *t = tcase_create("matrix units");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, matmuls_on_matrix_units_are_within_their_bounds, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(t, tiles_follow_from_operand_layouts);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
