/* The work of every stage is linear in a spec's ops: counts executed basic blocks (ir/ and gen/ are compiled with
 * -fsanitize-coverage=trace-pc here) for a spec and for one twice as long. No test measures time. */
#include "gen/gen.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long steps;
void __sanitizer_cov_trace_pc(void);
__attribute__((visibility("default"))) void __sanitizer_cov_trace_pc(void) { steps++; }

typedef struct build {
    arena *a;
    const char *text;
    fusion_level level;
    plan *p;
} build;

static void build_body(void *argument)
{
    build *b = argument;
    const target_info *target = target_find("sm_90a");
    const graph_options options = {0};
    const fuse_options fusion = {.level = b->level};
    arena_source(b->a, "scale.yaml", b->text, strlen(b->text));
    b->p = plan_choose(b->a, fuse(b->a, lower(b->a, graph_read(b->a, b->text, strlen(b->text), "scale.yaml", &options)), &fusion),
                       device_model_default(b->a, target), NULL);
    emit(b->a, b->p);
}

static int count_in(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) n++;
    return n;
}

enum { shared_ops = 60 };

/* Op i reads what the two before it made: paths from the last op back to the first grow like Fibonacci's numbers. */
static void write_fibonacci(text *t, const char *first, const char *second)
{
    for (int i = 0; i < shared_ops; i++) {
        text_printf(t, "  - {out: s%d, op: add, in: [", i);
        if (i < 2) text_printf(t, "%s, ", i == 0 ? first : second);
        else text_printf(t, "s%d, ", i - 2);
        if (i < 1) text_printf(t, "%s]}\n", second);
        else text_printf(t, "s%d]}\n", i - 1);
    }
}

static void write_head(text *t, const char *inputs)
{
    text_printf(t, "block: shared\ndtype: f32\ndims: {M: 4, N: 64}\ninputs: {%s}\nops:\n", inputs);
}

static void sources_with_sharing(arena *a, int form, text *spec)
{
    *spec = (text){.a = a};
    if (form == 0) { /* each op squares the one before */
        write_head(spec, "x: [M, N]");
        for (int i = 0; i < shared_ops; i++)
            text_printf(spec, i ? "  - {out: s%d, op: add, in: [s%d, s%d]}\n" : "  - {out: s%d, op: add, in: [x, x]}\n", i, i - 1, i - 1);
        text_printf(spec, "outputs: {o: s%d}\n", shared_ops - 1);
    } else if (form == 1) {
        write_head(spec, "x: [M, N], y: [M, N]");
        write_fibonacci(spec, "x", "y");
        text_printf(spec, "outputs: {o: s%d}\n", shared_ops - 1);
    } else { /* one number per row */
        write_head(spec, "x: [M, N]");
        text_printf(spec, "  - {out: a, op: row_sum, in: [x]}\n  - {out: b, op: row_max, in: [x]}\n");
        write_fibonacci(spec, "a", "b");
        text_printf(spec, "  - {out: z, op: mul, in: [x, s%d]}\noutputs: {o: z}\n", shared_ops - 1);
    }
}

START_TEST(an_op_with_many_uses_is_computed_once)
{
    text spec;
    build b = {.a = arena_new(), .level = (fusion_level)(_i % 3)};
    sources_with_sharing(b.a, _i / 3, &spec);
    b.text = spec.data;
    ck_assert_msg(arena_run(b.a, build_body, &b) == code_ok, "%s", arena_diagnostics(b.a));
    int adds = 0;
    for (int i = 0; i < b.p->launch_count; i++) adds += count_in(b.p->launches[i].spec_header, "= op_add(");
    ck_assert_int_eq(adds, shared_ops);
    arena_free(b.a);
}
END_TEST

/* ---- long specs */
enum { stage_read, stage_lower, stage_fuse, stage_plan, stage_print, stage_parse, stage_emit, stage_manifest, stages };
static const char *const stage_names[stages] = {"reading",  "lowering", "fusion",   "planning",
                                                "printing", "parsing",  "emission", "the manifest"};

typedef struct long_spec {
    text *t;
    int n;
} long_spec;

