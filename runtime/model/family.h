/* In: the model_type of a config.json. Out: the composition of such models' layers: a row of runtime/model/family.def. */
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
/* How a layer combines its two halves:
 *   ahead     pre-norm: x1 = x + attention(norm(x)); y = x1 + mlp(norm(x1)); norms without a name are left out
 *   behind    post-norm: x1 = norm(x + attention(x)); y = norm(x1 + mlp(x1))
 *   parallel  y = x + attention(norm(x)) + mlp(norm(x)), with one norm for both if the second has no name
 *   by_key    parallel if the config's key says so, else ahead */
typedef enum wiring { wiring_ahead, wiring_behind, wiring_parallel, wiring_by_key } wiring;
typedef enum bias_rule { bias_none, bias_always, bias_by_attention_key, bias_by_mlp_key } bias_rule;
/* Norms of q and k before rope: one weight for all heads; a weight for each head, in one tensor or in a tensor per head (q_norm.0, ...);
 * or one norm over all heads together. */
typedef enum qk_norm { qk_norm_none, qk_norm_shared, qk_norm_each_head, qk_norm_tensor_per_head, qk_norm_whole } qk_norm;
/* Order of rows in one tensor with q, k and v. stacked: all of q, then k, then v. by_head: for each KV head its queries, key and value.
 * by_key: stacked if the config has one KV head, else by_head. */
typedef enum packing { packing_none, packing_stacked, packing_by_head, packing_by_key } packing;
/* Which layers have a window if the config has no layer_types: none; all; even ones; all but every n-th (window_pattern); those from
 * max_window_layers on; all but the first of each n; those without rope. */
typedef enum window_rule {
    window_never, window_all, window_even, window_but_every, window_from_layer, window_but_first, window_without_rope
} window_rule;
/* ALiBi, with the slopes of BLOOM and Falcon or those of MPT: scores decrease by a head's slope times the distance. */
typedef enum alibi_rule { alibi_none, alibi_bloom, alibi_mpt } alibi_rule;
enum { family_most_prefixes = 6, family_most_defaults = 12 };

typedef struct family {
    const char *model_type;
    const char *prefixes[family_most_prefixes]; /* of tensor names, {layer} being the layer's number; the first is that of whole models */
    unsigned long long reads;                   /* FACT() bits of facts read in addition to those that all families read */
    /* Defaults of transformers' class for missing keys (null is not missing). Sizes have defaults only in a nested config (a model's text
     * part), which lists differences from the class. value 0 ends the list. */
    struct {
        model_fact fact;
        double value;
    } defaults[family_most_defaults];
    bool encoder;                               /* every token attends to all others; no generation */
    bool causal_encoder;                        /* an encoder with a causal mask */

    norm_kind norm;
    bool norm_no_bias, norm_no_weight, norm_unit_offset;
    double eps; /* default; 0: the config must have it */
    wiring wiring;
    bool parallel_default;
    const char *attention_norm, *mlp_norm;          /* norms before each half, or, if wiring is behind, after its residual sum: names
                                                     * without .weight */
    const char *attention_out_norm, *mlp_out_norm;  /* norms of each half's result, before the residual sum */
    const char *one_norm, *first_norm, *second_norm; /* with parallel wiring, instead: one norm for both halves, or one for each */
    const char *attention_scale, *mlp_scale;        /* vectors that multiply each half's result */

    packing packed;
    const char *q, *k, *v, *o; /* names without .weight; q: the tensor of all three if they are packed */
    bool in_out;               /* weights are stored [in, out] */
    bias_rule qkv_bias, o_bias, mlp_bias;
    bool bias_default, no_k_bias;
    qk_norm q_norm_kind;
    const char *q_norm, *k_norm;
    bool q_norm_by_key; /* norms of q and k exist only if the config enables them */

    bool gated;
    const char *gate, *up, *down; /* up NULL: gate is the tensor of both */
    const char *swiglu_in, *swiglu_out; /* with use_swiglu_ffn, instead: the tensor of gate and up, and that of down */
    const char *activation;       /* default */
    bool gelu_is_tanh;            /* "gelu" in the config means the tanh form */

    bool no_rope, interleaved;
    bool scaling_without_window; /* only ropes of layers without a window are scaled */
    bool yarn_is_longrope;       /* type yarn with longrope's factors, as in the first configs of Phi 3 */
    double theta, local_theta, partial;
    alibi_rule alibi;
    bool inner_is_four;          /* the feed-forward half has 4 times the model's columns if the config does not say */
    unsigned long long in_attention; /* FACT() bits of facts that are read in attn_config only */
    bool first_layer_has_no_norm; /* ahead of attention: the embeddings have one */
    window_rule window;
    long long window_pattern;
    bool no_rope_without_window; /* layers without a window have no rope */

    /* Parts before and after a decoder's layers (runtime/model/stem.h). Names are without .weight. Before them, a tensor's name has what
     * the layers' prefix has before "layers.{layer}." or the like; names of heads have nothing before them. embedding NULL: no generation.
     * */
    const char *embedding, *position_embedding, *embedding_norm, *last_norm, *heads[2];
    int first_position;     /* row of position_embedding for the first token */
    bool embedding_by_root; /* embeddings are multiplied by the square root of their size, rounded to the dtype */
    bool head_bias, tied;   /* tied: by default the head's weight is the embedding's */
    struct {
        const char *key; /* NULL: none */
        double otherwise; /* default; 0: not applied */
    } embedding_multiplier, logit_multiplier, logit_divisor, logit_cap;
} family;

/* NULL: not supported; *why: the reason if the type is known, else NULL. */
const family *family_find(const char *model_type, const char **why);
/* Whether a multi-part model of this type (text with images or sound) has, as its text part, a model of one of these families unchanged
 * (AROUND in family.def). */
bool family_is_within(const char *model_type);
typedef struct model_parts { /* PARTS of family.def */
    const char *model_type, *text, *vision;
    bool doubled;
} model_parts;
const model_parts *family_parts(const char *model_type); /* NULL: not a model of two encoders */
/* The known type of this index, in table order; NULL after the last. */
const char *family_name(size_t index);
const char *family_like(const char *model_type); /* a known name near it, or NULL */
/* The op of a config's activation, or two: relu2 is relu, then square. activation_find() returns NULL if it is unknown. */
typedef struct activation {
    const char *name, *op, *number, *then; /* number: the op's second operand, or NULL */
} activation;
const activation *activation_find(const char *name);
#endif
