/* Finds the first worse_range of a program that applies to a problem (gen/program/program.h). */
#include "gen/program/bits16.h"
#include "gen/program/staging.h"

static bool multiplies_f32_on_units(const problem *p)
{
    const dtype type = rows_dtype(p->product);
    for (layer_kind i = 0; type == dtype_f32 && i < layer_count; i++)
        if (layer_is_on_units(i) && target_has(p->target, i) && dtype_multiplies(type, i)) return true;
    return false;
}

static unsigned at_cache(const problem *p)
{
    enum { few_rows = 16 };
    const ir_op *op = p->attention;
    if (!op || op->kind == op_attention_combine || !value_is_cache(op->inputs[1])) return 0;
    const long long most = extent_high(&op->inputs[0]->shape[1], &p->ir->dims);
    const bool few = most <= few_rows && most * op->attributes.heads <= few_rows * op->attributes.kv_heads;
    return (few ? where_few_at_cache : where_many_at_cache) | (most > problem_queries(p) ? where_queries_vary : 0);
}

static unsigned circumstances_of(const problem *p)
{
    enum { most_digits = 3 }; /* the most passes along K if only one operand is in terms */
    unsigned here = (times_are_guesses(p) ? where_guessed : 0) | (p->target->matrix_share < 1 ? where_warpgroups : 0) |
                    (p->target->matrix_rows == 8 ? where_8_rows : 0) | (p->target->matrix_rows == 16 ? where_16_rows : 0) |
                    (p->ir->threads ? where_in_list : 0) | (p->ir->streams ? where_streams : 0);
    if (!p->product) return here | at_cache(p);
    here |= obstacle_to_16_bits(p, layer_register_fed, weights_as_rows) ? where_not_16_bits : where_16_bits;
    const bool both = rows_terms(weights_in_terms, p->product) > 1 && product_passes(p, weights_in_terms) > most_digits;
    here |= has_16_bit_costs(p) && product_is_rounded(p) ? 0 : where_not_rounded;
    return here | (multiplies_f32_on_units(p) ? where_f32_on_units : 0) | (both ? where_both_in_terms : 0);
}

static bool is_within(long long x, long long least, long long most) { return x >= least && (!most || x <= most); }

/* K of a product, or the keys of an attention. */
static long long length_of(const problem *p)
{
    const ir_op *op = p->attention;
    if (p->product) return product_length(p);
    return op->kind == op_attention_combine ? 0 : extent_value(value_tokens(op->inputs[1]), &p->ir->dims);
}

const worse_range *program_worse_range(const problem *p, const program *of, bool in_list)
{
    if (!of->worse) return NULL;
    const bool product = p->product != NULL;
    const unsigned here = circumstances_of(p);
    const long long rows = product ? problem_rows(p) : problem_queries(p), length = length_of(p);
    for (const worse_range *r = of->worse; r->why; r++)
        if ((r->than || !in_list) && !(r->where & ~here) && is_within(rows, r->least_rows, r->most_rows) &&
            is_within(length, r->least_length, r->most_length))
            return r;
    return NULL;
}
