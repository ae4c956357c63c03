/* In: a spec, a device model, a share of its memory. Out: the largest value of each requested dim with which the plan's memory fits, and
 * that memory item by item; exit code 4 if no legal value fits. Refuses device models without a memory size and unknown dims. */
#include "runtime/cli/cli.h"
#include "runtime/cli/footprint.h"
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The plan at one value of the dim. */
typedef struct fitting {
    bool planned; /* false: refused; `why` has the reason */
    const char *why;
    footprint f;
    double bytes; /* peak bytes: while running or while packing, whichever is more */
} fitting;

typedef struct fit_job {
    arena *a;
    const cli_options *o;
    const char *path;
    compile_request request;
    const device_model *device;
    long long layers;
    double share, room; /* share: of the device's memory; room: that share in bytes */
    json_t *all;
    bool short_of; /* a dim has no value with which the plan fits */
} fit_job;

/* ---- one plan, in an arena of its own */
typedef struct planning {
    arena *a;
    compile_request request;
    compiled made;
} planning;

static void plan_it(void *argument)
{
    planning *p = argument;
    compile_inside(p->a, &p->request, &p->made);
}

static void close_arena(void *a) { arena_free(a); }

static double largest_of(const footprint *f, long long layers)
{
    const double running = footprint_bytes(f, layers), packing = footprint_packing(f, layers);
    return running > packing ? running : packing;
}

/* Plans with dim `name` at `value`; NULL: at the values of spec and options. keep: keeps items and names, for a result that is shown. */
static fitting plan_at(const fit_job *j, const char *name, long long value, bool keep)
{
    planning p = {arena_new(), j->request, {0}};
    const size_t count = j->request.graph.override_count;
    dim_override *dims = arena_alloc(j->a, (count + 2) * sizeof *dims);
    fitting t = {0};
    if (!p.a) bail(j->a, code_device, (position){0}, "not enough memory");
    if (count) memcpy(dims, j->request.graph.overrides, count * sizeof *dims);
    if (name) {
        dims[count] = (dim_override){name, value};
        p.request.graph.overrides = dims, p.request.graph.override_count = count + 1;
    }
    t.planned = arena_run(p.a, plan_it, &p) == code_ok;
    if (t.planned) {
        t.f = footprint_of(keep ? j->a : p.a, p.made.plan);
        t.bytes = largest_of(&t.f, j->layers);
    } else {
        t.why = arena_first_error(j->a, p.a);
    }
    if (keep)
        arena_defer(j->a, close_arena, p.a);
    else
        arena_free(p.a);
    return t;
}

/* ---- which values are legal: the spec's value and steps from there (hd: D/H requires multiples of H) */
enum { most_small_steps = 64 };

static bool is_planned(const fit_job *j, const char *name, long long value, long long low, long long high)
{
    return value >= low && value <= high && plan_at(j, name, value, false).planned;
}

/* The least distance from `at` to another legal value, among small numbers and divisors of `at`; 0: none. */
static long long step_near(const fit_job *j, const char *name, long long at, long long low, long long high)
{
    for (long long step = 1; step <= at || step <= most_small_steps; step++) {
        if (step > most_small_steps && at % step) continue;
        if (is_planned(j, name, at + step, low, high) || is_planned(j, name, at - step, low, high)) return step;
    }
    return 0;
}

/* ---- the largest value */
typedef struct found {
    const char *name;
    long long value, next, step; /* next: the legal value above, or 0; step: between legal values, 0: not evenly spaced */
    bool any;                    /* false: no legal value fits, and `value` is the least of them */
    fitting at, above;           /* the plans at `value` and at `next` */
} found;

static bool fits(const fit_job *j, const fitting *t) { return t->planned && t->bytes <= j->room; }

/* Evenly spaced legal values, counted from the spec's own value, which has index 0. */
typedef struct ladder {
    const fit_job *j;
    const char *name;
    long long from, step, first, last;
} ladder;

static long long rung(const ladder *l, long long n) { return l->from + n * l->step; }

static fitting try_rung(const ladder *l, long long n) { return plan_at(l->j, l->name, rung(l, n), false); }

/* The largest index that fits, given that `good` fits and `bad` does not: doubles the step, then halves it (few plans, about twice the
 * logarithm of the range). */
static long long climb(const ladder *l, long long good, long long bad)
{
    for (long long ahead = 1; good < bad - 1; ahead *= 2) {
        const long long next = good > bad - 1 - ahead ? bad - 1 : good + ahead;
        const fitting t = try_rung(l, next);
        if (!fits(l->j, &t)) {
            bad = next;
            break;
        }
        good = next;
    }
    while (good < bad - 1) {
        const long long middle = good + (bad - good) / 2;
        const fitting t = try_rung(l, middle);
        if (fits(l->j, &t)) good = middle;
        else bad = middle;
    }
    return good;
}

