/* Products of few rows whose weights stream through a ring of pages in shared memory (templates/gemm/gemm_ring.h,
 * templates/frame/frame_ring.h). In: a product. Out: a tile, and the size of the ring, which all phases of a launch share. */
#include "gen/emit/gemm.h"
#include "gen/program/gemm_ring.h"
#include "gen/program/products.h"
#include <math.h>

extern const program gemm_ring_program;

/* page_memory of templates/isa/page_ring.h; page_words: bytes of a page's two mbarriers; list_words: of the list's words behind them */
enum { page_bytes = 16384, page_words = 16, list_words = 32, ring_alignment = 128 };

int ring_bytes(int pages)
{
    return (pages * page_words + list_words + ring_alignment - 1) / ring_alignment * ring_alignment + pages * page_bytes;
}
int ring_pages(int room)
{
    int pages = room > 0 ? room / page_bytes : 0;
    while (pages > 0 && ring_bytes(pages) > room) pages--;
    return pages;
}
int ring_pages_in_flight(const ir_tile *t)
{
    const int pages = t->gemm_ring.in_flight * 1024 / page_bytes;
    return t->program != program_gemm_ring ? 0 : pages ? pages : 1;
}

static const char *obstacle(const problem *p) { return obstacle_to_16_bits(p, layer_ring, weights_as_stored); }

/* One workgroup per unit streams the weights of its tiles without a pause. Pages are in flight by number, so where K does not fill the last
 * page, fewer bytes are. */
static void describe_cost(const problem *p, const ir_tile *tile, cost_descriptor *d)
{
    const double reached = 0.4; /* share of the product rate: each operand is used only a few times */
    const double of_page = page_bytes / (packed_granule * operand_bytes(p, weights_as_stored, operand_b));
    const double length = (double)product_length(p);
    const gemm_ring_tile *t = &tile->gemm_ring;
    product_cost(p, &(product_cut){t->m, t->n, piece_length(p, weights_as_stored), 1, 1, 1, weights_as_stored}, d);
    d->per_unit = 1, d->matrix = true, d->products_share = reached, d->memory_share = length / (ceil(length / of_page) * of_page);
    d->products *= register_products(p->product), d->ahead = t->in_flight * 1024.0;
    d->streamed = t->n * length * operand_bytes(p, weights_as_stored, operand_b);
}

/* The fewest columns with which a multiprocessor has at most 8 tiles; at most 64. Phases end with the slowest workgroup, so workgroups
 * should have nearly equal shares of a phase. pairs: the epilogue joins columns. */
static int tile_columns(const problem *p, bool pairs)
{
    enum { most_tiles = 8 };
    int n = pairs ? 2 * packed_granule : packed_granule;
    while (n < 64 && column_tiles(p, n) > most_tiles * p->device->units) n *= 2;
    return n;
}

static int rows_up(int m) { return m <= 8 ? 8 : m <= 16 ? 16 : m <= 32 ? 32 : 64; }

/* Units of 16 bytes of the rows that a lane copies at a time (gemm_ring.h): few for one row, as they take memory from the ring. */
static int lane_units(const problem *p, const gemm_ring_tile *x)
{
    const int warps = x->threads / p->target->wave, least = page_bytes / piece_bytes / warps * rows_up(x->m) / 8;
    const int wanted = problem_rows(p) == 1 ? 2 : 4;
    return least > wanted ? least : wanted;
}

static long long shared_bytes(const problem *p, const ir_tile *t)
{
    const gemm_ring_tile *x = &t->gemm_ring; /* sums by row and warp, then rows of A: gemm_ring.h */
    const bool makes_sums = problem_sums_rows(p), takes_sums = phase_input_sum(p->phase) != NULL;
    const long long warps = x->threads / p->target->wave, of_row = warps * x->n, row_floats = of_row + (20 - of_row % 16) % 16;
    const long long sums = x->m * row_floats + (takes_sums ? 2 * warps * x->m : 0) + (makes_sums ? x->m * x->n / 2 : 0);
    return (sums + 3) / 4 * 16 + warps * 16 * (lane_units(p, x) * p->target->wave + rows_up(x->m));
}

