/* In: the problem of an attention over all keys, an AMD target with matrix units. Out: what gen/program/waves.h says of attention. Refuses
 * nothing itself. */
#include "gen/emit/attention.h"
#include "gen/program/attention.h"
#include "gen/program/waves.h"

const char *wave_attention_obstacle(const problem *p, long long most_head)
{
    const ir_op *op = problem_attention(p);
    const dtype type = op->inputs[0]->type;
    const long long head = problem_head(p);
    if (!dtype_is_real(type) || dtype_size(type) != 2) return "operands are neither bf16 nor f16";
    if (head % 8 != 0 || head > 256) return "the head size is no multiple of 8 up to 256";
    if (head > most_head) return arena_printf(p->a, "the head size is above %lld", most_head);
    for (int i = 0; i < 3; i++) {
        if (op->inputs[i]->type != type) return "operands differ in dtype";
        if (view_of(p->a, op->inputs[i]).stride >= (1 << 30) / 128) return "rows are too long";
    }
    return NULL;
}

/* A wave has 32 queries, of which few would leave most of its products unused. */
const worse_range wave_attention_worse[] = {{.most_rows = 16, .why = "queries are 16 or fewer"}, {0}};

void wave_attention_demand(const problem *p, const ir_tile *tile, demand *d)
{
    enum { end_cycles = 2000 };
    const attention_waves_tile *t = &tile->attention_waves;
    attention_demand(p, t->block_q, 1, t->block_k, d);
    d->per_unit = wave_groups(p->target, t->threads), d->matrix = true, d->products_share = 0.5;
    d->ahead = 2.0 * t->block_k * (double)problem_head(p) * 2, d->streamed = d->asked, d->end_cycles = end_cycles;
}

/* Columns of values: as many as half of the threads bring in whole turns. */
static long long bytes_of(long long head, const attention_waves_tile *t)
{
    const long long columns = (head + 31) / 32 * 32, turn = t->threads / 2 / (t->block_k / 4) * 8, turns = (columns + turn - 1) / turn;
    return 2 * (t->block_k * ((head * 2 + 127) / 128 * 128) + (turns > 1 ? turns * turn : columns) * t->block_k * 2);
}

/* Eight waves (four with more registers, where heads are long), unless there were few tiles for the machine's units; then smaller
 * workgroups, of which a unit takes two or four. */
void wave_attention_defaults(const problem *p, ir_tile *tile, bool narrow)
{
    const ir_op *op = problem_attention(p);
    const long long queries = problem_queries(p), head = problem_head(p);
    const long long pairs = op->attributes.heads * extent_value(&op->inputs[0]->shape[0], &p->program->dims);
    const bool few = p->target->registers < 512 && head > 64;          /* gfx908: 128 registers beside the sums */
    const int most = !few || head <= 96 ? 256 : head > 128 ? 128 : 64; /* two waves, and four of long heads, have more each */
    attention_waves_tile t = {.block_q = most > 128 && (head > 160 || narrow) ? 128 : most, .block_k = 64, .chiplets = p->device->chiplets};
    const int least = head > 160 || (narrow && head > 64) ? 128 : 64; /* fewer threads hold more each */
    while (t.block_q > least && (queries + t.block_q - 1) / t.block_q * pairs * 2 < 3 * p->device->units) t.block_q /= 2;
    t.threads = 2 * t.block_q;
    const bool wide = head <= 128 || head > 160; /* between, scores of 64 keys would be one too many for the registers */
    const int together = head <= 128 && t.threads < 512 ? 2 : 1;
    if (!wide || few || (head > 128 && t.threads < 256) || bytes_of(head, &t) * together > p->target->lds_bytes) t.block_k = 32;
    tile->attention_waves = t;
}

const char *wave_attention_illegal(const problem *p, const ir_tile *tile)
{
    (void)p;
    const attention_waves_tile *t = &tile->attention_waves;
    if (t->threads != 128 && t->threads != 256 && t->threads != 512) return "threads is 128, 256 or 512";
    if (t->block_q != t->threads / 2) return "a wave has 32 queries: block_q is half of threads";
    return t->block_k == 32 || t->block_k == 64 ? NULL : "block_k is 32 or 64";
}

/* Fewer keys at a time need fewer registers; fewer threads have more each. */
bool wave_attention_smaller(const problem *p, ir_tile *tile)
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

long long wave_attention_bytes(const problem *p, const ir_tile *t) { return bytes_of(problem_head(p), &t->attention_waves); }

void wave_attention_geometry(const problem *p, const ir_tile *t, tile_extents *to) { attention_geometry(p, t->attention_waves.block_q, to); }

void wave_attention_members(emission *e, writer *w)
{
    const attention_waves_tile *x = &e->phase->tile.attention_waves;
    heads h = heads_start(e, w);
    heads_write_sizes(&h);
    write_line(w, "static constexpr int block_q = %d, block_k = %d, threads = %d, chiplets = %d;", x->block_q, x->block_k, x->threads,
               x->chiplets);
    heads_write_rules(&h);
    heads_write_pointers(&h);
    heads_write_output(&h, true);
}
