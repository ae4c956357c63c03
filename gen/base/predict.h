/* In: a launch of a plan, its work, the plan's device model. Out: how long it should take there, and what of the device sets that time: a
 * model, in closed form, of what docs/insight.md says; what the device file does not say is taken as a share of its peaks that an H200 was
 * measured to reach, and `assumed` says so. Refuses (false) devices without a bandwidth. Pure. */
#ifndef TFGEN_GEN_PREDICT_H
#define TFGEN_GEN_PREDICT_H
#include "gen/base/work.h"

/* Cycles of a stage of 64 along the length of a tile of 128 rows by n columns on wgmma: bound by the tensor cores (4096 operations a cycle
 * and multiprocessor) or, a narrow one, by shared memory and L2. Its planner asks it, too. */
double wgmma_stage_cycles(long long n);

typedef enum predicted_limit {
    limited_by_memory,
    limited_by_cache,
    limited_by_products,
    limited_by_arithmetic,
    limited_by_launch
} predicted_limit;
extern const char *const predicted_limit_names[];

enum { assumed_bandwidth = 1, assumed_products = 2, assumed_launch = 4 };

typedef struct prediction {
    double asked;                               /* bytes that workgroups ask of L2: what several tiles read counts for each */
    double moved;                               /* of them, bytes between memory and the last level of cache */
    double padded;                              /* operations of products, with what tiles have beyond the matrix */
    double use;                                 /* of the units: share that has a tile, over the rounds that all tiles take */
    double memory, cache, products, arithmetic; /* seconds that each takes alone */
    double epilogues;                           /* seconds of tiles' ends that nothing hides */
    double fixed;                               /* seconds of launching, filling and draining */
    double seconds;                             /* fixed, and the longest of memory, cache, and products with arithmetic and epilogues */
    predicted_limit limit;
    unsigned assumed;
} prediction;

/* Bytes that a unit's workgroups have asked memory for at a time, and those that come in memory's latency at its bandwidth: with fewer
 * under way memory waits. */
typedef struct flight {
    double bytes, needed, latency; /* seconds */
    bool assumed;                  /* the device file does not tell the latency */
} flight;
/* False: the program does not know, or the device file has no bandwidth. */
bool launch_flight(const plan *p, const launch *l, flight *out);

bool launch_predict(const plan *p, const launch *l, const work *w, prediction *out);
#endif
