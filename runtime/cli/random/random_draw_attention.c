/* In: x [B, S, D] of a drawing. Out: attention on it with any of its options: grouped heads, heads of v of another size, causal, window,
 * cap, scale, lengths, norms and ropes of every form on q and k, separate or joined products, an axis for heads, keys of another
 * sequence, caches. */
#include "runtime/cli/random/random_draw.h"
#include <stdio.h>
#include <string.h>

attention_shape draw_heads(drawing *d, long long most_columns)
{
    static const int groups[][2] = {{1, 1}, {2, 1}, {2, 2}, {3, 1}, {3, 3}, {4, 1}, {4, 2}, {4, 4}, {6, 2}, {8, 2}, {8, 1}};
    static const int sizes[] = {4, 6, 8, 8, 10, 12, 16, 16, 16, 20, 24, 32, 32, 34, 40, 48, 64, 64, 72, 80, 96, 128};
    const int *group = groups[draw_below(d, 11)];
    int size = DRAW_OF(d, sizes);
    while (size > 4 && size * group[0] > most_columns) size = DRAW_OF(d, sizes);
    attention_shape s = {axis_dim(d, "H", group[0]), {.value = 0}, {.value = 0}, {.value = 0}};
    s.kv_heads = group[1] == group[0] && draw_chance(d, 60) ? s.heads : axis_dim(d, "KV", group[1]);
    if (draw_apart(d, 20)) size--; /* an odd number */
    s.head_size = s.value_size = axis_dim(d, "hd", size);
    if (draw_chance(d, 15)) s.value_size = axis_dim(d, "vd", DRAW_OF(d, sizes));
    return s;
}

static random_axis columns_of(const random_axis *heads, const random_axis *size)
{
    return axis_write(heads->value * size->value, false, "%s*%s", heads->text, size->text);
}

/* [B, S, H*hd] to [B, S, H, hd], or the other way round. */
static int with_heads(drawing *d, int x, const random_axis *heads, const random_axis *size)
{
    const random_value v = *value_at(d, x);
    const random_axis shape[4] = {v.shape[0], v.shape[1], *heads, *size};
    return put_reshape(d, x, shape, 4);
}

static int without_heads(drawing *d, int x, const random_axis *heads, const random_axis *size)
{
    const random_value v = *value_at(d, x);
    const random_axis shape[3] = {v.shape[0], v.shape[1], columns_of(heads, size)};
    return put_reshape(d, x, shape, 3);
}

/* A norm of each head of q or k, as in Qwen3 and Gemma 3. */
static int head_norm(drawing *d, int x, const random_axis *heads, const random_axis *size)
{
    const int y = with_heads(d, x, heads, size);
    const int n = draw_chance(d, 70) ? put_rmsnorm(d, y) : draw_chance(d, 50) ? put_l2norm(d, y) : put_layernorm(d, y);
    return without_heads(d, n, heads, size);
}

typedef struct projections { int q, k, v; } projections;

static projections three_products(drawing *d, int x, int memory, const attention_shape *s)
{
    const random_axis wide = columns_of(&s->heads, &s->head_size), narrow = columns_of(&s->kv_heads, &s->head_size),
                      values = columns_of(&s->kv_heads, &s->value_size);
    const bool bias = draw_chance(d, 25);
    projections p;
    p.q = put_linear(d, x, &wide, bias);
    p.k = put_linear(d, memory, &narrow, bias && draw_chance(d, 80));
    p.v = put_linear(d, memory, &values, bias);
    return p;
}

static projections one_product(drawing *d, int x, const attention_shape *s)
{
    const random_axis wide = columns_of(&s->heads, &s->head_size), narrow = columns_of(&s->kv_heads, &s->head_size),
                      values = columns_of(&s->kv_heads, &s->value_size);
    const random_axis all = axis_write(wide.value + narrow.value + values.value, false, "(%s+%s)*%s+%s", s->heads.text, s->kv_heads.text,
                                       s->head_size.text, values.text);
    const random_axis sizes[3] = {wide, narrow, values};
    int parts[3];
    put_split(d, put_linear(d, x, &all, draw_chance(d, 25)), sizes, 3, parts);
    return (projections){parts[0], parts[1], parts[2]};
}

static projections project(drawing *d, int x, const attention_shape *s)
{
    return draw_chance(d, 70) ? three_products(d, x, x, s) : one_product(d, x, s);
}

static bool has_heads(drawing *d, int x) { return value_at(d, x)->rank == 4; }

/* Gives q, k and v an axis for heads, perhaps with norms, for ropes and attention on [B, S, H, hd]. */
static void set_apart(drawing *d, projections *p, const attention_shape *s)
{
    const bool norms = draw_chance(d, 50);
    p->q = with_heads(d, p->q, &s->heads, &s->head_size);
    p->k = with_heads(d, p->k, &s->kv_heads, &s->head_size);
    if (norms) p->q = put_rmsnorm(d, p->q), p->k = put_rmsnorm(d, p->k);
}