static void begin(long_spec *s, const char *inputs, const char *params, int count)
{
    text_printf(s->t, "block: long\ndtype: bf16\ndims: {M: 64, D: 64}\ninputs: {%s}\n", inputs);
    if (params) text_printf(s->t, "params: {");
    for (int i = 0; params && i < count; i++)
        for (const char *p = params; *p; p++)
            text_printf(s->t, p[1] ? "%c%d: [D, D], " : "%c%d: [D, D]%s", *p, i, i + 1 < count ? ", " : "}\n");
    text_printf(s->t, "ops:\n");
}

static void end(long_spec *s, const char *last, int index) { text_printf(s->t, "outputs: {out: %s%d}\n", last, index); }

static void chain(long_spec *s)
{
    begin(s, "a0: [M, D]", NULL, 0);
    for (int i = 0; i < s->n; i++) text_printf(s->t, "  - {out: a%d, op: silu, in: [a%d]}\n", i + 1, i);
    end(s, "a", s->n);
}

static void sharing(long_spec *s)
{
    begin(s, "a0: [M, D], a1: [M, D]", NULL, 0);
    for (int i = 0; i < s->n; i++) text_printf(s->t, "  - {out: a%d, op: add, in: [a%d, a%d]}\n", i + 2, i, i + 1);
    end(s, "a", s->n + 1);
}

static void fan_out(long_spec *s)
{
    begin(s, "x: [M, D]", NULL, 0);
    for (int i = 0; i < s->n / 2; i++) text_printf(s->t, "  - {out: a%d, op: exp, in: [x]}\n", i);
    text_printf(s->t, "  - {out: b0, op: neg, in: [a0]}\n");
    for (int i = 1; i < s->n / 2; i++) text_printf(s->t, "  - {out: b%d, op: add, in: [b%d, a%d]}\n", i, i - 1, i);
    end(s, "b", s->n / 2 - 1);
}

static void small_linears(long_spec *s)
{
    begin(s, "x: [M, D]", "w", s->n);
    for (int i = 0; i < s->n; i++) text_printf(s->t, "  - {out: a%d, op: linear, in: [x, w%d]}\n", i, i);
    text_printf(s->t, "outputs: {");
    for (int i = 0; i < s->n; i++) text_printf(s->t, "o%d: a%d%s", i, i, i + 1 < s->n ? ", " : "}\n");
}

static void layers_of_products(long_spec *s)
{
    const int n = s->n / 4;
    begin(s, "r0: [M, D]", "wu", n);
    for (int i = 0; i < n; i++)
        text_printf(s->t,
                    "  - {out: a%d, op: linear, in: [r%d, w%d]}\n  - {out: g%d, op: gelu_tanh, in: [a%d]}\n"
                    "  - {out: d%d, op: linear, in: [g%d, u%d]}\n  - {out: r%d, op: add, in: [d%d, r%d]}\n",
                    i, i, i, i, i, i, i, i, i + 1, i, i);
    end(s, "r", n);
}

static void norms(long_spec *s)
{
    const int n = s->n / 2;
    text_printf(s->t, "block: long\ndtype: bf16\ndims: {M: 64, D: 64}\ninputs: {r0: [M, D]}\nparams: {");
    for (int i = 0; i < n; i++) text_printf(s->t, "w%d: [D]%s", i, i + 1 < n ? ", " : "}\nops:\n");
    for (int i = 0; i < n; i++)
        text_printf(s->t, "  - {out: h%d, op: rmsnorm, in: [r%d, w%d]}\n  - {out: r%d, op: add, in: [h%d, r%d]}\n", i, i, i, i + 1, i, i);
    end(s, "r", n);
}

static void views(long_spec *s)
{
    const int n = s->n / 4;
    begin(s, "r0: [M, D]", NULL, 0);
    for (int i = 0; i < n; i++)
        text_printf(s->t,
                    "  - {out: [a%d, b%d], op: split, in: [r%d], sizes: [D/2, D/2]}\n  - {out: e%d, op: exp, in: [a%d]}\n"
                    "  - {out: c%d, op: concat, in: [e%d, b%d]}\n  - {out: r%d, op: reshape, in: [c%d], shape: [M, D]}\n",
                    i, i, i, i, i, i, i, i, i + 1, i);
    text_printf(s->t, "  - {out: z%d, op: neg, in: [r%d]}\n", n, n);
    end(s, "z", n);
}

