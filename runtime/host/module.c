/* In: source text and options.
 * Out: a loaded module, from the cache or fresh from the compiler; what lies where in it.
 * Refuses: cached files that are damaged, of another key, or that other users can write: those are compiled again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "runtime/host/engine.h"
#include "runtime/host/process.h"

enum { MAX_OBJECT = 256 << 20, SYMBOLISE_LIMIT_MS = 5000 };

/* Behind the shared object, where the dynamic loader does not look. */
typedef struct seal {
    char magic[16];
    XXH128_hash_t key;
    XXH64_hash_t content;
} seal;
static const char MAGIC[16] = "tfgen-host-so-1";

/* ---- the cache ---- */

static bool key_of(const char *compiler, const char *source, size_t size, const host_compile_options *o, XXH128_hash_t *key)
{
    host_log text = {0};
    XXH3_state_t *state = XXH3_createState();
    const bool ok = state && cc_describe(compiler, o, &text) && XXH3_128bits_reset(state) == XXH_OK;
    if (ok) {
        XXH3_128bits_update(state, text.text, text.size);
        for (const embedded_part *p = embedded_parts(); p->text; p++) XXH3_128bits_update(state, p->text, (size_t)(p->end - p->text));
        XXH3_128bits_update(state, source, size);
        *key = XXH3_128bits_digest(state);
    }
    XXH3_freeState(state);
    host_log_free(&text);
    return ok;
}

static char *read_file(int file, size_t *size)
{
    struct stat s;
    if (fstat(file, &s) || !S_ISREG(s.st_mode) || s.st_size <= 0 || s.st_size > MAX_OBJECT) return NULL;
    char *bytes = malloc((size_t)s.st_size);
    size_t at = 0;
    for (ssize_t n = 1; bytes && n > 0 && at < (size_t)s.st_size; at += n > 0 ? (size_t)n : 0)
        n = pread(file, bytes + at, (size_t)s.st_size - at, (off_t)at);
    if (bytes && at == (size_t)s.st_size) {
        *size = at;
        return bytes;
    }
    free(bytes);
    return NULL;
}

static bool safe_owner(int file)
{
    struct stat s;
    return !fstat(file, &s) && (s.st_uid == geteuid() || s.st_uid == 0) && !(s.st_mode & 022);
}

static bool sealed(const char *path, XXH128_hash_t key)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    size_t size = 0;
    char *bytes = safe_owner(file) ? read_file(file, &size) : NULL;
    close(file);
    seal s;
    bool ok = bytes && size > sizeof s;
    if (ok) {
        memcpy(&s, bytes + size - sizeof s, sizeof s);
        ok = !memcmp(s.magic, MAGIC, sizeof MAGIC) && XXH128_isEqual(s.key, key) && s.content == XXH3_64bits(bytes, size - sizeof s);
    }
    free(bytes);
    return ok;
}

static bool put_seal(const char *path, XXH128_hash_t key)
{
    const int file = open(path, O_RDWR | O_CLOEXEC | O_APPEND);
    if (file < 0) return false;
    size_t size = 0;
    char *bytes = read_file(file, &size);
    seal s = {.key = key};
    memcpy(s.magic, MAGIC, sizeof MAGIC);
    if (bytes) s.content = XXH3_64bits(bytes, size);
    const bool ok = bytes && write(file, &s, sizeof s) == (ssize_t)sizeof s && !fchmod(file, 0600);
    free(bytes);
    close(file);
    return ok;
}

static bool make_directory(const char *path)
{
    char *copy = strdup(path);
    if (!copy) return false;
    for (char *p = copy + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        if (mkdir(copy, 0700) && errno != EEXIST) break;
        *p = '/';
    }
    const bool ok = !mkdir(copy, 0700) || errno == EEXIST;
    free(copy);
    return ok;
}

static char *cache_path(const char *directory, XXH128_hash_t key)
{
    char *path;
    return asprintf(&path, "%s/host-%016llx%016llx.so", directory, (unsigned long long)key.high64, (unsigned long long)key.low64) < 0
               ? NULL
               : path;
}

static char *temporary_path(const char *directory)
{
    char *path;
    if (asprintf(&path, "%s/tfgen-XXXXXX.so", directory) < 0) return NULL;
    const int file = mkostemps(path, 3, O_CLOEXEC);
    if (file >= 0) {
        close(file);
        return path;
    }
    free(path);
    return NULL;
}

