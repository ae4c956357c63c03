/* What a new user sees first: the overview, a page per command that fits a screen and lists only its options, examples that work, and the
 * hint after a usage error. Runs $TFGEN (default ./tfgen). */
#include "runtime/cli/options_table.h"
#include "tests/cli/cli_rig.h"

enum { screen_lines = 40, screen_columns = 100 };

static void fits_one_screen(const char *what)
{
    int lines = 0;
    for (const char *at = output; *at; lines++) {
        const size_t n = strcspn(at, "\n");
        ck_assert_msg(n <= screen_columns, "%s: %zu columns: %.*s", what, n, (int)n, at);
        at += n + 1;
    }
    ck_assert_msg(lines > 8 && lines <= screen_lines, "%s has %d lines", what, lines);
}

/* Runs tfgen. Sets `output` to what it prints to standard output (stream 1) or standard error (2), and returns its exit code. */
static int prints(int stream, const char *arguments)
{
    return shell("${TFGEN:-./tfgen} %s %s", arguments, stream == 1 ? "2>/dev/null" : "2>&1 >/dev/null");
}

/* True if a line of the page describes this option. */
static bool has_line(const char *option)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, " --%s", option);
    for (const char *at = output; (at = strstr(at, wanted)); at++) {
        const char *line = at;
        while (line > output && line[-1] != '\n') line--;
        if (at - line == 5 && line[0] == ' ' && strchr("= ", at[strlen(wanted)])) return true;
    }
    return false;
}

START_TEST(each_command_has_a_page_of_one_screen_with_its_options_and_no_other)
{
    const command_info *c = &all_commands[_i];
    ck_assert_int_eq(tfgen("help %s", c->name), 0);
    fits_one_screen(c->name);
    says("usage: tfgen ");
    says("Exit codes: 0 success; ");
    for (int i = 0; i < option_count; i++) {
        const option_meaning *m = option_for(&all_options[i], (command_kind)_i);
        ck_assert_msg(has_line(all_options[i].name) == (m != NULL), "%s: --%s", c->name, all_options[i].name);
    }
    for (int i = 0; i < 2; i++) {
        ck_assert_str_ne(c->examples[0], c->examples[1]);
        says(c->examples[i]);
    }
}
END_TEST

/* A page of a command has one meaning of an option; the man page has all of them. */
START_TEST(an_option_means_one_thing_to_a_command_and_every_meaning_is_in_the_man_page)
{
    int meanings = 0;
    for (int i = 0; i < option_count; i++)
        for (int c = 0; c < command_count; c++) {
            int found = 0;
            for (int k = 0; k < meaning_count; k++)
                if (strcmp(all_meanings[k].name, all_options[i].name) == 0 && meaning_is_for(&all_meanings[k], (command_kind)c)) {
                    found++;
                    ck_assert_int_eq(*all_meanings[k].argument != 0, all_options[i].has_argument);
                }
            ck_assert_msg(found <= 1, "--%s means %d things to %s", all_options[i].name, found, all_commands[c].name);
            meanings += found;
        }
    ck_assert_int_gt(meanings, option_count);
    for (int k = 0, letters = 0; k < meaning_count; k++) {
        letters += (int)strlen(all_meanings[k].commands);
        if (k + 1 == meaning_count) ck_assert_int_eq(letters, meanings); /* none names an option or a command that does not exist */
    }
    ck_assert_int_eq(tfgen("--man"), 0);
    for (int k = 0; k < meaning_count; k++) {
        char help[160];
        snprintf(help, sizeof help, "%.*s", (int)strcspn(all_meanings[k].help, "-{\\"), all_meanings[k].help);
        says(help);
    }
}
END_TEST

START_TEST(the_overview_fits_one_screen_and_names_every_command)
{
    ck_assert_int_eq(prints(1, "--help"), 0);
    fits_one_screen("the overview");
    for (int c = 0; c < command_count; c++) says(all_commands[c].summary);
    says("tfgen help COMMAND");
    ck_assert_int_eq(prints(1, "-h"), 0);
    says("tfgen help COMMAND");
    ck_assert_int_eq(prints(1, "help environment"), 0);
    fits_one_screen("environment");
    says("TFGEN_NVRTC");
}
END_TEST

