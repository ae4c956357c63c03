/* In: ops in groups. Out: phases. fuse_settle() removes dead ops, brings phases and ops into executable order and sets roles. fuse_finish()
 * names the phases, adds their dependencies and kernels of one phase each, and runs the verifier, which names the last pass if it finds
 * fault. Values get new ids, so groups are refreshed. */
#include "ir/fuse/fuse.h"
#include <string.h>

/* Removing dead ops gives values new ids, by which f->home is indexed, so the homes are kept by op meanwhile. */
static void remove_dead(fusing *f)
{
    ir_graph *p = f->p;
    int before = p->op_count;
    int *home = arena_alloc(f->a, ((size_t)before + 1) * sizeof *home);
    ir_op **ops = arena_alloc(f->a, ((size_t)before + 1) * sizeof *ops);
    for (int i = 0; i < before; i++) ops[i] = p->ops[i], home[i] = fuse_home(f, p->ops[i]->outputs[0]);
    if (!remove_dead_ops(f->a, p)) return;
    memset(f->home, -1, (size_t)f->room * sizeof *f->home);
    for (int i = 0, k = 0; i < p->op_count; i++, k++) {
        while (ops[k] != p->ops[i]) k++;
        fuse_set_home(f, p->ops[i]->outputs[0], home[k]);
    }
    fuse_refresh(f);
}

/* Chooses the phase in whose text each view is printed: that of its last maker, or, for a view of the caller's data, the first phase that
 * reads it. Any phase would do that puts the view after its operands and before its readers. */
static void place_views(fusing *f)
{
    f->printed_in = arena_alloc(f->a, ((size_t)f->p->value_count + 1) * sizeof *f->printed_in);
    f->place = arena_alloc(f->a, ((size_t)f->p->value_count + 1) * sizeof *f->place);
    for (int i = 0; i < f->p->value_count; i++) f->printed_in[i] = fuse_home(f, f->p->values[i]);
    for (int i = f->p->op_count - 1; i >= 0; i--) { /* backward, so that readers which are views are placed before */
        const ir_value *v = f->p->ops[i]->outputs[0], *makers[most_makers];
        if (f->printed_in[v->id] != no_group) continue;
        int place = no_group, n = value_makers(v, makers);
        for (int k = 0; k < n; k++) {
            int g = fuse_home(f, makers[k]);
            if (place < 0 || f->rank[g] > f->rank[place]) place = g;
        }
        for (int k = f->users.start[i]; k < f->users.start[i + 1] && n == 0; k++) {
            int g = f->printed_in[f->users.ops[k]->outputs[0]->id];
            if (place < 0 || f->rank[g] < f->rank[place]) place = g;
        }
        if (place < 0) bail(f->a, code_check_failed, v->at, "internal: nobody reads the view %%%s", v->name);
        f->printed_in[v->id] = place;
    }
}

/* The groups by rank, each with its views and with its ops in executable order. */
static group *place_ops(fusing *f)
{
    int count = f->sequence_count, at = 0;
    group *placed = arena_alloc(f->a, ((size_t)count + 1) * sizeof *placed);
    ir_op **ops = arena_alloc(f->a, ((size_t)f->p->op_count + 1) * sizeof *ops);
    for (int i = 0; i < f->p->op_count; i++) placed[f->rank[f->printed_in[f->p->ops[i]->outputs[0]->id]]].count++;
    for (int i = 0; i < count; i++) {
        placed[i].family = f->groups[f->sequence[i]].family;
        placed[i].ops = ops + at;
        at += placed[i].count;
        placed[i].count = 0;
    }
    for (int i = 0; i < f->p->op_count; i++) {
        group *g = &placed[f->rank[f->printed_in[f->p->ops[i]->outputs[0]->id]]];
        g->ops[g->count++] = f->p->ops[i];
    }
    return placed;
}

/* What determines the role of an op: how it depends on the others of its group. */
typedef struct dependence {
    bool on_core, for_core; /* core: products, attention, or reductions */
    bool read;              /* an op of the group reads it */
} dependence;

static bool is_core(const group *g, const ir_op *op)
{
    op_class class = op_table[op->kind].class;
    if (g->family == family_rows) return class == class_REDUCE;
    if (g->family == family_columns) return class == class_COLUMNS;
    return class == class_PRODUCT || class == class_ATTENTION;
}

