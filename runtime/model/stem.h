/* In: a decoder's model. Out: the parts before and after its layers: the table of embeddings, the last norm and the head, with specs of the
 * computed parts. Refuses (bails) encoders (code_usage), keys about embeddings or logits that the family does not have
 * (code_unsupported), and a folder without these tensors (code_bad_input). */
#ifndef TFGEN_MODEL_STEM_H
#define TFGEN_MODEL_STEM_H
#include "runtime/model/model.h"

typedef struct model_stem {
    const layer_facts *layer; /* of layer 0: its sizes and norms are those of the model */
    long long vocabulary;
    const char *embedding;          /* name of the table [vocabulary, hidden] */
    double multiplier;              /* factor of embeddings; 1: none */
    bool multiplier_rounded;        /* it is rounded to the dtype first */
    const char *position_embedding; /* a table whose row `position + first_position` is added; NULL: none */
    long long first_position;
    const char *embedding_norm; /* a layer norm of embeddings; NULL: none. Names of modules: .weight and .bias follow */
    const char *last_norm;      /* NULL: none */
    const char *head;           /* the tensor [vocabulary, hidden] */
    const char *head_bias;      /* NULL: none */
    double logit_multiplier, logit_cap; /* a multiplier of 1 and a cap of 0: none */
} model_stem;

/* False: an encoder, layers without a head, or a config without the size of the vocabulary. */
bool stem_is_there(const model *m);
model_stem stem_read(const model *m);
/* Input x [B, D]: the last layer's result for the last token of each sequence; output: logits [B, V] in f32. block: see stem_request. */
const char *stem_head_spec(const model *m, const model_stem *s, long long block);
/* Input x [B, D]: embeddings; output y [B, D]: the input of layer 0. NULL: the model computes nothing there. */
const char *stem_embedding_spec(const model *m, const model_stem *s);
#endif
