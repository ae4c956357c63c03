/* In: a product. Out: gen/program/weights.h. */
#include "gen/program/weights.h"
#include "gen/gen.h"

const weight_format *weights_format(weight_numbers weights, const ir_op *product)
{
    const dtype rows = product->inputs[0]->type, own = product->inputs[1]->type;
    if (product->kind != op_linear) return NULL;
    switch (weights) {
    case weights_widened: return format_plain(own);
    case weights_as_rows: return format_in(rows, own);
    case weights_split: return format_at(format_tf32x2);
    }
    return NULL;
}

long long weights_length(weight_numbers weights, const ir_op *product)
{
    const long long K = product_depth(product);
    const weight_format *f = weights_format(weights, product);
    const int piece = piece_row_bytes / dtype_size(product->inputs[1]->type);
    return f ? format_length(f, K) : (K + piece - 1) / piece * piece;
}

