/* Tensors of whole models: folders, indexes, files of one layer, prefixes, inconsistent folders. */
#define _GNU_SOURCE
#include "runtime/data/checkpoint.h"
#include "tests/shell.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static void make_folder(void)
{
    strcpy(folder, "/tmp/tfgen-checkpoint-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static void remove_folder(void) { ck_assert_int_eq(shell("rm -rf %s", folder), 0); }

/* A tensor with one element. */
typedef struct one_tensor {
    const char *name;
    float number;
} one_tensor;

typedef struct attempt {
    arena *a;
    const char *path;
    const one_tensor *tensors;
    size_t count;
    ir_value value;
    layer_place place;
    double out;
} attempt;

static void write_tensors(void *argument)
{
    const attempt *t = argument;
    static const long long shape[] = {1};
    safetensors_item items[4];
    for (size_t i = 0; i < t->count; i++) items[i] = (safetensors_item){t->tensors[i].name, "F32", 1, shape, &t->tensors[i].number};
    safetensors_write(t->a, t->path, items, t->count);
}

static void make_file(const char *name, const one_tensor *tensors, size_t count)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    attempt t = {.a = arena_new(), .path = path, .tensors = tensors, .count = count};
    ck_assert_int_eq(arena_run(t.a, write_tensors, &t), code_ok);
    arena_free(t.a);
}

static void read_one(void *argument)
{
    attempt *t = argument;
    static const char *const prefixes[] = {""};
    static const dim_table no_dims;
    checkpoint *c = checkpoint_open(t->a, t->path);
    checkpoint_read_value(c, &t->value, &no_dims, t->place, prefixes, 1, &t->out);
}

static attempt attempt_at(const char *name, const char *from, const char *prefix, long long layer)
{
    static char path[200];
    snprintf(path, sizeof path, "%s%s%s", folder, name ? "/" : "", name ? name : "");
    return (attempt){.a = arena_new(),
                     .path = path,
                     .value = {.name = "w", .kind = value_param, .from = from, .type = dtype_f32, .rank = 1, .shape = {extent_number(1)}},
                     .place = {prefix, layer}};
}

static double number_of(const char *name, const char *from, const char *prefix, long long layer)
{
    attempt t = attempt_at(name, from, prefix, layer);
    ck_assert_msg(arena_run(t.a, read_one, &t) == code_ok, "%s", arena_diagnostics(t.a));
    arena_free(t.a);
    return t.out;
}

static void refuses(tfgen_code code, const char *name, const char *prefix, long long layer, const char *expected)
{
    attempt t = attempt_at(name, "n.weight", prefix, layer);
    ck_assert_msg(arena_run(t.a, read_one, &t) == code, "%s", expected);
    ck_assert_msg(strstr(arena_diagnostics(t.a), expected) != NULL, "%s\nand not %s", arena_diagnostics(t.a), expected);
    arena_free(t.a);
}

static const one_tensor of_a[] = {{"h.0.n.weight", 5}, {"h.1.n.weight", 6}}, of_b[] = {{"h.2.n.weight", 7}, {"bare", 8}};
static const char index_name[] = "model.safetensors.index.json";
static const char good_index[] =
    "{\"metadata\": {}, \"weight_map\": {\"h.0.n.weight\": \"a.safetensors\", \"h.1.n.weight\": \"a.safetensors\", "
    "\"h.2.n.weight\": \"b.safetensors\", \"bare\": \"b.safetensors\", \"h.3.n.weight\": \"c.safetensors\", "
    "\"h.4.n.weight\": \"a.safetensors\"}}";

START_TEST(shards_are_found_by_the_index)
{
    make_folder();
    make_file("a.safetensors", of_a, 2);
    make_file("blob", of_b, 2);
    /* links, as in the cache of the Hugging Face Hub */
    ck_assert_int_eq(shell("cd %s && mkdir cache && mv blob cache/0123 && ln -s cache/0123 b.safetensors", folder), 0);
    write_file(folder, index_name, "%s", good_index);
    ck_assert_double_eq(number_of(NULL, "n.weight", "h.{layer}.", 1), 6);
    ck_assert_double_eq(number_of(NULL, "n.weight", "h.{layer}.", 2), 7);
    ck_assert_double_eq(number_of(index_name, "n.weight", "h.{layer}.", 0), 5);
    ck_assert_double_eq(number_of("b.safetensors", "n.weight", "h.{layer}.", 2), 7);
    ck_assert_double_eq(number_of(NULL, "bare", "h.{layer}.", -1), 8);
    ck_assert_double_eq(number_of(NULL, "weight", "h.0.n.", -1), 5); /* a prefix without {layer} is used as it is */
    refuses(code_bad_input, NULL, "h.{layer}.", -1, "has no tensor 'n.weight'; choose a layer with --layer=N; there is h.0.n.weight");
    refuses(code_bad_input, NULL, "h.{layer}.", 9, "has no tensor 'n.weight' of layer 9; there is h.0.n.weight");
    refuses(code_bad_input, NULL, "x.{layer}.", 1, "there is h.0.n.weight: write prefix: h.{layer}. in the spec, and say --layer=0");
    refuses(code_bad_input, NULL, NULL, -1, "write prefix: h.{layer}. in the spec, and say --layer=0");
    refuses(code_usage, NULL, NULL, 1, "--layer: the spec has no prefix: with {layer} in it");
    refuses(code_bad_input, NULL, "h.{layer}.", 3, "c.safetensors: error: cannot open: No such file");
    refuses(code_bad_input, NULL, "h.{layer}.", 4, "a.safetensors: error: has no tensor 'n.weight'");
    remove_folder();
}
END_TEST

START_TEST(a_folder_with_one_file_needs_no_index)
{
    make_folder();
    refuses(code_bad_input, NULL, NULL, -1, "is a folder without a .safetensors file");
    write_file(folder, "pytorch_model.bin", "x");
    refuses(code_bad_input, NULL, NULL, -1, "pytorch_model.bin is a pickle, which runs code of its author when it is read");
    refuses(code_bad_input, "pytorch_model.bin", NULL, -1, "this is a pickle");
    make_file("a.safetensors", of_a, 2);
    ck_assert_double_eq(number_of(NULL, "n.weight", "h.{layer}.", 1), 6);
    make_file("b.safetensors", of_b, 2);
    refuses(code_bad_input, NULL, NULL, -1, "has 2 .safetensors files and no model.safetensors.index.json");
    make_file("model.safetensors", of_b, 2);
    ck_assert_double_eq(number_of(NULL, "n.weight", "h.{layer}.", 2), 7);
    remove_folder();
}
END_TEST

START_TEST(an_index_stays_within_its_folder)
{
    static const struct {
        const char *index, *expected;
    } cases[] = {
        {"{\"weight_map\": {\"n.weight\": \"../a.safetensors\"}}",
         "\"../a.safetensors\" should be the name of a .safetensors file in the folder of the index"},
        {"{\"weight_map\": {\"n.weight\": \"/tmp/a.safetensors\"}}", "\"/tmp/a.safetensors\" should be the name of"},
        {"{\"weight_map\": {\"n.weight\": \".a.safetensors\"}}", "\".a.safetensors\" should be the name of"},
        {"{\"weight_map\": {\"n.weight\": \"\"}}", "\"\" should be the name of"},
        {"{\"weight_map\": {\"n.weight\": \"a.py\"}}", "\"a.py\" should be the name of"},
        {"{\"weight_map\": {\"n.weight\": \"a.bin\"}}", "a.bin is a pickle"},
        {"{\"weight_map\": {\"n.weight\": 3}}", "weight_map: the file of n.weight should be a string"},
        {"{\"weight_map\": {\"a\": \"a.safetensors\", \"a\": \"b.safetensors\"}}", "line 1, column "},
        {"{\"weight_map\": []}", "has no object \"weight_map\""},
        {"[1]", "has no object \"weight_map\""},
        {"{\"weight_map\": ", "line 1, column "},
    };
    make_folder();
    make_file("a.safetensors", of_a, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file(folder, index_name, "%s", cases[i].index);
        refuses(code_bad_input, NULL, NULL, -1, cases[i].expected);
    }
    ck_assert_int_eq(shell("cd %s && rm %s && mkfifo %s", folder, index_name, index_name), 0);
    refuses(code_bad_input, NULL, NULL, -1, "it is a named pipe, not a file");
    remove_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *c = tcase_create("checkpoint");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, shards_are_found_by_the_index);
    tcase_add_test(c, a_folder_with_one_file_needs_no_index);
    tcase_add_test(c, an_index_stays_within_its_folder);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
