/* In: a phase, its space, target and tuning. Out: its ISA layer, and the tile of a product on wgmma by a model of its time. Refuses
 * what layer.h says. */
#include "gen/layer.h"
#include "gen/align.h"
#include "gen/emit.h"
#include "gen/layer_amd.h"
#include "gen/layer_mma.h"
#include <string.h>

frame_kind layer_frame(layer_kind layer) { return layer_is_wgmma(layer) ? frame_ws : frame_mixed; }

int layer_granule(layer_kind layer, const target_info *target) { return layer_is_wgmma(layer) || layer == layer_mma ? 16 : target->granule; }

long long layer_packed_length(layer_kind layer, long long K)
{
    return layer == layer_wgmma3 ? (K + 31) / 32 * 64 : (K + 15) / 16 * 16;
}

layer_kind layer_of(const ir_phase *phase)
{
    const long long layer = tile_value(phase, "layer");
    return layer < 0 ? layer_simt : (layer_kind)layer;
}

static const char *obstacle_of(const tile_request *r, layer_kind layer)
{
    if (layer_is_amd(layer)) return amd_obstacle(r, layer);
    if (layer == layer_mma) return mma_obstacle(r);
    if (layer == layer_wgmma && r->phase->family == family_attention) return wgmma_attention_obstacle(r);
    return layer == layer_wgmma ? wgmma_obstacle(r) : layer == layer_wgmma3 ? wgmma3_obstacle(r) : NULL;
}

static layer_kind layer_that_pays(const tile_request *r)
{
    const layer_kind amd = amd_layer(r->target);
    if (r->phase->family == family_attention && !wgmma_attention_obstacle(r) && wgmma_attention_pays(r)) return layer_wgmma;
    if (!wgmma_obstacle(r) && wgmma_pays(r)) return layer_wgmma;
    if (!wgmma3_obstacle(r) && wgmma3_pays(r)) return layer_wgmma3;
    if (!mma_obstacle(r) && mma_pays(r)) return layer_mma;
    return layer_is_amd(amd) && !amd_obstacle(r, amd) && amd_pays(r) ? amd : layer_simt;
}

layer_kind layer_choose(const tile_request *r)
{
    layer_kind layer = layer_that_pays(r);
    const int asked = tile_asked(r, "layer");
    if (asked >= 0) layer = (layer_kind)asked;
    const char *obstacle = obstacle_of(r, layer);
    if (obstacle)
        bail(r->a, code_unsupported, (position){0}, "tile: phase %s on %s: layer=%s: %s", r->phase->name, r->target->name,
             layer_names(NULL)[layer], obstacle);
    return layer;
}

bool layer_below(const tile_request *r, layer_kind *layer)
{
    if (r->layer == layer_simt) return false;
    *layer = r->layer == layer_wgmma && !mma_obstacle(r) ? layer_mma : layer_simt;
    return true;
}

/* ---- wgmma */
enum { wgmma_stage = 18432 }; /* gemm_ws<...>::scratch_bytes of tiles with stage=1 */
bool layer_is_wgmma(layer_kind layer) { return layer == layer_wgmma || layer == layer_wgmma3; }

static const ir_op *first_product(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (op_table[phase->ops[i]->kind].class == class_PRODUCT) return phase->ops[i];
    return NULL;
}

static bool made_here(const ir_phase *phase, const ir_value *v)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i] == v->def) return !op_is_view(v->def);
    return false;
}

const char *obstacle_to_rows(const tile_request *r, const ir_op *product)
{
    if (r->phase->family != family_gemm || !product) return "the phase has no product";
    if (product->kind != op_linear) return "the second operand is no packed weight";
    if (made_here(r->phase, product->inputs[0])) return "the first operand is computed in the phase";
    return align_obstacle(r->a, product->inputs[0]);
}

static const char *obstacle_to_loads(const tile_request *r, const ir_op *product)
{
    if (strcmp(r->target->name, "sm_90a") != 0) return "only sm_90a has it";
    return obstacle_to_rows(r, product);
}

