/* In: a program in which products on wgmma or mma read rows that are no multiple of 16 bytes apart. Out: a value that only this program's
 * kernels know gets longer rows; of one that the caller knows an align kernel makes a copy with such rows, once for all products that
 * read it (H200: copies by the product's own threads lost at every size). Refuses what layer.h refuses. */
#include "gen/align.h"
#include "gen/emit.h"
#include "gen/layer.h"
#include <string.h>

typedef struct aligner {
    builder *b;
    ir_program *p;
    const target_info *target;
    const tuning *tuning;
} aligner;

static long long aligned_columns(const ir_value *v)
{
    const long long unit = 16 / dtype_size(v->type);
    return (value_columns(v) + unit - 1) / unit * unit;
}

/* Between a copy and its reader a kernel might append to a state. */
const char *align_obstacle(arena *a, const ir_value *v)
{
    const bool state = value_root(v)->kind == value_state;
    return state && value_alignment(a, v) != 16 ? "the first operand's rows are no multiple of 16 bytes, and lie in a state" : NULL;
}

/* Nobody but kernels of this program sees v's storage, and none of them sees it as rows of another length. */
static bool may_be_longer(const aligner *g, const ir_value *v)
{
    if (v->kind != value_result || v->output || v->root || op_is_view(v->def)) return false;
    for (int i = 0; i < g->p->value_count; i++)
        if (g->p->values[i]->root == v) return false;
    return true;
}

static const char *free_name(const aligner *g, const char *name, bool of_kernel)
{
    const char *candidate = name;
    for (int n = 2;; n++) {
        bool taken = false;
        for (int k = 0; k < g->p->kernel_count; k++) {
            const ir_kernel *kernel = g->p->kernels[k];
            taken |= of_kernel && strcmp(kernel->name, candidate) == 0;
            for (int i = 0; i < kernel->phase_count && !of_kernel; i++) taken |= strcmp(kernel->phases[i]->name, candidate) == 0;
        }
        if (!taken) return candidate;
        candidate = arena_printf(g->b->a, "%s_%d", name, n);
    }
}

/* ---- the copy */
static ir_op *copy_of(const aligner *g, const ir_value *v)
{
    for (int i = 0; i < g->p->op_count; i++)
        if (g->p->ops[i]->kind == op_align && g->p->ops[i]->inputs[0] == v) return g->p->ops[i];
    return NULL;
}

static void insert_op(aligner *g, int index, ir_op *op)
{
    ir_program *p = g->p;
    p->ops = build_grow(g->b->a, p->ops, p->op_count, sizeof *p->ops);
    memmove(p->ops + index + 1, p->ops + index, (size_t)(p->op_count - index) * sizeof *p->ops);
    p->ops[index] = op;
    p->op_count++;
}

static int index_of(const aligner *g, const ir_op *op)
{
    int i = 0;
    while (g->p->ops[i] != op) i++;
    return i;
}

static int index_in(const ir_phase *phase, const ir_op *op)
{
    for (int i = 0; op && i < phase->op_count; i++)
        if (phase->ops[i] == op) return i;
    return -1;
}

/* v is a view that stands in `from`, its first reader, which now is `to`. */
static void move_view(aligner *g, ir_phase *from, ir_phase *to, const ir_value *v, int first)
{
    const int at = index_in(from, v->def);
    if (at < 0) return;
    ir_op *op = v->def;
    for (int i = 0; i < op->input_count; i++) move_view(g, from, to, op->inputs[i], first);
    const int now = index_in(from, op), index = index_of(g, op);
    memmove(from->ops + now, from->ops + now + 1, (size_t)(from->op_count - now - 1) * sizeof *from->ops);
    from->op_count--;
    memmove(g->p->ops + index, g->p->ops + index + 1, (size_t)(g->p->op_count - index - 1) * sizeof *g->p->ops);
    g->p->op_count--;
    insert_op(g, first + to->op_count, op);
    op->role = role_prologue;
    to->ops[to->op_count++] = op;
}

static void run_after(aligner *g, ir_phase *phase, ir_phase *earlier)
{
    for (int i = 0; i < phase->after_count; i++)
        if (phase->after[i] == earlier) return;
    ir_phase **list = arena_alloc(g->b->a, (size_t)(phase->after_count + 1) * sizeof *list);
    for (int i = 0; i < phase->after_count; i++) list[i] = phase->after[i];
    list[phase->after_count++] = earlier;
    phase->after = list;
}

static bool makes_part_of(const ir_phase *maker, const ir_value *v)
{
    const ir_value *makers[most_makers];
    const int n = value_makers(v, makers);
    for (int i = 0; i < n; i++)
        if (index_in(maker, makers[i]->def) >= 0) return true;
    return false;
}

