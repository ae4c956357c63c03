/* In: report.h. Out: the file. Nothing of a name or a reason is trusted: pages and CSV quote them. */
#include "runtime/cli/tune/report.h"
#include "runtime/cli/markup.h"
#include "runtime/cli/spread.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial_group { /* of one kernel on one device */
    const trial_row *rows;
    size_t count;
} trial_group;

/* The kernel alone: the default's time between events, and what the run gained. 0: not timed. */
static double launch_seconds(const trial_row *r)
{
    const double seconds = r->launch_seconds + (r->ratio - 1) * r->run_seconds;
    return r->launch_seconds > 0 && r->ratio > 0 && seconds > 0 ? seconds : 0;
}

static bool same_kernel(const trial_row *x, const trial_row *y)
{
    return strcmp(x->signature, y->signature) == 0 && strcmp(x->device, y->device) == 0 && strcmp(x->target, y->target) == 0 &&
           x->rows == y->rows && x->keys == y->keys;
}

static trial_group next_group(const trial_row *rows, size_t count, size_t at)
{
    trial_group g = {rows + at, 0};
    while (at + g.count < count && same_kernel(g.rows, &rows[at + g.count])) g.count++;
    return g;
}

static int by_time(const void *x, const void *y)
{
    const double a = launch_seconds(*(const trial_row *const *)x), b = launch_seconds(*(const trial_row *const *)y);
    return (a > 0 ? a : INFINITY) < (b > 0 ? b : INFINITY) ? -1 : (a > 0 ? a : INFINITY) > (b > 0 ? b : INFINITY);
}

/* Fastest first, then those without a time. */
static const trial_row **sorted(arena *a, const trial_group *g)
{
    const trial_row **list = arena_alloc(a, (g->count + 1) * sizeof *list);
    for (size_t i = 0; i < g->count; i++) list[i] = &g->rows[i];
    qsort(list, g->count, sizeof *list, by_time);
    return list;
}

/* ---- columns of all kinds of report */
enum { column_count = 13 };
static const char *const column_names[column_count] = {"tile",      "program", "status", "us",      "of default", "TFLOP/s", "GB/s",
                                                       "of floor",  "model us", "waves",  "registers", "shared",   "reason"};

static const char *number(arena *a, const char *format, double x) __attribute__((format(printf, 2, 0)));
static const char *number(arena *a, const char *format, double x) { return x > 0 ? arena_printf(a, format, x) : ""; }

static void columns_of(arena *a, const trial_row *r, const char *out[column_count])
{
    const double s = launch_seconds(r);
    const char *const all[column_count] = {r->tile,
                                           r->program,
                                           *r->status ? r->status : "interrupted",
                                           number(a, "%.2f", s * 1e6),
                                           number(a, "%.3f", r->ratio),
                                           s > 0 ? number(a, "%.3g", r->operations / s * 1e-12) : "",
                                           s > 0 ? number(a, "%.4g", r->bytes / s * 1e-9) : "",
                                           s > 0 ? number(a, "%.3g", r->floor_seconds / s) : "",
                                           number(a, "%.2f", r->predicted * 1e6),
                                           r->waves > 0 ? arena_printf(a, "%d of %d", r->waves, r->most_waves) : "",
                                           r->registers > 0 ? arena_printf(a, "%d", r->registers) : "",
                                           r->shared_bytes > 0 ? arena_printf(a, "%d", r->shared_bytes) : "",
                                           r->reason};
    memcpy(out, all, sizeof all);
}

/* ---- text */
static void put_text(text *t, const trial_group *g)
{
    const trial_row **list = sorted(t->a, g);
    const char *cells[column_count];
    text_printf(t, "%s  rows %lld", g->rows->kernel, g->rows->rows);
    if (g->rows->keys) text_printf(t, "  keys %lld", g->rows->keys);
    text_printf(t, "  on %s (%s)\n  %s\n", g->rows->device, g->rows->target, g->rows->signature);
    for (int c = 1; c < column_count - 1; c++) text_printf(t, " %11s", column_names[c]);
    text_printf(t, "  %s\n", column_names[0]);
    for (size_t i = 0; i < g->count; i++) {
        columns_of(t->a, list[i], cells);
        for (int c = 1; c < column_count - 1; c++) text_printf(t, " %11s", cells[c]);
        text_printf(t, "  %s%s%s\n", cells[0], *cells[12] ? ": " : "", cells[12]);
    }
    text_printf(t, "\n");
}

