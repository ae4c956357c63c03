/* In: the cache's entries, or an archive. Out: an archive, or entries. Refuses truncated archives and wrong sizes, and every entry that is
 * not valid by itself; file names come from keys, never from the archive. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/cache/cache_parts.h"
#include "runtime/compile/codeobject.h"

/* Format: "tfgen archive 1\n"; per entry its kind (1: code, 2: host) and size, 8 bytes each, little-endian, and the bytes of its file in
 * the cache; at the end kind 0 and the number of entries. */
static const char magic[16] = "tfgen archive 1\n";

/* Why this cache would not have written such an entry; NULL: it could have. */
static const char *fault_of(const cache_entry *e, cache_kind kind)
{
    char first[32], error[codeobject_error_size];
    const int n = snprintf(first, sizeof first, "tfgen %d %s\n", cache_format, cache_kind_names[kind]);
    if (e->key_size < (size_t)n || memcmp(e->bytes + e->payload_size, first, (size_t)n)) return "its key has another kind or version";
    if (memchr(e->bytes + e->payload_size, 0, e->key_size)) return "its key is not text";
    cache_entry copy = *e;
    code_result r;
    if (!(copy.bytes = malloc(e->size))) return "no memory";
    memcpy(copy.bytes, e->bytes, e->size);
    if (!entry_take(&copy, &r)) return free(copy.bytes), "its note is incomplete";
    const char *fault = NULL;
    codeobject object;
    if (r.status != build_ok) {
        if (kind != cache_code) fault = "it holds no code";
    } else if (kind == cache_code && !codeobject_read(r.code, r.code_size, &object, error)) {
        fault = "it holds no code object";
    } else if (kind == cache_code) {
        char *arch = entry_key_line(e, "arch");
        const size_t base = arch ? strcspn(arch, ":") : 0, said = strlen(object.arch);
        const bool nvidia = arch && !strncmp(arch, "sm_", 3); /* a cubin for sm_90a is marked sm_90 */
        if (!arch || strncmp(arch, object.arch, said) || (said != base && !(nvidia && said + 1 == base)))
            fault = "its code is for another architecture";
        free(arch);
        codeobject_free(&object);
    }
    code_result_free(&r);
    return fault;
}

static const char *read_good(const cache *c, const folder_item *item, cache_entry *e, double *age)
{
    char id[cache_id_length + 1];
    const char *fault = folder_read(c, item->kind, item->id, e, age);
    if (fault) return *e = (cache_entry){0}, fault;
    entry_id((const char *)e->bytes + e->payload_size, e->key_size, id);
    fault = strcmp(id, item->id) ? "its name is not that of its key" : fault_of(e, item->kind);
    return fault;
}

void cache_walk(cache *c, void (*visit)(void *context, const cache_info *info), void *context)
{
    size_t count = 0;
    folder_item *items = c ? folder_list(c, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        cache_entry e;
        double age = 0;
        cache_info info = {.kind = items[i].kind, .bytes = items[i].bytes, .fault = read_good(c, &items[i], &e, &age)};
        const bool good = !info.fault;
        char *name = good ? entry_key_line(&e, "name") : NULL, *arch = good ? entry_key_line(&e, "arch") : NULL;
        code_result r = {0};
        if (good && !entry_take(&e, &r)) info.fault = "no memory";
        memcpy(info.id, items[i].id, sizeof info.id);
        info.age = age > 0 ? age : 0;
        info.name = name ? name : "";
        info.arch = arch ? arch : "";
        info.compiler = r.compiler ? r.compiler : "";
        visit(context, &info);
        free(e.bytes);
        code_result_free(&r);
        free(name);
        free(arch);
    }
    free(items);
}

/* ---- archives ---- */

static bool put_number(FILE *f, unsigned long long n)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(n >> 8 * i);
    return fwrite(bytes, 1, 8, f) == 8;
}

static bool get_number(FILE *f, unsigned long long *n)
{
    unsigned char bytes[8];
    *n = 0;
    if (fread(bytes, 1, 8, f) != 8) return false;
    for (int i = 0; i < 8; i++) *n |= (unsigned long long)bytes[i] << 8 * i;
    return true;
}

