/* See runtime/model/layer.h. */
#include "runtime/model/layer.h"
#include "ir/base/names.h"
#include <limits.h>
#include <math.h>
#include <string.h>

static bool reads(const model_config *c, model_fact fact) { return (c->family->reads >> fact & 1) != 0; }

static long long whole_or(const model_config *c, model_fact fact, long long otherwise)
{
    return config_has(c, fact) ? c->facts[fact].whole : otherwise;
}
static double real_or(const model_config *c, model_fact fact, double otherwise)
{
    return config_has(c, fact) ? c->facts[fact].real : otherwise;
}
static bool flag_or(const model_config *c, model_fact fact, bool otherwise)
{
    return config_has(c, fact) ? c->facts[fact].flag : otherwise;
}

static long long need(const model_config *c, model_fact fact, const char *key)
{
    if (!config_has(c, fact)) config_refuse(c, key, "is missing");
    if (c->facts[fact].whole < 1) config_refuse(c, c->facts[fact].key, "should be at least 1");
    return c->facts[fact].whole;
}

long long model_layers(const model_config *c)
{
    const long long count = need(c, fact_layers, "num_hidden_layers");
    if (count > 10000) config_refuse(c, c->facts[fact_layers].key, "more than 10000 layers");
    return count;
}

/* ---- sizes */
static void read_heads(const model_config *c, layer_facts *l)
{
    const bool one = c->family->packed == packing_by_key && !flag_or(c, fact_grouped_heads, false);
    l->heads = need(c, fact_heads, "num_attention_heads");
    l->kv_heads = whole_or(c, fact_kv_heads, l->heads);
    if (one) l->kv_heads = flag_or(c, fact_multi_query, true) ? 1 : l->heads; /* Falcon's older models */
    if (l->kv_heads < 1 || l->heads % l->kv_heads)
        config_refuse(c, c->facts[fact_kv_heads].key, "%lld key heads do not divide %lld query heads", l->kv_heads, l->heads);
    l->head_size = whole_or(c, fact_head_size, 0);
    if (config_has(c, fact_head_size) && l->head_size < 1) config_refuse(c, "head_dim", "should be at least 1");
    if (!l->head_size && l->hidden % l->heads)
        config_refuse(c, c->facts[fact_heads].key, "%lld heads do not divide %lld columns", l->heads, l->hidden);
    if (!l->head_size) l->head_size = l->hidden / l->heads;
}

static void read_sizes(const model_config *c, layer_facts *l)
{
    l->hidden = need(c, fact_hidden, "hidden_size");
    read_heads(c, l);
    if (reads(c, fact_mlp_ratio)) l->inner = l->hidden * whole_or(c, fact_mlp_ratio, 4);
    else l->inner = c->family->inner_is_four && !config_has(c, fact_inner) ? 4 * l->hidden : need(c, fact_inner, "intermediate_size");
    if (l->inner < 1 || l->inner > INT_MAX) config_refuse(c, "mlp_ratio", "makes %lld columns of the feed-forward half", l->inner);
    l->positions = c->family->encoder && !config_has(c, fact_positions) ? 8192 : need(c, fact_positions, "max_position_embeddings");
    l->eps = real_or(c, fact_eps, c->family->eps);
    if (!(l->eps >= 0) || l->eps > 1) config_refuse(c, c->facts[fact_eps].key, "should be from 0 to 1");
}

/* ---- biases, norms, activation */
static bool has_bias(const model_config *c, bias_rule rule)
{
    if (rule == bias_by_attention_key) return flag_or(c, fact_attention_bias, c->family->bias_default);
    return rule == bias_always || (rule == bias_by_mlp_key && flag_or(c, fact_mlp_bias, false));
}

static void read_wiring(const model_config *c, layer_facts *l)
{
    const family *f = c->family;
    l->wiring = f->wiring;
    l->first_norm = f->attention_norm, l->second_norm = f->mlp_norm;
    const bool parallel = flag_or(c, fact_grouped_heads, false) || flag_or(c, fact_parallel, f->parallel_default);
    if (f->wiring == wiring_by_key) l->wiring = parallel ? wiring_parallel : wiring_ahead;
    if (reads(c, fact_norm_before) && !flag_or(c, fact_norm_before, true)) l->wiring = wiring_behind;
    if (l->wiring != wiring_parallel) return;
    const long long norms = whole_or(c, fact_parallel_norms, flag_or(c, fact_grouped_heads, false) || !f->one_norm ? 2 : 1);
    if (norms == 2 && f->first_norm) l->first_norm = f->first_norm, l->second_norm = f->second_norm;
    else l->first_norm = f->one_norm, l->second_norm = NULL;
}

