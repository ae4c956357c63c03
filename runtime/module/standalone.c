/* Contract: standalone.h. */
#include "runtime/module/standalone.h"
#include "gen/source/standalone.h"
#include <stdlib.h>
#include <string.h>

static void free_log(void *log) { host_log_free(log); }

static void need(arena *a, tfgen_status status, const tfgen_error *error, const host_log *log)
{
    if (status != TFGEN_OK) bail_with_log(a, (tfgen_code)status, (position){0}, log->text ? log->text : "", "%s", error->text);
}

/* For devices that compile source themselves (the host engine). Returns the loaded code. */
static void *compiled_there(arena *a, tfgen_device *d, const standalone_request *r, const char *file, const char *source)
{
    host_log *log = arena_alloc(a, sizeof *log);
    *log = (host_log){0};
    arena_defer(a, free_log, log);
    device_source own = {.name = r->name, .file = file, .text = source, .cache = r->cache, .seconds = compiler_time_limit, .log = log};
    void *image = NULL;
    tfgen_error error;
    need(a, d->api->compile(d, &own, &image, &error), &error, log);
    return image;
}

static void *compiled_here(arena *a, tfgen_device *d, const standalone_request *r, const char *file, const char *source)
{
    const code_request request = {.source = source, .size = strlen(source), .name = file, .arch = d->info.arch};
    const host_log none = {0};
    code_result result = {0};
    void *image = NULL;
    bool hit;
    tfgen_error error;
    (void)cache_compile_all(r->cache, &request, 1, r->jobs, &result, &hit, NULL, NULL);
    if (result.status != build_ok) {
        const char *log = arena_strdup(a, result.log ? result.log : "");
        const tfgen_code code = code_exit(result.status);
        code_result_free(&result);
        bail_with_log(a, code, (position){0}, log, "the kernels that %s have no code for %s", r->purpose, d->info.arch);
    }
    const tfgen_status status = d->api->load(d, result.code, result.code_size, &image, &error);
    code_result_free(&result);
    need(a, status, &error, &none);
    return image;
}

void *standalone_load(arena *a, tfgen_device *d, const standalone_request *r)
{
    const source_text text = standalone_source(a, r->target, r->template_path, arena_printf(a, "kernels that %s", r->purpose));
    char *source = source_whole(&text);
    if (!source) bail(a, code_device, (position){0}, "not enough memory for the sources");
    arena_defer(a, free, source);
    const char *file = arena_printf(a, "%s.hip", r->name);
    return d->api->compile ? compiled_there(a, d, r, file, source) : compiled_here(a, d, r, file, source);
}
