/* In: golden files of IR text, programs broken on purpose, mutated text. Out: Check's count. Refuses: a rule of the verifier that no
 * mutation triggers. TFGEN_GOLDEN_UPDATE=1 rewrites the files. */
#define _GNU_SOURCE
#include "ir/check/check.h"
#include "ir/fuse/fuse.h"
#include "tests/ir/ir_golden.h"

static glob_t ir_files, lower_files;

typedef struct text_test {
    attempt t;
    const char *path, *text;
    size_t size;
    const char *result, *again;
    ir_graph *ir;
    void (*change)(ir_graph *p);
} text_test;

static void print_text(void *argument)
{
    text_test *t = argument;
    t->result = ir_print(t->t.a, ir_read(t->t.a, t->text, t->size, t->path));
}

static void lower_text(void *argument)
{
    text_test *t = argument;
    t->result = ir_print(t->t.a, lower(t->t.a, ir_read(t->t.a, t->text, t->size, t->path)));
}

START_TEST(text_is_read_and_printed_byte_for_byte)
{
    arena *a = arena_new();
    text_test t = {.path = ir_files.gl_pathv[_i]};
    t.text = read_text_file(a, t.path);
    t.size = strlen(t.text);
    attempt_run(&t.t, print_text, &t);
    ck_assert_msg(t.t.code == code_ok, "%s", t.t.errors);
    if (golden_updates()) {
        FILE *f = fopen(t.path, "wb");
        fputs(t.result, f);
        fclose(f);
    } else ck_assert_str_eq(t.result, t.text);
    arena_free(t.t.a);
    arena_free(a);
}
END_TEST

START_TEST(each_op_is_lowered_as_its_file_says)
{
    golden g = read_golden(lower_files.gl_pathv[_i]);
    text_test t = {.path = g.path, .text = g.before, .size = strlen(g.before)};
    attempt_run(&t.t, lower_text, &t);
    ck_assert_msg(t.t.code == code_ok, "%s", t.t.errors);
    compare_golden(&g, t.result);
    arena_free(t.t.a);
    arena_free(g.a);
}
END_TEST

#define HEAD "ir 1 t\ntype f32\nlevel none\ndim  M = 2 in 1..9\n"
#define X HEAD "in   %x f32[M,4]\n"

/* A second append after %c, of state `state`. */
#define APPENDS(state) HEAD "in   %k f32[M,1,4]\nin   %at i32[M]\nstate %s f32[M,2,8,2]\n\n" \
    "%c f32[M,2,8,2] in %s+0/2 = kv_append %k at=%at state=%s #0\n%d f32[M,2,8,2] in %s+0/2 = kv_append %k at=%at state=" state " #1\n"