static bool makes_operand_of(const ir_phase *maker, const ir_phase *reader)
{
    for (int i = 0; i < reader->op_count; i++) {
        ir_value *used[24];
        const int n = op_operands(reader->ops[i], used, 24);
        for (int k = 0; k < n; k++)
            if (makes_part_of(maker, used[k])) return true;
    }
    return false;
}

static void link_phase(aligner *g, ir_phase *phase)
{
    for (int k = 0; k < g->p->kernel_count; k++)
        for (int i = 0; i < g->p->kernels[k]->phase_count; i++) {
            ir_phase *other = g->p->kernels[k]->phases[i];
            if (other == phase) continue;
            if (makes_operand_of(other, phase)) run_after(g, phase, other);
            if (makes_operand_of(phase, other)) run_after(g, other, phase);
        }
}

static void insert_kernel(aligner *g, int index, ir_phase *phase, const char *name)
{
    ir_program *p = g->p;
    ir_kernel *kernel = arena_alloc(g->b->a, sizeof *kernel);
    *kernel = (ir_kernel){.name = name, .frame = frame_mixed, .phases = arena_alloc(g->b->a, sizeof phase), .phase_count = 1};
    kernel->phases[0] = phase;
    memmove(p->kernels + index + 1, p->kernels + index, (size_t)(p->kernel_count - index) * sizeof *p->kernels);
    p->kernels[index] = kernel;
    p->kernel_count++;
}

/* A kernel before kernel k, in which `reader` reads v. */
static ir_op *insert_copy(aligner *g, int k, ir_phase *reader, ir_value *v)
{
    arena *a = g->b->a;
    ir_phase *phase = arena_alloc(a, sizeof *phase);
    const int first = index_of(g, reader->ops[0]);
    ir_value *copy = build_value(g->b, arena_printf(a, "%s.rows", v->name), v->type, v);
    *phase = (ir_phase){.name = free_name(g, name_identifier(a, copy->name), false), .family = family_align,
                        .ops = arena_alloc(a, (size_t)(reader->op_count + 1) * sizeof *phase->ops)};
    move_view(g, reader, phase, v, first);
    copy->root_stride = aligned_columns(v);
    copy->at = reader->ops[0]->at;
    ir_op *op = build_op(g->b, op_align, reader->ops[0], copy, 1, v);
    op->role = role_body;
    insert_op(g, first + phase->op_count, op);
    phase->ops[phase->op_count++] = op;
    insert_kernel(g, k, phase, free_name(g, arena_printf(a, "%s_align", g->p->kernels[k]->name), true));
    link_phase(g, phase);
    return op;
}

static void read_copy(aligner *g, ir_phase *reader, const ir_value *v, const ir_op *copy)
{
    for (int i = 0; i < reader->op_count; i++)
        if (reader->ops[i]->kind == op_linear && reader->ops[i]->inputs[0] == v) reader->ops[i]->inputs[0] = copy->outputs[0];
    for (int k = 0; k < g->p->kernel_count; k++)
        for (int i = 0; i < g->p->kernels[k]->phase_count; i++)
            if (index_in(g->p->kernels[k]->phases[i], copy) >= 0) run_after(g, reader, g->p->kernels[k]->phases[i]);
}

/* ---- which operands */
/* True when a kernel was added before kernel k. */
static bool align_operand(aligner *g, int k)
{
    ir_phase *phase = g->p->kernels[k]->phases[0];
    const ir_op *product = NULL;
    for (int i = 0; i < phase->op_count && !product; i++)
        if (phase->ops[i]->kind == op_linear) product = phase->ops[i];
    if (g->p->kernels[k]->phase_count != 1 || phase->family != family_gemm || !product) return false;
    tile_request r = {g->b->a, g->p, phase, g->target, g->tuning, phase_space(g->b->a, phase), layer_simt, 0, NULL, false};
    r.layer = layer_choose(&r);
    ir_value *v = product->inputs[0];
    if ((!layer_is_wgmma(r.layer) && r.layer != layer_mma) || value_alignment(g->b->a, v) == 16) return false;
    if (may_be_longer(g, v)) {
        v->root_stride = aligned_columns(v);
        return false;
    }
    ir_op *copy = copy_of(g, v);
    const bool added = !copy;
    if (added) copy = insert_copy(g, k, phase, v);
    read_copy(g, phase, v, copy);
    return added;
}

void align_operands(builder *b, const target_info *target, const tuning *tuning)
{
    aligner g = {b, b->p, target, tuning};
    bool changed = false;
    ir_kernel **room = arena_alloc(b->a, (size_t)(2 * b->p->kernel_count + 1) * sizeof *room);
    if (b->p->kernel_count) memcpy(room, b->p->kernels, (size_t)b->p->kernel_count * sizeof *room);
    b->p->kernels = room;
    for (int k = 0; k < b->p->kernel_count; k++)
        if (align_operand(&g, k)) changed = true, k++;
    if (changed) ir_check(b->a, b->p, "align");
}
