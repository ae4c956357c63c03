/* In, out: ir/graph/half.h. */
#include "ir/graph/half.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct format {
    int digits; /* of the significand, including the implicit bit */
    int least;  /* exponent of the smallest normal number */
    double largest;
} format;
static const format f16 = {11, -14, 65504.0}, bf16 = {8, -126, 0x1.fep127};

/* Adding and subtracting 1.5 * 2^52 rounds to an integer; scaling by powers of two is exact. */
static double round_to(const format *f, double x)
{
    if (!isfinite(x) || x == 0) return x;
    int exponent = ilogb(x);
    if (exponent < f->least) exponent = f->least;
    const double step = ldexp(1.0, exponent - f->digits + 1);
    volatile double shifted = x / step + 0x1.8p52; /* volatile: no compiler may cancel the two */
    const double y = (shifted - 0x1.8p52) * step;
    return fabs(y) > f->largest ? copysign(INFINITY, x) : copysign(y, x);
}

static uint32_t float_bits(double x)
{
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

uint16_t bf16_from_double(double value)
{
    if (isnan(value)) return (uint16_t)(0x7fc0 | (signbit(value) ? 0x8000 : 0));
    return (uint16_t)(float_bits(round_to(&bf16, value)) >> 16);
}

uint16_t f16_from_double(double value)
{
    const unsigned sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value)) return (uint16_t)(sign | 0x7e00);
    const double x = fabs(round_to(&f16, value));
    if (isinf(x)) return (uint16_t)(sign | 0x7c00);
    if (x < 0x1p-14) return (uint16_t)(sign | (unsigned)(x * 0x1p24)); /* subnormal, or 0 */
    const uint32_t bits = float_bits(x);
    return (uint16_t)(sign | ((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3ff));
}

double bf16_to_double(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float f;
    memcpy(&f, &wide, sizeof f);
    return f;
}

double f16_to_double(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    double x = exponent == 0 ? fraction * 0x1p-24 : ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) x = fraction ? NAN : INFINITY;
    return copysign(x, bits & 0x8000 ? -1.0 : 1.0);
}

static int32_t to_int32(double value)
{
    if (isnan(value)) return 0;
    if (value <= INT32_MIN) return INT32_MIN;
    if (value >= INT32_MAX) return INT32_MAX;
    return (int32_t)nearbyint(value);
}

double dtype_round(dtype t, double value)
{
    switch (t) {
    case dtype_f32: return (float)value;
    case dtype_f16: return round_to(&f16, value);
    case dtype_bf16: return round_to(&bf16, value);
    case dtype_i32: break;
    }
    return to_int32(value);
}

double dtype_largest(dtype t)
{
    switch (t) {
    case dtype_f32: return FLT_MAX;
    case dtype_f16: return f16.largest;
    case dtype_bf16: return bf16.largest;
    case dtype_i32: break;
    }
    return INT32_MAX;
}

void dtype_put(dtype t, void *data, size_t index, double value)
{
    const float f = (float)value;
    const int32_t n = t == dtype_i32 ? to_int32(value) : 0;
    const uint16_t half = t == dtype_f16 ? f16_from_double(value) : t == dtype_bf16 ? bf16_from_double(value) : 0;
    char *to = (char *)data + index * (size_t)dtype_size(t);
    if (t == dtype_f32)
        memcpy(to, &f, sizeof f);
    else if (t == dtype_i32)
        memcpy(to, &n, sizeof n);
    else
        memcpy(to, &half, sizeof half);
}

double dtype_get(dtype t, const void *data, size_t index)
{
    const char *from = (const char *)data + index * (size_t)dtype_size(t);
    float f;
    int32_t n;
    uint16_t half;
    switch (t) {
    case dtype_f32: return memcpy(&f, from, sizeof f), f;
    case dtype_i32: return memcpy(&n, from, sizeof n), n;
    default: break;
    }
    memcpy(&half, from, sizeof half);
    return t == dtype_f16 ? f16_to_double(half) : bf16_to_double(half);
}
