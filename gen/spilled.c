/* In: a phase whose tile spilled. Out: its next tile, from fast to slow. Refuses to propose what the template does not take. */
#include "gen/spilled.h"
#include "gen/layer.h"
#include "gen/layer_amd.h"
#include "gen/layer_mma.h"
#include <string.h>

static void set(ir_phase *p, const char *key, long long value)
{
    for (int i = 0; i < p->tile_count; i++)
        if (strcmp(p->tile[i].key, key) == 0) p->tile[i].value = (int)value;
}

static bool is_same(const ir_phase *p, const spilled_tile *s)
{
    if (p->tile_count != s->tile_count) return false;
    for (int i = 0; i < s->tile_count; i++)
        if (tile_value(p, s->tile[i].key) != s->tile[i].value) return false;
    return true;
}

bool tile_has_spilled(const ir_phase *p)
{
    for (int i = 0; i < p->spilled_count; i++)
        if (is_same(p, &p->spilled[i])) return true;
    return false;
}

/* More threads share a row; then each has shorter vectors, of which the compiler has fewer under way. */
static bool smaller_rows(const tile_request *r, ir_phase *p)
{
    const long long team = tile_value(p, "team"), v = tile_value(p, "v"), vectors = (r->space.columns + v - 1) / v;
    const long long most = r->target->max_threads < 1024 ? r->target->max_threads : 1024;
    if (2 * team <= most && team < vectors) {
        set(p, "team", 2 * team);
        if (tile_value(p, "threads") < 2 * team) set(p, "threads", 2 * team);
    } else if (v > 1)
        set(p, "v", v / 2);
    else
        return false;
    return true;
}

/* Fewer rows a thread. */
static bool smaller_simt(ir_phase *p)
{
    const long long m = tile_value(p, "m"), thread_m = tile_value(p, "thread_m");
    if (thread_m % 2 || m % 2) return false;
    set(p, "m", m / 2);
    set(p, "thread_m", thread_m / 2);
    return true;
}

static bool smaller_wgmma(ir_phase *p)
{
    const long long n = tile_value(p, "n"), half = n / 64 * 32;
    if (n <= 64) return false;
    set(p, "n", layer_of(p) == layer_wgmma3 ? n - 32 : half < 64 ? 64 : half);
    return true;
}

static long long results_of(const ir_phase *p) { return tile_value(p, "m") * tile_value(p, "n") / tile_value(p, "threads"); }

typedef struct shape {
    int m, n, threads;
} shape;

/* The first shape with fewer results a thread that the layer takes. */
static bool smaller_shape(const tile_request *r, ir_phase *p, const shape *list, size_t count)
{
    const long long results = results_of(p);
    for (size_t i = 0; i < count; i++) {
        const shape *s = &list[i];
        if (s->m * s->n / s->threads >= results) continue;
        set(p, "m", s->m), set(p, "n", s->n), set(p, "threads", s->threads);
        if (layer_is_amd(layer_of(p))) set(p, "slots", 1);
        if (!(layer_of(p) == layer_mma ? mma_illegal(p) : amd_illegal(r, p))) return true;
    }
    return false;
}

static bool smaller_matrix(const tile_request *r, ir_phase *p)
{
    static const shape amd[] = {{128, 256, 512}, {128, 128, 256}, {128, 128, 512}, {64, 128, 256}, {64, 64, 256}, {32, 64, 256}};
    static const shape mma[] = {{128, 128, 256}, {64, 128, 128}, {64, 128, 256}, {64, 64, 128}, {32, 64, 128}};
    return layer_of(p) == layer_mma ? smaller_shape(r, p, mma, sizeof mma / sizeof *mma) : smaller_shape(r, p, amd, sizeof amd / sizeof *amd);
}

static bool smaller_gemm(const tile_request *r, ir_phase *p)
{
    if (layer_is_wgmma(layer_of(p))) return smaller_wgmma(p);
    return layer_of(p) == layer_simt ? smaller_simt(p) : smaller_matrix(r, p);
}

static void set_team(ir_phase *p, long long team)
{
    set(p, "team", team);
    set(p, "block_q", tile_value(p, "threads") / team);
}

/* More lanes share a row's columns, as far as a wave and whole vectors (else memory grows) go; then fewer keys at a time. */
static bool smaller_team(const tile_request *r, ir_phase *p)
{
    const long long team = tile_value(p, "team"), keys = tile_value(p, "block_k"), bytes = tile_shared_bytes(r, p);
    if (2 * team <= r->target->wave && tile_value(p, "threads") % (2 * team) == 0) {
        set_team(p, 2 * team);
        if (tile_shared_bytes(r, p) <= bytes) return true;
        set_team(p, team);
    }
    if (keys < 8) return false;
    set(p, "block_k", keys / 2);
    return true;
}

/* Fewer threads have more registers each; fewer keys at a time need fewer. */
static bool smaller_attention(const tile_request *r, ir_phase *p)
{
    const long long q = tile_value(p, "block_q"), k = tile_value(p, "block_k");
    if (layer_of(p) == layer_simt) return smaller_team(r, p);
    if (layer_of(p) == layer_wgmma && q > 128) set(p, "block_q", 128), set(p, "threads", 384);
    else if (layer_of(p) == layer_wgmma && k >= 32) set(p, "block_k", k / 32 * 16);
    else if (layer_is_amd(layer_of(p)) && k > 32) set(p, "block_k", 32);
    else if (layer_is_amd(layer_of(p)) && q > 64) set(p, "block_q", q / 2), set(p, "threads", q);
    else return false;
    return true;
}

bool tile_make_smaller(const tile_request *r, ir_phase *p)
{
    switch (p->family) {
    case family_rows: return smaller_rows(r, p);
    case family_gemm: return smaller_gemm(r, p);
    case family_attention: return smaller_attention(r, p);
    case family_decode: return smaller_team(r, p);
    case family_align: return tile_value(p, "each") > 1 ? set(p, "each", tile_value(p, "each") / 2), true : false;
    case family_combine: break;
    }
    return false;
}
