/* In: a request with the text of a spec, or of the IR at some stage. Out: graph and plan, in the caller's arena. Refuses what the stages
 * refuse; diagnostics are in the arena. Pure: reads no file, touches no device. */
#ifndef TFGEN_COMPILE_H
#define TFGEN_COMPILE_H
#include "gen/gen.h"

typedef enum stage { stage_graph, stage_ir, stage_fuse, stage_plan, stage_source, stage_count } stage;
extern const char *const stage_names[stage_count]; /* graph ir fuse plan source */

typedef struct spec_text {
    const char *text, *name; /* name: the text's name in messages and #line */
    size_t size;
} spec_text;

typedef struct compile_request {
    const char *text, *name; /* name: the text's name in messages and #line */
    size_t size;
    bool from_ir;            /* text is IR text of stage `from`, not a spec */
    stage from;
    graph_options graph;
    bool at_most; /* clamp the range of each dynamic dim to its value: the plan is for calls up to these dims */
    fusion_level level;
    bool stacked; /* one launch runs several layers (level block only); ignored for IR text of stages fuse and plan, which records it */
    const spec_text *kinds; /* of a stack: specs of other kinds of its layers; `text` is the spec of kind 0, kinds[0] that of kind 1 */
    size_t kind_count;
    bool followed; /* the last launch takes tfgen_args.next (plan.followed in gen/gen.h) */
    const char *const *disabled; /* names of fusions to skip */
    size_t disabled_count;
    const char *target;
    /* The device model that tiles are chosen for: a name (tfgen devices --models), or the text of a device file (recognised by its
     * newline); NULL: the model that the IR text names, else the one that matches `device_label`, else the target's default. */
    const char *device_model;
    const char *device_file;  /* name of that file in messages; NULL: "device model" */
    const char *device_label; /* the device's name as its driver reports it, or NULL */
    const tuning *tuning;    /* NULL: defaults */
    /* If not NULL, called after each stage in dump_stages with its text, which lives in the arena. Sources come in several calls. */
    void (*dump)(void *context, stage at, const char *text);
    void *dump_context;
    unsigned dump_stages;    /* bit set of stages */
    bool check_passes; /* run the verifier after each fusion, so that it names the faulty one, instead of only after the last */
} compile_request;

typedef struct compiled {
    const ir_graph *graph; /* as read; NULL if the text was IR of a later stage */
    const ir_graph *const *kinds; /* by kind: the graphs of a stack's kinds of layers, as read; NULL: one kind, or IR text */
    plan *plan;
} compiled;

/* Bails on an unknown target; the message lists the known ones. */
const target_info *compile_target(arena *a, const char *name);
/* The request's device_model; NULL: it has none. Bails if that model belongs to another target. */
const device_model *compile_device(arena *a, const compile_request *r, const target_info *target);
/* As compile(), but bails; for callers already inside arena_run(). */
void compile_inside(arena *a, const compile_request *request, compiled *out);
/* Dumps a plan that was made again after register spills (runtime/module/plan_code.h). */
void compile_dump(arena *a, const compile_request *request, const plan *p);
tfgen_code compile(arena *a, const compile_request *request, compiled *out);
#endif
