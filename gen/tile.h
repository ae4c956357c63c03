/* In: a phase, its space, a target. Out: the tile settings of its family: defaults of the target, changed by what the
 * program's text or a tuning table says. Refuses (code_unsupported) settings that the template or the target cannot
 * hold, with the limit. */
#ifndef TFGEN_GEN_TILE_H
#define TFGEN_GEN_TILE_H
#include "gen/gen.h"
#include "ir/program/segments.h"

typedef struct tile_request {
    arena *a;
    const ir_program *program;
    const ir_phase *phase;
    const target_info *target;
    const tuning *tuning; /* or NULL */
    phase_extent space;
    layer_kind layer;
    long long packed_n; /* gemm; follows from the layer */
    const segment_list *segments; /* gemm */
    bool second; /* the layer is none that text, tuning table or shape ask for: what they say of the tile is of another layer */
} tile_request;

/* Fills phase->tile of the copy that is being planned. False: all tiles of the layer that come into question have spilled. */
bool tile_choose(const tile_request *r, ir_phase *phase);
long long tile_value(const ir_phase *phase, const char *key); /* -1: no such setting */
/* What the phase's own text, or a tuning line, says of one setting; -1: nothing. */
int tile_asked(const tile_request *r, const char *key);
/* sizeof(mixed_memory<...>) of templates/frame/frame_mixed.h, which the emitted source asserts. */
long long tile_shared_bytes(const tile_request *r, const ir_phase *phase);
int tile_shared_limit(const target_info *target); /* of variables whose size is known when a kernel is compiled */
enum { pack_shared_bytes = 2 };
#endif
