/* In: a model's folder, --layers, --input with x [B, S, D]. Out: y, the result of the last layer (-o), and the time of each layer. Refuses
 * options that are about one spec, inputs of another shape, and what runtime/generate/chain.h refuses. */
#include "runtime/cli/run_model.h"
#include "runtime/cli/trial.h"
#include "runtime/generate/chain.h"
#include "ir/graph/half.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void refuse_others(arena *a, const cli_options *o)
{
    const struct {
        const char *name, *given;
    } others[] = {{"weights", o->weights},     {"layer", o->layer},         {"state", o->state},       {"preset", o->preset},
                  {"dim", o->dim},             {"dump", o->dump},           {"dump-data", o->dump_data}, {"from", o->from},
                  {"spec", o->spec},           {"replace-source", o->replace_source}, {"fusion", o->fusion}, {"no-fuse", o->no_fuse},
                  {"check", o->check},         {"repeat", o->repeat},       {"seed", o->seed}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given) bail(a, code_usage, (position){0}, "--%s is for a SPEC, not for a model's folder", others[i].name);
    if (o->reference && strcmp(o->reference, "never") != 0)
        bail(a, code_usage, (position){0}, "--reference: layers of a folder are not compared; `tfgen import` writes the spec of each");
    if (!o->input)
        bail(a, code_usage, (position){0}, "--input is missing: a safetensors file with x [B, S, D], which the first layer reads");
}

static void read_layers(arena *a, const cli_options *o, chain_request *r)
{
    char *end = NULL;
    r->first = 0, r->last = r->model->layers - 1;
    if (!o->layers) return;
    errno = 0;
    r->first = r->last = strtoll(o->layers, &end, 10);
    const bool range = end > o->layers && *end == '-' && end[1] >= '0' && end[1] <= '9';
    if (range) r->last = strtoll(end + 1, &end, 10);
    if (end == o->layers || *end || errno || r->first < 0)
        bail(a, code_usage, (position){0}, "--layers: '%s' is not the number of a layer, or a range such as 0-3", o->layers);
}

/* ---- inputs */
static const safetensors_tensor *need_rank(arena *a, const cli_options *o, const safetensors *f, const char *name, int rank,
                                           const char *shape)
{
    const safetensors_tensor *t = safetensors_need(f, name);
    if (t->rank != rank || !t->count) bail(a, code_bad_input, (position){0}, "%s: tensor %s should be %s", o->input, name, shape);
    return t;
}

static void read_lengths(arena *a, const cli_options *o, const safetensors *f, chain_request *r)
{
    if (!safetensors_find(f, "n")) return;
    const safetensors_tensor *t = need_rank(a, o, f, "n", 1, "[B], the tokens of each text");
    double *numbers = arena_alloc(a, (size_t)t->count * sizeof *numbers);
    int32_t *lengths = arena_alloc(a, (size_t)t->count * sizeof *lengths);
    if (!r->model->config->family->encoder)
        bail(a, code_usage, (position){0}, "%s: n is for encoders: %s is causal, so its tokens never see padding behind their text",
             o->input, r->model->config->family->model_type);
    if (t->count != r->batch)
        bail(a, code_bad_input, (position){0}, "%s: n has %lld numbers, x has %lld texts", o->input, t->count, r->batch);
    safetensors_read(f, t, numbers);
    for (long long i = 0; i < t->count; i++) {
        if (!(numbers[i] >= 1 && numbers[i] <= (double)r->tokens) || numbers[i] != floor(numbers[i]))
            bail(a, code_bad_input, (position){0}, "%s: n should be whole numbers from 1 to %lld", o->input, r->tokens);
        lengths[i] = (int32_t)numbers[i];
    }
    r->lengths = lengths;
}

static void *host_memory(arena *a, size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) bail(a, code_device, (position){0}, "not enough memory for %zu bytes", bytes);
    arena_defer(a, free, memory);
    return memory;
}

