/* A map from names to items, and the rules for valid names. Refuses: duplicate names.
 * Used by the spec reader, whose limits bound the number of names, so colliding hashes cost little. */
#ifndef TFGEN_NAMES_H
#define TFGEN_NAMES_H
#include "ir/base/arena.h"

enum { most_name = 63 };

/* Valid names in a spec and in IR text. Names of blocks and kernels become file and function names, so these rules also keep files within
 * their folder. */
bool name_is_plain(const char *s);  /* letters, digits, _, no digit first: dims, values, outputs, kernels */
bool name_is_block(const char *s);  /* letters, digits, _, -, a letter first */
bool name_is_tensor(const char *s); /* of a safetensors file: 1 to 255 characters of ASCII, no space among them */
bool name_is_prefix(const char *s); /* of tensors' names: 1 to 200 such characters, with at most one {layer}, which stands for a number */

typedef struct name_entry {
    const char *name;
    void *item;
} name_entry;

/* Zero-initialise with {.a = a}. */
typedef struct name_map {
    arena *a;
    name_entry *slots;
    size_t capacity, count;
} name_map;

bool names_equal(const char *x, const char *y);            /* also true if both are NULL */
void *names_find(const name_map *t, const char *name);     /* NULL: not found */
bool names_add(name_map *t, const char *name, void *item); /* false: already there; name and item are borrowed */
#endif
