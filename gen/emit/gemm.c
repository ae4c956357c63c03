/* Writes the epilogue and the sizes of a gemm phase's spec struct (docs/spec-structs.md: gemm); gemm_operands.c writes its operands. The
 * epilogue has one function per segment of packed columns. Refuses (code_unsupported) two row sums in one epilogue, and reductions other
 * than sums. */
#include "gen/emit/gemm.h"

/* ---- row scalars of the epilogue */
/* For each op of the phase: whether its result depends on input_sum. */
static bool *find_summed(const gemm *g)
{
    const ir_phase *phase = g->e->phase;
    bool *summed = arena_alloc(g->e->a, ((size_t)phase->op_count + 1) * sizeof *summed);
    for (int i = 0; i < phase->op_count; i++) {
        summed[i] = phase->ops[i]->outputs[0] == g->input_sum;
        for (int k = 0; k < phase->ops[i]->input_count; k++) {
            const int from = value_index_here(g->e, phase->ops[i]->inputs[k]);
            summed[i] |= from >= 0 && summed[from];
        }
    }
    return summed;
}

static bool is_summed(const gemm *g, const bool *summed, const ir_value *v)
{
    const int i = value_index_here(g->e, v);
    return i >= 0 && summed[i];
}

/* Writes summed(), which the kernel calls after the mainloop: it computes the row scalars that depend on input_sum. */
static void write_summed(gemm *g, const bool *summed)
{
    writer *w = g->w;
    write_line(w, "DEV static void summed(const args &p, context &c, int batch, int row, float squares)");
    write_body(w);
    gemm_flatten_row(g, w);
    scope s = scope_new(g->e, w, "W");
    scope_know(&s, scalar_of(g->input_sum, c_int(g->e->pool, "row")), c_name(g->e->pool, "squares"));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < g->kept.scalar_count; i++) {
            const kept_scalar *x = &g->kept.scalars[i];
            if (is_summed(g, summed, x->value) != pass) continue;
            if (pass) write_set(&s, x);
            else scope_know(&s, scalar_of(x->value, x->row), context_field(g->e, x->field));
        }
    end_body(w);
}

/* The body of begin(): it computes positions, and the row scalars that do not depend on input_sum. */
static writer known_ahead(gemm *g, const bool *summed)
{
    writer w = {.a = g->e->a};
    scope s = scope_new(g->e, &w, "W");
    numbers_write(&g->numbers, &s);
    for (int i = 0; i < g->kept.scalar_count; i++)
        if (!is_summed(g, summed, g->kept.scalars[i].value)) write_set(&s, &g->kept.scalars[i]);
    return w;
}

static void write_begin(gemm *g)
{
    const bool *summed = find_summed(g);
    writer *w = g->w;
    const writer known = known_ahead(g, summed);
    if (known.count > 0) {
        write_line(w, "DEV static context begin(const args &p, int batch, int row)");
        write_body(w);
        gemm_flatten_row(g, w);
        write_line(w, g->input_sum ? "context c = {};" : "context c;");
        writer_splice(w, &known);
        write_line(w, "return c;");
        end_body(w);
    } else {
        write_line(w, "DEV static context begin(const args &p, int batch, int row) { return {}; }");
    }
    if (g->input_sum) write_summed(g, summed);
}

/* ---- the epilogue, a function per segment */
/* The last parameter and template parameter of the epilogue's functions, if they record large angles; else "". */
static const char *angles_parameter(const gemm *g) { return g->notes_angles ? ", Angles &angles" : ""; }
static const char *angles_type(const gemm *g) { return g->notes_angles ? ", class Angles" : ""; }
static const char *angles_argument(const gemm *g) { return g->notes_angles ? ", angles" : ""; }

static const char *segment_function(const gemm *g, const gemm_segment *s)
{
    return name_marked(g->e->a, g->e->names->values[s->first->outputs[0]->id], name_epilogue);
}

static void write_segment(gemm *g, const gemm_segment *segment)
{
    writer *w = g->w;
    const char *name = segment_function(g, segment);
    if (segment->kind == segment_plain)
        write_line(w,
                   "template <int W, int Half, class Out%s> DEV static void %s(const args &p, const context &c, int row, int col, "
                   "vec<float, W> product, float &sum, Out &out%s)",
                   angles_type(g), name, angles_parameter(g));
    else
        write_line(w,
                   "template <int W, class Out%s> DEV static void %s(const args &p, const context &c, int row, int %s, "
                   "vec<float, W> lo, vec<float, W> hi, float &sum, Out &out%s)",
                   angles_type(g), name, segment->kind == segment_pair_rope ? "pair" : "col", angles_parameter(g));
    write_body(w);
    gemm_write_segment_columns(g, segment);
    scope s = gemm_segment_scope(g, segment, w);
    gemm_know_early(g, segment, &s);
    gemm_write_segment_body(g, segment, &s);
    end_body(w);
}

