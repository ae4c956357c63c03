/* What the programs of flash-decoding in one launch share (templates/attention/decode_mma.h): decode_mma, decode_mfma and decode_wmma.
 * Their tiles: with cluster = 1, workgroups exchange partials through global memory, else through distributed shared memory; with
 * stages = 0, keys and values are loaded to registers, else to stages in shared memory. */
#ifndef TFGEN_GEN_DECODE_WHOLE_H
#define TFGEN_GEN_DECODE_WHOLE_H
#include "gen/program/program.h"

long long decode_keys(const problem *p);      /* the most keys that a sequence may have */
/* Work tiles: one per sequence, KV head and row tile (the query rows that one MMA takes). */
long long decode_work_tiles(const problem *p);
/* Iterations over a sequence's keys: in each, every warp of a workgroup takes t->keys keys. */
long long decode_iterations(const problem *p, const decode_whole_tile *t);
/* KV splits (workgroups) per work tile, so that all units are busy and each workgroup has at least one iteration. */
int decode_splits(const problem *p, const decode_whole_tile *t);
/* Bytes of shared memory for the stages of keys and values. */
long long decode_ring_bytes(const problem *p, const decode_whole_tile *t);
long long decode_in_flight(const problem *p, const decode_whole_tile *t); /* bytes of keys and values that a workgroup has in flight */

/* Functions of gen/program/program.h. */
const char *decode_whole_obstacle(const problem *p);
void decode_whole_cost(const problem *p, const ir_tile *t, cost_descriptor *d);
const char *decode_whole_illegal(const problem *p, const ir_tile *t);
long long decode_whole_bytes(const problem *p, const ir_tile *t);
long long decode_schedule_bytes(const ir_op *attention, const target_info *target); /* of decode_runs<...>::run */
void decode_whole_geometry(const problem *p, const ir_tile *t, tile_extents *to);
extent decode_whole_scratch(const problem *p, const ir_tile *t);
void decode_whole_members(emission *e, writer *w);
#endif
