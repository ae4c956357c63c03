/* Extents: expressions, canonical form, arithmetic, values and text, against a straightforward evaluation of the same text. */
#include "ir/base/extent.h"
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dim_table some_dims(void)
{
    dim_table d = {.count = 5, .dynamic_count = 2};
    d.dims[0] = (dim){.name = "B", .value = 2, .dynamic = true, .low = 1, .high = 64, .slot = 0};
    d.dims[1] = (dim){.name = "S", .value = 37, .dynamic = true, .low = 1, .high = 8192, .slot = 1};
    d.dims[2] = (dim){.name = "H", .value = 8, .low = 8, .high = 8};
    d.dims[3] = (dim){.name = "KV", .value = 2, .low = 2, .high = 2};
    d.dims[4] = (dim){.name = "hd", .value = 64, .low = 64, .high = 64};
    return d;
}

typedef struct expression {
    arena *a;
    dim_table dims;
    const char *text;
    extent e, f;
    char sign;
} expression;

static void parse_body(void *argument)
{
    expression *x = argument;
    x->e = extent_parse(x->a, &x->dims, x->text, (position){3, 10});
}

static void expect(const char *source, const char *printed, long long value, long long high)
{
    expression x = {.a = arena_new(), .dims = some_dims(), .text = source};
    ck_assert_msg(arena_run(x.a, parse_body, &x) == code_ok, "%s: %s", source, arena_diagnostics(x.a));
    text plain = {.a = x.a};
    extent_print(&plain, &x.e, &x.dims);
    ck_assert_str_eq(plain.data, printed);
    ck_assert_int_eq(extent_value(&x.e, &x.dims), value);
    ck_assert_int_eq(extent_high(&x.e, &x.dims), high);
    arena_free(x.a);
}

START_TEST(expressions_become_canonical_polynomials)
{
    expect("7", "7", 7, 7);
    expect("0", "0", 0, 0);
    expect("(H+2*KV)*hd", "768", 768, 768);
    expect("B*S", "B*S", 74, 524288);
    expect("S*B", "B*S", 74, 524288);
    expect("1+S*2*B", "2*B*S+1", 149, 1048577);
    expect("S-B", "-B+S", 35, 8128);
    expect("hd - S", "-S+64", 27, 64 - 8192);
    expect("(B+S)*(B-S)", "B*B-S*S", 4 - 37 * 37, 64 * 64 - 8192LL * 8192);
    expect("B*S-S*B", "0", 0, 0);
    expect("hd*B*S/H", "8*B*S", 592, 4194304);
    expect("(B*S+2*B)/B", "S+2", 39, 8194);
    expect("(B+S)/(S+B)", "1", 1, 1);
    expect("7-2-1", "4", 4, 4);
    expect("64/4/2", "8", 8, 8);
    expect(" ( H ) ", "8", 8, 8);
}
END_TEST

static void reject(const char *source, int column, const char *message)
{
    char wanted[300];
    snprintf(wanted, sizeof wanted, "e:3:%d: error: %s\n", column, message);
    expression x = {.a = arena_new(), .dims = some_dims(), .text = source};
    arena_source(x.a, "e", NULL, 0);
    ck_assert_msg(arena_run(x.a, parse_body, &x) == code_bad_input, "%s was accepted", source);
    ck_assert_str_eq(arena_diagnostics(x.a), wanted);
    extent one = extent_number(1);
    ck_assert(extent_equal(&x.e, &one));
    arena_free(x.a);
}

START_TEST(a_wrong_expression_is_one_complaint_at_its_place)
{
    reject("", 10, "\"\" ends where a number, a dim or \"(\" should follow");
    reject("H*", 12, "\"H*\" ends where a number, a dim or \"(\" should follow");
    reject("H+hdd", 12, "there is no dim hdd; did you mean hd?");
    reject("T*U", 10, "there is no dim T here; dims are declared under \"dims:\", before they are used");
    reject("(H", 10, "this \"(\" has no \")\"");
    reject("H)", 11, "this \")\" has no \"(\"");
    reject("H hd", 12, "an operator + - * / is missing here");
    reject("H%2", 11, "\"%\" is not allowed here; a size consists of integers, dims, + - * / and ( )");
    reject("-1", 10, "\"-\" is not allowed here; a size consists of integers, dims, + - * / and ( )");
    reject("2.5", 10, "a size is an integer");
    reject("H/3", 10, "H/3 does not divide exactly: 8 by 3");
    reject("1+B/S", 12, "B/S does not divide exactly: B by S");
    reject("H/(B-B)", 10, "H/(B-B) divides by 0");
    reject("99999999999999999999", 10, "this number is too large");
    reject("9223372036854775807+1", 10, "9223372036854775807+1 is too large");
    reject("(B+S)*(B+S+1)*(B+S+1)*(B+1)", 10, "(B+S)*(B+S+1)*(B+S+1) has more than 8 terms of dynamic dims");
}
END_TEST

