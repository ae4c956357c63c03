/* Writes C++ statements that compute an IR value at a place (row and columns), one per op, and returns the name of the result. An operand
 * that several ops read is computed once. Refuses (code_unsupported) what cannot be computed inside the phase, such as a reduction that the
 * phase itself reads. */
#include "gen/emit/emit.h"
#include "ir/graph/layer_kinds.h"
#include <string.h>

/* The position of the op that makes v; without one, v's own. IR text has only positions of ops, so a plan that was read back from text
 * emits the same bytes. */
position value_in_spec(const ir_value *v) { return v->def ? v->def->at : v->at; }

/* ---- row scalars */
static const expression *load_partial_sums(scope *s, const ir_value *v, const expression *row, int count)
{
    enum { long_sum = 256 }; /* longer sums are blocked (templates/base/sums.h) */
    emission *e = s->e;
    const char *name = new_local(s, v, NULL);
    const expression *sums = use_value(e, v, false), *first = scaled(e, row, count);
    if (count > long_sum) {
        write_spec_line(s->w, value_in_spec(v), "const float %s = add_up<%d>(%s);", name, count, c_text(e->a, c_sum(e->pool, sums, first)));
        return c_name(e->pool, name);
    }
    const expression *one = c_element(e->pool, sums, c_sum(e->pool, first, c_int(e->pool, "i")));
    write_spec_line(s->w, value_in_spec(v), "float %s = 0;", name);
    write_spec_line(s->w, value_in_spec(v), "for (int i = 0; i < %d; i++) %s += %s;", count, name, c_text(e->a, one));
    return c_name(e->pool, name);
}

/* Declares a local with the value of `code`. */
static const expression *write_local(scope *s, position at, const char *type, const char *name, const expression *code)
{
    write_spec_line(s->w, at, "const %s %s = %s;", type, name, c_text(s->e->a, code));
    return c_name(s->e->pool, name);
}

static const expression *load_row_scalar(scope *s, const ir_value *v, const expression *row)
{
    emission *e = s->e;
    const int partials = value_partials(e->plan, v);
    if (partials > 1) return load_partial_sums(s, v, row, partials);
    const char *name = new_local(s, v, NULL);
    const expression *from = address(e, v, row, c_number(e->pool, 0), false);
    return write_local(s, value_in_spec(v), "float", name, c_call(e->pool, "load_one", from));
}

/* The value of an operand v of the op that makes `of`, a row scalar. The operand must be a row scalar as well. */
static const expression *row_scalar_operand(scope *s, const ir_value *v, const ir_value *of, const expression *row)
{
    emission *e = s->e;
    const expression *own = row_of(e, v, of, row);
    if (value_is_row_scalar(e, v)) return evaluate_row_scalar(s, v, own);
    bail(e->a, code_unsupported, v->at, "%%%s: a column taken out of wider rows cannot be a row scalar of the same phase", v->name);
}

static const expression *evaluate_row_scalar_op(scope *s, const ir_value *v, const expression *row)
{
    const ir_op *op = v->def;
    const expression *operands[16];
    for (int i = 0; i < op->input_count; i++) operands[i] = row_scalar_operand(s, op->inputs[i], v, row);
    const expression *code = operands[0];
    if (op->kind == op_row_sumsq)
        code = c_call(s->e->pool, "op_square", operands[0]);
    else if (op_is_elementwise(op))
        code = operation(s, op, operands);
    return write_local(s, op->at, "float", new_local(s, v, NULL), rounded_as(s, v, code));
}

const expression *evaluate_row_scalar(scope *s, const ir_value *v, const expression *row)
{
    if (v->kind == value_constant) return constant_c(s, v);
    v = value_behind(s->e, v);
    const expression *name = find_known(s, scalar_of(v, row));
    if (name) return name;
    if (s->collect) return keep_scalar(s->collect, v, row);
    if (wide_reduction(s->e, v))
        bail(s->e->a, code_unsupported, v->at, "%%%s: a reduction over a row cannot be read by the phase that computes it", v->name);
    name = value_made_here(s->e, v) ? evaluate_row_scalar_op(s, v, row) : load_row_scalar(s, v, row);
    scope_know(s, scalar_of(v, row), name);
    return name;
}

