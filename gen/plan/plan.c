/* Makes the plan of a fused graph for a device model: tiles in a copy of the graph, launches, packed weights, workspace. Refuses
 * (code_unsupported) kernels whose phases wait for each other (below level block), sizes that a kernel's ints cannot count, and illegal
 * tiles. */
#include "gen/plan/align.h"
#include "gen/plan/block.h"
#include "gen/plan/choice.h"
#include "gen/plan/order.h"
#include "gen/plan/refuse.h"
#include "gen/plan/split.h"
#include "gen/plan/stack.h"
#include "gen/plan/sums.h"
#include "gen/plan/terms.h"
#include "gen/plan/tile.h"
#include "gen/plan/words.h"
#include "gen/base/names.h"
#include "ir/base/names.h"
#include "gen/plan/overrides.h"
#include "gen/program/decode_whole.h"
#include "gen/program/gemm_ring.h"
#include <string.h>

typedef struct planner {
    arena *a;
    plan *p;
    ir_graph *ir; /* a copy of the fused graph, which planning changes */
    const tuning *tuning;
    overrides *overrides;
    const char *const *names; /* of the launches, by kernel */
} planner;

/* ---- the copy of the graph */
static ir_op *copied_op(const ir_graph *to, const ir_op *op) { return to->values[op->outputs[0]->id]->def; }

static ir_kernel *copy_kernel(arena *a, const ir_graph *ir, const ir_kernel *from)
{
    ir_kernel *to = arena_alloc(a, sizeof *to);
    *to = *from;
    to->phases = arena_alloc(a, (size_t)from->phase_count * sizeof *to->phases);
    for (int i = 0; i < from->phase_count; i++) {
        ir_phase *phase = arena_alloc(a, sizeof *phase);
        *phase = *from->phases[i];
        phase->ops = arena_alloc(a, (size_t)(phase->op_count + 1) * sizeof *phase->ops);
        for (int n = 0; n < phase->op_count; n++) phase->ops[n] = copied_op(ir, from->phases[i]->ops[n]);
        to->phases[i] = phase;
    }
    return to;
}

static void copy_notes(arena *a, const ir_graph *from, ir_graph *to)
{
    to->notes = arena_alloc(a, (size_t)(from->note_count + 1) * sizeof *to->notes);
    to->note_count = from->note_count;
    for (int i = 0; i < from->note_count; i++) {
        const fusion_note *n = &from->notes[i];
        to->notes[i] = (fusion_note){n->code, to->values[n->value->id], copied_op(to, n->user)};
    }
}

static builder copy_graph(arena *a, const ir_graph *from)
{
    builder b = build_copy(a, from, true);
    ir_graph *to = b.p;
    to->kernel_count = from->kernel_count;
    to->kernels = arena_alloc(a, (size_t)(from->kernel_count + 1) * sizeof *to->kernels);
    for (int k = 0; k < from->kernel_count; k++) to->kernels[k] = copy_kernel(a, to, from->kernels[k]);
    ir_phase *const *maker = graph_index_make(a, to)->maker;
    for (int k = 0; k < from->kernel_count; k++)
        for (int i = 0; i < from->kernels[k]->phase_count; i++) {
            ir_phase *phase = to->kernels[k]->phases[i], *const *after = phase->after;
            phase->after = arena_alloc(a, (size_t)(phase->after_count + 1) * sizeof *phase->after);
            for (int n = 0; n < phase->after_count; n++) phase->after[n] = maker[after[n]->ops[0]->outputs[0]->id];
        }
    copy_notes(a, from, to);
    return b;
}

/* ---- limits of 32-bit indices */
enum { most_index = 0x7fffffff - 0xffff /* room for a last tile that reaches beyond the end */ };

static void check_count(const planner *p, const ir_value *v, long long n, const char *what)
{
    if (n > most_index) bail(p->a, code_unsupported, v->at, "%%%s: up to %lld %s; kernels count up to %d", v->name, n, what, most_index);
}

