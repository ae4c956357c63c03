/* Lists the device memory that a plan needs, item by item (footprint.h). */
#include "runtime/cli/footprint.h"
#include <string.h>

const char *const memory_names[memory_kind_count] = {"weights", "states", "workspace", "activations"};

static void add_item(footprint *f, memory_kind kind, const char *name, const char *what, double bytes)
{
    f->items[f->count++] = (memory_item){kind, name, what, bytes};
    f->of[kind] += bytes;
}

static double bytes_of(const plan *p, const ir_value *v) { return (double)value_span(v, &p->ir->dims) * dtype_size(v->type); }

/* Packed weights with equal signatures are stored once. */
static void add_packed(arena *a, const plan *p, footprint *f)
{
    const char **known = arena_alloc(a, ((size_t)p->pack_count + 1) * sizeof *known);
    for (int i = 0; i < p->pack_count; i++) {
        const packed_weight *w = &p->packs[i];
        bool again = false;
        known[i] = w->signature;
        for (int k = 0; k < i; k++) again |= strcmp(known[k], known[i]) == 0;
        if (!again) add_item(f, memory_weights, w->name, "packed", (double)pack_bytes(w));
    }
}

static bool reads(const plan *p, const ir_value *v)
{
    for (int i = 0; i < p->launch_count; i++)
        for (int k = 0; k < p->launches[i].argument_count; k++) {
            const argument *g = &p->launches[i].arguments[k];
            const ir_value *read = g->kind == argument_value ? g->value : g->kind == argument_map && g->box->value ? g->box->value : NULL;
            if (read && value_root(read) == v) return true;
        }
    return false;
}

static void add_values(const plan *p, footprint *f)
{
    for (int i = 0; i < p->ir->value_count; i++) {
        const ir_value *v = p->ir->values[i];
        const double bytes = bytes_of(p, v);
        if (v->kind == value_param && reads(p, v)) add_item(f, memory_weights, v->name, "as it is", bytes);
        if (v->kind == value_param) f->originals += bytes;
        if (v->kind == value_state) add_item(f, memory_states, v->name, "state", bytes);
        if (v->kind == value_input) add_item(f, memory_activations, v->name, "input", bytes);
        if (v->output) add_item(f, memory_activations, v->output, "output", bytes);
    }
}

static void add_workspace(arena *a, const plan *p, footprint *f)
{
    const int count = p->stored_count + p->scratch_count;
    long long *offsets = arena_alloc(a, ((size_t)count + 1) * sizeof *offsets);
    offsets[count] = workspace_layout(p, &p->ir->dims, offsets);
    for (int i = 0; i < count; i++) {
        const bool value = i < p->stored_count;
        add_item(f, memory_workspace, value ? p->stored[i].value->name : p->scratches[i - p->stored_count].name,
                 value ? "between launches" : "between workgroups", (double)(offsets[i + 1] - offsets[i]));
    }
}

footprint footprint_of(arena *a, const plan *p)
{
    const size_t most = (size_t)p->pack_count + 2 * (size_t)p->ir->value_count + (size_t)p->stored_count + (size_t)p->scratch_count;
    footprint f = {.items = arena_alloc(a, (most + 1) * sizeof *f.items)};
    add_packed(a, p, &f);
    add_values(p, &f);
    add_workspace(a, p, &f);
    return f;
}

double footprint_bytes(const footprint *f, long long layers)
{
    return (double)layers * (f->of[memory_weights] + f->of[memory_states]) + f->of[memory_workspace] + f->of[memory_activations];
}

double footprint_packing(const footprint *f, long long layers) { return (double)layers * f->of[memory_weights] + f->originals; }