const char *wgmma_obstacle(const tile_request *r)
{
    const ir_op *product = first_product(r->phase);
    const char *obstacle = obstacle_to_loads(r, product);
    if (obstacle) return obstacle;
    const ir_value *a = product->inputs[0], *b = product->inputs[1];
    if ((a->type != dtype_bf16 && a->type != dtype_f16) || a->type != b->type) return "operands are not both bf16 or both f16";
    return NULL;
}

/* Up to 16 rows the few-rows program reads the weight at the speed of memory already. */
bool wgmma_pays(const tile_request *r) { return extent_value(&r->space.rows, &r->program->dims) > 16; }

/* Cycles of one workgroup for a tile: stages are bound by the tensor cores (4096 bf16 operations a cycle and multiprocessor) or, narrow
 * ones, by shared memory and L2; the epilogue and the first loads are not hidden. */
static double stage_cycles(long long n)
{
    const double multiply = 4.0 * (double)n, load = 300 + 2.5 * (double)n;
    return multiply > load ? multiply : load;
}

static double tile_cycles(long long n, long long K) { return (double)((K + 63) / 64) * stage_cycles(n) + 9.0 * (double)n + 700; }

enum { multiprocessors = 132, launch_start = 2500 }; /* of an H200 */

static long long tiles_of(long long rows, long long packed_n, long long n) { return (rows + 127) / 128 * ((packed_n + n - 1) / n); }

/* How many tiles the workgroup with most of them has. */
static double waves_of(long long tiles) { return (double)((tiles + multiprocessors - 1) / multiprocessors); }

static double launch_cycles(long long rows, long long packed_n, long long n, long long K)
{
    return waves_of(tiles_of(rows, packed_n, n)) * tile_cycles(n, K) + launch_start;
}

/* Where there are so few tiles that many multiprocessors would have no work, a tile's length is cut into parts of at least 4 stages. The last
 * one waits until the others have stored their sums, and reads those one after the other (H200: about 40 cycles a column). Changes `best`
 * where all that takes clearly less time than the `least` cycles of whole tiles of any width. */
static void try_parts(wgmma_tile *best, double *least, double whole, long long tiles, int n, long long stages, double stage)
{
    enum { most = 8, least_stages = 4, meeting = 2500, column = 40 };
    for (int split = 2; split <= most && tiles * split <= multiprocessors && stages / split >= least_stages; split++) {
        const double saved = (double)(stages - (stages + split - 1) / split) * stage;
        const double cycles = whole - saved + meeting + (split - 1) * column * (double)n;
        if (cycles < *least) best->n = n, best->split = split, *least = cycles;
    }
}

/* A part adds up this many products at most, as far as 16 parts go: longer chains of sums lose too much (templates/base/sums.h), and tensor cores
 * truncate each. */
static void cut_long(wgmma_tile *tile, long long K, int widest)
{
    enum { longest = 32768, most = 16 };
    const long long parts = (K + longest - 1) / longest;
    if (parts <= tile->split) return;
    tile->split = parts < most ? (int)parts : most;
    if (tile->n > widest) tile->n = widest;
}

static bool narrow(const tile_request *r, const ir_value *v) { return value_columns(v) == 1 && r->space.columns != 1; }

/* What an op stores beside others' columns of the same segment: 16 bytes at a time, in rows that begin at multiples of that. */
static const char *store_obstacle(const tile_request *r, const ir_op *op)
{
    const ir_value *v = op->outputs[0];
    const view at = view_of(r->a, v);
    if (op->kind == op_kv_append) return "rows of a cache are stored";
    if (dtype_size(v->type) != 2) return "a result has more than 16 bits";
    if (op->kind == op_slice || op->kind == op_reshape || op->kind == op_concat) return "a result is cut out of columns";
    return (at.stride | at.offset) % 8 ? "rows of a result do not begin at multiples of 16 bytes" : NULL;
}

