/* In: SPEC... or the name of a table, options. Out: the rows of table.h, printed as text or JSON, or written to a file. Exit code 1 if a
 * value is outside its bound. All timed plans are open at once and run in turn, so that drifting clocks affect all rows alike. */
#define _GNU_SOURCE
#include "runtime/cli/table/table.h"
#include "gen/base/peaks.h"
#include "gen/base/signature.h"
#include "runtime/cli/bench.h"
#include "runtime/cli/plan_words.h"
#include "runtime/cli/table/grid.h"
#include "gen/plan/nearest.h"
#include "runtime/cli/trial.h"
#include "runtime/cli/trial_data.h"
#include "runtime/cli/tune/space.h"
#include <string.h>
#include <unistd.h>

enum { most_samples = 2000, least_samples = 5 };
static const double most_check_operations = 4e9;

typedef struct table_case table_case;
typedef struct entry { /* a row that is timed */
    arena *a; /* arena of its plan and buffers; for the default plan it is the case's arena; NULL: nothing to time */
    table_case *of;
    int row;
    const char *line, *signature; /* the point of --grid: its line, and the signature of the phase that it is for; NULL: the default plan */
    const plan *plan;
    bench *bench;
    double *samples;
    int count;
} entry;

typedef struct table_job table_job;
struct table_case { /* a spec at some dims */
    table_job *j;
    arena *a;
    const char *path, *text; /* text: of a shipped spec, or NULL */
    size_t size;
    long long value; /* of the swept dim */
    bool readable;
    compile_request request;
    compiled c;
    bench_options options;
    const device_model *peaks; /* or NULL */
    ref_tensor *inputs;
    bench *root; /* bench of the default plan, whose buffers the other plans of the case share */
};

struct table_job {
    arena *a;
    const cli_options *o;
    const shipped_table *shipped; /* or NULL */
    tfgen_device *device;
    cache *cache;
    grid grid;
    dim_sweep sweep;
    table t;
    entry *entries; /* by row */
    int entry_room;
    table_case *cases;
    int case_count, worst;
};

/* ---- rows */
static entry *add_row(table_case *c, const char *label)
{
    table_job *j = c->j;
    table *t = &j->t;
    t->rows = arena_more(j->a, t->rows, t->count, &t->room, sizeof *t->rows);
    j->entries = arena_more(j->a, j->entries, t->count, &j->entry_room, sizeof *j->entries);
    const ir_graph *p = c->c.plan->ir;
    t->rows[t->count] = (table_row){.block = arena_strdup(j->a, p->name), .dims = dims_text(j->a, &p->dims, ","), .label = label,
                                    .tile = "", .note = "", .limit = ""};
    entry *e = &j->entries[t->count];
    *e = (entry){.of = c, .row = t->count++};
    return e;
}

static table_row *row_of(const entry *e) { return &e->of->j->t.rows[e->row]; }

static void say(const entry *e, row_status status, const char *why)
{
    arena *a = e->of->j->a;
    row_of(e)->status = status;
    row_of(e)->note = text_harmless(a, arena_strndup(a, why, strcspn(why, "\n")));
}

/* ---- plans */
static plan *plan_with(const table_case *c, arena *a, const char *line)
{
    const tuning *own = c->c.plan->tuning;
    const size_t count = own ? own->count : 0;
    const char **lines = arena_alloc(a, (count + 2) * sizeof *lines);
    tuning *t = arena_alloc(a, sizeof *t);
    *t = own ? *own : (tuning){0};
    for (size_t i = 0; i < count; i++) lines[i] = own->lines[i];
    lines[count] = line;
    t->lines = lines, t->count = count + 1;
    arena_source(a, c->request.name, NULL, 0);
    plan *p = plan_choose(a, c->c.plan->fused, c->c.plan->device, t);
    emit(a, p);
    return p;
}

/* The phase that the line is for; the first, if it is for a family. */
static const ir_phase *phase_asked(arena *a, const plan *p, const char *line, tile_override **out)
{
    const char **names = arena_alloc(a, ((size_t)p->ir->kernel_count + 1) * sizeof *names);
    overrides *w = overrides_read(a, &(tuning){.lines = &line, .count = 1});
    for (int i = 0; i < p->ir->kernel_count; i++) names[i] = "";
    for (int i = 0; i < p->launch_count; i++)
        for (int k = 0; k < p->ir->kernel_count; k++)
            if (p->ir->kernels[k] == p->launches[i].kernel) names[k] = p->launches[i].name;
    overrides_settle(w, p->ir, names, true);
    *out = &w->list[0];
    for (int i = 0; i < p->launch_count; i++)
        for (int k = 0; k < p->launches[i].work_count; k++)
            if (override_is_for(*out, p->launches[i].work[k].phase)) return p->launches[i].work[k].phase;
    override_refuse(w, *out, "the spec has no phase of this family");
}

