/* `tfgen run`: its report, the files that it writes and those that it reads. */
#include "tests/cli/cli_rig.h"
#include <jansson.h>
#include <stdint.h>

START_TEST(run_checks_itself_and_reports_json)
{
    ck_assert_int_eq(tfgen("run specs/rmsnorm.yaml --json --repeat=0"), 0);
    json_t *result = json_loads(output, 0, NULL);
    ck_assert_ptr_nonnull(result);
    ck_assert(json_is_true(json_object_get(result, "good")) && json_is_true(json_object_get(result, "referenced")));
    json_decref(result);
}
END_TEST

/* Each layer is compared with float64 on what the device's layer before it stored. */
START_TEST(layers_of_a_stack_run_in_one_launch)
{
    static const char *const targets[] = {"host", "sm_90a --check", "gfx942 --check", "gfx1201 --check",
                                          "sm_90a --check '--tile=gemm: layer=ring threads=128'"};
    ck_assert_int_eq(tfgen("run specs/llama-decode.yaml --dim=B=2,L=37,D=64,H=4,KV=2,hd=16,F=96 --layers=3 --repeat=0 --target=%s",
                           targets[_i]), 0);
    says("level block");
    says("1 launch,");
    says("2: kc ");
    says("2: y ");
    ck_assert_ptr_null(strstr(output, "3: "));
}
END_TEST

START_TEST(stacked_layers_may_split_what_the_layer_before_stored)
{
    ck_assert_msg(tfgen("run tests/cli/split-layer.yaml --layers=3 --fusion=block --repeat=0 --target=host") == 0, "%s", output);
    says("2: y ");
}
END_TEST

START_TEST(emit_writes_the_kernel_of_a_stack)
{
    make_folder();
    ck_assert_int_eq(tfgen("%s", in_folder("emit specs/llama-decode.yaml --stack --dump=plan > %s/a.ir && grep -A1 'level block' %s/a.ir")),
                     0);
    says("stacked");
    ck_assert_int_eq(tfgen("%s", in_folder("emit %s/a.ir --from=plan --dump=plan | cmp - %s/a.ir && echo same")), 0);
    says("same");
    ck_assert_int_eq(tfgen("%s", in_folder("emit %s/a.ir --from=plan --stack --dump=plan")), 2);
    says("says whether it is of a stack");
    ck_assert_int_eq(tfgen("emit specs/llama-decode.yaml --stack --fusion=tile --dump=plan"), 2);
    says("a stack is of level block");
    remove_folder();
}
END_TEST

START_TEST(options_for_one_layer_are_refused_with_layers)
{
    static const struct {
        const char *options, *error;
    } wrong[] = {{"--layers=0", "--layers"}, {"--layers=0-3", "--layers"}, {"--layers=2 --fusion=tile", "--fusion=block"},
                 {"--layers=2 -o x.safetensors", "--output is for one layer"}, {"--layers=2 --state=x", "--state is for one layer"}};
    ck_assert_int_eq(tfgen("run specs/llama-decode.yaml %s", wrong[_i].options), 2);
    says(wrong[_i].error);
}
END_TEST

START_TEST(strided_rows_are_read_and_written_in_place)
{
    static const char *const targets[] = {"host", "sm_90a", "gfx942", "sm_90a --dtype=f32 --dim P=4"};
    ck_assert_int_eq(tfgen("run tests/cli/strides.yaml -q --repeat=0 --target=%s", targets[_i]), 0);
}
END_TEST

/* Gaps between rows of inputs hold NaN, and gaps between rows of outputs must not be written. The plan is made for other strides than those
 * of the call. */
START_TEST(row_strides_given_by_a_call_are_used)
{
    static const char *const targets[] = {"host", "sm_90a", "sm_80", "gfx942", "gfx1100", "sm_90a --dtype=f32"};
    ck_assert_int_eq(tfgen("run tests/cli/steps.yaml -q --repeat=0 --target=%s", targets[_i]), 0);
    ck_assert_int_eq(tfgen("run tests/cli/steps.yaml -q --repeat=0 --dim X=64 --dim N=328 --dim S=9 --target=%s", targets[_i]), 0);
}
END_TEST

