/* Writes the members of an attention, decode or combine phase's spec struct (docs/spec-structs.md: attention). Such a phase has one op and
 * views, as the verifier has checked. */
#include "gen/emit/attention.h"
#include "gen/emit/cache.h"
#include "ir/graph/layer_kinds.h"
#include <string.h>

/* Whether each head of each row of x begins at a multiple of 16 bytes. head: elements per head. */
static bool aligned_rows(const heads *h, const ir_value *x, long long head)
{
    const view w = view_of(h->e->a, x);
    const long long size = dtype_size(x->type);
    return head * size % 16 == 0 && w.stride * size % 16 == 0 && w.offset * size % 16 == 0;
}

static const expression *tokens_of(heads *h, const ir_value *x) { return extent_c(h->e, value_tokens(x)); }

/* The row of a token: batch * p.S + token */
static const expression *row_of_token(heads *h, const ir_value *x, const expression *token)
{
    expression_pool *p = h->e->pool;
    return c_sum(p, c_product(p, c_int(p, "batch"), tokens_of(h, x)), token);
}

/* The address of a token's row in a cache. */
static const expression *row_of_cache(heads *h, const ir_value *x, const expression *token, const expression *head)
{
    return cache_row(h->e, x, &(cache_place){c_int(h->e->pool, "batch"), head, token}, cache_row_by_row, false);
}

/* The address of column `column` of head `head` in a value with a token axis; a head has `size` columns. A row has all heads of a token, or
 * one head if the value has rank 4. */
static const expression *token_address(heads *h, const ir_value *x, long long size, const expression *token, const expression *column,
                                       bool written)
{
    expression_pool *p = h->e->pool;
    const expression *head = c_int(p, "head"), *row = row_of_token(h, x, token);
    const expression *first = c_product(p, head, c_number(p, size));
    if (x->rank != 4) return address(h->e, x, row, c_sum(p, first, column), written);
    return address(h->e, x, c_sum(p, c_product(p, row, extent_c(h->e, &x->shape[2])), head), column, written);
}

static void write_pointer(heads *h, const char *name, const ir_value *x, long long size, const char *token, const char *head)
{
    expression_pool *p = h->e->pool;
    const expression *of_token = c_int(p, token);
    const expression *from =
        value_is_cache(x) ? row_of_cache(h, x, of_token, c_int(p, head)) : token_address(h, x, size, of_token, c_number(p, 0), false);
    write_line(h->w, "DEV static const type *%s(const args &p, int batch, int %s, int %s)", name, token, head);
    write_body(h->w);
    write_spec_line(h->w, h->op->at, "return %s;", c_text(h->e->a, from));
    end_body(h->w);
}

/* Writes statements that return `count`, which the caller gave, clamped to 0..most. name: a local variable for it. */
static void write_key_count(heads *h, const char *name, const expression *count, const expression *most)
{
    write_spec_line(h->w, h->op->at, "const int %s = %s, most = %s;", name, c_text(h->e->a, count), c_text(h->e->a, most));
    write_spec_line(h->w, h->op->at, "return %s < 0 ? 0 : %s < most ? %s : most;", name, name, name);
}

static void write_first(heads *h)
{
    const ir_value *first = h->op->attributes.first;
    if (!first) return;
    write_line(h->w, "static constexpr bool firsts = true;");
    write_line(h->w, "DEV static int first(const args &p, int batch)");
    write_body(h->w);
    write_key_count(h, "first", c_element(h->e->pool, use_value(h->e, first, false), c_int(h->e->pool, "batch")),
                    tokens_of(h, h->op->inputs[1]));
    end_body(h->w);
}

