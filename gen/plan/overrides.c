/* Contract: gen/plan/overrides.h. Whether a tile is legal is checked by gen/plan/tile.c. */
#include "gen/plan/overrides.h"
#include "gen/base/signature.h"
#include "ir/graph/former.h"
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t,";

void override_refuse(const overrides *w, const tile_override *of, const char *why)
{
    bail(w->a, code_usage, (position){0}, "tile '%s': %s", of->line, why);
}

void override_warn(const overrides *w, const tile_override *of, const char *hint)
{
    if (hint) warn(w->a, (position){0}, "tile '%s': %s", of->line, hint);
}

static const char *all_names(arena *a, const char *const *names, size_t count)
{
    text t = {.a = a};
    for (size_t i = 0; i < count; i++) text_printf(&t, "%s%s", i ? ", " : "", names[i]);
    return t.data ? t.data : "";
}

static const char *hint(const char *word, const char *const *names, size_t count, arena *a)
{
    const char *near = nearest_name(word, names, count);
    return near ? arena_printf(a, "; did you mean %s?", near) : ";";
}

/* ---- reading */
/* The layer of this name; -1: there is none. */
static int layer_named(const char *name)
{
    size_t count;
    const char *const *names = layer_names(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return (int)i;
    return -1;
}

static int read_layer(const overrides *w, const tile_override *of, const char *given)
{
    size_t count;
    const char *const *names = layer_names(&count), *name = name_today(former_layers, given);
    override_warn(w, of, former_hint(w->a, given, name));
    if (layer_named(name) >= 0) return layer_named(name);
    const char *near = hint(name, names, count, w->a), *all = all_names(w->a, names, count);
    override_refuse(w, of, arena_printf(w->a, "no layer '%s'%s layers are %s", name, near, all));
}

static int read_number(const overrides *w, const tile_override *of, const char *setting, const char *from)
{
    char *end;
    const long value = strtol(from, &end, 10);
    if (end == from || *end || *from < '0' || *from > '9' || value > 1 << 20)
        override_refuse(w, of, arena_printf(w->a, "expected key=number, from 0 to %d, at '%s'", 1 << 20, setting));
    return (int)value;
}

static void add_setting(const overrides *w, tile_override *of, const char *setting)
{
    const char *equals = strchr(setting, '=');
    if (!equals || equals == setting) override_refuse(w, of, arena_printf(w->a, "expected key=number, at '%s'", setting));
    const char *key = arena_strndup(w->a, setting, (size_t)(equals - setting));
    for (int i = 0; i < of->count; i++)
        if (strcmp(of->settings[i].key, key) == 0) override_refuse(w, of, arena_printf(w->a, "%s is given twice", key));
    if (strcmp(key, "layer") == 0) {
        if (of->layer >= 0) override_refuse(w, of, "layer is given twice");
        of->layer = read_layer(w, of, equals + 1);
        return;
    }
    if (of->count == most_override_settings) override_refuse(w, of, arena_printf(w->a, "more than %d settings", most_override_settings));
    of->settings[of->count++] = (override_setting){key, read_number(w, of, setting, equals + 1)};
}

static void read_line(const overrides *w, tile_override *of)
{
    const char *at = of->line + strspn(of->line, " \t");
    size_t size = strcspn(at, ": \t");
    of->selector = arena_strndup(w->a, at, size);
    at += size;
    at += *at == ':';
    if (!*of->selector) override_refuse(w, of, "must start with a phase's name: 'gate_up: m=128 n=192'");
    for (at += strspn(at, blanks); *at; at += strspn(at, blanks)) {
        size = strcspn(at, blanks);
        add_setting(w, of, arena_strndup(w->a, at, size));
        at += size;
    }
    if (!of->count && of->layer < 0) override_refuse(w, of, "it has no settings; expected key=number after the phase");
}

overrides *overrides_read(arena *a, const tuning *t)
{
    const size_t count = t ? t->count : 0;
    overrides *w = arena_alloc(a, sizeof *w);
    *w = (overrides){a, arena_alloc(a, (count + 1) * sizeof *w->list), 0};
    for (size_t i = 0; i < count; i++) {
        if (!t->lines[i][strspn(t->lines[i], " \t")]) continue;
        tile_override *of = &w->list[w->count++];
        *of = (tile_override){.line = text_harmless(a, t->lines[i]), .layer = -1};
        read_line(w, of);
    }
    return w;
}

/* ---- which phases they are for */
static size_t phases_of(const ir_graph *p) /* the number of phases plus one, so that no allocation is empty */
{
    size_t count = 1;
    for (int k = 0; k < p->kernel_count; k++) count += (size_t)p->kernels[k]->phase_count;
    return count;
}

static bool names_phase(const overrides *w, const char *selector, const ir_graph *p, int kernel, const ir_phase *phase,
                        const char *launch)
{
    const char *k = p->kernels[kernel]->name;
    const size_t size = strlen(k);
    if (strcmp(selector, phase->name) == 0 || strcmp(selector, k) == 0 || strcmp(selector, launch) == 0) return true;
    if (strncmp(selector, k, size) == 0 && selector[size] == '.' && strcmp(selector + size + 1, phase->name) == 0) return true;
    return strchr(selector, '(') && strcmp(selector, phase_signature(w->a, p, phase)) == 0;
}

static _Noreturn void refuse_name(const overrides *w, const tile_override *of, const ir_graph *p)
{
    const char **names = arena_alloc(w->a, phases_of(p) * sizeof *names);
    size_t count = 0;
    for (int k = 0; k < p->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++) names[count++] = p->kernels[k]->phases[i]->name;
    size_t families;
    const char *const *list = family_names(&families);
    override_refuse(w, of,
                    arena_printf(w->a, "no phase, kernel or family is called '%s'%s phases are %s; families %s", of->selector,
                                 hint(of->selector, names, count, w->a), all_names(w->a, names, count), all_names(w->a, list, families)));
}

static void find_phases(const overrides *w, tile_override *of, const ir_graph *p, const char *const *launches)
{
    size_t count;
    const char *const *families = family_names(&count);
    of->phase_count = 0;
    of->phases = arena_alloc(w->a, phases_of(p) * sizeof *of->phases);
    for (int k = 0; k < p->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count; i++)
            if (names_phase(w, of->selector, p, k, p->kernels[k]->phases[i], launches[k]))
                of->phases[of->phase_count++] = p->kernels[k]->phases[i]->name;
    for (size_t i = 0; i < count; i++) of->of_family |= strcmp(families[i], of->selector) == 0;
}

/* If the selector is or begins with a former name of a family, replaces that by the family's name today, and the layer by its
 * name today. */
static void take_former_family(const overrides *w, tile_override *of)
{
    const char *family = arena_strndup(w->a, of->selector, strcspn(of->selector, "("));
    const char *today = name_today(former_families, family), *layer = of->layer >= 0 ? layer_names(NULL)[of->layer] : NULL;
    if (today == family) return;
    of->former = family;
    of->selector = signature_today(w->a, of->selector);
    override_warn(w, of, former_hint(w->a, family, today));
    const char *layer_now = layer ? name_today(former_layers_of(w->a, family), layer) : NULL;
    if (layer_now == layer) return;
    override_warn(w, of, former_hint(w->a, layer, layer_now));
    of->layer = layer_named(layer_now);
}

static void settle(const overrides *w, tile_override *of, const ir_graph *p, const char *const *launches, bool final)
{
    find_phases(w, of, p, launches);
    if (!of->of_family && !of->phase_count && !of->former) {
        take_former_family(w, of);
        if (of->former) find_phases(w, of, p, launches);
    }
    if (!of->of_family && !of->phase_count && final) refuse_name(w, of, p);
}

void overrides_settle(overrides *w, const ir_graph *p, const char *const *launches, bool final)
{
    for (int i = 0; i < w->count; i++) settle(w, &w->list[i], p, launches, final);
}

bool override_is_for(const tile_override *w, const ir_phase *phase)
{
    if (w->of_family) return strcmp(w->selector, family_names(NULL)[phase->family]) == 0;
    for (int i = 0; i < w->phase_count; i++)
        if (strcmp(w->phases[i], phase->name) == 0) return true;
    return false;
}

void override_passed_over(tile_override *w, tfgen_code code, const char *why)
{
    if (!w->why) w->why = why, w->code = code;
}

void overrides_end(const overrides *w)
{
    for (int i = 0; i < w->count; i++)
        if (!w->list[i].taken && w->list[i].why)
            bail(w->a, w->list[i].code, (position){0}, "tile '%s': %s", w->list[i].line, w->list[i].why);
}
