/* Files of other users, or that others can write: none is executed, followed as a link, or overwritten. */
#define _GNU_SOURCE
#include "tests/runtime/cache_rig.h"
#include "tests/shell.h"
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include "runtime/system/files.h"

static const char *program(void) { return getenv("TFGEN") ? getenv("TFGEN") : "./tfgen"; }
static bool is_root(void) { return geteuid() == 0; }

/* ---- folders of others ---- */

static void open_top(void) { ck_assert_int_eq(chmod(place, 0777), 0); }
static void open_kind(void) { ck_assert_int_eq(shell("chmod 770 %s/code", place), 0); }
static void give_top(void) { ck_assert_int_eq(chown(place, 65534, 65534), 0); }
static void give_kind(void) { ck_assert_int_eq(shell("chown 65534 %s/code", place), 0); }
static void (*const exposures[])(void) = {open_top, open_kind, give_top, give_kind};

START_TEST(a_folder_that_others_own_or_may_write_is_not_used)
{
    if (_i >= 2 && !is_root()) return (void)printf("skipped: only root gives folders away\n");
    cache *c = open_cache();
    cache_claim *claim;
    code_result r;
    free(stored_file(c, "one", 300));
    ck_assert_ptr_null(cache_fault(c));
    exposures[_i]();
    ck_assert_ptr_nonnull(cache_fault(c));
    ck_assert(!find_named(c, "one", 300));
    char *key = key_named("two");
    ck_assert(!cache_find_or_claim(c, cache_code, key, &r, &claim));
    ck_assert_ptr_null(claim);
    free(key);
    ck_assert(!store_named(c, "two", 300));
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strstr(warning, _i < 2 ? "others may write to it" : "it belongs to another user"), "%s", warning);
    ck_assert(find_named(c, "two", 300)); /* from memory */
    cache_close(c);
    ck_assert_int_eq(shell("%s cache ls 2>&1", program()), 7);
    says("the kernel cache is not used");
    ck_assert_int_eq(shell("%s cache clear 2>&1", program()), 7);
    ck_assert_int_eq(shell("%s cache path 2>&1", program()), 0);
    ck_assert_int_eq(shell("ls %s/code | wc -l", place), 0);
    says("1\n"); /* neither read nor removed nor added to */
    ck_assert_int_eq(shell("%s doctor 2>&1; true", program()), 0);
    says("is not used");
}
END_TEST

/* ---- code ---- */

static const char kernel[] = "extern \"C\" __global__ void f(int *p) { *p = 1; }\nTF_EXPORT(f)\n";

static bool compiled(const host_compile_options *o, host_module **m)
{
    host_log log = {0};
    const host_status s = host_compile(kernel, sizeof kernel - 1, o, m, &log);
    if (s == HOST_NO_COMPILER) printf("skipped: no clang\n");
    else ck_assert_msg(s == HOST_OK, "%s", log.text);
    host_log_free(&log);
    return s == HOST_OK;
}

/* A file could be exchanged between checking and loading it, so code is loaded from memory, also where temporary files are impossible. */
START_TEST(code_is_loaded_from_the_bytes_that_were_checked)
{
    host_module *first, *second;
    const host_compile_options o = {.cache = open_cache(), .optimise = 0};
    setenv("TMPDIR", folder, 1);
    if (!compiled(&o, &first)) return;
    setenv("TMPDIR", "/nowhere", 1);
    ck_assert(compiled(&o, &second));
    ck_assert(!host_module_cached(first) && host_module_cached(second));
    ck_assert_int_eq(shell("cat /proc/%ld/maps", (long)getpid()), 0);
    ck_assert_ptr_null(strstr(output, folder));
    says("memfd:tfgen-host-object");
    ck_assert_int_eq(shell("ls -l /proc/%ld/fd", (long)getpid()), 0);
    ck_assert_ptr_null(strstr(output, "memfd:")); /* a thousand kernels need no thousand open files */
    host_module_free(first);
    host_module_free(second);
    cache_close(o.cache);
}
END_TEST