/* Text that the reader refuses, and the message. */
static const struct {
    const char *text, *message;
} refused[] = {
    {"", "t.ir:1:1: error: the line ends where \"ir\" should follow"},
    {"ir 2 t\n", "the text is of version 2; this tfgen reads version 1"},
    {"ir 1 t\ntype bf17\n", "t.ir:2:6: error: bf17 is no dtype; did you mean bf16?"},
    {HEAD "in   %x f32[Q,4]\n", "there is no dim Q"},
    {HEAD "in   %x f32[M,M]\n%y f32[M,M] = neg %x #0\n", "the last axis is dynamic"},
    {HEAD "in   %x f32[M,1,1,1,1,1,1]\n", "more than 6 axes"},
    {HEAD "in   %x f32[99999999999999999999]\n", "too large"},
    {HEAD "in   %x f32[0]\n", "shapes: %x: an axis may be below 1"},
    {HEAD "in   %x f32[M,2147483647,1024]\n", "%x is too large"},
    {X "in   %x f32[4]\n", "t.ir:6:6: error: a second value named %x"},
    {X "%y f32[M,4] = negg %x #0\n", "negg is no op; did you mean neg?"},
    {X "%y f32[M,4] = neg %z #0\n", "t.ir:6:19: error: no line above makes %z"},
    {X "%y f32[M,4] = neg %x, %x #0\n", "neg takes at most 1 operands"},
    {X "%y f32[M,4] = add %x #0\n", "add takes at least 2 operands"},
    {X "%y f32[M,4] = neg %x heads=2 #0\n", "neg takes no heads"},
    {X "%y f32[M,4] = neg %x\n", "the line ends where # and the number of the graph op should follow"},
    {X "%y f32[M,5] = neg %x #0\n", "t.ir:6:1: error: shapes: neg %y: an operand does not broadcast"},
    {X "%y f32[M,4] in %q+0/4 = neg %x #0\n", "no line makes %q"},
    {X "out  %q as y\n%y f32[M,4] = neg %x #0\n", "no line makes %q"},
    {X "out  %number.1 as y\n%y f32[M,4] = add %x, 2 #0\n", "no line makes %number.1"},
    {X "%y f32[M,4] = cast %x to=bf16 #0\n", "the result has another dtype than `to`"},
    {X "%y i32[M,4] = neg %x #0\n", "attributes: neg %y: the result is i32"},
    {APPENDS("%c"), "t.ir:10:1: error: shapes: kv_append %d: the state is not declared as one"},
    {APPENDS("%s"), "t.ir:10:1: error: states: %s is written by %c already"},
    {X "kernel k0 {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n  }\n}\nnote needs-whole-rows %x -> %y: why\n",
     "t.ir:11:6: error: needs-whole-rows is no reason; did you mean needs-whole-row?"},
    {X "kernel k0 {\n", "should follow"},
    {X "kernel k0 {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n  }\n}\n%z f32[M,4] = neg %x #0\n",
     "a kernel or a note should stand here"},
    {X "kernel k0 {\n  phase a : rows after b {\n", "no phase above is named b"},
    {X "kernel k0 {\n  phase a : column {\n", "column is no family"},
    {X "kernel k0 {\n}\n", "one-phase: kernel k0 has no phase"},
    {X "kernel k0 {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n    tile threads=64 team=8 threads=32\n",
     "t.ir:9:28: error: a second threads"},
    {HEAD "dim  M = 3\n", "t.ir:5:6: error: a second dim named M"},
    {HEAD "dim  a.b = 3\n", "t.ir:5:6: error: a.b is no name of a dim"},
    {HEAD "dim  Q = 0\n", "value is 0; it is 1 to 1099511627776"},
    {HEAD "dim  Q = 1099511627777\n", "value is 1099511627777; it is 1 to 1099511627776"},
    {HEAD "dim  Q = 4 in 5..9\n", "low end is 5; it is 1 to 4"},
    {HEAD "dim  Q = 4 in 1..3\n", "high end is 3; it is 4 to 1099511627776"},
    {X "%y f32[M,4] = add %x, 2 #0\n%number.1 f32[M,4] = neg %x #1\n",
     "t.ir:7:1: error: %number.1 is the name of a number here; take another"},
    {X "out  %y as a\nout  %y as b\n%y f32[M,4] = neg %x #0\n", "t.ir:7:6: error: %y is an output twice"},
    {X "%y f32[M,4]/0 = neg %x #0\n", "stride is 0; it is 1 to 2147483648"},
    {X "%y f32[M,4]/M+4 = neg %x #0\n", "t.ir:6:13: error: a stride is a number, or the name of a dynamic dim"},
    {X "%y f32[M,4]/M = neg %x #0\n", "t.ir:6:13: error: M may be 1, less than the 4 elements of a row"},
    {X "%y f32[M,4] in %x+-1/4 = neg %x #0\n", "offset is -1; it is 0 to "},
    {X "%y f32[M,4] in %x+0/0 = neg %x #0\n", "stride is 0; it is 1 to "},
    {X "%y f32[M,4] = neg %x #-1\n", "number of the graph op is -1; it is 0 to 16777216"},
    {X "%y f32[M,4] = rope %x heads=-1 #0\n", "heads is -1; it is 0 to 1099511627776"},
    {X "%y f32[M,4] = rope %x heads=2 heads=2 #0\n", "t.ir:6:31: error: a second heads"},
    {X "%y f32[M,4] = rope %x pairing=quarter #0\n", "quarter is no pairing"},
    {X "%y f32[M,4] = rope %x scaling=cubic(2) #0\n", "cubic is no rope scaling"},
    {X "%y f32[M,4] = rope %x scaling=llama3(8,1,4) #0\n", "t.ir:6:43: error: \",\" should stand here"},
    {X "%y f32[M,4] = add %x, abc #0\n", "a number"},
    {X "%y f32[M,4], %y f32[M,4] = neg %x #0\n", "a second value named %y"},
    {HEAD "par  %x f32[M,4] from=\"a\n", "a \" that ends the text"},
    {HEAD "par  %x f32[M,4] from=\"\\x4\"\n", "\\x and two hexadecimal digits"},
    {HEAD "par  %x f32[M,4] from=\"\\x00\"\n", "\\x and two hexadecimal digits"},
    {HEAD "par  %x f32[M,4] from=\"\\xg0\"\n", "\\x and two hexadecimal digits"},
    {"ir 1 t\ntype f32\nlevel most\n", "t.ir:3:7: error: most is no level"},
    {X "%y f32[M,4] = neg %x #0\nin   %z f32[M,4]\n", "t.ir:7:1: error: an op should stand here"},
    {X "inn  %z f32[M,4]\n", "dim, in, par, state, out, an op or a kernel"},
    {X "%y f32[M,4] = neg %x #0\nkernel k0 {\n", "t.ir:7:8: error: a kernel after ops without one"},
    {X "kernel k0 {\n  faze a : rows {\n", "a phase or \"}\""},
    {X "kernel k0 {\n  phase a : rows {\n    spilled scratch=8 v=1\n", "\"vectors=\""},
    {X "kernel k0 {\n  phase a : rows {\n    spilled scratch=8 vectors=1 v=2 v=3\n", "a second v"},
    {X "kernel k0 {\n  phase a : rows {\n    bodi %y f32[M,4] = neg %x #0\n", "pro, body, epi, not, from, tile, spilled or \"}\""},
    {X "kernel k0 {\n  phase a : rows {\n    from user\n    from wisdom\n", "a second from line"},
    {X "kernel k0 {\n  phase a : rows {\n    from model\n", "from model"},
    {X "kernel k0 {\n  phase a : rows {\n    from me\n", "from me"},
    {X "kernel k0 {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n    tile v=1\n    tile v=2\n", "a second tile line"},
    {X "kernel k0 {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n    tile v=-1\n", "v is -1; it is 1 to 16"},
    {X "kernel k0 {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n    tile layer=simt\n", "rows has no setting 'layer'"},
    {X "kernel k0 {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n    tile treads=3\n",
     "rows has no setting 'treads'; did you mean threads?"},
    {X "par %w f32[4,4]\nkernel k0 {\n  phase a : gemm {\n    body %y f32[M,4] = linear %x, %w #0\n    tile layer=wgmma_3xtf32 cluster=1\n",
     "gemm_wgmma_3xtf32 has no setting 'cluster'"},
    {X "kernel k0 {\n  phase a : gemm {\n    body %y f32[M,4] = neg %x #0\n    tile layer=most\n", "most is no layer"},
    {X "kernel k0 {\n  phase a : attention {\n    body %y f32[M,4] = neg %x #0\n    tile layer=skinny\n",
     "no program of the family attention has that layer"},
    {X "kernel k0 {\n  phase a : gemm {\n    body %y f32[M,4] = neg %x #0\n    tile m=4\n",
     "a tile of a phase of the family gemm begins with layer="},
    {X "kernel k0 frame=ws {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n    tile v=4\n",
     "kernel k0 has frame=ws; rows runs in frame=mixed"},
    {X "kernel k0 frame=ws {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n  }\n}\n",
     "phase a has no tile; a frame follows from tiles"},
    {X "kernel k0 {\n  phase a : rows {\n    not skinny\n", "the line ends where \":\" should follow"},
    {X "kernel k0 {\n  phase a : rows {\n    not skinny: \x01\n", "a sentence"},
    {X "kernel k0 {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n  }\n  phase a : rows {\n",
     "t.ir:10:9: error: a second phase named a"},
    {X "kernel k0 {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n  }\n}\nkernel k0 {\n",
     "t.ir:11:8: error: a second kernel named k0"},
    {X "kernel k0 frame=round {\n", "round is no frame"},
    {X "kernel k0 {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n", "\"}\""},
    {X "kernel k0 {\n  phase a : rows {\n    body %y f32[M,4] = neg %x #0\n  }\n}\nnote value-has-other-users %y -> %x: why\n",
     "t.ir:11:34: error: %x is made by no op"},
    {HEAD "in   %x f32[M,4] range=0..3\n", "t.ir:5:18: error: this does not belong to the line"},
    {HEAD "in   %x i32[4] range=M..1\n", "t.ir:5:22: error: a range of 2 to 1 is empty"},
    {HEAD "in   %x i32[4] range=0..2147483648\n", "is beyond 32 bits"},
    {HEAD "in   %x f32[M,4] from=\"a\"\n", "does not belong to the line"},
    {HEAD "par  %x f32[2,2] transposed\n", "does not belong to the line"},
    {X, "t.ir:6:1: error: the text ends here and has no op"},
    {"ir 1 \"../../x\"\ntype f32\n", "t.ir:1:6: error: \"../../x\" cannot name a block"},
    {"ir 1 a.b\n", "cannot name a block"},
    {"ir 1 \"\"\n", "cannot name a block"},
    {X "kernel a..b {\n", "t.ir:6:8: error: \"a..b\" cannot name a kernel"},
    {X "kernel k000000000000000000000000000000000000000000000000000000000000000 {\n", "at most 63"},
    {X "out  %y as \"y \\\"\"\n", "t.ir:6:12: error: \"y \"\" cannot name an output"},
    {X "out  %y as y.z\n", "cannot name an output"},
    {X "out  %y as x\n%y f32[M,4] = neg %x #0\n", "t.ir:6:6: error: output x: an input, parameter or state has this name"},
    {X "out  %y as a\nout  %z as a\n%y f32[M,4] = neg %x #0\n%z f32[M,4] = neg %y #1\n", "t.ir:7:6: error: a second output named a"},
};

