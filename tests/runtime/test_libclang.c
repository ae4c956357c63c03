/* What libclang reads from emitted source: layouts, positions, shared memory, and the members of S that a template uses. */
#define _GNU_SOURCE
#include "gen/base/names.h"
#include "runtime/api/compile.h"
#include "runtime/compile/libclang.h"
#include "runtime/compile/worker.h"
#include <check.h>
#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With #line directives to the template and to the page, as the generator writes them. */
#define HEAD                                                                                                           \
    "#ifndef __CUDACC_RTC__\n"                                                                                         \
    "#define __global__ __attribute__((global))\n"                                                                     \
    "#define __device__ __attribute__((device))\n"                                                                     \
    "#define __shared__ __attribute__((shared))\n"                                                                     \
    "#endif\n"                                                                                                         \
    "#line 1 \"templates/gemm/gemm.h\"\n"                                                                                   \
    "template <class S> struct gemm {\n"                                                                               \
    "    static __device__ void run(const typename S::args &p)\n"                                                      \
    "    {\n"                                                                                                          \
    "        __shared__ float t[S::tile];\n"                                                                           \
    "        t[0] = S::scale;\n"                                                                                       \
    "        *p.y = S::template load<4>(p) + t[p.n];\n"                                                                \
    "    }\n"                                                                                                          \
    "};\n"
#define SPEC(scale)                                                                                                    \
    "#line 16 \"ffn_up.hip\"\n"                                                                                        \
    "struct k0_up {\n"                                                                                                 \
    "    struct args { const unsigned short *x; float *y; int n; char tag; double eps; };\n"                           \
    "    static constexpr int tile = 64;\n"                                                                            \
    "    static constexpr float " scale " = 2;\n"                                                                      \
    "    template <int V> static __device__ float load(const args &p) { return p.x[V]; }\n"                            \
    "};\n"
#define KERNEL                                                                                                         \
    "__device__ float table[3];\n"                                                                                     \
    "__shared__ double whole[2][8], idle[9];\n"                                                                             \
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
    return libclang_check(source, strlen(source), "ffn_up.hip", arch, 60, f, log);
}

static const char *const archs[] = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "sm_80", "sm_90a"};
enum { arch_count = sizeof archs / sizeof *archs };

