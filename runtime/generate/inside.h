/* In: a generator's files. Out: what they share. Refuses nothing. */
#ifndef TFGEN_GENERATE_INSIDE_H
#define TFGEN_GENERATE_INSIDE_H
#include "runtime/generate/generate.h"
#include "runtime/generate/unit.h"
#include "runtime/model/stem.h"

enum { most_sequences = 64, usual_part = 2048, position_bytes = most_sequences * sizeof(int32_t) };

/* The layers' specs for texts of some lengths: ropes may have other factors beyond a length (longrope). */
typedef struct layer_set {
    model *model;
    long long most;         /* tokens of the longest text that these specs are for */
    size_t part;            /* of a prompt at once */
    unit *prefill, *decode; /* by kind */
    void *graph;            /* the launches of a step; NULL: none was captured */
    bool stepped;           /* a step has run without a graph */
} layer_set;

typedef struct layer_memory {
    tfgen_weights *weights;
    void *keys, *values;
} layer_memory;

/* Numbers of a token's row: of a table in a file. */
typedef struct row_table {
    const safetensors *file;
    const safetensors_tensor *tensor;
} row_table;

struct generator {
    arena *a;
    tfgen_device *device;
    generator_options options;
    generator_facts facts;
    dtype type;
    model_stem stem;
    layer_set sets[2]; /* the second: for texts longer than those of the first */
    int set_count, set; /* set: the one that the caches were filled by */
    unit head, norm;    /* norm: of the embeddings; without a plan: there is none */
    tfgen_weights *head_weights, *norm_weights;
    layer_memory *layers;
    row_table embedding, positions;
    long long rows;    /* of a cache */
    size_t cache_bytes; /* of one sequence's keys in a layer */
    long long block; /* logits whose greatest the device finds; 0: the host reads all of them */
    void *call; /* what a call copies to the device at once: positions of its tokens, then their rows, which are x[0] */
    void *x[2], *last, *pos, *logits, *peaks, *workspace, *stream;
    float *host_logits; /* of one sequence */
    char *host_call;
    double *row[2];
    size_t lengths[most_sequences]; /* tokens in the caches */
    int *history;                   /* [sequences][rows]: they are read again when the set changes */
};

/* Bails with the device's error. */
void generator_need(const generator *g, tfgen_status status, const tfgen_error *error);
/* ends, end_count and not_applied, of the config and generation_config.json. */
void generator_read_ends(generator *g, const model *m);
/* Opens the tables; checks their sizes. */
void generator_open_tables(generator *g, checkpoint *tensors);
/* The embedding of a token at a position, as bytes of the dtype. */
void generator_embed(generator *g, int id, size_t position, void *out);
#endif
