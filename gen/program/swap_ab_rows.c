/* Tiles of gemm_swap_ab for products of many rows. In: a product. Out: a tile, by the cost model (gen/base/cost.h), and the cost descriptor
 * of a launch with it. In comments, sizes of products are M x N x K and those of tiles m x n; times were measured on an H200. */
#include "gen/program/staging.h"
#include "gen/program/swap_ab.h"
#include <math.h>

bool swap_ab_many_rows(const problem *p)
{
    enum { longest = 32768 }; /* the longest K that was timed */
    if (p->product->kind == op_matmul) return true; /* gemm_swap_ab.c models weights that load while the previous launch still runs */
    return problem_rows(p) > (a_begins_at_lines(p, weights_as_rows) || product_length(p) > longest ? 128 : 64);
}

/* ---- the cost of a launch */
static bool columns_of_a(const problem *p) { return p->product->attributes.transpose_a; }

/* Constants of the cost of a launch, fitted to tiles timed in chains of launches on an H200. A launch of one round runs all its workgroups
 * at the same time. They then walk K in lockstep, for which cost_of() assumes more L2 bandwidth. Loads of rows gain less than it assumes:
 * one_round and drift make up for that. */
typedef struct fitted {
    /* cost of a loaded byte of A (cost_descriptor.taken) in launches of one round and of several, for rows that begin at L2 lines, at
     * sectors, elsewhere; drift: without multicast workgroups drift apart, which adds this share per 5000 of K in launches of one round */
    double one_round[3], rounds[3], drift[3];
    double rows_of_two, rows_of_four; /* factors of that cost if two or four workgroups multicast rows to each other */
    double rows_in_turn;              /* the factor if four workgroups take turns in loading rows */
    double of_split_sectors;          /* a further factor, in one round with multicast, for rows that begin in the middle of a sector */
    /* columns: cost of a loaded byte of weights, which begin at L2 lines; the others: its factors for multicast of weights */
    double columns_of_two, columns_of_four, columns;
    /* a tile of m rows reaches the share rate * m / (m + waits) of a unit's product rate; of_few: tiles whose rows a single warp loads */
    double rate, waits, rate_of_few, waits_of_few;
    double mixed; /* how much loads slow products down (rate_of()); 0: not at all */
    double memory, memory_of_two, asked; /* share of DRAM bandwidth with one and two workgroups per unit; factor of bytes requested of L2 */
    /* Cycles. start: of the launch; cluster_start: in addition, per doubling of the cluster; end: per workgroup; of_a_result: per result.
     * If results pass through shared memory, staged_end and of_a_staged replace the last two. of_a_part: per slice of split-K after the
     * first; between: two rounds; meeting: for reducing the parts of a tail's tile. */
    double start, cluster_start, cluster_start_in_turn, end, of_a_result, staged_end, of_a_staged, of_a_part, between, meeting;
} fitted;
/* Fitted to 600 tiles of matmuls, used for all products but those of of_rounded. */
static const fitted of_others = {.one_round = {1.28, 2.3, 2.3},
                                 .rounds = {1, 1.55, 1.55},
                                 .drift = {0.3, 0.3, 0.3},
                                 .rows_of_two = 0.71,
                                 .rows_of_four = 0.46,
                                 .rows_in_turn = 0.46,
                                 .of_split_sectors = 1,
                                 .columns_of_two = 1,
                                 .columns_of_four = 1,
                                 .columns = 0.95,
                                 .rate = 0.83,
                                 .waits = 6.6,
                                 .rate_of_few = 0.745,
                                 .waits_of_few = 6.6,
                                 .memory = 0.95,
                                 .memory_of_two = 0.85,
                                 .asked = 0.8,
                                 .start = 2250,
                                 .cluster_start = 2150,
                                 .cluster_start_in_turn = 2150,
                                 .end = 600,
                                 .of_a_result = 0.17,
                                 .staged_end = 600,
                                 .of_a_staged = 0.17,
                                 .between = 4000,
                                 .meeting = 7600};
