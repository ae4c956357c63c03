/* Products of many rows on wgmma with swapped operands. In: a product. Out: a tile, by the cost model
 * (gen/base/cost.h), and the descriptor of a launch with it. Numbers are fitted to tiles of products of 65 to 3000 rows, timed in chains of
 * launches on an H200 (docs/performance.md). */
#include "gen/program/swap_ab.h"
#include <math.h>

bool swap_ab_many_rows(const problem *p)
{
    enum { longest = 32768 }; /* the longest K that was timed */
    if (problem_product(p)->kind == op_matmul) return true; /* it has no weights to load before the previous launch has ended */
    return problem_rows(p) > (a_begins_at_lines(p, weights_as_rows) || product_length(p) > longest ? 128 : 64);
}

/* ---- the cost of a launch */
static long long clusters_of(const problem *p, const gemm_swap_ab_tile *x)
{
    const long long rows = (long long)x->m * x->cluster_m;
    return product_matrices(p) * ((problem_rows(p) + rows - 1) / rows) * ((column_tiles(p, x->n) + x->cluster - 1) / x->cluster);
}

static bool columns_of_a(const problem *p) { return problem_product(p)->attributes.transpose_a; }

/* What loading a byte of rows costs a unit, in bytes of weights. Weights always begin at an L2 line; for rows that do not, 128 bytes take
 * two lines. For launches of one round, the cost model assumes an L2 gain from workgroups that walk K in lockstep (cost_of()). Rows do not
 * have this gain, and without multicast workgroups drift apart the more the longer K is. */
static double bytes_for_rows(const problem *p, const gemm_swap_ab_tile *x, bool one_round, double length)
{
    const double drift = 0.3 / 5000, of_two = 0.71, of_four = 0.46;
    const bool aligned = columns_of_a(p) ? x->m % 64 == 0 && lies_at_lines(problem_product(p)->inputs[0])
                                         : a_begins_at_lines(p, weights_as_rows);
    const double alone = one_round ? aligned ? 1.28 : 2.3 : aligned ? 1 : 1.55;
    if (x->cluster == 1) return alone * (one_round ? 1 + drift * length : 1);
    return alone * (x->cluster == 2 ? of_two : of_four);
}

/* The same for columns: weights, or B of a matmul, whose rows may not begin at L2 lines either. */
static double bytes_for_columns(const problem *p, bool one_round)
{
    const double of_weights = 0.95;
    const ir_op *product = problem_product(p);
    if (product->kind != op_matmul || lies_at_lines(product->inputs[1])) return of_weights;
    return one_round ? 1.8 : 1.55;
}

/* Columns that workgroups multicast (share_columns()) count as if each workgroup loaded them, because nothing was fitted to multicast
 * columns. Beyond 512 rows only an epilogue that just stores was timed: others are assumed to need twice the cycles, since nothing overlaps
 * them. Up to 512 rows, gates and residuals were timed (H200, us, predicted with these cycles and measured: 107x19296x4096 45, 44;
 * 207x19136x3584 54, 51; 318x22528x4096 109, 99). */
