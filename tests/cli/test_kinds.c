/* Stacks whose layers are of several kinds (docs/one-launch.md): drawn kinds in drawn orders, judged layer by layer; wrong kinds are found;
 * what two kinds must not differ in; the text form. */
#include "tests/cli/cli_rig.h"

/* A layer with caches. rope: attributes of the ropes. window: attributes of the attention. norms: q and k are normed before the rope, so
 * that the rope is in a phase of its own, not in that of the product. */
typedef struct kind {
    const char *rope, *window;
} kind;

static void write_layer(const char *name, bool norms, const kind *k, const char *edit)
{
    static const char head[] = /* a printf format */
        "block: layer\ndtype: bf16\ndims: {B: 3, S: 1, L: 40, D: 64, H: 4, KV: 2, hd: 16, F: 96}\ndynamic: {B: [1, 8]}\n"
        "inputs: {x: [B, S, D], pos: {shape: [B], dtype: i32, range: [0, L-1]}}\n"
        "params: {n: [D], wq: [H*hd, D], wk: [KV*hd, D], wv: [KV*hd, D], %swo: [D, H*hd], wu: [F, D], wd: [D, F]}\n"
        "state: {kc: [B, KV, L, hd], vc: [B, KV, L, hd]}\nops:\n  - {out: h, op: rmsnorm, in: [x, n], eps: 1e-6}\n"
        "  - {out: q0, op: linear, in: [h, wq]}\n  - {out: k0, op: linear, in: [h, wk]}\n  - {out: v, op: linear, in: [h, wv]}\n"
        "  - {out: q1, op: reshape, in: [q0], shape: [B, S, H, hd]}\n  - {out: k1, op: reshape, in: [k0], shape: [B, S, KV, hd]}\n";
    static const char normed[] =
        "  - {out: q2, op: rmsnorm, in: [q1, qn], eps: 1e-6}\n  - {out: k2, op: rmsnorm, in: [k1, qn], eps: 1e-6}\n";
    char path[200];
    snprintf(path, sizeof path, "%s/%s.yaml", folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, head, norms ? "qn: [hd], " : "");
    fprintf(f, "%s", norms ? normed : "");
    for (int i = 0; i < 2; i++)
        fprintf(f, "  - {out: %cr, op: rope, in: [%c%d], heads: %s, pairing: half, %s, at: pos}\n", "qk"[i], "qk"[i], norms ? 2 : 1,
                i ? "KV" : "H", k->rope);
    fprintf(f, "  - {out: kk, op: kv_append, in: [kr], state: kc, at: pos}\n  - {out: vv, op: kv_append, in: [v], state: vc, at: pos}\n"
               "  - {out: a, op: attention, in: [qr, kk, vv], heads: H, kv_heads: KV, causal: true%s, at: pos}\n", k->window);
    fprintf(f, "  - {out: a2, op: reshape, in: [a], shape: [B, S, H*hd]}\n  - {out: o, op: linear, in: [a2, wo]}\n"
               "  - {out: x1, op: add, in: [x, o]}\n  - {out: u, op: linear, in: [x1, wu]}\n  - {out: s, op: silu, in: [u]}\n"
               "  - {out: d, op: linear, in: [s, wd]}\n  - {out: y, op: add, in: [x1, d]}\noutputs: {y: y}\n");
    fclose(f);
    if (edit) ck_assert_int_eq(shell("sed -i '%s' %s", edit, path), 0);
}

static const kind kinds[] = {{"theta: 10000", ", window: 7"},
                             {"theta: 1000000, scaling: {type: linear, factor: 4}", ""},
                             {"theta: 500000, scaling: {type: yarn, factor: 4, original: 16}, attention_factor: 1.25", ", window: 19"},
                             {"theta: 10000", ", window: 1"}};
enum { kind_count = sizeof kinds / sizeof *kinds };

static unsigned drawn(unsigned *seed, unsigned below) { return (*seed = *seed * 1664525u + 1013904223u) / 65536u % below; }

static const char *const targets[] = {"host", "sm_90a --check", "gfx942 --check", "sm_80", "gfx1201",
                                      "sm_90a '--tile=gemm: layer=ring threads=128'"};

