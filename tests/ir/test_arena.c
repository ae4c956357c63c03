/* Arena, diagnostics, text buffers, numbers and nearest names: what the text forms of the stages cannot reach. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv */
#include "ir/base/arena.h"
#include "ir/base/format.h"
#include "ir/base/names.h"
#include "ir/base/number.h"
#include "tests/support.h"
#include <check.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
    arena *a;
    position at;
    const char *message;
    size_t bytes;
    int count;
    bool reached;
} trial;

START_TEST(memory_is_zeroed_aligned_and_does_not_overlap)
{
    arena *a = arena_new();
    unsigned char *pieces[200];
    for (int i = 0; i < 200; i++) {
        size_t n = (size_t)(i * 37 % 1000) * (i % 50 ? 1 : 300);
        pieces[i] = arena_alloc(a, n);
        ck_assert_uint_eq((uintptr_t)pieces[i] % 16, 0);
        for (size_t k = 0; k < n; k++) ck_assert_uint_eq(pieces[i][k], 0);
        memset(pieces[i], i + 1, n);
    }
    for (int i = 0; i < 200; i++)
        if (i * 37 % 1000) ck_assert_uint_eq(pieces[i][0], (unsigned char)(i + 1));
    ck_assert_ptr_ne(arena_alloc(a, 0), arena_alloc(a, 0));
    arena_free(a);
}
END_TEST

/* Checks both functions with a buffer that holds all, some and none of the text. */
static void __attribute__((format(printf, 1, 2))) check_format(const char *format, ...)
{
    for (size_t room = 0; room < 80; room += room < 12 ? 1 : 30) {
        char own[80], libc[80];
        va_list list;
        memset(own, 'x', sizeof own), memset(libc, 'x', sizeof libc);
        va_start(list, format);
        const int n = format_bounded(own, room, format, list);
        va_end(list);
        va_start(list, format);
        ck_assert_int_eq(n, vsnprintf(libc, room, format, list));
        va_end(list);
        ck_assert_msg(memcmp(own, libc, sizeof own) == 0, "%s in %zu bytes: %.40s", format, room, own);
    }
}

START_TEST(texts_are_those_of_printf)
{
    const char *const nothing = NULL;
    const char open[] = {'o', 'p', 'e', 'n'};
    check_format("%s", "");
    check_format("plain, and %% and %c", 'c');
    check_format("%s|%.*s|%.*s|%.*s", "text", 2, "text", -1, "text", 4, open);
    check_format("%s %.*s", nothing, 3, nothing);
    check_format("%d %d %d %d", 0, -7, INT_MAX, INT_MIN);
    check_format("%lld %lld %lld", 0ll, LLONG_MAX, LLONG_MIN);
    check_format("%d%s%x then %s and %d", 5, "a", 255, "the rest", 6);
    check_format("%5d|%-5s|%*s|%.2f|%g|%zu|%llx|%s", 5, "b", 6, "c", 0.5, 1e-5, (size_t)9, 255ull, "end");
}
END_TEST

static void allocate(void *argument)
{
    trial *t = argument;
    for (int i = 0; i < t->count; i++) arena_alloc(t->a, t->bytes);
    t->reached = true;
}

START_TEST(memory_beyond_the_limit_ends_the_run_with_an_error)
{
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 8, (size_t)arena_limit + 1, 64 << 20};
    for (size_t i = 0; i < 4; i++) {
        trial t = {.a = arena_new(), .bytes = sizes[i], .count = 9};
        ck_assert_int_eq(arena_run(t.a, allocate, &t), code_bad_input);
        ck_assert(!t.reached);
        ck_assert_ptr_nonnull(strstr(arena_diagnostics(t.a), "more than the 512 MB"));
        arena_free(t.a);
    }
}
END_TEST

static void bail_body(void *argument)
{
    trial *t = argument;
    bail(t->a, code_unsupported, t->at, "%s", t->message);
}

static void complain_body(void *argument)
{
    trial *t = argument;
    for (int i = 0; i < t->count; i++) complain(t->a, t->at, "error %d", i);
    t->reached = true;
    if (t->message) bail_if_complained(t->a);
    t->reached = !t->message;
}

