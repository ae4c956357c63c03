/* Facts that are in tables: what the tables say of dtypes, and that what is printed and read follows them. */
#include "ir/ir.h"
#include "ir/read/schema.h"
#include "tests/support.h"
#include <string.h>

/* ---- dtypes */
START_TEST(each_dtype_has_the_names_and_the_size_that_others_know_it_by)
{
    static const struct {
        dtype type;
        const char *name, *c, *file;
        int size;
        bool real;
    } known[] = {{dtype_f32, "f32", "float", "F32", 4, true},
                 {dtype_f16, "f16", "f16", "F16", 2, true},
                 {dtype_bf16, "bf16", "bf16", "BF16", 2, true},
                 {dtype_i32, "i32", "int", "I32", 4, false}};
    ck_assert_int_eq(dtype_count, sizeof known / sizeof *known);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        dtype read = (dtype)-1;
        ck_assert_str_eq(dtype_name(known[i].type), known[i].name);
        ck_assert_str_eq(dtype_c_name(known[i].type), known[i].c);
        ck_assert_str_eq(dtype_file_name(known[i].type), known[i].file);
        ck_assert_int_eq(dtype_size(known[i].type), known[i].size);
        ck_assert_int_eq(dtype_is_real(known[i].type), known[i].real);
        ck_assert(dtype_parse(known[i].name, &read) && read == known[i].type);
        ck_assert_int_eq(dtype_parse_real(known[i].name, &read), known[i].real);
    }
}
END_TEST

START_TEST(what_others_call_a_dtype_is_understood_and_never_taken)
{
    static const char *const called[][2] = {{"fp32", "f32"}, {"Float", "f32"}, {"half", "f16"}, {"brain", "bf16"},
                                            {"int", "i32"},  {"BF16", "bf16"}, {"bf61", "bf16"}};
    dtype read;
    for (size_t i = 0; i < sizeof called / sizeof *called; i++) {
        ck_assert(!dtype_parse(called[i][0], &read));
        ck_assert_str_eq(dtype_hint(called[i][0]), called[i][1]);
    }
    ck_assert_ptr_null(dtype_hint("banana"));
}
END_TEST

START_TEST(layers_take_the_operands_that_their_instructions_have)
{
    ck_assert(dtype_multiplies(dtype_f32, layer_mfma) && dtype_multiplies(dtype_f32, layer_wgmma3) &&
              dtype_multiplies(dtype_f32, layer_simt));
    ck_assert(!dtype_multiplies(dtype_f32, layer_mma) && !dtype_multiplies(dtype_f32, layer_wgmma) &&
              !dtype_multiplies(dtype_f32, layer_wmma));
    for (int layer = 0; layer < layer_count; layer++) {
        ck_assert_int_eq(dtype_multiplies(dtype_bf16, (layer_kind)layer), layer != layer_wgmma3);
        ck_assert_int_eq(dtype_multiplies(dtype_f16, (layer_kind)layer), layer != layer_wgmma3);
        ck_assert(!dtype_multiplies(dtype_i32, (layer_kind)layer));
    }
}
END_TEST

START_TEST(lists_of_dtypes_are_made_of_the_table)
{
    arena *a = arena_new();
    ck_assert_str_eq(dtype_names(a, true, ", ", " or "), "f32, f16 or bf16");
    ck_assert_str_eq(dtype_names(a, false, ", ", " and "), "f32, f16, bf16 and i32");
    const char *schema = schema_json(a);
    ck_assert_ptr_nonnull(strstr(schema, "\"dtype\": {\"enum\": [\"f32\", \"f16\", \"bf16\"]}"));
    ck_assert_ptr_nonnull(strstr(schema, "\"input_dtype\": {\"enum\": [\"f32\", \"f16\", \"bf16\", \"i32\"]}"));
    arena_free(a);
}
END_TEST

static TCase *dtypes(void)
{
    TCase *t = tcase_create("dtypes");
    tcase_add_test(t, each_dtype_has_the_names_and_the_size_that_others_know_it_by);
    tcase_add_test(t, what_others_call_a_dtype_is_understood_and_never_taken);
    tcase_add_test(t, layers_take_the_operands_that_their_instructions_have);
    tcase_add_test(t, lists_of_dtypes_are_made_of_the_table);
    return t;
}

int main(void)
{
    Suite *suite = suite_create("facts");
    suite_add_tcase(suite, dtypes());
    return run_suite(suite);
}
