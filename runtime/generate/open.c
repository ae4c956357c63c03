/* Opening a generator: plans and loads specs, packs weights, allocates KV caches. Contract: runtime/generate/generate.h. */
#include "runtime/generate/next_token.h"
#include "ir/graph/layer_kinds.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct open_job {
    generator *g;
    const char *folder;
} open_job;

void generator_need(const generator *g, tfgen_status status, const tfgen_error *error) { unit_need(g->a, status, error); }

/* ---- units */
enum { most_dims = 3 };

static unit_options options_of(const generator *g)
{
    const generator_options *o = &g->options;
    return (unit_options){.dtype = o->dtype, .device_model = o->device_model, .wisdom = o->wisdom, .tiles = o->tiles,
                          .tile_count = o->tile_count, .module = o->module};
}

static void open_unit(generator *g, unit *u, const char *spec, const char *name, const tfgen_dim *dims, size_t dim_count, bool followed)
{
    unit_options options = options_of(g);
    tfgen_error error;
    options.followed = followed;
    generator_need(g, unit_open(u, g->device, spec, name, &options, dims, dim_count, &error), &error);
}

/* ---- stacks */
/* Groups the kinds of layers by stack. Kinds share one if a plan takes their specs together (tfgen_plan_options.kinds). */
static void find_stacks(generator *g, layer_set *s)
{
    const model *m = s->model;
    s->first_of = arena_alloc(g->a, ((size_t)m->kind_count + 1) * sizeof *s->first_of);
    s->place_of = arena_alloc(g->a, ((size_t)m->kind_count + 1) * sizeof *s->place_of);
    for (int k = 0; k < m->kind_count; k++) {
        int first = 0;
        while (first < k && (s->first_of[first] != first || !kinds_may_share(g->a, m->kinds[first].ir, m->kinds[k].ir))) first++;
        s->first_of[k] = first, s->place_of[k] = 0;
        for (int i = 0; i < k; i++) s->place_of[k] += s->first_of[i] == first;
        if (s->place_of[k] >= most_layer_kinds) s->first_of[k] = k, s->place_of[k] = 0;
    }
}

/* Opens the decode unit of all kinds that share the stack of kind k, the first of them. */
static void open_stack_unit(generator *g, layer_set *s, int k, const tfgen_dim *dims, size_t dim_count)
{
    model *m = s->model;
    const char *kinds[most_layer_kinds];
    unit_options options = options_of(g);
    tfgen_error error;
    options.stack = true, options.kinds = kinds;
    for (int i = k + 1; i < m->kind_count; i++)
        if (s->first_of[i] == k) kinds[options.kind_count++] = model_spec(m, &m->kinds[i], spec_decode, padding_none);
    const char *spec = model_spec(m, &m->kinds[k], spec_decode, padding_none), *name = arena_printf(g->a, "%s-decode", m->kinds[k].name);
    generator_need(g, unit_open(&s->decode[k], g->device, spec, name, &options, dims, dim_count, &error), &error);
}

static void open_layers(generator *g, layer_set *s)
{
    model *m = s->model;
    s->part = g->options.part < (size_t)s->most ? g->options.part : (size_t)s->most;
    m->part = (long long)s->part;
    const tfgen_dim read[most_dims] = {{"B", 1}, {"S", (int64_t)s->part}, {"L", g->rows}};
    const tfgen_dim step[] = {{"B", (int64_t)g->options.sequences}, {"L", g->rows}};
    s->prefill = arena_alloc(g->a, (size_t)m->kind_count * sizeof *s->prefill);
    s->decode = arena_alloc(g->a, (size_t)m->kind_count * sizeof *s->decode);
    memset(s->prefill, 0, (size_t)m->kind_count * sizeof *s->prefill);
    memset(s->decode, 0, (size_t)m->kind_count * sizeof *s->decode);
    for (int k = 0; k < m->kind_count; k++) model_spec(m, &m->kinds[k], spec_decode, padding_none);
    model_check_tensors(m, -1);
    find_stacks(g, s);
    for (int k = 0; k < m->kind_count; k++) {
        const char *name = m->kinds[k].name;
        open_unit(g, &s->prefill[k], model_spec(m, &m->kinds[k], spec_prefill, padding_none), arena_printf(g->a, "%s-prefill", name), read,
                  most_dims, false);
        if (g->options.stacks && s->first_of[k] == k) open_stack_unit(g, s, k, step, 2);
        if (g->options.stacks) continue;
        open_unit(g, &s->decode[k], model_spec(m, &m->kinds[k], spec_decode, padding_none), arena_printf(g->a, "%s-decode", name), step, 2,
                  true);
    }
}

