/* The kernel cache: what it gives is what a compiler gave, whatever lies in its folder, whoever shares it and whoever is killed. */
#define _GNU_SOURCE
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
#include "runtime/cache_parts.h"
#include "runtime/host/host.h"
#include "runtime/worker.h"
#include "tests/tiny_kernel.h"

/* ---- a folder of its own, a compiler that copies ---- */

static char folder[64], place[96], calls_file[96], object_file[64];
static char warning[512];
static int warnings;

static void note_warning(void *context, const char *text)
{
    (void)context;
    warnings++;
    snprintf(warning, sizeof warning, "%s", text);
}

static cache *open_at(const char *directory, long long most)
{
    cache *c = cache_open(&(cache_options){.directory = directory, .most_bytes = most, .warn = note_warning});
    ck_assert_ptr_nonnull(c);
    return c;
}
static cache *open_cache(void) { return open_at(place, 0); }

static void before_each(void)
{
    strcpy(folder, "/tmp/tfgen-cache-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(place, sizeof place, "%s/cache", folder);
    snprintf(calls_file, sizeof calls_file, "%s/calls", folder);
    for (const char *const *n = (const char *const[]){"HSA_OVERRIDE_GFX_VERSION", "TFGEN_CACHE_SIZE", "XDG_CACHE_HOME", NULL}; *n; n++) unsetenv(*n);
    setenv("TFGEN_CACHE_DIR", place, 1);
    warnings = 0;
    srandom(1);
}

static void after_each(void) { directory_remove(folder); }

static double seconds(void) { return cache_now(); }

/* A compiler that writes its kernel's name down, takes its time and hands out a real code object with the name behind it. */
static bool use_fake_compiler(const char *before)
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

static void make_requests(requests *q, size_t n)
{
    q->n = n;
    for (size_t i = 0; i < n; i++) {
        snprintf(q->names[i], sizeof q->names[i], "k%zu.hip", i);
        snprintf(q->sources[i], sizeof q->sources[i], "// kernel k%zu\n", i);
        q->list[i] = (code_request){q->sources[i], strlen(q->sources[i]), q->names[i], "gfx942", compiler_clang, 30};
    }
}

static bool right(const requests *q, size_t i, const code_result *r)
{
    char tail[32];
    const int n = snprintf(tail, sizeof tail, "FROM k%zu", i);
    (void)q;
    return r->status == build_ok && r->code_size > (size_t)n && !memcmp(r->code + r->code_size - n, tail, (size_t)n) && r->n_kernels == 1 &&
           !strcmp(r->kernels[0].name, "tiny") && r->kernels[0].lds_bytes == 1024 && r->compiler && r->log;
}

/* Compiles all and checks all; returns how many were hits. */
static int compile_all(cache *c, const requests *q, int jobs)
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

static int calls(const char *name)
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

static char *key_named(const char *name)
{
    char *key = cache_key(&(cache_parts){cache_code, name, "gfx942", "clang 1", "none", name, strlen(name)});
    ck_assert_ptr_nonnull(key);
    return key;
}

/* Of `size` bytes that depend on the name. */
static code_result result_named(const char *name, size_t size)
{
    static const kernel_facts facts[2] = {{(char *)"first", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {(char *)"second", 11, 12, 13, 14, 15, 16, 17, 18, 19, ~0u}};
    code_result r = {.status = build_ok, .code_size = size, .compiler = strdup("clang 22"), .log = strdup("a\nlog\n"), .n_kernels = 2};
    r.code = malloc(size);
    r.kernels = malloc(sizeof facts);
    memcpy(r.kernels, facts, sizeof facts);
    for (int i = 0; i < 2; i++) r.kernels[i].name = strdup(facts[i].name);
    for (size_t i = 0; i < size; i++) r.code[i] = (unsigned char)(name[i % strlen(name)] + i / 7);
    return r;
}

static bool store_named(cache *c, const char *name, size_t size, char **path)
{
    char *key = key_named(name);
    code_result r = result_named(name, size);
    const bool stored = cache_store(c, cache_code, key, &r, path);
    code_result_free(&r);
    free(key);
    return stored;
}

static bool same_results(const code_result *a, const code_result *b)
{
    bool same = a->status == b->status && a->code_size == b->code_size && !memcmp(a->code, b->code, a->code_size) &&
                !strcmp(a->compiler, b->compiler) && !strcmp(a->log, b->log) && a->n_kernels == b->n_kernels;
    for (size_t i = 0; same && i < a->n_kernels; i++) {
        kernel_facts x = a->kernels[i], y = b->kernels[i];
        same = !strcmp(x.name, y.name);
        x.name = y.name = NULL;
        same = same && !memcmp(&x, &y, sizeof x);
    }
    return same;
}

/* True: found, and it is all that was stored. What is found but wrong fails the test. */
static bool find_named(cache *c, const char *name, size_t size)
{
    char *key = key_named(name);
    code_result found, stored = result_named(name, size);
    const bool there = cache_find(c, cache_code, key, &found, NULL);
    if (there) {
        ck_assert_msg(same_results(&found, &stored), "a wrong entry was loaded");
        code_result_free(&found);
    }
    code_result_free(&stored);
    free(key);
    return there;
}

static char *stored_file(cache *c, const char *name, size_t size)
{
    char *path;
    ck_assert(store_named(c, name, size, &path));
    ck_assert_ptr_nonnull(path);
    return path;
}

static unsigned char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    unsigned char *bytes = malloc(1 << 22);
    *size = fread(bytes, 1, 1 << 22, f);
    fclose(f);
    return bytes;
}

static void spill(const char *path, const void *bytes, size_t size)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(file, 0);
    ck_assert(write(file, bytes, size) == (ssize_t)size);
    close(file);
}

