/* Checkpoints by the public interface: a file, an index with two shards, params of a plan by layer, and what is refused; a checkpoint is
 * still usable after a failure. */
#define _GNU_SOURCE
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/api/tfgen.h"
#include "runtime/data/safetensors.h"
#include "tests/shell.h"
#include "tests/support.h"

static char folder[64];
static void make_folder(void)
{
    strcpy(folder, "/tmp/tfgen-checkpoints-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static void remove_folder(void) { ck_assert_int_eq(shell("rm -rf %s", folder), 0); }

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

typedef struct written {
    arena *a;
    const char *path;
    const safetensors_item *items;
    size_t count;
} written;

static void write_items(void *argument)
{
    const written *w = argument;
    safetensors_write(w->a, w->path, w->items, w->count);
}

static void write_tensors(const char *name, const safetensors_item *items, size_t count)
{
    written w = {arena_new(), in_folder(name), items, count};
    ck_assert_int_eq(arena_run(w.a, write_items, &w), code_ok);
    arena_free(w.a);
}

static const float numbers[6] = {1, 2, 3, 4, 5, 6};
static const long long shape[] = {2, 3};

static tfgen_checkpoint *opened(const char *name)
{
    tfgen_checkpoint *c;
    tfgen_error error = {""};
    ck_assert_msg(tfgen_checkpoint_open(in_folder(name), &c, &error) == TFGEN_OK, "%s", error.text);
    return c;
}

START_TEST(tensors_are_found_and_read_as_they_are)
{
    const safetensors_item items[] = {{"layers.0.w", "F32", 2, shape, numbers}, {"layers.1.w", "F32", 2, shape, numbers}};
    tfgen_checkpoint_entry e = {.size = sizeof e};
    tfgen_error error = {""};
    float data[6] = {0};
    write_tensors("a.safetensors", items, 2);
    tfgen_checkpoint *c = opened("a.safetensors");
    ck_assert_uint_eq(tfgen_checkpoint_count(c), 2);
    ck_assert(strcmp(tfgen_checkpoint_name(c, 0), tfgen_checkpoint_name(c, 1)) != 0);
    ck_assert_ptr_null(tfgen_checkpoint_name(c, 2));
    ck_assert_int_eq(tfgen_checkpoint_find(c, "layers.1.w", &e, &error), TFGEN_OK);
    ck_assert(strcmp(e.dtype, "F32") == 0 && e.rank == 2 && e.shape[0] == 2 && e.shape[1] == 3 && e.bytes == 24);
    ck_assert_int_eq(tfgen_checkpoint_find(c, "layers.2.w", &e, &error), TFGEN_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "has no tensor 'layers.2.w'; did you mean 'layers."), "%s", error.text);
    ck_assert_int_eq(tfgen_checkpoint_read(c, "layers.0.w", data, 20, &error), TFGEN_USAGE);
    ck_assert_str_eq(error.text, "tfgen_checkpoint_read: tensor 'layers.0.w' has 24 bytes, not 20");
    ck_assert_msg(tfgen_checkpoint_read(c, "layers.0.w", data, sizeof data, &error) == TFGEN_OK, "%s", error.text);
    ck_assert_mem_eq(data, numbers, sizeof data);
    ck_assert_int_eq(shell("rm %s", in_folder("a.safetensors")), 0);
    ck_assert_int_eq(tfgen_checkpoint_find(c, "gone", &e, &error), TFGEN_BAD_INPUT); /* and the next call opens the file again */
    ck_assert_int_eq(tfgen_checkpoint_read(c, "layers.0.w", data, sizeof data, &error), TFGEN_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "cannot open") != NULL, "%s", error.text);
    ck_assert_ptr_nonnull(tfgen_checkpoint_name(c, 1));
    tfgen_checkpoint_close(c);
}
END_TEST

/* A spec of one layer of a whole model: the weight is [out, in] in the file and [in, out] in bf16 here. */
static const char layer[] = "block: t\ndtype: bf16\nprefix: model.layers.{layer}.\ninputs: {x: [5, 3]}\n"
                            "params: {w: {shape: [3, 2], from: proj.weight, transpose: true}}\n"
                            "ops:\n  - {out: y, op: linear, in: [x, w], layout: in_out}\noutputs: {y: y}\n";

