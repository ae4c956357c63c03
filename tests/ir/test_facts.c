/* The tables of dtypes (ir/dtype.def), weight formats (ir/format.def) and devices (specs/devices): their contents, and that what is printed
 * or read agrees with them. */
#include "ir/devices/device_model.h"
#include "ir/graph/format.h"
#include "ir/read/schema.h"
#include "runtime/api/compile.h"
#include "tests/support.h"
#include <stdio.h>
#include <string.h>

/* ---- dtypes */
START_TEST(each_dtype_has_the_names_and_the_size_that_others_know_it_by)
{
    static const struct {
        dtype type;
        const char *name, *c, *file;
        int size;
        bool real;
    } known[] = {{dtype_f32, "f32", "float", "F32", 4, true},
                 {dtype_f16, "f16", "f16", "F16", 2, true},
                 {dtype_bf16, "bf16", "bf16", "BF16", 2, true},
                 {dtype_i32, "i32", "int", "I32", 4, false}};
    ck_assert_int_eq(dtype_count, sizeof known / sizeof *known);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        dtype read = (dtype)-1;
        ck_assert_str_eq(dtype_name(known[i].type), known[i].name);
        ck_assert_str_eq(dtype_c_name(known[i].type), known[i].c);
        ck_assert_str_eq(dtype_file_name(known[i].type), known[i].file);
        ck_assert_int_eq(dtype_size(known[i].type), known[i].size);
        ck_assert_int_eq(dtype_is_real(known[i].type), known[i].real);
        ck_assert(dtype_parse(known[i].name, &read) && read == known[i].type);
        ck_assert_int_eq(dtype_parse_real(known[i].name, &read), known[i].real);
    }
}
END_TEST

START_TEST(foreign_dtype_names_are_recognised_but_refused)
{
    static const char *const called[][2] = {{"fp32", "f32"}, {"Float", "f32"}, {"half", "f16"}, {"brain", "bf16"},
                                            {"int", "i32"},  {"BF16", "bf16"}, {"bf61", "bf16"}};
    dtype read;
    for (size_t i = 0; i < sizeof called / sizeof *called; i++) {
        ck_assert(!dtype_parse(called[i][0], &read));
        ck_assert_str_eq(dtype_hint(called[i][0]), called[i][1]);
    }
    ck_assert_ptr_null(dtype_hint("banana"));
}
END_TEST

START_TEST(layers_accept_the_operand_types_of_their_instructions)
{
    ck_assert(dtype_multiplies(dtype_f32, layer_mfma) && dtype_multiplies(dtype_f32, layer_wgmma_3xtf32) &&
              dtype_multiplies(dtype_f32, layer_simt));
    ck_assert(!dtype_multiplies(dtype_f32, layer_mma) && !dtype_multiplies(dtype_f32, layer_wgmma) &&
              !dtype_multiplies(dtype_f32, layer_wmma));
    for (int layer = 0; layer < layer_count; layer++) {
        ck_assert_int_eq(dtype_multiplies(dtype_bf16, (layer_kind)layer), layer != layer_wgmma_3xtf32);
        ck_assert_int_eq(dtype_multiplies(dtype_f16, (layer_kind)layer), layer != layer_wgmma_3xtf32);
        ck_assert(!dtype_multiplies(dtype_i32, (layer_kind)layer));
    }
}
END_TEST

START_TEST(a_weight_format_holds_every_digit_of_its_type)
{
    static const int digits[] = {[dtype_f32] = 24, [dtype_f16] = 11, [dtype_bf16] = 8, [dtype_i32] = 0};
    for (int i = 0; i < format_count; i++) {
        const weight_format *f = format_at((format_kind)i);
        const bool tf32 = i == format_tf32x2; /* 11 digits each */
        ck_assert_int_eq(f->bits, f->terms * dtype_size(f->type) * 8); /* no format of today has several elements per number, or scales */
        ck_assert_int_eq(f->scale.columns, 0);
        for (int t = 0; t < dtype_count; t++)
            if (f->holds >> t & 1) ck_assert_int_ge(f->terms * (tf32 ? 12 : digits[f->type]), digits[t]);
    }
    for (int t = 0; t < dtype_i32; t++) ck_assert_str_eq(format_plain((dtype)t)->name, dtype_name((dtype)t));
    ck_assert_ptr_null(format_plain(dtype_i32));
    ck_assert_ptr_eq(format_in(dtype_f32, dtype_bf16), format_at(format_f32));
    ck_assert_ptr_null(format_in(dtype_f16, dtype_f32)); /* f16 ends at 65504 */
}
END_TEST

