/* Products of 16-bit operands on wgmma (templates/gemm/gemm_ws.h). In: a product. Out: its tile, by the cost model. */
#include "gen/program/staging.h"
#include "gen/program/warpgroups.h"

extern const program gemm_wgmma_program;

enum { length = 64 };

static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d) { ws_cost(p, t, 1, d); }

/* H200, f32 rows of K = 4096 by 4096 columns, 512 rows and 4096: by bf16 weights, 3 passes, 87 and 671 us, 3xTF32 131 and 1011; by f16
 * weights, then 5 passes, 143 and 1051 us, 3xTF32 134 and 1030. */
static const worse_range worse[] = {{where_f32_on_units | where_both_in_terms, .why = "six passes take longer than 3xTF32"},
                                    {where_f32_on_units, .most_rows = 255, .why = "three passes by fewer than 256 rows were never timed"},
                                    {0}};

static const char *obstacle(const problem *p) { return obstacle_to_16_bit_boxes(p, layer_wgmma, weights_in_terms); }

/* Rows of 128 bytes of B per stage: one per column of the result, or, if B is [K, N], one per 64 columns and k (gemm_ws<...>::b_bytes). */
static int stage_columns(const problem *p, const gemm_warpgroups_tile *x)
{
    return matmul_is_across(problem_product(p)) ? (x->n + 63) / 64 * 64 : x->n;
}

static void fill(const problem *p, ir_tile *t)
{
    gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    x->stages = (p->target->lds_bytes - 1024 - x->smem_epilogue * smem_epilogue_bytes) / ((x->m + stage_columns(p, x)) * 128 + 16);
    if (x->stages > 8) x->stages = 8;
}

/* Where rows begin at 4 or 8 bytes, storing registers directly, 4 bytes at a time, costs less than the ends of pieces do (H200, 2048 rows,
 * K 2048: N 5468 directly 88.2 us, staged 89.9, with a gelu 95 and 106; N 5466 93.9 and 90.7, with a gelu 102 and 107). Rows that begin at
 * 2 bytes would be stored element by element (N 5467: 128 and 97 us). */
static bool staging_pays(const problem *p)
{
    const int unit = results_unit(p);
    return unit == gemm_vector || unit == 1;
}

static void defaults(const problem *p, ir_tile *t)
{
    /* panels: if B is [K, N], only whole boxes of 64 columns; other widths load columns that the next tile loads again, in parts of lines
     * */
    static const int widths[] = {256, 224, 192, 160, 128, 96, 64}, panels[] = {256, 192, 128, 64};
    const bool across = matmul_is_across(problem_product(p));
    /* in clusters, the second row tile may have no rows. The cost counts that, but it was never timed for linears */
    const bool pairs = problem_product(p)->kind == op_matmul || (problem_rows(p) + warpgroup_rows - 1) / warpgroup_rows % 2 == 0;
    t->gemm_warpgroups = (gemm_warpgroups_tile){.m = warpgroup_rows,
                                                .k = length,
                                                .threads = warpgroup_threads,
                                                .group_m = 16,
                                                .smem_epilogue = !staging_obstacle(p, false) && staging_pays(p)};
    const size_t count = across ? sizeof panels / sizeof *panels : sizeof widths / sizeof *widths;
    const ws_search search = {across ? panels : widths, (int)count, pairs ? 2 : 1, 0.97, 0, 256, fill};
    ws_choose(p, &gemm_wgmma_program, &search, t);
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    const gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    if (x->n % 32) return "n is a multiple of 32";
    if (x->smem_epilogue && staging_obstacle(p, false)) return arena_printf(p->a, "smem_epilogue=1: %s", staging_obstacle(p, false));
    return ws_illegal(p, t);
}

static long long shared_bytes(const problem *p, const ir_tile *t)
{
    return ws_shared_bytes(t, stage_columns(p, &t->gemm_warpgroups));
}

/* Half as many columns. */
static bool smaller(const problem *p, ir_tile *t)
{
    (void)p;
    const int n = t->gemm_warpgroups.n, half = n / 64 * 32;
    t->gemm_warpgroups.n = half < 64 ? 64 : half;
    return n > 64;
}

static void members(emission *e, writer *w)
{
    const problem p = plan_problem(e->a, e->plan, e->phase);
    const gemm_warpgroups_tile *x = &e->phase->tile.gemm_warpgroups;
    gemm_on_warpgroups(e, w, ws_shares(&p, x), x->smem_epilogue ? results_unit(&p) : 0);
}

const program gemm_wgmma_program = {.kind = program_gemm_wgmma,
                                    .device = "gemm_ws",
                                    .template = "templates/gemm/gemm_ws.h",
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
                                    .weights = weights_in_terms,
                                    .several_passes = true,
                                    .rolls = true,
                                    .reads_columns_of_a = true,
                                    .aligned_rows = true};
