/* In: a product of few rows. Out: the function load_early() of its spec struct, by which a thread loads the vectors that its epilogue reads
 * (a residual, a bias) before the products. Loaded after the products, they would delay the end of a tile by an access to L2.
 *
 * Segments of rotated pairs (rope) load nothing early. Their cosines and sines could be computed early, too, but take 8 registers, and then
 * tiles of 512 threads spilled. */
#include "gen/emit/gemm.h"

/* The first `most` vectors that the segment's epilogue loads. */
static kept_list loads_of(const gemm *g, const gemm_segment *segment, int most)
{
    kept_list x = {.loads_only = true};
    writer scratch = {.a = g->e->a};
    scope s = gemm_segment_scope(g, segment, &scratch);
    s.collect = &x;
    if (segment->kind != segment_pair_rope) gemm_write_segment_body(g, segment, &s);
    if (x.count > most) x.count = most;
    return x;
}

static bool takes_halves(const gemm_segment *segment) { return segment->kind == segment_plain; }

void gemm_find_early(gemm *g, bool halves, int most)
{
    const segment_list *list = &g->e->segments;
    const int arguments = g->e->argument_count;
    g->early = arena_alloc(g->e->a, ((size_t)list->count + 1) * sizeof *g->early);
    for (int i = 0; i < list->count; i++) {
        const gemm_segment *segment = &list->items[i];
        const int each = takes_halves(segment) && !halves ? 2 : 1;
        kept_list x = loads_of(g, segment, most / each);
        g->early[i] = arena_alloc(g->e->a, sizeof x);
        *g->early[i] = x;
        if (x.count * each > g->early_count) g->early_count = x.count * each;
    }
    g->e->argument_count = arguments; /* the real run registers them again, in the order of the text */
}

static const kept_list *early_of(const gemm *g, const gemm_segment *segment)
{
    return g->early ? g->early[segment - g->e->segments.items] : NULL;
}

/* c.early[i] of one call of the segment's function. */
static const char *early_name(const gemm *g, const gemm_segment *segment, int count, int i)
{
    if (!takes_halves(segment)) return arena_printf(g->e->a, "c.early[%d]", i);
    if (count == 1) return "c.early[Half]";
    return arena_printf(g->e->a, "c.early[%d * Half + %d]", count, i);
}

void gemm_know_early(const gemm *g, const gemm_segment *segment, scope *s)
{
    const kept_list *x = early_of(g, segment);
    if (!x) return;
    for (int i = 0; i < x->count; i++) {
        const kept *k = &x->items[i];
        scope_know(s, columns_of(s, k->value, &k->at), c_name(g->e->pool, early_name(g, segment, x->count, i)));
    }
}

static void write_loads(gemm *g, const gemm_segment *segment, const kept_list *x)
{
    writer *w = g->w;
    scope s = gemm_segment_scope(g, segment, w);
    for (int i = 0; i < x->count; i++) {
        const kept *k = &x->items[i];
        const char *value = c_text(g->e->a, evaluate(&s, k->value, &k->at));
        write_line(w, "%s = %s;", early_name(g, segment, x->count, i), value);
    }
}

static const char *function_of(const gemm *g, const gemm_segment *segment)
{
    return name_marked(g->e->a, g->e->names->values[segment->first->outputs[0]->id], name_fetch);
}

static void write_function(gemm *g, const gemm_segment *segment, const kept_list *x)
{
    write_line(g->w, "template <int W%s> DEV static void %s(const args &p, context &c, int row, int col)",
               takes_halves(segment) ? ", int Half" : "", function_of(g, segment));
    write_body(g->w);
    gemm_write_segment_columns(g, segment);
    write_loads(g, segment, x);
    end_body(g->w);
}

static void write_call(const gemm *g, const gemm_segment *segment, bool halves)
{
    expression_pool *p = g->e->pool;
    arena *a = g->e->a;
    const char *name = function_of(g, segment);
    const expression *column = gemm_value_column(p, segment);
    write_line(g->w, "%s<W%s>(p, c, row, %s);", name, takes_halves(segment) ? ", 0" : "", c_text(a, column));
    if (takes_halves(segment) && !halves)
        write_line(g->w, "%s<W, 1>(p, c, row, %s);", name, c_text(a, c_shifted(p, column, packed_granule)));
}

void gemm_write_early(gemm *g, bool halves)
{
    const segment_list *list = &g->e->segments;
    write_line(g->w, "static constexpr bool loads_early = %s;", g->early_count ? "true" : "false");
    if (!g->early_count) return;
    for (int i = 0; i < list->count; i++)
        if (g->early[i] && g->early[i]->count) write_function(g, &list->items[i], g->early[i]);
    write_line(g->w, "template <int W> DEV static void load_early(const args &p, context &c, int batch, int row, int n)");
    write_body(g->w);
    gemm_flatten_row(g, g->w);
    for (int i = 0; i < list->count; i++) {
        const gemm_segment *segment = &list->items[i];
        const bool last = i + 1 == list->count;
        if (!last) write_head(g->w, (position){0}, "if (n < %lld)", segment->packed_start + segment->packed_count);
        if (g->early[i] && g->early[i]->count) write_call(g, segment, halves);
        if (!last) write_line(g->w, "return;"), end_head(g->w, "}");
    }
    end_body(g->w);
}
