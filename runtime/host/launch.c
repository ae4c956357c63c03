/* In: a kernel of a module, its dimensions and parameters.
 * Out: the kernel ran over all blocks, on the caller's thread and the pool's; or a status and a report.
 * host.c has checked the dimensions. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/host/engine.h"

enum { GRID_SPINS = 300, YIELDS_A_SLEEP = 16 };

#ifdef __x86_64__
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() __asm__ volatile("" ::: "memory")
#endif

static bool failed(launch *l) { return atomic_load_explicit(&l->status, memory_order_relaxed) != HOST_OK; }

/* ---- the pool of blocks ---- */

static bool same_shape(const block_shape *a, const block_shape *b)
{
    return a->threads == b->threads && a->wave == b->wave && a->shared_bytes == b->shared_bytes && a->stack_bytes == b->stack_bytes;
}

static block *take_block(launch *l)
{
    host_engine *e = l->engine;
    pthread_mutex_lock(&e->lock);
    for (block **p = &e->free_blocks; *p; p = &(*p)->next) {
        block *b = *p;
        if (!same_shape(&b->shape, &l->shape)) continue;
        *p = b->next;
        e->free_count--;
        pthread_mutex_unlock(&e->lock);
        return b;
    }
    pthread_mutex_unlock(&e->lock);
    block *b = block_new(&l->shape, e->reserve != NULL, &e->guards);
    if (!b && launch_fail(l, HOST_NO_MEMORY)) {
        log_add(l->log, "%s: no memory for a block of %u threads with %zu bytes of stack each\n", l->kernel, l->shape.threads,
                l->shape.stack_bytes);
        launch_reported(l);
    }
    return b;
}

/* Puts a block into the pool, newest first; the oldest is freed. A failed block may have unfinished frames on its stacks and is freed. */
static void give_block(launch *l, block *b)
{
    enum { KEEP = 64 };
    host_engine *e = l->engine;
    block *old = NULL;
    check_block_end(b);
    pthread_mutex_lock(&e->lock);
    if (b->state == BLOCK_DONE) {
        b->next = e->free_blocks;
        e->free_blocks = b;
        if (++e->free_count > KEEP) {
            block **p = &e->free_blocks;
            while ((*p)->next) p = &(*p)->next;
            old = *p;
            *p = NULL;
            e->free_count--;
        }
    } else {
        old = b;
    }
    pthread_mutex_unlock(&e->lock);
    if (old) block_free(old, &e->guards);
}

/* ---- workers ---- */

static void run_once(launch *l, block *b, unsigned *yields)
{
    if (!block_run(b)) fault_report(b);
    if (b->state != BLOCK_RUNS) return;
    if (atomic_load_explicit(&l->kicked, memory_order_relaxed)) fault_report(b);
    else if (++*yields % YIELDS_A_SLEEP == 0) sched_yield();
}

static void start_cluster(launch *l, block **members, unsigned number)
{
    for (unsigned i = 0; i < l->cluster; i++) block_start(members[i], l, number * l->cluster + i, l->engine->options.poison || l->check);
    block_join(members, l->cluster);
}

/* Returns the number of blocks taken: fewer than the cluster's, with a report, if memory is short. */
static unsigned take_cluster(launch *l, worker_slot *slot, block **members)
{
    unsigned n = 0;
    for (; n < l->cluster && (members[n] = take_block(l)); n++) members[n]->progress = &slot->progress;
    return n;
}

/* ---- a worker runs clusters of blocks (most have one block) one after the other. A block may spin on another block's store, as split-K
 * workgroups do, whose grid is fully resident on a GPU. Here too few workers may run the grid (another launch has the pool, or the machine
 * has few processors), so a worker whose clusters keep waiting starts one more to avoid deadlock. */
typedef struct own_cluster {
    block *member[HS_MAX_CLUSTER];
    unsigned count; /* members: fewer than the launch's if memory is short */
    struct own_cluster *next;
} own_cluster;

typedef struct own_clusters {
    own_cluster *first, *spare; /* first: list of running clusters; spare: one that has ended, for reuse */
    unsigned waits;             /* consecutive rounds in which no cluster ended */
} own_clusters;

static void drop_cluster(launch *l, own_cluster *c)
{
    for (unsigned i = 0; c && i < c->count; i++) give_block(l, c->member[i]);
    free(c);
}

static own_cluster *new_cluster(launch *l, worker_slot *slot)
{
    own_cluster *c = calloc(1, sizeof *c);
    if (!c && launch_fail(l, HOST_NO_MEMORY)) launch_reported(l);
    if (c) c->count = take_cluster(l, slot, c->member);
    if (!c || c->count == l->cluster) return c;
    drop_cluster(l, c);
    return NULL;
}

static bool begin_cluster(launch *l, worker_slot *slot, own_clusters *own)
{
    const unsigned number = atomic_fetch_add(&l->next_cluster, 1);
    if (number >= l->blocks / l->cluster) return false;
    own_cluster *c = own->spare ? own->spare : new_cluster(l, slot);
    own->spare = NULL;
    if (!c) return false;
    start_cluster(l, c->member, number);
    c->next = own->first;
    own->first = c;
    return true;
}