/* A cache may have more rows: they are addressed by sequence, head and position, never by one row index. */
static void check_sizes(const planner *p)
{
    for (int i = 0; i < p->ir->value_count; i++) {
        const ir_value *v = p->ir->values[i];
        const extent rows = value_rows(p->a, v);
        if (!value_is_cache(v)) check_count(p, v, extent_high(&rows, &p->ir->dims), "rows");
        check_count(p, v, value_columns(v), "columns");
    }
}

/* ---- names of kernels */
typedef struct kernel_namer {
    arena *a;
    const char *block;
    name_map names, numbers;
} kernel_namer;

/* The name of a kernel, made from those of block and phase, and unique among kernels and pack kernels. It is cut to 51 characters, so that
 * with a number and _pack it has at most 60. */
static const char *kernel_name(kernel_namer *n, const char *phase)
{
    enum { most = 51 };
    const char *wanted = arena_printf(n->a, "%s_%s", n->block, name_stem(n->a, phase)), *name = NULL;
    wanted = name_stem(n->a, arena_printf(n->a, "%.*s", most, wanted));
    int *last = names_find(&n->numbers, wanted); /* the last number given to this stem */
    if (!last) names_add(&n->numbers, wanted, last = arena_alloc(n->a, sizeof *last));
    for (;;) {
        name = ++*last == 1 ? wanted : arena_printf(n->a, "%s_%d", wanted, *last);
        const char *pack = arena_printf(n->a, "%s_pack", name);
        if (names_find(&n->names, name) || names_find(&n->names, pack)) continue;
        names_add(&n->names, name, n), names_add(&n->names, pack, n);
        return name;
    }
}

static const char *const *kernel_names(arena *a, const ir_graph *p)
{
    kernel_namer n = {a, name_stem(a, p->name ? p->name : "block"), {.a = a}, {.a = a}};
    const char **names = arena_alloc(a, ((size_t)p->kernel_count + 1) * sizeof *names);
    for (int k = 0; k < p->kernel_count; k++) {
        const ir_kernel *kernel = p->kernels[k];
        names[k] = !kernel->phase_count ? "" : block_is_whole(p) ? kernel_name(&n, "block") : kernel_name(&n, (*kernel->phases)->name);
    }
    return names;
}

/* ---- packed weights */
static bool needs_packing(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i]->kind == op_linear) return phase->family == family_gemm;
    return false;
}

/* The name for the phase's pack kernel and scratch: that of its launch, followed by the phase's number and name if the launch has several
 * phases. */
static const char *stem_of(const planner *p, const launch *l, const ir_phase *phase)
{
    if (l->kernel->phase_count == 1) return l->name;
    return arena_printf(p->a, "%.32s_%d_%.16s", l->name, l->work_count, name_stem(p->a, phase->name));
}

static int plan_pack(planner *p, const ir_kernel *kernel, const ir_phase *phase, long long packed_n, const char *name)
{
    if (!needs_packing(phase)) return -1;
    const ir_op *product = phase_first(phase, class_PRODUCT);
    check_count(p, product->outputs[0], packed_n, "packed columns");
    p->p->packs[p->p->pack_count] = (packed_weight){.name = arena_printf(p->a, "%s_pack", name),
                                                      .kernel = kernel,
                                                      .phase = phase,
                                                      .format = weights_format(program_of(phase)->weights, product),
                                                      .columns = packed_n,
                                                      .length = weights_length(program_of(phase)->weights, product),
                                                      .K = product_depth(product),
                                                      .threads = p->p->target->serial ? 1 : 256};
    return p->p->pack_count++;
}

/* ---- workspace */
static int partials_of(const planner *p, const problem *of, const ir_value *v)
{
    if (v->def->kind != op_attention_partial && !value_is_partial(p->ir, v)) return 1;
    return program_of(of->phase)->partials(of, &of->phase->tile);
}

static void store_value(planner *p, const ir_value *v, int partials)
{
    const ir_value *root = value_root(v);
    if (root->kind != value_result || root->output) return;
    if (p->p->partials[root->id]) return;
    p->p->partials[root->id] = partials;
    p->p->stored[p->p->stored_count++] = (storage){root, partials};
}

static void plan_storage(planner *p, const problem *of)
{
    const ir_phase *phase = of->phase;
    for (int i = 0; i < phase->op_count; i++)
        for (int k = 0; k < phase->ops[i]->output_count; k++) {
            const ir_value *v = phase->ops[i]->outputs[k];
            if (!op_is_view(phase->ops[i]) && value_stored(p->ir, phase, v)) store_value(p, v, partials_of(p, of, v));
        }
}

