/* Contract: gen/program/rounded.h. In comments, sizes of products are M x N x K, those of tiles m x n; times were measured on an H200.
 *
 * The constants were fitted to 2,900 tiles of 240 drawn products and matmuls, each timed in chains of launches. Fitted to half of them,
 * they predict the others with a median error of 10 % (the costs of other epilogues: 17 %), and the tile that is predicted to be the
 * fastest of those timed takes 1.06 times as long as the fastest one (1.12). */
#include "gen/program/rounded.h"
#include "gen/program/staging.h"
#include "gen/program/swap_ab.h"
#include "gen/program/warpgroups.h"
#include <math.h>

bool is_rounded_16_bits(const problem *p)
{
    enum { longest = 32768 };                                      /* the longest K that was timed */
    if (product_length(p) > longest || p->ir->feeds) return false; /* feeds: a warp loads for all phases, as no timed launch did */
    return p->segments && dtype_size(p->product->inputs[0]->type) == 2 && product_passes(p, weights_in_terms) == 1 && product_is_rounded(p);
}

/* ---- bytes. A launch of one round runs all its workgroups at the same time. */
/* How often the byte of a loaded row counts, by where rows begin: at L2 lines, at sectors, elsewhere. */
typedef struct beginnings {
    double lines, sectors, elsewhere;
} beginnings;

static double count_of(const beginnings *of, bool lines, bool sectors) { return lines ? of->lines : sectors ? of->sectors : of->elsewhere; }

static double count_of_columns(const problem *p, const beginnings *of)
{
    const ir_value *b = p->product->inputs[1];
    const bool packed = p->product->kind != op_matmul;
    return count_of(of, packed || lies_at_lines(b), packed || lies_at_sectors(b));
}

/* What a unit gets more from L2 if only a share of the units is busy. */
static double gain_of_idle(const problem *p, const cost_descriptor *d, double most)
{
    return 1 + most * (1 - fmin(1, d->groups / p->device->units));
}

/* Cycles per result more if the rows of the result begin neither at 16 bytes (0 more) nor at 4 or 8, or not even there. */
static double of_unaligned(const problem *p, double words, double halves)
{
    const int unit = results_unit(p);
    return unit == gemm_vector ? 0 : unit > 1 ? words : halves;
}

/* ---- swapped operands */
/* Workgroups that share a unit. Two are planned, but more run if they fit. */
static double swap_ab_together(const problem *p, const gemm_swap_ab_tile *x)
{
    enum { registers = 65536, beside_results = 60, most = 4 };
    if (swap_ab_resident(p, x) == 1) return 1;
    const double reserved = 1024, memory = floor((p->target->lds_bytes + reserved) / ((double)swap_ab_bytes(p, x) + reserved));
    const double fit = floor(registers / (x->threads * fmin(255, x->m / 2.0 + beside_results)));
    return fmax(2, fmin(most, fmin(memory, fit)));
}

/* Cycles of prologue and epilogue. Sums of slices of K are added up through distributed shared memory. */
static double swap_ab_ends(const problem *p, const gemm_swap_ab_tile *x)
{
    const double results = (double)x->m * x->n, of_a_row = x->m;
    const double more = swap_ab_stores_are_exposed(p, x) ? 0.02 * results : 0;
    if (x->split_k > 1) return 690 + 0.29 * results + 5 * of_a_row + 230 * (x->split_k - 1);
    if (x->smem_epilogue) return 390 + (0.1 + of_unaligned(p, 0.2, 0.3)) * results + 2.9 * of_a_row + more;
    return 650 + 0.24 * results + 1.7 * of_a_row + more;
}

/* The share of the unit's product rate that wgmmas reach. Tensor cores are shared by the warpgroups, of which each waits for its k tile's
 * products before it begins the next, if it has up to 64 rows (gemm_swap_ab<...>::overlaps). */
static double swap_ab_products_share(const gemm_swap_ab_tile *x, double together)
{
    enum { rows_alone = 64, wait = 240 /* cycles */ };
    const double most = 0.79, sharp = 6, warpgroups = (x->n + 63) / 64, alone = x->k / 16.0 * x->m / 2;
    const double all = together * warpgroups * alone / most, chain = alone + (x->m > rows_alone ? 0 : wait);
    return fmin(1, together * warpgroups * alone / pow(pow(all, sharp) + pow(chain, sharp), 1 / sharp));
}

