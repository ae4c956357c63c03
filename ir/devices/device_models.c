/* In: the name of a model, a target, or the name of a device as its driver reports it. Out: a model from the device files, which are built
 * into tfgen (.incbin), so that planning reads no files. NULL: an unknown name. */
#include "ir/devices/device_model.h"
#include <string.h>

#define MODEL(id, path)                                                                                                                   \
    __asm__(".pushsection .rodata\n.hidden tfgen_device_" #id "\n.global tfgen_device_" #id "\ntfgen_device_" #id ":\n.incbin \"" path    \
            "\"\n.hidden tfgen_device_end_" #id "\n.global tfgen_device_end_" #id "\ntfgen_device_end_" #id ":\n.byte 0\n.popsection\n"); \
    extern const char tfgen_device_##id[] __attribute__((visibility("hidden")));                                                          \
    extern const char tfgen_device_end_##id[] __attribute__((visibility("hidden")));
#include "ir/devices/models.def"

static const struct {
    const char *path, *begin, *end;
} files[] = {
#define MODEL(id, path) {path, tfgen_device_##id, tfgen_device_end_##id},
#include "ir/devices/models.def"
};

size_t device_model_total(void) { return sizeof files / sizeof *files; }

const char *device_model_text(size_t index, size_t *size)
{
    *size = (size_t)(files[index].end - files[index].begin);
    return files[index].begin;
}

typedef struct model_job {
    arena *a;
    size_t index;
    device_model *made;
} model_job;

static void read_model(void *argument)
{
    model_job *j = argument;
    size_t size;
    const char *text = device_model_text(j->index, &size);
    j->made = device_model_read(j->a, text, size, files[j->index].path);
}

static void close_arena(void *a) { arena_free(a); }

/* Parsed in an arena of its own: reading sets an arena's source, and that of `a` may be another text. */
device_model *device_model_at(arena *a, size_t index)
{
    model_job j = {arena_new(), index, NULL};
    if (!j.a) bail(a, code_device, (position){0}, "not enough memory");
    arena_defer(a, close_arena, j.a);
    if (arena_run(j.a, read_model, &j) != code_ok) bail(a, code_bad_input, (position){0}, "internal: %s", arena_diagnostics(j.a));
    return j.made;
}

/* True if path is specs/devices/NAME.yaml. */
static bool is_called(const char *path, const char *name)
{
    const char *last = strrchr(path, '/') + 1;
    const size_t n = strlen(name);
    return strncmp(last, name, n) == 0 && strcmp(last + n, ".yaml") == 0;
}

device_model *device_model_find(arena *a, const char *name)
{
    for (size_t i = 0; i < device_model_total(); i++)
        if (is_called(files[i].path, name)) return device_model_at(a, i);
    return NULL;
}

device_model *device_model_named(arena *a, const char *name)
{
    device_model *found = device_model_find(a, name);
    if (found) return found;
    const char *names[sizeof files / sizeof *files];
    text known = {.a = a};
    for (size_t i = 0; i < device_model_total(); i++) {
        names[i] = arena_strdup(a, strrchr(files[i].path, '/') + 1);
        *strrchr(names[i], '.') = '\0';
        text_printf(&known, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = nearest_name(name, names, device_model_total());
    bail(a, code_usage, (position){0}, "no device model is called '%.40s'%s; there are %s", name, nearest_hint(a, near), known.data);
}

device_model *device_model_default(arena *a, const target_info *target)
{
    device_model *d = device_model_find(a, target->device);
    if (!d) bail(a, code_bad_input, (position){0}, "internal: target %s: there is no device file %s", target->name, target->device);
    return d;
}

/* The model whose `match` is the longest substring of the label; the target's default if none matches. */
device_model *device_model_of(arena *a, const target_info *target, const char *label)
{
    device_model *best = NULL;
    for (size_t i = 0; i < device_model_total(); i++) {
        device_model *d = device_model_at(a, i);
        if (d->target != target || !d->match || !strstr(label, d->match)) continue;
        if (!best || strlen(d->match) > strlen(best->match)) best = d;
    }
    return best ? best : device_model_default(a, target);
}

double device_last_level(const device_model *d)
{
    const double cache = d->numbers[number_cache].value;
    return cache > 0 ? cache : d->numbers[number_l2].value;
}

double device_latency(const device_model *d)
{
    const double known = d->numbers[number_latency].value, of_an_h200 = 1e-6;
    return known > 0 ? known : of_an_h200;
}
