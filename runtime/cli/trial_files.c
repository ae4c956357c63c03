/* In: a trial that has run. Out: files of outputs and states, and of data for external harnesses. Refuses an output and a state with the
 * same name. */
#include "runtime/cli/trial_inside.h"
#include "ir/graph/half.h"
#include "runtime/cli/trial_data.h"
#include "runtime/data/safetensors.h"
#include <string.h>

typedef struct item_list {
    safetensors_item *items;
    size_t count;
} item_list;

static void add_item(trial *t, item_list *list, const char *name, const ir_value *v, const double *data, bool as_double)
{
    long long *shape = arena_alloc(t->a, max_rank * sizeof *shape);
    const long long count = value_count(v, &t->graph->dims);
    void *bytes = data_numbers(t->a, count);
    for (int i = 0; i < v->rank; i++) shape[i] = extent_value(&v->shape[i], &t->graph->dims);
    for (long long i = 0; i < count; i++) {
        if (as_double) ((double *)bytes)[i] = data[i];
        else dtype_put(v->type, bytes, (size_t)i, data[i]);
    }
    list->items[list->count++] = (safetensors_item){name, as_double ? "F64" : dtype_file_name(v->type), v->rank, shape, bytes};
}

static void add_stored(trial *t, item_list *list, const char *name, const ir_value *v, const ir_value *stored)
{
    double *got = data_numbers(t->a, value_count(v, &t->graph->dims));
    trial_download(t, stored, got);
    add_item(t, list, name, v, got, false);
}

/* Adds a state; if no kernel touches it, its input data. */
static void add_state(trial *t, item_list *list, int index)
{
    const ir_value *v = t->graph->values[index], *p = trial_planned(t, v);
    for (int i = 0; i < t->graph->value_count; i++)
        if (t->graph->values[i]->output && strcmp(t->graph->values[i]->output, v->name) == 0)
            bail(t->a, code_usage, (position){0}, "-o: an output and a state are both called %s, and both go into the file", v->name);
    if (p && guarded_bytes(t->s, p)) add_stored(t, list, v->name, v, p);
    else add_item(t, list, v->name, v, t->inputs[index].value, false);
}

/* Outputs, and every state as it is now: the next step's --state. */
void trial_write_outputs(trial *t)
{
    item_list list = {arena_alloc(t->a, (size_t)t->graph->value_count * 2 * sizeof *list.items), 0};
    for (int i = 0; i < t->graph->value_count; i++) {
        const ir_value *v = t->graph->values[i];
        if (v->output) add_stored(t, &list, v->output, v, trial_planned(t, v));
        if (v->kind == value_state) add_state(t, &list, i);
    }
    safetensors_write(t->a, t->o->output, list.items, list.count);
}

static void add_expected(trial *t, item_list *list, const char *prefix, const ir_value *v, const ref_tensor *r)
{
    add_item(t, list, arena_printf(t->a, "%sref.%s", prefix, v->output), v, r->value, true);
    add_item(t, list, arena_printf(t->a, "%sbound.%s", prefix, v->output), v, trial_bounds(t, r), true);
}

/* Inputs, params and states by name; outputs as ref.NAME with bound.NAME in float64, for harnesses that run the kernels elsewhere. If the
 * reference leaves choices of rounding open, own.ref.NAME and own.bound.NAME are the numbers and bounds by which this device's outputs were
 * judged. */
void trial_write_data(trial *t)
{
    item_list list = {arena_alloc(t->a, (size_t)t->graph->value_count * 5 * sizeof *list.items), 0};
    for (int i = 0; i < t->graph->value_count; i++) {
        const ir_value *v = t->graph->values[i];
        if (data_is_given(v)) add_item(t, &list, v->name, v, t->inputs[i].value, false);
        if (!v->output) continue;
        add_expected(t, &list, "", v, t->exact[i]);
        if (t->choices) add_expected(t, &list, "own.", v, t->judging[i]);
    }
    safetensors_write(t->a, t->o->dump_data, list.items, list.count);
}