/* Adds the scratch for partial results that the phase's workgroups exchange, if they do; returns its index, or -1. */
static int plan_scratch(planner *p, const char *name, const problem *of)
{
    const program *by = program_of(of->phase);
    const extent floats = by->scratch ? by->scratch(of, &of->phase->tile) : extent_number(0);
    long long none;
    if (extent_is_number(&floats, &none) && none == 0) return -1;
    p->p->scratches[p->p->scratch_count] =
        (scratch){.name = arena_printf(p->a, "%s.parts", name), .floats = floats};
    return p->p->scratch_count++;
}

/* Adds the scratch for the launch's timing records; returns its index, or -1 if no trace was requested. */
static int plan_trace(planner *p, const launch *l)
{
    if (!p->tuning || !p->tuning->trace) return -1;
    const char *name = arena_printf(p->a, "%s.trace", l->kernel->name);
    p->p->scratches[p->p->scratch_count] = (scratch){.name = name, .trace = l};
    return p->p->scratch_count++;
}

/* Adds the scratch with the launch's marks (scratch_of_marks); returns its index, or -1 if no phase waits for another. */
static int plan_marks(planner *p, const launch *l)
{
    if (!l->together) return -1;
    /* a mark for each phase, one for the end, and the census (templates/frame/marks.h), in words of two floats */
    const long long marks = mark_head + (long long)mark_pitch * (l->work_count + 2);
    p->p->scratches[p->p->scratch_count] =
        (scratch){.name = arena_printf(p->a, "%s.marks", l->kernel->name), .floats = extent_number(2 * marks), .kind = scratch_of_marks};
    return p->p->scratch_count++;
}

/* ---- launches */
/* Sets l->grid_limit if there are more tiles than a launch can have workgroups, which then compute several tiles each. Tile indices are
 * ints, and so is the index of a workgroup's next tile, which may lie a whole grid beyond the last tile. */
static void limit_grid(const planner *p, launch *l)
{
    enum { most_tiles = 0x7fffffff - (1 << 20) };
    const position at = l->work->phase->ops[0]->at;
    bool one_tile = false;
    for (int i = 0; i < l->work_count; i++) one_tile |= l->work[i].program->one_tile;
    const target_info *target = p->p->target;
    dim_table high = p->ir->dims;
    for (int i = 0; i < high.count; i++)
        if (high.dims[i].dynamic) high.dims[i].value = high.dims[i].high;
    const long long tiles = launch_tiles(l, &high), by_items = target->items / l->threads;
    if (tiles > most_tiles)
        bail(p->a, code_unsupported, at, "kernel %s: up to %lld tiles; a launch has at most %d", l->name, tiles, most_tiles);
    long long most = by_items < target->grid ? by_items : target->grid;
    if (one_tile && tiles > most)
        bail(p->a, code_unsupported, at, "kernel %s: up to %lld workgroups of %d threads; a launch on %s has at most %lld", l->name, tiles,
             l->threads, target->name, most);
    if (!one_tile && most > 0x7fffffff - tiles) most = 0x7fffffff - tiles;
    if (l->together && most > most_marked) most = most_marked;
    if (tiles > most) l->grid_limit = (int)(most / l->cluster * l->cluster);
}

/* ---- tiles */
static void forbid_tiles(const planner *p, ir_phase *phase)
{
    const spilled_tile *before = phase->spilled;
    const size_t most = p->tuning ? p->tuning->forbidden_count : 0;
    if (!most) return;
    phase->spilled = arena_alloc(p->a, ((size_t)phase->spilled_count + most + 1) * sizeof *phase->spilled);
    for (int i = 0; i < phase->spilled_count; i++) phase->spilled[i] = before[i];
    for (size_t i = 0; i < most; i++)
        if (strcmp(p->tuning->forbidden[i].phase, phase->name) == 0) phase->spilled[phase->spilled_count++] = p->tuning->forbidden[i].tile;
}

