/* In: rope, kv_append, split, concat, reshape and permute of a graph. Out: their values and errors. Refuses: shapes that do not
 * fit. */
#include "ir/reference/ref_parts.h"
#include "ir/graph/half.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double square(double x) { return x * x; }

/* Index, as a real number, of the pair that makes `turns` full turns in scaling.original tokens. */
static double yarn_pair(const ir_attributes *t, double turns)
{
    const double wave = t->scaling.original / turns; /* f = 2 pi / wave = theta^(-2i/n) */
    return (double)t->rotary / 2 * log(wave / (2 * 3.14159265358979323846)) / log(t->theta);
}

/* As HuggingFace transformers' _compute_yarn_parameters: fast pairs keep their frequency, that of slow pairs is divided by the factor, and
 * between them a linear ramp blends both. */
static double yarn(const ir_attributes *t, size_t i, double plain)
{
    const rope_scaling *s = &t->scaling;
    double quick = yarn_pair(t, s->beta_fast), slow = yarn_pair(t, s->beta_slow);
    if (s->truncate != 0) quick = floor(quick), slow = ceil(slow);
    if (quick < 0) quick = 0;
    if (slow > (double)t->rotary - 1) slow = (double)t->rotary - 1;
    if (slow == quick) slow += 0.001;
    const double slowed = fmin(1, fmax(0, ((double)i - quick) / (slow - quick)));
    return plain * (slowed / s->factor + 1 - slowed);
}

/* As transformers' _compute_dynamic_ntk_parameters for a sequence of scaling.length tokens, which makes the base larger. */
static double dynamic(const ir_attributes *t, size_t i)
{
    const rope_scaling *s = &t->scaling;
    const double n = (double)t->rotary, longer = s->length > s->original ? s->length / s->original : 1;
    const double base = t->theta * pow(1 + s->factor * (longer - 1), n / (n - 2));
    return i == 0 ? 1 : pow(base, -2.0 * (double)i / n);
}

/* The frequency of pair i of n/2, scaled. llama3 is as HuggingFace transformers' _compute_llama3_parameters: low frequencies are divided by
 * the factor, high ones stay, and between them both are blended. */
static double frequency(const ir_attributes *t, size_t i)
{
    const double plain = pow(t->theta, -2.0 * (double)i / (double)t->rotary), wave = 2 * 3.14159265358979323846 / plain;
    const rope_scaling *s = &t->scaling;
    switch (s->kind) {
    case scaling_linear: return plain / s->factor;
    case scaling_dynamic: return dynamic(t, i);
    case scaling_yarn: return yarn(t, i, plain);
    case scaling_longrope: return plain / s->factors[i];
    case scaling_proportional: return (double)i + 1 <= s->share * (double)t->rotary / 2 ? plain / s->factor : 0;
    case scaling_llama3: break;
    default: return plain;
    }
    if (wave < s->original / s->high_freq) return plain;
    if (wave > s->original / s->low_freq) return plain / s->factor;
    const double blend = (s->original / wave - s->low_freq) / (s->high_freq - s->low_freq);
    return (1 - blend) * plain / s->factor + blend * plain;
}

/* Error of an angle computed in float64, here and in the device's table: rounding of the frequency, of its product with the position, and
 * of the reduction modulo a turn. Above 0.1 rad the result is unknown and not judged. */
static double turn_rounding(double angle)
{
    const double e = 4 * DBL_EPSILON * fabs(angle);
    return e < 0.1 ? e : INFINITY;
}

/* y1 = x1 cos - x2 sin, y2 = x2 cos + x1 sin. A device must keep the angle modulo a turn (templates/base/rope.h does, in integers). The
 * angle's error is then u at any position, whereas a float32 product of position and frequency would have an error of u times the angle.
 * cos and sin have the error of their form; two products and a sum round by u of each term. */
static void rotate(ref_form form, const ref_tensor *x, ref_tensor *y, size_t one, size_t two, double angle, double by)
{
    const double c = by * cos(angle), s = by * sin(angle), a = x->value[one], b = x->value[two];
    const double turn = square(REF_UNIT), ea = square(ref_error(x, one)), eb = square(ref_error(x, two));
    const double function = form == ref_form_definition ? 2 * REF_UNIT : ref_form_error(op_rope, form);
    const double sized = by == 1 ? 0 : 2 * square(REF_UNIT); /* rounding of the factor and of the product with it */
    const double lost = a != 0 || b != 0 ? square(turn_rounding(angle)) : 0;
    /* rounding of cos or sin, of two products and of a sum */
    const double own = square(by) * (square(function) + 5 * square(REF_UNIT) + sized + lost);
    y->value[one] = a * c - b * s;
    y->value[two] = b * c + a * s;
    y->error[one] = sqrt(c * c * ea + s * s * eb + turn * square(y->value[two]) + own * (square(a) + square(b)));
    y->error[two] = sqrt(c * c * eb + s * s * ea + turn * square(y->value[one]) + own * (square(a) + square(b)));
    for (const ref_share *z = x->shares; z; z = z->next) {
        ref_share *out = ref_share_of(y, z->source);
        ref_put_share(out, one, z->size[one] * c, z->at[one]);
        ref_put_share(out, one, -z->size[two] * s, z->at[two]);
        ref_put_share(out, two, z->size[two] * c, z->at[two]);
        ref_put_share(out, two, z->size[one] * s, z->at[one]);
    }
}

