/* A layer's list of packed weights (weights.h): creation, look-up, release. Refuses (TFGEN_USAGE) a module that reads a weight which the
 * list lacks, and one on another device. */
#include "runtime/module/weights.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const weight *weight_next(const weight_list *list) { return atomic_load_explicit(list, memory_order_acquire); }

const weight *weight_find(const weight_list *list, const weight *last, const char *key)
{
    for (const weight *w = last ? weight_next(&last->next) : NULL; w; w = weight_next(&w->next))
        if (strcmp(w->key, key) == 0) return w;
    for (const weight *w = weight_next(list); w; w = weight_next(&w->next))
        if (strcmp(w->key, key) == 0) return w;
        else if (w == last) break;
    return NULL;
}

void weights_append(weight_list *list, weight *more)
{
    while (weight_next(list)) list = &atomic_load_explicit(list, memory_order_relaxed)->next;
    atomic_store_explicit(list, more, memory_order_release);
}

void weights_free_list(tfgen_device *d, weight_list *list)
{
    weight *w = atomic_exchange(list, NULL);
    while (w) {
        weight *next = atomic_load_explicit(&w->next, memory_order_relaxed);
        if (w->memory) d->api->free(d, w->memory);
        free(w);
        w = next;
    }
}

tfgen_weights *weights_new(tfgen_device *d, tfgen_error *error)
{
    tfgen_weights *w = calloc(1, sizeof *w);
    if (!w) {
        device_report(error, TFGEN_NO_MEMORY, "not enough memory");
        return NULL;
    }
    w->device = d;
    pthread_mutex_init(&w->lock, NULL);
    return w;
}

tfgen_status weights_locate(const tfgen_weights *w, const tfgen_module *m, void **memory, tfgen_error *error)
{
    const weight *last = NULL;
    if (w && w->device != m->device) return device_report(error, TFGEN_USAGE, "tfgen_execute: the weights are on another device");
    for (int i = 0; i < m->weight_count; i++) {
        const weight_slot *s = &m->weights[i];
        if (!(last = weight_find(&w->first, last, s->key)))
            return device_report(error, TFGEN_USAGE, "tfgen_execute: the weights have no buffer of the signature '%s', which the module "
                                                     "reads (%s); tfgen_weights_add() makes it", s->key, s->name);
        memory[i] = last->memory;
    }
    return TFGEN_OK;
}

int64_t tfgen_weights_bytes(const tfgen_weights *w)
{
    int64_t bytes = 0;
    for (const weight *one = w ? weight_next(&w->first) : NULL; one; one = weight_next(&one->next)) bytes += one->bytes;
    return bytes;
}

void tfgen_weights_free(tfgen_weights *w)
{
    if (!w) return;
    weights_free_list(w->device, &w->first);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