START_TEST(kernels_have_the_layout_that_the_host_uses)
{
    struct args { /* the same struct, compiled by this compiler */
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
    char *report = libclang_report(&f, NULL);
    ck_assert_msg(s == build_ok, "%s%s", report, log);
    ck_assert_uint_eq(f.n_kernels, 1);
    const libclang_kernel *k = &f.kernels[0];
    ck_assert_str_eq(k->name, "ffn_k0");
    ck_assert_uint_eq(k->generated_line, 24);
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

START_TEST(a_kernel_has_the_shared_variables_that_it_reaches_with_their_instantiated_sizes)
{
    libclang_facts f;
    char *log;
    if (!present()) return;
    ck_assert_int_eq(check(HEAD SPEC("scale") KERNEL, archs[_i], &f, &log), build_ok);
    ck_assert_uint_eq(f.n_kernels, 1);
    const libclang_kernel *k = &f.kernels[0];
    ck_assert_uint_eq(k->n_shared, 2); /* not `table`, which is in global memory, and not `idle` */
    ck_assert_str_eq(k->shared[0].name, "t");
    ck_assert_int_eq(k->shared[0].size, 64 * 4);
    ck_assert_str_eq(k->shared[1].name, "whole");
    ck_assert_int_eq(k->shared[1].size, 128);
    ck_assert_int_eq(k->shared[1].align, 8);
    free(log);
    libclang_facts_free(&f);
}
END_TEST

START_TEST(shared_memory_of_no_length_is_dynamic)
{
    static const char source[] = HEAD "extern __shared__ double open[];\n"
                                      "__device__ void deep(float *x) { __shared__ float s[3]; *x = s[0] + open[0]; }\n"
                                      "extern \"C\" __global__ void k(float *x) { deep(x); deep(x); }\n"
                                      "extern \"C\" __global__ void l(float *x) { deep(x); }\n";
    libclang_facts f;
    char *log;
    if (!present()) return;
    ck_assert_int_eq(check(source, archs[_i], &f, &log), build_ok);
    ck_assert_uint_eq(f.n_kernels, 2);
    for (int i = 0; i < 2; i++) { /* each kernel lists all functions that it reaches, once */
        ck_assert_uint_eq(f.kernels[i].n_shared, 2);
        ck_assert_int_eq(f.kernels[i].shared[0].size, 12);
        ck_assert_int_eq(f.kernels[i].shared[1].size, -1);
    }
    free(log);
    libclang_facts_free(&f);
}
END_TEST

/* The error is in the template's text, at the template's line; its note names the page. */
START_TEST(a_member_that_the_generator_forgot_is_reported_at_template_and_page)
{
    libclang_facts f;
    char *log;
    if (!present()) return;
    ck_assert_int_eq(check(HEAD SPEC("scales") KERNEL, archs[_i], &f, &log), build_failed);
    ck_assert_uint_ge(f.n_messages, 2);
    const libclang_message *error = &f.messages[0], *note = &f.messages[1];
    ck_assert_str_eq(error->severity, "error");
    ck_assert_str_eq(error->file, "templates/gemm/gemm.h");
    ck_assert_uint_eq(error->line, 5);
    ck_assert_uint_eq(error->generated_line, 11);
    ck_assert_ptr_nonnull(strstr(error->text, "'scale'"));
    while (note < f.messages + f.n_messages - 1 && strcmp(note->file, "ffn_up.hip")) note++;
    ck_assert_str_eq(note->severity, "note");
    ck_assert_str_eq(note->file, "ffn_up.hip");
    ck_assert_uint_eq(note->line, note->generated_line);
    char *report = libclang_report(&f, NULL);
    ck_assert_msg(!strncmp(report, "templates/gemm/gemm.h:5:19: error: ", 30), "%s", report);
    ck_assert_msg(strstr(report, "ffn_up.hip:") && strstr(report, " (generated line 11)\n"), "%s", report);
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

START_TEST(odd_sources_fail_without_a_crash)
{
    static const char *const odd[] = {"", "#include \"nowhere.h\"\n", "\t\001\377", "struct {",
                                      "#line 4294967295 \"x\ty\"\nint a = b;"};
    libclang_facts f;
    char *log;
    if (!present()) return;
    ck_assert_int_eq(check(odd[_i], "gfx942", &f, &log), _i == 0 ? build_ok : build_failed);
    ck_assert_uint_eq(f.n_kernels, 0);
    char *report = libclang_report(&f, NULL);
    ck_assert(_i == 0 || strstr(report, "error: "));
    free(report);
    free(log);
    libclang_facts_free(&f);
}
END_TEST

/* ---- the plan's description of a kernel against what libclang found */

/* The layout of k0_up::args above, as a plan has it. */
static void as_planned(argument *list)
{
    static const argument fields[] = {{.name = "x", .offset = 0, .size = 8},
                                      {.name = "y", .offset = 8, .size = 8},
                                      {.name = "n", .offset = 16, .size = 4},
                                      {.name = "tag", .offset = 20, .size = 1},
                                      {.name = "eps", .offset = 24, .size = 8}};
    memcpy(list, fields, sizeof fields);
}

#define ONE_PARAMETER                                                                                                  \
    "extern \"C\" __global__ void ffn_k0(const k0_up::args p) { gemm<k0_up>::run(p); }\n"

static char *difference(const char *source, const libclang_expected *e)
{
    libclang_facts f;
    char *log;
    ck_assert_int_eq(check(source, "gfx942", &f, &log), build_ok);
    char *text = libclang_difference(&f, e);
    libclang_facts_free(&f);
    free(log);
    return text;
}

START_TEST(a_kernel_as_planned_has_no_differences)
{
    argument list[5];
    const libclang_expected e = {"ffn_k0", "ffn_k0", list, 5, 32, 256};
    if (!present()) return;
    as_planned(list);
    char *text = difference(HEAD SPEC("scale") ONE_PARAMETER, &e);
    ck_assert_msg(text == NULL, "%s", text);
}
END_TEST

START_TEST(every_difference_from_the_plan_names_kernel_and_field)
{
    static const struct {
        int change;
        const char *says;
    } cases[] = {
        {0, "ffn_k0: the source has field n of const k0_up::args at byte 16, the plan at byte 20"},
        {1, "ffn_k0: the source has field tag of const k0_up::args in 1 bytes, the plan in 4"},
        {2, "ffn_k0: const k0_up::args has no field z, which the plan fills"},
        {3, "ffn_k0: const k0_up::args has 5 fields, the plan fills 4"},
        {4, "ffn_k0: const k0_up::args is 32 bytes, the plan's arguments are 40"},
        {5, "ffn_k0: the source has 256 bytes of static shared memory, the plan 260"},
        {6, "ffn_k1: the source has 1 kernels, none of this name"},
        {7, "ffn_k0: the kernel takes 2 parameters, the plan passes one struct"},
    };
    argument list[5];
    libclang_expected e = {"ffn_k0", "ffn_k0", list, 5, 32, 256};
    if (!present()) return;
    as_planned(list);
    switch (cases[_i].change) {
    case 0: list[2].offset = 20; break;
    case 1: list[3].size = 4; break;
    case 2: list[0].name = "z"; break;
    case 3: e.argument_count = 4; break;
    case 4: e.argument_bytes = 40; break;
    case 5: e.shared_bytes = 260; break;
    case 6: e.kernel = e.symbol = "ffn_k1"; break;
    default: break;
    }
    char *text = difference(_i == 7 ? HEAD SPEC("scale") KERNEL : HEAD SPEC("scale") ONE_PARAMETER, &e);
    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, cases[_i].says);
    free(text);
}
END_TEST

START_TEST(messages_of_the_compiler_are_printed_once)
{
    libclang_facts f;
    char *log;
    if (!present()) return;
    ck_assert_int_eq(check(HEAD SPEC("scales") KERNEL, "gfx942", &f, &log), build_failed);
    char *once = libclang_report(&f, f.messages[0].text), *all = libclang_report(&f, "another message");
    ck_assert_str_eq(once, "");
    ck_assert_ptr_nonnull(strstr(all, "templates/gemm/gemm.h:5:19: error: "));
    free(once);
    free(all);
    free(log);
    libclang_facts_free(&f);
}
END_TEST

/* ---- emitted sources */

typedef struct planned {
    arena *a;
    compiled c;
    const char *path, *target;
} planned;

static planned plan_spec(const char *path, const char *target, fusion_level level)
{
    planned p = {.a = arena_new(), .path = path, .target = target};
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    char *text = arena_alloc(p.a, 1 << 20);
    const size_t size = fread(text, 1, 1 << 20, f);
    fclose(f);
    const compile_request r = {.text = text, .size = size, .name = path, .target = target, .level = level};
    ck_assert_msg(compile(p.a, &r, &p.c) == code_ok, "%s", arena_diagnostics(p.a));
    return p;
}

static const char *const shipped[] = {
    "attention", "bert-block", "elementwise", "gelu-layernorm-linear", "gpt2-block", "gpt2-decode", "l2norm", "layernorm-gelu-linear",
    "layernorm", "linear", "llama-block", "llama-decode", "qkv-rope", "rmsnorm", "softmax", "swiglu", "../tests/specs/language/functions"};
enum { shipped_count = sizeof shipped / sizeof *shipped };

/* Each spec is emitted for one of the targets in turn. */
START_TEST(emitted_kernels_match_their_plans)
{
    char path[64];
    if (!present()) return;
    snprintf(path, sizeof path, "specs/%s.yaml", shipped[_i]);
    /* the last spec has the rarer ops, some of which use functions of CUDA */
    planned p = plan_spec(path, _i == shipped_count - 1 ? "sm_90a" : archs[_i % arch_count], fusion_tile);
    for (int i = 0; i < p.c.plan->launch_count; i++) {
        const launch *l = &p.c.plan->launches[i];
        const libclang_expected e = {l->name,           name_marked(p.a, l->name, name_value),
                                     l->arguments,      l->argument_count,
                                     l->argument_bytes, l->shared_bytes};
        libclang_facts f;
        char *log;
        const code_status s = libclang_check(source_join(p.a, &l->source), source_size(&l->source), l->file, p.target, 0, &f, &log);
        char *report = libclang_report(&f, NULL), *differs = s ? NULL : libclang_difference(&f, &e);
        ck_assert_msg(s == build_ok && !*report && !differs, "%s for %s: %s%s%s", path, p.target, report, log, differs ? differs : "");
        free(report);
        free(log);
        libclang_facts_free(&f);
    }
    arena_free(p.a);
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
                             "template <class S> void loose() { S::of_a_function(); }\n"
                             "template <class S> struct choosy {\n"
                             "    static constexpr int a = S::always;\n"
                             "    void f()\n"
                             "    {\n"
                             "        if constexpr (S::condition) for (int i = 0; i < 2; i++) { S::first(); }\n"
                             "        else S::second(T{S::third}, [] { S::fourth(); });\n"
                             "        S::behind();\n"
                             "        if constexpr (S::condition) { if (a) S::fifth(); else S::sixth(); }\n"
                             "        if (S::plain) S::seventh(); else S::eighth();\n"
                             "        if constexpr (a) S::mixed(); S::mixed();\n"
                             "        if constexpr (a) { S::ninth(); }\n"
                             "    }\n"
                             "    void g() { S::tenth(); }\n"
                             "};\n";

static char *requirements(const char *name, code_status *status)
{
    libclang_facts f;
    char *log, *joined = calloc(1, 1000);
    *status = libclang_template_requirements(family, sizeof family - 1, "templates/gemm/gemm.h", name, &f, &log);
    for (size_t i = 0; i < f.n_requirements; i++)
        snprintf(joined + strlen(joined), 1000 - strlen(joined), "%s%s:%u ", f.requirements[i].guarded ? "?" : "",
                 f.requirements[i].name, f.requirements[i].line);
    if (*status) snprintf(joined, 1000, "%s", log);
    free(log);
    libclang_facts_free(&f);
    return joined;
}

START_TEST(a_template_states_which_members_of_s_it_needs)
{
    static const struct {
        const char *name, *members;
        code_status status;
    } cases[] = {
        {"gemm", "args:4 tile_m:5 tile_n:5 load:8 last:8 ", build_ok},
        {"other", "only_other:2 ", build_ok},
        {"choosy", "always:12 condition:15 ?first:15 ?second:16 ?third:16 ?fourth:16 behind:17 ?fifth:18 ?sixth:18 plain:19 "
                   "seventh:19 eighth:19 mixed:20 ?ninth:21 tenth:23 ", build_ok},
        {"absent", "templates/gemm/gemm.h: no template <class S> struct absent\n", build_failed},
    };
    code_status status;
    if (!present()) return;
    char *found = requirements(cases[_i].name, &status);
    ck_assert_str_eq(found, cases[_i].members);
    ck_assert_int_eq(status, cases[_i].status);
    free(found);
}
END_TEST

/* ---- members that templates use against those that the generator wrote */

enum { most_members = 256 };

typedef struct name_set {
    char names[most_members][64];
    int count;
} name_set;

static bool has(const name_set *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->names[i], name)) return true;
    return false;
}

/* Names that the struct itself declares: outside of all brackets, and followed by the end of a declarator. */
static name_set members_of(const char *body)
{
    name_set s = {.count = 0};
    int depth = 0;
    for (const char *p = body; *p && depth >= 0; p++) {
        const size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (p[0] == '/' && p[1] == '/') p += strcspn(p, "\n");
        if (strchr("({[", *p)) depth++;
        if (strchr(")}]", *p)) depth--;
        if (!n) continue;
        ck_assert(s.count < most_members);
        const char *behind = p + n + strspn(p + n, " ");
        if (depth == 0 && *behind && strchr("(=;,{[", *behind)) snprintf(s.names[s.count++], 64, "%.*s", (int)n, p);
        p += n - 1;
    }
    return s;
}

typedef struct asked { /* the members that one template uses; read once */
    char file[64], name[32];
    libclang_facts facts;
} asked;

static const libclang_facts *asked_by(const char *file, const char *name)
{
    enum { most = 32 };
    static asked known[most]; /* freed when the test process ends */
    static int count;
    for (int i = 0; i < count; i++)
        if (!strcmp(known[i].file, file) && !strcmp(known[i].name, name)) return &known[i].facts;
    ck_assert_int_lt(count, most);
    asked *a = &known[count++];
    char *log, *text = calloc(1, 1 << 20);
    FILE *f = fopen(file, "rb");
    ck_assert_msg(f != NULL, "no %s", file);
    const size_t size = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    snprintf(a->file, sizeof a->file, "%s", file);
    snprintf(a->name, sizeof a->name, "%s", name);
    const code_status s = libclang_template_requirements(text, size, file, name, &a->facts, &log);
    ck_assert_msg(s == build_ok && a->facts.n_requirements > 0, "%s: %s: %s", file, name, log);
    free(log);
    free(text);
    return &a->facts;
}

/* Members that are used only in functions that are never called (for example of passes where there are none) or in a specialisation that
 * the struct does not choose. */
static bool asked_by_none(const char *header, const char *member)
{
    if (strstr(header, "split_k = 1,") && !strcmp(member, "partial")) return true;
    if (strstr(header, ", parts = 1;") && !strcmp(member, "partial")) return true;
    if (strstr(header, "across = false;") && (!strcmp(member, "columns") || !strcmp(member, "batches"))) return true;
    return strstr(header, "passes = 0;") && (!strcmp(member, "kind") || !strcmp(member, "term"));
}

/* The sentence is empty, or names a missing member. The header is one spec struct after its comment. */
static void compare_header(const char *header, char *sentence, size_t room)
{
    static const struct {
        const char *file, *members, *names[4]; /* members: in the struct; names: templates that take it */
    } programs[] = {
        {"templates/gemm/gemm.h", "", {"gemm", "gemm_tiles", "gemm_skinny", NULL}},
        {"templates/attention/decode.h", "kv_heads", {"decode", NULL}},
        {"templates/attention/decode.h", "", {"combine", NULL}},
        {"templates/rows/columns.h", "", {"column_reduction", NULL}},
    };
    char file[64] = "", structure[64] = "", own[32] = "";
    const char *beside = strstr(header, "beside templates/"), *start = strstr(header, "\nstruct ");
    ck_assert_msg(beside && start, "%.100s", header);
    snprintf(file, sizeof file, "%.*s", (int)strcspn(beside + 7, "\n") - 1, beside + 7);
    const char *name = strrchr(file, '/') + 1;
    snprintf(own, sizeof own, "%.*s", (int)strcspn(name, "."), name);
    snprintf(structure, sizeof structure, "%.*s", (int)strcspn(start + 8, " "), start + 8);
    const name_set members = members_of(strchr(start, '{') + 1);
    const char *const alone[] = {own, NULL}, *const *names = alone;
    for (size_t i = 0; i < sizeof programs / sizeof *programs && names == alone; i++)
        if (!strcmp(programs[i].file, file) && (!*programs[i].members || has(&members, programs[i].members)))
            names = programs[i].names;
    *sentence = 0;
    for (; *names && !*sentence; names++) {
        const libclang_facts *f = asked_by(file, *names);
        for (size_t i = 0; i < f->n_requirements && !*sentence; i++)
            if (!f->requirements[i].guarded && !has(&members, f->requirements[i].name) && !asked_by_none(header, f->requirements[i].name))
                snprintf(sentence, room, "%s:%u: %s asks for S::%s, which %s does not have", file, f->requirements[i].line, *names,
                         f->requirements[i].name, structure);
    }
}

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 4 << 20);
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_lt(fread(text, 1, 4 << 20, f), 4 << 20);
    fclose(f);
    return text;
}

