/* In: a model's config.json, or its folder. Out: a spec of a layer, or a folder with those of every kind of layer, for prompts and for
 * generation, and layers.json, which says which layer has which. Where the folder has tensors, their names are compared with the spec's:
 * those of a layer that it does not use, and those that are not there, are errors. Nothing of the folder is run, and no network asked. */
#include "runtime/cli/cli.h"
#include "runtime/data/checkpoint.h"
#include "runtime/model/spec.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Layers that are the same but for their numbers. */
typedef struct kind {
    layer_facts layer;
    const char *name; /* of its files, without -decode.yaml */
    const char *which;
    int count;
    const ir_program *program; /* of its spec; NULL: it is not written */
} kind;

typedef struct import_job {
    arena *a;
    const cli_options *o;
    const char *path;
    model_config *config;
    checkpoint *tensors; /* NULL: no folder, or none there */
    const char *tensors_path;
    const char *prefix;
    bool gamma; /* see spec_request */
    long long layers;
    int *kind_of; /* by layer */
    kind *kinds;
    int kind_count, kind_room;
} import_job;

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* ---- kinds of layers */
/* "0-4, 6-10 of 12" */
static const char *which_layers(const import_job *j, int k)
{
    text t = {.a = j->a};
    for (long long i = 0; i < j->layers; i++) {
        long long end = i;
        if (j->kind_of[i] != k) continue;
        while (end + 1 < j->layers && j->kind_of[end + 1] == k) end++;
        text_printf(&t, end > i ? "%s%lld-%lld" : "%s%lld", t.size ? ", " : "", i, end);
        i = end;
    }
    return arena_printf(j->a, "layer%s %s of %lld", j->kinds[k].count > 1 ? "s" : "", t.data, j->layers);
}

static const char *kind_name(const import_job *j, const layer_facts *l)
{
    const char *name = layer_kind_name(l);
    int same = 1;
    for (int i = 0; i < j->kind_count; i++) same += strcmp(layer_kind_name(&j->kinds[i].layer), name) == 0;
    return same > 1 ? arena_printf(j->a, "%s-%d", name, same) : name;
}

static void find_kinds(import_job *j)
{
    j->layers = model_layers(j->config);
    j->kind_of = arena_alloc(j->a, (size_t)j->layers * sizeof *j->kind_of);
    for (long long i = 0; i < j->layers; i++) {
        const layer_facts l = layer_read(j->config, i, j->o->number.length);
        int k = 0;
        while (k < j->kind_count && !layer_same(&j->kinds[k].layer, &l)) k++;
        if (k == j->kind_count) {
            j->kinds = arena_more(j->a, j->kinds, j->kind_count, &j->kind_room, sizeof *j->kinds);
            const char *name = kind_name(j, &l);
            j->kinds[j->kind_count++] = (kind){.layer = l, .name = name};
        }
        j->kind_of[i] = k, j->kinds[k].count++;
    }
    for (int k = 0; k < j->kind_count; k++) j->kinds[k].which = which_layers(j, k);
}

/* ---- tensors of the folder */
static bool has_layer(const import_job *j, const char *prefix)
{
    const char *start = layer_prefix(j->a, (layer_place){prefix, 0}), *name;
    for (size_t i = 0; (name = checkpoint_name_at(j->tensors, i)); i++)
        if (strncmp(name, start, strlen(start)) == 0) return true;
    return false;
}

static void find_gamma(import_job *j)
{
    const char *start = layer_prefix(j->a, (layer_place){j->prefix, 0}), *norm = j->config->family->attention_norm;
    j->gamma = norm && checkpoint_has(j->tensors, arena_printf(j->a, "%s%s.gamma", start, norm));
}

static void find_prefix(import_job *j)
{
    const family *f = j->config->family;
    j->prefix = f->prefixes[0];
    if (!j->tensors) return;
    for (int i = 0; i < family_most_prefixes && f->prefixes[i]; i++)
        if (has_layer(j, f->prefixes[i])) {
            j->prefix = f->prefixes[i];
            return find_gamma(j);
        }
    text tried = {.a = j->a};
    for (int i = 0; i < family_most_prefixes && f->prefixes[i]; i++) text_printf(&tried, "%s%s", i ? ", " : "", f->prefixes[i]);
    arena_source(j->a, j->tensors_path, NULL, 0);
    bail(j->a, code_bad_input, (position){0}, "no tensor of a layer of %s; their names begin with %s", f->model_type, tried.data);
}

