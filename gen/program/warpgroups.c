/* Tiles and costs of products on wgmma. Contract: gen/program/warpgroups.h. Times are of an H200; sizes of products are M x N x K. */
#include "gen/program/warpgroups.h"
#include "gen/program/staging.h"
#include <math.h>

enum { launch_start = 1800 /* cycles */, most_results = 128 * 192 /* per tile with own_tiles */ };

/* True if rows of tiles are columns of the result, and columns its rows (templates/gemm/gemm_ws_split.h). */
static bool swaps(const problem *p)
{
    return p->product->inputs[0]->type == dtype_f32 && operand_in_terms(p) == operand_a;
}

static long long rows_of_tiles(const problem *p) { return swaps(p) ? p->packed_n : problem_rows(p); }
static long long columns_of_tiles(const problem *p) { return swaps(p) ? problem_rows(p) : p->packed_n; }

int ws_thread_count(const problem *p) { return p->ir->feeds ? 256 : warpgroup_threads; }

static void set_tile(ir_tile *t, int n, int split, int cluster)
{
    t->gemm_warpgroups.n = n, t->gemm_warpgroups.split_k = split, t->gemm_warpgroups.cluster = cluster;
}

/* Workgroups of a launch without split-K, whose clusters have `cluster` row tiles. */
static long long tiles_of(const problem *p, int m, long long n, int cluster)
{
    const long long rows = (long long)m * cluster, row_tiles = (rows_of_tiles(p) + rows - 1) / rows * cluster;
    return product_matrices(p) * row_tiles * ((columns_of_tiles(p) + n - 1) / n);
}

enum { most_parts = 128 }; /* slices of K: each thread of a warpgroup waits for one (gemm_ws<...>::take) */

/* The next split_k to try: every number up to 16, then steps of an eighth, and `last`. */
static int next_split(int split, int last)
{
    const int next = split + (split < 16 ? 1 : split / 8);
    return next < last || split >= last ? next : last;
}

/* Tries to split K into slices of at least 4 k tiles that all run at once. A tile that is predicted to take less than *least seconds
 * becomes *best. */
static void try_parts(const problem *p, const program *by, ws_fill *fill, int n, int cluster, double *least, ir_tile *best)
{
    enum { least_k_tiles = 4 };
    ir_tile x = *best;
    const int k = best->gemm_warpgroups.k;
    const long long k_tiles = (product_length(p) + k - 1) / k, tiles = tiles_of(p, best->gemm_warpgroups.m, n, cluster);
    const long long room = tiles > 0 ? p->device->units / tiles : 0, slices = k_tiles / least_k_tiles, fit = room < slices ? room : slices;
    const int last = fit < most_parts ? (int)fit : most_parts;
    for (int split = 2; split <= last; split = next_split(split, last)) {
        set_tile(&x, n, split, cluster);
        fill(p, &x);
        const double seconds = program_seconds(p, by, &x);
        if (seconds < *least) *best = x, *least = seconds;
    }
}

/* For accuracy: splits K into slices no longer than `longest`, but into 16 at most. widest: of a tile that is split. */
static void cut_long(const problem *p, const program *by, ws_fill *fill, int widest, ir_tile *best)
{
    enum { most = 16 };
    const long long longest = by->weights == weights_in_terms ? longest_sum(p) : 32768;
    const long long parts = (product_length(p) + longest - 1) / longest;
    const gemm_warpgroups_tile x = best->gemm_warpgroups;
    if (parts <= x.split_k || x.split_k >= most) return;
    set_tile(best, x.n < widest ? x.n : widest, parts < most ? (int)parts : most, 1);
    fill(p, best);
}

static double seconds_of_whole(const problem *p, const program *by, ws_fill *fill, int n, int cluster, ir_tile *x)
{
    set_tile(x, n, 1, cluster);
    fill(p, x);
    return program_seconds(p, by, x);
}

/* Columns that the most loaded multiprocessor computes. */
static double columns_of_unit(const problem *p, int n)
{
    return ceil((double)tiles_of(p, warpgroup_rows, n, 1) / p->device->units) * n;
}

