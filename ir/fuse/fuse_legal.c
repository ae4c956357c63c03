/* In: two groups. Out: one group, or the reason why no phase can run their ops together. Refuses: cycles through a third group, and ops
 * that the templates of a family cannot run together. ir/check/check_phase.c states the same rules for fused graphs. */
#include "ir/fuse/fuse.h"
#include <stdlib.h>
#include <string.h>

/* Two groups, examined as if they were one phase. */
typedef struct group_union {
    fusing *f;
    int x, y;
    ir_phase phase;
} group_union;

bool op_is_product(const ir_op *op)
{
    return op_table[op->kind].class == class_PRODUCT;
}

bool group_reduces(const group *g)
{
    for (int i = 0; i < g->count; i++)
        if (op_table[g->ops[i]->kind].class == class_REDUCE) return true;
    return false;
}

static bool is_one(const extent *e)
{
    long long n;
    return extent_is_number(e, &n) && n == 1;
}

bool value_is_full(arena *a, const ir_value *v, const ir_value *like)
{
    extent x = value_rows(a, v), y = value_rows(a, like);
    return v->rank > 0 && extent_equal(&x, &y) && value_columns(v) == value_columns(like);
}

/* v is made by an op of the two groups. */
static bool inside(const group_union *t, const ir_value *v)
{
    int g = fuse_home(t->f, v);
    return g != no_group && (g == t->x || g == t->y);
}

/* v, or what it is a view of, is made by an op of the two groups. */
static bool shows_inside(const group_union *t, const ir_value *v)
{
    const ir_value *makers[most_makers];
    int n = value_makers(v, makers);
    for (int i = 0; i < n; i++)
        if (inside(t, makers[i])) return true;
    return false;
}

static bool used_outside(const group_union *t, const ir_value *v)
{
    const fusing *f = t->f;
    int i = f->order[v->id];
    for (int k = f->after.start[i]; k < f->after.start[i + 1]; k++)
        if (!inside(t, f->after.ops[k]->outputs[0])) return true;
    return value_root(v)->output != NULL;
}

static void begin_walk(fusing *f, group_walk *w, const edge_list *edges, int from, int stamp)
{
    w->edges = edges;
    w->met[0] = from;
    w->count = 1;
    w->at = w->op = w->edge = 0;
    f->stamp[from] = w->stamp = stamp;
}

static void begin_walks(fusing *f, int low, int high)
{
    if (f->group_count > f->stamp_room) {
        f->stamp_room = f->group_count * 2;
        f->stamp = arena_alloc(f->a, (size_t)f->stamp_room * sizeof *f->stamp);
        f->slots = arena_alloc(f->a, ((size_t)f->stamp_room + 2) * sizeof *f->slots);
        for (int i = 0; i < 2; i++) f->walks[i].met = arena_alloc(f->a, (size_t)f->stamp_room * sizeof *f->slots);
        f->stamp_now = 0;
    }
    begin_walk(f, &f->walks[0], &f->after, low, ++f->stamp_now);
    begin_walk(f, &f->walks[1], &f->before, high, ++f->stamp_now);
}

/* Follows one edge of the walk; false: there are no more. *next is the group at the edge's end, if it is to be visited: the walk has not
 * met it, and its rank lies between those of low and high. The start of the other walk counts, too, unless this edge leads to it directly
 * from the start of this walk. Otherwise *next is no_group. */
static bool walk_on(fusing *f, group_walk *w, int *next)
{
    const int low = f->walks[0].met[0], high = f->walks[1].met[0];
    for (*next = no_group; w->at < w->count; w->at++, w->op = 0)
        for (const group *g = &f->groups[w->met[w->at]]; w->op < g->count; w->op++, w->edge = 0) {
            const int i = f->order[g->ops[w->op]->outputs[0]->id], k = w->edges->start[i] + w->edge++;
            if (k == w->edges->start[i + 1]) continue;
            const int to = fuse_home(f, w->edges->ops[k]->outputs[0]);
            if (to < 0 || f->stamp[to] == w->stamp) return true;
            if (to == low || to == high ? w->at > 0 : f->rank[to] > f->rank[low] && f->rank[to] < f->rank[high]) *next = to;
            return true;
        }
    return false;
}

static void meet(fusing *f, group_walk *w, int g)
{
    if (g == no_group) return;
    f->stamp[g] = w->stamp;
    w->met[w->count++] = g;
}

