/* In: every access of a kernel that was compiled with check, its barriers, collectives, atomics and fences.
 * Out: data races, accesses out of bounds or misaligned, and reads of unwritten shared memory, with GPU coordinates and source line.
 * At most MAX_TOLD places are reported in full. An access out of bounds ends the launch. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "runtime/host/happens.h"

enum { GRAIN = 2, READERS = 3, MAX_TOLD = 8, LANE_SEVERAL = 64, NEAR = 4096 };

/* One access to one or both bytes of a grain (two bytes, the unit of checking). */
typedef struct stamp {
    uint64_t wave : 24, tick : 28, lane : 8, atomic : 1, bytes : 2, valid : 1; /* no padding bits: stamps are compared by memcmp */
} stamp;
/* The last write, and the latest reads since then that are not ordered with each other. When the list is full the oldest is dropped: a race
 * with it is missed, but no false race is reported. */
typedef struct cell {
    stamp write, reads[READERS];
} cell;

struct host_check {
    launch *l;
    happens order;
    unsigned count, told;
    size_t matrix; /* operations of matrix instructions */
    bool watched;  /* accesses go to host_watch instead of the race check */
    const void *seen[MAX_TOLD];
};

typedef struct place {
    cell *cells; /* of the whole region; NULL: not checked for races */
    size_t offset;
    bool shared;
    const char *name; /* the region's name */
} place;

checker *check_new(launch *l)
{
    checker *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->l = l;
    c->watched = l->engine->options.watch != NULL;
    watch_begin(l);
    if (c->watched || happens_open(&c->order, l->blocks, l->shape.waves, l->cooperative ? l->blocks : l->cluster)) return c;
    happens_close(&c->order);
    free(c);
    return NULL;
}

static size_t cells_bytes(size_t bytes) { return (bytes / GRAIN + 2) * sizeof(cell); }

/* Reports the numbers of bytes read and written, before the region's cells are unmapped. */
static void tell_touched(const launch *l, const region *r)
{
    const host_engine_options *o = &l->engine->options;
    const cell *cells = r->cells;
    size_t read = 0, written = 0;
    for (size_t i = 0; i < (r->high - r->low + GRAIN - 1) / GRAIN; i++) {
        unsigned seen = 0;
        for (unsigned k = 0; k < READERS; k++) seen |= cells[i].reads[k].valid ? cells[i].reads[k].bytes : 0;
        read += (size_t)__builtin_popcount(seen);
        if (cells[i].write.valid) written += (size_t)__builtin_popcount(cells[i].write.bytes);
    }
    o->touched(o->context, l->kernel, r->name, read, written);
}

void check_free(checker *c)
{
    host_engine *e = c->l->engine;
    watch_end(c->l);
    pthread_rwlock_wrlock(&e->memory_lock);
    if (e->options.touched && c->matrix) e->options.touched(e->options.context, c->l->kernel, NULL, c->matrix, 0);
    for (size_t i = 0; i < e->region_count && e->options.touched; i++)
        if (e->regions[i].cells) tell_touched(c->l, &e->regions[i]);
    for (size_t i = 0; i < e->region_count; i++) {
        region *r = &e->regions[i];
        if (r->cells) munmap(r->cells, cells_bytes(r->high - r->low));
        r->cells = NULL;
    }
    pthread_rwlock_unlock(&e->memory_lock);
    happens_close(&c->order);
    free(c);
}

unsigned check_count(const checker *c) { return c->count; }

static unsigned number_of(const block *b)
{
    return b->pub.id.x + b->pub.grid.x * (b->pub.id.y + b->pub.grid.y * b->pub.id.z);
}
static unsigned grid_wave(const checker *c, const hs_wave *w) { return number_of(block_of(w)) * c->order.per_block + w->idx; }

bool check_block_start(checker *c, block *b)
{
    if (c->watched) return watch_block(b);
    happens_block(&c->order, number_of(b));
    if (b->cells) memset(b->cells, 0, cells_bytes(b->shape.shared_bytes));
    check_block_end(b);
    return true;
}
void check_collective(checker *c, hs_wave *w, bool orders)
{
    if (c->watched) watch_meeting(w, w->exec);
    else if (orders) happens_collective(&c->order, grid_wave(c, w));
}
void check_barrier(checker *c, block *b)
{
    if (!c->watched) happens_barrier(&c->order, number_of(b), b->barrier_waves);
    for (unsigned i = 0; c->watched && i < b->shape.waves; i++) watch_meeting(&b->waves[i], b->waves[i].live);
}
void check_matrix(checker *c, hs_u32 operations) { c->matrix += operations; }
void check_grid(checker *c)
{
    if (!c->watched) happens_grid(&c->order);
}