/* Chooses a width without split-K, and returns its predicted seconds. Under a power limit, many widths are predicted alike, within 1 %. Of
 * those, it takes the one with clearly the least work on the most loaded multiprocessor, since not every run is power-limited
 * (256x14336x4096 with tiles of 224 columns took 0.90 of the time with 256, 880x5824x880 with 160 took 0.95 of that with 192). If none has
 * clearly less, it takes the widest, which reads least. */
static double try_whole(const problem *p, const program *by, const ws_search *s, ir_tile *best)
{
    const double alike = 1.01;
    double seconds[16], least = 1e30;
    for (int i = 0; i < s->count; i++) {
        seconds[i] = seconds_of_whole(p, by, s->fill, s->widths[i], 1, best);
        least = fmin(least, seconds[i]);
    }
    int chosen = -1;
    for (int i = 0; i < s->count; i++)
        if (seconds[i] <= alike * least &&
            (chosen < 0 || columns_of_unit(p, s->widths[i]) < s->clearly * columns_of_unit(p, s->widths[chosen])))
            chosen = i;
    return seconds_of_whole(p, by, s->fill, s->widths[chosen], 1, best);
}

static void try_cluster(const problem *p, const program *by, const ws_search *s, int cluster, double *least, ir_tile *best)
{
    const double clearly = 0.99;
    for (int i = 0; i < s->count; i++) {
        ir_tile x = *best;
        const double seconds = seconds_of_whole(p, by, s->fill, s->widths[i], cluster, &x);
        if (seconds < clearly * *least) *best = x, *least = seconds;
    }
}

/* True if the product sums the squares of its rows in a launch with a loading warp: each slice of K would have a part of the sums. */
static bool sums_rows_of_list(const problem *p) { return p->ir->feeds && phase_input_sum(p->phase); }

void ws_choose(const problem *p, const program *by, const ws_search *s, ir_tile *t)
{
    double least = try_whole(p, by, s, t);
    for (int cluster = 2; cluster <= s->most_cluster; cluster++) try_cluster(p, by, s, cluster, &least, t);
    least *= 0.9;
    for (int i = sums_rows_of_list(p) ? s->count : s->first_cut; i < s->count; i++)
        for (int cluster = 1; cluster <= s->most_cluster; cluster++) try_parts(p, by, s->fill, s->widths[i], cluster, &least, t);
    cut_long(p, by, s->fill, s->widest_cut, t);
}

/* Columns of B that a tile of n columns loads: if B is [K, N], whole boxes of 64. */
static double columns_loaded(const problem *p, int n)
{
    const ir_op *product = p->product;
    return matmul_is_across(product) && product->inputs[0]->type != dtype_f32 ? (n + 63) / 64 * 64 : n;
}

/* What a k tile of a matmul costs more if its operands' rows begin in the middle of a sector, or rows of B in the middle of an L2 line;
 * counted in rows of 128 bytes. Times in us, bf16: 4176x3080x3064 with B as [N, K] 190, in clusters of 2, which load half of B each, 135,
 * with K = 3056 133; 4176x3064x3072 with B as [K, N] 140, with N = 3056 106. A launch of one round has no loads of other rounds that
 * would fill the gaps: 6 matrices of 1408x448x7176 with tiles of 224 columns took 134, where `more` = 0.4 predicts 82. */
static double split_sectors(const problem *p, const gemm_warpgroups_tile *x, bool one_round)
{
    const double more = one_round ? 1.3 : 0.4, line = one_round ? 0 : 0.3;
    const ir_op *product = p->product;
    if (product->kind != op_matmul) return 0;
    const ir_value *a = product->inputs[swaps(p) ? operand_b : operand_a], *b = product->inputs[1];
    if (a->type == dtype_f32) return more * !lies_at_sectors(a) * x->m; /* terms are aligned */
    const bool at_lines = lies_at_lines(b) && (!matmul_is_across(product) || x->n % 64 == 0);
    const double of_b = !lies_at_sectors(b) ? more : at_lines ? 0 : line;
    return more * !lies_at_sectors(a) * x->m + of_b * columns_loaded(p, x->n) / x->cluster;
}

