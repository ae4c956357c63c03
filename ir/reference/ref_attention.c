/* In: attention of a graph. Out: its values and errors. Refuses: shapes that do not fit.
 *
 * For a query and its visible keys t: z_t = scale * q.k_t (capped: c tanh(z_t/c)), p_t = exp(z_t - m) / s, o = sum p_t v_t, where m is the
 * largest z and s the sum of exponentials. With a_t the error of z_t and of exp together, do = sum p_t (v_t - o) a_t + sum p_t dv_t, whose
 * terms add as squares; the sums of products and of exponentials round as in ref.h. a_t^2 = scale^2 (sum k^2 e_q^2 + q^2 e_k^2 + rounding
 * of the dot product) + u^2 (z_t^2 + (z_t - m)^2 + 4), whose last term is the rounding of the scaling and of exp's argument.
 *
 * The error of a query is the same for all keys, so its effects are correlated and add up where values correlate with keys (both computed
 * from the same rows): do_d = sum_j e_q,j C_jd with C_jd = sum p_t (v_td - o_d) dz_t/dq_j. The sum of e_q,j^2 C_jd^2 is the mean of
 * (sum_j +-e_q,j C_jd)^2 over all signs (Hutchinson, A stochastic estimator of the trace, Commun. Stat. 18(3), 1989), estimated here from
 * `probes` random sign vectors. Its excess over the independent estimate is added, per column and over all columns.
 *
 * Errors of the weights that K and V are products of are the same for all keys, and are treated in the same way (ref_weights.c).
 *
 * Keys whose rows of K are equal or opposite, up to their errors, were computed from equal numbers by the same roundings (rounding is
 * symmetric), or from weights with the same errors. So their errors a_t are alike, too, and add linearly; likewise errors dv_t of equal or
 * opposite rows of V, and roundings of equal P to 16 bits. (Norms of rows of one or two numbers are such rows.)
 *
 * Sums over more than 8192 keys are blocked, at most REF_CHAIN keys a block (devices use fewer: keys_in_a_chain,
 * templates/attention/attention.h); on matrix units, whose weights P are rounded to 16 bits, one chain holds all keys. */
#include "ir/reference/ref_parts.h"
#include "ir/graph/half.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { most_in_a_chain = 8192, probes = 4 };
enum { most_kinds = 16 }; /* of equal rows that are told apart; further rows count as different from all others */
/* Errors that add linearly, by kind of key: of scores; of roundings of P, where opposite rows of K are different; and by kind of value. */
enum { of_scores = 0, of_roundings = most_kinds, of_values = 3 * most_kinds, alike_count = 4 * most_kinds };

typedef struct attention_job {
    const ref_state *run;
    const ir_attributes *t;
    size_t B, S, T, H, KV, hd, vd; /* hd: columns of a head of Q and K; vd: of V */
    dtype type; /* of V */
    ref_rows keys; /* layout of K and V */
    const ref_tensor *q, *k, *v, *lengths, *first, *at, *sinks, *bias;
    size_t bias_batches, bias_heads, bias_keys; /* extents of the bias's axes; 1: all batches or heads share it */
    bool q_exact, k_exact, v_exact;
    const double *k_weights, *v_weights; /* [B*T][ref_weight_parts]: ref_weights.c; NULL: none */
    double score_unit; /* unit roundoff of the dtype that P is rounded to; 0: f32 */
    bool round_scores; /* round the numbers of P to the dtype of V, not only add the error */
    ref_tensor *o;
    bool failed;
} attention_job;

/* Working memory of one head. score, noise and shifted have a number per key, the others per column of the head. */
typedef struct head_buffers {
    double *score, *noise; /* score: z, then p; noise: a^2 */
    double *o, *block /* sum since the last full block of keys */, *in_order, *terms, *squares;
    /* Used if queries have errors. shifts [probes][hd]: a query's errors with random signs; shifted [key][probes]: how these change the
     * scores. moved [key][ref_weight_parts]: the same of errors of K's weight; NULL: none. */
    double *shifts, *shifted, *moved;
    double *together, *alone; /* of such changes: [.][vd] how they change the output; [vd] its square if they were independent */
    double *spoilt; /* per column; not 0: V of some key is not finite there */
    /* Per key, the kind of its row of K and of V: n or -n, for equal and opposite rows; 0: it is like no other. NULL: no rows are alike. */
    int *kind_of_key, *kind_of_value;
    double *alike, *alike_squares; /* [alike_count][vd]: errors that are alike, added; their squares */
} head_buffers;