/* What older files keep beside the weights. */
static bool is_buffer(const char *name)
{
    static const char *const buffers[] = {"self_attn.rotary_emb.inv_freq", "attention.rotary_emb.inv_freq", "attn.bias", "attn.masked_bias",
                                          "attention.bias", "attention.masked_bias"};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (strcmp(buffers[i], name) == 0) return true;
    return false;
}

static bool spec_uses(const ir_program *p, const char *name)
{
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i]->from && strcmp(p->values[i]->from, name) == 0) return true;
    return false;
}

/* What a tensor's name has behind the layer's prefix, and the layer's number; NULL: it is outside of the layers. */
static const char *name_in_layer(const import_job *j, const char *name, long long *layer)
{
    static const char mark[] = "{layer}";
    const char *at = strstr(j->prefix, mark), *tail = at + strlen(mark);
    const size_t head = (size_t)(at - j->prefix);
    if (strncmp(name, j->prefix, head) != 0) return NULL;
    const size_t digits = strspn(name + head, "0123456789");
    if (!digits || digits > 9 || strncmp(name + head + digits, tail, strlen(tail)) != 0) return NULL;
    *layer = atoll(name + head);
    return name + head + digits + strlen(tail);
}

/* The spec of a layer, where it is written; NULL: it is not. */
static const ir_program *spec_of_layer(const import_job *j, long long layer)
{
    const long long only = j->o->number.layer;
    return layer < j->layers && (only < 0 || layer == only) ? j->kinds[j->kind_of[layer]].program : NULL;
}

/* Of all layers that the specs are for. */
static void check_tensors(const import_job *j)
{
    long long layer;
    const char *name, *own;
    if (!j->tensors) return;
    arena_source(j->a, j->tensors_path, NULL, 0);
    for (layer = 0; layer < j->layers; layer++) {
        const ir_program *p = spec_of_layer(j, layer);
        const char *start = layer_prefix(j->a, (layer_place){j->prefix, layer});
        for (int i = 0; p && i < p->value_count; i++)
            if (p->values[i]->from && !checkpoint_has(j->tensors, arena_printf(j->a, "%s%s", start, p->values[i]->from)))
                complain(j->a, (position){0}, "tensor %s%s is missing; config.json implies it", start, p->values[i]->from);
    }
    for (size_t i = 0; (name = checkpoint_name_at(j->tensors, i)); i++) {
        const ir_program *p = (own = name_in_layer(j, name, &layer)) ? spec_of_layer(j, layer) : NULL;
        if (p && !is_buffer(own) && !spec_uses(p, own))
            complain(j->a, (position){0}, "tensor %.200s is not used by the spec of its layer; config.json does not imply it", name);
    }
    bail_if_complained(j->a);
}

/* ---- specs */
static const char *make_spec(const import_job *j, kind *k, bool decode)
{
    const spec_request r = {j->config, &k->layer, k->which, j->prefix, decode, j->gamma, j->o->lengths != NULL};
    const char *text = spec_write(j->a, &r), *name = decode ? "the spec for generation" : "the spec";
    k->program = graph_read(j->a, text, strlen(text), name, NULL); /* what it refuses is a mistake here, or a size of the model */
    arena_source(j->a, NULL, NULL, 0);
    return text;
}

static void need_decode(const import_job *j)
{
    if (j->config->family->encoder)
        bail(j->a, code_usage, (position){0}, "--decode: %s is an encoder and does not generate",
             j->config->family->model_type);
}

static kind *asked_kind(const import_job *j)
{
    const long long layer = j->o->number.layer;
    if (layer >= j->layers)
        bail(j->a, code_usage, (position){0}, "--layer=%lld: layer %lld does not exist (the model has layers 0 to %lld)", layer, layer,
             j->layers - 1);
    if (layer >= 0) return &j->kinds[j->kind_of[layer]];
    if (j->kind_count == 1) return &j->kinds[0];
    text known = {.a = j->a};
    for (int k = 0; k < j->kind_count && k < 8; k++) text_printf(&known, "%s%s (%s)", k ? "; " : "", j->kinds[k].name, j->kinds[k].which);
    bail(j->a, code_usage, (position){0},
         "the model has %d kinds of layers: %s%s. Choose a layer with --layer=N, or write all specs with -o FOLDER/", j->kind_count,
         known.data, j->kind_count > 8 ? "; ..." : "");
}

static json_t *ignored_json(const import_job *j)
{
    json_t *list = json_array();
    const char *s = j->config->ignored.data ? j->config->ignored.data : "";
    for (; *s; s += *s == ',' ? 2 : 0) {
        const size_t n = strcspn(s, ",");
        json_array_append_new(list, json_string(arena_strndup(j->a, s, n)));
        s += n;
    }
    return list;
}