static void defaults(const problem *p, ir_tile *t)
{
    enum { most_m = 32, kilobytes = 48 /* in flight */, most_threads = 256 };
    const long long rows = problem_rows(p), step = p->target->matrix_rows, tiles = (rows + most_m - 1) / most_m;
    t->gemm_ring = (gemm_ring_tile){.m = (int)even_tile_rows(rows, tiles, step),
                                    .n = tile_columns(p, joins_columns(p)),
                                    .threads = p->ir->threads ? p->ir->threads : most_threads,
                                    .in_flight = kilobytes};
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    enum { most_results = 64 * 32 /* per warp: 64 registers of each of 32 threads */ };
    const gemm_ring_tile *x = &t->gemm_ring;
    if (x->m % p->target->matrix_rows) return arena_printf(p->a, "m must be a multiple of %d", p->target->matrix_rows);
    if (!is_power_of_two(x->threads)) return "threads must be 128 or 256";
    const char *columns = piece_columns_obstacle(p, x->n);
    if (columns) return columns;
    if (x->n * x->m > most_results) return "its results do not fit a thread's registers";
    if (ring_pages((int)(p->target->lds_bytes - shared_bytes(p, t))) < 2) return "its sums leave no shared memory for a ring";
    return NULL;
}

static bool smaller(const problem *p, ir_tile *t)
{
    gemm_ring_tile *x = &t->gemm_ring;
    const int step = p->target->matrix_rows;
    if (x->m > step) return x->m = x->m / 2 / step * step, true;
    if (x->n >= 4 * packed_granule) return x->n = x->n / 2 / (2 * packed_granule) * 2 * packed_granule, true;
    if (x->n > 2 * packed_granule) return x->n = 2 * packed_granule, true;
    return false;
}

static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    products_geometry(p, t->gemm_ring.m, t->gemm_ring.n, to);
    to->resident = 1;
    to->in_flight = t->gemm_ring.in_flight * 1024ll;
}

static int partials(const problem *p, const ir_tile *t) { return column_tiles(p, t->gemm_ring.n); }

static void members(emission *e, writer *w)
{
    const gemm_ring_tile *x = &e->phase->tile.gemm_ring;
    const int ahead = page_bytes / piece_bytes / (x->threads / e->plan->target->wave);
    const problem p = plan_problem(e->a, e->plan, e->phase);
    write_line(w, "static constexpr int lane_units = %d;", lane_units(&p, x));
    gemm_on_pieces(e, w, (pieces_tile){x->m, x->n, x->threads, ahead, .resident = 1});
}

static const program of_two_dtypes = {.device = "gemm_ring_terms",
                                      .template = "templates/gemm/gemm_ring_terms.h",
                                      .isa = {{layer_ring, "templates/isa/memory_terms.h"}}};

const program gemm_ring_program = {.kind = program_gemm_ring,
                                   .device = "gemm_ring",
                                   .template = "templates/gemm/gemm_ring.h",
                                   .isa = {{layer_ring, "templates/isa/mma_pieces.h"}},
                                   .of_two_dtypes = &of_two_dtypes,
                                   .obstacle = obstacle,
                                   .on_request = "with several rows it was slower",
                                   .streams = true,
                                   .describe_cost = describe_cost,
                                   .defaults = defaults,
                                   .illegal = illegal,
                                   .shared_bytes = shared_bytes,
                                   .smaller = smaller,
                                   .geometry = geometry,
                                   .partials = partials,
                                   .members = members,
                                   .weights = weights_as_stored,
                                   .takes_sums = true,
                                   .begins_with_weights = true,
                                   .aligned_rows = true};