static int files_in(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

/* ---- what it is for ---- */

START_TEST(what_is_found_is_what_was_stored)
{
    cache *c = open_cache();
    ck_assert(!find_named(c, "one", 5000));
    ck_assert(store_named(c, "one", 5000, NULL));
    ck_assert(find_named(c, "one", 5000));
    ck_assert(!find_named(c, "two", 5000));
    cache_close(c);
    ck_assert((c = open_cache()));
    ck_assert(find_named(c, "one", 5000));
    cache_close(c);
    ck_assert_int_eq(warnings, 0);
}
END_TEST

START_TEST(a_hit_is_what_the_compiler_gave)
{
    requests q;
    code_result fresh, cached;
    bool hit;
    make_requests(&q, 3);
    if (!use_fake_compiler("")) return;
    cache *c = open_cache();
    ck_assert_int_eq(compile_all(c, &q, 2), 0);
    ck_assert_int_eq(compile_all(c, &q, 2), 3);
    ck_assert_int_eq(calls(NULL), 3);
    ck_assert_int_eq(code_compile(&q.list[1], &fresh), build_ok);
    ck_assert_int_eq(cache_compile_all(c, &q.list[1], 1, 1, &cached, &hit, NULL, NULL), build_ok);
    ck_assert(hit && same_results(&fresh, &cached));
    code_result_free(&cached);
    ck_assert(cache_lookup(c, &q.list[1], &cached) && same_results(&fresh, &cached));
    code_result_free(&cached);
    code_result_free(&fresh);
    ck_assert_int_eq(compile_all(NULL, &q, 1), 0);
    ck_assert_int_eq(calls(NULL), 7);
    cache_close(c);
}
END_TEST

static void touch_compiler(requests *q)
{
    (void)q;
    ck_assert_int_eq(utimensat(AT_FDCWD, getenv("TFGEN_CLANG"), (const struct timespec[]){{1, 0}, {1, 0}}, 0), 0);
}
static void override(requests *q) { (void)q, setenv("HSA_OVERRIDE_GFX_VERSION", "11.0.0", 1); }
static void other_name(requests *q) { q->list[0].name = "other.hip"; }
static void other_arch(requests *q) { q->list[0].arch = "gfx942:xnack-"; }
static void other_kind(requests *q) { q->list[0].compiler = compiler_auto; }
static void other_source(requests *q) { q->list[0].source = "// kernel k0\n//\n", q->list[0].size += 3; }
static void other_path(requests *q)
{
    char path[128];
    snprintf(path, sizeof path, "%s/clang-23", folder);
    ck_assert_int_eq(rename(getenv("TFGEN_CLANG"), path), 0);
    setenv("TFGEN_CLANG", path, 1);
    (void)q;
}
static void (*const changes[])(requests *) = {touch_compiler, override, other_name, other_arch, other_kind, other_source, other_path};

START_TEST(whatever_decides_the_code_is_in_the_key)
{
    requests q;
    make_requests(&q, 1);
    if (!use_fake_compiler("")) return;
    cache *c = open_cache();
    compile_all(c, &q, 1);
    ck_assert_int_eq(compile_all(c, &q, 1), 1);
    changes[_i](&q);
    ck_assert_int_eq(compile_all(c, &q, 1), 0);
    ck_assert_int_eq(compile_all(c, &q, 1), 1);
    ck_assert_int_eq(calls("k0"), 2);
    cache_close(c);
}
END_TEST

START_TEST(equal_requests_of_one_call_compile_once)
{
    requests q;
    code_result r[most_requests];
    make_requests(&q, most_requests);
    for (size_t i = 1; i < q.n; i++) q.list[i] = q.list[0];
    if (!use_fake_compiler("sleep 0.1")) return;
    cache *c = _i ? open_cache() : open_at("/proc/no", 0); /* the second is in memory only, where no mark can be: one at a time */
    ck_assert_int_eq(cache_compile_all(c, q.list, q.n, _i ? 4 : 1, r, NULL, NULL, NULL), build_ok);
    for (size_t i = 0; i < q.n; i++) ck_assert(right(&q, 0, &r[i])), code_result_free(&r[i]);
    ck_assert_int_eq(calls(NULL), 1);
    cache_close(c);
}
END_TEST

START_TEST(what_does_not_compile_is_not_kept)
{
    requests q;
    code_result r;
    bool hit;
    make_requests(&q, 1);
    if (!use_fake_compiler("exit 1")) return;
    cache *c = open_cache();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(cache_compile_all(c, q.list, 1, 1, &r, &hit, NULL, NULL), build_failed);
        ck_assert(!hit);
        code_result_free(&r);
    }
    ck_assert_int_eq(calls(NULL), 2);
    char path[128];
    snprintf(path, sizeof path, "%s/code", place);
    ck_assert_int_eq(files_in(path), 0); /* no mark either */
    cache_close(c);
}
END_TEST