static double square(double x) { return x * x; }

static size_t key_start(const attention_job *j, size_t b, size_t g, size_t t)
{
    return ref_row(&j->keys, b, g, t) * j->hd;
}

static size_t value_start(const attention_job *j, size_t b, size_t g, size_t t)
{
    return ref_row(&j->keys, b, g, t) * j->vd;
}

static long long first_position(const attention_job *j, size_t b)
{
    return j->at ? (long long)j->at->value[b] : (long long)j->T - (long long)j->S;
}

/* How many keys of sequence b count at all; the masks of a query may hide some of them. */
static long long keys_of(const attention_job *j, size_t b)
{
    long long n = (long long)j->T;
    const long long filled = first_position(j, b) + (long long)j->S; /* rows of the cache */
    if (j->at && filled < n) n = filled;
    if (j->lengths && (long long)j->lengths->value[b] < n) n = (long long)j->lengths->value[b];
    return n;
}

/* Keys t of low <= t < high are visible. */
static void visible(const attention_job *j, size_t b, size_t s, long long *low, long long *high)
{
    const long long position = first_position(j, b) + (long long)s;
    *low = 0, *high = keys_of(j, b);
    if (j->t->causal && position + 1 < *high) *high = position + 1;
    if (!j->t->causal && j->t->window > 0 && position + j->t->window < *high) *high = position + j->t->window;
    if (j->first && (long long)j->first->value[b] > *low) *low = (long long)j->first->value[b];
    if (j->t->window > 0 && position + 1 - j->t->window > *low) *low = position + 1 - j->t->window;
}

static double dot(const attention_job *j, size_t q, size_t k, double *noise)
{
    const double hd = (double)j->hd;
    double sum = 0, terms = 0, inputs = 0;
    for (size_t d = 0; d < j->hd; d++) {
        const double x = j->q->value[q + d], y = j->k->value[k + d];
        sum += x * y;
        terms += square(x * y);
    }
    for (size_t d = 0; !j->q_exact && d < j->hd; d++) inputs += square(j->k->value[k + d] * j->q->error[q + d]);
    for (size_t d = 0; !j->k_exact && d < j->hd; d++) inputs += square(j->q->value[q + d] * j->k->error[k + d]);
    *noise = inputs + square(REF_UNIT) * ((hd - 1) / 3 * square(sum) + ((hd - 1) / 6 + 1) * terms);
    return sum;
}

/* Errors of a query with pseudo-random signs, a function of the element's index. */
static void draw_shifts(const attention_job *j, size_t q, const head_buffers *h)
{
    for (size_t d = 0; d < j->hd; d++) {
        const uint64_t bits = ((uint64_t)(q + d) + 1) * 0x9e3779b97f4a7c15u;
        const double e = j->q->error[q + d];
        for (size_t i = 0; i < probes; i++) h->shifts[i * j->hd + d] = (bits >> (40 + i) & 1) ? e : -e;
    }
}

/* The changes of a key's score by errors of K's weight. */
static void move_score(const attention_job *j, size_t q, size_t b, size_t t, size_t k, double slope, const head_buffers *h)
{
    double squares = 0;
    for (size_t d = 0; d < j->hd; d++) squares += square(j->q->value[q + d] * j->k->error[k + d]);
    for (size_t i = 0; i < ref_weight_parts; i++)
        h->moved[t * ref_weight_parts + i] = slope * sqrt(squares) * j->k_weights[(b * j->T + t) * ref_weight_parts + i];
}

