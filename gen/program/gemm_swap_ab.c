/* Products on wgmma with operands swapped: weights are its M, rows of A its N (templates/gemm/gemm_swap_ab.h). In: a product. Out: a tile,
 * for few rows the fastest by the model of time in this file, for many rows one from gen/program/swap_ab_rows.c. In comments, sizes of
 * products are M x N x K, those of tiles m x n. */
#include "gen/program/bits16.h"
#include "gen/program/staging.h"
#include "gen/program/swap_ab.h"
#include <math.h>

extern const program gemm_swap_ab_program;

/* few_rows: up to so many, tiles have what they were timed with */
enum { most_rows_of_long_k_tiles = 48, few_rows = 64, most_rows = 128, most_split = 8, row_step = 16 };

static const char *obstacle(const problem *p) { return obstacle_to_16_bit_boxes(p, layer_swap_ab, weights_as_rows); }

static long long shared_bytes(const problem *p, const ir_tile *t)
{
    return swap_ab_bytes(p, &t->gemm_swap_ab);
}

/* ---- time of tiles for few rows
 *
 * Weights arrive at DRAM bandwidth or, if too few bytes are in flight, at bytes in flight over latency (Little's law); near both limits
 * hypot() combines the two times. So a few workgroups whose stages fill shared memory are nearly as fast as many, and leave multiprocessors
 * to the next launch. Loads of rows from L2, and MMAs, overlap with loads of weights. Workgroups that wait for a free multiprocessor start
 * late. The constants are fitted to 1,000 tiles of 23 products of 24 to 128 rows, timed in chains of launches on an H200: the tile that
 * they choose takes 2 % longer than the fastest one. */
static double bandwidth(const problem *p)
{
    const device_fact *numbers = p->device->numbers;
    const double reached = numbers[number_bandwidth_reached].value, known = reached > 0 ? reached : numbers[number_bandwidth].value;
    return known > 0 ? known : 1e12;
}

static long long workgroups(const problem *p, const gemm_swap_ab_tile *x)
{
    return product_matrices(p) * ((problem_rows(p) + x->m - 1) / x->m) * column_tiles(p, x->n) * x->split_k;
}

/* Bytes of weights per workgroup. */
static double weights_of(const problem *p, const gemm_swap_ab_tile *x)
{
    return operand_bytes(p, weights_as_rows, operand_b) * x->n * (double)product_length(p) / x->split_k;
}

/* Seconds that the wgmmas of a workgroup take: one of K = 16 takes half a cycle per row of A. */
static double products_time(const problem *p, const gemm_swap_ab_tile *x)
{
    const double known = p->device->numbers[number_clock].value, clock = known > 0 ? known : 1.7e9, waits = 1.3;
    const double instructions = (double)product_length(p) / x->split_k / 16 * (x->threads / 128);
    return waits * instructions * x->m / 2 / clock;
}

/* Seconds until `count` workgroups that run at the same time have loaded all their weights. */
static double weights_time(const problem *p, const gemm_swap_ab_tile *x, long long count)
{
    const double round_trip = 0.92e-6, each = weights_of(p, x), ahead = (double)x->stages * x->n * x->k * swap_ab_element_bytes;
    return hypot((double)count * each / bandwidth(p), round_trip * each / fmin(ahead, each));
}

/* How many workgroups in clusters of this size run at once, if `together` share a multiprocessor. H200, us by 256 workgroups, two to a
 * multiprocessor, in clusters of four or eight that split K, and by 128 or 64 in clusters of two: 100x4096x11008 with a residual 45, 27;
 * 112x4096x14336 56, 33; 104x4096x12288 49, 29; 80x2048x11264 23, 17.5. */
static long long seats_of(const problem *p, int together, int cluster)
{
    return (long long)p->device->units * together * (cluster < 4 ? 100 : swap_ab_seats) / 100;
}

