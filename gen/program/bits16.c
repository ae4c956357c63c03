/* Contract: gen/program/bits16.h. In comments, sizes of products are M x N x K, those of tiles m x n; times were measured on an H200.
 *
 * The constants were fitted to 2,900 tiles of 240 drawn products and matmuls and 1,400 tiles of 93 linears with epilogues, each timed in
 * chains of launches. Fitted to half of the products, they predict the others with a median error of 10 % (the usual costs: 17 %), and the
 * tile that is predicted to be the fastest of those timed takes 1.06 times as long as the fastest one (1.12). Constants of short matmuls
 * were fitted again to 3,745 tiles, after L2 had begun to fetch 128 bytes (runtime/device/device_cuda.c). Among the tiles of 180 matmuls,
 * they choose one that takes 1.032 times as long as the fastest (1.045 before). For linears they chose no better tiles than before. */
#include "gen/program/bits16.h"
#include "gen/program/beginnings.h"
#include "gen/program/staging.h"
#include "gen/program/swap_ab.h"
#include "gen/program/warpgroups.h"
#include <math.h>

bool has_16_bit_costs(const problem *p)
{
    enum { longest = 32768, least_rows = 65 }; /* longer K, and fewer rows whose epilogue computes, were not timed */
    const ir_op *product = p->product;
    if (product_length(p) > longest || p->ir->feeds) return false; /* feeds: a warp loads for all phases, as no timed launch did */
    if (!p->segments || dtype_size(product->inputs[0]->type) != 2 || product_passes(p, weights_in_terms) != 1) return false;
    if (product_is_rounded(p)) return true;
    return product->kind != op_matmul && problem_rows(p) >= least_rows && dtype_size(product->inputs[1]->type) == 2;
}

/* True for matmuls that have constants of their own. Of 56 matmuls of up to 60 us whose tile became another one with these constants, 32
 * took at least 2 % less time, 12 at least 2 % more (0.940 of the time in the geometric mean); of 40 that took longer than 60 us, 15 and 14
 * (0.989). */
static bool is_short_matmul(const problem *p)
{
    enum { longest = 16384 }; /* 384x640x21672 took 42 us with these constants, 35 with the others */
    const double most = 6e10; /* operations; some 60 us on an H200 */
    const double results = (double)product_matrices(p) * (double)problem_rows(p) * (double)p->packed_n;
    return p->product->kind == op_matmul && product_length(p) <= longest && 2 * results * (double)product_length(p) <= most;
}

/* Of 114 linears with the tile of least predicted time, 31 took at least 5 % less, 15 at least 5 % more; with this limit 18 and 4. For
 * matmuls see is_short_matmul(). */
double clearly_16_bit(const problem *p)
{
    const double matmul = 0.95, others = 0.92;
    return is_short_matmul(p) ? matmul : others;
}

/* ---- epilogues that compute */
/* Cycles per result of a tile: of an op, of a function (exp and the like), of a long one (elu), of an element loaded per result, and of one
 * that all rows share. once: cycles per tile. */
typedef struct computing {
    double op, function, longer, element, shared, once;
} computing;

static bool is_one_of(op_kind kind, const op_kind *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == kind) return true;
    return false;
}

static double cycles_of_op(const computing *c, op_kind kind)
{
    static const op_kind longer[] = {op_elu, op_selu, op_expm1, op_log1p, op_pow, op_sin, op_cos};
    static const op_kind functions[] = {op_exp,  op_exp2,     op_log,       op_sqrt,       op_rsqrt, op_tanh,     op_sigmoid,
                                        op_silu, op_gelu_erf, op_gelu_tanh, op_quick_gelu, op_erf,   op_softplus, op_mish};
    if (is_one_of(kind, longer, sizeof longer / sizeof *longer)) return c->longer;
    return is_one_of(kind, functions, sizeof functions / sizeof *functions) ? c->function : c->op;
}

