/* In: a phase and a target. Out: its program and its tile. Refuses what tile.h says. Defaults first, then settings of the
 * program's own text (a plan that is read back), then the user's; what results is checked as a whole. */
#include "gen/plan/tile.h"
#include "gen/plan/wisdom.h"
#include "gen/plan/wishes.h"
#include <math.h>
#include <string.h>

static const char *family_of(const tile_request *r) { return family_names(NULL)[r->phase->family]; }

static const char *obstacle_of(const tile_request *r, const program *p)
{
    if (!target_has(r->target, program_table[p->kind].layer)) return "the target has no such instructions";
    if (!p->takes_sums && phase_input_sum(r->phase)) return "sums of its rows are taken while it reads them";
    return p->obstacle ? p->obstacle(r) : NULL;
}

/* at: in IR text, or no place. */
static _Noreturn void refuse(const tile_request *r, position at, const char *rule)
{
    if (at.line) arena_source_unmarked(r->a);
    bail(r->a, code_unsupported, at, "tile: phase %s (%s) on %s: %s", r->phase->name, family_of(r), r->target->name, rule);
}

/* ---- legality */
bool request_segments(const tile_request *r, segment_list *list)
{
    *list = (segment_list){0};
    return r->phase->family != family_gemm || gemm_segments(r->a, r->phase, list);
}

static const char *out_of_range(const tile_request *r, const ir_tile *t)
{
    const program_info *p = &program_table[t->program];
    for (int i = 0; i < p->field_count; i++) {
        const tile_field *f = &p->fields[i];
        if (t->at[i] < f->least || t->at[i] > f->most)
            return arena_printf(r->a, "%s: %s=%d; it is %d to %d (%s)", p->name, f->name, t->at[i], f->least, f->most, f->help);
    }
    return NULL;
}

/* Of a program that nothing is in the way of; columns and segments of the request are the program's. */
static const char *rule_broken(const tile_request *r, const ir_tile *t)
{
    const program *p = program_at(t->program);
    const target_info *target = r->target;
    const char *rule = out_of_range(r, t);
    if (rule) return rule;
    if (tile_threads(t) > target->max_threads)
        return arena_printf(r->a, "%d threads; a workgroup has 1 to %d", tile_threads(t), target->max_threads);
    rule = p->illegal ? p->illegal(r, t) : NULL;
    if (rule) return rule;
    const long long shared = p->shared_bytes(r, t);
    const int most = frame_asks(program_table[p->kind].frame, target) ? target->lds_bytes : target->static_bytes;
    if (shared > most) return arena_printf(r->a, "%lld bytes of shared memory; a workgroup has %d", shared, most);
    return NULL;
}

/* The request as the program has it, for a tile; else what is in the way. */
static const char *own_request(const tile_request *r, program_kind kind, segment_list *segments, tile_request *own)
{
    *own = *r;
    if (program_table[kind].family != r->phase->family) return "the program is of another family";
    const char *obstacle = obstacle_of(r, program_at(kind));
    if (obstacle) return obstacle;
    if (!request_segments(r, segments)) return "no arrangement of columns serves its epilogue";
    own->segments = segments, own->packed_n = segments->packed_columns;
    return NULL;
}

const char *tile_illegal(const tile_request *r, const ir_tile *t)
{
    segment_list segments;
    tile_request own;
    const char *why = own_request(r, t->program, &segments, &own);
    return why ? why : rule_broken(&own, t);
}

bool tile_default(const tile_request *r, program_kind kind, ir_tile *t, const char **why)
{
    segment_list segments;
    tile_request own;
    *why = own_request(r, kind, &segments, &own);
    if (*why) return false;
    *t = (ir_tile){.program = kind, .given = (1u << program_table[kind].field_count) - 1};
    program_at(kind)->defaults(&own, t);
    *why = rule_broken(&own, t);
    return !*why;
}

tile_request tile_request_of(arena *a, const plan *p, const ir_phase *phase)
{
    return request_of(a, p->program, phase, p->device, NULL, NULL);
}

/* ---- which layer */
/* Of the phase's family, that the target has. */
static const char *layers_there(const tile_request *r)
{
    text t = {.a = r->a};
    for (int i = 1; i < program_count; i++)
        if (program_table[i].family == r->phase->family && target_has(r->target, program_table[i].layer))
            text_printf(&t, "%s%s", t.size ? ", " : "", layer_names(NULL)[program_table[i].layer]);
    return t.data;
}

