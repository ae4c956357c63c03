/* Cost, shared memory and geometry of flash-decoding in one launch. Contract: gen/program/decode_whole.h. */
#include "gen/program/decode_whole.h"
#include "gen/emit/attention.h"
#include "gen/program/attention.h"
#include "ir/devices/occupancy.h"
#include <math.h>

enum { most_index = 0x7fffffff };

/* True if wave_cache.h keeps queries of long heads in shared memory for lack of registers (RDNA). */
static bool has_few_registers(const target_info *target) { return target->by_waves && target->lane_registers < 512; }

/* The most query rows of a KV head: queries times heads of a GQA group. */
static long long decode_rows(const problem *p)
{
    const ir_attributes *t = &p->attention->attributes;
    return t->heads / t->kv_heads * extent_high(&p->attention->inputs[0]->shape[1], &p->ir->dims);
}

/* The most row tiles of a KV head; an MMA takes the rows of one. */
static long long row_tiles(const problem *p)
{
    const long long at_once = p->target->matrix_rows;
    return (decode_rows(p) + at_once - 1) / at_once;
}

/* Rows of a row tile that shared memory and partials have room for: an MMA's rows, or all rows of a KV head if those are fewer. */
static long long rows_kept(const problem *p)
{
    const long long rows = decode_rows(p), at_once = p->target->matrix_rows;
    return rows < at_once ? rows : at_once;
}

long long decode_keys(const problem *p) { return extent_high(value_tokens(p->attention->inputs[1]), &p->ir->dims); }

/* Iterations over the keys of all work tiles if an iteration takes 16 keys, the fewest that a tile may have. */
static double most_iterations(const problem *p)
{
    const ir_op *op = p->attention;
    const long long keys = decode_keys(p), batches = extent_high(&op->inputs[0]->shape[0], &p->ir->dims);
    return (double)batches * (double)(op->attributes.kv_heads * row_tiles(p)) * (double)(keys / 16 + 1);
}

const char *decode_whole_obstacle(const problem *p)
{
    const ir_op *op = p->attention;
    const dtype type = op->inputs[0]->type;
    const long long head = problem_head(p), values = problem_value_head(p);
    if (decode_obstacle(p)) return decode_obstacle(p);
    if (p->ir->level == fusion_block && p->target->by_waves) return "on AMD it cannot run several phases in a launch";
    if (attention_window_obstacle(p)) return attention_window_obstacle(p);
    if (attention_bias_obstacle(p)) return attention_bias_obstacle(p);
    if (attention_whole_obstacle(p)) return attention_whole_obstacle(p);
    if (!dtype_is_real(type) || dtype_size(type) != 2) return "operands are neither bf16 nor f16";
    if (head % 16 != 0 || head > 256 || values % 16 != 0 || values > 256) return "the head size is not a multiple of 16 up to 256";
    for (int i = 0; i < 3; i++) {
        const view v = view_of(p->a, op->inputs[i]);
        if (v.stride % 8 || v.offset % 8) return "rows are not 16-byte aligned";
    }
    return most_iterations(p) > most_index ? "the keys exceed 32-bit counters" : NULL;
}

long long decode_work_tiles(const problem *p)
{
    const ir_op *op = p->attention;
    return extent_value(&op->inputs[0]->shape[0], &p->ir->dims) * op->attributes.kv_heads * row_tiles(p);
}

long long decode_iterations(const problem *p, const decode_whole_tile *t)
{
    const long long each = t->threads / p->target->wave * t->keys;
    return (decode_keys(p) + each - 1) / each;
}

/* As many workgroups per work tile as can all be resident at once (`even`); one more if over a tenth of the machine would be idle. */
int decode_splits(const problem *p, const decode_whole_tile *t)
{
    const long long room = (long long)p->device->units * t->resident, work_tiles = decode_work_tiles(p);
    const long long even = room / work_tiles, iterations = decode_iterations(p, t);
    const long long fill = even * work_tiles * 10 >= room * 9 ? even : (room + work_tiles - 1) / work_tiles;
    const long long splits = fill < iterations ? fill : iterations;
    return splits < 1 ? 1 : splits < 1024 ? (int)splits : 1024;
}

long long decode_ring_bytes(const problem *p, const decode_whole_tile *t)
{
    const long long slots = (long long)(t->threads / p->target->wave) * t->stages;
    return slots * t->keys * (problem_head(p) + problem_value_head(p)) * 2 + (slots + 1) / 2 * 16; /* the last term: mbarriers */
}

