/* In: sums with two linears of different inputs among their terms, as at the end of a parallel block: x + a*Wo + p*Wd. Out: one linear. Its
 * input is the concat of both inputs (a view), and its weight is the first weight continued along K by the second. Refuses: weights that
 * others use or that are not params; inputs that cannot be written into a larger row or whose rows are no multiple of 16 bytes; inputs that
 * are norms (their weight is folded instead). */
#include "ir/fuse/fuse.h"
#include <string.h>

enum { most_terms = 8, aligned_bytes = 16 };

/* root = terms[0] + terms[1] + ...; adders[i]: the add that has terms[i] as an operand. */
typedef struct sum {
    ir_op *root, *x, *y; /* root: the last add; x, y: the two linears */
    ir_value *terms[most_terms];
    ir_op *adders[most_terms];
    int count, adds;
} sum;

/* Enters the terms of `add`, and of adds that make its operands, in s. False: there are too many. */
static bool collect(const fusing *f, sum *s, ir_op *add)
{
    if (++s->adds > most_terms) return false;
    for (int k = 0; k < 2; k++) {
        ir_value *v = add->inputs[k];
        const bool inner = v->def && v->def->kind == op_add && !v->output && fuse_only_used_by(f, v, add) &&
                           value_is_full(f->a, v, s->root->outputs[0]);
        if (inner ? !collect(f, s, v->def) : s->count == most_terms) return false;
        if (inner) continue;
        s->adders[s->count] = add;
        s->terms[s->count++] = v;
    }
    return true;
}

static bool is_lone_linear(const fusing *f, const sum *s, int term)
{
    const ir_value *v = s->terms[term];
    const ir_op *op = v->def;
    if (!op || op->kind != op_linear || op->attributes.fold || op->attributes.continued || v->output) return false;
    const ir_value *w = op->inputs[1];
    return fuse_only_used_by(f, v, s->adders[term]) && value_is_full(f->a, v, s->root->outputs[0]) && w->kind == value_param &&
           f->uses[w->id] == 1;
}

/* The attention whose result [B, S, H, hd] is read only by this linear, through a reshape to [B, S, H*hd]. The attention can have a result
 * of that shape itself. NULL: none. */
static ir_op *attention_behind(const fusing *f, const ir_op *linear)
{
    const ir_value *v = linear->inputs[0];
    const ir_op *view = v->def && v->def->kind == op_reshape && op_is_view(v->def) ? v->def : NULL;
    ir_value *from = view ? view->inputs[0] : NULL;
    if (!from || !from->def || from->def->kind != op_attention || from->rank != 4 || v->rank != 3 || v->root != from) return NULL;
    const bool merges = extent_equal(&from->shape[0], &v->shape[0]) && extent_equal(&from->shape[1], &v->shape[1]);
    return merges && !from->output && fuse_only_used_by(f, from, view) && fuse_only_used_by(f, v, linear) ? from->def : NULL;
}

/* The linear's input can be stored as part of a longer row. */
static bool may_move(fusing *f, const ir_op *linear)
{
    const ir_value *v = linear->inputs[0];
    if (v->kind != value_result || v->output || value_columns(v) * dtype_size(v->type) % aligned_bytes) return false;
    if (attention_behind(f, linear)) return true;
    return !v->root && !op_is_view(v->def) && !f->is_root[v->id] && !fuse_why_not_folded(f, v);
}

static bool may_join(fusing *f, const ir_op *x, const ir_op *y)
{
    const ir_value *a = x->inputs[0], *b = y->inputs[0];
    if (a == b || a->type != b->type || !value_same_leading(a, b, 1)) return false;
    if (x->inputs[1]->type != y->inputs[1]->type || x->attributes.layout != y->attributes.layout) return false;
    return may_move(f, x) && may_move(f, y);
}

static bool match(fusing *f, ir_op *root, sum *s)
{
    *s = (sum){.root = root};
    if (root->kind != op_add || root->outputs[0]->type == dtype_i32 || !collect(f, s, root)) return false;
    for (int i = 0; i < s->count; i++)
        for (int k = i + 1; k < s->count; k++) {
            if (!is_lone_linear(f, s, i) || !is_lone_linear(f, s, k)) continue;
            s->x = s->terms[i]->def, s->y = s->terms[k]->def;
            if (may_join(f, s->x, s->y)) return true;
        }
    return false;
}

/* Makes the attention write the reshaped value v. Its former result becomes a reshape of v that nothing reads. */
static void write_reshaped(fusing *f, ir_op *attention, ir_value *v)
{
    ir_op *reshape = v->def;
    ir_value *before = attention->outputs[0];
    fuse_set_home(f, v, fuse_home(f, before));
    fuse_set_home(f, before, no_group);
    attention->outputs[0] = reshape->inputs[0] = v;
    reshape->outputs[0] = before;
    v->def = attention, before->def = reshape;
}