/* One step of a dataflow analysis. Forward: op i depends on the core if one of its operands does. Backward: the core needs an operand of op
 * i if it needs op i. A step visits only the op's operands, since a hostile spec may put any number of views into a group. */
static void depend(const fusing *f, const group *g, dependence *d, int i, bool forward)
{
    ir_value *used[24];
    const int n = op_operands(g->ops[i], used, 24);
    for (int k = 0; k < n; k++) {
        const int from = used[k]->def ? f->place[used[k]->id] : g->count;
        if (from >= g->count || g->ops[from] != used[k]->def) continue;
        if (forward) d[i].on_core |= d[from].on_core;
        else d[from].for_core |= d[i].for_core;
        d[from].read = true;
    }
}

static dependence *find_dependences(fusing *f, const group *g)
{
    dependence *d = arena_alloc(f->a, (size_t)g->count * sizeof *d);
    for (int i = 0; i < g->count; i++) {
        d[i].on_core = d[i].for_core = is_core(g, g->ops[i]);
        f->place[g->ops[i]->outputs[0]->id] = i;
    }
    for (int i = 0; i < g->count; i++) depend(f, g, d, i, true);
    for (int i = g->count - 1; i >= 0; i--) depend(f, g, d, i, false);
    return d;
}

/* Views of values from outside the phase come first (prologue); concats, and views that only other phases read, come last (epilogue). */
static op_role role_of_view(const fusing *f, const ir_op *op, bool read, op_role otherwise)
{
    const ir_value *x = op->inputs[0];
    bool here = x->def && f->printed_in[x->id] == f->printed_in[op->outputs[0]->id];
    if (op->kind == op_concat) return role_epilogue;
    if (!here) return role_prologue;
    if (!read) return role_epilogue;
    return op_is_view(x->def) && x->def->role > otherwise ? x->def->role : otherwise;
}

static void set_roles(fusing *f, const group *g)
{
    dependence *d = find_dependences(f, g);
    bool any_core = false;
    for (int i = 0; i < g->count; i++) any_core |= is_core(g, g->ops[i]);
    for (int i = 0; i < g->count; i++) {
        ir_op *op = g->ops[i];
        op->role = !any_core ? role_body : !d[i].for_core ? role_epilogue : d[i].on_core ? role_body : role_prologue;
        if (op_is_view(op)) op->role = role_of_view(f, op, d[i].read, op->role);
    }
}

static void add_phase_op(ir_phase *phase, ir_op *op)
{
    phase->ops[phase->op_count++] = op;
}

static ir_phase *make_phase(fusing *f, const group *g)
{
    ir_phase *phase = arena_alloc(f->a, sizeof *phase);
    phase->family = g->family;
    phase->ops = arena_alloc(f->a, (size_t)g->count * sizeof *phase->ops);
    set_roles(f, g);
    for (op_role role = role_prologue; role <= role_epilogue; role++)
        for (int i = 0; i < g->count; i++)
            if (g->ops[i]->role == role) add_phase_op(phase, g->ops[i]);
    return phase;
}

static const char *base_name(arena *a, const ir_value *v)
{
    const char *dot = strchr(v->name, '.');
    return dot && dot > v->name ? arena_strndup(a, v->name, (size_t)(dot - v->name)) : v->name;
}

static const char *natural_name(fusing *f, const ir_phase *phase)
{
    static const char *const of_family[family_count] = {[family_attention] = "attention", [family_combine] = "combine"};
    const ir_op *product = NULL, *last = NULL;
    int products = 0;
    segment_list list;
    for (int i = 0; i < phase->op_count; i++) {
        if (op_is_product(phase->ops[i]) && !products++) product = phase->ops[i];
        if (!op_is_view(phase->ops[i])) last = phase->ops[i];
    }
    if (of_family[phase->family]) return of_family[phase->family];
    if (products == 1) return base_name(f->a, product->outputs[0]);
    if (products == 2 && gemm_segments(f->a, phase, &list) && list.items[0].kind == segment_pair_join) return "gate_up";
    if (products) return "qkv";
    if (phase->op_count == 1 && last && op_table[last->kind].class == class_REDUCE && !last->outputs[0]->output) return "stats";
    return base_name(f->a, last ? last->outputs[0] : phase->ops[0]->outputs[0]);
}

