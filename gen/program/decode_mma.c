/* Attention of few queries over a cache on warps' matrix products (templates/attention/decode_mma.h), in one launch. In: a decode phase
 * whose keys are not split. Out: how many keys a warp takes at a time, how many workgroups share out all keys of the batch. */
#include "gen/emit/attention.h"
#include "gen/program/attention.h"

enum { rows_at_once = 8, most_index = 0x7fffffff };

/* Rows of a sequence and head of keys: queries of the group's heads. */
static long long most_rows(const tile_request *r)
{
    const ir_attributes *t = &request_attention(r)->attributes;
    return t->heads / t->kv_heads * extent_high(&request_attention(r)->inputs[0]->shape[1], &r->program->dims);
}

static long long row_tiles(const tile_request *r) { return (most_rows(r) + rows_at_once - 1) / rows_at_once; }

static long long most_keys(const tile_request *r)
{
    return extent_high(value_tokens(request_attention(r)->inputs[1]), &r->program->dims);
}

/* Of all sequences, with the shortest turns. */
static double most_turns(const tile_request *r)
{
    const ir_op *op = request_attention(r);
    const long long keys = most_keys(r), batches = extent_high(&op->inputs[0]->shape[0], &r->program->dims);
    return (double)batches * (double)(op->attributes.kv_heads * row_tiles(r)) * (double)(keys / 16 + 1);
}

static const char *obstacle(const tile_request *r)
{
    const ir_op *op = request_attention(r);
    const dtype type = op->inputs[0]->type;
    const long long head = request_head(r);
    if (!dtype_is_real(type) || dtype_size(type) != 2) return "operands are neither bf16 nor f16";
    if (head % 16 != 0 || head > 256) return "the head size is no multiple of 16 up to 256";
    for (int i = 0; i < 3; i++) {
        const view v = view_of(r->a, op->inputs[i]);
        if (v.stride % 8 || v.offset % 8) return "rows do not begin at multiples of 16 bytes";
    }
    if (most_turns(r) > most_index) return "there are more keys than its ints count";
    return op->kind == op_attention ? NULL : "its keys are split";
}

static double cost(const tile_request *r)
{
    (void)r;
    return 0.5;
}

/* What lies side by side, at the plan's own dims: 8 rows of a head of keys and a sequence. */
static long long lead_count(const tile_request *r)
{
    const ir_op *op = request_attention(r);
    return extent_value(&op->inputs[0]->shape[0], &r->program->dims) * op->attributes.kv_heads * row_tiles(r);
}

/* sizeof(memory) of the template */
static long long shared_bytes(const tile_request *r, const ir_tile *tile)
{
    enum { words = 100 }; /* of the run: two stands of 16, numbers of 32 sequences, four more */
    const decode_mma_tile *t = &tile->decode_mma;
    const long long rows = most_rows(r), kept = rows < rows_at_once ? rows : rows_at_once, pitch = request_head(r) + 4;
    const long long floats = kept * (t->threads / 32 * (pitch + 2) + pitch) + (t->cluster > 1 ? kept * pitch : 4) + words;
    return (floats * 4 + 15) / 16 * 16;
}

static long long turn_count(const tile_request *r, const decode_mma_tile *t)
{
    const long long turn = t->threads / 32 * t->keys;
    return (most_keys(r) + turn - 1) / turn;
}

/* So many workgroups that each multiprocessor has its share, each with a turn at least. Whole leads, without parts to join, where that
 * leaves little of the machine idle. */
static int split_count(const tile_request *r, const decode_mma_tile *t)
{
    const long long room = (long long)r->device->units * t->resident, leads = lead_count(r), turns = turn_count(r, t), even = room / leads;
    const long long fill = even * leads * 10 >= room * 9 ? even : (room + leads - 1) / leads;
    const long long splits = fill < turns ? fill : turns;
    return splits < 1 ? 1 : splits < 1024 ? (int)splits : 1024;
}

static bool has_clusters(const tile_request *r) { return target_has(r->target, layer_wgmma); }

