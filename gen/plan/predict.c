/* Contract: gen/plan/predict.h. */
#include "gen/plan/predict.h"
#include "gen/program/gemm_ring.h"
#include "gen/program/program.h"
#include <math.h>

const char *const predicted_limit_names[] = {"memory", "cache", "products", "arithmetic", "launch", "latency", "shared memory"};

static double up(double x, double step) { return ceil(x / step) * step; }

static int field_of(const ir_phase *phase, const char *name, int otherwise)
{
    const int i = tile_field_find(phase->tile.program, name);
    return i < 0 ? otherwise : phase->tile.at[i];
}

/* ---- tiles */
typedef struct tiles {
    double rows, columns, split; /* row tiles, column tiles, slices of split-K */
} tiles;

static tiles tiles_of(const plan *p, const launch_phase *l)
{
    const tile_extents *x = &l->extents;
    const double rows = (double)extent_value(&x->rows, &p->ir->dims), split = field_of(l->phase, "split_k", 1);
    return (tiles){ceil(rows / x->tile_rows), x->column_tiles / split, split};
}

/* Extra operations of a program that sums the squares of A's rows by multiplying the rows with themselves, as a share of the product's: the
 * product takes an MMA for each 16 columns of the tile, the squares take one more. */
static double squares_share(const plan *p, const ir_phase *phase)
{
    const bool multiplied = program_of(phase)->multiplies_squares && !p->target->by_waves && phase_input_sum(phase);
    return multiplied ? (double)piece_columns / field_of(phase, "n", piece_columns) : 0;
}

/* Operations of a linear that is computed in whole tiles, including padding along M, N and K. */
static double padded_linear(const plan *p, const launch_phase *l, const ir_op *product)
{
    const ir_phase *phase = l->phase;
    const tiles t = tiles_of(p, l);
    const double length = (double)product_depth(product), columns = (double)p->packs[l->pack].columns;
    const double rows = 2 * t.rows * l->extents.tile_rows;
    const double all = rows * fmax(columns, t.columns * field_of(phase, "n", 0)) * up(length, field_of(phase, "k", 1));
    return all * (1 + squares_share(p, phase));
}

/* Operations of the phase's products, including padding; in causal attention that is the masked halves of diagonal blocks. */
static double padded_products(const plan *p, const launch_phase *l, const work *w)
{
    const ir_phase *phase = l->phase;
    const ir_op *product = phase_first(phase, class_PRODUCT), *attention = phase_first(phase, class_ATTENTION);
    if (product && l->pack >= 0) return padded_linear(p, l, product);
    if (!attention || !attention->attributes.causal || attention->kind != op_attention) return w->products;
    const dim_table *dims = &p->ir->dims;
    const ir_value *q = attention->inputs[0];
    const double queries = (double)extent_value(&q->shape[0], dims) * (double)extent_value(&q->shape[1], dims);
    const double masked = queries * (field_of(phase, "block_k", 1) - 1) / 2;
    const long long heads = attention->attributes.heads;
    return w->products + 2 * masked * (double)heads * (double)(value_head_size(q, heads) + attention_value_size(attention));
}

/* ---- time */
/* Time of epilogues counts as time of products if the phase has products, else as latency, since they then wait for memory. */
static predicted_limit limit_of(const prediction *p)
{
    const bool multiplies = p->products > 0;
    const double times[] = {[limited_by_memory] = p->memory,
                            [limited_by_cache] = p->cache,
                            [limited_by_products] = multiplies ? p->products + p->epilogues : 0,
                            [limited_by_arithmetic] = p->arithmetic,
                            [limited_by_launch] = p->fixed,
                            [limited_by_latency] = multiplies ? p->latency : p->latency + p->epilogues,
                            [limited_by_shared] = p->shared};
    predicted_limit most = limited_by_memory;
    for (int i = 1; i < (int)(sizeof times / sizeof *times); i++)
        if (times[i] > times[most]) most = (predicted_limit)i;
    return most;
}

static bool has_ring(const launch *l, const launch_phase *of) { return of->program->streams && l->ring_pages > 0; }

/* Workgroups of a launch with a ring take the tiles of all phases in turn, and one without a tile in a phase's last round loads weights of
 * the next phase meanwhile. So memory is as busy as if all workgroups had equal shares of the phase. */
