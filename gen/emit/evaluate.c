/* In: an IR value and a place (row and column). Out: C++ statements that compute it there, one an op, each operand
 * once, and the name of the result. Refuses (code_unsupported) what has no form inside a phase: a reduction of what is
 * no row of the phase. */
#include "gen/emit/emit.h"
#include <string.h>

/* A result's place is its op's, so that a plan that is read back emits the same bytes. */
position value_in_spec(const ir_value *v) { return v->def ? v->def->at : v->at; }

/* ---- row scalars */
static const char *load_partial_sums(scope *s, const ir_value *v, const char *row, int parts)
{
    enum { long_sum = 256 }; /* more are added up in blocks (templates/base/sums.h) */
    const char *name = new_local(s, v, NULL), *pointer = use_value(s->e, v, false), *first = scaled(s->e->a, row, parts);
    if (parts > long_sum) {
        write_spec_line(s->w, value_in_spec(v), "const float %s = add_up<%d>(%s + %s);", name, parts, pointer, first);
        return name;
    }
    write_spec_line(s->w, value_in_spec(v), "float %s = 0;", name);
    write_spec_line(s->w, value_in_spec(v), "for (int i = 0; i < %d; i++) %s += %s[%s + i];", parts, name, pointer, first);
    return name;
}

static const char *load_narrow(scope *s, const ir_value *v, const char *row)
{
    const int parts = value_parts(s->e->plan, v);
    if (parts > 1) return load_partial_sums(s, v, row, parts);
    const char *name = new_local(s, v, NULL);
    write_spec_line(s->w, value_in_spec(v), "const float %s = load_one(%s);", name, address(s->e, v, row, "0", false));
    return name;
}

/* A reduction over one element, or a narrow op on a wide value of one column. */
static const char *narrow_operand(scope *s, const ir_value *v, const ir_value *of, const char *row)
{
    emission *e = s->e;
    const char *own = row_of(e, v, of, row);
    if (value_is_narrow(e, v)) return evaluate_narrow(s, v, own);
    bail(e->a, code_unsupported, v->at, "%%%s: a column taken out of wider rows cannot be a row scalar of the same phase", v->name);
}

static const char *evaluate_narrow_op(scope *s, const ir_value *v, const char *row)
{
    const ir_op *op = v->def;
    const char *operands[16];
    for (int i = 0; i < op->input_count; i++) operands[i] = narrow_operand(s, op->inputs[i], v, row);
    const char *code = operands[0];
    if (op->kind == op_row_sumsq)
        code = arena_printf(s->e->a, "op_square(%s)", operands[0]);
    else if (op_is_elementwise(op))
        code = operation(s, op, operands);
    if (rounded_here(s->e, v)) code = arena_printf(s->e->a, "op_cast<%s>(%s)", dtype_c_name(v->type), code);
    const char *name = new_local(s, v, NULL);
    write_spec_line(s->w, op->at, "const float %s = %s;", name, code);
    return name;
}

const char *evaluate_narrow(scope *s, const ir_value *v, const char *row)
{
    if (v->kind == value_constant) return constant_c(s, v);
    v = value_behind(s->e, v);
    const char *name = find_known(s, v, row, NULL);
    if (name) return name;
    if (s->collect) return keep_scalar(s->collect, v, row);
    if (wide_reduction(s->e, v))
        bail(s->e->a, code_unsupported, v->at, "%%%s: a reduction along columns is used in the phase that makes it", v->name);
    name = value_made_here(s->e, v) ? evaluate_narrow_op(s, v, row) : load_narrow(s, v, row);
    scope_know(s, v, row, NULL, name);
    return name;
}

/* ---- positions of tokens. [B, S, H*hd]: the axis before the last counts tokens, the axes before it sequences. Where heads have an
 * axis of their own, [B, S, H, hd], that one stands between. */
static const ir_value *token_value(const ir_op *op) { return op->inputs[0]; }

static int token_axis(const ir_value *x) { return x->rank == 4 ? 1 : x->rank - 2; }

