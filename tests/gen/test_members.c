/* Spec structs as a person and a compiler read them. Every member is used, by a template or by another member; that templates get all
 * members that they use is tested in tests/runtime/test_libclang.c. */
#include "tests/support.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* How often `text` has `word` directly after `before`. */
static int count_words(const char *text, const char *before, const char *word)
{
    char wanted[160];
    const int size = snprintf(wanted, sizeof wanted, "%s%s", before, word);
    int count = 0;
    ck_assert_int_lt(size, sizeof wanted);
    for (const char *at = strstr(text, wanted); at; at = strstr(at + 1, wanted))
        count += !is_word(at[size]) && (at == text || !is_word(at[-1]));
    return count;
}

/* True if a template uses the member, also in a form such as "S::template a<V>()". */
static bool is_asked_for(const launch *l, const char *member)
{
    return count_words(l->source.templates, "S::", member) || count_words(l->source.templates, "S::template ", member) ||
           count_words(strstr(l->spec_header, "\nstruct "), "", member) > 1;
}

static void check_member(const launch *l, const char *name, size_t size)
{
    char member[100];
    ck_assert_uint_lt(size, sizeof member);
    snprintf(member, sizeof member, "%.*s", (int)size, name);
    ck_assert_msg(is_asked_for(l, member), "%s, %.100s: nobody asks for %s", l->name, l->spec_header, member);
}

/* The word ahead of `end`. */
static void check_word_ahead(const launch *l, const char *from, const char *end)
{
    while (end > from && !is_word(end[-1])) end--;
    const char *start = end;
    while (start > from && is_word(start[-1])) start--;
    check_member(l, start, (size_t)(end - start));
}

/* A line at the struct's own depth: constants, a type, or a function. */
static int check_line(const launch *l, const char *line, size_t size)
{
    const char *end = line + size, *bracket = memchr(line, '(', size), *sign = memchr(line, '=', size);
    if (strncmp(line, "static constexpr", 16) == 0 && sign && (!bracket || sign < bracket)) {
        int count = 0;
        for (; sign; sign = memchr(sign + 1, '=', (size_t)(end - sign - 1)), count++) check_word_ahead(l, line, sign);
        return count;
    }
    if (strncmp(line, "using ", 6) == 0 && sign) return check_word_ahead(l, line, sign), 1;
    if (strncmp(line, "struct ", 7) == 0) return check_member(l, line + 7, strcspn(line + 7, " {")), 1;
    const char *function = strstr(line, "DEV ");
    bracket = function && function < end ? memchr(function, '(', (size_t)(end - function)) : NULL;
    return bracket ? check_word_ahead(l, function, bracket), 1 : 0;
}

static int check_members(const launch *l)
{
    int count = 0;
    const char *line = strchr(strstr(l->spec_header, "\nstruct ") + 1, '\n') + 1;
    for (; strncmp(line, "};", 2) != 0; line += strcspn(line, "\n") + 1)
        if (strncmp(line, "    ", 4) == 0 && line[4] != ' ' && line[4] != '}') count += check_line(l, line + 4, strcspn(line + 4, "\n"));
    return count;
}

/* Long lines are wrapped. #line tells compilers the place in each template and, once, in the page: "#line 7" must be on line 6. */
static void check_lines(arena *a, const launch *l)
{
    int number = 1, pages = 0;
    const char *own = arena_printf(a, "\"%s\"\n", l->file);
    for (const char *line = source_join(a, &l->source); *line; line += strcspn(line, "\n") + 1, number++) {
        const size_t size = strcspn(line, "\n");
        char *behind = NULL;
        ck_assert_msg(size <= 140 || strncmp(line, "// Written", 10) == 0, "%s: %zu columns: %.200s", l->name, size, line);
        const long claimed = strncmp(line, "#line ", 6) == 0 ? strtol(line + 6, &behind, 10) : 0;
        if (!claimed) continue;
        const bool is_page = strncmp(behind + 1, own, strlen(own)) == 0;
        ck_assert_int_eq(claimed, is_page ? number + 1 : 1);
        ck_assert(is_page || strncmp(behind, " \"templates/", 12) == 0);
        pages += is_page;
    }
    ck_assert_int_eq(pages, 1);
}

