/* In: a request of a product. Out: what gen/program/products.h says. Refuses nothing itself. */
#include "gen/program/products.h"

/* Rows that are no multiples of 16 bytes can be copied (gen/plan/align.c), or made so. Between a copy and its reader a kernel might append
 * to a state. */
static const char *align_obstacle(arena *a, const ir_value *v)
{
    const bool state = value_root(v)->kind == value_state;
    return state && value_alignment(a, v) != 16 ? "the first operand's rows are no multiple of 16 bytes, and lie in a state" : NULL;
}

const char *obstacle_to_rows(const tile_request *r)
{
    const ir_op *product = request_product(r);
    if (product->kind != op_linear) return "the second operand is no packed weight";
    if (phase_makes(r->phase, product->inputs[0])) return "the first operand is computed in the phase";
    return align_obstacle(r->a, product->inputs[0]);
}

const char *obstacle_to_16_bits(const tile_request *r, layer_kind layer)
{
    const ir_op *product = request_product(r);
    const char *obstacle = obstacle_to_rows(r);
    if (obstacle) return obstacle;
    const dtype a = product->inputs[0]->type, b = product->inputs[1]->type;
    return dtype_multiplies(a, layer) && a == b ? NULL : "operands are not both bf16 or both f16";
}

int column_tiles(const tile_request *r, int n) { return (int)((r->packed_n + n - 1) / n); }

void products_geometry(const tile_request *r, int m, int n, launch *l)
{
    const ir_op *product = request_product(r);
    const ir_value *out = product->outputs[0];
    l->tile_rows = m;
    l->column_tiles = column_tiles(r, n);
    if (product->kind != op_matmul) return;
    l->rows = out->shape[out->rank - 2];
    for (int i = 0; i + 2 < out->rank; i++) l->multiple = extent_multiply(r->a, out->at, l->multiple, out->shape[i]);
}

/* Fewer rows a thread. */
bool register_tile_smaller(const tile_request *r, ir_tile *t)
{
    (void)r;
    gemm_simt_tile *x = &t->gemm_simt;
    if (x->thread_m % 2 || x->m % 2) return false;
    x->m /= 2, x->thread_m /= 2;
    return true;
}

void register_tile_geometry(const tile_request *r, const ir_tile *t, launch *l) { products_geometry(r, t->gemm_simt.m, t->gemm_simt.n, l); }
int register_tile_parts(const tile_request *r, const ir_tile *t) { return column_tiles(r, t->gemm_simt.n); }
