/* The spec reader: every shipped spec with every preset, every broken spec of specs/bad with its exact diagnostics,
 * precedence of dims, defaults, limits. TFGEN_GOLDEN_UPDATE=1 rewrites specs/bad/NAME.expect and
 * docs/tfgen-spec.schema.json. */
#include "ir/ir.h"
#include "ir/read/schema.h"
#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    arena *a;
    const char *yaml, *name;
    size_t size;
    graph_options options;
    ir_graph *p;
} reading;

static void read_body(void *argument)
{
    reading *r = argument;
    r->p = graph_read(r->a, r->yaml, r->size, r->name, &r->options);
}

static tfgen_code read_text(reading *r, const char *yaml)
{
    r->a = arena_new();
    r->yaml = yaml;
    r->size = strlen(yaml);
    if (!r->name) r->name = "t.yaml";
    return arena_run(r->a, read_body, r);
}

static char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *data = calloc(1, *size + 1);
    ck_assert_uint_eq(fread(data, 1, *size, f), *size);
    fclose(f);
    return data;
}

static tfgen_code read_file(reading *r, const char *path)
{
    r->name = path;
    r->yaml = slurp(path, &r->size);
    ck_assert_msg(r->yaml, "%s cannot be read", path);
    r->a = arena_new();
    return arena_run(r->a, read_body, r);
}

static void done(reading *r, bool file)
{
    arena_free(r->a);
    if (file) free((char *)r->yaml);
}

static bool update(void)
{
    const char *s = getenv("TFGEN_GOLDEN_UPDATE");
    return s && strcmp(s, "1") == 0;
}

static void compare_golden(const char *path, const char *got)
{
    size_t size = 0;
    if (update()) {
        FILE *f = fopen(path, "wb");
        ck_assert_ptr_nonnull(f);
        fputs(got, f);
        fclose(f);
    }
    char *expected = slurp(path, &size);
    ck_assert_msg(expected, "%s is missing; TFGEN_GOLDEN_UPDATE=1 writes it", path);
    ck_assert_msg(strcmp(expected, got) == 0, "%s:\nexpected\n%s\ngot\n%s", path, expected, got);
    free(expected);
}

START_TEST(every_broken_spec_gives_its_diagnostics)
{
    glob_t paths;
    ck_assert_int_eq(glob("specs/bad/*.yaml", 0, NULL, &paths), 0);
    ck_assert_uint_ge(paths.gl_pathc, 80);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        reading r = {0};
        char golden[300];
        ck_assert_msg(read_file(&r, paths.gl_pathv[i]) == code_bad_input, "%s was accepted", paths.gl_pathv[i]);
        snprintf(golden, sizeof golden, "%.*s.expect", (int)strlen(paths.gl_pathv[i]) - 5, paths.gl_pathv[i]);
        compare_golden(golden, arena_diagnostics(r.a));
        done(&r, true);
    }
    globfree(&paths);
}
END_TEST

START_TEST(every_doubtful_spec_is_accepted_with_its_warnings)
{
    glob_t paths;
    ck_assert_int_eq(glob("specs/warned/*.yaml", 0, NULL, &paths), 0);
    ck_assert_uint_ge(paths.gl_pathc, 6);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        reading r = {0};
        char golden[300];
        ck_assert_msg(read_file(&r, paths.gl_pathv[i]) == code_ok, "%s", arena_diagnostics(r.a));
        ck_assert_str_eq(arena_diagnostics(r.a), "");
        ck_assert_int_eq(arena_run(r.a, read_body, &r), code_ok); /* read again: each warning appears once */
        snprintf(golden, sizeof golden, "%.*s.expect", (int)strlen(paths.gl_pathv[i]) - 5, paths.gl_pathv[i]);
        compare_golden(golden, arena_warnings(r.a));
        done(&r, true);
    }
    globfree(&paths);
}
END_TEST

