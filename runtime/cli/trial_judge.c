/* In: a plan that has run, its graph, the data. Out: verdicts by the float64 reference. Every stored value is judged on the device's own
 * inputs (what the device stored replaces the reference's number before the reference goes on), so one flipped rounding does not cascade;
 * every output is judged end to end as well, by the device's own choices where rounding leaves any. Refuses a plan of another graph. */
#include "runtime/cli/trial_inside.h"
#include "gen/base/signature.h"
#include "runtime/cli/ref_plan.h"
#include "runtime/cli/trial_data.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- callbacks of the reference */
static bool rule_stored(void *context, const ir_value *v) { return trial_in_memory(context, v); }

static ref_fold rule_folded(void *context, const ir_op *linear)
{
    const trial *t = context;
    return ref_plan_folded(t->plan, t->graph, linear);
}

static bool rule_rounds_scores(void *context, const ir_op *attention)
{
    return ref_plan_rounds_scores(((const trial *)context)->plan, attention);
}
static long long rule_continued(void *context, const ir_op *linear) { return ref_plan_continued(((const trial *)context)->plan, linear); }
static bool rule_splits(void *context, const ir_op *linear) { return ref_plan_splits(((const trial *)context)->plan, linear); }
static bool rule_in_terms(void *context, const ir_op *linear) { return ref_plan_in_terms(((const trial *)context)->plan, linear); }
static ref_form rule_form(void *context, const ir_op *op) { return ref_plan_form(((const trial *)context)->plan, op); }

/* ---- one phase alone */
static bool phase_makes_root(const ir_phase *phase, const ir_value *v)
{
    for (int i = 0; i < phase->op_count; i++)
        for (int k = 0; k < phase->ops[i]->output_count; k++)
            for (const ir_value *at = v; at; at = at->root)
                if (phase->ops[i]->outputs[k] == at) return true;
    return false;
}

static bool makes(const launch *l, const ir_value *v)
{
    for (int i = 0; i < l->work_count; i++)
        if (phase_makes_root(l->work[i].phase, v)) return true;
    return false;
}

/* True if phase `to` reads a value that launch `from` stores and the graph does not have (row statistics): such a value is judged by the
 * results of its readers. */
static bool hands_on(const trial *t, const launch *from, const ir_phase *to)
{
    for (int i = 0; i < to->op_count; i++)
        for (int k = 0; k < to->ops[i]->input_count; k++) {
            const ir_value *v = to->ops[i]->inputs[k];
            const ir_value *g = graph_value(t->graph, v->name);
            if (makes(from, v) && !(g && trial_in_memory(t, g))) return true;
        }
    return false;
}

static bool is_judged(const trial *t, int index)
{
    const launch *l = &t->plan->launches[index];
    for (int n = 0; n < l->work_count; n++) {
        const ir_phase *phase = l->work[n].phase;
        if (strcmp(phase_signature(t->a, t->plan->ir, phase), t->o->only) == 0) return true;
        for (int k = 0; k < index; k++)
            if (t->judged[k] && hands_on(t, &t->plan->launches[k], phase)) return true;
    }
    return false;
}

static void find_judged(trial *t)
{
    t->judged = arena_alloc(t->a, (size_t)t->plan->launch_count + 1);
    for (int i = 0; i < t->plan->launch_count; i++) t->judged[i] = is_judged(t, i);
}

static bool rule_wanted(void *context, const ir_value *v)
{
    const trial *t = context;
    const ir_value *p = trial_planned(t, v);
    for (int i = 0; i < t->plan->launch_count; i++)
        if (t->judged[i] && makes(&t->plan->launches[i], p)) return true;
    return false;
}

static void rule_take(void *context, const ir_value *v, double *value)
{
    trial *t = context;
    if (t->lost == code_ok) t->lost = trial_try_download(t, trial_planned(t, v), value);
}

static trial_check *add_check(trial *t, const char *name)
{
    trial_check *c = &t->result.checks[t->result.check_count++];
    c->name = t->o->layers > 1 ? arena_printf(t->a, "%d: %s", t->at, name) : name;
    return c;
}

static trial_verdict verdict_of(const ref_verdict *v, size_t count)
{
    if (!(v->ratio <= 1 && v->spread <= REF_MOST_SPREAD)) return trial_bad;
    return count && v->unjudged == count ? trial_unjudged : trial_good;
}

static void judge(trial *t, const char *name, const ref_tensor *expected, const double *got, bool end_to_end)
{
    const ref_verdict v = ref_compare(expected, got);
    trial_check *c = add_check(t, name);
    *c = (trial_check){.name = c->name,
                       .end_to_end = end_to_end,
                       .ratio = v.ratio,
                       .difference = v.difference,
                       .bound = v.bound,
                       .worst = (long long)v.worst,
                       .count = (long long)expected->count,
                       .unjudged = (long long)v.unjudged,
                       .spread = v.spread,
                       .rms = v.rms,
                       .verdict = verdict_of(&v, expected->count)};
}

