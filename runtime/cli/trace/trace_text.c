/* In: a timeline. Out: a table on standard output. */
#include "runtime/cli/trace/timeline.h"
#include "runtime/cli/cli.h"
#include <stdio.h>
#include <string.h>

static double micro(double nanoseconds) { return nanoseconds / 1e3; }
static double percent(double share) { return 100 * share; }

static void print_launch(const timeline *t, int index)
{
    const timeline_launch *l = &t->launches[index];
    printf("  %-28s %9.2f %9.2f %9.2f %9.2f %7lld %5d  %5.1f %6.1f %7.1f %5.1f %6.1f\n", l->name, micro(l->begin), micro(l->first),
           micro(l->last), micro(l->end), l->tile_count, l->units, percent(l->busy), percent(l->before), percent(l->between),
           percent(l->after), percent(l->unused));
}

static void print_phases(const timeline_launch *l)
{
    if (l->phase_count)
        printf("%s    %-26s %9s %9s %10s %9s %7s  median tile, once ready%s\n", colour_code(stdout, colour_dim), "us", "1st tile",
               "1st ready", "last ready", "ends", "tiles", colour_code(stdout, colour_none));
    for (int i = 0; i < l->phase_count; i++) {
        const timeline_phase *x = &l->phases[i];
        if (x->tiles)
            printf("    %-26s %9.2f %9.2f %10.2f %9.2f %7lld  %.2f\n", x->name, micro(x->first), micro(x->ready), micro(x->last_ready),
                   micro(x->end), x->tiles, micro(x->median));
    }
}

static void print_waits(const timeline *t, int index)
{
    const timeline_launch *l = &t->launches[index];
    printf("  %s%s%s: %s\n", colour_code(stdout, colour_bold), l->name, colour_code(stdout, colour_none), l->ops);
    if (l->worst)
        printf("    tiles take %.2f us, the longest (tile %lld, workgroup %d) %.2f\n", micro(l->median), l->worst->tile,
               l->worst->workgroup, micro(l->longest));
    if (l->stores >= 0) printf("    %.1f %% of the tiles' time comes after the mainloop\n", percent(l->stores));
    if (l->data >= 0) printf("    %.1f %% of the tiles' time is a wait for their first data\n", percent(l->data));
    print_phases(l);
    if (l->ahead >= 0 && index > 0) printf("    a workgroup waits %.2f us for the previous launch\n", micro(l->ahead));
    if (index > 0) {
        const double early = t->launches[index - 1].end - l->begin;
        if (early > 0)
            printf("    begins %.2f us before %s has ended", micro(early), t->launches[index - 1].name);
        else
            printf("    begins %.2f us after %s has ended", micro(-early), t->launches[index - 1].name);
        printf("; from its last tile to the first of this one %.2f us\n", micro(l->gap));
    }
}

void trace_print(arena *a, const trace_facts *f, const timeline *t)
{
    printf("%s  %s  level %s  on %s  target %s\n", f->block, f->dtype, f->level, f->device, f->target);
    printf(
        "%.2f us from the first workgroup to the last, in which %s computed tiles for %.1f %% of the time; clock: %s, steps of %g "
        "ns seen\n",
        micro(t->length), text_counted(a, t->device_units, "unit"), percent(t->busy), f->clock, t->resolution);
    printf("%s  %-28s %9s %9s %9s %9s %7s %5s  %% of units: %6s %7s %5s %6s%s\n", colour_code(stdout, colour_dim), "us", "begins",
           "1st tile", "last tile", "ends", "tiles", "units", "before", "between", "after", "unused", colour_code(stdout, colour_none));
    for (int i = 0; i < t->launch_count; i++) print_launch(t, i);
    for (int i = 0; i < t->launch_count; i++) print_waits(t, i);
    printf(
        "tracing: outputs and states have the same bits as without it; a run takes %.2f us with it and %.2f us without (%+.1f %%, medians "
        "of %d%s in turn)\n",
        1e6 * f->traced, 1e6 * f->plain, percent(f->traced / f->plain - 1), f->runs, f->graph ? " replays of a graph" : "");
}