static void move_shares(const ref_tensor *x, size_t from, ref_tensor *y, size_t to)
{
    for (const ref_share *s = x->shares; s; s = s->next) ref_put_share(ref_share_of(y, s->source), to, s->size[from], s->at[from]);
}

void ref_move_element(const ref_tensor *x, size_t from, ref_tensor *y, size_t to)
{
    y->value[to] = x->value[from];
    y->error[to] = ref_error(x, from);
    move_shares(x, from, y, to);
}

static void rope_head(ref_form form, const ir_attributes *t, const ref_tensor *x, ref_tensor *y, size_t start, size_t size,
                      double position)
{
    const size_t rotary = (size_t)t->rotary;
    for (size_t i = 0; i < rotary / 2; i++) {
        const size_t one = t->pairing == pairing_half ? i : 2 * i,
                     two = t->pairing == pairing_half ? i + rotary / 2 : 2 * i + 1;
        rotate(form, x, y, start + one, start + two, position * frequency(t, i), t->attention_factor > 0 ? t->attention_factor : 1);
    }
    for (size_t i = start + rotary; i < start + size; i++) {
        y->value[i] = x->value[i];
        y->error[i] = ref_error(x, i);
        move_shares(x, i, y, i);
    }
}

bool ref_rope(ref_state *r, const ir_op *op)
{
    const ir_attributes *t = ref_attributes(r, op);
    const ir_value *xv = op->inputs[0];
    const ref_tensor *x = ref_of(r, xv), *at = t->at ? ref_of(r, t->at) : NULL;
    ref_tensor *y = ref_out(r, op);
    const size_t B = (size_t)ref_axis(r, xv, 0), S = (size_t)ref_axis(r, xv, 1), H = (size_t)t->heads;
    if (B * S * H == 0 || x->count % (B * S * H) != 0 || y->count != x->count || (at && at->count != B))
        return ref_fail(r, op, "does not fit");
    const size_t size = x->count / (B * S * H);
    if (t->rotary < 0 || (size_t)t->rotary > size || t->rotary % 2 != 0)
        return ref_fail(r, op, "rotary does not fit the heads");
    if (!ref_copy_shares(r, op, x, y)) return false;
    for (size_t i = 0; i < B * S * H; i++)
        rope_head(ref_form_of(r, op), t, x, y, i * size, size, (double)(i / H % S) + (at ? at->value[i / H / S] : 0));
    return true;
}

/* Writes one row of x [B,S,KV,hd] to a state [B,KV,L,hd], rounded to the state's dtype. The row is rounded here, and not the whole result
 * afterwards, since the rest of the cache is rounded already. */
static void append_row(const ref_state *r, const ir_op *op, size_t from, size_t to, size_t size)
{
    const ref_tensor *x = ref_of(r, op->inputs[0]);
    const dtype type = ref_type(r, op->outputs[0]);
    ref_tensor *y = &r->tensors[op->outputs[0]->id];
    const bool rounds = type != ref_type(r, op->inputs[0]) || !r->on_grid[op->inputs[0]->id];
    const double unit = rounds && type != dtype_f32 ? ref_unit(type) : 0,
                 least = rounds ? ref_least(type) : 0;
    for (size_t i = 0; i < size; i++) {
        const double v = x->value[from + i];
        const double own = isfinite(v) ? square(unit * v) + (v != 0 ? square(least) : 0) : 0;
        y->value[to + i] = v;
        y->error[to + i] = sqrt(square(ref_error(x, from + i)) + own);
        if (rounds) ref_overflow(type, &y->value[to + i], &y->error[to + i]);
        if (rounds && r->round_stored) y->value[to + i] = dtype_round(type, y->value[to + i]);
    }
}

