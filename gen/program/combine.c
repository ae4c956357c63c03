/* Split-KV reduction: combines the partial results of flash-decoding (templates/attention/decode.h). In: a combine phase. Out: a tile: a
 * workgroup per query and head, with a thread per column, but at most 256. */
#include "gen/emit/attention.h"
#include "gen/program/attention.h"

static void defaults(const problem *p, ir_tile *t)
{
    const long long columns = power_of_two_up(problem_head(p));
    t->combine.threads = p->target->serial ? 1 : columns < 256 ? (int)columns : 256;
}

static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    (void)t;
    attention_geometry(p, 1, to);
}

static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d) { bytes_cost(p, t, geometry, d); }

static void members(emission *e, writer *w)
{
    heads h = heads_start(e, w);
    const ir_value *x = h.op->inputs[0], *out = h.op->outputs[0];
    write_line(w, "static constexpr int head_dim = %lld, heads = %lld, splits = %d;", h.head, h.op->attributes.heads, h.splits);
    write_line(w, "static constexpr int threads = %d;", e->phase->tile.combine.threads);
    write_line(w, "DEV static int batches(const args &p) { return %s; }", c_text(e->a, extent_c(e, &out->shape[0])));
    write_line(w, "DEV static int queries(const args &p) { return %s; }", c_text(e->a, extent_c(e, &out->shape[1])));
    heads_write_partial(&h, x, false);
    heads_write_output(&h, false);
}

const program combine_program = {.kind = program_combine,
                                 .device = "combine",
                                 .template = "templates/attention/decode.h",
                                 .describe_cost = describe_cost,
                                 .defaults = defaults,
                                 .shared_bytes = no_shared_memory,
                                 .geometry = geometry,
                                 .members = members};