START_TEST(its_place_follows_the_environment)
{
    char *d = cache_directory();
    ck_assert_str_eq(d, place);
    free(d);
    setenv("TFGEN_CACHE_DIR", "", 1);
    ck_assert_ptr_null(cache_open(NULL));
    unsetenv("TFGEN_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    ck_assert_str_eq(d = cache_directory(), "/xdg/tfgen");
    free(d);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/home/me", 1);
    ck_assert_str_eq(d = cache_directory(), "/home/me/.cache/tfgen");
    free(d);
    unsetenv("HOME");
    ck_assert_ptr_null(cache_open(NULL));
}
END_TEST

static const struct {
    const char *text;
    long long bytes;
} sizes[] = {{"", 1LL << 30}, {"12345", 12345}, {"3k", 3072}, {"500M", 500LL << 20}, {"2G", 2LL << 30}, {"0", 0},
             {"-1", -1},      {"2GB", -1},      {"x", -1},    {"9999999999999999G", -1}};

START_TEST(its_cap_is_read_from_the_environment)
{
    setenv("TFGEN_CACHE_SIZE", sizes[_i].text, 1);
    cache *c = cache_open(&(cache_options){.warn = note_warning});
    ck_assert((c == NULL) == (sizes[_i].bytes == 0));
    ck_assert_int_eq(warnings, sizes[_i].bytes < 0);
    if (c) ck_assert_int_eq(c->most_bytes, sizes[_i].bytes < 0 ? 1LL << 30 : sizes[_i].bytes);
    cache_close(c);
}
END_TEST

/* ---- entries that are not what they should be ---- */

START_TEST(a_truncated_entry_is_made_again)
{
    cache *c = open_cache();
    size_t size;
    char *path = stored_file(c, "cut", 300);
    unsigned char *bytes = slurp(path, &size);
    ck_assert_uint_lt(size, 2000);
    for (size_t n = 0; n < size; n++) {
        spill(path, bytes, n);
        ck_assert_msg(!find_named(c, "cut", 300), "%zu of %zu bytes were believed", n, size);
    }
    bytes[size] = 0;
    spill(path, bytes, size + 1);
    ck_assert(!find_named(c, "cut", 300));
    ck_assert(store_named(c, "cut", 300, NULL) && find_named(c, "cut", 300));
    free(bytes);
    free(path);
    cache_close(c);
}
END_TEST

START_TEST(no_bit_of_an_entry_can_flip)
{
    cache *c = open_cache();
    size_t size;
    char *path = stored_file(c, "bits", 300);
    unsigned char *bytes = slurp(path, &size);
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= (unsigned char)(1 << at % 8);
        spill(path, bytes, size);
        ck_assert_msg(!find_named(c, "bits", 300), "a flip in byte %zu of %zu was believed", at, size);
        bytes[at] ^= (unsigned char)(1 << at % 8);
    }
    spill(path, bytes, size);
    ck_assert(find_named(c, "bits", 300));
    free(bytes);
    free(path);
    cache_close(c);
}
END_TEST

/* Whole files whose seal is right and whose content is not: nothing may be read beyond its end (run with SAN=address). */
START_TEST(a_sealed_entry_that_lies_is_harmless)
{
    cache *c = open_cache();
    size_t size;
    char *path = stored_file(c, "lies", 40), *key = key_named("lies");
    unsigned char *bytes = slurp(path, &size), *copy = malloc(size);
    for (int round = 0; round < 3000; round++) {
        XXH128_canonical_t hash;
        code_result r;
        memcpy(copy, bytes, size);
        for (int n = 0; n < 1 + round % 3; n++) copy[40 + strlen(key) + (size_t)random() % (size - 40 - strlen(key) - 16)] = (unsigned char)(round % 2 ? random() : 255);
        XXH128_canonicalFromHash(&hash, XXH3_128bits(copy, size - 16));
        memcpy(copy + size - 16, hash.digest, 16);
        spill(path, copy, size);
        if (cache_find(c, cache_code, key, &r, NULL)) code_result_free(&r);
    }
    free(bytes);
    free(copy);
    free(path);
    free(key);
    cache_close(c);
}
END_TEST

static void walk_counts(void *context, const cache_info *info)
{
    int *n = context;
    n[info->fault != NULL]++;
}

START_TEST(an_entry_under_another_key_is_not_that_keys)
{
    cache *c = open_cache();
    size_t size;
    int found[2] = {0};
    char *one = stored_file(c, "one", 300), *two = stored_file(c, "two", 300);
    unsigned char *bytes = slurp(one, &size);
    spill(two, bytes, size);
    ck_assert(find_named(c, "one", 300));
    ck_assert(!find_named(c, "two", 300));
    cache_walk(c, walk_counts, found);
    ck_assert_int_eq(found[0], 0); /* neither holds a code object */
    ck_assert_int_eq(found[1], 2);
    ck_assert(store_named(c, "two", 300, NULL) && find_named(c, "two", 300));
    free(bytes);
    free(one);
    free(two);
    cache_close(c);
}
END_TEST