/* Of a short cache a lead is a cluster's, which joins its parts in half the time. Not all multiprocessors can be in clusters. */
static int cluster_size(const tile_request *r, const ir_tile *tile)
{
    enum { most = 8, few_turns = 15 };
    const long long turns = turn_count(r, &tile->decode_mma), leads = lead_count(r);
    ir_tile wide = *tile;
    int size = 1;
    wide.decode_mma.cluster = most;
    if (!has_clusters(r) || turns > few_turns || shared_bytes(r, &wide) > r->target->static_bytes) return 1;
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
    const long long head = request_head(r), leads = lead_count(r), units = r->device->units;
    decode_mma_tile t = {.keys = 16, .threads = head > 128 ? 128 : 256, .resident = leads < units ? 1 : 2, .cluster = 1};
    const bool is_long = leads >= units || most_keys(r) * leads >= long_run * units * (t.threads / 32);
    if (head <= 64) t.keys = is_long && leads < units ? 64 : 32;
    else if (head <= 128 && !is_long) t.keys = 32;
    t.splits = split_count(r, &t);
    tile->decode_mma = t;
    t.cluster = cluster_size(r, tile);
    if (t.cluster > 1) t.splits = t.cluster;
    tile->decode_mma = t;
}

static const char *illegal(const tile_request *r, const ir_tile *tile)
{
    const decode_mma_tile *t = &tile->decode_mma;
    if (t->keys != 16 && t->keys != 32 && t->keys != 64) return "keys is 16, 32 or 64";
    if (t->threads % 32) return "threads are whole warps";
    if (t->cluster > 1 && !has_clusters(r)) return "the target has no clusters";
    if (!is_power_of_two(t->cluster)) return "cluster is a power of two";
    if (t->splits % t->cluster) return "cluster divides splits";
    return t->threads * t->resident > 2048 ? "a multiprocessor has 2048 threads" : NULL;
}

/* Fewer keys at a time, then fewer workgroups with more registers each. */
static bool smaller(const tile_request *r, ir_tile *tile)
{
    decode_mma_tile *t = &tile->decode_mma;
    (void)r;
    if (t->keys > 16) return t->keys /= 2, true;
    if (t->resident > 1) return t->resident--, true;
    return t->threads > 128 ? t->threads = 128, true : false;
}

static void geometry(const tile_request *r, const ir_tile *tile, launch *l)
{
    const ir_op *op = request_attention(r);
    l->rows = extent_number(1);
    l->multiple = extent_multiply(r->a, op->at, op->inputs[0]->shape[0], extent_number(op->attributes.kv_heads * row_tiles(r)));
    l->column_tiles = tile->decode_mma.splits;
    l->resident = tile->decode_mma.resident;
    l->cluster = tile->decode_mma.cluster;
}

/* A workgroup gives one part at most: places, the largest score and the sum of each row, behind a flag. */
static extent scratch_floats(const tile_request *r, const ir_tile *tile)
{
    const ir_op *op = request_attention(r);
    const long long rows = most_rows(r), kept = rows < rows_at_once ? rows : rows_at_once, slice = 4 + kept * (request_head(r) + 4);
    return extent_multiply(r->a, op->at, op->inputs[0]->shape[0],
                           extent_number(op->attributes.kv_heads * row_tiles(r) * tile->decode_mma.splits * slice));
}

static void members(emission *e, writer *w)
{
    const decode_mma_tile *x = &e->phase->tile.decode_mma;
    heads h = heads_start(e, w);
    heads_write_sizes(&h);
    write_line(w, "static constexpr int warp_keys = %d, threads = %d, resident = %d, cluster = %d;", x->keys, x->threads, x->resident,
               x->cluster);
    heads_write_cache(&h);
    heads_write_pointers(&h);
    heads_write_output(&h, true);
    write_line(w, "DEV static float *partial(const args &p) { return %s; }", use_scratch(e, e->scratch, true));
}

const program decode_mma_program = {.kind = program_decode_mma,
                                    .device = "decode_mma",
                                    .template = "templates/attention/decode_mma.h",
                                    .memory = "sizeof($P::memory)",
                                    .entry = "TF_KERNEL_DECODE($K, $P)",
                                    .obstacle = obstacle,
                                    .cost = cost,
                                    .defaults = defaults,
                                    .illegal = illegal,
                                    .shared_bytes = shared_bytes,
                                    .smaller = smaller,
                                    .geometry = geometry,
                                    .members = members,
                                    .scratch = scratch_floats};