/* ---- CSV */
static void put_csv(text *t, const trial_group *g)
{
    const char *cells[column_count];
    if (!t->size) {
        text_printf(t, "kernel,signature,rows,keys,target,device");
        for (int c = 0; c < column_count; c++) text_printf(t, ",%s", column_names[c]);
        text_printf(t, "\r\n");
    }
    for (size_t i = 0; i < g->count; i++) {
        const trial_row *r = &g->rows[i];
        columns_of(t->a, r, cells);
        csv_put(t, r->kernel), text_printf(t, ","), csv_put(t, r->signature);
        text_printf(t, ",%lld,%lld,%s,", r->rows, r->keys, r->target), csv_put(t, r->device);
        for (int c = 0; c < column_count; c++) text_printf(t, ","), csv_put(t, cells[c]);
        text_printf(t, "\r\n");
    }
}

/* ---- JSON */
static json_t *row_json(const trial_row *r)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:i, s:i, s:i, s:i, s:I}",
                     "kernel", r->kernel, "signature", r->signature, "rows", (json_int_t)r->rows, "keys", (json_int_t)r->keys, "target",
                     r->target, "device", r->device, "program", r->program, "tile", r->tile, "status", r->status, "reason", r->reason,
                     "seconds", launch_seconds(r), "ratio", r->ratio, "predicted_seconds", r->predicted, "operations", r->operations,
                     "bytes", r->bytes, "floor_seconds", r->floor_seconds, "compile_seconds", r->compile_seconds, "registers", r->registers,
                     "shared_bytes", r->shared_bytes, "threads", r->threads, "waves", r->waves, "checked", r->checked, "rounds",
                     (json_int_t)r->rounds);
}

static void put_json(text *t, const trial_row *rows, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, row_json(&rows[i]));
    text_printf(t, "%s\n", cli_json_text(t->a, cli_keep_json(t->a, list), JSON_INDENT(1)));
}

/* ---- the page */
static const char style[] =
    "td:first-child,th:first-child,td:last-child{text-align:left;font-family:monospace}tr.kept{background:#0f03}tr.wrong{background:#f003}"
    "code{word-break:break-all;color:var(--dim)}svg{border:1px solid var(--line);box-sizing:border-box;max-width:100%;height:auto}"
    "text{font:11px system-ui,sans-serif;fill:var(--ink)}line{stroke:var(--dim)}circle{fill:var(--link)}"
    "polyline{fill:none;stroke:var(--good);stroke-width:2}";

enum { picture_width = 420, picture_height = 260, picture_margin = 34 };

static void open_picture(text *t, const char *title, double low, double high)
{
    text_printf(t, "<svg viewBox=\"0 0 %d %d\" width=%d role=img><text x=8 y=14>%s</text>", picture_width, picture_height, picture_width,
                title);
    text_printf(t, "<text x=4 y=%d>%.3g</text><text x=4 y=%d>%.3g</text>", picture_margin, high, picture_height - 8, low);
}

static double place(double x, double low, double high, bool up)
{
    const double part = high > low ? (x - low) / (high - low) : 0.5, room = (up ? picture_height : picture_width) - 2 * picture_margin;
    return up ? picture_height - picture_margin - part * room : picture_margin + part * room;
}

