/* Writes the struct `context`, which keeps a row's scalars and token positions, and the statements that fill it. Makes its fields known to
 * the functions that use them. Refuses (code_unsupported) more than 16 ropes and appends in one phase. */
#include "gen/emit/emit.h"

/* An earlier item that has the same position in every row, so that op can share its fields; NULL: none. */
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
        *own = (struct row_number){op, same ? same->position : arena_printf(e->a, "position%s", tail), NULL, same != NULL};
        if (sequence) own->sequence = same ? same->sequence : arena_printf(e->a, "sequence%s", tail);
        named += !same;
    }
    return n;
}

const expression *context_field(emission *e, const char *field) { return c_name(e->pool, arena_printf(e->a, "c.%s", field)); }

static const expression *number_field(emission *e, const char *field) { return c_int(e->pool, arena_printf(e->a, "c.%s", field)); }

static void know_sequence(const struct row_number *n, scope *s, const expression *row)
{
    if (n->sequence) scope_know(s, sequence_of(n->op, row), number_field(s->e, n->sequence));
}

void numbers_know(const row_numbers *n, scope *s)
{
    const expression *row = c_int(s->e->pool, "row");
    for (int i = 0; i < n->count; i++) {
        scope_know(s, position_of(n->items[i].op, row), number_field(s->e, n->items[i].position));
        know_sequence(&n->items[i], s, row);
    }
}

static void write_number(scope *s, const ir_op *op, const char *field, const expression *x)
{
    write_spec_line(s->w, op->at, "c.%s = %s;", field, c_text(s->e->a, x));
}

void numbers_write(const row_numbers *n, scope *s)
{
    const expression *row = c_int(s->e->pool, "row");
    for (int i = 0; i < n->count; i++) {
        const struct row_number *x = &n->items[i];
        if (x->shared) continue;
        if (x->sequence) write_number(s, x->op, x->sequence, evaluate_sequence(s, x->op, row));
        know_sequence(x, s, row);
        write_number(s, x->op, x->position, evaluate_position(s, x->op, row));
    }
}

void write_context(emission *e, writer *w, const kept_list *kept, const row_numbers *n, const char *more)
{
    text floats = {.a = e->a}, ints = {.a = e->a};
    for (int i = 0; i < kept->scalar_count; i++) text_printf(&floats, "%s%s", i ? ", " : "", kept->scalars[i].field);
    for (int i = 0; i < n->count; i++) {
        if (n->items[i].shared) continue;
        text_printf(&ints, "%s%s", ints.size ? ", " : "", n->items[i].position);
        if (n->items[i].sequence) text_printf(&ints, ", %s", n->items[i].sequence);
    }
    if (!floats.size && !ints.size && !more) {
        write_line(w, "struct context {};");
        return;
    }
    write_head(w, (position){0}, "struct context");
    if (floats.size) write_line(w, "float %s;", floats.data);
    if (ints.size) write_line(w, "int %s;", ints.data);
    if (more) write_line(w, "%s", more);
    end_head(w, "};");
}

void write_set(scope *s, const kept_scalar *x)
{
    const expression *value = evaluate_row_scalar(s, x->value, x->row);
    write_spec_line(s->w, value_in_spec(x->value), "c.%s = %s;", x->field, c_text(s->e->a, value));
}

void context_know(const kept_list *kept, scope *s)
{
    for (int i = 0; i < kept->scalar_count; i++) {
        const kept_scalar *x = &kept->scalars[i];
        scope_know(s, scalar_of(x->value, x->row), context_field(s->e, x->field));
    }
}
