/* In: specs, dims to sweep, a budget. Out: each kernel tuned on this machine's device, as tables or JSON; all trials in the database, the
 * best tiles in the wisdom, which later plans use. Exit code 1 if a candidate's results were wrong, 8 if a faster one could not be
 * judged. */
#define _GNU_SOURCE
#include "runtime/cli/plan_words.h"
#include "runtime/cli/tune/report.h"
#include "runtime/cli/tune/stop.h"
#include "runtime/cli/tune/tuner.h"
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct tune_job {
    tuner t;
    json_t *all; /* or NULL */
    bool wrong, unjudged;
} tune_job;

typedef struct tune_case { /* a spec at some dims */
    tune_job *j;
    arena *a;
    const char *path, *dim; /* dim: swept, or NULL */
    long long value;
} tune_case;

/* ---- output */
static void print_kernel(const tuned_kernel *k, int width)
{
    const colour good = strcmp(k->how, "better") == 0 ? colour_good : colour_none;
    printf("  %-*s %6.1f %%  %s%-8s%s %7.3f %6d  %s\n", width, k->label, 100 * k->share, colour_code(stdout, good), k->how,
           colour_code(stdout, colour_none), 1 / k->ratio, k->tried, k->tile);
    if (k->refused || k->same || k->wrong || k->unjudged)
        printf("  %-*s %s%d refused, %d of the same code, %d dropped early, %d wrong, %d unjudged%s\n", width, "",
               colour_code(stdout, colour_dim), k->refused, k->same, k->dropped, k->wrong, k->unjudged, colour_code(stdout, colour_none));
    if (strcmp(k->how, "better") == 0)
        printf("  %-*s %sdefault: %s%s\n", width, "", colour_code(stdout, colour_dim), k->standard, colour_code(stdout, colour_none));
}

static void print_plan(const tune_case *c, const tuned_plan *p)
{
    const ir_graph *ir = p->plan->ir;
    const tfgen_device_info *d = &c->j->t.device->info;
    printf("%s%s  %s  level %s%s  on %s: %s (target %s, model %s)\n  %s\n", colour_code(stdout, colour_bold), ir->name,
           dtype_name(ir->type), fusion_level_name(ir->level), colour_code(stdout, colour_none), d->name, d->label,
           p->plan->target->name, p->plan->device->name, dims_text(c->a, &ir->dims, ","));
    int width = 26;
    for (int i = 0; i < p->count; i++)
        if ((int)strlen(p->kernels[i].label) > width) width = (int)strlen(p->kernels[i].label);
    printf("  %-*s %8s  %-8s %7s %6s  %s\n", width, "kernel", "of run", "", "gain", "tried", "tile");
    for (int i = 0; i < p->count; i++) print_kernel(&p->kernels[i], width);
    printf("  whole run: %s; with the tiles that were kept %.3f times as fast\n\n", spread_time_text(c->a, p->before, true), 1 / p->ratio);
}

static json_t *plan_json(const tune_case *c, const tuned_plan *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->count; i++) {
        const tuned_kernel *k = &p->kernels[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:b}", "kernel",
                                              k->name, "phase", k->phase, "signature", k->signature, "how", k->how, "share", k->share,
                                              "gain", 1 / k->ratio, "noise", k->noise, "default", k->standard, "tile", k->tile, "tried",
                                              k->tried, "refused", k->refused, "same", k->same, "dropped", k->dropped, "wrong", k->wrong,
                                              "unjudged", k->unjudged, "ended", k->ended));
    }
    const ir_graph *ir = p->plan->ir;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:o}", "block", ir->name, "dtype", dtype_name(ir->type),
                     "device", c->j->t.device->info.name, "label", c->j->t.device->info.label, "target", p->plan->target->name, "model",
                     p->plan->device->name, "dims", dims_text(c->a, &ir->dims, ","), "seconds", p->before, "gain", 1 / p->ratio,
                     "kernels", list);
}

/* ---- one spec at some dims */
static compile_request request_of(const tune_case *c)
{
    cli_options o = options_at(c->a, c->j->t.o, c->dim, c->value);
    o.wisdom = "none"; /* the default plan is the cost model's */
    return cli_request(c->a, &o, c->path);
}

