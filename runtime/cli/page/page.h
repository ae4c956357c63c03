/* In: the content of a page or a report. Out: self-contained pages in one style (page.css); and tables, written as part of a page, as text
 * or as CSV. */
#ifndef TFGEN_CLI_PAGE_H
#define TFGEN_CLI_PAGE_H
#include "ir/base/arena.h"

/* Writes everything from the doctype to the opening <main>. Escapes title and about. */
void page_begin(text *t, const char *title, const char *about);
void page_end(text *t);
void page_style(text *t); /* the style sheet with its colours, for pages with a head of their own */

typedef struct sheet_column {
    const char *name;
    enum { sheet_number, sheet_name, sheet_words } kind; /* right-aligned; left-aligned; left-aligned and wrapped */
} sheet_column;

enum { sheet_most_columns = 24 };
typedef struct sheet {
    arena *a;
    const char *caption;
    const sheet_column *columns;
    int column_count;
    const char **cells, **kinds; /* cells: row-major; kinds: each row's CSS class, or "" */
    size_t row_count, row_room;
} sheet;
void sheet_add(sheet *s, const char *kind, const char *const *cells);
/* Pages and text omit columns that are empty in every row; CSV keeps them, as scripts look for them by name. */
void sheet_put_html(text *t, const sheet *s);
void sheet_put_text(text *t, const sheet *s);
void sheet_put_csv(text *t, const sheet *s);
#endif