static void many_outputs(long_spec *s)
{
    begin(s, "x: [M, D]", NULL, 0);
    for (int i = 0; i < s->n; i++) text_printf(s->t, "  - {out: a%d, op: exp, in: [x]}\n", i);
    text_printf(s->t, "outputs: {");
    for (int i = 0; i < s->n; i++) text_printf(s->t, "o%d: a%d%s", i, i, i + 1 < s->n ? ", " : "}\n");
}

static void blocks(long_spec *s)
{
    const int n = s->n / 8;
    text_printf(s->t, "block: long\ndtype: bf16\ndims: {M: 64, D: 64}\ninputs: {r0: [1, M, D]}\nparams: {");
    for (int i = 0; i < n; i++)
        text_printf(s->t, "n%d: [D], q%d: [D, D], k%d: [D, D], v%d: [D, D], p%d: [D, D]%s", i, i, i, i, i, i + 1 < n ? ", " : "}\nops:\n");
    for (int i = 0; i < n; i++) {
        text_printf(s->t, "  - {out: h%d, op: rmsnorm, in: [r%d, n%d]}\n", i, i, i);
        for (const char *c = "qkv"; *c; c++) text_printf(s->t, "  - {out: %cl%d, op: linear, in: [h%d, %c%d]}\n", *c, i, i, *c, i);
        text_printf(s->t,
                    "  - {out: t%d, op: rope, in: [ql%d], heads: 4, pairing: half}\n"
                    "  - {out: a%d, op: attention, in: [t%d, kl%d, vl%d], heads: 4, causal: true}\n"
                    "  - {out: o%d, op: linear, in: [a%d, p%d]}\n  - {out: r%d, op: add, in: [o%d, r%d]}\n",
                    i, i, i, i, i, i, i, i, i, i + 1, i, i);
    }
    end(s, "r", n);
}

/* A binary tree of splits, whose leaves are views; exp of each leaf; and a binary tree of concats that joins the results. */
static void trees_of_views(long_spec *s)
{
    int leaves = 1;
    while (4 * leaves <= s->n) leaves *= 2;
    text_printf(s->t, "block: long\ndtype: bf16\ndims: {M: 64, D: %d}\ninputs: {s1: [M, D]}\nops:\n", leaves);
    for (int i = 1, row = 1; i < leaves; i++) {
        if (i == 2 * row) row = i;
        text_printf(s->t, "  - {out: [s%d, s%d], op: split, in: [s%d], sizes: [%d, %d]}\n", 2 * i, 2 * i + 1, i, leaves / row / 2,
                    leaves / row / 2);
    }
    for (int i = leaves; i < 2 * leaves; i++) text_printf(s->t, "  - {out: c%d, op: exp, in: [s%d]}\n", i, i);
    for (int i = leaves - 1; i > 0; i--) text_printf(s->t, "  - {out: c%d, op: concat, in: [c%d, c%d]}\n", i, 2 * i, 2 * i + 1);
    end(s, "c", 1);
}

static void wide_concat(long_spec *s)
{
    begin(s, "x: [M, D]", NULL, 0);
    for (int i = 0; i < s->n; i++) text_printf(s->t, "  - {out: a%d, op: exp, in: [x]}\n", i);
    for (int i = 0; i < s->n / 16; i++) {
        text_printf(s->t, "  - {out: c%d, op: concat, in: [", i);
        for (int k = 0; k < 16; k++) text_printf(s->t, "a%d%s", 16 * i + k, k < 15 ? ", " : "]}\n");
    }
    text_printf(s->t, "outputs: {");
    for (int i = 0; i < s->n / 16; i++) text_printf(s->t, "o%d: c%d%s", i, i, i + 1 < s->n / 16 ? ", " : "}\n");
}

static void chain_of_views(long_spec *s)
{
    begin(s, "a0: [M, D]", NULL, 0);
    for (int i = 0; i < s->n; i++)
        text_printf(s->t, "  - {out: a%d, op: reshape, in: [a%d], shape: [%s]}\n", i + 1, i, i % 2 ? "M, D" : "M/2, 2*D");
    text_printf(s->t, "  - {out: z%d, op: neg, in: [a%d]}\n", s->n, s->n);
    end(s, "z", s->n);
}

