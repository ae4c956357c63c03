/* In: the folder of a decoder in HuggingFace's format (config.json, safetensors), a device, token ids. Out: ids of the following tokens, by
 * greedy decoding, or the logits after each call. Layers, last norm and head are the specs that `tfgen import` writes; the host looks up
 * embeddings and chooses the greatest logit, of the blocks whose greatest the device finds. Refuses what
 * runtime/model/stem.h and unit.h refuse, ids outside of the vocabulary and texts longer than the model's positions (TFGEN_USAGE), logits
 * that are NaN (TFGEN_DEVICE_ERROR). After an error of the device or of a file only generator_close() may follow.
 *
 * A generator is used by one thread at a time. */
#ifndef TFGEN_GENERATE_H
#define TFGEN_GENERATE_H
#include "runtime/api/tfgen.h"
#include <stdbool.h>

typedef struct generator generator;

typedef struct generator_options {
    const char *dtype;        /* of layers, caches and head: f32, f16, bf16; NULL: the model's */
    const char *device_model; /* as in tfgen_plan_options */
    const char *wisdom;
    const char *const *tiles;
    size_t tile_count;
    size_t room;      /* tokens of the longest sequence, generated ones included */
    size_t sequences; /* concurrent ones; 1 to 64 */
    size_t part;      /* most prompt tokens per call; 0: 2048, at most room */
    const tfgen_module_options *module; /* NULL: the defaults */
} generator_options;

typedef struct generator_facts {
    const char *model_type, *dtype;
    size_t layers, hidden, vocabulary;
    size_t positions;        /* tokens of the longest text that the model takes */
    const int *ends;         /* ids that end a text (eos_token_id) */
    size_t end_count;
    const char *not_applied; /* keys of generation_config.json that ask for other than greedy decoding; "": none */
    long long weight_bytes;  /* on the device */
} generator_facts;

tfgen_status generator_open(const char *folder, tfgen_device *device, const generator_options *options, generator **out,
                            tfgen_error *error);
void generator_close(generator *g); /* NULL is fine */
generator_facts generator_about(const generator *g);

/* Resets a sequence to empty. */
void generator_forget(generator *g, size_t sequence);
/* Appends tokens to the sequence. best: the token of the greatest logit after the last one, the first of equal ones; logits [vocabulary]:
 * all of them. Either may be NULL; best alone is faster. */
tfgen_status generator_read(generator *g, size_t sequence, const int *ids, size_t count, int *best, float *logits, tfgen_error *error);
/* Appends one token to each sequence; best [sequences], logits [sequences][vocabulary]. A sequence with done[i] gets no token, no best and
 * no logits; done may be NULL. */
tfgen_status generator_step(generator *g, const int *ids, const bool *done, int *best, float *logits, tfgen_error *error);

typedef struct generator_text {
    const int *prompt;
    size_t prompt_count;
    int *tokens;  /* out: room for `most` */
    size_t count; /* out */
    bool ended;   /* out: by a token of generator_facts.ends, which is the last one */
} generator_text;

typedef struct generator_times {
    double read_seconds, step_seconds; /* of all prompts; of all tokens but the first of each text */
    size_t read_tokens, step_tokens;
} generator_times;
/* Continues each text (one per sequence) by at most `most` tokens. */
tfgen_status generator_run(generator *g, generator_text *texts, size_t most, generator_times *times, tfgen_error *error);
#endif
