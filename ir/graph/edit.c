/* In, out: ir/graph/edit.h. */
#include "ir/graph/edit.h"
#include <string.h>

struct edit_place {
    ir_kernel **ahead, **behind;
    int ahead_count, behind_count;
};

/* ---- the graph before the edits */
static void enter_phase(editor *e, ir_phase *phase)
{
    (void)names_add(&e->phases, phase->name, phase);
    for (int n = 0; n < phase->op_count; n++)
        for (int x = 0; x < phase->ops[n]->output_count; x++) e->maker[phase->ops[n]->outputs[x]->id] = phase;
}

editor edit_begin(builder *b)
{
    const ir_graph *p = b->p;
    arena *a = b->a;
    editor e = {.b = b, .kernels = {.a = a}, .phases = {.a = a}, .replaced = {.a = a}};
    e.value_count = p->value_count, e.kernel_count = p->kernel_count, e.note_count = p->note_count;
    e.maker_room = p->value_count + 1;
    e.maker = arena_alloc(a, (size_t)e.maker_room * sizeof *e.maker);
    e.gone = arena_alloc(a, (size_t)e.maker_room);
    e.places = arena_alloc(a, ((size_t)p->kernel_count + 1) * sizeof *e.places);
    for (int k = 0; k < p->kernel_count; k++) {
        (void)names_add(&e.kernels, p->kernels[k]->name, p->kernels[k]);
        for (int i = 0; i < p->kernels[k]->phase_count; i++) enter_phase(&e, p->kernels[k]->phases[i]);
    }
    return e;
}

ir_phase *edit_maker(const editor *e, const ir_value *v) { return v->id < e->maker_room ? e->maker[v->id] : NULL; }

static void set_maker(editor *e, const ir_value *v, ir_phase *phase)
{
    if (v->id >= e->maker_room) {
        const int room = 2 * v->id;
        ir_phase **more = arena_alloc(e->b->a, (size_t)room * sizeof *more);
        memcpy(more, e->maker, (size_t)e->maker_room * sizeof *more);
        e->maker = more, e->maker_room = room;
    }
    e->maker[v->id] = phase;
}

/* ---- phases and kernels */
static const char *free_name(name_map *taken, const char *wanted, void *of)
{
    const char *name = wanted;
    for (int n = 2; !names_add(taken, name, of); n++) name = arena_printf(taken->a, "%s_%d", wanted, n);
    return name;
}

ir_phase *edit_add_phase(editor *e, int k, bool behind, phase_family family, const char *phase, const char *kernel)
{
    arena *a = e->b->a;
    ir_phase *made = arena_alloc(a, sizeof *made);
    ir_kernel *home = arena_alloc(a, sizeof *home);
    *made = (ir_phase){.name = free_name(&e->phases, phase, made), .family = family};
    *home = (ir_kernel){.name = free_name(&e->kernels, kernel, home), .phases = arena_alloc(a, sizeof made), .phase_count = 1};
    *home->phases = made;
    ir_kernel ***list = behind ? &e->places[k].behind : &e->places[k].ahead;
    int *count = behind ? &e->places[k].behind_count : &e->places[k].ahead_count;
    *list = build_grow(a, *list, *count, sizeof **list);
    (*list)[(*count)++] = home;
    e->changed = true;
    return made;
}

void edit_run_after(editor *e, ir_phase *phase, ir_phase *earlier)
{
    if (!earlier || earlier == phase) return;
    for (int i = 0; i < phase->after_count; i++)
        if (phase->after[i] == earlier) return;
    ir_phase **list = arena_alloc(e->b->a, ((size_t)phase->after_count + 1) * sizeof *list);
    for (int i = 0; i < phase->after_count; i++) list[i] = phase->after[i];
    list[phase->after_count++] = earlier;
    phase->after = list;
}

void edit_replace_phase(editor *e, ir_phase *old, ir_phase *new) { (void)names_add(&e->replaced, old->name, new); }

/* ---- ops and values */
static void put_op(editor *e, ir_phase *phase, ir_op *op)
{
    for (int x = 0; x < op->output_count; x++) set_maker(e, op->outputs[x], phase);
    e->changed = true;
}

void edit_insert_op(editor *e, ir_phase *phase, int at, ir_op *op)
{
    ir_op **ops = arena_alloc(e->b->a, ((size_t)phase->op_count + 1) * sizeof *ops);
    for (int i = 0; i < at; i++) ops[i] = phase->ops[i];
    ops[at] = op;
    for (int i = at; i < phase->op_count; i++) ops[i + 1] = phase->ops[i];
    phase->ops = ops, phase->op_count++;
    put_op(e, phase, op);
}