/* True if a path of edges leads from group low through a third group to high, which has a higher rank. Two breadth-first walks, one forward
 * from low, one backward from high, follow an edge in turn until they meet or one of them ends. So a group with thousands of neighbours
 * costs little if the other has few. */
static bool reaches(fusing *f, int low, int high)
{
    begin_walks(f, low, high);
    for (int side = 0, next; walk_on(f, &f->walks[side], &next); side = !side) {
        if (next != no_group && f->stamp[next] == f->walks[!side].stamp) return true;
        meet(f, &f->walks[side], next);
    }
    return false;
}

static void finish_walks(fusing *f)
{
    for (int i = 0, next; i < 2; i++)
        while (walk_on(f, &f->walks[i], &next)) meet(f, &f->walks[i], next);
}

static int compare_numbers(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }

static void sort_by_rank(const fusing *f, int *groups, int count)
{
    for (int i = 0; i < count; i++) groups[i] = f->rank[groups[i]];
    qsort(groups, (size_t)count, sizeof *groups, compare_numbers);
    for (int i = 0; i < count; i++) groups[i] = f->sequence[groups[i]];
}

static void place(fusing *f, int slot, int g)
{
    f->sequence[slot] = g;
    if (g != no_group) f->rank[g] = slot;
}

/* Restores a valid order after a merge of low and high: the groups that high depends on come before the merged group, the groups that low
 * reaches after it, both in their old order. These groups exchange their ranks among each other; all others keep theirs. */
static void reorder(fusing *f, int merged)
{
    const group_walk *after = &f->walks[0], *before = &f->walks[1];
    int *slots = f->slots, count = 0, n = 0;
    for (int i = 0; i < after->count; i++) slots[count++] = f->rank[after->met[i]];
    for (int i = 0; i < before->count; i++) slots[count++] = f->rank[before->met[i]];
    qsort(slots, (size_t)count, sizeof *slots, compare_numbers);
    sort_by_rank(f, after->met + 1, after->count - 1);
    sort_by_rank(f, before->met + 1, before->count - 1);
    for (int i = 1; i < before->count; i++) place(f, slots[n++], before->met[i]);
    place(f, slots[n++], merged);
    place(f, slots[n++], no_group);
    for (int i = 1; i < after->count; i++) place(f, slots[n++], after->met[i]);
}

/* A value fits a phase of `rows` rows and `columns` columns if it has as many or one of each. A value that all rows share must not be
 * stored. */
static reason why_not_fit(const group_union *t, const ir_value *v, const extent *rows, long long columns)
{
    extent own = value_rows(t->f->a, v);
    if (!extent_equal(&own, rows) && !is_one(&own)) return reason_space;
    if (value_columns(v) != columns && value_columns(v) != 1) return reason_space;
    if (!extent_equal(&own, rows) && used_outside(t, v)) return reason_once_a_row;
    return reason_none;
}

/* An op reads a value that the phase makes from registers, at its own row and column, so only itself or through transparent views. The
 * exception is the rope of a rows phase, which computes its operand at both columns of a pair. Its operand may not follow another rope:
 * each rope in a chain would double the work. */
static reason why_not_read(const group_union *t, const ir_op *op)
{
    op_class class = op_table[op->kind].class;
    bool pairs = op->kind == op_rope && t->phase.family == family_rows;
    for (int k = 0; k < op->input_count; k++) {
        const ir_value *v = op->inputs[k];
        if (!shows_inside(t, v)) continue;
        if (class == class_MOVE || (pairs && value_follows_rope(t->f->a, &t->phase, v))) return reason_neighbours;
        if (!view_is_transparent(t->f->a, v)) return reason_space;
        const ir_value *maker[most_makers];
        value_makers(v, maker);
        op_class from = op_table[maker[0]->def->kind].class;
        if (from == class_APPEND || from == class_MOVE) return reason_elsewhere;
    }
    return reason_none;
}

static reason why_not_product(const group_union *t, const ir_op *op, const ir_op *first)
{
    if (shows_inside(t, op->inputs[1])) return reason_right_operand;
    if (shows_inside(t, op->inputs[0])) return reason_product_input;
    if (op == first) return reason_none;
    if (op->inputs[0] != first->inputs[0] || op->kind != op_linear || first->kind != op_linear) return reason_two_products;
    if (op->inputs[1]->kind != value_param || first->inputs[1]->kind != value_param) return reason_not_param;
    return op->inputs[1]->type == first->inputs[1]->type ? reason_none : reason_dtypes;
}

