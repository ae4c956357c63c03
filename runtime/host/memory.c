/* In: requests for device memory; addresses that kernels touched.
 * Out: named allocations between guard pages, far from other memory; the allocation that an address belongs to.
 * Fails only without memory. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "runtime/host/engine.h"

enum { PAGE = 4096, ALIGN = 256, SLACK_BYTE = 0xc5 };
enum { MAPPED = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* ---- where allocations lie ----
 * A guard page follows each allocation, but a wrong 32-bit index reaches up to 2^32 elements further and must not hit memory of the
 * process. So an engine that catches faults places all allocations in the middle of a large reserved, inaccessible range. The range costs
 * no memory; where a limit forbids it, the system places allocations. */
static const size_t most_reserve = (size_t)1 << 42, least_reserve = (size_t)1 << 36;

void memory_reserve(host_engine *e)
{
    for (size_t n = e->options.no_signals ? 0 : most_reserve; n >= least_reserve && !e->reserve; n /= 2) {
        char *at = mmap(NULL, n, PROT_NONE, MAPPED, -1, 0);
        if (at == MAP_FAILED) continue;
        e->reserve = at;
        e->reserve_bytes = n;
        e->reserve_next = n / 4; /* a quarter stays unused at either end */
    }
}

/* Takes inaccessible addresses from the range; addresses are never reused, as the range is larger than what a process allocates. */
static char *take_pages(host_engine *e, size_t bytes)
{
    char *at = NULL;
    pthread_rwlock_wrlock(&e->memory_lock);
    if (e->reserve && bytes < e->reserve_bytes / 4 * 3 - e->reserve_next) {
        at = e->reserve + e->reserve_next;
        e->reserve_next += bytes;
    }
    pthread_rwlock_unlock(&e->memory_lock);
    if (!at) at = mmap(NULL, bytes, PROT_NONE, MAPPED, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void give_pages(const host_engine *e, char *at, size_t bytes)
{
    const bool reserved = e->reserve && at >= e->reserve && at < e->reserve + e->reserve_bytes;
    if (!reserved) munmap(at, bytes);
    else if (mmap(at, bytes, PROT_NONE, MAPPED | MAP_FIXED, -1, 0) == MAP_FAILED) mprotect(at, bytes, PROT_NONE);
}

/* ---- allocations ---- */

/* The caller holds the lock for writing. Regions are sorted by address. */
static bool insert(host_engine *e, region r)
{
    if (e->region_count == e->region_room) {
        const size_t room = 2 * e->region_room + 16;
        region *regions = realloc(e->regions, room * sizeof *regions);
        if (!regions) return false;
        e->regions = regions;
        e->region_room = room;
    }
    size_t i = e->region_count++;
    for (; i && e->regions[i - 1].low > r.low; i--) e->regions[i] = e->regions[i - 1];
    e->regions[i] = r;
    return true;
}

static bool add(host_engine *e, region r, const char *name)
{
    r.name = strdup(name ? name : "memory");
    if (!r.name) return false;
    pthread_rwlock_wrlock(&e->memory_lock);
    const bool ok = insert(e, r);
    pthread_rwlock_unlock(&e->memory_lock);
    if (!ok) free(r.name);
    return ok;
}

static void discard(const host_engine *e, region *r)
{
    free(r->name);
    if (r->owned) give_pages(e, (char *)r->map_low, r->map_high - r->map_low);
}

static void remove_at(host_engine *e, uintptr_t low, bool owned)
{
    region found = {0};
    pthread_rwlock_wrlock(&e->memory_lock);
    for (size_t i = 0; i < e->region_count; i++) {
        if (e->regions[i].low != low || e->regions[i].owned != owned) continue;
        found = e->regions[i];
        memmove(&e->regions[i], &e->regions[i + 1], (--e->region_count - i) * sizeof *e->regions);
        break;
    }
    pthread_rwlock_unlock(&e->memory_lock);
    if (found.low) discard(e, &found);
}

void *host_alloc(host_engine *e, size_t bytes, const char *name)
{
    if (bytes > SIZE_MAX / 2) return NULL;
    const size_t body = round_up(bytes ? bytes : 1, ALIGN), pages = round_up(body, PAGE);
    char *map = take_pages(e, pages + 2 * PAGE);
    if (!map) return NULL;
    char *memory = map + PAGE + pages - body;
    region r = {.low = (uintptr_t)memory, .high = (uintptr_t)memory + bytes, .owned = true};
    r.map_low = (uintptr_t)map;
    r.map_high = (uintptr_t)map + pages + 2 * PAGE;
    if (mprotect(map + PAGE, pages, PROT_READ | PROT_WRITE) || !add(e, r, name)) {
        give_pages(e, map, pages + 2 * PAGE);
        return NULL;
    }
    memset(memory + bytes, SLACK_BYTE, body - bytes);
    return memory;
}

void host_free(host_engine *e, void *memory)
{
    if (memory) remove_at(e, (uintptr_t)memory, true);
}

bool host_register(host_engine *e, void *memory, size_t bytes, const char *name)
{
    const uintptr_t low = (uintptr_t)memory, high = low + bytes;
    return add(e, (region){.low = low, .high = high, .map_low = low, .map_high = high}, name);
}

void host_unregister(host_engine *e, void *memory) { remove_at(e, (uintptr_t)memory, false); }

region *memory_find(host_engine *e, uintptr_t address, size_t slack)
{
    size_t low = 0, high = e->region_count; /* the last region that begins at or below the address */
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (e->regions[mid].low <= address) low = mid + 1;
        else high = mid;
    }
    region *before = low ? &e->regions[low - 1] : NULL, *after = low < e->region_count ? &e->regions[low] : NULL;
    if (before && address < before->high) return before;
    const uintptr_t past = before ? address - before->high : UINTPTR_MAX, ahead = after ? after->low - address : UINTPTR_MAX;
    if (before && past <= ahead && past < slack) return before;
    return after && ahead <= slack && slack ? after : NULL;
}

void memory_describe(host_engine *e, uintptr_t address, host_log *log)
{
    pthread_rwlock_rdlock(&e->memory_lock);
    const region *r = memory_find(e, address, 1 << 20);
    if (!r) log_add(log, "%#lx, which belongs to no allocation", (unsigned long)address);
    else if (address >= r->high) log_add(log, "%s, %lu bytes past its end", r->name, (unsigned long)(address - r->high));
    else if (address < r->low) log_add(log, "%s, %lu bytes before its start", r->name, (unsigned long)(r->low - address));
    else log_add(log, "%s+%lu", r->name, (unsigned long)(address - r->low));
    pthread_rwlock_unlock(&e->memory_lock);
}

/* Checks the bytes between the end of an allocation and its guard page, which exist if the size is not a multiple of the alignment. */
bool memory_slack_intact(host_engine *e, host_log *log)
{
    bool ok = true;
    pthread_rwlock_rdlock(&e->memory_lock);
    for (size_t i = 0; i < e->region_count; i++) {
        const region *r = &e->regions[i];
        if (!r->owned) continue;
        unsigned char *p = (unsigned char *)r->high, *end = (unsigned char *)r->map_high - PAGE;
        for (; p < end && *p == SLACK_BYTE; p++) {}
        if (p == end) continue;
        log_add(log, "%s was written %lu bytes past its end\n", r->name, (unsigned long)((uintptr_t)p - r->high));
        memset(p, SLACK_BYTE, (size_t)(end - p)); /* so that it is reported once */
        ok = false;
    }
    pthread_rwlock_unlock(&e->memory_lock);
    return ok;
}

void memory_close(host_engine *e)
{
    for (size_t i = 0; i < e->region_count; i++) discard(e, &e->regions[i]);
    free(e->regions);
    if (e->reserve) munmap(e->reserve, e->reserve_bytes);
}
