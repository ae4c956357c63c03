/* In: a device of this machine. Out: its device file: the facts of ir/devices/facts.def that can be measured; the others from the shipped
 * file of the same device, with their sources. Refuses what the device and its compilers refuse. */
#include "runtime/cli/bench.h"
#include "runtime/cli/calibrate/meter.h"
#include "runtime/cli/spread.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

typedef struct calibration {
    arena *a;
    const cli_options *o;
    tfgen_device *device;
    const target_info *target;
    const device_model *base; /* the measured kernels are planned for it */
    bool known;               /* base is the device model of this device, not of a similar one */
    bool most_bandwidth;      /* peak bandwidth is measured, too */
    cache *cache;
    meter *meter;
    int chunks;       /* size of the meter's memory in chunks */
    int units;        /* units that run concurrently */
    double sustained; /* seconds of load before a rate is measured */
    device_model out;
    progress bar;
} calibration;

static const char *note_of(calibration *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *note_of(calibration *c, const char *format, ...)
{
    char note[121];
    va_list list;
    va_start(list, format);
    vsnprintf(note, sizeof note, format, list);
    va_end(list);
    return arena_strdup(c->a, note);
}

static void set(calibration *c, device_number n, double value, const char *note)
{
    c->out.numbers[n] = (device_fact){value, source_measured, note};
}

static void told(calibration *c, const char *what) { progress_step(&c->bar, what); }

/* ---- reading memory and caches */
static int divisor(int x, int y) { return y ? divisor(y, x % y) : x; }

/* Bytes per second that workgroups read when they loop over the chunks of a window for at least 0.5 ms, and together read every chunk at
 * least once. */
static double read_rate(calibration *c, long long grid, int chunks)
{
    const double enough = 0.5e-3;
    enum { most = 1 << 14 };
    probe_run run = {.kind = probe_read, .grid = grid, .chunks = chunks, .count = 1, .step = (int)(grid % chunks)};
    while (run.step < 1 || (chunks > 1 && divisor(run.step, chunks) != 1)) run.step++;
    if (run.step >= chunks) run.step = chunks > 1 ? 1 : 0;
    while (run.count < most && (grid * run.count < chunks || meter_seconds(c->meter, &run, 1) < enough)) run.count *= 4;
    return (double)grid * run.count * probe_chunk / meter_seconds(c->meter, &run, 1);
}

/* Latency by Little's law: the fewest bytes in flight with which DRAM reaches nearly its full rate, over that rate. */
static void measure_latency(calibration *c)
{
    static const double shares[] = {0.125, 0.1875, 0.25, 0.375, 0.5, 0.625, 0.75, 1, 1.25, 1.5, 2};
    enum { count = sizeof shares / sizeof *shares };
    double rates[count], best = 0;
    long long grids[count];
    for (int i = 0; i < count; i++) {
        grids[i] = (long long)ceil(shares[i] * c->units);
        rates[i] = read_rate(c, grids[i], c->chunks);
        if (rates[i] > best) best = rates[i];
    }
    int i = 0;
    while (rates[i] < 0.9 * best) i++;
    set(c, number_latency, (double)grids[i] * probe_chunk / rates[i],
        note_of(c, "%.0f KB in flight are enough for 90 %% of %.4g bytes/s read", (double)grids[i] * probe_chunk / 1024, best));
    if (!(c->out.numbers[number_bandwidth].value > 0))
        set(c, number_bandwidth, best, note_of(c, "the most that was read; no data sheet is known")), c->most_bandwidth = true;
}

/* Reads windows from small to all of the meter's memory. L2's size is the last window read faster than halfway between DRAM's rate and the
 * best rate. */
static void measure_cache(calibration *c)
{
    enum { most_windows = 40 };
    int windows[most_windows], count = 0;
    double rates[most_windows], best = 0;
    const long long grid = (long long)read_groups * c->units;
    const double known = c->out.numbers[number_l2].value; /* known size of L2; windows begin at a quarter of it, as smaller ones fit the
                                                           * units' own caches */
    for (int w = known > 0 ? (int)fmax(16, known / 4 / probe_chunk) : 16; w <= c->chunks && count < most_windows - 1; w *= 2) {
        windows[count++] = w;
        if (w >= 128 && w + w / 2 <= c->chunks) windows[count++] = w + w / 2;
    }
    for (int i = 0; i < count; i++) {
        rates[i] = read_rate(c, grid, windows[i]);
        if (rates[i] > best) best = rates[i];
    }
    if (!count) return; /* no window is larger than the units' caches and fits the memory */
    const double memory = rates[count - 1];
    if (best < 1.2 * memory) return; /* no cache visible */
    int last = 0;
    for (int i = 0; i < count; i++)
        if (rates[i] > (best + memory) / 2) last = i;
    set(c, number_l2_bandwidth, best, note_of(c, "reading a window over and over; DRAM read in the same way: %.4g", memory));
    if (!(c->out.numbers[number_l2].value > 0))
        set(c, number_l2, (double)windows[last] * probe_chunk, note_of(c, "the largest window that is read much faster than memory"));
}

/* ---- launches */
static void measure_launches(calibration *c)
{
    probe_run run = {.kind = probe_nothing, .grid = c->units, .chunks = 1};
    const double began = seconds_now();
    (void)meter_seconds(c->meter, &run, 4);
    const int row = seconds_now() - began < 20e-3 ? 128 : 8; /* fewer where waiting for the device takes long */
    set(c, number_launch_cost, meter_seconds(c->meter, &run, row), note_of(c, "empty, %d workgroups, %d in a row", c->units, row));
    if (c->target->overlaps) {
        run.overlap = true;
        set(c, number_overlap_cost, meter_seconds(c->meter, &run, row), note_of(c, "empty, each begins before the one ahead has ended"));
    }
}

/* Seconds that a signal takes one way. Timed by the difference of two runs, of which one has 4 times the round trips, so that the launch
 * cancels; the counts grow until the longer run takes over 3 times as long. */
static double seconds_per_answer(calibration *c, probe_kind kind, long long grid)
{
    enum { most = 1 << 22 };
    probe_run run = {.kind = kind, .grid = grid, .chunks = kind == probe_answers ? 1 : c->chunks, .count = 64, .step = 1, .together = true};
    for (double shorter = meter_seconds(c->meter, &run, 1); run.count < most;) {
        const int few = run.count;
        run.count *= 4;
        const double longer = meter_seconds(c->meter, &run, 1);
        if (longer > 3 * shorter) return meter_each(shorter, few, longer, run.count) / 2;
        shorter = longer;
    }
    return 0;
}

static void measure_hops(calibration *c)
{
    const double idle = seconds_per_answer(c, probe_answers, 2);
    if (idle > 1e-9) set(c, number_hop_cost, idle, "two workgroups that answer each other");
    if (c->units < 3) return; /* no unit is left to read meanwhile */
    const double busy = seconds_per_answer(c, probe_busy_answers, c->units);
    if (busy > 1e-9) set(c, number_busy_hop_cost, busy, note_of(c, "the same while %d workgroups read", c->units - 2));
}

/* ---- clocks */
static double clock_now(calibration *c)
{
    enum { few = 2000, many = 12000 };
    probe_run run = {.kind = probe_cycles, .grid = 1, .chunks = 1, .count = few};
    double cycles, more;
    const double short_time = meter_cycles(c->meter, &run, &cycles);
    run.count = many;
    const double long_time = meter_cycles(c->meter, &run, &more);
    return long_time > short_time && more > cycles ? (more - cycles) / (long_time - short_time) : 0;
}

static bool is_clock(double hertz) { return hertz >= 1e8 && hertz <= 1e11; }

static void measure_clock(calibration *c)
{
    enum { runs = 15 };
    double list[runs];
    if (c->target->vendor == vendor_host) return; /* CPUs count time, not cycles */
    for (int i = 0; i < runs; i++) list[i] = clock_now(c);
    const double hertz = spread_of(list, runs).median;
    if (is_clock(hertz)) set(c, number_clock, hertz, "one thread alone");
}

/* ---- rates */
static void set_rate(device_rates *r, dtype type, double value, const char *note)
{
    r->of[type] = value, r->source = source_measured, r->note = note;
}

static void measure_vector(calibration *c)
{
    probe_run run = {.kind = probe_multiply, .grid = 8ll * c->units, .chunks = 1, .count = 16};
    while (run.count < 1 << 20 && meter_seconds(c->meter, &run, 1) < 1e-3) run.count *= 2;
    const double work = 2.0 * probe_sums * multiply_threads * (double)run.grid * run.count, start = seconds_now();
    double reached = 0, best = 0;
    do {
        reached = work / meter_seconds(c->meter, &run, 1);
        if (reached > best) best = reached;
    } while (seconds_now() - start < c->sustained / 2);
    set_rate(&c->out.rates[rate_vector_reached], dtype_f32, reached, note_of(c, "multiply-adds on %d sums a thread", (int)probe_sums));
    device_rates *most = &c->out.rates[rate_vector];
    if (!(most->of[dtype_f32] > 0)) set_rate(most, dtype_f32, best, "multiply-adds, the most; no data sheet is known");
}

/* ---- kernels of tfgen's own, on random data */
/* Runs body in its own arena, so that its buffers are freed before the next one's are allocated. */
static void run_apart(calibration *c, void (*body)(void *), void *argument, arena *a)
{
    const tfgen_code code = arena_run(a, body, argument);
    const char *said = code == code_ok ? "" : arena_first_error(c->a, a);
    arena_free(a);
    if (code != code_ok) bail(c->a, code, (position){0}, "%s", said);
}

static bench *open_bench(calibration *c, arena *a, const char *spec, bench_options *o)
{
    compile_request r = {.text = spec,
                         .size = strlen(spec),
                         .name = "calibrate.yaml",
                         .target = c->target->name,
                         .level = fusion_tile,
                         .device_label = c->device->info.label};
    compiled done;
    compile_inside(a, &r, &done);
    *o = (bench_options){.device = c->device,
                         .seed = 1,
                         .jobs = (int)c->o->number.jobs,
                         .cache = c->cache,
                         .last_level = device_last_level(c->base)};
    return bench_open(a, done.graph, done.plan, o, NULL);
}

typedef struct product_rate {
    double sustained, best, clock; /* sustained, best: operations per second; clock: Hz right after the run, or 0 */
} product_rate;

static product_rate run_product(calibration *c, bench *b, double work)
{
    double list[bench_most_runs];
    product_rate r = {0};
    const double start = seconds_now();
    int batch = 1;
    do {
        bench_runs(b, batch, list);
        r.sustained = work / spread_of(list, batch).median;
        if (r.sustained > r.best) r.best = r.sustained;
        if (batch < bench_most_runs) batch *= 2;
    } while (seconds_now() - start < c->sustained);
    if (c->target->vendor != vendor_host) r.clock = clock_now(c);
    return r;
}

enum { largest_product = 8192 };

typedef struct product_job {
    calibration *c;
    arena *a;
    dtype type;
    long long size;
    product_rate rate;
    bool is_large; /* long runs */
} product_job;

static void try_product(void *argument)
{
    product_job *j = argument;
    const double enough = j->c->target->vendor == vendor_host ? 5e-3 : 0.7e-3;
    const char *spec = arena_printf(j->a,
                                    "block: calibrate\ndtype: %s\ndims: {N: %lld}\ninputs: {x: [N, N]}\nparams: {w: [N, N]}\nops:\n"
                                    "  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n",
                                    dtype_name(j->type), j->size);
    bench_options o;
    double first[2];
    bench *b = open_bench(j->c, j->a, spec, &o);
    bench_runs(b, 2, first);
    j->is_large = first[1] >= enough || j->size >= largest_product;
    if (j->is_large) j->rate = run_product(j->c, b, 2.0 * (double)j->size * (double)j->size * (double)j->size);
}

static product_job measure_product(calibration *c, dtype type)
{
    product_job j = {.c = c, .type = type, .size = c->target->vendor == vendor_host ? 128 : 256};
    do {
        j.size = j.size * 4 < largest_product ? j.size * 4 : largest_product, j.a = arena_new();
        run_apart(c, try_product, &j, j.a);
    } while (!j.is_large);
    return j;
}

static void measure_products(calibration *c)
{
    static const dtype types[] = {dtype_f32, dtype_f16, dtype_bf16};
    device_rates *reached = &c->out.rates[rate_products_reached], *most = &c->out.rates[rate_products];
    const bool from_sheet = most->source != source_none;
    double clock = 0;
    long long size = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const product_job j = measure_product(c, types[i]);
        const product_rate r = j.rate;
        size = j.size;
        set_rate(reached, types[i], r.sustained,
                 note_of(c, "a product of %lld^3 of random numbers, after %.1f s of it", size, c->sustained));
        if (!from_sheet) set_rate(most, types[i], r.best, "the fastest runs of such a product; no data sheet is known");
        if (types[i] != dtype_f32 && (!clock || r.clock < clock)) clock = r.clock;
        told(c, dtype_name(types[i]));
    }
    if (is_clock(clock)) set(c, number_clock_loaded, clock, note_of(c, "right after a product of %lld^3 of 16 bits", size));
}