START_TEST(bail_unwinds_with_its_code)
{
    trial t = {.a = arena_new(), .message = "no such target"};
    arena_source(t.a, "a.yaml", NULL, 0);
    ck_assert_int_eq(arena_run(t.a, bail_body, &t), code_unsupported);
    ck_assert_str_eq(arena_diagnostics(t.a), "a.yaml: error: no such target\n");
    arena_free(t.a);
}
END_TEST

START_TEST(a_run_that_complained_is_bad_input_even_if_it_returns)
{
    trial t = {.a = arena_new(), .count = 2}, unwound = {.a = arena_new(), .count = 1, .message = ""};
    ck_assert_int_eq(arena_run(t.a, complain_body, &t), code_bad_input);
    ck_assert(t.reached);
    ck_assert_int_eq(arena_complaints(t.a), 2);
    ck_assert_str_eq(arena_diagnostics(t.a), "error: error 0\nerror: error 1\n");
    ck_assert_int_eq(arena_run(unwound.a, complain_body, &unwound), code_bad_input);
    ck_assert(unwound.reached);
    arena_free(t.a);
    arena_free(unwound.a);
}
END_TEST

START_TEST(the_hundred_and_first_error_ends_the_pass)
{
    trial t = {.a = arena_new(), .count = 1000};
    ck_assert_int_eq(arena_run(t.a, complain_body, &t), code_bad_input);
    ck_assert(!t.reached);
    ck_assert_int_eq(arena_complaints(t.a), max_diagnostics + 1);
    ck_assert_ptr_nonnull(strstr(arena_diagnostics(t.a), "more than 100 errors"));
    arena_free(t.a);
}
END_TEST

static char order[8];
static void note(void *argument) { strcat(order, argument); }

START_TEST(deferred_calls_run_newest_first)
{
    arena *a = arena_new();
    order[0] = 0;
    arena_defer(a, note, "1");
    arena_defer(a, note, "2");
    arena_defer(a, note, "3");
    ck_assert_str_eq(order, "");
    arena_free(a);
    ck_assert_str_eq(order, "321");
}
END_TEST

static void expect_rendering(const char *source, size_t size, position at, const char *message, const char *wanted)
{
    trial t = {.a = arena_new(), .at = at, .message = message};
    arena_source(t.a, "x.yaml", source, size);
    arena_run(t.a, bail_body, &t);
    ck_assert_str_eq(arena_diagnostics(t.a), wanted);
    arena_free(t.a);
}
#define RENDER(source, line, column, message, wanted)                                                                  \
    expect_rendering(source, sizeof source - 1, (position){line, column}, message, wanted)

START_TEST(a_diagnostic_shows_the_line_and_a_caret)
{
    RENDER("one\ntwo three\n", 2, 5, "bad", "x.yaml:2:5: error: bad\n    2 | two three\n      |     ^\n");
    RENDER("one", 1, 4, "ends early", "x.yaml:1:4: error: ends early\n    1 | one\n      |    ^\n");
    RENDER("one", 1, 99, "far out", "x.yaml:1:99: error: far out\n    1 | ...\n      |    ^\n");
    RENDER("one\n", 2, 1, "at the end", "x.yaml:2:1: error: at the end\n");
    RENDER("one\n", 7, 1, "beyond", "x.yaml:7:1: error: beyond\n");
}
END_TEST

START_TEST(lines_break_where_yaml_breaks_them)
{
    RENDER("a\rb", 2, 1, "m", "x.yaml:2:1: error: m\n    2 | b\n      | ^\n");
    RENDER("a\r\nb", 2, 1, "m", "x.yaml:2:1: error: m\n    2 | b\n      | ^\n");
    RENDER("a\xc2\x85"
           "b",
           2, 1, "m", "x.yaml:2:1: error: m\n    2 | b\n      | ^\n");
    RENDER("a\xe2\x80\xa9"
           "b",
           2, 1, "m", "x.yaml:2:1: error: m\n    2 | b\n      | ^\n");
}
END_TEST