START_TEST(hostile_text_is_refused_with_its_place)
{
    text_test t = {.path = "t.ir", .text = refused[_i].text, .size = strlen(refused[_i].text)};
    attempt_run(&t.t, print_text, &t);
    ck_assert_int_eq(t.t.code, code_bad_input);
    ck_assert_msg(strstr(t.t.errors, refused[_i].message) != NULL, "expected \"%s\" in\n%s", refused[_i].message, t.t.errors);
    arena_free(t.t.a);
}
END_TEST

/* A zero byte would end a name or a number for some readers, but not for others. */
START_TEST(a_zero_byte_is_refused_wherever_it_stands)
{
    static const char whole[] = X "out  %y as y\n%y f32[M,4] = mul %x, 0.5 !3:4 #0\n";
    char copy[sizeof whole];
    for (size_t at = 0; at < sizeof whole - 1; at++) {
        memcpy(copy, whole, sizeof whole);
        copy[at] = 0;
        text_test t = {.path = "t.ir", .text = copy, .size = sizeof whole - 1};
        attempt_run(&t.t, print_text, &t);
        ck_assert_int_eq(t.t.code, code_bad_input);
        ck_assert_msg(strstr(t.t.errors, "a zero byte in a text"), "byte %zu: %s", at, t.t.errors);
        arena_free(t.t.a);
    }
}
END_TEST

