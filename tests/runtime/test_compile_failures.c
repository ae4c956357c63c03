/* Compilers that crash, hang, flood their output or refuse, as `tfgen emit --code` reports them: kernel, line of the spec, log, exit code
 * 5; and progress, shown on a terminal only. The compiler is a script. */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "runtime/api/tfgen.h"
#include "runtime/compile/compiler.h"
#include "runtime/compile/worker.h"

static char folder[64], output[4 << 20];

static void before_each(void)
{
    char cache[96];
    strcpy(folder, "/tmp/tfgen-fail-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("TFGEN_CACHE_DIR", cache, 1);
    unsetenv("NO_COLOR");
}
static void after_each(void) { directory_remove(folder); }

/* Replaces the compiler by a script; $out is the file that it should write. */
static void use_compiler(const char *body)
{
    char path[96];
    snprintf(path, sizeof path, "%s/clang-22", folder);
    FILE *f = fopen(path, "w");
    fprintf(f, "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\nD=%s\n%s\n", folder, body);
    fclose(f);
    chmod(path, 0755);
    setenv("TFGEN_CLANG", path, 1);
}

static const char *command_line(const char *spec, const char *more)
{
    static char text[512];
    snprintf(text, sizeof text, "%s emit %s --target=gfx942 --compiler=clang --code -o %s/out %s",
             getenv("TFGEN") ? getenv("TFGEN") : "./tfgen", spec, folder, more);
    return text;
}

static int emit(const char *more)
{
    char command[600];
    snprintf(command, sizeof command, "%s 2>&1", command_line("specs/rmsnorm.yaml", more));
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = 0;
    return WEXITSTATUS(pclose(pipe));
}
#define says(part) ck_assert_msg(strstr(output, part), "no '%s' in:\n%.3000s", part, output)

static const struct {
    const char *body, *message;
} failures[] = {
    {"echo 'specs/rmsnorm.yaml:9:5: error: made up' >&2; exit 1", "specs/rmsnorm.yaml:9:5: error: made up"},
    {"echo almost >&2; kill -SEGV $$", "almost\nrmsnorm_n.hip: clang was killed by signal 11"},
    {"kill -ABRT $$", "killed by signal 6"},
    {"echo still here; trap '' TERM; sleep 600", "rmsnorm_n.hip: clang did not finish within 1 seconds"},
    {"yes 'error: on and on' >&2", "wrote more than 16 MB of messages"},
    {"truncate -s 300M \"$out\" || exit 1", "rmsnorm_n.hip"}, /* more than a compiler may write */
    {"exit 0", "without a result"},
    {"head -c 5000 /dev/urandom >\"$out\"", "ELF"},
    {"printf '\\033[31mred\\007' >&2; exit 1", "red"},
};

START_TEST(a_compiler_that_fails_is_5_with_kernel_line_and_log)
{
    use_compiler(failures[_i].body);
    ck_assert_msg(emit(strstr(failures[_i].message, "within 1 seconds") ? "--time-limit=1" : "") == 5, "%.2000s", output);
    says(failures[_i].message);
    says("specs/rmsnorm.yaml:");                  /* where */
    says("rmsnorm_n.hip is not compiled for gfx942"); /* what */
    ck_assert_ptr_null(strstr(output, "\033"));
    ck_assert_uint_lt(strlen(output), 3 << 20);
    char left[96];
    snprintf(left, sizeof left, "%s/out/rmsnorm_n.hsaco", folder);
    ck_assert_int_ne(access(left, F_OK), 0);
}
END_TEST

START_TEST(a_time_limit_is_a_number)
{
    use_compiler("exit 1");
    ck_assert_int_eq(emit("--time-limit=soon"), 2);
    ck_assert_int_eq(emit("--time-limit=0"), 2);
}
END_TEST

START_TEST(a_failed_compile_does_not_stop_the_others)
{
    static const char source[] = "int x;\n";
    code_request q[4];
    code_result r[4];
    use_compiler("grep -q second && kill -SEGV $$; exit 1");
    for (int i = 0; i < 4; i++)
        q[i] = (code_request){i == 1 ? "// second\n" : source, i == 1 ? 10 : sizeof source - 1, "k.hip", "gfx942", compiler_clang, 30};
    ck_assert_int_eq(code_compile_all(q, 4, 2, r, NULL, NULL), build_failed);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(r[i].status, i == 1 ? build_crashed : build_failed);
        ck_assert_int_eq(code_exit(r[i].status), 5);
        code_result_free(&r[i]);
    }
}
END_TEST

START_TEST(a_log_full_of_temporary_paths_is_cleaned)
{
    code_result r;
    const code_request q = {"int x;\n", 7, "k.hip", "gfx942", compiler_clang, 30};
    use_compiler("yes \"$(dirname \"$out\")/x \" | head -c 900000 >&2; exit 1");
    ck_assert_int_eq(code_compile(&q, &r), build_failed);
    ck_assert_ptr_null(strstr(r.log, "/tfgen-"));
    ck_assert_int_eq(strncmp(r.log, "x \nx \n", 6), 0);
    code_result_free(&r);
}
END_TEST

