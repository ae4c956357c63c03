/* Correlated errors: those from one source add linearly, as a correct device shows, and those from different sources as squares, so that
 * bounds stay tight. */
#include "tests/templates/float_device.h"
#include "tests/shell.h"

#define SPEC(dims, inputs, ops, output)                                                                                   \
    "block: t\ndtype: f32\ndims: " dims "\ninputs: {x: [M, K]" inputs "}\nparams: {w: [N, K], n: [N], v: [N, N]}\n"       \
    "ops: [{out: l0, op: linear, in: [x, w]}, {out: c, op: mul, in: [l0, n]}, {out: o, op: linear, in: [c, v]}, " \
    "{out: a0, op: add, in: [o, n]}, " ops "]\noutputs: {y: " output "}\n"
#define WIDE "{M: 24, K: 96, N: 64}"
#define FOUR(step) step("a0", "a1", "1") ", " step("a1", "a2", "2") ", " step("a2", "a3", "3") ", " step("a3", "a4", "4")

#define ADD_SILU(x, y, i) "{out: s" i ", op: silu, in: [" x "]}, {out: " y ", op: add, in: [" x ", s" i "]}"
#define ADD_NORM(x, y, i) "{out: s" i ", op: rmsnorm, in: [" x ", n]}, {out: " y ", op: add, in: [" x ", s" i "]}"
#define ADD_LAYERNORM(x, y, i) "{out: s" i ", op: layernorm, in: [" x ", n]}, {out: " y ", op: add, in: [" x ", s" i "]}"
#define ADD_SUM(x, y, i) "{out: s" i ", op: row_sum, in: [" x "]}, {out: " y ", op: add, in: [" x ", s" i "]}"
#define ADD_MEAN(x, y, i) \
    "{out: s" i ", op: row_sum, in: [" x "]}, {out: m" i ", op: mul, in: [s" i ", 0.0156]}, " \
    "{out: " y ", op: add, in: [" x ", m" i "]}"
#define ADD_PRODUCT(x, y, i) "{out: s" i ", op: linear, in: [" x ", v]}, {out: " y ", op: add, in: [" x ", s" i "]}"
#define SAME_PRODUCT(x, y, i) "{out: s" i ", op: linear, in: [a0, v]}, {out: " y ", op: add, in: [" x ", s" i "]}"

static const char *const cases[] = {
    "tests/specs/reuse/doubling.yaml", "tests/specs/reuse/squares.yaml", "tests/specs/reuse/used50.yaml",
    SPEC(WIDE, "", FOUR(ADD_SILU), "a4"), SPEC(WIDE, "", FOUR(ADD_NORM), "a4"), SPEC(WIDE, "", FOUR(ADD_LAYERNORM), "a4"),
    SPEC(WIDE, "", FOUR(ADD_MEAN), "a4"), SPEC("{M: 200, K: 96, N: 1}", "", FOUR(ADD_PRODUCT), "a4"),
    SPEC("{M: 200, K: 96, N: 2}", "", FOUR(ADD_SUM), "a4"), SPEC(WIDE, "", FOUR(SAME_PRODUCT), "a4")};
enum { case_count = sizeof cases / sizeof *cases };
static const char *const types[] = {"bf16", "f16", "f32"};

static bench *open_case(const char *of, const char *type)
{
    const graph_options options = {.dtype = type};
    char *file = strchr(of, '\n') ? NULL : whole_file(of);
    bench *b = bench_open(file ? file : of, strlen(file ? file : of), &options);
    bench_fill(b, 5);
    free(file);
    return b;
}

START_TEST(a_correct_device_stays_below_bounds_where_a_value_meets_itself_again)
{
    bench *b = open_case(cases[_i / 3], types[_i % 3]);
    float_device d = {.b = b, .order = summing_strided};
    bench_run(b, false, NULL);
    float_device_run(&d);
    for (int i = 0; i < b->graph->value_count; i++) {
        const ir_value *v = b->graph->values[i];
        if (!v->output) continue;
        const ref_verdict verdict = float_device_judge(&d, v);
        ck_assert_msg(verdict.ratio < 0.6 && verdict.ratio > 0.05 && verdict.spread < 0.16, "%s in %s: ratio %g, RMS %g", cases[_i / 3],
                      types[_i % 3], verdict.ratio, verdict.spread);
    }
    float_device_free(&d);
    bench_close(b);
}
END_TEST

