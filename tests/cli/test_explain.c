/* `tfgen explain`: every figure against an independent count: launches against the sum of their tensors, edges against the bytes that
 * launches write and read, code facts against the compiler's; the page is a single self-contained file. */
#define _GNU_SOURCE
#include "runtime/compile/matrix_count.h"
#include "tests/shell.h"
#include "tests/support.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *read_json(void)
{
    json_error_t error;
    json_t *all = json_loads(output, 0, &error);
    ck_assert_msg(all != NULL, "%s:\n%.2000s", error.text, output);
    return all;
}

static double number_of(const json_t *o, const char *key) { return json_number_value(json_object_get(o, key)); }
static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static const char *const specs[] = {"specs/attention",
                                    "specs/bert-block",
                                    "specs/elementwise",
                                    "specs/gelu-layernorm-linear",
                                    "specs/gpt2-block",
                                    "specs/gpt2-decode",
                                    "specs/l2norm",
                                    "specs/layernorm-gelu-linear",
                                    "specs/layernorm",
                                    "specs/linear",
                                    "specs/llama-block",
                                    "specs/llama-decode",
                                    "specs/qkv-rope",
                                    "specs/rmsnorm",
                                    "specs/softmax",
                                    "specs/swiglu",
                                    "tests/specs/moves",
                                    "tests/specs/odd-rows",
                                    "tests/specs/odd-head-cache",
                                    "tests/specs/views/a-joined-operand-of-products",
                                    "tests/specs/views/columns-of-one-become-a-row"};
enum { spec_count = sizeof specs / sizeof *specs };

/* ---- sums */
static bool is_one_of(const char *s, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(s, *list) == 0) return true;
    return false;
}

static double tensors(const json_t *level, const char *key, const char *const *kinds)
{
    double sum = 0;
    size_t i, k;
    json_t *kernel, *tensor;
    json_array_foreach(json_object_get(level, "kernels"), i, kernel)
        json_array_foreach(json_object_get(kernel, "tensors"), k, tensor) if (is_one_of(text_of(tensor, "kind"), kinds)) sum +=
        number_of(tensor, key);
    return sum;
}

static double sum_of(const json_t *list, const char *key)
{
    double sum = 0;
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)list, i, one) sum += number_of(one, key);
    return sum;
}

static void check_kernels(const json_t *level)
{
    double products = 0, others = 0, read = 0, written = 0, seconds = 0, floor = 0;
    size_t i;
    json_t *k, *kernels = json_object_get(level, "kernels");
    json_array_foreach(kernels, i, k)
    {
        const json_t *work = json_object_get(k, "work"), *p = json_object_get(k, "predicted");
        products += number_of(work, "products"), others += number_of(work, "others");
        read += number_of(work, "bytes_read"), written += number_of(work, "bytes_written");
        ck_assert_double_eq(sum_of(json_object_get(k, "tensors"), "read"), number_of(work, "bytes_read"));
        ck_assert_double_eq(sum_of(json_object_get(k, "tensors"), "written"), number_of(work, "bytes_written"));
        const double bytes = number_of(work, "bytes_read") + number_of(work, "bytes_written");
        ck_assert_double_eq_tol(number_of(work, "intensity"), (number_of(work, "products") + number_of(work, "others")) / bytes, 1e-9);
        ck_assert_double_ge(number_of(p, "bytes_asked") * (1 + 1e-9), bytes * 0.999);
        ck_assert_double_ge(number_of(p, "padded_products"), number_of(work, "products"));
        const double fixed = number_of(p, "fixed_seconds") + number_of(p, "epilogue_seconds");
        const double computing = number_of(p, "products_seconds") + number_of(p, "arithmetic_seconds");
        const double seconds_of = number_of(p, "seconds");
        const double parts[] = {number_of(p, "memory_seconds"), number_of(p, "cache_seconds"), computing, number_of(p, "latency_seconds"),
                                number_of(p, "shared_seconds")};
        double longest = 0, all = 0;
        for (int n = 0; n < 5; n++) longest = fmax(longest, parts[n]), all += parts[n];
        /* Besides its fixed time, a launch takes at least its longest part, and at most the sum of its parts. */
        ck_assert_double_ge(seconds_of, (fixed + longest) * (1 - 1e-12));
        ck_assert_double_le(seconds_of, (fixed + all) * (1 + 1e-12));
        ck_assert_double_lt(number_of(k, "floor_seconds"), number_of(p, "seconds"));
        seconds += number_of(p, "seconds"), floor += number_of(k, "floor_seconds");
        ck_assert(*text_of(k, "source") && json_array_size(json_object_get(k, "phases")) > 0);
    }
    const json_t *all = json_object_get(level, "work");
    ck_assert(products == number_of(all, "products") && others == number_of(all, "others"));
    ck_assert(read == number_of(all, "bytes_read") && written == number_of(all, "bytes_written"));
    ck_assert_double_eq_tol(number_of(level, "predicted_seconds"), seconds, 1e-12);
    ck_assert_double_eq_tol(number_of(level, "floor_seconds"), floor, 1e-12);
    ck_assert_int_eq((int)number_of(level, "launches"), (int)json_array_size(kernels));
}

