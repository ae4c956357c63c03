/* The checks of the tree itself: tests/run.sh reports and counts every failure of `make test`, whatever runs in parallel; documents agree
 * and refer only to things that exist; dependencies of files go downward, without cycles. */
#define _GNU_SOURCE
#include "tests/shell.h"
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char folder[64];

static void program(const char *name, const char *script)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_file(folder, name, "#!/bin/sh\n%s\n", script);
    ck_assert_int_eq(chmod(path, 0755), 0);
}

static void make_folder(void)
{
    strcpy(folder, "/tmp/tfgen-harness-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    program("test_a", "echo '100%: Checks: 5, Failures: 0, Errors: 0'");
    program("test_b", "echo 'skipped: no such device'; echo '100%: Checks: 2, Failures: 0, Errors: 0'");
}
static void remove_folder(void) { ck_assert_int_eq(shell("rm -rf %s", folder), 0); }

static int run(const char *programs, int jobs)
{
    return shell("cd %s && JOBS=%d sh \"$OLDPWD/tests/run.sh\" . %s 2>&1", folder, jobs, programs);
}

START_TEST(suites_are_shown_when_they_end_however_many_run_at_once)
{
    make_folder();
    program("test_c", "while [ ! -e shown ]; do sleep 0.01; done; echo '100%: Checks: 1, Failures: 0, Errors: 0'");
    program("test_d", "echo '100%: Checks: 1, Failures: 0, Errors: 0'");
    for (int jobs = 2; jobs < 6; jobs++) {
        /* test_c ends only once the result of test_d is visible */
        ck_assert_int_eq(shell("cd %s && rm -f shown && JOBS=%d sh \"$OLDPWD/tests/run.sh\" . ./test_c ./test_d ./test_a ./test_b 2>&1 | "
                               "while read -r line; do echo \"$line\"; case $line in test_d*) : >shown ;; esac; done", folder, jobs), 0);
        says("tests: 9 passed, 0 failed, 1 skipped\n");
        const char *const c = strstr(output, "test_c "), *const d = strstr(output, "test_d ");
        ck_assert(c && d && d < c);
    }
    remove_folder();
}
END_TEST

START_TEST(failed_checks_killed_suites_and_silent_ones_all_fail)
{
    static const struct {
        const char *script, *count;
    } cases[] = {{"echo seen; echo '66%: Checks: 3, Failures: 1, Errors: 0'; exit 1", "9 passed, 1 failed"},
                 {"echo seen; kill -9 $$", "7 passed, 1 failed"},
                 {"echo seen; echo '100%: Checks: 3, Failures: 0, Errors: 0'; exit 3", "10 passed, 1 failed"},
                 {"echo seen; exit 1", "7 passed, 1 failed"}};
    make_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int jobs = 1; jobs < 4; jobs++) {
            program("test_x", cases[i].script);
            ck_assert_msg(run("./test_a ./test_x ./test_b", jobs) == 1, "%s", output);
            says(cases[i].count);
            says("---- test_x");
            says("seen");
        }
    ck_assert_int_eq(run("./test_nowhere", 2), 1);
    ck_assert_int_eq(run("", 2), 1); /* nothing ran: nothing is proven */
    remove_folder();
}
END_TEST

/* The README's figures are generated from those in docs, so the two agree. */
START_TEST(the_readme_tells_the_figures_that_the_documents_have)
{
    ck_assert_msg(shell("sh tests/figures.sh 2>&1") == 0, "%s", output);
    make_folder();
    ck_assert_int_eq(
        shell(
            "mkdir %s/tests %s/docs && cp tests/figures.sh %s/tests && cp docs/performance.md %s/docs && sed 's/times as fast as "
            "cuBLAS/times faster/' "
            "README.md >%s/README.md && sh %s/tests/figures.sh",
            folder, folder, folder, folder, folder, folder),
        1);
    says("times as fast as cuBLAS");
    remove_folder();
}
END_TEST

START_TEST(the_tour_shows_what_the_command_prints)
{
    const char *tfgen = getenv("TFGEN");
    ck_assert_msg(shell("python3 tests/tour.py %s 2>&1", tfgen ? tfgen : "./tfgen") == 0, "%s", output);
    make_folder();
    ck_assert_int_eq(shell("mkdir %s/docs && cp -r specs %s && sed 's/ stages=5 group_m=16/ stages=6 group_m=16/; s/op: silu/op: relu/' "
                           "docs/architecture.md >%s/docs/architecture.md && ROOT=%s python3 tests/tour.py %s 2>&1",
                           folder, folder, folder, folder, tfgen ? tfgen : "./tfgen"),
                     1);
    says("but tfgen has not: tile layer=wgmma m=64 n=256 k=64 threads=384 stages=6");
    says("but specs/llama-block.yaml has not: - {out: act, op: relu");
    remove_folder();
}
END_TEST

