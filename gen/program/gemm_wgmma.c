/* Products of 16-bit operands on wgmma (templates/gemm/gemm_ws.h). In: a product. Out: the fastest predicted tile. In comments, sizes of
 * products are M x N x K. */
#include "gen/program/bits16.h"
#include "gen/program/staging.h"
#include "gen/program/warpgroups.h"

extern const program gemm_wgmma_program;

enum { length = 64 }; /* K per k tile */

static void describe_any_epilogue(const problem *p, const ir_tile *t, cost_descriptor *d) { ws_cost(p, t, 1, d); }
/* chooses tiles by the costs that any epilogue has */
static const program any_epilogue = {.describe_cost = describe_any_epilogue, .weights = weights_in_terms};

static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    enum { long_k = 2048 }; /* of linears: ws_cost() is off by a tenth there, by a fifth with shorter K */
    const gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    ws_cost(p, t, 1, d);
    const bool linear = p->product->kind != op_matmul;
    if (linear && product_is_rounded(p) && !x->own_tiles && x->split_k == 1 && product_length(p) >= long_k) return;
    if (has_16_bit_costs(p)) ws_16_bit_cost(p, x, d);
}

/* Products of f32 rows can run here, in passes of bf16 terms, or as 3xTF32. H200, N = K = 4096, us for M = 512 and M = 4096: bf16 weights
 * in 3 passes 87, 671, by 3xTF32 131, 1011; f16 weights in 5 passes (6 since then) 143, 1051, by 3xTF32 134, 1030. */
static const worse_range worse[] = {{where_f32_on_units | where_both_in_terms, .why = "six passes take longer than 3xTF32"},
                                    {where_f32_on_units, .most_rows = 255, .why = "three passes by fewer than 256 rows were never timed"},
                                    {0}};

static const char *obstacle(const problem *p) { return obstacle_to_16_bit_boxes(p, layer_wgmma, weights_in_terms); }

/* Rows of 128 bytes of B per stage: one per column of the result, or, if B is [K, N], one per 64 columns and k (gemm_ws<...>::b_bytes). */
static int stage_columns(const problem *p, const gemm_warpgroups_tile *x)
{
    return matmul_is_across(p->product) ? (x->n + 63) / 64 * 64 : x->n;
}

/* Sets as many stages as shared memory holds, at most 8. */
static void fill(const problem *p, ir_tile *t)
{
    gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    x->stages = (shared_room_of_phase(p) - 1024 - x->smem_epilogue * smem_epilogue_bytes) / ((x->m + stage_columns(p, x)) * 128 + 16);
    if (x->stages > 8) x->stages = 8;
}

/* True if rows of the result begin at multiples of 4 or 8 bytes, but not of 16. */
static bool has_unaligned_rows(const problem *p)
{
    const int unit = results_unit(p);
    return unit != gemm_vector && unit != 1;
}

/* True if staging results in shared memory takes less time than storing registers directly. For unaligned rows it does not if K is long:
 * direct stores of 4 bytes at a time then cost less than the incomplete pieces at both ends of staged rows. But they reach only 0.6 TB/s
 * (H200), so with short K they take longer than the products. Rows at multiples of 2 bytes only are staged, as they would be stored element
 * by element. H200, us, directly and staged: M = K = 2048, N = 5468: 88.2, 89.9, with a gelu 95, 106; N = 5466: 93.9, 90.7, with a gelu
 * 102, 107; N = 5467: 128, 97; 5552x19186x64 350, 151; 1504x5722x128 27.1, 16.0; 39 matmuls 5440x3874x96 2751, 1249. */
static bool staging_pays(const problem *p)
{
    enum { short_k = 1024 };
    return !has_unaligned_rows(p) || product_length(p) <= short_k;
}

static long long row_tiles(const problem *p) { return (problem_rows(p) + warpgroup_rows - 1) / warpgroup_rows; }

/* True if two row tiles may form a cluster. Not for a linear with an odd number of row tiles: the second tile of a cluster would have no
 * rows, which was never timed for linears. */
static bool takes_pairs(const problem *p)
{
    return p->product->kind == op_matmul || row_tiles(p) % 2 == 0;
}

