/* Products of few rows on wgmma (templates/gemm/gemm_turned.h), at the speed of memory. In: a product. Out: a tile by a model of its
 * time. */
#include "gen/emit/gemm.h"
#include "gen/program/products.h"
#include <math.h>

enum { rows_of_frag = 16, most_rows_of_parts = 112, most_rows = 128, most_split = 8, most_slots = 24, row_step = 16, column_step = 32 };

static const char *obstacle(const tile_request *r) { return obstacle_to_16_bits(r, layer_turned); }

static long long length_of(const tile_request *r) { return value_columns(request_product(r)->inputs[0]); }

static int threads_of(int n) { return (n + 63) / 64 * 128 + 32; }

/* ---- what a tile takes */
static long long bytes_of_slot(const gemm_turned_tile *x) { return 2ll * x->n * x->k + 16; }
static long long bytes_of_row_slot(const gemm_turned_tile *x) { return 2ll * x->m * x->k; }

/* ws_memory<...>::bytes of templates/frame/frame_ws.h */
static long long bytes_of(const gemm_turned_tile *x) { return 1024 + x->slots * bytes_of_slot(x) + x->row_slots * bytes_of_row_slot(x); }

static long long shared_bytes(const tile_request *r, const ir_tile *t)
{
    (void)r;
    return bytes_of(&t->gemm_turned);
}

/* Of a workgroup, where `count` share a multiprocessor; 1 KB of each is the machine's. */
static long long shared_room(const target_info *target, int count) { return (target->lds_bytes + 1024) / count - 1024; }

static int resident(const target_info *target, const gemm_turned_tile *x)
{
    return x->threads <= 288 && bytes_of(x) <= shared_room(target, 2) ? 2 : 1;
}

/* The tile's sums lie where the slots were. */
static bool sums_fit(const gemm_turned_tile *x)
{
    return x->slots * (bytes_of_slot(x) - 16) + x->row_slots * bytes_of_row_slot(x) >= 4ll * x->m * (x->n + 4);
}

/* ---- how long it takes
 * A multiprocessor has one workgroup, with slots that fill its shared memory, or two, which keep less under way but have the next launch's
 * first weights beside this one's end; clusters of more than two workgroups find no place on every multiprocessor of an H200 unless two fit
 * on one. Few multiprocessors reach more than their part of the bandwidth: half of them four fifths. The numbers are fitted to 80 tiles of
 * products of 16 to 128 rows on an H200. */
static double bandwidth(const tile_request *r)
{
    const device_fact *numbers = r->device->numbers;
    const double reached = numbers[number_bandwidth_reached].value, known = reached > 0 ? reached : numbers[number_bandwidth].value;
    return known > 0 ? known : 1e12;
}

static long long workgroups(const tile_request *r, const gemm_turned_tile *x)
{
    return (request_rows(r) + x->m - 1) / x->m * column_tiles(r, x->n) * x->split;
}

/* What the tensor cores take for a workgroup: a warpgroup's instruction, 16 long, takes half a cycle a row. */
static double products_time(const tile_request *r, const gemm_turned_tile *x)
{
    const double known = r->device->numbers[number_clock].value, clock = known > 0 ? known : 1.7e9, waits = 1.2;
    const double instructions = (double)length_of(r) / x->split / 16 * (x->threads / 128);
    return waits * instructions * x->m / 2 / clock;
}

static double time_of(const tile_request *r, const gemm_turned_tile *x, int together)
{
    const double l2_over_memory = 2.5, shallow = 1.1, next_round = 1.5e-6, start = 3e-6, hidden_start = 2.2e-6, meeting = 0.1e-6;
    const long long seats = (long long)r->device->units * together, count = workgroups(r, x), rest = count % seats;
    const double memory = bandwidth(r), length = 2.0 * (double)length_of(r) / x->split, weights = x->n * length;
    const double share = fmin(1, (double)rest / (double)r->device->units);
    double time = (double)(count - rest) * weights / memory;
    if (rest) time += (double)rest * weights / (memory * pow(share, 0.3));
    time = fmax(time, (double)count * (weights + x->m * length) / (l2_over_memory * memory));
    time = fmax(time, (double)((count + r->device->units - 1) / r->device->units) * products_time(r, x));
    if (together > 1) time *= shallow;
    time += (double)((count - 1) / seats) * next_round;
    return time + (together > 1 ? hidden_start + meeting * x->split : start);
}

/* As many slots as `together` workgroups have room for: as many for rows as for weights, then more for weights. No more than a part has
 * stages, unless the sums need them. */
static bool fill(const tile_request *r, int together, gemm_turned_tile *x)
{
    const long long part = (length_of(r) + x->k * x->split - 1) / (x->k * x->split), room = shared_room(r->target, together) - 1024;
    const long long both = room / (bytes_of_slot(x) + bytes_of_row_slot(x)), least = both < part ? both : part;
    x->row_slots = (int)(least < most_slots ? least : most_slots);
    if (x->row_slots < 2) x->row_slots = 2;
    const long long most = (room - x->row_slots * bytes_of_row_slot(x)) / bytes_of_slot(x);
    x->slots = x->row_slots;
    while (x->slots < most && (x->slots < part || !sums_fit(x))) x->slots++;
    return x->slots <= most && x->slots <= most_slots && sums_fit(x);
}

