/* In: a model's config.json, or its folder. Out: a spec of one layer; or a folder with specs of all kinds of layers, for prompts and for
 * generation, and layers.json, which lists each layer's spec. If the model's folder has tensors, their names are compared with the specs':
 * unused tensors of a layer, and missing ones, are errors. Runs no code of the folder and does not access a network. */
#include "runtime/cli/cli.h"
#include "runtime/model/stem.h"
#include <stdlib.h>
#include <string.h>

typedef struct import_job {
    arena *a;
    const cli_options *o;
    const char *path;
    model *m;
} import_job;

/* ---- specs */
static const char *make_spec(const import_job *j, model_kind *k, spec_form form)
{
    const spec_padding padding = j->o->left_padded ? padding_left : j->o->lengths ? padding_right : padding_none;
    return model_spec(j->m, k, form, padding);
}

static void need_decode(const import_job *j)
{
    if (j->m->config->family->encoder)
        bail(j->a, code_usage, (position){0}, "--decode: %s is an encoder and does not generate",
             j->m->config->family->model_type);
}

static model_kind *asked_kind(const import_job *j)
{
    const long long layer = j->o->number.layer;
    if (layer >= j->m->layers)
        bail(j->a, code_usage, (position){0}, "--layer=%lld: layer %lld does not exist (the model has layers 0 to %lld)", layer, layer,
             j->m->layers - 1);
    if (layer >= 0) return &j->m->kinds[j->m->kind_of[layer]];
    if (j->m->kind_count == 1) return &j->m->kinds[0];
    text known = {.a = j->a};
    for (int k = 0; k < j->m->kind_count && k < 8; k++)
        text_printf(&known, "%s%s (%s)", k ? "; " : "", j->m->kinds[k].name, j->m->kinds[k].which);
    bail(j->a, code_usage, (position){0},
         "the model has %d kinds of layers: %s%s. Choose a layer with --layer=N, or write all specs with -o FOLDER/", j->m->kind_count,
         known.data, j->m->kind_count > 8 ? "; ..." : "");
}

static json_t *ignored_json(const import_job *j)
{
    json_t *list = json_array();
    const char *s = j->m->config->ignored.data ? j->m->config->ignored.data : "";
    for (; *s; s += *s == ',' ? 2 : 0) {
        const size_t n = strcspn(s, ",");
        json_array_append_new(list, json_string(arena_strndup(j->a, s, n)));
        s += n;
    }
    return list;
}

/* The specs of a kind of layer: its files' names, and its keys in layers.json. Encoders have the first only. */
static const struct {
    spec_form form;
    const char *key, *suffix;
} forms[] = {{spec_prompt, "prefill", ""}, {spec_decode, "decode", "-decode"}, {spec_prefill, "chunk", "-chunk"}};
enum { form_count = sizeof forms / sizeof *forms };

static int forms_of(const import_job *j) { return j->m->config->family->encoder ? 1 : form_count; }

static void write_index(const import_job *j, const char *folder)
{
    json_t *layers = json_array();
    for (long long i = 0; i < j->m->layers; i++) {
        const char *name = j->m->kinds[j->m->kind_of[i]].name;
        json_t *one = json_pack("{s:I, s:s}", "layer", (json_int_t)i, "prefill", arena_printf(j->a, "%s.yaml", name));
        for (int f = 1; f < forms_of(j); f++)
            json_object_set_new(one, forms[f].key, json_string(arena_printf(j->a, "%s%s.yaml", name, forms[f].suffix)));
        json_array_append_new(layers, one);
    }
    json_t *all = cli_keep_json(j->a, json_pack("{s:s, s:s, s:o, s:o}", "model_type", j->m->config->family->model_type, "prefix",
                                                j->m->prefix, "layers", layers, "ignored_keys", ignored_json(j)));
    const char *text = arena_printf(j->a, "%s\n", cli_json_text(j->a, all, JSON_INDENT(1)));
    cli_write_file(j->a, arena_printf(j->a, "%s/layers.json", folder), text, strlen(text));
}