static void layers_of_attention(long_spec *s)
{
    begin(s, "r0: [1, M, D]", NULL, 0);
    for (int i = 0; i < s->n; i++)
        text_printf(s->t, "  - {out: r%d, op: attention, in: [r%d, r%d, r%d], heads: 4, causal: true}\n", i + 1, i, i / 2, i);
    end(s, "r", s->n);
}

static void biases(long_spec *s)
{
    text_printf(s->t, "block: long\ndtype: bf16\ndims: {M: 64, D: 64}\ninputs: {a0: [M, D]}\nparams: {");
    for (int i = 0; i < s->n; i++) text_printf(s->t, "b%d: [D]%s", i, i + 1 < s->n ? ", " : "}\nops:\n");
    for (int i = 0; i < s->n; i++) text_printf(s->t, "  - {out: a%d, op: add, in: [a%d, b%d]}\n", i + 1, i, i);
    end(s, "a", s->n);
}

/* Each op reads the first value, the one at half of its position, and the one before it. */
static void skips(long_spec *s)
{
    begin(s, "a0: [M, D]", NULL, 0);
    for (int i = 0; i < s->n; i++)
        if (i % 3 == 0) text_printf(s->t, "  - {out: a%d, op: softmax, in: [a%d]}\n", i + 1, i);
        else text_printf(s->t, "  - {out: a%d, op: add, in: [a%d, a%d]}\n", i + 1, i, i % 3 == 1 ? i / 2 : 1);
    end(s, "a", s->n);
}

static void products_that_share_a_residual(long_spec *s)
{
    const int n = s->n / 2;
    begin(s, "x: [M, D]", "w", n);
    text_printf(s->t, "  - {out: y, op: exp, in: [x]}\n");
    for (int i = 0; i < n; i++)
        text_printf(s->t, "  - {out: l%d, op: linear, in: [y, w%d]}\n  - {out: a%d, op: add, in: [l%d, y]}\n", i, i, i, i);
    text_printf(s->t, "outputs: {");
    for (int i = 0; i < n; i++) text_printf(s->t, "o%d: a%d%s", i, i, i + 1 < n ? ", " : "}\n");
}

/* Ops drawn by a seed: kinds of ops of a block, with operands nearby or anywhere before, and all unused values as outputs. */
static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static void drawn(long_spec *s, unsigned seed)
{
    static const char *const unary[] = {"silu", "exp", "softmax", "l2norm", "gelu_tanh", "neg"};
    unsigned state = seed;
    const unsigned near = 2 + draw(&state, 62), far = draw(&state, 8); /* far / 8: share of operands that are drawn from all earlier ops */
    bool *read = calloc((size_t)s->n + 1, 1);
    text_printf(s->t, "block: long\ndtype: bf16\ndims: {M: 64, D: 64}\ninputs: {a0: [1, M, D]}\nparams: {w: [D, D]}\nops:\n");
    for (int i = 0; i < s->n; i++) {
        int of[3] = {0};
        const unsigned what = draw(&state, 16);
        for (int k = 0; k < (what < 6 || what > 13 ? 1 : what < 11 ? 2 : what < 13 ? 1 : 3); k++) {
            of[k] = draw(&state, 8) < far ? (int)draw(&state, (unsigned)i + 1)
                                          : i - (int)draw(&state, near < (unsigned)i + 1 ? near : (unsigned)i + 1);
            read[of[k]] = true;
        }
        text_printf(s->t, "  - {out: a%d, ", i + 1);
        if (what < 6) text_printf(s->t, "op: %s, in: [a%d]}\n", unary[what], of[0]);
        else if (what < 11) text_printf(s->t, "op: %s, in: [a%d, a%d]}\n", what % 2 ? "add" : "mul", of[0], of[1]);
        else if (what < 13) text_printf(s->t, "op: linear, in: [a%d, w]}\n", of[0]);
        else if (what < 14) text_printf(s->t, "op: attention, in: [a%d, a%d, a%d], heads: 4}\n", of[0], of[1], of[2]);
        else if (what < 15) text_printf(s->t, "op: rope, in: [a%d], heads: 4, pairing: half}\n", of[0]);
        else text_printf(s->t, "op: reshape, in: [a%d], shape: [1, M, D]}\n", of[0]);
    }
    text_printf(s->t, "outputs: {");
    for (int i = 1; i < s->n; i++)
        if (!read[i]) text_printf(s->t, "o%d: a%d, ", i, i);
    free(read);
    text_printf(s->t, "o: a%d}\n", s->n);
}