/* slope: dz/d(q.k) */
static void shift_scores(const attention_job *j, size_t t, size_t k, double slope, const head_buffers *h)
{
    for (size_t i = 0; i < probes; i++) {
        double sum = 0;
        for (size_t d = 0; d < j->hd; d++) sum += h->shifts[i * j->hd + d] * j->k->value[k + d];
        h->shifted[t * probes + i] = slope * sum;
    }
}

/* Sets h->score to z and h->noise to the squared error of z, for visible keys; returns the largest z. */
static double scores(const attention_job *j, size_t q, size_t b, size_t g, long long low, long long high, long long position, double fall,
                     size_t bias, const head_buffers *h)
{
    double largest = -INFINITY;
    if (!j->q_exact) draw_shifts(j, q, h);
    for (long long t = low; t < high; t++) {
        const size_t k = key_start(j, b, g, (size_t)t);
        double noise, slope = j->t->scale, z = j->t->scale * dot(j, q, k, &noise);
        noise = square(j->t->scale) * noise + square(REF_UNIT * z);
        if (j->t->softcap > 0) {
            const double tangent = tanh(z / j->t->softcap);
            noise = noise * square(1 - square(tangent)) + square(2 * REF_UNIT * j->t->softcap * tangent);
            z = j->t->softcap * tangent;
            slope *= 1 - square(tangent);
        }
        if (fall != 0) { /* ALiBi rounds the slope, the product and the difference */
            const double far = fall * (double)llabs(position - t);
            z -= far;
            noise += square(REF_UNIT) * (2 * square(far) + square(z));
        }
        if (j->bias) {
            const size_t at = bias + (size_t)t;
            z += j->bias->value[at];
            noise += square(ref_error(j->bias, at)) + square(REF_UNIT * z);
        }
        if (!j->q_exact) shift_scores(j, (size_t)t, k, slope, h);
        if (h->moved) move_score(j, q, b, (size_t)t, k, slope, h);
        h->score[t] = z, h->noise[t] = noise;
        if (z > largest || isnan(z)) largest = z;
    }
    return largest;
}

/* Attention sink of a head: a logit that takes part in the softmax and has no V. */
typedef struct sink { bool exists; double score, error; } sink;

/* Turns z into p, and noise into the squared relative error of p. Returns the squared relative rounding error of the denominator, a sum of
 * exponentials as they are before they are rounded to 16 bits. */
static double probabilities(const attention_job *j, long long low, long long high, double largest, const sink *own, bool whole,
                            const head_buffers *h)
{
    ref_sum s = {.whole = whole};
    double sink_error = 0;
    for (long long t = low; t < high; t++) {
        const double z = h->score[t], a2 = h->noise[t] + square(REF_UNIT) * (square(z) + square(z - largest) + 4);
        h->score[t] = exp(z - largest);
        h->noise[t] = a2 < 1e-4 ? a2 : square(expm1(fmin(sqrt(a2), 100)));
        ref_sum_add(&s, h->score[t], 0);
    }
    if (own->exists) { /* an error of the sink scales all weights alike */
        const double e = exp(own->score - largest), a2 = square(own->error) + square(REF_UNIT) * (square(own->score - largest) + 4);
        ref_sum_add(&s, e, 0);
        sink_error = square(e) * (a2 < 1e-4 ? a2 : square(expm1(fmin(sqrt(a2), 100))));
    }
    for (long long t = low; t < high; t++) h->score[t] = (j->round_scores ? dtype_round(j->type, h->score[t]) : h->score[t]) / s.value;
    return (ref_sum_rounding(&s) + sink_error) / square(s.value);
}

/* Whether two rows differ by no more than their errors; sign -1: whether one and the opposite of the other do. */
static bool rows_are_alike(const ref_tensor *x, size_t a, size_t b, size_t columns, double sign)
{
    for (size_t d = 0; d < columns; d++)
        if (!(fabs(x->value[a + d] - sign * x->value[b + d]) <= ref_error(x, a + d) + ref_error(x, b + d))) return false;
    return true;
}

