/* What programs of products share. Contract: gen/program/products.h. */
#include "gen/program/products.h"
#include <math.h>

/* Rows that are not 16-byte aligned are padded or copied (gen/plan/align.c), but not rows in a state: a kernel might append to the state
 * after the copy was made and before it is read. */
static const char *align_obstacle(arena *a, const ir_value *v)
{
    const bool state = value_root(v)->kind == value_state;
    return state && value_alignment(a, v) != 16 ? "an operand is in a state whose rows are not a multiple of 16 bytes" : NULL;
}

/* Why rows of A and the packed weight cannot be copied as stored, for any program; NULL if they can. */
static const char *obstacle_to_rows(const problem *p)
{
    const ir_op *product = p->product;
    if (product->kind != op_linear) return "B is an activation, not a packed weight";
    if (phase_makes(p->phase, product->inputs[0])) return "A is computed in the prologue";
    return align_obstacle(p->a, product->inputs[0]);
}

const char *obstacle_to_16_bits(const problem *p, layer_kind layer, weight_numbers weights)
{
    const ir_op *product = p->product;
    const char *obstacle = obstacle_to_rows(p);
    if (obstacle) return obstacle;
    const weight_format *f = weights_format(weights, product);
    const bool rows_fit = dtype_multiplies(rows_dtype(product), layer);
    if (!rows_fit && has_two_dtypes(product)) return "A is neither bf16 nor f16";
    if (!rows_fit || !f) return "operands are not both bf16 or both f16";
    return f->passes > 1 ? "an element of the weight needs several numbers of A's dtype" : NULL;
}

bool matmul_is_across(const ir_op *product) { return product->kind == op_matmul && !product->attributes.transpose; }

long long row_pitch(const ir_value *v)
{
    enum { load = 16, line = 128, long_row = 8 * line };
    const long long bytes = value_stride(value_root(v)) * dtype_size(v->type);
    const long long step = bytes % load == 0 ? 1 : bytes < long_row ? load : line;
    return (bytes + step - 1) / step * step;
}

bool lies_at_lines(const ir_value *v)
{
    enum { line = 128 };
    return row_pitch(v) % line == 0;
}

bool lies_at_sectors(const ir_value *v)
{
    enum { sector = 32 };
    return row_pitch(v) % sector == 0;
}

bool a_begins_at_lines(const problem *p, weight_numbers weights)
{
    enum { line = 128 };
    const ir_op *product = p->product;
    const bool terms = rows_terms(weights, product) > 1; /* rows stored in terms are padded to whole lines */
    return terms || value_columns(product->inputs[0]) * (long long)operand_bytes(p, weights, operand_a) % line == 0;
}

static bool is_terms(const ir_value *v) { return v->def && v->def->kind == op_tf32_terms; }

bool reads_terms(const ir_op *product)
{
    return product->kind == op_matmul && (is_terms(product->inputs[0]) || is_terms(product->inputs[1]));
}

static double elements(const problem *p, const ir_value *v)
{
    const extent rows = value_rows(p->a, v);
    return (double)extent_value(&rows, &p->ir->dims) * (double)value_columns(v);
}

operand operand_in_terms(const problem *p)
{
    const ir_op *product = p->product;
    if (product->kind != op_matmul) return operand_b;
    if (reads_terms(product)) return is_terms(product->inputs[0]) ? operand_a : operand_b;
    const ir_value *x = product->inputs[0];
    long long rows; /* tf32_terms needs their number at compile time */
    const bool fixed = extent_is_number(&x->shape[x->rank - (product->attributes.transpose_a ? 1 : 2)], &rows);
    const bool sums = problem_sums_rows(p); /* the epilogue stores partial sums of rows */
    return fixed && !sums && elements(p, product->inputs[0]) < elements(p, product->inputs[1]) ? operand_a : operand_b;
}

const char *obstacle_to_boxes(const problem *p)
{
    const ir_op *product = p->product;
    if (product->kind != op_matmul) return obstacle_to_rows(p);
    for (int i = 0; i < 2; i++) {
        if (phase_makes(p->phase, product->inputs[i])) return "an operand is computed in the prologue";
        const char *obstacle = align_obstacle(p->a, product->inputs[i]);
        if (obstacle) return obstacle;
    }
    return NULL;
}

