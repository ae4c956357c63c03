/* In: source text and options.
 * Out: a loaded module, from the cache or fresh from the compiler; what lies where in it.
 * Refuses: objects of another version of the engine. What the cache refuses is compiled again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "runtime/cache/cache.h"
#include "runtime/host/engine.h"
#include "runtime/host/process.h"

enum { SYMBOLISE_LIMIT_MS = 5000 };

/* ---- the cache ---- */

static char *key_of(const char *compiler, const char *source, size_t size, const host_compile_options *o)
{
    host_log text = {0};
    char *key = NULL;
    XXH3_state_t *state = XXH3_createState();
    if (state && cc_describe(compiler, o, &text) && XXH3_128bits_reset(state) == XXH_OK) {
        for (const embedded_part *p = embedded_parts(); p->text; p++) XXH3_128bits_update(state, p->text, (size_t)(p->end - p->text));
        const XXH128_hash_t headers = XXH3_128bits_digest(state);
        log_add(&text, "headers %016llx%016llx", (unsigned long long)headers.high64, (unsigned long long)headers.low64);
        if (text.text)
            key = cache_key(&(cache_parts){.kind = cache_host, .name = o->name ? o->name : "kernel.hip", .arch = "host", .compiler = compiler,
                                           .options = text.text, .source = source, .size = size});
    }
    XXH3_freeState(state);
    host_log_free(&text);
    return key;
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

host_module *module_new(void)
{
    host_module *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    pthread_mutex_init(&m->shared_lock, NULL);
    m->file = -1;
    return m;
}

bool module_load(host_module *m, const char *path, host_log *log)
{
    m->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
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
        log_add(log, "the object is not of this version of the engine\n");
        dlclose(m->handle);
        return m->handle = NULL, false;
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

void host_module_free(host_module *m)
{
    if (!m) return;
    if (m->handle) dlclose(m->handle);
    if (m->file >= 0) close(m->file);
    pthread_mutex_destroy(&m->shared_lock);
    free(m->compiler);
    free(m);
}

/* Loads the bytes that were checked, as an object of its own, so that two modules do not share their __shared__ variables. */
static bool load_entry(host_module *m, const code_result *r)
{
    host_log ignored = {0};
    m->cached = object_load(m, r->code, r->code_size, &ignored);
    host_log_free(&ignored);
    return m->cached;
}

/* Compiles, stores and loads. What does not fit into the cache is loaded all the same. */
static host_status make(host_module *m, const char *source, size_t size, const host_compile_options *o, cache *c, const char *key, host_log *log)
{
    const size_t before = log ? log->size : 0;
    code_result r = {.status = build_ok, .compiler = m->compiler};
    host_status status = object_compile(m->compiler, source, size, o, &r.code, &r.code_size, log);
    if (status != HOST_OK) return status;
    r.log = log && log->text ? log->text + before : (char *)"";
    if (key) cache_store(c, cache_host, key, &r);
    if (!object_load(m, r.code, r.code_size, log)) status = HOST_COMPILE_FAILED;
    free(r.code);
    return status;
}

static void note_warning(void *log, const char *text) { log_add(log, "%s\n", text); }

static host_status build(host_module *m, const char *source, size_t size, const host_compile_options *o, host_log *log)
{
    cache *own = o->cache_dir && !o->cache ? cache_open(&(cache_options){.directory = o->cache_dir, .warn = note_warning, .context = log}) : NULL;
    cache *c = o->cache ? o->cache : own;
    char *key = c ? key_of(m->compiler, source, size, o) : NULL;
    cache_claim *claim = NULL;
    code_result r = {0};
    const bool found = key && cache_find_or_claim(c, cache_host, key, &r, &claim);
    host_status status = HOST_OK;
    if (found && load_entry(m, &r)) {
        if (r.log) log_add(log, "%s", r.log);
    } else {
        status = make(m, source, size, o, c, key, log);
    }
    cache_claim_end(claim);
    code_result_free(&r);
    free(key);
    cache_close(own);
    return status;
}

host_status host_compile(const char *source, size_t size, const host_compile_options *options, host_module **out, host_log *log)
{
    const host_compile_options o = options ? *options : (host_compile_options){.optimise = -1};
    *out = NULL;
    host_module *m = module_new();
    if (!m) return HOST_NO_MEMORY;
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
    char *tool = m->file >= 0 ? symboliser_of(m) : NULL;
    bool told = false;
    if (tool) {
        char object[64], address[40];
        host_log answer = {0};
        const bool binutils = strstr(tool, "addr2line") != NULL;
        snprintf(object, sizeof object, "--%s=/proc/%ld/fd/%d", binutils ? "exe" : "obj", (long)getpid(), m->file);
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