/* Sets the kind of each key's row of x. Returns whether some are alike. start: where the row of a key begins. */
static bool find_kinds(const attention_job *j, const ref_tensor *x, size_t b, size_t g, size_t columns,
                       size_t (*start)(const attention_job *, size_t, size_t, size_t), int *kind)
{
    size_t first[most_kinds];
    int kinds = 0;
    bool found = false;
    for (long long t = 0; t < keys_of(j, b); t++) {
        const size_t row = start(j, b, g, (size_t)t);
        kind[t] = 0;
        for (int i = 0; i < kinds && !kind[t]; i++)
            kind[t] = rows_are_alike(x, row, first[i], columns, 1) ? i + 1 : rows_are_alike(x, row, first[i], columns, -1) ? -i - 1 : 0;
        found |= kind[t] != 0;
        if (!kind[t] && kinds < most_kinds) first[kinds] = row, kind[t] = ++kinds;
    }
    return found;
}

/* Adds the errors of key t to those of its kind, or their squares if it has none. */
static void add_alike(const attention_job *j, size_t t, const double *v, const double *error, const head_buffers *h)
{
    const int key = h->kind_of_key[t], value = h->kind_of_value[t], nth_key = abs(key) - 1, nth_value = abs(value) - 1;
    const double p = h->score[t], a = sqrt(h->noise[t]);
    for (size_t d = 0; d < j->vd; d++) {
        const double x[] = {(key < 0 ? -p : p) * (v[d] - h->o[d]) * a, p * v[d] * j->score_unit,
                            error ? (value < 0 ? -p : p) * error[d] : 0};
        const int of[] = {key ? of_scores + nth_key : -1, key ? of_roundings + 2 * nth_key + (key < 0) : -1,
                          value ? of_values + nth_value : -1};
        for (int i = 0; i < 3; i++)
            if (of[i] < 0) h->squares[d] += square(x[i]);
            else h->alike[of[i] * j->vd + d] += x[i], h->alike_squares[of[i] * j->vd + d] += square(x[i]);
    }
}

/* Alike errors may cancel (a change of all scores changes nothing), but how alike they are is not known: at least their squares count. */
static void settle_alike(const attention_job *j, const head_buffers *h)
{
    for (size_t i = 0; i < alike_count * j->vd; i++) {
        h->squares[i % j->vd] += fmax(square(h->alike[i]), h->alike_squares[i]);
        h->alike[i] = h->alike_squares[i] = 0;
    }
}

static void weigh_values(const attention_job *j, size_t b, size_t g, long long low, long long high, bool whole,
                         const head_buffers *h)
{
    for (size_t d = 0; d < j->vd; d++) h->o[d] = h->block[d] = h->in_order[d] = h->terms[d] = h->squares[d] = 0;
    for (long long t = low; t < high; t++) {
        const double *v = j->v->value + value_start(j, b, g, (size_t)t), p = h->score[t];
        for (size_t d = 0; d < j->vd; d++) {
            const double term = p * v[d];
            h->o[d] += term;
            h->block[d] += term;
            h->in_order[d] += square(h->block[d]);
            h->terms[d] += square(term);
        }
        for (size_t d = 0; !whole && (t - low + 1) % REF_CHAIN == 0 && d < j->vd; d++) {
            h->in_order[d] += square(h->o[d]);
            h->block[d] = 0;
        }
    }
    for (long long t = low; t < high; t++) {
        const size_t start = value_start(j, b, g, (size_t)t);
        const double *v = j->v->value + start, p2 = square(h->score[t]), a2 = h->noise[t],
                     unit2 = square(j->score_unit);
        if (h->kind_of_key) {
            add_alike(j, (size_t)t, v, j->v_exact ? NULL : j->v->error + start, h);
            continue;
        }
        for (size_t d = 0; d < j->vd; d++) h->squares[d] += p2 * (square(v[d] - h->o[d]) * a2 + square(v[d]) * unit2);
        for (size_t d = 0; !j->v_exact && d < j->vd; d++) h->squares[d] += p2 * square(j->v->error[start + d]);
    }
    if (h->kind_of_key) settle_alike(j, h);
}

/* Adds to h->squares by how much more errors change the output because they are correlated, per column and over all columns. They already
 * contain h->alone, the squares if the changes of keys were independent. h->together: `count` changes that are independent of each other,
 * whose squares are to be multiplied by `each`. */
