/* Contract: gen/plan/tile.h. */
#include "gen/plan/tile.h"
#include "gen/plan/overrides.h"
#include "gen/program/products.h"
#include "ir/graph/former.h"
#include <math.h>
#include <string.h>

/* Why the program cannot read the operands of the phase's product, if it has one; NULL: it can. */
static const char *operands_obstacle(const problem *p, const program *of)
{
    const ir_op *product = p->product;
    if (!product) return NULL;
    if (reads_terms(product) && of->weights != weights_split) return "an operand is stored as TF32 terms";
    if (reads_bf16_terms(product) && rows_terms(of->weights, product) < 2) return "A is stored as terms in bf16";
    return !of->several_passes && product_passes(p, of->weights) > 1 ? "an element of the weight needs several numbers of A's dtype" : NULL;
}

/* Why a launch of several phases, if the phase is in one, cannot have phases of the program's frame; NULL: it can. */
static const char *frame_obstacle(const problem *p, const program *of)
{
    const frame_info *f = &frame_table[program_table[of->kind].frame];
    if (p->ir->level != fusion_block) return NULL;
    if (of->alone) return "it cannot run in a launch of several phases";
    switch (f->list) {
    case list_never: return arena_printf(p->a, "its frame, %s, cannot run several phases in a launch", f->name);
    case list_with_loader:
        return p->ir->feeds ? NULL : arena_printf(p->a, "its frame, %s, needs a loading warp, which this launch does not have", f->name);
    case list_without_loader:
        return p->ir->feeds ? arena_printf(p->a, "its frame, %s, cannot run beside the loading warp of this launch", f->name) : NULL;
    default: return NULL;
    }
}

const char *program_obstacle(const problem *p, const program *of)
{
    if (!target_has(p->target, program_table[of->kind].layer)) return "the target lacks these instructions";
    const char *obstacle = frame_obstacle(p, of);
    if (obstacle) return obstacle;
    if (!program_takes_sums(p, of) && phase_input_sum(p->phase)) return "it cannot accumulate sums of squares of rows while it loads them";
    obstacle = operands_obstacle(p, of);
    return obstacle || !of->obstacle ? obstacle : of->obstacle(p);
}

/* ---- legality */
static const char *out_of_range(const problem *p, const ir_tile *t)
{
    const program_info *of = &program_table[t->program];
    for (int i = 0; i < of->field_count; i++) {
        const tile_field *f = &of->fields[i];
        if (t->at[i] < f->least || t->at[i] > f->most)
            return arena_printf(p->a, "%s: %s=%d; it is %d to %d (%s)", of->name, f->name, t->at[i], f->least, f->most, f->help);
    }
    return NULL;
}

/* At level block, all phases of a launch have the number of threads that was chosen for the launch. */
static bool has_other_threads(const problem *p, const ir_tile *t) { return p->ir->threads && tile_threads(t) != p->ir->threads; }

/* The rule that the tile breaks; NULL: none. Its program must have no obstacle. */
static const char *rule_broken(const problem *p, const ir_tile *t)
{
    const program *of = program_at(t->program);
    const target_info *target = p->target;
    const char *rule = out_of_range(p, t);
    if (rule) return rule;
    if (has_other_threads(p, t))
        return arena_printf(p->a, "threads=%d; the phases of a launch have the same number of threads, here %d", tile_threads(t),
                            p->ir->threads);
    if (tile_threads(t) > target->max_threads)
        return arena_printf(p->a, "%d threads; a workgroup has 1 to %d", tile_threads(t), target->max_threads);
    rule = of->illegal ? of->illegal(p, t) : NULL;
    if (rule) return rule;
    const long long shared = of->shared_bytes(p, t);
    const int most = frame_asks(program_table[of->kind].frame, target) ? shared_room_of_phase(p) : target->static_bytes;
    if (shared > most) return arena_printf(p->a, "%lld bytes of shared memory; a workgroup has %d", shared, most);
    return NULL;
}

/* Why the program cannot compute the phase with any tile; NULL: it can. To the reasons of program_obstacle() it adds that the program
 * belongs to another family, and that no packing order of columns fits the epilogue. */
