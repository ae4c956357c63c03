/* Writes the members of a gemm phase's spec struct for A and B: types, addresses, elements (docs/spec-structs.md: gemm). */
#include "gen/emit/gemm.h"
#include "ir/graph/format.h"

bool gemm_is_matmul(const gemm *g) { return g->product->kind == op_matmul; }

bool gemm_swaps(const gemm *g)
{
    const ir_op *maker = g->a->def;
    return gemm_is_matmul(g) && maker && maker->kind == op_tf32_terms;
}

/* How many matrices a matmul multiplies; 1 for linears. */
static extent gemm_batches(const gemm *g)
{
    const ir_value *out = g->product->outputs[0];
    extent batches = extent_number(1);
    for (int i = 0; gemm_is_matmul(g) && i + 2 < out->rank; i++) batches = extent_multiply(g->e->a, out->at, batches, out->shape[i]);
    return batches;
}

bool gemm_is_batched(const gemm *g)
{
    const extent batches = gemm_batches(g);
    long long n;
    return !extent_is_number(&batches, &n) || n > 1;
}

static bool prologue(const gemm *g) { return value_made_here(g->e, g->a); }

/* Whether rows of A can be copied as they are stored, 16 bytes at a time. */
static bool a_plain(const gemm *g)
{
    const view w = view_of(g->e->a, g->a);
    const long long size = dtype_size(g->a->type);
    if (value_bf16_terms(g->a) > 1) return true;
    return !prologue(g) && g->a->type != dtype_i32 && w.stride * size % 16 == 0 && w.offset * size % 16 == 0 && g->K * size % 16 == 0;
}

void gemm_flatten_row(gemm *g, writer *w)
{
    const ir_value *out = g->product->outputs[0];
    if (!gemm_is_matmul(g)) return;
    const expression *ahead = c_product(g->e->pool, c_int(g->e->pool, "batch"), extent_c(g->e, &out->shape[out->rank - 2]));
    write_line(w, "row += %s;", c_text(g->e->a, ahead));
}

static const expression *row_of_a(gemm *g) { return row_of(g->e, g->a, g->product->outputs[0], c_int(g->e->pool, "row")); }

void gemm_write_rows_of_a(gemm *g)
{
    emission *e = g->e;
    writer *w = g->w;
    write_line(w, "DEV static const a_type *a_row(const args &p, int batch, int row)");
    write_body(w);
    gemm_flatten_row(g, w);
    write_spec_line(w, g->product->at, "return %s;", c_text(e->a, address(e, g->a, row_of_a(g), c_number(e->pool, 0), false)));
    end_body(w);
}

void gemm_write_a(gemm *g)
{
    emission *e = g->e;
    expression_pool *p = e->pool;
    writer *w = g->w;
    scope s = scope_new(e, w, "V");
    const bool whole = g->K % gemm_vector == 0;
    s.whole = whole ? gemm_vector : 0;
    write_line(w, "template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)");
    write_body(w);
    gemm_flatten_row(g, w);
    const expression *left = c_int(p, "left");
    const place at = {.row = row_of_a(g), .base = c_int(p, "k"), .left = whole ? NULL : left};
    const bool row_scalar = value_is_row_scalar(e, g->a);
    const expression *x = row_scalar ? c_call(p, "splat<V>", evaluate_row_scalar(&s, g->a, at.row)) : evaluate(&s, g->a, &at);
    if (row_scalar || (prologue(g) && !whole)) x = c_call(p, "mask<V>", x, left);
    write_spec_line(w, g->product->at, "return %s;", c_text(e->a, x));
    end_body(w);
}

int gemm_pack(const gemm *g)
{
    if (g->e->pack >= 0) return g->e->pack;
    bail(g->e->a, code_unsupported, g->product->at, "internal: a product without a packed weight");
}

static void write_packed(gemm *g)
{
    write_line(g->w, "DEV static const b_type *packed(const args &p) { return %s; }",
               c_text(g->e->a, use_packed(g->e, gemm_pack(g), false)));
}

/* Writes where rows of A in words begin, and whether some rows are plain. */
static void write_words_of_a(gemm *g)
{
    emission *e = g->e;
    write_line(g->w, "static constexpr bool some_rows_in_words = %s;", g->a == e->plan->stack.in ? "true" : "false");
    write_line(g->w, "DEV static const float *a_words(const args &p, int batch, int row)");
    write_body(g->w);
    const expression *from = words_address(e, g->a, row_of_a(g), c_number(e->pool, 0), false), *words = use_words(e, g->a, false);
    if (g->a == e->plan->stack.in) from = c_choice(e->pool, words, from, c_name(e->pool, "nullptr"));
    write_spec_line(g->w, g->product->at, "return %s;", c_text(e->a, from));
    end_body(g->w);
    (void)use_launch_words(e);
}

void gemm_write_rows_of_operands(gemm *g)
{
    const bool in_words = value_words(g->e->plan, g->a) >= 0;
    if (in_words) write_words_of_a(g);
    if (!in_words || g->a == g->e->plan->stack.in) gemm_write_rows_of_a(g);
    write_packed(g);
}

