/* In: measured runs, or a file that `bench --record` wrote. Out: the file; its runs. Refuses (code_bad_input) files that are no such
 * record, with the place; they may be from anybody. */
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

/* Of one block at one level, dims, dtype and device: `key` has them all. Runs of one key in a file are one: their samples are pooled. */
typedef struct recorded_run {
    const char *key, *device; /* device: what it calls itself */
    const char *bad;          /* what --check said, where a bound was exceeded; or NULL */
    const char *unjudged;     /* what it said where no element of a value was judged; or NULL */
    double *samples;          /* seconds of whole runs */
    int sample_count;
    recorded_launch *launches; /* of the last of them */
    int launch_count;
} recorded_run;

typedef struct record {
    recorded_run *runs;
    int count;
} record;

/* Writes {"record": 1, "tfgen": ..., "runs": runs} aside and renames it into place; bails code_io. */
void record_write(arena *a, const char *path, json_t *runs);
record record_read(arena *a, const char *path);
const char *record_key(arena *a, const ir_program *p, const char *target, bool graph); /* of runs of this program */
const recorded_run *record_find(const record *r, const char *key);                     /* NULL: there is none */
#endif