static void write_row_scalar_stores(gemm *g, scope *s)
{
    expression_pool *p = g->e->pool;
    const ir_phase *phase = g->e->phase;
    const expression *first = c_both(p, c_name(p, "out.first"), c_equal(p, c_int(p, "n"), c_number(p, 0)));
    for (int i = 0; i < phase->op_count; i++) {
        const ir_value *v = phase->ops[i]->outputs[0];
        if (v == g->row_sum || phase->ops[i]->kind == op_kv_append || !value_written(g->e, v)) continue;
        if (segment_of(&g->e->segments, phase, phase->ops[i])) continue;
        if (!value_is_row_scalar(g->e, v))
            bail(g->e->a, code_unsupported, v->at, "%%%s: the phase stores a value that none of its products computes", v->name);
        write_row_scalar_store(s, v, c_int(p, "row"), first);
    }
}

/* Whether epilogue() has the template parameter Segment. The template then finds a block's segment once, not for each of its elements. */
static bool by_segment(const gemm *g) { return g->staged_unit && g->blocks && g->e->segments.count > 1 && !g->notes_angles; }

static void write_dispatch_head(const gemm *g, bool halves, bool attempt)
{
    const char *name = halves ? "columns" : "epilogue", *values = halves ? "vec<float, W> product" : "vec<float, W> lo, vec<float, W> hi";
    write_line(g->w,
               "template <int W%s, class Out%s> DEV static void %s%s(const args &p, const context &c, int batch, int row, int n, "
               "%s, float &sum, Out &out%s)",
               by_segment(g) ? ", int Segment = -1" : "", attempt ? angles_type(g) : "", attempt ? "attempted_" : "", name, values,
               attempt ? angles_parameter(g) : "");
    write_body(g->w);
}

/* Writes an epilogue that runs twice if it must. The first run has no branches for large angles and records whether one was large; if so,
 * the second run, which has these branches, stores all elements again. Otherwise a thread's other columns would wait for each sine's
 * branch. */
static void write_attempts(gemm *g, bool halves)
{
    const char *name = halves ? "columns" : "epilogue", *values = halves ? "product" : "lo, hi";
    write_dispatch_head(g, halves, false);
    write_line(g->w, "const float before = sum;");
    write_line(g->w, "small_angles small;");
    write_line(g->w, "attempted_%s<W>(p, c, batch, row, n, %s, sum, out, small);", name, values);
    write_line(g->w, "if (!small.failed) return;");
    write_line(g->w, "sum = before;");
    write_line(g->w, "any_angles any;");
    write_line(g->w, "attempted_%s<W>(p, c, batch, row, n, %s, sum, out, any);", name, values);
    end_body(g->w);
}

/* Writes epilogue(), which calls the function of the segment that has packed column n. halves: writes columns() instead, which handles one
 * half of a granule pair at a time; all segments must be plain. */
static void write_dispatch(gemm *g, bool halves)
{
    writer *w = g->w;
    arena *a = g->e->a;
    expression_pool *p = g->e->pool;
    const segment_list *list = &g->e->segments;
    write_dispatch_head(g, halves, g->notes_angles);
    gemm_flatten_row(g, w);
    scope s = gemm_epilogue_scope(g, w);
    context_know(&g->kept, &s);
    write_row_scalar_stores(g, &s);
    for (int i = 0; i < list->count; i++) {
        const gemm_segment *x = &list->items[i];
        const bool last = i + 1 == list->count;
        const char *name = segment_function(g, x);
        const expression *column = gemm_value_column(p, x);
        const long long end = x->packed_start + x->packed_count;
        if (!last && by_segment(g)) write_head(w, (position){0}, "if (Segment == %d || (Segment < 0 && n < %lld))", i, end);
        else if (!last) write_head(w, (position){0}, "if (n < %lld)", end);
        if (halves) {
            write_line(w, "%s<W, 0>(p, c, row, %s, product, sum, out%s);", name, c_text(a, column), angles_argument(g));
        } else if (x->kind == segment_plain) {
            write_line(w, "%s<W, 0>(p, c, row, %s, lo, sum, out%s);", name, c_text(a, column), angles_argument(g));
            write_line(w, "%s<W, 1>(p, c, row, %s, hi, sum, out%s);", name, c_text(a, c_shifted(p, column, packed_granule)),
                       angles_argument(g));
        } else {
            write_line(w, "%s<W>(p, c, row, %s, lo, hi, sum, out%s);", name, c_text(a, column), angles_argument(g));
        }
        if (!last) write_line(w, "return;");
        if (!last) end_head(w, "}");
    }
    end_body(w);
}

