/* In: a graph and its data. Out: its values as a plain float32 device computes them, each stored in its dtype, with one
 * injected fault on request. For tests of the error bounds: written independently of the reference, in float, with the
 * summation orders of GPUs. */
#ifndef TFGEN_TESTS_FLOAT_DEVICE_H
#define TFGEN_TESTS_FLOAT_DEVICE_H
#include "tests/reference/ref_harness.h"

typedef enum fault {
    fault_none,
    fault_missing_term,  /* the last product of every sum */
    fault_dropped_tail,  /* elements past the last multiple of 16 */
    fault_shifted_mask,  /* each query attends to one key too many */
    fault_missing_key,   /* the last visible key is skipped */
    fault_unscaled_head, /* head 0 is not scaled */
    fault_wrong_divisor, /* mean over D-1 */
    fault_no_eps,
    fault_swapped_pair, /* rope rotates the wrong way */
    fault_late_position /* rope one token late */
} fault;

typedef enum summing { summing_in_order, summing_strided, summing_backward } summing;

typedef struct float_device {
    const bench *b;
    float *value[most_bench_values];
    fault wrong;
    const char *wrong_at; /* the faulty op's output; NULL: all ops */
    summing order;
    bool stored_only_outputs; /* else every result is rounded to its dtype */
} float_device;

static bool fails(const float_device *d, const ir_op *op, fault f)
{
    return d->wrong == f && (!d->wrong_at || strcmp(d->wrong_at, op->outputs[0]->name) == 0);
}

static size_t axis_of(const float_device *d, const ir_value *v, int from_back)
{
    return v->rank < from_back ? 1 : (size_t)extent_value(&v->shape[v->rank - from_back], &d->b->graph->dims);
}

static size_t count_of(const float_device *d, const ir_value *v) { return (size_t)value_count(v, &d->b->graph->dims); }

/* sum x_i w_{i step}, in d->order. */
static float float_dot(const float_device *d, const float *x, const float *w, size_t step, size_t n)
{
    float lane[8] = {0}, sum = 0;
    if (d->order == summing_strided) {
        for (size_t i = 0; i < n; i++) lane[i % 8] += x[i] * w[i * step];
        for (int width = 4; width > 0; width /= 2)
            for (int i = 0; i < width; i++) lane[i] += lane[i + width];
        return lane[0];
    }
    for (size_t i = 0; i < n; i++) {
        const size_t k = d->order == summing_backward ? n - 1 - i : i;
        sum = fmaf(x[k], w[k * step], sum);
    }
    return sum;
}

static size_t faulty_length(const float_device *d, const ir_op *op, size_t n)
{
    if (fails(d, op, fault_missing_term)) return n - 1;
    return fails(d, op, fault_dropped_tail) ? n / 16 * 16 : n;
}

static void float_linear(float_device *d, const ir_op *op, float *y)
{
    const size_t K = axis_of(d, op->inputs[0], 1), N = axis_of(d, op->outputs[0], 1),
                 rows = count_of(d, op->inputs[0]) / K;
    const float *x = d->value[op->inputs[0]->id], *w = d->value[op->inputs[1]->id],
                *b = op->input_count > 2 ? d->value[op->inputs[2]->id] : NULL;
    const bool out_in = op->attributes.layout == layout_out_in;
    const size_t n = faulty_length(d, op, K);
    for (size_t i = 0; i < rows * N; i++)
        y[i] = float_dot(d, x + i / N * K, out_in ? w + i % N * K : w + i % N, out_in ? 1 : N, n) + (b ? b[i % N] : 0);
}

static void float_norm(float_device *d, const ir_op *op, float *y)
{
    const size_t D = axis_of(d, op->inputs[0], 1), rows = count_of(d, op->inputs[0]) / D, n = faulty_length(d, op, D);
    const float *w = d->value[op->inputs[1]->id], *b = op->input_count > 2 ? d->value[op->inputs[2]->id] : NULL;
    const float eps = fails(d, op, fault_no_eps) ? 0 : (float)op->attributes.eps;
    const float divisor = (float)(fails(d, op, fault_wrong_divisor) ? D - 1 : D);
    float *c = calloc(D, sizeof *c), *one = calloc(D, sizeof *one);
    for (size_t i = 0; i < D; i++) one[i] = 1;
    for (size_t row = 0; row < rows; row++) {
        const float *x = d->value[op->inputs[0]->id] + row * D;
        const float mean = op->kind == op_layernorm ? float_dot(d, x, one, 1, n) / divisor : 0;
        for (size_t i = 0; i < D; i++) c[i] = x[i] - mean;
        const float r = 1 / sqrtf(float_dot(d, c, c, 1, n) / divisor + eps);
        for (size_t i = 0; i < D; i++)
            y[row * D + i] = c[i] * r * (w[i] + (op->attributes.unit_offset ? 1 : 0)) + (b ? b[i] : 0);
    }
    free(c);
    free(one);
}

