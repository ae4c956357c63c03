/* In: a gemm phase. Out: those members of its spec struct that say what A and B are and where their elements come from
 * (docs/spec-structs.md: gemm). Refuses nothing. */
#include "gen/emit/gemm.h"

bool gemm_is_matmul(const gemm *g) { return g->product->kind == op_matmul; }

static bool prologue(const gemm *g) { return value_made_here(g->e, g->a); }

/* Rows of A may be copied as they lie in memory, 16 bytes at a time. */
static bool a_plain(const gemm *g)
{
    const view w = view_of(g->e->a, g->a);
    const long long size = dtype_size(g->a->type);
    return !prologue(g) && g->a->type != dtype_i32 && w.stride * size % 16 == 0 && w.offset * size % 16 == 0 && g->K * size % 16 == 0;
}

void gemm_flatten_row(gemm *g, writer *w)
{
    const ir_value *out = g->product->outputs[0];
    if (gemm_is_matmul(g)) write_line(w, "row += batch * %s;", with_parentheses(g->e->a, extent_c(g->e, &out->shape[out->rank - 2])));
}

static const char *row_of_a(gemm *g) { return row_of(g->e, g->a, g->product->outputs[0], "row"); }

static void write_a_row(gemm *g, const char *row)
{
    writer *w = g->w;
    write_line(w, "DEV static const a_type *a_row(const args &p, int batch, int row)");
    write_line(w, "{");
    gemm_flatten_row(g, w);
    write_spec_line(w, g->product->at, "return %s;", address(g->e, g->a, row, "0", false));
    write_line(w, "}");
}

void gemm_write_rows_of_a(gemm *g) { write_a_row(g, row_of_a(g)); }

void gemm_write_a(gemm *g)
{
    emission *e = g->e;
    writer *w = g->w;
    scope s = scope_new(e, w, "V");
    const bool whole = g->K % gemm_vector == 0;
    s.whole = whole ? gemm_vector : 0;
    write_line(w, "template <int V> DEV static vec<float, V> a(const args &p, int batch, int row, int k, int left)");
    write_line(w, "{");
    gemm_flatten_row(g, w);
    const place at = {.row = row_of_a(g), .base = "k", .left = whole ? NULL : "left"};
    if (value_is_narrow(e, g->a))
        write_spec_line(w, g->product->at, "return mask<V>(splat<V>(%s), left);", evaluate_narrow(&s, g->a, at.row));
    else {
        const char *value = evaluate(&s, g->a, &at);
        if (prologue(g) && !whole)
            write_spec_line(w, g->product->at, "return mask<V>(%s, left);", value);
        else
            write_spec_line(w, g->product->at, "return %s;", value);
    }
    write_line(w, "}");
}

int gemm_pack(const gemm *g)
{
    if (g->e->pack >= 0) return g->e->pack;
    bail(g->e->a, code_unsupported, g->product->at, "internal: a product without a packed weight");
}

static void write_packed(gemm *g)
{
    write_line(g->w, "DEV static const b_type *packed(const args &p) { return %s; }", use_packed(g->e, gemm_pack(g), false));
}

void gemm_write_rows_of_operands(gemm *g)
{
    gemm_write_rows_of_a(g);
    write_packed(g);
}

/* Index of the matrix of `operand` that goes with matrix `batch` of the result. */
static const char *batch_of(gemm *g, const ir_value *operand)
{
    ir_value own = *operand, out = *g->product->outputs[0];
    own.rank--, out.rank--;
    return row_of(g->e, &own, &out, "batch");
}

static void write_dense_b(gemm *g)
{
    emission *e = g->e;
    writer *w = g->w;
    const long long N = e->space.columns;
    const char *batch = with_parentheses(e->a, batch_of(g, g->b));
    write_line(w, "template <int V> DEV static vec<float, V> b(const args &p, int batch, int n, int k, int left)");
    write_line(w, "{");
    if (g->product->attributes.transpose) {
        const char *row = arena_printf(e->a, "(%s * %lld + n)", batch, N);
        write_spec_line(w, g->product->at, "return load<V>(%s, n < %lld ? left : 0);", address(e, g->b, row, "k", false), N);
    } else {
        const char *row = arena_printf(e->a, "(%s * %lld + k + i)", batch, g->K);
        write_line(w, "vec<float, V> column = splat<V>(0.0f);");
        write_line(w, "for (int i = 0; i < V; i++)");
        write_spec_line(w, g->product->at, "    if (i < left && n < %lld) column[i] = load_one(%s);", N, address(e, g->b, row, "n", false));
        write_line(w, "return column;");
    }
    write_line(w, "}");
}

void gemm_write_b(gemm *g)
{
    if (gemm_is_matmul(g))
        write_dense_b(g);
    else
        write_packed(g);
}

void gemm_write_a_type(gemm *g) { write_line(g->w, "using a_type = %s;", dtype_c_name(g->a->type)); }

void gemm_write_b_type(gemm *g)
{
    const dtype type = gemm_is_matmul(g) ? g->b->type : g->e->plan->packs[gemm_pack(g)].format->type;
    write_line(g->w, "using b_type = %s;", gemm_is_matmul(g) && type == dtype_i32 ? "float" : dtype_c_name(type));
}

void gemm_write_operand_types(gemm *g)
{
    const dtype b = gemm_is_matmul(g) ? g->b->type : g->e->plan->packs[gemm_pack(g)].format->type;
    gemm_write_a_type(g);
    write_line(g->w, "using b_type = %s;", b == g->a->type ? "a_type" : dtype_c_name(b));
}

void gemm_write_plain(gemm *g)
{
    write_line(g->w, "static constexpr bool row_sums = %s, a_plain = %s, b_plain = %s;", g->row_sum ? "true" : "false",
               a_plain(g) ? "true" : "false", gemm_is_matmul(g) ? "false" : "true");
}

void gemm_write_batches(gemm *g)
{
    const ir_value *out = g->product->outputs[0];
    extent batches = extent_number(1);
    for (int i = 0; gemm_is_matmul(g) && i + 2 < out->rank; i++) batches = extent_multiply(g->e->a, out->at, batches, out->shape[i]);
    write_line(g->w, "DEV static int batches(const args &p) { return %s; }", extent_c(g->e, &batches));
}
