/* safetensors files: what is read, what is refused, and the messages. */
#define _GNU_SOURCE
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ir/graph/half.h"
#include "runtime/data/safetensors.h"

typedef struct attempt {
    arena *a;
    unsigned char *file;
    size_t size;
    const char *path, *need;
    double *out;
    const safetensors *f;
    const ir_value *value;
    const char *const *prefixes;
    size_t prefix_count;
    bool rounded;
    const safetensors_item *items;
    size_t item_count;
} attempt;

static void read_attempt(void *argument)
{
    attempt *t = argument;
    static const dim_table no_dims;
    if (!t->f)
        t->f =
            t->path ? safetensors_open(t->a, t->path) : safetensors_in_memory(t->a, t->file, t->size, "a.safetensors");
    if (t->value)
        safetensors_read_value(t->f, t->value, &no_dims, t->prefixes, t->prefix_count, t->rounded, t->out);
    else if (t->need && t->out)
        safetensors_read(t->f, safetensors_need(t->f, t->need), t->out);
    else if (t->need)
        (void)safetensors_need(t->f, t->need);
}

static void write_attempt(void *argument)
{
    attempt *t = argument;
    safetensors_write(t->a, t->path, t->items, t->item_count);
}

/* A file in memory: header, then `data` bytes 0, 1, 2, ... */
static attempt file_of(const char *header, size_t data)
{
    const size_t n = strlen(header);
    attempt t = {.a = arena_new(), .size = 8 + n + data};
    t.file = malloc(t.size); /* exactly as long as the file, so that a sanitizer sees a step beyond it */
    for (int i = 0; i < 8; i++) t.file[i] = (unsigned char)(n >> 8 * i);
    memcpy(t.file + 8, header, n);
    for (size_t i = 0; i < data; i++) t.file[8 + n + i] = (unsigned char)i;
    return t;
}

static void finish(attempt *t)
{
    free(t->file);
    arena_free(t->a);
}

static void refused(attempt *t, const char *expected)
{
    ck_assert_int_eq(arena_run(t->a, read_attempt, t), code_bad_input);
    ck_assert_msg(strstr(arena_diagnostics(t->a), expected) != NULL, "expected: %s\ngot: %s", expected,
                  arena_diagnostics(t->a));
    ck_assert_msg(strstr(arena_diagnostics(t->a), "a.safetensors: error: ") == arena_diagnostics(t->a), "%s",
                  arena_diagnostics(t->a));
    finish(t);
}

static void accepted(attempt *t)
{
    ck_assert_msg(arena_run(t->a, read_attempt, t) == code_ok, "%s", arena_diagnostics(t->a));
}

START_TEST(every_number_type_is_read)
{
    attempt t = file_of("{\"a\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"F32\","
                        "\"shape\":[1],\"data_offsets\":[8,12]},"
                        "\"c\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[12,14]},\"d\":{\"dtype\":\"BF16\","
                        "\"shape\":[1],\"data_offsets\":[14,16]},"
                        "\"e\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[16,24]},\"f\":{\"dtype\":\"I32\","
                        "\"shape\":[1],\"data_offsets\":[24,28]},"
                        "\"g\":{\"dtype\":\"I16\",\"shape\":[1],\"data_offsets\":[28,30]},\"h\":{\"dtype\":\"I8\","
                        "\"shape\":[1],\"data_offsets\":[30,31]},"
                        "\"i\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[31,32]},\"j\":{\"dtype\":\"BOOL\","
                        "\"shape\":[1],\"data_offsets\":[32,33]},"
                        "\"k\":{\"dtype\":\"U16\",\"shape\":[1],\"data_offsets\":[33,35]}}",
                        35);
    static const unsigned char bytes[] = {
        0,    0,    0,    0,    0,    0,    0xf8, 0xbf, /* -1.5 */ 0, 0, 0x20, 0x40, /* 2.5 */ 0, 0xc2, /* -3 */ 0x20,
        0x40, /* 2.5 */
        0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* -2 */ 7,   0, 0,    0x80, 0xff,        0x7f, 0x80,
        0x80, 1,    0xff, 0xff};
    static const double expected[] = {-1.5, 2.5, -3, 2.5, -2, 7 - 0x1p31, 32767, -128, 128, 1, 65535};
    memcpy(t.file + t.size - 35, bytes, 35);
    for (int i = 0; i < 11; i++) {
        double got = 0;
        const char name[2] = {(char)('a' + i), 0};
        t.out = &got, t.need = name;
        accepted(&t);
        ck_assert_double_eq(got, expected[i]);
    }
    ck_assert_uint_eq(safetensors_count(t.f), 11);
    ck_assert_str_eq(safetensors_at(t.f, 3)->name, "d");
    ck_assert_ptr_null(safetensors_at(t.f, 11));
    finish(&t);
}
END_TEST

