/* In: what to do with the kernel cache. Out: its folder, its entries as a table or JSON, an archive. Refuses unknown words with exit
 * code 2, a broken archive with 3; broken entries are exit code 1 of verify. */
#include "runtime/cli/cli.h"
#include "runtime/system/files.h"
#include <errno.h>
#include <jansson.h>
#include <string.h>

typedef struct cache_job {
    arena *a;
    const cli_options *o;
    cache *cache;
    json_t *list;
    long long entries, bytes, broken;
    bool only_broken;
} cache_job;

static void close_cache(void *c) { cache_close(c); }
static void say_warning(void *context, const char *text) { (void)context, fprintf(stderr, "tfgen: warning: %s\n", text); }

cache *cli_cache(arena *a, const cli_options *o)
{
    cache *c = o->no_cache ? NULL : cache_open(&(cache_options){.warn = say_warning});
    if (c) arena_defer(a, close_cache, c);
    return c;
}

static const char *age_text(arena *a, double seconds)
{
    if (seconds < 120) return arena_printf(a, "%.0f s", seconds);
    if (seconds < 2 * 3600) return arena_printf(a, "%.0f min", seconds / 60);
    return seconds < 2 * 86400 ? arena_printf(a, "%.0f h", seconds / 3600) : arena_printf(a, "%.0f d", seconds / 86400);
}

static void show_entry(void *context, const cache_info *info)
{
    cache_job *j = context;
    j->entries++;
    j->bytes += info->bytes;
    j->broken += info->fault != NULL;
    if (j->only_broken && !info->fault) return;
    /* names come from untrusted files */
    const char *name = text_harmless(j->a, info->name), *arch = text_harmless(j->a, info->arch);
    const char *compiler = text_harmless(j->a, info->compiler);
    if (j->o->json) {
        json_array_append_new(j->list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:f, s:s?}", "id", info->id, "kind",
                                                 cache_kind_names[info->kind], "kernel", name, "arch", arch, "compiler", compiler, "bytes",
                                                 (json_int_t)info->bytes, "age_seconds", info->age, "fault", info->fault));
    } else if (info->fault) {
        printf("%s%s/%s.entry: %s%s\n", colour_code(stdout, colour_bad), cache_kind_names[info->kind], info->id, info->fault,
               colour_code(stdout, colour_none));
    } else {
        printf("%-32s %-10s %-24s %8lld KB %8s\n", name, arch, compiler, (info->bytes + 1023) / 1024, age_text(j->a, info->age));
    }
}

static void list_entries(cache_job *j, bool only_broken)
{
    j->only_broken = only_broken;
    j->list = json_array();
    cache_walk(j->cache, show_entry, j);
    if (j->o->json) cli_print_json(j->list);
    else if (!j->o->quiet) {
        printf("%lld entries, %lld KB in %s; %lld broken\n", j->entries, (j->bytes + 1023) / 1024, cache_path(j->cache), j->broken);
    }
    json_decref(j->list);
}

static void show_path(cache_job *j) { puts(cache_path(j->cache)); }
static void list(cache_job *j) { list_entries(j, false); }

static void verify(cache_job *j)
{
    list_entries(j, true);
    if (j->broken)
        bail(j->a, code_check_failed, (position){0}, "%lld of %lld entries are broken; they are made again when they are needed", j->broken,
             j->entries);
}

static void sweep(cache_job *j, long long most)
{
    const cache_counts n = cache_sweep(j->cache, most);
    if (!j->o->quiet)
        printf("removed %lld entries, %lld KB; %lld entries, %lld KB are left\n", n.removed, (n.removed_bytes + 1023) / 1024, n.kept,
               (n.kept_bytes + 1023) / 1024);
    if (n.stuck)
        bail(j->a, code_io, (position){0}, "%s: %lld entries cannot be removed: %s", cache_path(j->cache), n.stuck, strerror(n.reason));
}

static void gc(cache_job *j) { sweep(j, -1); }
static void clear(cache_job *j) { sweep(j, 0); }

static void export(cache_job *j)
{
    const char *path = j->o->files[1];
    const bool standard = strcmp(path, "-") == 0;
    char error[cache_error_size];
    cache_counts n;
    file_draft d = {.out = stdout};
    if (!standard && !file_begin(&d, path)) bail(j->a, code_io, (position){0}, "%s: cannot write: %s", path, file_why(errno));
    bool good = cache_export(j->cache, d.out, &n, error);
    if (!standard && !file_finish(&d, good) && good) good = false, snprintf(error, sizeof error, "%s", strerror(errno));
    if (!good) bail(j->a, code_io, (position){0}, "%s: cannot write: %s", path, error);
    if (!j->o->quiet)
        fprintf(stderr, "exported %lld entries, %lld KB; left out %lld broken ones\n", n.kept, (n.kept_bytes + 1023) / 1024, n.refused);
}

static void import(cache_job *j)
{
    const char *path = j->o->files[1];
    char error[cache_error_size];
    cache_counts n;
    FILE *in = strcmp(path, "-") == 0 ? stdin : cli_open_input(j->a, path);
    const bool good = cache_import(j->cache, in, &n, error);
    if (!j->o->quiet)
        printf("added %lld entries, %lld KB; %lld were there, %lld refused\n", n.kept, (n.kept_bytes + 1023) / 1024, n.known, n.refused);
    if (!good) bail(j->a, code_bad_input, (position){0}, "%s: %s", path, error);
    if (n.refused) bail(j->a, code_check_failed, (position){0}, "%s: %lld entries are invalid and were not added", path, n.refused);
}

typedef struct action {
    const char *name;
    int words;
    void (*run)(cache_job *j);
} action;

static const action actions[] = {{"path", 1, show_path}, {"ls", 1, list},         {"verify", 1, verify}, {"gc", 1, gc},
                                 {"clear", 1, clear},    {"export", 2, export}, {"import", 2, import}};

static void run_action(void *argument)
{
    cache_job *j = argument;
    const char *names[sizeof actions / sizeof *actions];
    const size_t count = sizeof actions / sizeof *actions;
    for (size_t i = 0; i < count; i++) {
        names[i] = actions[i].name;
        if (strcmp(j->o->files[0], actions[i].name)) continue;
        if (j->o->file_count != actions[i].words)
            bail(j->a, code_usage, (position){0}, "usage: tfgen cache %s%s", actions[i].name, actions[i].words > 1 ? " FILE" : "");
        if (j->o->json && actions[i].run != list && actions[i].run != verify)
            bail(j->a, code_usage, (position){0}, "--json goes with tfgen cache ls and verify");
        if (!(j->cache = cli_cache(j->a, j->o)))
            bail(j->a, code_io, (position){0},
                 "the kernel cache is off: TFGEN_CACHE_DIR is empty, there is no HOME, or TFGEN_CACHE_SIZE is 0");
        const char *fault = cache_fault(j->cache);
        if (fault && actions[i].run != show_path)
            bail(j->a, code_io, (position){0}, "%s: the kernel cache is not used: %s; set TFGEN_CACHE_DIR to a folder of your own",
                 cache_path(j->cache), fault);
        actions[i].run(j);
        return;
    }
    const char *near = nearest_name(j->o->files[0], names, count);
    bail(j->a, code_usage, (position){0}, "tfgen cache: '%s' is none of path, ls, verify, gc, clear, export FILE, import FILE%s",
         j->o->files[0], nearest_hint(j->a, near));
}

int command_cache_main(const cli_options *o)
{
    cache_job j = {.a = arena_new(), .o = o};
    return cli_run(run_action, &j, j.a);
}
