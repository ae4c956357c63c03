/* In: a key. Out: whether this caller compiles its entry or waits for the process that does. Nobody waits for a dead process, or longer
 * than the cache's limit. Claims only avoid duplicate compiles: correctness does not depend on them. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "runtime/cache/cache_parts.h"
#include "runtime/compile/worker.h"

/* A claim's mark is a dangling symbolic link whose target is the owner's description: created exclusively and atomically with its text, on
 * network file systems, too. The owner is "BOOT NAMESPACE PID START THREAD.TIME": if the first two are ours, /proc shows whether it still
 * lives. */
struct cache_claim {
    char *path, owner[160];
};

static const char suffix[] = ".busy";

double cache_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The first line of a small file up to a blank; "?" if it cannot be read. */
static void first_line(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "re");
    if (!f || !fgets(out, (int)size, f)) strcpy(out, "?");
    if (f) fclose(f);
    out[strcspn(out, " \n")] = 0;
}

/* Start time of a process, in clock ticks; 0: it has ended or is a zombie. */
static unsigned long long start_of(long pid)
{
    char path[64], text[1024];
    unsigned long long start = 0;
    char state;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    const char *after = strrchr(text, ')'); /* the last: a program's name may contain any character */
    if (!after ||
        sscanf(after + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &state, &start) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : start;
}

/* The scope of process ids: boot id and PID namespace. */
static void place(char *out, size_t size)
{
    char boot[64], space[64];
    first_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    const ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[n > 0 ? n : 0] = 0;
    snprintf(out, size, "%s %s", boot, n > 0 ? space : "?");
}

static void describe_self(char out[160])
{
    char here[130];
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    place(here, sizeof here);
    snprintf(out, 160, "%.90s %ld %llu %ld.%ld", here, (long)getpid(), start_of(getpid()), (long)syscall(SYS_gettid), t.tv_nsec);
}

typedef enum life { alive, dead, unknown } life;

static life life_of(const char *owner)
{
    char here[130];
    long pid;
    unsigned long long start;
    place(here, sizeof here);
    here[90] = 0;
    const size_t n = strlen(here);
    if (strchr(here, '?') || strncmp(owner, here, n) || sscanf(owner + n, " %ld %llu", &pid, &start) != 2) return unknown;
    return start_of(pid) == start ? alive : dead;
}

static bool read_mark(const char *path, char owner[160])
{
    const ssize_t n = readlink(path, owner, 159);
    owner[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* Removes a dead owner's mark. Renames it first, since another waiter may have replaced it by its own: then it is restored. */
static void remove_mark(const char *path, const char *owner)
{
    char found[160], *aside = printed("%s.%ld.part", path, (long)syscall(SYS_gettid));
    if (aside && rename(path, aside) == 0) {
        if (read_mark(aside, found) && strcmp(found, owner)) (void)!symlink(found, path);
        unlink(aside);
    }
    free(aside);
}

/* True if the mark at path exists and its owner may still be compiling; removes it otherwise. */
static bool worth_waiting(const cache *c, const char *path, cache_watch *w)
{
    char owner[160];
    if (!read_mark(path, owner)) {
        /* Not a link: gone meanwhile, or another kind of file, which expires like a mark of an unknown owner. */
        if (access(path, F_OK)) return false;
        strcpy(owner, "?");
    }
    const double now = cache_now();
    if (strcmp(owner, w->owner)) {
        strcpy(w->owner, owner);
        w->since = now;
    }
    const life l = life_of(owner);
    if (l == alive || (l == unknown && now - w->since < c->wait_seconds / 2)) return true;
    remove_mark(path, owner);
    return false;
}

static cache_claim *claim_make(char *path, const char *owner)
{
    cache_claim *claim = malloc(sizeof *claim);
    if (!claim) return NULL;
    claim->path = path;
    strcpy(claim->owner, owner);
    return claim;
}

claim_state claim_take(cache *c, cache_kind kind, const char *key, cache_watch *w, cache_claim **claim)
{
    char id[cache_id_length + 1], owner[160];
    *claim = NULL;
    if (w->first == 0) w->first = cache_now();
    if (cache_now() - w->first > c->wait_seconds) return claim_impossible;
    entry_id(key, strlen(key), id);
    const int folder = folder_open(c, kind, true, NULL);
    if (folder >= 0) close(folder);
    char *path = folder >= 0 ? folder_file(c, kind, id, suffix) : NULL;
    if (!path) return claim_impossible;
    describe_self(owner);
    for (int tries = 0; tries < 2; tries++) { /* the second try follows the removal of a dead owner's mark */
        if (symlink(owner, path) == 0) {
            if ((*claim = claim_make(path, owner))) return claim_mine;
            unlink(path);
            break;
        }
        if (errno != EEXIST) break;
        if (worth_waiting(c, path, w)) {
            free(path);
            return claim_busy;
        }
    }
    const claim_state state = errno == EEXIST ? claim_busy : claim_impossible;
    free(path);
    return state;
}

void cache_claim_end(cache_claim *claim)
{
    char found[160];
    if (!claim) return;
    if (read_mark(claim->path, found) && !strcmp(found, claim->owner)) unlink(claim->path);
    free(claim->path);
    free(claim);
}
