/* Contract: gen/plan/choice.h. Alternatives are judged once, before any rewrite. So the reasons in the plan's text against a program are
 * about the phase as fusion made it, not as the chosen program's rewrites left it. */
#include "gen/plan/choice.h"
#include "gen/program/products.h"
#include "gen/plan/align.h"
#include "gen/plan/refuse.h"
#include "gen/plan/split.h"
#include "gen/plan/sums.h"
#include "gen/plan/terms.h"
#include "gen/plan/wisdom.h"
#include "gen/plan/overrides.h"
#include <limits.h>
#include <math.h>

/* ---- a layer that the user or the text names */
/* Names of the layers that can compute the phase, for messages. */
static const char *layers_there(const problem *p)
{
    text t = {.a = p->a};
    for (int i = 1; i < program_count; i++)
        if (program_table[i].family == p->phase->family && !program_obstacle(p, program_at((program_kind)i)))
            text_printf(&t, "%s%s", t.size ? ", " : "", layer_names(NULL)[program_table[i].layer]);
    return t.data;
}

static const char *layer_obstacle(const problem *p, layer_kind layer)
{
    const program_kind kind = program_find(p->phase->family, layer);
    const char *obstacle = kind ? program_obstacle(p, program_at(kind)) : "no program of this family uses that layer";
    if (!obstacle) return NULL;
    return arena_printf(p->a, "layer=%s: %s; %s has %s here", layer_names(NULL)[layer], obstacle, p->target->name, layers_there(p));
}

/* The layer that the phase's last override names, else the plan's text; -1: neither names one. An override of a whole family is ignored for
 * phases that cannot run on its layer. */
static int requested_layer(const problem *p, const preferences *w)
{
    int layer = p->phase->tile.program ? (int)program_table[p->phase->tile.program].layer : -1;
    for (int i = 0; i < w->overrides->count; i++) {
        tile_override *line = &w->overrides->list[i];
        if (line->layer < 0 || !override_is_for(line, p->phase)) continue;
        const char *obstacle = line->of_family ? layer_obstacle(p, (layer_kind)line->layer) : NULL;
        if (obstacle)
            override_passed_over(line, code_unsupported,
                             arena_printf(p->a, "phase %s on %s: %s", p->phase->name, p->target->name, obstacle));
        else
            layer = line->layer;
    }
    return layer;
}

/* The program of the requested layer; NULL: no layer is requested. Bails if it has an obstacle. */
static const program *requested_program(const problem *p, const preferences *w)
{
    const int layer = requested_layer(p, w);
    if (layer < 0) return NULL;
    const char *obstacle = layer_obstacle(p, (layer_kind)layer);
    const bool by_text = p->phase->tile.program && (int)program_table[p->phase->tile.program].layer == layer;
    if (obstacle) layer_refuse(p, by_text ? p->phase->tile_at : (position){0}, obstacle);
    return program_at(program_find(p->phase->family, (layer_kind)layer));
}

/* ---- the alternatives */
static unsigned rewrites_of(const problem *p, const program *of)
{
    return (split_is_wanted(p, of) ? rewrite_split_keys : 0) | (row_sums_are_wanted(p, of) ? rewrite_row_sums : 0) |
           (alignment_is_wanted(p, of) ? rewrite_aligned_rows : 0) | (terms_are_wanted(p, of) ? rewrite_terms : 0) |
           (rows_of_a_are_wanted(p, of) ? rewrite_rows_of_a : 0) | (row_terms_are_wanted(p, of) ? rewrite_row_terms : 0);
}

/* Seconds of a launch that copies; bytes: read and written together. */
static double copy_seconds(const problem *p, double bytes)
{
    enum { group_bytes = 1 << 15 };
    const cost_descriptor d = {.groups = fmax(1, bytes / group_bytes), .per_unit = 8, .threads = 256, .memory = group_bytes,
                               .asked = group_bytes, .trips = 1, .overlap = p->target->overlaps};
    return cost_of(p->device, &d).seconds;
}

/* Whether a copy of the operand to aligned rows counts. That of a linear's rows counts only where another program on matrix units takes the
 * rows as they are, because other programs that need no copy were slower at every size. */
static bool copy_counts(const problem *p, operand which)
{
    return p->product->kind == op_matmul || (which == operand_a && !program_obstacle(p, program_at(program_gemm_mma_direct)));
}

