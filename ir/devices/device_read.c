/* In: the text of a device file, which may be hostile, or a device model. Out: the device model, or its text. Refuses: unknown and missing
 * keys, unknown targets and dtypes, numbers outside the ranges of ir/devices/facts.def, numbers without a source. */
#include "ir/base/number.h"
#include "ir/devices/device_model.h"
#include "ir/read/yaml.h"
#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum fact_kind { fact_count, fact_number, fact_rate } fact_kind;

typedef struct fact_key {
    const char *key, *help;
    fact_kind kind;
    double least, most;
    bool required;
    size_t offset;
    int count; /* if kind is fact_count: which device_count */
} fact_key;

static const fact_key keys[] = {
#define COUNT(key, least, most, required, help) {#key, help, fact_count, least, most, required, offsetof(device_model, key), fact_##key},
#define NUMBER(key, least, most, help) \
    {#key, help, fact_number, least, most, false, offsetof(device_model, numbers) + number_##key * sizeof(device_fact), 0},
#define RATE(key, help) {#key, help, fact_rate, 1e6, 1e21, false, offsetof(device_model, rates) + rate_##key * sizeof(device_rates), 0},
#include "ir/devices/facts.def"
};
enum { key_count = sizeof keys / sizeof *keys, word_count = 4, most_word = 31, most_text = 120 };

static const char *const words[word_count] = {"name", "label", "match", "target"};
static const char *const sources[source_count] =
    {[source_measured] = "measured", [source_data_sheet] = "data sheet", [source_chosen] = "chosen"};

static fact_source source_of(const char *key)
{
    for (int i = source_measured; i < source_count; i++)
        if (strcmp(key, sources[i]) == 0) return (fact_source)i;
    return source_none;
}

static bool read_number(arena *a, const fact_key *k, const spec_node *n, double *out)
{
    double x;
    const bool good = n->kind == spec_scalar && !n->quoted && number_parse(n->text, &x) && x >= k->least && x <= k->most &&
                      (k->kind != fact_count || x == floor(x));
    if (good)
        *out = x;
    else
        complain(a, n->at, "%s: expected a %s from %g to %g", k->key, k->kind == fact_count ? "whole number" : "number", k->least,
                 k->most);
    return good;
}

static const char *read_text(arena *a, const char *key, const spec_node *n)
{
    if (n->kind == spec_scalar && *n->text && strlen(n->text) <= most_text) return text_harmless(a, n->text);
    complain(a, n->at, "%s: expected text of at most %d characters", key, most_text);
    return "";
}

/* Reads a key such as `measured: NOTE`, which says where the numbers beside it come from (fact_source); there may be one. False: key is
 * another one. */
static bool take_source(arena *a, const fact_key *k, const spec_node *key, const spec_node *n, fact_source *source, const char **note)
{
    const fact_source found = source_of(key->text);
    if (found == source_none) return false;
    if (*source != source_none) complain(a, key->at, "%s: its source is given already: %s", k->key, sources[*source]);
    *source = found;
    *note = read_text(a, key->text, n);
    return true;
}

static void read_fact(arena *a, const fact_key *k, const spec_node *n, device_model *d)
{
    device_fact fact = {0};
    const spec_node *is = spec_find(n, "is");
    if (n->kind != spec_map || !is) {
        complain(a, n->at, "%s: expected a number and its source: {is: 132, data sheet: \"...\"}", k->key);
        return;
    }
    for (int i = 0; i < n->count; i++) {
        if (n->items[i] == is || take_source(a, k, n->keys[i], n->items[i], &fact.source, &fact.note)) continue;
        complain(a, n->keys[i]->at, "%s: unknown key '%.40s'; keys are is, and one of measured, data sheet, chosen", k->key,
                 n->keys[i]->text);
    }
    if (fact.source == source_none) complain(a, n->at, "%s: its source is missing: measured, data sheet or chosen", k->key);
    if (!read_number(a, k, is, &fact.value)) return;
    if (k->kind == fact_count)
        *(int *)((char *)d + k->offset) = (int)fact.value, d->counts[k->count] = fact;
    else
        *(device_fact *)((char *)d + k->offset) = fact;
}

static void read_rates(arena *a, const fact_key *k, const spec_node *n, device_model *d)
{
    device_rates *rates = (device_rates *)((char *)d + k->offset);
    int given = 0;
    if (n->kind != spec_map) {
        complain(a, n->at, "%s: expected rates by dtype and their source: {bf16: 989e12, data sheet: \"...\"}", k->key);
        return;
    }
    for (int i = 0; i < n->count; i++) {
        dtype type;
        if (take_source(a, k, n->keys[i], n->items[i], &rates->source, &rates->note)) continue;
        if (!dtype_parse_real(n->keys[i]->text, &type))
            complain(a, n->keys[i]->at, "%s: '%.40s' is not a dtype of arithmetic; those are %s", k->key, n->keys[i]->text,
                     dtype_names(a, true, ", ", " and "));
        else
            given += read_number(a, k, n->items[i], &rates->of[type]);
    }
    if (!given) complain(a, n->at, "%s: it has no dtype", k->key);
    if (rates->source == source_none)
        complain(a, n->at, "%s: its source is missing: measured, data sheet or chosen", k->key);
}

static bool is_name(const char *s)
{
    const size_t n = strlen(s);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && (s[i] != '-' || i == 0)) return false;
    return n > 0 && n <= most_word;
}

