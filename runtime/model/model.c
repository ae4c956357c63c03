/* See runtime/model/model.h. */
#define _GNU_SOURCE
#include "runtime/model/model.h"
#include "runtime/system/input.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool model_is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* ---- kinds of layers */
/* The layers of kind k as text: "0-4, 6-10 of 12". */
static const char *which_layers(const model *m, int k)
{
    text t = {.a = m->a};
    for (long long i = 0; i < m->layers; i++) {
        long long end = i;
        if (m->kind_of[i] != k) continue;
        while (end + 1 < m->layers && m->kind_of[end + 1] == k) end++;
        text_printf(&t, end > i ? "%s%lld-%lld" : "%s%lld", t.size ? ", " : "", i, end);
        i = end;
    }
    return arena_printf(m->a, "layer%s %s of %lld", m->kinds[k].count > 1 ? "s" : "", t.data, m->layers);
}

static const char *kind_name(const model *m, const layer_facts *l)
{
    const char *name = layer_kind_name(l);
    int same = 1;
    for (int i = 0; i < m->kind_count; i++) same += strcmp(layer_kind_name(&m->kinds[i].layer), name) == 0;
    return same > 1 ? arena_printf(m->a, "%s-%d", name, same) : name;
}

static void find_kinds(model *m)
{
    m->layers = model_layers(m->config);
    m->kind_of = arena_alloc(m->a, (size_t)m->layers * sizeof *m->kind_of);
    for (long long i = 0; i < m->layers; i++) {
        const layer_facts l = layer_read(m->config, i, m->length);
        int k = 0;
        while (k < m->kind_count && !layer_same(&m->kinds[k].layer, &l)) k++;
        if (k == m->kind_count) {
            m->kinds = arena_more(m->a, m->kinds, m->kind_count, &m->kind_room, sizeof *m->kinds);
            const char *name = kind_name(m, &l);
            m->kinds[m->kind_count++] = (model_kind){.layer = l, .name = name};
        }
        m->kind_of[i] = k, m->kinds[k].count++;
    }
    for (int k = 0; k < m->kind_count; k++) m->kinds[k].which = which_layers(m, k);
}

/* ---- tensors of the folder */
static bool has_layer(const model *m, const char *prefix)
{
    const char *start = layer_prefix(m->a, (layer_place){prefix, 0}), *name;
    for (size_t i = 0; (name = checkpoint_name_at(m->tensors, i)); i++)
        if (strncmp(name, start, strlen(start)) == 0) return true;
    return false;
}

static void find_gamma(model *m)
{
    const char *start = layer_prefix(m->a, (layer_place){m->prefix, 0}), *norm = m->config->family->attention_norm;
    m->gamma = norm && checkpoint_has(m->tensors, arena_printf(m->a, "%s%s.gamma", start, norm));
}

static void find_prefix(model *m)
{
    const family *f = m->config->family;
    m->prefix = f->prefixes[0];
    if (!m->tensors) return;
    for (int i = 0; i < family_most_prefixes && f->prefixes[i]; i++)
        if (has_layer(m, f->prefixes[i])) {
            m->prefix = f->prefixes[i];
            return find_gamma(m);
        }
    text tried = {.a = m->a};
    for (int i = 0; i < family_most_prefixes && f->prefixes[i]; i++) text_printf(&tried, "%s%s", i ? ", " : "", f->prefixes[i]);
    arena_source(m->a, m->tensors_path, NULL, 0);
    bail(m->a, code_bad_input, (position){0}, "no tensor of a layer of %s; their names begin with %s", f->model_type, tried.data);
}

/* Buffers that older checkpoints store next to the weights. */
static bool is_buffer(const char *name)
{
    static const char *const buffers[] = {"self_attn.rotary_emb.inv_freq", "attention.rotary_emb.inv_freq", "attn.bias", "attn.masked_bias",
                                          "attention.bias", "attention.masked_bias"};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (strcmp(buffers[i], name) == 0) return true;
    return false;
}

static bool spec_uses(const ir_graph *p, const char *name)
{
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i]->from && strcmp(p->values[i]->from, name) == 0) return true;
    return false;
}

/* The part of a tensor's name after the layer's prefix, and the layer's number; NULL: not a tensor of a layer. */
static const char *name_in_layer(const model *m, const char *name, long long *layer)
{
    static const char mark[] = "{layer}";
    const char *at = strstr(m->prefix, mark), *tail = at + strlen(mark);
    const size_t head = (size_t)(at - m->prefix);
    if (strncmp(name, m->prefix, head) != 0) return NULL;
    const size_t digits = strspn(name + head, "0123456789");
    if (!digits || digits > 9 || strncmp(name + head + digits, tail, strlen(tail)) != 0) return NULL;
    *layer = atoll(name + head);
    return name + head + digits + strlen(tail);
}

