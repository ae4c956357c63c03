/* In: sizes and addresses. Out: device memory that only the double's kernels and copies can access, each allocation ending at a guard page;
 * the allocation of an address. A pointer that is not live device memory is a violation. Addresses are never reused. */
#define _GNU_SOURCE
#include "tests/doubles/hip_double.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { page = 4096, align = 256, slack_byte = 0xc5, fresh_byte = 0xff };
static const size_t arena_bytes = (size_t)1 << arena_bytes_log2;

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* The emulator's process maps the same file at the same address, so that pointers inside arguments need no translation. */
bool memory_open(device *d)
{
    char *at = (char *)(uintptr_t)0x300000000000 + ((size_t)d->ordinal << 40);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (emulating()) {
        d->arena_file = memfd_create("hip-double", 0);
        if (d->arena_file < 0 || ftruncate(d->arena_file, (off_t)arena_bytes)) return false;
        flags = MAP_SHARED | MAP_NORESERVE;
    }
    d->arena = mmap(at, arena_bytes, PROT_NONE, flags, d->arena_file, 0);
    return d->arena != MAP_FAILED;
}

static allocation *allocation_at(const device *d, const char *address)
{
    for (allocation *a = d->allocations; a; a = a->next)
        if (address >= a->map && address < a->map + a->map_bytes) return a;
    return NULL;
}

void memory_wake(device *d, const void *address)
{
    allocation *a = allocation_at(d, address);
    if (a && !a->freed && a->awake++ == 0) mprotect(a->map, a->map_bytes, PROT_READ | PROT_WRITE);
}

void memory_sleep(device *d, const void *address)
{
    allocation *a = allocation_at(d, address);
    if (a && !a->freed && --a->awake == 0) mprotect(a->map, a->map_bytes, PROT_NONE);
}

bool memory_is_device(const void *address)
{
    const state *s = double_state();
    for (int i = 0; i < s->count; i++)
        if ((const char *)address >= s->devices[i].arena && (const char *)address < s->devices[i].arena + arena_bytes) return true;
    return false;
}

bool memory_is_host(const void *address)
{
    unsigned char in_core = 0;
    return !memory_is_device(address) && mincore((void *)((uintptr_t)address / page * page), page, &in_core) == 0 && in_core & 1;
}

const char *memory_fault(device *d, const void *address, size_t bytes)
{
    const char *p = address;
    if (p < d->arena || p >= d->arena + arena_bytes)
        return memory_is_device(p) ? "memory of another device" : "no device memory";
    const allocation *a = allocation_at(d, p);
    if (!a || p < a->address) return "between allocations";
    if (a->freed) return "freed memory";
    return bytes > a->bytes - (size_t)(p - a->address) ? "beyond the end of its allocation" : NULL;
}

int memory_live(const device *d)
{
    int live = 0;
    for (const allocation *a = d->allocations; a; a = a->next) live += !a->freed;
    return live;
}

static int allocate(device *d, void **memory, size_t bytes)
{
    const size_t body = round_up(bytes ? bytes : 1, align), pages = round_up(body, page);
    *memory = NULL;
    if (bytes > d->memory - d->used || pages + guard_bytes > arena_bytes - d->arena_used) return hip_out_of_memory;
    allocation *a = calloc(1, sizeof *a);
    if (!a) return hip_out_of_memory;
    *a = (allocation){.map = d->arena + d->arena_used, .map_bytes = pages, .bytes = bytes, .room = body, .next = d->allocations};
    a->address = a->map + pages - body;
    mprotect(a->map, pages, PROT_READ | PROT_WRITE);
    memset(a->address, fresh_byte, bytes);
    memset(a->address + bytes, slack_byte, body - bytes);
    mprotect(a->map, pages, PROT_NONE);
    d->arena_used += round_up(pages + guard_bytes, guard_bytes);
    d->used += bytes;
    d->allocations = a;
    *memory = a->address;
    return hip_success;
}

static void check_slack(const allocation *a)
{
    for (size_t i = a->bytes; i < a->room; i++)
        if ((unsigned char)a->address[i] != slack_byte) {
            violate("memory was written %zu bytes behind the end of an allocation of %zu", i - a->bytes, a->bytes);
            return;
        }
}

static int release(device *d, void *memory)
{
    allocation *a = allocation_at(d, memory);
    if (!a || a->address != memory || a->freed) {
        violate("hipFree: %s", a && a->freed ? "freed twice" : "this is not the start of an allocation of the current device");
        return hip_invalid_value;
    }
    const int code = device_wait(d);
    memory_wake(d, memory);
    check_slack(a);
    memory_sleep(d, memory);
    mprotect(a->map, a->map_bytes, PROT_NONE);
    madvise(a->map, a->map_bytes, d->arena_file < 0 ? MADV_DONTNEED : MADV_REMOVE);
    a->freed = true;
    d->used -= a->bytes;
    return code;
}

EXPORT int hipMalloc(void **memory, size_t bytes)
{
    int code = double_begin("hipMalloc");
    if (!code) code = forbidden_in_capture("hipMalloc");
    if (!code) code = allocate(current_device(), memory, bytes);
    return double_end(code);
}

EXPORT int hipFree(void *memory)
{
    int code = double_begin("hipFree");
    if (!code) code = forbidden_in_capture("hipFree");
    if (!code && memory) code = release(current_device(), memory);
    return double_end(code);
}

static int check_copy(device *d, const void *to, const void *from, size_t bytes, int kind)
{
    const bool to_device = kind != hip_device_to_host, from_device = kind != hip_host_to_device;
    const char *wrong = NULL;
    if (kind < hip_host_to_device || kind > hip_device_to_device) wrong = "of this kind";
    else if (to_device && (wrong = memory_fault(d, to, bytes))) violate("a copy of %zu bytes goes to %s", bytes, wrong);
    else if (from_device && (wrong = memory_fault(d, from, bytes))) violate("a copy of %zu bytes comes from %s", bytes, wrong);
    else if (!to_device && memory_is_device(to)) violate("%s", wrong = "a copy to the host goes to device memory");
    else if (!from_device && memory_is_device(from)) violate("%s", wrong = "a copy from the host comes from device memory");
    return wrong ? hip_invalid_value : hip_success;
}

EXPORT int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, hip_stream handle)
{
    int code = double_begin("hipMemcpyAsync");
    device *d = current_device();
    stream *s = code ? NULL : stream_of(handle, d);
    if (!code && !s) code = hip_invalid_handle;
    if (!code) code = check_copy(d, to, from, bytes, kind);
    op *o = code ? NULL : calloc(1, sizeof *o);
    if (o) *o = (op){.kind = op_copy, .to = to, .from = from, .bytes = bytes};
    if (!code) code = o ? stream_push(s, o) : hip_out_of_memory;
    return double_end(code);
}

EXPORT int hipMemsetAsync(void *memory, int byte, size_t bytes, hip_stream handle)
{
    int code = double_begin("hipMemsetAsync");
    device *d = current_device();
    stream *s = code ? NULL : stream_of(handle, d);
    const char *wrong = code || !s ? NULL : memory_fault(d, memory, bytes);
    if (wrong) violate("hipMemsetAsync of %zu bytes: %s", bytes, wrong);
    if (!code && (!s || wrong)) code = s ? hip_invalid_value : hip_invalid_handle;
    op *o = code ? NULL : calloc(1, sizeof *o);
    if (o) *o = (op){.kind = op_fill, .to = memory, .byte = byte, .bytes = bytes};
    if (!code) code = o ? stream_push(s, o) : hip_out_of_memory;
    return double_end(code);
}
