/* `tfgen compare` and `bench --record`: medians and undecided cases, against values computed by hand; the gate's exit codes; files that are
 * not records. No case depends on the speed of this machine. */
#define _GNU_SOURCE
#include "tests/shell.h"
#include "tests/support.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/tfgen-compare-XXXXXX";

/* One run of these samples in microseconds. */
static const char *run_text(const char *block, const char *device, const char *check, const double *samples, int count)
{
    static char text[1 << 16];
    size_t n = (size_t)sprintf(text,
                               "{\"block\": \"%s\", \"dtype\": \"bf16\", \"fusion\": \"tile\", \"label\": \"%s\", \"target\": \"sm_90a\", "
                               "\"dims\": {\"M\": 4}, \"graph\": true, \"check\": %s, \"launches\": [{\"name\": \"k\", \"seconds\": "
                               "{\"median\": %g, \"p10\": %g, \"p90\": %g}}], \"samples\": [",
                               block, device, check, samples[0] * 1e-6, samples[0] * 0.99e-6, samples[0] * 1.01e-6);
    for (int i = 0; i < count; i++) n += (size_t)sprintf(text + n, "%s%.9g", i ? ", " : "", samples[i] * 1e-6);
    strcpy(text + n, "]}");
    return text;
}

static void write_record(const char *name, const char *runs)
{
    static char text[1 << 17];
    snprintf(text, sizeof text, "{\"record\": 1, \"tfgen\": \"x\", \"runs\": [%s]}", runs);
    write_file(folder, name, "%s", text);
}

static void write_samples(const char *name, const double *samples, int count)
{
    write_record(name, run_text("p", "H200", "null", samples, count));
}

static const double eleven[] = {100, 101, 99, 102, 98, 103, 97, 104, 96, 105, 95};

static double number_in(const char *key)
{
    json_t *all = json_loads(output, 0, NULL);
    const double x = json_number_value(json_object_get(json_array_get(all, 0), key));
    json_decref(all);
    return x;
}

/* 11 samples: the median is the 6th; its bounds lie 5 - 0.98 * sqrt(11) = 1.7 ranks from either end, so they are the 2nd and the 10th. */
START_TEST(noise_is_estimated_from_ranks_of_samples)
{
    double half[11];
    for (int i = 0; i < 11; i++) half[i] = eleven[i] / 2;
    write_samples("a", eleven, 11);
    write_samples("b", half, 11);
    ck_assert_int_eq(tfgen("compare %s/a %s/b --json", folder, folder), 0);
    ck_assert_double_eq_tol(number_in("before"), 100e-6, 1e-12);
    ck_assert_double_eq_tol(number_in("after"), 50e-6, 1e-12);
    ck_assert_double_eq_tol(number_in("speedup"), 2, 1e-9);
    ck_assert_double_eq_tol(number_in("speedup_low"), 96 / 52.0, 1e-9);
    ck_assert_double_eq_tol(number_in("speedup_high"), 104 / 48.0, 1e-9);
}
END_TEST

START_TEST(slower_beyond_noise_and_tolerance_fails)
{
    double slower[11];
    for (int i = 0; i < 11; i++) slower[i] = eleven[i] * 1.25;
    write_samples("a", eleven, 11);
    write_samples("b", slower, 11);
    ck_assert_int_eq(tfgen("compare %s/a %s/b", folder, folder), 1);
    says("SLOWER  p bf16 level tile M=4, sm_90a, graph replay");
    says("100.00 us before, 125.00 us after: 0.800 times as fast");
    says("0.950 is wanted");
    says("k: 100.00 us before, 125.00 us after, 0.80 times");
    ck_assert_int_eq(tfgen("compare %s/a %s/b --tolerance=0.3", folder, folder), 0);
    ck_assert_int_eq(tfgen("compare %s/b %s/a --min-speedup=1.1", folder, folder), 0);
    says("good");
    ck_assert_int_eq(tfgen("compare %s/b %s/a --min-speedup=1.6 --tolerance=0.01", folder, folder), 1);
}
END_TEST

START_TEST(differences_within_noise_are_reported_and_fail_only_on_request)
{
    double noisy[11];
    for (int i = 0; i < 11; i++) noisy[i] = 108 + (i - 5) * 8;
    write_samples("a", eleven, 11);
    write_samples("b", noisy, 11);
    ck_assert_int_eq(tfgen("compare %s/a %s/b", folder, folder), 0);
    says("noise");
    ck_assert_int_eq(tfgen("compare %s/a %s/b --strict", folder, folder), 1);
    ck_assert_int_eq(tfgen("compare %s/a %s/a --strict --tolerance=0.1", folder, folder), 0);
}
END_TEST

START_TEST(samples_with_the_same_key_are_pooled)
{
    static char both[1 << 16];
    const double first[] = {10, 10, 10, 10, 10}, second[] = {20, 20, 20, 20, 20};
    strcpy(both, run_text("p", "H200", "null", first, 5));
    strcat(strcat(both, ", "), run_text("p", "H200", "null", second, 5));
    write_record("a", both);
    write_samples("b", first, 5);
    ck_assert_int_eq(tfgen("compare %s/a %s/b --json", folder, folder), 0);
    ck_assert_double_eq_tol(number_in("before"), 15e-6, 1e-12);
}
END_TEST

