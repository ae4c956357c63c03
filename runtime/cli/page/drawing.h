/* In: words, numbers, scales. Out: pictures (SVG) that need no other file, in the style of pages. Places across are per cent of the
 * picture's width and heights are pixels, so a picture is as wide as what shows it, a phone or a desk, and its letters keep their size. */
#ifndef TFGEN_CLI_DRAWING_H
#define TFGEN_CLI_DRAWING_H
#include "runtime/cli/page/markup.h"

/* The picture: `body` under the common style and `style`. `name` is what a reader of the screen says. At most `widest` pixels wide. A file
 * of its own, or a part of a page. */
typedef enum draw_place { draw_file, draw_part } draw_place;
void draw_picture(text *t, draw_place place, const char *name, const char *style, int widest, int height, const text *body);

/* Classes of texts: "" (ink), "dim", "hot", "title", "code". */
void draw_text(text *t, double x, int y, const char *class, const char *words);
/* In as many lines as a phone needs: nothing is cut. Returns the baseline of the line behind it. */
int draw_words(text *t, double x, int y, const char *class, const char *words);
double draw_width(const char *words); /* pixels; rather too many than too few */

/* ---- axes: values from `low` to `high` lie between the places `from` and `to` */
typedef struct draw_scale {
    double low, high;
    bool logarithmic;
    double from, to;
} draw_scale;
double draw_at(const draw_scale *s, double value);
enum { draw_most_marks = 10 };
/* Round values between low and high, at most `most`. */
int draw_marks(const draw_scale *s, int most, double *marks);
/* Lines with their values; the name says what they are, with the unit. Across: values below the bottom, then the name. Up: the name on
 * top. */
void draw_axis_across(text *t, const draw_scale *s, int top, int bottom, const char *name);
void draw_axis_up(text *t, const draw_scale *s, double left, double right, const char *name);
enum { draw_axis_room = 38 }; /* pixels that an axis takes below its bottom */
#endif
