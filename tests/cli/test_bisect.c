/* `tfgen bisect` finds faults planted in emitted kernels, each with its op, element and line, and reports none in correct ones. */
#include "tests/cli/bisect_rig.h"

START_TEST(a_missing_barrier_is_found_and_the_checker_names_the_access)
{
    find_planted(ATTENTION, "", "attention_attention.hip", "        barrier();\n        return at(k_tile);", "        return at(k_tile);");
    is_first("a", "attention", 19);
    ck_assert_msg(strstr(string(found, "checker"), "which nobody wrote\n  kernel attention_attention") != NULL, "%s",
                  string(found, "checker"));
}
END_TEST

START_TEST(a_wrong_stride_is_found)
{
    find_planted(NORM, "", "rmsnorm_n.hip", "p.x_ + row * 256ll", "p.x_ + row * 255ll");
    is_first("n", "rmsnorm", 17);
    names_line("rmsnorm_n.hip", "n_ = op_mul(n_n_, e.w_);");
    lies_within(1, 1, 36); /* row 0 is right */
}
END_TEST

START_TEST(a_missing_causal_mask_is_found)
{
    static char arguments[128];
    snprintf(arguments, sizeof arguments, "%s/s.yaml --target=host", folder);
    ck_assert_int_eq(shell("sed 's/causal: true/causal: false/' specs/attention.yaml >%s/s.yaml", folder), 0);
    find_planted(arguments, "", "attention_attention.hip", "key < to && !is_padding(key, low) && key_is_visible", "key_is_visible");
    is_first("a", "attention", 19);
    ck_assert_int_eq(integer(first(), "wrong") > 9000, 1);
}
END_TEST

START_TEST(an_overflow_in_f16_is_found)
{
    find_planted(SWIGLU " --dtype=f16", "--what=nan", "swiglu_gate_up.hip", "op_mul(act_, hi)",
                 "op_mul(op_cast<f16>(act_ * 1e6f) * 1e-6f, hi)");
    is_first("prod", "mul", 22);
    ck_assert_str_eq(string(first(), "kind"), "infinite");
    names_line("swiglu_gate_up.hip", "1e6f");
}
END_TEST

START_TEST(attending_one_key_too_many_is_found)
{
    find_planted(ATTENTION, "", "attention_attention.hip", "key <= position :", "key <= position + 1 :");
    is_first("a", "attention", 19);
    lies_within(1, 0, 35); /* the last token has no future */
    ck_assert_ptr_nonnull(strstr(string(first(), "tile_of_element"), "sequence 0, head 0"));
}
END_TEST

START_TEST(a_dropped_tail_is_found)
{
    find_planted(ATTENTION, "", "attention_attention.hip", "ceil_div(t.to - t.from, block_k)", "(t.to - t.from) / block_k");
    is_first("a", "attention", 19);
    lies_within(1, 32, 36);
}
END_TEST

START_TEST(an_unwritten_row_is_found)
{
    find_planted(NORM, "", "rmsnorm_n.hip", "return p.B_ * p.S_; }", "return p.B_ * p.S_ - 1; }");
    is_first("n", "rmsnorm", 17);
    ck_assert_str_eq(string(first(), "kind"), "unwritten");
    ck_assert_int_eq(integer(first(), "unwritten"), 256);
    lies_within(1, 36, 36);
    ck_assert_str_eq(string(first(), "tile_of_element"), "row 36");
}
END_TEST

/* Gate and up stay in registers, so bisect makes the same edit in a kernel that stores them. */
START_TEST(a_swapped_operand_is_found_inside_its_kernel)
{
    find_planted(SWIGLU, "", "swiglu_gate_up.hip", "op_silu(lo)", "op_silu(hi)");
    is_first("act", "silu", 21);
    ck_assert_str_eq(string(json_object_get(found, "first_in_memory"), "value"), "prod");
    ck_assert_int_eq(integer(found, "shown"), 3);
    names_line("swiglu_gate_up.hip", "act_ = op_silu(hi);");
}
END_TEST

