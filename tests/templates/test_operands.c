/* Products whose two operands have different dtypes: neither is rounded to the other's, in every program that supports the pair; the others
 * give their reason. Norm weights are folded in as usual. */
#include "tests/support.h"
#include "gen/program/program.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct operand_case {
    const char *target, *rows, *weight, *layer, *packed;
} operand_case;
/* packed: the manifest's name of the packed weight's dtype */
static const operand_case cases[] = {
    {"host", "bf16", "f32", "simt", "f32"},           {"sm_80", "bf16", "f16", "skinny", "f16"},
    {"sm_80", "f16", "f32", "simt", "f32"},           {"sm_90a", "bf16", "f32", "skinny", "f32"},
    {"sm_90a", "f32", "bf16", "wgmma_3xtf32", "f32"}, {"sm_90a", "f32", "f16", "wgmma_3xtf32", "f32"},
    {"gfx908", "f32", "bf16", "mfma", "f32"},         {"gfx90a", "f32", "f16", "mfma", "f32"},
    {"gfx90a", "bf16", "f32", "skinny", "f32"},       {"gfx942", "f32", "bf16", "mfma", "f32"},
    {"gfx942", "f16", "bf16", "simt", "bf16"},        {"gfx950", "f32", "f16", "mfma", "f32"},
    {"gfx1100", "bf16", "f16", "simt", "f16"},        {"gfx1151", "f16", "bf16", "skinny", "bf16"},
    {"gfx1201", "bf16", "f32", "simt", "f32"},        {"sm_90a", "bf16", "f32", "wgmma", "bf16"},
    {"sm_90a", "bf16", "f16", "wgmma", "bf16"},       {"sm_90a", "bf16", "f32", "wgmma split_k=2", "bf16"},
    {"sm_80", "bf16", "f32", "mma", "bf16"},
    {"sm_80", "bf16", "f16", "mma", "bf16"},          {"gfx908", "bf16", "f32", "mfma", "bf16"},
    {"gfx942", "bf16", "f32", "mfma", "bf16"},        {"gfx950", "bf16", "f16", "mfma", "bf16"},
    {"gfx1201", "bf16", "f32", "wmma", "bf16"},       {"sm_90a", "f16", "bf16", "wgmma", "bf16"},
    {"sm_90a", "f16", "f32", "wgmma split_k=2", "bf16"}, {"sm_90a", "f32", "f16", "wgmma", "bf16"},
    {"sm_80", "f16", "f32", "mma", "bf16"},           {"sm_80", "f32", "bf16", "mma k=32", "bf16"},
    {"gfx942", "f16", "f32", "mfma", "bf16"},         {"gfx1100", "f32", "f16", "wmma", "bf16"},
    {"gfx950", "f16", "f32", "mfma m=128 n=128 threads=512 stages=2", "bf16"},
    {"sm_90a", "bf16", "f32", "register_fed", "f32"}, {"sm_90a", "bf16", "f16", "register_fed", "f16"},
    {"sm_80", "f16", "bf16", "register_fed", "bf16"}, {"sm_90a", "f16", "f32", "register_fed", "f32"},
    {"gfx908", "f16", "f32", "register_fed", "f32"},  {"gfx942", "bf16", "f32", "register_fed", "f32"},
    {"gfx950", "f16", "bf16", "register_fed", "bf16"}, {"gfx1100", "bf16", "f16", "register_fed", "f16"},
    {"gfx1201", "bf16", "f32", "register_fed", "f32"}, {"sm_90a", "bf16", "f32", "ring", "f32"},
    {"sm_90a", "f16", "f32", "ring", "f32"},          {"sm_90a", "bf16", "f16", "ring", "f16"},
    {"sm_90a", "f16", "bf16", "ring threads=128", "bf16"},
};
enum { case_count = sizeof cases / sizeof *cases };

/* Without a norm the result is f32, which shows every rounding of an operand. */
static void write_spec(char *yaml, size_t size, const operand_case *c, bool norm)
{
    snprintf(yaml, size,
             "block: t\ndtype: %s\ndims: {M: 8, N: 72, K: 148}\ninputs: {x: {shape: [M, K], dtype: %s}}\n"
             "params: {w: {shape: [N, K], dtype: %s}%s}\nops:\n%s  - {out: y, op: linear, in: [%s, w]}\noutputs: {y: y}\n",
             norm ? c->rows : "f32", c->rows, c->weight, norm ? ", g: [K]" : "",
             norm ? "  - {out: h, op: rmsnorm, in: [x, g], eps: 1e-5}\n" : "", norm ? "h" : "x");
}

