/* In: a graph, as a pass made it or as read from text. Out: returns if every rule holds. Refuses: the first broken rule, by name and op:
 * after a pass as our own bug (exit code 1, "internal: after PASS: RULE: ..."), in text as bad input. */
#include "ir/check/check.h"
#include "ir/base/names.h"
#include "ir/graph/segments.h"
#include <string.h>

static void check_distinct(const checker *c, const char **names, int count, const char *what)
{
    name_map seen = {.a = c->a};
    for (int i = 0; i < count; i++)
        if (!names_add(&seen, names[i], &seen)) rule_broken(c, (position){0, 0}, "two %s named %s", what, names[i]);
}

static void check_names(const checker *c)
{
    const ir_graph *p = c->p;
    int room = p->value_count + p->op_count + p->kernel_count, n = 0;
    const char **names = arena_alloc(c->a, ((size_t)room + 1) * sizeof *names);
    for (int i = 0; i < p->value_count; i++) names[n++] = p->values[i]->name;
    check_distinct(c, names, n, "values");
    n = 0;
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i]->output) names[n++] = p->values[i]->output;
    check_distinct(c, names, n, "outputs");
    for (n = 0; n < p->kernel_count; n++) names[n] = p->kernels[n]->name;
    check_distinct(c, names, n, "kernels");
    n = 0;
    for (int k = 0; k < p->kernel_count; k++)
        for (int i = 0; i < p->kernels[k]->phase_count && n < room; i++) names[n++] = p->kernels[k]->phases[i]->name;
    check_distinct(c, names, n, "phases");
}

static void check_ids(const checker *c)
{
    for (int i = 0; i < c->p->value_count; i++) {
        const ir_value *v = c->p->values[i];
        if (v->id != i) rule_broken(c, v->at, "%%%s has id %d at index %d", v->name, v->id, i);
        if (v->root && (v->root->id < 0 || v->root->id >= c->p->value_count || c->p->values[v->root->id] != v->root))
            rule_broken(c, v->at, "%%%s is stored in a value of another graph", v->name);
        if (v->root && v->root->root) rule_broken(c, v->at, "%%%s lives in %%%s, which is a view itself", v->name, v->root->name);
        if ((v->kind == value_result) != (v->def != NULL)) rule_broken(c, v->at, "%%%s: only results are made by an op", v->name);
    }
}

static bool knows(const checker *c, const ir_value *v)
{
    return v->id >= 0 && v->id < c->p->value_count && c->p->values[v->id] == v;
}

static void check_order(const checker *c)
{
    for (int i = 0; i < c->p->op_count; i++) {
        const ir_op *op = c->p->ops[i];
        ir_value *used[24];
        int n = op_operands(op, used, 24);
        for (int k = 0; k < n; k++) {
            if (!knows(c, used[k])) rule_broken(c, op->at, "%%%s uses a value of another graph", op->outputs[0]->name);
            if (used[k]->kind == value_result && c->order_of_value[used[k]->id] < 0)
                rule_broken(c, op->at, "%%%s is used before it is made", used[k]->name);
        }
        for (int k = 0; k < op->output_count; k++) {
            ir_value *v = op->outputs[k];
            if (!knows(c, v) || v->def != op) rule_broken(c, op->at, "%%%s does not know the op that makes it", v->name);
            if (c->order_of_value[v->id] >= 0) rule_broken(c, op->at, "%%%s is made twice", v->name);
            c->order_of_value[v->id] = i;
        }
    }
    for (int i = 0; i < c->p->value_count; i++)
        if (c->p->values[i]->kind == value_result && c->order_of_value[i] < 0)
            rule_broken(c, c->p->values[i]->at, "%%%s is computed by no op of this graph", c->p->values[i]->name);
}

/* graph.ops must be the ops of all phases, in the order of kernels and phases. So each op is in exactly one phase, and the order of kernels
 * is one in which they can run. */
