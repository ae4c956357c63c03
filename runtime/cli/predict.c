/* In: a spec, device models, a sweep of a dim, recorded runs. Out: for each value and device the predicted time of its plan, what limits
 * it, and for recorded runs the measured time and the prediction's error. Fails only if planning fails for every device. */
#include "runtime/cli/explain/explanation.h"
#include "runtime/cli/record.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seconds that bench --graph measures between two events in addition to the launches: on an H200 an rmsnorm of 2048 x 2048 takes 8.4 us
 * that way, 5.4 us in a chain of them. */
static const double replay_start = 3e-6;

typedef struct point {
    long long value; /* value of the swept dim */
    const device_model *device;
    const char *refused; /* why there is no plan, or NULL */
    int launches;
    double floor, seconds, operations, bytes;
    unsigned assumed;
    const char *longest; /* name of the longest launch; `limit` is what limits it */
    predicted_limit limit;
    double measured, start; /* 0: not recorded; start: the part of measured that starting a replay takes */
} point;

typedef struct predict_job {
    arena *a;
    const cli_options *o;
    const char *path;
    compile_request request;
    dim_sweep sweep;
    const device_model **devices;
    const char **named; /* what the user called each */
    int device_count;
    record recorded;
    point *points;
    int count;
} predict_job;

/* ---- what is asked for */
/* The device model of this name, or read from this file. */
static const device_model *device_called(predict_job *j, const char *given)
{
    compile_request r = {0};
    cli_device_model(j->a, given, &r);
    return r.device_file ? device_model_read(j->a, r.device_model, strlen(r.device_model), r.device_file) : device_model_named(j->a, given);
}

static void add_device(predict_job *j, const device_model *d, const char *named)
{
    j->named[j->device_count] = named, j->devices[j->device_count++] = d;
}

static void list_devices(predict_job *j)
{
    const name_list given = options_list(j->a, j->o->device_model && strcmp(j->o->device_model, "all") != 0 ? j->o->device_model : NULL);
    const size_t room = device_model_total() + given.count + 1;
    j->devices = arena_alloc(j->a, room * sizeof *j->devices), j->named = arena_alloc(j->a, room * sizeof *j->named);
    for (size_t i = 0; i < given.count; i++) {
        const device_model *d = device_called(j, given.names[i]);
        if (d->numbers[number_bandwidth].value <= 0)
            bail(j->a, code_usage, (position){0}, "--device-model: %s has no bandwidth, so nothing can be predicted",
                 d->name);
        add_device(j, d, given.names[i]);
    }
    for (size_t i = 0; !given.count && i < device_model_total(); i++) {
        const device_model *d = device_model_at(j->a, i);
        if (d->numbers[number_bandwidth].value > 0) add_device(j, d, d->name);
    }
}

/* ---- one point, in an arena of its own */
typedef struct point_job {
    arena *a;
    predict_job *whole;
    compile_request request;
    point *p;
} point_job;

static void find_measured(const point_job *j, const plan *p)
{
    const record *r = &j->whole->recorded;
    for (int graph = 1; graph >= 0 && r->count; graph--) {
        const recorded_run *run = record_find(r, record_key(j->a, p->ir, p->target->name, graph));
        if (!run || !p->device->match || !strstr(run->device, p->device->match)) continue;
        double *sorted = arena_alloc(j->a, (size_t)run->sample_count * sizeof *sorted);
        memcpy(sorted, run->samples, (size_t)run->sample_count * sizeof *sorted);
        j->p->measured = spread_of(sorted, run->sample_count).median;
        j->p->start = graph ? replay_start : 0;
        return;
    }
}

static void predict_it(void *argument)
{
    point_job *j = argument;
    point *p = j->p;
    compiled c;
    double most = 0;
    compile_inside(j->a, &j->request, &c);
    p->launches = c.plan->launch_count;
    const explained_kernel *kernels = explain_kernels(j->a, c.graph, c.plan);
    for (int i = 0; i < c.plan->launch_count; i++) {
        const explained_kernel *k = &kernels[i];
        p->floor += k->floor, p->seconds += k->predicted.seconds, p->assumed |= k->predicted.assumed;
        p->operations += k->work.products + k->work.others, p->bytes += k->work.read + k->work.written;
        if (k->predicted.seconds <= most) continue;
        most = k->predicted.seconds;
        p->longest = arena_strdup(j->whole->a, k->launch->name), p->limit = k->predicted.limit;
    }
    find_measured(j, c.plan);
}

static void add_point(predict_job *whole, int value, int device)
{
    const device_model *d = whole->devices[device];
    point *p = &whole->points[whole->count++];
    const size_t count = whole->request.graph.override_count;
    dim_override *dims = arena_alloc(whole->a, (count + 1) * sizeof *dims);
    point_job j = {arena_new(), whole, whole->request, p};
    if (!j.a) bail(whole->a, code_device, (position){0}, "not enough memory");
    *p = (point){.value = whole->sweep.values[value], .device = d};
    if (count) memcpy(dims, whole->request.graph.overrides, count * sizeof *dims);
    if (whole->sweep.dim) {
        dims[count] = (dim_override){whole->sweep.dim, p->value};
        j.request.graph.overrides = dims, j.request.graph.override_count = count + 1;
    }
    j.request.target = d->target->name;
    cli_device_model(whole->a, whole->named[device], &j.request);
    const tfgen_code code = arena_run(j.a, predict_it, &j);
    if (code != code_ok) p->refused = arena_first_error(whole->a, j.a);
    arena_free(j.a);
    if (code == code_bad_input || code == code_usage) bail(whole->a, code, (position){0}, "%s", p->refused);
}