static void float_l2norm(float_device *d, const ir_op *op, float *y)
{
    const size_t D = axis_of(d, op->inputs[0], 1);
    for (size_t row = 0; row < count_of(d, op->inputs[0]) / D; row++) {
        const float *x = d->value[op->inputs[0]->id] + row * D, size = sqrtf(float_dot(d, x, x, 1, D));
        for (size_t i = 0; i < D; i++) y[row * D + i] = x[i] / fmaxf(size, (float)op->attributes.eps);
    }
}

static void float_row_sum(float_device *d, const ir_op *op, float *y)
{
    const size_t N = axis_of(d, op->inputs[0], 1);
    const float one = 1;
    for (size_t row = 0; row < count_of(d, op->outputs[0]); row++)
        y[row] = float_dot(d, d->value[op->inputs[0]->id] + row * N, &one, 0, N);
}

static void float_softmax(float_device *d, const ir_op *op, float *y)
{
    const size_t N = axis_of(d, op->inputs[0], 1), rows = count_of(d, op->inputs[0]) / N, n = faulty_length(d, op, N);
    for (size_t row = 0; row < rows; row++) {
        const float *x = d->value[op->inputs[0]->id] + row * N;
        float largest = -INFINITY, sum = 0;
        for (size_t i = 0; i < n; i++) largest = fmaxf(largest, x[i]);
        for (size_t i = 0; i < n; i++) sum += y[row * N + i] = expf(x[i] - largest);
        for (size_t i = 0; i < N; i++) y[row * N + i] = i < n ? y[row * N + i] / sum : 0;
    }
}

static void float_rope(float_device *d, const ir_op *op, float *y)
{
    const ir_attributes *t = &op->attributes;
    const size_t C = axis_of(d, op->inputs[0], 1), S = axis_of(d, op->inputs[0], 2),
                 rows = count_of(d, op->inputs[0]) / C;
    const size_t hd = C / (size_t)t->heads, half = (size_t)t->rotary / 2;
    const float *x = d->value[op->inputs[0]->id], turn = fails(d, op, fault_swapped_pair) ? -1 : 1;
    memcpy(y, x, rows * C * sizeof *y);
    for (size_t i = 0; i < rows * (size_t)t->heads * half; i++) {
        const size_t row = i / ((size_t)t->heads * half), start = row * C + i / half % (size_t)t->heads * hd,
                     pair = i % half;
        const size_t one = start + pair, two = start + pair + half;
        const double position = (double)(row % S) + (fails(d, op, fault_late_position) ? 1 : 0);
        const double angle = position * pow(t->theta, -2.0 * (double)pair / (double)t->rotary);
        const float c = (float)cos(angle), s = turn * (float)sin(angle);
        y[one] = x[one] * c - x[two] * s;
        y[two] = x[two] * c + x[one] * s;
    }
}

/* Online softmax, one key at a time, as in FlashAttention. */
static void float_attention(float_device *d, const ir_op *op, float *y)
{
    const ir_attributes *t = &op->attributes;
    const size_t C = axis_of(d, op->inputs[0], 1), S = axis_of(d, op->inputs[0], 2), T = axis_of(d, op->inputs[1], 2);
    const size_t H = (size_t)t->heads, KV = (size_t)t->kv_heads, hd = C / H, B = axis_of(d, op->inputs[0], 3);
    float *o = calloc(hd, sizeof *o);
    for (size_t i = 0; i < B * S * H; i++) {
        const size_t b = i / (S * H), s = i / H % S, head = i % H;
        const float *q = d->value[op->inputs[0]->id] + i * hd,
                    scale = fails(d, op, fault_unscaled_head) && head == 0 ? 1 : (float)t->scale;
        size_t visible = t->causal ? s + 1 : T;
        if (fails(d, op, fault_shifted_mask) && visible < T) visible++;
        if (fails(d, op, fault_missing_key) && visible > 1) visible--;
        float largest = -INFINITY, sum = 0;
        memset(o, 0, hd * sizeof *o);
        for (size_t k = 0; k < visible; k++) {
            const size_t at = ((b * T + k) * KV + head / (H / KV)) * hd;
            const float *v = d->value[op->inputs[2]->id] + at,
                        z = scale * float_dot(d, q, d->value[op->inputs[1]->id] + at, 1, hd);
            const float now = fmaxf(largest, z), shrink = expf(largest - now), p = expf(z - now);
            for (size_t e = 0; e < hd; e++) o[e] = o[e] * shrink + p * v[e];
            sum = sum * shrink + p;
            largest = now;
        }
        for (size_t e = 0; e < hd; e++) y[i * hd + e] = o[e] / sum;
    }
    free(o);
}

