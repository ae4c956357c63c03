/* Bundles of code made ahead of time: written, found, and refused when damaged. */
#define _GNU_SOURCE
#include "runtime/module/bundle.h"
#include "runtime/host/host.h"
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/support.h"

static const bundle_code codes[] = {
    {"sm_90a", "up_k0", "source of up", 12, "cubin of up", 11},
    {"gfx90a", "up_k0", "source of up, amd", 17, "hsaco of up", 11},
    {"gfx90a", "down_k1", "source of down", 14, "hsaco of down, longer", 21},
    {"gfx90a", "up_k0", "source of up, another size", 26, "second hsaco", 12}};
enum { code_count = 4 };

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static bytes written(void)
{
    bytes b;
    ck_assert(bundle_write(codes, code_count, &b.data, &b.size));
    return b;
}

static bundle opened(bytes b)
{
    bundle out;
    char error[bundle_error_size] = "";
    ck_assert_msg(bundle_open(b.data, b.size, &out, error), "%s", error);
    return out;
}

static bundle_found find(const bundle *b, const char *arch, const bundle_code *c, const void **code, size_t *size, char *error)
{
    return bundle_find(b, arch, c->kernel, c->source, c->source_size, code, size, error);
}

START_TEST(a_written_bundle_is_found_by_arch_kernel_and_source)
{
    const bytes b = written();
    const bundle o = opened(b);
    char error[bundle_error_size];
    for (int i = 0; i < code_count; i++) {
        const void *code;
        size_t size;
        ck_assert_int_eq(find(&o, codes[i].arch, &codes[i], &code, &size, error), bundle_ok);
        ck_assert_uint_eq(size, codes[i].size);
        ck_assert_mem_eq(code, codes[i].code, size);
        ck_assert_uint_eq((size_t)code % 16, 0);
    }
    free(b.data);
}
END_TEST

START_TEST(bundles_do_not_depend_on_the_order_of_their_kernels)
{
    const bytes b = written();
    bundle_code backwards[code_count + 1];
    bytes c;
    for (int i = 0; i < code_count; i++) backwards[i] = codes[code_count - 1 - i];
    backwards[code_count] = codes[1]; /* a duplicate */
    ck_assert(bundle_write(backwards, code_count + 1, &c.data, &c.size));
    ck_assert_uint_eq(b.size, c.size);
    ck_assert_mem_eq(b.data, c.data, b.size);
    free(b.data);
    free(c.data);
}
END_TEST

START_TEST(a_device_with_features_is_served_by_its_plain_architecture)
{
    const bytes b = written();
    const bundle o = opened(b);
    char error[bundle_error_size];
    const void *code;
    size_t size;
    ck_assert_int_eq(find(&o, "gfx90a:sramecc+:xnack-", &codes[1], &code, &size, error), bundle_ok);
    ck_assert_int_eq(find(&o, "gfx90", &codes[1], &code, &size, error), bundle_missing);
    free(b.data);
}
END_TEST

START_TEST(code_for_sm_80_serves_the_gpus_of_its_generation)
{
    const bundle_code ampere = {"sm_80", "up_k0", "source of up", 12, "cubin of up", 11};
    bytes b;
    char error[bundle_error_size];
    const void *code;
    size_t size;
    ck_assert(bundle_write(&ampere, 1, &b.data, &b.size));
    const bundle o = opened(b);
    static const char *const served[] = {"sm_80", "sm_86", "sm_89"}, *const others[] = {"sm_87", "sm_90a", "sm_120", "sm_8"};
    for (size_t i = 0; i < sizeof served / sizeof *served; i++)
        ck_assert_int_eq(find(&o, served[i], &ampere, &code, &size, error), bundle_ok);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_int_eq(find(&o, others[i], &ampere, &code, &size, error), bundle_missing);
    free(b.data);
}
END_TEST

