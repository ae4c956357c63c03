/* In: graph, plan, data. Out: the plan run on a device, compared with the float64 reference. Every stored value is judged on
 * the device's own inputs (what the device stored replaces the reference's number before the reference goes on), so one flipped
 * rounding does not cascade; every output is judged end to end as well. Refuses data that does not fit. */
#include "runtime/cli/trial.h"
#include "runtime/cli/spread.h"
#include "gen/base/signature.h"
#include "ir/program/half.h"
#include "ir/program/operations.h"
#include "runtime/data/safetensors.h"
#include "runtime/module/guarded_run.h"
#include "runtime/cli/ref_plan.h"
#include "runtime/cli/trial_data.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
    arena *a;
    const ir_program *graph;
    const plan *plan;
    const trial_options *o;
    guarded_run *s;
    host_log log;
    const ref_tensor *inputs; /* by graph value id */
    const ref_tensor **given;
    bool *judged; /* by launch: with trial_options.only */
    bool choices; /* some stored number is one of rounding: ref_rules.choose */
    ref_tensor **exact, **judging; /* outputs by graph value id: of any device, given this one's choices */
    ref_tensor *open; /* by graph value id: an output with such numbers, as it was before they were the device's */
    tfgen_code lost; /* of a copy that the reference asked for: it frees what it has before the trial ends */
    trial_result result;
} trial;

const char *const trial_verdict_names[trial_verdict_count] = {"not checked", "good", "unjudged", "bad"};
const tfgen_code trial_verdict_codes[trial_verdict_count] = {code_ok, code_ok, code_unjudged, code_check_failed};

/* ---- data */
static void find_inputs(trial *t)
{
    const data_files files = {t->o->weights, t->o->input, t->o->state, t->o->layer};
    t->inputs = t->o->inputs ? t->o->inputs : data_make(t->a, t->graph, t->o->seed, &files);
    t->given = arena_alloc(t->a, (size_t)(t->graph->value_count + 1) * sizeof *t->given);
    for (int i = 0; i < t->graph->value_count; i++)
        if (data_is_given(t->graph->values[i])) t->given[i] = &t->inputs[i];
}

/* The plan's value for a graph's value: the same name. */
static const ir_value *planned(const trial *t, const ir_value *v) { return program_value(t->plan->program, v->name); }

static void need(trial *t, tfgen_code code)
{
    const char *log = t->log.text ? t->log.text : "";
    if (code == code_ok) return;
    if (code == code_device) bail_if_a_kernel_stopped(t->a, code, t->graph, t->plan, log);
    bail_with_log(t->a, code, (position){0}, log, "%s",
                  code == code_compile_failed || code == code_unsupported ? "a kernel did not compile for this device"
                  : code == code_check_failed                             ? "the checker found faults"
                  : code == code_io                                       ? "a kernel has no file or folder to be made in"
                                                                          : "the device stopped");
}

/* Bytes on their way between the device and numbers. */
static void *staging(size_t bytes)
{
    return malloc(bytes ? bytes : 1);
}

static void upload(trial *t)
{
    for (int i = 0; i < t->graph->value_count; i++) {
        const ir_value *v = t->graph->values[i], *p = data_is_given(v) ? planned(t, v) : NULL;
        if (!p || !guarded_bytes(t->s, p)) continue; /* a value that no kernel reads */
        const size_t bytes = t->inputs[i].count * (size_t)dtype_size(v->type);
        void *data = staging(bytes);
        if (!data) bail(t->a, code_device, (position){0}, "not enough memory for %zu bytes of %s", bytes, v->name);
        data_put(v, &t->inputs[i], data);
        const tfgen_code code = guarded_put(t->s, p, data, bytes, &t->log);
        free(data);
        need(t, code);
    }
}

static bool in_memory(const trial *t, const ir_value *graph_value)
{
    const ir_value *p = planned(t, graph_value);
    return p && guarded_bytes(t->s, p) && (p->kind == value_result || p->kind == value_state || p->output);
}

static double element(dtype type, const void *data, size_t at)
{
    return guarded_is_poison(type, data, at) ? ref_unwritten() : dtype_get(type, data, at);
}

static double sum_of_parts(dtype type, const void *data, size_t at, int parts)
{
    double sum = 0;
    for (size_t i = at; i < at + (size_t)parts; i++) {
        if (guarded_is_poison(type, data, i)) return ref_unwritten();
        sum += dtype_get(type, data, i);
    }
    return sum;
}

static tfgen_code no_memory(trial *t)
{
    static const char said[] = "not enough memory for a value of it\n";
    host_log_add(&t->log, said, sizeof said - 1);
    return code_device;
}