void edit_remove_op(ir_phase *phase, const ir_op *op)
{
    int count = 0;
    for (int i = 0; i < phase->op_count; i++)
        if (phase->ops[i] != op) phase->ops[count++] = phase->ops[i];
    phase->op_count = count;
}

void edit_move_ops(editor *e, ir_phase *from, int first, int count, ir_phase *to, int at)
{
    for (int i = 0; i < count; i++) {
        ir_op *op = from->ops[first];
        edit_remove_op(from, op);
        edit_insert_op(e, to, at + i, op);
    }
}

void edit_remove_value(editor *e, const ir_value *v) { e->gone[v->id] = true; }

/* ---- notes */
void edit_add_note(editor *e, const char *code, ir_value *v, ir_op *user)
{
    ir_graph *p = e->b->p;
    if (p->note_count == e->note_count || !(p->note_count & (p->note_count - 1))) { /* full at powers of two, and at first */
        fusion_note *more = arena_alloc(e->b->a, (2 * (size_t)p->note_count + 2) * sizeof *more);
        if (p->note_count) memcpy(more, p->notes, (size_t)p->note_count * sizeof *more);
        p->notes = more;
    }
    p->notes[p->note_count++] = (fusion_note){code, v, user};
    e->changed = true;
}

/* Counting sort: the notes of value id are note_at[first_note[id]] up to note_at[first_note[id + 1]], exclusive. */
static void index_notes(editor *e)
{
    const ir_graph *p = e->b->p;
    const size_t values = (size_t)e->value_count + 2;
    e->first_note = arena_alloc(e->b->a, values * sizeof *e->first_note);
    e->note_at = arena_alloc(e->b->a, ((size_t)e->note_count + 1) * sizeof *e->note_at);
    for (int i = 0; i < e->note_count; i++) e->first_note[p->notes[i].value->id + 2]++;
    for (size_t i = 2; i < values; i++) e->first_note[i] += e->first_note[i - 1];
    for (int i = 0; i < e->note_count; i++) e->note_at[e->first_note[p->notes[i].value->id + 1]++] = i;
}

fusion_note *edit_note(editor *e, const ir_value *v, const ir_op *user)
{
    if (v->id >= e->value_count) return NULL;
    if (!e->first_note) index_notes(e);
    for (int i = e->first_note[v->id]; i < e->first_note[v->id + 1]; i++) {
        fusion_note *n = &e->b->p->notes[e->note_at[i]];
        if (n->value == v && n->user == user) return n;
    }
    return NULL;
}

/* ---- edit_finish() */
static void mend_after(editor *e, ir_phase *phase)
{
    int count = 0;
    for (int n = 0; n < phase->after_count; n++) {
        ir_phase *earlier = phase->after[n], *now = names_find(&e->replaced, earlier->name);
        if (now && now != phase) earlier = now;
        if (earlier->op_count > 0) phase->after[count++] = earlier;
    }
    phase->after_count = count;
}

static void list_kernel(editor *e, ir_kernel *kernel)
{
    ir_graph *p = e->b->p;
    int count = 0;
    for (int i = 0; i < kernel->phase_count; i++) {
        mend_after(e, kernel->phases[i]);
        if (kernel->phases[i]->op_count > 0) kernel->phases[count++] = kernel->phases[i];
    }
    kernel->phase_count = count;
    if (count > 0) p->kernels[p->kernel_count++] = kernel;
}

static void list_kernels(editor *e)
{
    ir_graph *p = e->b->p;
    ir_kernel *const *before = p->kernels;
    size_t room = 1;
    for (int k = 0; k < e->kernel_count; k++) room += 1 + (size_t)e->places[k].ahead_count + (size_t)e->places[k].behind_count;
    p->kernels = arena_alloc(e->b->a, room * sizeof *p->kernels);
    p->kernel_count = 0;
    for (int k = 0; k < e->kernel_count; k++) {
        for (int i = 0; i < e->places[k].ahead_count; i++) list_kernel(e, e->places[k].ahead[i]);
        list_kernel(e, before[k]);
        for (int i = 0; i < e->places[k].behind_count; i++) list_kernel(e, e->places[k].behind[i]);
    }
}

static void list_notes_and_values(editor *e)
{
    ir_graph *p = e->b->p;
    int count = 0;
    for (int i = 0; i < p->note_count; i++)
        if (p->notes[i].value) p->notes[count++] = p->notes[i];
    p->note_count = count;
    count = 0;
    for (int i = 0; i < p->value_count; i++)
        if (i >= e->value_count || !e->gone[i]) p->values[count++] = p->values[i];
    p->value_count = count;
    for (int i = 0; i < count; i++) p->values[i]->id = i;
}

bool edit_finish(editor *e)
{
    if (!e->changed) return false;
    list_kernels(e);
    list_notes_and_values(e);
    build_list_ops(e->b);
    return true;
}
