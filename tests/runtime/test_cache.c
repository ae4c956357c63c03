/* The kernel cache returns what a compiler made, whatever its folder contains and whether it is writable or not. */
#define _GNU_SOURCE
#include "tests/runtime/cache_rig.h"

/* ---- hits and misses ---- */

START_TEST(a_found_entry_has_the_stored_bytes)
{
    cache *c = open_cache();
    ck_assert(!find_named(c, "one", 5000));
    ck_assert(store_named(c, "one", 5000));
    ck_assert(find_named(c, "one", 5000));
    ck_assert(!find_named(c, "two", 5000));
    cache_close(c);
    ck_assert((c = open_cache()));
    ck_assert(find_named(c, "one", 5000));
    cache_close(c);
    ck_assert_int_eq(warnings, 0);
}
END_TEST

START_TEST(a_cache_hit_has_the_bytes_that_the_compiler_made)
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

/* Otherwise every start would find out anew that a kernel spills. */
START_TEST(a_kernel_refused_for_spills_is_cached_too)
{
    static const char source[] = TINY_PREFIX SCRATCH_KERNEL;
    const code_request q = {.source = source,
                            .size = sizeof source - 1,
                            .name = "spills.hip",
                            .arch = "sm_90a",
                            .compiler = compiler_nvrtc};
    code_result fresh, cached;
    bool hit;
    char *nvrtc = nvrtc_find();
    if (!nvrtc) return (void)printf("skipped: no NVRTC\n");
    free(nvrtc);
    cache *c = open_cache();
    ck_assert_int_eq(cache_compile_all(c, &q, 1, 1, &fresh, &hit, NULL, NULL), build_failed);
    ck_assert(!hit && code_spills(&fresh, NULL));
    ck_assert_int_eq(cache_compile_all(c, &q, 1, 1, &cached, &hit, NULL, NULL), build_failed);
    ck_assert(hit && !cached.code && same_results(&fresh, &cached));
    code_result_free(&cached);
    code_result_free(&fresh);
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

START_TEST(everything_that_decides_the_code_is_in_the_key)
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
    /* _i = 0: a cache in memory only, where no mark tells another process or thread that a kernel is being compiled; so one job */
    cache *c = _i ? open_cache() : open_at("/proc/no", 0);
    ck_assert_int_eq(cache_compile_all(c, q.list, q.n, _i ? 4 : 1, r, NULL, NULL, NULL), build_ok);
    for (size_t i = 0; i < q.n; i++) ck_assert(right(&q, 0, &r[i])), code_result_free(&r[i]);
    ck_assert_int_eq(calls(NULL), 1);
    cache_close(c);
}
END_TEST

START_TEST(sources_that_do_not_compile_are_not_cached)
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
    ck_assert_int_eq(files_in(path), 0); /* neither an entry nor a mark (ID.busy) */
    cache_close(c);
}
END_TEST

START_TEST(the_folder_of_the_cache_follows_the_environment)
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
    setenv("HOME", "here", 1); /* a relative path may be a folder that another user made */
    ck_assert_ptr_null(cache_open(NULL));
    unsetenv("HOME");
    ck_assert_ptr_null(cache_open(NULL));
}
END_TEST

static const struct {
    const char *text;
    long long bytes;
} sizes[] = {{"", 1LL << 30}, {"12345", 12345}, {"3k", 3072}, {"500M", 500LL << 20}, {"2G", 2LL << 30}, {"0", 0},
             {"-1", -1},      {"2GB", -1},      {"x", -1},    {"9999999999999999G", -1}};

START_TEST(the_size_limit_of_the_cache_is_read_from_the_environment)
{
    setenv("TFGEN_CACHE_SIZE", sizes[_i].text, 1);
    cache *c = cache_open(&(cache_options){.warn = note_warning});
    ck_assert((c == NULL) == (sizes[_i].bytes == 0));
    ck_assert_int_eq(warnings, sizes[_i].bytes < 0);
    if (c) ck_assert_int_eq(c->most_bytes, sizes[_i].bytes < 0 ? 1LL << 30 : sizes[_i].bytes);
    cache_close(c);
}
END_TEST

