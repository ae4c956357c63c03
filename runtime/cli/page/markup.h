/* In: untrusted text. Out: the text escaped for pages, pictures and CSV files (RFC 4180); and the palette of all pages and pictures, light
 * or dark as the reader prefers. */
#ifndef TFGEN_CLI_MARKUP_H
#define TFGEN_CLI_MARKUP_H
#include "ir/base/arena.h"

void markup_put(text *t, const char *s); /* drops control characters, which pages may not contain */
void csv_put(text *t, const char *s);

/* markup_hue is the first of markup_hues colours that distinguish items of one kind; names, shapes or dashes repeat the distinction for
 * colour-blind readers. */
typedef enum markup_colour {
    markup_ink, markup_dim, markup_paper, markup_card, markup_line, markup_band, markup_idle, markup_link, markup_hot, markup_good,
    markup_hue
} markup_colour;
enum { markup_hues = 8 };

/* A CSS rule that sets a colour. Pictures contain literal colours, as not every SVG viewer supports CSS variables. */
typedef struct markup_rule {
    const char *selector, *property;
    int colour; /* markup_colour, or markup_hue and a number below markup_hues */
} markup_rule;
void markup_rules(text *t, const markup_rule *rules, size_t count);
/* CSS: --ink, --dim and so on, --h0 to --h7 for the hues. */
void markup_variables(text *t);
#endif
