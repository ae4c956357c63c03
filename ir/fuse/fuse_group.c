/* In: a graph, and the group of each op. Out: which ops depend on which, and an order in which the groups can run. */
#include "ir/fuse/fuse.h"
#include <string.h>

static void *room_for(fusing *f, void *items, int *room, int wanted, size_t size)
{
    if (wanted <= *room) return items;
    int more = *room ? *room : 256;
    while (more < wanted) more *= 2;
    void *copy = arena_alloc(f->a, (size_t)more * size);
    if (*room) memcpy(copy, items, (size_t)*room * size);
    *room = more;
    return copy;
}

void fuse_set_home(fusing *f, const ir_value *v, int group)
{
    int before = f->room, same = f->room;
    f->home = room_for(f, f->home, &f->room, v->id + 1, sizeof *f->home);
    f->order = room_for(f, f->order, &same, v->id + 1, sizeof *f->order);
    for (int i = before; i < f->room; i++) f->home[i] = f->order[i] = no_group;
    f->home[v->id] = group;
}

int fuse_source(const fusing *f, const ir_value *v)
{
    const ir_value *makers[most_makers];
    return value_makers(v, makers) == 1 ? fuse_home(f, makers[0]) : no_group;
}

int fuse_new_group(fusing *f)
{
    f->groups = build_grow(f->a, f->groups, f->group_count, sizeof *f->groups);
    f->groups[f->group_count] = (group){0};
    return f->group_count++;
}

bool op_reads(const ir_op *op, const ir_value *v)
{
    ir_value *used[24];
    int n = op_operands(op, used, 24);
    for (int i = 0; i < n; i++)
        if (used[i] == v) return true;
    return false;
}

static phase_family family_of(const group *g)
{
    for (int i = 0; i < g->count; i++)
        switch (g->ops[i]->kind) {
        case op_linear: case op_matmul: return family_gemm;
        case op_attention: case op_attention_partial: return family_attention;
        case op_attention_combine: return family_combine;
        case op_column_sum: case op_column_max: case op_column_min: return family_columns;
        default: break;
        }
    return family_rows;
}

/* NULL: op is a view, which belongs to no group. */
static group *group_making(const fusing *f, const ir_op *op)
{
    const int g = fuse_home(f, op->outputs[0]);
    return g == no_group ? NULL : &f->groups[g];
}

static void list_ops(fusing *f)
{
    ir_graph *p = f->p;
    f->lists = room_for(f, f->lists, &f->lists_room, p->op_count, sizeof *f->lists);
    for (int g = 0; g < f->group_count; g++) f->groups[g].count = 0;
    for (int i = 0; i < p->op_count; i++) {
        group *g = group_making(f, p->ops[i]);
        f->order[p->ops[i]->outputs[0]->id] = i;
        if (g) g->count++;
    }
    for (int g = 0, at = 0; g < f->group_count; g++) {
        f->groups[g].ops = f->lists + at;
        at += f->groups[g].count;
        f->groups[g].count = 0;
    }
    for (int i = 0; i < p->op_count; i++) {
        group *g = group_making(f, p->ops[i]);
        if (g) g->ops[g->count++] = p->ops[i];
    }
    for (int g = 0; g < f->group_count; g++) f->groups[g].family = family_of(&f->groups[g]);
}

/* Edges lead from an earlier op to one that depends on it, and are found in the order of the later ops. Ops with code depend on the makers
 * of their operands, also through views, and on conflicting accesses of states: kv_append writes its state in place, so it runs after every
 * access since the last append, and later accesses run after it. (A spec reads a state only through its one append; IR text may read it
 * before.) */
typedef struct state_use {
    const ir_op *op;
    struct state_use *before;
} state_use;

struct state_uses {
    const ir_op *last; /* last append; NULL: none so far */
    state_use *uses;   /* accesses since then, latest first */
};

typedef struct edges {
    fusing *f;
    bool through; /* true: edges between ops with code, also through views; false: from each op's direct operands, views included */
    int count;
    state_uses *states; /* by value id */
} edges;

static void add_edge(edges *e, const ir_op *from, ir_op *to)
{
    fusing *f = e->f;
    if (e->count == f->found_room) f->found = room_for(f, f->found, &f->found_room, e->count + 1, sizeof *f->found);
    f->found[e->count++] = (found_edge){f->order[from->outputs[0]->id], to};
}