/* The shortest K with which own_tiles pays for long epilogues: with shorter K these take longer than the products. H200, 2552x7808x640 with
 * five functions 75.7 us without, 76.6 with own_tiles. */
enum { least_length = 768 };

/* True if own_tiles was timed for such products and is not slower, and compiles fast: it emits the epilogue twice, for both halves of a
 * tile's rows. With own_tiles, products whose rows begin in the middle of a sector take up to 1.5 times as long (H200: 2565x1888x2328 42.3
 * us, without 35.2), matmuls of one k tile 1.03 times, staged results of unaligned rows 1.07 to 1.2 times (1504x5722x128 19.0 us, without
 * 16.0). */
static bool may_own_tiles(const problem *p)
{
    enum { most_ops = 12, most_of_short_k = 6 };
    const ir_op *product = p->product;
    if (product_passes(p, weights_in_terms) > 1 || !lies_at_sectors(product->inputs[0])) return false;
    if (has_unaligned_rows(p) && staging_pays(p)) return false;
    if (product->kind == op_matmul && (!lies_at_lines(product->inputs[1]) || product_length(p) <= length)) return false;
    return p->phase->op_count <= (product_length(p) < least_length ? most_of_short_k : most_ops) && !problem_sums_rows(p);
}

static bool takes_rounds(const problem *p, int m, int n)
{
    return product_matrices(p) * ((problem_rows(p) + m - 1) / m) * column_tiles(p, n) > p->device->units;
}

/* Makes x the tile with own_tiles of this shape. If it is predicted to take less than *least seconds, and more than one round, it becomes
 * *best. */
static void try_own_shape(const problem *p, ir_tile x, int m, int n, int cluster, double *least, ir_tile *best)
{
    gemm_warpgroups_tile *t = &x.gemm_warpgroups;
    t->m = m, t->n = n, t->cluster = cluster, t->own_tiles = 1;
    fill(p, &x);
    if (!takes_rounds(p, m, n)) return;
    const double seconds = program_seconds(p, &any_epilogue, &x);
    if (seconds < *least) *best = x, *least = seconds;
}

/* Tiles of linears whose epilogue computes. Results are stored from registers, as stores overlap with products of the other warpgroup. Of
 * 25 linears with gelu, silu(gate) * up, residuals and others, timed on an H200, 22 took 1 to 30 % less time with the tile chosen from
 * these, 3 took 0 to 1 % more (us, without and with: 3968x9836x2368 319, 290; 1126x8960x4096 143, 130; 2688x11200x3520 402, 334;
 * 600x16384x4096 157, 130; 6400x5232x1024 181, 139). With short K they took up to 14 % more (6528x1152x576 35.6, 40.6). */
static void try_own_tiles_of_computing(const problem *p, ir_tile x, double *least, ir_tile *best)
{
    enum { wide = 160, widest = 256 };
    const bool halves_in_pairs = (problem_rows(p) + warpgroup_rows / 2 - 1) / (warpgroup_rows / 2) % 2 == 0;
    if (product_length(p) < least_length) return;
    x.gemm_warpgroups.smem_epilogue = 0;
    for (int cluster = 1; cluster <= (takes_pairs(p) ? 2 : 1); cluster++) try_own_shape(p, x, warpgroup_rows, wide, cluster, least, best);
    if (halves_in_pairs) try_own_shape(p, x, warpgroup_rows / 2, widest, 2, least, best);
}

/* Tries own_tiles (each warpgroup has tiles of its own). They are chosen if clearly predicted faster, in launches of more than one round.
 * Staged tiles wider than 128 columns took longer if the epilogue does more than round, tiles of 128 columns if rows of A do not begin at
 * L2 lines. H200, us, without and with own_tiles: 4096x4096x1024 57.0, 52.3; 8192x4096x512 62.7, 54.3; 2554x8504x256 29.5, 27.2;
 * 1113x7824x944 29.1, 28.2; 4096x4096x1024 with gelu 65.0, 57.6, with a residual 66.3, 61.4; 9 matmuls 1024x1024x256 15.7, 12.7; but with
 * unaligned rows 8097x1504x848 34.4, 36.0. */
