/* In: what the workgroups of a launch ask of a device, as their program counts it from a tile, and a device model. Out: how long that takes
 * there, and what of the device sets the time. The one model of time: planning chooses programs and tiles by it, tfgen predict, explain and
 * tune print and rank by it (docs/insight.md). No number of a machine is in its code; what a device file does not say is taken as an H200's
 * share of its peaks, and `assumed` says so. Pure. */
#ifndef TFGEN_GEN_COST_H
#define TFGEN_GEN_COST_H
#include "ir/devices/device_model.h"

/* All workgroups are alike. Numbers are of one of them, where they are not of the launch. */
typedef struct cost_descriptor {
    double groups, per_unit; /* of the launch; those that share a unit at a time */
    double threads;
    double memory, asked;    /* bytes from and to memory; bytes asked of L2, those among them */
    double taken;            /* bytes that its unit takes from L2 or a cluster; 0: those asked */
    double memory_share;     /* of memory's bandwidth that the program reaches; 0: all */
    double ahead, streamed;  /* bytes that are asked for ahead of what is used, and how many go by so; 0: nothing waits for them */
    double trips;            /* times that it waits for memory or L2 with nothing else to do */
    dtype type;              /* of the products' operands */
    bool matrix;             /* products are on matrix units */
    double products, others; /* operations, products with what tiles have beyond the matrix */
    double products_share;   /* of a unit's rate that the program reaches in products; 0: all */
    double shared;           /* bytes between shared memory and registers */
    double end_cycles;       /* of its beginning and end, beside which it does nothing else */
    double round_cycles;     /* between two rounds */
    double start_cycles;     /* of the launch, once; below 0: it does so much while the launch ahead of it ends */
    double hops;             /* times that it waits for another workgroup's word */
    double later_launches;   /* that join what workgroups of this one made */
    bool in_step;            /* workgroups that begin at once go through a length in step, by loads of whole k tiles */
    bool overlap;            /* the launch begins before the one ahead of it has ended */
} cost_descriptor;

enum { assumed_bandwidth = 1, assumed_products = 2, assumed_launch = 4 };

typedef struct cost { /* seconds */
    double memory, cache, flight, products, others, shared; /* each alone, over all rounds */
    double ends, start;                                   /* of workgroups, of the launch */
    double seconds;
    unsigned assumed;
} cost;

cost cost_of(const device_model *d, const cost_descriptor *x);
double device_bandwidth(const device_model *d, unsigned *assumed); /* that kernels reach; 0: not known */
double device_clock(const device_model *d, bool loaded);           /* Hz */
/* Of so many bytes that all units read again and again, the share that comes from memory each time. */
double device_l2_misses(const device_model *d, double bytes);
#endif
