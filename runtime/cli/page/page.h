/* In: what a page or a report says. Out: pages that need no other file and no network, all in one style (page.css); and tables, which are
 * written once, as part of a page, as text or as CSV. */
#ifndef TFGEN_CLI_PAGE_H
#define TFGEN_CLI_PAGE_H
#include "ir/base/arena.h"

/* From the doctype to the end of the header; then <main> begins. title and about are escaped. */
void page_begin(text *t, const char *title, const char *about);
void page_end(text *t);
void page_style(text *t); /* the style sheet with its colours, for pages with a head of their own */

/* Text that goes into a page is put into the program by the assembler. */
#define PAGE_EMBED(name, path)                                                                                                        \
    __asm__(".pushsection .rodata\n.hidden " #name "\n.global " #name "\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.popsection\n"); \
    extern const char name[] __attribute__((visibility("hidden")))

typedef struct sheet_column {
    const char *name;
    enum { sheet_number, sheet_name, sheet_words } kind; /* to the right; to the left; to the left, broken into lines */
} sheet_column;

enum { sheet_most_columns = 24 };
typedef struct sheet {
    arena *a;
    const char *caption;
    const sheet_column *columns;
    int column_count;
    const char **cells, **kinds; /* row by row; a row's CSS class, or "" */
    size_t row_count, row_room;
} sheet;
void sheet_add(sheet *s, const char *kind, const char *const *cells);
/* Columns in which no row says anything are left out of pages and text, and kept in CSV, where programs look for them by name. */
void sheet_put_html(text *t, const sheet *s);
void sheet_put_text(text *t, const sheet *s);
void sheet_put_csv(text *t, const sheet *s);
#endif
