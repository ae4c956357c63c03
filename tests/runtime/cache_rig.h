/* What the suites of the kernel cache share: a fresh folder for each test, a fake compiler that logs its calls, entries by name. */
#ifndef TFGEN_TESTS_CACHE_RIG_H
#define TFGEN_TESTS_CACHE_RIG_H
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "runtime/cache/cache_parts.h"
#include "runtime/host/host.h"
#include "runtime/compile/worker.h"
#include "tests/runtime/tiny_kernel.h"

/* ---- a folder of its own, a compiler that copies ---- */

static char folder[64], place[96], calls_file[96], object_file[64];
static char warning[512];
static int warnings;

static inline void note_warning(void *context, const char *text)
{
    (void)context;
    warnings++;
    snprintf(warning, sizeof warning, "%s", text);
}

static inline cache *open_at(const char *directory, long long most)
{
    cache *c = cache_open(&(cache_options){.directory = directory, .most_bytes = most, .warn = note_warning});
    ck_assert_ptr_nonnull(c);
    return c;
}
static inline cache *open_cache(void) { return open_at(place, 0); }

static inline void before_each(void)
{
    strcpy(folder, "/tmp/tfgen-cache-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(place, sizeof place, "%s/cache", folder);
    snprintf(calls_file, sizeof calls_file, "%s/calls", folder);
    for (const char *const *n = (const char *const[]){"HSA_OVERRIDE_GFX_VERSION", "TFGEN_CACHE_SIZE", "XDG_CACHE_HOME", NULL}; *n; n++)
        unsetenv(*n);
    setenv("TFGEN_CACHE_DIR", place, 1);
    warnings = 0;
    srandom(1);
}

static inline void after_each(void) { directory_remove(folder); }

static inline double seconds(void) { return cache_now(); }

/* A fake compiler: logs the kernel's name, runs the shell command `before` (a delay, say), and outputs a real code object + "FROM name". */
static inline bool use_fake_compiler(const char *before)
{
    if (access(object_file, R_OK)) return printf("skipped: no clang for a first code object\n"), false;
    char path[128];
    snprintf(path, sizeof path, "%s/clang-22", folder);
    FILE *f = fopen(path, "w");
    fprintf(f, "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n"
               "name=$(sed -n 's/^.. kernel //p')\necho \"$name\" >>%s\n%s\n{ cat %s; printf 'FROM %%s' \"$name\"; } >\"$out\"\n",
            calls_file, before, object_file);
    fclose(f);
    chmod(path, 0755);
    setenv("TFGEN_CLANG", path, 1);
    return true;
}

enum { most_requests = 8 };
typedef struct requests {
    code_request list[most_requests];
    char names[most_requests][16], sources[most_requests][64];
    size_t n;
} requests;

static inline void make_requests(requests *q, size_t n)
{
    q->n = n;
    for (size_t i = 0; i < n; i++) {
        snprintf(q->names[i], sizeof q->names[i], "k%zu.hip", i);
        snprintf(q->sources[i], sizeof q->sources[i], "// kernel k%zu\n", i);
        q->list[i] = (code_request){q->sources[i], strlen(q->sources[i]), q->names[i], "gfx942", compiler_clang, 30};
    }
}

static inline bool right(const requests *q, size_t i, const code_result *r)
{
    char tail[32];
    const int n = snprintf(tail, sizeof tail, "FROM k%zu", i);
    (void)q;
    return r->status == build_ok && r->code_size > (size_t)n && !memcmp(r->code + r->code_size - n, tail, (size_t)n) && r->n_kernels == 1 &&
           !strcmp(r->kernels[0].name, "tiny") && r->kernels[0].lds_bytes == 1024 && r->compiler && r->log;
}

/* Compiles and checks all requests; returns the number of cache hits. */
static inline int compile_all(cache *c, const requests *q, int jobs)
{
    code_result r[most_requests];
    bool hit[most_requests];
    int hits = 0;
    ck_assert_msg(cache_compile_all(c, q->list, q->n, jobs, r, hit, NULL, NULL) == build_ok, "%s", r[0].log);
    for (size_t i = 0; i < q->n; i++) {
        ck_assert(right(q, i, &r[i]));
        hits += hit[i];
        code_result_free(&r[i]);
    }
    return hits;
}

static inline int calls(const char *name)
{
    char line[64];
    int n = 0;
    FILE *f = fopen(calls_file, "r");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        n += !name || !strcmp(line, name);
    }
    if (f) fclose(f);
    return n;
}

/* ---- entries without a compiler ---- */

