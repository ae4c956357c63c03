/* See runtime/model/spec.h. The text is built as two lists, params and ops, whose columns are then aligned. */
#include "runtime/model/spec.h"
#include <stdio.h>
#include <string.h>

typedef struct line {
    const char *left, *middle, *right, *note;
} line;

typedef struct writer {
    arena *a;
    const spec_request *r;
    const layer_facts *l;
    line *params, *ops;
    int param_count, param_room, op_count, op_room;
} writer;

#define format(w, ...) arena_printf((w)->a, __VA_ARGS__)

static const char *number_text(const writer *w, double value)
{
    text t = {.a = w->a};
    text_number(&t, value);
    return t.data;
}

static bool cached(const writer *w) { return w->r->form != spec_prompt; }

/* Name of the dim for K/V heads: H if each query head has its own. */
static const char *kv(const writer *w) { return w->l->kv_heads == w->l->heads ? "H" : "KV"; }

/* ---- params and ops */
static void add_param(writer *w, const char *name, const char *shape, const char *from, const char *more)
{
    w->params = arena_more(w->a, w->params, w->param_count, &w->param_room, sizeof *w->params);
    w->params[w->param_count++] =
        (line){format(w, "%s:", name), format(w, "{shape: [%s],", shape), format(w, "from: %s%s}", from, more), NULL};
}

/* Adds a line; returns `out`. */
static const char *add_op(writer *w, const char *out, const char *op, const char *in, const char *more)
{
    w->ops = arena_more(w->a, w->ops, w->op_count, &w->op_room, sizeof *w->ops);
    w->ops[w->op_count++] = (line){format(w, "- {out: %s,", out), format(w, "op: %s,", op), format(w, "in: [%s]%s}", in, more), NULL};
    return out;
}

/* A comment line ahead of the next op. */
static void add_note(writer *w, const char *note)
{
    w->ops = arena_more(w->a, w->ops, w->op_count, &w->op_room, sizeof *w->ops);
    w->ops[w->op_count++] = (line){.note = note};
}

/* ---- norms */
/* A layernorm without a weight. */
static const char *normalise(writer *w, const char *out, const char *in)
{
    return add_op(w, out, "layernorm", in, format(w, ", eps: %s", number_text(w, w->l->eps)));
}

static const char *layer_norm(writer *w, const char *out, const char *in, const char *param, const char *from, const char *columns)
{
    const family *f = w->l->family;
    const char *eps = format(w, ", eps: %s", number_text(w, w->l->eps)), *weight = format(w, "%s_w", param);
    if (f->norm_no_weight) return normalise(w, out, in);
    add_param(w, weight, columns, format(w, "%s.%s", from, w->r->gamma ? "gamma" : "weight"), "");
    if (!f->norm_no_bias)
        add_param(w, format(w, "%s_b", param), columns, format(w, "%s.%s", from, w->r->gamma ? "beta" : "bias"), "");
    if (f->norm_unit_offset) eps = format(w, "%s, unit_offset: true", eps);
    return add_op(w, out, "layernorm", f->norm_no_bias ? format(w, "%s, %s", in, weight) : format(w, "%s, %s, %s_b", in, weight, param),
                  eps);
}

/* A norm of `in`. columns: dim of its weight; from: the weight's tensor, NULL: no norm. */
static const char *norm(writer *w, const char *out, const char *in, const char *param, const char *from, const char *columns)
{
    if (!from) return in;
    if (w->l->family->norm == norm_layer) return layer_norm(w, out, in, param, from, columns);
    add_param(w, param, columns, format(w, "%s.weight", from), "");
    return add_op(w, out, "rmsnorm", format(w, "%s, %s", in, param),
                  format(w, ", eps: %s%s", number_text(w, w->l->eps), w->l->family->norm_unit_offset ? ", unit_offset: true" : ""));
}

