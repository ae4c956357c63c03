/* In: a device, modules and their params. Out: one layer's weights on the device, an append-only list of buffers by key (weight_slot in
 * runtime/module/module.h). Weights are filled before they are linked in, so look-ups take no lock. weights_add.c adds what a module reads.
 * Refuses (TFGEN_USAGE) a module that reads a missing weight, and what the device refuses. */
#ifndef TFGEN_WEIGHTS_H
#define TFGEN_WEIGHTS_H
#include "runtime/module/module.h"
#include <pthread.h>

typedef struct weight { /* immutable once in the list of a tfgen_weights, except `next` */
    void *memory;
    int64_t bytes;
    _Atomic(struct weight *) next;
    char key[];
} weight;
typedef _Atomic(weight *) weight_list;

struct tfgen_weights {
    tfgen_device *device;
    pthread_mutex_t lock; /* held by writers */
    weight_list first;
};

tfgen_weights *weights_new(tfgen_device *d, tfgen_error *error); /* NULL: no memory */
const weight *weight_next(const weight_list *list);
/* The weight with this key; the search starts after `last` (may be NULL), since modules of one model use the same order. */
const weight *weight_find(const weight_list *list, const weight *last, const char *key);
/* Appends `more`, a list or NULL. */
void weights_append(weight_list *list, weight *more);
void weights_free_list(tfgen_device *d, weight_list *list);

/* Sets memory[i] to the address of the module's slot i; TFGEN_USAGE names the first one missing. */
tfgen_status weights_locate(const tfgen_weights *w, const tfgen_module *m, void **memory, tfgen_error *error);

/* Allocates memory for all weights that the module reads, without filling it. */
tfgen_status weights_allocate(const tfgen_module *m, tfgen_weights **out, tfgen_error *error);
/* Packs and copies into memory[slot], in stream order; skips NULL slots. Adds the kernels launched to *launches, if not NULL. */
tfgen_status weights_fill(const tfgen_module *m, void *const *memory, void *const *tensors, void *stream, int *launches,
                          tfgen_error *error);
#endif
