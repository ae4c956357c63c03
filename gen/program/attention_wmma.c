/* Attention on a wave's wmma (templates/attention/attention_mfma.h). In: an attention over all keys. Out: its tile by how many there are.
 */
#include "gen/program/waves.h"

static const char *obstacle(const problem *p) { return wave_attention_obstacle(p, 128); }
static void defaults(const problem *p, ir_tile *t) { wave_attention_defaults(p, t, true); }

const program attention_wmma_program = {.kind = program_attention_wmma,
                                        .device = "attention_mfma",
                                        .template = "templates/attention/attention_mfma.h",
                                        .isa = {{layer_wmma, "templates/isa/wmma_wide.h"}},
                                        .memory = "pump_memory<one_phase<$P>>::bytes",
                                        .entry = "TF_KERNEL_PUMP($K, one_phase<$P>)",
                                        .obstacle = obstacle,
                                        .worse = wave_attention_worse,
                                        .demand = wave_attention_demand,
                                        .defaults = defaults,
                                        .illegal = wave_attention_illegal,
                                        .shared_bytes = wave_attention_bytes,
                                        .smaller = wave_attention_smaller,
                                        .geometry = wave_attention_geometry,
                                        .members = wave_attention_members};
