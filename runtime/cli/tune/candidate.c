/* Contract: candidate.h. A candidate becomes ready, or has the reason why not; each has its own arena. */
#include "runtime/cli/tune/candidate.h"
#include "runtime/cli/plan_words.h"
#include "runtime/cli/trial.h"
#include "runtime/cli/trial_data.h"
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const double most_check_operations = 4e9;

plan *session_plan(const tuning_session *c, arena *a, const char *line)
{
    const char **lines = arena_alloc(a, (c->line_count + 2) * sizeof *lines);
    tuning *t = arena_alloc(a, sizeof *t);
    if (c->line_count) memcpy(lines, c->lines, c->line_count * sizeof *lines);
    if (line) lines[c->line_count] = line;
    *t = c->plan->tuning ? *c->plan->tuning : (tuning){0}; /* tiles that spilled in the default plan spill here as well */
    t->lines = lines, t->count = c->line_count + (line != NULL);
    arena_source(a, c->request->name, NULL, 0);
    return plan_choose(a, c->fused, c->model, t);
}

void session_rebase(tuning_session *c, const char *line)
{
    const char **lines = arena_alloc(c->a, (c->line_count + 2) * sizeof *lines);
    if (c->line_count) memcpy(lines, c->lines, c->line_count * sizeof *lines);
    lines[c->line_count++] = line;
    c->lines = lines;
    plan *p = session_plan(c, c->a, NULL);
    emit(c->a, p);
    c->base = bench_open(c->a, c->graph, p, &c->bench, c->root);
    c->plan = bench_plan_of(c->base);
}

/* ---- steps that may bail, each in the candidate's arena */
typedef struct attempt {
    const tuning_session *c;
    candidate *x;
    candidate_build *e;
    const char *signature;
    trial_result checked;
} attempt;

static bool take(attempt *s, void (*body)(void *), candidate_status otherwise)
{
    if (arena_run(s->e->a, body, s) == code_ok) return true;
    s->x->status = otherwise;
    s->x->reason = cli_first_line(s->c->a, arena_diagnostics(s->e->a));
    return false;
}

/* Plans the candidate; refused if the phase gets another tile because this one spilled in the default plan. */
static void make_plan(void *argument)
{
    attempt *s = argument;
    plan *p = session_plan(s->c, s->e->a, s->e->line);
    int at;
    const launch_phase *w = phase_of_signature(s->e->a, p, s->signature, &at);
    if (!w || !tile_same(w->tile, &s->e->tile)) bail(s->e->a, code_unsupported, (position){0}, "it spills");
    emit(s->e->a, p);
    s->e->plan = p;
}

/* Opens the bench; a plan made again after spills has another tile, so the candidate is refused. */
static void open_bench(void *argument)
{
    attempt *s = argument;
    s->e->bench = bench_open(s->e->a, s->c->graph, s->e->plan, &s->c->bench, s->c->root);
    const plan *p = bench_plan_of(s->e->bench);
    int at;
    if (p == s->e->plan || !phase_of_signature(s->e->a, p, s->signature, &at)) return;
    bail(s->e->a, code_unsupported, (position){0}, "it spills");
}

/* ---- code: compiled for all candidates at once */
typedef struct page_list {
    code_request *requests;
    code_result *results;
    int *owner; /* index of its candidate */
    int count;
} page_list;

static bool in_base(const tuning_session *c, const source_text *source)
{
    for (int i = 0; i < c->plan->launch_count; i++)
        if (source_same(source, &c->plan->launches[i].source)) return true;
    for (int i = 0; i < c->plan->pack_count; i++)
        if (source_same(source, &c->plan->packs[i].source)) return true;
    return false;
}

static void add_page(const tuning_session *c, page_list *u, arena *a, const source_text *source, const char *file, int owner)
{
    if (in_base(c, source)) return;
    u->owner[u->count] = owner;
    u->requests[u->count] =
        (code_request){.source = source_join(a, source), .size = source_size(source), .name = file, .arch = c->t->device->info.arch};
    u->count++;
}

