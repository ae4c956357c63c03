/* In: a phase with its tile. Out: bytes of shared memory that its template asks for, by the layouts of templates/.
 * Refuses nothing; the emitted source asserts that compilers agree. */
#include "gen/layer.h"
#include "gen/layer_amd.h"
#include "gen/layer_mma.h"
#include <string.h>

/* struct mixed_memory { slot slot[slots]; scratch scratch; } */
static long long memory_bytes(long long slots, long long slot, long long scratch, long long align)
{
    const long long bytes = slots * slot, scratch_at = scratch > 1 ? (bytes + 3) / 4 * 4 : bytes;
    return (scratch_at + scratch + align - 1) / align * align;
}

static bool sums_rows(const tile_request *r, const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i]->role == role_epilogue && value_is_partial(r->program, phase->ops[i]->outputs[0]))
            return true;
    return false;
}

static long long gemm_bytes(const tile_request *r, const ir_phase *p)
{
    if (layer_is_wgmma(layer_of(p))) return wgmma_shared_bytes(p);
    if (layer_is_amd(layer_of(p))) return amd_shared_bytes(p, sums_rows(r, p));
    if (layer_of(p) == layer_mma) return mma_shared_bytes(p, sums_rows(r, p));
    const long long m = tile_value(p, "m"), n = tile_value(p, "n"), k = tile_value(p, "k"),
                    pad = r->target->wave == 1 ? 0 : 4;
    const long long thread_n = tile_value(p, "thread_n"), threads = tile_value(p, "threads");
    if (threads > m / tile_value(p, "thread_m") * (n / thread_n)) /* few rows: part[waves][m * thread_n], sums[] */
        return 16 + (4 * m * (threads / r->target->wave * thread_n + n / thread_n) + 15) / 16 * 16;
    const long long a = 4 * k * (m + pad), b = 4 * k * (n + pad), slot = (a + b + 15) / 16 * 16;
    return memory_bytes(tile_value(p, "slots"), slot, sums_rows(r, p) ? 4 * m * (n / thread_n) : 4, 16);
}

static const ir_op *attention_of(const ir_phase *phase)
{
    const ir_op *op = phase->ops[0];
    for (int i = 0; i < phase->op_count; i++)
        if (op_table[phase->ops[i]->kind].class == class_ATTENTION) op = phase->ops[i];
    return op;
}

static long long attention_bytes(const ir_phase *p)
{
    const ir_op *op = attention_of(p);
    const long long head = value_head_size(op->inputs[0], op->attributes.heads), team = tile_value(p, "team");
    const long long each = ((head + team - 1) / team + 3) / 4 * 4;
    return memory_bytes(1, 2 * tile_value(p, "block_k") * each * team * 4, 1, 16);
}

static long long decode_bytes(const ir_phase *p)
{
    const ir_op *op = attention_of(p);
    const long long head = value_head_size(op->inputs[0], op->attributes.heads);
    return memory_bytes(1, 1, tile_value(p, "threads") / tile_value(p, "team") * (head + 2) * 4, 4);
}

long long tile_shared_bytes(const tile_request *r, const ir_phase *p)
{
    switch (p->family) {
    case family_rows: return memory_bytes(1, 1, 4 * (tile_value(p, "threads") / r->target->wave + 1), 4);
    case family_gemm: return gemm_bytes(r, p);
    case family_attention:
        if (layer_is_amd(layer_of(p))) return amd_attention_bytes(p);
        return layer_of(p) == layer_wgmma ? wgmma_attention_bytes(p) : attention_bytes(p);
    case family_decode: return decode_bytes(p);
    case family_combine:
    case family_align: break;
    }
    return 2;
}

int tile_shared_limit(const target_info *target)
{
    const int most = strncmp(target->name, "sm_", 3) == 0 ? 49152 : target->lds_bytes;
    return target->lds_bytes < most ? target->lds_bytes : most;
}