START_TEST(the_file_of_a_loaded_module_is_sealed)
{
    host_module *m;
    const host_compile_options o = {.optimise = 0, .lines = true}; /* with line tables a module keeps its file open for symbolisers */
    if (!compiled(&o, &m)) return;
    int seals = -1;
    for (int file = 0; file < 100; file++) {
        char path[64], name[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        if (readlink(path, name, sizeof name - 1) > 0 && strstr(name, "tfgen-host-object")) seals = fcntl(file, F_GET_SEALS);
    }
    ck_assert_int_eq(seals, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    host_module_free(m);
}
END_TEST

/* Descriptors of closed files are reused, but the loader recognises objects by name. */
START_TEST(a_hundred_modules_are_loaded_separately)
{
    enum { count = 100 };
    host_module *m[count];
    char source[256];
    for (int i = 0; i < count; i++) {
        host_log log = {0};
        const int n =
            snprintf(source, sizeof source, "extern \"C\" __global__ void f%d(int *p) { *p = %d; }\nTF_EXPORT(f%d)\n", i % 2, i % 2, i % 2);
        const host_compile_options o = {.cache_dir = place, .optimise = 0};
        const host_status s = host_compile(source, (size_t)n, &o, &m[i], &log);
        if (s == HOST_NO_COMPILER) return (void)printf("skipped: no clang\n");
        ck_assert_msg(s == HOST_OK, "%s", log.text);
        ck_assert(host_module_has(m[i], i % 2 ? "f1" : "f0") && !host_module_has(m[i], i % 2 ? "f0" : "f1"));
        host_log_free(&log);
    }
    for (int i = 0; i < count; i++) host_module_free(m[i]);
}
END_TEST

/* ---- files ---- */

static const char *in_folder(const char *name)
{
    static char paths[4][160];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, 160, "%s/%s", folder, name);
    return path;
}

static bool holds(const char *path, const char *text)
{
    size_t size;
    unsigned char *bytes = slurp(path, &size);
    const bool same = size == strlen(text) && !memcmp(bytes, text, size);
    free(bytes);
    return same;
}

START_TEST(a_link_in_a_files_place_is_replaced_and_not_followed)
{
    spill(in_folder("victim"), "mine", 4);
    ck_assert_int_eq(symlink(in_folder("victim"), in_folder("out")), 0);
    ck_assert(file_put(in_folder("out"), "new", 3));
    ck_assert(holds(in_folder("out"), "new") && holds(in_folder("victim"), "mine"));
    ck_assert_int_eq(files_in(folder), 2); /* no temporary file is left */
}
END_TEST

START_TEST(names_of_temporary_files_are_unpredictable)
{
    char seen[8][64];
    for (int i = 0; i < 8; i++) {
        file_draft d;
        ck_assert(file_begin(&d, in_folder("out")));
        snprintf(seen[i], sizeof seen[i], "%s", d.aside);
        for (int k = 0; k < i; k++) ck_assert_str_ne(seen[i], seen[k]);
        fputs("half", d.out);
        ck_assert(!file_finish(&d, false));
    }
    ck_assert_int_eq(shell("ls -A %s | wc -l", folder), 0);
    says("0\n");
}
END_TEST

START_TEST(writing_to_a_device_or_a_pipe_does_not_replace_it)
{
    struct stat s;
    if (mknod(in_folder("out"), S_IFCHR | 0666, makedev(1, 3))) return (void)printf("skipped: no right to make a device\n");
    if (access("/dev/null", W_OK) || !file_put(in_folder("out"), "gone", 4))
        return (void)printf("skipped: devices cannot be opened here\n");
    ck_assert(stat(in_folder("out"), &s) == 0 && S_ISCHR(s.st_mode));
    ck_assert_int_eq(shell("%s cache export %s 2>&1", program(), in_folder("out")), 0);
    ck_assert(stat(in_folder("out"), &s) == 0 && S_ISCHR(s.st_mode));
    put_fifo(in_folder("pipe"));
    /* The reader exists before tfgen writes: without one tfgen would refuse, and a later one would wait for ever. */
    const char *line = "exec 3<>%s; %s cache export -q %s 2>&1 && head -c 15 <&3";
    ck_assert_int_eq(shell(line, in_folder("pipe"), program(), in_folder("pipe")), 0);
    says("tfgen archive 1");
    ck_assert(stat(in_folder("pipe"), &s) == 0 && S_ISFIFO(s.st_mode));
}
END_TEST

/* Run by root, /dev/stdout itself used to be replaced if it was redirected to a file. */
START_TEST(standard_output_by_name_is_written_and_stays_a_link)
{
    struct stat s;
    static const char *const targets[] = {"/proc/self/fd/1", "fd/1"};
    ck_assert_int_eq(symlink(targets[_i], in_folder("stdout")), 0);
    ck_assert_int_eq(symlink("/proc/self/fd", in_folder("fd")), 0);
    ck_assert_int_eq(shell("%s cache export -q %s/stdout >%s/archive", program(), folder, folder), 0);
    ck_assert_int_eq(shell("head -c 15 %s/archive", folder), 0);
    says("tfgen archive 1");
    ck_assert_int_eq(shell("%s cache export -q /proc/self/fd/1 | head -c 15", program()), 0);
    says("tfgen archive 1");
    ck_assert(lstat(in_folder("stdout"), &s) == 0 && S_ISLNK(s.st_mode));
}
END_TEST

START_TEST(a_file_that_is_replaced_keeps_its_permissions)
{
    struct stat s;
    spill(in_folder("out"), "old", 3);
    ck_assert(file_put(in_folder("out"), "new", 3));
    ck_assert(stat(in_folder("out"), &s) == 0 && (s.st_mode & 0777) == 0600);
    ck_assert(holds(in_folder("out"), "new"));
}
END_TEST

START_TEST(a_file_that_cannot_be_written_leaves_the_old_one)
{
    static char large[100000];
    spill(in_folder("out"), "old", 3);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){20000, 20000}), 0);
    ck_assert(!file_put(in_folder("out"), large, sizeof large));
    ck_assert_int_eq(errno, EFBIG);
    ck_assert(holds(in_folder("out"), "old"));
    ck_assert_int_eq(files_in(folder), 1);
    ck_assert(!file_put(in_folder("none/out"), "x", 1) && errno == ENOENT);
    ck_assert(!file_put(folder, "x", 1) && errno == EISDIR);
}
END_TEST