static void list_pages(const tuning_session *c, candidate *const *list, int count, arena *a, page_list *u)
{
    size_t room = 1;
    for (int i = 0; i < count; i++) {
        const candidate_build *e = list[i]->item;
        if (e->plan) room += (size_t)e->plan->launch_count + (size_t)e->plan->pack_count;
    }
    *u = (page_list){arena_alloc(a, room * sizeof *u->requests), arena_alloc(a, room * sizeof *u->results),
                 arena_alloc(a, room * sizeof *u->owner), 0};
    for (int i = 0; i < count; i++) {
        const plan *p = ((const candidate_build *)list[i]->item)->plan;
        for (int k = 0; p && k < p->pack_count; k++) add_page(c, u, a, &p->packs[k].source, arena_printf(a, "%s.hip", p->packs[k].name), i);
        for (int k = 0; p && k < p->launch_count; k++) add_page(c, u, a, &p->launches[k].source, p->launches[k].file, i);
    }
}

static void take_facts(candidate_build *e, const code_result *r)
{
    for (size_t k = 0; k < r->n_kernels; k++) {
        const kernel_facts *f = &r->kernels[k];
        if ((int)f->vgprs > e->registers) e->registers = (int)f->vgprs;
        e->spills += (int)f->vgpr_spills, e->scratch_bytes += (int)f->scratch_bytes;
    }
    if (r->code_size) e->code_hash = XXH3_64bits_withSeed(r->code, r->code_size, e->code_hash + 1);
}

static void take_code(const tuning_session *c, candidate *x, const code_result *r)
{
    spilled_tile spilled;
    candidate_build *e = x->item;
    take_facts(e, r);
    if (x->status != candidate_new) return;
    if (code_spills(r, &spilled)) {
        x->status = candidate_refused;
        x->reason = arena_printf(c->a, "it spills %d bytes of scratch a thread, %d vectors", spilled.scratch, spilled.vectors);
    } else if (r->status != build_ok) {
        x->status = candidate_refused;
        x->reason = cli_first_line(c->a, r->log ? r->log : "no code");
    }
}

unsigned long long candidate_hash_launches(const plan *p, unsigned long long hash)
{
    for (int i = 0; hash && i < p->launch_count; i++) {
        const launch *l = &p->launches[i];
        for (int k = 0; k < l->work_count; k++) {
            const tile_extents *x = &l->work[k].extents;
            const int numbers[] = {l->threads,      l->shared_bytes, l->dynamic_bytes, x->tile_rows,
                                   x->column_tiles, l->cluster,      l->resident,      l->grid_limit};
            hash = XXH3_64bits_withSeed(numbers, sizeof numbers, hash);
        }
    }
    return hash;
}

typedef struct compiling {
    const tuning_session *c;
    candidate *const *list;
    int count;
    arena *a;
} compiling;

static void compile_all(void *argument)
{
    const compiling *j = argument;
    page_list u;
    list_pages(j->c, j->list, j->count, j->a, &u);
    if (!u.count) return;
    const double start = seconds_now();
    cache_compile_all(j->c->t->cache, u.requests, (size_t)u.count, (int)j->c->t->o->number.jobs, u.results, NULL, NULL, NULL);
    const double each = (seconds_now() - start) / j->count;
    for (int i = 0; i < u.count; i++) take_code(j->c, j->list[u.owner[i]], &u.results[i]), code_result_free(&u.results[i]);
    for (int i = 0; i < j->count; i++) {
        candidate_build *e = j->list[i]->item;
        e->compile_seconds = each;
        if (e->plan) e->code_hash = candidate_hash_launches(e->plan, e->code_hash);
    }
}

static void see(tuning_session *c, const candidate_build *e)
{
    c->seen = arena_more(c->a, c->seen, c->seen_count, &c->seen_room, sizeof *c->seen);
    c->seen[c->seen_count++] = e;
}