/* Sets *d to the cost of a launch with tile x. */
void swap_ab_rounded_cost(const problem *p, const gemm_swap_ab_tile *x, cost_descriptor *d)
{
    static const double rows[] = {1, 1.2, 1.5}; /* of a loaded byte, by swap_ab_beginning_of_rows() */
    static const beginnings columns = {1, 1.4, 2.1};
    const double one_round = 1.44, rounds = 0.3, rounds_of_two = 0.96; /* counts of a byte that a unit takes, by the kind of launch */
    const double asked_in_one_round = 1.1, latency = 0.55;             /* of that of DRAM, as most loads find their data in L2 */
    const bool values = p->product->kind == op_matmul;
    product_cost(p, &(product_cut){x->m, x->n, x->k, x->split_k, 1, 1, weights_as_rows}, d);
    const int members = swap_ab_members(x) * x->split_k;
    const double k_tiles = ceil(ceil((double)product_length(p) / x->k) / x->split_k), k_bytes = k_tiles * x->k * swap_ab_element_bytes;
    const int packed = (x->n + 63) / 64 * 64, loaded = swap_ab_rows_loaded(p, x);
    d->groups = (double)swap_ab_workgroups(p, x), d->per_unit = swap_ab_together(p, x);
    d->seats = members < 4 ? 0 : floor(p->device->units * swap_ab_seats / 100.0) * d->per_unit;
    const bool one = d->groups <= (d->seats > 0 ? d->seats : p->device->units * d->per_unit);
    const double of_rows = loaded * rows[swap_ab_beginning_of_rows(p, x->m)], of_columns = x->n * count_of_columns(p, &columns);
    const double count = (one ? one_round : d->per_unit > 1 ? rounds_of_two : rounds) / gain_of_idle(p, d, 0.62);
    d->taken = count * k_bytes * (of_rows * swap_ab_shared(x->cluster, 0.78, 0.64) + of_columns * swap_ab_shared(x->cluster_m, 0.82, 0.82));
    d->asked_counts = (one ? asked_in_one_round : 1) * k_bytes * (of_rows / x->cluster + of_columns / x->cluster_m) / d->asked;
    d->matrix = true, d->lockstep = true, d->memory_share = d->per_unit > 1 ? 0.81 : 0.9;
    d->products = 2.0 * x->m * packed * k_tiles * x->k;
    d->products_share = swap_ab_products_share(x, fmin(d->per_unit, fmax(1, ceil(d->groups / p->device->units))));
    d->streamed = k_bytes * (loaded + x->n), d->ahead = x->row_stages * (double)x->k * swap_ab_element_bytes * (loaded + x->n) / latency;
    d->end_cycles = swap_ab_ends(p, x);
    d->start_cycles = (values ? 1360 : 1580) + (members > 1 ? 200 + 255 * log2(members) : 0);
    d->round_cycles = 340 + 475 * log2(members);
    d->tail = x->tail, d->tail_cycles = 7000 * (1 + (x->tail - 1) * (double)x->m * x->n * swap_ab_tail_part);
}

/* ---- the program wgmma */
/* Constants of one way to share out tiles (own_tiles). */
typedef struct numbers {
    double one_round, rounds; /* counts of a byte that a unit takes, by the kind of launch */
    double column, multicast; /* of a byte of columns, rows being 1; a factor for columns if two workgroups multicast them */
    double memory, rate;      /* shares of DRAM bandwidth and of a unit's product rate */
    double latency;           /* of that of DRAM */
    /* cycles: of the launch, and of one with clusters in addition; of the end of a tile, once and per result, staged or stored directly; of
     * a k tile, between its wgmmas and the next */
    double start, cluster_start, end, staged, direct, k_tile;
    /* cycles per result in addition, if rows of the result begin at multiples of 4 or 8 bytes, or 2 */
    double staged_words, staged_halves, direct_words, direct_halves;
} numbers;
static const numbers of_both_warpgroups = {.one_round = 1.28,
                                           .rounds = 0.35,
                                           .column = 0.62,
                                           .multicast = 0.98,
                                           .memory = 0.78,
                                           .rate = 0.71,
                                           .latency = 0.5,
                                           .start = 2150,
                                           .cluster_start = 260,
                                           .end = 700,
                                           .staged = 0.028,
                                           .direct = 0.053,
                                           .staged_words = 0.18,
                                           .staged_halves = 0.3,
                                           .direct_words = 0.3,
                                           .direct_halves = 0.5};
static const numbers of_own_tiles = {.one_round = 1.29,
                                     .rounds = 0.41,
                                     .column = 0.68,
                                     .multicast = 0.77,
                                     .memory = 0.73,
                                     .rate = 0.82,
                                     .latency = 1.3,
                                     .start = 1490,
                                     .cluster_start = 1490,
                                     .end = 640,
                                     .staged = 0.062,
                                     .direct = 0.12,
                                     .k_tile = 20,
                                     .staged_words = 0.68,
                                     .staged_halves = 0.7,
                                     .direct_words = 0.68,
                                     .direct_halves = 0.7};