/* Seconds of the copies of an operand that the rewrites insert. */
static double copies_seconds(const problem *p, const program *of, unsigned rewrites, operand which)
{
    const ir_op *product = p->product;
    const ir_value *v = product->inputs[which];
    const extent rows = value_rows(p->a, v);
    const double elements = (double)extent_value(&rows, &p->ir->dims) * (double)value_columns(v), bytes = elements * dtype_size(v->type);
    const bool matmul = product->kind == op_matmul;
    if (which == operand_a && rewrites & rewrite_row_terms)
        return copy_seconds(p, bytes + elements * operand_bytes(p, of->weights, operand_a));
    if (matmul && rewrites & rewrite_terms && which == operand_in_terms(p)) return copy_seconds(p, 3 * bytes);
    if (matmul && which == operand_a && rewrites & rewrite_rows_of_a) return copy_seconds(p, 2 * bytes);
    const bool aligned = rewrites & rewrite_aligned_rows && of->aligned_rows && !rows_lie_as_needed(p->a, of, v);
    return aligned && copy_counts(p, which) ? copy_seconds(p, 2 * bytes) : 0;
}

static double rewrites_seconds(const problem *p, const program *of, unsigned rewrites)
{
    if (!p->product) return 0;
    return copies_seconds(p, of, rewrites, operand_a) + copies_seconds(p, of, rewrites, operand_b);
}

/* Infinite if the program's default tile is illegal; *why then says why. */
static double seconds_or_why(const problem *p, const program *of, unsigned rewrites, const char **why)
{
    ir_tile t;
    return tile_default(p, of->kind, &t, why) ? program_seconds(p, of, &t) + rewrites_seconds(p, of, rewrites) : INFINITY;
}

/* 0: the program has no other costs for the phase. */
static double usual_seconds(const problem *p, const program *of, unsigned rewrites)
{
    const double seconds = of->usual_seconds ? of->usual_seconds(p) : 0;
    return seconds > 0 ? seconds + rewrites_seconds(p, of, rewrites) : 0;
}

static double seconds_of(const problem *p, const program *of)
{
    const char *why;
    return seconds_or_why(p, of, rewrites_of(p, of), &why);
}

static bool is_in_registers(const alternative *x)
{
    const layer_kind layer = program_table[x->of->kind].layer;
    return layer == layer_simt || layer == layer_decode_simt;
}

/* Where times are guesses, marks SIMT programs as worse if another program can compute the phase and is not marked. (Among programs marked
 * worse, choice_best() prefers those on matrix units.) */
static void demote_simt(const problem *p, alternative *list, int count)
{
    bool others = false;
    for (int i = 0; i < count; i++)
        others |= !is_in_registers(&list[i]) && !list[i].obstacle && !list[i].worse;
    for (int i = 0; i < count && others && times_are_guesses(p); i++)
        if (is_in_registers(&list[i]) && !list[i].obstacle && !list[i].worse)
            list[i].worse = "another program is the default for this shape: no timings of this device are known";
}

static bool on_matrix_units(const alternative *x)
{
    return layer_is_on_units(program_table[x->of->kind].layer);
}

/* Why another program is preferred to `of` at this size; NULL: none is. At level block, if times are known, no program is preferred that
 * cannot share the launch. */
static const char *why_worse(const problem *p, const program *of)
{
    const bool in_list = p->ir->level == fusion_block && !times_are_guesses(p);
    if (of->on_request && !(of->streams && p->ir->streams)) return of->on_request;
    const worse_range *r = program_worse_range(p, of, in_list);
    return r && (!in_list || (!program_obstacle(p, program_at(r->than)) && isfinite(seconds_of(p, program_at(r->than))))) ? r->why : NULL;
}

/* All programs of the phase's family whose layer the target has. Times are computed only if at least two have no obstacle. */
static const alternative *alternatives_of(const problem *p, int *count)
{
    alternative *list = arena_alloc(p->a, program_count * sizeof *list);
    int n = 0, open = 0;
    for (int i = 1; i < program_count; i++) {
        const program *of = program_at((program_kind)i);
        if (program_table[i].family != p->phase->family || !target_has(p->target, program_table[i].layer)) continue;
        const char *obstacle = program_obstacle(p, of);
        if (obstacle && of->for_some) continue;
        list[n++] = (alternative){of, rewrites_of(p, of), obstacle, obstacle ? NULL : why_worse(p, of), 0, 0, NULL};
        open += !obstacle;
    }
    demote_simt(p, list, n);
    for (int i = 0; i < n && open > 1 && p->segments; i++)
        if (!list[i].obstacle) {
            list[i].seconds = seconds_or_why(p, list[i].of, list[i].rewrites, &list[i].no_tile);
            list[i].usual = usual_seconds(p, list[i].of, list[i].rewrites);
        }
    *count = n;
    return list;
}

/* By what is chosen before any time: 0 for alternatives that are not marked worse. Of those marked, where times are guesses, the ones on
 * matrix units come first. */
static int rank_of(const alternative *x, bool guesses) { return !x->worse ? 0 : guesses && on_matrix_units(x) ? 1 : 2; }

