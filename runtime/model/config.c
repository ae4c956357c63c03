/* See runtime/model/config.h. */
#include "runtime/model/config.h"
#include <limits.h>
#include <math.h>
#include <string.h>

typedef enum key_kind { key_WHOLE, key_REAL, key_FLAG, key_WORD } key_kind;
typedef struct key_row {
    key_kind kind;
    const char *names;
} key_row;
static const key_row keys[fact_count] = {
#define KEY(fact, kind, names) [fact_##fact] = {key_##kind, names},
#include "runtime/model/key.def"
};
static const char *const only[][2] = {
#define ONLY(name, families) {name, families},
#include "runtime/model/key.def"
};
static const char *const stray[][2] = {
#define STRAY(family, names) {family, names},
#include "runtime/model/key.def"
};
static const char *const read_elsewhere[] = {
#define READ(name) name,
#include "runtime/model/key.def"
};
static const char *const musts[][2] = {
#define MUST(name, value) {name, value},
#include "runtime/model/key.def"
};
static const char *const harmless[] = {
#define HARMLESS(names) names,
#include "runtime/model/key.def"
};
enum {
    only_count = sizeof only / sizeof *only,
    stray_count = sizeof stray / sizeof *stray,
    read_count = sizeof read_elsewhere / sizeof *read_elsewhere,
    must_count = sizeof musts / sizeof *musts,
    harmless_count = sizeof harmless / sizeof *harmless
};

/* Facts that every family reads. */
static const unsigned long long read_by_all =
    FACT(hidden) | FACT(layers) | FACT(heads) | FACT(inner) | FACT(positions) | FACT(activation) | FACT(eps);

static _Noreturn void say(const model_config *c, tfgen_code code, const char *key, const char *format, va_list list)
{
    const char *message = arena_vprintf(c->a, format, list);
    arena_source(c->a, c->path, NULL, 0);
    bail(c->a, code, (position){0}, "%s%s: %s", c->within, text_harmless(c->a, key), message);
}

void config_refuse(const model_config *c, const char *key, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(c, code_bad_input, key, format, list);
}

void config_cannot(const model_config *c, const char *key, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(c, code_unsupported, key, format, list);
}

bool config_has(const model_config *c, model_fact fact) { return c->facts[fact].key != NULL; }

long long config_whole(const model_config *c, const json_t *value, const char *key)
{
    const double real = json_is_real(value) ? json_real_value(value) : 0;
    long long whole = json_is_integer(value) ? json_integer_value(value) : LLONG_MIN;
    if (json_is_real(value) && real == floor(real) && fabs(real) <= INT_MAX) whole = (long long)real;
    if (whole < 0 || whole > INT_MAX) config_refuse(c, key, "should be a whole number from 0 to %d", INT_MAX);
    return whole;
}

double config_real(const model_config *c, const json_t *value, const char *key)
{
    const double real = json_number_value(value);
    if (!json_is_number(value)) config_refuse(c, key, "should be a number");
    if (!isfinite(real) || fabs(real) > 1e30 || (real != 0 && fabs(real) < 1e-30))
        config_refuse(c, key, "should be a number whose size is from 1e-30 to 1e30, or 0");
    return real;
}

/* True if two keys name the same activation. Some configs of Gemma have both "gelu" and the tanh form; the latter is meant. */
static bool same_activation(const model_config *c, const char *x, const char *y)
{
    static const char tanh_form[] = "gelu_pytorch_tanh";
    if (c->family->gelu_is_tanh && strcmp(x, "gelu") == 0) x = tanh_form;
    if (c->family->gelu_is_tanh && strcmp(y, "gelu") == 0) y = tanh_form;
    return strcmp(x, y) == 0;
}

/* The value under a key that names this fact. */
static config_value value_of(const model_config *c, model_fact fact, const char *key, const json_t *value)
{
    config_value got = {.key = c->in_attention ? arena_printf(c->a, "attn_config.%s", key) : key};
    switch (keys[fact].kind) {
    case key_WHOLE: got.whole = config_whole(c, value, key); break;
    case key_REAL: got.real = config_real(c, value, key); break;
    case key_FLAG:
        if (!json_is_boolean(value)) config_refuse(c, key, "should be true or false");
        got.flag = json_is_true(value);
        break;
    case key_WORD:
        if (!json_is_string(value) || strlen(json_string_value(value)) > 100)
            config_refuse(c, key, "should be a string of at most 100 characters");
        got.word = json_string_value(value);
        break;
    }
    return got;
}

/* Refuses a value that differs from the one that another key has already given the fact, if any. */
static config_value same_value(const model_config *c, model_fact fact, const char *key, const json_t *value)
{
    const config_value *v = &c->facts[fact], got = value_of(c, fact, key, value);
    const bool same = !v->key || (got.whole == v->whole && got.real == v->real && got.flag == v->flag &&
                                  (!got.word || same_activation(c, got.word, v->word)));
    if (!same) config_refuse(c, key, "contradicts %s", v->key);
    return got;
}

