/* In: tuner.h. Out: kernels tuned one after the other, the longest first, each among what was kept of those before it. */
#define _GNU_SOURCE
#include "runtime/cli/plan_words.h"
#include "runtime/cli/tune/clocks.h"
#include "runtime/cli/tune/entrant.h"
#include "gen/base/peaks.h"
#include "gen/base/predict.h"
#include "ir/devices/occupancy.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Ctrl-C: the first one ends the search, the next one the process */
static volatile sig_atomic_t stopped;
static void stop(int signal) { (void)signal, stopped = 1; }
bool tuner_stopped(void) { return stopped; }

void tuner_listen(void)
{
    struct sigaction a = {.sa_handler = stop, .sa_flags = SA_RESETHAND};
    sigemptyset(&a.sa_mask);
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
}

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
typedef struct subject {
    course *c;
    arena *a;
    space *space;
    const char *signature, *name, *block, *key; /* key: as ranks call it */
    phase_size size;
    candidate *pool, *kept; /* proposed by nobody yet; kept: of a run before, to begin with */
    int pool_count, pool_room, kept_count;
    double until;
    work work;
    double share, run_seconds, launch_seconds, floor_seconds;
    bool seeded;
    int tried;
    double best;
    bool terminal;
} subject;

static candidate made_candidate(subject *s, const ir_tile *t)
{
    entrant *e = arena_alloc(s->a, sizeof *e);
    *e = (entrant){.tile = *t, .line = space_line(s->a, s->signature, t), .text = space_text(s->a, t), .registers = -1};
    return (candidate){.item = e, .status = candidate_new};
}

typedef struct foresight {
    subject *s;
    candidate *x;
    arena *a;
} foresight;

static void best_of_all(const subject *s, double ratio, ir_tile *tile);
static void rebase(course *c, const char *line);

static void predict(void *argument)
{
    const foresight *f = argument;
    const plan *p = course_plan(f->s->c, f->a, ((entrant *)f->x->item)->line);
    for (int i = 0; i < p->launch_count; i++) {
        const ir_phase *phase = p->launches[i].kernel->phases[0];
        prediction out;
        if (strcmp(phase_signature(f->a, p->program, phase), f->s->signature) != 0) continue;
        const work w = launch_work(f->a, p, &p->launches[i], NULL, NULL);
        if (launch_predict(p, &p->launches[i], &w, &out)) f->x->predicted = out.seconds;
        return;
    }
}

/* What the planner itself refuses is no candidate. */
static bool foresee(subject *s, candidate *x)
{
    foresight f = {s, x, arena_new()};
    const bool good = arena_run(f.a, predict, &f) == code_ok;
    arena_free(f.a);
    return good;
}

static void add_to_pool(subject *s, candidate x)
{
    if (!foresee(s, &x)) return;
    if (s->pool_count == s->pool_room) {
        const int room = s->pool_room ? 2 * s->pool_room : 64;
        candidate *more = arena_alloc(s->a, (size_t)room * sizeof *more);
        if (s->pool_count) memcpy(more, s->pool, (size_t)s->pool_count * sizeof *more);
        s->pool = more, s->pool_room = room;
    }
    s->pool[s->pool_count++] = x;
}

/* The likeliest by the model, of those that it knows nothing of the one that came last: it is nearest to the best. */
static int likeliest(const subject *s)
{
    int best = s->pool_count - 1;
    for (int i = 0; i < s->pool_count; i++)
        if (s->pool[i].predicted > 0 && (!(s->pool[best].predicted > 0) || s->pool[i].predicted < s->pool[best].predicted)) best = i;
    return best;
}

/* What another rank has is not tried here. */
static bool is_mine(const subject *s, const candidate *x)
{
    const entrant *e = x->item;
    return !s->c->t->share || share_take(s->c->t->share, s->key, program_table[e->tile.program].name, e->text);
}

