/* The examples as a user builds them: against an installed tfgen, with pkg-config or CMake, nothing of this tree in the include path.
 * The Llama's tokens are compared with a greedy decoding in double precision that shares no code with tfgen. */
#define _GNU_SOURCE
#include "tests/shell.h"
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/tfgen-examples-XXXXXX";

static bool have(const char *program) { return shell("command -v %s", program) == 0; }

/* A sanitizer build cannot be installed; the tests of the plain build install the library. */
static bool sanitized(void)
{
    const char *program = getenv("TFGEN");
    return program && strstr(program, "san-");
}

static void install(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    if (!sanitized())
        ck_assert_msg(shell("make -s install PREFIX=%s/usr 2>&1 && make -s install PREFIX=%s/multi LIBDIR=lib/x86_64-linux-gnu 2>&1",
                            folder, folder) == 0,
                      "%s", output);
}

static void uninstall(void) { ck_assert_int_eq(shell("rm -rf %s", folder), 0); }

/* Compiles examples/FILE by the command in its first comment, with the installed library for -ltfgen; returns false, and prints why, if
 * this machine lacks the compiler. */
static bool built(const char *file, const char *program)
{
    const char *compiler = strstr(file, ".cpp") ? "c++" : "cc";
    if (sanitized()) return false;
    if (!have(compiler) || !have("pkg-config")) {
        printf("skipped: examples/%s: no %s or no pkg-config here\n", file, compiler);
        return false;
    }
    ck_assert_msg(shell("cd examples && flags=$(PKG_CONFIG_PATH=%s/usr/lib/pkgconfig pkg-config --cflags --libs tfgen) && "
                        "command=$(sed -n 's,^[ */]*\\(%s [^&]*%s[^&]*\\).*,\\1,p' %s | head -n 1) && "
                        "$(echo \"$command\" | sed \"s|-ltfgen|$flags|\") -Wall -Wextra -Werror -O1 -o %s/%s -Wl,-rpath,%s/usr/lib 2>&1",
                        folder, compiler, file, file, folder, program, folder) == 0,
                  "%s", output);
    return true;
}

START_TEST(a_host_program_in_c_agrees_with_double_precision)
{
    if (!built("block.c", "block")) return;
    ck_assert_msg(shell("env -u TFGEN_WORKER %s/block host 2>&1", folder) == 0, "%s", output);
    ck_assert_ptr_nonnull(strstr(output, "kernels on host"));
    ck_assert_int_ne(shell("%s/block hip:99 2>&1", folder), 0);
}
END_TEST

START_TEST(a_host_program_in_cpp_frees_its_objects)
{
    if (!built("swiglu.cpp", "swiglu")) return;
    ck_assert_msg(shell("%s/swiglu specs/swiglu.yaml host 2>&1", folder) == 0, "%s", output);
    ck_assert_msg(shell("%s/swiglu specs/bad/no-such.yaml host 2>&1", folder) == 1, "%s", output);
}
END_TEST

/* Libraries are installed in a folder named after the architecture: from there the library must find its worker, and CMake the header. */
START_TEST(cmake_finds_the_installed_package)
{
    if (sanitized()) return;
    if (!have("cmake") || !have("c++")) {
        printf("skipped: no cmake or no C++ compiler here\n");
        return;
    }
    ck_assert_int_eq(
        shell("mkdir %s/project && printf 'cmake_minimum_required(VERSION 3.13)\\nproject(p C)\\nfind_package(tfgen 0.1 REQUIRED)\\n"
              "add_executable(p \"%s/examples/block.c\")\\ntarget_link_libraries(p tfgen::tfgen m)\\n' > %s/project/CMakeLists.txt",
              folder, getenv("PWD"), folder),
        0);
    ck_assert_msg(shell("cd %s/project && cmake -Dtfgen_DIR=%s/multi/lib/x86_64-linux-gnu/cmake/tfgen . 2>&1 && make 2>&1 && "
                        "env -u TFGEN_WORKER ./p host 2>&1", folder, folder) == 0,
                  "%s", output);
}
END_TEST

