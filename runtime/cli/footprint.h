/* In: a plan with its sources. Out: the device memory that running it needs, item by item, as the runtime allocates it: weights
 * (tfgen_weights_bytes), states, workspace (tfgen_workspace_bytes), inputs and outputs. */
#ifndef TFGEN_CLI_FOOTPRINT_H
#define TFGEN_CLI_FOOTPRINT_H
#include "gen/gen.h"

typedef enum memory_kind { memory_weights, memory_states, memory_workspace, memory_activations, memory_kind_count } memory_kind;
extern const char *const memory_names[memory_kind_count]; /* weights, states, workspace, activations */

typedef struct memory_item {
    memory_kind kind;
    const char *name, *what; /* what: "packed", "as it is", "input", ... */
    double bytes;
} memory_item;

typedef struct footprint {
    memory_item *items;
    int count;
    double of[memory_kind_count]; /* bytes by kind; workspace includes alignment padding */
    double originals;             /* bytes of unpacked params, which may be freed after packing */
} footprint;

footprint footprint_of(arena *a, const plan *p);
/* Bytes for a model of `layers` such layers run in sequence: weights and states per layer, the rest once. */
double footprint_bytes(const footprint *f, long long layers);
/* Peak bytes while packing: the above plus the unpacked params of the last layer. */
double footprint_packing(const footprint *f, long long layers);
#endif