static int take_from_pool(subject *s, int most, candidate *out)
{
    int count = 0;
    while (count < most && s->pool_count) {
        const int at = likeliest(s);
        out[count] = s->pool[at];
        memmove(&s->pool[at], &s->pool[at + 1], (size_t)(--s->pool_count - at) * sizeof *s->pool);
        count += is_mine(s, &out[count]);
    }
    return count;
}

static int propose(void *context, const candidate *best, int most, candidate *out)
{
    enum { near = 96 };
    subject *s = context;
    ir_tile list[near], from = best ? ((entrant *)best->item)->tile : s->space->phase->tile;
    int count = 0, found;
    if (s->c->t->share) best_of_all(s, best ? best->ratio : 1, &from);
    for (int i = 0; !s->seeded && i < s->kept_count && count < most; i++)
        if (is_mine(s, &s->kept[i])) out[count++] = s->kept[i];
    s->seeded = true;
    do {
        found = space_near(s->space, &from, near, list);
        for (int i = found - 1; i >= 0; i--) add_to_pool(s, made_candidate(s, &list[i]));
        count += take_from_pool(s, most - count, out + count);
    } while (!count && found);
    return count;
}

/* ---- the database */
static database_key key_of(const subject *s) { return (database_key){s->signature, s->c->plan->target->name, s->c->device, s->size}; }

static database_trial trial_of(const subject *s, const candidate *x)
{
    const entrant *e = x->item;
    const char *hash = e->code_hash ? arena_printf(s->a, "%016llx", e->code_hash) : NULL;
    const kernel_need need = {.threads = e->threads, .registers = e->registers, .shared = e->shared_bytes};
    occupancy held = {0};
    if (e->registers < 0 || !occupancy_of(s->c->model, &need, &held)) held = (occupancy){0};
    return (database_trial){.session = s->c->t->session,
                            .key = key_of(s),
                            .block = s->block,
                            .kernel = s->name,
                            .program = program_table[e->tile.program].name,
                            .version = program_version(s->a, e->tile.program),
                            .tile = e->text,
                            .status = candidate_status_names[x->status],
                            .reason = x->reason,
                            .predicted = x->predicted,
                            .ratio = x->ratio,
                            .registers = e->registers,
                            .spills = e->spills,
                            .scratch_bytes = e->scratch_bytes,
                            .shared_bytes = e->shared_bytes,
                            .threads = e->threads,
                            .code_hash = hash,
                            .compile_seconds = e->compile_seconds,
                            .run_seconds = s->run_seconds,
                            .launch_seconds = s->launch_seconds,
                            .operations = s->work.products + s->work.others,
                            .bytes = s->work.read + s->work.written,
                            .floor_seconds = s->floor_seconds,
                            .waves = held.waves,
                            .most_waves = held.most_waves,
                            .seconds = x->seconds,
                            .against = x->against,
                            .rounds = x->rounds,
                            .checked = x->checked};
}

/* Before it runs for the first time: what hangs has been told of. */
static void begin_trial(const subject *s, const candidate *x)
{
    entrant *e = x->item;
    const database_trial t = trial_of(s, x);
    if (!e->row) e->row = database_start(s->c->t->trials, &t);
}

static void end_trial(const subject *s, const candidate *x)
{
    begin_trial(s, x);
    const database_trial t = trial_of(s, x);
    database_finish(s->c->t->trials, ((entrant *)x->item)->row, &t);
}

static void timed(void *context, const candidate *x)
{
    const subject *s = context;
    const database_trial t = trial_of(s, x);
    database_save(s->c->t->trials, ((entrant *)x->item)->row, &t);
}

static void tell(subject *s)
{
    if (!s->terminal) return;
    const double left = s->until - seconds_now(), all = s->c->t->until - seconds_now();
    fprintf(stderr, "\r\033[K%s: %d tried, best %.3f of the default, %.0f s of %.0f s left", s->name, s->tried, s->best,
            left > 0 ? left : 0, all > 0 ? all : 0);
    fflush(stderr);
}

static void prepare(void *context, candidate *const *list, int count)
{
    subject *s = context;
    entrants_prepare(s->c, list, count, s->signature);
    s->tried += count, s->c->t->tried += count;
    tell(s);
}

