/* The command as a person or a script sees it: exit codes, help, errors, output. Runs $TFGEN (default ./tfgen). */
#define _GNU_SOURCE
#include "ir/ir.h"
#include "tests/shell.h"
#include <check.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

static char folder[64];
static void make_folder(void)
{
    strcpy(folder, "/tmp/tfgen-cli-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static const char *in_folder(const char *format)
{
    static char text[4096];
    snprintf(text, sizeof text, format, folder, folder, folder);
    return text;
}

START_TEST(help_names_every_command_and_exit_code)
{
    ck_assert_int_eq(tfgen("--help"), 0);
    says("tfgen verify");
    says("--no-fuse");
    says("5 a kernel failed to compile");
    ck_assert_int_eq(tfgen("run --help"), 0);
    says("--weights");
    ck_assert_ptr_null(strstr(output, "--summary"));
}
END_TEST

START_TEST(a_command_has_help_of_its_own_however_it_is_asked_for)
{
    static const char *const asked[] = {"help run", "run --help", "run -h", "--help run", "run specs/rmsnorm.yaml --help"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        ck_assert_msg(tfgen(asked[i]) == 0, "%s", asked[i]);
        says("--weights");
        ck_assert_msg(!strstr(output, "tfgen verify SPEC"), "%s shows other commands", asked[i]);
    }
    ck_assert_int_eq(tfgen("help"), 0);
    says("tfgen verify");
    ck_assert_int_eq(tfgen("help rnu"), 2);
    says("did you mean tfgen help run?");
    ck_assert_int_eq(tfgen("help run verify"), 2);
    says("usage: tfgen help [COMMAND]");
}
END_TEST

START_TEST(every_command_and_every_list_that_help_names_is_there)
{
    static const char *const commands[] = {"emit", "run", "verify", "bench", "build", "check", "cache", "devices", "doctor", "schema"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "help %s", commands[i]);
        ck_assert_msg(tfgen("%s", arguments) == 0, "%s", output);
        says(commands[i]);
    }
    ck_assert_int_eq(tfgen("emit --no-fuse=help"), 0);
    says("gate_up");
    says("linears of one input become one product");
}
END_TEST

START_TEST(every_target_is_in_the_help_the_man_page_the_readme_and_all_of_them)
{
    static const char *const places[] = {"help emit", "--version; cat README.md", "--version; cat docs/tfgen.1",
                                         "verify --random=16 --plan --target=all --json -j1"};
    size_t count;
    const target_info *targets = target_list(&count);
    ck_assert_uint_le(count, 16);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        ck_assert_msg(tfgen(places[i]) == 0, "%s", output);
        for (size_t t = 0; t < count; t++) says(targets[t].name);
    }
}
END_TEST

START_TEST(a_word_that_is_no_command_is_no_spec_either)
{
    make_folder();
    ck_assert_int_eq(tfgen("%s",
                           in_folder("--version; cp specs/rmsnorm.yaml %s/spec; t=$(realpath ${TFGEN:-./tfgen}); cd %s && $t rnu spec")),
                     2);
    says("no command and no file is called 'rnu'; did you mean tfgen run?");
    ck_assert_int_eq(tfgen("%s", in_folder("--version; t=$(realpath ${TFGEN:-./tfgen}); cd %s && ls && $t spec -q && ls")),
                     0); /* a file is a spec whatever its name */
    says("spec\nspec\nspec.tfgen");
    ck_assert_int_eq(tfgen("-q run specs/rmsnorm.yaml"), 2);
    says("'run' is a command: it comes first");
    ck_assert_int_eq(tfgen("specs"), 3);
    says("is a folder");
    ck_assert_int_eq(tfgen("schema specs/rmsnorm.yaml"), 2);
    says("takes no 'specs/rmsnorm.yaml'");
    remove_folder();
}
END_TEST

