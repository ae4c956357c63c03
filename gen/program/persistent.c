/* Persistent workgroups of gemm_swap_ab: the cost of a launch, and the choice of a tile. Contract: gen/program/swap_ab.h. In comments,
 * sizes of products are M x N x K, those of tiles m x n; times were measured on an H200. */
#include "gen/program/beginnings.h"
#include "gen/program/staging.h"
#include "gen/program/swap_ab.h"
#include <math.h>

/* Constants of persistent workgroups. The producer loads ahead of the end of a tile, so a tile takes the longest of its loads, and its
 * products and stores. Fitted to 260 tiles of 53 products, with a median error of 8 %. The tile that it chooses takes 1.03 times as long as
 * the fastest one timed. */
typedef struct rolling {
    double taken, asked;              /* counts of a byte that a unit takes, and that is requested of L2 */
    double rows_of_two, drift;        /* factors of the former: with multicast of rows, without it if rows begin within sectors */
    double latency, consumed, memory; /* as in `swapped` */
    double products, shared;          /* of the cycles of products; see slowed() */
    double wait, wait_of_few;         /* cycles between the products of two k tiles; wait_of_few: with up to 64 rows */
    double stored, result;            /* cycles of the stores of a warpgroup: once, and per result */
    double start, between;            /* cycles of the launch, and between two rounds */
    unaligned more;                   /* cycles per result */
    beginnings rows, columns;         /* of loaded bytes */
} rolling;
static const rolling of_persistent = {.taken = 0.47,
                                      .asked = 0.86,
                                      .rows_of_two = 1.85,
                                      .drift = 2.04,
                                      .latency = 1.3,
                                      .consumed = 0.76,
                                      .memory = 0.86,
                                      .products = 1.018,
                                      .shared = 0.46,
                                      .wait = 56,
                                      .wait_of_few = 178,
                                      .stored = 206,
                                      .result = 0.173,
                                      .start = 1770,
                                      .between = 52,
                                      .more = {0.6, 0.6, 1.04},
                                      .rows = {1, 0.8, 1.55},
                                      .columns = {1, 1.7, 1.7}};

/* By how much products take longer than at the peak rate, as wgmmas of few rows read operands faster than shared memory delivers them.
 * alone: cycles of a k tile's products at the peak rate. */
static double slowed(const problem *p, const gemm_swap_ab_tile *x, double alone)
{
    enum { columns = 2048, row = 32, rate = 128 }; /* bytes that a wgmma reads: of 64 columns, and per row; bytes per cycle */
    const double wgmmas = (x->n + 63) / 64 * (x->k / 16.0), loaded = (double)(swap_ab_rows_loaded(p, x) + x->n) * x->k;
    const double cycles = (wgmmas * (columns + row * x->m) + loaded * swap_ab_element_bytes) / rate;
    return of_persistent.products * (1 + of_persistent.shared * fmax(0, cycles / alone - 1));
}

void swap_ab_persistent_cost(const problem *p, const gemm_swap_ab_tile *x, double k_tiles, cost_descriptor *d)
{
    const rolling *f = &of_persistent;
    const int beginning = swap_ab_beginning_of_rows(p, x->m), loaded = swap_ab_rows_loaded(p, x);
    const double k_bytes = k_tiles * x->k * swap_ab_element_bytes, together = d->per_unit, members = swap_ab_members(x);
    const double of_rows = loaded * count_of_byte(&f->rows, beginning == 0, beginning == 1);
    const double of_columns = x->n * count_of_columns(p, &f->columns);
    const double drift = x->cluster == 1 && beginning == 2 ? f->drift : 1;
    d->taken = drift * f->taken * k_bytes * (of_rows * swap_ab_shared(x->cluster, f->rows_of_two, f->rows_of_two) + of_columns);
    d->asked_counts = f->asked * k_bytes * (of_rows / x->cluster + of_columns / x->cluster_m) / d->asked;
    d->memory_share = f->memory, d->ahead = (x->row_stages - f->consumed) * x->k * swap_ab_element_bytes * (loaded + x->n) / f->latency;
    const double alone = x->k / 16.0 * x->m / 2 * ((x->n + 63) / 64), slow = slowed(p, x, alone);
    const double each = fmax(alone * slow * together, alone * slow + (x->m > 64 ? f->wait : f->wait_of_few));
    const double stores = f->stored + (f->result + cycles_of_unaligned(p, f->more)) * x->m * 64;
    d->products *= slow, d->products_share = 1, d->chain_cycles = k_tiles * each + stores, d->end_cycles = 0;
    d->start_cycles = f->start + (members > 1 ? 200 + 255 * log2(members) : 0) + stores;
    d->round_cycles = f->between, d->tail = 1, d->power = 0;
}

