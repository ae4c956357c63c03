/* Products of f32 operands on wgmma by 3xTF32 (templates/gemm/gemm_ws_split.h): each number is split into large + small, both tf32, and a
 * product is large * large + large * small + small * large. In: a product. Out: the fastest predicted tile. */
#include "gen/emit/gemm.h"
#include "gen/program/warpgroups.h"
#include <math.h>

extern const program gemm_wgmma_3xtf32_program;

enum { length = 32 }; /* K per k tile */

static const char *obstacle(const problem *p)
{
    const ir_op *product = p->product;
    const char *rows = obstacle_to_boxes(p);
    if (rows) return rows;
    return product->inputs[0]->type != dtype_f32 ? "operands are not both f32" : NULL; /* packing converts weights to f32 */
}

/* Accuracy: tensor cores truncate sums over 32 of K; f32 additions, which round, add these up (templates/gemm/gemm_ws_split.h). For K from
 * 64 to 127, RMS errors are 0.67 to 0.92 of those of f32 instructions, the largest errors 0.45 to 0.6 (H200, five matmuls); shorter K was
 * not measured. If K exceeds 16 slices of 32768, the f32 instructions of skinny are more accurate. */
static const worse_range worse[] = {{.most_length = 63, .why = "K is below 64, where its accuracy was never measured"},
                                    {.most_rows = 16,
                                     .least_length = (16 << 15) + 1,
                                     .why = "K is too long at this M: f32 instructions are more accurate"},
                                    {0}};

/* Each warpgroup also splits A's rows and adds up sums. The products of narrow tiles take too little time to hide that. */
static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    /* of a warpgroup per k tile: all cycles, and those of its products */
    const double reached = 0.73, cycles = 180 + 11.0 * t->gemm_warpgroups.n, multiply = 12.0 * t->gemm_warpgroups.n;
    ws_cost(p, t, 2, d);
    d->products_share = reached * fmin(1, multiply / cycles);
}

static void fill(const problem *p, ir_tile *t)
{
    (void)p;
    t->gemm_warpgroups.stages = t->gemm_warpgroups.n == 128 ? 4 : t->gemm_warpgroups.n == 96 ? 5 : 7;
}

static void defaults(const problem *p, ir_tile *t)
{
    static const int widths[] = {128, 96, 64};
    t->gemm_warpgroups =
        (gemm_warpgroups_tile){.m = warpgroup_rows, .k = length, .threads = warpgroup_threads, .group_m = 16, .cluster = 1};
    /* widest_cut is 96, as split-K with 128 columns was timed only once (H200, M = N = 256, K = 524288: 1159 us, with 96 1321) */
    ws_choose(p, &gemm_wgmma_3xtf32_program, &(ws_search){widths, 3, 1, 0, 1, 96, fill}, t);
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    return t->gemm_warpgroups.n % 32 ? "n must be 64, 96 or 128" : ws_illegal(p, t);
}

static long long shared_bytes(const problem *p, const ir_tile *t)
{
    (void)p;
    return ws_shared_bytes(t, 2 * t->gemm_warpgroups.n);
}

static bool smaller(const problem *p, ir_tile *t)
{
    (void)p;
    if (t->gemm_warpgroups.n <= 64) return false;
    t->gemm_warpgroups.n -= 32;
    return true;
}

static void members(emission *e, writer *w)
{
    const problem p = plan_problem(e->a, e->plan, e->phase);
    gemm_on_warpgroups_split(e, w, ws_shares(&p, &e->phase->tile.gemm_warpgroups));
}

const program gemm_wgmma_3xtf32_program = {.kind = program_gemm_wgmma_3xtf32,
                                           .device = "gemm_ws_split",
                                           .template = "templates/gemm/gemm_ws_split.h",
                                           .alone = true,
                                           .obstacle = obstacle,
                                           .worse = worse,
                                           .describe_cost = describe_cost,
                                           .defaults = defaults,
                                           .illegal = illegal,
                                           .shared_bytes = shared_bytes,
                                           .smaller = smaller,
                                           .geometry = ws_geometry,
                                           .partials = ws_partials,
                                           .scratch = ws_scratch,
                                           .members = members,
                                           .weights = weights_split,
                                           .rolls = true,
                                           .reads_columns_of_a = true,
                                           .aligned_rows = true};