/* ---- errors of a number that is broadcast */
/* Norms of rows of one number, which are -1 or 1 except where the number is near 0, spread over N columns. Row 0 is near 0: its sign is
 * open, as the numbers of m that it adds up are rounded. */
static bench *open_jump(void)
{
    char text[512];
    snprintf(text, sizeof text, "block: t\ndtype: bf16\ndims: {M: 8, K: 15, N: 33}\ninputs: {x: [M, K]}\nparams: {w: [K], v: [N]}\nops:\n"
             "  - {out: m, op: mul, in: [x, w]}\n  - {out: s, op: row_sum, in: [m]}\n  - {out: n, op: rmsnorm, in: [s], eps: 1.0e-6}\n"
             "  - {out: y, op: mul, in: [n, v]}\noutputs: {y: y}\n");
    bench *b = bench_open(text, strlen(text), NULL);
    bench_fill(b, 5);
    double *x = bench_data(b, "x"), *w = bench_data(b, "w");
    for (int k = 0; k < 15; k++) w[k] = 1 + k / 128.0;
    for (int i = 0; i < 8 * 15; i++) x[i] = i < 15 ? 0 : 1 + i / 128.0;
    x[0] = w[1], x[1] = -w[0]; /* the products' sum is 0 */
    bench_run(b, false, NULL);
    return b;
}

/* Ratios of the elements of row 0, which its number explains, and of the others, of which half are positive. */
static const struct {
    double jump, others;
    double least, most; /* of the spread; for all elements alike it is in the comment */
} jumps[] = {{0.66, 0, 0.02, 0.06},    /* 0.233 */
             {0.66, 0.05, 0.05, 0.1},  /* 0.24 */
             {0.66, 0.22, 0.25, 0.4},  /* 0.31: a wrong kernel */
             {0.1, 0.25, 0.22, 0.4}};  /* 0.24: another one */

START_TEST(an_error_that_several_elements_have_from_one_number_is_one_sample)
{
    bench *b = open_jump();
    const ref_tensor *y = bench_result(b, "y");
    const size_t N = y->count / 8;
    double got[8 * 33];
    ck_assert_ptr_nonnull(y->common);
    for (size_t i = 0; i < y->count; i++) {
        const struct ref_common *c = &y->common[i];
        ck_assert(c->number == y->common[i / N * N].number && (i < N) == (c->number == y->common->number));
        const double ratio = i < N ? jumps[_i].jump * (c->change > 0 ? 1 : -1) : i % 2 ? jumps[_i].others : -jumps[_i].others;
        got[i] = y->value[i] + ratio * ref_sigmas * y->error[i];
    }
    ref_tensor all = *y;
    all.common = NULL;
    ck_assert_double_gt(ref_compare(&all, got).spread, REF_MOST_SPREAD);
    const ref_verdict v = ref_compare(y, got);
    ck_assert_msg(v.spread >= jumps[_i].least && v.spread <= jumps[_i].most && v.ratio <= 1, "RMS %g, ratio %g", v.spread, v.ratio);
    got[5] = y->value[5] + 1.01 * ref_sigmas * y->error[5]; /* the bound of each stays */
    ck_assert_double_gt(ref_compare(y, got).ratio, 1);
    bench_close(b);
}
END_TEST

/* ---- attention: errors of keys and values that are alike */
/* Attention of three keys. Rows of v are 1, 1 and `third` in all columns, rows of k the same times 0.5, and each has an error. */
static const struct {
    double third;
    bool of_keys;          /* the errors are those of k, not of v */
    double least, most;    /* of the output's error, over what it would be if the three errors were independent */
} three_keys[] = {{1, false, 1.7, 1.75}, {1.5, false, 1.26, 1.28}, {-1, false, 0.99, 1.01}, {-1, true, 1.62, 1.64}};

