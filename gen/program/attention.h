/* What the programs of attention, decode and combine share when they plan. */
#ifndef TFGEN_GEN_ATTENTION_H
#define TFGEN_GEN_ATTENTION_H
#include "gen/program/program.h"

const char *attention_in_registers_obstacle(const tile_request *r);
long long request_team(const tile_request *r, long long most);          /* threads of a wave that share a head: a power of two */
void attention_geometry(const tile_request *r, int queries, launch *l); /* a row tile is so many queries of a head */
#endif
