/* Products on mma (templates/gemm/gemm_mma.h): gemm_mma for NVIDIA devices without wgmma, gemm_mma_direct for operands as stored on all of
 * them. In: a product. Out: the fastest predicted tile. */
#include "gen/emit/gemm.h"
#include "gen/program/products.h"
#include "gen/program/staging.h"
#include "ir/devices/occupancy.h"
#include <math.h>

extern const program gemm_mma_program, gemm_mma_direct_program;

enum { element_bytes = 2 };               /* of both operands in shared memory */
enum { least_unit = 4, whole_unit = 16 }; /* bytes that cp.async copies at a time */

/* Warps form a grid over the tile, warps_down() of them along its rows and threads / 32 / warps_down() along its columns. */
static int warps_down(const gemm_mma_tile *t)
{
    const int warps = t->threads / 32;
    return t->m < 64 ? 1 : warps == 8 && t->m >= 2 * t->n ? 4 : 2;
}

static bool is_direct(const ir_tile *t) { return t->program == program_gemm_mma_direct; }

/* Whether results pass through shared memory. Rows that begin at odd multiples of 2 bytes are then stored in aligned pieces of 16 bytes
 * instead of element by element (H200: 114390x107x144 82 us, 52 so; 6x832x2107x124 186, 101). For rows at multiples of 4 and 8 bytes it
 * took more time (8400x210x320 17.8, 20.9; 10392x16562x268 550, 587). */
static bool stages_results(const problem *p, const ir_tile *t)
{
    return is_direct(t) && results_unit(p) == 1 && product_is_rounded(p) && !staging_obstacle(p, false);
}

/* gemm_mma<...>::scratch_bytes: staged results, or partial sums of rows */
static long long scratch_of(const problem *p, const ir_tile *t)
{
    const gemm_mma_tile *x = &t->gemm_mma;
    const int down = warps_down(x);
    if (stages_results(p, t)) return 16ll * down * (x->n * element_bytes + 16);
    return problem_sums_rows(p) ? (long long)x->m * (x->threads / 32 / down) * 4 : 0;
}

/* multistage_memory<...>::bytes */
static long long memory_of(const problem *p, const ir_tile *t)
{
    const gemm_mma_tile *x = &t->gemm_mma;
    return (long long)x->stages * (x->m + x->n) * x->k * element_bytes + scratch_of(p, t);
}

/* Registers of a thread. 128 accumulators and the double-buffered operands take 256. Copies of fewer than 16 bytes take more addresses. */
static int registers_of(const ir_tile *t)
{
    static const int usual[] = {128, 168, 256}, direct[] = {168, 208, 256};
    const int results = t->gemm_mma.m * t->gemm_mma.n / t->gemm_mma.threads, size = results > 64 ? 2 : results > 32 ? 1 : 0;
    return is_direct(t) ? direct[size] : usual[size];
}

/* Workgroups that share a multiprocessor. */
static int resident(const problem *p, const ir_tile *t)
{
    const target_info *target = p->target;
    const int reserved = unit_room_of(target).reserved, by_registers = groups_by_registers(target, t->gemm_mma.threads, registers_of(t));
    const long long by_shared = (target->lds_bytes + reserved) / (memory_of(p, t) + reserved);
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

/* On targets with wgmma, mma reaches half the rate; whether gemm_mma is faster for small products there was never measured. */
static const worse_range worse[] = {{where_warpgroups, .why = "the target has wgmma"},
                                    {where_guessed | where_16_bits, .most_rows = 32,
                                     .why = "register_fed reads each weight once for all rows"},
                                    {where_in_list | where_16_bits, .most_rows = 32, .than = program_gemm_register_fed,
                                     .why = "register_fed loads weights before it waits for rows"},
                                    {0}};

/* Bytes that cp.async copies of an operand at a time, unless that is a packed weight. */
static int unit_of(arena *a, const ir_value *v) { return (int)value_alignment(a, v); }

/* Cycles that copies of an operand's share of a k tile take, beyond those of 16 bytes at a time. */
static double copy_cycles(const problem *p, operand which, double bytes)
{
    enum { each = 8 /* cycles of a warp's copy */, lanes = 32 };
    const ir_op *product = p->product;
    if (which == operand_b && product->kind != op_matmul) return 0;
    const int unit = unit_of(p->a, product->inputs[which]);
    return unit < least_unit || unit == whole_unit ? 0 : bytes / unit / lanes * each;
}

/* Results that a multiprocessor stores in a cycle (H200). Rows that do not begin at multiples of 16 bytes are stored in smaller pieces. */
static double stored_in_cycle(const problem *p, const ir_tile *t)
{
    const int unit = results_unit(p);
    return !is_direct(t) ? 16 : unit == 8 ? 8 : unit == 4 ? 4 : unit == 2 ? 1.7 : stages_results(p, t) ? 2 : 0.9;
}

static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    enum { shared_bytes_a_cycle = 128, begin = 2500, begin_direct = 3500 /* cycles */ };
    const gemm_mma_tile *x = &t->gemm_mma;
    const int warps = x->threads / 32, down = warps_down(x);
    const double k_tiles = ceil((double)product_length(p) / x->k) * product_passes(p, weights_in_terms),
                 k_tile_bytes = (double)element_bytes * (x->m + x->n) * x->k;
    product_cost(p, &(product_cut){x->m, x->n, x->k, 1, x->group_m, 1, weights_in_terms}, d);
    d->per_unit = resident(p, t);
    d->matrix = true, d->products_share = share_of(p, x);
    d->shared = k_tiles * element_bytes * (double)(x->m * (warps / down + 1) + x->n * (down + 1)) * x->k;
    if (is_direct(t))
        d->shared += k_tiles * shared_bytes_a_cycle * (copy_cycles(p, operand_a, element_bytes * (double)x->m * x->k) +
                                                       copy_cycles(p, operand_b, element_bytes * (double)x->n * x->k));
    d->ahead = k_tile_bytes * (x->stages - 1), d->streamed = k_tile_bytes * k_tiles;
    d->end_cycles = (double)x->m * x->n / stored_in_cycle(p, t), d->start_cycles = is_direct(t) ? begin_direct : begin;
}