static void add_excess(const attention_job *j, size_t count, double each, const head_buffers *h)
{
    double all_together = 0, all_alone = 0;
    for (size_t d = 0; d < j->vd; d++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) sum += each * square(h->together[i * j->vd + d]);
        h->together[d] = sum;
        all_together += sum, all_alone += h->alone[d];
    }
    const double ratio = all_alone > 0 ? all_together / all_alone : 0;
    for (size_t d = 0; d < j->vd; d++) h->squares[d] += fmax(fmax(h->together[d], ratio * h->alone[d]) - h->alone[d], 0);
}

/* An error of a query, or of K's weight, changes the scores of all keys together. changes: [key][count]. */
static void add_up_changes(const attention_job *j, size_t b, size_t g, long long low, long long high, const double *changes, size_t count,
                           double each, const head_buffers *h)
{
    memset(h->together, 0, count * j->vd * sizeof *h->together);
    memset(h->alone, 0, j->vd * sizeof *h->alone);
    for (long long t = low; t < high; t++) {
        const double *v = j->v->value + value_start(j, b, g, (size_t)t), *changed = changes + (size_t)t * count;
        double size = 0;
        for (size_t i = 0; i < count; i++) size += each * square(changed[i]);
        for (size_t d = 0; d < j->vd; d++) {
            const double weight = h->score[t] * (v[d] - h->o[d]);
            h->alone[d] += square(weight) * size;
            for (size_t i = 0; i < count; i++) h->together[i * j->vd + d] += weight * changed[i];
        }
    }
    add_excess(j, count, each, h);
}

/* An error of V's weight changes the rows of all keys together. */
static void add_up_values(const attention_job *j, size_t b, size_t g, long long low, long long high, const head_buffers *h)
{
    memset(h->together, 0, ref_weight_parts * j->vd * sizeof *h->together);
    memset(h->alone, 0, j->vd * sizeof *h->alone);
    for (long long t = low; t < high; t++) {
        const double *e = j->v->error + value_start(j, b, g, (size_t)t);
        const double *parts = j->v_weights + (b * j->T + (size_t)t) * ref_weight_parts;
        double size = 0;
        for (size_t i = 0; i < ref_weight_parts; i++) size += square(parts[i]);
        for (size_t d = 0; d < j->vd; d++) {
            const double weight = h->score[t] * e[d];
            h->alone[d] += square(weight) * size;
            for (size_t i = 0; i < ref_weight_parts; i++) h->together[i * j->vd + d] += weight * parts[i];
        }
    }
    add_excess(j, ref_weight_parts, 1, h);
}

/* The first element of a query's row of the bias. */
static size_t bias_start(const attention_job *j, size_t b, size_t s, size_t head)
{
    return (((j->bias_batches > 1 ? b : 0) * j->bias_heads + (j->bias_heads > 1 ? head : 0)) * j->S + s) * j->bias_keys;
}

/* Finds the attention's bias, if it has one. False: its shape does not fit the scores. */
static bool find_bias(attention_job *j)
{
    const ir_value *v = j->t->bias;
    if (!v) return true;
    j->bias = ref_of(j->run, v);
    j->bias_batches = v->rank > 3 ? (size_t)ref_axis(j->run, v, 0) : 1;
    j->bias_heads = v->rank > 2 ? (size_t)ref_axis(j->run, v, v->rank - 3) : 1;
    j->bias_keys = (size_t)ref_axis(j->run, v, -1);
    return v->rank >= 2 && v->rank <= 4 && (j->bias_batches == 1 || j->bias_batches == j->B) &&
           (j->bias_heads == 1 || j->bias_heads == j->H) && j->bias_keys >= j->T &&
           j->bias->count == j->bias_batches * j->bias_heads * j->S * j->bias_keys;
}

