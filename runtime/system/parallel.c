/* Contract: parallel.h. */
#define _GNU_SOURCE
#include "runtime/system/parallel.h"
#include "ir/base/processors.h"
#include <pthread.h>
#include <stdatomic.h>

enum { most_threads = 64 };

typedef struct crew {
    size_t n;
    atomic_size_t next;
    void (*each)(void *context, size_t index);
    void *context;
} crew;

static void *take(void *argument)
{
    crew *c = argument;
    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n;) c->each(c->context, i);
    return NULL;
}

void run_parallel(size_t n, int jobs, void (*each)(void *context, size_t index), void *context)
{
    crew c = {.n = n, .each = each, .context = context};
    pthread_t threads[most_threads];
    int started = 0;
    if (jobs <= 0) jobs = processor_count();
    while (started + 1 < jobs && started < most_threads && (size_t)started + 1 < n &&
           !pthread_create(&threads[started], NULL, take, &c))
        started++;
    take(&c);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}
