/* A small Llama, end to end: embedding, N fused layers with a KV cache, final norm, logits, greedy decoding.
 *
 *   cc llama.c -ltfgen -ljansson -o llama && cc make_llama.c -o make_llama && ./make_llama model && ./llama model
 *   llama FOLDER [--prompt=1,15043,3186] [--tokens=32] [--context=256] [--device=hip:0] [--stack]
 *
 * FOLDER holds model.safetensors (one file, HuggingFace's names) and config.json of a Llama. Token numbers in, token numbers out (stdout);
 * tokens per second and bytes of weights go to stderr. A layer is two modules, compiled once for all layers: one for many tokens at a time
 * (the prompt), one for the next token; both run on one copy of the layer's weights. With --stack one launch computes all layers for the
 * next token, instead of a few launches for each. Needs libtfgen and jansson. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tfgen.h>
#include <time.h>
#include <unistd.h>

/* The layer's spec. S new tokens attend to the cached tokens and causally to each other; `pos` is read on the device. */
static const char layer_spec[] =
    "block: llama-layer\n"
    "dtype: %s\n"
    "dims: {B: 1, S: %d, L: %d, D: %d, H: %d, KV: %d, hd: %d, F: %d}\n"
    "%s" /* dims that may change between calls */
    "inputs:\n"
    "  x: [B, S, D]\n"
    "  pos: {shape: [B], dtype: i32, range: [0, L-S]}\n"
    "params:\n"
    "  attn_norm: {shape: [D], from: input_layernorm.weight}\n"
    "  wq: {shape: [H*hd, D], from: self_attn.q_proj.weight}\n"
    "  wk: {shape: [KV*hd, D], from: self_attn.k_proj.weight}\n"
    "  wv: {shape: [KV*hd, D], from: self_attn.v_proj.weight}\n"
    "  wo: {shape: [D, H*hd], from: self_attn.o_proj.weight}\n"
    "  mlp_norm: {shape: [D], from: post_attention_layernorm.weight}\n"
    "  w_gate: {shape: [F, D], from: mlp.gate_proj.weight}\n"
    "  w_up: {shape: [F, D], from: mlp.up_proj.weight}\n"
    "  w_down: {shape: [D, F], from: mlp.down_proj.weight}\n"
    "state: {k_cache: [B, KV, L, hd], v_cache: [B, KV, L, hd]}\n"
    "ops:\n"
    "  - {out: h, op: rmsnorm, in: [x, attn_norm], eps: %.9g}\n"
    "  - {out: q, op: linear, in: [h, wq]}\n"
    "  - {out: k, op: linear, in: [h, wk]}\n"
    "  - {out: v, op: linear, in: [h, wv]}\n"
    "  - {out: qr, op: rope, in: [q], heads: H, pairing: half, theta: %.9g, at: pos}\n"
    "  - {out: kr, op: rope, in: [k], heads: KV, pairing: half, theta: %.9g, at: pos}\n"
    "  - {out: kc, op: kv_append, in: [kr], state: k_cache, at: pos}\n"
    "  - {out: vc, op: kv_append, in: [v], state: v_cache, at: pos}\n"
    "  - {out: a, op: attention, in: [qr, kc, vc], heads: H, kv_heads: KV, causal: true, at: pos}\n"
    "  - {out: o, op: linear, in: [a, wo]}\n"
    "  - {out: x1, op: add, in: [x, o]}\n"
    "  - {out: h2, op: rmsnorm, in: [x1, mlp_norm], eps: %.9g}\n"
    "  - {out: gate, op: linear, in: [h2, w_gate]}\n"
    "  - {out: up, op: linear, in: [h2, w_up]}\n"
    "  - {out: act, op: silu, in: [gate]}\n"
    "  - {out: prod, op: mul, in: [act, up]}\n"
    "  - {out: down, op: linear, in: [prod, w_down]}\n"
    "  - {out: x2, op: add, in: [x1, down]}\n"
    "outputs: {y: x2}\n";

static const char head_spec[] = "block: llama-head\n"
                                "dtype: %s\n"
                                "dims: {M: 1, D: %d, N: %d}\n"
                                "inputs: {x: [M, D]}\n"
                                "params: {norm: {shape: [D], from: model.norm.weight}, w: {shape: [N, D], from: %s}}\n"
                                "ops:\n"
                                "  - {out: h, op: rmsnorm, in: [x, norm], eps: %.9g}\n"
                                "  - {out: l, op: linear, in: [h, w]}\n"
                                "  - {out: f, op: cast, in: [l], to: f32}\n"
                                "outputs: {logits: f}\n";

