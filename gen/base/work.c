/* Contract: gen/base/work.h. A value passed between phases of one kernel counts as written but not as read, because it may stay in L1 or
 * L2. A view counts the bytes that it shows, and all views of a value together count at most the value's bytes. A norm's weight that is
 * folded into a packed weight does not count: only packing reads it. */
#include "gen/base/work.h"
#include "ir/graph/segments.h"
#include <string.h>

enum { most_operands = 32 };

typedef struct counter {
    const ir_graph *ir;
    const plan *plan; /* NULL: not planned yet, so that numbers of partial sums are unknown */
    ir_phase *const *phases;
    int phase_count;
    integer_source *integers;
    void *context;
    work sum;
} counter;

static double bytes_of(const counter *c, const ir_value *v)
{
    return (double)value_count(v, &c->ir->dims) * dtype_size(v->type);
}

/* Bytes that v takes in memory, including all its partial sums if it has several. */
static double stored_bytes(const counter *c, const ir_value *v)
{
    for (int i = 0; c->plan && i < c->plan->stored_count; i++)
        if (c->plan->stored[i].value == v) return (double)storage_bytes(&c->plan->stored[i], &c->ir->dims);
    return bytes_of(c, v);
}

/* True if the launch computes v or, if v is a view, the value that it shows. */
static bool made_here(const counter *c, const ir_value *v)
{
    while (v->def && op_is_view(v->def)) v = v->def->inputs[v->def->input_count - 1];
    for (int p = 0; p < c->phase_count; p++)
        if (phase_has(c->phases[p], v->def)) return true;
    return false;
}

static void add_reading(counter *c, const ir_value *v, double bytes)
{
    const ir_value *root = value_root(v);
    double known = 0;
    for (int i = 0; i < c->sum.tensor_count; i++) {
        const tensor_work *t = &c->sum.tensors[i];
        if (t->value == v && t->read > 0) return;
        if (value_root(t->value) == root) known += t->read;
    }
    const double most = stored_bytes(c, root) - known;
    if (bytes > most) bytes = most;
    if (bytes <= 0) return; /* other views of this value have counted all its bytes */
    c->sum.tensors[c->sum.tensor_count++] = (tensor_work){v, bytes, 0};
    c->sum.read += bytes;
}

static void add_writing(counter *c, const ir_value *v, double bytes)
{
    c->sum.tensors[c->sum.tensor_count++] = (tensor_work){v, 0, bytes};
    c->sum.written += bytes;
}

static bool attends(const ir_op *op) { return op->kind == op_attention || op->kind == op_attention_partial; }

/* The bytes of rows that the launch itself appends to the cache v. */
static double appended_bytes(const counter *c, const ir_value *v)
{
    return made_here(c, v) && v->def->kind == op_kv_append ? bytes_of(c, v->def->inputs[0]) : 0;
}

/* Counts the bytes of keys and values, but only of those that some query sees and that the launch has not made. Of a cache to which it
 * appends rows, it reads the older rows. */
static void count_keys(counter *c, const ir_op *op)
{
    const ir_attributes *t = &op->attributes;
    const double keys = attention_seen(op, &c->ir->dims, c->integers, c->context).keys;
    for (int i = 1; i < 3; i++) {
        const ir_value *v = op->inputs[i];
        const double seen = keys * (double)t->kv_heads * (double)value_head_size(v, t->kv_heads) * dtype_size(v->type);
        const double own = appended_bytes(c, v);
        if (own > 0 || !made_here(c, v)) add_reading(c, v, seen - own);
    }
}

static void count_reads(counter *c, const ir_op *op)
{
    ir_value *operands[most_operands];
    const int n = op_operands(op, operands, most_operands);
    for (int i = 0; i < n; i++) {
        const ir_value *v = operands[i];
        if (v->kind == value_constant || v == op->attributes.fold || made_here(c, v)) continue;
        if (op->kind == op_kv_append && v == op->attributes.state) continue; /* written, not read */
        if (attends(op) && (v == op->inputs[1] || v == op->inputs[2])) continue;
        add_reading(c, v, v->kind == value_result && value_root(v) == v ? stored_bytes(c, v) : bytes_of(c, v));
    }
    if (attends(op)) count_keys(c, op);
}

static void count_writes(counter *c, const ir_phase *phase, const ir_op *op)
{
    for (int i = 0; i < op->output_count; i++) {
        const ir_value *v = op->outputs[i];
        if (op->kind == op_kv_append)
            add_writing(c, v, bytes_of(c, op->inputs[0]));
        else if (value_stored(c->ir, phase, v))
            add_writing(c, v, value_root(v) == v ? stored_bytes(c, v) : bytes_of(c, v));
    }
}

static void count_op(counter *c, const ir_phase *phase, const ir_op *op)
{
    if (op_is_view(op)) return;
    const operations n = op_operations(op, &c->ir->dims, c->integers, c->context);
    c->sum.products += n.products, c->sum.others += n.others;
    count_reads(c, op);
    count_writes(c, phase, op);
}

static work count_all(arena *a, counter *c)
{
    int ops = 0;
    for (int i = 0; i < c->phase_count; i++) ops += c->phases[i]->op_count;
    c->sum.tensors = arena_alloc(a, ((size_t)ops * (most_operands + 1) + 1) * sizeof *c->sum.tensors);
    for (int i = 0; i < c->phase_count; i++)
        for (int k = 0; k < c->phases[i]->op_count; k++) count_op(c, c->phases[i], c->phases[i]->ops[k]);
    return c->sum;
}

work launch_work(arena *a, const plan *p, const launch *l, integer_source *integers, void *context)
{
    counter c = {.ir = p->ir, .plan = p, .phases = l->kernel->phases, .phase_count = l->kernel->phase_count,
                 .integers = integers, .context = context};
    return count_all(a, &c);
}

work phase_work(arena *a, const ir_graph *p, const ir_phase *phase)
{
    ir_phase *const phases[] = {(ir_phase *)phase};
    counter c = {.ir = p, .phases = phases, .phase_count = 1};
    return count_all(a, &c);
}

double work_read(const work *w, const ir_value *v)
{
    double bytes = 0;
    for (int i = 0; i < w->tensor_count; i++)
        if (w->tensors[i].value == v) bytes += w->tensors[i].read;
    return bytes;
}

work work_add(const work *x, const work *y)
{
    return (work){.products = x->products + y->products,
                  .others = x->others + y->others,
                  .read = x->read + y->read,
                  .written = x->written + y->written};
}
