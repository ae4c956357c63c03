/* Products of few rows on matrix units (templates/gemm/gemm_register_fed.h). Weights go from DRAM straight to registers, and each is loaded
 * once for all rows of a tile. In: a product. Out: a tile that keeps enough bytes in flight to saturate DRAM. */
#include "gen/emit/gemm.h"
#include "gen/program/products.h"
#include "ir/devices/occupancy.h"
#include <limits.h>
#include <math.h>

extern const program gemm_register_fed_program;

enum { most_ahead = 8, most_registers = 255 /* per thread: an encoding limit */ };

enum { most_pieces = 4 }; /* MMAs that the rows of the largest tile take; for products of more rows other programs are faster */
static int most_rows(const target_info *target) { return most_pieces * target->matrix_rows; }

/* The most rows that a tile may have: wave_pieces.h addresses rows of A with 32-bit offsets from the tile's first row. */
static long long rows_reached(const problem *p)
{
    const ir_value *a = p->product->inputs[0];
    const view w = view_of(p->a, a);
    const long long bytes = view_most_stride(&w) * dtype_size(a->type);
    return p->target->by_waves && bytes ? (1ll << 32) / bytes : INT_MAX;
}

static const char *obstacle(const problem *p)
{
    const char *obstacle = obstacle_to_16_bits(p, layer_register_fed, weights_as_stored);
    return !obstacle && rows_reached(p) < p->target->matrix_rows ? "rows of A exceed 32-bit offsets" : obstacle;
}

/* ---- resources of a tile */
static int waves_of(const problem *p, const gemm_register_fed_tile *t) { return t->threads / p->target->wave; }

/* Registers per thread for 64 bytes along K of each of `lines` rows or columns, shared out among the lanes of a wave. */
static int registers_of_pieces(const target_info *target, int lines) { return lines * piece_row_bytes / 4 / target->wave; }
/* Registers per thread for as much of K as a piece of the weight covers, of `rows` rows of A. */
static int registers_of_rows(const problem *p, int rows)
{
    return registers_of_pieces(p->target, rows) * piece_length(p, weights_as_stored) * dtype_size(rows_dtype(p->product)) / piece_row_bytes;
}
/* If the operands differ in dtype: registers per thread for their bf16 terms. Those of a weight are used up at once, those of rows in f16
 * are kept for all columns. */
static int registers_of_terms(const problem *p, const gemm_register_fed_tile *t)
{
    const ir_op *product = p->product;
    const int of_rows = format_bf16_terms(rows_dtype(product)), of_weights = format_bf16_terms(product->inputs[1]->type);
    if (!has_two_dtypes(product)) return 0;
    return (of_weights > 1 ? 8 : 0) + (of_rows > 1 ? of_rows * registers_of_rows(p, t->m) * 5 / 4 : 0);
}
/* Registers per thread: accumulators, weights and rows in flight, terms, addresses. Fitted to NVRTC 13 and clang 22 on tiles that do not
 * spill. */
static int registers(const problem *p, const gemm_register_fed_tile *t)
{
    const target_info *target = p->target;
    const int rows_ahead = t->ahead % 4 == 0 ? 4 : t->ahead, weights = t->ahead * registers_of_pieces(target, t->n);
    const int loop = t->n * t->m / target->wave + 28 + weights + rows_ahead * registers_of_rows(p, t->m) + registers_of_terms(p, t);
    if (!target->by_waves) return loop;
    /* the epilogue runs with the next tile's weights in flight */
    const int epilogue = (target->lane_registers < 512 ? 144 : 96) + weights;
    return loop > epilogue ? loop : epilogue;
}
/* gemm_register_fed<...>::memory_bytes. makes_sums: the epilogue stores partial sums of the result's rows. takes_sums: the program sums the
 * squares of A's rows while it loads them. */
static long long memory_bytes(const target_info *target, const gemm_register_fed_tile *t, bool makes_sums, bool takes_sums)
{
    const int padding = target->by_waves ? 0 : 4; /* floats of padding per row (piece_places) */
    return 4ll * t->m * (t->threads / target->wave * (t->n + padding + takes_sums) + (makes_sums ? t->n / 2 : 0));
}
static long long shared_bytes(const problem *p, const ir_tile *t)
{
    return memory_bytes(p->target, &t->gemm_register_fed, problem_sums_rows(p), phase_input_sum(p->phase) != NULL);
}

