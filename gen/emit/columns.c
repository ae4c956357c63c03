/* Writes the members of a columns phase's spec struct (docs/spec-structs.md: columns): term() loads or computes one term of the reduction,
 * write() stores the total and what the phase computes from it. Refuses what evaluate.c refuses. */
#include "gen/emit/emit.h"

static const char *taken(const ir_op *op)
{
    return op->kind == op_column_max ? "take_max" : op->kind == op_column_min ? "take_min" : "take_sum";
}

static scope function_scope(emission *e, writer *w, bool tails)
{
    scope s = scope_new(e, w, "V");
    if (!tails) s.whole = e->phase->tile.columns.v;
    return s;
}

static place base_place(const emission *e, bool tails)
{
    return (place){.row = c_int(e->pool, "row"), .base = c_int(e->pool, "col"), .left = tails ? c_int(e->pool, "left") : NULL};
}

/* The distance in rows of the operand from one term to the next: the product of the axes between the reduced one and the last. */
static extent rows_apart(emission *e, const ir_op *op)
{
    const ir_value *x = op->inputs[0];
    extent rows = extent_number(1);
    for (int i = (int)op->attributes.axis + 1; i + 1 < x->rank; i++) rows = extent_multiply(e->a, op->at, rows, x->shape[i]);
    return rows;
}

static void write_term(emission *e, writer *w, const ir_op *op, bool tails)
{
    write_line(w, "template <int V> DEV static vec<float, V> term(const args &p, int row, int col, int left)");
    write_body(w);
    scope s = function_scope(e, w, tails);
    const place at = base_place(e, tails);
    write_spec_line(w, op->at, "return %s;", c_text(e->a, evaluate(&s, op->inputs[0], &at)));
    end_body(w);
}

static void write_stores(emission *e, writer *w, const ir_op *op, bool tails)
{
    const ir_value *y = op->outputs[0];
    write_line(w, "template <int V> DEV static void write(const args &p, int row, int col, int left, vec<float, V> total)");
    write_body(w);
    scope s = function_scope(e, w, tails);
    const place at = base_place(e, tails);
    if (rounded_here(e, y)) write_spec_line(w, op->at, "total = op_cast<%s>(total);", dtype_c_name(y->type));
    scope_know(&s, columns_of(&s, y, &at), c_name(e->pool, "total"));
    for (int i = 0; i < e->phase->op_count; i++)
        if (value_written(e, e->phase->ops[i]->outputs[0])) write_store(&s, e->phase->ops[i]->outputs[0], &at, NULL);
    end_body(w);
}

void emit_columns(emission *e, writer *w)
{
    const columns_tile *t = &e->phase->tile.columns;
    const ir_op *op = phase_first(e->phase, class_COLUMNS);
    const bool tails = e->space.columns % t->v != 0;
    const extent apart = rows_apart(e, op);
    write_line(w, "static constexpr int N = %lld, terms = %lld, threads = %d, lanes = %d, V = %d, parts = %d;", e->space.columns,
               column_terms(op), t->threads, t->lanes, t->v, t->parts);
    write_spec_line(w, op->at, "using take = %s;", taken(op));
    write_line(w, "DEV static int rows(const args &p) { return %s; }", c_text(e->a, extent_c(e, &e->space.rows)));
    write_line(w, "DEV static int apart(const args &p) { return %s; }", c_text(e->a, extent_c(e, &apart)));
    write_term(e, w, op, tails);
    write_stores(e, w, op, tails);
    if (e->scratch >= 0)
        write_line(w, "DEV static float *partial(const args &p) { return %s; }", c_text(e->a, use_scratch(e, e->scratch, true)));
}
