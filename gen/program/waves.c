/* Products on mfma (waves of 64 lanes) and on wmma (32 lanes), by the same template (templates/gemm/gemm_mfma.h,
 * templates/frame/frame_interleaved.h). In: a product. Out: the largest tile that keeps the device busy. */
#include "gen/program/waves.h"
#include "gen/emit/gemm.h"
#include "gen/program/products.h"
#include "ir/devices/occupancy.h"

enum { wave_row_bytes = 128 }; /* a row of an operand in a k tile */

static weight_numbers numbers_of(const ir_tile *t)
{
    return t->program == program_gemm_mfma ? weights_in_terms_or_f32 : weights_in_terms;
}

/* Bytes from row to row of A as the program reads it, all terms included. */
static long long row_bytes(const problem *p, weight_numbers weights)
{
    const ir_op *product = p->product;
    const ir_value *a = product->inputs[0];
    const dtype own = rows_dtype(product), type = multiplied_dtype(weights, product);
    const view w = view_of(p->a, a);
    return dtype_size(type) * (type == own ? view_most_stride(&w) : format_row_of_terms(own, value_columns(a)));
}

/* types: what to return if the layer does not multiply the operands' dtype. */
static const char *obstacle_to(const problem *p, layer_kind layer, weight_numbers weights, const char *types)
{
    const ir_op *product = p->product;
    const ir_value *a = product->inputs[0], *b = product->inputs[1];
    if (phase_makes(p->phase, a) || phase_makes(p->phase, b)) return "an operand is computed in the prologue";
    if (a->type != b->type && !weights_format(weights, product)) return "A and B differ in dtype";
    if (row_bytes(p, weights) >= (1 << 30) / 256) return "rows of A exceed 32-bit offsets";
    return dtype_multiplies(multiplied_dtype(weights, product), layer) ? terms_obstacle(p, weights) : types;
}

static const char *obstacle_to_mfma(const problem *p)
{
    return obstacle_to(p, layer_mfma, weights_in_terms_or_f32, "operands are not bf16, f16 or f32");
}
static const char *obstacle_to_wmma(const problem *p)
{
    return obstacle_to(p, layer_wmma, weights_in_terms, "operands are neither bf16 nor f16");
}

/* skinny (up to 16 rows) and register_fed (up to 64) read each weight once, at DRAM bandwidth. */
static const worse_range worse[] = {{where_16_bits, .most_rows = 64, .why = "for few rows, other programs read each weight once"},
                                    {where_not_16_bits, .most_rows = 16, .why = "for few rows, other programs read each weight once"},
                                    {0}};

/* True if rows of A are 16-byte aligned and multiples of 16 bytes long. */
static bool plain(const problem *p, const ir_tile *t)
{
    const ir_op *product = p->product;
    if (rows_terms(numbers_of(t), product) > 1) return true;
    const ir_value *a = product->inputs[0];
    const view w = view_of(p->a, a);
    const long long size = dtype_size(a->type);
    return product->kind != op_matmul && w.stride * size % 16 == 0 && w.offset * size % 16 == 0 && value_columns(a) * size % 16 == 0;
}

int wave_groups(const target_info *target, int threads)
{
    const int groups = 2 * unit_room_of(target).simds * target->wave / threads;
    return groups > 1 ? groups : 1;
}

/* Tiles that a chiplet computes at the same time. */
static int chunk_of(const device_model *device, int threads)
{
    return device->units / device->chiplets * wave_groups(device->target, threads);
}

static int length_of(const problem *p, const ir_tile *t)
{
    return wave_row_bytes / dtype_size(multiplied_dtype(numbers_of(t), p->product));
}

/* Loads of the next k tile are in flight while one is computed. */
static void describe_cost(const problem *p, const ir_tile *tile, cost_descriptor *d)
{
    enum { end_cycles = 2000 };
    const gemm_waves_tile *t = &tile->gemm_waves;
    const double k_tile_bytes = (double)(t->m + t->n) * wave_row_bytes;
    const weight_numbers weights = numbers_of(tile);
    product_cost(p, &(product_cut){t->m, t->n, t->k, 1, t->group_m, 1, weights}, d);
    d->per_unit = wave_groups(p->target, t->threads), d->matrix = true;
    d->ahead = k_tile_bytes,
    d->streamed = k_tile_bytes * (double)((product_length(p) + t->k - 1) / t->k * product_passes(p, weights));
    d->end_cycles = end_cycles;
}

/* The largest tile that keeps three quarters of the units busy. */
static void defaults(const problem *p, ir_tile *tile)
{
    static const struct {
        int m, n, threads;
    } tiles[] = {{256, 256, 512}, {128, 256, 512}, {128, 128, 256}, {64, 64, 256}, {32, 128, 256}};
    const ir_op *product = p->product;
    const long long rows = problem_rows(p), units = p->device->units;
    const int first = p->target->lane_registers < 512 ? 2 : 0;
    /* A called function leaves its caller half of the registers, too few for the accumulators of a large tile (HIPRTC 5.2 spills). */
    int i = phase_is_long(p->ir, p->phase, p->target, false) && first < 2 ? 2 : first;
    if (i == 0 && p->target->registers < 512) i = 1; /* gfx908: 256x256 needs more than 128 registers besides accumulators */
    while (i < 3 && (rows + tiles[i].m - 1) / tiles[i].m * ((p->packed_n + tiles[i].n - 1) / tiles[i].n) * 4 < units * 3) i++;
    enum { longest = 32768 }; /* longer K needs blocked summation, and only small tiles have registers for it (gemm_mfma.h) */
    if (product_depth(product) > longest && i < 3) i = 3;
    if (rows <= 32) i = 4;
    gemm_waves_tile t = {.m = tiles[i].m,
                         .n = tiles[i].n,
                         .k = length_of(p, tile),
                         .threads = tiles[i].threads,
                         .stages = 1,
                         .group_m = 8,
                         .chiplets = p->device->chiplets,
                         .chunk = chunk_of(p->device, tiles[i].threads)};
    if (p->target->copies_to_lds && t.threads == 512 && plain(p, tile)) t.stages = 2;
    tile->gemm_waves = t;
}