/* Broken programs that cannot be written as text. */
static void swap_ops(ir_graph *p)
{
    ir_op *first = p->ops[1];
    p->ops[1] = p->ops[2], p->ops[2] = first;
}
static void swap_ops_of_phase(ir_graph *p)
{
    ir_phase *phase = p->kernels[1]->phases[0];
    ir_op *first = phase->ops[0];
    phase->ops[0] = phase->ops[1], phase->ops[1] = first;
}
static void repeat_id(ir_graph *p) { p->values[2]->id = 1; }
static void repeat_name(ir_graph *p) { p->values[2]->name = p->values[1]->name; }
static void leave_a_composite(ir_graph *p)
{
    for (int i = 0; i < p->op_count; i++)
        if (p->ops[i]->kind == op_silu) p->ops[i]->kind = op_softmax;
}
static void use_before_made(ir_graph *p)
{
    for (int i = 0; i < p->op_count; i++)
        if (p->ops[i]->kind == op_silu) p->ops[i]->inputs[0] = p->ops[i + 1]->outputs[0];
}

#define LLAMA "tests/golden/ir/llama-decode.tile.ir"
#define ROWS(ops)                                                                                                                          \
    X "par  %w f32[4,4]\npar  %f f32[4]\nstate %s f32[M,2,8,2]\nin   %at i32[M]\nout  %y as y\nkernel k0 {\n  phase a : rows {\n" ops      \
      "  }\n}\n"