static double time_of(const problem *p, const gemm_swap_ab_tile *x)
{
    /* l2_over_memory: L2 bandwidth over DRAM bandwidth. In seconds: start: to begin the launch; meeting: to add up the sums of a further
     * slice of split-K; late: per round of workgroups that wait for a multiprocessor. */
    const double l2_over_memory = 2.8, start = 3.2e-6, meeting = 0.16e-6, late = 2e-6;
    const long long units = p->device->units, seats = seats_of(p, swap_ab_resident(p, x), x->m > few_rows ? x->split_k : 1);
    const long long count = workgroups(p, x);
    const double rows = weights_of(p, x) * x->m / x->n;
    double time = (double)(count / seats) * weights_time(p, x, seats);
    if (count % seats) time += weights_time(p, x, count % seats);
    time = fmax(time, (double)count * (weights_of(p, x) + rows) / (l2_over_memory * bandwidth(p)));
    time = fmax(time, (double)((count + units - 1) / units) * products_time(p, x));
    if (count > seats) time += late * (double)(count - seats) / (double)seats;
    return time + start + meeting * (x->split_k - 1);
}

/* A tile whose stages are not set yet. Narrow tiles get longer k tiles, which read longer runs of DRAM; wide tiles have enough short runs
 * in flight. */
static gemm_swap_ab_tile tile_of(int m, int n, int split)
{
    return (gemm_swap_ab_tile){.m = m,
                               .n = n,
                               .k = n <= 96 ? 128 : 64,
                               .threads = swap_ab_threads(m, n),
                               .cluster = 1,
                               .cluster_m = 1,
                               .split_k = split,
                               .tail = 1};
}

static gemm_swap_ab_tile long_k_tiles(gemm_swap_ab_tile x) { return x.k = 256, x; }

/* True if the weights do not fit in half of L2, so that they come from DRAM. */
static bool weights_come_from_dram(const problem *p)
{
    return 2 * swap_ab_element_bytes * (double)p->packed_n * (double)product_length(p) > p->device->numbers[number_l2].value;
}

/* Sets the stages of x so that `together` workgroups share a multiprocessor. If x then takes less than *least seconds, it becomes *best. */
static void try_tile(const problem *p, gemm_swap_ab_tile x, int together, gemm_swap_ab_tile *best, double *least)
{
    const long long k_tiles = (product_length(p) + x.k - 1) / x.k;
    if ((x.split_k > 1 && k_tiles < 2 * x.split_k) || !swap_ab_fill(p, together, &x)) return;
    const double last_resort = loses_digits(p, x.split_k) ? 1e3 : 1, time = last_resort * time_of(p, &x);
    if (time < *least) *best = x, *least = time;
}

/* If each workgroup has a multiprocessor to itself and long K, sets as many stages as fit there. Not for few rows, whose tiles were timed
 * with the stages that try_tile() sets. H200, 92x768x20928 by 96x64 with split_k = 8: 23.9 us with 3 stages, 14.1 us with 5. */
static void fill_if_alone(const problem *p, gemm_swap_ab_tile *x)
{
    const long long k_tiles = (product_length(p) + x->k - 1) / x->k;
    gemm_swap_ab_tile all = *x;
    if (x->m <= few_rows || workgroups(p, x) > seats_of(p, 1, x->split_k) || k_tiles <= 2ll * x->stages * x->split_k) return;
    if (swap_ab_fill(p, 1, &all)) *x = all;
}

/* For few columns and short K, where tiles of all rows would leave most multiprocessors idle, and the epilogue takes as long as the
 * products: tries tiles of fewer rows, by the cost that programs are compared by, since time_of() counts weights as if each row tile read
 * them from DRAM. Chosen if clearly predicted faster. H200, 112x768x576 with a shift, us (predicted): by 112x64 in two slices 4.2 (4.2), by
 * 56x64 3.0 (3.8), by 24x64 2.8 (3.7), by 16x64 2.9 (3.8). */
