/* In: plans. Out: explanation.h: their kernels and edges. */
#include "runtime/cli/explain/explanation.h"
#include "gen/base/peaks.h"
#include "ir/graph/reason.h"
#include "ir/graph/views.h"
#include "runtime/cli/trial.h"
#include <string.h>

static int origins_of(arena *a, const ir_graph *graph, const ir_kernel *k, int most)
{
    bool *seen = arena_alloc(a, (size_t)most + 1);
    int count = 0;
    kernel_origins(graph, k, most, seen);
    for (int i = 0; i < most; i++) count += seen[i];
    return count;
}

explained_kernel *explain_kernels(arena *a, const ir_graph *graph, const plan *p)
{
    explained_kernel *list = arena_alloc(a, ((size_t)p->launch_count + 1) * sizeof *list);
    for (int i = 0; i < p->launch_count; i++) {
        explained_kernel *k = &list[i];
        k->launch = &p->launches[i];
        k->ops = kernel_ops(a, graph, k->launch->kernel);
        k->op_count = origins_of(a, graph, k->launch->kernel, graph ? graph->op_count : p->ir->op_count);
        k->work = launch_work(a, p, k->launch, NULL, NULL);
        k->foreseen = launch_predict(a, p, k->launch, &k->work, &k->predicted);
        if (k->foreseen) k->floor = peaks_floor(p->device, p->ir->type, &k->work, &k->limit);
    }
    return list;
}

double launches_seconds(const explained_kernel *k, int count, bool floor)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += floor ? k[i].floor : k[i].predicted.seconds;
    return sum;
}

const char *explained_family(const ir_phase *phase)
{
    size_t count;
    return family_names(&count)[phase->family];
}

const char *explained_layer(layer_kind layer)
{
    size_t count;
    return layer_names(&count)[layer];
}

const char *explained_frame(frame_kind frame)
{
    size_t count;
    return frame_names(&count)[frame];
}

/* ---- edges */
static int launch_of(const explained_level *l, const ir_op *op)
{
    for (int i = 0; op && i < l->count; i++) {
        const ir_kernel *k = l->kernels[i].launch->kernel;
        for (int p = 0; p < k->phase_count; p++)
            for (int n = 0; n < k->phases[p]->op_count; n++)
                if (k->phases[p]->ops[n] == op) return i;
    }
    return -1;
}

/* How many bytes of v (or of v's root) the launch reads or writes; NULL: none. */
static tensor_work *moved_by(const explained_level *l, int launch, const ir_value *v, bool written)
{
    const work *w = launch < 0 ? NULL : &l->kernels[launch].work;
    tensor_work *root = NULL;
    for (int i = 0; w && i < w->tensor_count; i++) {
        tensor_work *t = &w->tensors[i];
        if ((written ? t->written : t->read) <= 0) continue;
        if (t->value == v) return t;
        if (value_root(t->value) == value_root(v)) root = t;
    }
    return root;
}

typedef struct edge_list {
    arena *a;
    const explained_level *l;
    explained_edge *edges;
    int count;
    const tensor_work **told; /* tensors whose bytes an edge has counted already */
    int told_count;
    double bandwidth;
} edge_list;

static bool is_told(const edge_list *list, const tensor_work *t)
{
    for (int i = 0; i < list->told_count; i++)
        if (list->told[i] == t) return true;
    return false;
}

/* Several edges of a launch may show the same tensor: its bytes for the first of them, 0 for the others, so that sums count it once. */
static double tell_once(edge_list *list, const tensor_work *t)
{
    if (!t || is_told(list, t)) return 0;
    list->told[list->told_count++] = t;
    return t->read + t->written; /* an entry counts either reads or writes, so one of them is 0 */
}

bool explained_output(const ir_graph *p, const ir_value *v)
{
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i]->output && value_root(p->values[i]) == value_root(v)) return true;
    return false;
}

/* True if v is an output or in a state, so that it is stored even without readers. */
static bool stays(const ir_graph *p, const ir_value *v)
{
    const ir_value *makers[most_makers];
    const int n = value_makers(v, makers);
    for (int i = 0; i < n; i++)
        if (explained_output(p, makers[i]) || value_root(makers[i])->kind == value_state) return true;
    return explained_output(p, v) || value_root(v)->kind == value_state;
}