static void one_query(const attention_job *j, size_t b, size_t s, size_t head, const head_buffers *h)
{
    const size_t q = ((b * j->S + s) * j->H + head) * j->hd, g = head / (j->H / j->KV),
                 out = ((b * j->S + s) * j->H + head) * j->vd;
    long long low, high;
    visible(j, b, s, &low, &high);
    if (low >= high) return; /* no visible key: zeros */
    const sink own = {j->sinks, j->sinks ? j->sinks->value[head] : 0, j->sinks ? ref_error(j->sinks, head) : 0};
    const double fall = j->t->alibi.count ? j->t->alibi.at[head] : 0;
    double largest = scores(j, q, b, g, low, high, first_position(j, b) + (long long)s, fall, j->bias ? bias_start(j, b, s, head) : 0, h);
    if (own.exists && !(own.score <= largest)) largest = own.score;
    if (largest == -INFINITY) return; /* a bias hides all keys: zeros */
    const bool whole = high - low <= most_in_a_chain || j->score_unit > 0;
    const double relative = probabilities(j, low, high, largest, &own, whole, h) + square(3 * REF_UNIT);
    const double n = (double)(high - low) - 1;
    const ref_chains chains = ref_chains_of(n, whole);
    weigh_values(j, b, g, low, high, whole, h);
    if (!j->q_exact) add_up_changes(j, b, g, low, high, h->shifted, probes, 1.0 / probes, h);
    if (h->moved) add_up_changes(j, b, g, low, high, h->moved, ref_weight_parts, 1, h);
    if (j->v_weights) add_up_values(j, b, g, low, high, h);
    for (size_t d = 0; d < j->vd; d++) {
        const double o = h->o[d];
        const double rounding = fmax(n > 0 ? h->in_order[d] : 0, chains.of_value * o * o) + (chains.of_terms + 1) * h->terms[d];
        j->o->value[out + d] = o;
        /* 0 * NaN and 0 * inf are NaN, and matrix units multiply masked keys of a tile with weight 0: the device may give NaN here. */
        j->o->error[out + d] = h->spoilt[d] != 0 && isfinite(o) ? INFINITY
                                                              : sqrt(h->squares[d] + square(REF_UNIT) * rounding + relative * o * o);
    }
}

static void find_spoilt(const attention_job *j, size_t b, size_t g, const head_buffers *h)
{
    const long long keys = keys_of(j, b);
    memset(h->spoilt, 0, j->vd * sizeof *h->spoilt);
    for (long long t = 0; t < keys; t++)
        for (size_t d = 0; d < j->vd; d++)
            if (!isfinite(j->v->value[value_start(j, b, g, (size_t)t) + d])) h->spoilt[d] = 1;
}

/* Finds which keys are alike. False: there is no memory. */
static bool find_alike(const attention_job *j, size_t b, size_t g, head_buffers *h)
{
    int *kinds = calloc(2 * (j->T ? j->T : 1), sizeof *kinds);
    if (!kinds) return false;
    const bool keys = find_kinds(j, j->k, b, g, j->hd, key_start, kinds),
               values = find_kinds(j, j->v, b, g, j->vd, value_start, kinds + j->T);
    if (!keys && !values) {
        free(kinds);
        return true;
    }
    h->kind_of_key = kinds, h->kind_of_value = kinds + j->T;
    h->alike = calloc(2 * alike_count * j->vd + 1, sizeof *h->alike);
    if (h->alike) h->alike_squares = h->alike + alike_count * j->vd;
    return h->alike != NULL;
}

