/* What `tfgen emit` writes and dumps, and that the command reads the text of a stage back (--from). */
#include "ir/ir.h"
#include "tests/cli/cli_rig.h"
#include <jansson.h>
#include <stdint.h>

START_TEST(emit_writes_plan_sources_headers_and_manifest)
{
    make_folder();
    ck_assert_int_eq(tfgen("%s", in_folder("specs/llama-block.yaml -o %s/out --target=gfx942 && cat %s/out/manifest.json")), 0);
    json_t *manifest = json_loads(strchr(output, '{'), 0, NULL);
    ck_assert_ptr_nonnull(manifest);
    ck_assert_str_eq(json_string_value(json_object_get(manifest, "target")), "gfx942");
    ck_assert_uint_ge(json_array_size(json_object_get(manifest, "kernels")), 5);
    json_decref(manifest);
    ck_assert_int_eq(tfgen("%s", in_folder("--version && ls %s/out/*.hip %s/out/*.spec.h %s/out/plan.ir")), 0);
    remove_folder();
}
END_TEST

START_TEST(emission_is_deterministic_to_the_byte)
{
    make_folder();
    ck_assert_int_eq(tfgen("%s", in_folder("specs/llama-decode.yaml -q -o %s/a")), 0);
    ck_assert_int_eq(tfgen("%s", in_folder("specs/llama-decode.yaml -q -o %s/b; diff -r %s/a %s/b && echo same")), 0);
    says("same");
    remove_folder();
}
END_TEST

START_TEST(dump_writes_no_other_files_if_no_folder_is_named)
{
    make_folder();
    ck_assert_int_eq(
        tfgen("%s", in_folder(
            "--version; s=$PWD/specs t=$(realpath ${TFGEN:-./tfgen}); cd %s && \"$t\" \"$s/rmsnorm.yaml\" --dump=plan >plan && ls && "
            "\"$t\" \"$s/rmsnorm.yaml\" "
            "--dump=plan -o out | cmp - plan && ls out")),
        0);
    says("\nplan\n");
    ck_assert_ptr_null(strstr(output, "rmsnorm.tfgen"));
    says("manifest.json");
    remove_folder();
}
END_TEST

START_TEST(a_dumped_stage_is_read_back_and_gives_the_same_kernels)
{
    static const char *const stages[] = {"graph", "ir", "fuse", "plan"};
    make_folder();
    ck_assert_int_eq(tfgen("%s", in_folder("specs/llama-block.yaml -q -o %s/direct")), 0);
    for (int i = 0; i < 4; i++) {
        char arguments[1024];
        snprintf(
            arguments, sizeof arguments,
            "specs/llama-block.yaml --dump=%s -o %s/x >%s/stage.ir && ${TFGEN:-./tfgen} %s/stage.ir -q --from=%s -o %s/again && "
            "for f in %s/direct/*.hip; do grep -v '^// Written' $f >%s/1; grep -v '^// Written' %s/again/$(basename $f) "
            ">%s/2; cmp %s/1 %s/2 || exit 1; done; echo same",
            stages[i], folder, folder, folder, stages[i], folder, folder, folder, folder, folder, folder, folder);
        ck_assert_msg(tfgen("%s", arguments) == 0, "%s: %s", stages[i], output);
        says("same");
    }
    remove_folder();
}
END_TEST

static int times(const char *part)
{
    int n = 0;
    for (const char *at = output; (at = strstr(at, part)); at += strlen(part)) n++;
    return n;
}

/* Rows: the stage of the text; columns: the requested stage. Graph and ir are ops, fuse and plan are kernels. */
START_TEST(text_of_another_stage_is_refused_by_name)
{
    static const char *const stages[] = {"graph", "ir", "fuse", "plan"};
    static const int codes[4][4] = {{0, 3, 3, 3}, {0, 0, 3, 3}, {3, 3, 0, 0}, {3, 3, 0, 0}};
    make_folder();
    for (int of = 0; of < 4; of++) {
        char command[512];
        snprintf(command, sizeof command, "specs/rmsnorm.yaml --dump=%s -q -o %s/out >%s/text.ir;:", stages[of], folder, folder);
        ck_assert_int_eq(tfgen("%s", command), 0);
        for (int from = 0; from < 4; from++) {
            snprintf(command, sizeof command, "rm -rf %s/out", folder);
            ck_assert_int_eq(system(command), 0);
            snprintf(command, sizeof command, "%s/text.ir --from=%s -q -o %s/out", folder, stages[from], folder);
            ck_assert_msg(tfgen("%s", command) == codes[of][from], "text of %s from %s: %s", stages[of], stages[from], output);
            if (codes[of][from])
                says(of < 2 && from < 2 ? "must be lowered" : of < 2 ? "this text has no kernels" : "this text has kernels");
            snprintf(command, sizeof command, "%s/out/manifest.json", folder);
            ck_assert_int_eq(access(command, F_OK) == 0, codes[of][from] == 0);
        }
    }
    remove_folder();
}
END_TEST

