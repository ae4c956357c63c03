/* `tfgen devices` and `tfgen doctor` as a person or a script sees them: on this machine, without compilers, and with GPUs of a fake
 * HIP library (tests/doubles). Runs $TFGEN (default ./tfgen). */
#define _GNU_SOURCE
#include "tests/runtime/hip_program.h"
#include "tests/shell.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs $TFGEN with environment variables; stderr is dropped if the output is JSON. */
static int with(const char *variables, const char *arguments)
{
    return shell("env %s ${TFGEN:-./tfgen} %s%s", variables, arguments, strstr(arguments, "--json") ? " 2>/dev/null" : " 2>&1");
}

/* The first check of that name. */
static const char *check_text(json_t *all, const char *name, const char *field)
{
    size_t i;
    json_t *check;
    json_array_foreach(json_object_get(all, "checks"), i, check)
        if (!strcmp(json_string_value(json_object_get(check, "name")), name)) return json_string_value(json_object_get(check, field));
    ck_abort_msg("no check %s in:\n%s", name, output);
}

START_TEST(devices_lists_every_gpu_and_the_host)
{
    ck_assert_int_eq(with("TFGEN_DOUBLE_DEVICES=gfx942,gfx906 TFGEN_LIBCUDA=/nowhere", "devices"), 0);
    says("hip:0    AMD Instinct MI300X                  gfx942:sramecc+:xnack-   gfx942      304");
    says("hip:1    AMD Instinct MI50                    gfx906:sramecc+:xnack-   -            60");
    says("cuda     none: ");
    says("host     this machine's processors");
}
END_TEST

START_TEST(devices_are_json_for_scripts)
{
    ck_assert_int_eq(with("TFGEN_DOUBLE_DEVICES=gfx1100 TFGEN_LIBCUDA=/nowhere", "devices --json"), 0);
    json_t *all = parsed(), *devices = json_object_get(all, "devices"), *first = json_array_get(devices, 0),
           *missing = json_object_get(all, "missing");
    ck_assert_uint_eq(json_array_size(devices), 2);
    ck_assert_str_eq(json_string_value(json_object_get(first, "name")), "hip:0");
    ck_assert_str_eq(json_string_value(json_object_get(first, "target")), "gfx1100");
    ck_assert_int_eq(json_integer_value(json_object_get(first, "units")), 48);
    ck_assert_int_eq(json_integer_value(json_object_get(first, "memory_bytes")), (json_int_t)4 << 30);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(missing, 0), "kind")), "cuda");
    json_decref(all);
}
END_TEST

START_TEST(an_overridden_architecture_is_warned_of)
{
    ck_assert_int_eq(with("TFGEN_DOUBLE_DEVICES=gfx1101 HSA_OVERRIDE_GFX_VERSION=11.0.0", "devices"), 0);
    says("warning: HSA_OVERRIDE_GFX_VERSION=11.0.0");
    says("gfx1100                  gfx1100");
    ck_assert_int_eq(with("TFGEN_DOUBLE_DEVICES=gfx1101 HSA_OVERRIDE_GFX_VERSION=11.0.0", "doctor"), 0);
    says("unset HSA_OVERRIDE_GFX_VERSION");
}
END_TEST

START_TEST(doctor_tries_the_gpu_and_names_what_can_run)
{
    ck_assert_int_eq(with("TFGEN_DOUBLE_DEVICES=gfx90a HIP_VISIBLE_DEVICES=0", "doctor --json"), 0);
    json_t *all = parsed(), *runs_on = json_object_get(all, "runs_on");
    ck_assert(json_is_true(json_object_get(all, "good")));
    ck_assert_str_eq(json_string_value(json_array_get(runs_on, 0)), "hip:0");
    ck_assert_str_eq(json_string_value(json_array_get(runs_on, 1)), "host");
    ck_assert_str_eq(check_text(all, "hip:0", "state"), "good");
    ck_assert_str_eq(check_text(all, "HIPRTC", "state"), "good");
    ck_assert_str_eq(check_text(all, "clang for AMD", "state"), "absent");
    ck_assert(strstr(check_text(all, "environment", "text"), "HIP_VISIBLE_DEVICES=0"));
    ck_assert(strstr(check_text(all, "kernel cache", "text"), "entries"));
    json_decref(all);
}
END_TEST

START_TEST(doctor_reports_a_driver_too_old_for_the_compilers_code)
{
    ck_assert_int_eq(with("TFGEN_DOUBLE_FAULT=hipModuleLoadData:1:209", "doctor"), 0);
    says("the driver does not load HIPRTC API 6.3's code: hipModuleLoadData: hipErrorNoBinaryForGpu");
    says("TFGEN_CLANG=none for its own HIPRTC");
    says("tfgen can run on: host");
}
END_TEST