static reason why_not_row_sum(const group_union *t, const ir_op *op)
{
    ir_op *users[64];
    int n = fuse_users(t->f, op->outputs[0], users, 64);
    if (op->kind != op_row_sumsq || op->outputs[0]->type != dtype_f32) return reason_whole_row; /* partial sums are f32 */
    if (n > 64 || op->outputs[0]->output) return reason_sums_read;
    for (int i = 0; i < n; i++) {
        int g = fuse_home(t->f, users[i]->outputs[0]);
        if (inside(t, users[i]->outputs[0])) return reason_whole_row;
        bool scalar = op_is_elementwise(users[i]) && value_columns(users[i]->outputs[0]) == 1;
        if (!scalar || g < 0 || t->f->groups[g].family > family_gemm) return reason_sums_read;
    }
    return reason_none;
}

static reason why_not_epilogue_op(const group_union *t, const ir_op *op, const gemm_segment *s, const extent *rows)
{
    bool by_columns = op->kind == op_rope || op->kind == op_kv_append || op->kind == op_row_sumsq;
    const ir_value *v = op->kind == op_kv_append || op->kind == op_row_sumsq ? op->inputs[0] : op->outputs[0];
    op_class class = op_table[op->kind].class;
    if (class == class_REDUCE && why_not_row_sum(t, op)) return why_not_row_sum(t, op);
    if (!op_is_elementwise(op) && !by_columns) return class == class_MOVE ? reason_neighbours : reason_whole_row;
    if (by_columns && !s) return reason_space;
    if (op->kind == op_row_sumsq && value_columns(v) != s->columns) return reason_space;
    return why_not_fit(t, v, rows, s ? s->columns : 1);
}

static bool is_partial_rotary(const ir_op *op)
{
    return op->kind == op_rope && op->attributes.rotary != value_head_size(op->outputs[0], op->attributes.heads);
}

static reason why_not_gemm(const group_union *t)
{
    const ir_op *first = NULL;
    int sums = 0;
    segment_list list;
    for (int i = 0; i < t->phase.op_count; i++) {
        const ir_op *op = t->phase.ops[i];
        if (op_is_product(op) && !first) first = op;
        reason why = op_is_product(op) ? why_not_product(t, op, first) : why_not_read(t, op);
        if (why) return why;
        if (is_partial_rotary(op)) return reason_partial_rotary;
        sums += op->kind == op_row_sumsq;
    }
    if (sums > 1) return reason_two_sums;
    if (!gemm_segments(t->f->a, &t->phase, &list)) return reason_columns;
    extent rows = value_rows(t->f->a, first->outputs[0]);
    for (int i = 0; i < t->phase.op_count; i++) {
        const ir_op *op = t->phase.ops[i];
        if (op_is_product(op)) continue;
        reason why = why_not_epilogue_op(t, op, list.of_op[i] < 0 ? NULL : &list.items[list.of_op[i]], &rows);
        if (why) return why;
    }
    return reason_none;
}

/* A copy walks the columns of its operand, so each gets a phase of its own; but slices of one value share a phase. */
static reason why_not_copies(const group_union *t)
{
    const ir_op *copy = NULL;
    for (int i = 0; i < t->phase.op_count; i++)
        if (op_table[t->phase.ops[i]->kind].class == class_MOVE) copy = t->phase.ops[i];
    for (int i = 0; i < t->phase.op_count && copy; i++) {
        const ir_op *op = t->phase.ops[i];
        if (op == copy) continue;
        if (op->kind != op_slice || copy->kind != op_slice || op->inputs[0] != copy->inputs[0]) return reason_elsewhere;
    }
    return reason_none;
}

static reason why_not_rows(const group_union *t)
{
    phase_extent space = phase_space(t->f->a, &t->phase);
    if (why_not_copies(t)) return why_not_copies(t);
    for (int i = 0; i < t->phase.op_count; i++) {
        const ir_op *op = t->phase.ops[i];
        op_class class = op_table[op->kind].class;
        bool walks = class == class_REDUCE || op->kind == op_kv_append;
        extent rows = value_rows(t->f->a, op->inputs[0]);
        if (walks && (!extent_equal(&rows, &space.rows) || value_columns(op->inputs[0]) != space.columns)) return reason_space;
        reason why = why_not_read(t, op);
        if (!why && op->kind != op_slice && op->kind != op_kv_append)
            why = why_not_fit(t, op->outputs[0], &space.rows, space.columns);
        if (why) return why;
    }
    return reason_none;
}

static int columns_op(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (op_table[phase->ops[i]->kind].class == class_COLUMNS) return i;
    return phase->op_count;
}

