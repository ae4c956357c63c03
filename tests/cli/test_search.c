/* The tuner's search on a simulated device whose best configuration is known, with noise, drift, throttling, failures and hangs; the tiles
 * that are proposed to it. No test depends on real times. */
#define _GNU_SOURCE
#include "gen/plan/tile.h"
#include "gen/program/program.h"
#include "runtime/cli/tune/search.h"
#include "runtime/cli/tune/space.h"
#include "gen/base/signature.h"
#include "tests/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a simulated device: a grid of configurations */
enum { axes = 4, steps = 6, points = 6 * 6 * 6 * 6 };

typedef struct point_state {
    double truth; /* relative time */
    bool refused, fails, wrong, hangs, proposed;
} point_state;

typedef struct simulated {
    unsigned long long random;
    point_state at[points];
    int standard;
    double clock, noise, phase, base; /* base: seconds of a run whose relative time is 1 */
    double stop_at;                   /* Ctrl-C by the clock; 0: never */
    int checks, prepared, released;
    bool tells;        /* asks for the best candidate so far */
    int found;         /* times */
    double found_truth, checking; /* relative time of the candidate reported last; seconds of all checks */
} simulated;

static unsigned long long draw(simulated *d)
{
    unsigned long long z = d->random += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    return (z ^ z >> 27) * 0x94d049bb133111ebull >> 11;
}
static double uniform(simulated *d) { return (double)draw(d) / 9007199254740992.0; }
static double normal(simulated *d) { return sqrt(-2 * log(uniform(d) + 1e-300)) * cos(6.283185307179586 * uniform(d)); }

static int axis_of(int point, int axis)
{
    for (; axis > 0; axis--) point /= steps;
    return point % steps;
}

static int moved(int point, int axis, int by)
{
    int scale = 1;
    const int now = axis_of(point, axis) + by;
    for (int i = 0; i < axis; i++) scale *= steps;
    return now < 0 || now >= steps ? -1 : point + by * scale;
}

/* One valley with a bent floor; a tenth of the points have no code, some fail, are wrong, or hang. */
static void make_device(simulated *d, unsigned long long seed)
{
    double best[axes], weight[axes];
    *d = (simulated){.random = seed * 7919 + 1};
    for (int i = 0; i < axes; i++) best[i] = uniform(d) * (steps - 1), weight[i] = 0.01 + 0.05 * uniform(d);
    const double bend = 0.02 * (uniform(d) - 0.5);
    for (int p = 0; p < points; p++) {
        double off[axes], sum = 0;
        for (int i = 0; i < axes; i++) off[i] = axis_of(p, i) - best[i], sum += weight[i] * off[i] * off[i];
        point_state *s = &d->at[p];
        s->truth = 1 + fmax(0, sum + bend * off[0] * off[1]) + 0.01 * uniform(d);
        s->refused = uniform(d) < 0.1, s->fails = uniform(d) < 0.02, s->wrong = uniform(d) < 0.02, s->hangs = uniform(d) < 0.002;
    }
    d->standard = (int)(uniform(d) * points);
    d->at[d->standard] = (point_state){.truth = d->at[d->standard].truth, .proposed = true};
    d->noise = 0.002 + 0.03 * uniform(d), d->phase = 6 * uniform(d), d->base = 1e-5 + 1e-3 * uniform(d);
}

static bool is_good(const point_state *s) { return !s->refused && !s->fails && !s->wrong && !s->hangs; }

static double best_truth(const simulated *d)
{
    double best = INFINITY;
    for (int p = 0; p < points; p++)
        if (is_good(&d->at[p]) && d->at[p].truth < best) best = d->at[p].truth;
    return best;
}

static int point_of(const candidate *c) { return (int)(size_t)c->item; }

static void offer(simulated *d, int p, int most, candidate *out, int *count)
{
    if (p < 0 || d->at[p].proposed || *count == most) return;
    d->at[p].proposed = true;
    out[(*count)++] = (candidate){.item = (void *)(size_t)p};
}

