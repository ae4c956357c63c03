/* In: a table. Out: text, JSON, CSV, a picture (SVG), or a page with the picture above the table, all self-contained. Names and reasons are
 * untrusted: pages and CSV quote them. */
#include "runtime/cli/table/table.h"
#include "runtime/cli/page/drawing.h"
#include "runtime/cli/page/page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const row_status_names[] = {"timed", "illegal", "failed", "unjudged", "wrong"};

/* ---- columns that the console shows; files have more */
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
    if (t->host) printf("  these times are the CPU's: the host engine runs the kernels; they say nothing about a GPU\n");
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

/* ---- the table of files */
enum { name_count = 5, all_columns = name_count + column_count + 1 };
static const sheet_column csv_columns[all_columns] = {{"block", 0},     {"dims", 0},     {"point", 0},    {"status", 0},  {"tile", 0},
                                                      {"median us", 0}, {"10 %", 0},     {"90 %", 0},     {"GFLOP/s", 0}, {"GB/s", 0},
                                                      {"floor us", 0},  {"of floor", 0}, {"launches", 0}, {"limit", 0},   {"note", 0}};
enum { page_columns = column_count + 3 };
static const sheet_column html_columns[page_columns] = {
    {"point", sheet_words},     {"note", sheet_words},      {"median us", sheet_number}, {"10 %", sheet_number},
    {"90 %", sheet_number},     {"GFLOP/s", sheet_number},  {"GB/s", sheet_number},      {"floor us", sheet_number},
    {"of floor", sheet_number}, {"launches", sheet_number}, {"limit", sheet_name},       {"tile", sheet_words}};

static void put_csv(text *out, const table *t)
{
    sheet s = {.a = out->a, .columns = csv_columns, .column_count = all_columns};
    for (int i = 0; i < t->count; i++) {
        const table_row *r = &t->rows[i];
        const char *cells[all_columns] = {r->block, r->dims, r->label, row_status_names[r->status], r->tile};
        columns_of(out->a, r, cells + name_count);
        cells[all_columns - 1] = r->note;
        sheet_add(&s, "", cells);
    }
    sheet_put_csv(out, &s);
}

/* ---- the picture: for each row its name, a bar for its time, and a mark for its floor */
enum { bar_height = 14, picture_widest = 900 };
static const double bar_left = 2, bar_right = 54; /* leaves room for the time after the longest bar */

static double longest(const table *t)
{
    double most = 0;
    for (int i = 0; i < t->count; i++)
        if (t->rows[i].status == row_timed) most = fmax(most, fmax(t->rows[i].time.high, t->rows[i].floor));
    return most > 0 ? most * 1e6 : 1;
}

static int put_bar(text *out, const table_row *r, int y, const draw_scale *x)
{
    if (r->status != row_timed) return draw_words(out, bar_left, y + 12, "hot", said(out->a, r)) - 3;
    const double end = draw_at(x, r->time.median * 1e6), high = draw_at(x, r->time.high * 1e6);
    text_printf(out, "<rect class=\"c0\" x=\"%.2f%%\" y=\"%d\" width=\"%.2f%%\" height=\"%d\"/>", bar_left, y, end - bar_left, bar_height);
    text_printf(out, "<line class=\"stroke\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>", draw_at(x, r->time.low * 1e6), high,
                y + bar_height / 2, y + bar_height / 2);
    if (r->floor > 0)
        text_printf(out, "<line class=\"hotstroke\" stroke-width=\"3\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>",
                    draw_at(x, r->floor * 1e6), draw_at(x, r->floor * 1e6), y - 2, y + bar_height + 2);
    const char *share = r->floor > 0 ? arena_printf(out->a, ", %.0f %% of floor", 100 * r->floor / r->time.median) : "";
    text_printf(out, "<text x=\"%.2f%%\" dx=\"6\" y=\"%d\">%s%s</text>\n", fmax(end, high), y + 12,
                spread_time_text(out->a, r->time.median, true), share);
    return y + bar_height + 17;
}

static const char *bar_name(arena *a, const table *t, const table_row *r)
{
    bool one = true;
    for (int i = 0; i < t->count; i++) one &= same_case(&t->rows[i], &t->rows[0]);
    return one && *r->label ? r->label : table_row_name(a, r);
}

static const char *where_of(arena *a, const table *t)
{
    return arena_printf(a, "%s on %s (target %s, device model %s)%s", t->dtype, t->label, t->target, t->model,
                        t->host ? ". These times are the CPU's: the host engine runs the kernels; they say nothing about a GPU" : "");
}

static void put_picture(text *out, const table *t, draw_place place)
{
    text body = {.a = out->a}, bars = {.a = out->a};
    const char *title = t->title ? t->title : t->rows[0].block;
    const draw_scale x = {0, longest(t), false, bar_left, bar_right};
    bool floors = false;
    for (int i = 0; i < t->count; i++) floors |= t->rows[i].floor > 0;
    int y = 24;
    if (place == draw_file) y = draw_words(&body, 2, y, "title", title), y = draw_words(&body, 2, y, "dim", where_of(out->a, t));
    y = draw_words(&body, 2, y, "dim", arena_printf(out->a, "Bars: medians. Thin lines: from 10 to 90 %% of the samples.%s",
                                                    floors ? " Upright marks: the floor, the least time by the data sheet." : ""));
    const int top = y - 8;
    for (int i = 0; i < t->count; i++) {
        y = draw_words(&bars, 2, y + 6, "", bar_name(out->a, t, &t->rows[i])) - 12;
        y = put_bar(&bars, &t->rows[i], y, &x);
    }
    draw_axis_across(&body, &x, top, y - 4, "time of a run, us");
    text_append(&body, bars.data, bars.size);
    draw_picture(out, place, arena_printf(out->a, "%s: times of runs, a bar per point", title), "", picture_widest, y + draw_axis_room + 6,
                 &body);
}

static void put_svg(text *out, const table *t) { put_picture(out, t, draw_file); }

/* ---- the page */
static void put_page(text *out, const table *t)
{
    sheet s = {.a = out->a, .caption = "numbers", .columns = html_columns, .column_count = page_columns};
    for (int i = 0; i < t->count; i++) {
        const table_row *r = &t->rows[i];
        const char *cells[page_columns] = {table_row_name(out->a, r), said(out->a, r)};
        columns_of(out->a, r, cells + 2);
        cells[page_columns - 1] = r->tile;
        sheet_add(&s, row_status_names[r->status], cells);
    }
    page_begin(out, arena_printf(out->a, "tfgen table: %s", t->title ? t->title : t->rows[0].block), where_of(out->a, t));
    text_printf(out, "<div class=\"pictures\">\n");
    put_picture(out, t, draw_part);
    text_printf(out, "</div>\n");
    sheet_put_html(out, &s);
    page_end(out);
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
