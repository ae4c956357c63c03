/* In: what the workgroups of a launch do, counted by their program from a tile, and a device model. Out: the predicted time and the
 * resource that limits it. This is the only model of time: planning chooses programs and tiles by it; tfgen predict, explain and tune print
 * and rank by it (docs/insight.md). Its code holds no number of any machine. For numbers that a device file lacks, it uses the shares of
 * the peaks that an H200 reaches, and sets `assumed`. Pure. */
#ifndef TFGEN_GEN_COST_H
#define TFGEN_GEN_COST_H
#include "ir/devices/device_model.h"

/* Numbers are per workgroup unless they say `of the launch`; all workgroups are alike. */
typedef struct cost_descriptor {
    double groups, per_unit; /* workgroups of the launch; workgroups resident on a unit */
    double threads;
    double memory, asked;    /* bytes to and from DRAM; bytes requested from L2, those included */
    double taken;            /* bytes that reach its unit from L2 or multicast in the cluster; 0: as many as `asked` */
    double memory_share;     /* share of DRAM bandwidth that the program reaches; 0: all */
    double ahead, streamed;  /* bytes in flight ahead of use, and bytes streamed that way; 0: latency is hidden */
    double trips;            /* exposed latencies of DRAM or L2, one after the other */
    dtype type;              /* of the products' operands */
    bool matrix;             /* products run on matrix units */
    double products, others; /* operations; products include padding of tiles */
    double products_share;   /* share of a unit's product rate that the program reaches; 0: all */
    double shared;           /* bytes between shared memory and registers */
    double chain_cycles;     /* dependent steps that run while loads are in flight */
    double end_cycles;       /* prologue and epilogue, which overlap with nothing */
    double round_cycles;     /* between two rounds of workgroups */
    double tail;             /* parts into which the work of each workgroup of an incomplete last round is split; 0: none */
    double tail_cycles;      /* for reducing those parts */
    double start_cycles;     /* of the launch, once; negative: work done while the previous launch still runs */
    double hops;             /* waits for another workgroup's flag, one after the other */
    double later_launches;   /* launches that reduce this one's partial results */
    bool lockstep;           /* workgroups of a round walk K in lockstep, loading whole k tiles */
    bool overlap;            /* the launch may begin before the previous one has ended (PDL) */
} cost_descriptor;

enum { assumed_bandwidth = 1, assumed_products = 2, assumed_launch = 4 };

typedef struct cost { /* seconds */
    double memory, cache, flight, products, others, shared; /* each resource by itself, over all rounds; flight: latencies of loads */
    double ends, start;                                   /* fixed costs of workgroups and of the launch */
    double seconds;
    unsigned assumed;
} cost;

cost cost_of(const device_model *d, const cost_descriptor *x);
double device_hop(const device_model *d); /* seconds from a workgroup's store until a workgroup that waits for it has seen it */
double device_busy_hop(const device_model *d); /* device_hop() while all other units read memory */
/* Share of L2 misses when all units read the same `bytes` again and again. */
double device_l2_misses(const device_model *d, double bytes);
#endif
