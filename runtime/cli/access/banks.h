/* In: what the lanes of a wave ask shared memory for by one instruction. Out: how many cycles its banks need. Pure. */
#ifndef TFGEN_CLI_BANKS_H
#define TFGEN_CLI_BANKS_H
#include "ir/ir.h"

enum { banks_most_lanes = 64 };

typedef struct bank_request {
    int lanes; /* of the wave; those without a place take no part */
    int bytes; /* each: 1, 2, 4, 8, 12 or 16 */
    bool read;
    bool present[banks_most_lanes];
    unsigned long long place[banks_most_lanes]; /* in shared memory */
} bank_request;

typedef struct bank_cost {
    int cycles, least; /* least: one a phase that has lanes */
    int ways;          /* words that the fullest bank has of one phase: 1 without conflicts */
} bank_cost;

bank_cost banks_cost(const target_info *target, const bank_request *r);
/* The phase that a lane takes part in. */
int banks_phase(const target_info *target, const bank_request *r, int lane);
int banks_count(const target_info *target, const bank_request *r);
#endif
