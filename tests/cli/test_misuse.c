/* Wrong and hostile command lines, command by command: none succeeds, and each error names the file and its place, or the option. Refusals
 * of single options are in test_cli.c. */
#define _GNU_SOURCE
#include "tests/shell.h"
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/tfgen-misuse-XXXXXX";

/* The first output fits in a buffer, so the full disk shows only when it is flushed; the others fail earlier. */
START_TEST(output_that_meets_a_full_disk_is_no_success)
{
    static const char *const calls[] = {"--version", "schema", "--man", "help", "specs/llama-block.yaml --dump=source",
                                        "predict specs/llama-block.yaml --sweep=S=1..64 --json"};
    if (access("/dev/full", W_OK)) return;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        ck_assert_msg(shell("${TFGEN:-./tfgen} %s 2>&1 >/dev/full", calls[i]) == 7, "%s: %s", calls[i], output);
        says("tfgen: standard output: ");
        ck_assert_msg(shell("${TFGEN:-./tfgen} %s 2>&1 >&-", calls[i]) == 7, "%s: %s", calls[i], output);
    }
}
END_TEST

START_TEST(every_command_reports_errors_of_a_spec_with_their_place)
{
    static const char *const commands[] = {"emit",    "run",    "verify", "bench", "predict", "ablate", "fit",  "explain",
                                           "bisect",  "access", "trace",  "tune",  "table",   "build",  "check"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        ck_assert_int_eq(tfgen("%s specs/bad/add-shapes.yaml", commands[i]), 3);
        ck_assert_msg(strncmp(output, "specs/bad/add-shapes.yaml:8:31: error: add: ", 44) == 0, "%s: %s", commands[i], output);
        ck_assert_int_eq(tfgen("%s specs/swiglu.yaml --dim=ZZ=3", commands[i]), 2);
        ck_assert_msg(strncmp(output, "specs/swiglu.yaml: error: there is no dim \"ZZ\"", 46) == 0, "%s: %s", commands[i], output);
        ck_assert_int_eq(tfgen("%s specs/swiglu.yaml --preset=tiny", commands[i]), 2);
        ck_assert_msg(strncmp(output, "specs/swiglu.yaml: error: there is no preset \"tiny\"", 51) == 0, "%s: %s", commands[i], output);
    }
}
END_TEST

START_TEST(a_sweep_needs_an_existing_dim_and_ascending_sizes)
{
    ck_assert_int_eq(tfgen("predict specs/swiglu.yaml --sweep=ZZ=3"), 2);
    says("specs/swiglu.yaml: error: there is no dim \"ZZ\"");
    ck_assert_int_eq(tfgen("predict specs/llama-block.yaml --sweep=S=8192..16384"), 2);
    says("specs/llama-block.yaml: error: S=16384 is outside of its dynamic range 1 to 8192");
    ck_assert_int_eq(tfgen("predict specs/swiglu.yaml --sweep=S=32..8"), 2);
    says("--sweep: 'S=32..8' is not DIM=V,V,...");
    ck_assert_int_eq(tfgen("predict specs/swiglu.yaml --sweep=S=8..8"), 0);
}
END_TEST

/* verify leaves out sizes that a spec cannot have. Once it did so for sizes that the user gave, too: nothing was compared, and it
 * succeeded. */
START_TEST(verify_of_impossible_sizes_fails)
{
    ck_assert_int_eq(tfgen("verify specs/rmsnorm.yaml --dim=S=0 --sizes=sample"), 2);
    says("specs/rmsnorm.yaml: error: S=0: a dim is from 1");
    ck_assert_int_eq(tfgen("verify specs/rmsnorm.yaml --preset=tiny-small --dim=B=1,S=3,D=40"), 0);
    says("1 passed, 0 failed; 0 combinations left out");
}
END_TEST

START_TEST(a_command_without_its_operand_is_bad_usage)
{
    ck_assert_int_eq(tfgen("table --report=%s/table.html", folder), 2);
    says("usage: tfgen table [options] SPEC...|TABLE");
    ck_assert_int_eq(shell("ls %s", folder), 0);
    ck_assert_str_eq(output, "");
}
END_TEST

START_TEST(options_that_a_command_does_not_use_are_refused)
{
    ck_assert_int_eq(tfgen("cache path --json"), 2);
    says("--json goes with tfgen cache ls and verify");
    ck_assert_int_eq(tfgen("cache gc --json"), 2);
    ck_assert_int_eq(shell("TFGEN_CACHE_DIR=%s/cache ${TFGEN:-./tfgen} cache ls --json", folder), 0);
}
END_TEST

/* The error comes before any line of a result. */
START_TEST(fit_refuses_before_it_prints_anything)
{
    ck_assert_int_eq(tfgen("fit tests/specs/row-scalars.yaml"), 2);
    ck_assert_str_eq(output, "tests/specs/row-scalars.yaml: error: --largest: the spec has no dynamic dim; name one that is to be as large "
                             "as fits\nTry 'tfgen fit --help'.\n");
    ck_assert_int_eq(tfgen("fit specs/swiglu.yaml --largest=B,ZZ"), 2);
    ck_assert_str_eq(output, "specs/swiglu.yaml: error: --largest: no dim of the spec is called 'ZZ'; they are B, S, D, F\n"
                             "Try 'tfgen fit --help'.\n");
}
END_TEST