static void write_index(const import_job *j, const char *folder)
{
    const bool encoder = j->config->family->encoder;
    json_t *layers = json_array();
    for (long long i = 0; i < j->layers; i++) {
        const char *name = j->kinds[j->kind_of[i]].name;
        json_t *one = json_pack("{s:I, s:s}", "layer", (json_int_t)i, "prefill", arena_printf(j->a, "%s.yaml", name));
        if (!encoder) json_object_set_new(one, "decode", json_string(arena_printf(j->a, "%s-decode.yaml", name)));
        json_array_append_new(layers, one);
    }
    json_t *all = cli_keep_json(j->a, json_pack("{s:s, s:s, s:o, s:o}", "model_type", j->config->family->model_type, "prefix", j->prefix,
                                                "layers", layers, "ignored_keys", ignored_json(j)));
    const char *text = arena_printf(j->a, "%s\n", cli_json_text(j->a, all, JSON_INDENT(1)));
    cli_write_file(j->a, arena_printf(j->a, "%s/layers.json", folder), text, strlen(text));
}

static void write_folder(const import_job *j, const char *folder)
{
    const char *(*specs)[2] = arena_alloc(j->a, (size_t)j->kind_count * sizeof *specs);
    const bool encoder = j->config->family->encoder;
    for (int k = 0; k < j->kind_count; k++) /* all are good before one is written */
        for (int decode = 0; decode < (encoder ? 1 : 2); decode++) specs[k][decode] = make_spec(j, &j->kinds[k], decode);
    check_tensors(j);
    for (int k = 0; k < j->kind_count; k++)
        for (int decode = 0; decode < (encoder ? 1 : 2); decode++) {
            const char *path = arena_printf(j->a, "%s/%s%s.yaml", folder, j->kinds[k].name, decode ? "-decode" : "");
            cli_write_file(j->a, path, specs[k][decode], strlen(specs[k][decode]));
            if (!j->o->quiet) printf("%s: %s\n", path, j->kinds[k].which);
        }
    write_index(j, folder);
    if (!j->o->quiet) printf("%s/layers.json: which layer has which\n", folder);
}

/* ---- the command */
static void open_model(import_job *j)
{
    size_t size;
    const char *path = j->path;
    if (is_folder(path)) path = arena_printf(j->a, "%s%sconfig.json", j->path, j->path[strlen(j->path) - 1] == '/' ? "" : "/");
    const char *json = cli_read_file(j->a, path, &size);
    j->config = config_read(j->a, json, size, path);
    if (!is_folder(j->path)) return;
    const char *pickle, *name = checkpoint_in_folder(j->a, j->path, &pickle);
    if (!name) return; /* the config alone, or with pickles, which are not read */
    j->tensors_path = arena_printf(j->a, "%s/%s", j->path, name);
    j->tensors = checkpoint_open(j->a, j->tensors_path);
}

static void import_model(void *argument)
{
    import_job *j = argument;
    const char *out = j->o->output ? j->o->output : "-";
    const bool folder = out[strlen(out) - (out[0] != 0)] == '/' || is_folder(out);
    open_model(j);
    find_kinds(j);
    find_prefix(j);
    if (j->o->decode) need_decode(j);
    if (j->o->lengths && !j->config->family->encoder)
        bail(j->a, code_usage, (position){0}, "--lengths is for encoders: %s is causal, so its tokens never see padding behind their text",
             j->config->family->model_type);
    if (folder && (j->o->layer || j->o->decode))
        bail(j->a, code_usage, (position){0},
             "-o FOLDER/ writes all kinds of layers, for prompts and generation: it takes no --layer and no --decode");
    if (folder) {
        const size_t size = strlen(out);
        write_folder(j, size > 1 && out[size - 1] == '/' ? arena_strndup(j->a, out, size - 1) : out);
    } else {
        const char *text = make_spec(j, asked_kind(j), j->o->decode != NULL);
        check_tensors(j);
        cli_write_file(j->a, out, text, strlen(text));
    }
    if (!j->o->quiet && j->config->ignored.size && j->o->output && strcmp(out, "-") != 0)
        printf("keys that change nothing within a layer: %s\n", j->config->ignored.data);
}

int command_import_main(const cli_options *o)
{
    if (!cli_is_one_spec(o, "import")) return code_usage;
    import_job j = {.a = arena_new(), .o = o, .path = o->files[0]};
    return cli_run(import_model, &j, j.a);
}