const char *terms_obstacle(const problem *p, weight_numbers weights)
{
    const ir_op *product = p->product;
    const bool state = rows_terms(weights, product) > 1 && value_root(product->inputs[0])->kind == value_state;
    return state ? "A is in a state, so it cannot be copied as bf16 terms" : NULL;
}

const char *obstacle_to_16_bit_boxes(const problem *p, layer_kind layer, weight_numbers weights)
{
    const ir_op *product = p->product;
    const char *obstacle = obstacle_to_boxes(p);
    if (obstacle) return obstacle;
    const bool held = product->kind == op_matmul || weights_format(weights, product);
    if (!dtype_multiplies(multiplied_dtype(weights, product), layer) || !held) return "operands are not both bf16 or both f16";
    return terms_obstacle(p, weights);
}

int column_tiles(const problem *p, int n) { return (int)((p->packed_n + n - 1) / n); }

void products_geometry(const problem *p, int m, int n, tile_extents *to)
{
    const ir_op *product = p->product;
    const ir_value *out = product->outputs[0];
    to->tile_rows = m;
    to->column_tiles = column_tiles(p, n);
    if (product->kind != op_matmul) return;
    to->rows = out->shape[out->rank - 2];
    for (int i = 0; i + 2 < out->rank; i++) to->multiple = extent_multiply(p->a, out->at, to->multiple, out->shape[i]);
}

bool joins_columns(const problem *p)
{
    for (int i = 0; i < p->segments->count; i++)
        if (p->segments->items[i].kind != segment_plain) return true;
    return false;
}

/* ---- cost */
long long product_length(const problem *p) { return product_depth(p->product); }

double operand_bytes(const problem *p, weight_numbers weights, operand which)
{
    const ir_op *product = p->product;
    const weight_format *format = which == operand_b ? weights_format(weights, product) : NULL;
    if (which == operand_a) return rows_terms(weights, product) * dtype_size(multiplied_dtype(weights, product));
    return format ? format_element_bytes(format, product_length(p)) : dtype_size(product->inputs[which]->type);
}

int piece_length(const problem *p, weight_numbers weights)
{
    const weight_format *f = weights_format(weights, p->product);
    return f ? format_piece_length(f) : piece_row_bytes / dtype_size(p->product->inputs[1]->type);
}

const char *piece_columns_obstacle(const problem *p, int n)
{
    if (n % piece_columns) return "n must be a multiple of 16";
    return n % 32 && joins_columns(p) ? "n must be a multiple of 32 where the epilogue joins columns" : NULL;
}

long long even_tile_rows(long long rows, long long tiles, long long step) { return ((rows + tiles - 1) / tiles + step - 1) / step * step; }

long long pieces_along(const problem *p, weight_numbers weights)
{
    const int each = piece_length(p, weights);
    const weight_format *f = weights_format(weights, p->product);
    return (product_length(p) + each - 1) / each * (f && f->passes > 1 ? f->terms : 1);
}

/* True if the phase stores an f32 result of more than one column. */
static bool stores_f32(const problem *p)
{
    for (int i = 0; i < p->phase->op_count; i++)
        for (int k = 0; k < p->phase->ops[i]->output_count; k++) {
            const ir_value *v = p->phase->ops[i]->outputs[k];
            if (v->type == dtype_f32 && value_columns(v) > 1 && value_stored(p->ir, p->phase, v)) return true;
        }
    return false;
}

/* Errors grow with K, but the bound of f32 results only with the square root of K. Largest error over bound with bf16 operands (H200): 0.83
 * for K = 4096 (0.93 with more rows), 1.26 for 8192, 1.54 for 14336; 0.46 and 0.21 for K = 4096 in slices of 2048 and 1024. Weights in
 * several terms give the same, but since they exist for accuracy, their slices are shorter. */
long long longest_sum(const problem *p)
{
    const long long longest = 32768;
    const double roots = product_passes(p, weights_in_terms) > 1 ? 48 : 64;
    const long long exact = (long long)(roots * sqrt((double)product_length(p)));
    return stores_f32(p) && exact < longest ? exact : longest;
}

