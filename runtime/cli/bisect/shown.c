/* In: a plan with a wrong value. Out: the first wrong value inside its phase. Intermediates of a phase are in registers, so they are added
 * to the plan's text as outputs, and the same phases with the same tiles run again and store them. If the fault then disappears, or they
 * cannot be stored, the answer remains the phase's stored value. */
#include "runtime/cli/bisect/bisect.h"
#include "ir/graph/segments.h"
#include <string.h>

/* One plan with values stored, in an arena of its own. */
typedef struct shown {
    arena *a;
    bisection *b;
    const char *text; /* text of the plan with the values as further outputs */
    bool run;         /* run the plan and judge it; false: only see whether it can be planned */
    compiled c;
    walk walk;
    text lost;
} shown;

static void free_arena(void *a) { arena_free(a); }

static void body(void *shown_)
{
    shown *s = shown_;
    compile_request r = s->b->request;
    r.text = s->text, r.size = strlen(s->text), r.from_ir = true, r.from = stage_plan, r.graph = (graph_options){0};
    r.tuning = NULL, r.dump = NULL, r.disabled = NULL, r.disabled_count = 0;
    r.target = s->b->plan->target->name;
    compile_inside(s->a, &r, &s->c);
    if (!s->run) return;
    s->lost = (text){.a = s->a};
    source_edits_merge(s->a, &s->b->edits, s->c.plan, &s->lost);
    s->walk = (walk){.a = s->a, .graph = s->b->graph, .plan = s->c.plan};
    const trial_options o = walk_options(s->b, &s->walk);
    const trial_result result = trial_run(s->a, s->b->graph, s->c.plan, &o);
    source_edits_check(s->a, &s->b->edits, s->c.plan, result.plan);
}

/* Returns an error or NULL. The arena lives as long as the bisection. */
static const char *attempt(shown *s)
{
    s->a = arena_new();
    if (!s->a) return "not enough memory";
    const tfgen_code code = arena_run(s->a, body, s);
    const char *why = code == code_ok ? NULL : arena_first_error(s->b->a, s->a);
    if (why || !s->run)
        arena_free(s->a);
    else
        arena_defer(s->b->a, free_arena, s->a);
    return why;
}

/* The plan's text with these values as additional outputs. */
static const char *with_outputs(bisection *b, const char *const *names, int count)
{
    const char *whole = ir_print(b->a, b->plan->ir), *at = strstr(whole, "\nout ");
    text t = {.a = b->a};
    if (!at) return whole;
    text_append(&t, whole, (size_t)(at + 1 - whole));
    for (int i = 0; i < count; i++) text_printf(&t, "out  %%%s as bisect_%d\n", names[i], i);
    text_append(&t, at + 1, strlen(at + 1));
    return t.data;
}

static bool is_kept(const bisection *b, const ir_phase *phase, const ir_value *v)
{
    return v->root || v->output || v->kind != value_result || value_stored(b->plan->ir, phase, v);
}

/* Values of a phase that the spec names and that are not stored. */
static int values_inside(bisection *b, const ir_phase *phase, const char **names)
{
    int count = 0;
    for (int i = 0; i < phase->op_count; i++)
        for (int k = 0; k < phase->ops[i]->output_count; k++) {
            const ir_value *v = phase->ops[i]->outputs[k];
            if (is_kept(b, phase, v)) continue;
            if (graph_value(b->graph, v->name)) names[count++] = v->name;
        }
    return count;
}

/* Keeps the names of values that a plan can store: all of them together, or else each that it can store alone. */
static int keep_storable(bisection *b, const char **names, int count)
{
    int kept = 0;
    shown all = {.b = b, .text = with_outputs(b, names, count)};
    if (!attempt(&all)) return count;
    for (int i = 0; i < count; i++) {
        shown one = {.b = b, .text = with_outputs(b, &names[i], 1)};
        const char *why = attempt(&one);
        if (!why)
            names[kept++] = names[i];
        else
            b->hidden = arena_printf(b->a, "%%%s cannot be stored: %s", names[i], why);
    }
    return kept;
}

void bisect_inside(bisection *b)
{
    const ir_phase *phase = b->stored.made.phase;
    if (!phase) return;
    const char **names = arena_alloc(b->a, ((size_t)b->plan->ir->value_count + 1) * sizeof *names);
    int count = values_inside(b, phase, names);
    if (count) count = keep_storable(b, names, count);
    shown s = {.b = b, .text = with_outputs(b, names, count), .run = true};
    const char *why = count ? attempt(&s) : NULL;
    if (why) b->hidden = arena_printf(b->a, "with the values of %s stored: %s", phase->name, why), count = 0;
    b->shown = count;
    if (count) {
        const mismatch *first = walk_first(&s.walk, s.c.plan);
        b->vanished = !first;
        b->lost = s.lost.data;
        if (first) b->first = (finding){*first, locate(b, b->plan, first)};
    }
}