static void try_fewer_rows(const problem *p, ir_tile *best)
{
    enum { n = 64, least_m = 16, idle = 8, longest = 1024, least_rows = 65 };
    const long long rows = problem_rows(p), columns = product_matrices(p) * column_tiles(p, n), units = p->device->units;
    const double clearly = 0.9;
    double least = clearly * program_seconds(p, &gemm_swap_ab_program, best);
    if (columns * idle > units || product_length(p) > longest || rows < least_rows) return;
    for (long long tiles = (rows + most_rows - 1) / most_rows + 1; tiles * least_m < rows + least_m; tiles++)
        for (int split = 1; split <= most_split && tiles * columns * split <= units; split *= 2) {
            ir_tile x = *best;
            const long long even = even_tile_rows(rows, tiles, 8), k_tiles = (product_length(p) + 127) / 128;
            x.gemm_swap_ab = tile_of(even < least_m ? least_m : (int)even, n, split);
            if ((split > 1 && k_tiles < 2 * split) || loses_digits(p, split) || !swap_ab_fill(p, 1, &x.gemm_swap_ab)) continue;
            const double seconds = program_seconds(p, &gemm_swap_ab_program, &x);
            if (seconds < least) *best = x, least = seconds;
        }
}

/* For long K: lets workgroups of adjacent column tiles multicast rows to each other, two if K is split in two, four if tiles are wide. All
 * clusters must run at once. H200, us with and without multicast: 79x7168x15600 by 80x128 in two slices 56.3, 60.2; 92x5120x22528 by 96x96
 * 64.6, 68.8; 66x2560x10240 by 80x64 19.3, 20.0; 74x7168x7168 by 80x128 27.9, 28.2; 79x21504x7168 by 80x192 76.6, 81.3. For shorter K it
 * took up to 8 % more time, and 40 % more in clusters for which there is no room. */
static void share_rows(const problem *p, gemm_swap_ab_tile *x)
{
    enum { least_length = 7168, narrow = 128, wide = 192, most_stages = 8 };
    const bool pairs = x->split_k == 2 && x->n <= narrow, fours = x->split_k == 1 && x->n >= wide;
    gemm_swap_ab_tile shared = *x;
    if (x->m <= few_rows || product_length(p) < least_length || !(pairs || fours) || !weights_come_from_dram(p)) return;
    if (p->product->kind == op_matmul || p->product->attributes.transpose_a) return;
    shared.cluster = pairs ? 2 : 4;
    if (swap_ab_workgroups(p, &shared) > seats_of(p, 1, shared.cluster * shared.split_k) || !swap_ab_fill(p, 1, &shared)) return;
    shared.stages = shared.row_stages = shared.row_stages < most_stages ? shared.row_stages : most_stages;
    if (swap_ab_sums_fit(p, &shared)) *x = shared;
}

static void choose_of_few_rows(const problem *p, ir_tile *t)
{
    const long long rows = problem_rows(p), tiles = (rows + most_rows - 1) / most_rows, each = (rows + tiles - 1) / tiles;
    const int m = (int)((each + row_step - 1) / row_step * row_step);
    double least = 1e30;
    for (int together = 1; together <= 2; together++)
        for (int split = 1; split <= (together == 1 ? 2 : most_split); split *= 2)
            for (int n = 64; n <= (together == 1 ? 256 : 128); n += swap_ab_column_step_of(p)) {
                const gemm_swap_ab_tile x = tile_of(m, n, split);
                try_tile(p, x, together, &t->gemm_swap_ab, &least);
                if (n == 64 && m <= most_rows_of_long_k_tiles) try_tile(p, long_k_tiles(x), together, &t->gemm_swap_ab, &least);
            }
    fill_if_alone(p, &t->gemm_swap_ab);
    try_fewer_rows(p, t);
    share_rows(p, &t->gemm_swap_ab);
}