/* How bytes of weights are counted. Constants of 3xTF32 (operands = 2) were fitted with weights in their own dtype, not in two terms. */
static weight_numbers numbers_of(int operands) { return operands > 1 ? weights_widened : weights_in_terms; }

/* Bytes read from L2 per byte of A: more than 1 if rows do not begin at 128-byte lines, except in a launch of one round, whose workgroups
 * read the same lines at the same time. */
static double lines_of_row(const problem *p, const cost_descriptor *d, int operands)
{
    const double two_lines = operands > 1 ? 1.7 : 1.2;
    const bool aligned = swaps(p) ? lies_at_lines(p->product->inputs[1]) : a_begins_at_lines(p, numbers_of(operands));
    return d->groups > p->device->units && !aligned ? two_lines : 1;
}

/* Rows of A in a k tile, weighted by the time to load them. Rows beyond M, which TMA fills with zeros, cost more than those that are read.
 * In a launch of one round, all rows cost more if they do not begin at lines. Fitted to 63 16-bit products of 65 to 3000 rows. */
static double rows_taken(const problem *p, const cost_descriptor *d, int m, int operands)
{
    const bool rounds = d->groups > p->device->units, two = operands == 1 && !rounds && !a_begins_at_lines(p, numbers_of(operands));
    const double rows = (double)rows_of_tiles(p), tiles = ceil(rows / m), beyond = tiles * m - rows;
    const double fill = two ? 1 : 2.5, two_lines = two ? 1.4 : 1;
    return two_lines * (m + fill * beyond / (rounds ? tiles : 1));
}

/* Cycles that reducing the slices of a tile through a tree takes (templates/gemm/part_tree.h). */
static double tree_cycles(const gemm_warpgroups_tile *x)
{
    enum { sum_column = 12 }; /* cycles per column of a slice */
    return split_k_cycles(x->split_k, sum_column * (double)x->n);
}

/* Cycles if each slice reduces a share of the tile instead (templates/gemm/k_shares.h). */
static double share_cycles(const gemm_warpgroups_tile *x)
{
    enum { meeting = 8500, column = 35, slice = 10 }; /* once, per column, per slice */
    return meeting + column * (double)x->n + slice * (double)x->split_k;
}

bool ws_shares(const problem *p, const gemm_warpgroups_tile *x)
{
    enum { flat = 8 }; /* the most slices with which the tree has one level */
    if (p->ir->feeds) return false;
    return x->split_k > 1 && !problem_sums_rows(p) && !swaps(p) && (x->split_k > flat || share_cycles(x) < tree_cycles(x));
}

double ws_meeting_cycles(const problem *p, const gemm_warpgroups_tile *x) { return ws_shares(p, x) ? share_cycles(x) : tree_cycles(x); }

/* True for a launch of one round whose workgroups each load their own weights, with rows that do not begin at lines. Of 118 tiles of
 * products of 65 to 3000 rows only these took longer than predicted, 1.05 to 1.4 times (119x7152x776 with tiles of 64 columns 9.6 us,
 * predicted 6.8). */
static bool loads_weights_alone(const problem *p, const gemm_warpgroups_tile *x, const cost_descriptor *d, int operands)
{
    const bool one_round = d->groups <= p->device->units;
    return operands == 1 && p->product->kind != op_matmul && x->cluster == 1 && x->split_k == 1 && one_round &&
           !a_begins_at_lines(p, numbers_of(operands));
}

/* The cost with own_tiles. One warpgroup stores results while the other multiplies, so a tile takes the longest of its loads, its products,
 * and half of what products and stores take together; only the last stores overlap with nothing. Fitted to 59 tiles of 13 linears of 725 to
 * 8192 rows that take more than one round: the tile that the fit chooses takes 0.3 % longer than the fastest one timed. */
