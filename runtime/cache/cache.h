/* In: requests for code. Out: for each exactly the result of code_compile(), from the kernel cache if possible. Entries are not trusted:
 * one that is truncated or modified, that has another key, that another user owns, or that is not a regular file counts as missing and is
 * made again. All calls are thread-safe; many processes may share one folder, also on a network file system (docs/cache.md). */
#ifndef TFGEN_CACHE_H
#define TFGEN_CACHE_H
#include <stdio.h>
#include "runtime/compile/compiler.h"

/* Every function accepts NULL as a cache that stores nothing. */
typedef struct cache cache;

typedef struct cache_options {
    const char *directory; /* NULL: cache_directory(); "": no cache */
    long long most_bytes;  /* of all entries; 0: TFGEN_CACHE_SIZE (bytes, or with K, M, G), else 1 GiB */
    double wait_seconds;   /* most time to wait for another process that makes the entry; 0: 120; half as long if that process may be
                            * dead */
    void (*warn)(void *context, const char *text); /* entries cannot be written; called at most once per cache, from any thread */
    void *context;
} cache_options;

/* Touches no file. Returns NULL without memory, or if caching is off. options NULL: the defaults. */
cache *cache_open(const cache_options *options);
void cache_close(cache *c);
/* TFGEN_CACHE_DIR, else XDG_CACHE_HOME/tfgen, else ~/.cache/tfgen; "" (caching is off) if TFGEN_CACHE_DIR is empty or there is no home. The
 * caller frees it; NULL without memory. */
char *cache_directory(void);
const char *cache_path(const cache *c); /* the folder; NULL: caching is off */
/* Why the folder is not used: another user owns it, or others may write to it. NULL: it is used. */
const char *cache_fault(const cache *c);

/* code_compile_all() through the cache: hit[i] (hit may be NULL) is set before progress is called for a cached result; new results are
 * stored. Waits for entries that another process is compiling. */
code_status cache_compile_all(cache *c, const code_request *requests, size_t n, int jobs, code_result *out, bool *hit,
                              code_progress *progress, void *context);
/* True: *out is a stored result of code_compile(); the caller frees it. Never compiles. */
bool cache_lookup(cache *c, const code_request *request, code_result *out);

/* ---- entries of any kind; the host engine stores its shared objects with these ---- */

typedef enum cache_kind { cache_code, cache_host, cache_kind_count } cache_kind; /* each has a subfolder */
extern const char *const cache_kind_names[cache_kind_count];

/* What determines an entry's content. On loading, every part is compared as text; of the source, its length and two hashes. The key also
 * includes the variables in environment_of_compilers. */
typedef struct cache_parts {
    cache_kind kind;
    const char *name, *arch, *compiler, *options;
    const char *source;
    size_t size;
} cache_parts;
char *cache_key(const cache_parts *parts); /* text; the caller frees it. NULL without memory */

/* True: *out is filled and the caller frees it. It holds the verified bytes, not a file name, since the file could have been replaced. */
bool cache_find(cache *c, cache_kind kind, const char *key, code_result *out);
/* False: it could not be written (after a warning) and is kept in memory. */
bool cache_store(cache *c, cache_kind kind, const char *key, const code_result *r);

/* A marker file: a process is making this entry. Claims only avoid duplicate work; correctness does not depend on them. */
typedef struct cache_claim cache_claim;
/* Like cache_find(), but if the entry is missing, waits while another process makes it. False: the caller makes the entry, stores it and
 * ends the claim (which may be NULL). */
bool cache_find_or_claim(cache *c, cache_kind kind, const char *key, code_result *out, cache_claim **claim);
void cache_claim_end(cache_claim *claim);

/* ---- what `tfgen cache` does ---- */

typedef struct cache_info {
    cache_kind kind;
    char id[33];
    long long bytes;
    double age; /* seconds since it was last used, within a minute */
    const char *name, *arch, *compiler; /* "" when broken */
    const char *fault;                  /* NULL: valid; else the reason */
} cache_info;
/* Reads and checks every entry. */
void cache_walk(cache *c, void (*visit)(void *context, const cache_info *info), void *context);

typedef struct cache_counts {
    long long kept, kept_bytes, removed, removed_bytes, known, refused; /* known: imported, but present already */
    long long stuck;                                                    /* could not be removed */
    int reason;                                                         /* errno of the last such failure */
} cache_counts;
/* Removes least recently used entries until the rest fits, and leftovers of dead processes. most_bytes < 0: the cache's own limit. */
cache_counts cache_sweep(cache *c, long long most_bytes);
enum { cache_error_size = 256 };
/* Writes all valid entries as one archive. False: error has the reason. */
bool cache_export(cache *c, FILE *out, cache_counts *counts, char error[cache_error_size]);
/* Adds an archive's entries after checking each; invalid ones are counted as refused. False: the archive itself is broken, or the folder
 * cannot be written; entries added before that stay. */
bool cache_import(cache *c, FILE *in, cache_counts *counts, char error[cache_error_size]);
#endif