static const char *operand_obstacle(const tile_request *r, const ir_op *op)
{
    for (int k = 0; k < op->input_count; k++) {
        const ir_value *v = op->inputs[k];
        if (v->kind != value_constant && !made_here(r->phase, v) && !narrow(r, v) && v->rank > 1) return "the epilogue reads rows from memory";
    }
    return NULL;
}

/* Results that are staged leave in pieces of 16 bytes, those of a rotated pair or of a segment that stores two do not. */
static const char *stage_obstacle(const tile_request *r)
{
    int stores[16] = {0};
    if (r->segments->count > 16) return "more than 16 segments";
    for (int i = 0; i < r->phase->op_count; i++) {
        const ir_op *op = r->phase->ops[i];
        const gemm_segment *segment = segment_of(r->segments, r->phase, op);
        if (op->role == role_prologue || op_is_view(op) || !segment) continue;
        if (segment->kind == segment_pair_rope) return "pairs are rotated";
        const char *obstacle = op->role == role_epilogue ? operand_obstacle(r, op) : NULL;
        const bool stored = op->kind == op_kv_append || (value_stored(r->program, r->phase, op->outputs[0]) && !narrow(r, op->outputs[0]));
        if (!obstacle && stored) obstacle = store_obstacle(r, op);
        if (!obstacle && stored && ++stores[segment - r->segments->items] > 1) obstacle = "a segment stores two results";
        if (obstacle) return obstacle;
    }
    return NULL;
}

wgmma_tile wgmma_defaults(const tile_request *r)
{
    static const int widths[] = {256, 224, 192, 160, 128, 96, 64};
    const long long rows = extent_value(&r->space.rows, &r->program->dims), K = value_columns(first_product(r->phase)->inputs[0]);
    wgmma_tile best = {.m = 128, .n = 256, .k = 64, .threads = 384, .group = 16, .cluster = 1, .split = 1};
    double least = launch_cycles(rows, r->packed_n, best.n, K);
    for (size_t i = 1; i < sizeof widths / sizeof *widths; i++) {
        const double cycles = launch_cycles(rows, r->packed_n, widths[i], K);
        if (cycles < 0.99 * least) best.n = widths[i], least = cycles;
    }
    double parts = 0.9 * least;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        try_parts(&best, &parts, launch_cycles(rows, r->packed_n, widths[i], K), tiles_of(rows, r->packed_n, widths[i]), widths[i], (K + 63) / 64,
                  stage_cycles(widths[i]));
    cut_long(&best, K, 256);
    /* Starting and ending together costs a cluster about 1 us; what it saves in the L2 shows in a launch of milliseconds only (1 % at 8192^3). */
    best.cluster = (rows + 127) / 128 % 2 == 0 && least > 2e6 ? 2 : 1;
    best.stage = !stage_obstacle(r);
    best.slots = (r->target->lds_bytes - 1024 - best.stage * wgmma_stage) / ((best.m + best.n) * 128 + 16);
    if (best.slots > 8) best.slots = 8;
    return best;
}

static const char *ws_illegal(const ir_phase *p)
{
    const long long slots = tile_value(p, "slots"), group = tile_value(p, "group");
    if (tile_value(p, "threads") != 384) return "on wgmma threads is 384: three warpgroups";
    const long long stages = (value_columns(first_product(p)->inputs[0]) + tile_value(p, "k") - 1) / tile_value(p, "k");
    if (slots < 2 || slots > 8) return "on wgmma slots is 2 to 8";
    if (group < 1 || group > 1024) return "group is 1 to 1024";
    if (tile_value(p, "split") < 1 || tile_value(p, "split") > 16 || tile_value(p, "split") > stages)
        return "split is 1 to 16, and a part has a stage";
    return group % tile_value(p, "cluster") ? "cluster divides group" : NULL;
}