START_TEST(a_machine_where_nothing_can_run_is_exit_code_1)
{
    ck_assert_int_eq(with("TFGEN_HOST_CC=/nowhere/clang TFGEN_LIBHIP=/nowhere TFGEN_LIBCUDA=/nowhere TFGEN_CACHE_DIR=", "doctor"), 1);
    says("the host compiler /nowhere/clang");
    says("apt install clang-22 (or any clang from 14 on), or set TFGEN_HOST_CC");
    says("TFGEN_LIBHIP cannot be opened");
    says("set TFGEN_CACHE_DIR to a folder");
    says("nothing can run on this machine");
    ck_assert_int_eq(with("TFGEN_HOST_CC=/nowhere/clang TFGEN_LIBHIP=/nowhere TFGEN_LIBCUDA=/nowhere", "doctor --json"), 1);
    json_t *all = parsed();
    ck_assert(json_is_false(json_object_get(all, "good")));
    ck_assert_str_eq(check_text(all, "host engine", "state"), "bad");
    json_decref(all);
}
END_TEST

static int times(const char *part)
{
    int n = 0;
    for (const char *at = output; (at = strstr(at, part)); at++) n++;
    return n;
}

START_TEST(a_missing_worker_and_a_broken_cache_are_found)
{
    ck_assert_int_eq(with("TFGEN_WORKER=/nowhere/worker TFGEN_CACHE_DIR=/proc/nowhere", "doctor"), 0);
    ck_assert_int_eq(times("\nbad "), 1); /* the cache's; the worker's "bad" is on the first line, which has no newline before it */
    ck_assert_int_eq(times("set TFGEN_WORKER"), 1);
    says("HIPRTC");
    says("not tried without tfgen-worker");
    ck_assert_int_eq(with("TFGEN_WORKER=/bin/true TFGEN_LIBHIP=/nowhere", "doctor"), 1);
    says("/bin/true is not the worker of tfgen");
    ck_assert_int_eq(times("\nbad "), 1);
}
END_TEST

/* dlopen() of a pipe would wait for a writer for ever. */
START_TEST(pipes_in_variables_are_refused_and_a_library_that_is_not_there_is_bad)
{
    char folder[] = "/tmp/tfgen-doctor-XXXXXX", variables[1024];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(shell("mkfifo %s/pipe", folder), 0);
    snprintf(variables, sizeof variables,
             "P=%s/pipe; TFGEN_NVRTC=$P TFGEN_HIPRTC=$P TFGEN_LIBHIP=$P TFGEN_LIBCUDA=$P TFGEN_LIBCLANG=/nowhere.so TFGEN_PROFILE=$P "
             "TFGEN_CACHE_DIR=$P", folder);
    ck_assert_int_eq(shell("%s ${TFGEN:-./tfgen} doctor 2>&1", variables), 0);
    ck_assert_int_eq(times("/pipe: it is a named pipe, not a file"), 4);
    says("bad     libclang          /nowhere.so: No such file");
    says("/pipe cannot be written: it is not a folder");
    ck_assert_int_eq(times("tfgen can run on: host"), 1);
    ck_assert_int_eq(shell("rm -r %s", folder), 0);
}
END_TEST

START_TEST(hidden_gpus_are_explained)
{
    ck_assert_int_eq(with("HIP_VISIBLE_DEVICES=-1", "doctor"), 0);
    says("HIP_VISIBLE_DEVICES=-1 hides every GPU");
    says("tfgen can run on: host");
}
END_TEST

int main(int argc, char **argv)
{
    (void)argc;
    if (!use_doubles(argv[0])) return EXIT_FAILURE;
    setenv("TFGEN_LIBCUDA", "/nowhere/libcuda.so", 1);
    Suite *suite = suite_create("doctor");
    TCase *c = tcase_create("command");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, devices_lists_every_gpu_and_the_host);
    tcase_add_test(c, devices_are_json_for_scripts);
    tcase_add_test(c, an_overridden_architecture_is_warned_of);
    tcase_add_test(c, doctor_tries_the_gpu_and_names_what_can_run);
    tcase_add_test(c, doctor_reports_a_driver_too_old_for_the_compilers_code);
    tcase_add_test(c, a_machine_where_nothing_can_run_is_exit_code_1);
    tcase_add_test(c, a_missing_worker_and_a_broken_cache_are_found);
    tcase_add_test(c, pipes_in_variables_are_refused_and_a_library_that_is_not_there_is_bad);
    tcase_add_test(c, hidden_gpus_are_explained);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