/* Cycles that the epilogue of a tile takes beyond rounding. */
static double cycles_of_computing(const problem *p, const computing *c, double results)
{
    double cycles = 0; /* per result */
    if (product_is_rounded(p)) return 0;
    for (int i = 0; i < p->phase->op_count; i++) {
        const ir_op *op = p->phase->ops[i];
        const long long columns = value_columns(op->outputs[0]);
        if (op_table[op->kind].class != class_ELEMENT || columns <= 1) continue;
        const double share = (double)columns / (double)p->packed_n;
        cycles += share * cycles_of_op(c, op->kind);
        for (int k = 0; k < op->input_count; k++) {
            const ir_value *v = op->inputs[k];
            if (phase_makes(p->phase, v) || value_columns(v) <= 1) continue;
            cycles += share * (v->rank > 1 ? c->element : c->shared);
        }
    }
    return c->once + cycles * results;
}

/* ---- bytes. A launch of one round runs all its workgroups at the same time. */
/* The factor of loaded bytes that two or four workgroups multicast to each other. */
typedef struct multicast {
    double of_two, of_four;
} multicast;

/* What a unit gets more from L2 if only a share of the units is busy. */
static double gain_of_idle(const problem *p, const cost_descriptor *d, double most)
{
    return 1 + most * (1 - fmin(1, d->groups / p->device->units));
}

/* ---- swapped operands */
/* Cycles of an epilogue: once, per result and per row of the tile. */
typedef struct epilogue {
    double once, result, row;
} epilogue;

/* Fitted apart for short matmuls, for other products whose epilogue only rounds, and for those whose computes. */
typedef struct swapped {
    double one_round, rounds_of_two; /* counts of a byte that a unit takes, by the kind of launch */
    double idle;                     /* gain_of_idle() */
    double latency, consumed;        /* of that of DRAM, as most loads find their data in L2; part of a stage that is not in flight */
    double memory, memory_of_two;    /* share of DRAM bandwidth with one and with two workgroups per unit */
    double most, wait;               /* swap_ab_products_share(); cycles */
    epilogue split, staged, direct;  /* split: sums of slices of K are added up through distributed shared memory */
    double part;                     /* cycles per slice of K after the first */
    double start, between;           /* cycles of a linear's launch, and between two rounds */
    bool shares;                     /* workgroups that share a unit share what their epilogues use */
    beginnings begin_rows, begin_columns;
    multicast rows, columns;
    double launch_cluster, round_cluster; /* cycles per doubling of the cluster: of the launch, between two rounds */
    double shared, power; /* share of shared memory bandwidth that wgmmas and loads reach, 0: not counted; cost_descriptor.power */
} swapped;
static const swapped of_matmuls = {.one_round = 1.44,
                                   .rounds_of_two = 0.96,
                                   .idle = 0.62,
                                   .latency = 0.55,
                                   .memory = 1.04,
                                   .memory_of_two = 0.76,
                                   .most = 0.79,
                                   .wait = 240,
                                   .split = {690, 0.3, 6.2},
                                   .staged = {320, 0.116, 3.1},
                                   .direct = {650, 0.24, 1.7},
                                   .part = 240,
                                   .start = 1360,
                                   .between = 390,
                                   .begin_rows = {1, 1.13, 1.43},
                                   .begin_columns = {1, 1.5, 1.8},
                                   .rows = {0.84, 0.52},
                                   .columns = {0.76, 0.76},
                                   .launch_cluster = 260,
                                   .round_cluster = 590,
                                   .shared = 1,
                                   .power = 1.2};
static const swapped of_rounding = {.one_round = 1.44,
                                    .rounds_of_two = 0.96,
                                    .idle = 0.62,
                                    .latency = 0.55,
                                    .memory = 0.9,
                                    .memory_of_two = 0.81,
                                    .most = 0.79,
                                    .wait = 240,
                                    .split = {690, 0.29, 5},
                                    .staged = {390, 0.1, 2.9},
                                    .direct = {650, 0.24, 1.7},
                                    .part = 230,
                                    .start = 1580,
                                    .between = 340,
                                    .begin_rows = {1, 1.2, 1.5},
                                    .begin_columns = {1, 1.4, 2.1},
                                    .rows = {0.78, 0.64},
                                    .columns = {0.82, 0.82},
                                    .launch_cluster = 255,
                                    .round_cluster = 475,
                                    .shared = 1};
