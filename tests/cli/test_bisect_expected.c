/* `tfgen bisect --expected`: where another framework's numbers begin to differ from a spec's. */
#include "tests/cli/bisect_rig.h"
#include "ir/graph/half.h"
#include "runtime/data/safetensors.h"
#include <math.h>

/* ---- another framework's numbers */
enum { rows = 37, length = 256, columns = 344 };
typedef struct swiglu {
    arena *a;
    double *x, *w_gate, *w_up, *gate, *up, *act, *prod;
} swiglu;

static double *read_tensor(arena *a, const safetensors *file, const char *name)
{
    const safetensors_tensor *t = safetensors_need(file, name);
    double *out = arena_alloc(a, (size_t)t->count * sizeof *out);
    safetensors_read(file, t, out);
    return out;
}

static double *product(arena *a, const double *x, const double *w)
{
    double *y = arena_alloc(a, (size_t)rows * columns * sizeof *y);
    for (int r = 0; r < rows; r++)
        for (int n = 0; n < columns; n++)
            for (int k = 0; k < length; k++) y[r * columns + n] += x[r * length + k] * w[n * length + k];
    return y;
}

static double silu(double x) { return x / (1 + exp(-x)); }
static double gelu(double x) { return x * (1 + erf(x / sqrt(2))) / 2; }

/* Numbers as a framework would compute them that uses another function in place of silu. */
static void compute(void *argument, double (*function)(double))
{
    swiglu *s = argument;
    const safetensors *file = safetensors_open(s->a, path_of("data.safetensors"));
    s->x = read_tensor(s->a, file, "x"), s->w_gate = read_tensor(s->a, file, "w_gate"), s->w_up = read_tensor(s->a, file, "w_up");
    s->gate = product(s->a, s->x, s->w_gate), s->up = product(s->a, s->x, s->w_up);
    s->act = arena_alloc(s->a, (size_t)rows * columns * sizeof(double)),
    s->prod = arena_alloc(s->a, (size_t)rows * columns * sizeof(double));
    for (int i = 0; i < rows * columns; i++) s->act[i] = function(s->gate[i]), s->prod[i] = s->act[i] * s->up[i];
}

static void write_all(swiglu *s, const char *file, bool whole)
{
    static const long long shape[3] = {1, rows, columns}; /* a framework may have no axis of batches */
    const safetensors_item items[] = {{"prod", "F64", 2, shape + 1, s->prod},
                                      {"gate", "F64", 3, shape, s->gate},
                                      {"up", "F64", 3, shape, s->up},
                                      {"act", "F64", 3, shape, s->act},
                                      {"logits", "F64", 3, shape, s->act}};
    safetensors_write(s->a, path_of(file), items, whole ? 5 : 1);
}

/* Writes right and wrong values in turn, and leaves out some in between. */
static void write_some(swiglu *s, const char *file)
{
    static const long long shape[3] = {rows, columns, 1}; /* axes of one element do not count, wherever they are */
    const safetensors_item items[] = {{"prod", "F64", 3, shape, s->prod}, {"up", "F64", 2, shape, s->up}};
    safetensors_write(s->a, path_of(file), items, 2);
}

static void write_files(void *argument)
{
    compute(argument, silu), write_all(argument, "right.safetensors", true);
    compute(argument, gelu), write_all(argument, "wrong.safetensors", true), write_all(argument, "end.safetensors", false);
    write_some(argument, "some.safetensors");
}

static void make_files(void)
{
    swiglu s = {.a = arena_new()};
    ck_assert_int_eq(tfgen("run " SWIGLU " --repeat=0 --dump-data=%s/data.safetensors", folder), 0);
    ck_assert_int_eq(arena_run(s.a, write_files, &s), code_ok);
    arena_free(s.a);
}

static int compare_with(const char *file)
{
    return tfgen("bisect " SWIGLU " --weights=%s/data.safetensors --input=%s/data.safetensors --expected=%s/%s --json", folder, folder,
                 folder, file);
}