/* Each layer is judged on what the layer before it stored, by the reference of its own kind. */
START_TEST(drawn_kinds_in_drawn_orders_are_right)
{
    unsigned seed = 71u + 13u * (unsigned)_i;
    char list[400] = "";
    make_folder();
    const unsigned some = 2 + drawn(&seed, kind_count - 1), first = drawn(&seed, kind_count), length = some + drawn(&seed, 3);
    for (unsigned i = 0; i < kind_count; i++)
        write_layer((const char *[]){"a", "b", "c", "d"}[i], _i % 2, &kinds[(first + i) % kind_count], NULL);
    for (unsigned i = 0; i < length; i++) { /* every kind that is drawn occurs; then others at random */
        const unsigned k = i + 1 < some ? i + 1 : drawn(&seed, some);
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s/%c.yaml", i ? "," : "", folder, "abcd"[k]);
    }
    ck_assert_msg(tfgen("run %s/a.yaml --then=%s --layers=6 --repeat=0 --target=%s", folder, list, targets[_i]) == 0, "%s: %s", list,
                  output);
    says("1 launch,");
    says("5: y ");
    says("good: every value is within its bound");
    remove_folder();
}
END_TEST

/* Kernels whose layers take each other's numbers are found. */
START_TEST(a_layer_with_the_numbers_of_another_kind_is_wrong)
{
    static const char *const edits[] = {"s/tf_kind == 1/tf_kind == 0/", "/DEV static int window_at/s/tf_kind == 1/tf_kind == 0/",
                                        "/window_at/!s/tf_kind == 1/tf_kind == 0/"};
    make_folder();
    write_layer("a", true, &kinds[0], NULL), write_layer("b", true, &kinds[1], NULL);
    ck_assert_int_eq(tfgen("emit %s/a.yaml --stack --then=%s/b.yaml -o %s/out -q --target=sm_90a", folder, folder, folder), 0);
    ck_assert_int_eq(shell("grep -l tf_kind %s/out/*.hip", folder), 0);
    ck_assert_int_eq(shell("sed -i '%s' %s/out/*.hip", edits[_i], folder), 0);
    ck_assert_int_eq(tfgen("run %s/a.yaml --then=%s/b.yaml --layers=2 --repeat=0 --target=sm_90a --replace-source=%s/out", folder, folder,
                           folder), 1);
    says("BAD: a bound is exceeded");
    remove_folder();
}
END_TEST

START_TEST(kinds_that_differ_in_something_else_are_refused)
{
    static const struct {
        const char *edit, *error;
    } wrong[] = {{"s/F: 96/F: 64/", "dim F is not the same in"},
                 {"s/dynamic: {B: .1, 8.}/dynamic: {B: [1, 9]}/", "dim B is not the same in"},
                 {"s/L: 40/L: 32/", "dim L is not the same in"},
                 {"s/bf16/f16/", "has another dtype"},
                 {"s/KV, L, hd/KV, 2*L, hd/g", "kc has another shape in"},
                 {"s/range: .0, L-1./range: [0, 3]/", "pos has another range in"},
                 {"s/op: silu/op: tanh/", "silu s is not the same op as tanh s of"},
                 {"s/eps: 1e-6/eps: 1e-5/", "eps of rmsnorm h is not the same in"},
                 {"s/causal: true/causal: true, softcap: 30/", "softcap of attention a is not the same in"},
                 {"s/causal: true/causal: true, scale: 0.5/", "scale of attention a is not the same in"},
                 {"/op: rope/s/$/ /; s/pairing: half/pairing: interleaved/", "pairing of rope qr is not the same in"},
                 {"s/op: silu, in: .u.}/op: silu, in: [u]}\\n  - {out: t, op: neg, in: [s]}/; s/.s, wd./[t, wd]/",
                  "does not exist in the first spec"},
                 {"s/outputs: {y: y}/outputs: {z: y}/", "y is not the same output in"}};
    make_folder();
    write_layer("a", true, &kinds[0], NULL), write_layer("b", true, &kinds[1], wrong[_i].edit);
    ck_assert_msg(tfgen("emit %s/a.yaml --stack --then=%s/b.yaml --dump=plan", folder, folder) == 4, "%s", output);
    says("kinds of layers in one launch: ");
    says(wrong[_i].error);
    says("b.yaml");
    remove_folder();
}
END_TEST