/* The index of the operand's matrix for matrix `batch` of the result; leading axes of the operand may broadcast. */
static const expression *batch_of(gemm *g, const ir_value *operand)
{
    ir_value own = *operand, out = *g->product->outputs[0];
    own.rank--, out.rank--;
    return row_of(g->e, &own, &out, c_int(g->e->pool, "batch"));
}

void gemm_write_forms(const gemm *g, bool of_a, const char *weight)
{
    const bool swaps = gemm_swaps(g), a_in_rows = swaps ? g->product->attributes.transpose : !g->product->attributes.transpose_a;
    const char *matmul = swaps || g->product->attributes.transpose ? "in_rows" : "in_columns";
    const char *a = a_in_rows ? "a_form = in_rows, " : "a_form = in_columns, ";
    write_line(g->w, "static constexpr operand_form %sb_form = %s;", of_a ? a : "", gemm_is_matmul(g) ? matmul : weight);
    write_line(g->w, "static constexpr bool batched = %s;", gemm_is_batched(g) ? "true" : "false");
}

/* a_row() of A as [K, M]: row k of the batch's matrix. */
static void write_columns_of_a(gemm *g)
{
    emission *e = g->e;
    const expression *row = c_sum(e->pool, c_product(e->pool, batch_of(g, g->a), c_number(e->pool, g->K)), c_int(e->pool, "k"));
    write_line(g->w, "DEV static const a_type *a_row(const args &p, int batch, int k)");
    write_body(g->w);
    write_spec_line(g->w, g->product->at, "return %s;", c_text(e->a, address(e, g->a, row, c_number(e->pool, 0), false)));
    end_body(g->w);
}

void gemm_write_dense_rows(gemm *g)
{
    emission *e = g->e;
    const long long rows = g->product->attributes.transpose ? e->space.columns : g->K;
    const expression *row = c_sum(e->pool, c_product(e->pool, batch_of(g, g->b), c_number(e->pool, rows)), c_int(e->pool, "row"));
    if (g->product->attributes.transpose_a) write_columns_of_a(g);
    else gemm_write_rows_of_a(g);
    write_line(g->w, "static constexpr int columns = %lld;", e->space.columns);
    write_stride(e, g->w, "b_stride", g->b);
    write_line(g->w, "DEV static const b_type *b_row(const args &p, int batch, int row)");
    write_body(g->w);
    write_spec_line(g->w, g->product->at, "return %s;", c_text(e->a, address(e, g->b, row, c_number(e->pool, 0), false)));
    end_body(g->w);
}

void gemm_write_columns(emission *e, writer *w, const matmul_columns *z)
{
    expression_pool *p = e->pool;
    const long long N = z->N;
    const expression *k = c_int(p, "k"), *any = c_int(p, "n"), *exists = c_less(p, any, c_number(p, N));
    /* For a padding column, the last column is read, which needs no branch. */
    const expression *n = z->whole && N % (2 * packed_granule) ? c_choice(p, exists, any, c_number(p, N - 1)) : any;
    write_line(w, "template <int V> DEV static vec<float, V> b(const args &p, int batch, int n, int k, int left)");
    write_body(w);
    if (z->transposed && z->whole) {
        const expression *row = c_sum(p, c_product(p, z->batch, c_number(p, N)), n);
        write_spec_line(w, z->at, "return %s;", c_text(e->a, c_call(p, "load_aligned<V>", address(e, z->value, row, k, false))));
    } else if (z->transposed) {
        const expression *row = c_sum(p, c_product(p, z->batch, c_number(p, N)), n);
        const expression *left = c_choice(p, exists, c_int(p, "left"), c_number(p, 0));
        write_spec_line(w, z->at, "return %s;", c_text(e->a, c_call(p, "load<V>", address(e, z->value, row, k, false), left)));
    } else {
        const expression *i = c_int(p, "i");
        const expression *row = c_sum(p, c_sum(p, c_product(p, z->batch, c_number(p, z->K)), k), i);
        write_line(w, "vec<float, V> column = splat<V>(0.0f);");
        write_line(w, "for (int i = 0; i < V; i++)");
        w->indent++;
        const char *element = c_text(e->a, c_call(p, "load_one", address(e, z->value, row, n, false)));
        if (z->whole)
            write_spec_line(w, z->at, "column[i] = %s;", element);
        else
            write_spec_line(w, z->at, "if (%s) column[i] = %s;", c_text(e->a, c_both(p, c_less(p, i, c_int(p, "left")), exists)), element);
        w->indent--;
        write_line(w, "return column;");
    }
    end_body(w);
}

/* For matmul_columns.whole: whether K is a multiple of gemm_vector and, if elements along K are adjacent in memory, rows are 16-byte
 * aligned. */
static bool columns_are_whole(const gemm *g)
{
    const bool transposed = g->product->attributes.transpose;
    return g->K % gemm_vector == 0 && g->b->type != dtype_i32 && (!transposed || value_alignment(g->e->a, g->b) == 16);
}