#define GEMM(ops) X "par  %w f32[4,4]\nin   %f f32[4]\nout  %y as y\nkernel k0 {\n  phase a : gemm {\n" ops "  }\n}\n"
#define CACHED \
    HEAD       \
        "in   %k f32[M,1,4]\nstate %s f32[M,2,8,2]\nin   %at i32[M]\nout  %y as y\nkernel k0 {\n  phase a : rows {\n" \
        "    body %y f32[M,2,8,2] = neg %s #0\n  }\n}\nkernel k1 {\n  phase b : rows "

/* A rule, and a program that breaks only that rule: a text, with `from` replaced by `to` or changed by `change`. */
static const struct {
    const char *rule, *text, *from, *to;
    void (*change)(ir_graph *p);
} mutations[] = {
    {.rule = "distinct-names", .text = LLAMA, .change = repeat_name},
    {.rule = "ids", .text = LLAMA, .change = repeat_id},
    {.rule = "made-before-used", .text = LLAMA, .change = use_before_made},
    {"attributes", LLAMA, "attention_partial %qr, %kc, %vc heads=8", "attention_partial %qr, %kc, %vc", NULL},
    {"attributes", LLAMA, "theta=500000", "theta=-1", NULL},
    {"shapes", LLAMA, "f32[B,1,8,34]", "f32[B,1,8,33]", NULL},
    {.rule = "one-phase", .text = LLAMA, .change = swap_ops},
    {.rule = "one-phase", .text = LLAMA, .change = swap_ops_of_phase},
    {.rule = "lowered", .text = LLAMA, .change = leave_a_composite},
    {"roles", LLAMA, "epi  %q.me", "pro  %q.me", NULL},
    {"after", LLAMA, "gemm after o, gate_up", "gemm after o", NULL},
    {"views", LLAMA, "in %k_cache+0/32", "in %v_cache+0/32", NULL},
    {"views", "tests/golden/ir/gpt2-block.tile.ir", "in %qkv+128/384 ", "in %qkv+128/200 ", NULL},
    {"ids", "tests/golden/ir/gpt2-block.tile.ir", "in %qkv+128/384 ", "in %k+0/384 ", NULL},
    {"states", CACHED "{\n    body %c f32[M,2,8,2] in %s+0/2 = kv_append %k at=%at state=%s #1\n  }\n}\n", "", "", NULL},
    {"outputs", LLAMA, "out  %x2 as y", "out  %kc as y", NULL},
    {"outputs", LLAMA, "out  %x2 as y", "out  %x as y", NULL},
    {"family", LLAMA, "phase stats : rows", "phase stats : gemm", NULL},
    {"family", LLAMA, "phase attention : attention", "phase attention : combine", NULL},
    {"space", ROWS("    body %y f32[M,4] = neg %x #0\n    body %z f32[4] = exp %f #0\n    body %u f32[M,2,8,2] = exp %s #0\n"), "", "",
     NULL},
    {"segments",
     GEMM("    body %a f32[M,4] = linear %x, %w #0\n    body %b f32[M,4] = linear %x, %w #0\n    body %c f32[M,4] = linear %x, %w #0\n"
          "    epi %d f32[M,4] = add %a, %b #0\n    epi %y f32[M,4] = add %d, %c #0\n"),
     "", "", NULL},
    {"memory",
     ROWS("    body %e f32[M,4] = rope %x heads=1 pairing=half theta=1 rotary=4 #0\n"
          "    body %y f32[M,4] = rope %e heads=1 pairing=half theta=1 rotary=4 #0\n"),
     "", "", NULL},
    {"memory", ROWS("    body %e f32[M,8] = concat %x, %x #0\n    body %y f32[M,8] = neg %e #0\n"), "", "", NULL},
    {"partial-sums",
     GEMM("    body %a f32[M,4] = linear %x, %w #0\n    epi %s f32[M,1] = row_sumsq %a #0\n    epi %y f32[M,4] = mul %a, %s #0\n"), "", "",
     NULL},
    {"fold", LLAMA, "fold=%attn_norm", "fold_offset", NULL},
    {"fold", GEMM("    body %y f32[M,4] = linear %x, %w fold=%f #0\n"), "", "", NULL},
};

