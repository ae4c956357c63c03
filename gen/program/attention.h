/* What the programs of attention, decode and combine share. Functions named *_obstacle return why a program cannot compute the phase, or
 * NULL. */
#ifndef TFGEN_GEN_ATTENTION_H
#define TFGEN_GEN_ATTENTION_H
#include "gen/program/program.h"

const char *attention_whole_obstacle(const problem *p); /* for programs that read all keys of a query */
const char *decode_obstacle(const problem *p);          /* for programs that read keys from a cache */
const char *attention_in_registers_obstacle(const problem *p); /* for programs that keep rows of a head in registers */
const char *attention_bias_obstacle(const problem *p);   /* for programs that cannot add a bias to scores */
const char *attention_window_obstacle(const problem *p); /* for programs whose windows end at the query */
long long problem_team(const problem *p, long long most); /* `most` threads, rounded up to a power of two, at most a wave */
/* Sets workgroups, bytes and operations of *d, including masked parts of blocks on the diagonal. A workgroup has `rows` rows, which are the
 * queries of `pack` heads of a GQA group, and walks the keys in blocks of block_k. */
void attention_cost(const problem *p, double rows, int pack, int block_k, cost_descriptor *d);
void attention_geometry(const problem *p, int queries, tile_extents *to); /* sets row tiles of this many queries of a head */
#endif