/* x in the layers' dtype. */
static void *read_rows(arena *a, const cli_options *o, const safetensors *f, const chain *c)
{
    const safetensors_tensor *t = safetensors_find(f, "x");
    if (t->shape[2] != c->hidden)
        bail(a, code_bad_input, (position){0}, "%s: x has rows of %lld columns, the model's layers have %lld", o->input, t->shape[2],
             c->hidden);
    double *numbers = host_memory(a, (size_t)t->count * sizeof *numbers);
    void *x = host_memory(a, (size_t)t->count * (size_t)dtype_size(c->type));
    safetensors_read(f, t, numbers);
    for (long long i = 0; i < t->count; i++) dtype_put(c->type, x, (size_t)i, numbers[i]);
    return x;
}

/* ---- output */
static const char *kind_of(const chain_request *r, long long layer) { return r->model->kinds[r->model->kind_of[layer]].name; }

static void print_times(arena *a, const cli_options *o, const chain_request *r, const chain *c)
{
    json_t *list = o->json ? json_array() : NULL;
    for (long long i = r->first; i <= r->last; i++) {
        if (list)
            json_array_append_new(list,
                                  json_pack("{s:I, s:s, s:f}", "layer", (json_int_t)i, "kind", kind_of(r, i), "seconds", c->seconds[i]));
        else if (!o->quiet) printf("  layer %-4lld %-12s %10.3f ms\n", i, kind_of(r, i), 1e3 * c->seconds[i]);
    }
    if (list)
        cli_print_json(cli_keep_json(a, json_pack("{s:s, s:s, s:s, s:o}", "model_type", r->model->config->family->model_type, "dtype",
                                                  dtype_name(c->type), "target", r->device->info.target, "layers", list)));
}

static void write_result(arena *a, const cli_options *o, const chain_request *r, const chain *c, const void *x)
{
    const long long shape[] = {r->batch, r->tokens, c->hidden};
    const safetensors_item item = {"y", dtype_file_name(c->type), 3, shape, x};
    if (o->output) safetensors_write(a, o->output, &item, 1);
}

static long long longest(const model *m)
{
    long long most = m->kinds[0].layer.positions;
    for (int k = 1; k < m->kind_count; k++) most = m->kinds[k].layer.positions < most ? m->kinds[k].layer.positions : most;
    return most;
}

void run_model(arena *a, const cli_options *o, const char *folder)
{
    const char *target = o->target;
    const name_list tiles = options_lines(a, o->tile);
    compile_request request = {0};
    tfgen_module_options module = TFGEN_MODULE_OPTIONS_INIT;
    refuse_others(a, o);
    cli_device_model(a, o->device_model, &request);
    module.jobs = (int)o->number.jobs, module.cache_dir = o->no_cache ? "" : NULL;
    const safetensors *f = safetensors_open(a, o->input);
    const safetensors_tensor *x = need_rank(a, o, f, "x", 3, "[B, S, D]");
    chain_request r = {.model = model_open(a, folder, 0, o->part), .batch = x->shape[0], .tokens = x->shape[1]};
    if (r.tokens > longest(r.model)) r.model = model_open(a, folder, r.tokens, o->part); /* longer texts may have other ropes */
    r.options = (unit_options){.dtype = o->dtype, .device_model = request.device_model, .wisdom = o->wisdom, .tiles = tiles.names,
                               .tile_count = tiles.count, .module = &module};
    read_layers(a, o, &r);
    read_lengths(a, o, f, &r);
    chain c = chain_open(a, &r);
    void *rows = read_rows(a, o, f, &c);
    r.device = trial_open_device(a, o, &target);
    if (!o->quiet && !o->json)
        printf("%s  %s  layers %lld-%lld  on %s, target %s\n", r.model->config->family->model_type, dtype_name(c.type), r.first, r.last,
               r.device->info.name, target);
    chain_run(a, &r, &c, rows);
    write_result(a, o, &r, &c, rows);
    print_times(a, o, &r, &c);
}