enum { most_tensors = 32, most_layers = 256, most_prompt = 4096, most_rows = 512 /* of the prompt at a time */ };

static tfgen_error error;

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "llama: %s%s%s\n", what, *which ? ": " : "", which);
    exit(1);
}

static void must(tfgen_status status)
{
    if (status != TFGEN_OK) fail(error.text, "");
}

static void *kept(void *memory)
{
    if (!memory) fail("not enough memory", "");
    return memory;
}

/* ---- the model's file */
typedef struct checkpoint {
    json_t *header, *config;
    const unsigned char *data; /* after the header */
    size_t bytes;
    const char *dtype; /* as a spec names it */
    int layers, heads, kv_heads, head, width, hidden, vocabulary;
    double eps, theta;
} checkpoint;

static const unsigned char *map_file(const char *path, size_t *size)
{
    struct stat s;
    const int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &s)) fail(path, strerror(errno));
    *size = (size_t)s.st_size;
    void *data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (data == MAP_FAILED) fail(path, strerror(errno));
    return data;
}

static double number(const checkpoint *c, const char *key, double otherwise)
{
    const json_t *n = json_object_get(c->config, key);
    if (!n || json_is_null(n)) {
        if (otherwise >= 0) return otherwise;
        fail("config.json lacks", key);
    }
    return json_number_value(n);
}

static checkpoint checkpoint_open(const char *folder)
{
    checkpoint c = {0};
    char path[4096];
    json_error_t wrong;
    snprintf(path, sizeof path, "%s/config.json", folder);
    if (!(c.config = json_load_file(path, 0, &wrong))) fail(path, wrong.text);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    size_t size;
    const unsigned char *file = map_file(path, &size);
    uint64_t header = 0;
    if (size >= 8) memcpy(&header, file, 8);
    if (size < 8 || header > size - 8 || !(c.header = json_loadb((const char *)file + 8, header, 0, &wrong)))
        fail(path, "is no safetensors file");
    c.data = file + 8 + header, c.bytes = size - 8 - header;
    c.layers = (int)number(&c, "num_hidden_layers", -1), c.heads = (int)number(&c, "num_attention_heads", -1);
    c.kv_heads = (int)number(&c, "num_key_value_heads", c.heads), c.width = (int)number(&c, "hidden_size", -1);
    c.hidden = (int)number(&c, "intermediate_size", -1), c.vocabulary = (int)number(&c, "vocab_size", -1);
    c.eps = number(&c, "rms_norm_eps", 1e-5), c.theta = number(&c, "rope_theta", 10000);
    if (c.layers < 1 || c.layers > most_layers || c.heads < 1 || c.width < 1) fail(path, "sizes in config.json make no sense");
    c.head = (int)number(&c, "head_dim", c.width / c.heads);
    const json_t *scaling = json_object_get(c.config, "rope_scaling");
    if (scaling && !json_is_null(scaling)) fail("config.json", "rope_scaling is not supported by this example");
    return c;
}

/* A tensor's data. Fails if its size is not `bytes`, which the plan expects; -1: any size. */
static const void *tensor_data(const checkpoint *c, const char *name, int64_t bytes)
{
    const json_t *t = json_object_get(c->header, name), *offsets = json_object_get(t, "data_offsets");
    if (!t) fail("model.safetensors has no tensor", name);
    const json_int_t begin = json_integer_value(json_array_get(offsets, 0)), end = json_integer_value(json_array_get(offsets, 1));
    if (begin < 0 || end < begin || (size_t)end > c->bytes || (bytes >= 0 && end - begin != bytes))
        fail("model.safetensors: wrong size", name);
    return c->data + begin;
}

static const char *stored_dtype(const checkpoint *c, const char *name)
{
    static const char *const files[] = {"F32", "F16", "BF16"}, *const specs[] = {"f32", "f16", "bf16"};
    const char *type = json_string_value(json_object_get(json_object_get(c->header, name), "dtype"));
    for (int i = 0; i < 3; i++)
        if (type && strcmp(type, files[i]) == 0) return specs[i];
    fail("model.safetensors: no F32, F16 or BF16 tensor", name);
    return NULL;
}

/* ---- a stage: a compiled spec, the weights of its layers, its tensors on the device */
typedef struct stage {
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights[most_layers];
    void *tensors[most_tensors];
    tfgen_stack *stack; /* all layers; or NULL */
} stage;

static void show(void *context, const tfgen_progress *p)
{
    if (isatty(2)) fprintf(stderr, "\r%s: %zu of %zu kernels%s", (const char *)context, p->done, p->total, p->done == p->total ? "\n" : "");
}

