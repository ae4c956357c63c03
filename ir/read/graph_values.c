/* In: `inputs`, `params`, `state` and `outputs` of a spec. Out: the declared values, and the table that finds every
 * value by name. Refuses: names that stand for two things, undefined and unused names, shapes with a dynamic last axis
 * or too many elements, outputs that are no results. */
#include "ir/read/graph.h"
#include "ir/graph/build.h"
#include <limits.h>
#include <string.h>

ir_value *graph_new_value(graph_reader *r, const char *name, value_kind kind, dtype type, position at)
{
    ir_graph *p = r->p;
    if (p->value_count == most_values) bail(r->a, code_bad_input, at, "more than %d values", most_values);
    ir_value *v = arena_alloc(r->a, sizeof *v);
    *v = (ir_value){.id = p->value_count, .name = name, .kind = kind, .type = type, .at = at};
    p->values = build_grow(r->a, p->values, p->value_count, sizeof *p->values);
    p->values[p->value_count++] = v;
    return v;
}

static const char *article_kind(const named *n)
{
    static const char *const kinds[] = {"an input", "a param", "a state", "a constant", "a result"};
    return n->value ? kinds[n->value->kind] : "a value";
}

static named *enter(graph_reader *r, const char *name, position at)
{
    if (r->declared_count == most_values) bail(r->a, code_bad_input, at, "more than %d names", most_values);
    named *n = arena_alloc(r->a, sizeof *n);
    *n = (named){.name = name, .at = at};
    names_add(&r->names, name, n);
    r->declared = build_grow(r->a, r->declared, r->declared_count, sizeof *r->declared);
    r->declared[r->declared_count++] = n;
    return n;
}

bool graph_declare(graph_reader *r, const char *name, position at, ir_value *value)
{
    named *n = names_find(&r->names, name);
    const dim *d = dim_find(&r->p->dims, name);
    if (d) {
        complain(r->a, at, "%%%s: there is a dim %s already; names are unique", name, name);
        return false;
    }
    if (n && n->phantom) {
        n->phantom = false;
        n->at = at; /* stays broken: it was used before this declaration, which was reported */
        return true;
    }
    if (n) {
        complain(r->a, at, "%%%s is %s already, of line %d; names are unique", name, article_kind(n),
                 n->at.line);
        n->contested = true;
        return false;
    }
    enter(r, name, at)->value = value;
    return true;
}

static named *nearest_declared(graph_reader *r, const char *word)
{
    enum { most = 500 }; /* bounds the time that a hostile spec takes */
    const char **names = arena_alloc(r->a, most * sizeof *names);
    size_t n = 0;
    for (int i = r->declared_count; i-- > 0 && n < most;)
        if (!r->declared[i]->phantom) names[n++] = r->declared[i]->name;
    const char *near = nearest_name(word, names, n);
    return near ? names_find(&r->names, near) : NULL;
}

static void complain_undefined(graph_reader *r, const spec_node *node, const op_draft *user)
{
    const spec_node *later = names_find(&r->made_later, node->text);
    named *near = later ? NULL : nearest_declared(r, node->text);
    if (later && user && later == user->node)
        complain(r->a, node->at, "%%%s is computed from itself", node->text);
    else if (later)
        complain(r->a, node->at, "%%%s is used here, but computed at line %d; ops run in the order of the file",
                 node->text, later->at.line);
    else if (dim_find(&r->p->dims, node->text))
        complain(r->a, node->at, "%s is a dim; an operand is a value or a number", node->text);
    else if (near && !r->names_lost) {
        near->used = true; /* probably meant, so not reported as unused */
        complain(r->a, node->at, "there is no value %%%s; did you mean %%%s?", node->text, near->name);
    } else if (!r->names_lost) {
        complain(r->a, node->at, "there is no value %%%s; an operand is an input, a param or the out of an op above",
                 node->text);
        r->lost = true; /* some declared value was meant: report none as unused */
    }
}

