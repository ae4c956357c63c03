/* In: the recorded launches of a plan. Out: reports as text, as JSON, as a picture. */
#ifndef TFGEN_CLI_ACCESS_REPORT_H
#define TFGEN_CLI_ACCESS_REPORT_H
#include <jansson.h>
#include "runtime/cli/access/recorder.h"
#include "runtime/cli/cli.h"

typedef struct access_report {
    arena *a;
    const char *path; /* of the spec */
    const ir_graph *graph;
    const plan *plan;
    const access_launch *launches;
    int count;
    size_t limit;
    unsigned long long seed;
} access_report;

/* The spec's ops that a launch computes; "packs weights" for packing launches. */
const char *access_ops(const access_report *r, const access_launch *l);
/* The position in the spec that a row belongs to: its own, else that of its launch's first op. */
const char *access_spec(const access_report *r, const access_launch *l, const access_row *row);
const char *access_name(const access_row *row); /* "read", "tensor load", ... */
/* The share of loaded bytes that is used. access_share() counts the sectors of each request; access_kept() those of each workgroup, whose
 * requests may use the same sectors. */
double access_share(const access_report *r, const access_row *row);
double access_kept(const access_report *r, const access_row *row);
extern const char *const access_faults[access_fault_count]; /* "", "conflicts", ... */

void access_print(const access_report *r);
json_t *access_json(const access_report *r);
/* Draws the worst request of each source line: the parts of lines, or the banks, that each lane accesses. */
void access_picture(const access_report *r, const char *path);
#endif
