/* Attention of few queries over a cache on a wave's wmma (templates/attention/decode_mma.h), in one launch. In: a decode phase whose keys
 * are not split. Out: a tile that keeps as many bytes under way as memory needs. */
#include "gen/program/decode_whole.h"
#include "gen/program/waves.h"

const program decode_wmma_program = {.kind = program_decode_wmma,
                                     .device = "decode_mma",
                                     .template = "templates/attention/decode_mma.h",
                                     .isa = {{layer_wmma, "templates/isa/wmma_wide.h"}, {layer_wmma, "templates/isa/wave_cache.h"}},
                                     .memory = "sizeof($P::memory)",
                                     .entry = "TF_KERNEL_DECODE($K, $P)",
                                     .obstacle = wave_decode_obstacle,
                                     .demand = decode_whole_demand,
                                     .defaults = wave_decode_defaults,
                                     .illegal = decode_whole_illegal,
                                     .shared_bytes = decode_whole_bytes,
                                     .smaller = wave_decode_smaller,
                                     .geometry = decode_whole_geometry,
                                     .members = decode_whole_members,
                                     .scratch = decode_whole_scratch};
