/* Contract: gen/base/signature.h. */
#include "gen/base/signature.h"
#include "ir/graph/fields.h"
#include "ir/graph/former.h"
#include "ir/graph/segments.h"
#include <string.h>

typedef struct signer {
    const ir_graph *p;
    const ir_phase *phase;
    text out;
} signer;

static void put_axis(signer *s, const ir_value *v, int axis, bool first)
{
    text_printf(&s->out, "%s%lld", first ? "" : ",", extent_value(&v->shape[axis], &s->p->dims));
}

/* True for all axes of params, for heads and columns of caches, and for the last axis of other values: rows and keys are not part of a
 * signature. */
static bool axis_in_signature(const ir_value *v, int axis)
{
    if (v->kind == value_param) return true;
    return value_is_cache(v) ? axis == cache_head || axis == cache_column : axis == v->rank - 1;
}

static void put_type(signer *s, const ir_value *v)
{
    bool first = true;
    text_printf(&s->out, "%s[", dtype_name(v->type));
    for (int i = 0; i < v->rank; i++)
        if (axis_in_signature(v, i)) put_axis(s, v, i, first), first = false;
    text_printf(&s->out, "]");
}

static bool same_type(const ir_value *x, const ir_value *y)
{
    return x && x->type == y->type && value_is_cache(x) == value_is_cache(y) && !value_is_cache(x) && value_columns(x) == value_columns(y);
}

static bool made_inside(const signer *s, const ir_value *v)
{
    if (s->p->index) return v->def && s->p->index->maker[v->id] == s->phase;
    return phase_has(s->phase, v->def);
}

static void put_operands(signer *s, const ir_op *op)
{
    int count = 0;
    for (int i = 0; i < op->input_count; i++) {
        const ir_value *v = op->inputs[i];
        if (v->kind == value_constant || made_inside(s, v)) continue;
        text_printf(&s->out, count++ ? "," : "(");
        put_type(s, v);
    }
    if (count) text_printf(&s->out, ")");
}

static void put_attributes(signer *s, const ir_op *op)
{
    for (int i = 0; i < attribute_field_count; i++) {
        const attribute_field *f = &attribute_fields[i];
        const void *field = (const char *)&op->attributes + f->offset;
        if (!field_is_set(&op->attributes, f) || f->type == field_float || f->type == field_dtype || f->type == field_scaling) continue;
        text_printf(&s->out, "/%s", f->key);
        if (f->type == field_int) text_printf(&s->out, "=%lld", *(const long long *)field);
        if (field == &op->attributes.axes)
            for (int k = 0; k < op->attributes.axes.count; k++) text_printf(&s->out, "%s%d", k ? "." : "=", (int)op->attributes.axes.at[k]);
    }
}

const char *phase_signature(arena *a, const ir_graph *p, const ir_phase *phase)
{
    signer s = {p, phase, {.a = a}};
    const ir_value *before = NULL;
    text_printf(&s.out, "%s(", family_names(NULL)[phase->family]);
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        text_printf(&s.out, "%s%s", i ? "+" : "", op_table[op->kind].name);
        put_operands(&s, op);
        put_attributes(&s, op);
        if (!same_type(before, op->outputs[0])) text_printf(&s.out, "->"), put_type(&s, op->outputs[0]);
        for (int k = 0; k < op->output_count; k++)
            if (value_stored(p, phase, op->outputs[k])) text_printf(&s.out, "!");
        before = op->outputs[0];
    }
    text_printf(&s.out, ")");
    return s.out.data;
}

const char *signature_today(arena *a, const char *signature)
{
    const size_t size = strcspn(signature, "(");
    const char *family = arena_strndup(a, signature, size), *now = name_today(former_families, family);
    return now == family ? signature : arena_printf(a, "%s%s", now, signature + size);
}

phase_size phase_size_of(arena *a, const ir_graph *p, const ir_phase *phase)
{
    const ir_op *attention = phase_first(phase, class_ATTENTION);
    const phase_extent space = phase_space(a, phase);
    const bool has_keys = attention && attention->kind != op_attention_combine;
    return (phase_size){extent_value(&space.rows, &p->dims),
                        has_keys ? extent_value(value_tokens(attention->inputs[1]), &p->dims) : 0};
}
