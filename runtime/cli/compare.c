/* In: two records of runs, before and after. Out: the speedup of each run with its confidence interval, and whether that is enough.
 * Exit code 1 if a run is slower than allowed, beyond noise, or missing. Refuses records of other devices. */
#include "runtime/cli/cli.h"
#include "runtime/cli/record.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A median with its 95 % confidence interval, whose ends are two of the sorted samples: valid for any distribution. */
typedef struct between {
    double median, low, high;
} between;

typedef enum verdict { verdict_good, verdict_slower, verdict_noise, verdict_gone, verdict_unjudged, verdict_bad } verdict;
static const char *const verdict_names[] = {"good", "SLOWER", "noise", "GONE", "UNJUDGED", "BAD"};

typedef struct comparison {
    const recorded_run *before, *after; /* after NULL: the run is missing */
    between times[2], speedup;
    verdict verdict;
} comparison;

typedef struct compare_job {
    arena *a;
    const cli_options *o;
    double least, tolerance; /* --min-speedup, --tolerance */
    comparison *list;
    int count;
    bool failed, unjudged;
} compare_job;

static between between_of(arena *a, const recorded_run *r)
{
    const int n = r->sample_count;
    double *sorted = arena_alloc(a, (size_t)n * sizeof *sorted);
    memcpy(sorted, r->samples, (size_t)n * sizeof *sorted);
    const double median = spread_of(sorted, n).median, reach = 0.98 * sqrt(n); /* 1.96 standard deviations of a binomial of n halves */
    const int low = (int)floor((n - 1) / 2.0 - reach), high = (int)ceil((n - 1) / 2.0 + reach);
    return (between){median, sorted[low < 0 ? 0 : low], sorted[high >= n ? n - 1 : high]};
}

static verdict judged(const compare_job *j, const between *speedup)
{
    const double needed = j->least * (1 - j->tolerance);
    if (speedup->high < needed) return verdict_slower;
    return speedup->low >= needed ? verdict_good : verdict_noise;
}

static comparison compared(compare_job *j, const recorded_run *before, const record *after)
{
    comparison c = {.before = before, .after = record_find(after, before->key), .verdict = verdict_gone};
    c.times[0] = between_of(j->a, before);
    if (!c.after) return c;
    if (strcmp(before->device, c.after->device) != 0)
        bail(j->a, code_bad_input, (position){0}, "%s was recorded on %s before and on %s after; only runs on one device are compared",
             before->key, before->device, c.after->device);
    c.times[1] = between_of(j->a, c.after);
    c.speedup = (between){c.times[0].median / c.times[1].median, c.times[0].low / c.times[1].high, c.times[0].high / c.times[1].low};
    c.verdict = c.after->bad ? verdict_bad : judged(j, &c.speedup);
    if (c.after->unjudged && c.verdict != verdict_slower) c.verdict = verdict_unjudged; /* "slower" takes precedence */
    return c;
}

/* ---- output */
/* Prints launches whose spreads do not overlap. */
static void print_launches(const compare_job *j, const comparison *c)
{
    for (int i = 0; i < c->before->launch_count; i++)
        for (int k = 0; k < c->after->launch_count; k++) {
            const recorded_launch *x = &c->before->launches[i], *y = &c->after->launches[k];
            if (strcmp(x->name, y->name) != 0 || (x->seconds.low <= y->seconds.high && y->seconds.low <= x->seconds.high)) continue;
            printf("    %s: %s before, %s after, %.2f times\n", x->name, spread_time_text(j->a, x->seconds.median, true),
                   spread_time_text(j->a, y->seconds.median, true), x->seconds.median / y->seconds.median);
        }
}

static void print_one(const compare_job *j, const comparison *c)
{
    const bool good = c->verdict == verdict_good || c->verdict == verdict_noise;
    printf("%s%-7s%s %s\n", colour_code(stdout, good ? colour_good : colour_bad), verdict_names[c->verdict],
           colour_code(stdout, colour_none), c->before->key);
    if (!c->after) {
        printf("    %s before; the second record has no such run\n", spread_time_text(j->a, c->times[0].median, true));
        return;
    }
    printf("    %s before, %s after: %.3f times as fast, %.3f to %.3f by the noise of %d and %d runs; %.3f is wanted\n",
           spread_time_text(j->a, c->times[0].median, true), spread_time_text(j->a, c->times[1].median, true), c->speedup.median,
           c->speedup.low, c->speedup.high, c->before->sample_count, c->after->sample_count, j->least * (1 - j->tolerance));
    if (c->after->bad || c->after->unjudged) printf("    %s\n", c->after->bad ? c->after->bad : c->after->unjudged);
    print_launches(j, c);
}

static json_t *one_json(const comparison *c)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:f}", "run", c->before->key, "device", c->before->device, "verdict", verdict_names[c->verdict],
                          "before", c->times[0].median);
    if (!c->after) return o;
    json_object_set_new(o, "after", json_real(c->times[1].median));
    json_object_set_new(o, "speedup", json_real(c->speedup.median));
    json_object_set_new(o, "speedup_low", json_real(c->speedup.low));
    json_object_set_new(o, "speedup_high", json_real(c->speedup.high));
    return o;
}

static void print_all(const compare_job *j)
{
    json_t *all = json_array();
    for (int i = 0; i < j->count; i++) {
        if (j->o->json)
            json_array_append_new(all, one_json(&j->list[i]));
        else
            print_one(j, &j->list[i]);
    }
    if (j->o->json) cli_print_json(all);
    json_decref(all);
}

static void compare_records(void *argument)
{
    compare_job *j = argument;
    const cli_options *o = j->o;
    j->least = o->real.min_speedup;
    j->tolerance = options_real(j->a, "tolerance", o->tolerance, 0, 0.99, 0.05);
    const record before = record_read(j->a, o->files[0]), after = record_read(j->a, o->files[1]);
    j->list = arena_alloc(j->a, (size_t)before.count * sizeof *j->list);
    for (; j->count < before.count; j->count++) {
        const comparison c = j->list[j->count] = compared(j, &before.runs[j->count], &after);
        j->unjudged |= c.verdict == verdict_unjudged;
        j->failed |= c.verdict != verdict_good && c.verdict != verdict_unjudged && (c.verdict != verdict_noise || o->strict);
    }
    print_all(j);
}

int command_compare_main(const cli_options *o)
{
    if (o->file_count != 2) {
        fputs("tfgen: compare takes two records: the one before and the one after\n", stderr);
        return code_usage;
    }
    compare_job j = {.a = arena_new(), .o = o};
    const int code = cli_run(compare_records, &j, j.a);
    return code != code_ok ? code : j.failed ? code_check_failed : j.unjudged ? code_unjudged : code_ok;
}
