/* In: golden files of IR text. Out: their parts, and a comparison that rewrites the file under TFGEN_GOLDEN_UPDATE=1. A missing file
 * fails the test. A file may begin with lines "# level tile" and "# no rope kv_append"; "---" separates before from after. */
#ifndef TFGEN_TESTS_IR_GOLDEN_H
#define TFGEN_TESTS_IR_GOLDEN_H
#include "ir/ir.h"
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct golden {
    arena *a; /* holds the file; free with arena_free() */
    const char *path;
    char *head, *before, *after; /* after: "" when there is none yet */
    const char *disabled[8];
    size_t disabled_count;
    fusion_level level;
} golden;

/* The outcome of one function run in a fresh arena; `errors` holds its messages. */
typedef struct attempt {
    arena *a;
    tfgen_code code;
    char errors[8192];
} attempt;

static inline char *read_text_file(arena *a, const char *path)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s cannot be opened", path);
    char *text = arena_alloc(a, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    ck_assert_msg(n < (1 << 20) - 1, "%s is too long", path);
    fclose(f);
    return text;
}

static inline void read_directive(golden *g, char *line)
{
    static const char *const levels[] = {"none", "ops", "tile", "block"};
    char *word = strtok(line, " ");
    bool is_level = word && strcmp(word, "level") == 0;
    while ((word = strtok(NULL, " "))) {
        for (int i = 0; i < 4 && is_level; i++)
            if (strcmp(word, levels[i]) == 0) g->level = (fusion_level)i;
        if (!is_level) g->disabled[g->disabled_count++] = word;
    }
}

static inline golden read_golden(const char *path)
{
    golden g = {.a = arena_new(), .path = path, .level = fusion_tile};
    char *text = read_text_file(g.a, path), *mark = strstr(text, "\n---\n");
    g.after = mark ? mark + 5 : text + strlen(text);
    if (mark) mark[1] = 0;
    char *ir = text;
    while (*ir == '#') ir = strchr(ir, '\n') + 1;
    g.head = arena_strndup(g.a, text, (size_t)(ir - text));
    g.before = ir;
    for (char *line = arena_strdup(g.a, g.head), *next; line && *line == '#'; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        read_directive(&g, line + 2);
    }
    return g;
}

static inline bool golden_updates(void)
{
    const char *update = getenv("TFGEN_GOLDEN_UPDATE");
    return update && *update && strcmp(update, "0") != 0;
}

static inline void compare_golden(const golden *g, const char *after)
{
    if (golden_updates()) {
        FILE *f = fopen(g->path, "wb");
        ck_assert_ptr_nonnull(f);
        fprintf(f, "%s%s---\n%s", g->head, g->before, after);
        ck_assert_int_eq(fclose(f), 0);
        return;
    }
    ck_assert_msg(strcmp(g->after, after) == 0, "%s: expected\n%s\nis\n%s", g->path, g->after, after);
}

static inline void attempt_run(attempt *t, void (*body)(void *), void *argument)
{
    t->a = arena_new();
    t->code = arena_run(t->a, body, argument);
    snprintf(t->errors, sizeof t->errors, "%s", arena_diagnostics(t->a));
}
#endif
