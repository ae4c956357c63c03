/* In: names and reasons, of anybody. Out: text in which they are nothing but text: of pages and pictures, and of CSV (RFC 4180); what all
 * pages and pictures look like: one palette, light or dark as the reader has it. Refuses nothing. */
#ifndef TFGEN_CLI_MARKUP_H
#define TFGEN_CLI_MARKUP_H
#include "ir/base/arena.h"

void markup_put(text *t, const char *s); /* without control characters, which no page may have */
void csv_put(text *t, const char *s);

typedef enum markup_colour { /* markup_hue: the first of markup_hues, which tell things of a kind from each other */
    markup_ink, markup_dim, markup_paper, markup_card, markup_line, markup_band, markup_idle, markup_link, markup_hot, markup_good,
    markup_hue
} markup_colour;
enum { markup_hues = 8 };

/* CSS: what has which colour. In pictures, as not all that shows them knows variables. */
typedef struct markup_rule {
    const char *selector, *property;
    int colour; /* markup_colour, or markup_hue and a number below markup_hues */
} markup_rule;
void markup_rules(text *t, const markup_rule *rules, size_t count);
/* CSS: --ink, --dim and so on but the hues, for pages. */
void markup_variables(text *t);
/* The head of a page that needs no other file: variables, tables, and `style` behind them. */
void markup_page(text *t, const char *title, const char *style);
#endif