static const swapped of_computing = {.one_round = 1.48,
                                     .rounds_of_two = 0.98,
                                     .idle = 0.71,
                                     .latency = 0.45,
                                     .consumed = 0.5,
                                     .memory = 0.96,
                                     .memory_of_two = 0.87,
                                     .most = 0.78,
                                     .wait = 230,
                                     .split = {460, 0.33, 4.3},
                                     .staged = {530, 0.098, 3.4},
                                     .direct = {200, 0.039, 25},
                                     .part = 160,
                                     .start = 1390,
                                     .between = 230,
                                     .shares = true,
                                     .begin_rows = {1, 1.2, 1.5},
                                     .begin_columns = {1, 1.4, 2.1},
                                     .rows = {0.78, 0.64},
                                     .columns = {0.82, 0.82},
                                     .launch_cluster = 255,
                                     .round_cluster = 475};

static const swapped *swapped_of(const problem *p)
{
    return is_short_matmul(p) ? &of_matmuls : product_is_rounded(p) ? &of_rounding : &of_computing;
}

/* Workgroups that share a unit. Two are planned, but more run if they fit. */
static double swap_ab_together(const problem *p, const gemm_swap_ab_tile *x)
{
    enum { registers = 65536, beside_results = 60, most = 4 };
    if (x->persistent || swap_ab_resident(p, x) == 1) return swap_ab_resident(p, x);
    const double reserved = 1024, memory = floor((p->target->lds_bytes + reserved) / ((double)swap_ab_bytes(p, x) + reserved));
    const double fit = floor(registers / (x->threads * fmin(255, x->m / 2.0 + beside_results)));
    return fmax(2, fmin(most, fmin(memory, fit)));
}

/* Cycles of an epilogue that depend on the tile. */
static double swap_ab_stores(const problem *p, const swapped *f, const gemm_swap_ab_tile *x)
{
    static const computing by_op = {0.007, 0.06, 0.25, 0.09, 0.011, 300};
    const double results = (double)x->m * x->n, more = cycles_of_computing(p, &by_op, results);
    const epilogue *e = x->split_k > 1 ? &f->split : x->smem_epilogue ? &f->staged : &f->direct;
    const double exposed = x->split_k == 1 && swap_ab_stores_are_exposed(p, x) ? 0.02 : 0;
    const double unaligned = e == &f->staged ? cycles_of_unaligned(p, (struct unaligned){0.2, 0.2, 0.3}) : 0;
    return (e->result + exposed + unaligned) * results + e->row * x->m + more;
}

/* Cycles of prologue and epilogue beside swap_ab_stores(). */
static double swap_ab_ends(const swapped *f, const gemm_swap_ab_tile *x)
{
    if (x->split_k > 1) return f->split.once + f->part * (x->split_k - 1);
    return x->smem_epilogue ? f->staged.once : f->direct.once;
}

/* Cycles in which `warpgroups` read their operands of 16 elements along k from shared memory, and loads write theirs. Each wgmma reads both
 * operands, 64 rows of one and n of the other (wgmmas: in how many it takes a k step, each with all 64 rows). */
static double shared_memory_cycles(double warpgroups, double wgmmas, double n, double loaded)
{
    enum { rows = 64, bytes = 32, per_cycle = 128 };
    return (warpgroups * (rows * wgmmas + n) + loaded) * bytes / per_cycle;
}

/* The share of the unit's product rate that wgmmas reach. Tensor cores are shared by the warpgroups, of which each waits for its k tile's
 * products before it begins the next, if it has up to 64 rows (gemm_swap_ab<...>::overlaps). Tiles of more rows than fit the registers at
 * launch take two wgmmas each (gemm_swap_ab<...>::halves), which read weights twice: 2048x2264x26240 by 192x192 309 us, by 208x192 369. */
