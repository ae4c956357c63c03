/* Contract: gen/source/standalone.h. */
#include "gen/source/standalone.h"
#include "gen/source/template_text.h"

source_text standalone_source(arena *a, const target_info *target, const char *path, const char *purpose)
{
    template_set *known = NULL;
    template_choice choice = {0};
    text head = {.a = a};
    text_printf(&head, "// Written by tfgen: %s, for %s, wave %d.\n", purpose, target->family, target->wave);
    template_target(&head, target);
    template_choose(&choice, path);
    return (source_text){head.data, templates_find(a, &known, &choice)->text, ""};
}