bool loses_digits(const problem *p, int slices) { return stores_f32(p) && product_length(p) > longest_sum(p) * slices; }

int product_passes(const problem *p, weight_numbers weights)
{
    return weights_pairs(weights, p->product).passes;
}

/* Bytes of B as packed, padding along K included. */
static double packed_bytes(const problem *p, weight_numbers weights)
{
    const weight_format *f = weights_format(weights, p->product);
    const double numbers = (double)p->packed_n * (double)(pieces_along(p, weights) * piece_row_bytes);
    return f ? numbers + (double)format_scale_bytes(f, p->packed_n, product_length(p)) : numbers;
}

static double up(double x, double step) { return ceil(x / step) * step; }

long long product_matrices(const problem *p)
{
    const ir_op *product = p->product;
    const ir_value *out = product->outputs[0];
    long long count = 1;
    for (int i = 0; product->kind == op_matmul && i + 2 < out->rank; i++) count *= extent_value(&out->shape[i], &p->ir->dims);
    return count;
}

/* Bytes of tensors that are not operands of the products. */
static double other_bytes(const problem *p)
{
    const work *w = p->work;
    double bytes = w->read + w->written;
    for (int i = 0; i < w->tensor_count; i++)
        for (int k = 0; k < p->phase->op_count; k++) {
            const ir_op *op = p->phase->ops[k];
            if (op_table[op->kind].class != class_PRODUCT) continue;
            const ir_value *v = w->tensors[i].value;
            if (v == op->inputs[0] || v == op->inputs[1] || v == op->attributes.continued) {
                bytes -= w->tensors[i].read;
                break;
            }
        }
    return bytes;
}

/* Tiles that run at the same time form a set. These are the row tiles and the column tiles that a set reads, summed over all sets. Tiles
 * are ordered by groups of row tiles: within a group, down each column. */
typedef struct touched {
    double rows, columns; /* in tiles */
} touched;

/* rows, columns: row tiles and column tiles in all; group: row tiles per group; at_once: tiles that run at the same time. */
static touched touched_by(double rows, double columns, double group, double at_once)
{
    enum { most = 128 }; /* sets that are counted; the rest is extrapolated, with errors of at most 6 % */
    const double all = rows * columns, each = group * columns, sets = fmax(1, ceil(all / at_once));
    const int walked = sets < most ? (int)sets : most;
    touched sum = {0, 0};
    for (int set = 0; set < walked; set++) {
        const double from = set * at_once, last = fmin(from + at_once, all) - 1;
        const double first_group = floor(from / each), last_group = floor(last / each);
        const double first_rows = fmin(group, rows - first_group * group), last_rows = fmin(group, rows - last_group * group);
        const double column = floor((from - first_group * each) / first_rows), to = floor((last - last_group * each) / last_rows);
        const bool one = first_group == last_group;
        const double in_first = (first_group + 1) * each - from, in_last = last - last_group * each + 1; /* tiles of a set */
        sum.rows += one ? fmin(first_rows, last - from + 1)
                        : fmin(first_rows, in_first) + (last_group - first_group - 1) * group + fmin(last_rows, in_last);
        sum.columns += one ? to - column + 1 : last_group - first_group > 1 ? columns : fmin(columns, columns - column + to + 1);
    }
    return (touched){sum.rows * sets / walked, sum.columns * sets / walked};
}

/* Bytes of the operands that move from DRAM to the last-level cache; left, right: bytes of A and B if each is read once. */
static double moved_bytes(const problem *p, const product_cut *cut, double left, double right)
{
    const double rows = ceil((double)problem_rows(p) / cut->m), columns = column_tiles(p, cut->n), room = device_last_level(p->device) / 2;
    const double group = fmax(1, fmin(cut->group_m, rows)), at_once = fmax(1, floor(p->device->units / cut->split_k / cut->members));
    const double between = left / rows * group + right / columns * fmin(ceil(at_once / group), columns);
    const bool fits = left + right <= room, kept = fits || between <= room;
    const touched all = kept ? (touched){rows, columns * ceil(rows / group)} : touched_by(rows, columns, group, at_once);
    return left * (all.rows / rows) + right * (fits || right <= room ? 1 : all.columns / columns);
}

