/* Contract: drawing.h. */
#include "runtime/cli/page/drawing.h"
#include <math.h>
#include <string.h>

enum { line_height = 17, line_room = 345 /* pixels for a line of text: a phone's width */ };

/* ---- the picture */
static const markup_rule rules[] = {{":root", "background", markup_paper},
                                    {"svg text", "fill", markup_ink},
                                    {"svg .dim", "fill", markup_dim},
                                    {"svg .hot", "fill", markup_hot},
                                    {".axis", "stroke", markup_line},
                                    {".stroke", "stroke", markup_ink},
                                    {".hotstroke", "stroke", markup_hot},
                                    {".link", "stroke", markup_link},
                                    {".best", "stroke", markup_good},
                                    {".idle", "fill", markup_idle},
                                    {".none", "fill", markup_band},
                                    {".c0", "fill", markup_hue},
                                    {".c1", "fill", markup_hue + 1},
                                    {".c2", "fill", markup_hue + 2},
                                    {".c3", "fill", markup_hue + 3},
                                    {".c4", "fill", markup_hue + 4},
                                    {".c5", "fill", markup_hue + 5},
                                    {".c6", "fill", markup_hue + 6},
                                    {".c7", "fill", markup_hue + 7}};
static const char plain[] = "svg text{font:13px system-ui,sans-serif}svg .title{font-size:17px;font-weight:600}svg .name{font-weight:600}"
                            "svg .code{font-family:ui-monospace,monospace;font-size:12px}.axis{stroke-width:1}"
                            "@media(max-width:560px){.more{display:none}}";

/* Without this HTML element phones lay out an SVG file as if they were 980 pixels wide. */
static const char viewport[] =
    "<metadata><meta xmlns=\"http://www.w3.org/1999/xhtml\" name=\"viewport\" content=\"width=device-width\"/></metadata>\n";

void draw_picture(text *t, draw_place place, const char *name, const char *style, int widest, int height, const text *body)
{
    text_printf(t, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%d\" style=\"max-width:%dpx\" role=\"group\""
                   " aria-label=\"", height, widest);
    markup_put(t, name);
    text_printf(t, "\">\n%s<title>", place == draw_file ? viewport : "");
    markup_put(t, name);
    text_printf(t, "</title>\n<style>");
    markup_rules(t, rules, sizeof rules / sizeof *rules);
    text_printf(t, "%s%s</style>\n", plain, style);
    text_append(t, body->data, body->size);
    text_printf(t, "</svg>\n");
}

/* ---- words */
static double letter_width(char c)
{
    if ((c & 0xc0) == 0x80) return 0; /* UTF-8 continuation byte */
    if (strchr("iljI.,:;'|!()[] ft", c)) return 5;
    return strchr("mwMW@%", c) || (c & 0x80) ? 13 : (c >= 'A' && c <= 'Z') ? 9.2 : 8;
}

double draw_width(const char *words)
{
    double sum = 0;
    for (; *words; words++) sum += letter_width(*words);
    return sum;
}

static void put_line(text *t, double x, int y, const char *class, const char *words, size_t length)
{
    text_printf(t, "<text%s%s%s x=\"%.2f%%\" y=\"%d\">", *class ? " class=\"" : "", class, *class ? "\"" : "", x, y);
    markup_put(t, arena_printf(t->a, "%.*s", (int)length, words));
    text_printf(t, "</text>\n");
}

void draw_text(text *t, double x, int y, const char *class, const char *words) { put_line(t, x, y, class, words, strlen(words)); }

/* Bytes of the words that fit a line: up to the last space that fits; without a space, all letters that fit. */
static size_t line_of(const char *words)
{
    double width = 0;
    size_t space = 0, n = 0;
    for (; words[n]; n++) {
        width += letter_width(words[n]);
        if (width > line_room && n) break;
        if (words[n] == ' ') space = n;
    }
    if (!words[n]) return n;
    if (space) return space;
    while (n > 1 && (words[n] & 0xc0) == 0x80) n--;
    return n;
}