START_TEST(tabs_wide_and_combining_characters_keep_the_caret_in_place)
{
    RENDER("\tab", 1, 2, "m", "x.yaml:1:2: error: m\n    1 |  ab\n      |  ^\n");
    RENDER("\xe6\x95\xb0\xe6\x8d\xae x", 1, 4, "m",
           "x.yaml:1:4: error: m\n    1 | \xe6\x95\xb0\xe6\x8d\xae x\n      |      ^\n");
    RENDER("e\xcc\x81x", 1, 3, "m", "x.yaml:1:3: error: m\n    1 | e\xcc\x81x\n      |  ^\n");
}
END_TEST

START_TEST(nothing_that_a_terminal_obeys_is_printed)
{
    RENDER("a\x1b[31m\x07\x7f", 1, 1, "b\x1b]0;t\x07", "x.yaml:1:1: error: b?]0;t?\n    1 | a?[31m??\n      | ^\n");
    RENDER("\xe2\x80\xae"
           "evil",
           1, 1, "m", "x.yaml:1:1: error: m\n    1 | ?evil\n      | ^\n"); /* direction override */
    RENDER("\xc2\x9b"
           "1m",
           1, 1, "m", "x.yaml:1:1: error: m\n    1 | ?1m\n      | ^\n");                                /* C1 control */
    RENDER("\xff\xc0\x80\xed\xa0\x80", 1, 1, "m", "x.yaml:1:1: error: m\n    1 | ??????\n      | ^\n"); /* no UTF-8 */
    RENDER("x", 1, 1, "two\nlines", "x.yaml:1:1: error: two?lines\n    1 | x\n      | ^\n");
}
END_TEST

START_TEST(long_lines_and_long_messages_are_cut)
{
    char line[5000], message[5000];
    memset(line, 'x', sizeof line);
    memset(message, 'm', sizeof message - 1);
    message[sizeof message - 1] = 0;
    for (int column = 1; column < 5000; column += 499) {
        trial t = {.a = arena_new(), .at = {1, column}, .message = message};
        line[column - 1] = '!';
        arena_source(t.a, "x", line, sizeof line);
        arena_run(t.a, bail_body, &t);
        const char *shown = strchr(arena_diagnostics(t.a), '\n') + 1, *carets = strchr(shown, '\n') + 1;
        ck_assert_int_lt(carets - shown, 130);
        ck_assert_int_eq(shown[strchr(carets, '^') - carets], '!');
        ck_assert_int_lt(shown - arena_diagnostics(t.a), 1100);
        line[column - 1] = 'x';
        arena_free(t.a);
    }
}
END_TEST

START_TEST(names_with_a_part_too_many_or_too_few_are_suggested)
{
    static const char *const names[] = {"kv_heads", "heads", "sm_80", "sm_90a", "h"};
    ck_assert_str_eq(nearest_name("num_heads", names, 5), "heads");
    ck_assert_str_eq(nearest_name("num_kv_heads", names, 5), "kv_heads");
    ck_assert_str_eq(nearest_name("sm_90", names, 5), "sm_90a");
    ck_assert_ptr_null(nearest_name("h_attention", names, 5)); /* the part that fits is less than half of the name */
    ck_assert_ptr_null(nearest_name("qk_scale", names, 5));
}
END_TEST

START_TEST(the_nearest_name_is_within_a_third)
{
    static const char *const names[] = {"rmsnorm", "layernorm", "l2norm", "rope", "hd", "add"};
    ck_assert_str_eq(nearest_name("rmsnrm", names, 6), "rmsnorm");
    ck_assert_str_eq(nearest_name("layrenorm", names, 6), "layernorm"); /* a swap is one change */
    ck_assert_str_eq(nearest_name("rope", names, 6), "rope");
    ck_assert_str_eq(nearest_name("had", names, 6), "hd");
    ck_assert_ptr_null(nearest_name("norm", names, 6));
    ck_assert_ptr_null(nearest_name("x", names, 6)); /* nothing in common */
    ck_assert_ptr_null(nearest_name("", names, 6));
    ck_assert_ptr_null(nearest_name("rmsnorm", names, 0));
    char *huge = calloc(1, 100001);
    memset(huge, 'a', 100000);
    const char *const one[] = {huge};
    ck_assert_ptr_null(nearest_name(huge, names, 6));
    ck_assert_ptr_null(nearest_name("aaa", one, 1));
    free(huge);
}
END_TEST

