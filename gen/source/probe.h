/* In: a target. Out: the source of the kernels of templates/probe/probes.h, which measure a device's rates and latencies. */
#ifndef TFGEN_GEN_PROBE_H
#define TFGEN_GEN_PROBE_H
#include "gen/gen.h"

source_text probe_source(arena *a, const target_info *target);
#endif
