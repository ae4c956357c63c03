/* Products on a wave's wmma (templates/gemm/gemm_mfma.h). In: a product. Out: the largest tile of which there are enough. */
#include "gen/program/waves.h"

static const char *obstacle(const problem *p) { return wave_product_obstacle(p, layer_wmma, "operands are neither bf16 nor f16"); }

static void defaults(const problem *p, ir_tile *t) { wave_product_defaults(p, t, 2); /* a lane has half the registers of CDNA's */ }

const program gemm_wmma_program = {.kind = program_gemm_wmma,
                                   .device = "gemm_mfma",
                                   .template = "templates/gemm/gemm_mfma.h",
                                   .isa = {{layer_wmma, "templates/isa/wmma.h"}},
                                   .memory = "pump_memory<one_phase<$P>>::bytes",
                                   .entry = "TF_KERNEL_PUMP($K, one_phase<$P>)",
                                   .obstacle = obstacle,
                                   .worse = wave_product_worse,
                                   .demand = wave_product_demand,
                                   .defaults = defaults,
                                   .illegal = wave_product_illegal,
                                   .shared_bytes = wave_product_bytes,
                                   .smaller = wave_product_smaller,
                                   .geometry = wave_product_geometry,
                                   .parts = wave_product_parts,
                                   .members = wave_product_members,
                                   .weights = weights_as_rows};