static void read_attention(const model_config *c, layer_facts *l)
{
    const family *f = c->family;
    l->packed = f->packed;
    if (f->packed == packing_by_key && l->kv_heads == 1) l->packed = packing_stacked;
    l->q_norm = f->q_norm_by_key && !flag_or(c, fact_qk_norm, false) ? qk_norm_none : f->q_norm_kind;
    if (l->q_norm == qk_norm_tensor_per_head && l->heads > layer_most_joined)
        config_cannot(c, c->facts[fact_heads].key, "norms of more than %d heads, with a tensor per head, are not supported",
                      layer_most_joined);
    l->softcap = real_or(c, fact_softcap, 0);
    l->clip = real_or(c, fact_clip, 0);
    if (l->softcap < 0) config_refuse(c, c->facts[fact_softcap].key, "should not be negative");
    if (config_has(c, fact_clip) && l->clip <= 0) config_refuse(c, c->facts[fact_clip].key, "should be above 0");
    if (reads(c, fact_attention_multiplier)) l->scale = real_or(c, fact_attention_multiplier, 1);
    if (reads(c, fact_softmax_scale)) l->scale = real_or(c, fact_softmax_scale, 0);
    if (config_has(c, fact_softmax_scale) && !(l->scale > 0)) config_refuse(c, c->facts[fact_softmax_scale].key, "should be above 0");
    if (config_has(c, fact_query_scalar) && c->facts[fact_query_scalar].real > 0) l->scale = 1 / sqrt(c->facts[fact_query_scalar].real);
    if (config_has(c, fact_query_scalar) && !(c->facts[fact_query_scalar].real > 0))
        config_refuse(c, c->facts[fact_query_scalar].key, "should be above 0");
    if (l->scale < 0 || (reads(c, fact_attention_multiplier) && l->scale == 0))
        config_refuse(c, "attention_multiplier", "should be above 0");
    if (l->scale && fabs(l->scale * sqrt((double)l->head_size) - 1) < 1e-12) l->scale = 0; /* equal to the default */
}

/* Slopes as transformers makes them: base^1, base^2, ... */
static double *alibi_slopes(const model_config *c, const layer_facts *l)
{
    const long long n = l->heads;
    double *slopes = arena_alloc(c->a, (size_t)n * sizeof *slopes);
    long long below = 1;
    while (2 * below <= n) below *= 2;
    const long long above = below == n ? n : 2 * below;
    for (long long i = 0; i < n; i++) {
        if (c->family->alibi == alibi_mpt) { /* the slopes for the next power of two: every other one from the second on, then the rest */
            const long long at = above == n ? i : i < above / 2 ? 2 * i + 1 : 2 * (i - above / 2);
            slopes[i] = exp2(-8.0 * (double)(at + 1) / (double)above);
        } else { /* the slopes for the previous power of two; then every other one of those for twice as many */
            slopes[i] = i < below ? exp2(-8.0 * (double)(i + 1) / (double)below)
                                  : exp2(-8.0 * (double)(2 * (i - below) + 1) / (double)(2 * below));
        }
    }
    return slopes;
}

static void read_alibi(const model_config *c, layer_facts *l)
{
    const bool none = c->family->alibi == alibi_none;
    if (none && flag_or(c, fact_alibi, false)) /* Falcon's ALiBi: transformers rounds the bias of each position to bf16, whatever the
                                                * model's dtype */
        config_cannot(c, c->facts[fact_alibi].key, "ALiBi of %s, which is rounded by position, is not supported", c->family->model_type);
    if (none) return;
    if (!flag_or(c, fact_alibi, true))
        config_cannot(c, c->facts[fact_alibi].key, "layers of %s without ALiBi are not supported", c->family->model_type);
    l->alibi = alibi_slopes(c, l);
}

