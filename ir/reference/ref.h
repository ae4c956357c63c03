/* In: a graph as read from a spec, before any pass, and its data as doubles. Out: every value in float64, with an error bound per
 * element for float32 evaluation and storage, and verdicts on device data against these. Refuses: missing data or data of the wrong size,
 * with a message.
 *
 * The reference is written by hand and shares nothing with lowering, planning, emission or the shape code. It evaluates the graph's own
 * ops: a composite op is computed by its definition.
 *
 * Tolerance. Every element carries `error`: the size of the error that a correct float32 evaluation typically stays below, as a root of
 * summed squares, because roundings behave as independent (Higham & Mary, A new approach to probabilistic rounding error analysis, SIAM J.
 * Sci. Comput. 41(5), 2019). u = 2^-24, u(t) is the unit roundoff of a storage type.
 * - Storage: u(t)|y|, half the smallest step. Every rounding error counts with its maximum, which is 1.7 to 3.5 standard deviations.
 * - Elementwise: what e does to each operand (ref_element.c), and a few u|y|.
 * - Sums: e^2 = sum w^2 e_x^2 + u^2 (max(sum of s_i^2, K y^2/3) + (K/6 + 1) sum t^2), s_i the partial sums in natural order. Adding t_i
 *   rounds the partial sum s_i: u^2 sum s_i^2. Devices add in other orders: over a random order the mean of s_i^2 is
 *   (i/K)^2 y^2 + i(K-i)/K^2 sum t^2, which sums to K y^2/3 + K/6 sum t^2. Reductions of more than 4096 terms are sums of sums, and so is
 *   their bound (ref_sum_rounding). The usual bound, 2 sqrt(K) u sum|t|, exceeds it by a factor of about sqrt(K).
 * - Softmax, attention, norms: their derivatives, written where they are computed.
 * - Errors that come from one value are one error (ref_sources.c): in x + x, x * x or fifty uses of x, the effects of x's error add up
 *   with signs, and an error that a whole row has from one number adds up along the row. Only errors of different values add as squares.
 *
 * A check passes while |device - reference| <= ref_sigmas * error. Why six: the largest of 10^9 normal errors is at 6 standard deviations
 * (further out if an error is a product of two others), `error` is 1.7 or more of them, and a device's functions may be twice as far off as
 * assumed. That leaves room: in right kernels the largest |device - reference| / (ref_sigmas * error) is 0.05 to 0.5, in wrong ones above
 * 10. A value that float32, or the dtype of storage, certainly cannot hold is infinite. If rounding decides whether it can, its error is
 * infinite, and so is the error of whatever is computed from it. */
#ifndef TFGEN_REF_H
#define TFGEN_REF_H
#include "ir/ir.h"

enum { ref_sigmas = 6 };

/* Limit of the root mean square of all elements' ratios |device - reference| / (ref_sigmas * error), a sharper test than the limit of each.
 * It is 1.5 times 0.125, the largest that a correct device had in the first 1,741 random specs at three levels each. (It was 0.077 in the
 * shipped specs and tests/specs, 0.136 in 10,186 later specs, and 0.172 where a norm over one column makes nearly all elements equal:
 * docs/verification.md.) The model takes every rounding at its maximum, also those of partial sums, so a correct device stays below 1/6,
 * the ratio if every error were as large as modelled. Elements with equal value and error have the same origin (a max, a relu or a
 * broadcast made them equal) and round alike; so if the root mean square exceeds the limit, it is taken again with equal elements counted
 * once. If it still does, it is taken of independent errors: where an error of one number reaches several elements (ref_tensor.common), how
 * far the number is off is estimated from all of them and counts once; of each element what remains counts, over its own error. Fewer than
 * ref_spread_count elements are not judged by it. */
#define REF_MOST_SPREAD 0.19
enum { ref_spread_count = 256 };

typedef struct ref_tensor {
    double *value, *error; /* error NULL: exact */
    size_t count;
    /* Per element, the largest effect on it of an error that reaches several elements, such as that of a number that is broadcast: the
     * change if that number moves by its error, and which number that is (0: there is none). NULL: no element has any. Owned by the
     * library; callers set NULL. */
    struct ref_common {
        double change;
        size_t number;
    } *common;
    double unit; /* unit roundoff of the dtype in which it is stored; 0: it is not. Set by the library */
    /* Parts of the errors that come from values which reach an element along several paths (ref_sources.c): these add linearly, other
     * errors add as squares. Owned by the library; callers set NULL. */
    struct ref_share *shares;
} ref_tensor;

/* A norm's weight folded into a linear: the packed weight is weight[n][k] * factor[k], or * (1 + factor[k]), rounded once, and the operand
 * is not multiplied by the factor: y = r * sum x (w * factor) instead of sum (x * r * factor) * w. The run fails if the graph does not
 * multiply the operand by this factor. */
