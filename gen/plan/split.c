/* In: a program with decode phases whose attention is whole. Out: what gen/plan/split.h says. A split attention becomes
 * attention_partial, f32[B, S, H, hd + 2]: a part's unnormalised o, its largest score and its sum; an attention_combine in a kernel behind
 * it makes the attention's result. Refuses nothing. */
#include "gen/plan/split.h"
#include "gen/emit/emit.h"
#include "gen/plan/choice.h"
#include "ir/base/names.h"
#include "ir/program/reason.h"
#include <string.h>

static ir_op *whole_attention(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i]->kind == op_attention) return phase->ops[i];
    return NULL;
}

bool split_is_wanted(const problem *p, const program *of)
{
    return p->phase->family == family_decode && of->parts && whole_attention(p->phase);
}

/* The op makes parts from now on; returns what makes of them what it made before. */
static ir_op *split_op(builder *b, ir_op *op)
{
    ir_value *out = op->outputs[0], *q = op->inputs[0];
    const long long heads = op->attributes.heads;
    ir_value shape = {.rank = 4, .at = out->at};
    shape.shape[0] = q->shape[0], shape.shape[1] = q->shape[1];
    shape.shape[2] = extent_number(heads);
    shape.shape[3] = extent_number(value_head_size(q, heads) + 2);
    ir_value *part = build_value(b, arena_printf(b->a, "%s.part", out->name), dtype_f32, &shape);
    op->kind = op_attention_partial;
    op->outputs[0] = part;
    part->def = op;
    ir_op *combine = build_op(b, op_attention_combine, op, out, 1, part);
    combine->attributes.heads = heads;
    combine->role = role_body;
    return combine;
}

static void add_note(builder *b, ir_op *combine)
{
    ir_program *p = b->p;
    fusion_note *notes = arena_alloc(b->a, ((size_t)p->note_count + 1) * sizeof *notes);
    if (p->note_count) memcpy(notes, p->notes, (size_t)p->note_count * sizeof *notes);
    notes[p->note_count++] = (fusion_note){reason_code(reason_splits_meet), combine->inputs[0], combine};
    p->notes = notes;
}

/* Whoever ran after the attention runs after what combines its parts. */
static void run_after(builder *b, ir_phase *parts, ir_phase *combine)
{
    for (int k = 0; k < b->p->kernel_count; k++)
        for (int i = 0; i < b->p->kernels[k]->phase_count; i++) {
            ir_phase *phase = b->p->kernels[k]->phases[i];
            for (int n = 0; n < phase->after_count; n++)
                if (phase->after[n] == parts) phase->after[n] = combine;
        }
    combine->after = arena_alloc(b->a, sizeof *combine->after);
    combine->after[combine->after_count++] = parts;
}

/* Views of what the attention made follow it. */
static void move_views(ir_phase *parts, ir_phase *combine)
{
    int kept = 0;
    while (parts->ops[kept++]->kind != op_attention_partial) {}
    for (int i = kept; i < parts->op_count; i++) combine->ops[combine->op_count++] = parts->ops[i];
    parts->op_count = kept;
}

static const char *phase_name(builder *b, name_map *names, const char *wanted, ir_phase *phase)
{
    const char *name = wanted;
    for (int n = 2; !names_add(names, name, phase); n++) name = arena_printf(b->a, "%s_%d", wanted, n);
    return name;
}

static ir_kernel *split_kernel(builder *b, name_map *kernels, name_map *phases, const ir_kernel *kernel)
{
    arena *a = b->a;
    ir_phase *parts = kernel->phases[0], *combine = arena_alloc(a, sizeof *combine);
    ir_kernel *behind = arena_alloc(a, sizeof *behind);
    *combine = (ir_phase){.name = phase_name(b, phases, "combine", combine),
                          .family = family_combine,
                          .ops = arena_alloc(a, ((size_t)parts->op_count + 1) * sizeof *combine->ops)};
    combine->ops[combine->op_count++] = split_op(b, whole_attention(parts));
    add_note(b, combine->ops[0]);
    move_views(parts, combine);
    run_after(b, parts, combine);
    *behind = (ir_kernel){.name = phase_name(b, kernels, arena_printf(a, "%s_join", kernel->name), combine),
                          .phases = arena_alloc(a, sizeof combine),
                          .phase_count = 1};
    behind->phases[0] = combine;
    return behind;
}

void split_keys(builder *b)
{
    ir_program *p = b->p;
    name_map kernels = {.a = b->a}, phases = {.a = b->a};
    ir_kernel **list = arena_alloc(b->a, (2 * (size_t)p->kernel_count + 1) * sizeof *list);
    int count = 0;
    for (int k = 0; k < p->kernel_count; k++) {
        (void)names_add(&kernels, p->kernels[k]->name, p->kernels[k]);
        for (int i = 0; i < p->kernels[k]->phase_count; i++) (void)names_add(&phases, p->kernels[k]->phases[i]->name, p->kernels[k]);
    }
    for (int k = 0; k < p->kernel_count; k++) {
        list[count++] = p->kernels[k];
        if (p->kernels[k]->phases[0]->choice->rewrites & rewrite_split_keys) {
            list[count] = split_kernel(b, &kernels, &phases, p->kernels[k]);
            count++;
        }
    }
    if (count == p->kernel_count) return;
    p->kernels = list, p->kernel_count = count;
    build_list_ops(b);
    ir_check(b->a, p, "split");
}
