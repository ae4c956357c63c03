/* In: the text of a spec, a preset, overrides. Out: its op graph, checked: every shape known, every name used, all defaults filled in.
 * Refuses: what the rules of docs/values.md and ir/op.def exclude. All errors of a file are reported together, but not those that only
 * follow from another one. The spec may be hostile: sizes, depth and counts are bounded (ir/read/graph.h, ir/read/yaml.h). */
#include "ir/base/model_hint.h"
#include "ir/read/graph.h"
#include <string.h>

static const char *const top_keys[] = {"block",  "dtype",  "dims",   "dynamic", "presets", "inputs",
                                       "params", "prefix", "state", "ops",     "outputs"};
enum { top_key_count = sizeof top_keys / sizeof *top_keys };

/* Some key of the spec is probably a misspelling of `key`. */
static bool is_misspelt(const graph_reader *r, const char *key)
{
    for (int i = 0; i < r->root->count; i++) {
        const char *near = nearest_name(r->root->keys[i]->text, top_keys, top_key_count);
        if (near && strcmp(near, key) == 0) return true;
    }
    return false;
}

/* Bails with a hint if the file is a HuggingFace config.json, which many users try first. */
static void refuse_config(graph_reader *r)
{
    const spec_node *type = spec_find(r->root, "model_type");
    if (spec_find(r->root, "ops") || (!type && !spec_find(r->root, "architectures"))) return;
    bail(r->a, code_bad_input, (position){0}, "%s", model_config_hint(r->a, type && type->kind == spec_scalar ? type->text : NULL));
}

static void check_top(graph_reader *r)
{
    static const char *const required[] = {"block", "dtype", "inputs", "ops", "outputs"};
    if (graph_check_keys(r, r->root, top_keys, top_key_count, "a spec"))
        r->lost = r->names_lost = r->dims_lost = true; /* a misspelt section would cause further errors */
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        if (spec_find(r->root, required[i]) || is_misspelt(r, required[i])) continue;
        complain(r->a, r->root->at, "%s: is missing", required[i]);
        if (i > 1) r->lost = true;
        if (i == 2 || i == 3) r->names_lost = true;
    }
}

static void read_header(graph_reader *r)
{
    const spec_node *block = spec_find(r->root, "block"), *type = spec_find(r->root, "dtype");
    r->p->name = "block";
    if (block && block->kind == spec_scalar && name_is_block(block->text))
        r->p->name = block->text;
    else if (block)
        complain(r->a, block->at,
                 "block: \"%.40s\" is no name; one has letters, digits, _ and -, a letter first, at most %d of them",
                 block->kind == spec_scalar ? block->text : "", most_name);
    if (type && graph_dtype(r, type, "dtype", &r->p->type) && !dtype_is_real(r->p->type)) {
        complain(r->a, type->at, "dtype: a spec computes in %s", dtype_names(r->a, true, ", ", " or "));
        r->p->type = dtype_f32;
    }
    const char *asked = r->options->dtype;
    if (asked && !dtype_parse_real(asked, &r->p->type)) {
        const char *near = dtype_is_real(r->p->type) ? dtype_hint(asked) : NULL;
        complain_usage(r->a, "\"%.40s\": a spec computes in %s%s%s%s", asked, dtype_names(r->a, true, ", ", " or "),
                       near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
        r->p->type = dtype_f32;
    }
}

static void read_prefix(graph_reader *r)
{
    const spec_node *prefix = spec_find(r->root, "prefix");
    if (!prefix) return;
    if (prefix->kind == spec_scalar && name_is_prefix(prefix->text)) r->p->prefix = prefix->text;
    else
        complain(r->a, prefix->at,
                 "prefix: expected the common start of a layer's tensor names, such as model.layers.{layer}. (of 1 to 200 "
                 "characters, {layer} once at most)");
}

ir_graph *graph_read(arena *a, const char *yaml, size_t size, const char *name, const graph_options *options)
{
    static const graph_options none;
    graph_reader *r = arena_alloc(a, sizeof *r);
    r->a = a;
    r->options = options ? options : &none;
    r->p = arena_alloc(a, sizeof *r->p);
    r->names.a = r->made_later.a = r->unknown_dims.a = a;
    r->root = yaml_read(a, yaml, size, name);
    if (r->root->kind != spec_map)
        bail(a, code_bad_input, r->root->at, "a spec is a map that begins with \"block: NAME\"");
    refuse_config(r);
    check_top(r);
    read_header(r);
    read_prefix(r);
    graph_read_dims(r);
    graph_read_values(r);
    graph_read_ops(r);
    graph_read_outputs(r);
    graph_report_unused(r);
    bail_if_complained(a);
    return r->p;
}
