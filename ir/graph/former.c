/* Looks up names of today for former names, whose tables ir/former.def fills. Contract: ir/graph/former.h. */
#include "ir/graph/former.h"
#include <string.h>

const former_name former_families[] = {
#define FORMER_FAMILY(former, today) {#former, #today},
#include "ir/former.def"
    {NULL, NULL}};

const former_name former_layers[] = {
#define FORMER_LAYER(former, today) {#former, #today},
#include "ir/former.def"
    {NULL, NULL}};

const former_name former_frames[] = {
#define FORMER_FRAME(former, today) {#former, #today},
#include "ir/former.def"
    {NULL, NULL}};

static const struct {
    const char *family;
    former_name name;
} layers_of[] = {
#define FORMER_LAYER_OF(family, former, today) {#family, {#former, #today}},
#include "ir/former.def"
};

static const struct {
    program_kind program;
    former_name name;
} fields[] = {
#define FORMER_FIELD(program, former, today) {program_##program, {#former, #today}},
#include "ir/former.def"
    {program_none, {NULL, NULL}}};

bool was_frame_of(program_kind program, frame_kind frame)
{
    static const struct {
        program_kind program;
        frame_kind frame;
    } former[] = {
#define FORMER_FRAME_OF(program, former) {program_##program, frame_##former},
#include "ir/former.def"
        {program_none, frame_count}};
    for (size_t i = 0; former[i].program; i++)
        if (former[i].program == program && former[i].frame == frame) return true;
    return false;
}

const former_name *former_layers_of(arena *a, const char *family)
{
    enum { all = sizeof layers_of / sizeof *layers_of };
    if (name_today(former_families, family) == family) return former_layers;
    former_name *list = arena_alloc(a, (all + 1) * sizeof *list);
    int count = 0;
    for (int i = 0; i < all; i++)
        if (strcmp(layers_of[i].family, family) == 0) list[count++] = layers_of[i].name;
    list[count] = (former_name){NULL, NULL};
    return list;
}

const char *name_today(const former_name *list, const char *name)
{
    for (const former_name *n = list; n && n->former; n++)
        if (strcmp(n->former, name) == 0) return n->today;
    return name;
}

const char *field_today(program_kind program, const char *name)
{
    for (size_t i = 0; fields[i].name.former; i++)
        if (fields[i].program == program && strcmp(fields[i].name.former, name) == 0) return fields[i].name.today;
    return name;
}

const char *former_hint(arena *a, const char *given, const char *today)
{
    return strcmp(given, today) == 0 ? NULL : arena_printf(a, "%s is called %s now", given, today);
}