static void own_tiles_cost(const problem *p, const gemm_warpgroups_tile *x, double k_tiles, cost_descriptor *d)
{
    const bool computes = p->product->kind != op_matmul && !product_is_rounded(p);
    const double of_a_result = computes ? 0.2 : 0.1225, cluster_start = 2480; /* cycles; 0.2: orders 24 launches as they were timed */
    const double fill = 3.56, of_columns = x->cluster > 1 ? 0.53 : 0.61; /* costs of a row beyond M and of a column; of a row: 1 */
    const bool at_lines = a_begins_at_lines(p, weights_in_terms);
    const double rows = (double)rows_of_tiles(p), tiles = ceil(rows / x->m), results = (double)x->m * x->n;
    const double of_rows = x->m * (at_lines ? 1 : 0.9) + fill * (tiles * x->m - rows) / tiles;
    const double products = k_tiles * results / 32, stores = of_a_result * results; /* cycles */
    d->products_share = at_lines ? 0.75 : 0.71;
    d->taken = k_tiles * 128 * (of_rows + of_columns * columns_loaded(p, x->n));
    d->chain_cycles = (products / d->products_share + stores) / 2;
    d->end_cycles = 0, d->start_cycles = launch_start + stores + (x->cluster > 1 ? cluster_start : 0);
}

/* Nothing overlaps with the epilogue and the first loads. The last slice of split-K waits until the others have stored their sums. The
 * workgroups of a cluster start and end together. */
void ws_cost(const problem *p, const ir_tile *t, int operands, cost_descriptor *d)
{
    /* cycles: of the epilogue once, per column, and per column more without smem_epilogue; of the launch in addition, if there are clusters
     * and if loads_weights_alone() */
    enum { whole_end = 900, column_end = 12, unstaged_column = 4, cluster_start = 1500, start_alone = 1000 };
    /* With few tiles, too few workgroups request the same data at the same time for a gain in L2 (256x256x524288: tiles of 64 columns in 16
     * slices request 6 TB/s; of 128 columns in 33 slices, or 256 in 66, 4.9 TB/s; clusters of two by 256 request a third less in 0.84 of
     * the time). */
    const double few = 8, apart = 2.4; /* tiles; factor of the bytes requested from L2 */
    const double drawn = 0.83, share = 0.85; /* shares of DRAM bandwidth (loads are not always in time) and of a unit's product rate */
    const double columns_alone = 1.3; /* factor of the cost of columns if loads_weights_alone() */
    const gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    const weight_numbers numbers = numbers_of(operands);
    const bool swapped = swaps(p);
    const int cut_rows = swapped ? x->n : x->m * x->cluster, cut_columns = swapped ? x->m : x->n;
    product_cost(p, &(product_cut){cut_rows, cut_columns, x->k, x->split_k, x->group_m / x->cluster, x->cluster, numbers}, d);
    const double k_tiles = ceil((double)((product_length(p) + x->k - 1) / x->k * product_passes(p, numbers)) / x->split_k),
                 k_tile_bytes = 128.0 * (x->m + operands * x->n);
    d->groups *= x->cluster, d->memory /= x->cluster, d->asked /= x->cluster, d->products /= x->cluster, d->others /= x->cluster;
    d->matrix = true, d->lockstep = true, d->memory_share = drawn, d->products_share = share;
    d->ahead = x->stages * k_tile_bytes, d->streamed = k_tiles * k_tile_bytes;
    const double split = split_sectors(p, x, d->groups <= p->device->units), columns = columns_loaded(p, x->n);
    d->asked += k_tiles * 128 * ((lines_of_row(p, d, operands) - 1) * x->m + split);
    if (x->split_k > 1 && d->groups <= few * x->split_k) d->asked *= apart;
    const bool alone = loads_weights_alone(p, x, d, operands);
    d->taken = k_tiles * 128 * (rows_taken(p, d, x->m, operands) + operands * columns * (alone ? columns_alone : 1) + split);
    d->end_cycles = whole_end + (x->smem_epilogue ? column_end : column_end + unstaged_column) * (double)x->n;
    d->end_cycles += ws_meeting_cycles(p, x);
    d->start_cycles = launch_start + (x->cluster > 1 ? cluster_start : alone ? start_alone : 0);
    if (x->own_tiles) own_tiles_cost(p, x, k_tiles, d);
}