/* The call gives row strides: each program of a product reads A and stores its result with them, and each program of attention reads q, k
 * and v. */
START_TEST(every_program_takes_row_strides_given_by_a_call)
{
    static const char *const ways[] = {
        "sm_90a --tile=h:layer=simt", "sm_90a --tile=h:layer=skinny",  "sm_90a --tile=h:layer=register_fed", "sm_90a --tile=h:layer=ring",
        "sm_90a --tile=h:layer=swap_ab", "sm_90a --tile=h:layer=wgmma", "sm_90a --tile=h:layer=mma", "sm_90a --dtype=f32",
        "gfx942 --tile=h:layer=mfma", "gfx942 --tile=h:layer=register_fed", "gfx1100 --tile=h:layer=wmma"
    };
    ck_assert_int_eq(tfgen("run tests/cli/steps-product.yaml -q --repeat=0 --dim M=65 --target=%s", ways[_i]), 0);
    if (_i < 9 && _i != 0 && _i != 5) return;
    static const char *const targets[] = {[0] = "sm_80", [5] = "sm_90a", [9] = "gfx942", [10] = "gfx1100"};
    ck_assert_int_eq(tfgen("run tests/cli/steps-attention.yaml -q --repeat=0 --target=%s", targets[_i]), 0);
}
END_TEST

/* The call gives row strides. What one layer hands to the next lies in the workspace, in dense rows. */
START_TEST(stacked_layers_read_strided_rows_of_a_call_but_hand_on_dense_rows)
{
    static const char *const targets[] = {"host", "sm_90a --check", "gfx942 --check"};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(tfgen("run tests/cli/steps-layer.yaml --layers=3 --repeat=0 --dim=X=64,B=3 --target=%s", targets[i]), 0);
    make_folder();
    ck_assert_int_eq(tfgen("%s", in_folder("run tests/cli/steps-layer.yaml --repeat=0 && sed 's|x: .B, S, D.|x: {shape: [B, S, D], "
                                           "stride: X}|' tests/cli/steps-layer.yaml > %s/x.yaml")), 0);
    ck_assert_int_eq(tfgen("%s", in_folder("run tests/cli/steps-layer.yaml --repeat=0 && sed 's|y: y|y: {value: y, stride: X}|' "
                                           "tests/cli/steps-layer.yaml > %s/y.yaml")), 0);
    ck_assert_int_eq(tfgen("%s", in_folder("run %s/x.yaml --layers=3 --repeat=0")), 4);
    says("x.yaml:6:10: error: a stack of layers: x has strided rows; tensors between layers are dense");
    ck_assert_int_eq(tfgen("%s", in_folder("run %s/y.yaml --layers=3 --repeat=0")), 4);
    says("a stack of layers: y has strided rows; tensors between layers are dense");
    remove_folder();
}
END_TEST

START_TEST(nothing_is_read_after_the_last_row_of_a_strided_tensor)
{
    static const char *const targets[] = {"sm_90a", "gfx942"};
    for (int i = 0; i < 2; i++) ck_assert_int_eq(tfgen("run tests/cli/odd-row.yaml --check -q --repeat=0 --target=%s", targets[i]), 0);
}
END_TEST

