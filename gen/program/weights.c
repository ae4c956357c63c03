/* Formats of packed weights, by program and dtypes. Contract: gen/program/weights.h. */
#include "gen/program/weights.h"
#include "gen/gen.h"

bool reads_bf16_terms(const ir_op *product) { return value_bf16_terms(product->inputs[0]) > 1; }

dtype rows_dtype(const ir_op *product)
{
    return reads_bf16_terms(product) ? product->inputs[0]->def->inputs[0]->type : product->inputs[0]->type;
}

/* The format for a program that multiplies terms. rows: dtype of A; own: dtype of the weight; f32_as_it_is: A in f32 is not converted if
 * there is a format in f32. Terms are in A's dtype if there is such a format, else in bf16, and then A is converted to terms as well. NULL
 * if neither operand has 16 bits, as the terms of two f32 operands take too many passes. */
static const weight_format *format_of_terms(dtype rows, dtype own, bool f32_as_it_is)
{
    const bool short_rows = dtype_size(rows) == 2, both_long = !short_rows && dtype_size(own) != 2;
    const weight_format *as_rows = short_rows || f32_as_it_is ? format_in(rows, own) : NULL;
    return as_rows || both_long || !format_bf16_terms(rows) ? as_rows : format_in(dtype_bf16, own);
}

const weight_format *weights_format(weight_numbers weights, const ir_op *product)
{
    const dtype rows = rows_dtype(product), own = product->inputs[1]->type;
    if (product->kind != op_linear) return NULL;
    switch (weights) {
    case weights_widened:
    case weights_as_stored: return format_plain(own);
    case weights_as_rows: return format_in(rows, own);
    case weights_in_terms: return format_of_terms(rows, own, false);
    case weights_in_terms_or_f32: return format_of_terms(rows, own, true);
    case weights_split: return format_at(format_tf32x2);
    }
    return NULL;
}

bool has_two_dtypes(const ir_op *product) { return rows_dtype(product) != product->inputs[1]->type; }

int register_products(const ir_op *product)
{
    const dtype rows = rows_dtype(product), own = product->inputs[1]->type;
    return has_two_dtypes(product) ? format_bf16_terms(rows) * format_bf16_terms(own) : 1;
}

int rows_terms(weight_numbers weights, const ir_op *product)
{
    const bool may = weights == weights_in_terms || weights == weights_in_terms_or_f32;
    const weight_format *f = may ? weights_format(weights, product) : NULL;
    return f && f->type != rows_dtype(product) ? format_bf16_terms(rows_dtype(product)) : 1;
}

dtype multiplied_dtype(weight_numbers weights, const ir_op *product)
{
    return rows_terms(weights, product) > 1 ? dtype_bf16 : rows_dtype(product);
}

term_pairs weights_pairs(weight_numbers weights, const ir_op *product)
{
    const weight_format *f = weights_format(weights, product);
    return format_pairs(rows_terms(weights, product), f && f->passes > 1 ? f->terms : 1);
}

long long weights_length(weight_numbers weights, const ir_op *product)
{
    const long long K = product_depth(product);
    const weight_format *f = weights_format(weights, product);
    const int piece = piece_row_bytes / dtype_size(product->inputs[1]->type);
    return f ? format_length(f, K) : (K + piece - 1) / piece * piece;
}
