/* `tfgen predict`: the same figures as `tfgen explain`, at every value of a sweep, and the error against recorded runs. */
#define _GNU_SOURCE
#include "tests/shell.h"
#include "tests/support.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(predict_and_explain_agree_at_each_size)
{
    ck_assert_int_eq(tfgen("predict specs/llama-block.yaml --preset=llama-1b --sweep=S=16,1000,2048 --device-model=mi300x,h200 --json"), 0);
    json_t *all = parsed();
    ck_assert_uint_eq(json_array_size(all), 6);
    for (int i = 0; i < 6; i++) {
        const json_t *p = json_array_get(all, (size_t)i), *level;
        ck_assert_str_eq(json_string_value(json_object_get(p, "device")), i % 2 ? "h200" : "mi300x");
        ck_assert_int_eq(
            tfgen("explain specs/llama-block.yaml --preset=llama-1b --dim=S=%d --device-model=%s --no-code --fusion=tile --json",
                  (int)number(p, "S"), i % 2 ? "h200" : "mi300x"),
            0);
        json_t *explained = parsed();
        level = json_array_get(json_object_get(explained, "levels"), 0);
        ck_assert_double_eq_tol(number(p, "predicted_seconds"), number(level, "predicted_seconds"), 1e-12);
        ck_assert_double_eq_tol(number(p, "floor_seconds"), number(level, "floor_seconds"), 1e-12);
        ck_assert_double_eq(number(p, "launches"), number(level, "launches"));
        json_decref(explained);
    }
    json_decref(all);
}
END_TEST

START_TEST(a_sweep_doubles_and_lists)
{
    ck_assert_int_eq(tfgen("predict specs/rmsnorm.yaml --sweep=S=3,16..100 --device-model=h200 --json"), 0);
    json_t *all = parsed();
    static const int values[] = {3, 16, 32, 64};
    ck_assert_uint_eq(json_array_size(all), 4);
    for (int i = 0; i < 4; i++) ck_assert_double_eq(number(json_array_get(all, (size_t)i), "S"), values[i]);
    json_decref(all);
    ck_assert_int_eq(tfgen("predict specs/rmsnorm.yaml"), 0);
    says("times that are predicted");
    says("rx9070xt");
}
END_TEST

/* Two recorded runs of an H200, at S of 64 and 128; expected errors are computed from the predicted times. */
START_TEST(measured_times_are_shown_with_their_error)
{
    char path[] = "/tmp/tfgen-measured-XXXXXX";
    const int file = mkstemp(path);
    const double seconds[] = {4e-6, 10e-6};
    dprintf(file, "{\"record\": 1, \"tfgen\": \"x\", \"runs\": [");
    for (int i = 0; i < 2; i++)
        dprintf(file,
                "%s{\"block\": \"rmsnorm\", \"dtype\": \"bf16\", \"fusion\": \"tile\", \"label\": \"NVIDIA H200\", \"target\": \"sm_90a\", "
                "\"dims\": {\"B\": 1, \"S\": %d, \"D\": 256}, \"graph\": true, \"launches\": [], \"samples\": [%g, %g, %g]}",
                i ? ", " : "", 64 << i, seconds[i] * 0.9, seconds[i], seconds[i] * 1.2);
    dprintf(file, "]}");
    close(file);
    ck_assert_int_eq(tfgen("predict specs/rmsnorm.yaml --sweep=S=64,128,256 --device-model=h200,h100 --measured=%s --json", path), 0);
    json_t *all = parsed();
    double errors[2];
    for (int i = 0; i < 2; i++) {
        const json_t *p = json_array_get(all, (size_t)(2 * i));
        ck_assert_double_eq(number(p, "measured_seconds"), seconds[i]);
        errors[i] = (number(p, "predicted_seconds") + 3e-6) / seconds[i] - 1; /* 3 us: starting a graph replay */
        ck_assert_double_eq_tol(number(p, "error"), errors[i], 1e-12);
        ck_assert_ptr_null(json_object_get(json_array_get(all, (size_t)(2 * i + 1)), "measured_seconds")); /* an H100 was not measured */
    }
    json_decref(all);
    ck_assert_int_eq(tfgen("predict specs/rmsnorm.yaml --sweep=S=64,128,256 --device-model=h200 --measured=%s", path), 0);
    char line[160];
    const int worst = fabs(errors[1]) > fabs(errors[0]);
    snprintf(line, sizeof line, "2 measured: median error %.1f %%, worst %+.1f %% (h200, S=%d)", 50 * (fabs(errors[0]) + fabs(errors[1])),
             100 * errors[worst], 64 << worst);
    says(line);
    ck_assert_int_eq(tfgen("predict specs/linear.yaml --device-model=h200 --measured=%s", path), 0);
    says("no run of specs/linear.yaml at these dims is among the recorded ones");
    unlink(path);
}
END_TEST

START_TEST(predict_refuses_what_it_cannot_do)
{
    static const char *const wrong[] = {"S", "=5", "S=", "S=0", "S=a", "S=5;6", "S=1..", "S=1,,2",
                                        "S=1..9223372036854775807,1,1", "S=9223372036854775808"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(tfgen("predict specs/rmsnorm.yaml '--sweep=%s'", wrong[i]) == 2, "%s: %s", wrong[i], output);
        says("is not DIM=V,V,... or DIM=V..V (doubling), at most 64 values");
    }
    ck_assert_int_eq(tfgen("predict specs/rmsnorm.yaml --device-model=host"), 2);
    says("host has no bandwidth");
    ck_assert_int_eq(tfgen("predict specs/rmsnorm.yaml --device-model=h201"), 2);
    says("did you mean 'h200'");
    ck_assert_int_eq(tfgen("predict specs/rmsnorm.yaml --sweep=Q=5"), 2);
    ck_assert_int_eq(tfgen("predict specs/rmsnorm.yaml --measured=/nowhere"), 3);
    ck_assert_int_eq(tfgen("predict specs/rmsnorm.yaml specs/linear.yaml"), 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("predict command");
    TCase *command = tcase_create("command");
    tcase_add_test(command, predict_and_explain_agree_at_each_size);
    tcase_add_test(command, a_sweep_doubles_and_lists);
    tcase_add_test(command, measured_times_are_shown_with_their_error);
    tcase_add_test(command, predict_refuses_what_it_cannot_do);
    suite_add_tcase(suite, command);
    return run_suite(suite);
}