START_TEST(the_version_is_printed_for_a_word_and_for_a_letter)
{
    ck_assert_int_eq(prints(1, "--version"), 0);
    char version[64];
    snprintf(version, sizeof version, "%.60s", output);
    ck_assert_int_eq(strncmp(version, "tfgen ", 6), 0);
    ck_assert_int_eq(prints(1, "-V"), 0);
    ck_assert_str_eq(output, version);
    ck_assert_int_eq(prints(1, "run -V"), 0);
    ck_assert_str_eq(output, version);
}
END_TEST

START_TEST(bad_usage_names_the_help_of_its_command_on_stderr)
{
    static const char *const calls[][2] = {{"run", "tfgen run --help"},
                                           {"run --bogus", "tfgen run --help"},
                                           {"compare one.json", "tfgen compare --help"},
                                           {"cache burn", "tfgen cache --help"},
                                           {"check specs/rmsnorm.yaml --dim=Q=4 -q", "tfgen check --help"},
                                           {"specs/rmsnorm.yaml --bogus", "tfgen emit --help"},
                                           {"nonsense", "tfgen --help"},
                                           {"--dim=B=2 nonsense", "tfgen --help"},
                                           {"help nonsense", "tfgen --help"}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char last[64];
        snprintf(last, sizeof last, "\nTry '%s'.\n", calls[i][1]);
        ck_assert_msg(prints(2, calls[i][0]) == 2, "%s: %s", calls[i][0], output);
        const size_t size = strlen(output), end = strlen(last);
        ck_assert_msg(size > end && strcmp(output + size - end, last) == 0, "%s: %s", calls[i][0], output);
        ck_assert_ptr_eq(strstr(output, "--help"), output + size - strlen("--help'.\n")); /* it is named once */
    }
    ck_assert_int_eq(prints(2, ""), 2); /* no word at all: the overview itself */
    says("tfgen help COMMAND");
    ck_assert_ptr_null(strstr(output, "Try '"));
}
END_TEST

/* Examples are run, with an empty kernel cache, if they compile nothing; of the others, only their options are checked. */
START_TEST(the_examples_of_help_work)
{
    static const char *const ready[] = {"emit", "check", "schema", "devices", "cache", "wisdom", "predict", "fit"};
    const command_info *c = &all_commands[_i];
    bool runs = false;
    for (size_t i = 0; i < sizeof ready / sizeof *ready; i++) runs |= strcmp(c->name, ready[i]) == 0;
    make_folder();
    for (int i = 0; i < 2; i++) {
        const char *spec = strstr(c->examples[i], "specs/");
        if (spec) ck_assert_int_eq(shell("ls %.*s", (int)strcspn(spec, " "), spec), 0);
        const int code = shell("t=$(realpath ${TFGEN:-./tfgen}); export TFGEN_CACHE_DIR=%s/cache; ln -sfn \"$PWD/specs\" %s/specs && "
                               "cd %s && \"$t\" %s %s %s 2>&1",
                               folder, folder, folder, c->name, c->examples[i], runs ? "" : "--help >/dev/null");
        ck_assert_msg(code == 0, "tfgen %s %s: %s", c->name, c->examples[i], output);
    }
    remove_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("help");
    TCase *c = tcase_create("help");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, each_command_has_a_page_of_one_screen_with_its_options_and_no_other, 0, command_count);
    tcase_add_test(c, an_option_means_one_thing_to_a_command_and_every_meaning_is_in_the_man_page);
    tcase_add_test(c, the_overview_fits_one_screen_and_names_every_command);
    tcase_add_test(c, the_version_is_printed_for_a_word_and_for_a_letter);
    tcase_add_test(c, bad_usage_names_the_help_of_its_command_on_stderr);
    tcase_add_loop_test(c, the_examples_of_help_work, 0, command_count);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