START_TEST(code_missing_in_a_bundle_is_reported)
{
    const bytes b = written();
    const bundle o = opened(b);
    char error[bundle_error_size];
    const void *code;
    size_t size;
    ck_assert_int_eq(find(&o, "gfx942", &codes[1], &code, &size, error), bundle_missing);
    ck_assert_str_eq(error, "the bundle has no code for gfx942; it has gfx90a, sm_90a");
    ck_assert_int_eq(bundle_find(&o, "gfx90a", "up_k0", "source of uq", 12, &code, &size, error), bundle_missing);
    ck_assert_msg(strstr(error, "a kernel up_k0 for gfx90a, of another source"), "%s", error);
    ck_assert_int_eq(bundle_find(&o, "gfx90a", "uq_k0", "source of up", 12, &code, &size, error), bundle_missing);
    ck_assert_str_eq(error, "the bundle has code for gfx90a, but no kernel uq_k0: it was made from other plans");
    free(b.data);
}
END_TEST

START_TEST(an_empty_bundle_opens_and_has_nothing)
{
    bytes b;
    ck_assert(bundle_write(NULL, 0, &b.data, &b.size));
    const bundle o = opened(b);
    char error[bundle_error_size];
    const void *code;
    size_t size;
    ck_assert_int_eq(find(&o, "gfx90a", &codes[1], &code, &size, error), bundle_missing);
    ck_assert_str_eq(error, "the bundle has no code for gfx90a; it has none");
    free(b.data);
}
END_TEST

START_TEST(no_truncated_bundle_opens)
{
    const bytes b = written();
    for (size_t n = 0; n < b.size; n++) {
        unsigned char *cut = malloc(n ? n : 1); /* exactly as long, so that sanitizers see a read beyond it */
        memcpy(cut, b.data, n);
        bundle o;
        char error[bundle_error_size] = "";
        ck_assert_msg(!bundle_open(cut, n, &o, error), "%zu of %zu bytes", n, b.size);
        ck_assert_msg(strstr(error, "offset ") != NULL, "%s", error);
        free(cut);
    }
    free(b.data);
}
END_TEST

