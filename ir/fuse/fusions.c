/* In: the FUSION rows of ir/reason.def. Out: the names of fusions, and whether one may run: at this level, and not turned off. */
#include "ir/fuse/fuse.h"
#include <string.h>

static const struct {
    const char *name;
    fusion_level least;
} fusions[] = {
#define FUSION(name, least, help) {#name, fusion_##least},
#include "ir/reason.def"
};
enum { fusion_count = sizeof fusions / sizeof *fusions };
_Static_assert(fusion_count <= sizeof ((fusing *)NULL)->disabled, "more fusions than fusing.disabled holds");

const char *const *fusion_names(size_t *count)
{
    static const char *const names[] = {
#define FUSION(name, least, help) #name,
#include "ir/reason.def"
    };
    *count = fusion_count;
    return names;
}

int fusion_index(const char *name)
{
    for (int i = 0; i < fusion_count; i++)
        if (strcmp(fusions[i].name, name) == 0) return i;
    return -1;
}

bool fuse_may_run(const fusing *f, int fusion, reason *why)
{
    *why = f->options->level < fusions[fusion].least ? reason_level : f->disabled[fusion] ? reason_disabled : reason_none;
    return *why == reason_none;
}
