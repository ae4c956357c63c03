/* In: a spec, or edited kernels of it, on a device. Out: the first wrong value, with op, tile, element and source line; or the launch that
 * is furthest above the cost model. Exit code 0: nothing found; 1: found; 8: nothing found, but some value has no element that can be
 * judged. Refuses data that does not fit the spec.
 *
 * The plan runs once. Each value in memory is compared with the reference on the device's own inputs, so the first wrong value locates the
 * fault, however far it propagates, without running the first launches alone. One more run then looks inside the phase (shown.c). */
#include "runtime/cli/bisect/bisect.h"
#include "runtime/cli/trial_data.h"
#include <string.h>

/* Numbers of arithmetic operations of the graph. Above sample_above, only some rows of products and attention are judged. Up to
 * check_below, a plan with a wrong value is run once more under the host engine's checker, which takes about 20 times as long. */
static const double sample_above = 2e10, check_below = 3e8;
enum { most_checked = 16 }; /* most kernels to compile again for the checker */

/* ---- one run of the plan as it is */
typedef struct whole_run {
    arena *a;
    bisection *b;
    trial_result result;
} whole_run;

static void run_body(void *whole)
{
    whole_run *w = whole;
    bisection *b = w->b;
    progress bar = progress_start("compiling", b->plan->launch_count + b->plan->pack_count);
    b->whole = (walk){.a = b->a, .graph = b->graph, .plan = b->plan, .bar = &bar};
    const trial_options o = walk_options(b, &b->whole);
    w->result = trial_run(w->a, b->graph, b->plan, &o);
    progress_end(&bar);
    source_edits_check(w->a, &b->edits, b->plan, w->result.plan);
}

static void free_arena(void *a) { arena_free(a); }

/* The lines after the first line of an error's text: its log. */
static const char *log_of(arena *a, const char *said)
{
    const char *end = said + strcspn(said, "\n");
    return arena_strdup(a, *end ? end + 1 : "");
}

/* False: a kernel on the host engine accessed memory out of bounds or did not end. (On a GPU the process could not use the device any more,
 * so there the error ends the command.) */
static bool run_whole(bisection *b)
{
    whole_run w = {.a = arena_new(), .b = b};
    if (!w.a) bail(b->a, code_device, (position){0}, "not enough memory");
    arena_defer(b->a, free_arena, w.a);
    const tfgen_code code = arena_run(w.a, run_body, &w);
    if (code != code_ok) {
        const char *why = arena_first_error(b->a, w.a), *log = log_of(b->a, arena_diagnostics(w.a));
        if (code == code_device && b->device)
            bail_with_log(b->a, code, (position){0}, log,
                          "%s; --target=%s without --device runs the same kernels on the host engine, which reports the line", why,
                          b->plan->target->name);
        if (code != code_device) bail_with_log(b->a, code, (position){0}, log, "%s", why);
        b->fault = *log ? log : why;
        return false;
    }
    b->plan = w.result.plan;
    b->on = w.result.device;
    b->sampled = w.result.operations > sample_above;
    b->operations = w.result.operations;
    walk_outputs(&b->whole, b->graph, &w.result);
    for (int i = 0; i < w.result.check_count && b->what == bisect_diff && !b->unjudged; i++)
        if (w.result.checks[i].verdict == trial_unjudged) b->unjudged = w.result.checks[i].name;
    return true;
}

/* ---- the checker: races and accesses out of bounds, each with its line */
typedef struct checking {
    arena *a;
    bisection *b;
} checking;

static void run_checked(void *checking_)
{
    checking *c = checking_;
    trial_options o = c->b->trial;
    o.check = true, o.reference = reference_never;
    (void)trial_run(c->a, c->b->graph, c->b->plan, &o);
}

/* The first report: a line and the indented lines after it. The checker writes one for each thread. */
static const char *first_report(arena *a, const char *all)
{
    static const char head[] = "the checker found faults\n";
    const char *from = strstr(all, head), *end;
    if (!from) return arena_strdup(a, all); /* not a report: the kernel did not compile or did not end */
    from += sizeof head - 1;
    end = from + strcspn(from, "\n");
    while (end[0] == '\n' && end[1] == ' ') end += 1 + strcspn(end + 1, "\n");
    return arena_strndup(a, from, (size_t)(end - from));
}

/* Whether to run the checker without --check. Always after a fault, or if the wrong value was right in the second run. Otherwise only for a
 * small graph with few kernels, and not if an elementwise op computed numbers beyond their bounds, since a race does not do that. */
static bool checker_may_know(const bisection *b)
{
    const place_made *m = &b->first.made;
    if (b->fault || b->vanished) return true;
    if (!b->found || b->operations > check_below || b->plan->launch_count + b->plan->pack_count > most_checked) return false;
    return !m->op || op_table[m->op->kind].class != class_ELEMENT || b->first.mismatch.kind != mismatch_beyond;
}