typedef struct copy_job {
    calibration *c;
    arena *a;
    long long rows; /* 8 KB each */
    double rate;
} copy_job;

static void run_copy(void *argument)
{
    copy_job *j = argument;
    const char *spec = arena_printf(j->a,
                                    "block: calibrate\ndtype: bf16\ndims: {M: %lld, N: 4096}\ninputs: {x: [M, N]}\nops:\n"
                                    "  - {out: y, op: neg, in: [x]}\noutputs: {y: y}\n",
                                    j->rows);
    bench_options o;
    double list[bench_most_runs];
    bench *b = open_bench(j->c, j->a, spec, &o);
    bench_runs(b, 4, list);
    bench_runs(b, 16, list);
    j->rate = 2.0 * (double)j->rows * 8192 / spread_of(list, 16).median;
}

/* Measures a copy that takes much longer than its launch. */
static void measure_copy(calibration *c)
{
    const double room = (double)c->device->info.memory_bytes / 32;
    copy_job j = {c, NULL, 256, 0};
    do {
        j.rows *= 8, j.a = arena_new();
        run_apart(c, run_copy, &j, j.a);
    } while (16384.0 * (double)j.rows / j.rate < 0.2e-3 && 8 * 8192.0 * (double)j.rows < room);
    set(c, number_bandwidth_reached, j.rate, note_of(c, "a kernel that reads and writes %.4g MB each", (double)j.rows * 8192e-6));
    if (c->most_bandwidth && c->out.numbers[number_bandwidth].value < j.rate)
        set(c, number_bandwidth, j.rate, "the most that was copied; no data sheet is known");
}