/* Runs without NumPy and with a small double of PyTorch, so that neither need be installed. */
START_TEST(the_package_for_python_is_as_its_page_says)
{
    if (sanitized()) return;
    if (!have("python3")) {
        printf("skipped: no python3 here\n");
        return;
    }
    for (const char *const *test = (const char *const[]){"package_test", "tensors_test", NULL}; *test; test++) {
        ck_assert_msg(shell("PYTHONDONTWRITEBYTECODE=1 TFGEN=%s/usr/bin/tfgen TFGEN_LIBRARY=%s/usr/lib/libtfgen.so.0 "
                            "python3 tests/python/%s.py 2>&1", folder, folder, *test) == 0,
                      "%s", output);
        ck_assert_msg(strstr(output, "\n0 wrong\n") && !strstr(output, "WRONG"), "%s", output);
    }
}
END_TEST

START_TEST(a_user_program_may_use_every_name_outside_the_header)
{
    if (sanitized()) return;
    ck_assert_msg(
        shell("nm -g --defined-only %s/usr/lib/libtfgen.a | awk 'NF == 3 {print $3}' | sort >%s/names && grep -c '^tfgen_' %s/names",
              folder, folder, folder) == 0,
        "%s", output);
    ck_assert_int_eq(shell("grep -v '^tfgen_' %s/names", folder), 1); /* grep returns 1: nothing found */
    ck_assert_int_eq(shell("sed -n 's/^TFGEN_API .*\\b\\(tfgen_[a-z_]*\\)(.*/\\1/p' runtime/api/tfgen.h | sort | diff - %s/names", folder),
                     0);
    ck_assert_int_eq(
        shell(
            "printf '%%s\\n' '#include <stdio.h>' '#include <tfgen.h>' 'char arena_alloc[2], cache_open[3], emit[4], compile[5];' "
            "'int main(void) { puts(tfgen_version()); return sizeof arena_alloc + sizeof cache_open + sizeof emit + sizeof compile != "
            "14; }' >%s/app.c",
            folder),
        0);
    ck_assert_msg(
        shell(
            "cc -Wall -Werror -I%s/usr/include %s/app.c -o %s/app %s/usr/lib/libtfgen.a -lyaml -ljansson -lxxhash -ldl -lm -pthread && "
            "%s/app",
            folder, folder, folder, folder, folder) == 0,
        "%s", output);
}
END_TEST

START_TEST(cpp_owners_free_their_objects_and_errors_are_exceptions)
{
    if (sanitized() || !have("c++")) return;
    ck_assert_msg(
        shell("c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I%s/usr/include tests/runtime/owners.cpp -o %s/owners -L%s/usr/lib "
              "-ltfgen -Wl,-rpath,%s/usr/lib 2>&1 && %s/owners 2>&1",
              folder, folder, folder, folder, folder) == 0,
        "%s", output);
}
END_TEST

START_TEST(a_program_built_against_an_older_header_runs)
{
    if (sanitized()) return;
    ck_assert_msg(shell("cc -Wall -Werror tests/runtime/old_program.c -o %s/old_program -L%s/usr/lib -ltfgen -Wl,-rpath,%s/usr/lib 2>&1 && "
                        "%s/old_program 2>&1", folder, folder, folder, folder) == 0,
                  "%s", output);
    says("y of 2 axes, kind 3\n");
}
END_TEST

START_TEST(everything_that_documents_name_is_installed)
{
    if (sanitized()) return;
    ck_assert_msg(
        shell("cd %s/usr && ls bin/tfgen libexec/tfgen/tfgen-worker include/tfgen.h lib/libtfgen.a lib/libtfgen.so lib/libtfgen.so.0 "
              "lib/pkgconfig/tfgen.pc lib/cmake/tfgen/tfgenConfig.cmake lib/cmake/tfgen/tfgenConfigVersion.cmake share/man/man1/tfgen.1 "
              "share/tfgen/specs/llama-block.yaml share/tfgen/specs/devices/h200.yaml share/tfgen/tfgen-spec.schema.json "
              "share/doc/tfgen/README.md share/doc/tfgen/LICENSE share/doc/tfgen/docs/spec-language.md "
              "share/doc/tfgen/docs/course/README.md share/doc/tfgen/examples/block.c 2>&1",
              folder) == 0,
        "%s", output);
    ck_assert_msg(shell("cd %s && env -u TFGEN_WORKER usr/bin/tfgen run usr/share/tfgen/specs/rmsnorm.yaml --device=host --repeat=0 2>&1",
                        folder) == 0,
                  "%s", output);
}
END_TEST

