/* In: requests for code. Out: for each exactly what code_compile() gives, from the kernel cache where it has it. Refuses to trust an
 * entry: one that is torn, changed, of another key, of another user or no plain file counts as missing and is made again. All calls
 * are thread-safe; many processes may share one folder, on a network file system too (docs/cache.md). */
#ifndef TFGEN_CACHE_H
#define TFGEN_CACHE_H
#include <stdio.h>
#include "runtime/compile/compiler.h"

/* NULL is a cache that keeps nothing, wherever a cache is taken. */
typedef struct cache cache;

typedef struct cache_options {
    const char *directory; /* NULL: cache_directory(); "": nothing is kept */
    long long most_bytes;  /* of all entries; 0: TFGEN_CACHE_SIZE (bytes, or with K, M, G), else 1 GiB */
    double wait_seconds;   /* for another process that makes an entry now; 0: 120. One whose life cannot be told: half of it */
    void (*warn)(void *context, const char *text); /* at most once a cache: entries cannot be written; from any thread */
    void *context;
} cache_options;

/* Touches no file. NULL without memory, or when nothing is kept. options NULL: the defaults. */
cache *cache_open(const cache_options *options);
void cache_close(cache *c);
/* TFGEN_CACHE_DIR, XDG_CACHE_HOME/tfgen, ~/.cache/tfgen; "" when TFGEN_CACHE_DIR is empty (or there is no home): off. The caller
 * frees it; NULL without memory. */
char *cache_directory(void);
const char *cache_path(const cache *c); /* the folder; NULL: keeps nothing */
/* Why nothing is read from the folder and nothing written into it: it is another user's, or others may write it. NULL: it is used. */
const char *cache_fault(const cache *c);

/* As code_compile_all(), with what the cache has (hit[i] is true then, also while progress is called for it). Stores what was
 * compiled. What another process compiles right now is waited for. hit may be NULL. */
code_status cache_compile_all(cache *c, const code_request *requests, size_t n, int jobs, code_result *out, bool *hit,
                              code_progress *progress, void *context);
/* True: *out is what code_compile() gave once; the caller frees it. Compiles nothing. */
bool cache_lookup(cache *c, const code_request *request, code_result *out);

/* ---- entries of any kind: the host engine keeps its shared objects by these ---- */

typedef enum cache_kind { cache_code, cache_host, cache_kind_count } cache_kind; /* each has a subfolder */
extern const char *const cache_kind_names[cache_kind_count];

/* What decides an entry's content. Every part is compared in clear when an entry is loaded; of the source its length and two hashes. The
 * key has the variables of environment_of_compilers as well. */
typedef struct cache_parts {
    cache_kind kind;
    const char *name, *arch, *compiler, *options;
    const char *source;
    size_t size;
} cache_parts;
char *cache_key(const cache_parts *parts); /* text; the caller frees it. NULL without memory */

/* True: *out is filled, the caller's. Its bytes are those that were checked; nobody is told their file, which could be another by now. */
bool cache_find(cache *c, cache_kind kind, const char *key, code_result *out);
/* False: it could not be written (a warning was given) and is kept in memory. */
bool cache_store(cache *c, cache_kind kind, const char *key, const code_result *r);

/* Who makes an entry now: a mark beside it. Marks only save work: nothing goes wrong without them. */
typedef struct cache_claim cache_claim;
/* As cache_find(); when there is nothing, waits while another process makes it, and at last returns false: then the caller makes it,
 * stores it and ends its claim (NULL is fine). */
bool cache_find_or_claim(cache *c, cache_kind kind, const char *key, code_result *out, cache_claim **claim);
void cache_claim_end(cache_claim *claim);

/* ---- what `tfgen cache` does ---- */

typedef struct cache_info {
    cache_kind kind;
    char id[33];
    long long bytes;
    double age; /* seconds since it was last used, within a minute */
    const char *name, *arch, *compiler; /* "" when broken */
    const char *fault;                  /* NULL: good. Else why not */
} cache_info;
/* Reads and checks every entry. */
void cache_walk(cache *c, void (*visit)(void *context, const cache_info *info), void *context);

typedef struct cache_counts {
    long long kept, kept_bytes, removed, removed_bytes, known, refused; /* known: imported ones that were there */
    long long stuck;                                                    /* should go and could not be removed */
    int reason;                                                         /* errno of the last of those */
} cache_counts;
/* Removes the entries that were not used for longest until the rest fits, and what dead processes left. most_bytes < 0: the cap. */
cache_counts cache_sweep(cache *c, long long most_bytes);
enum { cache_error_size = 256 };
/* One archive of all good entries. False: error says why. */
bool cache_export(cache *c, FILE *out, cache_counts *counts, char error[cache_error_size]);
/* Adds an archive's entries, each checked; those that are wrong are counted as refused. False: the archive itself is broken, or the
 * folder cannot be written; entries before that are kept. */
bool cache_import(cache *c, FILE *in, cache_counts *counts, char error[cache_error_size]);
#endif
