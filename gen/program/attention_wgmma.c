/* Attention on wgmma (templates/attention/attention_ws.h). In: an attention whose keys are not split over workgroups. Out: the fastest
 * predicted tile. */
#include "gen/emit/attention.h"
#include "gen/program/attention.h"
#include <math.h>

extern const program attention_wgmma_program;

/* True if tensor loads (TMA) accept rows of x. */
static bool reachable(arena *a, const ir_value *x)
{
    const view v = view_of(a, x);
    const long long size = dtype_size(x->type);
    return v.stride * size % 16 == 0 && v.offset * size % 16 == 0;
}

static const char *obstacle(const problem *p)
{
    const ir_op *op = p->attention;
    const long long head = problem_head(p), values = problem_value_head(p);
    const dtype type = op->inputs[0]->type;
    if (attention_whole_obstacle(p)) return attention_whole_obstacle(p);
    if (!dtype_multiplies(type, layer_wgmma)) return "operands are not bf16 or f16";
    for (int i = 1; i < 3; i++)
        if (op->inputs[i]->type != type) return "operands differ in dtype";
    if (head % 16 != 0 || head > 256 || values % 16 != 0 || values > 256) return "the head size is not a multiple of 16 up to 256";
    if (!(op->attributes.scale > 0)) return "the scale is not positive";
    for (int i = 0; i < 3; i++)
        if (!reachable(p->a, op->inputs[i])) return "rows are not 16-byte aligned";
    return NULL;
}

static const worse_range worse[] = {{.where = where_few_at_cache, .why = few_at_cache_why}, {0}};

/* attention_ws<...>::shared_bytes; queries are double-buffered if there is room */
static long long bytes_of(const problem *p, const attention_wgmma_tile *t)
{
    const long long panels = (problem_head(p) + 63) / 64, most = (problem_longest_head(p) + 63) / 64,
                    fixed = 1024 + t->stages * (most * t->block_k * 128 + 16), queries = t->block_q / 64 * (panels * 8192 + 16);
    return fixed + 2 * queries <= p->target->lds_bytes ? fixed + 2 * queries : fixed + queries;
}

/* Warpgroups that compute 64 rows each, and one that loads, unless a warp of the launch does. */
static int threads_of(const problem *p, const attention_wgmma_tile *x) { return 2 * x->block_q + (p->ir->feeds ? 0 : 128); }

/* Rows of the warpgroups that have queries: if a sequence has fewer queries than a workgroup takes, some warpgroups are idle. */
static double busy_rows(const problem *p, const attention_wgmma_tile *x)
{
    return fmin(x->block_q, ceil((double)problem_queries(p) * x->pack_gqa / 64) * 64);
}

/* The softmax of a block of keys is partly hidden behind the products of another warpgroup. */
static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    enum { end_cycles = 2000, begin = 2500, block_cycles = 150 }; /* cycles: per workgroup, of the launch, per block of keys */
    const attention_wgmma_tile *x = &t->attention_wgmma;
    const double rows = busy_rows(p, x);
    attention_cost(p, rows, x->pack_gqa, x->block_k, d);
    d->matrix = true, d->threads *= rows / x->block_q;
    d->ahead = (double)x->stages * x->block_k * (double)(problem_head(p) + problem_value_head(p)), d->streamed = d->asked;
    d->end_cycles = end_cycles + block_cycles * d->others / (8.0 * rows * x->block_k), d->start_cycles = begin;
}

/* True if nothing changes or masks scores in a way that needs further registers. */
static bool is_plain(const ir_attributes *t) { return !t->window && !t->first && !(t->softcap > 0) && !t->alibi.count && !t->bias; }

/* The tile for blocks of block_k keys. Three warpgroups multiply (block_q 192) if registers suffice, else two. There are as many stages as
 * shared memory holds, and the most packed heads (a power of two) that divide a GQA group. */
static attention_wgmma_tile tile_of(const problem *p, int block_k)
{
    const ir_op *op = p->attention;
    const long long head = problem_longest_head(p), group = op->attributes.heads / op->attributes.kv_heads;
    attention_wgmma_tile x = {.block_q = head <= 64 && is_plain(&op->attributes) && !p->ir->feeds ? 192 : 128, .pack_gqa = 1};
    x.block_k = block_k, x.stages = head <= 64 && block_k == 64 ? 16 : 8;
    while (bytes_of(p, &x) > shared_room_of_phase(p)) x.stages--;
    while (group % (2 * x.pack_gqa) == 0 && x.pack_gqa < 64) x.pack_gqa *= 2;
    x.threads = threads_of(p, &x);
    return x;
}

