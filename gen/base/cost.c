/* Contract: gen/base/cost.h. */
#include "gen/base/cost.h"
#include <math.h>

/* Defaults for numbers that a device file lacks, measured on an H200 (usual_clock and usual_bandwidth are round figures). Device files have
 * no numbers like shared_bytes and lockstep_gain: these are used for all devices. */
static const double bandwidth_share = 0.9, products_share = 0.8; /* shares of the peaks reached: 4.3 of 4.8 TB/s, 790 of 989 TFLOP/s */
static const double usual_launch = 0.72e-6;                      /* seconds of an empty launch */
static const double l2_over_memory = 2.5; /* L2 bandwidth over DRAM bandwidth */
static const double unit_over_part = 2.5; /* L2 bandwidth that one unit reaches alone, over an equal share of the whole L2 bandwidth */
static const double shared_bytes = 128;   /* of shared memory per unit and cycle */
static const double lockstep_gain = 1.6;  /* factor on L2 bandwidth where workgroups walk K in lockstep and request the same data at once */
static const double busy_over_idle_hop = 1.7; /* ratio of device_busy_hop() to device_hop() */
enum { usual_busy_threads = 512 };        /* threads that saturate a unit's arithmetic */
static const double usual_clock = 1.7e9, usual_bandwidth = 1e12; /* Hz, bytes/s */

static double number(const device_model *d, device_number n, double otherwise)
{
    return d->numbers[n].value > 0 ? d->numbers[n].value : otherwise;
}

double device_hop(const device_model *d) { return number(d, number_hop_cost, device_latency(d)); }
double device_busy_hop(const device_model *d) { return number(d, number_busy_hop_cost, busy_over_idle_hop * device_hop(d)); }

/* Bytes per second that kernels reach; 0: unknown. */
static double device_bandwidth(const device_model *d, unsigned *assumed)
{
    const double reached = d->numbers[number_bandwidth_reached].value;
    if (reached > 0) return reached;
    *assumed |= assumed_bandwidth;
    return d->numbers[number_bandwidth].value * bandwidth_share;
}

static double highest_clock(const device_model *d) { return number(d, number_clock, usual_clock); }

static double power_of(const cost_descriptor *x) { return x->power > 0 ? x->power : 1; }

/* Hz, under the power limit, while matrix units are busy. */
static double loaded_clock(const device_model *d, const cost_descriptor *x)
{
    return fmin(highest_clock(d), power_of(x) * number(d, number_clock_loaded, highest_clock(d)));
}

/* The L2 is taken to have two halves, as an H200's has. Each half caches what its own units read, so data that all units read occupy L2
 * twice. */
double device_l2_misses(const device_model *d, double bytes)
{
    const double holds = d->numbers[number_l2].value / 2;
    return holds > 0 && bytes > holds ? 1 - holds / bytes : 0;
}

/* f32 operations per second outside matrix units; without rates in the device file: 256 per unit and cycle. */
static double vector_rate(const device_model *d)
{
    const double reached = d->rates[rate_vector_reached].of[dtype_f32], most = d->rates[rate_vector].of[dtype_f32];
    return reached > 0 ? reached : most > 0 ? most : 256 * d->units * highest_clock(d);
}

/* Operations per second of the matrix units if a share `busy` of the units multiplies. These reach at most x->products_share of their peak,
 * and at most what the power limit allows all units together. all_before: earlier rounds ran on all units; then the busy units get only
 * their own share of the power limit. */
static double matrix_rate(const device_model *d, const cost_descriptor *x, double busy, bool all_before, unsigned *assumed)
{
    const double known = d->rates[rate_products].of[x->type], peak = known > 0 ? known : 8 * vector_rate(d);
    const double reached = d->rates[rate_products_reached].of[x->type], loaded = loaded_clock(d, x) / highest_clock(d);
    if (reached <= 0) *assumed |= assumed_products;
    const double usual = power_of(x) * (reached > 0 ? reached : peak * products_share);
    const double most = fmin(peak, fmin(usual, peak * loaded)) * (all_before ? busy : 1);
    return fmin(peak * busy * (x->products_share > 0 ? x->products_share : 1), most);
}

/* Share of DRAM bandwidth that a share `busy` of the units reaches: half of them reach four fifths. */
static double bandwidth_drawn(double busy) { return busy < 1 ? pow(busy, 0.3) : 1; }

/* DRAM, L2 and latency overlap, so the longest counts. With lockstep a k tile is used only when all of it has arrived, so that resources
 * which take nearly as long as the longest count as well (a 6-norm). */
static double loading(const cost_descriptor *x, double memory, double cache, double flight)
{
    const double sharp = 6, most = fmax(memory, fmax(cache, flight));
    if (!x->lockstep) return most;
    return most > 0 ? most * pow(pow(memory / most, sharp) + pow(cache / most, sharp) + pow(flight / most, sharp), 1 / sharp) : 0;
}

