/* Writes the manifest of an emitted plan: JSON with what an application needs to launch the kernels without tfgen. Keys come in the order
 * written here, so equal plans have equal manifests. */
#include "gen/base/signature.h"
#include "gen/emit/emit.h"
#include "gen/source/by_hand.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const argument_kinds[] = {"value", "packed", "scratch", "map", "dim", "kind", "table", "layers", "next"};

static json_t *extent_json(arena *a, const extent *e, const dim_table *dims)
{
    text t = {.a = a};
    extent_print(&t, e, dims);
    return json_string(t.data ? t.data : "0");
}

static json_t *shape_json(arena *a, const ir_value *v, const dim_table *dims)
{
    json_t *list = json_array();
    for (int i = 0; i < v->rank; i++) json_array_append_new(list, extent_json(a, &v->shape[i], dims));
    return list;
}

static json_t *dims_json(const dim_table *dims)
{
    json_t *list = json_array();
    for (int i = 0; i < dims->count; i++) {
        const dim *d = &dims->dims[i];
        json_t *o = json_pack("{s:s, s:I}", "name", d->name, "value", (json_int_t)d->value);
        if (d->dynamic) json_object_set_new(o, "range", json_pack("[I, I]", (json_int_t)d->low, (json_int_t)d->high));
        json_array_append_new(list, o);
    }
    return list;
}

/* A matrix of rows x columns elements begins `start` bytes into its storage, with rows `stride` bytes apart. It is loaded box[0] x box[1]
 * elements at a time, with a 128-byte swizzle and zeros for what lies outside. With `heads` there is a matrix per head and batch, of which
 * box_heads are loaded at a time. With `pieces`, rows, columns and box count pieces of 1 KB, which are loaded without swizzle. */
static void add_box(arena *a, json_t *o, const tensor_box *box, const dim_table *dims)
{
    if (box->value)
        json_object_set_new(o, "value", json_string(box->value->name));
    else
        json_object_set_new(o, "index", json_integer(box->packed));
    json_object_set_new(o, "dtype", json_string(dtype_name(box->type)));
    json_object_set_new(o, "start", json_integer(box->start));
    long long stride;
    json_object_set_new(o, "stride",
                        extent_is_number(&box->stride, &stride) ? json_integer(stride)
                                                                : json_pack("{s:o, s:I}", "of", extent_json(a, &box->stride, dims), "now",
                                                                            (json_int_t)extent_value(&box->stride, dims)));
    json_object_set_new(o, "columns", json_integer(box->columns));
    json_object_set_new(o, "rows",
                        json_pack("{s:o, s:I}", "of", extent_json(a, &box->rows, dims), "now", (json_int_t)extent_value(&box->rows, dims)));
    json_object_set_new(o, "box", json_pack("[i, i]", box->box_rows, box->box_columns));
    if (box->pieces) json_object_set_new(o, "pieces", json_true());
    if (!box->heads) return;
    json_object_set_new(o, "heads", json_integer(box->heads));
    json_object_set_new(o, "box_heads", json_integer(box->box_heads));
    const struct {
        const char *key;
        const extent *of;
    } wide[] = {{"head_stride", &box->head_stride}, {"batches", &box->batches}, {"batch_stride", &box->batch_stride}};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        json_object_set_new(o, wide[i].key,
                            json_pack("{s:o, s:I}", "of", extent_json(a, wide[i].of, dims), "now",
                                      (json_int_t)extent_value(wide[i].of, dims)));
}

static bool is_pointer(argument_kind kind)
{
    return kind != argument_dim && kind != argument_kind_of_layer && kind != argument_map && kind != argument_layers &&
           kind != argument_next;
}

/* place: in a stack's launch, the index of the argument's pointer or kind in each layer's row of the table; the argument itself is
 * unused. */
