/* Contract: page.h. Names and reasons are untrusted: pages and CSV quote them. */
#include "runtime/cli/page/page.h"
#include "ir/base/embed.h"
#include "runtime/cli/page/markup.h"
#include <string.h>

EMBED_FILE(tfgen_page_css, "runtime/cli/page/page.css");

/* ---- pages */
void page_style(text *t)
{
    markup_variables(t);
    text_printf(t, "\n%s", tfgen_page_css);
}

void page_begin(text *t, const char *title, const char *about)
{
    text_printf(t, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>");
    markup_put(t, title);
    text_printf(t, "</title>\n<style>\n");
    page_style(t);
    text_printf(t, "</style>\n</head>\n<body>\n<header><h1>");
    markup_put(t, title);
    text_printf(t, "</h1><p class=\"dim\">");
    markup_put(t, about);
    text_printf(t, "</p></header>\n<main>\n");
}

void page_end(text *t) { text_printf(t, "</main>\n</body>\n</html>\n"); }

/* ---- tables */
static const char *cell(const sheet *s, size_t row, int column) { return s->cells[row * (size_t)s->column_count + (size_t)column]; }

void sheet_add(sheet *s, const char *kind, const char *const *cells)
{
    const size_t width = (size_t)s->column_count;
    if (s->row_count == s->row_room) {
        const size_t room = s->row_room ? 2 * s->row_room : 16;
        const char **more = arena_alloc(s->a, room * width * sizeof *more), **kinds = arena_alloc(s->a, room * sizeof *kinds);
        if (s->row_count)
            memcpy(more, s->cells, s->row_count * width * sizeof *more), memcpy(kinds, s->kinds, s->row_count * sizeof *kinds);
        s->cells = more, s->kinds = kinds, s->row_room = room;
    }
    memcpy(s->cells + s->row_count * width, cells, width * sizeof *cells);
    s->kinds[s->row_count++] = kind;
}

/* Lists the columns in which at least one row has text. */
static int used_columns(const sheet *s, int *used)
{
    int count = 0;
    for (int c = 0; c < s->column_count; c++)
        for (size_t row = 0; row < s->row_count; row++)
            if (*cell(s, row, c)) {
                used[count++] = c;
                break;
            }
    return count;
}

static const char *const column_classes[] = {[sheet_number] = " class=\"n\"", [sheet_name] = "", [sheet_words] = " class=\"t\""};

static void put_html_row(text *t, const sheet *s, size_t row, const int *used, int count)
{
    text_printf(t, "<tr class=\"%s\">", s->kinds[row]);
    for (int i = 0; i < count; i++) {
        text_printf(t, "<td%s>", column_classes[s->columns[used[i]].kind]);
        markup_put(t, cell(s, row, used[i]));
        text_printf(t, "</td>");
    }
    text_printf(t, "</tr>\n");
}

void sheet_put_html(text *t, const sheet *s)
{
    int used[sheet_most_columns];
    const int count = used_columns(s, used);
    text_printf(t, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");
    markup_put(t, s->caption);
    text_printf(t, "\"><table><caption>");
    markup_put(t, s->caption);
    text_printf(t, "</caption>\n<thead><tr>");
    for (int i = 0; i < count; i++)
        text_printf(t, "<th scope=\"col\"%s>%s</th>", column_classes[s->columns[used[i]].kind], s->columns[used[i]].name);
    text_printf(t, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; row < s->row_count; row++) put_html_row(t, s, row, used, count);
    text_printf(t, "</tbody></table></div>\n");
}

static void put_text_cell(text *t, const sheet *s, int column, int width, bool last, const char *words)
{
    if (s->columns[column].kind == sheet_number) text_printf(t, "  %*s", width, words);
    else if (last) text_printf(t, "  %s", words);
    else text_printf(t, "  %-*s", width, words);
}

void sheet_put_text(text *t, const sheet *s)
{
    int used[sheet_most_columns], widths[sheet_most_columns];
    const int count = used_columns(s, used);
    for (int i = 0; i < count; i++) {
        size_t most = strlen(s->columns[used[i]].name);
        for (size_t row = 0; row < s->row_count; row++)
            if (strlen(cell(s, row, used[i])) > most) most = strlen(cell(s, row, used[i]));
        widths[i] = (int)most;
    }
    for (int i = 0; i < count; i++) put_text_cell(t, s, used[i], widths[i], i == count - 1, s->columns[used[i]].name);
    text_printf(t, "\n");
    for (size_t row = 0; row < s->row_count; row++) {
        for (int i = 0; i < count; i++) put_text_cell(t, s, used[i], widths[i], i == count - 1, cell(s, row, used[i]));
        text_printf(t, "\n");
    }
}

void sheet_put_csv(text *t, const sheet *s)
{
    for (int c = 0; c < s->column_count; c++) text_printf(t, "%s%s", c ? "," : "", s->columns[c].name);
    text_printf(t, "\r\n");
    for (size_t row = 0; row < s->row_count; row++) {
        for (int c = 0; c < s->column_count; c++) text_printf(t, "%s", c ? "," : ""), csv_put(t, cell(s, row, c));
        text_printf(t, "\r\n");
    }
}