long long decode_in_flight(const problem *p, const decode_whole_tile *t)
{
    const long long ahead = t->stages ? t->stages : 1; /* iterations in flight per wave */
    const long long loaded = t->threads / p->target->wave * t->keys * ahead, keys = decode_keys(p);
    const bool late = has_few_registers(p->target) && problem_longest_head(p) > 128; /* loads 128 columns of keys or of values at a time */
    return (loaded < keys ? loaded : keys) * (late ? 128 : problem_head(p) + problem_value_head(p)) * 2;
}

/* ---- cost (fitted on an H200 together with attention on wgmma: docs/performance.md, "A few queries over a cache") */
/* Row tiles of a KV head at the dims that the plan is made for. Each reads all keys. */
static double row_passes(const problem *p)
{
    const ir_attributes *t = &p->attention->attributes;
    return ceil((double)problem_queries(p) * (double)(t->heads / t->kv_heads) / p->target->matrix_rows);
}

enum {
    end_cycles = 1500,       /* per work tile of a workgroup: it waits for queries and first keys, combines the warps, stores results */
    iteration_cycles = 1000, /* of a warp's iteration over iteration_elements: 32 keys by 64 columns; twice as many with stages */
    iteration_elements = 32 * 64
};

static double compute_cycles(const problem *p, const decode_whole_tile *t, double groups)
{
    const double iterations = (double)(decode_iterations(p, t) * decode_work_tiles(p) / row_tiles(p)) * row_passes(p) / groups;
    return iterations * iteration_cycles * t->keys * (double)(problem_head(p) + problem_value_head(p)) / 2 / iteration_elements;
}

/* With stages, a workgroup streams the keys of all its work tiles: when a tile ends, keys of the next are in flight, so the end costs time
 * only if it takes longer than those keys take to arrive. With loads to registers, no load is in flight when a tile ends, nor while the
 * only workgroup of a unit computes. */
static void add_ends(const problem *p, const decode_whole_tile *t, cost_descriptor *d)
{
    d->end_cycles = end_cycles;
    if (t->stages)
        d->chain_cycles = fmax(1, (double)decode_work_tiles(p) / d->groups) * end_cycles + 2 * compute_cycles(p, t, d->groups);
    else if (t->resident == 1)
        d->end_cycles += compute_cycles(p, t, d->groups);
}

/* Workgroups share the keys of all sequences evenly, and combine partials in a cluster or through memory. Row tiles after the first read a
 * head's keys from L2 or, to the extent that the keys of all sequences exceed L2, again from DRAM. */
void decode_whole_cost(const problem *p, const ir_tile *tile, cost_descriptor *d)
{
    const decode_whole_tile *t = &tile->decode_whole;
    const work *w = p->work;
    const ir_op *op = p->attention;
    const double passes = row_passes(p), rows = (double)problem_queries(p) * (double)(op->attributes.heads / op->attributes.kv_heads),
                 keys = work_read(w, op->inputs[1]) + work_read(w, op->inputs[2]), again = (passes - 1) * keys;
    d->groups = (double)(decode_work_tiles(p) * t->splits), d->per_unit = t->resident;
    if (t->stages) d->groups = fmin(d->groups, p->device->units * t->resident);
    d->memory = (w->read + w->written + again * device_l2_misses(p->device, keys)) / d->groups;
    d->asked = (w->read + w->written + again) / d->groups;
    d->ahead = (double)decode_in_flight(p, t), d->streamed = d->asked;
    d->matrix = true, d->type = op->inputs[0]->type;
    d->products = w->products / d->groups * passes * (double)p->target->matrix_rows / rows, d->others = w->others / d->groups;
    d->hops = t->cluster > 1 ? 1 : t->splits > 1 ? 2 : 0;
    add_ends(p, t, d);
}

const char *decode_whole_illegal(const problem *p, const ir_tile *tile)
{
    const decode_whole_tile *t = &tile->decode_whole;
    if (!is_power_of_two(t->keys)) return "keys must be a power of two";
    if (t->threads % p->target->wave) return "threads must be whole waves";
    const int most = unit_room_of(p->target).threads;
    return t->threads * t->resident > most ? arena_printf(p->a, "a multiprocessor holds %d threads", most) : NULL;
}

/* Whether all workgroups with parts of a work tile join them (templates/attention/decode_runs.h: shares). */
static bool shares(const problem *p) { return p->ir->threads && !p->target->by_waves; }

enum { part_words = 12 /* of a part (decode_runs.h) */ };

