/* Fusion: graphs of golden files (a graph, "---", its kernels) and random graphs. Each fusion and each reason for not fusing needs a golden
 * file that shows it. */
#define _GNU_SOURCE
#include "ir/fuse/fuse.h"
#include "tests/ir/ir_golden.h"
#include <time.h>

typedef struct fusing_test {
    golden g;
    attempt t;
    const char *result, *again;
} fusing_test;

/* Checks that fusing gives the same kernels if they are made and verified only after the last pass, instead of after each pass. */
static void check_once(arena *a, const ir_graph *lowered, fuse_options options, const char *text)
{
    options.check_once = true;
    ck_assert_str_eq(ir_print(a, fuse(a, lowered, &options)), text);
}

static void fuse_text(void *argument)
{
    fusing_test *f = argument;
    ir_graph *graph = ir_read(f->t.a, f->g.before, strlen(f->g.before), f->g.path);
    fuse_options options = {.level = f->g.level};
    options.disabled = f->g.disabled, options.disabled_count = f->g.disabled_count;
    char *before = ir_print(f->t.a, graph);
    ir_graph *fused = fuse(f->t.a, lower(f->t.a, graph), &options);
    ck_assert_str_eq(before, ir_print(f->t.a, graph)); /* stages are pure */
    f->result = ir_print(f->t.a, fused);
    check_once(f->t.a, lower(f->t.a, graph), options, f->result);
    f->again = ir_print(f->t.a, ir_read(f->t.a, f->result, strlen(f->result), "again"));
}

static glob_t files;

START_TEST(each_golden_graph_fuses_as_its_file_says)
{
    fusing_test f = {.g = read_golden(files.gl_pathv[_i])};
    attempt_run(&f.t, fuse_text, &f);
    ck_assert_msg(f.t.code == code_ok, "%s: %s", f.g.path, f.t.errors);
    ck_assert_str_eq(f.result, f.again);
    compare_golden(&f.g, f.result);
    arena_free(f.t.a);
    arena_free(f.g.a);
}
END_TEST

static bool in_some_golden(const char *word)
{
    bool found = false;
    for (size_t i = 0; i < files.gl_pathc && !found; i++) {
        arena *a = arena_new();
        found = strstr(read_text_file(a, files.gl_pathv[i]), word) != NULL;
        arena_free(a);
    }
    return found;
}

START_TEST(each_reason_has_a_golden_file)
{
    /* no_fusion, the last reason, is used only if a pass has overlooked an edge. */
    for (reason r = reason_none + 1; r < reason_no_fusion; r++)
        ck_assert_msg(in_some_golden(reason_code(r)), "no file of tests/golden/fuse shows %s", reason_code(r));
}
END_TEST

START_TEST(each_fusion_has_golden_files_with_and_without_it)
{
    size_t n;
    const char *const *names = fusion_names(&n);
    for (size_t i = 0; i < n; i++) {
        char line[64];
        snprintf(line, sizeof line, "# no %s\n", names[i]);
        ck_assert_msg(in_some_golden(line), "no file of tests/golden/fuse turns %s off", names[i]);
    }
}
END_TEST

/* A graph of random ops over values [2, M, columns] and [2, M, 1]; its outputs are the values that no op uses, and a few others. */
typedef struct random_graph {
    text t;
    unsigned state;
    int columns[64], uses[64], count; /* of value v0, v1, ...; the first two are the inputs */
    int params;
    text params_text;
} random_graph;

static unsigned below(random_graph *g, unsigned n)
{
    g->state = g->state * 1664525u + 1013904223u;
    return (g->state >> 8) % n;
}

static int some_value(random_graph *g, int columns)
{
    for (int tries = 0; tries < 30; tries++) {
        /* Prefers recent values, since fusion looks for chains. */
        int i = below(g, 2) ? (int)below(g, (unsigned)g->count) : g->count - 1 - (int)below(g, g->count < 3 ? 1 : 3);
        if (columns == 0 ? g->columns[i] > 1 : g->columns[i] == columns) return i;
    }
    return 0;
}