static bool one_token(const ir_value *x)
{
    long long n;
    return x->rank < 2 || (extent_is_number(&x->shape[token_axis(x)], &n) && n == 1);
}

/* The token's index in the whole batch. */
static const char *flat_token(scope *s, const ir_value *x, const char *row)
{
    long long heads;
    if (x->rank != 4 || (extent_is_number(&x->shape[2], &heads) && heads == 1)) return row;
    return arena_printf(s->e->a, "%s / %s", with_parentheses(s->e->a, row), with_parentheses(s->e->a, extent_c(s->e, &x->shape[2])));
}

static const char *token_index(scope *s, const ir_value *x, const char *row)
{
    if (one_token(x)) return "0";
    if (x->rank < 3) return row;
    return arena_printf(s->e->a, "%s %% %s", with_parentheses(s->e->a, flat_token(s, x, row)),
                        with_parentheses(s->e->a, extent_c(s->e, &x->shape[token_axis(x)])));
}

const char *evaluate_sequence(scope *s, const ir_op *op, const char *row)
{
    const ir_value *x = token_value(op);
    const char *name = find_known(s, x, row, "sequence");
    if (name) return name;
    if (x->rank < 3) return "0";
    const char *token = flat_token(s, x, row);
    if (one_token(x)) return with_parentheses(s->e->a, token);
    return arena_printf(s->e->a, "(%s / %s)", with_parentheses(s->e->a, token),
                        with_parentheses(s->e->a, extent_c(s->e, &x->shape[token_axis(x)])));
}

const char *evaluate_position(scope *s, const ir_op *op, const char *row)
{
    const ir_value *x = token_value(op), *at = op->attributes.at;
    const char *key = arena_printf(s->e->a, "position %d", at ? at->id : -1);
    const char *name = find_known(s, x, row, key);
    if (name) return name;
    const char *token = token_index(s, x, row);
    if (!at) return with_parentheses(s->e->a, token);
    const char *first = arena_printf(s->e->a, "%s[%s]", use_value(s->e, at, false), evaluate_sequence(s, op, row));
    return strcmp(token, "0") == 0 ? first : arena_printf(s->e->a, "(%s + %s)", first, token);
}

/* ---- rows */
static const char *left_at(scope *s, const ir_value *v, const place *at)
{
    (void)v;
    if (at->left && at->guard) return arena_printf(s->e->a, "%s ? %s : 0", at->guard, at->left);
    if (at->guard) return arena_printf(s->e->a, "%s ? %s : 0", at->guard, s->lanes);
    return at->left;
}

/* Legal to load `whole` columns at a time with one access: rows and first column keep the alignment. */
static bool aligned(scope *s, const ir_value *v, const place *at)
{
    const view w = view_of(s->e->a, v);
    return s->whole > 0 && (w.offset - at->shift) % s->whole == 0 && w.stride % s->whole == 0;
}

static const char *load_wide(scope *s, const ir_value *v, const place *at)
{
    const char *from = address(s->e, v, at->row, place_column(s->e->a, at), false), *left = left_at(s, v, at);
    if (!left && aligned(s, v, at)) return arena_printf(s->e->a, "load_aligned<%s>(%s)", s->lanes, from);
    return arena_printf(s->e->a, "load<%s>(%s, %s)", s->lanes, from, left ? left : s->lanes);
}

static const char *element_op(scope *s, const ir_op *op, const place *at)
{
    const char *operands[16];
    const ir_value *out = op->outputs[0];
    for (int i = 0; i < op->input_count; i++) {
        const ir_value *x = op->inputs[i];
        const place own = operand_place(s, x, out, at);
        operands[i] = value_is_narrow(s->e, x) ? evaluate_narrow(s, x, own.row) : evaluate(s, x, &own);
    }
    return element_code(s, op, operands);
}

static const char *range_guard(scope *s, const place *at, long long width)
{
    const char *col = with_parentheses(s->e->a, place_column(s->e->a, at));
    return arena_printf(s->e->a, "%s >= 0 && %s < %lld", col, col, width);
}

