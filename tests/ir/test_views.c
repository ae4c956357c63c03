/* Views and copies: reshapes, splits, concats, heads as a separate axis. Each spec of tests/specs/views/ matches the float64 reference at
 * every level, in a CPU's geometry and in those of GPUs; every stored value is compared. */
#include "tests/support.h"
#include <glob.h>
#include <stdlib.h>

static glob_t specs;

static const char *const machines[] = {"--target=host --dtype=f32", "--target=gfx942 --dtype=bf16", "--target=gfx1100 --dtype=f16",
                                       "--target=sm_90a --dtype=bf16"};
enum { machine_count = sizeof machines / sizeof *machines };

static void verify(int spec, int machine, const char *level)
{
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    arena *a = arena_new();
    const char *command = arena_printf(a, "%s verify %s --fusion=%s %s --quiet", program, specs.gl_pathv[spec], level, machines[machine]);
    ck_assert_msg(system(command) == 0, "%s", command);
    arena_free(a);
}

START_TEST(views_and_copies_are_right_at_every_level) { verify(_i / machine_count, _i % machine_count, "all"); }
END_TEST

/* `make test` runs each spec at all levels on the host, and at level tile in the geometry of one of the three GPUs, which take turns. */
START_TEST(fused_views_are_right_in_the_geometry_of_a_gpu) { verify(_i, 1 + _i % (machine_count - 1), "tile"); }
END_TEST

/* Values that begin, or have rows, at odd elements: misaligned vectors fault on a GPU but not on this processor. And columns of pairs that
 * are in different vectors because the user wants vectors of one column. */
static const char *const odd[] = {"tests/specs/views/a-joined-operand-of-products.yaml --target=sm_90a",
                                  "tests/specs/checked/odd-queries.yaml --target=sm_80",
                                  "tests/specs/views/ropes-of-odd-heads.yaml --target=sm_90a --tile='even: v=1'"};
START_TEST(no_vector_is_misaligned)
{
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    arena *a = arena_new();
    const char *command = arena_printf(a, "%s run %s --check --repeat=0 >/dev/null", program, odd[_i]);
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
    tcase_add_loop_test(t, fused_views_are_right_in_the_geometry_of_a_gpu, 0, (int)specs.gl_pathc);
    tcase_add_loop_test(t, no_vector_is_misaligned, 0, sizeof odd / sizeof *odd);
    TCase *more = suite_long(s, "more views", 120);
    for (int i = 0; i < (int)specs.gl_pathc * machine_count; i++)
        tcase_add_loop_test(i % machine_count == 0 ? t : more, views_and_copies_are_right_at_every_level, i, i + 1);
    const int failed = run_suite(s);
    globfree(&specs);
    return failed;
}