static bool fail(char error[cache_error_size], const char *text)
{
    snprintf(error, cache_error_size, "%s", text);
    return false;
}

bool cache_export(cache *c, FILE *out, cache_counts *counts, char error[cache_error_size])
{
    size_t count = 0;
    folder_item *items = c ? folder_list(c, &count) : NULL;
    *counts = (cache_counts){0};
    bool ok = fwrite(magic, 1, sizeof magic, out) == sizeof magic;
    for (size_t i = 0; i < count && ok; i++) {
        cache_entry e;
        double age;
        if (read_good(c, &items[i], &e, &age)) {
            counts->refused++;
        } else {
            ok = put_number(out, (unsigned long long)items[i].kind + 1) && put_number(out, e.size) &&
                 fwrite(e.bytes, 1, e.size, out) == e.size;
            counts->kept++;
            counts->kept_bytes += (long long)e.size;
        }
        free(e.bytes);
    }
    ok = ok && put_number(out, 0) && put_number(out, (unsigned long long)counts->kept) && fflush(out) == 0;
    if (!ok) fail(error, strerror(errno));
    free(items);
    return ok;
}

/* The buffer grows as bytes arrive, so a false size cannot allocate much. The caller frees it; NULL: too few bytes, or no memory. */
static unsigned char *read_bytes(FILE *in, size_t size)
{
    unsigned char *bytes = NULL;
    for (size_t at = 0, room = 0; at < size;) {
        room = room ? 2 * room : 1 << 16;
        if (room > size) room = size;
        unsigned char *grown = realloc(bytes, room);
        if (grown) bytes = grown;
        const size_t n = grown ? fread(bytes + at, 1, room - at, in) : 0;
        at += n;
        if (!grown || (at < room)) return free(bytes), NULL;
    }
    return bytes;
}

/* Takes ownership of bytes. NULL, or why the folder cannot be written. */
static const char *import_one(cache *c, cache_kind kind, unsigned char *bytes, size_t size, cache_counts *counts)
{
    char id[cache_id_length + 1];
    cache_entry e, there;
    double age;
    const char *why = NULL;
    if (entry_parse(bytes, size, &e) || fault_of(&e, kind) || (long long)size > c->most_bytes) {
        counts->refused++;
        return free(bytes), NULL;
    }
    folder_item item = {.kind = kind};
    entry_id((const char *)bytes + e.payload_size, e.key_size, id);
    memcpy(item.id, id, sizeof id);
    if (!read_good(c, &item, &there, &age)) counts->known++;
    else if (!(why = folder_put(c, kind, id, bytes, size))) counts->kept++, counts->kept_bytes += (long long)size;
    free(there.bytes);
    free(bytes);
    return why;
}

static bool import_all(cache *c, FILE *in, cache_counts *counts, char error[cache_error_size])
{
    char head[sizeof magic];
    unsigned long long kind, size;
    if (fread(head, 1, sizeof head, in) != sizeof head || memcmp(head, magic, sizeof magic))
        return fail(error, "it is not an archive of tfgen's cache");
    for (unsigned long long n = 0;; n++) {
        if (!get_number(in, &kind) || !get_number(in, &size)) return fail(error, "the archive is truncated");
        if (kind == 0) return size == n && getc(in) == EOF ? true : fail(error, "the archive's end is wrong");
        if (kind > cache_kind_count || size > cache_most_entry) return fail(error, "the archive is damaged");
        unsigned char *bytes = read_bytes(in, (size_t)size);
        if (!bytes) return fail(error, "the archive is truncated");
        const char *why = import_one(c, (cache_kind)(kind - 1), bytes, (size_t)size, counts);
        if (why) {
            snprintf(error, cache_error_size, "the cache %.150s cannot be written: %s", c->directory, why);
            return false;
        }
    }
}

bool cache_import(cache *c, FILE *in, cache_counts *counts, char error[cache_error_size])
{
    *counts = (cache_counts){0};
    if (!c) return fail(error, "the cache is off");
    const bool ok = import_all(c, in, counts, error);
    cache_sweep(c, -1);
    return ok;
}
