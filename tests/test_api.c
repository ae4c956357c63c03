/* The public interface: what a host program sees. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/tfgen.h"

static const char ffn[] = "block: ffn\n"
                          "dtype: bf16\n"
                          "dims: {M: 5, D: 32, F: 48}\n"
                          "inputs: {x: [M, D]}\n"
                          "params: {w: [F, D], b: [F]}\n"
                          "ops:\n"
                          "  - {out: h, op: linear, in: [x, w, b]}\n"
                          "  - {out: y, op: gelu_tanh, in: [h]}\n"
                          "outputs: {y: y}\n";

static tfgen_plan *plan_of(tfgen_plan_options *o)
{
    tfgen_plan *plan = NULL;
    tfgen_error error = {""};
    ck_assert_msg(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", o, &plan, &error) == TFGEN_OK, "%s", error.text);
    return plan;
}

START_TEST(a_plan_has_kernels_with_sources)
{
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    o.target = "gfx942";
    tfgen_plan *plan = plan_of(&o);
    ck_assert_uint_eq(tfgen_plan_kernel_count(plan), 1);
    ck_assert_ptr_nonnull(strstr(tfgen_plan_kernel_source(plan, 0), tfgen_plan_kernel_name(plan, 0)));
    ck_assert_ptr_null(tfgen_plan_kernel_source(plan, 1));
    ck_assert_ptr_nonnull(strstr(tfgen_plan_manifest(plan), "\"gfx942\""));
    ck_assert_int_eq(strncmp(tfgen_plan_text(plan), "ir 1 ffn", 8), 0);
    tfgen_plan_free(plan);
}
END_TEST

START_TEST(less_fusion_gives_more_kernels)
{
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    o.fusion = TFGEN_FUSION_NONE;
    tfgen_plan *plan = plan_of(&o);
    ck_assert_uint_eq(tfgen_plan_kernel_count(plan), 2);
    tfgen_plan_free(plan);
}
END_TEST

START_TEST(dims_and_dtype_are_overridden)
{
    const tfgen_dim dims[] = {{"F", 7}};
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    o.dims = dims, o.dim_count = 1, o.dtype = "f32";
    tfgen_plan *plan = plan_of(&o);
    ck_assert_ptr_nonnull(strstr(tfgen_plan_text(plan), "f32[7,32]"));
    tfgen_plan_free(plan);
}
END_TEST

START_TEST(an_error_names_the_place)
{
    tfgen_plan *plan = (tfgen_plan *)1;
    tfgen_error error;
    const char bad[] = "block: b\ndims: {N: 4}\ninputs: {x: [N]}\nops:\n  - {out: y, op: sqrtt, in: [x]}\noutputs: {y: y}\n";
    ck_assert_int_eq(tfgen_plan_create(bad, sizeof bad - 1, "bad.yaml", NULL, &plan, &error), TFGEN_BAD_INPUT);
    ck_assert_ptr_null(plan);
    ck_assert_msg(strstr(error.text, "bad.yaml:5:") && strstr(error.text, "sqrt"), "%s", error.text);
}
END_TEST

START_TEST(a_target_that_nobody_knows_is_unsupported)
{
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    tfgen_plan *plan;
    tfgen_error error;
    o.target = "gfx9999";
    ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", &o, &plan, &error), TFGEN_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "gfx942"));
}
END_TEST

START_TEST(options_of_an_older_caller_are_taken)
{
    struct { size_t size; const char *target; } old = {sizeof old, "gfx90a"};
    tfgen_plan *plan;
    tfgen_error error;
    ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", (const tfgen_plan_options *)&old, &plan, &error), TFGEN_OK);
    ck_assert_ptr_nonnull(strstr(tfgen_plan_manifest(plan), "gfx90a"));
    ck_assert_uint_eq(tfgen_plan_kernel_count(plan), 1);
    tfgen_plan_free(plan);
}
END_TEST

START_TEST(wrong_calls_are_refused)
{
    tfgen_plan *plan;
    tfgen_error error;
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    ck_assert_int_eq(tfgen_plan_create(NULL, 0, "x", NULL, &plan, &error), TFGEN_USAGE);
    o.size = 0;
    ck_assert_int_eq(tfgen_plan_create(ffn, 1, "x", &o, &plan, &error), TFGEN_USAGE);
    o.size = sizeof o, o.fusion = (tfgen_fusion)9;
    ck_assert_int_eq(tfgen_plan_create(ffn, 1, "x", &o, &plan, &error), TFGEN_USAGE);
    tfgen_plan_free(NULL);
    ck_assert_uint_eq(tfgen_plan_kernel_count(NULL), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("api");
    TCase *c = tcase_create("plan");
    tcase_add_test(c, a_plan_has_kernels_with_sources);
    tcase_add_test(c, less_fusion_gives_more_kernels);
    tcase_add_test(c, dims_and_dtype_are_overridden);
    tcase_add_test(c, an_error_names_the_place);
    tcase_add_test(c, a_target_that_nobody_knows_is_unsupported);
    tcase_add_test(c, options_of_an_older_caller_are_taken);
    tcase_add_test(c, wrong_calls_are_refused);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