static int maker_launch(const explained_level *l, const ir_value *v)
{
    const ir_value *makers[most_makers];
    return value_makers(v, makers) > 0 ? launch_of(l, makers[0]->def) : -1;
}

/* Bytes of v written by all launches that make a part of it. */
static double tell_written(edge_list *list, const ir_value *v)
{
    const ir_value *makers[most_makers];
    double bytes = 0;
    for (int i = 0, n = value_makers(v, makers); i < n; i++)
        bytes += tell_once(list, moved_by(list->l, launch_of(list->l, makers[i]->def), makers[i], true));
    return bytes;
}

static void add_edge(edge_list *list, const fusion_note *n, const char *sentence, int from, int to)
{
    explained_edge *e = &list->edges[list->count++];
    *e = (explained_edge){.note = n, .sentence = sentence, .from = from, .to = to};
    e->read = tell_once(list, moved_by(list->l, to, n->value, false));
    if (!stays(list->l->plan->ir, n->value)) e->written = tell_written(list, n->value);
    e->seconds = list->bandwidth > 0 ? (e->read + e->written) / list->bandwidth : 0;
}

/* An op of the launch that reads v, or a view of it. */
static const ir_op *reader_of(const launch *l, const ir_value *v)
{
    for (int p = 0; p < l->kernel->phase_count; p++)
        for (int i = 0; i < l->kernel->phases[p]->op_count; i++) {
            ir_value *operands[32];
            const ir_op *op = l->kernel->phases[p]->ops[i];
            for (int k = 0, n = op_operands(op, operands, 32); k < n; k++)
                if (operands[k] == v) return op;
        }
    return NULL;
}

/* Adds edges without a fusion note: copies that planning added, and further views of a value. */
static void add_others(edge_list *list)
{
    const explained_level *l = list->l;
    for (int to = 0; to < l->count; to++)
        for (int i = 0; i < l->kernels[to].work.tensor_count; i++) {
            const tensor_work *t = &l->kernels[to].work.tensors[i];
            /* at level block such a value stays within the launch */
            const bool within = l->kernels[to].launch->together && t->written > 0 && !stays(l->plan->ir, t->value);
            const int from = t->read > 0 || within ? maker_launch(l, t->value) : -1;
            const bool is_edge = from >= 0 && (from != to || within) && !is_told(list, t);
            const ir_op *user = is_edge ? reader_of(l->kernels[to].launch, t->value) : NULL;
            if (!user) continue;
            const bool copy = op_is_copy(user) || (t->value->def && op_is_copy(t->value->def));
            fusion_note *note = arena_alloc(list->a, sizeof *note);
            *note = (fusion_note){copy ? "aligned-copy" : "stored-value", (ir_value *)t->value, (ir_op *)user};
            add_edge(list, note,
                     copy ? "rows are copied to where tensor loads can read them"
                          : "the value is stored, since more than one launch, or more than one view, reads it",
                     from, to);
        }
}

explained_edge *explain_edges(arena *a, const explained_level *l, int *count)
{
    const ir_graph *p = l->plan->ir;
    const device_fact *n = l->plan->device->numbers;
    size_t most = (size_t)p->note_count;
    for (int i = 0; i < l->count; i++) most += (size_t)l->kernels[i].work.tensor_count;
    edge_list list = {.a = a,
                      .l = l,
                      .edges = arena_alloc(a, (most + 1) * sizeof *list.edges),
                      .told = arena_alloc(a, (2 * most + 1) * sizeof *list.told),
                      .bandwidth = n[number_bandwidth_reached].value > 0 ? n[number_bandwidth_reached].value : n[number_bandwidth].value};
    for (int i = 0; i < p->note_count; i++)
        add_edge(&list, &p->notes[i], reason_sentence(p->notes[i].code), maker_launch(l, p->notes[i].value),
                 launch_of(l, p->notes[i].user));
    add_others(&list);
    *count = list.count;
    return list.edges;
}