START_TEST(the_readme_has_the_launches_of_each_family)
{
    const char *tfgen = getenv("TFGEN");
    ck_assert_msg(shell("python3 tests/launches.py %s 2>&1", tfgen ? tfgen : "./tfgen") == 0, "%s", output);
    make_folder();
    ck_assert_int_eq(shell("mkdir %s/tests && cp -r tests/models %s/tests && "
                           "printf '| launches | families |\\n|---|---|\\n| 7, 5 | Qwen 3 |\\n' >%s/README.md && "
                           "ROOT=%s python3 tests/launches.py %s 2>&1",
                           folder, folder, folder, folder, tfgen ? tfgen : "./tfgen"),
                     1);
    says("README.md says 7, 5 launches of Qwen 3; planned are 7, 6");
    remove_folder();
}
END_TEST

/* ---- tests/circles.py */
START_TEST(files_call_downward_and_in_no_circle_that_is_not_listed)
{
    const char *tfgen = getenv("TFGEN");
    const int length = tfgen && strrchr(tfgen, '/') ? (int)(strrchr(tfgen, '/') - tfgen) : 0;
    ck_assert_msg(shell("python3 tests/circles.py %.*s 2>&1", length ? length : 13, length ? tfgen : "build/default") == 0, "%s", output);
}
END_TEST

/* A file of a small tree that calls functions, and its object. */
static void source(const char *name, const char *text)
{
    ck_assert_msg(
        shell("cd %s && mkdir -p $(dirname %s) $(dirname build/%s) tests && echo '%s' >%s.c && ${CC:-cc} -c -o build/%s.o %s.c 2>&1",
              folder, name, name, text, name, name, name) == 0,
        "%s", output);
}

static int circles(const char *option) { return shell("ROOT=%s python3 tests/circles.py %s/build %s 2>&1", folder, folder, option); }

START_TEST(a_new_circle_a_larger_one_and_a_call_that_goes_up_are_refused)
{
    make_folder();
    source("ir/base/one", "void two(void); void one(void) { two(); }");
    source("ir/base/two", "void two(void) {}");
    source("gen/plan", "void one(void); void plan(void) { one(); }");
    ck_assert_msg(circles("") == 0, "%s", output);
    source("ir/base/two", "void one(void); void two(void) { one(); }");
    ck_assert_int_eq(circles(""), 1);
    says("a circle of 2 files: ir/base/one ir/base/two");
    ck_assert_int_eq(circles("--write"), 0);
    source("ir/read/three", "void one(void); void three(void) { one(); }");
    ck_assert_msg(circles("") == 0, "%s", output);
    source("ir/base/two", "void three(void); void two(void) { three(); }");
    ck_assert_int_eq(circles(""), 1);
    says("a circle of 3 files: ir/base/one ir/base/two ir/read/three");
    says("a circle of 2 folders: ir/base ir/read");
    source("ir/base/two", "void two(void) {}");
    ck_assert_int_eq(circles(""), 0);
    says("of the 2 files listed with ir/base/one, 0 are in a circle now");
    source("ir/base/two", "void plan(void); void two(void) { plan(); }");
    ck_assert_int_eq(circles(""), 1);
    says("ir/base/two calls plan() of gen/plan, which is not below it");
    remove_folder();
}
END_TEST

START_TEST(the_reference_shares_no_code_with_what_it_judges)
{
    make_folder();
    source("ir/reference/ref", "void half(void); void ref(void) { half(); }");
    source("ir/base/half", "void half(void) {}");
    source("ir/fuse/shape", "void shape(void) {}");
    source("runtime/cli/trial", "void ref(void); void trial(void) { ref(); }");
    ck_assert_msg(circles("") == 0, "%s", output);
    source("ir/reference/ref", "void shape(void); void ref(void) { shape(); }");
    ck_assert_int_eq(circles(""), 1);
    says("ir/reference/ref calls shape() of ir/fuse/shape, which is not below it");
    source("ir/reference/ref", "void ref(void) {}");
    source("gen/emit", "void ref(void); void emit(void) { ref(); }");
    ck_assert_int_eq(circles(""), 1);
    says("gen/emit calls ref() of ir/reference/ref: only the command judges");
    remove_folder();
}
END_TEST