/* ---- positions of tokens. In [B, S, H*hd] the axis before the last counts tokens, and the axes before it count sequences. A value of
 * rank 4 is [B, S, H, hd], whose tokens are axis 1. */
static const ir_value *token_value(const ir_op *op) { return op->inputs[0]; }

static int token_axis(const ir_value *x) { return x->rank == 4 ? 1 : x->rank - 2; }

static bool one_token(const ir_value *x)
{
    long long n;
    return x->rank < 2 || (extent_is_number(&x->shape[token_axis(x)], &n) && n == 1);
}

/* The token's index in the whole batch. */
static const expression *flat_token(scope *s, const ir_value *x, const expression *row)
{
    emission *e = s->e;
    long long heads;
    if (x->rank != 4 || (extent_is_number(&x->shape[2], &heads) && heads == 1)) return row;
    return c_quotient(e->pool, row, extent_c(e, &x->shape[2]));
}

static const expression *token_index(scope *s, const ir_value *x, const expression *row)
{
    emission *e = s->e;
    if (one_token(x)) return c_number(e->pool, 0);
    if (x->rank < 3) return row;
    const expression *token = flat_token(s, x, row);
    return c_remainder(e->pool, token, extent_c(e, &x->shape[token_axis(x)]));
}

const expression *evaluate_sequence(scope *s, const ir_op *op, const expression *row)
{
    emission *e = s->e;
    const ir_value *x = token_value(op);
    const expression *name = find_known(s, sequence_of(op, row));
    if (name) return name;
    if (x->rank < 3) return c_number(e->pool, 0);
    const expression *token = flat_token(s, x, row);
    return one_token(x) ? token : c_quotient(e->pool, token, extent_c(e, &x->shape[token_axis(x)]));
}

const expression *evaluate_position(scope *s, const ir_op *op, const expression *row)
{
    emission *e = s->e;
    const ir_value *x = token_value(op), *at = op->attributes.at;
    const expression *name = find_known(s, position_of(op, row));
    if (name) return name;
    const expression *token = token_index(s, x, row);
    if (!at) return token;
    return c_sum(e->pool, c_element(e->pool, use_value(e, at, false), evaluate_sequence(s, op, row)), token);
}

/* ---- rows */
/* How many columns of `at` exist, 0 if its guard is false; NULL: all. */
static const expression *left_at(scope *s, const place *at)
{
    expression_pool *p = s->e->pool;
    return at->guard ? c_choice(p, at->guard, at->left ? at->left : c_int(p, s->lanes), c_number(p, 0)) : at->left;
}

/* True if the columns can be loaded by one aligned access: rows and first column begin at multiples of s->whole. */
static bool aligned(scope *s, const ir_value *v, const place *at)
{
    const view w = view_of(s->e->a, v);
    return s->whole > 0 && (w.offset - at->shift) % s->whole == 0 && w.stride % s->whole == 0;
}

static const expression *load_row_vector(scope *s, const ir_value *v, const place *at)
{
    emission *e = s->e;
    const expression *left = left_at(s, at), *words = NULL;
    if (value_words(e->plan, v) >= 0) {
        if (left || !aligned(s, v, at)) bail(e->a, code_unsupported, v->at, "internal: %%%s: words that are not read by fours", v->name);
        words = c_call(e->pool, words_function(e, "load", v, s->lanes), words_address(e, v, at->row, place_column(s, at), false));
        if (v != e->plan->stack.in) return words;
    }
    const expression *from = address(e, v, at->row, place_column(s, at), false);
    if (words)
        return c_choice(e->pool, use_words(e, v, false), words, c_call(e->pool, arena_printf(e->a, "load_aligned<%s>", s->lanes), from));
    if (!left && aligned(s, v, at)) return c_call(e->pool, arena_printf(e->a, "load_aligned<%s>", s->lanes), from);
    return c_call(e->pool, arena_printf(e->a, "load<%s>", s->lanes), from, left ? left : c_int(e->pool, s->lanes));
}

static const expression *element_op(scope *s, const ir_op *op, const place *at)
{
    const expression *operands[16];
    const ir_value *out = op->outputs[0];
    for (int i = 0; i < op->input_count; i++) {
        const ir_value *x = op->inputs[i];
        const place own = operand_place(s, x, out, at);
        operands[i] = value_is_row_scalar(s->e, x) ? evaluate_row_scalar(s, x, own.row) : evaluate(s, x, &own);
    }
    return operation(s, op, operands);
}

