/* In: a rope, attention or kv_append with its inputs and attributes. Out: the shape of its result, and values for
 * rotary, kv_heads and scale where the spec gives none. Refuses: heads that do not divide the columns, positions that are not int32 [B],
 * caches that do not fit. Activations are [B,S,H*hd] or [B,S,H,hd]; the result of kv_append is a cache, [B,KV,L,hd]. */
#include "ir/read/shape.h"
#include "ir/graph/scaling.h"
#include <limits.h>
#include <math.h>

/* `at`, `lengths` and `first` are int32 [B], a number for each sequence of x. */
static bool check_positions(op_draft *d, const char *key, const ir_value *p, const ir_value *x)
{
    position at = graph_attribute_at(d, key);
    if (!p) return true;
    if (p->kind != value_input || p->type != dtype_i32)
        return shape_clash(d, at, "%s: %%%s should be an input of dtype i32, such as {shape: [B], dtype: i32}", key,
                           p->name);
    if (p->rank != 1 || !extent_equal(&p->shape[0], &x->shape[0]))
        return shape_clash(d, at, "%s: %%%s is %s, it should be [%s], one for each sequence of %%%s", key, p->name,
                           graph_shape_text(d->r, p), graph_extent_text(d->r, &x->shape[0]), x->name);
    return true;
}

/* The part of p's range from `first` on, as text: "14 to 15" or "8"; "up to L" if its bounds are dynamic. */
static const char *range_from(op_draft *d, const ir_value *p, const extent *first)
{
    arena *a = d->r->a;
    long long low, high, from;
    if (!extent_is_number(&p->range_low, &low) || !extent_is_number(&p->range_high, &high) || !extent_is_number(first, &from))
        return arena_printf(a, "up to %s", graph_extent_text(d->r, &p->range_high));
    if (from < low) from = low;
    return from == high ? arena_printf(a, "%lld", high) : arena_printf(a, "%lld to %lld", from, high);
}

static bool is_one(const extent *e)
{
    long long n;
    return extent_is_number(e, &n) && n == 1;
}

/* Kernels compute positions as int, so the end of p's range plus `more` tokens must be at most INT_MAX. */
static bool check_number(op_draft *d, const char *key, const ir_value *p, const extent *more)
{
    arena *a = d->r->a;
    const position at = graph_attribute_at(d, key);
    if (!p || !p->has_range) return true;
    const extent room = extent_subtract(a, at, extent_number(INT_MAX), *more), left = extent_subtract(a, at, room, p->range_high);
    return graph_lowest(&left, &d->r->p->dims) >= 0 ||
           shape_clash(d, at, "%s: %%%s can be %s by its range; position + %s tokens should be at most %d", key, p->name,
                       graph_extent_text(d->r, &p->range_high), graph_extent_text(d->r, more), INT_MAX);
}

/* Warns if p's range reaches below 0, or if p plus `more` tokens (`more` NULL: p alone, a length) can exceed `most` rows for some values of
 * the dynamic dims. The result is defined in either case, and the message says what it is. */
static void warn_of_range(op_draft *d, const char *key, const ir_value *p, const extent *most, const extent *more)
{
    const dim_table *dims = &d->r->p->dims;
    const position at = graph_attribute_at(d, key);
    const bool append = d->op->kind == op_kv_append;
    arena *a = d->r->a;
    if (!p || !p->has_range) return;
    const char *op = op_table[d->op->kind].name;
    if (graph_lowest(&p->range_low, dims) < 0)
        warn(a, at, "%s: %s: %%%s may be %lld: %s", op, key, p->name, graph_lowest(&p->range_low, dims),
             append ? "rows ahead of the first are not written"
             : more ? "a query ahead of the first key sees none"
                    : "a number below 0 counts as 0");
    const extent room = more ? extent_subtract(a, at, *most, *more) : *most, left = extent_subtract(a, at, room, p->range_high);
    if (graph_lowest(&left, dims) >= 0) return;
    const extent first = extent_subtract(a, at, room, extent_number(-1));
    const char *which = range_from(d, p, &first), *rows = graph_extent_text(d->r, most);
    if (!more) {
        warn(a, at, "%s: %s: %%%s may be %s, but there are %s keys: then all of them are read", op, key, p->name, which, rows);
        return;
    }
    warn(a, at, "%s: %s: %%%s may be %s, where position + %s token%s the %s cache rows: %s", op, key, p->name, which,
         graph_extent_text(d->r, more), is_one(more) ? " exceeds" : "s exceed", rows,
         append ? "rows past the last are not written" : "queries there see no keys but those of the cache");
}

