/* See runtime/cli/ref_plan.h. */
#include "runtime/cli/ref_plan.h"
#include "gen/gen.h"
#include "gen/program/program.h"
#include "ir/graph/format.h"
#include <string.h>

static bool same_place(const ir_op *x, const ir_op *y)
{
    return x->kind == y->kind && x->at.line == y->at.line && x->at.column == y->at.column;
}

/* The plan's product that computes the graph's linear: alone, or as one of the two in a sum, told apart by their weights. */
static bool computes_linear(const ir_op *product, const ir_op *linear)
{
    const ir_value *second = product->kind == op_linear ? product->attributes.continued : NULL;
    return same_place(product, linear) || (second && linear->kind == op_linear && strcmp(second->name, linear->inputs[1]->name) == 0);
}

long long ref_plan_continued(const plan *p, const ir_op *linear)
{
    for (int i = 0; i < p->ir->op_count; i++) {
        const ir_op *op = p->ir->ops[i];
        if (!computes_linear(op, linear)) continue;
        return op->attributes.continued ? value_columns(op->inputs[0]) - value_columns(linear->inputs[0]) : 0;
    }
    return false;
}

ref_fold ref_plan_folded(const plan *p, const ir_graph *graph, const ir_op *linear)
{
    for (int i = 0; i < p->ir->op_count; i++) {
        const ir_op *op = p->ir->ops[i];
        if (!same_place(op, linear) || !op->attributes.fold) continue;
        return (ref_fold){true, op->attributes.fold_offset, graph_value(graph, op->attributes.fold->name)};
    }
    return (ref_fold){0};
}

/* The layer (instruction path) on which the plan computes a graph's op. Attention split into partials and a combine is SIMT only. */
static layer_kind layer_at(const plan *p, const ir_op *op)
{
    for (int k = 0; k < p->ir->kernel_count; k++) {
        const ir_kernel *kernel = p->ir->kernels[k];
        for (int i = 0; i < kernel->phase_count; i++)
            for (int j = 0; j < kernel->phases[i]->op_count; j++)
                if (computes_linear(kernel->phases[i]->ops[j], op)) return phase_layer(kernel->phases[i]);
    }
    return layer_simt;
}

bool ref_plan_rounds_scores(const plan *p, const ir_op *attention) { return layer_is_on_units(layer_at(p, attention)); }
bool ref_plan_splits(const plan *p, const ir_op *linear) { return layer_at(p, linear) == layer_wgmma_3xtf32; }

bool ref_plan_in_terms(const plan *p, const ir_op *linear)
{
    for (int i = 0; i < p->pack_count; i++) {
        const ir_phase *phase = p->packs[i].phase;
        for (int k = 0; k < phase->op_count; k++)
            if (computes_linear(phase->ops[k], linear))
                return p->packs[i].format->passes > 1 || value_bf16_terms(phase->ops[k]->inputs[0]) > 1 ||
                       program_in_source(phase) != program_of(phase);
    }
    return 0;
}

/* ---- what a plan may say */
static bool same_shape(const ir_graph *graph, const ir_value *g, const ir_graph *ir, const ir_value *v)
{
    if (g->rank != v->rank || g->type != v->type) return false;
    for (int i = 0; i < g->rank; i++)
        if (extent_value(&g->shape[i], &graph->dims) != extent_value(&v->shape[i], &ir->dims)) return false;
    return true;
}

static bool is_stored(const plan *p, const ir_value *v)
{
    for (int i = 0; i < p->stored_count; i++)
        if (p->stored[i].value == v) return true;
    return v->root != NULL || v->output != NULL;
}

/* True if a reshape of v is a value of the graph with the same dtype: then both are rounded in the same way. */
static bool is_reshaped(const plan *p, const ir_graph *graph, const ir_value *v)
{
    for (int i = 0; i < p->ir->op_count; i++) {
        const ir_op *op = p->ir->ops[i];
        if (op->kind == op_reshape && op->inputs[0] == v && op->outputs[0]->type == v->type && graph_value(graph, op->outputs[0]->name))
            return true;
    }
    return false;
}

/* True for a concat of values of the graph, with their dtype: the inputs of a sum of products. */
static bool is_row_of_known(const ir_graph *graph, const ir_value *v)
{
    for (int i = 0; i < v->def->input_count; i++)
        if (v->def->inputs[i]->type != v->type || !graph_value(graph, v->def->inputs[i]->name)) return false;
    return v->def->kind == op_concat;
}

/* A copy that transposes its operand. */
static bool op_transposes(const ir_op *op) { return op->kind == op_align && op->attributes.transpose; }