static void defaults(const problem *p, ir_tile *t)
{
    enum { least_stages = 3 };
    const long long values = problem_value_head(p);
    int most = values <= 128 ? 128 : values <= 192 ? 112 : values <= 240 ? 64 : 48; /* keys for which registers suffice */
    while (tile_of(p, most).stages < least_stages) most -= 16;
    ir_tile few = *t;
    t->attention_wgmma = tile_of(p, most);
    if (most <= 64) return;
    few.attention_wgmma = tile_of(p, 64);
    if (program_seconds(p, &attention_wgmma_program, &few) < program_seconds(p, &attention_wgmma_program, t)) *t = few;
}

/* A stage has two mbarriers, queries have up to eight; a phase has 64 (fed_words of templates/frame/frame_fed.h). */
enum { most_fed_stages = (64 - 8) / 2 };

static const char *illegal(const problem *p, const ir_tile *t)
{
    const attention_wgmma_tile *x = &t->attention_wgmma;
    const ir_attributes *of = &p->attention->attributes;
    if (x->block_q % 64 != 0) return "block_q must be 128 or 192";
    if (x->block_k % 16 != 0) return "block_k must be a multiple of 16";
    if (64 % x->pack_gqa != 0 || of->heads / of->kv_heads % x->pack_gqa != 0)
        return "pack_gqa must divide 64 and the query heads of a group";
    if (p->ir->feeds && x->stages > most_fed_stages)
        return arena_printf(p->a, "stages must be at most %d in a launch of several phases", most_fed_stages);
    if (p->ir->feeds) return x->threads != 2 * x->block_q ? "threads must be 2 * block_q in a launch of several phases" : NULL;
    return x->threads != 128 + 2 * x->block_q ? "threads must be 128 + 2 * block_q" : NULL;
}

static long long shared_bytes(const problem *p, const ir_tile *t) { return bytes_of(p, &t->attention_wgmma); }

/* First fewer threads, which get more registers each; then fewer keys at a time. */
static bool smaller(const problem *p, ir_tile *t)
{
    attention_wgmma_tile *x = &t->attention_wgmma;
    if (x->block_q > 128)
        x->block_q = 128, x->threads = threads_of(p, x);
    else if (x->block_k >= 32)
        x->block_k = x->block_k / 32 * 16;
    else
        return false;
    return true;
}

/* A row tile is the 64 rows of a warpgroup, or in a launch of several phases those of all warpgroups, shared by its packed heads. */
static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    const ir_op *op = p->attention;
    const int pack = t->attention_wgmma.pack_gqa;
    attention_geometry(p, (p->ir->feeds ? t->attention_wgmma.block_q : 64) / pack, to);
    to->multiple = extent_multiply(p->a, op->at, op->outputs[0]->shape[0], extent_number(op->attributes.heads / pack));
    to->resident = 1;
}

/* Whether blocks of keys that need no mask get one, too. In a launch of several phases a second instance of the code costs more than the
 * masks of a few blocks. (H200, us, without and with it: 69 tokens of D512 H1 F1360 21.2, 22.0; 128 tokens of D512 H8 F2048 37.2, 37.5.) */
static bool masks_all(const problem *p, const attention_wgmma_tile *x)
{
    enum { few_blocks = 2 };
    return p->ir->feeds && extent_value(value_tokens(p->attention->inputs[1]), &p->ir->dims) <= few_blocks * x->block_k;
}

static void members(emission *e, writer *w)
{
    const attention_wgmma_tile *x = &e->phase->tile.attention_wgmma;
    const problem p = plan_problem(e->a, e->plan, e->phase);
    heads h = heads_start(e, w);
    heads_write_sizes(&h);
    write_line(w, "static constexpr int block_q = %d, block_k = %d, stages = %d, pack_gqa = %d, threads = %d;", x->block_q, x->block_k,
               x->stages, x->pack_gqa, x->threads);
    if (masks_all(&p, x)) write_line(w, "static constexpr bool masks_all = true;");
    heads_write_ragged(&h);
    heads_write_rules(&h);
    heads_write_scores(&h);
    heads_write_maps(&h, x->pack_gqa, x->block_k);
    heads_write_output(&h, true);
}

const program attention_wgmma_program = {.kind = program_attention_wgmma,
                                         .device = "attention_ws",
                                         .template = "templates/attention/attention_ws.h",
                                         .obstacle = obstacle,
                                         .worse = worse,
                                         .describe_cost = describe_cost,
                                         .defaults = defaults,
                                         .illegal = illegal,
                                         .shared_bytes = shared_bytes,
                                         .smaller = smaller,
                                         .geometry = geometry,
                                         .members = members};
