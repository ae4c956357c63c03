/* In: a seed, the name of a value, an index. Out: numbers that depend on nothing else: not on the machine, its math
 * library, the order of calls or the other values of a spec. */
#include "runtime/data/random.h"
#include "ir/graph/half.h"
#include <math.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT                                                                                               \
    OFF /* gcc does the same with -std=c11; with fused multiply-adds, numbers would depend on the machine */
#endif

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t random_stream(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash;
}

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    const uint64_t key = mix(mix(seed + 0x9e3779b97f4a7c15u) ^ stream);
    return mix(mix(key + index * 0x9e3779b97f4a7c15u) + key);
}

double random_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
    return ((double)(random_bits(seed, stream, index) >> 12) + 0.5) * 0x1p-52;
}

/* Natural logarithm of a normal x > 0 by basic arithmetic alone, which IEEE 754 defines exactly; libraries' log() differ. */
static double logarithm(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) m *= 2, exponent--;
    const double z = (m - 1) / (m + 1), z2 = z * z;
    double sum = 0;
    for (int n = 25; n >= 1; n -= 2) sum = sum * z2 + 1.0 / n; /* log m = 2 atanh z, |z| < 0.172 */
    return 2 * z * sum + exponent * 0.69314718055994531;
}

/* The inverse of the normal distribution: PPND7, M. J. Wichura, Algorithm AS 241, Applied Statistics 37(3), 1988; 7
 * digits. */
static double normal_at(double p)
{
    const double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
               (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1);
    }
    double r = sqrt(-logarithm(q < 0 ? p : 1 - p)), z;
    if (r <= 5) {
        r -= 1.6;
        z = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
            ((0.12021132975 * r + 0.73700164250) * r + 1);
    } else {
        r -= 5;
        z = (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150) /
            ((0.012258202635 * r + 0.24197894225) * r + 1);
    }
    return q < 0 ? -z : z;
}

double random_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    return normal_at(random_uniform(seed, stream, index));
}

/* Distribution of one kind of data, where N is standard normal: centre + spread * N; if positive, centre + |spread * N|. */
typedef struct distribution {
    double centre, spread;
    bool positive;
} distribution;

static distribution of_param(const ir_graph *graph, const ir_op *op, int input, distribution otherwise)
{
    const ir_value *v = op->inputs[input];
    switch (op->kind) {
    case op_rmsnorm:
    case op_layernorm:
        if (input == 1) return (distribution){op->attributes.unit_offset ? 0 : 1, 0.1, false};
        return input == 2 ? (distribution){0, 0.1, false} : otherwise;
    case op_linear: {
        if (input == 0 || v->kind != value_param) return otherwise;
        if (input == 2) return (distribution){0, 0.1, false};
        const long long length = extent_value(&v->shape[op->attributes.layout == layout_out_in], &graph->dims);
        return (distribution){0, 1 / sqrt((double)(length > 0 ? length : 1)), false};
    }
    case op_sqrt:
    case op_rsqrt:
    case op_log: return (distribution){0.5, 1, true};
    default: return otherwise;
    }
}

static distribution of_value(const ir_graph *graph, const ir_value *v)
{
    const distribution plain = {0, 1, false};
    distribution found = plain;
    for (int i = 0; i < graph->op_count; i++)
        for (int k = 0; k < graph->ops[i]->input_count; k++)
            if (graph->ops[i]->inputs[k] == v) found = of_param(graph, graph->ops[i], k, found);
    return found;
}

/* The largest range that all uses of an int32 value allow. */
static void integer_range(const ir_graph *graph, const ir_value *v, long long *low, long long *high)
{
    *low = 0, *high = 16;
    if (v->has_range) {
        *low = extent_value(&v->range_low, &graph->dims), *high = extent_value(&v->range_high, &graph->dims);
        return;
    }
    for (int i = 0; i < graph->op_count; i++) {
        const ir_op *op = graph->ops[i];
        const ir_attributes *t = &op->attributes;
        if (op->kind == op_kv_append && t->at == v) {
            const long long room =
                extent_value(value_tokens(t->state), &graph->dims) - extent_value(value_tokens(op->inputs[0]), &graph->dims);
            if (room < *high || *high == 16) *high = room > 0 ? room : 0;
        }
        if (op->kind == op_attention && t->lengths == v) {
            *low = 1;
            *high = extent_value(value_tokens(op->inputs[1]), &graph->dims);
        }
        if (op->kind == op_attention && t->first == v) *high = extent_value(value_tokens(op->inputs[1]), &graph->dims) - 1;
    }
}

void random_fill(const ir_graph *graph, const ir_value *v, uint64_t seed, double *out)
{
    random_part(graph, v, seed, 0, value_count(v, &graph->dims), out);
}

void random_part(const ir_graph *graph, const ir_value *v, uint64_t seed, long long first, long long count, double *out)
{
    const uint64_t stream = random_stream(v->name);
    if (v->type == dtype_i32) {
        long long low, high;
        integer_range(graph, v, &low, &high);
        const uint64_t width = high > low ? (uint64_t)(high - low) + 1 : 1;
        for (long long i = 0; i < count; i++)
            out[i] = (double)(low + (long long)(random_bits(seed, stream, (uint64_t)(first + i)) % width));
        return;
    }
    const distribution d = of_value(graph, v);
    for (long long i = 0; i < count; i++) {
        const double z = d.spread * random_normal(seed, stream, (uint64_t)(first + i));
        out[i] = dtype_round(v->type, d.centre + (d.positive ? fabs(z) : z));
    }
}