static void place(fusing *f, const ir_op *linear, ir_value *row, long long offset)
{
    ir_value *v = linear->inputs[0], *before = NULL;
    ir_op *attention = attention_behind(f, linear);
    if (attention) before = attention->outputs[0], write_reshaped(f, attention, v);
    v->root = row, v->root_offset = offset, v->root_stride = value_columns(row);
    if (before) before->root = row, before->root_offset = offset, before->root_stride = v->root_stride;
}

typedef struct joining {
    fusing *f;
    const sum *s;
    int at; /* index in p->ops before which to insert; increases with each insertion */
    const char *name;
} joining;

static ir_value *new_value(joining *j, const char *suffix, dtype type, const ir_value *like)
{
    ir_value *v = build_value(&j->f->b, arena_printf(j->f->a, "%s.%s", j->name, suffix), type, like);
    v->at = j->s->root->outputs[0]->at;
    return v;
}

/* The concat of both inputs, a view: their phases store them in its rows. */
static ir_value *join_inputs(joining *j)
{
    fusing *f = j->f;
    ir_value *x = j->s->x->inputs[0], *y = j->s->y->inputs[0], *both = new_value(j, "in", x->type, x);
    both->shape[both->rank - 1] = extent_number(value_columns(x) + value_columns(y));
    place(f, j->s->x, both, 0);
    place(f, j->s->y, both, value_columns(x));
    fuse_insert(f, j->at++, build_op(&f->b, op_concat, j->s->x, both, 2, x, y), no_group);
    return both;
}

static ir_attributes joined_attributes(const sum *s)
{
    ir_attributes t = s->x->attributes;
    t.continued = s->y->inputs[1];
    return t;
}

/* The sum has no other terms, so the op of the last add becomes the product. */
static void become_product(joining *j, ir_value *both)
{
    ir_op *root = j->s->root;
    root->kind = op_linear, root->at = j->s->x->at, root->origin = j->s->x->origin;
    root->inputs[0] = both, root->inputs[1] = j->s->x->inputs[1];
    root->attributes = joined_attributes(j->s);
}

/* The product, then an add for each other term: vectors (biases) first, then full values, the last by the root. */
static void add_terms(joining *j, ir_value *both)
{
    fusing *f = j->f;
    const sum *s = j->s;
    ir_value *acc = new_value(j, "l", dtype_f32, s->root->outputs[0]);
    ir_op *product = build_op(&f->b, op_linear, s->x, acc, 2, both, s->x->inputs[1]);
    product->attributes = joined_attributes(s);
    fuse_insert(f, j->at++, product, fuse_new_group(f));
    int left = s->count - 2;
    for (int whole = 0; whole < 2; whole++)
        for (int i = 0; i < s->count; i++) {
            ir_value *v = s->terms[i];
            if (v->def == s->x || v->def == s->y || value_is_full(f->a, v, s->root->outputs[0]) != whole) continue;
            ir_value *first = whole ? v : acc, *second = whole ? acc : v;
            if (!--left) {
                s->root->inputs[0] = first, s->root->inputs[1] = second;
                return;
            }
            ir_value *next = new_value(j, "s", dtype_f32, acc);
            fuse_insert(f, j->at++, build_op(&f->b, op_add, s->adders[i], next, 2, first, second), fuse_new_group(f));
            acc = next;
        }
}

/* False: since match() one of the inputs has become part of another row. */
static bool join(fusing *f, const sum *s)
{
    if (!may_move(f, s->x) || !may_move(f, s->y)) return false;
    const ir_value *x = s->x->outputs[0], *y = s->y->outputs[0];
    const int of_x = (int)strcspn(x->name, "."), of_y = (int)strcspn(y->name, ".");
    joining j = {f, s, f->order[s->root->outputs[0]->id], arena_printf(f->a, "%.*s_%.*s", of_x, x->name, of_y, y->name)};
    ir_value *both = join_inputs(&j);
    if (s->count == 2) become_product(&j, both);
    else add_terms(&j, both);
    return true;
}

bool fuse_product_sum(fusing *f)
{
    const int count = f->p->op_count;
    sum *found = arena_alloc(f->a, sizeof *found);
    bool changed = false;
    fuse_find_roots(f);
    for (int i = count - 1; i >= 0; i--) { /* backward: insertions only move ops that were visited already */
        if (!match(f, f->p->ops[i], found)) continue;
        changed |= join(f, found);
    }
    if (!changed) return false;
    fuse_refresh(f);
    fuse_schedule(f);
    return true;
}
