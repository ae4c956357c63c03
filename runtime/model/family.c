/* See runtime/model/family.h. */
#include "runtime/model/family.h"
#include "ir/base/arena.h"
#include <string.h>

static const family families[] = {
#define FAMILY(type, ...) {.model_type = type, __VA_ARGS__},
#include "runtime/model/family.def"
};
enum { family_count = sizeof families / sizeof *families };

static const char *const refused[][2] = {
#define REFUSED(type, reason) {type, reason},
#include "runtime/model/family.def"
};

static const activation activations[] = {
#define ACTIVATION(name, op, number, then) {name, op, number, then},
#include "runtime/model/family.def"
};

const family *family_find(const char *model_type, const char **why)
{
    *why = NULL;
    for (size_t i = 0; i < family_count; i++)
        if (strcmp(families[i].model_type, model_type) == 0) return &families[i];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i][0], model_type) == 0) *why = refused[i][1];
    return NULL;
}

bool family_is_within(const char *model_type)
{
    static const char *const around[] = {
#define AROUND(type) type,
#include "runtime/model/family.def"
    };
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        if (strcmp(around[i], model_type) == 0) return true;
    return false;
}

const model_parts *family_parts(const char *model_type)
{
    static const model_parts all[] = {
#define PARTS(type, text, vision, doubled) {type, text, vision, doubled},
#include "runtime/model/family.def"
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].model_type, model_type) == 0) return &all[i];
    return NULL;
}

const char *family_name(size_t index) { return index < family_count ? families[index].model_type : NULL; }

const char *family_like(const char *model_type)
{
    const char *names[family_count];
    for (size_t i = 0; i < family_count; i++) names[i] = families[i].model_type;
    return nearest_name(model_type, names, family_count);
}

const activation *activation_find(const char *name)
{
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (strcmp(activations[i].name, name) == 0) return &activations[i];
    return NULL;
}