void swap_ab_cost(const problem *p, const gemm_swap_ab_tile *x, cost_descriptor *d)
{
    enum { start = 2250, cluster_start = 2150, end = 600, between = 4000, meeting = 7600 };
    /* without loads ahead of the launch, and with a warp whose loads wait for each k tile's products, storing results hardly overlaps with
     * anything (25 matmuls) */
    const bool exposed = problem_product(p)->kind == op_matmul && (x->m <= swap_ab_rows_beside_a_warp || x->row_stages < 3);
    const bool computes = p->phase->op_count > 1, timed = problem_rows(p) <= 512;
    const double rate = x->m > swap_ab_rows_beside_a_warp ? 0.83 : 0.745, waits = 6.6,
                 of_a_result = (computes ? timed ? 0.2 : 0.34 : 0.17) + (exposed ? 0.35 : 0),
                 of_a_part = 1.45 / 38400;
    const double memory = 0.95, memory_of_two = 0.85, asked = 0.8;
    product_cost(p, &(product_cut){x->m, x->n, x->k, x->split_k, 1, 1, weights_as_rows}, d);
    const double k_tiles = ceil(ceil((double)product_length(p) / x->k) / x->split_k), results = (double)x->m * x->n;
    const double k_bytes = k_tiles * x->k * swap_ab_element_bytes;
    const int columns = (x->n + 63) / 64 * 64, cluster = x->cluster * x->split_k;
    d->groups = (double)(clusters_of(p, x) * swap_ab_members(x) * x->split_k), d->per_unit = swap_ab_resident(p, x);
    const bool one_round = d->groups <= d->per_unit * p->device->units;
    d->matrix = true, d->lockstep = true, d->memory_share = d->per_unit > 1 ? memory_of_two : memory;
    d->products = 2.0 * x->m * columns * k_tiles * x->k, d->products_share = rate * x->m / (x->m + waits);
    const int loaded = swap_ab_rows_loaded(p, x);
    d->taken = k_bytes * (loaded * bytes_for_rows(p, x, one_round, k_tiles * x->k) + bytes_for_columns(p, one_round) * x->n);
    d->asked = asked * k_bytes * ((double)loaded / x->cluster + x->n);
    d->streamed = k_bytes * (loaded + x->n), d->ahead = (double)x->row_stages * x->k * swap_ab_element_bytes * (loaded + x->n);
    d->end_cycles = end + of_a_result * results;
    d->start_cycles = start + cluster_start * log2(cluster), d->round_cycles = between;
    d->tail = x->tail, d->tail_cycles = meeting * (1 + (x->tail - 1) * results * of_a_part);
}

/* ---- the choice */
typedef struct search {
    const problem *p;
    const program *by;
    gemm_swap_ab_tile *best;
    double least; /* seconds */
} search;

/* Clusters of four or more cannot be placed on every multiprocessor. */
static bool has_room(const problem *p, const gemm_swap_ab_tile *x, int together)
{
    const long long cluster = swap_ab_members(x) * x->split_k, workgroups = clusters_of(p, x) * cluster;
    const long long seats = (long long)p->device->units * together;
    return cluster < 4 || (together == 1 && workgroups * 11 <= seats * 10);
}

/* A lower bound of the time: tensor cores alone, at their peak. */
static double least_seconds(const problem *p, const gemm_swap_ab_tile *x)
{
    const double peak = p->device->rates[rate_products].of[dtype_bf16], columns = (x->n + 63) / 64 * 64;
    const double each = 2.0 * x->m * columns * (double)product_length(p) / x->split_k, units = p->device->units;
    const double workgroups = (double)(clusters_of(p, x) * swap_ab_members(x) * x->split_k);
    return peak > 0 ? each * (x->tail > 1 ? workgroups / units : ceil(workgroups / units)) * units / peak : 0;
}

/* Workgroups that multicast rows wait for each other's stages. Up to most_rows this costs more than it saves where split-K parts of a tile
 * wait, too, or where all workgroups run at once and may multicast weights instead (share_columns()). H200, us, clusters of 2 by columns
 * and by rows: 207x3584x9568 by 104x128 in 2 parts 39.7, 29.0; 318x4096x11264 by 80x128 62.3, 54.7; 107x4096x9648 by 56x64 42.6, 32.5. */
static bool waits_for_rows(const problem *p, const gemm_swap_ab_tile *x)
{
    enum { most_rows = 512 };
    if (x->cluster == 1 || problem_product(p)->kind == op_matmul || problem_rows(p) > most_rows) return false;
    return x->split_k > 1 || clusters_of(p, x) * swap_ab_members(x) <= p->device->units;
}

/* Blocked summation (gemm_swap_ab.h: folds) takes twice the registers. More stages than needed leave no shared memory in which the next
 * launch could begin (H200: 73x2640x944 by 32x64, 5.1 us with 8 stages and 5.9 with 14). */
static void try_tile(search *s, gemm_swap_ab_tile x, int together)
{
    enum { longest = 32768, most_rows_of_long_sums = 64, most_stages = 8 };
    const problem *p = s->p;
    const long long k_tiles = (product_length(p) + x.k - 1) / x.k;
    if (x.m > most_rows_of_long_sums && k_tiles * x.k > longest * x.split_k) return;
    if (loses_digits(p, x.split_k) || waits_for_rows(p, &x)) return;
    if (k_tiles < 2 * x.split_k * x.tail && x.split_k * x.tail > 1) return;
    if (x.m > swap_ab_rows_beside_a_warp && !swap_ab_registers_fit(&x, together)) return;
    if (!swap_ab_fill(p, together, &x) || swap_ab_resident(p, &x) < together) return;
    if (x.row_stages > most_stages) x.row_stages = most_stages;
    while (x.stages > x.row_stages && x.stages > most_stages) x.stages--;
    if (!swap_ab_sums_fit(p, &x)) return;
    if (!has_room(p, &x, together) || least_seconds(p, &x) >= s->least) return;
    ir_tile t = {.program = program_gemm_swap_ab, .gemm_swap_ab = x};
    const double seconds = program_seconds(p, s->by, &t);
    if (seconds < s->least) *s->best = x, s->least = seconds;
}