static void read_activation(const model_config *c, layer_facts *l)
{
    const char *name = config_has(c, fact_activation) ? c->facts[fact_activation].word : c->family->activation;
    if (c->family->gelu_is_tanh && strcmp(name, "gelu") == 0) name = "gelu_pytorch_tanh";
    l->activation = activation_find(name);
    if (!l->activation) config_cannot(c, c->facts[fact_activation].key, "activation %s is not supported", text_harmless(c->a, name));
}

static void read_feed_forward(const model_config *c, layer_facts *l)
{
    const family *f = c->family;
    l->gated = f->gated, l->gate = f->gate, l->up = f->up, l->down = f->down;
    l->mlp_bias = has_bias(c, f->mlp_bias);
    read_activation(c, l);
    if (!flag_or(c, fact_swiglu, false)) return;
    l->gated = true, l->gate = f->swiglu_in, l->up = NULL, l->down = f->swiglu_out;
    l->inner = (l->inner * 2 / 3 + 7) / 8 * 8; /* two thirds of the columns, rounded up to a multiple of 8 */
    l->activation = activation_find("silu"); /* whatever hidden_act says */
    if (!l->inner) config_refuse(c, "mlp_ratio", "makes 0 columns of the feed-forward half");
}

/* ---- kinds of layers */
/* The layer's entry in layer_types; NULL: there is no such list. */
static const char *listed_type(const model_config *c, long long layer)
{
    static const char *const known[] = {"full_attention", "sliding_attention"};
    const json_t *list = json_object_get(c->object, "layer_types"), *item = json_array_get(list, (size_t)layer);
    if (!list || json_is_null(list)) return NULL;
    if (!json_is_array(list) || json_array_size(list) != (size_t)model_layers(c))
        config_refuse(c, "layer_types", "should be a list of %lld strings, one per layer", model_layers(c));
    for (int i = 0; i < 2; i++)
        if (json_is_string(item) && strcmp(json_string_value(item), known[i]) == 0) return known[i];
    if (!json_is_string(item)) config_refuse(c, arena_printf(c->a, "layer_types[%lld]", layer), "should be a string");
    config_cannot(c, arena_printf(c->a, "layer_types[%lld]", layer), "%s is not supported; full_attention and sliding_attention are",
                  text_harmless(c->a, json_string_value(item)));
}

/* Whether the layer has no rope: by the list no_rope_layers, or, without one, every n-th layer (no_rope_layer_interval, by default 4). */
static bool listed_without_rope(const model_config *c, long long layer)
{
    const json_t *list = json_object_get(c->object, "no_rope_layers");
    const long long interval = whole_or(c, fact_no_rope_interval, 4);
    if (!list || json_is_null(list)) return interval > 0 && (layer + 1) % interval == 0;
    if (!json_is_array(list) || json_array_size(list) != (size_t)model_layers(c))
        config_refuse(c, "no_rope_layers", "should be a list of %lld numbers, one per layer", model_layers(c));
    return config_whole(c, json_array_get(list, (size_t)layer), "no_rope_layers") == 0; /* 1: with rope */
}

static bool slides_by_rule(const model_config *c, long long layer)
{
    const family *f = c->family;
    const long long every = whole_or(c, fact_window_pattern, f->window_pattern);
    switch (f->window) {
    case window_never: break;
    case window_all: return true;
    case window_even: return layer % 2 == 0;
    case window_but_every:
        if (every < 1) config_refuse(c, c->facts[fact_window_pattern].key, "should be at least 1");
        return (layer + 1) % every != 0;
    case window_but_first:
        if (every < 1) config_refuse(c, c->facts[fact_window_pattern].key, "should be at least 1");
        return layer % every != 0;
    case window_from_layer: return layer >= whole_or(c, fact_window_from, 28);
    case window_without_rope: return listed_without_rope(c, layer);
    }
    return false;
}

static bool has_window(const model_config *c) { return reads(c, fact_window) || reads(c, fact_local_attention); }

