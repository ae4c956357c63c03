/* Products on a wave's wmma (templates/gemm/gemm_mfma.h). In: a product. Out: the largest tile of which there are enough. */
#include "gen/program/waves.h"

static const char *obstacle(const tile_request *r)
{
    const dtype type = request_product(r)->inputs[0]->type;
    const char *other = wave_product_obstacle(r);
    if (other) return other;
    return dtype_multiplies(type, layer_wmma) ? NULL : "operands are neither bf16 nor f16";
}

static void defaults(const tile_request *r, ir_tile *t)
{
    t->gemm_mfma = wave_product_defaults(r, 2); /* a lane has half the registers of CDNA's */
}

static bool smaller(const tile_request *r, ir_tile *t) { return wave_product_smaller(r, &t->gemm_mfma); }

static const char *illegal(const tile_request *r, const ir_tile *t) { return wave_product_illegal(r, &t->gemm_mfma); }
static long long shared_bytes(const tile_request *r, const ir_tile *t) { return wave_product_bytes(r, &t->gemm_mfma); }
static void geometry(const tile_request *r, const ir_tile *t, launch *l) { wave_product_geometry(r, &t->gemm_mfma, l); }
static int parts(const tile_request *r, const ir_tile *t) { return wave_product_parts(r, &t->gemm_mfma); }
static void members(emission *e, writer *w) { wave_product_members(e, w, &e->phase->tile.gemm_mfma); }

const program gemm_wmma_program = {.kind = program_gemm_wmma,
                                   .device = "gemm_mfma",
                                   .template = "templates/gemm/gemm_mfma.h",
                                   .memory = "pump_memory<one_phase<$P>>::bytes",
                                   .entry = "TF_KERNEL_PUMP($K, one_phase<$P>)",
                                   .obstacle = obstacle,
                                   .cost = wave_product_cost,
                                   .defaults = defaults,
                                   .illegal = illegal,
                                   .shared_bytes = shared_bytes,
                                   .smaller = smaller,
                                   .geometry = geometry,
                                   .parts = parts,
                                   .members = members,
                                   .pack = "pack"};
