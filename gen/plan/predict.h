/* In: a launch of a plan, its work, the plan's device model. Out: how long it should take there, and what of the device sets that time, by
 * the one model that planning asks, too (gen/base/cost.h), with the bytes and operations that it comes from. Refuses (false) devices
 * without a bandwidth. Pure. */
#ifndef TFGEN_GEN_PREDICT_H
#define TFGEN_GEN_PREDICT_H
#include "gen/base/cost.h"
#include "gen/base/work.h"

typedef enum predicted_limit {
    limited_by_memory,
    limited_by_cache,
    limited_by_products,
    limited_by_arithmetic,
    limited_by_launch,
    limited_by_latency,
    limited_by_shared
} predicted_limit;
extern const char *const predicted_limit_names[];

typedef struct prediction {
    double asked;                               /* bytes read through L2; what several tiles read counts for each of them */
    double moved;                               /* bytes of those that come from or go to memory */
    double padded;                              /* operations of products, padding of edge tiles included */
    double use;                                 /* share of the units that has a tile, averaged over all waves of workgroups */
    double memory, cache, products, arithmetic; /* seconds that each takes alone */
    double latency, shared;                     /* seconds alone: waiting for prefetched bytes; shared memory traffic */
    double epilogues;                           /* seconds of epilogues that overlap with nothing */
    double fixed;                               /* seconds of launching, filling and draining */
    double seconds;                             /* fixed, epilogues, and of each round of workgroups the longest of the others */
    predicted_limit limit;
    unsigned assumed;
} prediction;

/* Bytes in flight per unit, and how many its share of memory's bandwidth times latency needs (Little's law): with fewer, memory is idle. */
typedef struct flight {
    const launch_phase *of;        /* the launch's with most */
    double bytes, needed, latency; /* seconds */
    bool assumed;                  /* the device file does not tell the latency */
} flight;
/* False if the program does not count bytes in flight, or the device file has no bandwidth. */
bool launch_flight(const plan *p, const launch *l, flight *out);

bool launch_predict(arena *a, const plan *p, const launch *l, const work *w, prediction *out);
#endif