/* Each pair of terms is multiplied in exactly one pass, the smallest products first. */
START_TEST(passes_multiply_each_pair_of_terms)
{
    for (int a = 1; a <= 3; a++)
        for (int b = 1; a * b <= 6; b++) {
            const term_pairs p = format_pairs(a, b);
            int order = a + b;
            unsigned seen = 0;
            for (int pass = 0; pass < p.passes; pass++) {
                const int i = a - 1 - (int)(p.a >> 4 * pass & 15), j = b - 1 - (int)(p.b >> 4 * pass & 15);
                ck_assert(i >= 0 && i < a && j >= 0 && j < b && i + j <= order && !(seen >> (4 * i + j) & 1));
                order = i + j, seen |= 1u << (4 * i + j);
            }
            ck_assert_int_eq(p.passes, a * b);
        }
    ck_assert_int_eq(format_row_of_terms(dtype_f16, 148), 2 * 192);
    ck_assert_int_eq(format_row_of_terms(dtype_f32, 64), 3 * 64);
    ck_assert_int_eq(format_bf16_terms(dtype_i32), 0);
}
END_TEST

/* Sizes follow from the columns of the table, also for formats that no row has yet. */
START_TEST(sizes_of_packed_weights_follow_their_format)
{
    const weight_format *bf16 = format_at(format_bf16), *tf32x2 = format_at(format_tf32x2);
    ck_assert_int_eq(format_length(bf16, 148), 160); /* whole pieces of 32 elements */
    ck_assert_int_eq(format_piece_length(bf16), 32);
    ck_assert_int_eq(format_numbers_bytes(bf16, 160), 320);
    ck_assert_int_eq(format_scale_bytes(bf16, 64, 148), 0);
    ck_assert_double_eq(format_element_bytes(bf16, 148), 2);
    ck_assert_int_eq(format_length(tf32x2, 33), 128); /* 33 elements, rounded up to 64, in each of two terms */
    ck_assert_int_eq(format_numbers_bytes(tf32x2, 128), 512);
    /* 4 bits, four elements in a number of 16 bits; a scale and a zero point of 4 bits for each 128 elements of a column */
    const weight_format grouped = {.type = dtype_f16, .bits = 4, .terms = 1, .scale = {dtype_bf16, 1, 128, 4}};
    ck_assert_int_eq(format_piece_length(&grouped), 128);
    ck_assert_int_eq(format_length(&grouped, 300), 96); /* 384 elements, four a number */
    ck_assert_int_eq(format_numbers_bytes(&grouped, 96), 192);
    ck_assert_int_eq(format_scale_bytes(&grouped, 5, 300), 5 * 3 * 2 + 8); /* 15 zero points in 8 bytes */
    ck_assert_double_eq(format_element_bytes(&grouped, 4096), (4 + (16 + 4) / 128.0) / 8);
    /* one scale for 128 columns by 128 elements; one for a whole column */
    const weight_format blocks = {.type = dtype_f16, .bits = 8, .terms = 1, .scale = {dtype_f32, 128, 128, 0}},
                        channel = {.type = dtype_f16, .bits = 8, .terms = 1, .scale = {dtype_f32, 1, 0, 0}};
    ck_assert_int_eq(format_scale_bytes(&blocks, 576, 7168), 5 * 56 * 4);
    ck_assert_double_eq(format_element_bytes(&blocks, 7168), 1 + 4 / 128.0 / 128.0);
    ck_assert_int_eq(format_scale_bytes(&channel, 96, 5000), 96 * 4);
    ck_assert_double_eq(format_element_bytes(&channel, 4000), 1.001);
}
END_TEST

START_TEST(lists_of_dtypes_are_made_of_the_table)
{
    arena *a = arena_new();
    ck_assert_str_eq(dtype_names(a, true, ", ", " or "), "f32, f16 or bf16");
    ck_assert_str_eq(dtype_names(a, false, ", ", " and "), "f32, f16, bf16 and i32");
    const char *schema = schema_json(a);
    ck_assert_ptr_nonnull(strstr(schema, "\"dtype\": {\"enum\": [\"f32\", \"f16\", \"bf16\"]}"));
    ck_assert_ptr_nonnull(strstr(schema, "\"input_dtype\": {\"enum\": [\"f32\", \"f16\", \"bf16\", \"i32\"]}"));
    arena_free(a);
}
END_TEST