/* Runs at a terminal of its own; `output` has what it wrote. Returns false, and prints why, if there is no terminal. */
static bool emit_at_terminal(const char *more)
{
    int terminal;
    size_t n = 0;
    const pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child < 0) {
        printf("skipped: no pseudo-terminal here: %s\n", strerror(errno));
        return false;
    }
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command_line("specs/llama-block.yaml", more), (char *)NULL);
        _exit(127);
    }
    for (ssize_t got; n < sizeof output - 1 && (got = read(terminal, output + n, sizeof output - 1 - n)) > 0;) n += (size_t)got;
    output[n] = 0;
    close(terminal);
    waitpid(child, NULL, 0);
    return true;
}

/* The first kernel compiles for long, so that there is progress to show. */
static const char slow_once[] = "mkdir $D/first 2>/dev/null && sleep 2.1; exit 1";

START_TEST(progress_with_an_estimate_is_for_terminals)
{
    use_compiler(slow_once);
    if (!emit_at_terminal("--jobs=1")) return;
    says("\r\033[Kcompiling 1/9, ");
    says(" s left  llama");
    ck_assert(strstr(output, "is not compiled for gfx942"));
}
END_TEST

START_TEST(no_progress_is_shown_without_a_terminal)
{
    use_compiler(slow_once);
    setenv("NO_COLOR", "1", 1);
    ck_assert_int_eq(emit("--jobs=1"), 5);
    ck_assert_ptr_null(strchr(output, '\r'));
    ck_assert_ptr_null(strstr(output, "left"));
}
END_TEST

/* ---- the library's callback */
typedef struct heard {
    int logs, failed;
    size_t longest;
    bool whole;
    char kernel[64];
} heard;

static void hear(void *context, const tfgen_log *log)
{
    heard *h = context;
    const size_t length = strlen(log->text);
    ck_assert_uint_eq(log->size, sizeof *log);
    h->logs++, h->failed += log->failed != 0;
    h->longest = length > h->longest ? length : h->longest;
    h->whole = strstr(log->text, "line 400\n") != NULL;
    snprintf(h->kernel, sizeof h->kernel, "%s", log->kernel);
}

static tfgen_status create_with(const char *compiler, heard *h, tfgen_error *error)
{
    static const char spec[] = "block: t\ndtype: f32\ninputs: {x: [5, 16]}\nops:\n  - {out: y, op: relu, in: [x]}\noutputs: {y: y}\n";
    tfgen_module_options o = TFGEN_MODULE_OPTIONS_INIT;
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    if (compiler) use_compiler(compiler), setenv("TFGEN_HOST_CC", getenv("TFGEN_CLANG"), 1);
    else unsetenv("TFGEN_HOST_CC");
    o.cache_dir = "", o.log = hear, o.context = h;
    ck_assert_int_eq(tfgen_device_open("host", &device, NULL), TFGEN_OK);
    ck_assert_int_eq(tfgen_plan_create(spec, sizeof spec - 1, "t.yaml", NULL, &plan, NULL), TFGEN_OK);
    const tfgen_status status = tfgen_module_create(plan, device, &o, &module, error);
    tfgen_module_free(module);
    tfgen_plan_free(plan);
    tfgen_device_close(device);
    return status;
}

START_TEST(a_program_gets_the_whole_log_of_a_compiler)
{
    heard h = {0};
    tfgen_error error = {""};
    ck_assert_int_eq(create_with("i=0; while [ $i -le 400 ]; do echo \"t.yaml:4:5: error: line $i\" >&2; i=$((i + 1)); done; exit 1", &h,
                                 &error),
                     TFGEN_COMPILE_FAILED);
    ck_assert_msg(h.logs == 1 && h.failed == 1 && h.whole, "%d logs, %d failed, %zu bytes", h.logs, h.failed, h.longest);
    ck_assert_uint_gt(h.longest, sizeof error.text);
    ck_assert_ptr_null(strstr(error.text, "line 400"));
    ck_assert_str_eq(h.kernel, "t_y");
    h = (heard){0};
    ck_assert_msg(create_with(NULL, &h, &error) == TFGEN_OK, "%s", error.text);
    ck_assert_int_eq(h.logs, 0); /* no message came */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("compile failures");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, before_each, after_each);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_compiler_that_fails_is_5_with_kernel_line_and_log, 0, sizeof failures / sizeof *failures);
    tcase_add_test(t, a_time_limit_is_a_number);
    tcase_add_test(t, a_failed_compile_does_not_stop_the_others);
    tcase_add_test(t, a_log_full_of_temporary_paths_is_cleaned);
    tcase_add_test(t, progress_with_an_estimate_is_for_terminals);
    tcase_add_test(t, no_progress_is_shown_without_a_terminal);
    tcase_add_test(t, a_program_gets_the_whole_log_of_a_compiler);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