/* Fills the phase's tile and returns its program. If all tiles of the chosen program have spilled, tries the other programs that need no
 * rewrite. If all of these have spilled too, takes the chosen program even though it spills. */
static const program *choose_tile(const planner *p, const problem *of, const choice *c, ir_phase *phase)
{
    const preferences w = {p->overrides, p->tuning};
    const program *by = c->of;
    const char *rule;
    bool tried[program_count] = {false}, fallback = false;
    if (!of->segments)
        bail(p->a, code_unsupported, of->product->at, "phase %s: no packing order of its columns fits the epilogue", phase->name);
    forbid_tiles(p, phase);
    while (!tile_choose(of, &w, by, fallback ? NULL : c->tuned, fallback, phase, &rule)) {
        if (rule && !fallback) tile_refuse(of, &w, phase, rule);
        tried[by->kind] = true;
        by = choice_next(of, tried);
        fallback = by != NULL;
        if (!by) by = c->of, phase->spilled_count = 0;
    }
    return by;
}

static bool all_rows(const ir_kernel *kernel)
{
    for (int i = 0; i < kernel->phase_count; i++)
        if (kernel->phases[i]->family != family_rows) return false;
    return true;
}

static bool waits_within(const ir_kernel *kernel, const ir_phase *phase)
{
    for (int i = 0; i < phase->after_count; i++)
        for (int k = 0; k < kernel->phase_count; k++)
            if (phase->after[i] == kernel->phases[k]) return true;
    return false;
}

static bool gives_threads(const ir_phase *phase)
{
    return phase->tile.program && phase->tile.given & 1u << program_table[phase->tile.program].threads;
}

/* Refuses IR text that gives two phases of a launch different numbers of threads. */
static void check_threads(const planner *p, const ir_kernel *kernel)
{
    const ir_phase *first = NULL;
    for (int i = 0; i < kernel->phase_count; i++) {
        const ir_phase *phase = kernel->phases[i];
        if (!gives_threads(phase)) continue;
        if (!first) first = phase;
        const int threads = tile_threads(&phase->tile), others = tile_threads(&first->tile);
        if (threads == others) continue;
        arena_source_unmarked(p->a);
        bail(p->a, code_unsupported, phase->tile_at, "tile: phase %s has threads=%d, but %s in the same kernel has threads=%d",
             phase->name, threads, first->name, others);
    }
}

/* Refuses launches of several phases, below level block, unless all are rows phases and none waits for another. */
static void check_phases(const planner *p)
{
    for (int k = 0; k < p->ir->kernel_count; k++) {
        const ir_kernel *kernel = p->ir->kernels[k];
        bool waits = false;
        for (int i = 0; i < kernel->phase_count; i++) waits |= waits_within(kernel, kernel->phases[i]);
        if (kernel->phase_count != 1 && (waits || !all_rows(kernel)) && !block_is_whole(p->ir))
            bail(p->a, code_unsupported, (position){0},
                 "kernel %s has %d phases; below level block they share a launch only where all are rows phases and none waits for another",
                 kernel->name, kernel->phase_count);
        if (kernel->phase_count > 1) check_threads(p, kernel);
    }
}

/* Chooses the program and rewrites of every phase. No phase has been rewritten yet. */
static void choose_programs(planner *p)
{
    p->ir->index = graph_index_make(p->a, p->ir);
    for (int k = 0; k < p->ir->kernel_count; k++)
        for (int i = 0; i < p->ir->kernels[k]->phase_count; i++) {
            ir_phase *phase = p->ir->kernels[k]->phases[i];
            const problem of = problem_of(p->a, p->ir, phase, p->p->device);
            phase->choice = choice_make(&of, &(preferences){p->overrides, p->tuning});
        }
    p->ir->index = NULL;
}

static void rewrite_phases(builder *b)
{
    editor e = edit_begin(b);
    split_keys(&e);
    take_sums(&e);
    split_into_terms(&e);
    align_operands(&e);
    if (edit_finish(&e)) ir_check(b->a, b->p, "rewrites");
}

