/* `tfgen fit`: its bytes are those that the runtime allocates, its largest value is the closed form's, and one more does not fit. */
#define _GNU_SOURCE
#include "runtime/api/tfgen.h"
#include "runtime/cli/footprint.h"
#include "tests/shell.h"
#include "tests/support.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what the runtime allocates */
static tfgen_error error;
static void must(tfgen_status status) { ck_assert_msg(status == TFGEN_OK, "%d: %s", status, error.text); }

/* Products, norms, a bias that is read as it is, caches, an input and an output whose rows lie apart. */
static const char decode[] =
    "block: d\ndtype: f32\ndims: {B: 3, S: 1, L: 8, D: 24, H: 2, hd: 12, X: 56}\n"
    "dynamic: {B: [1, 64], X: [D, 96]}\ninputs: {x: {shape: [B, S, D], stride: X}, pos: {shape: [B], dtype: i32, range: [0, L-S]}}\n"
    "params: {n: [D], q: [H*hd, D], k: [H*hd, D], v: [H*hd, D], o: [D, H*hd], b: [D]}\nstate: {kc: [B, H, L, hd], vc: [B, H, L, hd]}\n"
    "ops:\n  - {out: h, op: rmsnorm, in: [x, n]}\n  - {out: qq, op: linear, in: [h, q]}\n  - {out: kk, op: linear, in: [h, k]}\n"
    "  - {out: vv, op: linear, in: [h, v]}\n  - {out: k2, op: kv_append, in: [kk], state: kc, at: pos}\n"
    "  - {out: v2, op: kv_append, in: [vv], state: vc, at: pos}\n"
    "  - {out: a, op: attention, in: [qq, k2, v2], heads: H, causal: true, at: pos}\n  - {out: y, op: linear, in: [a, o, b]}\n"
    "outputs: {y: {value: y, stride: 40}}\n";

typedef struct allocated {
    double weights, states, workspace, activations, originals;
} allocated;

static allocated allocated_by_runtime(const char *yaml)
{
    allocated sum = {0};
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    void *tensors[32] = {NULL};
    must(tfgen_device_open("host", &device, &error));
    must(tfgen_plan_create(yaml, strlen(yaml), "f.yaml", NULL, &plan, &error));
    must(tfgen_module_create(plan, device, NULL, &module, &error));
    for (size_t i = 0; i < tfgen_plan_tensor_count(plan); i++) {
        tfgen_tensor t = {.size = sizeof t};
        must(tfgen_plan_tensor(plan, i, &t));
        *(t.kind == TFGEN_PARAM ? &sum.originals : t.kind == TFGEN_STATE ? &sum.states : &sum.activations) += (double)t.bytes;
        must(tfgen_device_alloc(device, (size_t)t.bytes, &tensors[i], &error));
    }
    must(tfgen_weights_create(module, tensors, NULL, &weights, &error));
    sum.weights = (double)tfgen_weights_bytes(weights);
    sum.workspace = (double)tfgen_plan_workspace_bytes(plan);
    tfgen_weights_free(weights);
    for (size_t i = 0; i < tfgen_plan_tensor_count(plan); i++) tfgen_device_free(device, tensors[i]);
    tfgen_module_free(module);
    tfgen_plan_free(plan);
    tfgen_device_close(device);
    return sum;
}

START_TEST(fit_predicts_each_kind_of_memory_that_the_runtime_allocates)
{
    rig *r = rig_plan(&(rig_request){.yaml = decode, .level = fusion_tile});
    const footprint f = footprint_of(r->a, r->c.plan);
    const allocated real = allocated_by_runtime(decode);
    double sums[memory_kind_count] = {0};
    for (int i = 0; i < f.count; i++) sums[f.items[i].kind] += f.items[i].bytes;
    ck_assert_double_eq(f.of[memory_weights], real.weights);
    ck_assert_double_eq(f.of[memory_states], real.states);
    ck_assert_double_eq(f.of[memory_workspace], real.workspace);
    ck_assert_double_eq(f.of[memory_activations], real.activations);
    ck_assert_double_eq(f.originals, real.originals);
    for (int kind = 0; kind < memory_kind_count; kind++) ck_assert(sums[kind] == f.of[kind] && sums[kind] > 0);
    ck_assert_double_eq(footprint_bytes(&f, 7), 7 * (real.weights + real.states) + real.workspace + real.activations);
    ck_assert_double_eq(footprint_packing(&f, 7), 7 * real.weights + real.originals);
    rig_close(r);
}
END_TEST

/* ---- the command */
static void write_temporary(char *path, const char *content)
{
    const int file = mkstemps(path, 5);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, content, strlen(content)), strlen(content));
    close(file);
}

static const char model[] = "name: small\nlabel: x\ntarget: host\nunits: {is: 1, chosen: x}\nchiplets: {is: 1, chosen: x}\n"
                            "memory: {is: 1e6, chosen: x}\n";