ir_value *graph_lookup(graph_reader *r, const spec_node *node, const op_draft *user)
{
    if (!graph_check_name(r, node, "a value")) return NULL;
    named *n = names_find(&r->names, node->text);
    if (!n) {
        complain_undefined(r, node, user);
        n = enter(r, node->text, node->at);
        n->phantom = true;
    }
    n->used = true;
    return n->value;
}

bool graph_value_fits(graph_reader *r, const ir_value *v, const char *what, position at)
{
    const dim_table *dims = &r->p->dims;
    long long columns, count = 1;
    const extent *last = &v->shape[v->rank - 1];
    if (!extent_is_number(last, &columns) && !(v->type == dtype_i32 && v->rank == 1)) {
        complain(r->a, at, "%s: the last axis of %s, %s, is dynamic; rows may be dynamic, columns may not", what,
                 graph_shape_text(r, v), graph_extent_text(r, last));
        return false;
    }
    for (int i = 0; i < v->rank; i++) {
        long long lowest = graph_lowest(&v->shape[i], dims);
        if (lowest < 1) {
            complain(r->a, at, "%s: axis %d of %s %s %lld; it must be at least 1", what, i, graph_shape_text(r, v),
                     extent_is_number(&v->shape[i], &lowest) ? "is" : "can be", lowest);
            return false;
        }
        const long long high = extent_high(&v->shape[i], dims);
        const bool few = !__builtin_mul_overflow(count, high, &count) && count <= MOST_ELEMENTS;
        if (few && high <= INT_MAX) continue;
        if (few)
            complain(r->a, at, "%s: axis %d of %s %s %lld; it must be at most %d", what, i, graph_shape_text(r, v),
                     extent_is_number(&v->shape[i], &lowest) ? "is" : "can be", high, INT_MAX);
        else complain(r->a, at, "%s: %s has more than 2^40 elements with its dims at their greatest", what, graph_shape_text(r, v));
        return false;
    }
    return true;
}

bool graph_shape(graph_reader *r, const spec_node *node, const char *what, ir_value *v)
{
    if (node->kind != spec_list || node->count < 1 || node->count > max_rank) {
        complain(r->a, node->at, "%s: a shape is a list of 1 to %d sizes, such as [B, S, D]", what, max_rank);
        r->lost = true;
        return false;
    }
    bool good = true;
    for (int i = 0; i < node->count; i++) good &= graph_extent(r, node->items[i], what, &v->shape[i]);
    v->rank = node->count;
    return good && graph_value_fits(r, v, what, node->at);
}

/* `range: [lo, hi]`: the valid data of an int32 input. */
static bool read_range(graph_reader *r, const spec_node *node, ir_value *v)
{
    if (node->kind != spec_list || node->count != 2) {
        complain(r->a, node->at, "range: takes the least and the greatest value, such as [0, L-S]");
        return false;
    }
    if (v->type != dtype_i32) {
        complain(r->a, node->at, "range: only i32 data has one, %%%s is %s", v->name, dtype_name(v->type));
        return false;
    }
    if (!graph_extent(r, node->items[0], "range", &v->range_low) ||
        !graph_extent(r, node->items[1], "range", &v->range_high))
        return false;
    long long low = extent_value(&v->range_low, &r->p->dims), high = extent_value(&v->range_high, &r->p->dims);
    v->has_range = low <= high && low >= -most_number && high <= most_number;
    if (!v->has_range)
        complain(r->a, node->at, "range: %lld to %lld %s", low, high,
                 low > high ? "is empty" : "does not fit an int32");
    return v->has_range;
}

static bool read_tensor_name(graph_reader *r, const spec_node *from, ir_value *v)
{
    const bool good = from->kind == spec_scalar && name_is_tensor(from->text);
    if (good)
        v->from = from->text;
    else
        complain(r->a, from->at, "from: takes the name of a tensor of a safetensors file, such as mlp.up_proj.weight");
    return good;
}

