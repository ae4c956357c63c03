/* Makes long elementwise arithmetic a function that is called, not inlined. The function computes one column of a value, with all ops of
 * the phase that lead to it. A thread of a product has up to 128 columns, and so many inlined copies take compilers minutes and spill. For
 * the host the arithmetic stays inline, since its compiler vectorises that. */
#include "gen/emit/emit.h"

/* Whether the function computes x, an operand of the op that makes `of`; else x is one of its parameters. */
static bool is_inside(const chain *c, const ir_value *x, const ir_value *of)
{
    const emission *e = c->s->e;
    return value_made_here(e, x) && op_is_elementwise(x->def) && !value_is_row_scalar(e, x) &&
           row_of(c->s->e, x, of, c->at->row) == c->at->row && !value_known(c->s, x, c->at);
}

static void find_inside(chain *c, const ir_value *v)
{
    const int index = value_index_here(c->s->e, v);
    if (c->inside[index]) return;
    c->inside[index] = true;
    c->ops++;
    c->cost += op_cost(v->def, c->s->e->phase, c->s->e->plan->target, c->s->e->is_quick);
    for (int i = 0; i < v->def->input_count; i++)
        if (is_inside(c, v->def->inputs[i], v)) find_inside(c, v->def->inputs[i]);
}

static const expression *leaf_name(chain *c, const ir_value *x, const ir_value *of)
{
    scope *s = c->s;
    const place own = operand_place(s, x, of, c->at);
    if (x->kind == value_constant) return constant_c(s, x);
    for (int i = 0; i < c->leaf_count; i++)
        if (c->leaves[i].value == x && c->leaves[i].at.row == own.row) return c_name(s->e->pool, c->leaves[i].parameter);
    const char *name = new_local(&c->locals, x, NULL);
    c->leaves[c->leaf_count++] = (leaf){x, own, name};
    return c_name(s->e->pool, name);
}

static void write_op(chain *c, int index)
{
    const emission *e = c->s->e;
    const ir_op *op = e->phase->ops[index];
    const ir_value *v = op->outputs[0];
    const expression *operands[16], *meant[16];
    for (int i = 0; i < op->input_count; i++) {
        const ir_value *x = op->inputs[i];
        const bool inside = is_inside(c, x, v);
        operands[i] = inside ? c->names[value_index_here(e, x)] : leaf_name(c, x, v);
        meant[i] = inside ? c->results[value_index_here(e, x)] : operands[i];
    }
    const char *name = new_local(&c->locals, v, NULL);
    const expression *code = rounded_as(c->s, v, operation(c->s, op, operands));
    write_spec_line(&c->body, op->at, "const float %s = %s;", name, c_text(e->a, code));
    c->names[index] = c_name(e->pool, name);
    c->results[index] = rounded_as(c->s, v, operation(c->s, op, meant));
}

/* The function's parameters and its result, as one expression. Equal functions have the same one. */
static const expression *meaning_of(const chain *c, const ir_value *v)
{
    emission *e = c->s->e;
    const expression **parts = arena_alloc(e->a, ((size_t)c->leaf_count + 1) * sizeof *parts);
    for (int i = 0; i < c->leaf_count; i++) parts[i] = c_name(e->pool, c->leaves[i].parameter);
    parts[c->leaf_count] = c->results[value_index_here(e, v)];
    return c_call_of(e->pool, "chain", type_other, c->leaf_count + 1, parts);
}

/* The function's name. Writes the function, unless one with the same meaning is written already. */
static const char *write_function(chain *c, const ir_value *v)
{
    emission *e = c->s->e;
    writer *w = &e->functions;
    const expression *meaning = meaning_of(c, v);
    for (int i = 0; i < e->called_count; i++)
        if (e->called[i].meaning == meaning) return e->called[i].name;
    text parameters = {.a = e->a};
    for (int i = 0; i < c->leaf_count; i++) text_printf(&parameters, "%sfloat %s", i ? ", " : "", c->leaves[i].parameter);
    e->called = arena_more(e->a, e->called, e->called_count, &e->called_room, sizeof *e->called);
    const char *name = name_marked(e->a, arena_printf(e->a, "%s_%d", e->names->values[v->id], e->called_count + 1), name_function);
    e->called[e->called_count++] = (called_function){meaning, name};
    write_line(w, "TF_CALLED static float %s(%s)", name, parameters.data ? parameters.data : "");
    write_body(w);
    writer_splice(w, &c->body);
    write_line(w, "return %s;", c_text(e->a, c->names[value_index_here(e, v)]));
    end_body(w);
    return name;
}

const char *chain_find(chain *c, scope *s, const ir_value *v, const place *at)
{
    emission *e = s->e;
    const size_t count = (size_t)e->phase->op_count;
    if (!e->is_long || !op_is_elementwise(v->def)) return NULL;
    *c = (chain){.s = s, .at = at, .body = {.a = e->a}, .locals = scope_new(e, NULL, "1")};
    c->inside = arena_alloc(e->a, count * sizeof *c->inside);
    find_inside(c, v);
    if (c->cost < function_cost) return NULL;
    c->names = arena_alloc(e->a, count * sizeof *c->names);
    c->results = arena_alloc(e->a, count * sizeof *c->results);
    c->leaves = arena_alloc(e->a, 16 * (size_t)c->ops * sizeof *c->leaves);
    for (size_t i = 0; i < count; i++)
        if (c->inside[i]) write_op(c, (int)i);
    return write_function(c, v);
}
