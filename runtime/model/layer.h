/* In: a config, the number of a layer. Out: all that its spec says. Refuses (bails): facts that are missing or contradict each other
 * (code_bad_input), and what specs cannot say (code_unsupported), by the key that says so. */
#ifndef TFGEN_MODEL_LAYER_H
#define TFGEN_MODEL_LAYER_H
#include "runtime/model/config.h"

/* What a layer does not have is zero. A new member belongs in layer_same(), too. */
typedef struct layer_facts {
    const family *family;
    long long hidden, heads, kv_heads, head_size, inner, positions;
    double eps;
    const activation *activation;
    wiring wiring;
    const char *first_norm, *second_norm; /* ahead of the halves, or behind their sums; NULL: none */
    bool qkv_bias, o_bias, mlp_bias;
    packing packed;
    qk_norm q_norm;
    long long window; /* 0: every key */
    double scale;     /* 0: 1/sqrt(head_size) */
    double softcap, clip;
    double residual; /* what the halves' results are multiplied by; 1 */
    struct {
        bool is; /* false: no rope */
        double theta, attention_factor; /* attention_factor 0: none */
        long long rotary;
        const char *scaling; /* as the spec says it, {type: linear, factor: 8}; NULL: none */
        const char *note;    /* what of the config the spec does not say, and why; or NULL */
    } rope;
    long long least_tokens; /* texts of fewer have another spec; 1 */
} layer_facts;

long long model_layers(const model_config *c);
/* length: of the longest texts that the spec is for; 0: as many as the model has positions, or, where its ropes depend on the length, as it
 * had at first. */
layer_facts layer_read(const model_config *c, long long layer, long long length);
bool layer_same(const layer_facts *x, const layer_facts *y);
/* "sliding", "full", or "layer" where the model has one kind only: of layers that differ in windows or ropes. */
const char *layer_kind_name(const layer_facts *l);
#endif
