/* For a gemm phase whose results pass through shared memory, writes touched(): a tile calls it to read the vectors of its epilogue, such as
 * a bias, before the epilogue needs them. */
#include "gen/emit/gemm.h"

bool gemm_in_segment(const gemm *g, const gemm_segment *segment, const ir_op *op)
{
    return segment_of(&g->e->segments, g->e->phase, op) == segment;
}

const expression *gemm_pair_column(expression_pool *p, const expression *column)
{
    const expression *granule = c_number(p, packed_granule), *both = c_number(p, 2 * packed_granule);
    return c_sum(p, c_product(p, c_quotient(p, column, both), granule), c_remainder(p, column, both));
}

const expression *gemm_value_column(expression_pool *p, const gemm_segment *s)
{
    const expression *column = c_shifted(p, c_int(p, "n"), -s->packed_start);
    return s->kind == segment_plain ? column : gemm_pair_column(p, column);
}

static bool is_vector(const gemm *g, const ir_value *v)
{
    return v->kind != value_constant && v->rank == 1 && value_columns(v) > 1 && !value_made_here(g->e, v);
}

/* Writes statements that add to `sum` an element of each vector that the segment's epilogue reads. Returns the number of these vectors. */
static int write_touches(gemm *g, const gemm_segment *segment)
{
    expression_pool *p = g->e->pool;
    const long long columns = segment->kind == segment_plain ? segment->columns : segment->pairs;
    int count = 0;
    for (int i = 0; i < g->e->phase->op_count; i++) {
        const ir_op *op = g->e->phase->ops[i];
        if (op->role != role_epilogue || !gemm_in_segment(g, segment, op)) continue;
        for (int k = 0; k < op->input_count; k++) {
            if (!is_vector(g, op->inputs[k])) continue;
            const expression *at = address(g->e, op->inputs[k], c_number(p, 0), c_int(p, "col"), false);
            if (count++ == 0) write_line(g->w, "const int col = %s;", c_text(g->e->a, gemm_value_column(p, segment)));
            write_spec_line(g->w, op->at, "if (col < %lld) sum += %s;", columns, c_text(g->e->a, c_call(p, "load_one", at)));
        }
    }
    return count;
}

void gemm_write_touched(gemm *g)
{
    const segment_list *list = &g->e->segments;
    writer *w = g->w, body = {.a = g->e->a};
    int count = 0;
    g->w = &body;
    for (int i = 0; i < list->count && g->staged_unit; i++) {
        const gemm_segment *s = &list->items[i];
        write_head(&body, (position){0}, "if (n >= %lld && n < %lld)", s->packed_start, s->packed_start + s->packed_count);
        count += write_touches(g, s);
        end_head(&body, "}");
    }
    g->w = w;
    write_line(w, "static constexpr bool vectors = %s;", count ? "true" : "false");
    if (count == 0) return;
    write_line(w, "DEV static float touched(const args &p, int n)");
    write_body(w);
    write_line(w, "float sum = 0;");
    writer_splice(w, &body);
    write_line(w, "return sum;");
    end_body(w);
}