/* Tries split-K if tiles leave multiprocessors idle, and a tail if the last round does. */
static void try_splits(search *s, gemm_swap_ab_tile x)
{
    const long long units = s->p->device->units, workgroups = clusters_of(s->p, &x) * swap_ab_members(&x);
    const int most_split = problem_product(s->p)->kind == op_matmul && x.cluster == 1 ? 8 : 4;
    for (x.split_k = 1; x.split_k <= most_split && x.split_k * x.cluster <= most_split; x.split_k *= 2) {
        const long long all = workgroups * x.split_k;
        if (x.split_k == 1 || all <= units) try_tile(s, x, 1);
        if (all > units && (x.split_k == 1 || all <= 2 * units)) try_tile(s, x, 2);
    }
    x.split_k = 1;
    if (problem_product(s->p)->kind == op_matmul) return; /* no loads in flight between its tiles: tails cost 2 to 9 % (H200) */
    const long long left = workgroups % units;
    for (x.tail = 2; workgroups > units && left && x.tail <= 4 && left * x.tail <= units; x.tail++) try_tile(s, x, 1);
}

/* In a launch of one round, weights are multicast among four or two workgroups on adjacent row tiles: on an H200, 14 tiles took 0 to 16 %
 * less time than without multicast, two took 1 and 2 % more; a launch of two rounds took up to 7 % more. Not timed for matmuls, or with
 * rows that are multicast as well. */
static void share_columns(const problem *p, gemm_swap_ab_tile *x)
{
    enum { least_k_tiles = 8 };
    const long long row_tiles = (problem_rows(p) + x->m - 1) / x->m, workgroups = row_tiles * column_tiles(p, x->n) * x->split_k;
    if (problem_product(p)->kind == op_matmul || x->cluster > 1 || x->tail > 1 || workgroups > p->device->units) return;
    if (product_length(p) < (long long)least_k_tiles * x->k * x->split_k) return;
    for (x->cluster_m = 4; x->cluster_m > 1; x->cluster_m /= 2)
        if (row_tiles % x->cluster_m == 0 && x->cluster_m * x->split_k <= 8 && has_room(p, x, 1)) return;
}

/* Tries the smallest possible number of row tiles and the next ones, each with widths from the largest down. Clusters of narrow tiles, with
 * a single warpgroup that multiplies, take up to twice as long as predicted (H200, us: 318x4096x4096 by 160x64 in clusters of two 41, by
 * 80x64 54, by 80x128 26, and 21 by 160x128 split in two). */
bool swap_ab_choose(const problem *p, const program *by, gemm_swap_ab_tile *best)
{
    enum { most_m = 256, least_m = 16, row_tiles = 8, most_n = 256, least_n_of_clusters = 128 };
    search s = {p, by, best, 1e30};
    const long long rows = problem_rows(p), first = (rows + most_m - 1) / most_m;
    for (long long tiles = first; tiles < first + row_tiles; tiles++)
        for (int cluster = 1; cluster <= 2; cluster++) {
            const long long each = (rows + tiles - 1) / tiles, step = 8 * cluster, m = (each + step - 1) / step * step;
            if (m < least_m || m > most_m || (rows + m - 1) / m != tiles) continue;
            for (int n = most_n; n >= (cluster > 1 ? least_n_of_clusters : 64); n -= swap_ab_column_step_of(p))
                if (cluster == 1 || column_tiles(p, n) > 1)
                    try_splits(&s, (gemm_swap_ab_tile){.m = (int)m,
                                                       .n = n,
                                                       .k = 64,
                                                       .threads = swap_ab_threads((int)m, n),
                                                       .cluster = cluster,
                                                       .cluster_m = 1,
                                                       .split_k = 1,
                                                       .tail = 1});
        }
    if (s.least >= 1e30) return false;
    share_columns(p, best);
    return true;
}