/* For launches of one round of linears whose epilogue only rounds. Fitted to 436 tiles of 62 linears of 65 to 3000 rows: the tile that the
 * fit chooses takes 2 % longer than the fastest one timed. */
static const fitted of_rounded = {.one_round = {1, 0.97, 2.1},
                                  .drift = {0.17, 0.28, 0.17},
                                  .rows_of_two = 0.76,
                                  .rows_of_four = 0.77,
                                  .rows_in_turn = 0.46,
                                  .of_split_sectors = 0.88,
                                  .columns_of_two = 0.77,
                                  .columns_of_four = 0.38,
                                  .columns = 1.34,
                                  .rate = 0.84,
                                  .waits = 10,
                                  .rate_of_few = 0.88,
                                  .waits_of_few = 14.9,
                                  .mixed = 0.32,
                                  .memory = 0.99,
                                  .memory_of_two = 0.52,
                                  .asked = 1.16,
                                  .start = 1920,
                                  .cluster_start = 1420,
                                  .cluster_start_in_turn = 920,
                                  .end = 960,
                                  .of_a_result = 0.16,
                                  .staged_end = 1210,
                                  .of_a_staged = 0.055,
                                  .of_a_part = 640,
                                  .meeting = 7600};

/* True for a linear whose epilogue does nothing but round products to 16 bits. */
static bool is_rounded_linear(const problem *p) { return p->product->kind != op_matmul && product_is_rounded(p); }

static bool is_one_round(const problem *p, const gemm_swap_ab_tile *x)
{
    return swap_ab_workgroups(p, x) <= p->device->units * swap_ab_resident(p, x);
}

long long swap_ab_workgroups(const problem *p, const gemm_swap_ab_tile *x)
{
    return swap_ab_clusters(p, x) * swap_ab_members(x) * x->split_k;
}

double swap_ab_shared(int workgroups, double of_two, double of_four)
{
    return workgroups == 1 ? 1 : workgroups == 2 ? of_two : of_four;
}

bool swap_ab_stores_are_exposed(const problem *p, const gemm_swap_ab_tile *x)
{
    return p->product->kind == op_matmul && (x->m <= swap_ab_rows_beside_a_warp || x->row_stages < 3);
}

int swap_ab_beginning_of_rows(const problem *p, int m)
{
    const ir_value *a = p->product->inputs[0];
    if (columns_of_a(p)) return m % 64 == 0 && lies_at_lines(a) ? 0 : 2;
    return a_begins_at_lines(p, weights_as_rows) ? 0 : lies_at_sectors(a) ? 1 : 2;
}

/* Cost of a loaded byte of A; length: K of a slice. */
static double bytes_for_rows(const problem *p, const fitted *f, const gemm_swap_ab_tile *x, bool one_round, double length)
{
    const int beginning = swap_ab_beginning_of_rows(p, x->m); /* an index into fitted.one_round */
    const double alone = (one_round ? f->one_round : f->rounds)[beginning];
    if (x->cluster == 1) return alone * (one_round ? 1 + f->drift[beginning] / 5000 * length : 1);
    const double gain = one_round && beginning == 2 ? f->of_split_sectors : 1;
    if (x->in_turn) return alone * gain * f->rows_in_turn;
    return alone * gain * swap_ab_shared(x->cluster, f->rows_of_two, f->rows_of_four);
}

/* Cost of a loaded byte of weights, or of a matmul's B, whose rows need not begin at L2 lines. */
static double bytes_for_columns(const problem *p, const fitted *f, const gemm_swap_ab_tile *x, bool one_round)
{
    const double share = swap_ab_shared(x->cluster_m, f->columns_of_two, f->columns_of_four);
    const ir_op *product = p->product;
    if (product->kind != op_matmul || lies_at_lines(product->inputs[1])) return f->columns * share;
    return (one_round ? 1.8 : 1.55) * share;
}