static void find_same(tuning_session *c, candidate *x)
{
    const candidate_build *e = x->item;
    if (x->status != candidate_new || !e->code_hash) return;
    for (int i = 0; i < c->seen_count; i++) {
        if (c->seen[i]->code_hash != e->code_hash) continue;
        x->status = candidate_same;
        x->reason = arena_printf(c->a, "the same code as %s", c->seen[i]->text);
        return;
    }
    see(c, e);
}

static void note_launch(candidate_build *e, const char *signature)
{
    int at;
    (void)phase_of_signature(e->a, e->plan, signature, &at);
    if (at >= 0) e->threads = e->plan->launches[at].threads, e->shared_bytes = e->plan->launches[at].shared_bytes;
}

void candidates_prepare(tuning_session *c, candidate *const *list, int count, const char *signature)
{
    for (int i = 0; i < count && !*c->t->stopped; i++) {
        candidate_build *e = list[i]->item;
        e->a = arena_new(), e->registers = -1;
        attempt s = {.c = c, .x = list[i], .e = e, .signature = signature};
        if (take(&s, make_plan, candidate_refused)) note_launch(e, signature);
    }
    if (!c->t->device->api->compile && !*c->t->stopped) { /* the host engine compiles when it opens a module */
        compiling j = {c, list, count, arena_new()};
        (void)arena_run(j.a, compile_all, &j);
        arena_free(j.a);
        for (int i = 0; i < count; i++) find_same(c, list[i]);
    }
    for (int i = 0; i < count && !*c->t->stopped; i++) { /* if stopped, the others stay new */
        attempt s = {.c = c, .x = list[i], .e = list[i]->item, .signature = signature};
        const double start = seconds_now();
        if (list[i]->status == candidate_new && take(&s, open_bench, candidate_refused)) list[i]->status = candidate_ready;
        if (c->t->device->api->compile) s.e->compile_seconds = seconds_now() - start;
    }
}

/* ---- times */
typedef struct timing {
    candidate_build *e;
    double seconds[bench_most_runs], median;
} timing;

static void time_batch(void *argument)
{
    timing *t = argument;
    candidate_build *e = t->e;
    t->median = spread_of(t->seconds, bench_batch(e->bench, bench_most_runs, t->seconds)).median;
}

bool candidate_time(const tuning_session *c, candidate *x, double *seconds)
{
    timing t = {.e = x->item};
    if (!t.e->bench) return false;
    const bool good = arena_run(t.e->a, time_batch, &t) == code_ok;
    if (!good) x->reason = cli_first_line(c->a, arena_diagnostics(t.e->a));
    *seconds = t.median;
    return good;
}

/* ---- against the reference */
enum { check_seed = 1 }; /* the default of `tfgen run` */

static void check_body(void *argument)
{
    attempt *s = argument;
    const trial_options options = {.device = s->c->t->device,
                                   .seed = check_seed,
                                   .jobs = (int)s->c->t->o->number.jobs,
                                   .cache = s->c->t->cache,
                                   .reference = reference_always,
                                   .only = s->signature,
                                   .inputs = s->c->inputs,
                                   .sample_above = most_check_operations};
    s->checked = trial_run(s->e->a, s->c->graph, s->e->plan, &options);
}

bool candidate_check(tuning_session *c, candidate *x, const char *signature)
{
    candidate_build *e = x->item, own = *e;
    own.a = arena_new();
    attempt s = {.c = c, .x = x, .e = &own, .signature = signature};
    if (!c->inputs) c->inputs = data_make(c->a, c->graph, check_seed, NULL);
    const bool ran = take(&s, check_body, candidate_failed);
    const bool good = ran && s.checked.verdict == trial_good;
    if (ran && !good) x->reason = cli_first_line(c->a, trial_fault(own.a, &s.checked));
    if (ran && s.checked.verdict == trial_unjudged) x->status = candidate_unjudged;
    arena_free(own.a);
    return good;
}

void candidate_close(candidate *x)
{
    candidate_build *e = x->item;
    if (e->a) arena_free(e->a);
    e->a = NULL, e->bench = NULL, e->plan = NULL;
}
