/* In: a packed weight of an emitted plan. Out: its signature: the same one for all weights that hold the same bytes for the same params. */
#ifndef TFGEN_SIGNATURE_H
#define TFGEN_SIGNATURE_H
#include "gen/gen.h"

const char *pack_signature(arena *a, const packed_weight *w);
#endif
