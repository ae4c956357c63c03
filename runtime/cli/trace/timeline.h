/* In: the records that the kernels of a traced plan left (templates/frame/trace.h). Out: when each tile of each launch was computed on
 * which unit, and what units did the rest of the time. Refuses (code_device) records that are not there, or that say what cannot be. Pure.
 */
#ifndef TFGEN_CLI_TIMELINE_H
#define TFGEN_CLI_TIMELINE_H
#include "ir/base/arena.h"
#include <jansson.h>

/* What one launch left: `workgroups` records, then `places` of tiles, some of which may be empty. */
typedef struct trace_records {
    const char *name, *ops;
    const unsigned long long *words; /* six each */
    long long workgroups, places;
    bool sums; /* tiles are sums first, then what is done with them */
} trace_records;

/* Times in nanoseconds after the first workgroup began. */
typedef struct timeline_tile {
    int launch, workgroup, warpgroup, unit;
    int lane; /* tiles that one unit has at the same time lie in several */
    long long tile;
    double start, computed, end;
    double asked, data; /* negative: not told */
} timeline_tile;

typedef struct timeline_launch {
    const char *name, *ops;
    double begin, first, last, end; /* a workgroup's begin, a tile's begin, a tile's end, a workgroup's end */
    int workgroups, units;
    bool sums;                  /* as of the records */
    const timeline_tile *tiles; /* in order of start */
    long long tile_count;
    /* Shares of the device's units from begin to end: in a tile of it; before a unit's first tile; between two; behind its last one; of
     * units that have none. They add up to 1. */
    double busy, before, between, after, unused;
    double median, longest; /* of tiles */
    const timeline_tile *worst;
    double ahead;  /* mean of what workgroups wait for the launch ahead; negative: not told */
    double data;   /* share of tiles' time in which they wait for their first data; negative: not told */
    double stores; /* share of tiles' time after their sums are there; negative: they have none */
    double gap;    /* from the last tile of the launch ahead to the first of this one; negative: they overlap */
} timeline_launch;

typedef struct timeline {
    timeline_launch *launches;
    int launch_count;
    const unsigned long long *units; /* what the hardware calls them, those that had a workgroup, ascending */
    int unit_count;                  /* of these */
    int device_units;                /* that there are, at least unit_count */
    int lanes;                       /* of the unit that has most */
    double length;                   /* from the first begin to the last end */
    double busy;                     /* share of all units' time in which they had a tile */
    double resolution;               /* least step of the clock that is seen */
} timeline;

/* nanoseconds: of a tick of the clock. */
timeline *timeline_make(arena *a, const trace_records *records, int count, double nanoseconds, int device_units);

/* What stands beside a timeline. */
typedef struct trace_facts {
    const char *block, *dtype, *level, *target, *device, *clock;
    bool graph;
    double plain, traced; /* median seconds of a run without tracing, and with */
    int runs;             /* that these are of */
} trace_facts;

void trace_print(const trace_facts *f, const timeline *t);                    /* to standard output */
json_t *trace_summary(const trace_facts *f, const timeline *t);               /* new */
const char *trace_events(arena *a, const trace_facts *f, const timeline *t);  /* Chrome's trace format */
const char *trace_picture(arena *a, const trace_facts *f, const timeline *t); /* SVG */
#endif