static const char *fields_of(arena *a, const ir_phase *phase)
{
    text t = {.a = a};
    text_printf(&t, "no program of family %s takes all of these settings", family_names(NULL)[phase->family]);
    for (int i = 1; i < program_count; i++) {
        const program_info *p = &program_table[i];
        if (p->family != phase->family) continue;
        text_printf(&t, "; %s has", layer_names(NULL)[p->layer]);
        for (int k = 0; k < p->field_count; k++)
            if (p->fields[k].help) text_printf(&t, "%s %s", k ? "," : "", p->fields[k].name);
    }
    return t.data;
}

static void add_point(table_case *c, const grid_point *g)
{
    table_job *j = c->j;
    tile_override *w;
    const plan *p = c->c.plan;
    const ir_phase *phase = phase_asked(c->a, p, g->line, &w);
    const nearest n = nearest_tile(c->a, p, phase, w);
    if (!n.known) bail(c->a, code_usage, (position){0}, "--grid: '%s': %s", g->line, fields_of(c->a, phase));
    entry *e = add_row(c, g->label);
    if (!n.found || (!n.exact && !j->o->nearest && !j->shipped)) {
        say(e, row_illegal, n.why);
        return;
    }
    e->signature = phase_signature(j->a, p->ir, phase);
    row_of(e)->tile = space_text(j->a, &n.tile);
    e->line = space_line(j->a, e->signature, &n.tile);
    if (!n.exact) row_of(e)->note = arena_printf(j->a, "the nearest: %s", text_harmless(j->a, n.why));
}

/* ---- one row: opened, checked */
static void open_entry(void *argument)
{
    entry *e = argument;
    const table_case *c = e->of;
    e->bench = bench_open(e->a, c->c.graph, plan_with(c, e->a, e->line), &c->options, c->root);
    const plan *p = bench_plan_of(e->bench);
    int at;
    const launch_phase *w = phase_of_signature(e->a, p, e->signature, &at);
    if (!w || strcmp(space_text(e->a, w->tile), row_of(e)->tile) != 0)
        bail(e->a, code_unsupported, (position){0}, "it spills");
    e->plan = p;
}

static void check_entry(void *argument)
{
    entry *e = argument;
    table_case *c = e->of;
    const trial_options options = {.device = c->j->device,
                                   .seed = (unsigned long long)c->j->o->number.seed,
                                   .jobs = (int)c->j->o->number.jobs,
                                   .cache = c->j->cache,
                                   .reference = reference_always,
                                   .sample_above = most_check_operations,
                                   .only = e->signature,
                                   .inputs = c->inputs};
    const trial_result r = trial_run(e->a, c->c.graph, e->plan, &options);
    if (r.verdict == trial_bad) say(e, row_wrong, trial_fault(e->a, &r));
    if (r.verdict == trial_unjudged) say(e, row_unjudged, trial_fault(e->a, &r));
}

static void take_work(entry *e)
{
    table_row *r = row_of(e);
    const table_case *c = e->of;
    double most = 0;
    r->launches = e->plan->launch_count;
    for (int i = 0; i < r->launches; i++) {
        const char *limit = "";
        const work w = bench_work(e->bench, i);
        const double least = c->peaks ? peaks_floor(c->peaks, e->plan->ir->type, &w, &limit) : 0;
        r->work = work_add(&r->work, &w);
        r->floor += least;
        if (least > most) most = least, r->limit = limit;
    }
}

static void note_worst(table_job *j, int code)
{
    j->worst = cli_worse(j->worst, code);
}

/* Runs body in the entry's arena; false: it failed, and the row has the error. */
static bool attempt(entry *e, void (*body)(void *), void *argument)
{
    const int code = (int)arena_run(e->a, body, argument);
    if (code) say(e, row_failed, arena_first_error(e->of->j->a, e->a));
    note_worst(e->of->j, code);
    return !code;
}

/* Checks in an arena of its own, freed afterwards. */
static void check_apart(entry *e)
{
    arena *own = e->a;
    e->a = arena_new();
    (void)attempt(e, check_entry, e);
    arena_free(e->a);
    e->a = own;
}

