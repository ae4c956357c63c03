/* Products of few rows (templates/gemm/gemm.h): waves share out the length, so that a workgroup reads each weight once, at the speed of
 * memory. In: a product. Out: a tile of as many rows as there are, at most 8. */
#include "gen/emit/gemm.h"
#include "gen/program/products.h"

enum { most_rows = 8, block = 32, columns = block / 8 /* of a lane */ };

/* All of the weight is read once for each tile of rows. */
static double cost(const tile_request *r)
{
    const long long rows = request_rows(r);
    return (double)((rows + most_rows - 1) / most_rows);
}

static void defaults(const tile_request *r, ir_tile *t)
{
    const long long rows = request_rows(r), m = rows < most_rows ? power_of_two_up(rows) : most_rows;
    t->gemm_few = (gemm_few_tile){.m = (int)m, .n = block, .k = 16, .thread_m = (int)m, .thread_n = columns, .threads = 256, .slots = 2};
}

static const char *illegal(const tile_request *r, const ir_tile *t)
{
    const gemm_few_tile *x = &t->gemm_few;
    if (x->m != x->thread_m || !is_power_of_two(x->m)) return "m = thread_m, a power of two, at most 16";
    if (x->thread_n != columns || x->n % block != 0) return "n goes in steps of 32 columns, of which a thread has thread_n=4";
    if (x->threads % (r->target->wave * (x->n / block)) != 0) return "as many waves share each 32 columns of n";
    if (x->m * x->n / (2 * r->target->width) > x->threads) return "threads: one a row and 8 columns at least";
    return x->k % 16 ? "k is a multiple of 16" : NULL;
}

/* part[waves][m * 32], sums[] */
static long long shared_bytes(const tile_request *r, const ir_tile *t)
{
    const gemm_few_tile *x = &t->gemm_few;
    return 16 + (4ll * x->m * (x->threads / r->target->wave * block + x->n / (2 * r->target->width)) + 15) / 16 * 16;
}

const program gemm_few_program = {.kind = program_gemm_few,
                                  .device = "gemm",
                                  .template = "templates/gemm/gemm.h",
                                  .memory = "sizeof(mixed_memory<$P>)",
                                  .entry = "TF_KERNEL($K, $T, $S, $P)",
                                  .cost = cost,
                                  .defaults = defaults,
                                  .illegal = illegal,
                                  .shared_bytes = shared_bytes,
                                  .smaller = register_tile_smaller,
                                  .geometry = register_tile_geometry,
                                  .parts = register_tile_parts,
                                  .members = gemm_on_register_tiles,
                                  .pack = "pack"};
