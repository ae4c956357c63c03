/* In: a GPU thread that waits (for its wave, its block or the grid), yields or has ended.
 * Out: the thread that runs next; completes collectives and barriers whose threads have all arrived.
 * Reports a deadlock where threads wait for something that cannot happen (barriers in divergent code, mixed barriers). */
#define _GNU_SOURCE
#include <string.h>
#include "runtime/host/engine.h"

enum { PLACES_UNTIL = 4096 }; /* bytes of a report beyond which no symboliser is called */

static bool is_barrier(hs_u32 word) { return word != HS_EXIT && (word & (HS_WAITING | HS_BARRIER)) == (HS_WAITING | HS_BARRIER); }
static bool is_collective(hs_u32 word) { return word != HS_EXIT && (word & (HS_WAITING | HS_BARRIER)) == HS_WAITING; }

/* Four words at a time, as these loops are a large part of a barrier's cost. */
typedef hs_u32 words4 __attribute__((vector_size(16), aligned(4), may_alias));
static bool none(words4 v) { return !(v[0] | v[1] | v[2] | v[3]); }

static bool words_are(const hs_u32 *site, hs_u32 n, hs_u32 word)
{
    const words4 all = {word, word, word, word};
    words4 differ = {0};
    hs_u32 i = 0;
    for (; i + 4 <= n; i += 4) differ |= *(const words4 *)(site + i) ^ all;
    for (; i < n; i++) differ[0] |= site[i] ^ word;
    return none(differ);
}

/* All words are barriers of the block, at one place in the code or several. False if a thread has ended: HS_EXIT has the bit of HS_GRID. */
static bool words_are_barriers(const hs_u32 *site, hs_u32 n)
{
    const words4 wanted = {HS_BARRIER, HS_BARRIER, HS_BARRIER, HS_BARRIER};
    const words4 mask = wanted | (words4){HS_GRID, HS_GRID, HS_GRID, HS_GRID};
    words4 differ = {0};
    hs_u32 i = 0;
    for (; i + 4 <= n; i += 4) differ |= (*(const words4 *)(site + i) & mask) ^ wanted;
    for (; i < n; i++) differ[0] |= (site[i] & (HS_BARRIER | HS_GRID)) ^ HS_BARRIER;
    return none(differ);
}

static bool wave_is_at(const hs_wave *w, hs_u32 word)
{
    if (w->live == w->full) return words_are(w->site, (hs_u32)__builtin_popcountll(w->full), word);
    for (hs_u64 m = w->live; m; m &= m - 1)
        if (w->site[__builtin_ctzll(m)] != word) return false;
    return true;
}

static hs_thread *runnable(hs_wave *w)
{
    for (hs_u64 m = w->live; m; m &= m - 1) {
        const int lane = __builtin_ctzll(m);
        if (w->site[lane] == HS_RUN) return w->th + lane;
    }
    return NULL;
}

static hs_thread *runnable_after(block *b, unsigned wave)
{
    for (unsigned i = 1; i <= b->shape.waves; i++) {
        hs_thread *t = runnable(&b->waves[(wave + i) % b->shape.waves]);
        if (t) return t;
    }
    return NULL;
}

hs_thread *sched_first(block *b) { return runnable_after(b, b->shape.waves - 1); }

/* No atomic read-modify-write needed: only this worker writes the counter. */
static void progressed(block *b)
{
    const uint64_t n = atomic_load_explicit(b->progress, memory_order_relaxed);
    atomic_store_explicit(b->progress, n + 1, memory_order_relaxed);
}

void sched_progressed(hs_thread *t) { progressed(block_of(t->w)); }

void sched_release(block *b)
{
    for (unsigned i = 0; i < b->shape.waves; i++) {
        hs_wave *w = &b->waves[i];
        for (hs_u64 m = w->live; m; m &= m - 1) w->site[__builtin_ctzll(m)] = HS_RUN;
    }
    b->barriers++;
    progressed(b);
    if (b->launch->check) check_barrier(b->launch->check, b);
}

