/* In: a request of a product, a model of a stage. Out: what gen/program/warpgroups.h says. Refuses nothing itself. */
#include "gen/program/warpgroups.h"

enum { launch_start = 2500 };

static long long length_of(const tile_request *r) { return value_columns(request_product(r)->inputs[0]); }

static long long tiles_of(const tile_request *r, long long n)
{
    return (request_rows(r) + warpgroup_rows - 1) / warpgroup_rows * ((r->packed_n + n - 1) / n);
}

/* Stages, then the epilogue and the first loads, which nothing hides; as often as the workgroup with most tiles has them. */
double ws_cycles(const tile_request *r, long long n, int k, ws_stage_model *stage)
{
    const long long units = r->device->units;
    const double tile = (double)((length_of(r) + k - 1) / k) * stage(n) + 9.0 * (double)n + 700;
    return (double)((tiles_of(r, n) + units - 1) / units) * tile + launch_start;
}

/* Where there are so few tiles that many multiprocessors would have no work, a tile's length is cut into parts of at least 4 stages. The
 * last one waits until the others have stored their sums, and reads those one after the other (H200: about 40 cycles a column). Changes
 * `best` where all that takes clearly less time than whole tiles of any width. */
static void try_parts(const tile_request *r, ws_choice *best, int n, int k, ws_stage_model *model)
{
    enum { most = 8, least_stages = 4, meeting = 2500, column = 40 };
    const long long stages = (length_of(r) + k - 1) / k, tiles = tiles_of(r, n);
    const double whole = ws_cycles(r, n, k, model), stage = model(n);
    for (int split = 2; split <= most && tiles * split <= r->device->units && stages / split >= least_stages; split++) {
        const double saved = (double)(stages - (stages + split - 1) / split) * stage;
        const double cycles = whole - saved + meeting + (split - 1) * column * (double)n;
        if (cycles < best->cycles) *best = (ws_choice){n, split, cycles};
    }
}

/* A part adds up this many products at most, as far as 16 parts go: longer chains of sums lose too much (templates/base/sums.h), and tensor
 * cores truncate each. */
static void cut_long(const tile_request *r, ws_choice *best, int widest)
{
    enum { longest = 32768, most = 16 };
    const long long parts = (length_of(r) + longest - 1) / longest;
    if (parts <= best->split) return;
    best->split = parts < most ? (int)parts : most;
    if (best->n > widest) best->n = widest;
}

ws_choice ws_choose(const tile_request *r, int k, ws_stage_model *stage, const int *widths, int count, int first_cut, int widest_cut)
{
    ws_choice best = {widths[0], 1, ws_cycles(r, widths[0], k, stage)};
    for (int i = 1; i < count; i++) {
        const double cycles = ws_cycles(r, widths[i], k, stage);
        if (cycles < 0.99 * best.cycles) best = (ws_choice){widths[i], 1, cycles};
    }
    ws_choice cut = best;
    cut.cycles *= 0.9;
    for (int i = first_cut; i < count; i++) try_parts(r, &cut, widths[i], k, stage);
    cut.cycles = best.cycles;
    cut_long(r, &cut, widest_cut);
    return cut;
}

const char *ws_illegal(const tile_request *r, const ir_tile *t)
{
    const gemm_wgmma_tile *x = &t->gemm_wgmma;
    if (x->split > (length_of(r) + x->k - 1) / x->k) return "a part of a split has a stage";
    return x->group % x->cluster ? "cluster divides group" : NULL;
}

/* ws_memory<...>::bytes of templates/frame/frame_ws.h */
long long ws_shared_bytes(const ir_tile *t, int operands)
{
    const gemm_wgmma_tile *x = &t->gemm_wgmma;
    const long long slot = (warpgroup_rows + (long long)operands * x->n) * 128;
    return 1024 + x->slots * slot + 16ll * x->slots + (x->stage ? ws_stage_bytes : 0);
}

void ws_geometry(const tile_request *r, const ir_tile *t, launch *l)
{
    const gemm_wgmma_tile *x = &t->gemm_wgmma;
    l->cluster = x->cluster;
    l->multiple = extent_number(x->cluster);
    l->resident = 1;
    products_geometry(r, warpgroup_rows * x->cluster, x->n, l);
    l->column_tiles *= x->split;
}

int ws_parts(const tile_request *r, const ir_tile *t) { return column_tiles(r, t->gemm_wgmma.n); }

/* Of each tile split - 1 times 128 * n floats and 8 words; whole tiles, and clusters of them, are no more. */
extent ws_scratch(const tile_request *r, const ir_tile *t)
{
    const gemm_wgmma_tile *x = &t->gemm_wgmma;
    const position at = r->phase->ops[0]->at;
    if (x->split <= 1) return extent_number(0);
    const extent rows = extent_add(r->a, at, r->space.rows, extent_number(warpgroup_rows * x->cluster - 1));
    return extent_multiply(r->a, at, rows, extent_number((long long)column_tiles(r, x->n) * (x->split - 1) * (x->n + 1)));
}
