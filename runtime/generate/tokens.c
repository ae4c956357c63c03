/* In: token ids, a folder's configuration. Out: embeddings in the model's dtype, rounded where the transformers library
 * rounds; the ids that end a text. */
#include "runtime/generate/inside.h"
#include "ir/graph/half.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- ids that end a text */
static void release(void *json) { json_decref(json); }

/* NULL: the folder has no such file. */
static json_t *generation_config(const model *m)
{
    size_t size;
    json_error_t error;
    const char *text = model_read_file(m->a, m->path, "generation_config.json", &size);
    if (!text) return NULL;
    const char *path = arena_printf(m->a, "%s/generation_config.json", m->path);
    json_t *all = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    arena_source(m->a, path, text, size);
    if (!all)
        bail(m->a, code_bad_input, (position){error.line, error.column > 0 ? error.column : 1}, "%s", text_harmless(m->a, error.text));
    arena_defer(m->a, release, all);
    if (!json_is_object(all)) bail(m->a, code_bad_input, (position){1, 1}, "a generation_config.json should be an object, { ... }");
    arena_source(m->a, NULL, NULL, 0);
    return all;
}

static void add_end(generator *g, const model *m, const json_t *value, int *ends)
{
    ends[g->facts.end_count++] = (int)config_whole(m->config, value, "eos_token_id");
}

static void read_list(generator *g, const model *m, const json_t *value)
{
    const size_t count = json_is_array(value) ? json_array_size(value) : 1;
    int *ends = arena_alloc(g->a, (count + 1) * sizeof *ends);
    for (size_t i = 0; i < count; i++) add_end(g, m, json_is_array(value) ? json_array_get(value, i) : value, ends);
    g->facts.ends = ends;
}

/* Keys with which transformers changes logits or the choice of a token even without do_sample, and the value that disables each. */
static const struct {
    const char *key;
    double nothing;
} choices[] = {{"repetition_penalty", 1}, {"no_repeat_ngram_size", 0}, {"encoder_repetition_penalty", 1}, {"num_beams", 1},
               {"min_length", 0},         {"min_new_tokens", 0},       {"guidance_scale", 1},             {"penalty_alpha", 0},
               {"sequence_bias", 0},      {"suppress_tokens", 0},      {"begin_suppress_tokens", 0},      {"bad_words_ids", 0},
               {"forced_bos_token_id", -1}, {"forced_eos_token_id", -1}};

static const char *not_applied(arena *a, const json_t *all)
{
    text t = {.a = a};
    if (json_is_true(json_object_get(all, "do_sample"))) text_printf(&t, "do_sample");
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const json_t *value = json_object_get(all, choices[i].key);
        const bool idle = !value || json_is_null(value) || (json_is_number(value) && json_number_value(value) == choices[i].nothing) ||
                          (json_is_array(value) && !json_array_size(value));
        if (!idle) text_printf(&t, "%s%s", t.size ? ", " : "", choices[i].key);
    }
    return t.size ? t.data : "";
}

/* eos_token_id is looked up as in transformers: generation_config.json, then config.json's outer object, then its text model's. */
void generator_read_ends(generator *g, const model *m)
{
    const json_t *all = generation_config(m);
    const json_t *places[] = {all, m->config->outer, m->config->object};
    for (int i = 0; i < 3 && !g->facts.ends; i++) {
        const json_t *value = places[i] ? json_object_get(places[i], "eos_token_id") : NULL;
        if (value && !json_is_null(value)) read_list(g, m, value);
    }
    g->facts.not_applied = not_applied(g->a, all);
}

/* ---- embeddings */
static row_table open_table(generator *g, checkpoint *tensors, const char *name, long long rows)
{
    row_table r;
    r.tensor = checkpoint_tensor(tensors, name, &r.file);
    const safetensors_tensor *t = r.tensor;
    if (t->rank != 2 || t->shape[1] != g->stem.layer->hidden || t->shape[0] < 1 || (rows && t->shape[0] != rows))
        bail(g->a, code_bad_input, (position){0}, "tensor %s should be a table of %s%lld columns, as config.json says", name,
             rows ? arena_printf(g->a, "%lld rows of ", rows) : "", g->stem.layer->hidden);
    return r;
}

void generator_open_tables(generator *g, checkpoint *tensors)
{
    const model_stem *s = &g->stem;
    g->embedding = open_table(g, tensors, s->embedding, s->vocabulary);
    if (!s->position_embedding) return;
    g->positions = open_table(g, tensors, s->position_embedding, 0);
    const long long most = g->positions.tensor->shape[0] - s->first_position;
    if (most < (long long)g->options.room)
        bail(g->a, code_bad_input, (position){0}, "tensor %s has rows for %lld positions, config.json says %zu", s->position_embedding,
             most, g->facts.positions);
}

static void read_row(const generator *g, const row_table *r, long long row, double *out)
{
    const long long columns = g->stem.layer->hidden;
    safetensors_read_part(r->file, r->tensor, row * columns, columns, out);
    for (long long i = 0; i < columns; i++) out[i] = dtype_round(g->type, out[i]);
}

double generator_multiplier(const generator *g)
{
    return g->stem.multiplier_rounded ? dtype_round(g->type, g->stem.multiplier) : (double)(float)g->stem.multiplier;
}

/* embedding * multiplier + position embedding. As in transformers, the product and the sum are computed in f32 and each is rounded to the
 * dtype. templates/rows/next_token.h does the same on the device. */
void generator_embed(generator *g, int id, size_t position, void *out)
{
    const model_stem *s = &g->stem;
    const double factor = generator_multiplier(g);
    double *row = g->row[0];
    read_row(g, &g->embedding, id, row);
    for (long long i = 0; s->multiplier != 1 && i < s->layer->hidden; i++)
        row[i] = dtype_round(g->type, (float)row[i] * (float)factor);
    if (s->position_embedding) read_row(g, &g->positions, (long long)position + s->first_position, g->row[1]);
    for (long long i = 0; s->position_embedding && i < s->layer->hidden; i++)
        row[i] = dtype_round(g->type, (float)row[i] + (float)g->row[1][i]);
    for (long long i = 0; i < s->layer->hidden; i++) dtype_put(g->type, out, (size_t)i, row[i]);
}
