/* In: ir/op.def. Out: the fields of ir_attributes as data. */
#include "ir/graph/fields.h"
#include <string.h>

const attribute_field attribute_fields[] = {
#define ATTRIBUTE(type, name) {#name, field_##type, offsetof(ir_attributes, name)},
#include "ir/op.def"
};
const int attribute_field_count = sizeof attribute_fields / sizeof *attribute_fields;

/* The attributes that a spec may give, then those that lowering, fusion or planning sets. */
static const struct {
    op_kind kind;
    const char *key;
} taken[] = {
#define ATTR(op, key, field, type, required, help) {op_##op, #field},
#include "ir/op.def"
    {op_slice, "offset"}, {op_linear, "fold"}, {op_linear, "fold_offset"}, {op_linear, "continued"}, {op_attention_combine, "heads"},
    {op_column_sum, "axis"}, {op_column_max, "axis"}, {op_column_min, "axis"},
    {op_tf32_terms, "transpose"},
    {op_align, "transpose"},
};

bool op_takes(op_kind kind, const char *key)
{
    if (kind == op_attention_partial) kind = op_attention;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (taken[i].kind == kind && strcmp(taken[i].key, key) == 0) return true;
    return false;
}

unsigned fields_taken(op_kind kind)
{
    unsigned taken_bits = 0;
    for (int i = 0; i < attribute_field_count; i++) taken_bits |= (unsigned)op_takes(kind, attribute_fields[i].key) << i;
    return taken_bits;
}

bool field_is_set(const ir_attributes *t, const attribute_field *f)
{
    const void *field = (const char *)t + f->offset;
    switch (f->type) {
    case field_int: return *(const long long *)field != 0;
    case field_float: return *(const double *)field != 0;
    case field_bool: return *(const bool *)field;
    case field_dtype: return *(const dtype *)field != dtype_f32;
    case field_pairing: return *(const rope_pairing *)field != pairing_half;
    case field_layout: return *(const weight_layout *)field != layout_out_in;
    case field_value: return *(ir_value *const *)field != NULL;
    case field_numbers: return ((const number_list *)field)->count != 0;
    case field_scaling: return ((const rope_scaling *)field)->kind != scaling_none;
    }
    return false;
}
