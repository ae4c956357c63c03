/* In: emitted sources and what the plan says about them. Out: libclang's findings: a difference from the plan ends the command; libclang's
 * extra messages join the compiler's error message, or are a note on stderr if it compiled. What libclang cannot judge is left to the
 * compiler. */
#include "runtime/cli/emit_check.h"
#include "runtime/compile/page_places.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_answers(void *argument)
{
    const emit_check *c = argument;
    libclang_answers_free(c->answers, (size_t)c->count);
}

/* Hands a malloc'd text to the arena, which frees it. */
static const char *adopted(arena *a, char *text)
{
    if (!text) return "";
    arena_defer(a, free, text);
    return text;
}

static void note_unchecked(const emit_check *c, const libclang_answer *r)
{
    if (*c->noted) return;
    *c->noted = true;
    fprintf(stderr, "note: not checked with libclang, only by the compiler: %s",
            r->log && *r->log ? r->log : "out of memory\n");
}

static void compare(const emit_check *c, const libclang_expected *expected)
{
    for (int i = 0; i < c->count; i++) {
        const libclang_answer *r = &c->answers[i];
        if (r->status != build_ok && r->status != build_failed) note_unchecked(c, r);
        const char *difference = r->status == build_ok ? adopted(c->a, libclang_difference(&r->facts, &expected[i])) : "";
        if (*difference)
            bail(c->a, code_compile_failed, (position){0}, "internal error: %s: %s (%s); please report it", c->requests[i].name,
                 difference, r->facts.version);
    }
}

emit_check emit_check_start(arena *a, const code_request *requests, const libclang_expected *expected, int count, int jobs,
                            bool *noted)
{
    emit_check *c = arena_alloc(a, sizeof *c);
    *c = (emit_check){a, requests, arena_alloc(a, ((size_t)count + 1) * sizeof *c->answers), count, noted};
    libclang_check_all(requests, (size_t)count, jobs, c->answers);
    arena_defer(a, free_answers, c);
    compare(c, expected);
    return *c;
}

const char *emit_check_report(const emit_check *c, int i, const code_result *compiled)
{
    const libclang_answer *r = &c->answers[i];
    char *said = libclang_report(&r->facts, compiled->log);
    page_log_place(c->requests[i].source, c->requests[i].size, c->requests[i].name, &said);
    const char *report = adopted(c->a, said);
    if (compiled->status != build_ok || !*report) return report;
    fprintf(stderr, "note: %s: %s says what %s does not:\n%s", c->requests[i].name, r->facts.version, compiled->compiler, report);
    return "";
}
