/* In: a linear of a graph and a factor that a plan folds into its weight. Out: whether the result stays the same by algebra.
 *
 * sum_k (z_k f_k) w_k = sum_k z_k (f_k w_k) for any z, as long as f has one number per column. The linear's operand must be such a product
 * in the graph: a norm with a weight, or a mul. */
#include "ir/reference/ref_parts.h"

static bool is_one(const ir_value *v) { return v->kind == value_constant && v->constant == 1; }

/* v is the factor, or 1 + the factor written out. */
static bool is_factor(const ir_value *v, const ref_fold *f)
{
    if (!f->plus_one) return v == f->factor;
    const ir_op *sum = v->def;
    return sum && sum->kind == op_add &&
           ((sum->inputs[0] == f->factor && is_one(sum->inputs[1])) || (sum->inputs[1] == f->factor && is_one(sum->inputs[0])));
}

/* The operand is a norm without bias, whose last step multiplies by its weight. */
static bool is_plain_norm(const ir_op *op) { return (op->kind == op_rmsnorm || op->kind == op_layernorm) && op->input_count == 2; }

bool ref_fold_is_factor(const ref_state *r, const ir_op *linear, const ref_fold *f)
{
    const ir_op *h = linear->inputs[0]->def;
    if (!h || ref_rank(r, f->factor) != 1) return false;
    if (h->kind == op_mul) return is_factor(h->inputs[0], f) || is_factor(h->inputs[1], f);
    if (!is_plain_norm(h)) return false;
    return ref_attributes(r, h)->unit_offset ? f->plus_one && h->inputs[1] == f->factor : is_factor(h->inputs[1], f);
}

static int add_inputs(const ir_op *op, const ir_value **needs, int n)
{
    for (int k = 0; op && k < op->input_count && k < 2; k++) needs[n++] = op->inputs[k];
    return n;
}

void ref_fold_needs(const ir_op *linear, const ir_value *needs[ref_fold_most_needs])
{
    int n = 0;
    const ir_op *h = linear->kind == op_linear ? linear->inputs[0]->def : NULL;
    if (h && (h->kind == op_mul || is_plain_norm(h))) {
        n = add_inputs(h, needs, n);
        for (int k = 0; k < 2; k++) n = add_inputs(h->inputs[k]->def, needs, n);
    }
    while (n < ref_fold_most_needs) needs[n++] = NULL;
}
