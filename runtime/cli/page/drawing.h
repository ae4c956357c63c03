/* In: words, numbers, scales. Out: self-contained SVG pictures in the style of pages. x is in per cent of the picture's width and y in
 * pixels, so a picture adapts to the width of the screen while its text keeps its size. */
#ifndef TFGEN_CLI_DRAWING_H
#define TFGEN_CLI_DRAWING_H
#include "runtime/cli/page/markup.h"

/* Writes `body` with the common style and `style`, as a file of its own or as part of a page. `name` is read by screen readers; the width
 * is at most `widest` pixels. */
typedef enum draw_place { draw_file, draw_part } draw_place;
void draw_picture(text *t, draw_place place, const char *name, const char *style, int widest, int height, const text *body);

/* class: "" (ink), "dim", "hot", "title" or "code". */
void draw_text(text *t, double x, int y, const char *class, const char *words);
/* Breaks the words into lines that fit a phone; nothing is cut. Returns the baseline of the next line. */
int draw_words(text *t, double x, int y, const char *class, const char *words);
double draw_width(const char *words); /* pixels, an estimate that is not too small */

/* ---- axes: values from `low` to `high` map to coordinates from `from` to `to` */
typedef struct draw_scale {
    double low, high;
    bool logarithmic;
    double from, to;
} draw_scale;
double draw_at(const draw_scale *s, double value);
enum { draw_most_marks = 10 };
/* Round values between low and high, at most `most`. */
int draw_marks(const draw_scale *s, int most, double *marks);
/* Grid lines labelled with their values; name: the quantity with its unit. Across: values below the bottom, then the name. Up: the name
 * on top. */
void draw_axis_across(text *t, const draw_scale *s, int top, int bottom, const char *name);
void draw_axis_up(text *t, const draw_scale *s, double left, double right, const char *name);
enum { draw_axis_room = 38 }; /* pixels that draw_axis_across() needs below `bottom` */
#endif