static double swap_ab_products_share(const swapped *f, const gemm_swap_ab_tile *x, double together)
{
    enum { rows_alone = 64, registers = 512, beside_results = 26 };
    const int at_launch = registers / (int)(together * ((x->threads + 127) / 128)) / 8 * 8;
    const bool halves = x->m > swap_ab_rows_beside_a_warp && x->m / 2 + beside_results > at_launch;
    const double sharp = 6, warpgroups = (x->n + 63) / 64, alone = x->k / 16.0 * x->m / 2;
    const double all = together * warpgroups * alone / f->most, chain = alone + (x->m > rows_alone ? 0 : f->wait);
    const double read = x->k / 16.0 * together * shared_memory_cycles(warpgroups, halves ? 2 : 1, x->m, x->m + x->n);
    const double shared = f->shared > 0 ? read / f->shared : 0;
    return fmin(1, together * warpgroups * alone / pow(pow(all, sharp) + pow(chain, sharp) + pow(shared, sharp), 1 / sharp));
}

/* True for matmuls whose operands are both stored along K. A load of rows that begin within sectors asks for more sectors than it has. In
 * launches of one round of such matmuls, members of a cluster ask for a part each, which costs less than if one workgroup asks for all.
 * H200, us (predicted, and without this): 1x5x512x328x1816 by 64x128 in clusters of 4 that multicast columns 10.0 (11.5, 14.9);
 * 384x640x21672 by 64x128 in 4 slices and clusters of 2 29.2 (35.2, 47.0). */
static bool members_share_requests(const problem *p)
{
    return p->product->kind == op_matmul && !matmul_is_across(p->product) && !p->product->attributes.transpose_a;
}

/* How often a byte counts that `sharing` workgroups load for each other, from how often it counts for one alone. */
static double count_among(double alone, int sharing) { return 1 + (alone - 1) / ((double)sharing * sharing); }

/* Bytes that a workgroup reads again from DRAM, as workgroups of one round that share B but do not multicast it drift apart, if L2 does not
 * hold B. Times in us (predicted, and without this): matmul 80x2304x23296 by 40x192 in 4 slices 41.8 (43.0, 38.6), with multicast of B
 * 32.8 (36.9). Fitted to this matmul; constants of linears contain it. */
static double bytes_of_drift(const problem *p, const gemm_swap_ab_tile *x, int row_tiles)
{
    const double share = 0.2, bytes = (double)swap_ab_element_bytes * (double)p->packed_n * (double)product_length(p);
    if (p->product->kind != op_matmul || product_matrices(p) > 1 || bytes <= p->device->numbers[number_l2].value) return 0;
    return share * bytes * fmax(0, (double)row_tiles / x->cluster_m - 1) / (double)swap_ab_workgroups(p, x);
}

/* Above swap_ab_most_rows rows the constants hold for launches of one round over long K that is not split, and for persistent workgroups.
 * Of 30 tiles in several rounds, 26 took longer than predicted, 1.22 times in the geometric mean; of one round over short K all 7 did, 1.25
 * times (20318x256x384 by 160x256 13.3 us, predicted 10.2). */
static double slower_than_predicted(const problem *p, const gemm_swap_ab_tile *x, bool one)
{
    enum { long_k = 1024 };
    const double slower = 1.25;
    if (problem_rows(p) <= swap_ab_most_rows || x->persistent || (one && x->split_k == 1 && product_length(p) >= long_k)) return 1;
    return slower;
}

static void slow_down(cost_descriptor *d, double times)
{
    d->taken *= times, d->memory *= times, d->ahead /= times, d->products_share /= times, d->end_cycles *= times;
}

