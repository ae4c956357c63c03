/* Attention on a wave's wmma (templates/attention/attention_mfma.h). In: an attention over all keys. Out: its tile by how many there are.
 */
#include "gen/emit/attention.h"
#include "gen/program/attention.h"
#include "gen/program/waves.h"

static const char *obstacle(const tile_request *r) { return wave_attention_obstacle(r, 128); }
static void defaults(const tile_request *r, ir_tile *t) { t->attention_mfma = wave_attention_defaults(r, true); }

static const char *illegal(const tile_request *r, const ir_tile *t)
{
    (void)r;
    return wave_attention_illegal(&t->attention_mfma);
}

static bool smaller(const tile_request *r, ir_tile *t)
{
    (void)r;
    return wave_attention_smaller(&t->attention_mfma);
}

static long long shared_bytes(const tile_request *r, const ir_tile *t) { return wave_attention_bytes(r, &t->attention_mfma); }
static void geometry(const tile_request *r, const ir_tile *t, launch *l) { attention_geometry(r, t->attention_mfma.block_q, l); }
static void members(emission *e, writer *w) { wave_attention_members(e, w, &e->phase->tile.attention_mfma); }

const program attention_wmma_program = {.kind = program_attention_wmma,
                                        .device = "attention_mfma",
                                        .template = "templates/attention/attention_mfma.h",
                                        .memory = "pump_memory<one_phase<$P>>::bytes",
                                        .entry = "TF_KERNEL_PUMP($K, one_phase<$P>)",
                                        .obstacle = obstacle,
                                        .cost = wave_attention_cost,
                                        .defaults = defaults,
                                        .illegal = illegal,
                                        .shared_bytes = shared_bytes,
                                        .smaller = smaller,
                                        .geometry = geometry,
                                        .members = members};