START_TEST(a_text_grows_and_stays_terminated)
{
    arena *a = arena_new();
    text t = {.a = a};
    for (int i = 0; i < 10000; i++) {
        text_printf(&t, "%d,", i % 10);
        ck_assert_uint_eq(strlen(t.data), t.size);
    }
    ck_assert_uint_eq(t.size, 20000);
    text_append(&t, "a\0b", 3);
    ck_assert_uint_eq(t.size, 20003);
    ck_assert_str_eq(arena_printf(a, "%s-%d", "x", 7), "x-7");
    ck_assert_str_eq(arena_strndup(a, "abcdef", 3), "abc");
    arena_free(a);
}
END_TEST

static void expect_number(double value, const char *plain, const char *literal)
{
    arena *a = arena_new();
    text number = {.a = a}, f32 = {.a = a};
    text_number(&number, value);
    text_f32(&f32, value);
    ck_assert_str_eq(number.data, plain);
    ck_assert_str_eq(f32.data, literal);
    arena_free(a);
}

static void expect_numbers(void)
{
    expect_number(0, "0", "0.0f");
    expect_number(-0.0, "-0", "-0.0f");
    expect_number(1, "1", "1.0f");
    expect_number(500000, "500000", "500000.0f");
    expect_number(1e-5, "1e-05", "1e-05f");
    expect_number(0.1, "0.1", "0.1f");
    expect_number(1.0 / 3, "0.3333333333333333", "0.33333334f");
    expect_number(-2.5e30, "-2.5e+30", "-2.5e+30f");
    expect_number(16777217, "16777217", "16777216.0f");
}

START_TEST(numbers_are_short_and_read_back_to_the_same_value)
{
    unsigned long long state = 1;
    expect_numbers();
    for (int i = 0; i < 20000; i++) {
        arena *a = arena_new();
        text plain = {.a = a}, literal = {.a = a};
        state = state * 6364136223846793005u + 1442695040888963407u;
        double value, back;
        memcpy(&value, &state, sizeof value);
        if (isfinite(value)) {
            text_number(&plain, value);
            ck_assert_msg(number_parse(plain.data, &back) && back == value, "%s is not %a", plain.data, value);
        }
        unsigned bits = (unsigned)(state >> 32);
        float f;
        memcpy(&f, &bits, sizeof f);
        if (isfinite(f)) {
            text_f32(&literal, f);
            ck_assert_msg(strtof(literal.data, NULL) == f, "%s is not %a", literal.data, (double)f);
        }
        arena_free(a);
    }
}
END_TEST

START_TEST(numbers_do_not_follow_the_locale)
{
    double value;
    text rounded = {.a = arena_new()};
    const bool comma = comma_locale();
    expect_numbers();
    ck_assert(number_parse("1.5", &value) && value == 1.5);
    text_rounded(&rounded, 1234.5678, 6);
    text_rounded(&rounded, -1.5e-9, 2);
    ck_assert_str_eq(rounded.data, "1234.57-1.5e-09");
    arena_free(rounded.a);
    if (comma) setlocale(LC_NUMERIC, "C");
}
END_TEST

START_TEST(a_count_is_followed_by_its_noun_in_the_right_number)
{
    arena *a = arena_new();
    ck_assert_str_eq(text_counted(a, 1, "launch"), "1 launch");
    ck_assert_str_eq(text_counted(a, 2, "launch"), "2 launches");
    ck_assert_str_eq(text_counted(a, 0, "persistent workgroup"), "0 persistent workgroups");
    ck_assert_str_eq(text_counted(a, 1, "h"), "1 h");
    ck_assert_str_eq(text_counted(a, 2, "h"), "2 hs");
    arena_free(a);
}
END_TEST