START_TEST(an_unwritable_folder_for_temporary_files_is_named)
{
    static const char *const commands[] = {"run", "bench --seconds=0", "bisect", "access"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        ck_assert_msg(shell("TMPDIR=/proc ${TFGEN:-./tfgen} %s specs/rmsnorm.yaml --no-cache 2>&1", commands[i]) == 7, "%s", output);
        says("cannot make a folder in /proc: ");
        ck_assert_msg(!strstr(output, "stopped"), "%s", output);
    }
}
END_TEST

/* A user who names the wrong file must not lose it. */
START_TEST(a_file_that_is_no_wisdom_is_neither_used_nor_written_over)
{
    static const char *const calls[] = {"emit specs/rmsnorm.yaml -q -o %s/out --wisdom=%s/notes",
                                        "tune specs/rmsnorm.yaml --wisdom=%s/notes",
                                        "wisdom import %s/notes",
                                        "wisdom merge specs/wisdom/h200.wisdom %s/notes",
                                        "wisdom ls %s/notes",
                                        "wisdom diff specs/wisdom/h200.wisdom %s/notes"};
    char call[256];
    ck_assert_int_eq(shell("cp README.md %s/notes", folder), 0);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        snprintf(call, sizeof call, calls[i], folder, folder);
        ck_assert_msg(tfgen("%s", call) == 3, "%s: %s", call, output);
        says("/notes: the file does not begin with 'wisdom 1'");
    }
    ck_assert_int_eq(shell("TFGEN_WISDOM=%s/notes ${TFGEN:-./tfgen} wisdom import specs/wisdom/h200.wisdom 2>&1", folder), 3);
    ck_assert_int_eq(shell("cmp README.md %s/notes", folder), 0);
    ck_assert_int_eq(shell(": >%s/notes && TFGEN_WISDOM=%s/notes ${TFGEN:-./tfgen} wisdom import specs/wisdom/h200.wisdom 2>&1", folder,
                           folder), 0); /* an empty file is overwritten */
    says("added ");
}
END_TEST

/* Before any tile is timed: the whole search would be lost. */
START_TEST(tune_says_at_once_that_it_cannot_save_what_it_finds)
{
    ck_assert_int_eq(tfgen("tune specs/rmsnorm.yaml --budget=1h --trials=%s/trials --wisdom=/proc/wisdom", folder), 7);
    says("wisdom: cannot open /proc/wisdom.lock: ");
    ck_assert_int_eq(tfgen("tune specs/rmsnorm.yaml --budget=1h --trials=%s/trials --wisdom=%s/", folder, folder), 7);
    says("it is a folder, not a file");
}
END_TEST

/* --tile names a phase, and each fusion level has phases of its own. */
START_TEST(explain_with_a_tile_shows_only_levels_with_that_phase)
{
    static const char call[] = "explain specs/swiglu.yaml --no-code --target=sm_80 --tile='gate_up: k=32'";
    ck_assert_msg(tfgen("%s", call) == 0, "%s", output);
    says("level tile: ");
    ck_assert_ptr_null(strstr(output, "level none: "));
    ck_assert_int_eq(tfgen("%s --fusion=all", call), 2);
    says("no phase, kernel or family is called 'gate_up'");
    ck_assert_int_eq(tfgen("explain specs/swiglu.yaml --no-code"), 0);
    says("level none: ");
    ck_assert_int_eq(tfgen("emit specs/swiglu.yaml --fusion=ops,tile"), 2);
    says("--fusion: one level here, not 'ops,tile'; verify, bench and explain take several");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("misuse");
    TCase *t = tcase_create("misuse");
    if (!mkdtemp(folder)) return 1;
    tcase_set_timeout(t, 60);
    tcase_add_test(t, output_that_meets_a_full_disk_is_no_success);
    tcase_add_test(t, every_command_reports_errors_of_a_spec_with_their_place);
    tcase_add_test(t, a_sweep_needs_an_existing_dim_and_ascending_sizes);
    tcase_add_test(t, verify_of_impossible_sizes_fails);
    tcase_add_test(t, a_command_without_its_operand_is_bad_usage);
    tcase_add_test(t, options_that_a_command_does_not_use_are_refused);
    tcase_add_test(t, fit_refuses_before_it_prints_anything);
    tcase_add_test(t, an_unwritable_folder_for_temporary_files_is_named);
    tcase_add_test(t, a_file_that_is_no_wisdom_is_neither_used_nor_written_over);
    tcase_add_test(t, tune_says_at_once_that_it_cannot_save_what_it_finds);
    tcase_add_test(t, explain_with_a_tile_shows_only_levels_with_that_phase);
    suite_add_tcase(suite, t);
    const int result = run_suite(suite);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) ? 1 : result;
}