static json_t *arguments_json(arena *a, const argument *list, int count, const dim_table *dims)
{
    json_t *out = json_array();
    for (int i = 0; i < count; i++) {
        const argument *g = &list[i];
        json_t *o = json_pack("{s:s, s:s, s:i, s:i}", "name", g->name, "kind", argument_kinds[g->kind], "offset", (int)g->offset, "size",
                              (int)g->size);
        if (g->kind == argument_map)
            add_box(a, o, g->box, dims);
        else if (g->kind == argument_value)
            json_object_set_new(o, "value", json_string(g->value->name));
        else if (g->kind != argument_table && g->kind != argument_kind_of_layer && g->kind != argument_layers && g->kind != argument_next)
            json_object_set_new(o, "index", json_integer(g->index));
        if (g->by_layer) json_object_set_new(o, "place", json_integer(g->place));
        if (is_pointer(g->kind)) json_object_set_new(o, "written", json_boolean(g->written));
        json_array_append_new(out, o);
    }
    return out;
}

static json_t *ops_json(const ir_phase *phase)
{
    json_t *list = json_array();
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        json_t *o = json_pack("{s:s, s:s, s:i}", "op", op_table[op->kind].name, "out", op->outputs[0]->name, "line", op->at.line);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *tile_json(const ir_tile *tile)
{
    const program_info *p = &program_table[tile->program];
    json_t *o = json_object();
    if (family_programs(p->family) > 1) json_object_set_new(o, "layer", json_string(layer_names(NULL)[p->layer]));
    for (int i = 0; i < p->field_count; i++)
        if (p->fields[i].help) json_object_set_new(o, p->fields[i].name, json_integer(tile->at[i]));
    return o;
}

/* The phase's tiles in earlier plans, which spilled; oldest first. */
static json_t *spilled_json(const ir_phase *phase)
{
    json_t *list = json_array();
    for (int i = 0; i < phase->spilled_count; i++) {
        const spilled_tile *s = &phase->spilled[i];
        json_array_append_new(list, json_pack("{s:i, s:i, s:o}", "scratch_bytes", s->scratch, "vector_spills", s->vectors, "tile",
                                              tile_json(&s->tile)));
    }
    return list;
}

static json_t *phases_json(arena *a, const plan *p, const launch *l)
{
    json_t *list = json_array();
    for (int i = 0; i < l->work_count; i++) {
        const ir_phase *phase = l->work[i].phase;
        json_t *o = json_pack("{s:s, s:s}", "name", phase->name, "family", family_names(NULL)[phase->family]);
        const phase_size size = phase_size_of(a, p->ir, phase);
        json_object_set_new(o, "signature", json_string(phase_signature(a, p->ir, phase)));
        json_object_set_new(o, "rows", json_integer(size.rows));
        if (size.keys) json_object_set_new(o, "keys", json_integer(size.keys));
        json_object_set_new(o, "tile", tile_json(&phase->tile));
        json_object_set_new(o, "from", json_string(source_names(NULL)[phase->from]));
        if (phase->spilled_count) json_object_set_new(o, "spilled", spilled_json(phase));
        json_object_set_new(o, "ops", ops_json(phase));
        json_array_append_new(list, o);
    }
    return list;
}

/* Tiles of a phase: ceil(rows / tile_rows) * column_tiles * multiple. */
static void put_tiles(arena *a, json_t *o, const tile_extents *x, const dim_table *dims)
{
    json_object_set_new(o, "rows", extent_json(a, &x->rows, dims));
    json_object_set_new(o, "tile_rows", json_integer(x->tile_rows));
    json_object_set_new(o, "column_tiles", json_integer(x->column_tiles));
    json_object_set_new(o, "multiple", extent_json(a, &x->multiple, dims));
}

/* A launch has min(tiles, limit, resident * multiprocessors) workgroups, at least one. The last term is rounded down to whole clusters;
 * `now` is the number without that term, as only the runtime knows the device. With several phases side by side, `tiles` is the sum over
 * "sides"; in a cooperative launch it is the largest number of tiles that a phase has. */
static json_t *grid_json(arena *a, const launch *l, const dim_table *dims)
{
    json_t *o = json_object();
    if (l->work_count == 1) put_tiles(a, o, &l->work->extents, dims);
    for (int i = 0; i < l->work_count && l->work_count > 1; i++) {
        json_t *side = json_object();
        put_tiles(a, side, &l->work[i].extents, dims);
        if (!i) json_object_set_new(o, "sides", json_array());
        json_array_append_new(json_object_get(o, "sides"), side);
    }
    if (l->cluster > 1) json_object_set_new(o, "cluster", json_integer(l->cluster));
    if (l->resident) json_object_set_new(o, "resident", json_integer(l->resident));
    if (l->grid_limit) json_object_set_new(o, "limit", json_integer(l->grid_limit));
    json_object_set_new(o, "now", json_integer(launch_grid(l, dims)));
    return o;
}

static json_t *kernels_json(arena *a, const plan *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->launch_count; i++) {
        const launch *l = &p->launches[i];
        json_t *o = json_pack("{s:s, s:s, s:s, s:i, s:i}", "name", l->name, "symbol", name_marked(a, l->name, name_value), "file", l->file,
                              "block", l->threads, "shared_bytes", l->shared_bytes);
        if (l->dynamic_bytes) json_object_set_new(o, "dynamic_bytes", json_integer(l->dynamic_bytes));
        if (l->overlap) json_object_set_new(o, "overlap", json_true());
        if (l->together) json_object_set_new(o, "cooperative", json_true());
        if (l->row_length) json_object_set_new(o, "row_length", json_integer(l->row_length));
        json_object_set_new(o, "grid", grid_json(a, l, &p->ir->dims));
        json_object_set_new(o, "argument_bytes", json_integer(l->argument_bytes));
        json_object_set_new(o, "arguments", arguments_json(a, l->arguments, l->argument_count, &p->ir->dims));
        json_object_set_new(o, "phases", phases_json(a, p, l));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *packs_json(arena *a, const plan *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->pack_count; i++) {
        const packed_weight *w = &p->packs[i];
        json_t *o = json_pack("{s:s, s:s, s:s, s:I, s:I, s:i, s:I}", "name", w->name, "symbol", name_marked(a, w->name, name_value),
                              "dtype", dtype_name(w->format->type), "columns", (json_int_t)w->columns, "length", (json_int_t)w->length,
                              "block", w->threads, "grid", (json_int_t)pack_grid(w));
        json_object_set_new(o, "signature", json_string(w->signature));
        json_object_set_new(o, "format", json_string(w->format->name));
        json_object_set_new(o, "bytes", json_integer(pack_bytes(w)));
        json_object_set_new(o, "argument_bytes", json_integer(w->argument_bytes));
        json_object_set_new(o, "arguments", arguments_json(a, w->arguments, w->argument_count, &p->ir->dims));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *values_json(arena *a, const plan *p)
{
    static const char *const kinds[] = {"input", "param", "state", "constant", "result"};
    json_t *list = json_array();
    for (int i = 0; i < p->ir->value_count; i++) {
        const ir_value *v = p->ir->values[i];
        if (v->kind == value_constant || (v->kind == value_result && !v->output)) continue;
        json_t *o =
            json_pack("{s:s, s:s, s:s}", "name", v->name, "kind", v->output ? "output" : kinds[v->kind], "dtype", dtype_name(v->type));
        json_object_set_new(o, "shape", shape_json(a, v, &p->ir->dims));
        if (v->output) json_object_set_new(o, "output", json_string(v->output));
        if (v->step) json_object_set_new(o, "row_stride", json_string(v->step->name));
        else if (v->root_stride && !v->root) json_object_set_new(o, "row_stride", json_integer(v->root_stride));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *workspace_json(arena *a, const plan *p)
{
    const dim_table *dims = &p->ir->dims;
    long long *offsets = arena_alloc(a, (size_t)(p->stored_count + p->scratch_count + 1) * sizeof *offsets);
    const long long bytes = workspace_layout(p, dims, offsets);
    json_t *list = json_array();
    for (int i = 0; i < p->stored_count; i++) {
        const storage *s = &p->stored[i];
        json_t *o = json_pack("{s:s, s:s, s:i, s:I, s:I}", "value", s->value->name, "dtype", dtype_name(s->value->type), "parts",
                              s->partials, "offset", (json_int_t)offsets[i], "bytes", (json_int_t)storage_bytes(s, dims));
        json_object_set_new(o, "shape", shape_json(a, s->value, dims));
        if (s->value->root_stride) json_object_set_new(o, "stride", json_integer(s->value->root_stride));
        json_array_append_new(list, o);
    }
    for (int i = 0; i < p->scratch_count; i++) {
        json_t *o = json_pack("{s:s, s:I}", "scratch", p->scratches[i].name, "offset", (json_int_t)offsets[p->stored_count + i]);
        if (p->scratches[i].trace) json_object_set_new(o, "trace", json_string(p->scratches[i].trace->name));
        else json_object_set_new(o, "floats", extent_json(a, &p->scratches[i].floats, dims));
        if (p->scratches[i].kind == scratch_of_counters) json_object_set_new(o, "zeroed", json_true());
        json_array_append_new(list, o);
    }
    return json_pack("{s:I, s:o}", "bytes", (json_int_t)bytes, "values", list);
}

static json_t *seconds_or_null(double seconds) { return isinf(seconds) ? json_null() : json_real(seconds); }

static json_t *choice_json(arena *a, const struct level_choice *c)
{
    json_t *o = json_pack("{s:o, s:o}", "tile", seconds_or_null(c->tile), "block", seconds_or_null(c->block));
    if (c->refused) json_object_set_new(o, "refused", json_string(text_harmless(a, c->refused)));
    return o;
}

static json_t *plan_json(arena *a, const plan *p)
{
    const ir_graph *ir = p->ir;
    const char *spec = arena_source_name(a);
    json_t *o = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s}", "manifest", manifest_version, "tfgen", TFGEN_VERSION, "block",
                          ir->name ? ir->name : "", "target", p->target->name, "device", p->device->name, "fusion",
                          level_names(NULL)[ir->level], "dtype", dtype_name(ir->type));
    if (p->choice.made) json_object_set_new(o, "auto", choice_json(a, &p->choice));
    json_object_set_new(o, "spec", json_string(spec ? text_harmless(a, spec) : ""));
    const char *command = command_by_hand(a, p->target, "NAME");
    if (command) json_object_set_new(o, "compile", json_string(command)); /* NAME: of a kernel or pack */
    json_object_set_new(o, "wave", json_integer(p->target->wave));
    json_object_set_new(o, "dims", dims_json(&ir->dims));
    json_object_set_new(o, "values", values_json(a, p));
    json_object_set_new(o, "packs", packs_json(a, p));
    json_object_set_new(o, "kernels", kernels_json(a, p));
    json_object_set_new(o, "workspace", workspace_json(a, p));
    return o;
}

static int append_json(const char *buffer, size_t size, void *out)
{
    text_append(out, buffer, size);
    return 0;
}

static void release(void *o) { json_decref(o); }

char *manifest_json(arena *a, const plan *p) { return manifest_with(a, p, NULL, 0); }

char *manifest_with(arena *a, const plan *p, const plan *const *variants, int count)
{
    text out = {.a = a};
    json_t *o = plan_json(a, p), *list = count ? json_array() : NULL;
    arena_defer(a, release, o);
    if (list) json_object_set_new(o, "variants", list);
    for (int i = 0; i < count; i++) json_array_append_new(list, plan_json(a, variants[i]));
    if (json_dump_callback(o, append_json, &out, JSON_INDENT(2)) != 0)
        bail(a, code_io, (position){0}, "the manifest could not be written: a name is not UTF-8, or memory ran out");
    text_append(&out, "\n", 1);
    return out.data;
}