/* Share of a unit's product rate that a tile reaches. Waiting for loads (f->mixed) lowers it. */
static double rate_of(const problem *p, const fitted *f, const gemm_swap_ab_tile *x, const cost_descriptor *d, bool one_round)
{
    const bool few = x->m <= swap_ab_rows_beside_a_warp;
    const double gain = one_round ? 1.6 : 1; /* lockstep_gain of gen/base/cost.c */
    const double peak = p->device->rates[rate_products].of[dtype_bf16] / p->device->units,
                 unit = p->device->numbers[number_unit_bandwidth].value * gain;
    const double alone = few ? f->rate_of_few * x->m / (x->m + f->waits_of_few) : f->rate * x->m / (x->m + f->waits);
    const double loads = unit > 0 && peak > 0 ? f->mixed * d->taken / unit / (d->products / peak) : 0;
    return alone / cbrt(1 + loads * loads * loads);
}

/* Sets *d to the cost of a launch with tile x. Epilogues with arithmetic were timed up to 512 rows, with gates and residuals (us, predicted
 * and measured: 107x19296x4096 45, 44; 207x19136x3584 54, 51; 318x22528x4096 109, 99). For more rows they are assumed to take twice the
 * cycles of rounding, since nothing overlaps them. */
void swap_ab_cost(const problem *p, const gemm_swap_ab_tile *x, cost_descriptor *d)
{
    const bool values = p->product->kind == op_matmul, staged = x->smem_epilogue && product_is_rounded(p) && x->split_k == 1;
    /* in_parts: all tiles of the launch are split, as those of try_halves_in_pairs(), which these constants predict within 11 % */
    const bool one_round = is_one_round(p, x), in_parts = one_round && !values && x->tail > 1;
    const bool is_fitted = one_round && (is_rounded_linear(p) || in_parts);
    const fitted *f = is_fitted ? &of_rounded : &of_others;
    const bool computes = p->phase->op_count > 1, timed = problem_rows(p) <= 512;
    const double of_computing = computes ? timed ? 0.2 : 0.34 : f->of_a_result;
    const double of_a_result = (staged ? f->of_a_staged : of_computing) + (swap_ab_stores_are_exposed(p, x) ? 0.35 : 0);
    product_cost(p, &(product_cut){x->m, x->n, x->k, x->split_k, 1, 1, weights_as_rows}, d);
    const double k_tiles = ceil(ceil((double)product_length(p) / x->k) / x->split_k), results = (double)x->m * x->n;
    const double k_bytes = k_tiles * x->k * swap_ab_element_bytes;
    const int columns = (x->n + 63) / 64 * 64, multicast = is_fitted ? x->cluster_m : 1;
    d->groups = (double)swap_ab_workgroups(p, x), d->per_unit = swap_ab_resident(p, x);
    d->matrix = true, d->lockstep = true, d->memory_share = d->per_unit > 1 ? f->memory_of_two : f->memory;
    d->products = 2.0 * x->m * columns * k_tiles * x->k;
    const int loaded = swap_ab_rows_loaded(p, x);
    const double length = k_tiles * x->k / (in_parts ? x->tail : 1);
    d->taken = k_bytes * (loaded * bytes_for_rows(p, f, x, one_round, length) + bytes_for_columns(p, f, x, one_round) * x->n);
    d->products_share = rate_of(p, f, x, d, one_round);
    d->asked = f->asked * k_bytes * ((double)loaded / x->cluster + (double)x->n / multicast);
    d->streamed = k_bytes * (loaded + x->n);
    d->ahead = (double)x->row_stages * x->k * swap_ab_element_bytes * (loaded + x->n);
    d->end_cycles = (staged ? f->staged_end : f->end) + of_a_result * results + f->of_a_part * (x->split_k - 1);
    const double cluster_start = x->in_turn ? f->cluster_start_in_turn : f->cluster_start;
    d->start_cycles = f->start + cluster_start * log2(x->cluster * multicast * x->split_k), d->round_cycles = f->between;
    d->tail = x->tail, d->tail_cycles = f->meeting * (1 + (x->tail - 1) * results * swap_ab_tail_part);
}

