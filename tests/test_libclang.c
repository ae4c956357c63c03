/* What clang's parser says of emitted source: layouts, positions, shared memory, and what a template asks of its S. */
#define _GNU_SOURCE
#include "runtime/libclang.h"
#include "runtime/worker.h"
#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the generator writes it: line directives to the template and to the spec. */
#define HEAD                                                                                                           \
    "#ifndef __CUDACC_RTC__\n"                                                                                         \
    "#define __global__ __attribute__((global))\n"                                                                     \
    "#define __device__ __attribute__((device))\n"                                                                     \
    "#define __shared__ __attribute__((shared))\n"                                                                     \
    "#endif\n"                                                                                                         \
    "#line 1 \"templates/gemm.h\"\n"                                                                                   \
    "template <class S> struct gemm {\n"                                                                               \
    "    static __device__ void run(const typename S::args &p)\n"                                                      \
    "    {\n"                                                                                                          \
    "        __shared__ float t[S::tile];\n"                                                                           \
    "        t[0] = S::scale;\n"                                                                                       \
    "        *p.y = S::template load<4>(p) + t[p.n];\n"                                                                \
    "    }\n"                                                                                                          \
    "};\n"
#define SPEC(scale)                                                                                                    \
    "#line 13 \"specs/ffn.yaml\"\n"                                                                                    \
    "struct k0_up {\n"                                                                                                 \
    "    struct args { const unsigned short *x; float *y; int n; char tag; double eps; };\n"                           \
    "    static constexpr int tile = 64;\n"                                                                            \
    "    static constexpr float " scale " = 2;\n"                                                                      \
    "    template <int V> static __device__ float load(const args &p) { return p.x[V]; }\n"                            \
    "};\n"
#define KERNEL                                                                                                         \
    "#line 30 \"specs/ffn.yaml\"\n"                                                                                    \
    "__device__ float table[3];\n"                                                                                     \
    "__shared__ double whole[2][8];\n"                                                                                 \
    "extern \"C\" __global__ void ffn_k0(const k0_up::args p, int extra) { gemm<k0_up>::run(p); whole[0][0] = extra; " \
    "}\n"

static bool present(void)
{
    char *path = libclang_find();
    if (!path) printf("skipped: no libclang\n");
    free(path);
    return path != NULL;
}

static code_status check(const char *source, const char *arch, libclang_facts *f, char **log)
{
    return libclang_check(source, strlen(source), "ffn.k0.hip", arch, 60, f, log);
}

static const char *const archs[] = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "sm_90a"};
enum { arch_count = sizeof archs / sizeof *archs };

START_TEST(kernels_have_the_layout_that_the_host_uses)
{
    struct args { /* the same struct, by this compiler */
        const unsigned short *x;
        float *y;
        int n;
        char tag;
        double eps;
    };
    static const size_t offsets[] = {offsetof(struct args, x), offsetof(struct args, y), offsetof(struct args, n),
                                     offsetof(struct args, tag), offsetof(struct args, eps)};
    static const char *const names[] = {"x", "y", "n", "tag", "eps"};
    libclang_facts f;
    char *log;
    if (!present()) return;
    const code_status s = check(HEAD SPEC("scale") KERNEL, archs[_i], &f, &log);
    char *report = libclang_report(&f);
    ck_assert_msg(s == build_ok, "%s%s", report, log);
    ck_assert_uint_eq(f.n_kernels, 1);
    const libclang_kernel *k = &f.kernels[0];
    ck_assert_str_eq(k->name, "ffn_k0");
    ck_assert_uint_eq(k->generated_line, 25);
    ck_assert_uint_eq(k->n_parameters, 2);
    ck_assert_str_eq(k->parameters[0].name, "p");
    ck_assert_str_eq(k->parameters[0].type, "const k0_up::args");
    ck_assert_int_eq(k->parameters[0].size, sizeof(struct args));
    ck_assert_int_eq(k->parameters[0].align, _Alignof(struct args));
    ck_assert_uint_eq(k->parameters[0].n_fields, 5);
    for (int i = 0; i < 5; i++) {
        ck_assert_str_eq(k->parameters[0].fields[i].name, names[i]);
        ck_assert_int_eq(k->parameters[0].fields[i].offset, offsets[i]);
    }
    ck_assert_int_eq(k->parameters[0].fields[3].size, 1);
    ck_assert_str_eq(k->parameters[1].type, "int");
    ck_assert_uint_eq(k->parameters[1].n_fields, 0);
    ck_assert(strstr(f.version, "clang version") != NULL);
    free(report);
    free(log);
    libclang_facts_free(&f);
}
END_TEST

START_TEST(shared_variables_have_sizes_unless_a_template_decides)
{
    libclang_facts f;
    char *log;
    if (!present()) return;
    ck_assert_int_eq(check(HEAD SPEC("scale") KERNEL, "gfx942", &f, &log), build_ok);
    ck_assert_uint_eq(f.n_shared, 2); /* not `table`, which is in global memory */
    ck_assert_str_eq(f.shared[0].name, "t");
    ck_assert_int_eq(f.shared[0].size, -1);
    ck_assert_str_eq(f.shared[1].name, "whole");
    ck_assert_int_eq(f.shared[1].size, 128);
    free(log);
    libclang_facts_free(&f);
}
END_TEST