START_TEST(errors_of_equal_or_opposite_rows_add_up_in_attention)
{
    static const char text[] = "block: t\ndtype: f32\ndims: {S: 1, T: 3, H: 1, hd: 2}\ninputs: {q: [1, S, H*hd], k: [1, T, H*hd], "
                               "v: [1, T, H*hd]}\nops: [{out: y, op: attention, in: [q, k, v], heads: H, scale: 1}]\noutputs: {y: y}\n";
    bench *b = bench_open(text, strlen(text), NULL);
    const double third = three_keys[_i].third, e = 1e-3;
    double *q = bench_data(b, "q"), *k = bench_data(b, "k"), *v = bench_data(b, "v"), errors[6], p[3], sum = 0, o = 0, alone = 0;
    const bool of_keys = three_keys[_i].of_keys;
    q[0] = 0.5, q[1] = 0;
    for (int i = 0; i < 6; i++) v[i] = i < 4 ? 1 : third, k[i] = v[i] / 2, errors[i] = e;
    b->data[bench_id(b, of_keys ? "k" : "v")].error = errors;
    bench_run(b, false, NULL);
    for (int t = 0; t < 3; t++) sum += p[t] = exp(q[0] * k[2 * t]);
    for (int t = 0; t < 3; t++) o += (p[t] /= sum) * v[2 * t];
    for (int t = 0; t < 3; t++) alone += pow(of_keys ? p[t] * (v[2 * t] - o) * q[0] * e : p[t] * e, 2);
    const double floor = 1e-7, ratio = bench_result(b, "y")->error[0] / sqrt(alone + floor * floor);
    ck_assert_msg(ratio >= three_keys[_i].least && ratio <= three_keys[_i].most, "case %d: %g times", _i, ratio);
    b->data[bench_id(b, of_keys ? "k" : "v")].error = NULL;
    bench_close(b);
}
END_TEST

/* Keys or values of 48 tokens are products of rows of K numbers and of one weight, which has errors. Their effect on the output is taken
 * over many weights. */
static const struct {
    const char *weight, *made; /* made: how keys are made from the product; ropes turn errors at different tokens by different angles */
    long long K;
    double least; /* share of the error */
} weights_of[] = {{"w", "mul, in: [k, 1.5]", 2, 0.5},
                  {"w", "mul, in: [k, 1.5]", 3, 0.5},
                  {"w", "reshape, in: [k], shape: [1, S, H*hd]", 8, 0.5},
                  {"w", "add, in: [k, 1.5]", 24, 0.5},
                  {"w", "rope, in: [k], heads: H, pairing: half, theta: 100", 3, 0.35},
                  {"u", "neg, in: [k]", 1, 0.5},
                  {"u", "neg, in: [k]", 3, 0.5},
                  {"u", "neg, in: [k]", 24, 0.5}};

START_TEST(an_error_of_a_weight_reaches_all_keys)
{
    enum { columns = 8, tokens = 48, tries = 60 };
    char text[640];
    snprintf(
        text, sizeof text,
        "block: t\ndtype: f32\ndims: {S: %d, K: %lld, H: 2, hd: 4}\ninputs: {x: [1, S, K], q: [1, S, H*hd]}\nparams: {w: [H*hd, K], u: "
        "[H*hd, K]}\nops:\n  - {out: k, op: linear, in: [x, w]}\n  - {out: r, op: %s}\n"
        "  - {out: v, op: linear, in: [x, u]}\n  - {out: y, op: attention, in: [q, r, v], heads: H, scale: 0.5}\noutputs: {y: y}\n",
        tokens, weights_of[_i].K, weights_of[_i].made);
    bench *b = bench_open(text, strlen(text), NULL);
    bench_fill(b, 11);
    for (size_t i = 0; weights_of[_i].K == 1 && i < tokens; i++) bench_data(b, "x")[i] = 1; /* one number for all tokens */
    for (size_t i = 0; i < tokens * columns; i++) bench_data(b, "q")[i] /= 16; /* so that all keys have nearly the same weight */
    ref_tensor *weight = &b->data[bench_id(b, weights_of[_i].weight)];
    const size_t count = weight->count, results = columns * tokens;
    double *errors = calloc(count, sizeof *errors), *was = malloc(count * sizeof *was);
    double right[columns * tokens], bound[columns * tokens], squares[columns * tokens] = {0};
    for (size_t i = 0; i < count; i++) errors[i] = fabs(weight->value[i]) / 256;
    memcpy(was, weight->value, count * sizeof *was);
    weight->error = errors;
    bench_run(b, false, NULL);
    memcpy(right, bench_result(b, "y")->value, sizeof right);
    memcpy(bound, bench_result(b, "y")->error, sizeof bound);
    weight->error = NULL;
    unsigned random = 5;
    for (int n = 0; n < tries; n++) {
        for (size_t i = 0; i < count; i++) {
            random = random * 1664525u + 1013904223u;
            weight->value[i] = was[i] + (random >> 16 & 1 ? errors[i] : -errors[i]);
        }
        bench_run(b, false, NULL);
        for (size_t i = 0; i < results; i++) squares[i] += pow(bench_result(b, "y")->value[i] - right[i], 2) / tries;
    }
    double took = 0, foreseen = 0;
    for (size_t i = 0; i < results; i++) took += squares[i], foreseen += bound[i] * bound[i];
    const double ratio = sqrt(took / foreseen);
    ck_assert_msg(ratio > weights_of[_i].least && ratio < 1.05, "case %d: %g of the error", _i, ratio);
    free(errors);
    free(was);
    bench_close(b);
}
END_TEST

