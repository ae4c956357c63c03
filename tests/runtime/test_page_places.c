/* Maps a place in an emitted page, as compilers and symbolisers print it, to the place in the spec. */
#define _GNU_SOURCE
#include "runtime/compile/page_places.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "// Written by tfgen: llama_qkv of specs/one of two for three.yaml for cdna, wave 64. Try an edited one.\n"
static const char page[] = HEAD                           /* 1 */
    "#define TF_WAVE 64\n"                                /* 2 */
    "#line 1 \"templates/gemm/gemm.h\"\n"                 /* 3 */
    "int in_a_template; // !1:1\n"                        /* 4: templates/gemm/gemm.h:1 */
    "#line 6 \"llama_qkv.hip\"\n"                         /* 5 */
    "struct k1_qkv {\n"                                   /* 6 */
    "    const float q_ms = op_div(h_ss, x); // !26:5\n"  /* 7 */
    "    c.q_r = q_r;\n"                                  /* 8 */
    "    out.put(p.qr, // !30:12\n"                       /* 9 */
    "            qr); // !30:12\n"                        /* 10 */
    "    // !1 !1: // !:5 !7:7 // !31:5 and more\n"       /* 11 */
    "};";                                                 /* 12 */
static const char spec[] = "specs/one of two for three.yaml";

static page_places *places;
static void before_each(void) { ck_assert_ptr_nonnull(places = page_places_read(page, sizeof page - 1, "llama_qkv.hip")); }
static void after_each(void) { page_places_free(places); }

/* where: the place in the spec that must follow; NULL: none. */
static void check_place(const char *place, const char *where)
{
    char *got = page_places_of(places, place);
    if (!where) ck_assert_msg(!got, "%s: %s", place, got);
    else ck_assert_msg(got && strncmp(got, spec, sizeof spec - 1) == 0 && strcmp(got + sizeof spec - 1, where) == 0, "%s: %s", place, got);
    free(got);
}

START_TEST(a_line_of_kernel_source_maps_to_a_place_in_the_spec)
{
    check_place("llama_qkv.hip:7", ":26:5");
    check_place("llama_qkv.hip:7:20", ":26:5");
    check_place("./llama_qkv.hip:9:1", ":30:12");
    check_place("llama_qkv.hip:10:1", ":30:12");
}
END_TEST

START_TEST(only_lines_of_kernel_sources_have_a_place)
{
    static const char *const others[] = {"llama_qkv.hip:1",  "llama_qkv.hip:4",  "llama_qkv.hip:8",         "llama_qkv.hip:11",
                                         "llama_qkv.hip:99", "llama_qkv.hip:0",  "llama_qkv.hip:-7",        "llama_qkv.hip:x",
                                         "llama_qkv.hip",    "llama_qkv.hip(7)", "templates/gemm/gemm.h:1", "my_llama_qkv.hip:7",
                                         "llama_qkv.hip2:7", "",                 "??:0",                    "llama_qkv.hip:4294967303"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) check_place(others[i], NULL);
}
END_TEST

/* Messages of clang 22 and NVRTC 13. */
static const struct {
    const char *said, *placed;
} logs[] = {
    {"llama_qkv.hip:7:20: error: use of 'x'\n    7 |     const float\n      |     ^\n",
     "SPEC:26:5: llama_qkv.hip:7:20: error: use of 'x'\n    7 |     const float\n      |     ^\n"},
    {"llama_qkv.hip:8:9: error: a\nllama_qkv.hip:10:9: note: b\n1 error generated.",
     "llama_qkv.hip:8:9: error: a\nSPEC:30:12: llama_qkv.hip:10:9: note: b\n1 error generated."},
    {"llama_qkv.hip(7): error: a value of type \"float *\"\n          detected during:\n"
     "            instantiation of \"void k1\" at line 2 of templates/a.h\n            instantiation of \"void gemm\" at line 9\n",
     "SPEC:26:5: llama_qkv.hip(7): error: a value of type \"float *\"\n          detected during:\n"
     "            instantiation of \"void k1\" at line 2 of templates/a.h\n"
     "            instantiation of \"void gemm\" at line 9 [SPEC:30:12]\n"},
    {"templates/a.h(7): error: b\n          detected during instantiation of \"g\" at line 7 of llama_qkv.hip\n   and at line 9\n",
     "templates/a.h(7): error: b\n          detected during instantiation of \"g\" at line 7 of llama_qkv.hip [SPEC:26:5]\n"
     "   and at line 9\n"},
    {"data race\n  at templates/base/device.h:512:9 (store_one), in ./llama_qkv.hip:7:9 (begin), in llama_qkv.hip:8:1 (k)\n",
     "data race\n  at templates/base/device.h:512:9 (store_one), in ./llama_qkv.hip:7:9 [SPEC:26:5] (begin), in llama_qkv.hip:8:1 (k)\n"},
    {"llama_qkv.hip: error: spills\nmy_llama_qkv.hip:7:1 x-llama_qkv.hip:7 llama_qkv.hip2:7 llama_qkv.hip(7\n",
     "llama_qkv.hip: error: spills\nmy_llama_qkv.hip:7:1 x-llama_qkv.hip:7 llama_qkv.hip2:7 llama_qkv.hip(7\n"},
    {"", ""},
    {"\n\nllama_qkv.hip:7", "\n\nSPEC:26:5: llama_qkv.hip:7"},
};

