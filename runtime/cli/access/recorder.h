/* In: accesses of lanes as the host engine tells them (host_watch). Out: for each launch, what its waves asked memory and shared memory
 * for, instruction by instruction: sectors, lines, cycles of banks; and what caches make of it. Beyond `limit` accesses of
 * a launch are counted and not looked at, and the launch says so. */
#ifndef TFGEN_CLI_RECORDER_H
#define TFGEN_CLI_RECORDER_H
#include "ir/devices/device_model.h"
#include "runtime/cli/access/banks.h"
#include "runtime/host/host.h"

typedef struct access_options {
    const device_model *device; /* whose rules count */
    size_t limit;               /* accesses of a launch that are recorded */
    unsigned long long seed;    /* of the sample of lines, where there are many */
    const char *only;           /* a kernel's name, or NULL: all */
    int at_once;                /* workgroups that run at once; 0: as many as the device's units hold, by threads and shared memory */
} access_options;

/* What one instruction asked for in one of its requests: the picture's. */
typedef struct access_example {
    bank_request lanes; /* of bulk copies lane 0 alone */
    unsigned long long bytes; /* of a bulk copy */
} access_example;

/* Where code is in the sources, as told by the compiler. Strings are the launch's. */
typedef struct access_place {
    const char *source; /* file:line of the template */
    const char *spec;   /* file:line:column of the spec; NULL: it belongs to no op alone */
    const char *calls;  /* all calls that it lies in, the innermost first */
} access_place;

/* What is wrong with a line, and makes up a share of its launch's that counts. */
typedef enum access_fault {
    access_good,
    access_conflicts, /* cycles of banks lost */
    access_waste,     /* more than half of the bytes that its workgroups bring is used by none of their requests */
    access_again,     /* more than twice the sectors that a request's bytes fill: other requests of the workgroup use the rest */
    access_fault_count
} access_fault;

/* All requests of one line of the source to one allocation. A request is what lanes of a wave ask for by one instruction at a time, at most
 * 16 bytes each, or one row of a bulk copy. */
typedef struct access_row {
    const char *memory; /* the allocation; NULL: shared memory */
    host_access_kind kind;
    bool bulk, matrix;
    int width; /* bytes a lane; 0: several */
    access_place place;
    double requests, lanes, asked, used; /* bytes that lanes asked for, each; bytes of the request, each once */
    double sectors, least, lines;        /* of memory: least is the sectors that the bytes fill */
    double brought, kept;                /* of memory: sectors that a workgroup's requests have, each once; bytes of them that they use */
    double cycles, least_cycles;         /* of shared memory */
    int ways;                            /* of its worst request */
    access_fault fault;
    access_example worst;
} access_row;

enum { access_distances = 34 };
/* How many other lines were touched since a line was touched last: distance[0] none, [i] at least 2^(i-1); `first` the first time. */
typedef struct access_reuse {
    double first, distance[access_distances];
    double rate; /* of the lines that were looked at; 1: all */
    double touches, hits; /* of them, those that the cache of `bytes` has: by least recent use, fully associative */
    double bytes;
} access_reuse;

typedef struct access_spread { /* of one allocation, over chiplets */
    const char *memory;
    double lines, fetched; /* lines read by some chiplet; by how many, added up */
} access_spread;

typedef struct access_launch {
    const char *kernel;
    unsigned workgroups, threads;
    unsigned long long accesses, recorded; /* of lanes */
    unsigned whole;                        /* workgroups that are recorded */
    access_row *rows;
    int row_count;
    access_reuse own, shared; /* of a workgroup alone; of all that run at once, in the device's L2 */
    int at_once;
    double touched, working_set, chiplet_set; /* bytes of lines: of the launch; of workgroups at once, the largest; of those on a chiplet */
    access_spread *spread;
    int spread_count;
    unsigned passed; /* 1 with each further time that the kernel was launched */
} access_launch;

typedef struct access_recorder access_recorder;
access_recorder *access_recorder_new(const access_options *o); /* NULL: no memory */
void access_recorder_free(access_recorder *r);
const host_watch *access_recorder_watch(access_recorder *r);
/* In the order of the launches; the recorder's. *lost: memory was short, and launches are missing. */
const access_launch *access_recorder_launches(const access_recorder *r, int *count, bool *lost);
#endif