/* True if the costs of gen/program/bits16.h apply: to many rows; to few columns; and to short K, few weights and an epilogue that computes,
 * if tiles of all rows would leave half of the multiprocessors idle. With more weights these keep DRAM busy, and the usual costs are more
 * accurate. H200, us by the usual costs' tile and by this one: 84x592x128 with a residual 4.8, 2.3; 87x3392x512 with four ops 5.8, 4.8;
 * with more weights 128x2432x1088 6.4, 6.8. Twelve decode blocks of 66 to 125 sequences with such products were 1.003 to 1.13 times as
 * fast. */
static bool takes_16_bit_costs(const problem *p)
{
    enum { few_columns = 512, short_k = 1536, least_rows = 65, least_n = 64, few_weights = 1 << 21 /* elements */ };
    const bool idle = (long long)column_tiles(p, least_n) * 2 <= p->device->units && p->packed_n * product_length(p) <= few_weights;
    const bool computes = !product_is_rounded(p) && product_length(p) <= short_k;
    const bool small = problem_rows(p) >= least_rows && (p->packed_n <= few_columns || (idle && computes));
    return (small || swap_ab_many_rows(p)) && has_16_bit_costs(p);
}

static void describe_many_rows(const problem *p, const ir_tile *t, cost_descriptor *d) { swap_ab_cost(p, &t->gemm_swap_ab, d); }
/* chooses tiles by the costs that any epilogue has */
static const program many_rows = {.describe_cost = describe_many_rows, .weights = weights_as_rows};

/* True if a tile of fewer rows than there are was chosen, so that weights are read several times from DRAM and without multicast. H200,
 * such tiles and those of choose_of_few_rows(), us: 79x7168x15600 with a residual 78, 60; 69x6912x8288 with a sigmoid 41, 33. */
static bool repeats_weights(const problem *p, const gemm_swap_ab_tile *x)
{
    const long long rows = problem_rows(p);
    return rows <= most_rows && p->product->kind != op_matmul && weights_come_from_dram(p) && (long long)x->m * x->cluster_m < rows;
}

static void usual_tile(const problem *p, ir_tile *t)
{
    const bool many = swap_ab_many_rows(p) && swap_ab_choose(p, &many_rows, &t->gemm_swap_ab);
    if (!many || repeats_weights(p, &t->gemm_swap_ab)) choose_of_few_rows(p, t);
}

static void defaults(const problem *p, ir_tile *t)
{
    usual_tile(p, t);
    if (takes_16_bit_costs(p)) swap_ab_16_bit_choose(p, &gemm_swap_ab_program, &t->gemm_swap_ab);
    t->gemm_swap_ab.smem_epilogue = swap_ab_stages_results(p, &t->gemm_swap_ab);
}

/* ---- cost, for comparison with other programs; between tiles of this one time_of() is more accurate
 *
 * Weights and rows of A have separate stages, and wgmma waits for both, longer if there are more rows. If the workgroups leave
 * multiprocessors free, the next launch begins there. */
static void describe_usual(const problem *p, const ir_tile *tile, cost_descriptor *d)
{
    /* cycles; meeting: per slice of split-K; hidden_begin: what is left of `begin` if two workgroups share a multiprocessor */
    enum { round = 2500, meeting = 700, begin = 2500, hidden_begin = 1200 };
    const double shallow = 0.9; /* share of DRAM bandwidth reached with two workgroups per multiprocessor, which have fewer stages each */
    const double waits = 1.2;   /* at most row_stages / waits stages of weights count as in flight, since wgmma waits for rows of A, too */
    const gemm_swap_ab_tile *x = &tile->gemm_swap_ab;
    if (swap_ab_many_rows(p)) {
        swap_ab_cost(p, x, d);
        return;
    }
    product_cost(p, &(product_cut){x->m, x->n, x->k, x->split_k, 1, 1, weights_as_rows}, d);
    d->per_unit = swap_ab_resident(p, x);
    d->matrix = true, d->lockstep = true, d->products_share = 1 / (1.57 + x->m / 175.0);
    if (d->per_unit > 1) d->memory_share = shallow;
    d->ahead = fmin(x->stages, x->row_stages / waits) * x->n * x->k * swap_ab_element_bytes, d->streamed = weights_of(p, x);
    d->end_cycles = round + meeting * x->split_k;
    d->start_cycles = (d->per_unit > 1 ? hidden_begin : begin) * fmin(1, d->groups / p->device->units);
}

