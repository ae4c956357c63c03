/* `tfgen ablate`: its figures equal those of `tfgen explain` for the same plans; ratios are printed only between variants that agree. */
#define _GNU_SOURCE
#include "tests/shell.h"
#include "tests/support.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void says_not(const char *part) { ck_assert_msg(strstr(output, part) == NULL, "'%s' in:\n%s", part, output); }

static const json_t *named(const json_t *list, const char *key, const char *name)
{
    size_t i;
    json_t *o;
    json_array_foreach((json_t *)list, i, o) if (strcmp(json_string_value(json_object_get(o, key)), name) == 0) return o;
    ck_abort_msg("no %s in:\n%s", name, output);
    return NULL;
}

START_TEST(variants_are_counted_as_explain_counts_them)
{
    static const char *const levels[] = {"none", "ops", "tile", "block"};
    ck_assert_int_eq(tfgen("explain specs/llama-block.yaml --preset=llama-1b --no-code --json"), 0);
    json_t *explained = parsed();
    ck_assert_int_eq(tfgen("ablate specs/llama-block.yaml --preset=llama-1b --no-check --json"), 0);
    json_t *all = parsed();
    for (int i = 0; i < 4; i++) {
        const json_t *x = named(json_object_get(explained, "levels"), "level", levels[i]), *v = named(all, "variant", levels[i]);
        const json_t *work = json_object_get(x, "work");
        ck_assert_double_eq(number(v, "launches"), number(x, "launches"));
        ck_assert_double_eq(number(v, "bytes"), number(work, "bytes_read") + number(work, "bytes_written"));
        ck_assert_double_eq(number(v, "operations"), number(work, "products") + number(work, "others"));
        ck_assert_double_eq(number(v, "workspace_bytes"), number(x, "workspace_bytes"));
        ck_assert_double_eq_tol(number(v, "predicted_seconds"), number(x, "predicted_seconds"), 1e-12);
        ck_assert_ptr_null(json_object_get(v, "times")); /* nothing was checked */
    }
    const json_t *full = named(all, "variant", "tile"), *without = named(all, "variant", "tile without gate_up");
    ck_assert_double_eq(number(without, "launches"), number(full, "launches") + 1);
    ck_assert_double_gt(number(without, "bytes"), number(full, "bytes"));
    ck_assert_double_eq(number(named(all, "variant", "tile without any"), "bytes"), number(named(all, "variant", "none"), "bytes"));
    json_decref(all), json_decref(explained);
}
END_TEST

START_TEST(ratios_are_printed_only_between_variants_that_agree)
{
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --preset=llama-1b --json"), 0);
    json_t *all = parsed(), *v;
    const double full = number(named(all, "variant", "tile"), "predicted_seconds");
    size_t i;
    json_array_foreach(all, i, v)
    {
        ck_assert(json_is_true(json_object_get(v, "agrees")));
        ck_assert_double_eq_tol(number(v, "times"), number(v, "predicted_seconds") / full, 1e-12);
    }
    json_decref(all);
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --preset=llama-1b"), 0);
    says("what each fusion is worth");
    says("of no use here: regroup, product_sum, qkv, rmsnorm, bias");
    says("checked at the spec's own sizes");
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --preset=llama-1b --no-check"), 0);
    says("no ratio is printed: nothing was checked");
    says_not("what each fusion is worth");
}
END_TEST

START_TEST(a_variant_that_did_not_run_has_no_ratio)
{
    setenv("TFGEN_HOST_CC", "/bin/false", 1);
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --preset=llama-1b --no-cache"), 1);
    says("NOT RUN: ");
    says("no ratio is printed: the whole plan was not shown to agree with the reference");
    says_not("what each fusion is worth");
}
END_TEST