START_TEST(each_operand_keeps_its_own_dtype)
{
    const operand_case *c = &cases[_i % case_count];
    const bool norm = _i >= case_count;
    char yaml[512], line[64];
    write_spec(yaml, sizeof yaml, c, norm);
    snprintf(line, sizeof line, "gemm layer=%s", c->layer);
    const char *lines = line;
    const tuning t = {.lines = &lines, .count = 1};
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = c->target, .tuning = &t});
    line[strlen("gemm ") + strcspn(c->layer, " ") + strlen("layer=")] = '\0'; /* other fields may lie between it and the next */
    ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), strchr(line, ' ')));
    ck_assert_str_eq(dtype_name(r->c.plan->packs[0].format->type), c->packed);
    if (norm) ck_assert_ptr_nonnull(strstr(ir_print(r->a, r->c.plan->ir), "fold=%g"));
    rig_round(r);
    rig_run(r);
    rig_reference(r);
    const double ratio = rig_judge(r);
    ck_assert_msg(ratio <= 1, "%s: %s by %s on %s: %g of the bound", c->target, c->rows, c->weight, c->layer, ratio);
    rig_close(r);
}
END_TEST

/* A row and a column with an infinity, times 1 and numbers of both signs; the largest number times 1 and 2. */
START_TEST(infinities_and_overflows_of_products_in_terms_have_their_sign)
{
    static const operand_case in_terms[] = {{"sm_80", "f16", "f32", "mma", NULL}, {"sm_80", "f32", "bf16", "mma k=32", NULL},
                                            {"sm_80", "bf16", "f16", "mma", NULL}, {"sm_90a", "bf16", "f32", "register_fed", NULL},
                                            {"gfx942", "f16", "f32", "register_fed", NULL},
                                            {"gfx1100", "bf16", "f16", "register_fed", NULL}};
    enum { K = 148, N = 72, at = 5, alone = 7, row = 1, column = 3, largest = 4, doubled = 9 };
    const operand_case *c = &in_terms[_i];
    const double most = strcmp(c->rows, "f16") == 0 ? 65504 : strcmp(c->rows, "f32") == 0 ? FLT_MAX : 0x1.fep127;
    char yaml[512], line[64];
    const char *lines = line;
    write_spec(yaml, sizeof yaml, c, false);
    snprintf(line, sizeof line, "gemm layer=%s", c->layer);
    const tuning t = {.lines = &lines, .count = 1};
    rig *r = rig_open(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = c->target, .tuning = &t});
    double *x = rig_data(r, "x"), *w = rig_data(r, "w");
    for (int k = 0; k < K; k++) x[largest * K + k] = k == alone ? -most : k == at;
    for (int n = 0; n < N; n++) w[n * K + alone] = n == doubled ? 2 : 1;
    x[row * K + at] = INFINITY, w[column * K + at] = -INFINITY, w[(column + 1) * K + at] = 1;
    rig_round(r);
    rig_run(r);
    const double *y = rig_read(r, "y");
    for (int n = 0; n < N; n++) ck_assert_double_eq(y[row * N + n], n == column ? -INFINITY : copysign(INFINITY, w[n * K + at]));
    for (int m = 0; m < 8; m++)
        if (m != row) ck_assert_double_eq(y[m * N + column], -copysign(INFINITY, x[m * K + at]));
    ck_assert(isfinite(y[largest * N]) && fabs(y[largest * N] / most + 1) < 1e-3);
    const double twice = y[largest * N + doubled];
    ck_assert(most > 65504 ? twice == -INFINITY : fabs(twice / most + 2) < 1e-3);
    rig_close(r);
}
END_TEST

