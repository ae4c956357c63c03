/* Products on the matrix units of each target, in each dtype that they multiply, against the float64 reference, at M, N and K that are not
 * multiples of the tile. */
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct matrix_case {
    /* layer: as plans print it; the blank after "wgmma" tells it from wgmma_3xtf32. more: other settings of the tile. */
    const char *target, *dtype, *layer, *more;
} matrix_case;
static const matrix_case cases[] = {{"sm_80", "bf16", "layer=mma"},     {"sm_80", "f16", "layer=mma"},
                                    {"sm_90a", "bf16", "layer=wgmma "}, {"sm_90a", "f16", "layer=wgmma "},
                                    {"sm_90a", "f32", "layer=wgmma_3xtf32", "stages=2"}, /* the two stages are reused */
                                     {"gfx90a", "bf16", "layer=mfma"},
                                    {"gfx90a", "f16", "layer=mfma"},    {"gfx90a", "f32", "layer=mfma"},
                                    {"gfx942", "bf16", "layer=mfma"},   {"gfx942", "f16", "layer=mfma"},
                                    {"gfx942", "f32", "layer=mfma"},    {"gfx950", "bf16", "layer=mfma"},
                                    {"gfx950", "f16", "layer=mfma"},    {"gfx1100", "bf16", "layer=wmma"},
                                    {"gfx1100", "f16", "layer=wmma"},   {"gfx1201", "bf16", "layer=wmma"},
                                    {"gfx908", "bf16", "layer=mfma"}};

START_TEST(products_on_matrix_units_are_within_their_bounds)
{
    const matrix_case *c = &cases[_i];
    char yaml[512], line[64];
    snprintf(line, sizeof line, "gemm %.*s %s", (int)strcspn(c->layer, " "), c->layer, c->more ? c->more : "");
    const char *lines = line;
    const tuning tuning = {.lines = &lines, .count = 1};
    snprintf(yaml, sizeof yaml,
             "block: t\ndtype: %s\ndims: {M: 37, N: 75, K: 141}\ninputs: {x: [M, K]}\nparams: {w: [N, K], b: [N]}\nops:\n"
             "  - {out: y, op: linear, in: [x, w, b]}\noutputs: {y: y}\n",
             c->dtype);
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = c->target, .tuning = &tuning});
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), c->layer));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* Epilogues of three kinds: they pass results through shared memory (operand l), they store from registers and read the operand z in
 * vectors of 4 or of 2, or they compute in f32. powers: the number of pow ops in the epilogue, which make it long; rolled: the line of the
 * spec struct that says how the epilogue loops over blocks of columns. The last block is partial. */
static const struct { const char *dtype, *layer, *operand, *input; int columns, powers; const char *rolled; } loops[] = {
    {"bf16", "layer=wgmma ", "l", "", 304, 0, "rolled = 1"},
    {"bf16", "layer=wgmma ", "l", "", 304, 2, "rolled = 4"},
    {"bf16", "layer=wgmma ", "z", ", z: [M, N]", 139, 0, "rolled = 1"},
    {"bf16", "layer=wgmma ", "z", ", z: [M, N]", 139, 2, "rolled = 4"},
    {"bf16", "layer=wgmma ", "z", ", z: [M, N]", 138, 2, "rolled = 4"},
    {"f32", "layer=wgmma_3xtf32", "z", ", z: [M, N]", 203, 0, "rolled = 4"}};