static const char *new_param(random_graph *g, const char *shape)
{
    text_printf(&g->params_text, "par %%p%d f32[%s]\n", g->params, shape);
    return arena_printf(g->t.a, "%%p%d", g->params++);
}

static void begin_op(random_graph *g, int columns, const char *op)
{
    text_printf(&g->t, "%%v%d f32[2,M,%d] = %s", g->count, columns, op);
    g->columns[g->count] = columns;
}

static void end_op(random_graph *g)
{
    text_printf(&g->t, " !%d:1 #%d\n", g->count, g->count);
    g->count++;
}

static void use(random_graph *g, int i)
{
    text_printf(&g->t, " %%v%d", i);
    g->uses[i]++;
}

static void add_random_op(random_graph *g)
{
    static const char *const unary[] = {"neg", "exp", "silu", "gelu_erf", "square"}, *const binary[] = {"add", "mul", "sub", "max"};
    static const char *const reductions[] = {"row_sum", "row_max", "row_sumsq", "row_mean"};
    arena *a = g->t.a;
    int x = some_value(g, 0), n = g->columns[x];
    const char *vector = arena_printf(a, "%d", n);
    switch (below(g, 16)) {
    case 0: case 1: begin_op(g, n, unary[below(g, 5)]), use(g, x); break;
    case 2: case 3: {
        int y = below(g, 4) ? some_value(g, n) : some_value(g, 1);
        if (g->columns[y] != n && g->columns[y] != 1) y = x;
        begin_op(g, n, binary[below(g, 4)]), use(g, x), text_printf(&g->t, ","), use(g, y);
        break;
    }
    case 4: begin_op(g, n, "add"), use(g, x), text_printf(&g->t, ", %s", new_param(g, vector)); break;
    case 5: begin_op(g, 1, reductions[below(g, 4)]), use(g, x); break;
    case 6: case 7: case 8: case 9: {
        int to = below(g, 2) ? n : 8 << below(g, 2);
        const char *w = new_param(g, arena_printf(a, "%d,%d", to, n));
        begin_op(g, to, "linear"), use(g, x), text_printf(&g->t, ", %s", w);
        if (below(g, 4) == 0) text_printf(&g->t, ", %s", new_param(g, arena_printf(a, "%d", to)));
        break;
    }
    case 10: case 11:
        begin_op(g, n, "rmsnorm"), use(g, x),
            text_printf(&g->t, ", %s eps=1e-05%s", new_param(g, vector), below(g, 3) ? "" : " unit_offset");
        break;
    case 12: begin_op(g, n, below(g, 2) ? "softmax" : "layernorm"), use(g, x);
        if (strstr(g->t.data + g->t.size - 24, "layernorm")) text_printf(&g->t, ", %s eps=1e-05", new_param(g, vector));
        break;
    case 13:
        begin_op(g, n, "rope"), use(g, x);
        text_printf(&g->t, " heads=%d pairing=%s theta=100 rotary=%d", n / 8, below(g, 2) ? "half" : "interleaved", below(g, 3) ? 8 : 4);
        break;
    case 14: {
        int y = some_value(g, 0);
        begin_op(g, n + g->columns[y], "concat"), use(g, x), text_printf(&g->t, ","), use(g, y);
        break;
    }
    default: {
        bool attends = below(g, 2);
        if (attends) {
            begin_op(g, n, "attention"), use(g, x), text_printf(&g->t, ","), use(g, some_value(g, n) * 0 + x), text_printf(&g->t, ","),
                use(g, x);
            text_printf(&g->t, " heads=%d kv_heads=%d scale=1", n / 8, n / 8);
            break;
        }
        if (n == 8) { begin_op(g, n, "cos"), use(g, x); break; }
        g->columns[g->count] = 8, g->columns[g->count + 1] = n - 8;
        text_printf(&g->t, "%%v%d f32[2,M,8], %%v%d f32[2,M,%d] = split", g->count, g->count + 1, n - 8);
        use(g, x);
        end_op(g);
        g->count++;
        return;
    }
    }
    end_op(g);
}