/* ---- what went wrong ---- */

/* The operation's source line and, with line tables, the inlined calls around it. */
static void tell_place(host_log *log, const host_module *m, const hs_place *at, const char *verb)
{
    if (!at) {
        log_add(log, "running\n");
        return;
    }
    log_add(log, "%s %s at %s:%u", verb, at->site->what, at->site->file, at->site->line);
    if (module_has_lines(m) && log->size < PLACES_UNTIL) {
        log_add(log, ": ");
        module_place(m, (uintptr_t)at->code, log);
    }
    log_add(log, "\n");
}

static void waits_of(host_log *log, const block *b, const hs_wave *w)
{
    hs_u64 seen = 0;
    for (hs_u64 m = w->live; m; m &= m - 1) {
        const int first = __builtin_ctzll(m);
        if (seen >> first & 1) continue;
        const hs_u32 word = w->site[first] & ~HS_PARITY, spin = b->spins[w->th[first].lin];
        hs_u64 same = 0;
        for (hs_u64 k = m; k; k &= k - 1) {
            const int lane = __builtin_ctzll(k);
            const bool like = (w->site[lane] & ~HS_PARITY) == word && (word != HS_RUN || b->spins[w->th[lane].lin] == spin);
            same |= (hs_u64)like << lane;
        }
        seen |= same;
        const bool runs = word == HS_RUN;
        const hs_place *at = runs && !spin ? NULL : module_at(b->launch->module, runs ? spin : word);
        log_add(log, "  block (%u,%u,%u) wave %u lanes %#llx: ", b->pub.id.x, b->pub.id.y, b->pub.id.z, w->idx, same);
        tell_place(log, b->launch->module, at, runs ? "last seen in" : "wait in");
    }
}

void sched_waits(host_log *log, const block *b)
{
    log_add(log, "  its worker has seen %llu barriers, phases and blocks complete\n",
            (unsigned long long)atomic_load_explicit(b->progress, memory_order_relaxed));
    for (unsigned i = 0; i < b->shape.waves && log->size < HOST_LOG_MAX / 2; i++)
        if (b->waves[i].live) waits_of(log, b, &b->waves[i]);
}

static hs_thread *deadlock(block *b, const char *why)
{
    launch *l = b->launch;
    b->state = BLOCK_FAILED;
    if (launch_fail(l, HOST_DEADLOCK)) {
        log_add(l->log, "deadlock in %s: %s\n", l->kernel, why);
        sched_waits(l->log, b);
        launch_reported(l);
    }
    return &b->host;
}

/* ---- divergence ---- */

/* Lanes diverged: they wait in different collectives. The place with the lowest code address completes first, as compilers lay out a
 * branch's body before the point where lanes reconverge. */
static hs_u64 pick_group(const hs_wave *w, hs_u32 *word)
{
    const void *lowest = NULL;
    for (hs_u64 m = w->live; m; m &= m - 1) {
        const hs_u32 here = w->site[__builtin_ctzll(m)];
        if (!is_collective(here)) continue;
        const void *code = module_at(block_of(w)->launch->module, here)->code;
        if (!lowest || (uintptr_t)code < (uintptr_t)lowest) lowest = code, *word = here;
    }
    hs_u64 group = 0;
    for (hs_u64 m = lowest ? w->live : 0; m; m &= m - 1) {
        const int lane = __builtin_ctzll(m);
        if (is_collective(w->site[lane]) && !((w->site[lane] ^ *word) & ~HS_PARITY)) group |= 1ull << lane;
    }
    return group;
}

/* A lane uses two mailboxes in turn (parity), so lanes that diverged may have put their data in different ones. Moves the group's data to
 * the mailbox that `word` names. */
