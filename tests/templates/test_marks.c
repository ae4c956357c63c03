/* Marks by which the phases of a launch wait for each other (templates/frame/marks.h): a launch with a wait that took too long ends, says
 * so, and leaves nothing to the next one but that report. */
#include "tests/templates/kernels_under.h"

enum { groups = 3, head = 16, pitch = 16, phases = 2, word_count = head + (phases + 2) * pitch };

static const unsigned long long none = 0x4e0793f8c26bull; /* marks::none */

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

static void launch_phases(host_module *m, bool cooperative, marks_args *p)
{
    const host_launch_dims dims = {.grid = {groups}, .block = {4}, .shared_bytes = 64, .cooperative = cooperative};
    launch_ok(m, "both_phases", dims, p);
}
static void run_phases(host_module *m, marks_args *p) { launch_phases(m, true, p); }

static marks_args fresh(int slow)
{
    marks_args p = {.words = memory(word_count * sizeof *p.words, "words"), .numbers = memory(groups * sizeof *p.numbers, "numbers"),
                    .sums = memory(groups * sizeof *p.sums, "sums"), .first = 10, .slow = slow};
    memset(p.words, 0xa5, word_count * sizeof *p.words); /* marks need no initial values */
    return p;
}

static void marks_are_clear(const marks_args *p)
{
    ck_assert_msg(p->words[1] == 0, "%llx", p->words[1]);
    ck_assert_msg(p->words[2] == none, "%llx", p->words[2]);
    for (int i = 0; i <= phases + 1; i++)
        ck_assert_msg(p->words[head + i * pitch] == none, "mark %d is %llx", i, p->words[head + i * pitch]);
}

static void sums_are_right(const marks_args *p, int fewer)
{
    const int numbers = groups - fewer;
    for (int i = 0; i < groups; i++) ck_assert_int_eq(p->sums[i], numbers * p->first + numbers * (numbers - 1) / 2);
}

/* Memory of the marks may hold anything, for example what another call left there, which may end within a mark. */
START_TEST(marks_work_in_memory_with_any_content)
{
    host_module *m = module_of(_i == 0 ? HEAD : counted(_i == 2, ""));
    marks_args p = fresh(-1);
    for (size_t bytes = 0; bytes <= 2 * sizeof *p.words; bytes++)
        for (int i = 0; i <= phases + 1; i++) {
            memset(&p.words[head + i * pitch], 0xff, bytes);
            p.first += 100;
            run_phases(m, &p);
            sums_are_right(&p, _i == 2);
            marks_are_clear(&p);
        }
    host_module_free(m);
}
END_TEST

/* Once for the first workgroup, which clears the marks, and once for another one. */
START_TEST(a_launch_after_one_whose_wait_timed_out_is_right)
{
    const unsigned long long late = 1ull << 63 | 1ull << 56 | 0x93f8c26bu; /* phase 1 waited for phase 0 */
    host_module *hasty = module_of(HEAD "#define TF_MOST_POLLS 1\n"), *patient = module_of(HEAD);
    marks_args p = fresh(_i);
    run_phases(hasty, &p);
    ck_assert_msg(p.words[0] == late, "%llx", p.words[0]);
    marks_are_clear(&p);
    p.slow = -1;
    for (int i = 0; i < 2; i++) {
        p.first += 100;
        run_phases(patient, &p);
        sums_are_right(&p, 0);
        ck_assert_msg(p.words[0] == late, "the report stays until somebody has read it: %llx", p.words[0]);
        marks_are_clear(&p);
    }
    host_module_free(hasty);
    host_module_free(patient);
}
END_TEST

/* The launch is not cooperative, so the engine runs only as many workgroups at once as it has workers. The early ones give up waiting for
 * the others at once, or after 9 polls; the last one is alone. */
START_TEST(late_workgroups_do_the_work_of_those_that_gave_up)
{
    const int fewer = _i / 2;
    host_module *m = module_of(counted(fewer, _i % 2 ? "#define TF_CENSUS_POLLS 9\n" : "#define TF_CENSUS_POLLS 0\n"));
    marks_args p = fresh(-1);
    for (int i = 0; i < 4; i++) {
        p.first += 100;
        launch_phases(m, false, &p);
        sums_are_right(&p, fewer);
        marks_are_clear(&p);
    }
    host_module_free(m);
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
