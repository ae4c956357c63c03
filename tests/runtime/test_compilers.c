/* Compiling source to a code object and facts in a child process, and everything that can fail there. */
#define _GNU_SOURCE
#include "runtime/compile/compiler.h"
#include "runtime/compile/worker.h"
#include "tests/runtime/tiny_kernel.h"
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char tiny[] = TINY_PREFIX TINY_KERNEL;

/* ---- a temporary directory that must be empty afterwards; environment as it was ---- */

static char directory[64];
static char *worker_before, *path_before;

static void restore(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void before_each(void)
{
    strcpy(directory, "/tmp/tfgen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    setenv("TMPDIR", directory, 1);
    worker_before = getenv("TFGEN_WORKER") ? strdup(getenv("TFGEN_WORKER")) : NULL;
    path_before = strdup(getenv("PATH"));
}

static int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = -2; /* . and .. */
    ck_assert_ptr_nonnull(d);
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

static void after_each(void)
{
    const int left = entries(directory);
    restore("TFGEN_WORKER", worker_before);
    restore("PATH", path_before);
    for (const char *const *n = (const char *const[]){"TFGEN_CLANG", "TFGEN_HIPRTC", "TFGEN_NVRTC", "TMPDIR", NULL}; *n;
         n++)
        unsetenv(*n);
    directory_remove(directory);
    free(worker_before);
    free(path_before);
    ck_assert_msg(left == 0, "%d temporary files remain", left);
}

/* ---- shorthand ---- */

static bool present(char *(*find)(void), const char *what)
{
    char *path = find();
    if (!path) printf("skipped: no %s\n", what);
    free(path);
    return path != NULL;
}

static code_status build(const char *source, const char *arch, compiler_kind kind, code_result *r)
{
    const code_request q = {source, strlen(source), "tiny.hip", arch, kind, 60};
    const code_status s = code_compile(&q, r);
    ck_assert_int_eq(s, r->status);
    ck_assert_ptr_nonnull(r->log);
    ck_assert_msg(!strstr(r->log, directory) && !strstr(r->log, "tfgen-test"), "a temporary path in: %s", r->log);
    ck_assert((s == build_ok) == (r->code != NULL));
    return s;
}

#define assert_log_has(r, text) ck_assert_msg(strstr((r)->log, text), "no '%s' in: %s", text, (r)->log)

/* A worker that is a shell script; gets DIRECTORY MODE TOOL ARCH NAME. Outside TMPDIR, which must stay empty. */
static char script_path[64];
static void use_script(const char *body)
{
    strcpy(script_path, "/tmp/tfgen-script-XXXXXX");
    const int fd = mkstemp(script_path);
    ck_assert_int_ge(fd, 0);
    dprintf(fd, "#!/bin/sh\n%s\n", body);
    fchmod(fd, 0700);
    close(fd);
    setenv("TFGEN_WORKER", script_path, 1);
}

/* ---- what works ---- */

typedef struct target {
    const char *arch, *compiler;
    char *(*find)(void);
    unsigned wave;
} target;

static const target targets[] = {
    {"gfx90a", "clang ", clang_find, 64},  {"gfx942", "clang ", clang_find, 64},  {"gfx950", "clang ", clang_find, 64},
    {"gfx1100", "clang ", clang_find, 32}, {"gfx1201", "clang ", clang_find, 32}, {"sm_80", "NVRTC ", nvrtc_find, 32},
    {"sm_90a", "NVRTC ", nvrtc_find, 32},
};
enum { target_count = sizeof targets / sizeof *targets };

static void check_tiny_facts(const code_result *r, unsigned wave)
{
    ck_assert_uint_eq(r->n_kernels, 1);
    const kernel_facts *k = &r->kernels[0];
    ck_assert_str_eq(k->name, "tiny");
    ck_assert_uint_eq(k->kernarg_bytes, 24);
    ck_assert_uint_eq(k->lds_bytes, 1024);
    ck_assert_uint_eq(k->max_threads, 256);
    ck_assert_uint_eq(k->wave, wave);
    ck_assert_uint_eq(k->scratch_bytes, 0);
    ck_assert_uint_eq(k->vgpr_spills + k->sgpr_spills, 0);
    ck_assert(k->vgprs >= 2 && k->vgprs <= 32);
    ck_assert_uint_eq(k->agprs, 0);
    ck_assert((k->sgprs > 0) == (wave == 64 || !strncmp(r->compiler, "clang", 5)));
}

START_TEST(a_tiny_kernel_compiles_for_every_target)
{
    const target *t = &targets[_i];
    code_result r;
    if (!present(t->find, t->compiler)) return;
    ck_assert_msg(build(tiny, t->arch, compiler_auto, &r) == build_ok, "%s", r.log);
    ck_assert_msg(!strncmp(r.compiler, t->compiler, strlen(t->compiler)), "%s", r.compiler);
    ck_assert(strspn(r.compiler + strlen(t->compiler), "0123456789.") > 2);
    ck_assert_str_eq(r.log, "");
    check_tiny_facts(&r, t->wave);
    code_result_free(&r);
}
END_TEST

START_TEST(hiprtc_compiles_for_gfx90a_under_its_own_name)
{
    code_result r;
    if (!present(hiprtc_find, "HIPRTC")) return;
    ck_assert_msg(build(tiny, "gfx90a", compiler_hiprtc, &r) == build_ok, "%s", r.log);
    ck_assert_msg(!strncmp(r.compiler, "HIPRTC ", 7), "%s", r.compiler);
    check_tiny_facts(&r, 64);
    code_result_free(&r);
}
END_TEST

START_TEST(auto_takes_hiprtc_when_there_is_no_usable_clang)
{
    code_result r;
    if (!present(hiprtc_find, "HIPRTC")) return;
    setenv("TFGEN_CLANG", "/nonexistent/clang", 1);
    ck_assert_msg(build(tiny, "gfx90a", compiler_auto, &r) == build_ok, "%s", r.log);
    ck_assert_msg(!strncmp(r.compiler, "HIPRTC ", 7), "%s", r.compiler);
    code_result_free(&r);
    /* a request for clang is never given to another compiler */
    ck_assert_int_eq(build(tiny, "gfx90a", compiler_clang, &r), build_unsupported);
    code_result_free(&r);
}
END_TEST

START_TEST(the_same_source_gives_the_same_bytes)
{
    const target *t = &targets[_i];
    code_result a, b;
    if (!present(t->find, t->compiler)) return;
    ck_assert_int_eq(build(tiny, t->arch, compiler_auto, &a), build_ok);
    ck_assert_int_eq(build(tiny, t->arch, compiler_auto, &b), build_ok);
    ck_assert_uint_eq(a.code_size, b.code_size);
    ck_assert(!memcmp(a.code, b.code, a.code_size));
    ck_assert(!memmem(a.code, a.code_size, directory, strlen(directory)));
    code_result_free(&a);
    code_result_free(&b);
}
END_TEST

START_TEST(feature_suffixes_of_an_architecture_are_kept)
{
    code_result r;
    if (!present(clang_find, "clang")) return;
    ck_assert_msg(build(tiny, "gfx90a:sramecc+:xnack-", compiler_clang, &r) == build_ok, "%s", r.log);
    ck_assert_ptr_nonnull(memmem(r.code, r.code_size, "gfx90a:sramecc+:xnack-", 22));
    code_result_free(&r);
}
END_TEST

START_TEST(scratch_of_an_amd_kernel_is_a_fact)
{
    code_result r;
    if (!present(clang_find, "clang")) return;
    ck_assert_msg(build(TINY_PREFIX SCRATCH_KERNEL TINY_KERNEL, "gfx942", compiler_auto, &r) == build_ok, "%s", r.log);
    ck_assert_uint_eq(r.n_kernels, 2);
    const kernel_facts *scratch = strcmp(r.kernels[0].name, "scratch") ? &r.kernels[1] : &r.kernels[0];
    ck_assert_str_eq(scratch->name, "scratch");
    ck_assert_uint_ge(scratch->scratch_bytes, 1024);
    ck_assert_uint_eq(scratch->kernarg_bytes, 16);
    ck_assert_uint_eq(scratch->lds_bytes, 0);
    code_result_free(&r);
}
END_TEST

/* ---- refusals for NVIDIA only ---- */

START_TEST(local_memory_is_an_error_for_nvidia)
{
    code_result r;
    if (!present(nvrtc_find, "NVRTC")) return;
    ck_assert_int_eq(build(TINY_PREFIX SCRATCH_KERNEL, "sm_90a", compiler_auto, &r), build_failed);
    assert_log_has(&r, "tiny.hip: error: scratch: 1024 bytes of local memory");
    ck_assert_uint_eq(r.n_kernels, 1);
    ck_assert_uint_eq(r.kernels[0].scratch_bytes, 1024);
    code_result_free(&r);
}
END_TEST

/* 64 numbers do not fit in 32 registers; with TF_ALL_REGISTERS there are more. */
START_TEST(a_kernel_that_spills_is_compiled_with_all_registers)
{
    static const char source[] = "#ifdef TF_ALL_REGISTERS\n"
                                 "#define BOUNDS __launch_bounds__(256, 1)\n"
                                 "#else\n"
                                 "#define BOUNDS __launch_bounds__(256, 8)\n"
                                 "#endif\n"
                                 "extern \"C\" __global__ void BOUNDS k(float *x)\n"
                                 "{\n"
                                 "    float v[64], s = 0;\n"
                                 "    _Pragma(\"unroll\") for (int i = 0; i < 64; i++) v[i] = x[i * 256 + threadIdx.x];\n"
                                 "    __syncthreads();\n"
                                 "    _Pragma(\"unroll\") for (int i = 0; i < 64; i++) s = s * v[i] + v[63 - i];\n"
                                 "    x[threadIdx.x] = s;\n"
                                 "}\n";
    code_result r;
    if (!present(nvrtc_find, "NVRTC")) return;
    ck_assert_msg(build(source, "sm_90a", compiler_nvrtc, &r) == build_ok, "%s", r.log);
    ck_assert_uint_eq(r.kernels[0].scratch_bytes, 0);
    ck_assert_uint_gt(r.kernels[0].vgprs, 64);
    ck_assert_ptr_nonnull(strstr(r.compiler, ", all registers"));
    code_result_free(&r);
}
END_TEST

START_TEST(a_warning_of_ptxas_is_an_error)
{
    static const char source[] = "extern \"C\" __global__ void k(float *x)\n"
                                 "{\n"
                                 "    asm volatile(\"setmaxnreg.dec.sync.aligned.u32 40;\");\n"
                                 "    x[threadIdx.x] *= 2;\n"
                                 "}\n";
    code_result r;
    if (!present(nvrtc_find, "NVRTC")) return;
    ck_assert_int_eq(build(source, "sm_90a", compiler_nvrtc, &r), build_failed);
    assert_log_has(&r, "C7508");
    code_result_free(&r);
}
END_TEST

/* ptxas pads before a struct with 64-byte alignment (tensor maps); a missing parameter must still be noticed. */
START_TEST(parameters_are_counted_from_the_first_to_the_last)
{
    static const char source[] =
        "struct alignas(64) map { char opaque[128]; };\n"
        "struct args { map a; float *y; int n; };\n"
        "extern \"C\" __global__ void one(const __grid_constant__ args p) { *p.y = p.a.opaque[threadIdx.x & 127]; }\n"
        "extern \"C\" __global__ void two(float *y, int n) { *y = n; }\n";
    code_result r;
    if (!present(nvrtc_find, "NVRTC")) return;
    ck_assert_msg(build(source, "sm_90a", compiler_nvrtc, &r) == build_ok, "%s", r.log);
    ck_assert_uint_eq(r.n_kernels, 2);
    for (int i = 0; i < 2; i++)
        ck_assert_uint_eq(r.kernels[i].kernarg_bytes, strcmp(r.kernels[i].name, "one") ? 12 : 192);
    code_result_free(&r);
}
END_TEST

static char report[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
    "ptxas info    : Function properties for a\n"
    "    16 bytes stack frame, 24 bytes spill stores, 20 bytes spill loads\n"
    "ptxas info    : Used 168 registers, used 1 barriers, 16 bytes cumulative stack size, 49152 bytes smem\n"
    "ptxas info    : Compiling entry function 'ab' for 'sm_90a'\n"
    "ptxas info    : Function properties for ab\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 12 registers, used 0 barriers\n"
    "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n";

START_TEST(output_of_ptxas_is_parsed_into_facts)
{
    kernel_facts k[2] = {{.name = (char *)"ab", .lds_bytes = 7}, {.name = (char *)"a"}};
    char *log = strdup(report);
    ck_assert(!nvrtc_read_log(&log, "x.hip", k, 2));
    ck_assert_str_eq(log,
                     "x.hip: error: a: 16 bytes of local memory, 24 bytes of spill stores, 20 bytes of spill loads\n"
                     "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
                     "x.hip: warnings, spills and ptxas advice are errors\n");
    ck_assert_uint_eq(k[1].vgprs, 168);
    ck_assert_uint_eq(k[1].vgpr_spills, 6);
    ck_assert_uint_eq(k[1].scratch_bytes, 16);
    ck_assert_uint_eq(k[1].lds_bytes, 49152);
    ck_assert_uint_eq(k[0].vgprs, 12);
    ck_assert_uint_eq(k[0].lds_bytes, 0);
    free(log);
    log = strdup("ptxas info    : Compiling entry function 'ab' for 'sm_90a'\nptxas info    : Function properties for called\n"
                 "    32 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\nptxas info    : Function properties for ab\n"
                 "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
    ck_assert(!nvrtc_read_log(&log, "x.hip", k, 2));
    ck_assert_uint_eq(k[0].scratch_bytes, 32); /* the scratch of a function that the kernel calls */
    ck_assert_uint_eq(k[0].vgpr_spills, 2);
    free(log);
    log = strdup("ptxas info    : 0 bytes gmem\n");
    ck_assert(nvrtc_read_log(&log, "x.hip", k, 2));
    ck_assert_str_eq(log, "");
    free(log);
}
END_TEST

/* ---- sources that are wrong ---- */

static const struct {
    const char *arch, *where;
    compiler_kind kind;
    char *(*find)(void);
} refusers[] = {
    {"gfx942", "specs/tiny.yaml:26:5: tiny.hip:15:14: error: ", compiler_clang, clang_find},
    {"gfx90a", "specs/tiny.yaml:26:5: tiny.hip:15:14: error: ", compiler_hiprtc, hiprtc_find},
    {"sm_90a", "specs/tiny.yaml:26:5: tiny.hip(15): error: ", compiler_nvrtc, nvrtc_find},
};
enum { refuser_count = sizeof refusers / sizeof *refusers };

START_TEST(an_error_is_reported_at_the_line_of_the_page_and_of_the_spec)
{
    code_result r;
    char source[sizeof tiny];
    if (!present(refusers[_i].find, refusers[_i].arch)) return;
    strcpy(source, tiny);
    strstr(source, "p.x[i]")[2] = 'z';
    ck_assert_int_eq(build(source, refusers[_i].arch, refusers[_i].kind, &r), build_failed);
    assert_log_has(&r, refusers[_i].where);
    ck_assert_uint_eq(r.n_kernels, 0);
    ck_assert_ptr_nonnull(r.compiler);
    code_result_free(&r);
}
END_TEST

START_TEST(before_any_line_directive_the_kernels_file_is_named)
{
    code_result r;
    if (!present(refusers[_i].find, refusers[_i].arch)) return;
    ck_assert_int_eq(build("\nint f = g;\n", refusers[_i].arch, refusers[_i].kind, &r), build_failed);
    assert_log_has(&r, refusers[_i].kind == compiler_nvrtc ? "tiny.hip(2): error: " : "tiny.hip:2:9: error: ");
    code_result_free(&r);
}
END_TEST

START_TEST(a_warning_is_an_error)
{
    code_result r;
    if (!present(refusers[_i].find, refusers[_i].arch)) return;
    ck_assert_int_eq(build(TINY_PREFIX "__device__ int f() { int never; return 1; }\n" TINY_KERNEL, refusers[_i].arch,
                           refusers[_i].kind, &r),
                     build_failed);
    assert_log_has(&r, "never");
    code_result_free(&r);
}
END_TEST

/* ---- architectures without a compiler on this machine ---- */

START_TEST(hiprtc_with_an_unknown_architecture_is_unsupported_and_the_caller_lives)
{
    code_result r;
    if (!present(hiprtc_find, "HIPRTC")) return;
    ck_assert_int_eq(build(tiny, "gfx9999", compiler_hiprtc, &r), build_unsupported);
    ck_assert_int_eq(code_exit(r.status), 4);
    assert_log_has(&r, "does not know gfx9999");
    code_result_free(&r);
}
END_TEST

START_TEST(an_unknown_architecture_is_unsupported)
{
    static const char *const unknown[] = {"gfx9999",   "sm_12345",         "riscv",   "",
                                          "gfx90a;rm", "gfx90a --version", "sm_90a\n"};
    code_result r;
    ck_assert_int_eq(build(tiny, unknown[_i], compiler_auto, &r), build_unsupported);
    ck_assert_int_eq(code_exit(r.status), 4);
    ck_assert_uint_gt(strlen(r.log), 20);
    code_result_free(&r);
}
END_TEST

START_TEST(an_old_clang_says_that_a_newer_one_is_needed)
{
    code_result r;
    if (access("/usr/bin/clang-14", X_OK)) return (void)printf("skipped: no clang-14\n");
    setenv("TFGEN_CLANG", "/usr/bin/clang-14", 1);
    ck_assert_int_eq(build(tiny, "gfx942", compiler_clang, &r), build_unsupported);
    assert_log_has(&r, "clang-14 cannot compile for gfx942");
    code_result_free(&r);
    ck_assert_msg(build(tiny, "gfx90a", compiler_clang, &r) == build_ok, "%s", r.log);
    ck_assert_msg(!strncmp(r.compiler, "clang 14.", 9), "%s", r.compiler);
    code_result_free(&r);
}
END_TEST

START_TEST(a_file_that_is_no_library_is_unsupported)
{
    code_result r;
    setenv("TFGEN_NVRTC", "/proc/self/exe", 1);
    ck_assert_int_eq(build(tiny, "sm_90a", compiler_auto, &r), build_unsupported);
    ck_assert_uint_gt(strlen(r.log), 10);
    code_result_free(&r);
    ck_assert_int_eq(build(tiny, "gfx90a", compiler_nvrtc, &r), build_unsupported);
    assert_log_has(&r, "does not compile for gfx90a");
    code_result_free(&r);
}
END_TEST

START_TEST(names_that_would_end_a_directive_are_refused)
{
    code_result r;
    const code_request q = {tiny, strlen(tiny), "a\"\n#error", "gfx90a", compiler_auto, 60};
    ck_assert_int_eq(code_compile(&q, &r), build_failed);
    code_result_free(&r);
}
END_TEST

/* ---- workers that misbehave ---- */

START_TEST(a_hanging_worker_is_killed_with_its_children)
{
    code_result r;
    char path[80], limit[64];
    int child = 0;
    if (!present(clang_find, "clang")) return;
    use_script("trap '' TERM INT HUP\nsleep 600 & echo $! > ${0}.new && mv ${0}.new ${0}.pid\nwait\nsleep 600");
    snprintf(path, sizeof path, "%s.pid", script_path);
    for (double seconds = 0.3; !child; seconds *= 2) { /* on a busy machine the child may start late */
        const code_request q = {tiny, strlen(tiny), "tiny.hip", "gfx942", compiler_clang, seconds};
        ck_assert_int_eq(code_compile(&q, &r), build_timed_out);
        snprintf(limit, sizeof limit, "did not finish within %g seconds", seconds);
        assert_log_has(&r, limit);
        ck_assert_int_eq(code_exit(r.status), 5);
        code_result_free(&r);
        FILE *f = fopen(path, "r");
        if (!f) continue;
        ck_assert_int_eq(fscanf(f, "%d", &child), 1);
        fclose(f);
    }
    FILE *f;
    bool gone = false; /* killed; a zombie until init reaps it */
    while (!gone) {
        char stat[80], state = 'Z';
        snprintf(stat, sizeof stat, "/proc/%d/stat", child);
        if ((f = fopen(stat, "r"))) {
            if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
            fclose(f);
        }
        gone = state == 'Z' || state == 'X';
        usleep(10000);
    }
    ck_assert(gone);
    unlink(path);
    unlink(script_path);
}
END_TEST

static const struct {
    const char *body, *message;
    code_status status;
} bad_workers[] = {
    {"kill -SEGV $$", "killed by signal 11", build_crashed},
    {"echo almost; kill -ABRT $$", "almost\ntiny.hip: clang was killed by signal 6", build_crashed},
    {"exit 0", "without a result", build_crashed},
    {"exit 77", "exit status 77", build_crashed},
    {"echo nonsense > $1/code", "shorter than an ELF header", build_failed},
    {"mkdir $1/code; mkdir -p $1/a/b/c; ln -s / $1/a/root", "without a result", build_crashed},
    {"ln -s /etc/passwd $1/code", "without a result", build_crashed},
    {"echo made it up; exit 5", "made it up", build_failed},
    {"exit 4", "", build_unsupported},
    {"exit 7", "", build_io},
};
enum { bad_worker_count = sizeof bad_workers / sizeof *bad_workers };

START_TEST(a_worker_that_fails_becomes_a_message)
{
    code_result r;
    if (!present(clang_find, "clang")) return;
    use_script(bad_workers[_i].body);
    ck_assert_int_eq(build(tiny, "gfx942", compiler_clang, &r), bad_workers[_i].status);
    assert_log_has(&r, bad_workers[_i].message);
    code_result_free(&r);
    unlink(script_path);
    ck_assert_int_eq(access("/etc/passwd", R_OK), 0);
}
END_TEST

START_TEST(code_for_another_architecture_is_refused)
{
    code_result r;
    char copy[] = "/tmp/tfgen-code-XXXXXX", body[160];
    if (!present(clang_find, "clang")) return;
    ck_assert_int_eq(build(tiny, "gfx942", compiler_clang, &r), build_ok);
    const int fd = mkstemp(copy);
    ck_assert(write(fd, r.code, r.code_size) == (ssize_t)r.code_size);
    close(fd);
    code_result_free(&r);
    snprintf(body, sizeof body, "cp %s $1/code", copy);
    use_script(body);
    ck_assert_int_eq(build(tiny, "gfx942", compiler_clang, &r), build_ok);
    code_result_free(&r);
    ck_assert_int_eq(build(tiny, "gfx950", compiler_clang, &r), build_failed);
    assert_log_has(&r, "asked for gfx950, the compiler made code for gfx942");
    code_result_free(&r);
    unlink(script_path);
    unlink(copy);
}
END_TEST

START_TEST(a_missing_worker_is_reported)
{
    code_result r;
    if (!present(clang_find, "clang")) return;
    setenv("TFGEN_WORKER", "/nonexistent", 1);
    ck_assert_int_eq(build(tiny, "gfx942", compiler_auto, &r), build_io);
    assert_log_has(&r, "TFGEN_WORKER");
    ck_assert_int_eq(code_exit(r.status), 7);
    code_result_free(&r);
}
END_TEST

START_TEST(a_failure_to_make_a_temporary_directory_is_reported)
{
    code_result r;
    if (!present(clang_find, "clang")) return;
    setenv("TMPDIR", "/nonexistent", 1);
    ck_assert_int_eq(build(tiny, "gfx942", compiler_auto, &r), build_io);
    assert_log_has(&r, "set TMPDIR to another");
    code_result_free(&r);
}
END_TEST

START_TEST(a_process_that_ignores_sigchld_still_gets_its_code)
{
    code_result r;
    if (!present(clang_find, "clang")) return;
    signal(SIGCHLD, SIG_IGN);
    ck_assert_msg(build(tiny, "gfx942", compiler_auto, &r) == build_ok, "%s", r.log);
    code_result_free(&r);
    ck_assert_int_eq(build("int f( {", "gfx942", compiler_clang, &r), build_failed);
    code_result_free(&r);
    signal(SIGCHLD, SIG_DFL);
}
END_TEST

START_TEST(when_the_caller_dies_the_worker_cleans_up)
{
    if (!present(clang_find, "clang")) return;
    char slow[] = "/tmp/tfgen-slow-XXXXXX", started[40];
    const int fd = mkstemp(slow);
    snprintf(started, sizeof started, "%s.started", slow);
    dprintf(fd, "#!/bin/sh\n: >%s\nsleep 600\n", started);
    fchmod(fd, 0700);
    close(fd);
    setenv("TFGEN_CLANG", slow, 1);
    const pid_t caller = fork();
    if (caller == 0) {
        code_result r;
        const code_request q = {tiny, strlen(tiny), "tiny.hip", "gfx942", compiler_clang, 60};
        code_compile(&q, &r);
        _exit(0);
    }
    while (access(started, F_OK)) usleep(10000); /* before that there may be no worker to clean up */
    ck_assert_int_eq(entries(directory), 1);
    kill(caller, SIGKILL);
    while (entries(directory)) usleep(10000);
    unlink(started);
    unlink(slow);
}
END_TEST

/* ---- many ---- */

static void count_progress(void *context, size_t index, const code_result *r)
{
    int *seen = context;
    seen[index]++;
    ck_assert_ptr_nonnull(r->log);
}

START_TEST(many_compile_at_once_and_keep_their_places)
{
    enum { n = 5 };
    static const char *const archs[n] = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx9999"};
    code_request q[n];
    code_result r[n];
    int seen[n] = {0};
    if (!present(clang_find, "clang")) return;
    for (int i = 0; i < n; i++) q[i] = (code_request){tiny, strlen(tiny), "tiny.hip", archs[i], compiler_auto, 60};
    ck_assert_int_eq(code_compile_all(q, n, 2, r, count_progress, seen), build_unsupported);
    for (int i = 0; i < n; i++) {
        codeobject c;
        char error[codeobject_error_size];
        ck_assert_int_eq(seen[i], 1);
        ck_assert_int_eq(r[i].status, i < n - 1 ? build_ok : build_unsupported);
        if (i == n - 1) continue;
        ck_assert(codeobject_read(r[i].code, r[i].code_size, &c, error));
        ck_assert_str_eq(c.arch, archs[i]);
        codeobject_free(&c);
    }
    for (int i = 0; i < n; i++) code_result_free(&r[i]);
    ck_assert_int_eq(code_compile_all(q, 0, 0, NULL, NULL, NULL), build_ok);
}
END_TEST

START_TEST(identity_names_the_file_that_would_run)
{
    if (!present(clang_find, "clang")) return;
    char *usual = code_compiler_identity("gfx942", compiler_clang);
    ck_assert_ptr_nonnull(usual);
    ck_assert_int_eq(strncmp(usual, "clang /", 7), 0);
    setenv("TFGEN_CLANG", "/bin/sh", 1);
    char *other = code_compiler_identity("gfx942", compiler_clang);
    ck_assert_str_ne(usual, other);
    ck_assert_ptr_null(code_compiler_identity("sm_90a", compiler_clang));
    free(usual);
    free(other);
}
END_TEST

START_TEST(compilers_are_identified_by_name)
{
    compiler_kind k;
    ck_assert(compiler_by_name("auto", &k) && k == compiler_auto);
    ck_assert(compiler_by_name("clang", &k) && k == compiler_clang);
    ck_assert(compiler_by_name("hiprtc", &k) && k == compiler_hiprtc);
    ck_assert(compiler_by_name("nvrtc", &k) && k == compiler_nvrtc);
    ck_assert(!compiler_by_name("gcc", &k));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("compilers");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, before_each, after_each);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_tiny_kernel_compiles_for_every_target, 0, target_count);
    tcase_add_test(t, hiprtc_compiles_for_gfx90a_under_its_own_name);
    tcase_add_test(t, auto_takes_hiprtc_when_there_is_no_usable_clang);
    tcase_add_loop_test(t, the_same_source_gives_the_same_bytes, 0, target_count);
    tcase_add_test(t, feature_suffixes_of_an_architecture_are_kept);
    tcase_add_test(t, scratch_of_an_amd_kernel_is_a_fact);
    tcase_add_test(t, local_memory_is_an_error_for_nvidia);
    tcase_add_test(t, a_kernel_that_spills_is_compiled_with_all_registers);
    tcase_add_test(t, a_warning_of_ptxas_is_an_error);
    tcase_add_test(t, parameters_are_counted_from_the_first_to_the_last);
    tcase_add_test(t, output_of_ptxas_is_parsed_into_facts);
    tcase_add_loop_test(t, an_error_is_reported_at_the_line_of_the_page_and_of_the_spec, 0, refuser_count);
    tcase_add_loop_test(t, before_any_line_directive_the_kernels_file_is_named, 0, refuser_count);
    tcase_add_loop_test(t, a_warning_is_an_error, 0, refuser_count);
    tcase_add_test(t, hiprtc_with_an_unknown_architecture_is_unsupported_and_the_caller_lives);
    tcase_add_loop_test(t, an_unknown_architecture_is_unsupported, 0, 7);
    tcase_add_test(t, an_old_clang_says_that_a_newer_one_is_needed);
    tcase_add_test(t, a_file_that_is_no_library_is_unsupported);
    tcase_add_test(t, names_that_would_end_a_directive_are_refused);
    tcase_add_test(t, a_hanging_worker_is_killed_with_its_children);
    tcase_add_loop_test(t, a_worker_that_fails_becomes_a_message, 0, bad_worker_count);
    tcase_add_test(t, code_for_another_architecture_is_refused);
    tcase_add_test(t, a_missing_worker_is_reported);
    tcase_add_test(t, a_failure_to_make_a_temporary_directory_is_reported);
    tcase_add_test(t, a_process_that_ignores_sigchld_still_gets_its_code);
    tcase_add_test(t, when_the_caller_dies_the_worker_cleans_up);
    tcase_add_test(t, many_compile_at_once_and_keep_their_places);
    tcase_add_test(t, identity_names_the_file_that_would_run);
    tcase_add_test(t, compilers_are_identified_by_name);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