int draw_words(text *t, double x, int y, const char *class, const char *words)
{
    do {
        const size_t n = line_of(words);
        put_line(t, x, y, class, words, n);
        words += n;
        words += strspn(words, " ");
        y += line_height;
    } while (*words);
    return y;
}

/* ---- axes */
double draw_at(const draw_scale *s, double value)
{
    const double low = s->logarithmic ? log(s->low) : s->low, high = s->logarithmic ? log(s->high) : s->high;
    const double part = high > low ? ((s->logarithmic ? log(value) : value) - low) / (high - low) : 0.5;
    return s->from + part * (s->to - s->from);
}

static bool add_mark(const draw_scale *s, double value, double *marks, int most, int *count)
{
    if (value < s->low * (1 - 1e-9) || value > s->high * (1 + 1e-9)) return true;
    if (*count < most) marks[*count] = value;
    return ++*count <= most;
}

/* Marks at 1, 2 and 5 of each power of ten if `most` allows, else at powers of ten. */
static int round_marks(const draw_scale *s, int most, double *marks)
{
    static const double steps[2][3] = {{1, 2, 5}, {1, 0, 0}};
    for (int kind = 0; kind < 2; kind++) {
        int count = 0;
        bool fits = true;
        for (int power = (int)floor(log10(s->low)); fits && power <= (int)ceil(log10(s->high)); power++)
            for (int i = 0; fits && i < 3 && steps[kind][i] > 0; i++)
                fits = add_mark(s, steps[kind][i] * pow(10, power), marks, most, &count);
        if (fits && count >= 2) return count;
    }
    return 0;
}

int draw_marks(const draw_scale *s, int most, double *marks)
{
    static const double steps[] = {1, 2, 5, 10};
    const double length = s->high - s->low;
    if (most > draw_most_marks) most = draw_most_marks;
    if (!(length > 0) || !isfinite(length)) return marks[0] = s->low, 1;
    const int logarithmic = s->logarithmic ? round_marks(s, most, marks) : 0;
    if (logarithmic) return logarithmic;
    const double power = pow(10, floor(log10(length / most)));
    for (int i = 0; i < 4; i++) {
        int count = 0;
        const double step = steps[i] * power, first = ceil(s->low / step - 1e-9);
        while (count <= most && (first + count) * step <= s->high + step * 1e-9) {
            if (count < most) marks[count] = (first + count) * step;
            count++;
        }
        if (count <= most) return count;
    }
    return 0;
}

void draw_axis_across(text *t, const draw_scale *s, int top, int bottom, const char *name)
{
    double marks[draw_most_marks];
    const int count = draw_marks(s, draw_most_marks, marks);
    for (int i = 0; i < count; i++) {
        const double x = draw_at(s, marks[i]);
        text_printf(t, "<line class=\"axis\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>", x, x, top, bottom);
        text_printf(t, "<text class=\"dim%s\" x=\"%.2f%%\" y=\"%d\" text-anchor=\"middle\">%.7g</text>\n",
                    count > 5 && i % 2 ? " more" : "", x, bottom + 16, marks[i]);
    }
    draw_text(t, s->from, bottom + 34, "dim", name);
}

void draw_axis_up(text *t, const draw_scale *s, double left, double right, const char *name)
{
    double marks[draw_most_marks];
    const int count = draw_marks(s, draw_most_marks, marks);
    for (int i = 0; i < count; i++) {
        const double y = draw_at(s, marks[i]);
        text_printf(t, "<line class=\"axis\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%.1f\" y2=\"%.1f\"/>", left, right, y, y);
        text_printf(t, "<text class=\"dim\" x=\"%.2f%%\" dx=\"-6\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n", left, y + 4, marks[i]);
    }
    draw_text(t, 2, (int)s->to - 14, "dim", name);
}
