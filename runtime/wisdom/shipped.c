/* In: the files of runtime/wisdom/shipped.def, at build time. Out: their text. */
#include "runtime/wisdom/wisdom_file.h"
#include <string.h>

#define SHIPPED(id, path)                                                                                                        \
    __asm__(".pushsection .rodata\n.hidden tfgen_wisdom_" #id "\n.global tfgen_wisdom_" #id "\ntfgen_wisdom_" #id                \
            ":\n.incbin \"" path "\"\n.hidden tfgen_wisdom_end_" #id "\n.global tfgen_wisdom_end_" #id "\ntfgen_wisdom_end_" #id \
            ":\n.byte 0\n.popsection\n");                                                                                        \
    extern const char tfgen_wisdom_##id[] __attribute__((visibility("hidden")));                                                 \
    extern const char tfgen_wisdom_end_##id[] __attribute__((visibility("hidden")));
#include "runtime/wisdom/shipped.def"

static const struct {
    const char *begin, *end;
} files[] = {
#define SHIPPED(id, path) {tfgen_wisdom_##id, tfgen_wisdom_end_##id},
#include "runtime/wisdom/shipped.def"
};

const wisdom *wisdom_shipped(arena *a)
{
    const wisdom *all = wisdom_read(a, files[0].begin, (size_t)(files[0].end - files[0].begin));
    for (size_t i = 1; i < sizeof files / sizeof *files; i++)
        all = wisdom_merge(a, all, wisdom_read(a, files[i].begin, (size_t)(files[i].end - files[i].begin)));
    return all;
}