/* The producer loads ahead of the end of a tile. So if workgroups compute several tiles, a tile takes the longest of its loads, and its
 * products and its end; with own_tiles the end of one tile overlaps with products of the next. */
void ws_rounded_cost(const problem *p, const gemm_warpgroups_tile *x, cost_descriptor *d)
{
    static const beginnings rows = {1, 1.35, 1.9}, columns = {1, 1.6, 2};
    const double beyond_counts = 0.4, no_gain = 1.6 /* lockstep_gain of gen/base/cost.c */;
    const numbers *f = x->own_tiles ? &of_own_tiles : &of_both_warpgroups;
    const bool one = d->groups <= p->device->units;
    const double k_tiles = ceil(ceil((double)product_length(p) / x->k) / x->split_k), results = (double)x->m * x->n;
    const double n = matmul_is_across(p->product) ? (x->n + 63) / 64 * 64 : x->n, all = (double)problem_rows(p), tiles = ceil(all / x->m);
    const double of_a_row = count_of(&rows, a_begins_at_lines(p, weights_in_terms), lies_at_sectors(p->product->inputs[0]));
    const double beyond = (tiles * x->m - all) / (one ? 1 : tiles), multicast = x->cluster > 1 ? f->multicast : 1;
    const double of_columns = n * count_of_columns(p, &columns);
    d->taken = (one ? f->one_round : f->rounds) / gain_of_idle(p, d, 0.55) * k_tiles * 128 *
               ((x->m + beyond_counts * beyond) * of_a_row + of_columns * f->column * multicast);
    d->asked_counts = (one ? no_gain : 1) * k_tiles * 128 * (x->m * of_a_row + of_columns / x->cluster) / d->asked;
    d->memory_share = f->memory, d->streamed = k_tiles * 128 * (x->m + n), d->ahead = x->stages * 128 * (x->m + n) / f->latency;
    const double wgmmas = k_tiles * results / 32, products = wgmmas / f->rate + k_tiles * f->k_tile; /* cycles */
    const double unaligned =
        x->smem_epilogue ? of_unaligned(p, f->staged_words, f->staged_halves) : of_unaligned(p, f->direct_words, f->direct_halves);
    const double stores = ((x->smem_epilogue ? f->staged : f->direct) + unaligned) * results, end = f->end + stores;
    d->products = 2 * results * k_tiles * 64, d->products_share = wgmmas / products;
    const bool ends_apart = one && !x->own_tiles;
    d->chain_cycles = x->own_tiles ? fmax(products, (products + stores) / 2) : one ? 0 : products + end;
    d->end_cycles = (ends_apart ? end : 0) + ws_meeting_cycles(p, x);
    d->start_cycles = f->start + (ends_apart ? 0 : end) + (x->cluster > 1 ? f->cluster_start : 0);
}

/* ---- the choice of a tile with swapped operands */
typedef struct search {
    const problem *p;
    const program *by;
    gemm_swap_ab_tile *best;
    double least; /* predicted seconds of *best */
} search;

/* A lower bound of the seconds of a launch: products, and requests of L2 if four workgroups share each operand. */
static double least_seconds(const search *s, const gemm_swap_ab_tile *x)
{
    const problem *p = s->p;
    const double most = 0.79, sharers = 4, peak = p->device->rates[rate_products].of[dtype_bf16], units = p->device->units;
    const double length = (double)product_length(p) / x->split_k, l2 = p->device->numbers[number_l2_bandwidth].value;
    const double workgroups = (double)swap_ab_workgroups(p, x), rounds = ceil(workgroups / units);
    const double products = peak > 0 ? 2.0 * x->m * ((x->n + 63) / 64 * 64) * length * rounds * units / (peak * most) : 0;
    const double requests = l2 > 0 ? workgroups * length * swap_ab_element_bytes * (x->m + x->n) / sharers / l2 : 0;
    return fmax(products, workgroups > 2 * units ? requests : 0);
}

/* Tries x with `together` workgroups per multiprocessor. More stages than needed leave no shared memory in which the next launch could
 * begin: 73x2640x944 by 32x64 took 5.1 us with 8 stages, 5.9 with 14. More stages of weights than of rows took up to 7 % longer
 * (514x10816x4952 by 176x128: 7 and 5, instead of 5 each). */
