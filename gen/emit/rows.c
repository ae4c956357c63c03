/* Writes the members of a rows phase's spec struct (docs/spec-structs.md: rows). Columns of values that do not depend on row scalars are
 * loaded or computed in read() and kept in `element`; the others are computed where they are used. Refuses values that cannot be computed
 * inside the phase (evaluate.c). */
#include "gen/emit/emit.h"
#include <string.h>

typedef struct rows {
    emission *e;
    writer *w;
    kept_list kept;
    scope fields; /* names of context's fields */
    const ir_value **reductions; /* for each pass: its result */
    place *reduced_at;           /* for each pass: the row and columns at which its operand is evaluated */
    int passes;
    int *stages; /* for each op of the phase: the last pass that its result depends on; -1: none */
    bool tails;  /* N is not a multiple of V */
    row_numbers numbers;
} rows;

static const expression *own_row(const rows *r) { return c_int(r->e->pool, "row"); }

static place base_place(const rows *r)
{
    expression_pool *p = r->e->pool;
    return (place){.row = own_row(r), .base = c_int(p, "col"), .left = r->tails ? c_int(p, "left") : NULL};
}

static scope function_scope(rows *r, writer *w)
{
    scope s = scope_new(r->e, w, "V");
    if (!r->tails) s.whole = r->e->phase->tile.rows.v;
    return s;
}

/* Whether v is kept as pairs of bf16, which take half the registers. Only values that lose nothing are: v is loaded, or every op that reads
 * v reads it rounded to bf16. Never on the host, where nothing is kept between passes. */
static bool kept_packed(const rows *r, const ir_value *v)
{
    if (r->e->plan->target->serial || v->type != dtype_bf16 || r->e->phase->tile.rows.v % 2) return false;
    return !value_made_here(r->e, v) || rounded_here(r->e, v);
}

static void know_kept(rows *r, scope *s)
{
    for (int i = 0; i < r->kept.count; i++) {
        const kept *k = &r->kept.items[i];
        const expression *field = c_name(r->e->pool, arena_printf(r->e->a, "e.%s", k->field));
        scope_know(s, columns_of(s, k->value, &k->at), kept_packed(r, k->value) ? c_call(r->e->pool, "from_pairs", field) : field);
    }
}

static bool is_stored_result(const rows *r, const ir_value *v, bool row_scalar)
{
    return value_written(r->e, v) && (v->def->kind != op_kv_append ? value_is_row_scalar(r->e, v) : false) == row_scalar;
}

/* ---- the dry run, which finds the fields of element and context */
static void find_passes(rows *r)
{
    const ir_phase *phase = r->e->phase;
    r->reductions = arena_alloc(r->e->a, (size_t)phase->op_count * sizeof *r->reductions);
    r->reduced_at = arena_alloc(r->e->a, (size_t)phase->op_count * sizeof *r->reduced_at);
    for (int i = 0; i < phase->op_count; i++) {
        const ir_value *v = phase->ops[i]->outputs[0];
        if (!wide_reduction(r->e, v)) continue;
        r->reductions[r->passes++] = v;
    }
}

static int stage_of(const rows *r, const ir_value *v)
{
    const int i = value_index_here(r->e, v);
    return i < 0 ? -1 : r->stages[i];
}

static int find_stage(const rows *r, const ir_value *v)
{
    for (int i = 0; i < r->passes; i++)
        if (r->reductions[i] == v) return i;
    int stage = -1;
    for (int i = 0; i < v->def->input_count; i++) {
        const int own = stage_of(r, v->def->inputs[i]);
        if (own > stage) stage = own;
    }
    return stage;
}

static void find_stages(rows *r)
{
    const ir_phase *phase = r->e->phase;
    r->stages = arena_alloc(r->e->a, (size_t)phase->op_count * sizeof *r->stages);
    for (int i = 0; i < phase->op_count; i++) r->stages[i] = find_stage(r, phase->ops[i]->outputs[0]);
}

/* v is computed after pass `stage`. Keeps in context the totals of earlier passes that v depends on. */
static void keep_totals(rows *r, const ir_value *v, int stage, bool *seen)
{
    const int index = value_index_here(r->e, v);
    if (index < 0 || seen[index]) return;
    v = value_behind(r->e, v);
    seen[index] = true;
    for (int i = 0; i < r->passes; i++)
        if (r->reductions[i] == v) {
            if (i < stage) keep_scalar(&r->kept, v, r->reduced_at[i].row);
            return;
        }
    for (int i = 0; i < v->def->input_count; i++) keep_totals(r, v->def->inputs[i], stage, seen);
}

