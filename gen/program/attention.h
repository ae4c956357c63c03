/* What the programs of attention, decode and combine share when they plan. */
#ifndef TFGEN_GEN_ATTENTION_H
#define TFGEN_GEN_ATTENTION_H
#include "gen/program/program.h"

const char *attention_whole_obstacle(const problem *p); /* of programs that read all keys of a query */
const char *decode_obstacle(const problem *p);          /* of programs that share out the keys of few queries */
const char *attention_in_registers_obstacle(const problem *p);
const char *attention_keys_obstacle(const problem *p);  /* of programs without sinks and windows of later keys */
const char *attention_plain_obstacle(const problem *p); /* of programs without slopes, sinks and windows of later keys */
long long problem_team(const problem *p, long long most);          /* threads of a wave that share a head: a power of two */
/* Workgroups of `rows` queries of a head, of a group's heads `pack` together, that take keys in blocks of block_k: their bytes and
 * operations, masked halves of blocks too. */
void attention_cost(const problem *p, double rows, int pack, int block_k, cost_descriptor *d);
double problem_keys(const problem *p); /* of a query, on average, that a mask shows */
void attention_geometry(const problem *p, int queries, tile_extents *to); /* a row tile is so many queries of a head */
#endif