START_TEST(an_export_follows_no_link_and_writes_to_an_unpredictable_name_first)
{
    spill(in_folder("victim"), "mine", 4);
    ck_assert_int_eq(symlink(in_folder("victim"), in_folder("a.part")), 0);
    ck_assert_int_eq(symlink(in_folder("victim"), in_folder("b")), 0);
    ck_assert_int_eq(shell("%s cache export %s 2>&1", program(), in_folder("a")), 0);
    ck_assert_int_eq(shell("%s cache export %s 2>&1", program(), in_folder("b")), 0);
    ck_assert(holds(in_folder("victim"), "mine"));
    ck_assert_int_eq(access(in_folder("a"), F_OK), 0);
}
END_TEST

START_TEST(a_failed_removal_is_reported)
{
    cache *c = open_cache();
    char *path = stored_file(c, "one", 300);
    unlink(path);
    put_directory(path);
    ck_assert_int_eq(shell("touch %s/inside", path), 0);
    ck_assert_int_eq(shell("%s cache clear 2>&1", program()), 7);
    says("1 entries cannot be removed");
    free(path);
    cache_close(c);
}
END_TEST

/* ---- text from files in names, comments and commands ---- */

START_TEST(a_name_in_ir_text_cannot_lead_out_of_the_output_folder)
{
    static const char *const heads[] = {"ir 1 \"../../x\"", "ir 1 ../x", "ir 1 /tmp/x", "ir 1 \"a/../../x\""};
    char text[512];
    snprintf(text, sizeof text, "%s\ntype f32\nlevel none\nin %%x f32[4,4]\nout %%y as y\n%%y f32[4,4] = neg %%x #0\n", heads[_i]);
    spill(in_folder("evil.ir"), text, strlen(text));
    ck_assert_int_eq(mkdir(in_folder("a"), 0700), 0);
    ck_assert_int_eq(shell("%s emit %s/evil.ir --from=graph -q -o %s/a/out 2>&1", program(), folder, folder), 3);
    says(_i == 2 ? "the name of the block should stand here" : "cannot name a block");
    ck_assert_int_eq(files_in(folder), 2);
}
END_TEST

