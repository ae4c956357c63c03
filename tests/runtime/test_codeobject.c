/* Code objects as files: what is read from them, and that broken ones are refused safely. */
#define _GNU_SOURCE
#include "runtime/compile/codeobject.h"
#include "runtime/compile/compiler.h"
#include "runtime/compile/msgpack.h"
#include "runtime/compile/worker.h"
#include "tests/runtime/tiny_kernel.h"
#include <check.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = TINY_PREFIX TINY_KERNEL;

typedef struct sample {
    const char *arch;
    compiler_kind compiler;
    char *(*find)(void);
    const char *lacking;
} sample;

static const sample samples[] = {
    {"gfx90a", compiler_hiprtc, hiprtc_find, "no HIPRTC"},
    {"gfx942", compiler_clang, clang_find, "no clang"},
    {"gfx1201", compiler_clang, clang_find, "no clang"},
    {"sm_80", compiler_nvrtc, nvrtc_find, "no NVRTC"},
    {"sm_90a", compiler_nvrtc, nvrtc_find, "no NVRTC"},
};
enum { sample_count = sizeof samples / sizeof *samples };

/* False, with a line that says so, when the compiler is not on this machine. */
static bool build(const sample *s, code_result *r)
{
    char *path = s->find();
    const code_request q = {source, strlen(source), "tiny.hip", s->arch, s->compiler, 60};
    if (!path) return printf("skipped: %s: %s\n", s->arch, s->lacking), false;
    free(path);
    ck_assert_msg(code_compile(&q, r) == build_ok, "%s", r->log);
    return true;
}

/* Reads a copy of exactly this size, so that a sanitizer sees a read past the end. What is accepted must be usable. */
static bool survives(const unsigned char *bytes, size_t size)
{
    unsigned char *exact = malloc(size ? size : 1);
    char error[codeobject_error_size] = "";
    codeobject c;
    memcpy(exact, bytes, size);
    const bool read = codeobject_read(exact, size, &c, error);
    ck_assert(read == (*error == 0));
    for (size_t i = 0; read && i < c.n_kernels; i++) ck_assert(strlen(c.kernels[i].name) > 0);
    if (read) codeobject_free(&c);
    free(exact);
    return read;
}

static uint32_t next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

START_TEST(a_truncated_code_object_is_refused)
{
    code_result r;
    if (!build(&samples[_i], &r)) return;
    ck_assert(survives(r.code, r.code_size));
    for (size_t size = 0; size < 64; size++) ck_assert(!survives(r.code, size));
    size_t accepted = 0; /* only unused bytes may be missing: padding at the end */
    for (size_t size = 64; size < r.code_size; size++) accepted += survives(r.code, size);
    ck_assert_uint_lt(accepted, 64);
    code_result_free(&r);
}
END_TEST