/* The first line of each spec names the schema, relative to where both are installed. */
START_TEST(editors_find_the_schema_of_installed_specs)
{
    if (sanitized()) return;
    ck_assert_msg(shell("cd %s/usr/share/tfgen/specs && "
                        "cmp \"$(sed -n '1s/.*schema=//p' swiglu.yaml)\" \"$OLDPWD/docs/tfgen-spec.schema.json\" && "
                        "cmp ../tfgen-spec.schema.json \"$OLDPWD/docs/tfgen-spec.schema.json\" 2>&1", folder) == 0,
                  "%s", output);
}
END_TEST

START_TEST(a_package_for_debian_holds_what_is_installed)
{
    if (sanitized()) return;
    if (shell("command -v dpkg-shlibdeps") != 0) {
        printf("skipped: no dpkg-dev here\n");
        return;
    }
    ck_assert_msg(shell("make -s deb DEB='%s/a deb' 2>&1 && cd '%s/a deb' && dpkg-deb -x tfgen_*.deb root && "
                        "env -u TFGEN_WORKER root/usr/bin/tfgen check root/usr/share/tfgen/specs/swiglu.yaml 2>&1 && "
                        "dpkg-deb -f tfgen_*.deb Depends && ls root/usr/lib/*/libtfgen.so.0 && dpkg-deb -I tfgen_*.deb shlibs && "
                        "zcat root/usr/share/doc/tfgen/changelog.gz && "
                        "{ ! command -v lintian || lintian --allow-root --fail-on error,warning tfgen_*.deb; } 2>&1", folder, folder) == 0,
                  "%s", output);
    says("libtfgen 0 tfgen (>= ");
    says(") unstable; urgency=");
    says("libc6 (>=");
    says("libyaml-0-2");
}
END_TEST

START_TEST(nothing_that_is_installed_names_the_folder_of_the_build)
{
    if (sanitized()) return;
    ck_assert_msg(shell("cd %s/usr && grep -laF \"$OLDPWD\" bin/* lib/libtfgen.* libexec/tfgen/*", folder) == 1, "%s", output);
}
END_TEST

/* If the Makefile left a name unquoted, install would write into this tree; if tfgen.pc did, a flag would become two words. */
START_TEST(names_of_folders_may_have_spaces)
{
    if (sanitized()) return;
    ck_assert_msg(shell("ls -A >%s/before && make -s install DESTDIR='%s/a  b' PREFIX='/c & d' 2>&1 && ls -A | diff %s/before -", folder,
                        folder, folder) == 0,
                  "%s", output);
    ck_assert_int_eq(shell("cd '%s/a  b/c & d' && ls bin/tfgen lib/libtfgen.so share/man/man1/tfgen.1 && ls '%s/a  b' | wc -l", folder,
                           folder), 0);
    says("\n1\n");
    ck_assert_int_eq(shell("eval \"set -- $(PKG_CONFIG_PATH='%s/a  b/c & d/lib/pkgconfig' pkg-config --cflags --libs tfgen)\" && "
                           "printf '[%%s]' \"$@\"", folder), 0);
    says("[-I/c & d/include][-L/c & d/lib][-ltfgen]");
}
END_TEST

static const char *const completed[][2] = {
    {"tfgen ver", "verify"}, {"tfgen run --fus", "--fusion="}, {"tfgen help explai", "explain"}, {"tfgen a.yaml --no-f", "--no-fuse="}};
enum { completions = sizeof completed / sizeof *completed };

/* Completes the names that help prints. */
START_TEST(bash_completes_commands_and_options)
{
    if (sanitized()) return;
    if (!have("bash")) {
        printf("skipped: no bash here\n");
        return;
    }
    for (int i = 0; i < completions; i++) {
        ck_assert_msg(shell("PATH=%s/usr/bin:$PATH bash -c '. %s/usr/share/bash-completion/completions/tfgen && COMP_WORDS=(%s) && "
                            "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _tfgen && echo \"${COMPREPLY[*]}\"' 2>&1",
                            folder, folder, completed[i][0]) == 0,
                      "%s", output);
        output[strcspn(output, "\n")] = 0;
        ck_assert_str_eq(output, completed[i][1]);
    }
}
END_TEST

