/* In: a subcommand and wisdom files. Out: their entries as a table, JSON or text; several files merged to one. Refuses unknown words with
 * exit code 2, files that cannot be read or written with 7. Damaged and stale lines are reported but are not errors: planning skips
 * them. */
#include "runtime/cli/cli.h"
#include "runtime/cli/plan_words.h"
#include "runtime/wisdom/wisdom_file.h"
#include <jansson.h>
#include <string.h>

typedef struct wisdom_job {
    arena *a;
    const cli_options *o;
} wisdom_job;

static const wisdom *read_given(const wisdom_job *j, const char *path)
{
    if (strcmp(path, "shipped") == 0) return wisdom_shipped(j->a);
    if (strcmp(path, "-") != 0) {
        const wisdom *w = wisdom_load(j->a, path);
        return w ? w : wisdom_read(j->a, wisdom_head, strlen(wisdom_head));
    }
    size_t size;
    const char *data = cli_read_file(j->a, path, &size);
    return wisdom_read(j->a, data, size);
}

static const char *usual_path(const wisdom_job *j)
{
    const char *path = j->o->wisdom ? j->o->wisdom : wisdom_path(j->a);
    if (!path || strcmp(path, "none") == 0)
        bail(j->a, code_usage, (position){0},
             "wisdom: there is no file: TFGEN_WISDOM is none, or HOME is not set; --wisdom=FILE names one");
    return path;
}

static const wisdom *usual(const wisdom_job *j) { return wisdom_load_file(j->a, usual_path(j)); }

static void show_path(const wisdom_job *j) { puts(usual_path(j)); }

/* ---- ls */
static const char *gain_text(arena *a, const wisdom_entry *e)
{
    return e->seconds > 0 && e->default_seconds > 0 ? arena_printf(a, "%.3fx", e->default_seconds / e->seconds) : "-";
}

static json_t *entry_json(const wisdom_job *j, const wisdom_entry *e)
{
    if (e->stale) return json_pack("{s:i, s:s, s:s}", "line", e->line, "text", e->text, "stale", e->stale);
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:f, s:f, s:s}", "line", e->line, "program",
                     program_table[e->tile.program].name, "version", e->version, "target", e->target, "device", e->device, "rows",
                     (json_int_t)e->size.rows, "keys", (json_int_t)e->size.keys, "signature", e->signature, "tile",
                     tile_text(j->a, &e->tile), "seconds", e->seconds, "default_seconds", e->default_seconds, "date", e->date);
}

static void list_json(const wisdom_job *j, const wisdom *w)
{
    json_t *list = cli_keep_json(j->a, json_array());
    for (int i = 0; i < w->count; i++) json_array_append_new(list, entry_json(j, &w->list[i]));
    cli_print_json(list);
}

static void list(const wisdom_job *j)
{
    const wisdom *w = j->o->file_count > 1 ? read_given(j, j->o->files[1]) : usual(j);
    int stale = 0, former = 0;
    if (j->o->json) {
        list_json(j, w);
        return;
    }
    for (int i = 0; i < w->count; i++) {
        const wisdom_entry *e = &w->list[i];
        stale += e->stale != NULL, former += e->former && !e->stale;
        if (e->stale) continue;
        printf("%-16s %-8s %-16s rows %-8lld", program_table[e->tile.program].name, e->target, e->device, e->size.rows);
        if (e->size.keys) printf(" keys %-8lld", e->size.keys);
        printf(" %8s  %s\n    %s%s%s\n", gain_text(j->a, e), tile_text(j->a, &e->tile), colour_code(stdout, colour_dim), e->signature,
               colour_code(stdout, colour_none));
    }
    for (int i = 0; i < w->count; i++)
        if (w->list[i].stale) printf("line %d is not used: %s\n", w->list[i].line, w->list[i].stale);
    if (j->o->quiet) return;
    printf("%d entries; %d lines are not used\n", w->count - stale, stale);
    if (former) printf("%d are of a former version or in former names: they are used; export, import and merge rewrite them\n", former);
}

/* ---- files */
static void tell_stale(const wisdom_job *j, const char *path, const wisdom *w)
{
    for (int i = 0; i < w->count && !j->o->quiet; i++)
        if (w->list[i].stale) fprintf(stderr, "tfgen: %s:%d: left out: %s\n", path, w->list[i].line, w->list[i].stale);
}