static const char *illegal(const problem *p, const ir_tile *tile)
{
    const gemm_waves_tile *t = &tile->gemm_waves;
    const int columns = p->target->matrix_columns, results = p->target->lane_registers / 4;
    const int waves = t->threads / p->target->wave, waves_m = t->m >= 64 ? 2 : 1, pass = t->threads / 8; /* pass: rows loaded at once */
    if (t->k != length_of(p, tile)) return "k must be 128 bytes";
    if (t->threads != 128 && t->threads != 256 && t->threads != 512) return "threads must be 128, 256 or 512";
    if (t->m % (16 * waves_m) || t->n % (waves / waves_m * columns))
        return arena_printf(p->a, "waves must divide m into rows of 16 and n into groups of %d columns", columns);
    if ((t->m > pass && t->m % pass) || (t->n > pass && t->n % pass) || t->m > t->threads)
        return "m and n must be multiples of threads / 8";
    if (t->m * t->n / t->threads > results) return arena_printf(p->a, "a thread keeps at most %d results", results);
    if (t->stages == 2 && (!p->target->copies_to_lds || !plain(p, tile) || t->threads != 512 || (t->m != 128 && t->m != 256) || t->n % 128))
        return "stages must be 1; where loads go to LDS directly, with 512 threads, m of 128 or 256, and aligned rows, also 2";
    return NULL;
}

/* The first legal shape with fewer results per thread. */
static bool smaller(const problem *p, ir_tile *tile)
{
    gemm_waves_tile *t = &tile->gemm_waves;
    static const tile_shape shapes[] = {{128, 256, 512}, {128, 128, 256}, {128, 128, 512}, {64, 128, 256}, {64, 64, 256}, {32, 64, 256}};
    const int results = t->m * t->n / t->threads;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const tile_shape *s = &shapes[i];
        if (s->m * s->n / s->threads >= results) continue;
        t->m = s->m, t->n = s->n, t->threads = s->threads, t->stages = 1;
        if (!illegal(p, tile)) return true;
    }
    return false;
}

/* interleaved_memory<...>::bytes */
static long long shared_bytes(const problem *p, const ir_tile *tile)
{
    const gemm_waves_tile *t = &tile->gemm_waves;
    const long long lines = (long long)t->stages * (t->m + t->n) * wave_row_bytes;
    return t->stages == 1 || !problem_sums_rows(p) ? lines : lines + t->m * (t->threads / 64 / 2) * 4;
}

static void geometry(const problem *p, const ir_tile *t, tile_extents *to) { products_geometry(p, t->gemm_waves.m, t->gemm_waves.n, to); }

static int partials(const problem *p, const ir_tile *t) { return column_tiles(p, t->gemm_waves.n); }

static void members(emission *e, writer *w)
{
    const gemm_waves_tile *t = &e->phase->tile.gemm_waves;
    gemm g = gemm_start(e, w, 0, 4);
    gemm_write_sizes(&g);
    write_line(w, "static constexpr int tile_m = %d, tile_n = %d, tile_k = %d, threads = %d, stages = %d, group_m = %d;", t->m, t->n, t->k,
               t->threads, t->stages, t->group_m);
    write_line(w, "static constexpr int chiplets = %d, chunk = %d;", t->chiplets, t->chunk);
    write_stride(e, w, "a_stride", g.a);
    gemm_write_plain(&g);
    gemm_write_operand_types(&g);
    gemm_write_context(&g);
    gemm_write_batches(&g);
    gemm_write_rows_of_a(&g);
    gemm_write_b(&g, false);
    gemm_write_epilogue(&g);
}

#define ON(layer, numbers)                                            \
    {.kind = program_gemm_##layer,                           \
     .device = "gemm_mfma",                                  \
     .template = "templates/gemm/gemm_mfma.h",               \
     .isa = {{layer_##layer, "templates/isa/" #layer ".h"}}, \
     .obstacle = obstacle_to_##layer,                        \
     .worse = worse,                                         \
     .describe_cost = describe_cost,                         \
     .defaults = defaults,                                   \
     .illegal = illegal,                                     \
     .shared_bytes = shared_bytes,                           \
     .smaller = smaller,                                     \
     .geometry = geometry,                                   \
     .partials = partials,                                   \
     .members = members,                                     \
     .weights = numbers,                                     \
     .several_passes = true}
const program gemm_mfma_program = ON(mfma, weights_in_terms_or_f32), gemm_wmma_program = ON(wmma, weights_in_terms);
