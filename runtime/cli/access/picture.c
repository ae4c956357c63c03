/* In: a report. Out: a self-contained SVG: for each source line its worst request as a grid. A row is a cache line, or all banks; a cell is
 * 4 bytes, and shows which lane requests them, whether they are loaded but not requested, and bank conflicts. With many source lines it
 * shows the first ones, and how many are left out. */
#include "runtime/cli/access/report.h"
#include "runtime/cli/page/drawing.h"
#include <string.h>

enum { cell = 14, grid_words = 32, most_rows = 24, most_panels = 6, word = 4, widest = 900 };
static const double left = 2, cells_left = 24, step = 2.32; /* per cent: x of words, x of the first cell, cell pitch */

/* Cells are light in the dark theme too, since the numbers on them are dark. */
static const char style[] = ".clash{fill:none;stroke-width:2}.p0{fill:#9ec5fe}.p1{fill:#a3e4c4}.p2{fill:#ffd88a}.p3{fill:#f5b3c8}"
                            ".p4{fill:#c9b6f7}.p5{fill:#bfe3f2}.p6{fill:#d6e69a}.p7{fill:#f7c6a3}svg .lane{fill:#1a1d21;"
                            "font-size:clamp(6px,1.75vw,10px)}svg .small{font-size:11px}";

typedef struct picture {
    const access_report *r;
    text out;
    int y;
} picture;

static void put_words(picture *p, const char *class, const char *s) { p->y = draw_words(&p->out, left, p->y, class, s); }