/* In a changed bundle a lookup finds nothing, or exactly what was written. */
START_TEST(no_flipped_bit_changes_what_is_found)
{
    const bytes b = written();
    int refused = 0, broken = 0;
    for (size_t bit = 0; bit < b.size * 8; bit++) {
        bundle o;
        char error[bundle_error_size] = "";
        b.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        const bool open = bundle_open(b.data, b.size, &o, error);
        refused += !open;
        for (int i = 0; open && i < code_count; i++) {
            const void *code;
            size_t size;
            const bundle_found found = find(&o, codes[i].arch, &codes[i], &code, &size, error);
            broken += found == bundle_broken;
            ck_assert_int_ne(found, bundle_missing);
            if (found == bundle_ok) ck_assert(size == codes[i].size && memcmp(code, codes[i].code, size) == 0);
        }
        b.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    /* a changed bit in head, entries or names refuses the bundle; in code it breaks only that entry */
    ck_assert_int_ge(refused, (64 + code_count * 64) * 8);
    ck_assert_int_eq(broken, (11 + 11 + 21 + 12) * 8);
    free(b.data);
}
END_TEST

/* The head has a correct hash but wrong fields, as an attacker or a bug of the writer would make it. */
START_TEST(a_bundle_with_wrong_fields_and_a_correct_hash_is_refused_or_harmless)
{
    const bytes b = written();
    const size_t head = 64 + code_count * 64;
    for (size_t at = 0; at < head; at++)
        for (int value = 0; value < 256; value += 51) {
            unsigned char *copy = aligned_alloc(64, (b.size + 63) / 64 * 64);
            memcpy(copy, b.data, b.size);
            copy[at] = (unsigned char)value;
            bundle_rehash(copy, b.size);
            bundle o;
            char error[bundle_error_size] = "";
            const void *code;
            size_t size;
            if (bundle_open(copy, b.size, &o, error))
                for (int i = 0; i < code_count; i++) {
                    bundle_item item;
                    (void)find(&o, codes[i].arch, &codes[i], &code, &size, error);
                    if (bundle_at(&o, (unsigned)i, &item)) ck_assert_uint_lt(strlen(item.arch) + strlen(item.kernel), b.size);
                }
            free(copy);
        }
    free(b.data);
}
END_TEST

START_TEST(bytes_that_are_not_aligned_are_refused)
{
    unsigned char room[256] __attribute__((aligned(16))) = "?tfbundle";
    bundle o;
    char error[bundle_error_size] = "";
    ck_assert(!bundle_open(room + 1, 200, &o, error));
    ck_assert_str_eq(error, "bundle: not aligned to 16 bytes");
    ck_assert(!bundle_open(NULL, 200, &o, error));
}
END_TEST

/* ---- host objects */
static const char addition[] =
    "struct args { const float *x; float *y; };\n"
    "extern \"C\" __global__ void addition(const args p) { p.y[threadIdx.x] = p.x[threadIdx.x] + 1; }\n"
    "TF_EXPORT(addition)\n";

typedef struct addition_args {
    const float *x;
    float *y;
} addition_args;

START_TEST(a_host_object_runs_from_memory_without_a_compiler)
{
    unsigned char *object;
    size_t size;
    host_log log = {0};
    host_module *modules[2];
    const host_compile_options o = {.name = "addition.hip", .flags = "-march=x86-64-v2", .optimise = 1};
    ck_assert_msg(host_compile_object(addition, sizeof addition - 1, &o, &object, &size, &log) == HOST_OK, "%s", log.text);
    setenv("TFGEN_HOST_CC", "/nowhere/clang", 1);
    host_engine *engine = host_engine_open(NULL);
    for (int i = 0; i < 2; i++) ck_assert_msg(host_module_open(object, size, &modules[i], &log) == HOST_OK, "%s", log.text);
    for (int i = 0; i < 2; i++) {
        const float x[4] = {1, 2, 3, 4};
        float y[4] = {0};
        addition_args a = {x, y};
        void *params[] = {&a};
        const host_launch_dims dims = {.grid = {1}, .block = {4}, .wave = 4};
        ck_assert_msg(host_launch(engine, modules[i], "addition", &dims, params, &log) == HOST_OK, "%s", log.text);
        ck_assert(y[0] == 2 && y[3] == 5);
        host_module_free(modules[i]);
    }
    host_engine_close(engine);
    unsetenv("TFGEN_HOST_CC");
    host_log_free(&log);
    free(object);
}
END_TEST

START_TEST(a_file_that_is_no_host_object_is_refused_with_the_loaders_message)
{
    host_module *m;
    host_log log = {0};
    ck_assert_int_eq(host_module_open("\177ELF, not really", 16, &m, &log), HOST_IO);
    ck_assert_ptr_null(m);
    ck_assert_uint_gt(log.size, 0);
    host_log_free(&log);
}
END_TEST

/* Only one more file may be open, but loading an object needs two for a moment. */
START_TEST(the_host_engine_reports_that_file_descriptors_ran_out)
{
    const int next = dup(STDERR_FILENO);
    struct rlimit most;
    host_module *m;
    host_log log = {0};
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &most), 0);
    most.rlim_cur = (rlim_t)next + 1;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &most), 0);
    ck_assert_int_eq(host_module_open("\177ELF, not really", 16, &m, &log), HOST_IO);
    ck_assert_str_eq(log.text, "cannot keep a shared object in memory: Too many open files\n");
    host_log_free(&log);
}
END_TEST

START_TEST(host_levels_are_named_with_the_version_of_the_engine)
{
    size_t count;
    const char *const *levels = bundle_host_levels(&count);
    char arch[48];
    for (size_t i = 0; i < count; i++) {
        bundle_host_arch(levels[i], arch);
        ck_assert_int_eq(strncmp(arch, "host-", 5), 0);
        ck_assert_ptr_nonnull(strstr(arch, levels[i]));
        ck_assert_ptr_nonnull(strstr(arch, "-abi"));
    }
    ck_assert(!bundle_host_level_runs("x86-64-v9"));
}
END_TEST

