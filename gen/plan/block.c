/* Contract: gen/plan/block.h. program_obstacle() rejects programs that cannot share a launch with others. */
#include "gen/plan/block.h"
#include "gen/plan/overrides.h"
#include "gen/program/products.h"
#include <math.h>
#include <string.h>

bool block_is_whole(const ir_graph *p) { return p->level == fusion_block; }

static int phase_total(const ir_graph *p)
{
    int count = 0;
    for (int k = 0; k < p->kernel_count; k++) count += p->kernels[k]->phase_count;
    return count;
}

void block_spread(arena *a, ir_graph *p)
{
    const int total = phase_total(p);
    ir_kernel **kernels = arena_alloc(a, ((size_t)total + 1) * sizeof *kernels);
    int n = 0;
    for (int k = 0; k < p->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++, n++) {
            kernels[n] = arena_alloc(a, sizeof *kernels[n]);
            *kernels[n] = (ir_kernel){.name = arena_printf(a, "k%d", n), .phases = &p->kernels[k]->phases[i], .phase_count = 1};
        }
    p->kernels = kernels, p->kernel_count = n;
}

void block_gather(arena *a, ir_graph *p)
{
    const int total = phase_total(p);
    if (!total) return;
    ir_kernel *all = arena_alloc(a, sizeof *all);
    *all = (ir_kernel){.name = "k0"};
    all->phases = arena_alloc(a, (size_t)total * sizeof *all->phases);
    for (int k = 0; k < p->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++) all->phases[all->phase_count++] = p->kernels[k]->phases[i];
    p->kernels[0] = all, p->kernel_count = 1;
    if (total > most_block_phases)
        bail(a, code_unsupported, (position){0},
             "level block: the block has %d phases; a launch counts at most %d; level tile has no such limit", total, most_block_phases);
}

/* ---- threads */
/* The threads that the plan's text gives, else those in the user's first override that sets them; 0: neither does. Other settings that
 * disagree are rejected later, when tiles are checked. */
static int requested_threads(const ir_graph *p, const preferences *w)
{
    for (int k = 0; k < p->kernel_count; k++) {
        const ir_tile *tile = &(*p->kernels[k]->phases)->tile;
        if (tile->program && tile->given & 1u << program_table[tile->program].threads) return tile_threads(tile);
    }
    for (int i = 0; i < w->overrides->count; i++)
        for (int s = 0; s < w->overrides->list[i].count; s++)
            if (strcmp(w->overrides->list[i].settings[s].key, "threads") == 0) return w->overrides->list[i].settings[s].value;
    return 0;
}

/* Sum of the predicted seconds of all phases with `threads` threads per workgroup; INFINITY: no program has that many threads for phase
 * *without. */
static double seconds_with(arena *a, ir_graph *p, const device_model *device, const preferences *w, int threads, const ir_phase **without)
{
    double sum = 0;
    p->threads = threads;
    for (int k = 0; k < p->kernel_count && !isinf(sum); k++) {
        const ir_phase *phase = *p->kernels[k]->phases;
        const problem of = problem_of(a, p, phase, device);
        sum += choice_seconds(&of, w);
        if (isinf(sum)) *without = phase;
    }
    return sum;
}

/* How often the launch's code spilled registers with this number of threads. After the first time its tiles get smaller. A phase that has
 * no smaller tile spills again; with fewer threads, each gets more registers. */
static int times_spilled_with(const preferences *w, int threads)
{
    int times = 0;
    for (size_t i = 0; w->tuning && i < w->tuning->forbidden_count; i++) {
        const forbidden_tile *f = &w->tuning->forbidden[i];
        times += tile_threads(&f->tile.tile) == threads && strcmp(f->phase, w->tuning->forbidden[0].phase) == 0;
    }
    return times;
}

static bool loads_through_ring(const problem *p, const preferences *w)
{
    const program_kind kind = choice_kind(p, w);
    return kind && program_at(kind)->streams;
}

/* Sets and returns p->streams: whether all products of the launch load their weights through a ring, with this many threads. On an H200 the
 * ring was faster than register_fed for 1 to 4 rows and slower for 8. In a single block of three or four rows it was slower if a product's
 * K was above 10000; with one or two rows it is faster for the largest K that were timed. It was also slower if the caches had more than
 * 48 MB, since attention beside a ring has 256 threads, not 512 (docs/one-launch.md). It is not used with heads wider than widest_head, for
 * which attention beside a ring has too few registers. */