static hs_u32 use_one_mailbox(hs_wave *w, hs_u64 group, hs_u32 word)
{
    const hs_u32 parity = word & HS_PARITY ? 1 : 0;
    for (hs_u64 m = group; m; m &= m - 1) {
        const int lane = __builtin_ctzll(m);
        if (w->th[lane].parity == parity) continue;
        w->mail[parity][lane] = w->mail[1 - parity][lane];
        w->th[lane].parity = parity;
    }
    return word;
}

static bool complete_some(hs_wave *w)
{
    hs_u32 word = 0;
    const hs_u64 group = pick_group(w, &word);
    if (!group) return false;
    if (block_of(w)->launch->strict && group != w->live) {
        deadlock(block_of(w), "a wave operation that not all live lanes of the wave reach (strict)");
        return true;
    }
    wave_complete(w, group, module_site(block_of(w)->launch->module, word), use_one_mailbox(w, group, word));
    return true;
}

/* ---- the ends of barriers ---- */

/* Called when no thread can run. NULL: no fault; else why the threads at barriers cannot continue. */
static const char *barrier_fault(const block *b, bool *grid, bool *any)
{
    bool plain = false;
    for (unsigned i = 0; i < b->shape.waves; i++) {
        const hs_wave *w = &b->waves[i];
        hs_u32 first = 0;
        for (hs_u64 m = w->live; m; m &= m - 1) {
            const hs_u32 word = w->site[__builtin_ctzll(m)];
            if (first && word != first)
                return "a barrier in divergent code: lanes of one wave wait at different barriers";
            first = word;
            *(word & HS_GRID ? grid : &plain) = true;
        }
    }
    *any = plain || *grid;
    return plain && *grid ? "some threads wait for the block, others for the grid" : NULL;
}

static hs_thread *end_barrier(block *b)
{
    bool grid = false, any = false;
    const char *fault = barrier_fault(b, &grid, &any);
    if (fault) return deadlock(b, fault);
    if (!any) {
        b->state = BLOCK_DONE;
        progressed(b);
        return &b->host;
    }
    if (grid) {
        b->state = BLOCK_AT_GRID;
        if (!b->launch->cooperative) return deadlock(b, "a grid barrier in a launch that is not cooperative");
        return &b->host;
    }
    sched_release(b);
    return sched_first(b);
}

static hs_thread *next_slowly(hs_thread *t)
{
    hs_wave *w = t->w;
    block *b = block_of(w);
    hs_thread *n = runnable(w);
    if (n) return n;
    if (complete_some(w)) return b->state == BLOCK_FAILED ? &b->host : w->site[t->lane] == HS_RUN ? t : runnable(w);
    if ((n = runnable_after(b, w->idx))) return n;
    for (unsigned i = 0; i < b->shape.waves; i++) {
        if (!complete_some(&b->waves[i])) continue;
        return b->state == BLOCK_FAILED ? &b->host : runnable(&b->waves[i]);
    }
    return end_barrier(b);
}

/* True if all waves are full and all threads are at plain barriers, each wave at a single one. */
static bool all_at_barrier(const block *b)
{
    if (b->shape.wave == 1) return words_are_barriers(b->sites, b->shape.threads); /* contiguous */
    for (unsigned i = 0; i < b->shape.waves; i++) {
        const hs_wave *w = &b->waves[i];
        const hs_u32 word = w->site[0];
        if (w->live != w->full || !is_barrier(word) || word & HS_GRID || !wave_is_at(w, word)) return false;
    }
    return true;
}

static hs_thread *release_all(block *b)
{
    if (b->shape.wave == 1) memset(b->sites, 0, b->shape.threads * sizeof *b->sites);
    else
        for (unsigned i = 0; i < b->shape.waves; i++)
            memset(b->waves[i].site, 0, (size_t)__builtin_popcountll(b->waves[i].full) * sizeof(hs_u32));
    b->barriers++;
    progressed(b);
    if (b->launch->check) check_barrier(b->launch->check, b);
    return b->threads;
}

