/* In: the model_type of a config.json. Out: what the layers of such models are made of: a row of runtime/model/family.def. Tables, no code.
 */
#ifndef TFGEN_MODEL_FAMILY_H
#define TFGEN_MODEL_FAMILY_H
#include <stdbool.h>
#include <stddef.h>

typedef enum model_fact {
#define KEY(fact, kind, names) fact_##fact,
#include "runtime/model/key.def"
    fact_count
} model_fact;
#define FACT(name) (1ull << fact_##name)

typedef enum norm_kind { norm_rms, norm_layer } norm_kind;
/* How a layer's two halves follow each other:
 *   ahead     x1 = x + attention(norm(x)); y = x1 + mlp(norm(x1)); norms that a family does not name are left out
 *   behind    x1 = norm(x + attention(x)); y = norm(x1 + mlp(x1))
 *   parallel  y = x + attention(norm(x)) + mlp(norm(x)), with one norm for both where the second has no name */
typedef enum wiring { wiring_ahead, wiring_behind, wiring_parallel, wiring_by_key } wiring;
typedef enum bias_rule { bias_none, bias_always, bias_by_attention_key, bias_by_mlp_key } bias_rule;
/* Norms of q and k ahead of rope: one weight for all heads, a weight for each head, or one norm over all heads together. */
typedef enum qk_norm { qk_norm_none, qk_norm_shared, qk_norm_each_head, qk_norm_whole } qk_norm;
/* Rows of one tensor with q, k and v: all of q, then k, then v; or for each key head its queries, its key, its value. */
typedef enum packing { packing_none, packing_stacked, packing_by_head, packing_by_key } packing;
/* Which layers have a window when layer_types does not say: none; all; even ones; all but every n-th (window_pattern); those from
 * max_window_layers on. */
typedef enum window_rule { window_never, window_all, window_even, window_but_every, window_from_layer } window_rule;
enum { family_most_prefixes = 6, family_most_defaults = 12 };

typedef struct family {
    const char *model_type;
    const char *prefixes[family_most_prefixes]; /* of the layer's tensors, {layer} in them; the first is that of whole models */
    unsigned long long reads;                   /* facts beyond those that all read: 1ull << model_fact */
    /* What transformers' class has where the config has no such key (null is another thing); sizes only of a config within another, which
     * says what differs from the class, as that of a model's text part. value 0 ends them. */
    struct {
        model_fact fact;
        double value;
    } defaults[family_most_defaults];
    bool encoder;                               /* every token sees every other; nothing is generated */
    bool causal_encoder;                        /* an encoder whose tokens see those ahead of them only */

    norm_kind norm;
    bool norm_no_bias, norm_no_weight, norm_unit_offset;
    double eps; /* where the config does not say; 0: it must */
    wiring wiring;
    bool parallel_default;
    const char *attention_norm, *mlp_norm;          /* ahead of each half, or behind the sum: names without .weight */
    const char *attention_out_norm, *mlp_out_norm;  /* of what each half makes, ahead of the sum */
    const char *one_norm, *first_norm, *second_norm; /* other names of norms in parallel: one for both, or two */
    const char *attention_scale, *mlp_scale;        /* vectors that multiply what each half makes */

    packing packed;
    const char *q, *k, *v, *o; /* names without .weight; q: of all three where they are packed */
    bool in_out;               /* weights are stored [in, out] */
    bias_rule qkv_bias, o_bias, mlp_bias;
    bool bias_default, no_k_bias;
    qk_norm q_norm_kind;
    const char *q_norm, *k_norm;
    bool q_norm_by_key; /* only where the config says so */

    bool gated;
    const char *gate, *up, *down; /* gate: of both where up is NULL */
    const char *activation;       /* where the config does not say */
    const char *activation_key;   /* the only one that is read, of families whose configs have others, which say something else; or NULL */

    bool gelu_is_tanh;            /* a config that says gelu means the form with tanh */

    bool no_rope, interleaved;
    bool scaling_without_window; /* only ropes of layers without a window are scaled */
    bool yarn_is_longrope;       /* the first configs of Phi 3 said yarn and have longrope's factors */
    double theta, local_theta, partial;
    window_rule window;
    long long window_pattern;
    bool no_rope_without_window; /* layers without a window have no rope */

    /* What stands around the layers of a decoder (runtime/model/stem.h). Names, without .weight, stand behind the layers' prefix without
     * its last part, those of the head alone. embedding NULL: nothing is generated. */
    const char *embedding, *position_embedding, *embedding_norm, *last_norm, *heads[2];
    int first_position;     /* row of position_embedding for the first token */
    bool embedding_by_root; /* embeddings are multiplied by the root of their size, rounded to the dtype */
    bool head_bias, tied;   /* tied: where the config does not say, the head's weight is the embedding's */
    struct {
        const char *key; /* NULL: there is none */
        double otherwise; /* where the config does not say; 0: nothing is done */
    } embedding_multiplier, logit_multiplier, logit_divisor, logit_cap;
} family;

/* NULL: there is no such family. *why: the type is known, and why its layers cannot be said. */
const family *family_find(const char *model_type, const char **why);
/* Of known types by number, in order of the table; NULL behind the last. */
const char *family_name(size_t index);
const char *family_like(const char *model_type); /* a known name near it, or NULL */
/* The op that an activation of a config is, or two: relu2 is relu, then square. NULL: it is not known. */
typedef struct activation {
    const char *name, *op, *then;
} activation;
const activation *activation_find(const char *name);
#endif
