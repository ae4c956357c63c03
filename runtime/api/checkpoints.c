/* The public checkpoint functions. In: paths, names, plans. Out: bytes in host memory. Refuses what runtime/data/checkpoint.h and
 * safetensors.h refuse. A failure ends the arena that holds the open files, so the next call reopens them. */
#include "runtime/data/checkpoint.h"
#include "runtime/module/module.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tfgen_checkpoint {
    arena *kept; /* has the path and the names; freed by tfgen_checkpoint_close() */
    const char *path;
    const char **names;
    size_t count;
    pthread_mutex_t lock; /* guards the fields below */
    arena *a;             /* NULL: not open */
    checkpoint *files;
};

typedef struct job {
    tfgen_checkpoint *c;
    const char *name; /* name of a tensor; for open: the path */
    const tfgen_plan *plan;
    size_t index, bytes;
    int64_t layer;
    void *to;
    tfgen_checkpoint_entry *found;
} job;

/* ---- under arena_run() */
static void open_files(void *argument)
{
    tfgen_checkpoint *c = argument;
    c->files = checkpoint_open(c->a, c->path);
}

static void copy_path(void *argument)
{
    const job *j = argument;
    j->c->path = arena_strdup(j->c->kept, j->name);
}

static void copy_names(void *argument)
{
    tfgen_checkpoint *c = argument;
    while (checkpoint_name_at(c->files, c->count)) c->count++;
    c->names = arena_alloc(c->kept, (c->count + 1) * sizeof *c->names);
    for (size_t i = 0; i < c->count; i++) c->names[i] = arena_strdup(c->kept, checkpoint_name_at(c->files, i));
}

static void find(void *argument)
{
    const job *j = argument;
    const safetensors *file;
    const safetensors_tensor *t = checkpoint_tensor(j->c->files, j->name, &file);
    tfgen_checkpoint_entry *out = j->found;
    if (t->rank > (int)(sizeof out->shape / sizeof *out->shape))
        bail(j->c->a, code_unsupported, (position){0}, "tensor '%s' has %d axes", t->name, t->rank);
    snprintf(out->dtype, sizeof out->dtype, "%s", t->dtype);
    out->rank = t->rank, out->bytes = (int64_t)t->bytes;
    for (int i = 0; i < t->rank; i++) out->shape[i] = t->shape[i];
}

static void read_tensor(void *argument)
{
    const job *j = argument;
    const safetensors *file;
    const safetensors_tensor *t = checkpoint_tensor(j->c->files, j->name, &file);
    if (t->bytes != j->bytes)
        bail(j->c->a, code_usage, (position){0}, "tfgen_checkpoint_read: tensor '%s' has %zu bytes, not %zu", j->name, t->bytes, j->bytes);
    safetensors_bytes(file, t, j->to);
}

static void read_param(void *argument)
{
    static const char *const prefixes[] = {""};
    const job *j = argument;
    const compiled *made = &j->plan->compiled;
    const layer_place place = {made->graph ? made->graph->prefix : NULL, j->layer};
    checkpoint_put_value(j->c->files, j->plan->tensors.values[j->index], &made->plan->ir->dims, place, prefixes, 1, j->to);
}

/* ---- calls */
static void shut(tfgen_checkpoint *c)
{
    if (c->a) arena_free(c->a);
    c->a = NULL, c->files = NULL;
}

static tfgen_status run(arena *a, void (*body)(void *), void *argument, tfgen_error *error)
{
    const tfgen_code code = arena_run(a, body, argument);
    return code == code_ok ? TFGEN_OK : device_report_arena(error, code, a);
}

static tfgen_status opened(tfgen_checkpoint *c, tfgen_error *error)
{
    if (c->files) return TFGEN_OK;
    c->a = arena_new();
    return c->a ? run(c->a, open_files, c, error) : device_report(error, TFGEN_NO_MEMORY, "not enough memory");
}