static void put_fifo(const char *path) { ck_assert_int_eq(mkfifo(path, 0600), 0); }
static void put_directory(const char *path) { ck_assert_int_eq(mkdir(path, 0700), 0); }
static void put_loop(const char *path) { ck_assert_int_eq(symlink(path, path), 0); }
static void put_link(const char *path)
{
    char aside[160];
    snprintf(aside, sizeof aside, "%s.aside", path);
    ck_assert_int_eq(symlink(aside, path), 0); /* to the entry itself */
}
static void put_device(const char *path)
{
    if (mknod(path, S_IFCHR | 0600, 1 << 8 | 5)) put_fifo(path); /* /dev/zero; needs root */
}
static void put_writable(const char *path)
{
    char aside[160];
    snprintf(aside, sizeof aside, "%s.aside", path);
    ck_assert_int_eq(rename(aside, path), 0);
    ck_assert_int_eq(chmod(path, 0666), 0);
}
static void (*const obstacles[])(const char *) = {put_fifo, put_directory, put_loop, put_link, put_device, put_writable};

START_TEST(only_a_plain_file_of_ones_own_is_an_entry)
{
    char aside[160];
    cache *c = open_cache();
    char *path = stored_file(c, "in the way", 300);
    snprintf(aside, sizeof aside, "%s.aside", path);
    ck_assert_int_eq(rename(path, aside), 0);
    obstacles[_i](path);
    ck_assert(!find_named(c, "in the way", 300));
    const bool stored = store_named(c, "in the way", 300, NULL);
    ck_assert(stored == (obstacles[_i] != put_directory)); /* a folder cannot be replaced: in memory then */
    ck_assert_int_eq(warnings, !stored);
    ck_assert(find_named(c, "in the way", 300));
    cache_sweep(c, 0);
    ck_assert_int_ne(access(path, F_OK), 0);
    free(path);
    cache_close(c);
}
END_TEST

/* ---- places that cannot be written ---- */

static bool is_root(void) { return geteuid() == 0; }

START_TEST(a_full_disk_means_memory_only_with_one_warning)
{
    if (!is_root() || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mkdir(place, 0700) ||
        mount("none", place, "tmpfs", 0, "size=256k")) return (void)printf("skipped: no right to mount a small disk\n");
    char names[20][16], path[128];
    cache *c = open_cache();
    int stored = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(names[i], sizeof names[i], "full%d", i);
        stored += store_named(c, names[i], 40000, NULL);
    }
    ck_assert(stored > 2 && stored < 10);
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strstr(warning, strerror(ENOSPC)) && strstr(warning, place), "%s", warning);
    for (int i = 0; i < 20; i++) ck_assert(find_named(c, names[i], 40000));
    cache_close(c);
    snprintf(path, sizeof path, "%s/code", place);
    ck_assert_int_eq(files_in(path), stored); /* no halves are left */
    c = open_cache();
    for (int i = 0; i < 20; i++) stored -= find_named(c, names[i], 40000);
    ck_assert_int_eq(stored, 0);
    cache_close(c);
    umount(place);
}
END_TEST

START_TEST(a_limit_on_file_sizes_is_like_a_full_disk)
{
    signal(SIGXFSZ, SIG_IGN);
    cache *c = open_cache();
    ck_assert(store_named(c, "small", 300, NULL));
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){20000, 20000}), 0);
    ck_assert(!store_named(c, "large", 40000, NULL));
    ck_assert_int_eq(warnings, 1);
    ck_assert(find_named(c, "large", 40000) && find_named(c, "small", 300));
    cache_close(c);
}
END_TEST

START_TEST(a_folder_that_cannot_be_written_still_gives_what_it_has)
{
    cache *c = open_cache();
    ck_assert(store_named(c, "there", 300, NULL));
    cache_close(c);
    for (const char *const *d = (const char *const[]){"/code", "", NULL}; *d; d++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", place, *d);
        ck_assert_int_eq(chmod(path, 0555), 0);
    }
    ck_assert_int_eq(chmod(folder, 0755), 0);
    char file[200];
    snprintf(file, sizeof file, "chmod a+r %s/code/*", place);
    ck_assert_int_eq(system(file), 0);
    if (is_root() && (setgid(65534) || setuid(65534))) return (void)printf("skipped: root cannot be put off\n");
    c = open_cache();
    ck_assert(find_named(c, "there", 300));
    ck_assert(!store_named(c, "new", 300, NULL) && !store_named(c, "newer", 300, NULL));
    ck_assert_int_eq(warnings, 1);
    ck_assert(find_named(c, "new", 300) && find_named(c, "newer", 300));
    cache_close(c);
}
END_TEST

static const char *const impossible[] = {"/proc/no/such", "/dev/null/cache", "/dev/null"};

START_TEST(an_impossible_folder_means_memory_only)
{
    cache *c = open_at(impossible[_i], 0);
    cache_claim *claim;
    code_result r;
    char *key = key_named("x");
    ck_assert(!cache_find_or_claim(c, cache_code, key, &r, NULL, &claim));
    ck_assert_ptr_null(claim);
    ck_assert(!store_named(c, "x", 300, NULL));
    ck_assert(find_named(c, "x", 300));
    ck_assert_int_eq(warnings, 1);
    ck_assert_int_eq(cache_sweep(c, -1).kept, 0);
    free(key);
    cache_close(c);
}
END_TEST

