/* In: what a dry run found that row scalars and positions are needed. Out: the struct `context`, the statements that
 * fill its ints, and its fields under their names in a function. Refuses (code_unsupported) more than 16 ropes and
 * appends in one phase. */
#include "gen/emit/emit.h"

/* The same position of the same rows, under an earlier name. */
static const struct row_number *same_number(const row_numbers *n, const ir_op *op)
{
    const ir_value *x = op->inputs[0];
    for (int i = 0; i < n->count; i++) {
        const ir_value *y = n->items[i].op->inputs[0];
        bool tokens = x->rank == y->rank;
        for (int axis = 0; tokens && axis + 1 < x->rank; axis++) tokens = extent_equal(&x->shape[axis], &y->shape[axis]);
        if (tokens && n->items[i].op->attributes.at == op->attributes.at) return &n->items[i];
    }
    return NULL;
}

row_numbers numbers_find(emission *e)
{
    row_numbers n = {.count = 0};
    int named = 0;
    for (int i = 0; i < e->phase->op_count; i++) {
        const ir_op *op = e->phase->ops[i];
        if (!op_has_position(op)) continue;
        if (n.count == 16) bail(e->a, code_unsupported, op->at, "more than 16 rotations and appends in one phase");
        const struct row_number *same = same_number(&n, op);
        const char *tail = named ? arena_printf(e->a, "_%d", named + 1) : "";
        const bool sequence = op->attributes.at || op->kind == op_kv_append;
        struct row_number *own = &n.items[n.count++];
        *own = (struct row_number){op, same ? same->position : arena_printf(e->a, "c.position%s", tail), NULL, same != NULL};
        if (sequence) own->sequence = same ? same->sequence : arena_printf(e->a, "c.sequence%s", tail);
        named += !same;
    }
    return n;
}

static const char *position_key(arena *a, const ir_op *op)
{
    return arena_printf(a, "position %d", op->attributes.at ? op->attributes.at->id : -1);
}

void numbers_know(const row_numbers *n, scope *s)
{
    for (int i = 0; i < n->count; i++) {
        const ir_value *x = n->items[i].op->inputs[0];
        scope_know(s, x, "row", position_key(s->e->a, n->items[i].op), n->items[i].position);
        if (n->items[i].sequence) scope_know(s, x, "row", "sequence", n->items[i].sequence);
    }
}

void numbers_write(const row_numbers *n, scope *s)
{
    for (int i = 0; i < n->count; i++) {
        const ir_op *op = n->items[i].op;
        if (n->items[i].shared) continue;
        if (n->items[i].sequence) {
            write_spec_line(s->w, op->at, "%s = %s;", n->items[i].sequence, without_parentheses(s->e->a, evaluate_sequence(s, op, "row")));
            scope_know(s, op->inputs[0], "row", "sequence", n->items[i].sequence);
        }
        write_spec_line(s->w, op->at, "%s = %s;", n->items[i].position, without_parentheses(s->e->a, evaluate_position(s, op, "row")));
    }
}

void write_context(emission *e, writer *w, const kept_list *kept, const row_numbers *n)
{
    text floats = {.a = e->a}, ints = {.a = e->a};
    for (int i = 0; i < kept->scalar_count; i++) text_printf(&floats, "%s%s", i ? ", " : "", kept->scalars[i].name);
    for (int i = 0; i < n->count; i++) {
        if (n->items[i].shared) continue;
        text_printf(&ints, "%s%s", ints.size ? ", " : "", n->items[i].position + 2);
        if (n->items[i].sequence) text_printf(&ints, ", %s", n->items[i].sequence + 2);
    }
    if (!floats.size && !ints.size) {
        write_line(w, "struct context {};");
        return;
    }
    write_line(w, "struct context {");
    if (floats.size) write_line(w, "float %s;", floats.data);
    if (ints.size) write_line(w, "int %s;", ints.data);
    write_line(w, "};");
}

void write_set(scope *s, const known *field, const char *to)
{
    const char *value = evaluate_narrow(s, field->value, field->row);
    write_spec_line(s->w, value_in_spec(field->value), "%s = %s;", to, value);
}

void context_know(const kept_list *kept, scope *s)
{
    for (int i = 0; i < kept->scalar_count; i++)
        scope_know(s, kept->scalars[i].value, kept->scalars[i].row, NULL, arena_printf(s->e->a, "c.%s", kept->scalars[i].name));
}