/* ---- products */
/* Adds a param that is a tensor, or, if rows is not NULL, some rows of it. */
static void add_weight(writer *w, const char *name, const char *shape, const char *tensor, const char *rows)
{
    const char *from = rows ? format(w, "{tensor: %s.weight, %s}", tensor, rows) : format(w, "%s.weight", tensor);
    add_param(w, name, shape, from, w->l->family->in_out ? ", transpose: true" : "");
}

static void add_bias(writer *w, const char *name, const char *size, const char *tensor, const char *rows)
{
    add_param(w, name, size, rows ? format(w, "{tensor: %s.bias, %s}", tensor, rows) : format(w, "%s.bias", tensor), "");
}

typedef struct product {
    const char *out, *in, *weight, *bias; /* bias NULL: none */
    const char *rows, *columns;           /* dims of the weight */
    const char *tensor, *part;            /* part: rows of the tensor, NULL: all */
} product;

static const char *linear(writer *w, product p)
{
    add_weight(w, p.weight, format(w, "%s, %s", p.rows, p.columns), p.tensor, p.part);
    if (p.bias) add_bias(w, p.bias, p.rows, p.tensor, p.part);
    return add_op(w, p.out, "linear", p.bias ? format(w, "%s, %s, %s", p.in, p.weight, p.bias) : format(w, "%s, %s", p.in, p.weight), "");
}

/* The rows of the packed tensor that hold q (which = 0), k (1) or v (2); NULL: q, k and v have a tensor each. */
static const char *packed_rows(const writer *w, int which)
{
    const char *k = kv(w), *both = strcmp(k, "H") == 0 ? "2*H" : "H+KV", *all = strcmp(k, "H") == 0 ? "3*H" : "H+2*KV";
    const bool one = w->l->heads == w->l->kv_heads;
    switch (w->l->packed) {
    case packing_none: break;
    case packing_stacked:
        if (which == 0) return "rows: [0, H*hd]";
        return one ? format(w, which == 1 ? "rows: [H*hd, %s*hd]" : "rows: [2*H*hd, %s*hd]", which == 1 ? both : all)
                   : format(w, which == 1 ? "rows: [H*hd, (%s)*hd]" : "rows: [(H+KV)*hd, (%s)*hd]", which == 1 ? both : all);
    case packing_by_head:
    case packing_by_key:
        if (one)
            return format(w, "rows: [%s, %s], every: 3*hd",
                          which == 0   ? "0"
                          : which == 1 ? "hd"
                                       : "2*hd",
                          which == 0   ? "hd"
                          : which == 1 ? "2*hd"
                                       : "3*hd");
        return format(w, "rows: [%s, %s], every: (H/KV+2)*hd", which == 0 ? "0" : which == 1 ? "H/KV*hd" : "(H/KV+1)*hd",
                      which == 0 ? "H/KV*hd" : which == 1 ? "(H/KV+1)*hd" : "(H/KV+2)*hd");
    }
    return NULL;
}

/* ---- attention */
static const char *projection(writer *w, int which, const char *in)
{
    static const char *const outs[] = {"q", "k", "v"}, *const weights[] = {"wq", "wk", "wv"}, *const biases[] = {"bq", "bk", "bv"};
    const family *f = w->l->family;
    const char *const own[] = {f->q, f->k, f->v};
    const bool packed = w->l->packed != packing_none, biased = w->l->qkv_bias && !(which == 1 && f->no_k_bias);
    return linear(w, (product){.out = outs[which], .in = in, .weight = weights[which], .bias = biased ? biases[which] : NULL,
                               .rows = format(w, "%s*hd", which ? kv(w) : "H"), .columns = "D",
                               .tensor = packed ? f->q : own[which], .part = packed_rows(w, which)});
}

static const char *clipped(writer *w, const char *in)
{
    if (!w->l->clip) return in;
    const char *c = number_text(w, w->l->clip);
    return add_op(w, format(w, "%s_clip", in), "clamp", format(w, "%s, -%s, %s", in, c, c), "");
}

