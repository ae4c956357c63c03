/* In: a file of a HuggingFace model that was given where tfgen expects the spec or the tensors of one block: the model's config.json,
 * tensors of a whole model, or the index of its files. Out: one line that says what the file is and what to do. */
#ifndef TFGEN_MODEL_HINT_H
#define TFGEN_MODEL_HINT_H
#include "ir/base/arena.h"

/* Hint for a config.json given as a spec; model_type NULL: the file has none. */
const char *model_config_hint(arena *a, const char *model_type);
/* A tensor called `name` after a prefix such as "model.layers.0."; the alphabetically first of several; NULL: none. */
const char *model_tensor_like(const char *name, const char *const *names, size_t count);
/* Hint when the file lacks `name` but model_tensor_like() found `there`. prefix: the spec's, or NULL; layer: that of --layer, or -1. */
const char *model_tensor_hint(arena *a, const char *name, const char *there, const char *prefix, long long layer);
#endif
