/* In: products whose input is x * r * w, r a row scalar, w a weight per column. Out: r * product(x, weight folded with w), r computed in
 * the product's epilogue. Refuses: normalised values with other users, weights that are not params. */
#include "ir/fuse/fuse.h"
#include "ir/graph/format.h"
#include <string.h>

/* y = x * r * w, or * (1 + w) */
typedef struct folded {
    ir_value *y, *x, *r, *w;
    bool offset;
} folded;

static bool is_row_scalar(fusing *f, const ir_value *v, const ir_value *x)
{
    extent rows = value_rows(f->a, v), of_x = value_rows(f->a, x);
    return v->kind == value_result && v->rank == x->rank && value_columns(v) == 1 && extent_equal(&rows, &of_x);
}

/* v = x * r in either order. */
static bool match_scaled(fusing *f, const ir_value *v, folded *n)
{
    if (!v->def || v->def->kind != op_mul) return false;
    for (int k = 0; k < 2; k++) {
        n->x = v->def->inputs[k], n->r = v->def->inputs[!k];
        if (value_is_full(f->a, n->x, v) && n->x->kind != value_constant && is_row_scalar(f, n->r, v)) return true;
    }
    return false;
}

static bool match_weight(fusing *f, ir_value *w, const ir_value *y, folded *n)
{
    n->w = w;
    n->offset = false;
    if (w->def && w->def->kind == op_add && w->def->inputs[1]->kind == value_constant && w->def->inputs[1]->constant == 1) {
        n->w = w->def->inputs[0];
        n->offset = true;
    }
    return n->w->kind == value_param && n->w->rank == 1 && value_is_vector(f->a, n->w, value_columns(y));
}

static bool match_norm(fusing *f, ir_value *y, folded *n)
{
    n->y = y;
    if (!y->def || y->def->kind != op_mul) return false;
    for (int k = 0; k < 2; k++) {
        const ir_value *scaled = y->def->inputs[k];
        if (!value_is_full(f->a, scaled, y) || !match_weight(f, y->def->inputs[!k], y, n) || !match_scaled(f, scaled, n)) continue;
        return fuse_only_used_by(f, scaled, y->def);
    }
    return false;
}

static reason why_not_user(const fusing *f, const ir_op *op, const folded *n)
{
    if (op->kind != op_linear || op->inputs[0] != n->y || op->attributes.fold) return reason_other_users;
    if (op->inputs[1]->kind != value_param) return reason_not_param;
    if (!format_plain(op->inputs[1]->type)->folds) return reason_dtypes;
    return f->uses[op->inputs[1]->id] == 1 ? reason_none : reason_shared_weight;
}

static reason why_not_foldable(fusing *f, const folded *n)
{
    ir_op *users[most_phase_ops];
    int count = fuse_users(f, n->y, users, most_phase_ops);
    if (n->y->output || count > most_phase_ops) return reason_other_users;
    if (n->x->type != n->y->type) return reason_dtypes;
    for (int i = 0; i < count; i++) {
        reason why = why_not_user(f, users[i], n);
        if (why) return why;
    }
    return reason_none;
}

reason fuse_why_not_folded(fusing *f, const ir_value *y)
{
    folded n;
    if (!match_norm(f, (ir_value *)y, &n)) return reason_none;
    reason why;
    if (!fuse_may_run(f, fusion_index("rmsnorm"), &why)) return why;
    why = why_not_foldable(f, &n);
    return why ? why : reason_other_users;
}

/* Copies the ops that compute a row scalar from stored values into a phase that needs it: computing it again costs little. */
typedef struct cloning {
    fusing *f;
    int at; /* index in p->ops to insert before; increases with each insertion */
    int group;
    const ir_op *for_op;
    const ir_value *from[most_phase_ops];
    ir_value *to[most_phase_ops];
    int count;
} cloning;

static const char *suffix_of(const ir_value *v)
{
    const char *dot = strrchr(v->name, '.');
    return dot ? dot + 1 : v->name;
}

static ir_value *clone_scalar(cloning *c, ir_value *v)
{
    for (int i = 0; i < c->count; i++)
        if (c->from[i] == v) return c->to[i];
    bool scalar = v->def && op_is_elementwise(v->def) && value_columns(v) == 1 && !v->output;
    if (!scalar || c->count == most_phase_ops) return v;
    fusing *f = c->f;
    ir_value *inputs[2] = {NULL, NULL};
    for (int k = 0; k < v->def->input_count; k++) inputs[k] = clone_scalar(c, v->def->inputs[k]);
    if (c->count == most_phase_ops) return v;
    const char *name = arena_printf(f->a, "%s.%s", c->for_op->outputs[0]->name, suffix_of(v));
    ir_value *copy = build_value(&f->b, name, v->type, v);
    ir_op *op = build_op(&f->b, v->def->kind, v->def, copy, v->def->input_count, inputs[0], inputs[1]);
    op->attributes = v->def->attributes;
    fuse_insert(f, c->at++, op, c->group);
    c->from[c->count] = v, c->to[c->count++] = copy;
    return copy;
}