static const struct {
    const char *path, *tile; /* the tile of all its products or attentions, or NULL */
    fusion_level level;
} specs[] = {{"specs/llama-block.yaml", NULL, fusion_tile},
             {"specs/llama-block.yaml", NULL, fusion_none},
             {"specs/llama-decode.yaml", NULL, fusion_tile},
             {"specs/gpt2-decode.yaml", NULL, fusion_none},
             {"specs/gpt2-block.yaml", NULL, fusion_tile},
             {"specs/attention.yaml", NULL, fusion_ops},
             {"specs/softmax.yaml", NULL, fusion_tile},
             {"tests/specs/every-op.yaml", NULL, fusion_tile},
             {"specs/llama-block.yaml", "gemm: layer=simt", fusion_tile},
             {"specs/llama-block.yaml", "gemm: layer=skinny", fusion_tile},
             {"specs/llama-decode.yaml", "attention: layer=decode_simt", fusion_tile}};

START_TEST(a_spec_struct_has_only_members_that_its_template_takes_in_lines_of_140_columns)
{
    static const char *const targets[] = {"host", "sm_80", "sm_90a", "gfx950", "gfx942", "gfx1100"}, *const types[] = {"bf16", "f32"};
    const tuning lines = {.lines = &specs[_i].tile, .count = specs[_i].tile != NULL};
    int members = 0;
    for (size_t t = 0; t < 2 * sizeof targets / sizeof *targets; t++) {
        const char *target = targets[t / 2], *of_tile = specs[_i].tile;
        if (of_tile && strstr(of_tile, "skinny") && strcmp(target, "host") == 0) continue;
        rig *r = rig_plan(&(rig_request){.path = specs[_i].path,
                                         .level = specs[_i].level,
                                         .target = target,
                                         .dtype = types[t % 2],
                                         .tuning = of_tile ? &lines : NULL});
        for (int i = 0; i < r->c.plan->launch_count; i++) {
            members += check_members(&r->c.plan->launches[i]);
            check_lines(r->a, &r->c.plan->launches[i]);
        }
        rig_close(r);
    }
    ck_assert_int_gt(members, 50);
}
END_TEST

/* Layers that the planner does not choose at the sizes of these specs. */
START_TEST(spec_structs_of_requested_layers_have_only_needed_members)
{
    static const struct {
        const char *target, *dtype, *tile;
    } layers[] = {{"sm_90a", "bf16", "gemm: layer=swap_ab"},
                  {"sm_90a", "bf16", "gemm: layer=wgmma split_k=2"},
                  {"sm_90a", "bf16", "gemm: layer=wgmma split_k=1"},
                  {"sm_90a", "f32", "gemm: layer=wgmma_3xtf32"},
                  {"sm_90a", "bf16", "gemm: layer=mma"},
                  {"sm_90a", "bf16", "gemm: layer=register_fed"},
                  {"gfx942", "bf16", "gemm: layer=register_fed"},
                  {"gfx1100", "bf16", "gemm: layer=wmma"}};
    const tuning lines = {.lines = &layers[_i].tile, .count = 1};
    rig *r = rig_plan(&(rig_request){.path = "specs/llama-block.yaml",
                                     .level = fusion_tile,
                                     .target = layers[_i].target,
                                     .dtype = layers[_i].dtype,
                                     .tuning = &lines});
    for (int i = 0; i < r->c.plan->launch_count; i++) check_members(&r->c.plan->launches[i]);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("members");
    TCase *t = tcase_create("members");
    tcase_add_loop_test(t, a_spec_struct_has_only_members_that_its_template_takes_in_lines_of_140_columns, 0,
                        (int)(sizeof specs / sizeof *specs));
    tcase_add_loop_test(t, spec_structs_of_requested_layers_have_only_needed_members, 0, 8);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
