/* In: a device. Out: how long launches of the kernels of templates/probe/probes.h take there. Refuses (bails) what the device and its
 * compilers refuse. */
#ifndef TFGEN_CALIBRATE_METER_H
#define TFGEN_CALIBRATE_METER_H
#include "runtime/cli/cli.h"
#include "runtime/device/device.h"

typedef enum probe_kind { probe_nothing, probe_read, probe_multiply, probe_cycles, probe_answers, probe_count } probe_kind;

/* probe_read takes chunks of bytes, of which a unit's workgroups of so many threads have two under way; probe_multiply so many sums. */
enum { read_threads = 512, probe_chunk = 16 * 8 * read_threads, read_groups = 2, multiply_threads = 256, probe_sums = 32 };

typedef struct meter meter;
/* Closed with the arena. bytes: of memory that kernels may read, whole chunks of it. cache: of compiled kernels, or NULL. */
meter *meter_open(arena *a, tfgen_device *d, const target_info *target, long long bytes, cache *c, int jobs);

typedef struct probe_run {
    probe_kind kind;
    long long grid;
    int chunks, count, step; /* templates/probe/probes.h */
    bool overlap, together;  /* together: all workgroups run at the same time */
} probe_run;
/* Seconds of a launch: the median of several times, of `launches` in a row (in a graph, where the device has such). */
double meter_seconds(meter *m, const probe_run *run, int launches);
/* Seconds of one of those that a longer run has more: what both runs have besides is no part of it. */
double meter_each(double shorter, int few, double longer, int many);
/* What one launch took, and cycles that it counted (probe_cycles). */
double meter_cycles(meter *m, const probe_run *run, double *cycles);
#endif