START_TEST(fish_completes_commands_and_options)
{
    if (sanitized()) return;
    if (!have("fish")) {
        printf("skipped: no fish here\n");
        return;
    }
    for (int i = 0; i < completions; i++) {
        ck_assert_msg(shell("PATH=%s/usr/bin:$PATH fish -N -c 'source %s/usr/share/fish/vendor_completions.d/tfgen.fish; "
                            "complete -C \"%s\"' 2>&1", folder, folder, completed[i][0]) == 0,
                      "%s", output);
        output[strcspn(output, "\t\n")] = 0;
        ck_assert_str_eq(output, completed[i][1]);
    }
}
END_TEST

/* zsh's completion needs a terminal; here functions of its names print what they are told to offer. */
START_TEST(zsh_offers_commands_and_options)
{
    if (sanitized()) return;
    if (!have("zsh")) {
        printf("skipped: no zsh here\n");
        return;
    }
    for (int i = 0; i < completions; i++)
        ck_assert_msg(shell("PATH=%s/usr/bin:$PATH zsh -f -c 'compadd() { print -l -- $@ }; "
                            "_describe() { print -l -- ${(P)2%%%%:*} }; _files() { }; t() { words=($@) CURRENT=$# PREFIX=${@[-1]}; "
                            ". %s/usr/share/zsh/site-functions/_tfgen }; t %s' 2>&1 | "
                            "grep -x -e '%s'", folder, folder, completed[i][0], completed[i][1]) == 0,
                      "%s: %s", completed[i][0], output);
}
END_TEST

START_TEST(uninstalling_leaves_no_file)
{
    if (sanitized()) return;
    ck_assert_int_eq(shell("PKG_CONFIG_PATH=%s/multi/lib/x86_64-linux-gnu/pkgconfig pkg-config --variable=libdir tfgen", folder), 0);
    ck_assert_msg(strstr(output, "/multi/lib/x86_64-linux-gnu\n") != NULL, "%s", output);
    ck_assert_msg(shell("make -s uninstall PREFIX=%s/multi LIBDIR=lib/x86_64-linux-gnu 2>&1", folder) == 0, "%s", output);
    ck_assert_int_eq(shell("find %s/multi ! -type d", folder), 0);
    ck_assert_str_eq(output, "");
}
END_TEST

/* ---- a Llama in double precision */
typedef struct llama {
    json_t *header;
    const char *data;
    int layers, width, heads, kv_heads, hidden, vocabulary;
    double *keys, *values; /* layers x context x kv_heads*head */
    int context;
} llama;

static const float *weight(const llama *m, const char *prefix, const char *name)
{
    char full[256];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    const json_t *t = json_object_get(m->header, full);
    ck_assert_msg(t != NULL, "no %s", full);
    return (const float *)(m->data + json_integer_value(json_array_get(json_object_get(t, "data_offsets"), 0)));
}

static void product(const float *w, const double *x, int rows, int columns, double *out)
{
    for (int r = 0; r < rows; r++) {
        out[r] = 0;
        for (int c = 0; c < columns; c++) out[r] += (double)w[(long)r * columns + c] * x[c];
    }
}

static void norm(const float *w, const double *x, int n, double *out)
{
    double squares = 0;
    for (int i = 0; i < n; i++) squares += x[i] * x[i];
    for (int i = 0; i < n; i++) out[i] = x[i] / sqrt(squares / n + 1e-5) * w[i];
}

static void rotate(double *x, int heads, int head, int at)
{
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < head / 2; i++) {
            double *const a = &x[h * head + i], *const b = a + head / 2, angle = at * pow(10000.0, -2.0 * i / head), old = *a;
            *a = old * cos(angle) - *b * sin(angle);
            *b = *b * cos(angle) + old * sin(angle);
        }
}