START_TEST(the_host_engine_needs_no_cache_to_compile)
{
    static const char source[] = "extern \"C\" __global__ void f(int *p) { *p = 1; }\nTF_EXPORT(f)\n";
    host_module *m[2];
    host_log log = {0};
    const host_compile_options o = {.cache = open_at("/dev/null", 0), .optimise = 0};
    for (int i = 0; i < 2; i++) {
        const host_status s = host_compile(source, sizeof source - 1, &o, &m[i], &log);
        if (s == HOST_NO_COMPILER) return (void)printf("skipped: no clang\n");
        ck_assert_msg(s == HOST_OK, "%s", log.text);
    }
    ck_assert(!host_module_cached(m[0]) && host_module_cached(m[1])); /* from memory */
    ck_assert_int_eq(warnings, 1);
    for (int i = 0; i < 2; i++) host_module_free(m[i]);
    host_log_free(&log);
    cache_close(o.cache);
}
END_TEST

/* ---- the cap ---- */

static void set_age(const char *path, long age)
{
    const struct timespec t = {time(NULL) - age, 0};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, (const struct timespec[]){t, t}, 0), 0);
}

START_TEST(what_was_not_used_for_longest_goes_first)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    cache *c = open_cache();
    for (int i = 0; i < 4; i++) {
        char *path = stored_file(c, names[i], 10000);
        set_age(path, 1000 - 100 * i);
        free(path);
    }
    ck_assert(find_named(c, "a", 10000)); /* used: it is the youngest now */
    const cache_counts n = cache_sweep(c, 25000);
    ck_assert_int_eq(n.kept, 2);
    ck_assert_int_eq(n.removed, 2);
    ck_assert(n.kept_bytes <= 25000 && n.kept_bytes > 20000);
    ck_assert(find_named(c, "a", 10000) && find_named(c, "d", 10000));
    ck_assert(!find_named(c, "b", 10000) && !find_named(c, "c", 10000));
    cache_close(c);
}
END_TEST

START_TEST(storing_keeps_within_the_cap)
{
    cache *c = open_at(place, 100000);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        ck_assert(store_named(c, name, 9000, NULL));
        ck_assert(find_named(c, name, 9000));
    }
    const cache_counts n = cache_sweep(c, -1);
    ck_assert_int_eq(n.removed, 0);
    ck_assert(n.kept_bytes <= 100000 && n.kept >= 8);
    cache_close(c);
}
END_TEST

START_TEST(an_entry_above_the_cap_is_kept_in_memory)
{
    cache *c = open_at(place, 5000);
    ck_assert(!store_named(c, "large", 6000, NULL));
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strstr(warning, "TFGEN_CACHE_SIZE"), "%s", warning);
    ck_assert(find_named(c, "large", 6000));
    ck_assert_int_eq(cache_sweep(c, -1).kept, 0);
    cache_close(c);
}
END_TEST

START_TEST(clearing_touches_nothing_of_others)
{
    char path[160];
    cache *c = open_cache();
    free(stored_file(c, "x", 300));
    static const char *const foreign[] = {"notes", "0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef.txt", "z123.entry"};
    for (int i = 0; i < 4; i++) snprintf(path, sizeof path, "%s/code/%s", place, foreign[i]), spill(path, "mine", 4);
    ck_assert_int_eq(cache_sweep(c, 0).removed, 1);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/code/%s", place, foreign[i]);
        ck_assert_int_eq(access(path, F_OK), 0);
    }
    cache_close(c);
}
END_TEST

/* ---- many at once ---- */

START_TEST(thirty_two_processes_compile_each_kernel_once_or_twice)
{
    enum { processes = 32 };
    requests q;
    pid_t all[processes];
    int gate[2], bad = 0;
    char c;
    make_requests(&q, 6);
    if (!use_fake_compiler("sleep 0.2")) return;
    ck_assert_int_eq(pipe(gate), 0);
    for (int p = 0; p < processes; p++)
        if ((all[p] = fork()) == 0) {
            close(gate[1]);
            if (read(gate[0], &c, 1) < 0) _exit(2); /* all at once */
            cache *own = cache_open(NULL);
            code_result r[most_requests];
            bool ok = cache_compile_all(own, q.list, q.n, 1 + p % 3, r, NULL, NULL, NULL) == build_ok;
            for (size_t i = 0; i < q.n; i++) ok = ok && right(&q, i, &r[i]);
            _exit(!ok);
        }
    close(gate[1]);
    for (int p = 0; p < processes; p++) {
        int status;
        ck_assert_int_eq(waitpid(all[p], &status, 0), all[p]);
        bad += !WIFEXITED(status) || WEXITSTATUS(status);
    }
    ck_assert_int_eq(bad, 0);
    for (size_t i = 0; i < q.n; i++) {
        q.names[i][2] = 0;
        const int n = calls(q.names[i]);
        ck_assert_msg(n >= 1 && n <= 2, "%s was compiled %d times", q.names[i], n);
    }
}
END_TEST

typedef struct crew {
    cache *c;
    const requests *q;
    int hits[8];
    _Atomic int next;
} crew;

static void *compile_in_thread(void *argument)
{
    crew *all = argument;
    const int i = all->next++;
    all->hits[i] = compile_all(all->c, all->q, 2);
    return NULL;
}

