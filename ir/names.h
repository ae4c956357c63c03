/* In: names and what they stand for. Out: what a name stands for. Refuses: a name that is there already. Used by the
 * spec reader, whose limits bound the number of names, so colliding hashes cost little. */
#ifndef TFGEN_NAMES_H
#define TFGEN_NAMES_H
#include "ir/arena.h"

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

void *names_find(const name_map *t, const char *name);     /* NULL when it is not there */
bool names_add(name_map *t, const char *name, void *item); /* false when it is there already; keeps both by reference */
#endif