static const target_info *read_target(arena *a, const spec_node *n)
{
    const target_info *target = n->kind == spec_scalar ? target_find(n->text) : NULL;
    if (!target) complain(a, n->at, "target: tfgen has no target '%.40s'", n->kind == spec_scalar ? n->text : "");
    return target;
}

static bool read_word(arena *a, const spec_node *key, const spec_node *n, device_model *d)
{
    if (strcmp(key->text, "label") == 0)
        d->label = read_text(a, key->text, n);
    else if (strcmp(key->text, "match") == 0)
        d->match = read_text(a, key->text, n);
    else if (strcmp(key->text, "target") == 0)
        d->target = read_target(a, n);
    else if (strcmp(key->text, "name") != 0)
        return false;
    else if (n->kind == spec_scalar && is_name(n->text))
        d->name = n->text;
    else
        complain(a, n->at, "name: use letters, digits and -, a letter or digit first, at most %d characters", most_word);
    return true;
}

static void refuse_key(arena *a, const spec_node *key)
{
    const char *known[word_count + key_count];
    memcpy(known, words, sizeof words);
    for (int i = 0; i < key_count; i++) known[word_count + i] = keys[i].key;
    const char *near = nearest_name(key->text, known, word_count + key_count);
    complain(a, key->at, "unknown key '%.40s'%s", key->text, nearest_hint(a, near));
}

static void read_entry(arena *a, const spec_node *key, const spec_node *n, device_model *d)
{
    if (read_word(a, key, n, d)) return;
    for (int i = 0; i < key_count; i++) {
        if (strcmp(keys[i].key, key->text) != 0) continue;
        if (keys[i].kind == fact_rate)
            read_rates(a, &keys[i], n, d);
        else
            read_fact(a, &keys[i], n, d);
        return;
    }
    refuse_key(a, key);
}

/* ---- back to text */
/* Quoted: notes are free text and may contain colons. */
static void put_quoted(text *t, const char *s)
{
    text_printf(t, "\"");
    for (; *s; s++) text_printf(t, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    text_printf(t, "\"");
}

static void put_source(text *t, fact_source source, const char *note)
{
    text_printf(t, ", %s: ", sources[source]);
    put_quoted(t, note);
    text_printf(t, "}\n");
}

static void put_rates(text *t, const char *key, const device_rates *r)
{
    int given = 0;
    text_printf(t, "%s: {", key);
    for (int i = 0; i < dtype_count; i++)
        if (r->of[i] > 0) {
            text_printf(t, "%s%s: ", given++ ? ", " : "", dtype_name((dtype)i));
            text_rounded(t, r->of[i], 4);
        }
    put_source(t, r->source, r->note);
}

static void put_fact(text *t, const device_model *d, const fact_key *k)
{
    if (k->kind == fact_rate) {
        const device_rates *r = (const device_rates *)((const char *)d + k->offset);
        if (r->source != source_none) put_rates(t, k->key, r);
        return;
    }
    const device_fact *f = k->kind == fact_count ? &d->counts[k->count] : (const device_fact *)((const char *)d + k->offset);
    if (f->source == source_none) return;
    text_printf(t, "%s: {is: ", k->key);
    text_rounded(t, f->value, f->value < 1e7 && f->value == floor(f->value) ? 7 : 4);
    put_source(t, f->source, f->note);
}

const char *device_model_print(arena *a, const device_model *d)
{
    text t = {.a = a};
    text_printf(&t, "name: %s\nlabel: ", d->name);
    put_quoted(&t, d->label);
    if (d->match) text_printf(&t, "\nmatch: "), put_quoted(&t, d->match);
    text_printf(&t, "\ntarget: %s\n", d->target->name);
    for (int i = 0; i < key_count; i++) put_fact(&t, d, &keys[i]);
    return t.data;
}

device_model *device_model_read(arena *a, const char *text, size_t size, const char *path)
{
    const spec_node *root = yaml_read(a, text, size, path), *chiplets;
    device_model *d = arena_alloc(a, sizeof *d);
    if (root->kind != spec_map) bail(a, code_bad_input, root->at, "expected a map of the device's properties");
    for (int i = 0; i < root->count; i++) read_entry(a, root->keys[i], root->items[i], d);
    for (int i = 0; i < word_count; i++)
        if (strcmp(words[i], "match") != 0 && !spec_find(root, words[i])) complain(a, root->at, "%s is missing", words[i]);
    for (int i = 0; i < key_count; i++)
        if (keys[i].required && !spec_find(root, keys[i].key)) complain(a, root->at, "%s is missing: %s", keys[i].key, keys[i].help);
    chiplets = spec_find(root, "chiplets");
    if (d->units && d->chiplets > d->units) complain(a, chiplets->at, "chiplets: there are more of them than units");
    bail_if_complained(a);
    return d;
}
