/* In: the path of a safetensors file, of the index of several, or of a model's folder as the HuggingFace Hub and save_pretrained() have it.
 * Out: where each tensor lies. Refuses (bails code_bad_input) pickles, indexes that are none, shards that are not plain names beside their
 * index, folders without tensors; a tensor that is not there, with the prefix that would find it. Links are followed, as the Hub's cache is
 * made of them. Nothing of a folder is run. */
#ifndef TFGEN_CHECKPOINT_H
#define TFGEN_CHECKPOINT_H
#include "runtime/data/safetensors.h"

enum { checkpoint_most_index = 64 << 20 };

typedef struct checkpoint checkpoint;

checkpoint *checkpoint_open(arena *a, const char *path);
/* The name of a folder's model.safetensors, of its index, or of its only other .safetensors file; NULL: it has none. *pickle: a pickle that
 * is there in its place, or NULL. */
const char *checkpoint_in_folder(arena *a, const char *folder, const char **pickle);

bool checkpoint_has(const checkpoint *c, const char *name); /* by its index: the file itself may be missing */
/* One of its tensors by number, in no order of their own; NULL behind the last. */
const char *checkpoint_name_at(const checkpoint *c, size_t index);

/* What stands ahead of the names that a spec has: prefix may be NULL, layer < 0: the caller does not say which. */
typedef struct layer_place {
    const char *prefix;
    long long layer;
} layer_place;
/* The prefix with the layer's number; NULL: it is not known. Bails where a layer is said and the prefix has no {layer}. */
const char *layer_prefix(arena *a, layer_place place);
/* Reads the data of a param as safetensors_read_value() does: behind the place's prefix, else behind those of `prefixes`. */
void checkpoint_read_value(checkpoint *c, const ir_value *v, const dim_table *dims, layer_place place, const char *const *prefixes,
                           size_t prefix_count, double *out);
/* The same as bytes of the param's dtype. */
void checkpoint_put_value(checkpoint *c, const ir_value *v, const dim_table *dims, layer_place place, const char *const *prefixes,
                          size_t prefix_count, void *out);
/* A tensor by its whole name, and its file. */
const safetensors_tensor *checkpoint_tensor(checkpoint *c, const char *name, const safetensors **file);
#endif
