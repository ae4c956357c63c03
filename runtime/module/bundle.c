/* Contract: runtime/module/bundle.h. Refuses, with an offset: wrong sizes, offsets out of range or misaligned, entries out of order, names
 * without a NUL, a head whose hash differs. Integers are read byte by byte, whatever the machine's alignment rules and byte order. */
#include "runtime/module/bundle.h"
#include "runtime/host/hs_abi.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { head_bytes = 64, entry_bytes = 64, code_alignment = 64, version = 1, hashed_from = 40 };
static const char magic[8] = {'t', 'f', 'b', 'u', 'n', 'd', 'l', 'e'};

/* ---- integers */
static void put32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> 8 * i);
}

static void put64(unsigned char *p, uint64_t v)
{
    put32(p, (uint32_t)v);
    put32(p + 4, (uint32_t)(v >> 32));
}

static uint32_t get32(const unsigned char *p) { return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }
static uint64_t get64(const unsigned char *p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }

/* Hashes everything but the hash itself, which is at offset 32 between the head's fields and its zeros. */
static uint64_t hash_of_head(const unsigned char *data, size_t end)
{
    return XXH3_64bits_withSeed(data + hashed_from, end - hashed_from, XXH3_64bits(data, 32));
}

/* ---- entries */
typedef struct entry {
    const char *arch, *kernel;
    XXH128_hash_t source;
    uint64_t source_size, hash, offset, size;
} entry;

static int compare_numbers(uint64_t x, uint64_t y) { return (x > y) - (x < y); }

static int compare_entries(const entry *x, const entry *y)
{
    int c = strcmp(x->arch, y->arch);
    if (!c) c = strcmp(x->kernel, y->kernel);
    if (!c) c = compare_numbers(x->source.high64, y->source.high64);
    if (!c) c = compare_numbers(x->source.low64, y->source.low64);
    return c ? c : compare_numbers(x->source_size, y->source_size);
}

static entry entry_at(const bundle *b, unsigned i)
{
    const unsigned char *p = b->data + head_bytes + (size_t)i * entry_bytes;
    const char *names = (const char *)b->data + b->names;
    return (entry){names + get32(p + 48), names + get32(p + 52), {.low64 = get64(p), .high64 = get64(p + 8)},
                   get64(p + 16), get64(p + 24), get64(p + 32), get64(p + 40)};
}

/* ---- writing */
typedef struct draft {
    entry key;
    const bundle_code *from;
    size_t place; /* index in the list: of equal keys the first is kept */
    uint32_t arch_at, kernel_at;
} draft;

static int by_key(const void *x, const void *y)
{
    const draft *a = x, *b = y;
    const int c = compare_entries(&a->key, &b->key);
    return c ? c : compare_numbers(a->place, b->place);
}

static size_t sort_drafts(draft *drafts, const bundle_code *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        drafts[i] = (draft){.key = {.arch = list[i].arch,
                                    .kernel = list[i].kernel,
                                    .source = XXH3_128bits(list[i].source, list[i].source_size),
                                    .source_size = list[i].source_size,
                                    .hash = XXH3_64bits(list[i].code, list[i].size),
                                    .size = list[i].size},
                            .from = &list[i],
                            .place = i};
    if (count) qsort(drafts, count, sizeof *drafts, by_key);
    for (size_t i = 0; i < count; i++)
        if (!kept || compare_entries(&drafts[kept - 1].key, &drafts[i].key) != 0) drafts[kept++] = drafts[i];
    return kept;
}

static size_t up(size_t n) { return (n + code_alignment - 1) / code_alignment * code_alignment; }

/* Assigns offsets to names and code; returns the total size. Sorted entries share their architecture's name. */
static size_t lay_out(draft *drafts, size_t count, size_t *names)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const bool same = i && strcmp(drafts[i].key.arch, drafts[i - 1].key.arch) == 0;
        drafts[i].arch_at = same ? drafts[i - 1].arch_at : (uint32_t)at;
        if (!same) at += strlen(drafts[i].key.arch) + 1;
        drafts[i].kernel_at = (uint32_t)at;
        at += strlen(drafts[i].key.kernel) + 1;
    }
    *names = at;
    at = up(head_bytes + count * entry_bytes + at);
    for (size_t i = 0; i < count; i++) {
        drafts[i].key.offset = at;
        at = up(at + drafts[i].from->size);
    }
    return at;
}

static void fill(unsigned char *data, const draft *drafts, size_t count, size_t names, size_t total)
{
    unsigned char *text = data + head_bytes + count * entry_bytes;
    memcpy(data, magic, sizeof magic);
    put32(data + 8, version), put32(data + 12, (uint32_t)count);
    put64(data + 16, total), put64(data + 24, names);
    for (size_t i = 0; i < count; i++) {
        const entry *e = &drafts[i].key;
        unsigned char *p = data + head_bytes + i * entry_bytes;
        put64(p, e->source.low64), put64(p + 8, e->source.high64), put64(p + 16, e->source_size);
        put64(p + 24, e->hash), put64(p + 32, e->offset), put64(p + 40, e->size);
        put32(p + 48, drafts[i].arch_at), put32(p + 52, drafts[i].kernel_at);
        memcpy(text + drafts[i].arch_at, e->arch, strlen(e->arch) + 1);
        memcpy(text + drafts[i].kernel_at, e->kernel, strlen(e->kernel) + 1);
        if (e->size) memcpy(data + e->offset, drafts[i].from->code, e->size);
    }
    put64(data + 32, hash_of_head(data, head_bytes + count * entry_bytes + names));
}

