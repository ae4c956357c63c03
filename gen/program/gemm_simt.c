/* Products on register tiles by vector instructions (templates/gemm/gemm.h), for any operands and any target, hosts included. In: a
 * product. Out: a tile: on hosts by the number of rows, on GPUs the fastest predicted. */
#include "gen/emit/gemm.h"
#include "gen/program/products.h"
#include <math.h>

extern const program gemm_simt_program;

/* Tiles of few results, of which a launch has few. Their threads wait for nothing but their own multiply-adds. */
static bool is_small(const gemm_registers_tile *x)
{
    enum { results = 32 * 32 };
    return x->m * x->n <= results;
}

/* Loads of the next k tile are in flight while one is computed. With 8 x 8 results per thread the program reaches 0.6 of the vector rate,
 * as reading a number from shared memory costs as much as a multiply-add. */
static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    enum { end_cycles = 600, most_at_once = 4, few_results = 8 };
    const double reached = 0.75; /* loads from shared memory take a part of the vector rate; this share of the rest is reached */
    const gemm_registers_tile *x = &t->gemm_registers;
    const double k_tile_bytes =
        x->k * (x->m * operand_bytes(p, weights_widened, operand_a) + x->n * operand_bytes(p, weights_widened, operand_b));
    product_cost(p, &(product_cut){x->m, x->n, x->k, x->split_k, 1, 1, weights_widened}, d);
    d->per_unit = x->threads < 512 ? 2 : 1;
    d->ahead = k_tile_bytes, d->streamed = k_tile_bytes * ceil(ceil((double)product_length(p) / x->k) / x->split_k);
    const double results = x->thread_m * x->thread_n;
    if (is_small(x)) d->threads *= fmax(1, fmin(most_at_once, results / few_results)); /* which have that many independent multiply-adds */
    d->products_share = reached * results / (results + x->thread_m + x->thread_n), d->trips = 1;
    d->end_cycles = end_cycles + register_tile_meets(x);
}

static const struct known_tile {
    int most_rows; /* the tile is for up to this many rows; 0: any number */
    int m, n, k, thread_m, thread_n;
} host_tiles[] = {{4, 4, 256, 64, 4, 32}, {16, 16, 128, 64, 8, 32}, {48, 32, 128, 64, 8, 32}, {0, 128, 128, 64, 8, 32}},
  gpu_tiles[] = {{0, 32, 64, 32, 2, 8}, {0, 64, 64, 16, 4, 8}, {0, 128, 64, 16, 8, 8}, {0, 128, 128, 16, 8, 8}},
  in_teams[] = {{0, 64, 64, 32, 4, 8}, {0, 32, 32, 32, 4, 8}};
enum { teams = 4 }; /* teams of threads in the tiles in_teams; they share out K */

static void take(ir_tile *t, const struct known_tile *x)
{
    const int threads = x->m / x->thread_m * (x->n / x->thread_n);
    t->gemm_registers = (gemm_registers_tile){x->m, x->n, x->k, x->thread_m, x->thread_n, threads, .stages = 2, .split_k = 1};
}

/* If there are too few tiles for all units, tries to split K into slices of at least 8 k tiles, and for K up to 1024 tiles of 32x32, whole
 * or in slices of at least 5 k tiles. Changes t if that is predicted to take less than 0.9 of *least, the seconds of t. H200, us:
 * 272x201x352 in f32 by 32x32 7.6, in two slices 6.7, by 32x64 11.8, on wgmma_3xtf32 15.3. */