/* ---- loading ---- */

typedef struct span {
    uintptr_t within, low, high;
} span;

static int note_span(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    span *s = argument;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD) continue;
        const uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (at < low) low = at;
        if (at + p->p_memsz > high) high = at + p->p_memsz;
    }
    if (s->within < low || s->within >= high) return 0;
    s->low = low;
    s->high = high;
    return 1;
}

/* Where hs_self lies, seen from the thread pointer: the same in every thread, as it has the initial-exec model. */
static long self_offset(void)
{
#ifdef __x86_64__
    uintptr_t pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
#else
    const uintptr_t pointer = (uintptr_t)__builtin_thread_pointer();
#endif
    return (long)((uintptr_t)&host_self - pointer);
}

static bool load(host_module *m, host_log *log)
{
    m->handle = dlopen(m->path, RTLD_NOW | RTLD_LOCAL);
    if (!m->handle) {
        log_add(log, "%s\n", dlerror());
        return false;
    }
    unsigned (*bind)(const hs_runtime *);
    void *found = dlsym(m->handle, "hs_bind");
    memcpy(&bind, &found, sizeof found);
    hs_runtime runtime = host_runtime;
    runtime.self = self_offset();
    if (!found || bind(&runtime) != HS_ABI_VERSION) {
        log_add(log, "%s is not of this version of the engine\n", m->path);
        return false;
    }
    void (*shared)(char **, char **);
    found = dlsym(m->handle, "hs_static_shared");
    memcpy(&shared, &found, sizeof found);
    char *end = NULL;
    if (found) shared(&m->shared, &end);
    m->shared_bytes = (size_t)(end - m->shared);
    span s = {.within = (uintptr_t)found};
    dl_iterate_phdr(note_span, &s);
    m->low = s.low;
    m->high = s.high;
    m->anchor = (uintptr_t)found;
    return true;
}

bool module_load(host_module *m, host_log *log) { return load(m, log); }

void host_module_free(host_module *m)
{
    if (!m) return;
    if (m->handle) dlclose(m->handle);
    if (m->file > 0) close(m->file);
    if (m->temporary && m->path) unlink(m->path);
    pthread_mutex_destroy(&m->shared_lock);
    free(m->path);
    free(m->compiler);
    free(m);
}

/* Compiles beside `final`, which is null when nothing is kept, and moves the result there in one step. */
static host_status compile(host_module *m, const char *source, size_t size, const host_compile_options *o, char *final,
                           XXH128_hash_t key, host_log *log)
{
    const char *temporary = getenv("TMPDIR");
    m->path = temporary_path(final ? o->cache_dir : temporary && *temporary ? temporary : "/tmp");
    m->temporary = true;
    if (!m->path) {
        log_add(log, "cannot create a file in %s\n", final ? o->cache_dir : temporary && *temporary ? temporary : "/tmp");
        return HOST_IO;
    }
    const host_status status = cc_run(m->compiler, source, size, o, m->path, log);
    if (status != HOST_OK || !final) return status;
    if (!put_seal(m->path, key) || rename(m->path, final)) {
        log_add(log, "cannot write %s\n", final);
        return HOST_IO;
    }
    free(m->path);
    m->path = strdup(final);
    m->temporary = false;
    return m->path ? HOST_OK : HOST_NO_MEMORY;
}

static host_status build(host_module *m, const char *source, size_t size, const host_compile_options *o, host_log *log)
{
    XXH128_hash_t key = {0};
    char *final = NULL;
    if (o->cache_dir) {
        if (!key_of(m->compiler, source, size, o, &key) || !(final = cache_path(o->cache_dir, key))) return HOST_NO_MEMORY;
        if (!make_directory(o->cache_dir)) {
            log_add(log, "cannot create the cache directory %s: %s\n", o->cache_dir, strerror(errno));
            free(final);
            return HOST_IO;
        }
    }
    host_status status = HOST_OK;
    if (final && sealed(final, key)) {
        m->path = final;
        m->cached = true;
        if (load(m, log)) return HOST_OK;
        unlink(final);
        status = HOST_IO;
    } else {
        status = compile(m, source, size, o, final, key, log);
        free(final);
        if (status == HOST_OK && !load(m, log)) status = HOST_COMPILE_FAILED;
        if (status == HOST_OK && m->temporary && !m->lines) m->temporary = unlink(m->path) != 0;
    }
    return status;
}

