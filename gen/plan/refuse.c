/* In, out and refusals: gen/plan/refuse.h. */
#include "gen/plan/refuse.h"
#include "gen/plan/nearest.h"
#include "gen/plan/wishes.h"
#include <string.h>

/* All that the user's lines ask of the phase, as one; `line` is the last one's. */
static wish asked_by_user(const tile_request *r, const ir_phase *phase)
{
    const program_info *p = &program_table[phase->tile.program];
    wish all = {.layer = (int)p->layer};
    unsigned given = 0;
    for (int i = 0; i < r->wishes->count; i++) {
        const wish *w = &r->wishes->list[i];
        if (!wish_is_for(w, phase) || !w->taken) continue;
        all.line = w->line;
        for (int k = 0; k < w->count; k++)
            given |= 1u << tile_field_find(phase->tile.program, w->settings[k].key, strlen(w->settings[k].key));
    }
    for (int i = 0; i < p->field_count; i++)
        if (given & 1u << i) all.settings[all.count++] = (wish_setting){p->fields[i].name, phase->tile.at[i]};
    return all;
}

/* What the text says of the tile. */
static wish asked_by_text(const tile_request *r, const ir_phase *phase)
{
    const program_info *p = &program_table[phase->tile.program];
    wish all = {.layer = (int)p->layer};
    for (int i = 0; i < p->field_count; i++)
        if (r->phase->tile.given & 1u << i) all.settings[all.count++] = (wish_setting){p->fields[i].name, phase->tile.at[i]};
    return all;
}

static const char *nearest_text(const tile_request *r, const ir_phase *phase, const wish *asked)
{
    const nearest n = nearest_of_request(r, phase->tile.program, asked);
    text t = {.a = r->a};
    if (!n.found) return "";
    const program_info *p = &program_table[n.tile.program];
    text_printf(&t, "; the nearest legal one: layer=%s", layer_names(NULL)[p->layer]);
    for (int i = 0; i < p->field_count; i++) text_printf(&t, " %s=%d", p->fields[i].name, n.tile.at[i]);
    return t.data;
}

_Noreturn void tile_refuse(const tile_request *r, const ir_phase *phase, const char *rule)
{
    const bool by_user = phase->from == tile_of_user && r->wishes;
    const wish asked = by_user ? asked_by_user(r, phase) : asked_by_text(r, phase);
    const char *near = nearest_text(r, phase, &asked), *family = family_names(NULL)[phase->family];
    if (asked.line)
        bail(r->a, code_unsupported, (position){0}, "--tile '%s': phase %s (%s) on %s: %s%s", asked.line, phase->name, family,
             r->target->name, rule, near);
    if (phase->tile_at.line) arena_source_unmarked(r->a);
    bail(r->a, code_unsupported, phase->tile_at, "tile: phase %s (%s) on %s: %s%s", phase->name, family, r->target->name, rule, near);
}
