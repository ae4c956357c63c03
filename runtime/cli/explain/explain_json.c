/* In: an explanation. Out: its JSON, in operations, bytes and seconds; docs/insight.md lists the keys. */
#include "runtime/cli/explain/explanation.h"
#include "runtime/cli/trial.h"
#include <string.h>

static json_t *shape_json(const ir_value *v, const dim_table *dims)
{
    json_t *list = json_array();
    for (int i = 0; i < v->rank; i++) json_array_append_new(list, json_integer(extent_value(&v->shape[i], dims)));
    return list;
}

static const char *kind_text(const ir_graph *p, const ir_value *v)
{
    static const char *const names[] = {"input", "param", "state", "constant", "result"};
    const ir_value *root = value_root(v);
    if (v->kind == value_result && root->kind == value_state) return "cache";
    return explained_output(p, v) ? "output" : names[root->kind]; /* a view has the kind of its root */
}

/* ---- the graph */
static json_t *op_json(const ir_op *op)
{
    json_t *in = json_array(), *out = json_array();
    ir_value *operands[32];
    const int n = op_operands(op, operands, 32);
    for (int i = 0; i < n; i++)
        if (operands[i]->kind != value_constant) json_array_append_new(in, json_string(operands[i]->name));
    for (int i = 0; i < op->output_count; i++) json_array_append_new(out, json_string(op->outputs[i]->name));
    return json_pack("{s:s, s:o, s:o, s:i, s:i}", "op", op_table[op->kind].name, "in", in, "out", out, "line", op->at.line, "column",
                     op->at.column);
}

static json_t *graph_json(const ir_graph *p)
{
    json_t *values = json_array(), *ops = json_array();
    for (int i = 0; i < p->value_count; i++) {
        const ir_value *v = p->values[i];
        if (v->kind == value_constant) continue;
        json_array_append_new(values,
                              json_pack("{s:s, s:s, s:s, s:o, s:f}", "name", v->name, "kind", kind_text(p, v), "dtype", dtype_name(v->type),
                                        "shape", shape_json(v, &p->dims), "bytes", (double)value_count(v, &p->dims) * dtype_size(v->type)));
    }
    for (int i = 0; i < p->op_count; i++) json_array_append_new(ops, op_json(p->ops[i]));
    return json_pack("{s:o, s:o}", "values", values, "ops", ops);
}

/* ---- a kernel */
static json_t *tensors_json(const ir_graph *p, const work *w)
{
    json_t *list = json_array();
    for (int i = 0; i < w->tensor_count; i++) {
        const tensor_work *t = &w->tensors[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:f}", "name", t->value->name, "kind", kind_text(p, t->value), "read",
                                              t->read, "written", t->written));
    }
    return list;
}

static json_t *assumed_json(unsigned assumed)
{
    static const char *const words[] = {"bandwidth", "products", "launch"};
    json_t *list = json_array();
    for (int i = 0; i < 3; i++)
        if (assumed >> i & 1) json_array_append_new(list, json_string(words[i]));
    return list;
}

static void add_prediction(json_t *o, const explained_kernel *k)
{
    const prediction *p = &k->predicted;
    if (!k->foreseen) return;
    json_object_set_new(o, "floor_seconds", json_real(k->floor));
    json_object_set_new(o, "floor_limit", json_string(k->limit));
    json_object_set_new(o, "predicted",
                        json_pack("{s:f, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "seconds", p->seconds,
                                  "limit", predicted_limit_names[p->limit], "bytes_asked", p->asked, "bytes_moved", p->moved,
                                  "padded_products", p->padded, "unit_use", p->use, "memory_seconds", p->memory, "cache_seconds", p->cache,
                                  "products_seconds", p->products, "arithmetic_seconds", p->arithmetic, "latency_seconds", p->latency,
                                  "shared_seconds", p->shared, "epilogue_seconds", p->epilogues, "fixed_seconds", p->fixed, "assumed",
                                  assumed_json(p->assumed)));
}

static json_t *work_json(const work *w)
{
    const double bytes = w->read + w->written;
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "products", w->products, "others", w->others, "bytes_read", w->read, "bytes_written",
                     w->written, "intensity", bytes > 0 ? (w->products + w->others) / bytes : 0.0);
}

