/* The public interface, as an application uses it. */
#define _GNU_SOURCE
#include <check.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/api/tfgen.h"
#include "tests/support.h"

static const char ffn[] = "block: ffn\n"
                          "dtype: bf16\n"
                          "dims: {M: 5, D: 32, F: 48}\n"
                          "inputs: {x: [M, D]}\n"
                          "params: {w: [F, D], b: [F]}\n"
                          "ops:\n"
                          "  - {out: h, op: linear, in: [x, w, b]}\n"
                          "  - {out: y, op: gelu_tanh, in: [h]}\n"
                          "outputs: {y: y}\n";

/* Fails unless the text has the form that the header promises. */
static void is_styled(const char *text)
{
    const size_t n = strlen(text);
    ck_assert_msg(n && n < sizeof(tfgen_error) && !strchr("\n .!", text[n - 1]) && !(text[0] >= 'A' && text[0] <= 'Z') &&
                  strncmp(text, "error: ", 7) != 0, "'%s'", text);
}

static tfgen_plan *plan_of(tfgen_plan_options *o)
{
    tfgen_plan *plan = NULL;
    tfgen_error error = {""};
    ck_assert_msg(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", o, &plan, &error) == TFGEN_OK, "%s", error.text);
    return plan;
}

START_TEST(a_plan_has_kernels_with_sources)
{
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    o.target = "gfx942";
    tfgen_plan *plan = plan_of(&o);
    ck_assert_uint_eq(tfgen_plan_kernel_count(plan), 1);
    ck_assert_ptr_nonnull(strstr(tfgen_plan_kernel_source(plan, 0), tfgen_plan_kernel_name(plan, 0)));
    ck_assert_ptr_null(tfgen_plan_kernel_source(plan, 1));
    ck_assert_ptr_nonnull(strstr(tfgen_plan_manifest(plan), "\"gfx942\""));
    ck_assert_int_eq(strncmp(tfgen_plan_text(plan), "ir 1 ffn", 8), 0);
    tfgen_plan_free(plan);
}
END_TEST

START_TEST(a_plan_has_the_warnings_of_its_spec)
{
    static const char doubtful[] = "block: warned\ndtype: f32\ndims: {B: 1, S: 1, L: 8}\n"
                                   "inputs: {k: [B, S, 8], pos: {shape: [B], dtype: i32, range: [0, L]}}\nstate: {kc: [B, 2, L, 4]}\n"
                                   "ops:\n  - {out: ka, op: kv_append, in: [k], state: kc, at: pos}\n  - {out: r, op: relu, in: [k]}\n"
                                   "outputs: {y: r}\n";
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    tfgen_plan *plan;
    tfgen_error error = {""};
    ck_assert_msg(tfgen_plan_create(doubtful, sizeof doubtful - 1, "w\n.yaml", &o, &plan, &error) == TFGEN_OK, "%s", error.text);
    ck_assert_uint_eq(tfgen_plan_warning_count(plan), 1);
    ck_assert_str_eq(tfgen_plan_warning(plan, 0), "w?.yaml:7:54: warning: kv_append: at: %pos may be 8, where position + 1 token "
                                                  "exceeds the 8 cache rows: rows past the last are not written");
    ck_assert_ptr_null(tfgen_plan_warning(plan, 1));
    tfgen_plan_free(plan);
    plan = plan_of(&o);
    ck_assert_uint_eq(tfgen_plan_warning_count(plan), 0);
    ck_assert_ptr_null(tfgen_plan_warning(plan, 0));
    tfgen_plan_free(plan);
    ck_assert_uint_eq(tfgen_plan_warning_count(NULL), 0);
}
END_TEST

START_TEST(a_plan_is_for_the_device_model_that_is_named)
{
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    tfgen_plan *plan;
    tfgen_error error = {""};
    const char *const models[][2] = {{NULL, "\"mi210\""},
                                     {"mi250x", "\"mi250x\""},
                                     {"name: mine\nlabel: x\ntarget: gfx90a\nunits: {is: 3, chosen: x}\nchiplets: {is: 1, chosen: x}\n",
                                      "\"mine\""}};
    o.target = "gfx90a";
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        o.device_model = models[i][0];
        plan = plan_of(&o);
        ck_assert_ptr_nonnull(strstr(tfgen_plan_manifest(plan), models[i][1]));
        tfgen_plan_free(plan);
    }
    o.device_model = "h200";
    ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", &o, &plan, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "device model h200 belongs to target sm_90a, not gfx90a") != NULL, "%s", error.text);
    o.device_model = "name: 5 5\n";
    ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", &o, &plan, &error), TFGEN_BAD_INPUT);
    ck_assert_msg(strncmp(error.text, "device model:1:7: error: name", 29) == 0, "%s", error.text);
}
END_TEST