static void try_tile(search *s, gemm_swap_ab_tile x, int together)
{
    const problem *p = s->p;
    const int most_stages = x.in_turn ? 12 : 8;
    if (x.m > swap_ab_rows_beside_a_warp && !swap_ab_registers_fit(p, &x, together)) return;
    if (!swap_ab_fill(p, together, &x) || swap_ab_resident(p, &x) != together) return;
    if (x.row_stages > most_stages) x.row_stages = most_stages;
    x.stages = x.row_stages;
    if (!swap_ab_sums_fit(p, &x)) return;
    x.smem_epilogue = swap_ab_stages_results(p, &x);
    ir_tile t = {.program = program_gemm_swap_ab, .gemm_swap_ab = x};
    const double seconds = program_seconds(p, s->by, &t);
    if (seconds < s->least) *s->best = x, s->least = seconds;
}

/* Tries x, unless its clusters of four workgroups and more would need a second round, or unless it is a cluster of tiles of a single
 * warpgroup that loads packed weights, which takes up to twice as long as predicted if weights come from DRAM (318x4096x4096 in clusters of
 * two by 160x64: 41 us, predicted 23). */
static void try_round(search *s, gemm_swap_ab_tile x)
{
    enum { least_m = 64 }; /* in launches of more than two rounds: narrower tiles were never the fastest */
    const long long units = s->p->device->units, size = (long long)swap_ab_members(&x) * x.split_k,
                    workgroups = swap_ab_clusters(s->p, &x) * size;
    const long long seats = size < 4 ? units : units * swap_ab_seats / 100;
    if (workgroups > 2 * units && (x.m < least_m || x.split_k > 1)) return;
    if (workgroups > seats && size >= 4) return;
    if (x.cluster > 1 && !x.in_turn && x.n <= 64 && s->p->product->kind != op_matmul) return;
    if (least_seconds(s, &x) >= s->least) return;
    try_tile(s, x, 1);
    if (workgroups > units) try_tile(s, x, 2);
}

/* x has m and n. Tries it without multicast, with multicast of rows or of columns, and with K split. Multicast of both rows and columns
 * took 1.1 to 1.2 times as long as multicast of rows alone, and up to 1.7 times as long as predicted. */
static void try_sharing(search *s, gemm_swap_ab_tile x)
{
    enum { most = 8, least_k_tiles = 4 };
    const problem *p = s->p;
    const long long k_tiles = (product_length(p) + x.k - 1) / x.k, row_tiles = (problem_rows(p) + x.m - 1) / x.m;
    for (x.split_k = 1; x.split_k <= most && (x.split_k == 1 || k_tiles >= 2 * x.split_k); x.split_k *= 2)
        for (x.cluster = 1; x.cluster <= 4 && x.cluster <= column_tiles(p, x.n) && x.m >= 8 * x.cluster; x.cluster *= 2)
            for (x.cluster_m = 1; x.cluster_m <= (x.cluster > 1 ? 1 : 4) && swap_ab_members(&x) * x.split_k <= most; x.cluster_m *= 2) {
                if (row_tiles % x.cluster_m || (swap_ab_members(&x) > 1 && k_tiles < (long long)least_k_tiles * x.split_k)) continue;
                const bool turns = x.cluster > 1 && x.split_k == 1 && x.cluster_m == 1 && !p->product->attributes.transpose_a;
                for (x.in_turn = 0; x.in_turn <= turns; x.in_turn++) try_round(s, x);
            }
}

void swap_ab_rounded_choose(const problem *p, const program *by, gemm_swap_ab_tile *best)
{
    enum { most_m = 256, least_m = 16, most_n = 256, most_n_of_long_k_tiles = 128, least_n = 64 };
    const ir_tile t = {.program = program_gemm_swap_ab, .gemm_swap_ab = *best};
    search s = {p, by, best, rounded_clearly * program_seconds(p, by, &t)};
    const long long rows = problem_rows(p), first = (rows + most_m - 1) / most_m, last = (rows + least_m - 1) / least_m;
    const int step = swap_ab_column_step_of(p);
    int before = 0;
    for (long long tiles = first; tiles <= last; tiles++) {
        const int m = swap_ab_rows_of_tile(p, tiles);
        if (!m || m == before) continue;
        before = m;
        for (int k = 64; k <= 128; k *= 2)
            for (int n = k == 64 ? most_n : most_n_of_long_k_tiles; n >= least_n; n -= step) {
                if (n > least_n && column_tiles(p, n) == column_tiles(p, n - step)) continue;
                try_sharing(&s, (gemm_swap_ab_tile){.m = m, .n = n, .k = k, .threads = swap_ab_threads(m, n), .tail = 1});
            }
    }
}
