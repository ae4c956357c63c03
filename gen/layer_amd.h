/* In: a gemm phase and an AMD target. Out: whether and how it runs on the machine's matrix units (templates/gemm/gemm_mfma.h): layer mfma or wmma,
 * tile, shared memory. Refuses nothing itself: says what is in the way. */
#ifndef TFGEN_GEN_LAYER_AMD_H
#define TFGEN_GEN_LAYER_AMD_H
#include "gen/tile.h"

typedef struct amd_tile {
    int m, n, k, threads, slots, group, chiplets, chunk;
} amd_tile;

/* In what follows a phase is a product or an attention over all keys. */
layer_kind amd_layer(const target_info *target); /* what the machine has, or simt */
bool layer_is_amd(layer_kind layer);
const char *amd_obstacle(const tile_request *r, layer_kind layer); /* NULL when the phase can have it */
bool amd_pays(const tile_request *r);
amd_tile amd_defaults(const tile_request *r); /* packed_n is known */
const char *amd_illegal(const tile_request *r, const ir_phase *phase); /* a tile that the template does not take: the rule; else NULL */
const char *amd_chiplets_illegal(const ir_phase *phase);               /* both families */
long long amd_shared_bytes(const ir_phase *phase, bool sums);          /* pump_memory<...>::bytes */
const char *amd_machine(arena *a, const target_info *target);          /* value of TF_GFX: 0x942 */

/* ---- attention (templates/attention/attention_mfma.h) */
typedef struct amd_attention_tile {
    int block_q, block_k, threads, chiplets;
} amd_attention_tile;
const char *amd_attention_obstacle(const tile_request *r, layer_kind layer);
bool amd_attention_pays(const tile_request *r);
amd_attention_tile amd_attention_defaults(const tile_request *r);
const char *amd_attention_illegal(const ir_phase *phase);
long long amd_attention_bytes(const ir_phase *phase);
#endif