static stage *stage_open(tfgen_device *device, const char *spec, const char *name, int stack)
{
    stage *s = kept(calloc(1, sizeof *s));
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    options.target = tfgen_device_target(device);
    options.fusion = stack ? TFGEN_FUSION_BLOCK : TFGEN_FUSION_TILE, options.stack = stack;
    must(tfgen_plan_create(spec, strlen(spec), name, &options, &s->plan, &error));
    for (size_t i = 0; i < tfgen_plan_warning_count(s->plan); i++) fprintf(stderr, "%s\n", tfgen_plan_warning(s->plan, i));
    tfgen_module_options how = TFGEN_MODULE_OPTIONS_INIT;
    how.progress = show, how.context = (void *)(uintptr_t)name;
    must(tfgen_module_create(s->plan, device, &how, &s->module, &error));
    return s;
}

static void *zeroed(tfgen_device *device, size_t bytes)
{
    void *memory, *zeros = kept(calloc(1, bytes));
    must(tfgen_device_alloc(device, bytes, &memory, &error));
    must(tfgen_device_copy(device, memory, zeros, bytes, TFGEN_TO_DEVICE, NULL, &error));
    must(tfgen_device_synchronize(device, NULL, &error));
    free(zeros);
    return memory;
}

static tfgen_tensor tensor_at(const stage *s, size_t index)
{
    tfgen_tensor t = {.size = sizeof t};
    must(tfgen_plan_tensor(s->plan, index, &t));
    return t;
}

/* Uploads the params of layer `layer`, packs them, and frees the uploaded ones. `other` (or NULL) computes the same layer and shares its
 * weights: what both read is packed once. Returns the bytes that `other` alone reads. */
static int64_t stage_load(stage *s, stage *other, tfgen_device *device, const checkpoint *c, int layer, const char *prefix)
{
    void *params[most_tensors] = {NULL};
    const size_t count = tfgen_plan_tensor_count(s->plan);
    for (size_t i = 0; i < count; i++) {
        const tfgen_tensor t = tensor_at(s, i);
        if (t.kind != TFGEN_PARAM) continue;
        char name[256];
        snprintf(name, sizeof name, "%s%s", prefix, t.from); /* in these specs each param is a whole tensor */
        must(tfgen_device_alloc(device, (size_t)t.bytes, &params[i], &error));
        must(tfgen_device_copy(device, params[i], tensor_data(c, name, t.bytes), (size_t)t.bytes, TFGEN_TO_DEVICE, NULL, &error));
    }
    must(tfgen_weights_create(s->module, params, NULL, &s->weights[layer], &error));
    const int64_t bytes = tfgen_weights_bytes(s->weights[layer]);
    if (other) must(tfgen_weights_add(s->weights[layer], other->module, params, NULL, &error)); /* both plans order tensors alike */
    for (size_t i = 0; i < count; i++) tfgen_device_free(device, params[i]);
    return tfgen_weights_bytes(s->weights[layer]) - bytes;
}

static void stage_close(stage *s, int layers)
{
    tfgen_stack_free(s->stack);
    for (int i = 0; i < layers; i++) tfgen_weights_free(s->weights[i]);
    tfgen_module_free(s->module);
    tfgen_plan_free(s->plan);
    free(s);
}

/* ---- the whole model */
typedef struct model {
    checkpoint file;
    tfgen_device *device;
    stage *prompt, *layer, *head; /* prompt: the layer for many tokens, or NULL */
    void *keys[most_layers], *values[most_layers];
    void *x[2], *pos, *logits, *workspace;
    const unsigned char *embedding;
    size_t row_bytes;
    int rows;             /* prompt tokens per call */
    int64_t prompt_bytes; /* weights that only the prompt's module reads */
} model;

static void **slot(stage *s, const char *name, tfgen_tensor_kind kind)
{
    const size_t index = tfgen_plan_tensor_index(s->plan, name, kind);
    if (index >= most_tensors) fail("the plan has no tensor", name);
    return &s->tensors[index];
}

static stage *layer_open(const model *m, const char *type, int context, int rows, const char *dynamic, int stack)
{
    const checkpoint *c = &m->file;
    char text[8192];
    snprintf(text, sizeof text, layer_spec, type, rows, context, c->width, c->heads, c->kv_heads, c->head, c->hidden, dynamic, c->eps,
             c->theta, c->theta, c->eps);
    return stage_open(m->device, text, rows > 1 ? "prompt" : "layer", stack);
}