/* Runs each member until it waits. True: all have ended. */
static bool run_cluster(launch *l, const own_cluster *c, unsigned *yields)
{
    bool runs = false;
    for (unsigned i = 0; i < c->count && !failed(l); i++) {
        if (c->member[i]->state == BLOCK_RUNS) run_once(l, c->member[i], yields);
        runs |= c->member[i]->state == BLOCK_RUNS;
    }
    return !runs && !failed(l);
}

static void run_round(launch *l, own_clusters *own, unsigned *yields)
{
    own->waits++;
    for (own_cluster **at = &own->first; *at && !failed(l);) {
        own_cluster *c = *at;
        if (!run_cluster(l, c, yields)) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        own->waits = 0;
        if (own->spare) drop_cluster(l, c);
        else own->spare = c;
    }
}

static void work_in_turn(launch *l, worker_slot *slot)
{
    enum { patience = 256 }; /* rounds enough for a block that waits only for threads of its own cluster */
    const bool alone = l->check || l->module->shared_bytes; /* the checker's or module's state exists once: one cluster at a time */
    own_clusters own = {0};
    unsigned yields = 0;
    while (!failed(l)) {
        const bool more = !own.first || (own.waits >= patience && !alone);
        if (more && !begin_cluster(l, slot, &own) && !own.first) break;
        if (more) own.waits = 0;
        run_round(l, &own, &yields);
    }
    for (own_cluster *c = own.first, *next; c; c = next) {
        next = c->next;
        drop_cluster(l, c);
    }
    drop_cluster(l, own.spare);
}

static void grid_deadlock(launch *l)
{
    if (!launch_fail(l, HOST_DEADLOCK)) return;
    log_add(l->log, "deadlock in %s: %u of %u blocks wait for the grid, others have ended\n", l->kernel, l->waiting_blocks,
            l->blocks);
    launch_reported(l);
}

/* Grid barrier among workers, of which this one has `waiting` blocks at it. False: the launch failed. */
static bool cross_grid(launch *l, unsigned waiting)
{
    pthread_mutex_lock(&l->grid_lock);
    const unsigned phase = atomic_load(&l->phase);
    l->waiting_blocks += waiting;
    l->arrived++;
    if (l->left || (l->arrived == l->workers && l->waiting_blocks != l->blocks)) {
        grid_deadlock(l);
    } else if (l->arrived == l->workers) {
        l->arrived = l->waiting_blocks = 0;
        if (l->check) check_grid(l->check);
        atomic_fetch_add(&l->phase, 1);
    }
    pthread_mutex_unlock(&l->grid_lock);
    for (unsigned spins = 0; atomic_load_explicit(&l->phase, memory_order_acquire) == phase && !failed(l);)
        if (++spins < GRID_SPINS) PAUSE();
        else sched_yield();
    return !failed(l);
}

/* All blocks of this worker have ended: a block that still waits for the grid waits forever. */
static void leave_grid(launch *l)
{
    pthread_mutex_lock(&l->grid_lock);
    l->left++;
    if (l->arrived) grid_deadlock(l);
    pthread_mutex_unlock(&l->grid_lock);
}

static void run_resident(launch *l, block **mine, unsigned n)
{
    unsigned yields = 0;
    while (!failed(l)) {
        unsigned run = 0, waiting = 0;
        for (unsigned i = 0; i < n && !failed(l); i++)
            if (mine[i]->state == BLOCK_RUNS) run_once(l, mine[i], &yields);
        for (unsigned i = 0; i < n; i++) run += mine[i]->state == BLOCK_RUNS, waiting += mine[i]->state == BLOCK_AT_GRID;
        if (run) continue;
        if (!waiting) break;
        if (!cross_grid(l, waiting)) break;
        for (unsigned i = 0; i < n; i++) {
            if (mine[i]->state != BLOCK_AT_GRID) continue;
            sched_release(mine[i]);
            mine[i]->state = BLOCK_RUNS;
            mine[i]->resume = sched_first(mine[i]);
        }
    }
    leave_grid(l);
}

static void work_resident(launch *l, unsigned id, worker_slot *slot)
{
    const unsigned clusters = l->blocks / l->cluster, most = (clusters + l->workers - 1) / l->workers * l->cluster;
    block **mine = calloc(most, sizeof *mine);
    unsigned n = 0;
    for (unsigned number = id; mine && number < clusters && !failed(l); number += l->workers) {
        const unsigned taken = take_cluster(l, slot, mine + n);
        if (taken == l->cluster) start_cluster(l, mine + n, number);
        n += taken;
    }
    if (!mine && launch_fail(l, HOST_NO_MEMORY)) launch_reported(l);
    run_resident(l, mine, n);
    for (unsigned i = 0; i < n; i++) give_block(l, mine[i]);
    free(mine);
}

static void work(launch *l, unsigned id)
{
    worker_slot *slot = &l->slots[id];
    slot->thread = pthread_self();
    host_self.launch = l;
    atomic_store(&slot->running, true);
    if (l->cooperative) work_resident(l, id, slot);
    else work_in_turn(l, slot);
    atomic_store(&slot->running, false);
    host_self.launch = NULL;
}