/* Splits the columns of input i into heads. In rank 4 the heads are an axis. */
static bool head_size(op_draft *d, int i, long long heads, const char *whose, long long *size)
{
    const ir_value *x = d->op->inputs[i];
    long long columns = value_columns(x), axis;
    *size = columns;
    if (x->rank == 4) {
        if (extent_is_number(&x->shape[2], &axis) && axis == heads) return true;
        return shape_clash(d, d->in_at[i], "%s should have the %lld %s as its third axis", shape_of(d, i), heads,
                           whose);
    }
    if (x->rank != 3)
        return shape_clash(d, d->in_at[i], "%s should be [batch, tokens, heads*hd] or [batch, tokens, heads, hd]",
                           shape_of(d, i));
    *size = columns / heads;
    return columns % heads == 0 || shape_clash(d, d->in_at[i], "%%%s has %lld columns, which %lld %s do not divide",
                                               x->name, columns, heads, whose);
}

bool shape_rope(op_draft *d, ir_value *out)
{
    const ir_value *x = d->op->inputs[0];
    ir_attributes *t = &d->op->attributes;
    long long size;
    if (!head_size(d, 0, t->heads, "heads", &size)) return false;
    if (!t->rotary) t->rotary = size;
    position at = graph_attribute_at(d, spec_find(d->node, "rotary") ? "rotary" : "heads");
    if (t->rotary > size)
        return shape_clash(d, at, "rotary: %lld is more than the head size %lld (%lld columns, %lld heads)", t->rotary,
                           size, value_columns(x), t->heads);
    if (t->rotary % 2)
        return shape_clash(d, at, "%lld elements of each head rotate; they rotate in pairs, so it must be even",
                           t->rotary);
    const char *fault = scaling_fault(&t->scaling, t->theta, t->rotary);
    if (fault) return shape_clash(d, graph_attribute_at(d, "scaling"), "scaling: %s", fault);
    shape_set(out, x);
    return check_positions(d, "at", t->at, x) && check_number(d, "at", t->at, &x->shape[1]);
}

/* Checks that k or v (input i) fits q, except for the size of its heads, which it returns in *size. */
static bool check_keys(op_draft *d, int i, long long *size)
{
    const ir_value *q = d->op->inputs[0], *k = d->op->inputs[i];
    long long heads, kv_heads = d->op->attributes.kv_heads;
    if (value_is_cache(k)) {
        *size = value_columns(k);
        if (!extent_is_number(&k->shape[cache_head], &heads) || heads != kv_heads)
            return shape_clash(d, d->in_at[i], "the cache %s [B, KV, L, hd] has %s heads, kv_heads is %lld",
                               shape_of(d, i), graph_extent_text(d->r, &k->shape[cache_head]), kv_heads);
    } else if (!head_size(d, i, kv_heads, "kv_heads", size))
        return false;
    if (!extent_equal(&q->shape[0], &k->shape[0]))
        return shape_clash(d, d->in_at[i], "%s and %s differ in the batch, their first axis", shape_of(d, 0),
                           shape_of(d, i));
    return q->type == k->type ||
           shape_clash(d, d->in_at[i], "%%%s is %s and %%%s is %s; q, k and v must have one dtype", q->name,
                       dtype_name(q->type), k->name, dtype_name(k->type));
}

/* Checks what decides which keys a query sees: k and v are both caches or neither; a cache needs at: or lengths:; causal, window and alibi
 * need at: or as many queries as keys. */
