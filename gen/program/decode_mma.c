/* Flash-decoding on mma in one launch (templates/attention/decode_mma.h). In: an attention over a cache. Out: a tile: how many keys a warp
 * takes at a time, how many workgroups share the keys of the batch. In comments: B sequences, L keys, H query heads / KV heads (or both the
 * same), hd columns of a head; a work tile is the query rows of one MMA with the keys of one KV head of one sequence. */
#include "gen/program/decode_whole.h"

enum { workgroups_per_unit = 4 }; /* in tiles whose workgroups have so little work at a time that others must load meanwhile */

/* Stages are filled by bulk copies (cp.async.bulk), which copy consecutive bytes: rows of K and V must have no gaps. */
static const char *obstacle_to_stages(const problem *p)
{
    const ir_op *op = p->attention;
    if (!p->target->bulk_copies) return "the target lacks bulk copies";
    for (int i = 1; i < 3; i++)
        if (view_of(p->a, op->inputs[i]).stride != (i == 1 ? problem_head(p) : problem_value_head(p)))
            return "key and value rows of a head are not contiguous";
    return NULL;
}

/* Workgroups of a cluster, which computes one work tile; 1: no clusters. Combining partials through distributed shared memory takes half as
 * long as through global memory. All clusters together have at most half as many workgroups as there are multiprocessors, since clusters
 * cannot occupy all of them. Only for short KV: a single workgroup would take at most 15 iterations over a sequence's keys. */
static int cluster_size(const problem *p, const ir_tile *tile)
{
    enum { most = 8, few_iterations = 15 };
    const long long iterations = decode_iterations(p, &tile->decode_whole), work_tiles = decode_work_tiles(p);
    ir_tile wide = *tile;
    int size = 1;
    wide.decode_whole.cluster = most;
    if (p->target->cluster < most || iterations > few_iterations || decode_whole_bytes(p, &wide) > p->target->static_bytes) return 1;
    while (size < most && 2 * size <= iterations && 4 * size * work_tiles <= p->device->units) size *= 2;
    return size;
}

/* The tile for long KV, at least 256 KB of keys and values per multiprocessor: one workgroup per multiprocessor, which has at least 120 KB
 * in flight to stages in shared memory. With heads of 64 to 80 and at least four work tiles per multiprocessor, four workgroups instead:
 * some load while others finish a work tile. H200, us:
 * - attention alone, with this tile and with the best one that loads to registers: B59 L6205 H48/16 hd64 342, 376; B51 L63005 H8/2 hd80
 *   499, 505; B18 L8275 H16/16 hd128 278, 307; B64 L1024 H24/8 hd128 71, 75; B1 L131072 H32/8 hd128 130, 141; but B8 L1024 H32/8 hd64 11.0,
 *   9.9. With twice the stages 0 to 4 % slower. After a kernel that fills shared memory, which leaves little L1, B59 L6205 with loads to
 *   registers took 530.
 * - attention in decode blocks, with one workgroup per multiprocessor and with four: B512 L300 H32/8 hd64 118, 89; B207 L1000 H56/8 hd64
 *   118, 111
 * - whole decode blocks, with one and with four: B405 L823 H32/8 hd80 512, 500; B59 L6205 H48/16 hd64 388, 387; with one and with three:
 *   B128 L1024 hd128 297, 313
 * With longer heads, up to most_keys_of_two keys and as many work tiles, two workgroups of one stage. H200, us, attention in decode blocks,
 * with one and with two: B204 L322 H32/32 hd128 263, 253; B363 L540 H32/8 hd128 202, 194; B189 L577 H32/16 hd128 214, 211; B80 L350 H8/8
 * hd128 36.2, 34.4; B200 L450 H28/4 hd128 58.1, 55.6; B128 L1024 H32/8 hd128 131, 131; B150 L600 H16/16 hd96 136, 135; but B30 L4000 H32/8
 * hd128 117, 119 */
static decode_whole_tile long_tile(const problem *p)
{
    enum { least = 120 << 10, most_keys_of_two = 1536 };
    const int head = (int)problem_longest_head(p);
    const bool many = decode_work_tiles(p) >= (long long)workgroups_per_unit * p->device->units;
    decode_whole_tile t = {.keys = head <= 80 ? 32 : 16, .threads = head > 128 ? 128 : 256, .resident = 1, .cluster = 1, .stages = 2};
    if (many && head > 80 && head <= 128 && decode_keys(p) <= most_keys_of_two) {
        t.keys = head <= 96 ? 32 : 16, t.resident = 2, t.stages = 1;
        return t;
    }
    if (many && head >= 64 && head <= 80) t.keys = 16, t.threads = 128, t.resident = workgroups_per_unit;
    while (t.stages < 16 && t.resident * decode_ring_bytes(p, &t) < least) t.stages++;
    return t;
}