START_TEST(a_long_epilogue_is_a_loop_over_blocks_of_columns)
{
    char line[64];
    snprintf(line, sizeof line, "gemm %s", loops[_i].layer);
    const char *lines = line;
    const tuning tuning = {.lines = &lines, .count = 1};
    const bool sums = loops[_i].columns % 8 == 0; /* the epilogue takes the sums of squares of a norm */
    text yaml = {.a = arena_new()};
    text_printf(&yaml,
                "block: t\ndtype: %s\ndims: {M: 70, N: %d, K: 48}\ninputs: {x: [M, K]%s}\nparams: {w: [N, K]%s}\nops:\n"
                "  - {out: l, op: linear, in: [x, w]}\n  - {out: a, op: tanh, in: [l]}\n  - {out: b, op: softplus, in: [a]}\n"
                "  - {out: c, op: div, in: [%s, b]}\n  - {out: d, op: erf, in: [c]}\n  - {out: e, op: mish, in: [d]}\n"
                "  - {out: f, op: silu, in: [e]}\n  - {out: h, op: expm1, in: [f]}\n  - {out: i, op: gelu_erf, in: [h]}\n"
                "  - {out: p0, op: sigmoid, in: [i]}\n",
                loops[_i].dtype, loops[_i].columns, loops[_i].input, sums ? ", g: [N], v: [32, N]" : "", loops[_i].operand);
    for (int i = 0; i < loops[_i].powers; i++) text_printf(&yaml, "  - {out: p%d, op: pow, in: [p%d, 1.3]}\n", i + 1, i);
    if (sums)
        text_printf(&yaml, "  - {out: n, op: rmsnorm, in: [p%d, g], eps: 1.0e-5}\n  - {out: y, op: linear, in: [n, v]}\n",
                    loops[_i].powers);
    text_printf(&yaml, sums ? "outputs: {y: y}\n" : "outputs: {y: p%d}\n", loops[_i].powers);
    rig *r = rig_open(&(rig_request){.yaml = yaml.data, .level = fusion_tile, .target = "sm_90a", .tuning = &tuning});
    ck_assert_int_eq(r->c.plan->launch_count, sums ? 2 : 1);
    const char *header = r->c.plan->launches[0].spec_header;
    ck_assert_ptr_nonnull(strstr(header, loops[_i].rolled));
    ck_assert_ptr_nonnull(strstr(header, sums ? "row_sums = true" : "row_sums = false"));
    ck_assert_int_eq(strstr(header, "epilogue_smem = true") != NULL, *loops[_i].operand == 'l');
    ck_assert_ptr_null(strstr(header, "TF_CALLED"));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
    arena_free(yaml.a);
}
END_TEST

/* Some angles are beyond 1e5, where the branch-free sine is far outside of -1 to 1; each column must count once in the sums of squares. */
START_TEST(an_epilogue_computes_sines_of_large_angles_again)
{
    static const char yaml[] =
        "block: t\ndtype: bf16\ndims: {M: 70, N: 72, K: 48}\ninputs: {x: [M, K]}\nparams: {w: [N, K], g: [N], v: [32, N]}\nops:\n"
        "  - {out: l, op: linear, in: [x, w]}\n  - {out: m, op: mul, in: [l, 30000]}\n  - {out: n, op: square, in: [m]}\n"
        "  - {out: s, op: sin, in: [n]}\n  - {out: c, op: cos, in: [s]}\n"
        "  - {out: h, op: rmsnorm, in: [c, g], eps: 1.0e-5}\n  - {out: y, op: linear, in: [h, v]}\noutputs: {y: y}\n";
    const char *lines = "gemm layer=wgmma";
    const tuning tuning = {.lines = &lines, .count = 1};
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a", .tuning = &tuning});
    const char *header = r->c.plan->launches[0].spec_header;
    ck_assert_ptr_nonnull(strstr(header, "small_angles"));
    ck_assert_ptr_nonnull(strstr(header, "row_sums = true"));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

/* The product writes one part of a concat. The part behind it, computed earlier, begins within the 16 bytes in which the product's row
 * ends, and must not be overwritten. */
START_TEST(a_row_of_results_may_end_within_16_bytes)
{
    static const char yaml[] =
        "block: t\ndtype: bf16\ndims: {M: 70, K: 48}\ninputs: {x: [M, K], z: [M, 36]}\nparams: {w: [76, K]}\nops:\n"
        "  - {out: b, op: exp, in: [z]}\n  - {out: l, op: linear, in: [x, w]}\n  - {out: a, op: tanh, in: [l]}\n"
        "  - {out: y, op: concat, in: [a, b]}\noutputs: {y: y}\n";
    const char *lines = "gemm layer=wgmma";
    const tuning tuning = {.lines = &lines, .count = 1};
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = "sm_90a", .tuning = &tuning});
    ck_assert_int_eq(r->c.plan->launch_count, 2);
    ck_assert_ptr_nonnull(strstr(r->c.plan->launches[1].spec_header, "epilogue_smem = true"));
    rig_run(r);
    rig_judge(r);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("matrix units");
    TCase *t = tcase_create("products");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, products_on_matrix_units_are_within_their_bounds, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_loop_test(t, a_long_epilogue_is_a_loop_over_blocks_of_columns, 0, (int)(sizeof loops / sizeof *loops));
    tcase_add_test(t, an_epilogue_computes_sines_of_large_angles_again);
    tcase_add_test(t, a_row_of_results_may_end_within_16_bytes);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