/* ---- one grid */
typedef struct grid {
    picture *p;
    const access_row *row;
    const bank_request *lanes;
    const target_info *target;
    unsigned long long line; /* bytes per row of the grid */
    unsigned long long rows[banks_most_lanes * 2];
    int count, words; /* number of rows; cells per row */
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

/* The first lane that requests the word; -1: none. */
static int lane_of(const grid *g, unsigned long long at)
{
    for (int lane = 0; lane < g->lanes->lanes; lane++)
        if (g->lanes->present[lane] && g->lanes->place[lane] < at + word && at < g->lanes->place[lane] + bytes_of(g)) return lane;
    return -1;
}

/* Whether some lane requests a part of the word's sector. */
static bool comes(const grid *g, unsigned long long at)
{
    const unsigned long long sector = (unsigned)g->target->sector_bytes, low = at / sector * sector;
    for (int lane = 0; lane < g->lanes->lanes; lane++)
        if (g->lanes->present[lane] && g->lanes->place[lane] < low + sector && low < g->lanes->place[lane] + bytes_of(g)) return true;
    return false;
}

/* Whether a lane of the same phase requests another word of the same bank. */
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

static void open_cell(text *out, const char *class, double x, int y)
{
    text_printf(out, "<rect class=\"%s\" x=\"%.2f%%\" y=\"%d\" width=\"%.2f%%\" height=\"%d\"", class, x, y, step * 0.93, cell - 1);
}

static void put_cell(grid *g, double x, int y, unsigned long long at)
{
    const int lane = lane_of(g, at);
    text *out = &g->p->out;
    if (lane < 0) {
        open_cell(out, g->row->memory && comes(g, at) ? "idle" : "none", x, y);
        text_printf(out, "/>\n");
        return;
    }
    const int colour = g->row->bulk     ? (int)(at / 16 % 8)
                       : g->row->memory ? lane * 8 / g->lanes->lanes
                                        : banks_phase(g->target, g->lanes, lane);
    const unsigned long long from = g->row->bulk ? at / 16 * 16 : g->lanes->place[lane];
    open_cell(out, arena_printf(out->a, "p%d", colour & 7), x, y);
    text_printf(out, "><title>lane %d: byte %llu</title></rect>\n", lane, from);
    if (clashes(g, at, lane)) open_cell(out, "clash hotstroke", x, y), text_printf(out, "/>\n");
    if (from / word == at / word && !g->row->bulk)
        text_printf(out, "<text class=\"lane\" x=\"%.2f%%\" dx=\"1\" y=\"%d\">%d</text>\n", x, y + 10, lane);
}

/* Column heads: byte offsets in a line, or banks. */
static void put_heads(grid *g)
{
    arena *a = g->p->r->a;
    draw_text(&g->p->out, left, g->p->y + 10, "dim small", g->row->memory ? "line + byte" : "row, bank");
    for (int w = 0; w < g->words; w += 8) {
        const int banks = g->row->memory ? 0 : banks_count(g->target, g->lanes);
        const char *more = banks > g->words ? arena_printf(a, "%d, %d", w, w + g->words) : arena_printf(a, "%d", w);
        draw_text(&g->p->out, cells_left + w * step, g->p->y + 10, "dim small", g->row->memory ? arena_printf(a, "+%d", w * word) : more);
    }
    g->p->y += 14;
}

static void put_grid(grid *g)
{
    picture *p = g->p;
    const int shown = g->count < most_rows ? g->count : most_rows;
    put_heads(g);
    for (int i = 0; i < shown; i++) {
        draw_text(&p->out, left, p->y + 11, "dim code", arena_printf(p->r->a, "0x%llx", g->rows[i] * g->line));
        for (int w = 0; w < g->words; w++) put_cell(g, cells_left + w * step, p->y, g->rows[i] * g->line + (unsigned)(w * word));
        p->y += cell;
    }
    if (shown < g->count) {
        draw_text(&p->out, cells_left, p->y + 12, "dim small", arena_printf(p->r->a, "and %d rows more", g->count - shown));
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
    if (g.words > grid_words) g.words = grid_words;
    g.line = (unsigned)(g.words * word);
    find_rows(&g);
    const char *spec = access_spec(r, l, row);
    put_words(p, row->fault ? "hot" : "",
              arena_printf(r->a, "%s%s: %s%s%s", row->fault ? "! " : "", row->memory ? row->memory : "shared memory", access_name(row),
                           row->width && !row->bulk ? arena_printf(r->a, ", %d bytes a lane", row->width) : "",
                           row->fault ? arena_printf(r->a, " (%s)", access_faults[row->fault]) : ""));
    put_words(p, "dim code", row->place.source ? row->place.source : "?");
    if (spec) put_words(p, "dim code", spec);
    put_words(p, "small", numbers_of(r, row));
    p->y -= 10;
    put_grid(&g);
    p->y += 30;
}

static void put_launch(picture *p, const access_launch *l)
{
    const int most = p->r->count > 1 ? most_panels : l->row_count;
    put_words(p, "title", l->kernel);
    put_words(p, "dim", access_ops(p->r, l));
    put_words(p, "dim", arena_printf(p->r->a, "%u workgroups of %u threads", l->workgroups, l->threads));
    p->y += 8;
    for (int i = 0; i < l->row_count && i < most; i++) put_panel(p, l, &l->rows[i]);
    if (l->row_count > most)
        put_words(p, "dim", arena_printf(p->r->a, "%d more lines: --kernel=%s has all", l->row_count - most, l->kernel));
    p->y += 24;
}

static void put_legend(picture *p)
{
    static const char *const classes[] = {"idle", "none", "clash hotstroke"}, *const says[] = {"fetched, not asked for", "not asked for",
                                                                                               "waits for its bank"};
    const access_report *r = p->r;
    const target_info *t = r->plan->target;
    put_words(p, "title", r->plan->ir->name);
    put_words(p, "",
              arena_printf(r->a, "Memory requests of waves in the geometry of %s: the worst one of each line of the source.", t->name));
    put_words(p, "dim",
              arena_printf(r->a,
                           "A cell is 4 bytes. Memory: lines of %d bytes with sectors of %d; colours go with lanes, and each lane's "
                           "number is in its first cell.",
                           t->line_bytes, t->sector_bytes));
    put_words(p, "dim",
              "Shared memory: a column is a bank; colours are phases, in which lanes are served together. Tensor loads: colours are "
              "pieces of 16 bytes.");
    for (int i = 0; i < 3; i++, p->y += 20) {
        open_cell(&p->out, classes[i], left, p->y - 11);
        text_printf(&p->out, "/>\n");
        draw_text(&p->out, left + 2 * step, p->y, "", says[i]);
    }
    p->y += 22;
}

void access_picture(const access_report *r, const char *path)
{
    picture p = {.r = r, .out = {.a = r->a}, .y = 26};
    text whole = {.a = r->a};
    put_legend(&p);
    for (int i = 0; i < r->count; i++)
        if (!r->launches[i].earlier_launches && r->launches[i].row_count) put_launch(&p, &r->launches[i]);
    draw_picture(&whole, draw_file, arena_printf(r->a, "memory and shared memory requests of the waves of %s", r->plan->ir->name),
                 style, widest, p.y, &p.out);
    cli_write_file(r->a, path, whole.data, whole.size);
}