/* Compares each header of a file; returns how many there are. */
static int compare_headers(const char *path)
{
    static const char head[] = "// Written by tfgen: ";
    char *text = read_whole(path), sentence[400];
    int count = 0;
    for (char *at = strstr(text, head), *next; at; at = next, count++) {
        next = strstr(at + 1, head);
        if (next) next[-1] = 0;
        compare_header(at, sentence, sizeof sentence);
        ck_assert_msg(!*sentence, "%s: %s", path, sentence);
    }
    free(text);
    return count;
}

START_TEST(generated_structs_have_what_their_templates_ask_for)
{
    glob_t files;
    int headers = 0;
    if (!present()) return;
    char folder[] = "/tmp/tfgen-libclang-XXXXXX", line[400];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(line, sizeof line,
             "for s in specs/*-*.yaml tests/specs/*.yaml; do for l in none tile; do \"${TFGEN:-./tfgen}\" emit $s -q --fusion=$l "
             "--target=gfx942,sm_90a -o %s/$l-$(basename $s .yaml) || exit; done; done", folder);
    ck_assert_int_eq(system(line), 0);
    snprintf(line, sizeof line, "%s/*/*/*.spec.h", folder);
    ck_assert_int_eq(glob(line, 0, NULL, &files), 0);
    ck_assert_int_eq(glob("tests/golden/emit/*/*.h", GLOB_APPEND, NULL, &files), 0);
    ck_assert_int_eq(glob("templates/*/*.spec.h", GLOB_APPEND, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) headers += compare_headers(files.gl_pathv[i]);
    snprintf(line, sizeof line, "rm -r %s", folder);
    ck_assert_int_eq(system(line), 0);
    ck_assert_int_gt(headers, 500);
    globfree(&files);
}
END_TEST

START_TEST(a_removed_member_of_a_spec_struct_is_reported_by_name)
{
    static const struct {
        const char *file, *taken, *name, *says;
    } cases[] = {
        {"templates/rows/rows.spec.h", "DEV static int rows(", "rows(",
         "templates/rows/rows.h:%u: rows asks for S::rows, which layernorm_n_spec does not have"},
        {"templates/gemm/gemm.spec.h", "granule = 16", "granule",
         "templates/gemm/gemm.h:%u: gemm_tiles asks for S::granule, which llama_qkv_spec does not have"},
        {"templates/gemm/gemm.spec.h", "struct context {", "context",
         "templates/gemm/gemm.h:%u: gemm_tiles asks for S::context, which llama_qkv_spec does not have"},
        {"templates/attention/attention.spec.h", "DEV static int keys(", "keys(",
         "templates/attention/attention.h:%u: attention asks for S::keys, which llama_attention_spec does not have"},
        {"templates/attention/decode.spec.h", "using type = ", "type", NULL}, /* asked for by no decode */
        {"templates/attention/decode.spec.h", "window = 0", "window",
         "templates/attention/decode.h:%u: decode asks for S::window, which llama_decode_attention_spec does not have"},
        {"templates/gemm/pack.spec.h", "DEV static float element(", "element(",
         "templates/gemm/pack.h:%u: pack asks for S::element, which llama_qkv_pack_spec does not have"},
    };
    if (!present()) return;
    char *text = read_whole(cases[_i].file), *at = strstr(text, cases[_i].taken), sentence[400], expected[400] = "";
    ck_assert_msg(at != NULL, "%s has no '%s'", cases[_i].file, cases[_i].taken);
    *strstr(at, cases[_i].name) = 'X'; /* granule becomes Xranule */
    compare_header(text, sentence, sizeof sentence);
    unsigned line = 0;
    if (cases[_i].says) {
        ck_assert_int_eq(sscanf(strchr(sentence, ':') ? strchr(sentence, ':') + 1 : "", "%u", &line), 1);
        snprintf(expected, sizeof expected, cases[_i].says, line);
    }
    ck_assert_str_eq(sentence, expected);
    free(text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("libclang");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, kernels_have_the_layout_that_the_host_uses, 0, arch_count);
    tcase_add_loop_test(t, a_kernel_has_the_shared_variables_that_it_reaches_with_their_instantiated_sizes, 0, arch_count);
    tcase_add_loop_test(t, shared_memory_of_no_length_is_dynamic, 0, arch_count);
    tcase_add_loop_test(t, a_member_that_the_generator_forgot_is_reported_at_template_and_page, 0, arch_count);
    tcase_add_loop_test(t, an_architecture_that_libclang_does_not_know_is_unsupported, 0, 2);
    tcase_add_test(t, a_missing_libclang_is_unsupported);
    tcase_add_loop_test(t, odd_sources_fail_without_a_crash, 0, 5);
    tcase_add_test(t, a_kernel_as_planned_has_no_differences);
    tcase_add_loop_test(t, every_difference_from_the_plan_names_kernel_and_field, 0, 8);
    tcase_add_test(t, messages_of_the_compiler_are_printed_once);
    tcase_add_loop_test(t, emitted_kernels_match_their_plans, 0, shipped_count);
    tcase_add_loop_test(t, a_template_states_which_members_of_s_it_needs, 0, 4);
    tcase_add_test(t, generated_structs_have_what_their_templates_ask_for);
    tcase_add_loop_test(t, a_removed_member_of_a_spec_struct_is_reported_by_name, 0, 7);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