/* The error is in the template's text, at the template's line; its note names the spec. */
START_TEST(a_member_that_the_generator_forgot_is_reported_at_template_and_spec)
{
    libclang_facts f;
    char *log;
    if (!present()) return;
    ck_assert_int_eq(check(HEAD SPEC("scales") KERNEL, archs[_i], &f, &log), build_failed);
    ck_assert_uint_ge(f.n_messages, 2);
    const libclang_message *error = &f.messages[0], *note = &f.messages[1];
    ck_assert_str_eq(error->severity, "error");
    ck_assert_str_eq(error->file, "templates/gemm.h");
    ck_assert_uint_eq(error->line, 5);
    ck_assert_uint_eq(error->generated_line, 11);
    ck_assert_ptr_nonnull(strstr(error->text, "'scale'"));
    while (note < f.messages + f.n_messages - 1 && strcmp(note->file, "specs/ffn.yaml")) note++;
    ck_assert_str_eq(note->severity, "note");
    ck_assert_str_eq(note->file, "specs/ffn.yaml");
    char *report = libclang_report(&f);
    ck_assert_msg(!strncmp(report, "templates/gemm.h:5:19: error: ", 30), "%s", report);
    ck_assert_msg(strstr(report, "specs/ffn.yaml:") && strstr(report, " (generated line 11)\n"), "%s", report);
    free(report);
    free(log);
    libclang_facts_free(&f);
}
END_TEST

START_TEST(an_architecture_that_libclang_does_not_know_is_unsupported)
{
    static const char *const unknown[] = {"gfx9999", "sm_99x"};
    libclang_facts f;
    char *log;
    if (!present()) return;
    ck_assert_int_eq(check(HEAD SPEC("scale") KERNEL, unknown[_i], &f, &log), build_unsupported);
    ck_assert_msg(strstr(log, unknown[_i]) != NULL, "%s", log);
    free(log);
    libclang_facts_free(&f);
}
END_TEST

START_TEST(a_missing_libclang_is_unsupported)
{
    libclang_facts f;
    char *log;
    setenv("TFGEN_LIBCLANG", "/nonexistent.so", 1);
    ck_assert_int_eq(check("int a;", "gfx942", &f, &log), build_unsupported);
    ck_assert_msg(strstr(log, "/nonexistent.so") != NULL, "%s", log);
    ck_assert_uint_eq(f.n_kernels, 0);
    free(log);
    libclang_facts_free(&f);
    unsetenv("TFGEN_LIBCLANG");
}
END_TEST

START_TEST(odd_sources_are_only_failures)
{
    static const char *const odd[] = {"", "#include \"nowhere.h\"\n", "\t\001\377", "struct {",
                                      "#line 4294967295 \"x\ty\"\nint a = b;"};
    libclang_facts f;
    char *log;
    if (!present()) return;
    ck_assert_int_eq(check(odd[_i], "gfx942", &f, &log), _i == 0 ? build_ok : build_failed);
    ck_assert_uint_eq(f.n_kernels, 0);
    char *report = libclang_report(&f);
    ck_assert(_i == 0 || strstr(report, "error: "));
    free(report);
    free(log);
    libclang_facts_free(&f);
}
END_TEST

static const char family[] = "template <class S> struct gemm; // a declaration asks for nothing: S::nothing\n"
                             "template <class S> struct other { static constexpr int a = S::only_other; };\n"
                             "template <class S> struct gemm {\n"
                             "    using args = typename S::args;\n"
                             "    static constexpr int m = S::tile_m, n = S :: tile_n, again = S::tile_m;\n"
                             "    /* S::in_a_comment */\n"
                             "    template <class R> void f(R r) { r(\"S::in_text\"); R::of_r(); x::S::not_s(); }\n"
                             "    float g() { if (m) { return S::template load<4>(); } return S::last; }\n"
                             "};\n"
                             "template <class S> void loose() { S::of_a_function(); }\n";

static char *requirements(const char *name, code_status *status)
{
    libclang_facts f;
    char *log, *joined = calloc(1, 1000);
    *status = libclang_template_requirements(family, sizeof family - 1, "templates/gemm.h", name, &f, &log);
    for (size_t i = 0; i < f.n_requirements; i++)
        snprintf(joined + strlen(joined), 1000 - strlen(joined), "%s:%u ", f.requirements[i].name,
                 f.requirements[i].line);
    if (*status) snprintf(joined, 1000, "%s", log);
    free(log);
    libclang_facts_free(&f);
    return joined;
}

START_TEST(a_template_says_what_it_asks_of_s)
{
    static const struct {
        const char *name, *members;
        code_status status;
    } cases[] = {
        {"gemm", "args:4 tile_m:5 tile_n:5 load:8 last:8 ", build_ok},
        {"other", "only_other:2 ", build_ok},
        {"", "only_other:2 args:4 tile_m:5 tile_n:5 load:8 last:8 of_a_function:10 ", build_ok},
        {"absent", "templates/gemm.h: no template <class S> struct absent\n", build_failed},
    };
    code_status status;
    if (!present()) return;
    char *found = requirements(cases[_i].name, &status);
    ck_assert_str_eq(found, cases[_i].members);
    ck_assert_int_eq(status, cases[_i].status);
    free(found);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("libclang");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, kernels_have_the_layout_that_the_host_uses, 0, arch_count);
    tcase_add_test(t, shared_variables_have_sizes_unless_a_template_decides);
    tcase_add_loop_test(t, a_member_that_the_generator_forgot_is_reported_at_template_and_spec, 0, arch_count);
    tcase_add_loop_test(t, an_architecture_that_libclang_does_not_know_is_unsupported, 0, 2);
    tcase_add_test(t, a_missing_libclang_is_unsupported);
    tcase_add_loop_test(t, odd_sources_are_only_failures, 0, 5);
    tcase_add_loop_test(t, a_template_says_what_it_asks_of_s, 0, 4);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
