/* See tuner.h. Kernels are tuned one by one, the longest first, each in the plan with the tiles kept so far. */
#define _GNU_SOURCE
#include "runtime/cli/plan_words.h"
#include "runtime/cli/tune/clocks.h"
#include "runtime/cli/tune/stop.h"
#include "runtime/cli/tune/under_test.h"
#include "gen/base/peaks.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct effort {
    const char *name;
    int wave, most, patience, rounds, pairs;
} effort;
static const effort efforts[] = {{"quick", 8, 24, 1, 4, 25}, {"normal", 12, 96, 2, 6, 61}, {"full", 16, 2048, 2048, 8, 151}};

static const effort *effort_of(const cli_options *o)
{
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++)
        if (o->effort && strcmp(o->effort, efforts[i].name) == 0) return &efforts[i];
    return &efforts[1];
}

/* ---- one kernel */
static void tell(kernel_under_test *s)
{
    if (!s->terminal) return;
    const double left = s->until - seconds_now(), all = s->c->t->until - seconds_now();
    fprintf(stderr, "\r\033[K%s: %d tried, best %.3f of the default, %.0f s of %.0f s left", s->name, s->tried, s->best,
            left > 0 ? left : 0, all > 0 ? all : 0);
    fflush(stderr);
}

static void prepare(void *context, candidate *const *list, int count)
{
    kernel_under_test *s = context;
    candidates_prepare(s->c, list, count, s->signature);
    s->tried += count;
    tell(s);
}

static bool time_candidate(void *context, candidate *x, double *seconds)
{
    kernel_under_test *s = context;
    if (x->ratio > 0 && x->ratio < s->best) s->best = x->ratio, tell(s);
    under_test_begin_trial(s, x);
    return candidate_time(s->c, x, seconds);
}

static bool check(void *context, candidate *x)
{
    const kernel_under_test *s = context;
    return candidate_check(s->c, x, s->signature);
}

static void release(void *context, candidate *x)
{
    const kernel_under_test *s = context;
    if (x->status != candidate_new) under_test_end_trial(s, x);
    candidate_close(x);
}

static double now(void *context) { return (void)context, seconds_now(); }
static bool is_stopped(void *context) { return (void)context, stop_signal; }

static bool is_known(const tuner *t, const kernel_under_test *s)
{
    int count;
    arena *a = s->a;
    const wisdom *w = wisdom_load_file(a, t->wisdom);
    const wisdom_entry **list = wisdom_find(a, w, s->c->plan->target, s->c->device, s->signature, s->size, &count);
    return count && list[0]->size.rows == s->size.rows && list[0]->size.keys == s->size.keys;
}

/* ---- a search and its result */
static wisdom_entry line_of(const kernel_under_test *s, const candidate *x, double before, double ratio)
{
    const candidate_build *e = x->item;
    return (wisdom_entry){.target = s->c->plan->target->name,
                          .device = s->c->device,
                          .signature = s->signature,
                          .version = program_version(e->tile.program),
                          .size = s->size,
                          .tile = e->tile,
                          .seconds = before * ratio,
                          .default_seconds = before,
                          .date = s->c->t->date,
                          .text = ""};
}

static void keep(kernel_under_test *s, const search_result *r, double before)
{
    wisdom_entry line = line_of(s, r->kept, before, r->ratio);
    const wisdom one = {.list = &line, .count = 1, .signatures = {.a = s->a}};
    (void)wisdom_add(s->a, s->c->t->wisdom, &one);
}

static void found(void *context, const candidate *x)
{
    const kernel_under_test *s = context;
    const wisdom_entry line = line_of(s, x, s->run_seconds, x->ratio);
    stop_hold(s->a, s->c->t->wisdom, &line);
}

static void count_candidates(tuned_kernel *k, const search_result *r)
{
    k->tried = r->count - 1;
    for (int i = 1; i < r->count; i++) {
        const candidate_status status = r->list[i]->status;
        k->refused += status == candidate_refused || status == candidate_failed, k->same += status == candidate_same;
        k->dropped += status == candidate_dropped, k->wrong += status == candidate_wrong;
        k->unjudged += status == candidate_unjudged;
    }
}

/* Reports fast candidates that were rejected for wrong or unjudged results. */
static void tell_wrong(const kernel_under_test *s, const search_result *r, const char *path, const char *where)
{
    for (int i = 1; i < r->count; i++) {
        const candidate *x = r->list[i];
        if (x->status != candidate_wrong && x->status != candidate_unjudged) continue;
        const char *what = x->status == candidate_wrong ? "a wrong result, which is a bug of tfgen"
                                                        : "a tile is not kept, as its results could not be checked";
        fprintf(stderr, "tfgen: %s: %s\n", what, x->reason);
        fprintf(stderr, "  tfgen run %s%s%s --device=%s --reference=always --tile '%s'\n", path, *where ? " --dim " : "", where,
                s->c->t->device->info.name, ((const candidate_build *)x->item)->line);
    }
}