static bool check_visibility(op_draft *d)
{
    const ir_value *q = d->op->inputs[0], *k = d->op->inputs[1], *v = d->op->inputs[2];
    const ir_attributes *t = &d->op->attributes;
    const bool cached = value_is_cache(k);
    if (cached != value_is_cache(v))
        return shape_clash(d, d->in_at[2], "one of %%%s and %%%s is a cache, the other is not", k->name, v->name);
    if (!extent_equal(value_tokens(k), value_tokens(v)))
        return shape_clash(d, d->in_at[2], "%s has %s keys, %s has %s values", shape_of(d, 1),
                           graph_extent_text(d->r, value_tokens(k)), shape_of(d, 2),
                           graph_extent_text(d->r, value_tokens(v)));
    if (t->at && !cached)
        return shape_clash(d, graph_attribute_at(d, "at"),
                           "at: is a position in a cache; %%%s is not a cache (kv_append returns one)", k->name);
    if (cached && !t->at && !t->lengths)
        return shape_clash(d, d->op->at, "%%%s is a cache; at: or lengths: must say how much of it is filled", k->name);
    const char *needs = t->causal ? "causal" : t->window ? "window" : t->alibi.count ? "alibi" : NULL;
    if (needs && !t->at && !extent_equal(&q->shape[1], value_tokens(k)))
        return shape_clash(d, graph_attribute_at(d, needs),
                           "%s: %%%s has %s queries and %%%s %s keys; without at: their numbers must be equal", needs, q->name,
                           graph_extent_text(d->r, &q->shape[1]), k->name, graph_extent_text(d->r, value_tokens(k)));
    return check_positions(d, "lengths", t->lengths, q) && check_positions(d, "first", t->first, q) && check_positions(d, "at", t->at, q) &&
           check_number(d, "at", t->at, &q->shape[1]);
}

/* True if the kv_append that fills the cache has the attention's positions and number of tokens, and so has given the same warning. */
static bool append_has_warned(const ir_op *attention)
{
    const ir_value *k = attention->inputs[1];
    return value_is_cache(k) && k->def->attributes.at == attention->attributes.at &&
           extent_equal(&k->def->inputs[0]->shape[1], &attention->inputs[0]->shape[1]);
}

static void warn_of_ranges(op_draft *d)
{
    const ir_op *op = d->op;
    const ir_attributes *t = &op->attributes;
    warn_of_range(d, "lengths", t->lengths, value_tokens(op->inputs[1]), NULL);
    if (!append_has_warned(op)) warn_of_range(d, "at", t->at, value_tokens(op->inputs[1]), &op->inputs[0]->shape[1]);
}

/* ALiBi slopes and sinks: one per head. */
static bool check_heads(op_draft *d)
{
    const ir_op *op = d->op;
    const ir_attributes *t = &op->attributes;
    long long count = 0;
    if (t->alibi.count && t->alibi.count != t->heads)
        return shape_clash(d, graph_attribute_at(d, "alibi"), "alibi: has %d slopes for %lld heads", t->alibi.count, t->heads);
    if (op->input_count < 4) return true;
    const ir_value *sinks = op->inputs[3];
    if (sinks->kind != value_param || sinks->rank != 1 || !extent_is_number(&sinks->shape[0], &count) || count != t->heads)
        return shape_clash(d, d->in_at[3], "the sinks %s should be a param [%lld], one for each head", shape_of(d, 3), t->heads);
    return true;
}

/* The bias: an input or param for all queries and at least all keys; heads and sequences may share one. */
static bool check_bias(op_draft *d)
{
    const ir_value *b = d->op->attributes.bias, *q = d->op->inputs[0], *k = d->op->inputs[1];
    const position at = graph_attribute_at(d, "bias");
    if (!b) return true;
    if ((b->kind != value_input && b->kind != value_param) || !dtype_is_real(b->type))
        return shape_clash(d, at, "bias: %%%s should be an input or a param of f32, f16 or bf16", b->name);
    const extent heads = extent_number(d->op->attributes.heads), *last = &b->shape[b->rank - 1];
    const bool fits = b->rank >= 2 && b->rank <= 4 && extent_equal(last - 1, &q->shape[1]) &&
                      (b->rank < 3 || is_one(last - 2) || extent_equal(last - 2, &heads)) &&
                      (b->rank < 4 || is_one(last - 3) || extent_equal(last - 3, &q->shape[0]));
    const extent left = extent_subtract(d->r->a, at, *last, *value_tokens(k));
    if (fits && graph_lowest(&left, &d->r->p->dims) >= 0) return true;
    const char *queries = graph_extent_text(d->r, &q->shape[1]), *keys = graph_extent_text(d->r, value_tokens(k));
    return shape_clash(d, at, "bias: %%%s is %s; it should be [%s, L], [%lld, %s, L] or [%s, %lld, %s, L] with L at least %s", b->name,
                       graph_shape_text(d->r, b), queries, d->op->attributes.heads, queries, graph_extent_text(d->r, &q->shape[0]),
                       d->op->attributes.heads, queries, keys);
}

