/* In: a table. Out: text, JSON, CSV, a picture (SVG), or a page with the picture above the table, none of which needs a network. Nothing of
 * a name or a reason is trusted: pages and CSV quote them. */
#include "runtime/cli/table/table.h"
#include "runtime/cli/markup.h"
#include <stdlib.h>
#include <string.h>

const char *const row_status_names[] = {"timed", "illegal", "failed", "wrong"};

/* ---- columns of all kinds */
enum { column_count = 9 };
static const char *const column_names[column_count] = {"median us", "10 %",     "90 %",     "GFLOP/s", "GB/s",
                                                       "floor us",  "of floor", "launches", "limit"};

static const char *number(arena *a, const char *format, double x) __attribute__((format(printf, 2, 0)));
static const char *number(arena *a, const char *format, double x) { return x > 0 ? arena_printf(a, format, x) : ""; }

static void columns_of(arena *a, const table_row *r, const char *out[column_count])
{
    const double s = r->status == row_timed ? r->time.median : 0, operations = r->work.products + r->work.others;
    const char *const all[column_count] = {number(a, "%.2f", s * 1e6),
                                           s > 0 ? number(a, "%.2f", r->time.low * 1e6) : "",
                                           s > 0 ? number(a, "%.2f", r->time.high * 1e6) : "",
                                           s > 0 ? number(a, operations / s < 1e14 ? "%.5g" : "%.0f", operations / s * 1e-9) : "",
                                           s > 0 ? number(a, "%.4g", (r->work.read + r->work.written) / s * 1e-9) : "",
                                           number(a, "%.2f", r->floor * 1e6),
                                           s > 0 ? number(a, "%.3f", r->floor / s) : "",
                                           r->launches ? arena_printf(a, "%d", r->launches) : "",
                                           r->limit};
    memcpy(out, all, sizeof all);
}

static const char *said(arena *a, const table_row *r)
{
    return r->status == row_timed ? r->note : arena_printf(a, "%s: %s", row_status_names[r->status], r->note);
}

const char *table_row_name(arena *a, const table_row *r)
{
    return arena_printf(a, "%s %s%s%s", r->block, r->dims, *r->label ? " " : "", r->label);
}

static bool same_case(const table_row *x, const table_row *y)
{
    return strcmp(x->block, y->block) == 0 && strcmp(x->dims, y->dims) == 0;
}

/* ---- text */
static void print_row(arena *a, const table_row *r)
{
    const char *cells[column_count];
    columns_of(a, r, cells);
    printf("  %-20s", r->label);
    for (int c = 0; c < column_count; c++) printf(" %10s", cells[c]);
    printf("  %s\n", r->tile);
    const char *note = said(a, r);
    if (*note) printf("  %-20s  %s%s%s\n", "", colour_code(stdout, r->status > row_illegal ? colour_bad : colour_dim), note,
                      colour_code(stdout, colour_none));
}

void table_print(arena *a, const table *t)
{
    printf("%s%s%s%s  on %s: %s (target %s, model %s)%s\n", colour_code(stdout, colour_bold), t->title ? t->title : "",
           t->title ? "  " : "", t->dtype, t->device, t->label, t->target, t->model, colour_code(stdout, colour_none));
    if (t->host) printf("  these times are the CPU's: the host engine runs the kernels; they say nothing of a GPU\n");
    printf("  %-20s", "");
    for (int c = 0; c < column_count; c++) printf(" %10s", column_names[c]);
    printf("  tile\n");
    for (int i = 0; i < t->count; i++) {
        if (!i || !same_case(&t->rows[i], &t->rows[i - 1])) printf("  %s  %s\n", t->rows[i].block, t->rows[i].dims);
        print_row(a, &t->rows[i]);
    }
}