static void ask_checker(bisection *b)
{
    if (b->device || !(b->o->check || checker_may_know(b))) return;
    checking c = {arena_new(), b};
    if (!c.a) return;
    b->checked = true;
    if (arena_run(c.a, run_checked, &c) != code_ok) b->checker = first_report(b->a, arena_diagnostics(c.a));
    arena_free(c.a);
    b->found |= b->checker != NULL;
}

/* ---- the command */
static void find_overflow(bisection *b)
{
    for (int i = 0; i < b->whole.count && b->what == bisect_nan && !b->overflow; i++)
        if (b->whole.list[i].overflows) b->overflow = &b->whole.list[i];
}

static void find_mismatch(bisection *b)
{
    if (!b->graph) bail(b->a, code_usage, (position){0}, "--from=%s: the reference needs a graph, which --spec=SPEC names", b->o->from);
    const data_files files = {b->o->weights, b->o->input, b->o->state, b->o->number.layer};
    b->trial.inputs = data_make(b->a, b->graph, b->trial.seed, &files);
    const mismatch *first = NULL;
    const long long most = b->o->repeat ? b->o->number.repeat : 1;
    do {
        b->found = !run_whole(b);
        b->runs++;
        first = b->fault ? NULL : walk_first(&b->whole, b->plan);
    } while (!b->found && !first && b->runs < most);
    if (first) {
        b->found = true;
        b->first = b->stored = (finding){*first, locate(b, b->plan, first)};
        if (!first->end_to_end) bisect_inside(b);
    }
    find_overflow(b);
    ask_checker(b);
    if (b->o->expected) bisect_expected(b);
}

static bisect_what what_of(const cli_options *o)
{
    return !o->what || strcmp(o->what, "diff") == 0 ? bisect_diff : strcmp(o->what, "nan") == 0 ? bisect_nan : bisect_slow;
}

static void refuse_options(const bisection *b)
{
    const cli_options *o = b->o;
    cli_one_target(b->a, o);
    cli_layer_of_weights(b->a, o);
    if (o->expected && b->what != bisect_diff) bail(b->a, code_usage, (position){0}, "--expected: it is for --what=diff");
    if ((o->weights || o->input || o->state || o->check || o->repeat) && b->what == bisect_slow)
        bail(b->a, code_usage, (position){0},
             "--what=slow runs on random data, for as long as --seconds says; --weights, --input, --state, --check and --repeat are for "
             "--what=diff and nan");
    if ((o->tolerance || o->seconds) && b->what != bisect_slow)
        bail(b->a, code_usage, (position){0}, "--tolerance and --seconds are for --what=slow; error bounds are computed, not set");
}

static void make_plan(bisection *b)
{
    const char *target = b->o->target, *name = trial_best_device(b->a, b->o);
    compiled c;
    if (b->what == bisect_slow) {
        b->device = cli_open_device(b->a, name ? name : "host");
        if (target && strcmp(target, b->device->info.target) != 0)
            bail(b->a, code_usage, (position){0}, "--target=%s: the device %s needs %s", target, b->device->info.name,
                 b->device->info.target);
        target = b->device->info.target;
    } else {
        b->device = trial_device(b->a, name, b->o->check != NULL, &target);
    }
    b->request = cli_request(b->a, b->o, b->path);
    if (target) b->request.target = target;
    b->request.device_label = b->device ? b->device->info.label : NULL;
    compile_inside(b->a, &b->request, &c);
    b->plan = c.plan;
    b->graph = cli_graph(b->a, b->o, &c);
    b->edits = source_edits_apply(b->a, b->o->replace_source, c.plan);
}

static void bisect_spec(void *argument)
{
    bisection *b = argument;
    const cli_options *o = b->o;
    b->what = what_of(o);
    refuse_options(b);
    b->tolerance = options_real(b->a, "tolerance", o->tolerance, 0, 1000, 0.5);
    make_plan(b);
    b->trial = (trial_options){.device = b->device,
                               .seed = (unsigned long long)o->number.seed,
                               .jobs = (int)o->number.jobs,
                               .cache = cli_cache(b->a, o),
                               .reference = reference_always,
                               .sample_above = sample_above};
    if (b->what == bisect_slow)
        bisect_times(b);
    else
        find_mismatch(b);
    if (o->json)
        bisect_print_json(b);
    else if (!o->quiet)
        bisect_print(b);
}

int command_bisect_main(const cli_options *o)
{
    if (!cli_is_one_spec(o)) return code_usage;
    bisection b = {.a = arena_new(), .o = o, .path = o->files[0]};
    const int code = cli_run(bisect_spec, &b, b.a);
    return code != code_ok ? code : b.found ? code_check_failed : b.unjudged ? code_unjudged : code_ok;
}