/* Searches below the spec's own value, which does not fit. True: *rung_out is the largest that fits; false: none, and it is the least legal
 * one. */
static bool descend(const ladder *l, long long *rung_out)
{
    long long bad = 0, refused = l->first - 1;
    for (long long ahead = 1; bad > refused + 1; ahead *= 2) { /* doubles until something fits, or is refused as too small */
        const long long next = bad - ahead > refused ? bad - ahead : refused + 1;
        const fitting t = try_rung(l, next);
        if (fits(l->j, &t)) return *rung_out = climb(l, next, bad), true;
        if (!t.planned) {
            refused = next;
            break;
        }
        bad = next;
    }
    while (bad > refused + 1) {
        const long long middle = refused + (bad - refused) / 2;
        const fitting t = try_rung(l, middle);
        if (fits(l->j, &t)) return *rung_out = climb(l, middle, bad), true;
        *(t.planned ? &bad : &refused) = middle;
    }
    return *rung_out = bad, false;
}

/* Searches the legal values that are `from` plus or minus a multiple of the step. */
static found search_ladder(const fit_job *j, const char *name, long long from, long long low, long long high)
{
    found f = {.name = name, .step = step_near(j, name, from, low, high)};
    const long long step = f.step ? f.step : 1;
    const ladder l = {j, name, from, step, f.step ? -((from - low) / step) : 0, f.step ? (high - from) / step : 0};
    const fitting own = try_rung(&l, 0);
    long long n = 0;
    f.any = fits(j, &own);
    if (f.any) n = climb(&l, 0, l.last + 1);
    else f.any = descend(&l, &n);
    f.value = rung(&l, n);
    if (f.any && n < l.last) f.next = rung(&l, n + 1), f.above = plan_at(j, name, f.next, true);
    return f;
}

/* A legal value above `value` if legal ones are not evenly spaced (divisors of another dim); 0: none is near. */
static long long legal_above(const fit_job *j, const char *name, long long value, long long low, long long high)
{
    for (long long ahead = 1; ahead <= most_small_steps; ahead++)
        if (is_planned(j, name, value + ahead, low, high)) return value + ahead;
    for (long long halves = 3; halves <= 16; halves++)
        if (value * halves / 2 > value + most_small_steps && is_planned(j, name, value * halves / 2, low, high)) return value * halves / 2;
    return 0;
}

static found search(const fit_job *j, const char *name, long long from, long long low, long long high)
{
    found f = search_ladder(j, name, from, low, high);
    while (f.any && f.above.why) {
        const long long start = legal_above(j, name, f.value, low, high);
        if (!start) break;
        const fitting t = plan_at(j, name, start, true);
        if (!fits(j, &t)) {
            f.next = start, f.above = t;
            break;
        }
        f = search_ladder(j, name, start, low, high), f.step = 0;
    }
    f.at = plan_at(j, name, f.value, true);
    return f;
}

/* ---- output */
static double gigabytes(double bytes) { return bytes * 1e-9; }

static const char *per_layer(const fit_job *j, memory_kind kind)
{
    const long long layers = j->layers;
    return kind <= memory_states && layers > 1 ? arena_printf(j->a, "  (%lld layers)", layers) : "";
}

static double times(const fit_job *j, memory_kind kind) { return kind <= memory_states ? (double)j->layers : 1; }

static void print_items(const fit_job *j, const footprint *f)
{
    for (int kind = 0; kind < memory_kind_count; kind++) {
        printf("  %-12s %12.6f GB%s\n", memory_names[kind], gigabytes(f->of[kind] * times(j, (memory_kind)kind)),
               per_layer(j, (memory_kind)kind));
        for (int i = 0; i < f->count; i++)
            if (f->items[i].kind == (memory_kind)kind)
                printf("    %-24s %14.0f B  %s\n", f->items[i].name, f->items[i].bytes, f->items[i].what);
    }
    printf("  running      %12.6f GB; while the last weights are packed %.6f GB\n", gigabytes(footprint_bytes(f, j->layers)),
           gigabytes(footprint_packing(f, j->layers)));
}

static void print_found(const fit_job *j, const found *f)
{
    if (!f->any) {
        printf("%s: not even the smallest value, %lld, fits: it needs %.3f GB of %.3f\n", f->name, f->value, gigabytes(f->at.bytes),
               gigabytes(j->room));
        return;
    }
    printf("%slargest %s: %lld%s%s\n", colour_code(stdout, colour_bold), f->name, f->value, colour_code(stdout, colour_none),
           f->step > 1 ? arena_printf(j->a, ", in steps of %lld", f->step) : "");
    print_items(j, &f->at.f);
    if (f->above.planned) printf("  with %s=%lld: %.6f GB\n", f->name, f->next, gigabytes(f->above.bytes));
    else if (f->above.why) printf("  %s=%lld is refused: %s\n", f->name, f->next, f->above.why);
    else printf("  the spec allows no more\n");
}