/* Six additions, each with its own rounding, which later additions double: at most 64 times the root of seven. */
START_TEST(a_doubled_error_is_twice_as_large)
{
    bench *b = open_case(cases[0], types[_i]);
    bench_run(b, false, NULL);
    const ref_tensor *a = bench_result(b, "a0"), *y = bench_result(b, "y");
    for (size_t i = 0; i < y->count; i++)
        ck_assert_msg(y->error[i] >= 64 * a->error[i] && y->error[i] < 64 * 2.65 * a->error[i], "%g of %g", y->error[i], a->error[i]);
    bench_close(b);
}
END_TEST

/* Errors of two products; of two halves of one value; of a value and its negative, which a device may not cancel exactly. */
START_TEST(independent_errors_add_as_squares)
{
    static const char yaml[] =
        "block: t\ndtype: f32\ndims: {M: 24, K: 96, N: 64}\ninputs: {x: [M, K]}\nparams: {w: [N, K], v: [N, K]}\n"
        "ops: [{out: p, op: linear, in: [x, w]}, {out: q, op: linear, in: [x, v]}, {out: s, op: add, in: [p, q]}, "
        "{out: [l, r], op: split, in: [p], sizes: [N/2, N/2]}, {out: h, op: add, in: [l, r]}, {out: d, op: sub, in: [p, p]}]\n"
        "outputs: {s: s, h: h, d: d}\n";
    bench *b = open_case(yaml, types[_i]);
    bench_run(b, false, NULL);
    const ref_tensor *p = bench_result(b, "p"), *q = bench_result(b, "q"), *s = bench_result(b, "s");
    const ref_tensor *h = bench_result(b, "h"), *d = bench_result(b, "d");
    const double unit = ref_unit(b->graph->type);
    for (size_t i = 0; i < p->count; i++) {
        const double e = hypot(hypot(p->error[i], q->error[i]), unit * s->value[i]);
        ck_assert_double_eq_tol(s->error[i] / e, 1, 1e-2);
        ck_assert_double_eq_tol(d->error[i] / p->error[i], sqrt(2), 1e-2);
    }
    for (size_t i = 0; i < h->count; i++) {
        const size_t l = i / 32 * 64 + i % 32;
        const double e = hypot(hypot(p->error[l], p->error[l + 32]), unit * h->value[i]);
        ck_assert_double_eq_tol(h->error[i] / e, 1, 1e-2);
    }
    bench_close(b);
}
END_TEST