static void check_changed(void *argument)
{
    text_test *t = argument;
    t->ir = ir_read(t->t.a, t->text, t->size, "t.ir");
    if (t->change) t->change(t->ir);
    ir_check(t->t.a, t->ir, "mutation");
}

static char *replaced(arena *a, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    ck_assert_msg(at != NULL, "the text has no \"%s\"", from);
    return arena_printf(a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

START_TEST(each_mutated_spec_violates_its_rule)
{
    arena *a = arena_new();
    char rule[64];
    const char *text = mutations[_i].text;
    if (strncmp(text, "tests/", 6) == 0) text = read_text_file(a, text);
    if (mutations[_i].from && *mutations[_i].from) text = replaced(a, text, mutations[_i].from, mutations[_i].to);
    text_test t = {.text = text, .size = strlen(text), .change = mutations[_i].change};
    attempt_run(&t.t, check_changed, &t);
    snprintf(rule, sizeof rule, "%s%s: ", mutations[_i].change ? "internal: after mutation: " : "error: ", mutations[_i].rule);
    ck_assert_msg(strstr(t.t.errors, rule) != NULL, "expected \"%s\" in\n%s", rule, t.t.errors);
    ck_assert_int_eq(t.t.code, mutations[_i].change ? code_check_failed : code_bad_input);
    arena_free(t.t.a);
    arena_free(a);
}
END_TEST

START_TEST(each_rule_has_a_mutation)
{
    size_t n;
    const char *const *rules = check_rule_names(&n);
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t k = 0; k < sizeof mutations / sizeof *mutations; k++) found |= strcmp(mutations[k].rule, rules[i]) == 0;
        ck_assert_msg(found, "no mutation breaks %s", rules[i]);
    }
}
END_TEST