bool ref_append(ref_state *r, const ir_op *op)
{
    const ir_value *xv = op->inputs[0], *sv = ref_attributes(r, op)->state;
    if (!sv || !ref_attributes(r, op)->at) return ref_fail(r, op, "has no state or no position");
    const ref_tensor *x = ref_of(r, xv), *state = ref_of(r, sv), *at = ref_of(r, ref_attributes(r, op)->at);
    ref_tensor *y = ref_out(r, op);
    const size_t B = (size_t)ref_axis(r, xv, 0), S = (size_t)ref_axis(r, xv, 1), KV = (size_t)ref_axis(r, sv, 1),
                 hd = (size_t)ref_axis(r, sv, 3);
    const ref_rows rows = ref_rows_of(r, sv, KV);
    if (x->count != B * S * KV * hd || state->count != B * KV * rows.tokens * hd || y->count != state->count ||
        at->count != B)
        return ref_fail(r, op, "rows and state do not fit");
    memcpy(y->value, state->value, y->count * sizeof *y->value);
    if (state->error) memcpy(y->error, state->error, y->count * sizeof *y->error);
    for (size_t i = 0; i < B * S * KV; i++) {
        const size_t b = i / (S * KV), s = i / KV % S, g = i % KV;
        const double position = at->value[b] + (double)s;
        if (position >= 0 && position < (double)rows.tokens)
            append_row(r, op, i * hd, ref_row(&rows, b, g, (size_t)position) * hd, hd);
    }
    r->on_grid[op->outputs[0]->id] = true;
    return true;
}

/* Copies `width` columns of every row from one row-major value to another. */
static void copy_columns(const ref_tensor *x, size_t x_columns, size_t x_first, ref_tensor *y, size_t y_columns,
                         size_t y_first, size_t width)
{
    for (size_t row = 0; row < y->count / y_columns; row++)
        for (size_t i = 0; i < width; i++) ref_move_element(x, row * x_columns + x_first + i, y, row * y_columns + y_first + i);
}

/* Walks the result's elements, last axis fastest; each step along an axis moves the operand's index by the stride of that axis in the
 * operand. */
bool ref_permute(ref_state *r, const ir_op *op)
{
    const ref_tensor *x = ref_of(r, op->inputs[0]);
    ref_tensor *y = ref_out(r, op);
    const number_list *axes = &ref_attributes(r, op)->axes;
    const ref_shape *in = ref_shape_of(r, op->inputs[0]), *out = ref_shape_of(r, op->outputs[0]);
    size_t stride[max_rank], at[max_rank] = {0}, from = 0;
    if (axes->count != in->rank || x->count != y->count) return ref_fail(r, op, "axes do not fit the operand");
    for (int i = 0; i < in->rank; i++) {
        stride[i] = 1;
        for (int k = (int)axes->at[i] + 1; k < in->rank; k++) stride[i] *= (size_t)in->size[k];
    }
    if (!ref_copy_shares(r, op, x, y)) return false;
    for (size_t i = 0; i < y->count; i++) {
        ref_move_element(x, from, y, i);
        for (int k = out->rank - 1; k >= 0; k--) {
            from += stride[k];
            if (++at[k] < (size_t)out->size[k]) break;
            from -= at[k] * stride[k];
            at[k] = 0;
        }
    }
    return true;
}

bool ref_move(ref_state *r, const ir_op *op)
{
    const ref_tensor *x = ref_of(r, op->inputs[0]);
    ref_tensor *y = ref_out(r, op);
    size_t first = 0;
    const size_t columns = (size_t)ref_axis(r, op->kind == op_split ? op->inputs[0] : op->outputs[0], -1);
    if (op->kind == op_reshape) {
        if (x->count != y->count) return ref_fail(r, op, "has another number of elements");
        if (!ref_copy_shares(r, op, x, y)) return false;
        copy_columns(x, x->count, 0, y, x->count, 0, x->count);
        return true;
    }
    const int parts = op->kind == op_split ? op->output_count : op->input_count;
    for (int i = 0; i < parts; i++) {
        const ir_value *part = op->kind == op_split ? op->outputs[i] : op->inputs[i];
        ref_tensor *t = &r->tensors[part->id];
        const size_t width = (size_t)ref_axis(r, part, -1);
        if (width == 0 || first + width > columns ||
            t->count / width * columns != (op->kind == op_split ? x : y)->count)
            return ref_fail(r, op, "parts do not fit");
        if (!(op->kind == op_split ? ref_copy_shares(r, op, x, t) : ref_copy_shares(r, op, t, y))) return false;
        if (op->kind == op_split)
            copy_columns(x, columns, first, t, width, 0, width);
        else
            copy_columns(t, width, 0, y, columns, first, width);
        first += width;
    }
    return first == columns || ref_fail(r, op, "parts do not add up");
}
