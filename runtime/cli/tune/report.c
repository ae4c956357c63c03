/* Contract: report.h. Names and reasons are untrusted: pages and CSV quote them. */
#include "runtime/cli/tune/report.h"
#include "runtime/cli/page/drawing.h"
#include "runtime/cli/page/page.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial_group { /* trials of one kernel on one device */
    const trial_row *rows;
    size_t count;
} trial_group;

/* Seconds of the kernel's launch alone: those of the default's launch, changed by as much as the whole run changed; 0: not timed. */
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

/* ---- the table of page, text and CSV */
enum { key_count = 6, column_count = key_count + 14 };
static const sheet_column columns[column_count] = {{"kernel", sheet_name},     {"signature", sheet_words},  {"rows", sheet_number},
                                                   {"keys", sheet_number},     {"target", sheet_name},      {"device", sheet_name},
                                                   {"tile", sheet_words},      {"program", sheet_name},     {"status", sheet_name},
                                                   {"reason", sheet_words},    {"of default", sheet_number}, {"us", sheet_number},
                                                   {"rounds", sheet_number},   {"TFLOP/s", sheet_number},   {"GB/s", sheet_number},
                                                   {"of floor", sheet_number}, {"model us", sheet_number},  {"waves", sheet_number},
                                                   {"registers", sheet_number}, {"shared bytes", sheet_number}};

static const char *number(arena *a, const char *format, double x) __attribute__((format(printf, 2, 0)));
static const char *number(arena *a, const char *format, double x) { return x > 0 ? arena_printf(a, format, x) : ""; }

static const char *count_text(arena *a, long long n) { return n > 0 ? arena_printf(a, "%lld", n) : ""; }

static const char *status_of(const trial_row *r) { return *r->status ? r->status : "interrupted"; }

/* Adds a row; the sheet has the kernel's columns if it is for several kernels. */
static void add_row(sheet *s, const trial_row *r)
{
    arena *a = s->a;
    const double t = launch_seconds(r);
    const char *const all[column_count] = {r->kernel,
                                           r->signature,
                                           arena_printf(a, "%lld", r->rows),
                                           arena_printf(a, "%lld", r->keys),
                                           r->target,
                                           r->device,
                                           r->tile,
                                           r->program,
                                           status_of(r),
                                           r->reason,
                                           number(a, "%.3f", r->ratio),
                                           number(a, "%.2f", t * 1e6),
                                           count_text(a, r->rounds),
                                           t > 0 ? number(a, "%.3g", r->operations / t * 1e-12) : "",
                                           t > 0 ? number(a, "%.4g", r->bytes / t * 1e-9) : "",
                                           t > 0 ? number(a, "%.3g", r->floor_seconds / t) : "",
                                           number(a, "%.2f", r->predicted * 1e6),
                                           r->waves > 0 ? arena_printf(a, "%d of %d", r->waves, r->most_waves) : "",
                                           count_text(a, r->registers),
                                           count_text(a, r->shared_bytes)};
    sheet_add(s, status_of(r), all + (column_count - s->column_count));
}

static sheet sheet_of_kernel(arena *a, const trial_group *g)
{
    sheet s = {.a = a, .caption = arena_printf(a, "tiles of %s, the fastest first", g->rows->kernel), .columns = columns + key_count,
               .column_count = column_count - key_count};
    const trial_row **list = sorted(a, g);
    for (size_t i = 0; i < g->count; i++) add_row(&s, list[i]);
    return s;
}

/* ---- text */
static void put_text(text *t, const trial_group *g)
{
    const sheet s = sheet_of_kernel(t->a, g);
    text_printf(t, "%s  rows %lld", g->rows->kernel, g->rows->rows);
    if (g->rows->keys) text_printf(t, "  keys %lld", g->rows->keys);
    text_printf(t, "  on %s (%s)\n  %s\n", g->rows->device, g->rows->target, g->rows->signature);
    sheet_put_text(t, &s);
    text_printf(t, "\n");
}

