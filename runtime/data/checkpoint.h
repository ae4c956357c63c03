/* In: the path of a safetensors file, of the index of several (model.safetensors.index.json), or of a model's folder as from the
 * HuggingFace Hub or save_pretrained(). Out: the place of each tensor. Bails (code_bad_input) for pickles, invalid indexes, shards that are
 * not plain file names next to their index, folders without tensors, and missing tensors, with the prefix that would find them. Follows
 * links, since the Hub's cache consists of links. Runs no code of the folder. */
#ifndef TFGEN_CHECKPOINT_H
#define TFGEN_CHECKPOINT_H
#include "runtime/data/safetensors.h"

enum { checkpoint_most_index = 64 << 20 };

typedef struct checkpoint checkpoint;

checkpoint *checkpoint_open(arena *a, const char *path);
/* The name of a folder's model.safetensors, of its index, or of its only other .safetensors file; NULL: none. *pickle: a pickle that the
 * folder has instead, or NULL. */
const char *checkpoint_in_folder(arena *a, const char *folder, const char **pickle);

bool checkpoint_has(const checkpoint *c, const char *name); /* by its index: the file itself may be missing */
/* The name of tensor `index`, in unspecified order; NULL after the last. */
const char *checkpoint_name_at(const checkpoint *c, size_t index);

/* The prefix of a spec's tensor names; NULL: none. layer < 0: not given. */
typedef struct layer_place {
    const char *prefix;
    long long layer;
} layer_place;
/* The prefix with the layer's number; NULL: unknown. Bails if a layer is given and the prefix has no {layer}. */
const char *layer_prefix(arena *a, layer_place place);
/* Reads the data of a param like safetensors_read_value(), by its name after the place's prefix, else after those of `prefixes`. */
void checkpoint_read_value(checkpoint *c, const ir_value *v, const dim_table *dims, layer_place place, const char *const *prefixes,
                           size_t prefix_count, double *out);
/* The same, as bytes of the param's dtype. */
void checkpoint_put_value(checkpoint *c, const ir_value *v, const dim_table *dims, layer_place place, const char *const *prefixes,
                          size_t prefix_count, void *out);
/* A tensor by its full name, and its file. */
const safetensors_tensor *checkpoint_tensor(checkpoint *c, const char *name, const safetensors **file);
#endif