static void write_finish(gemm *g)
{
    if (!g->row_sum) return;
    writer *w = g->w;
    write_line(w, "DEV static void finish_row(const args &p, int batch, int row, int column_tile, float sum)");
    write_body(w);
    gemm_flatten_row(g, w);
    expression_pool *p = g->e->pool;
    const expression *first = scaled(g->e, c_int(p, "row"), value_partials(g->e->plan, g->row_sum));
    const expression *to = c_element(p, use_value(g->e, g->row_sum, true), c_sum(p, first, c_int(p, "column_tile")));
    write_spec_line(w, g->row_sum->def->at, "%s = sum;", c_text(g->e->a, to));
    end_body(w);
}

/* Writes `segments`, their number, and segment_of(), which returns the segment of packed column n. */
static void write_segments(const gemm *g)
{
    const segment_list *list = &g->e->segments;
    const int count = by_segment(g) ? list->count : 1;
    text of = {.a = g->e->a};
    write_line(g->w, "static constexpr int segments = %d;", count);
    for (int i = 0; i + 1 < count; i++) text_printf(&of, "n < %lld ? %d : ", list->items[i].packed_start + list->items[i].packed_count, i);
    if (count > 1) write_line(g->w, "DEV static int segment_of(int n) { return %s%d; }", of.data, count - 1);
}

/* ---- facts */
static void find_row_sum(gemm *g)
{
    const ir_phase *phase = g->e->phase;
    for (int i = 0; i < phase->op_count; i++) {
        const ir_op *op = phase->ops[i];
        if (op->role != role_epilogue || !partial_here(g->e, op->outputs[0])) continue;
        if (g->row_sum || (op->kind != op_row_sumsq && op->kind != op_row_sum))
            bail(g->e->a, code_unsupported, op->at, "%%%s: an epilogue has at most one row sum, no other reduction", op->outputs[0]->name);
        g->row_sum = op->outputs[0];
    }
}

/* True if an epilogue op loads an operand other than row scalars. */
bool gemm_reads(const gemm *g)
{
    const emission *e = g->e;
    for (int i = 0; i < e->phase->op_count; i++) {
        const ir_op *op = e->phase->ops[i];
        if (op->role != role_epilogue || op_is_view(op)) continue;
        for (int k = 0; k < op->input_count; k++) {
            const ir_value *v = op->inputs[k];
            if (v->kind != value_constant && !value_made_here(e, v) && !value_is_row_scalar(e, v)) return true;
        }
    }
    return false;
}

/* Whether the epilogue records large angles instead of branching (gemm.notes_angles). It does not if chains of ops become functions, which
 * compute one column and may branch, nor on the host, whose compiler would not vectorise such code. */
static bool find_angles(const emission *e)
{
    if (e->is_long || e->plan->target->serial) return false;
    for (int i = 0; i < e->phase->op_count; i++) {
        const ir_op *op = e->phase->ops[i];
        if (op->role == role_epilogue && op_is_wave(op) && !value_is_row_scalar(e, op->outputs[0])) return true;
    }
    return false;
}

static void dry_run(gemm *g)
{
    writer scratch = {.a = g->e->a};
    g->fields = scope_new(g->e, &scratch, "W");
    g->kept.fields = &g->fields;
    g->kept.scalars_only = true;
    g->results = 1;
    for (int i = 0; i < g->e->segments.count; i++) {
        const gemm_segment *segment = &g->e->segments.items[i];
        put_count puts = {0};
        scope s = gemm_epilogue_scope(g, &scratch);
        s.collect = &g->kept;
        s.puts = &puts;
        numbers_know(&g->numbers, &s);
        gemm_write_segment_body(g, segment, &s);
        if (g->staged_unit && (puts.loose || puts.most > 1))
            bail(g->e->a, code_unsupported, segment->first->at, "internal: results that cannot be staged");
        if (segment->kind != segment_pair_join) g->results = 2;
    }
    scope s = gemm_epilogue_scope(g, &scratch);
    s.collect = &g->kept;
    write_row_scalar_stores(g, &s);
}

void gemm_write_context(gemm *g)
{
    const ir_value *out = g->product->outputs[0];
    const extent *rows = gemm_is_matmul(g) ? &out->shape[out->rank - 2] : &g->e->space.rows;
    const char *early = arena_printf(g->e->a, "vec<float, %d> early[%d];", g->width, g->early_count);
    write_context(g->e, g->w, &g->kept, &g->numbers, g->early_count ? early : NULL);
    write_line(g->w, "DEV static int rows(const args &p) { return %s; }", c_text(g->e->a, extent_c(g->e, rows)));
}

static void write_epilogue(gemm *g, bool halves)
{
    write_begin(g);
    if (g->early) gemm_write_early(g, halves);
    for (int i = 0; i < g->e->segments.count; i++) write_segment(g, &g->e->segments.items[i]);
    write_dispatch(g, halves);
    if (g->notes_angles) write_attempts(g, halves);
    if (g->blocks) write_segments(g), gemm_write_touched(g);
    write_finish(g);
}

