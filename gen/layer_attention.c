/* In: an attention phase, its target. Out: whether it can have wgmma (templates/attention/attention_ws.h), and its tile there: what an H200 was
 * fastest with. Refuses nothing: the caller says what is in the way. */
#include "gen/emit.h"
#include "gen/layer.h"
#include <string.h>

enum { most_shared = 232448 };

static const ir_op *attention_of(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i]->kind == op_attention) return phase->ops[i];
    return NULL;
}

static long long head_of(const ir_phase *phase)
{
    const ir_op *op = attention_of(phase);
    return value_head_size(op->inputs[0], op->attributes.heads);
}

static bool reachable(arena *a, const ir_value *x)
{
    const view v = view_of(a, x);
    const long long size = dtype_size(x->type);
    return v.stride * size % 16 == 0 && v.offset * size % 16 == 0;
}

const char *wgmma_attention_obstacle(const tile_request *r)
{
    const ir_op *op = r->phase->family == family_attention ? attention_of(r->phase) : NULL;
    if (strcmp(r->target->name, "sm_90a") != 0) return "only sm_90a has it";
    if (!op) return "the phase has no attention over all keys";
    const long long head = head_of(r->phase);
    const dtype type = op->inputs[0]->type;
    if (type != dtype_bf16 && type != dtype_f16) return "operands are not bf16 or f16";
    for (int i = 1; i < 3; i++)
        if (op->inputs[i]->type != type) return "operands differ in dtype";
    if (head % 16 != 0 || head < 16 || head > 256) return "the head size is no multiple of 16 up to 256";
    if (!(op->attributes.scale > 0)) return "the scale is not positive";
    for (int i = 0; i < 3; i++)
        if (!reachable(r->a, op->inputs[i])) return "rows do not begin at multiples of 16 bytes";
    return NULL;
}

static long long keys_of(const tile_request *r)
{
    const ir_value *k = attention_of(r->phase)->inputs[1];
    return extent_value(value_tokens(k), &r->program->dims);
}

/* A tile of 64 rows by 64 keys is the least that it computes. */
bool wgmma_attention_pays(const tile_request *r)
{
    return extent_value(&attention_of(r->phase)->inputs[0]->shape[1], &r->program->dims) >= 48 && keys_of(r) >= 48;
}

static long long bytes_of(long long head, long long block_q, long long block_k, long long slots)
{
    const long long panels = (head + 63) / 64, fixed = 1024 + slots * (panels * block_k * 128 + 16),
                    queries = block_q / 64 * (panels * 8192 + 16);
    return fixed + 2 * queries <= most_shared ? fixed + 2 * queries : fixed + queries;
}

wgmma_attention_tile wgmma_attention_defaults(const tile_request *r)
{
    const ir_op *op = attention_of(r->phase);
    const long long head = head_of(r->phase), group = op->attributes.heads / op->attributes.kv_heads;
    wgmma_attention_tile t = {.block_q = head <= 64 && !op->attributes.window && !(op->attributes.softcap > 0) ? 192 : 128, .pack = 1};
    t.block_k = head <= 64 && keys_of(r) <= 512 ? 64 : head <= 128 ? 128 : head <= 192 ? 112 : head <= 240 ? 64 : 48;
    t.slots = head <= 64 && t.block_k == 64 ? 16 : 8;
    while (bytes_of(head, t.block_q, t.block_k, t.slots) > most_shared) t.slots--;
    while (group % (2 * t.pack) == 0 && t.pack < 64) t.pack *= 2;
    t.threads = 128 + 2 * t.block_q;
    return t;
}

const char *wgmma_attention_illegal(const ir_phase *p)
{
    const ir_op *op = attention_of(p);
    const long long q = tile_value(p, "block_q"), k = tile_value(p, "block_k"), slots = tile_value(p, "slots"), pack = tile_value(p, "pack");
    if (q != 128 && q != 192) return "on wgmma block_q is 128 or 192";
    if (k < 16 || k > 256 || k % 16 != 0) return "on wgmma block_k is a multiple of 16, at most 256";
    if (slots < 3 || slots > 64) return "on wgmma slots is 3 to 64";
    if (pack < 1 || 64 % pack != 0 || op->attributes.heads / op->attributes.kv_heads % pack != 0)
        return "pack divides 64 and the query heads of a group";
    if (tile_value(p, "threads") != 128 + 2 * q) return "on wgmma threads is 128 + 2 * block_q";
    return NULL;
}

long long wgmma_attention_bytes(const ir_phase *p)
{
    return bytes_of(head_of(p), tile_value(p, "block_q"), tile_value(p, "block_k"), tile_value(p, "slots"));
}