static void write_keys(heads *h)
{
    emission *e = h->e;
    expression_pool *p = e->pool;
    const ir_attributes *t = &h->op->attributes;
    const expression *all = tokens_of(h, h->op->inputs[1]), *count = all, *batch = c_int(p, "batch"), *at = c_int(p, "token");
    write_line(h->w, "DEV static int keys(const args &p, int batch)");
    write_body(h->w);
    if (t->lengths) count = c_element(p, use_value(e, t->lengths, false), batch);
    if (t->at) { /* excludes cache rows after the last query: they may hold NaN, and matrix units multiply masked rows by 0 */
        const expression *length = count,
                         *written = c_sum(p, c_element(p, use_value(e, t->at, false), batch), extent_c(e, &h->op->inputs[0]->shape[1]));
        count = t->lengths ? c_choice(p, c_less(p, length, written), length, written) : written;
    }
    if (count == all)
        write_spec_line(h->w, h->op->at, "return %s;", c_text(e->a, all));
    else
        write_key_count(h, "keys", count, all);
    end_body(h->w);
    write_first(h);
    if (t->at) at = c_sum(p, c_element(p, use_value(e, t->at, false), batch), at);
    write_spec_line(h->w, h->op->at, "DEV static int position(const args &p, int batch, int token) { return %s; }", c_text(e->a, at));
}

void heads_write_sizes(heads *h)
{
    const ir_attributes *t = &h->op->attributes;
    const char *values = h->value_head == h->head ? "" : arena_printf(h->e->a, " value_dim = %lld,", h->value_head);
    write_line(h->w, "static constexpr int head_dim = %lld,%s heads = %lld, kv_heads = %lld;", h->head, values, t->heads, t->kv_heads);
}

/* If kinds of layers have different windows, S::window only says that some have one; window_at() is the window of the layer. */
static void write_window_of_kinds(heads *h)
{
    const ir_graph *p = h->e->plan->ir;
    const expression *of_kinds[most_layer_kinds];
    bool same = true;
    for (int k = 0; k < kinds_count(p); k++) {
        const long long window = kinds_attributes(p, h->op, k)->window;
        of_kinds[k] = c_number(h->e->pool, window ? window : kinds_no_window);
        same &= window == kinds_attributes(p, h->op, 0)->window;
    }
    if (!same)
        write_spec_line(h->w, h->op->at, "DEV static int window_at(const args &p) { return %s; }",
                        c_text(h->e->a, use_by_kind(h->e, of_kinds)));
}

static void write_numbers(heads *h)
{
    const ir_attributes *t = &h->op->attributes;
    text cap = {.a = h->e->a}, scale = {.a = h->e->a};
    text_f32(&cap, t->softcap);
    text_f32(&scale, t->scale);
    write_line(h->w, "static constexpr bool causal = %s;", t->causal ? "true" : "false");
    write_line(h->w, "static constexpr int window = %lld;", t->window);
    write_window_of_kinds(h);
    write_line(h->w, "static constexpr float softcap = %s, scale = %s;", cap.data, scale.data);
}

/* ---- on wgmma: tensor maps, with the axes columns of a head, heads, tokens, batches */
/* Strides of a value that is not a cache; it has `count` heads. */
static cache_strides strides_of_tokens(heads *h, const ir_value *x, long long count)
{
    const view w = view_of(h->e->a, x);
    const long long size = dtype_size(x->type);
    const extent row = view_apart(&w, size * (x->rank == 4 ? count : 1));
    const extent head = x->rank == 4 ? view_apart(&w, size) : extent_number(value_head_size(x, count) * size);
    const extent sequence = extent_multiply(h->e->a, h->op->at, *value_tokens(x), row);
    return (cache_strides){row, head, sequence, *value_tokens(x), x->shape[0]};
}

static cache_strides strides_of(heads *h, const ir_value *x, long long heads_of_x)
{
    return value_is_cache(x) ? cache_strides_of(h->e->a, h->op->at, x) : strides_of_tokens(h, x, heads_of_x);
}

static void write_map(heads *h, const char *name, const ir_value *x, long long count, long long box_heads, long long box_rows)
{
    arena *a = h->e->a;
    const view w = view_of(a, x);
    const long long size = dtype_size(x->type);
    const cache_strides strides = strides_of(h, x, count);
    tensor_box *box = arena_alloc(a, sizeof *box);
    *box = (tensor_box){.value = w.root,
                        .type = x->type,
                        .start = w.offset * size,
                        .stride = strides.row,
                        .rows = strides.rows,
                        .columns = value_head_size(x, count),
                        .box_rows = (int)box_rows,
                        .box_columns = 128 / (int)size,
                        .heads = count,
                        .box_heads = (int)box_heads,
                        .head_stride = strides.head,
                        .batches = strides.sequences,
                        .batch_stride = strides.sequence};
    write_line(h->w, "DEV static const tensor_map &%s(const args &p) { return %s; }", name, c_text(a, use_map(h->e, name, box)));
}

