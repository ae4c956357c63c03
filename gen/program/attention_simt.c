/* Attention in registers (templates/attention/attention.h): any operands, any target; the host's own. In: an attention over all keys. Out:
 * how many threads share a query, how many keys are in shared memory at a time. */
#include "gen/emit/attention.h"
#include "gen/program/attention.h"

/* Costs of attention: 1 is this one's, whatever the shape. */
static double cost(const tile_request *r)
{
    (void)r;
    return 1;
}

/* Of some 64 columns more than a head has, which is what its threads' vectors may round it up to; what does not suffice is halved below. */
static long long block_keys(const tile_request *r, long long head)
{
    long long keys = 32;
    while (keys > 4 && 2 * keys * (head + 64) * 4 > r->target->static_bytes) keys /= 2;
    return keys;
}

/* Blocks of so many queries are enough for two on each multiprocessor: then a thread may have a whole row, whose keys it
 * reads once for all its columns and whose scores no lanes exchange (H200, f32, B4 S512 H32 hd64: 663 us with teams of 4, 316 alone). */
static bool fills_machine(const tile_request *r, long long block_q)
{
    const ir_op *op = request_attention(r);
    const extent *shape = op->outputs[0]->shape;
    const dim_table *dims = &r->program->dims;
    const long long blocks = (extent_value(&shape[1], dims) + block_q - 1) / block_q;
    return extent_value(&shape[0], dims) * blocks * op->attributes.heads >= 2 * r->device->units;
}

static long long shared_bytes(const tile_request *r, const ir_tile *t)
{
    const attention_simt_tile *x = &t->attention_simt;
    const long long each = ((request_head(r) + x->team - 1) / x->team + 3) / 4 * 4;
    return mixed_memory(1, 2 * x->block_k * each * x->team * 4, 1, 16);
}

static void defaults(const tile_request *r, ir_tile *t)
{
    const bool host = r->target->vendor == vendor_host;
    const long long head = request_head(r);
    /* Fewer queries than half of a block's leave threads idle (H200, bf16, B17 S16 H16 hd64: 22.3 us alone, 11.7 in teams of 4). */
    const bool alone = r->target->vendor == vendor_nvidia && head <= 64 && request_queries(r) > 64 && fills_machine(r, 128);
    attention_simt_tile x = {.block_k = alone ? 64 : (int)block_keys(r, head), .threads = host ? 64 : alone ? 128 : 256};
    x.team = host || alone ? 1 : (int)request_team(r, (head + 15) / 16);
    x.block_q = x.threads / x.team;
    t->attention_simt = x;
    while (t->attention_simt.block_k > 1 && shared_bytes(r, t) > r->target->static_bytes) t->attention_simt.block_k /= 2;
}

static const char *illegal(const tile_request *r, const ir_tile *t)
{
    const attention_simt_tile *x = &t->attention_simt;
    if (!is_power_of_two(x->team) || x->team > r->target->wave) return "team is a power of two, at most a wave";
    return x->block_q * x->team != x->threads ? "threads = block_q * team" : NULL;
}

/* More lanes share a row's columns, as far as a wave and whole vectors (else memory grows) go; then fewer keys at a time. */
static bool smaller(const tile_request *r, ir_tile *t)
{
    ir_tile wide = *t;
    attention_simt_tile *x = &wide.attention_simt;
    x->team *= 2;
    x->block_q = x->threads / x->team;
    if (x->team <= r->target->wave && x->threads % x->team == 0 && shared_bytes(r, &wide) <= shared_bytes(r, t)) return *t = wide, true;
    if (t->attention_simt.block_k < 8) return false;
    t->attention_simt.block_k /= 2;
    return true;
}

static void geometry(const tile_request *r, const ir_tile *t, launch *l) { attention_geometry(r, t->attention_simt.block_q, l); }

/* A thread's columns are whole vectors that exist (head_part of the template). */
static bool has_vectors(const heads *h, const attention_simt_tile *x)
{
    const long long each = h->head / x->team;
    return h->head % (4 * x->team) == 0 && each <= 256 && each * dtype_size(h->op->outputs[0]->type) % 16 == 0;
}

static void members(emission *e, writer *w)
{
    const attention_simt_tile *x = &e->phase->tile.attention_simt;
    heads h = heads_start(e, w);
    heads_write_sizes(&h);
    write_line(w, "static constexpr int block_q = %d, block_k = %d, team = %d, threads = %d;", x->block_q, x->block_k, x->team, x->threads);
    heads_write_rules(&h);
    heads_write_lists(&h);
    heads_write_pointers(&h);
    heads_write_output(&h, has_vectors(&h, x));
}

const program attention_simt_program = {.kind = program_attention_simt,
                                        .device = "attention",
                                        .template = "templates/attention/attention.h",
                                        .memory = "sizeof(mixed_memory<$P>)",
                                        .entry = "TF_KERNEL($K, $T, $S, $P)",
                                        .obstacle = attention_in_registers_obstacle,
                                        .cost = cost,
                                        .defaults = defaults,
                                        .illegal = illegal,
                                        .shared_bytes = shared_bytes,
                                        .smaller = smaller,
                                        .geometry = geometry,
                                        .members = members};
