/* In: a drawing. Out: a whole transformer block: a shipped one with a few changes. */
#include "runtime/cli/random/random_draw.h"
#include <string.h>

typedef enum norm_kind { norm_rms, norm_layer, norm_any, norm_none } norm_kind;
typedef enum mlp_kind { mlp_gated, mlp_plain, mlp_any, mlp_missing } mlp_kind;

typedef struct block_plan {
    norm_kind norm;
    mlp_kind mlp;
    op_kind activation;
    bool bias, post_norm, parallel, sandwich, cached, causal, ropes, free_attention;
} block_plan;

static const block_plan shipped[] = {
    {.norm = norm_rms, .mlp = mlp_gated, .activation = op_silu, .causal = true, .ropes = true},                     /* Llama */
    {.norm = norm_rms, .mlp = mlp_gated, .activation = op_silu, .causal = true, .ropes = true, .cached = true},
    {.norm = norm_layer, .mlp = mlp_plain, .activation = op_gelu_tanh, .bias = true, .causal = true},               /* GPT-2 */
    {.norm = norm_layer, .mlp = mlp_plain, .activation = op_gelu_tanh, .bias = true, .causal = true, .cached = true},
    {.norm = norm_layer, .mlp = mlp_plain, .activation = op_gelu_erf, .bias = true, .post_norm = true},             /* BERT */
    {.norm = norm_rms, .mlp = mlp_gated, .activation = op_gelu_tanh, .causal = true, .ropes = true, .sandwich = true}, /* Gemma 2 */
    {.norm = norm_layer, .mlp = mlp_gated, .activation = op_silu, .causal = true, .ropes = true, .parallel = true}, /* Cohere, Phi */
};

static void change_one(drawing *d, block_plan *p)
{
    static const op_kind kinds[] = {op_silu, op_gelu_erf, op_gelu_tanh, op_relu, op_sigmoid, op_tanh};
    switch (draw_below(d, 12)) {
    case 0: p->norm = (norm_kind)draw_below(d, 4); break;
    case 1: p->norm = norm_any; break;
    case 2: p->mlp = (mlp_kind)draw_below(d, 4); break;
    case 3: p->activation = DRAW_OF(d, kinds); break;
    case 4: p->bias = !p->bias; break;
    case 5: p->post_norm = !p->post_norm; break;
    case 6: p->parallel = !p->parallel; break;
    case 7: p->sandwich = !p->sandwich; break;
    case 8: p->cached = !p->cached; break;
    case 9: p->ropes = !p->ropes; break;
    default: p->free_attention = true; break;
    }
}

static int norm(drawing *d, const block_plan *p, int x)
{
    switch (p->norm) {
    case norm_rms: return put_rmsnorm(d, x);
    case norm_layer: return put_layernorm(d, x);
    case norm_any: return draw_norm(d, x);
    default: return x;
    }
}

static int mlp(drawing *d, const block_plan *p, int x, const random_axis *columns)
{
    if (p->mlp == mlp_missing) return put_linear(d, x, columns, p->bias);
    if (p->mlp == mlp_any) return draw_mlp(d, x, columns);
    const random_axis width = axis_dim(d, "F", 8 + 8 * draw_below(d, 12) + (draw_chance(d, 30) ? draw_below(d, 8) : 0));
    const int first = put_linear(d, x, &width, p->bias);
    int h = p->mlp == mlp_gated && draw_chance(d, 10) ? draw_activation(d, first) : -1;
    if (p->mlp == mlp_gated) {
        const int up = put_linear(d, x, &width, p->bias);
        if (h < 0) h = put_unary(d, p->activation, first);
        h = put_binary(d, op_mul, h, up);
    } else {
        h = put_unary(d, p->activation, first);
    }
    return put_linear(d, h, columns, p->bias);
}