/* As in a spec that computes a gate and its value from the same weight. */
START_TEST(the_same_op_on_the_same_values_has_the_same_error)
{
    static const char yaml[] =
        "block: t\ndtype: f32\ndims: {M: 24, K: 96, N: 64}\ninputs: {x: [M, K]}\nparams: {w: [N, K], v: [N, K]}\n"
        "ops: [{out: p, op: linear, in: [x, w]}, {out: q, op: linear, in: [x, w]}, {out: r, op: linear, in: [x, v]}, "
        "{out: e, op: silu, in: [p]}, {out: f, op: silu, in: [q]}, {out: s, op: add, in: [p, q]}, {out: t, op: add, in: [e, f]}, "
        "{out: u, op: add, in: [p, r]}]\noutputs: {s: s, t: t, u: u}\n";
    bench *b = open_case(yaml, "f32");
    bench_run(b, false, NULL);
    const ref_tensor *p = bench_result(b, "p"), *e = bench_result(b, "e");
    for (size_t i = 0; i < p->count; i++) {
        ck_assert_double_ge(bench_result(b, "s")->error[i], 2 * p->error[i]);
        ck_assert_double_ge(bench_result(b, "t")->error[i], 2 * e->error[i]);
        ck_assert_double_lt(bench_result(b, "u")->error[i], 1.01 * hypot(p->error[i], bench_result(b, "r")->error[i]) + 1e-7);
    }
    bench_close(b);
}
END_TEST

/* More error sources exist than a tensor can keep: the largest are kept. */
START_TEST(the_largest_of_many_sources_is_kept)
{
    enum { links = 40 };
    char yaml[8192];
    int n = snprintf(yaml, sizeof yaml,
                     "block: t\ndtype: f32\ndims: {M: 24, K: 960, N: 64}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                     "ops:\n  - {out: a0, op: linear, in: [x, w]}\n  - {out: s0, op: mul, in: [a0, 1]}\n");
    for (int i = 1; i < links; i++) n += snprintf(yaml + n, sizeof yaml - (size_t)n, "  - {out: a%d, op: silu, in: [a%d]}\n", i, i - 1);
    for (int i = 1; i < links; i++)
        n += snprintf(yaml + n, sizeof yaml - (size_t)n, "  - {out: s%d, op: add, in: [s%d, a%d]}\n", i, i - 1, i);
    snprintf(yaml + n, sizeof yaml - (size_t)n, "outputs: {y: s%d}\n", links - 1);
    bench *b = open_case(yaml, "f32");
    for (size_t i = 0; i < 24 * 960; i++) bench_data(b, "x")[i] = 1 + fabs(bench_data(b, "x")[i]) / 8;
    for (size_t i = 0; i < 64 * 960; i++) bench_data(b, "w")[i] = 1; /* sums so large that silu leaves them as they are */
    bench_run(b, false, NULL);
    const ref_tensor *a = bench_result(b, "a0"), *y = bench_result(b, "s39");
    for (size_t i = 0; i < y->count; i++)
        ck_assert_msg(y->error[i] >= links * a->error[i] && y->error[i] < 1.25 * links * a->error[i], "%g of %g", y->error[i], a->error[i]);
    bench_close(b);
}
END_TEST

/* ---- long chains: each op reads the value before it, and one of the last few again */
typedef struct link {
    op_kind kind;
    int of[2]; /* links; of[1] -1: one operand */
} link;
enum { most_links = 1000, chain_rows = 4, chain_columns = 16, chain_count = chain_rows * chain_columns };

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

/* Functions are bounded, so numbers stay near 1. */
static void draw_chain(link *chain, int count, const op_kind *kinds, int kind_count, uint64_t seed)
{
    for (int i = 1; i < count; i++) {
        const int back = i < 5 ? i : 5;
        chain[i] = (link){kinds[draw(&seed) % (uint64_t)kind_count], {i - 1, i - 1 - (int)(draw(&seed) % (uint64_t)back)}};
        if (op_table[chain[i].kind].least_inputs == 1) chain[i].of[1] = -1;
    }
}

static char *chain_spec(const link *chain, int count)
{
    char *yaml = calloc((size_t)count + 20, 160), *at = yaml;
    at += sprintf(at, "block: t\ndtype: f32\ndims: {M: %d, N: %d}\ninputs: {x: [M, N]}\nops:\n  - {out: a0, op: mul, in: [x, 1.1]}\n",
                  chain_rows, chain_columns);
    for (int i = 1; i < count; i++) {
        at += sprintf(at, "  - {out: a%d, op: %s, in: [a%d", i, op_table[chain[i].kind].name, chain[i].of[0]);
        at += chain[i].of[1] < 0 ? sprintf(at, "]}\n") : sprintf(at, ", a%d]}\n", chain[i].of[1]);
    }
    sprintf(at, "outputs: {y: a%d}\n", count - 1);
    return yaml;
}

/* Derivative of a_i by its operand k, or the rounding of a_i: computed independently, from the definitions. */
static double slope_of(const link *l, int k, const double *v, int i)
{
    const double x = v[l->of[0]], y = l->of[1] < 0 ? 0 : v[l->of[1]], s = 1 / (1 + exp(-x));
    switch (l->kind) {
    case op_add: return 1;
    case op_sub: return k ? -1 : 1;
    case op_mul: return k ? x : y;
    case op_tanh: return 1 - v[i] * v[i];
    case op_sin: return cos(x);
    case op_cos: return -sin(x);
    case op_sigmoid: return s * (1 - s);
    case op_max: return (x >= y) == (k == 0);
    case op_min: return (x <= y) == (k == 0);
    default: ck_abort_msg("no slope");
    }
}

static double rounding_of(const link *l, double x, double v)
{
    const double u = ref_unit(dtype_f32);
    switch (l->kind) {
    case op_max:
    case op_min: return 0;
    case op_tanh:
    case op_sin:
    case op_cos: return 2 * u;
    case op_sigmoid: return (3 + fabs(x) * (1 - v)) * u * fabs(v);
    default: return u * fabs(v);
    }
}

/* The effect of independent roundings of all links on the last one, by derivatives (reverse accumulation). */
static double error_of_chain(const link *chain, int count, const double *v, double first)
{
    static double along[most_links];
    memset(along, 0, sizeof along);
    along[count - 1] = 1;
    double squares = 0;
    for (int i = count - 1; i > 0; i--) {
        const double own = along[i] * rounding_of(&chain[i], v[chain[i].of[0]], v[i]);
        squares += own * own;
        for (int k = 0; k < 2; k++)
            if (chain[i].of[k] >= 0) along[chain[i].of[k]] += along[i] * slope_of(&chain[i], k, v, i);
    }
    return sqrt(squares + along[0] * first * along[0] * first);
}

static double ratio_at(bench *b, const link *chain, int count, int element)
{
    static double v[most_links];
    char name[16];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "a%d", i);
        v[i] = bench_result(b, name)->value[element];
    }
    const double e = error_of_chain(chain, count, v, bench_result(b, "a0")->error[element]);
    return bench_result(b, name)->error[element] / e;
}