START_TEST(eight_threads_share_one_cache)
{
    requests q;
    pthread_t threads[8];
    make_requests(&q, 4);
    if (!use_fake_compiler("sleep 0.05")) return;
    crew all = {.c = open_cache(), .q = &q};
    for (int i = 0; i < 8; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, compile_in_thread, &all), 0);
    int hits = 0;
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; i++) hits += all.hits[i];
    ck_assert_int_eq(hits, 8 * 4 - calls(NULL));
    ck_assert_int_eq(calls(NULL), 4);
    cache_close(all.c);
}
END_TEST

START_TEST(killed_writers_leave_nothing_wrong)
{
    enum { names = 4, bytes = 1 << 20 };
    static const char *const name[names] = {"w0", "w1", "w2", "w3"};
    cache *c = open_cache();
    int found = 0;
    for (int round = 0; round < 20; round++) {
        const pid_t writer = fork();
        if (writer == 0)
            for (int i = round;; i++) store_named(c, name[i % names], bytes, NULL);
        nanosleep(&(struct timespec){0, 1000000 + random() % 15000000}, NULL);
        kill(writer, SIGKILL);
        waitpid(writer, NULL, 0);
        for (int i = 0; i < names; i++) found += find_named(c, name[i], bytes); /* or missing; never wrong */
    }
    ck_assert_int_gt(found, 0);
    cache_sweep(c, 0);
    char path[128];
    snprintf(path, sizeof path, "%s/code", place);
    ck_assert_int_eq(files_in(path), 0);
    cache_close(c);
}
END_TEST

/* ---- marks ---- */

static char *mark_of(const cache *c, const char *key)
{
    char id[cache_id_length + 1];
    entry_id(key, strlen(key), id);
    ck_assert(folder_make(c, cache_code));
    return folder_file(c, cache_code, id, ".busy");
}

START_TEST(a_dead_owner_is_not_waited_for)
{
    cache *c = open_cache();
    cache_claim *claim;
    code_result r;
    char *key = key_named("dead");
    const pid_t owner = fork();
    if (owner == 0) {
        cache_find_or_claim(c, cache_code, key, &r, NULL, &claim);
        for (;;) pause();
    }
    char *mark = mark_of(c, key), text[160];
    for (int i = 0; i < 500 && readlink(mark, text, sizeof text) <= 0; i++) usleep(10000);
    ck_assert_int_gt(readlink(mark, text, sizeof text), 0);
    kill(owner, SIGKILL); /* a zombie until it is waited for: dead all the same */
    for (int i = 0; i < 100; i++) usleep(1000);
    const double start = seconds();
    ck_assert(!cache_find_or_claim(c, cache_code, key, &r, NULL, &claim));
    ck_assert_ptr_nonnull(claim);
    ck_assert(seconds() - start < 1);
    cache_claim_end(claim);
    ck_assert_int_ne(readlink(mark, text, sizeof text), 1);
    ck_assert_int_eq(errno, ENOENT);
    waitpid(owner, NULL, 0);
    free(mark);
    free(key);
    cache_close(c);
}
END_TEST

static void mark_of_elsewhere(const char *mark) { ck_assert_int_eq(symlink("another-machine pid:[1] 1 2 3.4", mark), 0); }
static void mark_is_nonsense(const char *mark) { ck_assert_int_eq(symlink("/etc/passwd", mark), 0); }
static void mark_of_the_living(const char *mark)
{
    cache *c = open_cache();
    cache_watch w = {0};
    cache_claim *claim;
    char *key = key_named("wait");
    ck_assert_int_eq(claim_take(c, cache_code, key, &w, &claim), claim_mine);
    free(key); /* the claim is left open */
    (void)mark;
}
static void (*const marks[])(const char *) = {mark_of_elsewhere, mark_is_nonsense, put_fifo, put_directory, put_loop, mark_of_the_living};

START_TEST(waiting_has_a_limit)
{
    cache *c = cache_open(&(cache_options){.directory = place, .wait_seconds = 0.4});
    cache_claim *claim;
    code_result r;
    char *key = key_named("wait"), *mark = mark_of(c, key);
    marks[_i](mark);
    const double start = seconds();
    ck_assert(!cache_find_or_claim(c, cache_code, key, &r, NULL, &claim));
    ck_assert_msg(seconds() - start > 0.15 && seconds() - start < 3, "%g", seconds() - start);
    cache_claim_end(claim);
    ck_assert(store_named(c, "wait", 300, NULL) && find_named(c, "wait", 300));
    free(mark);
    free(key);
    cache_close(c);
}
END_TEST

START_TEST(who_waits_gets_what_the_other_made)
{
    cache *c = open_cache();
    cache_claim *claim;
    code_result r, wanted = result_named("slow", 300);
    char *key = key_named("slow"), *path;
    ck_assert(!cache_find_or_claim(c, cache_code, key, &r, NULL, &claim));
    const pid_t waiter = fork();
    if (waiter == 0) {
        const bool hit = cache_find_or_claim(c, cache_code, key, &r, &path, &claim);
        _exit(!hit || !path || claim || !same_results(&r, &wanted));
    }
    usleep(200000);
    int status;
    ck_assert_int_eq(waitpid(waiter, &status, WNOHANG), 0);
    ck_assert(store_named(c, "slow", 300, NULL));
    cache_claim_end(claim);
    ck_assert_int_eq(waitpid(waiter, &status, 0), waiter);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    code_result_free(&wanted);
    free(key);
    cache_close(c);
}
END_TEST