static void drawn_1(long_spec *s) { drawn(s, 1); }
static void drawn_2(long_spec *s) { drawn(s, 2); }
static void drawn_3(long_spec *s) { drawn(s, 3); }

/* The ops of a block with operands near and far, for which fusion needs several rounds. */
static void mixed(long_spec *s)
{
    static const char *const kinds[] = {"add", "mul", "linear", "rmsnorm", "softmax"};
    static const char *const second[] = {", a%d", ", a%d", ", w", ", g", ""};
    unsigned state = 1;
    bool *read = calloc((size_t)s->n + 1, 1);
    text_printf(s->t, "block: long\ndtype: bf16\ndims: {M: 64, D: 64}\ninputs: {a0: [M, D]}\nparams: {w: [D, D], g: [D]}\nops:\n");
    for (int i = 0; i < s->n; i++) {
        const unsigned kind = draw(&state, 5), near = i < 8 ? (unsigned)i + 1 : 8;
        int of[2];
        for (int k = 0; k < 2; k++) of[k] = draw(&state, 5) ? i - (int)draw(&state, near) : (int)draw(&state, (unsigned)i + 1);
        read[of[0]] = true;
        if (kind < 2) read[of[1]] = true;
        text_printf(s->t, "  - {out: a%d, op: %s, in: [a%d", i + 1, kinds[kind], of[0]);
        text_printf(s->t, second[kind], of[1]);
        text_printf(s->t, "]}\n");
    }
    text_printf(s->t, "outputs: {");
    for (int i = 1; i < s->n; i++)
        if (!read[i]) text_printf(s->t, "o%d: a%d, ", i, i);
    free(read);
    text_printf(s->t, "o: a%d}\n", s->n);
}

/* Layers that each append to a cache of their own and read it. */
static void caches(long_spec *s)
{
    const int n = s->n / 4;
    text_printf(s->t,
                "block: long\ndtype: bf16\ndims: {M: 1, D: 64}\ninputs: {r0: [2, M, D], at: {shape: [2], dtype: i32, range: [0, 14]}}\n"
                "state: {");
    for (int i = 0; i < n; i++) text_printf(s->t, "c%d: [2, 4, 16, 16]%s", i, i + 1 < n ? ", " : "}\nops:\n");
    for (int i = 0; i < n; i++)
        text_printf(s->t,
                    "  - {out: k%d, op: kv_append, in: [r%d], state: c%d, at: at}\n  - {out: e%d, op: exp, in: [r%d]}\n"
                    "  - {out: a%d, op: attention, in: [e%d, k%d, k%d], heads: 4, at: at, causal: true}\n"
                    "  - {out: r%d, op: add, in: [a%d, e%d]}\n",
                    i, i, i, i, i, i, i, i, i, i + 1, i, i);
    end(s, "r", n);
}

/* Products whose operands are copied to rows that tensor loads can read, and products of a value that exists only in kernels. */
static void odd_products(long_spec *s)
{
    const int n = s->n / 2;
    text_printf(s->t, "block: long\ndtype: bf16\ndims: {M: 64, D: 67}\ninputs: {x0: [M, D]");
    for (int i = 1; i < n; i++) text_printf(s->t, ", x%d: [M, D]", i);
    text_printf(s->t, "}\nparams: {w: [D, D]}\nops:\n");
    for (int i = 0; i < n; i++)
        text_printf(s->t, "  - {out: a%d, op: linear, in: [x%d, w]}\n  - {out: b%d, op: linear, in: [a%d, w]}\n", i, i, i, i);
    text_printf(s->t, "outputs: {");
    for (int i = 0; i < n; i++) text_printf(s->t, "o%d: b%d%s", i, i, i + 1 < n ? ", " : "}\n");
}

