/* In: requests. Out: results, from entries or from compilers. Where entries cannot be read or written, results are compiled and kept in
 * memory, with one warning. */
#define _GNU_SOURCE
#include "runtime/cache/cache.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "runtime/cache/cache_parts.h"
#include "runtime/system/parallel.h"
#include "runtime/compile/worker.h"

enum { default_wait = 120, poll_ms = 15 };
static const long long default_bytes = 1LL << 30, default_most_kept = 256LL << 20;

/* ---- opening ---- */

char *cache_directory(void)
{
    const char *own = secure_getenv("TFGEN_CACHE_DIR"), *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    if (own) return strdup(own);
    if (xdg && *xdg == '/') return printed("%s/tfgen", xdg);
    return home && *home == '/' ? printed("%s/.cache/tfgen", home) : strdup("");
}

/* Bytes of a text such as "500M"; -1: invalid. */
static long long bytes_of(const char *text)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    const char *unit = *end ? strchr(units, *end & ~32) : NULL;
    if (end == text || errno || n < 0 || (*end && (!unit || end[1]))) return -1;
    for (int i = unit ? (int)(unit - units) + 1 : 0; i > 0; i--)
        if (__builtin_mul_overflow(n, 1024, &n)) return -1;
    return n;
}

static long long size_cap(cache *c)
{
    const char *text = secure_getenv("TFGEN_CACHE_SIZE");
    if (!text || !*text) return default_bytes;
    const long long n = bytes_of(text);
    if (n < 0) cache_warn(c, "TFGEN_CACHE_SIZE=%s is not a number of bytes (such as 500M); the kernel cache keeps 1G", text);
    return n < 0 ? default_bytes : n;
}

cache *cache_open(const cache_options *options)
{
    const cache_options o = options ? *options : (cache_options){0};
    cache *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->directory = o.directory ? strdup(o.directory) : cache_directory();
    c->warn = o.warn;
    c->context = o.context;
    c->wait_seconds = o.wait_seconds > 0 ? o.wait_seconds : default_wait;
    c->most_kept = default_most_kept;
    pthread_mutex_init(&c->lock, NULL);
    c->most_bytes = o.most_bytes > 0 ? o.most_bytes : size_cap(c);
    if (c->directory && *c->directory && c->most_bytes) return c;
    cache_close(c);
    return NULL;
}

struct cache_kept {
    cache_kept *next;
    unsigned char *bytes;
    size_t size;
    cache_kind kind;
};

void cache_close(cache *c)
{
    if (!c) return;
    for (cache_kept *k = c->kept, *next; k; k = next) {
        next = k->next;
        free(k->bytes);
        free(k);
    }
    pthread_mutex_destroy(&c->lock);
    free(c->directory);
    free(c);
}

const char *cache_path(const cache *c) { return c ? c->directory : NULL; }

void cache_warn(cache *c, const char *format, ...)
{
    char *text = NULL;
    va_list list;
    pthread_mutex_lock(&c->lock);
    const bool first = !c->warned;
    c->warned = true;
    pthread_mutex_unlock(&c->lock);
    if (!first || !c->warn) return;
    va_start(list, format);
    if (vasprintf(&text, format, list) < 0) text = NULL;
    va_end(list);
    c->warn(c->context, text ? text : "the kernel cache cannot be written");
    free(text);
}

/* ---- entries ---- */

