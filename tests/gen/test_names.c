/* Names of a spec in emitted pages: none collides with one of tfgen's, whatever it is (gen/base/names.h). */
#define _GNU_SOURCE
#include "gen/base/names.h"
#include "gen/source/template_text.h"
#include "runtime/compile/libclang.h"
#include "runtime/compile/worker.h"
#include "tests/support.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words of C++, comments aside */
static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The next word from *at on and its size; NULL: there is none. */
static const char *next_word(const char **at, size_t *size)
{
    const char *s = *at;
    while (*s && !(in_word(*s) && !isdigit((unsigned char)*s))) {
        if (s[0] == '/' && s[1] == '/') s += strcspn(s, "\n");
        else if (isdigit((unsigned char)*s))
            while (in_word(*s)) s++;
        else s++;
    }
    for (*size = 0; in_word(s[*size]);) ++*size;
    *at = s + *size;
    return *size ? s : NULL;
}

static bool ends_in(const char *word, size_t size, const char *end)
{
    const size_t n = strlen(end);
    return size > n && memcmp(word + size - n, end, n) == 0;
}

/* The suffix that marks the word as a kind of name of tfgen's; NULL: it has none. */
static const char *mark_of(const char *word, size_t size)
{
    for (int i = 0; i < name_kind_count; i++)
        if (ends_in(word, size, name_marks[i])) return name_marks[i];
    return NULL;
}

START_TEST(no_suffix_of_a_name_ends_in_another_suffix)
{
    for (int i = 0; i < name_kind_count; i++)
        for (int k = 0; k < name_kind_count; k++)
            if (i != k) ck_assert(!ends_in(name_marks[i], strlen(name_marks[i]), name_marks[k]));
}
END_TEST

/* A stem begins with a letter, so __x__ cannot come from a spec; `run_##name` is part of a word. */
START_TEST(no_identifier_of_the_templates_ends_in_an_underscore)
{
    int words = 0;
    for (template_id i = 0; i < template_count; i++) {
        const template_text t = template_at(i);
        char *text = strndup(t.data, t.size);
        size_t size;
        for (const char *at = text, *word; (word = next_word(&at, &size)); words++)
            ck_assert_msg(*word == '_' || strncmp(at, "##", 2) == 0 || !mark_of(word, size), "%s: %.*s", t.name, (int)size, word);
        free(text);
    }
    ck_assert_int_gt(words, 20000);
}
END_TEST

/* ---- stems: identifiers without the suffix that marks their kind (gen/base/names.h) */
START_TEST(a_stem_has_letters_digits_and_single_underscores_within)
{
    static const char *const stems[][2] = {{"gate", "gate"}, {"h2.ss", "h2_ss"}, {"K", "K"},        {"_", "x"},       {"__x_", "x_x"},
                                           {"a__b", "a_b"},  {"a.b", "a_b"},     {"llama-7b", "llama_7b"}, {"2d", "x2d"}, {"a_", "a"}};
    arena *a = arena_new();
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) ck_assert_str_eq(name_stem(a, stems[i][0]), stems[i][1]);
    arena_free(a);
}
END_TEST

static const char alike[] = "block: b_\ndtype: f32\ndims: {d: 2, D: 3}\ndynamic: {d: [1, 4], D: [1, 4]}\n"
                            "inputs: {a: [d, D, 8], a_: [d, D, 8], a__: [d, D, 8], _a: [d, D, 8], d_: [d, D, 8]}\nops:\n"
                            "  - {out: a_2, op: add, in: [a, a_]}\n  - {out: a__2, op: add, in: [a__, _a]}\n"
                            "  - {out: x_a, op: mul, in: [a_2, a__2]}\n  - {out: A, op: add, in: [x_a, d_]}\noutputs: {y: A}\n";

START_TEST(different_values_have_different_names)
{
    for (fusion_level level = fusion_none; level <= fusion_tile; level++) {
        rig *r = rig_open(&(rig_request){.yaml = alike, .level = level});
        const plan *p = r->c.plan;
        const naming n = names_choose(r->a, p->ir);
        for (int i = 0; i < p->ir->value_count; i++) {
            for (int k = 0; k < i; k++) ck_assert_str_ne(n.values[i], n.values[k]);
            for (int d = 0; d < n.dims.count; d++) ck_assert_str_ne(name_marked(r->a, n.values[i], name_value), n.dims.dims[d].name);
        }
        for (int i = 0; i < p->launch_count; i++) {
            ck_assert_ptr_null(strstr(p->launches[i].name, "__"));
            for (int k = 0; k < i; k++) ck_assert_str_ne(p->launches[i].name, p->launches[k].name);
        }
        rig_run(r);
        (void)rig_judge(r);
        rig_close(r);
    }
}
END_TEST

