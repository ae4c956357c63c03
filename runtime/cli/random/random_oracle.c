/* In: a spec with correct results at a level. Out: whether equivalent texts give equal sources.
 *
 * text: the text of every stage, read back, gives the same source.
 * dead: unused ops, which only a stage's text can have, change no byte of the source.
 * names: with other names the source differs in those names only. */
#include "runtime/cli/random/random_oracle.h"
#include "gen/base/names.h"
#include "ir/base/names.h"
#include "runtime/cli/cli.h"
#include "runtime/data/random.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct pass {
    arena *a;
    const compile_request *request;
    compiled out;
    text stages[stage_count];
} pass;

static void keep(void *context, stage at, const char *words) { text_printf(&((pass *)context)->stages[at], "%s", words); }

static void compile_pass(void *argument)
{
    pass *p = argument;
    compile_request r = *p->request;
    r.dump = keep;
    r.dump_context = p;
    r.dump_stages = (1u << stage_count) - 1;
    compile_inside(p->a, &r, &p->out);
}

/* The text of all stages; false: the compile failed, and `mine` has the error. */
static bool run_pass(arena *a, const compile_request *request, const char *what, pass *p, random_level_report *mine)
{
    *p = (pass){.a = a, .request = request};
    for (int i = 0; i < stage_count; i++) p->stages[i].a = a;
    const tfgen_code code = arena_run(a, compile_pass, p);
    if (code == code_ok) return true;
    mine->outcome = random_internal;
    snprintf(mine->message, sizeof mine->message, "error: internal: %s is refused: %s", what, arena_diagnostics(a));
    return false;
}

/* Reports the first difference of two texts by a line of each. */
static void tell_difference(random_level_report *mine, const char *what, const char *expected, const char *got)
{
    size_t at = 0, line = 0;
    for (; expected[at] && expected[at] == got[at]; at++)
        if (expected[at] == '\n') line = at + 1;
    mine->outcome = random_internal;
    snprintf(mine->message, sizeof mine->message, "error: internal: %s differs: '%.*s' became '%.*s'", what,
             (int)strcspn(expected + line, "\n"), expected + line, (int)strcspn(got + line, "\n"), got + line);
}

/* ---- text */
static void ask_text(const compile_request *r, const pass *first, random_level_report *mine)
{
    bool good = true;
    for (stage s = stage_graph; good && s <= stage_plan; s++) {
        arena *a = arena_new();
        compile_request again = *r;
        pass second;
        char what[64];
        again.from_ir = true, again.from = s, again.text = first->stages[s].data, again.size = first->stages[s].size;
        snprintf(what, sizeof what, "the text of stage %s", stage_names[s]);
        good = run_pass(a, &again, what, &second, mine);
        for (stage k = s; good && k < stage_count; k++) {
            good = strcmp(first->stages[k].data, second.stages[k].data) == 0;
            snprintf(what, sizeof what, "%s read back from stage %s", stage_names[k], stage_names[s]);
            if (!good) tell_difference(mine, what, first->stages[k].data, second.stages[k].data);
        }
        arena_free(a);
    }
}

/* ---- dead ops */
/* Appends unused ops on a few results; a line of a graph is "%t007 bf16[B,S,64] = add ... !9:5 #3". */
static char *with_dead_ops(arena *a, const char *graph, uint64_t seed)
{
    text t = {.a = a};
    int ops = 0, dead = 0;
    text_printf(&t, "%s", graph);
    for (const char *line = graph; *line; line += strcspn(line, "\n"), line += *line == '\n') ops += *line == '%';
    for (const char *line = graph; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char name[32], type[160], in[8];
        const bool made = *line == '%' && sscanf(line, "%31s %159s %7s", name, type, in) == 3 && strcmp(in, "=") == 0;
        if (!made || random_bits(seed, random_stream("dead"), (uint64_t)dead) % 3) continue;
        if (strchr(type, ']')) strchr(type, ']')[1] = '\0'; /* no caller gives a row stride */
        text_printf(&t, "%%dead.%d %s = neg %s !1:1 #%d\n", dead, type, name, ops + dead);
        dead++;
    }
    return dead ? t.data : NULL;
}