const char *wgmma_illegal(const tile_request *r, const ir_phase *p)
{
    const long long n = tile_value(p, "n");
    if (tile_value(p, "m") != 128 || tile_value(p, "k") != 64) return "on wgmma m is 128 and k is 64";
    if (n < 64 || n > 256 || n % 32) return "on wgmma n is 64 to 256, in steps of 32";
    const long long cluster = tile_value(p, "cluster"), stage = tile_value(p, "stage");
    if (cluster != 1 && cluster != 2) return "on wgmma cluster is 1 or 2";
    if (stage != 0 && stage != 1) return "on wgmma stage is 0 or 1";
    if (stage && stage_obstacle(r)) return arena_printf(r->a, "stage=1: %s", stage_obstacle(r));
    return ws_illegal(p);
}

long long wgmma_shared_bytes(const ir_phase *p)
{
    const long long slots = tile_value(p, "slots"), parts = layer_of(p) == layer_wgmma3 ? 2 : 1;
    const long long slot = (tile_value(p, "m") + parts * tile_value(p, "n")) * 128;
    return 1024 + slots * slot + 16 * slots + (tile_value(p, "stage") == 1 ? wgmma_stage : 0);
}

/* ---- wgmma3: x = large + small, each in tf32, and a product is large * large + large * small + small * large */
const char *wgmma3_obstacle(const tile_request *r)
{
    const ir_op *product = first_product(r->phase);
    const char *obstacle = obstacle_to_loads(r, product);
    if (obstacle) return obstacle;
    return product->inputs[0]->type != dtype_f32 || product->inputs[1]->type != dtype_f32 ? "operands are not both f32" : NULL;
}

/* Sums of 32 products are truncated, longer ones are rounded (templates/gemm/gemm_ws_split.h): where few make a result, f32 instructions
 * are as accurate and memory is the limit anyway. */
bool wgmma3_pays(const tile_request *r)
{
    return wgmma_pays(r) && value_columns(first_product(r->phase)->inputs[0]) >= 128;
}

/* As stage_cycles(): a stage of 32 is 12 instructions of n/2 cycles for each of two warpgroups, and as each also waits, adds and splits,
 * narrow ones do not fill the time. */
static double split_stage_cycles(long long n)
{
    const double multiply = 12.0 * (double)n, load = 124 + 11 * (double)n;
    return multiply > load ? multiply : load;
}

static double split_launch_cycles(long long rows, long long packed_n, long long n, long long K)
{
    return waves_of(tiles_of(rows, packed_n, n)) * ((double)((K + 31) / 32) * split_stage_cycles(n) + 9.0 * (double)n + 700) + launch_start;
}

wgmma_tile wgmma3_defaults(const tile_request *r)
{
    const long long rows = extent_value(&r->space.rows, &r->program->dims), K = value_columns(first_product(r->phase)->inputs[0]);
    wgmma_tile best = {.m = 128, .n = 128, .k = 32, .threads = 384, .group = 16, .cluster = 1, .split = 1};
    double least = split_launch_cycles(rows, r->packed_n, best.n, K);
    for (int n = 96; n >= 64; n -= 32) {
        const double cycles = split_launch_cycles(rows, r->packed_n, n, K);
        if (cycles < 0.99 * least) best.n = n, least = cycles;
    }
    double parts = 0.9 * least;
    for (int n = 96; n >= 64; n -= 32) /* beside sums of 128 columns and their epilogue there are too few registers */
        try_parts(&best, &parts, split_launch_cycles(rows, r->packed_n, n, K), tiles_of(rows, r->packed_n, n), n, (K + 31) / 32, split_stage_cycles(n));
    cut_long(&best, K, 96);
    best.slots = best.n == 128 ? 4 : best.n == 96 ? 5 : 7;
    return best;
}

const char *wgmma3_illegal(const ir_phase *p)
{
    const long long n = tile_value(p, "n");
    if (tile_value(p, "m") != 128 || tile_value(p, "k") != 32) return "on wgmma3 m is 128 and k is 32";
    if (n != 64 && n != 96 && n != 128) return "on wgmma3 n is 64, 96 or 128";
    if (tile_value(p, "cluster") != 1 || tile_value(p, "stage") != 0) return "on wgmma3 cluster is 1 and stage is 0";
    return ws_illegal(p);
}
