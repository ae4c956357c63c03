/* Attention on vector instructions (templates/attention/attention.h), for any operands on any target; the host target has no other
 * program for attention. In: an attention whose keys are not split over workgroups. Out: a tile: how many threads share a query, how many
 * keys are in shared memory at a time. */
#include "gen/emit/attention.h"
#include "gen/program/attention.h"
#include <math.h>

extern const program attention_simt_program;

static const char *obstacle(const problem *p)
{
    const char *split = attention_whole_obstacle(p);
    return split ? split : attention_in_registers_obstacle(p);
}

static const worse_range worse[] = {{.where = where_few_at_cache, .why = few_at_cache_why}, {0}};

/* Columns of a head in shared memory, padded so that each thread of a team has whole vectors of four. */
static long long padded_columns(long long head, int team) { return ((head + team - 1) / team + 3) / 4 * 4 * team; }

static long long shared_bytes(const problem *p, const ir_tile *t)
{
    const attention_simt_tile *x = &t->attention_simt;
    const long long columns = padded_columns(problem_head(p), x->team) + padded_columns(problem_value_head(p), x->team);
    return mixed_memory(1, x->block_k * columns * 4, 1, 16);
}

/* For each query and key, every lane of a team computes the exponential and takes part in the reduction of the score. */
static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    /* operations of a lane for a query and key: for the exponential, and per exchange of scores; cycles per workgroup, and per block of
     * keys */
    enum { lane_operations = 10, exchange_operations = 8, end_cycles = 600, block_cycles = 100 };
    const attention_simt_tile *x = &t->attention_simt;
    const double reached = x->team == 1 ? 0.55 : 0.28; /* of the vector rate; the rest goes to shared memory loads and exponentials */
    const double queries = fmin(x->block_q, (double)problem_queries(p));
    attention_cost(p, x->block_q, 1, 1, d); /* no padding: keys and queries beyond the last are not computed */
    const double pairs = d->others / 8 * queries / x->block_q, shared = (double)shared_bytes(p, t),
                 room = p->device->numbers[number_shared].value;
    d->per_unit = fmax(1, fmin(groups_by_threads(p->target, x->threads), floor((room > 0 ? room : p->target->static_bytes) / shared)));
    d->threads = queries * x->team, d->products *= queries / x->block_q;
    d->products += pairs * x->team * (lane_operations + exchange_operations * ceil_log2(x->team)), d->others = 0,
                                                                                                   d->products_share = reached;
    d->ahead = (double)x->block_k * (double)(problem_head(p) + problem_value_head(p)) * dtype_size(p->attention->inputs[1]->type);
    d->streamed = d->asked;
    d->end_cycles = end_cycles + block_cycles * pairs / queries / x->block_k;
}

/* Keys per tile (block_k) for which shared memory has room if a head of keys and one of values are padded by 64 columns each. If they are
 * padded by more, fit() halves the keys. */
static long long block_keys(const problem *p)
{
    const long long columns = problem_head(p) + problem_value_head(p);
    long long keys = 32;
    while (keys > 4 && keys * (columns + 128) * 4 > p->target->static_bytes) keys /= 2;
    return keys;
}

static void fit(const problem *p, ir_tile *t)
{
    while (t->attention_simt.block_k > 1 && shared_bytes(p, t) > p->target->static_bytes) t->attention_simt.block_k /= 2;
}

/* If this tile is predicted to be clearly faster than *best, which takes *least seconds, it becomes *best. */
static void try_team(const problem *p, int team, int threads, double *least, ir_tile *best)
{
    ir_tile x = *best;
    x.attention_simt = (attention_simt_tile){.block_q = threads / team,
                                             .block_k = team == 1 ? 64 : (int)block_keys(p),
                                             .team = team,
                                             .threads = threads};
    fit(p, &x);
    const double seconds = program_seconds(p, &attention_simt_program, &x);
    if (seconds < 0.95 * *least) *best = x, *least = seconds;
}

/* True if each thread's columns are whole vectors; else they are padded and accessed one by one. */
static bool in_vectors(long long head, int team) { return head % (4 * team) == 0; }

