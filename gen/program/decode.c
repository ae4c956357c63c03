/* Flash-decoding on vector instructions (templates/attention/decode.h), a workgroup per split and KV head. In: an attention over a cache,
 * or over one split of its keys. Out: a tile: how many splits, how many threads share a key. */
#include "gen/emit/attention.h"
#include "gen/program/attention.h"

extern const program decode_program;

static const char *obstacle(const problem *p)
{
    const char *why = decode_obstacle(p) ? decode_obstacle(p) : attention_window_obstacle(p);
    if (!why) why = attention_bias_obstacle(p);
    if (!why && p->attention->input_count > 3) why = "there are sinks";
    return why ? why : attention_in_registers_obstacle(p);
}

static const worse_range worse[] = {{.where = where_many_at_cache, .why = many_at_cache_why}, {0}};

/* Splits in a launch of several phases, whose grid has one workgroup per unit: no more than units for all heads, so that each workgroup has
 * at most one split; with at least 128 keys each; at most 32. */
static int split_count_in_list(const problem *p, long long keys)
{
    enum { least_keys = 128 };
    const ir_op *op = p->attention;
    const long long heads = extent_value(&op->outputs[0]->shape[0], &p->ir->dims) * op->attributes.kv_heads;
    const long long fill = heads ? p->device->units / heads : 1, most = (keys + least_keys - 1) / least_keys;
    const long long splits = fill < most ? fill : most;
    return splits < 1 ? 1 : splits < 32 ? (int)splits : 32;
}

/* Splits of at least 256 keys (host: 512), at most 32 (host: 8). */
static int split_count(const problem *p)
{
    const bool host = p->target->serial;
    const long long keys = extent_high(value_tokens(p->attention->inputs[1]), &p->ir->dims);
    if (p->ir->threads && !host) return split_count_in_list(p, keys);
    const long long each = host ? 512 : 256, most = host ? 8 : 32, splits = keys / each + (keys % each != 0);
    return splits < 1 ? 1 : splits < most ? (int)splits : (int)most;
}

static long long shared_bytes(const problem *p, const ir_tile *t)
{
    return mixed_memory(1, 1, t->decode.threads / t->decode.team * (problem_value_head(p) + 2) * 4, 4);
}

/* More threads have more keys in flight, which pays where there are few workgroups. Decode blocks on an H200, f32, us with 256 and with 512
 * threads: B1 L131072 H8/1 d128 (32 workgroups) 1186, 740; B1 L20108 H8/2 d96 (64) 105, 74; B4 L2048 H16/4 d128 (128) 77, 55; B2 L3397
 * H64/8 d128 (224) 140, 112; B8 L8192 H32/4 d64 (1024) 149, 182. */
static void defaults(const problem *p, ir_tile *t)
{
    enum { usual = 256 };
    const double clearly = 0.9;
    const bool host = p->target->serial, fixed = p->ir->threads || host || times_are_guesses(p);
    t->decode = (decode_tile){.team = host ? 1 : (int)problem_team(p, (problem_longest_head(p) + 7) / 8),
                              .threads = p->ir->threads ? p->ir->threads : host ? 1 : usual,
                              .splits = split_count(p)};
    const long long keys = extent_high(value_tokens(p->attention->inputs[1]), &p->ir->dims) / t->decode.splits;
    ir_tile wide = *t;
    wide.decode.threads = 2 * usual;
    const bool several = keys * t->decode.team > usual; /* a team has several keys */
    if (fixed || !several || shared_bytes(p, &wide) > p->target->static_bytes) return;
    if (program_seconds(p, &decode_program, &wide) < clearly * program_seconds(p, &decode_program, t)) *t = wide;
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    const decode_tile *x = &t->decode;
    if (!is_power_of_two(x->team) || x->team > p->target->wave) return "team must be a power of two, at most a wave";
    return x->threads % x->team != 0 ? "team must divide threads" : NULL;
}

/* Larger teams: more lanes share the columns of a key, so each needs fewer registers. */
static bool smaller(const problem *p, ir_tile *t)
{
    ir_tile wide = *t;
    wide.decode.team *= 2;
    if (wide.decode.team > p->target->wave || wide.decode.threads % wide.decode.team || shared_bytes(p, &wide) > shared_bytes(p, t))
        return false;
    *t = wide;
    return true;
}

static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    const ir_op *op = p->attention;
    to->rows = extent_number(1);
    to->multiple = extent_multiply(p->a, op->at, op->outputs[0]->shape[0], extent_number(op->attributes.kv_heads));
    to->column_tiles = t->decode.splits;
}

static int partials(const problem *p, const ir_tile *t)
{
    (void)p;
    return t->decode.splits;
}

/* Each query head reads keys and values itself, a few at a time: the first head of a group from DRAM, the others from L2. If the phase is
 * not split yet, the cost includes the combine launch that the split will add. */
static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    /* operations of a lane for a query and key: for the exponential, and per exchange of scores */
    enum { lane_operations = 10, exchange_operations = 8 };
    enum { columns_of_four = 16 }; /* up to so many columns per lane, a team has four keys in flight; above, two */
    const double reached = 0.28;   /* share of the vector rate, as in attention_simt.c */
    const double waits = 2.2;      /* factor of the latency: a team's next loads wait for the scores of the keys that it has */
    const ir_op *op = p->attention;
    const decode_tile *x = &t->decode;
    const work *w = p->work;
    const double columns = (double)(problem_head(p) + problem_value_head(p)), /* columns of a key and its value */
                 longest = (double)problem_longest_head(p), batch = (double)extent_value(&op->outputs[0]->shape[0], &p->ir->dims),
                 rows = (double)problem_queries(p) * (double)op->attributes.heads, at_once = longest / x->team <= columns_of_four ? 4 : 2;
    const double once = work_read(w, op->inputs[1]) + work_read(w, op->inputs[2]);
    d->groups = batch * (double)op->attributes.kv_heads * x->splits;
    d->per_unit = groups_by_threads(p->target, x->threads);
    d->memory = (w->read + w->written) / d->groups;
    d->asked = d->memory + once * (rows / (double)op->attributes.kv_heads - 1) / d->groups;
    d->ahead = at_once * columns * dtype_size(op->inputs[1]->type) * x->threads / x->team / waits, d->streamed = d->asked, d->trips = 2;
    const double pairs = w->products / (2 * columns) / d->groups;
    d->products = w->products / d->groups + pairs * x->team * (lane_operations + exchange_operations * ceil_log2(x->team));
    d->others = w->others / d->groups, d->products_share = reached, d->type = op->inputs[0]->type;
    if (op->kind == op_attention) d->later_launches = 1;
}

static void members(emission *e, writer *w)
{
    const decode_tile *x = &e->phase->tile.decode;
    heads h = heads_start(e, w);
    heads_write_sizes(&h);
    write_line(w, "static constexpr int team = %d, threads = %d, splits = %d;", x->team, x->threads, x->splits);
    heads_write_rules(&h);
    heads_write_scores(&h);
    heads_write_lists(&h);
    heads_write_pointers(&h);
    heads_write_partial(&h, h.op->outputs[0], true);
}

const program decode_program = {.kind = program_decode,
                                .device = "decode",
                                .template = "templates/attention/decode.h",
                                .obstacle = obstacle,
                                .worse = worse,
                                .describe_cost = describe_cost,
                                .defaults = defaults,
                                .illegal = illegal,
                                .shared_bytes = shared_bytes,
                                .smaller = smaller,
                                .geometry = geometry,
                                .partials = partials,
                                .members = members};