static void try_own_tiles(const problem *p, ir_tile *t)
{
    enum { narrowest = 128, widest = 192, most_cluster = 2 };
    const double clearly = 0.97;
    const bool linear = p->product->kind != op_matmul, wide = linear && product_is_rounded(p);
    const bool at_lines = a_begins_at_lines(p, weights_in_terms);
    if (p->ir->feeds || t->gemm_warpgroups.split_k > 1 || !may_own_tiles(p)) return; /* K may be split for accuracy */
    const ir_tile whole = *t;
    double least = clearly * program_seconds(p, &any_epilogue, t);
    for (int n = at_lines ? narrowest : narrowest + 32; n <= (wide ? widest : narrowest); n += 32)
        for (int cluster = 1; cluster <= (takes_pairs(p) && at_lines ? most_cluster : 1); cluster++)
            try_own_shape(p, whole, warpgroup_rows, n, cluster, &least, t);
    if (linear && at_lines && !product_is_rounded(p)) try_own_tiles_of_computing(p, whole, &least, t);
}

static void tile_of_both_warpgroups(const problem *p, const program *by, ir_tile *t)
{
    /* panels: widths if B is [K, N], whole boxes of 64 columns; at other widths neighbouring tiles would load parts of the same lines */
    static const int widths[] = {256, 224, 192, 160, 128, 96, 64}, panels[] = {256, 192, 128, 64};
    const bool across = matmul_is_across(p->product);
    t->gemm_warpgroups = (gemm_warpgroups_tile){.m = warpgroup_rows,
                                                .k = length,
                                                .threads = ws_thread_count(p),
                                                .group_m = 16,
                                                .smem_epilogue = !staging_obstacle(p, false) && staging_pays(p)};
    const size_t count = across ? sizeof panels / sizeof *panels : sizeof widths / sizeof *widths;
    const ws_search search = {across ? panels : widths, (int)count, takes_pairs(p) && !p->ir->feeds ? 2 : 1, 0.97, 0, 256, fill};
    ws_choose(p, by, &search, t);
}

/* False if own_tiles was not timed for such an epilogue, or would compile slowly, as it emits the epilogue twice. Nor for an epilogue that
 * computes unaligned rows: 2032x4502x768 with a bias and two ops took 38.4 us, without own_tiles 34.8. */
static bool takes_own_tiles(const problem *p)
{
    enum { most_ops = 12 };
    const bool slow = has_unaligned_rows(p) && !product_is_rounded(p);
    return p->phase->op_count <= most_ops && !problem_sums_rows(p) && !slow;
}

/* Tries own_tiles of all sizes. A tile that is predicted to take less than *least seconds becomes *best. */
static void try_own_tiles_of_all_sizes(const problem *p, double *least, ir_tile *best)
{
    enum { most_results = 128 * 192, step = 32 };
    const bool short_k = !product_is_rounded(p) && product_length(p) < least_length; /* see least_length */
    const bool stages_results = !staging_obstacle(p, false), pairs = takes_pairs(p) && product_length(p) > length;
    for (int m = warpgroup_rows / 2; m <= warpgroup_rows; m += warpgroup_rows / 2)
        for (int n = 64; n <= 256 && m * n <= most_results; n += step)
            for (int cluster = 1; cluster <= (pairs ? 2 : 1); cluster++)
                for (int staged = 0; staged <= stages_results; staged++) {
                    ir_tile x = *best;
                    gemm_warpgroups_tile *own = &x.gemm_warpgroups;
                    own->m = m, own->n = n, own->cluster = cluster, own->split_k = 1, own->own_tiles = 1, own->smem_epilogue = staged;
                    fill(p, &x);
                    if (short_k && takes_rounds(p, m, n)) continue;
                    const double seconds = program_seconds(p, &gemm_wgmma_program, &x);
                    if (seconds < *least) *best = x, *least = seconds;
                }
}