/* The program that the planner chooses, and the number of passes over K. */
START_TEST(products_of_two_dtypes_run_on_matrix_units)
{
    static const struct {
        operand_case c;
        long long rows;
        int passes;
    } chosen[] = {{{"sm_80", "f16", "bf16", "mma", NULL}, 512, 2},     {{"sm_80", "f32", "bf16", "mma", NULL}, 512, 3},
                  {{"sm_80", "f32", "f16", "mma", NULL}, 512, 6},      {{"sm_90a", "f16", "f32", "wgmma", NULL}, 512, 6},
                  {{"sm_90a", "f32", "bf16", "wgmma", NULL}, 512, 3},  {{"sm_90a", "f32", "bf16", "wgmma_3xtf32", NULL}, 128, 1},
                  {{"sm_90a", "f32", "f16", "wgmma_3xtf32", NULL}, 512, 1}, {{"gfx942", "f16", "bf16", "mfma", NULL}, 512, 2},
                  {{"gfx942", "f32", "bf16", "mfma", NULL}, 512, 1},   {{"gfx1100", "f32", "f16", "wmma", NULL}, 512, 6},
                  {{"sm_90a", "f16", "bf16", "register_fed", NULL}, 4, 1}, {{"sm_90a", "bf16", "f32", "register_fed", NULL}, 32, 1},
                  {{"sm_90a", "f32", "f16", "skinny", NULL}, 4, 1}};
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        const operand_case *c = &chosen[i].c;
        const dim_override dims[] = {{"M", chosen[i].rows}, {"N", 4096}, {"K", 4096}};
        char yaml[512], wanted[64];
        write_spec(yaml, sizeof yaml, c, false);
        snprintf(wanted, sizeof wanted, "layer=%s ", c->layer);
        rig *r = rig_plan(&(rig_request){.yaml = yaml, .level = fusion_tile, .target = c->target, .dims = dims, .dim_count = 3});
        const plan *p = r->c.plan;
        const ir_phase *product = p->ir->kernels[p->ir->kernel_count - 1]->phases[0];
        ck_assert_msg(strstr(ir_print(r->a, p->ir), wanted), "%s: %s by %s: not %s", c->target, c->rows, c->weight, c->layer);
        ck_assert_int_eq(weights_pairs(program_of(product)->weights, phase_op(product, op_linear)).passes, chosen[i].passes);
        rig_close(r);
    }
}
END_TEST

/* If the weight has more digits than A's dtype holds, programs that multiply two numbers of one type refuse it and give that reason. */
START_TEST(matrix_units_refuse_weights_of_wider_types)
{
    static const struct {
        operand_case c;
        const char *why;
    } refused[] = {{{"sm_90a", "f16", "bf16", "swap_ab", NULL}, "operands are not both bf16 or both f16"},
                   {{"sm_80", "f32", "f32", "mma", NULL}, "operands are not both bf16 or both f16"},
                   {{"gfx1100", "f32", "f32", "wmma", NULL}, "operands are neither bf16 nor f16"},
                   {{"sm_90a", "bf16", "f32", "swap_ab", NULL}, "an element of the weight needs several numbers of A's dtype"},
                   {{"gfx942", "f32", "f16", "register_fed", NULL}, "A is neither bf16 nor f16"},
                   {{"sm_90a", "bf16", "f32", "wgmma_3xtf32", NULL}, "operands are not both f32"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char yaml[512], line[64];
        arena *a = arena_new();
        compiled made;
        write_spec(yaml, sizeof yaml, &refused[i].c, false);
        snprintf(line, sizeof line, "y: layer=%s", refused[i].c.layer);
        const char *lines = line;
        const tuning t = {.lines = &lines, .count = 1};
        const compile_request q =
            {.name = "t.yaml", .text = yaml, .size = strlen(yaml), .level = fusion_tile, .target = refused[i].c.target, .tuning = &t};
        ck_assert_int_eq(compile(a, &q, &made), code_unsupported);
        ck_assert_msg(strstr(arena_diagnostics(a), refused[i].why) != NULL, "%s", arena_diagnostics(a));
        arena_free(a);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("operands");
    TCase *t = tcase_create("dtypes");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, each_operand_keeps_its_own_dtype, 0, 2 * case_count);
    tcase_add_loop_test(t, infinities_and_overflows_of_products_in_terms_have_their_sign, 0, 6);
    tcase_add_test(t, products_of_two_dtypes_run_on_matrix_units);
    tcase_add_test(t, matrix_units_refuse_weights_of_wider_types);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