static TCase *dtypes(void)
{
    TCase *t = tcase_create("dtypes");
    tcase_add_test(t, each_dtype_has_the_names_and_the_size_that_others_know_it_by);
    tcase_add_test(t, foreign_dtype_names_are_recognised_but_refused);
    tcase_add_test(t, layers_accept_the_operand_types_of_their_instructions);
    tcase_add_test(t, a_weight_format_holds_every_digit_of_its_type);
    tcase_add_test(t, sizes_of_packed_weights_follow_their_format);
    tcase_add_test(t, passes_multiply_each_pair_of_terms);
    tcase_add_test(t, lists_of_dtypes_are_made_of_the_table);
    return t;
}

/* ---- device models */
#define FACTS "units: {is: 64, chosen: x}\nchiplets: {is: 2, chosen: x}\n"
#define NAMES "name: mine\nlabel: My GPU\ntarget: sm_90a\n"

typedef struct model_job {
    arena *a;
    const char *text;
    device_model *made;
} model_job;

static void read_model(void *argument)
{
    model_job *j = argument;
    j->made = device_model_read(j->a, j->text, strlen(j->text), "my.yaml");
}

static const struct {
    const char *text, *says;
} broken[] = {
    {NAMES FACTS "unitz: {is: 1, chosen: x}\n", "my.yaml:6:1: error: unknown key 'unitz'; did you mean 'units'?"},
    {NAMES FACTS "bandwidth: 1e12\n", "my.yaml:6:12: error: bandwidth: expected a number and its source"},
    {NAMES FACTS "bandwidth: {is: 1e12}\n", "my.yaml:6:12: error: bandwidth: its source is missing"},
    {NAMES FACTS "bandwidth: {is: 1e12, measured: x, chosen: y}\n",
     "my.yaml:6:36: error: bandwidth: its source is given already: measured"},
    {NAMES FACTS "bandwidth: {is: 1e12, heard: x}\n", "my.yaml:6:23: error: bandwidth: unknown key 'heard'"},
    {NAMES FACTS "bandwidth: {is: 1e12, measured: ''}\n", "my.yaml:6:33: error: measured: expected text of at most 120 characters"},
    {NAMES FACTS "bandwidth: {is: fast, measured: x}\n", "my.yaml:6:17: error: bandwidth: expected a number from 1e+06"},
    {NAMES FACTS "bandwidth: {is: -1, measured: x}\n", "my.yaml:6:17: error: bandwidth: expected a number"},
    {NAMES FACTS "bandwidth: {is: .inf, measured: x}\n", "my.yaml:6:17: error: bandwidth: expected a number"},
    {NAMES FACTS "bandwidth: {is: 1e400, measured: x}\n", "my.yaml:6:17: error: bandwidth: expected a number"},
    {NAMES FACTS "bandwidth: {is: 1e12x, measured: x}\n", "my.yaml:6:17: error: bandwidth: expected a number"},
    {NAMES FACTS "bandwidth: {is: '1e12', measured: x}\n", "my.yaml:6:17: error: bandwidth: expected a number"},
    {NAMES FACTS "bandwidth: {is: [1], measured: x}\n", "my.yaml:6:17: error: bandwidth: expected a number"},
    {NAMES FACTS "clock: {is: 1980, measured: x}\n", "my.yaml:6:13: error: clock: expected a number from 1e+08 to 1e+11"},
    {NAMES FACTS "products: {i32: 1e12, measured: x}\n",
     "my.yaml:6:12: error: products: 'i32' is not a dtype of arithmetic; those are f32, f16 and bf16"},
    {NAMES FACTS "products: {bf16: 0, measured: x}\n", "my.yaml:6:18: error: products: expected a number"},
    {NAMES FACTS "products: {measured: x}\n", "my.yaml:6:11: error: products: it has no dtype"},
    {NAMES FACTS "products: {bf16: 1e12}\n", "my.yaml:6:11: error: products: its source is missing"},
    {NAMES FACTS "products: 1e12\n", "my.yaml:6:11: error: products: expected rates by dtype"},
    {NAMES "units: {is: 6.5, chosen: x}\nchiplets: {is: 1, chosen: x}\n", "my.yaml:4:13: error: units: expected a whole number from 1"},
    {NAMES "units: {is: 0, chosen: x}\nchiplets: {is: 1, chosen: x}\n", "my.yaml:4:13: error: units: expected a whole number"},
    {NAMES "units: {is: 1, chosen: x}\nchiplets: {is: 2, chosen: x}\n", "my.yaml:5:11: error: chiplets: there are more of them than units"},
    {NAMES "chiplets: {is: 1, chosen: x}\n", "my.yaml:1:1: error: units is missing: compute units"},
    {NAMES FACTS "match: [a]\n", "my.yaml:6:8: error: match: expected text"},
    {FACTS "name: mine\nlabel: x\n", "my.yaml:1:1: error: target is missing"},
    {FACTS "name: mine\nlabel: x\ntarget: sm_91\n", "my.yaml:5:9: error: target: tfgen has no target 'sm_91'"},
    {FACTS "name: my gpu\nlabel: x\ntarget: host\n", "my.yaml:3:7: error: name: use letters, digits and -"},
    {FACTS "name: a-name-that-goes-on-and-on-and-on\nlabel: x\ntarget: host\n", "my.yaml:3:7: error: name: use"},
    {NAMES FACTS "units: {is: 1, chosen: x}\n", "my.yaml:6:1: error: units is given twice; first at line 4"},
    {"- units\n", "my.yaml:1:1: error: expected a map of the device's properties"},
    {NAMES "units: {is: 1\n", "my.yaml:"},
    {"", "my.yaml:1:1: error"},
};