static void attend(const llama *m, int layer, const double *q, int at, double *out)
{
    const int head = m->width / m->heads, row = m->kv_heads * head;
    for (int h = 0; h < m->heads; h++) {
        const int from = h / (m->heads / m->kv_heads) * head;
        double weights[256], sum = 0;
        for (int t = 0; t <= at; t++) {
            const double *k = &m->keys[((long)layer * m->context + t) * row + from];
            double score = 0;
            for (int i = 0; i < head; i++) score += q[h * head + i] * k[i];
            sum += weights[t] = exp(score / sqrt(head));
        }
        for (int i = 0; i < head; i++) {
            out[h * head + i] = 0;
            for (int t = 0; t <= at; t++)
                out[h * head + i] += weights[t] / sum * m->values[((long)layer * m->context + t) * row + from + i];
        }
    }
}

static void layer_step(const llama *m, int layer, int at, double *x)
{
    const int head = m->width / m->heads, row = m->kv_heads * head;
    double h[256], q[256], a[256], o[256], gate[512], up[512];
    char prefix[64];
    snprintf(prefix, sizeof prefix, "model.layers.%d.", layer);
    double *k = &m->keys[((long)layer * m->context + at) * row], *v = &m->values[((long)layer * m->context + at) * row];
    norm(weight(m, prefix, "input_layernorm.weight"), x, m->width, h);
    product(weight(m, prefix, "self_attn.q_proj.weight"), h, m->width, m->width, q);
    product(weight(m, prefix, "self_attn.k_proj.weight"), h, row, m->width, k);
    product(weight(m, prefix, "self_attn.v_proj.weight"), h, row, m->width, v);
    rotate(q, m->heads, head, at);
    rotate(k, m->kv_heads, head, at);
    attend(m, layer, q, at, a);
    product(weight(m, prefix, "self_attn.o_proj.weight"), a, m->width, m->width, o);
    for (int i = 0; i < m->width; i++) x[i] += o[i];
    norm(weight(m, prefix, "post_attention_layernorm.weight"), x, m->width, h);
    product(weight(m, prefix, "mlp.gate_proj.weight"), h, m->hidden, m->width, gate);
    product(weight(m, prefix, "mlp.up_proj.weight"), h, m->hidden, m->width, up);
    for (int i = 0; i < m->hidden; i++) gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
    product(weight(m, prefix, "mlp.down_proj.weight"), gate, m->width, m->hidden, o);
    for (int i = 0; i < m->width; i++) x[i] += o[i];
}