/* Seconds of each resource in a round of `count` concurrent workgroups, at a clock in Hz. */
static cost round_at(const device_model *d, const cost_descriptor *x, double count, double clock, unsigned *assumed)
{
    const double units = d->units, busy = fmin(1, count / units), busiest = ceil(count / units);
    const double memory = number(d, number_bandwidth, 0) > 0 ? device_bandwidth(d, assumed) : usual_bandwidth;
    const double l2 = number(d, number_l2_bandwidth, l2_over_memory * memory),
                 unit = number(d, number_unit_bandwidth, unit_over_part * l2 / units);
    const double lanes = fmin(1, busiest * x->threads / (d->busy_threads ? d->busy_threads : usual_busy_threads));
    const double vector = vector_rate(d) / units * (lanes > 0 ? lanes : 1), share = x->products_share > 0 ? x->products_share : 1;
    cost now = {0};
    now.memory = count * x->memory / (memory * bandwidth_drawn(busy) * (x->memory_share > 0 ? x->memory_share : 1));
    const double asked = x->asked * (x->asked_counts > 0 ? x->asked_counts : 1);
    now.cache = fmax(count * asked / l2, busiest * (x->taken > 0 ? x->taken : x->asked) / unit);
    if (x->lockstep && x->groups <= count) now.cache /= lockstep_gain;
    now.flight = x->ahead > 0 ? x->streamed / x->ahead * device_latency(d) : 0;
    if (x->products > 0)
        now.products = x->matrix ? busiest * units * busy * x->products / matrix_rate(d, x, busy, x->groups > count, assumed)
                                 : busiest * x->products / (vector * share);
    now.others = busiest * x->others / vector;
    now.shared = busiest * x->shared / (shared_bytes * clock);
    now.ends = x->end_cycles / clock + x->trips * device_latency(d) + x->hops * device_hop(d);
    now.seconds = fmax(loading(x, now.memory, now.cache, now.flight), fmax(now.products + now.others, now.shared));
    now.seconds = fmax(now.seconds, x->chain_cycles / clock);
    return now;
}

/* The clock in Hz in a round of `count` workgroups. Matrix units that never wait for data reach the power limit, which lowers the clock. */
static double clock_of(const device_model *d, const cost_descriptor *x, double count)
{
    const double highest = highest_clock(d), loaded = loaded_clock(d, x), known = d->rates[rate_products].of[x->type];
    if (!x->matrix || x->products <= 0 || known <= 0) return highest;
    unsigned ignored = 0;
    const cost others = round_at(d, x, count, highest, &ignored);
    const double multiplies = count * x->products / known,
                 alone = multiplies / (fmin(1, count / d->units) * (x->products_share > 0 ? x->products_share : 1)),
                 longest = fmax(fmax(others.memory, others.cache), fmax(others.flight, alone));
    return fmin(highest, fmax(loaded, loaded * longest / multiplies));
}

/* Adds `times` rounds of `count` workgroups. */
static void add_round(const device_model *d, const cost_descriptor *x, double count, double times, cost *c)
{
    const cost now = round_at(d, x, count, clock_of(d, x, count), &c->assumed);
    c->memory += times * now.memory, c->cache += times * now.cache, c->flight += times * now.flight;
    c->products += times * now.products, c->others += times * now.others, c->shared += times * now.shared, c->ends += times * now.ends;
    c->seconds += times * (now.seconds + now.ends);
}

static double launch_seconds(const device_model *d, bool overlap, unsigned *assumed)
{
    const double overlapped = d->numbers[number_overlap_cost].value, usual = d->numbers[number_launch_cost].value;
    if (overlap && overlapped > 0) return overlapped;
    if (usual > 0) return usual;
    *assumed |= assumed_launch;
    return usual_launch;
}

/* Adds an incomplete last round of `rest` workgroups. The work of each is split into x->tail parts if all parts fit one round. seats:
 * workgroups that are resident at once. */
static void add_last_round(const device_model *d, const cost_descriptor *x, double rest, double seats, cost *c)
{
    cost_descriptor part = *x;
    if (x->tail <= 1 || rest * x->tail > seats) {
        add_round(d, x, rest, 1, c);
        return;
    }
    part.memory /= x->tail, part.asked /= x->tail, part.taken /= x->tail, part.streamed /= x->tail;
    part.products /= x->tail, part.others /= x->tail, part.shared /= x->tail;
    part.end_cycles += x->tail_cycles;
    add_round(d, &part, rest * x->tail, 1, c);
}

cost cost_of(const device_model *d, const cost_descriptor *x)
{
    cost c = {0};
    const double seats = x->seats > 0 ? x->seats : d->units * fmax(1, x->per_unit);
    const double rounds = floor(x->groups / seats), rest = x->groups - rounds * seats;
    if (rounds > 0) add_round(d, x, seats, rounds, &c);
    if (rest > 0) add_last_round(d, x, rest, seats, &c);
    const double clock = clock_of(d, x, fmin(seats, x->groups)), between = (rounds + (rest > 0) - 1) * x->round_cycles / clock;
    const double launch = launch_seconds(d, x->overlap, &c.assumed);
    c.start = fmax(0, launch + x->start_cycles / clock) + x->later_launches * (launch + device_latency(d));
    c.ends += between, c.seconds += between + c.start;
    return c;
}