/* ---- archives ---- */

static FILE *archive_of(cache *c, long long expected)
{
    cache_counts n;
    char error[cache_error_size];
    FILE *f = tmpfile();
    ck_assert_msg(cache_export(c, f, &n, error), "%s", error);
    ck_assert_int_eq(n.kept, expected);
    rewind(f);
    return f;
}

static cache_counts import_bytes(cache *c, const void *bytes, size_t size, bool *ok)
{
    cache_counts n;
    char error[cache_error_size] = "";
    FILE *f = fmemopen((void *)bytes, size ? size : 1, "rb");
    if (!size) getc(f);
    *ok = cache_import(c, f, &n, error);
    ck_assert(*ok == !*error);
    fclose(f);
    return n;
}

START_TEST(an_archive_carries_entries_to_another_folder)
{
    requests q;
    char other[128], error[cache_error_size];
    cache_counts n;
    make_requests(&q, 3);
    if (!use_fake_compiler("")) return;
    cache *c = open_cache();
    compile_all(c, &q, 1);
    FILE *f = archive_of(c, 3);
    snprintf(other, sizeof other, "%s/other", folder);
    cache *d = open_at(other, 0);
    ck_assert_msg(cache_import(d, f, &n, error), "%s", error);
    ck_assert(n.kept == 3 && n.known == 0 && n.refused == 0);
    ck_assert_int_eq(compile_all(d, &q, 1), 3);
    rewind(f);
    ck_assert(cache_import(d, f, &n, error) && n.known == 3 && n.kept == 0);
    fclose(f);
    cache_close(c);
    cache_close(d);
}
END_TEST

START_TEST(an_archive_may_hold_anything_and_adds_only_what_is_good)
{
    requests q;
    char other[128];
    bool ok;
    make_requests(&q, 2);
    if (!use_fake_compiler("")) return;
    cache *c = open_cache();
    compile_all(c, &q, 1);
    free(stored_file(c, "no code object", 300)); /* left out */
    FILE *f = archive_of(c, 2);
    static unsigned char bytes[1 << 20], copy[1 << 20];
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    snprintf(other, sizeof other, "%s/other", folder);
    cache *d = open_at(other, 0);
    for (int round = 0; round < 400; round++) {
        memcpy(copy, bytes, size);
        const size_t cut = round % 4 == 0 ? (size_t)random() % size : size;
        if (cut == size) copy[round < 100 ? (size_t)round : (size_t)random() % size] ^= (unsigned char)(1 << random() % 8);
        const cache_counts n = import_bytes(d, copy, cut, &ok);
        ck_assert(n.kept + n.known + n.refused <= 2);
        ck_assert(!ok || n.refused || cut < size); /* every flip is seen */
        ck_assert(!(ok && cut < size));
    }
    int found[2] = {0};
    cache_walk(d, walk_counts, found);
    ck_assert_int_eq(found[1], 0);
    for (unsigned shift = 0; shift < 64; shift += 3) { /* sizes that are lies */
        const unsigned long long lie = 1ull << shift;
        memcpy(copy, bytes, size);
        memcpy(copy + 24, &lie, 8);
        import_bytes(d, copy, size, &ok);
        ck_assert(!ok);
    }
    cache_close(c);
    cache_close(d);
}
END_TEST

/* ---- the command ---- */

static char output[1 << 16];

