/* In: a segment of a product's packed columns. Out: the statements of its epilogue function, and the scope in which they are written. */
#include "gen/emit/gemm.h"

/* Whether all packed columns of the segment exist: it has no padding. */
static bool is_full(const gemm_segment *s)
{
    return s->kind == segment_plain ? s->packed_count == s->columns : s->padded == s->pairs;
}

/* True if a vector of packed columns exists either whole or not at all. */
static bool is_whole(const gemm *g, const gemm_segment *s)
{
    return (s->kind == segment_plain ? s->columns : s->pairs) % g->width == 0;
}

/* True if the epilogue has no branch for columns that do not exist: it computes with column 0 and stores nothing. Past a branch the
 * compiler moves neither loads nor functions, so that each vector waits for its own. H200, with and without the branch, us: 3808x4888x1280
 * with a gate 139, 93; 2544x2480x448 with a gelu and a sigmoid 27.8, 22.4; 7168x648x320 with a gelu 17.9, 15.5. A rope has branches
 * anyway. */
static bool computes_any_column(const gemm *g, const gemm_segment *s)
{
    return !is_full(s) && is_whole(g, s) && s->kind != segment_pair_rope;
}

/* The condition under which a segment's columns exist; NULL: always, or the function has returned. */
static const expression *columns_exist(const gemm *g, const gemm_segment *segment)
{
    expression_pool *p = g->e->pool;
    return computes_any_column(g, segment) ? c_less(p, c_number(p, 0), c_int(p, "left")) : NULL;
}

static void write_sum(const gemm *g, const gemm_segment *segment, scope *s, const ir_value *v, const place *at)
{
    expression_pool *p = g->e->pool;
    const expression *x = evaluate(s, v->def->inputs[0], at), *exist = columns_exist(g, segment);
    if (v->def->kind == op_row_sumsq) x = c_call(p, "op_square", x);
    if (at->left) x = c_call(p, "mask<W>", x, at->left);
    x = c_call(p, "total<W>", x);
    if (exist) x = c_choice(p, exist, x, c_name(p, "0.0f"));
    write_spec_line(s->w, v->def->at, "sum += %s;", c_text(g->e->a, x));
}

static void write_segment_stores(const gemm *g, const gemm_segment *segment, scope *s, const place *base)
{
    const ir_phase *phase = g->e->phase;
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        const ir_value *v = op->outputs[0];
        if (op->role == role_prologue || !gemm_in_segment(g, segment, op)) continue;
        if (v == g->row_sum) {
            const place at = store_place(s, op->inputs[0], base);
            write_sum(g, segment, s, v, &at);
        } else if (value_written(g->e, v)) {
            const place at = store_place(s, v, base);
            write_store(s, v, &at, c_both(g->e->pool, store_condition(g->e, v, base->row), columns_exist(g, segment)));
        }
    }
}

scope gemm_epilogue_scope(const gemm *g, writer *w)
{
    scope s = scope_new(g->e, w, "W");
    s.whole = g->width, s.anywhere = g->staged_unit % gemm_vector != 0;
    if (g->notes_angles) s.angles = "angles";
    return s;
}

/* Registers the accumulator `name` as the product's value. If the product is stored too, the value is rounded, since other ops read what is
 * stored. */
static void know_product(scope *s, const ir_op *op, const place *at, const char *name)
{
    const ir_value *v = op->outputs[0];
    scope_know(s, columns_of(s, v, at), rounded_as(s, v, c_name(s->e->pool, name)));
}

/* The body of a segment's function. A dry run calls this as well, with a writer whose text is dropped. */
void gemm_write_segment_body(const gemm *g, const gemm_segment *segment, scope *s)
{
    expression_pool *p = g->e->pool;
    const place base = {.row = c_int(p, "row"), .base = c_int(p, "col"), .left = is_whole(g, segment) ? NULL : c_int(p, "left")};
    s->half = segment->kind == segment_plain ? "Half" : "0";
    know_product(s, segment->first, &base, segment->kind == segment_plain ? "product" : "lo");
    if (segment->kind == segment_pair_join) know_product(s, segment->second, &base, "hi");
    if (segment->kind == segment_pair_rope) {
        place far = base;
        far.base = c_int(p, "far"), far.tag = "_far";
        s->low = base.base, s->high = far.base;
        know_product(s, segment->first, &far, "hi");
        write_segment_stores(g, segment, s, &base);
        s->half = "1";
        write_segment_stores(g, segment, s, &far);
        return;
    }
    write_segment_stores(g, segment, s, &base);
}

void gemm_write_segment_columns(const gemm *g, const gemm_segment *segment)
{
    writer *w = g->w;
    const bool rotates = segment->kind == segment_pair_rope, plain = segment->kind == segment_plain;
    if (rotates) {
        write_line(w, "const int head = pair / %lld;", segment->padded);
        write_line(w, "pair %%= %lld;", segment->padded);
        write_line(w, "const int col = head * %lld + pair, far = col + %lld;", 2 * segment->pairs, segment->pairs);
    }
    if (is_full(segment)) return;
    write_line(w, "const int left = %lld - %s;", plain ? segment->columns : segment->pairs, rotates ? "pair" : "col");
    write_line(w, computes_any_column(g, segment) ? "if (left <= 0) col = 0;" : "if (left <= 0) return;");
}

scope gemm_segment_scope(const gemm *g, const gemm_segment *segment, writer *w)
{
    scope s = gemm_epilogue_scope(g, w);
    context_know(&g->kept, &s);
    numbers_know(&g->numbers, &s);
    s.low = segment->kind == segment_pair_rope ? c_int(g->e->pool, "col") : NULL;
    s.high = segment->kind == segment_pair_rope ? c_int(g->e->pool, "far") : NULL;
    return s;
}