static const ir_value *state_of(const ir_value *v)
{
    const ir_value *root = value_root(v);
    return root->kind == value_state ? root : NULL;
}

static void add_hazards(edges *e, ir_op *op, const ir_value *state)
{
    state_uses *s = &e->states[state->id];
    if (s->last && s->last != op) add_edge(e, s->last, op);
    if (op->kind == op_kv_append && state_of(op->attributes.state) == state) {
        for (const state_use *u = s->uses; u; u = u->before)
            if (u->op != op) add_edge(e, u->op, op);
        *s = (state_uses){.last = op};
    } else if (s->last != op) {
        state_use *u = arena_alloc(e->f->a, sizeof *u);
        *u = (state_use){op, s->uses};
        s->uses = u;
    }
}

static void add_operand(edges *e, ir_op *op, const ir_value *v)
{
    const ir_value *makers[most_makers];
    if (!e->through) {
        e->f->uses[v->id]++;
        if (v->def) add_edge(e, v->def, op);
        return;
    }
    int n = value_makers(v, makers);
    for (int i = 0; i < n; i++) add_edge(e, makers[i]->def, op);
    if (state_of(v)) add_hazards(e, op, state_of(v));
}

static void add_edges(edges *e)
{
    const ir_graph *p = e->f->p;
    if (e->through) memset(e->states, 0, (size_t)p->value_count * sizeof *e->states);
    for (int i = 0; i < p->op_count; i++) {
        ir_value *used[24];
        int n = e->through && op_is_view(p->ops[i]) ? 0 : op_operands(p->ops[i], used, 24);
        for (int k = 0; k < n; k++) add_operand(e, p->ops[i], used[k]);
    }
}

/* Lists the edges by the earlier op, in CSR form: counts them first, then fills them in. */
static void list_edges(fusing *f, edge_list *list, bool through)
{
    const int n = f->p->op_count;
    edges e = {.f = f, .through = through, .states = f->states};
    add_edges(&e);
    list->start = room_for(f, list->start, &list->start_room, n + 2, sizeof *list->start);
    list->ops = room_for(f, list->ops, &list->room, e.count, sizeof *list->ops);
    memset(list->start, 0, ((size_t)n + 2) * sizeof *list->start);
    for (int k = 0; k < e.count; k++) list->start[f->found[k].from + 2]++;
    for (int i = 2; i <= n + 1; i++) list->start[i] += list->start[i - 1];
    for (int k = 0; k < e.count; k++) list->ops[list->start[f->found[k].from + 1]++] = f->found[k].to;
}

/* The same edges by the op that comes later. */
static void reverse_edges(fusing *f)
{
    const edge_list *from = &f->after;
    edge_list *to = &f->before;
    const int n = f->p->op_count, count = from->start[n];
    to->start = room_for(f, to->start, &to->start_room, n + 2, sizeof *to->start);
    to->ops = room_for(f, to->ops, &to->room, count, sizeof *to->ops);
    memset(to->start, 0, ((size_t)n + 2) * sizeof *to->start);
    for (int k = 0; k < count; k++) to->start[f->order[from->ops[k]->outputs[0]->id] + 2]++;
    for (int i = 2; i <= n + 1; i++) to->start[i] += to->start[i - 1];
    for (int i = 0; i < n; i++)
        for (int k = from->start[i]; k < from->start[i + 1]; k++)
            to->ops[to->start[f->order[from->ops[k]->outputs[0]->id] + 1]++] = f->p->ops[i];
}

void fuse_refresh(fusing *f)
{
    int same = f->uses_room;
    list_ops(f);
    f->uses = room_for(f, f->uses, &f->uses_room, f->p->value_count, sizeof *f->uses);
    f->states = room_for(f, f->states, &same, f->p->value_count, sizeof *f->states);
    memset(f->uses, 0, (size_t)f->p->value_count * sizeof *f->uses);
    list_edges(f, &f->users, false);
    list_edges(f, &f->after, true);
    reverse_edges(f);
}

int fuse_users(const fusing *f, const ir_value *v, ir_op **users, int most)
{
    int n = 0, i = f->order[v->id];
    const ir_op *last = NULL;
    for (int k = f->users.start[i]; k < f->users.start[i + 1]; k++) {
        ir_op *op = f->users.ops[k];
        if (op == last) continue;
        last = op;
        if (n < most) users[n] = op;
        n++;
    }
    return n;
}