static void prepare(entry *e)
{
    const table_case *c = e->of;
    if (row_of(e)->status == row_illegal) return;
    if (e->line) {
        e->a = arena_new();
        if (!attempt(e, open_entry, e)) return;
    } else {
        e->a = c->a, e->bench = c->root, e->plan = c->c.plan;
    }
    if (!e->of->j->o->no_check) check_apart(e);
    take_work(e);
    e->samples = arena_alloc(e->of->j->a, most_samples * sizeof *e->samples);
}

/* ---- one case */
static void read_case(void *argument)
{
    table_case *c = argument;
    table_job *j = c->j;
    arena *a = c->a;
    cli_options o = *j->o;
    if (j->shipped && !o.preset) o.dim = arena_printf(a, "%s%s%s", j->shipped->dims, o.dim ? "," : "", o.dim ? o.dim : "");
    if (j->shipped && !o.dtype) o.dtype = "f32";
    o = options_at(a, &o, j->sweep.dim, c->value);
    c->request = c->text ? cli_request_text(a, &o, c->path, c->text, c->size) : cli_request(a, &o, c->path);
    (void)graph_read(a, c->request.text, c->request.size, c->request.name, &c->request.graph);
    c->readable = true;
}

static void open_case(void *argument)
{
    table_case *c = argument;
    table_job *j = c->j;
    c->request.target = j->device->info.target, c->request.device_label = j->device->info.label;
    compile_inside(c->a, &c->request, &c->c);
    c->peaks = cli_peaks(c->a, j->o, c->c.plan->device, j->device);
    c->options = (bench_options){.device = j->device,
                                 .seed = (unsigned long long)j->o->number.seed,
                                 .jobs = (int)j->o->number.jobs,
                                 .last_level = c->peaks ? device_last_level(c->peaks) : 0,
                                 .cache = j->cache};
    const plan *p = c->c.plan;
    j->t.target = p->target->name, j->t.model = arena_strdup(j->a, p->device->name), j->t.dtype = dtype_name(p->ir->type);
    const int first = j->t.count;
    for (int i = 0; i < j->grid.count; i++) add_point(c, &j->grid.list[i]);
    if (!j->grid.count) (void)add_row(c, "");
    if (!j->o->no_check) c->inputs = data_make(c->a, c->c.graph, c->options.seed, NULL);
    c->root = bench_open(c->a, c->c.graph, p, &c->options, NULL);
    c->c.plan = (plan *)bench_plan_of(c->root);
    for (int i = first; i < j->t.count; i++) prepare(&j->entries[i]);
}

/* Runs a step of a case; if it fails, all rows of the case get the error in place of times. */
static void run_case(table_case *c, void (*body)(void *))
{
    table_job *j = c->j;
    const int code = (int)arena_run(c->a, body, c);
    fputs(arena_diagnostics(c->a), stderr);
    note_worst(j, code);
    for (int i = 0; i < j->t.count && code; i++)
        if (j->entries[i].of == c && j->t.rows[i].status == row_timed) say(&j->entries[i], row_failed, arena_first_error(j->a, c->a));
}

/* Adds a case for each value of the sweep; reads all before timing, so that errors come first. */
static void add_cases(table_job *j, const char *path, const char *text, size_t size)
{
    for (int k = 0; k < j->sweep.count; k++) {
        table_case *c = &j->cases[j->case_count++];
        *c = (table_case){.j = j, .a = arena_new(), .path = path, .text = text, .size = size, .value = j->sweep.values[k]};
        run_case(c, read_case);
    }
}

/* ---- times */
typedef struct timing {
    entry *e;
    double seconds[bench_most_runs];
} timing;

static void time_entry(void *argument)
{
    timing *t = argument;
    entry *e = t->e;
    const int count = bench_batch(e->bench, most_samples - e->count, t->seconds);
    memcpy(e->samples + e->count, t->seconds, (size_t)count * sizeof *t->seconds);
    e->count += count;
}

static bool is_timed(const entry *e) { return e->samples && row_of(e)->status == row_timed; }

static void time_all(table_job *j, double seconds)
{
    const double start = seconds_now();
    progress bar = progress_start("timing, rounds", least_samples);
    for (int round = 0; round < least_samples || seconds_now() - start < seconds; round++) {
        for (int i = 0; i < j->t.count; i++) {
            timing t = {.e = &j->entries[(i + round) % j->t.count]};
            if (is_timed(t.e)) (void)attempt(t.e, time_entry, &t);
        }
        if (round < least_samples) progress_step(&bar, "");
    }
    progress_end(&bar);
    for (int i = 0; i < j->t.count; i++) {
        const entry *e = &j->entries[i];
        if (!is_timed(e)) continue;
        j->t.rows[i].samples = e->count;
        j->t.rows[i].time = spread_of(e->samples, e->count);
    }
}