START_TEST(the_text_of_a_plan_keeps_strides)
{
    make_folder();
    ck_assert_int_eq(tfgen("%s", in_folder("tests/cli/strides.yaml --dump=fuse > %s/a.ir && grep -q '/192 ' %s/a.ir")), 0);
    ck_assert_int_eq(tfgen("%s", in_folder("%s/a.ir --from=fuse --dump=fuse | cmp - %s/a.ir && echo same")), 0);
    says("same");
    ck_assert_int_eq(tfgen("%s", in_folder("tests/cli/steps.yaml --dump=fuse > %s/b.ir && grep -q '/X ' %s/b.ir")), 0);
    ck_assert_int_eq(tfgen("%s", in_folder("%s/b.ir --from=fuse --dump=fuse | cmp - %s/b.ir && echo same")), 0);
    says("same");
    ck_assert_int_eq(tfgen("%s", in_folder("tests/cli/steps.yaml --dump=ir | sed 's|^%%p  *bf16.B,S,40.|&/N|' > %s/c.ir")), 0);
    ck_assert_int_eq(tfgen("%s", in_folder("%s/c.ir --from=ir --dump=ir")), 3);
    says("views: %p is no input or output, so that a call does not give its stride");
    remove_folder();
}
END_TEST

START_TEST(outputs_are_written_and_depend_on_the_seed)
{
    make_folder();
    ck_assert_int_eq(tfgen("%s", in_folder("run specs/softmax.yaml -q --repeat=0 -o %s/a.safetensors")), 0);
    ck_assert_int_eq(tfgen("%s", in_folder(
                         "run specs/softmax.yaml -q --repeat=0 -o %s/b.safetensors; cmp %s/a.safetensors %s/b.safetensors && echo same")),
                     0);
    says("same");
    ck_assert_int_eq(
        tfgen("%s", in_folder(
            "run specs/softmax.yaml -q --repeat=0 --seed=2 -o %s/c.safetensors; cmp -s %s/a.safetensors %s/c.safetensors || echo differs")),
        0);
    says("differs");
    remove_folder();
}
END_TEST

/* Writes x, two rows of eight, and `at`, their positions in the cache. Values are whole numbers, so nothing rounds. */
static void write_step(int step, float x[2][8])
{
    char path[128], header[256];
    const int32_t at[2] = {step, 2 - step};
    snprintf(path, sizeof path, "%s/in%d", folder, step);
    const uint64_t size = (uint64_t)snprintf(header, sizeof header, "{\"x\":{\"dtype\":\"F32\",\"shape\":[2,1,8],\"data_offsets\":[0,64]},"
                                                                    "\"at\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[64,72]}}");
    for (int i = 0; i < 16; i++) x[i / 8][i % 8] = (float)(100 * step + i);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fwrite(&size, sizeof size, 1, f);
    fwrite(header, 1, size, f);
    fwrite(x, sizeof *x, 2, f);
    fwrite(at, sizeof at, 1, f);
    fclose(f);
}

static void read_tensor(const char *name, const char *tensor, void *out, size_t bytes)
{
    char path[128], header[4096] = "";
    uint64_t size;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(&size, sizeof size, 1, f), 1);
    ck_assert_uint_eq(fread(header, 1, size, f), size);
    json_t *all = json_loadb(header, size, 0, NULL), *ends = json_object_get(json_object_get(all, tensor), "data_offsets");
    ck_assert_msg(ends && json_integer_value(json_array_get(ends, 1)) - json_integer_value(json_array_get(ends, 0)) == (json_int_t)bytes,
                  "no %s in %s", tensor, header);
    fseek(f, (long)(8 + size) + (long)json_integer_value(json_array_get(ends, 0)), SEEK_SET);
    ck_assert_uint_eq(fread(out, 1, bytes, f), bytes);
    json_decref(all);
    fclose(f);
}