/* Source and code are as large as those of a large kernel. */
START_TEST(every_cache_hit_returns_all_of_a_large_kernel)
{
    static char source[100000];
    const code_request q = {source, sizeof source, "k.hip", "gfx942", compiler_auto, 0};
    if (!use_fake_compiler("")) return;
    memset(source, 'x', sizeof source);
    memcpy(source, "// kernel k\n", 12);
    cache *c = open_cache();
    code_result r;
    bool hit;
    ck_assert_int_eq(cache_compile_all(c, &q, 1, 1, &r, NULL, NULL, NULL), build_ok);
    r.code = realloc(r.code, 50000);
    memset(r.code + r.code_size, 7, 50000 - r.code_size);
    r.code_size = 50000;
    folder_item *item;
    size_t n;
    ck_assert_ptr_nonnull(item = folder_list(c, &n));
    cache_entry e;
    char *path = folder_file(c, cache_code, item->id, ".entry"), *key;
    ck_assert_ptr_null(entry_read(AT_FDCWD, path, &e, NULL));
    key = strndup((char *)e.bytes + e.payload_size, e.key_size);
    ck_assert(cache_store(c, cache_code, key, &r));
    code_result_free(&r);
    for (int i = 0; i < 50; i++) {
        ck_assert_int_eq(cache_compile_all(c, &q, 1, 1, &r, &hit, NULL, NULL), build_ok);
        ck_assert(hit && r.code_size == 50000);
        code_result_free(&r);
    }
    free(e.bytes);
    free(item);
    free(path);
    free(key);
    cache_close(c);
}
END_TEST

/* ---- damaged or forged entries ---- */

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
    ck_assert(store_named(c, "cut", 300) && find_named(c, "cut", 300));
    free(bytes);
    free(path);
    cache_close(c);
}
END_TEST

START_TEST(an_entry_with_a_flipped_bit_is_not_used)
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

/* Files with a correct seal and wrong content: nothing may be read past the end (run with SAN=address). */
START_TEST(a_sealed_entry_with_wrong_content_is_harmless)
{
    cache *c = open_cache();
    size_t size;
    char *path = stored_file(c, "lies", 40), *key = key_named("lies");
    unsigned char *bytes = slurp(path, &size), *copy = malloc(size);
    for (int round = 0; round < 3000; round++) {
        XXH128_canonical_t hash;
        code_result r;
        memcpy(copy, bytes, size);
        for (int n = 0; n < 1 + round % 3; n++)
            copy[40 + strlen(key) + (size_t)random() % (size - 40 - strlen(key) - 16)] = (unsigned char)(round % 2 ? random() : 255);
        XXH128_canonicalFromHash(&hash, XXH3_128bits(copy, size - 16));
        memcpy(copy + size - 16, hash.digest, 16);
        spill(path, copy, size);
        if (cache_find(c, cache_code, key, &r)) code_result_free(&r);
    }
    free(bytes);
    free(copy);
    free(path);
    free(key);
    cache_close(c);
}
END_TEST

START_TEST(an_entry_stored_under_another_key_is_not_used)
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
    ck_assert(store_named(c, "two", 300) && find_named(c, "two", 300));
    free(bytes);
    free(one);
    free(two);
    cache_close(c);
}
END_TEST

static void put_link(const char *path)
{
    char aside[160];
    snprintf(aside, sizeof aside, "%s.aside", path);
    ck_assert_int_eq(symlink(aside, path), 0); /* a link to the entry itself */
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

START_TEST(only_a_plain_file_owned_by_the_user_is_an_entry)
{
    char aside[160];
    cache *c = open_cache();
    char *path = stored_file(c, "in the way", 300);
    snprintf(aside, sizeof aside, "%s.aside", path);
    ck_assert_int_eq(rename(path, aside), 0);
    obstacles[_i](path);
    ck_assert(!find_named(c, "in the way", 300));
    const bool stored = store_named(c, "in the way", 300);
    ck_assert(stored == (obstacles[_i] != put_directory)); /* a folder cannot be replaced, so the entry stays in memory */
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
        mount("none", place, "tmpfs", 0, "size=256k,mode=700")) return (void)printf("skipped: no right to mount a small disk\n");
    char names[20][16], path[128];
    cache *c = open_cache();
    int stored = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(names[i], sizeof names[i], "full%d", i);
        stored += store_named(c, names[i], 40000);
    }
    ck_assert(stored > 2 && stored < 10);
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strstr(warning, strerror(ENOSPC)) && strstr(warning, place), "%s", warning);
    for (int i = 0; i < 20; i++) ck_assert(find_named(c, names[i], 40000));
    cache_close(c);
    snprintf(path, sizeof path, "%s/code", place);
    ck_assert_int_eq(files_in(path), stored); /* no partial files are left */
    c = open_cache();
    for (int i = 0; i < 20; i++) stored -= find_named(c, names[i], 40000);
    ck_assert_int_eq(stored, 0);
    cache_close(c);
    umount(place);
}
END_TEST