static void rule_finished(void *context, const ir_value *v, ref_tensor *r)
{
    trial *t = context;
    if (!trial_in_memory(t, v) || t->lost != code_ok) return;
    double *got = malloc((r->count ? r->count : 1) * sizeof *got);
    t->lost = got ? trial_try_download(t, trial_planned(t, v), got) : trial_no_memory(t);
    if (t->lost != code_ok) {
        free(got);
        return;
    }
    judge(t, v->name, r, got, false);
    if (t->o->judged) t->o->judged(t->o->context, v, r, got);
    memcpy(r->value, got, r->count * sizeof *got);
    if (r->error) memset(r->error, 0, r->count * sizeof *r->error);
    free(got);
}

static void reference(trial *t, bool rounded, const ref_rules *rules, ref_tensor *const *results)
{
    char message[512];
    const bool done = ref_run(t->graph, t->given, rounded, rules, results, message, sizeof message);
    trial_need(t, t->lost);
    if (!done) bail(t->a, code_check_failed, (position){0}, "%s", message);
}

static void free_reference(void *p) { ref_free(p); }

static ref_tensor **output_results(trial *t)
{
    ref_tensor **results = arena_alloc(t->a, (size_t)(t->graph->value_count + 1) * sizeof *results);
    for (int i = 0; i < t->graph->value_count; i++) {
        if (!t->graph->values[i]->output) continue;
        results[i] = arena_alloc(t->a, sizeof *results[i]);
        arena_defer(t->a, free_reference, results[i]);
    }
    return results;
}

/* The relative RMS of the errors that the reference expects; elements with unknown errors count as exact. */
static double expected_rms(trial *t, const ref_tensor *exact)
{
    double *off = data_numbers(t->a, (long long)exact->count);
    for (size_t i = 0; i < exact->count; i++) off[i] = exact->value[i] + (exact->error && isfinite(exact->error[i]) ? exact->error[i] : 0);
    return ref_rms(exact->value, off, exact->count);
}

/* For 16-bit results: the RMS error against exact arithmetic may be 1.5 times that of rounding alone (rounding of stored values, and of
 * attention's weights if the plan multiplies them on matrix units). Only bounds judge outputs where rounding is a small part of the error:
 * - f32 outputs computed without 16-bit values (whose rounding errs by 2^-11 or more): their arithmetic errs more than their rounding;
 * - outputs whose expected error is above 4 times that of rounding: a norm of equal numbers is 0 but for its own roundings, a norm of
 *   1 + 1e-7 x depends on what f32 keeps of x. Others are expected to err up to 3.5 times as much as rounding (ir/reference/ref.h); in
 *   the shipped specs it is 2.1 to 2.8 times. */
static void judge_rms(trial *t, const ir_value *v, const ref_tensor *exact, const ref_tensor *rounded)
{
    trial_check *c = &t->result.checks[t->result.check_count - 1];
    if (v->type == dtype_f32 && t->graph->type == dtype_f32) return;
    const double alone = ref_compare(exact, rounded->value).rms;
    if (v->type == dtype_f32 && alone < 0x1p-16) return;
    if (alone < expected_rms(t, exact) / 4) return;
    c->rms_rounded = alone;
    if (exact->count >= ref_spread_count && c->rms_rounded > 0 && !(c->rms <= 1.5 * c->rms_rounded)) c->verdict = trial_bad;
}

const double *trial_bounds(trial *t, const ref_tensor *r)
{
    double *bound = data_numbers(t->a, (long long)r->count);
    for (size_t i = 0; i < r->count; i++) bound[i] = r->error ? ref_sigmas * r->error[i] : 0;
    return bound;
}

static void tell_result(trial *t, const ir_value *v, const ref_tensor *exact, const double *got)
{
    if (t->o->result) t->o->result(t->o->context, v, got, trial_bounds(t, exact), exact->count);
}

/* ---- choices of rounding */
static void note_choices(void *context, const ir_value *v, const bool *open, ref_tensor *r)
{
    (void)v, (void)open, (void)r;
    ((trial *)context)->choices = true;
}

/* Adopts the device's numbers where they may be right: later values are judged by the device's choice of rounding. Outputs themselves keep
 * the reference's numbers. */
static void take_choices(void *context, const ir_value *v, const bool *open, ref_tensor *r)
{
    trial *t = context;
    if (t->lost != code_ok) return;
    double *got = malloc((r->count + 1) * sizeof *got);
    t->lost = got ? trial_try_download(t, trial_planned(t, v), got) : trial_no_memory(t);
    if (t->lost == code_ok && v->output && !ref_copy(&t->open[v->id], r)) t->lost = trial_no_memory(t);
    for (size_t i = 0; t->lost == code_ok && i < r->count; i++)
        if (open[i] && ref_ratio(r, i, got[i]) <= 1) r->value[i] = got[i], r->error[i] = 0;
    free(got);
}