START_TEST(a_missing_or_wrong_run_fails)
{
    write_samples("a", eleven, 11);
    write_record("b", run_text("q", "H200", "null", eleven, 11));
    ck_assert_int_eq(tfgen("compare %s/a %s/b", folder, folder), 1);
    says("the second record has no such run");
    write_record("b", run_text("p", "H200", "\"BAD: a bound is exceeded\"", eleven, 11));
    ck_assert_int_eq(tfgen("compare %s/a %s/b", folder, folder), 1);
    says("BAD: a bound is exceeded");
    write_record("b", run_text("p", "H200", "\"UNJUDGED: of a value no element is judged\"", eleven, 11));
    ck_assert_int_eq(tfgen("compare %s/a %s/b", folder, folder), 8);
    says("UNJUDGED: of a value no element is judged");
}
END_TEST

START_TEST(a_file_that_is_no_record_is_refused)
{
    static const struct {
        const char *text, *said;
    } files[] =
        {{"", "end of file"},
         {"{\"record\": 1", "/b:1:12: error: "},
         {"[]", "/b: error: this is not a record of runs; bench --record=FILE writes one"},
         {"{\"record\": 2, \"runs\": [{}]}", "this is not a record of runs"},
         {"{\"record\": 1, \"runs\": []}", "this is not a record of runs"},
         {"{\"record\": 1, \"runs\": [5]}", "run 1: it has no block"},
         {"{\"record\": 1, \"runs\": [{\"block\": \"p\", \"dtype\": \"f32\", \"fusion\": \"tile\", \"target\": \"x\", \"label\": \"y\"}]}",
          "run 1: it has no samples"},
         {"{\"record\": 1, \"runs\": [{\"block\": \"p\", \"dtype\": \"f32\", \"fusion\": \"tile\", \"target\": \"x\", \"label\": \"y\", "
          "\"samples\": [1, -2]}]}",
          "run 1: a time is not a positive number"},
         {"{\"record\": 1, \"record\": 1}", "duplicate"}};
    write_samples("a", eleven, 11);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_file(folder, "b", "%s", files[i].text);
        ck_assert_msg(tfgen("compare %s/a %s/b", folder, folder) == 3, "%s\n%s", files[i].text, output);
        says(files[i].said);
    }
    write_record("b", run_text("p", "another GPU", "null", eleven, 11));
    ck_assert_int_eq(tfgen("compare %s/a %s/b", folder, folder), 3);
    says("was recorded on H200 before and on another GPU after");
    ck_assert_int_eq(tfgen("compare %s/a", folder), 2);
    says("compare takes two records");
    ck_assert_int_eq(tfgen("compare %s/a %s/a --min-speedup=fast", folder, folder), 2);
    says("--min-speedup: 'fast' is not a number from 0.001 to 1000");
    ck_assert_int_eq(tfgen("compare %s/a /nowhere", folder), 3);
}
END_TEST

START_TEST(bench_records_what_compare_reads)
{
    ck_assert_int_eq(tfgen("bench specs/l2norm.yaml specs/l2norm.yaml --device=host --dim S=5 --seconds=0.01 --record=%s/r", folder), 0);
    says("whole run");
    char path[128];
    snprintf(path, sizeof path, "%s/r", folder);
    json_t *all = json_load_file(path, 0, NULL), *runs = json_object_get(all, "runs"),
           *samples = json_object_get(json_array_get(runs, 0), "samples");
    ck_assert_uint_eq(json_array_size(runs), 2);
    ck_assert_uint_ge(json_array_size(samples), 5);
    json_decref(all);
    ck_assert_int_eq(tfgen("compare %s/r %s/r --tolerance=0.9", folder, folder), 0);
    says("l2norm bf16 level tile");
    ck_assert_int_eq(tfgen("bench specs/l2norm.yaml --device=host --dim S=5 --seconds=0 --record=/dev/null/r"), 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare");
    TCase *gate = tcase_create("gate"), *files = tcase_create("files");
    if (!mkdtemp(folder)) return 1;
    tcase_add_test(gate, noise_is_estimated_from_ranks_of_samples);
    tcase_add_test(gate, slower_beyond_noise_and_tolerance_fails);
    tcase_add_test(gate, differences_within_noise_are_reported_and_fail_only_on_request);
    tcase_add_test(gate, samples_with_the_same_key_are_pooled);
    tcase_add_test(gate, a_missing_or_wrong_run_fails);
    tcase_add_test(files, a_file_that_is_no_record_is_refused);
    tcase_add_test(files, bench_records_what_compare_reads);
    suite_add_tcase(suite, gate);
    suite_add_tcase(suite, files);
    const int result = run_suite(suite);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) ? 1 : result;
}
