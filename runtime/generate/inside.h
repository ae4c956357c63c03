/* The structures that the generator's files share. */
#ifndef TFGEN_GENERATE_INSIDE_H
#define TFGEN_GENERATE_INSIDE_H
#include "runtime/generate/generate.h"
#include "runtime/generate/unit.h"
#include "runtime/model/stem.h"

enum {
    most_sequences = 64,
    usual_part = 2048,
    position_bytes = most_sequences * sizeof(int32_t),
    most_steps_ahead = 16 /* decode steps that are launched before the host looks at their tokens */
};

/* The layers planned for texts of up to `most` tokens: with longrope, RoPE has other factors beyond a certain length. */
typedef struct layer_set {
    model *model;
    long long most;         /* tokens of the longest text that these specs serve */
    size_t part;            /* prompt tokens per prefill call */
    unit *prefill, *decode; /* by kind of layer; of kinds that share a stack, only the first has a decode unit */
    int *first_of;          /* by kind: the first of the kinds with which it shares a stack, perhaps itself */
    int *place_of;          /* by kind: its place among these kinds */
    tfgen_stack **stacks;   /* by first kind: all layers of the kinds that share it, for decode steps. NULL: each layer has its own
                             * launches */
    void *graph;            /* HIP or CUDA graph of a decode step; NULL: not captured yet */
    bool stepped;           /* a step has run without a graph */
} layer_set;

typedef struct layer_memory {
    tfgen_weights *weights;
    void *keys, *values;
} layer_memory;

/* An embedding table, which stays in its file. */
typedef struct row_table {
    const safetensors *file;
    const safetensors_tensor *tensor;
} row_table;

/* What chooses tokens on the device: next_token.h. */
typedef struct next_token {
    void *image, *kernel;
    void *table, *positions; /* embeddings in the generator's dtype */
    void *count, *tokens;    /* int32 [sequences]; [most_steps_ahead][rows] */
    struct cache *cache;
} next_token;

struct generator {
    arena *a;
    tfgen_device *device;
    generator_options options;
    generator_facts facts;
    dtype type;
    model_stem stem;
    layer_set sets[2]; /* the second is for texts longer than sets[0].most */
    int set_count, set; /* set: index in `sets` of the one that filled the caches */
    unit head, norm;    /* norm: applied to the embeddings; norm.plan NULL: the model has none */
    tfgen_weights *head_weights, *norm_weights;
    layer_memory *layers;
    next_token next;
    row_table embedding, positions;
    long long rows;    /* KV cache rows per sequence: room rounded up to 16 */
    size_t cache_bytes; /* keys (or values) of one sequence in one layer */
    long long block; /* logits per maximum that the device computes (peaks); 0: the host reads all logits */
    void *call; /* device memory that one copy from host_call fills per call: positions (pos), then the tokens' embeddings (x[0]) */
    void *x[2], *last, *pos, *logits, *peaks, *workspace, *stream;
    char *host_call;
    double *row[2];
    size_t lengths[most_sequences]; /* tokens in the caches */
    int *history;                   /* [sequences][rows]: token ids, prefilled again when the set changes */
};

/* Bails with the error unless TFGEN_OK. */
void generator_need(const generator *g, tfgen_status status, const tfgen_error *error);
/* Sets facts.ends, end_count and not_applied from config.json and generation_config.json. */
void generator_read_ends(generator *g, const model *m);
/* Opens the embedding tables and checks their shapes. */
void generator_open_tables(generator *g, checkpoint *tensors);
double generator_multiplier(const generator *g); /* factor of embeddings, rounded as transformers rounds it */
/* Writes the token's embedding at a position: [hidden] in g->type. */
void generator_embed(generator *g, int id, size_t position, void *out);
#endif
