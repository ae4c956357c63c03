/* Expressions as the emitter builds them: one node for equal ones, and C++ text with the parentheses that C needs. */
#include "gen/emit/emit.h"
#include "tests/support.h"

typedef struct rigged {
    arena *a;
    expression_pool *p;
    const expression *row, *col, *S, *pointer;
} rigged;

static rigged rig_new(void)
{
    rigged r = {.a = arena_new()};
    r.p = expression_pool_new(r.a);
    r.row = c_int(r.p, "row"), r.col = c_int(r.p, "col"), r.S = c_int(r.p, "p.S_"), r.pointer = c_name(r.p, "p.x_");
    return r;
}

static void expect(rigged *r, const expression *x, const char *wanted) { ck_assert_str_eq(c_text(r->a, x), wanted); }

START_TEST(equal_expressions_are_one_node)
{
    rigged r = rig_new();
    char name[] = "row";
    const expression *x = c_sum(r.p, c_product(r.p, r.row, c_long(r.p, 64)), r.col);
    ck_assert_ptr_eq(c_int(r.p, name), r.row); /* names are compared by their text, not by address */
    name[0] = 'l';
    expect(&r, r.row, "row");
    ck_assert_ptr_eq(c_sum(r.p, c_product(r.p, r.row, c_long(r.p, 64)), r.col), x);
    ck_assert_ptr_ne(c_sum(r.p, r.col, c_product(r.p, r.row, c_long(r.p, 64))), x);
    ck_assert_ptr_ne(c_number(r.p, 64), c_long(r.p, 64));
    ck_assert_ptr_ne(c_int(r.p, "x"), c_name(r.p, "x"));
    ck_assert_ptr_ne(c_call(r.p, "f", r.row, r.col), c_call(r.p, "f", r.row));
    ck_assert_ptr_ne(c_sum(r.p, r.row, r.col), c_difference(r.p, r.row, r.col));
    const expression *many[1000];
    for (int i = 0; i < 1000; i++) many[i] = c_sum(r.p, r.row, c_number(r.p, i + 1)); /* the table grows */
    for (int i = 0; i < 1000; i++) ck_assert_ptr_eq(c_sum(r.p, r.row, c_number(r.p, i + 1)), many[i]);
    arena_free(r.a);
}
END_TEST

START_TEST(parentheses_are_printed_where_c_needs_them)
{
    rigged r = rig_new();
    expression_pool *p = r.p;
    const expression *two = c_number(p, 2), *sum = c_sum(p, r.row, two), *product = c_product(p, r.row, two);
    const expression *quotient = c_quotient(p, r.row, r.S);
    expect(&r, c_product(p, sum, r.S), "(row + 2) * p.S_");
    expect(&r, c_product(p, r.S, sum), "p.S_ * (row + 2)");
    expect(&r, c_sum(p, product, r.col), "row * 2 + col");
    expect(&r, c_product(p, quotient, two), "row / p.S_ * 2");
    expect(&r, c_product(p, two, quotient), "2 * (row / p.S_)");
    expect(&r, c_quotient(p, r.row, product), "row / (row * 2)");
    expect(&r, c_remainder(p, quotient, r.S), "row / p.S_ % p.S_");
    expect(&r, c_product(p, c_remainder(p, r.row, r.S), two), "(row % p.S_) * 2");
    expect(&r, c_sum(p, c_remainder(p, r.row, r.S), c_remainder(p, r.col, r.S)), "row % p.S_ + col % p.S_");
    expect(&r, c_remainder(p, c_remainder(p, r.row, r.S), two), "(row % p.S_) % 2");
    expect(&r, c_difference(p, r.col, sum), "col - (row + 2)");
    expect(&r, c_element(p, r.pointer, sum), "p.x_[row + 2]");
    expect(&r, c_element(p, c_sum(p, r.pointer, r.row), two), "(p.x_ + row)[2]");
    expect(&r, c_call(p, "load<V>", c_sum(p, r.pointer, r.row), two), "load<V>(p.x_ + row, 2)");
    expect(&r, c_both(p, c_at_least(p, sum, r.S), c_less(p, r.col, product)), "row + 2 >= p.S_ && col < row * 2");
    expect(&r, c_equal(p, c_remainder(p, r.row, two), c_number(p, 0)), "row % 2 == 0");
    const expression *test = c_less(p, r.row, two);
    expect(&r, c_choice(p, test, r.col, c_choice(p, c_both(p, test, test), two, r.S)), "row < 2 ? col : row < 2 && row < 2 ? 2 : p.S_");
    expect(&r, c_sum(p, r.row, c_choice(p, test, r.col, two)), "row + (row < 2 ? col : 2)");
    arena_free(r.a);
}
END_TEST

