/* In: a compile's result and its key, or an entry's file. Out: the entry's bytes, or the result. Refuses entries that are incomplete or do
 * not match their seal, and files that are not regular or that anyone but this user and root can write. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "runtime/cache/cache_parts.h"
#include "runtime/system/environment.h"

/* An entry is the compiler's output (payload), the key as text, a note (compiler, log, facts) and the seal, in this order, so that loaders
 * and objdump, which ignore bytes after an ELF file's end, accept an entry as it is. Numbers are little-endian.
 *   seal: magic 16, sizes of payload, key and note 8 each, zero 8, XXH3-128 (canonical) of everything before it 16 */
enum { seal_size = 64, hash_size = 16, touch_seconds = 60 };
static const char magic[16] = "tfgen entry 1\n";
static const char no_code[] = "none"; /* payload of a kernel refused for its spills, as payloads are never empty */

/* ---- numbers and strings ---- */

static void put_number(FILE *f, unsigned long long n, int bytes)
{
    for (int i = 0; i < bytes; i++) putc((int)(n >> 8 * i & 255), f);
}

static unsigned long long get_number(const unsigned char *p, int bytes)
{
    unsigned long long n = 0;
    for (int i = 0; i < bytes; i++) n |= (unsigned long long)p[i] << 8 * i;
    return n;
}

static const unsigned no_string = ~0u;

static void put_string(FILE *f, const char *s)
{
    put_number(f, s ? strlen(s) : no_string, 4);
    if (s) fwrite(s, 1, strlen(s), f);
}

typedef struct reader {
    const unsigned char *at, *end;
    bool bad;
} reader;

static unsigned read_number(reader *r)
{
    if (r->bad || r->end - r->at < 4) return r->bad = true, 0;
    r->at += 4;
    return (unsigned)get_number(r->at - 4, 4);
}

static char *read_string(reader *r)
{
    const unsigned size = read_number(r);
    if (r->bad || size == no_string) return NULL;
    if (size > (size_t)(r->end - r->at) || memchr(r->at, 0, size)) return r->bad = true, NULL;
    char *s = strndup((const char *)r->at, size);
    r->bad = !s;
    r->at += size;
    return s;
}

/* ---- the note ---- */

/* Addresses of all numbers of the facts, in the order of the file; a new one requires a new cache_format. */
static void fact_numbers(kernel_facts *k, unsigned *out[10])
{
    unsigned *const all[10] = {&k->vgprs,         &k->agprs,     &k->sgprs,         &k->vgpr_spills, &k->sgpr_spills,
                               &k->scratch_bytes, &k->lds_bytes, &k->kernarg_bytes, &k->max_threads, &k->wave};
    _Static_assert(sizeof(kernel_facts) == sizeof(char *) + sizeof all / sizeof *all * sizeof(unsigned), "a fact is not in entries");
    memcpy(out, all, sizeof all);
}

static void put_note(FILE *f, const code_result *r)
{
    put_string(f, r->compiler);
    put_string(f, r->log);
    put_number(f, r->n_kernels, 4);
    for (size_t i = 0; i < r->n_kernels; i++) {
        kernel_facts k = r->kernels[i];
        unsigned *numbers[10];
        fact_numbers(&k, numbers);
        put_string(f, k.name);
        for (int n = 0; n < 10; n++) put_number(f, *numbers[n], 4);
    }
    if (r->status != build_ok) put_number(f, r->status, 1);
}

