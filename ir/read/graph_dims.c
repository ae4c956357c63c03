/* In: `dims`, `dynamic`, `presets` of a spec, the chosen preset and the overrides. Out: the table of dims with their
 * values (default < preset < override) and ranges. Refuses: unknown dims and presets, values below 1 or outside the
 * dynamic range, dims computed from dynamic dims (they would have no fixed value). */
#include "ir/read/graph.h"
#include "ir/base/number.h"
#include <string.h>

static dim_table *table(graph_reader *r) { return &r->p->dims; }

static const char *dim_hint(graph_reader *r, const char *word)
{
    const char *names[max_dims];
    for (int i = 0; i < table(r)->count; i++) names[i] = table(r)->dims[i].name;
    return graph_hint(r, word, names, (size_t)table(r)->count);
}

static void set_broken(graph_reader *r, const dim *d) { r->dim_broken[d - table(r)->dims] = true; }

static const spec_node *section(graph_reader *r, const char *key)
{
    const spec_node *node = spec_find(r->root, key);
    return node && graph_check_map(r, node, key) ? node : NULL;
}

/* Reads an integer from 1 to most_number; `preset`: prefix for messages that names the preset, or "". */
static bool read_value(graph_reader *r, const spec_node *node, const char *preset, const char *name, long long *value)
{
    if (node->kind != spec_scalar || !integer_parse(node->text, value)) {
        complain(r->a, node->at, "%s%s must be an integer", preset, name);
        return false;
    }
    if (*value >= 1 && *value <= most_number) return true;
    complain(r->a, node->at, "%s%s is %.20s; a dim is from 1 to %d", preset, name, node->text, most_number);
    return false;
}

static const spec_node *chosen_preset(graph_reader *r, const spec_node *presets)
{
    const char *wanted = r->options->preset;
    if (!wanted) return NULL;
    const spec_node *preset = spec_find(presets, wanted);
    if (preset) return preset->kind == spec_map ? preset : NULL;
    text list = {.a = r->a};
    for (int i = 0; presets && i < presets->count; i++)
        text_printf(&list, "%s%.40s", i ? ", " : "", presets->keys[i]->text);
    const char *hint = list.data ? arena_printf(r->a, "; there are %s", list.data) : "";
    complain_usage(r->a, "there is no preset \"%.40s\" in this spec%s", wanted, hint);
    return NULL;
}

static const dim_override *find_override(graph_reader *r, const char *name)
{
    for (size_t i = r->options->override_count; i-- > 0;) /* of several overrides of a dim the last one counts */
        if (strcmp(r->options->overrides[i].name, name) == 0) return &r->options->overrides[i];
    return NULL;
}

/* Evaluates a dim given as an expression of earlier dims, `hd: D/H`. d is the last dim of the table, and is taken out of it meanwhile, so
 * that the expression cannot name d itself. */
static bool evaluate(graph_reader *r, const spec_node *node, dim *d, const spec_node *dynamic)
{
    char name[most_name + 1];
    const char *s = node->kind == spec_scalar ? node->text : "";
    while (graph_next_name(&s, name)) {
        bool itself = strcmp(name, d->name) == 0;
        if (spec_find(dynamic, name))
            complain(r->a, node->at, "%s is computed from %s, which is dynamic; write (%.40s) where it is used", d->name,
                     name, node->text);
        else if (itself || (!dim_find(table(r), name) && spec_find(spec_find(r->root, "dims"), name)))
            complain(r->a, node->at, "%s is computed from %s; a dim is computed from those before it", d->name,
                     itself ? "itself" : arena_printf(r->a, "%s, which is declared below it", name));
        else
            continue;
        return false;
    }
    table(r)->count--;
    bool good = graph_static(r, node, d->name, &d->value);
    table(r)->count++;
    return good;
}

/* An override wins over the preset, and that over the spec's own value. Bad values in presets are reported by check_preset(). */
static bool choose_value(graph_reader *r, dim *d, const spec_node *node, const spec_node *preset,
                         const spec_node *dynamic)
{
    char name[most_name + 1];
    for (const char *s = node->kind == spec_scalar ? node->text : ""; graph_next_name(&s, name);)
        if (dim_find(table(r), name)) dim_find(table(r), name)->used = true; /* even if an override or a preset replaces this expression */
    const dim_override *override = find_override(r, d->name);
    const spec_node *given = spec_find(preset, d->name);
    if (override) {
        d->value = override->value;
        d->at = (position){0};
        if (d->value >= 1 && d->value <= most_number) return true;
        complain_usage(r->a, "%s=%lld: a dim is from 1 to %d", d->name, d->value, most_number);
        return false;
    }
    if (given) {
        d->at = given->at;
        bool good = given->kind == spec_scalar && integer_parse(given->text, &d->value);
        return good && d->value >= 1 && d->value <= most_number;
    }
    if (node->kind == spec_scalar && integer_parse(node->text, &d->value))
        return read_value(r, node, "", d->name, &d->value);
    return evaluate(r, node, d, dynamic);
}

static void read_dim(graph_reader *r, const spec_node *key, const spec_node *node, const spec_node *preset,
                     const spec_node *dynamic)
{
    if (!graph_check_name(r, key, "a dim")) {
        names_add(&r->unknown_dims, key->text, r);
        return;
    }
    if (table(r)->count == max_dims) bail(r->a, code_bad_input, key->at, "more than %d dims", max_dims);
    dim *d = &table(r)->dims[table(r)->count++];
    *d = (dim){.name = key->text, .value = 1, .at = node->at};
    if (!choose_value(r, d, node, preset, dynamic)) {
        set_broken(r, d);
        d->value = 1;
    }
}

