/* In: the shared-memory addresses of a wave's lanes in one instruction. Out: the cycles that the banks need. Pure. */
#ifndef TFGEN_CLI_BANKS_H
#define TFGEN_CLI_BANKS_H
#include "ir/ir.h"

enum { banks_most_lanes = 64 };

typedef struct bank_request {
    int lanes; /* lanes of the wave; those not present are inactive */
    int bytes; /* per lane: 1, 2, 4, 8, 12 or 16 */
    bool read;
    bool present[banks_most_lanes];
    unsigned long long place[banks_most_lanes]; /* byte offset in shared memory */
} bank_request;

typedef struct bank_cost {
    int cycles, least; /* cycles that the banks take, and the least possible: one per phase with active lanes */
    int ways;          /* n-way conflict: most words of one bank in one phase; 1: none */
} bank_cost;

bank_cost banks_cost(const target_info *target, const bank_request *r);
/* The phase in which a lane is served. */
int banks_phase(const target_info *target, const bank_request *r, int lane);
int banks_count(const target_info *target, const bank_request *r);
#endif
