/* In: a program in which products on wgmma or mma read rows that are no multiple of 16 bytes apart. Out: a value that only this program's
 * kernels know gets longer rows; of one that the caller knows an align kernel makes a copy with such rows, once for all products that
 * read it (H200: copies by the product's own threads lost at every size). Refuses nothing. */
#include "gen/plan/align.h"
#include "gen/emit/emit.h"
#include "gen/plan/choice.h"
#include "ir/base/names.h"
#include <string.h>

typedef struct aligner {
    builder *b;
    ir_program *p;
    /* by value id */
    ir_phase **maker;
    ir_op **copy;             /* that was made of it */
    bool *is_root;            /* others live in it */
    name_map phases, kernels; /* their names */
} aligner;

static long long aligned_columns(const ir_value *v)
{
    const long long unit = 16 / dtype_size(v->type);
    return (value_columns(v) + unit - 1) / unit * unit;
}

/* Nobody but kernels of this program sees v's storage, and none of them sees it as rows of another length. */
static bool may_be_longer(const aligner *g, const ir_value *v)
{
    if (v->kind != value_result || v->output || v->root || op_is_view(v->def)) return false;
    return !g->is_root[v->id];
}

static const char *free_name(const aligner *g, name_map *taken, const char *name, void *of)
{
    const char *candidate = name;
    for (int n = 2; !names_add(taken, candidate, of); n++) candidate = arena_printf(g->b->a, "%s_%d", name, n);
    return candidate;
}

/* ---- the copy */
/* v is a view that stands in `from`, its first reader, which now is `to`. */
static void move_view(ir_phase *from, ir_phase *to, const ir_value *v)
{
    const int at = phase_index(from, v->def);
    if (at < 0) return;
    ir_op *op = v->def;
    for (int i = 0; i < op->input_count; i++) move_view(from, to, op->inputs[i]);
    const int now = phase_index(from, op);
    memmove(from->ops + now, from->ops + now + 1, (size_t)(from->op_count - now - 1) * sizeof *from->ops);
    from->op_count--;
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

static void wait_for_makers(aligner *g, ir_phase *phase, const ir_value *v)
{
    const ir_value *makers[most_makers];
    const int n = value_makers(v, makers);
    for (int i = 0; i < n; i++)
        if (g->maker[makers[i]->id] != phase) run_after(g, phase, g->maker[makers[i]->id]);
}

static void insert_kernel(aligner *g, int index, ir_phase *phase, const char *name)
{
    ir_program *p = g->p;
    ir_kernel *kernel = arena_alloc(g->b->a, sizeof *kernel);
    *kernel = (ir_kernel){.name = name, .phases = arena_alloc(g->b->a, sizeof phase), .phase_count = 1};
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
    ir_value *copy = build_value(g->b, arena_printf(a, "%s.rows", v->name), v->type, v);
    *phase = (ir_phase){.name = free_name(g, &g->phases, name_stem(a, copy->name), phase),
                        .family = family_align,
                        .ops = arena_alloc(a, (size_t)(reader->op_count + 1) * sizeof *phase->ops)};
    move_view(reader, phase, v);
    copy->root_stride = aligned_columns(v);
    copy->at = reader->ops[0]->at;
    ir_op *op = build_op(g->b, op_align, reader->ops[0], copy, 1, v);
    op->role = role_body;
    phase->ops[phase->op_count++] = op;
    insert_kernel(g, k, phase, free_name(g, &g->kernels, arena_printf(a, "%s_align", g->p->kernels[k]->name), phase));
    wait_for_makers(g, phase, v);
    g->maker[copy->id] = phase;
    return g->copy[v->id] = op;
}

static void read_copy(aligner *g, ir_phase *reader, const ir_value *v, const ir_op *copy)
{
    for (int i = 0; i < reader->op_count; i++)
        if (reader->ops[i]->role == role_body && reader->ops[i]->inputs[0] == v) reader->ops[i]->inputs[0] = copy->outputs[0];
    run_after(g, reader, g->maker[copy->outputs[0]->id]);
}

/* ---- which operands */
static const ir_op *first_linear(const ir_phase *phase)
{
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i]->kind == op_linear) return phase->ops[i];
    return NULL;
}

bool alignment_is_wanted(const problem *p, const program *of)
{
    const ir_op *linear = of->aligned_rows && p->phase->family == family_gemm ? first_linear(p->phase) : NULL;
    return linear && value_alignment(p->a, linear->inputs[0]) != 16;
}

/* True when a kernel was added before kernel k. */
static bool align_operand(aligner *g, int k)
{
    ir_phase *phase = g->p->kernels[k]->phases[0];
    ir_value *v = first_linear(phase)->inputs[0];
    if (value_alignment(g->b->a, v) == 16) return false;
    if (may_be_longer(g, v)) {
        v->root_stride = aligned_columns(v);
        return false;
    }
    ir_op *copy = g->copy[v->id];
    const bool added = !copy;
    if (added) copy = insert_copy(g, k, phase, v);
    read_copy(g, phase, v, copy);
    return added;
}

static aligner begin(builder *b)
{
    const ir_program *p = b->p;
    const size_t values = (size_t)p->value_count, room = values + (size_t)p->kernel_count + 1; /* a copy a kernel at most */
    aligner g = {.b = b, .p = b->p, .phases = {.a = b->a}, .kernels = {.a = b->a}};
    g.maker = arena_alloc(b->a, room * sizeof *g.maker);
    g.copy = arena_alloc(b->a, room * sizeof *g.copy);
    g.is_root = arena_alloc(b->a, room);
    if (values) memcpy(g.maker, program_index_make(b->a, p)->maker, values * sizeof *g.maker);
    for (size_t i = 0; i < values; i++)
        if (p->values[i]->root) g.is_root[p->values[i]->root->id] = true;
    for (int k = 0; k < p->kernel_count; k++) {
        (void)names_add(&g.kernels, p->kernels[k]->name, p->kernels[k]);
        for (int i = 0; i < p->kernels[k]->phase_count; i++) (void)names_add(&g.phases, p->kernels[k]->phases[i]->name, p->kernels[k]);
    }
    return g;
}

void align_operands(builder *b)
{
    aligner g = begin(b);
    bool changed = false;
    ir_kernel **room = arena_alloc(b->a, (size_t)(2 * b->p->kernel_count + 1) * sizeof *room);
    if (b->p->kernel_count) memcpy(room, b->p->kernels, (size_t)b->p->kernel_count * sizeof *room);
    b->p->kernels = room;
    for (int k = 0; k < b->p->kernel_count; k++) {
        const choice *c = b->p->kernels[k]->phases[0]->choice;
        if (c && c->rewrites & rewrite_aligned_rows && align_operand(&g, k)) changed = true, k++;
    }
    if (!changed) return;
    build_list_ops(b);
    ir_check(b->a, b->p, "align");
}
