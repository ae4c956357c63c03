/* Contract: trial_data.h. Numbers are generated on all processors. */
#include "runtime/cli/trial_data.h"
#include "ir/graph/half.h"
#include "runtime/data/checkpoint.h"
#include "runtime/data/random.h"
#include "runtime/data/safetensors.h"
#include "runtime/system/parallel.h"
#include <stdlib.h>

static const char *const prefixes[] = {"", "weights.", "input.", "decode."};
enum { prefix_count = sizeof prefixes / sizeof *prefixes };

bool data_is_given(const ir_value *v) { return v->kind == value_input || v->kind == value_param || v->kind == value_state; }

/* calloc() for data too large for an arena block; freed with the arena. */
double *data_numbers(arena *a, long long count)
{
    double *p = calloc((size_t)(count > 0 ? count : 1), sizeof *p);
    if (!p) bail(a, code_device, (position){0}, "not enough memory for %lld numbers", count);
    arena_defer(a, free, p);
    return p;
}

/* A value's data, as numbers or bytes, generated piece by piece on all processors. */
typedef struct pieces {
    const ir_graph *graph;
    const ir_value *v;
    unsigned long long seed;
    double *numbers;
    void *bytes;
    long long count;
} pieces;
enum { piece = 1 << 16 };

static void fill_piece(void *context, size_t index)
{
    const pieces *p = context;
    const long long first = (long long)index * piece, rest = p->count - first;
    random_part(p->graph, p->v, p->seed, first, rest < piece ? rest : piece, p->numbers + first);
}

static void put_piece(void *context, size_t index)
{
    const pieces *p = context;
    const long long first = (long long)index * piece, rest = p->count - first;
    for (long long i = first; i < first + (rest < piece ? rest : piece); i++) dtype_put(p->v->type, p->bytes, (size_t)i, p->numbers[i]);
}

static void in_pieces(pieces *p, void (*each)(void *, size_t)) { run_parallel((size_t)((p->count + piece - 1) / piece), 0, each, p); }

static void fill(const ir_graph *graph, const ir_value *v, unsigned long long seed, ref_tensor *out)
{
    pieces p = {.graph = graph, .v = v, .seed = seed, .numbers = out->value, .count = (long long)out->count};
    in_pieces(&p, fill_piece);
}

void data_put(const ir_value *v, const ref_tensor *from, void *bytes)
{
    pieces p = {.v = v, .numbers = from->value, .bytes = bytes, .count = (long long)from->count};
    in_pieces(&p, put_piece);
}

ref_tensor *data_make(arena *a, const ir_graph *graph, unsigned long long seed, const data_files *files)
{
    const data_files none = {0}, *f = files ? files : &none;
    checkpoint *weights = f->weights ? checkpoint_open(a, f->weights) : NULL;
    const safetensors *input = f->input ? safetensors_open(a, f->input) : NULL;
    const safetensors *state = f->state ? safetensors_open(a, f->state) : input;
    ref_tensor *list = arena_alloc(a, (size_t)(graph->value_count + 1) * sizeof *list);
    for (int i = 0; i < graph->value_count; i++) {
        const ir_value *v = graph->values[i];
        if (!data_is_given(v)) continue;
        const long long count = value_count(v, &graph->dims);
        const safetensors *file = v->kind == value_param ? NULL : v->kind == value_state ? state : input;
        list[i] = (ref_tensor){.value = data_numbers(a, count), .count = (size_t)count};
        if (v->kind == value_param && weights)
            checkpoint_read_value(weights, v, &graph->dims, (layer_place){graph->prefix, f->layer}, prefixes, prefix_count, list[i].value);
        else if (file) safetensors_read_value(file, v, &graph->dims, prefixes, prefix_count, true, list[i].value);
        else fill(graph, v, seed, &list[i]);
    }
    return list;
}
