/* Flash-decoding in one launch on mfma (waves of 64 lanes) and on wmma (32 lanes), by the same template (templates/attention/decode_mma.h).
 * In: an attention over a cache. Out: a tile that keeps enough bytes in flight to saturate DRAM. */
#include "gen/program/decode_whole.h"

static const char *obstacle(const problem *p)
{
    enum { most_results = 96 }; /* accumulators per lane, besides loads */
    const int rows = p->target->matrix_rows, most_columns = most_results * p->target->wave / rows;
    if (problem_longest_head(p) > most_columns)
        return arena_printf(p->a, "a lane's registers cannot hold heads of more than %d columns", most_columns);
    for (int i = 0; i < 3; i++)
        if (view_of(p->a, p->attention->inputs[i]).stride >= (1 << 30) / 64) return "rows exceed 32-bit offsets";
    return decode_whole_obstacle(p);
}

static const worse_range worse[] = {{.where = where_many_at_cache, .why = many_at_cache_why}, {0}};

/* Twice the bytes in flight per unit that saturate DRAM (bandwidth * latency), as waves that compute have no loads in flight. */
static double needed(const problem *p)
{
    return 2 * p->device->numbers[number_bandwidth].value * device_latency(p->device) / p->device->units;
}

/* Four waves, one per SIMD, and two workgroups per unit: one loads while the other computes. For heads above 128 columns: one workgroup if
 * lanes have 512 registers, four if they have fewer. A wave takes more keys at a time if too few bytes are in flight (needed()), registers
 * hold them, and every workgroup still has an iteration. */
static void defaults(const problem *p, ir_tile *tile)
{
    const int mma_keys = p->target->matrix_columns, waves = 4;
    const int resident = problem_longest_head(p) <= 128 ? 2 : p->target->lane_registers >= 512 ? 1 : 4;
    decode_whole_tile t = {.keys = mma_keys, .threads = waves * p->target->wave, .resident = resident, .splits = 1, .cluster = 1};
    tile->decode_whole = t;
    while (t.threads > p->target->wave && decode_whole_bytes(p, tile) > p->target->static_bytes)
        tile->decode_whole.threads = t.threads /= 2;
    const long long room = (long long)p->device->units * t.resident;
    while (t.keys < 64 && problem_longest_head(p) * t.keys * 2 <= 128 * mma_keys &&
           (double)(decode_in_flight(p, &t) * t.resident) < needed(p) && decode_iterations(p, &t) * decode_work_tiles(p) >= 2 * room)
        t.keys *= 2;
    t.splits = decode_splits(p, &t);
    tile->decode_whole = t;
}

/* First fewer keys at a time, then fewer workgroups with more registers each. */
static bool smaller(const problem *p, ir_tile *tile)
{
    decode_whole_tile *t = &tile->decode_whole;
    if (t->keys > p->target->matrix_columns) return t->keys /= 2, true;
    return t->resident > 1 ? t->resident--, true : false;
}

#define ON(layer, header)                                                                              \
    {.kind = program_decode_##layer,                                                                   \
     .device = "decode_mma",                                                                           \
     .template = "templates/attention/decode_mma.h",                                                   \
     .isa = {{layer_##layer, "templates/isa/" header}, {layer_##layer, "templates/isa/wave_cache.h"}}, \
     .obstacle = obstacle,                                                                             \
     .worse = worse,                                                                                   \
     .describe_cost = decode_whole_cost,                                                               \
     .defaults = defaults,                                                                             \
     .illegal = decode_whole_illegal,                                                                  \
     .shared_bytes = decode_whole_bytes,                                                               \
     .smaller = smaller,                                                                               \
     .geometry = decode_whole_geometry,                                                                \
     .members = decode_whole_members,                                                                  \
     .scratch = decode_whole_scratch}
const program decode_mfma_program = ON(mfma, "mfma.h"), decode_wmma_program = ON(wmma, "wmma_wide.h");
