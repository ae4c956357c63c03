/* In, out, refusals: trial.h. What its files share: a trial under way, and the device's numbers. */
#ifndef TFGEN_TRIAL_INSIDE_H
#define TFGEN_TRIAL_INSIDE_H
#include "runtime/cli/trial.h"
#include "runtime/module/guarded_run.h"

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

/* trial_values.c */
const ir_value *trial_planned(const trial *t, const ir_value *v); /* the plan's value for a graph's: the same name */
bool trial_in_memory(const trial *t, const ir_value *graph_value);
void trial_need(trial *t, tfgen_code code); /* bails unless it is code_ok */
tfgen_code trial_no_memory(trial *t);       /* says so */
double trial_element(dtype type, const void *data, size_t at);
void *trial_fetched(trial *t, const ir_value *v, tfgen_code *code); /* a value's storage, for the caller to free; NULL: *code says why */
tfgen_code trial_try_download(trial *t, const ir_value *v, double *out); /* what the device has for a value of the plan, through its view */
void trial_download(trial *t, const ir_value *v, double *out);

/* trial_judge.c: compares every stored value and every output with the reference. */
void trial_judge(trial *t);
const double *trial_bounds(trial *t, const ref_tensor *r);

/* trial_files.c: outputs, and every state as it is now: the next step's --state; what --dump-data writes. */
void trial_write_outputs(trial *t);
void trial_write_data(trial *t);

#endif
