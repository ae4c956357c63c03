/* In: a target, the path of a template whose kernels belong to no plan (templates/probe/probes.h, templates/rows/next_token.h). Out: its
 * source. purpose: for the source's first line. */
#ifndef TFGEN_GEN_STANDALONE_H
#define TFGEN_GEN_STANDALONE_H
#include "gen/gen.h"

source_text standalone_source(arena *a, const target_info *target, const char *path, const char *purpose);
#endif