/* Of the alternatives of a rank, all but those left out, the one that represents those with usual costs; NULL: there is none. It is the one
 * that these prefer, unless another one takes clearly less time; if one has none but the usual costs at this size, these alone decide.
 * (Phases of drawn blocks on an H200: 20 whose program changed for a gain predicted below 5 % took 1.03 times as long in the geometric
 * mean, 1.40 at worst; those with a larger one took 0.92 times as long.) */
static const alternative *preferred_by_usual(const alternative *list, int count, const bool *out)
{
    const double clearly = 0.95;
    const alternative *usual = NULL, *fastest = NULL;
    bool both = true;
    for (int i = 0; i < count; i++) {
        const alternative *x = &list[i];
        if (out[i] || x->usual <= 0) continue;
        if (!usual || x->usual < usual->usual) usual = x;
        if (!fastest || x->seconds < fastest->seconds) fastest = x;
        both = both && x->usual != x->seconds;
    }
    return usual && both && fastest->seconds < clearly * usual->seconds ? fastest : usual;
}

const alternative *choice_best(const alternative *list, int count, bool guesses, const bool *tried)
{
    bool out[program_count];
    int least = INT_MAX;
    const alternative *best = NULL;
    for (int i = 0; i < count; i++) {
        out[i] = list[i].obstacle || (tried && (tried[list[i].of->kind] || list[i].rewrites));
        if (!out[i] && rank_of(&list[i], guesses) < least) least = rank_of(&list[i], guesses);
    }
    for (int i = 0; i < count; i++) out[i] = out[i] || rank_of(&list[i], guesses) != least;
    const alternative *of_usual = preferred_by_usual(list, count, out);
    for (int i = 0; i < count; i++)
        if (!out[i] && (list[i].usual <= 0 || &list[i] == of_usual) && (!best || list[i].seconds < best->seconds)) best = &list[i];
    return best;
}

static const alternative *cheapest(const problem *p, const alternative *list, int count, const bool *tried)
{
    return choice_best(list, count, times_are_guesses(p), tried);
}

const program *choice_next(const problem *p, const bool tried[program_count])
{
    int count;
    const alternative *list = alternatives_of(p, &count), *best = cheapest(p, list, count, tried);
    return best ? best->of : NULL;
}

/* ---- wisdom */
/* True if no override is for the phase. Only then is wisdom consulted. */
static bool is_free(const problem *p, const preferences *w)
{
    for (int i = 0; i < w->overrides->count; i++)
        if (override_is_for(&w->overrides->list[i], p->phase)) return false;
    return true;
}

/* The number of row tiles of a product with this tile; 0: the tile is illegal. Each row tile reads all weights. */
static long long row_tiles(const problem *p, const ir_tile *t)
{
    if (tile_illegal(p, t)) return 0;
    const tile_extents x = program_extents(p, t);
    return (extent_value(&x.rows, &p->ir->dims) + x.tile_rows - 1) / x.tile_rows;
}

/* False if a tuned tile is bad at this size. A product's tile that was tuned for another number of rows may read the weights twice where
 * the cost model's choice reads them once. In attention, the same number of rows may mean many sequences, or many queries of one sequence,
 * and a program tuned for one of these may be far slower for the other. */
static bool serves_here(const choice *c, const problem *p, const wisdom_entry *e, phase_size size)
{
    const double far = 2;
    ir_tile t;
    const char *why;
    const bool product = p->phase->family == family_gemm, attention = p->phase->family == family_attention;
    if (!attention && (!product || e->size.rows == size.rows)) return true;
    const alternative *own = cheapest(p, c->list, c->count, NULL);
    if (!own || !tile_default(p, own->of->kind, &t, &why)) return true;
    if (product) return row_tiles(p, &t) > 1 || row_tiles(p, &e->tile) <= 1;
    const program *tuned = program_at(e->tile.program);
    return tuned == own->of || program_seconds(p, tuned, &e->tile) < far * program_seconds(p, own->of, &t);
}

/* Of the tiles that wisdom has for this signature, the one tuned at the nearest size that is legal and not bad here; NULL: none. rewrites:
 * a set of those that its program may require. */
static const ir_tile *tuned_tile(const choice *c, const problem *p, const preferences *w, unsigned rewrites)
{
    const tuning *t = w->tuning;
    if (!t || !t->wisdom || !is_free(p, w)) return NULL;
    int count;
    const char *device = t->device ? t->device : p->device->name, *signature = phase_signature(p->a, p->ir, p->phase);
    const phase_size size = phase_size_of(p->a, p->ir, p->phase);
    const wisdom_entry **list = wisdom_find(p->a, t->wisdom, p->target, device, signature, size, &count);
    for (int i = 0; i < count; i++) {
        const ir_tile *tile = &list[i]->tile;
        if (!tile_illegal(p, tile) && !(rewrites_of(p, program_at(tile->program)) & ~rewrites) && serves_here(c, p, list[i], size))
            return tile;
    }
    return NULL;
}