START_TEST(only_finite_decimal_numbers_are_read)
{
    static const char *const good[] = {"0", "-1", "+2.5", ".5", "5.", "1e3", "1.0E-5", "1e-400", "00012", "-0.0"};
    static const double values[] = {0, -1, 2.5, .5, 5, 1e3, 1e-5, 0, 12, -0.0};
    static const char *const bad[] = {"",    "-",    ".",   "e5", "1e", "1e+",   "0x10",  "1.0.0", "nan",
                                      "inf", ".nan", "1,5", "1 ", " 1", "1_000", "1e999", "--1",   "1f"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(number_parse(good[i], &value) && value == values[i], "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_msg(!number_parse(bad[i], &value), "%s", bad[i]);
    char huge[200];
    memset(huge, '1', sizeof huge);
    huge[199] = 0;
    ck_assert(!number_parse(huge, &value));
    ck_assert(!number_parse("1e99999999999999999999", &value));
}
END_TEST

START_TEST(integers_are_read_to_the_last_one_that_fits)
{
    long long value;
    ck_assert(integer_parse("9223372036854775807", &value) && value == INT64_MAX);
    ck_assert(integer_parse("-9223372036854775808", &value) && value == INT64_MIN);
    ck_assert(!integer_parse("9223372036854775808", &value));
    ck_assert(!integer_parse("-9223372036854775809", &value));
    ck_assert(!integer_parse("12x", &value));
    ck_assert(!integer_parse("", &value));
    ck_assert(!integer_parse("-", &value));
}
END_TEST

START_TEST(a_name_map_finds_what_was_added_once)
{
    arena *a = arena_new();
    name_map m = {.a = a};
    ck_assert_ptr_null(names_find(&m, "n0"));
    for (int i = 0; i < 5000; i++) ck_assert(names_add(&m, arena_printf(a, "n%d", i), arena_printf(a, "%d", i)));
    for (int i = 0; i < 5000; i++)
        ck_assert_str_eq(names_find(&m, arena_printf(a, "n%d", i)), arena_printf(a, "%d", i));
    ck_assert(!names_add(&m, "n17", ""));
    ck_assert_str_eq(names_find(&m, "n17"), "17");
    ck_assert_ptr_null(names_find(&m, "n5000"));
    arena_free(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("arena");
    TCase *c = tcase_create("arena");
    tcase_add_test(c, memory_is_zeroed_aligned_and_does_not_overlap);
    tcase_add_test(c, texts_are_those_of_printf);
    tcase_add_test(c, memory_beyond_the_limit_ends_the_run_with_an_error);
    tcase_add_test(c, bail_unwinds_with_its_code);
    tcase_add_test(c, a_run_that_complained_is_bad_input_even_if_it_returns);
    tcase_add_test(c, the_hundred_and_first_error_ends_the_pass);
    tcase_add_test(c, deferred_calls_run_newest_first);
    tcase_add_test(c, a_diagnostic_shows_the_line_and_a_caret);
    tcase_add_test(c, lines_break_where_yaml_breaks_them);
    tcase_add_test(c, tabs_wide_and_combining_characters_keep_the_caret_in_place);
    tcase_add_test(c, nothing_that_a_terminal_obeys_is_printed);
    tcase_add_test(c, long_lines_and_long_messages_are_cut);
    tcase_add_test(c, the_nearest_name_is_within_a_third);
    tcase_add_test(c, names_with_a_part_too_many_or_too_few_are_suggested);
    tcase_add_test(c, a_text_grows_and_stays_terminated);
    tcase_add_test(c, numbers_are_short_and_read_back_to_the_same_value);
    tcase_add_test(c, numbers_do_not_follow_the_locale);
    tcase_add_test(c, a_count_is_followed_by_its_noun_in_the_right_number);
    tcase_add_test(c, only_finite_decimal_numbers_are_read);
    tcase_add_test(c, integers_are_read_to_the_last_one_that_fits);
    tcase_add_test(c, a_name_map_finds_what_was_added_once);
    suite_add_tcase(s, c);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
