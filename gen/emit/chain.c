/* In: a phase of much elementwise arithmetic, and a value that its ops make. Out: a function of one column for all the ops that lead to the
 * value, which is called, not inlined, and the loop that calls it for the columns of a place. A thread of a product has up to 128 of them:
 * as many copies of long arithmetic keep compilers busy for minutes and take all registers. Refuses: nothing; the host's compiler makes
 * vectors of the plain form, so there is none of this. */
#include "gen/emit/emit.h"
#include <string.h>

/* Of an op that computes an exponential or the like; of phases that get functions. A thread has fewer columns of rows than of a product. */
enum { function_cost = 10, long_cost = 28, long_rows_cost = 100 };

typedef struct leaf { /* what a chain's function takes: a value at a row */
    const ir_value *value;
    const char *row, *parameter, *argument;
} leaf;

typedef struct chain {
    scope *s;
    const place *at;
    bool *inside; /* by op of the phase: its result is computed within the function */
    const char **names; /* by op of the phase */
    leaf *leaves;
    int leaf_count, ops, cost;
    scope locals;
    writer body;
} chain;

static int cost_of(const ir_op *op)
{
    switch (op->kind) {
    case op_exp: case op_log: case op_sin: case op_cos: case op_tanh:
    case op_sigmoid: case op_silu: case op_gelu_erf: case op_gelu_tanh: return function_cost;
    case op_div: case op_div_or_zero: case op_sqrt: case op_rsqrt: return 3;
    default: return 1;
    }
}

bool phase_is_long(const ir_phase *phase, const target_info *target)
{
    int cost = 0;
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        if (op_is_elementwise(op) && value_columns(op->outputs[0]) > 1) cost += cost_of(op);
    }
    return cost >= (phase->family == family_rows ? long_rows_cost : long_cost) && target->vendor != vendor_host;
}

/* Operand x of an op whose result is made at the chain's place is computed there, too. */
static bool is_inside(const chain *c, const ir_value *x, const ir_value *of)
{
    const emission *e = c->s->e;
    return value_made_here(e, x) && op_is_elementwise(x->def) && !value_narrow(e, x) &&
           strcmp(row_of(c->s->e, x, of, c->at->row), c->at->row) == 0 && !value_known(c->s, x, c->at);
}

static void find_inside(chain *c, const ir_value *v)
{
    const int index = value_index_here(c->s->e, v);
    if (c->inside[index]) return;
    c->inside[index] = true;
    c->ops++;
    c->cost += cost_of(v->def);
    for (int i = 0; i < v->def->input_count; i++)
        if (is_inside(c, v->def->inputs[i], v)) find_inside(c, v->def->inputs[i]);
}

static const char *leaf_name(chain *c, const ir_value *x, const ir_value *of)
{
    scope *s = c->s;
    arena *a = s->e->a;
    const bool narrow = value_narrow(s->e, x);
    const place own = operand_place(s, x, of, c->at);
    const char *argument = narrow ? evaluate_narrow(s, x, own.row) : arena_printf(a, "%s[i]", evaluate(s, x, &own));
    if (x->kind == value_constant) return argument;
    for (int i = 0; i < c->leaf_count; i++)
        if (c->leaves[i].value == x && strcmp(c->leaves[i].row, own.row) == 0) return c->leaves[i].parameter;
    const char *name = new_local(&c->locals, x, NULL);
    c->leaves[c->leaf_count++] = (leaf){x, own.row, name, argument};
    return name;
}

static void write_op(chain *c, int index)
{
    const emission *e = c->s->e;
    const ir_op *op = e->phase->ops[index];
    const ir_value *v = op->outputs[0];
    const char *operands[16];
    for (int i = 0; i < op->input_count; i++) {
        const ir_value *x = op->inputs[i];
        operands[i] = is_inside(c, x, v) ? c->names[value_index_here(e, x)] : leaf_name(c, x, v);
    }
    const char *code = element_code(c->s, op, operands);
    if (rounded_here(e, v)) code = arena_printf(e->a, "op_cast<%s>(%s)", type_name(v->type), code);
    c->names[index] = new_local(&c->locals, v, NULL);
    write_spec_line(&c->body, op->at, "const float %s = %s;", c->names[index], code);
}

static bool same_lines(const writer *w, int from, const writer *body)
{
    for (int i = 0; i < body->count; i++)
        if (from + i >= w->count || strcmp(w->lines[from + i].code, body->lines[i].code) != 0) return false;
    return true;
}

/* The function's name; one that was written before serves again. */
static const char *write_function(chain *c, const ir_value *v)
{
    emission *e = c->s->e;
    writer whole = {.a = e->a}, *w = &e->functions;
    text parameters = {.a = e->a};
    for (int i = 0; i < c->leaf_count; i++) text_printf(&parameters, "%sfloat %s", i ? ", " : "", c->leaves[i].parameter);
    write_line(&whole, "(%s)", parameters.data ? parameters.data : "");
    write_line(&whole, "{");
    writer_splice(&whole, &c->body);
    write_line(&whole, "return %s;", c->names[value_index_here(e, v)]);
    write_line(&whole, "}");
    for (int i = 0; i < w->count; i++)
        if (strncmp(w->lines[i].code, "TF_CALLED", 9) == 0 && strcmp(strchr(w->lines[i].code, '('), whole.lines[0].code) == 0) {
            writer rest = {.lines = whole.lines + 1, .count = whole.count - 1};
            if (same_lines(w, i + 1, &rest)) return arena_strndup(e->a, w->lines[i].code + 23, strcspn(w->lines[i].code + 23, "("));
        }
    const char *name = arena_printf(e->a, "tf_chain%d_%s", ++e->functions_made, e->names->values[v->id]);
    whole.lines[0].code = arena_printf(e->a, "TF_CALLED static float %s%s", name, whole.lines[0].code);
    writer_splice(w, &whole);
    return name;
}

const char *evaluate_chain(scope *s, const ir_value *v, const place *at)
{
    emission *e = s->e;
    const size_t count = (size_t)e->phase->op_count;
    if (!e->is_long || !op_is_elementwise(v->def)) return NULL;
    chain c = {.s = s, .at = at, .body = {.a = e->a}, .locals = scope_new(e, NULL, "1")};
    c.inside = arena_alloc(e->a, count * sizeof *c.inside);
    find_inside(&c, v);
    if (c.cost < function_cost) return NULL;
    c.names = arena_alloc(e->a, count * sizeof *c.names);
    c.leaves = arena_alloc(e->a, 16 * (size_t)c.ops * sizeof *c.leaves);
    for (size_t i = 0; i < count; i++)
        if (c.inside[i]) write_op(&c, (int)i);
    const char *function = write_function(&c, v), *name = new_local(s, v, at->tag);
    text arguments = {.a = e->a};
    for (int i = 0; i < c.leaf_count; i++) text_printf(&arguments, "%s%s", i ? ", " : "", c.leaves[i].argument);
    write_spec_line(s->w, v->def->at, "vec<float, %s> %s = splat<%s>(0.0f);", s->lanes, name, s->lanes);
    write_line(s->w, "#pragma unroll");
    write_spec_line(s->w, v->def->at, "for (int i = 0; i < %s; i++) %s[i] = %s(%s);", s->lanes, name, function, arguments.data ? arguments.data : "");
    return name;
}