static bool slides(const model_config *c, long long layer)
{
    const char *type = listed_type(c, layer);
    const bool wanted = !reads(c, fact_use_window) || flag_or(c, fact_use_window, false);
    if (!has_window(c) && type && strcmp(type, "sliding_attention") == 0)
        config_cannot(c, "layer_types", "layers of %s have no window", c->family->model_type);
    const bool listed = type && strcmp(type, "sliding_attention") == 0;
    if (listed && !wanted && c->family->window != window_without_rope)
        config_refuse(c, "layer_types", "layer %lld has sliding_attention, but use_sliding_window is false", layer);
    if (type) return listed && wanted;
    if (!has_window(c) || !(config_has(c, fact_window) || config_has(c, fact_local_attention)) || !wanted) return false;
    return slides_by_rule(c, layer);
}

static void read_window(const model_config *c, layer_facts *l, long long layer)
{
    if (!slides(c, layer)) return;
    const bool both_sides = reads(c, fact_local_attention); /* half of the window is on each side of the token */
    l->window = both_sides ? need(c, fact_local_attention, "local_attention") / 2 + 1 : need(c, fact_window, "sliding_window");
}

/* ---- ropes */
static bool without_rope(const model_config *c, const layer_facts *l, long long layer)
{
    const json_t *list = json_object_get(c->object, "no_rope_layers");
    if (c->family->no_rope || (c->family->no_rope_without_window && !l->window)) return true;
    if (reads(c, fact_no_rope_interval)) return listed_without_rope(c, layer);
    if (list && !json_is_null(list)) config_cannot(c, "no_rope_layers", "layers of %s all have ropes", c->family->model_type);
    return false;
}

/* The config's object with a rope's numbers (NULL: none), and its path for messages. */
typedef struct rope_map {
    const model_config *c;
    const json_t *map;
    const char *path;
} rope_map;

static double rope_number(const rope_map *m, const char *key, double otherwise)
{
    const json_t *value = json_object_get(m->map, key);
    const char *path = arena_printf(m->c->a, "%s.%s", m->path, key);
    if (value && !json_is_null(value)) {
        const double number = config_real(m->c, value, path);
        if (!(number > 0)) config_refuse(m->c, path, "should be above 0");
        return number;
    }
    if (otherwise <= 0) config_refuse(m->c, path, "is missing");
    return otherwise;
}

static bool rope_has(const rope_map *m, const char *key)
{
    const json_t *value = json_object_get(m->map, key);
    return value && !json_is_null(value);
}

/* Rope types of configs, and the keys that each has besides the common ones. */
typedef enum rope_kind { rope_default, rope_linear, rope_llama3, rope_dynamic, rope_yarn, rope_longrope, rope_mrope, rope_kinds } rope_kind;
static const struct {
    const char *name, *keys;
} ropes[rope_kinds] = {
    [rope_default] = {"default", ""},
    [rope_linear] = {"linear", " factor "},
    [rope_llama3] = {"llama3", " factor low_freq_factor high_freq_factor original_max_position_embeddings "},
    [rope_dynamic] = {"dynamic", " factor "},
    [rope_yarn] = {"yarn", " factor attention_factor beta_fast beta_slow mscale mscale_all_dim truncate original_max_position_embeddings "},
    [rope_longrope] = {"longrope", " factor attention_factor short_factor long_factor original_max_position_embeddings "},
    [rope_mrope] = {"mrope", " mrope_section "}, /* for text tokens all sections have the same position */
};

static void check_rope_keys(const rope_map *m, rope_kind kind)
{
    static const char of_all[] = " rope_type type rope_theta partial_rotary_factor ";
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)m->map, key, value)
    {
        const char *word = arena_printf(m->c->a, " %s ", key);
        if (json_is_null(value) || (!strchr(key, ' ') && (strstr(of_all, word) || strstr(ropes[kind].keys, word)))) continue;
        config_refuse(m->c, arena_printf(m->c->a, "%s.%s", m->path, key), "this type of rope does not have this key");
    }
}

