/* In: `ops` of a spec. Out: the graph's ops with operands, attributes and results. Refuses: unknown ops, wrong numbers
 * of operands and outs, int data in arithmetic, states and caches where they cannot be. Shapes: ir/read/shape.c. Attributes:
 * ir/read/attributes.c. */
#include "ir/read/graph.h"
#include "ir/graph/build.h"
#include <string.h>

/* The items of a list; a single word counts as a list of one item, for which *single is the storage. */
static int items_of(const spec_node *node, spec_node *const **items, spec_node **single)
{
    *single = (spec_node *)node;
    *items = node->kind == spec_list ? node->items : single;
    return node->kind == spec_list ? node->count : 1;
}

static bool is_number(const spec_node *node)
{
    return node->kind == spec_scalar && !node->quoted && node->text[0] && strchr("0123456789+-.", node->text[0]);
}

static bool takes_number(op_kind kind)
{
    return op_table[kind].least_inputs >= 2 && op_table[kind].class == class_ELEMENT;
}

static ir_value *read_constant(op_draft *d, const spec_node *node)
{
    graph_reader *r = d->r;
    double number;
    if (!takes_number(d->op->kind)) {
        complain(r->a, node->at, "%s: takes values only; %.40s is a number", d->name, node->text);
        return NULL;
    }
    if (!graph_real(r, node, d->name, &number)) return NULL;
    ir_value *v =
        graph_new_value(r, arena_printf(r->a, "number.%d", r->p->value_count), value_constant, dtype_f32, node->at);
    v->constant = number;
    return v;
}

/* A cache is read by attention, as k or v; a state only through the kv_append that writes it. */
static bool may_be_operand(op_draft *d, const ir_value *v, int i, position at)
{
    graph_reader *r = d->r;
    if (v->kind == value_state)
        complain(r->a, at, "%s: %%%s is a state; write it by kv_append and use the out of that", d->name, v->name);
    else if (v->type == dtype_i32)
        complain(r->a, at, "%s: %%%s is i32; int data is for at:, lengths: and first: only", d->name, v->name);
    else if (v->root && !(d->op->kind == op_attention && (i == 1 || i == 2)))
        complain(r->a, at, "%s: %%%s is a cache, which only attention reads, as k or v", d->name, v->name);
    else
        return true;
    return false;
}

static void check_count(op_draft *d, const spec_node *node, int count)
{
    const op_info *info = &op_table[d->op->kind];
    if (count >= info->least_inputs && count <= info->most_inputs) return;
    const char *range = info->least_inputs == info->most_inputs
                            ? arena_printf(d->r->a, "%d", info->least_inputs)
                            : arena_printf(d->r->a, "%d to %d", info->least_inputs, info->most_inputs);
    complain(d->r->a, node->at, "%s: takes %s input%s, here %s %d (%s)", d->name, range,
             info->most_inputs == 1 ? "" : "s", count == 1 ? "is" : "are", count, info->help);
    d->broken = true;
}

static void read_inputs(op_draft *d)
{
    const spec_node *node = spec_find(d->node, "in");
    spec_node *const *items, *single;
    int constants = 0;
    if (!node) {
        complain(d->r->a, d->op->at, "%s: in: is missing, the list of its inputs", d->name);
        d->broken = d->r->lost = true;
        return;
    }
    if (node->kind == spec_map) {
        complain(d->r->a, node->at, "%s: in: must be a list of inputs, such as [x, w]", d->name);
        d->broken = d->r->lost = true;
        return;
    }
    int count = items_of(node, &items, &single);
    check_count(d, node, count);
    if (count > most_inputs) count = most_inputs;
    d->op->inputs = arena_alloc(d->r->a, most_inputs * sizeof *d->op->inputs);
    d->op->input_count = count;
    for (int i = 0; i < count; i++) {
        d->in_at[i] = items[i]->at;
        ir_value *v = is_number(items[i]) ? read_constant(d, items[i]) : graph_lookup(d->r, items[i], d);
        if (v && !may_be_operand(d, v, i, items[i]->at)) v = NULL;
        d->op->inputs[i] = v;
        d->broken |= v == NULL;
        constants += v && v->kind == value_constant;
    }
    if (constants == 0 || constants < count) return;
    complain(d->r->a, node->at, "%s: %s inputs are numbers; at least one must be a value", d->name, count == 2 ? "both" : "all");
    d->broken = true;
}

static void make_outputs(op_draft *d)
{
    const spec_node *node = spec_find(d->node, "out");
    spec_node *const *items, *single;
    if (!node) {
        complain(d->r->a, d->op->at, "%s: out: is missing, the name of its result", d->name);
        d->broken = d->r->names_lost = true;
        return;
    }
    int count = items_of(node, &items, &single), wanted = d->op->kind == op_split ? d->list_count : 1;
    if (wanted && count != wanted) {
        complain(d->r->a, node->at, "%s: makes %s, out: names %d", d->name, text_counted(d->r->a, wanted, "value"), count);
        d->broken = true;
    }
    if (count > most_outputs) count = most_outputs;
    d->op->outputs = arena_alloc(d->r->a, (size_t)(count + 1) * sizeof *d->op->outputs);
    d->op->output_count = count;
    for (int i = 0; i < count; i++) {
        bool good = graph_check_name(d->r, items[i], "a value");
        if (!good) d->broken = d->r->names_lost = true;
        ir_value *v = graph_new_value(d->r, good ? items[i]->text : "", value_result, d->r->p->type, items[i]->at);
        v->def = d->op;
        d->op->outputs[i] = v;
    }
}