START_TEST(exceeding_a_file_size_limit_is_handled_like_a_full_disk)
{
    signal(SIGXFSZ, SIG_IGN);
    cache *c = open_cache();
    ck_assert(store_named(c, "small", 300));
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){20000, 20000}), 0);
    ck_assert(!store_named(c, "large", 40000));
    ck_assert_int_eq(warnings, 1);
    ck_assert(find_named(c, "large", 40000) && find_named(c, "small", 300));
    cache_close(c);
}
END_TEST

START_TEST(a_read_only_cache_folder_still_serves_its_entries)
{
    cache *c = open_cache();
    ck_assert(store_named(c, "there", 300));
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
    const pid_t child = fork(); /* a process that gave up root could not remove the files */
    if (child == 0) {
        if (is_root() && (setgid(65534) || setuid(65534))) _exit(0);
        c = open_cache();
        bool good = find_named(c, "there", 300);
        good = good && !store_named(c, "new", 300) && !store_named(c, "newer", 300);
        good = good && find_named(c, "new", 300) && find_named(c, "newer", 300);
        cache_close(c);
        _exit(good && warnings == 1 ? 7 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return (void)printf("skipped: root cannot be put off\n");
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    for (const char *const *d = (const char *const[]){"", "/code", NULL}; *d; d++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", place, *d);
        ck_assert_int_eq(chmod(path, 0755), 0);
    }
}
END_TEST

static const char *const impossible[] = {"/proc/no/such", "/dev/null/cache", "/dev/null"};

START_TEST(an_impossible_folder_means_memory_only)
{
    cache *c = open_at(impossible[_i], 0);
    cache_claim *claim;
    code_result r;
    char *key = key_named("x");
    ck_assert(!cache_find_or_claim(c, cache_code, key, &r, &claim));
    ck_assert_ptr_null(claim);
    ck_assert(!store_named(c, "x", 300));
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

START_TEST(the_least_recently_used_entry_is_removed_first)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    cache *c = open_cache();
    for (int i = 0; i < 4; i++) {
        char *path = stored_file(c, names[i], 10000);
        set_age(path, 1000 - 100 * i);
        free(path);
    }
    ck_assert(find_named(c, "a", 10000)); /* a use makes it the most recently used */
    const cache_counts n = cache_sweep(c, 25000);
    ck_assert_int_eq(n.kept, 2);
    ck_assert_int_eq(n.removed, 2);
    ck_assert(n.kept_bytes <= 25000 && n.kept_bytes > 20000);
    ck_assert(find_named(c, "a", 10000) && find_named(c, "d", 10000));
    ck_assert(!find_named(c, "b", 10000) && !find_named(c, "c", 10000));
    cache_close(c);
}
END_TEST

START_TEST(storing_keeps_the_cache_within_its_limit)
{
    cache *c = open_at(place, 100000);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        ck_assert(store_named(c, name, 9000));
        ck_assert(find_named(c, name, 9000));
    }
    const cache_counts n = cache_sweep(c, -1);
    ck_assert_int_eq(n.removed, 0);
    ck_assert(n.kept_bytes <= 100000 && n.kept >= 8);
    cache_close(c);
}
END_TEST

START_TEST(an_entry_above_the_limit_is_kept_in_memory)
{
    cache *c = open_at(place, 5000);
    ck_assert(!store_named(c, "large", 6000));
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strstr(warning, "TFGEN_CACHE_SIZE"), "%s", warning);
    ck_assert(find_named(c, "large", 6000));
    ck_assert_int_eq(cache_sweep(c, -1).kept, 0);
    cache_close(c);
}
END_TEST

