/* In, out: ir/graph/views.h. */
#include "ir/graph/views.h"

/* x and y share storage, and y shows x's columns from `offset` on. */
static bool lies_in(const ir_value *y, const ir_value *x, long long offset)
{
    return value_root(x) == value_root(y) && value_stride(x) == value_stride(y) && y->root_offset == x->root_offset + offset;
}

bool op_moves_as_view(const ir_op *op)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    long long offset = 0;
    switch (op->kind) {
    case op_slice: return lies_in(y, x, op->attributes.offset);
    case op_reshape: return value_root(x) == value_root(y) && y->root_offset == x->root_offset;
    case op_concat:
        for (int i = 0; i < op->input_count; i++) {
            if (!lies_in(op->inputs[i], y, offset)) return false;
            offset += value_columns(op->inputs[i]);
        }
        return true;
    default: return false;
    }
}

static bool is_view(const ir_value *v)
{
    return v->def && op_is_view(v->def);
}

/* Chains of views may be long, so look at the root first: if an op with code makes it, the root is the only maker. */
int value_makers(const ir_value *v, const ir_value **makers)
{
    const ir_value *root = value_root(v);
    if (is_view(v) && root != v && !is_view(root) && root->kind != value_state) v = root;
    while (is_view(v) && v->def->kind != op_concat) v = v->def->inputs[0];
    if (!v->def) return 0;
    if (!is_view(v)) {
        makers[0] = v;
        return 1;
    }
    for (int i = 0; i < v->def->input_count; i++) makers[i] = v->def->inputs[i];
    return v->def->input_count;
}

bool value_has_maker(const ir_value *v, const ir_value *maker)
{
    const ir_value *makers[most_makers];
    if (v == maker) return !is_view(v);
    if (value_root(v) != value_root(maker)) return false;
    int n = value_makers(v, makers);
    for (int i = 0; i < n; i++)
        if (makers[i] == maker) return true;
    return false;
}

bool view_is_transparent(arena *a, const ir_value *v)
{
    const ir_value *makers[most_makers];
    if (value_makers(v, makers) != 1) return false;
    extent x = value_rows(a, makers[0]), y = value_rows(a, v);
    return extent_equal(&x, &y) && value_columns(makers[0]) == value_columns(v);
}