/* The concatenation of the parts; of more than 16 in two rounds. */
static const char *join(writer *w, const char *out, const char **parts, long long count)
{
    enum { most = 16 }; /* operands of a concat */
    text in = {.a = w->a};
    if (count == 1) return parts[0];
    if (count > most) {
        long long joined = 0;
        for (long long i = 0; i < count; i += most)
            parts[joined++] = join(w, format(w, "%s_from_%lld", out, i), parts + i, count - i < most ? count - i : most);
        return join(w, out, parts, joined);
    }
    for (long long i = 0; i < count; i++) text_printf(&in, "%s%s", i ? ", " : "", parts[i]);
    return add_op(w, out, "concat", in.data, "");
}

/* The weights of all heads, [heads, hd], joined from one tensor [hd] per head. */
static const char *joined_weights(writer *w, const char *name, const char *heads, const char *from)
{
    const long long count = strcmp(heads, "H") == 0 ? w->l->heads : w->l->kv_heads;
    const char **parts = arena_alloc(w->a, (size_t)count * sizeof *parts);
    for (long long i = 0; i < count; i++) {
        parts[i] = format(w, "%s_%lld", name, i);
        add_param(w, parts[i], "hd", format(w, "%s.%lld.weight", from, i), "");
    }
    return add_op(w, format(w, "%s_w", name), "reshape", join(w, name, parts, count), format(w, ", shape: [%s, hd]", heads));
}

/* Norm of q or k before rope. */
static const char *head_norm(writer *w, const char *in, const char *heads, const char *from)
{
    const char *param = format(w, "%s_norm", in), *out = format(w, "%sn", in);
    if (w->l->q_norm == qk_norm_none) return in;
    if (w->l->q_norm == qk_norm_whole) return norm(w, out, in, param, from, format(w, "%s*hd", heads));
    const char *by_head = add_op(w, format(w, "%sh", in), "reshape", in, format(w, ", shape: [B, S, %s, hd]", heads));
    if (w->l->q_norm == qk_norm_shared) return norm(w, out, by_head, param, from, "hd");
    const char *plain = normalise(w, format(w, "%s_hat", in), by_head);
    if (w->l->q_norm == qk_norm_tensor_per_head) param = joined_weights(w, param, heads, from);
    else add_param(w, param, format(w, "%s, hd", heads), format(w, "%s.weight", from), "");
    return add_op(w, out, "mul", format(w, "%s, %s", plain, param), "");
}

static const char *scaling_text(const writer *w)
{
    const layer_facts *l = w->l;
    const char *factor = l->rope.attention_factor ? format(w, ", attention_factor: %s", number_text(w, l->rope.attention_factor)) : "";
    return l->rope.scaling ? format(w, ", scaling: %s%s", l->rope.scaling, factor) : factor;
}

static const char *rope(writer *w, const char *in, const char *out, const char *heads)
{
    const layer_facts *l = w->l;
    if (!l->rope.is) return in;
    const char *rotary = l->rope.rotary == l->head_size ? ""
                         : l->head_size % l->rope.rotary == 0 ? format(w, ", rotary: hd/%lld", l->head_size / l->rope.rotary)
                                                              : format(w, ", rotary: %lld", l->rope.rotary);
    return add_op(w, out, "rope", in,
                  format(w, ", heads: %s, pairing: %s, theta: %s%s%s%s", heads, l->family->interleaved ? "interleaved" : "half",
                         number_text(w, l->rope.theta), rotary, scaling_text(w), cached(w) ? ", at: pos" : ""));
}

static const char *attention_more(const writer *w)
{
    const layer_facts *l = w->l;
    text t = {.a = w->a};
    text_printf(&t, ", heads: H");
    if (l->heads != l->kv_heads) text_printf(&t, ", kv_heads: KV");
    if (!l->family->encoder || l->family->causal_encoder) text_printf(&t, ", causal: true");
    if (l->window) text_printf(&t, ", window: %lld", l->window);
    if (l->softcap) text_printf(&t, ", softcap: %s", number_text(w, l->softcap));
    if (l->scale) text_printf(&t, ", scale: %s", number_text(w, l->scale));
    for (long long i = 0; l->alibi && i < l->heads; i++)
        text_printf(&t, "%s%s%s", i ? ", " : ", alibi: [", number_text(w, l->alibi[i]), i + 1 < l->heads ? "" : "]");
    if (cached(w)) text_printf(&t, ", at: pos");
    if (w->r->padding == padding_right) text_printf(&t, ", lengths: n");
    if (w->r->padding == padding_left) text_printf(&t, ", first: first");
    return t.data;
}

