/* In: results of a phase and where the function at hand is in the phase's space. Out: the statements that store them:
 * dense values, views inside a wider root, cache rows. Refuses: nothing; rows that a cache has no room for are left
 * out, by the emitted test. */
#include "gen/emit/emit.h"
#include <string.h>

static bool same_row_count(emission *e, const ir_value *x, const extent *rows)
{
    const extent own = value_rows(e->a, x);
    return extent_equal(&own, rows);
}

const char *sink_condition(emission *e, const ir_value *v, const char *row)
{
    if (v->def->kind == op_reshape || v->def->kind == op_kv_append || same_row_count(e, v, &e->space.rows)) return NULL;
    return first_row_condition(e, v, e->shape, row);
}

/* The operand whose columns an op's result follows. */
static const ir_value *followed(const emission *e, const ir_op *op)
{
    for (int i = 0; i < op->input_count; i++)
        if (value_made_here(e, op->inputs[i]) && !value_is_narrow(e, op->inputs[i])) return op->inputs[i];
    return op->inputs[0];
}

static place at_start(scope *s, const ir_value *v, const place *base)
{
    place at = *base;
    emission *e = s->e;
    if (!same_row_count(e, v, &e->space.rows)) at.row = row_of(e, v, e->shape, base->row);
    if (e->phase->family == family_rows && value_columns(v) < e->space.columns)
        at.guard = arena_printf(e->a, "%s < %lld", with_parentheses(e->a, base->base), value_columns(v));
    return at;
}

static place inside_slice(scope *s, const ir_op *op, const place *source)
{
    place at = *source;
    arena *a = s->e->a;
    const long long width = value_columns(op->outputs[0]), offset = op->attributes.offset;
    const char *from = place_column(a, source);
    at.shift += offset;
    at.guard =
        offset ? arena_printf(a, "%s >= %lld && %s < %lld", from, offset, from, offset + width) : arena_printf(a, "%s < %lld", from, width);
    if (width == value_columns(op->inputs[0])) at.guard = source->guard;
    if (at.left) at.left = arena_printf(a, "%lld - (%s)", width, place_column(a, &at));
    at.tag = at.shift ? arena_printf(a, "_from%lld", at.shift) : source->tag;
    return at;
}

static bool alike(emission *e, const ir_value *x, const ir_value *y)
{
    const extent rows = value_rows(e->a, x);
    return value_columns(x) == value_columns(y) && same_row_count(e, y, &rows);
}

place sink_place(scope *s, const ir_value *v, const place *base)
{
    emission *e = s->e;
    v = value_behind(e, v);
    const ir_op *op = v->def;
    if (!value_made_here(e, v)) return at_start(s, v, base);
    const ir_value *source = followed(e, op);
    const bool product = op_table[op->kind].class == class_PRODUCT || op_table[op->kind].class == class_ATTENTION;
    if (product || op->kind == op_concat) return at_start(s, v, base);
    const bool here = value_made_here(e, source) && !value_is_narrow(e, source);
    const place from = here ? sink_place(s, source, base) : at_start(s, source, base);
    switch (op->kind) {
    case op_slice: return inside_slice(s, op, &from);
    case op_reshape: return at_start(s, v, base); /* a copy walks its own rows, and looks for their elements in its operand */
    case op_kv_append: return from;
    default: return here && alike(e, source, v) ? from : at_start(s, v, base);
    }
}

/* ---- stores */
static const char *joined(arena *a, const char *x, const char *y)
{
    if (!x || !y) return x ? x : y;
    return arena_printf(a, "%s && %s", x, y);
}

static bool aligned_store(scope *s, const ir_value *v, const place *at)
{
    const view w = view_of(s->e->a, v);
    return s->whole > 0 && (w.offset - at->shift) % s->whole == 0 && w.stride % s->whole == 0;
}

/* NULL: always. Returns the indentation of the statement that follows. */
static const char *write_test(scope *s, position at, const char *test)
{
    if (!test) return "";
    write_spec_line(s->w, at, "if (%s)", test);
    return "    ";
}

