/* docs/spec-language.md agrees with the reader: exactly the ops and attributes of ir/op.def have entries; examples have the stated shapes,
 * defaults are the stated ones, values out of range are refused. */
#include "ir/graph/attribute_table.h"
#include "ir/ir.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char page[1 << 16];

static void read_page(void)
{
    FILE *f = fopen("docs/spec-language.md", "rb");
    ck_assert_ptr_nonnull(f);
    page[fread(page, 1, sizeof page - 1, f)] = 0;
    ck_assert(feof(f));
    fclose(f);
}

/* The text of an op's entry, up to the next heading; NULL without one. */
static char *entry_of(arena *a, const char *op)
{
    const char *heading = arena_printf(a, "\n### %s\n", op), *start = strstr(page, heading);
    if (!start) return NULL;
    start += strlen(heading);
    const char *end = strstr(start, "\n##");
    return arena_printf(a, "%.*s", end ? (int)(end - start) : (int)strlen(start), start);
}

/* The text between the next pair of backquotes; *at moves behind it. NULL if there is none. */
static const char *quoted(arena *a, const char **at)
{
    const char *start = strchr(*at, '`'), *end = start ? strchr(start + 1, '`') : NULL;
    if (!end) return NULL;
    *at = end + 1;
    return arena_printf(a, "%.*s", (int)(end - start - 1), start + 1);
}

/* An example: the op's line, its operands, and then its results. */
typedef struct example {
    const char *op, *makes;
    text inputs, params, states;
} example;

static void declare(arena *a, example *e, const char *operand)
{
    char name[32], shape[64];
    const bool param = strncmp(operand, "param ", 6) == 0, state = strncmp(operand, "state ", 6) == 0,
               number = strncmp(operand, "i32 ", 4) == 0;
    ck_assert_msg(sscanf(operand + (param || state ? 6 : number ? 4 : 0), "%31s %63[^\n]", name, shape) == 2, "%s", operand);
    text *t = param ? &e->params : state ? &e->states : &e->inputs;
    t->a = a;
    text_printf(t, number ? "%s%s: {shape: %s, dtype: i32, range: [0, 1]}" : "%s%s: %s", t->size ? ", " : "", name, shape);
}

static example example_of(arena *a, const char *entry)
{
    example e = {0};
    const char *at = strstr(entry, "Example:"), *operand;
    ck_assert_msg(at != NULL, "no example: %s", entry);
    e.op = quoted(a, &at);
    const char *makes = strstr(at, "makes");
    ck_assert_ptr_nonnull(makes);
    while ((operand = quoted(a, &at)) && at < makes) declare(a, &e, operand);
    e.makes = arena_printf(a, "%.*s", (int)strcspn(makes, "."), makes);
    return e;
}

/* A spec of the example, with `more` before the op's closing brace. Each result is an output, except caches, which attention reads. */
static const char *spec_of(arena *a, const example *e, const char *more)
{
    text t = {.a = a}, outputs = {.a = a};
    const char *at = e->makes, *made;
    const bool state = e->states.size > 0;
    while ((made = quoted(a, &at)))
        text_printf(&outputs, "%s%.*s: %.*s", outputs.size ? ", " : "", (int)strcspn(made, " "), made, (int)strcspn(made, " "), made);
    text_printf(&t, "block: example\ndtype: f32\ninputs: {%s%s}\n", e->inputs.data ? e->inputs.data : "", state ? ", q: [2, 3, 8]" : "");
    if (e->params.size) text_printf(&t, "params: {%s}\n", e->params.data);
    if (state) text_printf(&t, "state: {%s}\n", e->states.data);
    text_printf(&t, "ops:\n  - %.*s%s}\n", (int)strlen(e->op) - 1, e->op, more);
    if (state) text_printf(&t, "  - {out: z, op: attention, in: [q, y, y], heads: 2, at: p}\noutputs: {z: z}\n");
    else text_printf(&t, "outputs: {%s}\n", outputs.data);
    return t.data;
}

typedef struct reading {
    arena *a;
    const char *yaml;
    ir_graph *graph;
} reading;

static void read_inside(void *argument)
{
    reading *r = argument;
    r->graph = graph_read(r->a, r->yaml, strlen(r->yaml), "example.yaml", &(graph_options){0});
}

static const ir_op *read_op(arena *a, const char *yaml)
{
    reading r = {a, yaml, NULL};
    return arena_run(a, read_inside, &r) == code_ok ? r.graph->ops[0] : NULL;
}

static void check_shapes(arena *a, const example *e, const ir_op *op)
{
    const char *at = e->makes, *made;
    int count = 0;
    while ((made = quoted(a, &at))) {
        const ir_value *v = op->outputs[count++];
        text t = {.a = a};
        text_printf(&t, "%s [", v->name);
        for (int i = 0; i < v->rank; i++) text_printf(&t, "%s%lld", i ? ", " : "", extent_value(&v->shape[i], &(dim_table){0}));
        text_printf(&t, "]");
        ck_assert_str_eq(t.data, made);
    }
    ck_assert_int_eq(count, op->output_count);
}

START_TEST(every_op_has_an_entry_whose_example_is_true)
{
    arena *a = arena_new();
    int entries = 0, ops = 0;
    for (const char *at = page; (at = strstr(at, "\n### ")) != NULL; at++) entries++;
    for (int k = 0; k < op_count; k++) {
        if (!op_in_spec((op_kind)k)) continue;
        ops++;
        const char *entry = entry_of(a, op_table[k].name);
        ck_assert_msg(entry != NULL, "%s has no entry", op_table[k].name);
        const example e = example_of(a, entry);
        const ir_op *op = read_op(a, spec_of(a, &e, ""));
        ck_assert_msg(op && op->kind == (op_kind)k, "%s: %s", op_table[k].name, arena_diagnostics(a));
        check_shapes(a, &e, op);
    }
    ck_assert_int_eq(entries, ops);
    arena_free(a);
}
END_TEST