START_TEST(a_tensor_type_without_numbers_is_an_error_only_if_requested)
{
    double out[8];
    const char *header = "{\"x\":{\"dtype\":\"F4_NEW\",\"shape\":[6],\"data_offsets\":[0,3]},\"y\":{\"dtype\":\"F8_"
                         "E4M3\",\"shape\":[2],\"data_offsets\":[3,5]},"
                         "\"z\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[5,7]}}";
    attempt t = file_of(header, 7);
    t.need = "z", t.out = out;
    accepted(&t);
    ck_assert_double_eq(out[1], 6);
    finish(&t);
    t = file_of(header, 7);
    t.need = "y", t.out = out;
    refused(&t, "tensor 'y' is F8_E4M3; numbers are read from");
    t = file_of(header, 7);
    t.need = "x", t.out = out;
    refused(&t, "tensor 'x' is F4_NEW");
}
END_TEST

START_TEST(metadata_scalars_and_empty_tensors_are_fine)
{
    double out[1];
    attempt t =
        file_of("{\"__metadata__\":{\"format\":\"pt\"},\"s\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},"
                "\"n\":{\"dtype\":\"F32\",\"shape\":[3,0],\"data_offsets\":[0,0]}}   ",
                1);
    t.need = "s", t.out = out;
    accepted(&t);
    ck_assert_int_eq(safetensors_find(t.f, "s")->rank, 0);
    ck_assert_int_eq(safetensors_find(t.f, "n")->count, 0);
    ck_assert_ptr_null(safetensors_find(t.f, "__metadata__"));
    finish(&t);
    t = file_of("{}", 0);
    accepted(&t);
    finish(&t);
}
END_TEST