static void ask_dead(const random_case *c, const compile_request *r, const pass *first, random_level_report *mine)
{
    arena *a = arena_new();
    pass second;
    compile_request again = *r;
    again.from_ir = true, again.from = stage_graph, again.text = with_dead_ops(a, first->stages[stage_graph].data, c->data_seed);
    if (again.text) {
        again.size = strlen(again.text);
        if (run_pass(a, &again, "a graph with dead ops", &second, mine) &&
            strcmp(first->stages[stage_source].data, second.stages[stage_source].data) != 0)
            tell_difference(mine, "the source with dead ops", first->stages[stage_source].data, second.stages[stage_source].data);
    }
    arena_free(a);
}

/* ---- names */
static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The next token of C++ from *at on, skipping blanks and comments (comments spell names as the spec does). */
static char *next_token(arena *a, const char **at)
{
    const char *s = *at;
    while (isspace((unsigned char)*s) || (s[0] == '/' && s[1] == '/')) s += *s == '/' ? strcspn(s, "\n") : 1;
    size_t size = *s != 0;
    while (in_word(*s) && in_word(s[size])) size++;
    *at = s + size;
    return arena_strndup(a, s, size);
}

/* The mark (gen/base/names.h) in which an identifier made from a name of the spec ends; NULL: another word, or a part of one in a macro's
 * `quick_##name`. */
static const char *mark_of(const char *word, const char *behind)
{
    if (strncmp(behind, "##", 2) == 0) return NULL;
    const size_t size = strlen(word);
    for (int i = 0; i < name_kind_count; i++) {
        const size_t n = strlen(name_marks[i]);
        if (isalpha((unsigned char)*word) && size > n && strcmp(word + size - n, name_marks[i]) == 0) return name_marks[i];
    }
    return NULL;
}

static bool always(name_map *of, const char *word, char *other)
{
    const char *before = names_find(of, word);
    if (!before) names_add(of, word, other);
    return !before || strcmp(before, other) == 0;
}

/* True if ".hip" follows: the word is the file of a #line, which is named after the kernel. */
static bool is_file(const char *behind) { return strncmp(behind, ".hip\"", 5) == 0; }

/* True if the sources are equal up to a consistent renaming of the spec's names; else *x and *y are at the first difference. */
static bool same_but_for_names(arena *a, const char **x, const char **y)
{
    name_map other = {.a = a}, back = {.a = a};
    while (true) {
        const char *const from = *x, *const with = *y;
        char *p = next_token(a, x), *q = next_token(a, y);
        const char *mark = mark_of(p, *x), *same = mark_of(q, *y);
        const bool names = (mark && mark == same && always(&other, p, q) && always(&back, q, p)) || (is_file(*x) && is_file(*y));
        if (!*p && !*q) return true;
        if (names || (!mark && !same && strcmp(p, q) == 0)) continue;
        *x = from, *y = with;
        return false;
    }
}

static void ask_names(const random_case *c, const compile_request *r, const pass *first, random_level_report *mine)
{
    arena *a = arena_new();
    pass second;
    random_spec *renamed = arena_alloc(a, sizeof *renamed);
    compile_request again = *r;
    *renamed = *c->spec;
    random_spec_rename(renamed, c->data_seed);
    again.text = random_spec_text(a, renamed, c->comment);
    again.size = strlen(again.text);
    if (run_pass(a, &again, "the spec under other names", &second, mine)) {
        const char *x = first->stages[stage_source].data, *y = second.stages[stage_source].data;
        if (!same_but_for_names(a, &x, &y)) tell_difference(mine, "the source under other names", x, y);
    }
    arena_free(a);
}

void random_oracles_ask(const random_case *c, const char *level, const random_results *results, random_level_report *mine)
{
    arena *a = arena_new();
    const random_trial t = {.c = c, .yaml = c->yaml, .level = level, .target = c->target};
    const compile_request r = random_request(&t);
    pass first;
    if (c->oracles & (oracle_text | oracle_dead | oracle_names) && run_pass(a, &r, "the spec", &first, mine)) {
        if (c->oracles & oracle_text) ask_text(&r, &first, mine);
        if (mine->outcome == random_good && c->oracles & oracle_dead) ask_dead(c, &r, &first, mine);
        if (mine->outcome == random_good && c->oracles & oracle_names) ask_names(c, &r, &first, mine);
    }
    arena_free(a);
    if (mine->outcome == random_good && !c->plan_only) random_oracles_run(c, level, results, mine);
}
