/* In: the shape of a block (threads, wave size, shared memory, stack size).
 * Out: a block whose GPU threads are fibers: stacks with guard pages, and the entry and exit of a fiber.
 * Fails only without memory. Stacks lack guard pages once the process reaches the system's limit of mappings. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "runtime/host/engine.h"

enum { PAGE = 4096, MAX_GUARDS = 16384, SITE_GAP = 16, ARENA_ALIGN = 256 };
static const size_t far_off = 64 << 20;

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* ---- the life of a fiber ---- */

/* Runs on a fiber's stack. When the thread ends, the next one that has not begun runs on the same stack, so that kernels without barriers
 * are a plain loop. */
__attribute__((used, visibility("hidden"), no_sanitize_address)) void host_thread_main(hs_thread *t)
{
    for (;;) {
        block *b = block_of(t->w);
        host_self.pub.cur = t;
        t->pc = NULL;
        b->entry(b->params);
        t = host_self.pub.cur;
        hs_wave *w = t->w;
        w->live &= ~(1ull << t->lane);
        hs_u32 *site = w->site + t->lane;
        site[0] = HS_EXIT;
        hs_thread *n = site[1] == HS_RUN ? t + 1 : sched_next(t);
        if (n != &b->host && fiber_is_fresh(n)) t = n;
        else fiber_swap(t, n);
    }
}

#ifdef HS_SWAP_BY_CALL
#include <ucontext.h>
static void fresh(void) { host_thread_main(host_self.pub.cur); }
static char fresh_mark;
bool fiber_is_fresh(const hs_thread *t) { return t->pc == &fresh_mark; }
/* Context 0 is the worker's; a thread's is initialised when its fiber is first entered. */
static ucontext_t *context_of(block *b, const hs_thread *t) { return (ucontext_t *)b->contexts + (t == &b->host ? 0 : t->lin + 1); }
static void make_fresh(block *b, hs_thread *t)
{
    ucontext_t *u = context_of(b, t);
    getcontext(u);
    u->uc_stack.ss_sp = b->stacks + t->lin * b->stack_stride + PAGE;
    u->uc_stack.ss_size = b->stack_stride - PAGE;
    u->uc_link = NULL;
    makecontext(u, fresh, 0);
}
void fiber_swap(hs_thread *from, hs_thread *to)
{
    block *b = (block *)(void *)host_self.pub.blk;
    if (to != &b->host) {
        if (fiber_is_fresh(to)) make_fresh(b, to);
        host_self.pub.cur = to;
    }
    swapcontext(context_of(b, from), context_of(b, to));
}
void fiber_abandon(block *b)
{
    setcontext(context_of(b, &b->host));
    __builtin_unreachable();
}
static void *contexts_new(unsigned threads) { return calloc(threads + 1, sizeof(ucontext_t)); }
static void contexts_free(void *c) { free(c); }
static void *fresh_pc(void) { return &fresh_mark; }
#else
/* Where hs_switch() enters a new fiber: passes the thread from the register that hs_switch() leaves it in to host_thread_main(). */
#ifdef __x86_64__
__asm__(".text\n.hidden host_trampoline\n.globl host_trampoline\n.type host_trampoline,@function\nhost_trampoline:\n\t"
        "xorl %ebp, %ebp\n\tandq $-64, %rsp\n\tmovq %rsi, %rdi\n\tcall host_thread_main\n\tud2\n"
        ".size host_trampoline, .-host_trampoline\n");
#else
__asm__(".text\n.hidden host_trampoline\n.globl host_trampoline\nhost_trampoline:\n\t"
        "mov x29, xzr\n\tmov x30, xzr\n\tmov x0, x1\n\tbl host_thread_main\n\tbrk #1\n");
#endif
extern char host_trampoline[] __attribute__((visibility("hidden")));
bool fiber_is_fresh(const hs_thread *t) { return t->pc == host_trampoline; }
void fiber_swap(hs_thread *from, hs_thread *to) { hs_switch(from, to); }
/* Not instrumented: this function never returns, so the sanitizer's redzones around `nobody` would stay poisoned for later frames. */
__attribute__((no_sanitize_address)) void fiber_abandon(block *b)
{
    hs_thread nobody;
    hs_switch(&nobody, &b->host);
    __builtin_unreachable();
}
static void *contexts_new(unsigned threads) { return (void *)(uintptr_t)threads; }
static void contexts_free(void *c) { (void)c; }
static void *fresh_pc(void) { return host_trampoline; }
#endif

/* ---- blocks ---- */

/* Maps `body` accessible bytes between two inaccessible areas of `guard` bytes. */
static bool map_between(block *b, size_t body, size_t guard)
{
    const size_t all = body + 2 * guard;
    char *map = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return false;
    b->shared_map = map;
    b->shared_map_bytes = all;
    b->pub.shared = map + guard;
    return !mprotect(b->pub.shared, body, PROT_READ | PROT_WRITE);
}