/* Numbers of device models used to be read by the program's locale: with a decimal comma there was no plan for a GPU. */
START_TEST(a_program_with_a_decimal_comma_gets_the_same_plans)
{
    static const char *const targets[] = {"host", "sm_90a", "gfx942"};
    for (int i = 0; i < 3; i++) {
        tfgen_plan_options o = {.size = sizeof o, .target = targets[i], .wisdom = "specs/wisdom/h200.wisdom"};
        tfgen_plan *expected = plan_of(&o);
        if (!comma_locale()) {
            tfgen_plan_free(expected);
            return;
        }
        tfgen_plan *got = plan_of(&o);
        setlocale(LC_NUMERIC, "C");
        ck_assert_str_eq(tfgen_plan_text(got), tfgen_plan_text(expected));
        ck_assert_str_eq(tfgen_plan_manifest(got), tfgen_plan_manifest(expected));
        tfgen_plan_free(got);
        tfgen_plan_free(expected);
    }
}
END_TEST

START_TEST(a_plan_has_the_tiles_of_its_options)
{
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    const char *lines[] = {"gemm: n=32"}, *wrong[] = {"gate_up: nn=32"}, *illegal[] = {"gemm: n=33"};
    tfgen_plan *plan;
    tfgen_error error = {""};
    o.target = "gfx90a", o.tiles = lines, o.tile_count = 1;
    plan = plan_of(&o);
    lines[0] = ""; /* the plan has a copy */
    ck_assert_ptr_nonnull(strstr(tfgen_plan_text(plan), "from user\n"));
    ck_assert_ptr_nonnull(strstr(tfgen_plan_manifest(plan), "\"from\": \"user\""));
    tfgen_plan_free(plan);
    o.tiles = wrong;
    ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", &o, &plan, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "tile 'gate_up: nn=32': ") != NULL, "%s", error.text);
    o.tile_count = 0, o.wisdom = "/nowhere/wisdom";
    ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", &o, &plan, &error), TFGEN_IO);
    ck_assert_msg(strstr(error.text, "wisdom: cannot read /nowhere/wisdom: ") != NULL, "%s", error.text);
    setenv("TFGEN_WISDOM", "/nowhere/wisdom", 1); /* the usual place may be empty */
    o.wisdom = NULL;
    tfgen_plan_free(plan_of(&o));
    o.tile_count = 1, o.tiles = illegal;
    ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", &o, &plan, &error), TFGEN_UNSUPPORTED);
}
END_TEST

START_TEST(less_fusion_gives_more_kernels)
{
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    o.fusion = TFGEN_FUSION_NONE;
    tfgen_plan *plan = plan_of(&o);
    ck_assert_uint_eq(tfgen_plan_kernel_count(plan), 2);
    tfgen_plan_free(plan);
}
END_TEST

START_TEST(dims_and_dtype_are_overridden)
{
    const tfgen_dim dims[] = {{"F", 7}};
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    o.dims = dims, o.dim_count = 1, o.dtype = "f32";
    tfgen_plan *plan = plan_of(&o);
    ck_assert_ptr_nonnull(strstr(tfgen_plan_text(plan), "f32[7,32]"));
    tfgen_plan_free(plan);
}
END_TEST

START_TEST(an_error_names_the_place)
{
    tfgen_plan *plan = (tfgen_plan *)1;
    tfgen_error error;
    const char bad[] = "block: b\ndims: {N: 4}\ninputs: {x: [N]}\nops:\n  - {out: y, op: sqrtt, in: [x]}\noutputs: {y: y}\n";
    ck_assert_int_eq(tfgen_plan_create(bad, sizeof bad - 1, "bad.yaml", NULL, &plan, &error), TFGEN_BAD_INPUT);
    ck_assert_ptr_null(plan);
    ck_assert_msg(strstr(error.text, "bad.yaml:5:") && strstr(error.text, "sqrt"), "%s", error.text);
    is_styled(error.text);
}
END_TEST

