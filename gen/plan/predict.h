/* Predicts the time of a planned launch and the resource that limits it, with the cost model that planning uses (gen/base/cost.h). Also
 * says how many bytes and operations the launch takes. All functions return false if the device file has no bandwidth. Pure. */
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
    double asked;                               /* bytes requested from L2; data that several tiles read counts once per tile */
    double moved;                               /* the bytes among these that come from or go to DRAM */
    double padded;                              /* operations of products, including padding of edge tiles */
    double use;                                 /* share of the multiprocessors that have a tile, averaged over rounds of workgroups */
    double memory, cache, products, arithmetic; /* seconds that each would take alone */
    double latency, shared;                     /* the same for waits for prefetched bytes, and for shared memory traffic */
    double epilogues;                           /* seconds of epilogues that overlap with nothing */
    double fixed;                               /* seconds to launch, fill and drain */
    double seconds;                             /* fixed + epilogues + for each round of workgroups the longest of the other times */
    predicted_limit limit;
    unsigned assumed; /* as in cost (gen/base/cost.h) */
} prediction;

/* Bytes that a launch keeps in flight per multiprocessor, and those needed to saturate its share of DRAM bandwidth (Little's law: bandwidth
 * * latency). */
typedef struct flight {
    const launch_phase *of;        /* the launch's phase with most bytes in flight */
    double bytes, needed, latency; /* latency in seconds */
    bool assumed;                  /* the device file has no latency; a default is used */
} flight;
/* Returns false also if no program of the launch counts its bytes in flight. */
bool launch_flight(const plan *p, const launch *l, flight *out);

/* w: the launch's work. */
bool launch_predict(arena *a, const plan *p, const launch *l, const work *w, prediction *out);
bool plan_predict(arena *a, const plan *p, double *seconds); /* sum over all launches */
#endif