/* Workgroups that share a unit. */
static int resident(const problem *p, const gemm_register_fed_tile *t)
{
    const device_model *d = p->device;
    const int needed = (registers(p, t) + 7) / 8 * 8;
    const kernel_need need = {.threads = t->threads, .registers = needed, .shared = memory_bytes(d->target, t, true, true)};
    occupancy o;
    if (!occupancy_of(d, &need, &o)) return groups_by_registers(d->target, t->threads, needed);
    return o.groups > 1 ? o.groups : 1;
}

/* ---- cost */
/* Bytes of weights that a workgroup keeps in flight. */
static long long in_flight(const problem *p, const gemm_register_fed_tile *t)
{
    const long long pieces = pieces_along(p, weights_as_stored), ahead = (long long)t->ahead * waves_of(p, t);
    return (ahead < pieces ? ahead : pieces) * (t->n / piece_columns) * piece_bytes;
}

/* Workgroups are persistent. One that is alone on its multiprocessor waits, between two tiles, for the next tile's rows (rows_wait). If the
 * launch leaves multiprocessors free, the next launch loads its first weights there before this one ends, so its start costs less (gap). */
static void describe_cost(const problem *p, const ir_tile *tile, cost_descriptor *d)
{
    /* rows_wait, gap, hidden: cycles. waits: only 1 / waits of the bytes in flight hide latency. */
    enum { rows_wait = 2400, gap = 5660, hidden = 4240, waits = 2 };
    /* loads: a byte takes so much longer to registers than to shared memory. reached: share of the product rate; each operand is used only
     * a few times. */
    const double loads = 1.45, reached = 0.4;
    const gemm_register_fed_tile *t = &tile->gemm_register_fed;
    const double line = (double)product_length(p) * operand_bytes(p, weights_as_stored, operand_b), step = p->target->matrix_rows;
    product_cost(p, &(product_cut){t->m, t->n, piece_length(p, weights_as_stored), 1, 1, 1, weights_as_stored}, d);
    d->per_unit = resident(p, t), d->matrix = true, d->products_share = reached;
    d->taken = d->asked * loads, d->products *= register_products(p->product);
    d->ahead = (double)in_flight(p, t) / waits, d->streamed = t->n * line;
    d->round_cycles = d->per_unit > 1 ? 0 : rows_wait * (t->m / step - 1);
    if (p->target->overlaps) d->start_cycles = gap * fmin(1, d->groups / p->device->units) - hidden;
}

/* Sets t to a tile of m rows with as many pieces in flight as registers hold. shape: its columns in units of 16, waves, workgroups per
 * unit. False: no such tile fits. */
static bool fill(const problem *p, int m, const int (*shape)[3], ir_tile *t)
{
    const long long pieces = pieces_along(p, weights_as_stored);
    gemm_register_fed_tile *x = &t->gemm_register_fed;
    const int waves = pieces < (*shape)[1] ? pieces < 2 ? 2 : (int)power_of_two_up(pieces) : (*shape)[1];
    *x = (gemm_register_fed_tile){.m = m, .n = (*shape)[0] * piece_columns, .threads = waves * p->target->wave, .ahead = 1};
    const int each = unit_room_of(p->target).registers / (*shape)[2] / x->threads, most = each < most_registers ? each : most_registers;
    bool fits = x->threads <= p->target->max_threads && registers(p, x) <= most;
    while (fits && 2 * x->ahead <= most_ahead && x->ahead * waves < pieces) {
        x->ahead *= 2;
        if (registers(p, x) <= most) continue;
        x->ahead /= 2;
        break;
    }
    return fits && shared_bytes(p, t) <= p->target->lds_bytes;
}

/* True if a gate_up of up to 8 rows has no more tiles than there are units. Narrower tiles were then faster, whatever the cost model
 * predicted. H200, blocks of D columns decoding one token in one launch, us with tiles of 64 and of 32 columns: D = 576: 17.5, 16.8; D =
 * 768: 18.6, 16.9; D = 512 with 5 rows: 20.0, 19.8. */
static bool spreads(const problem *p, const gemm_register_fed_tile *x)
{
    bool pairs = false;
    for (int i = 0; i < p->segments->count; i++) pairs |= p->segments->items[i].kind == segment_pair_join;
    return pairs && x->m == 8 && problem_rows(p) <= x->m && column_tiles(p, x->n) <= p->device->units;
}