/* Names of files are bytes; JSON is UTF-8. */
START_TEST(no_file_name_is_lost_in_json)
{
    static const char *const bad = "\xff\xc3(\x1b[m.yaml";
    ck_assert_int_eq(shell("cp specs/rmsnorm.yaml '%s/%s' && %s emit '%s/%s' -q -o %s/out 2>&1", folder, bad, program(), folder, bad,
                           folder),
                     0);
    ck_assert_int_eq(shell("grep '\"spec\"' %s/out/manifest.json", folder), 0);
    says("/\?\?(?[m.yaml\"");
    ck_assert_int_eq(shell("%s check --json '%s/%s' 2>&1", program(), folder, bad), 0);
    says("/\?\?(?[m.yaml\"");
    ck_assert_int_eq(shell("%s verify --json --target=host --fusion=tile '%s/%s' 2>&1", program(), folder, bad), 0);
    says("\?\?(?[m.yaml");
}
END_TEST

static const char preset_spec[] =
    "block: small\ndtype: f32\ndims: {D: 8}\npresets: {\"*/ int evil; /*\": {D: 16}, \"x\\n#error evil\\\\\": {D: 4}}\n"
    "inputs: {x: [3, D]}\nops:\n  - {out: y, op: silu, in: [x]}\noutputs: {z: y}\n";

START_TEST(no_preset_ends_a_comment_of_the_header)
{
    static const char *const presets[] = {"'*/ int evil; /*'", "\"$(printf 'x\\n#error evil\\\\')\""};
    spill(in_folder("small.yaml"), preset_spec, sizeof preset_spec - 1);
    const int code = shell("%s build %s/small.yaml --shapes=%s -q -o %s/lib 2>&1", program(), folder, presets[_i], folder);
    if (code == 4) return (void)printf("skipped: no clang\n");
    ck_assert_msg(code == 0, "%s", output);
    ck_assert_msg(shell("cc -E -P -Iruntime/api %s/lib/small.h -o %s/text 2>&1", folder, folder) == 0, "%s", output);
    ck_assert_int_eq(shell("grep -q small_plan %s/text && ! grep 'int evil;' %s/text", folder, folder), 0);
}
END_TEST

/* ---- compilers ---- */

/* Makes a script that acts as a compiler; "$out" is the file that it should write. */
static const char *fake(const char *name, const char *body)
{
    char script[1024];
    const int n = snprintf(script, sizeof script, "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n%s\n", body);
    spill(in_folder(name), script, (size_t)n);
    ck_assert_int_eq(chmod(in_folder(name), 0755), 0);
    return in_folder(name);
}

static const code_request tiny_request = {"// kernel k\n", 12, "k.hip", "gfx942", compiler_clang, 20};