/* ---- output */
static double error_of(const point *p) { return (p->seconds + p->start) / p->measured - 1; }

static void print_point(const predict_job *j, const point *p)
{
    arena *a = j->a;
    printf("  %-12s", p->device->name);
    if (p->refused) {
        printf(" no plan: %s\n", p->refused);
        return;
    }
    printf(" %8d %12s %12s", p->launches, spread_time_text(a, p->floor, true), spread_time_text(a, p->seconds, true));
    if (p->measured > 0)
        printf(" %12s %+7.1f %%", spread_time_text(a, p->measured, true), 100 * error_of(p));
    else if (j->recorded.count)
        printf(" %12s %9s", "-", "");
    printf("  %s, %s%s\n", p->longest, predicted_limit_names[p->limit], p->assumed ? "" : "  (figures measured)");
}

static int by_size(const void *x, const void *y)
{
    const double a = fabs(error_of(*(const point *const *)x)), b = fabs(error_of(*(const point *const *)y));
    return (a > b) - (a < b);
}

/* Points with a measured time, sorted by the prediction's error. */
static const point **measured_points(const predict_job *j, int *count)
{
    const point **list = arena_alloc(j->a, ((size_t)j->count + 1) * sizeof(*list));
    *count = 0;
    for (int i = 0; i < j->count; i++)
        if (j->points[i].measured > 0) list[(*count)++] = &j->points[i];
    qsort(list, (size_t)*count, sizeof(*list), by_size);
    return list;
}

static double median_error(const point *const *list, int count)
{
    const double low = fabs(error_of(list[(count - 1) / 2])), high = fabs(error_of(list[count / 2]));
    return (low + high) / 2;
}

static void print_errors(const predict_job *j)
{
    int count;
    const point **list = measured_points(j, &count);
    if (!j->recorded.count) return;
    if (!count) {
        printf("\nno run of %s at these dims is among the recorded ones\n", j->path);
        return;
    }
    const point *worst = list[count - 1];
    printf("\n%d measured: median error %.1f %%, worst %+.1f %% (%s", count, 100 * median_error(list, count), 100 * error_of(worst),
           worst->device->name);
    if (j->sweep.dim) printf(", %s=%lld", j->sweep.dim, worst->value);
    puts(")");
}

static void print_all(const predict_job *j)
{
    printf("%s: times that are predicted (docs/insight.md)\n  %-12s %8s %12s %12s%s  longest launch, limited by\n", j->path, "device",
           "launches", "floor", "predicted", j->recorded.count ? "     measured     error" : "");
    for (int i = 0; i < j->count; i++) {
        if (j->sweep.dim && i % j->device_count == 0) printf("%s=%lld\n", j->sweep.dim, j->points[i].value);
        print_point(j, &j->points[i]);
    }
    print_errors(j);
}

static json_t *point_json(const predict_job *j, const point *p)
{
    json_t *o = json_pack("{s:s, s:s}", "device", p->device->name, "target", p->device->target->name);
    if (j->sweep.dim) json_object_set_new(o, j->sweep.dim, json_integer(p->value));
    if (p->refused) {
        json_object_set_new(o, "refused", json_string(p->refused));
        return o;
    }
    json_object_update_new(o, json_pack("{s:i, s:f, s:f, s:f, s:f, s:s, s:s}", "launches", p->launches, "operations", p->operations,
                                        "bytes", p->bytes, "floor_seconds", p->floor, "predicted_seconds", p->seconds, "longest",
                                        p->longest, "limit", predicted_limit_names[p->limit]));
    if (p->measured > 0) json_object_set_new(o, "measured_seconds", json_real(p->measured));
    if (p->measured > 0) json_object_set_new(o, "start_seconds", json_real(p->start));
    if (p->measured > 0) json_object_set_new(o, "error", json_real(error_of(p)));
    return o;
}

/* Reads the spec at each size first, to report its errors with their places. */
static void look_at_spec(predict_job *j)
{
    for (int i = 0; i < j->sweep.count; i++) {
        const cli_options at = options_at(j->a, j->o, j->sweep.dim, j->sweep.values[i]);
        graph_options g = j->request.graph;
        g.overrides = options_dims(j->a, "dim", at.dim, &g.override_count);
        (void)graph_read(j->a, j->request.text, j->request.size, j->path, &g);
    }
}

static void predict_spec(void *argument)
{
    predict_job *j = argument;
    cli_options one = *j->o;
    one.device_model = NULL;
    j->request = cli_request(j->a, &one, j->path);
    if (j->request.from_ir) bail(j->a, code_usage, (position){0}, "--from: predict needs a spec, not IR text");
    j->sweep = options_sweep(j->a, j->o->sweep);
    list_devices(j);
    if (j->o->measured) j->recorded = record_read(j->a, j->o->measured);
    look_at_spec(j);
    j->points = arena_alloc(j->a, ((size_t)j->sweep.count * (size_t)j->device_count + 1) * sizeof *j->points);
    for (int i = 0; i < j->sweep.count; i++)
        for (int d = 0; d < j->device_count; d++) add_point(j, i, d);
    if (!j->o->json) {
        print_all(j);
        return;
    }
    json_t *all = cli_keep_json(j->a, json_array());
    for (int i = 0; i < j->count; i++) json_array_append_new(all, point_json(j, &j->points[i]));
    cli_print_json(all);
}

int command_predict_main(const cli_options *o)
{
    if (!cli_is_one_spec(o)) return code_usage;
    predict_job j = {.a = arena_new(), .o = o, .path = o->files[0]};
    return cli_run(predict_spec, &j, j.a);
}