static void free_open(void *context)
{
    trial *t = context;
    for (int i = 0; i < t->graph->value_count; i++) ref_free(&t->open[i]);
}

/* Evaluates the outputs end to end, with the device's choices of rounding if some were open. */
static void evaluate_outputs(trial *t, const ref_rules *rules, bool rounded, ref_tensor **results)
{
    reference(t, rounded, rules, results);
    for (int i = 0; t->choices && i < t->graph->value_count; i++)
        if (results[i] && t->open[i].value) {
            ref_free(results[i]);
            *results[i] = t->open[i], t->open[i] = (ref_tensor){0};
        }
}

static void check_outputs(trial *t, const ref_rules *rules)
{
    ref_rules plain = *rules;
    plain.finished = NULL, plain.numbers_of_scores = true, plain.choose = note_choices;
    ref_tensor **rounded = output_results(t);
    t->open = arena_alloc(t->a, (size_t)(t->graph->value_count + 1) * sizeof *t->open);
    arena_defer(t->a, free_open, t);
    reference(t, false, &plain, t->exact);
    plain.choose = take_choices;
    t->judging = t->choices ? output_results(t) : t->exact;
    if (t->choices) evaluate_outputs(t, &plain, false, t->judging);
    if (!t->choices) plain.choose = NULL;
    evaluate_outputs(t, &plain, true, rounded);
    for (int i = 0; i < t->graph->value_count; i++) {
        const ir_value *v = t->graph->values[i];
        if (!v->output) continue;
        double *got = data_numbers(t->a, (long long)t->exact[i]->count);
        trial_download(t, trial_planned(t, v), got);
        judge(t, v->output, t->judging[i], got, true);
        judge_rms(t, v, t->judging[i], rounded[i]);
        tell_result(t, v, t->exact[i], got); /* the exact values: choices of rounding differ between plans */
    }
}

/* Downloads an attention's partials, which are contiguous. */
static void download_parts(trial *t, const ir_value *v, double *out, size_t count)
{
    tfgen_code code;
    void *data = trial_fetched(t, v, &code);
    trial_need(t, code);
    for (size_t i = 0; i < count; i++) out[i] = trial_element(v->type, data, i);
    free(data);
}

static void tell_unnamed(trial *t)
{
    for (int i = 0; i < t->plan->stored_count; i++) {
        const ir_value *v = t->plan->stored[i].value;
        if (graph_value(t->graph, v->name)) continue;
        const size_t count = guarded_bytes(t->s, v) / (size_t)dtype_size(v->type);
        double *got = data_numbers(t->a, (long long)count);
        if (v->def->kind == op_attention_partial) download_parts(t, v, got, count);
        else trial_download(t, v, got);
        t->o->unnamed(t->o->context, v, got, t->given);
    }
}

/* Makes room to append this layer's checks to those of earlier layers. */
static void make_room(trial *t)
{
    const int most = t->result.check_count + 2 * t->graph->value_count + 1;
    if (most <= t->check_room) return;
    trial_check *all = arena_alloc(t->a, (size_t)(t->check_room = 2 * most) * sizeof *all);
    for (int i = 0; i < t->result.check_count; i++) all[i] = t->result.checks[i];
    t->result.checks = all;
}

void trial_judge(trial *t)
{
    const int before = t->result.check_count;
    t->exact = output_results(t);
    const bool some = t->o->sample_above > 0 && t->result.operations > t->o->sample_above;
    const ref_rules rules = {.stored = rule_stored,
                             .folded = rule_folded,
                             .form = rule_form,
                             .rounds_scores = rule_rounds_scores,
                             .splits = rule_splits,
                             .in_terms = rule_in_terms,
                             .continued = rule_continued,
                             .finished = rule_finished,
                             .sampled = some,
                             .wanted = t->o->only ? rule_wanted : NULL,
                             .take = rule_take,
                             .context = t};
    if (t->o->only) find_judged(t);
    const char *wrong = ref_plan_wrong(t->a, t->plan, t->graph);
    if (wrong) bail(t->a, code_check_failed, (position){0}, "internal: %s", wrong);
    make_room(t);
    reference(t, true, &rules, output_results(t));
    if (t->o->unnamed) tell_unnamed(t);
    if (!some && !t->o->only) check_outputs(t, &rules);
    for (int i = before; i < t->result.check_count; i++) {
        if (t->result.checks[i].verdict > t->result.verdict) t->result.verdict = t->result.checks[i].verdict;
        t->result.unjudged += t->result.checks[i].unjudged;
    }
    if (t->result.check_count == before) bail(t->a, code_check_failed, (position){0}, "internal: nothing was checked");
    t->result.referenced = true;
}