/* A chain's bound is compared with what independent roundings of its links do, so small that derivatives describe it. The bound
 * is not smaller, and at most 1.6 times as large however long the chain is: errors that cancel in a - f(a) are not carried on, and a
 * maximum is off by no more than the worse of its operands. */
static const struct { int count, kind_count; op_kind kinds[7]; } chains[] = {
    {300, 3, {op_add, op_tanh, op_sin}},
    {300, 3, {op_sub, op_tanh, op_sin}},
    {300, 4, {op_max, op_min, op_tanh, op_cos}},
    {300, 7, {op_add, op_sub, op_mul, op_tanh, op_sin, op_cos, op_sigmoid}},
    {1000, 3, {op_sub, op_tanh, op_sin}},
    {1000, 4, {op_max, op_min, op_tanh, op_cos}},
    {1000, 7, {op_add, op_sub, op_mul, op_tanh, op_sin, op_cos, op_sigmoid}}};
enum { chains_count = sizeof chains / sizeof *chains };

START_TEST(a_long_chain_with_reuse_has_the_bound_of_its_roundings)
{
    link chain[most_links];
    const int n = chains[_i].count;
    draw_chain(chain, n, chains[_i].kinds, chains[_i].kind_count, 3);
    char *yaml = chain_spec(chain, n);
    bench *b = open_case(yaml, "f32");
    bench_run(b, false, NULL);
    for (int i = 0; i < chain_count; i++) {
        const double r = ratio_at(b, chain, n, i);
        ck_assert_msg(r > 0.99 && r < 1.6, "element %d: the bound is %g times what roundings do", i, r);
    }
    bench_close(b);
    free(yaml);
}
END_TEST