/* ---- the choice */
/* The multiprocessors, in percent, that clusters of this size can occupy. Those of four workgroups and more leave some of them unused. */
static int share_of_seats(int cluster) { return cluster < 4 ? 100 : cluster < 8 ? swap_ab_seats : 85; }

/* False for clusters of four or more workgroups if they would not all run at once, or would share multiprocessors. */
static bool has_room(const problem *p, const gemm_swap_ab_tile *x, int together)
{
    const int cluster = swap_ab_members(x) * x->split_k;
    const long long workgroups = swap_ab_workgroups(p, x), seats = (long long)p->device->units * together;
    return cluster < 4 || (together == 1 && workgroups * 100 <= seats * share_of_seats(cluster));
}

/* A lower bound of the seconds: products alone, at the peak rate of tensor cores. */
static double least_seconds(const problem *p, const gemm_swap_ab_tile *x)
{
    const double peak = p->device->rates[rate_products].of[dtype_bf16], columns = (x->n + 63) / 64 * 64;
    const double each = 2.0 * x->m * columns * (double)product_length(p) / x->split_k, units = p->device->units;
    const double workgroups = (double)swap_ab_workgroups(p, x);
    return peak > 0 ? each * (x->tail > 1 ? workgroups / units : ceil(workgroups / units)) * units / peak : 0;
}

/* True if multicast of rows costs more than it saves, since workgroups that multicast wait for each other's stages. For products of up to
 * most_rows rows that is so if K is split, whose parts wait for each other as well, and if all workgroups run at once, which may multicast
 * weights instead. Times in us with clusters of 2 that multicast rows, and that multicast weights: 207x3584x9568 by 104x128 in 2 slices:
 * 39.7, 29.0; 318x4096x11264 by 80x128: 62.3, 54.7; 107x4096x9648 by 56x64: 42.6, 32.5. A block of 272 rows whose gate and up,
 * 272x18816x3328, have tiles of 136x192 and tail = 2 took 178.9 us with multicast of rows, 154.5 without clusters. */
static bool waits_for_rows(const problem *p, const gemm_swap_ab_tile *x)
{
    enum { most_rows = 512 };
    if (x->cluster == 1 || x->in_turn || p->product->kind == op_matmul || problem_rows(p) > most_rows) return false;
    return x->split_k > 1 || x->tail > 1 || swap_ab_clusters(p, x) * swap_ab_members(x) <= p->device->units;
}

/* Tries x with `together` workgroups per multiprocessor. Slices of K above `longest` are summed in blocks (gemm_swap_ab.h: folds), which
 * takes twice the registers, so tiles of many rows must not have them. More stages than needed leave no shared memory in which the next
 * launch could begin: 73x2640x944 by 32x64 took 5.1 us with 8 stages, 5.9 with 14. */
static void try_tile(swap_ab_search *s, gemm_swap_ab_tile x, int together)
{
    enum { longest = 32768, most_rows_of_long_sums = 64 };
    const problem *p = s->p;
    /* more stages of weights than of rows took up to 7 % longer (514x10816x4952 by 176x128: 7 and 5, instead of 5 each), also if the
     * epilogue computes (us with more and with equally many: 514x28672x4096, gate and up, 232, 221; 204x17376x4096 with a gelu 61, 57) */
    const bool equal = p->product->kind != op_matmul;
    const int most_stages = x.in_turn ? 12 : 8;
    const long long k_tiles = (product_length(p) + x.k - 1) / x.k;
    if (x.m > most_rows_of_long_sums && k_tiles * x.k > longest * x.split_k) return;
    if (loses_digits(p, x.split_k) || waits_for_rows(p, &x)) return;
    if (k_tiles < 2 * x.split_k * x.tail && x.split_k * x.tail > 1) return;
    if ((x.m > swap_ab_rows_beside_a_warp || x.tail > 1) && !swap_ab_registers_fit(p, &x, together)) return;
    if (!swap_ab_fill(p, together, &x) || swap_ab_resident(p, &x) < together) return;
    if (x.row_stages > most_stages) x.row_stages = most_stages;
    while (x.stages > x.row_stages && (x.stages > most_stages || equal)) x.stages--;
    if (!swap_ab_sums_fit(p, &x)) return;
    x.smem_epilogue = swap_ab_stages_results(p, &x);
    if (!has_room(p, &x, together) || least_seconds(p, &x) >= s->least) return;
    swap_ab_compare(s, &x);
}