void heads_write_ragged(heads *h)
{
    const ir_attributes *t = &h->op->attributes;
    write_line(h->w, "static constexpr bool ragged = %s;", t->lengths || t->at ? "true" : "false");
}

static long long key_stride(heads *h, const ir_value *x)
{
    const extent row = strides_of(h, x, h->op->attributes.kv_heads).row;
    long long bytes;
    if (!extent_is_number(&row, &bytes))
        bail(h->e->a, code_unsupported, x->at, "internal: a kernel for fixed row strides reads %%%s, whose stride each call gives",
             x->name);
    return bytes / dtype_size(x->type);
}

static void write_run_length(heads *h)
{
    write_line(h->w, "static constexpr int run_length = %lld;", value_run_length(h->op->inputs[1]));
}

void heads_write_strides(heads *h)
{
    write_run_length(h);
    write_line(h->w, "static constexpr long long key_stride = %lld, value_stride = %lld;", key_stride(h, h->op->inputs[1]),
               key_stride(h, h->op->inputs[2]));
}

void heads_write_maps(heads *h, long long pack, long long block_k)
{
    const ir_op *op = h->op;
    const ir_value *k = op->inputs[1];
    const ir_attributes *t = &op->attributes;
    write_line(h->w, "DEV static int most_keys(const args &p) { return %s; }", c_text(h->e->a, tokens_of(h, k)));
    write_map(h, "q_map", op->inputs[0], t->heads, pack, 64 / pack);
    write_map(h, "k_map", k, t->kv_heads, 1, block_k);
    write_map(h, "v_map", op->inputs[2], t->kv_heads, 1, block_k);
    write_run_length(h);
    const map_place at = cache_map_place(&(cache_place){c_int(h->e->pool, "batch"), NULL, c_int(h->e->pool, "key")});
    write_line(h->w, "DEV static map_place place_of(const args &p, int batch, int key) { return {%s, %s}; }", c_text(h->e->a, at.token),
               c_text(h->e->a, at.sequence));
}

static void write_mask(heads *h)
{
    const ir_value *q = h->op->inputs[0];
    writer *w = h->w;
    write_numbers(h);
    write_line(w, "using type = %s;", dtype_c_name(q->type));
    write_line(w, "DEV static int batches(const args &p) { return %s; }", c_text(h->e->a, extent_c(h->e, &q->shape[0])));
    write_line(w, "DEV static int queries(const args &p) { return %s; }", c_text(h->e->a, extent_c(h->e, &q->shape[1])));
}

void heads_write_rules(heads *h)
{
    write_mask(h);
    write_keys(h);
}

static void write_length(heads *h, const char *name, const ir_value *v)
{
    write_line(h->w, "DEV static const int *%s(const args &p) { return %s; }", name,
               v ? c_text(h->e->a, use_value(h->e, v, false)) : "nullptr");
}

void heads_write_cache(heads *h)
{
    const ir_op *op = h->op;
    write_line(h->w, "static constexpr int most_queries = %lld;", extent_high(&op->inputs[0]->shape[1], &h->e->plan->ir->dims));
    heads_write_strides(h);
    write_mask(h);
    write_length(h, "starts", op->attributes.at);
    write_length(h, "lengths", op->attributes.lengths);
    if (op->attributes.first) {
        write_line(h->w, "static constexpr bool firsts = true;");
        write_length(h, "first_keys", op->attributes.first);
    }
    write_line(h->w, "DEV static int most_keys(const args &p) { return %s; }", c_text(h->e->a, tokens_of(h, op->inputs[1])));
}

static const char *slope_table(heads *h)
{
    enum { a_row = 6 };
    emission *e = h->e;
    const number_list *alibi = &h->op->attributes.alibi;
    const char *name =
        name_marked(e->a, arena_printf(e->a, "%s_%s", e->name, e->names->values[h->op->outputs[0]->id]), name_table);
    text row = {.a = e->a};
    write_comment(&e->tables, "ALiBi slopes: how much a head's scores fall per token between query and key.");
    write_head(&e->tables, h->op->at, "TF_TABLE float %s[%d] =", name, alibi->count);
    for (int i = 0; i < alibi->count; i++) {
        const bool last = i + 1 == alibi->count, full = i % a_row == a_row - 1;
        text_f32(&row, alibi->at[i]);
        text_printf(&row, last ? "" : full ? "," : ", ");
        if (!last && !full) continue;
        write_line(&e->tables, "%s", row.data);
        row = (text){.a = e->a};
    }
    end_head(&e->tables, "};");
    return name;
}