/* Fast paths for the usual cases: the next lane of the wave, a collective of all live lanes, a barrier of all threads. */
hs_thread *sched_next(hs_thread *t)
{
    hs_wave *w = t->w;
    block *b = block_of(w);
    const hs_u32 word = w->site[t->lane];
    if (w->site[0] == HS_RUN) return w->th;
    if (word != HS_EXIT && wave_is_at(w, word)) {
        if (!(word & HS_BARRIER)) {
            wave_complete(w, w->live, module_site(b->launch->module, word), word);
            return b->state == BLOCK_FAILED ? &b->host : t;
        }
        if (w->idx + 1 < b->shape.waves) {
            if (w[1].site[0] == HS_RUN) return w[1].th;
        } else if (all_at_barrier(b)) {
            return release_all(b);
        }
    }
    return next_slowly(t);
}

/* ---- clusters: one worker runs all their blocks, so nothing here is concurrent */
void cluster_arrive(hs_thread *t)
{
    block *b = block_of(t->w), *lead = b->cluster[0];
    b->cluster_phases[t->lin] = lead->cluster_phase;
    if (b->launch->check) check_sync(lead, HS_SYNC_RELEASE);
    if (++lead->cluster_arrived < b->shape.threads * b->launch->cluster) return;
    lead->cluster_arrived = 0;
    lead->cluster_phase++;
    progressed(b);
}

int cluster_met(hs_thread *t)
{
    block *b = block_of(t->w);
    const block *lead = b->cluster[0];
    if (b->cluster_phases[t->lin] == lead->cluster_phase) {
        for (unsigned i = 0; i < b->launch->cluster; i++)
            if (b->cluster[i]->state == BLOCK_DONE) (void)deadlock(b, "a thread waits for its cluster, of which a block has ended");
        return 0;
    }
    if (b->launch->check) {
        check_sync(lead, HS_SYNC_ACQUIRE | HS_SYNC_LOAD);
        watch_meeting(t->w, 1ull << t->lane);
    }
    return 1;
}

/* ---- threads that take part in no more barriers */
void sched_leave_barriers(hs_thread *t)
{
    block *b = block_of(t->w);
    if (t->w->idx < b->barrier_waves) b->barrier_waves = t->w->idx;
}

/* True if all live threads of all waves that still take part in barriers wait at one. */
static bool others_are_at_barrier(const block *b)
{
    bool any = false;
    for (unsigned i = 0; i < b->barrier_waves; i++)
        for (hs_u64 m = b->waves[i].live; m; m &= m - 1) {
            const hs_u32 word = b->waves[i].site[__builtin_ctzll(m)];
            if (!is_barrier(word) || word & HS_GRID) return false;
            any = true;
        }
    return any;
}

/* Ends a barrier at which all threads wait except those that take part in no more barriers, which may spin. */
static hs_thread *end_barrier_of_others(block *b)
{
    bool grid = false, any = false;
    const char *fault = barrier_fault(b, &grid, &any);
    if (fault) return deadlock(b, fault);
    sched_release(b);
    return sched_first(b);
}

/* Called in spin loops: lets the other threads of the block run, then, through the worker, the other blocks. */
hs_thread *sched_yield_to(hs_thread *t, const hs_place *at)
{
    hs_wave *w = t->w;
    block *b = block_of(w);
    b->spins[t->lin] = HS_WORD(at);
    for (hs_u64 m = w->live & ~((2ull << t->lane) - 1); m; m &= m - 1) {
        const int lane = __builtin_ctzll(m);
        if (w->site[lane] == HS_RUN) return w->th + lane;
    }
    for (unsigned i = w->idx + 1; i < b->shape.waves; i++) {
        hs_thread *n = runnable(&b->waves[i]);
        if (n) return n;
    }
    if (w->idx >= b->barrier_waves && others_are_at_barrier(b)) return end_barrier_of_others(b);
    b->resume = sched_first(b);
    return &b->host;
}
