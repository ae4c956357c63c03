/* docs/course: its pages show what the commands print (tests/course.py), and that check notices pages that do not. */
#include "tests/shell.h"
#include "tests/support.h"
#include <check.h>
#include <stdlib.h>

START_TEST(the_course_shows_what_commands_print)
{
    ck_assert_msg(shell("exec 2>&1; TFGEN_GOLDEN_UPDATE=${TFGEN_GOLDEN_UPDATE:-0} exec python3 tests/course.py") == 0, "%s", output);
    says(" 0 wrong");
}
END_TEST

START_TEST(a_page_that_is_wrong_is_named_with_its_line)
{
    static const struct {
        const char *page, *says;
    } pages[] = {{"```console\\n$ echo one; echo two\\none\\nthree\\n```\\n", "line 2 of the page: three\n  is printed as:      two"},
                 {"```console\\n$ echo one\\none\\ntwo\\n```\\n", "line 2 of the page: two\n  is printed as:      None"},
                 {"```console\\n$ echo one; false\\none\\n```\\n", "exit code 1"},
                 {"```console\\n$ false | true\\n```\\n", "exit code 1"},
                 {"```text\\n$ echo one\\n```\\n", "no command"}};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        ck_assert_int_eq(shell("exec 2>&1; p=$(mktemp); printf '%%b' '%s' >$p; TFGEN_GOLDEN_UPDATE= python3 tests/course.py $p; code=$?; "
                               "rm $p; exit $code", pages[i].page), 1);
        says(pages[i].says);
    }
    ck_assert_int_eq(shell("exec 2>&1; d=$(mktemp -d); printf '# 1\\n![a](a.svg)\\n```console\\n$ echo one\\none\\n```\\n' >$d/01-a.md; "
                           "TFGEN_GOLDEN_UPDATE= python3 tests/course.py $d/01-a.md; code=$?; rm -r $d; exit $code"), 1);
    says("a.svg\n"), says(": no two pictures\n"), says(": no task to write\n"), says(": no solution with a command\n");
    ck_assert_int_eq(shell("exec 2>&1; python3 tests/course.py /no/page.md"), 1);
    ck_assert_str_eq(output, "/no/page.md: No such file or directory\n1 pages, 0 commands, 0 passed over, 1 wrong\n");
    ck_assert_int_eq(shell("exec 2>&1; p=$(mktemp); printf '```console\\n$ echo one\\ntwo\\n```\\n' >$p; "
                           "python3 tests/course.py --update $p; code=$?; cat $p; rm $p; exit $code"), 0);
    says("```console\n$ echo one\none\n```\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("course");
    TCase *c = tcase_create("course");
    tcase_set_timeout(c, 900);
    tcase_add_test(c, the_course_shows_what_commands_print);
    tcase_add_test(c, a_page_that_is_wrong_is_named_with_its_line);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
