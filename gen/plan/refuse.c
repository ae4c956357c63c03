/* Contract: gen/plan/refuse.h. */
#include "gen/plan/refuse.h"
#include "gen/plan/nearest.h"
#include "gen/plan/overrides.h"
#include <string.h>

/* The user's overrides for the phase, merged into one. Its `line` is that of the last one. */
static tile_override asked_by_user(const preferences *w, const ir_phase *phase)
{
    const program_info *info = &program_table[phase->tile.program];
    tile_override all = {.layer = (int)info->layer};
    unsigned given = 0;
    for (int i = 0; i < w->overrides->count; i++) {
        const tile_override *line = &w->overrides->list[i];
        if (!override_is_for(line, phase) || !line->taken) continue;
        all.line = line->line;
        for (int k = 0; k < line->count; k++) given |= 1u << tile_field_find(phase->tile.program, line->settings[k].key);
    }
    for (int i = 0; i < info->field_count; i++)
        if (given & 1u << i) all.settings[all.count++] = (override_setting){info->fields[i].name, phase->tile.at[i]};
    return all;
}

/* An override with the fields that the plan's text gives. */
static tile_override asked_by_text(const problem *p, const ir_phase *phase)
{
    const program_info *info = &program_table[phase->tile.program];
    tile_override all = {.layer = (int)info->layer};
    for (int i = 0; i < info->field_count; i++)
        if (p->phase->tile.given & 1u << i) all.settings[all.count++] = (override_setting){info->fields[i].name, phase->tile.at[i]};
    return all;
}

static const char *nearest_text(const problem *p, const ir_phase *phase, const tile_override *asked)
{
    const nearest n = nearest_of_problem(p, phase->tile.program, asked);
    text t = {.a = p->a};
    if (!n.found) return "";
    const program_info *info = &program_table[n.tile.program];
    text_printf(&t, "; the nearest legal one: layer=%s", layer_names(NULL)[info->layer]);
    for (int i = 0; i < info->field_count; i++)
        if (info->fields[i].help) text_printf(&t, " %s=%d", info->fields[i].name, n.tile.at[i]);
    return t.data;
}

_Noreturn void tile_refuse(const problem *p, const preferences *w, const ir_phase *phase, const char *rule)
{
    const tile_override asked = phase->from == tile_of_user ? asked_by_user(w, phase) : asked_by_text(p, phase);
    const char *near = nearest_text(p, phase, &asked), *family = family_names(NULL)[phase->family];
    if (asked.line)
        bail(p->a, code_unsupported, (position){0}, "--tile '%s': phase %s (%s) on %s: %s%s", asked.line, phase->name, family,
             p->target->name, rule, near);
    if (phase->tile_at.line) arena_source_unmarked(p->a);
    bail(p->a, code_unsupported, phase->tile_at, "tile: phase %s (%s) on %s: %s%s", phase->name, family, p->target->name, rule, near);
}

_Noreturn void layer_refuse(const problem *p, position at, const char *rule)
{
    if (at.line) arena_source_unmarked(p->a);
    bail(p->a, code_unsupported, at, "tile: phase %s (%s) on %s: %s", p->phase->name, family_names(NULL)[p->phase->family],
         p->target->name, rule);
}