static bool time_candidate(void *context, candidate *x, double *seconds)
{
    subject *s = context;
    if (x->ratio > 0 && x->ratio < s->best) s->best = x->ratio, tell(s);
    begin_trial(s, x);
    return entrant_time(s->c, x, seconds);
}

static bool check(void *context, candidate *x)
{
    const subject *s = context;
    return entrant_check(s->c, x, s->signature);
}

static void release(void *context, candidate *x)
{
    const subject *s = context;
    if (x->status != candidate_new) end_trial(s, x);
    entrant_close(x);
}

static double now(void *context) { return (void)context, seconds_now(); }
static bool is_stopped(void *context) { return (void)context, stopped; }

/* ---- what is known */
/* As space_text() writes it; false: another tfgen did, or something else. */
static bool read_tile(arena *a, const char *program, const char *tile, ir_tile *out)
{
    *out = (ir_tile){.program = program_named(program)};
    const char *at = tile + strcspn(tile, " "); /* behind the layer */
    for (at += strspn(at, " "); *at && out->program; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");
        if (tile_read_setting(a, arena_strndup(a, at, size), out)) return false;
        at += size;
    }
    return tile_is_whole(out);
}

/* A tile that was interrupted twice is left alone. */
static void take_known(void *context, const char *program, const char *version, const char *tile, const char *status, double ratio,
                       int interrupted)
{
    subject *s = context;
    ir_tile t;
    if (!read_tile(s->a, program, tile, &t) || strcmp(program_version(s->a, t.program), version) != 0) return;
    const bool unfinished = !*status && interrupted < 2, good = ratio > 0 && ratio < 1 && strcmp(status, "wrong") != 0;
    if (unfinished || tile_same(&t, &s->space->phase->tile)) return;
    space_forget(s->space, &t);
    if (good && s->kept_count < 4) s->kept[s->kept_count++] = made_candidate(s, &t);
}

/* ---- what other ranks found */
typedef struct others {
    const subject *s;
    ir_tile *tiles;
    double *ratios;
    int count, most;
} others;

static void take_other(void *context, const char *program, const char *version, const char *tile, double ratio)
{
    others *o = context;
    ir_tile t;
    arena *a = o->s->a;
    if (o->count == o->most || !read_tile(a, program, tile, &t) || strcmp(program_version(a, t.program), version) != 0) return;
    o->tiles[o->count] = t, o->ratios[o->count++] = ratio;
}

static void best_of_all(const subject *s, double ratio, ir_tile *tile)
{
    ir_tile best;
    double least;
    others o = {s, &best, &least, 0, 1};
    const database_key key = key_of(s);
    share_best(s->c->t->share, &key, take_other, &o);
    if (o.count && least < ratio) *tile = best;
}

static int join(void *context, int most, candidate *out)
{
    subject *s = context;
    ir_tile tiles[search_most_joined];
    double ratios[search_most_joined];
    others o = {s, tiles, ratios, 0, most};
    const database_key key = key_of(s);
    if (!share_join(s->c->t->share, s->key, s->until)) return -1;
    share_best(s->c->t->share, &key, take_other, &o);
    for (int i = 0; i < o.count; i++) out[i] = made_candidate(s, &tiles[i]), out[i].ratio = ratios[i];
    return o.count;
}

/* "default", or ratio, noise and the line. */
static void tell_decision(const subject *s, const search_result *r)
{
    const entrant *e = r->kept->item;
    const char *said = r->kept == r->standard ? "default" : arena_printf(s->a, "%.17g %.17g %s", r->ratio, r->noise, e->line);
    (void)share_tell(s->c->t->share, s->key, "decision", said);
}

static void take_decision(subject *s, tuned_kernel *k, const char *said)
{
    char *at;
    k->how = "default", k->ended = true;
    k->tried = share_taken(s->c->t->share, s->key);
    if (strcmp(said, "default") == 0) return;
    k->how = "better";
    k->ratio = strtod(said, &at), k->noise = strtod(at, &at);
    const char *line = arena_strdup(s->a, at + strspn(at, " ")), *tile = strstr(line, ": ");
    if (tile) k->tile = tile + 2;
    rebase(s->c, line);
}

