/* In: a phase and a target. Out: its program and its tile. Refuses what tile.h says. Defaults first, then settings of the
 * program's own text (a plan that is read back), then lines of the tuning table; what results is checked as a whole. */
#include "gen/plan/tile.h"
#include <stdlib.h>
#include <string.h>

static const char *family_of(const tile_request *r) { return family_names(NULL)[r->phase->family]; }

/* ---- lines of the tuning table: "family key=value ..." */
typedef struct line_setting {
    const char *key;
    size_t key_size;
    int value; /* of the key layer: a layer_kind */
} line_setting;

static bool is_layer(const line_setting *s) { return s->key_size == strlen("layer") && memcmp(s->key, "layer", s->key_size) == 0; }

static int read_layer(const tile_request *r, const char *line, const char *from, const char **end)
{
    size_t count;
    const char *const *names = layer_names(&count);
    const size_t size = strcspn(from, " \t");
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == size && memcmp(names[i], from, size) == 0) return *end = from + size, (int)i;
    bail(r->a, code_unsupported, (position){0}, "tuning: '%s': no layer '%.*s'", line, (int)size, from);
}

/* *end is `from` where there is no number. */
static int read_number(const char *from, const char **end)
{
    char *stop = NULL;
    const long value = strtol(from, &stop, 10);
    if (value < 0 || value > 1 << 20 || (*stop && *stop != ' ' && *stop != '\t')) stop = (char *)from;
    return *end = stop, (int)value;
}

/* The setting at *at, which moves behind it; false at the end of the line. */
static bool next_setting(const tile_request *r, const char *line, const char **at, line_setting *out)
{
    *at += strspn(*at, " \t");
    if (!**at || **at == '#') return false;
    *out = (line_setting){*at, strcspn(*at, "= \t"), 0};
    const bool assigns = (*at)[out->key_size] == '=';
    const char *from = *at + out->key_size + assigns, *end = from;
    if (assigns) out->value = is_layer(out) ? read_layer(r, line, from, &end) : read_number(from, &end);
    if (end == from) bail(r->a, code_unsupported, (position){0}, "tuning: '%s': expected key=number, at '%s'", line, *at);
    *at = end;
    return true;
}

/* What follows the family's name, or NULL when the line is another family's. */
static const char *line_settings(const tile_request *r, const char *line)
{
    const size_t family = strcspn(line, " \t");
    const char *name = family_of(r);
    return strlen(name) == family && memcmp(name, line, family) == 0 ? line + family : NULL;
}

static void check_lines(const tile_request *r)
{
    size_t count;
    const char *const *families = family_names(&count);
    for (size_t i = 0; r->tuning && i < r->tuning->count; i++) {
        const char *line = r->tuning->lines[i];
        const size_t size = strcspn(line, " \t");
        bool known = size == 0 || line[0] == '#';
        for (size_t f = 0; f < count; f++) known |= strlen(families[f]) == size && memcmp(families[f], line, size) == 0;
        if (!known) bail(r->a, code_unsupported, (position){0}, "tuning: '%s': no family '%.*s'", line, (int)size, line);
    }
}

/* ---- the program */
/* The layer that the last line, or else the text asks for; -1: none does. */
static int layer_asked(const tile_request *r)
{
    int layer = r->phase->tile.program ? (int)program_table[r->phase->tile.program].layer : -1;
    line_setting one;
    for (size_t i = 0; r->tuning && i < r->tuning->count; i++)
        for (const char *line = r->tuning->lines[i], *at = line_settings(r, line); at && next_setting(r, line, &at, &one);)
            if (is_layer(&one) && family_programs(r->phase->family) > 1) layer = one.value;
    return layer;
}

static bool target_has(const target_info *target, layer_kind layer) { return layer == layer_simt || target->layers >> layer & 1; }

static const char *obstacle_of(const tile_request *r, const program *p)
{
    if (!target_has(r->target, program_table[p->kind].layer)) return "the target has no such instructions";
    return p->obstacle ? p->obstacle(r) : NULL;
}

static _Noreturn void refuse(const tile_request *r, const char *rule)
{
    bail(r->a, code_unsupported, (position){0}, "tile: phase %s (%s) on %s: %s", r->phase->name, family_of(r), r->target->name, rule);
}

static const program *asked_program(const tile_request *r, layer_kind layer)
{
    const program_kind kind = program_find(r->phase->family, layer);
    const char *name = layer_names(NULL)[layer],
               *obstacle = kind ? obstacle_of(r, program_at(kind)) : "no program of the family has that layer";
    if (obstacle) refuse(r, arena_printf(r->a, "layer=%s: %s", name, obstacle));
    return program_at(kind);
}

/* What a program of the phase's family says of it. */
typedef struct offer {
    const program *of;
    const char *obstacle;
    double cost; /* without an obstacle */
} offer;

