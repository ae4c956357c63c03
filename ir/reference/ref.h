/* In: a graph as read from a spec, before any pass, and its data as doubles. Out: every value in float64 with a bound of what float32
 * evaluation and storage may add to it, element by element, and verdicts of device data against those. Refuses: data that is missing or
 * does not fit, with a sentence.
 *
 * The reference is written by hand and shares nothing with lowering, planning, emission or the shape code. It works on the graph's own ops:
 * a composite op is its definition here.
 *
 * Tolerance. Every element carries `error`: the size of the error that a correct float32 evaluation typically stays below, as a root of
 * summed squares, because roundings behave as independent (Higham & Mary, A new approach to probabilistic rounding error analysis, SIAM J.
 * Sci. Comput. 41(5), 2019). u = 2^-24, u(t) is the unit roundoff of a storage type.
 * - Storage: u(t)|y|, half the smallest step; every rounding is taken at its maximum, 1.7 to 3.5 standard deviations.
 * - Elementwise: what e does to each operand (ref_element.c), and a few u|y|.
 * - Sums: e^2 = sum w^2 e_x^2 + u^2 (max(sum of s_i^2, K y^2/3) + (K/6 + 1) sum t^2), s_i the partial sums in natural order. Adding t_i
 *   rounds the partial sum s_i: u^2 sum s_i^2. Devices add in other orders: over a random order the mean of s_i^2 is
 *   (i/K)^2 y^2 + i(K-i)/K^2 sum t^2, which sums to K y^2/3 + K/6 sum t^2. Reductions of more than 4096 terms are sums of sums, and so is
 *   their bound (ref_sum_rounding). It is what 2 sqrt(K) u sum|t| bounds from above, without that formula's excess of about sqrt(K).
 * - Softmax, attention, norms: their derivatives, written where they are computed.
 * - Errors that come from one value are one error (ref_sources.c): what x + x, x * x or fifty uses of x do to it adds up with signs, and
 *   what a row has from one number adds up along it. Only errors of different values add as squares.
 *
 * A check passes while |device - reference| <= ref_sigmas * error. Six: one for a device whose functions are twice as far off as assumed,
 * the rest for the largest of 10^9 normal numbers (6 standard deviations) when an error is a product of two others and so has a longer
 * tail. It leaves room: a right kernel shows largest ratios of 0.05 to 0.5, a wrong one above 10. What float32, or the dtype of storage,
 * surely cannot hold is infinite; where that depends on rounding the error is infinite, and so is the error of whatever is computed from
 * it. */
#ifndef TFGEN_REF_H
#define TFGEN_REF_H
#include "ir/ir.h"

enum { ref_sigmas = 6 };

/* All elements together are judged more sharply than one: the root mean square of their ratios may be 1.5 times the largest that was seen
 * of a right device in the first 1,741 drawn specs at three levels each, 0.125 (0.077 of the shipped specs and those of tests/specs; of
 * 10,186 later 0.136, and 0.172 where a norm of one number a row makes nearly one number of all: docs/verification.md). Roundings are
 * taken at their maximum and sums as if each rounding of a partial sum had that size, so it stays below 1/6, where every error is as large
 * as the model takes it. Elements with the same value and error come of the same numbers (a max, a relu or a broadcast made them equal) and
 * round alike: where the mean is larger than that, they count as one. Of fewer than ref_spread_count elements it says little. */
#define REF_MOST_SPREAD 0.19
enum { ref_spread_count = 256 };

typedef struct ref_tensor {
    double *value, *error; /* error NULL: exact */
    size_t count;
    /* Which parts of the errors come from values that reach an element by several ways (ref_sources.c): these add up, where other errors
     * cancel. The library's own; callers leave it NULL. */
    struct ref_share *shares;
} ref_tensor;

/* A linear's packed weight is weight[n][k] * factor[k], or * (1 + factor[k]), rounded once, and its operand has not been multiplied by the
 * factor: y = r * sum x (w * factor) for y = sum (x * r * factor) * w. Refused where the operand has no such factor. */
typedef struct ref_fold {
    bool folds, plus_one;
    const ir_value *factor; /* of the graph; NULL: the graph has no such value */
} ref_fold;