/* The spec written for a layer; NULL: none. only: the one layer that was asked for, -1: all. */
static const ir_graph *spec_of_layer(const model *m, long long layer, long long only)
{
    return layer < m->layers && (only < 0 || layer == only) ? m->kinds[m->kind_of[layer]].ir : NULL;
}

void model_check_tensors(const model *m, long long only)
{
    long long layer;
    const char *name, *own;
    if (!m->tensors) return;
    arena_source(m->a, m->tensors_path, NULL, 0);
    for (layer = 0; layer < m->layers; layer++) {
        const ir_graph *p = spec_of_layer(m, layer, only);
        const char *start = layer_prefix(m->a, (layer_place){m->prefix, layer});
        for (int i = 0; p && i < p->value_count; i++)
            if (p->values[i]->from && !checkpoint_has(m->tensors, arena_printf(m->a, "%s%s", start, p->values[i]->from)))
                complain(m->a, (position){0}, "tensor %s%s is missing; config.json implies it", start, p->values[i]->from);
    }
    for (size_t i = 0; (name = checkpoint_name_at(m->tensors, i)); i++) {
        const ir_graph *p = (own = name_in_layer(m, name, &layer)) ? spec_of_layer(m, layer, only) : NULL;
        if (p && !is_buffer(own) && !spec_uses(p, own))
            complain(m->a, (position){0}, "tensor %.200s is not used by the spec of its layer; config.json does not imply it", name);
    }
    bail_if_complained(m->a);
}

/* ---- specs */
const char *model_spec(const model *m, model_kind *k, spec_form form, spec_padding padding)
{
    static const char *const names[] = {"the spec", "the spec for generation", "the spec for prompts in caches"};
    const spec_request r = {m->config, &k->layer, k->which, m->prefix, form, m->gamma, padding, m->part};
    const char *text = spec_write(m->a, &r);
    k->ir = graph_read(m->a, text, strlen(text), names[form], NULL); /* bails on a mistake of this code, or an unsupported size */
    arena_source(m->a, NULL, NULL, 0);
    return text;
}

/* ---- opening */
char *model_read_file(arena *a, const char *folder, const char *name, size_t *size)
{
    struct stat s;
    const char *path = arena_printf(a, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name), *why;
    if (lstat(path, &s) && errno == ENOENT) return NULL;
    const int file = input_open(path, &why);
    FILE *in = file < 0 ? NULL : fdopen(file, "rb");
    arena_source(a, path, NULL, 0);
    if (!in) bail(a, code_bad_input, (position){0}, "cannot open: %s", file < 0 ? why : strerror(errno));
    char *text = arena_alloc(a, config_most_bytes + 2);
    *size = fread(text, 1, config_most_bytes + 1, in);
    const bool failed = ferror(in);
    fclose(in);
    if (failed) bail(a, code_bad_input, (position){0}, "cannot read it");
    if (*size > config_most_bytes)
        bail(a, code_bad_input, (position){0}, "larger than %d MB, the limit for a config", config_most_bytes >> 20);
    arena_source(a, NULL, NULL, 0);
    return text[*size] = 0, text;
}

static model *new_model(arena *a, const char *path, long long length)
{
    model *m = arena_alloc(a, sizeof *m);
    *m = (model){.a = a, .path = path, .length = length};
    return m;
}

model *model_of_config(arena *a, const char *json, size_t size, const char *path, long long length, const char *part)
{
    model *m = new_model(a, path, length);
    m->config = config_read(a, json, size, path, part);
    find_kinds(m);
    find_prefix(m);
    return m;
}

model *model_open(arena *a, const char *folder, long long length, const char *part)
{
    model *m = new_model(a, folder, length);
    size_t size;
    const char *path = arena_printf(a, "%s%sconfig.json", folder, folder[strlen(folder) - 1] == '/' ? "" : "/");
    const char *json = model_read_file(a, folder, "config.json", &size);
    if (!json) bail(a, code_bad_input, (position){0}, "%s: cannot open: %s", path, strerror(ENOENT));
    m->config = config_read(a, json, size, path, part);
    find_kinds(m);
    const char *pickle, *name = checkpoint_in_folder(a, folder, &pickle);
    if (name) m->tensors_path = arena_printf(a, "%s/%s", folder, name), m->tensors = checkpoint_open(a, m->tensors_path);
    find_prefix(m); /* m->tensors may be NULL: no checkpoint, or only pickles, which are not read */
    return m;
}

void model_need_tensors(const model *m)
{
    if (!m->tensors) (void)checkpoint_open(m->a, m->path);
}
