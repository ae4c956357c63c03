/* In: a spec's graph and a plan of it, data from files or random. Out: the plan's run on a device (or on the host engine in the geometry of
 * the plan's target), compared with the float64 reference. Each stored value is compared with what the reference computes from the values
 * that the device stored before; each output also end to end, with what the reference computes from the inputs alone. Refuses data that
 * does not fit the spec. */
#ifndef TFGEN_CLI_TRIAL_H
#define TFGEN_CLI_TRIAL_H
#include "runtime/cli/cli.h"
#include "ir/reference/ref.h"
#include "runtime/api/tfgen.h"

typedef enum reference_when { reference_auto, reference_always, reference_never } reference_when;

typedef struct trial_options {
    tfgen_device *device; /* NULL or the host device: the host engine in the geometry of the plan's target */
    unsigned long long seed;
    int repeat; /* timed runs after the checked one */
    int jobs;
    bool check; /* race and bounds checker */
    int multiprocessors; /* how many the host engine reports, which limits the grids of persistent launches; 0: one per job */
    const struct host_watch *watch; /* with check: called on each access, in place of the race check */
    cache *cache; /* kernel cache, or NULL */
    reference_when reference;
    double sample_above; /* number of operations above which the reference computes only some rows of products and attention and judges no
                          * output end to end; 0: never */
    /* NULL, or a phase's signature (gen/base/signature.h): only values that phases with this signature store are judged. If such a value is
     * not in the graph (partial sums), the values of the phases that read it are judged in its place. */
    const char *only;
    const ref_tensor *inputs; /* data_make() of the graph and the seed, shared by several trials; NULL: made here */
    long long layer; /* the layer whose weights are read (data_files.layer, trial_data.h); for a stack: its first layer */
    /* For a plan of a stack: how many layers run, one after the other in one launch. Each has random params and states of its own, and is
     * judged on the device's result of the layer before it. To that end the trial launches layers 0 to n, for each n, and judges layer n,
     * which takes time that grows with the square of `layers`. If nothing is judged, there is one launch. 0: one layer */
    int layers;
    /* For layers of several kinds: which kind each is, and by kind the graph with which it is compared. NULL: all are of one kind */
    const int *kinds;
    const ir_graph *const *kind_graphs;
    const char *weights, *input, *state; /* safetensors paths, or NULL for random data; state NULL: states are in input */
    const char *output, *dump_data;
    void (*compiled)(void *context, const char *kernel); /* progress */
    void (*layer_ran)(void *context, int layer);         /* NULL, or progress: layers 0 to `layer` of a stack ran */
    /* NULL, or called after the reference with each output of the device and each element's bound on its distance from the exact value,
     * however intermediate values were rounded. (A check's own bound assumes this device's roundings, so two runs may differ by more.) */
    void (*result)(void *context, const ir_value *output, const double *got, const double *bound, size_t count);
    /* NULL, or called for each stored value, in the order of the graph's ops, with what it should be on the device's own inputs, before the
     * reference continues with the device's numbers. */
    void (*judged)(void *context, const ir_value *v, const ref_tensor *expected, const double *got);
    /* Then called for each workspace value that the graph does not name (for split attention: all numbers of its partials). given: the
     * graph's inputs, params and states, by id. */
    void (*unnamed)(void *context, const ir_value *planned, const double *got, const ref_tensor *const *given);
    void *context;
} trial_options;

/* Ordered from best to worst; trial_unchecked: nothing was compared. */
typedef enum trial_verdict {
    trial_unchecked,
    trial_good,
    trial_unjudged, /* no bound is exceeded, but for some value no element could be judged */
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
    long long unjudged; /* elements where rounding decides whether the result is finite; ratio excludes them */
    double spread; /* root mean square of the ratios; passes up to REF_MOST_SPREAD (ir/reference/ref.h); 0: too few elements */
    double rms, rms_rounded; /* end to end: the device's relative RMS error; that of the reference if it rounds stored values (or 0) */
    trial_verdict verdict;
} trial_check;

typedef struct trial_result {
    trial_check *checks; /* allocated in the arena of trial_run() */
    int check_count;
    long long unjudged; /* sum over the checks */
    trial_verdict verdict; /* the worst of the checks */
    bool referenced;
    double operations;      /* of the graph (ir/graph/operations.h): the cost of the reference */
    double *kernel_seconds; /* median per launch */
    double total_seconds;   /* median of a whole run */
    int launches;           /* launches per run, counted as they are issued */
    double compile_seconds;
    const char *device; /* "host", or a GPU's name and label */
    const plan *plan;   /* the plan that ran: the given one, or its replan after register spills (runtime/module/plan_code.h) */
} trial_result;

/* Bails on bad data and device errors. */
trial_result trial_run(arena *a, const ir_graph *graph, const plan *p, const trial_options *o);

/* One line: what is wrong with a check, or why it could not be judged. */
const char *trial_complaint(arena *a, const trial_check *c);
/* The complaint of the first check with the result's verdict; "" if good. */
const char *trial_fault(arena *a, const trial_result *r);

/* --device, or by default the first GPU that tfgen has a target for. NULL: the host engine, which --target, --check and --from ask for. */
const char *trial_best_device(arena *a, const cli_options *o);
/* Opens the device `name` (--device) and sets *target to its target. Returns NULL if the name is NULL or "host", for which trial_run()
 * opens the host engine itself. Bails. */
tfgen_device *trial_device(arena *a, const char *name, bool check, const char **target);
/* Opens the device that trial_best_device() names; if it names none, the host engine in the geometry of *target (NULL: host). Sets *target
 * to the device's target. */
tfgen_device *trial_open_device(arena *a, const cli_options *o, const char **target);

/* The spec's ops that a kernel computes, such as "rmsnorm + linear x2 + rope"; graph NULL: the kernel's own ops. */
const char *kernel_ops(arena *a, const ir_graph *graph, const ir_kernel *k);
/* Marks the spec's ops from which the kernel's ops, including views, were made: sets marked[i], where i < count is an op's index in the
 * graph. An op made from two linears marks both, unless graph is NULL. */
void kernel_origins(const ir_graph *graph, const ir_kernel *k, int count, bool *marked);
/* Bails at the kernel's position in the spec if the error text `said` begins with a kernel's name and a colon, as the host engine's does.
 * GPUs report errors asynchronously and name no kernel. */
void bail_if_a_kernel_stopped(arena *a, tfgen_code code, const ir_graph *graph, const plan *p, const char *said);
#endif