START_TEST(an_error_that_is_cut_ends_with_a_whole_character)
{
    for (size_t shift = 0; shift < 3; shift++) {
        char name[1024 + 8] = "xx";
        for (size_t i = shift; i < 1024; i += 3) memcpy(name + i, "\u20ac", 4);
        tfgen_plan *plan;
        tfgen_error error;
        ck_assert_int_eq(tfgen_plan_create("x", 1, name, NULL, &plan, &error), TFGEN_BAD_INPUT);
        ck_assert_uint_ge(strlen(error.text), sizeof error.text - 6);
        ck_assert_uint_eq(strlen(error.text) % 3, shift);
    }
}
END_TEST

/* Whichever name of a call is unknown, the message lists the known ones. */
START_TEST(an_unknown_name_is_bad_usage)
{
    static const char *const no_fuse[] = {"qvk"};
    static const tfgen_dim dims[] = {{"FF", 7}}, large[] = {{"F", 0}};
    static const struct {
        tfgen_plan_options options;
        const char *says;
    } cases[] = {{{.target = "gfx9999"}, "Targets: host, "},
                 {{.preset = "huge"}, "there is no preset \"huge\""},
                 {{.dtype = "fp16"}, "did you mean f16?"},
                 {{.dims = dims, .dim_count = 1}, "there is no dim \"FF\""},
                 {{.dims = large, .dim_count = 1}, "F=0: a dim is from 1"},
                 {{.no_fuse = no_fuse, .no_fuse_count = 1}, "did you mean qkv"},
                 {{.device_model = "h20"}, "did you mean 'h200'?"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tfgen_plan_options o = cases[i].options;
        tfgen_plan *plan;
        tfgen_error error;
        o.size = sizeof o;
        ck_assert_msg(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", &o, &plan, &error) == TFGEN_USAGE, "%s", cases[i].says);
        ck_assert_msg(strstr(error.text, cases[i].says) != NULL, "%s", error.text);
        is_styled(error.text);
    }
}
END_TEST

START_TEST(options_of_an_older_caller_are_accepted)
{
    struct { size_t size; const char *target; } old = {sizeof old, "gfx90a"};
    tfgen_plan *plan;
    tfgen_error error;
    ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", (const tfgen_plan_options *)&old, &plan, &error), TFGEN_OK);
    ck_assert_ptr_nonnull(strstr(tfgen_plan_manifest(plan), "gfx90a"));
    ck_assert_uint_eq(tfgen_plan_kernel_count(plan), 1);
    tfgen_plan_free(plan);
}
END_TEST

START_TEST(wrong_calls_are_refused)
{
    tfgen_plan *plan;
    tfgen_error error;
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    ck_assert_int_eq(tfgen_plan_create(NULL, 0, "x", NULL, &plan, &error), TFGEN_USAGE);
    o.size = 0;
    ck_assert_int_eq(tfgen_plan_create(ffn, 1, "x", &o, &plan, &error), TFGEN_USAGE);
    o.size = sizeof o, o.fusion = (tfgen_fusion)(TFGEN_FUSION_AUTO + 1);
    ck_assert_int_eq(tfgen_plan_create(ffn, 1, "x", &o, &plan, &error), TFGEN_USAGE);
    const tfgen_dim dims[] = {{"F", 7}, {NULL, 1}};
    const char *const names[] = {"bias", NULL};
    o = (tfgen_plan_options)TFGEN_PLAN_OPTIONS_INIT;
    o.dims = dims, o.dim_count = 2;
    ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "x", &o, &plan, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "options.dims[1] is NULL"), "%s", error.text);
    o.dim_count = 1, o.no_fuse = names, o.no_fuse_count = 2;
    ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "x", &o, &plan, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "options.no_fuse[1] is NULL"), "%s", error.text);
    o.no_fuse_count = 0, o.tile_count = 1;
    ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "x", &o, &plan, &error), TFGEN_USAGE);
    ck_assert_msg(strstr(error.text, "options.tiles is NULL"), "%s", error.text);
    tfgen_plan_free(NULL);
    ck_assert_uint_eq(tfgen_plan_kernel_count(NULL), 0);
}
END_TEST

/* ---- structs of older callers: whatever size they state, no byte behind it is read or written */
static char *edge; /* the end of memory that may be touched */

static void map_edge(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *both = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(both, MAP_FAILED);
    ck_assert_int_eq(mprotect(both + page, page, PROT_NONE), 0);
    edge = both + page;
}

/* Returns the first `size` bytes of a struct, with its size field set to that. */
static void *cut(const void *whole, size_t size)
{
    char *at = edge - size;
    memcpy(at, whole, size);
    memcpy(at, &size, sizeof size);
    return at;
}