void gemm_write_epilogue(gemm *g) { write_epilogue(g, false); }

/* How many columns a thread may store at once: 4, or 2 if rows that the epilogue stores begin at odd multiples of 2 elements. */
static int stored_width(const gemm *g)
{
    long long bits = 4;
    for (int i = 0; i < g->e->phase->op_count; i++) {
        const ir_value *v = g->e->phase->ops[i]->outputs[0];
        if (value_is_row_scalar(g->e, v) || g->e->phase->ops[i]->role == role_prologue || !value_written(g->e, v)) continue;
        const view at = view_of(g->e->a, v);
        bits |= at.stride | at.offset;
    }
    return (bits & -bits) == 2 ? 2 : 4;
}

gemm gemm_start(emission *e, writer *w, int staged_unit, int width)
{
    gemm g = {.e = e, .w = w, .product = phase_first(e->phase, class_PRODUCT), .staged_unit = staged_unit};
    g.a = g.product->inputs[0];
    g.b = gemm_is_matmul(&g) ? g.product->inputs[1] : NULL;
    g.K = product_depth(g.product);
    g.packed_n = e->segments.packed_columns;
    g.packed_k = e->packed_length;
    g.numbers = numbers_find(e);
    find_row_sum(&g);
    const ir_op *input_sum = phase_input_sum(e->phase);
    g.input_sum = input_sum ? input_sum->outputs[0] : NULL;
    g.width = g.staged_unit ? gemm_vector : width == gemm_stored_width ? stored_width(&g) : width;
    const int arguments = e->argument_count;
    g.notes_angles = find_angles(e);
    dry_run(&g);
    e->argument_count = arguments; /* forgets the dry run's: the real run registers arguments in the order in which its text uses them */
    return g;
}

void gemm_write_sizes(const gemm *g)
{
    write_line(g->w, "static constexpr int K = %lld, packed_n = %lld, packed_k = %lld, granule = %d;", g->K, g->packed_n, g->packed_k,
               packed_granule);
}

/* ---- whole spec structs, for programs that share one */
void gemm_on_register_tiles(emission *e, writer *w)
{
    const gemm_registers_tile *t = &e->phase->tile.gemm_registers;
    gemm g = gemm_start(e, w, 0, e->plan->target->width);
    gemm_write_sizes(&g);
    write_line(w, "static constexpr int tile_m = %d, tile_n = %d, tile_k = %d, thread_m = %d, thread_n = %d, threads = %d, stages = %d;",
               t->m, t->n, t->k, t->thread_m, t->thread_n, t->threads, t->stages);
    write_line(w, "static constexpr int width = %d, split_k = %d;", g.width, t->split_k);
    const bool a_across = g.product->attributes.transpose_a;
    write_line(w, "static constexpr bool row_sums = %s, b_plain = %s, a_across = %s, b_across = %s;", g.row_sum ? "true" : "false",
               gemm_is_matmul(&g) ? "false" : "true", a_across ? "true" : "false", gemm_is_across(&g) ? "true" : "false");
    gemm_write_b_type(&g);
    gemm_write_context(&g);
    gemm_write_batches(&g);
    if (a_across) gemm_write_a_across(&g);
    else gemm_write_a(&g);
    if (gemm_is_across(&g)) gemm_write_b_across(&g);
    else gemm_write_b(&g, true);
    gemm_write_partial(&g);
    gemm_write_epilogue(&g);
}

void gemm_write_sums(const gemm *g)
{
    write_line(g->w, "static constexpr bool row_sums = %s, input_sums = %s;", g->row_sum ? "true" : "false",
               g->input_sum ? "true" : "false");
}

void gemm_on_pieces(emission *e, writer *w, pieces_tile tile)
{
    enum { roomy = 512 }; /* threads of a lone workgroup, which leave each 128 registers or more */
    const bool halves = tile.n % (2 * packed_granule) != 0;
    gemm g = gemm_start(e, w, 0, gemm_stored_width);
    gemm_find_early(&g, halves, tile.resident == 1 && tile.threads <= roomy ? 4 : 1);
    gemm_write_sizes(&g);
    write_line(w, "static constexpr int tile_m = %d, tile_n = %d, threads = %d, ahead = %d, resident = %d;", tile.m, tile.n, tile.threads,
               tile.ahead, tile.resident);
    write_line(w, "static constexpr int width = %d;", g.width);
    write_stride(e, w, "a_stride", g.a);
    gemm_write_sums(&g);
    gemm_write_operand_types(&g);
    gemm_write_context(&g);
    gemm_write_rows_of_operands(&g);
    write_epilogue(&g, halves);
}