static int sim_propose(void *context, const candidate *best, int most, candidate *out)
{
    simulated *d = context;
    const int from = best ? point_of(best) : d->standard;
    int count = 0;
    for (int i = 0; i < axes; i++)
        for (int by = -1; by <= 1; by += 2) offer(d, moved(from, i, by), most, out, &count);
    for (int i = 0; i < axes; i++)
        for (int k = 0; k < i; k++)
            for (int n = 0; n < 4; n++) {
                const int p = moved(from, i, n & 1 ? 1 : -1);
                if (p >= 0) offer(d, moved(p, k, n & 2 ? 1 : -1), most, out, &count);
            }
    return count;
}

static void sim_prepare(void *context, candidate *const *list, int count)
{
    simulated *d = context;
    for (int i = 0; i < count; i++) {
        list[i]->status = d->at[point_of(list[i])].refused ? candidate_refused : candidate_ready;
        d->prepared += list[i]->status == candidate_ready;
        d->clock += 0.3;
    }
}

/* Times drift by a tenth; part of the time everything is a third slower; one batch in fifty is far off. */
static bool sim_time(void *context, candidate *c, double *seconds)
{
    simulated *d = context;
    const point_state *s = &d->at[point_of(c)];
    ck_assert_msg(c->status == candidate_ready, "a candidate that is not ready is timed");
    if (s->hangs) d->clock += 10;
    if (s->fails || s->hangs) return c->reason = "the device stopped", false;
    const double drift = 1 + 0.1 * sin(d->phase + d->clock / 7), throttle = fmod(d->clock, 11) > 8 ? 1.33 : 1;
    *seconds = d->base * s->truth * drift * throttle * exp(d->noise * normal(d)) * (uniform(d) < 0.02 ? 4 : 1);
    d->clock += fmax(4e-3, *seconds);
    return true;
}

static void sim_timed(void *context, const candidate *c)
{
    (void)context;
    ck_assert(c->rounds > 0 && c->ratio > 0);
}

static bool sim_check(void *context, candidate *c)
{
    simulated *d = context;
    d->checks++;
    if (d->tells) d->clock += 2, d->checking += 2;
    return !d->at[point_of(c)].wrong;
}

static void sim_found(void *context, const candidate *c)
{
    simulated *d = context;
    ck_assert(c->checked && !d->at[point_of(c)].wrong && c->rounds > 0 && c->ratio < 1);
    d->found++, d->found_truth = d->at[point_of(c)].truth;
}

static void sim_release(void *context, candidate *c)
{
    (void)c;
    ((simulated *)context)->released++;
}
static double sim_now(void *context) { return ((simulated *)context)->clock; }
static bool sim_stopped(void *context)
{
    const simulated *d = context;
    return d->stop_at > 0 && d->clock >= d->stop_at;
}

/* end, wave_seconds: see search_options. */
static search_result search_until(arena *a, simulated *d, candidate *standard, double budget, double end, double wave_seconds)
{
    const search_side side = {sim_propose, sim_prepare, sim_time, sim_timed,   sim_check,  d->tells ? sim_found : NULL,
                              NULL,        sim_release, sim_now,  sim_stopped, d};
    const search_options o = {.wave = 12, .most = 300, .patience = 2, .rounds = 6, .pairs = 25, .until = budget, .end = end,
                              .wave_seconds = wave_seconds, .margin = 0.005, .seed = 5};
    *standard = (candidate){.item = (void *)(size_t)d->standard, .status = candidate_ready};
    return search_run(a, standard, &side, &o);
}

static search_result search_device(arena *a, simulated *d, candidate *standard, double budget)
{
    return search_until(a, d, standard, budget, 0, 0);
}

/* Calls `attempt` for each of the devices of seeds 1 to `seeds`. */
static void try_devices(int seeds, void (*attempt)(arena *a, simulated *d, int seed, void *context), void *context)
{
    simulated *d = malloc(sizeof *d);
    ck_assert_ptr_nonnull(d);
    for (int seed = 1; seed <= seeds; seed++) {
        arena *a = arena_new();
        make_device(d, (unsigned long long)seed);
        attempt(a, d, seed, context);
        arena_free(a);
    }
    free(d);
}

typedef struct regret {
    double sum, worst;
} regret;

