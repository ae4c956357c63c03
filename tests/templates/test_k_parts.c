/* Products whose K is split among workgroups (templates/gemm/k_parts.h, k_few.h): results within their bounds, launch after launch
 * in the same workspace, and the same bits each time. */
#include "tests/support.h"
#include <stdio.h>
#include <string.h>

/* Row sums after the product, f32 weights beside bf16 rows, sizes that no tile divides. */
#define NORM                                                                                                                    \
    "block: t\ndtype: bf16\ndims: {M: 37, N: 90, K: 700}\ninputs: {x: [M, K], r: [M, N]}\n"                                     \
    "params: {w: {shape: [N, K], dtype: f32}, g: [N]}\nops:\n  - {out: p, op: linear, in: [x, w]}\n"                            \
    "  - {out: h, op: add, in: [p, r]}\n  - {out: y, op: rmsnorm, in: [h, g], eps: 1e-5}\noutputs: {y: y, h: h}\n"
#define MATRICES                                                                                                                \
    "block: t\ndtype: f32\ndims: {B: 3, M: 5, N: 40, K: 515}\ninputs: {x: [B, M, K], w: [B, K, N]}\n"                           \
    "ops:\n  - {out: h, op: matmul, in: [x, w]}\noutputs: {h: h}\n"

#define LONG                                                                                                                    \
    "block: t\ndtype: bf16\ndims: {M: 5, N: 40, K: 1300}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"                           \
    "ops:\n  - {out: h, op: linear, in: [x, w]}\noutputs: {h: h}\n"

/* This op is lowered to the product of a row and the transposed matrix. */
#define VECTOR                                                                                                                  \
    "block: t\ndtype: bf16\ndims: {M: 1030, K: 1021}\ninputs: {x: [M, K], w: [K, 1]}\n"                                        \
    "ops:\n  - {out: h, op: matmul, in: [x, w]}\noutputs: {h: h}\n"

/* A row times a matrix stored in columns. */
#define ROW                                                                                                                     \
    "block: t\ndtype: f32\ndims: {N: 75, K: 1021}\ninputs: {x: [1, K], w: [K, N]}\n"                                           \
    "ops:\n  - {out: h, op: matmul, in: [x, w]}\noutputs: {h: h}\n"

/* Whole pieces along K, and columns of padding. */
#define PADDED                                                                                                                  \
    "block: t\ndtype: f32\ndims: {B: 2, M: 5, N: 37, K: 512}\ninputs: {x: [B, M, K], w: [B, N, K]}\n"                         \
    "ops:\n  - {out: h, op: matmul, in: [x, w], transpose: true}\noutputs: {h: h}\n"

typedef struct parts_case {
    const char *target, *yaml, *tile;
} parts_case;
static const parts_case cases[] = {
    {"host", MATRICES, "layer=simt m=4 k=64 thread_m=4 n=256 thread_n=32 threads=8 split_k=3"},
    {"sm_80", NORM, "layer=simt m=32 n=64 k=32 thread_m=2 thread_n=8 threads=128 split_k=22"}, /* a part is one k tile */
    {"sm_80", NORM, "layer=simt m=32 n=64 k=32 thread_m=4 thread_n=8 threads=256 split_k=5"}, /* four teams of 64 threads divide K */
    {"gfx1100", MATRICES, "layer=simt m=32 n=32 k=16 thread_m=2 thread_n=8 threads=128 split_k=3"},
    {"gfx942", MATRICES, "layer=simt m=32 n=32 k=32 thread_m=4 thread_n=8 threads=256 split_k=1"},
    {"sm_90a", NORM, "layer=skinny m=4 thread_m=4 threads=256 split_k=5"},
    {"sm_90a", LONG, "layer=wgmma m=128 own_tiles=0 n=64 split_k=20"}, /* templates/gemm/gemm_ws.h */
    {"sm_90a", VECTOR, "layer=skinny m=1 thread_m=1 thread_n=1 threads=256 split_k=3"},
    {"sm_90a", ROW, "layer=skinny m=1 thread_m=1 thread_n=4 n=32 threads=256 split_k=4"}, /* rows of w have 75 elements */
    {"sm_80", MATRICES, "layer=skinny m=2 thread_m=2 thread_n=8 n=64 threads=64 split_k=4"},
    {"gfx942", MATRICES, "layer=skinny m=8 thread_m=8 thread_n=4 n=64 threads=64 split_k=3"},
    {"gfx1100", ROW, "layer=skinny m=1 thread_m=1 thread_n=4 n=128 threads=128 split_k=9"},
    {"gfx942", PADDED, "layer=skinny m=2 thread_m=2 thread_n=8 threads=256 split_k=2"},
    {"gfx942", NORM, "layer=skinny m=8 thread_m=8 threads=256 split_k=2"},
    {"gfx1100", PADDED, "layer=simt m=32 n=64 k=32 thread_m=2 thread_n=8 threads=128 split_k=7"},
};

START_TEST(partial_sums_of_split_k_are_added_up)
{
    const parts_case *c = &cases[_i];
    char line[128];
    snprintf(line, sizeof line, "gemm %s", c->tile);
    const char *lines = line;
    const tuning t = {.lines = &lines, .count = 1};
    rig *r = rig_open(&(rig_request){.yaml = c->yaml, .level = fusion_tile, .target = c->target, .tuning = &t, .check = true});
    ck_assert_int_eq(r->c.plan->scratch_count > 0, !strstr(c->tile, "split_k=1"));
    rig_round(r);
    rig_run(r);
    rig_reference(r);
    const double ratio = rig_judge(r);
    ck_assert_msg(ratio <= 1, "%s: %s: %g of the bound", c->target, c->tile, ratio);
    const size_t bytes = rig_count(r, "h") * sizeof(double);
    const double *first = memcpy(arena_alloc(r->a, bytes), rig_read(r, "h"), bytes);
    rig_execute(r);
    ck_assert_mem_eq(first, rig_read(r, "h"), bytes);
    rig_nothing_stays_published(r);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("k_parts");
    TCase *t = tcase_create("k_parts");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, partial_sums_of_split_k_are_added_up, 0, sizeof cases / sizeof *cases);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
