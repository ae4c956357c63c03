/* The engine's public calls. Out: an engine; launches with valid arguments, handed to launch.c.
 * Refuses: sizes that no GPU has, such as more than 1024 threads per block or waves that are not a power of two. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ir/base/processors.h"
#include "runtime/host/engine.h"
#include "runtime/host/happens.h"

enum { MAX_THREADS = 1024, MAX_WORKERS = 256, MAX_SHARED = 1 << 30, DEFAULT_STACK = 64 << 10, LONE_STACK = 1 << 20 };
enum { MIN_STACK = 16 << 10, ENGINE_STACK = 48 << 10, MAX_STACK = 1 << 30, DEFAULT_STALL_MS = 60000, MAX_RESIDENT = 1 << 16 };

static bool init_locks(host_engine *e)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    const bool ok = !pthread_mutex_init(&e->lock, NULL) && !pthread_cond_init(&e->work, NULL) && !pthread_cond_init(&e->idle, NULL) &&
                    !pthread_rwlock_init(&e->memory_lock, NULL) && !pthread_mutex_init(&e->watch_lock, NULL) &&
                    !pthread_cond_init(&e->watch, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return ok;
}

/* ---- engines after fork(): their threads are in the parent alone, and locks may be taken by one of them */

static struct {
    pthread_mutex_t lock;
    host_engine *first;
} opened = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Runs in a child after fork(), which has none of the engine's threads: engines start new ones at their next launch. A block or region that
 * another thread was taking during the fork may be lost. */
static void after_fork(void)
{
    pthread_mutex_init(&opened.lock, NULL);
    for (host_engine *e = opened.first; e; e = e->next) {
        init_locks(e);
        e->helpers = e->joined = e->running = 0;
        e->pool_taken = e->watchdog_started = e->watchdog_sleeps = false;
        e->job = e->active = NULL;
    }
}

static void register_fork(void) { pthread_atfork(NULL, NULL, after_fork); }

static void enlist(host_engine *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork);
    pthread_mutex_lock(&opened.lock);
    e->next = opened.first;
    opened.first = e;
    pthread_mutex_unlock(&opened.lock);
}

static void delist(host_engine *e)
{
    pthread_mutex_lock(&opened.lock);
    host_engine **at = &opened.first;
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    pthread_mutex_unlock(&opened.lock);
}

host_engine *host_engine_open(const host_engine_options *options)
{
    host_engine *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    if (options) e->options = *options;
    if (!e->options.workers) e->options.workers = (unsigned)processor_count();
    if (e->options.workers > MAX_WORKERS) e->options.workers = MAX_WORKERS;
    if (!e->options.stall_limit_ms) e->options.stall_limit_ms = DEFAULT_STALL_MS;
    e->threads = calloc(e->options.workers, sizeof *e->threads);
    if (!e->threads || !init_locks(e)) {
        free(e->threads);
        free(e);
        return NULL;
    }
    memory_reserve(e);
    enlist(e);
    return e;
}

unsigned host_engine_workers(const host_engine *e) { return e->options.workers; }

void host_engine_close(host_engine *e)
{
    if (!e) return;
    delist(e);
    watchdog_close(e);
    pthread_mutex_lock(&e->lock);
    e->closing = true;
    pthread_cond_broadcast(&e->work);
    pthread_mutex_unlock(&e->lock);
    for (unsigned i = 0; i < e->helpers; i++) pthread_join(e->threads[i], NULL);
    for (block *b = e->free_blocks, *next; b; b = next) {
        next = b->next;
        block_free(b, &e->guards);
    }
    for (void *s = e->free_stacks, *next; s; s = next) {
        next = *(void **)s;
        free(s);
    }
    memory_close(e);
    pthread_rwlock_destroy(&e->memory_lock);
    pthread_mutex_destroy(&e->lock);
    pthread_mutex_destroy(&e->watch_lock);
    pthread_cond_destroy(&e->work);
    pthread_cond_destroy(&e->idle);
    pthread_cond_destroy(&e->watch);
    free(e->threads);
    free(e);
}

/* ---- launches ---- */

static const char *bad_dims(const host_launch_dims *d, const launch *l)
{
    if (!d->grid[0] || !d->block[0]) return "a grid or a block without threads";
    if ((uint64_t)l->block.x * l->block.y > MAX_THREADS || (uint64_t)l->block.x * l->block.y * l->block.z > MAX_THREADS)
        return "more than 1024 threads a block";
    if ((uint64_t)l->grid.x * l->grid.y > INT32_MAX || (uint64_t)l->grid.x * l->grid.y * l->grid.z > INT32_MAX)
        return "more than 2^31 blocks";
    if (d->wave > HS_MAX_WAVE || (d->wave & (d->wave - 1))) return "a wave size that is not a power of two up to 64";
    if (d->shared_bytes > MAX_SHARED) return "more than 1 GiB of shared memory";
    if (d->stack_bytes > MAX_STACK) return "more than 1 GiB of stack a thread";
    if (l->cluster < 1 || l->cluster > HS_MAX_CLUSTER || l->grid.x % l->cluster) return "a grid that is not made of whole clusters";
    if (d->cooperative && (uint64_t)l->blocks * l->shape.threads > MAX_RESIDENT)
        return "more than 65536 threads in a cooperative launch";
    return NULL;
}