START_TEST(output_of_a_compiler_that_is_a_pipe_or_a_link_is_refused)
{
    static const char *const bodies[] = {"mkfifo $out", "ln -s /etc/passwd $out", "mkdir $out", "exit 0"};
    host_log log = {0};
    host_module *m;
    code_result r;
    const host_compile_options o = {.compiler = fake("clang-22", bodies[_i]), .time_limit_ms = 20000};
    ck_assert_int_eq(host_compile(kernel, sizeof kernel - 1, &o, &m, &log), HOST_IO);
    ck_assert_ptr_nonnull(strstr(log.text, "made no file"));
    host_log_free(&log);
    setenv("TFGEN_CLANG", o.compiler, 1);
    ck_assert_int_eq(code_compile(&tiny_request, &r), build_crashed);
    ck_assert_ptr_nonnull(strstr(r.log, "ended without a result"));
    code_result_free(&r);
}
END_TEST

START_TEST(processes_that_a_compiler_leaves_running_are_killed)
{
    host_log log = {0};
    host_module *m;
    const host_compile_options o = {.compiler = fake("clang-22", "sleep 600 & echo $! >$0.pids"), .time_limit_ms = 300000};
    ck_assert_int_eq(host_compile(kernel, sizeof kernel - 1, &o, &m, &log), HOST_IO);
    ck_assert_int_eq(
        shell("for p in $(cat %s/clang-22.pids); do while grep -q 'State:.[RSD]' /proc/$p/status 2>/dev/null; do sleep 0.01; done; done",
              folder),
        0);
    host_log_free(&log);
}
END_TEST

/* If the process is killed, only the kernel and the worker can end its compilers. */
START_TEST(compilers_die_with_the_process_that_asked_for_them)
{
    const char *path = fake("clang-22", "trap '' HUP INT TERM\nsleep 600 & echo $! $$ >$0.part; mv $0.part $0.pids; wait");
    setenv("TMPDIR", folder, 1);
    const pid_t child = fork();
    if (child == 0) {
        host_module *m;
        code_result r;
        if (_i) host_compile(kernel, sizeof kernel - 1, &(host_compile_options){.compiler = path}, &m, NULL);
        else setenv("TFGEN_CLANG", path, 1), code_compile(&tiny_request, &r);
        _exit(0);
    }
    ck_assert_int_eq(shell("while [ ! -e %s/clang-22.pids ]; do sleep 0.01; done", folder), 0);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(
        shell("for p in $(cat %s/clang-22.pids); do while grep -q 'State:.[RSD]' /proc/$p/status 2>/dev/null; do sleep 0.01; done; done",
              folder),
        0);
    ck_assert_int_eq(shell("while [ -n \"$(ls -d %s/tfgen-* 2>/dev/null)\" ]; do sleep 0.01; done", folder), 0);
}
END_TEST

START_TEST(a_thousand_kernels_may_keep_a_file_open_each)
{
    struct rlimit r;
    char expected[32];
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &r), 0);
    if (r.rlim_max < 200) return (void)printf("skipped: at most %ld files may be open\n", (long)r.rlim_max);
    snprintf(expected, sizeof expected, "files: %ld\n", r.rlim_max < 65536 ? (long)r.rlim_max : 65536L);
    ck_assert_int_eq(shell("ulimit -Sn 100; TFGEN_HOST_CC=%s %s run specs/rmsnorm.yaml --target=host 2>&1",
                           fake("clang-22", "echo files: $(ulimit -Sn); exit 1"), program()),
                     5);
    says(expected);
}
END_TEST

/* ---- the environment ---- */

START_TEST(variables_that_change_compilers_are_in_a_host_objects_key)
{
    static const char *const values[] = {"", "+-DNOTHING"};
    host_module *m;
    const host_compile_options o = {.cache = open_cache(), .optimise = 0};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2; i++) {
            setenv("CCC_OVERRIDE_OPTIONS", values[i], 1);
            if (!compiled(&o, &m)) return;
            ck_assert_int_eq(host_module_cached(m), round);
            host_module_free(m);
        }
    cache_close(o.cache);
}
END_TEST