START_TEST(a_decode_step_begins_with_the_states_of_the_step_before)
{
    float x[3][2][8], kept[2][2][4][4], before[2][2][4][4];
    char arguments[512];
    make_folder();
    write_file(
        folder, "chain.yaml", "%s",
        "block: chain\ndtype: f32\ndims: {B: 2, S: 1, D: 8, L: 4}\ninputs: {x: [B, S, D], at: {shape: [B], dtype: i32, range: [0, L-S]}}\n"
        "state: {kept: [B, 2, L, 4]}\nops:\n  - {out: all, op: kv_append, in: [x], state: kept, at: at}\n  - {out: y, op: relu, in: [x]}\n"
        "  - {out: k, op: attention, in: [x, all, all], heads: 2, causal: true, at: at}\noutputs: {y: y, k: k}\n");
    for (int step = 0; step < 3; step++) { /* sequence 0 is filled from its first row on, sequence 1 from its third row down */
        write_step(step, x[step]);
        snprintf(arguments, sizeof arguments, "run %s/chain.yaml -q --repeat=2 --input=%s/in%d -o %s/out%d", folder, folder, step, folder,
                 step);
        if (step == 0) ck_assert_int_eq(tfgen("%s", arguments), 3); /* without a file of states there is an error, not a made-up state */
        if (step == 0) says("kept");
        snprintf(arguments + strlen(arguments), 128, " --state=%s/out%d", folder, step - 1);
        if (step == 0)
            snprintf(
                arguments, sizeof arguments,
                "run %s/chain.yaml -q --dump-data=%s/begin && ${TFGEN:-./tfgen} run %s/chain.yaml -q --input=%s/in0 --state=%s/begin -o "
                "%s/out0",
                folder, folder, folder, folder, folder, folder);
        ck_assert_msg(tfgen("%s", arguments) == 0, "%s", output);
    }
    read_tensor("begin", "kept", before, sizeof before);
    read_tensor("out2", "kept", kept, sizeof kept);
    for (int b = 0; b < 2; b++)
        for (int head = 0; head < 2; head++)
            for (int row = 0; row < 4; row++) {
                const int step = b ? 2 - row : row;
                ck_assert_mem_eq(kept[b][head][row], row == 3 ? before[b][head][row] : &x[step][b][4 * head], 16);
            }
    ck_assert_int_eq(tfgen("%s", in_folder("run %s/chain.yaml -q --state=%s/in0")), 3);
    says("kept");
    remove_folder();
}
END_TEST

START_TEST(weights_that_do_not_fit_are_refused_by_name)
{
    ck_assert_int_eq(tfgen("run specs/llama-block.yaml --weights=tests/golden/models/llama.safetensors"), 3);
    ck_assert_int_eq(tfgen("run specs/llama-block.yaml --weights=tests/golden/models/bert.safetensors"), 3);
    says("input_layernorm.weight");
    ck_assert_int_eq(tfgen("run specs/llama-block.yaml --weights=/dev/null"), 3);
}
END_TEST

START_TEST(golden_models_run_within_their_bounds)
{
    ck_assert_msg(
        tfgen("run specs/llama-block.yaml --weights=tests/golden/models/llama.safetensors --input=tests/golden/models/llama.safetensors "
              "--dim B=2,S=61,D=128,H=4,KV=2,F=344 --dtype=f32 --repeat=0") == 0,
        "%s", output);
    says("end to end");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run");
    TCase *c = tcase_create("command");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, run_checks_itself_and_reports_json);
    tcase_add_loop_test(c, layers_of_a_stack_run_in_one_launch, 0, 5);
    tcase_add_test(c, stacked_layers_may_split_what_the_layer_before_stored);
    tcase_add_test(c, emit_writes_the_kernel_of_a_stack);
    tcase_add_loop_test(c, options_for_one_layer_are_refused_with_layers, 0, 5);
    tcase_add_loop_test(c, strided_rows_are_read_and_written_in_place, 0, 4);
    tcase_add_loop_test(c, row_strides_given_by_a_call_are_used, 0, 6);
    tcase_add_loop_test(c, every_program_takes_row_strides_given_by_a_call, 0, 11);
    tcase_add_test(c, stacked_layers_read_strided_rows_of_a_call_but_hand_on_dense_rows);
    tcase_add_test(c, nothing_is_read_after_the_last_row_of_a_strided_tensor);
    tcase_add_test(c, the_text_of_a_plan_keeps_strides);
    tcase_add_test(c, outputs_are_written_and_depend_on_the_seed);
    tcase_add_test(c, a_decode_step_begins_with_the_states_of_the_step_before);
    tcase_add_test(c, weights_that_do_not_fit_are_refused_by_name);
    tcase_add_test(c, golden_models_run_within_their_bounds);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
