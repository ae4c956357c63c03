/* In: names and reasons, which anybody may have written. Out: text that no page, picture or CSV file (RFC 4180) takes for markup; and the
 * one palette of all pages and pictures, light or dark as the reader has it. */
#ifndef TFGEN_CLI_MARKUP_H
#define TFGEN_CLI_MARKUP_H
#include "ir/base/arena.h"

void markup_put(text *t, const char *s); /* without control characters, which no page may have */
void csv_put(text *t, const char *s);

/* markup_hue is the first of markup_hues colours that tell things of one kind apart; names, shapes or dashes say the same, for whoever
 * sees no colours. */
typedef enum markup_colour {
    markup_ink, markup_dim, markup_paper, markup_card, markup_line, markup_band, markup_idle, markup_link, markup_hot, markup_good,
    markup_hue
} markup_colour;
enum { markup_hues = 8 };

/* CSS: what has which colour. Pictures have colours, not variables: not every program that shows SVG knows variables. */
typedef struct markup_rule {
    const char *selector, *property;
    int colour; /* markup_colour, or markup_hue and a number below markup_hues */
} markup_rule;
void markup_rules(text *t, const markup_rule *rules, size_t count);
/* CSS: --ink, --dim and so on, --h0 to --h7 for the hues. */
void markup_variables(text *t);
#endif