START_TEST(plan_options_of_every_size_are_accepted)
{
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    for (size_t size = 8; size <= sizeof o; size += 8) {
        tfgen_plan *plan = NULL;
        o.target = "gfx942", o.fusion = TFGEN_FUSION_NONE;
        ck_assert_int_eq(tfgen_plan_create(ffn, sizeof ffn - 1, "ffn.yaml", cut(&o, size), &plan, NULL), TFGEN_OK);
        ck_assert((strstr(tfgen_plan_manifest(plan), "\"gfx942\"") != NULL) == (size >= offsetof(tfgen_plan_options, preset)));
        ck_assert_uint_eq(tfgen_plan_kernel_count(plan), size >= offsetof(tfgen_plan_options, no_fuse) ? 2 : 1);
        tfgen_plan_free(plan);
    }
}
END_TEST

typedef struct host_call {
    tfgen_device *device;
    tfgen_plan *plan;
    tfgen_module *module;
    tfgen_weights *weights;
    void *tensors[8];
} host_call;

static host_call open_call(void)
{
    host_call c = {0};
    tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
    tfgen_error error = {""};
    o.target = "host", o.dtype = "f32";
    c.plan = plan_of(&o);
    ck_assert_int_eq(tfgen_device_open("host", &c.device, &error), TFGEN_OK);
    ck_assert_msg(tfgen_module_create(c.plan, c.device, NULL, &c.module, &error) == TFGEN_OK, "%s", error.text);
    ck_assert_str_eq(tfgen_module_manifest(c.module), tfgen_plan_manifest(c.plan));
    ck_assert_uint_eq(tfgen_plan_tensor_count(c.plan), 4);
    for (size_t i = 0; i < 4; i++) {
        tfgen_tensor t = {.size = sizeof t};
        ck_assert_int_eq(tfgen_plan_tensor(c.plan, i, &t), TFGEN_OK);
        ck_assert_int_eq(tfgen_device_alloc(c.device, (size_t)t.bytes, &c.tensors[i], &error), TFGEN_OK);
        for (int64_t k = 0; k < t.bytes / 4; k++) ((float *)c.tensors[i])[k] = 0.25f;
    }
    ck_assert_int_eq(tfgen_weights_create(c.module, c.tensors, NULL, &c.weights, &error), TFGEN_OK);
    return c;
}

static void close_call(host_call *c)
{
    for (size_t i = 0; i < 4; i++) tfgen_device_free(c->device, c->tensors[i]);
    tfgen_weights_free(c->weights);
    tfgen_module_free(c->module);
    tfgen_plan_free(c->plan);
    tfgen_device_close(c->device);
}

START_TEST(module_options_and_args_of_every_size_are_accepted)
{
    host_call c = open_call();
    tfgen_module_options o = TFGEN_MODULE_OPTIONS_INIT;
    tfgen_args args = TFGEN_ARGS_INIT;
    tfgen_error error;
    args.tensors = c.tensors;
    for (size_t size = 0; size <= sizeof o; size += 8) {
        tfgen_module *module = NULL;
        void *given = size ? cut(&o, size) : memset(edge - 8, 0, 8);
        ck_assert_int_eq(tfgen_module_create(c.plan, c.device, given, &module, &error), size ? TFGEN_OK : TFGEN_USAGE);
        tfgen_module_free(module);
    }
    for (size_t size = 8; size <= sizeof args; size += 8) /* without tensors there is nothing to run on */
        ck_assert_int_eq(tfgen_execute(c.module, c.weights, cut(&args, size), NULL, NULL, &error), size > 8 ? TFGEN_OK : TFGEN_USAGE);
    close_call(&c);
}
END_TEST