START_TEST(a_broken_device_file_is_refused_with_its_place)
{
    model_job j = {arena_new(), broken[_i].text, NULL};
    ck_assert_int_eq(arena_run(j.a, read_model, &j), code_bad_input);
    ck_assert_msg(strstr(arena_diagnostics(j.a), broken[_i].says) != NULL, "no '%s' in:\n%s", broken[_i].says, arena_diagnostics(j.a));
    arena_free(j.a);
}
END_TEST

START_TEST(a_device_file_is_printed_as_written)
{
    model_job j = {arena_new(),
                   NAMES FACTS "match: GPU\nrow_threads: {is: 96, chosen: x}\nl2: {is: 5e7, data sheet: page 3}\n"
                               "products: {bf16: 2e14, f32: 1e13, measured: here}\n",
                   NULL};
    ck_assert_msg(arena_run(j.a, read_model, &j) == code_ok, "%s", arena_diagnostics(j.a));
    const device_model *d = j.made;
    ck_assert_str_eq(d->name, "mine");
    ck_assert_str_eq(d->label, "My GPU");
    ck_assert_str_eq(d->match, "GPU");
    ck_assert_ptr_eq(d->target, target_find("sm_90a"));
    ck_assert(d->units == 64 && d->chiplets == 2 && d->row_threads == 96);
    ck_assert(d->numbers[number_l2].value == 5e7 && d->numbers[number_l2].source == source_data_sheet);
    ck_assert_str_eq(d->numbers[number_l2].note, "page 3");
    ck_assert(d->rates[rate_products].of[dtype_bf16] == 2e14 && d->rates[rate_products].of[dtype_f32] == 1e13);
    ck_assert(d->rates[rate_products].of[dtype_f16] == 0 && d->rates[rate_products].source == source_measured);
    ck_assert(d->numbers[number_memory].value == 0 && d->numbers[number_memory].source == source_none);
    ck_assert_double_eq(device_last_level(d), 5e7);
    arena_free(j.a);
}
END_TEST

START_TEST(the_manual_has_every_key_of_a_device_file)
{
    static const char *const keys[] = {
#define COUNT(key, least, most, required, help) #key,
#define NUMBER(key, least, most, help) #key,
#define RATE(key, help) #key,
#include "ir/devices/facts.def"
    };
    static char manual[1 << 16], row[64];
    FILE *f = fopen("docs/devices.md", "r");
    ck_assert_ptr_nonnull(f);
    manual[fread(manual, 1, sizeof manual - 1, f)] = '\0';
    fclose(f);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(row, sizeof row, "\n| `%s` | ", keys[i]);
        ck_assert_msg(strstr(manual, row) != NULL, "%s is not in docs/devices.md", keys[i]);
    }
}
END_TEST