static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    if (takes_16_bit_costs(p)) swap_ab_16_bit_cost(p, &t->gemm_swap_ab, d);
    else describe_usual(p, t, d);
}

static double usual_seconds(const problem *p)
{
    static const program usual = {.describe_cost = describe_usual, .weights = weights_as_rows};
    ir_tile t = {.program = program_gemm_swap_ab};
    if (!has_16_bit_costs(p) || product_is_rounded(p)) return 0;
    usual_tile(p, &t);
    return program_seconds(p, &usual, &t);
}

/* Up to swap_ab_most_rows rows, predicted times decide between this program and wgmma. H200, us measured (predicted): 3088x1480x29888
 * swap_ab 427 (413), wgmma 497 (531); 6056x584x22760 320 (320), 419 (353); 4129x640x8944 90 (90), 145 (89); 5054x4520x5104 382 (387), 399
 * (395). */
static const worse_range worse[] = {
    {where_not_rounded, .least_rows = swap_ab_most_rows + 1, .why = "M exceeds the rows that its tiles were timed for"}, {0}};

/* How many tiles of the last round may be split along K: so many that all their parts run at once. In a launch of clusters, which compute a
 * tile per member (swap_ab_members()), it counts clusters instead of tiles. */
static int tail_tiles(const problem *p, const gemm_swap_ab_tile *x)
{
    return x->tail > 1 ? p->device->units / swap_ab_members(x) / x->tail : 0;
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    const gemm_swap_ab_tile *x = &t->gemm_swap_ab;
    if (x->m % 8) return "m must be a multiple of 8";
    if (x->m < 8 * x->cluster) return "m must be at least 8 times cluster";
    if (!is_power_of_two(x->cluster) || !is_power_of_two(x->cluster_m)) return "cluster and cluster_m must be 1, 2 or 4";
    if (x->cluster * x->cluster_m * x->split_k > 8) return "cluster * cluster_m * split_k must be at most 8 workgroups";
    if (x->n % swap_ab_column_step_of(p))
        return x->n % swap_ab_column_step ? "n must be a multiple of 32" : "n must be a multiple of 64 for B as [K, N]";
    if (x->threads != swap_ab_threads(x->m, x->n)) return "threads must be 128 for each 64 columns, plus 32 (m above 128: plus 128)";
    if (!is_power_of_two(x->split_k)) return "split_k must be 1, 2, 4 or 8";
    if (x->row_stages > x->stages) return "row_stages must be at most stages";
    if (!is_power_of_two(x->k)) return "k must be 64, 128 or 256";
    const long long k_tiles = (product_length(p) + x->k - 1) / x->k;
    if (x->split_k > k_tiles || x->tail > k_tiles) return "each slice of split-K must have at least one k tile";
    const bool columns_of_a = p->product->attributes.transpose_a;
    if (x->in_turn && (x->cluster == 1 || columns_of_a)) return "in_turn=1 needs a cluster, and A as [M, K]";
    if (x->split_k > 1 && x->tail > 1) return "split_k must be 1 where there is a tail";
    if (x->tail > 1 && tail_tiles(p, x) < 1) return "tail * cluster * cluster_m must be at most the device's multiprocessors";
    if (x->persistent) {
        if (!product_is_rounded(p) || !x->smem_epilogue) return "persistent=1 needs smem_epilogue=1, and an epilogue that only rounds";
        if (x->split_k > 1 || x->tail > 1) return "persistent=1 needs split_k=1 and tail=1";
        if (x->n % 64) return "persistent=1 needs n to be a multiple of 64";
        if (x->row_stages != x->stages) return "persistent=1 needs as many stages for rows as for weights";
    }
    if (x->smem_epilogue && staging_obstacle(p, true)) return arena_printf(p->a, "smem_epilogue=1: %s", staging_obstacle(p, true));
    return swap_ab_sums_fit(p, x) ? NULL : "the stages are too small to reduce the tile's partial sums in";
}