static candidate standard_of(kernel_under_test *s)
{
    candidate x = under_test_candidate(s, &s->space->phase->tile);
    candidate_build *e = x.item;
    const launch *l = launch_named(s->c->plan, s->name);
    (void)under_test_foresee(s, &x);
    x.status = candidate_ready;
    e->a = arena_new(), e->plan = s->c->plan, e->bench = s->c->base;
    e->threads = l->threads, e->shared_bytes = l->shared_bytes;
    return x;
}

static search_result search_kernel(kernel_under_test *s, candidate *standard)
{
    const effort *how = effort_of(s->c->t->o);
    const int ranks = s->c->t->ranks.size; /* a wave's candidates are divided among them */
    const search_side side = {.propose = under_test_propose,
                              .prepare = prepare,
                              .time = time_candidate,
                              .timed = under_test_timed,
                              .check = check,
                              .found = found,
                              .join = s->c->t->share ? under_test_join : NULL,
                              .release = release,
                              .now = now,
                              .stopped = is_stopped,
                              .context = s};
    const search_options o = {.wave = (how->wave + ranks - 1) / ranks,
                              .most = (how->most + ranks - 1) / ranks,
                              .patience = how->patience,
                              .rounds = how->rounds,
                              .pairs = how->pairs,
                              .until = s->until,
                              .end = s->c->t->until,
                              .wave_seconds = s->c->wave_seconds,
                              .margin = s->share / 100 > 0.001 ? s->share / 100 : 0.001,
                              .seed = (unsigned long long)s->c->t->o->number.seed};
    const search_result r = search_run(s->a, standard, &side, &o);
    s->c->wave_seconds = r.wave_seconds;
    return r;
}

/* Tunes one kernel; s->until is its deadline. */
static void tune_kernel(tuning_session *c, kernel_under_test *s, tuned_kernel *k, const char *path, const char *where)
{
    s->best = 1, s->terminal = isatty(STDERR_FILENO) && !c->t->o->quiet && c->t->ranks.rank == 0;
    s->kept = arena_alloc(s->a, 4 * sizeof *s->kept);
    if (c->t->resume) under_test_resume(s);
    candidate standard = standard_of(s);
    const search_result r = search_kernel(s, &standard);
    const candidate_build *best = r.kept->item;
    standard.ratio = standard.status == candidate_failed ? 0 : 1;
    under_test_end_trial(s, &standard);
    arena_free(((candidate_build *)standard.item)->a);
    if (s->terminal) fputs("\r\033[K", stderr);
    if (standard.status == candidate_failed)
        bail(c->a, code_device, (position){0}, "the device failed: %s", standard.reason ? standard.reason : "no time");
    tell_wrong(s, &r, path, where);
    count_candidates(k, &r);
    if (r.elsewhere) {
        under_test_take_decision(s, k, share_told(c->t->share, s->a, s->key, "decision"));
        stop_hold(s->a, NULL, NULL);
        return;
    }
    if (c->t->share) { /* before the wisdom: a rank that finds the new line there takes the kernel for known */
        under_test_tell_decision(s, &r);
        k->tried = share_taken(c->t->share, s->key);
    }
    k->tile = best->text, k->ratio = r.ratio, k->noise = r.noise, k->ended = r.ended;
    k->how = r.kept == r.standard ? "default" : "better";
    if (r.kept != r.standard || r.ended) keep(s, &r, k->seconds);
    stop_hold(s->a, NULL, NULL);
    if (r.kept != r.standard) session_rebase(c, best->line);
}

/* ---- a plan */
static double seconds_of_run(tuning_session *c)
{
    double list[bench_most_runs];
    bench_runs(c->base, 2, list);
    bench_runs(c->base, 8, list);
    return spread_of(list, 8).median;
}

/* Adds a phase, or a further launch of one: its launch's seconds and its share of the block's time. */
static void list_phase(const tuning_session *c, tuned_plan *out, const launch *l, const ir_phase *phase, double seconds, double share)
{
    const char *signature = phase_signature(c->a, c->plan->ir, phase);
    tuned_kernel *k = NULL;
    for (int n = 0; n < out->count && !k; n++)
        if (strcmp(out->kernels[n].signature, signature) == 0) k = &out->kernels[n];
    if (!k) {
        k = &out->kernels[out->count++];
        *k = (tuned_kernel){.name = l->name,
                            .phase = phase->name,
                            .label = l->work_count > 1 ? arena_printf(c->a, "%s: %s", l->name, phase->name) : l->name,
                            .signature = signature,
                            .standard = space_text(c->a, &phase->tile),
                            .tile = space_text(c->a, &phase->tile),
                            .how = phase->from == tile_of_user ? "yours" : "",
                            .ratio = 1};
    }
    if (!k->share) k->launch_seconds = seconds;
    k->share += share;
}

static size_t phases_of(const plan *p)
{
    size_t count = 0;
    for (int i = 0; i < p->launch_count; i++) count += (size_t)p->launches[i].work_count;
    return count;
}