/* Longer stages read longer runs of memory; wide tiles have more of them side by side. */
static gemm_turned_tile tile_of(int m, int n, int split)
{
    return (gemm_turned_tile){.m = m, .n = n, .k = n <= 96 ? 128 : 64, .threads = threads_of(n), .split = split};
}

static void try_tile(const tile_request *r, gemm_turned_tile x, int together, gemm_turned_tile *best, double *least)
{
    const long long stages = (length_of(r) + x.k - 1) / x.k;
    if ((x.split > 1 && stages < 2 * x.split) || !fill(r, together, &x)) return;
    const double time = time_of(r, &x, together);
    if (time < 0.995 * *least) *best = x, *least = time;
}

static void defaults(const tile_request *r, ir_tile *t)
{
    const long long rows = request_rows(r), tiles = (rows + most_rows - 1) / most_rows, each = (rows + tiles - 1) / tiles;
    const int m = (int)((each + row_step - 1) / row_step * row_step);
    double least = 1e30;
    for (int split = 2; split >= 1; split--)
        for (int n = split == 2 ? 64 : 128; n <= 256; n += column_step) try_tile(r, tile_of(m, n, split), 1, &t->gemm_turned, &least);
    for (int split = 1; split <= most_split; split *= 2) try_tile(r, tile_of(m, 64, split), 2, &t->gemm_turned, &least);
}

static long long columns_of(const tile_request *r)
{
    long long columns = 0;
    for (int i = 0; i < r->phase->op_count; i++)
        if (r->phase->ops[i]->kind == op_linear) columns += value_columns(r->phase->ops[i]->outputs[0]);
    return columns;
}

/* Readings of the weight (gen/program/products.h): one, at the speed of memory. Up to 16 rows frag is faster; tiles of 128 rows are where
 * there are more, or nearly that many and so few columns that more than two parts have to meet to give most multiprocessors work. */
static double cost(const tile_request *r)
{
    const long long rows = request_rows(r);
    if (rows <= rows_of_frag) return 0.6;
    const bool parts = 2 * columns_of(r) < 48ll * r->device->units;
    return rows <= (parts ? most_rows_of_parts : most_rows) ? 0.4 : COST_OF_MATRIX_UNITS + 0.1;
}

static const char *illegal(const tile_request *r, const ir_tile *t)
{
    const gemm_turned_tile *x = &t->gemm_turned;
    if (x->m % row_step) return "m goes in steps of 16";
    if (x->n % column_step) return "n goes in steps of 32";
    if (x->threads != threads_of(x->n)) return "threads are 128 for 64 columns, and 32";
    if (!is_power_of_two(x->split)) return "split is 1, 2, 4 or 8";
    if (x->row_slots > x->slots) return "row_slots is at most slots";
    if (!is_power_of_two(x->k)) return "k is 64, 128 or 256";
    if (x->split > (length_of(r) + x->k - 1) / x->k) return "a part of a split has a stage";
    return sums_fit(x) ? NULL : "the slots are too few for the tile's sums";
}

/* Fewer rows. */
static bool smaller(const tile_request *r, ir_tile *t)
{
    (void)r;
    gemm_turned_tile *x = &t->gemm_turned;
    if (x->m <= row_step) return false;
    x->m = (x->m / 2 + row_step - 1) / row_step * row_step;
    return true;
}

static void geometry(const tile_request *r, const ir_tile *t, launch *l)
{
    const gemm_turned_tile *x = &t->gemm_turned;
    products_geometry(r, x->m, x->n, l);
    l->column_tiles *= x->split;
    l->cluster = x->split;
}

static int parts(const tile_request *r, const ir_tile *t) { return column_tiles(r, t->gemm_turned.n); }

static void members(emission *e, writer *w) { gemm_on_turned_warpgroups(e, w, resident(e->plan->target, &e->phase->tile.gemm_turned)); }

const program gemm_turned_program = {.kind = program_gemm_turned,
                                     .device = "gemm_turned",
                                     .template = "templates/gemm/gemm_turned.h",
                                     .memory = "ws_memory<one_phase<$P>>::bytes",
                                     .entry = "TF_KERNEL_WS_TILE($K, $P)",
                                     .obstacle = obstacle,
                                     .cost = cost,
                                     .defaults = defaults,
                                     .illegal = illegal,
                                     .shared_bytes = shared_bytes,
                                     .smaller = smaller,
                                     .geometry = geometry,
                                     .parts = parts,
                                     .members = members,
                                     .pack = "pack",
                                     .takes_sums = true,
                                     .aligned_rows = true};