static void put_csv(text *t, const trial_row *rows, size_t count)
{
    sheet s = {.a = t->a, .columns = columns, .column_count = column_count};
    for (size_t i = 0; i < count; i++) add_row(&s, &rows[i]);
    sheet_put_csv(t, &s);
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
enum { picture_widest = 560, picture_top = 56, picture_bottom = 240, picture_height = picture_bottom + draw_axis_room + 8 };
static const double picture_left = 14, picture_right = 96;

static bool has_both(const trial_row *r) { return launch_seconds(r) > 0 && r->predicted > 0; }

/* Slightly wider than the values, so that no mark is on the edge. */
static draw_scale scale_of(const trial_group *g, double (*value)(const trial_row *), double from, double to)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < g->count; i++)
        if (has_both(&g->rows[i])) low = fmin(low, value(&g->rows[i])), high = fmax(high, value(&g->rows[i]));
    const double room = pow(high / low, 0.06) * 1.02;
    return (draw_scale){low / room, high * room, true, from, to};
}

static double predicted_us(const trial_row *r) { return r->predicted * 1e6; }
static double measured_us(const trial_row *r) { return launch_seconds(r) * 1e6; }

/* The line of equal values, within both axes. */
static void put_equal(text *t, const draw_scale *x, const draw_scale *y)
{
    const double low = fmax(x->low, y->low), high = fmin(x->high, y->high);
    if (low >= high) return;
    text_printf(t, "<line class=\"stroke\" stroke-dasharray=\"4 3\" x1=\"%.2f%%\" y1=\"%.1f\" x2=\"%.2f%%\" y2=\"%.1f\"/>\n",
                draw_at(x, low), draw_at(y, low), draw_at(x, high), draw_at(y, high));
}

/* A plot of predicted times (x) and measured times (y). */
static void put_model(text *t, const trial_group *g)
{
    text body = {.a = t->a};
    bool some = false;
    for (size_t i = 0; i < g->count; i++) some |= has_both(&g->rows[i]);
    if (!some) return;
    const draw_scale x = scale_of(g, predicted_us, picture_left, picture_right);
    const draw_scale y = scale_of(g, measured_us, picture_bottom, picture_top);
    draw_text(&body, 2, 22, "title", "model and measurement");
    draw_axis_across(&body, &x, picture_top, picture_bottom, "time by the model, us; dashed line: as measured");
    draw_axis_up(&body, &y, x.from, x.to, "time measured, us");
    put_equal(&body, &x, &y);
    for (size_t i = 0; i < g->count; i++) {
        const trial_row *r = &g->rows[i];
        if (!has_both(r)) continue;
        const bool kept = strcmp(r->status, candidate_status_names[candidate_kept]) == 0;
        const double cx = draw_at(&x, predicted_us(r)), cy = draw_at(&y, measured_us(r));
        text_printf(&body, "<circle class=\"%s\" cx=\"%.2f%%\" cy=\"%.1f\" r=\"%d\"><title>", kept ? "c1" : "c0", cx, cy, kept ? 5 : 3);
        markup_put(&body, arena_printf(t->a, "%s: %s", status_of(r), r->tile));
        text_printf(&body, "</title></circle>\n");
        if (kept)
            text_printf(&body, "<text x=\"%.2f%%\" dx=\"%d\" y=\"%.1f\" text-anchor=\"%s\">kept</text>\n", cx, cx > 60 ? -8 : 8, cy + 4,
                        cx > 60 ? "end" : "start");
    }
    draw_picture(t, draw_part, "time measured over time by the model, a dot a tile", "", picture_widest, picture_height, &body);
}

/* True if results were correct: wrong kernels may be fast because they do nothing. */
static bool is_right(const trial_row *r)
{
    return r->ratio > 0 && strcmp(r->status, candidate_status_names[candidate_wrong]) != 0 &&
           strcmp(r->status, candidate_status_names[candidate_unjudged]) != 0;
}

static void put_step(text *t, double x1, double y1, double x2, double y2)
{
    text_printf(t, "<line class=\"best\" x1=\"%.2f%%\" y1=\"%.1f\" x2=\"%.2f%%\" y2=\"%.1f\"/>\n", x1, y1, x2, y2);
}