/* Norms and ropes on q and k; v is unchanged. at: positions if there is a cache. */
static void place(drawing *d, projections *p, const attention_shape *s, int at)
{
    const int form = draw_below(d, 10);
    if (form < 2) set_apart(d, p, s);
    else if (form < 4) {
        p->q = head_norm(d, p->q, &s->heads, &s->head_size);
        p->k = head_norm(d, p->k, &s->kv_heads, &s->head_size);
    }
    if (!draw_chance(d, 65)) return;
    const uint64_t drawn = d->drawn;
    p->q = put_rope(d, p->q, &s->heads, s->head_size.value, at);
    const uint64_t behind = d->drawn;
    d->drawn = drawn; /* the same draws for k as for q */
    p->k = put_rope(d, p->k, &s->kv_heads, s->head_size.value, at);
    d->drawn = behind;
}

static void say_slopes(drawing *d, random_op *op, int heads)
{
    enum { most_heads = 32 };
    char list[8 * most_heads] = "";
    for (int i = 0; i < heads && heads <= most_heads; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s0.%d", i ? ", " : "", 1 + draw_below(d, 50));
    if (heads <= most_heads) op_say(op, "alibi", "[%s]", list);
}

/* same: queries and keys are positions of one text (the same tokens, or a cache and its newest tokens), so windows and slopes make
 * sense. */
static void say_options(drawing *d, random_op *op, const attention_shape *s, bool causal, bool same, long long keys)
{
    static const char *const caps[] = {"20", "50", "3"}, *const scales[] = {"0.4", "0.1", "1"};
    op_say(op, "heads", "%s", s->heads.text);
    if (s->kv_heads.value != s->heads.value || draw_chance(d, 10)) op_say(op, "kv_heads", "%s", s->kv_heads.text);
    if (causal || draw_chance(d, 3)) op_say(op, "causal", "%s", causal ? "true" : "false");
    if ((causal || same) && draw_chance(d, 20)) op_say(op, "window", "%d", 1 + draw_below(d, (int)keys + 2));
    if (draw_chance(d, 12)) op_say(op, "softcap", "%s", DRAW_OF(d, caps));
    if (draw_chance(d, 12)) op_say(op, "scale", "%s", DRAW_OF(d, scales));
    if (same && draw_chance(d, 10)) say_slopes(d, op, (int)s->heads.value);
}

/* Changes out's shape, a copy of q's, to the result's: each head is as long as one of v. */
static void shape_result(random_value *out, const attention_shape *s)
{
    out->shape[out->rank - 1] = out->rank == 4 ? s->value_size : columns_of(&s->heads, &s->value_size);
}

/* Padding ahead of each sequence, or -1. */
static int draw_first(drawing *d, const random_axis *batch, const random_axis *keys)
{
    char range[96];
    snprintf(range, sizeof range, "0, %s", keys->text);
    return draw_chance(d, 8) ? make_integers(d, batch, range) : -1;
}

/* A bias of the scores of some queries and keys, or -1. */
static int draw_bias(drawing *d, const random_value *q, const random_axis *heads, const random_axis *keys)
{
    const random_axis one = axis_write(1, false, "1"), *rows = draw_chance(d, 50) ? heads : &one;
    const random_axis shape[4] = {draw_chance(d, 50) ? q->shape[0] : one, *rows, q->shape[1], *keys};
    const int skipped = draw_below(d, 3);
    if (keys->dynamic || !draw_chance(d, 8)) return -1;
    return draw_chance(d, 50) || shape[skipped].dynamic || q->shape[1].dynamic ? make_input(d, shape + skipped, 4 - skipped)
                                                                               : make_param(d, shape + skipped, 4 - skipped);
}

static int attend(drawing *d, const projections *p, const attention_shape *s, bool causal)
{
    random_value v = *value_at(d, p->q);
    const random_axis keys = value_at(d, p->k)->shape[1];
    char range[96];
    snprintf(range, sizeof range, "%d, %s", draw_chance(d, 30) ? 0 : 1, keys.text);
    const int lengths = draw_chance(d, 15) ? make_integers(d, &v.shape[0], range) : -1, first = draw_first(d, &v.shape[0], &keys);
    const int bias = draw_bias(d, &v, &s->heads, &keys);
    const double size = value_at(d, p->v)->size;
    const int sinks = draw_chance(d, 8) ? make_param(d, &s->heads, 1) : -1;
    random_op *op = op_begin(d, op_attention);
    op_in(op, p->q), op_in(op, p->k), op_in(op, p->v);
    if (sinks >= 0) op_in(op, sinks);
    say_options(d, op, s, causal, axis_same(&keys, &v.shape[1]), keys.value);
    if (lengths >= 0) op_name(op, "lengths", lengths);
    if (first >= 0) op_name(op, "first", first);
    if (bias >= 0) op_name(op, "bias", bias);
    shape_result(&v, s);
    return op_out(d, op, v.shape, v.rank, random_spec_type, size, -size);
}

/* Cross-attention: keys and values of another sequence. */
static int attend_memory(drawing *d, int x, const attention_shape *s)
{
    static const int lengths[] = {1, 5, 16, 37, 64, 100};
    const random_value v = *value_at(d, x);
    const random_axis shape[3] = {v.shape[0], axis_dim(d, "T", DRAW_OF(d, lengths)), axis_columns(d)};
    const projections p = three_products(d, x, make_input(d, shape, 3), s);
    return attend(d, &p, s, false);
}

static int one_type(drawing *d, int x) { return value_at(d, x)->type == random_spec_type ? x : put_scalar(d, op_mul, x, "1", false); }

int draw_attention(drawing *d, int x, const attention_shape *s)
{
    x = draw_gentle(d, x);
    if (draw_chance(d, 12)) return attend_memory(d, x, s);
    projections p = project(d, x, s);
    place(d, &p, s, -1);
    p.q = one_type(d, p.q), p.k = one_type(d, p.k), p.v = one_type(d, p.v);
    if (draw_chance(d, 12)) {
        if (!has_heads(d, p.q)) p.q = with_heads(d, p.q, &s->heads, &s->head_size);
        if (!has_heads(d, p.k) && draw_chance(d, 70)) p.k = with_heads(d, p.k, &s->kv_heads, &s->head_size);
        if (draw_chance(d, 70)) p.v = with_heads(d, p.v, &s->kv_heads, &s->value_size);
    }
    const int a = attend(d, &p, s, draw_chance(d, 65));
    return has_heads(d, a) ? without_heads(d, a, &s->heads, &s->value_size) : a;
}

/* ---- caches */
typedef struct cache_shape {
    random_axis capacity;
    int at; /* positions */
} cache_shape;

static cache_shape draw_cache(drawing *d, const random_axis *batch, const random_axis *tokens)
{
    static const int capacities[] = {3, 16, 17, 40, 64, 65, 130, 300, 520, 1100};
    long long most = tokens->value;
    for (int i = 0; i < d->s->dim_count; i++)
        if (strcmp(d->s->dims[i].name, tokens->text) == 0) most = d->s->dims[i].high;
    cache_shape c = {axis_dim(d, "L", most + DRAW_OF(d, capacities)), 0};
    char range[96];
    const long long first = draw_chance(d, 50) ? (c.capacity.value - most) / 2 : 0;
    snprintf(range, sizeof range, "%lld, %s-%lld", first, c.capacity.text, most);
    c.at = make_integers(d, batch, range);
    return c;
}

static int append(drawing *d, int x, const attention_shape *s, const random_axis *size, const cache_shape *c)
{
    const random_value v = *value_at(d, x);
    const random_axis shape[4] = {v.shape[0], s->kv_heads, c->capacity, *size};
    const int state = make_value(d, value_state, shape, 4, random_spec_type);
    random_op *op = op_begin(d, op_kv_append);
    op_in(op, x);
    op_name(op, "state", state);
    op_name(op, "at", c->at);
    const int y = op_out(d, op, shape, 4, random_spec_type, v.size, -v.size);
    value_at(d, y)->cache = true;
    return y;
}

static bool is_plain(drawing *d, const random_axis *axis)
{
    bool plain = !axis->dynamic;
    for (int i = 0; i < d->s->dim_count; i++) plain = plain || strcmp(d->s->dims[i].name, axis->text) == 0;
    return plain;
}

int draw_decode(drawing *d, int x, const attention_shape *s)
{
    if (!is_plain(d, &value_at(d, x)->shape[1])) return draw_attention(d, x, s); /* the number of tokens is not a plain dim */
    x = draw_gentle(d, x);
    const random_value v = *value_at(d, x);
    const cache_shape c = draw_cache(d, &v.shape[0], &v.shape[1]);
    projections p = project(d, x, s);
    place(d, &p, s, draw_chance(d, 90) ? c.at : -1);
    const int q = one_type(d, p.q);
    if (!has_heads(d, p.k) && draw_chance(d, 10)) p.k = with_heads(d, p.k, &s->kv_heads, &s->head_size);
    const int k = append(d, p.k, s, &s->head_size, &c), values = append(d, p.v, s, &s->value_size, &c);
    char range[96];
    snprintf(range, sizeof range, "%d, %s", draw_chance(d, 30) ? 0 : 1, c.capacity.text);
    const bool by_length = draw_chance(d, 15), both = !by_length && draw_chance(d, 12);
    const int lengths = by_length || both ? make_integers(d, &v.shape[0], range) : -1, padding = draw_first(d, &v.shape[0], &c.capacity);
    random_value out = *value_at(d, q);
    shape_result(&out, s);
    random_op *op = op_begin(d, op_attention);
    op_in(op, q), op_in(op, k), op_in(op, values);
    say_options(d, op, s, !by_length && draw_chance(d, both ? 50 : 85), !by_length, c.capacity.value);
    if (lengths >= 0) op_name(op, "lengths", lengths);
    if (!by_length) op_name(op, "at", c.at);
    if (padding >= 0) op_name(op, "first", padding);
    const int a = op_out(d, op, out.shape, out.rank, random_spec_type, 5, -5);
    return has_heads(d, a) ? without_heads(d, a, &s->heads, &s->value_size) : a;
}
