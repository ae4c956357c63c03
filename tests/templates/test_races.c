/* Programs under the checker of races, bounds and barriers: rows with teams wider than a wave, products on registers and on matrix units,
 * few rows, attention, decode, packing. One workgroup runs all tiles, so that shared memory is reused from tile to tile. More such tests:
 * test_layers.c, test_mma.c. */
#include "tests/support.h"
#include <stdlib.h>
#include <string.h>

typedef struct race_case {
    const char *target, *yaml, *path, *line; /* line: a tile setting, or NULL */
    dim_override dims[6];
    size_t dim_count;
} race_case;

#define NORM "block: t\ndtype: bf16\ndims: {M: 3, D: 5000}\ninputs: {x: [M, D]}\nparams: {w: [D], b: [D]}\nops:\n" \
             "  - {out: y, op: layernorm, in: [x, w, b], eps: 1.0e-5}\noutputs: {y: y}\n"
#define ROWS(op)                                                                                                                           \
    "block: t\ndtype: f32\ndims: {M: 2, D: 3001}\ninputs: {x: [M, D]}\nops:\n  - {out: y, op: " op ", in: [x]}\noutputs: {y: y}\n"
#define PRODUCT(M)                                                                                                                         \
    "block: t\ndtype: f32\ndims: {M: " M ", K: 150, N: 270, P: 9}\ninputs: {x: [M, K], r: [M, N]}\n" /* stores partial row sums too */   \
    "params: {w: [N, K], n: [N], v: [P, N]}\nops:\n  - {out: h, op: linear, in: [x, w]}\n  - {out: s, op: add, in: [h, r]}\n"              \
    "  - {out: g, op: rmsnorm, in: [s, n]}\n  - {out: y, op: linear, in: [g, v]}\noutputs: {s: s, y: y}\n"
#define ATTENTION "block: t\ndtype: f32\ndims: {B: 2, S: 37}\ninputs: {q: [B, S, 48], k: [B, S, 24], v: [B, S, 24]}\nops:\n" \
                  "  - {out: y, op: attention, in: [q, k, v], heads: 2, kv_heads: 1, causal: true}\noutputs: {y: y}\n"
/* A workgroup's eight teams reduce sixteen rows, so each team passes through the reduction's shared memory twice. */
#define DECODE \
    "block: t\ndtype: f32\ndims: {B: 2, S: 16, L: 64}\n" \
    "inputs: {q: [B, S, 512], k: [B, S, 512], v: [B, S, 512], pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n" \
    "state: {keys: [B, 2, L, 256], values: [B, 2, L, 256]}\nops:\n  - {out: kc, op: kv_append, in: [k], state: keys, at: pos}\n" \
    "  - {out: vc, op: kv_append, in: [v], state: values, at: pos}\n" \
    "  - {out: y, op: attention, in: [q, kc, vc], heads: 2, causal: true, at: pos}\noutputs: {y: y}\n"
/* Keys end within a block. Both warpgroups have rows of the first tile of queries; only one has rows of the second, while the other goes on
 * to the next head. The blocks of keys and of values are four each: they pass through six stages, or stay in eight. */
#define RAGGED "block: t\ndtype: bf16\ndims: {B: 4, S: 76, L: 100}\n" \
               "inputs: {q: [B, S, 32], k: [B, L, 16], v: [B, L, 16], n: {shape: [B], dtype: i32, range: [0, L]}}\nops:\n" \
               "  - {out: y, op: attention, in: [q, k, v], heads: 2, kv_heads: 1, lengths: n}\noutputs: {y: y}\n"
/* On matrix units: the last tile of 64 columns has only 32, and the epilogue reads one number per column. */
#define BIAS(type) "block: t\ndtype: " type "\ndims: {M: 40, D: 160}\ninputs: {x: [M, D]}\nparams: {w: [D, D], b: [D]}\nops:\n" \
             "  - {out: y, op: linear, in: [x, w, b]}\noutputs: {y: y}\n"

static const race_case cases[] = {{.target = "sm_90a", .yaml = NORM},
                                  {.target = "gfx942", .yaml = NORM},
                                  {.target = "gfx1100", .yaml = ROWS("softmax")},
                                  {.target = "sm_80", .yaml = ROWS("l2norm")},
                                  {.target = "sm_80", .yaml = PRODUCT("21")},
                                  {.target = "sm_80", .yaml = PRODUCT("97")},
                                  {.target = "gfx1100", .yaml = PRODUCT("3")},
                                  {.target = "sm_80", .yaml = ATTENTION},
                                  {.target = "sm_90a", .yaml = RAGGED, .line = "attention block_q=128 threads=384 block_k=32 stages=6"},
                                  {.target = "sm_90a", .yaml = RAGGED, .line = "attention block_q=128 threads=384 block_k=32 stages=8"},
                                  {.target = "gfx942", .yaml = DECODE},
                                  {.target = "sm_90a", .yaml = DECODE},
                                  {.target = "sm_90a", .yaml = BIAS("f16"), .line = "gemm layer=wgmma", .dims = {{"M", 140}},
                                   .dim_count = 1},
                                  {.target = "sm_80", .yaml = BIAS("f16")},
                                  {.target = "gfx942", .yaml = BIAS("f16")},
                                  {.target = "gfx942", .yaml = BIAS("bf16")},
                                  {.target = "gfx942",
                                   .path = "specs/qkv-rope.yaml",
                                   .dims = {{"B", 1}, {"S", 7}, {"D", 52}, {"H", 2}, {"KV", 2}, {"hd", 26}},
                                   .dim_count = 6}};

START_TEST(no_thread_reads_what_another_is_writing_nor_beyond_the_end)
{
    const race_case *c = &cases[_i];
    rig *r = rig_open(&(rig_request){.yaml = c->yaml,
                                     .path = c->path,
                                     .level = fusion_tile,
                                     .target = c->target,
                                     .dims = c->dims,
                                     .dim_count = c->dim_count,
                                     .tuning = &(tuning){.lines = &c->line, .count = c->line != NULL},
                                     .check = true,
                                     .one_workgroup = true});
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("races");
    TCase *t = tcase_create("races");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, no_thread_reads_what_another_is_writing_nor_beyond_the_end, 0, (int)(sizeof cases / sizeof *cases));
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