static bool sources_told(const device_model *d)
{
    bool told = true;
    for (int i = 0; i < number_count; i++) told &= (d->numbers[i].value > 0) == (d->numbers[i].source != source_none);
    for (int i = 0; i < rate_count; i++) {
        double most = 0;
        for (int k = 0; k < dtype_count; k++) most += d->rates[i].of[k];
        told &= (most > 0) == (d->rates[i].source != source_none);
    }
    return told;
}

START_TEST(every_shipped_device_file_is_read_under_its_own_name)
{
    arena *a = arena_new();
    for (size_t i = 0; i < device_model_total(); i++) {
        const device_model *d = device_model_at(a, i), *found = device_model_find(a, d->name);
        ck_assert_msg(found && strcmp(found->label, d->label) == 0, "%s is not found by its name", d->name);
        ck_assert_ptr_nonnull(d->target);
        ck_assert_int_eq(d->units % d->chiplets, 0);
        ck_assert_msg(sources_told(d), "%s", d->name);
        if (d->target->vendor == vendor_host) continue;
        ck_assert_msg(d->match && strstr(d->label, d->match), "%s", d->name);
        ck_assert_msg(d->numbers[number_bandwidth].value > 0 && d->rates[rate_products].of[dtype_bf16] > 0, "%s", d->name);
        ck_assert_msg(d->numbers[number_shared].value >= d->target->lds_bytes || d->target->vendor == vendor_nvidia, "%s", d->name);
    }
    arena_free(a);
}
END_TEST

START_TEST(every_target_has_a_device_model_of_its_own)
{
    size_t count;
    arena *a = arena_new();
    const target_info *targets = target_list(&count);
    for (size_t i = 0; i < count; i++) ck_assert_ptr_eq(device_model_default(a, &targets[i])->target, &targets[i]);
    arena_free(a);
}
END_TEST

START_TEST(a_device_is_recognised_by_its_reported_name)
{
    static const char *const known[][3] = {{"sm_90a", "NVIDIA H200", "h200"},
                                           {"sm_90a", "NVIDIA H100 80GB HBM3", "h100"},
                                           {"sm_90a", "NVIDIA H100 PCIe", "h100-pcie"},
                                           {"gfx90a", "AMD Instinct MI250X", "mi250x"},
                                           {"gfx90a", "something", "mi210"},
                                           {"sm_80", "NVIDIA A10", "a100"},
                                           {"host", "a CPU", "host"}};
    arena *a = arena_new();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_str_eq(device_model_of(a, target_find(known[i][0]), known[i][1])->name, known[i][2]);
    arena_free(a);
}
END_TEST

/* ---- plans */
static const char product[] = "block: p\ndtype: bf16\ndims: {M: 2048, N: 2048, K: 2048}\ninputs: {x: [M, K]}\nparams: {w: [N, K]}\n"
                              "ops:\n  - {out: y, op: linear, in: [x, w]}\noutputs: {y: y}\n";

/* The plan's text, or the error message. */
static const char *planned(arena *a, compile_request r, tfgen_code wanted)
{
    compiled c;
    r.name = r.name ? r.name : "p.yaml", r.size = strlen(r.text), r.level = fusion_tile;
    const tfgen_code code = compile(a, &r, &c);
    ck_assert_msg(code == wanted, "%d: %s", code, arena_diagnostics(a));
    if (code != code_ok) return arena_diagnostics(a);
    ck_assert_str_eq(c.plan->device->name, c.plan->ir->device);
    ck_assert_ptr_nonnull(strstr(manifest_json(a, c.plan), arena_printf(a, "\"device\": \"%s\"", c.plan->device->name)));
    return ir_print(a, c.plan->ir);
}

static void has(const char *text, const char *part) { ck_assert_msg(strstr(text, part) != NULL, "no '%s' in:\n%s", part, text); }

START_TEST(tiles_are_chosen_for_the_devices_number_of_units)
{
    arena *a = arena_new();
    const char *large = planned(a, (compile_request){.text = product, .target = "sm_90a"}, code_ok);
    const char *same = planned(a, (compile_request){.text = product, .target = "sm_90a", .device_model = "h200"}, code_ok);
    const char *small = planned(a, (compile_request){.text = product, .target = "sm_90a", .device_model = "h100-pcie"}, code_ok);
    const char *seen = planned(a, (compile_request){.text = product, .target = "sm_90a", .device_label = "NVIDIA H100 PCIe"}, code_ok);
    ck_assert_str_eq(large, same);
    ck_assert_str_eq(small, seen);
    has(large, "\ndevice h200\n");
    has(small, "\ndevice h100-pcie\n");
    ck_assert_str_ne(strstr(large, "tile "), strstr(small, "tile "));
    arena_free(a);
}
END_TEST