/* Makes one stack of all layers, with their weights and caches. */
static void open_stack(model *m)
{
    static void *tensors[most_layers][most_tensors];
    void *const *of_layers[most_layers];
    for (int i = 0; i < m->file.layers; i++) {
        tensors[i][tfgen_plan_tensor_index(m->layer->plan, "k_cache", TFGEN_STATE)] = m->keys[i];
        tensors[i][tfgen_plan_tensor_index(m->layer->plan, "v_cache", TFGEN_STATE)] = m->values[i];
        of_layers[i] = tensors[i];
    }
    must(tfgen_stack_create(m->layer->module, (const tfgen_weights *const *)m->layer->weights, of_layers, (size_t)m->file.layers,
                            &m->layer->stack, &error));
}

static model model_open(const char *folder, const char *device, int context, int rows, int stack)
{
    model m = {.file = checkpoint_open(folder), .rows = rows < 1 ? 1 : rows < most_rows ? rows : most_rows};
    const checkpoint *c = &m.file;
    const char *const type = stored_dtype(c, "model.embed_tokens.weight");
    const char *const output = json_object_get(c->header, "lm_head.weight") ? "lm_head.weight" : "model.embed_tokens.weight";
    char text[8192];
    must(tfgen_device_open(device, &m.device, &error));
    m.layer = layer_open(&m, type, context, 1, "", stack);
    m.prompt = m.rows > 1 ? layer_open(&m, type, context, m.rows, "dynamic: {S: [1, L]}\n", 0) : NULL;
    snprintf(text, sizeof text, head_spec, type, c->width, c->vocabulary, output, c->eps);
    m.head = stage_open(m.device, text, "head", 0);
    stage_load(m.head, NULL, m.device, c, 0, "");
    const size_t cache = (size_t)tensor_at(m.layer, tfgen_plan_tensor_index(m.layer->plan, "k_cache", TFGEN_STATE)).bytes;
    for (int i = 0; i < c->layers; i++) {
        char prefix[64];
        snprintf(prefix, sizeof prefix, "model.layers.%d.", i);
        m.prompt_bytes += stage_load(m.layer, m.prompt, m.device, c, i, prefix);
        m.keys[i] = zeroed(m.device, cache), m.values[i] = zeroed(m.device, cache);
    }
    if (stack) open_stack(&m);
    m.row_bytes = (size_t)c->width * (strcmp(type, "f32") == 0 ? 4 : 2);
    m.embedding = tensor_data(c, "model.embed_tokens.weight", (int64_t)m.row_bytes * c->vocabulary);
    for (int i = 0; i < 2; i++) m.x[i] = zeroed(m.device, m.row_bytes * (size_t)m.rows);
    m.pos = zeroed(m.device, sizeof(int32_t)), m.logits = zeroed(m.device, (size_t)c->vocabulary * sizeof(float));
    stage *const stages[] = {m.layer, m.head, m.prompt};
    int64_t workspace = 0;
    for (int i = 0; i < 3; i++) {
        const int64_t bytes = stages[i] ? tfgen_plan_workspace_bytes(stages[i]->plan) : 0;
        if (bytes > workspace) workspace = bytes;
    }
    m.workspace = zeroed(m.device, (size_t)workspace + 1);
    return m;
}

static void model_close(model *m)
{
    for (int i = 0; i < m->file.layers; i++) tfgen_device_free(m->device, m->keys[i]), tfgen_device_free(m->device, m->values[i]);
    for (int i = 0; i < 2; i++) tfgen_device_free(m->device, m->x[i]);
    tfgen_device_free(m->device, m->pos);
    tfgen_device_free(m->device, m->logits);
    tfgen_device_free(m->device, m->workspace);
    stage_close(m->layer, m->file.layers);
    if (m->prompt) stage_close(m->prompt, 0);
    stage_close(m->head, 1);
    tfgen_device_close(m->device);
    json_decref(m->file.header);
    json_decref(m->file.config);
}

/* Runs the `rows` tokens in x[0] through all layers, starting at cache position `at`, with the prompt's module if rows > 1. Returns the
 * device memory with the result. */