/* A norm's sum that starts from an old value instead of 0. The sum is inside of the norm, so the spec has no name for it. */
START_TEST(a_sum_that_is_not_reset_is_found)
{
    static const char block[] = "specs/llama-block.yaml --target=host --dim=B=1,S=33,D=160,H=5,KV=1,F=40";
    find_planted(block, "", "llama_o.hip", "column_tile] = sum;", "column_tile] += sum;");
    is_first("h2.ss", "rmsnorm", 36);
    ck_assert_str_eq(string(first(), "kernel"), "llama_o");
    names_line("llama_o.hip", "column_tile] += sum;");
}
END_TEST

START_TEST(a_wrong_scale_is_found)
{
    find_planted("specs/llama-block.yaml --target=host", "", "llama_gate_up.hip", "op_mul(lo, c.gate_r_)", "op_mul(lo, c.gate_r_ * 2.0f)");
    is_first("gate", "linear", 37);
    ck_assert_double_eq_tol(json_number_value(json_object_get(first(), "factor")), 2, 0.01);
    ck_assert_str_eq(string(json_object_get(found, "first_in_memory"), "value"), "prod");
    ck_assert_ptr_nonnull(strstr(string(first(), "tile_of_element"), "rows 0 to 31, packed columns 0 to 127"));
    names_line("llama_gate_up.hip", "gate_ = op_mul(lo, c.gate_r_ * 2.0f);");
}
END_TEST

START_TEST(a_rounding_at_the_wrong_place_is_found)
{
    find_planted(SWIGLU " --dtype=f32", "", "swiglu_gate_up.hip", "op_mul(act_, hi)", "op_mul(op_cast<bf16>(act_), hi)");
    is_first("prod", "mul", 22);
}
END_TEST

START_TEST(a_fault_is_found_in_the_second_phase_of_a_launch)
{
    static char arguments[128];
    static const char spec[] = "block: t\ndtype: bf16\ninputs: {x: [5, 16], z: [3, 24]}\nops:\n"
                               "  - {out: y, op: softmax, in: [x]}\n  - {out: g, op: mul, in: [z, 0.5]}\noutputs: {y: y, g: g}\n";
    snprintf(arguments, sizeof arguments, "%s/s.yaml --target=host", folder);
    write_text("s.yaml", spec);
    find_planted(arguments, "", "t_y.hip", "op_mul(z_, 0.5f)", "op_mul(z_, 1.5f)");
    is_first("g", "mul", 6);
    names_line("t_y.hip", "g_ = op_mul(z_, 1.5f);");
}
END_TEST

START_TEST(a_fault_in_a_packed_weight_is_found)
{
    find_planted("specs/linear.yaml --target=host", "", "linear_l_pack.hip", "col * 256ll + k", "col * 256ll + (k ^ 1)");
    is_first("l", "linear", 18);
}
END_TEST

START_TEST(a_fault_is_found_in_the_geometry_of_a_gpu)
{
    find_planted("specs/swiglu.yaml --target=sm_90a", "", "swiglu_gate_up.hip", "op_silu(lo)", "op_silu(-lo)");
    is_first("act", "silu", 21);
}
END_TEST

START_TEST(a_fault_is_found_in_a_reduction_of_columns)
{
    find_planted("tests/specs/columns.yaml --target=sm_90a", "", "columns_h.hip", "return v_;", "return row == 600 ? v_ + 9.0f : v_;");
    is_first("h", "amax", 12);
    ck_assert_str_eq(string(first(), "tile_of_element"), "row 10, columns 0 to 71"); /* row 600 is [2, 34, 0], one of [2, 0] */
    names_line("columns_h.hip", "store_aligned<V>(p.h_ + row * 72ll + col, total);");
}
END_TEST

/* tests/doubles/run_amd.sh finds them in the emulator, and a GPU finds them the same way. */
START_TEST(a_dozen_faults_are_found_in_the_geometry_of_each_vendor)
{
    static const char *const targets[] = {"sm_90a", "gfx942", "gfx1100"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        ck_assert_msg(shell("exec sh tests/faults.sh ${TFGEN:-./tfgen} %s 2>&1", targets[i]) == 0, "%s", output);
        size_t count = 0;
        for (const char *at = output; (at = strstr(at, "ok    ")) != NULL; at++) count++;
        ck_assert_uint_eq(count, 12);
    }
}
END_TEST