/* Returns the number of logits in a block; 0: blocks are not used. The head also stores the maximum of each block. The workgroup that
 * chooses a token reads all maxima and then the logits of one block: vocabulary / block + block numbers, which is least where block is the
 * square root of the vocabulary. So the result is the vocabulary's greatest divisor from 4 to that root. */
static long long block_of(long long vocabulary)
{
    for (long long n = (long long)sqrt((double)vocabulary); n >= 4; n--)
        if (vocabulary % n == 0) return n;
    return 0;
}

static void open_stem(generator *g, const model *m)
{
    const size_t rows = g->options.part > g->options.sequences ? g->options.part : g->options.sequences;
    const tfgen_dim step[] = {{"B", (int64_t)g->options.sequences}}, all[] = {{"B", (int64_t)rows}};
    const char *norm = stem_embedding_spec(m, &g->stem);
    g->block = block_of(g->stem.vocabulary);
    open_unit(g, &g->head, stem_head_spec(m, &g->stem, g->block), "head", step, 1, true);
    if (norm) open_unit(g, &g->norm, norm, "embedding", all, 1, false);
}

/* ---- weights and memory */
static void *allocate(generator *g, size_t bytes)
{
    void *memory;
    tfgen_error error;
    generator_need(g, tfgen_device_alloc(g->device, bytes, &memory, &error), &error);
    return memory;
}

static void load_layer(generator *g, long long layer)
{
    const unit *units[4];
    size_t count = 0;
    layer_memory *l = &g->layers[layer];
    const model *m = g->sets[0].model;
    tfgen_error error;
    for (int i = 0; i < g->set_count; i++) {
        const int kind = g->sets[i].model->kind_of[layer];
        units[count++] = &g->sets[i].prefill[kind];
        units[count++] = &g->sets[i].decode[g->options.stacks ? g->sets[i].first_of[kind] : kind];
    }
    l->weights = unit_weights(g->a, units, count, m->tensors, (layer_place){m->prefix, layer});
    g->facts.weight_bytes += tfgen_weights_bytes(l->weights);
    void **const caches[] = {&l->keys, &l->values};
    for (int i = 0; i < 2; i++) {
        *caches[i] = allocate(g, g->cache_bytes * g->options.sequences);
        generator_need(g, g->device->api->fill(g->device, *caches[i], 0, g->cache_bytes * g->options.sequences, NULL, &error), &error);
    }
}

/* Creates the stack (layers that one launch computes) of all layers whose kinds share that of this kind. */
static void open_stack(generator *g, layer_set *s, int first)
{
    const unit *u = &s->decode[first];
    int *kinds = arena_alloc(g->a, (g->facts.layers + 1) * sizeof *kinds);
    const tfgen_weights **weights = arena_alloc(g->a, (g->facts.layers + 1) * sizeof *weights);
    void *const **tensors = arena_alloc(g->a, (g->facts.layers + 1) * sizeof *tensors);
    size_t count = 0;
    tfgen_error error;
    for (size_t i = 0; i < g->facts.layers; i++) {
        const layer_memory *l = &g->layers[i];
        const unit_tensor own[] = {{"k_cache", TFGEN_STATE, l->keys}, {"v_cache", TFGEN_STATE, l->values}};
        const int kind = s->model->kind_of[i];
        if (s->first_of[kind] != first) continue;
        void **all = arena_alloc(g->a, most_unit_tensors * sizeof *all);
        unit_put_tensors(u, own, 2, all);
        kinds[count] = s->place_of[kind], weights[count] = l->weights, tensors[count++] = all;
    }
    if (count)
        generator_need(g, tfgen_stack_create_of_kinds(u->module, kinds, weights, tensors, count, &s->stacks[first], &error), &error);
}