static void search_to_the_end(arena *a, simulated *d, int seed, void *context)
{
    regret *all = context;
    candidate standard;
    const search_result r = search_device(a, d, &standard, 1e9);
    const point_state *kept = &d->at[point_of(r.kept)], *first = &d->at[d->standard];
    ck_assert_msg(is_good(kept), "seed %d keeps what fails or is wrong", seed);
    ck_assert_msg(kept->truth <= 1.01 * first->truth, "seed %d: %g of the default", seed, kept->truth / first->truth);
    ck_assert_int_eq(r.kept->status, candidate_kept);
    const double mine = kept->truth / best_truth(d) - 1;
    all->sum += mine, all->worst = fmax(all->worst, mine);
    for (int i = 0; i < r.count; i++)
        ck_assert_msg(r.list[i]->status != candidate_new && r.list[i]->status != candidate_ready, "seed %d: one is left open", seed);
    ck_assert_int_eq(d->released, r.count - 1);
}

/* Over a thousand devices: the kept candidate is right, within 2 % of the best on average, and never more than 1 % slower than the
 * default. */
START_TEST(the_kept_tile_is_near_the_best_and_never_worse_than_the_default)
{
    enum { seeds = 1000 };
    regret all = {0};
    try_devices(seeds, search_to_the_end, &all);
    printf("regret %.4f, worst %.3f\n", all.sum / seeds, all.worst);
    ck_assert_double_lt(all.sum / seeds, 0.02);
}
END_TEST

/* stops: the user ends the search after 5 s; else it has a budget. */
static void search_for_a_while(arena *a, simulated *d, int seed, void *stops)
{
    candidate standard;
    if (stops) d->stop_at = 5;
    const search_result r = search_device(a, d, &standard, stops ? 1e9 : 5);
    ck_assert(!r.ended || d->clock < 60);
    ck_assert_msg(d->clock < 60, "seed %d: %g s", seed, d->clock); /* a wave, the final comparisons, and hangs */
    ck_assert(d->at[point_of(r.kept)].truth <= 1.01 * d->at[d->standard].truth);
}

START_TEST(a_search_ends_when_its_time_is_up_and_keeps_what_it_has) { try_devices(100, search_for_a_while, _i ? &_i : NULL); }
END_TEST

static void search_by_an_end(arena *a, simulated *d, int seed, void *context)
{
    const double end = 9;
    candidate standard;
    (void)context;
    for (int p = 0; p < points; p++) d->at[p].hangs = false;
    const search_result r = search_until(a, d, &standard, seed % 2 ? end : 3, end, 0);
    ck_assert_msg(d->clock < end + 1, "seed %d: %g s", seed, d->clock); /* and the final comparison */
    ck_assert(r.count > 1 && r.wave_seconds > 2 && r.wave_seconds < 9);
    for (int i = 1; i < r.count; i++) /* what was compiled is timed */
        ck_assert(r.list[i]->rounds > 0 || r.list[i]->status == candidate_refused || r.list[i]->status == candidate_failed);
    const double before = d->clock;
    make_device(d, (unsigned long long)seed);
    d->clock = before;
    const search_result none = search_until(a, d, &standard, before + 10, before + 2, r.wave_seconds);
    ck_assert(none.count == 1 && !none.ended && none.kept == &standard && none.wave_seconds == r.wave_seconds);
}

/* The duration of a wave is known from the one before or from another search: a wave that would not end in time is not begun. */
START_TEST(a_round_of_tuning_that_would_end_too_late_is_not_begun) { try_devices(100, search_by_an_end, NULL); }
END_TEST

static void search_and_tell(arena *a, simulated *d, int seed, void *context)
{
    candidate standard;
    d->tells = true;
    const search_result r = search_device(a, d, &standard, 60);
    const double own = r.kept != r.standard ? 2 : 0;
    ck_assert_msg(d->checking - own <= 0.1 * d->clock + 4, "seed %d: %g s of %g", seed, d->checking, d->clock);
    if (r.kept != r.standard) *(int *)context += d->found > 0;
    for (int i = 0; i < r.count; i++)
        ck_assert_msg(r.list[i]->status != candidate_new && r.list[i]->status != candidate_ready, "seed %d: one is left open", seed);
    ck_assert_int_eq(d->released, r.count - 1);
}

/* During a search the fastest correct candidate so far is reported. The checks for that take at most a tenth of the time, except for the
 * first. */