bool bundle_write(const bundle_code *list, size_t count, unsigned char **out, size_t *size)
{
    draft *drafts = calloc(count + 1, sizeof *drafts);
    *out = NULL;
    if (!drafts) return false;
    size_t names;
    const size_t kept = sort_drafts(drafts, list, count), total = lay_out(drafts, kept, &names);
    if ((*out = calloc(1, total))) fill(*out, drafts, kept, names, total);
    *size = total;
    free(drafts);
    return *out != NULL;
}

void bundle_rehash(unsigned char *data, size_t size)
{
    const uint64_t end = head_bytes + (uint64_t)get32(data + 12) * entry_bytes + get64(data + 24);
    if (size >= head_bytes && end >= head_bytes && end <= size) put64(data + 32, hash_of_head(data, (size_t)end));
}

/* ---- reading */
static bool refuse(char *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(char *error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error, bundle_error_size, format, list);
    va_end(list);
    return false;
}

/* Checks that every entry's names and code lie within the bytes, and that keys ascend strictly, so are unique. */
static bool check_entries(const bundle *b, size_t names, char *error)
{
    const size_t code = up(b->names + names);
    entry last = {0};
    for (unsigned i = 0; i < b->count; i++) {
        const size_t at = head_bytes + (size_t)i * entry_bytes;
        const unsigned char *p = b->data + at;
        if (get32(p + 48) >= names || get32(p + 52) >= names) return refuse(error, "bundle: offset %zu: a name outside the names", at + 48);
        const entry e = entry_at(b, i);
        if (e.offset % code_alignment || e.offset < code || e.offset > b->size || e.size > b->size - e.offset)
            return refuse(error, "bundle: offset %zu: code outside the bundle", at + 32);
        if (get64(p + 56)) return refuse(error, "bundle: offset %zu: not zero", at + 56);
        if (i && compare_entries(&last, &e) >= 0) return refuse(error, "bundle: offset %zu: entries out of order", at);
        last = e;
    }
    return true;
}

bool bundle_open(const void *bytes, size_t size, bundle *out, char error[bundle_error_size])
{
    const unsigned char *data = bytes;
    if (!data || (uintptr_t)data % 16) return refuse(error, "bundle: not aligned to 16 bytes");
    if (size < head_bytes) return refuse(error, "bundle: offset %zu: ends within its head of %d bytes", size, head_bytes);
    if (memcmp(data, magic, sizeof magic) != 0) return refuse(error, "bundle: offset 0: does not begin with \"tfbundle\"");
    if (get32(data + 8) != version) return refuse(error, "bundle: offset 8: version %u, this library reads %d", get32(data + 8), version);
    if (get64(data + 16) != size)
        return refuse(error, "bundle: offset 16: says %llu bytes, there are %zu", (unsigned long long)get64(data + 16), size);
    const uint64_t count = get32(data + 12), names = get64(data + 24), room = size - head_bytes;
    if (count > room / entry_bytes) return refuse(error, "bundle: offset 12: %llu entries do not fit", (unsigned long long)count);
    if (names > room - count * entry_bytes) return refuse(error, "bundle: offset 24: the names do not fit");
    *out = (bundle){data, size, (unsigned)count, head_bytes + (size_t)count * entry_bytes};
    if (names && data[out->names + names - 1])
        return refuse(error, "bundle: offset %zu: the last name has no end", (size_t)(out->names + names - 1));
    if (get64(data + 32) != hash_of_head(data, out->names + (size_t)names))
        return refuse(error, "bundle: offset 32: head, entries or names were changed");
    return check_entries(out, (size_t)names, error);
}

bool bundle_at(const bundle *b, unsigned index, bundle_item *out)
{
    if (index >= b->count) return false;
    const entry e = entry_at(b, index);
    *out = (bundle_item){e.arch, e.kernel, (size_t)e.size};
    return true;
}

static bool look_up(const bundle *b, const entry *key, unsigned *at)
{
    unsigned low = 0, high = b->count;
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        const entry e = entry_at(b, middle);
        const int c = compare_entries(&e, key);
        if (c == 0) {
            *at = middle;
            return true;
        }
        if (c < 0) low = middle + 1;
        else high = middle;
    }
    return false;
}