static const expression *range_guard(scope *s, const place *at, long long width)
{
    expression_pool *p = s->e->pool;
    const expression *column = place_column(s, at);
    return c_both(p, c_at_least(p, column, c_number(p, 0)), c_less(p, column, c_number(p, width)));
}

/* The same float in all lanes. */
static const expression *splat(scope *s, const expression *x)
{
    return c_call(s->e->pool, arena_printf(s->e->a, "splat<%s>", s->lanes), x);
}

static const expression *concat_op(scope *s, const ir_op *op, const place *at)
{
    long long start = 0;
    const expression *pieces[16] = {NULL}, *guards[16];
    for (int i = 0; i < op->input_count; i++) {
        const ir_value *x = op->inputs[i];
        place own = operand_place(s, x, op->outputs[0], at);
        const long long width = value_columns(x);
        own.shift += start;
        own.tag = arena_printf(s->e->a, "%s_at%lld", at->tag ? at->tag : "", start);
        guards[i] = range_guard(s, &own, width);
        own.guard = c_both(s->e->pool, at->guard, guards[i]);
        pieces[i] = value_is_row_scalar(s->e, x) ? splat(s, evaluate_row_scalar(s, x, own.row)) : evaluate(s, x, &own);
        start += width;
    }
    const expression *code = pieces[op->input_count - 1];
    for (int i = op->input_count - 2; i >= 0; i--) code = c_choice(s->e->pool, guards[i], pieces[i], code);
    return code;
}

static const expression *slice_op(scope *s, const ir_op *op, const place *at)
{
    const ir_value *x = op->inputs[0];
    place own = *at;
    own.shift -= op->attributes.offset;
    if (own.shift == 0 && value_columns(x) == s->e->space.columns) { /* unshifted slices share one load */
        own.guard = NULL;
        own.left = at->left ? c_int(s->e->pool, "left") : NULL;
        own.tag = NULL;
    }
    return value_is_row_scalar(s->e, x) ? splat(s, evaluate_row_scalar(s, x, at->row)) : evaluate(s, x, &own);
}

/* The place of the same element after a reshape: `at` is in rows of `from` columns, the result in rows of `to` columns. */
static place reshaped(scope *s, const place *at, long long from, long long to)
{
    emission *e = s->e;
    const expression *first = scaled(e, at->row, from), *width = c_number(e->pool, to);
    const expression *flat = c_sum(e->pool, first, place_column(s, at));
    return (place){.row = c_call_of(e->pool, "(int)", type_int, 1, (const expression *[]){c_quotient(e->pool, flat, width)}),
                   .base = c_call_of(e->pool, "(int)", type_int, 1, (const expression *[]){c_remainder(e->pool, flat, width)}),
                   .guard = at->guard,
                   .left = at->left,
                   .tag = "_flat"};
}

static const expression *reshape_op(scope *s, const ir_op *op, const place *at)
{
    const ir_value *x = op->inputs[0];
    const long long from = value_columns(op->outputs[0]), to = value_columns(x);
    const place own = from == to ? *at : reshaped(s, at, from, to);
    if (from == to && value_is_row_scalar(s->e, x)) return splat(s, evaluate_row_scalar(s, x, own.row));
    return evaluate(s, x, &own);
}

/* The index of row `row` of the permuted value y along its axes from..to-1, taken as one axis. */
static const expression *index_along(scope *s, const ir_value *y, int from, int to, const expression *row)
{
    emission *e = s->e;
    extent after = extent_number(1), size = extent_number(1);
    for (int i = to; i + 1 < y->rank; i++) after = extent_multiply(e->a, y->at, after, y->shape[i]);
    for (int i = from; i < to; i++) size = extent_multiply(e->a, y->at, size, y->shape[i]);
    const expression *index = c_quotient(e->pool, row, extent_c(e, &after));
    return from > 0 ? c_remainder(e->pool, index, extent_c(e, &size)) : index;
}

