/* Splits each element of a linear's A into terms, bf16 numbers that add up to it: two for f16, three for f32
 * (templates/gemm/bf16_terms.h). In: a phase that gen/plan/terms.c made. Out: a tile, in which each thread writes the terms of `each` runs
 * of 8 elements of a row. */
#include "gen/program/program.h"
#include "ir/graph/format.h"

enum { run = 8 }; /* elements of a row */

static const ir_op *terms_op(const ir_phase *phase) { return phase_op(phase, op_bf16_terms); }

static int terms_of(const ir_op *op) { return format_bf16_terms(op->inputs[0]->type); }

static void defaults(const problem *p, ir_tile *t) { t->align = (align_tile){.threads = p->target->serial ? 1 : 256, .each = 2}; }

/* A tile is threads * each consecutive runs of 8 elements, across row boundaries. */
static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    const ir_op *op = terms_op(p->phase);
    const long long runs = value_stride(op->outputs[0]) / terms_of(op) / run;
    to->rows = extent_multiply(p->a, p->phase->ops[0]->at, to->rows, extent_number(runs));
    to->tile_rows = t->align.threads * t->align.each;
}

static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d) { bytes_cost(p, t, geometry, d); }

static void members(emission *e, writer *w)
{
    const ir_op *op = terms_op(e->phase);
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    const bool whole = value_columns(x) % run == 0 && value_alignment(e->a, x) == 16;
    write_line(w, "static constexpr int K = %lld, terms = %d, stride = %lld, threads = %d, each = %d;", value_columns(x), terms_of(op),
               value_stride(y), e->phase->tile.align.threads, e->phase->tile.align.each);
    write_line(w, "static constexpr bool whole = %s;", whole ? "true" : "false");
    write_line(w, "DEV static int rows(const args &p) { return %s; }", c_text(e->a, extent_c(e, &e->space.rows)));
    write_row_function(e, w, op->at, dtype_c_name(x->type), "from", x, false);
    write_row_function(e, w, op->at, "bf16", "to", y, true);
}

const program bf16_terms_program = {.kind = program_bf16_terms,
                                    .device = "bf16_terms",
                                    .template = "templates/gemm/bf16_terms.h",
                                    .describe_cost = describe_cost,
                                    .defaults = defaults,
                                    .shared_bytes = no_shared_memory,
                                    .smaller = copy_smaller,
                                    .geometry = geometry,
                                    .members = members};