/* Starts with at most 16 columns of a head per thread; 24, for heads of 96, were slower. On targets whose cost model was fitted,
 * alternatives are compared by predicted time (H200, f32; B sequences of S tokens, H heads of hd columns):
 * - team = 1 for heads up to 64: a thread reads each key once for a whole query, and lanes exchange no scores (B4 S512 H32 hd64: 663 us
 *   with teams of 4, 316 with 1);
 * - fewer threads and larger teams if row tiles do not fill the machine (B2 S203 H2 hd64 took 0.59 of the time). With more than two tiles
 *   per head, only if a thread's columns stay whole vectors: with teams of 16 instead of 8, B4 S251 H4 hd96 took 1.3 times as long, B9 S640
 *   H16 hd80 2.5 times. */
static void defaults(const problem *p, ir_tile *t)
{
    enum { most_alone = 64, usual_columns = 16 };
    const bool host = p->target->serial;
    const long long head = problem_longest_head(p);
    const int usual = host ? 1 : (int)problem_team(p, (head + usual_columns - 1) / usual_columns), threads = host ? 64 : 256;
    t->attention_simt = (attention_simt_tile){threads / usual, (int)block_keys(p), usual, threads};
    fit(p, t);
    if (host || !p->target->timed) return;
    double least = program_seconds(p, &attention_simt_program, t);
    const ir_op *op = p->attention;
    const long long heads = extent_value(&op->inputs[0]->shape[0], &p->ir->dims) * op->attributes.heads,
                    tiles = (problem_queries(p) + threads / usual - 1) / (threads / usual); /* row tiles of a head */
    const bool few = tiles * heads < (tiles == 1 ? 2 : 1) * p->device->units;
    const int most = op->inputs[0]->type == dtype_f32 ? 4 * usual : usual; /* other types run on matrix units */
    for (int some = 128; some >= 64; some /= 2) {
        for (int team = usual; few && team <= most && team <= p->target->wave; team *= 2)
            if (team == usual || tiles <= 2 || in_vectors(head, team)) try_team(p, team, some, &least, t);
        if (usual > 1 && head <= most_alone) try_team(p, 1, some, &least, t);
    }
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    const attention_simt_tile *x = &t->attention_simt;
    if (!is_power_of_two(x->team) || x->team > p->target->wave) return "team must be a power of two, at most a wave";
    return x->block_q * x->team != x->threads ? "threads must be block_q * team" : NULL;
}

/* First larger teams, up to a wave, as long as padding columns to whole vectors needs no more shared memory; then fewer keys at a time. */
static bool smaller(const problem *p, ir_tile *t)
{
    ir_tile wide = *t;
    attention_simt_tile *x = &wide.attention_simt;
    x->team *= 2;
    x->block_q = x->threads / x->team;
    if (x->team <= p->target->wave && x->threads % x->team == 0 && shared_bytes(p, &wide) <= shared_bytes(p, t)) return *t = wide, true;
    if (t->attention_simt.block_k < 8) return false;
    t->attention_simt.block_k /= 2;
    return true;
}

static void geometry(const problem *p, const ir_tile *t, tile_extents *to) { attention_geometry(p, t->attention_simt.block_q, to); }

/* True if a thread's columns are whole 16-byte vectors without padding (head_part of the template). */
static bool has_vectors(const heads *h, const attention_simt_tile *x)
{
    const long long each = h->value_head / x->team;
    return in_vectors(h->value_head, x->team) && each <= 256 && each * dtype_size(h->op->outputs[0]->type) % 16 == 0;
}

static void members(emission *e, writer *w)
{
    const attention_simt_tile *x = &e->phase->tile.attention_simt;
    heads h = heads_start(e, w);
    heads_write_sizes(&h);
    write_line(w, "static constexpr int block_q = %d, block_k = %d, team = %d, threads = %d;", x->block_q, x->block_k, x->team, x->threads);
    heads_write_rules(&h);
    heads_write_scores(&h);
    heads_write_lists(&h);
    heads_write_pointers(&h);
    heads_write_output(&h, has_vectors(&h, x));
}

const program attention_simt_program = {.kind = program_attention_simt,
                                        .device = "attention",
                                        .template = "templates/attention/attention.h",
                                        .obstacle = obstacle,
                                        .worse = worse,
                                        .describe_cost = describe_cost,
                                        .defaults = defaults,
                                        .illegal = illegal,
                                        .shared_bytes = shared_bytes,
                                        .smaller = smaller,
                                        .geometry = geometry,
                                        .members = members};
