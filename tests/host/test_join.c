/* Pages compiled together: which are joined, that each kernel computes what it does alone, and that its faults keep their place. */
#define _GNU_SOURCE
#include "runtime/host/host.h"
#include "tests/support.h"
#include <stdlib.h>
#include <string.h>

enum { most_pages = 32 };

#define HEAD(name) "// Written by tfgen: " name " of specs/one.yaml for cdna, wave 64.\n"
#define COMMON "#line 1 \"templates/common.h\"\ntemplate <int N> int twice() { return 2 * N; }\n"
#define KERNEL(name, value)                                                                             \
    "#line 7 \"" name ".hip\"\n"                                                                        \
    "extern \"C\" __global__ void " name "_(int *p)\n{\n    *p = " value "; // !26:5\n}\nTF_EXPORT(" name "_)\n"
#define TRAP "(__builtin_trap(), 0)"

static host_page page_of(const char *name, const char *text) { return (host_page){name, text, strlen(text)}; }

static size_t together(const host_page *pages, size_t count, int level, host_module **out)
{
    size_t made = 0;
    memset(out, 0, count * sizeof *out);
    host_compile_together(pages, count, &(host_compile_options){.optimise = level}, out);
    for (size_t i = 0; i < count; i++) made += out[i] != NULL;
    return made;
}

static host_status run_one(host_module *m, const char *kernel, int *value, host_log *log)
{
    host_engine *e = host_engine_open(NULL);
    int *memory = host_alloc(e, sizeof *memory, "p");
    void *params[] = {&memory};
    const host_status s = host_launch(e, m, kernel, &(host_launch_dims){.grid = {1}, .block = {1}}, params, log);
    *value = *memory;
    host_free(e, memory);
    host_engine_close(e);
    return s;
}

START_TEST(kernel_sources_are_joined_into_one_module)
{
    const char *const first = HEAD("a") "#define TF_A 1\n" COMMON "#line 1 \"templates/a.h\"\n// TF_B\nint of_a() { return TF_A; }\n"
        KERNEL("a", "twice<1>() + of_a()");
    const char *const second = HEAD("b") "#define TF_B 5\n" COMMON
        "#line 1 \"templates/b.h\"\n#if defined(__CUDACC_RTC__) && defined(TF_A)\n#error\n#endif\nint of_b() { return TF_B; }\n"
        KERNEL("b", "twice<2>() + of_b()");
    const char *const third = HEAD("c") COMMON KERNEL("c", TRAP);
    const host_page pages[] = {page_of("a.hip", first), page_of("b.hip", second), page_of("c.hip", third)};
    host_module *m[3];
    host_log log = {0};
    int a = 0, b = 0, c = 0;
    ck_assert_uint_eq(together(pages, 3, 0, m), 3);
    ck_assert(m[0] == m[1] && m[0] == m[2]);
    host_module_free(m[2]); /* the others still work */
    ck_assert_int_eq(run_one(m[0], "a_", &a, NULL), HOST_OK);
    ck_assert_int_eq(run_one(m[1], "b_", &b, NULL), HOST_OK);
    ck_assert_int_eq(a, 3);
    ck_assert_int_eq(b, 9);
    host_module_free(m[0]);
    ck_assert_int_eq(run_one(m[1], "c_", &c, &log), HOST_TRAP);
    ck_assert_msg(strstr(log.text, "c.hip:9") && strstr(log.text, "specs/one.yaml:26:5"), "%s", log.text);
    host_log_free(&log);
    host_module_free(m[1]);
}
END_TEST