/* An unknown name that begins with a dim's name is not read as that dim; a name has at most 63 letters. */
START_TEST(a_longer_name_is_not_the_dim_that_it_begins_with)
{
    char longest[65] = {0};
    memset(longest, 'n', 63);
    expression x = {.a = arena_new(), .dims = some_dims(), .text = longest};
    x.dims.dims[2].name = arena_strndup(x.a, longest, 63);
    ck_assert_int_eq(arena_run(x.a, parse_body, &x), code_ok);
    ck_assert_int_eq(extent_value(&x.e, &x.dims), 8);
    longest[63] = 'n';
    ck_assert_int_eq(arena_run(x.a, parse_body, &x), code_bad_input);
    ck_assert_ptr_nonnull(strstr(arena_diagnostics(x.a), "there is no dim n"));
    arena_free(x.a);
}
END_TEST

/* A name that is too long is shown cut to the length that a name may have. */
START_TEST(a_name_that_is_too_long_is_cut_where_it_is_shown)
{
    char name[101], wanted[200];
    memset(name, 'H', 100);
    name[100] = 0;
    snprintf(wanted, sizeof wanted, "there is no dim %.63s here; dims are declared under \"dims:\", before they are used", name);
    reject(name, 10, wanted);
}
END_TEST

START_TEST(sixteen_parentheses_may_be_nested)
{
    expect("((((((((((((((((7))))))))))))))))", "7", 7, 7);
    reject("(((((((((((((((((7)))))))))))))))))", 26, "more than 16 nested parentheses");
    /* only nesting is limited: parentheses that are closed again do not count */
    expect("(1)+(1)+(1)+(1)+(1)+(1)+(1)+(1)+(1)+(1)+(1)+(1)+(1)+(1)+(1)+(1)+(1)+(1)", "18", 18, 18);
}
END_TEST

START_TEST(hostile_expressions_do_not_hang)
{
    char *deep = calloc(1, 200001);
    memset(deep, '(', 200000);
    expression x = {.a = arena_new(), .dims = some_dims(), .text = deep};
    ck_assert_int_eq(arena_run(x.a, parse_body, &x), code_bad_input);
    ck_assert_ptr_nonnull(strstr(arena_diagnostics(x.a), "more than 16 nested"));
    arena_free(x.a);
    for (int i = 0; i < 200000; i += 2) deep[i] = 'B', deep[i + 1] = '*'; /* a power that does not fit a byte */
    deep[199999] = 0;
    expression y = {.a = arena_new(), .dims = some_dims(), .text = deep};
    ck_assert_int_eq(arena_run(y.a, parse_body, &y), code_bad_input);
    ck_assert_ptr_nonnull(strstr(arena_diagnostics(y.a), "is too large"));
    arena_free(y.a);
    free(deep);
}
END_TEST

START_TEST(naming_a_dim_marks_it_as_used)
{
    expression x = {.a = arena_new(), .dims = some_dims(), .text = "B*hd"};
    ck_assert_int_eq(arena_run(x.a, parse_body, &x), code_ok);
    ck_assert(dim_find(&x.dims, "B")->used && dim_find(&x.dims, "hd")->used);
    ck_assert(!dim_find(&x.dims, "H")->used);
    arena_free(x.a);
}
END_TEST

START_TEST(polynomials_are_equal_however_they_were_built)
{
    arena *a = arena_new();
    dim_table d = some_dims();
    position at = {0};
    extent b = extent_parse(a, &d, "B", at), s = extent_parse(a, &d, "S", at);
    extent left = extent_multiply(a, at, extent_add(a, at, b, s), extent_add(a, at, s, b));
    extent right = extent_parse(a, &d, "S*S+2*S*B+B*B", at);
    ck_assert(extent_equal(&left, &right));
    extent zero = extent_subtract(a, at, left, right), none = extent_number(0);
    ck_assert(extent_equal(&zero, &none));
    ck_assert_int_eq(zero.count, 0);
    ck_assert_int_eq(memcmp(left.terms, right.terms, sizeof left.terms), 0);
    ck_assert(!extent_equal(&left, &b));
    arena_free(a);
}
END_TEST