/* q, k and v of `in`, attention and the output projection. */
static const char *attention(writer *w, const char *in)
{
    const family *f = w->l->family;
    const char *q = clipped(w, projection(w, 0, in)), *k = clipped(w, projection(w, 1, in)), *v = clipped(w, projection(w, 2, in));
    q = rope(w, head_norm(w, q, "H", f->q_norm), "qr", "H"), k = rope(w, head_norm(w, k, kv(w), f->k_norm), "kr", kv(w));
    if (cached(w)) {
        k = add_op(w, "kc", "kv_append", k, ", state: k_cache, at: pos");
        v = add_op(w, "vc", "kv_append", v, ", state: v_cache, at: pos");
    }
    const char *a = add_op(w, "a", "attention", format(w, "%s, %s, %s", q, k, v), attention_more(w));
    if (w->l->q_norm != qk_norm_none && w->l->q_norm != qk_norm_whole) a = add_op(w, "a2", "reshape", a, ", shape: [B, S, H*hd]");
    return linear(w, (product){.out = "o", .in = a, .weight = "wo", .bias = w->l->o_bias ? "bo" : NULL, .rows = "D", .columns = "H*hd",
                               .tensor = f->o});
}

/* ---- the feed-forward half */
static const char *activate(writer *w, const char *in)
{
    const activation *t = w->l->activation;
    const char *act = add_op(w, "act", t->op, t->number ? format(w, "%s, %s", in, t->number) : in, "");
    return t->then ? add_op(w, "act2", t->then, act, "") : act;
}

static const char *feed_forward(writer *w, const char *in)
{
    const layer_facts *l = w->l;
    const bool biased = l->mlp_bias;
    const char *product_in;
    if (l->gated) {
        const char *gate = linear(w, (product){.out = "gate", .in = in, .weight = "w_gate", .bias = biased ? "b_gate" : NULL, .rows = "F",
                                               .columns = "D", .tensor = l->gate, .part = l->up ? NULL : "rows: [0, F]"});
        const char *up = linear(w, (product){.out = "up", .in = in, .weight = "w_up", .bias = biased ? "b_up" : NULL, .rows = "F",
                                             .columns = "D", .tensor = l->up ? l->up : l->gate, .part = l->up ? NULL : "rows: [F, 2*F]"});
        product_in = add_op(w, "prod", "mul", format(w, "%s, %s", activate(w, gate), up), "");
    } else {
        product_in = activate(w, linear(w, (product){.out = "up", .in = in, .weight = "w_up", .bias = biased ? "b_up" : NULL, .rows = "F",
                                                     .columns = "D", .tensor = l->up}));
    }
    return linear(w, (product){.out = "down", .in = product_in, .weight = "w_down", .bias = biased ? "b_down" : NULL, .rows = "D",
                               .columns = "F", .tensor = l->down});
}

/* ---- the layer */
/* The result of a half (attention or feed-forward) before it is added to the residual: normalised and scaled where the model does so. */
static const char *half_out(writer *w, const char *made, const char *stem, const char *norm_from, const char *scale_from)
{
    made = norm(w, format(w, "%s_n", stem), made, format(w, "%s_out_norm", stem), norm_from, "D");
    if (scale_from) {
        add_param(w, format(w, "%s_scale", stem), "D", scale_from, "");
        made = add_op(w, format(w, "%s_s", stem), "mul", format(w, "%s, %s_scale", made, stem), "");
    }
    if (w->l->residual != 1)
        made = add_op(w, format(w, "%s_m", stem), "mul", format(w, "%s, %s", made, number_text(w, w->l->residual)), "");
    return made;
}

