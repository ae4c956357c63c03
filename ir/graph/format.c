/* In: ir/format.def. Out: see ir/graph/format.h; NULL if there is no such format. */
#include "ir/graph/format.h"

_Static_assert(dtype_count <= 32, "weight_format.holds has a bit for each dtype");
#define H(type) (1u << dtype_##type)
#define UNSCALED {dtype_f32, 0, 0, 0}
#define SCALED(type, columns, length, zero_bits) {dtype_##type, columns, length, zero_bits}
static const weight_format formats[] = {
#define FORMAT(name, type, bits, terms, passes, scale, pack, holds, folds) \
    {#name, dtype_##type, bits, terms, passes, scale, pack, holds, folds},
#include "ir/format.def"
};

const weight_format *format_at(format_kind kind) { return &formats[kind]; }

bool format_holds(const weight_format *f, dtype from) { return f->holds >> from & 1; }

const weight_format *format_in(dtype type, dtype from)
{
    for (int i = 0; i < format_count; i++)
        if (formats[i].type == type && format_holds(&formats[i], from)) return &formats[i];
    return NULL;
}

const weight_format *format_plain(dtype type) { return format_in(type, type); }

int format_bf16_terms(dtype of)
{
    const weight_format *f = format_in(dtype_bf16, of);
    return f ? f->terms : 0;
}

int value_bf16_terms(const ir_value *v)
{
    return v->def && v->def->kind == op_bf16_terms ? format_bf16_terms(v->def->inputs[0]->type) : 1;
}

term_pairs format_pairs(int a_terms, int b_terms)
{
    enum { bits = 4 };
    term_pairs p = {0};
    for (int order = a_terms + b_terms - 2; order >= 0; order--)
        for (int i = 0; i <= order; i++) {
            const int a = a_terms - 1 - i, b = b_terms - 1 - (order - i);
            if (a < 0 || b < 0) continue;
            p.a |= (unsigned)a << bits * p.passes, p.b |= (unsigned)b << bits * p.passes;
            p.passes++;
        }
    return p;
}

enum { k_tile_bytes = 128 }; /* of one term: programs read whole k tiles of a term, so each term is padded to these */

static long long quotient_up(long long x, long long by) { return x / by + (x % by != 0); }

long long format_length(const weight_format *f, long long K)
{
    const int number_bits = 8 * dtype_size(f->type), multiple = f->terms > 1 ? k_tile_bytes / dtype_size(f->type) : format_piece_length(f);
    return quotient_up(K, multiple) * multiple * f->bits / number_bits;
}

long long format_row_of_terms(dtype of, long long K)
{
    const int tile = k_tile_bytes / dtype_size(dtype_bf16);
    return quotient_up(K, tile) * tile * format_bf16_terms(of);
}

long long format_numbers_bytes(const weight_format *f, long long numbers) { return numbers * dtype_size(f->type); }

int format_piece_length(const weight_format *f) { return piece_row_bytes * 8 * f->terms / f->bits; }

long long format_scale_bytes(const weight_format *f, long long columns, long long K)
{
    const weight_scale *s = &f->scale;
    if (!s->columns) return 0;
    const long long count = quotient_up(columns, s->columns) * (s->length ? quotient_up(K, s->length) : 1);
    return count * dtype_size(s->type) + quotient_up(count * s->zero_bits, 8);
}

double format_element_bytes(const weight_format *f, long long K)
{
    const weight_scale *s = &f->scale;
    if (!s->columns) return f->bits / 8.0;
    return (f->bits + (8.0 * dtype_size(s->type) + s->zero_bits) / s->columns / (double)(s->length ? s->length : K)) / 8.0;
}
