/* In: a request of a product. Out: what gen/program/products.h says. Refuses nothing itself. */
#include "gen/program/products.h"
#include <math.h>

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

bool joins_columns(const tile_request *r)
{
    for (int i = 0; i < r->segments->count; i++)
        if (r->segments->items[i].kind != segment_plain) return true;
    return false;
}

/* ---- what it asks of a device */
long long product_length(const tile_request *r) { return value_columns(request_product(r)->inputs[0]); }
int product_element_bytes(const tile_request *r) { return dtype_size(request_product(r)->inputs[0]->type); }

static double up(double x, double step) { return ceil(x / step) * step; }

/* Of a matmul, whose matrices lie side by side. */
static double matrices(const tile_request *r)
{
    const ir_op *product = request_product(r);
    const ir_value *out = product->outputs[0];
    double count = 1;
    for (int i = 0; product->kind == op_matmul && i + 2 < out->rank; i++) count *= (double)extent_value(&out->shape[i], &r->program->dims);
    return count;
}

/* Of a column, in pieces. */
static double packed_bytes(const tile_request *r)
{
    const ir_op *product = request_product(r);
    return (double)pieces_along(product) * piece_row_bytes;
}

/* Bytes of tensors that are no operand of a product. */
static double other_bytes(const tile_request *r)
{
    const work *w = request_work(r);
    double bytes = w->read + w->written;
    for (int i = 0; i < w->tensor_count; i++)
        for (int k = 0; k < r->phase->op_count; k++) {
            const ir_op *op = r->phase->ops[k];
            if (op_table[op->kind].class != class_PRODUCT) continue;
            if (op->inputs[0] == w->tensors[i].value || op->inputs[1] == w->tensors[i].value) {
                bytes -= w->tensors[i].read;
                break;
            }
        }
    return bytes;
}

/* What tiles that run at once touch, added up over all of them. Tiles go down each column of a group of row tiles, group after group. */
typedef struct touched {
    double rows, columns; /* row tiles, column tiles */
} touched;

static touched touched_by(double rows, double columns, double group, double at_once)
{
    enum { most = 128 }; /* the rest is like these: rows and columns are right to 6 % */
    const double all = rows * columns, each = group * columns, sets = fmax(1, ceil(all / at_once));
    const int walked = sets < most ? (int)sets : most;
    touched sum = {0, 0};
    for (int set = 0; set < walked; set++) {
        const double from = set * at_once, last = fmin(from + at_once, all) - 1;
        const double first_group = floor(from / each), last_group = floor(last / each);
        const double first_rows = fmin(group, rows - first_group * group), last_rows = fmin(group, rows - last_group * group);
        const double column = floor((from - first_group * each) / first_rows), to = floor((last - last_group * each) / last_rows);
        const bool one = first_group == last_group;
        const double in_first = (first_group + 1) * each - from, in_last = last - last_group * each + 1; /* tiles */
        sum.rows += one ? fmin(first_rows, last - from + 1)
                        : fmin(first_rows, in_first) + (last_group - first_group - 1) * group + fmin(last_rows, in_last);
        sum.columns += one ? to - column + 1 : last_group - first_group > 1 ? columns : fmin(columns, columns - column + to + 1);
    }
    return (touched){sum.rows * sets / walked, sum.columns * sets / walked};
}

/* Bytes of its operands between memory and the last level of cache. */
static double moved_bytes(const tile_request *r, const product_cut *cut, double left, double right)
{
    const double rows = ceil((double)request_rows(r) / cut->m), columns = column_tiles(r, cut->n), room = device_last_level(r->device) / 2;
    const double group = fmax(1, fmin(cut->group, rows)), at_once = fmax(1, floor(r->device->units / cut->parts / cut->members));
    const double between = left / rows * group + right / columns * fmin(ceil(at_once / group), columns);
    const bool fits = left + right <= room, kept = fits || between <= room;
    const touched all = kept ? (touched){rows, columns * ceil(rows / group)} : touched_by(rows, columns, group, at_once);
    return left * (all.rows / rows) + right * (fits || right <= room ? 1 : all.columns / columns);
}

void product_demand(const tile_request *r, const product_cut *cut, demand *d)
{
    const ir_op *product = request_product(r);
    const double rows = (double)request_rows(r), length = (double)product_length(r), count = matrices(r);
    const double row_tiles = ceil(rows / cut->m), columns = column_tiles(r, cut->n), others = other_bytes(r) / count;
    const double left = rows * length * product_element_bytes(r), right = (double)r->packed_n * packed_bytes(r);
    const double workgroups = row_tiles * columns * cut->parts;                                  /* of a matrix */
    const double at_once = 2 * row_tiles * cut->m * fmax((double)r->packed_n, columns * cut->n); /* operations for an element of K */
    d->groups = workgroups * count, d->type = product->inputs[0]->type;
    d->memory = (moved_bytes(r, cut, left, right) + others) / workgroups;
    d->asked = (left * columns + right * row_tiles + others) / workgroups;
    d->products = at_once * up(length, cut->k) / workgroups, d->others = request_work(r)->others / d->groups;
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
