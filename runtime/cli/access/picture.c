/* In: a report. Out: an SVG that needs no other file and follows light or dark colours: of the worst request of each line of the source a
 * grid, a row of it a line of cache or of all banks, a cell 4 bytes: who asks for it, what comes unasked, what waits for a bank. Refuses
 * nothing: of launches with many lines it has the first, and says how many it leaves out. */
#include "runtime/cli/access/report.h"
#include "runtime/cli/markup.h"
#include <string.h>

enum { margin = 24, labels = 84, cell = 14, least_words = 32, most_rows = 24, most_panels = 6, word = 4 };

static const markup_rule colours[] = {{".paper", "fill", markup_paper}, {".ink", "fill", markup_ink},  {".dim", "fill", markup_dim},
                                      {".hot", "fill", markup_hot},     {".none", "fill", markup_band}, {".idle", "fill", markup_idle},
                                      {".clash", "stroke", markup_hot}};
static const char style[] =
    ":root{max-width:100%;height:auto}.clash{fill:none;stroke-width:2}.p0{fill:#9ec5fe}.p1{fill:#a3e4c4}.p2{fill:#ffd88a}.p3{fill:#f5b3c8}"
    ".p4{fill:#c9b6f7}.p5{fill:#bfe3f2}.p6{fill:#d6e69a}.p7{fill:#f7c6a3}.lane{fill:#1a1d21}text{font:13px system-ui,sans-serif}"
    ".head{font-size:17px;font-weight:600}.small{font-size:11px}.code{font:12px ui-monospace,monospace}";

typedef struct picture {
    const access_report *r;
    text out;
    int y, words; /* words: cells of the widest grid */
} picture;

static void put_text(picture *p, int x, int y, const char *class, const char *s)
{
    text_printf(&p->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
    markup_put(&p->out, s);
    text_printf(&p->out, "</text>\n");
}

/* ---- one grid */
typedef struct grid {
    picture *p;
    const access_row *row;
    const bank_request *lanes;
    const target_info *target;
    unsigned long long line; /* bytes of a row of it */
    unsigned long long rows[banks_most_lanes * 2];
    int count, words; /* rows; cells of each */
} grid;

static unsigned long long bytes_of(const grid *g) { return g->row->bulk ? g->row->worst.bytes : (unsigned long long)g->lanes->bytes; }

static void add_row(grid *g, unsigned long long row)
{
    int at = g->count;
    for (int i = 0; i < g->count; i++)
        if (g->rows[i] == row) return;
    if (g->count == (int)(sizeof g->rows / sizeof *g->rows)) return;
    for (; at > 0 && g->rows[at - 1] > row; at--) g->rows[at] = g->rows[at - 1];
    g->rows[at] = row, g->count++;
}

static void find_rows(grid *g)
{
    for (int lane = 0; lane < g->lanes->lanes; lane++)
        if (g->lanes->present[lane])
            for (unsigned long long at = g->lanes->place[lane] / g->line; at <= (g->lanes->place[lane] + bytes_of(g) - 1) / g->line; at++)
                add_row(g, at);
}

/* The lane that asks for a word, of several the first; -1: none. */
static int lane_of(const grid *g, unsigned long long at)
{
    for (int lane = 0; lane < g->lanes->lanes; lane++)
        if (g->lanes->present[lane] && g->lanes->place[lane] < at + word && at < g->lanes->place[lane] + bytes_of(g)) return lane;
    return -1;
}

/* Whether the sector of a word is asked for. */
static bool comes(const grid *g, unsigned long long at)
{
    const unsigned long long sector = (unsigned)g->target->sector_bytes, low = at / sector * sector;
    for (int lane = 0; lane < g->lanes->lanes; lane++)
        if (g->lanes->present[lane] && g->lanes->place[lane] < low + sector && low < g->lanes->place[lane] + bytes_of(g)) return true;
    return false;
}

/* Whether another word of its bank is wanted in the same phase. */
static bool clashes(const grid *g, unsigned long long at, int lane)
{
    const unsigned long long banks = (unsigned)banks_count(g->target, g->lanes);
    if (g->row->memory || g->row->bulk) return false;
    for (int other = 0; other < g->lanes->lanes; other++) {
        if (!g->lanes->present[other] || banks_phase(g->target, g->lanes, other) != banks_phase(g->target, g->lanes, lane)) continue;
        for (unsigned long long w = g->lanes->place[other] / word; w <= (g->lanes->place[other] + bytes_of(g) - 1) / word; w++)
            if (w != at / word && w % banks == at / word % banks) return true;
    }
    return false;
}

static void put_cell(grid *g, int x, int y, unsigned long long at)
{
    const int lane = lane_of(g, at);
    text *out = &g->p->out;
    if (lane < 0) {
        text_printf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
                    g->row->memory && comes(g, at) ? "idle" : "none", x, y, cell - 1, cell - 1);
        return;
    }
    const int colour = g->row->bulk     ? (int)(at / 16 % 8)
                       : g->row->memory ? lane * 8 / g->lanes->lanes
                                        : banks_phase(g->target, g->lanes, lane);
    const unsigned long long from = g->row->bulk ? at / 16 * 16 : g->lanes->place[lane];
    text_printf(out, "<rect class=\"p%d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>lane %d: %llu</title></rect>\n", colour & 7,
                x, y, cell - 1, cell - 1, lane, from);
    if (clashes(g, at, lane))
        text_printf(out, "<rect class=\"clash\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", x + 1, y + 1, cell - 3, cell - 3);
    if (from / word == at / word && !g->row->bulk)
        text_printf(out, "<text class=\"lane\" style=\"font-size:8px\" x=\"%d\" y=\"%d\">%d</text>\n", x + 1, y + 10, lane);
}