static void *helper(void *argument)
{
    host_engine *e = argument;
    void *stack = malloc(ALTSTACK_BYTES);
    stack_t old;
    if (stack) fault_altstack_enter(stack, &old);
    uint64_t seen = 0;
    pthread_mutex_lock(&e->lock);
    while (stack && !e->closing) {
        if (!e->job || e->job_number == seen || e->joined >= e->job->workers) {
            pthread_cond_wait(&e->work, &e->lock);
            continue;
        }
        launch *l = e->job;
        seen = e->job_number;
        const unsigned id = e->joined++;
        e->running++;
        pthread_mutex_unlock(&e->lock);
        work(l, id);
        pthread_mutex_lock(&e->lock);
        if (--e->running == 0) pthread_cond_broadcast(&e->idle);
    }
    pthread_mutex_unlock(&e->lock);
    if (stack) fault_altstack_leave(&old);
    free(stack);
    return NULL;
}

/* Starts pool threads. They block all signals but those of faults and of the watchdog (KICK_SIGNAL), so that the application's signals go
 * to its own threads. */
static bool start_helpers(host_engine *e, unsigned n)
{
    sigset_t ours, old;
    sigfillset(&ours);
    const int kept[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, KICK_SIGNAL};
    for (unsigned i = 0; i < sizeof kept / sizeof *kept; i++) sigdelset(&ours, kept[i]);
    pthread_sigmask(SIG_SETMASK, &ours, &old);
    while (e->helpers < n && !pthread_create(&e->threads[e->helpers], NULL, helper, e)) e->helpers++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return e->helpers == n;
}

/* The pool serves one launch at a time; a concurrent launch runs on its caller's thread alone. Cooperative launches must know the number of
 * workers beforehand, so they wait for all helpers. */
static void run_with_helpers(launch *l)
{
    host_engine *e = l->engine;
    pthread_mutex_lock(&e->lock);
    const bool mine = !e->pool_taken && l->workers > 1;
    if (mine) {
        e->pool_taken = true;
        start_helpers(e, e->options.workers - 1);
        if (l->workers > e->helpers + 1) l->workers = e->helpers + 1;
        e->job = l;
        e->job_number++;
        e->joined = 1;
        pthread_cond_broadcast(&e->work);
    } else {
        l->workers = 1;
    }
    pthread_mutex_unlock(&e->lock);
    work(l, 0);
    if (!mine) return;
    pthread_mutex_lock(&e->lock);
    if (!l->cooperative) e->joined = UINT32_MAX; /* no work is left for helpers that have not joined yet */
    while (e->running || (l->cooperative && e->joined < l->workers)) pthread_cond_wait(&e->idle, &e->lock);
    e->job = NULL;
    e->pool_taken = false;
    pthread_mutex_unlock(&e->lock);
}

/* ---- one launch ---- */

static void *take_altstack(host_engine *e)
{
    pthread_mutex_lock(&e->lock);
    void *s = e->free_stacks;
    if (s) e->free_stacks = *(void **)s;
    pthread_mutex_unlock(&e->lock);
    return s ? s : malloc(ALTSTACK_BYTES);
}

static void give_altstack(host_engine *e, void *s)
{
    pthread_mutex_lock(&e->lock);
    *(void **)s = e->free_stacks;
    e->free_stacks = s;
    pthread_mutex_unlock(&e->lock);
}

static void judge(launch *l)
{
    host_engine *e = l->engine;
    if (l->check && check_count(l->check) && launch_fail(l, HOST_CHECKED)) launch_reported(l);
    if (!e->options.poison || failed(l)) return;
    host_log found = {0};
    if (!memory_slack_intact(e, &found) && launch_fail(l, HOST_FAULT)) {
        log_add(l->log, "after kernel %s: %s", l->kernel, found.text ? found.text : "");
        launch_reported(l);
    }
    host_log_free(&found);
}

host_status launch_run(launch *l)
{
    host_engine *e = l->engine;
    void *stack = take_altstack(e);
    worker_slot slots[64];
    l->slot_count = l->workers;
    l->slots = l->workers <= 64 ? slots : aligned_alloc(64, l->workers * sizeof *slots);
    if (l->slots) memset(l->slots, 0, l->workers * sizeof *slots);
    const bool guarded = !e->options.no_signals;
    if (!stack || !l->slots || (guarded && !fault_begin())) {
        if (l->slots != slots) free(l->slots);
        if (stack) give_altstack(e, stack);
        log_add(l->log, "%s: no memory for a launch\n", l->kernel);
        return HOST_NO_MEMORY;
    }
    stack_t old;
    if (guarded) fault_altstack_enter(stack, &old);
    const bool watched = guarded && watchdog_watch(e, l);
    run_with_helpers(l);
    if (watched) watchdog_forget(e, l);
    if (guarded) {
        fault_altstack_leave(&old);
        fault_end();
    }
    judge(l);
    if (l->slots != slots) free(l->slots);
    give_altstack(e, stack);
    return (host_status)atomic_load(&l->status);
}
