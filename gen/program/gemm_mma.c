/* Products on mma (templates/gemm/gemm_mma.h), for NVIDIA devices without wgmma. In: a product. Out: the fastest predicted tile. */
#include "gen/emit/gemm.h"
#include "gen/program/products.h"
#include "ir/devices/occupancy.h"
#include <math.h>

extern const program gemm_mma_program;

enum { element_bytes = 2 }; /* of both operands in shared memory */

/* Warps form a grid over the tile, warps_down() of them along its rows and threads / 32 / warps_down() along its columns. */
static int warps_down(const gemm_mma_tile *t)
{
    const int warps = t->threads / 32;
    return t->m < 64 ? 1 : warps == 8 && t->m >= 2 * t->n ? 4 : 2;
}

/* multistage_memory<...>::bytes; sums: the epilogue stores partial sums of rows */
static long long memory_of(const gemm_mma_tile *t, bool sums)
{
    return (long long)t->stages * (t->m + t->n) * t->k * element_bytes +
           (sums ? (long long)t->m * (t->threads / 32 / warps_down(t)) * 4 : 0);
}

/* Workgroups that share a multiprocessor. 128 accumulators and the double-buffered operands take 256 registers. */
static int resident(const target_info *target, const gemm_mma_tile *t, bool sums)
{
    const int reserved = unit_room_of(target).reserved;
    const int results = t->m * t->n / t->threads,
              registers = results > 64   ? 256
                          : results > 32 ? 168
                                         : 128,
              by_registers = groups_by_registers(target, t->threads, registers);
    const long long by_shared = (target->lds_bytes + reserved) / (memory_of(t, sums) + reserved);
    return by_shared < 1 ? 1 : by_shared < by_registers ? (int)by_shared : by_registers;
}

/* Share of the rate of matrix units that a tile reaches: with fewer results per thread or workgroup, loads of operands take more of the
 * time. */
static double share_of(const problem *p, const gemm_mma_tile *x)
{
    const int results = x->m * x->n / x->threads;
    const double slowness = results >= 128 ? (x->m * x->n >= 32768 ? 1 : 1.1) : results >= 64 ? 1.2 : 1.3;
    return p->target->matrix_share / slowness;
}

/* On targets with wgmma, mma reaches half the rate; whether it is faster for small products there was never measured. */
static const worse_range worse[] = {{where_warpgroups, .why = "the target has wgmma"},
                                    {where_guessed | where_16_bits, .most_rows = 32,
                                     .why = "register_fed reads each weight once for all rows"},
                                    {where_in_list | where_16_bits, .most_rows = 32, .than = program_gemm_register_fed,
                                     .why = "register_fed loads weights before it waits for rows"},
                                    {0}};

static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    enum { stored_per_cycle = 16 /* results */, begin = 2500 /* cycles */ };
    const gemm_mma_tile *x = &t->gemm_mma;
    const int warps = x->threads / 32, down = warps_down(x);
    const double k_tiles = ceil((double)product_length(p) / x->k) * product_passes(p, weights_in_terms),
                 k_tile_bytes = (double)element_bytes * (x->m + x->n) * x->k;
    product_cost(p, &(product_cut){x->m, x->n, x->k, 1, x->group_m, 1, weights_in_terms}, d);
    d->per_unit = resident(p->target, x, false);
    d->matrix = true, d->products_share = share_of(p, x);
    d->shared = k_tiles * element_bytes * (double)(x->m * (warps / down + 1) + x->n * (down + 1)) * x->k;
    d->ahead = k_tile_bytes * (x->stages - 1), d->streamed = k_tile_bytes * k_tiles;
    d->end_cycles = (double)x->m * x->n / stored_per_cycle, d->start_cycles = begin;
}

static const char *obstacle(const problem *p) { return obstacle_to_16_bit_boxes(p, layer_mma, weights_in_terms); }

/* The fastest predicted of some tiles. 128 x 256, with 64 x 64 per warp, reads the least from shared memory; smaller ones are for small
 * products. */