/* The cells of an attribute's row, without the first. */
typedef struct row {
    char key[32], fallback[64], range[64];
} row;

static bool row_of(arena *a, const char *entry, const char *key, row *out)
{
    const char *at = strstr(entry, arena_printf(a, "\n| `%s` |", key));
    return at && sscanf(at, "\n| `%31[^`]` | %63[^|]| %63[^|]|", out->key, out->fallback, out->range) == 3;
}

static void trim(char *s)
{
    size_t n = strlen(s);
    while (n && s[n - 1] == ' ') s[--n] = 0;
}

static void refused(const example *e, const char *key, const char *value)
{
    arena *a = arena_new();
    const char *yaml = spec_of(a, e, arena_printf(a, ", %s: %s", key, value));
    ck_assert_msg(!read_op(a, yaml), "%s: %s is taken\n%s", key, value, yaml);
    arena_free(a);
}

static void taken(const example *e, const char *key, const char *value)
{
    arena *a = arena_new();
    ck_assert_msg(read_op(a, spec_of(a, e, arena_printf(a, ", %s: %s", key, value))) != NULL, "%s: %s: %s", key, value,
                  arena_diagnostics(a));
    arena_free(a);
}

static void check_range(const example *e, const char *key, const char *range)
{
    if (strcmp(range, "> 0") == 0) refused(e, key, "0"), refused(e, key, "-1.5"), taken(e, key, "0.125");
    else if (strcmp(range, ">= 0") == 0) taken(e, key, "0"), refused(e, key, "-1.0e-6");
    else if (strcmp(range, "true, false") == 0) taken(e, key, "true"), taken(e, key, "false"), refused(e, key, "1");
    else if (strncmp(range, ">= 1", 4) == 0) refused(e, key, "0"), refused(e, key, "1.5");
    else if (strncmp(range, ">= 2, even", 10) == 0) refused(e, key, "0"), refused(e, key, "3"), refused(e, key, "6"), taken(e, key, "2");
}

/* A default that the page states in words, as the number that it is in the examples, which have 2 heads of 4 columns. */
static const char *in_numbers(const char *fallback)
{
    static const char *const words[][2] = {{"the head size", "4"}, {"heads", "2"}, {"1/sqrt(head size)", "0.5"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(fallback, words[i][0]) == 0) return words[i][1];
    return NULL;
}

/* Giving the default explicitly changes nothing. */
static void check_default(arena *a, const example *e, const attribute_info *info, char *fallback)
{
    const ir_op *left = read_op(a, spec_of(a, e, ""));
    ck_assert_msg(left && !op_states(left, info->key), "%s", arena_diagnostics(a));
    const ir_attributes zero = {0};
    if (strcmp(fallback, "none") == 0) {
        const size_t size = info->type == attribute_SCALING ? sizeof(rope_scaling) : sizeof(void *);
        ck_assert_msg(memcmp((const char *)&left->attributes + info->offset, (const char *)&zero + info->offset, size) == 0, "%s",
                      info->key);
        return;
    }
    const char *at = fallback, *literal = fallback[0] == '`' ? quoted(a, &at) : in_numbers(fallback);
    ck_assert_msg(literal != NULL, "%s: the default %s says nothing", info->key, fallback);
    const ir_op *given = read_op(a, spec_of(a, e, arena_printf(a, ", %s: %s", info->key, literal)));
    ck_assert_msg(given && op_states(given, info->key), "%s", arena_diagnostics(a));
    ck_assert_msg(memcmp(&given->attributes, &left->attributes, sizeof zero) == 0, "%s: its default is not %s", info->key, literal);
}

START_TEST(every_attribute_has_a_row_with_its_default_and_range)
{
    arena *a = arena_new();
    for (int i = 0; i < attribute_count; i++) {
        const attribute_info *info = &attribute_table[i];
        const char *entry = entry_of(a, op_table[info->op].name);
        row r;
        ck_assert_msg(entry && row_of(a, entry, info->key, &r), "%s has no row for %s", op_table[info->op].name, info->key);
        trim(r.fallback), trim(r.range);
        ck_assert_msg((strcmp(r.fallback, "required") == 0) == info->required, "%s: %s", op_table[info->op].name, info->key);
        const example e = example_of(a, entry);
        if (info->required) continue;
        check_default(a, &e, info, r.fallback);
        if (strcmp(r.range, ">= 1, with causal") != 0) check_range(&e, info->key, r.range);
        else refused(&e, "causal: true, window", "0"), refused(&e, "window", "2"), taken(&e, "causal: true, window", "2");
    }
    arena_free(a);
}
END_TEST

START_TEST(every_row_of_the_attribute_table_is_an_existing_attribute)
{
    arena *a = arena_new();
    int rows = 0;
    for (const char *at = page; (at = strstr(at, "\n| `")) != NULL; at++) rows++;
    ck_assert_int_eq(rows, attribute_count);
    arena_free(a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spec language");
    TCase *c = tcase_create("page");
    tcase_add_unchecked_fixture(c, read_page, NULL);
    tcase_add_test(c, every_op_has_an_entry_whose_example_is_true);
    tcase_add_test(c, every_attribute_has_a_row_with_its_default_and_range);
    tcase_add_test(c, every_row_of_the_attribute_table_is_an_existing_attribute);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
