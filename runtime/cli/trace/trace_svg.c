/* In: a timeline. Out: a picture of it, SVG that needs no other file: a row a unit, a colour a launch, beneath it what each launch takes.
 * Horizontally it is as wide as what shows it, texts keep their size; its colours are light or dark as the reader's. Each launch can be
 * reached by keyboard, which fades the others. Refuses nothing. */
#include "runtime/cli/markup.h"
#include "runtime/cli/trace/timeline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    wide = 10000 /* of the picture's own units */,
    left = 8,
    right = 98 /* per cent */,
    head = 64,
    line = 40,
    row = 100,
    room = 92 /* of a unit's row, for tiles */
};

static const markup_rule rules[] = {{"svg", "background", markup_paper},
                                    {"text", "fill", markup_ink},
                                    {".dim", "fill", markup_dim},
                                    {".axis", "stroke", markup_line},
                                    {"a:focus .back,a:hover .back", "stroke", markup_link},
                                    {".c0.tile,.c0 .key", "fill", markup_hue},
                                    {".c1.tile,.c1 .key", "fill", markup_hue + 1},
                                    {".c2.tile,.c2 .key", "fill", markup_hue + 2},
                                    {".c3.tile,.c3 .key", "fill", markup_hue + 3},
                                    {".c4.tile,.c4 .key", "fill", markup_hue + 4},
                                    {".c5.tile,.c5 .key", "fill", markup_hue + 5},
                                    {".c6.tile,.c6 .key", "fill", markup_hue + 6},
                                    {".c7.tile,.c7 .key", "fill", markup_hue + 7}};
static const char style[] =
    "text{font:13px system-ui,sans-serif}.title{font-size:16px}.axis{stroke-width:1;vector-effect:non-scaling-stroke}"
    ".back{fill:none;pointer-events:all}a:focus{outline:none}a:focus .back,a:hover .back{stroke-width:2}"
    "@media(max-width:560px){text{font-size:12px}.title{font-size:14px}.more{display:none}}";

static double along(const timeline *t, double nanoseconds) { return t->length > 0 ? nanoseconds / t->length * wide : 0; }

/* Others fade while a launch is reached. */
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

/* One path a launch, whose lanes share a unit's row. Tiles side by side on a lane whose gap nobody could see are one bar; none is thinner
 * than a thousandth. */
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

static double across(const timeline *t, double nanoseconds) { return left + along(t, nanoseconds) / wide * (right - left); }

/* Marks at 1, 2 or 5 times a power of ten, at most eight. */
static void write_axis(text *out, const timeline *t, int height)
{
    double step = pow(10, floor(log10(t->length > 0 ? t->length / 8 : 1)));
    if (t->length / step > 40)
        step *= 10;
    else if (t->length / step > 16)
        step *= 5;
    else if (t->length / step > 8)
        step *= 2;
    for (int n = 0; n * step <= t->length; n++) {
        const double at = n * step;
        text_printf(out, "<line class=\"axis\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>", across(t, at), across(t, at), head,
                    head + height);
        text_printf(out, "<text class=\"dim%s\" x=\"%.2f%%\" y=\"%d\" text-anchor=\"middle\">%.6g</text>\n", n % 2 ? " more" : "",
                    across(t, at), head + height + 16, at / 1e3);
    }
    text_printf(out, "<text class=\"dim\" x=\"1%%\" y=\"%d\">us</text>\n", head + height + 16);
}

static void write_key(text *out, const timeline *t, int index, int y)
{
    const timeline_launch *l = &t->launches[index];
    text_printf(out, "<a id=\"k%d\" href=\"#t%d\" class=\"c%d\" aria-label=\"", index, index, index % markup_hues);
    markup_put(out, l->name);
    text_printf(out, ": from %.2f to %.2f microseconds, busy %.1f percent\">", l->begin / 1e3, l->end / 1e3, 100 * l->busy);
    text_printf(out, "<rect class=\"back\" x=\"1%%\" y=\"%d\" width=\"98%%\" height=\"%d\" rx=\"4\"/>", y - 15, line - 3);
    text_printf(out, "<rect class=\"key\" x=\"2%%\" y=\"%d\" width=\"14\" height=\"14\" rx=\"3\"/><text x=\"%d%%\" y=\"%d\">", y - 9, left,
                y + 2);
    markup_put(out, l->name);
    text_printf(out, "<tspan class=\"dim more\">  ");
    markup_put(out, l->ops);
    text_printf(out,
                "</tspan></text><text class=\"dim\" x=\"%d%%\" y=\"%d\">%.2f us, busy %.0f %%<tspan class=\"more\">, before %.0f, between "
                "%.0f, after %.0f, unused %.0f; %lld tiles of %.2f us</tspan></text></a>\n",
                left, y + 17, (l->end - l->begin) / 1e3, 100 * l->busy, 100 * l->before, 100 * l->between, 100 * l->after, 100 * l->unused,
                l->tile_count, l->median / 1e3);
}

const char *trace_picture(arena *a, const trace_facts *f, const timeline *t)
{
    text out = {.a = a};
    const int units = t->unit_count, each = units > 160 ? 4 : units > 60 ? 6 : units > 20 ? 10 : 24, height = units * each;
    const int keys = head + height + 46, all = keys + line * t->launch_count;
    text_printf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%d\" role=\"group\" aria-labelledby=\"name\">\n",
                all);
    text_printf(&out, "<title id=\"name\">");
    markup_put(&out, arena_printf(a, "tfgen trace: %s on %s", f->block, f->device));
    text_printf(&out, "</title>\n<style>");
    markup_rules(&out, rules, sizeof rules / sizeof *rules);
    text_printf(&out, "%s", style);
    write_fading(&out, t);
    text_printf(&out, "</style>\n<text class=\"title\" x=\"2%%\" y=\"24\">");
    markup_put(&out, arena_printf(a, "%s %s, %s, %s", f->block, f->dtype, f->level, f->device));
    text_printf(&out,
                "</text>\n<text class=\"dim\" x=\"2%%\" y=\"46\">%.2f us, %d units busy %.1f %%<tspan class=\"more\">; a row is a unit, a "
                "colour a launch</tspan></text>\n",
                t->length / 1e3, t->device_units, 100 * t->busy);
    write_axis(&out, t, height);
    text_printf(&out, "<svg x=\"%d%%\" y=\"%d\" width=\"%d%%\" height=\"%d\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">\n", left,
                head, right - left, height, wide, units * row);
    for (int i = 0; i < t->launch_count; i++) write_tiles(&out, t, i);
    text_printf(&out, "</svg>\n");
    for (int i = 0; i < t->launch_count; i++) write_key(&out, t, i, keys + line * i);
    text_printf(&out, "</svg>\n");
    return out.data;
}
