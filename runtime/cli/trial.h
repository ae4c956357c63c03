/* In: a spec's graph and a plan of it, data from files or random. Out: the plan run on a device, or on the host engine in the geometry of
 * the plan's target, and compared with the float64 reference: every stored value on the device's own inputs, every output end to end.
 * Refuses data that does not fit the spec. */
#ifndef TFGEN_CLI_TRIAL_H
#define TFGEN_CLI_TRIAL_H
#include "runtime/cli/cli.h"
#include "ir/reference/ref.h"
#include "runtime/api/tfgen.h"

typedef enum reference_when { reference_auto, reference_always, reference_never } reference_when;

typedef struct trial_options {
    tfgen_device *device; /* NULL, or the host's: the host engine, as the plan's target has it */
    unsigned long long seed;
    int repeat; /* timed runs after the checked one */
    int jobs;
    bool check; /* race and bounds checker */
    const struct host_watch *watch; /* with check: told of each access, instead of looking for races */
    cache *cache; /* of compiled kernels, or NULL */
    reference_when reference;
    double sample_above; /* operations: of graphs that cost more only some rows of products and attention are computed, and no output is
                          * judged end to end; 0: never */
    const char *only; /* a signature: what phases of it store is judged, and what those store that read what no graph has of it; or NULL */
    const ref_tensor *inputs; /* data_make() of the graph and the seed, for many trials; NULL: made for this one */
    long long layer; /* of the weights: data_files */
    const char *weights, *input, *state; /* safetensors, or NULL for random data; state NULL: states are in input */
    const char *output, *dump_data;
    void (*compiled)(void *context, const char *kernel); /* progress */
    /* What the device has for an output, and how far each number may be from the exact one, whatever rounding chose on the way (a check's
     * bound goes by the device's choices, so results of two runs may be apart by more); after the reference, when not NULL. */
    void (*result)(void *context, const ir_value *output, const double *got, const double *bound, size_t count);
    /* A value that is in memory, and what it should be on the device's own inputs, before the reference goes on with the device's numbers;
     * in the order of the graph's ops; when not NULL. */
    void (*judged)(void *context, const ir_value *v, const ref_tensor *expected, const double *got);
    /* Then each value in the workspace that the graph has no name for, of an attention's parts all numbers; given: by id of the graph's
     * inputs, params and states. */
    void (*unnamed)(void *context, const ir_value *planned, const double *got, const ref_tensor *const *given);
    void *context;
} trial_options;

/* From the best to the worst, but for what was not compared. */
typedef enum trial_verdict {
    trial_unchecked,
    trial_good,
    trial_unjudged, /* nothing is beyond its bound, but of a value no element is judged: that is not known to be right */
    trial_bad,
    trial_verdict_count
} trial_verdict;
extern const char *const trial_verdict_names[trial_verdict_count];
extern const tfgen_code trial_verdict_codes[trial_verdict_count]; /* the command's exit codes */

/* One stored value, or one output end to end, against its bound. ratio = largest |device - reference| / bound; passes up to 1. */
typedef struct trial_check {
    const char *name;
    bool end_to_end;
    double ratio, difference, bound; /* at the worst element */
    long long worst, count;
    long long unjudged; /* elements where rounding decides whether the result is a number at all; ratio is of the others */
    double spread; /* root mean square of the ratios; at most REF_MOST_SPREAD (ir/reference/ref.h); 0 of too few elements */
    double rms, rms_rounded; /* end to end: relative RMS error, and that of the reference with rounding at stored values (or 0) */
    trial_verdict verdict;
} trial_check;

typedef struct trial_result {
    trial_check *checks; /* in the arena */
    int check_count;
    long long unjudged; /* of all checks */
    trial_verdict verdict; /* the worst of the checks */
    bool referenced;
    double operations;      /* of the graph (ir/program/operations.h): what the reference costs */
    double *kernel_seconds; /* median per launch */
    double total_seconds;   /* median of a whole run */
    int launches;           /* of one run, counted where they are issued */
    double compile_seconds;
    const char *device; /* "host", or a GPU's name and label */
    const plan *plan;   /* what ran: the plan given, or one made again where its kernels spill (runtime/module/plan_code.h) */
} trial_result;

/* Bails on bad data and device errors. */
trial_result trial_run(arena *a, const ir_program *graph, const plan *p, const trial_options *o);

/* What is wrong with a check that is not good, or why it is not judged: one line. */
const char *trial_complaint(arena *a, const trial_check *c);
/* Of the first that has the result's verdict; "" of a good one. */
const char *trial_fault(arena *a, const trial_result *r);

/* The best device there is where none is asked for: the first GPU that tfgen has a target for; NULL: the host engine, also for what it
 * alone does. */
const char *trial_best_device(arena *a, const cli_options *o);
/* --device: opens it and makes its target that of *target; NULL, when none was asked for, leaves the host engine to the run. Bails. */
tfgen_device *trial_device(arena *a, const char *name, bool check, const char **target);

/* What a kernel computes, as op names of the spec in order: "rmsnorm linear rope"; without a graph, as its own. */
const char *kernel_ops(arena *a, const ir_program *graph, const ir_kernel *k);
/* What a device says of a run begins, where a kernel went wrong, with that kernel's name and a colon: bails then, at the kernel's place in
 * the spec. A GPU tells of a kernel later, and names none. */
void bail_if_a_kernel_stopped(arena *a, tfgen_code code, const ir_program *graph, const plan *p, const char *said);
#endif
