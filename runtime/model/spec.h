/* In: the facts of a layer. Out: its spec, as a person would have written it. */
#ifndef TFGEN_MODEL_SPEC_H
#define TFGEN_MODEL_SPEC_H
#include "runtime/model/layer.h"

typedef struct spec_request {
    const model_config *config;
    const layer_facts *layer;
    const char *which;  /* for the comment: "layers 0-4, 6-10 of 12" */
    const char *prefix; /* with {layer} */
    bool decode;        /* one token a sequence, with a cache of keys and values */
    bool gamma;         /* weights and biases of layer norms are called gamma and beta, as the first BERT's are */
    bool lengths;       /* of an encoder: the texts of a batch have lengths of their own, in an input */
} spec_request;

const char *spec_write(arena *a, const spec_request *r);
#endif