/* x and y of [M, D] in f32: M * D * 8 bytes. */
START_TEST(the_largest_value_is_the_closed_form_and_one_more_does_not_fit)
{
    char spec[] = "/tmp/tfgen-fit-XXXXXX.yaml", device[] = "/tmp/tfgen-dev-XXXXXX.yaml";
    write_temporary(spec, "block: e\ndtype: f32\ndims: {M: 2, D: 25}\ndynamic: {M: [1, 100000]}\ninputs: {x: [M, D]}\n"
                          "ops:\n  - {out: y, op: exp, in: [x]}\noutputs: {y: y}\n");
    write_temporary(device, model);
    ck_assert_int_eq(tfgen("fit %s --device-model=%s --memory=0.5 --largest=M,D --json", spec, device), 0);
    json_t *all = json_loads(output, 0, NULL), *m = json_array_get(all, 0), *d = json_array_get(all, 1);
    ck_assert_double_eq(number(m, "largest"), 500000 / (25 * 8));
    ck_assert_double_eq(number(m, "bytes"), 500000);
    ck_assert_double_eq(number(m, "bytes_of_one_more"), 500000 + 25 * 8);
    ck_assert_double_eq(number(m, "activations"), 500000);
    ck_assert_double_eq(number(d, "largest"), 500000 / (2 * 8));
    json_decref(all);
    ck_assert_int_eq(tfgen("fit %s --device-model=%s --memory=1", spec, device), 0);
    says("largest M: 5000");
    says("with M=5001");
    ck_assert_int_eq(tfgen("fit %s --device-model=%s --memory=0.0001", spec, device), 4);
    says("M: not even the smallest value, 1, fits: it needs 0.000 GB");
    ck_assert_int_eq(tfgen("fit %s --target=sm_90a", spec), 0);
    says("largest M: 100000");
    says("the spec allows no more");
    unlink(spec), unlink(device);
}
END_TEST

/* D must be a multiple of H=4 (hd: D/H), and at least 8, since rope needs an even head size: x, r and y of [M, D] in f32. */
START_TEST(only_legal_sizes_are_tried_in_steps)
{
    char spec[] = "/tmp/tfgen-fit-XXXXXX.yaml", device[] = "/tmp/tfgen-dev-XXXXXX.yaml";
    write_temporary(spec, "block: e\ndtype: f32\ndims: {B: 1, M: 10, D: 40, H: 4, hd: D/H}\ninputs: {x: [B, M, H*hd]}\n"
                          "ops:\n  - {out: y, op: rope, in: [x], heads: H, pairing: half}\noutputs: {y: y}\n");
    write_temporary(device, model);
    ck_assert_int_eq(tfgen("fit %s --device-model=%s --memory=0.02 --largest=D --json", spec, device), 0);
    json_t *all = json_loads(output, 0, NULL), *d = json_array_get(all, 0);
    ck_assert_int_eq(integer(d, "step"), 8);
    ck_assert_int_eq(integer(d, "largest"), 20000 / (2 * 10 * 4) / 8 * 8);
    json_decref(all);
    /* less memory than the spec's own D needs */
    ck_assert_int_eq(tfgen("fit %s --device-model=%s --memory=0.002 --largest=D", spec, device), 0);
    says("largest D: 24, in steps of 8");
    says("with D=32: ");
    ck_assert_int_eq(tfgen("fit %s --device-model=%s --memory=0.0001 --largest=D", spec, device), 4);
    says("D: not even the smallest value, 8, fits");
    ck_assert_int_eq(tfgen("fit specs/llama-block.yaml --device-model=h200 --largest=D"), 0);
    says("in steps of 16");
    unlink(spec), unlink(device);
}
END_TEST

START_TEST(layers_have_weights_and_states_of_their_own)
{
    ck_assert_int_eq(tfgen("fit specs/llama-decode.yaml --preset=llama-1b --json"), 0);
    json_t *one = json_loads(output, 0, NULL), *a = json_array_get(one, 0);
    ck_assert_int_eq(tfgen("fit specs/llama-decode.yaml --preset=llama-1b --layers=16 --json"), 0);
    json_t *many = json_loads(output, 0, NULL), *b = json_array_get(many, 0);
    ck_assert_double_eq(number(a, "largest"), number(b, "largest"));
    ck_assert_double_eq(number(b, "weights"), 16 * number(a, "weights"));
    ck_assert_double_eq(number(b, "states"), 16 * number(a, "states"));
    ck_assert_double_eq(number(b, "workspace"), number(a, "workspace"));
    ck_assert_double_eq(number(a, "states"), 2.0 * 1024 * 8 * 1024 * 64 * 2); /* B KV L hd, keys and values in bf16 */
    json_decref(one), json_decref(many);
}
END_TEST

START_TEST(fit_refuses_what_it_cannot_do)
{
    ck_assert_int_eq(tfgen("fit specs/rmsnorm.yaml --target=host"), 2);
    says("device model host does not say how much memory there is");
    ck_assert_int_eq(tfgen("fit specs/rmsnorm.yaml --largest=Q"), 2);
    says("--largest: no dim of the spec is called 'Q'; they are B, S, D");
    ck_assert_int_eq(tfgen("fit specs/rmsnorm.yaml --largest=S,D,S"), 2);
    says("--largest: S is named twice");
    ck_assert_int_eq(tfgen("fit specs/rmsnorm.yaml --memory=80G"), 2);
    says("--memory: '80G' is not a number from 0 to 1");
    ck_assert_int_eq(tfgen("fit specs/rmsnorm.yaml --layers=0"), 2);
    ck_assert_int_eq(tfgen("fit specs/bad/add-shapes.yaml"), 3);
    ck_assert_int_eq(tfgen("fit specs/rmsnorm.yaml specs/linear.yaml"), 2);
    says("fit takes one SPEC");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fit");
    TCase *bytes = tcase_create("bytes"), *command = tcase_create("command");
    tcase_add_test(bytes, fit_predicts_each_kind_of_memory_that_the_runtime_allocates);
    tcase_add_test(command, the_largest_value_is_the_closed_form_and_one_more_does_not_fit);
    tcase_add_test(command, only_legal_sizes_are_tried_in_steps);
    tcase_add_test(command, layers_have_weights_and_states_of_their_own);
    tcase_add_test(command, fit_refuses_what_it_cannot_do);
    tcase_set_timeout(bytes, 120);
    suite_add_tcase(suite, bytes);
    suite_add_tcase(suite, command);
    return run_suite(suite);
}