static void write_ops(writer *w)
{
    const layer_facts *l = w->l;
    const family *f = l->family;
    const bool behind = l->wiring == wiring_behind;
    const char *h = behind ? "x" : norm(w, "h", "x", "attn_norm", l->first_norm, "D");
    const char *o = half_out(w, attention(w, h), "attn", f->attention_out_norm, f->attention_scale);
    if (l->wiring == wiring_parallel) {
        add_note(w, "the feed-forward half, beside attention");
        const char *h2 = l->second_norm ? norm(w, "h2", "x", "mlp_norm", l->second_norm, "D") : h;
        const char *m = half_out(w, feed_forward(w, h2), "mlp", f->mlp_out_norm, f->mlp_scale);
        add_op(w, "x1", "add", format(w, "x, %s", o), "");
        add_op(w, "x2", "add", format(w, "x1, %s", m), "");
        return;
    }
    const char *x1 = add_op(w, behind ? "s1" : "x1", "add", format(w, "x, %s", o), "");
    if (behind) x1 = norm(w, "x1", "s1", "attn_norm", l->first_norm, "D");
    add_note(w, "the feed-forward half");
    const char *h2 = behind ? x1 : norm(w, "h2", x1, "mlp_norm", l->second_norm, "D");
    const char *m = half_out(w, feed_forward(w, h2), "mlp", f->mlp_out_norm, f->mlp_scale);
    add_op(w, behind ? "s2" : "x2", "add", format(w, "%s, %s", x1, m), "");
    if (behind) norm(w, "x2", "s2", "mlp_norm", l->second_norm, "D");
}

/* ---- the text */
static void put_lines(text *t, const line *lines, int count)
{
    int left = 0, middle = 0;
    enum { most_left = 22, most_middle = 26 };
    for (int i = 0; i < count; i++) {
        const int n = lines[i].note ? 0 : (int)strlen(lines[i].left), m = lines[i].note ? 0 : (int)strlen(lines[i].middle);
        if (n > left && n <= most_left) left = n;
        if (m > middle && m <= most_middle) middle = m;
    }
    for (int i = 0; i < count; i++) {
        if (lines[i].note) text_printf(t, "  # %s\n", lines[i].note);
        else text_printf(t, "  %-*s %-*s %s\n", left, lines[i].left, middle, lines[i].middle, lines[i].right);
    }
}

static long long least(long long x, long long y) { return x < y ? x : y; }

/* Largest batch, at most 64, for which no value exceeds 2^40 elements with all dims at their maximum. */
static long long most_batch(const layer_facts *l, long long tokens)
{
    const long long heads = l->heads * l->head_size, widest = l->inner > heads ? l->inner : heads;
    long long batch = 64;
    while (batch > 1 && (double)batch * (double)tokens * (double)(widest > l->hidden ? widest : l->hidden) > 0x1p40) batch /= 2;
    return batch;
}

/* The comment behind dim S in the spec: what its range means. */
static const char *meaning_of_s(const writer *w)
{
    const layer_facts *l = w->l;
    if (w->r->form == spec_prefill) return "a prompt, or its next part";
    return l->least_tokens > 1 || (l->rope.note && l->rope.scaling) ? "the lengths that this rope is for" : "the model's positions";
}

/* Most tokens of a prompt per call. */
static long long most_part(const writer *w) { return least(w->l->positions, w->r->part ? w->r->part : 1024); }

