/* In: a launch of a plan. Out: its operations and bytes (launch_work.h). Refuses nothing. A value that phases of one kernel hand to each
 * other is written but not read: it may stay in a cache. Views count as what they show, never more than what they are views of. */
#include "runtime/cli/launch_work.h"
#include "ir/program/segments.h"
#include <string.h>

typedef struct reading {
    const ir_value *value, *root;
    double bytes;
} reading;

typedef struct counter {
    const plan *plan;
    const ir_kernel *kernel;
    work_integers *integers;
    void *context;
    reading *list;
    int count;
    work sum;
} counter;

static double bytes_of(const counter *c, const ir_value *v)
{
    return (double)value_count(v, &c->plan->program->dims) * dtype_size(v->type);
}

static double count_of(const counter *c, const ir_value *v) { return (double)value_count(v, &c->plan->program->dims); }

/* What a launch of another kernel stored may be more than the value says: partial sums. */
static double stored_bytes(const counter *c, const ir_value *v)
{
    for (int i = 0; i < c->plan->stored_count; i++)
        if (c->plan->stored[i].value == v) return (double)storage_bytes(&c->plan->stored[i], &c->plan->program->dims);
    return bytes_of(c, v);
}

/* A view has no code: what it shows was made where its operand was. */
static bool made_here(const counter *c, const ir_value *v)
{
    while (v->def && op_is_view(v->def)) v = v->def->inputs[v->def->input_count - 1];
    for (int p = 0; v->def && p < c->kernel->phase_count; p++)
        for (int i = 0; i < c->kernel->phases[p]->op_count; i++)
            if (c->kernel->phases[p]->ops[i] == v->def) return true;
    return false;
}

static void add_reading(counter *c, const ir_value *v, double bytes)
{
    const ir_value *root = value_root(v);
    double known = 0;
    for (int i = 0; i < c->count; i++) {
        if (c->list[i].value == v) return;
        if (c->list[i].root == root) known += c->list[i].bytes;
    }
    const double most = stored_bytes(c, root) - known;
    if (bytes > most) bytes = most > 0 ? most : 0;
    c->list[c->count++] = (reading){v, root, bytes};
    c->sum.read += bytes;
}

/* ---- attention */
typedef struct keys_seen {
    double pairs, keys; /* query-key pairs, and distinct keys, of one head of the whole batch */
} keys_seen;

typedef struct span_rule {
    long long S, first, filled, window;
    bool causal;
} span_rule;

static void span_of(const span_rule *r, long long s, long long *low, long long *high)
{
    const long long position = r->first + s;
    *low = 0, *high = r->filled;
    if (r->causal && position + 1 < *high) *high = position + 1;
    if (r->window > 0 && position + 1 - r->window > *low) *low = position + 1 - r->window;
    if (*high < *low) *high = *low;
}

static void see_sequence(const span_rule *r, keys_seen *seen)
{
    long long low, high, first, last;
    for (long long s = 0; s < r->S; s++) {
        span_of(r, s, &low, &high);
        seen->pairs += (double)(high - low);
    }
    span_of(r, 0, &first, &high);
    span_of(r, r->S - 1, &low, &last);
    if (last > first) seen->keys += (double)(last - first);
}

static long long integer_at(const counter *c, const ir_value *v, long long b, long long otherwise)
{
    const int *data = v && c->integers ? c->integers(c->context, v->name) : NULL;
    return data ? data[b] : otherwise;
}

