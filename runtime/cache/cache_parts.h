/* Internal interfaces of the kernel cache: the format of an entry (cache_entry.c), claims (cache_claim.c), the folder (cache_folder.c).
 * runtime/cache/cache.h has the contract. */
#ifndef TFGEN_CACHE_PARTS_H
#define TFGEN_CACHE_PARTS_H
#include <pthread.h>
#include "runtime/cache/cache.h"

enum { cache_format = 1, cache_id_length = 32, cache_most_entry = 512 << 20 };

typedef struct cache_kept cache_kept; /* an entry in memory */

struct cache {
    char *directory;
    long long most_bytes, most_kept; /* limits: of all entries in the folder; of those kept in memory */
    double wait_seconds;
    void (*warn)(void *context, const char *text);
    void *context;
    pthread_mutex_t lock; /* guards all fields below */
    bool warned;
    cache_kept *kept;
    long long kept_bytes, stored_bytes; /* in memory; in files since the last sweep */
};

void cache_warn(cache *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- cache_entry.c: payload, key, note, seal ---- */

typedef struct cache_entry {
    unsigned char *bytes; /* the payload first */
    size_t size, payload_size, key_size, note_size;
} cache_entry;

/* The bytes of an entry; NULL without memory. */
unsigned char *entry_encode(const char *key, const code_result *r, size_t *size);
/* NULL: valid. Else the reason; then no part of `bytes` is used. */
const char *entry_parse(unsigned char *bytes, size_t size, cache_entry *e);
/* Reads a file of an open folder; its content is untrusted. NULL: valid, the caller frees e->bytes, and *age is the seconds since its last
 * use. Else the reason. */
const char *entry_read(int folder, const char *name, cache_entry *e, double *age);
bool entry_has_key(const cache_entry *e, const char *key);
/* True: *out is filled and owns e->bytes (as out->code). */
bool entry_take(cache_entry *e, code_result *out);
/* The value of the key's line that begins with `label` ("name", "arch", ...), as a new string; "" if there is no such line. */
char *entry_key_line(const cache_entry *e, const char *label);
/* The file's name without suffix. */
void entry_id(const char *key, size_t size, char id[cache_id_length + 1]);

/* ---- cache_claim.c ---- */

/* What a waiter has observed of a claim. */
typedef struct cache_watch {
    char owner[160];
    double since, first; /* cache_now() when this owner was first seen, and when the waiting began */
} cache_watch;
typedef enum claim_state { claim_mine, claim_busy, claim_impossible } claim_state;
/* busy: retry later with the same watch. impossible: the claim cannot be written, or the wait limit has passed. */
claim_state claim_take(cache *c, cache_kind kind, const char *key, cache_watch *w, cache_claim **claim);
double cache_now(void); /* monotonic */

/* ---- cache_folder.c ---- */

char *folder_file(const cache *c, cache_kind kind, const char *id, const char *suffix);
/* Opens the folder of this kind's entries; the caller closes the descriptor. -1: it does not exist or is not trusted; *why (`why` may be
 * NULL) is the reason. */
int folder_open(const cache *c, cache_kind kind, bool make, const char **why);
/* Reads an entry by its id. */
const char *folder_read(const cache *c, cache_kind kind, const char *id, cache_entry *e, double *age);
/* Writes a temporary file and renames it. NULL: done; else the reason. */
const char *folder_put(const cache *c, cache_kind kind, const char *id, const void *bytes, size_t size);
/* Call after storing an entry of `bytes` bytes; sweeps occasionally. */
void folder_grew(cache *c, size_t bytes);

typedef struct folder_item {
    char id[cache_id_length + 1];
    cache_kind kind;
    long long bytes;
    double used; /* seconds since the epoch */
} folder_item;
/* All entries; NULL when there are none or without memory. */
folder_item *folder_list(const cache *c, size_t *count);
#endif