/* The block's attention in its plainest form; draw_attention() draws the others. */
static int plain_attention(drawing *d, const block_plan *p, int x, const attention_shape *s)
{
    const random_axis wide = axis_write(s->heads.value * s->head_size.value, false, "%s*%s", s->heads.text, s->head_size.text);
    const random_axis narrow = axis_write(s->kv_heads.value * s->head_size.value, false, "%s*%s", s->kv_heads.text, s->head_size.text);
    const random_axis values = axis_write(s->kv_heads.value * s->value_size.value, false, "%s*%s", s->kv_heads.text, s->value_size.text);
    int q = put_linear(d, x, &wide, p->bias), k = put_linear(d, x, &narrow, p->bias);
    const int v = put_linear(d, x, &values, p->bias);
    const uint64_t drawn = d->drawn;
    if (p->ropes) {
        q = put_rope(d, q, &s->heads, s->head_size.value, -1);
        d->drawn = drawn;
        k = put_rope(d, k, &s->kv_heads, s->head_size.value, -1);
    }
    random_value out = *value_at(d, q);
    out.shape[2] = axis_write(s->heads.value * s->value_size.value, false, "%s*%s", s->heads.text, s->value_size.text);
    const double size = value_at(d, v)->size;
    random_op *op = op_begin(d, op_attention);
    op_in(op, q), op_in(op, k), op_in(op, v);
    op_say(op, "heads", "%s", s->heads.text);
    op_say(op, "kv_heads", "%s", s->kv_heads.text);
    if (p->causal) op_say(op, "causal", "true");
    return op_out(d, op, out.shape, 3, random_spec_type, size, -size);
}

static int attention(drawing *d, const block_plan *p, int x, const attention_shape *s, const random_axis *columns)
{
    const int a = p->cached ? draw_decode(d, x, s) : p->free_attention ? draw_attention(d, x, s) : plain_attention(d, p, x, s);
    return put_linear(d, a, columns, p->bias);
}

static int add_part(drawing *d, const block_plan *p, int x, int part)
{
    if (p->sandwich) part = norm(d, p, part);
    const int y = draw_chance(d, 92) ? put_binary(d, op_add, x, part) : draw_sum(d, x, part);
    return p->post_norm ? norm(d, p, y) : draw_gentle(d, y);
}

/* Both halves of the block, or one alone, as small specs find as much in less time. */
static int in_sequence(drawing *d, const block_plan *p, int x, const attention_shape *s, const random_axis *columns)
{
    const int halves = draw_below(d, 5);
    int h = p->post_norm ? x : norm(d, p, x);
    if (halves == 0 && !p->cached) return add_part(d, p, x, mlp(d, p, h, columns));
    x = add_part(d, p, x, attention(d, p, h, s, columns));
    if (halves < 3) return x;
    if (draw_chance(d, 8)) x = draw_chain(d, x, 2);
    if (!has_room(d) || !axis_same(last_axis(d, x), columns)) return x;
    h = p->post_norm ? x : norm(d, p, x);
    return add_part(d, p, x, mlp(d, p, h, columns));
}

void draw_block(drawing *d)
{
    block_plan p = DRAW_OF(d, shipped);
    const int changes = draw_chance(d, 65) ? 1 : 1 + draw_below(d, 4);
    for (int i = 0; i < changes; i++) change_one(d, &p);
    const attention_shape s = draw_heads(d, 160);
    const random_axis columns = draw_chance(d, 70) ? axis_dim(d, "D", s.heads.value * s.head_size.value) : axis_columns(d);
    if (p.cached && draw_chance(d, 60)) d->tokens = axis_dim(d, "S", 1); /* one new token: a decode step */
    const random_axis shape[3] = {d->batch, d->tokens, columns};
    const int x = make_value(d, value_input, shape, 3, random_spec_type);
    d->s->kind = p.cached ? "decode" : "block";
    if (!p.parallel) {
        in_sequence(d, &p, x, &s, &columns);
        return;
    }
    const int h = norm(d, &p, x), a = attention(d, &p, h, &s, &columns), m = mlp(d, &p, h, &columns);
    put_binary(d, op_add, put_binary(d, op_add, x, a), m);
}