static void read_case(void *argument)
{
    const tune_case *c = argument;
    const compile_request r = request_of(c);
    (void)graph_read(c->a, r.text, r.size, r.name, &r.graph);
}

static void tune_dims(void *argument)
{
    tune_case *c = argument;
    arena *a = c->a;
    tuner *t = &c->j->t;
    compiled done;
    compile_request r = request_of(c);
    r.target = t->device->info.target, r.device_label = t->device->info.label;
    compile_inside(a, &r, &done);
    const tuned_plan p = tuner_run(t, a, &r, done.graph, done.plan, c->path, dims_text(a, &done.plan->ir->dims, ","));
    for (int i = 0; i < p.count; i++) c->j->wrong |= p.kernels[i].wrong > 0, c->j->unjudged |= p.kernels[i].unjudged > 0;
    if (t->ranks.rank > 0) return; /* rank 0 prints the results */
    if (c->j->all) json_array_append_new(c->j->all, plan_json(c, &p));
    else if (!t->o->quiet) print_plan(c, &p);
}

/* ---- the command */
static const char *today(arena *a)
{
    const time_t now = time(NULL);
    struct tm t;
    char date[16];
    gmtime_r(&now, &t);
    strftime(date, sizeof date, "%Y-%m-%d", &t);
    return arena_strdup(a, date);
}

/* The driver's version from the system; NULL: unknown. */
static const char *driver_of(arena *a, const tfgen_device_info *d)
{
    const char *path = strncmp(d->name, "cuda", 4) == 0  ? "/proc/driver/nvidia/version"
                       : strncmp(d->name, "hip", 3) == 0 ? "/sys/module/amdgpu/version"
                                                         : NULL;
    char line[256] = "";
    FILE *f = path ? fopen(path, "r") : NULL;
    if (!f) return NULL;
    const bool got = fgets(line, sizeof line, f) != NULL;
    fclose(f);
    line[strcspn(line, "\n")] = 0;
    return got ? text_harmless(a, line) : NULL;
}

static const char *compiler_of(arena *a, const tfgen_device *d)
{
    char *identity = d->api->compile ? NULL : code_compiler_identity(d->info.arch, compiler_auto);
    if (identity) arena_defer(a, free, identity);
    return identity;
}

static const char *trials_path(const tuner *t)
{
    const char *path = t->o->trials ? t->o->trials : database_path(t->a);
    if (!path) bail(t->a, code_usage, (position){0}, "tune: no file for trials is known; name one with --trials=FILE");
    return path;
}

/* The rank's own device, unless the user names one, or the host engine. */
static const char *own_device(const tuner *t)
{
    const char *given = t->o->device;
    tfgen_device *best = NULL;
    tfgen_error error;
    if (t->ranks.size < 2 || (given && strchr(given, ':'))) return given;
    if (!given && tfgen_device_open(NULL, &best, &error) == TFGEN_OK) {
        given = arena_strndup(t->a, best->info.name, strcspn(best->info.name, ":"));
        tfgen_device_close(best);
    }
    return !given || strcmp(given, "host") == 0 ? given : arena_printf(t->a, "%s:%d", given, t->ranks.local);
}

static void begin(tune_job *j)
{
    tuner *t = &j->t;
    const cli_options *o = t->o;
    text command = {.a = t->a};
    text_printf(&command, "tfgen tune");
    for (int i = 0; i < o->file_count; i++) text_printf(&command, " %s", o->files[i]);
    t->device = cli_open_device(t->a, own_device(t));
    t->cache = cli_cache(t->a, o);
    t->wisdom = o->wisdom ? o->wisdom : wisdom_path(t->a);
    if (!t->wisdom || strcmp(t->wisdom, "none") == 0)
        bail(t->a, code_usage, (position){0}, "tune: no file for results is known; name one with --wisdom=FILE");
    wisdom_check_file(t->a, t->wisdom);
    t->trials = database_open(t->a, trials_path(t), t->ranks.many_hosts);
    t->date = today(t->a);
    const tfgen_device_info *d = &t->device->info;
    const char *model = o->device_model ? o->device_model : device_model_of(t->a, target_find(d->target), d->label)->name;
    const database_session s = {text_harmless(t->a, command.data), d->label, d->arch, d->target, model, driver_of(t->a, d),
                                compiler_of(t->a, t->device), (unsigned long long)o->number.seed};
    t->session = database_begin(t->trials, &s);
    if (t->ranks.size > 1)
        t->share = share_open(t->a, t->trials, &t->ranks, t->session,
                              arena_printf(t->a, "%s %s", d->target, text_harmless(t->a, d->label)));
}