typedef struct bad_file {
    const char *header;
    size_t data;
    const char *expected;
} bad_file;
#define T(name, dtype, shape, offsets)                                                                                 \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
static const bad_file bad_files[] = {
    {"", 0, "the header does not start with '{'"},
    {"[]", 0, "the header does not start with '{'"},
    {"{\"a\":", 0, "byte 13: header: "},
    {"{\"a\":1}", 0, "tensor 'a' is not an object"},
    {"{" T("a", "U8", "[1]", "[0,1]") "," T("a", "U8", "[1]", "[0,1]") "}", 1, "duplicate object key"},
    {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "tensor 'a' has no 'dtype'"},
    {"{\"a\":{\"dtype\":8,\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "tensor 'a' has no 'dtype'"},
    {"{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, "has no list 'shape'"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, "has no 'data_offsets'"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"strides\":[1]}}", 1, "unknown key 'strides'"},
    {"{" T("a", "U8", "[-1]", "[0,1]") "}", 1, "axis 0 of its shape is not a size"},
    {"{" T("a", "U8", "[1.5]", "[0,1]") "}", 1, "axis 0 of its shape is not a size"},
    {"{" T("a", "U8", "[9007199254740993]", "[0,1]") "}", 1, "is not a size"},
    {"{" T("a", "U8", "[4294967296,4294967296]", "[0,1]") "}", 1, "beyond 2^63 elements"},
    {"{" T("a", "F64", "[1073741824,4294967296]", "[0,0]") "}", 0, "its shape and dtype F64 make it"},
    {"{" T("a", "U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]") "}", 1, "has 17 axes; at most 16"},
    {"{" T("a", "U8", "[1]", "[0]") "}", 1, "has no 'data_offsets': [begin, end]"},
    {"{" T("a", "U8", "[1]", "[1,0]") "}", 1, "begins at 1, after its end 0"},
    {"{" T("a", "U8", "[1]", "[-1,0]") "}", 1, "has no 'data_offsets': [begin, end]"},
    {"{" T("a", "U8", "[2]", "[0,2]") "}", 1, "ends at 2 of the data, the file has 1 bytes of data"},
    {"{" T("a", "U8", "[1]", "[0,99999999999999]") "}", 1, "the file has 1 bytes of data"},
    {"{" T("a", "U8", "[1]", "[0,2]") "}", 2, "tensor 'a' has 2 bytes, its shape and dtype U8 make it 1 elements of 1"},
    {"{" T("a", "F32", "[1]", "[0,2]") "}", 2, "tensor 'a' has 2 bytes"},
    {"{" T("a", "U8", "[2]", "[0,2]") "," T("b", "U8", "[2]", "[1,3]") "}", 3, "tensors 'a' and 'b' overlap"},
    {"{" T("a", "U8", "[1]", "[0,1]") "," T("b", "U8", "[1]", "[2,3]") "}", 3,
     "1 bytes before tensor 'b' belong to no tensor"},
    {"{" T("a", "U8", "[1]", "[0,1]") "}", 3, "2 bytes at the end belong to no tensor"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "__metadata__ 'a' is not a string"},
    {"{\"__metadata__\":[]}", 0, "__metadata__ is not an object"},
    {"{\"a\\u0000b\":{}}", 0, "byte "},
    {"{\"\xff\":{}}", 0, "byte "}};
enum { bad_file_count = sizeof bad_files / sizeof *bad_files };

START_TEST(a_wrong_header_is_refused_with_what_is_wrong)
{
    attempt t = file_of(bad_files[_i].header, bad_files[_i].data);
    refused(&t, bad_files[_i].expected);
}
END_TEST

START_TEST(a_wrong_header_size_is_refused)
{
    attempt t = file_of("{}", 0);
    t.file[0] = 200;
    refused(&t, "byte 0: a header of 200 bytes in a file of 10");
    t = file_of("{}", 0);
    t.file[7] = 0xff;
    refused(&t, "is it a safetensors file?");
    t = file_of("{}", 0);
    t.size = 5;
    refused(&t, "byte 5: too short for a safetensors file");
    t = file_of("{}", safetensors_most_header + 9);
    t.file[0] = 1, t.file[2] = 0x80;
    refused(&t, "byte 0: a header of 8388609 bytes; at most 8388608 are read");
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
    char *deep = calloc(1, 200010);
    strcpy(deep, "{\"a\":");
    memset(deep + 5, '[', 200000);
    attempt t = file_of(deep, 0);
    refused(&t, "header: ");
    free(deep);
}
END_TEST

START_TEST(a_missing_tensor_is_reported_with_the_nearest_name)
{
    attempt t = file_of("{" T("layers.0.weight", "U8", "[1]", "[0,1]") "," T("bias", "U8", "[0]", "[1,1]") "}", 1);
    t.need = "layers.1.weight";
    refused(&t, "has no tensor 'layers.1.weight'; did you mean 'layers.0.weight'?");
}
END_TEST

static ir_value matrix(const char *name, const char *from, dtype type, long long rows, long long columns,
                       bool transposed)
{
    return (ir_value){.name = name,
                      .from = from,
                      .type = type,
                      .rank = 2,
                      .shape = {extent_number(rows), extent_number(columns)},
                      .from_transposed = transposed};
}

START_TEST(values_are_found_by_from_then_by_name_after_prefixes_and_by_shape)
{
    static const char *const prefixes[] = {"", "weights."};
    double out[6];
    const char *header = "{" T("w", "U8", "[3,2]", "[0,6]") "," T("weights.w", "U8", "[2,3]", "[6,12]") "," T(
        "weights.f", "U8", "[2,3]", "[12,18]") "}";
    attempt t = file_of(header, 18);
    t.prefixes = prefixes, t.prefix_count = 2, t.out = out;
    ir_value v = matrix("w", NULL, dtype_f32, 2, 3, false);
    t.value = &v;
    accepted(&t);
    ck_assert_double_eq(out[0], 6);
    v = matrix("w", "f", dtype_f32, 2, 3, false);
    accepted(&t);
    ck_assert_double_eq(out[0], 12);
    v = matrix("w", NULL, dtype_f32, 2, 3, true); /* the file has [3, 2] */
    accepted(&t);
    ck_assert_double_eq(out[1], 2);
    ck_assert_double_eq(out[3], 1);
    v = matrix("w", "f", dtype_f32, 3, 3, true);
    refused(&t, "tensor 'weights.f' is [2, 3], the spec's %w takes [3, 3] (which it transposes)");
    t = file_of(header, 18);
    v = matrix("q", "weights.g", dtype_f32, 2, 3, false);
    t.prefixes = prefixes, t.prefix_count = 2, t.out = out, t.value = &v;
    refused(&t, "has no tensor 'weights.g'; did you mean 'weights.");
}
END_TEST

/* Bytes of the file count up from 0: element n of a U8 tensor that begins at byte b is b + n. */
START_TEST(a_range_of_rows_of_a_tensor_is_loaded_as_a_value)
{
    static const char *const prefixes[] = {"", "h.3."};
    static const row_range some = {1, 3, 0}, grouped = {1, 2, 3};
    double out[6];
    const char *header = "{" T("h.3.qkv", "U8", "[6,2]", "[0,12]") "," T("h.3.turned", "U8", "[2,6]", "[12,24]") "," T(
        "w", "U8", "[2,2]", "[24,28]") "}";
    const struct {
        const char *from;
        const row_range *rows;
        bool turned;
        double expected[4];
    } cases[] = {{"qkv", &some, false, {2, 3, 4, 5}},
                 {"qkv", &grouped, false, {2, 3, 8, 9}},
                 {"turned", &some, true, {13, 19, 14, 20}},
                 {"turned", &grouped, true, {13, 19, 16, 22}},
                 {"none", &grouped, false, {24, 25, 26, 27}}}; /* without `from` the tensor of the value's name is used whole */
    attempt t = file_of(header, 28);
    t.prefixes = prefixes, t.prefix_count = 2, t.out = out;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ir_value v = matrix("w", cases[i].from, dtype_f32, 2, 2, cases[i].turned);
        v.from_rows = cases[i].rows, t.value = &v;
        if (i + 1 < sizeof cases / sizeof *cases) v.name = "other";
        accepted(&t);
        for (int n = 0; n < 4; n++) ck_assert_double_eq(out[n], cases[i].expected[n]);
    }
    static const row_range beyond = {4, 7, 0}, thirds = {0, 1, 4};
    ir_value v = matrix("other", "qkv", dtype_f32, 3, 2, false);
    v.from_rows = &beyond, t.value = &v;
    refused(&t, "tensor 'h.3.qkv' is [6, 2], the spec's %other takes rows 4 to 7, [3, 2]");
    t = file_of(header, 28);
    v = matrix("other", "qkv", dtype_f32, 2, 2, false);
    t.prefixes = prefixes, t.prefix_count = 2, t.out = out, v.from_rows = &thirds, t.value = &v;
    refused(&t, "tensor 'h.3.qkv' is [6, 2], the spec's %other takes rows of [8, 2]");
}
END_TEST