static void put_grid(grid *g)
{
    picture *p = g->p;
    const int left = margin + labels, shown = g->count < most_rows ? g->count : most_rows;
    for (int w = 0; w < g->words; w += 8)
        put_text(p, left + w * cell, p->y + 10, "dim small",
                 arena_printf(p->r->a, g->row->memory ? "+%d" : "%d", g->row->memory ? w * word : w));
    p->y += 14;
    for (int i = 0; i < shown; i++) {
        put_text(p, margin, p->y + 11, "dim code", arena_printf(p->r->a, "0x%llx", g->rows[i] * g->line));
        for (int w = 0; w < g->words; w++) put_cell(g, left + w * cell, p->y, g->rows[i] * g->line + (unsigned)(w * word));
        p->y += cell;
    }
    if (shown < g->count) {
        put_text(p, left, p->y + 12, "dim small", arena_printf(p->r->a, "and %d more", g->count - shown));
        p->y += 16;
    }
}

/* ---- a line of the source */
static const char *numbers_of(const access_report *r, const access_row *x)
{
    const double n = x->requests;
    if (x->memory)
        return arena_printf(r->a, "%.0f requests, %.1f lanes; %.2f sectors each, %.2f would do; %.0f %% of their bytes used", n,
                            x->lanes / n, x->sectors / n, x->least / n, 100 * access_share(r, x));
    return arena_printf(r->a, "%.0f requests, %.1f lanes; %.2f cycles each, %.2f would do; %s", n, x->lanes / n, x->cycles / n,
                        x->least_cycles / n, x->ways > 1 ? arena_printf(r->a, "conflicts, %d-way at worst", x->ways) : "no conflicts");
}

