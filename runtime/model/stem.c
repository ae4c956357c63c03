/* See runtime/model/stem.h. */
#include "runtime/model/stem.h"
#include <math.h>
#include <string.h>

/* A positive number under a key that the family may have; `otherwise` if it is missing, 0 if it is null. */
static double number_at(const model *m, const char *key, double otherwise)
{
    const json_t *value = key ? json_object_get(m->config->object, key) : NULL;
    if (!value || json_is_null(value)) return value ? 0 : otherwise;
    const double number = config_real(m->config, value, key);
    if (!(number > 0)) config_refuse(m->config, key, "should be above 0");
    return number;
}

static const json_t *value_at(const model *m, const char *key)
{
    const json_t *value = json_object_get(m->config->object, key);
    return value && !json_is_null(value) ? value : NULL;
}

static bool changes_nothing(const json_t *value)
{
    return !value || json_is_false(value) || (json_is_number(value) && json_number_value(value) == 1);
}

/* A key that changes embeddings or logits in a way that this family does not have or that is unsupported; NULL: none. */
static const char *foreign_key(const model *m)
{
    const family *f = m->config->family;
    const char *const own[] = {f->embedding_multiplier.key, f->logit_multiplier.key, f->logit_divisor.key, f->logit_cap.key};
    static const char *const known[] = {"embedding_multiplier", "logit_scale", "logits_scaling", "final_logit_softcapping",
                                        "scale_embedding"};
    const json_t *narrow = value_at(m, "word_embed_proj_dim");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bool reads = changes_nothing(value_at(m, known[i]));
        for (int k = 0; k < 4; k++) reads |= own[k] && strcmp(own[k], known[i]) == 0;
        if (!reads) return known[i];
    }
    return narrow && json_number_value(narrow) != (double)m->kinds[0].layer.hidden ? "word_embed_proj_dim" : NULL;
}

static bool flag_at(const model *m, const char *key, bool otherwise)
{
    const json_t *value = json_object_get(m->config->outer, key);
    if (!value || json_is_null(value)) value = json_object_get(m->config->object, key);
    if (!value || json_is_null(value)) return otherwise;
    if (!json_is_boolean(value)) config_refuse(m->config, key, "should be true or false");
    return json_is_true(value);
}

/* The layers' prefix without "layers.{layer}.". */
static const char *stem_prefix(const model *m)
{
    const char *mark = strstr(m->prefix, "{layer}"), *end = mark;
    if (end > m->prefix) end--;
    while (end > m->prefix && end[-1] != '.') end--;
    return arena_strndup(m->a, m->prefix, (size_t)(end - m->prefix));
}

static bool has(const model *m, const char *name) { return m->tensors && checkpoint_has(m->tensors, name); }

/* Name of the head's module; NULL: the checkpoint has none. Without a checkpoint: the family's first name. */
static const char *find_head(const model *m)
{
    static const char *const ahead[] = {"", "language_model."};
    const family *f = m->config->family;
    for (int i = 0; i < 2 && f->heads[i]; i++)
        for (int k = 0; k < 2; k++) {
            const char *name = arena_printf(m->a, "%s%s", ahead[k], f->heads[i]);
            if (!m->tensors || has(m, arena_printf(m->a, "%s.weight", name))) return name;
        }
    return NULL;
}

/* As transformers 5: a head in the checkpoint is used even if the config ties it to the embedding. */
static void find_weights(const model *m, model_stem *s, const char *prefix)
{
    const family *f = m->config->family;
    const bool tied = flag_at(m, "tie_word_embeddings", f->tied);
    const char *head = find_head(m);
    s->embedding = arena_printf(m->a, "%s%s.weight", prefix, f->embedding);
    if (tied && (!m->tensors || !head)) s->head = s->embedding;
    else s->head = arena_printf(m->a, "%s.weight", head ? head : f->heads[0]);
    if (m->tensors && tied && head && !has(m, s->embedding)) s->embedding = s->head;
    if (f->head_bias) s->head_bias = arena_printf(m->a, "%s.bias", head ? head : f->heads[0]);
}