static void check_one_phase(const checker *c)
{
    const ir_graph *p = c->p;
    int n = 0;
    for (int k = 0; k < p->kernel_count; k++) {
        if (!p->kernels[k]->phase_count) rule_broken(c, (position){0, 0}, "kernel %s has no phase", p->kernels[k]->name);
        for (int i = 0; i < p->kernels[k]->phase_count; i++) {
            ir_phase *phase = p->kernels[k]->phases[i];
            if (!phase->op_count) rule_broken(c, (position){0, 0}, "phase %s has no op", phase->name);
            for (int j = 0; j < phase->op_count; j++, n++) {
                ir_op *op = phase->ops[j];
                if (n >= p->op_count || p->ops[n] != op)
                    rule_broken(c, op->at, "%%%s is out of order in phase %s", op->outputs[0]->name, phase->name);
                for (int o = 0; o < op->output_count; o++) c->phase_of_value[op->outputs[o]->id] = phase;
            }
        }
    }
    if (p->kernel_count && n != p->op_count) rule_broken(c, p->ops[n]->at, "%%%s is in no phase", p->ops[n]->outputs[0]->name);
}

static void check_lowered(const checker *c)
{
    for (int i = 0; i < c->p->op_count && c->p->kernel_count; i++) {
        const ir_op *op = c->p->ops[i];
        if (op_table[op->kind].class == class_COMPOSITE || op->kind == op_split || op->output_count != 1 ||
            (op->kind == op_linear && op->input_count == 3))
            rule_broken(c, op->at, "%s is for graphs; a kernel holds what lowering makes of it", op_table[op->kind].name);
    }
}

static void check_roles(const checker *c)
{
    for (int i = 0; i < c->p->op_count && !c->p->kernel_count; i++)
        if (c->p->ops[i]->role != role_none) rule_broken(c, c->p->ops[i]->at, "an op has a role outside a phase");
    for (int i = 0; i < c->p->op_count && c->p->kernel_count; i++) {
        const ir_op *op = c->p->ops[i], *last = i ? c->p->ops[i - 1] : NULL;
        bool same = last && c->phase_of_value[last->outputs[0]->id] == c->phase_of_value[op->outputs[0]->id];
        if (op->role == role_none) rule_broken(c, op->at, "%%%s has no role", op->outputs[0]->name);
        if (same && op->role < last->role) rule_broken(c, op->at, "roles are out of order at %%%s", op->outputs[0]->name);
    }
}

static bool comes_after(const ir_phase *phase, const ir_phase *earlier)
{
    for (int i = 0; i < phase->after_count; i++)
        if (phase->after[i] == earlier) return true;
    return phase == earlier;
}

static int phase_order(const checker *c, const ir_phase *phase)
{
    return phase->op_count ? c->order_of_value[phase->ops[0]->outputs[0]->id] : -1;
}

/* A view's reader runs after the phases that produce its data. */
static void check_comes_after(const checker *c, const ir_op *op, const ir_phase *phase, const ir_value *v)
{
    const ir_value *makers[most_makers];
    int n = value_makers(v, makers);
    for (int i = 0; i < n; i++) {
        const ir_phase *from = c->phase_of_value[makers[i]->id];
        if (!comes_after(phase, from))
            rule_broken(c, op->at, "phase %s reads %%%s but does not come after %s", phase->name, v->name, from->name);
    }
}

static void check_stands_with_maker(const checker *c, const ir_op *op, const ir_phase *phase)
{
    const ir_value *v = op->outputs[0], *makers[most_makers], *last = NULL;
    int n = value_makers(v, makers);
    for (int i = 0; i < n; i++)
        if (!last || c->order_of_value[makers[i]->id] > c->order_of_value[last->id]) last = makers[i];
    if (last && c->phase_of_value[last->id] != phase)
        rule_broken(c, op->at, "the view %%%s is not in phase %s, which computes it", v->name, c->phase_of_value[last->id]->name);
}