/* What the model said (to the right) beside what was measured (up), in microseconds, by their logarithms. */
static void put_model(text *t, const trial_group *g)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < g->count; i++) {
        const double s = launch_seconds(&g->rows[i]), p = g->rows[i].predicted;
        if (!(s > 0 && p > 0)) continue;
        low = fmin(low, fmin(s, p)), high = fmax(high, fmax(s, p));
    }
    if (!(high > 0)) return;
    open_picture(t, "measured us by model us", low * 1e6, high * 1e6);
    text_printf(t, "<line x1=%d y1=%d x2=%d y2=%d />", picture_margin, picture_height - picture_margin,
                picture_width - picture_margin, picture_margin);
    for (size_t i = 0; i < g->count; i++) {
        const double s = launch_seconds(&g->rows[i]), p = g->rows[i].predicted;
        if (!(s > 0 && p > 0)) continue;
        text_printf(t, "<circle cx=%.1f cy=%.1f r=3><title>", place(log(p), log(low), log(high), false),
                    place(log(s), log(low), log(high), true));
        markup_put(t, g->rows[i].tile), text_printf(t, "</title></circle>");
    }
    text_printf(t, "</svg>\n");
}

/* What does nothing is fast. */
static bool is_right(const trial_row *r) { return r->ratio > 0 && strcmp(r->status, candidate_status_names[candidate_wrong]) != 0; }

/* The best ratio to the default so far, trial by trial. */
static void put_progress(text *t, const trial_group *g)
{
    double least = 1, best = 1;
    for (size_t i = 0; i < g->count; i++)
        if (is_right(&g->rows[i])) least = fmin(least, g->rows[i].ratio);
    open_picture(t, "best so far, of the default, by trial", least, 1);
    text_printf(t, "<polyline points=\"");
    for (size_t i = 0; i < g->count; i++) {
        if (is_right(&g->rows[i])) best = fmin(best, g->rows[i].ratio);
        text_printf(t, "%.1f,%.1f ", place((double)i, 0, (double)g->count, false), place(best, least, 1, true));
    }
    text_printf(t, "\"/></svg>\n");
}

static void put_page(text *t, const trial_group *g)
{
    const trial_row **list = sorted(t->a, g);
    const char *cells[column_count];
    if (!t->size) markup_page(t, "tfgen tune", style), text_printf(t, "<h1>tfgen tune</h1>\n");
    text_printf(t, "<h2>"), markup_put(t, g->rows->kernel);
    text_printf(t, ", rows %lld, keys %lld, on ", g->rows->rows, g->rows->keys), markup_put(t, g->rows->device);
    text_printf(t, "</h2><p><code>"), markup_put(t, g->rows->signature), text_printf(t, "</code></p>\n");
    put_model(t, g), put_progress(t, g);
    text_printf(t, "<div class=wide tabindex=0 role=region aria-label=trials><table><tr>");
    for (int c = 0; c < column_count; c++) text_printf(t, "<th>%s</th>", column_names[c]);
    text_printf(t, "</tr>\n");
    for (size_t i = 0; i < g->count; i++) {
        columns_of(t->a, list[i], cells);
        text_printf(t, "<tr class=\""), markup_put(t, cells[2]), text_printf(t, "\">");
        for (int c = 0; c < column_count; c++) text_printf(t, "<td>"), markup_put(t, cells[c]), text_printf(t, "</td>");
        text_printf(t, "</tr>\n");
    }
    text_printf(t, "</table></div>\n");
}

/* ---- */
typedef enum report_kind { report_html, report_csv, report_json, report_txt, report_kinds } report_kind;

static report_kind kind_of(arena *a, const char *path)
{
    static const char *const ends[report_kinds] = {".html", ".csv", ".json", ".txt"};
    return (report_kind)cli_file_kind(a, "report", path, ends, report_kinds);
}

void report_check(arena *a, const char *path) { (void)kind_of(a, path); }

void report_write(arena *a, database *d, long long session, const char *path)
{
    static void (*const put[])(text *, const trial_group *) = {put_page, put_csv, NULL, put_text};
    size_t count;
    const trial_row *rows = database_rows(d, a, session, &count);
    const report_kind kind = kind_of(a, path);
    text t = {.a = a};
    if (kind == report_json) put_json(&t, rows, count);
    for (size_t at = 0; kind != report_json && at < count;) {
        const trial_group g = next_group(rows, count, at);
        put[kind](&t, &g);
        at += g.count;
    }
    if (!t.size) text_printf(&t, kind == report_html ? "<!doctype html><p>no trials</p>\n" : "no trials\n");
    cli_write_file(a, path, t.data, t.size);
}
