/* Reductions of an axis that is not the last (templates/rows/columns.h). In: a columns phase. Out: a tile: teams of threads read whole
 * memory transactions of a row, and the axis is cut into parts if the columns alone do not occupy the device. */
#include "gen/program/program.h"

/* transaction: bytes of a row that a team should read at least; least_terms: rows that a thread should add at least */
enum { transaction = 128, least_terms = 8 };

static const ir_op *reduction_of(const problem *p) { return phase_first(p->phase, class_COLUMNS); }

static long long column_tiles(const problem *p, const columns_tile *x)
{
    const long long width = (long long)x->lanes * x->v;
    return (p->space.columns + width - 1) / width;
}

/* Columns of a thread: 16 bytes of the operand, or fewer, so that every row of each tensor begins at a multiple of them. */
static long long vector_of(const problem *p) { return aligned_vector(p, 16 / dtype_size(reduction_of(p)->inputs[0]->type)); }

/* The tile without parts. Teams are widened, and then threads are halved, until each thread adds at least least_terms rows. After that,
 * teams are widened until each has a row. A team has at least four columns, as parts exchange four results at a time. */
static columns_tile shared_out(const problem *p)
{
    enum { most_threads = 512, fewest_threads = 128 };
    const long long terms = column_terms(reduction_of(p)), v = vector_of(p), vectors = (p->space.columns + v - 1) / v;
    const long long size = dtype_size(reduction_of(p)->inputs[0]->type), wave = p->target->wave, widest = power_of_two_up(vectors);
    long long lanes = transaction / (v * size), threads = most_threads;
    if (lanes > widest) lanes = widest;
    if (lanes * v < 4) lanes = 4 / v;
    while (lanes < wave && lanes < widest && terms * lanes < threads * least_terms) lanes *= 2;
    while (threads > fewest_threads && threads > lanes && terms * lanes < threads * least_terms) threads /= 2;
    while (lanes < threads && lanes < widest && terms * lanes < threads) lanes *= 2;
    return (columns_tile){.threads = (int)threads, .lanes = (int)lanes, .v = (int)v, .parts = 1};
}

/* The most parts with which all workgroups run at once and each thread still adds at least least_terms rows. */
static int parts_of(const problem *p, const columns_tile *x)
{
    enum { busy_threads = 1024 /* per unit */, most_parts = 512 };
    const long long rows = extent_value(&p->space.rows, &p->ir->dims), tiles = rows * column_tiles(p, x);
    const long long room = (long long)p->device->units * (busy_threads / x->threads) / (tiles > 0 ? tiles : 1);
    const long long terms = column_terms(reduction_of(p)) * x->lanes / x->threads / least_terms;
    long long parts = room < terms ? room : terms;
    if (parts > most_parts) parts = most_parts;
    return x->lanes * x->v % 4 || x->lanes * x->v > 4 * x->threads || parts < 1 ? 1 : (int)parts;
}

static void defaults(const problem *p, ir_tile *t)
{
    if (p->target->serial) {
        t->columns = (columns_tile){.threads = 1, .lanes = 1, .v = 16, .parts = 1};
        return;
    }
    t->columns = shared_out(p);
    if (!p->ir->no_slices) t->columns.parts = parts_of(p, &t->columns);
}

static const char *illegal(const problem *p, const ir_tile *t)
{
    const columns_tile *x = &t->columns;
    if (!is_power_of_two(x->lanes) || !is_power_of_two(x->v)) return "lanes and v must be powers of two";
    if (!is_power_of_two(x->threads) || x->threads < x->lanes) return "threads must be a power of two, a multiple of lanes";
    if (x->threads % p->target->wave != 0) return "threads must be a multiple of a wave";
    if (x->parts == 1) return NULL;
    if (x->lanes * x->v % 4 || x->lanes * x->v > 4 * x->threads)
        return "with parts, lanes * v must be a multiple of 4, at most 4 * threads";
    return x->parts <= column_terms(reduction_of(p)) ? NULL : "no part may be empty";
}

/* Partial sums of a column in shared memory: one per team, or one per wave if teams are narrower, as a wave adds up those of its teams. */
static int groups_of(const problem *p, const columns_tile *x)
{
    const int wave = p->target->wave;
    return x->threads / (x->lanes < wave ? wave : x->lanes);
}

static long long shared_bytes(const problem *p, const ir_tile *t)
{
    const columns_tile *x = &t->columns;
    return 16 + 4ll * groups_of(p, x) * x->lanes * x->v; /* mixed_memory: a stage of one byte, then floats aligned to 16 */
}

/* Fewer columns per thread, more threads per row. */
static bool smaller(const problem *p, ir_tile *t)
{
    (void)p;
    columns_tile *x = &t->columns;
    if (x->v == 1 || 2 * x->lanes > x->threads) return false;
    x->v /= 2, x->lanes *= 2;
    return true;
}

static void geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    to->column_tiles = (int)column_tiles(p, &t->columns) * t->columns.parts;
}

static extent parts_scratch(const problem *p, const ir_tile *t)
{
    const columns_tile *x = &t->columns;
    const long long slices = column_tiles(p, x) * (x->parts - 1), floats = (long long)x->lanes * x->v + slice_head;
    return extent_multiply(p->a, p->phase->ops[0]->at, p->space.rows, extent_number(slices * floats));
}

/* The workgroup of the last part waits for the others once; its threads then read their results in parallel. */
static void describe_cost(const problem *p, const ir_tile *t, cost_descriptor *d)
{
    enum { meeting = 3000 /* cycles */, most_ahead = 8 /* terms that a thread has in flight */ };
    const columns_tile *x = &t->columns;
    bytes_cost(p, t, geometry, d);
    d->trips = (double)column_terms(reduction_of(p)) * x->lanes / x->threads / x->parts / most_ahead;
    d->end_cycles = x->parts > 1 ? meeting : 0;
}

const program columns_program = {.kind = program_columns,
                                 .device = "column_reduction",
                                 .template = "templates/rows/columns.h",
                                 .describe_cost = describe_cost,
                                 .defaults = defaults,
                                 .illegal = illegal,
                                 .shared_bytes = shared_bytes,
                                 .smaller = smaller,
                                 .geometry = geometry,
                                 .members = emit_columns,
                                 .scratch = parts_scratch};
