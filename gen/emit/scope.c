/* In: what an emitted function has computed so far. Out: names for its locals, places in the phase's space, what is kept for other
 * functions, and an op's own C++. Refuses nothing. */
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

void scope_know(scope *s, const ir_value *v, const char *row, const char *column, const char *name)
{
    s->knowns = grow(s->e->a, s->knowns, s->known_count, &s->known_capacity, sizeof *s->knowns);
    s->knowns[s->known_count++] = (known){v, row, column, name};
}

const char *find_known(const scope *s, const ir_value *v, const char *row, const char *column)
{
    for (int i = 0; i < s->known_count; i++) {
        const known *k = &s->knowns[i];
        if (k->value != v || strcmp(k->row, row) != 0 || !k->column != !column) continue;
        if (!column || strcmp(k->column, column) == 0) return k->name;
    }
    return NULL;
}

/* A name for a local of this function: that of the value, with the tag of its place. */
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
static const char *shifted(arena *a, const char *base, long long shift)
{
    if (shift == 0) return base;
    return shift > 0 ? arena_printf(a, "%s - %lld", base, shift) : arena_printf(a, "%s + %lld", base, -shift);
}

const char *place_column(arena *a, const place *at) { return shifted(a, at->base, at->shift); }

/* What tells places of one row apart: columns that were loaded under a condition serve no other. */
const char *place_key(arena *a, const place *at)
{
    const char *column = place_column(a, at);
    return at->guard ? arena_printf(a, "%s if %s", column, at->guard) : column;
}

place place_shifted(arena *a, const place *at, long long shift)
{
    place to = *at;
    (void)a;
    to.shift += shift;
    return to;
}

bool value_known(const scope *s, const ir_value *v, const place *at) { return find_known(s, v, at->row, place_key(s->e->a, at)) != NULL; }

place operand_place(scope *s, const ir_value *operand, const ir_value *of, const place *at)
{
    place to = *at;
    to.row = row_of(s->e, operand, of, at->row);
    return to;
}

/* ---- constants, what is kept */
const char *constant_c(scope *s, const ir_value *v)
{
    text t = {.a = s->e->a};
    text_f32(&t, v->constant);
    return t.data;
}

const char *keep_scalar(kept_list *list, const ir_value *v, const char *row)
{
    for (int i = 0; i < list->scalar_count; i++)
        if (list->scalars[i].value == v && strcmp(list->scalars[i].row, row) == 0) return list->scalars[i].name;
    list->scalars = grow(list->fields->e->a, list->scalars, list->scalar_count, &list->scalar_capacity, sizeof *list->scalars);
    const char *field = new_local(list->fields, v, NULL);
    list->scalars[list->scalar_count++] = (known){v, row, NULL, field};
    return field;
}

const char *keep_value(scope *s, const ir_value *v, const place *at)
{
    kept_list *list = s->collect;
    const char *key = place_key(s->e->a, at);
    for (int i = 0; i < list->count; i++)
        if (list->items[i].value == v && strcmp(list->items[i].at.row, at->row) == 0 &&
            strcmp(place_key(s->e->a, &list->items[i].at), key) == 0)
            return list->items[i].field;
    list->items = grow(s->e->a, list->items, list->count, &list->capacity, sizeof *list->items);
    const char *field = new_local(s, v, at->tag);
    list->items[list->count++] = (kept){v, *at, field};
    return field;
}

/* ---- operations */
const char *operation(scope *s, const ir_op *op, const char *const *operands)
{
    text t = {.a = s->e->a};
    if (op->kind == op_cast)
        text_printf(&t, "op_cast<%s>(%s)", dtype_c_name(op->attributes.to), operands[0]);
    else {
        text_printf(&t, "op_%s(", op_table[op->kind].name);
        for (int i = 0; i < op->input_count; i++) text_printf(&t, "%s%s", i ? ", " : "", operands[i]);
        text_append(&t, ")", 1);
    }
    return t.data;
}

static bool has_near_form(op_kind kind) { return kind == op_exp || kind == op_gelu_erf || kind == op_div || kind == op_div_or_zero; }

const char *element_code(scope *s, const ir_op *op, const char *const *operands)
{
    const char *code = operation(s, op, operands);
    return s->near && has_near_form(op->kind) ? arena_printf(s->e->a, "near_%s", code + strlen("op_")) : code;
}