static char *random_graph_text(arena *a, unsigned seed)
{
    random_graph g = {.t = {.a = a}, .params_text = {.a = a}, .state = seed, .count = 2, .columns = {8, 16}};
    for (int ops = 2 + (int)below(&g, 20); ops > 0 && g.count < 60; ops--) add_random_op(&g);
    text all = {.a = a};
    text_printf(&all, "ir 1 random\ntype f32\nlevel none\ndim M = 3 in 1..9\nin %%v0 f32[2,M,8]\nin %%v1 f32[2,M,16]\n%s",
                g.params_text.size ? g.params_text.data : "");
    for (int i = 0; i < g.count; i++)
        if (!g.uses[i] || below(&g, 8) == 0) text_printf(&all, "out %%v%d as o%d\n", i, i);
    text_append(&all, g.t.data, g.t.size);
    return all.data;
}

typedef struct random_test {
    attempt t;
    unsigned seed;
    char *graph;
    int kernels[3];
} random_test;

static void fuse_random(void *argument)
{
    random_test *r = argument;
    arena *a = r->t.a;
    r->graph = random_graph_text(a, r->seed);
    ir_graph *lowered = lower(a, ir_read(a, r->graph, strlen(r->graph), "random.ir"));
    size_t n;
    const char *const *names = fusion_names(&n);
    const char *disabled[2] = {names[r->seed % n], names[r->seed / n % n]};
    for (int level = 0; level < 3; level++) {
        fuse_options options = {.level = (fusion_level)level};
        options.disabled = disabled, options.disabled_count = r->seed % 3;
        ir_graph *fused = fuse(a, lowered, &options);
        char *text = ir_print(a, fused);
        ck_assert_str_eq(text, ir_print(a, ir_read(a, text, strlen(text), "fused.ir")));
        r->kernels[level] = fused->kernel_count;
        if (r->seed % 4 == 0) check_once(a, lowered, options, text);
        for (int i = 0; i < fused->note_count; i++)
            ck_assert_msg(strcmp(fused->notes[i].code, reason_code(reason_no_fusion)) != 0,
                          "seed %u level %d without %s, %s: edge %s -> %s was overlooked:\n%.3800s", r->seed, level,
                          options.disabled_count > 0 ? disabled[0] : "none", options.disabled_count > 1 ? disabled[1] : "none",
                          fused->notes[i].value->name, fused->notes[i].user->outputs[0]->name,
                          strstr(text, arena_printf(a, "%%%s ", fused->notes[i].value->name)));
    }
}

START_TEST(random_graphs_fuse_at_every_level)
{
    for (unsigned seed = 1; seed <= 1000; seed++) {
        random_test r = {.seed = seed};
        attempt_run(&r.t, fuse_random, &r);
        ck_assert_msg(r.t.code == code_ok, "seed %u: %.500s\n%.3000s", seed, r.t.errors, r.graph);
        ck_assert_msg(r.kernels[0] >= r.kernels[1] && r.kernels[0] >= r.kernels[2], "seed %u: %d, %d, %d kernels\n%.3000s", seed,
                      r.kernels[0], r.kernels[1], r.kernels[2], r.graph);
        arena_free(r.t.a);
    }
}
END_TEST

int main(void)
{
    glob("tests/golden/fuse/*.ir", 0, NULL, &files);
    Suite *s = suite_create("fuse");
    TCase *c = tcase_create("fuse");
    tcase_add_loop_test(c, each_golden_graph_fuses_as_its_file_says, 0, (int)files.gl_pathc);
    tcase_add_test(c, each_reason_has_a_golden_file);
    tcase_add_test(c, each_fusion_has_golden_files_with_and_without_it);
    tcase_add_test(c, random_graphs_fuse_at_every_level);
    tcase_set_timeout(c, 120);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    globfree(&files);
    return failed != 0;
}
