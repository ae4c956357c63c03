/* What products and attention on AMD's matrix units share (templates/frame/frame_pump.h): mfma and wmma run the same programs, with waves
 * of 64 and of 32 lanes. */
#ifndef TFGEN_GEN_WAVES_H
#define TFGEN_GEN_WAVES_H
#include "gen/program/program.h"

enum { wave_row_bytes = 128 }; /* of an operand's row in a stage */

int wave_groups(const target_info *target, int threads); /* workgroups that share a unit: two waves a SIMD (pump_waves) */

/* ---- products (gen/program/waves.c). Tiles: t->gemm_waves. */
const char *wave_product_obstacle(const problem *p, layer_kind layer,
                                  const char *types); /* types: what is said of others than the layer's */
extern const worse_range wave_product_worse[];
void wave_product_demand(const problem *p, const ir_tile *t, demand *d);
void wave_product_defaults(const problem *p, ir_tile *t, int first); /* first: of the tiles, the largest that may be taken */
const char *wave_product_illegal(const problem *p, const ir_tile *t);
bool wave_product_smaller(const problem *p, ir_tile *t);
long long wave_product_bytes(const problem *p, const ir_tile *t);
void wave_product_geometry(const problem *p, const ir_tile *t, tile_extents *to);
int wave_product_parts(const problem *p, const ir_tile *t);
void wave_product_members(emission *e, writer *w);

/* ---- attention (gen/program/waves_attention.c), tiles: t->attention_waves */
const char *wave_attention_obstacle(const problem *p, long long most_head);
extern const worse_range wave_attention_worse[];
void wave_attention_demand(const problem *p, const ir_tile *t, demand *d);
void wave_attention_defaults(const problem *p, ir_tile *t, bool narrow); /* narrow: waves of 32 lanes */
const char *wave_attention_illegal(const problem *p, const ir_tile *t);
bool wave_attention_smaller(const problem *p, ir_tile *t);
long long wave_attention_bytes(const problem *p, const ir_tile *t);
void wave_attention_geometry(const problem *p, const ir_tile *t, tile_extents *to);
void wave_attention_members(emission *e, writer *w);

/* ---- attention of few queries over a cache, whole (gen/program/waves_decode.c), tiles: t->decode_whole */
const char *wave_decode_obstacle(const problem *p);
void wave_decode_defaults(const problem *p, ir_tile *t);
bool wave_decode_smaller(const problem *p, ir_tile *t);
#endif