/* The storage of a value, for the caller to free; NULL: *code says why. */
static void *fetched(trial *t, const ir_value *v, tfgen_code *code)
{
    const size_t bytes = guarded_bytes(t->s, v);
    void *data = staging(bytes);
    *code = data ? guarded_get(t->s, v, data, bytes, &t->log) : no_memory(t);
    if (*code == code_ok) return data;
    free(data);
    return NULL;
}

/* What the device has for a value of the plan, through its view. */
static tfgen_code try_download(trial *t, const ir_value *v, double *out)
{
    tfgen_code code;
    void *data = fetched(t, v, &code);
    if (!data) return code;
    const long long count = value_count(v, &t->plan->program->dims), columns = value_columns(v);
    const long long stride = v->root_stride ? v->root_stride : columns, offset = v->root ? v->root_offset : 0;
    const int parts = t->plan->parts[v->id] > 1 ? t->plan->parts[v->id] : 1; /* sums of a row: a number a column tile */
    for (long long i = 0; i < count; i++) {
        const size_t at = (size_t)(i / columns * stride + offset + i % columns);
        out[i] = parts > 1 ? sum_of_parts(v->type, data, at * (size_t)parts, parts) : element(v->type, data, at);
    }
    free(data);
    return code_ok;
}

static void download(trial *t, const ir_value *v, double *out) { need(t, try_download(t, v, out)); }

/* ---- the reference's questions */
static bool rule_stored(void *context, const ir_value *v) { return in_memory(context, v); }

static ref_fold rule_folded(void *context, const ir_op *linear)
{
    const trial *t = context;
    return ref_plan_folded(t->plan, t->graph, linear);
}

static bool rule_rounds_scores(void *context, const ir_op *attention)
{
    return ref_plan_rounds_scores(((const trial *)context)->plan, attention);
}
static bool rule_splits(void *context, const ir_op *linear) { return ref_plan_splits(((const trial *)context)->plan, linear); }
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

/* A value that no graph has, as statistics of rows are: those who read it show whether it is right. */
static bool hands_on(const trial *t, const launch *from, const ir_phase *to)
{
    for (int i = 0; i < to->op_count; i++)
        for (int k = 0; k < to->ops[i]->input_count; k++) {
            const ir_value *v = to->ops[i]->inputs[k];
            const ir_value *g = program_value(t->graph, v->name);
            if (makes(from, v) && !(g && in_memory(t, g))) return true;
        }
    return false;
}

