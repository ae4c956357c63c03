/* In: failures of a launch, from any of its workers.
 * Out: the first one, whose worker alone writes the report (between launch_fail() and launch_reported()); later ones are ignored. Also
 * defines the worker's thread-local state, whose `busy` count keeps the watchdog from interrupting engine code. */
#define _GNU_SOURCE
#include "runtime/host/engine.h"

_Thread_local worker_self host_self;

bool launch_fail(launch *l, host_status status)
{
    int ok = HOST_OK;
    host_self.busy++;
    if (!atomic_compare_exchange_strong(&l->status, &ok, (int)status)) {
        host_self.busy--;
        return false;
    }
    pthread_mutex_lock(&l->lock);
    return true;
}

void launch_reported(launch *l)
{
    pthread_mutex_unlock(&l->lock);
    host_self.busy--;
}

void launch_where(const launch *l, const hs_thread *t, host_log *log)
{
    const block *b = block_of(t->w);
    log_add(log, "  kernel %s block (%u,%u,%u) thread (%u,%u,%u) wave %u lane %u\n", l->kernel, b->pub.id.x, b->pub.id.y,
            b->pub.id.z, t->tid.x, t->tid.y, t->tid.z, t->w->idx, t->lane);
}
