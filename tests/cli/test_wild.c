/* A kernel that accesses unmapped memory: each command that runs kernels on the host engine ends with an error that names kernel, op and
 * line, and with its exit code; earlier measurements are kept. The fault is planted between the emitter and the compiler. */
#define _GNU_SOURCE
#include "runtime/cli/cli.h"
#include "tests/shell.h"
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];
static void make_folder(void)
{
    strcpy(folder, "/tmp/tfgen-wild-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static void remove_folder(void) { ck_assert_int_eq(shell("rm -r %s", folder), 0); }

/* Makes the kernel read all rows of rmsnorm's x but row 0 from unmapped memory. */
static void plant(void)
{
    use_compiler(folder, "grep -q rmsnorm_n $t && sed -i 's/(p\\.x_ + row/(p.x_ + (row > 0 ? 1ll << 36 : 0) + row/' $t");
}

/* Commands that stop at the first fault. */
static const char *const stopped[] = {"run %s", "run %s --reference=never --repeat=0", "bench %s --device=host --seconds=0",
                                      "bench %s --device=host --seconds=0 --check", "trace %s --device=host --seconds=0 --quiet",
                                      "tune %s --device=host --quiet"};
START_TEST(a_command_that_meets_a_wild_access_names_kernel_op_and_line)
{
    char command[200], trials[100], wisdom[100];
    plant();
    snprintf(trials, sizeof trials, "%s/trials.db", folder);
    setenv("TFGEN_TRIALS", trials, 1);
    setenv("TFGEN_HOST_OPTIMISE", "1", 1); /* at level 0 functions of the templates are not inlined, and the line would be theirs */
    setenv("TFGEN_WISDOM", strcat(strcpy(wisdom, folder), "/wisdom"), 1);
    snprintf(command, sizeof command, stopped[_i], "specs/rmsnorm.yaml --dim=B=1,S=3,D=53");
    ck_assert_msg(tfgen("%s", command) == code_device, "%s: %s", command, output);
    says("specs/rmsnorm.yaml:17:5: error: the device stopped in rmsnorm_n, which computes rmsnorm: fault\n");
    says("memory fault, a read at 0x");
    says("  kernel rmsnorm_n block (1,0,0) thread (0,0,0) wave 0 lane 0\n  at ");
    says("[specs/rmsnorm.yaml:13:10]"); /* x is read there */
}
END_TEST

/* Commands that go on with other work, or report more. */
static const struct {
    const char *command, *says[2];
    tfgen_code code;
} more[] = {
    {"verify %s --dtype=f32,bf16", {"the device stopped in rmsnorm_n", "verify: 0 passed, 2 failed"}, code_check_failed},
    {"table %s --device=host --seconds=0 --grid 'n: threads=64'", {"failed: the device stopped in rmsnorm_n"}, code_device},
    {"bisect %s", {"the host engine stopped the run\n    memory fault, a read at 0x", "out of bounds: read of "}, code_check_failed},
    {"access %s", {"the checker found faults\nout of bounds: read of ", "[specs/rmsnorm.yaml:13:10]"}, code_check_failed},
    {"run %s --check", {"the checker found faults\nout of bounds: read of ", "[specs/rmsnorm.yaml:13:10]"}, code_check_failed},
    {"ablate %s --jobs=1", {"NOT RUN: the device stopped in rmsnorm_n", "no ratio is printed"}, code_check_failed}};
START_TEST(a_command_with_more_cases_reports_the_wild_access_and_goes_on)
{
    char command[200];
    plant();
    snprintf(command, sizeof command, more[_i].command, "specs/rmsnorm.yaml --dim=B=1,S=3,D=53");
    ck_assert_msg(tfgen("%s", command) == (int)more[_i].code, "%s: %s", command, output);
    for (int i = 0; i < 2 && more[_i].says[i]; i++) says(more[_i].says[i]);
}
END_TEST

/* A compiler whose code differs when it writes line tables: its lines would be those of other code, so none are reported. */
START_TEST(source_lines_of_different_code_are_not_reported)
{
    use_compiler(folder, "sed -i 's/(p\\.x_ + row/(p.x_ + (row > 0 ? 1ll << 36 : 0) + row/' $t\n"
                         "case \"$*\" in *-gline-tables-only*) sed -i 's/op_rsqrt(n_me_)/op_rsqrt(n_me_ * 2.0f)/' $t ;; esac");
    ck_assert_int_eq(tfgen("run specs/rmsnorm.yaml --dim=B=1,S=3,D=53"), code_device);
    says("specs/rmsnorm.yaml:17:5: error: the device stopped in rmsnorm_n");
    says("lane 0\n  at the module's code +0x");
}
END_TEST

START_TEST(a_pack_kernel_is_listed_like_any_other)
{
    use_compiler(folder, "sed -i 's/col \\* 53ll + k)/(1ll << 36) + col * 53ll + k)/' $t");
    ck_assert_int_eq(tfgen("bench specs/linear.yaml --dim=B=1,S=7,D=53,F=37 --device=host --seconds=0"), code_device);
    says("specs/linear.yaml:18:5: error: the device stopped in linear_l_pack, which packs weights for linear: fault\n");
}
END_TEST

START_TEST(a_wild_access_of_a_probe_ends_calibrate)
{
    use_compiler(folder, "sed -i 's/return \\*from; }/return from[1ll << 36]; }/' $t");
    ck_assert_int_eq(tfgen("calibrate --device=host --seconds=0.001 -o %s/host.yaml", folder), code_device);
    says("error: probe_read: fault\nmemory fault, a read at 0x");
    ck_assert_int_eq(shell("test -e %s/host.yaml", folder), 1);
}
END_TEST

/* The second spec is still timed and recorded. */
START_TEST(specs_after_a_wild_access_are_still_timed_and_recorded)
{
    plant();
    ck_assert_int_eq(tfgen("bench specs/rmsnorm.yaml specs/l2norm.yaml --dim=S=3 --device=host --seconds=0 --record=%s/r", folder),
                     code_device);
    says("specs/rmsnorm.yaml:17:5: error: the device stopped in rmsnorm_n");
    char path[100];
    snprintf(path, sizeof path, "%s/r", folder);
    char *record = whole_file(path);
    ck_assert_msg(strstr(record, "\"l2norm\"") && !strstr(record, "\"rmsnorm\""), "%s", record);
    free(record);
}
END_TEST

/* Tuning goes on with the next candidate and keeps the best; its database has the outcome of each. */
START_TEST(tuning_survives_candidates_with_wild_accesses)
{
    use_compiler(folder, "grep -q 'V = 16,' $t || sed -i 's/(p\\.x_ + row/(p.x_ + (row > 0 ? 1ll << 36 : 0) + row/' $t");
    ck_assert_int_eq(tfgen("tune specs/softmax.yaml --device=host --effort=quick --dim=S=3 --budget=1h --quiet --trials=%s/trials.db "
                           "--wisdom=%s/wisdom", folder, folder), 0);
    ck_assert_int_eq(tfgen("tune --trials=%s/trials.db --report=%s/report.csv", folder, folder), 0);
    ck_assert_int_eq(shell("grep -v ' v=16' %s/report.csv | grep -c 'failed.*the device stopped in softmax_p, which computes softmax'",
                           folder), 0);
    ck_assert_int_ge(atoi(output), 1);
    ck_assert_int_eq(shell("grep ' v=16' %s/report.csv | grep -c failed", folder), 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wild");
    TCase *t = tcase_create("commands");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_loop_test(t, a_command_that_meets_a_wild_access_names_kernel_op_and_line, 0, sizeof stopped / sizeof *stopped);
    tcase_add_loop_test(t, a_command_with_more_cases_reports_the_wild_access_and_goes_on, 0, sizeof more / sizeof *more);
    tcase_add_test(t, source_lines_of_different_code_are_not_reported);
    tcase_add_test(t, a_pack_kernel_is_listed_like_any_other);
    tcase_add_test(t, a_wild_access_of_a_probe_ends_calibrate);
    tcase_add_test(t, specs_after_a_wild_access_are_still_timed_and_recorded);
    tcase_add_test(t, tuning_survives_candidates_with_wild_accesses);
    suite_add_tcase(s, t);
    return run_suite(s);
}
