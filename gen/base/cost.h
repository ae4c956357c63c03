/* Predicts the time of a launch from a device model and from what its workgroups do, which their program counts (cost_descriptor). No other
 * code models time: planning chooses programs and tiles by it, and tfgen predict, explain and tune use it (docs/insight.md). Where a device
 * file lacks a number, a default measured on an H200 is used; `assumed` says whether that was the case for bandwidth, the rate of products,
 * or the cost of a launch. Pure. */
#ifndef TFGEN_GEN_COST_H
#define TFGEN_GEN_COST_H
#include "ir/devices/device_model.h"

/* What one workgroup does, unless a comment says `of the launch`. All workgroups are taken to be alike. */
typedef struct cost_descriptor {
    double groups, per_unit; /* workgroups of the launch; workgroups that are resident on a unit at once */
    double seats;            /* of the launch: workgroups that are resident at once; 0: per_unit on each unit */
    double threads;
    double memory, asked;    /* bytes to and from DRAM; bytes requested from L2, including the former */
    double asked_counts;     /* how often a requested byte counts; 0: once */
    double taken;            /* bytes that reach its unit from L2 or by multicast in the cluster; 0: as many as `asked` */
    double memory_share;     /* share of DRAM bandwidth that the program reaches; 0: all */
    double ahead, streamed;  /* bytes kept in flight ahead of use; all bytes loaded this way. ahead 0: latency is hidden */
    double trips;            /* loads that it waits for, one after the other, each charged the latency of DRAM */
    dtype type;              /* of the products' operands */
    bool matrix;             /* products run on matrix units */
    double products, others; /* operations of products, tile padding included; all other operations */
    double products_share;   /* share of a unit's product rate that the program reaches; 0: all */
    double power;            /* factor of the clock and of the product rate that the power limit allows; 0: 1 */
    double shared;           /* bytes between shared memory and registers */
    double chain_cycles;     /* of steps that depend on each other; they overlap with loads and products */
    double end_cycles;       /* of prologue and epilogue, which overlap with nothing */
    double round_cycles;     /* pause between two rounds of workgroups */
    double tail;             /* if the last round is incomplete, parts into which its workgroups' work is split; 0: it is not split */
    double tail_cycles;      /* to add up those parts */
    double start_cycles;     /* of the launch, once; negative: its first work is done while the previous launch still runs */
    double hops;             /* waits for another workgroup's flag, one after the other */
    double later_launches;   /* of the launch: further launches that reduce its partial results */
    bool lockstep;           /* workgroups of a round walk K in lockstep, loading whole k tiles */
    bool overlap;            /* of the launch: it may begin before the previous one has ended (PDL) */
} cost_descriptor;

/* Bits of cost.assumed: the numbers for which a default was used. */
enum { assumed_bandwidth = 1, assumed_products = 2, assumed_launch = 4 };

typedef struct cost { /* seconds */
    double memory, cache, flight, products, others, shared; /* what each resource would take alone; flight: latencies of loads */
    double ends, start;                                   /* times that overlap with nothing: of workgroups, of the launch */
    double seconds;
    unsigned assumed;
} cost;

cost cost_of(const device_model *d, const cost_descriptor *x);
double device_hop(const device_model *d); /* seconds from a workgroup's store until a workgroup that waits for it has seen it */
double device_busy_hop(const device_model *d); /* device_hop() while all other units read memory */
/* Share of L2 misses when all units read the same `bytes` again and again. */
double device_l2_misses(const device_model *d, double bytes);
#endif