static void read_fact(model_config *c, model_fact fact, const char *key, const json_t *value)
{
    config_value got = same_value(c, fact, key, value);
    got.null = c->facts[fact].null;
    c->facts[fact] = got;
}

/* The next word of a list of names, not terminated; NULL after the last. */
static const char *next_word(const char **list, size_t *size)
{
    const char *s = *list + strspn(*list, " ");
    *size = strcspn(s, " ");
    *list = s + *size;
    return *size ? s : NULL;
}

static bool lists(const char *names, const char *key)
{
    size_t size;
    for (const char *word; (word = next_word(&names, &size));)
        if (strlen(key) == size && strncmp(word, key, size) == 0) return true;
    return false;
}

/* True for values that stand for an absent feature (null, false, 0) or a factor of one (1.0; for the rotated share of a head also the
 * integer 1). */
static bool changes_nothing(model_fact fact, const json_t *value)
{
    if (fact == fact_partial && json_is_integer(value) && json_integer_value(value) == 1) return true;
    return json_is_null(value) || json_is_false(value) || (json_is_number(value) && json_number_value(value) == 0) ||
           (json_is_real(value) && json_real_value(value) == 1);
}

static bool is_harmless(const char *key)
{
    for (int i = 0; i < harmless_count; i++)
        if (lists(harmless[i], key)) return true;
    return false;
}

static void ignore(model_config *c, const char *key) { text_printf(&c->ignored, "%s%s", c->ignored.size ? ", " : "", key); }

static void check_must(model_config *c, int i, const json_t *value)
{
    json_t *wanted = json_loads(musts[i][1], JSON_DECODE_ANY, NULL);
    bool good = json_is_null(value) || json_equal(wanted, value);
    for (size_t k = 0; k < json_array_size(wanted); k++) good |= json_equal(json_array_get(wanted, k), value);
    json_decref(wanted);
    if (good) return ignore(c, musts[i][0]);
    config_cannot(c, musts[i][0], "is not supported unless it is %s", musts[i][1]);
}

static const char *known_like(const model_config *c, const char *key)
{
    const char *names[fact_count * 8];
    size_t count = 0, size;
    for (int i = 0; i < fact_count; i++) {
        const char *list = keys[i].names;
        for (const char *word; (word = next_word(&list, &size));) names[count++] = arena_strndup(c->a, word, size);
    }
    return nearest_name(key, names, count);
}

/* Whether the family's class in transformers reads a fact under this name (ONLY in runtime/model/key.def). */
static bool spells(const family *f, const char *key)
{
    for (int i = 0; i < only_count; i++) {
        const char *list = only[i][1];
        const bool but = *list == '!';
        if (strcmp(only[i][0], key) == 0) return lists(list + but, f->model_type) != but;
    }
    return true;
}

static bool is_stray(const family *f, const char *key)
{
    for (int i = 0; i < stray_count; i++)
        if (strcmp(stray[i][0], f->model_type) == 0 && lists(stray[i][1], key)) return true;
    return false;
}

/* The fact that a key names; fact_count: none. */
static model_fact fact_of(const char *key)
{
    int i = 0;
    while (i < fact_count && !lists(keys[i].names, key)) i++;
    return (model_fact)i;
}

static bool reads(const model_config *c, model_fact fact) { return ((c->family->reads | read_by_all) >> fact & 1) != 0; }

/* Whether the family's class in transformers reads the fact at this level: in attn_config, or outside of it. */
static bool is_in_place(const model_config *c, model_fact fact) { return (c->family->in_attention >> fact & 1) == c->in_attention; }

static bool is_attention(const model_config *c, const char *key)
{
    return !c->in_attention && c->family->in_attention && strcmp(key, "attn_config") == 0;
}

/* Calls each() for every key of the nested attn_config. */
static void visit_attention(model_config *c, const char *name, const json_t *map,
                            void (*each)(model_config *, const char *, const json_t *))
{
    const char *key, *within = c->within;
    json_t *value;
    if (json_is_null(map)) return;
    if (!json_is_object(map)) config_refuse(c, name, "should be an object");
    c->within = arena_printf(c->a, "%s%s.", within, name), c->in_attention = true;
    json_object_foreach((json_t *)map, key, value)
        if (strcmp(key, "model_type") != 0) each(c, key, value); /* attn_config may repeat the model_type: "" or "mpt" */
    c->within = within, c->in_attention = false;
}