static const char *both(scope *s, const char *x, const char *y) { return x ? arena_printf(s->e->a, "%s && %s", x, y) : y; }

static const char *concat_op(scope *s, const ir_op *op, const place *at)
{
    text t = {.a = s->e->a};
    long long start = 0;
    const char *pieces[16], *guards[16];
    for (int i = 0; i < op->input_count; i++) {
        place own = operand_place(s, op->inputs[i], op->outputs[0], at);
        const long long width = value_columns(op->inputs[i]);
        own.shift += start;
        own.tag = arena_printf(s->e->a, "%s_at%lld", at->tag ? at->tag : "", start);
        guards[i] = range_guard(s, &own, width);
        own.guard = both(s, at->guard, guards[i]);
        pieces[i] = value_is_narrow(s->e, op->inputs[i])
                        ? arena_printf(s->e->a, "splat<%s>(%s)", s->lanes, evaluate_narrow(s, op->inputs[i], own.row))
                        : evaluate(s, op->inputs[i], &own);
        start += width;
    }
    for (int i = 0; i + 1 < op->input_count; i++) text_printf(&t, "%s ? %s : ", guards[i], pieces[i]);
    text_printf(&t, "%s", pieces[op->input_count - 1]);
    return t.data;
}

static const char *slice_op(scope *s, const ir_op *op, const place *at)
{
    place own = place_shifted(s->e->a, at, -op->attributes.offset);
    if (own.shift == 0 && value_columns(op->inputs[0]) == s->e->space.columns) { /* all slices share what is read there */
        own.guard = NULL;
        own.left = at->left ? "left" : NULL;
        own.tag = NULL;
    }
    if (value_is_narrow(s->e, op->inputs[0]))
        return arena_printf(s->e->a, "splat<%s>(%s)", s->lanes, evaluate_narrow(s, op->inputs[0], at->row));
    return evaluate(s, op->inputs[0], &own);
}

/* A reshape keeps the flat index of an element. */
static const char *reshape_op(scope *s, const ir_op *op, const place *at)
{
    arena *a = s->e->a;
    const ir_value *x = op->inputs[0];
    const long long from = value_columns(op->outputs[0]), to = value_columns(x);
    place own = *at;
    if (from != to) {
        const char *flat = arena_printf(a, "(%s + %s)", scaled(a, with_parentheses(a, at->row), from), place_column(a, at));
        own = (place){.row = arena_printf(a, "(int)(%s / %lld)", flat, to),
                      .base = arena_printf(a, "(int)(%s %% %lld)", flat, to),
                      .guard = at->guard,
                      .left = at->left,
                      .tag = "_flat"};
    }
    if (from == to && value_is_narrow(s->e, x)) return arena_printf(a, "splat<%s>(%s)", s->lanes, evaluate_narrow(s, x, own.row));
    return evaluate(s, x, &own);
}

/* Both halves at hand: one cosine and sine serve the pair. */
static const char *rope_of_pair(scope *s, const ir_op *op, const place *at, long long pairs)
{
    arena *a = s->e->a;
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    place low = *at, high = *at;
    low.base = s->low, high.base = s->high, low.tag = "", high.tag = "_far";
    const char *lo = evaluate(s, x, &low), *hi = evaluate(s, x, &high), *turn = find_known(s, y, at->row, "turn");
    if (!turn) {
        turn = new_local(s, y, "_turn");
        const char *position = evaluate_position(s, op, at->row), *table = rope_table(s->e, op);
        write_spec_line(s->w, op->at, "const rope_turn<%s> %s = rope_turn_at<%s, %lld>(pair, %s, %s);", s->lanes, turn, s->lanes, pairs,
                        position, table);
        scope_know(s, y, at->row, "turn", turn);
    }
    return arena_printf(a, "%s(%s, %s, %s)", strcmp(at->base, s->high) == 0 ? "rope_high" : "rope_low", turn, lo, hi);
}