static void share_evenly(const device_model *device, cost_descriptor *d)
{
    const double share = d->groups / device->units;
    d->groups = device->units;
    d->memory *= share, d->asked *= share, d->taken *= share;
    d->products *= share, d->others *= share, d->shared *= share;
    d->streamed *= fmax(1, share);
}

static void predict_phase(arena *a, const plan *p, const launch *l, const launch_phase *of, const work *w, prediction *out)
{
    cost_descriptor d = {.groups = 1, .per_unit = 1, .threads = l->threads, .overlap = l->overlap};
    problem q = plan_problem(a, p, of->phase);
    if (w) q.work = w;
    of->program->describe_cost(&q, of->tile, &d);
    const double groups = d.groups;
    if (has_ring(l, of)) share_evenly(p->device, &d);
    const cost c = program_cost(&q, of->program, &d);
    *out = (prediction){.asked = d.asked * d.groups,
                        .moved = d.memory * d.groups,
                        .padded = padded_products(p, of, q.work),
                        .use = groups / up(groups, p->device->units),
                        .memory = c.memory,
                        .cache = c.cache,
                        .products = c.products,
                        .arithmetic = c.others,
                        .latency = c.flight,
                        .shared = c.shared,
                        .epilogues = c.ends,
                        .fixed = c.start,
                        .seconds = c.seconds,
                        .assumed = c.assumed};
}

/* Predicted seconds without the launch's fixed time and its epilogues. */
static double busy_of(const prediction *p) { return p->seconds - p->fixed - p->epilogues; }

/* Adds a phase that runs at the same time as the launch's other phases. Waits overlap, so the longest counts; work on resources that they
 * share adds up. */
static void add_phase(prediction *sum, const prediction *one)
{
    const double alone = fmax(busy_of(sum), busy_of(one));
    sum->asked += one->asked, sum->moved += one->moved, sum->padded += one->padded;
    sum->use = fmin(sum->use, one->use);
    sum->memory += one->memory, sum->cache += one->cache, sum->products += one->products, sum->arithmetic += one->arithmetic;
    sum->shared += one->shared;
    sum->latency = fmax(sum->latency, one->latency), sum->epilogues = fmax(sum->epilogues, one->epilogues);
    sum->fixed = fmax(sum->fixed, one->fixed);
    const double computing = sum->products + sum->arithmetic, moving = fmax(fmax(sum->memory, sum->cache), sum->shared);
    sum->seconds = sum->fixed + sum->epilogues + fmax(alone, fmax(computing, moving));
    sum->assumed |= one->assumed;
}

/* Times of a launch of several phases, in hops (device_busy_hop()), fitted to decode blocks on an H200 (docs/performance.md).
 * of_a_wait: from the end of a phase's last tile until a tile that waits for it has data to compute with. In between, stores and then a
 * mark become visible, the waiting workgroup reads the mark and passes a barrier, and its first loads fill the pipeline. of_words: the same
 * if rows come in words, which need no mark. of_a_row: each further row beside a ring takes longer to read, and meanwhile no page becomes
 * free. of_a_census: with words, until the workgroups are counted and have the launch's first rows; of_a_wait includes that. */
static const double hops_of_a_wait = 2.5, hops_of_words = 1.4, hops_of_a_row = 0.57, hops_of_a_census = 2.4;

static long long rows_of(const plan *p, const launch *l) { return extent_value(&l->work[0].extents.rows, &p->ir->dims); }

/* Seconds in which memory fills the launch's ring. */
static double ring_seconds(const plan *p, const launch *l)
{
    return (double)ring_bytes(l->ring_pages) * p->device->units / p->device->numbers[number_bandwidth].value;
}

/* Seconds lost because some workgroups have a tile more than others, which load ahead meanwhile, but only as much as their rings hold. With
 * one row, the former then have the memory to themselves and catch up. With several rows, each page takes them longer, and they only make
 * up for a part; which part is fitted to the same blocks. */
static double lost_in_last_round(const plan *p, const launch *l, const launch_phase *of, const prediction *one)
{
    const double lost = 0.4;
    if (!has_ring(l, of) || rows_of(p, l) == 1) return 0;
    return lost * fmin((1 / one->use - 1) * one->memory, ring_seconds(p, l));
}

