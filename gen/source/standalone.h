/* Makes the source of a template whose kernels belong to no plan (templates/probe/probes.h, templates/rows/next_token.h). */
#ifndef TFGEN_GEN_STANDALONE_H
#define TFGEN_GEN_STANDALONE_H
#include "gen/gen.h"

/* path: the template's. purpose: what the kernels are for, in the source's first line. */
source_text standalone_source(arena *a, const target_info *target, const char *path, const char *purpose);
#endif