/* The result: rows and heads of q, with the head size of v. */
static void set_result(op_draft *d, ir_value *out, long long size)
{
    const ir_value *q = d->op->inputs[0];
    shape_set(out, q);
    out->shape[q->rank - 1] = extent_number(q->rank == 4 ? size : size * d->op->attributes.heads);
}

bool shape_attention(op_draft *d, ir_value *out)
{
    ir_attributes *t = &d->op->attributes;
    const ir_value *const *in = (const ir_value *const *)d->op->inputs;
    long long head_dim, of_keys, of_values;
    if (!t->kv_heads) t->kv_heads = t->heads;
    if (t->heads % t->kv_heads)
        return shape_clash(d, graph_attribute_at(d, "kv_heads"), "kv_heads: %lld does not divide heads: %lld",
                           t->kv_heads, t->heads);
    if (!head_size(d, 0, t->heads, "heads", &head_dim)) return false;
    if (!check_keys(d, 1, &of_keys) || !check_keys(d, 2, &of_values)) return false;
    if (of_keys != head_dim)
        return shape_clash(d, d->in_at[1], "heads of %%%s have %lld elements, heads of %%%s have %lld", in[0]->name, head_dim, in[1]->name,
                           of_keys);
    if (!check_visibility(d) || !check_heads(d) || !check_bias(d)) return false;
    if (t->scale == 0) t->scale = 1 / sqrt((double)head_dim);
    warn_of_ranges(d);
    set_result(d, out, of_values);
    return true;
}

/* An append must not have more tokens than its cache has rows. */
static bool check_capacity(op_draft *d, const ir_value *x, const ir_value *state)
{
    const dim_table *dims = &d->r->p->dims;
    const ir_value *at = d->op->attributes.at;
    extent room = extent_subtract(d->r->a, d->op->at, *value_tokens(state), x->shape[1]);
    if (graph_lowest(&room, dims) < 0)
        return shape_clash(d, d->in_at[0], "%s can have more tokens (%lld) than the state %%%s %s holds (%s)",
                           shape_of(d, 0), extent_high(&x->shape[1], dims), state->name, graph_shape_text(d->r, state),
                           graph_extent_text(d->r, value_tokens(state)));
    warn_of_range(d, "at", at, value_tokens(state), &x->shape[1]);
    return check_number(d, "at", at, &x->shape[1]);
}

/* x [B,S,KV*hd] or [B,S,KV,hd] into a state [B,KV,L,hd]; the result is the state after the write. */
bool shape_append(op_draft *d, ir_value *out)
{
    const ir_value *x = d->op->inputs[0];
    ir_value *state = d->op->attributes.state;
    position at = graph_attribute_at(d, "state");
    long long heads, size;
    if (state->kind != value_state)
        return shape_clash(d, at, "state: %%%s must be declared under state:, so that it lasts from call to call",
                           state->name);
    if (state->rank != 4 || !extent_is_number(&state->shape[cache_head], &heads))
        return shape_clash(d, at, "state: %%%s is %s, it should be [B, KV, L, hd] with KV and hd static", state->name,
                           graph_shape_text(d->r, state));
    const ir_op *writer = d->r->writer[state->id];
    if (writer) return shape_clash(d, at, "state: %%%s is written already, at line %d", state->name, writer->at.line);
    d->r->writer[state->id] = d->op;
    if (!head_size(d, 0, heads, "heads of the state", &size)) return false;
    if (size != value_columns(state))
        return shape_clash(d, d->in_at[0],
                           "%%%s has %lld heads of %lld elements, the state %%%s %s takes heads of %lld", x->name,
                           heads, size, state->name, graph_shape_text(d->r, state), value_columns(state));
    if (!extent_equal(&x->shape[0], &state->shape[0]))
        return shape_clash(d, d->in_at[0], "%s and the state %%%s %s differ in the batch, their first axis",
                           shape_of(d, 0), state->name, graph_shape_text(d->r, state));
    if (!check_positions(d, "at", d->op->attributes.at, x) || !check_capacity(d, x, state)) return false;
    shape_set(out, state);
    out->type = state->type;
    out->root = state;
    out->root_stride = value_columns(state);
    return true;
}