static const char *rope_op(scope *s, const ir_op *op, const place *at)
{
    arena *a = s->e->a;
    const ir_attributes *r = &op->attributes;
    const long long head = value_head_size(op->outputs[0], r->heads);
    const ir_value *x = op->inputs[0];
    if (s->low && r->pairing == pairing_half) return rope_of_pair(s, op, at, head / 2);
    const char *own = evaluate(s, x, at), *col = place_column(a, at), *position = evaluate_position(s, op, at->row);
    const char *table = rope_table(s->e, op);
    if (r->pairing == pairing_interleaved)
        return arena_printf(a, "rope_interleaved<%lld, %lld>(%s, %s, %s, %s)", head, r->rotary, own, col, position, table);
    place partner = *at;
    partner.base = arena_printf(a, "rope_partner<%lld, %lld>(%s)", head, r->rotary, col);
    partner.shift = 0;
    partner.tag = "_far";
    const char *far = evaluate(s, x, &partner);
    return arena_printf(a, "rope_half<%lld, %lld>(%s, %s, %s, %s, %s)", head, r->rotary, own, far, col, position, table);
}

static const char *wide_op(scope *s, const ir_value *v, const place *at)
{
    const ir_op *op = v->def;
    if (op_is_elementwise(op)) return element_op(s, op, at);
    switch (op->kind) {
    case op_rope: return rope_op(s, op, at);
    case op_concat: return concat_op(s, op, at);
    case op_slice: return slice_op(s, op, at);
    case op_reshape: return reshape_op(s, op, at);
    case op_kv_append: return evaluate(s, op->inputs[0], at);
    default: break;
    }
    bail(s->e->a, code_unsupported, op->at, "%%%s: %s has no form inside a phase of this family", v->name, op_table[op->kind].name);
}

/* Long arithmetic as a function that is called for each column (chain.c): the name of a vec; NULL: not worth one. */
static const char *evaluate_chain(scope *s, const ir_value *v, const place *at)
{
    chain c;
    const char *function = chain_find(&c, s, v, at);
    if (!function) return NULL;
    text arguments = {.a = s->e->a};
    for (int i = 0; i < c.leaf_count; i++) {
        const leaf *x = &c.leaves[i];
        const bool narrow = value_is_narrow(s->e, x->value);
        const char *value = narrow ? evaluate_narrow(s, x->value, x->at.row) : evaluate(s, x->value, &x->at);
        text_printf(&arguments, "%s%s%s", i ? ", " : "", value, narrow ? "" : "[i]");
    }
    const char *name = new_local(s, v, at->tag);
    write_spec_line(s->w, v->def->at, "vec<float, %s> %s = splat<%s>(0.0f);", s->lanes, name, s->lanes);
    write_line(s->w, "#pragma unroll");
    write_spec_line(s->w, v->def->at, "for (int i = 0; i < %s; i++) %s[i] = %s(%s);", s->lanes, name, function,
                    arguments.data ? arguments.data : "");
    return name;
}

const char *evaluate(scope *s, const ir_value *v, const place *at)
{
    v = value_behind(s->e, v);
    const char *key = place_key(s->e->a, at), *name = find_known(s, v, at->row, key);
    if (name) return name;
    const bool here = value_made_here(s->e, v);
    if (s->collect && !s->collect->scalars_only && !(s->collect->loads_only && here) && !value_needs_row(s->e, v))
        return keep_value(s, v, at);
    if (here && (name = evaluate_chain(s, v, at))) {
        scope_know(s, v, at->row, key, name);
        return name;
    }
    const char *code = here ? wide_op(s, v, at) : load_wide(s, v, at);
    if (here && rounded_here(s->e, v)) code = arena_printf(s->e->a, "op_cast<%s>(%s)", dtype_c_name(v->type), code);
    name = new_local(s, v, at->tag);
    write_spec_line(s->w, value_in_spec(v), "const vec<float, %s> %s = %s;", s->lanes, name, code);
    scope_know(s, v, at->row, key, name);
    return name;
}