/* Closes the benches of rows before those of their cases, whose buffers they share. */
static void close_all(void *argument)
{
    table_job *j = argument;
    for (int i = j->t.count - 1; i >= 0; i--)
        if (j->entries[i].line && j->entries[i].a) arena_free(j->entries[i].a);
    for (int i = j->case_count - 1; i >= 0; i--) arena_free(j->cases[i].a);
    j->t.count = j->case_count = 0;
}

/* ---- the command */
/* Refuses a word that is neither a table nor a file. */
static void check_name(const table_job *j, const char *name)
{
    size_t count;
    if (table_shipped(name) && j->o->file_count > 1)
        bail(j->a, code_usage, (position){0}, "table: %s is one of tfgen's own tables; give it alone", name);
    if (table_shipped(name) || strpbrk(name, "/.") || strcmp(name, "-") == 0 || access(name, F_OK) == 0) return;
    const char *const *names = table_names(j->a, &count), *near = nearest_name(name, names, count);
    text all = {.a = j->a};
    for (size_t i = 0; i < count; i++) text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    bail(j->a, code_usage, (position){0}, "table: no file and no table is called '%s'%s; tables are %s", text_harmless(j->a, name),
         nearest_hint(j->a, near), all.data);
}

static void read_options(table_job *j)
{
    const cli_options *o = j->o;
    for (int i = 0; i < o->file_count; i++) check_name(j, o->files[i]);
    j->shipped = o->file_count == 1 ? table_shipped(o->files[0]) : NULL;
    const char *grid = o->grid ? o->grid : j->shipped ? j->shipped->grid : NULL;
    const name_list lines = options_lines(j->a, grid);
    j->grid = grid_read(j->a, lines.names, lines.count);
    j->sweep = options_sweep(j->a, o->sweep ? o->sweep : j->shipped ? j->shipped->sweep : NULL);
    if (o->report) table_check_path(j->a, o->report);
    if (o->nearest && !j->grid.count) bail(j->a, code_usage, (position){0}, "--nearest is for points of --grid, and there are none");
}

static void open_device(table_job *j)
{
    j->device = cli_open_device(j->a, j->o->device);
    j->cache = cli_cache(j->a, j->o);
    j->t.device = j->device->info.name, j->t.label = j->device->info.label;
    j->t.host = strcmp(j->t.device, "host") == 0;
    j->t.title = j->shipped ? j->shipped->title : NULL;
}

static void run_table(void *argument)
{
    table_job *j = argument;
    const cli_options *o = j->o;
    read_options(j);
    const name_list specs = options_list(j->a, j->shipped ? j->shipped->specs : NULL);
    const size_t files = j->shipped ? specs.count : (size_t)o->file_count;
    j->cases = arena_alloc(j->a, (files * (size_t)j->sweep.count + 1) * sizeof *j->cases);
    arena_defer(j->a, close_all, j);
    for (size_t i = 0; i < files; i++) {
        size_t size = 0;
        const char *path = j->shipped ? NULL : o->files[i], *shipped = j->shipped ? table_spec(specs.names[i], &size, &path) : NULL;
        add_cases(j, path, shipped, size);
    }
    open_device(j);
    arena_defer(j->a, close_all, j); /* runs before the device is closed */
    for (int i = 0; i < j->case_count; i++)
        if (j->cases[i].readable) run_case(&j->cases[i], open_case);
    if (!j->t.count) return;
    time_all(j, o->real.seconds);
    for (int i = 0; i < j->t.count; i++)
        if (j->t.rows[i].status >= row_unjudged) note_worst(j, j->t.rows[i].status == row_wrong ? code_check_failed : code_unjudged);
    if (o->json) cli_print_json(cli_keep_json(j->a, table_json(&j->t)));
    else if (!o->quiet) table_print(j->a, &j->t);
    if (o->report) table_write(j->a, &j->t, o->report);
}

int command_table_main(const cli_options *o)
{
    table_job *j = &(table_job){.a = arena_new(), .o = o};
    const int code = cli_run(run_table, j, j->a);
    return code ? code : j->worst;
}
