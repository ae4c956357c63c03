/* In: the headers of the host build, at compile time (found through -I.).
 * Out: their text, so that the binary needs no installed files. */
#define _GNU_SOURCE
#include "ir/base/embed.h"
#include "runtime/host/engine.h"
/* For the list of dependencies only: these headers are empty for a C compiler. */
#include "runtime/host/hip_amdgcn.h"
#include "runtime/host/hip_library.h"
#include "runtime/host/hip_on_host.h"

EMBED_FILE(embedded_abi, "runtime/host/hs_abi.h");
EMBED_FILE(embedded_hip, "runtime/host/hip_on_host.h");
EMBED_FILE(embedded_library, "runtime/host/hip_library.h");
EMBED_FILE(embedded_amdgcn, "runtime/host/hip_amdgcn.h");

const embedded_part *embedded_parts(void)
{
    static const embedded_part parts[] = {
        {"hs_abi.h", embedded_abi, embedded_abi_end},
        {"hip_on_host.h", embedded_hip, embedded_hip_end},
        {"hip_library.h", embedded_library, embedded_library_end},
        {"hip_amdgcn.h", embedded_amdgcn, embedded_amdgcn_end},
        {0},
    };
    return parts;
}