bool fuse_only_used_by(const fusing *f, const ir_value *v, const ir_op *user)
{
    ir_op *one[1];
    return !v->output && fuse_users(f, v, one, 1) == 1 && one[0] == user;
}

void fuse_insert(fusing *f, int index, ir_op *op, int group)
{
    ir_graph *p = f->p;
    p->ops = build_grow(f->a, p->ops, p->op_count, sizeof *p->ops);
    memmove(p->ops + index + 1, p->ops + index, (size_t)(p->op_count - index) * sizeof *p->ops);
    p->ops[index] = op;
    p->op_count++;
    op->outputs[0]->def = op;
    fuse_set_home(f, op->outputs[0], group);
}

/* Topological sort of the groups; among groups that are ready, the one whose first op comes first in the graph is taken. */
typedef struct schedule {
    fusing *f;
    int *waits; /* by group: edges from groups not yet in the order */
    int *ready, ready_count; /* a binary heap: the parent of i is (i - 1) / 2 and comes first */
} schedule;

static int first_op(const fusing *f, int g)
{
    return f->order[f->groups[g].ops[0]->outputs[0]->id];
}

static void swap(int *x, int *y)
{
    int other = *x;
    *x = *y, *y = other;
}

static void add_ready(schedule *s, int g)
{
    int i = s->ready_count++;
    s->ready[i] = g;
    for (; i > 0 && first_op(s->f, s->ready[i]) < first_op(s->f, s->ready[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&s->ready[i], &s->ready[(i - 1) / 2]);
}

static int take_ready(schedule *s)
{
    int taken = s->ready[0];
    s->ready[0] = s->ready[--s->ready_count];
    for (int i = 0, child; (child = 2 * i + 1) < s->ready_count; i = child) {
        if (child + 1 < s->ready_count && first_op(s->f, s->ready[child + 1]) < first_op(s->f, s->ready[child])) child++;
        if (first_op(s->f, s->ready[i]) < first_op(s->f, s->ready[child])) break;
        swap(&s->ready[i], &s->ready[child]);
    }
    return taken;
}

/* Adds `change` to the counts of all groups with an edge from g; a count that falls to 0 makes its group ready. */
static void each_edge(schedule *s, int g, int change)
{
    const fusing *f = s->f;
    for (int i = 0; i < f->groups[g].count; i++) {
        int at = f->order[f->groups[g].ops[i]->outputs[0]->id];
        for (int k = f->after.start[at]; k < f->after.start[at + 1]; k++) {
            int next = fuse_home(f, f->after.ops[k]->outputs[0]);
            if (next < 0 || next == g) continue;
            s->waits[next] += change;
            if (change < 0 && s->waits[next] == 0) add_ready(s, next);
        }
    }
}

void fuse_schedule(fusing *f)
{
    int waits_room = f->waits_room, ready_room = f->waits_room, sequence_room = f->waits_room;
    f->rank = room_for(f, f->rank, &f->waits_room, f->group_count + 1, sizeof *f->rank);
    f->waits = room_for(f, f->waits, &waits_room, f->group_count + 1, sizeof *f->waits);
    f->ready = room_for(f, f->ready, &ready_room, f->group_count + 1, sizeof *f->ready);
    f->sequence = room_for(f, f->sequence, &sequence_room, f->group_count + 1, sizeof *f->sequence);
    memset(f->waits, 0, (size_t)f->group_count * sizeof *f->waits);
    schedule s = {.f = f, .waits = f->waits, .ready = f->ready};
    int live = 0;
    f->sequence_count = 0;
    for (int g = 0; g < f->group_count; g++) each_edge(&s, g, 1);
    for (int g = 0; g < f->group_count; g++) {
        if (!f->groups[g].count) continue;
        live++;
        if (!s.waits[g]) add_ready(&s, g);
    }
    while (s.ready_count > 0) {
        int g = take_ready(&s);
        f->rank[g] = f->sequence_count;
        f->sequence[f->sequence_count++] = g;
        each_edge(&s, g, -1);
    }
    if (f->sequence_count != live) bail(f->a, code_check_failed, (position){0, 0}, "internal: fusion made a cycle of phases");
    if (f->has_beside) fuse_place_beside(f);
}