static const struct {
    double number;
    const char *refusal; /* NULL: taken */
} integers[] = {{INT32_MAX, NULL},
                {INT32_MIN, NULL},
                {0, NULL},
                {2147483648.0, "is 2147483648, %w takes 32-bit"},
                {-2147483649.0, "takes 32-bit"},
                {0.5, "is 0.5, %w"},
                {NAN, "is nan, %w"},
                {-INFINITY, "takes 32-bit"}};

START_TEST(an_integer_that_32_bits_cannot_hold_is_refused)
{
    static const char *const prefixes[] = {""};
    double out[1];
    attempt t = file_of("{" T("w", "F64", "[1,1]", "[0,8]") "}", 8);
    memcpy(t.file + t.size - 8, &integers[_i].number, 8);
    ir_value v = matrix("w", NULL, dtype_i32, 1, 1, false);
    t.prefixes = prefixes, t.prefix_count = 1, t.out = out, t.value = &v, t.rounded = true;
    if (integers[_i].refusal) return refused(&t, integers[_i].refusal);
    accepted(&t);
    ck_assert_double_eq(out[0], integers[_i].number);
    finish(&t);
}
END_TEST

START_TEST(integers_keep_to_the_range_of_the_spec)
{
    static const char *const prefixes[] = {""};
    double out[2];
    ir_value v = matrix("w", NULL, dtype_i32, 1, 2, false);
    v.has_range = true, v.range_low = extent_number(-3), v.range_high = extent_number(60);
    for (int i = 0; i < 4; i++) {
        static const double numbers[4][2] = {{-3, 60}, {0, 7}, {61, 0}, {0, -4}};
        attempt t = file_of("{" T("w", "F64", "[1,2]", "[0,16]") "}", 16);
        memcpy(t.file + t.size - 16, numbers[i], 16);
        t.prefixes = prefixes, t.prefix_count = 1, t.out = out, t.value = &v;
        if (i < 2) accepted(&t), finish(&t);
        else
            refused(&t, i == 2 ? "element 0 of tensor 'w' is 61, the range of the spec's %w is -3 to 60" : "element 1 of tensor 'w' is -4");
    }
}
END_TEST