START_TEST(tensor_and_device_structs_of_every_size_are_filled)
{
    host_call c = open_call();
    tfgen_tensor t = {0};
    tfgen_device_info info = {0};
    for (size_t size = 8; size <= sizeof t; size += 8) {
        tfgen_tensor *out = cut(&t, size);
        ck_assert_int_eq(tfgen_plan_tensor(c.plan, 0, out), TFGEN_OK);
        ck_assert_uint_eq(out->size, size);
        if (size >= 16) ck_assert_str_eq(out->name, "x");
    }
    for (size_t size = 8; size <= sizeof info; size += 8) {
        tfgen_device_info *out = cut(&info, size);
        ck_assert_int_eq(tfgen_device_query(c.device, out), TFGEN_OK);
        ck_assert_uint_eq(out->size, size);
        if (size >= 24) ck_assert_str_eq(out->name, "host");
        out = cut(&info, size);
        ck_assert_uint_ge(tfgen_device_list(out, 1), 1);
        ck_assert_uint_eq(out->size, size);
    }
    t.size = 7;
    ck_assert_int_eq(tfgen_plan_tensor(c.plan, 0, &t), TFGEN_USAGE);
    t.size = sizeof t;
    ck_assert_int_eq(tfgen_plan_tensor(c.plan, 4, &t), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_plan_tensor(NULL, 0, &t), TFGEN_USAGE);
    ck_assert_int_eq(tfgen_device_query(NULL, &info), TFGEN_USAGE);
    ck_assert_uint_eq(tfgen_plan_tensor_index(c.plan, "y", TFGEN_INPUT), (size_t)-1);
    ck_assert_uint_eq(tfgen_plan_tensor_index(c.plan, NULL, TFGEN_INPUT), (size_t)-1);
    ck_assert_uint_eq(tfgen_plan_tensor_index(NULL, "x", TFGEN_INPUT), (size_t)-1);
    close_call(&c);
}
END_TEST

/* A caller newer than the library: fields that the library does not know are not read, and are zero in results. */
START_TEST(structs_of_a_newer_caller_are_accepted)
{
    host_call c = open_call();
    struct { tfgen_tensor known; char more[32]; } t;
    struct { tfgen_module_options known; char more[32]; } o = {TFGEN_MODULE_OPTIONS_INIT, {0}};
    tfgen_module *module;
    memset(&t, 0x55, sizeof t);
    t.known.size = sizeof t, o.known.size = sizeof o;
    ck_assert_int_eq(tfgen_plan_tensor(c.plan, 1, &t.known), TFGEN_OK);
    for (size_t i = 0; i < sizeof t.more; i++) ck_assert_int_eq(t.more[i], 0);
    ck_assert_int_eq(tfgen_module_create(c.plan, c.device, &o.known, &module, NULL), TFGEN_OK);
    tfgen_module_free(module);
    close_call(&c);
}
END_TEST

START_TEST(tensors_are_listed_in_a_fixed_order)
{
    static const char *const names[] = {"x", "w", "b", "y"};
    static const tfgen_tensor_kind kinds[] = {TFGEN_INPUT, TFGEN_PARAM, TFGEN_PARAM, TFGEN_OUTPUT};
    for (int level = TFGEN_FUSION_NONE; level <= TFGEN_FUSION_TILE; level++) {
        tfgen_plan_options o = TFGEN_PLAN_OPTIONS_INIT;
        o.fusion = (tfgen_fusion)level;
        tfgen_plan *plan = plan_of(&o);
        ck_assert_uint_eq(tfgen_plan_tensor_count(plan), 4);
        for (size_t i = 0; i < 4; i++) {
            tfgen_tensor t = {.size = sizeof t};
            ck_assert_int_eq(tfgen_plan_tensor(plan, i, &t), TFGEN_OK);
            ck_assert_str_eq(t.name, names[i]);
            ck_assert_int_eq(t.kind, kinds[i]);
            ck_assert_str_eq(t.dtype, "bf16");
            ck_assert_uint_eq(tfgen_plan_tensor_index(plan, names[i], kinds[i]), i);
        }
        tfgen_tensor w = {.size = sizeof w};
        tfgen_plan_tensor(plan, 1, &w);
        ck_assert(w.rank == 2 && w.shape[0] == 48 && w.shape[1] == 32 && w.row_stride == 32 && w.bytes == 48 * 32 * 2);
        tfgen_plan_free(plan);
    }
}
END_TEST

START_TEST(a_tensor_says_how_far_apart_its_rows_are)
{
    static const char text[] = "block: b\ndtype: f32\ndims: {M: 3, K: 8}\ninputs: {x: {shape: [M, K], stride: 3*K}}\n"
                               "ops: [{out: y, op: relu, in: [x]}]\noutputs: {y: {value: y, stride: K+4}}\n";
    static const int64_t strides[] = {24, 12};
    tfgen_plan *plan = NULL;
    tfgen_error error = {""};
    ck_assert_msg(tfgen_plan_create(text, sizeof text - 1, "b.yaml", NULL, &plan, &error) == TFGEN_OK, "%s", error.text);
    for (size_t i = 0; i < 2; i++) {
        tfgen_tensor t = {.size = sizeof t};
        ck_assert_int_eq(tfgen_plan_tensor(plan, i, &t), TFGEN_OK);
        ck_assert(t.row_stride == strides[i] && t.shape[1] == 8 && t.bytes == (2 * strides[i] + 8) * 4);
    }
    ck_assert_ptr_nonnull(strstr(tfgen_plan_manifest(plan), "\"row_stride\": 24"));
    tfgen_plan_free(plan);
}
END_TEST