static void open_stacks(generator *g, layer_set *s)
{
    const int kinds = s->model->kind_count;
    s->stacks = arena_alloc(g->a, ((size_t)kinds + 1) * sizeof *s->stacks);
    memset(s->stacks, 0, ((size_t)kinds + 1) * sizeof *s->stacks);
    for (int k = 0; k < kinds; k++)
        if (s->first_of[k] == k) open_stack(g, s, k);
}

static void load_stem(generator *g, const model *m)
{
    const unit *head = &g->head, *norm = &g->norm;
    g->head_weights = unit_weights(g->a, &head, 1, m->tensors, (layer_place){NULL, -1});
    g->facts.weight_bytes += tfgen_weights_bytes(g->head_weights);
    if (norm->plan) g->norm_weights = unit_weights(g->a, &norm, 1, m->tensors, (layer_place){NULL, -1});
    generator_open_tables(g, m->tensors);
}

static size_t workspace_bytes(const generator *g)
{
    size_t most = g->head.workspace_bytes > g->norm.workspace_bytes ? g->head.workspace_bytes : g->norm.workspace_bytes;
    for (int i = 0; i < g->set_count; i++)
        for (int k = 0; k < g->sets[i].model->kind_count; k++) {
            const unit *const both[] = {&g->sets[i].prefill[k], &g->sets[i].decode[k]};
            for (int n = 0; n < 2; n++) most = both[n]->workspace_bytes > most ? both[n]->workspace_bytes : most;
        }
    return most;
}

static void *host_memory(generator *g, size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) bail(g->a, code_device, (position){0}, "not enough memory for %zu bytes", bytes);
    arena_defer(g->a, free, memory);
    return memory;
}

static void allocate_all(generator *g)
{
    const size_t sequences = g->options.sequences, rows = g->options.part > sequences ? g->options.part : sequences;
    const size_t row = g->facts.hidden * (size_t)dtype_size(g->type);
    tfgen_error error;
    g->pos = g->call = allocate(g, position_bytes + rows * row);
    g->x[0] = (char *)g->call + position_bytes;
    g->x[1] = allocate(g, rows * row);
    for (int i = 0; i < 2; i++) g->row[i] = host_memory(g, g->facts.hidden * sizeof *g->row[i]);
    g->host_call = host_memory(g, position_bytes + rows * row);
    g->history = host_memory(g, sequences * (size_t)g->rows * sizeof *g->history);
    g->last = allocate(g, row);
    g->logits = allocate(g, sequences * g->facts.vocabulary * sizeof(float));
    if (g->block) g->peaks = allocate(g, sequences * g->facts.vocabulary / (size_t)g->block * sizeof(float));
    g->workspace = allocate(g, workspace_bytes(g));
    if (g->device->api != &host_device)
        generator_need(g, g->device->api->stream_create(g->device, &g->stream, &error), &error);
}

/* ---- opening */
static size_t positions_of(const model *m)
{
    const config_value *v = &m->config->facts[fact_positions];
    return (size_t)(v->key ? v->whole : m->kinds[0].layer.positions);
}

/* Tokens of the longest text that every kind of layer supports. */
static long long longest(const model *m)
{
    long long most = m->kinds[0].layer.positions;
    for (int k = 1; k < m->kind_count; k++)
        if (m->kinds[k].layer.positions < most) most = m->kinds[k].layer.positions;
    return most;
}

static void open_sets(generator *g, const char *folder)
{
    model *m = model_open(g->a, folder, 0, NULL);
    const size_t room = g->options.room;
    model_need_tensors(m);
    g->facts = (generator_facts){.model_type = m->config->family->model_type, .layers = (size_t)model_layers(m->config),
                                 .dtype = g->options.dtype ? g->options.dtype : m->config->dtype, .positions = positions_of(m)};
    if (room > g->facts.positions)
        bail(g->a, code_usage, (position){0}, "a text would have %zu tokens with those to generate; the model has %zu positions", room,
             g->facts.positions);
    g->sets[g->set_count++] = (layer_set){.model = m, .most = longest(m)};
    if ((long long)room > longest(m) && g->options.sequences > 1)
        bail(g->a, code_unsupported, (position){0},
             "beyond %lld tokens the model has other rope frequencies, which transformers chooses by the longest text of a "
             "batch; give each text its own call", longest(m));
    if ((long long)room > longest(m))
        g->sets[g->set_count++] = (layer_set){.model = model_open(g->a, folder, (long long)room, NULL), .most = (long long)room};
}