/* Tries x with persistent workgroups, in launches of several rounds. Workgroups that take turns in loading rows have up to 12 stages. */
static void try_persistent(swap_ab_search *s, const gemm_swap_ab_tile *x)
{
    enum { least_stages = 4, least_stages_of_two = 3, most_in_turn = 12, most = 8 };
    const long long units = s->p->device->units, workgroups = swap_ab_workgroups(s->p, x);
    for (int together = 1; together <= 2 && workgroups > together * units; together++) {
        gemm_swap_ab_tile filled = *x;
        if (!swap_ab_fill(s->p, together, &filled) || filled.row_stages < (together > 1 ? least_stages_of_two : least_stages)) continue;
        swap_ab_try(s, x, together, x->in_turn ? most_in_turn : most);
    }
}

/* Above swap_ab_most_rows rows: whether L2 has no room for what is read or stored again and again. That is half of it for the weight, which
 * the tiles of all rows read, and with short K all of it for the results. H200, us by gemm_wgmma and by the persistent tile that would be
 * chosen: 16384x10240x8192 4025, 5587; 16384x2048x8192 793, 792; 16384x1280x5120 316, 294; short K: 27616x22976x128 437, 602;
 * 17920x14080x64 156, 180; 32493x6080x107 132, 154; 2x4160x5632x128 32, 36. */
static bool exceeds_l2(const problem *p)
{
    enum { long_k = 1024 };
    const double l2 = p->device->numbers[number_l2].value, matrices = (double)product_matrices(p), k = (double)product_length(p);
    const double element = swap_ab_element_bytes * matrices, rows = (double)problem_rows(p), columns = (double)p->packed_n;
    if (rows <= swap_ab_most_rows) return false;
    return k < long_k ? element * rows * columns > l2 : element * columns * k > l2 / 2;
}

/* x has m and n. Tries it alone and, if rows begin within sectors, with multicast of rows in turn. Left out: tiles of 64 columns with long
 * K. */
static void try_shape(swap_ab_search *s, gemm_swap_ab_tile x)
{
    enum { longest_of_64 = 2048 };
    const problem *p = s->p;
    const bool shares = p->product->kind != op_matmul && swap_ab_beginning_of_rows(p, 64) == 2;
    if (x.n == 64 && product_length(p) > longest_of_64) return;
    x.cluster_m = x.split_k = x.persistent = 1;
    for (x.cluster = 1; x.cluster <= 1 + shares && x.cluster <= column_tiles(p, x.n); x.cluster++) {
        x.in_turn = x.cluster > 1;
        try_persistent(s, &x);
    }
}

/* Tries persistent workgroups. Not if rows of the result do not begin at multiples of 16 bytes: such products took up to 1.37 times as long
 * (13x3x5440x3874x96, predicted 0.85). With the same tile, none of 12 others took longer than with one tile per workgroup. Workgroups drift
 * apart, and multicast keeps them together, which pays only where rows begin within sectors, so that L2 is the bottleneck:
 * 5780x2560x2920 by 224x128 took 165 us, with multicast of rows in turn 119 us; 527x23440x1024 by 176x192 44.7 and 45.7 us. Three kinds are
 * not predicted well: A as [K, M] with long K (256x432x1600 of 144 batches by 256x64 took 1.14 times as long, predicted 0.91), narrow tiles
 * with long K (4994x296x3223 by 112x64: 1.26), and rows of B within sectors (7552x212x1536 of 24 batches by 216x128: 1.23). Short matmuls
 * compete by costs of two fits: of four, the worst took 1.04 times as long (41x2x80x2816x440), the best 0.87 (18x1600x400x128). */
void swap_ab_choose_persistent(const problem *p, const program *by, gemm_swap_ab_tile *best)
{
    enum { longest_across = 512, very_long_k = 4096 };
    /* The longer K, the less is gained while a tile ends (4096x4096x4096: predicted 1.2 % less time, 3 % more measured on an H200). */
    const double clearly = product_length(p) < very_long_k ? 0.99 : 0.98;
    swap_ab_search s = {p, by, best, clearly * swap_ab_seconds(p, by, best)};
    if (!product_is_rounded(p) || staging_obstacle(p, true) || results_unit(p) != gemm_vector) return;
    if (p->product->attributes.transpose_a && product_length(p) > longest_across) return;
    if (p->product->kind == op_matmul && !lies_at_sectors(p->product->inputs[1])) return;
    if (exceeds_l2(p)) return;
    swap_ab_try_shapes(&s, &(swap_ab_shapes){.k = 64, .least_m = 64, .most_n = 256, .step = 64}, try_shape);
}