START_TEST(bisect_finds_the_first_op_that_differs_from_another_framework)
{
    make_files();
    ck_assert_msg(compare_with("right.safetensors") == 0, "%s", output);
    parse();
    const json_t *e = json_object_get(found, "expected");
    ck_assert_int_eq(integer(e, "values"), 4);
    ck_assert_str_eq(string(e, "unknown"), "logits");
    ck_assert_msg(compare_with("wrong.safetensors") == 1, "%s", output);
    parse();
    const json_t *parted = json_object_get(json_object_get(found, "expected"), "first");
    ck_assert_str_eq(string(parted, "value"), "act");
    ck_assert_str_eq(string(parted, "op"), "silu");
    ck_assert_int_eq(integer(json_object_get(parted, "spec"), "line"), 21);
    ck_assert_double_gt(json_number_value(json_object_get(parted, "ratio")), 1);
    ck_assert_ptr_null(json_object_get(found, "first")); /* the kernels are right */
    ck_assert_msg(compare_with("end.safetensors") == 1, "%s", output);
    parse();
    e = json_object_get(found, "expected");
    ck_assert_str_eq(string(json_object_get(e, "first"), "value"), "prod");
    ck_assert_str_eq(string(e, "between"), "gate, up, act");
    ck_assert_msg(compare_with("some.safetensors") == 1, "%s", output);
    parse();
    e = json_object_get(found, "expected");
    ck_assert_str_eq(string(json_object_get(e, "first"), "value"), "prod");
    ck_assert_str_eq(string(e, "between"), "act"); /* gate comes before up; up is in the file and right */
}
END_TEST

START_TEST(files_that_are_not_of_the_spec_are_refused)
{
    make_files();
    ck_assert_int_eq(compare_with("data.safetensors"), 3);
    says("has no value of specs/swiglu.yaml");
    ck_assert_int_eq(tfgen("bisect " SWIGLU " --dim=S=3 --expected=%s/right.safetensors", folder), 3);
    says("gate is [1,37,344], the spec's %gate is [1,3,344]");
    ck_assert_int_eq(compare_with("nothing.safetensors"), 3);
}
END_TEST

/* cos, sin and each product rounded to bf16, as PyTorch's ops leave them: further from the spec than its own kernels may be. */
static void write_rope(arena *a, const char *file, const double *x, double theta)
{
    enum { tokens = 37, size = 32 };
    static const long long shape[3] = {1, tokens, size};
    double *y = arena_alloc(a, tokens * size * sizeof *y);
    for (int t = 0; t < tokens; t++)
        for (int d = 0; d < size / 2; d++) {
            const double angle = t * pow(theta, -2.0 * d / size), low = x[t * size + d], high = x[t * size + d + size / 2];
            const double c = dtype_round(dtype_bf16, cos(angle)), s = dtype_round(dtype_bf16, sin(angle));
            const double l = dtype_round(dtype_bf16, low * c) - dtype_round(dtype_bf16, high * s);
            const double h = dtype_round(dtype_bf16, high * c) + dtype_round(dtype_bf16, low * s);
            y[t * size + d] = dtype_round(dtype_bf16, l), y[t * size + d + size / 2] = dtype_round(dtype_bf16, h);
        }
    const safetensors_item item = {"y", "F64", 3, shape, y};
    safetensors_write(a, path_of(file), &item, 1);
}

static void write_ropes(void *a)
{
    const double *x = read_tensor(a, safetensors_open(a, path_of("data.safetensors")), "x");
    write_rope(a, "same.safetensors", x, 10000), write_rope(a, "other.safetensors", x, 12000);
}

START_TEST(inner_roundings_of_an_op_are_no_difference_from_another_framework)
{
    arena *a = arena_new();
    write_text("s.yaml", "block: turn\ndtype: bf16\ndims: {B: 1, S: 37, D: 32}\ninputs: {x: [B, S, D]}\n"
                         "ops:\n  - {out: y, op: rope, in: [x], heads: 1, pairing: half, theta: 10000}\noutputs: {y: y}\n");
    ck_assert_int_eq(tfgen("run %s/s.yaml --target=host --repeat=0 --dump-data=%s/data.safetensors", folder, folder), 0);
    ck_assert_int_eq(arena_run(a, write_ropes, a), code_ok);
    arena_free(a);
    static const char command[] = "bisect %s/s.yaml --target=host --input=%s/data.safetensors --expected=%s/%s.safetensors";
    ck_assert_msg(tfgen(command, folder, folder, folder, "same") == 0, "%s", output);
    ck_assert_msg(tfgen(command, folder, folder, folder, "other") == 1, "%s", output);
    says("other.safetensors first differs from the spec at %y");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bisect expected");
    TCase *numbers = tcase_create("numbers");
    tcase_set_timeout(numbers, 120);
    tcase_add_checked_fixture(numbers, open_folder, close_folder);
    tcase_add_test(numbers, bisect_finds_the_first_op_that_differs_from_another_framework);
    tcase_add_test(numbers, inner_roundings_of_an_op_are_no_difference_from_another_framework);
    tcase_add_test(numbers, files_that_are_not_of_the_spec_are_refused);
    suite_add_tcase(suite, numbers);
    return run_suite(suite);
}