START_TEST(options_for_kinds_are_checked)
{
    make_folder();
    write_layer("a", true, &kinds[0], NULL), write_layer("b", true, &kinds[1], NULL);
    ck_assert_int_eq(tfgen("%s", in_folder("emit %s/a.yaml --then=%s/b.yaml --dump=plan")), 2);
    says("it needs --stack");
    ck_assert_int_eq(tfgen("%s", in_folder("run %s/a.yaml --then=%s/b.yaml")), 2);
    says("it needs --layers");
    ck_assert_int_eq(tfgen("%s", in_folder("emit %s/a.yaml --stack --then=%s/none.yaml --dump=plan")), 3);
    /* The text has the kinds, and can be read back. */
    ck_assert_int_eq(tfgen("emit %s/a.yaml --stack --then=%s/b.yaml,%s/a.yaml --dump=plan > %s/p.ir && cat %s/p.ir", folder, folder, folder,
                           folder, folder), 0);
    says("stacked\nkinds 2\nkind 0 #8 rope theta=10000\nkind 1 #8 rope theta=1000000 scaling=linear(4)\n");
    says("window=1073741824");
    ck_assert_int_eq(tfgen("%s", in_folder("emit %s/p.ir --from=plan --dump=plan | cmp - %s/p.ir && echo same")), 0);
    says("same");
    ck_assert_int_eq(tfgen("%s", in_folder("run %s/p.ir --from=plan --layers=2 --then=%s/b.yaml")), 2);
    says("IR text has its kinds of layers");
    ck_assert_int_eq(tfgen("%s", in_folder("run %s/p.ir --from=plan --layers=2")), 2);
    says("run takes these from specs");
    remove_folder();
}
END_TEST

/* Texts that were edited wrongly. */
START_TEST(wrong_texts_of_kinds_are_refused)
{
    static const struct {
        const char *edit, *error;
    } wrong[] = {{"s/^kinds 2/kinds 1/", "number of kinds of layers"},
                 {"s/^kinds 2/kinds 17/", "number of kinds of layers"},
                 {"s/^kind 1 #8/kind 0 #8/", "this line should be of kind 1"},
                 {"s/^kind 1 #8/kind 1 #9/", "this line should be of the same op as the one above"},
                 {"0,/^kind 1/{/^kind 1/d}", "this line should be of kind 1"},
                 {"s/^kind 1 #8 rope theta=1000000/kind 1 #8 rope theta=-1/", "theta is not above 0"},
                 {"s/^kind 0 #8 rope/kind 0 #8 linear/", "op"},
                 {"s/^\\(kind . #\\)8 /\\18000 /", "p.ir:6:6: error: no rope here is made from graph op 8000"},
                 {"s/^kind 0 #8 rope/kind 0 #8 rope heads=4/", "kinds cannot differ in heads"},
                 {"s/window=1073741824/ /", "this op has no window"},
                 {"s/window=1073741824/window=6/", "this op's window must be the longest of all kinds of layers; that of kind 0 is 7"},
                 {"s/ window=7$/ window=3000000000/", "that of kind 0 is 3000000000"},
                 {"s/,40,16\\]/,2000000000,16]/g", "has more than 1073741824 keys"},
                 {"/^stacked/d", "kinds of layers are for a stack"}};
    make_folder();
    write_layer("a", true, &kinds[0], NULL), write_layer("b", true, &kinds[1], NULL);
    ck_assert_int_eq(tfgen("%s", in_folder("emit %s/a.yaml --stack --then=%s/b.yaml --dump=fuse > %s/p.ir")), 0);
    ck_assert_int_eq(shell("sed -i '%s' %s/p.ir", wrong[_i].edit, folder), 0);
    const int code = tfgen("%s", in_folder("emit %s/p.ir --from=fuse --dump=plan"));
    ck_assert_msg(code == 3 || code == 2, "%d: %s", code, output);
    says(wrong[_i].error);
    remove_folder();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kinds");
    TCase *c = tcase_create("kinds");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, drawn_kinds_in_drawn_orders_are_right, 0, sizeof targets / sizeof *targets);
    tcase_add_loop_test(c, a_layer_with_the_numbers_of_another_kind_is_wrong, 0, 3);
    tcase_add_loop_test(c, kinds_that_differ_in_something_else_are_refused, 0, 13);
    tcase_add_test(c, options_for_kinds_are_checked);
    tcase_add_loop_test(c, wrong_texts_of_kinds_are_refused, 0, 14);
    suite_add_tcase(s, c);
    return run_suite(s);
}
