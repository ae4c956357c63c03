/* In: a decoder's model. Out: what stands around its layers: the table of embeddings, the last norm and the head, with the specs of the
 * parts that are computed. Refuses (bails) encoders (code_usage), keys about embeddings or logits that the family does not have
 * (code_unsupported), and a folder without these tensors (code_bad_input). */
#ifndef TFGEN_MODEL_STEM_H
#define TFGEN_MODEL_STEM_H
#include "runtime/model/model.h"

typedef struct model_stem {
    const layer_facts *layer; /* of layer 0: its sizes and norms are those of the model */
    long long vocabulary;
    const char *embedding;          /* name of the table [vocabulary, hidden] */
    double multiplier;              /* of embeddings; 1 */
    bool multiplier_rounded;        /* it is rounded to the dtype first */
    const char *position_embedding; /* a table whose row `position + first_position` is added; NULL: none */
    long long first_position;
    const char *embedding_norm; /* a layer norm of embeddings; NULL: none. Names of modules: .weight and .bias follow */
    const char *last_norm;      /* NULL: none */
    const char *head;           /* the tensor [vocabulary, hidden] */
    const char *head_bias;      /* NULL: none */
    double logit_multiplier, logit_cap; /* 1; 0: none */
} model_stem;

/* False: an encoder, layers without a head, or a config that does not say how large the vocabulary is. */
bool stem_is_there(const model *m);
model_stem stem_read(const model *m);
/* x [B, D], the last layer's result for the last token of each sequence: logits [B, V] in f32. */
const char *stem_head_spec(const model *m, const model_stem *s);
/* x [B, D], embeddings: y [B, D], what layer 0 reads. NULL: the model computes nothing there. */
const char *stem_embedding_spec(const model *m, const model_stem *s);
#endif
