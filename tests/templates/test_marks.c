/* Marks by which the phases of a launch wait for each other (templates/frame/marks.h): a launch with a wait that took too long ends, says
 * so, and leaves nothing to the next one but that report. */
#include "tests/templates/two_phases.h"

typedef struct marks_args {
    unsigned long long *words;
    int *numbers, *sums, first, slow;
} marks_args;

#define HOST "#define TF_TARGET_HOST 1\n#define TF_WAVE 1\n"
#define HEAD HOST "#define TF_COUNTED false\n#define TF_FEWER 0\n"
static const char *counted(int fewer, const char *more)
{
    static char text[256];
    snprintf(text, sizeof text, HOST "#define TF_COUNTED true\n#define TF_FEWER %d\n%s", fewer, more);
    return text;
}
static host_module *module_of(const char *head_text)
{
    const char *const templates[] = {"templates/frame/frame_list.h"};
    return kernels_under(head_text, templates, 1, "tests/templates/marks.hip");
}

static marks_args fresh(int slow)
{
    marks_args p = {.words = memory(word_count * sizeof *p.words, "words"), .numbers = memory(groups * sizeof *p.numbers, "numbers"),
                    .sums = memory(groups * sizeof *p.sums, "sums"), .first = 10, .slow = slow};
    memset(p.words, 0xa5, word_count * sizeof *p.words); /* marks need no initial values */
    return p;
}

static void check(const void *args, int fewer)
{
    const marks_args *p = args;
    for (int i = 0; i < groups; i++) ck_assert_int_eq(p->sums[i], sum_from(p->first, fewer));
    marks_are_none(p->words);
}

static two_phases phases_of(marks_args *p)
{
    return (two_phases){.args = p, .threads = 4, .first = &p->first, .slow = &p->slow, .words = p->words, .check = check};
}

/* Memory of the marks may hold anything, for example what another call left there, which may end within a mark. */
START_TEST(marks_work_in_memory_with_any_content)
{
    host_module *m = module_of(_i == 0 ? HEAD : counted(_i == 2, ""));
    marks_args p = fresh(-1);
    const two_phases both = phases_of(&p);
    for (size_t bytes = 0; bytes <= 2 * sizeof *p.words; bytes++)
        for (int i = 0; i <= phases + 1; i++) {
            memset(&p.words[head + i * pitch], 0xff, bytes);
            launch_two(&both, m, true);
            check(&p, _i == 2);
        }
    host_module_free(m);
}
END_TEST

/* Once for the first workgroup, which clears the marks, and once for another one. */
START_TEST(a_launch_after_one_whose_wait_timed_out_is_right)
{
    const unsigned long long late = 1ull << 63 | 1ull << 56 | 0x93f8c26bu; /* phase 1 waited for phase 0 */
    marks_args p = fresh(_i);
    const two_phases both = phases_of(&p);
    right_after_a_late_one(&both, module_of(HEAD "#define TF_MOST_POLLS 1\n"), module_of(HEAD), late);
}
END_TEST

START_TEST(late_workgroups_do_the_work_of_those_that_gave_up)
{
    marks_args p = fresh(-1);
    const two_phases both = phases_of(&p);
    const char *polls = _i % 2 ? "#define TF_CENSUS_POLLS 9\n" : "#define TF_CENSUS_POLLS 0\n";
    late_workgroups_do_it_all(&both, module_of(counted(_i / 2, polls)), _i / 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("marks");
    TCase *t = tcase_create("waits");
    tcase_add_checked_fixture(t, open_engine, close_engine);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, marks_work_in_memory_with_any_content, 0, 3);
    tcase_add_loop_test(t, late_workgroups_do_the_work_of_those_that_gave_up, 0, 4);
    tcase_add_loop_test(t, a_launch_after_one_whose_wait_timed_out_is_right, 0, groups);
    suite_add_tcase(s, t);
    return run_suite(s);
}
