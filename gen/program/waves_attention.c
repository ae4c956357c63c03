/* Attention on mfma (waves of 64 lanes) and on wmma (32 lanes), by the same template (templates/attention/attention_mfma.h,
 * templates/frame/frame_interleaved.h). In: an attention whose keys are not split over workgroups. Out: a tile, by head
 * size and number of tiles. */
#include "gen/emit/attention.h"
#include "gen/program/attention.h"
#include "gen/program/waves.h"

/* True on RDNA, where a lane has half the registers of CDNA. */
static bool is_narrow(const problem *p) { return p->target->lane_registers < 512; }

/* The longest heads of queries on RDNA. RDNA 4 needs no second copy of operands in registers, so longer heads fit: 192 columns of queries
 * with 128 of values take 241 registers. On RDNA 3 they spill. */
static int most_narrow(const problem *p) { return p->target->operand_bytes == 16 ? 192 : 128; }

static const char *obstacle(const problem *p)
{
    const ir_op *op = p->attention;
    const dtype type = op->inputs[0]->type;
    const long long head = problem_head(p), values = problem_value_head(p);
    if (attention_whole_obstacle(p)) return attention_whole_obstacle(p);
    if (!dtype_is_real(type) || dtype_size(type) != 2) return "operands are neither bf16 nor f16";
    if (head % 8 != 0 || head > 256 || values % 8 != 0 || values > 256) return "the head size is not a multiple of 8 up to 256";
    if (is_narrow(p) && values > 128) return "the head size is above 128";
    if (is_narrow(p) && head > most_narrow(p)) return arena_printf(p->a, "heads of queries are longer than %d", most_narrow(p));
    for (int i = 0; i < 3; i++) {
        if (op->inputs[i]->type != type) return "operands differ in dtype";
        const view w = view_of(p->a, op->inputs[i]);
        if (w.stride >= (1 << 30) / 128) return "rows exceed 32-bit offsets";
        if (w.step && i > 0) return "each call gives the distance between rows of keys or values";
    }
    return NULL;
}

/* A wave multiplies 32 queries; with few queries, most of its products are padding. */
static const worse_range worse[] = {{.where = where_few_at_cache, .why = few_at_cache_why},
                                    {.most_rows = 16, .why = "queries are 16 or fewer"},
                                    {0}};

static void describe_cost(const problem *p, const ir_tile *tile, cost_descriptor *d)
{
    enum { end_cycles = 2000 };
    const attention_waves_tile *t = &tile->attention_waves;
    attention_cost(p, t->block_q, 1, t->block_k, d);
    d->per_unit = wave_groups(p->target, t->threads), d->matrix = true, d->products_share = 0.5;
    d->ahead = (double)t->block_k * (double)(problem_head(p) + problem_value_head(p)) * 2, d->streamed = d->asked;
    d->end_cycles = end_cycles;
}

/* Shared memory of the template. Half of the threads load values, each thread the same number of times, so columns of values are rounded up
 * to what these threads load at a time (pass). */
static long long bytes_of(const problem *p, const attention_waves_tile *t)
{
    const long long head = problem_head(p), columns = (problem_value_head(p) + 31) / 32 * 32;
    const long long pass = t->threads / 2 / (t->block_k / 4) * 8, passes = (columns + pass - 1) / pass;
    return 2 * (t->block_k * ((head * 2 + 127) / 128 * 128) + (passes > 1 ? passes * pass : columns) * t->block_k * 2);
}

/* Eight waves, or four with more registers each if heads are long. Fewer if there are too few tiles to keep the units busy; a unit then
 * holds two or four workgroups. */
static void defaults(const problem *p, ir_tile *tile)
{
    const bool narrow = is_narrow(p);
    const ir_op *op = p->attention;
    const long long queries = problem_queries(p), head = problem_longest_head(p);
    const long long pairs = op->attributes.heads * extent_value(&op->inputs[0]->shape[0], &p->ir->dims);
    const bool few = p->target->registers < 512 && head > 64;          /* gfx908 has 128 registers besides accumulators */
    const int most = !few || head <= 96 ? 256 : head > 128 ? 128 : 64; /* fewer waves have more registers each */
    attention_waves_tile t = {.block_q = most > 128 && (head > 160 || narrow) ? 128 : most, .block_k = 64, .chiplets = p->device->chiplets};
    const int least = head > 160 || (narrow && head > 64) ? 128 : 64; /* fewer threads would need more registers each */
    while (t.block_q > least && (queries + t.block_q - 1) / t.block_q * pairs * 2 < 3 * p->device->units) t.block_q /= 2;
    t.threads = 2 * t.block_q;
    const bool wide = head <= 128 || head > 160; /* between these sizes, registers do not suffice for scores of 64 keys */
    const int together = head <= 128 && t.threads < 512 ? 2 : 1;
    if (!wide || few || (head > 128 && t.threads < 256) || bytes_of(p, &t) * together > p->target->lds_bytes) t.block_k = 32;
    tile->attention_waves = t;
}

static const char *illegal(const problem *p, const ir_tile *tile)
{
    (void)p;
    const attention_waves_tile *t = &tile->attention_waves;
    if (t->threads != 128 && t->threads != 256 && t->threads != 512) return "threads must be 128, 256 or 512";
    if (t->block_q != t->threads / 2) return "a wave has 32 queries: block_q must be half of threads";
    return t->block_k == 32 || t->block_k == 64 ? NULL : "block_k must be 32 or 64";
}

/* First fewer keys at a time; then fewer threads, which get more registers each. */
static bool smaller(const problem *p, ir_tile *tile)
{
    (void)p;
    attention_waves_tile *t = &tile->attention_waves;
    if (t->block_k > 32)
        t->block_k = 32;
    else if (t->block_q > 64)
        t->block_q /= 2, t->threads = 2 * t->block_q;
    else
        return false;
    return true;
}

static long long shared_bytes(const problem *p, const ir_tile *t) { return bytes_of(p, &t->attention_waves); }

static void geometry(const problem *p, const ir_tile *t, tile_extents *to) { attention_geometry(p, t->attention_waves.block_q, to); }

static void members(emission *e, writer *w)
{
    const attention_waves_tile *x = &e->phase->tile.attention_waves;
    heads h = heads_start(e, w);
    heads_write_sizes(&h);
    write_line(w, "static constexpr int block_q = %d, block_k = %d, threads = %d, chiplets = %d;", x->block_q, x->block_k, x->threads,
               x->chiplets);
    heads_write_rules(&h);
    heads_write_scores(&h);
    heads_write_strides(&h);
    heads_write_pointers(&h);
    heads_write_output(&h, true);
}

#define ON(layer)                                                 \
    {.kind = program_attention_##layer,                           \
     .device = "attention_mfma",                                  \
     .template = "templates/attention/attention_mfma.h",          \
     .isa = {{layer_##layer, "templates/isa/" #layer "_wide.h"}}, \
     .obstacle = obstacle,                                        \
     .worse = worse,                                              \
     .describe_cost = describe_cost,                              \
     .defaults = defaults,                                        \
     .illegal = illegal,                                          \
     .shared_bytes = shared_bytes,                                \
     .smaller = smaller,                                          \
     .geometry = geometry,                                        \
     .members = members}
const program attention_mfma_program = ON(mfma), attention_wmma_program = ON(wmma);