/* Maps shared memory, rounded up to ARENA_ALIGN, whose end borders on an inaccessible area. */
static bool map_shared(block *b, unsigned bytes, bool far)
{
    if (!bytes) return true;
    const size_t room = round_up(bytes, ARENA_ALIGN), body = round_up(room, PAGE);
    if (!map_between(b, body, far ? far_off : PAGE)) return false;
    b->pub.shared += body - room;
    return true;
}

static void add_guards(block *b, atomic_uint *guards)
{
    const unsigned n = b->shape.threads;
    if (atomic_fetch_add(guards, n) + n > MAX_GUARDS) {
        atomic_fetch_sub(guards, n);
        return;
    }
    b->guards = n;
    for (unsigned i = 0; i < n; i++)
        if (mprotect(b->stacks + i * b->stack_stride, PAGE, PROT_NONE)) return; /* too many mappings: the rest go without */
}

/* Offsets of the slab's parts, which follow the block itself. */
typedef struct slab_layout {
    size_t threads, waves, sites, spins, phases, made, copies, mail, stacks, end, stride, site_words;
} slab_layout;

static slab_layout lay_out(const block_shape *s)
{
    slab_layout l = {.site_words = s->wave == 1 ? s->threads + SITE_GAP : (size_t)s->waves * (s->wave + SITE_GAP)};
    l.threads = round_up(sizeof(block), 64);
    l.waves = l.threads + s->threads * sizeof(hs_thread);
    l.sites = round_up(l.waves + s->waves * sizeof(hs_wave), 64);
    l.spins = round_up(l.sites + l.site_words * sizeof(hs_u32), 64);
    l.phases = round_up(l.spins + s->threads * sizeof(hs_u32), 64);
    l.made = round_up(l.phases + s->threads * sizeof(hs_u32), 64);
    l.copies = round_up(l.made + s->threads * sizeof(hs_u32), 64);
    l.mail = round_up(l.copies + s->threads * HS_MAX_COPIES * sizeof(hs_lds_copy), 64);
    l.stacks = round_up(l.mail + 2 * (size_t)s->waves * s->wave * sizeof(hs_u64), PAGE);
    /* Not a power of two, which would map all stacks to the same cache sets. */
    l.stride = (round_up(s->stack_bytes, 2 * PAGE) + PAGE);
    l.end = l.stacks + s->threads * l.stride;
    return l;
}

static void set_up_waves(block *b, const slab_layout *l)
{
    const block_shape *s = &b->shape;
    const size_t gap = s->wave == 1 ? 0 : SITE_GAP;
    for (unsigned i = 0; i < s->waves; i++) {
        hs_wave *w = &b->waves[i];
        const unsigned left = s->threads - i * s->wave, lanes = left < s->wave ? left : s->wave;
        w->site = b->sites + i * (s->wave + gap);
        w->mail[0] = (hs_u64 *)(b->slab + l->mail) + 2 * (size_t)i * s->wave;
        w->mail[1] = w->mail[0] + s->wave;
        w->size = s->wave;
        w->idx = i;
        w->full = lanes == 64 ? ~0ull : (1ull << lanes) - 1;
        w->th = b->threads + i * s->wave;
        w->copies = (hs_lds_copy *)(b->slab + l->copies) + (size_t)i * s->wave * HS_MAX_COPIES;
        w->copies_made = (hs_u32 *)(b->slab + l->made) + (size_t)i * s->wave;
        w->b = &b->pub;
    }
    for (unsigned i = 0; i < s->threads; i++) {
        hs_thread *t = &b->threads[i];
        t->w = &b->waves[i / s->wave];
        t->lane = i % s->wave;
        t->lin = i;
    }
}

block *block_new(const block_shape *shape, bool far, atomic_uint *guards)
{
    const slab_layout l = lay_out(shape);
    char *slab = mmap(NULL, l.end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED) return NULL;
    block *b = (block *)slab;
    b->slab = slab;
    b->slab_bytes = l.end;
    b->shape = *shape;
    b->threads = (hs_thread *)(slab + l.threads);
    b->waves = (hs_wave *)(slab + l.waves);
    b->sites = (hs_u32 *)(slab + l.sites);
    b->spins = (hs_u32 *)(slab + l.spins);
    b->cluster_phases = (hs_u32 *)(slab + l.phases);
    b->site_words = l.site_words;
    b->stacks = slab + l.stacks;
    b->stack_stride = l.stride;
    b->contexts = contexts_new(shape->threads);
    if (!b->contexts || !map_shared(b, shape->shared_bytes, far)) {
        block_free(b, guards);
        return NULL;
    }
    set_up_waves(b, &l);
    add_guards(b, guards);
    return b;
}

void block_free(block *b, atomic_uint *guards)
{
    atomic_fetch_sub(guards, b->guards);
    contexts_free(b->contexts);
    check_drop(b);
    free(b->static_copy);
    if (b->shared_map) munmap(b->shared_map, b->shared_map_bytes);
    munmap(b->slab, b->slab_bytes);
}