START_TEST(values_are_rounded_to_their_dtype_when_asked)
{
    static const char *const prefixes[] = {""};
    double out[2];
    attempt t = file_of("{" T("w", "F64", "[1,2]", "[0,16]") "}", 16);
    const double given[] = {1.0000001, 257.25};
    memcpy(t.file + t.size - 16, given, 16);
    ir_value v = matrix("w", NULL, dtype_bf16, 1, 2, false);
    t.prefixes = prefixes, t.prefix_count = 1, t.out = out, t.value = &v;
    accepted(&t);
    ck_assert_double_eq(out[1], 257.25);
    t.rounded = true;
    accepted(&t);
    ck_assert_double_eq(out[0], 1);
    ck_assert_double_eq(out[1], 258);
    v.type = dtype_i32;
    refused(&t, "element 0 of tensor 'w' is 1.0000001, %w takes 32-bit integers");
}
END_TEST

/* ---- files */
static char folder[] = "/tmp/tfgen-safetensors-XXXXXX";
static char path[128];

static void make_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.safetensors", folder);
}

static int files_in_folder(void)
{
    char command[160];
    int n = 0;
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *f = popen(command, "r");
    ck_assert_int_eq(fscanf(f, "%d", &n), 1);
    pclose(f);
    return n;
}

static tfgen_code write_items(const char *to, const safetensors_item *items, size_t count, char *message)
{
    attempt t = {.a = arena_new(), .path = to, .items = items, .item_count = count};
    const tfgen_code code = arena_run(t.a, write_attempt, &t);
    snprintf(message, 256, "%s", arena_diagnostics(t.a));
    arena_free(t.a);
    return code;
}

START_TEST(written_tensors_are_read_back)
{
    char message[256];
    make_folder();
    const long long shape[] = {2, 3};
    float f[6];
    uint16_t h[6];
    double d[6], out[6];
    for (int i = 0; i < 6; i++) f[i] = (float)i / 3, h[i] = bf16_from_double(i / 3.0), d[i] = i / 3.0;
    const safetensors_item items[] = {
        {"half \"quoted\"", "BF16", 2, shape, h}, {"float", "F32", 2, shape, f}, {"double", "F64", 2, shape, d}};
    ck_assert_msg(write_items(path, items, 3, message) == code_ok, "%s", message);
    ck_assert_int_eq(files_in_folder(), 1);
    const char *names[] = {"half \"quoted\"", "float", "double"};
    for (int k = 0; k < 3; k++) {
        attempt t = {.a = arena_new(), .path = path, .need = names[k], .out = out};
        accepted(&t);
        for (int i = 0; i < 6; i++) ck_assert_double_eq(out[i], k == 0 ? bf16_to_double(h[i]) : k == 1 ? f[i] : d[i]);
        for (size_t i = 0; i < 3; i++)
            ck_assert_uint_eq(safetensors_at(t.f, i)->offset % (safetensors_at(t.f, i)->bytes / 6), 0);
        arena_free(t.a);
    }
    /* Written a second time: the old file is replaced as a whole. */
    ck_assert_int_eq(write_items(path, items, 1, message), code_ok);
    ck_assert_int_eq(files_in_folder(), 1);
    attempt t = {.a = arena_new(), .path = path};
    accepted(&t);
    ck_assert_uint_eq(safetensors_count(t.f), 1);
    arena_free(t.a);
    unlink(path);
    rmdir(folder);
}
END_TEST

START_TEST(a_write_that_fails_leaves_nothing_behind)
{
    char message[256];
    make_folder();
    const long long shape[] = {1};
    const float one = 1;
    const safetensors_item twice[] = {{"a", "F32", 1, shape, &one}, {"a", "F32", 1, shape, &one}};
    ck_assert_int_eq(write_items(path, twice, 2, message), code_io);
    ck_assert_ptr_nonnull(strstr(message, "two tensors have the same name"));
    ck_assert_int_eq(write_items("/nowhere/at/all.safetensors", twice, 1, message), code_io);
    ck_assert_ptr_nonnull(strstr(message, "/nowhere/at/all.safetensors: cannot write: No such file"));
    const long long large[] = {1 << 20};
    const safetensors_item too_large = {"a", "F32", 1, large, calloc(1 << 20, sizeof(float))};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(const struct rlimit){1 << 20, RLIM_INFINITY}),
                     0); /* as a disk that is full */
    ck_assert_int_eq(write_items(path, &too_large, 1, message), code_io);
    ck_assert_ptr_nonnull(strstr(message, "File too large"));
    ck_assert_int_eq(files_in_folder(), 0);
    free((void *)too_large.data);
    ck_assert_int_eq(mkdir(path, 0777), 0); /* a folder stands where the file should go */
    ck_assert_int_eq(write_items(path, twice, 1, message), code_io);
    ck_assert_int_eq(files_in_folder(), 1);
    rmdir(path);
    rmdir(folder);
}
END_TEST

