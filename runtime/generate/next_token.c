/* Contract: next_token.h. */
#include "runtime/generate/next_token.h"
#include "ir/graph/half.h"
#include "runtime/module/standalone.h"
#include <stdlib.h>
#include <strings.h>

typedef struct next_token_args { /* as in templates/rows/next_token.h */
    const void *logits, *peaks, *table, *positions;
    void *x, *pos, *count, *tokens;
    int rows, vocabulary, blocks, hidden, last, most;
    float factor;
    int padding; /* named, so that no uninitialised stack bytes go to the device */
} next_token_args;
_Static_assert(sizeof(next_token_args) == 96, "the layout of templates/rows/next_token.h");

enum { gpu_threads = 512, shared_bytes = 128 /* an upper bound of the kernel's: a float per wave and a few more words */ };

static void need(const generator *g, tfgen_status status, const tfgen_error *error) { unit_need(g->a, status, error); }

/* ---- code */
static void load_kernel(generator *g)
{
    tfgen_device *d = g->device;
    tfgen_module_options known = TFGEN_MODULE_OPTIONS_INIT;
    if (g->options.module) take_options(&known, sizeof known, g->options.module);
    if (known.bundle_only)
        bail(g->a, code_unsupported, (position){0}, "bundles have no kernel that chooses tokens, and bundle_only forbids compiling one");
    tfgen_error error;
    g->next.cache = cache_open(&(cache_options){.directory = known.cache_dir});
    g->next.image = standalone_load(g->a, d, &(standalone_request){.template_path = "templates/rows/next_token.h", .name = "next_token",
                                                                   .purpose = "choose tokens", .target = target_find(d->info.target),
                                                                   .cache = g->next.cache, .jobs = known.jobs});
    const char *name = arena_printf(g->a, "next_token_%s", dtype_name(g->type));
    need(g, d->api->kernel(d, g->next.image, name, 0, &g->next.kernel, &error), &error);
}

/* ---- tables */
typedef struct staging {
    void *bytes;
    double *numbers;
} staging;

static void free_staging(void *argument)
{
    staging *s = argument;
    free(s->bytes), free(s->numbers);
    *s = (staging){NULL, NULL};
}

static void *staged(const generator *g, size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) bail(g->a, code_device, (position){0}, "not enough memory for %zu bytes of an embedding table", bytes);
    return memory;
}

/* Reads the table into host memory, rounded to g->type. */
static void stage_table(const generator *g, const row_table *r, staging *s)
{
    enum { at_once = 1 << 16 };
    const safetensors_tensor *t = r->tensor;
    const size_t size = (size_t)dtype_size(g->type);
    s->bytes = staged(g, (size_t)t->count * size);
    if (strcasecmp(t->dtype, dtype_name(g->type)) == 0) {
        safetensors_bytes(r->file, t, s->bytes);
        return;
    }
    s->numbers = staged(g, at_once * sizeof *s->numbers);
    for (long long i = 0; i < t->count; i += at_once) {
        const long long n = t->count - i < at_once ? t->count - i : at_once;
        safetensors_read_part(r->file, t, i, n, s->numbers);
        for (long long k = 0; k < n; k++) dtype_put(g->type, s->bytes, (size_t)(i + k), s->numbers[k]);
    }
}

static void *copy_table(generator *g, const row_table *r)
{
    const size_t bytes = (size_t)r->tensor->count * (size_t)dtype_size(g->type);
    staging *s = arena_alloc(g->a, sizeof *s);
    tfgen_error error;
    void *to;
    *s = (staging){NULL, NULL};
    arena_defer(g->a, free_staging, s);
    stage_table(g, r, s);
    need(g, tfgen_device_alloc(g->device, bytes, &to, &error), &error);
    const tfgen_status status = tfgen_device_copy(g->device, to, s->bytes, bytes, TFGEN_TO_DEVICE, g->stream, &error);
    if (status != TFGEN_OK) tfgen_device_free(g->device, to);
    need(g, status, &error);
    need(g, tfgen_device_synchronize(g->device, g->stream, &error), &error);
    free_staging(s);
    g->facts.weight_bytes += (long long)bytes;
    return to;
}

void next_token_open(generator *g)
{
    const size_t sequences = g->options.sequences;
    tfgen_error error;
    load_kernel(g);
    g->next.table = copy_table(g, &g->embedding);
    if (g->positions.tensor) g->next.positions = copy_table(g, &g->positions);
    need(g, tfgen_device_alloc(g->device, sequences * sizeof(int32_t), &g->next.count, &error), &error);
    need(g, tfgen_device_alloc(g->device, most_steps_ahead * sequences * sizeof(int32_t), &g->next.tokens, &error), &error);
}

void next_token_close(generator *g)
{
    const next_token *n = &g->next;
    void *const memory[] = {n->table, n->positions, n->count, n->tokens};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) tfgen_device_free(g->device, memory[i]);
    if (n->image) g->device->api->unload(g->device, n->image);
    cache_close(n->cache);
}

/* ---- launches */
void next_token_restart(generator *g)
{
    tfgen_error error;
    const size_t bytes = g->options.sequences * sizeof(int32_t);
    need(g, g->device->api->fill(g->device, g->next.count, 0, bytes, g->stream, &error), &error);
}

void next_token_launch(generator *g, size_t rows)
{
    const target_info *target = target_find(g->device->info.target);
    const size_t first = (size_t)g->stem.first_position * g->facts.hidden * (size_t)dtype_size(g->type);
    const launch_shape shape = {.grid = (unsigned)rows, .threads = target->serial ? 1 : gpu_threads, .shared_bytes = shared_bytes,
                                .wave = (unsigned)target->wave,
                                .overlap = target->overlaps};
    _Alignas(128) next_token_args args = {.logits = g->logits,
                                          .peaks = g->peaks,
                                          .table = g->next.table,
                                          .positions = g->next.positions ? (char *)g->next.positions + first : NULL,
                                          .x = g->x[0],
                                          .pos = g->pos,
                                          .count = g->next.count,
                                          .tokens = g->next.tokens,
                                          .rows = (int)rows,
                                          .vocabulary = (int)g->facts.vocabulary,
                                          .blocks = g->block ? (int)((long long)g->facts.vocabulary / g->block) : 0,
                                          .hidden = (int)g->facts.hidden,
                                          .last = (int)g->options.room - 1,
                                          .most = most_steps_ahead,
                                          .factor = (float)generator_multiplier(g)};
    tfgen_error error;
    need(g, g->device->api->launch(g->device, g->next.kernel, &shape, &args, sizeof args, g->stream, &error), &error);
}

void next_token_read(generator *g, size_t count, size_t rows, int *tokens)
{
    tfgen_error error;
    const size_t bytes = count * rows * sizeof *tokens;
    need(g, tfgen_device_copy(g->device, tokens, g->next.tokens, bytes, TFGEN_FROM_DEVICE, g->stream, &error), &error);
}