const char *ws_illegal(const problem *p, const ir_tile *t)
{
    const gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    if (x->split_k > (product_length(p) + x->k - 1) / x->k) return "each slice of split-K must have at least one k tile";
    if (x->group_m % x->cluster) return "cluster must divide group_m";
    if (x->threads != ws_thread_count(p)) return arena_printf(p->a, "threads must be %d", ws_thread_count(p));
    if (p->ir->feeds && (x->cluster > 1 || x->own_tiles)) return "cluster must be 1 and own_tiles 0 in a launch of several phases";
    if (sums_rows_of_list(p) && x->split_k > 1) return "split_k must be 1 where rows are summed";
    if (p->ir->feeds && x->m == warpgroup_rows / 2)
        return x->n % 64 || x->split_k > 1 || p->product->kind == op_matmul ? "m=64 needs a linear, n in steps of 64 and split_k=1" : NULL;
    if (!x->own_tiles) return x->m == warpgroup_rows ? NULL : "m must be 128, or 64 with own_tiles=1";
    if (x->split_k > 1) return "split_k must be 1 with own_tiles=1; own_tiles=0 allows more";
    if (x->m != warpgroup_rows && x->m != warpgroup_rows / 2) return "m must be 64 or 128";
    return x->m * x->n > most_results ? "m * n must be at most 24576 with own_tiles=1" : NULL;
}

/* ws_memory<...>::bytes of templates/frame/frame_ws.h */
long long ws_shared_bytes(const ir_tile *t, int columns)
{
    const gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    const long long stage = (x->m + (long long)columns) * 128;
    return 1024 + x->stages * stage + 16ll * x->stages + (x->smem_epilogue ? smem_epilogue_bytes : 0);
}

void ws_geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    const gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    to->cluster = x->cluster;
    to->multiple = extent_number(x->cluster);
    to->resident = 1;
    if (swaps(p)) products_geometry(p, x->n, x->m, to);
    else products_geometry(p, x->m * x->cluster, x->n, to);
    to->column_tiles *= x->split_k;
}

int ws_partials(const problem *p, const ir_tile *t)
{
    const gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    const bool halves = x->m == warpgroup_rows / 2 && !x->own_tiles; /* each warpgroup sums its own columns */
    return column_tiles(p, x->n) * (halves ? 2 : 1);
}

/* The rows of all row tiles of all matrices, or some more. */
static extent rows_of_whole_tiles(const problem *p, int tile_rows)
{
    tile_extents x = extents_start(p);
    const position at = p->phase->ops[0]->at;
    products_geometry(p, tile_rows, packed_granule, &x);
    return extent_multiply(p->a, at, x.multiple, extent_add(p->a, at, x.rows, extent_number(tile_rows - 1)));
}

/* Floats of workspace. For each of its split_k slices of K, a tile has two slices of memory, each the 64 * n floats of a warpgroup. They
 * are counted per row, as M may be known at launch only. */
extent ws_scratch(const problem *p, const ir_tile *t)
{
    const gemm_warpgroups_tile *x = &t->gemm_warpgroups;
    if (x->split_k <= 1) return extent_number(0);
    const bool swapped = swaps(p);
    const int tile_rows = swapped ? x->n : warpgroup_rows * x->cluster, tile_columns = swapped ? warpgroup_rows : x->n;
    const extent rows = rows_of_whole_tiles(p, tile_rows);
    const long long slices = x->cluster * 2 * (warpgroup_rows / 2 * (long long)x->n + slice_head);
    const long long of_a_row = (slices + tile_rows - 1) / tile_rows;
    return extent_multiply(p->a, p->phase->ops[0]->at, rows, extent_number(column_tiles(p, tile_columns) * x->split_k * of_a_row));
}