/* Whether the plan may store v, which the graph does not have: f32 values, which no storage rounds; exact copies, reshapes and concats of
 * values that the graph has or that may be stored; and the bf16 terms that add up to such a value. */
static bool may_be_stored(const plan *p, const ir_graph *graph, const ir_value *v)
{
    const ir_op *op = v->def;
    if (op && op->kind == op_bf16_terms) return may_be_stored(p, graph, op->inputs[0]) || graph_value(graph, op->inputs[0]->name);
    if (v->type == dtype_f32 || !op || !is_stored(p, v) || is_reshaped(p, graph, v) || is_row_of_known(graph, v)) return true;
    const bool same = same_shape(p->ir, op->inputs[0], p->ir, v);
    const bool copies = same && (op->kind == op_align || op->kind == op_cast);
    return (op->kind == op_reshape || op->kind == op_permute || op_transposes(op) || copies) && op->inputs[0]->type == v->type &&
           (graph_value(graph, op->inputs[0]->name) || may_be_stored(p, graph, op->inputs[0]));
}

static bool is_long(const ir_value *v) { return v->type == dtype_f32; }

/* True if no output or state is f32. */
static bool gives_16_bits(const ir_graph *p)
{
    for (int i = 0; i < p->value_count; i++)
        if (is_long(p->values[i]) && (p->values[i]->output || p->values[i]->kind == value_state)) return false;
    return p->type != dtype_f32;
}

/* True if the phase stores some value of 16 bits, and no f32 value, row scalars (statistics) aside. */
static bool stores_16_bits(const plan *p, const ir_phase *phase)
{
    bool any = false;
    for (int i = 0; i < phase->op_count; i++)
        for (int k = 0; k < phase->ops[i]->output_count; k++) {
            const ir_value *v = phase->ops[i]->outputs[k];
            if (!is_stored(p, v)) continue;
            if (is_long(v) && value_columns(v) > 1) return false;
            any |= dtype_size(v->type) == 2;
        }
    return any;
}

/* True if the phase computes (a part of) the graph's op, matched by position: a composite op is several ops of the plan, and one op may be
 * computed in several phases. */
static bool computes(const ir_phase *phase, const ir_op *op)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i]->at.line == op->at.line && phase->ops[i]->at.column == op->at.column) return true;
    return false;
}

ref_form ref_plan_form(const plan *p, const ir_op *op)
{
    if (p->target->vendor == vendor_host) return ref_form_exact;
    if (gives_16_bits(p->ir)) return ref_form_quick;
    for (int k = 0; k < p->ir->kernel_count; k++)
        for (int i = 0; i < p->ir->kernels[k]->phase_count; i++) {
            const ir_phase *phase = p->ir->kernels[k]->phases[i];
            if (computes(phase, op) && stores_16_bits(p, phase)) return ref_form_quick;
        }
    return ref_form_exact;
}

static const char *wrong_value(arena *a, const plan *p, const ir_graph *graph)
{
    for (int i = 0; i < p->ir->value_count; i++) {
        const ir_value *v = p->ir->values[i], *g = graph_value(graph, v->name);
        if (v->kind == value_constant) continue;
        if (g ? !same_shape(graph, g, p->ir, v) : !may_be_stored(p, graph, v))
            return arena_printf(a, "the plan has %%%s as %s, which the spec does not allow", v->name, dtype_name(v->type));
    }
    return NULL;
}

/* A packed weight must keep all digits of the weight's dtype; two tf32 terms are allowed only where f32 is multiplied. */
static const char *wrong_product(arena *a, const plan *p)
{
    for (int k = 0; k < p->ir->kernel_count; k++)
        for (int i = 0; i < p->ir->kernels[k]->phase_count; i++) {
            const ir_phase *phase = p->ir->kernels[k]->phases[i];
            for (int j = 0; j < phase->op_count; j++) {
                const ir_op *op = phase->ops[j];
                if (op->kind != op_linear) continue;
                if (phase_layer(phase) == layer_wgmma_3xtf32 && op->inputs[0]->type != dtype_f32)
                    return arena_printf(a, "the plan computes %%%s as three TF32 products, but its operand is not f32",
                                        op->outputs[0]->name);
                for (int n = 0; n < p->pack_count; n++)
                    if (p->packs[n].phase == phase && !format_holds(p->packs[n].format, op->inputs[1]->type))
                        return arena_printf(a, "the plan packs %%%s as %s", op->inputs[1]->name, p->packs[n].format->name);
            }
        }
    return NULL;
}

const char *ref_plan_wrong(arena *a, const plan *p, const ir_graph *graph)
{
    const char *wrong = wrong_value(a, p, graph);
    return wrong ? wrong : wrong_product(a, p);
}