static const char *layer_obstacle(const tile_request *r, layer_kind layer)
{
    const program_kind kind = program_find(r->phase->family, layer);
    const char *obstacle = kind ? obstacle_of(r, program_at(kind)) : "no program of the family has that layer";
    if (!obstacle) return NULL;
    return arena_printf(r->a, "layer=%s: %s; %s has %s here", layer_names(NULL)[layer], obstacle, r->target->name, layers_there(r));
}

static const program *asked_program(const tile_request *r, layer_kind layer)
{
    const char *obstacle = layer_obstacle(r, layer);
    const bool by_text = r->phase->tile.program && program_table[r->phase->tile.program].layer == layer;
    if (obstacle) refuse(r, by_text ? r->phase->tile_at : (position){0}, obstacle);
    return program_at(program_find(r->phase->family, layer));
}

/* The layer that the user's last line, or else the text asks for; -1: none does. A line for a family leaves a phase alone that cannot have
 * its layer. */
static int layer_asked(const tile_request *r)
{
    int layer = r->phase->tile.program ? (int)program_table[r->phase->tile.program].layer : -1;
    for (int i = 0; r->wishes && i < r->wishes->count; i++) {
        wish *w = &r->wishes->list[i];
        if (w->layer < 0 || !wish_is_for(w, r->phase)) continue;
        const char *obstacle = w->of_family ? layer_obstacle(r, (layer_kind)w->layer) : NULL;
        if (obstacle)
            wish_passed_over(w, code_unsupported, arena_printf(r->a, "phase %s on %s: %s", r->phase->name, r->target->name, obstacle));
        else
            layer = w->layer;
    }
    return layer;
}

/* What a program of the phase's family says of it. */
typedef struct offer {
    const program *of;
    const char *obstacle, *avoided; /* avoided: by its time it is taken only where there is no other */
    double seconds;                 /* without an obstacle */
} offer;

static double seconds_of(const tile_request *r, const program *p)
{
    ir_tile t = {.program = p->kind, .given = (1u << program_table[p->kind].field_count) - 1};
    p->defaults(r, &t);
    return rule_broken(r, &t) ? INFINITY : request_seconds(r, p, &t);
}

/* ---- where times are guesses: simt is avoided, too, and of what is avoided matrix units come first (is_better) */
static void avoid_simt(const tile_request *r, offer *list, int count)
{
    bool others = false;
    for (int i = 0; i < count; i++)
        others |= program_table[list[i].of->kind].layer != layer_simt && !list[i].obstacle && !list[i].avoided;
    for (int i = 0; i < count && others && times_are_guesses(r); i++)
        if (program_table[list[i].of->kind].layer == layer_simt && !list[i].obstacle)
            list[i].avoided = "another program serves the shape, and the device was not measured";
}

static bool on_matrix_units(const offer *o)
{
    const layer_kind layer = program_table[o->of->kind].layer;
    return layer != layer_simt && layer != layer_few;
}

/* ---- the offers
 * Of the programs whose layer the target has; returns how many. What they take is asked where there is a choice. */
static int ask_programs(const tile_request *r, offer *list)
{
    int count = 0, open = 0;
    for (int i = 1; i < program_count; i++) {
        const program *p = program_at((program_kind)i);
        if (program_table[i].family != r->phase->family || !target_has(r->target, program_table[i].layer)) continue;
        const char *obstacle = obstacle_of(r, p);
        list[count++] = (offer){p, obstacle, obstacle || !p->avoid ? NULL : p->avoid(r), 0};
        open += !obstacle;
    }
    avoid_simt(r, list, count);
    segment_list segments;
    tile_request own = *r;
    if (open < 2 || !request_segments(r, &segments)) return count;
    own.segments = &segments, own.packed_n = segments.packed_columns;
    for (int i = 0; i < count; i++)
        if (!list[i].obstacle) list[i].seconds = seconds_of(&own, list[i].of);
    return count;
}

/* What is not avoided comes first, then what takes less time. */
static bool is_better(const tile_request *r, const offer *x, const offer *than)
{
    if (!x->avoided != !than->avoided) return !x->avoided;
    if (x->avoided && times_are_guesses(r) && on_matrix_units(x) != on_matrix_units(than)) return on_matrix_units(x);
    return x->seconds < than->seconds;
}

static const offer *cheapest(const tile_request *r, const offer *list, int count, const bool *tried)
{
    const offer *best = NULL;
    for (int i = 0; i < count; i++)
        if (!list[i].obstacle && !(tried && tried[list[i].of->kind]) && (!best || is_better(r, &list[i], best))) best = &list[i];
    return best;
}

const program *program_next(const tile_request *r, const bool tried[program_count])
{
    offer list[program_count];
    const offer *best = cheapest(r, list, ask_programs(r, list), tried);
    return best ? best->of : NULL;
}

