/* Paths of pipes, devices and folders in arguments and environment variables: every command refuses them with an error that names the path,
 * and none waits. Descriptors that a shell has opened (/dev/fd/N) are read. Runs $TFGEN (default ./tfgen). */
#include "tests/cli/cli_rig.h"

static void make_obstacles(void)
{
    make_folder();
    ck_assert_int_eq(shell("cd %s && mkfifo pipe && mkdir folder && chmod 755 pipe", folder), 0);
}

START_TEST(a_pipe_or_device_given_as_a_spec_is_refused_without_waiting)
{
    static const struct {
        const char *arguments;
        int code;
    } calls[] = {{"check %s/pipe", 3},
                 {"specs/rmsnorm.yaml --device-model=%s/pipe", 3},
                 {"specs/rmsnorm.yaml --wisdom=%s/pipe", 7},
                 {"run specs/rmsnorm.yaml --weights=%s/pipe", 3},
                 {"run specs/rmsnorm.yaml --input=%s/pipe", 3},
                 {"run %s/pipe --from=plan", 3},
                 {"compare %s/pipe %s/pipe", 3},
                 {"wisdom import %s/pipe --wisdom=%s/wisdom", 7},
                 {"cache import %s/pipe", 3},
                 {"tune --report=%s/r.csv --trials=%s/pipe", 7}};
    make_obstacles();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        ck_assert_msg(tfgen("%s", in_folder(calls[i].arguments)) == calls[i].code, "%s: %s", calls[i].arguments, output);
        says("/pipe: ");
        says("it is a named pipe, not a file");
    }
    ck_assert_int_eq(tfgen("check /dev/null"), 3);
    says("/dev/null: cannot open: it is a device, not a file");
    ck_assert_int_eq(tfgen("%s", in_folder("cache import %s/folder")), 3);
    says("it is a folder, not a file");
    ck_assert_int_eq(shell("TFGEN_WISDOM=%s/pipe ${TFGEN:-./tfgen} specs/rmsnorm.yaml 2>&1", folder), 7);
    says("wisdom: cannot read ");
    remove_folder();
}
END_TEST

/* A pipe that has a reader is written to. If it has none, the command says so, before it does anything that takes minutes. */
START_TEST(writing_to_a_pipe_without_a_reader_does_not_hang)
{
    static const char *const calls[] = {"calibrate --device=nowhere -o %s/pipe",       "explain specs/softmax.yaml --html=%s/pipe",
                                        "run specs/softmax.yaml --device=host -o %s/pipe", "cache export %s/pipe",
                                        "wisdom merge %s/wisdom -o %s/pipe"};
    make_obstacles();
    write_file(folder, "wisdom", "wisdom 1\n");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        ck_assert_msg(tfgen("%s", in_folder(calls[i])) == 7, "%s: %s", calls[i], output);
        says("/pipe: ");
        says("cannot write");
        says("it is a pipe or socket, and nobody reads from it");
    }
    ck_assert_int_eq(shell("tfgen=$(realpath ${TFGEN:-./tfgen}); cd %s; exec 3<>pipe; $tfgen wisdom merge wisdom -o pipe && head -n 1 <&3",
                           folder), 0);
    says("wisdom 1");
    remove_folder();
}
END_TEST

START_TEST(pipes_opened_by_a_shell_are_read)
{
    ck_assert_int_eq(tfgen("check - <specs/rmsnorm.yaml"), 0);
    ck_assert_int_eq(tfgen("check /dev/stdin <specs/rmsnorm.yaml"), 0);
    ck_assert_int_eq(shell("cat specs/rmsnorm.yaml | ${TFGEN:-./tfgen} check /dev/stdin 2>&1"), 0);
    ck_assert_int_eq(shell("cat specs/rmsnorm.yaml | ${TFGEN:-./tfgen} check /dev/fd/7 7<&0 </dev/null 2>&1"), 0);
    ck_assert_int_eq(shell("cat specs/rmsnorm.yaml | ${TFGEN:-./tfgen} verify /dev/stdin --fusion=none,tile 2>&1"), 0);
    says("verify: 2 passed, 0 failed; 0 combinations left out"); /* it is read for each level */
}
END_TEST

/* Compilers without room in the temporary folder report the system's error, or are killed; the kernel is not blamed. */
START_TEST(a_full_folder_for_temporary_files_is_named_in_the_error)
{
    make_folder();
    write_file(folder, "cc", "#!/bin/sh\ncat >/dev/null\necho \"error: no output 'x': 'No space left on device'\" >&2\nexit 1\n");
    write_file(folder, "killed", "#!/bin/sh\ncat >/dev/null\nkill -s XFSZ $$\n");
    ck_assert_int_eq(shell("cd %s && chmod 755 cc killed", folder), 0);
    ck_assert_int_eq(shell("TMPDIR=%s TFGEN_CACHE_DIR= TFGEN_HOST_CC=%s/cc ${TFGEN:-./tfgen} run specs/softmax.yaml --device=host 2>&1",
                           folder, folder), 7);
    says(in_folder("/cc cannot write to %s: No space left on device; set TMPDIR to another folder"));
    static const char *const clang[][2] = {{"cc", "No space left on device"}, {"killed", "File too large"}};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(shell("TMPDIR=%s TFGEN_CLANG=%s/%s ${TFGEN:-./tfgen} specs/softmax.yaml --code --compiler=clang --no-cache "
                               "--target=gfx942 -o %s/out 2>&1", folder, folder, clang[i][0], folder), 7);
        says(in_folder("softmax_p.hip: clang cannot write to %s: "));
        says(clang[i][1]);
    }
    ck_assert_int_eq(shell("ulimit -f 8; TFGEN_CACHE_DIR= ${TFGEN:-./tfgen} run specs/softmax.yaml --device=host 2>&1"), 7);
    says("File too large");
    remove_folder();
}
END_TEST

START_TEST(calibrate_asks_first_whether_it_can_write)
{
    ck_assert_int_eq(tfgen("calibrate --device=nowhere -o /dev/null/h200.yaml"), 7);
    says("/dev/null/h200.yaml: cannot write: Not a directory");
    make_folder();
    write_file(folder, "kept", "kept");
    ck_assert_int_eq(tfgen("%s", in_folder("calibrate --device=nowhere -o %s/kept")), 2);
    ck_assert_int_eq(shell("cat %s/kept && ls -A %s | wc -l", folder, folder), 0);
    ck_assert_str_eq(output, "kept1\n");
    remove_folder();
}
END_TEST

int main(void)
{
    setenv("TFGEN_WISDOM", "none", 1);
    Suite *suite = suite_create("input");
    TCase *c = tcase_create("input");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_pipe_or_device_given_as_a_spec_is_refused_without_waiting);
    tcase_add_test(c, writing_to_a_pipe_without_a_reader_does_not_hang);
    tcase_add_test(c, pipes_opened_by_a_shell_are_read);
    tcase_add_test(c, a_full_folder_for_temporary_files_is_named_in_the_error);
    tcase_add_test(c, calibrate_asks_first_whether_it_can_write);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
