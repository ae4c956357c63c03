/* In: what a recorder has of a plan's launches. Out: it as text, as JSON, as a picture. */
#ifndef TFGEN_CLI_ACCESS_REPORT_H
#define TFGEN_CLI_ACCESS_REPORT_H
#include <jansson.h>
#include "runtime/cli/access/recorder.h"
#include "runtime/cli/cli.h"

typedef struct access_report {
    arena *a;
    const char *path; /* of the spec */
    const ir_program *graph;
    const plan *plan;
    const access_launch *launches;
    int count;
    size_t limit;
    unsigned long long seed;
} access_report;

/* What a launch computes, as ops of the spec; "packs weights" of the others. */
const char *access_ops(const access_report *r, const access_launch *l);
/* The place in the spec that a row's access is made for: its own, else the first op's of its launch. */
const char *access_spec(const access_report *r, const access_launch *l, const access_row *row);
const char *access_name(const access_row *row); /* "read", "tensor load", ... */
/* Of the bytes that sectors have, those used: of each request's; of a workgroup's, whose requests share sectors. */
double access_share(const access_report *r, const access_row *row);
double access_kept(const access_report *r, const access_row *row);
extern const char *const access_faults[access_fault_count]; /* "", "conflicts", ... */

void access_print(const access_report *r);
json_t *access_json(const access_report *r);
/* Of the worst request of each line of the source: what of lines, or of banks, each lane asks for. */
void access_picture(const access_report *r, const char *path);
#endif