/* kernels: how many a spec of 64 ops has at each level; more would mean that fusion stopped early. growth: by how many tenths a stage's
 * steps may grow from `ops` ops to twice as many; 20 is linear. Drawn graphs take more: one fusion makes others possible, so fusion goes
 * round several times, each time over all ops: 25 times for 512 ops and 37 for 2048 (mixed: 10, from 1000 ops on 11). */
static const struct {
    void (*write)(long_spec *s);
    const char *name;
    int kernels[3], growth, ops;
} forms[] = {
    {chain, "a chain", {64, 1, 1}, 22, 512},
    {sharing, "sharing", {64, 1, 1}, 22, 512},
    {fan_out, "fan-out", {64, 1, 1}, 22, 512},
    {small_linears, "linears of one input", {64, 1, 1}, 22, 512},
    {layers_of_products, "layers of products", {64, 32, 32}, 22, 512},
    {norms, "norms", {64, 32, 4}, 22, 512},
    {views, "views", {49, 49, 33}, 22, 512},
    {many_outputs, "outputs", {64, 1, 1}, 22, 512},
    {blocks, "blocks", {64, 40, 24}, 22, 512},
    {trees_of_views, "trees of views", {96, 96, 43}, 22, 512},
    {wide_concat, "wide concats", {68, 5, 1}, 22, 512},
    {chain_of_views, "a chain of views", {1, 1, 1}, 22, 512},
    {layers_of_attention, "layers of attention", {64, 64, 64}, 22, 512},
    {biases, "params", {64, 1, 1}, 22, 512},
    {skips, "skips", {64, 22, 3}, 22, 512},
    {products_that_share_a_residual, "a shared residual", {64, 1, 1}, 22, 512},
    {odd_products, "odd products", {64, 64, 64}, 22, 512},
    {caches, "caches", {64, 46, 31}, 22, 512},
    {mixed, "mixed", {64, 39, 23}, 22, 1024},
    {drawn_1, "drawn 1", {61, 25, 20}, 28, 512},
    {drawn_2, "drawn 2", {61, 25, 20}, 28, 512},
    {drawn_3, "drawn 3", {61, 25, 20}, 28, 512},
};

typedef struct measure {
    arena *a;
    const char *spec;
    fusion_level level;
    unsigned long long spent[stages];
    int ops;        /* after lowering */
    size_t emitted; /* bytes that emission allocated */
    int kernels, launches;
} measure;

static void spend(measure *m, int stage)
{
    m->spent[stage] = steps;
    steps = 0;
}

static void measure_body(void *argument)
{
    measure *m = argument;
    const target_info *target = target_find("sm_90a");
    const graph_options options = {0};
    const fuse_options fusion = {.level = m->level};
    const size_t size = strlen(m->spec);
    arena_source(m->a, "long.yaml", m->spec, size);
    steps = 0;
    const ir_graph *p = graph_read(m->a, m->spec, size, "long.yaml", &options);
    spend(m, stage_read);
    p = lower(m->a, p);
    spend(m, stage_lower);
    p = fuse(m->a, p, &fusion);
    spend(m, stage_fuse);
    m->kernels = p->kernel_count;
    m->ops = p->op_count;
    plan *made = plan_choose(m->a, p, device_model_default(m->a, target), NULL);
    spend(m, stage_plan);
    const char *printed = ir_print(m->a, made->ir);
    spend(m, stage_print);
    ir_read(m->a, printed, strlen(printed), "long.ir");
    spend(m, stage_parse);
    m->launches = made->launch_count + made->pack_count;
    m->emitted = arena_used(m->a);
    emit(m->a, made);
    m->emitted = arena_used(m->a) - m->emitted;
    spend(m, stage_emit);
    manifest_json(m->a, made);
    spend(m, stage_manifest);
}

static void run_measure(measure *m, const char *name)
{
    const tfgen_code code = arena_run(m->a, measure_body, m);
    ck_assert_msg(code == code_ok, "%s: %.2000s", name, arena_diagnostics(m->a));
    arena_free(m->a);
}

