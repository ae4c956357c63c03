/* In: a launch of a plan, its work, the plan's device model. Out: its predicted time, the resource that limits it, and the bytes and
 * operations behind both, by the cost model that planning uses (gen/base/cost.h). Returns false if the device file has no bandwidth. Pure.
 * */
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
    double asked;                               /* bytes requested of L2; data read by several tiles counts once per tile */
    double moved;                               /* bytes of those that come from or go to DRAM */
    double padded;                              /* operations of products, padding of edge tiles included */
    double use;                                 /* share of the multiprocessors with a tile, averaged over rounds of workgroups */
    double memory, cache, products, arithmetic; /* seconds that each takes alone */
    double latency, shared;                     /* seconds alone: waiting for prefetched bytes; shared memory traffic */
    double epilogues;                           /* seconds of epilogues that overlap with nothing */
    double fixed;                               /* seconds of launching, filling and draining */
    double seconds;                             /* fixed, epilogues, and for each round of workgroups the longest of the others */
    predicted_limit limit;
    unsigned assumed;
} prediction;

/* Bytes in flight per multiprocessor, and the bytes needed to saturate its share of DRAM bandwidth: bandwidth * latency (Little's law). */
typedef struct flight {
    const launch_phase *of;        /* the launch's phase with most bytes in flight */
    double bytes, needed, latency; /* latency in seconds */
    bool assumed;                  /* the device file has no latency; a default is used */
} flight;
/* False if the program does not count bytes in flight, or the device file has no bandwidth. */
bool launch_flight(const plan *p, const launch *l, flight *out);

bool launch_predict(arena *a, const plan *p, const launch *l, const work *w, prediction *out);
bool plan_predict(arena *a, const plan *p, double *seconds); /* of all launches, one after the other */
#endif