static void check_weights(const model *m, const model_stem *s)
{
    const char *const names[] = {s->embedding, s->position_embedding, s->head, s->head_bias};
    if (!m->tensors) return;
    arena_source(m->a, m->tensors_path, NULL, 0);
    for (int i = 0; i < 4; i++)
        if (names[i] && !checkpoint_has(m->tensors, names[i]))
            complain(m->a, (position){0}, "tensor %s is missing; config.json implies it", names[i]);
    bail_if_complained(m->a);
    arena_source(m->a, NULL, NULL, 0);
}

bool stem_is_there(const model *m)
{
    const family *f = m->config->family;
    if (!f->embedding || !value_at(m, "vocab_size") || foreign_key(m)) return false;
    return !m->tensors || find_head(m) || flag_at(m, "tie_word_embeddings", f->tied);
}

model_stem stem_read(const model *m)
{
    const model_config *c = m->config;
    const family *f = c->family;
    model_stem s = {.layer = &m->kinds[m->kind_of[0]].layer, .multiplier = 1, .logit_multiplier = 1};
    if (!f->embedding)
        bail(m->a, code_usage, (position){0}, "%s: %s is an encoder and does not generate", m->path, f->model_type);
    const json_t *size = value_at(m, "vocab_size");
    if (!size) config_refuse(c, "vocab_size", "is missing");
    s.vocabulary = config_whole(c, size, "vocab_size");
    if (s.vocabulary < 1) config_refuse(c, "vocab_size", "should be at least 1");
    if (foreign_key(m)) config_cannot(c, foreign_key(m), "of %s is not supported in a whole model", f->model_type);
    const char *prefix = stem_prefix(m);
    find_weights(m, &s, prefix);
    if (f->position_embedding) s.position_embedding = arena_printf(m->a, "%s%s.weight", prefix, f->position_embedding);
    s.first_position = f->first_position;
    if (f->embedding_norm) s.embedding_norm = arena_printf(m->a, "%s%s", prefix, f->embedding_norm);
    /* some OPT models have no last norm */
    const bool bare = flag_at(m, "_remove_final_layer_norm", false) || s.layer->wiring == wiring_behind;
    if (!bare) s.last_norm = arena_printf(m->a, "%s%s", prefix, f->last_norm);
    const double multiplier = number_at(m, f->embedding_multiplier.key, f->embedding_multiplier.otherwise);
    if (multiplier) s.multiplier = multiplier;
    if (f->embedding_by_root) s.multiplier = sqrt((double)s.layer->hidden), s.multiplier_rounded = true;
    const double by = number_at(m, f->logit_multiplier.key, f->logit_multiplier.otherwise);
    const double divisor = number_at(m, f->logit_divisor.key, f->logit_divisor.otherwise);
    s.logit_multiplier = (by ? by : 1) / (divisor ? divisor : 1);
    s.logit_cap = number_at(m, f->logit_cap.key, f->logit_cap.otherwise);
    check_weights(m, &s);
    return s;
}

/* ---- specs */
static const char *write(const model *m, const stem_request *r, const char *name)
{
    const char *text = spec_write_stem(m->a, r);
    const ir_graph *ir = graph_read(m->a, text, strlen(text), name, NULL);
    if (m->tensors) arena_source(m->a, m->tensors_path, NULL, 0);
    for (int i = 0; m->tensors && i < ir->value_count; i++)
        if (ir->values[i]->from && !checkpoint_has(m->tensors, ir->values[i]->from))
            complain(m->a, (position){0}, "tensor %s is missing; config.json implies it", ir->values[i]->from);
    bail_if_complained(m->a);
    arena_source(m->a, NULL, NULL, 0);
    return text;
}

const char *stem_head_spec(const model *m, const model_stem *s, long long block)
{
    const stem_request r = {.config = m->config,
                            .layer = s->layer,
                            .gamma = m->gamma,
                            .norm = s->last_norm,
                            .vocabulary = s->vocabulary,
                            .head = s->head,
                            .head_bias = s->head_bias,
                            .logit_multiplier = s->logit_multiplier,
                            .logit_cap = s->logit_cap,
                            .block = block};
    return write(m, &r, "the spec of the head");
}

const char *stem_embedding_spec(const model *m, const model_stem *s)
{
    const stem_request r = {.config = m->config, .layer = s->layer, .gamma = m->gamma, .norm = s->embedding_norm};
    return s->embedding_norm ? write(m, &r, "the spec of the embeddings") : NULL;
}