/* ---- tfgen build */
static const char built_spec[] = "block: built\n"
                                 "dtype: f32\n"
                                 "dims: {M: 5, D: 24, F: 40}\n"
                                 "dynamic: {M: [1, 9]}\n"
                                 "presets: {wide: {D: 48, F: 33}}\n"
                                 "inputs: {x: [M, D]}\n"
                                 "params: {norm: [D], w: [F, D]}\n"
                                 "ops:\n"
                                 "  - {out: n, op: rmsnorm, in: [x, norm], eps: 1.0e-5}\n"
                                 "  - {out: h, op: linear, in: [n, w]}\n"
                                 "  - {out: y, op: relu, in: [h]}\n"
                                 "outputs: {y: y}\n";

#if defined(__SANITIZE_THREAD__)
#define SANITIZE "-fsanitize=thread"
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZE "-fsanitize=address,undefined"
#else
#define SANITIZE ""
#endif
/* No compiler can be found, so all kernels come from the bundle. The program calls exit() where a call fails, so memory that it still
 * holds is no leak to report. */
#define BARE \
    "env -i ASAN_OPTIONS=detect_leaks=0 PATH=/nowhere TFGEN_HOST_CC=/nowhere TFGEN_CLANG=/nowhere TFGEN_HIPRTC=/nowhere " \
    "TFGEN_NVRTC=/nowhere TFGEN_WORKER=/nowhere TFGEN_CACHE_DIR= "

static char output[1 << 16], folder[64];