static float float_function(op_kind kind, float x, float y)
{
    switch (kind) {
    case op_add: return x + y;
    case op_sub: return x - y;
    case op_mul: return x * y;
    case op_div: return x / y;
    case op_exp: return expf(x);
    case op_log: return logf(x);
    case op_sqrt: return sqrtf(x);
    case op_rsqrt: return 1 / sqrtf(x);
    case op_sin: return sinf(x);
    case op_cos: return cosf(x);
    case op_tanh: return tanhf(x);
    case op_sigmoid: return 1 / (1 + expf(-x));
    case op_silu: return x / (1 + expf(-x));
    case op_gelu_erf: return 0.5f * x * (1 + erff(x * 0.70710678f));
    case op_gelu_tanh: return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    default: ck_abort_msg("%s is beyond the float device", op_table[kind].name);
    }
}

static void float_element(float_device *d, const ir_op *op, float *y)
{
    const float *x = d->value[op->inputs[0]->id], *z = op->input_count > 1 ? d->value[op->inputs[1]->id] : x;
    const size_t n = count_of(d, op->outputs[0]), other = op->input_count > 1 ? count_of(d, op->inputs[1]) : n;
    const size_t columns = other > 1 && axis_of(d, op->inputs[op->input_count - 1], 1) == 1 ? n / other : 1; /* one scalar per row */
    for (size_t i = 0; i < n; i++) y[i] = float_function(op->kind, x[i], z[i / columns % other]);
}

static void float_op(float_device *d, const ir_op *op)
{
    float *y = d->value[op->outputs[0]->id];
    switch (op->kind) {
    case op_linear: float_linear(d, op, y); break;
    case op_rmsnorm:
    case op_layernorm: float_norm(d, op, y); break;
    case op_l2norm: float_l2norm(d, op, y); break;
    case op_softmax: float_softmax(d, op, y); break;
    case op_row_sum: float_row_sum(d, op, y); break;
    case op_rope: float_rope(d, op, y); break;
    case op_attention: float_attention(d, op, y); break;
    default: float_element(d, op, y);
    }
    if (d->stored_only_outputs && !op->outputs[0]->output) return;
    for (size_t i = 0; i < count_of(d, op->outputs[0]); i++) y[i] = (float)dtype_round(op->outputs[0]->type, y[i]);
}

static void float_device_run(float_device *d)
{
    const ir_graph *g = d->b->graph;
    for (int i = 0; i < g->value_count; i++) {
        const size_t n = count_of(d, g->values[i]);
        free(d->value[i]);
        d->value[i] = calloc(n + 1, sizeof(float));
        for (size_t k = 0; k < n && d->b->inputs[i]; k++) d->value[i][k] = (float)d->b->data[i].value[k];
        if (g->values[i]->kind == value_constant) d->value[i][0] = (float)g->values[i]->constant;
    }
    for (int i = 0; i < g->op_count; i++) float_op(d, g->ops[i]);
}

static void float_device_free(float_device *d)
{
    for (int i = 0; i < most_bench_values; i++) free(d->value[i]);
}

static ref_verdict float_device_judge(const float_device *d, const ir_value *v)
{
    const ref_tensor *t = &d->b->result[v->id];
    double *got = calloc(t->count + 1, sizeof *got);
    for (size_t i = 0; i < t->count; i++) got[i] = d->value[v->id][i];
    const ref_verdict verdict = ref_compare(t, got);
    free(got);
    return verdict;
}
#endif