static json_t *found_json(const fit_job *j, const found *f)
{
    json_t *o = json_pack("{s:s, s:I, s:I, s:b}", "dim", f->name, "largest", (json_int_t)f->value, "step", (json_int_t)f->step, "fits",
                          f->any),
           *items = json_array();
    for (int i = 0; f->any && i < f->at.f.count; i++) {
        const memory_item *m = &f->at.f.items[i];
        json_array_append_new(items, json_pack("{s:s, s:s, s:s, s:f}", "kind", memory_names[m->kind], "name", m->name, "what", m->what,
                                               "bytes", m->bytes));
    }
    for (int kind = 0; f->any && kind < memory_kind_count; kind++)
        json_object_set_new(o, memory_names[kind], json_real(f->at.f.of[kind] * times(j, (memory_kind)kind)));
    json_object_set_new(o, "items", items);
    json_object_set_new(o, "bytes", json_real(f->at.bytes));
    if (f->above.planned) json_object_set_new(o, "bytes_of_one_more", json_real(f->above.bytes));
    if (f->above.why) json_object_set_new(o, "one_more_is_refused", json_string(f->above.why));
    return o;
}

/* ---- the command */
static void report_dim(fit_job *j, const dim *d)
{
    const long long low = d->dynamic ? d->low : 1, high = d->dynamic ? d->high : INT_MAX;
    const found f = search(j, d->name, d->value, low, high);
    j->short_of |= !f.any;
    if (j->all)
        json_array_append_new(j->all, found_json(j, &f));
    else
        print_found(j, &f);
}

static const dim *dim_named(const fit_job *j, dim_table *dims, const char *name)
{
    const dim *d = dim_find(dims, name);
    if (d) return d;
    text known = {.a = j->a};
    for (int i = 0; i < dims->count; i++) text_printf(&known, "%s%s", i ? ", " : "", dims->dims[i].name);
    bail(j->a, code_usage, (position){0}, "--largest: no dim of the spec is called '%.40s'; they are %s", name, known.data);
}

static void find_room(fit_job *j)
{
    const double memory = j->device->numbers[number_memory].value;
    j->share = j->o->real.memory;
    if (memory <= 0)
        bail(j->a, code_usage, (position){0},
             "device model %s does not say how much memory there is; --device-model names another, or a file", j->device->name);
    j->room = memory * j->share;
    if (!j->o->json)
        printf("%s: %.0f %% of the %.0f GB of %s (%s) are %.3f GB\n", j->path, 100 * j->share, gigabytes(memory), j->device->name,
               j->device->label, gigabytes(j->room));
}

static void fit_spec(void *argument)
{
    fit_job *j = argument;
    arena *a = j->a;
    compiled c;
    j->layers = options_whole(a, "layers", j->o->layers, 1, 1000000, 1);
    j->request = cli_request(a, j->o, j->path);
    j->request.target = cli_target(a, j->o, &j->request);
    compile_inside(a, &j->request, &c);
    dim_table dims = c.plan->ir->dims;
    const name_list asked = options_list(a, j->o->largest);
    if (!asked.count && !dims.dynamic_count)
        bail(a, code_usage, (position){0}, "--largest: the spec has no dynamic dim; name one that is to be as large as fits");
    for (size_t i = 0; i < asked.count; i++) {
        (void)dim_named(j, &dims, asked.names[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(asked.names[k], asked.names[i]) == 0)
                bail(a, code_usage, (position){0}, "--largest: %s is named twice", asked.names[i]);
    }
    j->device = c.plan->device;
    find_room(j);
    if (j->o->json) j->all = cli_keep_json(a, json_array());
    for (size_t i = 0; i < asked.count; i++) report_dim(j, dim_named(j, &dims, asked.names[i]));
    for (int i = 0; !asked.count && i < dims.count; i++)
        if (dims.dims[i].dynamic) report_dim(j, &dims.dims[i]);
    if (j->all) cli_print_json(j->all);
    if (j->short_of)
        bail(a, code_unsupported, (position){0}, "even the smallest size exceeds %.3f GB of %s", gigabytes(j->room), j->device->name);
}

int command_fit_main(const cli_options *o)
{
    if (!cli_is_one_spec(o)) return code_usage;
    fit_job j = {.a = arena_new(), .o = o, .path = o->files[0]};
    return cli_run(fit_spec, &j, j.a);
}