/* Sets *d to the cost of a launch with tile x. */
void swap_ab_16_bit_cost(const problem *p, const gemm_swap_ab_tile *x, cost_descriptor *d)
{
    const double rounds = 0.3, asked_in_one_round = 1.1; /* counts of a byte that a unit takes, and that is requested of L2 */
    enum { least_rows = 64 };           /* fewer were not among the products that `memory` was fitted to */
    const double few_rows_memory = 0.9; /* so that skinny computes one row by values of 4096 columns */
    const swapped *f = swapped_of(p);
    const int row_tiles = (int)((problem_rows(p) + x->m - 1) / x->m);
    const int down = x->persistent && row_tiles <= column_tiles(p, x->n) ? row_tiles : 1; /* adjacent tiles of the same columns */
    product_cost(p, &(product_cut){x->m, x->n, x->k, x->split_k, down, 1, weights_as_rows}, d);
    const int members = swap_ab_members(x) * x->split_k;
    const double k_tiles = ceil(ceil((double)product_length(p) / x->k) / x->split_k), k_bytes = k_tiles * x->k * swap_ab_element_bytes;
    const int packed = (x->n + 63) / 64 * 64, loaded = swap_ab_rows_loaded(p, x);
    d->groups = (double)swap_ab_workgroups(p, x), d->per_unit = swap_ab_together(p, x);
    d->seats = members < 4 ? 0 : floor(p->device->units * swap_ab_seats / 100.0) * d->per_unit;
    const bool one = d->groups <= (d->seats > 0 ? d->seats : p->device->units * d->per_unit);
    const int begin = swap_ab_beginning_of_rows(p, x->m);
    const bool share = one && members_share_requests(p);
    const double of_rows = loaded * count_among(count_of_byte(&f->begin_rows, begin == 0, begin == 1), share ? x->cluster : 1);
    const double of_columns = x->n * count_among(count_of_columns(p, &f->begin_columns), share ? x->cluster_m : 1);
    const double count = (one ? f->one_round : d->per_unit > 1 ? f->rounds_of_two : rounds) / gain_of_idle(p, d, f->idle);
    d->taken = count * k_bytes * (of_rows * swap_ab_shared(x->cluster, f->rows.of_two, f->rows.of_four) +
                                  of_columns * swap_ab_shared(x->cluster_m, f->columns.of_two, f->columns.of_four));
    d->asked_counts = (one ? asked_in_one_round : 1) * k_bytes * (of_rows / x->cluster + of_columns / x->cluster_m) / d->asked;
    d->matrix = true, d->lockstep = true;
    if (one) d->memory += bytes_of_drift(p, x, row_tiles);
    d->memory_share = d->per_unit > 1 ? f->memory_of_two : problem_rows(p) < least_rows ? few_rows_memory : f->memory;
    d->products = 2.0 * x->m * packed * k_tiles * x->k;
    const double together = fmin(d->per_unit, fmax(1, ceil(d->groups / p->device->units))), stores = swap_ab_stores(p, f, x);
    d->products_share = swap_ab_products_share(f, x, together), d->power = f->power;
    const double ahead = (x->row_stages - f->consumed) * x->k * swap_ab_element_bytes * (loaded + x->n);
    d->streamed = k_bytes * (loaded + x->n), d->ahead = ahead / f->latency;
    d->end_cycles = swap_ab_ends(f, x) + stores;
    if (x->persistent) {
        swap_ab_persistent_cost(p, x, k_tiles, d);
        return;
    }
    slow_down(d, slower_than_predicted(p, x, one));
    if (f->shares && together > 1) d->chain_cycles = together * stores;
    const double start = p->product->kind == op_matmul ? of_matmuls.start : f->start;
    d->start_cycles = start + (members > 1 ? 200 + f->launch_cluster * log2(members) : 0);
    d->round_cycles = f->between + f->round_cluster * log2(members);
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
    unaligned staged_more, direct_more;
    computing computing;
    beginnings begin_rows, begin_columns;
    double shared, power; /* as in `swapped`; shared: where only rounded, but not other matmuls of short K */
} numbers;
/* Fitted apart for short matmuls and other products, and by whether both warpgroups compute a tile (own_tiles). */
static const numbers both_of_short = {.one_round = 1.28,
                                      .rounds = 0.35,
                                      .column = 0.62,
                                      .multicast = 0.98,
                                      .memory = 0.9,
                                      .rate = 0.71,
                                      .latency = 0.5,
                                      .start = 2150,
                                      .cluster_start = 260,
                                      .end = 700,
                                      .staged = 0.028,
                                      .direct = 0.053,
                                      .staged_more = {0.1, 0.18, 0.3},
                                      .direct_more = {0.12, 0.3, 0.5},
                                      .begin_rows = {1, 1.57, 2},
                                      .begin_columns = {1, 1.8, 1.9},
                                      .shared = 0.9,
                                      .power = 1.2};