/* ---- what the file begins with */
static const char *name_of(calibration *c, const char *label)
{
    enum { most = 31 };
    char name[most + 1] = "";
    int size = 0;
    for (const char *s = label; *s && size < most; s++) {
        const bool good = isalnum((unsigned char)*s);
        if (good)
            name[size++] = (char)tolower((unsigned char)*s);
        else if (size && name[size - 1] != '-')
            name[size++] = '-';
    }
    while (size && name[size - 1] == '-') size--;
    name[size] = 0;
    return size ? arena_strdup(c->a, name) : "device";
}

static bool is_base(const calibration *c, const char *label)
{
    return c->target->vendor == vendor_host || (c->base->match && strstr(label, c->base->match));
}

static void set_units(calibration *c)
{
    c->out.units = c->units, c->out.counts[fact_units] = (device_fact){c->units, source_measured, "its driver says so"};
    c->out.chiplets = 1, c->out.counts[fact_chiplets] = (device_fact){1, source_chosen, "it was not measured"};
}

/* Bytes to read: 64 times the caches, so that hits do not matter. */
static double room_of(const calibration *c, double memory)
{
    const double cache = device_last_level(c->base), least = 64e6, unknown = 16e9;
    const double wanted = c->target->vendor == vendor_host ? least : c->known && cache > 0 ? 64 * cache : unknown;
    const double room = memory > 0 ? memory / 8 : least;
    return wanted < least ? fmin(least, room) : fmin(wanted, room);
}