static measure measured(int form, fusion_level level, int ops)
{
    measure m = {.a = arena_new(), .level = level};
    text spec = {.a = m.a};
    forms[form].write(&(long_spec){&spec, ops});
    m.spec = spec.data;
    run_measure(&m, forms[form].name);
    return m;
}

/* A kernel's own text and arguments, and the data for making them, are a few KB for each op; templates, 60 KB and more, are shared. */
static void must_be_small(int form, fusion_level level, const measure *m)
{
    enum { most_bytes = 24 << 10 };
    ck_assert_msg(m->emitted <= (size_t)(m->launches + m->ops) * most_bytes,
                  "%s at level %d: emission asks for %zu bytes for %d ops in %d kernels", forms[form].name, (int)level, m->emitted, m->ops,
                  m->launches);
}

/* A spec twice as long takes twice the steps; a quadratic part of a tenth of the steps would be noticed. */
START_TEST(twice_as_many_ops_are_planned_and_emitted_in_twice_the_steps)
{
    const int form = _i / 3, ops = forms[form].ops;
    const fusion_level level = (fusion_level)(_i % 3);
    const measure one = measured(form, level, ops), two = measured(form, level, 2 * ops);
    for (int i = 0; i < stages; i++)
        ck_assert_msg(10 * two.spent[i] <= (unsigned)forms[form].growth * one.spent[i],
                      "%s at level %d: %s takes %llu steps for %d ops, %llu for %d", forms[form].name, (int)level, stage_names[i],
                      one.spent[i], ops, two.spent[i], 2 * ops);
    const int most = forms[form].kernels[level] * (2 * ops / 64 + 1);
    ck_assert_msg(two.kernels <= most, "%s at level %d: %d kernels; fused, they are at most %d", forms[form].name, (int)level, two.kernels,
                  most);
    must_be_small(form, level, &two);
}
END_TEST

START_TEST(a_spec_of_4000_ops_is_emitted_at_every_level)
{
    const int form = _i < 3 ? 0 : 4; /* form 0: a chain; 4: layers of products */
    const measure m = measured(form, (fusion_level)(_i % 3), 4000);
    ck_assert_int_ge(m.launches, 4000 / 64);
    if (_i == 0) ck_assert_int_eq(m.launches, 4000);
    must_be_small(form, (fusion_level)(_i % 3), &m);
}
END_TEST

static measure of_a_product(const char *dims)
{
    measure m = {.a = arena_new(), .level = fusion_tile};
    m.spec = arena_printf(m.a,
                          "block: product\ndtype: bf16\ndims: %s\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                          "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n",
                          dims);
    run_measure(&m, dims);
    return m;
}

/* For a product of a million tiles the model looks at a few rounds of workgroups, not at all of them. */
START_TEST(a_large_product_is_planned_in_few_more_steps_than_a_small_one)
{
    const measure small = of_a_product("{M: 256, K: 256, N: 256}"), large = of_a_product("{M: 1000000, K: 8192, N: 65536}");
    ck_assert_msg(large.spent[stage_plan] <= 4 * small.spent[stage_plan],
                  "planning takes %llu steps for a small product, %llu for a large one", small.spent[stage_plan], large.spent[stage_plan]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("scale");
    TCase *t = tcase_create("sharing");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, an_op_with_many_uses_is_computed_once, 0, 9);
    suite_add_tcase(s, t);
    TCase *l = tcase_create("long");
    const int count = 3 * (int)(sizeof forms / sizeof *forms);
    tcase_set_timeout(l, 120);
    TCase *more = tcase_create("more long");
    tcase_set_tags(more, "long");
    tcase_set_timeout(more, 120);
    suite_add_tcase(s, more);
    /* Each form with all fusions; every third without any, which makes the most kernels. Levels in between run no other passes. */
    for (int i = 0; i < count; i++)
        tcase_add_loop_test(i % 3 == fusion_tile || i % 9 == fusion_none ? l : more,
                            twice_as_many_ops_are_planned_and_emitted_in_twice_the_steps, i, i + 1);
    tcase_add_test(l, a_large_product_is_planned_in_few_more_steps_than_a_small_one);
    tcase_add_loop_test(l, a_spec_of_4000_ops_is_emitted_at_every_level, 0, 6);
    suite_add_tcase(s, l);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
