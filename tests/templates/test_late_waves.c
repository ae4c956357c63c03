/* Programs on mbarriers, where of each warpgroup all waves but the first come late to each wait (isa/wgmma_host.h): a stage must not be
 * freed, and so filled again, before every wave has passed its wait for it. Several tiles per workgroup, and more k tiles than stages. */
#include "tests/support.h"
#include <stdio.h>
#include <string.h>

#define LINEAR(dims) \
    "dims: {" dims "}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\nops:\n  - {out: l, op: linear, in: [x, w]}\noutputs: {y: l}\n"
#define NORMED(dims)                                                                                                    \
    "dims: {" dims "}\ninputs: {x: [M, K]}\nparams: {g: [K], w: [N, K]}\nops:\n  - {out: h, op: rmsnorm, in: [x, g]}\n" \
    "  - {out: l, op: linear, in: [h, w]}\noutputs: {y: l}\n"
#define MATMUL(dims, x, z, more) \
    "dims: {" dims "}\ninputs: {x: [" x "], z: [" z "]}\nops:\n  - {out: l, op: matmul, in: [x, z]" more "}\noutputs: {y: l}\n"

static const struct {
    const char *dtype, *tile, *layer, *body; /* layer: as the plan prints it */
    int multiprocessors;
} cases[] = {
    {"bf16", "layer=wgmma m=128 n=64 stages=2 own_tiles=0 split_k=1", "tile layer=wgmma ", LINEAR("M: 300, N: 136, K: 264"), 2},
    {"bf16", "layer=wgmma m=64 n=64 stages=3 own_tiles=1", "tile layer=wgmma ", LINEAR("M: 330, N: 136, K: 264"), 1},
    {"f16", "layer=wgmma m=128 n=64 stages=3 own_tiles=1 cluster=2", "tile layer=wgmma ", LINEAR("M: 600, N: 136, K: 264"), 2},
    {"bf16", "layer=wgmma m=128 own_tiles=0 n=64 stages=3 split_k=3 cluster=2", "tile layer=wgmma ", LINEAR("M: 300, N: 72, K: 520"), 2},
    {"f32", "layer=wgmma_3xtf32 n=64 stages=2", "tile layer=wgmma_3xtf32 ", LINEAR("M: 260, N: 136, K: 200"), 2},
    {"f32", "layer=wgmma_3xtf32 n=96 stages=3 split_k=2", "tile layer=wgmma_3xtf32 ", LINEAR("M: 130, N: 200, K: 200"), 2},
    {"bf16", "layer=swap_ab m=16 n=64 k=64 threads=160 stages=2 row_stages=2", "tile layer=swap_ab ", NORMED("M: 37, N: 136, K: 264"), 3},
    {"f16", "layer=swap_ab m=16 n=128 k=128 threads=288 stages=3 row_stages=2 tail=2", "tile layer=swap_ab ",
     LINEAR("M: 104, N: 264, K: 648"), 7},
    {"bf16", "layer=swap_ab m=48 n=64 k=64 threads=160 stages=2 row_stages=2 cluster=2 cluster_m=2 split_k=2", "tile layer=swap_ab ",
     MATMUL("B: 2, M: 70, K: 200, N: 136", "B, M, K", "B, N, K", ", transpose: true"), 8},
    {"bf16", "layer=swap_ab m=80 n=128 k=64 threads=288 stages=3 row_stages=3 persistent=1 smem_epilogue=1", "tile layer=swap_ab ",
     LINEAR("M: 400, N: 264, K: 328"), 3}};

START_TEST(late_waves_do_not_miss_a_phase)
{
    char yaml[512], line[160];
    snprintf(yaml, sizeof yaml, "block: t\ndtype: %s\n%s", cases[_i].dtype, cases[_i].body);
    snprintf(line, sizeof line, "l: %s", cases[_i].tile);
    const char *const lines[] = {line};
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a", .multiprocessors = cases[_i].multiprocessors,
                                     .tuning = &(tuning){.lines = lines, .count = 1}, .late_waves = true});
    ck_assert_msg(strstr(ir_print(r->a, r->c.plan->ir), cases[_i].layer), "%s", cases[_i].tile);
    rig_judge_twice(r);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("late_waves");
    TCase *t = tcase_create("late waves");
    tcase_set_timeout(t, 240);
    tcase_add_loop_test(t, late_waves_do_not_miss_a_phase, 0, sizeof cases / sizeof *cases);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
