/* Writes the statements that store a phase's results: to dense tensors, to columns of a wider one, or to rows of a cache. The emitted code
 * drops rows whose position is outside the cache. */
#include "gen/emit/cache.h"
#include <string.h>

static bool same_row_count(emission *e, const ir_value *x, const extent *rows)
{
    const extent own = value_rows(e->a, x);
    return extent_equal(&own, rows);
}

const expression *store_condition(emission *e, const ir_value *v, const expression *row)
{
    if (v->def->kind == op_reshape || v->def->kind == op_kv_append || same_row_count(e, v, &e->space.rows)) return NULL;
    return first_row_condition(e, v, e->shape, row);
}

/* The operand whose place determines at which columns the op's result is computed: the first that the phase computes column by column. */
static const ir_value *followed(const emission *e, const ir_op *op)
{
    for (int i = 0; i < op->input_count; i++)
        if (value_made_here(e, op->inputs[i]) && !value_is_row_scalar(e, op->inputs[i])) return op->inputs[i];
    return op->inputs[0];
}

static place at_start(scope *s, const ir_value *v, const place *base)
{
    place at = *base;
    emission *e = s->e;
    if (!same_row_count(e, v, &e->space.rows)) at.row = row_of(e, v, e->shape, base->row);
    if (e->phase->family == family_rows && value_columns(v) < e->space.columns)
        at.guard = c_less(e->pool, base->base, c_number(e->pool, value_columns(v)));
    return at;
}

static place inside_slice(scope *s, const ir_op *op, const place *source)
{
    place at = *source;
    expression_pool *p = s->e->pool;
    const long long width = value_columns(op->outputs[0]), offset = op->attributes.offset;
    const expression *from = place_column(s, source), *behind = c_less(p, from, c_number(p, offset + width));
    at.shift += offset;
    at.guard = offset ? c_both(p, c_at_least(p, from, c_number(p, offset)), behind) : behind;
    if (width == value_columns(op->inputs[0])) at.guard = source->guard;
    if (at.left) at.left = c_difference(p, c_number(p, width), place_column(s, &at));
    at.tag = at.shift ? arena_printf(s->e->a, "_from%lld", at.shift) : source->tag;
    return at;
}

static bool alike(emission *e, const ir_value *x, const ir_value *y)
{
    const extent rows = value_rows(e->a, x);
    return value_columns(x) == value_columns(y) && same_row_count(e, y, &rows);
}

place store_place(scope *s, const ir_value *v, const place *base)
{
    emission *e = s->e;
    v = value_behind(e, v);
    const ir_op *op = v->def;
    if (!value_made_here(e, v)) return at_start(s, v, base);
    const ir_value *source = followed(e, op);
    const bool product = op_table[op->kind].class == class_PRODUCT || op_table[op->kind].class == class_ATTENTION;
    if (product || op->kind == op_concat || op->kind == op_permute) return at_start(s, v, base);
    const bool here = value_made_here(e, source) && !value_is_row_scalar(e, source);
    const place from = here ? store_place(s, source, base) : at_start(s, source, base);
    switch (op->kind) {
    case op_slice: return inside_slice(s, op, &from);
    case op_reshape: return at_start(s, v, base); /* a copy: each element of the result looks up its element of the operand */
    case op_kv_append: return from;
    default: return here && alike(e, source, v) ? from : at_start(s, v, base);
    }
}

/* ---- stores */
static bool aligned_store(scope *s, const ir_value *v, const place *at)
{
    const view w = view_of(s->e->a, v);
    return s->anywhere || (s->whole > 0 && (w.offset - at->shift) % s->whole == 0 && w.stride % s->whole == 0);
}

/* Writes the head of an `if`, whose statement ends with end_test(). NULL: no `if`. */
static void write_test(scope *s, position at, const expression *test)
{
    if (!test) return;
    write_spec_line(s->w, at, "if (%s)", c_text(s->e->a, test));
    s->w->indent++;
}

static void end_test(scope *s, const expression *test) { s->w->indent -= test != NULL; }

/* Writes a store of vector x to address `to`. left: how many of its elements (NULL: all). test: the store's condition (NULL: none). In an
 * epilogue the store is a call of `out`. */
static void write_piece(scope *s, position at, const expression *test, const expression *to, const expression *left, const expression *x)
{
    emission *e = s->e;
    const char *function = s->half ? arena_printf(e->a, "out.template put%s<%s, %s>", left ? "_some" : "", s->half, s->lanes)
                                   : arena_printf(e->a, "store%s<%s>", left ? "" : "_aligned", s->lanes);
    write_test(s, at, test);
    const expression *code = left ? c_call(e->pool, function, to, left, x) : c_call(e->pool, function, to, x);
    write_spec_line(s->w, at, "%s;", c_text(e->a, code));
    end_test(s, test);
}

static void count_put(scope *s, const ir_value *v, bool whole)
{
    if (!s->puts) return;
    s->puts->most++;
    if (!whole || dtype_size(v->type) != 2) s->puts->loose = true;
}