static bool is_shared(const extent *axis)
{
    long long n;
    return extent_is_number(axis, &n) && n == 1;
}

/* Writes bias(), a pointer to the row for a query in a bias of shape [S, L], [heads, S, L] or [B, heads, S, L]. Axes of extent 1
 * broadcast. */
static void write_bias(heads *h, const ir_value *x)
{
    expression_pool *p = h->e->pool;
    const expression *token = c_int(p, "token"), *row = token, *tokens = extent_c(h->e, &x->shape[x->rank - 2]);
    const expression *head = x->rank > 2 && !is_shared(&x->shape[x->rank - 3]) ? c_int(p, "head") : c_number(p, 0);
    if (x->rank == 4 && !is_shared(&x->shape[0])) head = c_sum(p, c_product(p, c_int(p, "batch"), extent_c(h->e, &x->shape[1])), head);
    if (x->rank > 2) row = c_sum(p, c_product(p, head, tokens), token);
    write_line(h->w, "static constexpr bool biased = true;");
    write_line(h->w, "static constexpr int bias_keys = %lld;", value_columns(x));
    write_line(h->w, "static constexpr bool bias_vectors = %s; // rows are vectors of 16 bytes",
               value_columns(x) * dtype_size(x->type) % 16 == 0 && value_alignment(h->e->a, x) == 16 ? "true" : "false");
    write_line(h->w, "DEV static const %s *bias(const args &p, int batch, int token, int head)", dtype_c_name(x->type));
    write_body(h->w);
    write_spec_line(h->w, h->op->at, "return %s;", c_text(h->e->a, address(h->e, x, row, c_number(p, 0), false)));
    end_body(h->w);
}

void heads_write_scores(heads *h)
{
    expression_pool *p = h->e->pool;
    const expression *head = c_int(p, "head");
    if (h->op->attributes.alibi.count) {
        const char *table = slope_table(h);
        write_line(h->w, "static constexpr bool alibi = true;");
        write_spec_line(h->w, h->op->at, "DEV static float slope(int head) { return %s; }",
                        c_text(h->e->a, c_element(p, c_name(p, table), head)));
    }
    if (h->op->attributes.bias) write_bias(h, h->op->attributes.bias);
    if (h->op->input_count > 3) {
        const expression *from = c_sum(p, use_value(h->e, h->op->inputs[3], false), head);
        write_line(h->w, "static constexpr bool sinks = true;");
        write_spec_line(h->w, h->op->at, "DEV static float sink(const args &p, int head) { return load<1>(%s, 1)[0]; }",
                        c_text(h->e->a, from));
    }
}

void heads_write_lists(heads *h)
{
    enum { most_in_a_chain = 8192 };
    const long long most = extent_high(value_tokens(h->op->inputs[1]), &h->e->plan->ir->dims);
    bool aligned = true;
    for (int i = 0; i < 3; i++) aligned &= aligned_rows(h, h->op->inputs[i], i < 2 ? h->head : h->value_head);
    write_line(h->w, "static constexpr bool aligned = %s, long_lists = %s;", aligned ? "true" : "false",
               most > most_in_a_chain ? "true" : "false");
}

void heads_write_pointers(heads *h)
{
    const ir_op *op = h->op;
    write_pointer(h, "q", op->inputs[0], h->head, "token", "head");
    write_pointer(h, "k", op->inputs[1], h->head, "key", "head");
    write_pointer(h, "v", op->inputs[2], h->value_head, "key", "head");
}