START_TEST(messages_get_the_places_in_the_spec)
{
    char wanted[1024] = "", *got = page_places_log(places, logs[_i].said);
    const char *from = logs[_i].placed;
    for (const char *at; (at = strstr(from, "SPEC")); from = at + 4) strcat(strncat(wanted, from, (size_t)(at - from)), spec);
    strcat(wanted, from);
    ck_assert_str_eq(got, wanted);
    free(got);
}
END_TEST

/* Lines are counted as compilers count them: from the last #line on. */
START_TEST(an_edited_kernel_source_keeps_its_places_in_the_spec)
{
    static const char edited[] = HEAD "one\nmore\nline\r\n#line 6 \"llama_qkv.hip\"\n\n    a = b; // !26:5\r\n    added;\n    c; // !27:5";
    page_places *p = page_places_read(edited, sizeof edited - 1, "llama_qkv.hip");
    char *log = strdup("llama_qkv.hip:7:1: a\nllama_qkv.hip:9:1: b\nllama_qkv.hip:4:1: c"), *placed = page_places_log(p, log);
    ck_assert_str_eq(placed, "specs/one of two for three.yaml:26:5: llama_qkv.hip:7:1: a\n"
                             "specs/one of two for three.yaml:27:5: llama_qkv.hip:9:1: b\nllama_qkv.hip:4:1: c");
    page_log_place(edited, sizeof edited - 1, "llama_qkv.hip", &log);
    ck_assert_str_eq(log, placed);
    free(log);
    free(placed);
    page_places_free(p);
}
END_TEST

START_TEST(text_that_is_no_kernel_source_has_no_places)
{
    static const char long_line[600] = "#line 7 \"";
    static const struct {
        const char *text;
        size_t size;
    } odd[] = {{"", 0},
               {"a; // !26:5\n", 12},
               {"// Written by tfgen: a of b\na; // !26:5\n", 40},
               {"// Written by tfgen: a for c\na; // !26:5\n", 41},
               {"// Written by tfgen: ", 21},
               {HEAD "a; // !99999999999999999999:5\na; // ! 6\n// !", sizeof HEAD + 42},
               {long_line, sizeof long_line}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char *text = malloc(odd[i].size + 1), *log = strdup("k.hip:1:1: a\nk.hip:2:1: b\nk.hip:3:1: b\n");
        memcpy(text, odd[i].text, odd[i].size); /* exactly this size, so that a sanitizer sees a read past the end */
        page_log_place(text, odd[i].size, "k.hip", &log);
        if (odd[i].size < 100) ck_assert_str_eq(log, "k.hip:1:1: a\nk.hip:2:1: b\nk.hip:3:1: b\n");
        free(log);
        free(text);
    }
    char *none = NULL;
    page_log_place("", 0, "k.hip", &none);
    ck_assert_ptr_null(none);
    ck_assert_ptr_null(page_places_of(NULL, "k.hip:1"));
    page_places_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("page places");
    TCase *t = tcase_create("page places");
    tcase_add_checked_fixture(t, before_each, after_each);
    tcase_add_test(t, a_line_of_kernel_source_maps_to_a_place_in_the_spec);
    tcase_add_test(t, only_lines_of_kernel_sources_have_a_place);
    tcase_add_loop_test(t, messages_get_the_places_in_the_spec, 0, sizeof logs / sizeof *logs);
    tcase_add_test(t, an_edited_kernel_source_keeps_its_places_in_the_spec);
    tcase_add_test(t, text_that_is_no_kernel_source_has_no_places);
    suite_add_tcase(suite, t);
    SRunner *r = srunner_create(suite);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