static bool op_shows(const ir_op *op, const ir_value *v)
{
    for (int i = 0; i < op->input_count; i++)
        if (value_has_maker(op->inputs[i], v)) return true;
    return false;
}

/* before[i]: the reduction depends on op i: it makes the terms, or something that they are computed from. */
static void find_terms(const ir_phase *phase, int reduction, bool *before)
{
    for (int i = reduction; i >= 0; i--) {
        before[i] = false;
        for (int k = i + 1; k <= reduction; k++)
            if (k == reduction || before[k]) before[i] |= op_shows(phase->ops[k], phase->ops[i]->outputs[0]);
    }
}

/* A term is computed where it is added up and not stored, so nothing else can read it. */
static reason why_not_term(const group_union *t, int i, const bool *before, int reduction)
{
    const ir_value *v = t->phase.ops[i]->outputs[0];
    if (used_outside(t, v)) return reason_terms;
    for (int k = 0; k < t->phase.op_count; k++)
        if (k != reduction && (k > reduction || !before[k]) && op_shows(t->phase.ops[k], v)) return reason_terms;
    return reason_none;
}

/* A columns phase: one reduction, elementwise ops on the rows of its operand before it, and on the rows of its result after it. */
static reason why_not_columns(const group_union *t)
{
    const int reduction = columns_op(&t->phase);
    const ir_op *of = t->phase.ops[reduction];
    bool before[most_phase_ops];
    find_terms(&t->phase, reduction, before);
    for (int i = 0; i < t->phase.op_count; i++) {
        const ir_op *op = t->phase.ops[i];
        const bool term = i < reduction && before[i];
        reason why = why_not_read(t, op);
        if (why) return why;
        if (op == of) continue;
        if (!op_is_elementwise(op)) return reason_all_terms;
        if (!value_is_full(t->f->a, op->outputs[0], term ? of->inputs[0] : of->outputs[0])) return reason_space;
        why = term ? why_not_term(t, i, before, reduction) : reason_none;
        if (why) return why;
    }
    return reason_none;
}

static reason why_not_families(const group_union *t)
{
    phase_family x = t->f->groups[t->x].family, y = t->f->groups[t->y].family;
    if (y == family_columns) return x == family_rows ? reason_none : reason_all_terms;
    if (x == family_columns && y == family_rows) return reason_none;
    if (y == family_combine) return reason_splits_meet;
    if (y > family_gemm) return reason_all_keys;
    return x > family_gemm ? reason_attention_out : reason_none;
}

static void unite(group_union *t)
{
    const group *x = &t->f->groups[t->x], *y = &t->f->groups[t->y];
    const int *order = t->f->order;
    int i = 0, k = 0, n = 0;
    t->phase.ops = arena_alloc(t->f->a, (size_t)(x->count + y->count) * sizeof *t->phase.ops);
    while (i < x->count || k < y->count) {
        bool from_x = k == y->count || (i < x->count && order[x->ops[i]->outputs[0]->id] < order[y->ops[k]->outputs[0]->id]);
        t->phase.ops[n++] = from_x ? x->ops[i++] : y->ops[k++];
    }
    t->phase.op_count = n;
    t->phase.family = x->family > y->family ? x->family : y->family;
}

static reason try_union(fusing *f, group_union *t)
{
    unite(t);
    if (t->phase.op_count > most_phase_ops) return reason_full;
    reason why = why_not_families(t);
    const phase_family family = t->phase.family;
    if (!why) why = family == family_gemm ? why_not_gemm(t) : family == family_columns ? why_not_columns(t) : why_not_rows(t);
    if (why) return why;
    bool forward = f->rank[t->x] < f->rank[t->y];
    return reaches(f, forward ? t->x : t->y, forward ? t->y : t->x) ? reason_cycle : reason_none;
}

reason fuse_why_not(fusing *f, int x, int y)
{
    group_union t = {.f = f, .x = x, .y = y};
    return try_union(f, &t);
}

bool fuse_merge(fusing *f, int x, int y)
{
    group_union t = {.f = f, .x = x, .y = y};
    if (x == y || x < 0 || y < 0 || try_union(f, &t)) return false;
    finish_walks(f);
    for (int i = 0; i < f->groups[y].count; i++) fuse_set_home(f, f->groups[y].ops[i]->outputs[0], x);
    f->groups[x] = (group){.ops = t.phase.ops, .count = t.phase.op_count, .family = t.phase.family};
    f->groups[y] = (group){0};
    reorder(f, x);
    return true;
}