/* The bytes that launches write for each other equal the bytes that edges cost. */
static void check_edges(const json_t *level)
{
    static const char *const made[] = {"result", "output", "cache", NULL}, *const between[] = {"result", NULL};
    const json_t *edges = json_object_get(level, "edges");
    ck_assert_double_eq(sum_of(edges, "bytes_read"), tensors(level, "read", made));
    ck_assert_double_eq(sum_of(edges, "bytes_written"), tensors(level, "written", between));
    size_t i;
    json_t *e;
    json_array_foreach((json_t *)edges, i, e)
    {
        ck_assert(*text_of(e, "value") && *text_of(e, "user") && *text_of(e, "code") && strlen(text_of(e, "reason")) > 10);
        ck_assert_double_eq_tol(number_of(e, "seconds"), (number_of(e, "bytes_read") + number_of(e, "bytes_written")) / 4.3e12, 1e-12);
    }
}

static void check_devices(const json_t *level)
{
    size_t i;
    json_t *d;
    json_array_foreach(json_object_get(level, "devices"), i, d)
    {
        if (*text_of(d, "refused")) continue;
        ck_assert_double_gt(number_of(d, "predicted_seconds"), number_of(d, "floor_seconds"));
        ck_assert_int_eq((int)number_of(d, "launches"), (int)json_array_size(json_object_get(d, "kernels")));
        double products = 0;
        size_t k;
        json_t *kernel;
        json_array_foreach(json_object_get(d, "kernels"), k, kernel) products += number_of(json_object_get(kernel, "work"), "products");
        ck_assert_double_eq(products, number_of(json_object_get(level, "work"), "products")); /* whatever the tiles */
    }
    ck_assert_uint_eq(i, 12); /* all models but the host's */
}

START_TEST(figures_of_every_spec_and_level_add_up)
{
    ck_assert_int_eq(tfgen("explain %s.yaml --no-code --json", specs[_i]), 0);
    json_t *all = read_json(), *level;
    size_t i;
    ck_assert_str_eq(text_of(all, "target"), "sm_90a");
    ck_assert_uint_eq(json_array_size(json_object_get(all, "levels")), 4);
    json_array_foreach(json_object_get(all, "levels"), i, level)
    {
        check_kernels(level);
        check_edges(level);
        check_devices(level);
    }
    json_decref(all);
}
END_TEST

static double up_to(double x, double step) { return ceil(x / step) * step; }