START_TEST(workgroups_are_distributed_over_the_devices_chiplets)
{
    arena *a = arena_new();
    const char *text = "name: mine\nlabel: x\ntarget: gfx942\nunits: {is: 38, chosen: x}\nchiplets: {is: 2, chosen: x}\n";
    const char *mine = planned(a, (compile_request){.text = product, .target = "gfx942", .device_model = text}, code_ok);
    has(planned(a, (compile_request){.text = product, .target = "gfx942"}, code_ok), " chiplets=8 chunk=76");
    has(mine, " chiplets=2 ");
    has(mine, "\ndevice mine\n");
    arena_free(a);
}
END_TEST

START_TEST(a_plan_that_is_read_back_keeps_its_device)
{
    arena *a = arena_new();
    const char *small = planned(a, (compile_request){.text = product, .target = "sm_90a", .device_model = "h100-pcie"}, code_ok);
    compile_request back = {.text = small, .name = "p.ir", .target = "sm_90a", .from_ir = true, .from = stage_plan};
    ck_assert_str_eq(planned(a, back, code_ok), small);
    back.device_label = "NVIDIA H200"; /* the text overrides this */
    ck_assert_str_eq(planned(a, back, code_ok), small);
    back.device_model = "h200"; /* and an explicit device model overrides the text */
    has(planned(a, back, code_ok), "\ndevice h200\n");
    arena_free(a);
}
END_TEST

static void refused(compile_request r, tfgen_code code, const char *says)
{
    arena *a = arena_new();
    has(planned(a, r, code), says);
    arena_free(a);
}

START_TEST(a_device_model_that_does_not_fit_is_refused_by_name)
{
    arena *a = arena_new();
    const char *text = planned(a, (compile_request){.text = product, .target = "sm_90a"}, code_ok);
    char *other = arena_strdup(a, text);
    memcpy(strstr(other, "device h200"), "device h20x", 11);
    refused((compile_request){.text = product, .target = "sm_90a", .device_model = "mi300x"}, code_usage,
            "device model mi300x belongs to target gfx942, not sm_90a");
    refused((compile_request){.text = text, .target = "host", .from_ir = true, .from = stage_plan}, code_usage,
            "device model h200 belongs to target sm_90a, not host");
    refused((compile_request){.text = other, .target = "sm_90a", .from_ir = true, .from = stage_plan}, code_usage,
            "no device model is called 'h20x'; did you mean 'h200'?; there are host, a100,");
    refused((compile_request){.text = product, .target = "sm_90a", .device_model = "name: x\nunit: 5\n", .device_file = "d.yaml"},
            code_bad_input, "d.yaml:2:1: error: unknown key 'unit'; did you mean 'units'?");
    refused((compile_request){.text = product, .target = "sm_90a", .device_model = "\n"}, code_bad_input, "device model:1:1: error");
    arena_free(a);
}
END_TEST

static TCase *models(void)
{
    TCase *t = tcase_create("devices");
    tcase_add_loop_test(t, a_broken_device_file_is_refused_with_its_place, 0, (int)(sizeof broken / sizeof *broken));
    tcase_add_test(t, a_device_file_is_printed_as_written);
    tcase_add_test(t, the_manual_has_every_key_of_a_device_file);
    tcase_add_test(t, every_shipped_device_file_is_read_under_its_own_name);
    tcase_add_test(t, every_target_has_a_device_model_of_its_own);
    tcase_add_test(t, a_device_is_recognised_by_its_reported_name);
    tcase_add_test(t, tiles_are_chosen_for_the_devices_number_of_units);
    tcase_add_test(t, workgroups_are_distributed_over_the_devices_chiplets);
    tcase_add_test(t, a_plan_that_is_read_back_keeps_its_device);
    tcase_add_test(t, a_device_model_that_does_not_fit_is_refused_by_name);
    return t;
}

int main(void)
{
    Suite *suite = suite_create("facts");
    suite_add_tcase(suite, dtypes());
    suite_add_tcase(suite, models());
    return run_suite(suite);
}
