/* Launches of two phases by hand, the second of which adds up what all workgroups of the first stored: tests that hold however the phases
 * wait for each other. */
#ifndef TEST_TWO_PHASES_H
#define TEST_TWO_PHASES_H
#include "tests/templates/kernels_under.h"

enum { groups = 3, head = 16, pitch = 16, phases = 2, word_count = head + (phases + 2) * pitch };

static const unsigned long long none = 0x4e0793f8c26bull; /* marks::none */

/* The kernel's arguments, and the members that each kernel of these tests has. */
typedef struct two_phases {
    void *args;
    int threads, *first, *slow;      /* first: what workgroup 0 stores; slow: the workgroup that waits for a report of lateness */
    const unsigned long long *words; /* the marks */
    void (*check)(const void *args, int fewer); /* that sums are right and marks are clear. fewer: TF_FEWER */
} two_phases;

static inline void launch_two(const two_phases *x, host_module *m, bool cooperative)
{
    const host_launch_dims dims = {.grid = {groups}, .block = {x->threads}, .shared_bytes = 64, .cooperative = cooperative};
    *x->first += 100;
    launch_ok(m, "both_phases", dims, x->args);
}

/* The sum of first, first + 1, ..., of all workgroups but `fewer`. */
static inline int sum_from(int first, int fewer) { return (groups - fewer) * first + (groups - fewer) * (groups - fewer - 1) / 2; }

static inline void marks_are_none(const unsigned long long *words)
{
    ck_assert_msg(words[1] == 0 && words[2] == none, "%llx %llx", words[1], words[2]);
    for (int i = 0; i <= phases + 1; i++) ck_assert_msg(words[head + i * pitch] == none, "mark %d: %llx", i, words[head + i * pitch]);
}

/* The launch is not cooperative, so the engine runs only as many workgroups at once as it has workers. The early ones give up waiting for
 * the others at once, or after a few polls; the last one is alone. */
static inline void late_workgroups_do_it_all(const two_phases *x, host_module *m, int fewer)
{
    for (int i = 0; i < 4; i++) {
        launch_two(x, m, false);
        x->check(x->args, fewer);
    }
    host_module_free(m);
}

/* In the first launch, of module `hasty`, a wait takes too long, which `late` reports. The report stays until somebody has read it. */
static inline void right_after_a_late_one(const two_phases *x, host_module *hasty, host_module *patient, unsigned long long late)
{
    launch_two(x, hasty, true);
    ck_assert_msg(x->words[0] == late, "%llx", x->words[0]);
    marks_are_none(x->words);
    *x->slow = -1;
    for (int i = 0; i < 2; i++) {
        launch_two(x, patient, true);
        x->check(x->args, 0);
        ck_assert_msg(x->words[0] == late, "%llx", x->words[0]);
    }
    host_module_free(hasty);
    host_module_free(patient);
}
#endif