static void put_panel(picture *p, const access_launch *l, const access_row *row)
{
    const access_report *r = p->r;
    const target_info *t = r->plan->target;
    grid g = {.p = p, .row = row, .lanes = &row->worst.lanes, .target = t};
    g.words = row->memory ? t->line_bytes / word : banks_count(t, g.lanes);
    g.line = (unsigned)(g.words * word);
    find_rows(&g);
    if (g.words > p->words) p->words = g.words;
    const char *spec = access_spec(r, l, row);
    put_text(p, margin, p->y + 16, row->fault ? "hot" : "ink",
             arena_printf(r->a, "%s%s: %s%s", row->fault ? "! " : "", row->memory ? row->memory : "shared memory", access_name(row),
                          row->width && !row->bulk ? arena_printf(r->a, ", %d bytes a lane", row->width) : ""));
    put_text(p, margin, p->y + 33, "dim code",
             arena_printf(r->a, "%s%s%s", row->place.source ? row->place.source : "?", spec ? "   " : "", spec ? spec : ""));
    put_text(p, margin, p->y + 50, "ink small", numbers_of(r, row));
    p->y += 58;
    put_grid(&g);
    p->y += 18;
}

static void put_launch(picture *p, const access_launch *l)
{
    const int most = p->r->count > 1 ? most_panels : l->row_count;
    put_text(p, margin, p->y + 20, "head ink", l->kernel);
    put_text(p, margin, p->y + 38, "dim", access_ops(p->r, l));
    put_text(p, margin, p->y + 56, "dim", arena_printf(p->r->a, "%u workgroups of %u threads", l->workgroups, l->threads));
    p->y += 66;
    for (int i = 0; i < l->row_count && i < most; i++) put_panel(p, l, &l->rows[i]);
    if (l->row_count > most)
        put_text(p, margin, p->y + 4, "dim", arena_printf(p->r->a, "%d more lines: --kernel=%s has all", l->row_count - most, l->kernel));
    p->y += 24;
}

static void put_legend(picture *p)
{
    const access_report *r = p->r;
    const target_info *t = r->plan->target;
    const char *const lines[] = {
        arena_printf(r->a, "what waves ask for, in the geometry of %s", t->name),
        arena_printf(r->a, "A cell is 4 bytes. Memory: a row is a line of %d bytes, with sectors", t->line_bytes),
        arena_printf(r->a, "of %d; colours go with lanes, with the number of each in its first cell.", t->sector_bytes),
        "Shared memory: a column is a bank; colours are phases, in which lanes",
        "are served together. Tensor loads: colours are pieces of 16 bytes."};
    put_text(p, margin, 34, "head ink", r->plan->program->name);
    p->y = 36;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) put_text(p, margin, p->y += 18, "dim", lines[i]);
    static const char *const classes[] = {"idle", "none", "clash"}, *const says[] = {"comes, not asked for", "not asked for",
                                                                                     "waits for its bank"};
    for (int i = 0; i < 3; i++) {
        text_printf(&p->out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", classes[i], margin + 170 * i,
                    p->y + 12, cell - 1, cell - 1);
        put_text(p, margin + 170 * i + 20, p->y + 23, "ink small", says[i]);
    }
    p->y += 40;
}

void access_picture(const access_report *r, const char *path)
{
    picture p = {.r = r, .out = {.a = r->a}, .words = least_words};
    text whole = {.a = r->a};
    put_legend(&p);
    for (int i = 0; i < r->count; i++)
        if (!r->launches[i].passed && r->launches[i].row_count) put_launch(&p, &r->launches[i]);
    const int width = 2 * margin + labels + p.words * cell;
    text_printf(&whole, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
                "aria-label=\"what waves ask memory and shared memory for\">\n<title>", width, p.y + margin, width, p.y + margin);
    markup_put(&whole, r->plan->program->name);
    text_printf(&whole, "</title>\n<style>");
    markup_rules(&whole, colours, sizeof colours / sizeof *colours);
    text_printf(&whole, "%s</style>\n<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n", style);
    text_append(&whole, p.out.data, p.out.size);
    text_printf(&whole, "</svg>\n");
    cli_write_file(r->a, path, whole.data, whole.size);
}