static const numbers both_of_others = {.one_round = 1.28,
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
                                       .staged_more = {0.1, 0.18, 0.3},
                                       .direct_more = {0.12, 0.3, 0.5},
                                       .computing = {0.012, 0.06, 0.26, 0.07, 0.05, 80},
                                       .begin_rows = {1, 1.35, 1.9},
                                       .begin_columns = {1, 1.6, 2}};
static const numbers own_of_short = {.one_round = 1.29,
                                     .rounds = 0.41,
                                     .column = 0.73,
                                     .multicast = 0.72,
                                     .memory = 0.76,
                                     .rate = 0.88,
                                     .latency = 1.3,
                                     .start = 1490,
                                     .cluster_start = 1830,
                                     .end = 640,
                                     .staged = 0.066,
                                     .direct = 0.137,
                                     .k_tile = 20,
                                     .staged_more = {0.68, 0.68, 0.7},
                                     .direct_more = {0.16, 0.68, 0.7},
                                     .begin_rows = {1, 1.57, 2},
                                     .begin_columns = {1, 1.8, 1.9},
                                     .shared = 0.9,
                                     .power = 1.2};
static const numbers own_of_others = {.one_round = 1.29,
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
                                      .staged_more = {0.68, 0.68, 0.7},
                                      .direct_more = {0.16, 0.68, 0.7},
                                      .computing = {0.015, 0.07, 0.6, 0.3, 0.13, 60},
                                      .begin_rows = {1, 1.35, 1.9},
                                      .begin_columns = {1, 1.6, 2},
                                      .shared = 1};

/* The producer loads ahead of the end of a tile. So if workgroups compute several tiles, a tile takes the longest of its loads, and its
 * products and its end; with own_tiles the end of one tile overlaps with products of the next. */
void ws_16_bit_cost(const problem *p, const gemm_warpgroups_tile *x, cost_descriptor *d)
{
    enum { short_k = 128, long_k = 1024 };
    const double short_memory = 0.8; /* with short K and without own_tiles: nothing is multiplied while a tile is stored */
    const double shared_alone = 1.2; /* as numbers.shared: 1280x512x2728 by 64x128 10.0 us (11.2; by numbers.shared 12.7) */
    const double beyond_counts = 0.4, no_gain = 1.6 /* lockstep_gain of gen/base/cost.c */;
    const bool matmul = is_short_matmul(p);
    const numbers *f = x->own_tiles ? matmul ? &own_of_short : &own_of_others : matmul ? &both_of_short : &both_of_others;
    const bool one = d->groups <= p->device->units;
    const bool alone = one && x->own_tiles && x->m == 64 && x->n <= 128 && x->cluster == 1; /* a warpgroup that multiplies alone */
    const bool stores_alone = matmul && !x->own_tiles && !one && product_length(p) <= short_k;
    const double k_tiles = ceil(ceil((double)product_length(p) / x->k) / x->split_k), results = (double)x->m * x->n;
    const double n = matmul_is_across(p->product) ? (x->n + 63) / 64 * 64 : x->n, all = (double)problem_rows(p), tiles = ceil(all / x->m);
    const double of_a_row = count_of_byte(&f->begin_rows, a_begins_at_lines(p, weights_in_terms), lies_at_sectors(p->product->inputs[0]));
    const double beyond = (tiles * x->m - all) / (one ? 1 : tiles), multicast = x->cluster > 1 ? f->multicast : 1;
    const double of_columns = n * count_of_columns(p, &f->begin_columns);
    d->taken = (one ? f->one_round : f->rounds) / gain_of_idle(p, d, 0.55) * k_tiles * 128 *
               ((x->m + beyond_counts * beyond) * of_a_row + of_columns * f->column * multicast);
    d->asked_counts = (one ? no_gain : 1) * k_tiles * 128 * (x->m * of_a_row + of_columns / x->cluster) / d->asked;
    d->memory_share = stores_alone ? short_memory : f->memory, d->streamed = k_tiles * 128 * (x->m + n);
    d->ahead = x->stages * 128 * (x->m + n) / f->latency;
    const double warpgroups = 2, of_one = x->own_tiles ? x->m / 64.0 : 1; /* wgmmas of a warpgroup in 16 elements along k */
    const double read = shared_memory_cycles(x->own_tiles ? 1 : warpgroups, of_one, x->n * of_one, x->m + n);
    const bool counts = f->shared > 0 && product_is_rounded(p) && (matmul || p->product->kind != op_matmul || product_length(p) >= long_k);
    const double reached = !counts ? 0 : alone ? shared_alone : f->shared;
    const double shared = reached > 0 ? k_tiles * 4 * read / reached : 0, sharp = 6;
    const double wgmmas = k_tiles * results / 32; /* cycles, as all others here */
    const double products = pow(pow(wgmmas / f->rate, sharp) + pow(shared, sharp), 1 / sharp) + k_tiles * f->k_tile;
    const double a_result =
        (x->smem_epilogue ? f->staged : f->direct) + cycles_of_unaligned(p, x->smem_epilogue ? f->staged_more : f->direct_more);
    const double stores = a_result * results + cycles_of_computing(p, &f->computing, results), end = f->end + stores;
    d->products = 2 * results * k_tiles * 64, d->products_share = wgmmas / products, d->power = f->power;
    const bool ends_apart = one && !x->own_tiles;
    d->chain_cycles = x->own_tiles ? fmax(products, (products + stores) / 2) : one ? 0 : products + end;
    d->end_cycles = (ends_apart ? end : 0) + ws_meeting_cycles(p, x);
    d->start_cycles = f->start + (ends_apart ? 0 : end) + (x->cluster > 1 ? f->cluster_start : 0);
}

