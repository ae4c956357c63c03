/* In: running launches, the engine's limits. Out: launches that make no progress or take too long fail; a signal (KICK_SIGNAL) interrupts
 * workers in loops that never call the engine. Sleeps while nothing runs. */
#define _GNU_SOURCE
#include <time.h>
#include "runtime/host/engine.h"

uint64_t watchdog_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static unsigned period_ms(const host_engine *e)
{
    unsigned p = e->options.stall_limit_ms;
    if (e->options.time_limit_ms && e->options.time_limit_ms < p) p = e->options.time_limit_ms;
    p /= 8;
    return p < 5 ? 5 : p > 250 ? 250 : p;
}

/* Also true for a failed launch: a worker may still spin, waiting for a block that has ended. */
static bool overdue(const host_engine *e, launch *l, uint64_t now)
{
    uint64_t progress = 0;
    for (unsigned i = 0; i < l->slot_count; i++) progress += atomic_load_explicit(&l->slots[i].progress, memory_order_relaxed);
    if (progress != l->seen_progress) {
        l->seen_progress = progress;
        l->seen_ms = now;
    }
    if (atomic_load(&l->status) != HOST_OK) return true;
    if (e->options.time_limit_ms && now - l->started_ms > e->options.time_limit_ms) return true;
    return now - l->seen_ms > e->options.stall_limit_ms;
}

static void look(host_engine *e)
{
    const uint64_t now = watchdog_now();
    for (launch *l = e->active; l; l = l->next) {
        if (!overdue(e, l, now)) continue;
        atomic_store(&l->kicked, true);
        for (unsigned i = 0; i < l->slot_count; i++)
            if (atomic_load(&l->slots[i].running)) pthread_kill(l->slots[i].thread, KICK_SIGNAL);
    }
}

static void *watch(void *argument)
{
    host_engine *e = argument;
    pthread_mutex_lock(&e->watch_lock);
    while (!e->watch_closing) {
        if (!e->active) {
            e->watchdog_sleeps = true;
            pthread_cond_wait(&e->watch, &e->watch_lock);
            e->watchdog_sleeps = false;
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        const uint64_t ns = (uint64_t)until.tv_nsec + period_ms(e) * 1000000ull;
        until.tv_sec += (time_t)(ns / 1000000000);
        until.tv_nsec = (long)(ns % 1000000000);
        pthread_cond_timedwait(&e->watch, &e->watch_lock, &until);
        look(e);
    }
    pthread_mutex_unlock(&e->watch_lock);
    return NULL;
}

/* Blocks all signals: neither the application's nor kicks may be delivered to the watchdog's thread. */
static bool start(host_engine *e)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    e->watchdog_started = !pthread_create(&e->watchdog, NULL, watch, e);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return e->watchdog_started;
}

bool watchdog_watch(host_engine *e, launch *l)
{
    l->started_ms = l->seen_ms = watchdog_now();
    pthread_mutex_lock(&e->watch_lock);
    const bool watched = e->watchdog_started || start(e);
    if (watched) {
        l->next = e->active;
        e->active = l;
        if (e->watchdog_sleeps) pthread_cond_signal(&e->watch);
    }
    pthread_mutex_unlock(&e->watch_lock);
    return watched;
}

void watchdog_forget(host_engine *e, launch *l)
{
    pthread_mutex_lock(&e->watch_lock);
    for (launch **p = &e->active; *p; p = &(*p)->next)
        if (*p == l) {
            *p = l->next;
            break;
        }
    pthread_mutex_unlock(&e->watch_lock);
}

void watchdog_close(host_engine *e)
{
    if (!e->watchdog_started) return;
    pthread_mutex_lock(&e->watch_lock);
    e->watch_closing = true;
    pthread_cond_signal(&e->watch);
    pthread_mutex_unlock(&e->watch_lock);
    pthread_join(e->watchdog, NULL);
}