static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *format, ...)
{
    char command[4096], all[4200];
    va_list list;
    va_start(list, format);
    vsnprintf(command, sizeof command, format, list);
    va_end(list);
    snprintf(all, sizeof all, "( %s ) 2>&1", command);
    FILE *pipe = popen(all, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

static const char *program_path(void) { return getenv("TFGEN") ? getenv("TFGEN") : "./tfgen"; }

static void make_spec(void)
{
    strcpy(folder, "/tmp/tfgen-built-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char path[128];
    snprintf(path, sizeof path, "%s/built.yaml", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(built_spec, f);
    fclose(f);
}

static void remove_folder(void) { ck_assert_int_eq(shell("rm -rf %s", folder), 0); }

static int build(const char *options) { return shell("%s build %s/built.yaml -o %s %s", program_path(), folder, folder, options); }

/* Compiles `source` and links it with libraries of the folder, where the headers are, too. */
static void link_with(const char *search, const char *source, const char *libraries)
{
    const char *slash = *SANITIZE ? strrchr(program_path(), '/') : NULL; /* without a sanitizer, it links the installed library */
    const int length = slash ? (int)(slash - program_path()) : 1;
    ck_assert_msg(shell("${CC:-cc} -std=c99 -Wall -Wextra -Werror " SANITIZE " -Iruntime/api %s%s %s -o %s/program %s/%s "
                        "%.*s/libtfgen.a -lyaml -ljansson -lxxhash -ldl -lm -lpthread",
                        search, folder, source, folder, folder, libraries, length, slash ? program_path() : ".") == 0,
                  "%s", output);
}

static void link_program(void) { link_with("-I", "tests/runtime/program_built.c", "libbuilt.a"); }

static void check_cpp17(const char *search, const char *source)
{
    const int code = shell(
        "for c in c++ clang++-22 clang++-14 clang-22 clang-14 clang; do command -v $c >/dev/null || continue; "
        "$c -x c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -Iruntime/api %s%s %s; exit; done; exit 77",
        search, folder, source);
    ck_assert_msg(code == 0 || code == 77, "%s", output);
}

static void says(const char *part) { ck_assert_msg(strstr(output, part) != NULL, "no '%s' in:\n%s", part, output); }

START_TEST(a_program_runs_what_was_built_for_it_without_any_compiler)
{
    ck_assert_msg(build("--shapes=M=7,wide:M=2 --tile 'gemm: k=16' --tile 'gemm: stages=1'") == 0, "%s", output);
    link_program();
    ck_assert_msg(shell(BARE "%s/program host 0", folder) == 0, "%s", output);
    says("host: 280 numbers");
    ck_assert_msg(shell(BARE "%s/program host 1", folder) == 0, "%s", output);
    says("host: 66 numbers");
    ck_assert_int_eq(shell(BARE "%s/program host 2", folder), TFGEN_USAGE);
    says("built_plan: no such shape; there are 2");
    for (long bit = 3; bit < 512 * 8; bit += 211) { /* of head, entries and names: refused; of padding: harmless */
        const int code = shell(BARE "%s/program host 0 %ld", folder, bit);
        ck_assert_msg(code == TFGEN_USAGE || code == 0, "bit %ld: %d: %s", bit, code, output);
        if (bit < 64 * 8) ck_assert_msg(code == TFGEN_USAGE && strstr(output, "bundle: offset "), "bit %ld: %s", bit, output);
    }
}
END_TEST

/* A variant of a shape with the same dims runs its calls. */
START_TEST(a_library_has_the_variants_that_were_asked_for)
{
    ck_assert_msg(build("--shapes=M=7,wide --variants=M=1,M=7:D=32,M=9") == code_usage, "%s", output);
    says("--variants: dim D is not dynamic; another value of it is another shape");
    ck_assert_msg(build("--shapes=M=7,wide:M=2 --variants=M=1,M=7,M=9") == 0, "%s", output);
    link_program();
    ck_assert_msg(shell(BARE "%s/program host 0", folder) == 0, "%s", output);
    says("host: 280 numbers");
    says(", 3 variants");
    ck_assert_msg(shell(BARE "%s/program host 1", folder) == 0, "%s", output);
    says(", 3 variants");
}
END_TEST

START_TEST(the_header_is_clean_in_cpp17_too)
{
    ck_assert_msg(build("--shapes=M=7,wide --no-fuse=activation --dtype=f16 --variants=M=1,M=9") == 0, "%s", output);
    check_cpp17("-I", "tests/runtime/program_built.c");
}
END_TEST

/* Blocks named like the library's own files and functions, like variables of the header, like words of C, C++ and system headers; two names
 * that differ only in case. All of their declarations are linked into one program. */
static const char *const block_names[] = {"tfgen", "TFGEN",  "tfgen-plan", "plan",  "Plan",   "args",   "options",
                                          "main",  "string", "k0",         "class", "int",    "stdint", "tiles"};
static const char block_spec[] = "block: %s\ndtype: f32\ndims: {D: 16}\ninputs: {x: [D]}\n"
                                 "ops:\n  - {out: y, op: relu, in: [x]}\noutputs: {y: y}\n";

static FILE *file_in_folder(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    return f;
}

static void write_blocks(void)
{
    FILE *program = file_in_folder("program.c"), *calls = file_in_folder("calls.h");
    for (size_t i = 0; i < sizeof block_names / sizeof *block_names; i++) {
        char yaml[64], id[64];
        const char *name = block_names[i];
        snprintf(yaml, sizeof yaml, "%s.yaml", name);
        FILE *spec = file_in_folder(yaml);
        fprintf(spec, block_spec, name);
        fclose(spec);
        const bool ours = !strncmp(name, "tfgen", 5) || !strncmp(name, "TFGEN", 5);
        snprintf(id, sizeof id, "%s%s", ours ? "x" : "", name);
        fprintf(program, "#include \"%s.h\"\n", id);
        for (char *c = id; *c; c++) *c = *c == '-' ? '_' : *c;
        fprintf(calls, "if (!%s_plan(device, 0, &plan, &error) && !%s_module(plan, device, &module, &error)) made++;\n", id, id);
    }
    fputs("#include <stdio.h>\nint main(void)\n{\n    tfgen_error error;\n    tfgen_device *device;\n    tfgen_plan *plan;\n"
          "    tfgen_module *module;\n    int made = 0;\n    if (tfgen_device_open(\"host\", &device, &error)) return 1;\n"
          "#include \"calls.h\"\n    printf(\"%d made\\n\", made);\n    return 0;\n}\n",
          program);
    fclose(calls);
    fclose(program);
}

START_TEST(a_block_may_have_any_name)
{
    write_blocks();
    ck_assert_msg(shell("%s build -q -o %s %s/[!b]*.yaml", program_path(), folder, folder) == 0, "%s", output);
    char source[128];
    snprintf(source, sizeof source, "%s/program.c", folder);
    link_with("-iquote", source, "lib*.a");
    ck_assert_msg(shell(BARE "%s/program", folder) == 0, "%s", output);
    says("14 made");
    check_cpp17("-iquote", source);
}
END_TEST

START_TEST(a_bundle_without_the_target_is_unsupported_and_says_what_it_has)
{
    const int code = build("--target=gfx90a --variants=M=2");
    if (code == code_unsupported) {
        printf("skipped: a_bundle_without_the_target_is_unsupported_and_says_what_it_has: no compiler for gfx90a\n");
        return;
    }
    ck_assert_msg(code == 0, "%s", output);
    link_program();
    ck_assert_int_eq(shell(BARE "%s/program host 0", folder), TFGEN_UNSUPPORTED);
    says("the bundle has no code for host-");
    says("it has gfx90a");
}
END_TEST

START_TEST(build_refuses_what_it_cannot_do)
{
    ck_assert_int_eq(build("--cpu=i486"), code_usage);
    says("--cpu: no level of this machine's instruction set is called 'i486'");
    ck_assert_int_eq(build("--target=gfx9999"), code_usage);
    says("unknown target gfx9999");
    ck_assert_int_eq(build("--shapes=narrow"), code_usage);
    ck_assert_int_eq(build("--variants=M"), code_usage);
    says("--variants: 'M' is not NAME=NUMBER");
    ck_assert_int_eq(build("--variants=Q=1"), code_usage);
    ck_assert_int_eq(shell("AR=/nowhere/ar %s build %s/built.yaml -o %s", program_path(), folder, folder), code_unsupported);
    says("there is no '/nowhere/ar' on this machine; it makes the library: apt-get install gcc binutils, or set AR");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bundle");
    TCase *bytes_case = tcase_create("bytes"), *host_case = tcase_create("host"), *build_case = tcase_create("build");
    tcase_add_checked_fixture(build_case, make_spec, remove_folder);
    tcase_add_test(build_case, a_program_runs_what_was_built_for_it_without_any_compiler);
    tcase_add_test(build_case, a_library_has_the_variants_that_were_asked_for);
    tcase_add_test(build_case, the_header_is_clean_in_cpp17_too);
    tcase_add_test(build_case, a_block_may_have_any_name);
    tcase_add_test(build_case, a_bundle_without_the_target_is_unsupported_and_says_what_it_has);
    tcase_add_test(build_case, build_refuses_what_it_cannot_do);
    tcase_set_timeout(build_case, 120);
    tcase_add_test(bytes_case, a_written_bundle_is_found_by_arch_kernel_and_source);
    tcase_add_test(bytes_case, bundles_do_not_depend_on_the_order_of_their_kernels);
    tcase_add_test(bytes_case, a_device_with_features_is_served_by_its_plain_architecture);
    tcase_add_test(bytes_case, code_for_sm_80_serves_the_gpus_of_its_generation);
    tcase_add_test(bytes_case, code_missing_in_a_bundle_is_reported);
    tcase_add_test(bytes_case, an_empty_bundle_opens_and_has_nothing);
    tcase_add_test(bytes_case, no_truncated_bundle_opens);
    tcase_add_test(bytes_case, no_flipped_bit_changes_what_is_found);
    tcase_add_test(bytes_case, a_bundle_with_wrong_fields_and_a_correct_hash_is_refused_or_harmless);
    tcase_add_test(bytes_case, bytes_that_are_not_aligned_are_refused);
    tcase_add_test(host_case, a_host_object_runs_from_memory_without_a_compiler);
    tcase_add_test(host_case, a_file_that_is_no_host_object_is_refused_with_the_loaders_message);
    tcase_add_test(host_case, the_host_engine_reports_that_file_descriptors_ran_out);
    tcase_add_test(host_case, host_levels_are_named_with_the_version_of_the_engine);
    tcase_set_timeout(host_case, 60);
    suite_add_tcase(suite, bytes_case);
    suite_add_tcase(suite, host_case);
    suite_add_tcase(suite, build_case);
    return run_suite(suite);
}
