/* Products on a warp's mma (templates/gemm/gemm_mma.h). In: a product. Out: its tile by a model of its time on NVIDIA machines without
 * wgmma. */
#include "gen/emit/gemm.h"
#include "gen/program/products.h"

/* Where there is wgmma, too, that one is faster. */
static double cost(const tile_request *r)
{
    (void)r;
    return COST_OF_MATRIX_UNITS + 0.1;
}

static int warps_down(const gemm_mma_tile *t)
{
    const int warps = t->threads / 32;
    return t->m < 64 ? 1 : warps == 8 && t->m >= 2 * t->n ? 4 : 2;
}

/* stream_memory<...>::bytes */
static long long memory_of(const gemm_mma_tile *t, bool sums)
{
    return (long long)t->slots * (t->m + t->n) * t->k * 2 + (sums ? (long long)t->m * (t->threads / 32 / warps_down(t)) * 4 : 0);
}

/* Workgroups that share a multiprocessor. Registers: 128 results and the operands of two units take 256. Of shared memory a multiprocessor
 * of sm_86 has 100 KB, one of which goes with each workgroup. */
static int resident(const gemm_mma_tile *t, bool sums)
{
    const int results = t->m * t->n / t->threads,
              registers = results > 64   ? 256
                          : results > 32 ? 168
                                         : 128,
              by_registers = 65536 / (registers * t->threads);
    const long long by_shared = 100 * 1024 / (memory_of(t, sums) + 1024);
    return by_shared < 1 ? 1 : by_shared < by_registers ? (int)by_shared : by_registers;
}

/* Cycles of a stage of `together` workgroups on one multiprocessor: 1024 multiply-adds, or 128 bytes of shared memory, a cycle; or, as
 * measured on an H200, 1800 until what was asked for `slots - 1` stages ago has come. */
static double stage_cycles(const gemm_mma_tile *t, long long together)
{
    const int warps = t->threads / 32, down = warps_down(t);
    const double multiply = (double)t->m * t->n * t->k / 1024, shared = (double)(t->m * (warps / down + 1) + t->n * (down + 1)) * t->k / 64;
    const double busy = (multiply > shared ? multiply : shared) * (double)together, latency = 1800.0 / (t->slots - 1);
    return busy > latency ? busy : latency;
}

static double tile_cycles(const gemm_mma_tile *t, long long tiles, long long K)
{
    const long long together = resident(t, false), rounds = tiles / together, rest = tiles % together;
    const double stage = (double)rounds * stage_cycles(t, together) + (rest ? stage_cycles(t, rest) : 0);
    return (double)((K + t->k - 1) / t->k) * stage + (double)tiles * t->m * t->n / 16 + 2500;
}

static const char *obstacle(const tile_request *r) { return obstacle_to_16_bits(r, layer_mma); }

/* 128 x 256 with a warp on 64 x 64 reads least from shared memory; the others are for few tiles. */
static void defaults(const tile_request *r, ir_tile *t)
{
    static const struct {
        gemm_mma_tile tile;
        double slowness; /* per product beside the first, all multiprocessors busy, on an H200 */
    } known[] = {{{128, 256, 32, 256, 4, 8}, 1},    {{256, 128, 32, 256, 4, 8}, 1},   {{128, 128, 32, 128, 3, 8}, 1.1},
                 {{128, 128, 64, 256, 3, 8}, 1.18}, {{64, 128, 32, 128, 4, 8}, 1.24}, {{64, 128, 64, 128, 4, 8}, 1.24},
                 {{64, 64, 64, 128, 3, 8}, 1.3},    {{32, 128, 64, 128, 4, 8}, 1.3}};
    const long long rows = request_rows(r), K = value_columns(request_product(r)->inputs[0]);
    t->gemm_mma = known[0].tile;
    double least = 1e30;
    enum {
        longest = 32768,
        folded = 32
    }; /* longer sums are sums of sums, for which a thread has registers beside so many results (gemm_mma.h) */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const gemm_mma_tile *x = &known[i].tile;
        if (K > longest && x->m * x->n / x->threads > folded) continue;
        const long long count = ((rows + x->m - 1) / x->m) * ((r->packed_n + x->n - 1) / x->n);
        const double cycles = known[i].slowness * tile_cycles(x, (count + r->device->units - 1) / r->device->units, K);
        if (cycles < 0.98 * least) t->gemm_mma = *x, least = cycles;
    }
}