static int next_token(const llama *m, int token, int at)
{
    double x[256], h[256], logits[512];
    for (int i = 0; i < m->width; i++) x[i] = weight(m, "", "model.embed_tokens.weight")[(long)token * m->width + i];
    for (int l = 0; l < m->layers; l++) layer_step(m, l, at, x);
    norm(weight(m, "", "model.norm.weight"), x, m->width, h);
    product(weight(m, "", "lm_head.weight"), h, m->vocabulary, m->width, logits);
    int best = 0;
    for (int i = 1; i < m->vocabulary; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

static llama read_model(void)
{
    static char file[8 << 20];
    llama m = {.layers = 2, .width = 64, .heads = 4, .kv_heads = 2, .hidden = 160, .vocabulary = 97, .context = 64};
    char path[256];
    snprintf(path, sizeof path, "%s/model/model.safetensors", folder);
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_gt(fread(file, 1, sizeof file, f), 8);
    fclose(f);
    uint64_t size;
    memcpy(&size, file, 8);
    m.header = json_loadb(file + 8, size, 0, NULL);
    ck_assert_ptr_nonnull(m.header);
    m.data = file + 8 + size;
    const size_t room = (size_t)m.layers * (size_t)m.context * (size_t)(m.kv_heads * m.width / m.heads);
    m.keys = calloc(room, sizeof(double)), m.values = calloc(room, sizeof(double));
    return m;
}

START_TEST(the_llama_example_generates_the_tokens_of_double_precision)
{
    if (!built("make_llama.c", "make_llama") || !built("llama.c", "llama")) return;
    ck_assert_msg(shell("%s/make_llama %s/model", folder, folder) == 0, "%s", output);
    ck_assert_msg(shell("%s import %s/model -o %s/specs/ 2>&1 && test -s %s/specs/full-decode.yaml", getenv("TFGEN"), folder, folder,
                        folder) == 0,
                  "%s", output);
    ck_assert_msg(shell("%s/llama %s/model --device=host --prompt=3,14,15,92 --tokens=12 --context=64 2>%s/err || cat %s/err", folder,
                        folder, folder, folder) == 0,
                  "%s", output);
    llama m = read_model();
    static const int prompt[] = {3, 14, 15, 92};
    char expected[256] = "";
    int token = 0, at = 0;
    for (; at < 4; at++) token = next_token(&m, prompt[at], at);
    for (int i = 0; i < 12; i++) {
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%d%s", token, i < 11 ? " " : "\n");
        token = next_token(&m, token, at++);
    }
    ck_assert_str_eq(output, expected);
    ck_assert_int_eq(shell("%s/llama %s/model --device=host --prompt=3,14,15,92 --tokens=12 --context=64 --stack 2>%s/stack", folder,
                           folder, folder),
                     0);
    ck_assert_str_eq(output, expected);
    ck_assert_int_eq(shell("grep -q '2 layers, 1 kernels in all' %s/stack", folder), 0);
    /* Numbers in f32: q, k, v; o; gate and up; down. Heads of 16 columns consist of two halves of 8, each padded to 16
     * (docs/packing.md). */
    const long one = 4l * ((4 * 32 + 2 * 32 + 32) * 64 + 64 * 64 + 320 * 64 + 64 * 160);
    char bytes[80];
    snprintf(bytes, sizeof bytes, "\n%ld bytes of weights in the layers, 0 of them read by the prompt alone\n", 2 * one);
    ck_assert_int_eq(shell("cat %s/err", folder), 0);
    ck_assert_msg(strstr(output, bytes) != NULL, "%s instead of %s", output, bytes);
    json_decref(m.header);
    free(m.keys);
    free(m.values);
}
END_TEST

START_TEST(the_llama_refuses_a_broken_model_with_a_sentence)
{
    if (!built("llama.c", "llama")) return;
    ck_assert_int_eq(shell("%s/llama %s/nowhere --device=host 2>&1", folder, folder), 1);
    ck_assert_int_eq(
        shell("mkdir -p %s/m && cp %s/model/config.json %s/m && printf 12345678 > %s/m/model.safetensors; %s/llama %s/m --device=host 2>&1",
              folder, folder, folder, folder, folder, folder),
        1);
    ck_assert_ptr_nonnull(strstr(output, "no safetensors file"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("examples");
    tcase_set_timeout(t, 120);
    tcase_add_unchecked_fixture(t, install, uninstall);
    tcase_add_test(t, a_host_program_in_c_agrees_with_double_precision);
    tcase_add_test(t, a_host_program_in_cpp_frees_its_objects);
    tcase_add_test(t, cmake_finds_the_installed_package);
    tcase_add_test(t, the_package_for_python_is_as_its_page_says);
    tcase_add_test(t, a_user_program_may_use_every_name_outside_the_header);
    tcase_add_test(t, cpp_owners_free_their_objects_and_errors_are_exceptions);
    tcase_add_test(t, a_program_built_against_an_older_header_runs);
    tcase_add_test(t, everything_that_documents_name_is_installed);
    tcase_add_test(t, editors_find_the_schema_of_installed_specs);
    tcase_add_test(t, a_package_for_debian_holds_what_is_installed);
    tcase_add_test(t, nothing_that_is_installed_names_the_folder_of_the_build);
    tcase_add_test(t, names_of_folders_may_have_spaces);
    tcase_add_test(t, bash_completes_commands_and_options);
    tcase_add_test(t, fish_completes_commands_and_options);
    tcase_add_test(t, zsh_offers_commands_and_options);
    tcase_add_test(t, uninstalling_leaves_no_file);
    tcase_add_test(t, the_llama_example_generates_the_tokens_of_double_precision);
    tcase_add_test(t, the_llama_refuses_a_broken_model_with_a_sentence);
    Suite *s = suite_create("examples");
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? 1 : 0;
}
