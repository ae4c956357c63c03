/* In: a spec, options. Out: its plans by level and launch, with operation and byte counts, predicted times and compiler results: one
 * structure that text, JSON and the page are written from. */
#ifndef TFGEN_CLI_EXPLANATION_H
#define TFGEN_CLI_EXPLANATION_H
#include "gen/plan/predict.h"
#include "ir/devices/occupancy.h"
#include "runtime/cli/cli.h"
#include "runtime/module/plan_code.h"
#include <jansson.h>

/* The compiler's result for a launch. */
typedef struct explained_code {
    const char *missing;  /* why nothing is known, or NULL */
    const char *compiler; /* its name */
    kernel_facts facts;
    kernel_need need;
    bool holds; /* `held` is known */
    occupancy held;
    long long matrix; /* number of matrix instructions; -1: unknown */
} explained_code;

typedef struct explained_kernel {
    const launch *launch;
    const char *ops; /* names of the spec's ops that it computes */
    int op_count;    /* number of the spec's ops that this kernel computes, in whole or in part */
    work work;
    bool foreseen; /* predicted and floor are known */
    prediction predicted;
    double floor;
    const char *limit; /* what sets the floor */
    explained_code code;
} explained_kernel;

/* An edge between two launches that fusion did not remove. A value's bytes count only at the first edge that moves them, so they add up. */
typedef struct explained_edge {
    const fusion_note *note;
    const char *sentence;
    int from, to; /* indices of launches; -1: none */
    double read, written, seconds;
} explained_edge;

/* A level planned for one device model. */
typedef struct explained_device {
    const device_model *model;
    const char *refused; /* why there is no plan, or NULL */
    int count;
    explained_kernel *kernels;
    bool foreseen;
    double floor, seconds;
    unsigned assumed;
} explained_device;

typedef struct explained_level {
    fusion_level level;
    const plan *plan;
    explained_kernel *kernels;
    int count;
    explained_edge *edges;
    int edge_count;
    work all;
    double floor, seconds, workspace, packed; /* seconds of all launches, by peaks and predicted; bytes */
    explained_device *devices;
    int device_count;
} explained_level;

typedef struct explanation {
    arena *a;
    const char *path, *text; /* of the spec */
    const ir_graph *graph; /* NULL: IR text of a later stage */
    const device_model *device;
    explained_level *levels;
    int level_count;
} explanation;

/* The kernels of a plan with their work and predicted times. */
explained_kernel *explain_kernels(arena *a, const ir_graph *graph, const plan *p);
explained_edge *explain_edges(arena *a, const explained_level *l, int *count);
/* Compiles the plan unless o->no_code is set; *p may become a replan after register spills. NULL: not compiled, *missing has the reason. */
const plan_code *explain_compile(arena *a, const cli_options *o, const plan **p, const char **missing);
void explain_code(arena *a, const plan_code *code, const char *missing, explained_level *l);
/* True if v is an output, or shares an output's storage. */
bool explained_output(const ir_graph *p, const ir_value *v);
/* Names from ir/kinds.def. */
const char *explained_family(const ir_phase *phase);
const char *explained_layer(layer_kind layer);
const char *explained_frame(frame_kind frame);
double launches_seconds(const explained_kernel *k, int count, bool floor);

/* Plans the request for another device; explain_add_up() sums over its kernels. */
explained_device explain_device(arena *a, compile_request r, const device_model *d);
void explain_add_up(explained_device *d);

void explain_print(const explanation *e);
json_t *explain_json(const explanation *e);
/* Writes the page, a self-contained file. */
void explain_page(arena *a, const char *path, const json_t *all);
#endif
