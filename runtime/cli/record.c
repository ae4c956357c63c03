/* In: runs as JSON, paths. Out: files of runs, and runs read from them (record.h). Refuses files that are not records: not JSON, of another
 * version, without samples, or with invalid times. */
#include "runtime/cli/record.h"
#include "runtime/cli/cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void record_write(arena *a, const char *path, json_t *runs)
{
    json_t *all = cli_keep_json(a, json_pack("{s:i, s:s, s:O}", "record", record_version, "tfgen", TFGEN_VERSION, "runs", runs));
    const char *text = arena_printf(a, "%s\n", cli_json_text(a, all, JSON_INDENT(1)));
    cli_write_file(a, path, text, strlen(text));
}

/* ---- reading */
typedef struct reader {
    arena *a;
    const char *path;
    int run; /* number of the run being read, from 1; 0: the file */
} reader;

static _Noreturn void refuse(const reader *r, const char *what)
{
    arena_source(r->a, r->path, NULL, 0);
    if (r->run) bail(r->a, code_bad_input, (position){0}, "run %d: %s", r->run, what);
    bail(r->a, code_bad_input, (position){0}, "%s", what);
}

static const char *text_of(const reader *r, const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    if (!s) refuse(r, arena_printf(r->a, "it has no %s", key));
    return text_harmless(r->a, s);
}

static double seconds_of(const reader *r, const json_t *x)
{
    const double s = json_number_value(x);
    if (!json_is_number(x) || !(s > 0) || !isfinite(s)) refuse(r, "a time is not a positive number");
    return s;
}

static const char *dims_of(const reader *r, json_t *dims)
{
    text t = {.a = r->a};
    const char *name;
    json_t *value;
    json_object_foreach(dims, name, value) text_printf(&t, " %s=%lld", text_harmless(r->a, name), (long long)json_integer_value(value));
    return t.data ? t.data : "";
}

static const char *key_text(arena *a, const char *const part[4], const char *dims, bool graph)
{
    return arena_printf(a, "%s %s level %s%s, %s%s", part[0], part[1], part[2], dims, part[3], graph ? ", graph replay" : "");
}

static const char *key_of(const reader *r, const json_t *o)
{
    const char *const parts[] = {text_of(r, o, "block"), text_of(r, o, "dtype"), text_of(r, o, "fusion"), text_of(r, o, "target")};
    return key_text(r->a, parts, dims_of(r, json_object_get(o, "dims")), json_is_true(json_object_get(o, "graph")));
}

const char *record_key(arena *a, const ir_graph *p, const char *target, bool graph)
{
    const char *const parts[] = {p->name, dtype_name(p->type), fusion_level_name(p->level), target};
    text dims = {.a = a};
    for (int i = 0; i < p->dims.count; i++) text_printf(&dims, " %s=%lld", p->dims.dims[i].name, p->dims.dims[i].value);
    return key_text(a, parts, dims.data ? dims.data : "", graph);
}

const recorded_run *record_find(const record *r, const char *key)
{
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->runs[i].key, key) == 0) return &r->runs[i];
    return NULL;
}

static void read_launches(const reader *r, const json_t *list, recorded_run *out)
{
    size_t i;
    json_t *l;
    out->launches = arena_alloc(r->a, (json_array_size(list) + 1) * sizeof *out->launches);
    out->launch_count = 0;
    json_array_foreach((json_t *)list, i, l)
    {
        const json_t *s = json_object_get(l, "seconds");
        out->launches[out->launch_count++] =
            (recorded_launch){text_of(r, l, "name"),
                              {seconds_of(r, json_object_get(s, "median")), seconds_of(r, json_object_get(s, "p10")),
                               seconds_of(r, json_object_get(s, "p90"))}};
    }
}

static recorded_run *run_of(record *all, const char *key)
{
    recorded_run *known = (recorded_run *)record_find(all, key);
    if (known) return known;
    all->runs[all->count] = (recorded_run){.key = key};
    return &all->runs[all->count++];
}

static void read_run(const reader *r, const json_t *o, record *all)
{
    const json_t *samples = json_object_get(o, "samples");
    const size_t count = json_array_size(samples);
    recorded_run *run = run_of(all, key_of(r, o));
    const char *device = text_of(r, o, "label"), *check = json_string_value(json_object_get(o, "check"));
    if (!count) refuse(r, "it has no samples; bench --record writes them, --json does not");
    if (run->device && strcmp(run->device, device) != 0) refuse(r, "the same run on two devices");
    run->device = device;
    if (check && strncmp(check, "BAD", 3) == 0) run->bad = text_harmless(r->a, check);
    if (check && strncmp(check, "UNJUDGED", 8) == 0) run->unjudged = text_harmless(r->a, check);
    double *pooled = arena_alloc(r->a, ((size_t)run->sample_count + count) * sizeof *pooled);
    if (run->sample_count) memcpy(pooled, run->samples, (size_t)run->sample_count * sizeof *pooled);
    for (size_t i = 0; i < count; i++) pooled[run->sample_count++] = seconds_of(r, json_array_get(samples, i));
    run->samples = pooled;
    read_launches(r, json_object_get(o, "launches"), run);
}

record record_read(arena *a, const char *path)
{
    reader r = {a, path, 0};
    size_t size;
    const char *text = cli_read_file(a, path, &size);
    json_error_t error;
    json_t *all = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!all) {
        arena_source(a, path, text, size);
        bail(a, code_bad_input, (position){error.line, error.column > 0 ? error.column : 1}, "%s", text_harmless(a, error.text));
    }
    cli_keep_json(a, all);
    const json_t *runs = json_object_get(all, "runs");
    if (json_integer_value(json_object_get(all, "record")) != record_version || !json_array_size(runs))
        refuse(&r, "this is not a record of runs; bench --record=FILE writes one");
    record out = {arena_alloc(a, json_array_size(runs) * sizeof *out.runs), 0};
    for (size_t i = 0; i < json_array_size(runs); i++) {
        r.run = (int)i + 1;
        read_run(&r, json_array_get(runs, i), &out);
    }
    return out;
}