/* ---- pages of a spec whose names contain q0z, which no word of tfgen's own does */
static const char told[] =
    "block: q0z_b\ndtype: bf16\ndims: {q0zB: 2, q0zS: 5, q0zL: 16, D: 64, F: 96}\ndynamic: {q0zB: [1, 4], q0zS: [1, 8]}\n"
    "inputs: {q0zx: [q0zB, q0zS, D], q0zp: {shape: [q0zB], dtype: i32, range: [0, 8]}}\n"
    "params: {q0zn: [D], q0zw: [D, D], q0zg: [F, D], q0zu: [F, D], q0zd: [D, F]}\n"
    "state: {q0zk: [q0zB, 2, q0zL, 32], q0zv: [q0zB, 2, q0zL, 32]}\nops:\n"
    "  - {out: q0zh, op: rmsnorm, in: [q0zx, q0zn]}\n"
    "  - {out: [q0zq, q0z1, q0z2], op: split, in: [q0zx], sizes: [32, 16, 16]}\n"
    "  - {out: q0za, op: linear, in: [q0zh, q0zw]}\n"
    "  - {out: q0zr, op: rope, in: [q0za], heads: 2, pairing: half, at: q0zp}\n"
    "  - {out: q0zi, op: kv_append, in: [q0zr], state: q0zk, at: q0zp}\n"
    "  - {out: q0zj, op: kv_append, in: [q0za], state: q0zv, at: q0zp}\n"
    "  - {out: q0zo, op: attention, in: [q0zr, q0zi, q0zj], heads: 2, at: q0zp, causal: true}\n"
    "  - {out: q0zc, op: concat, in: [q0zq, q0z2, q0z1]}\n"
    "  - {out: q0zs, op: add, in: [q0zo, q0zc]}\n"
    "  - {out: q0zm, op: linear, in: [q0zs, q0zg]}\n  - {out: q0ze, op: linear, in: [q0zs, q0zu]}\n"
    "  - {out: q0zt, op: tanh, in: [q0zm]}\n  - {out: q0zf, op: exp, in: [q0zt]}\n  - {out: q0zy, op: mul, in: [q0zf, q0ze]}\n"
    "  - {out: q0zl, op: softmax, in: [q0zy]}\n  - {out: q0zz, op: linear, in: [q0zl, q0zd]}\noutputs: {y: q0zz}\n";

static void check_words(const char *page, const char *name, int *found)
{
    size_t size;
    const char *at = strchr(page, '\n') + 1;
    for (const char *word; (word = next_word(&at, &size));) {
        const bool of_spec = memmem(word, size, "q0z", 3) != NULL;
        if (at[0] == '.' && strncmp(at, ".hip\"", 5) == 0) continue; /* #line */
        *found += of_spec;
        ck_assert_msg(of_spec == (mark_of(word, size) != NULL), "%s: %.*s", name, (int)size, word);
    }
}

START_TEST(only_names_from_the_spec_end_in_an_underscore)
{
    size_t count;
    const target_info *targets = target_list(&count);
    for (size_t i = 0; i < count; i++)
        for (fusion_level level = fusion_none; level <= fusion_tile; level++) {
            int found = 0;
            rig *r = rig_plan(&(rig_request){.yaml = told, .level = level, .target = targets[i].name});
            const plan *p = r->c.plan;
            for (int k = 0; k < p->launch_count; k++) check_words(p->launches[k].source.body, p->launches[k].name, &found);
            for (int k = 0; k < p->pack_count; k++) check_words(p->packs[k].source.body, p->packs[k].name, &found);
            ck_assert_int_gt(found, 300);
            rig_close(r);
        }
}
END_TEST

/* ---- kernels */
/* One phase has the name that the pack kernel of another phase would get; once before that phase, once after it. */
static const char packs[] = "block: b\ndtype: f32\ndims: {M: 2, D: 16}\ninputs: {x: [M, D]}\nparams: {w: [D, D]}\nops:\n"
                            "  - {out: q_pack, op: linear, in: [x, w]}\n  - {out: q, op: linear, in: [q_pack, w]}\n"
                            "  - {out: k, op: linear, in: [q, w]}\n  - {out: k_pack, op: linear, in: [k, w]}\noutputs: {y: k_pack}\n";