/* The index of op, which makes `out`, in p->ops. It is f->order or higher, as ops were only inserted since the last refresh. */
static int index_of(const fusing *f, const ir_op *op, const ir_value *out)
{
    int i = f->order[out->id];
    while (f->p->ops[i] != op) i++;
    return i;
}

/* "l = linear y, W" becomes "l.raw = linear x, W fold=w" and "l = mul l.raw, r". */
static void fold_into(fusing *f, ir_op *linear, const folded *n, ir_value *r, int group)
{
    ir_value *out = linear->outputs[0];
    ir_value *raw = build_value(&f->b, arena_printf(f->a, "%s.raw", out->name), dtype_f32, out);
    raw->at = out->at;
    linear->inputs[0] = n->x;
    linear->attributes.fold = n->w;
    linear->attributes.fold_offset = n->offset;
    linear->outputs[0] = raw;
    raw->def = linear;
    fuse_set_home(f, raw, group);
    ir_op *scale = build_op(&f->b, op_mul, n->y->def, out, 2, raw, r);
    fuse_insert(f, index_of(f, linear, out) + 1, scale, group);
}

static void fold(fusing *f, const folded *n)
{
    ir_op *users[most_phase_ops];
    int count = fuse_users(f, n->y, users, most_phase_ops), done_count = 0;
    struct {
        int group;
        ir_value *r;
    } done[most_phase_ops];
    for (int i = 0; i < count; i++) {
        int g = fuse_home(f, users[i]->outputs[0]), k = 0;
        while (k < done_count && done[k].group != g) k++;
        if (k == done_count) {
            cloning *c = arena_alloc(f->a, sizeof *c);
            c->f = f, c->at = index_of(f, users[i], users[i]->outputs[0]), c->group = g, c->for_op = users[i];
            done[done_count].group = g;
            done[done_count++].r = clone_scalar(c, n->r);
        }
        fold_into(f, users[i], n, done[k].r, g);
    }
}

bool fuse_rmsnorm(fusing *f)
{
    bool changed = false;
    for (int i = 0; i < f->p->op_count; i++) {
        folded n;
        ir_op *op = f->p->ops[i];
        if (op->kind != op_mul || !match_norm(f, op->outputs[0], &n) || why_not_foldable(f, &n)) continue;
        if (!fuse_users(f, n.y, NULL, 0)) continue;
        fold(f, &n);
        changed = true;
    }
    if (changed) fuse_refresh(f); /* once is enough: a fold changes nothing that the match of a later norm reads */
    return changed;
}

static ir_value *replaced(void *pair, ir_value *v)
{
    return v == ((ir_value **)pair)[0] ? ((ir_value **)pair)[1] : v;
}

static void use_sum(fusing *f, const ir_op *y, ir_value *x, bool *changed)
{
    ir_value *pair[2] = {y->outputs[0], x};
    int i = f->order[y->outputs[0]->id];
    for (int k = f->users.start[i]; k < f->users.start[i + 1]; k++) {
        *changed |= op_reads(f->users.ops[k], pair[0]);
        op_map_operands(f->users.ops[k], replaced, pair);
    }
}

/* Norms of the same rows with different weights share one sum of squares. */
static bool share_sums(fusing *f)
{
    bool changed = false;
    const ir_graph *p = f->p;
    int *first = arena_alloc(f->a, ((size_t)p->value_count + 1) * sizeof *first); /* by operand: 1 + index of its first row_sumsq */
    for (int k = 0; k < p->op_count; k++) {
        const ir_op *y = p->ops[k];
        if (y->kind != op_row_sumsq) continue;
        int *of = &first[y->inputs[0]->id];
        const ir_op *x = *of ? p->ops[*of - 1] : NULL;
        if (!x) *of = k + 1;
        bool same = x && y->outputs[0]->type == x->outputs[0]->type;
        if (same && !y->outputs[0]->output && f->groups[fuse_home(f, y->outputs[0])].count == 1) use_sum(f, y, x->outputs[0], &changed);
    }
    if (changed) fuse_refresh(f);
    return changed;
}

bool fuse_statistics(fusing *f)
{
    bool shared = share_sums(f);
    return fuse_sums(f) || shared;
}

/* Only permits products to accumulate row sums: whether one can depends on its program, so planning decides (gen/plan/sums.c). */
bool fuse_input_sums(fusing *f)
{
    f->p->input_sums = true;
    return false;
}