/* A spelling of other families, or a key where the family does not read it. */
static bool is_foreign(const model_config *c, const char *key, model_fact fact)
{
    return fact < fact_count && !(spells(c->family, key) && is_in_place(c, fact)) && !is_stray(c->family, key);
}

static void read_key(model_config *c, const char *key, const json_t *value)
{
    const model_fact fact = fact_of(key);
    if (is_stray(c->family, key)) return ignore(c, key);
    if (is_attention(c, key)) return visit_attention(c, key, value, read_key);
    if (is_foreign(c, key, fact)) return; /* check_foreign() looks at it */
    if (fact < fact_count) {
        c->facts[fact].null |= json_is_null(value);
        if (json_is_null(value)) return ignore(c, key);
        if (reads(c, fact)) return read_fact(c, fact, key, value);
        if (changes_nothing(fact, value)) return ignore(c, key);
        config_refuse(c, key, "layers of %s do not have this, but the value enables it", c->family->model_type);
    }
    for (int i = 0; i < read_count; i++)
        if (strcmp(read_elsewhere[i], key) == 0) return;
    for (int i = 0; i < must_count; i++)
        if (strcmp(musts[i][0], key) == 0) return check_must(c, i, value);
    if (is_harmless(key)) return ignore(c, key);
    const char *like = known_like(c, key);
    config_refuse(c, key, "unknown key, which may change the mathematics of a layer%s", nearest_hint(c->a, like));
}

/* Checks a key that the family does not read: another family's spelling of a fact, or a key at the wrong level. Runs after read_key() has
 * seen all keys: such a key may repeat what the family's own key says, but not contradict it. */
static void check_foreign(model_config *c, const char *key, const json_t *value)
{
    const model_fact fact = fact_of(key);
    if (is_attention(c, key)) return visit_attention(c, key, value, check_foreign);
    if (!is_foreign(c, key, fact)) return;
    if (json_is_null(value) || changes_nothing(fact, value)) return ignore(c, key);
    if (!reads(c, fact)) config_refuse(c, key, "layers of %s do not have this, but the value enables it", c->family->model_type);
    if (!config_has(c, fact) && !is_in_place(c, fact))
        config_refuse(c, key, "%s reads this key %s attn_config only", c->family->model_type, c->in_attention ? "outside" : "in");
    if (!config_has(c, fact)) config_refuse(c, key, "%s does not read this key, but other families do", c->family->model_type);
    (void)same_value(c, fact, key, value);
    ignore(c, key);
}

/* Sets the family's defaults for keys that the file lacks. */
static void fill_defaults(model_config *c)
{
    const unsigned long long sizes = FACT(hidden) | FACT(layers) | FACT(heads) | FACT(inner);
    for (int i = 0; i < family_most_defaults && c->family->defaults[i].value != 0; i++) {
        const model_fact fact = c->family->defaults[i].fact;
        const double value = c->family->defaults[i].value;
        size_t size;
        const char *list = keys[fact].names, *name = next_word(&list, &size);
        if (c->facts[fact].key || c->facts[fact].null || (!c->within[0] && sizes >> fact & 1)) continue;
        c->facts[fact] = (config_value){.key = arena_strndup(c->a, name, size), .whole = (long long)value, .real = value};
    }
}

static const char *word_of(const model_config *c, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value)) return NULL;
    if (!json_is_string(value) || strlen(json_string_value(value)) > 100)
        config_refuse(c, key, "should be a string of at most 100 characters");
    return json_string_value(value);
}

/* otherwise: the model_type to assume if the object names none; or NULL. */
static void find_family(model_config *c, const char *otherwise)
{
    const char *type = word_of(c, c->object, "model_type"), *why;
    if (!type) type = otherwise;
    if (!type) config_refuse(c, "model_type", "is missing; it names the model's family, such as llama");
    if ((c->family = family_find(type, &why))) return;
    if (why) config_cannot(c, "model_type", "%s is not supported; its layers have %s", type, why);
    const char *like = family_like(type);
    text known = {.a = c->a};
    for (size_t i = 0; !like && family_name(i); i++) text_printf(&known, "%s%s", i ? ", " : "", family_name(i));
    config_cannot(c, "model_type", "unknown family %s%s%s%s", text_harmless(c->a, type), like ? "" : "; known families: ",
                  like ? "" : known.data, nearest_hint(c->a, like));
}

