/* In: a model's folder, rows of tokens. Out: what layers first to last make of them, each on the result of the one before, by the specs for
 * whole texts. One layer's weights are on the device at a time. Refuses (bails in the caller's arena_run()) what runtime/model/model.h and
 * unit.h refuse, and layers that do not exist (code_usage). */
#ifndef TFGEN_GENERATE_CHAIN_H
#define TFGEN_GENERATE_CHAIN_H
#include "runtime/generate/unit.h"
#include "runtime/model/model.h"

typedef struct chain_request {
    model *model;
    tfgen_device *device;
    unit_options options;
    long long first, last;
    long long batch, tokens;
    const int32_t *lengths; /* tokens of each text, of an encoder; NULL: all */
} chain_request;

typedef struct chain {
    dtype type; /* of the rows */
    long long hidden;
    double *seconds; /* of each layer's launches */
} chain;

/* The dtype and the size of the rows that chain_run() takes; checks first and last. */
chain chain_open(arena *a, const chain_request *r);
/* x: batch * tokens rows, replaced by the result. */
void chain_run(arena *a, const chain_request *r, chain *c, void *x);
#endif