static rope_kind kind_of_rope(const rope_map *m)
{
    const json_t *type = json_object_get(m->map, rope_has(m, "rope_type") ? "rope_type" : "type");
    const char *path = arena_printf(m->c->a, "%s.rope_type", m->path);
    if (!type || json_is_null(type)) return rope_default;
    if (!json_is_string(type)) config_refuse(m->c, path, "should be a string");
    const char *name = json_string_value(type);
    if (strcmp(name, "su") == 0 || (m->c->family->yarn_is_longrope && strcmp(name, "yarn") == 0)) name = "longrope";
    for (int i = 0; i < rope_kinds; i++)
        if (strcmp(ropes[i].name, name) == 0) return (rope_kind)i;
    config_cannot(m->c, path, "%s is not supported; default, linear, llama3, dynamic, yarn, longrope and mrope are",
                  text_harmless(m->c->a, name));
}

/* Positions of the model before context extension: the config's key, else the rope's, else the model's present ones. */
static double original_positions(const rope_map *m, const layer_facts *l)
{
    if (config_has(m->c, fact_original_positions)) return (double)need(m->c, fact_original_positions, "original_max_position_embeddings");
    return rope_number(m, "original_max_position_embeddings", (double)l->positions);
}

static const char *number_text(arena *a, double value)
{
    text t = {.a = a};
    text_number(&t, value);
    return t.data;
}
#define number(m, value) number_text((m)->c->a, value)

static double mscale(double factor, double by) { return factor <= 1 ? 1 : 0.1 * by * log(factor) + 1; }

static const char *yarn(const rope_map *m, layer_facts *l)
{
    const double original = original_positions(m, l), factor = rope_number(m, "factor", (double)l->positions / original);
    const double fast = rope_number(m, "beta_fast", 32), slow = rope_number(m, "beta_slow", 1);
    const json_t *truncate = json_object_get(m->map, "truncate");
    if (truncate && !json_is_boolean(truncate) && !json_is_null(truncate))
        config_refuse(m->c, arena_printf(m->c->a, "%s.truncate", m->path), "should be true or false");
    if (slow >= fast) config_refuse(m->c, m->path, "beta_slow should be below beta_fast");
    if (l->rope.theta <= 1) config_refuse(m->c, m->path, "rope_theta should be above 1");
    l->rope.attention_factor = rope_has(m, "attention_factor") ? rope_number(m, "attention_factor", 0)
                               : rope_has(m, "mscale") && rope_has(m, "mscale_all_dim")
                                   ? mscale(factor, rope_number(m, "mscale", 0)) / mscale(factor, rope_number(m, "mscale_all_dim", 0))
                                   : mscale(factor, 1);
    return arena_printf(m->c->a, "{type: yarn, factor: %s, original: %s, beta_fast: %s, beta_slow: %s%s}", number(m, factor),
                        number(m, original), number(m, fast), number(m, slow), json_is_false(truncate) ? ", truncate: false" : "");
}

/* Texts of up to `original` tokens take the factors short_factor, longer ones long_factor. A spec has one of the lists, chosen by `length`.
 * */
static const char *longrope(const rope_map *m, layer_facts *l, long long length)
{
    const double original = original_positions(m, l), factor = rope_number(m, "factor", (double)l->positions / original);
    if (original < 2 || original != floor(original))
        config_refuse(m->c, "original_max_position_embeddings", "should be a whole number of at least 2");
    const bool is_long = length > original;
    const char *key = is_long ? "long_factor" : "short_factor", *path = arena_printf(m->c->a, "%s.%s", m->path, key);
    const json_t *list = json_object_get(m->map, key);
    text t = {.a = m->c->a};
    if (!json_is_array(list) || 2 * (long long)json_array_size(list) != l->rope.rotary)
        config_refuse(m->c, path, "should be a list of %lld numbers, one for each rotated pair", l->rope.rotary / 2);
    text_printf(&t, "{type: longrope, factors: [");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const double one = config_real(m->c, json_array_get(list, i), path);
        if (!(one > 0)) config_refuse(m->c, path, "numbers should be above 0");
        text_printf(&t, "%s%s", i ? ", " : "", number(m, one));
    }
    text_printf(&t, "]}");
    const double stretched = factor <= 1 ? 1 : sqrt(1 + log(factor) / log(original));
    l->rope.attention_factor = rope_number(m, "attention_factor", stretched);
    if (is_long) l->least_tokens = (long long)original + 1;
    else if (original < (double)l->positions) l->positions = (long long)original;
    l->rope.note = arena_printf(m->c->a, "texts of %s %.0f tokens have other factors, in the spec that `tfgen import --length=N` writes",
                                is_long ? "up to" : "more than", original);
    return t.data;
}