/* Each pair of pages would compile as one text but must not be joined. */
static const struct pair {
    const char *a, *b;
} pairs[] = {
    {"#define TF_A 1\n" COMMON KERNEL("a", "1"), "#define TF_A 2\n" COMMON KERNEL("b", "1")},
    {"#define TF_A 1\n" COMMON KERNEL("a", "1"), COMMON "#if defined(TF_A)\nint x;\n#endif\n" KERNEL("b", "1")},
    {COMMON KERNEL("a", "TF_A"), "#define TF_A 1\n" COMMON KERNEL("b", "1")},
    {COMMON "int x;\n" KERNEL("a", "1"), COMMON KERNEL("b", "1")},
    {"#line 1 \"templates/x.h\"\nint x;\n" COMMON KERNEL("a", "1"), COMMON "#line 1 \"templates/x.h\"\nint x;\n" KERNEL("b", "1")},
    {"int before;\n" COMMON KERNEL("a", "1"), COMMON KERNEL("b", "1")},
    {"int no_parts;\n", COMMON KERNEL("b", "1")},
    {"", COMMON KERNEL("b", "1")},
    {COMMON KERNEL("a", "1") "// no newline", COMMON KERNEL("b", "1")},
    {"#line 1\nint x;\n" KERNEL("a", "1"), COMMON KERNEL("b", "1")},
};

START_TEST(sources_that_would_change_each_other_are_not_joined)
{
    const host_page pages[] = {page_of("a.hip", pairs[_i].a), page_of("b.hip", pairs[_i].b)};
    host_module *m[2];
    ck_assert_uint_eq(together(pages, 2, 0, m), 0);
}
END_TEST

START_TEST(optimised_or_single_sources_are_not_joined)
{
    const host_page pages[] = {page_of("a.hip", COMMON KERNEL("a", "1")), page_of("b.hip", COMMON KERNEL("b", "1"))};
    host_module *m[2];
    ck_assert_uint_eq(together(pages, 2, 1, m), 0);
    ck_assert_uint_eq(together(pages, 1, 0, m), 0);
}
END_TEST

/* Pages with compiler messages are compiled alone, so that each message names its page. */
START_TEST(sources_with_compiler_warnings_are_not_joined)
{
    const char *const second = _i ? COMMON KERNEL("b", "({ int x = 1; x == 1; x; })") : COMMON KERNEL("b", "nothing_of_this_name");
    const host_page pages[] = {page_of("a.hip", COMMON KERNEL("a", "1")), page_of("b.hip", second)};
    host_module *m[2];
    ck_assert_uint_eq(together(pages, 2, 0, m), 0);
}
END_TEST

/* All kernels of a plan, on the target whose pages have the most #defines and on one with other #defines. */
START_TEST(a_plan_is_one_module)
{
    static const char *const targets[] = {"gfx942", "sm_90a"};
    rig *r = rig_plan(&(rig_request){.path = "specs/llama-block.yaml", .level = fusion_tile, .target = targets[_i]});
    const plan *p = r->c.plan;
    host_page pages[most_pages];
    host_module *m[most_pages];
    const size_t count = (size_t)(p->pack_count + p->launch_count);
    ck_assert_uint_le(count, most_pages);
    for (int i = 0; i < p->pack_count; i++)
        pages[i] = page_of(arena_printf(r->a, "%s.hip", p->packs[i].name), source_join(r->a, &p->packs[i].source));
    for (int i = 0; i < p->launch_count; i++)
        pages[p->pack_count + i] = page_of(p->launches[i].file, source_join(r->a, &p->launches[i].source));
    ck_assert_uint_eq(together(pages, count, 0, m), count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_ptr_eq(m[i], m[0]);
        host_module_free(m[i]);
    }
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("join");
    TCase *t = tcase_create("pages");
    tcase_add_test(t, kernel_sources_are_joined_into_one_module);
    tcase_add_loop_test(t, sources_that_would_change_each_other_are_not_joined, 0, sizeof pairs / sizeof *pairs);
    tcase_add_test(t, optimised_or_single_sources_are_not_joined);
    tcase_add_loop_test(t, sources_with_compiler_warnings_are_not_joined, 0, 2);
    tcase_add_loop_test(t, a_plan_is_one_module, 0, 2);
    suite_add_tcase(s, t);
    return run_suite(s);
}