START_TEST(an_access_beyond_a_value_is_found_and_the_checker_names_its_line)
{
    find_planted(NORM, "", "rmsnorm_n.hip", "p.n_ + row * 256ll", "p.n_ + row * 272ll");
    ck_assert_ptr_nonnull(strstr(string(found, "fault"), "memory fault, a write at n, "));
    ck_assert_ptr_nonnull(strstr(string(found, "checker"), "out of bounds: write of 32 bytes at n, 0 bytes past its end"));
    ck_assert_ptr_nonnull(strstr(string(found, "checker"), "specs/rmsnorm.yaml:17:"));
    ck_assert_ptr_null(json_object_get(found, "first"));
}
END_TEST

/* The planted fault is there only while the kernel has few arguments; it has more of them once it also stores its values. */
START_TEST(a_fault_that_vanishes_when_values_are_stored_is_reported_as_such)
{
    find_planted(SWIGLU, "", "swiglu_gate_up.hip", "op_mul(act_, hi)", "op_mul(act_, hi) * (sizeof(args) > 40 ? 1.0f : 2.0f)");
    is_first("prod", "mul", 22);
    ck_assert(json_is_true(json_object_get(found, "vanished")));
    ck_assert_ptr_null(json_object_get(found, "lost"));
}
END_TEST

/* The edit removes one line and adds another, so bisect cannot know where it belongs in the kernel that stores its values. */
START_TEST(an_edit_without_a_match_is_reported)
{
    find_planted(SWIGLU, "", "swiglu_gate_up.hip", "const vec<float, W> act_ = op_silu(lo);",
                 "const vec<float, W> both = lo + hi;\n const vec<float, W> act_ = op_silu(both);");
    is_first("prod", "mul", 22);
    ck_assert_ptr_nonnull(strstr(string(found, "lost"), "the edit at swiglu_gate_up.hip:"));
}
END_TEST

/* The partial results that one kernel leaves for the next have no name in the spec, but bisect compares them and so tells which of the
 * two kernels is wrong. */
#define DECODE "specs/llama-decode.yaml --target=host --dim=B=2,D=64,H=4,KV=2,F=64,L=16"

START_TEST(a_fault_in_split_kv_partials_is_found_in_the_attention_kernel)
{
    find_planted(DECODE, "", "llama_decode_attention.hip", "scale = 0.25f", "scale = 0.5f");
    is_first("a.part", "attention", 41);
    ck_assert_str_eq(string(first(), "kernel"), "llama_decode_attention");
}
END_TEST

START_TEST(a_fault_in_the_split_kv_reduction_is_found_in_its_kernel)
{
    find_planted(DECODE, "", "llama_decode_combine.hip", "splat<1>(o * scale)", "splat<1>(o)");
    is_first("a", "attention", 41);
    ck_assert_str_eq(string(first(), "kernel"), "llama_decode_combine");
}
END_TEST

START_TEST(a_fault_in_an_aligned_copy_is_found)
{
    find_planted("specs/swiglu.yaml --target=gfx90a --dim=B=1,S=7,D=53,F=37", "", "swiglu_x_rows.hip", "p.x_ + row * 53ll",
                 "p.x_ + row * 52ll");
    is_first("x.rows", "linear", 19);
    ck_assert_str_eq(string(first(), "kernel"), "swiglu_x_rows");
    lies_within(1, 1, 6);
}
END_TEST

START_TEST(overflow_of_a_dtype_is_no_fault)
{
    write_text("s.yaml", "block: large\ndtype: f16\ndims: {B: 4, D: 32}\ninputs: {x: [B, D]}\n"
                         "ops:\n  - {out: y, op: mul, in: [x, 1000000]}\noutputs: {y: y}\n");
    ck_assert_msg(tfgen("bisect %s --target=host --what=nan --json", path_of("s.yaml")) == 0, "%s", output);
    parse();
    ck_assert_str_eq(string(found, "overflow"), "y");
}
END_TEST