void check_sync(const void *p, int kind)
{
    const hs_thread *t = host_self.pub.cur;
    checker *c = t ? block_of(t->w)->launch->check : NULL;
    if (!c || c->watched || kind & (HS_SYNC_STANDS_IN | HS_SYNC_STOOD_IN)) {
        if (c && c->watched && kind & (HS_SYNC_STANDS_IN | HS_SYNC_STOOD_IN)) watch_stand_in(t, kind);
        return;
    }
    host_self.busy++;
    happens_sync(&c->order, grid_wave(c, t->w), t->lane, (uintptr_t)p, kind);
    host_self.busy--;
}

/* ---- reports ---- */

static const char *kind_text(int kind)
{
    static const char *const names[] = {"read", "write", "atomic read", "atomic write"};
    return names[kind & 3];
}

/* False: this code address was reported already, or MAX_TOLD addresses were. */
static bool worth_telling(checker *c, const void *pc)
{
    c->count++;
    for (unsigned i = 0; i < c->told; i++)
        if (c->seen[i] == pc) return false;
    if (c->told == MAX_TOLD) return false;
    c->seen[c->told++] = pc;
    return true;
}

static void tell_who(checker *c, const void *pc)
{
    launch *l = c->l;
    launch_where(l, host_self.pub.cur, l->log);
    log_add(l->log, "  at ");
    module_place(l->module, (uintptr_t)pc - 1, l->log);
    log_add(l->log, "\n");
}

static void tell_other(checker *c, stamp s, bool wrote)
{
    const launch *l = c->l;
    const unsigned number = (unsigned)s.wave / c->order.per_block, wave = (unsigned)s.wave % c->order.per_block;
    const unsigned lin = wave * l->shape.wave + (s.lane & 63);
    log_add(l->log, "  against %s%s by block (%u,%u,%u) wave %u ", s.atomic ? "an atomic " : "a ", wrote ? "write" : "read",
            number % l->grid.x, number / l->grid.x % l->grid.y, number / l->grid.x / l->grid.y, wave);
    if (s.lane == LANE_SEVERAL) log_add(l->log, "several lanes\n");
    else
        log_add(l->log, "lane %u thread (%u,%u,%u)\n", (unsigned)s.lane, lin % l->block.x, lin / l->block.x % l->block.y,
                lin / l->block.x / l->block.y);
}

static void race(checker *c, const place *at, size_t offset, unsigned long bytes, int kind, const void *pc, stamp other, bool wrote)
{
    if (!worth_telling(c, pc)) return;
    log_add(c->l->log, "data race: %s of %lu bytes at %s+%zu\n", kind_text(kind), bytes, at->name, offset);
    tell_who(c, pc);
    tell_other(c, other, wrote);
}

static void unwritten(checker *c, const place *at, size_t offset, unsigned long bytes, int kind, const void *pc)
{
    if (!worth_telling(c, pc)) return;
    log_add(c->l->log, "%s of %lu bytes at %s+%zu, which nobody wrote\n", kind_text(kind), bytes, at->name, offset);
    tell_who(c, pc);
}

/* The access would fault on a GPU, though not on this processor. */
static void misaligned(checker *c, const char *name, uintptr_t offset, unsigned long multiple, const void *pc)
{
    if (c->watched || !worth_telling(c, pc)) return;
    log_add(c->l->log, "misaligned access: %s+%lu is not a multiple of %lu\n", name, (unsigned long)offset, multiple);
    tell_who(c, pc);
}

static void not_global(checker *c, const char *name, uintptr_t offset, unsigned long bytes, const void *pc)
{
    if (c->watched || !worth_telling(c, pc)) return;
    log_add(c->l->log, "not global memory: %s+%lu, %lu bytes read as global memory\n", name, (unsigned long)offset, bytes);
    tell_who(c, pc);
}

/* Ends the launch before the access happens, which could corrupt memory of the process. */
static bool outside(checker *c, block *b, const char *name, const void *p, unsigned long bytes, int kind, const void *pc)
{
    c->count++;
    b->state = BLOCK_FAILED;
    if (launch_fail(c->l, HOST_CHECKED)) {
        log_add(c->l->log, "out of bounds: %s of %lu bytes at ", kind_text(kind), bytes);
        if (name)
            log_add(c->l->log, "%s+%ld (the block has %u bytes)", name, (long)((const char *)p - b->pub.shared), b->shape.shared_bytes);
        else memory_describe(c->l->engine, (uintptr_t)p, c->l->log);
        log_add(c->l->log, "\n");
        tell_who(c, pc);
        launch_reported(c->l);
    }
    host_self.busy--;
    return false;
}