host_status host_compile(const char *source, size_t size, const host_compile_options *options, host_module **out, host_log *log)
{
    const host_compile_options o = options ? *options : (host_compile_options){.optimise = -1};
    *out = NULL;
    host_module *m = calloc(1, sizeof *m);
    if (!m) return HOST_NO_MEMORY;
    pthread_mutex_init(&m->shared_lock, NULL);
    m->check = o.check;
    m->lines = o.lines || o.check;
    host_status status = cc_find(&o, &m->compiler, log);
    if (status == HOST_OK) status = build(m, source, size, &o, log);
    if (status == HOST_OK) *out = m;
    else host_module_free(m);
    return status;
}

/* ---- what lies where ---- */

const hs_place *module_at(const host_module *m, hs_u32 word)
{
    const uintptr_t offset = (uintptr_t)(intptr_t)(int32_t)((word & ~HS_FLAGS) - (hs_u32)m->anchor);
    return (const hs_place *)(m->anchor + offset);
}

/* clang-22 may have llvm-symbolizer-22 beside it; binutils, which every linker comes with, has addr2line. */
static char *symboliser_of(const host_module *m)
{
    const char *base = strrchr(m->compiler, '/');
    const char *version = base ? strstr(base, "clang") : NULL;
    char *path = NULL;
    if (!version) return NULL;
    if (asprintf(&path, "%.*s/llvm-symbolizer%s", (int)(base - m->compiler), m->compiler, version + 5) < 0) return NULL;
    if (!access(path, X_OK)) return path;
    free(path);
    if (!access("/usr/bin/llvm-symbolizer", X_OK)) return strdup("/usr/bin/llvm-symbolizer");
    return access("/usr/bin/addr2line", X_OK) ? NULL : strdup("/usr/bin/addr2line");
}

/* The symboliser's answer is "function, newline, file:line (and column), newline" for each inlined call, innermost first. */
static bool tell_lines(const char *answer, host_log *log)
{
    enum { MOST = 4 };
    unsigned told = 0;
    for (const char *p = answer; *p && *p != '\n' && told < MOST; told++) {
        const char *place = strchr(p, '\n'), *end = place ? strchr(place + 1, '\n') : NULL;
        if (!end || place[1] == '?') break;
        log_add(log, "%s%.*s (%.*s)", told ? ", in " : "", (int)(end - place - 1), place + 1, (int)(place - p), p);
        p = end + 1;
    }
    return told > 0;
}

bool module_has_lines(const host_module *m) { return m->lines; }

void module_place(const host_module *m, uintptr_t pc, host_log *log)
{
    Dl_info info = {0};
    if (pc < m->low || pc >= m->high) {
        dladdr((void *)pc, &info);
        log_add(log, "%s in %s", info.dli_sname ? info.dli_sname : "?", info.dli_fname ? info.dli_fname : "unknown code");
        return;
    }
    char *tool = m->path && !access(m->path, R_OK) ? symboliser_of(m) : NULL;
    bool told = false;
    if (tool) {
        char object[600], address[40];
        host_log answer = {0};
        const bool binutils = strstr(tool, "addr2line") != NULL;
        snprintf(object, sizeof object, "--%s=%s", binutils ? "exe" : "obj", m->path);
        snprintf(address, sizeof address, "0x%lx", (unsigned long)(pc - m->low));
        char *argv[] = {tool, object, binutils ? "-ifC" : "--functions=short", address, NULL};
        told = process_run(argv, -1, SYMBOLISE_LIMIT_MS, &answer) == PROCESS_OK && answer.text && tell_lines(answer.text, log);
        host_log_free(&answer);
    }
    free(tool);
    if (told) return;
    dladdr((void *)pc, &info);
    if (info.dli_sname) log_add(log, "%s+%#lx", info.dli_sname, (unsigned long)(pc - (uintptr_t)info.dli_saddr));
    else log_add(log, "the module's code +%#lx", (unsigned long)(pc - m->low));
}