static void keep_all_totals(rows *r)
{
    const size_t count = (size_t)r->e->phase->op_count;
    bool *seen = arena_alloc(r->e->a, count * sizeof *seen);
    for (int i = 0; i < r->kept.scalar_count; i++) { /* the body may add items */
        memset(seen, 0, count * sizeof *seen);
        keep_totals(r, r->kept.scalars[i].value, stage_of(r, r->kept.scalars[i].value), seen);
    }
}

static void dry_run(rows *r)
{
    writer scratch = {.a = r->e->a};
    const place base = base_place(r);
    scope s = function_scope(r, &scratch);
    const ir_phase *phase = r->e->phase;
    s.collect = &r->kept;
    r->fields = scope_new(r->e, &scratch, "V");
    r->kept.fields = &r->fields;
    /* Without reductions, a GPU kernel issues all loads of a row before it computes, so that only loaded columns must be kept. */
    r->kept.loads_only = r->passes == 0 && !r->e->plan->target->serial;
    numbers_know(&r->numbers, &s);
    for (int i = 0; i < r->passes; i++) {
        r->reduced_at[i] = store_place(&s, r->reductions[i]->def->inputs[0], &base);
        evaluate(&s, r->reductions[i]->def->inputs[0], &r->reduced_at[i]);
    }
    for (int i = 0; i < phase->op_count; i++) {
        const ir_value *v = phase->ops[i]->outputs[0];
        if (is_stored_result(r, v, false)) {
            const place at = store_place(&s, v, &base);
            write_store(&s, v, &at, NULL);
        } else if (is_stored_result(r, v, true))
            write_row_scalar_store(&s, v, own_row(r), NULL);
    }
    keep_all_totals(r);
}

/* ---- members */
static void write_types(rows *r)
{
    writer *w = r->w;
    write_context(r->e, w, &r->kept, &r->numbers, NULL);
    if (!r->kept.count) {
        write_line(w, "template <int V> struct element {};");
        return;
    }
    write_head(w, (position){0}, "template <int V> struct element");
    for (int packed = 0; packed < 2; packed++) {
        text list = {.a = r->e->a};
        for (int i = 0; i < r->kept.count; i++)
            if (kept_packed(r, r->kept.items[i].value) == packed) text_printf(&list, "%s%s", list.size ? ", " : "", r->kept.items[i].field);
        if (list.size) write_line(w, "%s %s;", packed ? "bf16_pairs<V>" : "vec<float, V>", list.data);
    }
    end_head(w, "};");
}

/* Writes statements that compute the fields of context that depend on pass `stage` and on no later one; -1: on no pass. */
static void write_scalars(rows *r, scope *s, int stage)
{
    for (int i = 0; i < r->kept.scalar_count; i++) {
        const kept_scalar *x = &r->kept.scalars[i];
        if (stage_of(r, x->value) < stage) scope_know(s, scalar_of(x->value, x->row), context_field(r->e, x->field));
    }
    for (int i = 0; i < r->kept.scalar_count; i++)
        if (stage_of(r, r->kept.scalars[i].value) == stage) write_set(s, &r->kept.scalars[i]);
}

static void write_begin(rows *r)
{
    write_line(r->w, "DEV static void begin(const args &p, int row, context &c)");
    write_body(r->w);
    scope s = function_scope(r, r->w);
    numbers_write(&r->numbers, &s);
    write_scalars(r, &s, -1);
    end_body(r->w);
}

static void write_read(rows *r)
{
    writer *w = r->w;
    write_line(w, "template <int V> DEV static element<V> read(const args &p, int row, int col, int left)");
    write_body(w);
    scope s = function_scope(r, w);
    const expression **values = arena_alloc(r->e->a, ((size_t)r->kept.count + 1) * sizeof *values);
    for (int i = 0; i < r->kept.count; i++) values[i] = evaluate(&s, r->kept.items[i].value, &r->kept.items[i].at);
    text list = {.a = r->e->a};
    for (int packed = 0; packed < 2; packed++) /* in the order of the fields */
        for (int i = 0; i < r->kept.count; i++)
            if (kept_packed(r, r->kept.items[i].value) == packed)
                text_printf(&list, packed ? "%sto_pairs(%s)" : "%s%s", list.size ? ", " : "", c_text(r->e->a, values[i]));
    write_line(w, "return {%s};", list.size ? list.data : "");
    end_body(w);
}

