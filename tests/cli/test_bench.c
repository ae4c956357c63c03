/* `tfgen bench`: parses the command's tables and JSON. tests/gen/test_work.c tests what it counts. */
#define _GNU_SOURCE
#include "runtime/cli/bench.h"
#include "tests/shell.h"
#include "tests/support.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- times */
START_TEST(the_median_and_the_spread_of_known_samples)
{
    double odd[] = {9, 1, 5}, even[] = {8, 2, 6, 4}, eleven[] = {10, 3, 7, 0, 5, 1, 9, 8, 2, 6, 4}, one[] = {3};
    ck_assert_double_eq(spread_of(odd, 3).median, 5);
    ck_assert_double_eq(spread_of(even, 4).median, 5);
    ck_assert_double_eq(spread_of(one, 1).low + spread_of(one, 1).high, 6);
    const spread s = spread_of(eleven, 11), between = spread_of(odd, 3);
    ck_assert(s.median == 5 && s.low == 1 && s.high == 9);
    ck_assert_double_eq_tol(between.low, 1.8, 1e-12);
    ck_assert_double_eq_tol(between.high, 8.2, 1e-12);
}
END_TEST

START_TEST(times_are_printed_in_a_suitable_unit)
{
    static const struct {
        double seconds;
        const char *coarse, *fine;
    } times[] = {{12.3456e-6, "12 us", "12.35 us"}, {999e-6, "999 us", "999.00 us"},    {1e-3, "1.00 ms", "1.000 ms"},
                 {0.98765, "987.65 ms", "987.650 ms"}, {1, "1.00 s", "1.000 s"}, {71.5, "71.50 s", "71.500 s"}};
    arena *a = arena_new();
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        ck_assert_str_eq(spread_time_text(a, times[i].seconds, false), times[i].coarse);
        ck_assert_str_eq(spread_time_text(a, times[i].seconds, true), times[i].fine);
    }
    arena_free(a);
}
END_TEST

/* ---- the command */
static int bench_with(const char *arguments) { return tfgen("bench %s", arguments); }

START_TEST(bench_prints_a_table_per_level_and_names_the_timed_processor)
{
    ck_assert_int_eq(bench_with("specs/rmsnorm.yaml --device=host --dim S=5 --seconds=0.05 --fusion=all --check"), 0);
    says("level none");
    says("level ops");
    says("level tile");
    says("these times are the CPU's");
    says("whole run");
    says("checked: every value is within its bound");
}
END_TEST

START_TEST(json_has_every_launch_with_its_spread_and_its_work)
{
    ck_assert_int_eq(bench_with("specs/swiglu.yaml --device=host --dim S=5 --seconds=0.1 --json"), 0);
    json_t *all = json_loads(output, 0, NULL), *one = json_array_get(all, 0), *launches = json_object_get(one, "launches");
    ck_assert_msg(one != NULL, "%s", output);
    ck_assert_str_eq(json_string_value(json_object_get(one, "clock")), "CPU");
    ck_assert_int_ge(json_integer_value(json_object_get(one, "repeats")), 5);
    ck_assert_int_ge(json_integer_value(json_object_get(one, "sets")), 3);
    ck_assert_uint_gt(json_array_size(launches), 0);
    const double rotated = json_real_value(json_object_get(one, "set_bytes")) * (double)json_integer_value(json_object_get(one, "sets"));
    ck_assert_double_ge(rotated, 256e6);
    double products = 0, medians = 0;
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *l = json_array_get(launches, i), *s = json_object_get(l, "seconds");
        const double low = json_real_value(json_object_get(s, "p10")), median = json_real_value(json_object_get(s, "median"));
        ck_assert(low > 0 && low <= median && median <= json_real_value(json_object_get(s, "p90")));
        ck_assert_ptr_null(json_object_get(l, "of_floor")); /* the device model has no bandwidth, so no floor is known */
        products += json_real_value(json_object_get(l, "products"));
        medians += median;
    }
    ck_assert_double_gt(medians, 0);
    const json_t *whole = json_object_get(one, "whole");
    ck_assert_double_eq(json_real_value(json_object_get(whole, "products")), products);
    json_decref(all);
}
END_TEST

