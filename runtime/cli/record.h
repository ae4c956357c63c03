/* In: measured runs, or a file that `bench --record` wrote. Out: the file, or its runs. Files are untrusted: anything but a valid record
 * is refused (code_bad_input) with its line and column. */
#ifndef TFGEN_CLI_RECORD_H
#define TFGEN_CLI_RECORD_H
#include "ir/ir.h"
#include "runtime/cli/spread.h"
#include <jansson.h>

enum { record_version = 1, record_most_samples = 1000 };

typedef struct recorded_launch {
    const char *name;
    spread seconds;
} recorded_launch;

/* One block at one level, dims, dtype and device: `key` holds them all. Runs of a file with equal keys are merged, their samples pooled. */
typedef struct recorded_run {
    const char *key, *device; /* device: the name that the driver reports */
    const char *bad;          /* message of --check if a bound was exceeded, or NULL */
    const char *unjudged;     /* message of --check if no element of a value could be judged, or NULL */
    double *samples;          /* seconds of whole runs */
    int sample_count;
    recorded_launch *launches; /* launches of the last run that was merged into this one */
    int launch_count;
} recorded_run;

typedef struct record {
    recorded_run *runs;
    int count;
} record;

/* Writes {"record": 1, "tfgen": ..., "runs": runs} to a temporary file and renames it into place; bails code_io. */
void record_write(arena *a, const char *path, json_t *runs);
record record_read(arena *a, const char *path);
const char *record_key(arena *a, const ir_graph *p, const char *target, bool graph);
const recorded_run *record_find(const record *r, const char *key); /* NULL: not found */
#endif
