/* In: source text and options.
 * Out: a loaded module, from the cache or from the compiler.
 * Refuses: what the compiler refuses. A cache entry that the loader refuses is compiled again. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "runtime/cache/cache.h"
#include "runtime/host/engine.h"

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
            key = cache_key(&(cache_parts){.kind = cache_host,
                                           .name = compile_name(o),
                                           .arch = "host",
                                           .compiler = compiler,
                                           .options = text.text,
                                           .source = source,
                                           .size = size});
    }
    XXH3_freeState(state);
    host_log_free(&text);
    return key;
}

/* Loads the verified bytes as a separate object, so that two modules do not share __shared__ variables. */
static bool load_entry(host_module *m, const code_result *r)
{
    host_log ignored = {0};
    m->cached = module_load(m, r->code, r->code_size, &ignored);
    host_log_free(&ignored);
    return m->cached;
}

/* Compiles, stores and loads. An object that cannot be stored is loaded all the same. */
static host_status make(host_module *m, const char *source, size_t size, const host_compile_options *o, cache *c, const char *key,
                        host_log *log)
{
    const size_t before = log ? log->size : 0;
    code_result r = {.status = build_ok, .compiler = m->compiler};
    host_status status = object_compile(m->compiler, source, size, o, &r.code, &r.code_size, log);
    if (status != HOST_OK) return status;
    r.log = log && log->text ? log->text + before : (char *)"";
    if (key) cache_store(c, cache_host, key, &r);
    if (!module_load(m, r.code, r.code_size, log)) status = HOST_COMPILE_FAILED;
    free(r.code);
    return status;
}

static void note_warning(void *log, const char *text) { log_add(log, "%s\n", text); }

static host_status build(host_module *m, const char *source, size_t size, const host_compile_options *o, host_log *log)
{
    cache *own =
        o->cache_dir && !o->cache ? cache_open(&(cache_options){.directory = o->cache_dir, .warn = note_warning, .context = log}) : NULL;
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
    m->places = page_places_read(source, size, compile_name(&o));
    host_status status = cc_find(&o, &m->compiler, log);
    if (status == HOST_OK) status = build(m, source, size, &o, log);
    if (status == HOST_OK && o.explain && !m->lines) m->source = lines_keep(source, size, &o);
    if (status == HOST_OK) *out = m;
    else host_module_free(m);
    return status;
}
