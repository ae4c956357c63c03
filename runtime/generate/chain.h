/* In: a model's folder, activations of whole texts. Out: the activations after layers first to last, run one after another without a cache.
 * Only one layer's weights are on the device at a time. Refuses (bails in the caller's arena_run()) what runtime/model/model.h and unit.h
 * refuse, and layers that do not exist (code_usage). */
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
    const int32_t *lengths; /* [batch]: an encoder's texts, padded on the right; NULL: no padding */
} chain_request;

typedef struct chain {
    dtype type; /* of the activations */
    long long hidden;
    double *seconds; /* by layer: its launches, without loading weights */
} chain;

/* Checks first and last; sets the dtype and width of the activations that chain_run() expects. */
chain chain_open(arena *a, const chain_request *r);
/* x [batch][tokens][hidden], in host memory, is replaced by the result. */
void chain_run(arena *a, const chain_request *r, chain *c, void *x);
#endif