static bool in(uintptr_t p, uintptr_t low, size_t bytes) { return p - low < bytes; }

/* The block of b's cluster whose shared memory, with its guard pages, contains p; NULL: none. */
static block *member_at(const block *b, uintptr_t p)
{
    for (unsigned i = 0; i < b->launch->cluster; i++) {
        block *m = b->cluster[i];
        if (m->shared_map && in(p, (uintptr_t)m->shared_map, m->shared_map_bytes)) return m;
    }
    return NULL;
}

/* ---- accesses ---- */

/* A stamp of what the thread does now; the caller sets `bytes`. */
static stamp stamp_of(const checker *c, const hs_thread *t, int kind)
{
    const unsigned wave = grid_wave(c, t->w);
    return (stamp){.wave = wave, .tick = c->order.ticks[wave], .lane = t->lane, .atomic = kind >= HS_CHECK_ATOMIC_READ, .valid = 1};
}

/* True if the first recorded read has the same bytes, wave and tick as `now`, with no write since; LANE_SEVERAL matches any lane. */
static bool is_noted(const cell *at, stamp now)
{
    stamp first = at->reads[0];
    if (first.lane == LANE_SEVERAL) first.lane = now.lane;
    return memcmp(&first, &now, sizeof now) == 0;
}

/* LANE_SEVERAL does not record which lanes, so all live lanes must be ordered before this one. */
static bool lanes_ordered(const checker *c, stamp before, stamp now)
{
    if (before.lane == now.lane) return true;
    const uint64_t lanes = before.lane == LANE_SEVERAL ? host_self.pub.cur->w->live : 1ull << before.lane;
    return happens_lanes(&c->order, (unsigned)now.wave, before.tick, lanes, now.lane);
}

static bool conflict(const checker *c, stamp before, stamp now)
{
    if (!before.valid || !(before.bytes & now.bytes) || (before.atomic && now.atomic)) return false;
    if (before.wave == now.wave) return !lanes_ordered(c, before, now);
    return !happens_before(&c->order, (unsigned)before.wave, before.tick, (unsigned)now.wave);
}

static void note_read(const checker *c, cell *at, stamp now)
{
    unsigned to = READERS;
    for (unsigned i = 0; i < READERS && to == READERS; i++) {
        const stamp s = at->reads[i];
        if (!s.valid) {
            to = i;
        } else if (s.wave == now.wave && s.bytes == now.bytes && s.atomic == now.atomic && (s.tick == now.tick || s.lane == now.lane)) {
            if (s.lane != now.lane) now.lane = LANE_SEVERAL;
            to = i;
        } else if (!conflict(c, (stamp){.wave = s.wave, .tick = s.tick, .lane = s.lane, .bytes = 3, .valid = 1}, now)) {
            to = i;
        }
    }
    if (to == READERS) {
        memmove(at->reads, at->reads + 1, sizeof at->reads - sizeof *at->reads);
        to = READERS - 1;
    }
    at->reads[to] = now;
}

/* Checks and records an access to a grain. Both bytes share one last write: a write of one byte forgets an earlier write of the other, and
 * a race with that may be missed. */
static void touch(checker *c, const place *at, size_t grain, stamp now, int kind, unsigned long bytes, const void *pc)
{
    cell *x = &at->cells[grain];
    const bool write = kind == HS_CHECK_WRITE || kind == HS_CHECK_ATOMIC_WRITE;
    const size_t offset = grain * GRAIN;
    if (!write && !c->count && is_noted(x, now)) return; /* checked already; once a race is reported, every access is checked and counted */
    if (conflict(c, x->write, now)) race(c, at, offset, bytes, kind, pc, x->write, true);
    else if (at->shared && !write && !x->write.valid) unwritten(c, at, offset, bytes, kind, pc);
    for (unsigned i = 0; write && i < READERS; i++)
        if (conflict(c, x->reads[i], now)) {
            race(c, at, offset, bytes, kind, pc, x->reads[i], false);
            break;
        }
    if (!write) {
        note_read(c, x, now);
        return;
    }
    x->write = now;
    memset(x->reads, 0, sizeof x->reads);
}