static void add_refusal(ir_phase *phase, const program *p, const char *why)
{
    phase->refused[phase->refused_count++] = (refusal){program_table[p->kind].layer, why};
}

static const char *slower_text(arena *a, double seconds, const offer *best)
{
    text t = {.a = a};
    text_rounded(&t, seconds * 1e6, 3);
    text_printf(&t, " us, %s ", layer_names(NULL)[program_table[best->of->kind].layer]);
    text_rounded(&t, best->seconds * 1e6, 3);
    return t.data;
}

/* First those that something is in the way of, then those that take longer. */
static void say_refusals(const tile_request *r, ir_phase *phase, const offer *list, int count, const offer *best)
{
    phase->refused = arena_alloc(r->a, layer_count * sizeof *phase->refused);
    for (int i = 0; i < count; i++)
        if (list[i].obstacle || (list[i].avoided && &list[i] != best))
            add_refusal(phase, list[i].of, list[i].obstacle ? list[i].obstacle : list[i].avoided);
    for (int i = 0; i < count && best; i++)
        if (!list[i].obstacle && !list[i].avoided && &list[i] != best)
            add_refusal(phase, list[i].of, slower_text(r->a, list[i].seconds, best));
}

/* The product, or the attention: what people look for in the spec. */
static const ir_op *main_op(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i]->role == role_body && !op_is_view(phase->ops[i])) return phase->ops[i];
    return phase->ops[0];
}

/* ---- wisdom */
static bool is_free(const tile_request *r)
{
    for (int i = 0; r->wishes && i < r->wishes->count; i++)
        if (wish_is_for(&r->wishes->list[i], r->phase)) return false;
    return !r->second && !r->phase->tile.program;
}

bool rows_lie_right(const tile_request *r, const program *p)
{
    const ir_op *product = request_product(r);
    return !p->aligned_rows || !r->segments || !product || product->kind != op_linear || value_alignment(r->a, product->inputs[0]) == 16;
}

/* How often a product with the tile goes through its weights. */
static long long row_tiles(const tile_request *r, const ir_tile *t)
{
    segment_list segments;
    tile_request own;
    launch l = {.rows = r->space.rows, .multiple = extent_number(1), .column_tiles = 1, .tile_rows = 1, .cluster = 1};
    if (own_request(r, t->program, &segments, &own)) return 0;
    program_at(t->program)->geometry(&own, t, &l);
    return (extent_value(&l.rows, &r->program->dims) + l.tile_rows - 1) / l.tile_rows;
}

/* A tile that was right for another number of rows may make a product read its weights twice here, which the model's choice reads once. */
static bool serves_here(const tile_request *r, const wisdom_entry *e, phase_size size)
{
    offer list[program_count];
    ir_tile t;
    const char *why;
    if (r->phase->family != family_gemm || e->size.rows == size.rows) return true;
    const offer *own = cheapest(r, list, ask_programs(r, list), NULL);
    return !own || !tile_default(r, own->of->kind, &t, &why) || row_tiles(r, &t) > 1 || row_tiles(r, &e->tile) <= 1;
}

/* What a tuning found for the nearest phase like this, of which the phase can have the tile; NULL: nothing, or the user or the text has a
 * say in it. */
static const ir_tile *tile_known(const tile_request *r)
{
    const tuning *t = r->tuning;
    if (!t || !t->wisdom || !is_free(r)) return NULL;
    int count;
    const char *device = t->device ? t->device : r->device->name, *signature = phase_signature(r->a, r->program, r->phase);
    const phase_size size = phase_size_of(r->a, r->program, r->phase);
    const wisdom_entry **list = wisdom_find(r->a, t->wisdom, r->target, device, signature, size, &count);
    for (int i = 0; i < count; i++)
        if (!tile_illegal(r, &list[i]->tile) && rows_lie_right(r, program_at(list[i]->tile.program)) && serves_here(r, list[i], size))
            return &list[i]->tile;
    return NULL;
}

/* ---- the choice */
static const offer *offer_of(const offer *list, int count, program_kind kind)
{
    for (int i = 0; i < count; i++)
        if (list[i].of->kind == kind) return &list[i];
    return NULL;
}