/* Gives the launch the threads and shared memory that the phase needs, if it has less: all workgroups of a launch have the same. */
static void fit_launch(const planner *p, launch *l, const launch_phase *w, const problem *of)
{
    const tile_extents *x = &w->extents;
    const int threads = tile_threads(w->tile), shared = (int)w->program->shared_bytes(of, w->tile);
    if (threads > l->threads) l->threads = threads;
    if (shared > l->shared_bytes) l->shared_bytes = shared;
    if (x->cluster > l->cluster) l->cluster = x->cluster;
    if (x->resident && (!l->resident || x->resident < l->resident)) l->resident = x->resident;
    if (frame_asks(l->together ? frame_list : program_table[w->program->kind].frame, p->p->target)) l->dynamic_bytes = l->shared_bytes;
}

static void plan_phase(planner *p, launch *l, ir_phase *phase)
{
    const preferences w = {p->overrides, p->tuning};
    const bool unchanged = phase->choice && choice_still_holds(phase->choice, phase);
    const problem of = unchanged ? phase->choice->original : problem_of(p->a, p->ir, phase, p->p->device);
    choice *c = phase->choice ? phase->choice : choice_make(&of, &w); /* a phase that a rewrite added has none yet */
    launch_phase *work = &l->work[l->work_count++];
    choice_revise(c, &of, &w, phase);
    *work = (launch_phase){.phase = phase, .program = choose_tile(p, &of, c, phase), .tile = &phase->tile};
    phase->choice = NULL;
    work->pack = plan_pack(p, l->kernel, phase, of.packed_n, stem_of(p, l, phase));
    plan_storage(p, &of);
    work->scratch = plan_scratch(p, l->kernel->phase_count == 1 ? l->kernel->name : stem_of(p, l, phase), &of);
    work->extents = program_extents(&of, &phase->tile);
    fit_launch(p, l, work, &of);
}

/* All phases of a launch get as many threads as the phase with the most; the others then compute more rows per workgroup. Their teams are
 * halved until they divide these threads, which a user or wisdom may have given the phase with the most. */
static void share_threads(const planner *p, launch *l)
{
    for (int i = 0; i < l->work_count; i++) {
        launch_phase *work = &l->work[i];
        ir_phase *phase = l->kernel->phases[i];
        if (phase->tile.rows.threads == l->threads) continue;
        if (phase->from == tile_of_user)
            bail(p->a, code_usage, (position){0},
                 "phase %s: threads=%d, but a phase beside it in launch %s has %d; give both the same, or use --no-fuse=side_by_side",
                 phase->name, phase->tile.rows.threads, l->name, l->threads);
        const problem of = problem_of(p->a, p->ir, phase, p->p->device);
        phase->tile.rows.threads = l->threads;
        while (phase->tile.rows.team > 1 && tile_illegal(&of, &phase->tile)) phase->tile.rows.team /= 2;
        work->extents = program_extents(&of, &phase->tile);
        fit_launch(p, l, work, &of);
    }
}

/* Shared memory for the schedule of an attention that looks ahead (templates/frame/frame_list.h). */
static void plan_schedule(const planner *p, launch *l)
{
    if (!l->words) return;
    l->schedule_at = l->shared_bytes;
    for (int i = 0; i < l->work_count; i++) {
        const ir_op *op = phase_first(l->work[i].phase, class_ATTENTION);
        const int bytes = op ? (int)decode_schedule_bytes(op, p->p->target) : 0;
        if (bytes > l->schedule_bytes) l->schedule_bytes = bytes;
    }
    l->dynamic_bytes = l->shared_bytes += l->schedule_bytes;
}

/* If programs of the launch load weights through a ring, gives the ring the shared memory that the phases leave, and adds the warp that
 * fills it. */
static void plan_ring(const planner *p, launch *l)
{
    for (int i = 0; i < l->work_count; i++) {
        const int pages = ring_pages_in_flight(l->work[i].tile);
        if (pages > l->pages_in_flight) l->pages_in_flight = pages;
    }
    if (!l->pages_in_flight) return;
    l->ring_pages = ring_pages((int)(p->p->target->lds_bytes - l->shared_bytes));
    if (!l->ring_pages)
        bail(p->a, code_unsupported, (position){0}, "kernel %s: its phases leave no shared memory for a ring of weights (layer ring)",
             l->name);
    if (l->pages_in_flight > l->ring_pages) l->pages_in_flight = l->ring_pages;
    l->shared_bytes += ring_bytes(l->ring_pages);
    l->dynamic_bytes = l->shared_bytes;
    l->threads += p->p->target->wave;
}