/* ---- tests/width.py */
START_TEST(a_line_that_is_wider_than_the_limit_is_refused_in_code_and_documents)
{
    make_folder();
    ck_assert_int_eq(
        shell(
            "cd %s && echo 'ColumnLimit: 20' >.clang-format && echo 'int one = 1234567890;' >one.c && echo 'some words that go on' "
            ">one.md && "
            "printf 'int one = 1;\\nint a_rather_long_name;\\n' >two.c && printf '| a row | of a table |\\n[a](https://long.example)\\n"
            "' >two.md && "
            "echo 'int one; ' >white.c && printf '\\tint one;\\n' >tab.c",
            folder),
        0);
    ck_assert_msg(shell("ROOT=%s python3 tests/width.py two.c two.md 2>&1", folder) == 1, "%s", output);
    says("two.c:2: 23 columns, 20 are allowed");
    ck_assert_ptr_null(strstr(output, "two.md"));
    static const char *const others[] = {"one.c:1: 21 columns, 20", "one.md:1: 21 columns, 20", "white.c:1: ends in white space",
                                         "tab.c:1: a tab"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_int_eq(shell("ROOT=%s python3 tests/width.py %.*s 2>&1", folder, (int)strcspn(others[i], ":"), others[i]), 1);
        says(others[i]);
    }
    remove_folder();
}
END_TEST

/* ---- tests/paths.py */
START_TEST(comments_and_documents_name_existing_files_and_functions)
{
    ck_assert_msg(shell("python3 tests/paths.py 2>&1") == 0, "%s", output);
}
END_TEST

START_TEST(a_path_a_function_a_heading_or_a_link_that_is_gone_is_refused)
{
    make_folder();
    ck_assert_int_eq(shell("cd %s && mkdir ir docs && echo '/* one() of ir/one.c, ir/*.c, ir/NAME.c, one.c (docs/all.md: One) */ int one;' "
                           ">ir/one.c && echo '# One\n[here](#one) [there](all.md#one) [far](https://x.example)' >docs/all.md",
                           folder),
                     0);
    ck_assert_msg(shell("ROOT=%s python3 tests/paths.py 2>&1", folder) == 0, "%s", output);
    static const struct {
        const char *comment, *says;
    } cases[] = {{"ir/two.c", "ir/one.c:2: names ir/two.c, which is not there"}, {"see two.c", "names two.c, which is not there"},
                 {"two() does it", "names two(), which is not there"},           {"ir/t*.c", "names ir/t*.c, which is not there"},
                 {"(docs/all.md: Two)", "docs/all.md has no heading 'Two'"},     {"(docs/two.md)", "names docs/two.md, which is not"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(shell("cd %s && echo 'int one;\n/* %s */' >ir/one.c", folder, cases[i].comment), 0);
        ck_assert_int_eq(shell("ROOT=%s python3 tests/paths.py 2>&1", folder), 1);
        says(cases[i].says);
    }
    ck_assert_int_eq(shell("cd %s && echo 'int one;' >ir/one.c && echo '[gone](two.md) [head](#two)' >docs/all.md", folder), 0);
    ck_assert_int_eq(shell("ROOT=%s python3 tests/paths.py 2>&1", folder), 1);
    says("docs/all.md:1: a link to two.md, which is not there");
    says("a link to #two, and docs/all.md has no such heading");
    remove_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("harness");
    TCase *c = tcase_create("run.sh");
    tcase_add_test(c, suites_are_shown_when_they_end_however_many_run_at_once);
    tcase_add_test(c, failed_checks_killed_suites_and_silent_ones_all_fail);
    tcase_add_test(c, the_readme_tells_the_figures_that_the_documents_have);
    tcase_add_test(c, the_tour_shows_what_the_command_prints);
    tcase_add_test(c, the_readme_has_the_launches_of_each_family);
    tcase_add_test(c, files_call_downward_and_in_no_circle_that_is_not_listed);
    tcase_add_test(c, a_new_circle_a_larger_one_and_a_call_that_goes_up_are_refused);
    tcase_add_test(c, the_reference_shares_no_code_with_what_it_judges);
    tcase_add_test(c, a_line_that_is_wider_than_the_limit_is_refused_in_code_and_documents);
    tcase_add_test(c, comments_and_documents_name_existing_files_and_functions);
    tcase_add_test(c, a_path_a_function_a_heading_or_a_link_that_is_gone_is_refused);
    tcase_set_timeout(c, 120);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
