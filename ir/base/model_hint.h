/* In: parts of a HuggingFace model given by mistake: its configuration, its tensors, the index of its files. Out: one line that says what
 * it is and what to do. tfgen itself takes a block's spec and a block's tensors. */
#ifndef TFGEN_MODEL_HINT_H
#define TFGEN_MODEL_HINT_H
#include "ir/base/arena.h"

/* Hint for a config.json given as a spec; model_type NULL: the file has none. */
const char *model_config_hint(arena *a, const char *model_type);
/* A tensor called `name` after a prefix such as "model.layers.0."; the alphabetically first of several; NULL: none. */
const char *model_tensor_like(const char *name, const char *const *names, size_t count);
/* Hint when `name` is missing but such a tensor `there` exists. prefix: the spec's, or NULL; layer: the requested one, or -1. */
const char *model_tensor_hint(arena *a, const char *name, const char *there, const char *prefix, long long layer);
#endif