/* Every logical column of each product lies in one packed column, and the rest is padding. */
static void cover_columns(void *argument)
{
    text_test *t = argument;
    ir_graph *p = ir_read(t->t.a, t->text, t->size, t->path);
    for (int k = 0; k < p->kernel_count; k++) {
        segment_list list;
        if (p->kernels[k]->phases[0]->family != family_gemm) continue;
        ck_assert(gemm_segments(t->t.a, p->kernels[k]->phases[0], &list));
        long long start = 0;
        for (int i = 0; i < list.count; i++) {
            const gemm_segment *s = &list.items[i];
            bool pair = s->kind == segment_pair_join, second;
            char *seen = arena_alloc(t->t.a, (size_t)s->columns * 2);
            ck_assert_int_eq(s->packed_start, start);
            ck_assert_int_eq(s->packed_count % (2 * packed_granule), 0);
            for (long long n = start; n < start + s->packed_count; n++) {
                long long column = segment_column(s, n, &second);
                if (s->kind != segment_plain) ck_assert_int_eq(second, (n - start) % (2 * packed_granule) >= packed_granule);
                if (column < 0) continue;
                ck_assert_int_lt(column, s->columns);
                ck_assert_int_eq(seen[column + (pair && second ? s->columns : 0)]++, 0);
            }
            for (long long c = 0; c < s->columns * (pair ? 2 : 1); c++) ck_assert_int_eq(seen[c], 1);
            start += s->packed_count;
        }
        ck_assert_int_eq(list.packed_columns, start);
    }
}

START_TEST(packed_columns_cover_each_column_once)
{
    arena *a = arena_new();
    text_test t = {.path = LLAMA, .text = read_text_file(a, LLAMA)};
    t.size = strlen(t.text);
    attempt_run(&t.t, cover_columns, &t);
    ck_assert_msg(t.t.code == code_ok, "%s", t.t.errors);
    arena_free(t.t.a);
    arena_free(a);
}
END_TEST

static void name_stored(void *argument)
{
    text_test *t = argument;
    text names = {.a = t->t.a};
    ir_graph *p = ir_read(t->t.a, t->text, t->size, t->path);
    for (int i = 0; i < p->op_count; i++)
        if (value_stored(p, phase_of(p, p->ops[i]), p->ops[i]->outputs[0]) && !op_is_view(p->ops[i]))
            text_printf(&names, "%s%%%s", names.size ? " " : "", p->ops[i]->outputs[0]->name);
    t->result = names.data;
}

START_TEST(values_used_by_another_phase_or_a_view_are_stored)
{
    arena *a = arena_new();
    text_test t = {.path = "tests/golden/ir/gpt2-block.tile.ir"};
    t.text = read_text_file(a, t.path), t.size = strlen(t.text);
    attempt_run(&t.t, name_stored, &t);
    ck_assert_str_eq(t.result, "%h %qkv %a %x1 %h2 %g %x2");
    arena_free(t.t.a);
    arena_free(a);
}
END_TEST

/* Whatever is read can be lowered, fused at any level, printed and read again; nothing ends in an internal error. */
static void use_mutant(void *argument)
{
    text_test *t = argument;
    arena *a = t->t.a;
    ir_graph *p = ir_read(a, t->text, t->size, "mutant.ir");
    t->ir = p;
    t->result = ir_print(a, p);
    t->again = ir_print(a, ir_read(a, t->result, strlen(t->result), "again.ir"));
    if (p->kernel_count) return;
    fuse_options options = {.level = (fusion_level)(t->size % 3)};
    ir_graph *fused = fuse(a, lower(a, p), &options);
    t->result = ir_print(a, fused);
    t->again = ir_print(a, ir_read(a, t->result, strlen(t->result), "again.ir"));
}

static unsigned random_state = 1;
static unsigned random_below(unsigned n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static bool in_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '%';
}

/* A word of the text: its start, and its length. */
static size_t random_word(const char *text, size_t size, size_t *length)
{
    size_t at = random_below((unsigned)size), end;
    while (at < size && !in_word(text[at])) at++;
    while (at > 0 && in_word(text[at - 1])) at--;
    for (end = at; end < size && in_word(text[end]);) end++;
    *length = end - at;
    return at;
}

