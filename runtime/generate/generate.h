/* In: the folder of a decoder in HuggingFace's format (config.json, safetensors), a device, token ids. Out: ids of the following tokens, by
 * greedy decoding. Layers, final norm and LM head are specs as `tfgen import` writes them. A kernel takes the argmax and writes the next
 * step's input (next_token.h), so that several decode steps follow one another without the host.
 * Refuses what runtime/model/stem.h and unit.h refuse, ids outside the vocabulary and texts longer than the model's positions
 * (TFGEN_USAGE), and NaN met by the argmax (TFGEN_DEVICE_ERROR). After any failure but TFGEN_USAGE only generator_close() may be called.
 *
 * A generator is used by one thread at a time. */
#ifndef TFGEN_GENERATE_H
#define TFGEN_GENERATE_H
#include "runtime/api/tfgen.h"
#include <stdbool.h>

typedef struct generator generator;

typedef struct generator_options {
    const char *dtype;        /* f32, f16 or bf16 for layers, KV caches and head; NULL: the model's; must outlive the generator */
    const char *device_model; /* as in tfgen_plan_options */
    const char *wisdom;
    const char *const *tiles;
    size_t tile_count;
    size_t room;      /* most tokens of a sequence, generated ones included; 1 to 2^24 */
    size_t sequences; /* batch size of a decode step; 1 to 64 */
    size_t part;      /* prompt tokens per prefill call, at most 4096 (chunked prefill); 0: 2048; clamped to room */
    bool stacks;      /* a decode step runs layers that follow each other in one launch (tfgen_stack), if their kinds can share it */
    const tfgen_module_options *module; /* NULL: the defaults */
} generator_options;

typedef struct generator_facts { /* pointers are valid until generator_close() */
    const char *model_type, *dtype;
    size_t layers, hidden, vocabulary;
    size_t positions;        /* most tokens of a text that the model supports */
    const int *ends;         /* ids that end a text (eos_token_id) */
    size_t end_count;
    const char *not_applied; /* ignored keys of generation_config.json that ask for other than greedy decoding; "": none */
    long long weight_bytes;  /* device memory of layers, head and embeddings */
} generator_facts;

tfgen_status generator_open(const char *folder, tfgen_device *device, const generator_options *options, generator **out,
                            tfgen_error *error);
void generator_close(generator *g); /* NULL is fine */
generator_facts generator_about(const generator *g);

typedef struct generator_text {
    const int *prompt;
    size_t prompt_count;
    int *tokens;  /* out: the caller's array of `most` */
    size_t count; /* out: tokens generated */
    bool ended;   /* out: the last token is one of generator_facts.ends */
} generator_text;

typedef struct generator_times {
    double read_seconds, step_seconds; /* prefill of all prompts; decoding of all tokens but each text's first */
    size_t read_tokens, step_tokens;
} generator_times;
/* Appends each prompt to its sequence (texts [sequences]) and generates up to `most` tokens after it. */
tfgen_status generator_run(generator *g, generator_text *texts, size_t most, generator_times *times, tfgen_error *error);
#endif
