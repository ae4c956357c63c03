/* Attention of few queries over a cache on a wave's mfma, and on its wmma (templates/attention/decode_mma.h), in one launch: the same
 * program, of waves of 64 and of 32 lanes. In: an attention over a cache. Out: a tile that keeps as many bytes under way as
 * memory needs. */
#include "gen/program/decode_whole.h"

static const char *obstacle(const problem *p)
{
    enum { most_results = 96 }; /* of a lane, beside what it loads */
    const int rows = p->target->matrix_rows, most_columns = most_results * p->target->wave / rows;
    if (problem_head(p) > most_columns)
        return arena_printf(p->a, "a lane's registers cannot hold heads of more than %d columns", most_columns);
    for (int i = 0; i < 3; i++)
        if (view_of(p->a, problem_attention(p)->inputs[i]).stride >= (1 << 30) / 64) return "rows exceed 32-bit offsets";
    return decode_whole_obstacle(p);
}

static const worse_range worse[] = {{.where = where_many_at_cache, .why = many_at_cache_why}, {0}};

/* Bytes that a unit has to ask for at a time: of a wave that multiplies what came nothing is under way. */
static double needed(const problem *p)
{
    return 2 * p->device->numbers[number_bandwidth].value * device_latency(p->device) / p->device->units;
}

/* Four waves, one a SIMD, of two workgroups a unit: one loads while the other multiplies. Of long heads 512 registers a lane hold one of
 * them, with twice as much under way; 256 hold four, with half as much. A wave takes more keys at a time where less is under way than
 * memory needs, the registers hold them, and there are turns for every workgroup. */
static void defaults(const problem *p, ir_tile *tile)
{
    const int unit = p->target->matrix_columns, waves = 4;
    const int resident = problem_head(p) <= 128 ? 2 : p->target->lane_registers >= 512 ? 1 : 4;
    decode_whole_tile t = {.keys = unit, .threads = waves * p->target->wave, .resident = resident, .splits = 1, .cluster = 1};
    tile->decode_whole = t;
    while (t.threads > p->target->wave && decode_whole_bytes(p, tile) > p->target->static_bytes)
        tile->decode_whole.threads = t.threads /= 2;
    const long long room = (long long)p->device->units * t.resident;
    while (t.keys < 64 && problem_head(p) * t.keys * 2 <= 128 * unit && (double)(decode_in_flight(p, &t) * t.resident) < needed(p) &&
           decode_turns(p, &t) * decode_work_tiles(p) >= 2 * room)
        t.keys *= 2;
    t.splits = decode_splits(p, &t);
    tile->decode_whole = t;
}

/* Fewer keys at a time, then fewer workgroups with more registers each. */
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
