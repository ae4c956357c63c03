/* In: a target. Out: probe.h. */
#include "gen/source/probe.h"
#include "gen/source/template_text.h"

source_text probe_source(arena *a, const target_info *target)
{
    template_set *known = NULL;
    template_choice choice = {0};
    text head = {.a = a};
    text_printf(&head, "// Written by tfgen: what measures a device, for %s, wave %d.\n", target->family, target->wave);
    template_target(&head, target);
    template_choose(&choice, "templates/probe/probes.h");
    return (source_text){head.data, templates_find(a, &known, &choice)->text, ""};
}