/* The same for a product or attention in a launch with a loading warp (templates/frame/frame_fed.h), which polls while the others compute.
 * With this, the faster level is predicted for all 17 prompts of docs/one-launch.md. */
static const double hops_of_a_fed_wait = 1.3;

/* Seconds that a phase's data comes late. While a launch waits for words, its ring fills with the phase's weights. */
static double wait_before(const plan *p, const launch *l, int phase, const prediction *one)
{
    const bool reads_rows = l->words || has_ring(l, &l->work[phase]);
    const double hop = device_busy_hop(p->device), further_rows = reads_rows ? (double)rows_of(p, l) - 1 : 0;
    const double by_marks = l->feeds && one->products > 0 ? hops_of_a_fed_wait : hops_of_a_wait;
    const double wait = l->words ? fmax(0, hops_of_words * hop - fmin(one->memory, ring_seconds(p, l))) : by_marks * hop;
    return l->words || l->work[phase].await_count ? wait + hops_of_a_row * hop * further_rows : 0;
}

/* Adds a phase that begins when the launch's earlier phases have ended. wait: seconds from that end until the phase has data to compute
 * with. */
static void add_later_phase(prediction *sum, const prediction *one, double wait)
{
    const double work = sum->seconds - sum->fixed + one->seconds - one->fixed + wait;
    const double latency = sum->latency + one->latency + wait, epilogues = sum->epilogues + one->epilogues;
    add_phase(sum, one);
    sum->seconds = sum->fixed + work, sum->latency = latency, sum->epilogues = epilogues;
}

/* Seconds that rows come late to a launch which loads its first weights before the previous one has ended, if these keep memory busier than
 * its products keep the units: until that one's stores are visible, while all units read weights. overlap_cost, which is measured with
 * kernels that read nothing, does not contain it. */
static double late_rows(const plan *p, const launch *l, const prediction *one)
{
    if (l->words) return hops_of_a_census * device_busy_hop(p->device);
    const bool follows = l->overlap && l->kernel != p->launches->kernel && l->work[0].program->begins_with_weights;
    return follows && one->memory > one->products ? device_busy_hop(p->device) : 0;
}

bool launch_predict(arena *a, const plan *p, const launch *l, const work *w, prediction *out)
{
    *out = (prediction){0};
    if (p->device->numbers[number_bandwidth].value <= 0) return false;
    for (int i = 0; i < l->work_count; i++) {
        prediction one;
        predict_phase(a, p, l, &l->work[i], l->work_count == 1 ? w : NULL, &one);
        const double lost = lost_in_last_round(p, l, &l->work[i], &one);
        one.epilogues += lost, one.seconds += lost;
        if (i == 0) *out = one;
        else if (l->together) add_later_phase(out, &one, wait_before(p, l, i, &one));
        else add_phase(out, &one);
    }
    const double late = late_rows(p, l, out);
    out->fixed += late, out->seconds += late;
    out->limit = limit_of(out);
    return true;
}

bool plan_predict(arena *a, const plan *p, double *seconds)
{
    *seconds = 0;
    for (int i = 0; i < p->launch_count; i++) {
        const work w = launch_work(a, p, &p->launches[i], NULL, NULL);
        prediction one;
        if (!launch_predict(a, p, &p->launches[i], &w, &one)) return false;
        *seconds += one.seconds;
    }
    return true;
}

/* Bytes in flight of the phase's workgroups on one multiprocessor. */
static double under_way_of(const plan *p, const launch *l, const launch_phase *of)
{
    const double groups = ceil((double)launch_grid(l, &p->ir->dims) / p->device->units);
    return fmin(of->extents.resident, groups) * (double)of->extents.in_flight;
}

bool launch_flight(const plan *p, const launch *l, flight *out)
{
    const device_model *d = p->device;
    const double bandwidth = d->numbers[number_bandwidth].value;
    *out = (flight){.needed = bandwidth * device_latency(d) / d->units,
                    .latency = device_latency(d),
                    .assumed = d->numbers[number_latency].value <= 0};
    for (int i = 0; i < l->work_count; i++) {
        const double bytes = under_way_of(p, l, &l->work[i]);
        if (bytes > out->bytes) out->bytes = bytes, out->of = &l->work[i];
    }
    return out->of && bandwidth > 0;
}