/* Stores x, the value v at `at`, in words, if v has some. */
static void write_words(scope *s, const ir_value *v, const place *at, const expression *when, const expression *x)
{
    emission *e = s->e;
    if (value_words(e->plan, v) < 0) return;
    if (at->left) bail(e->a, code_unsupported, v->at, "internal: %%%s: words that are not stored by fours", v->name);
    const expression *to = words_address(e, v, at->row, place_column(s, at), true), *test = c_both(e->pool, when, at->guard);
    write_test(s, v->def->at, test);
    write_spec_line(s->w, v->def->at, "%s;", c_text(e->a, c_call(e->pool, words_function(e, "store", v, s->lanes), to, x)));
    end_test(s, test);
}

/* The condition under which a value that has words is also stored as it is: in a stack only the last layer's is, for the caller. */
static const expression *plain_condition(emission *e, const ir_value *v)
{
    return e->plan->stack.in && value_words(e->plan, v) >= 0 ? use_value(e, v, true) : NULL;
}

static void write_dense(scope *s, const ir_value *v, const place *at, const expression *when)
{
    expression_pool *p = s->e->pool;
    const expression *x = evaluate(s, v, at), *to = address(s->e, v, at->row, place_column(s, at), true);
    const bool aligned = aligned_store(s, v, at);
    count_put(s, v, aligned);
    write_words(s, v, at, when, x);
    const expression *test = c_both(p, c_both(p, plain_condition(s->e, v), when), at->guard);
    write_piece(s, v->def->at, test, to, at->left ? at->left : aligned ? NULL : c_int(p, s->lanes), x);
}

/* The address in the cache of an element that is appended. `row` and `column` are those of the operand: for column d of head h of token t
 * of sequence b, row b*S + t and column h*hd + d; or, if the operand is [B, S, KV, hd], row (b*S + t)*KV + h and column d. */
static const expression *cache_address(scope *s, const ir_op *op, const expression *row, const expression *column,
                                       const expression *position)
{
    emission *e = s->e;
    expression_pool *p = e->pool;
    const ir_value *state = value_root(op->attributes.state), *x = op->inputs[0];
    const long long columns = value_columns(state), in_row = value_columns(x) / columns;
    const long long heads = cache_heads(state);
    const expression *size = c_number(p, columns);
    const expression *head = in_row == heads ? c_quotient(p, column, size) : c_remainder(p, row, c_number(p, heads));
    const cache_place place = {evaluate_sequence(s, op, row), head, position};
    return c_sum(p, cache_row(e, state, &place, cache_one_row, true), c_remainder(p, column, size));
}

static void write_cache(scope *s, const ir_value *v, const place *at, const expression *when)
{
    emission *e = s->e;
    expression_pool *p = e->pool;
    const ir_op *op = v->def;
    const ir_value *state = value_root(op->attributes.state);
    const bool whole = s->whole > 0 && value_columns(state) % s->whole == 0;
    const expression *x = evaluate(s, op->inputs[0], at), *column = place_column(s, at), *position = evaluate_position(s, op, at->row);
    const expression *room = c_both(p, c_at_least(p, position, c_number(p, 0)), c_less(p, position, extent_c(e, value_tokens(state))));
    const expression *test = c_both(p, c_both(p, when, at->guard), room), *i = c_int(p, "i");
    count_put(s, v, whole);
    write_words(s, op->inputs[0], at, when, x);
    if (whole) {
        write_piece(s, op->at, test, cache_address(s, op, at->row, column, position), at->left, x);
        return;
    }
    const expression *to = cache_address(s, op, at->row, c_sum(p, column, i), position);
    write_test(s, op->at, test);
    /* Stops at `left`, where a rotated head's half ends: another lane stores the elements after it. */
    const expression *goes_on = c_both(p, c_less(p, i, c_int(p, s->lanes)), at->left ? c_less(p, i, at->left) : NULL);
    write_spec_line(s->w, op->at, "for (int i = 0; %s; i++)", c_text(e->a, goes_on));
    s->w->indent++;
    write_spec_line(s->w, op->at, "%s;", c_text(e->a, c_call(p, "store_one", to, c_element(p, x, i))));
    s->w->indent--;
    end_test(s, test);
}

void write_store(scope *s, const ir_value *v, const place *at, const expression *when)
{
    if (v->def->kind == op_kv_append)
        write_cache(s, v, at, when);
    else
        write_dense(s, v, at, when);
}

void write_row_scalar_store(scope *s, const ir_value *v, const expression *row, const expression *when)
{
    emission *e = s->e;
    const expression *own = same_row_count(e, v, &e->space.rows) ? row : row_of(e, v, e->shape, row);
    const expression *x = evaluate_row_scalar(s, v, own), *to = address(e, v, own, c_number(e->pool, 0), true);
    write_test(s, v->def->at, when);
    write_spec_line(s->w, v->def->at, "%s;", c_text(e->a, c_call(e->pool, "store_one", to, x)));
    end_test(s, when);
}
