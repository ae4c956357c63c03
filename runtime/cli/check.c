/* In: specs. Out: their errors and warnings on stderr, a line per good spec on stdout; as JSON, an array with an object per spec, which has
 * an object per error or warning. Exit code 3 if any spec is bad. */
#include "runtime/cli/cli.h"
#include <jansson.h>
#include <stdlib.h>

typedef struct check_job {
    arena *a;
    const cli_options *o;
    const char *path;
    int ops;
} check_job;

static void check_one(void *argument)
{
    check_job *j = argument;
    compile_request r = cli_request(j->a, j->o, j->path);
    j->ops = graph_read(j->a, r.text, r.size, j->path, &r.graph)->op_count;
}

/* file, line and column are null for errors without a place: of an option, of a file that cannot be read. */
static json_t *errors_json(arena *a, bool warnings)
{
    json_t *errors = json_array();
    const complaint *e;
    for (int i = 0; (e = arena_complaint(a, i)); i++) {
        if (e->warning != warnings) continue;
        const char *file = e->file ? text_harmless(a, e->file) : NULL;
        json_array_append_new(errors, json_pack("{s:s?, s:o, s:o, s:s}", "file", file, "line",
                                                e->at.line ? json_integer(e->at.line) : json_null(), "column",
                                                e->at.line ? json_integer(e->at.column) : json_null(), "message",
                                                text_harmless(a, e->message ? e->message : "not enough memory")));
    }
    return errors;
}

int command_check_main(const cli_options *o)
{
    int worst = code_ok;
    json_t *results = json_array();
    for (int i = 0; i < o->file_count; i++) {
        check_job j = {arena_new(), o, o->files[i], 0};
        const int code = (int)arena_run(j.a, check_one, &j);
        if (o->json)
            json_array_append_new(results, json_pack("{s:s, s:b, s:i, s:i, s:o, s:o}", "spec", text_harmless(j.a, j.path), "good",
                                                     code == code_ok, "code", code, "ops", j.ops, "errors", errors_json(j.a, false),
                                                     "warnings", errors_json(j.a, true)));
        else fprintf(stderr, "%s%s", arena_warnings(j.a), arena_diagnostics(j.a));
        if (code == code_ok && !o->json && !o->quiet) printf("%s: good, %d ops\n", j.path, j.ops);
        if (code > worst) worst = code;
        arena_free(j.a);
    }
    if (o->json) cli_print_json(results);
    json_decref(results);
    return worst;
}
