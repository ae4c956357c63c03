/* Contract: gen/source/stacked.h. */
#include "gen/source/stacked.h"
#include "ir/ir.h"
#include <string.h>

static const ir_value *root_of(const argument *g) { return g->kind == argument_value ? value_root(g->value) : NULL; }

static bool differs(const argument *g)
{
    const ir_value *root = root_of(g);
    if (g->kind == argument_packed || g->kind == argument_kind_of_layer) return true;
    return root && (root->kind == value_param || root->kind == value_state);
}

static bool same_memory(const argument *x, const argument *y)
{
    return x->kind == y->kind && (x->kind == argument_packed ? x->index == y->index : root_of(x) == root_of(y));
}

void stacked_set_places(launch *l)
{
    l->row_length = 0;
    for (int i = 0; i < l->argument_count; i++) {
        argument *g = &l->arguments[i];
        if (!differs(g)) continue;
        int before = 0;
        while (before < i && !(l->arguments[before].by_layer && same_memory(&l->arguments[before], g))) before++;
        g->by_layer = true;
        g->place = before < i ? l->arguments[before].place : l->row_length++;
    }
}

void stacked_write_phase(arena *a, const plan *p, const launch *l, int number, const char *args, const char *struct_name, writer *w)
{
    const char *prefix = arena_printf(a, "phase_%d.", number);
    write_line(w, "DEV static %s layer_phase_%d(const layer_view<%s> &p)", args, number, struct_name);
    write_body(w);
    write_line(w, "%s a = p.now().phase_%d;", args, number);
    for (int i = 0; i < l->argument_count; i++) {
        const argument *g = &l->arguments[i];
        if (strncmp(g->name, prefix, strlen(prefix)) != 0) continue;
        const char *field = g->name + strlen(prefix);
        if (g->by_layer) write_line(w, g->kind == argument_kind_of_layer ? "p.kind(a.%s, %d);" : "p.own(a.%s, %d);", field, g->place);
        else if (g->kind == argument_scratch && g->value && g->value == p->stack.in) write_line(w, "p.later(a.%s);", field);
        else if (l->words && root_of(g) && root_of(g)->kind == value_result && g->written) write_line(w, "p.last(a.%s);", field);
        else if (l->words) continue;
        else if (root_of(g) && root_of(g) == p->stack.in) write_line(w, "p.in(a.%s);", field);
        else if (root_of(g) && root_of(g) == p->stack.out) write_line(w, "p.out(a.%s);", field);
    }
    write_line(w, "return a;");
    end_body(w);
}