START_TEST(every_set_of_the_named_fusions_is_a_variant)
{
    ck_assert_int_eq(tfgen("ablate specs/llama-block.yaml --combine=qkv,rope,residual --no-check --json"), 0);
    json_t *all = parsed();
    ck_assert_uint_eq(json_array_size(all), 4 + 7);
    (void)named(all, "variant", "tile without qkv,residual");
    (void)named(all, "variant", "tile without qkv,rope,residual");
    json_decref(all);
}
END_TEST

/* Doubles of HIP and HIPRTC, which run code by the host engine. */
static void use_doubles(void)
{
    char path[4096];
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./build/default/tfgen", *slash = strrchr(program, '/');
    snprintf(path, sizeof path, "%.*s/tests/doubles/libamdhip64_double.so", (int)(slash - program), program);
    setenv("TFGEN_LIBHIP", path, 1);
    snprintf(path, sizeof path, "%.*s/tests/doubles/libhiprtc_double.so", (int)(slash - program), program);
    setenv("TFGEN_HIPRTC", path, 1);
    setenv("TFGEN_CLANG", "none", 1);
    setenv("TFGEN_DOUBLE_MEMORY", "20000", 1); /* few sets of buffers */
}

START_TEST(variants_are_timed_and_checked_on_the_device)
{
    use_doubles();
    ck_assert_msg(tfgen("ablate specs/softmax.yaml --device=hip --seconds=0 --dim=S=2,D=32 --json") == 0, "%s", output);
    json_t *all = parsed(), *v;
    const double full = number(named(all, "variant", "tile"), "measured_seconds");
    size_t i;
    ck_assert_double_gt(full, 0);
    json_array_foreach(all, i, v)
    {
        ck_assert(json_is_true(json_object_get(v, "agrees")));
        ck_assert_double_eq_tol(number(v, "times"), number(v, "measured_seconds") / full, 1e-12);
    }
    /* one plan, timed once */
    ck_assert_double_eq(number(named(all, "variant", "ops"), "measured_seconds"), full);
    json_decref(all);
}
END_TEST

START_TEST(no_variant_is_run_when_the_budget_is_spent)
{
    use_doubles();
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --device=hip --budget=0"), 0);
    says("not run: the time budget is used up\n  none ");
    says("no ratio is printed");
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --budget=0 --json"), 0);
    json_t *all = parsed();
    ck_assert(json_is_true(json_object_get(named(all, "variant", "none"), "late")));
    ck_assert_ptr_null(json_object_get(named(all, "variant", "none"), "times"));
    json_decref(all);
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --budget=soon"), 2);
    says("--budget: 'soon' is not a time");
}
END_TEST

START_TEST(ablate_refuses_what_it_cannot_do)
{
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --combine=ropes"), 2);
    says("--combine: no fusion is called 'ropes'; did you mean 'rope'?");
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --combine=qkv,gate_up,rmsnorm,bias,activation,residual,rope"), 2);
    says("--combine: at most 6 fusions, which are 64 variants");
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --device=host"), 2);
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --seconds=1"), 2);
    says("--seconds and --graph are for --device");
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml specs/linear.yaml"), 2);
    ck_assert_int_eq(tfgen("ablate specs/bad/add-shapes.yaml"), 3);
    ck_assert_int_eq(tfgen("ablate specs/swiglu.yaml --target=sm_12"), 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ablate");
    TCase *command = tcase_create("command");
    tcase_add_test(command, variants_are_counted_as_explain_counts_them);
    tcase_add_test(command, ratios_are_printed_only_between_variants_that_agree);
    tcase_add_test(command, a_variant_that_did_not_run_has_no_ratio);
    tcase_add_test(command, every_set_of_the_named_fusions_is_a_variant);
    tcase_add_test(command, variants_are_timed_and_checked_on_the_device);
    tcase_add_test(command, no_variant_is_run_when_the_budget_is_spent);
    tcase_add_test(command, ablate_refuses_what_it_cannot_do);
    tcase_set_timeout(command, 120);
    suite_add_tcase(suite, command);
    return run_suite(suite);
}