static void reset_threads(block *b)
{
    const hs_dim3 d = b->pub.block;
    char *top = b->stacks + b->stack_stride - 64;
    hs_dim3 tid = {0};
    for (unsigned i = 0; i < b->shape.threads; i++, top += b->stack_stride) {
        hs_thread *t = &b->threads[i];
        t->sp = (void *)((uintptr_t)(top - i * 320 % PAGE) & ~(uintptr_t)63); /* spread over cache sets */
        t->pc = fresh_pc();
        t->parity = 0;
        t->tid = tid;
        if (++tid.x == d.x) {
            tid.x = 0;
            if (++tid.y == d.y) tid.y = 0, tid.z++;
        }
    }
}

/* Fills with 0x7fff, a NaN in f16 and bf16, and as a pair in f32. */
static void poison_bytes(char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) p[i] = i & 1 ? 0x7f : (char)0xff;
}

void block_own_shared(host_module *m, block *b)
{
    block *old = m->shared_owner;
    if (old == b) return;
    if (old && b && old->static_copy) memcpy(old->static_copy, m->shared, m->shared_bytes);
    if (b && b->static_copy) memcpy(m->shared, b->static_copy, m->shared_bytes);
    m->shared_owner = b;
}

/* A block resident together with others gets its own copy of the module's __shared__ variables; a single block uses them in place. */
static bool prepare_static_shared(block *b, launch *l, bool poison)
{
    host_module *m = l->module;
    if (b->static_copy_bytes != m->shared_bytes) {
        free(b->static_copy);
        b->static_copy = NULL;
        b->static_copy_bytes = 0;
    }
    if (!m->shared_bytes) return true;
    if (m->shared_owner == b) m->shared_owner = NULL;
    if ((l->cooperative || l->cluster > 1) && !b->static_copy) {
        b->static_copy = calloc(1, m->shared_bytes);
        b->static_copy_bytes = m->shared_bytes;
        if (!b->static_copy) return false;
    }
    if (poison) poison_bytes(b->static_copy ? b->static_copy : m->shared, m->shared_bytes);
    return true;
}

void block_start(block *b, launch *l, unsigned number, bool poison)
{
    b->launch = l;
    b->entry = l->entry;
    b->params = l->params;
    b->pub.grid = l->grid;
    b->pub.block = l->block;
    b->pub.shared_bytes = b->shape.shared_bytes;
    b->pub.id = (hs_dim3){number % l->grid.x, number / l->grid.x % l->grid.y, number / l->grid.x / l->grid.y};
    b->pub.packet = (hs_packet){.workgroup_size = {(unsigned short)l->block.x, (unsigned short)l->block.y, (unsigned short)l->block.z},
                                .grid_size = {l->grid.x * l->block.x, l->grid.y * l->block.y, l->grid.z * l->block.z},
                                .group_bytes = b->shape.shared_bytes};
    memset(b->sites, 0xff, b->site_words * sizeof *b->sites);
    for (unsigned i = 0; i < b->shape.waves; i++) {
        hs_wave *w = &b->waves[i];
        w->live = w->exec = w->full;
        w->collectives = 0;
        memset(w->site, 0, (size_t)__builtin_popcountll(w->full) * sizeof *w->site);
    }
    memset(b->spins, 0, b->shape.threads * sizeof *b->spins);
    memset(b->waves->copies_made, 0, b->shape.threads * sizeof *b->waves->copies_made);
    reset_threads(b);
    b->barriers = 0;
    b->barrier_waves = b->shape.waves;
    b->state = BLOCK_RUNS;
    b->resume = b->threads;
    if (poison && b->pub.shared) poison_bytes(b->pub.shared, b->shape.shared_bytes);
    if (!prepare_static_shared(b, l, poison) && launch_fail(l, HOST_NO_MEMORY)) launch_reported(l);
    if (l->check && !check_block_start(l->check, b) && launch_fail(l, HOST_NO_MEMORY)) launch_reported(l);
}

void block_join(block *const *members, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        block *b = members[i];
        b->pub.cluster_rank = i;
        b->cluster_arrived = b->cluster_phase = 0;
        for (unsigned k = 0; k < count; k++) b->cluster[k] = members[k], b->pub.cluster_shared[k] = members[k]->pub.shared;
    }
}

bool block_run(block *b)
{
    if (b->launch->module->shared_bytes) block_own_shared(b->launch->module, b);
    host_self.pub.blk = &b->pub;
    host_self.faulted = 0;
    fiber_swap(&b->host, b->resume);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    host_self.pub.cur = NULL; /* from here on, signals of faults and of the watchdog do not concern the kernel */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const bool thrown_out = host_self.faulted;
    host_self.faulted = 0;
    host_self.pub.blk = NULL;
    return !thrown_out;
}