/* Halves the tile's columns and the slices of K. There are as many workgroups as before, of half the threads. */
static bool halve_columns(const problem *p, gemm_swap_ab_tile *x)
{
    gemm_swap_ab_tile half = *x;
    half.n /= 2, half.split_k /= 2, half.threads = swap_ab_threads(half.m, half.n);
    if (x->split_k == 1 || half.n < 64 || half.n % swap_ab_column_step_of(p) || !swap_ab_fill(p, 1, &half)) return false;
    return *x = half, true;
}

/* First without the tail, which takes registers beside the results; tiles of all of few rows with fewer threads; then with about half as
 * many rows. (104x16384x4096 with a gelu by 112x256 in two slices spills 16 bytes; by 64x256, which reads weights twice, it takes 52 us.)
 */
static bool smaller(const problem *p, ir_tile *t)
{
    gemm_swap_ab_tile *x = &t->gemm_swap_ab;
    if (x->tail > 1) return x->tail = 1, true;
    if (x->m <= swap_ab_rows_beside_a_warp && x->m >= problem_rows(p) && halve_columns(p, x)) return true;
    if (x->m <= row_step * x->cluster) return false;
    x->m = (x->m / 2 + row_step * x->cluster - 1) / (row_step * x->cluster) * row_step * x->cluster;
    x->threads = swap_ab_threads(x->m, x->n);
    return true;
}

/* Each tile of the tail has x->tail parts; all but the last store their sums. */
static extent scratch_of(const problem *p, const ir_tile *t)
{
    const gemm_swap_ab_tile *x = &t->gemm_swap_ab;
    return extent_number((slice_head + (long long)x->m * (x->n + 4)) * (x->tail - 1) * tail_tiles(p, x) * swap_ab_members(x));
}

static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    const gemm_swap_ab_tile *x = &t->gemm_swap_ab;
    to->multiple = extent_number(x->cluster_m);
    products_geometry(p, x->m * x->cluster_m, x->n, to);
    to->column_tiles = (to->column_tiles + x->cluster - 1) / x->cluster * x->cluster * x->split_k * x->tail;
    to->cluster = swap_ab_members(x) * x->split_k;
    to->resident = x->persistent ? swap_ab_resident(p, x) : x->tail > 1;
}

static int partials(const problem *p, const ir_tile *t) { return column_tiles(p, t->gemm_swap_ab.n); }

static void members(emission *e, writer *w)
{
    const gemm_swap_ab_tile *x = &e->phase->tile.gemm_swap_ab;
    const problem p = plan_problem(e->a, e->plan, e->phase);
    gemm_on_swap_ab_warpgroups(e, w, swap_ab_resident(&p, x), tail_tiles(&p, x), x->smem_epilogue ? results_unit(&p) : 0,
                               x->smem_epilogue && product_is_rounded(&p));
}

const program gemm_swap_ab_program = {.kind = program_gemm_swap_ab,
                                      .device = "gemm_swap_ab",
                                      .template = "templates/gemm/gemm_swap_ab.h",
                                      .obstacle = obstacle,
                                      .worse = worse,
                                      .describe_cost = describe_cost,
                                      .usual_seconds = usual_seconds,
                                      .defaults = defaults,
                                      .illegal = illegal,
                                      .shared_bytes = shared_bytes,
                                      .smaller = smaller,
                                      .geometry = geometry,
                                      .one_tile = true,
                                      .partials = partials,
                                      .scratch = scratch_of,
                                      .members = members,
                                      .weights = weights_as_rows,
                                      .prefetches_next = true,
                                      .takes_sums = true,
                                      .begins_with_weights = true,
                                      .reads_columns_of_a = true,
                                      .aligned_rows = true};