/* A setuid program ignores variables that its caller sets. */
START_TEST(a_program_with_more_rights_ignores_the_environment)
{
    if (!is_root()) return (void)printf("skipped: only root can make a program of another user\n");
#ifdef __SANITIZE_ADDRESS__
    return (void)printf("skipped: the leak checker traces its own process, which a program with more rights may not\n");
#endif
    ck_assert_int_eq(chmod(folder, 0755), 0);
    ck_assert_int_eq(shell("cp %s %s/tfgen && chown 65534 %s/tfgen && chmod 4755 %s/tfgen", program(), folder, folder, folder), 0);
    ck_assert_int_eq(shell("TFGEN_CACHE_DIR=/from/the/caller HOME=/from/the/caller %s/tfgen cache path 2>&1", folder), 7);
    says("the kernel cache is off");
    fake("clang-99", "echo ran >&2; exit 1");
    ck_assert_int_eq(shell("TFGEN_HOST_CC=%s/clang-99 TFGEN_CLANG=%s/clang-99 %s/tfgen doctor 2>&1; true", folder, folder, folder), 0);
    ck_assert_ptr_null(strstr(output, "clang-99"));
    ck_assert_int_eq(shell("TFGEN_HOST_CC=%s/clang-99 TFGEN_CLANG=%s/clang-99 %s doctor 2>&1; true", folder, folder, program()), 0);
    says("clang-99");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("trust");
    TCase *t = tcase_create("folders");
    tcase_add_checked_fixture(t, before_each, after_each);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_folder_that_others_own_or_may_write_is_not_used, 0, sizeof exposures / sizeof *exposures);
    tcase_add_test(t, a_failed_removal_is_reported);
    suite_add_tcase(s, t);
    t = tcase_create("code");
    tcase_add_checked_fixture(t, before_each, after_each);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, code_is_loaded_from_the_bytes_that_were_checked);
    tcase_add_test(t, the_file_of_a_loaded_module_is_sealed);
    tcase_add_test(t, a_hundred_modules_are_loaded_separately);
    suite_add_tcase(s, t);
    t = tcase_create("files");
    tcase_add_checked_fixture(t, before_each, after_each);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_link_in_a_files_place_is_replaced_and_not_followed);
    tcase_add_test(t, names_of_temporary_files_are_unpredictable);
    tcase_add_test(t, writing_to_a_device_or_a_pipe_does_not_replace_it);
    tcase_add_loop_test(t, standard_output_by_name_is_written_and_stays_a_link, 0, 2);
    tcase_add_test(t, a_file_that_is_replaced_keeps_its_permissions);
    tcase_add_test(t, a_file_that_cannot_be_written_leaves_the_old_one);
    tcase_add_test(t, an_export_follows_no_link_and_writes_to_an_unpredictable_name_first);
    suite_add_tcase(s, t);
    t = tcase_create("compilers");
    tcase_add_checked_fixture(t, before_each, after_each);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, output_of_a_compiler_that_is_a_pipe_or_a_link_is_refused, 0, 4);
    tcase_add_test(t, processes_that_a_compiler_leaves_running_are_killed);
    tcase_add_loop_test(t, compilers_die_with_the_process_that_asked_for_them, 0, 2);
    tcase_add_test(t, a_thousand_kernels_may_keep_a_file_open_each);
    tcase_add_test(t, variables_that_change_compilers_are_in_a_host_objects_key);
    tcase_add_test(t, a_program_with_more_rights_ignores_the_environment);
    suite_add_tcase(s, t);
    t = tcase_create("words");
    tcase_add_checked_fixture(t, before_each, after_each);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_name_in_ir_text_cannot_lead_out_of_the_output_folder, 0, 4);
    tcase_add_test(t, no_file_name_is_lost_in_json);
    tcase_add_loop_test(t, no_preset_ends_a_comment_of_the_header, 0, 2);
    suite_add_tcase(s, t);
    return run_cache_suite(s);
}