static void put_dims(text *t, const writer *w)
{
    const layer_facts *l = w->l;
    const bool decode = w->r->form == spec_decode, part = w->r->form == spec_prefill;
    const long long few = l->least_tokens, tokens = part ? least(most_part(w), 128) : least(l->positions, few + 127),
                    room = least(l->positions, few + 1023);
    text_printf(t, "dims: {B: 1, S: %lld", decode ? 1 : tokens);
    if (cached(w)) text_printf(t, ", L: %lld", part && most_part(w) > room ? most_part(w) : room);
    text_printf(t, ", D: %lld, H: %lld", l->hidden, l->heads);
    if (l->kv_heads != l->heads) text_printf(t, ", KV: %lld", l->kv_heads);
    if (l->hidden == l->heads * l->head_size) text_printf(t, ", hd: D/H");
    else text_printf(t, ", hd: %lld", l->head_size);
    text_printf(t, ", F: %lld}\n", l->inner);
    text_printf(t, "# B batch, S tokens, %sD model, %s, hd head, F feed-forward\n", cached(w) ? "L rows of the cache, " : "",
                l->kv_heads != l->heads ? "H query heads, KV key/value heads" : "H heads");
    const long long batch = most_batch(l, cached(w) ? room : l->positions);
    if (decode) text_printf(t, "dynamic: {B: [1, %lld]}\n", batch);
    else text_printf(t, "dynamic: {B: [1, %lld], S: [%lld, %lld]}      # S: %s\n", batch, part ? 1 : few,
                     part ? most_part(w) : l->positions, meaning_of_s(w));
}

static void put_presets(text *t, const writer *w)
{
    const layer_facts *l = w->l;
    const bool decode = w->r->form == spec_decode;
    const long long few = l->least_tokens, room = least(l->positions, few + 1023);
    const long long batch = most_batch(l, cached(w) ? room : l->positions);
    if (w->r->form == spec_prefill) return;
    text_printf(t, "presets:\n");
    if (decode)
        text_printf(t, "  chat:  {B: 1, L: %lld}\n  batch: {B: %lld, L: %lld}\n", least(l->positions, few + 4095), least(batch, 32),
                    least(l->positions, few + 2047));
    else
        text_printf(t, "  prompt: {B: 1, S: %lld}\n  batch:  {B: %lld, S: %lld}\n", least(l->positions, few + 2047), least(batch, 8),
                    least(l->positions, few + 511));
}

/* The family's model_type, which is a valid block name, and a suffix for the form. */
static const char *block_name(const writer *w)
{
    static const char *const ends[] = {"", "-decode", "-prefill"};
    return format(w, "%s%s", w->l->family->model_type, ends[w->r->form]);
}

static void put_head(text *t, const writer *w)
{
    static const char *const when[] = {"", " while it generates, a token a sequence", " while it reads a prompt into its caches"};
    const family *f = w->l->family;
    text_printf(t, "# One layer of %s%s: %s. Written by `tfgen import` from a config.json.\n", f->model_type, when[w->r->form],
                w->r->which);
    text_printf(t, "# Embeddings, %s are outside of it.\n", f->encoder ? "poolers and heads" : "the last norm and the head");
    const char *seen = f->causal_encoder ? "itself and the tokens before it"
                       : w->l->window    ? format(w, "the tokens less than %lld away", w->l->window)
                                         : "every token";
    if (f->encoder)
        text_printf(t, "# A token attends to %s%s.\n", seen,
                    w->r->padding ? " of its text" : "; for padded batches, import with --lengths or --left-padded");
    if (w->l->rope.note) text_printf(t, "# Rope: %s.\n", w->l->rope.note);
    text_printf(t, "block: %s\ndtype: %s\n", block_name(w), w->r->config->dtype);
}

/* An input [B] of whole numbers, and what they are. */
static void put_integers(text *t, const char *name, const char *range, const char *what)
{
    text_printf(t, "  %s: {shape: [B], dtype: i32, range: [%s]}     # %s\n", name, range, what);
}

static void put_inputs(text *t, const writer *w)
{
    const bool prefill = w->r->form == spec_prefill;
    text_printf(t, !cached(w) && !w->r->padding ? "inputs: {x: [B, S, D]}\n" : "inputs:\n  x: [B, S, D]\n");
    if (w->r->padding == padding_right) put_integers(t, "n", "1, S", "tokens of each text; the rest is padding");
    if (cached(w))
        put_integers(t, "pos", format(w, "%lld, L-S", prefill ? 0 : w->l->least_tokens - 1),
                     "rows of each sequence's cache that are filled");
    if (w->r->padding == padding_left)
        put_integers(t, "first", cached(w) ? "0, L-1" : "0, S-1",
                     "tokens of padding ahead of each text; positions count from the padding");
}