static tfgen_status locked(job *j, void (*body)(void *), tfgen_error *error)
{
    pthread_mutex_lock(&j->c->lock);
    tfgen_status status = opened(j->c, error);
    if (status == TFGEN_OK) status = run(j->c->a, body, j, error);
    if (status != TFGEN_OK) shut(j->c);
    pthread_mutex_unlock(&j->c->lock);
    return status;
}

static tfgen_status make(const char *path, tfgen_checkpoint **out, tfgen_error *error)
{
    tfgen_checkpoint *c = calloc(1, sizeof *c);
    if (!c || !(c->kept = arena_new())) {
        free(c);
        return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    }
    pthread_mutex_init(&c->lock, NULL);
    tfgen_status status = run(c->kept, copy_path, &(job){.c = c, .name = path}, error);
    if (status == TFGEN_OK) status = opened(c, error);
    if (status == TFGEN_OK) status = run(c->kept, copy_names, c, error);
    if (status == TFGEN_OK) *out = c;
    else tfgen_checkpoint_close(c);
    return status;
}

tfgen_status tfgen_checkpoint_open(const char *path, tfgen_checkpoint **out, tfgen_error *error)
{
    if (out) *out = NULL;
    if (!path || !out) return device_report(error, TFGEN_USAGE, "tfgen_checkpoint_open: path and out must be given");
    return make(path, out, error);
}

void tfgen_checkpoint_close(tfgen_checkpoint *c)
{
    if (!c) return;
    shut(c);
    arena_free(c->kept);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

size_t tfgen_checkpoint_count(const tfgen_checkpoint *c) { return c ? c->count : 0; }
const char *tfgen_checkpoint_name(const tfgen_checkpoint *c, size_t index) { return c && index < c->count ? c->names[index] : NULL; }

tfgen_status tfgen_checkpoint_find(tfgen_checkpoint *c, const char *name, tfgen_checkpoint_entry *out, tfgen_error *error)
{
    tfgen_checkpoint_entry found = {.size = sizeof found};
    if (!c || !name || !out || out->size < sizeof out->size)
        return device_report(error, TFGEN_USAGE, "tfgen_checkpoint_find: checkpoint, name and out must be given, and out->size set");
    const tfgen_status status = locked(&(job){.c = c, .name = name, .found = &found}, find, error);
    if (status == TFGEN_OK) give_struct(out, out->size, &found, sizeof found);
    return status;
}

tfgen_status tfgen_checkpoint_read(tfgen_checkpoint *c, const char *name, void *to, size_t bytes, tfgen_error *error)
{
    if (!c || !name || (bytes && !to))
        return device_report(error, TFGEN_USAGE, "tfgen_checkpoint_read: checkpoint, name and memory must be given");
    return locked(&(job){.c = c, .name = name, .to = to, .bytes = bytes}, read_tensor, error);
}

tfgen_status tfgen_checkpoint_param(tfgen_checkpoint *c, const tfgen_plan *plan, size_t index, int64_t layer, void *to, size_t bytes,
                                    tfgen_error *error)
{
    tfgen_tensor t = {.size = sizeof t};
    if (!c || !plan || !to || tfgen_plan_tensor(plan, index, &t) != TFGEN_OK || t.kind != TFGEN_PARAM)
        return device_report(error, TFGEN_USAGE, "tfgen_checkpoint_param: checkpoint, plan and memory must be given, and a param's index");
    if ((int64_t)bytes != t.bytes)
        return device_report(error, TFGEN_USAGE, "tfgen_checkpoint_param: %s has %lld bytes, not %zu", t.name, (long long)t.bytes, bytes);
    const ir_graph *graph = plan->compiled.graph;
    if (layer >= 0 && !(graph && graph->prefix && strstr(graph->prefix, "{layer}")))
        return device_report(error, TFGEN_USAGE, "tfgen_checkpoint_param: a layer is given, but the spec's prefix has no {layer}");
    return locked(&(job){.c = c, .plan = plan, .index = index, .layer = layer, .to = to}, read_param, error);
}
