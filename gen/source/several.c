/* Contract: gen/source/several.h. */
#include "gen/source/several.h"
#include "gen/emit/emit.h"
#include "gen/program/program.h"
#include "gen/source/stacked.h"
#include <string.h>

/* ---- phases side by side */
static void write_layout(const launch *l, const side *sides, const char *struct_name, writer *w)
{
    for (int i = 0; i < l->work_count; i++) write_line(w, "TF_LAYOUT(%s::args, phase_%d, %u);", struct_name, i + 1, sides[i].offset);
    write_line(w, "static_assert(sizeof(%s::args) == %u, \"size of args\");", struct_name,
               (argument_bytes(l->arguments, l->argument_count) + 7) / 8 * 8);
}

void several_write_sides(arena *a, const launch *l, const side *sides, const char *struct_name, writer *w)
{
    text signals = {.a = a};
    write_comment(w, arena_printf(a, "Kernel %s: phases that do not wait for each other, side by side.", l->kernel->name));
    write_head(w, (position){0}, "struct %s", struct_name);
    write_head(w, (position){0}, "struct args");
    for (int i = 0; i < l->work_count; i++) write_line(w, "%s phase_%d;", sides[i].args, i + 1);
    if (l->trace >= 0) write_line(w, "float *tf_trace;");
    end_head(w, "};");
    for (int i = 0; i < l->work_count; i++) text_printf(&signals, i ? " && %s::signals" : "%s::signals", sides[i].program);
    write_line(w, "using first = %s;", sides[0].program);
    write_line(w, "static constexpr int threads = %d;", l->threads);
    write_line(w, "static constexpr bool signals = %s;", signals.data);
    write_line(w, "template <class What> DEV static void each(const args &p, What what)");
    write_body(w);
    for (int i = 0; i < l->work_count; i++) write_line(w, "what(%s(), p.phase_%d);", sides[i].program, i + 1);
    end_body(w);
    end_head(w, "};");
    write_layout(l, sides, struct_name, w);
}

/* ---- phases that wait for each other (templates/frame/frame_list.h) */
/* Writes a function of the phase's index. head: its declaration. form: printf format of what it returns, given a phase's program and
 * number. */
static void write_by_phase(arena *a, const launch *l, const char *head, const char *form, const side *sides, writer *w)
{
    write_line(w, "%s", head);
    write_body(w);
    for (int i = 0; i < l->work_count; i++) {
        const char *line = arena_printf(a, form, sides[i].program, i + 1);
        if (i + 1 < l->work_count) write_line(w, "if (phase == %d) return %s;", i, line);
        else write_line(w, "return %s;", line);
    }
    end_body(w);
}

/* Writes a function that returns the n-th of the phases that a phase waits for, in its own layer or, with `before`, in the previous one.
 * Sets awaited[] of these phases. Returns the index of the last phase that waits, if that is more than `last`, else `last`. */
static int write_awaited(const launch *l, bool before, bool *awaited, int last, writer *w)
{
    write_line(w, "DEV static int %s(int phase, int n)", before ? "awaited_before" : "awaited");
    write_body(w);
    for (int i = 0; i < l->work_count; i++) {
        const launch_phase *of = &l->work[i];
        const int count = before ? of->await_before_count : of->await_count, *list = before ? of->awaits_before : of->awaits;
        for (int n = 0; n < count; n++) {
            write_line(w, "if (phase == %d && n == %d) return %d;", i, n, list[n]);
            awaited[list[n]] = true;
        }
        if (count && i > last) last = i;
    }
    write_line(w, "return -1;");
    end_body(w);
    return last;
}

/* Writes the functions that say which phases wait for which (gen/plan/order.h). */
static void write_waits(arena *a, const plan *p, const launch *l, writer *w)
{
    bool *awaited = arena_alloc(a, (size_t)l->work_count);
    text any = {.a = a};
    int last = write_awaited(l, false, awaited, 0, w);
    if (p->stack.in) last = write_awaited(l, true, awaited, last, w);
    for (int i = 0; i < l->work_count; i++)
        if (awaited[i]) text_printf(&any, any.size ? " || phase == %d" : "phase == %d", i);
    write_line(w, "DEV static bool is_awaited(int phase) { return %s; }", any.size ? any.data : "false");
    write_line(w, "static constexpr int last_wait = %d;", last);
}