START_TEST(params_are_loaded_by_layer_in_the_layout_of_the_plan)
{
    const safetensors_item first[] = {{"model.layers.0.proj.weight", "F32", 2, shape, numbers}};
    const float other[6] = {-1, -2, -3, -4, -5, -6};
    const safetensors_item second[] = {{"model.layers.1.proj.weight", "F32", 2, shape, other}};
    const uint16_t expected[] = {0xbf80, 0xc080, 0xc000, 0xc0a0, 0xc040, 0xc0c0}; /* -1 -4 -2 -5 -3 -6 */
    uint16_t data[6];
    tfgen_plan *plan;
    tfgen_error error = {""};
    write_tensors("one.safetensors", first, 1);
    write_tensors("two.safetensors", second, 1);
    ck_assert_int_eq(shell("printf '{\"weight_map\": {\"model.layers.0.proj.weight\": \"one.safetensors\", "
                           "\"model.layers.1.proj.weight\": \"two.safetensors\"}}' >%s/model.safetensors.index.json", folder), 0);
    ck_assert_msg(tfgen_plan_create(layer, sizeof layer - 1, "t.yaml", NULL, &plan, &error) == TFGEN_OK, "%s", error.text);
    const size_t w = tfgen_plan_tensor_index(plan, "w", TFGEN_PARAM);
    tfgen_checkpoint *c = opened("");
    ck_assert_uint_eq(tfgen_checkpoint_count(c), 2);
    ck_assert_int_eq(tfgen_checkpoint_param(c, plan, w, 2, data, sizeof data, &error), TFGEN_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "model.layers.2.proj.weight") || strstr(error.text, "proj.weight"), "%s", error.text);
    ck_assert_msg(tfgen_checkpoint_param(c, plan, w, 1, data, sizeof data, &error) == TFGEN_OK, "%s", error.text);
    ck_assert_mem_eq(data, expected, sizeof data);
    ck_assert_int_eq(tfgen_checkpoint_param(c, plan, w, 1, data, 11, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_checkpoint_param(c, plan, tfgen_plan_tensor_index(plan, "x", TFGEN_INPUT), 1, data, 30, &error), TFGEN_USAGE);
    tfgen_checkpoint_close(c);
    tfgen_plan_free(plan);
}
END_TEST

START_TEST(wrong_calls_and_files_are_refused)
{
    static const char alone[] =
        "block: t\ndtype: f32\ninputs: {x: [5, 3]}\nparams: {w: [2, 3]}\nops:\n  - {out: y, op: linear, in: [x, w]}\n"
        "outputs: {y: y}\n";
    const safetensors_item items[] = {{"w", "F32", 2, (const long long[]){3, 2}, numbers}};
    tfgen_checkpoint *c;
    tfgen_plan *plan;
    tfgen_error error = {""};
    float data[6];
    ck_assert_int_eq(tfgen_checkpoint_open(NULL, &c, &error), TFGEN_USAGE);
    ck_assert_ptr_null(c);
    ck_assert_int_eq(tfgen_checkpoint_open(in_folder("nothing.safetensors"), &c, &error), TFGEN_BAD_INPUT);
    ck_assert_int_eq(shell("head -c 100 /dev/zero >%s/pytorch_model.bin", folder), 0);
    ck_assert_int_eq(tfgen_checkpoint_open(in_folder("pytorch_model.bin"), &c, &error), TFGEN_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "pickle") != NULL, "%s", error.text);
    write_tensors("a.safetensors", items, 1);
    c = opened("a.safetensors");
    ck_assert_int_eq(tfgen_plan_create(alone, sizeof alone - 1, "t.yaml", NULL, &plan, &error), TFGEN_OK);
    const size_t w = tfgen_plan_tensor_index(plan, "w", TFGEN_PARAM);
    ck_assert_int_eq(tfgen_checkpoint_param(c, plan, w, 0, data, sizeof data, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "the spec's prefix has no {layer}") != NULL, "%s", error.text);
    ck_assert_int_eq(tfgen_checkpoint_param(c, plan, w, -1, data, sizeof data, &error), TFGEN_BAD_INPUT);
    ck_assert_msg(strstr(error.text, "tensor 'w' is [3, 2], the spec's %w takes [2, 3]") != NULL, "%s", error.text);
    ck_assert_int_eq(tfgen_checkpoint_param(NULL, plan, w, -1, data, sizeof data, &error), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_checkpoint_find(c, "w", &(tfgen_checkpoint_entry){0}, &error), TFGEN_USAGE);
    ck_assert(tfgen_checkpoint_count(NULL) == 0 && tfgen_checkpoint_name(NULL, 0) == NULL);
    tfgen_checkpoint_close(c);
    tfgen_checkpoint_close(NULL);
    tfgen_plan_free(plan);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("api checkpoints");
    TCase *t = tcase_create("checkpoints");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_test(t, tensors_are_found_and_read_as_they_are);
    tcase_add_test(t, params_are_loaded_by_layer_in_the_layout_of_the_plan);
    tcase_add_test(t, wrong_calls_and_files_are_refused);
    suite_add_tcase(s, t);
    return run_suite(s);
}