static void check_after(const checker *c)
{
    for (int i = 0; i < c->p->op_count && c->p->kernel_count; i++) {
        const ir_op *op = c->p->ops[i];
        const ir_phase *phase = c->phase_of_value[op->outputs[0]->id];
        ir_value *used[24];
        int n = op_is_view(op) ? 0 : op_operands(op, used, 24);
        for (int k = 0; k < n; k++) check_comes_after(c, op, phase, used[k]);
        if (op_is_view(op)) check_stands_with_maker(c, op, phase);
        for (int k = 0; k < phase->after_count; k++)
            if (phase_order(c, phase->after[k]) >= phase_order(c, phase))
                rule_broken(c, op->at, "phase %s runs before %s, which it comes after", phase->name, phase->after[k]->name);
    }
}

static const ir_value *state_of(const ir_value *v)
{
    const ir_value *root = value_root(v);
    return root->kind == value_state ? root : NULL;
}

/* The one kv_append of each state, by value id. Its result is the state after the write, which a second append would change. */
static const ir_op **check_writers(const checker *c)
{
    const ir_op **writer = arena_alloc(c->a, ((size_t)c->p->value_count + 1) * sizeof *writer);
    for (int i = 0; i < c->p->op_count; i++) {
        const ir_op *op = c->p->ops[i];
        if (op->kind != op_kv_append) continue;
        const ir_op **first = &writer[op->attributes.state->id];
        if (*first) rule_broken(c, op->at, "%%%s is written by %%%s already", op->attributes.state->name, (*first)->outputs[0]->name);
        *first = op;
    }
    return writer;
}

static void check_waits(const checker *c, const ir_op *op, const ir_op *writer, const ir_value *state)
{
    const bool before = c->order_of_value[op->outputs[0]->id] < c->order_of_value[writer->outputs[0]->id];
    const ir_op *first = before ? op : writer, *second = before ? writer : op;
    const ir_phase *x = c->phase_of_value[first->outputs[0]->id], *y = c->phase_of_value[second->outputs[0]->id];
    if (!comes_after(y, x))
        rule_broken(c, second->at, "phase %s uses %%%s while %s may write it, or the reverse", y->name, state->name, x->name);
}

/* kv_append writes its state in place, so phases that access the state before it must have ended, and those that access it later wait. */
static void check_states(const checker *c)
{
    const ir_graph *p = c->p;
    const ir_op **writer = check_writers(c);
    for (int i = 0; i < p->op_count && p->kernel_count; i++) {
        ir_value *used[24];
        int n = op_operands(p->ops[i], used, 24);
        for (int k = 0; k < n; k++) {
            const ir_value *state = state_of(used[k]);
            const ir_op *writes = state ? writer[state->id] : NULL;
            if (writes && writes != p->ops[i]) check_waits(c, p->ops[i], writes, state);
        }
    }
}

/* The operands of a concat that is a view are produced by ops with code. */
static void check_joined(const checker *c, const ir_op *op)
{
    for (int i = 0; i < op->input_count && op->kind == op_concat && op_is_view(op); i++)
        if (!op->inputs[i]->def || op_is_view(op->inputs[i]->def))
            rule_broken(c, op->at, "the view %%%s joins views", op->outputs[0]->name);
}

static void check_view(const checker *c, const ir_value *v)
{
    const ir_value *root = v->root;
    long long columns = value_columns(v);
    const bool callers = v->kind == value_input || v->output, may = callers || v->kind == value_result;
    if (!root && v->root_stride && (!may || v->root_stride < columns || (callers && v->root_stride * dtype_size(v->type) % 16)))
        rule_broken(c, v->at, "%%%s cannot lie in rows of %lld elements", v->name, v->root_stride);
    if (v->step && !callers) rule_broken(c, v->at, "%%%s is no input or output, so that a call does not give its stride", v->name);
    if (!root) return;
    if (root->kind == value_constant || v->kind != value_result || root == v)
        rule_broken(c, v->at, "%%%s cannot live in %%%s", v->name, root->name);
    if (root->type != v->type) rule_broken(c, v->at, "%%%s and its storage %%%s differ in dtype", v->name, root->name);
    if (v->def->kind == op_kv_append) return;
    if (v->root_offset < 0 || v->root_stride < columns || v->root_offset > v->root_stride - columns)
        rule_broken(c, v->at, "%%%s does not fit its rows of %lld elements", v->name, v->root_stride);
    if (!root->root && root->root_stride && v->root_stride != root->root_stride)
        rule_broken(c, v->at, "%%%s has rows of %lld elements in %%%s, whose rows have %lld", v->name, v->root_stride, root->name,
                    root->root_stride);
    extent rows = value_rows(c->a, v);
    extent used = extent_multiply(c->a, v->at, rows, extent_number(v->root_stride));
    extent there = extent_multiply(c->a, v->at, value_rows(c->a, root), extent_number(value_stride(root)));
    if (!extent_equal(&used, &there))
        rule_broken(c, v->at, "%%%s reaches beyond its storage %%%s", v->name, root->name);
    if (!op_is_view(v->def) && !value_has_maker(root, v))
        rule_broken(c, v->at, "%%%s is computed into the storage of %%%s, where it does not lie", v->name, root->name);
}

