/* Attention of few queries over a cache on warps' matrix products (templates/attention/decode_mma.h), in one launch. In: a decode phase
 * whose keys are not split. Out: how many keys a warp takes at a time, how many workgroups share out all keys of the batch. */
#include "gen/program/decode_whole.h"

static bool has_clusters(const tile_request *r) { return target_has(r->target, layer_wgmma); }

/* Of a short cache a lead is a cluster's, which joins its parts in half the time. Not all multiprocessors can be in clusters. */
static int cluster_size(const tile_request *r, const ir_tile *tile)
{
    enum { most = 8, few_turns = 15 };
    const long long turns = decode_turns(r, &tile->decode_mma), leads = decode_leads(r);
    ir_tile wide = *tile;
    int size = 1;
    wide.decode_mma.cluster = most;
    if (!has_clusters(r) || turns > few_turns || decode_whole_bytes(r, &wide) > r->target->static_bytes) return 1;
    while (size < most && 2 * size <= turns && 4 * size * leads <= r->device->units) size *= 2;
    return size;
}

/* Two workgroups a multiprocessor where there is a lead for each: one loads while the other joins its warps. Else one, with all the
 * registers that it wants. (H200, us, behind a product: B64 H32/8 hd128 L1024 one 73, two 72; B1 H32/8 hd128 L2048 16 keys a warp
 * 6.2, 32 5.8, in clusters of 8 5.1; B4 H28/4 L4001 in clusters of 4 15, without 13; B16 H32/8 hd128 L2048 32 keys 37.5, 16 36.4;
 * B32 H32/4 hd64 L2048 64 keys 20.2, 32 21.4; B1 H32/8 hd64 L1024 in clusters of 4 2.5, without 3.3.) */
static void defaults(const tile_request *r, ir_tile *tile)
{
    enum { long_run = 128 }; /* keys of a warp */
    const long long head = request_head(r), leads = decode_leads(r), units = r->device->units;
    decode_mma_tile t = {.keys = 16, .threads = head > 128 ? 128 : 256, .resident = leads < units ? 1 : 2, .cluster = 1};
    const bool is_long = leads >= units || decode_keys(r) * leads >= long_run * units * (t.threads / 32);
    if (head <= 64) t.keys = is_long && leads < units ? 64 : 32;
    else if (head <= 128 && !is_long) t.keys = 32;
    t.splits = decode_splits(r, &t);
    tile->decode_mma = t;
    t.cluster = cluster_size(r, tile);
    if (t.cluster > 1) t.splits = t.cluster;
    tile->decode_mma = t;
}

static const char *illegal(const tile_request *r, const ir_tile *tile)
{
    const decode_mma_tile *t = &tile->decode_mma;
    if (t->cluster > 1 && !has_clusters(r)) return "the target has no clusters";
    if (!is_power_of_two(t->cluster)) return "cluster is a power of two";
    if (t->splits % t->cluster) return "cluster divides splits";
    return decode_whole_illegal(r, tile);
}

/* Fewer keys at a time, then fewer workgroups with more registers each. */
static bool smaller(const tile_request *r, ir_tile *tile)
{
    decode_mma_tile *t = &tile->decode_mma;
    if (t->keys > decode_unit(r->target)) return t->keys /= 2, true;
    if (t->resident > 1) return t->resident--, true;
    return t->threads > 128 ? t->threads = 128, true : false;
}

const program decode_mma_program = {.kind = program_decode_mma,
                                    .device = "decode_mma",
                                    .template = "templates/attention/decode_mma.h",
                                    .memory = "sizeof($P::memory)",
                                    .entry = "TF_KERNEL_DECODE($K, $P)",
                                    .obstacle = decode_whole_obstacle,
                                    .cost = decode_whole_cost,
                                    .defaults = defaults,
                                    .illegal = illegal,
                                    .shared_bytes = decode_whole_bytes,
                                    .smaller = smaller,
                                    .geometry = decode_whole_geometry,
                                    .members = decode_whole_members,
                                    .scratch = decode_whole_scratch};