/* Each is refused before anything is read or written, whether or not the rest of the call would come to use it. */
START_TEST(every_option_refuses_what_it_cannot_be)
{
    static const struct {
        const char *call, *says;
    } cases[] = {
        {"emit --jobs=abc specs/rmsnorm.yaml", "--jobs: 'abc' is not a whole number from 1 to 256"},
        {"run --jobs=0 specs/rmsnorm.yaml", "from 1 to 256"},
        {"verify --jobs=257 specs/rmsnorm.yaml", "from 1 to 256"},
        {"bench --jobs=2x specs/rmsnorm.yaml", "'2x' is not"},
        {"build --jobs=-1 specs/rmsnorm.yaml", "'-1' is not"},
        {"run --seed=-1 specs/rmsnorm.yaml", "from 0 to 9223372036854775807"},
        {"run --seed=9223372036854775808 specs/rmsnorm.yaml", "is not a whole number"},
        {"bench --seed=one specs/rmsnorm.yaml", "'one' is not"},
        {"run --repeat=-1 specs/rmsnorm.yaml", "from 0 to 1000000"},
        {"run --repeat=1e3 specs/rmsnorm.yaml", "'1e3' is not"},
        {"emit --time-limit=0 specs/rmsnorm.yaml", "from 1 to 86400"},
        {"emit --time-limit=soon specs/rmsnorm.yaml", "'soon' is not"},
        {"run --reference=alway specs/rmsnorm.yaml", "did you mean 'always'?"},
        {"emit --compiler=gcc specs/rmsnorm.yaml", "not auto, clang, hiprtc or nvrtc"},
        {"emit --compiler=clang specs/rmsnorm.yaml", "nothing is compiled without --code"},
        {"verify --sizes=some specs/rmsnorm.yaml", "not spec, sample or all"},
        {"emit --target= specs/rmsnorm.yaml", "--target= says nothing; it wants LIST"},
        {"emit --target=, specs/rmsnorm.yaml", "says nothing"},
        {"emit --dim=B specs/rmsnorm.yaml", "'B' is not NAME=NUMBER"},
        {"emit --dim=B=1e3 specs/rmsnorm.yaml", "is not NAME=NUMBER"},
        {"emit --dump=plans specs/rmsnorm.yaml", "no stage is called 'plans'"},
        {"emit --from=source specs/rmsnorm.yaml", "no stage is called 'source'"},
        {"emit --from=plan --fusion=none specs/rmsnorm.yaml", "fused already"},
        {"run --fusion=none,tile specs/rmsnorm.yaml", "one level here, not 'none,tile'"},
        {"run --target=gfx90a,host specs/rmsnorm.yaml", "one target here, not 'gfx90a,host'"},
        {"run --no-fuse=qvk specs/rmsnorm.yaml", "did you mean 'qkv'?"},
        {"build --shapes=B=x specs/rmsnorm.yaml", "--shapes: 'B=x' is not NAME=NUMBER"},
        {"run --json=1 specs/rmsnorm.yaml", "--json takes no argument"},
        {"run --dim", "--dim needs an argument"},
        {"run -d", "-d needs an argument"},
        {"run --fuson=tile specs/rmsnorm.yaml", "has no option --fuson; did you mean --fusion?"},
        {"specs/rmsnorm.yaml --level=tile", "tfgen emit has no option --level; did you mean --fusion?"},
        {"emit --fuse=tile specs/rmsnorm.yaml", "has no option --fuse; did you mean --fusion?"},
        {"run --arch=gfx942 specs/rmsnorm.yaml", "has no option --arch; did you mean --target?"},
        {"run --d=1 specs/rmsnorm.yaml", "may be several options"},
        {"run -Z specs/rmsnorm.yaml", "has no option -Z"},
        {"--usage", "has no option --usage"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(tfgen(cases[i].call) == 2, "%s: %s", cases[i].call, output);
        says(cases[i].says);
    }
}
END_TEST

START_TEST(a_list_that_is_given_twice_is_one_list)
{
    make_folder();
    ck_assert_int_eq(tfgen("%s", in_folder("specs/rmsnorm.yaml -q --dim B=2 --dim S=3 -o %s/out && grep ^dim %s/out/plan.ir")), 0);
    says("B = 2 ");
    says("S = 3 ");
    remove_folder();
}
END_TEST

START_TEST(a_device_model_is_a_name_or_a_file)
{
    make_folder();
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --target=sm_90a --dump=plan --device-model=h100"), 0);
    says("\ndevice h100\n");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --target=sm_90a --dump=plan --device-model=specs/devices/h100-pcie.yaml"), 0);
    says("\ndevice h100-pcie\n");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --target=sm_90a --device-model=h20"), 2);
    says("no device model is called 'h20'; did you mean 'h200'?");
    ck_assert_int_eq(tfgen("verify specs/rmsnorm.yaml --target=host,sm_90a --device-model=h200"), 2);
    says("device model h200 is of target sm_90a, not of host");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --target=sm_90a --device-model=./nothing.yaml"), 3);
    says("./nothing.yaml: cannot open");
    ck_assert_int_eq(tfgen("%s", in_folder("--version; sed s/2048/3072000/ specs/devices/h200.yaml >%s/d.yaml")), 0);
    ck_assert_int_eq(tfgen("%s", in_folder("run specs/rmsnorm.yaml --target=sm_90a --device-model=%s/d.yaml")), 3);
    says("/d.yaml:9:19: error: row_threads: a whole number from 1 to 65536");
    ck_assert_int_eq(tfgen("%s", in_folder("--version; printf 'name: a\\0b' >%s/z.yaml")), 0);
    ck_assert_int_eq(tfgen("%s", in_folder("specs/rmsnorm.yaml --device-model=%s/z.yaml")), 3);
    says("it has a NUL character");
    remove_folder();
}
END_TEST

START_TEST(device_models_are_listed_with_their_targets)
{
    ck_assert_int_eq(tfgen("devices --models"), 0);
    says("mi250x       gfx90a      110        1      64 GB   1.64 TB/s  AMD Instinct MI250X, one die\n");
    says("NVIDIA H200 SXM5 141 GB*\n");
    ck_assert_int_eq(tfgen("devices --models --json | grep -A3 h100-pcie"), 0);
    says("\"target\": \"sm_90a\"");
}
END_TEST

START_TEST(what_others_call_a_dtype_and_a_dim_that_is_not_there_get_a_hint)
{
    static const char *const called[][2] = {{"fp16", "f16"},  {"half", "f16"},  {"float16", "f16"},   {"fp32", "f32"}, {"float32", "f32"},
                                            {"FLOAT", "f32"}, {"BF16", "bf16"}, {"bfloat16", "bf16"}, {"bf61", "bf16"}};
    char arguments[128], hint[64];
    for (size_t i = 0; i < sizeof called / sizeof *called; i++) {
        snprintf(hint, sizeof hint, "did you mean %s?", called[i][1]);
        if (i % 2) snprintf(arguments, sizeof arguments, "specs/rmsnorm.yaml -o /dev/null/x --dtype=%s", called[i][0]);
        else snprintf(arguments, sizeof arguments, "run specs/rmsnorm.yaml --dtype=%s", called[i][0]);
        ck_assert_int_eq(tfgen("%s", arguments), 3);
        says(hint);
    }
    ck_assert_int_eq(tfgen("verify specs/rmsnorm.yaml --dtype=float32"), 2);
    says("did you mean 'f32'?");
    ck_assert_int_eq(tfgen("check specs/llama-block.yaml --dim KW=4"), 3);
    says("did you mean KV?");
    ck_assert_int_eq(tfgen("check specs/rmsnorm.yaml --dim Q=4"), 3);
    says("there are B, S, D");
}
END_TEST

START_TEST(a_device_is_asked_for_by_name)
{
    setenv("TFGEN_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    ck_assert_int_eq(tfgen("run specs/softmax.yaml --device=host --repeat=0 --json"), 0);
    says("\"device\": \"host\"");
    ck_assert_int_eq(tfgen("run specs/softmax.yaml --device=nope"), 2);
    says("hip:N, cuda:N and host");
    ck_assert_int_eq(tfgen("run specs/softmax.yaml --device=cuda --check"), 2);
    ck_assert_int_eq(tfgen("verify specs/softmax.yaml --device=cuda"), 4);
    says("/nowhere/libcuda.so.1");
}
END_TEST

START_TEST(the_man_page_is_well_formed_and_has_every_option)
{
    ck_assert_int_eq(tfgen("--man"), 0);
    says(".TH TFGEN 1");
    says("\\-\\-dump\\-data");
    says("TFGEN_CACHE_DIR");
}
END_TEST

START_TEST(the_checked_in_man_page_and_schema_are_current)
{
    ck_assert_int_eq(tfgen("--man | cmp - docs/tfgen.1 && echo same"), 0);
    says("same");
    ck_assert_int_eq(tfgen("schema | cmp - docs/tfgen-spec.schema.json && echo same"), 0);
    says("same");
}
END_TEST

START_TEST(bad_usage_is_2)
{
    ck_assert_int_eq(tfgen("--nonsense specs/rmsnorm.yaml"), 2);
    ck_assert_int_eq(tfgen("%s", ""), 2);
    ck_assert_int_eq(tfgen("check --weights=x specs/rmsnorm.yaml"), 2);
    says("not an option of `tfgen check`");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --fusion=til"), 2);
    says("did you mean 'tile'");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --no-fuse=nothing"), 2);
    says("qkv");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --dim B"), 2);
    ck_assert_int_eq(tfgen("run specs/rmsnorm.yaml --repeat=-1"), 2);
}
END_TEST

START_TEST(a_bad_spec_is_3_and_a_missing_one_too)
{
    ck_assert_int_eq(tfgen("check specs/no-such-file.yaml"), 3);
    says("No such file");
    make_folder();
    ck_assert_int_eq(tfgen("%s", in_folder("check /dev/null")), 3);
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --dim QQ=3 -o /dev/null/x"), 3);
    remove_folder();
}
END_TEST

START_TEST(an_unknown_target_is_4)
{
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --target=gfx9999"), 4);
    says("gfx942");
}
END_TEST

START_TEST(a_folder_that_cannot_be_written_is_7)
{
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml -o /dev/null/x"), 7);
}
END_TEST

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

START_TEST(what_is_dumped_is_all_that_is_left_when_no_folder_is_named)
{
    make_folder();
    ck_assert_int_eq(
        tfgen("%s", in_folder(
            "--version; s=$PWD/specs t=$(realpath ${TFGEN:-./tfgen}); cd %s && $t $s/rmsnorm.yaml --dump=plan >plan && ls && $t "
            "$s/rmsnorm.yaml "
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

/* Rows: the stage that the text is of; columns: the stage that is asked for. Graph and ir are ops, fuse and plan are kernels. */
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

START_TEST(text_without_its_spec_is_not_called_good_and_another_spec_is_refused)
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
    ck_assert_int_eq(tfgen("%s", in_folder("run %s/plan.ir --from=plan --spec=specs/rmsnorm.yaml")), 3); /* it has no F */
    ck_assert_int_eq(
        tfgen("%s", in_folder(
            "--version; sed 's/w_gate/gate_w/g' specs/swiglu.yaml >%s/other.yaml; ${TFGEN:-./tfgen} run %s/plan.ir --from=plan "
            "--spec=%s/other.yaml")),
        2);
    says("the text was made of another spec");
    ck_assert_int_eq(tfgen("run specs/rmsnorm.yaml --spec=specs/rmsnorm.yaml"), 2);
    says("the graph is there already");
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
    for (int i = 0; i < 2; i++) { /* more rows than kernels count (found by the planner), more than a value may have (by the reader) */
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

START_TEST(without_libclang_code_is_made_and_one_note_says_so)
{
    make_folder();
    setenv("TFGEN_LIBCLANG", "/nonexistent.so", 1);
    setenv("TFGEN_CACHE_DIR", in_folder("%s/cache"), 1);
    const int code = tfgen("%s", in_folder("specs/gelu-layernorm-linear.yaml -q --target=gfx90a,gfx90a --code -o %s/out"));
    unsetenv("TFGEN_LIBCLANG");
    unsetenv("TFGEN_CACHE_DIR"); /* each test is a process of its own */
    ck_assert_msg(code == 0 || code == 4, "%s", output); /* 4: no compiler here */
    ck_assert_msg(times("note: ") == 1, "%s", output);
    says("/nonexistent.so");
    remove_folder();
}
END_TEST

START_TEST(code_is_made_without_a_word_when_all_checks_agree)
{
    make_folder();
    const int code = tfgen("%s", in_folder("specs/rmsnorm.yaml -q --target=gfx90a --code -o %s/out"));
    ck_assert_msg(code == 4 || (code == 0 && (*output == 0 || times("note: ") == 1)), "%s", output);
    remove_folder();
}
END_TEST

START_TEST(run_checks_itself_and_reports_json)
{
    ck_assert_int_eq(tfgen("run specs/rmsnorm.yaml --json --repeat=0"), 0);
    json_t *result = json_loads(output, 0, NULL);
    ck_assert_ptr_nonnull(result);
    ck_assert(json_is_true(json_object_get(result, "good")) && json_is_true(json_object_get(result, "referenced")));
    json_decref(result);
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

static void write_text(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

/* x, two rows of eight, and where they go: at. Values are whole numbers, so that nothing rounds. */
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

START_TEST(a_step_begins_with_the_states_that_the_step_before_left)
{
    float x[3][2][8], kept[2][2][4][4], before[2][2][4][4];
    char arguments[512];
    make_folder();
    write_text(
        "chain.yaml",
        "block: chain\ndtype: f32\ndims: {B: 2, S: 1, D: 8, L: 4}\ninputs: {x: [B, S, D], at: {shape: [B], dtype: i32, range: [0, L-S]}}\n"
        "state: {kept: [B, 2, L, 4]}\nops:\n  - {out: all, op: kv_append, in: [x], state: kept, at: at}\n  - {out: y, op: relu, in: [x]}\n"
        "  - {out: k, op: attention, in: [x, all, all], heads: 2, causal: true, at: at}\noutputs: {y: y, k: k}\n");
    for (int step = 0; step < 3; step++) { /* sequence 0 is filled from its first row on, sequence 1 from its third row down */
        write_step(step, x[step]);
        snprintf(arguments, sizeof arguments, "run %s/chain.yaml -q --repeat=2 --input=%s/in%d -o %s/out%d", folder, folder, step, folder,
                 step);
        if (step == 0) ck_assert_int_eq(tfgen("%s", arguments), 3); /* no state, and none is made up */
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
    Suite *suite = suite_create("command");
    TCase *c = tcase_create("command");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, help_names_every_command_and_exit_code);
    tcase_add_test(c, a_command_has_help_of_its_own_however_it_is_asked_for);
    tcase_add_test(c, every_command_and_every_list_that_help_names_is_there);
    tcase_add_test(c, every_target_is_in_the_help_the_man_page_the_readme_and_all_of_them);
    tcase_add_test(c, a_word_that_is_no_command_is_no_spec_either);
    tcase_add_test(c, every_option_refuses_what_it_cannot_be);
    tcase_add_test(c, a_list_that_is_given_twice_is_one_list);
    tcase_add_test(c, a_device_model_is_a_name_or_a_file);
    tcase_add_test(c, device_models_are_listed_with_their_targets);
    tcase_add_test(c, what_others_call_a_dtype_and_a_dim_that_is_not_there_get_a_hint);
    tcase_add_test(c, a_device_is_asked_for_by_name);
    tcase_add_test(c, the_man_page_is_well_formed_and_has_every_option);
    tcase_add_test(c, the_checked_in_man_page_and_schema_are_current);
    tcase_add_test(c, bad_usage_is_2);
    tcase_add_test(c, a_bad_spec_is_3_and_a_missing_one_too);
    tcase_add_test(c, an_unknown_target_is_4);
    tcase_add_test(c, a_folder_that_cannot_be_written_is_7);
    tcase_add_test(c, emit_writes_plan_sources_headers_and_manifest);
    tcase_add_test(c, emission_is_deterministic_to_the_byte);
    tcase_add_test(c, what_is_dumped_is_all_that_is_left_when_no_folder_is_named);
    tcase_add_test(c, a_dumped_stage_is_read_back_and_gives_the_same_kernels);
    tcase_add_test(c, text_of_another_stage_is_refused_by_name);
    tcase_add_test(c, a_plan_that_was_edited_is_run_and_judged_by_the_spec);
    tcase_add_test(c, text_of_every_stage_is_run_and_timed);
    tcase_add_test(c, text_without_its_spec_is_not_called_good_and_another_spec_is_refused);
    tcase_add_test(c, errors_in_ir_text_show_its_line_also_after_it_was_read);
    tcase_add_test(c, without_libclang_code_is_made_and_one_note_says_so);
    tcase_add_test(c, code_is_made_without_a_word_when_all_checks_agree);
    tcase_add_test(c, run_checks_itself_and_reports_json);
    tcase_add_test(c, outputs_are_written_and_depend_on_the_seed);
    tcase_add_test(c, a_step_begins_with_the_states_that_the_step_before_left);
    tcase_add_test(c, weights_that_do_not_fit_are_refused_by_name);
    tcase_add_test(c, golden_models_run_within_their_bounds);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
