/* Products of few rows on vector instructions (templates/gemm/gemm.h, gemm_skinny_across.h). The waves of a workgroup split K, so each
 * weight is read once for all rows of a tile. In: a product. Out: a tile of at most 8 rows. */
#include "gen/emit/gemm.h"
#include "gen/program/products.h"
#include <math.h>

extern const program gemm_skinny_program;

/* most_rows: of a default tile. wave_columns: columns of which a wave computes sums unless B is [K, N]. */
enum { most_rows = 8, wave_columns = 32, usual_columns = wave_columns / 8, most_columns = wave_columns / 4 /* per lane */ };
enum { deep = 8 }; /* if B is [K, N]: rows of B whose loads a lane has in flight (templates/gemm/gemm_skinny_across.h) */

/* Each row tile reads all weights again, so other programs are faster for many rows: from 17 rows on if matrix units multiply f32 (except
 * for the smallest weights, where skinny stays faster), else from 33. */
static const worse_range worse[] = {{where_f32_on_units, .least_rows = 17, .why = "rows are more than 16"},
                                    {where_guessed, .least_rows = 17, .why = "rows are more than 16"},
                                    {.least_rows = 33, .why = "rows are more than 32"},
                                    {where_16_bits | where_in_list, .why = "register_fed reads each weight once for all rows",
                                     .than = program_gemm_register_fed},
                                    {where_16_bits, .least_rows = most_rows + 1, .why = "each tile of 8 rows reads all weights"},
                                    {where_16_bits, .most_length = 32768, .why = "register_fed and swap_ab are faster up to K = 32768"},
                                    {0}};

/* True if B is a matmul's operand stored as [..., K, N]: lanes then read along N, else along K. */
static bool is_across(const problem *p) { return matmul_is_across(p->product); }
static bool is_packed(const problem *p) { return p->product->kind == op_linear; }
static bool has_f32_weights(const problem *p) { return p->product->inputs[1]->type == dtype_f32; }

/* Elements of K that a workgroup processes per iteration. */
static long long stride_of(const problem *p, const gemm_registers_tile *x)
{
    enum { lanes = 4 }; /* that together read one column of a piece of the packed weight: 64 bytes, 16 each */
    const int waves = x->threads / p->target->wave;
    if (is_across(p)) return (long long)waves * p->target->wave / (x->n / x->thread_n) * deep;
    const long long each = piece_length(p, weights_widened) / lanes;
    return each * (p->target->wave * x->thread_n / wave_columns) * (waves / (x->n / wave_columns));
}

/* Iterations over all of K. */
static long long iterations_of(const problem *p, const gemm_registers_tile *x)
{
    const long long stride = stride_of(p, x);
    return (product_length(p) + stride - 1) / stride;
}

/* True for a matmul of a single row by a B that is stored as [N, K]. */
static bool is_row_by_rows(const problem *p)
{
    const ir_op *product = p->product;
    return problem_rows(p) == 1 && product->kind == op_matmul && product->attributes.transpose;
}

/* Cycles that reducing the slices of split-K takes. */
static double meets(const gemm_registers_tile *x)
{
    enum { meeting = 4500, bytes_a_cycle = 32 };
    return x->split_k > 1 ? meeting + (x->split_k - 1) * 4.0 * x->m * x->n / bytes_a_cycle : 0;
}

/* Iterations of a packed weight whose loads a lane has in flight: `ahead` of gemm_skinny in templates/gemm/gemm.h. */
static int iterations_ahead(const problem *p, const gemm_registers_tile *x)
{
    enum { most_chains = 32, others = 32, of_16_bits = 8 };
    const int length = piece_length(p, weights_widened) / 4, each = x->m * x->thread_n; /* length: elements of a load */
    const int sums = length == 4 && each * length <= most_chains ? 4 * each : each;
    const int room = x->threads <= 256 ? 132 : 65536 / x->threads;
    const int least = others + sums + 2 * x->m + (length > 4 ? of_16_bits : 0);
    int ahead = p->target->by_waves ? 2 : length == 4 && x->m >= 4 && x->threads <= 256 ? 1 : 4;
    const long long iterations = (iterations_of(p, x) + x->split_k - 1) / x->split_k;
    while (ahead > 1 && (least + ahead * (length + 4 * x->thread_n) > room || iterations <= ahead / 2)) ahead /= 2;
    return ahead;
}

/* Workgroups that a unit holds at a time. A thread has about 128 registers, or 64 in the tiles chosen for 9 to 12 rows. */
static double resident(const problem *p, const gemm_registers_tile *x)
{
    const int registers = x->m == 4 && x->threads <= 256 && problem_rows(p) > most_rows ? 64 : 128;
    return groups_by_registers(p->target, x->threads, registers);
}