static const char *llama3(const rope_map *m, const layer_facts *l)
{
    const double low = rope_number(m, "low_freq_factor", 0), high = rope_number(m, "high_freq_factor", 0);
    if (low >= high) config_refuse(m->c, m->path, "low_freq_factor should be below high_freq_factor");
    return arena_printf(m->c->a, "{type: llama3, factor: %s, low_freq: %s, high_freq: %s, original: %s}",
                        number(m, rope_number(m, "factor", 0)), number(m, low), number(m, high), number(m, original_positions(m, l)));
}

static void read_scaling(const rope_map *m, layer_facts *l, long long length)
{
    const rope_kind kind = kind_of_rope(m);
    check_rope_keys(m, kind);
    switch (kind) {
    case rope_linear: l->rope.scaling = arena_printf(m->c->a, "{type: linear, factor: %s}", number(m, rope_number(m, "factor", 0))); break;
    case rope_llama3: l->rope.scaling = llama3(m, l); break;
    case rope_yarn: l->rope.scaling = yarn(m, l); break;
    case rope_longrope: l->rope.scaling = longrope(m, l, length); break;
    case rope_dynamic: l->rope.note = "dynamic in the config, which is the same up to the model's positions"; break;
    default: break;
    }
    if (l->rope.attention_factor == 1) l->rope.attention_factor = 0;
}

/* Finds rope_parameters (transformers 5; for all layers or per layer type), else rope_scaling (transformers 4). False: no rope. */
static bool find_map(const model_config *c, const layer_facts *l, rope_map *m)
{
    const char *type = l->window ? "sliding_attention" : "full_attention";
    const json_t *new = json_object_get(c->object, "rope_parameters"), *old = json_object_get(c->object, "rope_scaling");
    *m = (rope_map){c, NULL, "rope_parameters"};
    if (new && !json_is_null(new) && old && !json_is_null(old) && !json_equal(new, old))
        config_refuse(c, "rope_scaling", "contradicts rope_parameters");
    if (new && !json_is_null(new)) {
        if (!json_is_object(new)) config_refuse(c, "rope_parameters", "should be an object");
        m->map = new;
        const bool flat = !json_object_get(new, "full_attention") && !json_object_get(new, "sliding_attention");
        if (flat && c->family->scaling_without_window)
            config_refuse(c, "rope_parameters", "should have a map for full_attention and one for sliding_attention");
        if (flat) return true;
        m->map = json_object_get(new, type), m->path = arena_printf(c->a, "rope_parameters.%s", type);
        if (c->family->scaling_without_window && json_is_null(m->map)) return m->map = NULL, true; /* the plain rope */
        if (!m->map) config_refuse(c, m->path, "is missing");
        if (!json_is_null(m->map) && !json_is_object(m->map)) config_refuse(c, m->path, "should be an object, or null");
        return !json_is_null(m->map);
    }
    if (!old || json_is_null(old) || (c->family->scaling_without_window && l->window)) return true;
    if (!json_is_object(old)) config_refuse(c, "rope_scaling", "should be an object");
    if (c->family->encoder) config_cannot(c, "rope_scaling", "of %s is not supported", c->family->model_type);
    return m->map = old, m->path = "rope_scaling", true;
}

static void read_rotary(const model_config *c, layer_facts *l, double part, const char *path)
{
    if (!(part > 0 && part <= 1))
        config_refuse(c, config_has(c, fact_partial) ? c->facts[fact_partial].key : path, "should be above 0, at most 1");
    l->rope.rotary = config_has(c, fact_rotary) ? c->facts[fact_rotary].whole : (long long)((double)l->head_size * part);
    if (l->rope.rotary < 2 || l->rope.rotary % 2 || l->rope.rotary > l->head_size)
        config_cannot(c, config_has(c, fact_rotary) ? "rotary_dim" : "head_dim",
                      "rope rotates %lld of a head's %lld columns; it should be an even number from 2 to the head's size", l->rope.rotary,
                      l->head_size);
}

