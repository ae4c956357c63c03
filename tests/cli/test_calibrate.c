/* `tfgen calibrate` on the host engine and, through the doubles of HIP (tests/doubles), on a GPU: its output reads back and can be planned
 * with. Runs $TFGEN (default ./tfgen). Times are only checked to be positive numbers. */
#define _GNU_SOURCE
#include "gen/source/standalone.h"
#include "runtime/cli/calibrate/meter.h"
#include "tests/runtime/hip_program.h"
#include "tests/shell.h"
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/tfgen-calibrate-XXXXXX";

typedef struct reading {
    arena *a;
    const char *text;
    device_model *model;
} reading;

static void read_file(void *argument)
{
    reading *r = argument;
    r->model = device_model_read(r->a, r->text, strlen(r->text), "calibrated.yaml");
}

static reading read_text(const char *text)
{
    reading r = {arena_new(), text, NULL};
    ck_assert_msg(arena_run(r.a, read_file, &r) == code_ok, "%s in:\n%s", arena_diagnostics(r.a), text);
    return r;
}

static void is_measured(const device_fact *f)
{
    ck_assert_int_eq(f->source, source_measured);
    ck_assert_double_gt(f->value, 0);
    ck_assert_uint_gt(strlen(f->note), 0);
}

/* What is measured on every target: launches, signals between workgroups, memory, and the rates of every dtype. */
static void has_what_all_have(const device_model *d)
{
    static const device_number all[] = {number_launch_cost, number_hop_cost, number_latency, number_bandwidth_reached};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) is_measured(&d->numbers[all[i]]);
    for (int type = 0; type < dtype_count; type++)
        ck_assert_int_eq(d->rates[rate_products_reached].of[type] > 0, dtype_is_real((dtype)type));
    if (d->units > 2) is_measured(&d->numbers[number_busy_hop_cost]);
    ck_assert_double_gt(d->rates[rate_vector_reached].of[dtype_f32], 0);
    ck_assert_int_eq(d->rates[rate_products_reached].source, source_measured);
}

START_TEST(the_cost_of_a_signal_is_measured_by_sending_more_of_them)
{
    ck_assert_double_eq(meter_each(1 + 64, 64, 1 + 256, 256), 1); /* launching took 1 s, each signal took 1 s */
}
END_TEST

/* No shipped device file has rates of a host, so all of them are measured; predictions are then possible. */
START_TEST(the_host_is_measured_and_predictions_are_made_with_that)
{
    char path[256];
    snprintf(path, sizeof path, "%s/host.yaml", folder);
    ck_assert_int_eq(tfgen("predict specs/linear.yaml --device-model=host"), code_usage);
    ck_assert_msg(tfgen("calibrate --device=host --seconds=0 -o %s/host.yaml", folder) == 0, "%s", output);
    ck_assert_str_eq(output, "");
    char *text = whole_file(path);
    reading r = read_text(text);
    has_what_all_have(r.model);
    is_measured(&r.model->numbers[number_bandwidth]);
    ck_assert_str_eq(r.model->name, "host");
    ck_assert_int_eq(r.model->counts[fact_units].source, source_chosen);
    ck_assert_msg(tfgen("predict specs/linear.yaml --device-model=%s/host.yaml", folder) == 0, "%s", output);
    arena_free(r.a);
    free(text);
}
END_TEST

/* On a GPU for which tfgen ships a file: numbers from a data sheet are kept, with their source. A device with little memory is measured
 * with little memory. */
START_TEST(a_gpu_is_measured_through_its_driver_and_keeps_its_data_sheet)
{
    setenv("TFGEN_DOUBLE_MEMORY", "134217728", 1);
    ck_assert_msg(tfgen("calibrate --device=hip --seconds=0") == 0, "%s", output);
    reading r = read_text(output);
    has_what_all_have(r.model);
    ck_assert_str_eq(r.model->name, "mi210");
    ck_assert_str_eq(r.model->target->name, "gfx90a");
    ck_assert_int_eq(r.model->units, 104);
    ck_assert_int_eq(r.model->counts[fact_units].source, source_data_sheet);
    ck_assert_int_eq(r.model->rates[rate_products].source, source_data_sheet);
    ck_assert_double_gt(r.model->numbers[number_clock].value, 0); /* 0 only if the machine was too busy to measure it */
    is_measured(&r.model->numbers[number_memory]);
    arena_free(r.a);
}
END_TEST