#define SMALL "specs/swiglu.yaml --dim B=2,S=5,D=32,F=48 --dtype=f32"

/* Dumps the plan of SMALL into FOLDER/plan.ir and has sed edit it. */
static void edit_plan(const char *edit)
{
    char arguments[512];
    snprintf(arguments, sizeof arguments, SMALL " -q --dump=plan -o %s/x >%s/whole.ir && sed '%s' %s/whole.ir >%s/plan.ir", folder, folder,
             edit, folder, folder);
    ck_assert_msg(tfgen("%s", arguments) == 0, "%s", output);
}

START_TEST(a_plan_that_was_edited_is_run_and_judged_by_the_spec)
{
    make_folder();
    edit_plan("s/ k=[0-9]* / k=16 /");
    ck_assert_int_eq(tfgen("%s", in_folder("--version; cmp %s/plan.ir %s/whole.ir")), 1);
    ck_assert_msg(tfgen("%s", in_folder("run %s/plan.ir --from=plan --spec=specs/swiglu.yaml --repeat=0")) == 0, "%s", output);
    says("good: every value is within its bound");
    says("linear x2 + silu + mul");
    edit_plan("s/= silu /= relu /");
    ck_assert_msg(tfgen("%s", in_folder("run %s/plan.ir --from=plan --spec=specs/swiglu.yaml --repeat=0")) == 1, "%s", output);
    says("BAD: a bound is exceeded");
    ck_assert_msg(tfgen("%s", in_folder("bench %s/plan.ir --from=plan --spec=specs/swiglu.yaml --check --device=host --seconds=0")) == 1,
                  "%s",
                  output);
    says("BAD: a bound is exceeded");
    remove_folder();
}
END_TEST

START_TEST(text_of_every_stage_is_run_and_timed)
{
    static const char *const stages[] = {"graph", "ir", "fuse", "plan"};
    char arguments[512];
    make_folder();
    for (int i = 0; i < 4; i++) {
        snprintf(arguments, sizeof arguments,
                 SMALL " -q --dump=%s -o %s/x >%s/text.ir && ${TFGEN:-./tfgen} run %s/text.ir --from=%s --repeat=0 %s", stages[i], folder,
                 folder, folder, stages[i], i ? "--spec=specs/swiglu.yaml" : "");
        ck_assert_msg(tfgen("%s", arguments) == 0, "%s: %s", stages[i], output);
        says("good: every value is within its bound");
        says("linear x2 + silu + mul");
        snprintf(arguments, sizeof arguments, "bench %s/text.ir --from=%s --device=host --seconds=0 %s", folder, stages[i],
                 i ? "" : "--fusion=none,tile");
        ck_assert_msg(tfgen("%s", arguments) == 0, "%s: %s", stages[i], output);
        ck_assert_int_eq(times("whole run"), i ? 1 : 2);
    }
    remove_folder();
}
END_TEST

START_TEST(text_without_its_spec_is_unjudged_and_another_spec_is_refused)
{
    make_folder();
    edit_plan("");
    ck_assert_msg(tfgen("%s", in_folder("run %s/plan.ir --from=plan --repeat=0")) == 0, "%s", output);
    says("not checked: this text has no graph");
    ck_assert_ptr_null(strstr(output, "good"));
    ck_assert_int_eq(tfgen("%s", in_folder("run %s/plan.ir --from=plan --reference=always")), 2);
    says("--spec=SPEC names");
    ck_assert_int_eq(tfgen("%s", in_folder("bench %s/plan.ir --from=plan --check --device=host")), 2);
    says("--spec=SPEC names");
    ck_assert_int_eq(tfgen("%s", in_folder("run %s/plan.ir --from=plan --spec=specs/rmsnorm.yaml")), 2); /* it has no F */
    ck_assert_int_eq(
        tfgen("%s", in_folder(
            "--version; sed 's/w_gate/gate_w/g' specs/swiglu.yaml >%s/other.yaml; ${TFGEN:-./tfgen} run %s/plan.ir --from=plan "
            "--spec=%s/other.yaml")),
        2);
    says("the text was made of another spec");
    ck_assert_int_eq(tfgen("run specs/rmsnorm.yaml --spec=specs/rmsnorm.yaml"), 2);
    says("the text is a graph itself");
    remove_folder();
}
END_TEST