static void write_pass(rows *r, int i)
{
    static const char *const kinds[] = {"sum", "max", "min"}, *const identities[] = {"0.0f", "take_max::identity()",
                                                                                     "take_min::identity()"};
    const ir_value *v = r->reductions[i], *x = v->def->inputs[0];
    const int kind = v->def->kind == op_row_max ? 1 : v->def->kind == op_row_min ? 2 : 0;
    writer *w = r->w;
    write_spec_line(w, v->def->at, "static constexpr reduction kind(pass<%d>) { return reduction::%s; }", i, kinds[kind]);
    write_line(w,
               "template <int V> DEV static vec<float, V> term(pass<%d>, const args &p, const context &c, const "
               "element<V> &e, int row, int col)",
               i);
    write_body(w);
    scope s = function_scope(r, w);
    know_kept(r, &s), context_know(&r->kept, &s), numbers_know(&r->numbers, &s);
    expression_pool *p = r->e->pool;
    const expression *value = evaluate(&s, x, &r->reduced_at[i]), *guard = r->reduced_at[i].guard;
    if (v->def->kind == op_row_sumsq) value = c_call(p, "op_square", value);
    if (guard) value = c_choice(p, guard, value, c_call(p, "splat<V>", c_name(p, identities[kind])));
    write_spec_line(w, v->def->at, "return %s;", c_text(r->e->a, value));
    end_body(w);
    write_line(w, "DEV static void reduced(pass<%d>, const args &p, context &c, int row, float total)", i);
    write_body(w);
    if (rounded_here(r->e, v)) write_spec_line(w, v->def->at, "total = op_cast<%s>(total);", dtype_c_name(v->type));
    scope after = function_scope(r, w);
    scope_know(&after, scalar_of(v, r->reduced_at[i].row), c_name(p, "total"));
    write_scalars(r, &after, i);
    end_body(w);
}

static void write_stores(rows *r)
{
    writer *w = r->w;
    const ir_phase *phase = r->e->phase;
    const place base = base_place(r);
    write_line(w, "template <int V> DEV static void write(const args &p, const context &c, const element<V> &e, int "
                  "row, int col, int left)");
    write_body(w);
    scope s = function_scope(r, w);
    know_kept(r, &s), context_know(&r->kept, &s), numbers_know(&r->numbers, &s);
    for (int i = 0; i < phase->op_count; i++) {
        const ir_value *v = phase->ops[i]->outputs[0];
        if (!is_stored_result(r, v, false)) continue;
        const place at = store_place(&s, v, &base);
        write_store(&s, v, &at, store_condition(r->e, v, own_row(r)));
    }
    end_body(w);
    write_line(w, "DEV static void write_row(const args &p, const context &c, int row)");
    write_body(w);
    scope row_scalar = function_scope(r, w);
    context_know(&r->kept, &row_scalar);
    for (int i = 0; i < phase->op_count; i++) {
        const ir_value *v = phase->ops[i]->outputs[0];
        if (is_stored_result(r, v, true)) write_row_scalar_store(&row_scalar, v, own_row(r), store_condition(r->e, v, own_row(r)));
    }
    end_body(w);
}

void emit_rows(emission *e, writer *w)
{
    rows r = {.e = e, .w = w};
    const ir_phase *phase = e->phase;
    r.tails = e->space.columns % phase->tile.rows.v != 0;
    find_passes(&r);
    find_stages(&r);
    r.numbers = numbers_find(e);
    const int arguments = e->argument_count;
    dry_run(&r);
    e->argument_count = arguments; /* drops the dry run's arguments; the text registers them again, in the order in which it uses them */
    write_types(&r);
    write_line(w, "static constexpr int N = %lld, threads = %d, team = %d, V = %d, passes = %d;", e->space.columns,
               phase->tile.rows.threads, phase->tile.rows.team, phase->tile.rows.v, r.passes);
    write_line(w, "DEV static int rows(const args &p) { return %s; }", c_text(e->a, extent_c(e, &e->space.rows)));
    write_begin(&r);
    write_read(&r);
    for (int i = 0; i < r.passes; i++) write_pass(&r, i);
    write_stores(&r);
}
