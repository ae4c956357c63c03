/* In: the records written by the kernels of a traced plan (templates/frame/trace.h). Out: when and on which unit (multiprocessor) each tile
 * of each launch was computed, and how units spent the rest of the time. Refuses (code_device) missing or contradictory records. Pure. */
#ifndef TFGEN_CLI_TIMELINE_H
#define TFGEN_CLI_TIMELINE_H
#include "ir/base/arena.h"
#include <jansson.h>

typedef struct trace_phase { /* a phase of a launch that has several, in their order */
    const char *name;
    long long tiles;
} trace_phase;

/* The records of one launch: one per workgroup, then `places` tile records, some of which may be empty. */
typedef struct trace_records {
    const char *name, *ops;
    const unsigned long long *words; /* six per record */
    long long workgroups, places;
    bool sums; /* tiles have a mainloop and then an epilogue, timed separately */
    const trace_phase *phases;
    int phase_count; /* 0: the launch has one phase */
} trace_records;

/* Times in nanoseconds after the first workgroup began. */
typedef struct timeline_tile {
    int launch, workgroup, warpgroup, unit;
    int lane; /* row of the drawing: concurrent tiles of one unit get different lanes */
    long long tile;
    double start, computed, end;
    double asked, data; /* when the first data was requested and arrived; negative: not recorded */
} timeline_tile;

/* A phase of a launch that has several. A tile is ready when its waits for other phases are over. */
typedef struct timeline_phase {
    const char *name;
    long long tiles;
    double first, ready, last_ready, end; /* first tile's begin; first and last tile to be ready; last tile's end */
    double median;                        /* time of tiles once they are ready */
} timeline_phase;

typedef struct timeline_launch {
    const char *name, *ops;
    double begin, first, last, end; /* first workgroup's begin, first tile's begin, last tile's end, last workgroup's end */
    int workgroups, units;
    bool sums;                  /* trace_records.sums */
    const timeline_tile *tiles; /* in order of start */
    long long tile_count;
    /* Shares of all units' time from begin to end: computing a tile of this launch; before a unit's first tile; between tiles; after its
     * last tile; on units without a tile. They add up to 1. */
    double busy, before, between, after, unused;
    double median, longest; /* durations of tiles */
    const timeline_tile *worst;
    double ahead;  /* mean wait of workgroups for the previous launch; negative: not recorded */
    double data;   /* share of tiles' time spent waiting for their first data; negative: not recorded */
    double stores; /* share of tiles' time spent in the epilogue; negative: no separate epilogue */
    const timeline_phase *phases;
    int phase_count;
    double gap;    /* from the last tile of the previous launch to the first of this one; negative: they overlap */
} timeline_launch;

typedef struct timeline {
    timeline_launch *launches;
    int launch_count;
    const unsigned long long *units; /* hardware ids of the units that ran a workgroup, ascending */
    int unit_count;                  /* length of units */
    int device_units;                /* units of the device, at least unit_count */
    int lanes;                       /* most lanes of any unit */
    double length;                   /* from the first begin to the last end */
    double busy;                     /* share of all units' time spent in tiles */
    double resolution;               /* smallest clock step observed */
} timeline;

/* nanoseconds: the length of a clock tick. */
timeline *timeline_make(arena *a, const trace_records *records, int count, double nanoseconds, int device_units);

/* Facts printed with a timeline. */
typedef struct trace_facts {
    const char *block, *dtype, *level, *target, *device, *clock;
    bool graph;
    double plain, traced; /* median seconds of a run without and with tracing */
    int runs;             /* runs in each median */
} trace_facts;

void trace_print(arena *a, const trace_facts *f, const timeline *t);          /* to standard output */
json_t *trace_summary(const trace_facts *f, const timeline *t);               /* new reference */
const char *trace_events(arena *a, const trace_facts *f, const timeline *t);  /* Chrome's trace format */
const char *trace_picture(arena *a, const trace_facts *f, const timeline *t); /* SVG */
#endif