typedef struct ref_fold {
    bool folds, plus_one;
    const ir_value *factor; /* graph value; NULL: not in the graph */
} ref_fold;

/* How a device computes an op. definition: the op's formula, step by step in float32, as a framework may; exact and quick: the functions
 * of the templates (FORM in ir/op.def). */
typedef enum ref_form { ref_form_definition, ref_form_exact, ref_form_quick } ref_form;

/* The rounding choices that a plan made. Any function may be NULL. */
typedef struct ref_rules {
    bool (*stored)(void *context,
                   const ir_value *graph_value); /* the value is stored, so rounded to its dtype; NULL: all are */
    ref_fold (*folded)(void *context, const ir_op *linear); /* the norm weight folded into its packed weight */
    /* K of another linear whose products the device adds up in the same accumulator, before or after this linear's; 0: none */
    long long (*continued)(void *context, const ir_op *linear);
    /* 3xTF32: an f32 product is computed as three tf32 products, whose accumulation truncates (templates/gemm/gemm_ws_split.h) */
    bool (*splits)(void *context, const ir_op *linear);
    /* the packed weight or A is terms of bf16, each multiplied apart (templates/gemm/pack.h, bf16_terms.h) */
    bool (*in_terms)(void *context, const ir_op *linear);
    ref_form (*form)(void *context, const ir_op *graph_op); /* NULL: the definition */
    bool (*rounds_scores)(void *context,
                          const ir_op *attention); /* P is rounded to the dtype before P * V */
    bool numbers_of_scores; /* with round_stored: round P's numbers, too, not only add the error; devices differ in how P rounds */
    /* Called when a result is complete (rounded if it is stored). The callee may compare it with the device's numbers, and may put these in
     * its place, with errors of 0: later ops are then checked on what the device read. */
    void (*finished)(void *context, const ir_value *graph_value, ref_tensor *t);
    /* Called for a stored result before `finished`: `open` marks elements that rounding decides, because they are near a threshold
     * (ref_sides.c) or have infinite errors. The callee may replace such an element by the device's number, with an error of 0, so that
     * later ops follow the device's choice. */
    void (*choose)(void *context, const ir_value *graph_value, const bool *open, ref_tensor *t);
    /* Compute products and attention only for some rows, spread from the first to the last. Elements of the other rows, and all that is
     * computed from them, get infinite errors, so they are not judged, up to values that the device's numbers replace. */
    bool sampled;
    /* Partial run: whether this value is wanted; NULL: all are. Only wanted values are evaluated, and what they depend on, back to stored
     * values that are not wanted: for these `take` fills in the device's numbers. */
    bool (*wanted)(void *context, const ir_value *graph_value);
    void (*take)(void *context, const ir_value *graph_value, double *value);
    void *context;
} ref_rules;

/* inputs: by value id; required for inputs, params and states, already rounded to their dtypes; borrowed for the call.
 * round_stored: stored values and results of cast are rounded; if false, rounding only adds to their errors. results: by value id; each
 * entry that is not NULL receives its value, which the caller frees with ref_free(). rules may be NULL. False: error text in `message`. */
bool ref_run(const ir_graph *graph, const ref_tensor *const inputs[], bool round_stored, const ref_rules *rules,
             ref_tensor *const results[], char *message, size_t message_size);
void ref_free(ref_tensor *t);
bool ref_copy(ref_tensor *to, const ref_tensor *from); /* overwrites `to`, without shares; false: out of memory */

/* The result of comparing device data with a tensor. NaN must meet NaN, and an infinity one of the same sign. An element with infinite
 * error (rounding decides whether it is finite) is not judged; `unjudged` counts these. */
typedef struct ref_verdict {
    double ratio;             /* largest |got - value| / (ref_sigmas * error); the check passes up to 1 */
    double difference, bound; /* |got - value| and ref_sigmas * error, at the worst element */
    size_t worst;             /* index of the element with the largest ratio */
    double rms;               /* relative root mean square error over the judged elements that are finite */
    double spread; /* root mean square of |got - value| / (ref_sigmas * error) over judged elements with an error; 0: too few */
    size_t unjudged;
} ref_verdict;
ref_verdict ref_compare(const ref_tensor *t, const double *got);
/* One element: |got - value| / (ref_sigmas * error); infinite if no bound covers it, 0 if it is not judged. */
double ref_ratio(const ref_tensor *t, size_t i, double got);
double ref_unit(dtype t); /* unit roundoff */
double ref_rms(const double *expected, const double *got, size_t count);
/* The relative RMS error that t's errors predict: a correct evaluation typically stays below it. */
double ref_rms_of_errors(const ref_tensor *t);

/* Marks an element that no kernel wrote: a NaN that no arithmetic produces, so it always fails. */
double ref_unwritten(void);
bool ref_is_unwritten(double d);
#endif