/* Reads [first, end], which must be static sizes. */
static bool read_row_numbers(graph_reader *r, const spec_node *rows, row_range *out)
{
    extent first;
    if (rows->kind != spec_list || rows->count != 2) {
        complain(r->a, rows->at, "rows: takes the first row and the one behind the last, such as [0, H*hd]");
        return false;
    }
    if (!graph_extent(r, rows->items[0], "rows", &first) || !graph_static(r, rows->items[1], "rows", &out->end)) return false;
    if (extent_is_number(&first, &out->first) && out->first >= 0 && out->first < out->end) return true;
    complain(r->a, rows->at, "rows: %s to %lld %s", graph_extent_text(r, &first), out->end,
             extent_is_number(&first, &out->first) ? "is empty" : "is dynamic; rows must be known when the plan is made");
    return false;
}

/* `{tensor: NAME, rows: [first, end], every: N}` */
static bool read_rows(graph_reader *r, const spec_node *from, ir_value *v)
{
    static const char *const keys[] = {"tensor", "rows", "every"};
    const spec_node *tensor = spec_find(from, "tensor"), *rows = spec_find(from, "rows"), *every = spec_find(from, "every");
    row_range *range = arena_alloc(r->a, sizeof *range);
    long long made;
    const bool misspelt = graph_check_keys(r, from, keys, 3, "from");
    if (!tensor || !rows) {
        if (!misspelt) complain(r->a, from->at, "from: a map has tensor: and rows:, such as {tensor: qkv.weight, rows: [0, H*hd]}");
        return false;
    }
    if (!read_tensor_name(r, tensor, v) || !read_row_numbers(r, rows, range)) return false;
    if (every && !graph_static(r, every, "every", &range->every)) return false;
    if (range->every && range->end > range->every) {
        complain(r->a, every->at, "every: row %lld is beyond the %lld rows of a group", range->end - 1, range->every);
        return false;
    }
    v->from_rows = range;
    if (!extent_is_number(&v->shape[0], &made)) made = 0;
    if (row_range_makes(range, made)) return true;
    complain(r->a, rows->at, "rows: %lld of the tensor%s cannot be the %s rows of %%%s", range->end - range->first,
             range->every ? "'s groups" : "", graph_extent_text(r, &v->shape[0]), v->name);
    return false;
}

/* Reads `from:`; the shape of v is known. */
static bool read_from(graph_reader *r, const spec_node *from, ir_value *v)
{
    return from->kind == spec_map ? read_rows(r, from, v) : read_tensor_name(r, from, v);
}

static bool read_transpose(graph_reader *r, const spec_node *node, ir_value *v)
{
    if (!graph_bool(r, node, "transpose", &v->from_transposed)) return false;
    if (!v->from_transposed) return true;
    if (!v->from)
        complain(r->a, node->at, "transpose: says how the tensor named by from: is stored; there is no from: here");
    else if (v->rank != 2)
        complain(r->a, node->at, "transpose: needs two axes, %%%s is %s", v->name, graph_shape_text(r, v));
    return v->from && v->rank == 2;
}

/* Inputs and states take the spec's dtype or their own; i32 is for positions and lengths. */
static bool check_type(graph_reader *r, const spec_node *node, const ir_value *v)
{
    if (v->type != dtype_i32 || v->kind == value_input) return true;
    complain(r->a, node->at, "dtype: i32 is for inputs (positions and lengths); %%%s is a %s", v->name,
             v->kind == value_param ? "param" : "state");
    return false;
}

static long long most_rows(const ir_value *v, const dim_table *dims)
{
    long long rows = 1;
    for (int i = 0; i + 1 < v->rank; i++) rows *= extent_high(&v->shape[i], dims); /* at most 2^40: graph_value_fits() */
    return rows;
}