static void touch_all(checker *c, const place *at, unsigned long bytes, int kind, const void *pc)
{
    const size_t end = at->offset + bytes;
    stamp now = stamp_of(c, host_self.pub.cur, kind);
    for (size_t i = at->offset; i < end; i = (i / GRAIN + 1) * GRAIN) {
        const bool second_too = i / GRAIN * GRAIN + 1 < end;
        now.bytes = i % GRAIN ? 2 : second_too ? 3 : 1;
        touch(c, at, i / GRAIN, now, kind, bytes, pc);
    }
}

static cell *map_cells(size_t bytes)
{
    void *p = mmap(NULL, cells_bytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Frees b->cells only: check_block_end() unmaps static_cells, whose size depends on the module, with the launch. */
void check_drop(block *b)
{
    if (b->cells) munmap(b->cells, cells_bytes(b->shape.shared_bytes));
    b->cells = NULL;
    watch_drop(b);
}
void check_block_end(block *b)
{
    if (b->static_cells) munmap(b->static_cells, cells_bytes(b->launch->module->shared_bytes));
    b->static_cells = NULL;
}

/* True for memory of the engine: the block with its stacks, the worker's thread-locals, the module's image. */
static bool is_ours(const block *b, uintptr_t p)
{
    const host_module *m = b->launch->module;
    return in(p, (uintptr_t)b->slab, b->slab_bytes) || in(p, (uintptr_t)&host_self, sizeof host_self) || in(p, m->low, m->high - m->low);
}

static bool find_global(checker *c, uintptr_t p, unsigned long bytes, place *at)
{
    host_engine *e = c->l->engine;
    pthread_rwlock_rdlock(&e->memory_lock);
    region *r = memory_find(e, p, 0);
    const bool inside = r && bytes <= r->high - p;
    if (inside) {
        if (!r->cells && !c->watched) r->cells = map_cells(r->high - r->low);
        at->cells = r->cells;
        at->offset = p - r->low;
        at->name = r->name;
    }
    pthread_rwlock_unlock(&e->memory_lock);
    return inside;
}

static place shared_place(block *b, uintptr_t p, bool watched)
{
    if (!b->cells && !watched) b->cells = map_cells(b->shape.shared_bytes);
    return (place){.cells = b->cells, .offset = p - (uintptr_t)b->pub.shared, .shared = true, .name = "shared"};
}

static place variable_place(block *b, const host_module *m, uintptr_t p, bool watched)
{
    if (!b->static_cells && !watched) b->static_cells = map_cells(m->shared_bytes);
    return (place){.cells = b->static_cells, .offset = p - (uintptr_t)m->shared, .shared = true, .name = "__shared__ variables"};
}

bool check_access(const void *p, unsigned long bytes, int kind, const void *pc)
{
    const hs_thread *t = host_self.pub.cur;
    if (!t || !bytes || (kind & HS_CHECK_SAID && !block_of(t->w)->launch->check->watched)) return true;
    block *b = block_of(t->w);
    checker *c = b->launch->check;
    if (c->watched && !(kind & HS_CHECK_SAID) && watch_stands_in(t)) return true;
    const host_module *m = b->launch->module;
    const uintptr_t a = (uintptr_t)p;
    const bool variable = in(a, (uintptr_t)m->shared, m->shared_bytes) && bytes <= m->shared_bytes - (a - (uintptr_t)m->shared);
    if (!variable && is_ours(b, a)) return true;
    place at = {0};
    host_self.busy++;
    block *member = variable ? NULL : member_at(b, a);
    if (variable) {
        at = variable_place(b, m, a, c->watched);
    } else if (member) {
        const uintptr_t shared = (uintptr_t)member->pub.shared;
        if (!in(a, shared, b->shape.shared_bytes) || bytes > b->shape.shared_bytes - (a - shared))
            return outside(c, member, "shared", p, bytes, kind, pc);
        at = shared_place(member, a, c->watched);
    } else if (!find_global(c, a, bytes, &at)) {
        return outside(c, b, NULL, p, bytes, kind, pc);
    }
    if (kind & HS_CHECK_MISALIGNED) {
        misaligned(c, at.name, at.offset, bytes, pc);
    } else if (kind & HS_CHECK_GLOBAL) {
        if (at.shared) not_global(c, at.name, at.offset, bytes, pc);
    } else if (c->watched) {
        const host_access access = {.memory = at.shared ? NULL : at.name, .offset = at.offset, .bytes = bytes, .code = (uintptr_t)pc};
        watch_access(t, &access, kind);
    } else if (at.cells) {
        touch_all(c, &at, bytes, kind, pc);
    }
    host_self.busy--;
    return true;
}