/* Share of DRAM bandwidth that the program reaches. If B is [K, N], narrow tiles read short runs of its rows: on an H200, f32 1x4096x4096
 * takes 19 us with tiles of 64 columns, 22 us with tiles of 32. */
static double memory_share(const problem *p, const gemm_registers_tile *x)
{
    enum { long_run = 256 }; /* bytes of a row of B that a tile reads */
    /* many, many_16, usual: accumulators leave registers for fewer loads in flight, and 16 bits are converted. many_16 is so low that
     * swap_ab is chosen where it is faster than predicted (H200, bf16 4x512x65536: 19.8 us, skinny 21.7). */
    const double packed = 0.97, many = 0.87, most = 0.9, many_16 = 0.65, usual = 0.77;
    const bool f32 = has_f32_weights(p);
    const int run = x->n * dtype_size(p->product->inputs[1]->type);
    if (is_packed(p)) return f32 ? x->m == most_rows ? many : packed : x->m >= 4 ? many_16 : most;
    return is_row_by_rows(p) || (is_across(p) && run >= long_run) ? most : usual;
}

/* Of a matmul's B, loads of the next iteration are in flight while one is computed; with a single row, registers suffice for loads of the
 * next two. */
static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    enum { end_cycles = 900 };
    const gemm_registers_tile *x = &t->gemm_registers;
    const bool packed = is_packed(p);
    const double line = (double)stride_of(p, x) * operand_bytes(p, weights_widened, operand_b);
    product_cost(p, &(product_cut){x->m, x->n, 1, x->split_k, (int)((problem_rows(p) + x->m - 1) / x->m), 1, weights_widened}, d);
    d->per_unit = packed ? resident(p, x) : groups_by_threads(p->target, x->threads), d->memory_share = memory_share(p, x);
    d->ahead = (double)(x->n + x->m) * line * (packed ? iterations_ahead(p, x) : problem_rows(p) == 1 ? 2 : 1);
    d->streamed = (double)product_length(p) / x->split_k *
                  (x->m * operand_bytes(p, weights_widened, operand_a) + x->n * operand_bytes(p, weights_widened, operand_b));
    d->products_share = packed ? 0.3 : 0.2, d->end_cycles = end_cycles + meets(x), d->trips = 1;
}

/* The most threads that defaults_by_lines() tries. With 512 a unit holds one workgroup, with 256 it holds two, of which one loads while the
 * other ends. So 512 are faster only if no unit has a second workgroup (H200, f32, us with 512 and with 256 threads: 1x4096x4096 17.3 and
 * 17.5, 1x16384x1024 19.7 and 16.9). Epilogues that join columns leave too few registers. */
static int most_threads(const problem *p)
{
    enum { usual = 256 };
    return times_are_guesses(p) || joins_columns(p) ? usual : 2 * usual;
}

/* If there are too few tiles for all units, tries to split K into slices of at least 2 iterations (a matmul: 4, or 1 if B is [K, N], where
 * an iteration covers more of K). Changes t if that is predicted to be clearly faster than t, which takes `least` seconds. */
static void try_parts(const problem *p, double least, ir_tile *t)
{
    enum { most_parts = 128 };
    const int least_iterations = is_across(p) ? 1 : is_packed(p) ? 2 : 4;
    const double clearly = 0.9;
    ir_tile x = *t;
    for (int each = 1; each <= 4; each *= 2) { /* workgroups per unit */
        gemm_registers_tile *y = &x.gemm_registers;
        y->split_k = register_tile_split(p, y, each * p->device->units, most_parts, iterations_of(p, y) / least_iterations);
        const double seconds = y->split_k > 1 ? program_seconds(p, &gemm_skinny_program, &x) : INFINITY;
        if (seconds < clearly * least) *t = x, least = seconds / clearly;
    }
}

/* Columns per lane. With 8 instead of 4, more lanes read the same row of a matmul's B stored as [N, K]: 128 adjacent bytes, not 64. */
static int lane_columns(const problem *p) { return is_row_by_rows(p) ? most_columns : usual_columns; }

/* The fastest predicted tile if B has K contiguous: a packed weight, or [N, K]. 8 rows of f32 may be two tiles of 4, which can be faster if
 * there are few columns (H200, us in two tiles and in one: 8x2048x2048 8.7 and 10.0). With 16-bit elements, or with fewer rows, two tiles
 * are slower. 9 to 12 rows are three tiles of 4 if these fill the units (12x4096x4096: 28.7 us, in two tiles of 8 35.4). */