/* `stride: d` with a dynamic dim d alone: each call gives the row stride. */
static bool read_step(graph_reader *r, const spec_node *node, ir_value *v, dim *d)
{
    const char *fault = value_step_fault(r->a, v, d);
    if (v->rank < 2)
        complain(r->a, node->at, "stride: %%%s, %s, has one row; a stride needs several", v->name, graph_shape_text(r, v));
    else if (fault)
        complain(r->a, node->at, "stride: %s", fault);
    else if (d->high > MOST_ELEMENTS / most_rows(v, &r->p->dims))
        complain(r->a, node->at, "stride: %%%s has more than 2^40 elements with its dims at their greatest", v->name);
    else {
        value_set_step(v, d);
        return true;
    }
    return false;
}

/* `stride:` of an input or output whose shape is known: elements from one row to the next. */
static bool read_stride(graph_reader *r, const spec_node *node, ir_value *v)
{
    const long long columns = value_columns(v), each = dtype_size(v->type);
    long long stride;
    extent e;
    if (!graph_extent(r, node, "stride", &e)) return false;
    dim *d = extent_lone_dim(&e, &r->p->dims);
    if (d) return read_step(r, node, v, d);
    if (!graph_static(r, node, "stride", &stride)) return false;
    if (v->rank < 2)
        complain(r->a, node->at, "stride: %%%s, %s, has one row; a stride needs several", v->name, graph_shape_text(r, v));
    else if (stride < columns)
        complain(r->a, node->at, "stride: rows of %lld elements do not fit a stride of %lld", columns, stride);
    else if (stride != columns && stride * each % 16)
        complain(r->a, node->at, "stride: %lld elements of %s are %lld bytes; rows must begin at multiples of 16 bytes", stride,
                 dtype_name(v->type), stride * each);
    else if (stride > MOST_ELEMENTS / most_rows(v, &r->p->dims))
        complain(r->a, node->at, "stride: %%%s has more than 2^40 elements with its dims at their greatest", v->name);
    else {
        v->root_stride = stride == columns ? 0 : stride;
        return true;
    }
    return false;
}

static bool read_details(graph_reader *r, const spec_node *node, ir_value *v)
{
    static const char *const keys[] = {"shape", "dtype"};
    static const char *const input_keys[] = {"shape", "dtype", "range", "stride"};
    static const char *const param_keys[] = {"shape", "dtype", "from", "transpose"};
    static const char *const kinds[] = {"an input", "a param", "a state"};
    const char *const *known = v->kind == value_input ? input_keys : v->kind == value_param ? param_keys : keys;
    bool misspelt = graph_check_keys(r, node, known, v->kind == value_state ? 2 : 4, kinds[v->kind]);
    const spec_node *shape = spec_find(node, "shape"), *type = spec_find(node, "dtype"),
                    *range = spec_find(node, "range"), *stride = spec_find(node, "stride");
    const spec_node *from = spec_find(node, "from"), *transpose = spec_find(node, "transpose");
    bool good = true;
    if (type) good = graph_dtype(r, type, "dtype", &v->type) && check_type(r, type, v);
    if (!shape && !misspelt) complain(r->a, node->at, "%%%s: shape: is missing, such as [B, S, D]", v->name);
    r->lost |= !shape;
    good &= shape && graph_shape(r, shape, arena_printf(r->a, "%%%s", v->name), v);
    if (range && v->kind == value_input) good &= read_range(r, range, v);
    if (stride && v->kind == value_input && good) good = read_stride(r, stride, v);
    if (from && v->kind == value_param && good) good = read_from(r, from, v);
    if (transpose && v->kind == value_param && good) good &= read_transpose(r, transpose, v);
    return good;
}

static void read_declaration(graph_reader *r, const spec_node *key, const spec_node *node, value_kind kind)
{
    if (!graph_check_name(r, key, "a value")) {
        r->lost = r->names_lost = true;
        return;
    }
    ir_value *v = graph_new_value(r, key->text, kind, r->p->type, key->at);
    bool good;
    if (node->kind == spec_map)
        good = read_details(r, node, v);
    else
        good = graph_shape(r, node, arena_printf(r->a, "%%%s", v->name), v);
    graph_declare(r, key->text, key->at, good ? v : NULL);
}

