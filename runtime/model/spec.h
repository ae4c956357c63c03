/* In: the facts of a layer. Out: its spec, as a person would have written it. */
#ifndef TFGEN_MODEL_SPEC_H
#define TFGEN_MODEL_SPEC_H
#include "runtime/model/layer.h"

/* What the tokens of a call are: whole texts; the next token of each sequence, with a cache of keys and values; or the next tokens of a
 * prompt, with the cache that they fill. */
typedef enum spec_form { spec_prompt, spec_decode, spec_prefill } spec_form;

typedef struct spec_request {
    const model_config *config;
    const layer_facts *layer;
    const char *which;  /* for the comment: "layers 0-4, 6-10 of 12" */
    const char *prefix; /* with {layer} */
    spec_form form;
    bool gamma;         /* weights and biases of layer norms are called gamma and beta, as the first BERT's are */
    bool lengths;       /* of an encoder: the texts of a batch have lengths of their own, in an input */
    long long part;     /* of spec_prefill: tokens of a call, at most; 0: 1024 */
} spec_request;

const char *spec_write(arena *a, const spec_request *r);

/* What stands around a decoder's layers: a norm; with a head, the head behind it. Names are those of whole models. */
typedef struct stem_request {
    const model_config *config;
    const layer_facts *layer;
    bool gamma;       /* as above */
    const char *norm; /* the module; NULL: none */
    long long vocabulary;
    const char *head, *head_bias;       /* tensors; head NULL: the norm alone */
    double logit_multiplier, logit_cap; /* 1; 0: none */
} stem_request;

const char *spec_write_stem(arena *a, const stem_request *r);
#endif