static void overflow_body(void *argument)
{
    expression *x = argument;
    extent large = extent_number(LLONG_MAX), least = extent_number(LLONG_MIN);
    if (x->sign == '+') extent_add(x->a, (position){1, 1}, large, large);
    if (x->sign == '-') extent_subtract(x->a, (position){1, 1}, extent_number(0), least);
    if (x->sign == '*') extent_multiply(x->a, (position){1, 1}, large, extent_number(2));
}

START_TEST(overflow_ends_the_run)
{
    for (const char *s = "+-*"; *s; s++) {
        expression x = {.a = arena_new(), .sign = *s};
        ck_assert_int_eq(arena_run(x.a, overflow_body, &x), code_bad_input);
        ck_assert_ptr_nonnull(strstr(arena_diagnostics(x.a), "too large"));
        arena_free(x.a);
    }
}
END_TEST

START_TEST(integers_saturate_when_converted)
{
    expression x = {.a = arena_new(), .dims = some_dims(), .text = "S*S*S*S*S*S"};
    ck_assert_int_eq(arena_run(x.a, parse_body, &x), code_ok);
    ck_assert_int_eq(extent_high(&x.e, &x.dims), LLONG_MAX);
    ck_assert_int_eq(extent_value(&x.e, &x.dims), 37LL * 37 * 37 * 37 * 37 * 37);
    arena_free(x.a);
}
END_TEST

/* Random sums of products, evaluated as they are written. */
START_TEST(random_expressions_have_the_value_of_their_text)
{
    static const char *const names[] = {"B", "S", "H", "KV", "hd", "3", "11"};
    static const long long values[] = {2, 37, 8, 2, 64, 3, 11};
    srand(7);
    for (int round = 0; round < 3000; round++) {
        char source[200] = "";
        long long sum = 0;
        for (int i = 0, terms = 1 + rand() % 4; i < terms; i++) {
            long long product = 1;
            bool minus = i && rand() % 2;
            if (i) strcat(source, minus ? "-" : "+");
            for (int k = 0, factors = 1 + rand() % 3; k < factors; k++) {
                int pick = rand() % 7;
                if (k) strcat(source, "*");
                strcat(source, names[pick]);
                product *= values[pick];
            }
            sum += minus ? -product : product;
        }
        expression x = {.a = arena_new(), .dims = some_dims(), .text = source};
        ck_assert_int_eq(arena_run(x.a, parse_body, &x), code_ok);
        ck_assert_msg(extent_value(&x.e, &x.dims) == sum, "%s is not %lld", source, sum);
        text printed = {.a = x.a};
        extent_print(&printed, &x.e, &x.dims);
        if (printed.data[0] != '-') { /* printed text reads back as the same extent */
            expression y = {.a = arena_new(), .dims = some_dims(), .text = printed.data};
            ck_assert_int_eq(arena_run(y.a, parse_body, &y), code_ok);
            ck_assert(extent_equal(&x.e, &y.e));
            arena_free(y.a);
        }
        arena_free(x.a);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("extent");
    TCase *c = tcase_create("extent");
    tcase_add_test(c, expressions_become_canonical_polynomials);
    tcase_add_test(c, a_wrong_expression_is_one_complaint_at_its_place);
    tcase_add_test(c, a_longer_name_is_not_the_dim_that_it_begins_with);
    tcase_add_test(c, a_name_that_is_too_long_is_cut_where_it_is_shown);
    tcase_add_test(c, sixteen_parentheses_may_be_nested);
    tcase_add_test(c, hostile_expressions_do_not_hang);
    tcase_add_test(c, naming_a_dim_marks_it_as_used);
    tcase_add_test(c, polynomials_are_equal_however_they_were_built);
    tcase_add_test(c, overflow_ends_the_run);
    tcase_add_test(c, integers_saturate_when_converted);
    tcase_add_test(c, random_expressions_have_the_value_of_their_text);
    suite_add_tcase(s, c);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