/* If programs of the launch need a warp that loads (templates/frame/frame_fed.h), adds its warpgroup, and shared memory for what it shares
 * with the others. */
static void plan_loader(launch *l)
{
    int fed = 0;
    for (int i = 0; i < l->work_count; i++) fed += frame_table[program_table[l->work[i].program->kind].frame].list == list_with_loader;
    if (!fed || !l->together) return;
    l->feeds = true;
    l->dynamic_bytes = l->shared_bytes += fed_bytes(l->work_count, fed);
    l->threads += fed_loaders;
}

/* Decides which phases wait for which, and proves that this suffices. Workgroups that wait for each other must all be resident: one per
 * multiprocessor. */
static void plan_order(const planner *p, launch *l)
{
    if (!p->tuning || !p->tuning->without_words) words_find(p->a, p->p, l);
    if (!l->words) order_set(p->a, p->ir, l);
    const char *fault = l->words ? words_fault(p->a, p->p, l) : order_fault(p->a, p->ir, l);
    if (fault) bail(p->a, code_check_failed, (position){0}, "internal: launch %s: %s", l->name, fault);
    l->resident = 1;
}

static void plan_kernel(planner *p, int index)
{
    const ir_kernel *kernel = p->ir->kernels[index];
    const char *name = p->names[index];
    launch *l = &p->p->launches[p->p->launch_count++];
    const bool together = block_is_whole(p->ir) && kernel->phase_count > 1;
    *l = (launch){.kernel = kernel,
                  .work = arena_alloc(p->a, (size_t)kernel->phase_count * sizeof *l->work),
                  .name = name,
                  .file = arena_printf(p->a, "%s.hip", name),
                  .overlap = p->p->target->overlaps && !p->p->stack.in,
                  .together = together,
                  .cluster = 1};
    for (int i = 0; i < kernel->phase_count; i++) plan_phase(p, l, kernel->phases[i]);
    if (together) plan_order(p, l);
    else if (l->work_count > 1) share_threads(p, l);
    if (together && (l->overlap || l->words)) l->dynamic_bytes = l->shared_bytes = (l->shared_bytes + 15) / 16 * 16 + seat_bytes;
    plan_schedule(p, l);
    plan_ring(p, l);
    plan_loader(l);
    limit_grid(p, l);
    l->marks = plan_marks(p, l);
    l->trace = plan_trace(p, l);
    if (p->p->stack.in) stack_add_turns(p->a, p->p, l);
}

static void share_launch(const planner *p)
{
    block_spread(p->a, p->ir);
    p->ir->index = graph_index_make(p->a, p->ir);
    block_set_threads(p->a, p->ir, p->p->device, &(preferences){p->overrides, p->tuning});
    p->ir->index = NULL;
}

static void settle_overrides(planner *p, bool final)
{
    if (final || p->overrides->count) p->names = kernel_names(p->a, p->ir);
    overrides_settle(p->overrides, p->ir, p->names, final);
}