/* ---- why the others lost, for the plan's text */
static void add_refusal(ir_phase *phase, const program *of, const char *why)
{
    phase->refused[phase->refused_count++] = (refusal){program_table[of->kind].layer, why};
}

static const char *slower_text(arena *a, const alternative *x, const alternative *best)
{
    text t = {.a = a};
    if (isinf(x->seconds)) return x->no_tile ? x->no_tile : "the cost model has no finite time for it";
    text_rounded(&t, x->seconds * 1e6, 3);
    text_printf(&t, " us, %s ", layer_names(NULL)[program_table[best->of->kind].layer]);
    text_rounded(&t, best->seconds * 1e6, 3);
    text_printf(&t, " us");
    return t.data;
}

static const alternative *alternative_of(const choice *c, const program *of)
{
    for (int i = 0; i < c->count; i++)
        if (c->list[i].of == of) return &c->list[i];
    return NULL;
}

/* Why x is worse; unless times are guesses, with the times of x and of the best alternative. */
static const char *worse_text(const choice *c, arena *a, const alternative *x, const alternative *best)
{
    if (!best || times_are_guesses(&c->original) || !(x->seconds > 0 && best->seconds > 0) || isinf(x->seconds)) return x->worse;
    return arena_printf(a, "%s (%s)", x->worse, slower_text(a, x, best));
}

/* Lists the programs that were not chosen: first those with an obstacle or marked worse, then those that are slower. */
static void record_refusals(const choice *c, arena *a, ir_phase *phase)
{
    const alternative *best = alternative_of(c, c->of);
    phase->refused = arena_alloc(a, program_count * sizeof *phase->refused);
    phase->refused_count = 0;
    for (int i = 0; i < c->count; i++)
        if (c->list[i].obstacle || (c->list[i].worse && &c->list[i] != best))
            add_refusal(phase, c->list[i].of, c->list[i].obstacle ? c->list[i].obstacle : worse_text(c, a, &c->list[i], best));
    for (int i = 0; i < c->count && best; i++)
        if (!c->list[i].obstacle && !c->list[i].worse && &c->list[i] != best)
            add_refusal(phase, c->list[i].of, slower_text(a, &c->list[i], best));
}

/* ---- the choice */
/* The op that a message about the phase points at: its product, attention or other body op, if it has one. */
static const ir_op *main_op(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i]->role == role_body && !op_is_view(phase->ops[i])) return phase->ops[i];
    return phase->ops[0];
}

static const program *least_time(const choice *c, const problem *p)
{
    const alternative *best = cheapest(p, c->list, c->count, NULL);
    if (!best) bail(p->a, code_unsupported, main_op(p->phase)->at, "phase %s: %s", p->phase->name, c->list[0].obstacle);
    return best->of;
}

choice *choice_make(const problem *p, const preferences *w)
{
    choice *c = arena_alloc(p->a, sizeof *c);
    *c = (choice){.original = *p, .op_count = p->phase->op_count, .of = requested_program(p, w)};
    if (!c->of) {
        c->list = alternatives_of(p, &c->count);
        const ir_tile *tuned = tuned_tile(c, p, w, ~0u);
        c->of = tuned ? program_at(tuned->program) : least_time(c, p);
    }
    c->rewrites = rewrites_of(p, c->of);
    return c;
}

/* The program that the user or the plan's text names, else the best; NULL: there is none. Wisdom is not consulted. */
static const program *requested_or_best(const problem *p, const preferences *w)
{
    const program *requested = requested_program(p, w);
    return requested ? requested : choice_next(p, NULL);
}

program_kind choice_kind(const problem *p, const preferences *w)
{
    const program *of = requested_or_best(p, w);
    return of ? of->kind : (program_kind)0;
}

double choice_seconds(const problem *p, const preferences *w)
{
    const program *of = requested_or_best(p, w);
    return of ? seconds_of(p, of) : INFINITY;
}

/* op_count: a phase without rewrites may still lose ops, such as its row sums, to another phase's rewrite. */
bool choice_still_holds(const choice *c, const ir_phase *phase) { return !c->rewrites && c->op_count == phase->op_count; }

void choice_revise(choice *c, const problem *p, const preferences *w, ir_phase *phase)
{
    const program *requested = requested_program(p, w);
    const bool as_planned = requested && phase->tile.program == requested->kind;
    c->tuned = requested ? NULL : tuned_tile(c, p, w, 0);
    if (requested) c->of = requested, c->count = 0;
    else if (c->tuned) c->of = program_at(c->tuned->program);
    if (!as_planned) record_refusals(c, p->a, phase);
}
