/* NVTX and roctx ranges, recorded by a double of their libraries: around plan, load, pack and execute, nested, only if TFGEN_PROFILE
 * enables them. */
#define _GNU_SOURCE
#include "runtime/api/tfgen.h"
#include "runtime/system/ranges.h"
#include "tests/shell.h"
#include "tests/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char spec[] = "block: t\ndtype: f32\ndims: {M: 3, K: 8, N: 16}\ninputs: {x: [M, K]}\nparams: {w: [N, K], n: [N]}\n"
                           "ops:\n  - {out: h, op: linear, in: [x, w]}\n  - {out: y, op: rmsnorm, in: [h, n]}\noutputs: {y: y}\n";

static char folder[64] = "/tmp/tfgen-ranges-XXXXXX", library[4096], file[128];
static tfgen_error error;

static void must(tfgen_status status) { ck_assert_msg(status == TFGEN_OK, "%d: %s", status, error.text); }

static char *told(void)
{
    static char text[1 << 20];
    FILE *f = fopen(file, "r");
    if (!f) return NULL;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    unlink(file);
    return text;
}

/* Plans, loads, packs and executes once on the host engine. */
static void live_once(void)
{
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    void *tensors[8] = {NULL}, *workspace;
    must(tfgen_device_open("host", &device, &error));
    must(tfgen_plan_create(spec, strlen(spec), "t.yaml", NULL, &plan, &error));
    must(tfgen_module_create(plan, device, NULL, &module, &error));
    for (size_t i = 0; i < tfgen_plan_tensor_count(plan); i++) {
        tfgen_tensor t = {.size = sizeof t};
        must(tfgen_plan_tensor(plan, i, &t));
        must(tfgen_device_alloc(device, (size_t)t.bytes, &tensors[i], &error));
    }
    must(tfgen_device_alloc(device, (size_t)tfgen_plan_workspace_bytes(plan) + 1, &workspace, &error));
    must(tfgen_weights_create(module, tensors, NULL, &weights, &error));
    const tfgen_args args = {.size = sizeof args, .tensors = tensors};
    must(tfgen_execute(module, weights, &args, workspace, NULL, &error));
    tfgen_weights_free(weights);
    tfgen_module_free(module);
    tfgen_device_free(device, workspace);
    for (size_t i = 0; i < tfgen_plan_tensor_count(plan); i++) tfgen_device_free(device, tensors[i]);
    tfgen_plan_free(plan);
    tfgen_device_close(device);
}

/* The lines of one library, without its name; each push has its pop. */
static char *lines_of(const char *all, const char *name)
{
    char *out = calloc(strlen(all) + 1, 1), *copy = strdup(all);
    int depth = 0;
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n")) {
        const size_t size = strlen(name);
        if (strncmp(line, name, size) != 0 || line[size] != ' ') continue;
        depth += strncmp(line + size + 1, "push ", 5) == 0 ? 1 : -1;
        ck_assert_int_ge(depth, 0);
        strcat(strcat(out, line + size + 1), "\n");
    }
    ck_assert_int_eq(depth, 0);
    free(copy);
    return out;
}

static void comes_behind(const char **at, const char *line)
{
    const char *found = strstr(*at, line);
    ck_assert_msg(found != NULL, "no '%s' in:\n%s", line, *at);
    *at = found + strlen(line);
}

START_TEST(plan_load_pack_and_execute_are_ranges)
{
    setenv("TFGEN_PROFILE", library, 1);
    live_once();
    char *all = told(), *nvtx, *roctx;
    ck_assert_ptr_nonnull(all);
    nvtx = lines_of(all, "nvtx"), roctx = lines_of(all, "roctx");
    ck_assert_str_eq(nvtx, roctx);
    const char *at = nvtx;
    comes_behind(&at, "push tfgen plan t.yaml\npop\n");
    comes_behind(&at, "push tfgen load t\n");
    comes_behind(&at, "push tfgen compile\npop\n");
    comes_behind(&at, "pop\npush tfgen pack t\npush t_h_pack\npop\npop\n");
    comes_behind(&at, "push tfgen execute t\npush t_h\npop\npush t_y\npop\npop\n");
    ck_assert_str_eq(at, "");
    free(nvtx);
    free(roctx);
}
END_TEST

START_TEST(no_range_is_reported_unless_requested)
{
    static const char *const values[] = {NULL, "", "0"};
    if (values[_i])
        setenv("TFGEN_PROFILE", values[_i], 1);
    else
        unsetenv("TFGEN_PROFILE");
    const char *libraries[2], *asked = "?";
    live_once();
    ck_assert(!ranges_wanted());
    ck_assert_uint_eq(ranges_open(libraries, 2, &asked), 0);
    ck_assert_ptr_null(asked);
    ck_assert_ptr_null(told());
}
END_TEST

START_TEST(a_long_name_is_cut)
{
    char name[600];
    setenv("TFGEN_PROFILE", library, 1);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    range_begin("what", name);
    range_end();
    char *lines = lines_of(told(), "nvtx");
    ck_assert_uint_eq(strcspn(lines, "\n"), strlen("push ") + 199);
    free(lines);
}
END_TEST

/* Libraries are found by the dynamic loader. */
START_TEST(libraries_are_found_by_their_names)
{
    static const char *const names[] = {"libnvtx3interop.so.1", "librocprofiler-sdk-roctx.so.1"};
    for (int i = 0; i < 2; i++) {
        char link[256];
        snprintf(link, sizeof link, "%s/%s", folder, names[i]);
        ck_assert(symlink(library, link) == 0);
    }
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    const int code =
        shell("TFGEN_PROFILE=1 LD_LIBRARY_PATH=%s %s run specs/softmax.yaml --target=host --repeat=0 -q --reference=never 2>&1", folder,
              program);
    ck_assert_msg(code == 0, "%s", output);
    const char *all = told();
    ck_assert_ptr_nonnull(all);
    ck_assert_ptr_nonnull(strstr(all, "nvtx push tfgen load softmax\n"));
    ck_assert_ptr_nonnull(strstr(all, "roctx push tfgen load softmax\n"));
    ck_assert_ptr_nonnull(strstr(all, "roctx push softmax_p\nnvtx pop\nroctx pop\n"));
}
END_TEST

START_TEST(doctor_names_the_profiling_library_that_listens)
{
    const char *program = getenv("TFGEN") ? getenv("TFGEN") : "./tfgen";
    (void)shell("TFGEN_PROFILE='%s' %s doctor 2>&1", library, program);
    says(library);
    (void)shell("TFGEN_PROFILE=/dev/null/none.so %s doctor 2>&1", program);
    says("/dev/null/none.so: no library of NVTX or roctx could be opened");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ranges");
    TCase *t = tcase_create("ranges");
    char self[4096];
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (!mkdtemp(folder) || size <= 0) return 1;
    self[size] = 0;
    *strrchr(self, '/') = 0;
    snprintf(library, sizeof library, "%.4000s/doubles/libranges_double.so", self);
    snprintf(file, sizeof file, "%s/told", folder);
    setenv("RANGES_FILE", file, 1);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, plan_load_pack_and_execute_are_ranges);
    tcase_add_loop_test(t, no_range_is_reported_unless_requested, 0, 3);
    tcase_add_test(t, a_long_name_is_cut);
    tcase_add_test(t, libraries_are_found_by_their_names);
    tcase_add_test(t, doctor_names_the_profiling_library_that_listens);
    suite_add_tcase(s, t);
    const int failed = run_suite(s);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) || failed;
}