/* linear.yaml: a product with a bias. The last tiles reach beyond its edges and the last round of workgroups is not full. */
START_TEST(explained_figures_of_a_product_equal_closed_forms)
{
    const double rows = 2048, columns = 5468, length = 2048;
    ck_assert_int_eq(tfgen("explain specs/linear.yaml --dim=B=1,S=2048,F=5468,D=2048 --target=gfx90a --fusion=tile --no-code --json"), 0);
    json_t *all = read_json(), *level = json_array_get(json_object_get(all, "levels"), 0);
    const json_t *k = json_array_get(json_object_get(level, "kernels"), 0), *work = json_object_get(k, "work");
    const json_t *p = json_object_get(k, "predicted"), *mi210 = json_array_get(json_object_get(all, "models"), 0);
    const json_t *tile = json_object_get(json_array_get(json_object_get(k, "phases"), 0), "tile");
    const double tiles = ceil(rows / number_of(tile, "m")) * ceil(columns / number_of(tile, "n")), units = number_of(mi210, "units");
    ck_assert_double_eq(number_of(work, "products"), 2 * rows * columns * length);
    ck_assert_double_eq(number_of(work, "others"), rows * columns);
    ck_assert_double_eq(number_of(work, "bytes_read"), 2 * (rows * length + columns * length + columns));
    ck_assert_double_eq(number_of(work, "bytes_written"), 2 * rows * columns);
    ck_assert_double_eq(number_of(k, "workgroups"), tiles);
    ck_assert_double_eq(number_of(p, "padded_products"), 2 * length * tiles * number_of(tile, "m") * number_of(tile, "n"));
    ck_assert_double_eq_tol(number_of(p, "unit_use"), tiles / up_to(tiles, units), 1e-12);
    ck_assert_double_eq_tol(number_of(k, "floor_seconds"), 2 * rows * columns * length / number_of(mi210, "products"), 1e-12);
    ck_assert_str_eq(text_of(k, "floor_limit"), "products");
    const double packed = number_of(level, "packed_bytes");
    ck_assert(packed >= 2 * columns * length && packed <= 2 * up_to(columns, number_of(tile, "n")) * length);
    json_decref(all);
    ck_assert_int_eq(tfgen("fit specs/linear.yaml --dim=B=1,F=5468,D=2048 --target=gfx90a --json"), 0);
    all = read_json();
    ck_assert_double_eq(number_of(json_array_get(all, 0), "weights"), packed + 2 * columns);
    json_decref(all);
}
END_TEST

/* tests/cli/test_fit.c shows that the runtime allocates what fit reports. */
START_TEST(fit_predicts_the_workspace)
{
    ck_assert_int_eq(tfgen("explain specs/llama-decode.yaml --preset=llama-8b --dim=B=1024 --fusion=tile --no-code --json"), 0);
    json_t *all = read_json();
    const double bytes = number_of(json_array_get(json_object_get(all, "levels"), 0), "workspace_bytes");
    json_decref(all);
    ck_assert_int_eq(tfgen("fit specs/llama-decode.yaml --preset=llama-8b --json"), 0);
    all = read_json();
    ck_assert_double_eq(number_of(json_array_get(all, 0), "largest"), 1024);
    ck_assert_double_eq(number_of(json_array_get(all, 0), "workspace"), bytes);
    ck_assert_double_gt(bytes, 0);
    json_decref(all);
}
END_TEST

START_TEST(the_text_says_why_and_what_it_costs)
{
    ck_assert_int_eq(tfgen("explain specs/llama-block.yaml --preset=llama-1b --no-code --fusion=tile"), 0);
    says("for sm_90a, tiles for h200 (NVIDIA H200 SXM5 141 GB)");
    says("level tile: 6 launches for 16 ops");
    says("rmsnorm + linear x3 + rope x2");
    says("%prod -> %down: a product reads each row once per column tile, so the row is stored once");
    says("in all, written and read again");
    says("mi300x");
    says("code: not compiled: --no-code");
    ck_assert_int_eq(tfgen("explain specs/linear.yaml --dim=B=1,S=1,D=4096,F=4096 --no-code --fusion=tile --target=gfx942 "
                           "--tile=\"gemm layer=register_fed n=16 threads=1024 ahead=4\""),
                     0);
    says("weights in flight: 65.5 kB per unit; a unit's share of bandwidth times the latency of 1.00 us (assumed: an H200's) is 17.4 kB");
    ck_assert_int_eq(tfgen("explain specs/llama-decode.yaml --preset=llama-8b --no-code --fusion=tile --target=gfx942 "
                           "--tile=\"attention keys=32 threads=256 resident=2\""),
                     0);
    says("keys and values in flight: 65.5 kB per unit; a unit's share of bandwidth times the latency of 1.00 us (assumed: an H200's) is "
         "17.4 kB");
    ck_assert_int_eq(tfgen("explain specs/linear.yaml --dim=B=1,S=1,D=4096,F=4096 --no-code --fusion=tile --target=gfx942 --json "
                           "--tile=\"gemm layer=register_fed n=16 threads=1024 ahead=4\""),
                     0);
    says("\"in_flight\": {");
    ck_assert_int_eq(tfgen("explain specs/rmsnorm.yaml --no-code --target=gfx942"), 0);
    says("every time is a prediction: no AMD GPU was measured");
    ck_assert_int_eq(tfgen("explain specs/rmsnorm.yaml --device-model=mi355x --no-code"), 0);
    says("for gfx950, tiles for mi355x");
    ck_assert_int_eq(tfgen("explain specs/rmsnorm.yaml --target=host"), 0);
    says("the host engine's kernels are code of the CPU");
}
END_TEST