void product_cost(const problem *p, const product_cut *cut, cost_descriptor *d)
{
    const ir_op *product = p->product;
    const double rows = (double)problem_rows(p), length = (double)product_length(p), count = (double)product_matrices(p);
    const weight_format *f = weights_format(cut->weights, product);
    const double passes = product_passes(p, cut->weights), b_terms = f && f->passes > 1 ? f->terms : 1;
    const double row_tiles = ceil(rows / cut->m), columns = column_tiles(p, cut->n), others = other_bytes(p) / count;
    const double left = rows * length * operand_bytes(p, cut->weights, operand_a);
    const double right = packed_bytes(p, cut->weights);
    const double workgroups = row_tiles * columns * cut->split_k;                                /* per matrix */
    const double at_once = 2 * row_tiles * cut->m * fmax((double)p->packed_n, columns * cut->n); /* operations per element of K */
    d->groups = workgroups * count, d->type = multiplied_dtype(cut->weights, product);
    d->memory = (moved_bytes(p, cut, left, right) + others) / workgroups;
    d->asked = (passes * left / rows_terms(cut->weights, product) * columns + passes * right / b_terms * row_tiles + others) / workgroups;
    d->products = passes * at_once * up(length, cut->k) / workgroups, d->others = p->work->others / d->groups;
}

/* Fewer rows per thread. */
bool register_tile_smaller(const problem *p, ir_tile *t)
{
    (void)p;
    gemm_registers_tile *x = &t->gemm_registers;
    if (x->thread_m % 2 || x->m % 2) return false;
    x->m /= 2, x->thread_m /= 2;
    return true;
}

void register_tile_geometry(const problem *p, const ir_tile *t, tile_extents *to)
{
    products_geometry(p, t->gemm_registers.m, t->gemm_registers.n, to);
    to->column_tiles *= t->gemm_registers.split_k;
}
int register_tile_partials(const problem *p, const ir_tile *t) { return column_tiles(p, t->gemm_registers.n); }

/* A tile has split_k - 1 slices of m * n floats. They are counted per row, as the number of rows may be known at launch only. */
extent register_tile_scratch(const problem *p, const ir_tile *t)
{
    const gemm_registers_tile *x = &t->gemm_registers;
    const position at = p->phase->ops[0]->at;
    tile_extents whole = extents_start(p);
    if (x->split_k <= 1) return extent_number(0);
    products_geometry(p, x->m, x->n, &whole);
    const long long of_a_row = ((long long)x->m * x->n + slice_head + x->m - 1) / x->m;
    const extent rows = extent_multiply(p->a, at, extent_add(p->a, at, whole.rows, extent_number(x->m - 1)), whole.multiple);
    return extent_multiply(p->a, at, rows, extent_number(whole.column_tiles * (x->split_k - 1) * of_a_row));
}

/* With up to 8 slices, the workgroup of the last one waits until the others have stored their sums, and reads these one after the other.
 * More slices take two such steps (templates/gemm/part_tree.h). */
double split_k_cycles(int slices, double each)
{
    enum { meeting = 4500 /* cycles */, flat = 8 /* slices */ };
    if (slices <= 1) return 0;
    if (slices <= flat) return meeting + (slices - 1) * each;
    const double group = ceil(sqrt(slices));
    return 1.5 * meeting + (group - 1 + ceil(slices / group) - 1) * each;
}

double register_tile_meets(const gemm_registers_tile *x)
{
    enum { slice = 500 /* cycles */, floats_a_cycle = 16 };
    return split_k_cycles(x->split_k, slice + (double)x->m * x->n / floats_a_cycle);
}

int register_tile_split(const problem *p, const gemm_registers_tile *x, int groups, int most, long long steps)
{
    tile_extents whole = extents_start(p);
    products_geometry(p, x->m, x->n, &whole);
    const long long tiles = extents_tiles(&whole, &p->ir->dims), split = tiles > 0 ? groups / tiles : 1;
    const long long least = split < most ? split : most;
    if (p->ir->no_slices) return 1;
    return (int)(least < steps ? least : steps > 1 ? steps : 1);
}