static bool is_known(const tuner *t, const subject *s)
{
    int count;
    arena *a = s->a;
    const wisdom *w = wisdom_load_file(a, t->wisdom);
    const wisdom_entry **list = wisdom_find(a, w, s->c->plan->target, s->c->device, s->signature, s->size, &count);
    return count && list[0]->size.rows == s->size.rows && list[0]->size.keys == s->size.keys;
}

/* ---- a search, and what comes of it */
static void keep(subject *s, const search_result *r, double before)
{
    tuner *t = s->c->t;
    const entrant *e = r->kept->item;
    wisdom_entry line = {.target = s->c->plan->target->name,
                         .device = s->c->device,
                         .signature = s->signature,
                         .version = program_version(s->a, e->tile.program),
                         .size = s->size,
                         .tile = e->tile,
                         .seconds = before * r->ratio,
                         .default_seconds = before,
                         .date = t->date,
                         .text = ""};
    const wisdom one = {.list = &line, .count = 1, .signatures = {.a = s->a}};
    (void)wisdom_add(s->a, t->wisdom, &one);
}

static void count_candidates(tuned_kernel *k, const search_result *r)
{
    k->tried = r->count - 1;
    for (int i = 1; i < r->count; i++) {
        const candidate_status status = r->list[i]->status;
        k->refused += status == candidate_refused || status == candidate_failed, k->same += status == candidate_same;
        k->dropped += status == candidate_dropped, k->wrong += status == candidate_wrong;
    }
}

static void tell_wrong(const subject *s, const search_result *r, const char *path, const char *where)
{
    for (int i = 1; i < r->count; i++) {
        const candidate *x = r->list[i];
        if (x->status != candidate_wrong) continue;
        fprintf(stderr, "tfgen: a wrong result, which is a bug of tfgen: %s\n", x->reason);
        fprintf(stderr, "  tfgen run %s%s%s --device=%s --reference=always --tile '%s'\n", path, *where ? " --dim " : "", where,
                s->c->t->device->info.name, ((const entrant *)x->item)->line);
    }
}

static candidate standard_of(subject *s)
{
    candidate x = made_candidate(s, &s->space->phase->tile);
    entrant *e = x.item;
    const launch *l = launch_named(s->c->plan, s->name);
    (void)foresee(s, &x);
    x.status = candidate_ready;
    e->a = arena_new(), e->plan = s->c->plan, e->bench = s->c->base;
    e->threads = l->threads, e->shared_bytes = l->shared_bytes;
    return x;
}