/* Which function a device computes an op by. The definition: as the op's formula says, op by op in float32, as a framework may; the others
 * are the templates' (FORM in ir/op.def). */
typedef enum ref_form { ref_form_definition, ref_form_exact, ref_form_quick } ref_form;

/* What a plan does where rounding is its choice. Any function may be NULL. */
typedef struct ref_rules {
    bool (*stored)(void *context,
                   const ir_value *graph_value); /* rounded to its dtype in memory; NULL: every result is */
    ref_fold (*folded)(void *context, const ir_op *linear); /* what is multiplied into its packed weight */
    /* a product of f32 is made of three of tf32, whose sums are truncated (templates/gemm/gemm_ws_split.h) */
    bool (*splits)(void *context, const ir_op *linear);
    ref_form (*form)(void *context, const ir_op *graph_op); /* NULL: the definition */
    bool (*rounds_scores)(void *context,
                          const ir_op *attention); /* exponentials are rounded to the dtype before they meet v */
    bool numbers_of_scores; /* with round_stored: as numbers, too, not only in errors; which numbers is a device's choice */
    /* A result is complete, rounded if it is stored. The callee may compare it, and may replace its numbers by the
     * device's own and set its errors to 0, so that what follows is checked on the device's own inputs. */
    void (*finished)(void *context, const ir_value *graph_value, ref_tensor *t);
    /* Of a stored result, before `finished`: elements that are `open` are choices of rounding, as those beside a threshold are
     * (ref_sides.c), or have infinite errors. The callee may give one the device's number and the error 0, so that what follows is judged
     * by that choice. */
    void (*choose)(void *context, const ir_value *graph_value, const bool *open, ref_tensor *t);
    /* Products and attention are computed for some rows alone, spread over all from the first to the last; elements of the others, and what
     * follows from them, have infinite errors, so nobody judges them. Of values that go on with the device's numbers that is all. */
    bool sampled;
    /* Of a run for some values alone: whether this is one of them; NULL: all are. Only what those are made of is evaluated, back to values
     * that are stored, of which `take` fills in the device's numbers. */
    bool (*wanted)(void *context, const ir_value *graph_value);
    void (*take)(void *context, const ir_value *graph_value, double *value);
    void *context;
} ref_rules;

/* inputs: by value id; needed for inputs, params and states, already rounded to their dtypes; they are read, and not copied.
 * round_stored: numbers are rounded where they are stored (and by cast), else only their errors tell of it. results: by value id; where
 * not NULL, receives the value, to be freed by ref_free(). rules may be NULL. False: `message` says why. */
bool ref_run(const ir_program *graph, const ref_tensor *const inputs[], bool round_stored, const ref_rules *rules,
             ref_tensor *const results[], char *message, size_t message_size);
void ref_free(ref_tensor *t);
bool ref_copy(ref_tensor *to, const ref_tensor *from); /* without shares, over what `to` has; false: no memory */

/* Device data against t. Where the reference says NaN, it must be NaN; where infinite, infinite with the same sign. Where the error is
 * infinite, rounding decides whether it is a number at all: such an element is not judged, and counted. */
typedef struct ref_verdict {
    double ratio;             /* largest |got - value| / (ref_sigmas * error); the check passes up to 1 */
    double difference, bound; /* at the worst element */
    size_t worst;
    double rms;               /* relative root mean square error over the judged elements that are finite */
    double spread; /* root mean square of |got - value| / (ref_sigmas * error) over the judged elements with an error; 0 of too few */
    size_t unjudged;
} ref_verdict;
ref_verdict ref_compare(const ref_tensor *t, const double *got);
/* Of one element: |got - value| / (ref_sigmas * error); infinite where no bound covers it, 0 where it is not judged. */
double ref_ratio(const ref_tensor *t, size_t i, double got);
double ref_unit(dtype t); /* unit roundoff */
double ref_rms(const double *expected, const double *got, size_t count);
/* The same of what the errors of t say: what a correct evaluation typically stays below. */
double ref_rms_of_errors(const ref_tensor *t);

/* What stands in device data for an element that no kernel wrote: a NaN that no arithmetic makes, and never right. */
double ref_unwritten(void);
bool ref_is_unwritten(double d);
#endif