/* ---- the choice of a tile with swapped operands */
/* A lower bound of the seconds of a launch: products, and requests of L2 if four workgroups share each operand. */
static double least_seconds(const swap_ab_search *s, const gemm_swap_ab_tile *x)
{
    const problem *p = s->p;
    const double most = 0.79, sharers = 4, peak = p->device->rates[rate_products].of[dtype_bf16], units = p->device->units;
    const double length = (double)product_length(p) / x->split_k, l2 = p->device->numbers[number_l2_bandwidth].value;
    const double workgroups = (double)swap_ab_workgroups(p, x), rounds = ceil(workgroups / units);
    const double products = peak > 0 ? 2.0 * x->m * ((x->n + 63) / 64 * 64) * length * rounds * units / (peak * most) : 0;
    const double requests = l2 > 0 ? workgroups * length * swap_ab_element_bytes * (x->m + x->n) / sharers / l2 : 0;
    return fmax(products, workgroups > 2 * units ? requests : 0);
}

/* In matmuls, workgroups that take turns in fours have at most 8 stages: 1344x768x1280 by 136x64 took 10.8 us with 9 stages, 6.5 with 8. */
static void try_tile(swap_ab_search *s, const gemm_swap_ab_tile *x, int together)
{
    enum { most_in_turn = 12, most = 8 };
    const bool fours = x->cluster == 4 && is_short_matmul(s->p);
    swap_ab_try(s, x, together, x->in_turn && !fours ? most_in_turn : most);
}

/* Tries x, unless its clusters of four workgroups and more would need a second round, or unless it is a cluster of tiles of a single
 * warpgroup that loads packed weights, which takes up to twice as long as predicted if weights come from DRAM (318x4096x4096 in clusters of
 * two by 160x64: 41 us, predicted 23). */
static void try_round(swap_ab_search *s, gemm_swap_ab_tile x)
{
    enum { least_m = 64 }; /* in launches of more than two rounds: narrower tiles were never the fastest */
    const long long units = s->p->device->units, size = (long long)swap_ab_members(&x) * x.split_k,
                    workgroups = swap_ab_clusters(s->p, &x) * size;
    const long long seats = size < 4 ? units : units * swap_ab_seats / 100;
    if (workgroups > 2 * units && (x.m < least_m || x.split_k > 1)) return;
    if (workgroups > seats && size >= 4) return;
    if (x.cluster > 1 && !x.in_turn && x.n <= 64 && s->p->product->kind != op_matmul) return;
    if (least_seconds(s, &x) >= s->least) return;
    try_tile(s, &x, 1);
    if (workgroups > units) try_tile(s, &x, 2);
}