static search_result search_kernel(subject *s, candidate *standard)
{
    const effort *how = effort_of(s->c->t->o);
    const int ranks = s->c->t->ranks.size; /* whose waves are one together */
    const search_side side = {propose, prepare, time_candidate, timed, check, s->c->t->share ? join : NULL, release, now, is_stopped, s};
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

static void rebase(course *c, const char *line)
{
    const char **lines = arena_alloc(c->a, (c->line_count + 2) * sizeof *lines);
    if (c->line_count) memcpy(lines, c->lines, c->line_count * sizeof *lines);
    lines[c->line_count++] = line;
    c->lines = lines;
    plan *p = course_plan(c, c->a, NULL);
    emit(c->a, p);
    c->base = bench_open(c->a, c->graph, p, &c->bench, c->root);
    c->plan = bench_plan_of(c->base);
}

/* until: of this kernel. */
static void tune_kernel(course *c, subject *s, tuned_kernel *k, const char *path, const char *where)
{
    s->best = 1, s->terminal = isatty(STDERR_FILENO) && !c->t->o->quiet && c->t->ranks.rank == 0;
    s->kept = arena_alloc(s->a, 4 * sizeof *s->kept);
    const database_key key = key_of(s);
    if (c->t->resume) database_known(c->t->trials, &key, take_known, s);
    candidate standard = standard_of(s);
    const search_result r = search_kernel(s, &standard);
    const entrant *best = r.kept->item;
    standard.ratio = standard.status == candidate_failed ? 0 : 1;
    end_trial(s, &standard);
    arena_free(((entrant *)standard.item)->a);
    if (s->terminal) fputs("\r\033[K", stderr);
    if (standard.status == candidate_failed)
        bail(c->a, code_device, (position){0}, "the device failed: %s", standard.reason ? standard.reason : "no time");
    tell_wrong(s, &r, path, where);
    count_candidates(k, &r);
    if (r.elsewhere) {
        take_decision(s, k, share_told(c->t->share, s->a, s->key, "decision"));
        return;
    }
    if (c->t->share) tell_decision(s, &r), k->tried = share_taken(c->t->share, s->key); /* ahead of the wisdom, which others look into */
    k->tile = best->text, k->ratio = r.ratio, k->noise = r.noise, k->ended = r.ended;
    k->how = r.kept == r.standard ? "default" : "better";
    if (r.kept != r.standard || r.ended) keep(s, &r, k->seconds);
    if (r.kept != r.standard) rebase(c, best->line);
}

/* ---- a plan */
static double seconds_of_run(course *c)
{
    double list[bench_most_runs];
    bench_runs(c->base, 2, list);
    bench_runs(c->base, 8, list);
    return spread_of(list, 8).median;
}

/* One of each signature, the longest first; returns how many. */
static int list_kernels(course *c, tuned_plan *out)
{
    double *seconds = arena_alloc(c->a, ((size_t)c->plan->launch_count + 1) * sizeof *seconds), sum = 0;
    bench_launches(c->base, 8, seconds);
    for (int i = 0; i < c->plan->launch_count; i++) sum += seconds[i];
    for (int i = 0; i < c->plan->launch_count; i++) {
        const ir_phase *phase = c->plan->launches[i].kernel->phases[0];
        const char *signature = phase_signature(c->a, c->plan->program, phase);
        tuned_kernel *k = NULL;
        for (int n = 0; n < out->count && !k; n++)
            if (strcmp(out->kernels[n].signature, signature) == 0) k = &out->kernels[n];
        if (!k) {
            k = &out->kernels[out->count++];
            *k = (tuned_kernel){.name = c->plan->launches[i].name,
                                .signature = signature,
                                .standard = space_text(c->a, &phase->tile),
                                .tile = space_text(c->a, &phase->tile),
                                .how = phase->from == tile_of_user ? "yours" : "",
                                .ratio = 1};
        }
        if (!k->share) k->launch_seconds = seconds[i];
        k->share += seconds[i] / sum;
    }
    for (int i = 1; i < out->count; i++)
        for (int n = i; n > 0 && out->kernels[n].share > out->kernels[n - 1].share; n--) {
            const tuned_kernel one = out->kernels[n];
            out->kernels[n] = out->kernels[n - 1], out->kernels[n - 1] = one;
        }
    return out->count;
}

static void tune_one(course *c, tuned_plan *out, int index, const char *path, const char *where)
{
    tuner *t = c->t;
    tuned_kernel *k = &out->kernels[index];
    const launch *l = launch_named(c->plan, k->name);
    if (*k->how || !l) return;
    const ir_phase *phase = l->kernel->phases[0];
    subject s = {.c = c, .a = c->a, .space = space_of(c->a, c->plan, phase), .signature = k->signature, .name = k->name,
                 .block = c->plan->program->name, .size = phase_size_of(c->a, c->plan->program, phase)};
    double left = 0;
    for (int i = index; i < out->count; i++)
        if (!*out->kernels[i].how) left += out->kernels[i].share;
    s.until = seconds_now() + (t->until - seconds_now()) * k->share / left;
    s.key = arena_printf(c->a, "%s %s %s %s rows=%lld keys=%lld %s", path, where, c->plan->target->name, c->device, s.size.rows,
                         s.size.keys, k->signature);
    const char *decision = t->share ? share_told(t->share, c->a, s.key, "decision") : NULL;
    if (decision) take_decision(&s, k, decision);
    else if (!t->again && !t->resume && is_known(t, &s)) k->how = "known";
    else if (stopped || seconds_now() >= t->until) k->how = "no time";
    else {
        const char *limit;
        k->seconds = s.run_seconds = seconds_of_run(c), s.launch_seconds = k->launch_seconds, s.share = k->share;
        c->seen_count = 0;
        s.work = bench_work(c->base, (int)(l - c->plan->launches));
        if (c->model->numbers[number_bandwidth].value > 0)
            s.floor_seconds = peaks_floor(c->model, c->plan->program->type, &s.work, &limit);
        tune_kernel(c, &s, k, path, where);
    }
    if (t->share) share_pass(t->share, s.key);
}

/* Ranks measure shares of their own, and go through the kernels in one order: that of whoever tells it first. */
static void agree_on_order(course *c, tuned_plan *out, const char *path, const char *where)
{
    const char *key = arena_printf(c->a, "%s %s %s %s", path, where, c->plan->target->name, c->device);
    text mine = {.a = c->a};
    for (int i = 0; i < out->count; i++) text_printf(&mine, "%.17g %s\n", out->kernels[i].share, out->kernels[i].signature);
    (void)share_tell(c->t->share, key, "order", mine.data ? mine.data : "");
    const name_list lines = options_lines(c->a, share_told(c->t->share, c->a, key, "order"));
    for (size_t i = 0; i < lines.count && (int)i < out->count; i++) {
        char *at;
        const double share = strtod(lines.names[i], &at);
        for (int n = (int)i; n < out->count; n++) {
            if (strcmp(out->kernels[n].signature, at + strspn(at, " ")) != 0) continue;
            const tuned_kernel one = out->kernels[n];
            out->kernels[n] = out->kernels[i], out->kernels[i] = one;
            out->kernels[i].share = share;
            break;
        }
    }
}

/* All that was kept against the default, in pairs. */
static double compare(course *c)
{
    double ratios[25], x[bench_most_runs], y[bench_most_runs];
    if (c->base == c->root) return 1;
    for (int i = 0; i < 25; i++) {
        bench *first = i % 2 ? c->base : c->root, *second = i % 2 ? c->root : c->base;
        bench_runs(first, 4, x);
        bench_runs(second, 4, y);
        const double one = spread_of(x, 4).median, other = spread_of(y, 4).median;
        ratios[i] = i % 2 ? one / other : other / one;
    }
    return spread_of(ratios, 25).median;
}

tuned_plan tuner_run(tuner *t, arena *a, const compile_request *r, const ir_program *graph, const plan *p, const char *path,
                     const char *where)
{
    const tuning *asked = p->tuning;
    course *c = arena_alloc(a, sizeof *c);
    tuned_plan out = {.plan = p, .ratio = 1};
    *c = (course){.t = t, .a = a, .request = r, .graph = graph, .fused = p->fused, .model = p->device,
                  .device = wisdom_device(a, p->device, t->device->info.label),
                  .lines = arena_alloc(a, ((asked ? asked->count : 0) + 1) * sizeof *c->lines), .line_count = asked ? asked->count : 0,
                  .bench = {.device = t->device, .seed = 1, .jobs = (int)t->o->number.jobs, .last_level = device_last_level(p->device),
                            .cache = t->cache}};
    for (size_t i = 0; i < c->line_count; i++) c->lines[i] = asked->lines[i];
    c->plan = p;
    c->root = c->base = bench_open(a, graph, p, &c->bench, NULL);
    c->plan = out.plan = bench_plan_of(c->root);
    out.kernels = arena_alloc(a, ((size_t)c->plan->launch_count + 1) * sizeof *out.kernels);
    out.before = seconds_of_run(c);
    const clocks now = clocks_now(a, t->device); /* it has just run */
    database_clocks(t->trials, t->session, now.text, now.why);
    const int count = list_kernels(c, &out);
    if (t->share) agree_on_order(c, &out, path, where);
    for (int i = 0; i < count; i++) tune_one(c, &out, i, path, where);
    out.ratio = compare(c);
    return out;
}
