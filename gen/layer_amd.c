/* In: a gemm phase, its space and an AMD target. Out: its tile on matrix units. Refuses (by a reason) what layer_amd.h says. */
#include "gen/emit.h"
#include "gen/layer_amd.h"
#include <string.h>

enum { row_bytes = 128 };

layer_kind amd_layer(const target_info *target)
{
    if (strcmp(target->family, "cdna") == 0) return layer_mfma;
    return strcmp(target->family, "rdna") == 0 ? layer_wmma : layer_simt;
}

bool layer_is_amd(layer_kind layer) { return layer == layer_mfma || layer == layer_wmma; }

const char *amd_machine(arena *a, const target_info *target) { return arena_printf(a, "0x%s", target->name + strlen("gfx")); }

static const ir_op *product_of(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (op_table[phase->ops[i]->kind].class == class_PRODUCT) return phase->ops[i];
    return NULL;
}

static bool made_in(const ir_phase *phase, const ir_value *v)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i] == v->def) return !op_is_view(v->def);
    return false;
}

static long long product_rows(const tile_request *r, const ir_op *product)
{
    const ir_value *out = product->outputs[0];
    const extent *rows = product->kind == op_matmul ? &out->shape[out->rank - 2] : &r->space.rows;
    return extent_value(rows, &r->program->dims);
}

const char *amd_obstacle(const tile_request *r, layer_kind layer)
{
    if (amd_layer(r->target) != layer) return layer == layer_mfma ? "gfx9 machines have it" : "gfx11 and gfx12 machines have it";
    if (r->phase->family == family_attention) return amd_attention_obstacle(r, layer);
    const ir_op *product = product_of(r->phase);
    if (r->phase->family != family_gemm || !product) return "the phase has no product";
    const ir_value *a = product->inputs[0], *b = product->inputs[1];
    if (made_in(r->phase, a) || made_in(r->phase, b)) return "an operand is computed in the phase";
    if (a->type != b->type) return "the operands have two types";
    if (a->type != dtype_bf16 && a->type != dtype_f16 && (a->type != dtype_f32 || layer == layer_wmma))
        return layer == layer_wmma ? "operands are neither bf16 nor f16" : "operands are not bf16, f16 or f32";
    if (view_of(r->a, a).stride * dtype_size(a->type) >= (1 << 30) / 256) return "rows of the first operand are too long";
    return NULL;
}

/* Up to 16 rows the few-rows program reads the weight at the speed of memory already. */
bool amd_pays(const tile_request *r)
{
    return r->phase->family == family_attention ? amd_attention_pays(r) : product_rows(r, product_of(r->phase)) > 16;
}

/* Rows of A lie at multiples of 16 bytes and are whole pieces of 16. */
static bool plain(const tile_request *r)
{
    const ir_value *a = product_of(r->phase)->inputs[0];
    const view w = view_of(r->a, a);
    const long long size = dtype_size(a->type);
    return product_of(r->phase)->kind != op_matmul && w.stride * size % 16 == 0 && w.offset * size % 16 == 0 &&
           value_columns(a) * size % 16 == 0;
}

/* Tiles that a chiplet has under way: a unit has eight waves of 256 registers. */
static int amd_chunk(const target_info *target, int threads)
{
    const int each = 8 * target->wave / threads;
    return target->units / target->chiplets * (each > 1 ? each : 1);
}

const char *amd_chiplets_illegal(const ir_phase *phase)
{
    const long long chiplets = tile_value(phase, "chiplets");
    return chiplets < 1 || chiplets > 64 ? "chiplets is 1 (tiles as they come) to 64" : NULL;
}

/* The largest tile of which there are enough to keep three quarters of the machine busy. */
amd_tile amd_defaults(const tile_request *r)
{
    static const struct {
        int m, n, threads;
    } tiles[] = {{256, 256, 512}, {128, 256, 512}, {128, 128, 256}, {64, 64, 256}, {32, 128, 256}};
    const ir_op *product = product_of(r->phase);
    const long long rows = product_rows(r, product), units = r->target->units;
    /* A function that is called leaves its caller half of the registers: of a large tile they do not hold the sums (HIPRTC 5.2 spills). */
    int i = amd_layer(r->target) == layer_wmma || phase_is_long(r->phase, r->target) ? 2 : 0;
    while (i < 3 && (rows + tiles[i].m - 1) / tiles[i].m * ((r->packed_n + tiles[i].n - 1) / tiles[i].n) * 4 < units * 3) i++;
    enum { longest = 32768 }; /* longer sums are sums of sums, for which there are registers beside few results (gemm_mfma.h) */
    if (value_columns(product->inputs[0]) > longest && i < 3) i = 3;
    if (rows <= 32) i = 4;
    amd_tile t = {tiles[i].m, tiles[i].n, row_bytes / dtype_size(product->inputs[0]->type), tiles[i].threads, 1, 8, r->target->chiplets, 0};
    t.chunk = amd_chunk(r->target, t.threads);
    if (strcmp(r->target->name, "gfx950") == 0 && t.threads == 512 && plain(r)) t.slots = 2;
    return t;
}

const char *amd_illegal(const tile_request *r, const ir_phase *phase)
{
    const bool wide = r->target->wave == 64;
    const long long m = tile_value(phase, "m"), n = tile_value(phase, "n"), threads = tile_value(phase, "threads");
    const long long waves = threads / r->target->wave, waves_m = m >= 64 ? 2 : 1, slots = tile_value(phase, "slots");
    if (tile_value(phase, "k") != row_bytes / dtype_size(product_of(r->phase)->inputs[0]->type)) return "k is 128 bytes";
    if (threads != 128 && threads != 256 && threads != 512) return "threads is 128, 256 or 512";
    if (m < 16 || m > 256 || m % (16 * waves_m) || n < 16 || n > 256 || n % (waves / waves_m * (wide ? 32 : 16)))
        return "the waves share out m, at most 256, in rows of 16 and n, at most 256, in blocks of 32 columns (rdna: 16)";
    if ((m > threads / 8 && m % (threads / 8)) || (n > threads / 8 && n % (threads / 8)) || m > threads)
        return "the threads load m and n in whole turns";
    if (m * n / threads > (wide ? 128 : 64)) return "a thread has at most 128 results (rdna: 64)";
    if (tile_value(phase, "group") < 1 || tile_value(phase, "chunk") < 1) return "group and chunk are positive";
    if (amd_chiplets_illegal(phase)) return amd_chiplets_illegal(phase);
    if (slots == 2 && (strcmp(r->target->name, "gfx950") || !plain(r) || threads != 512 || (m != 128 && m != 256) || n % 128))
        return "slots is 1; on gfx950, with 512 threads, m of 128 or 256, and aligned rows, also 2";
    return slots == 1 || slots == 2 ? NULL : "slots is 1 or 2";
}

long long amd_shared_bytes(const ir_phase *phase, bool sums)
{
    const long long m = tile_value(phase, "m"), n = tile_value(phase, "n"), slots = tile_value(phase, "slots");
    const long long lines = (m + n) * row_bytes;
    if (slots == 1 || !sums) return slots * lines;
    return slots * lines + m * (tile_value(phase, "threads") / 64 / 2) * 4;
}
