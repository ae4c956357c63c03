/* A double of AMD's comgr: lists the architectures that the double of HIPRTC compiles for. Refuses indices beyond them. */
#include <stddef.h>
#define EXPORT __attribute__((visibility("default")))

static const char *const names[] = {
#define TARGET(name, ...) "amdgcn-amd-amdhsa--" #name,
#define MACHINE(name, target) "amdgcn-amd-amdhsa--" #name,
#include "ir/target.def"
};
enum { count = sizeof names / sizeof *names };

EXPORT int amd_comgr_get_isa_count(size_t *out)
{
    *out = count;
    return 0;
}

EXPORT int amd_comgr_get_isa_name(size_t index, const char **name)
{
    if (index >= count) return 1;
    *name = names[index];
    return 0;
}