/* Where the operand of a permute has the element that its result has at `at`. Axes that stay adjacent are treated as one. */
static place permuted(scope *s, const ir_op *op, const place *at)
{
    emission *e = s->e;
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    const double *axes = op->attributes.axes.at;
    const int last = x->rank - 1;
    const expression *row = NULL, *column = NULL;
    for (int from = 0, to; from <= last; from = to) {
        for (to = from + 1; to < last && axes[to] == axes[to - 1] + 1 && axes[to] < last && axes[from] < last;) to++;
        const expression *index = from < last ? index_along(s, y, from, to, at->row) : place_column(s, at);
        if (axes[to - 1] == last) {
            column = index;
            continue;
        }
        extent step = extent_number(1);
        for (int i = (int)axes[to - 1] + 1; i < last; i++) step = extent_multiply(e->a, y->at, step, x->shape[i]);
        index = c_product(e->pool, index, extent_c(e, &step));
        row = row ? c_sum(e->pool, row, index) : index;
    }
    return (place){.row = row ? row : c_number(e->pool, 0), .base = column, .guard = at->guard, .left = at->left, .tag = "_permuted"};
}

static const expression *permute_op(scope *s, const ir_op *op, const place *at)
{
    const place own = permuted(s, op, at);
    return evaluate(s, op->inputs[0], &own);
}

static double rope_scale(const emission *e, const ir_op *rope, int kind)
{
    const double factor = kinds_attributes(e->plan->ir, rope, kind)->attention_factor;
    return factor == 0 ? 1 : factor;
}

static bool is_scaled(const emission *e, const ir_op *rope)
{
    bool is = false;
    for (int k = 0; k < kinds_count(e->plan->ir); k++) is |= rope_scale(e, rope, k) != 1;
    return is;
}

static const expression *scale_of_rotation(scope *s, const ir_op *op)
{
    emission *e = s->e;
    const expression *of_kinds[most_layer_kinds];
    for (int k = 0; k < kinds_count(e->plan->ir); k++) {
        text t = {.a = e->a};
        text_f32(&t, rope_scale(e, op, k));
        of_kinds[k] = k && rope_scale(e, op, k) == rope_scale(e, op, 0) ? of_kinds[0] : c_name(e->pool, t.data);
    }
    e->rope_scaled = true;
    return use_by_kind(e, of_kinds);
}

/* The cosines and sines for a vector of pairs. Both halves of the pairs use them, so they are computed once. */
static const expression *rotation_of_pair(scope *s, const ir_op *op, const expression *row, long long pairs)
{
    emission *e = s->e;
    const knowledge key = {.value = op->outputs[0], .what = known_rotation, .row = row};
    const expression *rotation = find_known(s, key);
    if (rotation) return rotation;
    const char *name = new_local(s, op->outputs[0], "_rotation");
    const expression *position = evaluate_position(s, op, row), *table = rope_table(e, op);
    const expression *code =
        c_call(e->pool, arena_printf(e->a, "rope_rotation_at<%s, %lld>", s->lanes, pairs), c_int(e->pool, "pair"), position, table);
    if (is_scaled(e, op)) code = c_call(e->pool, "rope_scaled_rotation", code, scale_of_rotation(s, op));
    rotation = write_local(s, op->at, arena_printf(e->a, "rope_rotation<%s>", s->lanes), name, code);
    scope_know(s, key, rotation);
    return rotation;
}

/* A rope in a function that has both columns of each pair. */
static const expression *rope_of_pair(scope *s, const ir_op *op, const place *at, long long pairs)
{
    const ir_value *x = op->inputs[0];
    place low = *at, high = *at;
    low.base = s->low, high.base = s->high, low.tag = "", high.tag = "_far";
    const expression *lo = evaluate(s, x, &low), *hi = evaluate(s, x, &high), *rotation = rotation_of_pair(s, op, at->row, pairs);
    return c_call(s->e->pool, at->base == s->high ? "rope_high" : "rope_low", rotation, lo, hi);
}

/* True if the other column of an interleaved pair is in another vector: rows have vectors of one column if a head has an odd size, if the
 * user says so, or if longer ones spilled. */
static bool is_neighbor_apart(const emission *e) { return e->phase->tile.program == program_rows && e->phase->tile.rows.v == 1; }