static void begin(calibration *c)
{
    const tfgen_device_info *d = &c->device->info;
    const char *label = text_harmless(c->a, d->label);
    c->target = target_find(d->target);
    c->base = device_model_of(c->a, c->target, label);
    c->known = is_base(c, label), c->units = d->multiprocessors > 0 ? d->multiprocessors : 1;
    if (c->known)
        c->out = *c->base;
    else
        c->out = (device_model){.name = name_of(c, label), .label = label, .match = label, .target = c->target}, set_units(c);
    if (c->target->vendor != vendor_host) set(c, number_memory, (double)d->memory_bytes, "its driver says so");
    c->chunks = (int)(room_of(c, (double)d->memory_bytes) / probe_chunk);
    if (c->chunks < 64) c->chunks = 64;
}

static void calibrate(void *argument)
{
    calibration *c = argument;
    const char *out = c->o->output ? c->o->output : "-";
    cli_check_output(c->a, out); /* before minutes of measurements */
    c->device = cli_open_device(c->a, c->o->device);
    c->cache = cli_cache(c->a, c->o);
    c->sustained = c->o->real.seconds;
    begin(c);
    c->bar = progress_start("measuring", 11);
    c->meter = meter_open(c->a, c->device, c->target, (long long)c->chunks * probe_chunk, c->cache, (int)c->o->number.jobs);
    told(c, "code");
    measure_clock(c), told(c, "clock");
    measure_launches(c), told(c, "launches");
    measure_hops(c), told(c, "answers");
    measure_latency(c), told(c, "memory");
    measure_cache(c), told(c, "caches");
    measure_copy(c), told(c, "copies");
    measure_vector(c), told(c, "arithmetic");
    measure_products(c);
    progress_end(&c->bar);
    const char *text =
        arena_printf(c->a, "# Written by tfgen calibrate on %s.\n%s", c->device->info.name, device_model_print(c->a, &c->out));
    cli_write_file(c->a, out, text, strlen(text));
}

int command_calibrate_main(const cli_options *o)
{
    calibration c = {.a = arena_new(), .o = o};
    return cli_run(calibrate, &c, c.a);
}