unsigned host_most_resident(const host_engine *e, const host_module *m, unsigned threads, unsigned wave)
{
    unsigned blocks = threads ? MAX_RESIDENT / threads : 0;
    while (blocks && m->check && !e->options.watch && !happens_fits(blocks, (threads + wave - 1) / wave)) blocks--;
    return blocks;
}

static hs_dim3 dim3_of(const unsigned d[3]) { return (hs_dim3){d[0], d[1] ? d[1] : 1, d[2] ? d[2] : 1}; }

static void set_shape(launch *l, const host_launch_dims *d)
{
    l->grid = dim3_of(d->grid);
    l->block = dim3_of(d->block);
    l->blocks = l->grid.x * l->grid.y * l->grid.z;
    l->cooperative = d->cooperative;
    l->strict = d->strict;
    block_shape *s = &l->shape;
    s->threads = l->block.x * l->block.y * l->block.z;
    s->wave = d->wave ? d->wave : 1;
    s->waves = s->threads / s->wave + (s->threads % s->wave != 0);
    s->shared_bytes = d->shared_bytes;
}

/* Bytes of stack per thread: what the launch asks for; else what the kernel asks for or the default, but at least the sum of the module's
 * stack frames and the engine's own need, rounded up to a multiple of DEFAULT_STACK so that pooled blocks serve many kernels. */
static size_t stack_of(const launch *l, const char *kernel, const host_launch_dims *d)
{
    char symbol[512];
    snprintf(symbol, sizeof symbol, "%s__hs_stack", kernel);
    const unsigned *said = dlsym(l->module->handle, symbol);
    const size_t needed = (l->module->frame_bytes + ENGINE_STACK + DEFAULT_STACK - 1) / DEFAULT_STACK * DEFAULT_STACK;
    size_t n = said ? *said : l->shape.threads == 1 ? LONE_STACK : DEFAULT_STACK;
    if (d->stack_bytes) n = d->stack_bytes;
    else if (n < needed) n = needed;
    if (n > MAX_STACK) n = MAX_STACK;
    return n < MIN_STACK ? MIN_STACK : n;
}

static unsigned cluster_of(const host_module *m, const char *kernel)
{
    char symbol[512];
    snprintf(symbol, sizeof symbol, "%s__hs_cluster", kernel);
    const unsigned *said = dlsym(m->handle, symbol);
    return said ? *said : 1;
}

static void (*entry_of(const host_module *m, const char *kernel))(void **)
{
    char symbol[512];
    void (*entry)(void **) = NULL;
    if ((size_t)snprintf(symbol, sizeof symbol, "%s__hs", kernel) >= sizeof symbol) return NULL;
    void *found = dlsym(m->handle, symbol);
    memcpy(&entry, &found, sizeof found);
    return entry;
}

bool host_module_has(const host_module *m, const char *kernel) { return entry_of(m, kernel) != NULL; }
bool host_module_cached(const host_module *m) { return m->cached; }
const char *host_module_compiler(const host_module *m) { return m->compiler; }

static host_status run_checked(launch *l)
{
    host_module *m = l->module;
    if (m->check && !(l->check = check_new(l))) {
        log_add(l->log, "%s: cannot be checked: there is not enough memory, or its cooperative grid is too large for the race checker\n",
                l->kernel);
        return HOST_NO_MEMORY;
    }
    if (m->shared_bytes) pthread_mutex_lock(&m->shared_lock);
    const host_status status = launch_run(l);
    block_own_shared(m, NULL);
    if (m->shared_bytes) pthread_mutex_unlock(&m->shared_lock);
    if (l->check) check_free(l->check);
    return status;
}

host_status host_launch(host_engine *e, host_module *m, const char *kernel, const host_launch_dims *dims, void **params, host_log *log)
{
    launch l = {.engine = e, .module = m, .kernel = dims->name ? dims->name : kernel, .dims = dims, .params = params, .log = log};
    host_log unread = {0};
    if (!log) l.log = &unread;
    const size_t before = l.log->size;
    host_status status = HOST_OK;
    l.entry = entry_of(m, kernel);
    l.cluster = cluster_of(m, kernel);
    set_shape(&l, dims);
    const char *bad = bad_dims(dims, &l);
    if (!l.entry) {
        log_add(l.log, "no kernel %s in this module: is there a TF_EXPORT(%s)?\n", kernel, kernel);
        status = HOST_NO_KERNEL;
    } else if (bad) {
        log_add(l.log, "%s: %s\n", kernel, bad);
        status = HOST_BAD_CALL;
    } else {
        l.shape.stack_bytes = stack_of(&l, kernel, dims);
        /* One worker if checked, for reproducible reports, or if the module has __shared__ variables, of which there is one copy. */
        l.workers = m->check || m->shared_bytes ? 1 : l.blocks / l.cluster < e->options.workers ? l.blocks / l.cluster : e->options.workers;
        pthread_mutex_init(&l.lock, NULL);
        pthread_mutex_init(&l.grid_lock, NULL);
        status = run_checked(&l);
        if (status != HOST_OK) log_place(l.log, before, m->places);
        pthread_mutex_destroy(&l.lock);
        pthread_mutex_destroy(&l.grid_lock);
    }
    host_log_free(&unread);
    return status;
}