START_TEST(the_header_and_the_library_are_of_one_version)
{
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", TFGEN_VERSION_MAJOR, TFGEN_VERSION_MINOR, TFGEN_VERSION_PATCH);
    ck_assert_str_eq(tfgen_version(), text);
    ck_assert_int_eq(TFGEN_VERSION_NUMBER / 10000, TFGEN_VERSION_MAJOR);
    ck_assert_int_eq(TFGEN_VERSION_NUMBER % 100, TFGEN_VERSION_PATCH);
}
END_TEST

START_TEST(every_status_has_a_text)
{
    static const tfgen_status statuses[] = {TFGEN_OK,           TFGEN_USAGE,    TFGEN_BAD_INPUT, TFGEN_UNSUPPORTED, TFGEN_COMPILE_FAILED,
                                            TFGEN_DEVICE_ERROR, TFGEN_NO_MEMORY, TFGEN_IO};
    const char *const unknown = tfgen_status_text((tfgen_status)99);
    ck_assert_str_eq(unknown, "unknown status");
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) ck_assert_str_ne(tfgen_status_text(statuses[i]), unknown);
    ck_assert_str_eq(tfgen_status_text(TFGEN_OK), "success");
    ck_assert_ptr_nonnull(strstr(tfgen_status_text(TFGEN_NO_MEMORY), "not enough memory"));
}
END_TEST

START_TEST(the_header_is_c99_and_cpp17)
{
    static const char *const commands[] = {"gcc -std=c99 -x c",
                                           "clang-22 -std=c99 -Weverything -Wno-padded -Wno-documentation -Wno-unsafe-buffer-usage -x c",
                                           "g++ -std=c++17 -x c++", "clang++-22 -std=c++17 -x c++"};
    int ran = 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char line[600];
        snprintf(line, sizeof line, "command -v %.*s >/dev/null", (int)strcspn(commands[i], " "), commands[i]);
        if (system(line) != 0) continue;
        snprintf(line, sizeof line,
                 "echo '#include \"runtime/api/tfgen.h\"\n"
                 "int main(void) { tfgen_plan_options p = TFGEN_PLAN_OPTIONS_INIT; tfgen_module_options m = TFGEN_MODULE_OPTIONS_INIT; "
                 "tfgen_args a = TFGEN_ARGS_INIT; return p.size + m.size + a.size == 0; }' | %s -Wall -Wextra -Wpedantic -Werror "
                 "-I. -fsyntax-only -",
                 commands[i]);
        ck_assert_msg(system(line) == 0, "%s", commands[i]);
        ran++;
    }
    ck_assert_int_gt(ran, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("api");
    TCase *c = tcase_create("plan");
    tcase_add_test(c, a_plan_has_kernels_with_sources);
    tcase_add_test(c, a_plan_has_the_warnings_of_its_spec);
    tcase_add_test(c, less_fusion_gives_more_kernels);
    tcase_add_test(c, dims_and_dtype_are_overridden);
    tcase_add_test(c, an_error_names_the_place);
    tcase_add_test(c, an_error_that_is_cut_ends_with_a_whole_character);
    tcase_add_test(c, an_unknown_name_is_bad_usage);
    tcase_add_test(c, a_plan_is_for_the_device_model_that_is_named);
    tcase_add_test(c, a_program_with_a_decimal_comma_gets_the_same_plans);
    tcase_add_test(c, a_plan_has_the_tiles_of_its_options);
    tcase_add_test(c, options_of_an_older_caller_are_accepted);
    tcase_add_test(c, wrong_calls_are_refused);
    tcase_add_checked_fixture(c, map_edge, NULL);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, plan_options_of_every_size_are_accepted);
    tcase_add_test(c, module_options_and_args_of_every_size_are_accepted);
    tcase_add_test(c, tensor_and_device_structs_of_every_size_are_filled);
    tcase_add_test(c, structs_of_a_newer_caller_are_accepted);
    tcase_add_test(c, tensors_are_listed_in_a_fixed_order);
    tcase_add_test(c, a_tensor_says_how_far_apart_its_rows_are);
    tcase_add_test(c, the_header_and_the_library_are_of_one_version);
    tcase_add_test(c, every_status_has_a_text);
    tcase_add_test(c, the_header_is_c99_and_cpp17);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