/* Lists a kernel per signature, longest first; returns how many. Phases of a launch share its time equally. */
static int list_kernels(tuning_session *c, tuned_plan *out)
{
    double *seconds = arena_alloc(c->a, ((size_t)c->plan->launch_count + 1) * sizeof *seconds), sum = 0;
    bench_launches(c->base, 8, seconds);
    for (int i = 0; i < c->plan->launch_count; i++) sum += seconds[i];
    for (int i = 0; i < c->plan->launch_count; i++) {
        const launch *l = &c->plan->launches[i];
        for (int k = 0; k < l->work_count; k++)
            list_phase(c, out, l, l->work[k].phase, seconds[i], seconds[i] / sum / l->work_count);
    }
    for (int i = 1; i < out->count; i++)
        for (int n = i; n > 0 && out->kernels[n].share > out->kernels[n - 1].share; n--) {
            const tuned_kernel one = out->kernels[n];
            out->kernels[n] = out->kernels[n - 1], out->kernels[n - 1] = one;
        }
    return out->count;
}

static void tune_one(tuning_session *c, tuned_plan *out, int index, const char *path, const char *where)
{
    tuner *t = c->t;
    tuned_kernel *k = &out->kernels[index];
    int at;
    const launch_phase *w = phase_of_signature(c->a, c->plan, k->signature, &at);
    if (*k->how || !w) return;
    const ir_phase *phase = w->phase;
    kernel_under_test s = {.c = c, .a = c->a, .space = space_of(c->a, c->plan, phase), .signature = k->signature, .name = k->name,
                 .block = c->plan->ir->name, .size = phase_size_of(c->a, c->plan->ir, phase)};
    double left = 0;
    for (int i = index; i < out->count; i++)
        if (!*out->kernels[i].how) left += out->kernels[i].share;
    s.until = seconds_now() + (t->until - seconds_now()) * k->share / left;
    s.key = arena_printf(c->a, "%s %s %s %s rows=%lld keys=%lld %s", path, where, c->plan->target->name, c->device, s.size.rows,
                         s.size.keys, k->signature);
    const char *decision = t->share ? share_told(t->share, c->a, s.key, "decision") : NULL;
    if (decision) under_test_take_decision(&s, k, decision);
    else if (!t->again && !t->resume && is_known(t, &s)) k->how = "known";
    else if (stop_signal || seconds_now() >= t->until) k->how = "no time";
    else {
        const char *limit;
        k->seconds = s.run_seconds = seconds_of_run(c), s.launch_seconds = k->launch_seconds, s.share = k->share;
        c->seen_count = 0;
        s.work = bench_work(c->base, at);
        if (c->model->numbers[number_bandwidth].value > 0)
            s.floor_seconds = peaks_floor(c->model, c->plan->ir->type, &s.work, &limit);
        tune_kernel(c, &s, k, path, where);
    }
    if (t->share) share_pass(t->share, s.key);
}

/* Times the plan with all kept tiles against the default plan, in pairs. */
static double compare(tuning_session *c)
{
    enum { pairs = 25, pairs_when_stopped = 5 };
    double ratios[pairs], x[bench_most_runs], y[bench_most_runs];
    int count = 0;
    if (c->base == c->root) return 1;
    for (int i = 0; i < (stop_signal ? pairs_when_stopped : pairs); i++) {
        bench *first = i % 2 ? c->base : c->root, *second = i % 2 ? c->root : c->base;
        bench_runs(first, 4, x);
        bench_runs(second, 4, y);
        const double one = spread_of(x, 4).median, other = spread_of(y, 4).median;
        ratios[count++] = i % 2 ? one / other : other / one;
    }
    return spread_of(ratios, count).median;
}

tuned_plan tuner_run(tuner *t, arena *a, const compile_request *r, const ir_graph *graph, const plan *p, const char *path,
                     const char *where)
{
    const tuning *asked = p->tuning;
    tuning_session *c = arena_alloc(a, sizeof *c);
    tuned_plan out = {.plan = p, .ratio = 1};
    t->stopped = &stop_signal;
    *c = (tuning_session){.t = t, .a = a, .request = r, .graph = graph, .fused = p->fused, .model = p->device,
                  .device = wisdom_device(a, p->device, t->device->info.label),
                  .lines = arena_alloc(a, ((asked ? asked->count : 0) + 1) * sizeof *c->lines), .line_count = asked ? asked->count : 0,
                  .bench = {.device = t->device, .seed = 1, .jobs = (int)t->o->number.jobs, .last_level = device_last_level(p->device),
                            .cache = t->cache}};
    for (size_t i = 0; i < c->line_count; i++) c->lines[i] = asked->lines[i];
    c->plan = p;
    c->root = c->base = bench_open(a, graph, p, &c->bench, NULL);
    c->plan = out.plan = bench_plan_of(c->root);
    out.kernels = arena_alloc(a, (phases_of(c->plan) + 1) * sizeof *out.kernels);
    out.before = seconds_of_run(c);
    const clocks now = clocks_now(a, t->device); /* while the device is warm */
    database_clocks(t->trials, t->session, now.text, now.why);
    const int count = list_kernels(c, &out);
    stop_has_trials();
    if (t->share) under_test_agree_on_order(c, &out, path, where);
    for (int i = 0; i < count; i++) tune_one(c, &out, i, path, where);
    out.ratio = compare(c);
    return out;
}