/* ---- code */
/* A unit of gfx90a: four SIMDs of 512 registers, allocated in eights, with room for 8 waves; 64 KB of shared memory, allocated in 512
 * bytes. */
static void check_held(const json_t *code, double threads)
{
    const json_t *held = json_object_get(code, "held");
    const double waves = threads / 64, registers = number_of(code, "registers"), shared = number_of(code, "shared_bytes");
    const double simd = fmin(8, floor(512 / up_to(registers, 8))), by_waves = floor(simd / ceil(waves / 4));
    const double groups = shared > 0 ? fmin(by_waves, floor(65536 / up_to(shared, 512))) : by_waves;
    ck_assert_double_eq(number_of(held, "workgroups"), groups);
    ck_assert_double_eq(number_of(held, "waves"), ceil(groups * waves / 4));
    ck_assert_double_eq(number_of(held, "most_waves"), 8);
    ck_assert_double_eq(number_of(code, "scratch_bytes"), 0);
    ck_assert_double_eq(number_of(code, "vector_spills"), 0);
}

/* A sum of two linears is planned as one linear of their concatenated inputs. `ops` of that kernel names both linears of the spec, though
 * of the second one the plan has only the weight; kernels that make the inputs do not name the concat, which the spec does not have. */
START_TEST(a_fused_sum_of_products_has_both_linears_and_its_operands_have_none)
{
    static const struct {
        const char *kernel, *ops;
        int origins;
    } tile[] = {{"sum_of_products_qkv", "linear x4 + reshape + silu", 6},
                {"sum_of_products_attention", "attention", 1},
                {"sum_of_products_o_d", "linear x2 + add", 3},
                {"sum_of_products_z", "linear x2", 2}};
    ck_assert_int_eq(tfgen("explain tests/specs/views/inputs-of-a-sum-of-products.yaml --no-code --fusion=tile --json"), 0);
    json_t *all = read_json();
    const json_t *kernels = json_object_get(json_array_get(json_object_get(all, "levels"), 0), "kernels");
    ck_assert_uint_eq(json_array_size(kernels), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *k = json_array_get(kernels, i);
        ck_assert_str_eq(text_of(k, "name"), tile[i].kernel);
        ck_assert_str_eq(text_of(k, "ops"), tile[i].ops);
        ck_assert_int_eq((int)json_array_size(json_object_get(k, "origins")), tile[i].origins);
    }
    json_decref(all);
}
END_TEST

