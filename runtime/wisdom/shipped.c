/* In: the files of runtime/wisdom/shipped.def, at build time. Out: their text. */
#include "runtime/wisdom/wisdom_file.h"
#include "ir/base/embed.h"
#include <string.h>

#define SHIPPED(id, path) EMBED_FILE(tfgen_wisdom_##id, path);
#include "runtime/wisdom/shipped.def"

static const struct {
    const char *begin, *end;
} files[] = {
#define SHIPPED(id, path) {tfgen_wisdom_##id, tfgen_wisdom_##id##_end},
#include "runtime/wisdom/shipped.def"
};

const wisdom *wisdom_shipped(arena *a)
{
    const wisdom *all = wisdom_read(a, files[0].begin, (size_t)(files[0].end - files[0].begin));
    for (size_t i = 1; i < sizeof files / sizeof *files; i++)
        all = wisdom_merge(a, all, wisdom_read(a, files[i].begin, (size_t)(files[i].end - files[i].begin)));
    return all;
}