/* Takes ownership of bytes. */
static void keep(cache *c, cache_kind kind, unsigned char *bytes, size_t size)
{
    cache_kept *k = malloc(sizeof *k);
    pthread_mutex_lock(&c->lock);
    if (k && c->kept_bytes + (long long)size <= c->most_kept) {
        *k = (cache_kept){c->kept, bytes, size, kind};
        c->kept = k;
        c->kept_bytes += (long long)size;
        k = NULL;
        bytes = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    free(k);
    free(bytes);
}

static bool find_kept(cache *c, cache_kind kind, const char *key, code_result *out)
{
    bool found = false;
    pthread_mutex_lock(&c->lock);
    for (cache_kept *k = c->kept; k && !found; k = k->next) {
        cache_entry e, copy;
        if (k->kind != kind || entry_parse(k->bytes, k->size, &e) || !entry_has_key(&e, key)) continue;
        copy = e;
        if (!(copy.bytes = malloc(e.size))) continue;
        memcpy(copy.bytes, e.bytes, e.size);
        found = entry_take(&copy, out);
        if (!found) free(copy.bytes);
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

bool cache_find(cache *c, cache_kind kind, const char *key, code_result *out)
{
    char id[cache_id_length + 1];
    cache_entry e;
    if (!c) return false;
    entry_id(key, strlen(key), id);
    bool found = !folder_read(c, kind, id, &e, NULL);
    if (found && (!entry_has_key(&e, key) || !entry_take(&e, out))) {
        found = false;
        free(e.bytes);
    }
    found = found || find_kept(c, kind, key, out);
    if (!found || kind == cache_code || out->status == build_ok) return found;
    code_result_free(out); /* entries of spilled kernels are for GPU code only */
    return false;
}

bool cache_store(cache *c, cache_kind kind, const char *key, const code_result *r)
{
    char id[cache_id_length + 1];
    const char *why = NULL;
    size_t size;
    const bool spilled = r->status == build_failed && code_spills(r, NULL); /* stored, so that it is not compiled again at every start */
    if (!c || !(spilled || (r->status == build_ok && r->code_size))) return false;
    unsigned char *bytes = entry_encode(key, r, &size);
    if (!bytes) return false;
    entry_id(key, strlen(key), id);
    bool stored = (long long)size <= c->most_bytes && size <= cache_most_entry;
    if (!stored) {
        cache_warn(c, "a kernel of %zu bytes is more than the kernel cache %s may hold (TFGEN_CACHE_SIZE); it is kept in memory only", size,
                   c->directory);
    } else if ((why = folder_put(c, kind, id, bytes, size))) {
        cache_warn(c, "the kernel cache %s cannot be written (%s); kernels are kept in memory only", c->directory, why);
        stored = false;
    }
    if (!stored) return keep(c, kind, bytes, size), false;
    free(bytes);
    folder_grew(c, size);
    return true;
}

static void pause_a_little(void) { nanosleep(&(struct timespec){.tv_nsec = poll_ms * 1000000L}, NULL); }

bool cache_find_or_claim(cache *c, cache_kind kind, const char *key, code_result *out, cache_claim **claim)
{
    cache_watch w = {0};
    *claim = NULL;
    if (!c) return false;
    for (;; pause_a_little()) {
        if (cache_find(c, kind, key, out)) return true;
        const claim_state state = claim_take(c, kind, key, &w, claim);
        if (state == claim_busy) continue;
        if (state == claim_impossible || !cache_find(c, kind, key, out)) return false;
        cache_claim_end(*claim); /* the entry was stored between the look-up and the claim, which is given back */
        *claim = NULL;
        return true;
    }
}

/* ---- requests ---- */

/* Shared by successive requests: the compiler's identity for an architecture and kind. */
typedef struct circumstances {
    const char *arch;
    compiler_kind kind;
    char *compiler;
} circumstances;

/* The caller frees it. NULL if there is no compiler, whose identity is part of the key, or no memory. */
static char *request_key(const code_request *q, circumstances *s)
{
    static const char *const kinds[] = {"auto", "clang", "hiprtc", "nvrtc"};
    if (!s->arch || s->kind != q->compiler || strcmp(s->arch, q->arch)) {
        free(s->compiler);
        s->arch = q->arch;
        s->kind = q->compiler;
        s->compiler = code_compiler_identity(q->arch, q->compiler);
    }
    if (!s->compiler) return NULL;
    return cache_key(&(cache_parts){.kind = cache_code,
                                    .name = q->name,
                                    .arch = q->arch,
                                    .compiler = s->compiler,
                                    .options = kinds[q->compiler],
                                    .source = q->source,
                                    .size = q->size});
}

bool cache_lookup(cache *c, const code_request *q, code_result *out)
{
    circumstances s = {0};
    char *key = c ? request_key(q, &s) : NULL;
    const bool hit = key && cache_find(c, cache_code, key, out);
    free(key);
    free(s.compiler);
    return hit;
}

/* ---- many at once ---- */

typedef struct job {
    size_t index;
    char *key; /* NULL: not cached */
    cache_watch watch;
    double again; /* when to look for the entry again, if another process is compiling it; 0: no other is */
    bool taken;
} job;

typedef struct batch {
    cache *cache;
    const code_request *requests;
    code_result *out;
    bool *hit;
    job *jobs;
    size_t n;
    code_progress *progress;
    void *context;
    pthread_mutex_t lock; /* protects again and taken of jobs, and serialises calls of progress */
} batch;

static void report(batch *b, size_t index, bool hit)
{
    if (b->hit) b->hit[index] = hit;
    if (b->progress) b->progress(b->context, index, &b->out[index]);
}

/* The next job that no thread has taken; waits while other processes compile all of them. NULL: none is left. */
static job *next_job(batch *b)
{
    for (;; pause_a_little()) {
        bool waiting = false;
        const double now = cache_now();
        pthread_mutex_lock(&b->lock);
        for (size_t i = 0; i < b->n; i++) {
            job *j = &b->jobs[i];
            if (j->taken) continue;
            waiting = true;
            if (j->again > now) continue;
            j->taken = true;
            pthread_mutex_unlock(&b->lock);
            return j;
        }
        pthread_mutex_unlock(&b->lock);
        if (!waiting) return NULL;
    }
}

static void put_back(batch *b, job *j)
{
    pthread_mutex_lock(&b->lock);
    j->again = cache_now() + 1e-3 * poll_ms;
    j->taken = false;
    pthread_mutex_unlock(&b->lock);
}

/* False: another process compiles it. */
static bool run_job(batch *b, job *j, bool *hit)
{
    code_result *out = &b->out[j->index];
    cache_claim *claim = NULL;
    *hit = j->key && j->again > 0 && cache_find(b->cache, cache_code, j->key, out);
    if (*hit) return true;
    const claim_state state = j->key ? claim_take(b->cache, cache_code, j->key, &j->watch, &claim) : claim_impossible;
    if (state == claim_busy) return false;
    /* Look again: the claim's last holder, or an equal request, may have stored it since. */
    *hit = j->key && cache_find(b->cache, cache_code, j->key, out);
    if (!*hit) (void)code_compile(&b->requests[j->index], out);
    if (!*hit && j->key) (void)cache_store(b->cache, cache_code, j->key, out);
    cache_claim_end(claim);
    return true;
}

/* Called once per job: returns after doing one, or when other threads have taken all that are left. */
static void do_one(void *context, size_t ignored)
{
    batch *b = context;
    (void)ignored;
    for (job *j; (j = next_job(b));) {
        bool hit;
        if (!run_job(b, j, &hit)) {
            put_back(b, j);
            continue;
        }
        pthread_mutex_lock(&b->lock);
        report(b, j->index, hit);
        pthread_mutex_unlock(&b->lock);
        return;
    }
}

code_status cache_compile_all(cache *c, const code_request *requests, size_t n, int jobs, code_result *out, bool *hit,
                              code_progress *progress, void *context)
{
    if (hit) memset(hit, 0, n * sizeof *hit);
    batch b = {.cache = c, .requests = requests, .out = out, .hit = hit, .progress = progress, .context = context};
    if (!c || !(b.jobs = calloc(n + 1, sizeof *b.jobs))) return code_compile_all(requests, n, jobs, out, progress, context);
    circumstances s = {0};
    for (size_t i = 0; i < n; i++) {
        char *key = request_key(&requests[i], &s);
        if (key && cache_find(c, cache_code, key, &out[i])) {
            free(key);
            report(&b, i, true);
        } else {
            b.jobs[b.n++] = (job){.index = i, .key = key};
        }
    }
    free(s.compiler);
    pthread_mutex_init(&b.lock, NULL);
    run_parallel(b.n, jobs, do_one, &b);
    pthread_mutex_destroy(&b.lock);
    for (size_t i = 0; i < b.n; i++) free(b.jobs[i].key);
    free(b.jobs);
    for (size_t i = 0; i < n; i++)
        if (out[i].status != build_ok) return out[i].status;
    return build_ok;
}
