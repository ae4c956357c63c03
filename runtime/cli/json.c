/* In: jansson values, an arena. Out: JSON released with the arena, its text, and objects that several commands share. Bails if out of
 * memory. */
#include "runtime/cli/cli.h"
#include <math.h>
#include <stdlib.h>

static void release(void *json) { json_decref(json); }

json_t *cli_keep_json(arena *a, json_t *json)
{
    arena_defer(a, release, json);
    return json;
}

const char *cli_json_text(arena *a, const json_t *all, size_t flags)
{
    char *text = json_dumps(all, flags);
    if (!text) bail(a, code_device, (position){0}, "not enough memory for the JSON");
    arena_defer(a, free, text);
    return text;
}

void cli_print_json(const json_t *all)
{
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
}

json_t *cli_json_number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

json_t *cli_json_dims(const dim_table *dims)
{
    json_t *o = json_object();
    for (int i = 0; i < dims->count; i++) json_object_set_new(o, dims->dims[i].name, json_integer(dims->dims[i].value));
    return o;
}