static json_t *held_json(arena *a, const device_model *d, const explained_code *c)
{
    json_t *limits = json_array();
    for (int i = 0; i < occupancy_limit_count; i++) {
        if (!(c->held.limits >> i & 1)) continue;
        json_t *limit = json_pack("{s:s}", "name", occupancy_limit_names[i]);
        if (c->held.step[i] >= 0) json_object_set_new(limit, "one_more_with", json_integer(c->held.step[i]));
        json_array_append_new(limits, limit);
    }
    return json_pack("{s:i, s:i, s:i, s:o, s:s}", "workgroups", c->held.groups, "waves", c->held.waves, "most_waves", c->held.most_waves,
                     "limits", limits, "text", occupancy_text(a, d, &c->need, &c->held));
}

static json_t *code_json(arena *a, const device_model *d, const explained_code *c)
{
    if (c->missing) return json_pack("{s:s}", "missing", c->missing);
    json_t *o = json_pack("{s:s?, s:i, s:i, s:i, s:i, s:i, s:i, s:I}", "compiler", c->compiler, "registers", c->facts.vgprs, "agprs",
                          c->facts.agprs, "sgprs", c->facts.sgprs, "scratch_bytes", c->facts.scratch_bytes, "vector_spills",
                          c->facts.vgpr_spills, "sgpr_spills", c->facts.sgpr_spills, "shared_bytes", (json_int_t)c->need.shared);
    if (c->matrix >= 0) json_object_set_new(o, "matrix_instructions", json_integer(c->matrix));
    if (c->holds) json_object_set_new(o, "held", held_json(a, d, c));
    return o;
}

static json_t *phase_json(const ir_phase *phase)
{
    const program_info *info = &program_table[phase->tile.program];
    json_t *tile = json_object(), *refused = json_array();
    for (int i = 0; i < info->field_count; i++)
        if (info->fields[i].help) json_object_set_new(tile, info->fields[i].name, json_integer(phase->tile.at[i]));
    for (int i = 0; i < phase->refused_count; i++)
        json_array_append_new(refused,
                              json_pack("{s:s, s:s}", "layer", explained_layer(phase->refused[i].layer), "why", phase->refused[i].why));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", phase->name, "family", explained_family(phase), "layer",
                     explained_layer(info->layer), "frame", explained_frame(info->frame), "tile", tile, "not", refused);
}

static json_t *origins_json(const explanation *e, const ir_kernel *k)
{
    const int most = e->graph ? e->graph->op_count : 0;
    bool *seen = arena_alloc(e->a, (size_t)most + 1);
    json_t *list = json_array();
    kernel_origins(e->graph, k, most, seen);
    for (int origin = 0; origin < most; origin++)
        if (seen[origin]) json_array_append_new(list, json_integer(origin));
    return list;
}

static json_t *kernel_json(const explanation *e, const explained_level *l, const explained_kernel *k)
{
    json_t *phases = json_array();
    for (int i = 0; i < k->launch->kernel->phase_count; i++) json_array_append_new(phases, phase_json(k->launch->kernel->phases[i]));
    json_t *o = json_pack("{s:s, s:s, s:o, s:o, s:I, s:i, s:i, s:i, s:o, s:o, s:o, s:s}", "name", k->launch->name, "ops", k->ops, "origins",
                          origins_json(e, k->launch->kernel), "phases", phases, "workgroups",
                          (json_int_t)launch_grid(k->launch, &l->plan->ir->dims), "threads", k->launch->threads, "shared_bytes",
                          k->launch->shared_bytes, "resident", k->launch->resident, "work", work_json(&k->work), "tensors",
                          tensors_json(l->plan->ir, &k->work), "code", code_json(e->a, l->plan->device, &k->code), "source",
                          k->launch->spec_header);
    add_prediction(o, k);
    flight f;
    if (launch_flight(l->plan, k->launch, &f))
        json_object_set_new(o, "in_flight",
                            json_pack("{s:f, s:f, s:f, s:b}", "bytes", f.bytes, "needed", f.needed, "latency_seconds", f.latency,
                                      "latency_assumed", f.assumed));
    return o;
}