/* Tries slices of K in a launch of several rounds: slices fill the last round better than whole tiles do. Chosen if clearly predicted
 * faster. H200, times in us (predicted): gate and up 189x37760x4096 by 192x192 in two slices, 2.98 rounds, 110 (106), whole, 1.49 rounds,
 * 119 (127); 204x17376x4096 with a gelu by 208x192 72 (77), whole, 0.69 rounds, 57 (61). */
static void try_rounds_of_slices(swap_ab_search *s, gemm_swap_ab_tile x, long long workgroups)
{
    enum { most_rows = 512, most_rounds = 4 };
    const double clearly = 0.97, before = s->least;
    if (s->p->product->kind == op_matmul || problem_rows(s->p) > most_rows || swap_ab_members(&x) > 1) return;
    if (workgroups * x.split_k > (long long)most_rounds * s->p->device->units) return;
    s->least *= clearly;
    try_tile(s, x, 1);
    if (s->least >= clearly * before) s->least = before;
}

/* Tries split-K if tiles leave multiprocessors idle, or would by slices, and a tail if the last round does. */
static void try_splits(swap_ab_search *s, gemm_swap_ab_tile x)
{
    const bool values = s->p->product->kind == op_matmul;
    const long long units = s->p->device->units, workgroups = swap_ab_clusters(s->p, &x) * swap_ab_members(&x);
    const int most_split = values && x.cluster == 1 ? 8 : 4, most = values ? most_split : 8;
    for (x.split_k = 1; x.split_k <= most_split && x.split_k * swap_ab_members(&x) <= most; x.split_k *= 2) {
        const long long all = workgroups * x.split_k;
        if (x.split_k == 1 || all <= units) try_tile(s, x, 1);
        else if (x.split_k == 2) try_rounds_of_slices(s, x, workgroups);
        if (all > units && (x.split_k == 1 || all <= 2 * units)) try_tile(s, x, 2);
    }
    x.split_k = 1;
    if (values) return; /* a matmul has no loads in flight between two tiles; with a tail it took 2 to 9 % longer */
    const long long left = workgroups % units;
    for (x.tail = 2; workgroups > units && left && x.tail <= 4 && left * x.tail <= units; x.tail++) try_tile(s, x, 1);
}

/* In a launch of one round: lets four or two workgroups of adjacent row tiles multicast weights to each other. Of 16 tiles timed, 14 took 0
 * to 16 % less time than without multicast, two took 1 and 2 % more; a launch of two rounds took up to 7 % more. Not timed for matmuls, nor
 * where rows are multicast as well. */
static void share_columns(const problem *p, gemm_swap_ab_tile *x)
{
    enum { least_k_tiles = 8 };
    const long long row_tiles = (problem_rows(p) + x->m - 1) / x->m, workgroups = row_tiles * column_tiles(p, x->n) * x->split_k;
    if (p->product->kind == op_matmul || x->cluster > 1 || x->tail > 1 || workgroups > p->device->units) return;
    if (product_length(p) < (long long)least_k_tiles * x->k * x->split_k) return;
    for (x->cluster_m = 4; x->cluster_m > 1; x->cluster_m /= 2)
        if (row_tiles % x->cluster_m == 0 && x->cluster_m * x->split_k <= 8 && has_room(p, x, 1)) return;
}

/* Tries tiles of m rows by each width. Clusters of tiles of 64 columns, in which a single warpgroup multiplies, take up to twice as long as
 * predicted: 318x4096x4096 in clusters of two took 41 us by 160x64 and 54 us by 80x64, but 26 us by 80x128, and without clusters 21 us by
 * 160x128 with split_k = 2. Narrow tiles of many rows without clusters were never among the fastest. */