static void one_head(void *context, size_t index)
{
    attention_job *j = context;
    const size_t of_key = 2 + probes + (j->k_weights ? ref_weight_parts : 0), of_column = 7 + ref_weight_parts;
    const size_t of_query = j->q_exact ? 0 : probes * j->hd;
    double *memory = malloc((of_key * j->T + of_column * j->vd + of_query) * sizeof *memory);
    if (!memory) {
        __atomic_store_n(&j->failed, true, __ATOMIC_RELAXED);
        return;
    }
    double *columns = memory + of_key * j->T;
    const size_t vd = j->vd;
    head_buffers h = {.score = memory,
                            .noise = memory + j->T,
                            .shifted = memory + 2 * j->T,
                            .o = columns,
                            .block = columns + vd,
                            .in_order = columns + 2 * vd,
                            .terms = columns + 3 * vd,
                            .squares = columns + 4 * vd,
                            .spoilt = columns + 5 * vd,
                            .alone = columns + 6 * vd,
                            .together = columns + 7 * vd,
                            .moved = j->k_weights ? memory + (2 + probes) * j->T : NULL,
                            .shifts = columns + of_column * vd};
    const size_t g = index % j->H / (j->H / j->KV);
    find_spoilt(j, index / j->H, g, &h);
    const bool found = find_alike(j, index / j->H, g, &h);
    if (!found) __atomic_store_n(&j->failed, true, __ATOMIC_RELAXED);
    for (size_t s = 0; s < j->S && found; s++) {
        const size_t row = index / j->H * j->S + s;
        if (ref_takes_group(j->run, row / ref_row_group, j->B * j->S)) one_query(j, index / j->H, s, index % j->H, &h);
        else
            for (size_t d = 0; d < j->vd; d++) j->o->error[(row * j->H + index % j->H) * j->vd + d] = INFINITY;
    }
    free(memory);
    free(h.kind_of_key);
    free(h.alike);
}

bool ref_attention(ref_state *r, const ir_op *op)
{
    const ir_attributes *t = ref_attributes(r, op);
    const ir_value *qv = op->inputs[0], *kv = op->inputs[1];
    attention_job j = {.run = r,
                       .t = t,
                       .B = (size_t)ref_axis(r, qv, 0),
                       .S = (size_t)ref_axis(r, qv, 1),
                       .H = (size_t)t->heads,
                       .KV = (size_t)t->kv_heads,
                       .type = ref_type(r, op->inputs[2]),
                       .keys = ref_rows_of(r, kv, (size_t)t->kv_heads),
                       .q = ref_of(r, qv),
                       .k = ref_of(r, kv),
                       .v = ref_of(r, op->inputs[2]),
                       .lengths = t->lengths ? ref_of(r, t->lengths) : NULL,
                       .first = t->first ? ref_of(r, t->first) : NULL,
                       .at = t->at ? ref_of(r, t->at) : NULL,
                       .sinks = op->input_count > 3 ? ref_of(r, op->inputs[3]) : NULL,
                       .o = ref_out(r, op)};
    j.T = j.keys.tokens;
    if (j.B * j.S * j.H * j.KV == 0 || j.H % j.KV != 0) return ref_fail(r, op, "heads do not divide");
    j.hd = j.q->count / (j.B * j.S * j.H);
    j.vd = j.o->count / (j.B * j.S * j.H);
    if (j.q->count != j.B * j.S * j.H * j.hd || j.k->count != j.B * j.T * j.KV * j.hd || j.v->count != j.B * j.T * j.KV * j.vd ||
        j.o->count != j.B * j.S * j.H * j.vd)
        return ref_fail(r, op, "queries, keys and values do not fit");
    if ((j.at && j.at->count != j.B) || (j.lengths && j.lengths->count != j.B) || (j.first && j.first->count != j.B))
        return ref_fail(r, op, "at, lengths or first do not fit");
    if ((j.sinks && j.sinks->count != j.H) || (t->alibi.count && (size_t)t->alibi.count != j.H))
        return ref_fail(r, op, "sinks or slopes do not fit the heads");
    if (!find_bias(&j)) return ref_fail(r, op, "the bias does not fit the scores");
    j.q_exact = ref_exact(j.q), j.k_exact = ref_exact(j.k), j.v_exact = ref_exact(j.v);
    if (!j.keys.cache && !j.k_exact) j.k_weights = ref_weights_of(r, kv, j.B * j.T);
    if (!j.keys.cache && !j.v_exact) j.v_weights = ref_weights_of(r, op->inputs[2], j.B * j.T);
    if (r->rules && r->rules->rounds_scores && r->rules->rounds_scores(r->rules->context, op))
        j.score_unit = ref_unit(ref_type(r, qv)), j.round_scores = r->round_stored && r->rules->numbers_of_scores;
    ref_parallel(j.B * j.H, one_head, &j);
    return !j.failed || ref_fail(r, op, "not enough memory");
}