START_TEST(errors_in_ir_text_show_its_line_also_after_it_was_read)
{
    static const char make[] = "printf 'block: tall\ndtype: bf16\ndims: {B: 4, D: 2}\ninputs: {x: [B, D]}\n"
                               "ops:\n  - {out: y, op: silu, in: [x]}\noutputs: {z: y}\n' >%s/tall.yaml";
    char command[4096];
    make_folder();
    snprintf(command, sizeof command, make, folder);
    ck_assert_int_eq(system(command), 0);
    for (int i = 0; i < 2; i++) { /* too many rows for a kernel (the planner complains), too many elements for a value (the reader does) */
        static const char *const shapes[] = {"2147483600,2", "2147483600,2000000000"};
        snprintf(command, sizeof command,
                 "%s/tall.yaml -q --dump=graph -o %s/x >%s/tall.ir && sed -i 's/bf16.4,2./bf16[%s]/' %s/tall.ir && "
                 "${TFGEN:-./tfgen} %s/tall.ir --from=graph -q -o %s/x",
                 folder, folder, folder, shapes[i], folder, folder, folder);
        ck_assert_int_ne(tfgen("%s", command), 0);
        says(i ? "is too large" : "up to 2147483600 rows");
        says("tall.ir:6:");
        says("    6 | in   %x");
        says(i ? "      |      ^\n" : "      | ^\n"); /* the reader points at the name, a later stage at the line */
    }
    remove_folder();
}
END_TEST

START_TEST(without_libclang_code_is_made_with_one_note)
{
    make_folder();
    setenv("TFGEN_LIBCLANG", "/nonexistent.so", 1);
    setenv("TFGEN_CACHE_DIR", in_folder("%s/cache"), 1);
    const int code = tfgen("%s", in_folder("specs/gelu-layernorm-linear.yaml -q --target=gfx90a,gfx90a --code -o %s/out"));
    unsetenv("TFGEN_LIBCLANG");
    unsetenv("TFGEN_CACHE_DIR"); /* each test runs in its own process, so other tests keep the variable */
    ck_assert_msg(code == 0 || code == 4, "%s", output); /* 4: no compiler here */
    ck_assert_msg(times("note: ") == 1, "%s", output);
    says("/nonexistent.so");
    remove_folder();
}
END_TEST

/* The checks are those of libclang (runtime/cli/emit_check.h); without libclang one note is printed. 4: no compiler here. */
START_TEST(compiling_prints_nothing_if_all_checks_agree)
{
    make_folder();
    const int code = tfgen("%s", in_folder("specs/rmsnorm.yaml -q --target=gfx90a --code -o %s/out"));
    ck_assert_msg(code == 4 || (code == 0 && (*output == 0 || times("note: ") == 1)), "%s", output);
    remove_folder();
}
END_TEST

/* The manifest has the same command, with NAME in place of the kernel's name. It is run only if its compiler is installed. */
START_TEST(the_command_in_a_files_head_compiles_it)
{
    static const char *const targets[][3] = {{"gfx942", "clang-22", "hsaco"}, {"sm_90a", "nvcc", "cubin"}};
    for (int i = 0; i < 2; i++) {
        make_folder();
        ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --target=%s -q -o %s", targets[i][0], folder), 0);
        ck_assert_int_eq(shell("cd %s && sed -n 's|^// Compile it by hand: ||p' rmsnorm_n.hip >command", folder), 0);
        ck_assert_int_eq(shell("cd %s && sed -n 's|.*\"compile\": \"\\(.*\\)\",|\\1|p' manifest.json | sed 's/NAME/rmsnorm_n/g' | "
                               "cmp - command 2>&1", folder), 0);
        if (shell("command -v %s", targets[i][1]) == 0) {
            ck_assert_msg(shell("cd %s && sh -e ./command 2>&1", folder) == 0, "%s", output);
            ck_assert_int_eq(shell("test -s %s/rmsnorm_n.%s", folder, targets[i][2]), 0);
        }
        remove_folder();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stages");
    TCase *c = tcase_create("command");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, emit_writes_plan_sources_headers_and_manifest);
    tcase_add_test(c, emission_is_deterministic_to_the_byte);
    tcase_add_test(c, dump_writes_no_other_files_if_no_folder_is_named);
    tcase_add_test(c, a_dumped_stage_is_read_back_and_gives_the_same_kernels);
    tcase_add_test(c, text_of_another_stage_is_refused_by_name);
    tcase_add_test(c, a_plan_that_was_edited_is_run_and_judged_by_the_spec);
    tcase_add_test(c, text_of_every_stage_is_run_and_timed);
    tcase_add_test(c, text_without_its_spec_is_unjudged_and_another_spec_is_refused);
    tcase_add_test(c, errors_in_ir_text_show_its_line_also_after_it_was_read);
    tcase_add_test(c, without_libclang_code_is_made_with_one_note);
    tcase_add_test(c, compiling_prints_nothing_if_all_checks_agree);
    tcase_add_test(c, the_command_in_a_files_head_compiles_it);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
