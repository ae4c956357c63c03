/* In: a device. Out: times of the probe kernels of templates/probe/probes.h. Bails with errors of the device and its compilers. */
#ifndef TFGEN_CALIBRATE_METER_H
#define TFGEN_CALIBRATE_METER_H
#include "runtime/cli/cli.h"
#include "runtime/device/device.h"

typedef enum probe_kind {
    probe_nothing,
    probe_read,
    probe_multiply,
    probe_cycles,
    probe_answers,
    probe_busy_answers,
    probe_count
} probe_kind;

/* probe_read loads chunks of probe_chunk bytes, read_groups workgroups per unit at a time; probe_multiply has probe_sums accumulators. */
enum { read_threads = 512, probe_chunk = 16 * 8 * read_threads, read_groups = 2, multiply_threads = 256, probe_sums = 32 };

typedef struct meter meter;
/* Closed with the arena. bytes: size of the buffer that kernels read, in whole chunks. c: kernel cache, or NULL. */
meter *meter_open(arena *a, tfgen_device *d, const target_info *target, long long bytes, cache *c, int jobs);

typedef struct probe_run {
    probe_kind kind;
    long long grid;
    int chunks, count, step; /* templates/probe/probes.h */
    bool overlap, together;  /* together: all workgroups are co-resident */
} probe_run;
/* Seconds per launch: the median of several timings of `launches` in a row (as a captured graph if the device supports it). */
double meter_seconds(meter *m, const probe_run *run, int launches);
/* Seconds per additional item: (longer - shorter) / (many - few), which cancels fixed costs. */
double meter_each(double shorter, int few, double longer, int many);
/* Seconds of one launch; *cycles: the cycles that it counted (probe_cycles). */
double meter_cycles(meter *m, const probe_run *run, double *cycles);
#endif