/* Declares the outs by their names. A name "" stands for an invalid one, which was reported. */
static void declare_outputs(op_draft *d)
{
    for (int i = 0; i < d->op->output_count; i++) {
        ir_value *v = d->op->outputs[i];
        if (!v->name[0]) continue;
        graph_declare(d->r, v->name, v->at, d->broken ? NULL : v);
        named *n = names_find(&d->r->names, v->name);
        if (n && d->op->kind == op_kv_append) n->used = true; /* writing a state counts as use */
    }
}

/* `gelu` is nearer to gelu_erf and gelu_tanh than to relu. */
static void complain_unknown_op(graph_reader *r, position at, const char *name, const char *const *names, size_t n)
{
    const char *called = op_called(name);
    text longer = {.a = r->a};
    if (called) text_printf(&longer, "; did you mean %s", called);
    size_t length = strlen(name);
    for (size_t i = 0; !called && length >= 3 && i < n; i++)
        if (strncmp(names[i], name, length) == 0)
            text_printf(&longer, "%s%s", longer.size ? " or " : "; did you mean ", names[i]);
    const char *hint = longer.size ? arena_printf(r->a, "%s?", longer.data) : graph_hint(r, name, names, n);
    complain(r->a, at, "there is no op \"%.40s\"%s", name, hint[0] ? hint : "; `tfgen schema` lists them");
}

static const spec_node *find_kind(graph_reader *r, const spec_node *node, op_kind *kind)
{
    const char *names[op_count];
    size_t n = 0;
    const spec_node *word = spec_find(node, "op");
    for (int k = 0; k < op_count; k++)
        if (op_in_spec((op_kind)k)) names[n++] = op_table[k].name;
    if (!word) {
        complain(r->a, node->at, "op: is missing; an op is a map such as {out: h, op: rmsnorm, in: [x, w]}");
        return NULL;
    }
    if (word->kind != spec_scalar) {
        complain(r->a, word->at, "op: must be the name of one op");
        return NULL;
    }
    const char *name = word->text;
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) {
            *kind = (op_kind)i;
            return word;
        }
    complain_unknown_op(r, word->at, name, names, n);
    return NULL;
}

/* An op of unknown kind still uses its operands and declares its outs, so that it causes no further errors. */
static void read_unknown(graph_reader *r, const spec_node *node)
{
    const spec_node *in = spec_find(node, "in"), *out = spec_find(node, "out");
    spec_node *const *items, *single;
    r->lost = true;
    for (int i = 0, n = in ? items_of(in, &items, &single) : 0; i < n; i++)
        if (!is_number(items[i])) graph_lookup(r, items[i], NULL);
    for (int i = 0, n = out ? items_of(out, &items, &single) : 0; i < n; i++)
        if (graph_check_name(r, items[i], "a value")) graph_declare(r, items[i]->text, items[i]->at, NULL);
}

static void read_op(graph_reader *r, const spec_node *node)
{
    op_kind kind;
    if (node->kind != spec_map) {
        complain(r->a, node->at, "an op is a map such as {out: h, op: rmsnorm, in: [x, w]}");
        r->lost = r->names_lost = true;
        return;
    }
    if (!find_kind(r, node, &kind)) {
        read_unknown(r, node);
        return;
    }
    ir_op *op = arena_alloc(r->a, sizeof *op);
    *op = (ir_op){.kind = kind, .at = node->at, .origin = r->p->op_count};
    op_draft d = {.r = r, .node = node, .op = op, .name = op_table[kind].name};
    read_inputs(&d);
    attributes_read(&d);
    make_outputs(&d);
    if (!d.broken) shape_infer(&d);
    declare_outputs(&d);
    r->p->ops = build_grow(r->a, r->p->ops, r->p->op_count, sizeof *r->p->ops);
    r->p->ops[r->p->op_count++] = op;
}

/* Notes the outs of all ops, to distinguish a use before its definition from an unknown name. */
static void note_results(graph_reader *r, const spec_node *ops)
{
    for (int i = 0; i < ops->count; i++) {
        const spec_node *out = spec_find(ops->items[i], "out");
        spec_node *const *items, *single;
        for (int k = 0, n = out ? items_of(out, &items, &single) : 0; k < n; k++)
            if (items[k]->kind == spec_scalar) names_add(&r->made_later, items[k]->text, ops->items[i]);
    }
}

void graph_read_ops(graph_reader *r)
{
    const spec_node *ops = spec_find(r->root, "ops");
    if (!ops) return;
    if (ops->kind != spec_list || ops->count == 0) {
        complain(r->a, ops->at, "ops: must be a list of at least one op, such as - {out: h, op: rmsnorm, in: [x, w]}");
        r->lost = r->names_lost = true;
        return;
    }
    if (ops->count > most_ops) bail(r->a, code_bad_input, ops->at, "more than %d ops", most_ops);
    note_results(r, ops);
    for (int i = 0; i < ops->count; i++) read_op(r, ops->items[i]);
}
