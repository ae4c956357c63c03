/* In: the name of a target, or of a GPU architecture. Out: its row of ir/target.def. Refuses (NULL): a name that is not in the table. */
#include "ir/ir.h"
#include <limits.h>
#include <stdint.h>
#include <string.h>

_Static_assert(layer_count <= 32, "target_info.layers and the layers of a dtype have a bit for each layer");
#define L(layer) (1u << layer_##layer)
static const target_info targets[] = {
#define TARGET(id, of, maker, ...) {.name = #id, .family = #of, .vendor = vendor_##maker, __VA_ARGS__},
#include "ir/target.def"
};
#undef L

static const vendor_words words[] = {
#define VENDOR(name, macro, wave, unit, simd, compiler, clang, arch, object) \
    {macro, wave, unit, simd, compiler, clang, arch, object},
#include "ir/target.def"
};

static const char names[] = ""
#define TARGET(name, ...) "," #name
#include "ir/target.def"
    ;
const char *const target_names = names + 1;

const target_info *target_list(size_t *count)
{
    *count = sizeof targets / sizeof *targets;
    return targets;
}

const target_info *target_find(const char *name)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].name, name) == 0) return &targets[i];
    return NULL;
}

const target_info *target_of_machine(const char *arch)
{
    static const char *const machines[][2] = {
#define MACHINE(arch, target) {#arch, #target},
#include "ir/target.def"
    };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strcmp(arch, machines[i][0]) == 0) return target_find(machines[i][1]);
    return target_find(arch);
}

bool frame_asks(frame_kind frame, const target_info *target)
{
    return frame_table[frame].dynamic && target->static_bytes < target->lds_bytes;
}

bool target_has(const target_info *target, layer_kind layer) { return layer == layer_simt || target->layers >> layer & 1; }

const vendor_words *target_words(const target_info *target) { return &words[target->vendor]; }
