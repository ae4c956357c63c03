/* Products on the matrix units of each target, in each dtype that they multiply, against the float64 reference, at M, N and K that are not
 * multiples of the tile. */
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct matrix_case {
    const char *target, *dtype, *layer, *more; /* more: of the tile */
} matrix_case;
static const matrix_case cases[] = {{"sm_80", "bf16", "layer=mma"},     {"sm_80", "f16", "layer=mma"},
                                    {"sm_90a", "bf16", "layer=wgmma "}, {"sm_90a", "f16", "layer=wgmma "},
                                    {"sm_90a", "f32", "layer=wgmma_3xtf32", "stages=2"}, /* which come again */
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
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->program), c->layer));
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
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