static const char *obstacle(const problem *p) { return obstacle_to_16_bit_boxes(p, layer_mma, weights_in_terms); }

/* Rows and columns of an operand with K first are copied by a power of two of threads. */
static bool is_copied_across(int count) { return count >= 64 && is_power_of_two(count); }

static const char *illegal(const problem *p, const ir_tile *t)
{
    const gemm_mma_tile *x = &t->gemm_mma;
    if (x->k != 32 && x->k != 64) return "k must be 32 or 64";
    if (x->threads != 128 && x->threads != 256) return "threads must be 128 or 256";
    const int lines = x->threads / (x->k / 8), down = warps_down(x), across = x->threads / 32 / down;
    if (x->m % (16 * down) || x->n % (32 * across)) return "warps must divide m into rows of 16 and n into groups of 32 columns";
    if (matmul_is_across(p->product) && !is_copied_across(x->n)) return "n must be 64, 128 or 256 for B as [K, N]";
    const bool a_across = is_direct(t) && p->product->attributes.transpose_a;
    if (a_across && !is_copied_across(x->m)) return "m must be 64, 128 or 256 for A as [K, M]";
    if (x->m % lines || x->n % lines) return "m and n must be multiples of the rows that all threads copy at once";
    return x->m * x->n / x->threads > 128 ? "a thread keeps at most 128 results" : NULL;
}

/* The fastest predicted of some tiles. 128 x 256, with 64 x 64 per warp, reads the least from shared memory; smaller ones are for small
 * products. */
static void fastest(const problem *p, const program *of, const gemm_mma_tile *known, int count, ir_tile *t)
{
    const long long K = product_length(p);
    ir_tile x = *t;
    t->gemm_mma = known[0];
    double least = 1e30;
    /* K above `longest` needs blocked summation, for which only a thread with at most `folded` results has registers (gemm_mma.h) */
    enum { longest = 32768, folded = 32 };
    for (int i = 0; i < count; i++) {
        x.gemm_mma = known[i];
        if (K > longest && known[i].m * known[i].n / known[i].threads > folded) continue;
        if (illegal(p, &x) || (is_direct(&x) && memory_of(p, &x) > shared_room_of_phase(p))) continue;
        const double seconds = program_seconds(p, of, &x);
        if (seconds < 0.98 * least) t->gemm_mma = known[i], least = seconds;
    }
}

static void defaults(const problem *p, ir_tile *t)
{
    static const gemm_mma_tile known[] = {{128, 256, 32, 256, 4, 8}, {256, 128, 32, 256, 4, 8}, {128, 128, 32, 128, 3, 8},
                                          {128, 128, 64, 256, 3, 8}, {64, 128, 32, 128, 4, 8},  {64, 128, 64, 128, 4, 8},
                                          {64, 64, 64, 128, 3, 8},   {32, 128, 64, 128, 4, 8}};
    fastest(p, &gemm_mma_program, known, sizeof known / sizeof *known, t);
}

static long long shared_bytes(const problem *p, const ir_tile *t) { return memory_of(p, t); }

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
    to->resident = resident(p, t);
}

static int partials(const problem *p, const ir_tile *t) { return column_tiles(p, t->gemm_mma.n); }