static void defaults(const problem *p, ir_tile *t)
{
    static const gemm_mma_tile known[] = {{128, 256, 32, 256, 4, 8}, {256, 128, 32, 256, 4, 8}, {128, 128, 32, 128, 3, 8},
                                          {128, 128, 64, 256, 3, 8}, {64, 128, 32, 128, 4, 8},  {64, 128, 64, 128, 4, 8},
                                          {64, 64, 64, 128, 3, 8},   {32, 128, 64, 128, 4, 8}};
    const long long K = product_length(p);
    ir_tile x = *t;
    t->gemm_mma = known[0];
    double least = 1e30;
    /* K above `longest` needs blocked summation, for which only a thread with at most `folded` results has registers (gemm_mma.h) */
    enum { longest = 32768, folded = 32 };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        x.gemm_mma = known[i];
        if (K > longest && known[i].m * known[i].n / known[i].threads > folded) continue;
        const double seconds = program_seconds(p, &gemm_mma_program, &x);
        if (seconds < 0.98 * least) t->gemm_mma = known[i], least = seconds;
    }
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    const gemm_mma_tile *x = &t->gemm_mma;
    if (x->k != 32 && x->k != 64) return "k must be 32 or 64";
    if (x->threads != 128 && x->threads != 256) return "threads must be 128 or 256";
    const int lines = x->threads / (x->k / 8), down = warps_down(x), across = x->threads / 32 / down;
    if (x->m % (16 * down) || x->n % (32 * across)) return "warps must divide m into rows of 16 and n into groups of 32 columns";
    if (matmul_is_across(p->product) && x->n % 64) return "n must be a multiple of 64 for B as [K, N]";
    if (x->m % lines || x->n % lines) return "m and n must be multiples of the rows that all threads copy at once";
    return x->m * x->n / x->threads > 128 ? "a thread keeps at most 128 results" : NULL;
}

static long long shared_bytes(const problem *p, const ir_tile *t) { return memory_of(&t->gemm_mma, problem_sums_rows(p)); }

/* The first legal shape with fewer results per thread. */
static bool smaller(const problem *p, ir_tile *t)
{
    static const tile_shape shapes[] = {{128, 128, 256}, {64, 128, 128}, {64, 128, 256}, {64, 64, 128}, {32, 64, 128}};
    gemm_mma_tile *x = &t->gemm_mma;
    const int results = x->m * x->n / x->threads;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const tile_shape *s = &shapes[i];
        if (s->m * s->n / s->threads >= results) continue;
        x->m = s->m, x->n = s->n, x->threads = s->threads;
        if (!illegal(p, t)) return true;
    }
    return false;
}

static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    products_geometry(p, t->gemm_mma.m, t->gemm_mma.n, to);
    to->resident = resident(p->target, &t->gemm_mma, problem_sums_rows(p));
}

static int partials(const problem *p, const ir_tile *t) { return column_tiles(p, t->gemm_mma.n); }

static void members(emission *e, writer *w)
{
    const gemm_mma_tile *x = &e->phase->tile.gemm_mma;
    gemm g = gemm_start(e, w, 0, gemm_stored_width);
    gemm_write_sizes(&g);
    write_line(w, "static constexpr int tile_m = %d, tile_n = %d, tile_k = %d, threads = %d, stages = %d, group_m = %d;", x->m, x->n, x->k,
               x->threads, x->stages, x->group_m);
    write_line(w, "static constexpr int width = %d, resident = %d;", g.width, resident(e->plan->target, x, g.row_sum != NULL));
    write_stride(e, w, "a_stride", g.a);
    write_line(w, "static constexpr int a_unit = 16, b_unit = 16;");
    write_line(w, "static constexpr bool row_sums = %s, reads = %s;", g.row_sum ? "true" : "false", gemm_reads(&g) ? "true" : "false");
    gemm_write_forms(&g, true, gemm_is_matmul(&g) ? NULL : "in_pieces");
    gemm_write_operand_types(&g);
    gemm_write_context(&g);
    if (gemm_is_batched(&g)) gemm_write_batches(&g);
    if (gemm_is_matmul(&g)) gemm_write_dense_rows(&g);
    else gemm_write_rows_of_operands(&g);
    gemm_write_epilogue(&g);
}

const program gemm_mma_program = {.kind = program_gemm_mma,
                                  .device = "gemm_mma",
                                  .template = "templates/gemm/gemm_mma.h",
                                  .obstacle = obstacle,
                                  .worse = worse,
                                  .describe_cost = describe_cost,
                                  .defaults = defaults,
                                  .illegal = illegal,
                                  .shared_bytes = shared_bytes,
                                  .smaller = smaller,
                                  .geometry = geometry,
                                  .partials = partials,
                                  .members = members,
                                  .weights = weights_in_terms,
                                  .several_passes = true,
                                  .aligned_rows = true};