START_TEST(registers_are_those_of_the_code_object)
{
    char folder[] = "/tmp/tfgen-explain-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(tfgen("emit specs/linear.yaml --target=gfx90a --code -q -o %s", folder), 0);
    json_t *manifest = json_load_file(strcat(strcpy(output, folder), "/manifest.json"), 0, NULL), *code = json_object_get(manifest, "code");
    ck_assert_int_eq(tfgen("explain specs/linear.yaml --target=gfx90a --fusion=tile --json"), 0);
    json_t *all = read_json(), *level = json_array_get(json_object_get(all, "levels"), 0), *k;
    size_t i;
    json_array_foreach(json_object_get(level, "kernels"), i, k)
    {
        const json_t *told = json_object_get(k, "code"), *facts = json_object_get(code, text_of(k, "name"));
        ck_assert_msg(facts != NULL, "%s", text_of(k, "name"));
        ck_assert_double_eq(number_of(told, "registers"), number_of(facts, "vgprs"));
        ck_assert_double_eq(number_of(told, "agprs"), number_of(facts, "agprs"));
        ck_assert_double_eq(number_of(told, "sgprs"), number_of(facts, "sgprs"));
        ck_assert_double_eq(number_of(told, "shared_bytes"), number_of(facts, "lds_bytes"));
        ck_assert_double_gt(number_of(told, "matrix_instructions"), 0);
        check_held(told, number_of(k, "threads"));
    }
    ck_assert_uint_gt(i, 0);
    json_decref(all), json_decref(manifest);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(without_a_compiler_explain_shows_everything_else)
{
    setenv("TFGEN_NVRTC", "/nowhere/libnvrtc.so", 1);
    ck_assert_int_eq(tfgen("explain specs/rmsnorm.yaml --no-cache --json"), 0);
    json_t *all = read_json(), *level = json_array_get(json_object_get(all, "levels"), 0);
    const json_t *code = json_object_get(json_array_get(json_object_get(level, "kernels"), 0), "code");
    ck_assert_msg(*text_of(code, "missing"), "%.2000s", output);
    ck_assert_ptr_null(json_object_get(code, "registers"));
    check_kernels(level);
    json_decref(all);
}
END_TEST

/* An ELF of one section with these words as code. */
static long long count_words(int machine, unsigned flags, const unsigned *words, size_t count)
{
    struct file {
        struct {
            unsigned char ident[16];
            unsigned short type, machine;
            unsigned version;
            unsigned long long entry, phoff, shoff;
            unsigned flags;
            unsigned short ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
        } head;
        struct {
            unsigned name, type;
            unsigned long long flags, addr, offset, size;
            unsigned link, info;
            unsigned long long addralign, entsize;
        } section;
        unsigned words[64];
    } f = {.head = {.ident = {0x7f, 'E', 'L', 'F', 2, 1, 1},
                    .machine = (unsigned short)machine,
                    .flags = flags,
                    .shoff = 64,
                    .shentsize = 64,
                    .shnum = 1},
           .section = {.type = 1, .flags = 4, .offset = 128, .size = count * 4}};
    memcpy(f.words, words, count * 4);
    return matrix_instructions(&f, sizeof f - sizeof f.words + count * 4);
}

/* As LLVM 22 and nvcc 13 encode them. */
START_TEST(matrix_instructions_are_counted_in_machine_code)
{
    static const unsigned cuda[] = {0x0c08723c, 0, 0, 0, 0x000009f0, 0, 0, 0, 0x0c08723e, 0x723c, 0, 0};
    static const unsigned gfx90a[] = {0xd3ed8000, 0x04020504,  /* v_mfma_f32_16x16x16bf16_1k */
                                      0xd3d94000, 0x18000080,  /* v_accvgpr_write_b32 */
                                      0x7e0002ff, 0xd3ed8000,  /* v_mov_b32 v0 with a literal that looks like an MFMA */
                                      0xd3b08000, 0x18020504,  /* v_pk_fma_f32 */
                                      0xbf810000};             /* s_endpgm */
    static const unsigned gfx1100[] = {0xcc404000, 0x1c020500, /* v_wmma_f32_16x16x16_f16 */
                                       0x7e0002ff, 0xcc404000, 0xbfb00000};
    ck_assert_int_eq(count_words(190, 90, cuda, 12), 2);
    ck_assert_int_eq(count_words(224, 0x3f, gfx90a, 9), 1);
    ck_assert_int_eq(count_words(224, 0x41, gfx1100, 5), 1);
    ck_assert_int_eq(count_words(224, 0x3f, gfx90a, 1), -1); /* ends inside an instruction */
    ck_assert_int_eq(count_words(62, 0, cuda, 12), -1);
    ck_assert_int_eq(count_words(190, 90, cuda, 7), -1);
    ck_assert_int_eq(matrix_instructions("hello", 5), -1);
}
END_TEST

/* ---- the page */
static int occurrences(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)); text++) n++;
    return n;
}