START_TEST(bisect_finds_nothing_in_correct_kernels)
{
    ck_assert_int_eq(tfgen("bisect " SWIGLU), 0);
    says("all are right");
    ck_assert_int_eq(tfgen("bisect " SWIGLU " --what=nan --json --repeat=3"), 0);
    parse();
    ck_assert(json_is_false(json_object_get(found, "found")));
    ck_assert_int_eq(integer(found, "runs"), 3);
    emit_sources(SWIGLU);
    edit("swiglu_gate_up.hip", "op_silu(lo)", "op_silu( lo )"); /* a blank is no edit */
    ck_assert_int_eq(tfgen("bisect " SWIGLU " --replace-source=%s", folder), 0);
    ck_assert_ptr_null(strstr(output, "is taken from"));
}
END_TEST

START_TEST(run_takes_edited_kernels_too)
{
    emit_sources(SWIGLU);
    edit("swiglu_gate_up.hip", "op_silu(lo)", "op_silu(hi)");
    ck_assert_int_eq(tfgen("run " SWIGLU " --replace-source=%s --repeat=0", folder), 1);
    says("BAD: a bound is exceeded");
}
END_TEST

START_TEST(bisect_refuses_what_it_cannot_do)
{
    ck_assert_int_eq(tfgen("bisect " SWIGLU " --replace-source=/nowhere"), 2);
    says("--replace-source: /nowhere has no kernel of this plan");
    emit_sources("specs/swiglu.yaml --target=gfx942");
    ck_assert_int_eq(tfgen("bisect " SWIGLU " --replace-source=%s", folder), 2);
    says("was emitted for cdna, wave 64, this plan is for host, wave 1");
    emit_sources(SWIGLU " --dim=F=352");
    ck_assert_int_eq(tfgen("run " SWIGLU " --replace-source=%s", folder), 2);
    says("was emitted from another plan: line 16 of its plan.ir is 'body %gate bf16[B,S,352] = linear %x, %w_gate', "
         "this plan has 'body %gate bf16[B,S,344] = linear %x, %w_gate'; give emit the same --dim");
    ck_assert_int_eq(shell("cd %s && rm swiglu_gate_up.hip && mkfifo swiglu_gate_up.hip", folder), 0);
    ck_assert_int_eq(tfgen("run " SWIGLU " --replace-source=%s", folder), 2);
    says("swiglu_gate_up.hip is not a file");
    ck_assert_int_eq(tfgen("bisect " SWIGLU " --what=wrong"), 2);
    ck_assert_int_eq(tfgen("bisect " SWIGLU " --what=nan --expected=x"), 2);
    ck_assert_int_eq(tfgen("bisect " SWIGLU " --tolerance=1"), 2);
    ck_assert_int_eq(tfgen("bisect " SWIGLU " --what=slow --weights=x"), 2);
    ck_assert_int_eq(tfgen("bisect " SWIGLU " --what=slow --repeat=2"), 2);
    ck_assert_int_eq(tfgen("bisect specs/swiglu.yaml specs/linear.yaml"), 2);
    ck_assert_int_eq(tfgen("bisect specs/bad/add-shapes.yaml"), 3);
    ck_assert_int_eq(tfgen("bisect specs/swiglu.yaml --target=sm_12"), 2);
    ck_assert_int_eq(tfgen("bisect specs/swiglu.yaml --device=host --what=slow"), 2);
    says("the device model host has no bandwidth");
}
END_TEST

/* ---- time */
/* A device model of the host engine: a processor with 1 GB/s. Times are compared with those of a loop that takes longer than everything
 * else together. */