static void check_views(const checker *c)
{
    for (int i = 0; i < c->p->op_count; i++) check_joined(c, c->p->ops[i]);
    for (int i = 0; i < c->p->value_count; i++) check_view(c, c->p->values[i]);
    for (int i = 0; i < c->p->op_count && c->p->kernel_count; i++) {
        const ir_op *op = c->p->ops[i];
        if (op->kind == op_kv_append && op->outputs[0]->root != op->attributes.state)
            rule_broken(c, op->at, "%%%s must live in its state", op->outputs[0]->name);
    }
}

/* Every output has memory of its own: an op with code writes it, and it owns its storage. */
static void check_outputs(const checker *c)
{
    for (int i = 0; i < c->p->value_count && c->p->kernel_count; i++) {
        const ir_value *v = c->p->values[i];
        if (!v->output) continue;
        if (v->kind != value_result) rule_broken(c, v->at, "output %%%s is made by no op", v->name);
        if (v->root) rule_broken(c, v->at, "output %%%s has no storage of its own", v->name);
    }
}

/* They run in this order: later rules rely on earlier ones. */
#define RULES(RULE) \
    RULE("distinct-names", check_names) RULE("ids", check_ids) RULE("made-before-used", check_order) \
    RULE("attributes", check_attributes) RULE("shapes", check_shapes) RULE("one-phase", check_one_phase) \
    RULE("lowered", check_lowered) RULE("roles", check_roles) RULE("views", check_views) RULE("after", check_after) \
    RULE("states", check_states) RULE("outputs", check_outputs) RULE("family", check_family) RULE("space", check_space) \
    RULE("segments", check_segments) RULE("memory", check_memory) RULE("partial-sums", check_partial_sums) \
    RULE("fold", check_fold)
#define RULE_NAME(name, check) name,
#define RULE_CHECK(name, check) check,
static const char *const rule_names[] = {RULES(RULE_NAME)};
static void (*const rule_checks[])(const checker *) = {RULES(RULE_CHECK)};

const char *const *check_rule_names(size_t *count)
{
    *count = sizeof rule_names / sizeof *rule_names;
    return rule_names;
}

static void run_rules(arena *a, const ir_graph *p, const char *pass)
{
    ir_graph indexed = *p;
    checker c = {.a = a, .p = &indexed, .pass = pass};
    indexed.index = NULL;
    size_t n = (size_t)p->value_count + 1;
    c.phase_of_value = arena_alloc(a, n * sizeof *c.phase_of_value);
    c.order_of_value = arena_alloc(a, n * sizeof *c.order_of_value);
    for (size_t i = 0; i < n; i++) c.order_of_value[i] = -1;
    for (size_t i = 0; i < sizeof rule_names / sizeof *rule_names; i++) {
        c.rule = rule_names[i];
        rule_checks[i](&c);
        if (rule_checks[i] == check_one_phase && p->kernel_count) indexed.index = graph_index_make(a, &indexed);
    }
}

void ir_check(arena *a, const ir_graph *p, const char *after_pass)
{
    run_rules(a, p, after_pass);
}

void ir_check_read(arena *a, const ir_graph *p)
{
    run_rules(a, p, NULL);
}
