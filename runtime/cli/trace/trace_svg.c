/* In: a timeline. Out: a self-contained SVG: a row per unit, a colour per launch, below it the times of each launch. Launches can be
 * focused by keyboard, which fades the others. */
#include "runtime/cli/page/drawing.h"
#include "runtime/cli/spread.h"
#include "runtime/cli/trace/timeline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    wide = 10000 /* width in units of the drawing */,
    row = 100,
    room = 92 /* height for tiles in a unit's row */,
    widest = 1600
};
static const double left = 8, right = 98; /* per cent */

static const char style[] = ".back{fill:none;pointer-events:all}a:focus{outline:none}a:focus .back,a:hover .back{stroke-width:2}"
                            "a .link{stroke:none}a:focus .link,a:hover .link{stroke:LinkText}";

static double along(const timeline *t, double nanoseconds) { return t->length > 0 ? nanoseconds / t->length * wide : 0; }

/* Style rules: others fade while a launch has focus or hover. */
static void write_fading(text *out, const timeline *t)
{
    for (int i = 0; i < t->launch_count; i++)
        text_printf(out, "svg:has(#k%d:focus) .tile:not(#t%d),svg:has(#k%d:hover) .tile:not(#t%d){opacity:.18}", i, i, i, i);
}

static int by_row(const void *x, const void *y)
{
    const timeline_tile *a = *(const timeline_tile *const *)x, *b = *(const timeline_tile *const *)y;
    if (a->unit != b->unit) return a->unit - b->unit;
    if (a->lane != b->lane) return a->lane - b->lane;
    return (a->start > b->start) - (a->start < b->start);
}

static void write_bar(text *out, const timeline *t, const timeline_tile *first, double to, int lanes)
{
    const double high = (double)room / lanes, length = fmax(along(t, to - first->start), wide / 1000.0);
    text_printf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", along(t, first->start), first->unit * row + first->lane * high, length, high * 0.9,
                length);
}

/* One path per launch; lanes share a unit's row. Neighbouring tiles on a lane with an invisible gap are one bar; no bar is thinner than a
 * thousandth of the width. */
static void write_tiles(text *out, const timeline *t, int index)
{
    const timeline_launch *l = &t->launches[index];
    const timeline_tile **list = arena_alloc(out->a, ((size_t)l->tile_count + 1) * sizeof *list);
    int lanes = 1;
    for (long long i = 0; i < l->tile_count; i++) {
        list[i] = &l->tiles[i];
        if (list[i]->lane >= lanes) lanes = list[i]->lane + 1;
    }
    qsort(list, (size_t)l->tile_count, sizeof *list, by_row);
    text_printf(out, "<path id=\"t%d\" class=\"tile c%d\" d=\"", index, index % markup_hues);
    for (long long i = 0, next; i < l->tile_count; i = next) {
        const timeline_tile *x = list[i];
        double to = x->end;
        for (next = i + 1; next < l->tile_count; next++) {
            const timeline_tile *y = list[next];
            if (y->unit != x->unit || y->lane != x->lane || y->start - to > t->length / 4000) break;
            to = fmax(to, y->end);
        }
        write_bar(out, t, x, to, lanes);
    }
    text_printf(out, "\"><title>");
    markup_put(out, l->name);
    text_printf(out, "</title></path>\n");
}

static const char *time_text(arena *a, double nanoseconds) { return spread_time_text(a, nanoseconds * 1e-9, true); }

/* Writes a launch's name, ops and times; returns the y below. */
static int write_key(text *out, const timeline *t, int index, int y)
{
    const timeline_launch *l = &t->launches[index];
    text words = {.a = out->a};
    int end = draw_words(&words, left, y, "name", l->name);
    end = draw_words(&words, left, end, "dim", l->ops);
    end = draw_words(&words, left, end, "", arena_printf(out->a, "%s from %s on; %lld tiles, %s each", time_text(out->a, l->end - l->begin),
                                                         time_text(out->a, l->begin), l->tile_count, time_text(out->a, l->median)));
    end = draw_words(&words, left, end, "",
                     arena_printf(out->a,
                                  "units: busy %.0f %%; idle before their first tile %.0f, between tiles %.0f, "
                                  "after the last %.0f; without a tile %.0f",
                                  100 * l->busy, 100 * l->before, 100 * l->between, 100 * l->after, 100 * l->unused));
    text_printf(out, "<a id=\"k%d\" href=\"#t%d\" aria-label=\"", index, index);
    markup_put(out, l->name);
    text_printf(out, ": from %s to %s, busy %.1f percent\">", time_text(out->a, l->begin), time_text(out->a, l->end), 100 * l->busy);
    text_printf(out, "<rect class=\"back link\" x=\"1%%\" y=\"%d\" width=\"98%%\" height=\"%d\" rx=\"4\"/>", y - 16, end - y + 6);
    text_printf(out, "<rect class=\"c%d\" x=\"2%%\" y=\"%d\" width=\"14\" height=\"14\" rx=\"3\"/>\n", index % markup_hues, y - 11);
    text_append(out, words.data, words.size);
    text_printf(out, "</a>\n");
    return end + 8;
}

const char *trace_picture(arena *a, const trace_facts *f, const timeline *t)
{
    text body = {.a = a}, out = {.a = a}, fading = {.a = a};
    const int units = t->unit_count, each = units > 160 ? 4 : units > 60 ? 6 : units > 20 ? 10 : 24, height = units * each;
    const bool fine = t->length < 1e7;
    const draw_scale time = {0, t->length / (fine ? 1e3 : 1e6), false, left, right};
    int y = draw_words(&body, 2, 24, "title", arena_printf(a, "%s %s, level %s", f->block, f->dtype, f->level));
    y = draw_words(&body, 2, y, "", f->device);
    y = draw_words(&body, 2, y, "dim", arena_printf(a, "%s; %d units are busy %.1f %% of it. A row is a unit, a colour a launch.",
                                                    time_text(a, t->length), t->device_units, 100 * t->busy));
    draw_axis_across(&body, &time, y, y + height,
                     fine ? "time since the first workgroup began, us" : "time since the first workgroup began, ms");
    text_printf(&body, "<svg x=\"%.0f%%\" y=\"%d\" width=\"%.0f%%\" height=\"%d\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">\n",
                left, y, right - left, height, wide, units * row);
    for (int i = 0; i < t->launch_count; i++) write_tiles(&body, t, i);
    text_printf(&body, "</svg>\n");
    y += height + draw_axis_room + 22;
    for (int i = 0; i < t->launch_count; i++) y = write_key(&body, t, i, y);
    text_printf(&fading, "%s", style);
    write_fading(&fading, t);
    draw_picture(&out, draw_file, arena_printf(a, "tfgen trace: %s on %s", f->block, f->device), fading.data, widest, y, &body);
    return out.data;
}
