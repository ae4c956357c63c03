/* Views and copies: reshapes, splits, concats, heads as an axis of their own. Each file of tests/specs/views/ is right at every level, on a
 * CPU's geometry and on those of GPUs, by the float64 reference; every stored value is compared. */
#include "tests/support.h"
#include <glob.h>
#include <stdlib.h>

static glob_t specs;

static const char *const machines[] = {"--target=host --dtype=f32", "--target=gfx942 --dtype=bf16", "--target=gfx1100 --dtype=f16",
                                       "--target=sm_90a --dtype=bf16"};
enum { machine_count = sizeof machines / sizeof *machines };

START_TEST(views_and_copies_are_right_at_every_level)
{
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    arena *a = arena_new();
    const char *command = arena_printf(a, "%s verify %s --fusion=all %s --quiet", program, specs.gl_pathv[_i / machine_count],
                                       machines[_i % machine_count]);
    ck_assert_msg(system(command) == 0, "%s", command);
    arena_free(a);
}
END_TEST

int main(void)
{
    if (glob("tests/specs/views/*.yaml", 0, NULL, &specs) != 0) return EXIT_FAILURE;
    Suite *s = suite_create("views");
    TCase *t = tcase_create("views");
    tcase_set_timeout(t, 120);
    suite_add_tcase(s, t);
    /* Each spec as the host has it, and in the geometry of one of the GPUs in turn. */
    TCase *more = suite_long(s, "more views", 120);
    for (int i = 0; i < (int)specs.gl_pathc * machine_count; i++) {
        const int spec = i / machine_count, machine = i % machine_count;
        tcase_add_loop_test(machine == 0 || machine == 1 + spec % (machine_count - 1) ? t : more,
                            views_and_copies_are_right_at_every_level, i, i + 1);
    }
    const int failed = run_suite(s);
    globfree(&specs);
    return failed;
}