/* Nested sums or conditions print without parentheses; products keep theirs, since their order decides where they overflow. */
START_TEST(nested_sums_and_conditions_print_without_parentheses)
{
    rigged r = rig_new();
    expression_pool *p = r.p;
    const expression *sum = c_sum(p, r.row, r.col), *test = c_less(p, r.row, r.S);
    expect(&r, c_sum(p, r.S, sum), "p.S_ + row + col");
    expect(&r, c_sum(p, r.pointer, c_sum(p, r.S, c_difference(p, r.col, r.row))), "p.x_ + p.S_ + col - row");
    ck_assert_ptr_eq(c_sum(p, r.S, sum), c_sum(p, c_sum(p, r.S, r.row), r.col));
    expect(&r, c_product(p, r.S, c_product(p, r.row, r.col)), "p.S_ * (row * col)");
    expect(&r, c_both(p, test, c_both(p, test, c_equal(p, r.row, r.col))), "row < p.S_ && row < p.S_ && row == col");
    ck_assert_ptr_eq(c_both(p, NULL, test), test);
    ck_assert_ptr_eq(c_both(p, test, NULL), test);
    expect(&r, c_shifted(p, r.col, 8), "col + 8");
    expect(&r, c_shifted(p, r.col, -8), "col - 8");
    ck_assert_ptr_eq(c_shifted(p, r.col, 0), r.col);
    arena_free(r.a);
}
END_TEST

START_TEST(numbers_and_operators_have_the_types_of_c)
{
    rigged r = rig_new();
    expression_pool *p = r.p;
    const expression *wide = c_product(p, r.row, c_long(p, 64));
    expect(&r, wide, "row * 64ll");
    ck_assert_int_eq(r.row->type, type_int);
    ck_assert_int_eq(c_sum(p, r.col, wide)->type, type_long);
    ck_assert_int_eq(c_sum(p, r.pointer, wide)->type, type_other);
    ck_assert_int_eq(c_less(p, wide, wide)->type, type_int);
    ck_assert_int_eq(c_element(p, r.pointer, wide)->type, type_int);
    expect(&r, c_number(p, 3000000000), "3000000000ll");
    arena_free(r.a);
}
END_TEST