static void try_parts(const problem *p, double *least, ir_tile *t)
{
    enum { least_k_tiles = 8, least_k_tiles_of_small = 5, longest_of_small = 1024, most_parts = 512 };
    const size_t alone = sizeof gpu_tiles / sizeof *gpu_tiles;
    const double clearly = 0.9;
    const bool tries_small = p->product->kind == op_matmul && target_has(p->target, layer_wgmma_3xtf32); /* where it was timed */
    *least *= clearly;
    for (size_t i = 0; i < alone + sizeof in_teams / sizeof *in_teams; i++)
        for (int each = 1; each <= 2; each++) { /* workgroups per unit */
            ir_tile tile = *t;
            take(&tile, i >= alone ? &in_teams[i - alone] : &gpu_tiles[i]);
            gemm_registers_tile *x = &tile.gemm_registers;
            if (i >= alone) x->threads *= teams;
            const bool small = is_small(x);
            const int k_tiles = small ? least_k_tiles_of_small : least_k_tiles;
            x->split_k = register_tile_split(p, x, each * p->device->units, most_parts, product_length(p) / (k_tiles * x->k));
            if (small && (!tries_small || product_length(p) > longest_of_small)) continue;
            const double seconds = x->split_k >= (small ? 1 : 2) ? program_seconds(p, &gemm_simt_program, &tile) : INFINITY;
            if (seconds < *least) *t = tile, *least = seconds;
        }
}

/* On GPUs the first of gpu_tiles wins ties: the smallest, which computes the least padding. */
static void defaults(const problem *p, ir_tile *t)
{
    const struct known_tile *x = host_tiles;
    double least = 1e30;
    if (p->target->serial) {
        while (x->most_rows && problem_rows(p) > x->most_rows) x++;
        take(t, x);
        return;
    }
    for (size_t i = 0; i < sizeof gpu_tiles / sizeof *gpu_tiles; i++) {
        ir_tile tile = *t;
        take(&tile, &gpu_tiles[i]);
        const double seconds = program_seconds(p, &gemm_simt_program, &tile);
        if (seconds < 0.98 * least) *t = tile, least = seconds;
    }
    try_parts(p, &least, t);
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    const gemm_registers_tile *x = &t->gemm_registers;
    if (x->m % x->thread_m != 0 || x->n % x->thread_n != 0) return "thread_m must divide m and thread_n must divide n";
    if (x->thread_m > 2 && x->thread_m % 4) return "thread_m must be 1, 2 or a multiple of 4"; /* 16-byte aligned loads */
    if (x->thread_n % (2 * p->target->width) != 0) return arena_printf(p->a, "thread_n must be a multiple of %d", 2 * p->target->width);
    if (x->n % 32) return "n must be a multiple of 32";
    const int team = x->m / x->thread_m * (x->n / x->thread_n), all = x->threads / team;
    if (team * all != x->threads || !is_power_of_two(all)) return "threads must be m/thread_m * n/thread_n, times a power of two";
    if (x->k % all) return "teams of threads must divide k";
    if (all > 1 && (p->target->serial || x->m == x->thread_m)) return "several teams of threads need a GPU, and m above thread_m";
    if (all > 1 && x->stages * x->k * (x->m + x->n) < x->m * x->n) return "the stages must have room for the sums of a team";
    if (x->split_k > (product_length(p) + x->k - 1) / x->k) return "each part of split_k must have at least one k tile";
    return x->k % 16 ? "k must be a multiple of 16" : NULL;
}

static long long shared_bytes(const problem *p, const ir_tile *t)
{
    const gemm_registers_tile *x = &t->gemm_registers;
    const long long pad = p->target->lds_banks ? 4 : 0, a = 4ll * x->k * (x->m + pad), b = 4ll * x->k * (x->n + pad);
    return mixed_memory(x->stages, (a + b + 15) / 16 * 16, problem_sums_rows(p) ? 4ll * x->m * (x->n / x->thread_n) : 4, 16);
}

const program gemm_simt_program = {.kind = program_gemm_simt,
                                   .device = "gemm",
                                   .template = "templates/gemm/gemm.h",
                                   .describe_cost = describe_cost,
                                   .defaults = defaults,
                                   .illegal = illegal,
                                   .shared_bytes = shared_bytes,
                                   .smaller = register_tile_smaller,
                                   .geometry = register_tile_geometry,
                                   .partials = register_tile_partials,
                                   .scratch = register_tile_scratch,
                                   .members = gemm_on_register_tiles,
                                   .weights = weights_widened,
                                   .reads_columns_of_a = true};