START_TEST(diagnostics_hold_nothing_that_a_terminal_obeys)
{
    glob_t paths;
    ck_assert_int_eq(glob("specs/bad/*.yaml", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        reading r = {0};
        read_file(&r, paths.gl_pathv[i]);
        for (const char *s = arena_diagnostics(r.a); *s; s++)
            ck_assert_msg((unsigned char)*s >= 32 || *s == '\n', "%s prints a control character", paths.gl_pathv[i]);
        done(&r, true);
    }
    globfree(&paths);
}
END_TEST

START_TEST(every_shipped_spec_is_read_with_every_preset_and_dtype)
{
    static const char *const presets[] = {NULL, "tiny-small", "tiny-medium", "exercise", "llama-1b", "llama-8b"};
    static const char *const types[] = {NULL, "f32", "f16", "bf16"};
    glob_t paths;
    ck_assert_int_eq(glob("specs/*.yaml", 0, NULL, &paths), 0);
    ck_assert_uint_ge(paths.gl_pathc, 16);
    for (size_t i = 0; i < 4 * paths.gl_pathc; i++)
        for (size_t k = 0; k < sizeof presets / sizeof *presets; k++) {
            const char *path = paths.gl_pathv[i / 4];
            bool no_llama = strstr(path, "gpt2") || strstr(path, "bert");
            if (no_llama && presets[k] && strncmp(presets[k], "llama", 5) == 0) continue;
            reading r = {.options = {.preset = presets[k], .dtype = types[i % 4]}};
            ck_assert_msg(read_file(&r, path) == code_ok, "%s", arena_diagnostics(r.a));
            ck_assert_str_eq(arena_diagnostics(r.a), "");
            done(&r, true);
        }
    globfree(&paths);
}
END_TEST

START_TEST(the_schema_in_docs_is_the_generated_one)
{
    arena *a = arena_new();
    compare_golden("docs/tfgen-spec.schema.json", schema_json(a));
    arena_free(a);
}
END_TEST

#define DIMS                                                                                                           \
    "block: t\ndtype: f32\ndims: {B: 2, S: 8, D: 16, E: D/2}\ndynamic: {S: [1, 64]}\n"                                 \
    "presets: {large: {B: 4, S: 32, D: 64}, odd: {E: 5}}\n"
#define BODY "inputs: {x: [B, S, D], z: [B, S, E]}\nops:\n  - {out: y, op: concat, in: [x, z]}\noutputs: {y: y}\n"

static long long value_of(reading *r, const char *name)
{
    dim *d = dim_find(&r->p->dims, name);
    ck_assert_ptr_nonnull(d);
    return d->value;
}

START_TEST(overrides_are_stronger_than_the_preset_and_the_preset_than_defaults)
{
    const dim_override overrides[] = {{"S", 9}, {"D", 32}, {"S", 10}};
    reading r = {.options = {.preset = "large", .overrides = overrides, .override_count = 3}};
    ck_assert_int_eq(read_text(&r, DIMS BODY), code_ok);
    ck_assert_int_eq(value_of(&r, "B"), 4);
    ck_assert_int_eq(value_of(&r, "S"), 10); /* the last override */
    ck_assert_int_eq(value_of(&r, "D"), 32);
    ck_assert_int_eq(value_of(&r, "E"), 16); /* D/2 follows D */
    done(&r, false);
}
END_TEST

START_TEST(a_preset_may_replace_an_expression)
{
    reading r = {.options = {.preset = "odd"}};
    ck_assert_int_eq(read_text(&r, DIMS BODY), code_ok);
    ck_assert_int_eq(value_of(&r, "E"), 5);
    done(&r, false);
}
END_TEST

START_TEST(dynamic_dims_stay_symbolic_and_static_ones_become_numbers)
{
    reading r = {0};
    ck_assert_int_eq(read_text(&r, DIMS BODY), code_ok);
    const ir_value *y = graph_value(r.p, "y");
    long long value;
    ck_assert(extent_is_number(&y->shape[0], &value) && value == 2);
    ck_assert(!extent_is_number(&y->shape[1], &value));
    ck_assert(extent_is_number(&y->shape[2], &value) && value == 24);
    ck_assert_int_eq(extent_high(&y->shape[1], &r.p->dims), 64);
    ck_assert_str_eq(y->output, "y");
    done(&r, false);
}
END_TEST

static void expect_error(graph_options options, const char *yaml, tfgen_code code, const char *wanted)
{
    reading r = {.options = options};
    ck_assert_int_eq(read_text(&r, yaml), code);
    ck_assert_msg(strcmp(arena_diagnostics(r.a), wanted) == 0, "expected\n%s\ngot\n%s", wanted, arena_diagnostics(r.a));
    done(&r, false);
}

START_TEST(a_wrong_override_is_an_error_without_a_place)
{
    const dim_override unknown = {"BB", 1}, zero = {"D", 0}, outside = {"S", 65}, large = {"B", 1LL << 31};
    expect_error((graph_options){.overrides = &unknown, .override_count = 1}, DIMS BODY, code_usage,
                 "t.yaml: error: there is no dim \"BB\" in this spec; did you mean B?\n");
    expect_error((graph_options){.overrides = &zero, .override_count = 1}, DIMS BODY, code_usage,
                 "t.yaml: error: D=0: a dim is from 1 to 2147483647\n");
    expect_error((graph_options){.overrides = &outside, .override_count = 1}, DIMS BODY, code_usage,
                 "t.yaml: error: S=65 is outside of its dynamic range 1 to 64\n");
    expect_error((graph_options){.overrides = &large, .override_count = 1}, DIMS BODY, code_usage,
                 "t.yaml: error: B=2147483648: a dim is from 1 to 2147483647\n");
}
END_TEST

/* If the spec and the call are both wrong, both errors are reported, and the exit code is that of a wrong spec. */
START_TEST(an_error_of_the_text_counts_more_than_one_of_the_call)
{
    reading r = {.options = {.preset = "huge"}};
    ck_assert_int_eq(read_text(&r, DIMS "dtypes: f32\n" BODY), code_bad_input);
    ck_assert_ptr_nonnull(strstr(arena_diagnostics(r.a), "there is no preset \"huge\""));
    ck_assert_ptr_nonnull(strstr(arena_diagnostics(r.a), "dtypes"));
    done(&r, false);
}
END_TEST

START_TEST(an_override_that_breaks_an_expression_says_where)
{
    const dim_override odd = {"D", 15};
    expect_error((graph_options){.overrides = &odd, .override_count = 1}, DIMS BODY, code_bad_input,
                 "t.yaml:3:30: error: D/2 does not divide exactly: 15 by 2\n"
                 "    3 | dims: {B: 2, S: 8, D: 16, E: D/2}\n"
                 "      |                              ^\n");
}
END_TEST

START_TEST(a_wrong_preset_or_dtype_names_the_right_ones)
{
    expect_error((graph_options){.preset = "huge"}, DIMS BODY, code_usage,
                 "t.yaml: error: there is no preset \"huge\" in this spec; there are large, odd\n");
    expect_error((graph_options){.dtype = "fp8"}, DIMS BODY, code_usage,
                 "t.yaml: error: \"fp8\": a spec computes in f32, f16 or bf16\n");
    expect_error((graph_options){.dtype = "i32"}, DIMS BODY, code_usage,
                 "t.yaml: error: \"i32\": a spec computes in f32, f16 or bf16\n");
}
END_TEST

START_TEST(a_dtype_override_leaves_declared_dtypes_alone)
{
    reading r = {.options = {.dtype = "f16"}};
    ck_assert_int_eq(read_text(&r, "block: t\ndtype: f32\ninputs: {x: [4, 8], z: {shape: [8], dtype: bf16}}\n"
                                   "ops:\n  - {out: y, op: mul, in: [x, z]}\noutputs: {y: y}\n"),
                     code_ok);
    ck_assert_int_eq(graph_value(r.p, "x")->type, dtype_f16);
    ck_assert_int_eq(graph_value(r.p, "z")->type, dtype_bf16);
    ck_assert_int_eq(graph_value(r.p, "y")->type, dtype_f16);
    done(&r, false);
}
END_TEST

START_TEST(attributes_have_their_defaults_filled_in)
{
    reading r = {0};
    ck_assert_int_eq(read_text(&r, "block: t\ndtype: f32\ninputs: {x: [2, 5, 64]}\nparams: {w: [64]}\nops:\n"
                                   "  - {out: n, op: rmsnorm, in: [x, w]}\n  - {out: l, op: l2norm, in: [n]}\n"
                                   "  - {out: r, op: rope, in: l, heads: 4, pairing: interleaved}\n"
                                   "  - {out: a, op: attention, in: [r, r, x], heads: 4}\noutputs: {y: a}\n"),
                     code_ok);
    const ir_attributes *norm = &r.p->ops[0]->attributes, *l2 = &r.p->ops[1]->attributes;
    const ir_attributes *rope = &r.p->ops[2]->attributes, *attention = &r.p->ops[3]->attributes;
    ck_assert_double_eq(norm->eps, 1e-5);
    ck_assert_double_eq(l2->eps, 1e-12);
    ck_assert_double_eq(rope->theta, 10000);
    ck_assert_int_eq(rope->rotary, 16);
    ck_assert_int_eq(rope->pairing, pairing_interleaved);
    ck_assert_int_eq(attention->kv_heads, 4);
    ck_assert_double_eq(attention->scale, 0.25);
    ck_assert(!attention->causal && attention->window == 0 && attention->softcap == 0);
    done(&r, false);
}
END_TEST

START_TEST(every_attribute_reaches_its_field)
{
    reading r = {0};
    const char *yaml =
        "block: t\ndtype: f16\ndims: {B: 2, S: 6, L: 9, H: 4, KV: 2, hd: 8}\n"
        "prefix: h.{layer}.\ninputs: {x: [B, S, H*hd], k: [B, S, KV*hd], pos: {shape: [B], dtype: i32, range: [0, L-S]}, n: {shape: [B], "
        "dtype: i32}}\n"
        "params: {w: {shape: [H*hd, 10], from: a.b, transpose: true}, g: {shape: [H*hd], from: {tensor: g.g, rows: [hd, 2*hd], "
        "every: 3*hd}}}\nstate: {kc: [B, KV, L, hd], vc: [B, "
        "KV, L, hd]}\n"
        "ops:\n"
        "  - {out: r, op: rope, in: [x], heads: H, pairing: half, theta: 500000, rotary: hd/2, at: pos,\n"
        "     scaling: {type: llama3, factor: 8, low_freq: 1, high_freq: 4, original: 8192}}\n"
        "  - {out: ka, op: kv_append, in: [k], state: kc, at: pos}\n  - {out: va, op: kv_append, in: [k], state: vc, "
        "at: pos}\n"
        "  - {out: a, op: attention, in: [r, ka, va], heads: H, kv_heads: KV, causal: true, window: 3, softcap: 30, "
        "scale: 0.5,\n"
        "     lengths: n, at: pos}\n"
        "  - {out: m, op: rmsnorm, in: [a, g], eps: 1.0e-6, unit_offset: true}\n"
        "  - {out: l, op: linear, in: [m, w], layout: in_out}\n  - {out: c, op: cast, in: [l], to: f32}\noutputs: {y: "
        "c}\n";
    ck_assert_msg(read_text(&r, yaml) == code_ok, "%s", arena_diagnostics(r.a));
    const ir_attributes *rope = &r.p->ops[0]->attributes, *append = &r.p->ops[1]->attributes,
                        *t = &r.p->ops[3]->attributes;
    ck_assert(rope->theta == 500000 && rope->rotary == 4 && rope->at == graph_value(r.p, "pos"));
    ck_assert(rope->scaling.kind == scaling_llama3 && rope->scaling.factor == 8 && rope->scaling.low_freq == 1);
    ck_assert(rope->scaling.high_freq == 4 && rope->scaling.original == 8192);
    ck_assert(append->state == graph_value(r.p, "kc") && graph_value(r.p, "ka")->root == append->state);
    ck_assert(t->causal && t->window == 3 && t->softcap == 30 && t->scale == 0.5 && t->kv_heads == 2);
    ck_assert(t->lengths == graph_value(r.p, "n") && t->at == graph_value(r.p, "pos"));
    ck_assert(r.p->ops[4]->attributes.unit_offset && r.p->ops[4]->attributes.eps == 1e-6);
    ck_assert_int_eq(r.p->ops[5]->attributes.layout, layout_in_out);
    ck_assert_int_eq(graph_value(r.p, "c")->type, dtype_f32);
    const ir_value *w = graph_value(r.p, "w"), *pos = graph_value(r.p, "pos");
    ck_assert(strcmp(w->from, "a.b") == 0 && w->from_transposed && !w->from_rows);
    const ir_value *g = graph_value(r.p, "g");
    ck_assert(strcmp(g->from, "g.g") == 0 && g->from_rows->first == 8 && g->from_rows->end == 16 && g->from_rows->every == 24);
    ck_assert_str_eq(r.p->prefix, "h.{layer}.");
    const char *text = ir_print(r.a, r.p); /* the text has all of it, too */
    ck_assert_ptr_nonnull(strstr(text, "from=\"g.g\" rows=8..16/24"));
    ck_assert_str_eq(ir_print(r.a, ir_read(r.a, text, strlen(text), "t.ir")), text);
    ck_assert(pos->has_range && extent_value(&pos->range_high, &r.p->dims) == 3);
    done(&r, false);
}
END_TEST

START_TEST(broadcasting_pairs_axes_from_the_right)
{
    reading r = {0};
    ck_assert_int_eq(
        read_text(&r, "block: t\ndtype: f32\ninputs: {x: [3, 1, 8], z: [5, 1]}\nops:\n"
                      "  - {out: s, op: sub, in: [x, z]}\n  - {out: y, op: mul, in: [0.5, s]}\noutputs: {y: y}\n"),
        code_ok);
    const ir_value *s = graph_value(r.p, "s"), *half = r.p->ops[1]->inputs[0];
    ck_assert_int_eq(s->rank, 3);
    ck_assert(extent_value(&s->shape[0], &r.p->dims) == 3 && extent_value(&s->shape[1], &r.p->dims) == 5);
    ck_assert_int_eq(value_columns(s), 8);
    ck_assert(half->kind == value_constant && half->constant == 0.5 && half->rank == 0);
    done(&r, false);
}
END_TEST

START_TEST(split_concat_and_reshape_keep_the_dtype_of_their_input)
{
    reading r = {0};
    ck_assert_int_eq(
        read_text(&r, "block: t\ndtype: bf16\ninputs: {x: {shape: [4, 6], dtype: f32}}\nops:\n"
                      "  - {out: [p, q], op: split, in: [x], sizes: [2, 4]}\n  - {out: c, op: concat, in: [q, p]}\n"
                      "  - {out: v, op: reshape, in: [c], shape: [2, 2, 6]}\noutputs: {y: v}\n"),
        code_ok);
    ck_assert_int_eq(value_columns(graph_value(r.p, "p")), 2);
    ck_assert_int_eq(graph_value(r.p, "q")->type, dtype_f32);
    ck_assert_int_eq(graph_value(r.p, "c")->type, dtype_f32);
    ck_assert_int_eq(graph_value(r.p, "v")->rank, 3);
    done(&r, false);
}
END_TEST

#define HEADS(dims) "block: t\ndtype: f16\ndims: {" dims "}\ndynamic: {B: [1, 4]}\n"
#define CACHES "state: {kc: [B, KV, L, hd], vc: [B, KV, L, hd]}\n"

static void expect_accepted(const char *yaml)
{
    reading r = {0};
    ck_assert_msg(read_text(&r, yaml) == code_ok, "%s", arena_diagnostics(r.a));
    ir_check(r.a, r.p, "graph_read");
    done(&r, false);
}

START_TEST(every_operand_form_of_attention_is_accepted)
{
    expect_accepted(HEADS("B: 2, S: 6, T: 7, H: 4, KV: 2, hd: 8") "inputs: {q: [B, S, H, hd], k: [B, T, KV, hd], v: "
                                                                  "[B, T, KV*hd], n: {shape: [B], dtype: i32}}\nops:\n"
                                                                  "  - {out: a, op: attention, in: [q, k, v], heads: "
                                                                  "H, kv_heads: KV, lengths: n}\noutputs: {y: a}\n");
    expect_accepted(
        HEADS("B: 2, S: 6, L: 9, H: 4, KV: 2, hd: 8") "inputs: {q: [B, S, H*hd], k: [B, S, KV, hd], pos: {shape: [B], "
                                                      "dtype: i32, range: [0, L-S]}}\n" CACHES
                                                      "ops:\n  - {out: ka, op: kv_append, in: k, state: kc, at: pos}\n"
                                                      "  - {out: va, op: kv_append, in: k, state: vc, at: pos}\n"
                                                      "  - {out: a, op: attention, in: [q, ka, va], heads: H, "
                                                      "kv_heads: KV, lengths: pos}\noutputs: {y: a}\n");
}
END_TEST

START_TEST(an_append_that_nothing_reads_is_accepted)
{
    expect_accepted(HEADS("B: 2, S: 6, L: 9, KV: 2, hd: 8") "inputs: {x: [B, S, KV*hd], pos: {shape: [B], dtype: "
                                                            "i32}}\nstate: {kc: [B, KV, L, hd]}\nops:\n"
                                                            "  - {out: ka, op: kv_append, in: x, state: kc, at: pos}\n "
                                                            " - {out: y, op: neg, in: x}\noutputs: {y: y}\n");
}
END_TEST

START_TEST(row_reductions_make_one_column)
{
    static const char *const ops[] = {"row_sum", "row_mean", "row_max", "row_min", "row_sumsq"};
    for (int i = 0; i < 5; i++) {
        reading r = {0};
        char yaml[300];
        snprintf(yaml, sizeof yaml,
                 HEADS("B: 2, S: 6, T: 7, L: 9, H: 4, KV: 2, hd: 8") "inputs: {x: [B, S, T, L, H, KV*hd]}\nops: [{out: "
                                                                     "s, op: %s, "
                                                                     "in: x}]\noutputs: {y: s}\n",
                 ops[i]);
        ck_assert_msg(read_text(&r, yaml) == code_ok, "%s", arena_diagnostics(r.a));
        ck_assert_int_eq(value_columns(graph_value(r.p, "s")), 1);
        ck_assert_int_eq(graph_value(r.p, "s")->rank, 6);
        done(&r, false);
    }
}
END_TEST

START_TEST(norms_and_products_accept_their_optional_forms)
{
    expect_accepted(
        "block: t\ndtype: f32\ninputs: {x: [2, 3, 8], z: [2, 5, 8]}\nparams: {w: [8], u: [6, 8], b: [6]}\nops:\n"
        "  - {out: n, op: layernorm, in: [x, w]}\n  - {out: p, op: softmax, in: n}\n"
        "  - {out: l, op: linear, in: [p, u, b]}\n  - {out: m, op: matmul, in: [x, z], transpose: true}\n"
        "  - {out: c, op: concat, in: [l, m]}\n  - {out: y, op: max, in: [c, 0]}\noutputs: {y: y}\n");
}
END_TEST

static char *repeat(const char *head, const char *piece, size_t times, const char *tail)
{
    size_t n = strlen(piece);
    char *s = malloc(strlen(head) + times * n + strlen(tail) + 1), *to = s + sprintf(s, "%s", head);
    for (size_t i = 0; i < times; i++) memcpy(to + i * n, piece, n);
    strcpy(to + times * n, tail);
    return s;
}

static void expect_refusal(char *yaml, const char *part)
{
    reading r = {0};
    ck_assert_int_eq(read_text(&r, yaml), code_bad_input);
    ck_assert_msg(strstr(arena_diagnostics(r.a), part), "%s is not in\n%.500s", part, arena_diagnostics(r.a));
    ck_assert_uint_lt(strlen(arena_diagnostics(r.a)), 200000);
    done(&r, false);
    free(yaml);
}

START_TEST(a_spec_beyond_the_limits_is_refused)
{
    expect_refusal(repeat("block: t # ", "x", 5 << 20, "\n"), "larger than 4 MB");
    expect_refusal(repeat("dims: ", "[", 100000, "\n"), "nested more than 16 levels deep");
    expect_refusal(repeat("ops:\n", "- {}\n", 5000, ""), "more than 4096 ops");
    expect_refusal(repeat("ops:\n", "-\n", 20000, ""), "more than 16384 items");
    /* exceeded by one */
    expect_refusal(repeat("dims: ", "[", 16, "\n"), "nested more than 16 levels deep");
    expect_refusal(repeat("ops:\n", "- {}\n", 4097, ""), "more than 4096 ops");
    expect_refusal(repeat("ops:\n", "-\n", 16385, ""), "more than 16384 items");
    expect_refusal(repeat("ops:\n", "- {out: a, op: neg, in: b}\n", 101, ""), "more than 100 errors");
    expect_refusal(repeat("ops: [", "[,,,,,,,,],", 1000, "]\n"), "not readable as YAML");
    expect_refusal(repeat("ops:\n- {out: a, op: neg, in: [", "b, ", 10000, "b]}\n"), "takes 1 input, here are 10001");
    expect_refusal(repeat("ops:\n", "- {out: a, op: neg, in: b}\n", 4000, ""), "more than 100 errors");
    expect_refusal(repeat("dims: {D: ", "(", 100000, "1}\n"), "more than 16 nested parentheses");
    expect_refusal(repeat("dims: {D: ", "9", 100000, "}\n"), "this number is too large");
    expect_refusal(repeat("ops:\n",
                          "- {out: a, in: ["
                          "b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b"
                          "]}\n",
                          15000, ""),
                   "more than 262144 YAML nodes");
    expect_refusal(repeat("dims: {? ", "x", 100000, " : 1}\n"), "cannot name a dim");
}
END_TEST

START_TEST(a_byte_order_mark_does_not_shift_columns)
{
    expect_error((graph_options){0},
                 "\xef\xbb\xbf"
                 "blok: t\ndtype: f32\ndims: {B: 2, S: 8, D: 16, E: 4}\n" BODY,
                 code_bad_input, "t.yaml:1:1: error: a spec takes no key \"blok\"; did you mean block?\n"
                 "    1 | blok: t\n      | ^\n");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("reader");
    TCase *c = tcase_create("specs");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, every_broken_spec_gives_its_diagnostics);
    tcase_add_test(c, every_doubtful_spec_is_accepted_with_its_warnings);
    tcase_add_test(c, diagnostics_hold_nothing_that_a_terminal_obeys);
    tcase_add_test(c, every_shipped_spec_is_read_with_every_preset_and_dtype);
    tcase_add_test(c, the_schema_in_docs_is_the_generated_one);
    tcase_add_test(c, overrides_are_stronger_than_the_preset_and_the_preset_than_defaults);
    tcase_add_test(c, a_preset_may_replace_an_expression);
    tcase_add_test(c, dynamic_dims_stay_symbolic_and_static_ones_become_numbers);
    tcase_add_test(c, a_wrong_override_is_an_error_without_a_place);
    tcase_add_test(c, an_error_of_the_text_counts_more_than_one_of_the_call);
    tcase_add_test(c, an_override_that_breaks_an_expression_says_where);
    tcase_add_test(c, a_wrong_preset_or_dtype_names_the_right_ones);
    tcase_add_test(c, a_dtype_override_leaves_declared_dtypes_alone);
    tcase_add_test(c, attributes_have_their_defaults_filled_in);
    tcase_add_test(c, every_attribute_reaches_its_field);
    tcase_add_test(c, broadcasting_pairs_axes_from_the_right);
    tcase_add_test(c, split_concat_and_reshape_keep_the_dtype_of_their_input);
    tcase_add_test(c, every_operand_form_of_attention_is_accepted);
    tcase_add_test(c, an_append_that_nothing_reads_is_accepted);
    tcase_add_test(c, row_reductions_make_one_column);
    tcase_add_test(c, norms_and_products_accept_their_optional_forms);
    tcase_add_test(c, a_spec_beyond_the_limits_is_refused);
    tcase_add_test(c, a_byte_order_mark_does_not_shift_columns);
    suite_add_tcase(s, c);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