static bool set_stream(arena *a, ir_graph *p, const device_model *device, const preferences *w, int threads)
{
    enum { most_rows = 4, widest_head = 128, most_cache = 48000000 /* bytes */ };
    static const int most_length[most_rows + 1] = {0, 28672, 14336, 10000, 10000}; /* of a product, by rows */
    bool all = times_spilled_with(w, threads) <= (p->stacked ? 1 : 0); /* a single block then has no ring */
    p->streams = all, p->threads = threads;
    for (int k = 0; k < p->kernel_count && all; k++) {
        const problem of = problem_of(a, p, *p->kernels[k]->phases, device);
        all = !times_are_guesses(&of);
        if (of.product) all &= problem_rows(&of) <= most_rows && loads_through_ring(&of, w);
        if (of.product && !p->stacked && all) all = product_length(&of) <= most_length[problem_rows(&of)];
        if (of.attention) all &= problem_longest_head(&of) <= widest_head;
        if (of.attention && !p->stacked) all &= of.work->read <= most_cache;
    }
    return p->streams = all;
}

/* The threads beside a warp that loads for programs on wgmma: two warpgroups that multiply. */
enum { fed_threads = 256 };

/* Whether a launch of the block may have such a warp. */
static bool may_feed(const ir_graph *p, const device_model *device)
{
    return target_has(device->target, layer_wgmma) && !p->stacked && phase_total(p) > 1;
}

/* Whether programs that the plan's text or the user names need such a warp (asks), or cannot run beside it (forbids). In a launch that
 * cannot have the warp nothing asks for it, so that the choice of programs says why a program on wgmma cannot run. */
typedef struct loader_wish {
    bool asks, forbids;
} loader_wish;

static void add_wish(loader_wish *w, program_kind kind)
{
    if (program_at(kind)->alone) return;
    w->asks |= frame_table[program_table[kind].frame].list == list_with_loader;
    w->forbids |= frame_table[program_table[kind].frame].list == list_without_loader;
}

static loader_wish wish_of(const ir_graph *p, const device_model *device, const preferences *w)
{
    loader_wish wish = {false, false};
    bool text = false;
    if (!may_feed(p, device)) return (loader_wish){.forbids = true};
    for (int k = 0; k < p->kernel_count; k++) {
        const ir_phase *phase = *p->kernels[k]->phases;
        if (phase->tile.program) add_wish(&wish, phase->tile.program), text = true;
        for (int i = 0; i < w->overrides->count; i++) {
            const tile_override *line = &w->overrides->list[i];
            const program_kind kind = line->layer >= 0 && override_is_for(line, phase) ? program_find(phase->family, line->layer) : 0;
            if (kind) add_wish(&wish, kind);
        }
    }
    wish.forbids = !wish.asks && (wish.forbids || text); /* text: that of a plan without a loading warp */
    return wish;
}

/* True if all products have few rows. Predictions then favour few threads too much, hence the margin in block_set_threads(). Examples of
 * decode on an H200, with 256 and with 512 threads: Llama-8B, predicted to take the same time, took 124 and 119 us; a block of D=2048,
 * F=5468, also predicted to take the same time, 48 and 45 us; a block of D=2304, F=6920 with 9 rows, predicted to take 55 and 60 us, took
 * 77 and 56 us. */
static bool has_few_rows(arena *a, const ir_graph *p, const device_model *device)
{
    enum { most_rows = 32 };
    long long rows = 0;
    for (int k = 0; k < p->kernel_count; k++) {
        const problem of = problem_of(a, p, *p->kernels[k]->phases, device);
        if (of.product && problem_rows(&of) > rows) rows = problem_rows(&of);
    }
    return rows && rows <= most_rows;
}

void block_set_threads(arena *a, ir_graph *p, const device_model *device, const preferences *w)
{
    enum { size_count = 3, ring_threads = 256 };
    static const int gpu_sizes[size_count] = {512, 256, 128}; /* at 1024 a thread has 64 registers, too few for some phases */
    static const int host_sizes[size_count] = {1, 8, 64};
    const int *sizes = device->target->serial ? host_sizes : gpu_sizes, requested = requested_threads(p, w);
    const loader_wish wish = wish_of(p, device, w);
    const bool rings = !requested && !wish.asks && set_stream(a, p, device, w, ring_threads);
    int best = rings ? ring_threads : 0;
    bool feeds = false;
    /* a smaller number of threads is chosen only if predicted to take less than this share of the time */
    const double margin = !device->target->overlaps ? 1 : has_few_rows(a, p, device) ? 0.85 : 0.95;
    double least = INFINITY;
    const ir_phase *without = NULL;
    for (int again = 0; again < 2 && !best; again++)
        for (int i = 0; i < 2 * size_count; i++) {
            const int size = sizes[i / 2];
            p->feeds = i % 2;
            if ((requested && size != requested) || (p->feeds ? wish.forbids || size != fed_threads : wish.asks)) continue;
            if (!again && !requested && times_spilled_with(w, size) > 1) continue;
            const double seconds = seconds_with(a, p, device, w, size, &without);
            if (seconds < (best ? margin : 1) * least) best = size, feeds = p->feeds, least = seconds;
        }
    p->feeds = feeds;
    if (requested) best = requested;
    if (!best && p->kernel_count)
        bail(a, code_unsupported, without->ops[0]->at,
             "phase %s: no program computes it in one launch with the other phases (level block); level tile can", without->name);
    p->threads = best;
}