typedef struct whole {
    tune_job *j;
    dim_sweep sweep;
    int worst;
} whole;

/* Runs body for file number `file` at sweep value number `value`; false: it failed. */
static bool with_case(whole *w, int file, int value, void (*body)(void *))
{
    tune_case c = {w->j, arena_new(), w->j->t.o->files[file], w->sweep.dim, w->sweep.values[value]};
    const int code = cli_run(body, &c, c.a);
    if (code > w->worst) w->worst = code;
    return code == code_ok;
}

/* By case, whether it can be read; errors are thus reported before any budget is spent. NULL: none can. With --sweep, bails if any case is
 * refused: the sweep is then probably a mistake. */
static const bool *readable(whole *w)
{
    const int values = w->sweep.count, files = w->j->t.o->file_count;
    arena *a = w->j->t.a;
    bool *list = arena_alloc(a, (size_t)files * (size_t)values + 1);
    int good = 0;
    for (int i = 0; i < files * values; i++) good += list[i] = with_case(w, i / values, i % values, read_case);
    if (w->sweep.dim && good < files * values)
        bail(a, (tfgen_code)w->worst, (position){0}, "--sweep=%s: nothing is tuned: %d of %d sizes are refused", w->j->t.o->sweep,
             files * values - good, files * values);
    return good ? list : NULL;
}

static void tune_all(void *argument)
{
    whole *w = argument;
    tune_job *j = w->j;
    tuner *t = &j->t;
    const double budget = options_seconds(t->a, "budget", t->o->budget, 60);
    double start = seconds_now();
    w->sweep = options_sweep(t->a, t->o->sweep);
    if (t->o->report) report_check(t->a, t->o->report);
    if (!t->o->file_count) {
        const char *path = trials_path(t);
        if (access(path, F_OK)) bail(t->a, code_bad_input, (position){0}, "trials: there is no %s to report on: %s", path, strerror(errno));
        report_write(t->a, database_open(t->a, path, false), 0, t->o->report);
        return;
    }
    const bool *can = readable(w);
    if (!can) return;
    begin(j);
    t->again = t->o->again != NULL, t->resume = t->o->resume != NULL;
    stop_listen(t->a);
    for (int i = 0; i < t->o->file_count * w->sweep.count && !stop_signal; i++) {
        t->until = start + budget;
        if (can[i]) (void)with_case(w, i / w->sweep.count, i % w->sweep.count, tune_dims);
        start = seconds_now();
    }
    stop_listened();
    database_end(t->trials, t->session, stop_signal ? "stopped" : "done");
    if (t->o->report && t->ranks.rank == 0) report_write(t->a, t->trials, t->session, t->o->report);
}

static int tune_alone(const cli_options *o, const ranks *r)
{
    const bool tells = r->rank == 0;
    tune_job j = {.t = {.a = arena_new(), .o = o, .ranks = *r}, .all = o->json && tells ? json_array() : NULL};
    whole w = {.j = &j, .worst = code_ok};
    int code = cli_run(tune_all, &w, j.t.a);
    if (j.all && code == code_ok) cli_print_json(j.all);
    json_decref(j.all);
    if (w.worst > code) code = w.worst;
    return code != code_ok ? code : j.wrong ? code_check_failed : j.unjudged ? code_unjudged : code_ok;
}

typedef struct ranked {
    const cli_options *o;
    const ranks *r;
} ranked;

static int tune_ranked(void *context)
{
    const ranked *x = context;
    return tune_alone(x->o, x->r);
}

int command_tune_main(const cli_options *o)
{
    const ranks r = ranks_of(o->a);
    if (r.size < 2 || !o->file_count) return tune_alone(o, &r);
    const ranks_work work = {tune_ranked, &(ranked){o, &r}, o->trials ? o->trials : database_path(o->a)};
    return ranks_supervise(&r, &work);
}