static const char *illegal(const tile_request *r, const ir_tile *t)
{
    (void)r;
    const gemm_mma_tile *x = &t->gemm_mma;
    if (x->k != 32 && x->k != 64) return "k is 32 or 64";
    if (x->threads != 128 && x->threads != 256) return "threads is 128 or 256";
    const int lines = x->threads / (x->k / 8), down = warps_down(x), across = x->threads / 32 / down;
    if (x->m % (16 * down) || x->n % (32 * across)) return "the warps share out m in rows of 16 and n in blocks of 32 columns";
    if (x->m % lines || x->n % lines) return "the threads copy m and n in whole turns";
    return x->m * x->n / x->threads > 128 ? "a thread has at most 128 results" : NULL;
}

static long long shared_bytes(const tile_request *r, const ir_tile *t) { return memory_of(&t->gemm_mma, request_sums_rows(r)); }

/* The first shape with fewer results a thread that the template takes. */
static bool smaller(const tile_request *r, ir_tile *t)
{
    static const tile_shape shapes[] = {{128, 128, 256}, {64, 128, 128}, {64, 128, 256}, {64, 64, 128}, {32, 64, 128}};
    gemm_mma_tile *x = &t->gemm_mma;
    const int results = x->m * x->n / x->threads;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const tile_shape *s = &shapes[i];
        if (s->m * s->n / s->threads >= results) continue;
        x->m = s->m, x->n = s->n, x->threads = s->threads;
        if (!illegal(r, t)) return true;
    }
    return false;
}

static void geometry(const tile_request *r, const ir_tile *t, launch *l)
{
    products_geometry(r, t->gemm_mma.m, t->gemm_mma.n, l);
    l->resident = resident(&t->gemm_mma, request_sums_rows(r));
}

static int parts(const tile_request *r, const ir_tile *t) { return column_tiles(r, t->gemm_mma.n); }

static void members(emission *e, writer *w)
{
    const gemm_mma_tile *x = &e->phase->tile.gemm_mma;
    gemm g = gemm_start(e, w, false, gemm_stored_width);
    gemm_write_sizes(&g);
    write_line(w, "static constexpr int tile_m = %d, tile_n = %d, tile_k = %d, threads = %d, slots = %d, group = %d;", x->m, x->n, x->k,
               x->threads, x->slots, x->group);
    write_line(w, "static constexpr int width = %d, resident = %d;", g.width, resident(x, g.row_sum != NULL));
    write_line(w, "static constexpr long long a_stride = %lld;", view_of(e->a, g.a).stride);
    write_line(w, "static constexpr bool row_sums = %s, reads = %s;", g.row_sum ? "true" : "false", gemm_reads(&g) ? "true" : "false");
    gemm_write_operand_types(&g);
    gemm_write_context(&g);
    gemm_write_batches(&g);
    gemm_write_rows_of_operands(&g);
    gemm_write_epilogue(&g);
}

const program gemm_mma_program = {.kind = program_gemm_mma,
                                  .device = "gemm_mma",
                                  .template = "templates/gemm/gemm_mma.h",
                                  .memory = "stream_memory<$P>::bytes",
                                  .entry = "TF_KERNEL_STREAM($K, $P)",
                                  .obstacle = obstacle,
                                  .cost = cost,
                                  .defaults = defaults,
                                  .illegal = illegal,
                                  .shared_bytes = shared_bytes,
                                  .smaller = smaller,
                                  .geometry = geometry,
                                  .parts = parts,
                                  .members = members,
                                  .pack = "pack",
                                  .aligned_rows = true};
