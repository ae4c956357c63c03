/* In: a phase, its target. Out: its ISA layer (which instructions multiply), and what follows from it alone: the frame, how packed
 * weights are paired, how wide an epilogue's pieces are. Refuses (code_unsupported) a layer that the target or the phase cannot have. */
#ifndef TFGEN_GEN_LAYER_H
#define TFGEN_GEN_LAYER_H
#include "gen/tile.h"

/* The layer of a phase that is planned: what `text`, a tuning line "gemm layer=simt", or else the shape says. */
layer_kind layer_choose(const tile_request *r);
/* The next best layer that the phase can have, where no tile of r->layer is left; false: simt was the last. */
bool layer_below(const tile_request *r, layer_kind *layer);
layer_kind layer_of(const ir_phase *phase); /* of its tile; simt when it has none */
frame_kind layer_frame(layer_kind layer);

/* docs/architecture.md: Packed weights. A block is a granule of columns and the granule that belongs to it. */
int layer_granule(layer_kind layer, const target_info *target);

/* Elements of a row of a packed weight: K rounded up, in blocks of 32 and twice on wgmma3 (large parts, small parts). */
long long layer_packed_length(layer_kind layer, long long K);

/* What is in the way of any program that copies rows of A and of a packed weight as they lie in memory; NULL: nothing. */
const char *obstacle_to_rows(const tile_request *r, const ir_op *product);

/* ---- wgmma: products on sm_90a (templates/gemm/gemm_ws.h); wgmma3: f32 products as three of tf32 (templates/gemm/gemm_ws_split.h) */
bool layer_is_wgmma(layer_kind layer);
/* NULL when it can have that layer, else what is in the way. */
const char *wgmma_obstacle(const tile_request *r);
bool wgmma_pays(const tile_request *r);
typedef struct wgmma_tile {
    int m, n, k, threads, slots, group, cluster, split, stage;
} wgmma_tile;
wgmma_tile wgmma_defaults(const tile_request *r); /* packed_n is known */
const char *wgmma_illegal(const tile_request *r, const ir_phase *phase); /* a tile that the template does not take: the rule; else NULL */
const char *wgmma3_obstacle(const tile_request *r);
bool wgmma3_pays(const tile_request *r);
wgmma_tile wgmma3_defaults(const tile_request *r);
const char *wgmma3_illegal(const ir_phase *phase);
/* sizeof what ws_memory<...>::bytes says in templates/frame/frame_ws.h. */
long long wgmma_shared_bytes(const ir_phase *phase);

/* ---- attention on wgmma (templates/attention/attention_ws.h) */
const char *wgmma_attention_obstacle(const tile_request *r);
bool wgmma_attention_pays(const tile_request *r);
typedef struct wgmma_attention_tile {
    int block_q, block_k, slots, pack, threads;
} wgmma_attention_tile;
wgmma_attention_tile wgmma_attention_defaults(const tile_request *r);
const char *wgmma_attention_illegal(const ir_phase *phase);
long long wgmma_attention_bytes(const ir_phase *phase); /* attention_ws<...>::shared_bytes */
#endif