/* Tries tiles by the costs of gen/program/bits16.h. Chosen if clearly predicted faster than t. */
static void try_16_bit_costs(const problem *p, ir_tile *t)
{
    double least = clearly_16_bit(p) * program_seconds(p, &gemm_wgmma_program, t);
    ir_tile x = *t;
    tile_of_both_warpgroups(p, &gemm_wgmma_program, &x);
    const bool splits_for_digits = x.gemm_warpgroups.split_k > 1 && product_length(p) > longest_sum(p);
    const double seconds = program_seconds(p, &gemm_wgmma_program, &x);
    if (seconds < least) *t = x, least = seconds;
    if (!splits_for_digits && takes_own_tiles(p)) try_own_tiles_of_all_sizes(p, &least, t);
}

/* In a launch with a loading warp, tries tiles of 64 rows, whose warpgroups each compute half of the columns. They have twice as many
 * workgroups as tiles of 128 rows, or read less than those of few columns. */
static void try_64_rows(const problem *p, ir_tile *t)
{
    static const int widths[] = {256, 128, 64};
    if (!p->ir->feeds || p->product->kind == op_matmul || t->gemm_warpgroups.split_k > 1) return;
    double least = program_seconds(p, &gemm_wgmma_program, t);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        ir_tile x = *t;
        x.gemm_warpgroups.m = warpgroup_rows / 2, x.gemm_warpgroups.n = widths[i], x.gemm_warpgroups.split_k = 1;
        fill(p, &x);
        const double seconds = program_seconds(p, &gemm_wgmma_program, &x);
        if (seconds < least) *t = x, least = seconds;
    }
}

static void usual_tile(const problem *p, ir_tile *t)
{
    tile_of_both_warpgroups(p, &any_epilogue, t);
    try_64_rows(p, t);
    try_own_tiles(p, t);
}

static void defaults(const problem *p, ir_tile *t)
{
    usual_tile(p, t);
    if (has_16_bit_costs(p)) try_16_bit_costs(p, t);
}

static double usual_seconds(const problem *p)
{
    ir_tile t = {.program = program_gemm_wgmma};
    if (!has_16_bit_costs(p) || product_is_rounded(p)) return 0;
    usual_tile(p, &t);
    return program_seconds(p, &any_epilogue, &t);
}

static bool gives(unsigned given, const char *field) { return given >> tile_field_find(program_gemm_wgmma, field) & 1; }

/* Slices of K need tiles of 128 rows that both warpgroups compute. */
static void make_room(const problem *p, unsigned given, ir_tile *t)
{
    gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    if (x->split_k == 1) return;
    if (!gives(given, "split_k")) {
        if (x->own_tiles || x->m < warpgroup_rows) x->split_k = 1;
        return;
    }
    if (!gives(given, "own_tiles")) x->own_tiles = 0;
    if (!gives(given, "m")) x->m = warpgroup_rows;
    if (!gives(given, "stages")) fill(p, t);
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    const gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    if (x->n % 32) return "n must be a multiple of 32";
    if (x->smem_epilogue && staging_obstacle(p, false)) return arena_printf(p->a, "smem_epilogue=1: %s", staging_obstacle(p, false));
    return ws_illegal(p, t);
}

static long long shared_bytes(const problem *p, const ir_tile *t)
{
    return ws_shared_bytes(t, stage_columns(p, &t->gemm_warpgroups));
}

/* First without own_tiles, then half as many columns. */
static bool smaller(const problem *p, ir_tile *t)
{
    if (t->gemm_warpgroups.own_tiles) {
        tile_of_both_warpgroups(p, &gemm_wgmma_program, t);
        return true;
    }
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
                                    .usual_seconds = usual_seconds,
                                    .defaults = defaults,
                                    .make_room = make_room,
                                    .illegal = illegal,
                                    .shared_bytes = shared_bytes,
                                    .smaller = smaller,
                                    .geometry = ws_geometry,
                                    .partials = ws_partials,
                                    .scratch = ws_scratch,
                                    .members = members,
                                    .weights = weights_in_terms,
                                    .several_passes = true,
                                    .takes_sums_of_all = true,
                                    .finishes_apart = true,
                                    .rolls = true,
                                    .reads_columns_of_a = true,
                                    .aligned_rows = true};
