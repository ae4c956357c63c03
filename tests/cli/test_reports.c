/* Each file of tests/golden/reports has shell commands, a line `---`, and what the commands print, with errors and exit codes. A test runs
 * the commands of a file and compares. Measured times and errors depend on the machine, so both sides have # in their place; several blanks
 * count as one. TFGEN_GOLDEN_UPDATE=1 rewrites the files. */
#define _GNU_SOURCE
#include "tests/ir/ir_golden.h"
#include <ctype.h>
#include <sys/wait.h>

static glob_t files;

/* The unit of time or size that text begins with: its length, or 0. */
static size_t unit_of(const char *text)
{
    static const char *const units[] = {" us", " ms", " s", " KB", " MB"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i]);
        if (strncmp(text, units[i], n) == 0 && !isalnum((unsigned char)text[n])) return n;
    }
    return 0;
}

/* The length of a number with a fraction or an exponent, or before a unit, with the unit; else 0. */
static size_t measured(const char *at)
{
    char *end;
    if (!isdigit((unsigned char)*at)) return 0;
    strtod(at, &end);
    const size_t n = (size_t)(end - at), unit = unit_of(end);
    return unit || memchr(at, '.', n) || memchr(at, 'e', n) ? n + unit : 0;
}

static char *masked(arena *a, const char *text)
{
    char *out = arena_alloc(a, strlen(text) + 1), *to = out;
    while (*text) {
        const bool inside = to > out && (isalnum((unsigned char)to[-1]) || to[-1] == '_' || to[-1] == '.');
        const size_t n = inside ? 0 : measured(text);
        if (n) *to++ = '#', text += n;
        else if (*text == ' ' && to > out && (to[-1] == ' ' || to[-1] == '\n')) text++;
        else *to++ = *text++;
    }
    for (char *zero = out; (zero = strstr(zero, " 0 # #")); zero++) zero[1] = '#'; /* an error that is 0 on this machine */
    return out;
}

START_TEST(a_command_reports_what_its_file_says)
{
    arena *a = arena_new();
    const char *path = files.gl_pathv[_i], *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    golden g = {.a = a, .path = path, .head = ""};
    char *text = read_text_file(a, path), *mark = strstr(text, "---\n"), *output = arena_alloc(a, 1 << 20);
    ck_assert_ptr_nonnull(mark);
    g.after = mark + 4;
    g.before = arena_strndup(a, text, (size_t)(mark - text));
    FILE *pipe =
        popen(arena_printf(a,
                           "export folder=$(mktemp -d); tfgen() { %s \"$@\" 2>&1; code=$?; test $code = 0 || echo \"exit code $code\"; }; "
                           "export COLUMNS=80 NO_COLOR=1\n{ %s } 2>&1 | sed \"s,$folder/,,g; s,$folder,FOLDER,g\"\nrm -rf \"$folder\"",
                           program, g.before),
              "r");
    ck_assert_ptr_nonnull(pipe);
    ck_assert_uint_lt(fread(output, 1, (1 << 20) - 1, pipe), (1 << 20) - 1);
    ck_assert_int_eq(pclose(pipe), 0);
    compare_golden(&g, masked(a, output));
    arena_free(a);
}
END_TEST

int main(void)
{
    glob("tests/golden/reports/*.txt", 0, NULL, &files);
    Suite *s = suite_create("reports");
    TCase *c = tcase_create("reports");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, a_command_reports_what_its_file_says, 0, (int)files.gl_pathc);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    globfree(&files);
    return failed != 0;
}