START_TEST(the_page_is_one_file_that_needs_no_other_and_no_text_ends_its_script)
{
    char page[] = "/tmp/tfgen-page-XXXXXX.html", spec[] = "/tmp/tfgen-spec-XXXXXX.yaml";
    close(mkstemps(page, 5));
    const int file = mkstemps(spec, 5);
    ck_assert_int_gt(dprintf(file, "# </script><img src=x onerror=alert(1)> <!-- \"quotes\" \\ \nblock: n\ndtype: f32\ndims: {M: 4, D: 8}\n"
                                   "inputs: {x: [M, D]}\nops:\n  - {out: y, op: exp, in: [x]}\noutputs: {y: y}\n"),
                     0);
    close(file);
    ck_assert_int_eq(tfgen("explain %s --no-code --html=%s", spec, page), 0);
    char *html = whole_file(page);
    ck_assert_int_eq(occurrences(html, "</script>"), 2);
    ck_assert_int_eq(occurrences(html, "<img"), 0);
    ck_assert_int_eq(occurrences(html, "http"), 2); /* the name of SVG, and a word of the policy that forbids the network */
    ck_assert_int_eq(occurrences(html, "src="), 1); /* in the comment */
    ck_assert_int_eq(occurrences(html, "\"text\":\"# \\u003c/script>\\u003cimg"), 1);
    ck_assert_int_eq(occurrences(html, "prefers-color-scheme: dark"), 1);
    const char *data = strstr(html, "id=\"data\">") + strlen("id=\"data\">");
    json_t *all = json_loadb(data, (size_t)(strstr(data, "</script>") - data), 0, NULL);
    ck_assert_str_eq(text_of(all, "block"), "n");
    json_decref(all);
    free(html);
    unlink(page), unlink(spec);
}
END_TEST

START_TEST(explain_refuses_what_it_cannot_do)
{
    ck_assert_int_eq(tfgen("explain specs/rmsnorm.yaml specs/linear.yaml"), 2);
    says("explain takes one SPEC");
    ck_assert_int_eq(tfgen("explain specs/rmsnorm.yaml --target=sm_90a,gfx942"), 2);
    says("one target here");
    ck_assert_int_eq(tfgen("explain specs/rmsnorm.yaml --fusion=most"), 2);
    says("unknown level 'most'");
    ck_assert_int_eq(tfgen("explain specs/rmsnorm.yaml --target=gfx942 --device-model=h200"), 2);
    says("device model h200 belongs to target sm_90a, not gfx942");
    ck_assert_int_eq(tfgen("explain specs/bad/add-shapes.yaml"), 3);
    ck_assert_int_eq(tfgen("explain specs/rmsnorm.yaml --no-code --html=/dev/null/all.html"), 7);
    ck_assert_int_eq(tfgen("explain"), 2);
}
END_TEST

START_TEST(text_of_a_plan_is_explained_as_it_is)
{
    char plan[] = "/tmp/tfgen-plan-XXXXXX";
    close(mkstemp(plan));
    ck_assert_int_eq(tfgen("emit specs/llama-block.yaml --target=sm_90a --dump=plan > %s", plan), 0);
    ck_assert_int_eq(tfgen("explain %s --from=plan --no-code --json", plan), 0);
    json_t *all = read_json();
    ck_assert_uint_eq(json_array_size(json_object_get(all, "levels")), 1);
    check_kernels(json_array_get(json_object_get(all, "levels"), 0));
    json_decref(all);
    unlink(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("explain");
    TCase *figures = tcase_create("figures"), *code = tcase_create("code"), *page = tcase_create("page");
    tcase_add_loop_test(figures, figures_of_every_spec_and_level_add_up, 0, spec_count);
    tcase_add_test(figures, explained_figures_of_a_product_equal_closed_forms);
    tcase_add_test(figures, fit_predicts_the_workspace);
    tcase_add_test(figures, the_text_says_why_and_what_it_costs);
    tcase_add_test(figures, text_of_a_plan_is_explained_as_it_is);
    tcase_add_test(figures, explain_refuses_what_it_cannot_do);
    tcase_add_test(figures, a_fused_sum_of_products_has_both_linears_and_its_operands_have_none);
    tcase_add_test(code, registers_are_those_of_the_code_object);
    tcase_add_test(code, without_a_compiler_explain_shows_everything_else);
    tcase_add_test(code, matrix_instructions_are_counted_in_machine_code);
    tcase_add_test(page, the_page_is_one_file_that_needs_no_other_and_no_text_ends_its_script);
    suite_add_tcase(suite, figures);
    suite_add_tcase(suite, code);
    suite_add_tcase(suite, page);
    return run_suite(suite);
}
