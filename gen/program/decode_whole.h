/* What the programs share that take attention of few queries over a cache whole, in one launch (templates/attention/decode_mma.h): on
 * NVIDIA's mma, on AMD's mfma and wmma. A tile whose cluster is 1 hands its parts over in memory; one without stages takes keys and values
 * through registers. */
#ifndef TFGEN_GEN_DECODE_WHOLE_H
#define TFGEN_GEN_DECODE_WHOLE_H
#include "gen/program/program.h"

long long decode_rows(const problem *p);      /* of a head of keys: queries of the group's heads */
long long decode_keys(const problem *p);      /* that a sequence can have */
/* What lies side by side, at the plan's own dims: rows that are multiplied at a time, of a head of keys and a sequence. */
long long decode_work_tiles(const problem *p);
long long decode_turns(const problem *p, const decode_whole_tile *t); /* of a work tile with all its keys */
/* Workgroups a work tile, of which every unit has its share and each has a turn at least. */
int decode_splits(const problem *p, const decode_whole_tile *t);
/* Of shared memory, for keys and values that a workgroup has under way there. */
long long decode_ring_bytes(const problem *p, const decode_whole_tile *t);
long long decode_in_flight(const problem *p, const decode_whole_tile *t); /* bytes of keys and values that a workgroup asks for */

const char *decode_whole_obstacle(const problem *p);
void decode_whole_cost(const problem *p, const ir_tile *t, cost_descriptor *d);
const char *decode_whole_illegal(const problem *p, const ir_tile *t);
long long decode_whole_bytes(const problem *p, const ir_tile *t);
void decode_whole_geometry(const problem *p, const ir_tile *t, tile_extents *to);
extent decode_whole_scratch(const problem *p, const ir_tile *t);
void decode_whole_members(emission *e, writer *w);
#endif