/* Values of either side of a threshold are accepted. There is no bound where a number in between gives more, where two thresholds meet, or
 * where 0 is a pole. */
START_TEST(a_threshold_has_the_bound_of_both_its_sides)
{
    static const char yaml[] =
        "block: t\ndtype: f32\ndims: {N: 3}\ninputs: {x: [N], z: [N]}\nops:\n  - {out: r, op: relu, in: [x]}\n"
        "  - {out: c, op: max, in: [r, 1.0e-20]}\n  - {out: m, op: div, in: [r, c]}\n  - {out: l, op: log, in: [c]}\n"
        "  - {out: q, op: square, in: [x]}\n  - {out: qs, op: add, in: [q, 1.0e-30]}\n  - {out: peak, op: div, in: [x, qs]}\n"
        "  - {out: rz, op: relu, in: [z]}\n  - {out: cz, op: max, in: [rz, 1.0e-20]}\n  - {out: two, op: div, in: [r, cz]}\n"
        "  - {out: pole, op: div, in: [r, x]}\noutputs: {m: m, l: l, peak: peak, two: two, pole: pole}\n";
    double error[] = {1e-7, 1e-7, 1e-7};
    bench *b = open_case(yaml, "f32");
    const double x[] = {3e-7, -3e-7, 1}, z[] = {1e-7, 1e-7, 1}, side[] = {0, 1, 1}; /* the first two may be on either side */
    memcpy(bench_data(b, "x"), x, sizeof x);
    memcpy(bench_data(b, "z"), z, sizeof z);
    b->data[bench_id(b, "x")].error = b->data[bench_id(b, "z")].error = error;
    bench_run(b, false, NULL);
    for (int i = 0; i < 3; i++) {
        const ref_tensor *m = bench_result(b, "m");
        const double ratio = ref_ratio(m, (size_t)i, side[i]);
        ck_assert_msg(isfinite(m->error[i]) && ratio <= (i < 2 ? 0.5 : 0), "%d: %g, error %g", i, m->value[i], m->error[i]);
        ck_assert(i == 2 ? m->error[i] < 1e-6 : m->error[i] >= 1.0 / 6 && m->error[i] <= 0.51);
        ck_assert(isfinite(bench_result(b, "l")->error[i]));
        ck_assert_int_eq(isinf(bench_result(b, "peak")->error[i]) != 0, i < 2);
        ck_assert_int_eq(isinf(bench_result(b, "two")->error[i]) != 0, i < 2);
        ck_assert_int_eq(isinf(bench_result(b, "pole")->error[i]) != 0, i < 2);
    }
    b->data[bench_id(b, "x")].error = b->data[bench_id(b, "z")].error = NULL;
    bench_close(b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sources of errors");
    TCase *c = tcase_create("sources");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, a_correct_device_stays_below_bounds_where_a_value_meets_itself_again, 0, 3 * case_count);
    tcase_add_loop_test(c, a_doubled_error_is_twice_as_large, 0, 3);
    tcase_add_loop_test(c, independent_errors_add_as_squares, 0, 3);
    tcase_add_loop_test(c, an_error_that_several_elements_have_from_one_number_is_one_sample, 0, sizeof jumps / sizeof *jumps);
    tcase_add_loop_test(c, errors_of_equal_or_opposite_rows_add_up_in_attention, 0, sizeof three_keys / sizeof *three_keys);
    tcase_add_loop_test(c, an_error_of_a_weight_reaches_all_keys, 0, sizeof weights_of / sizeof *weights_of);
    tcase_add_test(c, the_same_op_on_the_same_values_has_the_same_error);
    tcase_add_test(c, the_largest_of_many_sources_is_kept);
    tcase_add_test(c, a_threshold_has_the_bound_of_both_its_sides);
    tcase_add_loop_test(c, a_long_chain_with_reuse_has_the_bound_of_its_roundings, 0, chains_count);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