START_TEST(tuning_reports_the_best_correct_tile_so_far)
{
    int told = 0;
    try_devices(100, search_and_tell, &told);
    ck_assert_int_gt(told, 80);
}
END_TEST

START_TEST(a_seed_repeats_a_search)
{
    simulated *d = malloc(2 * sizeof *d);
    ck_assert_ptr_nonnull(d);
    arena *a = arena_new();
    candidate standard[2];
    search_result r[2];
    for (int i = 0; i < 2; i++) make_device(&d[i], 42), r[i] = search_device(a, &d[i], &standard[i], 30);
    ck_assert_int_eq(r[0].count, r[1].count);
    for (int i = 0; i < r[0].count; i++) {
        ck_assert_ptr_eq(r[0].list[i]->item, r[1].list[i]->item);
        ck_assert(r[0].list[i]->ratio == r[1].list[i]->ratio && r[0].list[i]->status == r[1].list[i]->status);
    }
    ck_assert(d[0].clock == d[1].clock);
    arena_free(a);
    free(d);
}
END_TEST

/* The default itself fails: only it is kept, and its status says so. */
START_TEST(a_default_that_fails_ends_the_search)
{
    simulated *d = malloc(sizeof *d);
    ck_assert_ptr_nonnull(d);
    arena *a = arena_new();
    candidate standard;
    make_device(d, 3);
    d->at[d->standard].fails = true;
    const search_result r = search_device(a, d, &standard, 1e9);
    ck_assert_ptr_eq(r.kept, &standard);
    ck_assert_int_eq(standard.status, candidate_failed);
    ck_assert_double_lt(d->clock, 100);
    arena_free(a);
    free(d);
}
END_TEST

/* ---- what is decided: every point but the default takes `truth` times as long, and times have this noise */
typedef struct flat {
    double truth, noise;
    int seeds, kept, rounds, met; /* kept: how often another candidate won; rounds: of those that were compared with the default in pairs */
    double errors;                /* of kept candidates: reported standard errors, relative to the true one */
} flat;
enum { race_rounds = 6 }; /* search_options.rounds of search_until() */

static void search_flat(arena *a, simulated *d, int seed, void *context)
{
    flat *f = context;
    candidate standard;
    (void)seed;
    for (int p = 0; p < points; p++) d->at[p] = (point_state){.truth = p == d->standard ? 1 : f->truth, .proposed = p == d->standard};
    d->noise = f->noise;
    const search_result r = search_device(a, d, &standard, 1e9);
    if (r.kept != &standard) {
        f->kept++;
        f->errors += r.noise / (1.2533 * sqrt(2.0 / (r.kept->rounds - race_rounds)) * f->noise); /* standard error of a median */
    }
    for (int i = 1; i < r.count; i++)
        if (r.list[i]->rounds > race_rounds) f->met++, f->rounds += r.list[i]->rounds - race_rounds;
}

static flat flat_devices(double truth, double noise)
{
    flat f = {.truth = truth, .noise = noise, .seeds = 60};
    try_devices(f.seeds, search_flat, &f);
    return f;
}

/* A candidate within the margin of 0.5 % of the default is not kept, even if it is the luckiest of many. */
START_TEST(a_tile_that_is_not_faster_by_the_margin_is_not_kept)
{
    static const double truths[] = {1.004, 1, 0.996};
    for (int i = 0; i < 3; i++)
        for (double noise = 0.002; noise < 0.05; noise *= 5) {
            const flat f = flat_devices(truths[i], noise);
            ck_assert_msg(f.kept <= f.seeds / 20, "%g, noise %g: %d of %d", truths[i], noise, f.kept, f.seeds);
        }
}
END_TEST