/* Of the programs whose layer the target has; returns how many. */
static int ask_programs(const tile_request *r, offer *list)
{
    int count = 0;
    for (int i = 1; i < program_count; i++) {
        const program *p = program_at((program_kind)i);
        if (program_table[i].family != r->phase->family || !target_has(r->target, program_table[i].layer)) continue;
        const char *obstacle = obstacle_of(r, p);
        list[count++] = (offer){p, obstacle, !obstacle && p->cost ? p->cost(r) : 0};
    }
    return count;
}

static const offer *cheapest(const offer *list, int count, unsigned tried)
{
    const offer *best = NULL;
    for (int i = 0; i < count; i++)
        if (!list[i].obstacle && !(tried >> list[i].of->kind & 1) && (!best || list[i].cost < best->cost)) best = &list[i];
    return best;
}

const program *program_next(const tile_request *r, unsigned tried)
{
    offer list[program_count];
    const offer *best = cheapest(list, ask_programs(r, list), tried);
    return best ? best->of : NULL;
}

static void add_refusal(ir_phase *phase, const program *p, const char *why)
{
    phase->refused[phase->refused_count++] = (refusal){program_table[p->kind].layer, why};
}

/* First those that something is in the way of, then those that cost more. */
static void say_refusals(const tile_request *r, ir_phase *phase, const offer *list, int count, const offer *best)
{
    phase->refused = arena_alloc(r->a, layer_count * sizeof *phase->refused);
    for (int i = 0; i < count; i++)
        if (list[i].obstacle) add_refusal(phase, list[i].of, list[i].obstacle);
    for (int i = 0; i < count && best; i++)
        if (!list[i].obstacle && &list[i] != best)
            add_refusal(phase, list[i].of,
                        arena_printf(r->a, "costs %.3g, %s %.3g", list[i].cost, layer_names(NULL)[program_table[best->of->kind].layer],
                                     best->cost));
}

/* The product, or the attention: what people look for in the spec. */
static const ir_op *main_op(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i]->role == role_body && !op_is_view(phase->ops[i])) return phase->ops[i];
    return phase->ops[0];
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
    const offer *best = cheapest(list, count, 0);
    say_refusals(r, phase, list, count, best);
    if (!best) bail(r->a, code_unsupported, main_op(phase)->at, "phase %s: %s", phase->name, phase->refused[0].why);
    return best->of;
}

/* ---- settings */
static void take_text(const tile_request *r, ir_tile *t)
{
    const ir_tile *text = &r->phase->tile;
    for (int i = 0; text->program == t->program && i < program_table[t->program].field_count; i++)
        if (text->given & 1u << i) t->at[i] = text->at[i];
}

static void take_line(const tile_request *r, ir_tile *t, const char *line)
{
    const char *at = line_settings(r, line);
    line_setting one;
    while (at && next_setting(r, line, &at, &one)) {
        if (is_layer(&one) && family_programs(r->phase->family) > 1) continue;
        const int i = tile_field_find(t->program, one.key, one.key_size);
        if (i < 0)
            bail(r->a, code_unsupported, (position){0}, "tuning: '%s': %s has no setting '%.*s'", line, program_table[t->program].name,
                 (int)one.key_size, one.key);
        t->at[i] = one.value;
    }
}

/* ---- legality */
static void check_ranges(const tile_request *r, const ir_tile *t)
{
    const program_info *p = &program_table[t->program];
    for (int i = 0; i < p->field_count; i++) {
        const tile_field *f = &p->fields[i];
        if (t->at[i] < f->least || t->at[i] > f->most)
            refuse(r, arena_printf(r->a, "%s: %s=%d; it is %d to %d (%s)", p->name, f->name, t->at[i], f->least, f->most, f->help));
    }
}

static void check(const tile_request *r, const program *p, const ir_tile *t)
{
    const target_info *target = r->target;
    check_ranges(r, t);
    if (tile_threads(t) > target->max_threads)
        refuse(r, arena_printf(r->a, "%d threads; a workgroup has 1 to %d", tile_threads(t), target->max_threads));
    const char *rule = p->illegal ? p->illegal(r, t) : NULL;
    if (rule) refuse(r, rule);
    const long long shared = p->shared_bytes(r, t);
    const int most = frame_is_dynamic(program_table[p->kind].frame) ? target->lds_bytes : target->static_bytes;
    if (shared > most) refuse(r, arena_printf(r->a, "%lld bytes of shared memory; a workgroup has %d", shared, most));
}

static bool has_spilled(const ir_phase *phase, const ir_tile *t)
{
    for (int i = 0; i < phase->spilled_count; i++)
        if (tile_same(&phase->spilled[i].tile, t)) return true;
    return false;
}

bool tile_choose(const tile_request *r, const program *p, ir_phase *phase)
{
    ir_tile t = {.program = p->kind, .given = (1u << program_table[p->kind].field_count) - 1};
    p->defaults(r, &t);
    check_lines(r);
    if (!r->second) take_text(r, &t);
    for (size_t i = 0; !r->second && r->tuning && i < r->tuning->count; i++) take_line(r, &t, r->tuning->lines[i]);
    check(r, p, &t);
    for (; has_spilled(phase, &t); check(r, p, &t))
        if (!p->smaller || !p->smaller(r, &t)) return false;
    phase->tile = t;
    return true;
}