/* ---- JSON */
static json_t *row_json(const table_row *r)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:f, s:f}", "block", r->block, "dims", r->dims, "point", r->label,
                          "status", row_status_names[r->status], "tile", r->tile, "note", r->note, "launches", r->launches, "products",
                          r->work.products, "others", r->work.others, "bytes_read", r->work.read, "bytes_written", r->work.written);
    if (r->floor > 0) json_object_set_new(o, "floor_seconds", json_real(r->floor)), json_object_set_new(o, "limit", json_string(r->limit));
    if (r->status != row_timed) return o;
    json_object_set_new(o, "seconds", json_pack("{s:f, s:f, s:f}", "median", r->time.median, "p10", r->time.low, "p90", r->time.high));
    json_object_set_new(o, "samples", json_integer(r->samples));
    if (r->floor > 0) json_object_set_new(o, "of_floor", json_real(r->floor / r->time.median));
    return o;
}

json_t *table_json(const table *t)
{
    json_t *rows = json_array();
    for (int i = 0; i < t->count; i++) json_array_append_new(rows, row_json(&t->rows[i]));
    return json_pack("{s:s?, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "title", t->title, "device", t->device, "label", t->label, "target",
                     t->target, "model", t->model, "dtype", t->dtype, "clock", t->host ? "CPU" : "device events", "rows", rows);
}

static void put_json(text *out, const table *t)
{
    text_printf(out, "%s\n", cli_json_text(out->a, cli_keep_json(out->a, table_json(t)), JSON_INDENT(1)));
}

/* ---- CSV */
static void put_csv(text *out, const table *t)
{
    text_printf(out, "block,dims,point,status,tile");
    for (int c = 0; c < column_count; c++) text_printf(out, ",%s", column_names[c]);
    text_printf(out, ",note\r\n");
    for (int i = 0; i < t->count; i++) {
        const table_row *r = &t->rows[i];
        const char *cells[column_count], *const first[] = {r->block, r->dims, r->label, row_status_names[r->status], r->tile};
        columns_of(out->a, r, cells);
        for (int c = 0; c < 5; c++) csv_put(out, first[c]), text_printf(out, ",");
        for (int c = 0; c < column_count; c++) csv_put(out, cells[c]), text_printf(out, ",");
        csv_put(out, r->note), text_printf(out, "\r\n");
    }
}

/* ---- the picture: a bar a row, its floor a line across it */
enum { bar_height = 18, bar_step = 24, most_left = 330, bar_room = 480, bar_top = 52, letter = 7 };

static double longest(const table *t)
{
    double most = 0;
    for (int i = 0; i < t->count; i++)
        if (t->rows[i].status == row_timed && t->rows[i].time.high > most) most = t->rows[i].time.high;
    return most > 0 ? most : 1;
}

static void put_words(text *out, int x, int y, const char *attributes, const char *words)
{
    text_printf(out, "<text x=\"%d\" y=\"%d\"%s>", x, y, attributes);
    markup_put(out, words);
    text_printf(out, "</text>");
}

static void put_bar(text *out, const table_row *r, int left, int y, double most)
{
    if (r->status != row_timed) {
        put_words(out, left, y + 13, " class=\"bad\"", said(out->a, r));
        return;
    }
    const double scale = bar_room / most, width = r->time.median * scale;
    text_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#69c\"/>", left, y, width, bar_height);
    text_printf(out, "<path d=\"M%.1f %dH%.1f\" class=\"ink\"/>", left + r->time.low * scale, y + bar_height / 2,
                left + r->time.high * scale);
    if (r->floor > 0)
        text_printf(out, "<path d=\"M%.1f %dv%d\" stroke=\"#c30\" stroke-width=\"2\"/>", left + r->floor * scale, y - 2,
                    bar_height + 4);
    const char *share = r->floor > 0 ? arena_printf(out->a, ", %.0f %% of floor", 100 * r->floor / r->time.median) : "";
    const double end = r->time.high * scale > width ? r->time.high * scale : width;
    const char *words = arena_printf(out->a, "%s%s", spread_time_text(out->a, r->time.median, true), share);
    put_words(out, left + 6 + (int)end, y + 13, "", words);
}

static const char *bar_name(arena *a, const table *t, const table_row *r)
{
    bool one = true;
    for (int i = 0; i < t->count; i++) one &= same_case(&t->rows[i], &t->rows[0]);
    return one && *r->label ? r->label : table_row_name(a, r);
}

