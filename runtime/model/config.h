/* In: a model's config.json, as transformers 4 and 5 write it. Out: its family and its facts, each read from any key that stands for it
 * (runtime/model/key.def). Bails with code_bad_input on invalid JSON (with line and column), duplicate keys, values of a wrong type or size
 * (with the key's path), and unknown keys, since they may change the mathematics; with code_unsupported on families that specs cannot
 * express. The file is untrusted. */
#ifndef TFGEN_MODEL_CONFIG_H
#define TFGEN_MODEL_CONFIG_H
#include "ir/base/arena.h"
#include "runtime/model/family.h"
#include <jansson.h>

enum { config_most_bytes = 4 << 20 };

typedef struct config_value {
    const char *key; /* the key that the value was read from; NULL: there is none, or its value is null */
    bool null;
    long long whole;
    double real;
    bool flag;
    const char *word;
} config_value;

typedef struct model_config {
    arena *a;
    const char *path;   /* for messages */
    const char *within; /* "text_config." if the text model's config is nested there, else "" */
    json_t *object;     /* the text model's config; valid as long as the arena */
    json_t *outer;      /* the whole config of the file; the same object unless the text model's config is nested in it */
    const char *dtype;  /* bf16, f16 or f32; default bf16 */
    const family *family;
    bool in_attention;  /* the keys being read are those of the nested attn_config */
    config_value facts[fact_count];
    text ignored; /* keys that change nothing within a layer, separated by commas */
} model_config;

/* part: "text" or "vision" of a model of two encoders (CLIP); NULL: none was chosen. */
model_config *config_read(arena *a, const char *json, size_t size, const char *path, const char *part);
/* Bails with code_bad_input: key and what is wrong with it. */
_Noreturn void config_refuse(const model_config *c, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with code_unsupported, for valid facts that specs cannot express. */
_Noreturn void config_cannot(const model_config *c, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool config_has(const model_config *c, model_fact fact);
/* Whole numbers are at most 2^31-1, reals finite. `key` is a path for messages. */
long long config_whole(const model_config *c, const json_t *value, const char *key);
double config_real(const model_config *c, const json_t *value, const char *key);
#endif
