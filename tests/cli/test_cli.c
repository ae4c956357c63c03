/* The command as a person or a script sees it: exit codes, help, options, errors. Runs $TFGEN (default ./tfgen). */
#include "ir/ir.h"
#include "tests/cli/cli_rig.h"

START_TEST(help_names_every_command_and_exit_code)
{
    ck_assert_int_eq(tfgen("--help"), 0);
    says("  verify ");
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
        ck_assert_msg(!strstr(output, "tfgen verify"), "%s shows other commands", asked[i]);
    }
    ck_assert_int_eq(tfgen("help"), 0);
    says("  verify ");
    ck_assert_int_eq(tfgen("help rnu"), 2);
    says("did you mean tfgen help run?");
    ck_assert_int_eq(tfgen("help run verify"), 2);
    says("usage: tfgen help [COMMAND]");
}
END_TEST

START_TEST(every_command_and_list_named_in_help_exists)
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

START_TEST(every_target_is_in_the_help_the_man_page_the_readme_and_target_all)
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

START_TEST(an_unknown_command_is_not_read_as_a_spec)
{
    make_folder();
    ck_assert_int_eq(tfgen("%s",
                           in_folder("--version; cp specs/rmsnorm.yaml %s/spec; t=$(realpath ${TFGEN:-./tfgen}); cd %s && "
                                     "\"$t\" rnu spec")),
                     2);
    says("no command and no file is called 'rnu'; did you mean tfgen run?");
    ck_assert_int_eq(tfgen("%s", in_folder("--version; t=$(realpath ${TFGEN:-./tfgen}); cd %s && ls && \"$t\" spec -q && ls")),
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

/* Each is refused before anything is read or written, even if the call would never use the option. */
START_TEST(every_option_refuses_impossible_values)
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
        {"emit --target= specs/rmsnorm.yaml", "--target= is empty; expected LIST"},
        {"emit --target=, specs/rmsnorm.yaml", "is empty; expected"},
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

START_TEST(lists_of_a_repeated_option_are_joined)
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
    says("device model h200 belongs to target sm_90a, not host");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --target=sm_90a --device-model=./nothing.yaml"), 3);
    says("./nothing.yaml: cannot open");
    ck_assert_int_eq(tfgen("%s", in_folder("--version; sed s/2048/3072000/ specs/devices/h200.yaml >%s/d.yaml")), 0);
    ck_assert_int_eq(tfgen("%s", in_folder("run specs/rmsnorm.yaml --target=sm_90a --device-model=%s/d.yaml")), 3);
    says("/d.yaml:9:19: error: row_threads: expected a whole number from 1 to 65536");
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

START_TEST(foreign_dtype_names_and_unknown_dims_get_a_hint)
{
    static const char *const called[][2] = {{"fp16", "f16"},  {"half", "f16"},  {"float16", "f16"},   {"fp32", "f32"}, {"float32", "f32"},
                                            {"FLOAT", "f32"}, {"BF16", "bf16"}, {"bfloat16", "bf16"}, {"bf61", "bf16"}};
    char arguments[128], hint[64];
    for (size_t i = 0; i < sizeof called / sizeof *called; i++) {
        snprintf(hint, sizeof hint, "did you mean %s?", called[i][1]);
        if (i % 2) snprintf(arguments, sizeof arguments, "specs/rmsnorm.yaml -o /dev/null/x --dtype=%s", called[i][0]);
        else snprintf(arguments, sizeof arguments, "run specs/rmsnorm.yaml --dtype=%s", called[i][0]);
        ck_assert_int_eq(tfgen("%s", arguments), 2);
        says(hint);
    }
    ck_assert_int_eq(tfgen("verify specs/rmsnorm.yaml --dtype=float32"), 2);
    says("did you mean 'f32'?");
    ck_assert_int_eq(tfgen("check specs/llama-block.yaml --dim KW=4"), 2);
    says("did you mean KV?");
    ck_assert_int_eq(tfgen("check specs/rmsnorm.yaml --dim Q=4"), 2);
    says("there are B, S, D");
}
END_TEST

START_TEST(a_device_is_selected_by_name)
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

START_TEST(bad_usage_has_exit_code_2)
{
    ck_assert_int_eq(tfgen("--nonsense specs/rmsnorm.yaml"), 2);
    ck_assert_int_eq(tfgen("%s", ""), 2);
    ck_assert_int_eq(tfgen("check --weights=x specs/rmsnorm.yaml"), 2);
    says("not an option of `tfgen check`, but of run and bisect\n");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --random=2"), 2);
    says("not an option of `tfgen emit`, but of verify\n");
    ck_assert_int_eq(tfgen("schema --json"), 2);
    says("not an option of `tfgen schema`\n");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --fusion=til"), 2);
    says("did you mean 'tile'");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --no-fuse=nothing"), 2);
    says("qkv");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --dim B"), 2);
    ck_assert_int_eq(tfgen("run specs/rmsnorm.yaml --repeat=-1"), 2);
}
END_TEST

START_TEST(a_bad_or_missing_spec_has_exit_code_3)
{
    ck_assert_int_eq(tfgen("check specs/no-such-file.yaml"), 3);
    says("No such file");
    make_folder();
    ck_assert_int_eq(tfgen("%s", in_folder("check /dev/null")), 3);
    remove_folder();
}
END_TEST

START_TEST(an_unknown_name_in_an_option_has_exit_code_2)
{
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --target=gfx9999"), 2);
    says("gfx942");
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --dim QQ=3 -o /dev/null/x"), 2);
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml --target=sm_90"), 2);
    says("unknown target sm_90 (did you mean sm_90a?). Targets: host, ");
}
END_TEST

START_TEST(check_prints_each_error_as_a_json_object)
{
    ck_assert_int_eq(tfgen("%s", "check specs/bad/many-errors.yaml specs/rmsnorm.yaml no-such.yaml --json"), 3);
    json_t *all = parsed(), *bad = json_array_get(all, 0), *good = json_array_get(all, 1), *missing = json_array_get(all, 2);
    const json_t *errors = json_object_get(bad, "errors"), *first = json_array_get(errors, 0);
    ck_assert_uint_gt(json_array_size(errors), 3);
    ck_assert_str_eq(string(first, "file"), "specs/bad/many-errors.yaml");
    ck_assert_int_eq(integer(first, "line"), 8);
    ck_assert_int_eq(integer(first, "column"), 10);
    ck_assert_int_eq(strncmp(string(first, "message"), "there is no dim hd here;", 24), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(good, "errors")), 0);
    ck_assert_int_eq(integer(good, "ops"), 1);
    ck_assert(json_is_null(json_object_get(json_array_get(json_object_get(missing, "errors"), 0), "line")));
    json_decref(all);
}
END_TEST

START_TEST(an_unwritable_folder_has_exit_code_7)
{
    ck_assert_int_eq(tfgen("specs/rmsnorm.yaml -o /dev/null/x"), 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("command");
    TCase *c = tcase_create("command");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, help_names_every_command_and_exit_code);
    tcase_add_test(c, a_command_has_help_of_its_own_however_it_is_asked_for);
    tcase_add_test(c, every_command_and_list_named_in_help_exists);
    tcase_add_test(c, every_target_is_in_the_help_the_man_page_the_readme_and_target_all);
    tcase_add_test(c, an_unknown_command_is_not_read_as_a_spec);
    tcase_add_test(c, every_option_refuses_impossible_values);
    tcase_add_test(c, lists_of_a_repeated_option_are_joined);
    tcase_add_test(c, a_device_model_is_a_name_or_a_file);
    tcase_add_test(c, device_models_are_listed_with_their_targets);
    tcase_add_test(c, foreign_dtype_names_and_unknown_dims_get_a_hint);
    tcase_add_test(c, a_device_is_selected_by_name);
    tcase_add_test(c, the_man_page_is_well_formed_and_has_every_option);
    tcase_add_test(c, the_checked_in_man_page_and_schema_are_current);
    tcase_add_test(c, bad_usage_has_exit_code_2);
    tcase_add_test(c, a_bad_or_missing_spec_has_exit_code_3);
    tcase_add_test(c, an_unknown_name_in_an_option_has_exit_code_2);
    tcase_add_test(c, check_prints_each_error_as_a_json_object);
    tcase_add_test(c, an_unwritable_folder_has_exit_code_7);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}