static bool read_note(reader r, code_result *out)
{
    enum { least_kernel = 44 };
    out->compiler = read_string(&r);
    out->log = read_string(&r);
    const unsigned n = read_number(&r);
    if (r.bad || n > (size_t)(r.end - r.at) / least_kernel) return false;
    out->kernels = n ? calloc(n, sizeof *out->kernels) : NULL;
    if (n && !out->kernels) return false;
    for (; out->n_kernels < n && !r.bad; out->n_kernels++) {
        kernel_facts *k = &out->kernels[out->n_kernels];
        unsigned *numbers[10];
        fact_numbers(k, numbers);
        k->name = read_string(&r);
        for (int i = 0; i < 10; i++) *numbers[i] = read_number(&r);
        if (!k->name) r.bad = true;
    }
    if (!r.bad && r.at + 1 == r.end) {
        if (*r.at == build_failed) out->status = build_failed;
        r.at++;
    }
    return !r.bad && r.at == r.end;
}

/* ---- keys ---- */

const char *const cache_kind_names[cache_kind_count] = {"code", "host"};

/* Writes one line of the key. Control characters and backslashes of the value are escaped, so that different values give different
 * lines. */
static void put_line(FILE *f, const char *label, const char *value)
{
    fprintf(f, "%s ", label);
    for (const char *p = value ? value : ""; *p; p++)
        if ((unsigned char)*p < ' ' || *p == '\\' || *p == 127) fprintf(f, "\\%02x", (unsigned char)*p);
        else putc(*p, f);
    putc('\n', f);
}

char *cache_key(const cache_parts *p)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    const XXH128_hash_t hash = XXH3_128bits(p->source, p->size);
    fprintf(f, "tfgen %d %s\n", cache_format, cache_kind_names[p->kind]);
    put_line(f, "name", p->name);
    put_line(f, "arch", p->arch);
    put_line(f, "compiler", p->compiler);
    put_line(f, "options", p->options);
    for (const char *const *name = environment_of_compilers; *name; name++) {
        const char *value = secure_getenv(*name);
        if (!value || !*value) continue;
        fprintf(f, "environment %s=", *name);
        put_line(f, "", value);
    }
    /* Two hash functions, against accidental collisions of one. */
    fprintf(f, "source %zu %016llx%016llx %016llx\n", p->size, (unsigned long long)hash.high64, (unsigned long long)hash.low64,
            (unsigned long long)XXH64(p->source, p->size, 0));
    if (fclose(f) == 0) return text;
    free(text);
    return NULL;
}

void entry_id(const char *key, size_t size, char id[cache_id_length + 1])
{
    const XXH128_hash_t hash = XXH3_128bits(key, size);
    snprintf(id, cache_id_length + 1, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

static const char *key_of(const cache_entry *e) { return (const char *)e->bytes + e->payload_size; }

bool entry_has_key(const cache_entry *e, const char *key)
{
    return e->key_size == strlen(key) && !memcmp(key_of(e), key, e->key_size);
}

char *entry_key_line(const cache_entry *e, const char *label)
{
    const size_t n = strlen(label);
    for (const char *p = key_of(e), *end = p + e->key_size, *next; p < end; p = next + 1) {
        next = memchr(p, '\n', (size_t)(end - p));
        if (!next) break;
        if ((size_t)(next - p) > n && !memcmp(p, label, n) && p[n] == ' ') return strndup(p + n + 1, (size_t)(next - p) - n - 1);
    }
    return strdup("");
}

/* ---- the whole ---- */

static void seal_hash(const unsigned char *bytes, size_t size, unsigned char out[hash_size])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, size));
    memcpy(out, canonical.digest, hash_size);
}

unsigned char *entry_encode(const char *key, const code_result *r, size_t *size)
{
    char *text = NULL;
    unsigned char hash[hash_size];
    FILE *f = open_memstream(&text, size);
    if (!f) return NULL;
    const bool good = r->status == build_ok;
    const size_t payload = good ? r->code_size : sizeof no_code;
    fwrite(good ? (const void *)r->code : no_code, 1, payload, f);
    fputs(key, f);
    const long note = ftell(f);
    put_note(f, r);
    const long end = ftell(f);
    fwrite(magic, 1, sizeof magic, f);
    put_number(f, payload, 8);
    put_number(f, strlen(key), 8);
    put_number(f, (unsigned long long)(end - note), 8);
    put_number(f, 0, 8);
    bool ok = !fflush(f);
    if (ok) {
        seal_hash((unsigned char *)text, *size, hash);
        ok = fwrite(hash, 1, hash_size, f) == hash_size;
    }
    if (fclose(f) == 0 && ok) return (unsigned char *)text;
    free(text);
    return NULL;
}

