/* In: a gemm phase, its space and an NVIDIA target. Out: its tile on warps' matrix products, by a model of its time. Refuses (by a reason) what
 * layer_mma.h says. */
#include "gen/layer.h"
#include "gen/layer_mma.h"
#include <string.h>

static const ir_op *product_of(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (op_table[phase->ops[i]->kind].class == class_PRODUCT) return phase->ops[i];
    return NULL;
}

const char *mma_obstacle(const tile_request *r)
{
    if (strncmp(r->target->name, "sm_", 3) != 0) return "NVIDIA's machines have it";
    const ir_op *product = product_of(r->phase);
    const char *obstacle = obstacle_to_rows(r, product);
    if (obstacle) return obstacle;
    const ir_value *a = product->inputs[0], *b = product->inputs[1];
    const bool fits = (a->type == dtype_bf16 || a->type == dtype_f16) && a->type == b->type;
    return fits ? NULL : "operands are not both bf16 or both f16";
}

/* Up to 16 rows the few-rows program reads the weight at the speed of memory already. */
bool mma_pays(const tile_request *r) { return extent_value(&r->space.rows, &r->program->dims) > 16; }

static int warps_m(long long m, long long n, long long warps) { return m < 64 ? 1 : warps == 8 && m >= 2 * n ? 4 : 2; }

static long long shared_bytes(const mma_tile *t, bool sums)
{
    return (long long)t->slots * (t->m + t->n) * t->k * 2 + (sums ? t->m * (t->threads / 32 / warps_m(t->m, t->n, t->threads / 32)) * 4 : 0);
}

/* Registers: 128 results and the operands of two units take 256. Of shared memory a multiprocessor of sm_86 has 100 KB, one of which goes
 * with each workgroup. */
static int resident(const mma_tile *t, long long shared)
{
    const int results = t->m * t->n / t->threads, registers = results > 64 ? 256 : results > 32 ? 168 : 128, by_registers = 65536 / (registers * t->threads);
    const long long by_shared = 100 * 1024 / (shared + 1024);
    return by_shared < 1 ? 1 : by_shared < by_registers ? (int)by_shared : by_registers;
}

/* Cycles of a stage of `together` workgroups on one multiprocessor: 1024 multiply-adds, or 128 bytes of shared memory, a cycle; or, as
 * measured on an H200, 1800 until what was asked for `slots - 1` stages ago has come. */
static double stage_cycles(const mma_tile *t, long long together)
{
    const int warps = t->threads / 32, down = warps_m(t->m, t->n, warps);
    const double multiply = (double)t->m * t->n * t->k / 1024, shared = (double)(t->m * (warps / down + 1) + t->n * (down + 1)) * t->k / 64;
    const double busy = (multiply > shared ? multiply : shared) * (double)together, latency = 1800.0 / (t->slots - 1);
    return busy > latency ? busy : latency;
}

static double tile_cycles(const mma_tile *t, long long tiles, long long K)
{
    const long long together = resident(t, shared_bytes(t, false)), rounds = tiles / together, rest = tiles % together;
    const double stage = (double)rounds * stage_cycles(t, together) + (rest ? stage_cycles(t, rest) : 0);
    return (double)((K + t->k - 1) / t->k) * stage + (double)tiles * t->m * t->n / 16 + 2500;
}

/* 128 x 256 with a warp on 64 x 64 reads least from shared memory; the others are for few tiles. */
mma_tile mma_defaults(const tile_request *r)
{
    static const struct {
        mma_tile tile;
        double slowness; /* per product beside the first, all multiprocessors busy, on an H200 */
    } known[] = {{{128, 256, 32, 256, 4, 8}, 1},    {{256, 128, 32, 256, 4, 8}, 1},   {{128, 128, 32, 128, 3, 8}, 1.1}, {{128, 128, 64, 256, 3, 8}, 1.18},
                 {{64, 128, 32, 128, 4, 8}, 1.24}, {{64, 128, 64, 128, 4, 8}, 1.24}, {{64, 64, 64, 128, 3, 8}, 1.3},   {{32, 128, 64, 128, 4, 8}, 1.3}};
    const long long rows = extent_value(&r->space.rows, &r->program->dims), K = value_columns(product_of(r->phase)->inputs[0]);
    mma_tile best = known[0].tile;
    double least = 1e30;
    enum { longest = 32768, folded = 32 }; /* longer sums are sums of sums, for which a thread has registers beside so many results (gemm_mma.h) */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const mma_tile *t = &known[i].tile;
        if (K > longest && t->m * t->n / t->threads > folded) continue;
        const long long count = ((rows + t->m - 1) / t->m) * ((r->packed_n + t->n - 1) / t->n);
        const double cycles = known[i].slowness * tile_cycles(t, (count + r->target->units - 1) / r->target->units, K);
        if (cycles < 0.98 * least) best = *t, least = cycles;
    }
    return best;
}

const char *mma_illegal(const ir_phase *p)
{
    const long long m = tile_value(p, "m"), n = tile_value(p, "n"), k = tile_value(p, "k"), threads = tile_value(p, "threads");
    const long long slots = tile_value(p, "slots"), group = tile_value(p, "group");
    if (k != 32 && k != 64) return "on mma k is 32 or 64";
    if (threads != 128 && threads != 256) return "on mma threads is 128 or 256";
    if (m < 16 || m > 256 || n < 32 || n > 256) return "on mma m is at most 256 and n at most 256";
    const long long lines = threads / (k / 8), down = warps_m(m, n, threads / 32), across = threads / 32 / down;
    if (m % (16 * down) || n % (32 * across)) return "the warps share out m in rows of 16 and n in blocks of 32 columns";
    if (m % lines || n % lines) return "the threads copy m and n in whole turns";
    if (m * n / threads > 128) return "a thread has at most 128 results";
    if (slots < 3 || slots > 8) return "on mma slots is 3 to 8";
    return group < 1 || group > 1024 ? "group is 1 to 1024" : NULL;
}

static mma_tile tile_of(const ir_phase *p)
{
    return (mma_tile){(int)tile_value(p, "m"), (int)tile_value(p, "n"), (int)tile_value(p, "k"), (int)tile_value(p, "threads"), (int)tile_value(p, "slots"), 1};
}

long long mma_shared_bytes(const ir_phase *p, bool sums)
{
    const mma_tile t = tile_of(p);
    return shared_bytes(&t, sums);
}

int mma_resident(const ir_phase *p, long long shared)
{
    const mma_tile t = tile_of(p);
    return resident(&t, shared);
}