START_TEST(bisect_finds_the_slow_launch)
{
    use_kernels(kernels_of_users);
    static const char arguments[] = "specs/swiglu.yaml --fusion=none";
    write_text("cpu.yaml", "name: cpu\nlabel: a processor\ntarget: host\nunits: {is: 1, chosen: one}\nchiplets: {is: 1, chosen: one}\n"
                           "bandwidth: {is: 1e9, chosen: for a test}\n");
    ck_assert_msg(tfgen("emit %s -q -o %s --target=host", arguments, folder) == 0, "%s", output);
    edit("swiglu_act.hip", "DEV static void begin(const args &p, int row, context &c) {}",
         "DEV static void begin(const args &p, int row, context &c) { for (volatile int i = 0; i < 400000; i++); }");
    ck_assert_msg(tfgen("bisect %s --what=slow --device=host --seconds=0 --device-model=%s/cpu.yaml --replace-source=%s --json", arguments,
                        folder, folder) == 1,
                  "%s", output);
    parse();
    const json_t *launches = json_object_get(found, "launches");
    ck_assert_uint_eq(json_array_size(launches), 4);
    size_t i;
    json_t *l;
    json_array_foreach(launches, i, l)
    {
        ck_assert_int_eq(json_is_true(json_object_get(l, "slowest")), strcmp(string(l, "kernel"), "swiglu_act") == 0);
        ck_assert_double_ge(json_number_value(json_object_get(l, "chained_seconds")), 0);
        ck_assert_double_gt(json_number_value(json_object_get(l, "alone_seconds")), 0);
        ck_assert_double_gt(json_number_value(json_object_get(l, "predicted_seconds")), 0);
        if (strcmp(string(l, "kernel"), "swiglu_act") != 0) continue;
        ck_assert_int_eq(integer(json_object_get(l, "spec"), "line"), 21);
        ck_assert_str_eq(string(l, "op"), "silu");
    }
    ck_assert_int_eq(tfgen("bisect %s --what=slow --device=host --seconds=0 --device-model=%s/cpu.yaml --tolerance=1000", arguments,
                           folder),
                     0);
    says("no launch takes more than 1001 times the time that the model predicts");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bisect");
    TCase *faults = tcase_create("faults"), *numbers = tcase_create("numbers"), *times = tcase_create("times");
    tcase_add_checked_fixture(faults, open_folder, close_folder);
    TCase *more = tcase_create("more faults");
    tcase_set_tags(more, "long");
    tcase_add_checked_fixture(more, open_folder, close_folder);
    tcase_add_test(more, an_unwritten_row_is_found);
    tcase_add_test(more, a_wrong_scale_is_found);
    tcase_add_test(more, a_fault_is_found_in_the_second_phase_of_a_launch);
    tcase_add_test(more, a_fault_in_a_packed_weight_is_found);
    tcase_add_test(more, a_fault_is_found_in_the_geometry_of_a_gpu);
    tcase_add_test(more, a_dozen_faults_are_found_in_the_geometry_of_each_vendor);
    tcase_add_test(more, an_access_beyond_a_value_is_found_and_the_checker_names_its_line);
    tcase_add_test(more, a_fault_that_vanishes_when_values_are_stored_is_reported_as_such);
    tcase_add_test(more, a_fault_in_split_kv_partials_is_found_in_the_attention_kernel);
    tcase_add_test(more, a_fault_in_the_split_kv_reduction_is_found_in_its_kernel);
    tcase_add_test(more, a_fault_in_an_aligned_copy_is_found);
    tcase_add_checked_fixture(numbers, open_folder, close_folder);
    tcase_add_checked_fixture(times, open_folder, close_folder);
    tcase_add_test(faults, a_missing_barrier_is_found_and_the_checker_names_the_access);
    tcase_add_test(faults, a_fault_is_found_in_a_reduction_of_columns);
    tcase_add_test(faults, a_wrong_stride_is_found);
    tcase_add_test(faults, a_missing_causal_mask_is_found);
    tcase_add_test(faults, an_overflow_in_f16_is_found);
    tcase_add_test(faults, attending_one_key_too_many_is_found);
    tcase_add_test(faults, a_dropped_tail_is_found);
    tcase_add_test(faults, a_swapped_operand_is_found_inside_its_kernel);
    tcase_add_test(faults, a_sum_that_is_not_reset_is_found);
    tcase_add_test(faults, a_rounding_at_the_wrong_place_is_found);
    tcase_add_test(faults, an_edit_without_a_match_is_reported);
    tcase_add_test(numbers, overflow_of_a_dtype_is_no_fault);
    tcase_add_test(numbers, bisect_finds_nothing_in_correct_kernels);
    tcase_add_test(numbers, run_takes_edited_kernels_too);
    tcase_add_test(numbers, bisect_refuses_what_it_cannot_do);
    tcase_add_test(times, bisect_finds_the_slow_launch);
    tcase_set_timeout(faults, 120);
    tcase_set_timeout(more, 600);
    tcase_set_timeout(numbers, 120);
    tcase_set_timeout(times, 120);
    suite_add_tcase(suite, faults);
    suite_add_tcase(suite, more);
    suite_add_tcase(suite, numbers);
    suite_add_tcase(suite, times);
    return run_suite(suite);
}