/* Writes a device model of this machine. match: the only device name that it fits; NULL: it fits any. */
static void write_model(char *path, const char *match)
{
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_gt(dprintf(file,
                             "name: fast\nlabel: x\ntarget: host\n%s%s\nunits: {is: 1, chosen: x}\nchiplets: {is: 1, chosen: x}\n"
                             "bandwidth: {is: 1e18, chosen: x}\ncache: {is: 1e12, chosen: x}\nproducts: {bf16: 1e18, chosen: x}\n",
                             match ? "match: " : "", match ? match : ""),
                     0);
    close(file);
}

START_TEST(the_share_of_the_floor_is_printed_if_peaks_are_known)
{
    char path[] = "/tmp/tfgen-host-peaks-XXXXXX", arguments[256];
    write_model(path, NULL);
    snprintf(arguments, sizeof arguments, "specs/l2norm.yaml --device=host --dim S=5 --seconds=0.01 --json --device-model=%s", path);
    ck_assert_int_eq(bench_with(arguments), 0);
    json_t *all = json_loads(output, 0, NULL), *whole = json_object_get(json_array_get(all, 0), "whole");
    const double share = json_real_value(json_object_get(whole, "of_floor"));
    ck_assert_msg(share > 0 && share < 1, "%s", output);
    json_decref(all);
    snprintf(arguments, sizeof arguments, "specs/l2norm.yaml --device=host --dim S=5 --seconds=0.01 --device-model=%s", path);
    ck_assert_int_eq(bench_with(arguments), 0);
    says("of floor");
    says("fit the last-level cache");
    unlink(path);
}
END_TEST

START_TEST(peaks_of_another_device_are_refused)
{
    char path[] = "/tmp/tfgen-host-peaks-XXXXXX", arguments[256];
    write_model(path, "Cray-1");
    snprintf(arguments, sizeof arguments, "specs/l2norm.yaml --device=host --dim S=5 --seconds=0.01 --device-model=%s", path);
    ck_assert_int_eq(bench_with(arguments), 2);
    says("is for a device that is called 'Cray-1'; this one is '");
    unlink(path);
}
END_TEST

START_TEST(bench_refuses_what_it_cannot_do)
{
    ck_assert_int_eq(bench_with("specs/rmsnorm.yaml --device=host --graph"), 4);
    says("the host engine has none");
    ck_assert_int_eq(bench_with("specs/rmsnorm.yaml --device=host --seconds=forever"), 2);
    says("--seconds: 'forever' is not a number");
    ck_assert_int_eq(bench_with("specs/rmsnorm.yaml --device=host --seconds=-1"), 2);
    ck_assert_int_eq(bench_with("specs/rmsnorm.yaml --device=abacus"), 2);
    says("--device: ");
    ck_assert_int_eq(bench_with("specs/rmsnorm.yaml --fusion=most"), 2);
    says("unknown level 'most'");
    ck_assert_int_eq(bench_with("specs/rmsnorm.yaml --device=host --device-model=h200"), 2);
    says("device model h200 belongs to target sm_90a, not host");
    ck_assert_int_eq(bench_with(""), 2);
    says("usage: tfgen bench");
}
END_TEST

/* Tensors have 4,198,400 elements; only the first 4,194,301 are drawn, the rest repeats them. */
START_TEST(large_tensors_repeat_the_numbers_that_were_drawn)
{
    ck_assert_msg(bench_with("specs/rmsnorm.yaml --device=host --dim=B=1,S=1025,D=4096 --fusion=tile --seconds=0.01") == 0, "%s", output);
}
END_TEST

int main(void)
{
    use_kernels(kernels_timed);
    Suite *suite = suite_create("bench");
    TCase *counts = tcase_create("times"), *command = tcase_create("command");
    tcase_add_test(counts, the_median_and_the_spread_of_known_samples);
    tcase_add_test(counts, times_are_printed_in_a_suitable_unit);
    tcase_add_test(command, bench_prints_a_table_per_level_and_names_the_timed_processor);
    tcase_add_test(command, json_has_every_launch_with_its_spread_and_its_work);
    tcase_add_test(command, the_share_of_the_floor_is_printed_if_peaks_are_known);
    tcase_add_test(command, peaks_of_another_device_are_refused);
    tcase_add_test(command, bench_refuses_what_it_cannot_do);
    tcase_add_test(command, large_tensors_repeat_the_numbers_that_were_drawn);
    tcase_set_timeout(command, 120);
    suite_add_tcase(suite, counts);
    suite_add_tcase(suite, command);
    return run_suite(suite);
}