const program *program_choose(const tile_request *r, ir_phase *phase)
{
    const int asked = layer_asked(r);
    if (asked >= 0 && phase->tile.program == program_find(phase->family, (layer_kind)asked))
        return asked_program(r, (layer_kind)asked); /* as a plan had it */
    phase->refused = NULL, phase->refused_count = 0;
    if (asked >= 0) return asked_program(r, (layer_kind)asked);
    offer list[program_count];
    const int count = ask_programs(r, list);
    const ir_tile *known = tile_known(r);
    const offer *best = known ? offer_of(list, count, known->program) : cheapest(r, list, count, NULL);
    say_refusals(r, phase, list, count, best);
    if (!best) bail(r->a, code_unsupported, main_op(phase)->at, "phase %s: %s", phase->name, phase->refused[0].why);
    return best->of;
}

const program *const *programs_choose(const builder *b, const device_model *device, struct wishes *w, const tuning *t,
                                      bool (*asks)(const ir_phase *phase))
{
    ir_program *p = b->p;
    const program **of = arena_alloc(b->a, ((size_t)p->kernel_count + 1) * sizeof *of);
    p->index = program_index_make(b->a, p);
    for (int k = 0; k < p->kernel_count; k++) {
        ir_phase *phase = p->kernels[k]->phases[0];
        if (p->kernels[k]->phase_count != 1 || !asks(phase)) continue;
        const tile_request r = request_of(b->a, p, phase, device, w, t);
        of[k] = program_choose(&r, phase);
    }
    p->index = NULL;
    return of;
}

/* ---- settings */
static void take_text(const tile_request *r, ir_tile *t)
{
    const ir_tile *text = &r->phase->tile;
    for (int i = 0; text->program == t->program && i < program_table[t->program].field_count; i++)
        if (text->given & 1u << i) t->at[i] = text->at[i];
}

static const char *fields_text(arena *a, const program_info *p)
{
    text t = {.a = a};
    for (int i = 0; i < p->field_count; i++) {
        const tile_field *f = &p->fields[i];
        text_printf(&t, f->least == f->most ? "%s%s %d" : "%s%s %d to %d", i ? ", " : "", f->name, f->least, f->most);
    }
    return t.data;
}

static int field_of(const wish *w, int setting, program_kind program)
{
    return tile_field_find(program, w->settings[setting].key, strlen(w->settings[setting].key));
}

/* Why the program cannot have the line at all; NULL: it can. */
static const char *wish_obstacle(const tile_request *r, const wish *w, program_kind program)
{
    const program_info *p = &program_table[program];
    if (w->layer >= 0 && w->layer != (int)p->layer) return arena_printf(r->a, "phase %s is computed by %s", r->phase->name, p->name);
    for (int i = 0; i < w->count; i++)
        if (field_of(w, i, program) < 0)
            return arena_printf(r->a, "%s has no setting '%s'; those of %s, by which phase %s is computed, are %s", p->name,
                                w->settings[i].key, p->name, r->phase->name, fields_text(r->a, p));
    return NULL;
}

static void take_wish(const tile_request *r, wish *w, ir_tile *t, ir_phase *phase)
{
    const char *obstacle = wish_obstacle(r, w, t->program);
    if (obstacle && !w->of_family) wish_refuse(r->wishes, w, obstacle);
    if (obstacle) {
        wish_passed_over(w, code_usage, obstacle);
        return;
    }
    for (int i = 0; i < w->count; i++) t->at[field_of(w, i, t->program)] = w->settings[i].value;
    w->taken = true;
    phase->from = tile_of_user;
}

static void take_wishes(const tile_request *r, ir_tile *t, ir_phase *phase)
{
    for (int i = 0; r->wishes && i < r->wishes->count; i++)
        if (wish_is_for(&r->wishes->list[i], phase)) take_wish(r, &r->wishes->list[i], t, phase);
}

static bool has_spilled(const ir_phase *phase, const ir_tile *t)
{
    for (int i = 0; i < phase->spilled_count; i++)
        if (tile_same(&phase->spilled[i].tile, t)) return true;
    return false;
}

bool tile_choose(const tile_request *r, const program *p, ir_phase *phase, const char **rule)
{
    ir_tile t = {.program = p->kind, .given = (1u << program_table[p->kind].field_count) - 1};
    p->defaults(r, &t);
    if (r->second || !phase->tile.program) phase->from = tile_of_model;
    const ir_tile *known = tile_known(r);
    if (known && known->program == p->kind) t = *known, phase->from = tile_of_wisdom;
    if (!r->second) take_text(r, &t), take_wishes(r, &t, phase);
    *rule = rule_broken(r, &t);
    while (!*rule && has_spilled(phase, &t)) {
        phase->from = tile_of_model;
        if (!p->smaller || !p->smaller(r, &t)) return false;
        *rule = rule_broken(r, &t);
    }
    phase->tile = t;
    return !*rule;
}