START_TEST(calibrate_refuses_wrong_arguments)
{
    ck_assert_int_eq(tfgen("calibrate --device=hip:7"), code_usage);
    ck_assert_int_eq(tfgen("calibrate --device=host --seconds=never"), code_usage);
    ck_assert_int_eq(tfgen("calibrate specs/linear.yaml"), code_usage);
}
END_TEST

/* A file that was damaged on its way is refused where it is wrong. */
START_TEST(a_damaged_file_says_where)
{
    const device_model *h200;
    arena *a = arena_new();
    h200 = device_model_find(a, "h200");
    const char *text = device_model_print(a, h200);
    char *copy = arena_strdup(a, text), *at = strstr(copy, "is: ");
    at[4] = 'x';
    write_file(folder, "damaged.yaml", "%s", copy);
    ck_assert_int_eq(tfgen("emit specs/linear.yaml --target=sm_90a --dump=plan --device-model=%s/damaged.yaml", folder),
                     code_bad_input);
    says("damaged.yaml:5:13: error: units: expected a whole number from 1 to 65536");
    arena_free(a);
}
END_TEST

/* Every shipped file is printed as text that reads back as the same model. */
START_TEST(a_model_that_is_printed_reads_back)
{
    for (size_t i = 0; i < device_model_total(); i++) {
        arena *a = arena_new();
        const device_model *d = device_model_at(a, i);
        const char *text = device_model_print(a, d);
        reading r = read_text(text);
        ck_assert_str_eq(device_model_print(r.a, r.model), text);
        ck_assert_int_eq(r.model->units, d->units);
        ck_assert_int_eq(r.model->chiplets, d->chiplets);
        for (int n = 0; n < number_count; n++) ck_assert_int_eq(r.model->numbers[n].source, d->numbers[n].source);
        arena_free(r.a);
        arena_free(a);
    }
}
END_TEST

/* With every compiler on this machine; the host engine and the double of HIPRTC run these kernels in other tests. */
START_TEST(kernels_that_belong_to_no_plan_compile_for_every_target)
{
    static const char *const paths[] = {"templates/probe/probes.h", "templates/rows/next_token.h"};
    size_t count;
    const target_info *list = target_list(&count);
    for (size_t i = 0; i < count; i++) {
        if (list[i].vendor == vendor_host) continue;
        arena *a = arena_new();
        unsetenv("TFGEN_CLANG");
        const source_text source = standalone_source(a, &list[i], paths[_i], "is tested");
        char *whole = source_join(a, &source);
        const code_request q = {.source = whole, .size = strlen(whole), .name = "own.hip", .arch = list[i].name};
        code_result r = {0};
        const code_status status = code_compile(&q, &r);
        ck_assert_msg(status == build_ok || status == build_unsupported, "%s: %s", list[i].name, r.log);
        code_result_free(&r);
        arena_free(a);
    }
}
END_TEST

int main(int argc, char **argv)
{
    (void)argc;
    if (!mkdtemp(folder) || !use_doubles(argv[0])) return EXIT_FAILURE;
    use_kernels(kernels_timed);
    Suite *s = suite_create("calibrate");
    TCase *c = tcase_create("calibrate");
    tcase_set_timeout(c, 300);
    tcase_add_test(c, the_cost_of_a_signal_is_measured_by_sending_more_of_them);
    tcase_add_test(c, the_host_is_measured_and_predictions_are_made_with_that);
    tcase_add_test(c, a_gpu_is_measured_through_its_driver_and_keeps_its_data_sheet);
    tcase_add_test(c, calibrate_refuses_wrong_arguments);
    tcase_add_test(c, a_damaged_file_says_where);
    tcase_add_test(c, a_model_that_is_printed_reads_back);
    suite_add_tcase(s, c);
    TCase *compilers = tcase_create("compilers");
    tcase_set_tags(compilers, "long");
    tcase_set_timeout(compilers, 300);
    tcase_add_loop_test(compilers, kernels_that_belong_to_no_plan_compile_for_every_target, 0, 2);
    suite_add_tcase(s, compilers);
    return run_suite(s);
}