START_TEST(no_two_kernels_have_one_name)
{
    rig *r = rig_plan(&(rig_request){.yaml = packs, .level = fusion_tile, .target = "sm_90a"});
    const plan *p = r->c.plan;
    const char *all[8];
    int count = 0;
    ck_assert(p->launch_count == 4 && p->pack_count == 4);
    for (int i = 0; i < 4; i++) all[count++] = p->launches[i].name, all[count++] = p->packs[i].name;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++) ck_assert_str_ne(all[i], all[k]);
    rig_close(r);
}
END_TEST

/* ---- pages compile whatever names the spec has */
static const char taken[] =
    "block: k0\ndtype: bf16\ndims: {row: 2, K: 64, threads: 5, L: 16}\ndynamic: {row: [1, 4]}\n"
    "inputs: {out: [row, threads, K], p: {shape: [row], dtype: i32, range: [0, 11]}}\n"
    "params: {args: [K, K], c: [K]}\nstate: {batch: [row, 2, L, 32], context: [row, 2, L, 32]}\nops:\n"
    "  - {out: lo, op: rmsnorm, in: [out, c]}\n  - {out: main, op: linear, in: [lo, args]}\n"
    "  - {out: pack, op: rope, in: [main], heads: 2, pairing: half, at: p}\n"
    "  - {out: k0_x, op: kv_append, in: [pack], state: batch, at: p}\n"
    "  - {out: unpack, op: kv_append, in: [main], state: context, at: p}\n"
    "  - {out: and, op: attention, in: [pack, k0_x, unpack], heads: 2, at: p, causal: true}\n"
    "  - {out: threadIdx, op: add, in: [and, out]}\n  - {out: op_silu, op: silu, in: [threadIdx]}\noutputs: {y: op_silu}\n";

static void check_page(const source_text *source, const char *file, const char *target)
{
    libclang_facts f;
    char *log, *whole = source_whole(source);
    ck_assert_ptr_nonnull(whole);
    const code_status s = libclang_check(whole, strlen(whole), file, target, 0, &f, &log);
    char *report = libclang_report(&f, NULL);
    ck_assert_msg(s == build_ok && !*report, "%s for %s: %s%s", file, target, report, log);
    free(report);
    free(log);
    free(whole);
    libclang_facts_free(&f);
}

/* `make test` runs each target at one level. */
START_TEST(sources_with_names_taken_by_vendor_headers_compile_for_every_gpu)
{
    size_t count;
    char *path = libclang_find();
    const target_info *targets = target_list(&count);
    if (!path) {
        printf("skipped: no libclang\n");
        return;
    }
    free(path);
    for (size_t i = 0; i < count; i++) {
        if (targets[i].vendor == vendor_host) continue;
        rig *r = rig_plan(&(rig_request){.yaml = taken, .level = (fusion_level)((i + (size_t)_i) % 3), .target = targets[i].name});
        const plan *p = r->c.plan;
        for (int k = 0; k < p->launch_count; k++) check_page(&p->launches[k].source, p->launches[k].file, targets[i].name);
        for (int k = 0; k < p->pack_count; k++) check_page(&p->packs[k].source, p->packs[k].name, targets[i].name);
        rig_close(r);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("names");
    TCase *t = tcase_create("words");
    tcase_add_test(t, no_suffix_of_a_name_ends_in_another_suffix);
    tcase_add_test(t, no_identifier_of_the_templates_ends_in_an_underscore);
    tcase_add_test(t, a_stem_has_letters_digits_and_single_underscores_within);
    tcase_add_test(t, different_values_have_different_names);
    tcase_add_test(t, no_two_kernels_have_one_name);
    tcase_add_test(t, only_names_from_the_spec_end_in_an_underscore);
    suite_add_tcase(s, t);
    t = tcase_create("compilers");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, sources_with_names_taken_by_vendor_headers_compile_for_every_gpu, 0, 1);
    suite_add_tcase(s, t);
    t = suite_long(s, "all levels", 120);
    tcase_add_loop_test(t, sources_with_names_taken_by_vendor_headers_compile_for_every_gpu, 1, 3);
    return run_suite(s);
}