static void try_widths(swap_ab_search *s, int m, int cluster, int cluster_m)
{
    enum { most_n = 256, least_n_of_clusters = 128, least_n_of_many = 96, least_n = 64 };
    const bool many = m > swap_ab_rows_beside_a_warp && is_rounded_linear(s->p);
    const int least = cluster > 1 ? least_n_of_clusters : many ? least_n_of_many : least_n;
    for (int n = most_n; n >= least; n -= swap_ab_column_step_of(s->p))
        if (cluster == 1 || column_tiles(s->p, n) >= cluster)
            try_splits(s, (gemm_swap_ab_tile){.m = m,
                                              .n = n,
                                              .k = 64,
                                              .threads = swap_ab_threads(m, n),
                                              .cluster = cluster,
                                              .cluster_m = cluster_m,
                                              .split_k = 1,
                                              .tail = 1});
}

/* Tries clusters of four tiles of 64 columns that load rows in turn, in launches of one round, with `first` up to below `end` row tiles.
 * They are chosen if clearly predicted faster. Their constants are fitted to 28 tiles of 72 to 192 rows; predicted times are off by 7 %. Of
 * 39 other products, 20 were predicted to take at least 8 % less with them: without, these took 0.97 to 1.38 times as long, 1.11 times in
 * the mean, the other 19 took 0.87 to 1.38 times as long. A launch needs workgroups for half of the multiprocessors, as fewer do not reach
 * DRAM bandwidth: 117x1560x3776 by 64x64, 56 workgroups, took 12.95 us, predicted 11.4. */
static void try_in_turn(swap_ab_search *s, long long first, long long end)
{
    enum { n = 64, cluster = 4, least_m = 72, most_m = 192 };
    const double clearly = 1 / 1.08;
    s->least *= clearly;
    for (long long tiles = first; tiles < end; tiles++) {
        const int m = swap_ab_rows_of_tile(s->p, tiles);
        gemm_swap_ab_tile x = {.m = m, .n = n, .k = 64, .cluster = cluster, .cluster_m = 1, .split_k = 1, .tail = 1, .in_turn = 1};
        x.threads = swap_ab_threads(m, n);
        if (m < least_m || m > most_m) continue;
        const long long workgroups = swap_ab_clusters(s->p, &x) * cluster, units = s->p->device->units;
        if (2 * workgroups >= units && workgroups <= units) try_tile(s, x, 1);
    }
}

/* Tries, for each width, split_k and multicast of weights, as many row tiles as one round has room for, but at least `first`: products of
 * few columns occupy all multiprocessors only with tiles of few rows. Chosen if clearly predicted faster; not timed with epilogues that
 * compute. Times in us without and with these tiles: 2049x64x512 5.0, 2.8; 664x96x11368 13.7, 10.1; 840x128x7296 13.9, 9.1; 7038x128x7424
 * 36.0, 31.3; 5259x1002x19520 335, 282. */
static void try_full_rounds(swap_ab_search *s, long long first)
{
    enum { most_n = 256, least_n = 64, least_m = 16, least_m_of_four = 32, most_split = 8, most = 8 };
    const double clearly = 0.97, before = s->least;
    const problem *p = s->p;
    const long long rows = problem_rows(p), matrices = product_matrices(p);
    const int step = swap_ab_column_step_of(p), most_cluster_m = is_rounded_linear(p) ? 4 : 1;
    s->least *= clearly;
    for (int n = most_n; n >= least_n; n -= step)
        for (int split = 1; split <= most_split; split *= 2)
            for (int cluster_m = 1; cluster_m <= most_cluster_m && split * cluster_m <= most; cluster_m *= 2) {
                const long long seats = p->device->units * share_of_seats(split * cluster_m) / 100;
                const long long room = seats / (matrices * column_tiles(p, n) * split) / cluster_m * cluster_m;
                if (room < first || (n > least_n && column_tiles(p, n) == column_tiles(p, n - step))) continue;
                const long long even = even_tile_rows(rows, room, 8);
                const int m = even < least_m ? least_m : (int)even;
                if ((rows + m - 1) / m < first || (cluster_m == 4 && m < least_m_of_four)) continue;
                gemm_swap_ab_tile x = {.m = m, .n = n, .k = 64, .cluster = 1, .cluster_m = cluster_m, .split_k = split, .tail = 1};
                x.threads = swap_ab_threads(m, n);
                try_tile(s, x, 1);
            }
    if (s->least >= clearly * before) s->least = before;
}