static int tfgen(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int tfgen(const char *format, ...)
{
    char arguments[512], command[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    snprintf(command, sizeof command, "%s %s 2>&1", getenv("TFGEN") ? getenv("TFGEN") : "./tfgen", arguments);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = 0;
    return WEXITSTATUS(pclose(pipe));
}
#define says(part) ck_assert_msg(strstr(output, part), "no '%s' in:\n%s", part, output)

START_TEST(the_command_looks_after_the_cache)
{
    requests q;
    make_requests(&q, 2);
    if (!use_fake_compiler("")) return;
    cache *c = open_cache();
    compile_all(c, &q, 1);
    char *path = stored_file(c, "no code object", 300);
    cache_close(c);
    ck_assert_int_eq(tfgen("cache path"), 0);
    ck_assert_int_eq(strncmp(output, place, strlen(place)), 0);
    ck_assert_int_eq(tfgen("cache ls"), 0);
    says("k0.hip");
    says("gfx942");
    says("3 entries");
    ck_assert_int_eq(tfgen("cache ls --json"), 0);
    says("\"kernel\": \"k1.hip\"");
    says("\"fault\": null");
    ck_assert_int_eq(tfgen("cache verify"), 1);
    says("it holds no code object");
    says("1 of 3 entries");
    unlink(path);
    ck_assert_int_eq(tfgen("cache verify"), 0);
    ck_assert_int_eq(tfgen("cache export %s/archive", folder), 0);
    ck_assert_int_eq(tfgen("cache clear"), 0);
    says("removed 2 entries");
    ck_assert_int_eq(tfgen("cache import %s/archive", folder), 0);
    says("added 2 entries");
    setenv("TFGEN_CACHE_SIZE", "1", 1);
    ck_assert_int_eq(tfgen("cache gc"), 0);
    says("removed 2 entries");
    unsetenv("TFGEN_CACHE_SIZE");
    free(path);
}
END_TEST

START_TEST(the_command_refuses_what_makes_no_sense)
{
    char path[128];
    ck_assert_int_eq(tfgen("cache"), 2);
    ck_assert_int_eq(tfgen("cache veryfy"), 2);
    says("did you mean 'verify'?");
    ck_assert_int_eq(tfgen("cache export"), 2);
    ck_assert_int_eq(tfgen("cache path more"), 2);
    ck_assert_int_eq(tfgen("cache import %s/none", folder), 3);
    snprintf(path, sizeof path, "%s/bad", folder);
    spill(path, "tfgen archive 2\n", 16);
    ck_assert_int_eq(tfgen("cache import %s", path), 3);
    says("no archive");
    ck_assert_int_eq(tfgen("cache export /dev/null/x"), 7);
    setenv("TFGEN_CACHE_DIR", "", 1);
    ck_assert_int_eq(tfgen("cache ls"), 7);
    says("off");
}
END_TEST

START_TEST(emit_says_what_was_cached)
{
    if (access(object_file, R_OK)) return (void)printf("skipped: no clang\n");
    unsetenv("TFGEN_CLANG");
    ck_assert_int_eq(tfgen("emit specs/rmsnorm.yaml --target=gfx942 --code -o %s/out", folder), 0);
    ck_assert_ptr_null(strstr(output, ", cached"));
    ck_assert_int_eq(tfgen("emit specs/rmsnorm.yaml --target=gfx942 --code -o %s/out", folder), 0);
    says(", cached");
    ck_assert_int_eq(tfgen("emit specs/rmsnorm.yaml --target=gfx942 --code --no-cache -o %s/out", folder), 0);
    ck_assert_ptr_null(strstr(output, ", cached"));
    setenv("TFGEN_CACHE_DIR", "/dev/null/x", 1);
    ck_assert_int_eq(tfgen("emit specs/rmsnorm.yaml --target=gfx942 --code -o %s/out", folder), 0);
    says("warning: the kernel cache /dev/null/x cannot be written");
}
END_TEST

/* Compiled once, for all tests: the object that the fake compiler hands out. */
static void make_object(void)
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

int main(void)
{
    enum { count_of_changes = sizeof changes / sizeof *changes, count_of_sizes = sizeof sizes / sizeof *sizes };
    Suite *s = suite_create("cache");
    TCase *t = tcase_create("all");
    make_object();
    tcase_add_checked_fixture(t, before_each, after_each);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, what_is_found_is_what_was_stored);
    tcase_add_test(t, a_hit_is_what_the_compiler_gave);
    tcase_add_loop_test(t, whatever_decides_the_code_is_in_the_key, 0, count_of_changes);
    tcase_add_loop_test(t, equal_requests_of_one_call_compile_once, 0, 2);
    tcase_add_test(t, what_does_not_compile_is_not_kept);
    tcase_add_test(t, its_place_follows_the_environment);
    tcase_add_loop_test(t, its_cap_is_read_from_the_environment, 0, count_of_sizes);
    tcase_add_test(t, a_truncated_entry_is_made_again);
    tcase_add_test(t, no_bit_of_an_entry_can_flip);
    tcase_add_test(t, a_sealed_entry_that_lies_is_harmless);
    tcase_add_test(t, an_entry_under_another_key_is_not_that_keys);
    tcase_add_loop_test(t, only_a_plain_file_of_ones_own_is_an_entry, 0, sizeof obstacles / sizeof *obstacles);
    tcase_add_test(t, a_full_disk_means_memory_only_with_one_warning);
    tcase_add_test(t, a_limit_on_file_sizes_is_like_a_full_disk);
    tcase_add_test(t, a_folder_that_cannot_be_written_still_gives_what_it_has);
    tcase_add_loop_test(t, an_impossible_folder_means_memory_only, 0, sizeof impossible / sizeof *impossible);
    tcase_add_test(t, the_host_engine_needs_no_cache_to_compile);
    tcase_add_test(t, what_was_not_used_for_longest_goes_first);
    tcase_add_test(t, storing_keeps_within_the_cap);
    tcase_add_test(t, an_entry_above_the_cap_is_kept_in_memory);
    tcase_add_test(t, clearing_touches_nothing_of_others);
    tcase_add_test(t, thirty_two_processes_compile_each_kernel_once_or_twice);
    tcase_add_test(t, eight_threads_share_one_cache);
    tcase_add_test(t, killed_writers_leave_nothing_wrong);
    tcase_add_test(t, a_dead_owner_is_not_waited_for);
    tcase_add_loop_test(t, waiting_has_a_limit, 0, sizeof marks / sizeof *marks);
    tcase_add_test(t, who_waits_gets_what_the_other_made);
    tcase_add_test(t, an_archive_carries_entries_to_another_folder);
    tcase_add_test(t, an_archive_may_hold_anything_and_adds_only_what_is_good);
    tcase_add_test(t, the_command_looks_after_the_cache);
    tcase_add_test(t, the_command_refuses_what_makes_no_sense);
    tcase_add_test(t, emit_says_what_was_cached);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    unlink(object_file);
    return failed != 0;
}