/* Phases that would have the same name become name, name_2, ... Each name has a counter, since thousands of phases may want the same one.
 * */
static void name_phases(fusing *f, ir_phase **phases, int count)
{
    name_map taken = {.a = f->a}, counters = {.a = f->a};
    for (int i = 0; i < count; i++) {
        const char *natural = natural_name(f, phases[i]), *name = natural;
        int *n = names_find(&counters, natural);
        if (!n) {
            n = arena_alloc(f->a, sizeof *n);
            *n = 1;
            names_add(&counters, natural, n);
        }
        if (*n > 1) name = arena_printf(f->a, "%s_%d", natural, *n);
        while (!names_add(&taken, name, phases[i])) name = arena_printf(f->a, "%s_%d", natural, ++*n);
        ++*n;
        phases[i]->name = name;
    }
}

static void add_after(fusing *f, ir_phase *phase, ir_phase *earlier)
{
    for (int i = 0; i < phase->after_count; i++)
        if (phase->after[i] == earlier) return;
    phase->after = build_grow(f->a, phase->after, phase->after_count, sizeof *phase->after);
    phase->after[phase->after_count++] = earlier;
}

static void link_phases(fusing *f, ir_phase **phases)
{
    for (int i = 0; i < f->sequence_count; i++) {
        const group *g = &f->groups[f->sequence[i]];
        for (int o = 0; o < g->count; o++) {
            int at = f->order[g->ops[o]->outputs[0]->id];
            for (int k = f->after.start[at]; k < f->after.start[at + 1]; k++) {
                int next = f->rank[fuse_home(f, f->after.ops[k]->outputs[0])];
                if (next != i) add_after(f, phases[next], phases[i]);
            }
        }
    }
}

static ir_kernel *new_kernel(fusing *f)
{
    ir_graph *p = f->p;
    ir_kernel *k = arena_alloc(f->a, sizeof *k);
    k->name = arena_printf(f->a, "k%d", p->kernel_count);
    return p->kernels[p->kernel_count++] = k;
}

static void make_kernels(fusing *f, ir_phase **phases, int count)
{
    ir_graph *p = f->p;
    p->kernels = arena_alloc(f->a, ((size_t)count + 1) * sizeof *p->kernels);
    p->kernel_count = 0;
    for (int i = 0; i < count; i++) {
        const bool joins = f->groups[f->sequence[i]].beside || (f->options->level == fusion_block && i > 0);
        ir_kernel *k = joins ? p->kernels[p->kernel_count - 1] : new_kernel(f);
        k->phases = build_grow(f->a, k->phases, k->phase_count, sizeof *k->phases);
        k->phases[k->phase_count++] = phases[i];
    }
}

/* Makes a phase of each group, in the order of ranks, and brings p->ops into the order of phases. */
static ir_phase **make_phases(fusing *f)
{
    const int count = f->sequence_count;
    const group *placed = place_ops(f);
    ir_phase **phases = arena_alloc(f->a, ((size_t)count + 1) * sizeof *phases);
    for (int i = 0; i < count; i++) phases[i] = make_phase(f, &placed[i]);
    for (int i = 0, n = 0; i < count; i++)
        for (int o = 0; o < phases[i]->op_count; o++) f->p->ops[n++] = phases[i]->ops[o];
    return phases;
}

void fuse_finish(fusing *f)
{
    name_phases(f, f->phases, f->sequence_count);
    link_phases(f, f->phases);
    make_kernels(f, f->phases, f->sequence_count);
    ir_check(f->a, f->p, f->last_pass);
}

/* The groups' lists of ops and the edges must be valid: passes that change ops call fuse_refresh(), and fuse_merge() keeps them valid. */
void fuse_settle(fusing *f, const char *pass)
{
    remove_dead(f);
    fuse_schedule(f);
    place_views(f);
    f->phases = make_phases(f);
    f->last_pass = pass;
    fuse_refresh(f);
    if (!f->options->check_once) fuse_finish(f);
}