/* x has m and n. Tries it without multicast, with multicast of rows or of columns, and with K split. Multicast of both rows and columns
 * took 1.1 to 1.2 times as long as multicast of rows alone, and up to 1.7 times as long as predicted. In matmuls, four workgroups that
 * multicast rows have short k tiles: 1344x768x1280 by 136x64 took 10.7 us with k tiles of 128, 6.5 with those of 64. */
static void try_slices(swap_ab_search *s, gemm_swap_ab_tile x, int most_split)
{
    enum { most = 8, least_k_tiles = 4 };
    const problem *p = s->p;
    const long long k_tiles = (product_length(p) + x.k - 1) / x.k, row_tiles = (problem_rows(p) + x.m - 1) / x.m;
    for (x.split_k = 1; x.split_k <= most_split && (x.split_k == 1 || k_tiles >= 2 * x.split_k); x.split_k *= 2)
        for (x.cluster = 1; x.cluster <= 4 && x.cluster <= column_tiles(p, x.n) && x.m >= 8 * x.cluster; x.cluster *= 2)
            for (x.cluster_m = 1; x.cluster_m <= (x.cluster > 1 ? 1 : 4) && swap_ab_members(&x) * x.split_k <= most; x.cluster_m *= 2) {
                if (row_tiles % x.cluster_m || (swap_ab_members(&x) > 1 && k_tiles < (long long)least_k_tiles * x.split_k)) continue;
                if (x.cluster == 4 && x.k > 64 && is_short_matmul(p)) continue;
                const bool turns = x.cluster > 1 && x.split_k == 1 && x.cluster_m == 1 && !p->product->attributes.transpose_a;
                for (x.in_turn = 0; x.in_turn <= turns; x.in_turn++) try_round(s, x);
            }
}

static void try_sharing(swap_ab_search *s, gemm_swap_ab_tile x)
{
    enum { most_split = 8 };
    try_slices(s, x, most_split);
}

static void try_whole(swap_ab_search *s, gemm_swap_ab_tile x) { try_slices(s, x, 1); }

/* True for a launch of one round over long K, not split, of a linear that only rounds. Many of its tiles are predicted alike, but their
 * order is predicted well. H200, us: 2048x2264x26240 by 208x192 374, by 192x192 341; 768x4096x14336 by wgmma 117.8, by 192x128 116.4. */
static bool is_long_round(const problem *p, const gemm_swap_ab_tile *x)
{
    enum { long_k = 8192 };
    const bool whole = x->split_k == 1 && x->tail == 1, one_round = swap_ab_workgroups(p, x) <= p->device->units;
    return whole && one_round && product_length(p) >= long_k && p->product->kind != op_matmul && product_is_rounded(p);
}

void swap_ab_16_bit_choose(const problem *p, const program *by, gemm_swap_ab_tile *best)
{
    enum { least_m = 16, most_n = 256, most_n_of_long_k_tiles = 128 };
    const double clearly_in_long_round = 0.97;
    swap_ab_search s = {p, by, best, clearly_16_bit(p) * swap_ab_seconds(p, by, best)};
    const int step = swap_ab_column_step_of(p);
    swap_ab_try_shapes(&s, &(swap_ab_shapes){.k = 64, .least_m = least_m, .most_n = most_n, .step = step}, try_sharing);
    swap_ab_try_shapes(&s, &(swap_ab_shapes){.k = 128, .least_m = least_m, .most_n = most_n_of_long_k_tiles, .step = step}, try_sharing);
    if (is_long_round(p, best)) {
        s.least = clearly_in_long_round * swap_ab_seconds(p, by, best);
        swap_ab_try_shapes(&s, &(swap_ab_shapes){.k = 64, .least_m = least_m, .most_n = most_n, .step = step}, try_whole);
    }
    swap_ab_choose_persistent(p, by, best);
}