plan *plan_choose(arena *a, const ir_graph *fused, const device_model *device, const tuning *tuning)
{
    builder b = copy_graph(a, fused);
    planner p = {.a = a, .p = arena_alloc(a, sizeof(plan)), .ir = b.p, .tuning = tuning, .overrides = overrides_read(a, tuning)};
    *p.p = (plan){.ir = p.ir,
                  .device = device,
                  .target = device->target,
                  .fused = fused,
                  .tuning = tuning,
                  .spec = arena_source_name(a)};
    b.p->device = device->name;
    b.p->no_slices = block_is_whole(p.ir) && tuning && tuning->forbidden_count > 0;
    check_sizes(&p);
    if (p.ir->stacked) p.p->stack = stack_find(a, p.ir);
    else if (p.ir->kinds) bail(a, code_usage, (position){0}, "kinds of layers are for a stack, and this is a single block");
    settle_overrides(&p, false);
    check_phases(&p);
    if (block_is_whole(p.ir)) share_launch(&p);
    choose_programs(&p);
    rewrite_phases(&b);
    const size_t kernels = (size_t)p.ir->kernel_count + 1, values = (size_t)p.ir->value_count + 1; /* at least one element for each phase */
    if (block_is_whole(p.ir)) block_gather(a, p.ir);
    if (p.ir->stacked) stack_check(a, p.ir, tuning);
    p.p->launches = arena_alloc(a, kernels * sizeof *p.p->launches);
    p.p->scratches = arena_alloc(a, (2 * kernels + values) * sizeof *p.p->scratches);
    p.p->words = arena_alloc(a, values * sizeof *p.p->words);
    p.p->packs = arena_alloc(a, kernels * sizeof *p.p->packs);
    p.p->stored = arena_alloc(a, values * sizeof *p.p->stored);
    p.p->partials = arena_alloc(a, values * sizeof *p.p->partials);
    b.p->index = graph_index_make(a, b.p);
    settle_overrides(&p, true);
    for (int k = 0; k < p.ir->kernel_count; k++) plan_kernel(&p, k);
    overrides_end(p.overrides);
    return p.p;
}

/* ---- replanning without tiles that spilled */
static bool is_spilled(const spilled_tile *s) { return s->scratch > 0 || s->vectors > 0; }

/* Adds the tiles of launches that spilled to `list`, the forbidden tiles. False: all their phases have spilled most_spilled
 * times already. */
static bool forbid_spilled(const plan *p, const spilled_tile *spilled, tuning *t, forbidden_tile *list)
{
    const size_t known = t->forbidden_count;
    for (int i = 0; i < p->launch_count; i++)
        for (int k = 0; k < p->launches[i].work_count && is_spilled(&spilled[i]); k++) {
            const ir_phase *phase = p->launches[i].work[k].phase;
            if (phase->spilled_count >= most_spilled) continue;
            list[t->forbidden_count++] = (forbidden_tile){phase->name, {phase->tile, spilled[i].scratch, spilled[i].vectors}};
        }
    return t->forbidden_count > known;
}

/* True if rows passed in words in a launch that spilled: the same tiles without words take fewer registers. */
static bool words_spilled(const plan *p, const spilled_tile *spilled)
{
    bool any = false;
    for (int i = 0; i < p->launch_count; i++) any |= p->launches[i].words && is_spilled(&spilled[i]);
    return any;
}

/* True if a phase of the launch that spilled now has a tile that has not spilled. (Phases side by side get the same number of threads,
 * which may make a smaller tile equal to one that spilled.) */
static bool has_new_tile(const launch *now, const launch *before)
{
    for (int i = 0; i < now->work_count; i++) {
        const ir_phase *phase = now->work[i].phase;
        const bool forbidden = phase->spilled_count == before->work[i].phase->spilled_count + 1;
        if (forbidden && !tile_has_spilled(phase, &phase->tile)) return true;
    }
    return false;
}

plan *plan_again(arena *a, const plan *p, const spilled_tile *spilled)
{
    size_t room = p->tuning ? p->tuning->forbidden_count : 0;
    for (int i = 0; i < p->launch_count; i++) room += (size_t)p->launches[i].work_count;
    forbidden_tile *list = arena_alloc(a, (room + 1) * sizeof *list);
    tuning *t = arena_alloc(a, sizeof *t);
    *t = p->tuning ? *p->tuning : (tuning){0};
    for (size_t i = 0; i < t->forbidden_count; i++) list[i] = t->forbidden[i];
    t->without_words |= words_spilled(p, spilled);
    const bool same_tiles = t->without_words && !(p->tuning && p->tuning->without_words);
    if (!same_tiles && !forbid_spilled(p, spilled, t, list)) return NULL;
    t->forbidden = list;
    if (!*arena_source_name(a)) arena_source(a, p->spec, NULL, 0);
    plan *again = plan_choose(a, p->fused, p->device, t);
    again->choice = p->choice, again->followed = p->followed;
    bool better = same_tiles;
    for (int i = 0; i < p->launch_count; i++) better |= is_spilled(&spilled[i]) && has_new_tile(&again->launches[i], &p->launches[i]);
    if (!better) return NULL;
    emit(a, again);
    return again;
}