/* Chooses the smallest tile of at most m rows with which the phase has no more tiles than there are units, for a launch with a loading
 * warp: its phases are short, and each waits for the last tile of the one before. All pieces of a wave are in flight, if registers suffice.
 * H200, a block with 69 rows of D = 512, us: qkv of 192 columns with tiles of 24x64 21.6, 24x32 20.9, 16x32 20.5, 8x32 19.8; down of 512
 * columns, K = 1360, with 24x16 and 8 pieces 21.6, 6 pieces 20.7, with 24x32 22.1. False: there is no such tile. */
static bool spread(const problem *p, int m, ir_tile *t)
{
    const long long rows = problem_rows(p), pieces = pieces_along(p, weights_as_stored);
    const int waves = p->ir->threads / p->target->wave, step = p->target->matrix_rows;
    int least = INT_MAX;
    ir_tile x = *t;
    gemm_register_fed_tile *own = &x.gemm_register_fed;
    for (int across = joins_columns(p) ? 2 : 1; across <= 4; across *= 2)
        for (int height = step; height <= m; height += step) {
            const int shape[3] = {across, waves, 1}, size = across * height;
            const long long tiles = (rows + height - 1) / height * column_tiles(p, across * piece_columns);
            if (size >= least || tiles > p->device->units || !fill(p, height, &shape, &x) || own->threads != p->ir->threads) continue;
            if (own->ahead * waves > pieces) own->ahead = (int)((pieces + waves - 1) / waves);
            t->gemm_register_fed = *own, least = size;
        }
    return least < INT_MAX;
}

/* Chooses a tile for a launch of several phases (level block), which fixes the threads and has one workgroup per unit. Of tiles with
 * similar predicted times it takes the widest, since fewer tiles end fewer times, unless spreads() holds for a narrower one. False: no tile
 * has that many threads. */
static bool defaults_in_list(const problem *p, int m, ir_tile *t)
{
    double least = INFINITY;
    ir_tile x = *t;
    if (p->ir->feeds && spread(p, m, t)) return true;
    for (int across = 4; across >= 1; across /= 2) {
        const int shape[3] = {across, p->ir->threads / p->target->wave, 1};
        if (across == 1 && joins_columns(p)) continue;
        if (!shape[1] || !fill(p, m, &shape, &x) || x.gemm_register_fed.threads != p->ir->threads) continue;
        const double time = program_seconds(p, &gemm_register_fed_program, &x);
        if (time < 0.98 * least || spreads(p, &x.gemm_register_fed)) t->gemm_register_fed = x.gemm_register_fed, least = time;
    }
    return isfinite(least);
}

static void defaults(const problem *p, ir_tile *t)
{
    /* Columns in units of 16, waves, workgroups per unit; the first wins ties. 64 and 128 columns are for many rows only: their few waves
     * wait longer than the model predicts. 32 waves leave no room for a second workgroup, so they are for launches in which each workgroup
     * has a single tile. */
    static const int shapes[][3] = {{2, 16, 1}, {1, 32, 1}, {1, 16, 1}, {2, 8, 2}, {4, 8, 1}, {8, 8, 1}, {2, 8, 1}, {1, 8, 1}, {2, 4, 1}};
    enum { everywhere = 6 }; /* the first 6 shapes are for all targets, the others for AMD alone, which has fewer registers and less LDS */
    const long long reached = rows_reached(p);
    const int step = p->target->matrix_rows, most = reached < most_rows(p->target) ? (int)reached / step * step : most_rows(p->target),
              count = p->target->by_waves ? (int)(sizeof shapes / sizeof *shapes) : everywhere;
    const long long rows = problem_rows(p), tiles = (rows + most - 1) / most, m = even_tile_rows(rows, tiles, step);
    /* operands of two dtypes: no 128 columns (H200, 32x14336x4096, us with 128 columns and ahead = 1, with 64 columns and ahead = 2: a
     * weight in f16 88, 55; in f32 84, 87) */
    const int widest = has_two_dtypes(p->product) ? 4 : 8;
    const bool pairs = joins_columns(p), once = tiles * column_tiles(p, piece_columns) <= p->device->units;
    double least = 1e30;
    ir_tile x = *t;
    if (p->ir->threads && defaults_in_list(p, (int)m, t)) return;
    for (int i = 0; i < count; i++) {
        const bool useful = shapes[i][0] == 1 ? !pairs && (shapes[i][1] < 32 || once) : shapes[i][0] == 2 || m > 2 * step;
        if (!useful || shapes[i][0] > widest || !fill(p, (int)m, &shapes[i], &x)) continue;
        const double time = program_seconds(p, &gemm_register_fed_program, &x);
        if (time < 0.98 * least) t->gemm_register_fed = x.gemm_register_fed, least = time;
    }
}

