/* In: an attention phase, an AMD target. Out: whether it can have the machine's matrix units (templates/attention/attention_mfma.h), and its tile
 * there. Refuses nothing: the caller says what is in the way. */
#include "gen/emit.h"
#include "gen/layer_amd.h"
#include <string.h>

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

const char *amd_attention_obstacle(const tile_request *r, layer_kind layer)
{
    const ir_op *op = attention_of(r->phase);
    if (!op) return "the phase has no attention over all keys";
    const dtype type = op->inputs[0]->type;
    if (type != dtype_bf16 && type != dtype_f16) return "operands are neither bf16 nor f16";
    if (head_of(r->phase) % 8 != 0 || head_of(r->phase) > 256) return "the head size is no multiple of 8 up to 256";
    if (layer == layer_wmma && head_of(r->phase) > 128) return "the head size is above 128";
    for (int i = 0; i < 3; i++) {
        if (op->inputs[i]->type != type) return "operands differ in dtype";
        if (view_of(r->a, op->inputs[i]).stride >= (1 << 30) / 128) return "rows are too long";
    }
    return NULL;
}

/* A wave has 32 queries. */
bool amd_attention_pays(const tile_request *r)
{
    return extent_value(&attention_of(r->phase)->inputs[0]->shape[1], &r->program->dims) > 16;
}

/* Columns of values: as many as half of the threads bring in whole turns. */
static long long bytes_of(long long head, long long block_k, long long threads)
{
    const long long columns = (head + 31) / 32 * 32, turn = threads / 2 / (block_k / 4) * 8, turns = (columns + turn - 1) / turn;
    return 2 * (block_k * ((head * 2 + 127) / 128 * 128) + (turns > 1 ? turns * turn : columns) * block_k * 2);
}

/* Eight waves (four with more registers, where heads are long), unless there were few tiles for the machine's units; then smaller
 * workgroups, of which a unit takes two or four. */
amd_attention_tile amd_attention_defaults(const tile_request *r)
{
    const ir_op *op = attention_of(r->phase);
    const long long queries = extent_value(&op->inputs[0]->shape[1], &r->program->dims), head = head_of(r->phase);
    const long long pairs = op->attributes.heads * extent_value(&op->inputs[0]->shape[0], &r->program->dims);
    amd_attention_tile t = {.block_q = head > 160 || r->layer == layer_wmma ? 128 : 256, .block_k = 64, .chiplets = r->target->chiplets};
    const int least = head > 160 || (r->layer == layer_wmma && head > 64) ? 128 : 64; /* fewer threads hold more each */
    while (t.block_q > least && (queries + t.block_q - 1) / t.block_q * pairs * 2 < 3 * r->target->units) t.block_q /= 2;
    t.threads = 2 * t.block_q;
    const bool wide = head <= 128 || head > 160; /* between, scores of 64 keys would be one too many for the registers */
    if (!wide || (head > 128 && t.threads < 256) || bytes_of(head, t.block_k, t.threads) * (head <= 128 && t.threads < 512 ? 2 : 1) > r->target->lds_bytes) t.block_k = 32;
    return t;
}

const char *amd_attention_illegal(const ir_phase *p)
{
    const long long q = tile_value(p, "block_q"), k = tile_value(p, "block_k"), threads = tile_value(p, "threads");
    if (threads != 128 && threads != 256 && threads != 512) return "threads is 128, 256 or 512";
    if (q != threads / 2) return "a wave has 32 queries: block_q is half of threads";
    return k == 32 || k == 64 ? amd_chiplets_illegal(p) : "block_k is 32 or 64";
}

long long amd_attention_bytes(const ir_phase *p) { return bytes_of(head_of(p), tile_value(p, "block_k"), tile_value(p, "threads")); }