static void members(emission *e, writer *w)
{
    const ir_tile *t = &e->phase->tile;
    const gemm_mma_tile *x = &t->gemm_mma;
    const problem p = plan_problem(e->a, e->plan, e->phase);
    enum { staged_width = 4 };
    gemm g = gemm_start(e, w, stages_results(&p, t) ? results_unit(&p) : 0, gemm_stored_width);
    gemm_write_sizes(&g);
    write_line(w, "static constexpr int tile_m = %d, tile_n = %d, tile_k = %d, threads = %d, stages = %d, group_m = %d;", x->m, x->n, x->k,
               x->threads, x->stages, x->group_m);
    write_line(w, "static constexpr int width = %d, resident = %d;", g.staged_unit ? staged_width : g.width,
               resident(&p, t));
    gemm_write_staging(&g);
    write_stride(e, w, "a_stride", g.a);
    write_line(w, "static constexpr int a_unit = %d, b_unit = %d;", is_direct(t) ? unit_of(e->a, g.a) : whole_unit,
               is_direct(t) && gemm_is_matmul(&g) ? unit_of(e->a, g.b) : whole_unit);
    write_line(w, "static constexpr bool row_sums = %s, reads = %s;", g.row_sum ? "true" : "false", gemm_reads(&g) ? "true" : "false");
    gemm_write_forms(&g, true, gemm_is_matmul(&g) ? NULL : "in_pieces");
    gemm_write_operand_types(&g);
    gemm_write_context(&g);
    if (gemm_is_batched(&g)) gemm_write_batches(&g);
    if (gemm_is_matmul(&g)) gemm_write_dense_rows(&g);
    else gemm_write_rows_of_operands(&g);
    gemm_write_epilogue(&g);
}

/* ---- operands as stored
 * Why other programs on matrix units read rows of the operand without a copy as well, or why cp.async does not reach them as they are: a
 * predicate. NULL: neither. */
static const char *unreached(const problem *p, operand which)
{
    const ir_op *product = p->product;
    const ir_value *v = product->inputs[which];
    const long long unit = value_alignment(p->a, v);
    const bool across = which == operand_a && product->attributes.transpose_a && !target_has(p->target, layer_wgmma);
    if (which == operand_b && product->kind != op_matmul) return "are packed";
    if (value_root(v)->kind == value_result) return "are stored by another phase, where every program can read them";
    if (unit < least_unit) return "begin at odd multiples of 2 bytes";
    return across || unit < whole_unit ? NULL : "begin at multiples of 16 bytes, so no program copies them";
}

/* Why neither operand is reached; NULL: one is. */
static const char *unreached_text(const problem *p)
{
    const ir_op *product = p->product;
    const char *of_a = unreached(p, operand_a), *of_b = unreached(p, operand_b), *a = product->inputs[operand_a]->name;
    if (!of_a || !of_b) return NULL;
    if (product->kind != op_matmul) return arena_printf(p->a, "rows of %%%s %s", a, of_a);
    return arena_printf(p->a, "rows of %%%s %s; rows of %%%s %s", a, of_a, product->inputs[operand_b]->name, of_b);
}

/* With more results in a thread, kernels spill. */
static void direct_defaults(const problem *p, ir_tile *t)
{
    static const gemm_mma_tile known[] = {{128, 128, 64, 256, 3, 8}, {128, 64, 64, 128, 4, 8}, {64, 128, 64, 128, 4, 8},
                                          {64, 128, 32, 128, 4, 8},  {64, 64, 64, 128, 3, 8},  {64, 64, 32, 128, 4, 8}};
    fastest(p, &gemm_mma_direct_program, known, sizeof known / sizeof *known, t);
}

static const char *obstacle_to_direct(const problem *p)
{
    const char *why = obstacle_to_16_bit_boxes(p, layer_mma_direct, weights_in_terms);
    if (why) return why;
    if (has_two_dtypes(p->product)) return "operands are not both bf16 or both f16";
    if (p->ir->level == fusion_block) return "in a launch of several phases, products read aligned copies";
    return unreached_text(p);
}

static const worse_range worse_direct[] = {{where_guessed | where_16_bits, .most_rows = 32,
                                            .why = "register_fed reads each weight once for all rows"},
                                           {0}};

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

const program gemm_mma_direct_program = {.kind = program_gemm_mma_direct,
                                         .device = "gemm_mma",
                                         .template = "templates/gemm/gemm_mma.h",
                                         .obstacle = obstacle_to_direct,
                                         .for_some = true,
                                         .worse = worse_direct,
                                         .describe_cost = describe_cost,
                                         .defaults = direct_defaults,
                                         .illegal = illegal,
                                         .shared_bytes = shared_bytes,
                                         .smaller = smaller,
                                         .geometry = geometry,
                                         .partials = partials,
                                         .members = members,
                                         .weights = weights_in_terms,
                                         .reads_columns_of_a = true,
                                         .aligned_rows = true,
                                         .row_bytes = least_unit};