START_TEST(the_cache_in_memory_has_a_limit_too)
{
    cache *c = open_at(place, 5000);
    c->most_kept = 20000;
    for (int i = 0; i < 4; i++) {
        const char name[] = {(char)('a' + i), 0};
        ck_assert(!store_named(c, name, 8000));
        ck_assert_int_eq(find_named(c, name, 8000), i < 2);
    }
    cache_close(c);
}
END_TEST

/* A wrong clock dated the last sweep decades into the future. The next entry stored must cause a sweep, as if the last were long ago. */
START_TEST(a_sweep_dated_in_the_future_is_ignored)
{
    char path[128];
    cache *c = open_at(place, 1000000);
    for (int i = 0; i < 10; i++) ck_assert(store_named(c, (const char[]){(char)('a' + i), 0}, 90000));
    cache_close(c);
    snprintf(path, sizeof path, "%s/swept", place);
    spill(path, "", 0);
    set_age(path, -1000000000);
    c = open_at(place, 300000);
    ck_assert(store_named(c, "one more", 300)); /* too small to cause a sweep by its size */
    ck_assert_int_le(cache_sweep(c, 1 << 30).kept_bytes, 300000);
    cache_close(c);
}
END_TEST

START_TEST(clearing_the_cache_leaves_other_files)
{
    char path[160];
    cache *c = open_cache();
    free(stored_file(c, "x", 300));
    static const char *const foreign[] = {"notes", "0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef.txt",
                                          "z123.entry"};
    for (int i = 0; i < 4; i++) snprintf(path, sizeof path, "%s/code/%s", place, foreign[i]), spill(path, "mine", 4);
    ck_assert_int_eq(cache_sweep(c, 0).removed, 1);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/code/%s", place, foreign[i]);
        ck_assert_int_eq(access(path, F_OK), 0);
    }
    cache_close(c);
}
END_TEST

int main(void)
{
    enum { count_of_changes = sizeof changes / sizeof *changes, count_of_sizes = sizeof sizes / sizeof *sizes };
    Suite *s = suite_create("cache");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, before_each, after_each);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_found_entry_has_the_stored_bytes);
    tcase_add_test(t, a_cache_hit_has_the_bytes_that_the_compiler_made);
    tcase_add_test(t, a_kernel_refused_for_spills_is_cached_too);
    tcase_add_loop_test(t, everything_that_decides_the_code_is_in_the_key, 0, count_of_changes);
    tcase_add_loop_test(t, equal_requests_of_one_call_compile_once, 0, 2);
    tcase_add_test(t, sources_that_do_not_compile_are_not_cached);
    tcase_add_test(t, the_folder_of_the_cache_follows_the_environment);
    tcase_add_loop_test(t, the_size_limit_of_the_cache_is_read_from_the_environment, 0, count_of_sizes);
    tcase_add_test(t, every_cache_hit_returns_all_of_a_large_kernel);
    tcase_add_test(t, a_truncated_entry_is_made_again);
    tcase_add_test(t, an_entry_with_a_flipped_bit_is_not_used);
    tcase_add_test(t, a_sealed_entry_with_wrong_content_is_harmless);
    tcase_add_test(t, an_entry_stored_under_another_key_is_not_used);
    tcase_add_loop_test(t, only_a_plain_file_owned_by_the_user_is_an_entry, 0, sizeof obstacles / sizeof *obstacles);
    tcase_add_test(t, a_full_disk_means_memory_only_with_one_warning);
    tcase_add_test(t, exceeding_a_file_size_limit_is_handled_like_a_full_disk);
    tcase_add_test(t, a_read_only_cache_folder_still_serves_its_entries);
    tcase_add_loop_test(t, an_impossible_folder_means_memory_only, 0, sizeof impossible / sizeof *impossible);
    tcase_add_test(t, the_host_engine_needs_no_cache_to_compile);
    tcase_add_test(t, the_least_recently_used_entry_is_removed_first);
    tcase_add_test(t, storing_keeps_the_cache_within_its_limit);
    tcase_add_test(t, an_entry_above_the_limit_is_kept_in_memory);
    tcase_add_test(t, the_cache_in_memory_has_a_limit_too);
    tcase_add_test(t, a_sweep_dated_in_the_future_is_ignored);
    tcase_add_test(t, clearing_the_cache_leaves_other_files);
    suite_add_tcase(s, t);
    return run_cache_suite(s);
}