static bool is_judged(const trial *t, int index)
{
    const launch *l = &t->plan->launches[index];
    for (int n = 0; n < l->work_count; n++) {
        const ir_phase *phase = l->work[n].phase;
        if (strcmp(phase_signature(t->a, t->plan->program, phase), t->o->only) == 0) return true;
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
    const ir_value *p = planned(t, v);
    for (int i = 0; i < t->plan->launch_count; i++)
        if (t->judged[i] && makes(&t->plan->launches[i], p)) return true;
    return false;
}

static void rule_take(void *context, const ir_value *v, double *value)
{
    trial *t = context;
    if (t->lost == code_ok) t->lost = try_download(t, planned(t, v), value);
}

static trial_check *add_check(trial *t, const char *name)
{
    trial_check *c = &t->result.checks[t->result.check_count++];
    c->name = name;
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
    *c = (trial_check){.name = name,
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
    if (!in_memory(t, v) || t->lost != code_ok) return;
    double *got = malloc((r->count ? r->count : 1) * sizeof *got);
    t->lost = got ? try_download(t, planned(t, v), got) : no_memory(t);
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
    need(t, t->lost);
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

/* The RMS of the errors that the reference expects, relative to the values, but for those that it does not know. */
static double expected_rms(trial *t, const ref_tensor *exact)
{
    double *off = data_numbers(t->a, (long long)exact->count);
    for (size_t i = 0; i < exact->count; i++) off[i] = exact->value[i] + (exact->error && isfinite(exact->error[i]) ? exact->error[i] : 0);
    return ref_rms(exact->value, off, exact->count);
}

/* Low precision: the RMS error against exact arithmetic is at most 1.5 times what rounding alone costs, at the stored values and of
 * attention's weights where the plan has them on matrix units. An f32 output with no value of 16 bits behind it (their rounding is 2^-11 or
 * more) is f32: arithmetic costs more than the one rounding, and bounds judge it, as they do wherever rounding is not most of it: a norm of
 * equal numbers is 0 but for its own roundings, that of 1 + 1e-7 x is of what f32 keeps of x. Errors are expected at up to 3.5 times what
 * rounding costs (ir/reference/ref.h); of the shipped specs it is 2.1 to 2.8. */
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

static const double *bounds_of(trial *t, const ref_tensor *r)
{
    double *bound = data_numbers(t->a, (long long)r->count);
    for (size_t i = 0; i < r->count; i++) bound[i] = r->error ? ref_sigmas * r->error[i] : 0;
    return bound;
}

static void tell_result(trial *t, const ir_value *v, const ref_tensor *exact, const double *got)
{
    if (t->o->result) t->o->result(t->o->context, v, got, bounds_of(t, exact), exact->count);
}

/* ---- choices of rounding */
static void note_choices(void *context, const ir_value *v, const bool *open, ref_tensor *r)
{
    (void)v, (void)open, (void)r;
    ((trial *)context)->choices = true;
}

static bool copied(ref_tensor *to, const ref_tensor *from)
{
    const size_t bytes = (from->count + 1) * sizeof(double);
    ref_free(to);
    *to = (ref_tensor){.value = malloc(bytes), .error = malloc(bytes), .count = from->count};
    if (!to->value || !to->error) return false;
    memcpy(to->value, from->value, from->count * sizeof(double));
    memcpy(to->error, from->error, from->count * sizeof(double));
    return true;
}

/* The device's numbers, as far as they may be right: what follows is judged by its choice. An output's own are judged as they were. */
static void take_choices(void *context, const ir_value *v, const bool *open, ref_tensor *r)
{
    trial *t = context;
    if (t->lost != code_ok) return;
    double *got = malloc((r->count + 1) * sizeof *got);
    t->lost = got ? try_download(t, planned(t, v), got) : no_memory(t);
    if (t->lost == code_ok && v->output && !copied(&t->open[v->id], r)) t->lost = no_memory(t);
    for (size_t i = 0; t->lost == code_ok && i < r->count; i++)
        if (open[i] && ref_ratio(r, i, got[i]) <= 1) r->value[i] = got[i], r->error[i] = 0;
    free(got);
}

static void free_open(void *context)
{
    trial *t = context;
    for (int i = 0; i < t->graph->value_count; i++) ref_free(&t->open[i]);
}

/* End to end; given the device's choices where it has some. */
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
        download(t, planned(t, v), got);
        judge(t, v->output, t->judging[i], got, true);
        judge_rms(t, v, t->judging[i], rounded[i]);
        tell_result(t, v, t->exact[i], got); /* of any choice: another plan's may be another */
    }
}

/* Parts of an attention lie side by side. */
static void download_parts(trial *t, const ir_value *v, double *out, size_t count)
{
    tfgen_code code;
    void *data = fetched(t, v, &code);
    need(t, code);
    for (size_t i = 0; i < count; i++) out[i] = element(v->type, data, i);
    free(data);
}

static void tell_unnamed(trial *t)
{
    for (int i = 0; i < t->plan->stored_count; i++) {
        const ir_value *v = t->plan->stored[i].value;
        if (program_value(t->graph, v->name)) continue;
        const size_t count = guarded_bytes(t->s, v) / (size_t)dtype_size(v->type);
        double *got = data_numbers(t->a, (long long)count);
        if (v->def->kind == op_attention_partial) download_parts(t, v, got, count);
        else download(t, v, got);
        t->o->unnamed(t->o->context, v, got, t->given);
    }
}

static void compare(trial *t)
{
    const bool some = t->o->sample_above > 0 && t->result.operations > t->o->sample_above;
    const ref_rules rules = {.stored = rule_stored,
                             .folded = rule_folded,
                             .form = rule_form,
                             .rounds_scores = rule_rounds_scores,
                             .splits = rule_splits,
                             .finished = rule_finished,
                             .sampled = some,
                             .wanted = t->o->only ? rule_wanted : NULL,
                             .take = rule_take,
                             .context = t};
    if (t->o->only) find_judged(t);
    const char *wrong = ref_plan_wrong(t->a, t->plan, t->graph);
    if (wrong) bail(t->a, code_check_failed, (position){0}, "internal: %s", wrong);
    t->result.checks = arena_alloc(t->a, (size_t)(2 * t->graph->value_count + 1) * sizeof *t->result.checks);
    reference(t, true, &rules, output_results(t));
    if (t->o->unnamed) tell_unnamed(t);
    if (!some && !t->o->only) check_outputs(t, &rules);
    for (int i = 0; i < t->result.check_count; i++) {
        if (t->result.checks[i].verdict > t->result.verdict) t->result.verdict = t->result.checks[i].verdict;
        t->result.unjudged += t->result.checks[i].unjudged;
    }
    if (t->result.check_count == 0) bail(t->a, code_check_failed, (position){0}, "internal: nothing was checked");
    t->result.referenced = true;
}

/* ---- running */
static void close_session(void *s) { guarded_close(s); }
static void free_log(void *log) { host_log_free(log); }

static void tell_progress(void *context, const tfgen_progress *p)
{
    const trial *t = context;
    if (t->o->compiled) t->o->compiled(t->o->context, p->kernel);
}

static void open_session(trial *t)
{
    tfgen_code code;
    tfgen_device *device = t->o->device && t->o->device->api != &host_device ? t->o->device : NULL;
    const guarded_options options =
        {.device = device, .check = t->o->check, .watch = t->o->watch, .jobs = t->o->jobs, .cache = t->o->cache,
         .progress = tell_progress, .context = t};
    const double start = seconds_now();
    arena_defer(t->a, free_log, &t->log);
    t->s = guarded_open(t->plan, &options, &code, &t->log);
    need(t, code);
    arena_defer(t->a, close_session, t->s);
    t->plan = t->result.plan = guarded_plan(t->s);
    t->result.compile_seconds = seconds_now() - start;
    const tfgen_device_info *info = guarded_device(t->s);
    t->result.device = strcmp(info->name, "host") == 0 ? "host" : arena_printf(t->a, "%s, %s", info->name, info->label);
}

const char *trial_complaint(arena *a, const trial_check *c)
{
    if (c->verdict == trial_unjudged)
        return arena_printf(a, "no element of %s is judged: rounding decides whether they are numbers\n", c->name);
    if (!(c->ratio <= 1)) return arena_printf(a, "value %s is %.3g times its bound away\n", c->name, c->ratio);
    if (!(c->spread <= REF_MOST_SPREAD))
        return arena_printf(a, "the RMS of error/bound of %s is %.3g, at most %g\n", c->name, c->spread, REF_MOST_SPREAD);
    return arena_printf(a, "the RMS error of %s is %.3g times that of rounding alone\n", c->name, c->rms / c->rms_rounded);
}

const char *trial_fault(arena *a, const trial_result *r)
{
    for (int i = 0; i < r->check_count; i++)
        if (r->checks[i].verdict == r->verdict && r->verdict > trial_good) return trial_complaint(a, &r->checks[i]);
    return "";
}

const char *trial_best_device(arena *a, const cli_options *o)
{
    if (o->device || o->target || o->check || o->from) return o->device;
    const size_t count = tfgen_device_list(NULL, 0);
    tfgen_device_info *list = arena_alloc(a, count * sizeof *list);
    list[0].size = sizeof *list;
    tfgen_device_list(list, count);
    for (size_t i = 0; i + 1 < count; i++) /* the last is the host */
        if (list[i].target[0]) return list[i].name;
    return NULL;
}

tfgen_device *trial_device(arena *a, const char *name, bool check, const char **target)
{
    if (!name || strcmp(name, "host") == 0) return NULL;
    if (check) bail(a, code_usage, (position){0}, "--check: only the host engine checks; leave --device out");
    tfgen_device *device = cli_open_device(a, name);
    if (*target && strcmp(*target, device->info.target) != 0)
        bail(a, code_usage, (position){0}, "--target=%s: the device %s needs %s", *target, name, device->info.target);
    *target = device->info.target;
    return device;
}

static void time_runs(trial *t, const double *first)
{
    const int launches = t->plan->launch_count, repeat = t->o->repeat;
    t->result.kernel_seconds = arena_alloc(t->a, (size_t)(launches + 1) * sizeof(double));
    memcpy(t->result.kernel_seconds, first, (size_t)launches * sizeof *first);
    for (int i = 0; i < launches; i++) t->result.total_seconds += first[i];
    if (repeat < 1) return;
    double *times = data_numbers(t->a, (long long)repeat * (launches + 1)), *one = data_numbers(t->a, launches + 1);
    for (int r = 0; r < repeat; r++) {
        const double start = seconds_now();
        need(t, guarded_execute(t->s, one, &t->log));
        times[launches * repeat + r] = seconds_now() - start;
        for (int i = 0; i < launches; i++) times[i * repeat + r] = one[i];
    }
    for (int i = 0; i < launches; i++) t->result.kernel_seconds[i] = spread_of(times + i * repeat, repeat).median;
    t->result.total_seconds = spread_of(times + launches * repeat, repeat).median;
}

/* ---- files */
typedef struct item_list {
    safetensors_item *items;
    size_t count;
} item_list;

static void add_item(trial *t, item_list *list, const char *name, const ir_value *v, const double *data, bool as_double)
{
    long long *shape = arena_alloc(t->a, max_rank * sizeof *shape);
    const long long count = value_count(v, &t->graph->dims);
    void *bytes = data_numbers(t->a, count);
    for (int i = 0; i < v->rank; i++) shape[i] = extent_value(&v->shape[i], &t->graph->dims);
    for (long long i = 0; i < count; i++) {
        if (as_double) ((double *)bytes)[i] = data[i];
        else dtype_put(v->type, bytes, (size_t)i, data[i]);
    }
    list->items[list->count++] = (safetensors_item){name, as_double ? "F64" : dtype_file_name(v->type), v->rank, shape, bytes};
}

static void add_stored(trial *t, item_list *list, const char *name, const ir_value *v, const ir_value *stored)
{
    double *got = data_numbers(t->a, value_count(v, &t->graph->dims));
    download(t, stored, got);
    add_item(t, list, name, v, got, false);
}

/* A state that no kernel touches is as it was. */
static void add_state(trial *t, item_list *list, int index)
{
    const ir_value *v = t->graph->values[index], *p = planned(t, v);
    for (int i = 0; i < t->graph->value_count; i++)
        if (t->graph->values[i]->output && strcmp(t->graph->values[i]->output, v->name) == 0)
            bail(t->a, code_usage, (position){0}, "-o: an output and a state are both called %s, and both belong into the file", v->name);
    if (p && guarded_bytes(t->s, p)) add_stored(t, list, v->name, v, p);
    else add_item(t, list, v->name, v, t->inputs[index].value, false);
}

/* Outputs, and every state as it is now: the next step's --state. */
static void write_outputs(trial *t)
{
    item_list list = {arena_alloc(t->a, (size_t)t->graph->value_count * 2 * sizeof *list.items), 0};
    for (int i = 0; i < t->graph->value_count; i++) {
        const ir_value *v = t->graph->values[i];
        if (v->output) add_stored(t, &list, v->output, v, planned(t, v));
        if (v->kind == value_state) add_state(t, &list, i);
    }
    safetensors_write(t->a, t->o->output, list.items, list.count);
}

static void add_expected(trial *t, item_list *list, const char *prefix, const ir_value *v, const ref_tensor *r)
{
    add_item(t, list, arena_printf(t->a, "%sref.%s", prefix, v->output), v, r->value, true);
    add_item(t, list, arena_printf(t->a, "%sbound.%s", prefix, v->output), v, bounds_of(t, r), true);
}

/* Inputs, params and states by name; outputs as ref.NAME with bound.NAME in float64, for harnesses that run the kernels elsewhere; where
 * choices of rounding are open, own.ref.NAME and own.bound.NAME are what this device's outputs were judged by. */
static void write_data(trial *t)
{
    item_list list = {arena_alloc(t->a, (size_t)t->graph->value_count * 5 * sizeof *list.items), 0};
    for (int i = 0; i < t->graph->value_count; i++) {
        const ir_value *v = t->graph->values[i];
        if (data_is_given(v)) add_item(t, &list, v->name, v, t->inputs[i].value, false);
        if (!v->output) continue;
        add_expected(t, &list, "", v, t->exact[i]);
        if (t->choices) add_expected(t, &list, "own.", v, t->judging[i]);
    }
    safetensors_write(t->a, t->o->dump_data, list.items, list.count);
}

static double operations_of(arena *a, const ir_program *graph)
{
    const operations n = program_operations(graph->kernel_count ? graph : lower(a, graph), NULL, NULL); /* of a plan without its graph */
    return n.products + n.others;
}

trial_result trial_run(arena *a, const ir_program *graph, const plan *p, const trial_options *o)
{
    trial *t = arena_alloc(a, sizeof *t);
    *t = (trial){.a = a, .graph = graph, .plan = p, .o = o};
    t->result.operations = operations_of(a, graph);
    open_session(t);
    find_inputs(t);
    upload(t);
    need(t, guarded_poison(t->s, &t->log));
    need(t, guarded_pack(t->s, &t->log));
    const int before = guarded_launches(t->s);
    double *first = data_numbers(a, t->plan->launch_count + 1);
    need(t, guarded_execute(t->s, first, &t->log));
    t->result.launches = guarded_launches(t->s) - before;
    t->exact = output_results(t);
    if (o->reference == reference_always || (o->reference == reference_auto && t->result.operations <= 2e11)) compare(t);
    else if (o->dump_data) bail(a, code_usage, (position){0}, "--dump-data needs the reference; add --reference=always");
    if (o->output) write_outputs(t);
    if (o->dump_data) write_data(t);
    time_runs(t, first);
    return t->result;
}