static const worse_range worse[] = {{where_8_rows, .least_rows = 8 * most_pieces + 1, .why = "M exceeds one tile"},
                                    {where_16_rows, .least_rows = 16 * most_pieces + 1, .why = "M exceeds one tile"},
                                    {where_streams, .why = "the ring streams weights across layers", .than = program_gemm_ring},
                                    {0}};

static const char *illegal(const problem *p, const ir_tile *t)
{
    const gemm_register_fed_tile *x = &t->gemm_register_fed;
    if (x->m % p->target->matrix_rows) return arena_printf(p->a, "m must be a multiple of %d", p->target->matrix_rows);
    if (x->threads % p->target->wave) return "threads must be whole waves";
    const char *columns = piece_columns_obstacle(p, x->n);
    if (columns) return columns;
    if (x->m > rows_reached(p)) return "m rows of A span more than 32-bit offsets reach";
    const int most = unit_room_of(p->target).registers;
    return registers(p, x) * x->threads > most ? "its tile needs more registers than a thread has" : NULL;
}

/* First fewer pieces in flight, then fewer rows. */
static bool smaller(const problem *p, ir_tile *t)
{
    gemm_register_fed_tile *x = &t->gemm_register_fed;
    const int step = p->target->matrix_rows;
    if (x->ahead > 1) return x->ahead /= 2, true;
    if (x->m > step) return x->m = x->m / 2 / step * step, true;
    return false;
}

static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    products_geometry(p, t->gemm_register_fed.m, t->gemm_register_fed.n, to);
    to->resident = resident(p, &t->gemm_register_fed);
    to->in_flight = in_flight(p, &t->gemm_register_fed);
}

static int partials(const problem *p, const ir_tile *t) { return column_tiles(p, t->gemm_register_fed.n); }

static void members(emission *e, writer *w)
{
    const gemm_register_fed_tile *x = &e->phase->tile.gemm_register_fed;
    const problem p = plan_problem(e->a, e->plan, e->phase);
    gemm_on_pieces(e, w, (pieces_tile){x->m, x->n, x->threads, x->ahead, resident(&p, x)});
}

static const program of_two_dtypes = {.device = "gemm_register_fed_terms",
                                      .template = "templates/gemm/gemm_register_fed_terms.h",
                                      .isa = {{layer_mma, "templates/isa/mma_terms.h"},
                                              {layer_mfma, "templates/isa/mfma.h"},
                                              {layer_mfma, "templates/isa/wave_terms.h"},
                                              {layer_wmma, "templates/isa/wmma_wide.h"},
                                              {layer_wmma, "templates/isa/wave_terms.h"}}};

const program gemm_register_fed_program = {.kind = program_gemm_register_fed,
                                           .device = "gemm_register_fed",
                                           .template = "templates/gemm/gemm_register_fed.h",
                                           .isa = {{layer_mma, "templates/isa/mma_pieces.h"},
                                                   {layer_mfma, "templates/isa/mfma.h"},
                                                   {layer_mfma, "templates/isa/wave_pieces.h"},
                                                   {layer_wmma, "templates/isa/wmma_wide.h"},
                                                   {layer_wmma, "templates/isa/wave_pieces.h"}},
                                           .of_two_dtypes = &of_two_dtypes,
                                           .obstacle = obstacle,
                                           .worse = worse,
                                           .describe_cost = describe_cost,
                                           .defaults = defaults,
                                           .illegal = illegal,
                                           .shared_bytes = shared_bytes,
                                           .smaller = smaller,
                                           .geometry = geometry,
                                           .partials = partials,
                                           .members = members,
                                           .weights = weights_as_stored,
                                           .prefetches_next = true,
                                           .takes_sums = true,
                                           .finishes_apart = true,
                                           .multiplies_squares = true,
                                           .begins_with_weights = true,
                                           .aligned_rows = true};