/* A pointer to the words of a token's row of x, at a head. head: elements of a head. */
static void write_words(heads *h, const char *name, const ir_value *x, long long head)
{
    expression_pool *p = h->e->pool;
    const bool query = strcmp(name, "q_words") == 0;
    const expression *row = query ? row_of_token(h, x, c_int(p, "token")) : c_int(p, "batch");
    const expression *from = words_address(h->e, x, row, c_product(p, c_int(p, "head"), c_number(p, head)), false);
    write_line(h->w, "DEV static const float *%s(const args &p, int batch, %sint head)", name, query ? "int token, " : "");
    write_body(h->w);
    write_spec_line(h->w, h->op->at, "return %s;", c_text(h->e->a, from));
    end_body(h->w);
}

void heads_write_words(heads *h)
{
    if (value_words(h->e->plan, h->op->inputs[0]) < 0) return;
    write_line(h->w, "static constexpr bool in_words = true;");
    write_words(h, "q_words", h->op->inputs[0], h->head);
    write_words(h, "k_words", h->op->inputs[1]->def->inputs[0], h->head);
    write_words(h, "v_words", h->op->inputs[2]->def->inputs[0], h->value_head);
    (void)use_launch_words(h->e);
}

static const expression *words_of_token(heads *h, const ir_value *x, long long size)
{
    expression_pool *p = h->e->pool;
    const expression *column = c_sum(p, c_product(p, c_int(p, "head"), c_number(p, size)), c_int(p, "col"));
    return words_address(h->e, x, row_of_token(h, x, c_int(p, "token")), column, true);
}

void heads_write_output(heads *h, bool in_eights)
{
    writer *w = h->w;
    const ir_value *out = h->op->outputs[0];
    expression_pool *p = h->e->pool;
    const expression *to = token_address(h, out, h->value_head, c_int(p, "token"), c_int(p, "col"), true), *left = c_int(p, "left"),
                     *o = c_name(p, "o");
    write_line(w, "template <int V> DEV static void write(const args &p, int batch, int token, int head, int col, int "
                  "left, vec<float, V> o)");
    write_body(w);
    const bool whole = in_eights && aligned_rows(h, out, h->value_head), in_words = value_words(h->e->plan, out) >= 0;
    if (in_words)
        write_spec_line(w, h->op->at, "%s;",
                        c_text(h->e->a, c_call(p, words_function(h->e, "store", out, "V"), words_of_token(h, out, h->value_head), o)));
    if (in_words && h->e->plan->stack.in) write_line(w, "if (!%s) return;", c_text(h->e->a, use_value(h->e, out, true)));
    write_spec_line(w, h->op->at, "%s;",
                    c_text(h->e->a, whole ? c_call(p, "store_aligned<V>", to, o) : c_call(p, "store<V>", to, left, o)));
    end_body(w);
}

/* x: f32[B, S, H, value_dim + 2]; each row has `splits` partial results side by side. */
void heads_write_partial(heads *h, const ir_value *x, bool written)
{
    expression_pool *p = h->e->pool;
    long long heads = 1;
    extent_is_number(&x->shape[2], &heads);
    const expression *to = use_value(h->e, x, written), *tokens = extent_c(h->e, &x->shape[1]);
    const expression *token = c_sum(p, c_product(p, c_int(p, "batch"), tokens), c_int(p, "token"));
    const expression *head = c_sum(p, c_product(p, token, c_number(p, heads)), c_int(p, "head"));
    const expression *part = c_sum(p, c_product(p, head, c_long(p, h->splits)), c_int(p, "split"));
    write_line(h->w, "DEV static %sfloat *partial(const args &p, int batch, int head, int token, int split)", written ? "" : "const ");
    write_body(h->w);
    write_spec_line(h->w, h->op->at, "return %s;", c_text(h->e->a, c_sum(p, to, c_product(p, part, c_number(p, h->value_head + 2)))));
    end_body(h->w);
}

heads heads_start(emission *e, writer *w)
{
    heads h = {.e = e, .w = w, .op = phase_first(e->phase, class_ATTENTION), .splits = 1};
    const bool combine = h.op->kind == op_attention_combine;
    h.head = combine ? value_columns(h.op->inputs[0]) - 2 : value_head_size(h.op->inputs[0], h.op->attributes.heads);
    h.value_head = combine ? h.head : attention_value_size(h.op);
    if (combine) h.splits = value_partials(e->plan, h.op->inputs[0]);
    if (h.op->kind == op_attention_partial) h.splits = value_partials(e->plan, h.op->outputs[0]);
    return h;
}
