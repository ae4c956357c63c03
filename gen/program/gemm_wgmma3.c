/* Products of f32 operands on wgmma (templates/gemm/gemm_ws_split.h): x = large + small, each in tf32, and a product adds up large * large,
 * large * small and small * large. In: a product. Out: its tile by a model of its time on an H200. */
#include "gen/emit/gemm.h"
#include "gen/program/warpgroups.h"

enum { length = 32 };

static const char *obstacle(const tile_request *r)
{
    const ir_op *product = request_product(r);
    const char *rows = obstacle_to_rows(r);
    if (rows) return rows;
    return product->inputs[0]->type != dtype_f32 || product->inputs[1]->type != dtype_f32 ? "operands are not both f32" : NULL;
}

/* Sums of 32 products are truncated, longer ones are rounded (templates/gemm/gemm_ws_split.h): where few make a result, f32 instructions
 * are as accurate and memory is the limit anyway. */
static double cost(const tile_request *r)
{
    return value_columns(request_product(r)->inputs[0]) < 128 ? COST_TOO_HIGH : COST_OF_MATRIX_UNITS;
}

/* A stage of 32 is 12 instructions of n/2 cycles for each of two warpgroups, and as each also waits, adds and splits, narrow ones do not
 * fill the time. */
static double stage_cycles(long long n)
{
    const double multiply = 12.0 * (double)n, load = 124 + 11 * (double)n;
    return multiply > load ? multiply : load;
}

static void defaults(const tile_request *r, ir_tile *t)
{
    static const int widths[] = {128, 96, 64};
    /* beside sums of parts of 128 columns and their epilogue there are too few registers */
    const ws_choice best = ws_choose(r, length, stage_cycles, widths, 3, 1, 96);
    t->gemm_wgmma3 = (gemm_wgmma3_tile){.m = warpgroup_rows,
                                        .n = best.n,
                                        .k = length,
                                        .threads = warpgroup_threads,
                                        .group = 16,
                                        .cluster = 1,
                                        .split = best.split,
                                        .slots = best.n == 128  ? 4
                                                 : best.n == 96 ? 5
                                                                : 7};
}

static const char *illegal(const tile_request *r, const ir_tile *t)
{
    return t->gemm_wgmma3.n % 32 ? "n is 64, 96 or 128" : ws_illegal(r, t);
}

static long long shared_bytes(const tile_request *r, const ir_tile *t)
{
    (void)r;
    return ws_shared_bytes(t, 2);
}

static bool smaller(const tile_request *r, ir_tile *t)
{
    (void)r;
    if (t->gemm_wgmma3.n <= 64) return false;
    t->gemm_wgmma3.n -= 32;
    return true;
}

/* Large parts of 32 elements, what is left of them, the next 32. */
static long long packed_length(long long K) { return (K + 31) / 32 * 64; }

const program gemm_wgmma3_program = {.kind = program_gemm_wgmma3,
                                     .device = "gemm_ws_split",
                                     .template = "templates/gemm/gemm_ws_split.h",
                                     .memory = "ws_memory<one_phase<$P>>::bytes",
                                     .entry = "TF_KERNEL_WS($K, one_phase<$P>)",
                                     .obstacle = obstacle,
                                     .cost = cost,
                                     .defaults = defaults,
                                     .illegal = illegal,
                                     .shared_bytes = shared_bytes,
                                     .smaller = smaller,
                                     .geometry = ws_geometry,
                                     .parts = ws_parts,
                                     .scratch = ws_scratch,
                                     .members = gemm_on_warpgroups_split,
                                     .pack = "pack_split",
                                     .packed_length = packed_length,
                                     .aligned_rows = true};