static void open_body(void *argument)
{
    const open_job *j = argument;
    generator *g = j->g;
    open_sets(g, j->folder);
    const model *m = g->sets[0].model;
    if (!dtype_parse_real(g->facts.dtype, &g->type)) bail(g->a, code_usage, (position){0}, "%s is not f32, f16 or bf16", g->facts.dtype);
    g->stem = stem_read(m);
    g->facts.hidden = (size_t)g->stem.layer->hidden, g->facts.vocabulary = (size_t)g->stem.vocabulary;
    generator_read_ends(g, m);
    g->rows = ((long long)g->options.room + 15) / 16 * 16; /* each sequence's rows begin at a multiple of 16 bytes */
    g->cache_bytes = (size_t)(g->stem.layer->kv_heads * g->stem.layer->head_size * g->rows) * (size_t)dtype_size(g->type);
    for (int i = 0; i < g->set_count; i++) open_layers(g, &g->sets[i]);
    open_stem(g, m);
    g->layers = arena_alloc(g->a, g->facts.layers * sizeof *g->layers);
    memset(g->layers, 0, g->facts.layers * sizeof *g->layers);
    for (size_t i = 0; i < g->facts.layers; i++) load_layer(g, (long long)i);
    for (int i = 0; i < g->set_count && g->options.stacks; i++) open_stacks(g, &g->sets[i]);
    load_stem(g, m);
    allocate_all(g);
    next_token_open(g);
}

static bool complete(generator_options *o)
{
    if (!o->part) o->part = usual_part;
    if (o->part > o->room) o->part = o->room;
    return o->room >= 1 && o->room <= 1 << 24 && o->sequences >= 1 && o->sequences <= most_sequences && o->part <= 4096;
}

tfgen_status generator_open(const char *folder, tfgen_device *device, const generator_options *options, generator **out,
                            tfgen_error *error)
{
    generator_options known = *options;
    *out = NULL;
    if (!complete(&known)) return device_report(error, TFGEN_USAGE, "a generator takes 1 to 64 sequences of at least one token");
    generator *g = calloc(1, sizeof *g);
    if (g) g->a = arena_new();
    if (!g || !g->a) {
        free(g);
        return device_report(error, TFGEN_NO_MEMORY, "not enough memory");
    }
    g->device = device, g->options = known;
    open_job job = {g, folder};
    const tfgen_code code = arena_run(g->a, open_body, &job);
    if (code == code_ok) return *out = g, TFGEN_OK;
    const tfgen_status status = device_report_arena(error, code, g->a);
    generator_close(g);
    return status;
}

static void close_set(const generator *g, layer_set *s)
{
    if (s->graph) g->device->api->graph_destroy(g->device, s->graph);
    for (int k = 0; s->stacks && k < s->model->kind_count; k++) tfgen_stack_free(s->stacks[k]);
    for (int k = 0; s->prefill && k < s->model->kind_count; k++) unit_close(&s->prefill[k]), unit_close(&s->decode[k]);
}

void generator_close(generator *g)
{
    if (!g) return;
    for (size_t i = 0; g->layers && i < g->facts.layers; i++) {
        tfgen_weights_free(g->layers[i].weights);
        tfgen_device_free(g->device, g->layers[i].keys);
        tfgen_device_free(g->device, g->layers[i].values);
    }
    tfgen_weights_free(g->head_weights);
    tfgen_weights_free(g->norm_weights);
    for (int i = 0; i < g->set_count; i++) close_set(g, &g->sets[i]);
    unit_close(&g->head);
    unit_close(&g->norm);
    next_token_close(g);
    void *const memory[] = {g->call, g->x[1], g->last, g->logits, g->peaks, g->workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) tfgen_device_free(g->device, memory[i]);
    if (g->stream) g->device->api->stream_destroy(g->device, g->stream);
    arena_free(g->a);
    free(g);
}

generator_facts generator_about(const generator *g) { return g->facts; }