/* of decode_runs<...>::run: three states of 16, those of `numbers` and one more for each lane, and five */
static long long run_words(const ir_op *attention, const target_info *target)
{
    const int numbers = attention->attributes.first ? 3 : 2;
    return 53 + (numbers + 1) * target->wave;
}

long long decode_schedule_bytes(const ir_op *attention, const target_info *target)
{
    return (run_words(attention, target) * 4 + 15) / 16 * 16;
}

/* sizeof(memory) of the template */
long long decode_whole_bytes(const problem *p, const ir_tile *tile)
{
    const decode_whole_tile *t = &tile->decode_whole;
    const long long kept = rows_kept(p), values = problem_value_head(p), waves = t->threads / p->target->wave, padded = values + 4;
    const bool in_order = p->target->by_waves; /* results are stored straight from the partials of the waves */
    const long long of_waves = kept * waves * ((in_order ? values : padded) + 2), joined = in_order || shares(p) ? 4 : kept * padded;
    const long long run = run_words(p->attention, p->target), pending = shares(p) ? 2 * part_words : 0;
    const long long floats = of_waves + joined + (t->cluster > 1 ? kept * padded : 4) + run + pending;
    const long long head = problem_head(p), shelf = has_few_registers(p->target) && head > 64 ? head * 2 * 16 : 0; /* for queries */
    return decode_ring_bytes(p, t) + shelf + (floats * 4 + 15) / 16 * 16;
}

void decode_whole_geometry(const problem *p, const ir_tile *tile, tile_extents *to)
{
    const ir_op *op = p->attention;
    const decode_whole_tile *t = &tile->decode_whole;
    to->rows = extent_number(1);
    to->multiple = extent_multiply(p->a, op->at, op->inputs[0]->shape[0], extent_number(op->attributes.kv_heads * row_tiles(p)));
    to->column_tiles = t->splits;
    to->resident = t->resident;
    to->cluster = t->cluster;
    to->in_flight = decode_in_flight(p, t);
}

/* Splits whose partials fit the workspace. A launch of several phases that spills is planned again with fewer threads, and so with more
 * splits, but keeps the workspace of the first plan, which therefore has room for the splits of the fewest threads. */
static int splits_with_room(const problem *p, decode_whole_tile t)
{
    enum { fewest_threads = 128 };
    const int splits = t.splits;
    if (!p->ir->threads || t.threads <= fewest_threads) return splits;
    t.threads = fewest_threads;
    const int most = decode_splits(p, &t);
    return most > splits ? most : splits;
}

/* Floats of workspace. A workgroup writes at most one partial, or two if workgroups have shares. Each is a slice: for each row the output
 * columns, the largest score and the sum. */
extent decode_whole_scratch(const problem *p, const ir_tile *tile)
{
    const ir_op *op = p->attention;
    /* in a launch of several phases each number takes a word of 8 bytes (templates/attention/decode_mma.h) */
    const long long columns = problem_value_head(p), slices = shares(p) ? 2 : 1,
                    slice = slice_head + rows_kept(p) * (p->ir->threads ? columns / 4 * 12 : columns + 4),
                    work_tiles = op->attributes.kv_heads * row_tiles(p); /* of a sequence */
    return extent_multiply(p->a, op->at, op->inputs[0]->shape[0],
                           extent_number(work_tiles * splits_with_room(p, tile->decode_whole) * slices * slice));
}

void decode_whole_members(emission *e, writer *w)
{
    const decode_whole_tile *x = &e->phase->tile.decode_whole;
    heads h = heads_start(e, w);
    heads_write_sizes(&h);
    write_line(w, "static constexpr int warp_keys = %d, threads = %d, resident = %d, cluster = %d, stages = %d;", x->keys, x->threads,
               x->resident, x->cluster, x->stages);
    write_line(w, "static constexpr int splits = %d;", x->splits);
    if (e->plan->ir->threads) write_line(w, "static constexpr bool listed = true;");
    heads_write_cache(&h);
    heads_write_scores(&h);
    heads_write_pointers(&h);
    heads_write_words(&h);
    if (value_words(e->plan, h.op->inputs[0]) >= 0) {
        const launch *l = emission_launch(e);
        write_line(w, "static constexpr int schedule_at = %d, schedule_bytes = %d;", l->schedule_at, l->schedule_bytes);
    }
    heads_write_output(&h, true);
    write_line(w, "DEV static float *partial(const args &p) { return %s; }", c_text(e->a, use_scratch(e, e->scratch, true)));
}
