/* What an emitted function has computed so far (its scope): names for its locals, lookup of known values, fields that are kept for other
 * functions, and the C++ calls of ops. */
#include "gen/emit/emit.h"
#include <string.h>

scope scope_new(emission *e, writer *w, const char *lanes) { return (scope){.e = e, .w = w, .lanes = lanes}; }

static void *grow(arena *a, void *items, int count, int *capacity, size_t size)
{
    if (count < *capacity) return items;
    *capacity = *capacity ? 2 * *capacity : 16;
    void *larger = arena_alloc(a, (size_t)*capacity * size);
    if (count) memcpy(larger, items, (size_t)count * size);
    return larger;
}

knowledge scalar_of(const ir_value *v, const expression *row) { return (knowledge){.value = v, .what = known_scalar, .row = row}; }

knowledge columns_of(scope *s, const ir_value *v, const place *at)
{
    return (knowledge){.value = v, .what = known_columns, .row = at->row, .column = place_column(s, at), .guard = at->guard};
}

knowledge position_of(const ir_op *op, const expression *row)
{
    return (knowledge){.value = op->inputs[0], .what = known_position, .row = row, .start = op->attributes.at};
}

knowledge sequence_of(const ir_op *op, const expression *row)
{
    return (knowledge){.value = op->inputs[0], .what = known_sequence, .row = row};
}

static bool same_knowledge(const knowledge *x, const knowledge *y)
{
    return x->value == y->value && x->what == y->what && x->row == y->row && x->column == y->column && x->guard == y->guard &&
           x->start == y->start;
}

void scope_know(scope *s, knowledge key, const expression *name)
{
    s->knowns = grow(s->e->a, s->knowns, s->known_count, &s->known_capacity, sizeof *s->knowns);
    s->knowns[s->known_count++] = (known){key, name};
}

const expression *find_known(const scope *s, knowledge key)
{
    for (int i = 0; i < s->known_count; i++)
        if (same_knowledge(&s->knowns[i].key, &key)) return s->knowns[i].name;
    return NULL;
}

/* The name is the value's name and the place's tag, plus a number if it is taken. */
const char *new_local(scope *s, const ir_value *v, const char *tag)
{
    arena *a = s->e->a;
    const char *wanted = arena_printf(a, "%s%s", s->e->names->values[v->id], tag ? tag : ""), *name = name_marked(a, wanted, name_value);
    for (int tries = 2;; tries++) {
        int i = 0;
        while (i < s->local_count && strcmp(s->locals[i], name) != 0) i++;
        if (i == s->local_count) break;
        name = name_marked(a, arena_printf(a, "%s_%d", wanted, tries), name_value);
    }
    s->locals = grow(a, s->locals, s->local_count, &s->local_capacity, sizeof *s->locals);
    s->locals[s->local_count++] = name;
    return name;
}

/* ---- places */
const expression *place_column(const scope *s, const place *at) { return c_shifted(s->e->pool, at->base, -at->shift); }

bool value_known(scope *s, const ir_value *v, const place *at) { return find_known(s, columns_of(s, v, at)) != NULL; }

place operand_place(scope *s, const ir_value *operand, const ir_value *of, const place *at)
{
    place to = *at;
    to.row = row_of(s->e, operand, of, at->row);
    return to;
}

/* ---- constants, kept values */
const expression *constant_c(scope *s, const ir_value *v)
{
    text t = {.a = s->e->a};
    text_f32(&t, v->constant);
    return c_name(s->e->pool, t.data);
}

const expression *keep_scalar(kept_list *list, const ir_value *v, const expression *row)
{
    emission *e = list->fields->e;
    for (int i = 0; i < list->scalar_count; i++)
        if (list->scalars[i].value == v && list->scalars[i].row == row) return c_name(e->pool, list->scalars[i].field);
    list->scalars = grow(e->a, list->scalars, list->scalar_count, &list->scalar_capacity, sizeof *list->scalars);
    const char *field = new_local(list->fields, v, NULL);
    list->scalars[list->scalar_count++] = (kept_scalar){v, row, field};
    return c_name(e->pool, field);
}

const expression *keep_value(scope *s, const ir_value *v, const place *at)
{
    kept_list *list = s->collect;
    const expression *column = place_column(s, at);
    for (int i = 0; i < list->count; i++) {
        const kept *k = &list->items[i];
        if (k->value == v && k->at.row == at->row && place_column(s, &k->at) == column && k->at.guard == at->guard)
            return c_name(s->e->pool, k->field);
    }
    list->items = grow(s->e->a, list->items, list->count, &list->capacity, sizeof *list->items);
    const char *field = new_local(s, v, at->tag);
    list->items[list->count++] = (kept){v, *at, field};
    return c_name(s->e->pool, field);
}

/* ---- operations */
const expression *operation(scope *s, const ir_op *op, const expression *const *operands)
{
    emission *e = s->e;
    const char *function = arena_printf(e->a, "op_%s", op_table[op->kind].name);
    if (op->kind == op_cast) function = arena_printf(e->a, "op_cast<%s>", dtype_c_name(op->attributes.to));
    if (s->angles && op_is_wave(op)) return c_call(e->pool, function, operands[0], c_name(e->pool, s->angles));
    return c_call_of(e->pool, function, type_other, op->kind == op_cast ? 1 : op->input_count, operands);
}

const expression *rounded_as(scope *s, const ir_value *v, const expression *x)
{
    if (!rounded_here(s->e, v)) return x;
    return c_call(s->e->pool, arena_printf(s->e->a, "op_cast<%s>", dtype_c_name(v->type)), x);
}