static size_t replace_piece(char *text, size_t size, size_t room, size_t at, size_t old, const char *piece, size_t length)
{
    char copy[256];
    if (length > sizeof copy || size + length >= room) return size;
    memcpy(copy, piece, length);
    memmove(text + at + length, text + at + old, size - at - old);
    memcpy(text + at, copy, length);
    return size - old + length;
}

/* Mostly replaces a word by another of its kind, so that many mutants can be read; else changes bytes or moves pieces. */
static size_t mutate(char *text, size_t size, size_t room)
{
    for (unsigned n = 1 + random_below(3); n > 0 && size > 32; n--) {
        size_t old, length, at = random_word(text, size, &old), from = random_word(text, size, &length);
        for (int tries = 0; tries < 20 && (text[from] == '%') != (text[at] == '%'); tries++) from = random_word(text, size, &length);
        switch (random_below(12)) {
        case 0: text[random_below((unsigned)size)] = (char)random_below(256); break;
        case 1: text[random_below((unsigned)size)] = "0123456789,%[]=#! \n"[random_below(19)]; break;
        case 2: size = replace_piece(text, size, room, at, random_below(size - at < 40 ? (unsigned)(size - at) + 1 : 40), "", 0); break;
        case 3: size = replace_piece(text, size, room, at, 0, text + from, size - from < 200 ? size - from : 200); break;
        default: size = replace_piece(text, size, room, at, old, text + from, length); break;
        }
    }
    return size;
}

START_TEST(mutated_text_never_crashes_a_stage)
{
    static char mutant[32768];
    const char *rounds = getenv("IR_ROUNDS"); /* a number of mutants, not of seconds: every machine tests the same ones */
    unsigned end = rounds ? (unsigned)strtoul(rounds, NULL, 10) : 40000;
    glob_t all;
    glob("tests/golden/*/*.ir", 0, NULL, &all);
    for (unsigned round = 0, read = 0; round < end; round++) {
        random_state = round + 1; /* so a failing round can be run alone */
        golden g = read_golden(all.gl_pathv[random_below((unsigned)all.gl_pathc)]);
        size_t size = strlen(g.before);
        text_test t = {.text = mutant};
        ck_assert(size < sizeof mutant / 2);
        memcpy(mutant, g.before, size);
        t.size = mutate(mutant, size, sizeof mutant);
        attempt_run(&t.t, use_mutant, &t);
        read += t.ir != NULL;
        ck_assert_msg(t.t.code == code_ok || t.t.code == code_bad_input, "round %u: %s\n%.*s", round, t.t.errors, (int)t.size, mutant);
        if (t.t.code == code_ok) ck_assert_str_eq(t.result, t.again);
        arena_free(t.t.a);
        arena_free(g.a);
        ck_assert_msg(round < 2000 || read > 0, "no mutant of %u could be read, so nothing was tested", round);
    }
    globfree(&all);
}
END_TEST

int main(void)
{
    glob("tests/golden/ir/*.ir", 0, NULL, &ir_files);
    glob("tests/golden/lower/*.ir", 0, NULL, &lower_files);
    Suite *s = suite_create("ir");
    TCase *c = tcase_create("ir");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, text_is_read_and_printed_byte_for_byte, 0, (int)ir_files.gl_pathc);
    tcase_add_loop_test(c, each_op_is_lowered_as_its_file_says, 0, (int)lower_files.gl_pathc);
    tcase_add_test(c, a_zero_byte_is_refused_wherever_it_stands);
    tcase_add_loop_test(c, hostile_text_is_refused_with_its_place, 0, sizeof refused / sizeof *refused);
    tcase_add_loop_test(c, each_mutated_spec_violates_its_rule, 0, sizeof mutations / sizeof *mutations);
    tcase_add_test(c, each_rule_has_a_mutation);
    tcase_add_test(c, packed_columns_cover_each_column_once);
    tcase_add_test(c, values_used_by_another_phase_or_a_view_are_stored);
    tcase_add_test(c, mutated_text_never_crashes_a_stage);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    globfree(&ir_files);
    globfree(&lower_files);
    return failed != 0;
}
