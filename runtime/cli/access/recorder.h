/* In: lanes' accesses as the host engine reports them (host_watch). Out: for each launch, by instruction: the sectors, cache lines and
 * shared-memory bank cycles that its waves request; and reuse in caches. Accesses of a launch beyond `limit` are counted but not analysed:
 * access_launch.recorded says how many were analysed. */
#ifndef TFGEN_CLI_RECORDER_H
#define TFGEN_CLI_RECORDER_H
#include "ir/devices/device_model.h"
#include "runtime/cli/access/banks.h"
#include "runtime/host/host.h"

typedef struct access_options {
    const device_model *device; /* its sizes of sectors, lines, banks and caches are used */
    size_t limit;               /* most accesses recorded per launch */
    unsigned long long seed;    /* chooses the lines that are sampled if there are many */
    const char *only;           /* a kernel's name, or NULL: all */
    int at_once;                /* concurrent workgroups; 0: as many as fit on the device by threads and shared memory */
} access_options;

/* One request of an instruction, for the picture. */
typedef struct access_example {
    bank_request lanes; /* bulk copies: only lane 0 */
    unsigned long long bytes; /* bulk copies: the row's size */
} access_example;

/* Source position of an instruction, from debug information. Strings are owned by the launch. */
typedef struct access_place {
    const char *source; /* file:line of the template */
    const char *spec;   /* file:line:column of the spec; NULL: not from a single op */
    const char *calls;  /* the inlined call stack, innermost first */
} access_place;

/* The fault of a source line, if it is a significant share of its launch's. */
typedef enum access_fault {
    access_good,
    access_conflicts, /* bank conflicts */
    access_waste,     /* over half of the bytes fetched by a workgroup are never used by it */
    access_again,     /* requests touch over twice the sectors that their bytes fill; other requests of the workgroup use the rest */
    access_fault_count
} access_fault;

/* All requests of one source line to one allocation. A request is one instruction of a wave, at most 16 bytes per lane, or one row of a
 * bulk copy. */
typedef struct access_row {
    const char *memory; /* the allocation; NULL: shared memory */
    host_access_kind kind;
    bool bulk, matrix;
    int width; /* bytes per lane; 0: varies */
    access_place place;
    double requests, lanes, asked, used; /* asked: bytes summed over lanes; used: distinct bytes per request */
    double sectors, least, lines;        /* global memory; least: sectors that the bytes would fill */
    double brought, kept;                /* global memory: distinct sectors per workgroup; distinct bytes used of them */
    double cycles, least_cycles;         /* shared memory */
    int ways;                            /* the most ways of a bank conflict in one request */
    access_fault fault;
    access_example worst;
} access_row;

enum { access_distances = 34 };
/* Histogram of reuse distances (other lines touched since a line's last touch): distance[0]: 0, [i]: from 2^(i-1); first: first touches. */
typedef struct access_reuse {
    double first, distance[access_distances];
    double rate; /* share of lines sampled; 1: all */
    double touches, hits; /* hits: in a fully associative LRU cache of `bytes` */
    double bytes;
} access_reuse;

typedef struct access_spread { /* reads of one allocation by chiplets (XCDs) */
    const char *memory;
    double lines, fetched; /* lines read by any chiplet; the sum over chiplets of lines read */
} access_spread;

typedef struct access_launch {
    const char *kernel;
    unsigned workgroups, threads;
    unsigned long long accesses, recorded; /* of lanes */
    unsigned whole;                        /* workgroups recorded completely */
    access_row *rows;
    int row_count;
    access_reuse own, shared; /* within a workgroup; in L2, by all concurrent workgroups */
    int at_once;
    /* bytes of the lines touched: by the launch; the most by concurrent workgroups; the most by concurrent workgroups of one chiplet */
    double touched, working_set, chiplet_set;
    access_spread *spread;
    int spread_count;
    unsigned earlier_launches; /* of this kernel; reports show only the first */
} access_launch;

typedef struct access_recorder access_recorder;
access_recorder *access_recorder_new(const access_options *o); /* NULL: out of memory */
void access_recorder_free(access_recorder *r);
const host_watch *access_recorder_watch(access_recorder *r);
/* In launch order, owned by the recorder. *lost: launches are missing for lack of memory. */
const access_launch *access_recorder_launches(const access_recorder *r, int *count, bool *lost);
#endif