/* Reads `S: [1, 8192]` into low and high. `dynamic` is set after all bounds are read, so that bounds may name dims. */
static bool read_range(graph_reader *r, const spec_node *node, const spec_node *dynamic, dim *d)
{
    if (node->kind != spec_list || node->count != 2) {
        complain(r->a, node->at, "%s: takes its least and greatest value, such as [1, 64]", d->name);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        const dim *named = node->items[i]->kind == spec_scalar ? dim_find(table(r), node->items[i]->text) : NULL;
        if (!named || !spec_find(dynamic, named->name)) continue;
        complain(r->a, node->items[i]->at, "%s: the bound %s is dynamic itself; it must be a number", d->name,
                 named->name);
        return false;
    }
    if (!graph_static(r, node->items[0], d->name, &d->low) || !graph_static(r, node->items[1], d->name, &d->high))
        return false;
    if (d->low <= d->high) return true;
    complain(r->a, node->at, "%s: the range %lld to %lld is empty", d->name, d->low, d->high);
    return false;
}

static void read_dynamic(graph_reader *r, const spec_node *dynamic)
{
    bool ranged[max_dims] = {false};
    for (int i = 0; dynamic && i < dynamic->count; i++) {
        const char *name = dynamic->keys[i]->text;
        dim *d = dim_find(table(r), name);
        if (!d && !r->dims_lost && !names_find(&r->unknown_dims, name))
            complain(r->a, dynamic->keys[i]->at, "dynamic: there is no dim \"%.40s\"%s", name, dim_hint(r, name));
        if (!d) continue;
        if (read_range(r, dynamic->items[i], dynamic, d))
            ranged[d - table(r)->dims] = true;
        else
            set_broken(r, d);
    }
    for (int i = 0; i < table(r)->count; i++) {
        dim *d = &table(r)->dims[i];
        if (!ranged[i]) continue;
        if (table(r)->dynamic_count == max_dynamic) {
            complain(r->a, dynamic->at, "more than %d dynamic dims", max_dynamic);
            return;
        }
        d->dynamic = true;
        d->slot = table(r)->dynamic_count++;
    }
}

/* Called for every preset, not just the chosen one. */
static void check_preset(graph_reader *r, const char *name, const spec_node *preset)
{
    const char *what = arena_printf(r->a, "preset %.40s: ", name);
    if (!graph_check_map(r, preset, arena_printf(r->a, "preset %.40s", name))) return;
    for (int i = 0; i < preset->count; i++) {
        const spec_node *key = preset->keys[i], *node = preset->items[i];
        const dim *d = dim_find(table(r), key->text);
        long long value;
        if (!d && !r->dims_lost && !names_find(&r->unknown_dims, key->text))
            complain(r->a, key->at, "%sthere is no dim \"%.40s\"%s", what, key->text, dim_hint(r, key->text));
        if (!d || !read_value(r, node, what, d->name, &value)) continue;
        if (d->dynamic && (value < d->low || value > d->high))
            complain(r->a, node->at, "%s%s=%lld is outside of its dynamic range %lld to %lld", what, d->name, value,
                     d->low, d->high);
    }
}

/* Whoever writes an override may not have the spec at hand: if no dim has a similar name, all of them are listed. */
static const char *override_hint(graph_reader *r, const char *name)
{
    const char *near = dim_hint(r, name);
    if (*near || !table(r)->count) return near;
    text list = {.a = r->a};
    for (int i = 0; i < table(r)->count; i++) text_printf(&list, "%s%s", i ? ", " : "; there are ", table(r)->dims[i].name);
    return list.data;
}

static void check_overrides(graph_reader *r)
{
    for (size_t i = 0; i < r->options->override_count; i++) {
        const char *name = r->options->overrides[i].name;
        if (dim_find(table(r), name) || r->dims_lost || names_find(&r->unknown_dims, name)) continue;
        complain_usage(r->a, "there is no dim \"%.40s\" in this spec%s", name, override_hint(r, name));
    }
}

/* Checks defaults and overrides against ranges; values of presets were checked by check_preset(). */
static void check_ranges(graph_reader *r, const spec_node *preset)
{
    for (int i = 0; i < table(r)->count; i++) {
        dim *d = &table(r)->dims[i];
        if (!d->dynamic) d->low = d->high = d->value;
        if (!d->dynamic || r->dim_broken[i] || (d->value >= d->low && d->value <= d->high)) continue;
        if (find_override(r, d->name))
            complain_usage(r->a, "%s=%lld is outside of its dynamic range %lld to %lld", d->name, d->value, d->low, d->high);
        else if (!spec_find(preset, d->name))
            complain(r->a, d->at, "%s=%lld is outside of its dynamic range %lld to %lld", d->name, d->value, d->low, d->high);
        set_broken(r, d);
    }
}

void graph_read_dims(graph_reader *r)
{
    const spec_node *dims = section(r, "dims"), *dynamic = section(r, "dynamic"), *presets = section(r, "presets");
    const spec_node *preset = chosen_preset(r, presets);
    r->dims_lost |= spec_find(r->root, "dims") && !dims;
    for (int i = 0; dims && i < dims->count; i++) read_dim(r, dims->keys[i], dims->items[i], preset, dynamic);
    read_dynamic(r, dynamic);
    for (int i = 0; presets && i < presets->count; i++) check_preset(r, presets->keys[i]->text, presets->items[i]);
    check_overrides(r);
    check_ranges(r, preset);
}