static const char *why_not(const problem *p, program_kind kind)
{
    if (program_table[kind].family != p->phase->family) return "the program belongs to another family";
    const char *obstacle = program_obstacle(p, program_at(kind));
    if (obstacle) return obstacle;
    return p->segments ? NULL : "no packing order of its columns fits the epilogue";
}

const char *tile_illegal(const problem *p, const ir_tile *t)
{
    const char *why = why_not(p, t->program);
    return why ? why : rule_broken(p, t);
}

/* True if workgroups exchange partial results through a scratch, as slices of split-K do. */
static bool has_slices(const problem *p, const ir_tile *t)
{
    const program *of = program_at(t->program);
    const extent floats = of->scratch ? of->scratch(p, t) : extent_number(0);
    return extent_value(&floats, &p->ir->dims) > 0;
}

/* Among the tiles at most `steps` doublings or halvings of fields away from *at, looks for legal ones that take clearly less time than
 * *least. Sets *best and *least to what it finds. */
static void search_near(const problem *p, const ir_tile *at, int steps, ir_tile *best, double *least)
{
    const double clearly = 0.98;
    const program_info *of = &program_table[at->program];
    if (!rule_broken(p, at) && !(p->ir->no_slices && has_slices(p, at))) {
        const double seconds = program_seconds(p, program_at(at->program), at);
        if (seconds < clearly * *least) *best = *at, *least = seconds;
    }
    for (int i = 0; steps && i < 2 * of->field_count; i++) {
        const tile_field *f = &of->fields[i / 2];
        const int now = at->at[i / 2], next = i % 2 ? now / 2 : 2 * now;
        ir_tile near = *at;
        if (i / 2 == of->threads || !f->help || next < f->least || next > f->most || (i % 2 && now % 2)) continue;
        near.at[i / 2] = next;
        search_near(p, &near, steps - 1, best, least);
    }
}

/* A legal tile near t, the program's default, with the number of threads of the launch; t itself if none is found. The search stays close
 * to t, because the cost model was fitted to tiles like the defaults. */
static ir_tile with_threads(const problem *p, const ir_tile *t)
{
    enum { most_steps = 3, more = 1 };
    double least = INFINITY;
    ir_tile near = *t, best = *t;
    near.at[program_table[t->program].threads] = p->ir->threads;
    for (int steps = more; steps <= most_steps && isinf(least); steps++) search_near(p, &near, steps, &best, &least);
    return best;
}

/* Sets every field; legality is not checked. */
static ir_tile defaults_of(const problem *p, const program *of)
{
    ir_tile t = tile_of_program(of->kind);
    t.given = program_fields(of->kind);
    of->defaults(p, &t);
    return p->ir->threads && p->ir->threads != tile_threads(&t) ? with_threads(p, &t) : t;
}

bool tile_default(const problem *p, program_kind kind, ir_tile *t, const char **why)
{
    *why = why_not(p, kind);
    if (*why) return false;
    *t = defaults_of(p, program_at(kind));
    *why = rule_broken(p, t);
    return !*why;
}

/* ---- settings */
static void take_text(const problem *p, ir_tile *t)
{
    const ir_tile *text = &p->phase->tile;
    for (int i = 0; text->program == t->program && i < program_table[t->program].field_count; i++)
        if (text->given & 1u << i) t->at[i] = text->at[i];
}

static const char *fields_text(arena *a, const program_info *of)
{
    text t = {.a = a};
    for (int i = 0; i < of->field_count; i++) {
        const tile_field *f = &of->fields[i];
        if (f->help) text_printf(&t, f->least == f->most ? "%s%s %d" : "%s%s %d to %d", i ? ", " : "", f->name, f->least, f->most);
    }
    return t.data;
}

static int field_of(const tile_override *w, int setting, program_kind program)
{
    return tile_field_find(program, w->settings[setting].key);
}

/* True if a former family had a program on this layer. An override that names a former family applies to those programs only. */
static bool was_layer_of(arena *a, const char *family, layer_kind layer)
{
    for (const former_name *n = former_layers_of(a, family); n->former; n++)
        if (strcmp(n->today, layer_names(NULL)[layer]) == 0) return true;
    return false;
}

