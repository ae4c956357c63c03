/* In: the text of a spec (or of the IR at some stage) and what is asked for. Out: graph, program and plan in the caller's arena.
 * Refuses what the stages refuse; diagnostics are in the arena. Pure: reads no file, touches no device. */
#ifndef TFGEN_COMPILE_H
#define TFGEN_COMPILE_H
#include "gen/gen.h"

typedef enum stage { stage_graph, stage_ir, stage_fuse, stage_plan, stage_source, stage_count } stage;
extern const char *const stage_names[stage_count]; /* graph ir fuse plan source */

typedef struct compile_request {
    const char *text, *name; /* name: as shown in messages and #line */
    size_t size;
    bool from_ir;            /* text is IR text of stage `from`, not a spec */
    stage from;
    graph_options graph;
    bool at_most; /* the plan is for calls whose dynamic dims are at most their values: the ranges end there */
    fusion_level level;
    const char *const *disabled; /* fusions turned off by name */
    size_t disabled_count;
    const char *target;
    /* What the device is like that tiles are chosen for: a name (tfgen devices --models), or the text of a device file, which has an end of
     * line; NULL: what the text says, else what `device_label` is, else the target's default. */
    const char *device_model;
    const char *device_file;  /* in messages about such a text; NULL: "device model" */
    const char *device_label; /* what the device calls itself that it is planned for, or NULL */
    const tuning *tuning;    /* NULL: defaults */
    /* Called after each stage with its text, when not NULL; `text` lives in the arena. Sources come in pieces. */
    void (*dump)(void *context, stage at, const char *text);
    void *dump_context;
    unsigned dump_stages;    /* bit set of stages */
    bool check_passes; /* the verifier runs behind each fusion, whose name it tells, and not only behind the last */
} compile_request;

typedef struct compiled {
    const ir_program *graph; /* as read; NULL when the text was IR of a later stage */
    plan *plan;
} compiled;

/* Bails with the names that there are. */
const target_info *compile_target(arena *a, const char *name);
/* The one that is asked for, or NULL; bails when it is of another target. */
const device_model *compile_device(arena *a, const compile_request *r, const target_info *target);
/* The spine itself, for callers that are inside arena_run already: bails. */
void compile_inside(arena *a, const compile_request *request, compiled *out);
/* A plan that was made again (runtime/module/plan_code.h): its stages are dumped like the first one's. */
void compile_dump(arena *a, const compile_request *request, const plan *p);
tfgen_code compile(arena *a, const compile_request *request, compiled *out);
#endif
