/* In: a device. Out: weights of one layer on it: memory by key (weight_slot, runtime/module/module.h), in a list to which weights are only
 * added, filled; it knows no module, and who looks up takes no lock. And what a module adds to it (weights_add.c). Refuses (TFGEN_USAGE) a
 * module that reads what is not in it, and what the device refuses. */
#ifndef TFGEN_WEIGHTS_H
#define TFGEN_WEIGHTS_H
#include "runtime/module/module.h"
#include <pthread.h>

typedef struct weight { /* never changes once it is in the list of a tfgen_weights */
    void *memory;
    int64_t bytes;
    _Atomic(struct weight *) next;
    char key[];
} weight;
typedef _Atomic(weight *) weight_list;

struct tfgen_weights {
    tfgen_device *device;
    pthread_mutex_t lock; /* of those who add */
    weight_list first;
};

tfgen_weights *weights_new(tfgen_device *d, tfgen_error *error); /* NULL: no memory */
const weight *weight_next(const weight_list *list);
/* The weight of this key, looked for behind `last` (or NULL) first: modules of one model have theirs in one order. */
const weight *weight_find(const weight_list *list, const weight *last, const char *key);
/* Links `more`, a list or NULL, behind the last. */
void weights_append(weight_list *list, weight *more);
void weights_free_list(tfgen_device *d, weight_list *list);

/* Where the module's slots lie in them; TFGEN_USAGE names the first that they lack. */
tfgen_status weights_locate(const tfgen_weights *w, const tfgen_module *m, void **memory, tfgen_error *error);

/* Memory for all that the module reads of a layer's weights, not filled. */
tfgen_status weights_allocate(const tfgen_module *m, tfgen_weights **out, tfgen_error *error);
/* Packs and copies into this memory, by slot, in stream order, but where it is NULL; *launches, when not NULL, grows by the kernels. */
tfgen_status weights_fill(const tfgen_module *m, void *const *memory, void *const *tensors, void *stream, int *launches,
                          tfgen_error *error);
#endif