/* A piece of neighbours to `to`, of which `left` exist (NULL: all), by `out` in an epilogue; where `test` holds (NULL: always). */
static void write_piece(scope *s, position at, const char *test, const char *to, const char *left, const char *name)
{
    const char *some = left ? arena_printf(s->e->a, ", %s", left) : "", *in = write_test(s, at, test);
    if (s->slot)
        write_spec_line(s->w, at, "%sout.template put%s<%s, %s>(%s%s, %s);", in, left ? "_some" : "", s->slot, s->lanes, to, some, name);
    else
        write_spec_line(s->w, at, "%sstore%s<%s>(%s%s, %s);", in, left ? "" : "_aligned", s->lanes, to, some, name);
}

static void count_put(scope *s, const ir_value *v, bool whole)
{
    if (!s->puts) return;
    s->puts->most++;
    if (!whole || dtype_size(v->type) != 2) s->puts->loose = true;
}

static void write_dense(scope *s, const ir_value *v, const place *at, const char *when)
{
    arena *a = s->e->a;
    const char *name = evaluate(s, v, at), *to = address(s->e, v, at->row, place_column(a, at), true);
    const char *test = joined(a, when, at->guard);
    const bool aligned = aligned_store(s, v, at);
    count_put(s, v, aligned);
    write_piece(s, v->def->at, test, to, at->left ? at->left : aligned ? NULL : s->lanes, name);
}

/* [B, KV, L, hd]: column h*hd + d of token t of sequence b goes to [b, h, position, d]; where heads have an axis of their own,
 * [B, S, KV, hd], column d of row (b*S + t)*KV + h does. A cache may have more rows than an int counts. */
static const char *cache_address(scope *s, const ir_op *op, const char *row, const char *col, const char *position)
{
    emission *e = s->e;
    const ir_value *state = value_root(op->attributes.state), *x = op->inputs[0];
    const long long size = value_columns(state), in_row = value_columns(x) / size;
    long long heads = in_row;
    extent_is_number(&state->shape[1], &heads);
    const char *head =
        in_row == heads ? arena_printf(e->a, "%s / %lld", col, size) : arena_printf(e->a, "%s %% %lld", with_parentheses(e->a, row), heads);
    return arena_printf(e->a, "%s + ((%s * %lldll + %s) * %s + %s) * %lld + %s %% %lld", use_value(e, state, true),
                        evaluate_sequence(s, op, row), heads, head, with_parentheses(e->a, extent_c(e, &state->shape[2])), position, size,
                        col, size);
}

static void write_cache(scope *s, const ir_value *v, const place *at, const char *when)
{
    emission *e = s->e;
    arena *a = e->a;
    const ir_op *op = v->def;
    const ir_value *state = value_root(op->attributes.state);
    const long long head = value_columns(state);
    const char *name = evaluate(s, op->inputs[0], at), *col = with_parentheses(a, place_column(a, at)),
               *position = evaluate_position(s, op, at->row);
    const char *room = arena_printf(a, "%s >= 0 && %s < %s", position, position, extent_c(e, &state->shape[2]));
    const char *test = joined(a, joined(a, when, at->guard), room);
    count_put(s, v, s->whole > 0 && head % s->whole == 0);
    if (s->whole > 0 && head % s->whole == 0) {
        write_piece(s, op->at, test, cache_address(s, op, at->row, col, position), at->left, name);
        return;
    }
    const char *to = cache_address(s, op, at->row, arena_printf(a, "(%s + i)", place_column(a, at)), position);
    const char *in = write_test(s, op->at, test);
    /* A pair's half ends at `left`; what follows it in memory belongs to another lane. */
    const char *end = at->left ? arena_printf(a, " && i < %s", at->left) : "";
    write_spec_line(s->w, op->at, "%sfor (int i = 0; i < %s%s; i++)", in, s->lanes, end);
    write_spec_line(s->w, op->at, "%s    store_one(%s, %s[i]);", in, to, name);
}

void write_store(scope *s, const ir_value *v, const place *at, const char *when)
{
    if (v->def->kind == op_kv_append)
        write_cache(s, v, at, when);
    else
        write_dense(s, v, at, when);
}

void write_narrow_store(scope *s, const ir_value *v, const char *row, const char *when)
{
    emission *e = s->e;
    const char *own = same_row_count(e, v, &e->space.rows) ? row : row_of(e, v, e->shape, row);
    const char *name = evaluate_narrow(s, v, own), *to = address(e, v, own, "0", true);
    const char *in = write_test(s, v->def->at, when);
    write_spec_line(s->w, v->def->at, "%sstore_one(%s, %s);", in, to, name);
}