/* For two row tiles and long K: two workgroups multicast weights to each other, and K is split in two, whose sums meet in the workspace
 * (tail). With split_k such clusters would have four workgroups, which cannot occupy all multiprocessors. Only in the range in which it was
 * timed. H200, with a residual, us (predicted): 189x4096x18880 by 64x192 in two slices 80.5, by 96x128 so 60.2 (57.4), without multicast
 * 66.8; 204x4096x17376 by gemm_wgmma 70.8, by 104x128 so 63.6 (56.9), without multicast 66.8. */
static void try_halves_in_pairs(swap_ab_search *s)
{
    enum { n = 128, least_length = 16384, most_rows = 256, most_stages = 8, least_percent = 90 };
    const problem *p = s->p;
    const long long rows = problem_rows(p), units = p->device->units;
    if (p->product->kind == op_matmul || is_rounded_linear(p) || product_length(p) < least_length) return;
    if (rows <= swap_ab_rows_beside_a_warp || rows > most_rows || columns_of_a(p)) return;
    gemm_swap_ab_tile x = {.m = (int)even_tile_rows(rows, 2, 8), .n = n, .k = 64, .cluster = 1, .cluster_m = 2, .split_k = 1, .tail = 2};
    x.threads = swap_ab_threads(x.m, n);
    const long long workgroups = swap_ab_clusters(p, &x) * swap_ab_members(&x) * x.tail;
    if (workgroups > units || workgroups * 100 < units * least_percent || loses_digits(p, x.tail)) return;
    if (!swap_ab_registers_fit(p, &x, 1) || !swap_ab_fill(p, 1, &x)) return;
    x.stages = x.row_stages = x.row_stages < most_stages ? x.row_stages : most_stages;
    if (!swap_ab_sums_fit(p, &x)) return;
    swap_ab_compare(s, &x);
}

/* Tries the smallest possible number of row tiles and the next seven. The cost of multicast of weights was fitted without multicast of
 * rows: both together took up to 1.7 times as long as predicted (1389x1504x1064 by 144x128 15.9 us, with multicast of rows alone 10.5). */
bool swap_ab_choose(const problem *p, const program *by, gemm_swap_ab_tile *best)
{
    enum { most_m = 256, row_tiles = 8, most_cluster = 2, most_cluster_m = 4, least_m_of_four = 32, wide = 192 };
    swap_ab_search s = {p, by, best, 1e30};
    const long long first = (problem_rows(p) + most_m - 1) / most_m, end = first + row_tiles;
    const bool fitted_columns = is_rounded_linear(p);
    for (long long tiles = first; tiles < end; tiles++) {
        const int m = swap_ab_rows_of_tile(p, tiles), shared = m < least_m_of_four ? 2 : most_cluster_m;
        for (int cluster = 1; m && cluster <= most_cluster; cluster *= 2) try_widths(&s, m, cluster, 1);
        for (int cluster_m = 2; m && fitted_columns && cluster_m <= shared && cluster_m <= tiles; cluster_m *= 2)
            try_widths(&s, m, 1, cluster_m);
    }
    if (product_is_rounded(p)) try_full_rounds(&s, end);
    if (s.least >= 1e30) return false;
    /* multicast of weights was tried only for the linears of of_rounded; and wide tiles that were chosen without it took 4 to 15 % less
     * time with it (209x11760x1536 by 112x192: 16.2 us instead of 16.9) */
    if (!fitted_columns || (best->cluster_m == 1 && best->split_k == 1 && best->n >= wide)) share_columns(p, best);
    if (fitted_columns && !columns_of_a(p)) try_in_turn(&s, first, end);
    try_halves_in_pairs(&s);
    return true;
}