static void read_rope(const model_config *c, layer_facts *l, long long layer, long long length)
{
    const family *f = c->family;
    rope_map m;
    static const char *const maps[] = {"rope_parameters", "rope_scaling"};
    for (int i = 0; i < 2 && f->no_rope; i++)
        if (json_object_get(c->object, maps[i]) && !json_is_null(json_object_get(c->object, maps[i])))
            config_refuse(c, maps[i], "layers of %s have no rope", f->model_type);
    if (without_rope(c, l, layer) || !find_map(c, l, &m)) return;
    const bool local = l->window && f->local_theta;
    const model_fact theta = local ? fact_local_theta : fact_theta;
    const double own = real_or(c, theta, local ? f->local_theta : f->theta);
    double part = real_or(c, fact_partial, f->partial ? f->partial : 1);
    l->rope.is = true, l->rope.theta = own;
    if (m.map) l->rope.theta = rope_number(&m, "rope_theta", own), part = rope_number(&m, "partial_rotary_factor", part);
    if (part != 1 && !reads(c, fact_partial) && !reads(c, fact_rotary))
        config_refuse(c, arena_printf(c->a, "%s.partial_rotary_factor", m.path), "layers of %s rotate whole heads", f->model_type);
    if (!(l->rope.theta > 0)) config_refuse(c, c->facts[theta].key, "should be above 0");
    read_rotary(c, l, part, m.path);
    if (m.map) read_scaling(&m, l, length);
}

layer_facts layer_read(const model_config *c, long long layer, long long length)
{
    layer_facts l = {0};
    const long long count = model_layers(c);
    if (layer >= count)
        bail(c->a, code_usage, (position){0}, "--layer=%lld: layer %lld does not exist (the model has layers 0 to %lld)", layer, layer,
             count - 1);
    l.family = c->family;
    read_sizes(c, &l);
    if (length > l.positions) bail(c->a, code_usage, (position){0}, "--length=%lld: the model has %lld positions", length, l.positions);
    l.least_tokens = 1;
    read_wiring(c, &l);
    l.qkv_bias = has_bias(c, c->family->qkv_bias), l.o_bias = has_bias(c, c->family->o_bias);
    read_attention(c, &l);
    read_alibi(c, &l);
    read_feed_forward(c, &l);
    if (layer == 0 && c->family->first_layer_has_no_norm) l.first_norm = NULL;
    l.residual = real_or(c, fact_residual_multiplier, 1);
    if (flag_or(c, fact_scale_by_layer, false)) l.scale = 1 / sqrt((double)l.head_size) / (double)(layer + 1);
    read_window(c, &l, layer);
    read_rope(c, &l, layer, length);
    if (length && length < l.positions) l.positions = length;
    if (l.window >= l.positions) l.window = 0; /* a window that long never hides a key */
    return l;
}

static bool same_rope(const layer_facts *x, const layer_facts *y)
{
    return x->rope.is == y->rope.is && x->rope.theta == y->rope.theta && x->rope.attention_factor == y->rope.attention_factor &&
           x->rope.rotary == y->rope.rotary && names_equal(x->rope.scaling, y->rope.scaling);
}

/* Compares every member but rope.note, which is only a remark. */
bool layer_same(const layer_facts *x, const layer_facts *y)
{
    return x->family == y->family && x->hidden == y->hidden && x->heads == y->heads && x->kv_heads == y->kv_heads &&
           x->head_size == y->head_size && x->inner == y->inner && x->positions == y->positions && x->eps == y->eps &&
           x->gated == y->gated && names_equal(x->gate, y->gate) && names_equal(x->up, y->up) && names_equal(x->down, y->down) &&
           x->activation == y->activation && x->wiring == y->wiring && names_equal(x->first_norm, y->first_norm) &&
           names_equal(x->second_norm, y->second_norm) && x->qkv_bias == y->qkv_bias && x->o_bias == y->o_bias &&
           x->mlp_bias == y->mlp_bias && x->packed == y->packed && x->q_norm == y->q_norm && x->window == y->window &&
           x->scale == y->scale && x->softcap == y->softcap && x->clip == y->clip && !x->alibi == !y->alibi && x->residual == y->residual &&
           x->least_tokens == y->least_tokens && same_rope(x, y);
}

const char *layer_kind_name(const layer_facts *l)
{
    return l->window ? "sliding" : "full";
}