START_TEST(a_device_is_written_to_and_never_replaced)
{
    char message[256];
    struct stat info;
    make_folder();
    const long long shape[] = {1};
    const float one = 1;
    const safetensors_item item = {"a", "F32", 1, shape, &one};
    ck_assert_int_eq(symlink("/dev/full", path), 0); /* through a link, so that a defect only destroys the link */
    ck_assert_int_eq(write_items(path, &item, 1, message), code_io);
    ck_assert_ptr_nonnull(strstr(message, "No space left"));
    ck_assert(stat(path, &info) == 0 && S_ISCHR(info.st_mode));
    ck_assert_int_eq(files_in_folder(), 1);
    unlink(path);
    rmdir(folder);
}
END_TEST

START_TEST(a_file_that_shrinks_while_it_is_open_is_an_error)
{
    char message[256];
    make_folder();
    const long long shape[] = {4};
    const float data[] = {1, 2, 3, 4};
    double out[4];
    const safetensors_item item = {"a", "F32", 1, shape, data};
    ck_assert_int_eq(write_items(path, &item, 1, message), code_ok);
    attempt t = {.a = arena_new(), .path = path};
    accepted(&t);
    const safetensors_tensor *a = safetensors_find(t.f, "a");
    ck_assert_int_eq(truncate(path, (off_t)a->offset + 4), 0);
    t.need = "a", t.out = out;
    ck_assert_int_eq(arena_run(t.a, read_attempt, &t), code_bad_input);
    ck_assert_msg(strstr(arena_diagnostics(t.a), "it was longer when it was opened") != NULL, "%s",
                  arena_diagnostics(t.a));
    arena_free(t.a);
    unlink(path);
    rmdir(folder);
}
END_TEST

START_TEST(a_path_that_is_no_plain_file_is_refused)
{
    static const char *const paths[] = {"/dev/null", "/tmp", "/nowhere/x.safetensors"};
    static const char *const expected[] = {"cannot open: it is a device, not a file", "cannot open: it is a folder, not a file",
                                           "cannot open: No such file"};
    for (int i = 0; i < 3; i++) {
        attempt t = {.a = arena_new(), .path = paths[i]};
        ck_assert_int_eq(arena_run(t.a, read_attempt, &t), code_bad_input);
        ck_assert_msg(strstr(arena_diagnostics(t.a), expected[i]) != NULL, "%s", arena_diagnostics(t.a));
        arena_free(t.a);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("safetensors");
    TCase *c = tcase_create("safetensors");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, every_number_type_is_read);
    tcase_add_test(c, a_tensor_type_without_numbers_is_an_error_only_if_requested);
    tcase_add_test(c, metadata_scalars_and_empty_tensors_are_fine);
    tcase_add_loop_test(c, a_wrong_header_is_refused_with_what_is_wrong, 0, bad_file_count);
    tcase_add_test(c, a_wrong_header_size_is_refused);
    tcase_add_test(c, deep_nesting_is_refused);
    tcase_add_test(c, a_missing_tensor_is_reported_with_the_nearest_name);
    tcase_add_test(c, values_are_found_by_from_then_by_name_after_prefixes_and_by_shape);
    tcase_add_test(c, a_range_of_rows_of_a_tensor_is_loaded_as_a_value);
    tcase_add_test(c, values_are_rounded_to_their_dtype_when_asked);
    tcase_add_loop_test(c, an_integer_that_32_bits_cannot_hold_is_refused, 0, sizeof integers / sizeof *integers);
    tcase_add_test(c, integers_keep_to_the_range_of_the_spec);
    tcase_add_test(c, written_tensors_are_read_back);
    tcase_add_test(c, a_write_that_fails_leaves_nothing_behind);
    tcase_add_test(c, a_device_is_written_to_and_never_replaced);
    tcase_add_test(c, a_file_that_shrinks_while_it_is_open_is_an_error);
    tcase_add_test(c, a_path_that_is_no_plain_file_is_refused);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