/* A plot of the least ratio to the default so far, over tiles in the order tried. */
static void put_progress(text *t, const trial_group *g)
{
    double least = 1, best = 1;
    text body = {.a = t->a};
    for (size_t i = 0; i < g->count; i++)
        if (is_right(&g->rows[i])) least = fmin(least, g->rows[i].ratio);
    const draw_scale x = {0, (double)g->count, false, picture_left, picture_right},
                     y = {least * 0.98, 1, false, picture_bottom, picture_top};
    draw_text(&body, 2, 22, "title", "best so far");
    draw_axis_across(&body, &x, picture_top, picture_bottom, "tiles tried");
    draw_axis_up(&body, &y, x.from, x.to, "time of the best tile so far / the default's");
    for (size_t i = 0; i < g->count; i++) {
        const double before = best, from = draw_at(&x, (double)i), to = draw_at(&x, (double)i + 1);
        if (is_right(&g->rows[i])) best = fmin(best, g->rows[i].ratio);
        if (best < before) put_step(&body, from, draw_at(&y, before), from, draw_at(&y, best));
        put_step(&body, from, draw_at(&y, best), to, draw_at(&y, best));
    }
    draw_picture(t, draw_part, "time of the best tile so far over the number of tiles tried", ".best{stroke-width:2.5}", picture_widest,
                 picture_height, &body);
}

static void put_kernel(text *t, const trial_group *g)
{
    const sheet s = sheet_of_kernel(t->a, g);
    text_printf(t, "<h2>"), markup_put(t, g->rows->kernel);
    text_printf(t, "</h2>\n<p>%lld rows", g->rows->rows);
    if (g->rows->keys) text_printf(t, ", %lld keys", g->rows->keys);
    text_printf(t, ", on "), markup_put(t, arena_printf(t->a, "%s (%s)", g->rows->device, g->rows->target));
    text_printf(t, "</p>\n<details><summary>signature</summary><p><code>"), markup_put(t, g->rows->signature);
    text_printf(t, "</code></p></details>\n<div class=\"pictures\">\n");
    put_model(t, g), put_progress(t, g);
    text_printf(t, "</div>\n");
    sheet_put_html(t, &s);
}

static const char statuses[] =
    "<h2>What the words mean</h2>\n<dl>"
    "<dt>kept</dt><dd>the plan has this tile from now on: it won its pairs against the default, or it is the default</dd>"
    "<dt>beaten</dt><dd>timed to the end, and not faster than the default or the best beyond noise</dd>"
    "<dt>dropped</dt><dd>too far behind the best of the same rounds; its own time, of few rounds, may look good</dd>"
    "<dt>same</dt><dd>the same machine code as another tile</dd>"
    "<dt>refused</dt><dd>no code: it spills, or the compiler refused it</dd>"
    "<dt>wrong</dt><dd>outside the reference's bound</dd>"
    "<dt>failed</dt><dd>the device stopped, or it was not timed</dd>"
    "<dt>interrupted</dt><dd>begun, and never ended</dd></dl>\n"
    "<p class=\"dim\">us: the time of the kernel: that of the default, measured between two events, minus what the "
    "whole run gained with this tile. of default: the tile's time over the default's of the same round, the median of its rounds. "
    "of floor: the least time that the data sheet allows over the tile's.</p>\n";

static void put_page(text *t, const trial_row *rows, size_t count)
{
    page_begin(t, "tfgen tune", "which tiles were tried, how fast each was, and why each was kept or left");
    for (size_t at = 0; at < count;) {
        const trial_group g = next_group(rows, count, at);
        put_kernel(t, &g);
        at += g.count;
    }
    text_printf(t, "%s", count ? statuses : "<p>No tile was tried.</p>\n");
    page_end(t);
}

static void put_groups(text *t, const trial_row *rows, size_t count)
{
    for (size_t at = 0; at < count;) {
        const trial_group g = next_group(rows, count, at);
        put_text(t, &g);
        at += g.count;
    }
    if (!count) text_printf(t, "no trials\n");
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
    static void (*const put[report_kinds])(text *, const trial_row *, size_t) = {put_page, put_csv, put_json, put_groups};
    size_t count;
    const trial_row *rows = database_rows(d, a, session, &count);
    text t = {.a = a};
    put[kind_of(a, path)](&t, rows, count);
    cli_write_file(a, path, t.data, t.size);
}
