/* In: plans. Out: explanation.h: their kernels and edges. Refuses nothing. */
#include "runtime/cli/explain/explanation.h"
#include "gen/base/peaks.h"
#include "ir/program/reason.h"
#include "ir/program/views.h"
#include "runtime/cli/trial.h"
#include <string.h>

static int origins_of(arena *a, const ir_kernel *k, int most)
{
    bool *seen = arena_alloc(a, (size_t)most + 1);
    int count = 0;
    for (int p = 0; p < k->phase_count; p++)
        for (int i = 0; i < k->phases[p]->op_count; i++) {
            const ir_op *op = k->phases[p]->ops[i];
            if (op->kind == op_align || op->origin >= most || seen[op->origin]) continue;
            seen[op->origin] = true;
            count++;
        }
    return count;
}

explained_kernel *explain_kernels(arena *a, const ir_program *graph, const plan *p)
{
    explained_kernel *list = arena_alloc(a, ((size_t)p->launch_count + 1) * sizeof *list);
    for (int i = 0; i < p->launch_count; i++) {
        explained_kernel *k = &list[i];
        k->launch = &p->launches[i];
        k->ops = kernel_ops(a, graph, k->launch->kernel);
        k->op_count = origins_of(a, k->launch->kernel, graph ? graph->op_count : p->program->op_count);
        k->work = launch_work(a, p, k->launch, NULL, NULL);
        k->foreseen = launch_predict(p, k->launch, &k->work, &k->predicted);
        if (k->foreseen) k->floor = peaks_floor(p->device, p->program->type, &k->work, &k->limit);
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

/* What the launch moves of v: of itself, or of what stands for it in memory. */
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

typedef struct told {
    const tensor_work *t;
    bool written;
} told;

/* The bytes, the first time that they are asked for. */
static double tell_once(told *list, int *count, const tensor_work *t, bool written)
{
    if (!t) return 0;
    for (int i = 0; i < *count; i++)
        if (list[i].t == t && list[i].written == written) return 0;
    list[(*count)++] = (told){t, written};
    return written ? t->written : t->read;
}

static bool stays(const ir_value *v)
{
    const ir_value *makers[most_makers];
    const int n = value_makers(v, makers);
    for (int i = 0; i < n; i++)
        if (makers[i]->output || value_root(makers[i])->kind == value_state) return true;
    return v->output || value_root(v)->kind == value_state;
}

explained_edge *explain_edges(arena *a, const explained_level *l, int *count)
{
    const ir_program *p = l->plan->program;
    const double bandwidth = l->plan->device->numbers[number_bandwidth_reached].value > 0
                                 ? l->plan->device->numbers[number_bandwidth_reached].value
                                 : l->plan->device->numbers[number_bandwidth].value;
    explained_edge *edges = arena_alloc(a, ((size_t)p->note_count + 1) * sizeof *edges);
    told *list = arena_alloc(a, ((size_t)p->note_count * 2 + 1) * sizeof *list);
    int known = 0;
    for (int i = 0; i < p->note_count; i++) {
        const fusion_note *n = &p->notes[i];
        explained_edge *e = &edges[i];
        const ir_value *makers[most_makers];
        *e = (explained_edge){.note = n, .sentence = reason_sentence(n->code), .from = -1, .to = launch_of(l, n->user)};
        if (value_makers(n->value, makers) > 0) e->from = launch_of(l, makers[0]->def);
        if (e->from == e->to) continue;
        e->read = tell_once(list, &known, moved_by(l, e->to, n->value, false), false);
        if (!stays(n->value)) e->written = tell_once(list, &known, moved_by(l, e->from, n->value, true), true);
        e->seconds = bandwidth > 0 ? (e->read + e->written) / bandwidth : 0;
    }
    *count = p->note_count;
    return edges;
}