/* The tile for short KV, less than 256 KB of keys and values per multiprocessor, or if there can be no stages: loads go to registers. If
 * there are at least as many work tiles as multiprocessors, two workgroups per multiprocessor: one loads while the other combines its
 * warps. Else one, with twice the registers for each thread. How many keys a warp takes at a time follows from measured times, by head size
 * and many_keys_per_warp: each warp of the device would have at least 128 keys if all shared them evenly, or there is a work tile per
 * multiprocessor. H200, us, after a product: B1 L2048 H32/8 hd128 with 16 keys a warp 6.2, with 32 5.8, in clusters of 8 5.1; B4 L4001
 * H28/4 in clusters of 4 15, without 13; B1 L1024 H32/8 hd64 in clusters of 4 2.5, without 3.3. */
static decode_whole_tile short_tile(const problem *p)
{
    enum { keys_per_warp = 128 };
    const long long head = problem_longest_head(p), work_tiles = decode_work_tiles(p), units = p->device->units;
    decode_whole_tile t = {.keys = 16, .threads = head > 128 ? 128 : 256, .resident = work_tiles < units ? 1 : 2, .cluster = 1};
    const bool many_keys_per_warp = work_tiles >= units || decode_keys(p) * work_tiles >= keys_per_warp * units * (t.threads / 32);
    if (head <= 64) t.keys = many_keys_per_warp && work_tiles < units ? 64 : 32;
    else if (head <= 128 && !many_keys_per_warp) t.keys = 32;
    return t;
}

/* Above 16 query rows per KV head (queries x heads of a group) the cost model chooses between decode and wgmma, but only on a measured
 * device, with at least 2048 keys and at most 64 queries, the range that it was fitted to (docs/performance.md, "A few queries over a
 * cache"), and not if a call may have more queries than planned. */
static const worse_range worse[] = {{.where = where_many_at_cache | where_guessed, .why = many_at_cache_why},
                                    {.where = where_many_at_cache | where_queries_vary, .why = many_at_cache_why},
                                    {.where = where_many_at_cache, .most_length = 2047, .why = many_at_cache_why},
                                    {.where = where_many_at_cache, .least_rows = 65, .why = many_at_cache_why},
                                    {0}};

/* True for many sequences of few keys (heads up to 128, at most 320 keys, at least three work tiles per multiprocessor). A work tile then
 * takes so little time that its start and end matter, so tile_of_short_parts() has four workgroups per multiprocessor, which hide each
 * other's. It loads to stages: after a product, which leaves little L1, loads to registers take up to 1.5 times as long. H200, us:
 * - attention in decode blocks, with loads to registers, and by cuDNN: B512 L300 H32/8 hd64 129, 79; B262 L209 H8/8 hd128 88, 62; B318 L236
 *   H32/4 hd128 71, 45
 * - whole decode blocks, with loads to registers and with this tile: B512 L64 H16/4 hd64 59.9, 50.8; B256 L48 H8/8 hd64 48.7, 32.2; B100
 *   L150 H16/4 hd128 72.1, 69.1; B64 L64 H32/8 hd64 45.8, 45.1 */
static bool has_short_parts(const problem *p)
{
    enum { most_keys = 320, parts_per_unit = 3, most_head = 128 };
    return decode_keys(p) <= most_keys && decode_work_tiles(p) >= (long long)parts_per_unit * p->device->units &&
           problem_longest_head(p) <= most_head;
}

static decode_whole_tile tile_of_short_parts(const problem *p)
{
    enum { most_stages = 2 };
    ir_tile tile = {.decode_whole = {.keys = 16, .threads = 128, .resident = workgroups_per_unit, .cluster = 1, .stages = most_stages}};
    decode_whole_tile *t = &tile.decode_whole;
    while (t->stages > 1 && decode_whole_bytes(p, &tile) > shared_room(p->target, t->resident)) t->stages--;
    return *t;
}

/* For sequences of up to most_keys keys: replaces two stages of 16 keys by one of 32, which has as many bytes in flight and takes half the
 * iterations. */