/* ---- edges, devices, levels */
static json_t *edge_json(const explained_level *l, const explained_edge *e)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s?, s:f, s:f, s:f}", "value", e->note->value->name, "user",
                     e->note->user->outputs[0]->name, "code", e->note->code, "reason", e->sentence, "from",
                     e->from < 0 ? NULL : l->kernels[e->from].launch->name, "to", e->to < 0 ? NULL : l->kernels[e->to].launch->name,
                     "bytes_read", e->read, "bytes_written", e->written, "seconds", e->seconds);
}

static json_t *device_json(const explained_device *d)
{
    json_t *o = json_pack("{s:s, s:s}", "device", d->model->name, "target", d->model->target->name), *list = json_array();
    if (d->refused) json_object_set_new(o, "refused", json_string(d->refused));
    for (int i = 0; i < d->count; i++) {
        json_t *k = json_pack("{s:s, s:o}", "name", d->kernels[i].launch->name, "work", work_json(&d->kernels[i].work));
        add_prediction(k, &d->kernels[i]);
        json_array_append_new(list, k);
    }
    if (d->foreseen) {
        json_object_set_new(o, "floor_seconds", json_real(d->floor));
        json_object_set_new(o, "predicted_seconds", json_real(d->seconds));
        json_object_set_new(o, "assumed", assumed_json(d->assumed));
    }
    json_object_set_new(o, "launches", json_integer(d->count));
    json_object_set_new(o, "kernels", list);
    return o;
}

static json_t *level_json(const explanation *e, const explained_level *l)
{
    json_t *kernels = json_array(), *edges = json_array(), *devices = json_array();
    for (int i = 0; i < l->count; i++) json_array_append_new(kernels, kernel_json(e, l, &l->kernels[i]));
    for (int i = 0; i < l->edge_count; i++) json_array_append_new(edges, edge_json(l, &l->edges[i]));
    for (int i = 0; i < l->device_count; i++)
        if (l->devices[i].refused || l->devices[i].foreseen) json_array_append_new(devices, device_json(&l->devices[i]));
    json_t *o = json_pack("{s:s, s:i, s:o, s:f, s:f, s:o, s:o, s:o}", "level", fusion_level_name(l->level), "launches", l->count, "work",
                          work_json(&l->all), "workspace_bytes", l->workspace, "packed_bytes", l->packed, "kernels", kernels, "edges",
                          edges, "devices", devices);
    if (l->count > 0 && l->kernels[0].foreseen) {
        json_object_set_new(o, "floor_seconds", json_real(l->floor));
        json_object_set_new(o, "predicted_seconds", json_real(l->seconds));
    }
    return o;
}

static json_t *model_json(const device_model *d, dtype type)
{
    const device_fact *n = d->numbers;
    return json_pack("{s:s, s:s, s:s, s:i, s:f, s:f, s:f, s:f, s:f}", "name", d->name, "label", d->label, "target", d->target->name,
                     "units", d->units, "bandwidth", n[number_bandwidth].value, "bandwidth_reached", n[number_bandwidth_reached].value,
                     "products", d->rates[rate_products].of[type], "products_reached", d->rates[rate_products_reached].of[type], "vector",
                     d->rates[rate_vector].of[dtype_f32]);
}

/* The text unchanged if it is valid UTF-8, else through text_harmless(). */
static const char *plain_text(const explanation *e)
{
    json_t *text = json_string(e->text);
    const bool good = text != NULL;
    json_decref(text);
    return good ? e->text : text_harmless(e->a, e->text);
}

json_t *explain_json(const explanation *e)
{
    const explained_level *first = &e->levels[0];
    const ir_graph *p = first->plan->ir;
    json_t *levels = json_array(), *models = json_array();
    for (int i = 0; i < e->level_count; i++) json_array_append_new(levels, level_json(e, &e->levels[i]));
    for (int i = 0; i < first->device_count; i++)
        if (first->devices[i].model->numbers[number_bandwidth].value > 0)
            json_array_append_new(models, model_json(first->devices[i].model, p->type));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:b, s:s, s:o, s:o, s:o}", "tfgen", TFGEN_VERSION, "block", p->name, "dtype",
                     dtype_name(p->type), "spec", text_harmless(e->a, e->path), "dims", cli_json_dims(&p->dims), "target",
                     e->device->target->name, "device", e->device->name, "measured_vendor", e->device->target->vendor == vendor_nvidia,
                     "text", plain_text(e), "graph", e->graph ? graph_json(e->graph) : json_null(), "models", models, "levels", levels);
}