static inline char *key_named(const char *name)
{
    char *key = cache_key(&(cache_parts){cache_code, name, "gfx942", "clang 1", "none", name, strlen(name)});
    ck_assert_ptr_nonnull(key);
    return key;
}

/* A result with `size` bytes of code derived from the name. */
static inline code_result result_named(const char *name, size_t size)
{
    static const kernel_facts facts[2] = {{(char *)"first", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                                          {(char *)"second", 11, 12, 13, 14, 15, 16, 17, 18, 19, ~0u}};
    code_result r = {.status = build_ok, .code_size = size, .compiler = strdup("clang 22"), .log = strdup("a\nlog\n"), .n_kernels = 2};
    r.code = malloc(size);
    r.kernels = malloc(sizeof facts);
    memcpy(r.kernels, facts, sizeof facts);
    for (int i = 0; i < 2; i++) r.kernels[i].name = strdup(facts[i].name);
    for (size_t i = 0; i < size; i++) r.code[i] = (unsigned char)(name[i % strlen(name)] + i / 7);
    return r;
}

static inline bool store_named(cache *c, const char *name, size_t size)
{
    char *key = key_named(name);
    code_result r = result_named(name, size);
    const bool stored = cache_store(c, cache_code, key, &r);
    code_result_free(&r);
    free(key);
    return stored;
}

static inline bool same_results(const code_result *a, const code_result *b)
{
    bool same = a->status == b->status && a->code_size == b->code_size && (!a->code_size || !memcmp(a->code, b->code, a->code_size)) &&
                !strcmp(a->compiler, b->compiler) && !strcmp(a->log, b->log) && a->n_kernels == b->n_kernels;
    for (size_t i = 0; same && i < a->n_kernels; i++) {
        kernel_facts x = a->kernels[i], y = b->kernels[i];
        same = !strcmp(x.name, y.name);
        x.name = y.name = NULL;
        same = same && !memcmp(&x, &y, sizeof x);
    }
    return same;
}

/* True if the entry is found; one that differs from what was stored fails the test. */
static inline bool find_named(cache *c, const char *name, size_t size)
{
    char *key = key_named(name);
    code_result found, stored = result_named(name, size);
    const bool there = cache_find(c, cache_code, key, &found);
    if (there) {
        ck_assert_msg(same_results(&found, &stored), "a wrong entry was loaded");
        code_result_free(&found);
    }
    code_result_free(&stored);
    free(key);
    return there;
}

static inline char *stored_file(cache *c, const char *name, size_t size)
{
    char *key = key_named(name), id[cache_id_length + 1];
    entry_id(key, strlen(key), id);
    free(key);
    ck_assert(store_named(c, name, size));
    return folder_file(c, cache_code, id, ".entry");
}

static inline unsigned char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    unsigned char *bytes = malloc(1 << 22);
    *size = fread(bytes, 1, 1 << 22, f);
    fclose(f);
    return bytes;
}

static inline void spill(const char *path, const void *bytes, size_t size)
{
    unlink(path); /* ext4 writes a file that is truncated and written again to the disk at once */
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(file, 0);
    ck_assert(write(file, bytes, size) == (ssize_t)size);
    close(file);
}

static inline int files_in(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

static inline void walk_counts(void *context, const cache_info *info)
{
    int *n = context;
    n[info->fault != NULL]++;
}

static inline void put_fifo(const char *path) { ck_assert_int_eq(mkfifo(path, 0600), 0); }
static inline void put_directory(const char *path) { ck_assert_int_eq(mkdir(path, 0700), 0); }
static inline void put_loop(const char *path) { ck_assert_int_eq(symlink(path, path), 0); }
/* Compiles, once for all tests, the code object that the fake compiler outputs. */
static inline void make_object(void)
{
    static const char source[] = TINY_PREFIX TINY_KERNEL;
    code_result r;
    strcpy(object_file, "/tmp/tfgen-object-XXXXXX");
    const int file = mkstemp(object_file);
    const code_request q = {source, sizeof source - 1, "tiny.hip", "gfx942", compiler_clang, 60};
    const bool made = file >= 0 && code_compile(&q, &r) == build_ok && write(file, r.code, r.code_size) == (ssize_t)r.code_size;
    close(file);
    if (!made) unlink(object_file);
    else chmod(object_file, 0644);
    code_result_free(&r);
}

static inline int run_cache_suite(Suite *s)
{
    SRunner *r = srunner_create(s);
    make_object();
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    unlink(object_file);
    return failed != 0;
}
#endif