/* Why the override cannot apply to the program; NULL: it can. */
static const char *override_obstacle(const problem *p, const tile_override *w, program_kind program)
{
    const program_info *of = &program_table[program];
    unsigned given = 0;
    if (w->of_family && w->former && !was_layer_of(p->a, w->former, of->layer))
        return arena_printf(p->a, "phase %s is computed by %s, which the family %s did not have", p->phase->name, of->name, w->former);
    if (w->layer >= 0 && w->layer != (int)of->layer) return arena_printf(p->a, "phase %s is computed by %s", p->phase->name, of->name);
    for (int i = 0; i < w->count; i++) {
        const int field = field_of(w, i, program);
        if (field < 0)
            return arena_printf(p->a, "%s has no setting '%s'; those of %s, by which phase %s is computed, are %s", of->name,
                                w->settings[i].key, of->name, p->phase->name, fields_text(p->a, of));
        if (given & 1u << field) return arena_printf(p->a, "%s is given twice", of->fields[field].name); /* one by its former name */
        given |= 1u << field;
    }
    return NULL;
}

/* given: gets the bits of the fields that the override sets. */
static void take_override(const problem *p, const preferences *w, tile_override *line, ir_tile *t, ir_phase *phase, unsigned *given)
{
    const char *obstacle = override_obstacle(p, line, t->program);
    if (obstacle && !line->of_family) override_refuse(w->overrides, line, obstacle);
    if (obstacle) {
        override_passed_over(line, code_usage, obstacle);
        return;
    }
    for (int i = 0; i < line->count; i++) {
        const int field = field_of(line, i, t->program);
        t->at[field] = line->settings[i].value, *given |= 1u << field;
        override_warn(w->overrides, line, former_hint(p->a, line->settings[i].key, program_table[t->program].fields[field].name));
    }
    line->taken = true;
    phase->from = tile_of_user;
}

static void take_overrides(const problem *p, const preferences *w, ir_tile *t, ir_phase *phase)
{
    const program *of = program_at(t->program);
    unsigned given = 0;
    for (int i = 0; i < w->overrides->count; i++)
        if (override_is_for(&w->overrides->list[i], phase)) take_override(p, w, &w->overrides->list[i], t, phase, &given);
    if (given && of->make_room) of->make_room(p, given, t);
}

bool tile_has_spilled(const ir_phase *phase, const ir_tile *t)
{
    for (int i = 0; i < phase->spilled_count; i++)
        if (tile_same(&phase->spilled[i].tile, t)) return true;
    return false;
}

/* If a launch of several phases spills, the tiles of all its phases count as spilled, because which phase caused it is not known. A phase
 * that already has its program's smallest tile may keep it twice for each number of threads, while tiles of other phases become smaller. */
static bool keeps_smallest(const problem *p, const ir_phase *phase)
{
    int times = 0;
    for (int i = 0; i < phase->spilled_count; i++) times += tile_threads(&phase->spilled[i].tile) == p->ir->threads;
    return p->ir->threads && times <= 2;
}

/* Makes *t smaller, once or until it is legal: half of a legal tile need not be. False: there is no smaller legal tile. */
static bool make_smaller(const problem *p, const program *of, ir_tile *t)
{
    do
        if (!of->smaller || !of->smaller(p, t) || has_other_threads(p, t)) return false;
    while (rule_broken(p, t));
    return true;
}

bool tile_choose(const problem *p, const preferences *w, const program *of, const ir_tile *known, bool fallback, ir_phase *phase,
                 const char **rule)
{
    ir_tile t = defaults_of(p, of);
    if (fallback || !phase->tile.program) phase->from = tile_of_model;
    if (known && known->program == of->kind) t = *known, phase->from = tile_of_wisdom;
    if (!fallback) take_text(p, &t), take_overrides(p, w, &t, phase);
    *rule = rule_broken(p, &t);
    while (!*rule && tile_has_spilled(phase, &t)) {
        ir_tile less = t;
        phase->from = tile_of_model;
        if (!make_smaller(p, of, &less)) {
            if (keeps_smallest(p, phase)) break;
            return false;
        }
        t = less;
    }
    phase->tile = t;
    return !*rule;
}
