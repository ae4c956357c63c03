/* In: bytes read as an entry of the kernel cache, or an archive of entries. A finding: a read beyond them, an accepted entry that does not
 * return its content, an archive that leaves an invalid entry in the folder. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "runtime/cache/cache_parts.h"
#include "runtime/compile/worker.h"
#include "tests/fuzz/fuzzing.h"

static const char *const samples[] = {"tests/corpus/cache/*", NULL};
static const char *const tokens[] = {"tfgen entry 1\n", "tfgen archive 1\n", "tfgen 1 code\n", "tfgen 1 host\n",
                                     "arch gfx942\n",   "name k\n",          "\177ELF",        NULL};
enum { seal = 64, hash_size = 16, head = 16 };

/* Writes the right hash at the end of a changed entry, so that its content is parsed and not refused for its hash. */
static void seal_again(uint8_t *bytes, size_t size)
{
    XXH128_canonical_t hash;
    if (size < seal) return;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes, size - hash_size));
    memcpy(bytes + size - hash_size, hash.digest, hash_size);
}

static uint64_t number_at(const uint8_t *p)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) n |= (uint64_t)p[i] << 8 * i;
    return n;
}

/* Corrects the hash of an entry, or of each entry in an archive. */
static void repair(fuzz_input *m)
{
    if (m->size < head || memcmp(m->data, "tfgen archive", 13) != 0) return seal_again(m->data, m->size);
    for (size_t at = head; m->size - at >= 16;) {
        const uint64_t size = number_at(m->data + at + 8);
        if (!number_at(m->data + at) || size > m->size - at - 16) return;
        seal_again(m->data + at + 16, (size_t)size);
        at += 16 + (size_t)size;
    }
}

const fuzz_kind fuzz_this =
    {.name = "fuzz_cache", .samples = samples, .tokens = tokens, .most_bytes = 64 << 10, .repair = repair, .cases = 2000};

static void try_entry(const uint8_t *data, size_t size)
{
    cache_entry e;
    code_result r;
    size_t again_size;
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) return;
    memcpy(copy, data, size);
    if (entry_parse(copy, size, &e)) return free(copy);
    free(entry_key_line(&e, "arch"));
    char *key = strndup((char *)e.bytes + e.payload_size, e.key_size);
    const bool text = strlen(key) == e.key_size;
    if (text && !entry_has_key(&e, key)) fuzz_finding("an entry has not got its key", key);
    if (!entry_take(&e, &r)) {
        free(copy);
    } else {
        unsigned char *again = text ? entry_encode(key, &r, &again_size) : NULL;
        if (again && (again_size != size || memcmp(again, data, size) != 0) && r.log && r.compiler) {
            /* the parser ignores 8 bytes of the seal, so seals may differ; payload, key and note must come back */
            if (again_size != size || memcmp(again, data, size - seal) != 0) fuzz_finding("an entry is not what it gives back", key);
        }
        free(again);
        code_result_free(&r);
        fuzz_taken++;
    }
    free(key);
}

static void count_good(void *context, const cache_info *info) { *(long long *)context += info->fault == NULL; }

static void try_archive(const uint8_t *data, size_t size)
{
    static char folder[] = "/tmp/tfgen-fuzz-XXXXXX";
    static bool made;
    char error[cache_error_size] = "";
    cache_counts n;
    if (!made && !(made = mkdtemp(folder) != NULL)) return;
    cache *c = cache_open(&(cache_options){.directory = folder, .most_bytes = 1 << 30});
    FILE *in = fmemopen((void *)data, size, "rb");
    if (!c || !in) return cache_close(c);
    const bool good = cache_import(c, in, &n, error);
    fclose(in);
    if (!good && !error[0]) fuzz_finding("an archive refused without a word", NULL);
    long long kept = 0;
    cache_walk(c, count_good, &kept);
    if (kept != n.kept) fuzz_finding("an archive's entry that is not good was kept", NULL);
    fuzz_taken += kept > 0;
    cache_sweep(c, 0);
    cache_close(c);
    directory_remove(folder);
    made = mkdir(folder, 0700) == 0;
    if (!made) strcpy(folder, "/tmp/tfgen-fuzz-XXXXXX");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= head && !memcmp(data, "tfgen archive", 13)) try_archive(data, size);
    else try_entry(data, size);
    return 0;
}
