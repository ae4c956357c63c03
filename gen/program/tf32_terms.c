/* Writes an f32 operand of a matmul as two TF32 numbers per element (templates/gemm/tf32_terms.h). In: a phase that gen/plan/terms.c made.
 * Out: a tile: a thread writes `each` runs of 8 elements of a row. */
#include "gen/emit/gemm.h"
#include "gen/program/program.h"

enum { places = 8 }; /* elements along K of a run */

static void defaults(const problem *p, ir_tile *t) { t->align = (align_tile){.threads = p->target->serial ? 1 : 256, .each = 2}; }

/* If the operand is contiguous along K, a tile is threads * each consecutive runs of 8 elements, across rows and matrices. Else it is 32
 * elements along K of transposed_columns * each columns of one matrix. */
static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    const ir_op *op = phase_op(p->phase, op_tf32_terms);
    const ir_value *out = op->outputs[0];
    if (op->attributes.transpose) {
        to->rows = extent_multiply(p->a, p->phase->ops[0]->at, to->rows, extent_number(value_stride(out) / (2 * places)));
        to->tile_rows = t->align.threads * t->align.each;
        return;
    }
    transposing_geometry(p, t, out, to);
}

/* sizeof(mixed_memory<...>) of templates/gemm/tf32_terms.h */
static long long shared_bytes(const problem *p, const ir_tile *t)
{
    if (phase_op(p->phase, op_tf32_terms)->attributes.transpose) return no_shared_memory(p, t);
    return mixed_memory(1, 1, 4ll * 32 * (transposed_columns * t->align.each + 1), 4);
}

static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d) { bytes_cost(p, t, geometry, d); }

static void members(emission *e, writer *w)
{
    const ir_op *op = phase_op(e->phase, op_tf32_terms);
    const ir_value *z = op->inputs[0], *out = op->outputs[0];
    long long N = 0;
    extent_is_number(&out->shape[out->rank - 2], &N);
    const extent batches = value_batches(e->a, out);
    write_line(w, "static constexpr int N = %lld, K = %lld, threads = %d, each = %d;", N, value_columns(out), e->phase->tile.align.threads,
               e->phase->tile.align.each);
    write_line(w, "static constexpr bool across = %s;", op->attributes.transpose ? "false" : "true");
    write_line(w, "DEV static int batches(const args &p) { return %s; }", c_text(e->a, extent_c(e, &batches)));
    gemm_write_columns(e, w, &(matmul_columns){z, op->at, op->attributes.transpose, false, N, value_columns(out), c_int(e->pool, "batch")});
    write_row_function(e, w, op->at, "float", "to", out, true);
}

const program tf32_terms_program = {.kind = program_tf32_terms,
                                    .device = "tf32_terms",
                                    .template = "templates/gemm/tf32_terms.h",
                                    .describe_cost = describe_cost,
                                    .defaults = defaults,
                                    .shared_bytes = shared_bytes,
                                    .smaller = copy_smaller,
                                    .geometry = geometry,
                                    .members = members};
