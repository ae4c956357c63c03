/* In: graph, plan, data. Out: the plan run on a device, judged (trial_judge.c), timed and written to files (trial_files.c). Refuses data
 * that does not fit. */
#include "runtime/cli/trial_inside.h"
#include "runtime/cli/spread.h"
#include "ir/graph/half.h"
#include "ir/graph/layer_kinds.h"
#include "ir/graph/operations.h"
#include "runtime/cli/trial_data.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const trial_verdict_names[trial_verdict_count] = {"not checked", "good", "unjudged", "bad"};
const tfgen_code trial_verdict_codes[trial_verdict_count] = {code_ok, code_ok, code_unjudged, code_check_failed};

/* ---- data */
static const ir_value *carried(const trial *t) { return t->plan->stack.in ? graph_value(t->graph, t->plan->stack.in->name) : NULL; }

/* The data of a later layer of a stack: the output that the layer before it stored, the first layer's other inputs, and params and states
 * of its own. */
static ref_tensor *data_of_next(const trial *t, const data_files *files)
{
    const ir_value *x = carried(t), *y = t->plan->stack.out;
    ref_tensor *list = data_make(t->a, t->graph, t->o->seed + (unsigned long long)t->at, files);
    for (int i = 0; i < t->graph->value_count; i++) {
        const ir_value *v = t->graph->values[i];
        if (v->kind == value_input && v != x) list[i] = t->inputs[graph_value(t->inputs_of, v->name)->id];
    }
    trial_download((trial *)t, y, list[x->id].value);
    return list;
}

static void find_inputs(trial *t)
{
    const data_files files = {t->o->weights, t->o->input, t->o->state, t->o->layer < 0 ? -1 : t->o->layer + t->at};
    if (t->at) t->inputs = data_of_next(t, &files);
    else t->inputs = t->o->inputs ? t->o->inputs : data_make(t->a, t->graph, t->o->seed, &files);
    t->inputs_of = t->graph;
    t->given = arena_alloc(t->a, (size_t)(t->graph->value_count + 1) * sizeof *t->given);
    for (int i = 0; i < t->graph->value_count; i++)
        if (data_is_given(t->graph->values[i])) t->given[i] = &t->inputs[i];
}

/* As data_put(), in rows of the value's stride. Padding between rows is NaN, so that a kernel that reads it is noticed. */
static void put_rows(const ir_value *v, const dim_table *dims, const ref_tensor *given, void *data)
{
    const size_t columns = (size_t)value_columns(v), stride = (size_t)value_stride_at(v, dims);
    if (stride == columns) {
        data_put(v, given, data);
        return;
    }
    for (size_t i = 0; i < given->count; i++) {
        const size_t at = i / columns * stride + i % columns;
        dtype_put(v->type, data, at, given->value[i]);
        for (size_t k = 1; i % columns == columns - 1 && i + 1 < given->count && k <= stride - columns; k++)
            dtype_put(v->type, data, at + k, v->type == dtype_i32 ? 0 : NAN);
    }
}

static void upload(trial *t)
{
    for (int i = 0; i < t->graph->value_count; i++) {
        const ir_value *v = t->graph->values[i], *p = data_is_given(v) ? trial_planned(t, v) : NULL;
        if (!p || !guarded_bytes(t->s, p)) continue; /* a value that no kernel reads */
        if (t->at && v->kind == value_input) continue; /* inputs were uploaded for the first layer */
        const size_t bytes = (size_t)value_span(p, &t->plan->ir->dims) * (size_t)dtype_size(v->type);
        void *data = calloc(bytes ? bytes : 1, 1);
        if (!data) bail(t->a, code_device, (position){0}, "not enough memory for %zu bytes of %s", bytes, v->name);
        put_rows(p, &t->plan->ir->dims, &t->inputs[i], data);
        const tfgen_code code = guarded_put(t->s, p, data, bytes, &t->log);
        free(data);
        trial_need(t, code);
    }
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
        {.device = device, .check = t->o->check, .watch = t->o->watch, .multiprocessors = t->o->multiprocessors, .layers = t->o->layers,
         .kinds = t->o->kinds, .jobs = t->o->jobs,
         .cache = t->o->cache, .progress = tell_progress, .context = t};
    const double start = seconds_now();
    arena_defer(t->a, free_log, &t->log);
    t->s = guarded_open(t->plan, &options, &code, &t->log);
    trial_need(t, code);
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

tfgen_device *trial_open_device(arena *a, const cli_options *o, const char **target)
{
    const char *name = o->device ? o->device : trial_best_device(a, o);
    tfgen_device *device = trial_device(a, name, false, target);
    if (!device) device = cli_open_host(a, *target ? *target : "host", (unsigned)o->number.jobs);
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
        trial_need(t, guarded_execute(t->s, one, &t->log));
        times[launches * repeat + r] = seconds_now() - start;
        for (int i = 0; i < launches; i++) times[i * repeat + r] = one[i];
    }
    for (int i = 0; i < launches; i++) t->result.kernel_seconds[i] = spread_of(times + i * repeat, repeat).median;
    t->result.total_seconds = spread_of(times + launches * repeat, repeat).median;
}

static double operations_of(arena *a, const ir_graph *graph)
{
    /* IR text of a plan has no graph: `graph` is then its kernels, which are lowered already. */
    const operations n = graph_operations(graph->kernel_count ? graph : lower(a, graph), NULL, NULL);
    return n.products + n.others;
}

static bool is_judged_here(const trial *t)
{
    const trial_options *o = t->o;
    return o->reference == reference_always || (o->reference == reference_auto && t->result.operations <= 2e11);
}

/* Runs the plan and judges it; of a stack it runs layers up to t->at and judges that one. first: receives the seconds of each launch. */
static void run_and_judge(trial *t, double *first)
{
    const trial_options *o = t->o;
    const int kind = o->kinds ? o->kinds[t->at] : 0;
    if (o->kinds) t->graph = o->kind_graphs[kind];
    find_inputs(t);
    guarded_select(t->s, t->at);
    upload(t);
    trial_need(t, guarded_poison(t->s, &t->log));
    trial_need(t, guarded_pack(t->s, &t->log));
    if (!is_judged_here(t) && t->at + 1 < o->layers) return;
    const int before = guarded_launches(t->s);
    trial_need(t, guarded_execute(t->s, first, &t->log));
    t->result.launches = guarded_launches(t->s) - before;
    const ir_graph *p = t->plan->ir;
    ir_attributes *planned = kinds_take(t->a, p, p->ops, p->op_count, kind); /* the plan is compared with the graph of this kind */
    if (is_judged_here(t)) trial_judge(t);
    else if (o->dump_data) bail(t->a, code_usage, (position){0}, "--dump-data needs the reference; add --reference=always");
    kinds_put_back(p->ops, p->op_count, planned);
    if (o->layer_ran && o->layers > 1) o->layer_ran(o->context, t->at);
}

trial_result trial_run(arena *a, const ir_graph *graph, const plan *p, const trial_options *o)
{
    trial *t = arena_alloc(a, sizeof *t);
    *t = (trial){.a = a, .graph = graph, .plan = p, .o = o};
    t->result.operations = operations_of(a, graph);
    open_session(t);
    double *first = data_numbers(a, t->plan->launch_count + 1);
    for (; t->at < (o->layers > 1 ? o->layers : 1); t->at++) run_and_judge(t, first);
    if (o->output) trial_write_outputs(t);
    if (o->dump_data) trial_write_data(t);
    time_runs(t, first);
    return t->result;
}