static void join_stages(const problem *p, decode_whole_tile *t)
{
    enum { most_keys = 512 };
    const int head = (int)problem_longest_head(p);
    if (decode_keys(p) > most_keys || head < 64 || head > 96 || t->resident != workgroups_per_unit) return;
    if (t->keys == 16 && t->stages == 2) t->keys = 32, t->stages = 1;
}

/* The tile in a launch of several phases, which has one workgroup per multiprocessor. Beside a ring, with heads of up to 64 columns, a warp
 * takes 32 keys at a time if with 16 some workgroup has more than one iteration. H200, blocks in one launch, us, with 16 and with 32 keys:
 * B4 L1125 D2496 H28/4 51.6, 48.7; B3 L1300 D2048 H32/8 44.6, 42.3; B4 L1024 40.8, 40.7; B2 L2048 38.5, 38.3; B1 L4096 37.1, 36.9. With
 * heads of 128 columns, which then spill, Llama-8B with two rows took 118.0 and 121.3. */
static decode_whole_tile tile_in_list(const problem *p)
{
    enum { most_head = 64 };
    decode_whole_tile t = {.keys = 16, .threads = p->ir->threads, .resident = 1, .cluster = 1};
    t.splits = decode_splits(p, &t);
    if (!p->ir->streams || problem_longest_head(p) > most_head) return t;
    if (decode_iterations(p, &t) * decode_work_tiles(p) <= p->device->units) return t;
    t.keys = 32;
    return t;
}

static void defaults(const problem *p, ir_tile *tile)
{
    if (p->ir->threads) { /* set only in a launch of several phases */
        tile->decode_whole = tile_in_list(p);
        return;
    }
    enum { long_share = 256 << 10 }; /* bytes of K and V per multiprocessor */
    const double columns = (double)(problem_head(p) + problem_value_head(p)),
                 bytes = 2.0 * (double)decode_keys(p) * (double)decode_work_tiles(p) * columns;
    const bool stages = !obstacle_to_stages(p), is_long = stages && bytes >= (double)long_share * p->device->units;
    decode_whole_tile t = stages && has_short_parts(p) ? tile_of_short_parts(p) : is_long ? long_tile(p) : short_tile(p);
    join_stages(p, &t);
    t.splits = decode_splits(p, &t);
    tile->decode_whole = t;
    t.cluster = is_long ? 1 : cluster_size(p, tile);
    if (t.cluster > 1) t.splits = t.cluster;
    tile->decode_whole = t;
}

static const char *illegal(const problem *p, const ir_tile *tile)
{
    const decode_whole_tile *t = &tile->decode_whole;
    if (t->cluster > p->target->cluster)
        return p->target->cluster == 1 ? "the target has no clusters"
                                       : arena_printf(p->a, "a cluster has at most %d workgroups", p->target->cluster);
    if (!is_power_of_two(t->cluster)) return "cluster must be a power of two";
    if (t->splits % t->cluster) return "cluster must divide splits";
    if (t->stages && obstacle_to_stages(p)) return obstacle_to_stages(p);
    if (p->ir->threads && (t->cluster > 1 || t->stages)) return "in a launch of several phases cluster must be 1 and stages 0";
    return decode_whole_illegal(p, tile);
}

/* First fewer keys at a time, then fewer workgroups per multiprocessor, then fewer threads per workgroup; the last two leave each thread
 * more registers. */
static bool smaller(const problem *p, ir_tile *tile)
{
    decode_whole_tile *t = &tile->decode_whole;
    if (t->keys > p->target->matrix_columns) return t->keys /= 2, true;
    if (t->resident > 1) return t->resident--, true;
    return t->threads > 128 ? t->threads = 128, true : false;
}

const program decode_mma_program = {.kind = program_decode_mma,
                                    .device = "decode_mma",
                                    .template = "templates/attention/decode_mma.h",
                                    .isa = {{layer_mma, "templates/isa/mma_cache.h"}},
                                    .obstacle = decode_whole_obstacle,
                                    .worse = worse,
                                    .describe_cost = decode_whole_cost,
                                    .defaults = defaults,
                                    .illegal = illegal,
                                    .shared_bytes = decode_whole_bytes,
                                    .smaller = smaller,
                                    .geometry = decode_whole_geometry,
                                    .members = decode_whole_members,
                                    .scratch = decode_whole_scratch,
                                    .prefetched_across = true};
