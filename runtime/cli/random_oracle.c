/* In: a spec that came out right at a level. Out: whether it stays the same in other words. Refuses nothing.
 *
 * text: what every stage prints is read back and leads to the very same source. */
#include "runtime/cli/random_oracle.h"
#include "runtime/cli/cli.h"
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

/* All stages' text of a request; false: `mine` says what the compiler said. */
static bool run_pass(arena *a, const compile_request *request, const char *what, pass *p, random_level_report *mine)
{
    *p = (pass){.a = a, .request = request};
    for (int i = 0; i < stage_count; i++) p->stages[i].a = a;
    const tfgen_code code = arena_run(a, compile_pass, p);
    if (code == code_ok) return true;
    mine->outcome = random_internal;
    snprintf(mine->message, sizeof mine->message, "error: internal: %s is not taken: %s", what, arena_diagnostics(a));
    return false;
}

/* Where two texts first differ, as a line of each. */
static void tell_difference(random_level_report *mine, const char *what, const char *expected, const char *got)
{
    size_t at = 0, line = 0;
    for (; expected[at] && expected[at] == got[at]; at++)
        if (expected[at] == '\n') line = at + 1;
    mine->outcome = random_internal;
    snprintf(mine->message, sizeof mine->message, "error: internal: %s differs: '%.*s' became '%.*s'", what, (int)strcspn(expected + line, "\n"),
             expected + line, (int)strcspn(got + line, "\n"), got + line);
}

static void ask_text(const random_case *c, const char *level, random_level_report *mine)
{
    arena *a = arena_new();
    compile_request r = {.text = c->yaml, .size = strlen(c->yaml), .name = c->name, .target = c->target};
    r.level = strcmp(level, "none") == 0 ? fusion_none : strcmp(level, "ops") == 0 ? fusion_ops : fusion_tile;
    pass first;
    bool good = run_pass(a, &r, "the spec", &first, mine);
    for (stage s = stage_graph; good && s <= stage_plan; s++) {
        arena *b = arena_new();
        compile_request again = r;
        pass second;
        again.from_ir = true, again.from = s, again.text = first.stages[s].data, again.size = first.stages[s].size;
        char what[64];
        snprintf(what, sizeof what, "the text of stage %s", stage_names[s]);
        good = run_pass(b, &again, what, &second, mine);
        for (stage k = s; good && k < stage_count; k++) {
            good = strcmp(first.stages[k].data, second.stages[k].data) == 0;
            snprintf(what, sizeof what, "%s read back from stage %s", stage_names[k], stage_names[s]);
            if (!good) tell_difference(mine, what, first.stages[k].data, second.stages[k].data);
        }
        arena_free(b);
    }
    arena_free(a);
}

void random_oracles_ask(const random_case *c, const char *level, random_level_report *mine)
{
    if (c->oracles & oracle_text) ask_text(c, level, mine);
}