/* A clearly faster candidate is kept even if a single pair of runs decides little; comparing ends early only if the outcome is clear. */
START_TEST(a_tile_that_is_faster_beyond_noise_is_kept)
{
    const flat noisy = flat_devices(0.95, 0.03), clear = flat_devices(0.9, 0.01), slower = flat_devices(1.003, 0.002);
    ck_assert_msg(noisy.kept >= noisy.seeds * 95 / 100, "%d of %d", noisy.kept, noisy.seeds);
    ck_assert_int_eq(clear.kept, clear.seeds);
    ck_assert_msg(clear.rounds <= 13 * clear.met && clear.rounds >= 11 * clear.met, "%d pairs of %d", clear.rounds, clear.met);
    ck_assert_msg(slower.rounds <= 12 * slower.met, "%d pairs of %d", slower.rounds, slower.met);
    ck_assert_msg(fabs(clear.errors / clear.kept - 1) < 0.25, "%g times the true error", clear.errors / clear.kept);
    printf("kept %d of %d, %.1f and %.1f pairs, %.3f of the error\n", noisy.kept, noisy.seeds, (double)clear.rounds / clear.met,
           (double)slower.rounds / slower.met, clear.errors / clear.kept);
}
END_TEST

/* ---- what tiles are proposed */
static const struct {
    const char *spec, *target;
} proposed[] = {{"specs/llama-block.yaml", "host"},   {"specs/llama-block.yaml", "sm_90a"}, {"specs/llama-block.yaml", "gfx942"},
                {"specs/llama-decode.yaml", "sm_90a"}, {"specs/llama-decode.yaml", "gfx1100"}, {"specs/llama-block.yaml", "sm_80"}};

static void check_tiles(const rig *r, const ir_phase *phase)
{
    enum { most = 200 };
    ir_tile list[most];
    arena *a = arena_new();
    const plan *p = r->c.plan;
    space *s = space_of(a, p, phase);
    enum { few = 3 };
    list[few] = (ir_tile){.given = 12345};
    int first = space_near(s, &phase->tile, few, list);
    ck_assert_msg(first <= few && list[few].given == 12345, "%d tiles where there is room for %d", first, few);
    if (first == few) first += space_near(s, &phase->tile, 100 - few, list + few);
    const int count = first + space_near(s, &phase->tile, most - first, list + first);
    ck_assert_msg(count > 0, "%s has one tile alone", phase->name);
    for (int i = 0; i < count; i++) {
        const problem q = plan_problem(a, p, phase);
        ck_assert(!tile_same(&list[i], &phase->tile) && !tile_illegal(&q, &list[i]));
        ck_assert_ptr_null(program_at(list[i].program)->on_request);
        for (int k = 0; k < i; k++) ck_assert(!tile_same(&list[i], &list[k]));
    }
    const char *line = space_line(a, phase_signature(a, p->ir, phase), &list[count / 2]); /* the line as a user would write it */
    const plan *again = plan_choose(a, p->fused, p->device, &(tuning){.lines = &line, .count = 1});
    bool found = false;
    for (int i = 0; i < again->launch_count; i++) found |= tile_same(again->launches[i].work->tile, &list[count / 2]);
    ck_assert_msg(found, "%s", line);
    arena_free(a);
}

START_TEST(proposed_tiles_are_legal_new_and_can_be_written_as_tile_lines)
{
    rig *r = rig_plan(&(rig_request){.path = proposed[_i].spec, .level = fusion_tile, .target = proposed[_i].target});
    for (int i = 0; i < r->c.plan->launch_count; i++) check_tiles(r, r->c.plan->launches[i].work->phase);
    rig_close(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("search");
    TCase *c = tcase_create("search"), *t = tcase_create("tiles");
    tcase_add_test(c, the_kept_tile_is_near_the_best_and_never_worse_than_the_default);
    tcase_add_loop_test(c, a_search_ends_when_its_time_is_up_and_keeps_what_it_has, 0, 2);
    tcase_add_test(c, a_round_of_tuning_that_would_end_too_late_is_not_begun);
    tcase_add_test(c, tuning_reports_the_best_correct_tile_so_far);
    tcase_add_test(c, a_seed_repeats_a_search);
    tcase_add_test(c, a_default_that_fails_ends_the_search);
    tcase_add_test(c, a_tile_that_is_not_faster_by_the_margin_is_not_kept);
    tcase_add_test(c, a_tile_that_is_faster_beyond_noise_is_kept);
    tcase_add_loop_test(t, proposed_tiles_are_legal_new_and_can_be_written_as_tile_lines, 0, sizeof proposed / sizeof *proposed);
    suite_add_tcase(s, c), suite_add_tcase(s, t);
    return run_suite(s);
}
