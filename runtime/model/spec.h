/* In: the facts of a layer. Out: its spec, as a person would have written it. */
#ifndef TFGEN_MODEL_SPEC_H
#define TFGEN_MODEL_SPEC_H
#include "runtime/model/layer.h"

/* The tokens of a call: whole texts; the next token of each sequence, with a KV cache; or the next tokens of a prompt, which fill the
 * cache. */
typedef enum spec_form { spec_prompt, spec_decode, spec_prefill } spec_form;

/* Where texts of a batch may be padded: nowhere; on the right, with an input n of lengths (encoders; causal tokens never see padding behind
 * them); on the left, with an input `first` that counts a text's padding tokens. */
typedef enum spec_padding { padding_none, padding_right, padding_left } spec_padding;

typedef struct spec_request {
    const model_config *config;
    const layer_facts *layer;
    const char *which;  /* layers that the spec describes, for its first comment: "layers 0-4, 6-10 of 12" */
    const char *prefix; /* of tensor names, where {layer} stands for the number: "model.layers.{layer}." */
    spec_form form;
    bool gamma;         /* weights and biases of layer norms are called gamma and beta, as in the first BERT */
    spec_padding padding;
    long long part;     /* spec_prefill: most tokens per call; 0: 1024 */
} spec_request;

const char *spec_write(arena *a, const spec_request *r);

/* What follows a decoder's layers: the last norm, and the head if there is one. Tensor names are complete, without a prefix. */
typedef struct stem_request {
    const model_config *config;
    const layer_facts *layer;
    bool gamma;       /* as in spec_request */
    const char *norm; /* name of the last norm's module; NULL: none */
    long long vocabulary;
    const char *head, *head_bias;       /* tensors; head NULL: the norm alone */
    double logit_multiplier, logit_cap; /* a multiplier of 1 and a cap of 0: none */
    long long block; /* not 0: a second output has the maximum of each block of this many logits, a divisor of the vocabulary */
} stem_request;

const char *spec_write_stem(arena *a, const stem_request *r);
#endif