void gemm_write_b(gemm *g, bool within)
{
    if (!gemm_is_matmul(g)) {
        write_packed(g);
        return;
    }
    const matmul_columns z = {.value = g->b,
                              .at = g->product->at,
                              .transposed = g->product->attributes.transpose,
                              .whole = within && columns_are_whole(g),
                              .N = g->e->space.columns,
                              .K = g->K,
                              .batch = batch_of(g, g->b)};
    gemm_write_columns(g->e, g->w, &z);
}

void gemm_write_a_across(gemm *g)
{
    emission *e = g->e;
    expression_pool *p = e->pool;
    const long long M = value_columns(g->a);
    const bool whole = M % gemm_vector == 0 && g->a->type != dtype_i32 && value_alignment(e->a, g->a) == 16;
    const expression *first = c_int(p, "row"), *k = c_sum(p, c_product(p, batch_of(g, g->a), c_number(p, g->K)), c_int(p, "k"));
    const expression *from = address(e, g->a, k, first, false), *left = c_difference(p, c_number(p, M), first);
    write_line(g->w, "template <int V> DEV static vec<float, V> a_row(const args &p, int batch, int k, int row)");
    write_body(g->w);
    write_spec_line(g->w, g->product->at, "return %s;",
                    c_text(e->a, whole ? c_call(p, "load_aligned<V>", from) : c_call(p, "load<V>", from, left)));
    end_body(g->w);
}

bool gemm_is_across(const gemm *g) { return gemm_is_matmul(g) && !g->product->attributes.transpose; }

void gemm_write_b_across(gemm *g)
{
    emission *e = g->e;
    expression_pool *p = e->pool;
    const long long N = e->space.columns;
    const bool whole = N % gemm_vector == 0 && g->b->type != dtype_i32 && value_alignment(e->a, g->b) == 16;
    const expression *n = c_int(p, "n"), *row = c_sum(p, c_product(p, batch_of(g, g->b), c_number(p, g->K)), c_int(p, "k"));
    const expression *from = address(e, g->b, row, n, false), *left = c_difference(p, c_number(p, N), n);
    write_line(g->w, "template <int V> DEV static vec<float, V> b_row(const args &p, int batch, int k, int n)");
    write_body(g->w);
    if (whole && N % (2 * packed_granule)) write_line(g->w, "if (n >= %lld) return splat<V>(0.0f);", N);
    write_spec_line(g->w, g->product->at, "return %s;",
                    c_text(e->a, whole ? c_call(p, "load_aligned<V>", from) : c_call(p, "load<V>", from, left)));
    end_body(g->w);
}

void gemm_write_b_type(gemm *g)
{
    const dtype type = gemm_is_matmul(g) ? g->b->type : g->e->plan->packs[gemm_pack(g)].format->type;
    write_line(g->w, "using b_type = %s;", gemm_is_matmul(g) && type == dtype_i32 ? "float" : dtype_c_name(type));
}

void gemm_write_operand_types(gemm *g)
{
    const weight_format *format = gemm_is_matmul(g) ? NULL : g->e->plan->packs[gemm_pack(g)].format;
    const dtype b = format ? format->type : g->b->type;
    write_line(g->w, "using a_type = %s;", dtype_c_name(g->a->type));
    write_line(g->w, "using b_type = %s;", b == g->a->type ? "a_type" : dtype_c_name(b));
    const int terms = value_bf16_terms(g->a);
    const term_pairs pairs = format_pairs(terms, format && format->passes > 1 ? format->terms : 1);
    if (pairs.passes > 1) write_line(g->w, "static constexpr int passes = %d;", pairs.passes);
    if (terms > 1)
        write_line(g->w, "static constexpr unsigned a_terms = 0x%x, b_terms = 0x%x, a_length = %lld;", pairs.a, pairs.b,
                   value_stride(g->a));
}

void gemm_write_plain(gemm *g)
{
    write_line(g->w, "static constexpr bool row_sums = %s, a_plain = %s, b_plain = %s;", g->row_sum ? "true" : "false",
               a_plain(g) ? "true" : "false", gemm_is_matmul(g) ? "false" : "true");
}

void gemm_write_batches(gemm *g)
{
    const extent batches = gemm_batches(g);
    write_line(g->w, "DEV static int batches(const args &p) { return %s; }", c_text(g->e->a, extent_c(g->e, &batches)));
}

void gemm_write_matrices(gemm *g)
{
    gemm_write_batches(g);
    const ir_value *a = gemm_swaps(g) ? g->b : g->a, *b = gemm_swaps(g) ? g->a : g->b;
    write_line(g->w, "DEV static int a_batch(const args &p, int batch) { return %s; }", c_text(g->e->a, batch_of(g, a)));
    write_line(g->w, "DEV static int b_batch(const args &p, int batch) { return %s; }", c_text(g->e->a, batch_of(g, b)));
}

void gemm_write_partial(gemm *g)
{
    if (g->e->scratch < 0) return;
    write_line(g->w, "DEV static float *partial(const args &p) { return %s; }",
               c_text(g->e->a, use_scratch(g->e, g->e->scratch, true)));
}