static void defaults_by_lines(const problem *p, ir_tile *t)
{
    enum { step = 256 };
    const long long rows = problem_rows(p), columns = column_tiles(p, wave_columns);
    const bool f32 = has_f32_weights(p), threes = f32 && rows > 8 && rows <= 12 && 3 * columns > p->device->units;
    const int most = p->ir->threads ? p->ir->threads : threes ? step : most_threads(p),
              least_threads = p->ir->threads || is_row_by_rows(p) ? most : step;
    const long long most_m = threes ? 4 : rows < most_rows ? power_of_two_up(rows) : most_rows;
    const bool halves = most_m == most_rows && f32;
    double least = 1e30;
    for (int m = (int)most_m; m >= (halves ? most_m / 2 : most_m); m /= 2)
        for (int threads = most; threads >= least_threads; threads -= step) {
            ir_tile x = *t, parts;
            x.gemm_registers = (gemm_registers_tile){.m = m, .n = wave_columns, .k = 16, .thread_m = m, .thread_n = lane_columns(p),
                                                     .threads = threads, .stages = 2, .split_k = 1};
            parts = x;
            try_parts(p, program_seconds(p, &gemm_skinny_program, &x), &parts);
            const double seconds = program_seconds(p, &gemm_skinny_program, &parts);
            if (seconds < (m < most_m ? 0.9 : 0.99) * least) *t = parts, least = seconds;
        }
}

/* The fastest predicted tile if B is [K, N]. A lane reads 16 bytes of a row of B, or 8 if accumulators leave too few registers. Wide tiles
 * read whole cache lines; narrow ones occupy more units. The sums of all waves, m * n each, must fit shared memory. */
static void defaults_across(const problem *p, ir_tile *t)
{
    enum { threads = 512, results = 512 };
    const long long rows = problem_rows(p);
    const int m = rows < most_rows ? (int)power_of_two_up(rows) : most_rows;
    const int columns = m <= 2 && dtype_size(p->product->inputs[1]->type) == 2 ? most_columns : usual_columns;
    double least = 1e30;
    for (int n = columns * p->target->wave; n >= wave_columns; n /= 2) {
        if (m * n > results) continue;
        ir_tile x = *t;
        x.gemm_registers = (gemm_registers_tile){.m = m, .n = n, .k = 16, .thread_m = m, .thread_n = columns,
                                                 .threads = threads, .stages = 2, .split_k = 1};
        const double seconds = program_seconds(p, &gemm_skinny_program, &x);
        try_parts(p, seconds, &x);
        const double parts = program_seconds(p, &gemm_skinny_program, &x);
        if (parts < 0.98 * least) *t = x, least = parts;
    }
}

static void defaults(const problem *p, ir_tile *t)
{
    if (is_across(p)) defaults_across(p, t);
    else defaults_by_lines(p, t);
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    const gemm_registers_tile *x = &t->gemm_registers;
    if (x->m != x->thread_m || !is_power_of_two(x->m)) return "m must be thread_m, a power of two, at most 16";
    if (x->n % wave_columns != 0) return "n must be a multiple of 32";
    if (!is_power_of_two(x->thread_n) || x->thread_n > most_columns) return "thread_n must be 1, 2, 4 or 8";
    if (is_across(p)) {
        if (x->thread_n < usual_columns || x->n > x->thread_n * p->target->wave || !is_power_of_two(x->n))
            return "for B as [K, N]: thread_n must be 4 or 8, and n a power of two, at most thread_n times the lanes of a wave";
        if (x->threads % p->target->wave != 0) return "threads must be whole waves";
    } else if (x->threads % (p->target->wave * (x->n / wave_columns)) != 0) {
        return "each 32 columns of n must have equally many waves";
    }
    /* with fewer threads the template would run its program for register tiles */
    if (x->threads * x->thread_n <= x->n) return "threads must be several for each column, which share K";
    if (x->split_k > iterations_of(p, x)) return "each part of split_k must have at least one iteration of all lanes";
    return x->m * x->n / (2 * p->target->width) > x->threads ? "threads must be at least one for each row and 8 columns" : NULL;
}

/* sizeof(scratch) of templates/gemm/skinny_results.h: partial sums of each wave, m * 32 or, if B is [K, N], m * n; then row sums */
static long long shared_bytes(const problem *p, const ir_tile *t)
{
    const gemm_registers_tile *x = &t->gemm_registers;
    const int columns = is_across(p) ? x->n : wave_columns;
    return 16 + (4ll * x->m * (x->threads / p->target->wave * columns + x->n / (2 * p->target->width)) + 15) / 16 * 16;
}

const program gemm_skinny_program = {.kind = program_gemm_skinny,
                                     .device = "gemm",
                                     .template = "templates/gemm/gemm.h",
                                     .worse = worse,
                                     .describe_cost = describe_cost,
                                     .defaults = defaults,
                                     .illegal = illegal,
                                     .shared_bytes = shared_bytes,
                                     .smaller = register_tile_smaller,
                                     .geometry = register_tile_geometry,
                                     .partials = register_tile_partials,
                                     .scratch = register_tile_scratch,
                                     .members = gemm_on_register_tiles,
                                     .weights = weights_widened};