const char *spec_write(arena *a, const spec_request *r)
{
    writer w = {.a = a, .r = r, .l = r->layer};
    text t = {.a = a};
    write_ops(&w);
    put_head(&t, &w);
    put_dims(&t, &w);
    put_presets(&t, &w);
    put_inputs(&t, &w);
    text_printf(&t, "prefix: %s      # ahead of the names below, in the model's files; {layer} is --layer\nparams:\n", r->prefix);
    put_lines(&t, w.params, w.param_count);
    if (cached(&w)) text_printf(&t, "state:\n  k_cache: [B, %s, L, hd]%s\n  v_cache: [B, %s, L, hd]\n", kv(&w),
                               w.l->rope.is ? "      # keys after rope" : "", kv(&w));
    text_printf(&t, "ops:\n");
    put_lines(&t, w.ops, w.op_count);
    text_printf(&t, "outputs: {y: x2}\n");
    return t.data;
}

/* ---- parts before and after the layers */
static void write_head(writer *w, const stem_request *r, const char *in)
{
    add_param(w, "w_head", "V, D", r->head, "");
    if (r->head_bias) add_param(w, "b_head", "V", r->head_bias, "");
    const char *out = add_op(w, "l", "linear", format(w, r->head_bias ? "%s, w_head, b_head" : "%s, w_head", in), "");
    if (r->logit_multiplier != 1)
        out = add_op(w, "scaled", "mul", format(w, "%s, %s", out, number_text(w, r->logit_multiplier)), "");
    if (r->logit_cap) {
        const char *cap = number_text(w, r->logit_cap);
        out = add_op(w, "share", "div", format(w, "%s, %s", out, cap), "");
        out = add_op(w, "bent", "tanh", out, "");
        out = add_op(w, "capped", "mul", format(w, "%s, %s", out, cap), "");
    }
    add_op(w, "logits", "cast", out, ", to: f32");
    if (!r->block) return;
    add_op(w, "blocks", "reshape", "logits", format(w, ", shape: [B, %lld, %lld]", r->vocabulary / r->block, r->block));
    add_op(w, "greatest", "row_max", "blocks", "");
    add_op(w, "peaks", "cast", "greatest", ", to: f32");
}

const char *spec_write_stem(arena *a, const stem_request *r)
{
    const spec_request as = {.config = r->config, .layer = r->layer, .gamma = r->gamma};
    const char *family = r->layer->family->model_type;
    writer w = {.a = a, .r = &as, .l = r->layer};
    text t = {.a = a};
    const char *in = norm(&w, r->head ? "h" : "y", "x", "norm", r->norm, "D");
    if (r->head) write_head(&w, r, in);
    text_printf(&t, "# %s of %s. Written by `tfgen import` from a config.json.\n",
                !r->head  ? "The norm of the embeddings"
                : r->norm ? "The last norm and the head"
                          : "The head",
                family);
    text_printf(&t, "block: %s-%s\ndtype: %s\ndims: {B: 1, D: %lld", family, r->head ? "head" : "embedding", r->config->dtype,
                r->layer->hidden);
    if (r->head) text_printf(&t, ", V: %lld", r->vocabulary);
    text_printf(&t, "}\n# B tokens, D model%s\ndynamic: {B: [1, %d]}\n", r->head ? ", V vocabulary" : "", r->head ? 64 : 4096);
    text_printf(&t, "inputs: {x: [B, D]}\n");
    if (w.param_count) text_printf(&t, "params:\n");
    put_lines(&t, w.params, w.param_count);
    text_printf(&t, "ops:\n");
    put_lines(&t, w.ops, w.op_count);
    text_printf(&t, "outputs: %s\n", !r->head ? "{y: y}" : r->block ? "{logits: logits, peaks: peaks}" : "{logits: logits}");
    return t.data;
}
