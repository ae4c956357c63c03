/* In: what belongs to a whole model as HuggingFace keeps it: its configuration, its tensors, the index of its files. Out: one line that
 * says what it is and what to do. tfgen takes a block's spec and a block's tensors: whatever reads whole models replaces
 * this. */
#ifndef TFGEN_MODEL_HINT_H
#define TFGEN_MODEL_HINT_H
#include "ir/base/arena.h"

/* Of a config.json in a spec's place; model_type NULL: it does not say. */
const char *model_config_hint(arena *a, const char *model_type);
/* Which of the tensors is `name` with a prefix ahead of it, as "model.layers.0." is; of several the first in order of the letters; NULL:
 * none. */
const char *model_tensor_like(const char *name, const char *const *names, size_t count);
/* What to do where `name` is missing and `there` is such a tensor. prefix: the spec's, or NULL; layer: that was asked for, or -1. */
const char *model_tensor_hint(arena *a, const char *name, const char *there, const char *prefix, long long layer);
#endif