START_TEST(a_code_object_with_flipped_bits_does_not_crash_the_reader)
{
    code_result r;
    uint32_t state = 0x9e3779b9;
    size_t refused = 0;
    if (!build(&samples[_i], &r)) return;
    for (size_t bit = 0; bit < r.code_size * 8; bit += 1 + (r.code_size > 8192) * 2) { /* one at a time */
        r.code[bit / 8] ^= (unsigned char)(1u << bit % 8);
        refused += !survives(r.code, r.code_size);
        r.code[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    ck_assert_uint_gt(refused, 100);
    unsigned char *broken = malloc(r.code_size);
    for (int round = 0; round < 5000; round++) { /* several at once, extreme bytes among them */
        memcpy(broken, r.code, r.code_size);
        for (unsigned n = 1 + next(&state) % 16; n; n--) {
            const unsigned how = next(&state);
            broken[next(&state) % r.code_size] = how % 3 == 0 ? 0xff : how % 3 == 1 ? 0 : (unsigned char)(how >> 8);
        }
        survives(broken, r.code_size);
    }
    free(broken);
    code_result_free(&r);
}
END_TEST

/* The file with one more section before all others; the section table moves to the end. The caller frees it. */
static unsigned char *with_section(const code_result *r, unsigned type, size_t *size)
{
    Elf64_Ehdr head;
    Elf64_Shdr s;
    memcpy(&head, r->code, sizeof head);
    *size = r->code_size + (head.e_shnum + 1u) * sizeof s;
    unsigned char *bytes = calloc(1, *size), *table = bytes + r->code_size;
    memcpy(bytes, r->code, r->code_size);
    for (unsigned i = 0; i < head.e_shnum; i++) {
        memcpy(&s, r->code + head.e_shoff + i * sizeof s, sizeof s);
        if (s.sh_link) s.sh_link++;
        memcpy(table + (i ? i + 1 : 0) * sizeof s, &s, sizeof s);
    }
    s = (Elf64_Shdr){.sh_type = type, .sh_link = 1};
    memcpy(table + sizeof s, &s, sizeof s);
    head.e_shoff = r->code_size, head.e_shnum++, head.e_shstrndx++;
    memcpy(bytes, &head, sizeof head);
    return bytes;
}

/* Thousands of tables with thousands of symbols each, looked through for each of hundreds of kernels, would take hours. */
START_TEST(only_one_symbol_table_is_searched)
{
    code_result r;
    codeobject c;
    char error[codeobject_error_size];
    size_t size;
    if (!build(&samples[1], &r)) return;
    unsigned char *none = with_section(&r, SHT_NULL, &size), *two = with_section(&r, SHT_DYNSYM, &size);
    ck_assert_msg(codeobject_read(none, size, &c, error), "%s", error);
    codeobject_free(&c);
    ck_assert(!codeobject_read(two, size, &c, error));
    ck_assert_ptr_nonnull(strstr(error, "has no descriptor symbol"));
    free(none);
    free(two);
    code_result_free(&r);
}
END_TEST

START_TEST(facts_of_a_kernel_are_read_from_the_code_object_alone)
{
    code_result r;
    codeobject c;
    char error[codeobject_error_size];
    if (!build(&samples[_i], &r)) return;
    ck_assert_msg(codeobject_read(r.code, r.code_size, &c, error), "%s", error);
    ck_assert_str_eq(c.arch, strcmp(samples[_i].arch, "sm_90a") ? samples[_i].arch : "sm_90");
    ck_assert_uint_eq(c.n_kernels, 1);
    const kernel_facts *k = &c.kernels[0], *with_log = &r.kernels[0];
    ck_assert_str_eq(k->name, "tiny");
    ck_assert_uint_eq(k->lds_bytes, 1024);
    ck_assert_uint_eq(k->kernarg_bytes, 24);
    ck_assert_uint_eq(k->max_threads, 256);
    ck_assert_uint_eq(k->vgprs, with_log->vgprs);
    ck_assert_uint_gt(k->vgprs, 0);
    codeobject_free(&c);
    code_result_free(&r);
}
END_TEST

START_TEST(descriptor_and_metadata_must_agree)
{
    code_result r;
    codeobject c;
    char error[codeobject_error_size];
    if (!build(&samples[1], &r)) return;
    unsigned char *descriptor = NULL; /* 64 bytes that begin with LDS 1024, scratch 0, arguments 24 */
    for (size_t i = 0; i + 64 <= r.code_size && !descriptor; i += 4)
        if (!memcmp(r.code + i, (const uint32_t[]){1024, 0, 24}, 12)) descriptor = r.code + i;
    ck_assert_ptr_nonnull(descriptor);
    descriptor[4] = 16;
    ck_assert(!codeobject_read(r.code, r.code_size, &c, error));
    ck_assert_ptr_nonnull(strstr(error, "disagree"));
    code_result_free(&r);
}
END_TEST

/* An edit of the file: at `from` (a text, or the beginning), plus an offset; what is written there, and the message that follows. */
static const struct {
    const char *text;
    int from, size;
    uint64_t value;
    const char *message;
} changed_fields[] = {
    {"AMDGPU", -12, 4, 8, "no AMDGPU metadata"}, /* a note's head: the length of its name, of its contents, its type */
    {"AMDGPU", -8, 4, 0x7fffffff, "a note does not fit its segment"},
    {"AMDGPU", -4, 4, 33, "no AMDGPU metadata"},
    {"AMDGPU", 5, 1, 'V', "no AMDGPU metadata"},
    {"amdhsa.target", 12, 1, 'x', "the metadata names no target"},
    {"gfx942", 5, 1, 'X', "odd target name"},
    {".symbol", 6, 1, 'x', "has no descriptor symbol"},
    {".group_segment_fixed_size", 24, 1, 'x', "disagree"},
    {".private_segment_fixed_size", 26, 1, 'x', ""}, /* read as 0 bytes, as without the key */
    {".kernarg_segment_size", 20, 1, 'x', "disagree"},
    {NULL, 18, 2, 62, "an ELF file for machine 62, neither AMDGPU nor CUDA"},
    {NULL, 32, 8, 1ull << 40, "program headers are outside the file"},
};

START_TEST(a_changed_field_is_refused_with_its_sentence)
{
    code_result r;
    if (!build(&samples[1], &r)) return;
    for (size_t i = 0; i < sizeof changed_fields / sizeof *changed_fields; i++) {
        const char *text = changed_fields[i].text, *message = changed_fields[i].message;
        char error[codeobject_error_size] = "";
        codeobject c;
        unsigned char *copy = malloc(r.code_size), *at = copy;
        memcpy(copy, r.code, r.code_size);
        if (text) at = memmem(copy, r.code_size, text, strlen(text));
        ck_assert_msg(at != NULL, "no %s", text);
        memcpy(at + changed_fields[i].from, &changed_fields[i].value, (size_t)changed_fields[i].size);
        const bool read = codeobject_read(copy, r.code_size, &c, error);
        ck_assert_msg(read == !*message && strstr(error, message), "%zu: expected '%s', said '%s'", i, message, error);
        if (read) codeobject_free(&c);
        free(copy);
    }
    code_result_free(&r);
}
END_TEST

/* A bundle as clang writes it: magic, entry count, entries of (offset, size, name length, name), then the contents. */
static size_t bundle(unsigned char *out, const char *name, const void *content, size_t size)
{
    const uint64_t length = strlen(name), start = 4096, head[] = {1, start, size, length};
    memset(out, 0, start);
    memcpy(out, "__CLANG_OFFLOAD_BUNDLE__", 24);
    memcpy(out + 24, head, sizeof head);
    memcpy(out + 24 + sizeof head, name, length);
    memcpy(out + start, content, size);
    return start + size;
}

START_TEST(a_bundle_is_opened_for_its_architecture_only)
{
    code_result r;
    const unsigned char *inner;
    size_t size;
    if (!build(&samples[1], &r)) return;
    unsigned char *made = malloc(4096 + r.code_size);
    const size_t all = bundle(made, "hipv4-amdgcn-amd-amdhsa--gfx942", r.code, r.code_size);
    ck_assert(codeobject_unbundle(made, all, "gfx942:xnack-", &inner, &size));
    ck_assert(size == r.code_size && !memcmp(inner, r.code, size));
    ck_assert(!codeobject_unbundle(made, all, "gfx90a", &inner, &size));
    ck_assert(survives(made, all));
    for (size_t n = 24; n < all; n++) {
        unsigned char *exact = malloc(n);
        memcpy(exact, made, n);
        ck_assert(!codeobject_unbundle(exact, n, "gfx942", &inner, &size));
        free(exact);
    }
    bundle(made, "host-x86_64-unknown-linux--", r.code, r.code_size);
    ck_assert(!codeobject_unbundle(made, all, NULL, &inner, &size));
    free(made);
    code_result_free(&r);
}
END_TEST

START_TEST(other_files_are_refused_with_a_sentence)
{
    codeobject c;
    char error[codeobject_error_size];
    unsigned char self[4096];
    FILE *f = fopen("/proc/self/exe", "rb");
    const size_t n = fread(self, 1, sizeof self, f);
    fclose(f);
    ck_assert(!codeobject_read("", 0, &c, error));
    ck_assert_str_eq(error, "shorter than an ELF header");
    ck_assert(!codeobject_read(self, n, &c, error)); /* a program of this machine, cut short */
    ck_assert(strlen(error) > 0);
    memset(self, 'x', sizeof self);
    ck_assert(!codeobject_read(self, sizeof self, &c, error));
    ck_assert_str_eq(error, "not a 64-bit little-endian ELF file");
}
END_TEST

START_TEST(msgpack_values_are_read_in_order)
{
    /* {"a": [1, 300, -1, "xyz"], "b": {nil: 2.0}} */
    static const unsigned char bytes[] = {0x82, 0xa1, 'a',  0x94, 1,    0xcd, 1, 44, 0xff, 0xa3, 'x', 'y', 'z',
                                          0xa1, 'b',  0x81, 0xc0, 0xcb, 0x40, 0, 0,  0,    0,    0,   0,   0};
    msgpack m = {bytes, bytes + sizeof bytes, false};
    size_t n;
    ck_assert_uint_eq(msgpack_map(&m), 2);
    ck_assert(!memcmp(msgpack_string(&m, &n), "a", 1) && n == 1);
    ck_assert_uint_eq(msgpack_array(&m), 4);
    ck_assert_uint_eq(msgpack_unsigned(&m), 1);
    ck_assert_uint_eq(msgpack_unsigned(&m), 300);
    msgpack_skip(&m);
    ck_assert(!memcmp(msgpack_string(&m, &n), "xyz", 3) && n == 3);
    msgpack_skip(&m);
    msgpack_skip(&m);
    ck_assert(!m.bad && m.at == m.end);
    msgpack_skip(&m);
    ck_assert(m.bad);
}
END_TEST

START_TEST(hostile_msgpack_is_refused_at_once)
{
    static const unsigned char many[] = {0xdd, 0xff, 0xff, 0xff, 0xff, 1, 2, 3},
                               string[] = {0xdb, 0xff, 0xff, 0xff, 0xff, 'a'};
    unsigned char deep[4096];
    msgpack m = {many, many + sizeof many, false};
    size_t n;
    ck_assert_uint_eq(msgpack_array(&m), 0);
    ck_assert(m.bad);
    m = (msgpack){many, many + sizeof many, false};
    msgpack_skip(&m);
    ck_assert(m.bad);
    m = (msgpack){string, string + sizeof string, false};
    ck_assert_ptr_null(msgpack_string(&m, &n));
    ck_assert(m.bad && n == 0);
    memset(deep, 0x91, sizeof deep); /* nested arrays with a number inside */
    for (size_t depth = 60; depth < sizeof deep; depth += 10) {
        deep[depth] = 1;
        m = (msgpack){deep, deep + depth + 1, false};
        msgpack_skip(&m);
        ck_assert(m.bad == (depth > 64));
        deep[depth] = 0x91;
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("codeobject");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_truncated_code_object_is_refused, 0, sample_count);
    tcase_add_loop_test(t, a_code_object_with_flipped_bits_does_not_crash_the_reader, 0, sample_count);
    tcase_add_test(t, only_one_symbol_table_is_searched);
    tcase_add_loop_test(t, facts_of_a_kernel_are_read_from_the_code_object_alone, 0, sample_count);
    tcase_add_test(t, descriptor_and_metadata_must_agree);
    tcase_add_test(t, a_bundle_is_opened_for_its_architecture_only);
    tcase_add_test(t, a_changed_field_is_refused_with_its_sentence);
    tcase_add_test(t, other_files_are_refused_with_a_sentence);
    tcase_add_test(t, msgpack_values_are_read_in_order);
    tcase_add_test(t, hostile_msgpack_is_refused_at_once);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