/* Writes to `error` why nothing was found: what the bundle has instead. */
static void explain(const bundle *b, const char *arch, const char *kernel, char *error)
{
    const char *last = "";
    bool has_arch = false, has_kernel = false;
    size_t n = (size_t)snprintf(error, bundle_error_size, "the bundle has no code for %s; it has", arch);
    for (unsigned i = 0; i < b->count; i++) {
        const entry e = entry_at(b, i);
        const bool of_arch = strcmp(e.arch, arch) == 0;
        has_arch |= of_arch, has_kernel |= of_arch && strcmp(e.kernel, kernel) == 0;
        if (strcmp(e.arch, last) == 0) continue;
        if (n < bundle_error_size) n += (size_t)snprintf(error + n, bundle_error_size - n, "%s %s", *last ? "," : "", e.arch);
        last = e.arch;
    }
    if (!*last && n < bundle_error_size) snprintf(error + n, bundle_error_size - n, " none");
    if (has_kernel)
        snprintf(error, bundle_error_size,
                 "the bundle has a kernel %s for %s, of another source: other dims, dtype or fusion, or made by another version of tfgen",
                 kernel, arch);
    else if (has_arch)
        snprintf(error, bundle_error_size, "the bundle has code for %s, but no kernel %s: it was made from other plans", arch, kernel);
}

static bundle_found find_for(const bundle *b, const char *arch, const char *kernel, const char *source, size_t source_size,
                             const void **code, size_t *size, char *error)
{
    const entry key = {.arch = arch, .kernel = kernel, .source = XXH3_128bits(source, source_size), .source_size = source_size};
    unsigned at;
    if (!look_up(b, &key, &at)) {
        explain(b, arch, kernel, error);
        return bundle_missing;
    }
    const entry e = entry_at(b, at);
    if (XXH3_64bits(b->data + e.offset, (size_t)e.size) != e.hash) {
        refuse(error, "bundle: offset %llu: the code of %s for %s was changed", (unsigned long long)e.offset, kernel, arch);
        return bundle_broken;
    }
    *code = b->data + e.offset;
    *size = (size_t)e.size;
    return bundle_ok;
}

static bundle_found find_host(const bundle *b, const char *kernel, const char *source, size_t source_size, const void **code, size_t *size,
                              char *error)
{
    size_t count;
    const char *const *levels = bundle_host_levels(&count);
    refuse(error, "host code is not built ahead of time for this kind of processor");
    for (size_t i = 0; i < count; i++) {
        char arch[48];
        if (!bundle_host_level_runs(levels[i])) continue;
        bundle_host_arch(levels[i], arch);
        const bundle_found found = find_for(b, arch, kernel, source, source_size, code, size, error);
        if (found != bundle_missing) return found;
    }
    return bundle_missing;
}

/* Code for sm_80 runs on later GPUs of compute capability 8.x, but not on the embedded sm_87. */
static bool runs_sm_80(const char *arch) { return strcmp(arch, "sm_86") == 0 || strcmp(arch, "sm_89") == 0; }

bundle_found bundle_find(const bundle *b, const char *arch, const char *kernel, const char *source, size_t source_size, const void **code,
                         size_t *size, char error[bundle_error_size])
{
    char plain[64];
    const size_t n = strcspn(arch, ":");
    if (strcmp(arch, "host") == 0) return find_host(b, kernel, source, source_size, code, size, error);
    const bundle_found found = find_for(b, arch, kernel, source, source_size, code, size, error);
    if (found == bundle_missing && runs_sm_80(arch)) return find_for(b, "sm_80", kernel, source, source_size, code, size, error);
    if (found != bundle_missing || !arch[n] || n >= sizeof plain) return found;
    snprintf(plain, sizeof plain, "%.*s", (int)n, arch);
    return find_for(b, plain, kernel, source, source_size, code, size, error);
}

/* ---- the host */
#ifdef __x86_64__
static const char *const levels[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2"};

const char *const *bundle_host_levels(size_t *count)
{
    *count = sizeof levels / sizeof *levels;
    return levels;
}

static bool has_f16c_movbe_lzcnt(void)
{
    unsigned a, b, c = 0, d, extended = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid(0x80000001, &a, &b, &extended, &d)) return false;
    return (c >> 29 & 1) && (c >> 22 & 1) && (extended >> 5 & 1);
}

bool bundle_host_level_runs(const char *level)
{
    const bool two = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("ssse3");
    const bool three = two && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                       __builtin_cpu_supports("bmi2") && has_f16c_movbe_lzcnt();
    const bool four = three && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return strcmp(level, levels[0]) == 0 ? four : strcmp(level, levels[1]) == 0 ? three : strcmp(level, levels[2]) == 0 && two;
}
#else
static const char *const levels[] = {"armv8-a"};

const char *const *bundle_host_levels(size_t *count)
{
#ifdef __aarch64__
    *count = 1;
#else
    *count = 0;
#endif
    return levels;
}

bool bundle_host_level_runs(const char *level) { return strcmp(level, levels[0]) == 0; }
#endif

void bundle_host_arch(const char *level, char arch[48]) { snprintf(arch, 48, "host-%s-abi%d", level, HS_ABI_VERSION); }