START_TEST(constants_are_folded_where_the_type_stays_the_same)
{
    rigged r = rig_new();
    expression_pool *p = r.p;
    const expression *zero = c_number(p, 0), *one = c_number(p, 1), *left = c_shifted(p, r.col, -256);
    ck_assert_ptr_eq(c_sum(p, r.row, zero), r.row);
    ck_assert_ptr_eq(c_sum(p, zero, r.row), r.row);
    ck_assert_ptr_eq(c_difference(p, r.row, zero), r.row);
    ck_assert_ptr_eq(c_product(p, r.row, one), r.row);
    ck_assert_ptr_eq(c_product(p, one, r.row), r.row);
    ck_assert_ptr_eq(c_product(p, r.row, zero), zero);
    ck_assert_ptr_eq(c_quotient(p, r.row, one), r.row);
    ck_assert_ptr_eq(c_quotient(p, zero, r.row), zero);
    ck_assert_ptr_eq(c_remainder(p, zero, r.row), zero);
    ck_assert_ptr_eq(c_remainder(p, r.row, one), zero);
    ck_assert_ptr_eq(c_sum(p, r.pointer, c_product(p, zero, c_long(p, 64))), r.pointer);
    expect(&r, left, "col - 256");
    expect(&r, c_shifted(p, left, 16), "col - 240");
    ck_assert_ptr_eq(c_shifted(p, left, 256), r.col);
    expect(&r, c_shifted(p, left, 300), "col + 44");
    expect(&r, c_sum(p, c_number(p, 3), c_number(p, -5)), "-2");
    expect(&r, c_product(p, c_number(p, 3), c_number(p, 5)), "15");
    expect(&r, c_quotient(p, c_number(p, 40), c_number(p, 16)), "2");
    expect(&r, c_remainder(p, c_number(p, 40), c_number(p, 16)), "8");
    /* constants on the two sides of a comparison become one */
    expect(&r, c_less(p, c_shifted(p, r.col, -4), c_number(p, 13)), "col < 17");
    expect(&r, c_at_least(p, c_shifted(p, r.col, -4), zero), "col >= 4");
    expect(&r, c_at_least(p, c_shifted(p, r.col, 4), c_number(p, 9)), "col >= 5");
    expect(&r, c_less(p, r.row, left), "row < col - 256");
    /* 64 bits stay 64 bits */
    expect(&r, c_product(p, r.row, c_long(p, 1)), "row * 1ll");
    expect(&r, c_sum(p, c_product(p, zero, c_long(p, 8)), r.row), "0ll + row");
    expect(&r, c_quotient(p, r.row, c_long(p, 1)), "row / 1ll");
    expect(&r, c_remainder(p, r.row, c_long(p, 1)), "0ll");
    /* a constant that does not fit an int is not folded */
    expect(&r, c_product(p, c_number(p, 1 << 30), c_number(p, 4)), "1073741824 * 4");
    arena_free(r.a);
}
END_TEST

/* An extent prints as an expression of the launch's arguments, with its terms in the order of the dims. */
START_TEST(extents_are_sums_of_products_of_dims)
{
    rigged r = rig_new();
    naming names = {.dims = {.count = 3, .dynamic_count = 2}};
    names.dims.dims[0] = (dim){.name = "B_", .dynamic = true, .slot = 0, .used = true, .low = 1, .high = 64};
    names.dims.dims[1] = (dim){.name = "H_", .value = 8, .used = true, .low = 8, .high = 8};
    names.dims.dims[2] = (dim){.name = "S_", .dynamic = true, .slot = 1, .used = true, .low = 1, .high = 64};
    static const struct {
        const char *extent, *c;
    } cases[] = {{"7", "7"},
                 {"B_-B_", "0"},
                 {"S_*B_", "p.B_ * p.S_"},
                 {"1+S_*H_*B_", "8 * p.B_ * p.S_ + 1"},
                 {"(B_+S_)*(B_-S_)", "p.B_ * p.B_ - p.S_ * p.S_"},
                 {"S_-B_", "0 - p.B_ + p.S_"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        emission e = {.a = r.a, .pool = r.p, .names = &names};
        const extent x = extent_parse(r.a, &names.dims, cases[i].extent, (position){1, 1});
        expect(&r, extent_c(&e, &x), cases[i].c);
        for (int k = 0; k < e.argument_count; k++) ck_assert_int_eq(e.arguments[k].kind, argument_dim);
        ck_assert_int_eq(e.argument_count, i < 2 ? 0 : 2);
    }
    arena_free(r.a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("expression");
    TCase *t = tcase_create("expression");
    tcase_add_test(t, equal_expressions_are_one_node);
    tcase_add_test(t, parentheses_are_printed_where_c_needs_them);
    tcase_add_test(t, nested_sums_and_conditions_print_without_parentheses);
    tcase_add_test(t, numbers_and_operators_have_the_types_of_c);
    tcase_add_test(t, constants_are_folded_where_the_type_stays_the_same);
    tcase_add_test(t, extents_are_sums_of_products_of_dims);
    suite_add_tcase(s, t);
    return run_suite(s);
}