void graph_read_values(graph_reader *r)
{
    static const char *const sections[] = {"inputs", "params", "state"};
    for (int kind = value_input; kind <= value_state; kind++) {
        const spec_node *node = spec_find(r->root, sections[kind]);
        if (!node) continue;
        if (!graph_check_map(r, node, sections[kind])) {
            r->names_lost = true;
            continue;
        }
        for (int i = 0; i < node->count; i++) read_declaration(r, node->keys[i], node->items[i], (value_kind)kind);
    }
}

/* `{value: NAME, stride: N}`; NULL: an error, which was reported. */
static ir_value *read_output_details(graph_reader *r, const spec_node *node)
{
    static const char *const keys[] = {"value", "stride"};
    const spec_node *value = spec_find(node, "value"), *stride = spec_find(node, "stride");
    const bool misspelt = graph_check_keys(r, node, keys, 2, "an output");
    if (!value) {
        if (!misspelt) complain(r->a, node->at, "an output: value: is missing, such as {value: y, stride: 2*D}");
        return NULL;
    }
    ir_value *v = graph_lookup(r, value, NULL);
    if (v && v->kind == value_result && !v->root && stride && !read_stride(r, stride, v)) return NULL;
    return v;
}

static void read_output(graph_reader *r, const spec_node *key, const spec_node *node)
{
    bool named_well = graph_check_name(r, key, "an output");
    ir_value *v = node->kind == spec_map ? read_output_details(r, node) : graph_lookup(r, node, NULL);
    if (!v) r->lost = true;
    if (!v || !named_well) return;
    const named *same = names_find(&r->names, key->text);
    if (same && same->value && same->value->kind != value_result)
        complain(r->a, key->at, "output %s: there is %s of this name, at line %d", key->text, article_kind(same),
                 same->at.line);
    const named *n = names_find(&r->names, v->name);
    if (n->contested) return;
    if (v->kind != value_result) {
        static const char *const kinds[] = {"an input", "a param", "a state"};
        complain(r->a, node->at, "output %s: %%%s is %s; an output is the out of an op", key->text, v->name,
                 kinds[v->kind]);
    } else if (v->root)
        complain(r->a, node->at, "output %s: %%%s is the state %%%s, which the caller has anyway", key->text, v->name,
                 v->root->name);
    else if (v->output)
        complain(r->a, node->at, "output %s: %%%s is the output %s already", key->text, v->name, v->output);
    else
        v->output = key->text;
}

void graph_read_outputs(graph_reader *r)
{
    const spec_node *node = spec_find(r->root, "outputs");
    if (!node || !graph_check_map(r, node, "outputs")) return;
    if (node->count == 0) {
        complain(r->a, node->at, "outputs: name at least one, such as {y: x2}");
        r->lost = true;
    }
    for (int i = 0; i < node->count; i++) read_output(r, node->keys[i], node->items[i]);
}

void graph_report_unused(graph_reader *r)
{
    for (int i = 0; i < r->p->dims.count; i++) {
        const dim *d = &r->p->dims.dims[i];
        const spec_node *dims = spec_find(r->root, "dims");
        if (d->used || r->lost) continue;
        for (int k = 0; k < dims->count; k++)
            if (strcmp(dims->keys[k]->text, d->name) == 0)
                complain(r->a, dims->keys[k]->at, "the dim %s is never used", d->name);
    }
    for (int i = 0; i < r->declared_count; i++) {
        const named *n = r->declared[i];
        static const char *const kinds[] = {"input", "param", "state"};
        if (n->used || n->phantom || r->lost) continue;
        if (n->value && n->value->kind < value_constant)
            complain(r->a, n->at, "the %s %%%s is never used", kinds[n->value->kind], n->name);
        else if (!n->value || !n->value->root)
            complain(r->a, n->at, "%%%s is never used; give it to an op or to outputs:", n->name);
    }
}