/* Writes the launch's own arguments, which follow those of its phases. */
static void write_own_arguments(const plan *p, const launch *l, writer *w)
{
    write_line(w, "unsigned long long *tf_marks;");
    if (l->trace >= 0) write_line(w, "float *tf_trace;");
    if (!p->stack.in) return;
    write_line(w, "float *tf_turn_0, *tf_turn_1;");
    write_line(w, "const unsigned long long *tf_pointers;");
    write_line(w, "int tf_layers;");
}

/* Writes the functions that find a phase's arguments: among the kernel's or, in a stack, among those of one layer (layer_view). */
static void write_places(arena *a, const plan *p, const launch *l, const side *sides, const char *struct_name, writer *w)
{
    const bool stacked = p->stack.in != NULL;
    const char *at = stacked ? arena_printf(a, "layer_view<%s>", struct_name) : "args", *of = stacked ? "p.all" : "p";
    write_by_phase(a, l, arena_printf(a, "DEV static int tiles(const %s &p, int phase)", at),
                   arena_printf(a, "%%s::tiles(%s.phase_%%d)", of), sides, w);
    for (int i = 0; i < l->work_count && stacked; i++) stacked_write_phase(a, p, l, i + 1, sides[i].args, struct_name, w);
    write_by_phase(a, l, arena_printf(a, "template <class Do> DEV static void with(const %s &p, int phase, Do what)", at),
                   stacked ? "what(%s(), layer_phase_%d(p))" : "what(%s(), p.phase_%d)", sides, w);
    write_line(w, "DEV static unsigned long long *words(const %s &p) { return %s.tf_marks; }", at, of);
}

void write_ring(const launch *l, writer *w)
{
    if (l->ring_pages)
        write_line(w, "static constexpr int ring_pages = %d, pages_in_flight = %d;", l->ring_pages, l->pages_in_flight);
}

/* Whether a workgroup may compute its first tile before it knows whether all workgroups take part. Not if the tile's sums are split: they
 * pass through scratch memory to other workgroups. */
static bool begins_alone(const launch *l) { return l->feeds && l->work->program->finishes_apart && l->work->scratch < 0; }

void several_write_list(arena *a, const plan *p, const launch *l, const side *sides, const char *struct_name, writer *w)
{
    text programs = {.a = a};
    write_comment(w, arena_printf(a, p->stack.in ? "Kernel %s: all phases, one after the other, layer by layer."
                                                 : "Kernel %s: all phases, one after the other.", l->kernel->name));
    for (int i = 0; i < l->work_count; i++) text_printf(&programs, i ? ", %s" : "%s", sides[i].program);
    write_head(w, (position){0}, "struct %s : phase_list<%s>", struct_name, programs.data);
    write_line(w, "using waits = by_phases<%s>;", struct_name);
    write_line(w, "static constexpr bool counted = %s;", l->overlap ? "true" : "false");
    if (begins_alone(l)) write_line(w, "static constexpr bool begins_alone = true;");
    if (l->words) write_line(w, "static constexpr bool in_words = true;");
    if (l->words) write_line(w, "static constexpr int kept_bytes = %d;", l->schedule_bytes);
    write_ring(l, w);
    write_head(w, (position){0}, "struct args");
    for (int i = 0; i < l->work_count; i++) write_line(w, "%s phase_%d;", sides[i].args, i + 1);
    write_own_arguments(p, l, w);
    end_head(w, "};");
    if (p->stack.in) write_line(w, "static constexpr int row_length = %d;", l->row_length);
    write_places(a, p, l, sides, struct_name, w);
    write_waits(a, p, l, w);
    end_head(w, "};");
    write_layout(l, sides, struct_name, w);
    for (int i = 0; i < l->argument_count && p->stack.in; i++)
        if (!strchr(l->arguments[i].name, '.')) write_line(w, "TF_LAYOUT(%s::args, %s, %u);", struct_name, l->arguments[i].name,
                                                           l->arguments[i].offset);
}