/* Where bars begin: behind the longest name. */
static int left_of(arena *a, const table *t)
{
    size_t most = 0;
    for (int i = 0; i < t->count; i++) {
        const size_t size = strlen(bar_name(a, t, &t->rows[i]));
        if (size > most) most = size;
    }
    return most * letter + 20 < most_left ? (int)most * letter + 20 : most_left;
}

static const markup_rule colours[] = {{".paper", "fill", markup_paper}, {"text", "fill", markup_ink},   {"text.dim", "fill", markup_dim},
                                      {"text.bad", "fill", markup_hot}, {"path.ink", "stroke", markup_ink}};

static void put_svg(text *out, const table *t)
{
    const double most = longest(t);
    const int height = bar_top + t->count * bar_step + 12, left = left_of(out->a, t);
    const char *words = arena_printf(out->a, "%s on %s (%s); medians, 10 to 90 %%; red: the floor by the device model %s%s", t->dtype,
                                     t->label, t->target, t->model, t->host ? "; the CPU's times, which say nothing of a GPU" : "");
    const int bars = left + bar_room + 220, said_in = 24 + letter * (int)strlen(words);
    text_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"system-ui,sans-serif\""
                     " font-size=\"12\"><style>", bars > said_in ? bars : said_in, height);
    markup_rules(out, colours, sizeof colours / sizeof *colours);
    text_printf(out, "</style><rect width=\"100%%\" height=\"100%%\" class=\"paper\"/>");
    put_words(out, 12, 22, " font-size=\"15\"", t->title ? t->title : t->rows[0].block);
    put_words(out, 12, 40, " class=\"dim\"", words);
    for (int i = 0; i < t->count; i++) {
        const int y = bar_top + i * bar_step;
        put_words(out, left - 8, y + 13, " text-anchor=\"end\"", bar_name(out->a, t, &t->rows[i]));
        put_bar(out, &t->rows[i], left, y, most);
    }
    text_printf(out, "</svg>\n");
}

/* ---- the page */
static const char style[] = "td:first-child,th:first-child,td.words,th.words{text-align:left}tr.illegal{color:var(--dim)}"
                            "tr.wrong,tr.failed{background:#f003}";
/* What is wider than a window moves within it, by the keyboard too. */
static const char wide[] = "<div class=wide tabindex=0 role=region aria-label=\"%s\">";

static void put_cells(text *out, const table_row *r)
{
    const char *cells[column_count];
    columns_of(out->a, r, cells);
    text_printf(out, "<tr class=%s><td>", row_status_names[r->status]);
    markup_put(out, table_row_name(out->a, r));
    for (int c = 0; c < column_count; c++) text_printf(out, "</td><td>"), markup_put(out, cells[c]);
    text_printf(out, "</td><td class=words>"), markup_put(out, r->tile);
    text_printf(out, "</td><td class=words>"), markup_put(out, said(out->a, r));
    text_printf(out, "</td></tr>\n");
}

static void put_page(text *out, const table *t)
{
    markup_page(out, "tfgen table", style);
    text_printf(out, wide, "picture");
    put_svg(out, t);
    text_printf(out, "</div>");
    text_printf(out, wide, "numbers");
    text_printf(out, "<table><tr><th>point</th>");
    for (int c = 0; c < column_count; c++) text_printf(out, "<th>%s</th>", column_names[c]);
    text_printf(out, "<th class=words>tile</th><th></th></tr>\n");
    for (int i = 0; i < t->count; i++) put_cells(out, &t->rows[i]);
    text_printf(out, "</table></div>\n");
}

/* ---- files */
enum { kind_count = 4 };
static const char *const ends[kind_count] = {".html", ".svg", ".csv", ".json"};

void table_check_path(arena *a, const char *path) { (void)cli_file_kind(a, "report", path, ends, kind_count); }

void table_write(arena *a, const table *t, const char *path)
{
    static void (*const put[kind_count])(text *, const table *) = {put_page, put_svg, put_csv, put_json};
    text out = {.a = a};
    put[cli_file_kind(a, "report", path, ends, kind_count)](&out, t);
    cli_write_file(a, path, out.data, out.size);
}