static void *run_layers(model *m, int rows, int32_t at)
{
    stage *s = rows > 1 ? m->prompt : m->layer;
    const tfgen_dim dim = {"S", rows};
    tfgen_args args = TFGEN_ARGS_INIT;
    must(tfgen_device_copy(m->device, m->pos, &at, sizeof at, TFGEN_TO_DEVICE, NULL, &error));
    args.tensors = s->tensors, args.dims = &dim, args.dim_count = 1;
    *slot(s, "pos", TFGEN_INPUT) = m->pos;
    if (s->stack) {
        *slot(s, "x", TFGEN_INPUT) = m->x[0];
        *slot(s, "y", TFGEN_OUTPUT) = m->x[1];
        must(tfgen_stack_execute(s->stack, 0, (size_t)m->file.layers, &args, m->workspace, NULL, &error));
        return m->x[1];
    }
    for (int i = 0; i < m->file.layers; i++) {
        *slot(s, "x", TFGEN_INPUT) = m->x[i % 2];
        *slot(s, "y", TFGEN_OUTPUT) = m->x[1 - i % 2];
        *slot(s, "k_cache", TFGEN_STATE) = m->keys[i];
        *slot(s, "v_cache", TFGEN_STATE) = m->values[i];
        must(tfgen_execute(s->module, m->layer->weights[i], &args, m->workspace, NULL, &error));
    }
    return m->x[m->file.layers % 2];
}

/* Feeds tokens from position `at` on, up to m->rows at a time. Returns the device memory with the result of the last ones. */
static void *feed(model *m, const int *tokens, int count, int at)
{
    void *result = NULL;
    for (int rows; count; tokens += rows, at += rows, count -= rows) {
        rows = count < m->rows ? count : m->rows;
        for (int i = 0; i < rows; i++) {
            if (tokens[i] < 0 || tokens[i] >= m->file.vocabulary) fail("a token is not in the vocabulary", "");
            must(tfgen_device_copy(m->device, (char *)m->x[0] + (size_t)i * m->row_bytes, m->embedding + (size_t)tokens[i] * m->row_bytes,
                                   m->row_bytes, TFGEN_TO_DEVICE, NULL, &error));
        }
        result = run_layers(m, rows, at);
    }
    return result;
}

/* Feeds one token and leaves its logits on the device. */
static void step(model *m, int token, int at)
{
    tfgen_args args = TFGEN_ARGS_INIT;
    *slot(m->head, "x", TFGEN_INPUT) = feed(m, &token, 1, at);
    args.tensors = m->head->tensors;
    *slot(m->head, "logits", TFGEN_OUTPUT) = m->logits;
    must(tfgen_execute(m->head->module, m->head->weights[0], &args, m->workspace, NULL, &error));
}

static int most_likely(model *m, float *logits)
{
    must(tfgen_device_copy(m->device, logits, m->logits, (size_t)m->file.vocabulary * sizeof *logits, TFGEN_FROM_DEVICE, NULL, &error));
    int best = 0;
    for (int i = 1; i < m->file.vocabulary; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
    const size_t n = strlen(name);
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], name, n) == 0) return argv[i] + n;
    return otherwise;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: llama FOLDER [--prompt=1,2,3] [--tokens=32] [--context=256] [--device=NAME] [--stack]\n");
        return 2;
    }
    const int tokens = atoi(option(argc, argv, "--tokens=", "32")), context = atoi(option(argc, argv, "--context=", "256"));
    static int prompt[most_prompt];
    int length = 0;
    for (const char *p = option(argc, argv, "--prompt=", "1"); *p && length < most_prompt; p += *p == ',') {
        char *end;
        prompt[length++] = (int)strtol(p, &end, 10);
        if (end == p || (*end && *end != ',')) fail("--prompt is not a list of numbers", "");
        p = end;
    }
    if (tokens < 1 || length < 1 || length + tokens > context + 1) fail("prompt and tokens do not fit --context", "");

    const int stack = option(argc, argv, "--stack", NULL) != NULL;
    model m = model_open(argv[1], option(argc, argv, "--device=", NULL), context, length - 1, stack);
    float *logits = kept(malloc((size_t)m.file.vocabulary * sizeof *logits));
    int at = length - 1, token = prompt[at];
    feed(&m, prompt, at, 0);
    const double start = now();
    for (int i = 0; i < tokens; i++, at++) {
        step(&m, token, at);
        token = most_likely(&m, logits);
        printf("%d%s", token, i + 1 < tokens ? " " : "\n");
        fflush(stdout);
    }
    const double seconds = now() - start;
    int64_t weights = 0;
    for (int i = 0; i < m.file.layers; i++) weights += tfgen_weights_bytes(m.layer->weights[i]);
    fprintf(stderr, "%.1f tokens/s on %s (%d layers, %zu kernels %s)\n", tokens / seconds, tfgen_device_target(m.device), m.file.layers,
            tfgen_plan_kernel_count(m.layer->plan), stack ? "in all" : "each");
    fprintf(stderr, "%lld bytes of weights in the layers, %lld of them read by the prompt alone\n", (long long)weights,
            (long long)m.prompt_bytes);
    free(logits);
    model_close(&m);
    return 0;
}
