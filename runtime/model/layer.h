/* In: a config, the number of a layer. Out: all facts of the layer's spec. Bails, naming the key, if facts are missing or contradict each
 * other (code_bad_input), or cannot be expressed in a spec (code_unsupported). */
#ifndef TFGEN_MODEL_LAYER_H
#define TFGEN_MODEL_LAYER_H
#include "runtime/model/config.h"

/* Most heads whose norms may have a tensor each: a concat joins at most 16 values, and two rounds of concats 256. */
enum { layer_most_joined = 256 };

/* Zero: the layer has no such part. A new member must be added to layer_same(). */
typedef struct layer_facts {
    const family *family;
    long long hidden, heads, kv_heads, head_size, inner, positions;
    double eps;
    bool gated;                    /* the feed-forward half: act(gate) * up, or act(up) */
    const char *gate, *up, *down;  /* as in the family; up NULL: gate is the tensor of both */
    const activation *activation;
    wiring wiring;
    const char *first_norm, *second_norm; /* before the halves, or after their sums (wiring); NULL: none */
    bool qkv_bias, o_bias, mlp_bias;
    packing packed;
    qk_norm q_norm;
    long long window; /* 0: every key */
    double scale;     /* 0: 1/sqrt(head_size) */
    double softcap, clip;
    const double *alibi; /* a slope for each head; NULL: none */
    double residual; /* factor of the halves' results; default 1 */
    struct {
        bool is; /* false: no rope */
        double theta, attention_factor; /* attention_factor 0: none */
        long long rotary;
        const char *scaling; /* as in the spec: {type: linear, factor: 8}; NULL: none */
        const char *note;    /* part of the config that the spec leaves out, and why; or NULL */
    } rope;
    long long least_tokens; /* shorter texts need another spec; default 1 */
} layer_facts;

long long model_layers(const model_config *c);
/* length: tokens of the longest texts that the spec is for; 0: the model's number of positions, or its original number if ropes depend on
 * the length. */
layer_facts layer_read(const model_config *c, long long layer, long long length);
bool layer_same(const layer_facts *x, const layer_facts *y);
/* "sliding" or "full", by window and rope; "layer" if all layers of the model are of one kind. */
const char *layer_kind_name(const layer_facts *l);
#endif