static void write_text(const wisdom_job *j, const char *path, const wisdom *w)
{
    const char *text = wisdom_text(j->a, w, false);
    cli_write_file(j->a, path, text, strlen(text));
}

static void export(const wisdom_job *j)
{
    const wisdom *w = usual(j);
    tell_stale(j, usual_path(j), w);
    write_text(j, j->o->files[1], w);
}

static void import(const wisdom_job *j)
{
    const wisdom *w = read_given(j, j->o->files[1]);
    tell_stale(j, j->o->files[1], w);
    const wisdom_change n = wisdom_add(j->a, usual_path(j), w);
    if (!j->o->quiet)
        printf("added %d entries, replaced %d, kept %d that were better; in %s\n", n.added, n.replaced, n.kept, usual_path(j));
}

static void merge(const wisdom_job *j)
{
    const wisdom *all = wisdom_read(j->a, wisdom_head, strlen(wisdom_head));
    for (int i = 1; i < j->o->file_count; i++) {
        const wisdom *one = read_given(j, j->o->files[i]);
        tell_stale(j, j->o->files[i], one);
        all = wisdom_merge(j->a, all, one);
    }
    write_text(j, j->o->output ? j->o->output : "-", all);
}

static const wisdom_entry *counterpart(const wisdom *w, const wisdom_entry *e)
{
    for (const wisdom_entry *other = names_find(&w->signatures, e->signature); other; other = other->other)
        if (wisdom_same_key(other, e)) return other;
    return NULL;
}

static void show_line(const wisdom_job *j, char sign, const wisdom_entry *e)
{
    text t = {.a = j->a};
    wisdom_put(&t, e);
    printf("%c %s", sign, t.data);
}

static void diff(const wisdom_job *j)
{
    const wisdom *x = read_given(j, j->o->files[1]), *y = read_given(j, j->o->files[2]);
    int same = 0, count = 0;
    for (int i = 0; i < x->count; i++) {
        const wisdom_entry *e = &x->list[i], *other = e->stale ? NULL : counterpart(y, e);
        if (e->stale) continue;
        same += other && tile_same(&e->tile, &other->tile);
        if (other && tile_same(&e->tile, &other->tile)) continue;
        count++, show_line(j, '-', e);
        if (other) show_line(j, '+', other);
    }
    for (int i = 0; i < y->count; i++)
        if (!y->list[i].stale && !counterpart(x, &y->list[i])) count++, show_line(j, '+', &y->list[i]);
    if (!j->o->quiet) printf("%d kernels have another tile, %d the same\n", count, same);
}

typedef struct action {
    const char *name;
    int least, most; /* number of arguments */
    void (*run)(const wisdom_job *j);
} action;

static const action actions[] = {{"path", 1, 1, show_path}, {"ls", 1, 2, list},        {"export", 2, 2, export},
                                 {"import", 2, 2, import},  {"merge", 2, 1000, merge}, {"diff", 3, 3, diff}};
enum { action_count = sizeof actions / sizeof *actions };

static void run_action(void *argument)
{
    const wisdom_job *j = argument;
    const char *word = j->o->files[0], *names[action_count];
    for (int i = 0; i < action_count; i++) {
        names[i] = actions[i].name;
        if (strcmp(word, actions[i].name) != 0) continue;
        if (j->o->file_count < actions[i].least || j->o->file_count > actions[i].most)
            bail(j->a, code_usage, (position){0}, "usage: tfgen wisdom %s%s", word,
                 actions[i].least == 3   ? " FILE FILE"
                 : actions[i].most > 2   ? " FILE..."
                 : actions[i].least == 2 ? " FILE"
                 : actions[i].most == 2  ? " [FILE]"
                                         : "");
        if (j->o->output && strcmp(word, "merge") != 0) bail(j->a, code_usage, (position){0}, "--output goes with tfgen wisdom merge");
        if (j->o->json && strcmp(word, "ls") != 0) bail(j->a, code_usage, (position){0}, "--json goes with tfgen wisdom ls");
        actions[i].run(j);
        return;
    }
    const char *near = nearest_name(word, names, action_count);
    bail(j->a, code_usage, (position){0}, "tfgen wisdom: '%s' is none of path, ls, export, import, merge, diff%s", word,
         nearest_hint(j->a, near));
}

int command_wisdom_main(const cli_options *o)
{
    wisdom_job j = {arena_new(), o};
    return cli_run(run_action, &j, j.a);
}