static const expression *rope_op(scope *s, const ir_op *op, const place *at)
{
    emission *e = s->e;
    const ir_attributes *r = &op->attributes;
    const long long head = value_head_size(op->outputs[0], r->heads);
    const ir_value *x = op->inputs[0];
    if (s->low && r->pairing == pairing_half) return rope_of_pair(s, op, at, head / 2);
    const expression *own = evaluate(s, x, at), *column = place_column(s, at), *position = evaluate_position(s, op, at->row);
    const expression *table = rope_table(e, op);
    const char *sizes = arena_printf(e->a, "<%lld, %lld>", head, r->rotary);
    const char *scaled = arena_printf(e->a, "rope_scaled<%lld, %lld>", head, r->rotary);
    if (is_scaled(e, op)) own = c_call(e->pool, scaled, own, column, scale_of_rotation(s, op));
    const bool half = r->pairing == pairing_half;
    if (!half && !is_neighbor_apart(e))
        return c_call(e->pool, arena_printf(e->a, "rope_interleaved%s", sizes), own, column, position, table);
    place partner = *at;
    partner.base = c_call_of(e->pool, arena_printf(e->a, "rope_%s%s", half ? "partner" : "neighbor", sizes), type_int, 1, &column);
    partner.shift = 0;
    partner.tag = "_far";
    const expression *far = evaluate(s, x, &partner);
    if (is_scaled(e, op)) far = c_call(e->pool, scaled, far, column, scale_of_rotation(s, op));
    return c_call(e->pool, arena_printf(e->a, "rope_%s%s", half ? "half" : "neighbors", sizes), own, far, column, position, table);
}

static const expression *row_vector_op(scope *s, const ir_value *v, const place *at)
{
    const ir_op *op = v->def;
    if (op_is_elementwise(op)) return element_op(s, op, at);
    switch (op->kind) {
    case op_rope: return rope_op(s, op, at);
    case op_concat: return concat_op(s, op, at);
    case op_slice: return slice_op(s, op, at);
    case op_reshape: return reshape_op(s, op, at);
    case op_permute: return permute_op(s, op, at);
    case op_kv_append: return evaluate(s, op->inputs[0], at);
    default: break;
    }
    bail(s->e->a, code_unsupported, op->at, "%%%s: %s cannot be emitted inside a phase of this family", v->name, op_table[op->kind].name);
}

/* Calls a function (chain.c) for each column. Returns the name of the vec with the results, or NULL if chain_find() makes no function. */
static const expression *evaluate_chain(scope *s, const ir_value *v, const place *at)
{
    emission *e = s->e;
    chain c;
    const char *function = chain_find(&c, s, v, at);
    if (!function) return NULL;
    const expression **arguments = arena_alloc(e->a, ((size_t)c.leaf_count + 1) * sizeof *arguments);
    for (int i = 0; i < c.leaf_count; i++) {
        const leaf *x = &c.leaves[i];
        arguments[i] = value_is_row_scalar(e, x->value) ? evaluate_row_scalar(s, x->value, x->at.row)
                                                        : c_element(e->pool, evaluate(s, x->value, &x->at), c_int(e->pool, "i"));
    }
    const char *name = new_local(s, v, at->tag);
    write_spec_line(s->w, v->def->at, "vec<float, %s> %s = splat<%s>(0.0f);", s->lanes, name, s->lanes);
    write_line(s->w, "#pragma unroll");
    write_spec_line(s->w, v->def->at, "for (int i = 0; i < %s; i++) %s[i] = %s;", s->lanes, name,
                    c_text(e->a, c_call_of(e->pool, function, type_other, c.leaf_count, arguments)));
    return c_name(e->pool, name);
}

const expression *evaluate(scope *s, const ir_value *v, const place *at)
{
    v = value_behind(s->e, v);
    const knowledge key = columns_of(s, v, at);
    const expression *name = find_known(s, key);
    if (name) return name;
    const bool here = value_made_here(s->e, v);
    if (s->collect && !s->collect->scalars_only && !(s->collect->loads_only && here) && !value_needs_row(s->e, v))
        return keep_value(s, v, at);
    if (here) name = evaluate_chain(s, v, at);
    if (!name) {
        const expression *code = here ? rounded_as(s, v, row_vector_op(s, v, at)) : load_row_vector(s, v, at);
        name = write_local(s, value_in_spec(v), arena_printf(s->e->a, "vec<float, %s>", s->lanes), new_local(s, v, at->tag), code);
    }
    scope_know(s, key, name);
    return name;
}