static void find_dtype(model_config *c, const json_t *outer)
{
    static const char *const names[][2] = {{"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}};
    static const char *const where[] = {"dtype", "torch_dtype"};
    const char *word = NULL, *key = NULL;
    for (int i = 0; i < 4 && !word; i++) word = word_of(c, i < 2 ? c->object : outer, key = where[i % 2]);
    c->dtype = word ? NULL : "bf16";
    for (int k = 0; word && k < 3; k++)
        if (strcmp(word, names[k][0]) == 0) c->dtype = names[k][1];
    if (!c->dtype) config_cannot(c, key, "%s is not supported; specs take float32, float16 and bfloat16", text_harmless(c->a, word));
}

static void check_quantised(const model_config *c, const json_t *outer)
{
    const json_t *value = json_object_get(outer, "quantization_config");
    if (value && !json_is_null(value)) config_cannot(c, "quantization_config", "quantised weights are not imported");
}

/* Keys of the outer object of a multimodal config that also concern the text model. */
static void check_outer(const model_config *c, const json_t *outer)
{
    check_quantised(c, outer);
    const char *type = word_of(c, outer, "model_type"), *why;
    if (!type || family_is_within(type)) return;
    (void)family_find(type, &why);
    if (why) config_cannot(c, "model_type", "%s is not supported; its layers have %s", type, why);
    config_cannot(c, "model_type", "%s has a text_config, but it is not known whether its text part is a model of that config as it is",
                  text_harmless(c->a, type));
}

/* The key of a part's config. */
static const char *key_of_part(const json_t *all, const model_parts *parts, bool vision)
{
    const char *twin = vision ? "vision_config_dict" : "text_config_dict";
    const json_t *second = parts && parts->doubled ? json_object_get(all, twin) : NULL;
    return second && !json_is_null(second) ? twin : vision ? "vision_config" : "text_config";
}

/* Finds the object of the model to import: all of the config, its text_config, or the part of a model of two encoders that was asked for.
 * Returns the model_type to assume if that object names none; or NULL. */
static const char *choose_object(model_config *c, json_t *all, const char *part)
{
    const bool vision = part && strcmp(part, "vision") == 0;
    const char *type = word_of(c, all, "model_type");
    const model_parts *parts = type ? family_parts(type) : NULL;
    const char *of_part = !parts ? NULL : vision ? parts->vision : parts->text, *key = key_of_part(all, parts, vision);
    json_t *nested = json_object_get(all, key);
    if (of_part && !part)
        config_cannot(c, "model_type",
                      "%s has an encoder of texts and one of images; tfgen import and run take --part=text or --part=vision", type);
    if (part && !of_part)
        bail(c->a, code_usage, (position){0}, "--part=%s: only models of an encoder of texts and one of images have parts, such as clip",
             part);
    if (of_part && !json_is_object(nested)) config_refuse(c, key, nested ? "should be an object" : "is missing");
    if (!of_part && !(json_is_object(nested) && json_object_get(nested, "model_type"))) return NULL;
    of_part ? check_quantised(c, all) : check_outer(c, all);
    c->object = nested, c->within = arena_printf(c->a, "%s.", key);
    return of_part;
}

/* transformers writes infinities as Python does; JSON has none, so they become numbers that no key accepts. */
static const char *without_infinities(arena *a, const char *json, size_t size)
{
    static const char infinity[] = "Infinity", number[] = "1e308   ";
    const size_t length = strlen(infinity);
    char *text = arena_strndup(a, json, size);
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        if (quoted && text[i] == '\\') i++;
        else if (text[i] == '"') quoted = !quoted;
        else if (!quoted && size - i >= length && memcmp(text + i, infinity, length) == 0) memcpy(text + i, number, length);
    }
    return text;
}

static void release(void *json) { json_decref(json); }

/* jansson refuses deep nesting, numbers out of range, and text that is not UTF-8. */
static json_t *parse(model_config *c, const char *json, size_t size)
{
    json_error_t error;
    arena_source(c->a, c->path, json, size);
    if (size > config_most_bytes)
        bail(c->a, code_bad_input, (position){0}, "larger than %d MB, the limit for a config.json", config_most_bytes >> 20);
    json_t *all = json_loadb(without_infinities(c->a, json, size), size, JSON_REJECT_DUPLICATES, &error);
    if (!all)
        bail(c->a, code_bad_input, (position){error.line, error.column > 0 ? error.column : 1}, "%s", text_harmless(c->a, error.text));
    arena_defer(c->a, release, all);
    if (!json_is_object(all)) bail(c->a, code_bad_input, (position){1, 1}, "a config.json should be an object, { ... }");
    return all;
}

model_config *config_read(arena *a, const char *json, size_t size, const char *path, const char *part)
{
    model_config *c = arena_alloc(a, sizeof *c);
    const char *key;
    json_t *value;
    *c = (model_config){.a = a, .path = path, .within = "", .ignored = {.a = a}};
    json_t *all = parse(c, json, size);
    c->object = c->outer = all;
    find_family(c, choose_object(c, all, part));
    find_dtype(c, all);
    json_object_foreach(c->object, key, value) read_key(c, key, value);
    fill_defaults(c);
    json_object_foreach(c->object, key, value) check_foreign(c, key, value);
    return c;
}