static keys_seen count_keys(const counter *c, const ir_op *op)
{
    const dim_table *dims = &c->plan->program->dims;
    const ir_value *q = op->inputs[0], *k = op->inputs[1];
    const ir_attributes *t = &op->attributes;
    const long long B = extent_value(&q->shape[0], dims), S = extent_value(&q->shape[1], dims);
    const long long T = extent_value(value_tokens(k), dims);
    keys_seen seen = {0, 0};
    for (long long b = 0; b < B; b++) {
        span_rule r = {.S = S, .first = T - S, .filled = T, .window = t->window, .causal = t->causal};
        if (t->at) r.first = integer_at(c, t->at, b, T - S);
        if (t->at && r.first + S < r.filled) r.filled = r.first + S;
        if (t->lengths) r.filled = integer_at(c, t->lengths, b, T) < r.filled ? integer_at(c, t->lengths, b, T) : r.filled;
        see_sequence(&r, &seen);
    }
    return seen;
}

static void count_attention(counter *c, const ir_op *op)
{
    const keys_seen seen = count_keys(c, op);
    const ir_attributes *t = &op->attributes;
    const ir_value *q = op->inputs[0];
    const double width = (double)value_head_size(q, t->heads);
    c->sum.products += 4 * width * (double)t->heads * seen.pairs;
    for (int i = 1; i < 3; i++)
        if (!made_here(c, op->inputs[i]))
            add_reading(c, op->inputs[i], seen.keys * (double)t->kv_heads * width * dtype_size(op->inputs[i]->type));
}

/* ---- ops */
static void count_arithmetic(counter *c, const ir_op *op)
{
    const ir_value *x = op->inputs[0], *y = op->outputs[0];
    switch (op_table[op->kind].class) {
    case class_PRODUCT: c->sum.products += 2 * count_of(c, y) * (double)value_columns(x); break;
    case class_ATTENTION:
        if (op->kind == op_attention_combine) c->sum.others += count_of(c, x);
        break;
    case class_REDUCE: c->sum.others += count_of(c, x); break;
    case class_MOVE:
    case class_APPEND: break;
    case class_ROPE: c->sum.others += 3 * count_of(c, y); break; /* two products and a sum an element */
    default: c->sum.others += count_of(c, y);
    }
}

static void count_reads(counter *c, const ir_op *op)
{
    ir_value *operands[32];
    const int n = op_operands(op, operands, 32);
    const bool attends = op->kind == op_attention || op->kind == op_attention_partial;
    for (int i = 0; i < n; i++) {
        const ir_value *v = operands[i];
        if (v->kind == value_constant || made_here(c, v)) continue;
        if (op->kind == op_kv_append && v == op->attributes.state) continue; /* written, not read */
        if (attends && (v == op->inputs[1] || v == op->inputs[2])) continue; /* only the keys that are seen */
        add_reading(c, v, v->kind == value_result && value_root(v) == v ? stored_bytes(c, v) : bytes_of(c, v));
    }
    if (attends) count_attention(c, op);
}

static void count_writes(counter *c, const ir_phase *phase, const ir_op *op)
{
    for (int i = 0; i < op->output_count && !op_is_view(op); i++) {
        const ir_value *v = op->outputs[i];
        if (op->kind == op_kv_append) c->sum.written += bytes_of(c, op->inputs[0]);
        else if (value_stored(c->plan->program, phase, v)) c->sum.written += value_root(v) == v ? stored_bytes(c, v) : bytes_of(c, v);
    }
}

work launch_work(arena *a, const plan *p, const launch *l, work_integers *integers, void *context)
{
    counter c = {.plan = p, .kernel = l->kernel, .integers = integers, .context = context};
    int ops = 0;
    for (int i = 0; i < l->kernel->phase_count; i++) ops += l->kernel->phases[i]->op_count;
    c.list = arena_alloc(a, ((size_t)ops * 32 + 1) * sizeof *c.list);
    for (int i = 0; i < l->kernel->phase_count; i++)
        for (int k = 0; k < l->kernel->phases[i]->op_count; k++) {
            const ir_op *op = l->kernel->phases[i]->ops[k];
            if (op_is_view(op)) continue;
            count_arithmetic(&c, op);
            count_reads(&c, op);
            count_writes(&c, l->kernel->phases[i], op);
        }
    return c.sum;
}