/* Writes the specs before and after a decoder's layers: embedding and head. */
static void write_stem(const import_job *j, const char *folder)
{
    static const char *const names[] = {"embedding", "head"};
    if (!stem_is_there(j->m)) return;
    const model_stem s = stem_read(j->m);
    const char *const specs[] = {stem_embedding_spec(j->m, &s), stem_head_spec(j->m, &s, 0)};
    for (int i = 0; i < 2; i++) {
        const char *path = arena_printf(j->a, "%s/%s.yaml", folder, names[i]);
        if (!specs[i]) continue;
        cli_write_file(j->a, path, specs[i], strlen(specs[i]));
        if (!j->o->quiet) printf("%s: %s\n", path, i ? "the last norm and the head" : "the norm of the embeddings");
    }
}

static void write_folder(const import_job *j, const char *folder)
{
    const char *(*specs)[form_count] = arena_alloc(j->a, (size_t)j->m->kind_count * sizeof *specs);
    for (int k = 0; k < j->m->kind_count; k++) /* check all before writing any */
        for (int f = 0; f < forms_of(j); f++) specs[k][f] = make_spec(j, &j->m->kinds[k], forms[f].form);
    model_check_tensors(j->m, j->o->number.layer);
    write_stem(j, folder);
    for (int k = 0; k < j->m->kind_count; k++)
        for (int f = 0; f < forms_of(j); f++) {
            const char *path = arena_printf(j->a, "%s/%s%s.yaml", folder, j->m->kinds[k].name, forms[f].suffix);
            cli_write_file(j->a, path, specs[k][f], strlen(specs[k][f]));
            if (!j->o->quiet) printf("%s: %s\n", path, j->m->kinds[k].which);
        }
    write_index(j, folder);
    if (!j->o->quiet) printf("%s/layers.json: the specs of each layer\n", folder);
}

/* ---- the command */
static void open_model(import_job *j)
{
    size_t size;
    const long long length = j->o->number.length;
    if (model_is_folder(j->path)) {
        j->m = model_open(j->a, j->path, length, j->o->part);
        return;
    }
    const char *json = cli_read_file(j->a, j->path, &size);
    j->m = model_of_config(j->a, json, size, j->path, length, j->o->part);
}

static void import_model(void *argument)
{
    import_job *j = argument;
    const char *out = j->o->output ? j->o->output : "-";
    const bool folder = out[strlen(out) - (out[0] != 0)] == '/' || model_is_folder(out);
    open_model(j);
    if (j->o->decode) need_decode(j);
    if (j->o->lengths && !j->m->config->family->encoder)
        bail(j->a, code_usage, (position){0}, "--lengths is for encoders: %s is causal, so its tokens never see padding behind their text",
             j->m->config->family->model_type);
    if (j->o->lengths && j->o->left_padded)
        bail(j->a, code_usage, (position){0}, "--lengths is for batches padded on the right, --left-padded for those padded on the left");
    if (folder && (j->o->layer || j->o->decode))
        bail(j->a, code_usage, (position){0},
             "-o FOLDER/ writes all kinds of layers, for prompts and generation: it takes no --layer and no --decode");
    if (folder) {
        const size_t size = strlen(out);
        write_folder(j, size > 1 && out[size - 1] == '/' ? arena_strndup(j->a, out, size - 1) : out);
    } else {
        const char *text = make_spec(j, asked_kind(j), j->o->decode ? spec_decode : spec_prompt);
        model_check_tensors(j->m, j->o->number.layer);
        cli_write_file(j->a, out, text, strlen(text));
    }
    if (!j->o->quiet && j->m->config->ignored.size && j->o->output && strcmp(out, "-") != 0)
        printf("keys that change nothing within a layer: %s\n", j->m->config->ignored.data);
}

int command_import_main(const cli_options *o)
{
    if (!cli_is_one_spec(o)) return code_usage;
    import_job j = {.a = arena_new(), .o = o, .path = o->files[0]};
    return cli_run(import_model, &j, j.a);
}
