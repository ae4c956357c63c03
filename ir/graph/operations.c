/* In, out: ir/graph/operations.h. The (query, key) pairs of attention are counted by closed formulas, so long sequences cost no time. */
#include "ir/graph/operations.h"

enum {
    alibi_operations = 3,   /* per pair: difference, product, sum */
    softmax_operations = 5, /* per pair: scale, max, difference, exponential, sum */
    softcap_operations = 3, /* division, tanh, product */
    rope_operations = 3     /* per element: two products and a sum */
};

static long long least(long long x, long long y) { return x < y ? x : y; }

/* Sum of `count` consecutive integers starting at `from`, each clamped to 0 .. most. */
static double clamped_sum(long long from, long long count, long long most)
{
    const long long below = from < 0 ? least(-from, count) : 0;
    long long whole = most - from; /* index of the first that reaches `most` */
    whole = whole < below ? below : least(whole, count);
    const double rising = (double)(whole - below) * ((double)(from + below) + (double)(from + whole - 1)) / 2;
    return rising + (double)(count - whole) * (double)most;
}

/* Adds the keys seen by queries first .. first + count - 1 of one sequence, whose cache holds `filled` keys, of which the first `padding`
 * do not count. The query at position p sees keys from p + 1 - window on (without a window, from the first that counts), up to p if causal,
 * else up to p - 1 + window (without a window, all). */
static void see_sequence(const ir_attributes *t, long long padding, long long first, long long count, long long filled, keys_seen *seen)
{
    first -= padding, filled = filled > padding ? filled - padding : 0; /* counted from the first key that is no padding */
    const bool ends = t->causal || t->window > 0;
    const long long later = t->causal ? 1 : t->window;
    const double shown = ends ? clamped_sum(first + later, count, filled) : (double)count * (double)filled;
    const double hidden = t->window > 0 ? clamped_sum(first + 1 - t->window, count, filled) : 0;
    const double last = ends ? clamped_sum(first + count - 1 + later, 1, filled) : (double)filled;
    const double before = t->window > 0 ? clamped_sum(first + 1 - t->window, 1, filled) : 0;
    seen->pairs += shown - hidden;
    if (last > before && count > 0) seen->keys += last - before;
}

static long long integer_at(const ir_value *v, long long b, long long otherwise, integer_source *integers, void *context)
{
    const int *data = v && integers ? integers(context, v->name) : NULL;
    return data ? data[b] : otherwise;
}

keys_seen attention_seen(const ir_op *op, const dim_table *dims, integer_source *integers, void *context)
{
    const ir_attributes *t = &op->attributes;
    const ir_value *q = op->inputs[0];
    const long long batches = extent_value(&q->shape[0], dims), queries = extent_value(&q->shape[1], dims);
    const long long keys = extent_value(value_tokens(op->inputs[1]), dims);
    const bool alike = !integers || (!t->at && !t->lengths && !t->first);
    keys_seen seen = {0, 0};
    for (long long b = 0; b < (alike ? 1 : batches); b++) {
        const long long first = integer_at(t->at, b, keys - queries, integers, context);
        const long long written = t->at ? least(keys, first + queries) : keys;
        const long long padding = least(integer_at(t->first, b, 0, integers, context), keys);
        const long long filled = least(written, integer_at(t->lengths, b, keys, integers, context));
        see_sequence(t, padding > 0 ? padding : 0, first, queries, filled, &seen);
    }
    if (alike) seen.pairs *= (double)batches, seen.keys *= (double)batches;
    return seen;
}

static double count_of(const ir_value *v, const dim_table *dims) { return (double)value_count(v, dims); }

static operations of_attention(const ir_op *op, const dim_table *dims, integer_source *integers, void *context)
{
    const ir_attributes *t = &op->attributes;
    const double pairs = attention_seen(op, dims, integers, context).pairs * (double)t->heads;
    const double divided = op->kind == op_attention ? count_of(op->outputs[0], dims) : 0;
    const double width = (double)(value_head_size(op->inputs[0], t->heads) + attention_value_size(op)); /* of q and k, and of v */
    const double of_pair = softmax_operations + (t->softcap > 0 ? softcap_operations : 0) + (t->alibi.count ? alibi_operations : 0) +
                           (t->bias ? 1 : 0);
    return (operations){2 * width * pairs, pairs * of_pair + divided};
}

static double rotated(const ir_op *op, const dim_table *dims)
{
    const ir_value *x = op->inputs[0];
    const double tokens = (double)extent_value(&x->shape[0], dims) * (double)extent_value(&x->shape[1], dims);
    return tokens * (double)op->attributes.heads * (double)op->attributes.rotary;
}

operations op_operations(const ir_op *op, const dim_table *dims, integer_source *integers, void *context)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    switch (op_table[op->kind].class) {
    case class_PRODUCT:
        return (operations){2 * count_of(y, dims) * (double)product_depth(op), op->input_count == 3 ? count_of(y, dims) : 0};
    case class_ATTENTION:
        if (op->kind != op_attention_combine) return of_attention(op, dims, integers, context);
        return (operations){0, 2 * count_of(x, dims) + count_of(y, dims)}; /* each partial is scaled and added, then the sum divided */
    case class_COLUMNS: return (operations){0, count_of(x, dims)};
    case class_REDUCE: return (operations){0, count_of(x, dims) * (op->kind == op_row_sumsq ? 2 : 1)};
    case class_ROPE: return (operations){0, rope_operations * rotated(op, dims)};
    case class_COMPOSITE:
    case class_MOVE:
    case class_APPEND: return (operations){0, 0};
    default: return (operations){0, op->kind == op_cast ? 0 : count_of(y, dims)};
    }
}

operations graph_operations(const ir_graph *p, integer_source *integers, void *context)
{
    operations sum = {0, 0};
    for (int i = 0; i < p->op_count; i++) {
        const operations one = op_operations(p->ops[i], &p->dims, integers, context);
        sum.products += one.products, sum.others += one.others;
    }
    return sum;
}
