/* Copies rows to padded, 16-byte aligned rows, which tensor loads need, or transposes matrices (templates/gemm/align.h). In: an align
 * phase, which gen/plan/align.c made. Out: a tile: consecutive 16-byte pieces, or 64 rows of some columns to transpose. */
#include "gen/program/program.h"


static void defaults(const problem *p, ir_tile *t) { t->align = (align_tile){.threads = p->target->serial ? 1 : 256, .each = 4}; }

/* A tile is threads * each consecutive 16-byte pieces, across row boundaries. If the copy is transposed: transposed_run elements of each of
 * transposed_columns * each columns of one matrix, which become rows of the copy. */
static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    const ir_op *op = phase_op(p->phase, op_align);
    const ir_value *copy = op->outputs[0];
    if (op->attributes.transpose) {
        transposing_geometry(p, t, copy, to);
        return;
    }
    to->rows = extent_multiply(p->a, p->phase->ops[0]->at, to->rows, extent_number(value_stride(copy) * dtype_size(copy->type) / 16));
    to->tile_rows = t->align.threads * t->align.each;
}

/* sizeof(mixed_memory<...>) of templates/gemm/align.h */
static long long shared_bytes(const problem *p, const ir_tile *t)
{
    const ir_op *op = phase_op(p->phase, op_align);
    if (!op->attributes.transpose) return no_shared_memory(p, t);
    const int size = dtype_size(op->outputs[0]->type);
    return mixed_memory(1, 1, transposed_run * (transposed_columns * t->align.each + 1ll) * size, 4);
}

static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d) { bytes_cost(p, t, geometry, d); }

static void write_transposed(emission *e, writer *w, const ir_value *x)
{
    const extent batches = value_batches(e->a, x);
    write_line(w, "static constexpr int columns = %lld;", value_columns(x));
    write_line(w, "DEV static int batches(const args &p) { return %s; }", c_text(e->a, extent_c(e, &batches)));
}

static void members(emission *e, writer *w)
{
    const ir_op *op = phase_op(e->phase, op_align);
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    write_line(w, "static constexpr int N = %lld, stride = %lld, threads = %d, each = %d;", value_columns(y), value_stride(y),
               e->phase->tile.align.threads, e->phase->tile.align.each);
    write_line(w, "static constexpr bool across = %s;", op->attributes.transpose ? "true" : "false");
    if (op->attributes.transpose) write_transposed(e, w, x);
    write_line(w, "using type = %s;", dtype_c_name(x->type));
    write_line(w, "DEV static int rows(const args &p) { return %s; }", c_text(e->a, extent_c(e, &e->space.rows)));
    write_row_function(e, w, op->at, "type", "from", x, false);
    write_row_function(e, w, op->at, "type", "to", y, true);
}

const program align_program = {.kind = program_align,
                               .device = "align",
                               .template = "templates/gemm/align.h",
                               .describe_cost = describe_cost,
                               .defaults = defaults,
                               .shared_bytes = shared_bytes,
                               .smaller = copy_smaller,
                               .geometry = geometry,
                               .members = members};