const char *entry_parse(unsigned char *bytes, size_t size, cache_entry *e)
{
    unsigned char hash[hash_size];
    if (size < seal_size) return "shorter than a seal";
    const unsigned char *seal = bytes + size - seal_size;
    if (memcmp(seal, magic, sizeof magic)) return "no seal at its end";
    const unsigned long long payload = get_number(seal + 16, 8), key = get_number(seal + 24, 8), note = get_number(seal + 32, 8);
    const unsigned long long room = size - seal_size;
    if (payload > room || key > room - payload || note != room - payload - key) return "its sizes do not add up";
    if (!payload || !key) return "it is empty";
    seal_hash(bytes, size - hash_size, hash);
    if (memcmp(hash, bytes + size - hash_size, hash_size)) return "its content does not match its seal";
    *e = (cache_entry){bytes, size, (size_t)payload, (size_t)key, (size_t)note};
    return NULL;
}

/* Reads `size` bytes of a file; NULL: it is shorter now (another process may truncate it), or no memory. The caller frees them. */
static unsigned char *read_all(int file, size_t size)
{
    unsigned char *bytes = malloc(size ? size : 1);
    size_t at = 0;
    for (ssize_t n = 1; bytes && at < size && n > 0; at += n > 0 ? (size_t)n : 0) n = pread(file, bytes + at, size - at, (off_t)at);
    if (bytes && at == size) return bytes;
    free(bytes);
    return NULL;
}

/* Marks the entry as used, for eviction, at most once in touch_seconds to save writes on network file systems. Returns the seconds since
 * its last use. */
static double touch(int file, const struct stat *s)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const double age = (double)(now.tv_sec - s->st_mtim.tv_sec) + 1e-9 * (double)(now.tv_nsec - s->st_mtim.tv_nsec);
    if (file >= 0 && (age > touch_seconds || age < -touch_seconds)) futimens(file, NULL);
    return age;
}

const char *entry_read(int folder, const char *name, cache_entry *e, double *age)
{
    /* O_NONBLOCK: opening a FIFO would wait for a writer. */
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat s;
    const char *fault = NULL;
    if (file < 0) return "it cannot be opened";
    if (fstat(file, &s)) fault = "it cannot be read";
    else if (!S_ISREG(s.st_mode)) fault = "it is not a regular file";
    else if ((s.st_uid != geteuid() && s.st_uid != 0) || (s.st_mode & 022)) fault = "others can write it";
    else if (s.st_size > cache_most_entry) fault = "it is too large";
    unsigned char *bytes = fault ? NULL : read_all(file, (size_t)s.st_size);
    if (!fault) fault = bytes ? entry_parse(bytes, (size_t)s.st_size, e) : "it cannot be read";
    if (age) *age = fault && !bytes ? 0 : touch(-1, &s);
    else if (!fault) touch(file, &s);
    close(file);
    if (fault) free(bytes);
    return fault;
}

bool entry_take(cache_entry *e, code_result *out)
{
    const unsigned char *note = e->bytes + e->payload_size + e->key_size;
    *out = (code_result){.status = build_ok};
    if (!read_note((reader){note, note + e->note_size, false}, out)) {
        code_result_free(out);
        return false;
    }
    if (out->status != build_ok) {
        free(e->bytes);
        e->bytes = NULL;
        return true;
    }
    unsigned char *smaller = realloc(e->bytes, e->payload_size);
    out->code = smaller ? smaller : e->bytes;
    out->code_size = e->payload_size;
    e->bytes = NULL;
    return true;
}
